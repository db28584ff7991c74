// A test bench in SystemVerilog: random pins, a golden model, every output compared after each edge.
module bench;
  int unsigned cycles, depth;
  longint unsigned x = 64'd88172645463325252;
  logic clk = 1'b0;
  logic rst_n, push, pop;
  logic [7:0] mask, mask_o;
  logic [15:0] pc, pc_o;
  logic full, empty;
  logic [7:0] masks[4];
  logic [15:0] pcs[4];

  rpstack dut (
    .clk_i(clk), .rst_ni(rst_n), .push_i(push), .pop_i(pop), .mask_i(mask), .pc_i(pc),
    .full_o(full), .empty_o(empty), .mask_o, .pc_o
  );

  initial begin
    if ($value$plusargs("cycles=%d", cycles) == 0) cycles = 1000;
    depth = 0;
    for (int unsigned cycle = 0; cycle < cycles; cycle++) begin
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      rst_n = cycle != 0 && x[22:16] != 0;
      pop   = x[15:8] < 102 && depth != 0;
      push  = x[7:0] < 102 && (depth != 4 || pop);
      mask  = x[31:24];
      pc    = x[47:32];
      if (!rst_n) depth = 0;
      else begin
        if (pop) depth--;
        if (push) begin
          masks[depth[1:0]] = mask;
          pcs[depth[1:0]]   = pc;
          depth++;
        end
      end
      #1 clk = 1'b1;
      #1;
      if (full != (depth == 4) || empty != (depth == 0)) $fatal(1, "cycle %0d: full or empty", cycle);
      if (mask_o != (depth == 0 ? 8'd0 : masks[2'(depth - 1)])) $fatal(1, "cycle %0d: mask", cycle);
      if (pc_o != (depth == 0 ? 16'd0 : pcs[2'(depth - 1)])) $fatal(1, "cycle %0d: pc", cycle);
      clk = 1'b0;
    end
    $display("%0d cycles agree", cycles);
    $finish;
  end
endmodule
