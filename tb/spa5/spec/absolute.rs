//! Program base, JMP, JCAL, JMX, KIL, constants and the tests of the clip state machine: the traces of spa5-7.7 to
//! spa5-7.9, and the corners of their rules.

use super::traces::threads;
use super::*;

const JMX: u64 = 0xE200_0000_0000_0000;

/// A unit with everything, as one of the variants that the bench builds.
fn whole() -> Build {
    let parameters = [("BRX".to_owned(), 1), ("CSM".to_owned(), 1)];
    Build {
        lanes: LANES as u32,
        parameters: parameters.into(),
    }
}

/// Runs a check on it.
macro_rules! both_whole {
    ($($check:ident: $golden:ident, $rtl:ident;)+) => {$(
        #[test]
        fn $golden() {
            $check(&mut Golden::with(LANES, DEFAULT_DEPTH, true).with_csm(true));
        }
        #[test]
        #[ignore = "many models or proofs; CI's step builds runs it"]
        fn $rtl() {
            $check(&mut Sequencer::built(whole()));
        }
    )+};
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

/// A row of spa5-7.7 to spa5-7.9: pc, word, active before and after, next pc, exited, killed, tokens by type, mask and
/// address.
type Row = (
    u32,
    u64,
    &'static str,
    &'static str,
    u32,
    &'static str,
    &'static str,
    &'static [(u8, &'static str, u32)],
);

const X: u64 = NOP;
const NO: &str = "0000";

/// spa5-7.7.
#[rustfmt::skip]
const ABSOLUTE: &[Row] = &[
    (0x4000_0008, 0x5b6b_0000_0007_ff07, "1111", "1111", 0x4000_0010, NO, NO, &[]),
    (0x4000_0010, 0xe224_0000_0480_0040, "1111", "1111", 0x4000_0048, NO, NO, &[(T_RET, "1111", 0x4000_0018)]),
    (0x4000_0048, X, "1111", "1111", 0x4000_0050, NO, NO, &[(T_RET, "1111", 0x4000_0018)]),
    (0x4000_0050, 0xe320_0000_0007_000f, "1111", "1111", 0x4000_0018, NO, NO, &[]),
    (0x4000_0018, 0xe330_0000_0001_000f, "1111", "1101", 0x4000_0028, "0010", "0010", &[]),
    (0x4000_0028, 0xe214_0000_0380_000f, "1101", "0101", 0x4000_0038, "0010", "0010", &[(T_DIV, "1000", 0x4000_0030)]),
    (0x4000_0038, 0xe330_0000_0007_000f, "0101", "1000", 0x4000_0030, "0111", "0111", &[]),
    (0x4000_0030, 0xe300_0000_0007_000f, "1000", "0000", 0x4000_0030, "1111", "0111", &[]),
];

