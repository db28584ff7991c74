# Makes of our RTL of r500 an implementation that somebody else could have written: other modules, instances, registers
# and ports. docs/your-own-rtl.md has the command.
s/r500_seq/flow_core/g
s/r500_/flow_/g
# Instances.
s/u_lanes/u_pixels/g
s/u_loop_stack/u_loops/g
s/u_addr_stack/u_returns/g
s/u_consts/u_regs/g
# Registers.
s/st0_\([dq]\)/kind_lo_\1/g
s/st1_\([dq]\)/kind_hi_\1/g
s/bc\([0-4]\)_\([dq]\)/nest\1_\2/g
s/lc\([01]\)_\([dq]\)/away\1_\2/g
s/active_\([dq]\)/awake_\1/g
s/rep_\([dq]\)/endless_\1/g
s/count_\([dq]\)/left_\1/g
s/al_\([dq]\)/index_\1/g
s/al_top_\([dq]\)/index_top_\1/g
s/depth_\([dq]\)/used_\1/g
s/addr_\([dq]\)/back_\1/g
s/int_q/numbers_q/g
s/bool_q/flags_q/g
s/pc_\([dq]\)/fetch_\1/g
s/running_\([dq]\)/busy_\1/g
s/done_\([dq]\)/over_\1/g
s/halted_\([dq]\)/dead_\1/g
s/err_\([dq]\)/why_\1/g
s/alu_clr_\([dq]\)/clear_\1/g
# Ports.
s/pc_o/fetch_o/g
s/alu_i/cond_i/g
s/cov_i/valid_i/g
s/stall_i/hold_i/g
