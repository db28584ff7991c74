// A register between two channels, with an asynchronous reset and a clear, in the cycle of which it takes a letter all the same.
// +reconverge_mutant=1: it forgets the letter when it has waited for a cycle; 2: the clear does nothing.
module post (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       clr_i,
  input  logic       in_valid_i,
  input  logic [7:0] in_data_i,
  output logic       in_ready_o,
  output logic       out_valid_o,
  output logic [7:0] out_data_o,
  input  logic       out_ready_i
);

  int fault;

  initial if (!$value$plusargs("reconverge_mutant=%d", fault)) fault = 0;

  assign in_ready_o = !out_valid_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) {out_valid_o, out_data_o} <= 9'h000;
    else if (clr_i && fault != 2) {out_valid_o, out_data_o} <= {in_valid_i && in_ready_o, in_data_i};
    else if (!out_valid_o) {out_valid_o, out_data_o} <= {in_valid_i, in_data_i};
    else if (out_ready_i || fault == 1) out_valid_o <= 1'b0;
  end

endmodule
