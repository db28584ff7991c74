// A FIFO with one entry: `ready_o` depends on `pop_i` in the same cycle, so that a full slot takes a new entry while its
// old one leaves. The reset is active high.
module slot (
  input  logic       clk_i,
  input  logic       rst_i,
  input  logic       valid_i,
  input  logic [7:0] data_i,
  input  logic       pop_i,
  output logic       ready_o,
  output logic       full_o,
  output logic [7:0] data_o
);

  logic       full_q;
  logic [7:0] data_q;

  assign ready_o = !full_q || pop_i;
  assign full_o  = full_q;
  assign data_o  = data_q;

  always_ff @(posedge clk_i) begin
    if (rst_i) full_q <= 1'b0;
    else if (valid_i && ready_o) full_q <= 1'b1;
    else if (pop_i) full_q <= 1'b0;
  end

  // Not reset: it counts only while the slot is full.
  always_ff @(posedge clk_i) if (valid_i && ready_o) data_q <= data_i;

endmodule
