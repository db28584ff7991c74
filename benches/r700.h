// Unit r700 in the bare loop (unit_bare.cpp): its inputs, its pins, its outputs.

struct In {  // src/r700/state.rs
  uint64_t pred, lane_mask;
  uint32_t dw0, dw1, const_wdata, entry, prog_len;
  uint8_t stack_size, const_addr, const_we, launch, stall, inst_valid, u, rst_n, pad[4];
};
static_assert(sizeof(In) == 48, "src/r700/state.rs");

inline void drive(UNIT &top, const In &in) {
  top.rst_ni = in.rst_n;
  top.stall_i = in.stall;
  top.const_we_i = in.const_we;
  top.const_addr_i = in.const_addr;
  top.const_wdata_i = in.const_wdata;
  top.launch_i = in.launch;
  top.entry_i = in.entry;
  top.prog_len_i = in.prog_len;
  top.lane_mask_i = lanes(in.lane_mask);
  top.stack_size_i = in.stack_size;
  top.inst_valid_i = in.inst_valid;
  top.dw0_i = in.dw0;
  top.dw1_i = in.dw1;
  top.u_i = in.u;
  top.pred_i = lanes(in.pred);
}

inline auto outputs(const UNIT &top) {
  return std::array{
      Output{"pc", top.pc_o},
      Output{"active", top.active_o},
      Output{"valid", top.valid_o},
      Output{"al", top.al_o},
      Output{"exec", top.exec_o},
      Output{"jump", top.jump_o},
      Output{"skipped", top.skipped_o},
      Output{"running", top.running_o},
      Output{"done", top.done_o},
      Output{"halted", top.halted_o},
      Output{"err", top.err_o},
  };
}
