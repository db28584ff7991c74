// One cycle of rpstack, described once more for proofs: entry by entry, with no regard to size. Inputs are registers and
// inputs of the module.
//
//   next__NAME  what register NAME holds after the cycle
//   out__NAME   what output NAME shows in it
module rpstack_step #(
  parameter int LANES = 8,
  parameter int DEPTH = 4
) (
  input  logic [$clog2(DEPTH+1)-1:0] level_q,
  input  logic [LANES*DEPTH-1:0]     mask_q,
  input  logic [16*DEPTH-1:0]        pc_q,
  input  logic                       rst_ni,
  input  logic                       push_i,
  input  logic                       pop_i,
  input  logic [LANES-1:0]           mask_i,
  input  logic [15:0]                pc_i,
  output logic [$clog2(DEPTH+1)-1:0] next__level_q,
  output logic [LANES*DEPTH-1:0]     next__mask_q,
  output logic [16*DEPTH-1:0]        next__pc_q,
  output logic                       out__full_o,
  output logic                       out__empty_o,
  output logic [LANES-1:0]           out__mask_o,
  output logic [15:0]                out__pc_o
);

  // The entry that a push writes.
  integer target, i;

  always_comb begin
    target = pop_i ? level_q - 1 : level_q;
    next__level_q = rst_ni ? level_q + push_i - pop_i : 0;
    next__mask_q  = mask_q;
    next__pc_q    = pc_q;
    out__mask_o   = 0;
    out__pc_o     = 0;
    for (i = 0; i < DEPTH; i = i + 1) begin
      if (push_i && i == target) begin
        next__mask_q[LANES*i +: LANES] = mask_i;
        next__pc_q[16*i +: 16]         = pc_i;
      end
      if (i + 1 == level_q) begin
        out__mask_o = mask_q[LANES*i +: LANES];
        out__pc_o   = pc_q[16*i +: 16];
      end
    end
    out__full_o  = level_q == DEPTH;
    out__empty_o = level_q == 0;
  end

endmodule
