// A counter that runs from power-up on, without a reset.
module tick (
  input  logic        clk_i,
  input  logic [1:0]  by_i,
  output logic [15:0] number_o,
  output logic [15:0] sum_o
);

  logic [15:0] number_q = '0;

  assign number_o = number_q;
  assign sum_o    = number_q + 16'(by_i) + 16'd1;

  always_ff @(posedge clk_i) number_q <= sum_o;

endmodule
