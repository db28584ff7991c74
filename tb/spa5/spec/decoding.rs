//! Conditions (spa5-2.4), decoding (spa5-2.3) and addresses (spa5-2.1, spa5-2.2).

use super::traces::hex;
use super::*;

/// Where a BRA in which `taken` are taken leads from `before`, whose pc is 0x08.
pub(super) fn branched(before: &State, taken: u64) -> State {
    assert_eq!(before.pc, 0x08);
    let target = State {
        pc: 0x88,
        active: taken,
        ..*before
    };
    match taken {
        0 => State {
            pc: 0x10,
            ..*before
        },
        _ if taken == before.active => target,
        _ => pushed(&target, T_DIV, before.vis, before.active & !taken, 0x10),
    }
}

/// Every CC test for every condition code, four at a time.
fn cc_tests(machine: &mut dyn Unit) {
    let table = machine::read::<Spa5>("cc_tests.exp");
    let tests: BTreeMap<u64, u64> = table
        .lines()
        .filter(|l| !l.starts_with('#'))
        .map(|l| {
            let column: Vec<&str> = l.split(';').map(str::trim).collect();
            (hex(column[0]).into(), hex(column[3]).into())
        })
        .collect();
    assert_eq!(tests.len(), 0x18);
    let before = start(machine);
    let mut checked = 0;
    for ccccc in 0..0x20 {
        for first in (0..16).step_by(LANES) {
            let word = off(BRA | 0x7_0000 | ccccc, 0x78);
            let mut pins = exec(word);
            for code in first..first + LANES {
                for (bit, plane) in pins.cc.iter_mut().enumerate() {
                    *plane |= (code as u64 >> bit & 1) << (code - first);
                }
            }
            let at = format!("test {ccccc:02x}, condition codes from {first} on");
            match tests.get(&ccccc) {
                Some(lut16) => {
                    let taken = lut16 >> first & ALL;
                    let after = works(machine, &before, &pins, &at);
                    assert_eq!(after, branched(&before, taken), "{at}");
                }
                None => fails(machine, &before, &pins, UNSUPPORTED, &at),
            }
            checked += LANES;
        }
    }
    assert_eq!(checked, 32 * 16);
}

/// Every predicate, inverted or not, alone and together with a CC test.
fn predicates(machine: &mut dyn Unit) {
    let before = start(machine);
    let holds = [
        0b0001, 0b0010, 0b0100, 0b1000, 0b0110, 0b1001, 0b1110, 0b1111,
    ];
    for pppp in 0..16u64 {
        let mut pins = exec(off(BRA | pppp << 16 | 0xF, 0x78));
        pins.p.copy_from_slice(&holds[..7]);
        // Z of threads 1 to 3.
        pins.cc[0] = 0b1110;
        let mut taken = holds[(pppp & 7) as usize];
        if pppp >= 8 {
            taken ^= ALL;
        }
        let after = works(machine, &before, &pins, "predicate");
        assert_eq!(after, branched(&before, taken), "predicate {pppp:x}");
        // EQU.
        pins.word = off(BRA | pppp << 16 | 0xA, 0x78);
        let after = works(machine, &before, &pins, "predicate");
        assert_eq!(
            after,
            branched(&before, taken & 0b1110),
            "predicate {pppp:x} and Z"
        );
        // Threads that are not active do not count.
        let some = State {
            active: 0b0101,
            exited: 0b1010,
            ..before
        };
        put(machine, &some);
        let after = works(machine, &some, &pins, "predicate");
        assert_eq!(
            after,
            branched(&some, taken & 0b0100),
            "predicate {pppp:x}, two threads"
        );
        put(machine, &before);
    }
}

// ---- spa5-2.3: decoding -----------------------------------------------------------------------------------

/// What a word whose CC test is T and whose offset is `0x78` does at 0x08 with an empty stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// It pushes a token of this type, and the next pc is this.
    Push(u8, u32),
    Branch,
    /// To 0x78.
    Jump,
    Empties,
    Kills,
    Error(u8),
    Other,
}