/// spa5-7.8.
#[rustfmt::skip]
const REGISTERS: &[Row] = {
    const SSY: (u8, &str, u32) = (T_SSY, "1111", 0xffff_ffd0);
    const JMX: u64 = 0xe20f_ffff_ff07_000f;
    const CLIP: u64 = 0xf0f8_0000_0007_0019;
    const SYNC: u64 = 0xf0f8_0000_0007_000f;
    &[
        (0xffff_ff88, 0x5b6b_0000_0007_ff07, "1111", "1111", 0xffff_ff90, NO, NO, &[]),
        (0xffff_ff90, 0xe290_0000_0200_0020, "1111", "1111", 0xffff_ff98, NO, NO, &[SSY]),
        (0xffff_ff98, JMX, "1111", "0101", 0xffff_ffb0, NO, NO, &[SSY, (T_DIV, "1010", 0xffff_ff98)]),
        (0xffff_ffb0, CLIP, "0101", "0001", 0xffff_ffb8, NO, NO, &[SSY, (T_DIV, "1010", 0xffff_ff98)]),
        (0xffff_ffb8, X, "0001", "0001", 0xffff_ffc8, NO, NO, &[SSY, (T_DIV, "1010", 0xffff_ff98)]),
        (0xffff_ffc8, SYNC, "0001", "1010", 0xffff_ff98, NO, NO, &[SSY]),
        (0xffff_ff98, JMX, "1010", "0010", 0xffff_ffa8, NO, NO, &[SSY, (T_DIV, "1000", 0xffff_ff98)]),
        (0xffff_ffa8, X, "0010", "0010", 0xffff_ffb0, NO, NO, &[SSY, (T_DIV, "1000", 0xffff_ff98)]),
        (0xffff_ffb0, CLIP, "0010", "0010", 0xffff_ffb8, NO, NO, &[SSY, (T_DIV, "1000", 0xffff_ff98)]),
        (0xffff_ffb8, X, "0010", "0010", 0xffff_ffc8, NO, NO, &[SSY, (T_DIV, "1000", 0xffff_ff98)]),
        (0xffff_ffc8, SYNC, "0010", "1000", 0xffff_ff98, NO, NO, &[SSY]),
        (0xffff_ff98, JMX, "1000", "1000", 0xffff_ffa8, NO, NO, &[SSY]),
        (0xffff_ffa8, X, "1000", "1000", 0xffff_ffb0, NO, NO, &[SSY]),
        (0xffff_ffb0, CLIP, "1000", "1000", 0xffff_ffb8, NO, NO, &[SSY]),
        (0xffff_ffb8, X, "1000", "1000", 0xffff_ffc8, NO, NO, &[SSY]),
        (0xffff_ffc8, SYNC, "1000", "1111", 0xffff_ffd0, NO, NO, &[]),
        (0xffff_ffd0, 0xe300_0000_0007_000f, "1111", "0000", 0xffff_ffd0, "1111", NO, &[]),
    ]
};

/// spa5-7.9.
#[rustfmt::skip]
const SWITCH: &[Row] = {
    const SSY: (u8, &str, u32) = (T_SSY, "1111", 0x70);
    const DEFAULT: (u8, &str, u32) = (T_DIV, "0100", 0x28);
    const BRX: u64 = 0xe250_0fff_fe00_000f;
    const SYNC: u64 = 0xf0f8_0000_0007_000f;
    &[
        (0x08, 0x5b6b_0000_0007_ff07, "1111", "1111", 0x10, NO, NO, &[]),
        (0x10, 0xe290_0000_0580_0000, "1111", "1111", 0x18, NO, NO, &[SSY]),
        (0x18, BRX, "1111", "1011", 0x18, NO, NO, &[SSY, DEFAULT]),
        (0x18, BRX, "1011", "1001", 0x50, NO, NO, &[SSY, DEFAULT, (T_DIV, "0010", 0x18)]),
        (0x50, X, "1001", "1001", 0x58, NO, NO, &[SSY, DEFAULT, (T_DIV, "0010", 0x18)]),
        (0x58, SYNC, "1001", "0010", 0x18, NO, NO, &[SSY, DEFAULT]),
        (0x18, BRX, "0010", "0010", 0x38, NO, NO, &[SSY, DEFAULT]),
        (0x38, X, "0010", "0010", 0x48, NO, NO, &[SSY, DEFAULT]),
        (0x48, SYNC, "0010", "0100", 0x28, NO, NO, &[SSY]),
        (0x28, X, "0100", "0100", 0x30, NO, NO, &[SSY]),
        (0x30, SYNC, "0100", "1111", 0x70, NO, NO, &[]),
        (0x70, X, "1111", "1111", 0x78, NO, NO, &[]),
        (0x78, 0xe300_0000_0007_000f, "1111", "0000", 0x78, "1111", NO, &[]),
    ]
};

