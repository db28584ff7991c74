// Call/return stack unit of SPA 5.0: one warp of LANES threads, one PC, one stack of DEPTH tokens.
//
// In status RUN, with the PC in the program, a cycle executes one instruction if and only if stall_i is 0 and
// inst_valid_i is 1. In status UNWIND a cycle pops one token if and only if stall_i is 0 (spa5-3-m, spa5-3-n).
//
// Corner cases:
// * Reset overrides everything: even in mid-program the unit is DONE at once, PC 8, every thread exited (spa5-3-o).
// * stall_i = 1: no register changes, a launch is not accepted.
// * Launch in RUN or UNWIND: ignored. In DONE or ERR: accepted (spa5-4.1-a); with an empty mask DONE at once (spa5-3-b).
// * inst_valid_i = 0: the unit waits, unless PC is outside the program: no memory has anything to return
//   there, so error 6 does not wait for inst_valid_i.
// * An instruction with an error changes only status and err (spa5-6-a, spa5-4.1-f). Order of the checks: 6, 9,
//   10, 8, 7, 5; 1 to 4 never coincide with another (spa5-6-b).
// * A branch that no thread takes, and a leaving instruction that no thread executes, can have only errors 6, 9, 10.
// * BRA.U and JMP.U branch with all active threads or not at all (spa5-4.3-c).
// * The program may lie anywhere in 32 bits, up to the last byte. The PC after the very last bundle is 8, which
//   is then outside.
// * The leaving instruction that empties `active` changes flags, `active` and status. PC and stack change
//   only in the cycles of status UNWIND; if the stack runs out, which is DONE, the PC does not change at all.
// * BRX and JMX (spa5-A), if built: if the condition divides the threads, the PC stays, and those that take it
//   execute it again; if the register divides them, the threads with the value of the lowest go on, and the
//   token of the others leads back to the instruction.
// * Every output is a register.

