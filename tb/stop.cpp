// What Verilator's runtime does on $stop, $fatal, $finish, a failed assertion, or logic that does not
// settle. By default it ends the process, and a campaign with it; here the model is given up, and the
// shim that catches this tells Rust which case did it.

#include <stdexcept>
#include <string>

#include "verilated.h"

namespace {

[[noreturn]] void give_up(const char *what, const char *file, int line, const char *why) {
  std::string text = what;
  if (file && *file) text += std::string(" at ") + file + ":" + std::to_string(line);
  if (why && *why) text += std::string(": ") + why;
  throw std::runtime_error(text);
}

}  // namespace

void vl_finish(const char *file, int line, const char *) { give_up("$finish", file, line, ""); }
void vl_stop(const char *file, int line, const char *) { give_up("$stop, $fatal or an assertion", file, line, ""); }
void vl_fatal(const char *file, int line, const char *, const char *why) { give_up("fatal", file, line, why); }
