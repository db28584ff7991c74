// What Verilator's runtime does on $stop, $fatal, $finish, a failed assertion, or logic that does not
// settle. By default it ends the process, and a campaign with it. Here it throws an exception; the shim catches
// it, gives up the model and reports the stop to Rust.

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>

#include "verilated.h"

namespace {

// The text that a failed assertion, $error or $fatal prints just before it stops the simulation. It belongs in the
// report of the case, not on standard output.
thread_local char said[512] = "";

// Counts the lines that the RTL prints: of each, only the first ten are shown, so that a message in every cycle neither hides the
// others nor fills a disk. How many there are is said at each power of ten, because the process may be killed when its work is
// done, and at its end.
class Lines {
 public:
  // Prints `text`, unless it has been printed often enough.
  void print(const char *text) {
    const std::string line = key(text);
    // A part of a line says nothing alone, and leaving it out would spoil the line.
    const bool whole = !inside_ && !line.empty() && line.back() == '\n';
    inside_ = *text && text[std::strlen(text) - 1] != '\n';
    if (!whole) {
      std::fputs(text, stdout);
      return;
    }
    const std::lock_guard<std::mutex> alone(mutex_);
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
};
thread_local bool Lines::inside_ = false;
Lines lines;

// Prints the text held back: the simulation continued.
void print_said() {
  if (*said) lines.print(said);
  *said = '\0';
}

[[noreturn]] void give_up(const char *what, const char *file, int line, const char *why) {
  std::string text = what;
  if (file && *file) text += std::string(" at ") + file + ":" + std::to_string(line);
  if (why && *why) text += std::string(": ") + why;
  while (text.back() == '\n') text.pop_back();
  *said = '\0';
  throw std::runtime_error(text);
}

}  // namespace

int rcv_printf(const char *format, ...) {
  print_said();
  char text[sizeof(said)];
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int size = std::vsnprintf(text, sizeof(text), format, again);
  va_end(again);
  const bool severe = std::strstr(text, "] %Error: ") || std::strstr(text, "] %Fatal: ");
  if (size >= 0 && severe && std::strstr(text, ": Assertion failed in ")) {
    std::strcpy(said, text);
  } else if (size < 0 || static_cast<size_t>(size) >= sizeof(text)) {
    size = std::vprintf(format, arguments);
  } else {
    lines.print(text);
  }
  va_end(arguments);
  return size;
}

void vl_finish(const char *file, int line, const char *) {
  print_said();
  give_up("$finish", file, line, "");
}

void vl_stop(const char *file, int line, const char *) {
  // "[TIME] %Error: FILE:LINE: Assertion failed in SCOPE: TEXT\n"; file and line are reported anyway.
  give_up("$stop, $fatal or an assertion", file, line, std::strstr(said, "Assertion failed in "));
}

void vl_fatal(const char *file, int line, const char *, const char *why) {
  print_said();
  give_up("fatal", file, line, why);
}
