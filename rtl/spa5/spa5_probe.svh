// Where a bench finds the state of spa5_seq. Included in the body of the bench top, whose instance of
// the unit is called `dut` and which declares the nets assigned here; only benches use this file.
//
//   probe_d_brk, probe_d_cont, probe_d_ret   threads that wait for their PBK, PCNT or RET token
//   probe_top_*                              the token at sp - 1; anything if sp = 0

assign probe_exited = dut.u_threads.exited_q;
assign probe_d_brk  = dut.u_threads.d_brk_q;
assign probe_d_cont = dut.u_threads.d_cont_q;
assign probe_d_ret  = dut.u_threads.d_ret_q;

assign probe_vis = dut.u_stack.vis_q;
assign probe_sp  = 11'(dut.u_stack.sp_q);

assign {probe_top_type, probe_top_vis, probe_top_addr} = dut.u_stack.top_head_q;
assign probe_top_mask = dut.u_stack.top_mask_q;

// Stored token i < sp, 0 the oldest: {type[2:0], vis[3:0], addr[31:0], mask[LANES-1:0]}.
`define SPA5_PROBE_TOKEN(i) \
  {dut.u_stack.head_q[dut.u_stack.AddrBits'(i)], dut.u_stack.mask_q[dut.u_stack.AddrBits'(i)]}

// Puts the unit into the state on the load_* nets. For use between two rising edges:
//   always @(posedge bench_i) if (load_i) begin `SPA5_PROBE_LOAD end
// Of the stack it writes the token on top, both copies of it. A deeper stack is loaded token by token, the
// bottom one first. The program size is not loaded: a launch sets it before. The state must be one that
// the unit can reach under it.
`define SPA5_PROBE_LOAD \
  dut.u_threads.active_q <= load_active; \
  dut.u_threads.exited_q <= load_exited; \
  dut.u_threads.d_brk_q  <= load_d_brk; \
  dut.u_threads.d_cont_q <= load_d_cont; \
  dut.u_threads.d_ret_q  <= load_d_ret; \
  dut.u_stack.vis_q      <= load_vis; \
  dut.u_stack.sp_q       <= load_sp[dut.u_stack.SpBits-1:0]; \
  dut.u_stack.top_head_q <= {load_top_type, load_top_vis, load_top_addr}; \
  dut.u_stack.top_mask_q <= load_top_mask; \
  if (load_sp != 11'd0) begin \
    dut.u_stack.head_q[dut.u_stack.AddrBits'(load_sp - 11'd1)] <= {load_top_type, load_top_vis, load_top_addr}; \
    dut.u_stack.mask_q[dut.u_stack.AddrBits'(load_sp - 11'd1)] <= load_top_mask; \
  end \
  dut.pc_q     <= load_pc; \
  dut.status_q <= load_status; \
  dut.err_q    <= load_err;
