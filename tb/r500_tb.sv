// Bench top of unit r500: the unit behind registers on every input, its state gathered into one
// struct, and beside it, for the dump, the state that the golden model expects.
//
// * `in_i` is registered, so `state_o` after a rising edge shows what the inputs of the edge before
//   it did, and `golden_i` is the golden's state after those same inputs.
// * a rising edge of `bench_i`, given after each clock while a dump is open, brings the mismatch bits and
//   both per-lane views up to date. Combinational ones would be evaluated in every clock of every run.
// * with `load_i` that edge puts the unit into the state on `golden_i` as well, between two clocks. Not a
//   third clock signal: Verilator asks after each of them in every evaluation, and it would cost 7 % of a
//   clock's instructions.
// * Structs begin with their last field: src/r500/state.rs declares them in the other direction.
//
// Where the state lives inside the unit is told by r500_probe.svh, which comes with the RTL.

package r500_tb_pkg;

  typedef struct packed {
    logic [15:0]      pad;
    logic [7:0]       rst_n;
    logic [7:0]       inst_valid;
    logic [7:0]       stall;
    logic [7:0]       launch;
    logic [7:0]       const_we;
    logic [7:0]       const_addr;
    logic [31:0]      code_offset;
    logic [31:0]      code_range;
    logic [31:0]      code_addr;
    logic [31:0]      fc_ctrl;
    logic [31:0]      const_wdata;
    logic [31:0]      addr;
    logic [31:0]      inst;
    logic [31:0]      cmn;
    logic [63:0]      cov;
    logic [3:0][63:0] pred;
    logic [63:0]      alu;
  } in_t;

  typedef struct packed {
    logic [31:0]       pad_end;
    logic [31:0]       bool_const;
    logic [32*24-1:0]  int_const;
    logic [47:0]       pad;
    logic [7:0]        alu_clr;
    logic [7:0]        al;
    logic [7:0]        err;
    logic [7:0]        halted;
    logic [7:0]        done;
    logic [7:0]        running;
    logic [7:0]        addr_depth;
    logic [7:0]        loop_depth;
    logic [15:0]       pc;
    logic [3:0][15:0]  addrs;
    logic [3:0][31:0]  loops;
    logic [63:0]       active;
    logic [1:0][63:0]  lc;
    logic [4:0][63:0]  bc;
    logic [1:0][63:0]  st;
  } state_t;

endpackage

// One side of the comparison as signals that a person can read.
module r500_view #(
  parameter int unsigned LANES = 16
) (
  input logic                bench_i,
  input r500_tb_pkg::state_t state_i
);

  // Lane i as {class, bc, lc}; waves/filters prints it as the spec does: A, B3, C0, K1.
  logic [8:0]       lane [LANES];
  logic [LANES-1:0] active;
  logic [16:0]      loops [4];
  logic [9:0]       addrs [4];
  logic [9:0]       pc;
  logic [2:0]       loop_depth, addr_depth;
  logic             running, done, halted, alu_clr;
  logic [3:0]       err;
  logic [7:0]       al;
  logic [23:0]      int_const [32];
  logic [31:0]      bool_const;

  // An edge of its own: combinational, or latches, they would cost a tenth of the time of every run.
  always_ff @(posedge bench_i) begin
    for (int unsigned i = 0; i < LANES; i++) begin
      lane[i] <= {state_i.st[1][i], state_i.st[0][i],
                  state_i.bc[4][i], state_i.bc[3][i], state_i.bc[2][i], state_i.bc[1][i], state_i.bc[0][i],
                  state_i.lc[1][i], state_i.lc[0][i]};
    end
    for (int unsigned i = 0; i < 4; i++) begin
      loops[i] <= state_i.loops[i][16:0];
      addrs[i] <= state_i.addrs[i][9:0];
    end
    for (int unsigned i = 0; i < 32; i++) int_const[i] <= state_i.int_const[24*i +: 24];
    active     <= state_i.active[LANES-1:0];
    pc         <= state_i.pc[9:0];
    loop_depth <= state_i.loop_depth[2:0];
    addr_depth <= state_i.addr_depth[2:0];
    running    <= state_i.running[0];
    done       <= state_i.done[0];
    halted     <= state_i.halted[0];
    alu_clr    <= state_i.alu_clr[0];
    err        <= state_i.err[3:0];
    al         <= state_i.al;
    bool_const <= state_i.bool_const;
  end

endmodule

