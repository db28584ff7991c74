relay.sv
