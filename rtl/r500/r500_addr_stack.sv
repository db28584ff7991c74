// Address stack: four return addresses of ten bits (r500-3.2-c, r500-4.4-g, r500-4.4-h).
//
// Corner cases:
// * The unit above refuses a push to a full stack and a pop of an empty one (errors 6 and 7).
// * No instruction both pushes and pops: A_OP selects one of them.
// * If the stack is empty, `top_o` is an old entry; the unit above reports error 7 instead of using it.
// * Places above the depth keep their old values. Nothing reads them before a push writes them.
// * clear_i (launch) and a push never coincide: a launch is accepted only while nothing runs.

module r500_addr_stack (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       clear_i,

  input  logic       push_i,
  input  logic       pop_i,
  input  logic [9:0] addr_i,

  output logic [9:0] top_o,
  output logic       empty_o,
  output logic       full_o
);

  logic [4*10-1:0] addr_d, addr_q;  // place p is [10*p +: 10]; place 0 is the bottom
  logic [2:0]      depth_d, depth_q;
  logic [1:0]      free, top;  // places: the next to fill, the last filled

  assign free    = depth_q[1:0];
  assign top     = depth_q[1:0] - 2'd1;
  assign top_o   = addr_q[10*top +: 10];
  assign empty_o = depth_q == 3'd0;
  assign full_o  = depth_q == r500_pkg::StackDepth;

  always_comb begin
    addr_d  = addr_q;
    depth_d = depth_q;
    if (clear_i) begin
      depth_d = 3'd0;
    end else if (push_i) begin
      addr_d[10*free +: 10] = addr_i;
      depth_d               = depth_q + 3'd1;
    end else if (pop_i) begin
      depth_d = depth_q - 3'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      addr_q  <= '0;
      depth_q <= '0;
    end else begin
      addr_q  <= addr_d;
      depth_q <= depth_d;
    end
  end

endmodule
