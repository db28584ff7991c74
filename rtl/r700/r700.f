// The only file list of unit r700; top r700_seq. Paths are relative to this file, packages first.
r700_pkg.sv
r700_decode.sv
r700_consts.sv
r700_vote.sv
r700_lanes.sv
r700_loop.sv
r700_stack.sv
r700_seq.sv