module spa5_seq #(
  parameter int LANES = 32,  // threads, 1 to 64 (spa5-3-a)
  parameter int DEPTH = 64,  // tokens, 1 to 1024
  parameter int BRX   = 0,   // 1: with BRX and JMX
  parameter int CSM   = 0    // 1: with the CC tests 24 to 31
) (
  input  logic                clk_i,
  input  logic                rst_ni,         // synchronous, active low
  input  logic                stall_i,

  // Host: start of a warp and its operands (spa5-3).
  input  logic                launch_i,
  input  logic [31:0]         entry_i,        // bytes from the base on
  input  logic [31:0]         prog_base_i,    // byte address
  input  logic [31:0]         prog_size_i,    // bytes
  input  logic [LANES-1:0]    launch_mask_i,

  // Instruction memory: the word at pc_o, in this cycle or any later one.
  output logic [31:0]         pc_o,
  input  logic                inst_valid_i,
  input  logic [63:0]         word_i,
  input  logic [31:0]         const_i,        // the constant that a constant-bank form names

  // Of every thread, sampled when the instruction executes: predicates, condition codes and, if built, clip state
  // and the register of a BRX.
  input  logic [LANES-1:0]    p0_i,
  input  logic [LANES-1:0]    p1_i,
  input  logic [LANES-1:0]    p2_i,
  input  logic [LANES-1:0]    p3_i,
  input  logic [LANES-1:0]    p4_i,
  input  logic [LANES-1:0]    p5_i,
  input  logic [LANES-1:0]    p6_i,
  input  logic [LANES-1:0]    z_i,
  input  logic [LANES-1:0]    s_i,
  input  logic [LANES-1:0]    c_i,
  input  logic [LANES-1:0]    o_i,
  input  logic [32*LANES-1:0] r_i,            // of thread t at [32*t +: 32]
  input  logic [8*LANES-1:0]  csm_i,          // of thread t at [8*t +: 8]

  output logic [LANES-1:0]    active_o,
  output logic [LANES-1:0]    killed_o,
  output logic [1:0]          status_o,       // spa5_pkg::Status*
  output logic [3:0]          err_o           // spa5_pkg::Err*
);

  // ---- registers -----------------------------------------------------------------------------------

  logic [1:0]  status_d, status_q;
  logic [3:0]  err_d, err_q;  // spa5-3-c
  logic [31:0] pc_d, pc_q;
  logic [31:0] prog_base_q, prog_size_q;

  // ---- the cycle -----------------------------------------------------------------------------------

  logic launch, run, outside, step, commit, unwind, pop, empty;

  assign launch  = launch_i & ~stall_i &
                   ((status_q == spa5_pkg::StatusDone) | (status_q == spa5_pkg::StatusErr));
  assign run     = (status_q == spa5_pkg::StatusRun) & ~stall_i;
  // Unsigned: a PC below the base is then beyond every program that ends at 2^32 or before (spa5-4.1-b).
  assign outside = (pc_q - prog_base_q) >= prog_size_q;
  assign step    = run & ~outside & inst_valid_i;
  assign unwind  = (status_q == spa5_pkg::StatusUnwind) & ~stall_i;
  assign pop     = unwind & ~empty;

  // ---- the instruction -----------------------------------------------------------------------------

  logic [2:0]  kind, token;
  logic [4:0]  leave;
  logic        kill, unanimous, absolute, bank, illegal, unsupported;
  logic [23:0] off24, offset;
  logic [31:0] imm32;
  logic [3:0]  pred;
  logic [4:0]  cc;

  spa5_decode #(
    .BRX(BRX),
    .CSM(CSM)
  ) u_decode (
    .word_i,
    .kind_o        (kind),
    .token_o       (token),
    .leave_o       (leave),
    .kill_o        (kill),
    .unanimous_o   (unanimous),
    .absolute_o    (absolute),
    .bank_o        (bank),
    .offset_o      (off24),
    .address_o     (imm32),
    .pred_o        (pred),
    .cc_o          (cc),
    .illegal_o     (illegal),
    .unsupported_o (unsupported)
  );

  assign offset = bank ? const_i[23:0] : off24;  // spa5-2.3-n

  logic is_setup, is_call, is_bra, is_brx, is_leave;
  assign is_setup = kind == spa5_pkg::KindSetup;
  assign is_call  = kind == spa5_pkg::KindCall;
  assign is_bra   = kind == spa5_pkg::KindBra;
  assign is_brx   = kind == spa5_pkg::KindBrx;
  assign is_leave = kind == spa5_pkg::KindLeave;

  // ---- the threads ---------------------------------------------------------------------------------

  logic [LANES-1:0] active, taken, rest;
  logic             some, all;

  spa5_cond #(
    .LANES(LANES),
    .CSM  (CSM)
  ) u_cond (
    .en_i     (step & (is_bra | is_brx | is_leave)),
    .pred_i   (pred),
    .cc_i     (cc),
    .active_i (active),
    .p0_i, .p1_i, .p2_i, .p3_i, .p4_i, .p5_i, .p6_i,
    .z_i, .s_i, .c_i, .o_i,
    .csm_i,
    .taken_o  (taken)
  );

  // In status RUN at least one thread is active, so `all` implies `some`.
  assign rest = active & ~taken;
  assign some = |taken;
  assign all  = ~|rest;

  logic [31:0]      value;      // register of a BRX; 0 without one
  logic [LANES-1:0] group;      // the threads with this value
  logic             one_group;

  if (BRX != 0) begin : gen_brx
    spa5_brx #(
      .LANES(LANES)
    ) u_brx (
      .en_i     (step & is_brx),
      .active_i (active),
      .r_i,
      .value_o  (value),
      .group_o  (group)
    );
    assign one_group = group == active;
  end else begin : gen_no_brx
    assign value     = '0;
    assign group     = '0;
    assign one_group = 1'b1;

    logic unused_r;
    assign unused_r = ^r_i;
  end

  // ---- the decision --------------------------------------------------------------------------------

  logic             jump;       // PC becomes the target
  logic             to_target;  // the target is used now or kept for later: it must be legal
  logic             split;      // a branch divides the threads
  logic             push;
  logic [LANES-1:0] stay;       // split: the threads that go on at once
  logic [LANES-1:0] push_mask;

  always_comb begin
    jump      = 1'b0;
    split     = 1'b0;
    stay      = taken;
    push_mask = active;
    unique case (kind)
      spa5_pkg::KindCall: jump = 1'b1;
      spa5_pkg::KindBra: begin
        jump      = unanimous ? all : some;  // spa5-4.3-d, spa5-4.3-e, spa5-4.3-j
        split     = jump & ~all;  // spa5-4.3-f
        push_mask = rest;
      end
      spa5_pkg::KindBrx: begin
        jump      = all;  // spa5-A-b
        split     = all ? ~one_group : some;  // spa5-A-e
        stay      = all ? group : taken;
        push_mask = active & ~stay;
      end
      default: ;
    endcase
  end

  assign to_target = is_setup | jump;
  assign push      = is_setup | is_call | split;  // spa5-4.3-a

  // ---- addresses (spa5-2.1, spa5-2.2) --------------------------------------------------------------

  // The address of a control word means the first slot of its bundle (spa5-2.1-c, spa5-2.1-e).
  function automatic logic [31:0] norm(input logic [31:0] address);
    norm = {address[31:4], address[3] | (address[4:0] == 5'd0), address[2:0]};
  endfunction

  logic [31:0] pc_entry, pc_next, pc_seq, target, push_addr, sum_absolute;
  logic [34:0] sum, from_base;  // signed; the register of a BRX is not

  assign pc_entry = norm(prog_base_i + entry_i);  // spa5-3-d
  assign pc_next  = pc_q + 32'd8;
  assign pc_seq   = norm(pc_next);  // spa5-2.1-d
  // The sum of a JMX has 32 bits (spa5-A-f); that of a BRX does not wrap (spa5-A-d). The base is pc + 8 (spa5-2.2-b).
  assign sum_absolute = imm32 + value;
  assign sum      = absolute ? {3'd0, sum_absolute}
                             : {3'd0, pc_q} + 35'd8 + {{11{offset[23]}}, offset} + {3'd0, value};
  assign target   = norm(sum[31:0]);

  // CAL and branches push the next PC (spa5-4.3-b); if the register of a BRX divides, the others execute it again.
  assign push_addr = is_setup ? target : (is_brx & all) ? pc_q : pc_seq;

  // ---- errors --------------------------------------------------------------------------------------

  logic [3:0] vis;
  logic       full, misaligned, range, overflow, no_token, bad_step, fault;
  logic [3:0] err;

  // Unsigned: a target below the base is then above every program (spa5-4.2-a).
  assign from_base  = sum - {3'd0, prog_base_q};
  assign misaligned = to_target & (sum[2:0] != 3'd0);
  assign range      = to_target & (from_base >= {3'd0, prog_size_q});
  assign overflow   = push & full;  // spa5-4.2-b
  assign no_token   = some & |(leave[3:0] & ~vis);  // spa5-4.3-g

  assign bad_step = illegal | unsupported | misaligned | range | overflow | no_token;
  assign fault    = (run & outside) | (step & bad_step);
  assign commit   = step & ~bad_step;

  always_comb begin
    err = spa5_pkg::ErrOk;
    if (fault) begin
      if (outside)                              err = spa5_pkg::ErrPcRange;
      else if (illegal)                         err = spa5_pkg::ErrIllegal;
      else if (unsupported)                     err = spa5_pkg::ErrUnsupported;
      else if (misaligned)                      err = spa5_pkg::ErrTargetMisaligned;
      else if (range)                           err = spa5_pkg::ErrTargetRange;
      else if (overflow)                        err = spa5_pkg::ErrStackOverflow;
      else if (leave == spa5_pkg::LeaveSync)    err = spa5_pkg::ErrSyncNoSsy;
      else if (leave == spa5_pkg::LeaveBrk)     err = spa5_pkg::ErrBrkNoPbk;
      else if (leave == spa5_pkg::LeaveCont)    err = spa5_pkg::ErrContNoPcnt;
      else                                      err = spa5_pkg::ErrRetNoCall;
    end
  end

  // ---- stack and threads ---------------------------------------------------------------------------

  logic [2:0]       top_token;
  logic [31:0]      top_addr;
  logic [LANES-1:0] top_mask;
  logic             resumed;

  spa5_stack #(
    .LANES(LANES),
    .DEPTH(DEPTH)
  ) u_stack (
    .clk_i,
    .rst_ni,
    .launch_i    (launch),
    .push_i      (commit & push),
    .token_i     (token),
    .addr_i      (push_addr),
    .mask_i      (push_mask),
    .pop_i       (pop),
    .top_token_o (top_token),
    .top_addr_o  (top_addr),
    .top_mask_o  (top_mask),
    .vis_o       (vis),
    .empty_o     (empty),
    .full_o      (full)
  );

  spa5_threads #(
    .LANES(LANES)
  ) u_threads (
    .clk_i,
    .rst_ni,
    .launch_i      (launch),
    .launch_mask_i,
    .leave_i       (commit & is_leave),
    .flag_i        (leave[4:1]),
    .kill_i        (kill),
    .taken_i       (taken),
    .split_i       (commit & split),
    .stay_i        (stay),
    .pop_i         (pop),
    .token_i       (top_token),
    .mask_i        (top_mask),
    .resumed_o     (resumed),
    .active_o      (active),
    .killed_o
  );

  // ---- PC and status -------------------------------------------------------------------------------

  logic keep_pc;  // the instruction neither jumps nor goes on (spa5-4.3-i, spa5-A-c)
  assign keep_pc = (is_leave & all) | (is_brx & split & ~all);

  always_comb begin
    status_d = status_q;
    err_d    = err_q;
    pc_d     = pc_q;
    if (launch) begin
      status_d = (launch_mask_i == '0) ? spa5_pkg::StatusDone : spa5_pkg::StatusRun;
      err_d    = spa5_pkg::ErrOk;
      pc_d     = pc_entry;
    end else if (fault) begin
      status_d = spa5_pkg::StatusErr;
      err_d    = err;
    end else if (step) begin
      if (jump) begin
        pc_d = target;
      end else if (!keep_pc) begin
        pc_d = pc_seq;  // spa5-4.1-d for OTHER
      end
      if (is_leave & all) begin
        status_d = spa5_pkg::StatusUnwind;
      end
    end else if (unwind) begin
      if (empty) begin  // spa5-4.4-a
        status_d = spa5_pkg::StatusDone;
      end else if (resumed) begin
        status_d = spa5_pkg::StatusRun;
        pc_d     = top_addr;  // spa5-4.4-d
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      status_q <= spa5_pkg::StatusDone;
      err_q    <= spa5_pkg::ErrOk;
      pc_q     <= 32'd8;
    end else begin
      status_q <= status_d;
      err_q    <= err_d;
      pc_q     <= pc_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      prog_base_q <= '0;
      prog_size_q <= '0;
    end else if (launch) begin
      prog_base_q <= prog_base_i;  // spa5-3-p
      prog_size_q <= prog_size_i;
    end
  end

  // The unused bits of a constant (spa5-2.3-n).
  logic unused_bits;
  assign unused_bits = ^const_i[31:24];

  assign pc_o     = pc_q;
  assign active_o = active;
  assign status_o = status_q;
  assign err_o    = err_q;

endmodule
