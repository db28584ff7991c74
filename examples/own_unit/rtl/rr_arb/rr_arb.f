rr_arb.sv
