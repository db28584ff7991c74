// The C interface between a verilated bench top and Rust: one table of functions a model.
//
// Every bench top has the same ports (see any tb/<unit>_tb.sv), so this file and shim.cpp know no
// unit. Structs cross as raw bytes; `in_size` and `state_size` let the other side check its own.
#ifndef RECONVERGE_SHIM_H_
#define RECONVERGE_SHIM_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RCV_ABI 4u

typedef struct rcv_model rcv_model;

typedef struct {
  uint32_t abi;         // RCV_ABI
  uint32_t lanes;       // LANES the model was built with
  uint32_t in_size;     // bytes of the input struct
  uint32_t state_size;  // bytes of the state struct

  // A model after power-up; `seed` (never 0) fills what reset does not reach. `mutant` is for RTL that
  // holds many and asks +reconverge_mutant=N which one to be (src/mutate); other RTL does not look.
  // NULL: out of memory.
  rcv_model *(*create)(uint32_t seed, uint32_t mutant);
  void (*destroy)(rcv_model *m);
  // One clock. The top registers `in`, so the result is the unit's state after the clock before, as
  // `state_size` bytes in the model that stay as they are until its next call. `golden` is the state
  // expected now: it goes into an open dump, and may be NULL. NULL: the RTL stopped the simulation, and
  // `stopped` says how; the model is of no more use.
  const void *(*clock)(rcv_model *m, const void *in, const void *golden);
  // Puts the unit into `state` between two clocks, control registers and constants excepted.
  void (*load)(rcv_model *m, const void *state);
  // Runs `count` clocks over an array of input structs with no comparison; returns a checksum of
  // the states, so that nothing is optimised away. For measuring.
  uint64_t (*bare)(rcv_model *m, const void *ins, uint64_t count);
  // Opens a dump, which begins with the next clock. 0: `path` cannot be written.
  int (*open_vcd)(rcv_model *m, const char *path);
  void (*close_vcd)(rcv_model *m);
  // One bit a field: RTL and golden differed in the last clock with a dump open.
  uint64_t (*mismatch)(const rcv_model *m);
  // Why the simulation stopped, or NULL.
  const char *(*stopped)(const rcv_model *m);
  // Writes the counters of lines, branches and bits to `path`. 0: the model was built without.
  int (*write_coverage)(const rcv_model *m, const char *path);
} rcv_api;

#ifdef __cplusplus
}
#endif

#endif  // RECONVERGE_SHIM_H_
