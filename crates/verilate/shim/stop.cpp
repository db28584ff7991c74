// What Verilator's runtime does on $stop, $fatal, $finish, a failed assertion, or logic that does not
// settle. By default it ends the process, and a campaign with it. Here it throws an exception; the shim catches
// it, gives up the model and reports the stop to Rust.

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>

#include "verilated.h"

namespace {

// The text that a failed assertion, $error or $fatal prints just before it stops the simulation. It belongs in the
// report of the case, not on standard output.
thread_local std::string said;

// Counts the lines that the RTL prints: of each, only the first ten are shown, so that a message in every cycle neither hides the
// others nor fills a disk. How many there are is said at each power of ten, because the process may be killed when its work is
// done, and at its end. What the RTL prints at time 0, as in `initial`, each of its models prints: it is shown once, and marked for a
// reader that has several such processes.
class Lines {
 public:
  // Prints the lines of `text`, without those that have been printed often enough. Verilator joins the texts of tasks that follow each
  // other.
  void print(const char *text) {
    for (const char *end; *text; text = end) {
      end = std::strchr(text, '\n');
      end = end ? end + 1 : text + std::strlen(text);
      print_line(std::string(text, end).c_str());
    }
  }
  ~Lines() {
    for (const auto &[line, count] : counts_) {
      if (count > kShown && !power_of_ten(count)) say(count, line);
    }
    std::fflush(stdout);
  }

 private:
  static constexpr unsigned long long kShown = 10;
  // Most different lines that are counted; any others are all shown.
  static constexpr size_t kKinds = 1000;
  // Most characters of one. What is longer is shown each time, so that lines without end take no memory.
  static constexpr size_t kLongest = 1000;
  // Also in crates/bench/src/dut/repeats.rs.
  static constexpr char kMark = '\x1e';

  void print_line(const char *text) {
    const std::string line = key(text);
    const bool ends = line.back() == '\n';
    // A part of a line says nothing alone, and leaving it out would spoil the line.
    const bool whole = !inside_ && ends;
    inside_ = !ends;
    if (!whole || line.size() > kLongest) {
      std::fputs(text, stdout);
      return;
    }
    const std::lock_guard<std::mutex> alone(mutex_);
    if (Verilated::threadContextp()->time() == 0) {
      if (first_.size() >= kKinds || first_.insert(line).second) {
        // For the process that has started this one, if it wants that.
        static const bool wanted = std::getenv("RCV_MARKS") != nullptr;
        if (wanted) std::fputc(kMark, stdout);
        std::fputs(text, stdout);
        std::fflush(stdout);
      }
      return;
    }
    auto found = counts_.find(line);
    if (found == counts_.end()) {
      if (counts_.size() >= kKinds) {
        std::fputs(text, stdout);
        return;
      }
      found = counts_.emplace(line, 0).first;
    }
    const unsigned long long count = ++found->second;
    if (count <= kShown) {
      std::fputs(text, stdout);
    } else if (power_of_ten(count)) {
      say(count, line);
    } else {
      return;
    }
    std::fflush(stdout);
  }

  static bool power_of_ten(unsigned long long count) {
    while (count % 10 == 0) count /= 10;
    return count == 1;
  }

  static void say(unsigned long long count, const std::string &line) {
    std::printf("... %llu lines like this so far, %llu shown: %s", count, kShown, line.c_str());
  }

  // `text` without what differs each time: the time of a message.
  static std::string key(const char *text) {
    if (*text == '[') {
      const char *end = std::strchr(text, ']');
      if (end && end[1] == ' ' && std::strspn(text + 1, "0123456789") == static_cast<size_t>(end - text - 1)) {
        text = end + 2;
      }
    }
    return text;
  }

  // Whether the last text ended inside a line.
  static thread_local bool inside_;
  std::mutex mutex_;
  std::map<std::string, unsigned long long> counts_;
  // Those of time 0.
  std::set<std::string> first_;
};
thread_local bool Lines::inside_ = false;
Lines lines;

// Prints the text held back: the simulation continued.
void print_said() {
  lines.print(said.c_str());
  said.clear();
}

// Returns where the message of a failed assertion, $error or $fatal begins in `text`; null: nowhere. Tasks before it may have a line each.
const char *severe(const char *text) {
  for (const char *line = text; line; line = std::strchr(line, '\n')) {
    line += *line == '\n';
    const char *kind = *line == '[' ? std::strchr(line, ']') : nullptr;
    const auto is = [&](const char *name) { return std::strncmp(kind, name, std::strlen(name)) == 0; };
    if (kind && (is("] %Error: ") || is("] %Fatal: ")) && std::strstr(kind, ": Assertion failed in ")) return line;
  }
  return nullptr;
}

[[noreturn]] void give_up(const char *what, const char *file, int line, const char *why) {
  std::string text = what;
  if (file && *file) text += std::string(" at ") + file + ":" + std::to_string(line);
  if (why && *why) text += std::string(": ") + why;
  while (text.back() == '\n') text.pop_back();
  said.clear();
  throw std::runtime_error(text);
}

}  // namespace

int rcv_printf(const char *format, ...) {
  print_said();
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  const int size = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  std::string text(size < 0 ? 0 : static_cast<size_t>(size) + 1, '\0');
  if (size > 0) std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  if (const char *message = severe(text.c_str())) {
    said = message;
    text.resize(static_cast<size_t>(message - text.c_str()));
  }
  lines.print(text.c_str());
  return size;
}

void vl_finish(const char *file, int line, const char *) {
  print_said();
  give_up("$finish", file, line, "");
}

void vl_stop(const char *file, int line, const char *) {
  // "[TIME] %Error: FILE:LINE: Assertion failed in SCOPE: TEXT\n"; file and line are reported anyway.
  give_up("$stop, $fatal or an assertion", file, line, std::strstr(said.c_str(), "Assertion failed in "));
}

void vl_fatal(const char *file, int line, const char *, const char *why) {
  print_said();
  give_up("fatal", file, line, why);
}
