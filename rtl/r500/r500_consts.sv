// US_FC_INT_CONST_0..31 and US_FC_BOOL_CONST (r500-2.1-c, r500-2.5).
//
// Corner cases:
// * The top byte of an integer constant is not stored: it reads as 0.
// * Addresses 33 to 63 are ignored (r500-3.4-b).
// * Reads see a write from the next cycle on, and are combinational. The unit above refuses writes while a
//   program runs (r500-3.3-e), so a program never sees a constant change.

module r500_consts (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        we_i,
  input  logic [5:0]  waddr_i,
  input  logic [31:0] wdata_i,

  input  logic        int_re_i,   // without it kr_o, kg_o and kb_o are 0
  input  logic [4:0]  int_addr_i,
  output logic [7:0]  kr_o,       // count
  output logic [7:0]  kg_o,       // first aL
  output logic [7:0]  kb_o,       // step of aL
  input  logic [4:0]  bool_addr_i,
  output logic        bool_o
);

  logic [32*24-1:0] int_q;
  logic [31:0]      bool_q;
  logic [23:0]      int_word;

  // Written in place, one word at a time: a next-state copy of all 32 would be recomputed every cycle.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      int_q <= '0;
    end else if (we_i && !waddr_i[5]) begin
      int_q[24*waddr_i[4:0] +: 24] <= wdata_i[23:0];
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      bool_q <= '0;
    end else if (we_i && waddr_i == r500_pkg::HostBoolConst) begin
      bool_q <= wdata_i;
    end
  end

  // Few instructions read an integer constant; the enable spares the others the wide multiplexer.
  always_comb begin
    int_word = '0;
    if (int_re_i) begin
      int_word = int_q[24*int_addr_i +: 24];
    end
  end

  assign kr_o   = int_word[7:0];
  assign kg_o   = int_word[15:8];
  assign kb_o   = int_word[23:16];
  assign bool_o = bool_q[bool_addr_i];

endmodule
