//! Program base, constants and the tests of the clip state machine.

use super::*;

/// A unit with everything, as one of the variants that the bench builds.
fn whole() -> Build {
    let parameters = [("BRX".to_owned(), 1), ("CSM".to_owned(), 1)];
    Build {
        lanes: LANES as u32,
        parameters: parameters.into(),
    }
}

/// The launch of all four threads of a program at `base`.
fn launch_at(base: u32, size: u32) -> In {
    In {
        prog_base: base,
        ..launch(0, size, ALL)
    }
}

/// Reset and such a launch; the state after it.
fn start_at(machine: &mut dyn Unit, base: u32, size: u32) -> State {
    machine.clock(&In::reset());
    machine.clock(&launch_at(base, size))
}

/// A word with imm32 set.
fn imm(word: u64, address: u32) -> u64 {
    word & !(0xFFFF_FFFF << 20) | u64::from(address) << 20
}

/// Both ends of the program, wherever it lies: PC and targets, each at N and N + 1 (spa5-3-p).
fn bases(machine: &mut dyn Unit) {
    for base in [0, 0x20, 0x10_0000, 0x7fff_ffe0, 0x8000_0000, 0xffff_ffc0] {
        let size = 0x40;
        let before = start_at(machine, base, size);
        assert_eq!(before.pc, base + 8, "{base:x}");
        let place = |offset: i64| (i64::from(base) + offset) as u32;
        for (offset, inside) in [(0, true), (0x38, true), (0x40, false), (-8, false)] {
            let to = place(offset);
            let at = format!("{base:x}: to {to:x}");
            // The addresses in front of address 0 are behind every program.
            for word in [imm(JMP | ALWAYS, to), imm(JCAL, to)] {
                match inside {
                    true => drop(works(machine, &before, &exec(word), &at)),
                    false => fails(machine, &before, &exec(word), TARGET_RANGE, &at),
                }
            }
            for word in SET_UP.into_iter().chain([BRA | ALWAYS]) {
                let pins = exec(off(word, offset - 0x10));
                match inside {
                    true => drop(works(machine, &before, &pins, &at)),
                    false => fails(machine, &before, &pins, TARGET_RANGE, &at),
                }
            }
            // The same as an entry: it counts from the base.
            let mut pins = launch_at(base, size);
            pins.entry = offset as u32;
            machine.clock(&In::reset());
            let entered = machine.clock(&pins);
            let first = if to % 32 == 0 { to + 8 } else { to };
            assert_eq!((entered.pc, entered.err), (first, 0), "{at}");
            let after = machine.clock(&In::default());
            match inside {
                true => assert_eq!(after, entered, "{at}"),
                false => assert_eq!(after, failed(&entered, PC_RANGE), "{at}"),
            }
            start_at(machine, base, size);
        }
        // From the last slot on: what lies behind is outside, also behind the last slot that there is.
        let last = State {
            pc: place(0x38),
            ..before
        };
        put(machine, &last);
        let after = machine.clock(&exec(NOP));
        let next = if base == 0xffff_ffc0 { 8 } else { place(0x48) };
        assert_eq!(after, State { pc: next, ..last }, "{base:x}");
        assert_eq!(
            machine.clock(&exec(NOP)),
            failed(&after, PC_RANGE),
            "{base:x}"
        );
    }
    // A launch takes all of its operands, and nothing of the one before.
    machine.clock(&In::reset());
    machine.clock(&launch_at(0xffff_ff80, 0x80));
    machine.clock(&exec(ILLEGAL_WORD));
    let again = machine.clock(&launch_at(0x20, 0x20));
    assert_eq!((again.pc, again.status), (0x28, RUN));
    assert_eq!(machine.clock(&exec(NOP)).pc, 0x30);
    let far = imm(JMP | ALWAYS, 0xffff_ff88);
    let before = State { pc: 0x30, ..again };
    fails(machine, &before, &exec(far), TARGET_RANGE, "the old base");
}