/// Rows of spa5-2.3 for opcodes 0xE20 to 0xE3F; `BRX` and `JMX` are without their option. The constant is 0x78 too.
fn outcome(word: u64) -> Outcome {
    use Outcome::{Branch, Empties, Error, Jump, Kills, Other, Push};
    let constant = word & CONSTANT_BANK != 0;
    match word >> 52 {
        0xE21 | 0xE22 if constant => Error(UNSUPPORTED),
        // Bits 51:48 belong to the address.
        0xE21 | 0xE22 if word >> 48 & 15 != 0 => Error(TARGET_RANGE),
        0xE21 => Jump,
        0xE22 => Push(T_RET, 0x78),
        0xE24 => Branch,
        0xE26 => Push(T_RET, 0x88),
        0xE27 => Push(T_RET, 0x10),
        0xE29 => Push(T_SSY, 0x10),
        0xE2A => Push(T_PBK, 0x10),
        0xE2B => Push(T_PCNT, 0x10),
        0xE30 => Empties,
        0xE32 => Error(RET_NO_CALL),
        0xE34 => Error(BRK_NO_PBK),
        0xE35 => Error(CONT_NO_PCNT),
        0xE33 => Kills,
        0xE20 | 0xE23 | 0xE25 | 0xE28 | 0xE2C | 0xE2D | 0xE2E | 0xE2F | 0xE31 | 0xE36 | 0xE37
        | 0xE38 | 0xE39 | 0xE3A => Error(UNSUPPORTED),
        0xE3B..=0xE3F => Error(ILLEGAL),
        _ if word >> 51 == 0xF0F8 >> 3 => Error(SYNC_NO_SSY),
        _ => Other,
    }
}

/// All values of bits 63:48, with bit 5 and without.
fn opcodes(machine: &mut dyn Unit) {
    let before = start(machine);
    let mut met: BTreeMap<String, usize> = BTreeMap::new();
    for high in 0..0x1_0000u64 {
        for bit5 in [0, CONSTANT_BANK] {
            let word = off(high << 48 | ALWAYS | bit5, 0x78);
            let expected = outcome(word);
            let after = match expected {
                Outcome::Push(kind, pc) => {
                    let vis = [0, 1, 2, 4, 8][usize::from(kind)];
                    // CAL comes back to the next instruction.
                    let addr = if pc == 0x10 { 0x88 } else { 0x10 };
                    State {
                        pc,
                        ..pushed(&before, kind, vis, ALL, addr)
                    }
                }
                Outcome::Branch => branched(&before, ALL),
                Outcome::Jump => State { pc: 0x78, ..before },
                Outcome::Empties => State {
                    status: UNWIND,
                    active: 0,
                    exited: ALL,
                    ..before
                },
                Outcome::Kills => State {
                    status: UNWIND,
                    active: 0,
                    exited: ALL,
                    killed: ALL,
                    ..before
                },
                Outcome::Error(err) => failed(&before, err),
                Outcome::Other => State { pc: 0x10, ..before },
            };
            let pins = In {
                constant: 0xA500_0078,
                ..exec(word)
            };
            assert_eq!(machine.clock(&pins), after, "{word:016x}");
            machine.load(&before);
            *met.entry(format!("{expected:?}")).or_default() += 1;
        }
    }
    // Sixteen words an opcode and value of bit 5, eight of SYNC.
    let of = |key: &str| met[key];
    assert_eq!(of("Error(1)"), 8 * 2);
    assert_eq!(of("Error(9)"), 5 * 16 * 2);
    assert_eq!(of("Error(10)"), (14 * 2 + 2) * 16);
    assert_eq!(of("Error(7)"), 2 * 15);
    assert_eq!((of("Branch"), of("Jump"), of("Kills")), (2 * 16, 1, 2 * 16));
    assert_eq!(of("Push(4, 136)") + of("Push(4, 16)"), 4 * 16);
    assert_eq!(of("Push(4, 120)"), 1);
    assert_eq!(of("Other"), 0x2_0000 - (512 * 2 + 16));
}

