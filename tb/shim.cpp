// One template for all units. Compiled once a model, in one unit with what Verilator emitted, with
//   RCV_TOP     class of the verilated bench top
//   RCV_SYMBOL  name of the exported table
//   RCV_LANES   LANES of the model
// RCV_TOP comes from the file that crates/verilate joins them in, the others from its command line.

#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "shim.h"
#include "verilated.h"
#include "verilated_vcd_c.h"
#if VM_COVERAGE
#include "verilated_cov.h"
#endif

struct rcv_model {
  VerilatedContext context;
  std::unique_ptr<RCV_TOP> top;
  std::unique_ptr<VerilatedVcdC> vcd;
  uint64_t clock = 0;
  std::string stopped;
};

namespace {

// Ten time units a clock, rising edge at multiples of ten.
constexpr uint64_t kPeriod = 10;
constexpr uint64_t kHalf = 5;

template <typename T>
void put(T &port, const void *bytes) {
  std::memcpy(&port, bytes, sizeof(port));
}

// Does `work` unless the RTL has stopped the simulation (see stop.cpp) or does so now.
template <typename Work>
inline bool running(rcv_model *m, Work work) {
  if (!m->stopped.empty()) return false;
  try {
    work();
    return true;
  } catch (const std::exception &e) {
    m->stopped = e.what();
    return false;
  }
}

inline void edge(rcv_model *m, uint8_t level) {
  m->top->clk_i = level;
  m->top->eval();
}

// A rising edge of the top's other clock: the views, and with `load` the seeding of the unit.
void bench(rcv_model *m, bool load) {
  m->top->load_i = load;
  m->top->bench_i = 1;
  m->top->eval();
  m->top->bench_i = 0;
  m->top->eval();
}

rcv_model *create(uint32_t seed, uint32_t mutant) {
  auto m = std::unique_ptr<rcv_model>(new (std::nothrow) rcv_model);
  if (!m) return nullptr;
  m->context.randReset(2);
  m->context.randSeed(static_cast<int>(seed));
  m->context.traceEverOn(true);
  const std::string number = "+reconverge_mutant=" + std::to_string(mutant);
  const char *arguments[] = {"", number.c_str()};
  m->context.commandArgs(2, arguments);
  // $value$plusargs asks the context of the thread, and models live side by side.
  Verilated::threadContextp(&m->context);
  m->top.reset(new (std::nothrow) RCV_TOP{&m->context, "TOP"});
  if (!m->top) return nullptr;
  m->top->bench_i = 0;
  m->top->load_i = 0;
  std::memset(&m->top->in_i, 0, sizeof(m->top->in_i));
  std::memset(&m->top->golden_i, 0, sizeof(m->top->golden_i));
  running(m.get(), [&] { edge(m.get(), 0); });
  return m.release();
}

void destroy(rcv_model *m) {
  if (m->vcd) m->vcd->close();
  running(m, [&] { m->top->final(); });
  delete m;
}

const void *step(rcv_model *m, const void *in, const void *golden) {
  const bool went = running(m, [&] {
    put(m->top->in_i, in);
    edge(m, 1);
    if (m->vcd) {
      if (golden) put(m->top->golden_i, golden);
      // After the clock's own edge, so that the views show what it did.
      bench(m, false);
      m->vcd->dump(static_cast<uint64_t>(m->clock * kPeriod));
    }
    edge(m, 0);
    if (m->vcd) m->vcd->dump(static_cast<uint64_t>(m->clock * kPeriod + kHalf));
    ++m->clock;
  });
  // Not a copy: most callers only hold it against what they expect.
  return went ? static_cast<const void *>(&m->top->state_o) : nullptr;
}

void load(rcv_model *m, const void *state) {
  // First the clock that the top still has in its input registers (a stalled one, by contract), so
  // that nothing moves after the load.
  running(m, [&] {
    edge(m, 1);
    edge(m, 0);
    put(m->top->golden_i, state);
    bench(m, true);
  });
}

uint64_t bare(rcv_model *m, const void *ins, uint64_t count) {
  const auto *in = static_cast<const char *>(ins);
  uint64_t sum = 0;
  running(m, [&] {
    for (uint64_t i = 0; i < count; ++i, in += sizeof(m->top->in_i)) {
      put(m->top->in_i, in);
      edge(m, 1);
      edge(m, 0);
      uint64_t word;
      std::memcpy(&word, &m->top->state_o, sizeof(word));
      sum = (sum << 1 | sum >> 63) ^ word;
    }
  });
  return sum;
}

void close_vcd(rcv_model *m) {
  if (m->vcd) m->vcd->close();
  m->vcd.reset();
}

int open_vcd(rcv_model *m, const char *path) {
  close_vcd(m);
  // Opened here first: the trace writer has no way to say that it cannot.
  std::FILE *probe = std::fopen(path, "w");
  if (!probe) return 0;
  std::fclose(probe);
  m->vcd.reset(new VerilatedVcdC);
  m->top->trace(m->vcd.get(), 99);
  m->vcd->set_time_unit("1ns");
  m->vcd->set_time_resolution("1ns");
  m->vcd->open(path);
  return m->vcd->isOpen() ? 1 : 0;
}

uint64_t mismatch(const rcv_model *m) { return m->top->mismatch_o; }

const char *stopped(const rcv_model *m) { return m->stopped.empty() ? nullptr : m->stopped.c_str(); }

int write_coverage(const rcv_model *m, const char *path) {
#if VM_COVERAGE
  // The context hands its counters out only of one that is not const.
  const_cast<rcv_model *>(m)->context.coveragep()->write(path);
  return 1;
#else
  (void)m;
  (void)path;
  return 0;
#endif
}

}  // namespace

extern "C" {
// `extern` again: a constant at namespace scope has internal linkage by default.
extern const rcv_api RCV_SYMBOL __attribute__((visibility("default")));
const rcv_api RCV_SYMBOL = {
    RCV_ABI, RCV_LANES, sizeof(RCV_TOP::in_i), sizeof(RCV_TOP::state_o),
    create,  destroy,   step,                  load,                     bare,
    open_vcd, close_vcd, mismatch,  stopped,              write_coverage,
};
}
