// Four registers of 32 bits behind AXI4-Lite.
//
// Address and data of a write may come in any order; it is done when both are there and the response of the write before it has been
// taken, or is taken in this cycle. One read is answered at a time, with what is there when its address comes. An address from 16 on
// writes nothing, reads as 0 and is answered with SLVERR.
module axil_regs (
  input  logic        aclk,
  input  logic        aresetn,
  input  logic        awvalid,
  output logic        awready,
  input  logic [4:0]  awaddr,
  input  logic        wvalid,
  output logic        wready,
  input  logic [31:0] wdata,
  input  logic [3:0]  wstrb,
  output logic        bvalid,
  input  logic        bready,
  output logic [1:0]  bresp,
  input  logic        arvalid,
  output logic        arready,
  input  logic [4:0]  araddr,
  output logic        rvalid,
  input  logic        rready,
  output logic [31:0] rdata,
  output logic [1:0]  rresp
);

  localparam logic [1:0] Okay = 2'b00, SlvErr = 2'b10;

  logic [31:0] regs_q[4];
  logic        has_addr_q, has_data_q, write;
  logic [2:0]  addr_q;
  logic [31:0] data_q;
  logic [3:0]  strb_q;

  // ---- writes ----

  assign awready = !has_addr_q;
  assign wready  = !has_data_q;
  assign write   = has_addr_q && has_data_q && (!bvalid || bready);

  always_ff @(posedge aclk) begin
    if (!aresetn) begin
      has_addr_q <= 1'b0;
      has_data_q <= 1'b0;
      bvalid     <= 1'b0;
    end else begin
      if (awvalid && awready) has_addr_q <= 1'b1;
      else if (write) has_addr_q <= 1'b0;
      if (wvalid && wready) has_data_q <= 1'b1;
      else if (write) has_data_q <= 1'b0;
      if (write) bvalid <= 1'b1;
      else if (bready) bvalid <= 1'b0;
    end
  end

  always_ff @(posedge aclk) begin
    if (awvalid && awready) addr_q <= awaddr[4:2];
    if (wvalid && wready) {data_q, strb_q} <= {wdata, wstrb};
    if (write) bresp <= addr_q[2] ? SlvErr : Okay;
  end

  for (genvar i = 0; i < 4; i++) begin : gen_regs
    always_ff @(posedge aclk) begin
      if (!aresetn) regs_q[i] <= 32'h0;
      else if (write && addr_q == 3'(i)) begin
        for (int b = 0; b < 4; b++) if (strb_q[b]) regs_q[i][8*b +: 8] <= data_q[8*b +: 8];
      end
    end
  end

  // ---- reads ----

  assign arready = !rvalid;

  always_ff @(posedge aclk) begin
    if (!aresetn) rvalid <= 1'b0;
    else if (arvalid && arready) rvalid <= 1'b1;
    else if (rready) rvalid <= 1'b0;
  end

  always_ff @(posedge aclk) begin
    if (arvalid && arready) begin
      rdata <= araddr[4] ? 32'h0 : regs_q[araddr[3:2]];
      rresp <= araddr[4] ? SlvErr : Okay;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{awaddr[1:0], araddr[1:0]};

endmodule
