// The state of the lanes and how one FC instruction changes it (r500-3.1, r500-4.1-d, r500-4.1-e, r500-4.3).
//
// Lane-sliced: every item is a plane of LANES bits, bit i for lane i, and a counter is one plane for
// each of its bits. Adding a number that is the same for all lanes ripples through five planes.
//
//   active_q st1_q st0_q     class: ACTIVE 0, BRANCH 1, CONT 2, BRK 3 as {st1, st0}; active_q repeats
//                            ACTIVE so that the output of the unit is a register
//   bc4_q .. bc0_q           branch counter, 0 unless BRANCH
//   lc1_q lc0_q              loop-inactive counter, 0 unless CONT or BRK
//
// Corner cases:
// * B_ELSE swaps ACTIVE with BRANCH at count 0; a lane that it switches off is BRANCH at count 0
//   at once, so an INCR in the same instruction takes it to 1. CONT and BRK lanes are not touched.
// * ENDLOOP and ENDREP wake the CONT lanes of the top frame first, so these lanes vote.
// * A lane takes one row of the lane table in step 7: INCR does not increment the counter of a lane that
//   step 7 switches off, and a lane that wakes is not switched off again.
// * A lane wakes when DECR takes its counter below 0; DECR by 0 changes nothing, since no counter is below 0.
// * INCR at the limit is error 8 (overflow_o), in uncovered lanes too. In partial mode the limit is 3, and the
//   upper three planes are 0.
// * The loop-inactive counter cannot overflow: it counts the frames above one of at most four.
// * Without `step_i` the next state is not computed; without `commit_i` (an error) it is not taken.

