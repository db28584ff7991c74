pulse.sv
