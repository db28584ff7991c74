// What Verilator's runtime does on $stop, $fatal, $finish, a failed assertion, or logic that does not
// settle. By default it ends the process, and a campaign with it. Here it throws an exception; the shim catches
// it, gives up the model and reports the stop to Rust.

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

#include "verilated.h"

namespace {

// The text that a failed assertion, $error or $fatal prints just before it stops the simulation. It belongs in the
// report of the case, not on standard output.
thread_local char said[512] = "";

// Prints the text held back: the simulation continued.
void print_said() {
  if (*said) std::fputs(said, stdout);
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
  } else {
    size = std::vprintf(format, arguments);
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
