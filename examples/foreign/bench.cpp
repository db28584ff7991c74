// A bench in plain C++: RTL against golden model, cycle by cycle.
//
//   bench UNIT SEEDS PROGRAM...      seeds 1 to SEEDS of each program; UNIT is the unit whose RTL is linked

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "reconverge_golden.h"
#include "rtl.h"

namespace {

struct Free {
  void operator()(reconverge_golden *golden) const { reconverge_golden_free(golden); }
  void operator()(reconverge_case *c) const { reconverge_case_free(c); }
  void operator()(rtl *rtl) const { rtl_free(rtl); }
};
using Golden = std::unique_ptr<reconverge_golden, Free>;
using Case = std::unique_ptr<reconverge_case, Free>;
using Rtl = std::unique_ptr<rtl, Free>;

int refused() {
  std::fprintf(stderr, "bench: %s\n", reconverge_error());
  return 2;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc < 4 || reconverge_abi() != RECONVERGE_ABI) {
    std::fprintf(stderr, "usage: bench UNIT SEEDS PROGRAM...\n");
    return 2;
  }
  const char *unit = argv[1];
  const unsigned long seeds = std::strtoul(argv[2], nullptr, 10);
  uint64_t runs = 0, cycles = 0;
  for (int i = 3; i < argc; i++) {
    for (unsigned long seed = 1; seed <= seeds; seed++) {
      const Case c{reconverge_case_program(unit, 0, nullptr, argv[i], nullptr, seed, seed % 4)};
      if (!c) return refused();
      const Golden golden{reconverge_case_golden(c.get())};
      if (!golden) return refused();
      const size_t pins_size = reconverge_golden_pins_size(golden.get());
      std::vector<char> state(reconverge_golden_state_size(golden.get()));
      const Rtl rtl{rtl_new(static_cast<int>(seed))};
      const uint64_t last = reconverge_case_cycles(c.get());
      for (uint64_t cycle = 0; cycle <= last; cycle++) {
        // One more cycle shows the state after the last one; its pins do not matter.
        const void *pins = reconverge_case_pins(c.get(), cycle < last ? cycle : last - 1);
        if (!pins) return refused();
        rtl_cycle(rtl.get(), pins, state.data());
        // Before the first cycle of the reset there is nothing to compare.
        if (cycle > 0) {
          const char *differs = reconverge_golden_compare(golden.get(), state.data(), state.size());
          if (!differs) return refused();
          if (*differs) {
            std::printf("%s, seed %lu: after cycle %" PRIu64 "\n%s", argv[i], seed, cycle - 1, differs);
            return 1;
          }
          cycles++;
        }
        if (cycle < last && reconverge_golden_cycle(golden.get(), pins, pins_size) != 0) return refused();
      }
      runs++;
    }
  }
  std::printf("%s: %" PRIu64 " runs, %" PRIu64 " cycles agree\n", unit, runs, cycles);
  return 0;
}
