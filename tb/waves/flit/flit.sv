// A stage of registers whose ports have the shapes that a view has to name as a dump does: several elements on one port, a
// struct, a range that does not end at 0, one that ascends, a vector of one bit, and more bits than Verilator dumps by default.
package flit_pkg;
  typedef struct packed {
    logic [7:0] data;
    logic [4:0] vc;
  } flit_t;
endpackage

module flit #(
  parameter int unsigned LANES = 4
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  flit_pkg::flit_t [3:0]  req_flit_i,
  input  logic [LANES-1:0][2:0]  hint_i,
  input  logic [1:0][LANES-1:0]  both_i,
  input  logic [LANES-1:0]       left_i,
  input  logic [LANES-1:0]       right_i,
  input  logic [19:4]            line_i,
  /* verilator lint_off LITENDIAN */
  input  logic [0:7]             order_i,
  /* verilator lint_on LITENDIAN */
  input  logic [0:0]             one_i,
  input  logic [319:0]           wide_i,
  output flit_pkg::flit_t [3:0]  flit_o,
  output logic [LANES-1:0]       mask_o,
  output logic [0:0]             one_o,
  output logic [79:0][3:0]       entries_o
);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      flit_o    <= '0;
      mask_o    <= '0;
      one_o     <= '0;
      entries_o <= '0;
    end else begin
      flit_o    <= req_flit_i;
      mask_o    <= left_i ^ right_i ^ both_i[0] ^ both_i[1];
      one_o     <= one_i ^ (^hint_i) ^ (^line_i) ^ (^order_i);
      entries_o <= wide_i;
    end
  end

endmodule