/// Flipping a bit that an instruction does not name changes nothing.
fn ignored_bits(machine: &mut dyn Unit) {
    const MATCH: u64 = 0xFFF0_0000_0000_0000;
    const OFF24: u64 = 0xFF_FFFF << 20;
    const CONDITION: u64 = 0xF_001F;
    // One token of each type below, so that everything may leave.
    let mut base = start(machine);
    for word in [PRET, PBK, PCNT, SSY] {
        base = machine.clock(&exec(off(word, 0x400)));
        assert_eq!(base.err, 0);
    }
    let base = State {
        vis: 0b1111,
        ..base
    };
    let rows = [
        (SSY, MATCH | OFF24 | CONSTANT_BANK),
        (PBK, MATCH | OFF24 | CONSTANT_BANK),
        (PCNT, MATCH | OFF24 | CONSTANT_BANK),
        (PRET, MATCH | OFF24 | CONSTANT_BANK),
        (CAL, MATCH | OFF24 | CONSTANT_BANK),
        (BRA, MATCH | OFF24 | CONSTANT_BANK | CONDITION | U),
        (SYNC, 0xFFF8_0000_0000_0000 | CONDITION),
        (BRK, MATCH | CONDITION),
        (CONT, MATCH | CONDITION),
        (RET, MATCH | CONDITION),
        (EXIT, MATCH | CONDITION),
    ];
    let mut flips = 0;
    for (word, named) in rows {
        let conditional = named & CONDITION != 0;
        for low in if conditional {
            vec![ALWAYS, P0]
        } else {
            vec![0]
        } {
            let word = off(word, 0x78) | low;
            put(machine, &base);
            let expected = machine.clock(&exec_p0(word, 0b0110));
            assert_eq!(expected.err, 0, "{word:016x}");
            assert_ne!(expected, base, "{word:016x}");
            for bit in (0..64).filter(|b| named >> b & 1 == 0) {
                put(machine, &base);
                let after = machine.clock(&exec_p0(word ^ 1 << bit, 0b0110));
                assert_eq!(after, expected, "{word:016x}, bit {bit}");
                flips += 1;
            }
        }
    }
    // 5 * (64 - 37), then two forms each of BRA, SYNC, and the four others.
    assert_eq!(
        flips,
        5 * 27 + 2 * (64 - 47) + 2 * (64 - 22) + 8 * (64 - 21)
    );
}

// ---- spa5-2.1, spa5-2.2: addresses ------------------------------------------------------------------------

/// Control words as entry, as next instruction and as target.
fn slots(machine: &mut dyn Unit) {
    // norm.
    for (entry, pc) in [
        (0x00, 0x08),
        (0x08, 0x08),
        (0x10, 0x10),
        (0x18, 0x18),
        (0x20, 0x28),
        (0xFE0, 0xFE8),
        (0xFFF8, 0xFFF8),
    ] {
        machine.clock(&In::reset());
        let state = machine.clock(&launch(entry, 0x1_0000, ALL));
        assert_eq!(state.pc, pc, "entry {entry:x}");
    }
    // seq.
    let before = start(machine);
    for (pc, next) in [
        (0x08, 0x10),
        (0x10, 0x18),
        (0x18, 0x28),
        (0x28, 0x30),
        (0x30, 0x38),
        (0x38, 0x48),
        (0xFD8, 0xFE8),
        (0xFF8, 0x1008),
    ] {
        let at = format!("{pc:x}");
        let here = State { pc, ..before };
        put(machine, &here);
        let there = State { pc: next, ..here };
        // OTHER; a branch or leaving instruction that no thread takes; a set-up instruction; what others go on after.
        for word in [NOP, off(BRA | NEVER, 0x78), EXIT | NEVER] {
            assert_eq!(works(machine, &here, &exec(word), &at), there, "{at}");
        }
        let after = works(machine, &here, &exec(off(SSY, -8 - i64::from(pc))), &at);
        assert_eq!(after, pushed(&there, T_SSY, 1, ALL, 0x08), "{at}: SSY");
        let after = works(machine, &here, &exec_p0(EXIT | P0, 0b0010), &at);
        let left = State {
            active: 0b1101,
            exited: 0b0010,
            ..there
        };
        assert_eq!(after, left, "{at}: EXIT of one");
        // The way back of a call, and the other side of a branch.
        let call = off(CAL, 0x78 - i64::from(pc));
        let after = works(machine, &here, &exec(call), &at);
        let called = State { pc: 0x88, ..here };
        assert_eq!(after, pushed(&called, T_RET, 8, ALL, next), "{at}: CAL");
        let after = works(
            machine,
            &here,
            &exec_p0(off(BRA | P0, 0x78 - i64::from(pc)), 0b0010),
            &at,
        );
        let taken = State {
            pc: 0x88,
            active: 0b0010,
            ..here
        };
        assert_eq!(
            after,
            pushed(&taken, T_DIV, 0, 0b1101, next),
            "{at}: divergent"
        );
    }
    // The base is pc + 8 in all three slots; a target that is a control word means the slot behind it.
    for pc in [0x108u32, 0x110, 0x118] {
        let here = State { pc, ..before };
        put(machine, &here);
        for (to, target) in [
            (0x00, 0x08),
            (0x08, 0x08),
            (0x18, 0x18),
            (0xE0, 0xE8),
            (0x100, 0x108),
            (0x120, 0x128),
            (0x128, 0x128),
            (0x400, 0x408),
            (0xFE0, 0xFE8),
            (0xFF8, 0xFF8),
        ] {
            let at = format!("{pc:x} to {to:x}");
            let offset = to - i64::from(pc) - 8;
            let there = State { pc: target, ..here };
            let after = works(machine, &here, &exec(off(BRA | ALWAYS, offset)), &at);
            assert_eq!(after, there, "{at}: BRA");
            for (word, kind, vis) in [
                (SSY, T_SSY, 1),
                (PBK, T_PBK, 2),
                (PCNT, T_PCNT, 4),
                (PRET, T_RET, 8),
            ] {
                let after = works(machine, &here, &exec(off(word, offset)), &at);
                assert_eq!(
                    State { pc, ..after },
                    pushed(&here, kind, vis, ALL, target),
                    "{at}"
                );
            }
            let after = works(machine, &here, &exec(off(CAL, offset)), &at);
            assert_eq!(after.pc, target, "{at}: CAL");
        }
    }
}

