../rpstack.sv
rpwarps.sv
