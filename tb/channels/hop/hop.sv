// A register between two channels, logic between two others, and a channel on which offers may be withdrawn; with faults, of which
// +reconverge_mutant selects one; 0: none.
module hop (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       stall_i,
  input  logic       put_valid_i,
  input  logic [7:0] put_data_i,
  output logic       put_ready_o,
  output logic       get_valid_o,
  output logic [7:0] get_data_o,
  input  logic       get_ready_i,
  input  logic       near_valid_i,
  input  logic [3:0] near_data_i,
  output logic       near_ready_o,
  output logic       far_valid_o,
  output logic [3:0] far_data_o,
  input  logic       far_ready_i,
  input  logic       try_valid_i,
  input  logic [2:0] try_data_i,
  output logic       try_ready_o,
  output logic [7:0] sum_o
);

  int         fault;
  logic       full_q, odd_q;
  logic [7:0] data_q, sum_q;
  logic [2:0] wait_q;

  initial if (!$value$plusargs("reconverge_mutant=%d", fault)) fault = 0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      full_q <= 1'b0;
      data_q <= 8'h00;
      sum_q  <= 8'h00;
      wait_q <= 3'd0;
      odd_q  <= 1'b0;
    end else if (!stall_i) begin
      if (put_valid_i && put_ready_o) {full_q, data_q} <= {1'b1, put_data_i};
      else if (get_valid_o && get_ready_i) full_q <= 1'b0;
      if (get_valid_o && !get_ready_i) begin
        if (fault == 1 && put_valid_i) data_q <= put_data_i;  // the payload changes during a stall
        if (fault == 2) full_q <= 1'b0;                       // valid is taken back
      end
      odd_q  <= near_valid_i;
      wait_q <= wait_q + 3'd1;
      if (try_valid_i && try_ready_o) sum_q <= sum_q + 8'(try_data_i);
    end
  end

  assign put_ready_o  = !full_q;
  assign get_valid_o  = full_q;
  assign get_data_o   = full_q ? data_q : 8'h00;
  assign near_ready_o = far_ready_i;
  assign far_valid_o  = near_valid_i && !(fault == 3 && odd_q && !far_ready_i);  // a stall lasts for one cycle
  assign far_data_o   = far_valid_o ? ~near_data_i : 4'h0;
  assign try_ready_o  = wait_q[1:0] == 2'd3;
  assign sum_o        = sum_q;

endmodule
