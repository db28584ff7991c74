// The bare unit in a C++ loop: no bench top, no comparison, no Rust. Reads recorded input structs, runs
// the model with them, and prints nanoseconds per cycle and, for each output, a sum over the recorded cycles.
// benches/cost.rs compares these sums with those of the golden model, and so detects a loop that drives or
// reads a pin wrongly, and a wrong unit.
//
// benches/cost compiles it once for each unit and lane count, after Verilator's output for the unit, with
//   UNIT    class of the verilated unit
//   LANES   its lanes
//   HEADER  "<unit>.h", generated from the unit's declaration by `cost --header`. It declares
//             struct In                           the inputs of one cycle, as in the crate
//             void drive(UNIT &, const In &)      puts them on the pins, lane masks through lanes()
//             std::array outputs(const UNIT &)    every output port, by the name of its field of `State`

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "verilated.h"

namespace {

struct Output {
  const char *name;
  uint64_t value;
};

// Keeps the lanes that the unit has: Verilator wants the bits of a port above its width to be 0.
constexpr uint64_t lanes(uint64_t mask) {
  static_assert(LANES >= 1 && LANES <= 64, "masks are 64 bits wide");
  return mask & UINT64_MAX >> (64 - LANES);
}

#include HEADER

int fail(const char *why) {
  std::fprintf(stderr, "unit_bare: %s\n", why);
  return 2;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 4) return fail("usage: unit_bare INPUTS BYTES_OF_ONE TIMES");
  if (std::strtoul(argv[2], nullptr, 10) != sizeof(In)) {
    return fail("In in " HEADER " is not as large as the one of the crate");
  }
  const long times = std::strtol(argv[3], nullptr, 10);
  std::FILE *file = std::fopen(argv[1], "rb");
  if (!file) return std::perror(argv[1]), 2;
  std::vector<In> inputs;
  In one;
  while (std::fread(&one, sizeof(one), 1, file) == 1) inputs.push_back(one);
  std::fclose(file);
  if (inputs.empty() || times < 1) return fail("nothing to run");

  VerilatedContext context;
  UNIT top{&context};
  // The first evaluation detects no edge: a rising edge would be lost.
  top.clk_i = 0;
  top.eval();
  const auto run = [&](auto after_clock) {
    for (const In &in : inputs) {
      drive(top, in);
      top.clk_i = 1;
      top.eval();
      top.clk_i = 0;
      top.eval();
      after_clock();
    }
  };

  // Once with a sum over every output.
  std::array<uint64_t, std::tuple_size_v<decltype(outputs(top))>> sums{};
  run([&] {
    const auto now = outputs(top);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] = sums[i] * 31 + now[i].value;
  });
  const auto end = outputs(top);

  const auto start = std::chrono::steady_clock::now();
  for (long time = 0; time < times; ++time) run([] {});
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  std::printf("%.2f\n", took.count() / static_cast<double>(inputs.size()) / static_cast<double>(times));

  // The timed cycles are not compared one by one, but the last one must leave the same outputs.
  const auto last = outputs(top);
  for (size_t i = 0; i < sums.size(); ++i) {
    if (last[i].value != end[i].value) return fail("the timed clocks were others");
    std::printf("%s %llu\n", last[i].name, static_cast<unsigned long long>(sums[i]));
  }
  top.final();
  return 0;
}
