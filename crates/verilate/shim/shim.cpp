// One template for all units. Compiled once for each model, in one translation unit with Verilator's output, with
//   RCV_TOP       class of the verilated bench top
//   RCV_SYMBOL    name of the exported table
//   RCV_LANES     LANES of the model
//   RCV_FEATURES  the bits of `features` (shim.h)
// RCV_TOP is defined in the file in which crates/verilate joins them, the others on its command line.
//
// Any call into the model may throw: stop.cpp turns $stop and the like into exceptions, and a constructor
// may run out of memory. Each function of the table catches everything and is noexcept.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <type_traits>

#include "shim.h"
#include "verilated.h"
#include "verilated_vcd_c.h"
#if VM_COVERAGE
#include "verilated_cov.h"
#endif

namespace {

// A text of limited length: storing it allocates no memory, which may have run out. Empty: there is no text.
class Text {
 public:
  void set(const char *text) noexcept {
    std::snprintf(bytes_, sizeof(bytes_), "%s", text && *text ? text : "an exception without a text");
  }
  void clear() noexcept { bytes_[0] = '\0'; }
  const char *get() const noexcept { return bytes_[0] ? bytes_ : nullptr; }

 private:
  char bytes_[1024] = "";
};

// Calls `work`; if it throws, returns false and sets `why`.
template <typename Work>
inline bool guarded(Text &why, Work work) noexcept {
  try {
    work();
    return true;
  } catch (const std::bad_alloc &) {
    why.set("out of memory");
  } catch (const std::exception &e) {
    why.set(e.what());
  } catch (...) {
    why.set("an exception of an unknown type");
  }
  return false;
}

// The file of a dump. Verilator ends the simulation when a dump cannot be written, even from a destructor. So this class
// never fails: it keeps the first error and drops all later output, and the shim checks the error. It collects Verilator's
// pieces of 8 KiB into larger ones: writing them took a third of the time of a cycle with a dump.
class DumpFile final : public VerilatedVcdFile {
 public:
  ~DumpFile() override { close(); }
  bool open(const std::string &name) override {
    if (!bytes_) bytes_.reset(new char[kSize]);
    held_ = 0;
    error_ = 0;
    // Not through a link: another user may have made it.
    fd_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd_ < 0) error_ = errno;
    return fd_ >= 0;
  }
  void close() override {
    if (fd_ >= 0) flush();
    if (fd_ >= 0 && ::close(fd_) != 0 && error_ == 0) error_ = errno;
    fd_ = -1;
  }
  ssize_t write(const char *bytes, ssize_t size) override {
    for (size_t left = static_cast<size_t>(size); left > 0;) {
      if (held_ == kSize) flush();
      const size_t fits = std::min(left, kSize - held_);
      std::memcpy(bytes_.get() + held_, bytes, fits);
      held_ += fits;
      bytes += fits;
      left -= fits;
    }
    return size;
  }
  // 0, or the number of the first error since the file was opened.
  int error() const { return error_; }
  void forget() { error_ = 0; }

 private:
  static constexpr size_t kSize = 65536;

  // Writes the bytes held, or drops them after an error.
  void flush() {
    for (size_t done = 0; done < held_ && error_ == 0;) {
      const ssize_t wrote = ::write(fd_, bytes_.get() + done, held_ - done);
      if (wrote > 0) {
        done += static_cast<size_t>(wrote);
      } else if (wrote == 0 || errno != EINTR) {
        error_ = wrote == 0 ? EIO : errno;
      }
    }
    held_ = 0;
  }

  std::unique_ptr<char[]> bytes_;
  size_t held_ = 0;
  int fd_ = -1;
  int error_ = 0;
};

// The type behind `rcv_model`. It has another name: several models are linked into one program, each with its own class
// of top, and the linker takes equal names in two files for the same type.
struct Model {
  VerilatedContext context;
  std::unique_ptr<RCV_TOP> top;
  DumpFile file;
  // Declared after the file, so that it is closed first.
  std::unique_ptr<VerilatedVcdC> vcd;
  uint64_t clock = 0;
  // The state and `now_o` before the falling edge, and whether they changed at it although the state is now as expected.
  std::remove_reference_t<decltype(RCV_TOP::state_o)> first_state;
  std::remove_reference_t<decltype(RCV_TOP::now_o)> first_now;
  bool state_changed = false;
  bool now_changed = false;
  // Whether the last operation was a load.
  bool loaded = false;
  // Whether the `initial` blocks have run.
  bool begun = false;
  Text stopped;
  Text trouble;
};

Model *of(rcv_model *m) { return reinterpret_cast<Model *>(m); }
const Model *of(const rcv_model *m) { return reinterpret_cast<const Model *>(m); }

// Ten time units per cycle, rising edge at multiples of ten.
constexpr uint64_t kPeriod = 10;
constexpr uint64_t kHalf = 5;

