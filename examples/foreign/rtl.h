// The RTL of a unit in its generated bench top, verilated, with C functions around it. Both benches use it.
#ifndef FOREIGN_RTL_H
#define FOREIGN_RTL_H

#ifdef __cplusplus
extern "C" {
#endif

struct rtl;

// Makes a model; `seed` fills the registers that reset does not reach.
struct rtl *rtl_new(int seed);
void rtl_free(struct rtl *rtl);

// Runs one cycle. The bench top registers its inputs: `state` gets the state that the pins of the previous cycle led to.
void rtl_cycle(struct rtl *rtl, const void *pins, void *state);

#ifdef __cplusplus
}
#endif

#endif