fn check_rows(machine: &mut dyn Unit, base: u32, size: u32, conditions: &In, rows: &[Row]) {
    let mut state = start_at(machine, base, size);
    for (number, (pc, word, before, after, next, exited, killed, stack)) in (1..).zip(rows) {
        let at = format!("step {number} at {pc:x}");
        assert_eq!((state.pc, state.active), (*pc, threads(before)), "{at}");
        let pins = In {
            inst_valid: 1,
            word: *word,
            ..*conditions
        };
        (state, _) = step(machine, &pins);
        let last = number == rows.len();
        let status = if last { DONE } else { RUN };
        assert_eq!((state.status, state.err), (status, 0), "{at}");
        assert_eq!((state.pc, state.active), (*next, threads(after)), "{at}");
        assert_eq!(state.exited, threads(exited), "{at}: exited");
        assert_eq!(state.killed, threads(killed), "{at}: killed");
        assert_eq!(usize::from(state.sp), stack.len(), "{at}: sp");
        let top = stack.last().copied().unwrap_or((0, NO, 0));
        assert_eq!(
            (state.top_type, state.top_mask, state.top_addr),
            (top.0, threads(top.1), top.2),
            "{at}: top"
        );
        if let Some(tokens) = machine.stack() {
            let tokens: Vec<_> = tokens.iter().map(|t| (t.kind, t.mask, t.addr)).collect();
            let stack: Vec<_> = stack.iter().map(|t| (t.0, threads(t.1), t.2)).collect();
            assert_eq!(tokens, stack, "{at}: stack");
        }
    }
}

fn absolute_trace(machine: &mut dyn Unit) {
    for others in [0, !ALL] {
        let mut conditions = In::default();
        (conditions.p[0], conditions.p[1]) = (0b0101 | others, 0b0010 | others);
        // Pins of other forms have no effect.
        conditions.constant = 0x1234_5678;
        conditions.r = [0x8765_4321; 64];
        check_rows(machine, 0x4000_0000, 0x60, &conditions, ABSOLUTE);
    }
}

fn registers_trace(machine: &mut dyn Unit) {
    let mut conditions = In {
        constant: 0xab00_0038,
        r: [0x1234_5678; 64],
        csm: [0xff; 64],
        ..In::default()
    };
    let r = [-0x40_i32, -0x48, -0x40, -0x50].map(|r| r as u32);
    conditions.r[..4].copy_from_slice(&r);
    conditions.csm[..4].copy_from_slice(&[0xfd, 0xfd, 0x02, 0xfd]);
    check_rows(machine, 0xffff_ff80, 0x80, &conditions, REGISTERS);
}

