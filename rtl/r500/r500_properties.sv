// What r500 promises beyond its assertions (rtl/r500/r500_sva.sv) and beyond what it does in a cycle (step.sv). Inputs are
// the registers of the RTL before a cycle, with `next__` after it, and its ports, with `__` for the dot in names.
//
//   always__NAME  holds in every state
//   prove__NAME   holds in every cycle that begins with all invariants; if it has several bits, one for each lane
//   cover__NAME   some cycle that begins with all invariants does this, so that the proofs are not empty

module r500_properties #(
  parameter int LANES = 16
) (
  input logic [LANES-1:0] u_lanes__active_q,
  input logic [LANES-1:0] u_lanes__st0_q,
  input logic [LANES-1:0] u_lanes__st1_q,
  input logic [LANES-1:0] u_lanes__bc0_q,
  input logic [LANES-1:0] u_lanes__bc1_q,
  input logic [LANES-1:0] u_lanes__bc2_q,
  input logic [LANES-1:0] u_lanes__bc3_q,
  input logic [LANES-1:0] u_lanes__bc4_q,
  input logic [LANES-1:0] u_lanes__lc0_q,
  input logic [LANES-1:0] u_lanes__lc1_q,
  input logic [3:0]       u_loop_stack__rep_q,
  input logic [31:0]      u_loop_stack__count_q,
  input logic [31:0]      u_loop_stack__al_q,
  input logic [2:0]       u_loop_stack__depth_q,
  input logic [7:0]       u_loop_stack__al_top_q,
  input logic [39:0]      u_addr_stack__addr_q,
  input logic [2:0]       u_addr_stack__depth_q,
  input logic [767:0]     u_consts__int_q,
  input logic [31:0]      u_consts__bool_q,
  input logic             running_q,
  input logic             done_q,
  input logic             halted_q,
  input logic [3:0]       err_q,
  input logic [9:0]       pc_q,
  input logic             full_q,
  input logic [9:0]       offset_q,
  input logic [9:0]       end_q,
  input logic [9:0]       lo_q,
  input logic [9:0]       hi_q,

  input logic [LANES-1:0] next__u_lanes__active_q,
  input logic [LANES-1:0] next__u_lanes__st0_q,
  input logic [LANES-1:0] next__u_lanes__st1_q,
  input logic [LANES-1:0] next__u_lanes__bc0_q,
  input logic [LANES-1:0] next__u_lanes__bc1_q,
  input logic [LANES-1:0] next__u_lanes__bc2_q,
  input logic [LANES-1:0] next__u_lanes__bc3_q,
  input logic [LANES-1:0] next__u_lanes__bc4_q,
  input logic [LANES-1:0] next__u_lanes__lc0_q,
  input logic [LANES-1:0] next__u_lanes__lc1_q,
  input logic [3:0]       next__u_loop_stack__rep_q,
  input logic [31:0]      next__u_loop_stack__count_q,
  input logic [31:0]      next__u_loop_stack__al_q,
  input logic [2:0]       next__u_loop_stack__depth_q,
  input logic [7:0]       next__u_loop_stack__al_top_q,
  input logic [39:0]      next__u_addr_stack__addr_q,
  input logic [2:0]       next__u_addr_stack__depth_q,
  input logic [767:0]     next__u_consts__int_q,
  input logic [31:0]      next__u_consts__bool_q,
  input logic             next__running_q,
  input logic             next__done_q,
  input logic             next__halted_q,
  input logic [3:0]       next__err_q,
  input logic             next__alu_clr_q,
  input logic [9:0]       next__pc_q,
  input logic             next__full_q,
  input logic [9:0]       next__offset_q,
  input logic [9:0]       next__end_q,
  input logic [9:0]       next__lo_q,
  input logic [9:0]       next__hi_q,

  input logic             rst_ni,
  input logic             stall_i,
  input logic             launch_i,
  input logic             inst_valid_i,
  input logic [31:0]      cmn_inst_i,
  input logic [31:0]      fc_inst_i,

  output logic            always__reset_ends_all,
  output logic            always__launch_starts,
  output logic            prove__end_is_sticky,
  output logic            prove__error_changes_nothing,
  output logic            prove__waiting_changes_nothing,
  output logic            prove__progress,
  output logic            prove__constants_kept,
  output logic            prove__others_leave_lanes,

  output logic            cover__error_1,
  output logic            cover__error_2,
  output logic            cover__error_3,
  output logic            cover__error_4,
  output logic            cover__error_5,
  output logic            cover__error_6,
  output logic            cover__error_7,
  output logic            cover__error_8,
  output logic            cover__error_9,
  output logic            cover__jump_executes,
  output logic            cover__loop_executes,
  output logic            cover__endloop_executes,
  output logic            cover__rep_executes,
  output logic            cover__endrep_executes,
  output logic            cover__breakloop_executes,
  output logic            cover__breakrep_executes,
  output logic            cover__continue_executes,
  output logic            cover__loops_full,
  output logic            cover__addrs_full,
  output logic            cover__partial_mode,
  output logic            cover__every_class,
  output logic            cover__ends,
  output logic            cover__launches,
  output logic            cover__other_instruction
);

  // The state of a program: all but the constants of the host, the status and alu_clr.
  wire [10*LANES-1:0] lanes = {u_lanes__active_q, u_lanes__st0_q, u_lanes__st1_q, u_lanes__bc0_q, u_lanes__bc1_q,
                               u_lanes__bc2_q, u_lanes__bc3_q, u_lanes__bc4_q, u_lanes__lc0_q, u_lanes__lc1_q};
  wire [10*LANES-1:0] next_lanes = {next__u_lanes__active_q, next__u_lanes__st0_q, next__u_lanes__st1_q,
                                    next__u_lanes__bc0_q, next__u_lanes__bc1_q, next__u_lanes__bc2_q,
                                    next__u_lanes__bc3_q, next__u_lanes__bc4_q, next__u_lanes__lc0_q,
                                    next__u_lanes__lc1_q};
  wire [176:0] rest = {u_loop_stack__rep_q, u_loop_stack__count_q, u_loop_stack__al_q, u_loop_stack__depth_q,
                       u_loop_stack__al_top_q, u_addr_stack__addr_q, u_addr_stack__depth_q, pc_q, full_q, offset_q,
                       end_q, lo_q, hi_q};
  wire [176:0] next_rest = {next__u_loop_stack__rep_q, next__u_loop_stack__count_q, next__u_loop_stack__al_q,
                            next__u_loop_stack__depth_q, next__u_loop_stack__al_top_q, next__u_addr_stack__addr_q,
                            next__u_addr_stack__depth_q, next__pc_q, next__full_q, next__offset_q, next__end_q,
                            next__lo_q, next__hi_q};
  wire kept = lanes == next_lanes && rest == next_rest;

  wire moves     = rst_ni && !stall_i;
  wire in_window = pc_q >= lo_q && pc_q <= hi_q;
  wire is_fc     = cmn_inst_i[1:0] == 2'd2;
  wire status    = {running_q, done_q, halted_q, err_q} == {next__running_q, next__done_q, next__halted_q, next__err_q};

  // r500-3.4-a, contract-1-b.
  assign always__reset_ends_all = rst_ni || !(next__running_q || next__done_q || next__halted_q);
  // contract-2-a: a unit that is not running accepts every launch.
  assign always__launch_starts = !(moves && launch_i && !running_q) || next__running_q;
  // r500-6-a, contract-3-e: after an error, and after the end, nothing changes until a launch or a reset.
  assign prove__end_is_sticky = !(moves && !running_q && !launch_i) || (kept && status);
  // r500-6-a: an instruction with an error, or a PC outside the window, changes nothing else.
  assign prove__error_changes_nothing = !(moves && running_q && next__halted_q) ||
                                        (kept && !next__running_q && !next__done_q && !next__alu_clr_q);
  // contract-3-a: without an instruction nothing is executed.
  assign prove__waiting_changes_nothing = !(moves && running_q && !inst_valid_i && in_window) || (kept && status);
  // contract-3-d: a running unit with an instruction, or with a PC outside the window, executes it or ends, in this cycle.
  assign prove__progress = !(moves && running_q && (inst_valid_i || !in_window)) ||
                           (next__halted_q && next__err_q != 4'd0) ||
                           (in_window && (is_fc ? next__alu_clr_q : next__pc_q == pc_q + 10'd1));
  // contract-2-b.
  assign prove__constants_kept = !(moves && running_q) ||
                                 {u_consts__int_q, u_consts__bool_q} == {next__u_consts__int_q, next__u_consts__bool_q};
  // r500-4.5-b.
  assign prove__others_leave_lanes = !(moves && running_q && !is_fc) || lanes == next_lanes;

  // ---- what can happen ---------------------------------------------------------------------------------

  wire       errs     = moves && running_q && next__halted_q;
  wire       executes = moves && running_q && next__alu_clr_q;
  wire [2:0] op       = fc_inst_i[2:0];
  assign cover__error_1 = errs && next__err_q == 4'd1;
  assign cover__error_2 = errs && next__err_q == 4'd2;
  assign cover__error_3 = errs && next__err_q == 4'd3;
  assign cover__error_4 = errs && next__err_q == 4'd4;
  assign cover__error_5 = errs && next__err_q == 4'd5;
  assign cover__error_6 = errs && next__err_q == 4'd6;
  assign cover__error_7 = errs && next__err_q == 4'd7;
  assign cover__error_8 = errs && next__err_q == 4'd8;
  assign cover__error_9 = errs && next__err_q == 4'd9;
  assign cover__jump_executes      = executes && op == 3'd0;
  assign cover__loop_executes      = executes && op == 3'd1;
  assign cover__endloop_executes   = executes && op == 3'd2;
  assign cover__rep_executes       = executes && op == 3'd3;
  assign cover__endrep_executes    = executes && op == 3'd4;
  assign cover__breakloop_executes = executes && op == 3'd5;
  assign cover__breakrep_executes  = executes && op == 3'd6;
  assign cover__continue_executes  = executes && op == 3'd7;
  assign cover__loops_full = executes && next__u_loop_stack__depth_q == 3'd4 && u_loop_stack__depth_q == 3'd3;
  assign cover__addrs_full = executes && next__u_addr_stack__depth_q == 3'd4 && u_addr_stack__depth_q == 3'd3;
  assign cover__partial_mode = executes && !full_q && lanes != next_lanes;
  // Lanes of all four classes at once; with fewer than four lanes, any classes.
  wire [3:0] classes = {(u_lanes__st1_q & u_lanes__st0_q) != '0, (u_lanes__st1_q & ~u_lanes__st0_q) != '0,
                        (~u_lanes__st1_q & u_lanes__st0_q) != '0, (~u_lanes__st1_q & ~u_lanes__st0_q) != '0};
  assign cover__every_class = executes && (LANES < 4 || classes == 4'hf);
  assign cover__ends              = moves && running_q && next__done_q;
  assign cover__launches          = moves && !running_q && next__running_q;
  assign cover__other_instruction = moves && running_q && !is_fc && inst_valid_i && next__running_q && !next__alu_clr_q;

endmodule
