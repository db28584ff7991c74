// The condition test of every lane, and whether the wave jumps (r700-4.1, r700-4.3).
//
// Corner cases:
// * No lane passes: JUMP, PUSH, PUSH_ELSE and the loop starts jump, CALL does not, and LOOP_END leaves
//   the loop. If no lane is ACTIVE, none passes, except at LOOP_END.
// * RETURN is the opposite: it jumps unless an ACTIVE lane fails, so it jumps if no lane is ACTIVE.
//   COND is the same for all lanes: if it holds, no lane fails; if not, every ACTIVE lane fails, except
//   those that VPM leaves out.
// * ELSE tests COND and VPM, not the class. It jumps if no lane is ACTIVE after the masks have
//   changed, whichever lanes changed; ALU_ELSE_AFTER without u inverts in the same way and never jumps.
// * LOOP_BREAK and LOOP_CONTINUE jump once no lane is ACTIVE or BRANCH, even if no lane passes now.
// * LOOP_END wakes BRANCH and CONT lanes first, so these lanes are tested too.
// * KILL jumps when no lane is valid, whichever lanes are ACTIVE.
// * POP never jumps, and tests after its pop: r700_lanes does that.
// * Without `step_i` everything is 0, so that a simulator evaluates nothing here in a cycle without an instruction.

module r700_vote #(
  parameter int LANES = 64
) (
  input  logic             step_i,        // an instruction is at the inputs

  input  logic [3:0]       kind_i,        // r700_pkg::Kind*
  input  logic             cond_i,        // COND without the class: the same for all lanes
  input  logic             vpm_i,
  input  logic             never_enter_i, // loop start with a count of 0
  input  logic             again_i,       // LOOP_END: passes are left, or the loop does not count
  input  logic             too_deep_i,    // CALL: more than 32 levels

  input  logic [LANES-1:0] active_i,
  input  logic [LANES-1:0] st0_i,
  input  logic [LANES-1:0] st1_i,
  input  logic [LANES-1:0] valid_i,
  input  logic [LANES-1:0] top_mask_i,    // mask of the top branch frame, for both kinds of ELSE

  output logic [LANES-1:0] may_o,         // lanes that VPM allows to be on
  output logic [LANES-1:0] pass_o,        // lanes that pass the test; at LOOP_END, after waking
  output logic [LANES-1:0] inverted_o,    // ELSE, ALU_ELSE_AFTER without u: ACTIVE afterwards
  output logic             jump_o
);

  logic [LANES-1:0] may_pass;

  always_comb begin
    may_o      = '0;
    may_pass   = '0;
    pass_o     = '0;
    inverted_o = '0;
    jump_o     = 1'b0;
    if (step_i) begin
      may_o    = valid_i | {LANES{~vpm_i}};
      may_pass = may_o & {LANES{cond_i}};
      pass_o   = active_i & may_pass;
      unique case (kind_i)
        r700_pkg::KindJump,
        r700_pkg::KindPush,
        r700_pkg::KindPushElse: jump_o = ~|pass_o;
        r700_pkg::KindElse: begin
          inverted_o = (active_i ^ (top_mask_i & may_pass & ~st1_i)) & may_o;
          jump_o     = ~|inverted_o;
        end
        r700_pkg::KindStart:    jump_o = never_enter_i | ~|pass_o;
        r700_pkg::KindEnd: begin
          pass_o = ~(st1_i & st0_i) & may_pass;
          jump_o = again_i & |pass_o;
        end
        r700_pkg::KindLeave:    jump_o = &(st1_i | pass_o);
        r700_pkg::KindCall:     jump_o = ~too_deep_i & |pass_o;
        r700_pkg::KindReturn:   jump_o = cond_i | ~|(active_i & may_o);
        r700_pkg::KindKill:     jump_o = ~|(valid_i & ~pass_o);
        r700_pkg::KindAluElse:  inverted_o = active_i ^ (top_mask_i & ~st1_i);
        default: ;
      endcase
    end
  end

endmodule