/// The offset of a constant-bank form: the low 24 bits of the pin, signed (spa5-2.3-n).
fn constants(machine: &mut dyn Unit) {
    let before = State {
        pc: 0x108,
        ..start(machine)
    };
    put(machine, &before);
    for (constant, to) in [
        (0, Ok(0x110)),
        (0xFF00_0078, Ok(0x188)),
        (0x0000_0070, Ok(0x188)),
        (0x00FF_FFF8, Ok(0x108)),
        (0x12FF_FEF0, Ok(0x08)),
        (0x00FF_FEE8, Err(TARGET_RANGE)),
        (0x007F_FFF8, Err(TARGET_RANGE)),
        (0x0080_0000, Err(TARGET_RANGE)),
        (0x0000_0004, Err(TARGET_MISALIGNED)),
        (0x0080_0001, Err(TARGET_MISALIGNED)),
    ] {
        for word in SET_UP.into_iter().chain([BRA | ALWAYS]) {
            // What stands in the word is the place of the constant.
            for place in [0, 0x1_FFFF_F000_0000] {
                let at = format!("{word:x} with {constant:x}");
                let pins = In {
                    constant,
                    ..exec(word | CONSTANT_BANK | place)
                };
                let plain = exec(off(word, i64::from((constant << 8) as i32 >> 8)));
                match to {
                    Err(err) => fails(machine, &before, &pins, err, &at),
                    Ok(to) => {
                        let after = works(machine, &before, &pins, &at);
                        assert_eq!(after, works(machine, &before, &plain, &at), "{at}");
                        let goes = [after.pc, after.top_addr].contains(&to);
                        assert!(goes, "{at}: {after:?}");
                    }
                }
            }
        }
    }
    // It is ignored in an instruction that no thread takes; bit 5 of a leaving instruction is ignored too.
    let pins = In {
        constant: 4,
        ..exec(BRA | NEVER | CONSTANT_BANK)
    };
    works(machine, &before, &pins, "no thread");
    let pins = In {
        constant: 4,
        ..exec_p0(EXIT | P0 | CONSTANT_BANK, 1)
    };
    works(machine, &before, &pins, "EXIT");
}

/// Each test of the clip state machine is one bit of each thread, beside the predicate (spa5-2.4-e).
fn clip_tests(machine: &mut dyn Unit) {
    let before = start(machine);
    for test in 0x18..0x20 {
        for taken in 0..=ALL {
            let mut pins = exec(off(BRA | 0x7_0000 | test, 0x78));
            // The other bits say the opposite.
            pins.csm = std::array::from_fn(|t| {
                let bit = 1 << (test - 0x18);
                if taken >> t & 1 == 1 { bit } else { !bit }
            });
            let at = format!("test {test:x}, {taken:04b}");
            let after = works(machine, &before, &pins, &at);
            assert_eq!(after, decoding::branched(&before, taken), "{at}");
            pins.word = pins.word & !0xF_0000 | 0x8_0000;
            pins.p[0] = 0b0011;
            let after = works(machine, &before, &pins, &at);
            assert_eq!(after, decoding::branched(&before, taken & 0b1100), "{at}");
        }
    }
    // The others ignore them.
    let mut pins = exec(off(BRA | ALWAYS, 0x78));
    pins.csm = [0; 64];
    let after = works(machine, &before, &pins, "T");
    assert_eq!(after, decoding::branched(&before, ALL));
}

both! {
    bases: golden_runs_programs_at_every_base, rtl_runs_programs_at_every_base;
    constants: golden_takes_offsets_from_constants, rtl_takes_offsets_from_constants;
}

both! {
    (Golden::with(LANES, DEFAULT_DEPTH, true).with_csm(true), whole())
    clip_tests: golden_tests_the_clip_state, rtl_tests_the_clip_state;
}
