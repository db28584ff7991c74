// What the referee of mutants may assume about r500 (crates/mutate/src/mutate/equivalence.rs). Inputs are the registers of the
// flattened unit, with `__` for the dot in their names, and the inputs of the unit.
//
//   invariant   holds after a cycle in reset, and every cycle preserves it; if it has several bits, each is proved separately
//   live__NAME  which bits of register NAME matter; without this output, all do
//   live_allowed__NAME  the same, if all invariants of the assertions hold: for `prove`; the referee does not use it
//   seen        what the bench compares besides the outputs
//   contract    what the spec demands of the inputs; without this output, nothing
//
// The first two are not trusted: each run begins by proving them.
//
// In plain Verilog as far as possible: Yosys reads it.

module r500_formal #(
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
  input logic             alu_clr_q,
  input logic [9:0]       pc_q,
  input logic             full_q,
  input logic [9:0]       offset_q,
  input logic [9:0]       end_q,
  input logic [9:0]       lo_q,
  input logic [9:0]       hi_q,

  output logic          invariant,
  output logic [2047:0] seen,
  output logic [3:0]    live__u_loop_stack__rep_q,
  output logic [31:0]   live__u_loop_stack__count_q,
  output logic [31:0]   live__u_loop_stack__al_q,
  output logic [39:0]   live__u_addr_stack__addr_q,
  output logic          live__full_q,
  output logic [9:0]    live__offset_q,
  output logic [9:0]    live__end_q,
  output logic [9:0]    live__lo_q,
  output logic [9:0]    live__hi_q
);

  wire [LANES-1:0] branch  = u_lanes__st0_q & ~u_lanes__st1_q;
  wire [LANES-1:0] waiting = u_lanes__st1_q;
  wire [LANES-1:0] low     = u_lanes__bc0_q | u_lanes__bc1_q;
  wire [LANES-1:0] high    = u_lanes__bc2_q | u_lanes__bc3_q | u_lanes__bc4_q;

  // CONT and BRK lanes wait for a frame that exists.
  logic waits_for_a_frame;
  always_comb begin
    waits_for_a_frame = 1'b1;
    for (int i = 0; i < LANES; i++) begin
      if (waiting[i] && {1'b0, u_lanes__lc1_q[i], u_lanes__lc0_q[i]} >= u_loop_stack__depth_q) begin
        waits_for_a_frame = 1'b0;
      end
    end
  end

  logic counts;  // no frame has count 0
  logic [7:0] top_al;
  logic [3:0]  rep;
  logic [31:0] count, al;
  logic [39:0] addr;
  always_comb begin
    counts = 1'b1;
    top_al = 8'd0;
    rep    = '0;
    count  = '0;
    al     = '0;
    addr   = '0;
    for (int i = 0; i < 4; i++) begin
      if (u_loop_stack__depth_q > i) begin
        rep[i]          = u_loop_stack__rep_q[i];
        count[8*i +: 8] = u_loop_stack__count_q[8*i +: 8];
        al[8*i +: 8]    = u_loop_stack__al_q[8*i +: 8];
        top_al          = u_loop_stack__al_q[8*i +: 8];
        if (u_loop_stack__count_q[8*i +: 8] == 8'd0) counts = 1'b0;
      end
      if (u_addr_stack__depth_q > i) addr[10*i +: 10] = u_addr_stack__addr_q[10*i +: 10];
    end
  end

  assign invariant =
      u_lanes__active_q == ~(u_lanes__st0_q | u_lanes__st1_q) &&
      // A counter that its lane's class does not use is 0.
      ((low | high) & ~branch) == '0 && ((u_lanes__lc0_q | u_lanes__lc1_q) & ~waiting) == '0 &&
      waits_for_a_frame && counts && u_loop_stack__al_top_q == top_al &&
      u_loop_stack__depth_q <= 3'd4 && u_addr_stack__depth_q <= 3'd4 &&
      // Partial mode has neither loops nor calls, and counts to 3.
      (full_q || (high == '0 && waiting == '0 &&
                  u_loop_stack__depth_q == 3'd0 && u_addr_stack__depth_q == 3'd0)) &&
      // At most one of them.
      !(running_q && (done_q || halted_q)) && !(done_q && halted_q) &&
      halted_q == (err_q != 4'd0) && err_q <= 4'd9 && hi_q <= 10'd511;

  wire [2047:0] lanes = {
    u_lanes__active_q, u_lanes__st0_q, u_lanes__st1_q, u_lanes__bc0_q, u_lanes__bc1_q, u_lanes__bc2_q,
    u_lanes__bc3_q, u_lanes__bc4_q, u_lanes__lc0_q, u_lanes__lc1_q};

  assign seen = {lanes, rep, count, al, addr, u_loop_stack__depth_q, u_addr_stack__depth_q,
                 u_consts__int_q, u_consts__bool_q};
  // Places above the top of a stack do not matter.
  always_comb begin
    for (int i = 0; i < 4; i++) begin
      live__u_loop_stack__rep_q[i]          = u_loop_stack__depth_q > i;
      live__u_loop_stack__count_q[8*i +: 8] = {8{u_loop_stack__depth_q > i}};
      live__u_loop_stack__al_q[8*i +: 8]    = {8{u_loop_stack__depth_q > i}};
      live__u_addr_stack__addr_q[10*i +: 10] = {10{u_addr_stack__depth_q > i}};
    end
  end

  // A launch sets these before anything reads them.
  assign live__full_q   = running_q;
  assign live__offset_q = {10{running_q}};
  assign live__end_q    = {10{running_q}};
  assign live__lo_q     = {10{running_q}};
  assign live__hi_q     = {10{running_q}};

endmodule
