// A lock: the word 32'h600d_cafe opens it, and a word that is written twice in a row is counted.
module lock (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        write_i,
  input  logic [31:0] data_i,
  output logic        open_o,
  output logic [3:0]  repeats_o
);

  logic        open_q;
  logic [3:0]  repeats_q;
  logic [31:0] last_q;

  assign open_o    = open_q;
  assign repeats_o = repeats_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      open_q    <= 1'b0;
      repeats_q <= '0;
      last_q    <= '0;
    end else if (write_i) begin
      if (data_i == 32'h600d_cafe) open_q <= 1'b1;
      if (data_i == last_q) repeats_q <= repeats_q + 4'd1;
      last_q <= data_i;
    end
  end

endmodule
