"""A bench in Python, by ctypes: RTL against golden model, cycle by cycle.

    bench.py GOLDEN RTL UNIT SEEDS PROGRAM...     the two shared libraries; seeds 1 to SEEDS of each program
"""

import ctypes
import sys
from ctypes import c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p


def functions(path, signatures):
    """Loads a library and gives its functions their types."""
    library = ctypes.CDLL(path)
    for name, (result, *arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


GOLDEN = {
    "reconverge_error": [c_char_p],
    "reconverge_case_program": [c_void_p, c_char_p, c_uint32, c_char_p, c_char_p, c_char_p, c_uint64, c_uint32],
    "reconverge_case_golden": [c_void_p, c_void_p],
    "reconverge_case_cycles": [c_uint64, c_void_p],
    "reconverge_case_pins": [c_void_p, c_void_p, c_uint64],
    "reconverge_case_disassemble": [c_char_p, c_void_p, c_uint32],
    "reconverge_case_free": [None, c_void_p],
    "reconverge_golden_pins_size": [c_size_t, c_void_p],
    "reconverge_golden_state_size": [c_size_t, c_void_p],
    "reconverge_golden_cycle": [c_int, c_void_p, c_void_p, c_size_t],
    "reconverge_golden_compare": [c_char_p, c_void_p, c_void_p, c_size_t],
    "reconverge_golden_free": [None, c_void_p],
}
RTL = {
    "rtl_new": [c_void_p, c_int],
    "rtl_free": [None, c_void_p],
    "rtl_cycle": [None, c_void_p, c_void_p, c_void_p],
}


def main(golden, rtl, unit, seeds, *programs):
    golden, rtl = functions(golden, GOLDEN), functions(rtl, RTL)

    def given(what):
        if what is None or what == -1:
            sys.exit(f"bench.py: {golden.reconverge_error().decode()}")
        return what

    runs = cycles = 0
    for program in programs:
        for seed in range(1, int(seeds) + 1):
            c = given(
                golden.reconverge_case_program(unit.encode(), 0, None, program.encode(), None, seed, seed % 4)
            )
            model = given(golden.reconverge_case_golden(c))
            pins_size = golden.reconverge_golden_pins_size(model)
            state_size = golden.reconverge_golden_state_size(model)
            state = ctypes.create_string_buffer(state_size)
            dut = rtl.rtl_new(seed)
            last = golden.reconverge_case_cycles(c)
            for cycle in range(last + 1):
                # One more cycle shows the state after the last one; its pins do not matter.
                pins = given(golden.reconverge_case_pins(c, min(cycle, last - 1)))
                rtl.rtl_cycle(dut, pins, state)
                # Before the first cycle of the reset there is nothing to compare.
                if cycle > 0:
                    differs = given(golden.reconverge_golden_compare(model, state, state_size))
                    if differs:
                        print(f"{program}, seed {seed}: after cycle {cycle - 1}\n{differs.decode()}", end="")
                        sys.exit(1)
                    cycles += 1
                if cycle < last:
                    given(golden.reconverge_golden_cycle(model, pins, pins_size))
            rtl.rtl_free(dut)
            golden.reconverge_golden_free(model)
            golden.reconverge_case_free(c)
            runs += 1
    print(f"{unit}: {runs} runs, {cycles} cycles agree")


if __name__ == "__main__":
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    main(*sys.argv[1:])
