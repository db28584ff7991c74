// The only file list of unit r500; top r500_seq. Paths are relative to this file, packages first.
r500_pkg.sv
r500_decode.sv
r500_consts.sv
r500_vote.sv
r500_lanes.sv
r500_loop_stack.sv
r500_addr_stack.sv
r500_seq.sv
