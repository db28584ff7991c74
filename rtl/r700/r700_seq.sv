// Control-flow sequencer of the R700: one wave of LANES lanes, one PC, one stack.
//
// An instruction is executed in a cycle if and only if a wave is running, stall_i is 0 and inst_valid_i
// is 1. It takes that one cycle, however many frames it pops (r700-3.5-a).
//
// Corner cases:
// * Reset overrides everything: even in mid-program the unit is idle at once, constants 0, PC 0, every
//   lane of class ACTIVE and none valid.
// * stall_i = 1: no register changes, exec_o, jump_o and the host port included.
// * Launch while running, and a host write while running: ignored. Launch after done or halted: starts.
//   A host write in the cycle of an accepted launch is accepted; the first instruction sees it.
// * A launch with an entry outside the program sets everything as any launch does, and halts: error 9.
// * inst_valid_i = 0: the unit waits, only exec_o and jump_o fall.
// * An instruction with an error changes only err, halted, running, exec_o and jump_o. The lowest code
//   wins.
// * END_OF_PROGRAM: done, jump or not; the PC advances as usual, and is not checked. The
//   stack must be empty after the instruction, not before it: a RETURN or a POP may end the program.
// * A CALL that nests too deep is not an error: it stays, and skipped_o is 1 until the next launch.
// * u_i and pred_i are used by ALU instructions only.
// * Every output is a register.

