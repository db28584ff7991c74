// What the referee of mutants may know of r700; what the outputs are: tb/formal/r500.sv.
//
// Nothing is said of what frames hold, nor of what RETURN and LOOP_END bring back from them (base, bkind, the
// loop registers, the call depth): it is whatever was pushed, and no word of the memory says what it is.

module r700_formal #(
  parameter int LANES          = 64,
  parameter int MAX_STACK_SIZE = 32,
  parameter int SUBENTRIES     = 4,
  parameter int DX10_COUNT     = 0,
  localparam int SpBits = SUBENTRIES == 8 ? 11 : 10
) (
  input logic [LANES-1:0] u_lanes__active_q,
  input logic [LANES-1:0] u_lanes__st0_q,
  input logic [LANES-1:0] u_lanes__st1_q,
  input logic [LANES-1:0] u_lanes__valid_q,
  input logic [LANES-1:0] u_lanes__exec_q,
  input logic [1:0]       u_loop__lt_q,
  input logic [11:0]      u_loop__lc_q,
  input logic [31:0]      u_loop__al_q,
  input logic [7:0]       u_loop__inc_q,
  input logic [SpBits-1:0] u_stack__sp_q,
  input logic [SpBits-1:0] u_stack__base_q,
  input logic [1:0]       u_stack__bkind_q,
  input logic [SpBits-1:0] u_stack__nb_q,
  input logic [SpBits-1:0] u_stack__limit_q,
  input logic [1023:0]    u_consts__loop_q,
  input logic [31:0]      u_consts__bool_q,
  input logic [31:0]      pc_q,
  input logic [5:0]       depth_q,
  input logic [31:0]      prog_len_q,
  input logic             running_q,
  input logic             done_q,
  input logic             halted_q,
  input logic             jump_q,
  input logic             skipped_q,
  input logic [3:0]       err_q,

  output logic          invariant,
  output logic [2047:0] seen,
  output logic [31:0]   live__prog_len_q,
  output logic [SpBits-1:0] live__u_stack__limit_q
);

  localparam logic [SpBits-1:0] Most = SUBENTRIES * MAX_STACK_SIZE;

  assign invariant =
      u_lanes__active_q == ~(u_lanes__st0_q | u_lanes__st1_q) &&
      // At most one of them.
      !(running_q && (done_q || halted_q)) && !(done_q && halted_q) &&
      halted_q == (err_q != 4'd0) && err_q <= 4'd9 &&
      u_stack__limit_q[SpBits-9:0] == '0 && u_stack__limit_q <= Most;

  assign seen = {u_lanes__st0_q, u_lanes__st1_q, u_loop__lt_q, u_loop__lc_q, u_loop__inc_q, u_stack__sp_q,
                 u_stack__base_q, u_stack__bkind_q, u_stack__nb_q, depth_q, u_consts__loop_q,
                 u_consts__bool_q};
  // A launch sets these before anything looks at them.
  assign live__prog_len_q       = {32{running_q}};
  assign live__u_stack__limit_q = {SpBits{running_q}};

endmodule
