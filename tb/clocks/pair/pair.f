pair.sv