module r500_tb #(
  parameter int unsigned LANES = 16,
  localparam int unsigned Fields = 17
) (
  input  logic                clk_i,
  // The structs stay out of the dump: nobody reads a signal of 1792 bits, and the views show their fields.
  /*verilator tracing_off*/
  input  r500_tb_pkg::in_t    in_i,
  input  r500_tb_pkg::state_t golden_i,
  input  logic                bench_i,
  input  logic                load_i,
  output r500_tb_pkg::state_t state_o,
  /*verilator tracing_on*/
  output logic [Fields-1:0]   mismatch_o
);

  /*verilator tracing_off*/
  // 0 at power-up: the unit is in reset from the first edge on.
  r500_tb_pkg::in_t in_q = '0;
  /*verilator tracing_on*/
  always_ff @(posedge clk_i) in_q <= in_i;

  logic [9:0]       pc;
  logic [LANES-1:0] active;
  logic [7:0]       al;
  logic             alu_clr, running, done, halted;
  logic [3:0]       err;

  r500_seq #(
    .LANES(LANES)
  ) dut (
    .clk_i,
    .rst_ni        (in_q.rst_n[0]),
    .stall_i       (in_q.stall[0]),
    .const_we_i    (in_q.const_we[0]),
    .const_addr_i  (in_q.const_addr[5:0]),
    .const_wdata_i (in_q.const_wdata),
    .launch_i      (in_q.launch[0]),
    .fc_ctrl_i     (in_q.fc_ctrl),
    .code_addr_i   (in_q.code_addr),
    .code_range_i  (in_q.code_range),
    .code_offset_i (in_q.code_offset),
    .inst_valid_i  (in_q.inst_valid[0]),
    .cmn_inst_i    (in_q.cmn),
    .fc_inst_i     (in_q.inst),
    .fc_addr_i     (in_q.addr),
    .alu_i         (in_q.alu[LANES-1:0]),
    .pred_r_i      (in_q.pred[0][LANES-1:0]),
    .pred_g_i      (in_q.pred[1][LANES-1:0]),
    .pred_b_i      (in_q.pred[2][LANES-1:0]),
    .pred_a_i      (in_q.pred[3][LANES-1:0]),
    .cov_i         (in_q.cov[LANES-1:0]),
    .pc_o          (pc),
    .active_o      (active),
    .al_o          (al),
    .alu_clr_o     (alu_clr),
    .running_o     (running),
    .done_o        (done),
    .halted_o      (halted),
    .err_o         (err)
  );

  // What the probe of the RTL assigns.
  logic [LANES-1:0] probe_st0, probe_st1;
  logic [LANES-1:0] probe_bc0, probe_bc1, probe_bc2, probe_bc3, probe_bc4;
  logic [LANES-1:0] probe_lc0, probe_lc1;
  logic [16:0]      probe_loop0, probe_loop1, probe_loop2, probe_loop3;
  logic [2:0]       probe_loop_depth, probe_addr_depth;
  logic [9:0]       probe_addr0, probe_addr1, probe_addr2, probe_addr3;
  logic [32*24-1:0] probe_int_const;
  logic [31:0]      probe_bool_const;

  `include "r500_probe.svh"

  // Entries above the depth are nobody's business: they read as 0 on both sides. One assignment, not
  // one a field: Verilator then builds each word once.
  assign state_o = '{
    pad_end:    '0,
    bool_const: probe_bool_const,
    int_const:  probe_int_const,
    pad:        '0,
    alu_clr:    8'(alu_clr),
    al:         al,
    err:        8'(err),
    halted:     8'(halted),
    done:       8'(done),
    running:    8'(running),
    addr_depth: 8'(probe_addr_depth),
    loop_depth: 8'(probe_loop_depth),
    pc:         16'(pc),
    addrs: {
      (probe_addr_depth > 3'd3) ? 16'(probe_addr3) : 16'd0,
      (probe_addr_depth > 3'd2) ? 16'(probe_addr2) : 16'd0,
      (probe_addr_depth > 3'd1) ? 16'(probe_addr1) : 16'd0,
      (probe_addr_depth > 3'd0) ? 16'(probe_addr0) : 16'd0
    },
    loops: {
      (probe_loop_depth > 3'd3) ? 32'(probe_loop3) : 32'd0,
      (probe_loop_depth > 3'd2) ? 32'(probe_loop2) : 32'd0,
      (probe_loop_depth > 3'd1) ? 32'(probe_loop1) : 32'd0,
      (probe_loop_depth > 3'd0) ? 32'(probe_loop0) : 32'd0
    },
    active:     64'(active),
    lc:         {64'(probe_lc1), 64'(probe_lc0)},
    bc:         {64'(probe_bc4), 64'(probe_bc3), 64'(probe_bc2), 64'(probe_bc1), 64'(probe_bc0)},
    st:         {64'(probe_st1), 64'(probe_st0)}
  };

  // ---- what a person looks at in the dump ----------------------------------------------------------

  // Order of the field list in src/r500/state.rs.
  always_ff @(posedge bench_i) begin
    mismatch_o[0]  <= state_o.st != golden_i.st;
    mismatch_o[1]  <= state_o.bc != golden_i.bc;
    mismatch_o[2]  <= state_o.lc != golden_i.lc;
    mismatch_o[3]  <= state_o.active != golden_i.active;
    mismatch_o[4]  <= state_o.loops != golden_i.loops;
    mismatch_o[5]  <= state_o.addrs != golden_i.addrs;
    mismatch_o[6]  <= state_o.pc != golden_i.pc;
    mismatch_o[7]  <= state_o.loop_depth != golden_i.loop_depth;
    mismatch_o[8]  <= state_o.addr_depth != golden_i.addr_depth;
    mismatch_o[9]  <= state_o.running != golden_i.running;
    mismatch_o[10] <= state_o.done != golden_i.done;
    mismatch_o[11] <= state_o.halted != golden_i.halted;
    mismatch_o[12] <= state_o.err != golden_i.err;
    mismatch_o[13] <= state_o.al != golden_i.al;
    mismatch_o[14] <= state_o.alu_clr != golden_i.alu_clr;
    mismatch_o[15] <= state_o.int_const != golden_i.int_const;
    mismatch_o[16] <= state_o.bool_const != golden_i.bool_const;
  end

  // Both sides under the same names: rtl_view.pc beside golden_view.pc.
  r500_view #(.LANES(LANES)) rtl_view (.bench_i, .state_i(state_o));
  r500_view #(.LANES(LANES)) golden_view (.bench_i, .state_i(golden_i));

  // ---- state seeding -----------------------------------------------------------------------------

  logic [LANES-1:0] load_st0, load_st1, load_bc0, load_bc1, load_bc2, load_bc3, load_bc4, load_lc0, load_lc1;
  logic [16:0]      load_loop0, load_loop1, load_loop2, load_loop3;
  logic [2:0]       load_loop_depth, load_addr_depth;
  logic [9:0]       load_addr0, load_addr1, load_addr2, load_addr3, load_pc;
  logic             load_running, load_done, load_halted, load_alu_clr;
  logic [3:0]       load_err;

  assign load_st0        = golden_i.st[0][LANES-1:0];
  assign load_st1        = golden_i.st[1][LANES-1:0];
  assign load_bc0        = golden_i.bc[0][LANES-1:0];
  assign load_bc1        = golden_i.bc[1][LANES-1:0];
  assign load_bc2        = golden_i.bc[2][LANES-1:0];
  assign load_bc3        = golden_i.bc[3][LANES-1:0];
  assign load_bc4        = golden_i.bc[4][LANES-1:0];
  assign load_lc0        = golden_i.lc[0][LANES-1:0];
  assign load_lc1        = golden_i.lc[1][LANES-1:0];
  assign load_loop0      = golden_i.loops[0][16:0];
  assign load_loop1      = golden_i.loops[1][16:0];
  assign load_loop2      = golden_i.loops[2][16:0];
  assign load_loop3      = golden_i.loops[3][16:0];
  assign load_loop_depth = golden_i.loop_depth[2:0];
  assign load_addr_depth = golden_i.addr_depth[2:0];
  assign load_addr0      = golden_i.addrs[0][9:0];
  assign load_addr1      = golden_i.addrs[1][9:0];
  assign load_addr2      = golden_i.addrs[2][9:0];
  assign load_addr3      = golden_i.addrs[3][9:0];
  assign load_pc         = golden_i.pc[9:0];
  assign load_running    = golden_i.running[0];
  assign load_done       = golden_i.done[0];
  assign load_halted     = golden_i.halted[0];
  assign load_err        = golden_i.err[3:0];
  assign load_alu_clr    = golden_i.alu_clr[0];

  // Not on an edge of clk_i: that would cost an evaluation of the unit every clock.
  always @(posedge bench_i) begin
    if (load_i) begin
      `R500_PROBE_LOAD
    end
  end

endmodule
