// Flow-control sequencer of the R5xx pixel shader: one wavefront of LANES pixels, one PC.
//
// An instruction is executed in a cycle if and only if a program is running, stall_i is 0, inst_valid_i
// is 1 and the PC lies in the code window. It takes that one cycle, FC or not (contract-3-a, contract-3-d).
//
// Corner cases:
// * Reset overrides everything: even in mid-program the unit is idle at once, constants 0, lanes ACTIVE, PC 0.
// * stall_i = 1: no register changes, alu_clr_o and the host port included.
// * Launch while running, and a host write while running: ignored. Launch after done or halted: starts.
//   A host write in the cycle of an accepted launch is accepted; the first instruction sees it.
// * A launch checks nothing. PC outside the code window: error 9 in the first cycle that is not stalled,
//   whether or not inst_valid_i is set, because a memory has nothing to return there. A program that
//   runs off its end stops in this way.
// * inst_valid_i = 0 with PC in the window: the unit waits, only alu_clr_o falls.
// * An instruction with an error changes only err, halted and running; alu_clr_o falls. The lowest code wins.
// * END_ADDR: the instruction there is the last even if it jumps; an error there has priority over done.
// * The PC has ten bits because OFFSET_ADDR plus an address can reach 1022. It never wraps: from
//   inside the window PC + 1 is at most 512.
// * Every output is a register.

