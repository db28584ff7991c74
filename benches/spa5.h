// Unit spa5 in the bare loop (unit_bare.cpp): its inputs, its pins, its outputs.

struct In {  // src/spa5/state.rs
  uint64_t p[7], cc[4], launch_mask, word;
  uint32_t entry, prog_size;
  uint8_t launch, stall, inst_valid, rst_n, pad[4];
  uint32_t r[64];
};
static_assert(sizeof(In) == 376, "src/spa5/state.rs");

// r_i stays 0: as long as it is built without BRX, the unit does not look at it.
inline void drive(UNIT &top, const In &in) {
  top.rst_ni = in.rst_n;
  top.stall_i = in.stall;
  top.launch_i = in.launch;
  top.entry_i = in.entry;
  top.prog_size_i = in.prog_size;
  top.launch_mask_i = lanes(in.launch_mask);
  top.inst_valid_i = in.inst_valid;
  top.word_i = in.word;
  top.p0_i = lanes(in.p[0]);
  top.p1_i = lanes(in.p[1]);
  top.p2_i = lanes(in.p[2]);
  top.p3_i = lanes(in.p[3]);
  top.p4_i = lanes(in.p[4]);
  top.p5_i = lanes(in.p[5]);
  top.p6_i = lanes(in.p[6]);
  top.z_i = lanes(in.cc[0]);
  top.s_i = lanes(in.cc[1]);
  top.c_i = lanes(in.cc[2]);
  top.o_i = lanes(in.cc[3]);
}

inline auto outputs(const UNIT &top) {
  return std::array{
      Output{"pc", top.pc_o},
      Output{"active", top.active_o},
      Output{"status", top.status_o},
      Output{"err", top.err_o},
  };
}
