// What r500 promises, as assertions: the invariants of its state, and what the comments of its files say about
// one cycle. They hold for all inputs.
//
// How simulators and formal tools read this file: ../spa5/spa5_sva.sv.
//
// Assertion I4 is invariant r500-I4, and so on. The invariants of the state hold together after a reset, and a cycle
// that begins with all of them ends with all of them.

module r500_sva #(
  parameter int LANES = 16
) (
  input logic             clk_i,
  input logic             rst_ni,
  input logic [9:0]       pc_o,
  input logic [LANES-1:0] active_o,
  input logic [7:0]       al_o,
  input logic             alu_clr_o,
  input logic             running_o,
  input logic             done_o,
  input logic             halted_o,
  input logic [3:0]       err_o,

  // Registers.
  input logic             running_q,
  input logic             done_q,
  input logic             halted_q,
  input logic [3:0]       err_q,
  input logic             alu_clr_q,
  input logic [9:0]       pc_q,
  input logic             full_q,
  input logic [9:0]       offset_q,
  input logic [9:0]       lo_q,
  input logic [9:0]       hi_q,
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

  // Nets.
  input logic             launch,
  input logic             step,
  input logic             commit,
  input logic             jump,
  input logic             is_begin,
  input logic             is_end,
  input logic             is_break,
  input logic             is_cont,
  input logic             loop_push,
  input logic             loop_pop,
  input logic             a_push,
  input logic             a_pop,
  input logic [LANES-1:0] disagree,
  input logic [LANES-1:0] now_active,
  input logic [LANES-1:0] now_branch,
  input logic [LANES-1:0] now_cont,
  input logic [LANES-1:0] else_off,
  input logic             u_vote__force_jump_i,
  input logic             u_vote__force_stay_i,
  input logic [LANES-1:0] u_vote__held,
  input logic [LANES-1:0] u_lanes__still_waiting,
  input logic [LANES-1:0] u_lanes__branch,
  input logic [LANES-1:0] u_lanes__cont,
  input logic [LANES-1:0] u_lanes__brk,
  input logic             u_loop_stack__clear_i,
  input logic             u_loop_stack__push_i,
  input logic             u_loop_stack__pop_i,
  input logic             u_loop_stack__back_i,
  input logic             u_loop_stack__rep_i,
  input logic             u_loop_stack__top_rep_o,
  input logic             u_loop_stack__last_o,
  input logic             u_loop_stack__empty_o,
  input logic             u_loop_stack__full_o,
  input logic [7:0]       u_loop_stack__count_i,
  input logic             u_addr_stack__clear_i,
  input logic             u_addr_stack__push_i,
  input logic             u_addr_stack__pop_i,
  input logic             u_addr_stack__empty_o,
  input logic             u_addr_stack__full_o
);

  logic check;
`ifdef YOSYS
  assign check = 1'b1;
`else
  // A bench that preloads a state sets `loaded_q` (design.toml): then nothing is promised until a reset or a launch.
  logic loaded_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || launch) loaded_q <= 1'b0;
  end
  assign check = rst_ni & ~loaded_q;