/// Range and alignment of targets, for whom they are checked and for whom not.
fn targets(machine: &mut dyn Unit) {
    for size in [0x20u32, 0x400, 0x1000] {
        machine.clock(&In::reset());
        let before = machine.clock(&launch(0, size, ALL));
        // (target, error)
        let end = i64::from(size);
        let rows = [
            (0, 0),
            (8, 0),
            (end - 8, 0),
            (end, TARGET_RANGE),
            (end + 8, TARGET_RANGE),
            (-8, TARGET_RANGE),
            (-0x20, TARGET_RANGE),
            (8 + 8 - 0x80_0000, TARGET_RANGE),
            (8 + 8 + 0x7F_FFF8, TARGET_RANGE),
            (1, TARGET_MISALIGNED),
            (2, TARGET_MISALIGNED),
            (4, TARGET_MISALIGNED),
            (end - 4, TARGET_MISALIGNED),
            (end + 4, TARGET_MISALIGNED),
            (-1, TARGET_MISALIGNED),
            (-4, TARGET_MISALIGNED),
            (8 + 8 + 0x7F_FFFF, TARGET_MISALIGNED),
        ];
        for (to, err) in rows {
            for word in SET_UP.into_iter().chain([BRA | ALWAYS, BRA | P0]) {
                let at = format!("{word:016x} to {to:#x} of {size:#x}");
                let pins = exec_p0(off(word, to - 16), 0b0001);
                if err == 0 {
                    works(machine, &before, &pins, &at);
                } else {
                    fails(machine, &before, &pins, err, &at);
                }
            }
            // No thread branches: the target is not checked.
            for word in [BRA | NEVER, BRA | U | P0] {
                let pins = exec_p0(off(word, to - 16), 0b0001);
                let after = works(machine, &before, &pins, "no thread");
                assert_eq!(after, State { pc: 0x10, ..before }, "{to:#x}");
            }
        }
    }
    // Nothing wraps at 2^32.
    machine.clock(&In::reset());
    let launched = machine.clock(&launch(0xFFFF_FFC8, 0xFFFF_FFE0, ALL));
    assert_eq!(launched.pc, 0xFFFF_FFC8);
    for word in SET_UP.into_iter().chain([BRA | ALWAYS]) {
        let pins = exec(off(word, 0x7F_FFF8));
        fails(machine, &launched, &pins, TARGET_RANGE, "over 2^32");
        works(machine, &launched, &exec(off(word, 8)), "the last slot");
        let pins = exec(off(word, 0x10));
        fails(machine, &launched, &pins, TARGET_RANGE, "behind it");
        let pins = exec(off(word, -0x80_0000));
        works(machine, &launched, &pins, "far back");
    }
    let before = start(machine);
    let low = State { pc: 0x08, ..before };
    put(machine, &low);
    let pins = exec(off(SSY, -0x20));
    fails(machine, &low, &pins, TARGET_RANGE, "below 0");
}

both! {
    cc_tests: golden_tests_every_condition_code, rtl_tests_every_condition_code;
    predicates: golden_looks_at_the_predicate_named, rtl_looks_at_the_predicate_named;
    opcodes: golden_decodes_every_opcode, rtl_decodes_every_opcode;
    ignored_bits: golden_ignores_the_bits_that_no_rule_names, rtl_ignores_the_bits_that_no_rule_names;
    slots: golden_steps_over_control_words, rtl_steps_over_control_words;
    targets: golden_checks_range_and_alignment_of_targets, rtl_checks_range_and_alignment_of_targets;
}
