// Which words of r700's stack have a bit for each lane; `prove` needs this for its proof about permuted lanes. Bit i of `lanes__NAME`
// is 1 if the lowest bits of word i of memory NAME belong to the lanes.

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

  // In the frames (r700-3.4-k), from the top down: the word of a branch frame, and the class planes of a loop frame, its fourth
  // and third word from the top. As in the invariants, `base` is compared with one address at a time, and only `base`, its kind and
  // the position in a loop frame pass from one word to the next. So the invariants about `base` decide here too, and below the words
  // that a cycle writes, the scans before and after it are the same gates. `sp` is not used: `base` is never above it
  // (stack_base, I2), and the words above `sp` do not matter and may be taken for words of branch frames.
  localparam logic [1:0] Loop = 2'd1;
  logic [4*Rows-1:0]     of_lanes;
  logic [SpBits-1:0]     base;
  logic [1:0]            kind;
  logic [SUBENTRIES-1:0] in_loop;  // bit 0: the top word of the frame
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
