// The 32 loop constants and the 32 booleans (r700-2.6).
//
// Corner cases:
// * Addresses 33 to 63 are ignored.
// * Reads see a write from the next cycle on, and are combinational. The unit above refuses writes while a
//   wave runs (r700-2.6-c), so a program never sees a constant change.

module r700_consts (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        we_i,
  input  logic [5:0]  waddr_i,
  input  logic [31:0] wdata_i,

  input  logic [4:0]  addr_i,      // CF_CONST: number of a loop constant and of a boolean
  input  logic        loop_re_i,   // without it count_o, first_o and inc_o are 0
  output logic [11:0] count_o,     // trip count
  output logic [11:0] first_o,     // first aL
  output logic [7:0]  inc_o,       // step of aL, signed
  output logic        bool_o
);

  logic [32*32-1:0] loop_q;
  logic [31:0]      bool_q;
  logic [31:0]      loop_word;

  // Written in place, one word at a time: a next-state copy of all 32 would be recomputed every cycle.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      loop_q <= '0;
    end else if (we_i && !waddr_i[5]) begin
      loop_q[32*waddr_i[4:0] +: 32] <= wdata_i;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      bool_q <= '0;
    end else if (we_i && waddr_i == r700_pkg::HostBoolConst) begin
      bool_q <= wdata_i;
    end
  end

  // Few instructions read a loop constant; the enable spares the others the wide multiplexer.
  always_comb begin
    loop_word = '0;
    if (loop_re_i) begin
      loop_word = loop_q[32*addr_i +: 32];
    end
  end

  assign count_o = loop_word[11:0];
  assign first_o = loop_word[23:12];
  assign inc_o   = loop_word[31:24];
  assign bool_o  = bool_q[addr_i];

endmodule
