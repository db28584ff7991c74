// Bench top of unit r700: the unit behind registers on every input, its state gathered into one
// struct, and beside it, for the dump, the state that the golden model expects.
//
// * `in_i` is registered, so `state_o` after a rising edge shows what the inputs of the edge before
//   it did, and `golden_i` is the golden's state after those same inputs.
// * a rising edge of `bench_i`, given after each clock while a dump is open, brings the mismatch bits and
//   both views up to date; with `load_i` it puts the unit into the state on `golden_i` as well. Why that is
//   no clock of its own: tb/r500_tb.sv.
// * Of the stack the state has what is on top: the mask of the top branch frame, and the innermost loop or
//   call frame. Deeper ones are compared when they are revealed.
// * Structs begin with their last field: src/r700/state.rs declares them in the other direction.
//
// Where the state lives inside the unit is told by r700_probe.svh, which comes with the RTL.

package r700_tb_pkg;

  typedef struct packed {
    logic [31:0] pad;
    logic [7:0]  rst_n;
    logic [7:0]  u;
    logic [7:0]  inst_valid;
    logic [7:0]  stall;
    logic [7:0]  launch;
    logic [7:0]  const_we;
    logic [7:0]  const_addr;
    logic [7:0]  stack_size;
    logic [31:0] prog_len;
    logic [31:0] entry;
    logic [31:0] const_wdata;
    logic [31:0] dw1;
    logic [31:0] dw0;
    logic [63:0] lane_mask;
    logic [63:0] pred;
  } in_t;

  typedef struct packed {
    logic [15:0]      pad;
    logic [7:0]       frame_depth;
    logic [7:0]       frame_inc;
    logic [7:0]       frame_lt;
    logic [7:0]       frame_bkind;
    logic [7:0]       err;
    logic [7:0]       halted;
    logic [7:0]       done;
    logic [7:0]       running;
    logic [7:0]       jump;
    logic [7:0]       skipped;
    logic [7:0]       depth;
    logic [7:0]       inc;
    logic [7:0]       lt;
    logic [7:0]       bkind;
    logic [15:0]      frame_lc;
    logic [15:0]      frame_base;
    logic [15:0]      lc;
    logic [15:0]      nb;
    logic [15:0]      base;
    logic [15:0]      sp;
    logic [31:0]      frame_ret;
    logic [31:0]      frame_al;
    logic [31:0]      al;
    logic [31:0]      pc;
    logic [31:0]      bool_const;
    logic [32*32-1:0] loop_const;
    logic [1:0][63:0] frame_st;
    logic [63:0]      top_mask;
    logic [63:0]      exec;
    logic [63:0]      active;
    logic [63:0]      valid;
    logic [1:0][63:0] st;
  } state_t;

endpackage

// One side of the comparison as signals that a person can read.
module r700_view #(
  parameter int unsigned LANES = 64
) (
  input logic                bench_i,
  input r700_tb_pkg::state_t state_i
);

  // Class of lane i, and the class that the innermost loop frame keeps for it; waves/filters prints
  // them as the spec does: A, b, c, k.
  logic [1:0]       lane [LANES];
  logic [1:0]       frame_lane [LANES];
  logic [LANES-1:0] valid, active, exec, top_mask;
  logic [31:0]      pc, al, frame_al, frame_ret, bool_const;
  logic [9:0]       sp, base, nb, frame_base;
  logic [11:0]      lc, frame_lc;
  logic [1:0]       bkind, lt, frame_bkind, frame_lt;
  logic [7:0]       inc, frame_inc;
  logic [5:0]       depth, frame_depth;
  logic             skipped, jump, running, done, halted;
  logic [3:0]       err;
  logic [31:0]      loop_const [32];

  // An edge of its own: combinational, or latches, they would cost a tenth of the time of every run.
  always_ff @(posedge bench_i) begin
    for (int unsigned i = 0; i < LANES; i++) begin
      lane[i]       <= {state_i.st[1][i], state_i.st[0][i]};
      frame_lane[i] <= {state_i.frame_st[1][i], state_i.frame_st[0][i]};
    end
    for (int unsigned i = 0; i < 32; i++) loop_const[i] <= state_i.loop_const[32*i +: 32];
    valid       <= state_i.valid[LANES-1:0];
    active      <= state_i.active[LANES-1:0];
    exec        <= state_i.exec[LANES-1:0];
    top_mask    <= state_i.top_mask[LANES-1:0];
    pc          <= state_i.pc;
    al          <= state_i.al;
    frame_al    <= state_i.frame_al;
    frame_ret   <= state_i.frame_ret;
    bool_const  <= state_i.bool_const;
    sp          <= state_i.sp[9:0];
    base        <= state_i.base[9:0];
    nb          <= state_i.nb[9:0];
    frame_base  <= state_i.frame_base[9:0];
    lc          <= state_i.lc[11:0];
    frame_lc    <= state_i.frame_lc[11:0];
    bkind       <= state_i.bkind[1:0];
    lt          <= state_i.lt[1:0];
    frame_bkind <= state_i.frame_bkind[1:0];
    frame_lt    <= state_i.frame_lt[1:0];
    inc         <= state_i.inc;
    frame_inc   <= state_i.frame_inc;
    depth       <= state_i.depth[5:0];
    frame_depth <= state_i.frame_depth[5:0];
    skipped     <= state_i.skipped[0];
    jump        <= state_i.jump[0];
    running     <= state_i.running[0];
    done        <= state_i.done[0];
    halted      <= state_i.halted[0];
    err         <= state_i.err[3:0];
  end

