//! BRX (spa5-A).

use super::*;

/// BRX with the registers of the four threads.
pub(super) fn brx_pins(word: u64, p0: u64, r: [u32; 4]) -> In {
    let mut pins = exec_p0(word, p0);
    pins.r[..4].copy_from_slice(&r);
    // Threads that do not exist have other targets.
    pins.r[4..].fill(0x1234_5678);
    pins
}

fn brx(machine: &mut dyn Unit) {
    let all = start(machine);
    let here = State { pc: 0x18, ..all };
    put(machine, &here);
    // pc + 8 + off24 is 0 for the first, 0x60 for the second.
    let (absolute, relative) = (off(BRX | P0, -0x20), off(BRX | P0, 0x40));
    let next = State { pc: 0x28, ..here };

    // No thread: nothing is checked.
    let pins = brx_pins(absolute, 0, [1, 2, 3, 4]);
    assert_eq!(works(machine, &here, &pins, "no thread"), next);

    // Some: they are alone at the BRX, the others behind it; the target is not looked at yet.
    let pins = brx_pins(absolute, 0b0110, [1, 2, 3, 4]);
    let alone = State {
        active: 0b0110,
        ..here
    };
    let divided = pushed(&alone, T_DIV, 0, 0b1001, 0x28);
    assert_eq!(works(machine, &here, &pins, "some"), divided);

    // All, to one target, relative to pc + 8 + off24, normalized.
    for (word, r, pc) in [
        (absolute, 0x40, 0x48),
        (absolute, 0x48, 0x48),
        (absolute, 0, 0x08),
        (absolute, SIZE - 8, SIZE - 8),
        (relative, 0, 0x68),
        (relative, 0x10, 0x70),
        (relative, SIZE - 0x68, SIZE - 8),
    ] {
        let after = works(machine, &here, &brx_pins(word, ALL, [r; 4]), "all");
        assert_eq!(after, State { pc, ..here }, "{r:x}");
    }

    // All, to several targets: the lowest thread's first, the others at the BRX again.
    let r = [0x80, 0x48, 0x80, 0x60];
    let after = works(machine, &here, &brx_pins(absolute, ALL, r), "several");
    let first = State {
        active: 0b0101,
        pc: 0x88,
        ..here
    };
    assert_eq!(after, pushed(&first, T_DIV, 0, 0b1010, 0x18));
    // The lowest of those that are active.
    let three = State {
        active: 0b1110,
        exited: 0b0001,
        ..here
    };
    put(machine, &three);
    let after = works(machine, &three, &brx_pins(absolute, ALL, r), "three");
    let first = State {
        active: 0b0010,
        pc: 0x48,
        ..three
    };
    assert_eq!(after, pushed(&first, T_DIV, 0, 0b1100, 0x18));
    // Equal targets of unequal registers are several: registers are compared.
    let after = works(
        machine,
        &three,
        &brx_pins(absolute, ALL, [0, 0x40, 0x48, 0x40]),
        "registers",
    );
    assert_eq!((after.active, after.pc, after.sp), (0b1010, 0x48, 1));

    // Errors: only the lowest thread's target is checked, misaligned first, then range, then the stack.
    put(machine, &here);
    for (word, r, err) in [
        (absolute, [SIZE, 0, 0, 0], TARGET_RANGE),
        (relative, [SIZE - 0x60, 0, 0, 0], TARGET_RANGE),
        (off(BRX | P0, -0x28), [0; 4], TARGET_RANGE),
        (absolute, [4, 0, 0, 0], TARGET_MISALIGNED),
        (absolute, [0xFFFF_FFFC; 4], TARGET_MISALIGNED),
        (off(BRX | P0, -0x24), [0; 4], TARGET_MISALIGNED),
        (word_with_test(absolute, 0x18), [0; 4], UNSUPPORTED),
        (word_with_test(absolute, 0x1F), [0; 4], UNSUPPORTED),
        (absolute | CONSTANT_BANK, [0; 4], UNSUPPORTED),
    ] {
        fails(machine, &here, &brx_pins(word, ALL, r), err, "BRX");
    }
    works(
        machine,
        &here,
        &brx_pins(absolute, ALL, [8, 4, SIZE, 1]),
        "lowest",
    );
    works(
        machine,
        &here,
        &brx_pins(off(BRX | P0, -0x28), ALL, [8; 4]),
        "sum",
    );
    let full = State {
        sp: 4,
        top_type: T_SSY,
        top_mask: ALL,
        top_addr: 8,
        ..here
    };
    put(machine, &full);
    for (p0, r, err) in [
        (0b0001, [4; 4], STACK_OVERFLOW),
        (ALL, [4, 8, 8, 8], TARGET_MISALIGNED),
        (ALL, [SIZE, 8, 8, 8], TARGET_RANGE),
        (ALL, [8, 16, 8, 8], STACK_OVERFLOW),
    ] {
        fails(machine, &full, &brx_pins(absolute, p0, r), err, "full");
    }
    works(machine, &full, &brx_pins(absolute, ALL, [8; 4]), "no push");
    works(machine, &full, &brx_pins(absolute, 0, [8; 4]), "no push");

    // Bits that it does not name: LMT, register number, and all between.
    put(machine, &here);
    let named = 0xFFF0_0000_0000_0000 | 0xFF_FFFF << 20 | 0xF_001F | CONSTANT_BANK;
    for p0 in [0, 0b0110, ALL] {
        let expected = works(machine, &here, &brx_pins(absolute, p0, r), "BRX");
        for bit in (0..64).filter(|b| named >> b & 1 == 0) {
            let pins = brx_pins(absolute ^ 1 << bit, p0, r);
            assert_eq!(works(machine, &here, &pins, "BRX"), expected, "bit {bit}");
        }
    }
}

