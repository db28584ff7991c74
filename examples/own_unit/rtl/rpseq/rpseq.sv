// A sequencer for lanes that part and meet again. It runs one instruction a cycle, for the active lanes, and keeps those that
// wait on a stack of reconvergence points. The memory answers pc_o with inst_i, at once or some cycles later.
//
//   inst_i[19:16]  inst_i[15:0]
//   0 ALU                  nothing of it matters here
//   1 SSY          target  push the active lanes: there they will meet
//   2 BR           target  lanes whose cond_i is 1 go to target. If some do and some do not, these wait: push them
//   3 JOIN                 the lanes on top of the stack go on where the entry says; the active ones have arrived
//   4 YIELD                the active lanes change places with those on top, if none is in both; otherwise nothing
//   5 JMP          target  go on there
//   6 END                  the program is done, if nothing is on the stack
//
// Anything else is an error, and so are a push without room (2), JOIN without an entry (3) and END with one (4). An error ends
// the program where it stands. Reset counts before stall_i, and stall_i before all else. The rules: docs/spec/rpseq.md.
module rpseq #(
  parameter int unsigned LANES = 8,
  parameter int unsigned DEPTH = 4
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             stall_i,
  input  logic             launch_i,
  input  logic [LANES-1:0] lanes_i,
  input  logic             inst_valid_i,
  input  logic [19:0]      inst_i,
  input  logic [LANES-1:0] cond_i,
  output logic             running_o,
  output logic             done_o,
  output logic [2:0]       err_o,
  output logic [15:0]      pc_o,
  output logic [LANES-1:0] active_o
);

  localparam logic [3:0] Ssy = 4'd1, Br = 4'd2, Join = 4'd3, Yield = 4'd4, Jmp = 4'd5, End = 4'd6;

  logic             running_q, done_q;
  logic [2:0]       err_q;
  logic [15:0]      pc_q;
  logic [LANES-1:0] active_q;

  logic [3:0]       op;
  logic [15:0]      target, next;
  logic [LANES-1:0] taken, stays;
  logic             parts, swaps, pushes, launches, steps, runs;
  logic [2:0]       err;

  logic             full, empty;
  logic [LANES-1:0] top_mask;
  logic [15:0]      top_pc;

  assign {op, target} = inst_i;
  assign next  = pc_q + 16'd1;
  assign taken = active_q & cond_i;
  assign stays = active_q & ~cond_i;

  assign parts  = op == Br && taken != '0 && stays != '0;
  assign swaps  = op == Yield && !empty && (top_mask & active_q) == '0;
  assign pushes = op == Ssy || parts;

  always_comb begin
    err = 3'd0;
    if (op > End) err = 3'd1;
    if (pushes && full) err = 3'd2;
    if (op == Join && empty) err = 3'd3;
    if (op == End && !empty) err = 3'd4;
  end

  assign launches = launch_i && !running_q && !stall_i;
  assign steps    = running_q && inst_valid_i && !stall_i;
  assign runs     = steps && err == 3'd0;

  rpstack #(
    .LANES(LANES),
    .DEPTH(DEPTH)
  ) u_stack (
    .clk_i,
    // A launch forgets what an error left there.
    .rst_ni (rst_ni && !launches),
    .push_i (runs && (pushes || swaps)),
    .pop_i  (runs && (op == Join || swaps)),
    .mask_i (op == Br ? stays : active_q),
    .pc_i   (op == Ssy ? target : next),
    .full_o (full),
    .empty_o(empty),
    .mask_o (top_mask),
    .pc_o   (top_pc)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      running_q <= 1'b0;
      done_q    <= 1'b0;
      err_q     <= 3'd0;
      pc_q      <= 16'd0;
      active_q  <= '0;
    end else if (launches) begin
      running_q <= 1'b1;
      done_q    <= 1'b0;
      err_q     <= 3'd0;
      pc_q      <= 16'd0;
      active_q  <= lanes_i;
    end else if (steps && (err != 3'd0 || op == End)) begin
      running_q <= 1'b0;
      done_q    <= err == 3'd0;
      err_q     <= err;
    end else if (steps) begin
      if (op == Join || swaps) begin
        pc_q     <= top_pc;
        active_q <= top_mask;
      end else if (op == Jmp || op == Br && taken != '0) begin
        pc_q <= target;
        if (parts) active_q <= taken;
      end else begin
        pc_q <= next;
      end
    end
  end

  assign running_o = running_q;
  assign done_o    = done_q;
  assign err_o     = err_q;
  assign pc_o      = pc_q;
  assign active_o  = active_q;

endmodule