module r500_seq #(
  parameter int LANES = 16  // 1 to 64
) (
  input  logic             clk_i,
  input  logic             rst_ni,         // synchronous, active low
  input  logic             stall_i,

  // Host: constants, accepted while no program runs.
  input  logic             const_we_i,
  input  logic [5:0]       const_addr_i,   // 0..31 US_FC_INT_CONST_n, 32 US_FC_BOOL_CONST
  input  logic [31:0]      const_wdata_i,

  // Host: start of a program, with the control registers it runs under (r500-2.1-d to r500-2.1-g).
  input  logic             launch_i,
  input  logic [31:0]      fc_ctrl_i,      // US_FC_CTRL
  input  logic [31:0]      code_addr_i,    // US_CODE_ADDR
  input  logic [31:0]      code_range_i,   // US_CODE_RANGE
  input  logic [31:0]      code_offset_i,  // US_CODE_OFFSET

  // Instruction memory: the instruction at pc_o, in this cycle or any later one.
  output logic [9:0]       pc_o,
  input  logic             inst_valid_i,
  input  logic [31:0]      cmn_inst_i,     // US_CMN_INST
  input  logic [31:0]      fc_inst_i,      // US_FC_INST
  input  logic [31:0]      fc_addr_i,      // US_FC_ADDR

  // Lanes, sampled when an FC instruction executes.
  input  logic [LANES-1:0] alu_i,          // ALU-result bit
  input  logic [LANES-1:0] pred_r_i,
  input  logic [LANES-1:0] pred_g_i,
  input  logic [LANES-1:0] pred_b_i,
  input  logic [LANES-1:0] pred_a_i,
  input  logic [LANES-1:0] cov_i,          // covered bit
  output logic [LANES-1:0] active_o,       // class ACTIVE: the lanes that execute instructions
  output logic [7:0]       al_o,           // aL of the top loop frame, 0 with no frame
  output logic             alu_clr_o,      // an FC instruction was executed: clear the ALU-result bits

  output logic             running_o,
  output logic             done_o,
  output logic             halted_o,
  output logic [3:0]       err_o           // r500_pkg::Err*
);

  // ---- registers -----------------------------------------------------------------------------------

  logic       running_d, running_q, done_d, done_q, halted_d, halted_q, alu_clr_d, alu_clr_q;
  logic [3:0] err_d, err_q;
  logic [9:0] pc_d, pc_q;

  // Control registers of the running program, in the form that the unit uses.
  logic       full_q;
  logic [9:0] offset_q;
  logic [9:0] end_q;       // absolute address of the last instruction
  logic [9:0] lo_q, hi_q;  // code window, both ends inclusive

  // ---- the instruction -----------------------------------------------------------------------------

  logic       is_fc, is_begin, is_end, is_break, is_cont, is_rep, illegal, partial;
  logic       pred_inv, b_else, jump_any, a_push, a_pop, ignore_uncovered, jump_global, bool_const;
  logic [2:0] pred_sel;
  logic [7:0] jump_func, kr, kg, kb;
  logic [4:0] b_pop_cnt, bool_addr, int_addr;
  logic [1:0] b_op0, b_op1;
  logic [8:0] jump_addr;

  logic launch, in_window, step, commit;

  assign launch    = launch_i & ~running_q & ~stall_i;
  assign in_window = (pc_q >= lo_q) & (pc_q <= hi_q);
  assign step      = running_q & ~stall_i & inst_valid_i & in_window & is_fc;

  r500_decode u_decode (
    .cmn_inst_i,
    .fc_inst_i,
    .fc_addr_i,
    .full_i             (full_q),
    .is_fc_o            (is_fc),
    .pred_sel_o         (pred_sel),
    .pred_inv_o         (pred_inv),
    .is_begin_o         (is_begin),
    .is_end_o           (is_end),
    .is_break_o         (is_break),
    .is_cont_o          (is_cont),
    .is_rep_o           (is_rep),
    .b_else_o           (b_else),
    .jump_any_o         (jump_any),
    .a_push_o           (a_push),
    .a_pop_o            (a_pop),
    .jump_func_o        (jump_func),
    .b_pop_cnt_o        (b_pop_cnt),
    .b_op0_o            (b_op0),
    .b_op1_o            (b_op1),
    .ignore_uncovered_o (ignore_uncovered),
    .bool_addr_o        (bool_addr),
    .int_addr_o         (int_addr),
    .jump_addr_o        (jump_addr),
    .jump_global_o      (jump_global),
    .illegal_o          (illegal),
    .partial_o          (partial)
  );

  r500_consts u_consts (
    .clk_i,
    .rst_ni,
    .we_i        (const_we_i & ~running_q & ~stall_i),
    .waddr_i     (const_addr_i),
    .wdata_i     (const_wdata_i),
    .int_re_i    (step & (is_begin | is_end)),
    .int_addr_i  (int_addr),
    .kr_o        (kr),
    .kg_o        (kg),
    .kb_o        (kb),
    .bool_addr_i (bool_addr),
    .bool_o      (bool_const)
  );

  // ---- the decision and what follows from it -------------------------------------------------------

  logic [LANES-1:0] now_active, now_branch, now_cont, else_off, disagree;
  logic             jump, incr, decr, branch_overflow;
  logic [1:0]       b_op;
  logic             loop_push, loop_pop, loop_back, loop_top_rep, loop_last, loop_empty, loop_full;
  logic             addr_push, addr_pop, addr_empty, addr_full;
  logic [9:0]       addr_top, target, pc_next;

  r500_vote #(
    .LANES(LANES)
  ) u_vote (
    .step_i             (step),
    .jump_func_i        (jump_func),
    .jump_any_i         (jump_any),
    .ignore_uncovered_i (ignore_uncovered),
    .pred_sel_i         (pred_sel),
    .pred_inv_i         (pred_inv),
    .bool_i             (bool_const),
    .is_break_i         (is_break),
    .is_cont_i          (is_cont),
    .force_jump_i       (is_begin & (kr == 8'd0)),
    .force_stay_i       (is_end & loop_last),
    .alu_i,
    .pred_r_i,
    .pred_g_i,
    .pred_b_i,
    .pred_a_i,
    .cov_i,
    .active_i           (now_active),
    .branch_i           (now_branch),
    .cont_i             (now_cont),
    .else_off_i         (else_off),
    .jump_o             (jump),
    .disagree_o         (disagree)
  );

  assign b_op = jump ? b_op1 : b_op0;
  assign incr = b_op == r500_pkg::BOpIncr;
  assign decr = b_op == r500_pkg::BOpDecr;

  assign loop_push = is_begin & ~jump;
  assign loop_pop  = (is_end & ~jump) | (is_break & jump);
  assign loop_back = is_end & jump;
  assign addr_push = a_push & jump;
  assign addr_pop  = a_pop & jump;

  r500_lanes #(
    .LANES(LANES)
  ) u_lanes (
    .clk_i,
    .rst_ni,
    .clear_i      (launch),
    .step_i       (step),
    .commit_i     (commit),
    .b_else_i     (b_else),
    .is_end_i     (is_end),
    .active_o,
    .now_active_o (now_active),
    .now_branch_o (now_branch),
    .now_cont_o   (now_cont),
    .else_off_o   (else_off),
    .disagree_i   (disagree),
    .to_brk_i     (is_break & ~jump),
    .to_cont_i    (is_cont & ~jump),
    .incr_i       (incr),
    .decr_i       (decr),
    .pop_cnt_i    (b_pop_cnt),
    .loop_push_i  (loop_push),
    .loop_pop_i   (loop_pop),
    .full_i       (full_q),
    .overflow_o   (branch_overflow)
  );

  r500_loop_stack u_loop_stack (
    .clk_i,
    .rst_ni,
    .clear_i   (launch),
    .push_i    (commit & loop_push),
    .pop_i     (commit & loop_pop),
    .back_i    (commit & loop_back),
    .rep_i     (is_rep),
    .count_i   (kr),
    .init_i    (kg),
    .step_i    (kb),
    .al_o,
    .top_rep_o (loop_top_rep),
    .last_o    (loop_last),
    .empty_o   (loop_empty),
    .full_o    (loop_full)
  );

  r500_addr_stack u_addr_stack (
    .clk_i,
    .rst_ni,
    .clear_i (launch),
    .push_i  (commit & addr_push),
    .pop_i   (commit & addr_pop),
    .addr_i  (pc_q + 10'd1),
    .top_o   (addr_top),
    .empty_o (addr_empty),
    .full_o  (addr_full)
  );

  assign target  = {1'b0, jump_addr} + (jump_global ? 10'd0 : offset_q);
  assign pc_next = ~jump ? pc_q + 10'd1 : addr_pop ? addr_top : target;

  // ---- errors: the lowest code wins (r500-6-b) -----------------------------------------------------

  logic       loop_underflow, loop_kind, loop_overflow, addr_overflow, addr_underflow, pc_range, fault;
  logic [3:0] err;

  assign loop_underflow = (is_end | is_break | is_cont) & loop_empty;
  assign loop_kind      = (is_end | is_break) & (loop_top_rep ^ is_rep);
  assign loop_overflow  = loop_push & loop_full;
  assign addr_overflow  = addr_push & addr_full;
  assign addr_underflow = addr_pop & addr_empty;
  assign pc_range       = jump & ((pc_next < lo_q) | (pc_next > hi_q));

  assign fault  = step & (illegal | partial | loop_underflow | loop_kind | loop_overflow |
                          addr_overflow | addr_underflow | branch_overflow | pc_range);
  assign commit = step & ~fault;

  always_comb begin
    err = r500_pkg::ErrOk;
    if (fault) begin
      if (illegal)              err = r500_pkg::ErrIllegal;
      else if (partial)         err = r500_pkg::ErrPartial;
      else if (loop_underflow)  err = r500_pkg::ErrLoopUnderflow;
      else if (loop_kind)       err = r500_pkg::ErrLoopKind;
      else if (loop_overflow)   err = r500_pkg::ErrLoopOverflow;
      else if (addr_overflow)   err = r500_pkg::ErrAddrOverflow;
      else if (addr_underflow)  err = r500_pkg::ErrAddrUnderflow;
      else if (branch_overflow) err = r500_pkg::ErrBranchOverflow;
      else                      err = r500_pkg::ErrPcRange;
    end
  end

  // ---- control registers at a launch ---------------------------------------------------------------

  logic       full_fc_en;
  logic [9:0] offset, start_addr, end_addr, code_lo, code_hi;

  assign full_fc_en = fc_ctrl_i[31];
  assign offset     = {1'b0, code_offset_i[8:0]};
  assign start_addr = {1'b0, code_addr_i[8:0]} + offset;
  assign end_addr   = {1'b0, code_addr_i[24:16]} + offset;
  assign code_lo    = {1'b0, code_range_i[8:0]};
  assign code_hi    = {1'b0, code_range_i[24:16]} + code_lo;  // may exceed the last address

  // ---- PC and status -------------------------------------------------------------------------------

  always_comb begin
    running_d = running_q;
    done_d    = done_q;
    halted_d  = halted_q;
    err_d     = err_q;
    alu_clr_d = alu_clr_q;
    pc_d      = pc_q;
    if (!stall_i) begin
      alu_clr_d = commit;
      if (!running_q) begin
        if (launch_i) begin
          running_d = 1'b1;
          done_d    = 1'b0;
          halted_d  = 1'b0;
          err_d     = r500_pkg::ErrOk;
          pc_d      = start_addr;
        end
      end else if (!in_window) begin
        running_d = 1'b0;
        halted_d  = 1'b1;
        err_d     = r500_pkg::ErrPcRange;
      end else if (fault) begin
        running_d = 1'b0;
        halted_d  = 1'b1;
        err_d     = err;
      end else if (inst_valid_i) begin
        pc_d = is_fc ? pc_next : pc_q + 10'd1;
        if (pc_q == end_q) begin
          running_d = 1'b0;
          done_d    = 1'b1;
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      running_q <= 1'b0;
      done_q    <= 1'b0;
      halted_q  <= 1'b0;
      err_q     <= '0;
      alu_clr_q <= 1'b0;
      pc_q      <= '0;
    end else begin
      running_q <= running_d;
      done_q    <= done_d;
      halted_q  <= halted_d;
      err_q     <= err_d;
      alu_clr_q <= alu_clr_d;
      pc_q      <= pc_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      full_q   <= 1'b0;
      offset_q <= '0;
      end_q    <= '0;
      lo_q     <= '0;
      hi_q     <= '0;
    end else if (launch) begin
      full_q   <= full_fc_en;
      offset_q <= offset;
      end_q    <= end_addr;
      lo_q     <= code_lo;
      hi_q     <= (code_hi > r500_pkg::LastAddr) ? r500_pkg::LastAddr : code_hi;
    end
  end

  assign pc_o      = pc_q;
  assign alu_clr_o = alu_clr_q;
  assign running_o = running_q;
  assign done_o    = done_q;
  assign halted_o  = halted_q;
  assign err_o     = err_q;

  // Reserved bits, and TEST_EN, which has no effect in the hardware either.
  logic unused_bits;
  assign unused_bits = ^{fc_ctrl_i[30:0], code_addr_i[31:25], code_addr_i[15:9], code_range_i[31:25],
                         code_range_i[15:9], code_offset_i[31:9]};

endmodule
