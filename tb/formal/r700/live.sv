// Which bits of r700's state matter when, for proofs of what it does in a cycle: what `live__NAME` says is explained in
// ../r500.sv. It says more than ../r700.sv, for the referee of mutants leaves the memory alone.

module r700_formal #(
  parameter int LANES          = 64,
  parameter int MAX_STACK_SIZE = 32,
  parameter int SUBENTRIES     = 4,
  parameter int DX10_COUNT     = 0,
  localparam int WordBits = LANES > 56 ? LANES : 56,
  localparam int Rows     = MAX_STACK_SIZE * SUBENTRIES / 4,
  localparam int SpBits   = SUBENTRIES == 8 ? 11 : 10
) (
  input logic [SpBits-1:0] u_stack__sp_q,
  input logic             running_q,

  output logic [WordBits*Rows-1:0] live__u_stack__bank0_q,
  output logic [WordBits*Rows-1:0] live__u_stack__bank1_q,
  output logic [WordBits*Rows-1:0] live__u_stack__bank2_q,
  output logic [WordBits*Rows-1:0] live__u_stack__bank3_q,
  output logic [31:0]   live__prog_len_q,
  output logic [SpBits-1:0] live__u_stack__limit_q
);

  // Above the top of the stack is nothing. Sub-entry a is word a / 4 of bank a % 4.
  for (genvar r = 0; r < Rows; r++) begin : g_row
    assign live__u_stack__bank0_q[WordBits*r +: WordBits] = {WordBits{u_stack__sp_q > 4 * r}};
    assign live__u_stack__bank1_q[WordBits*r +: WordBits] = {WordBits{u_stack__sp_q > 4 * r + 1}};
    assign live__u_stack__bank2_q[WordBits*r +: WordBits] = {WordBits{u_stack__sp_q > 4 * r + 2}};
    assign live__u_stack__bank3_q[WordBits*r +: WordBits] = {WordBits{u_stack__sp_q > 4 * r + 3}};
  end

  // A launch sets these before anything looks at them.
  assign live__prog_len_q       = {32{running_q}};
  assign live__u_stack__limit_q = {SpBits{running_q}};

endmodule
