hop.sv
