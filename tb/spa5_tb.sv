// Bench top of unit spa5: the unit behind registers on every input, its state gathered into one
// struct, and beside it, for the dump, the state that the golden model expects.
//
// * `in_i` is registered, so `state_o` after a rising edge shows what the inputs of the edge before
//   it did, and `golden_i` is the golden's state after those same inputs.
// * a rising edge of `bench_i`, given after each clock while a dump is open, brings the mismatch bits and
//   both views up to date; with `load_i` it puts the unit into the state on `golden_i` as well. Why that is
//   no clock of its own: tb/r500_tb.sv.
// * Of the stack the state has the top token; those below it never change, and are compared when they
//   are revealed.
// * Structs begin with their last field: src/spa5/state.rs declares them in the other direction.
// * With RECONVERGE_ASSERT, as in debug builds, the invariants spa5-I1 to spa5-I11 of the spec are checked in
//   every clock; one that fails stops the simulation.
//
// Where the state lives inside the unit is told by spa5_probe.svh, which comes with the RTL.

package spa5_tb_pkg;

  typedef struct packed {
    logic [31:0]      pad;
    logic [7:0]       rst_n;
    logic [7:0]       inst_valid;
    logic [7:0]       stall;
    logic [7:0]       launch;
    logic [31:0]      prog_size;
    logic [31:0]      entry;
    logic [63:0]      word;
    logic [63:0]      launch_mask;
    logic [3:0][63:0] cc;
    logic [6:0][63:0] p;
  } pins_t;

  typedef struct packed {
    logic [64*32-1:0] r;
    pins_t            pins;
  } in_t;

  typedef struct packed {
    logic [7:0]  pad;
    logic [7:0]  top_vis;
    logic [7:0]  top_type;
    logic [7:0]  vis;
    logic [7:0]  err;
    logic [7:0]  status;
    logic [15:0] sp;
    logic [31:0] top_addr;
    logic [31:0] pc;
    logic [63:0] top_mask;
    logic [63:0] d_ret;
    logic [63:0] d_cont;
    logic [63:0] d_brk;
    logic [63:0] exited;
    logic [63:0] active;
  } state_t;

endpackage

// One side of the comparison as signals that a person can read.
module spa5_view #(
  parameter int unsigned LANES = 32
) (
  input logic                bench_i,
  input spa5_tb_pkg::state_t state_i
);

  logic [LANES-1:0] active, exited, d_brk, d_cont, d_ret, top_mask;
  logic [31:0]      pc, top_addr;
  logic [10:0]      sp;
  logic [1:0]       status;
  logic [3:0]       err, vis, top_vis;
  logic [2:0]       top_type;

  // An edge of its own: combinational, or latches, they would cost a tenth of the time of every run.
  always_ff @(posedge bench_i) begin
    active   <= state_i.active[LANES-1:0];
    exited   <= state_i.exited[LANES-1:0];
    d_brk    <= state_i.d_brk[LANES-1:0];
    d_cont   <= state_i.d_cont[LANES-1:0];
    d_ret    <= state_i.d_ret[LANES-1:0];
    top_mask <= state_i.top_mask[LANES-1:0];
    pc       <= state_i.pc;
    top_addr <= state_i.top_addr;
    sp       <= state_i.sp[10:0];
    status   <= state_i.status[1:0];
    err      <= state_i.err[3:0];
    vis      <= state_i.vis[3:0];
    top_type <= state_i.top_type[2:0];
    top_vis  <= state_i.top_vis[3:0];
  end

endmodule

