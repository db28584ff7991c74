// A round-robin arbiter of three channels, with credits and a queue of two entries.
//
// In each cycle it takes one request, if there is room in the queue and a credit: the first behind the one that it took last, in the
// order 0, 1, 2, 0, ... A request takes a credit with it. There are four; with each cycle of `credit_i` the receiver gives one back,
// of a request that it has got. What was taken leaves in the order in which it came, with the number of its channel.
//
// Valid and payload of a request stay until it is taken, and so do those of the queue.
module rr_arb (
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic [2:0]      req_valid_i,
  input  logic [2:0][7:0] req_data_i,
  output logic [2:0]      req_ready_o,
  output logic            gnt_valid_o,
  output logic [1:0]      gnt_from_o,
  output logic [7:0]      gnt_data_o,
  input  logic            gnt_ready_i,
  input  logic            credit_i
);

  logic [1:0] last_q, next, from;
  logic       any, take, pop;
  logic [2:0] credits_q;
  logic [1:0] count_q;
  logic [9:0] head_q, tail_q, taken;

  // ---- which request is next ----

  // The nearest one is found last.
  always_comb begin
    any  = 1'b0;
    from = 2'd0;
    next = last_q;
    for (int i = 0; i < 3; i++) begin
      if (req_valid_i[next]) begin
        any  = 1'b1;
        from = next;
      end
      next = next == 2'd0 ? 2'd2 : next - 2'd1;
    end
  end

  assign take  = any && count_q != 2'd2 && credits_q != 3'd0;
  assign taken = {from, req_data_i[from]};

  assign req_ready_o = take ? 3'b001 << from : 3'b000;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      last_q    <= 2'd2;
      credits_q <= 3'd4;
    end else begin
      if (take) last_q <= from;
      credits_q <= credits_q - 3'(take) + 3'(credit_i);
    end
  end

  // ---- the queue ----

  assign pop = gnt_valid_o && gnt_ready_i;

  assign gnt_valid_o              = count_q != 2'd0;
  assign {gnt_from_o, gnt_data_o} = head_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) count_q <= 2'd0;
    else count_q <= count_q + 2'(take) - 2'(pop);
  end

  always_ff @(posedge clk_i) begin
    if (pop && count_q == 2'd2) head_q <= tail_q;
    else if (take && (pop || count_q == 2'd0)) head_q <= taken;
    if (take && !pop) tail_q <= taken;
  end

endmodule
