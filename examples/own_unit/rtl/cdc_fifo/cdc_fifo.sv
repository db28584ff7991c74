// A FIFO of four bytes between two clocks. A push into a full FIFO and a pop from an empty one do nothing.
//
// Each side has a pointer of three bits, one more than an address needs: a full FIFO is not an empty one. The pointers cross to the
// other side in Gray code, of which one bit changes with each step, through two registers of the clock of that side. So a side learns
// late of room or data, and never too early.
//
// A register that samples a bit as it changes takes the value of before or of after. With `wr_late_i` and `rd_late_i` simulation
// chooses, of each bit of the read and of the write pointer: a bit that is late is, at the first edge after it has changed, as it was
// before the last edge of the clock that it comes from. Tie them to 0 for synthesis.
module cdc_fifo (
  input  logic       wr_clk_i,
  input  logic       wr_rst_ni,
  input  logic       push_i,
  input  logic [7:0] data_i,
  input  logic [2:0] wr_late_i,
  output logic       full_o,
  input  logic       rd_clk_i,
  input  logic       rd_rst_ni,
  input  logic       pop_i,
  input  logic [2:0] rd_late_i,
  output logic       empty_o,
  output logic [7:0] data_o
);

  function automatic logic [2:0] gray(input logic [2:0] binary);
    gray = binary ^ binary >> 1;
  endfunction

  logic [7:0] mem_q[4];
  logic [2:0] wr_ptr_q, wr_ptr_d, wr_gray_q, wr_gray_rd;
  logic [2:0] rd_ptr_q, rd_ptr_d, rd_gray_q, rd_gray_wr;

  // ---- writer ----

  assign wr_ptr_d = wr_ptr_q + 3'(push_i && !full_o);
  // Four ahead: in Gray code the two highest bits differ.
  assign full_o   = wr_gray_q == (rd_gray_wr ^ 3'b110);

  always_ff @(posedge wr_clk_i or negedge wr_rst_ni) begin
    if (!wr_rst_ni) begin
      wr_ptr_q  <= 3'd0;
      wr_gray_q <= 3'd0;
    end else begin
      wr_ptr_q  <= wr_ptr_d;
      wr_gray_q <= gray(wr_ptr_d);
    end
  end

  always_ff @(posedge wr_clk_i) if (push_i && !full_o) mem_q[wr_ptr_q[1:0]] <= data_i;

  // ---- reader ----

  assign rd_ptr_d = rd_ptr_q + 3'(pop_i && !empty_o);
  assign empty_o  = rd_gray_q == wr_gray_rd;
  assign data_o   = mem_q[rd_ptr_q[1:0]];

  always_ff @(posedge rd_clk_i or negedge rd_rst_ni) begin
    if (!rd_rst_ni) begin
      rd_ptr_q  <= 3'd0;
      rd_gray_q <= 3'd0;
    end else begin
      rd_ptr_q  <= rd_ptr_d;
      rd_gray_q <= gray(rd_ptr_d);
    end
  end

  // ---- the pointers cross ----

  cdc_sync u_to_reader (
    .src_clk_i(wr_clk_i),
    .src_rst_ni(wr_rst_ni),
    .src_i(wr_gray_q),
    .late_i(rd_late_i),
    .dst_clk_i(rd_clk_i),
    .dst_rst_ni(rd_rst_ni),
    .dst_o(wr_gray_rd)
  );

  cdc_sync u_to_writer (
    .src_clk_i(rd_clk_i),
    .src_rst_ni(rd_rst_ni),
    .src_i(rd_gray_q),
    .late_i(wr_late_i),
    .dst_clk_i(wr_clk_i),
    .dst_rst_ni(wr_rst_ni),
    .dst_o(rd_gray_wr)
  );

endmodule

// Two registers between two clocks.
module cdc_sync (
  input  logic       src_clk_i,
  input  logic       src_rst_ni,
  input  logic [2:0] src_i,
  input  logic [2:0] late_i,
  input  logic       dst_clk_i,
  input  logic       dst_rst_ni,
  output logic [2:0] dst_o
);

  logic [2:0] before_q, known_q, late, first_q, second_q;

  // For simulation, and removed where `late_i` is 0: what was there before the last edge, and at the last edge of this side.
  always_ff @(posedge src_clk_i or negedge src_rst_ni) begin
    if (!src_rst_ni) before_q <= 3'd0;
    else before_q <= src_i;
  end

  always_ff @(posedge dst_clk_i or negedge dst_rst_ni) begin
    if (!dst_rst_ni) known_q <= 3'd0;
    else known_q <= src_i;
  end

  assign late = src_i == known_q ? 3'd0 : late_i;

  always_ff @(posedge dst_clk_i or negedge dst_rst_ni) begin
    if (!dst_rst_ni) begin
      first_q  <= 3'd0;
      second_q <= 3'd0;
    end else begin
      first_q  <= (src_i & ~late) | (before_q & late);
      second_q <= first_q;
    end
  end

  assign dst_o = second_q;

endmodule
