// What holds of pick.
module pick_properties (
  input  logic [3:0] op_i,
  input  logic [7:0] a_i,
  input  logic [7:0] y_o,
  output logic       prove__flip,
  output logic       cover__clear
);
  assign prove__flip  = op_i != pick_pkg::Flip || y_o == (a_i ^ 8'hff);
  assign cover__clear = op_i == pick_pkg::Clear;
endmodule
