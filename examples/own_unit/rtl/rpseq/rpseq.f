../rpstack.sv
rpseq.sv
