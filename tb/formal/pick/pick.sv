// An operation chosen by an enum. Only slang reads it: a package is imported in the header of a module, and a number becomes an enum.
package pick_pkg;
  typedef enum logic [3:0] {
    Pass  = 4'd1,
    Flip  = 4'd2,
    Clear = 4'd4
  } op_e;
  function automatic int width();
    return 8;
  endfunction
endpackage

module pick_core
  import pick_pkg::*;
#(
  parameter int Width = width()
) (
  input  op_e              op_i,
  input  logic [Width-1:0] a_i,
  output logic [Width-1:0] y_o
);

  // Another operation is an error of the user, which the simulator tells.
  always_comb begin
    y_o = '0;
    unique case (1'b1)
      op_i == Pass:  y_o = a_i;
      op_i == Flip:  y_o = ~a_i;
      op_i == Clear: y_o = '0;
    endcase
  end

endmodule

module pick (
  input  logic [3:0] op_i,
  input  logic [7:0] a_i,
  output logic [7:0] y_o
);

  pick_core core (
    .op_i(op_i),
    .a_i (a_i),
    .y_o (y_o)
  );

endmodule
