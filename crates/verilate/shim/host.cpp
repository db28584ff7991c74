// The process in which a library caller's RTL runs. It opens one library with a model (shim.h) and obeys a bench in another
// process (crates/bench/src/dut/host.rs), so that RTL that ends its process, loops for ever or takes all memory ends this one.
//
//   host LIBRARY SYMBOL LANES IN_SIZE STATE_SIZE CALLS MEGABYTES
//
// Standard input is a file that both processes use: the number of cycles done since the start, and two areas with, for each of CALLS
// cycles, input struct, expected state, state expected from the falling edge on, state of the RTL, a byte, and the four states of
// `halves` (shim.h), each kind after the other. The byte says whether the second of the expected states is one, then what changed at
// the falling edge. Standard output is a socket with requests and answers. A state is in the file as
// soon as its cycle is done, so the bench knows what was compared even if the next cycle ends this process.
//
// The RTL finds neither at its descriptors: standard input is empty, and both outputs go to the one that was standard error.

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "shim.h"

namespace {

// The layout of requests and answers is the same in host.rs; both processes run on one machine.
struct Request {
  uint64_t number;  // not to be guessed: an answer repeats it
  uint32_t what;
  uint32_t size;  // bytes that follow
  uint64_t a, b;
};
struct Answer {
  uint64_t number;
  uint32_t status;  // 0: done
  uint32_t size;    // bytes of text that follow
  uint64_t value;
  uint64_t used;  // nanoseconds of processor time since the start
};
enum : uint32_t { kCreate, kClock, kLoad, kOpenVcd, kCloseVcd, kNoAssert, kCoverage, kClose };

// Offset of the first area in the file.
constexpr size_t kHead = 4096;
// Longest text of an answer: `TEXT` of host.rs.
constexpr size_t kText = 4096;
// Exit status when the connection to the bench is lost.
constexpr int kLost = 86;

int bench = -1;

bool whole(ssize_t count) {
  if (count > 0 || (count < 0 && errno == EINTR)) return true;
  _exit(kLost);
}

void get(void *to, size_t size) {
  for (auto *at = static_cast<char *>(to); size > 0;) {
    const ssize_t count = read(bench, at, size);
    if (whole(count) && count > 0) at += count, size -= static_cast<size_t>(count);
  }
}

void put(const void *from, size_t size) {
  for (auto *at = static_cast<const char *>(from); size > 0;) {
    const ssize_t count = write(bench, at, size);
    if (whole(count) && count > 0) at += count, size -= static_cast<size_t>(count);
  }
}

void limit(int resource, rlim_t bytes) {
  const rlimit to{bytes, bytes};
  setrlimit(static_cast<decltype(RLIMIT_CORE)>(resource), &to);
}

[[noreturn]] void refuse(const char *why) {
  std::fprintf(stderr, "the process of the RTL: %s: %s\n", why, std::strerror(errno));
  _exit(kLost);
}

}  // namespace

