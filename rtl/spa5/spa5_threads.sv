// Which threads run, and what the others wait for: the active mask and all flags (spa5-3, spa5-4.3, spa5-4.4).
//
// Corner cases:
// * A thread that executed SYNC, or waits in a DIV token, has no bit here: it is neither active nor
//   flagged, and comes back through the mask of a token.
// * A popped token first clears the flags of its own type, then resumes its threads that have no flag left.
//   `exited` and `killed` are cleared by a launch only (spa5-3-f, spa5-3-q).
// * A token that resumes no thread leaves `active` empty, as it was.
// * At most one of the requests is set: a launch is accepted only while nothing runs, and the cycles of an
//   unwind execute nothing.

module spa5_threads #(
  parameter int LANES = 32
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic             launch_i,
  input  logic [LANES-1:0] launch_mask_i,

  input  logic             leave_i,        // a leaving instruction
  input  logic [3:0]       flag_i,         // flag that they set: {exited, d_ret, d_cont, d_brk}; SYNC none
  input  logic             kill_i,         // by KIL
  input  logic [LANES-1:0] taken_i,        // threads that leave

  input  logic             split_i,        // a branch that divides the threads
  input  logic [LANES-1:0] stay_i,         // threads that go on

  input  logic             pop_i,          // a token
  input  logic [2:0]       token_i,        // its type, spa5_pkg::Token*
  input  logic [LANES-1:0] mask_i,         // its mask
  output logic             resumed_o,      // and it resumes a thread

  output logic [LANES-1:0] active_o,
  output logic [LANES-1:0] killed_o
);

  logic [LANES-1:0] active_d, active_q, exited_d, exited_q, killed_d, killed_q;
  logic [LANES-1:0] d_brk_d, d_brk_q, d_cont_d, d_cont_q, d_ret_d, d_ret_q;
  logic             to_brk, to_cont, to_ret, to_exit;

  assign {to_exit, to_ret, to_cont, to_brk} = flag_i;

  always_comb begin
    active_d  = active_q;
    exited_d  = exited_q;
    killed_d  = killed_q;
    d_brk_d   = d_brk_q;
    d_cont_d  = d_cont_q;
    d_ret_d   = d_ret_q;
    resumed_o = 1'b0;
    if (launch_i) begin
      active_d = launch_mask_i;  // spa5-3-e
      exited_d = ~launch_mask_i;
      killed_d = '0;
      d_brk_d  = '0;  // spa5-3-g
      d_cont_d = '0;
      d_ret_d  = '0;
    end else if (leave_i) begin
      active_d = active_q & ~taken_i;  // spa5-4.3-h
      if (to_brk)  d_brk_d  = d_brk_q  | taken_i;
      if (to_cont) d_cont_d = d_cont_q | taken_i;
      if (to_ret)  d_ret_d  = d_ret_q  | taken_i;
      if (to_exit) exited_d = exited_q | taken_i;
      if (kill_i)  killed_d = killed_q | taken_i;
    end else if (split_i) begin
      active_d = stay_i;
    end else if (pop_i) begin
      if (token_i == spa5_pkg::TokenPbk)  d_brk_d  = d_brk_q  & ~mask_i;  // spa5-4.4-c
      if (token_i == spa5_pkg::TokenPcnt) d_cont_d = d_cont_q & ~mask_i;
      if (token_i == spa5_pkg::TokenRet)  d_ret_d  = d_ret_q  & ~mask_i;
      active_d  = mask_i & ~(d_brk_d | d_cont_d | d_ret_d | exited_q);  // spa5-4.4-d
      resumed_o = |active_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      active_q <= '0;
      exited_q <= '1;
      killed_q <= '0;
      d_brk_q  <= '0;
      d_cont_q <= '0;
      d_ret_q  <= '0;
    end else begin
      active_q <= active_d;
      exited_q <= exited_d;
      killed_q <= killed_d;
      d_brk_q  <= d_brk_d;
      d_cont_q <= d_cont_d;
      d_ret_q  <= d_ret_d;
    end
  end

  assign active_o = active_q;
  assign killed_o = killed_q;

endmodule
