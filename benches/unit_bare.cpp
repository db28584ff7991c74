// The bare unit under a C++ loop: no bench top, no comparison, no Rust. Reads recorded input structs
// (src/r500/state.rs, `In`), runs the model through them, prints nanoseconds a clock.
// Compiled by benches/cost in one unit with what Verilator emitted for the unit as top module.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "verilated.h"

namespace {

struct In {
  uint64_t alu, pred[4], cov;
  uint32_t cmn, inst, addr, const_wdata, fc_ctrl, code_addr, code_range, code_offset;
  uint8_t const_addr, const_we, launch, stall, inst_valid, rst_n, pad[2];
};
static_assert(sizeof(In) == 88, "src/r500/state.rs");

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: unit_bare INPUTS TIMES\n"), 2;
  const long times = std::strtol(argv[2], nullptr, 10);
  std::FILE *file = std::fopen(argv[1], "rb");
  if (!file) return std::perror(argv[1]), 2;
  std::vector<In> inputs;
  In one;
  while (std::fread(&one, sizeof(one), 1, file) == 1) inputs.push_back(one);
  std::fclose(file);
  if (inputs.empty()) return std::fprintf(stderr, "no inputs\n"), 2;

  VerilatedContext context;
  UNIT top{&context};
  uint64_t sum = 0;
  const auto start = std::chrono::steady_clock::now();
  for (long time = 0; time < times; ++time)
  for (const In &in : inputs) {
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
    top.alu_i = static_cast<uint16_t>(in.alu);
    top.pred_r_i = static_cast<uint16_t>(in.pred[0]);
    top.pred_g_i = static_cast<uint16_t>(in.pred[1]);
    top.pred_b_i = static_cast<uint16_t>(in.pred[2]);
    top.pred_a_i = static_cast<uint16_t>(in.pred[3]);
    top.cov_i = static_cast<uint16_t>(in.cov);
    top.clk_i = 1;
    top.eval();
    top.clk_i = 0;
    top.eval();
    sum = sum * 31 + top.pc_o + top.active_o;
  }
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  top.final();
  // The sum keeps the loop from being optimised away; it goes where nobody parses it.
  std::fprintf(stderr, "%llx\n", static_cast<unsigned long long>(sum));
  std::printf("%.2f\n", took.count() / static_cast<double>(inputs.size()) / static_cast<double>(times));
  return 0;
}
