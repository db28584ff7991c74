// The token stack, and `vis`, which replaces a search through it (spa5-3-k, spa5-3-l, spa5-4.2-b, spa5-4.2-c, spa5-4.4).
//
// One RAM of DEPTH words (spa5-3-j), {type[2:0], vis[3:0], addr[31:0], mask[LANES-1:0]}, entry 0 the oldest. It has a
// single port: a push writes entry sp, a pop reads entry sp - 2, no cycle does both. After the
// edge, the output of the port, the word written or the word read, is the token on top: the top register can be the
// output register of a RAM in write-first mode. The two arrays below are the two parts of one word.
//
// Corner cases:
// * The unit above refuses a push to a full stack (error 5). An unwind ends without a pop if sp is 0 (spa5-6-c).
// * Tokens below the top never change, and nothing searches them: `vis` says which leaving instructions
//   find their token, and each token brings back the `vis` from before its push.
// * CAL and PRET hide all tokens below: only RET is left in `vis`. PBK and PCNT hide the SSY below them.
// * Neither RAM nor top register is reset: they are used only while sp is not 0, and every entry under sp was
//   written by its push. The pop that leaves the stack empty reads an entry that the unit does not use.
// * launch_i and a request never coincide: a launch is accepted only while nothing runs.

module spa5_stack #(
  parameter int  LANES    = 32,
  parameter int  DEPTH    = 64,  // tokens, 1 to 1024
  localparam int SpBits   = $clog2(DEPTH + 1),
  localparam int AddrBits = (DEPTH > 1) ? $clog2(DEPTH) : 1
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             launch_i,

  input  logic             push_i,
  input  logic [2:0]       token_i,      // spa5_pkg::Token*
  input  logic [31:0]      addr_i,
  input  logic [LANES-1:0] mask_i,

  input  logic             pop_i,

  // The token on top; undefined if the stack is empty.
  output logic [2:0]       top_token_o,
  output logic [31:0]      top_addr_o,
  output logic [LANES-1:0] top_mask_o,

  output logic [3:0]       vis_o,        // bit 0 SYNC, 1 BRK, 2 CONT, 3 RET
  output logic             empty_o,
  output logic             full_o
);

  localparam logic [SpBits-1:0] Full = DEPTH[SpBits-1:0];

  logic [38:0]         head_q [DEPTH];   // {type, vis, addr}
  logic [LANES-1:0]    mask_q [DEPTH];
  logic [38:0]         head, top_head_q;
  logic [LANES-1:0]    top_mask_q;
  logic [SpBits-1:0]   sp_d, sp_q;             // spa5-3-i
  logic [3:0]          vis_d, vis_q, top_vis;  // spa5-3-h
  logic [AddrBits-1:0] at;

  assign {top_token_o, top_vis, top_addr_o} = top_head_q;
  assign top_mask_o = top_mask_q;
  assign vis_o      = vis_q;
  assign empty_o    = sp_q == '0;
  assign full_o     = sp_q == Full;

  // ---- the RAM -------------------------------------------------------------------------------------

  assign head = {token_i, vis_q, addr_i};
  assign at   = push_i ? AddrBits'(sp_q) : AddrBits'(sp_q) - AddrBits'(2);

  always_ff @(posedge clk_i) begin
    if (push_i) begin
      head_q[at] <= head;
      mask_q[at] <= mask_i;
      top_head_q <= head;
      top_mask_q <= mask_i;
    end else if (pop_i) begin
      top_head_q <= head_q[at];
      top_mask_q <= mask_q[at];
    end
  end

  // ---- sp and vis ----------------------------------------------------------------------------------

  always_comb begin
    sp_d  = sp_q;
    vis_d = vis_q;
    if (launch_i) begin
      sp_d  = '0;
      vis_d = '0;
    end else if (push_i) begin
      sp_d = sp_q + 1'b1;
      unique case (token_i)  // spa5-4.2-c
        spa5_pkg::TokenSsy:  vis_d = vis_q | 4'b0001;
        spa5_pkg::TokenPbk:  vis_d = (vis_q & 4'b1110) | 4'b0010;
        spa5_pkg::TokenPcnt: vis_d = (vis_q & 4'b1110) | 4'b0100;
        spa5_pkg::TokenRet:  vis_d = 4'b1000;
        default: ;  // DIV
      endcase
    end else if (pop_i) begin
      sp_d  = sp_q - 1'b1;
      vis_d = top_vis;  // spa5-4.4-b
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      sp_q  <= '0;
      vis_q <= '0;
    end else begin
      sp_q  <= sp_d;
      vis_q <= vis_d;
    end
  end

endmodule
