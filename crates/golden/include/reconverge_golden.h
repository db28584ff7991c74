/* The golden models of Reconverge for a bench in C or C++.
 *
 * A golden model takes the pins of one cycle and computes the state after it. `reconverge-golden DIR` writes the headers
 * with the structs of both: reconverge_r500.h, reconverge_r700.h, reconverge_spa5.h. A case gives the pins of every cycle of a
 * program: reset, host writes, launch, instructions with the conditions that each lane draws from the seed, stalls.
 *
 * A call that fails returns NULL, 0 or -1 and changes nothing; reconverge_error() says why. A handle that was freed, or that
 * stands for something else, is refused; handles are not addresses. A model or a case is used by one thread at a time. Texts and structs that are returned belong to the library. */
#ifndef RECONVERGE_GOLDEN_H
#define RECONVERGE_GOLDEN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The ABI of this header; reconverge_abi() returns that of the library. */
#define RECONVERGE_ABI 1u

typedef struct reconverge_golden reconverge_golden;
typedef struct reconverge_case reconverge_case;

uint32_t reconverge_abi(void);

/* Returns why the last failing call of this thread failed. Valid until the next failure; never NULL. */
const char *reconverge_error(void);

/* ---- golden models ------------------------------------------------------------------------------------ */

/* Makes a golden model of "r500", "r700" or "spa5", after reset. `lanes`: 1 to 64, or 0 for the unit's default.
 * `parameters`: those that differ from their default, as in "BRX=1,DEPTH=4"; NULL or "" for none. */
reconverge_golden *reconverge_golden_new(const char *unit, uint32_t lanes, const char *parameters);
void reconverge_golden_free(reconverge_golden *golden);

/* Return the size of the structs of pins and state in bytes; 0 for NULL. */
size_t reconverge_golden_pins_size(const reconverge_golden *golden);
size_t reconverge_golden_state_size(const reconverge_golden *golden);

/* Writes the pins of an idle cycle: no reset, no request to the unit. */
int reconverge_golden_default_pins(const reconverge_golden *golden, void *pins, size_t size);

/* Runs the model for one cycle. Each pin except lane masks must fit its width; bits of lanes that do not
 * exist are ignored. */
int reconverge_golden_cycle(reconverge_golden *golden, const void *pins, size_t size);

/* Returns the state after the last cycle. Valid until the next one. */
const void *reconverge_golden_state(const reconverge_golden *golden);

/* Compares another state with the state after the last cycle. Returns a line for each element that differs, with both values
 * and the rule that gave the element its golden value; "" if none differs. Valid until the next call with this model. */
const char *reconverge_golden_compare(reconverge_golden *golden, const void *state, size_t size);

/* Returns the rule by which the last cycle gave an element of a field its value: id and text. `element`: number of the lane,
 * frame or entry; 0 for a single value. Valid until the next call with this model. */
const char *reconverge_golden_explain(reconverge_golden *golden, const char *field, uint32_t element);

/* ---- cases -------------------------------------------------------------------------------------------- */

/* Reads a program (assembly, words, or a compiler's output, as for `reconverge run`) and computes the pins of all of its
 * cycles, at most two million. `which`: number or name, if the file has several programs; NULL for the only one.
 * `seed`: of conditions and stalls, not 0. `stall16`: share of the cycles that stall the unit, in sixteenths, 0 to 15. */
reconverge_case *reconverge_case_program(const char *unit, uint32_t lanes, const char *parameters, const char *file,
                                         const char *which, uint64_t seed, uint32_t stall16);

/* Reads a case that `reconverge` saved. A case that begins with a preload is refused: no pins lead to its first state. */
reconverge_case *reconverge_case_saved(const char *unit, const char *file);
void reconverge_case_free(reconverge_case *c);

/* Makes a golden model with the lanes and parameters of a case, after reset. */
reconverge_golden *reconverge_case_golden(const reconverge_case *c);

/* Returns the number of cycles of a case; 0 for NULL. */
uint64_t reconverge_case_cycles(const reconverge_case *c);

/* Returns the pins of a cycle; the first cycle is 0. Valid as long as the case. */
const void *reconverge_case_pins(const reconverge_case *c, uint64_t cycle);

/* Returns the instruction at an address as text. Valid until the next call with this case. */
const char *reconverge_case_disassemble(reconverge_case *c, uint32_t pc);

#ifdef __cplusplus
}
#endif

#endif
