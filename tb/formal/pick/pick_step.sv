// What pick does in a cycle, by a formula instead of a case.
module pick_step (
  input  logic [3:0] op_i,
  input  logic [7:0] a_i,
  output logic [7:0] out__y_o
);
  assign out__y_o = ({8{op_i == pick_pkg::Pass}} & a_i) | ({8{op_i == pick_pkg::Flip}} & ~a_i);
endmodule
