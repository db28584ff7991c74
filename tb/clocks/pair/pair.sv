// Two clocks that count their edges, and a bit that crosses from one to the other; with faults, of which +reconverge_mutant selects
// one; 0: none.
module pair (
  input  logic        a_clk_i,
  input  logic        b_clk_i,
  input  logic        a_rst_ni,
  input  logic        b_rst_ni,
  input  logic        flip_i,
  input  logic [7:0]  add_i,
  input  logic [7:0]  free_i,
  output logic [15:0] a_edges_o,
  output logic [15:0] b_edges_o,
  output logic [15:0] b_falls_o,
  output logic [7:0]  arrived_o,
  output logic [7:0]  sum_o,
  output logic [7:0]  mix_o
);

  int         fault;
  logic       bit_q;
  logic [1:0] sync_q;
  logic [7:0] by_a_q;

  initial begin
    if (!$value$plusargs("reconverge_mutant=%d", fault)) fault = 0;
    a_edges_o = 16'd0;
    b_edges_o = 16'd0;
    b_falls_o = 16'd0;
  end

  always_ff @(posedge a_clk_i) a_edges_o <= a_edges_o + 16'd1;
  always_ff @(posedge b_clk_i) b_edges_o <= b_edges_o + 16'd1;
  always_ff @(negedge b_clk_i) b_falls_o <= b_falls_o + 16'd1;

  always_ff @(posedge a_clk_i or negedge a_rst_ni) begin
    if (!a_rst_ni) bit_q <= 1'b0;
    else if (flip_i) bit_q <= !bit_q;
  end

  always_ff @(posedge b_clk_i or negedge b_rst_ni) begin
    if (!b_rst_ni) begin
      sync_q    <= 2'b00;
      arrived_o <= 8'h00;
    end else begin
      sync_q    <= {sync_q[0], bit_q};
      arrived_o <= {arrived_o[6:0], fault == 1 ? sync_q[0] : sync_q[1]};  // a missing stage
    end
  end

  // 2: what belongs to b_clk changes with a_clk
  always_ff @(posedge a_clk_i or negedge a_rst_ni) begin
    if (!a_rst_ni) by_a_q <= 8'h00;
    else if (fault == 2 && flip_i) by_a_q <= by_a_q + 8'd1;
  end

  logic [7:0] sum_q;
  always_ff @(posedge b_clk_i or negedge b_rst_ni) begin
    if (!b_rst_ni) sum_q <= 8'h00;
    else sum_q <= sum_q + add_i;
  end

  assign sum_o = sum_q + by_a_q;
  assign mix_o = sum_q ^ free_i;

endmodule
