tick.sv
