// The functions of rtl.h around the verilated bench top. PINS and STATE are the bytes of the structs.

#include "rtl.h"

#include <cstring>

#include "Vtop.h"
#include "verilated.h"

struct rtl {
  VerilatedContext context;
  Vtop *top;
};

static_assert(sizeof(Vtop::in_i) >= PINS && sizeof(Vtop::state_o) >= STATE, "not the bench top of this unit");

rtl *rtl_new(int seed) {
  rtl *made = new rtl;
  made->context.randReset(2);
  made->context.randSeed(seed);
  made->top = new Vtop{&made->context};
  // No evaluation: that of the first cycle finds the clock at 1, so that it takes the pins and the design gets no edge.
  return made;
}

void rtl_free(rtl *rtl) {
  rtl->top->final();
  delete rtl->top;
  delete rtl;
}

void rtl_cycle(rtl *rtl, const void *pins, void *state) {
  std::memcpy(&rtl->top->in_i, pins, PINS);
  rtl->top->clk_i = 1;
  rtl->top->eval();
  std::memcpy(state, &rtl->top->state_o, STATE);
  rtl->top->clk_i = 0;
  rtl->top->eval();
}
