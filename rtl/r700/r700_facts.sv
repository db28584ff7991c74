// Consequences of the invariants of r700 (rtl/r700/r700_sva.sv) that simplify a case, that is a cycle with one value of `sp` and one
// request to the stack: `before__NAME` is about the state at the beginning of the cycle and about its nets, `after__NAME` about the
// state after it. In each case `prove` checks which of them hold, takes those as constants, and leaves the others out. So a
// mistake in this file cannot make a false statement pass.

module r700_facts #(
  parameter int LANES          = 64,
  parameter int MAX_STACK_SIZE = 32,
  parameter int SUBENTRIES     = 4,
  parameter int DX10_COUNT     = 0,
  localparam int Words  = SUBENTRIES * MAX_STACK_SIZE,
  localparam int SpBits = SUBENTRIES == 8 ? 11 : 10
) (
  input logic [SpBits-1:0] u_stack__sp_q,
  input logic [SpBits-1:0] u_stack__base_q,
  input logic [1:0]        u_stack__bkind_q,
  input logic              launch,
  input logic              commit,
  input logic              push_branch,
  input logic              push_loop,
  input logic              push_call,
  input logic              exit_loop,
  input logic              pop,
  input logic              drop,
  input logic [SpBits-1:0] next__u_stack__sp_q,
  input logic              exit_call,

  output logic [63:0]       before__one_request,
  output logic [Words-1:0]  before__base_not_above_sp,
  output logic [SpBits-1:0] before__exit_from_base,
  output logic              before__exit_from_loop,
  output logic [Words-1:0]  before__pop_above_base,
  output logic              before__exit_from_call,
  output logic [Words-1:0]  after__base_not_above_sp
);

  // No two of these requests at once.
  wire [7:0] requests = {launch, push_branch, push_loop, push_call, pop, drop, exit_loop, exit_call};
  for (genvar i = 0; i < 64; i++) begin : g_pair
    assign before__one_request[i] = i / 8 <= i % 8 || !(requests[i / 8] && requests[i % 8]);
  end

  for (genvar a = 0; a < Words; a++) begin : g_word
    assign before__base_not_above_sp[a] = a < u_stack__sp_q || u_stack__base_q != a + 1;
    // A pop ends at `base` or above it.
    assign before__pop_above_base[a] = !(commit && pop) || a < next__u_stack__sp_q || u_stack__base_q != a + 1;
  end
  assign after__base_not_above_sp = before__base_not_above_sp;

  // LOOP_END and RETURN find their frame on top.
  assign before__exit_from_base = ~(u_stack__base_q ^ u_stack__sp_q) | {SpBits{!(commit && (exit_loop || exit_call))}};
  assign before__exit_from_loop = !(commit && exit_loop) || u_stack__bkind_q == 2'd1;
  assign before__exit_from_call = !(commit && exit_call) || u_stack__bkind_q == 2'd2;

endmodule
