// Loop stack: four frames of kind, count and aL (r500-3.2-b, r500-4.4).
//
// The processor mask that the manuals keep in each frame is not here: it is the set of lanes whose
// loop-inactive counter points at the frame (r500_lanes).
//
// Corner cases:
// * The unit above refuses a push to a full stack (error 5), and a pop or loop back with an empty stack
//   (error 3) or with a frame of the wrong kind on top (error 4).
// * At most one of push, pop and loop back is requested: they belong to different instructions.
// * Count 0 is never pushed: LOOP or REP with KR = 0 jumps, and a jump does not push. So `last_o` means
//   exactly that the count would drop to 0, and a loop back never wraps the count.
// * A REP frame carries the aL of the frame below (0 if none), so aL is always that of the top frame.
// * With no frame, aL is 0 and the other top outputs show an old frame, which the unit does not use.
// * Places above the depth keep their old values. Nothing reads them before a push writes them.
// * clear_i (launch) and a push never coincide: a launch is accepted only while nothing runs.

module r500_loop_stack (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       clear_i,

  input  logic       push_i,      // LOOP, REP that stay
  input  logic       pop_i,       // ENDLOOP, ENDREP that stay; BREAK that jumps
  input  logic       back_i,      // ENDLOOP, ENDREP that jump
  input  logic       rep_i,       // kind of the instruction: 1 REP, 0 LOOP
  input  logic [7:0] count_i,     // KR
  input  logic [7:0] init_i,      // KG
  input  logic [7:0] step_i,      // KB

  output logic [7:0] al_o,        // aL of the top frame, 0 without one; a register
  output logic       top_rep_o,   // kind of the top frame
  output logic       last_o,      // the top frame is in its last iteration
  output logic       empty_o,
  output logic       full_o
);

  // Frame f (0 is the bottom): kind at [f], count and aL at [8*f +: 8].
  logic [3:0]     rep_d, rep_q;
  logic [4*8-1:0] count_d, count_q;
  logic [4*8-1:0] al_d, al_q;
  logic [2:0]     depth_d, depth_q;
  logic [7:0]     al_top_d, al_top_q;  // a copy of the top frame's aL: the output is a register

  logic [1:0] free, top, below;  // frames: the next to fill, the last filled, the one under it
  logic [1:0] place;
  logic [7:0] top_count, below_al, count, al;

  assign free      = depth_q[1:0];
  assign top       = depth_q[1:0] - 2'd1;
  assign below     = depth_q[1:0] - 2'd2;
  assign top_count = count_q[8*top +: 8];
  assign below_al  = (depth_q == 3'd1) ? 8'd0 : al_q[8*below +: 8];

  assign top_rep_o = rep_q[top];
  assign last_o    = top_count == 8'd1;
  assign empty_o   = depth_q == 3'd0;
  assign full_o    = depth_q == r500_pkg::StackDepth;
  assign al_o      = al_top_q;

  // A push and a loop back both write one frame; a loop back keeps its kind.
  assign place = push_i ? free : top;
  assign count = push_i ? count_i : top_count - 8'd1;
  assign al    = (push_i & ~rep_i) ? init_i : al_top_q + (rep_i ? 8'd0 : step_i);

  always_comb begin
    rep_d    = rep_q;
    count_d  = count_q;
    al_d     = al_q;
    al_top_d = al_top_q;
    depth_d  = depth_q + {2'd0, push_i} - {2'd0, pop_i};
    if (push_i | back_i) begin
      rep_d[place]          = rep_i;
      count_d[8*place +: 8] = count;
      al_d[8*place +: 8]    = al;
      al_top_d              = al;
    end
    if (pop_i) begin
      al_top_d = below_al;
    end
    if (clear_i) begin
      depth_d  = 3'd0;
      al_top_d = 8'd0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      rep_q    <= '0;
      count_q  <= '0;
      al_q     <= '0;
      depth_q  <= '0;
      al_top_q <= '0;
    end else begin
      rep_q    <= rep_d;
      count_q  <= count_d;
      al_q     <= al_d;
      depth_q  <= depth_d;
      al_top_q <= al_top_d;
    end
  end

endmodule