endmodule

module r700_tb #(
  parameter int unsigned LANES = 64,
  parameter int unsigned MAX_STACK_SIZE = 32,
  localparam int unsigned Fields = 32
) (
  input  logic                clk_i,
  // The structs stay out of the dump: nobody reads a signal of 1920 bits, and the views show their fields.
  /*verilator tracing_off*/
  input  r700_tb_pkg::in_t    in_i,
  input  r700_tb_pkg::state_t golden_i,
  input  logic                bench_i,
  input  logic                load_i,
  output r700_tb_pkg::state_t state_o,
  /*verilator tracing_on*/
  output logic [Fields-1:0]   mismatch_o
);

  /*verilator tracing_off*/
  // 0 at power-up: the unit is in reset from the first edge on.
  r700_tb_pkg::in_t in_q = '0;
  /*verilator tracing_on*/
  always_ff @(posedge clk_i) in_q <= in_i;

  logic [31:0]      pc, al;
  logic [LANES-1:0] active, valid, exec;
  logic             jump, skipped, running, done, halted;
  logic [3:0]       err;

  r700_seq #(
    .LANES(LANES),
    .MAX_STACK_SIZE(MAX_STACK_SIZE)
  ) dut (
    .clk_i,
    .rst_ni        (in_q.rst_n[0]),
    .stall_i       (in_q.stall[0]),
    .const_we_i    (in_q.const_we[0]),
    .const_addr_i  (in_q.const_addr[5:0]),
    .const_wdata_i (in_q.const_wdata),
    .launch_i      (in_q.launch[0]),
    .entry_i       (in_q.entry),
    .prog_len_i    (in_q.prog_len),
    .lane_mask_i   (in_q.lane_mask[LANES-1:0]),
    .stack_size_i  (in_q.stack_size),
    .inst_valid_i  (in_q.inst_valid[0]),
    .dw0_i         (in_q.dw0),
    .dw1_i         (in_q.dw1),
    .u_i           (in_q.u[0]),
    .pred_i        (in_q.pred[LANES-1:0]),
    .pc_o          (pc),
    .active_o      (active),
    .valid_o       (valid),
    .al_o          (al),
    .exec_o        (exec),
    .jump_o        (jump),
    .skipped_o     (skipped),
    .running_o     (running),
    .done_o        (done),
    .halted_o      (halted),
    .err_o         (err)
  );

  // What the probe of the RTL assigns.
  logic [LANES-1:0] probe_st0;
  logic [LANES-1:0] probe_st1;
  logic [9:0]       probe_sp;
  logic [9:0]       probe_base;
  logic [9:0]       probe_nb;
  logic [1:0]       probe_bkind;
  logic [1:0]       probe_lt;
  logic [11:0]      probe_lc;
  logic [7:0]       probe_inc;
  logic [5:0]       probe_depth;
  logic [LANES-1:0] probe_top_mask;
  logic [LANES-1:0] probe_frame_st0;
  logic [LANES-1:0] probe_frame_st1;
  logic [1:0]       probe_frame_lt;
  logic [11:0]      probe_frame_lc;
  logic [31:0]      probe_frame_al;
  logic [7:0]       probe_frame_inc;
  logic [31:0]      probe_frame_ret;
  logic [5:0]       probe_frame_depth;
  logic [9:0]       probe_frame_base;
  logic [1:0]       probe_frame_bkind;
  logic [32*32-1:0] probe_loop_const;
  logic [31:0]      probe_bool_const;

  `include "r700_probe.svh"

  // What is not there is nobody's business: it reads as 0 on both sides.
  logic branch_on_top, in_loop, in_call;
  assign branch_on_top = probe_sp != probe_base;
  assign in_loop       = probe_bkind == 2'd1;
  assign in_call       = probe_bkind == 2'd2;

  // One assignment, not one a field: Verilator then builds each word once.
  assign state_o = '{
    pad:         '0,
    frame_depth: in_call ? 8'(probe_frame_depth) : 8'd0,
    frame_inc:   in_loop ? probe_frame_inc : 8'd0,
    frame_lt:    in_loop ? 8'(probe_frame_lt) : 8'd0,
    frame_bkind: (in_loop | in_call) ? 8'(probe_frame_bkind) : 8'd0,
    err:         8'(err),
    halted:      8'(halted),
    done:        8'(done),
    running:     8'(running),
    jump:        8'(jump),
    skipped:     8'(skipped),
    depth:       8'(probe_depth),
    inc:         probe_inc,
    lt:          8'(probe_lt),
    bkind:       8'(probe_bkind),
    frame_lc:    in_loop ? 16'(probe_frame_lc) : 16'd0,
    frame_base:  (in_loop | in_call) ? 16'(probe_frame_base) : 16'd0,
    lc:          16'(probe_lc),
    nb:          16'(probe_nb),
    base:        16'(probe_base),
    sp:          16'(probe_sp),
    frame_ret:   in_call ? probe_frame_ret : 32'd0,
    frame_al:    in_loop ? probe_frame_al : 32'd0,
    al:          al,
    pc:          pc,
    bool_const:  probe_bool_const,
    loop_const:  probe_loop_const,
    frame_st:    {in_loop ? 64'(probe_frame_st1) : 64'd0, in_loop ? 64'(probe_frame_st0) : 64'd0},
    top_mask:    branch_on_top ? 64'(probe_top_mask) : 64'd0,
    exec:        64'(exec),
    active:      64'(active),
    valid:       64'(valid),
    st:          {64'(probe_st1), 64'(probe_st0)}
  };

  // ---- what a person looks at in the dump ----------------------------------------------------------

  // Order of the field list in src/r700/state.rs.
  always_ff @(posedge bench_i) begin
    mismatch_o[0]  <= state_o.st != golden_i.st;
    mismatch_o[1]  <= state_o.valid != golden_i.valid;
    mismatch_o[2]  <= state_o.active != golden_i.active;
    mismatch_o[3]  <= state_o.exec != golden_i.exec;
    mismatch_o[4]  <= state_o.top_mask != golden_i.top_mask;
    mismatch_o[5]  <= state_o.frame_st != golden_i.frame_st;
    mismatch_o[6]  <= state_o.pc != golden_i.pc;
    mismatch_o[7]  <= state_o.sp != golden_i.sp;
    mismatch_o[8]  <= state_o.base != golden_i.base;
    mismatch_o[9]  <= state_o.bkind != golden_i.bkind;
    mismatch_o[10] <= state_o.nb != golden_i.nb;
    mismatch_o[11] <= state_o.lt != golden_i.lt;
    mismatch_o[12] <= state_o.lc != golden_i.lc;
    mismatch_o[13] <= state_o.al != golden_i.al;
    mismatch_o[14] <= state_o.inc != golden_i.inc;
    mismatch_o[15] <= state_o.depth != golden_i.depth;
    mismatch_o[16] <= state_o.skipped != golden_i.skipped;
    mismatch_o[17] <= state_o.jump != golden_i.jump;
    mismatch_o[18] <= state_o.running != golden_i.running;
    mismatch_o[19] <= state_o.done != golden_i.done;
    mismatch_o[20] <= state_o.halted != golden_i.halted;
    mismatch_o[21] <= state_o.err != golden_i.err;
    mismatch_o[22] <= state_o.frame_lt != golden_i.frame_lt;
    mismatch_o[23] <= state_o.frame_lc != golden_i.frame_lc;
    mismatch_o[24] <= state_o.frame_al != golden_i.frame_al;
    mismatch_o[25] <= state_o.frame_inc != golden_i.frame_inc;
    mismatch_o[26] <= state_o.frame_base != golden_i.frame_base;
    mismatch_o[27] <= state_o.frame_bkind != golden_i.frame_bkind;
    mismatch_o[28] <= state_o.frame_ret != golden_i.frame_ret;
    mismatch_o[29] <= state_o.frame_depth != golden_i.frame_depth;
    mismatch_o[30] <= state_o.loop_const != golden_i.loop_const;
    mismatch_o[31] <= state_o.bool_const != golden_i.bool_const;
  end

  // Both sides under the same names: rtl_view.pc beside golden_view.pc.
  r700_view #(.LANES(LANES)) rtl_view (.bench_i, .state_i(state_o));
  r700_view #(.LANES(LANES)) golden_view (.bench_i, .state_i(golden_i));

  // ---- state seeding -----------------------------------------------------------------------------

  logic [LANES-1:0] load_st0;
  logic [LANES-1:0] load_st1;
  logic [9:0]       load_sp;
  logic [9:0]       load_base;
  logic [9:0]       load_nb;
  logic [1:0]       load_bkind;
  logic [1:0]       load_lt;
  logic [11:0]      load_lc;
  logic [7:0]       load_inc;
  logic [5:0]       load_depth;
  logic [LANES-1:0] load_top_mask;
  logic [LANES-1:0] load_frame_st0;
  logic [LANES-1:0] load_frame_st1;
  logic [1:0]       load_frame_lt;
  logic [11:0]      load_frame_lc;
  logic [31:0]      load_frame_al;
  logic [7:0]       load_frame_inc;
  logic [31:0]      load_frame_ret;
  logic [5:0]       load_frame_depth;
  logic [9:0]       load_frame_base;
  logic [1:0]       load_frame_bkind;
  logic [LANES-1:0] load_valid;
  logic [31:0]      load_pc;
  logic [31:0]      load_al;
  logic [LANES-1:0] load_exec;
  logic             load_jump;
  logic             load_skipped;
  logic             load_running;
  logic             load_done;
  logic             load_halted;
  logic [3:0]       load_err;

  assign load_st0         = golden_i.st[0][LANES-1:0];
  assign load_st1         = golden_i.st[1][LANES-1:0];
  assign load_sp          = golden_i.sp[9:0];
  assign load_base        = golden_i.base[9:0];
  assign load_nb          = golden_i.nb[9:0];
  assign load_bkind       = golden_i.bkind[1:0];
  assign load_lt          = golden_i.lt[1:0];
  assign load_lc          = golden_i.lc[11:0];
  assign load_inc         = golden_i.inc;
  assign load_depth       = golden_i.depth[5:0];
  assign load_top_mask    = golden_i.top_mask[LANES-1:0];
  assign load_frame_st0   = golden_i.frame_st[0][LANES-1:0];
  assign load_frame_st1   = golden_i.frame_st[1][LANES-1:0];
  assign load_frame_lt    = golden_i.frame_lt[1:0];
  assign load_frame_lc    = golden_i.frame_lc[11:0];
  assign load_frame_al    = golden_i.frame_al;
  assign load_frame_inc   = golden_i.frame_inc;
  assign load_frame_ret   = golden_i.frame_ret;
  assign load_frame_depth = golden_i.frame_depth[5:0];
  assign load_frame_base  = golden_i.frame_base[9:0];
  assign load_frame_bkind = golden_i.frame_bkind[1:0];
  assign load_valid       = golden_i.valid[LANES-1:0];
  assign load_pc          = golden_i.pc;
  assign load_al          = golden_i.al;
  assign load_exec        = golden_i.exec[LANES-1:0];
  assign load_jump        = golden_i.jump[0];
  assign load_skipped     = golden_i.skipped[0];
  assign load_running     = golden_i.running[0];
  assign load_done        = golden_i.done[0];
  assign load_halted      = golden_i.halted[0];
  assign load_err         = golden_i.err[3:0];

  // Not on an edge of clk_i: that would cost an evaluation of the unit every clock.
  always @(posedge bench_i) begin
    if (load_i) begin
      `R700_PROBE_LOAD
    end
  end

endmodule
