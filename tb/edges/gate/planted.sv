// gate with faults around its reset, of which +reconverge_mutant selects one; 0: none.
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

  int   fault;
  logic rst_n, data_rst_n, late_q;

  initial if (!$value$plusargs("reconverge_mutant=%d", fault)) fault = 0;

  always_comb begin
    unique case (fault)
      2:       rst_n = !rst_ni;           // wrong polarity
      3:       rst_n = 1'b1;              // synchronous only, below
      6:       rst_n = rst_ni || !en_i;   // gated by the enable
      7:       rst_n = rst_ni && late_q;  // released a cycle late
      9:       rst_n = late_q;            // through a register
      default: rst_n = rst_ni;
    endcase
  end
  assign data_rst_n = rst_ni || fault != 8;
  assign sum_o      = last_o + d_i;

  always_ff @(posedge clk_i) late_q <= rst_ni;

  always_ff @(posedge clk_i or negedge rst_n) begin
    if (!rst_n) begin
      level_o <= fault == 4 ? 4'd2 : 4'd3;         // wrong value
      if (fault == 5) last_o[6:0] <= 7'h00;        // one bit not reset
      else if (fault != 1) last_o <= 8'h00;        // a register not in the branch
    end else if (fault == 3 && !rst_ni) begin
      level_o <= 4'd3;
      last_o  <= 8'h00;
    end else if (en_i) begin
      level_o <= level_o + 4'd1;
      last_o  <= d_i;
    end
  end

  // 8: a register that the reset must not reach
  always_ff @(posedge clk_i or negedge data_rst_n) begin
    if (!data_rst_n) data_o <= 8'h00;
    else data_o <= d_i;
  end

endmodule
