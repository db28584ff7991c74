// Which words of r700's stack have a bit for each lane, for what `prove` asks of permuted lanes: bit i of `lanes__NAME` is 1 if
// the lowest bits of word i of memory NAME are those of the lanes.

module r700_lane_words #(
  parameter int LANES          = 64,
  parameter int MAX_STACK_SIZE = 32,
  parameter int SUBENTRIES     = 4,
  parameter int DX10_COUNT     = 0,
  localparam int WordBits = LANES > 56 ? LANES : 56,
  localparam int Rows     = MAX_STACK_SIZE * SUBENTRIES / 4,
  localparam int SpBits   = SUBENTRIES == 8 ? 11 : 10
) (
  input logic [SpBits-1:0] u_stack__sp_q,
  input logic [SpBits-1:0] u_stack__base_q,
  input logic [1:0]        u_stack__bkind_q,
  input logic [WordBits*Rows-1:0] u_stack__bank0_q,
  input logic [WordBits*Rows-1:0] u_stack__bank1_q,
  input logic [WordBits*Rows-1:0] u_stack__bank2_q,
  input logic [WordBits*Rows-1:0] u_stack__bank3_q,

  output logic [Rows-1:0]   lanes__u_stack__bank0_q,
  output logic [Rows-1:0]   lanes__u_stack__bank1_q,
  output logic [Rows-1:0]   lanes__u_stack__bank2_q,
  output logic [Rows-1:0]   lanes__u_stack__bank3_q
);

  // Of the frames (r700-3.4-k), from the top down: the word of a branch, and the class planes of a loop, its fourth and
  // third word from above.
  localparam logic [1:0] Loop = 2'd1;
  logic [4*Rows-1:0]   of_lanes;
  logic [SpBits-1:0]   base, base_below;
  logic [1:0]          kind, kind_below;
  logic [WordBits-1:0] word;
  always_comb begin
    of_lanes   = '0;
    base       = u_stack__base_q;
    kind       = u_stack__bkind_q;
    base_below = '0;
    kind_below = '0;
    word       = '0;
    for (int a = 4 * Rows - 1; a >= 0; a--) begin
      case (a % 4)
        0: word = u_stack__bank0_q[WordBits*(a/4) +: WordBits];
        1: word = u_stack__bank1_q[WordBits*(a/4) +: WordBits];
        2: word = u_stack__bank2_q[WordBits*(a/4) +: WordBits];
        3: word = u_stack__bank3_q[WordBits*(a/4) +: WordBits];
      endcase
      if (a < u_stack__sp_q) begin
        if (a >= base) begin
          of_lanes[a] = 1'b1;
        end else if (kind == Loop) begin
          of_lanes[a] = a + 3 == base || a + 4 == base;
          if (a + 2 == base) {base_below, kind_below} = {word[24 +: SpBits], word[23:22]};
          if (a + SUBENTRIES == base) {base, kind} = {base_below, kind_below};
        end else begin
          {base, kind} = {word[40 +: SpBits], word[39:38]};
        end
      end
    end
    for (int r = 0; r < Rows; r++) begin
      lanes__u_stack__bank0_q[r] = of_lanes[4*r];
      lanes__u_stack__bank1_q[r] = of_lanes[4*r + 1];
      lanes__u_stack__bank2_q[r] = of_lanes[4*r + 2];
      lanes__u_stack__bank3_q[r] = of_lanes[4*r + 3];
    end
  end

endmodule
