// A register between two channels, and logic between two others, with a clear that empties the one and shuts the other; with faults, of
// which +reconverge_mutant selects one; 0: none.
module spill (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       clr_i,
  input  logic       in_valid_i,
  input  logic [3:0] in_data_i,
  output logic       in_ready_o,
  output logic       out_valid_o,
  output logic [3:0] out_data_o,
  input  logic       out_ready_i,
  input  logic       near_valid_i,
  output logic       near_ready_o,
  output logic       far_valid_o,
  input  logic       far_ready_i
);

  int         fault;
  logic       full_q, late_q, odd_q;
  logic [3:0] data_q;

  initial if (!$value$plusargs("reconverge_mutant=%d", fault)) fault = 0;

  always_ff @(posedge clk_i) begin
    late_q <= rst_ni && clr_i;
    odd_q  <= rst_ni && near_valid_i;
    if (!rst_ni) begin
      full_q <= 1'b0;
      data_q <= 4'h0;
    end else if (fault == 2 ? late_q : clr_i) begin  // 2: a cycle too late
      full_q <= 1'b0;
    end else if (!full_q) begin
      full_q <= in_valid_i;
      data_q <= in_data_i;
    end else if (out_ready_i || fault == 1) begin    // 1: it does not wait for ready
      full_q <= 1'b0;
    end
  end

  assign in_ready_o   = !full_q;
  assign out_valid_o  = full_q;
  assign out_data_o   = full_q ? data_q : 4'h0;
  assign near_ready_o = far_ready_i && !clr_i;
  assign far_valid_o  = near_valid_i && !clr_i && !(fault == 3 && odd_q && !far_ready_i);  // 3: a stall lasts for one cycle

endmodule
