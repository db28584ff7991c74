// types.rs reads what two versions wrote of this: m.xml is that of `--xml-only` of Verilator 5.006, m.json that of
// `--json-only` of 5.048.
package p;
  typedef enum logic [1:0] {Idle, Run = 2, Stop} st_e;
  typedef struct packed {
    logic               v;
    st_e                st;
    logic signed [11:0] off;
    logic [3:0][7:0]    d;
  } req_t;
  typedef union packed {
    logic [31:0]     w;
    logic [3:0][7:0] b;
  } word_t;
endpackage

interface bus #(parameter int W = 8) (input logic clk_i);
  logic [W-1:0] d;
  logic         r;
  modport dst (input d, output r);
endinterface

module m #(
  parameter type T = logic [6:0]
) (
  input  p::req_t [0:1] req_i,
  input  p::word_t      word_i,
  input  T              t_i,
  input  int            \x+y ,
  input  logic          u_i [2],
  bus.dst               b_i [1:0],
  output p::st_e        st_o
);
  assign st_o = req_i[0].st;
endmodule

module probe;
  bus #(.W(5)) b_i [1:0] ();
  m u_m (.b_i(b_i));
endmodule
