// What r700 promises beyond its assertions (rtl/r700/r700_sva.sv) and beyond what it does in a cycle (step.sv).
// ../r500/properties.sv explains the names.

module r700_properties #(
  parameter int LANES          = 64,
  parameter int MAX_STACK_SIZE = 32,
  parameter int SUBENTRIES     = 4,
  parameter int DX10_COUNT     = 0,
  localparam int WordBits = LANES > 56 ? LANES : 56,
  localparam int Rows     = MAX_STACK_SIZE * SUBENTRIES / 4,
  localparam int SpBits   = SUBENTRIES == 8 ? 11 : 10
) (
  input logic [LANES-1:0] u_lanes__active_q,
  input logic [LANES-1:0] u_lanes__st0_q,
  input logic [LANES-1:0] u_lanes__st1_q,
  input logic [LANES-1:0] u_lanes__valid_q,
  input logic [1:0] u_loop__lt_q,
  input logic [11:0] u_loop__lc_q,
  input logic [31:0] u_loop__al_q,
  input logic [7:0] u_loop__inc_q,
  input logic [SpBits-1:0] u_stack__sp_q,
  input logic [SpBits-1:0] u_stack__base_q,
  input logic [1:0] u_stack__bkind_q,
  input logic [SpBits-1:0] u_stack__nb_q,
  input logic [SpBits-1:0] u_stack__limit_q,
  input logic [1023:0] u_consts__loop_q,
  input logic [31:0] u_consts__bool_q,
  input logic [31:0] pc_q,
  input logic [5:0] depth_q,
  input logic [31:0] prog_len_q,
  input logic running_q,
  input logic done_q,
  input logic halted_q,
  input logic skipped_q,
  input logic [3:0] err_q,
  input logic [WordBits*Rows-1:0] u_stack__bank0_q,
  input logic [WordBits*Rows-1:0] u_stack__bank1_q,
  input logic [WordBits*Rows-1:0] u_stack__bank2_q,
  input logic [WordBits*Rows-1:0] u_stack__bank3_q,
  input logic [LANES-1:0] next__u_lanes__active_q,
  input logic [LANES-1:0] next__u_lanes__st0_q,
  input logic [LANES-1:0] next__u_lanes__st1_q,
  input logic [LANES-1:0] next__u_lanes__valid_q,
  input logic [1:0] next__u_loop__lt_q,
  input logic [11:0] next__u_loop__lc_q,
  input logic [31:0] next__u_loop__al_q,
  input logic [7:0] next__u_loop__inc_q,
  input logic [SpBits-1:0] next__u_stack__sp_q,
  input logic [SpBits-1:0] next__u_stack__base_q,
  input logic [1:0] next__u_stack__bkind_q,
  input logic [SpBits-1:0] next__u_stack__nb_q,
  input logic [SpBits-1:0] next__u_stack__limit_q,
  input logic [1023:0] next__u_consts__loop_q,
  input logic [31:0] next__u_consts__bool_q,
  input logic [31:0] next__pc_q,
  input logic [5:0] next__depth_q,
  input logic [31:0] next__prog_len_q,
  input logic next__running_q,
  input logic next__done_q,
  input logic next__halted_q,
  input logic next__skipped_q,
  input logic [3:0] next__err_q,
  input logic [WordBits*Rows-1:0] next__u_stack__bank0_q,
  input logic [WordBits*Rows-1:0] next__u_stack__bank1_q,
  input logic [WordBits*Rows-1:0] next__u_stack__bank2_q,
  input logic [WordBits*Rows-1:0] next__u_stack__bank3_q,
  input logic [LANES-1:0] next__u_lanes__exec_q,
  input logic next__jump_q,
  input logic rst_ni,
  input logic stall_i,
  input logic launch_i,
  input logic inst_valid_i,
  input logic [31:0] dw1_i,

  output logic always__reset_ends_all,
  output logic always__launch_ends_or_starts,
  output logic prove__end_is_sticky,
  output logic prove__error_changes_nothing,
  output logic prove__waiting_changes_nothing,
  output logic prove__progress,
  output logic prove__constants_kept,
  output logic prove__valid_only_falls,
  output logic cover__error_1,
  output logic cover__error_2,
  output logic cover__error_3,
  output logic cover__error_4,
  output logic cover__error_5,
  output logic cover__error_6,
  output logic cover__error_7,
  output logic cover__error_8,
  output logic cover__error_9,
  output logic cover__slot_stays,
  output logic cover__loop_start_stays,
  output logic cover__loop_start_jumps,
  output logic cover__loop_end_stays,
  output logic cover__loop_end_jumps,
  output logic cover__loop_start_dx10_stays,
  output logic cover__loop_start_no_al_stays,
  output logic cover__loop_continue_stays,
  output logic cover__loop_continue_jumps,
  output logic cover__loop_break_stays,
  output logic cover__loop_break_jumps,
  output logic cover__jump_stays,
  output logic cover__jump_jumps,
  output logic cover__push_stays,
  output logic cover__push_jumps,
  output logic cover__push_else_stays,
  output logic cover__push_else_jumps,
  output logic cover__else_stays,
  output logic cover__else_jumps,
  output logic cover__pop_stays,
  output logic cover__call_stays,
  output logic cover__call_jumps,
  output logic cover__return_stays,
  output logic cover__return_jumps,
  output logic cover__kill_stays,
  output logic cover__kill_jumps,
  output logic cover__alu_stays,
  output logic cover__alu_push_before_stays,
  output logic cover__alu_pop_after_stays,
  output logic cover__alu_pop2_after_stays,
  output logic cover__alu_continue_stays,
  output logic cover__alu_break_stays,
  output logic cover__alu_else_after_stays,
  output logic cover__ends,
  output logic cover__skips,
  output logic cover__loop_in_loop,
  output logic cover__dx10_passes_over,
  output logic cover__dx10_counts_down,
  output logic cover__dx10_last_pass
);

  wire same_status = {running_q, done_q, halted_q, err_q} == {next__running_q, next__done_q, next__halted_q, next__err_q};
  wire kept = {u_lanes__active_q, u_lanes__st0_q, u_lanes__st1_q, u_lanes__valid_q, u_loop__lt_q,
                   u_loop__lc_q, u_loop__al_q, u_loop__inc_q, u_stack__sp_q, u_stack__base_q, u_stack__bkind_q,
                   u_stack__nb_q, u_stack__limit_q, pc_q, depth_q, prog_len_q, skipped_q, u_stack__bank0_q,
                   u_stack__bank1_q, u_stack__bank2_q, u_stack__bank3_q} ==
              {next__u_lanes__active_q, next__u_lanes__st0_q, next__u_lanes__st1_q, next__u_lanes__valid_q,
                   next__u_loop__lt_q, next__u_loop__lc_q, next__u_loop__al_q, next__u_loop__inc_q,
                   next__u_stack__sp_q, next__u_stack__base_q, next__u_stack__bkind_q, next__u_stack__nb_q,
                   next__u_stack__limit_q, next__pc_q, next__depth_q, next__prog_len_q, next__skipped_q,
                   next__u_stack__bank0_q, next__u_stack__bank1_q, next__u_stack__bank2_q,
                   next__u_stack__bank3_q};

  wire moves     = rst_ni && !stall_i;
  wire is_alu    = dw1_i[29];
  wire [6:0] op  = dw1_i[29:23];
  wire executes  = moves && running_q && inst_valid_i && !next__halted_q;
  wire errs      = moves && running_q && next__halted_q;

  // r700-3.3-e, contract-1-b.
  assign always__reset_ends_all = rst_ni || !(next__running_q || next__done_q || next__halted_q);
  // contract-2-a, r700-3.3-d: a unit that is not running accepts every launch.
  assign always__launch_ends_or_starts = !(moves && launch_i && !running_q) || next__running_q || next__halted_q;
  // r700-6-a: after an error, and after the end, nothing changes until a launch or a reset.
  assign prove__end_is_sticky = !(moves && !running_q && !launch_i) || (kept && same_status);
  // r700-6-a: an instruction with an error changes nothing else.
  assign prove__error_changes_nothing = !errs || (kept && !next__running_q && !next__done_q && !next__jump_q &&
                                                  next__u_lanes__exec_q == '0);
  // r700-3.5-c.
  assign prove__waiting_changes_nothing = !(moves && running_q && !inst_valid_i) ||
                                          (kept && same_status && !next__jump_q && next__u_lanes__exec_q == '0);
  // r700-3.5-a: an instruction of a running wave is executed in this cycle, or is an error.
  assign prove__progress = !(moves && running_q && inst_valid_i) || (next__halted_q && next__err_q != 4'd0) ||
                           next__jump_q || next__pc_q == pc_q + 32'd1;
  // contract-2-b.
  assign prove__constants_kept = !(moves && running_q) ||
                                 {u_consts__loop_q, u_consts__bool_q} == {next__u_consts__loop_q, next__u_consts__bool_q};
  // r700-3.1-b.
  assign prove__valid_only_falls = !(moves && running_q) || (next__u_lanes__valid_q & ~u_lanes__valid_q) == '0;

  // ---- what can happen ---------------------------------------------------------------------------------

  assign cover__error_1 = errs && next__err_q == 4'd1;
  assign cover__error_2 = errs && next__err_q == 4'd2;
  assign cover__error_3 = errs && next__err_q == 4'd3;
  assign cover__error_4 = errs && next__err_q == 4'd4;
  assign cover__error_5 = errs && next__err_q == 4'd5;
  assign cover__error_6 = errs && next__err_q == 4'd6;
  assign cover__error_7 = errs && next__err_q == 4'd7;
  assign cover__error_8 = errs && next__err_q == 4'd8;
  assign cover__error_9 = errs && next__err_q == 4'd9;
  assign cover__slot_stays = executes && !is_alu && op == 7'd1 && !next__jump_q;
  assign cover__loop_start_stays = executes && !is_alu && op == 7'd4 && !next__jump_q;
  assign cover__loop_start_jumps = executes && !is_alu && op == 7'd4 && next__jump_q;
  assign cover__loop_end_stays = executes && !is_alu && op == 7'd5 && !next__jump_q;
  assign cover__loop_end_jumps = executes && !is_alu && op == 7'd5 && next__jump_q;
  assign cover__loop_start_dx10_stays = executes && !is_alu && op == 7'd6 && !next__jump_q;
  assign cover__loop_start_no_al_stays = executes && !is_alu && op == 7'd7 && !next__jump_q;
  assign cover__loop_continue_stays = executes && !is_alu && op == 7'd8 && !next__jump_q;
  assign cover__loop_continue_jumps = executes && !is_alu && op == 7'd8 && next__jump_q;
  assign cover__loop_break_stays = executes && !is_alu && op == 7'd9 && !next__jump_q;
  assign cover__loop_break_jumps = executes && !is_alu && op == 7'd9 && next__jump_q;
  assign cover__jump_stays = executes && !is_alu && op == 7'd10 && !next__jump_q;
  assign cover__jump_jumps = executes && !is_alu && op == 7'd10 && next__jump_q;
  assign cover__push_stays = executes && !is_alu && op == 7'd11 && !next__jump_q;
  assign cover__push_jumps = executes && !is_alu && op == 7'd11 && next__jump_q;
  assign cover__push_else_stays = executes && !is_alu && op == 7'd12 && !next__jump_q;
  assign cover__push_else_jumps = executes && !is_alu && op == 7'd12 && next__jump_q;
  assign cover__else_stays = executes && !is_alu && op == 7'd13 && !next__jump_q;
  assign cover__else_jumps = executes && !is_alu && op == 7'd13 && next__jump_q;
  assign cover__pop_stays = executes && !is_alu && op == 7'd14 && !next__jump_q;
  assign cover__call_stays = executes && !is_alu && op == 7'd18 && !next__jump_q;
  assign cover__call_jumps = executes && !is_alu && op == 7'd18 && next__jump_q;
  assign cover__return_stays = executes && !is_alu && op == 7'd20 && !next__jump_q;
  assign cover__return_jumps = executes && !is_alu && op == 7'd20 && next__jump_q;
  assign cover__kill_stays = executes && !is_alu && op == 7'd24 && !next__jump_q;
  assign cover__kill_jumps = executes && !is_alu && op == 7'd24 && next__jump_q;
  assign cover__alu_stays = executes && dw1_i[29:26] == 4'd8 && !next__jump_q;
  assign cover__alu_push_before_stays = executes && dw1_i[29:26] == 4'd9 && !next__jump_q;
  assign cover__alu_pop_after_stays = executes && dw1_i[29:26] == 4'd10 && !next__jump_q;
  assign cover__alu_pop2_after_stays = executes && dw1_i[29:26] == 4'd11 && !next__jump_q;
  assign cover__alu_continue_stays = executes && dw1_i[29:26] == 4'd13 && !next__jump_q;
  assign cover__alu_break_stays = executes && dw1_i[29:26] == 4'd14 && !next__jump_q;
  assign cover__alu_else_after_stays = executes && dw1_i[29:26] == 4'd15 && !next__jump_q;
  assign cover__ends         = executes && next__done_q;
  assign cover__skips        = executes && !skipped_q && next__skipped_q;
  assign cover__loop_in_loop = executes && u_loop__lt_q == 2'd1 && next__u_loop__lt_q == 2'd3;
  // r700-4.3-z: a DX10 loop with count 0 is not entered; one that counts counts down and is left after its last pass.
  assign cover__dx10_passes_over = DX10_COUNT == 0 || (executes && !is_alu && op == 7'd6 && dw1_i[9:8] == 2'd0 && !dw1_i[22] &&
                                                       u_lanes__active_q != '0 && next__jump_q);
  assign cover__dx10_counts_down = DX10_COUNT == 0 || (executes && !is_alu && op == 7'd5 && u_loop__lt_q == 2'd3 &&
                                                       next__jump_q && next__u_loop__lc_q != u_loop__lc_q);
  assign cover__dx10_last_pass   = DX10_COUNT == 0 || (executes && !is_alu && op == 7'd5 && dw1_i[9:8] == 2'd0 && !dw1_i[22] &&
                                                       u_loop__lt_q == 2'd3 && u_lanes__active_q != '0 && !next__jump_q);

endmodule
