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

  // Sub-entry a is word a / 4 of bank a % 4.
  wire [WordBits*4*Rows-1:0] memory;
  for (genvar r = 0; r < Rows; r++) begin : gen_row
    assign memory[WordBits*4*r +: 4*WordBits] = {
      u_stack__bank3_q[WordBits*r +: WordBits], u_stack__bank2_q[WordBits*r +: WordBits],
      u_stack__bank1_q[WordBits*r +: WordBits], u_stack__bank0_q[WordBits*r +: WordBits]
    };
  end

  // Of the frames (r700-3.4-k), from the top down: the word of a branch, and the class planes of a loop, its fourth and
  // third word from above. `base` is compared with one address, as the invariants do it, and nothing is kept from one word to
  // the next but it, its kind, and how far down in a loop frame the word lies. So what the invariants say of `base` decides here
  // too, and below what a cycle writes the scan before it and the one after it are the same gates. `sp` is not asked:
  // `base` is never above it (stack_base, I2), and what lies there does not matter and may be taken for words of branches.
  localparam logic [1:0] Loop = 2'd1;
  logic [4*Rows-1:0]     of_lanes;
  logic [SpBits-1:0]     base;
  logic [1:0]            kind;
  logic [SUBENTRIES-1:0] in_loop;  // bit 0: its word on top
  always_comb begin
    of_lanes = '0;
    base     = u_stack__base_q;
    kind     = u_stack__bkind_q;
    in_loop  = '0;
    for (int a = 4 * Rows - 1; a >= 0; a--) begin
      in_loop = in_loop << 1;
      if (in_loop == '0 && base == a + 1 && kind == Loop) in_loop[0] = 1'b1;
      if (in_loop != '0) begin
        of_lanes[a] = in_loop[2] | in_loop[3];
        if (in_loop[SUBENTRIES-1]) begin
          {base, kind} = memory[WordBits*(a + SUBENTRIES <= 4 * Rows ? a + SUBENTRIES - 2 : 0) + 22 +: SpBits + 2];
        end
      end else if (base == a + 1) begin
        {base, kind} = memory[WordBits*a + 38 +: SpBits + 2];
      end else begin
        of_lanes[a] = 1'b1;
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
