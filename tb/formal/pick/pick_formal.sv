// What callers of pick keep to.
module pick_formal
  import pick_pkg::*;
(
  input  logic [3:0] op_i,
  output logic       contract
);
  assign contract = op_i == Pass || op_i == Flip || op_i == Clear;
endmodule
