// Where a bench finds the state of r700_seq. Included in the body of the bench top, whose instance of
// the unit is called `dut` and which declares LANES and the nets assigned here; only benches use this file.
//
//   probe_st1, probe_st0   class planes: {st1, st0} is 0 ACTIVE, 1 BRANCH, 2 CONT, 3 BRK
//   probe_top_mask         branch frame under `sp`; 0 if sp = base
//   probe_frame_*          innermost loop or call frame, the one under `base`; what it lacks is 0
//   probe_loop_const       constant n at [32*n +: 32]

assign probe_st0   = dut.u_lanes.st0_q;
assign probe_st1   = dut.u_lanes.st1_q;
assign probe_sp    = dut.u_stack.sp_q;
assign probe_base  = dut.u_stack.base_q;
assign probe_bkind = dut.u_stack.bkind_q;
assign probe_nb    = dut.u_stack.nb_q;
assign probe_lt    = dut.u_loop.lt_q;
assign probe_lc    = dut.u_loop.lc_q;
assign probe_inc   = dut.u_loop.inc_q;
assign probe_depth = dut.depth_q;

assign probe_loop_const = dut.u_consts.loop_q;
assign probe_bool_const = dut.u_consts.bool_q;

// The word of one sub-entry: banks by address bits 1:0 (layout at the top of r700_stack.sv).
function automatic logic [63:0] probe_word(input logic [9:0] address);
  unique case (address[1:0])
    2'd0: probe_word = 64'(dut.u_stack.bank0_q[address[dut.u_stack.RowBits+1:2]]);
    2'd1: probe_word = 64'(dut.u_stack.bank1_q[address[dut.u_stack.RowBits+1:2]]);
    2'd2: probe_word = 64'(dut.u_stack.bank2_q[address[dut.u_stack.RowBits+1:2]]);
    2'd3: probe_word = 64'(dut.u_stack.bank3_q[address[dut.u_stack.RowBits+1:2]]);
  endcase
endfunction

// Only what is there is read: this is evaluated in every clock of every run.
logic [63:0] probe_frame2;
always_comb begin
  probe_top_mask    = '0;
  probe_frame_st0   = '0;
  probe_frame_st1   = '0;
  probe_frame_lt    = '0;
  probe_frame_lc    = '0;
  probe_frame_al    = '0;
  probe_frame_inc   = '0;
  probe_frame_ret   = '0;
  probe_frame_depth = '0;
  probe_frame_base  = '0;
  probe_frame_bkind = '0;
  probe_frame2      = '0;
  if (probe_sp != probe_base) probe_top_mask = LANES'(probe_word(probe_sp - 10'd1));
  if (probe_bkind == r700_pkg::FrameLoop) begin
    probe_frame_st0   = LANES'(probe_word(probe_base - 10'd4));
    probe_frame_st1   = LANES'(probe_word(probe_base - 10'd3));
    probe_frame2      = probe_word(probe_base - 10'd2);
    probe_frame_lc    = probe_frame2[11:0];
    probe_frame_inc   = probe_frame2[19:12];
    probe_frame_lt    = probe_frame2[21:20];
    probe_frame_bkind = probe_frame2[23:22];
    probe_frame_base  = probe_frame2[33:24];
    probe_frame_al    = 32'(probe_word(probe_base - 10'd1));
  end else if (probe_bkind == r700_pkg::FrameCall) begin
    probe_frame2      = probe_word(probe_base - 10'd1);
    probe_frame_ret   = probe_frame2[31:0];
    probe_frame_depth = probe_frame2[37:32];
    probe_frame_bkind = probe_frame2[39:38];
    probe_frame_base  = probe_frame2[49:40];
  end
end

task automatic probe_store(input logic [9:0] address, input logic [63:0] word);
  unique case (address[1:0])
    2'd0: dut.u_stack.bank0_q[address[dut.u_stack.RowBits+1:2]] <= word[dut.u_stack.WordBits-1:0];
    2'd1: dut.u_stack.bank1_q[address[dut.u_stack.RowBits+1:2]] <= word[dut.u_stack.WordBits-1:0];
    2'd2: dut.u_stack.bank2_q[address[dut.u_stack.RowBits+1:2]] <= word[dut.u_stack.WordBits-1:0];
    2'd3: dut.u_stack.bank3_q[address[dut.u_stack.RowBits+1:2]] <= word[dut.u_stack.WordBits-1:0];
  endcase
endtask

// Puts the unit into the state on the load_* nets. For use between two rising edges:
//   always @(posedge bench_i) if (load_i) begin `R700_PROBE_LOAD end
// Of the stack it writes what is visible: the branch frame under `sp` and the loop or call frame under
// `base`. A deeper stack is loaded frame by frame, the bottom one first. Control registers (program
// length, stack limit) and constants are not loaded: a launch and the host port set them before. The
// state must be one that the unit can reach under those.
`define R700_PROBE_LOAD \
  dut.u_lanes.active_q <= ~(load_st1 | load_st0); \
  dut.u_lanes.st0_q    <= load_st0; \
  dut.u_lanes.st1_q    <= load_st1; \
  dut.u_lanes.valid_q  <= load_valid; \
  dut.u_lanes.exec_q   <= load_exec; \
  dut.u_loop.lt_q      <= load_lt; \
  dut.u_loop.lc_q      <= load_lc; \
  dut.u_loop.al_q      <= load_al; \
  dut.u_loop.inc_q     <= load_inc; \
  dut.u_stack.sp_q     <= load_sp; \
  dut.u_stack.base_q   <= load_base; \
  dut.u_stack.bkind_q  <= load_bkind; \
  dut.u_stack.nb_q     <= load_nb; \
  if (load_sp != load_base) probe_store(load_sp - 10'd1, 64'(load_top_mask)); \
  if (load_bkind == r700_pkg::FrameLoop) begin \
    probe_store(load_base - 10'd4, 64'(load_frame_st0)); \
    probe_store(load_base - 10'd3, 64'(load_frame_st1)); \
    probe_store(load_base - 10'd2, 64'({load_frame_base, load_frame_bkind, load_frame_lt, \
                                        load_frame_inc, load_frame_lc})); \
    probe_store(load_base - 10'd1, 64'(load_frame_al)); \
  end else if (load_bkind == r700_pkg::FrameCall) begin \
    probe_store(load_base - 10'd1, 64'({load_frame_base, load_frame_bkind, load_frame_depth, \
                                        load_frame_ret})); \
  end \
  dut.pc_q      <= load_pc; \
  dut.depth_q   <= load_depth; \
  dut.jump_q    <= load_jump; \
  dut.skipped_q <= load_skipped; \
  dut.running_q <= load_running; \
  dut.done_q    <= load_done; \
  dut.halted_q  <= load_halted; \
  dut.err_q     <= load_err;