module spa5_tb #(
  parameter int unsigned LANES = 32,
  parameter int unsigned DEPTH = 64,
  parameter int unsigned BRX = 0,
  localparam int unsigned Fields = 14
) (
  input  logic                clk_i,
  // The structs stay out of the dump: nobody reads a signal of 3008 bits, and the views show their fields.
  /*verilator tracing_off*/
  input  spa5_tb_pkg::in_t    in_i,
  input  spa5_tb_pkg::state_t golden_i,
  input  logic                bench_i,
  input  logic                load_i,
  output spa5_tb_pkg::state_t state_o,
  /*verilator tracing_on*/
  output logic [Fields-1:0]   mismatch_o
);

  /*verilator tracing_off*/
  // 0 at power-up: the unit is in reset from the first edge on.
  spa5_tb_pkg::pins_t in_q = '0;
  always_ff @(posedge clk_i) in_q <= in_i.pins;

  // The registers that a BRX reads are 32 bits a thread: only a unit that has BRX pays for them.
  logic [32*LANES-1:0] r;
  if (BRX != 0) begin : gen_r
    always_ff @(posedge clk_i) r <= in_i.r[32*LANES-1:0];
  end else begin : gen_no_r
    assign r = '0;
  end
  /*verilator tracing_on*/

  logic [31:0]      pc;
  logic [LANES-1:0] active;
  logic [1:0]       status;
  logic [3:0]       err;

  spa5_seq #(
    .LANES(LANES),
    .DEPTH(DEPTH),
    .BRX(BRX)
  ) dut (
    .clk_i,
    .rst_ni        (in_q.rst_n[0]),
    .stall_i       (in_q.stall[0]),
    .launch_i      (in_q.launch[0]),
    .entry_i       (in_q.entry),
    .prog_size_i   (in_q.prog_size),
    .launch_mask_i (in_q.launch_mask[LANES-1:0]),
    .inst_valid_i  (in_q.inst_valid[0]),
    .word_i        (in_q.word),
    .p0_i          (in_q.p[0][LANES-1:0]),
    .p1_i          (in_q.p[1][LANES-1:0]),
    .p2_i          (in_q.p[2][LANES-1:0]),
    .p3_i          (in_q.p[3][LANES-1:0]),
    .p4_i          (in_q.p[4][LANES-1:0]),
    .p5_i          (in_q.p[5][LANES-1:0]),
    .p6_i          (in_q.p[6][LANES-1:0]),
    .z_i           (in_q.cc[0][LANES-1:0]),
    .s_i           (in_q.cc[1][LANES-1:0]),
    .c_i           (in_q.cc[2][LANES-1:0]),
    .o_i           (in_q.cc[3][LANES-1:0]),
    .r_i           (r),
    .pc_o          (pc),
    .active_o      (active),
    .status_o      (status),
    .err_o         (err)
  );

  // What the probe of the RTL assigns.
  logic [LANES-1:0] probe_exited, probe_d_brk, probe_d_cont, probe_d_ret, probe_top_mask;
  logic [3:0]       probe_vis, probe_top_vis;
  logic [10:0]      probe_sp;
  logic [2:0]       probe_top_type;
  logic [31:0]      probe_top_addr;

  `include "spa5_probe.svh"

  // Without a token the top is nobody's business: it reads as 0 on both sides. One assignment, not one a
  // field: Verilator then builds each word once.
  logic some;
  assign some = probe_sp != 11'd0;
  assign state_o = '{
    pad:      '0,
    top_vis:  some ? 8'(probe_top_vis) : 8'd0,
    top_type: some ? 8'(probe_top_type) : 8'd0,
    vis:      8'(probe_vis),
    err:      8'(err),
    status:   8'(status),
    sp:       16'(probe_sp),
    top_addr: some ? probe_top_addr : 32'd0,
    pc:       pc,
    top_mask: some ? 64'(probe_top_mask) : 64'd0,
    d_ret:    64'(probe_d_ret),
    d_cont:   64'(probe_d_cont),
    d_brk:    64'(probe_d_brk),
    exited:   64'(probe_exited),
    active:   64'(active)
  };

`ifdef RECONVERGE_ASSERT
  // ---- invariants of spa5-3 ----------------------------------------------------------------------

  // Of a token, as SPA5_PROBE_TOKEN gives it.
  typedef struct packed {
    logic [2:0]       kind;
    logic [3:0]       vis;
    logic [31:0]      addr;
    logic [LANES-1:0] mask;
  } token_t;

  localparam logic [1:0] Run = 2'd0, Done = 2'd1, Unwind = 2'd3;
  localparam logic [2:0] Ssy = 3'd1, Pbk = 3'd2, Pcnt = 3'd3, Ret = 3'd4, Div = 3'd5;

  function automatic logic [3:0] vis_after(logic [2:0] kind, logic [3:0] vis);
    case (kind)
      Ssy:     return vis | 4'b0001;
      Pbk:     return (vis & 4'b1110) | 4'b0010;
      Pcnt:    return (vis & 4'b1110) | 4'b0100;
      Ret:     return 4'b1000;
      default: return vis;
    endcase
  endfunction

  logic [LANES-1:0] dis, live;
  assign dis  = probe_d_brk | probe_d_cont | probe_d_ret | probe_exited;
  assign live = ~probe_exited;

  // What is accumulated from the bottom of the stack to its top.
  logic [LANES-1:0] inv_floor, inv_div, inv_ssy, inv_pbk, inv_pcnt, inv_ret;
  logic [3:0]       inv_vis;
  token_t           inv_token;

  // A state that was loaded is whatever its loader wished: nothing is promised of what follows from it.
  logic [31:0] inv_loads, inv_loads_past;
  always @(posedge bench_i) if (load_i) inv_loads <= inv_loads + 32'd1;

  always @(posedge clk_i) begin
    if (!in_q.rst_n[0] || (in_q.launch[0] && !in_q.stall[0] && status != Run && status != Unwind)) begin
      inv_loads_past <= inv_loads;
    end
    // Not before the first reset, nor in it.
    if (in_q.rst_n[0] && inv_loads == inv_loads_past) begin
      if (status == Run) begin
        I1: assert (active != '0) else $fatal(1, "spa5-I1: no thread is active in status RUN");
        I2: assert (((probe_d_brk & probe_d_cont) | (probe_d_brk & probe_d_ret) | (probe_d_brk & probe_exited) |
                     (probe_d_cont & probe_d_ret) | (probe_d_cont & probe_exited) |
                     (probe_d_ret & probe_exited) | (active & dis)) == '0)
          else $fatal(1, "spa5-I2: a thread is in two of d_brk, d_cont, d_ret, exited and active");
        inv_floor = '1;
        inv_div   = '0;
        inv_ssy   = '0;
        inv_pbk   = '0;
        inv_pcnt  = '0;
        inv_ret   = '0;
        inv_vis   = '0;
        for (int i = 0; i < int'(probe_sp); i++) begin
          inv_token = `SPA5_PROBE_TOKEN(i);
          I5: assert ((inv_token.mask & ~inv_floor) == '0)
            else $fatal(1, "spa5-I5: token %0d has a thread that a token below it lacks", i);
          I10: assert (inv_token.vis == inv_vis) else $fatal(1, "spa5-I10: token %0d saved another vis", i);
          if (inv_token.kind == Div) begin
            I4: assert (inv_token.mask != '0 && (inv_token.mask & (inv_div | active | dis)) == '0)
              else $fatal(1, "spa5-I4: the mask of DIV token %0d", i);
            inv_div |= inv_token.mask;
          end else begin
            I3: assert ((active & ~inv_token.mask) == '0)
              else $fatal(1, "spa5-I3: an active thread is not in token %0d", i);
            inv_floor &= inv_token.mask;
          end
          case (inv_token.kind)
            Ssy:     inv_ssy |= inv_token.mask;
            Pbk:     inv_pbk |= inv_token.mask;
            Pcnt:    inv_pcnt |= inv_token.mask;
            Ret:     inv_ret |= inv_token.mask;
            default: ;
          endcase
          inv_vis = vis_after(inv_token.kind, inv_vis);
        end
        I6: assert (((probe_d_brk & ~inv_pbk) | (probe_d_cont & ~inv_pcnt) | (probe_d_ret & ~inv_ret)) == '0)
          else $fatal(1, "spa5-I6: a thread waits for a token that does not have it");
        I7: assert ((live & ~active & ~dis & ~inv_div & ~inv_ssy) == '0)
          else $fatal(1, "spa5-I7: a thread is lost");
        I8: assert (probe_sp != 11'd0 || active == live) else $fatal(1, "spa5-I8: a thread is missing, the stack is empty");
        I10_now: assert (probe_vis == inv_vis) else $fatal(1, "spa5-I10: vis is not what the tokens say");
      end
      if (status == Unwind && some) begin
        I9: assert (
          (probe_top_type != Pbk ||
           (probe_top_mask & ~(probe_d_cont | probe_d_ret | probe_exited)) == (probe_top_mask & probe_d_brk)) &&
          (probe_top_type != Pcnt ||
           (probe_top_mask & ~(probe_d_brk | probe_d_ret | probe_exited)) == (probe_top_mask & probe_d_cont)) &&
          (probe_top_type != Ret ||
           (probe_top_mask & ~(probe_d_brk | probe_d_cont | probe_exited)) == (probe_top_mask & probe_d_ret)))
          else $fatal(1, "spa5-I9: a token is popped before its threads have left");
      end
      if (status == Done) begin
        I11: assert (probe_exited == '1 && (probe_d_brk | probe_d_cont | probe_d_ret) == '0 && !some)
          else $fatal(1, "spa5-I11: done, and not everything is over");
      end
    end
  end
`endif

  // ---- what a person looks at in the dump ----------------------------------------------------------

  // Order of the field list in src/spa5/state.rs.
  always_ff @(posedge bench_i) begin
    mismatch_o[0]  <= state_o.active != golden_i.active;
    mismatch_o[1]  <= state_o.exited != golden_i.exited;
    mismatch_o[2]  <= state_o.d_brk != golden_i.d_brk;
    mismatch_o[3]  <= state_o.d_cont != golden_i.d_cont;
    mismatch_o[4]  <= state_o.d_ret != golden_i.d_ret;
    mismatch_o[5]  <= state_o.top_mask != golden_i.top_mask;
    mismatch_o[6]  <= state_o.pc != golden_i.pc;
    mismatch_o[7]  <= state_o.top_addr != golden_i.top_addr;
    mismatch_o[8]  <= state_o.sp != golden_i.sp;
    mismatch_o[9]  <= state_o.status != golden_i.status;
    mismatch_o[10] <= state_o.err != golden_i.err;
    mismatch_o[11] <= state_o.vis != golden_i.vis;
    mismatch_o[12] <= state_o.top_type != golden_i.top_type;
    mismatch_o[13] <= state_o.top_vis != golden_i.top_vis;
  end

  // Both sides under the same names: rtl_view.pc beside golden_view.pc.
  spa5_view #(.LANES(LANES)) rtl_view (.bench_i, .state_i(state_o));
  spa5_view #(.LANES(LANES)) golden_view (.bench_i, .state_i(golden_i));

  // ---- state seeding -----------------------------------------------------------------------------

  logic [LANES-1:0] load_active;
  logic [LANES-1:0] load_exited;
  logic [LANES-1:0] load_d_brk;
  logic [LANES-1:0] load_d_cont;
  logic [LANES-1:0] load_d_ret;
  logic [LANES-1:0] load_top_mask;
  logic [31:0]      load_pc;
  logic [31:0]      load_top_addr;
  logic [10:0]      load_sp;
  logic [1:0]       load_status;
  logic [3:0]       load_err;
  logic [3:0]       load_vis;
  logic [2:0]       load_top_type;
  logic [3:0]       load_top_vis;

  assign load_active   = golden_i.active[LANES-1:0];
  assign load_exited   = golden_i.exited[LANES-1:0];
  assign load_d_brk    = golden_i.d_brk[LANES-1:0];
  assign load_d_cont   = golden_i.d_cont[LANES-1:0];
  assign load_d_ret    = golden_i.d_ret[LANES-1:0];
  assign load_top_mask = golden_i.top_mask[LANES-1:0];
  assign load_pc       = golden_i.pc;
  assign load_top_addr = golden_i.top_addr;
  assign load_sp       = golden_i.sp[10:0];
  assign load_status   = golden_i.status[1:0];
  assign load_err      = golden_i.err[3:0];
  assign load_vis      = golden_i.vis[3:0];
  assign load_top_type = golden_i.top_type[2:0];
  assign load_top_vis  = golden_i.top_vis[3:0];

  // Not on an edge of clk_i: that would cost an evaluation of the unit every clock.
  always @(posedge bench_i) begin
    if (load_i) begin
      `SPA5_PROBE_LOAD
    end
  end

endmodule
