// What proofs about rpseq may assume, for the verdicts of mutants: see rpstack_formal.sv.
module rpseq_formal #(
  parameter int unsigned LANES = 8,
  parameter int unsigned DEPTH = 4
) (
  input  logic                       running_q,
  input  logic                       done_q,
  input  logic [2:0]                 err_q,
  input  logic [$clog2(DEPTH+1)-1:0] u_stack__level_q,
  input  logic [LANES*DEPTH-1:0]     u_stack__mask_q,
  input  logic [16*DEPTH-1:0]        u_stack__pc_q,
  output logic                       invariant,
  output logic [$clog2(DEPTH+1)-1:0] seen,
  output logic [LANES*DEPTH-1:0]     live__u_stack__mask_q,
  output logic [16*DEPTH-1:0]        live__u_stack__pc_q
);

  assign invariant = u_stack__level_q <= DEPTH && !(running_q && (done_q || err_q != 0)) && !(done_q && err_q != 0) && err_q <= 4;
  assign seen      = u_stack__level_q;

  genvar i;
  generate
    for (i = 0; i < DEPTH; i = i + 1) begin : gen_live
      assign live__u_stack__mask_q[LANES*i +: LANES] = {LANES{u_stack__level_q > i}};
      assign live__u_stack__pc_q[16*i +: 16]         = {16{u_stack__level_q > i}};
    end
  endgenerate

endmodule
