// Packages first; then the wrapper that has the module's name and ports of rtl/r500.
flow_core.sv
r500_seq.sv
