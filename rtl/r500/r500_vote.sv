// What the lanes want and what the unit does (r500-4.1-f to r500-4.1-i, r500-4.2).
//
// Corner cases:
// * No voter: JUMP_ANY = 0 jumps, JUMP_ANY = 1 stays. Both follow from "no voter objects" and "some
//   voter wants to"; there is no special case.
// * The count alone decides: LOOP/REP with KR = 0 jump and ENDLOOP/ENDREP in the last iteration stay,
//   whatever the lanes and the table say, and then no lane disagrees.
// * Holding back overrides everything but the count (no instruction has both). Any BRANCH lane holds BREAK
//   and CONTINUE back, any CONT lane holds BREAK back, whatever their counters. This is one line
//   below, because the sources allow other readings (r500-O8 and r500-O9).
// * Lanes switched off by this instruction's B_ELSE want to jump. They vote, except on BREAK and
//   CONTINUE, where they are BRANCH lanes like any other and hold back. (Their vote could change
//   nothing there; it is still masked, so that `held` can be changed alone.)
// * With IGNORE_UNCOVERED uncovered lanes neither vote nor hold back, but they can disagree: an uncovered
//   ACTIVE lane changes like the others.
// * RGB_PRED_SEL = 0 reads as predicate 1, before the inversion.
// * Without `step_i` everything is 0, so that a simulator evaluates nothing here without an FC instruction.

module r500_vote #(
  parameter int LANES = 16
) (
  input  logic             step_i,        // an FC instruction is at the inputs

  // The instruction.
  input  logic [7:0]       jump_func_i,
  input  logic             jump_any_i,
  input  logic             ignore_uncovered_i,
  input  logic [2:0]       pred_sel_i,
  input  logic             pred_inv_i,
  input  logic             bool_i,        // the boolean constant it selects
  input  logic             is_break_i,
  input  logic             is_cont_i,
  input  logic             force_jump_i,  // KR = 0
  input  logic             force_stay_i,  // last iteration

  // The lanes; classes as they are after step 2.
  input  logic [LANES-1:0] alu_i,
  input  logic [LANES-1:0] pred_r_i,
  input  logic [LANES-1:0] pred_g_i,
  input  logic [LANES-1:0] pred_b_i,
  input  logic [LANES-1:0] pred_a_i,
  input  logic [LANES-1:0] cov_i,
  input  logic [LANES-1:0] active_i,
  input  logic [LANES-1:0] branch_i,
  input  logic [LANES-1:0] cont_i,
  input  logic [LANES-1:0] else_off_i,    // switched off by this instruction's B_ELSE

  output logic             jump_o,
  output logic [LANES-1:0] disagree_o     // ACTIVE lanes that want the opposite
);

  logic [LANES-1:0] pred, table_bit, want, asked, voters, held;
  logic             agreed;
  logic             if_11, if_10, if_01, if_00;  // table bits for {alu, predicate}

  // JUMP_FUNC is indexed by {alu, predicate, boolean}, and the boolean is the same for all lanes.
  logic [3:0] func_true, func_false;
  assign func_true  = {jump_func_i[7], jump_func_i[5], jump_func_i[3], jump_func_i[1]};
  assign func_false = {jump_func_i[6], jump_func_i[4], jump_func_i[2], jump_func_i[0]};

  always_comb begin
    pred       = '0;
    {if_11, if_10, if_01, if_00} = '0;
    table_bit  = '0;
    want       = '0;
    asked      = '0;
    voters     = '0;
    held       = '0;
    agreed     = 1'b0;
    jump_o     = 1'b0;
    disagree_o = '0;
    if (step_i) begin
      pred = (pred_r_i & {LANES{pred_sel_i == r500_pkg::PredR}}) |
             (pred_g_i & {LANES{pred_sel_i == r500_pkg::PredG}}) |
             (pred_b_i & {LANES{pred_sel_i == r500_pkg::PredB}}) |
             (pred_a_i & {LANES{pred_sel_i == r500_pkg::PredA}}) |
             {LANES{pred_sel_i == r500_pkg::PredNone}};
      pred = pred ^ {LANES{pred_inv_i}};

      {if_11, if_10, if_01, if_00} = bool_i ? func_true : func_false;
      table_bit = (alu_i & ((pred & {LANES{if_11}}) | (~pred & {LANES{if_10}}))) |
                  (~alu_i & ((pred & {LANES{if_01}}) | (~pred & {LANES{if_00}})));

      want   = (active_i & table_bit) | else_off_i;
      asked  = cov_i | {LANES{~ignore_uncovered_i}};
      voters = (active_i | (else_off_i & {LANES{~(is_break_i | is_cont_i)}})) & asked;
      held   = ((branch_i & {LANES{is_break_i | is_cont_i}}) | (cont_i & {LANES{is_break_i}})) & asked;

      agreed     = jump_any_i ? |(voters & want) : ~|(voters & ~want);
      jump_o     = force_jump_i | (agreed & ~|held & ~force_stay_i);
      disagree_o = active_i & (want ^ {LANES{jump_o}}) & {LANES{~(force_jump_i | force_stay_i)}};
    end
  end

endmodule
