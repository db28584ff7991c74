// What spa5 promises beyond its assertions (rtl/spa5/spa5_sva.sv) and beyond what it does in a cycle (step.sv).
// ../r500/properties.sv explains the names.

module spa5_properties #(
  parameter int LANES = 32,
  parameter int DEPTH = 64,
  parameter int BRX   = 0,
  parameter int CSM   = 0,
  localparam int SpBits = $clog2(DEPTH + 1)
) (
  input logic [1:0] status_q,
  input logic [3:0] err_q,
  input logic [31:0] pc_q,
  input logic [31:0] prog_base_q,
  input logic [31:0] prog_size_q,
  input logic [LANES-1:0] u_threads__active_q,
  input logic [LANES-1:0] u_threads__exited_q,
  input logic [LANES-1:0] u_threads__killed_q,
  input logic [LANES-1:0] u_threads__d_brk_q,
  input logic [LANES-1:0] u_threads__d_cont_q,
  input logic [LANES-1:0] u_threads__d_ret_q,
  input logic [3:0] u_stack__vis_q,
  input logic [SpBits-1:0] u_stack__sp_q,
  input logic [38:0] u_stack__top_head_q,
  input logic [LANES-1:0] u_stack__top_mask_q,
  input logic [39*DEPTH-1:0] u_stack__head_q,
  input logic [LANES*DEPTH-1:0] u_stack__mask_q,
  input logic [1:0] next__status_q,
  input logic [3:0] next__err_q,
  input logic [31:0] next__pc_q,
  input logic [31:0] next__prog_base_q,
  input logic [31:0] next__prog_size_q,
  input logic [LANES-1:0] next__u_threads__active_q,
  input logic [LANES-1:0] next__u_threads__exited_q,
  input logic [LANES-1:0] next__u_threads__killed_q,
  input logic [LANES-1:0] next__u_threads__d_brk_q,
  input logic [LANES-1:0] next__u_threads__d_cont_q,
  input logic [LANES-1:0] next__u_threads__d_ret_q,
  input logic [3:0] next__u_stack__vis_q,
  input logic [SpBits-1:0] next__u_stack__sp_q,
  input logic [38:0] next__u_stack__top_head_q,
  input logic [LANES-1:0] next__u_stack__top_mask_q,
  input logic [39*DEPTH-1:0] next__u_stack__head_q,
  input logic [LANES*DEPTH-1:0] next__u_stack__mask_q,
  input logic rst_ni,
  input logic stall_i,
  input logic launch_i,
  input logic [LANES-1:0] launch_mask_i,
  input logic inst_valid_i,
  input logic [63:0] word_i,

  output logic always__reset_ends_all,
  output logic always__launch_starts,
  output logic always__program_kept,
  output logic prove__end_is_sticky,
  output logic prove__error_changes_nothing,
  output logic prove__waiting_changes_nothing,
  output logic prove__outside_halts,
  output logic prove__progress,
  output logic prove__unwind_progress,
  output logic prove__tokens_kept,
  output logic prove__exited_only_grows,
  output logic prove__active_only_shrinks,
  output logic cover__error_1,
  output logic cover__error_2,
  output logic cover__error_3,
  output logic cover__error_4,
  output logic cover__error_5,
  output logic cover__error_6,
  output logic cover__error_7,
  output logic cover__error_8,
  output logic cover__error_9,
  output logic cover__error_10,
  output logic cover__ssy_executes,
  output logic cover__pbk_executes,
  output logic cover__pcnt_executes,
  output logic cover__pret_executes,
  output logic cover__cal_executes,
  output logic cover__jcal_executes,
  output logic cover__bra_jumps,
  output logic cover__bra_stays,
  output logic cover__bra_parts,
  output logic cover__jmp_jumps,
  output logic cover__jmp_stays,
  output logic cover__jmp_parts,
  output logic cover__brx_jumps,
  output logic cover__brx_stays,
  output logic cover__brx_parts,
  output logic cover__brx_groups,
  output logic cover__jmx_jumps,
  output logic cover__jmx_stays,
  output logic cover__jmx_parts,
  output logic cover__jmx_groups,
  output logic cover__sync_by_some,
  output logic cover__sync_by_all,
  output logic cover__brk_by_some,
  output logic cover__brk_by_all,
  output logic cover__cont_by_some,
  output logic cover__cont_by_all,
  output logic cover__ret_by_some,
  output logic cover__ret_by_all,
  output logic cover__exit_by_some,
  output logic cover__exit_by_all,
  output logic cover__kil_by_some,
  output logic cover__kil_by_all,
  output logic cover__ssy_resumes,
  output logic cover__ssy_resumes_none,
  output logic cover__pbk_resumes,
  output logic cover__pbk_resumes_none,
  output logic cover__pcnt_resumes,
  output logic cover__pcnt_resumes_none,
  output logic cover__ret_resumes,
  output logic cover__ret_resumes_none,
  output logic cover__div_resumes,
  output logic cover__other_executes,
  output logic cover__bank_executes,
  output logic cover__clip_executes,
  output logic cover__stack_fills,
  output logic cover__ends,
  output logic cover__launches,
  output logic cover__launches_nothing
);

  localparam logic [1:0] Run = 2'd0, Done = 2'd1, Err = 2'd2, Unwind = 2'd3;

  wire moves     = rst_ni && !stall_i;
  wire launches  = moves && launch_i && (status_q == Done || status_q == Err);
  wire [32:0] program_end = {1'b0, prog_base_q} + {1'b0, prog_size_q};
  wire inside    = pc_q >= prog_base_q && {1'b0, pc_q} < program_end;

  // The state of a program: all but status and error.
  wire threads_kept = {u_threads__active_q, u_threads__exited_q, u_threads__killed_q, u_threads__d_brk_q, u_threads__d_cont_q,
                       u_threads__d_ret_q} ==
                      {next__u_threads__active_q, next__u_threads__exited_q, next__u_threads__killed_q, next__u_threads__d_brk_q,
                       next__u_threads__d_cont_q, next__u_threads__d_ret_q};
  wire stack_kept   = {u_stack__vis_q, u_stack__sp_q, u_stack__top_head_q, u_stack__top_mask_q} ==
                      {next__u_stack__vis_q, next__u_stack__sp_q, next__u_stack__top_head_q, next__u_stack__top_mask_q};
  wire memory_kept  = {u_stack__head_q, u_stack__mask_q} == {next__u_stack__head_q, next__u_stack__mask_q};
  wire program_same = {prog_base_q, prog_size_q} == {next__prog_base_q, next__prog_size_q};
  wire kept         = threads_kept && stack_kept && memory_kept && program_same && pc_q == next__pc_q;
  wire same_status  = {status_q, err_q} == {next__status_q, next__err_q};

  // spa5-3-l: the tokens below the one on top.
  logic below_kept;
  always_comb begin
    below_kept = 1'b1;
    for (int i = 0; i < DEPTH; i++) begin
      if (u_stack__sp_q > i && (u_stack__head_q[39*i +: 39] != next__u_stack__head_q[39*i +: 39] ||
                                u_stack__mask_q[LANES*i +: LANES] != next__u_stack__mask_q[LANES*i +: LANES])) begin
        below_kept = 1'b0;
      end
    end
  end

  // spa5-3-o, contract-1-b.
  assign always__reset_ends_all = rst_ni || (next__status_q == Done && next__err_q == 4'd0 && next__u_stack__sp_q == '0 &&
                                             next__u_threads__active_q == '0);
  // contract-2-a: a unit that is not running accepts every launch.
  assign always__launch_starts = !launches ||
                                 (next__err_q == 4'd0 && next__u_stack__sp_q == '0 &&
                                  next__u_threads__active_q == launch_mask_i &&
                                  next__status_q == (launch_mask_i == '0 ? Done : Run));
  // spa5-3-p: a launch latches base and size, and nothing else changes them.
  assign always__program_kept = !moves || launches || program_same;
  // spa5-4.1-a, spa5-6-a: after an error, and after the end, nothing changes until a launch or a reset.
  assign prove__end_is_sticky = !(moves && (status_q == Done || status_q == Err) && !launch_i) || (kept && same_status);
  // spa5-4.1-f: an error changes only status and err.
  assign prove__error_changes_nothing = !(moves && status_q == Run && next__status_q == Err) ||
                                        (kept && next__err_q != 4'd0);
  // contract-3-a: without an instruction nothing is executed.
  assign prove__waiting_changes_nothing = !(moves && status_q == Run && inside && !inst_valid_i) || (kept && same_status);
  // spa5-4.1-b, contract-3-c: whether or not there is an instruction.
  assign prove__outside_halts = !(moves && status_q == Run && !inside) || (next__status_q == Err && next__err_q == 4'd6);
  // contract-3-d: an instruction is executed in this cycle, or is an error; then threads run or the unit unwinds.
  assign prove__progress = !(moves && status_q == Run && inst_valid_i) ||
                           (next__status_q == Run && next__u_threads__active_q != '0) ||
                           (next__status_q == Unwind && next__u_threads__active_q == '0) || next__status_q == Err;
  // spa5-3-m, spa5-4.4: a cycle of UNWIND pops a token or is the last one, so there are at most sp + 1; unwinding
  // cannot fail.
  assign prove__unwind_progress = !(moves && status_q == Unwind) ||
                                  (u_stack__sp_q == '0 ? next__status_q == Done :
                                   next__u_stack__sp_q == u_stack__sp_q - 1'b1 &&
                                   next__status_q == (next__u_threads__active_q == '0 ? Unwind : Run));
  // spa5-3-l.
  assign prove__tokens_kept = !rst_ni || launches || below_kept;
  // spa5-3-f, spa5-3-q.
  assign prove__exited_only_grows = !rst_ni || launches || ((u_threads__exited_q & ~next__u_threads__exited_q) == '0 &&
                                                            (u_threads__killed_q & ~next__u_threads__killed_q) == '0);
  // spa5-4.3: only a pop and a launch bring a thread back.
  assign prove__active_only_shrinks = !(moves && status_q == Run) || (next__u_threads__active_q & ~u_threads__active_q) == '0;

  // ---- what can happen ---------------------------------------------------------------------------------

  wire [11:0] op  = word_i[63:52];
  wire [2:0]  top = u_stack__top_head_q[38:36];
  wire is_sync    = word_i[63:51] == 13'h1e1f;
  wire errs       = moves && status_q == Run && next__status_q == Err;
  wire executes   = moves && status_q == Run && inst_valid_i && next__status_q != Err;
  wire pops       = moves && status_q == Unwind && u_stack__sp_q != '0;
  wire grows      = next__u_stack__sp_q != u_stack__sp_q;
  wire shrinks    = next__u_threads__active_q != u_threads__active_q;
  wire [31:0] seq = pc_q[4:0] == 5'd24 ? pc_q + 32'd16 : pc_q + 32'd8;

  assign cover__error_1 = errs && next__err_q == 4'd1;
  assign cover__error_2 = errs && next__err_q == 4'd2;
  assign cover__error_3 = errs && next__err_q == 4'd3;
  assign cover__error_4 = errs && next__err_q == 4'd4;
  assign cover__error_5 = errs && next__err_q == 4'd5;
  assign cover__error_6 = errs && next__err_q == 4'd6;
  assign cover__error_7 = errs && next__err_q == 4'd7;
  assign cover__error_8 = errs && next__err_q == 4'd8;
  assign cover__error_9 = errs && next__err_q == 4'd9;
  assign cover__error_10 = errs && next__err_q == 4'd10;
  assign cover__ssy_executes = executes && op == 12'hE29 && grows;
  assign cover__pbk_executes = executes && op == 12'hE2A && grows;
  assign cover__pcnt_executes = executes && op == 12'hE2B && grows;
  assign cover__pret_executes = executes && op == 12'hE27 && grows;
  assign cover__cal_executes = executes && op == 12'hE26 && grows;
  assign cover__jcal_executes = executes && op == 12'hE22 && grows;
  assign cover__bra_jumps = executes && op == 12'hE24 && !grows && next__pc_q != seq;
  assign cover__bra_stays = executes && op == 12'hE24 && !grows && next__pc_q == seq;
  assign cover__bra_parts = LANES < 2 || (executes && op == 12'hE24 && grows);
  assign cover__jmp_jumps = executes && op == 12'hE21 && !grows && next__pc_q != seq;
  assign cover__jmp_stays = executes && op == 12'hE21 && !grows && next__pc_q == seq;
  assign cover__jmp_parts = LANES < 2 || (executes && op == 12'hE21 && grows);
  assign cover__brx_jumps = BRX == 0 || (executes && op == 12'hE25 && !grows && next__pc_q != seq);
  assign cover__brx_stays = BRX == 0 || (executes && op == 12'hE25 && !grows && next__pc_q == seq);
  assign cover__brx_parts = BRX == 0 || LANES < 2 || (executes && op == 12'hE25 && grows && next__pc_q == pc_q);
  assign cover__brx_groups = BRX == 0 || LANES < 2 || (executes && op == 12'hE25 && grows && next__pc_q != pc_q);
  assign cover__jmx_jumps = BRX == 0 || (executes && op == 12'hE20 && !grows && next__pc_q != seq);
  assign cover__jmx_stays = BRX == 0 || (executes && op == 12'hE20 && !grows && next__pc_q == seq);
  assign cover__jmx_parts = BRX == 0 || LANES < 2 || (executes && op == 12'hE20 && grows && next__pc_q == pc_q);
  assign cover__jmx_groups = BRX == 0 || LANES < 2 || (executes && op == 12'hE20 && grows && next__pc_q != pc_q);
  assign cover__sync_by_some = LANES < 2 || (executes && is_sync && shrinks && next__status_q == Run);
  assign cover__sync_by_all = executes && is_sync && next__status_q == Unwind;
  assign cover__brk_by_some = LANES < 2 || (executes && op == 12'hE34 && shrinks && next__status_q == Run);
  assign cover__brk_by_all = executes && op == 12'hE34 && next__status_q == Unwind;
  assign cover__cont_by_some = LANES < 2 || (executes && op == 12'hE35 && shrinks && next__status_q == Run);
  assign cover__cont_by_all = executes && op == 12'hE35 && next__status_q == Unwind;
  assign cover__ret_by_some = LANES < 2 || (executes && op == 12'hE32 && shrinks && next__status_q == Run);
  assign cover__ret_by_all = executes && op == 12'hE32 && next__status_q == Unwind;
  assign cover__exit_by_some = LANES < 2 || (executes && op == 12'hE30 && shrinks && next__status_q == Run);
  assign cover__exit_by_all = executes && op == 12'hE30 && next__status_q == Unwind;
  assign cover__kil_by_some = LANES < 2 || (executes && op == 12'hE33 && shrinks && next__status_q == Run);
  assign cover__kil_by_all = executes && op == 12'hE33 && next__status_q == Unwind;
  assign cover__ssy_resumes = pops && top == 3'd1 && next__status_q == Run;
  assign cover__ssy_resumes_none = pops && top == 3'd1 && next__status_q == Unwind;
  assign cover__pbk_resumes = pops && top == 3'd2 && next__status_q == Run;
  assign cover__pbk_resumes_none = pops && top == 3'd2 && next__status_q == Unwind;
  assign cover__pcnt_resumes = pops && top == 3'd3 && next__status_q == Run;
  assign cover__pcnt_resumes_none = pops && top == 3'd3 && next__status_q == Unwind;
  assign cover__ret_resumes = pops && top == 3'd4 && next__status_q == Run;
  assign cover__ret_resumes_none = pops && top == 3'd4 && next__status_q == Unwind;
  assign cover__div_resumes = LANES < 2 || (pops && top == 3'd5 && next__status_q == Run);
  assign cover__other_executes = executes && op == 12'h50B;
  assign cover__bank_executes = executes && op == 12'hE29 && word_i[5];
  assign cover__clip_executes = CSM == 0 || (executes && op == 12'hE30 && word_i[4:0] == 5'h1A && shrinks);
  assign cover__stack_fills = executes && grows && next__u_stack__sp_q == DEPTH;
  assign cover__ends = moves && status_q == Unwind && next__status_q == Done;
  assign cover__launches = moves && status_q != Run && next__status_q == Run && launch_i && u_threads__active_q == '0 && status_q != Unwind;
  assign cover__launches_nothing = moves && status_q == Err && next__status_q == Done;

endmodule