fn switch_trace(machine: &mut dyn Unit) {
    let mut conditions = In {
        constant: 0x1234_5678,
        r: [0x1234_5678; 64],
        csm: [0xff; 64],
        ..In::default()
    };
    conditions.p[0] = 0b1011 | !ALL;
    conditions.r[..4].copy_from_slice(&[0x50, 0x38, 0x24, 0x50]);
    check_rows(machine, 0, 0x80, &conditions, SWITCH);
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

/// JMP and JCAL: what BRA and CAL do, to their own target (spa5-4.3-b, spa5-4.3-j).
fn jumps(machine: &mut dyn Unit) {
    let before = start_at(machine, 0x1000_0000, SIZE);
    let jmp = imm(JMP | P0, 0x1000_0080);
    let there = State {
        pc: 0x1000_0088,
        ..before
    };
    let next = State {
        pc: before.pc + 8,
        ..before
    };
    let after = works(machine, &before, &exec_p0(jmp, ALL), "all");
    assert_eq!(after, there);
    assert_eq!(works(machine, &before, &exec_p0(jmp, 0), "none"), next);
    let some = State {
        active: 0b0110,
        ..there
    };
    let after = works(machine, &before, &exec_p0(jmp, 0b0110), "some");
    assert_eq!(after, pushed(&some, T_DIV, 0, 0b1001, before.pc + 8));
    // All or none.
    for (word, after) in [(jmp | U, next), (imm(jmp | U, 0x1000_0004), next)] {
        assert_eq!(works(machine, &before, &exec_p0(word, 0b0110), ".U"), after);
    }
    let after = works(machine, &before, &exec_p0(jmp | U, ALL), ".U");
    assert_eq!(after, there);
    // Checked when it jumps only; misaligned first.
    for to in [4, 0x1000_0004, 0, 0x1000_1000] {
        let word = imm(jmp, to);
        let err = if to % 8 == 0 {
            TARGET_RANGE
        } else {
            TARGET_MISALIGNED
        };
        fails(machine, &before, &exec_p0(word, 0b0110), err, "JMP");
        works(machine, &before, &exec_p0(word, 0), "no thread");
        fails(machine, &before, &exec(imm(JCAL, to)), err, "JCAL");
    }
    let called = works(machine, &before, &exec(imm(JCAL, 0x1000_0080)), "JCAL");
    assert_eq!(called, pushed(&there, T_RET, 8, ALL, before.pc + 8));
    // Bits without an effect; KEEPREFCOUNT is none of KIL's either.
    for (word, ignored) in [
        (jmp, 0xFF << 8 | 1 << 6),
        (imm(JCAL, 0x1000_0080), 0xF_FFDF),
        (KIL | P0, 0xFFFF_FFFF_u64 << 20 | 0xFFE0),
    ] {
        let expected = works(machine, &before, &exec_p0(word, 0b0110), "plain");
        for bit in (0..64).filter(|bit| ignored >> bit & 1 == 1) {
            let pins = exec_p0(word ^ 1 << bit, 0b0110);
            assert_eq!(works(machine, &before, &pins, "bit"), expected, "bit {bit}");
        }
    }
    for word in [jmp, imm(JCAL, 0x1000_0080), JMX | P0] {
        let pins = exec_p0(word | CONSTANT_BANK, ALL);
        fails(machine, &before, &pins, UNSUPPORTED, "constant bank");
    }
}

/// KIL: as EXIT, and remembered (spa5-4.3-h, spa5-3-q, spa5-I12).
fn kills(machine: &mut dyn Unit) {
    let before = start(machine);
    let none = works(machine, &before, &exec(KIL | NEVER), "no thread");
    assert_eq!(none, State { pc: 0x10, ..before });
    let one = machine.clock(&exec_p0(KIL | P0, 0b0001));
    let expected = State {
        pc: 0x10,
        active: 0b1110,
        exited: 0b0001,
        killed: 0b0001,
        ..before
    };
    assert_eq!(one, expected);
    let two = machine.clock(&exec_p0(EXIT | P0, 0b0010));
    assert_eq!((two.exited, two.killed), (0b0011, 0b0001));
    let three = machine.clock(&exec_p0(KIL | P0, 0b0100));
    assert_eq!((three.exited, three.killed), (0b0111, 0b0101));
    let (all, clocks) = step(machine, &exec(EXIT | ALWAYS));
    assert_eq!((all.exited, all.killed, clocks), (ALL, 0b0101, 2));
    assert_eq!(all.status, DONE);
    // Gone with the next launch, and with a reset.
    assert_eq!(machine.clock(&launch(0, SIZE, ALL)), before);
    machine.clock(&exec(KIL | ALWAYS));
    assert_eq!(machine.clock(&In::reset()).killed, 0);
    // It needs no token and skips all of them.
    let mut state = start(machine);
    for word in [SSY, PBK, PCNT, PRET] {
        state = machine.clock(&exec(off(word, 0)));
    }
    assert_eq!(state.sp, 4);
    let (state, clocks) = step(machine, &exec(KIL | ALWAYS));
    assert_eq!((state.status, state.killed, clocks), (DONE, ALL, 6));
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

/// JMX: imm32 + R modulo 2^32, and all else as BRX (spa5-A-f).
fn jmx(machine: &mut dyn Unit) {
    let base = 0x8000_0000;
    let before = start_at(machine, base, SIZE);
    for (address, r, to) in [
        (0x8000_0080, 0, Ok(0x8000_0088)),
        (0, 0x8000_0048, Ok(0x8000_0048)),
        (0xffff_fff8, 0x8000_0010, Ok(0x8000_0008)),
        (0x8000_0100, 0xffff_ff08, Ok(0x8000_0008)),
        (0x8000_0000, SIZE - 8, Ok(0x8000_0FF8)),
        (0x8000_0000, SIZE, Err(TARGET_RANGE)),
        (0x8000_0000, 0xffff_fff8, Err(TARGET_RANGE)),
        (0x8000_0000, 0x8000_0000, Err(TARGET_RANGE)),
        (0xffff_ffff, 1, Err(TARGET_RANGE)),
        (0x8000_0000, 4, Err(TARGET_MISALIGNED)),
    ] {
        let at = format!("{address:x} + {r:x}");
        let pins = brx::brx_pins(imm(JMX | P0, address), ALL, [r; 4]);
        match to {
            Ok(pc) => {
                let after = works(machine, &before, &pins, &at);
                assert_eq!(after, State { pc, ..before }, "{at}");
            }
            Err(err) => fails(machine, &before, &pins, err, &at),
        }
        let none = brx::brx_pins(imm(JMX | P0, address), 0, [r; 4]);
        let next = State {
            pc: before.pc + 8,
            ..before
        };
        assert_eq!(works(machine, &before, &none, &at), next);
        // Some: the target is not looked at yet.
        let some = brx::brx_pins(imm(JMX | P0, address), 0b0110, [r; 4]);
        let alone = State {
            active: 0b0110,
            ..before
        };
        let divided = pushed(&alone, T_DIV, 0, 0b1001, before.pc + 8);
        assert_eq!(works(machine, &before, &some, &at), divided);
    }
    let pins = brx::brx_pins(imm(JMX | P0, base), ALL, [0x48, 0x40, 0x48, 0x60]);
    let first = State {
        active: 0b0101,
        pc: 0x8000_0048,
        ..before
    };
    let after = works(machine, &before, &pins, "several");
    assert_eq!(after, pushed(&first, T_DIV, 0, 0b1010, before.pc));
    let pins = brx::brx_pins(imm(JMX | P0, base) | CONSTANT_BANK, ALL, [8; 4]);
    fails(machine, &before, &pins, UNSUPPORTED, "constant bank");
}

/// Without the option it is UNSUPPORTED in every form.
fn no_jmx(machine: &mut dyn Unit) {
    let before = start(machine);
    for word in [ALWAYS, P0, NEVER, 0, CONSTANT_BANK, 0xFFFF_FFFF_FFFF] {
        let pins = brx::brx_pins(JMX | word, 0b0001, [8; 4]);
        fails(machine, &before, &pins, UNSUPPORTED, "JMX");
    }
}

both! {
    absolute_trace: golden_reproduces_the_trace_of_absolute_jumps, rtl_reproduces_the_trace_of_absolute_jumps;
    bases: golden_runs_programs_at_every_base, rtl_runs_programs_at_every_base;
    jumps: golden_jumps_and_calls_absolute_addresses, rtl_jumps_and_calls_absolute_addresses;
    kills: golden_remembers_threads_that_were_killed, rtl_remembers_threads_that_were_killed;
    constants: golden_takes_offsets_from_constants, rtl_takes_offsets_from_constants;
    no_jmx: golden_has_no_jmx_unless_asked_to, rtl_has_no_jmx_unless_asked_to;
}

both_whole! {
    registers_trace: golden_reproduces_the_trace_of_jmx, rtl_reproduces_the_trace_of_jmx;
    switch_trace: golden_runs_the_switch, rtl_runs_the_switch;
    clip_tests: golden_tests_the_clip_state, rtl_tests_the_clip_state;
    jmx: golden_executes_jmx_if_it_is_asked_to, rtl_executes_jmx_if_it_is_asked_to;
}
