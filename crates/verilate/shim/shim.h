// The C interface between a verilated bench top and Rust: one table of functions for each model.
//
// Every bench top has the same ports (crates/declaration generates it), so this file and shim.cpp do not
// depend on a unit. Structs cross as raw bytes; with `in_size` and `state_size` the Rust side checks its own structs.
//
// No function throws. Errors are reported as a status and a text. Texts belong to the model, end in NUL and are
// valid until its next call. A model is used by one thread at a time.
#ifndef RECONVERGE_SHIM_H_
#define RECONVERGE_SHIM_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RCV_ABI 9u

// Bits of `features`.
#define RCV_ASSERTIONS 1u  // SystemVerilog assertions are checked
#define RCV_COUNTING 2u    // lines, branches and toggles of bits are counted
#define RCV_PRELOADS 4u    // `load` preloads a state; otherwise it does nothing

typedef struct rcv_model rcv_model;

typedef struct {
  uint32_t abi;         // RCV_ABI
  uint32_t lanes;       // LANES of the model
  uint32_t in_size;     // bytes of the input struct
  uint32_t state_size;  // bytes of the state struct
  uint32_t features;    // RCV_ASSERTIONS and so on

  // Makes a model after power-up; `seed` (never 0) fills the registers that reset does not reach. `mutant` is for RTL
  // that holds many mutants and selects one by +reconverge_mutant=N (crates/mutate/src/mutate); other RTL ignores it.
  // Returns NULL on failure; the `size` bytes at `error` then say why.
  rcv_model *(*create)(uint32_t seed, uint32_t mutant, char *error, size_t size);
  // Runs the RTL's `final` blocks, closes an open dump, and frees the model.
  // Writes an error of this to the `size` bytes at `error`, which is empty otherwise.
  void (*destroy)(rcv_model *m, char *error, size_t size);
  // Runs one cycle. The top registers `in`, so the result is the unit's state after the cycle before, as
  // `state_size` bytes in the model that are valid until its next call. `golden` is the state
  // expected now, for an open dump; it may be NULL. Returns NULL if the RTL stopped the simulation:
  // `stopped` says how, and the model can no longer be used. With `halves` it also returns NULL if the state is the expected
  // one, but was not yet before the falling edge of the clock, or if an output changed at that edge: see `halves`.
  // `after` is not NULL if `in` asserts an asynchronous reset, which it does at the falling edge: it is the state expected from
  // then on. The result then is the state before that edge; NULL if the one after it is not `after`, and `halves` gives both.
  const void *(*clock)(rcv_model *m, const void *in, const void *golden, const void *after, int halves);
  // Gives the state before and after the falling edge in the last cycle, if that is why `clock` returned NULL; otherwise
  // returns 0. With `now` the outputs that depend on the pins of the same cycle are those of this cycle, not of the one before.
  int (*halves)(const rcv_model *m, int now, const void **first, const void **second);
  // Puts the unit into `state` between two cycles, except control registers and constants. Returns 0 if the RTL stopped.
  int (*load)(rcv_model *m, const void *state);
  // Runs `count` cycles over an array of input structs without comparison. `sum` becomes a checksum of
  // the states, so that nothing is optimised away. For measurements. Returns 0 if the RTL stopped.
  int (*bare)(rcv_model *m, const void *ins, uint64_t count, uint64_t *sum);
  // Opens a dump, which begins with the next cycle. Returns 0 if it cannot be written; `trouble` says why.
  int (*open_vcd)(rcv_model *m, const char *path);
  // Closes the dump, if one is open. Returns 0 if it is not complete; `trouble` says why. A dump that can no longer be
  // written ends at once, and the simulation continues without it.
  int (*close_vcd)(rcv_model *m);
  // Checks no assertion from now on: after a failure, cycles that only complete a dump must not end it.
  void (*no_assert)(rcv_model *m);
  // Returns why the simulation stopped, or NULL.
  const char *(*stopped)(const rcv_model *m);
  // Returns why the last call of `open_vcd`, `close_vcd` or `write_coverage` failed.
  const char *(*trouble)(const rcv_model *m);
  // Writes the counters of lines, branches and bits to `path`. Returns 0 on failure; `trouble` says why.
  int (*write_coverage)(rcv_model *m, const char *path);
} rcv_api;

#ifdef __cplusplus
}
#endif

#endif  // RECONVERGE_SHIM_H_
