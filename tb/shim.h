// The C interface between a verilated bench top and Rust: one table of functions a model.
//
// Every bench top has the same ports (crates/declaration generates it), so this file and shim.cpp know no
// unit. Structs cross as raw bytes; `in_size` and `state_size` let the other side check its own.
//
// No function lets a C++ exception out. What went wrong comes back as a status and a text. Texts belong to the
// model, end in NUL and stay as they are until its next call. A model is used by one thread at a time.
#ifndef RECONVERGE_SHIM_H_
#define RECONVERGE_SHIM_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RCV_ABI 5u

// Bits of `features`.
#define RCV_ASSERTIONS 1u  // SystemVerilog assertions are checked
#define RCV_COUNTING 2u    // lines, branches and changes of bits are counted
#define RCV_PRELOADS 4u    // `load` puts the unit into a state; else it does nothing

typedef struct rcv_model rcv_model;

typedef struct {
  uint32_t abi;         // RCV_ABI
  uint32_t lanes;       // LANES the model was built with
  uint32_t in_size;     // bytes of the input struct
  uint32_t state_size;  // bytes of the state struct
  uint32_t features;    // what it was built with

  // A model after power-up; `seed` (never 0) fills what reset does not reach. `mutant` is for RTL that
  // holds many and asks +reconverge_mutant=N which one to be (crates/mutate/src/mutate); other RTL does not look.
  // NULL: there is none, and the `size` bytes at `error` say why.
  rcv_model *(*create)(uint32_t seed, uint32_t mutant, char *error, size_t size);
  // Runs the RTL's `final` blocks, closes an open dump, and frees the model.
  // What of that went wrong is put into the `size` bytes at `error`, which is empty otherwise.
  void (*destroy)(rcv_model *m, char *error, size_t size);
  // One clock. The top registers `in`, so the result is the unit's state after the clock before, as
  // `state_size` bytes in the model that stay as they are until its next call. `golden` is the state
  // expected now: it goes into an open dump, and may be NULL. NULL: the RTL stopped the simulation, and
  // `stopped` says how; the model is of no more use.
  const void *(*clock)(rcv_model *m, const void *in, const void *golden);
  // Puts the unit into `state` between two clocks, control registers and constants excepted. 0: stopped.
  int (*load)(rcv_model *m, const void *state);
  // Runs `count` clocks over an array of input structs with no comparison. `sum` becomes a checksum of
  // the states, so that nothing is optimised away. For measuring. 0: stopped.
  int (*bare)(rcv_model *m, const void *ins, uint64_t count, uint64_t *sum);
  // Opens a dump, which begins with the next clock. 0: it cannot be written, and `trouble` says why.
  int (*open_vcd)(rcv_model *m, const char *path);
  // Closes the dump, if one is open. 0: it is not whole, and `trouble` says why. A dump that could no longer be
  // written ended at once; the simulation went on without it.
  int (*close_vcd)(rcv_model *m);
  // One bit a field: RTL and golden differed in the last clock with a dump open.
  uint64_t (*mismatch)(const rcv_model *m);
  // Why the simulation stopped, or NULL.
  const char *(*stopped)(const rcv_model *m);
  // Why the last call of `open_vcd`, `close_vcd` or `write_coverage` failed.
  const char *(*trouble)(const rcv_model *m);
  // Writes the counters of lines, branches and bits to `path`. 0: `trouble` says why.
  int (*write_coverage)(rcv_model *m, const char *path);
} rcv_api;

#ifdef __cplusplus
}
#endif

#endif  // RECONVERGE_SHIM_H_