module r500_lanes #(
  parameter int LANES = 16
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             clear_i,        // launch: all lanes ACTIVE
  input  logic             step_i,         // an FC instruction is at the inputs
  input  logic             commit_i,       // it has no error: take the next state

  // Step 2: the else swap and the return of CONT lanes. All outputs but active_o show the lanes after it.
  input  logic             b_else_i,
  input  logic             is_end_i,
  output logic [LANES-1:0] active_o,       // a register: the lanes that run instructions
  output logic [LANES-1:0] now_active_o,
  output logic [LANES-1:0] now_branch_o,
  output logic [LANES-1:0] now_cont_o,
  output logic [LANES-1:0] else_off_o,     // switched off by this B_ELSE

  // Step 7: each lane takes one row of the lane table.
  input  logic [LANES-1:0] disagree_i,
  input  logic             to_brk_i,       // a lane that disagrees becomes BRK
  input  logic             to_cont_i,      // a lane that disagrees becomes CONT
  input  logic             incr_i,
  input  logic             decr_i,
  input  logic [4:0]       pop_cnt_i,
  input  logic             loop_push_i,
  input  logic             loop_pop_i,
  input  logic             full_i,
  output logic             overflow_o      // error 8
);

  logic [LANES-1:0] active_d, active_q, st0_d, st0_q, st1_d, st1_q;
  logic [LANES-1:0] bc0_d, bc0_q, bc1_d, bc1_q, bc2_d, bc2_q, bc3_d, bc3_q, bc4_d, bc4_q;
  logic [LANES-1:0] lc0_d, lc0_q, lc1_d, lc1_q;

  assign active_o = active_q;

  // ---- step 2 --------------------------------------------------------------------------------------
  // No counter changes: the lanes that wake are at 0 already, and so are the lanes that B_ELSE switches off.

  logic [LANES-1:0] was_branch, else_on, cont_on;

  always_comb begin
    was_branch   = '0;
    else_on      = '0;
    cont_on      = '0;
    else_off_o   = '0;
    now_active_o = '0;
    now_branch_o = '0;
    now_cont_o   = '0;
    if (step_i) begin
      was_branch   = st0_q & ~st1_q;
      else_off_o   = active_q & {LANES{b_else_i}};
      else_on      = was_branch & ~(bc0_q | bc1_q | bc2_q | bc3_q | bc4_q) & {LANES{b_else_i}};
      cont_on      = st1_q & ~st0_q & ~(lc0_q | lc1_q) & {LANES{is_end_i}};
      now_active_o = (active_q & ~else_off_o) | else_on | cont_on;
      now_branch_o = (was_branch & ~else_on) | else_off_o;
      now_cont_o   = st1_q & ~st0_q & ~cont_on;
    end
  end

  // ---- step 7 --------------------------------------------------------------------------------------

  logic             carry, n4, n3, n2, n1, n0;
  logic [LANES-1:0] c1, c2, c3, c4, c5;
  logic [LANES-1:0] branch_on, still_branch, branch, waiting, loop_on, still_waiting, cont, brk;

  always_comb begin
    {carry, n4, n3, n2, n1, n0} = '0;
    {c1, c2, c3, c4, c5} = '0;
    {branch_on, still_branch, branch, waiting, loop_on, still_waiting, cont, brk} = '0;
    {bc0_d, bc1_d, bc2_d, bc3_d, bc4_d} = '0;
    {lc0_d, lc1_d} = '0;
    {active_d, st0_d, st1_d} = '0;
    overflow_o = 1'b0;
    if (step_i) begin
      // One adder for both branch operations: INCR adds 0 and a carry, DECR adds ~B_POP_CNT and a carry,
      // NONE adds nothing. After a DECR, no carry out means that the counter went below zero.
      carry = incr_i | decr_i;
      {n4, n3, n2, n1, n0} = decr_i ? ~pop_cnt_i : 5'd0;

      c1 = (bc0_q & {LANES{n0}}) | ((bc0_q | {LANES{n0}}) & {LANES{carry}});
      c2 = (bc1_q & {LANES{n1}}) | ((bc1_q | {LANES{n1}}) & c1);
      c3 = (bc2_q & {LANES{n2}}) | ((bc2_q | {LANES{n2}}) & c2);
      c4 = (bc3_q & {LANES{n3}}) | ((bc3_q | {LANES{n3}}) & c3);
      c5 = (bc4_q & {LANES{n4}}) | ((bc4_q | {LANES{n4}}) & c4);

      branch_on    = now_branch_o & ~c5 & {LANES{decr_i}};
      still_branch = now_branch_o & ~branch_on;

      bc0_d = still_branch & (bc0_q ^ {LANES{n0 ^ carry}});
      bc1_d = still_branch & (bc1_q ^ {LANES{n1}} ^ c1);
      bc2_d = still_branch & (bc2_q ^ {LANES{n2}} ^ c2);
      bc3_d = still_branch & (bc3_q ^ {LANES{n3}} ^ c3);
      bc4_d = still_branch & (bc4_q ^ {LANES{n4}} ^ c4);

      overflow_o = incr_i & |(now_branch_o & bc0_q & bc1_q &
                              ((bc2_q & bc3_q & bc4_q) | {LANES{~full_i}}));

      // CONT and BRK lanes count the frames above their own; the pop of their own frame wakes them.
      waiting       = now_cont_o | (st1_q & st0_q);
      loop_on       = waiting & ~(lc0_q | lc1_q) & {LANES{loop_pop_i}};
      still_waiting = waiting & ~loop_on;

      lc0_d = still_waiting & (lc0_q ^ {LANES{loop_push_i | loop_pop_i}});
      lc1_d = still_waiting & (lc1_q ^ (lc0_q & {LANES{loop_push_i}}) ^ (~lc0_q & {LANES{loop_pop_i}}));

      // ACTIVE lanes that disagree: BREAK or CONTINUE switches them off, else INCR does, else they stay ACTIVE.
      cont   = (now_cont_o & ~loop_on) | (disagree_i & {LANES{to_cont_i}});
      brk    = (st1_q & st0_q & ~loop_on) | (disagree_i & {LANES{to_brk_i}});
      branch = still_branch | (disagree_i & {LANES{incr_i & ~to_cont_i & ~to_brk_i}});

      active_d = ~(branch | cont | brk);
      st0_d    = branch | brk;
      st1_d    = cont | brk;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      active_q <= '1;
      st0_q    <= '0;
      st1_q    <= '0;
      bc0_q    <= '0;
      bc1_q    <= '0;
      bc2_q    <= '0;
      bc3_q    <= '0;
      bc4_q    <= '0;
      lc0_q    <= '0;
      lc1_q    <= '0;
    end else if (commit_i) begin
      active_q <= active_d;
      st0_q    <= st0_d;
      st1_q    <= st1_d;
      bc0_q    <= bc0_d;
      bc1_q    <= bc1_d;
      bc2_q    <= bc2_d;
      bc3_q    <= bc3_d;
      bc4_q    <= bc4_d;
      lc0_q    <= lc0_d;
      lc1_q    <= lc1_d;
    end
  end

endmodule