int main(int count, char **arguments) {
  if (count != 8) {
    std::fputs("host: only the bench starts this program\n", stderr);
    return 2;
  }
  const size_t in_size = std::strtoull(arguments[4], nullptr, 10);
  const size_t state_size = std::strtoull(arguments[5], nullptr, 10);
  const size_t calls = std::strtoull(arguments[6], nullptr, 10);
  const uint64_t megabytes = std::strtoull(arguments[7], nullptr, 10);
  const size_t area = calls * (in_size + 7 * state_size + 1);
  void *mapped = mmap(nullptr, kHead + 2 * area, PROT_READ | PROT_WRITE, MAP_SHARED, 0, 0);
  if (mapped == MAP_FAILED) refuse("its file cannot be mapped");
  auto *file = static_cast<char *>(mapped);
  auto &done = *reinterpret_cast<std::atomic<uint64_t> *>(file);
  // A high number, or the highest: not the next one that RTL gets when it opens or closes something.
  rlimit numbers{};
  getrlimit(RLIMIT_NOFILE, &numbers);
  bench = fcntl(1, F_DUPFD_CLOEXEC, static_cast<int>(std::min<rlim_t>(200, numbers.rlim_cur - 1)));
  const int null = open("/dev/null", O_RDONLY);
  if (bench < 0 || null < 0 || dup2(2, 1) < 0 || dup2(null, 0) < 0) refuse("its descriptors");
  close(null);
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  limit(RLIMIT_CORE, 0);
#ifndef __SANITIZE_ADDRESS__
  if (megabytes > 0) limit(RLIMIT_DATA, megabytes << 20);
#endif
  // Without a bench this process has no purpose, and ends even while its RTL loops.
  std::thread([] {
    pollfd gone{bench, 0, 0};
    while (poll(&gone, 1, -1) < 0 && errno == EINTR) {
    }
    _exit(kLost);
  }).detach();

  // Both are opened with the first model: what the constructors of the library do is an answer to that request.
  const rcv_api *api = nullptr;
  rcv_model *model = nullptr;
  char text[1024];
  std::string why;
  std::vector<char> body;
  for (;;) {
    Request request;
    get(&request, sizeof(request));
    body.assign(request.size + 1, '\0');
    get(body.data(), request.size);
    Answer answer{request.number, 0, 0, 0, 0};
    why.clear();
    const auto fails = [&](const char *text) { answer.status = 1, why = text ? text : "it does not say why"; };
    switch (request.what) {
      case kCreate: {
        if (!api) {
          void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
          api = library ? static_cast<const rcv_api *>(dlsym(library, arguments[2])) : nullptr;
          if (!api) {
            fails(dlerror());
            break;
          }
        }
        if (api->abi != RCV_ABI || api->in_size != in_size || api->state_size != state_size ||
            api->lanes != std::strtoul(arguments[3], nullptr, 10)) {
          fails("the model does not fit: it has another interface, other lanes or other structs");
          break;
        }
        model = api->create(static_cast<uint32_t>(request.a), static_cast<uint32_t>(request.b), text, sizeof(text));
        if (!model) fails((std::string("no model: ") + text).c_str());
        break;
      }
      case kClock: {
        const size_t from = request.a >> 1 & 1;
        char *in = file + kHead + from * area;
        char *expected = in + calls * in_size;
        char *after = expected + calls * state_size;
        char *state = after + calls * state_size;
        char *change = state + calls * state_size;
        char *edge = change + calls;
        const bool known = request.a & 1, halves = request.a >> 2 & 1;
        for (; answer.value < request.b; ++answer.value) {
          const void *is = api->clock(model, in, known ? expected : nullptr, *change ? after : nullptr, halves);
          *change = 0;
          if (!is && api->stopped(model)) {
            fails(api->stopped(model));
            break;
          }
          for (int now = 0; !is && now < 2; ++now) {
            const void *sides[2];
            if (!api->halves(model, now, &sides[0], &sides[1])) continue;
            *change = static_cast<char>(*change | 1 << now);
            for (int side = 0; side < 2; ++side) std::memcpy(edge + (2 * now + side) * state_size, sides[side], state_size);
          }
          // What changed at the falling edge is as expected after it.
          std::memcpy(state, is ? is : expected, state_size);
          done.fetch_add(1, std::memory_order_release);
          in += in_size, expected += state_size, after += state_size, state += state_size, ++change, edge += 4 * state_size;
        }
        break;
      }
      case kLoad:
        api->load(model, body.data());
        break;
      case kOpenVcd:
        if (!api->open_vcd(model, body.data())) fails(api->trouble(model));
        break;
      case kCloseVcd:
        if (!api->close_vcd(model)) fails(api->trouble(model));
        break;
      case kNoAssert:
        api->no_assert(model);
        break;
      case kCoverage:
        if (!api->write_coverage(model, body.data())) fails(api->trouble(model));
        break;
      case kClose:
        text[0] = '\0';
        api->destroy(model, text, sizeof(text));
        model = nullptr;
        if (text[0]) fails(text);
        break;
      default:
        _exit(kLost);
    }
    std::fflush(stdout);
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    answer.used = static_cast<uint64_t>(used.tv_sec) * 1000000000 + static_cast<uint64_t>(used.tv_nsec);
    if (why.size() > kText) why.resize(kText);
    answer.size = static_cast<uint32_t>(why.size());
    put(&answer, sizeof(answer));
    put(why.data(), why.size());
  }
}