`endif

  // ---- lanes -------------------------------------------------------------------------------------------

  logic [LANES-1:0] branch, waiting, brk, bc_low, bc_high, lc_any;
  assign branch  = u_lanes__st0_q & ~u_lanes__st1_q;
  assign waiting = u_lanes__st1_q;  // CONT and BRK
  assign brk     = u_lanes__st0_q & u_lanes__st1_q;
  assign bc_low  = u_lanes__bc0_q | u_lanes__bc1_q;
  assign bc_high = u_lanes__bc2_q | u_lanes__bc3_q | u_lanes__bc4_q;
  assign lc_any  = u_lanes__lc0_q | u_lanes__lc1_q;

  logic [LANES-1:0] lc_beyond;  // the loop-inactive counter is not below the loop depth
  always_comb begin
    case (u_loop_stack__depth_q)
      3'd0:    lc_beyond = '1;
      3'd1:    lc_beyond = lc_any;
      3'd2:    lc_beyond = u_lanes__lc1_q;
      3'd3:    lc_beyond = u_lanes__lc1_q & u_lanes__lc0_q;
      default: lc_beyond = '0;
    endcase
  end

  // ---- stacks, place by place ----------------------------------------------------------------------------

  logic       counts, reps, addrs;  // right in all places so far: the count, aL of a REP frame, the address
  logic [7:0] top_al;               // of the topmost frame so far
  always_comb begin
    counts = 1'b1;
    reps   = 1'b1;
    addrs  = 1'b1;
    top_al = 8'd0;
    for (int f = 0; f < 4; f++) begin
      if (3'(f) < u_loop_stack__depth_q) begin
        counts = counts & (u_loop_stack__count_q[8*f +: 8] != 8'd0);
        reps   = reps & (~u_loop_stack__rep_q[f] | (u_loop_stack__al_q[8*f +: 8] == top_al));
        top_al = u_loop_stack__al_q[8*f +: 8];
      end
      if (3'(f) < u_addr_stack__depth_q) begin
        addrs = addrs & (u_addr_stack__addr_q[10*f +: 10] <= 10'd512);
      end
    end
  end

  always @(posedge clk_i) begin
    if (check) begin
      // ---- invariants of the state ---------------------------------------------------------------------

      // A counter that its lane's class does not use is 0.
      I1: assert ((((bc_low | bc_high) & ~branch) == '0) & ((lc_any & ~waiting) == '0));
      // CONT and BRK lanes wait for a frame that exists.
      I2: assert ((waiting & lc_beyond) == '0);
      I3: assert ((u_loop_stack__depth_q <= r500_pkg::StackDepth) & (u_addr_stack__depth_q <= r500_pkg::StackDepth));
      // No frame has count 0.
      I4: assert (counts);
      // Partial mode has neither loops nor calls, and counts to 3.
      I5: assert (full_q | ((bc_high == '0) & (waiting == '0) & (u_loop_stack__depth_q == 3'd0) &
                            (u_addr_stack__depth_q == 3'd0)));
      I6: assert ($onehot0({running_q, done_q, halted_q}) & (halted_q == (err_q != r500_pkg::ErrOk)) &
                  (err_q <= r500_pkg::ErrPcRange));
      I7: assert ((offset_q <= r500_pkg::LastAddr) & (lo_q <= r500_pkg::LastAddr) & (hi_q <= r500_pkg::LastAddr));
      // active_q repeats class ACTIVE.
      active_is_class: assert (u_lanes__active_q == ~(u_lanes__st0_q | u_lanes__st1_q));
      // A REP frame carries the aL of the frame below, 0 without one.
      rep_carries_al: assert (reps);
      // The output register aL is that of the top frame, 0 without one.
      al_is_top: assert (u_loop_stack__al_top_q == top_al);
      // A return address is one more than an address of the code window.
      return_in_range: assert (addrs);

      // ---- what the comments say -----------------------------------------------------------------------

      // r500_seq: every output is a register.
      outputs_registered: assert ((pc_o == pc_q) & (active_o == u_lanes__active_q) &
                                  (al_o == u_loop_stack__al_top_q) & (alu_clr_o == alu_clr_q) &
                                  (running_o == running_q) & (done_o == done_q) & (halted_o == halted_q) &
                                  (err_o == err_q));
      // r500_seq: from inside the window PC + 1 is at most 512.
      pc_never_wraps: assert (~step | (pc_q <= r500_pkg::LastAddr));
      // r500_decode: an instruction has one OP and one A_OP.
      op_onehot: assert ($onehot0({is_begin, is_end, is_break, is_cont}) & ~(a_push & a_pop));
      // r500_vote: no instruction is both forced and held back, or forced both ways.
      forced_alone: assert ($onehot0({u_vote__force_jump_i, u_vote__force_stay_i, u_vote__held != '0}));
      // r500_vote: where the count decides, no lane disagrees.
      forced_agrees: assert (~(u_vote__force_jump_i | u_vote__force_stay_i) | (disagree == '0));
      // r500_lanes: after step 2 every lane has one class. BRK lanes stay BRK.
      step2_onehot: assert (~step | (((now_active & now_branch) == '0) & ((now_active & now_cont) == '0) &
                                     ((now_branch & now_cont) == '0) &
                                     ((now_active | now_branch | now_cont) == ~brk)));
      // r500_lanes: a lane that B_ELSE switches off is BRANCH, at count 0.
      else_off_branch: assert (((else_off & ~now_branch) == '0) & ((else_off & (bc_low | bc_high)) == '0));
      // r500_lanes: in step 7 a lane takes one row of the lane table. Only ACTIVE lanes disagree.
      step7_onehot: assert (~commit | (((u_lanes__branch & u_lanes__cont) == '0) &
                                       ((u_lanes__branch & u_lanes__brk) == '0) &
                                       ((u_lanes__cont & u_lanes__brk) == '0)));
      disagree_active: assert ((disagree & ~now_active) == '0);
      // r500_lanes: the loop-inactive counter cannot overflow.
      lc_not_over: assert (~(commit & loop_push) |
                           ((u_lanes__still_waiting & u_lanes__lc0_q & u_lanes__lc1_q) == '0));
      // r500_loop_stack: at most one request, none in the cycle of a launch.
      loop_onehot: assert ($onehot0({u_loop_stack__clear_i, u_loop_stack__push_i, u_loop_stack__pop_i,
                                     u_loop_stack__back_i}));
      // r500_loop_stack: a request with error 3, 4 or 5 never arrives.
      loop_not_over: assert (~(u_loop_stack__push_i & u_loop_stack__full_o));
      loop_not_under: assert (~((u_loop_stack__pop_i | u_loop_stack__back_i) & u_loop_stack__empty_o));
      loop_kind: assert (~(u_loop_stack__pop_i | u_loop_stack__back_i) |
                         (u_loop_stack__rep_i == u_loop_stack__top_rep_o));
      // r500_loop_stack: count 0 is never pushed, and a loop back never wraps the count.
      push_counts: assert (~u_loop_stack__push_i | (u_loop_stack__count_i != 8'd0));
      back_not_last: assert (~(u_loop_stack__back_i & u_loop_stack__last_o));
      // r500_addr_stack: likewise.
      addr_onehot: assert ($onehot0({u_addr_stack__clear_i, u_addr_stack__push_i, u_addr_stack__pop_i}));
      addr_not_over: assert (~(u_addr_stack__push_i & u_addr_stack__full_o));
      addr_not_under: assert (~(u_addr_stack__pop_i & u_addr_stack__empty_o));
      // r500_seq: only a BREAK, an ENDLOOP or an ENDREP pops a loop frame, and a jump does not push one.
      loop_requests: assert (~(loop_push & jump) & ~(loop_pop & ~(is_break | is_end)));
    end
  end

  // What Yosys does not use.
  logic unused_bits;
  assign unused_bits = rst_ni;

endmodule

`ifndef YOSYS
bind r500_seq r500_sva #(
  .LANES(LANES)
) u_sva (
  .clk_i, .rst_ni, .pc_o, .active_o, .al_o, .alu_clr_o, .running_o, .done_o, .halted_o, .err_o,
  .running_q, .done_q, .halted_q, .err_q, .alu_clr_q, .pc_q, .full_q, .offset_q, .lo_q, .hi_q,
  .u_lanes__active_q       (u_lanes.active_q),
  .u_lanes__st0_q          (u_lanes.st0_q),
  .u_lanes__st1_q          (u_lanes.st1_q),
  .u_lanes__bc0_q          (u_lanes.bc0_q),
  .u_lanes__bc1_q          (u_lanes.bc1_q),
  .u_lanes__bc2_q          (u_lanes.bc2_q),
  .u_lanes__bc3_q          (u_lanes.bc3_q),
  .u_lanes__bc4_q          (u_lanes.bc4_q),
  .u_lanes__lc0_q          (u_lanes.lc0_q),
  .u_lanes__lc1_q          (u_lanes.lc1_q),
  .u_loop_stack__rep_q     (u_loop_stack.rep_q),
  .u_loop_stack__count_q   (u_loop_stack.count_q),
  .u_loop_stack__al_q      (u_loop_stack.al_q),
  .u_loop_stack__depth_q   (u_loop_stack.depth_q),
  .u_loop_stack__al_top_q  (u_loop_stack.al_top_q),
  .u_addr_stack__addr_q    (u_addr_stack.addr_q),
  .u_addr_stack__depth_q   (u_addr_stack.depth_q),
  .launch, .step, .commit, .jump, .is_begin, .is_end, .is_break, .is_cont, .loop_push, .loop_pop, .a_push, .a_pop,
  .disagree, .now_active, .now_branch, .now_cont, .else_off,
  .u_vote__force_jump_i    (u_vote.force_jump_i),
  .u_vote__force_stay_i    (u_vote.force_stay_i),
  .u_vote__held            (u_vote.held),
  .u_lanes__still_waiting  (u_lanes.still_waiting),
  .u_lanes__branch         (u_lanes.branch),
  .u_lanes__cont           (u_lanes.cont),
  .u_lanes__brk            (u_lanes.brk),
  .u_loop_stack__clear_i   (u_loop_stack.clear_i),
  .u_loop_stack__push_i    (u_loop_stack.push_i),
  .u_loop_stack__pop_i     (u_loop_stack.pop_i),
  .u_loop_stack__back_i    (u_loop_stack.back_i),
  .u_loop_stack__rep_i     (u_loop_stack.rep_i),
  .u_loop_stack__top_rep_o (u_loop_stack.top_rep_o),
  .u_loop_stack__last_o    (u_loop_stack.last_o),
  .u_loop_stack__empty_o   (u_loop_stack.empty_o),
  .u_loop_stack__full_o    (u_loop_stack.full_o),
  .u_loop_stack__count_i   (u_loop_stack.count_i),
  .u_addr_stack__clear_i   (u_addr_stack.clear_i),
  .u_addr_stack__push_i    (u_addr_stack.push_i),
  .u_addr_stack__pop_i     (u_addr_stack.pop_i),
  .u_addr_stack__empty_o   (u_addr_stack.empty_o),
  .u_addr_stack__full_o    (u_addr_stack.full_o)
);
`endif
