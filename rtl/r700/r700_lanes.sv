// The state of the lanes and how one instruction changes it (r700-3.1, r700-4.3).
//
// Lane-sliced: every item is a plane of LANES bits, bit i for lane i.
//
//   active_q st1_q st0_q     class: ACTIVE 0, BRANCH 1, CONT 2, BRK 3 as {st1, st0}; active_q repeats
//                            ACTIVE so that the output of the unit is a register
//   valid_q                  covered and not killed
//   exec_q                   lanes that executed the instruction of the previous cycle
//
// The next state is built as three planes: on (ACTIVE), st1 (CONT or BRK) and brk. A lane in none of
// them is BRANCH: most instructions need not compute that class.
//
// Corner cases:
// * CONT and BRK lanes keep their class over pops and ELSE; only LOOP_END wakes CONT, and leaving the loop both.
// * A pop comes last: it can wake lanes that the clause of ALU_POP_AFTER has just switched off. POP tests
//   after its pop. Without a pop (pop_i = 0) no lane is woken, and the VPM filter of the pop does not apply;
//   the test of POP still looks at VPM.
// * VPM takes invalid lanes out of ACTIVE after a pop, after ELSE and after leaving a loop.
// * ALU_ELSE_AFTER with u pushes the ACTIVE lanes and inverts within them at once: it switches off
//   the lanes with predicate 1.
// * If a loop is entered, or LOOP_END jumps, every lane that does not pass becomes BRK, BRANCH and CONT included.
// * KILL does not change the class. Only a launch sets `valid`.
// * pred_i is used for ACTIVE lanes only, and only with u_i.
// * Without `step_i` the next state is not computed; without `commit_i` (an error) it is not taken.

module r700_lanes #(
  parameter int LANES = 64
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             stall_i,
  input  logic             launch_i,      // accepted
  input  logic [LANES-1:0] lane_mask_i,   // its operand
  input  logic             step_i,        // an instruction is at the inputs
  input  logic             commit_i,      // it has no error: take the next state

  // The instruction.
  input  logic [3:0]       kind_i,        // r700_pkg::Kind*
  input  logic             is_alu_i,
  input  logic             to_brk_i,
  input  logic             cond_i,
  input  logic             u_i,
  input  logic [LANES-1:0] pred_i,

  // From r700_vote.
  input  logic [LANES-1:0] may_i,
  input  logic [LANES-1:0] pass_i,
  input  logic [LANES-1:0] inverted_i,
  input  logic             jump_i,

  // The stack.
  input  logic             pop_i,         // branch frames are popped
  input  logic [LANES-1:0] pop_mask_i,    // mask of the last of them
  input  logic [LANES-1:0] frame_st0_i,   // classes that the loop frame saved
  input  logic [LANES-1:0] frame_st1_i,

  output logic [LANES-1:0] active_o,
  output logic [LANES-1:0] st0_o,
  output logic [LANES-1:0] st1_o,
  output logic [LANES-1:0] valid_o,
  output logic [LANES-1:0] exec_o
);

  logic [LANES-1:0] active_q, st0_d, st0_q, st1_d, st1_q, valid_d, valid_q, exec_d, exec_q;
  logic [LANES-1:0] on, brk, off;

  assign active_o = active_q;
  assign st0_o    = st0_q;
  assign st1_o    = st1_q;
  assign valid_o  = valid_q;
  assign exec_o   = exec_q;

  always_comb begin
    on      = '0;
    brk     = '0;
    off     = '0;
    st0_d   = '0;
    st1_d   = '0;
    valid_d = '0;
    exec_d  = '0;
    if (step_i) begin
      on      = pop_i ? pop_mask_i & may_i & ~st1_q : active_q;
      st1_d   = st1_q;
      brk     = st1_q & st0_q;
      valid_d = valid_q;
      exec_d  = is_alu_i ? active_q : '0;
      unique case (kind_i)
        r700_pkg::KindSlot:     exec_d = pass_i;
        r700_pkg::KindPush:     if (!jump_i) on = pass_i;
        r700_pkg::KindPushElse: on = pass_i;
        r700_pkg::KindPop:      on = on & may_i & {LANES{cond_i}};
        r700_pkg::KindElse:     if (!pop_i) on = inverted_i;
        r700_pkg::KindStart: begin
          if (!jump_i) begin
            on    = pass_i;
            st1_d = ~pass_i;
            brk   = ~pass_i;
          end
        end
        r700_pkg::KindEnd: begin
          if (jump_i) begin
            on    = pass_i;
            st1_d = ~pass_i;
            brk   = ~pass_i;
          end else begin
            on    = ~(frame_st1_i | frame_st0_i) & may_i;
            st1_d = frame_st1_i;
            brk   = frame_st1_i & frame_st0_i;
          end
        end
        r700_pkg::KindLeave: begin
          on    = active_q & ~pass_i;
          st1_d = st1_q | pass_i;
          brk   = brk | (pass_i & {LANES{to_brk_i}});
        end
        r700_pkg::KindKill:     valid_d = valid_q & ~pass_i;
        r700_pkg::KindAlu:      if (u_i) on = active_q & pred_i;
        r700_pkg::KindAluElse:  on = u_i ? active_q & ~pred_i : inverted_i;
        r700_pkg::KindAluLeave: begin
          if (u_i) begin
            off   = active_q & ~pred_i;
            on    = active_q & pred_i;
            st1_d = st1_q | off;
            brk   = brk | (off & {LANES{to_brk_i}});
          end
        end
        default: ;
      endcase
      st0_d = brk | ~(st1_d | on);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      active_q <= '1;
      st0_q    <= '0;
      st1_q    <= '0;
      valid_q  <= '0;
    end else if (launch_i) begin
      active_q <= lane_mask_i;
      st0_q    <= ~lane_mask_i;
      st1_q    <= '0;
      valid_q  <= lane_mask_i;
    end else if (commit_i) begin
      active_q <= on;
      st0_q    <= st0_d;
      st1_q    <= st1_d;
      valid_q  <= valid_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      exec_q <= '0;
    end else if (!stall_i) begin
      exec_q <= commit_i ? exec_d : '0;
    end
  end

endmodule
