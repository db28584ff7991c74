// The bare loop of the model: random pins, nothing is compared.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "Vrpstack.h"
#include "verilated.h"

int main(int argc, char **argv) {
  const uint64_t cycles = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  Vrpstack dut;
  uint64_t x = 88172645463325252u, seen = 0;
  for (uint64_t cycle = 0; cycle < cycles; cycle++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    dut.rst_ni = cycle != 0 && (x >> 16 & 127) != 0;
    dut.pop_i = (x >> 8 & 255) < 102 && !dut.empty_o;
    dut.push_i = (x & 255) < 102 && (!dut.full_o || dut.pop_i);
    dut.mask_i = x >> 24 & 255;
    dut.pc_i = x >> 32 & 0xFFFF;
    dut.clk_i = 0;
    dut.eval();
    dut.clk_i = 1;
    dut.eval();
    seen += dut.pc_o;
  }
  // Without a use of the outputs nothing would keep a compiler from computing none.
  std::printf("%llu\n", static_cast<unsigned long long>(seen));
}
