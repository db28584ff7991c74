// The larger of two numbers.
module larger (
    input  logic [3:0] a_i,
    input  logic [3:0] b_i,
    output logic [3:0] most_o
);
  assign most_o = a_i > b_i ? a_i : b_i;
endmodule