fn word_with_test(word: u64, ccccc: u64) -> u64 {
    word & !0x1F | ccccc
}

/// Only off24 is sign extended: a register of 2^31 and more leads over the end, whatever off24 takes away.
fn brx_register(machine: &mut dyn Unit) {
    let here = State {
        pc: 0x98,
        ..start(machine)
    };
    put(machine, &here);
    let word = off(BRX | ALWAYS, 0);
    fails(
        machine,
        &here,
        &brx_pins(word, 0, [0xFFFF_FFF8; 4]),
        TARGET_RANGE,
        "register - 8",
    );
    let pins = brx_pins(off(BRX | ALWAYS, -0xA0), 0, [0x8000_0000; 4]);
    fails(machine, &here, &pins, TARGET_RANGE, "2^31");
}

/// A switch: every thread leaves by its own case, in the order of the lowest, and only those that are taken.
fn brx_switch(machine: &mut dyn Unit) {
    let mut state = start(machine);
    let r = [0x80, 0x40, 0x80, 0x60];
    let pins = brx_pins(off(BRX | P0, -0x10), 0b1101, r);
    let mut seen = Vec::new();
    for _ in 0..6 {
        let word = if state.pc == 0x08 {
            pins
        } else {
            exec(EXIT | ALWAYS)
        };
        seen.push((state.pc, state.active, state.sp));
        (state, _) = step(machine, &word);
    }
    assert_eq!(
        seen,
        [
            (0x08, 0b1111, 0),
            // Thread 1 does not jump and waits behind the BRX.
            (0x08, 0b1101, 1),
            (0x88, 0b0101, 2),
            (0x08, 0b1000, 1),
            (0x68, 0b1000, 1),
            (0x10, 0b0010, 0),
        ]
    );
    assert_eq!(state.status, DONE);
}

/// Without the option it is UNSUPPORTED in every form.
fn no_brx(machine: &mut dyn Unit) {
    let before = start(machine);
    for word in [ALWAYS, P0, NEVER, 0, CONSTANT_BANK, 0xFFFF_FFFF_FFFF] {
        let pins = brx_pins(BRX | word, 0b0001, [8; 4]);
        fails(machine, &before, &pins, UNSUPPORTED, "BRX");
    }
}

both! {
    no_brx: golden_has_no_brx_unless_asked_to, rtl_has_no_brx_unless_asked_to;
}

both_small! {
    brx: golden_executes_brx_if_it_is_asked_to, rtl_executes_brx_if_it_is_asked_to;
    brx_register: golden_takes_a_brx_register_as_unsigned, rtl_takes_a_brx_register_as_unsigned;
    brx_switch: golden_runs_a_brx_until_every_thread_has_left_it, rtl_runs_a_brx_until_every_thread_has_left_it;
}