// Copies in pieces: for one large struct of known size GCC picks `rep movsq`, whose start takes longer than the whole copy.
template <typename T>
void put(T &port, const void *bytes) {
  constexpr size_t kPiece = 64;
  auto *to = reinterpret_cast<char *>(&port);
  const auto *from = static_cast<const char *>(bytes);
  size_t done = 0;
  for (; done + kPiece <= sizeof(port); done += kPiece) std::memcpy(to + done, from + done, kPiece);
  std::memcpy(to + done, from + done, sizeof(port) % kPiece);
}

// Makes this model's context the one that Verilator's runtime finds by thread ($value$plusargs, $fopen, $random): several
// models exist at once, and one may have moved here from another thread. About ten of the thousand instructions of a cycle.
inline void enter(Model *m) { Verilated::threadContextp(&m->context); }

// Calls `work` unless the RTL has stopped the simulation (see stop.cpp). Returns false if it has, or does so now.
template <typename Work>
inline bool running(Model *m, Work work) noexcept {
  if (m->stopped.get()) return false;
  m->begun = true;
  enter(m);
  return guarded(m->stopped, work);
}

// Only the bench top of a design with several clocks has these ports: those in `clocks_o` rise with the next edge.
template <typename Top, typename = void>
struct Clocks {
  static void begin(Top &) {}
  static void edge(Top &, uint8_t) {}
};
template <typename Top>
struct Clocks<Top, std::void_t<decltype(Top::clocks_o)>> {
  static void begin(Top &top) { top.clocks_o = 0xff; }
  static void edge(Top &top, uint8_t level) {
    uint8_t rising = level ? top.clocks_o : 0;
    for (uint8_t *clock : {&top.clock0_i, &top.clock1_i, &top.clock2_i, &top.clock3_i, &top.clock4_i, &top.clock5_i,
                           &top.clock6_i, &top.clock7_i}) {
      *clock = rising & 1;
      rising >>= 1;
    }
  }
};

inline void edge(Model *m, uint8_t level) {
  m->top->clk_i = level;
  Clocks<RCV_TOP>::edge(*m->top, level);
  m->top->eval();
}

// An edge, rising or falling, of the top's other clock: it updates the views, or with `load` preloads the unit.
void bench(Model *m, bool load) {
  m->top->load_i = load;
  m->top->bench_i = !m->top->bench_i;
  m->top->eval();
}

void end_dump(Model *m) {
  if (m->vcd) m->vcd->close();
  m->vcd.reset();
}

void dump(Model *m, uint64_t time) {
  m->vcd->dump(time);
  // Continuing is useless; `close_vcd` reports the error.
  if (m->file.error() != 0) end_dump(m);
}

rcv_model *create(uint32_t seed, uint32_t mutant, char *error, size_t size) noexcept {
  Text why;
  std::unique_ptr<Model> m;
  const bool made = guarded(why, [&] {
    m.reset(new Model);
    // Otherwise the first model of a context starts a thread for each further processor, which has nothing to do: a model has one.
    if (m->context.threads() > 1) m->context.threads(1);
    m->context.randReset(2);
    m->context.randSeed(static_cast<int>(seed));
    m->context.traceEverOn(true);
    const std::string number = "+reconverge_mutant=" + std::to_string(mutant);
    const char *arguments[] = {"", number.c_str()};
    m->context.commandArgs(2, arguments);
    enter(m.get());
    m->top.reset(new RCV_TOP{&m->context, "TOP"});
  });
  if (!made) {
    std::snprintf(error, size, "%s", why.get());
    return nullptr;
  }
  m->top->bench_i = 0;
  m->top->load_i = 0;
  // All clocks rise in the first cycle.
  Clocks<RCV_TOP>::begin(*m->top);
  std::memset(&m->top->in_i, 0, sizeof(m->top->in_i));
  std::memset(&m->top->golden_i, 0, sizeof(m->top->golden_i));
  // No evaluation: the first one is that of the first cycle. It runs the `initial` blocks, takes the pins, and finds the clock at 1
  // as at power-up, which is no edge. So RTL gets the edges of the cycles that the golden model is told of, and no other.
  return reinterpret_cast<rcv_model *>(m.release());
}

void destroy(rcv_model *handle, char *error, size_t size) noexcept {
  Model *m = of(handle);
  Text why;
  // Needed even after a stop: destructors use their context too.
  enter(m);
  if (m->begun && !m->stopped.get()) guarded(why, [&] { m->top->final(); });
  guarded(why, [&] { end_dump(m); });
  std::snprintf(error, size, "%s", why.get() ? why.get() : "");
  delete m;
}

// Whether the bench top has outputs in `now_o`; otherwise it is one bit, always 0.
constexpr bool kNow = sizeof(RCV_TOP::now_o) == sizeof(RCV_TOP::state_o);

