// What proofs about rpstack may assume, for the verdicts of mutants. Inputs are registers and inputs of the module.
//
//   invariant   holds after a reset, and no cycle breaks it: this is proved first
//   contract    what the module may be given
//   live__NAME  which bits of register NAME matter: entries above the level do not
//   seen        what the bench compares beside the outputs
module rpstack_formal #(
  parameter int LANES = 8,
  parameter int DEPTH = 4
) (
  input  logic [$clog2(DEPTH+1)-1:0] level_q,
  input  logic [LANES*DEPTH-1:0]     mask_q,
  input  logic [16*DEPTH-1:0]        pc_q,
  input  logic                       push_i,
  input  logic                       pop_i,
  output logic                       invariant,
  output logic                       contract,
  output logic [$clog2(DEPTH+1)-1:0] seen,
  output logic [LANES*DEPTH-1:0]     live__mask_q,
  output logic [16*DEPTH-1:0]        live__pc_q
);

  assign invariant = level_q <= DEPTH;
  assign contract  = (!push_i || pop_i || level_q != DEPTH) && (!pop_i || level_q != 0);
  assign seen      = level_q;

  genvar i;
  generate
    for (i = 0; i < DEPTH; i = i + 1) begin : gen_live
      assign live__mask_q[LANES*i +: LANES] = {LANES{level_q > i}};
      assign live__pc_q[16*i +: 16]         = {16{level_q > i}};
    end
  endgenerate

endmodule
