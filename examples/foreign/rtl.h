// RTL of a unit behind its generated bench top, for both benches: verilated, with C functions around it.
#ifndef FOREIGN_RTL_H
#define FOREIGN_RTL_H

#ifdef __cplusplus
extern "C" {
#endif

struct rtl;

// Makes a model; `seed` fills the registers that reset does not reach.
struct rtl *rtl_new(int seed);
void rtl_free(struct rtl *rtl);

// One cycle. The bench top registers its inputs: `state` gets what the pins of the cycle before led to.
void rtl_cycle(struct rtl *rtl, const void *pins, void *state);

#ifdef __cplusplus
}
#endif

#endif