const void *step(rcv_model *handle, const void *in, const void *golden, const void *after, int halves) noexcept {
  Model *m = of(handle);
  m->state_changed = m->now_changed = false;
  const auto differs = [](const auto &a, const void *b) { return std::memcmp(&a, b, sizeof(a)) != 0; };
  bool early = false;
  const bool went = running(m, [&] {
    m->context.time(m->clock * kPeriod);
    m->loaded = false;
    put(m->top->in_i, in);
    edge(m, 1);
    if (m->vcd) {
      if (golden) put(m->top->golden_i, golden);
      // After the edge of the clock, so that the views show its effect.
      bench(m, false);
      dump(m, m->clock * kPeriod);
    }
    if (after) {
      put(m->first_state, &m->top->state_o);
    } else if (halves) {
      early = differs(m->top->state_o, golden);
      if (early) put(m->first_state, &m->top->state_o);
      if (kNow) put(m->first_now, &m->top->now_o);
    }
    edge(m, 0);
    if (m->vcd) {
      if (after) {
        put(m->top->golden_i, after);
        bench(m, false);
      }
      dump(m, m->clock * kPeriod + kHalf);
    }
    ++m->clock;
    if (after) {
      m->state_changed = differs(m->top->state_o, after);
    } else if (halves && (early || kNow) && !differs(m->top->state_o, golden)) {
      m->state_changed = early;
      m->now_changed = kNow && differs(m->top->now_o, &m->first_now);
    }
  });
  if (!went || m->state_changed || m->now_changed) return nullptr;
  // Not a copy: most callers only compare it with the expected state.
  return after ? static_cast<const void *>(&m->first_state) : &m->top->state_o;
}

int halves(const rcv_model *handle, int now, const void **first, const void **second) noexcept {
  const Model *m = of(handle);
  *first = now ? static_cast<const void *>(&m->first_now) : &m->first_state;
  *second = now ? static_cast<const void *>(&m->top->now_o) : &m->top->state_o;
  return now ? m->now_changed : m->state_changed;
}

int load(rcv_model *handle, const void *state) noexcept {
  Model *m = of(handle);
  // First the cycle that is still in the input registers of the top (a stalled one, by contract), so that nothing changes
  // after the load. After another load that cycle is already done: a stack is loaded entry by entry, and repeating the
  // same stalled cycle would be most of the cost.
  return running(m, [&] {
    if (!m->loaded) {
      edge(m, 1);
      edge(m, 0);
    }
    m->loaded = true;
    put(m->top->golden_i, state);
    bench(m, true);
  });
}

int bare(rcv_model *handle, const void *ins, uint64_t count, uint64_t *sum) noexcept {
  Model *m = of(handle);
  const auto *in = static_cast<const char *>(ins);
  uint64_t states = 0;
  const bool went = running(m, [&] {
    m->loaded = false;
    for (uint64_t i = 0; i < count; ++i, in += sizeof(m->top->in_i)) {
      put(m->top->in_i, in);
      edge(m, 1);
      edge(m, 0);
      uint64_t word;
      std::memcpy(&word, &m->top->state_o, sizeof(word));
      states = (states << 1 | states >> 63) ^ word;
    }
  });
  *sum = states;
  return went;
}

// Whether all of the dump has been written so far; if not, `trouble` says why.
bool whole(Model *m) noexcept {
  if (m->file.error() == 0) return true;
  m->trouble.set(std::strerror(m->file.error()));
  return false;
}

int close_vcd(rcv_model *handle) noexcept {
  Model *m = of(handle);
  m->trouble.clear();
  const bool closed = guarded(m->trouble, [&] { end_dump(m); }) && whole(m);
  m->file.forget();
  return closed;
}

int open_vcd(rcv_model *handle, const char *path) noexcept {
  Model *m = of(handle);
  m->trouble.clear();
  const bool opened = guarded(m->trouble, [&] {
    end_dump(m);
    m->vcd.reset(new VerilatedVcdC{&m->file});
    m->top->trace(m->vcd.get(), 99);
    m->vcd->set_time_unit("1ns");
    m->vcd->set_time_resolution("1ns");
    m->vcd->open(path);
  });
  if (opened && whole(m)) return 1;
  guarded(m->trouble, [&] { m->vcd.reset(); });
  return 0;
}

void no_assert(rcv_model *m) noexcept { of(m)->context.assertOn(false); }

const char *stopped(const rcv_model *m) noexcept { return of(m)->stopped.get(); }

const char *trouble(const rcv_model *m) noexcept { return of(m)->trouble.get(); }

int write_coverage(rcv_model *handle, const char *path) noexcept {
  Model *m = of(handle);
  m->trouble.clear();
#if VM_COVERAGE
  enter(m);
  return guarded(m->trouble, [&] { m->context.coveragep()->write(path); });
#else
  (void)path;
  m->trouble.set("the model counts nothing");
  return 0;
#endif
}

}  // namespace

extern "C" {
// `extern` again: a constant at namespace scope has internal linkage by default.
extern const rcv_api RCV_SYMBOL __attribute__((visibility("default")));
const rcv_api RCV_SYMBOL = {
    RCV_ABI, RCV_LANES, sizeof(RCV_TOP::in_i), sizeof(RCV_TOP::state_o), RCV_FEATURES,
    create,  destroy,   step,   halves,        load,                     bare,
    open_vcd, close_vcd, no_assert, stopped, trouble, write_coverage,
};
}
