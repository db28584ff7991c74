// The only file list of unit spa5; top spa5_seq. Paths are relative to this file, packages first.
spa5_pkg.sv
spa5_decode.sv
spa5_cond.sv
spa5_brx.sv
spa5_threads.sv
spa5_stack.sv
spa5_seq.sv