module r700_seq #(
  parameter int LANES          = 64,  // 1 to 64
  parameter int MAX_STACK_SIZE = 32,  // entries, 1 to 255
  parameter int SUBENTRIES     = 4,   // of an entry, 4 or 8 (r700-3.4-h)
  parameter int DX10_COUNT     = 0    // 1: LOOP_START_DX10 counts its passes (r700-4.3-z)
) (
  input  logic             clk_i,
  input  logic             rst_ni,         // synchronous, active low
  input  logic             stall_i,

  // Host: constants, accepted while no wave runs.
  input  logic             const_we_i,
  input  logic [5:0]       const_addr_i,   // 0..31 loop constants, 32 booleans
  input  logic [31:0]      const_wdata_i,

  // Host: start of a wave and its operands (r700-3.3-a).
  input  logic             launch_i,
  input  logic [31:0]      entry_i,        // address of the first instruction
  input  logic [31:0]      prog_len_i,     // quadwords that belong to the program
  input  logic [LANES-1:0] lane_mask_i,    // lanes that are covered
  input  logic [7:0]       stack_size_i,   // STACK_SIZE, entries

  // Instruction memory: the quadword at pc_o, in this cycle or any later one.
  output logic [31:0]      pc_o,
  input  logic             inst_valid_i,
  input  logic [31:0]      dw0_i,
  input  logic [31:0]      dw1_i,

  // The clause of an ALU instruction (r700-2.7), sampled when it executes.
  input  logic             u_i,            // it updates the execute mask
  input  logic [LANES-1:0] pred_i,

  // Lanes.
  output logic [LANES-1:0] active_o,       // class ACTIVE
  output logic [LANES-1:0] valid_o,        // covered and not killed
  output logic [31:0]      al_o,           // aL
  output logic [LANES-1:0] exec_o,         // executed the instruction of the previous cycle
  output logic             jump_o,         // that instruction jumped

  output logic             skipped_o,      // a CALL was too deep
  output logic             running_o,
  output logic             done_o,
  output logic             halted_o,
  output logic [3:0]       err_o           // r700_pkg::Err*
);

  // ---- registers -----------------------------------------------------------------------------------

  logic        running_d, running_q, done_d, done_q, halted_d, halted_q, jump_d, jump_q;
  logic        skipped_d, skipped_q;
  logic [3:0]  err_d, err_q;
  logic [31:0] pc_d, pc_q;
  logic [5:0]  depth_d, depth_q;
  logic [31:0] prog_len_q;

  // ---- the instruction -----------------------------------------------------------------------------

  logic       launch, step, commit;
  logic [3:0] kind;
  logic       is_alu, start_al, start_dx10, to_brk, push_before, vpm, last, illegal, field;
  logic [1:0] cond;
  logic [4:0] cf_const;
  logic [2:0] pops;
  logic [5:0] call_count;

  assign launch = launch_i & ~running_q & ~stall_i;
  assign step   = running_q & ~stall_i & inst_valid_i;

  r700_decode u_decode (
    .dw1_i,
    .kind_o        (kind),
    .is_alu_o      (is_alu),
    .start_al_o    (start_al),
    .start_dx10_o  (start_dx10),
    .to_brk_o      (to_brk),
    .push_before_o (push_before),
    .cond_o        (cond),
    .cf_const_o    (cf_const),
    .pops_o        (pops),
    .call_count_o  (call_count),
    .vpm_o         (vpm),
    .end_o         (last),
    .illegal_o     (illegal),
    .field_o       (field)
  );

  logic        is_start, is_end, bool_const, cond_ok;
  logic [11:0] count, first;
  logic [7:0]  inc_const;

  assign is_start = kind == r700_pkg::KindStart;
  assign is_end   = kind == r700_pkg::KindEnd;

  r700_consts u_consts (
    .clk_i,
    .rst_ni,
    .we_i      (const_we_i & ~running_q & ~stall_i),
    .waddr_i   (const_addr_i),
    .wdata_i   (const_wdata_i),
    .addr_i    (cf_const),
    .loop_re_i (step & is_start),
    .count_o   (count),
    .first_o   (first),
    .inc_o     (inc_const),
    .bool_o    (bool_const)
  );

  assign cond_ok = (cond == r700_pkg::CondActive) | ((cond == r700_pkg::CondBool) & bool_const) |
                   ((cond == r700_pkg::CondNotBool) & ~bool_const);

  // ---- the decision --------------------------------------------------------------------------------

  logic [LANES-1:0] active, st0, st1, may, pass, inverted, top_mask, pop_mask, frame_st0, frame_st1;
  logic             jump, again, too_deep, is_else, top_re;
  logic [6:0]       depth_sum;
  logic [5:0]       depth_called;

  // Instructions that read the frame on top.
  assign is_else = (kind == r700_pkg::KindElse) | ((kind == r700_pkg::KindAluElse) & ~u_i);
  assign top_re  = step & (is_else | is_end | (kind == r700_pkg::KindReturn));

  assign depth_sum    = {1'b0, depth_q} + {1'b0, call_count};
  assign depth_called = depth_sum[5:0];
  assign too_deep     = depth_sum > r700_pkg::DepthLimit;

  r700_vote #(
    .LANES(LANES)
  ) u_vote (
    .step_i        (step),
    .kind_i        (kind),
    .cond_i        (cond_ok),
    .vpm_i         (vpm),
    .never_enter_i ((count == 12'd0) & ~(start_dx10 & (DX10_COUNT == 0))),
    .again_i       (again),
    .too_deep_i    (too_deep),
    .active_i      (active),
    .st0_i         (st0),
    .st1_i         (st1),
    .valid_i       (valid_o),
    .top_mask_i    (top_mask),
    .may_o         (may),
    .pass_o        (pass),
    .inverted_o    (inverted),
    .jump_o        (jump)
  );

  // Requests to the stack. At most one is set; without frames to pop, `pop` is not set.
  logic push_branch, push_loop, push_call, pop, drop, exit_loop, exit_call;

  always_comb begin
    push_branch = 1'b0;
    push_loop   = 1'b0;
    push_call   = 1'b0;
    pop         = 1'b0;
    drop        = 1'b0;
    exit_loop   = 1'b0;
    exit_call   = 1'b0;
    if (step) begin
      unique case (kind)
        r700_pkg::KindJump,
        r700_pkg::KindElse:     pop = jump & |pops;
        r700_pkg::KindPush: begin
          push_branch = ~jump;
          pop         = jump & |pops;
        end
        r700_pkg::KindPushElse: push_branch = 1'b1;
        r700_pkg::KindPop,
        r700_pkg::KindAluPop:   pop = |pops;
        r700_pkg::KindStart: begin
          push_loop = ~jump;
          pop       = jump & |pops;
        end
        r700_pkg::KindEnd:      exit_loop = ~jump;
        r700_pkg::KindLeave:    drop = jump;
        r700_pkg::KindCall:     push_call = jump;
        r700_pkg::KindReturn:   exit_call = jump;
        r700_pkg::KindAlu:      push_branch = push_before;
        r700_pkg::KindAluElse:  push_branch = u_i;
        default: ;
      endcase
    end
  end

  r700_lanes #(
    .LANES(LANES)
  ) u_lanes (
    .clk_i,
    .rst_ni,
    .stall_i,
    .launch_i    (launch),
    .lane_mask_i,
    .step_i      (step),
    .commit_i    (commit),
    .kind_i      (kind),
    .is_alu_i    (is_alu),
    .to_brk_i    (to_brk),
    .cond_i      (cond_ok),
    .u_i,
    .pred_i,
    .may_i       (may),
    .pass_i      (pass),
    .inverted_i  (inverted),
    .jump_i      (jump),
    .pop_i       (pop),
    .pop_mask_i  (pop_mask),
    .frame_st0_i (frame_st0),
    .frame_st1_i (frame_st1),
    .active_o    (active),
    .st0_o       (st0),
    .st1_o       (st1),
    .valid_o,
    .exec_o
  );

  assign active_o = active;

  logic [1:0]  lt, frame_lt, bkind;
  logic [11:0] lc, frame_lc;
  logic [31:0] frame_al, frame_ret, pc_plus_1;
  logic [7:0]  inc, frame_inc;
  logic [5:0]  frame_depth;
  logic        open, underflow, overflow, empty;

  assign pc_plus_1 = pc_q + 32'd1;

  r700_loop #(
    .DX10_COUNT(DX10_COUNT)
  ) u_loop (
    .clk_i,
    .rst_ni,
    .launch_i     (launch),
    .start_i      (commit & push_loop),
    .start_al_i   (start_al),
    .start_dx10_i (start_dx10),
    .count_i      (count),
    .first_i      (first),
    .inc_i        (inc_const),
    .again_i      (commit & is_end & jump),
    .leave_i      (commit & exit_loop),
    .frame_lt_i   (frame_lt),
    .frame_lc_i   (frame_lc),
    .frame_al_i   (frame_al),
    .frame_inc_i  (frame_inc),
    .lt_o         (lt),
    .lc_o         (lc),
    .al_o,
    .inc_o        (inc),
    .again_o      (again)
  );

  r700_stack #(
    .LANES          (LANES),
    .MAX_STACK_SIZE (MAX_STACK_SIZE),
    .SUBENTRIES     (SUBENTRIES)
  ) u_stack (
    .clk_i,
    .rst_ni,
    .launch_i      (launch),
    .stack_size_i,
    .commit_i      (commit),
    .push_branch_i (push_branch),
    .push_loop_i   (push_loop),
    .push_call_i   (push_call),
    .pop_i         (pop),
    .pop_cnt_i     (pops),
    .drop_i        (drop),
    .exit_loop_i   (exit_loop),
    .exit_call_i   (exit_call),
    .active_i      (active),
    .st0_i         (st0),
    .st1_i         (st1),
    .lt_i          (lt),
    .lc_i          (lc),
    .al_i          (al_o),
    .inc_i         (inc),
    .ret_i         (pc_plus_1),
    .depth_i       (depth_q),
    .top_re_i      (top_re),
    .top_mask_o    (top_mask),
    .frame_ret_o   (frame_ret),
    .frame_depth_o (frame_depth),
    .pop_mask_o    (pop_mask),
    .frame_st0_o   (frame_st0),
    .frame_st1_o   (frame_st1),
    .frame_lt_o    (frame_lt),
    .frame_lc_o    (frame_lc),
    .frame_al_o    (frame_al),
    .frame_inc_o   (frame_inc),
    .bkind_o       (bkind),
    .open_o        (open),
    .underflow_o   (underflow),
    .overflow_o    (overflow),
    .empty_o       (empty)
  );

  logic [31:0] pc_next;
  assign pc_next = ~jump ? pc_plus_1 : exit_call ? frame_ret : dw0_i;

  // ---- errors: the lowest code wins (r700-6-b) -----------------------------------------------------

  logic       no_loop, loop_open, no_call, no_frame, end_stack, pc_range, fault;
  logic [3:0] err;

  assign no_loop   = (is_end | (kind == r700_pkg::KindLeave) | (kind == r700_pkg::KindAluLeave)) &
                     (bkind != r700_pkg::FrameLoop);
  assign loop_open = is_end & open;
  assign no_call   = (kind == r700_pkg::KindReturn) & ((bkind != r700_pkg::FrameCall) | open);
  assign no_frame  = is_else & ~open;
  assign end_stack = last & ~empty;
  assign pc_range  = ~last & (pc_next >= prog_len_q);

  assign fault  = step & (illegal | field | no_loop | loop_open | no_call | no_frame | underflow |
                          overflow | end_stack | pc_range);
  assign commit = step & ~fault;

  always_comb begin
    err = r700_pkg::ErrOk;
    if (fault) begin
      if (illegal)                   err = r700_pkg::ErrIllegal;
      else if (field)                err = r700_pkg::ErrField;
      else if (no_loop)              err = r700_pkg::ErrNoLoop;
      else if (loop_open)            err = r700_pkg::ErrLoopOpen;
      else if (no_call)              err = r700_pkg::ErrNoCall;
      else if (no_frame | underflow) err = r700_pkg::ErrUnderflow;
      else if (overflow)             err = r700_pkg::ErrOverflow;
      else if (end_stack)            err = r700_pkg::ErrEndStack;
      else                           err = r700_pkg::ErrPcRange;
    end
  end

  // ---- PC, call depth and status -------------------------------------------------------------------

  logic entry_ok;
  assign entry_ok = entry_i < prog_len_i;

  always_comb begin
    running_d = running_q;
    done_d    = done_q;
    halted_d  = halted_q;
    err_d     = err_q;
    jump_d    = jump_q;
    skipped_d = skipped_q;
    pc_d      = pc_q;
    depth_d   = depth_q;
    if (!stall_i) begin
      jump_d = commit & jump;
      if (!running_q) begin
        if (launch_i) begin
          running_d = entry_ok;
          done_d    = 1'b0;
          halted_d  = ~entry_ok;
          err_d     = entry_ok ? r700_pkg::ErrOk : r700_pkg::ErrPcRange;
          skipped_d = 1'b0;
          pc_d      = entry_i;
          depth_d   = 6'd0;
        end
      end else if (fault) begin
        running_d = 1'b0;
        halted_d  = 1'b1;
        err_d     = err;
      end else if (inst_valid_i) begin
        pc_d = pc_next;
        if (last) begin
          running_d = 1'b0;
          done_d    = 1'b1;
        end
        if (push_call) begin
          depth_d = depth_called;
        end else if (exit_call) begin
          depth_d = frame_depth;
        end
        if ((kind == r700_pkg::KindCall) & too_deep & |pass) begin
          skipped_d = 1'b1;
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
      jump_q    <= 1'b0;
      skipped_q <= 1'b0;
      pc_q      <= '0;
      depth_q   <= '0;
    end else begin
      running_q <= running_d;
      done_q    <= done_d;
      halted_q  <= halted_d;
      err_q     <= err_d;
      jump_q    <= jump_d;
      skipped_q <= skipped_d;
      pc_q      <= pc_d;
      depth_q   <= depth_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      prog_len_q <= '0;
    end else if (launch) begin
      prog_len_q <= prog_len_i;
    end
  end

  assign pc_o      = pc_q;
  assign jump_o    = jump_q;
  assign skipped_o = skipped_q;
  assign running_o = running_q;
  assign done_o    = done_q;
  assign halted_o  = halted_q;
  assign err_o     = err_q;

endmodule
