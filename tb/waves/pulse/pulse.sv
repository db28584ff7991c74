// A register of one bit, and no other state: its mismatch bits are a vector of one bit. The reset is active high.
module pulse (
  input  logic clk_i,
  input  logic rst_i,
  input  logic d_i,
  output logic q_o
);

  always_ff @(posedge clk_i) q_o <= d_i && !rst_i;

endmodule
