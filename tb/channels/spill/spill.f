spill.sv
