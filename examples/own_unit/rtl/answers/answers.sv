// Answers requests out of order: four at a time, each after as many cycles as the lowest two bits of its data say. The answer is the data
// plus 1. Answers of one tag come in the order of their requests: a request waits while another one with its tag is there.
module answers (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       req_valid_i,
  output logic       req_ready_o,
  input  logic [1:0] req_tag_i,
  input  logic [7:0] req_data_i,
  output logic       rsp_valid_o,
  input  logic       rsp_ready_i,
  output logic [1:0] rsp_tag_o,
  output logic [7:0] rsp_data_o
);

  logic [3:0] busy_q, same, done;
  logic [1:0] tag_q [4], wait_q[4];
  logic [7:0] data_q[4];
  logic [1:0] free, next, slot_q;
  logic       valid_q, take, leave;

  for (genvar i = 0; i < 4; i++) begin : gen_slots
    assign same[i] = busy_q[i] && tag_q[i] == req_tag_i;
    assign done[i] = busy_q[i] && wait_q[i] == 2'd0 && !(valid_q && slot_q == 2'(i));
  end

  // The lowest free slot, and the lowest one with an answer.
  always_comb begin
    free = 2'd0;
    next = 2'd0;
    for (int i = 3; i >= 0; i--) begin
      if (!busy_q[i]) free = 2'(i);
      if (done[i]) next = 2'(i);
    end
  end

  assign req_ready_o = busy_q != 4'hf && same == 4'h0;
  assign rsp_valid_o = valid_q;
  assign rsp_tag_o   = tag_q[slot_q];
  assign rsp_data_o  = data_q[slot_q] + 8'd1;
  assign take        = req_valid_i && req_ready_o;
  assign leave       = valid_q && rsp_ready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q  <= 4'h0;
      valid_q <= 1'b0;
    end else begin
      for (int i = 0; i < 4; i++) if (busy_q[i] && wait_q[i] != 2'd0) wait_q[i] <= wait_q[i] - 2'd1;
      if (leave) busy_q[slot_q] <= 1'b0;
      if (take) begin
        busy_q[free] <= 1'b1;
        tag_q[free]  <= req_tag_i;
        data_q[free] <= req_data_i;
        wait_q[free] <= req_data_i[1:0];
      end
      if (!valid_q || leave) begin
        valid_q <= done != 4'h0;
        slot_q  <= next;
      end
    end
  end

endmodule
