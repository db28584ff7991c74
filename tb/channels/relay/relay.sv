// A sum of what comes with one clock, and numbers that go with another.
module relay (
  input  logic       a_clk_i,
  input  logic       b_clk_i,
  input  logic       a_rst_ni,
  input  logic       b_rst_ni,
  input  logic       a_valid_i,
  input  logic [7:0] a_data_i,
  output logic       a_ready_o,
  output logic [7:0] sum_o,
  output logic       b_valid_o,
  output logic [7:0] b_data_o,
  input  logic       b_ready_i
);

  always_ff @(posedge a_clk_i) begin
    a_ready_o <= a_rst_ni && !a_ready_o;
    if (!a_rst_ni) sum_o <= 8'h00;
    else if (a_valid_i && a_ready_o) sum_o <= sum_o + a_data_i;
  end

  always_ff @(posedge b_clk_i) begin
    if (!b_rst_ni) {b_valid_o, b_data_o} <= 9'h000;
    else if (!b_valid_o) b_valid_o <= 1'b1;
    else if (b_ready_i) {b_valid_o, b_data_o} <= {b_data_o[0], b_data_o + 8'd1};
  end

endmodule
