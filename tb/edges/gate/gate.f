gate.sv
