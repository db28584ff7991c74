// Where a bench finds the state of r500_seq. Included in the body of the bench top, whose instance of
// the unit is called `dut` and which declares the nets assigned here; only benches use this file.
//
//   probe_st1, probe_st0   class planes: {st1, st0} is 0 ACTIVE, 1 BRANCH, 2 CONT, 3 BRK
//   probe_bc4 .. probe_bc0 branch counter planes, 0 unless BRANCH
//   probe_lc1, probe_lc0   loop-inactive counter planes, 0 unless CONT or BRK
//   probe_loop<f>          frame f, 0 the bottom: {kind (0 LOOP, 1 REP), count, aL}; valid if f < depth
//   probe_addr<f>          return address f, 0 the bottom; valid if f < depth
//   probe_int_const        constant n at [24*n +: 24]

assign probe_st0 = dut.u_lanes.st0_q;
assign probe_st1 = dut.u_lanes.st1_q;
assign probe_bc0 = dut.u_lanes.bc0_q;
assign probe_bc1 = dut.u_lanes.bc1_q;
assign probe_bc2 = dut.u_lanes.bc2_q;
assign probe_bc3 = dut.u_lanes.bc3_q;
assign probe_bc4 = dut.u_lanes.bc4_q;
assign probe_lc0 = dut.u_lanes.lc0_q;
assign probe_lc1 = dut.u_lanes.lc1_q;

assign probe_loop0 = {dut.u_loop_stack.rep_q[0], dut.u_loop_stack.count_q[7:0],
                      dut.u_loop_stack.al_q[7:0]};
assign probe_loop1 = {dut.u_loop_stack.rep_q[1], dut.u_loop_stack.count_q[15:8],
                      dut.u_loop_stack.al_q[15:8]};
assign probe_loop2 = {dut.u_loop_stack.rep_q[2], dut.u_loop_stack.count_q[23:16],
                      dut.u_loop_stack.al_q[23:16]};
assign probe_loop3 = {dut.u_loop_stack.rep_q[3], dut.u_loop_stack.count_q[31:24],
                      dut.u_loop_stack.al_q[31:24]};
assign probe_loop_depth = dut.u_loop_stack.depth_q;

assign probe_addr0 = dut.u_addr_stack.addr_q[9:0];
assign probe_addr1 = dut.u_addr_stack.addr_q[19:10];
assign probe_addr2 = dut.u_addr_stack.addr_q[29:20];
assign probe_addr3 = dut.u_addr_stack.addr_q[39:30];
assign probe_addr_depth = dut.u_addr_stack.depth_q;

assign probe_int_const  = dut.u_consts.int_q;
assign probe_bool_const = dut.u_consts.bool_q;

// Puts the unit into the state on the load_* nets. For use between two rising edges:
//   always @(posedge bench_i) if (load_i) begin `R500_PROBE_LOAD end
// Control registers and constants are not loaded: a launch and the host port set them before. The
// state must be one that the unit can reach under those: counters canonical and within their limits
// (branch counter at most 3 in partial mode, loop-inactive counter below the loop depth, count not 0).
`define R500_PROBE_LOAD \
  dut.u_lanes.active_q      <= ~(load_st1 | load_st0); \
  dut.u_lanes.st0_q         <= load_st0; \
  dut.u_lanes.st1_q         <= load_st1; \
  dut.u_lanes.bc0_q         <= load_bc0; \
  dut.u_lanes.bc1_q         <= load_bc1; \
  dut.u_lanes.bc2_q         <= load_bc2; \
  dut.u_lanes.bc3_q         <= load_bc3; \
  dut.u_lanes.bc4_q         <= load_bc4; \
  dut.u_lanes.lc0_q         <= load_lc0; \
  dut.u_lanes.lc1_q         <= load_lc1; \
  dut.u_loop_stack.rep_q    <= {load_loop3[16], load_loop2[16], load_loop1[16], load_loop0[16]}; \
  dut.u_loop_stack.count_q  <= {load_loop3[15:8], load_loop2[15:8], \
                                load_loop1[15:8], load_loop0[15:8]}; \
  dut.u_loop_stack.al_q     <= {load_loop3[7:0], load_loop2[7:0], load_loop1[7:0], load_loop0[7:0]}; \
  dut.u_loop_stack.depth_q  <= load_loop_depth; \
  dut.u_loop_stack.al_top_q <= (load_loop_depth == 3'd4) ? load_loop3[7:0] : \
                               (load_loop_depth == 3'd3) ? load_loop2[7:0] : \
                               (load_loop_depth == 3'd2) ? load_loop1[7:0] : \
                               (load_loop_depth == 3'd1) ? load_loop0[7:0] : 8'd0; \
  dut.u_addr_stack.addr_q   <= {load_addr3, load_addr2, load_addr1, load_addr0}; \
  dut.u_addr_stack.depth_q  <= load_addr_depth; \
  dut.pc_q                  <= load_pc; \
  dut.running_q             <= load_running; \
  dut.done_q                <= load_done; \
  dut.halted_q              <= load_halted; \
  dut.err_q                 <= load_err; \
  dut.alu_clr_q             <= load_alu_clr;
