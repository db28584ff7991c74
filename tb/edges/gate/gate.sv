// A counter and a register with an asynchronous reset, and a register without one.
module gate (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       en_i,
  input  logic [7:0] d_i,
  output logic [3:0] level_o,
  output logic [7:0] last_o,
  output logic [7:0] data_o,
  output logic [7:0] sum_o
);

  assign sum_o = last_o + d_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      level_o <= 4'd3;
      last_o  <= 8'h00;
    end else if (en_i) begin
      level_o <= level_o + 4'd1;
      last_o  <= d_i;
    end
  end

  always_ff @(posedge clk_i) data_o <= d_i;

endmodule
