// The loop registers lt, lc, aL and inc of the innermost open loop (r700-3.2-f to r700-3.2-i, r700-4.3-w).
//
// Corner cases:
// * LOOP_START_NO_AL and LOOP_START_DX10 do not change aL and inc; a DX10 loop has count 0, unless the
//   unit is built with DX10_COUNT = 1: then it counts as a loop of LOOP_START_NO_AL does (r700-4.3-z).
// * A CALL changes none of the four: a subroutine sees the aL of the loop around the call.
// * `again_o` is 1 in a loop that does not count. In a loop that counts it is 1 while more than this pass is
//   left, so the count never goes below 1.
// * Only loops of LOOP_START step aL; it wraps in 32 bits.
// * start_i, again_i and leave_i belong to different instructions; launch_i comes while none is executed.

module r700_loop #(
  parameter int DX10_COUNT = 0         // 1: DX10 loops count
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        launch_i,

  input  logic        start_i,       // a loop is entered
  input  logic        start_al_i,    // by LOOP_START
  input  logic        start_dx10_i,  // by LOOP_START_DX10
  input  logic [11:0] count_i,       // its loop constant
  input  logic [11:0] first_i,
  input  logic [7:0]  inc_i,
  input  logic        again_i,       // LOOP_END that jumps
  input  logic        leave_i,       // LOOP_END that stays: back to the values that the frame saved
  input  logic [1:0]  frame_lt_i,
  input  logic [11:0] frame_lc_i,
  input  logic [31:0] frame_al_i,
  input  logic [7:0]  frame_inc_i,

  output logic [1:0]  lt_o,          // r700_pkg::Loop*
  output logic [11:0] lc_o,
  output logic [31:0] al_o,
  output logic [7:0]  inc_o,
  output logic        again_o        // LOOP_END may jump
);

  logic [1:0]  lt_d, lt_q;
  logic [11:0] lc_d, lc_q;
  logic [31:0] al_d, al_q;
  logic [7:0]  inc_d, inc_q;
  logic [31:0] al_next;
  logic        endless;  // the loop does not count

  assign lt_o    = lt_q;
  assign lc_o    = lc_q;
  assign al_o    = al_q;
  assign inc_o   = inc_q;
  assign al_next = al_q + {{24{inc_q[7]}}, inc_q};
  assign endless = (DX10_COUNT == 0) & (lt_q == r700_pkg::LoopDx10);
  assign again_o = endless | (lc_q > 12'd1);

  always_comb begin
    lt_d  = lt_q;
    lc_d  = lc_q;
    al_d  = al_q;
    inc_d = inc_q;
    if (start_i) begin
      lt_d = start_al_i ? r700_pkg::LoopAl : start_dx10_i ? r700_pkg::LoopDx10 : r700_pkg::LoopNoAl;
      lc_d = (start_dx10_i & (DX10_COUNT == 0)) ? 12'd0 : count_i;
      if (start_al_i) begin
        al_d  = {20'd0, first_i};
        inc_d = inc_i;
      end
    end else if (again_i) begin
      if (!endless)                 lc_d = lc_q - 12'd1;
      if (lt_q == r700_pkg::LoopAl) al_d = al_next;
    end else if (leave_i) begin
      lt_d  = frame_lt_i;
      lc_d  = frame_lc_i;
      al_d  = frame_al_i;
      inc_d = frame_inc_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || launch_i) begin
      lt_q  <= r700_pkg::LoopNone;
      lc_q  <= '0;
      al_q  <= '0;
      inc_q <= '0;
    end else begin
      lt_q  <= lt_d;
      lc_q  <= lc_d;
      al_q  <= al_d;
      inc_q <= inc_d;
    end
  end

endmodule
