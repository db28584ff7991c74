// Unit r500 in the bare loop (unit_bare.cpp): its inputs, its pins, its outputs.

struct In {  // src/r500/state.rs
  uint64_t alu, pred[4], cov;
  uint32_t cmn, inst, addr, const_wdata, fc_ctrl, code_addr, code_range, code_offset;
  uint8_t const_addr, const_we, launch, stall, inst_valid, rst_n, pad[2];
};
static_assert(sizeof(In) == 88, "src/r500/state.rs");

inline void drive(UNIT &top, const In &in) {
  top.rst_ni = in.rst_n;
  top.stall_i = in.stall;
  top.const_we_i = in.const_we;
  top.const_addr_i = in.const_addr;
  top.const_wdata_i = in.const_wdata;
  top.launch_i = in.launch;
  top.fc_ctrl_i = in.fc_ctrl;
  top.code_addr_i = in.code_addr;
  top.code_range_i = in.code_range;
  top.code_offset_i = in.code_offset;
  top.inst_valid_i = in.inst_valid;
  top.cmn_inst_i = in.cmn;
  top.fc_inst_i = in.inst;
  top.fc_addr_i = in.addr;
  top.alu_i = lanes(in.alu);
  top.pred_r_i = lanes(in.pred[0]);
  top.pred_g_i = lanes(in.pred[1]);
  top.pred_b_i = lanes(in.pred[2]);
  top.pred_a_i = lanes(in.pred[3]);
  top.cov_i = lanes(in.cov);
}

inline auto outputs(const UNIT &top) {
  return std::array{
      Output{"pc", top.pc_o},
      Output{"active", top.active_o},
      Output{"al", top.al_o},
      Output{"alu_clr", top.alu_clr_o},
      Output{"running", top.running_o},
      Output{"done", top.done_o},
      Output{"halted", top.halted_o},
      Output{"err", top.err_o},
  };
}
