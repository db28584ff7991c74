/* The golden models of Reconverge for a bench in C or C++.
 *
 * A golden model takes the pins of one cycle and has the state after it, both as structs that `reconverge-golden DIR`
 * writes a header for: reconverge_r500.h, reconverge_r700.h, reconverge_spa5.h. A case gives the pins of every cycle of a
 * program: reset, host writes, launch, instructions with the conditions that each lane draws from the seed, stalls.
 *
 * A call that fails returns NULL or -1, changes nothing, and reconverge_error() says why. A model or a case is used by one
 * thread at a time. Texts and structs that are returned belong to the library. */
#ifndef RECONVERGE_GOLDEN_H
#define RECONVERGE_GOLDEN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What this header describes; reconverge_abi() returns what the library has. */
#define RECONVERGE_ABI 1u

typedef struct reconverge_golden reconverge_golden;
typedef struct reconverge_case reconverge_case;

uint32_t reconverge_abi(void);

/* Says why the last call of this thread that failed did. Valid until the next one fails; never NULL. */
const char *reconverge_error(void);

/* ---- golden models ------------------------------------------------------------------------------------ */

/* Makes a golden model of "r500", "r700" or "spa5", after reset. `lanes`: 1 to 64, 0 for as many as the unit has.
 * `parameters`: those that do not have their default, as in "BRX=1,DEPTH=4"; NULL or "" for none. */
reconverge_golden *reconverge_golden_new(const char *unit, uint32_t lanes, const char *parameters);
void reconverge_golden_free(reconverge_golden *golden);

/* Bytes of the structs of pins and state; 0 of NULL. */
size_t reconverge_golden_pins_size(const reconverge_golden *golden);
size_t reconverge_golden_state_size(const reconverge_golden *golden);

/* Writes the pins as they are unless they are driven: nothing asked of the unit, no reset. */
int reconverge_golden_default_pins(const reconverge_golden *golden, void *pins, size_t size);

/* Brings the model through one cycle. Each pin but a lane mask must fit its width; lanes that are not
 * there are not looked at. */
int reconverge_golden_cycle(reconverge_golden *golden, const void *pins, size_t size);

/* Returns the state after the last cycle. Valid until the next one. */
const void *reconverge_golden_state(const reconverge_golden *golden);

/* Compares another state with it. Returns a line for each element that differs, with both values and the rule by which the
 * last cycle gave it the golden's; "" if none does. Valid until the next call with this model. */
const char *reconverge_golden_compare(reconverge_golden *golden, const void *state, size_t size);

/* Returns the rule by which the last cycle gave an element of a field its value: its id, and what it says. `element`: lane,
 * frame or entry; 0 of a single value. Valid until the next call with this model. */
const char *reconverge_golden_explain(reconverge_golden *golden, const char *field, uint32_t element);

/* ---- cases -------------------------------------------------------------------------------------------- */

/* Reads a program: assembly, words, or what a compiler made, as `reconverge run` takes it, and computes the pins of all of
 * its cycles, at most two million. `which`: of several programs in the file, by number or name; NULL for the only one.
 * `seed`: of conditions and stalls, not 0. `stall16`: 1/16ths of the cycles that stall the unit, 0 to 15. */
reconverge_case *reconverge_case_program(const char *unit, uint32_t lanes, const char *parameters, const char *file,
                                         const char *which, uint64_t seed, uint32_t stall16);

/* Reads a case that `reconverge` saved. One that begins in a state of its own is refused: no pins lead to it. */
reconverge_case *reconverge_case_saved(const char *unit, const char *file);
void reconverge_case_free(reconverge_case *c);

/* Makes a golden model with the lanes and parameters of a case, after reset. */
reconverge_golden *reconverge_case_golden(const reconverge_case *c);

/* Cycles of a case; 0 of NULL. */
uint64_t reconverge_case_cycles(const reconverge_case *c);

/* Returns the pins of a cycle, from 0 on. Valid as long as the case. */
const void *reconverge_case_pins(const reconverge_case *c, uint64_t cycle);

/* Returns the instruction at an address as text. Valid until the next call with this case. */
const char *reconverge_case_disassemble(reconverge_case *c, uint32_t pc);

#ifdef __cplusplus
}
#endif

#endif
