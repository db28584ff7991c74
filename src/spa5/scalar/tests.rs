//! Tests of the scalar machine.

use super::TokenKind::{Pbk, Pcnt, Ret, Ssy};
use super::*;
use crate::spa5::isa::{Branch, LeaveOp, SetUpOp, Target, Word};

const X: u64 = 0x50b0_0000_0007_0f00;
const SSY: u64 = 0xe290_0000_0000_0000;
const PBK: u64 = 0xe2a0_0000_0000_0000;
const PCNT: u64 = 0xe2b0_0000_0000_0000;
const PRET: u64 = 0xe270_0000_0000_0040;
const CAL: u64 = 0xe260_0000_0000_0040;
const BRA: u64 = 0xe240_0000_0007_000f;
const BRX: u64 = 0xe250_0000_0007_000f;
const SYNC: u64 = 0xf0f8_0000_0007_000f;
const BRK: u64 = 0xe340_0000_0007_000f;
const CONT: u64 = 0xe350_0000_0007_000f;
const RET: u64 = 0xe320_0000_0007_000f;
const EXIT: u64 = 0xe300_0000_0007_000f;
/// Bits that turn `PT` into `!PT`: never.
const NEVER: u64 = 8 << 16;

/// Returns a program of `bundles` bundles of X, with these words at these addresses.
fn program(bundles: u32, words: &[(u32, u64)]) -> Program {
    let mut program = Program {
        name: "test".to_owned(),
        prog_size: bundles * BUNDLE,
        words: [0x001f_bc00_fde0_07ef, X, X, X].repeat(bundles as usize),
        ..Program::default()
    };
    for &(addr, word) in words {
        program.words[addr as usize / 8] = word;
    }
    program
}

/// Returns the offset by which the instruction at `pc` leads to `target`.
fn to(pc: u32, target: u32) -> u64 {
    u64::from(target.wrapping_sub(pc + 8) & 0xff_ffff) << 20
}

fn scalar(program: &Program) -> Scalar<'_> {
    Scalar::new(program, 64, true)
}

/// Runs one thread, whose draw `k` has these condition bits, others 0.
fn run(program: &Program, draws: &[(u64, u16)]) -> Trace {
    scalar(program).run(100, |k| Draw {
        bits: draws.iter().find(|d| d.0 == k).map_or(0, |d| d.1),
        word: 0,
    })
}

fn pcs(trace: &Trace) -> &[u32] {
    assert_eq!((trace.end, trace.thread.exited), (End::Done, true));
    &trace.executed
}

/// Returns what a thread with these tokens does at 0x08 with `word`.
fn next(word: u64, tokens: &[TokenKind]) -> Result<Deed, u8> {
    let program = program(4, &[(8, word)]);
    let scalar = scalar(&program);
    let mut thread = scalar.launch();
    thread.tokens = (0..)
        .zip(tokens)
        .map(|(i, &kind)| Token {
            kind,
            addr: 0x28 + 8 * i,
        })
        .collect();
    scalar.next(&thread, |_| Draw::default())
}

#[test]
fn spec_7_1_if_else() {
    let p = program(
        4,
        &[
            (0x10, 0xe290000004000000),
            (0x18, 0xe24000000180000f),
            (0x30, SYNC),
            (0x50, SYNC),
            (0x68, EXIT),
        ],
    );
    let then = [0x08, 0x10, 0x18, 0x28, 0x30, 0x58, 0x68];
    let els = [0x08, 0x10, 0x18, 0x38, 0x48, 0x50, 0x58, 0x68];
    assert_eq!(pcs(&run(&p, &[])), then);
    assert_eq!(pcs(&run(&p, &[(0, 1)])), els);
    // Other predicates and other draws are not used.
    assert_eq!(pcs(&run(&p, &[(0, 0x7fe), (1, 1), (2, 1)])), then);
}

#[test]
fn spec_7_2_continue_loop() {
    let p = program(
        2,
        &[
            (0x08, 0xe2b00fffff800000),
            (0x28, 0xe350000000070006),
            (0x38, 0xe35000000007000f),
        ],
    );
    // GE is 0 if S and O differ; the draw that counts is the last one, of 0x18.
    let s = 2 << CC_BIT;
    let trace = run(&p, &[(2, s), (4, 0), (5, 0)]);
    assert_eq!(trace.end, End::Limit);
    assert_eq!(
        trace.executed[..12],
        [
            0x08, 0x10, 0x18, 0x28, 0x30, 0x38, 0x08, 0x10, 0x18, 0x28, 0x08, 0x10
        ]
    );
    let one = Token {
        kind: Pcnt,
        addr: 8,
    };
    // Each pass uses up its token: 6 instructions, then 4 per pass, and 2 of the last.
    assert_eq!(
        (trace.thread.pc, &trace.thread.tokens[..]),
        (0x18, &[one][..])
    );
}

#[test]
fn spec_7_3_if_in_loop() {
    let p = program(
        5,
        &[
            (0x08, 0xe2a0000008000000),
            (0x10, 0xe2b00fffff800000),
            (0x28, 0xe290000004800000),
            (0x30, 0xe24000000200000f),
            (0x48, 0xe34000000001000f),
            (0x50, SYNC),
            (0x68, 0xe35000000002000f),
            (0x70, SYNC),
            (0x88, CONT),
            (0x98, EXIT),
        ],
    );
    let breaks = [0x08, 0x10, 0x18, 0x28, 0x30, 0x38, 0x48, 0x90, 0x98];
    let trace = run(&p, &[(5, 2)]);
    assert_eq!(pcs(&trace), breaks);
    assert_eq!(trace.thread.tokens, []);
    // Thread 3: P0, then P2: the ELSE side, and a CONT across the SSY token. Then P1.
    let [head, again] = [[0x10, 0x18, 0x28, 0x30]; 2];
    let thread_3 = [
        &[0x08][..],
        &head,
        &[0x58, 0x68],
        &again,
        &[0x38, 0x48, 0x90, 0x98],
    ]
    .concat();
    assert_eq!(pcs(&run(&p, &[(2, 1), (5, 4), (11, 2)])), thread_3);
    // Thread 1: P0 alone: it goes on from SYNC to CONT.
    let thread_1 = [
        &[0x08][..],
        &head,
        &[0x58, 0x68, 0x70, 0x78, 0x88],
        &again,
        &[0x38, 0x48, 0x90, 0x98],
    ]
    .concat();
    assert_eq!(pcs(&run(&p, &[(2, 1), (14, 2)])), thread_1);
}

#[test]
fn spec_7_4_call_with_divergent_return() {
    let p = program(
        6,
        &[
            (0x10, 0xe290000003000000),
            (0x18, 0xf0f800000003000f),
            (0x28, 0xe260000002800040),
            (0x38, SYNC),
            (0x50, EXIT),
            (0x68, 0xe32000000000000f),
            (0x78, 0xe24000000181000f),
            (0x90, RET),
            (0xa8, RET),
        ],
    );
    let [start, end] = [[0x08, 0x10, 0x18], [0x38, 0x48, 0x50]];
    let thread = |body: &[u32]| [&start[..], body, &end].concat();
    // The conditions of the X at 0x58 (k = 4), 0x70 (k = 6).
    assert_eq!(pcs(&run(&p, &[(4, 1)])), thread(&[0x28, 0x58, 0x68, 0x30]));
    assert_eq!(
        pcs(&run(&p, &[(0, 8)])),
        [&start[..], &[0x48, 0x50]].concat()
    );
    let fe = thread(&[0x28, 0x58, 0x68, 0x70, 0x78, 0x98, 0xa8, 0x30]);
    assert_eq!(pcs(&run(&p, &[(6, 2)])), fe);
    let f = thread(&[0x28, 0x58, 0x68, 0x70, 0x78, 0x88, 0x90, 0x30]);
    assert_eq!(pcs(&run(&p, &[])), f);
}

#[test]
fn spec_7_5_early_exit() {
    let p = program(
        4,
        &[
            (0x10, 0xe30000000000000f),
            (0x18, 0xe290000005000000),
            (0x28, 0xe24000000281000f),
            (0x38, 0xe30000000002000f),
            (0x50, SYNC),
            (0x68, SYNC),
            (0x78, EXIT),
        ],
    );
    let trace = run(&p, &[(0, 1)]);
    assert_eq!(pcs(&trace), [0x08, 0x10]);
    assert_eq!(trace.thread.pc, 0x10);
    let trace = run(&p, &[(4, 4)]);
    assert_eq!(pcs(&trace), [0x08, 0x10, 0x18, 0x28, 0x30, 0x38]);
    // EXIT leaves its tokens.
    assert_eq!(trace.thread.tokens.len(), 1);
    let els = [0x08, 0x10, 0x18, 0x28, 0x58, 0x68, 0x70, 0x78];
    assert_eq!(pcs(&run(&p, &[(0, 2)])), els);
}

#[test]
fn spec_7_6_cont_without_pcnt() {
    let p = program(
        2,
        &[
            (0x10, 0xe2a0000001000000),
            (0x18, 0xe35000000000000f),
            (0x28, EXIT),
        ],
    );
    let trace = run(&p, &[(0, 1)]);
    assert_eq!(trace.executed, [0x08, 0x10]);
    assert_eq!(trace.end, End::Error(CONT_NO_PCNT));
    assert_eq!((trace.thread.pc, trace.thread.tokens.len()), (0x18, 1));
    assert_eq!(pcs(&run(&p, &[])), [0x08, 0x10, 0x18, 0x28]);
}

#[test]
fn spec_2_1_addresses_are_normalized() {
    assert_eq!([0, 8, 24, 32].map(norm), [8, 8, 24, 40]);
    assert_eq!([8, 16, 24].map(seq), [16, 24, 40]);
    let mut p = program(2, &[(0x28, EXIT)]);
    p.entry = 0x20;
    assert_eq!(pcs(&run(&p, &[])), [0x28]);
    // The same holds for a target; the base is pc + 8 in every slot (spa5-O10).
    for pc in [0x08, 0x10, 0x18] {
        let p = program(3, &[(pc, BRA | to(pc, 0x40)), (0x48, EXIT)]);
        let trace = run(&p, &[]);
        assert_eq!(pcs(&trace)[trace.executed.len() - 2..], [pc, 0x48]);
    }
    let p = program(
        2,
        &[(0x18, CAL | to(0x18, 0x30)), (0x30, RET), (0x28, EXIT)],
    );
    assert_eq!(pcs(&run(&p, &[])), [0x08, 0x10, 0x18, 0x30, 0x28]);
}

#[test]
fn spec_2_2_targets() {
    let size = 4 * BUNDLE;
    let at = |offset: i64| (offset as u64 & 0xff_ffff) << 20;
    // From 0x08: the base is 0x10.
    let cases = [
        (0, Ok(0x10)),
        (-8, Ok(0x08)),
        (-16, Ok(0x08)),
        (-24, Err(TARGET_RANGE)),
        (-17, Err(TARGET_MISALIGNED)),
        (-20, Err(TARGET_MISALIGNED)),
        (4, Err(TARGET_MISALIGNED)),
        (1, Err(TARGET_MISALIGNED)),
        (i64::from(size) - 24, Ok(size - 8)),
        (i64::from(size) - 16, Err(TARGET_RANGE)),
        (i64::from(size) - 12, Err(TARGET_MISALIGNED)),
        (0x7f_fff8, Err(TARGET_RANGE)),
        (-0x80_0000, Err(TARGET_RANGE)),
    ];
    for (offset, target) in cases {
        let deed = next(BRA | at(offset), &[]);
        assert_eq!(
            deed.map(|d| matches!(d, Deed::Jumps { to, .. } if Ok(to) == target)),
            target.map(|_| true),
            "BRA {offset}"
        );
        for word in [SSY, PBK, PCNT, PRET] {
            let deed = next(word | at(offset), &[]);
            let fits =
                |d| matches!(d, Deed::Pushes { token, to: 0x10 } if Ok(token.addr) == target);
            assert_eq!(deed.map(fits), target.map(|_| true), "{word:x} {offset}");
        }
        let calls =
            |d| matches!(d, Deed::Pushes { token, to } if token.addr == 0x10 && Ok(to) == target);
        let deed = next(CAL | at(offset), &[]);
        assert_eq!(deed.map(calls), target.map(|_| true), "CAL {offset}");
        // The target is not checked if no thread branches.
        assert_eq!(next(BRA ^ NEVER | at(offset), &[]), Ok(Deed::Passes));
    }
}

#[test]
fn spec_2_3_every_opcode() {
    let tokens = [Ssy, Pbk, Pcnt, Ret, Ssy];
    for low in [0, 0x20] {
        for opcode in 0xE20_u64..=0xE3F {
            let deed = next(opcode << 52 | 0x7000f | low, &tokens);
            let constant = low != 0;
            let pushes =
                |kind| matches!(deed, Ok(Deed::Pushes { token, .. }) if token.kind == kind);
            let fits = match opcode {
                0xE20..=0xE22 | 0xE25 if constant => deed == Err(UNSUPPORTED),
                // The constant is 0, like the offset and the address.
                0xE20 | 0xE21 => matches!(deed, Ok(Deed::Jumps { to: 0x08, .. })),
                0xE24 | 0xE25 => matches!(deed, Ok(Deed::Jumps { to: 0x10, .. })),
                0xE22 | 0xE26 | 0xE27 => pushes(Ret),
                0xE29 => pushes(Ssy),
                0xE2A => pushes(Pbk),
                0xE2B => pushes(Pcnt),
                0xE30 => deed == Ok(Deed::Exits),
                0xE33 => deed == Ok(Deed::IsKilled),
                0xE32 => matches!(
                    deed,
                    Ok(Deed::Leaves {
                        kind: Ret,
                        left: 3,
                        to: 0x40
                    })
                ),
                0xE34 => deed == Err(BRK_NO_PBK),
                0xE35 => deed == Err(CONT_NO_PCNT),
                0xE3B..=0xE3F => deed == Err(ILLEGAL),
                _ => deed == Err(UNSUPPORTED),
            };
            assert!(fits, "0x{opcode:x}, {low}: {deed:?}");
        }
    }
    // Bits 63:51 distinguish SYNC; all other words outside the block are OTHER.
    for word in [SYNC, SYNC | 7 << 48, SYNC | 1 << 20, SYNC | 0x20] {
        assert!(matches!(
            next(word, &tokens),
            Ok(Deed::Leaves {
                kind: Ssy,
                left: 4,
                ..
            })
        ));
    }
    let others = [
        0,
        X,
        0xf0f0 << 48,
        0xf0e8 << 48,
        0xe1ff << 48,
        0xe400 << 48,
        u64::MAX,
    ];
    for word in others {
        assert_eq!(next(word, &tokens), Ok(Deed::Computes), "{word:016x}");
    }
}

#[test]
fn spec_2_3_bits_that_are_not_named_have_no_effect() {
    let offset = 0xff_ffff << 20;
    let condition = 0xf001f;
    let (set_up, branch) = (offset | 0x20, offset | condition | 0xa0);
    let named = [
        (SSY, set_up),
        (PBK, set_up),
        (PCNT, set_up),
        (PRET, set_up),
        (CAL, set_up),
        (BRA, branch),
        (SYNC, condition),
        (BRK, condition),
        (CONT, condition),
        (RET, condition),
        (EXIT, condition),
    ];
    for (word, named) in named {
        let named = named
            | if word == SYNC {
                !0u64 << 51
            } else {
                !0u64 << 52
            };
        for tokens in [&[][..], &[Ret, Pbk, Pcnt], &[Ssy]] {
            for bit in (0..64).filter(|bit| named >> bit & 1 == 0) {
                let changed = next(word ^ 1 << bit, tokens);
                assert_eq!(changed, next(word, tokens), "{word:016x} bit {bit}");
            }
        }
    }
    // BRA.U is a BRA alone; BRX is another instruction.
    assert_eq!(next(BRA | 0x80, &[]), next(BRA, &[]));
    let jmp = BRA - (3 << 52);
    assert!([BRA, jmp].iter().all(|word| is_unanimous(word | 0x80)));
    assert!(is_unanimous(BRA | 0xa0));
    assert!(
        ![BRA, jmp, BRX | 0x80, X | 0x80]
            .into_iter()
            .any(is_unanimous)
    );
}

#[test]
fn spec_2_4_tests_are_what_their_formulas_say() {
    type Formula = fn(bool, bool, bool, bool) -> bool;
    let formulas: [Formula; 24] = [
        |_, _, _, _| false,
        |z, s, _, o| (s & !z) ^ o,
        |z, s, _, _| z & !s,
        |z, s, _, o| s ^ (z | o),
        |z, s, _, o| !z & !(s ^ o),
        |z, _, _, _| !z,
        |_, s, _, o| !(s ^ o),
        |z, s, _, _| !z | !s,
        |z, s, _, _| z & s,
        |_, s, _, o| s ^ o,
        |z, _, _, _| z,
        |z, s, _, o| z | (s ^ o),
        |z, s, _, o| !s ^ (z | o),
        |z, s, _, _| !z | s,
        |z, s, _, o| (!s | z) ^ o,
        |_, _, _, _| true,
        |_, _, _, o| !o,
        |_, _, c, _| !c,
        |_, s, _, _| !s,
        |z, _, c, _| z | !c,
        |z, _, c, _| !z & c,
        |_, s, _, _| s,
        |_, _, c, _| c,
        |_, _, _, o| o,
    ];
    for code in 0..32 {
        for cc in 0..16_u16 {
            let p = program(2, &[(0x10, EXIT & !31 | code)]);
            let trace = run(&p, &[(0, cc << CC_BIT)]);
            let bit = |n: u16| cc >> n & 1 == 1;
            match formulas.get(code as usize) {
                Some(test) => {
                    let holds = test(bit(0), bit(1), bit(2), bit(3));
                    assert_eq!(trace.end == End::Done, holds, "test {code:x}, CC {cc}");
                }
                None => {
                    assert_eq!(trace.end, End::Error(UNSUPPORTED));
                    // Its bit is one of the upper eight of the draw.
                    let bits = (1 << (code - 24 + 8)) | 0xff;
                    let clip = |bits| {
                        let draws = |_| Draw { bits, word: 0 };
                        scalar(&p).with_csm(true).run(3, draws).end
                    };
                    assert_eq!(clip(bits), End::Done, "test {code:x}");
                    assert_eq!(clip(!bits | 0xff), End::Limit, "test {code:x}");
                }
            }
        }
    }
    // Whatever the predicate; a set-up instruction has no test.
    assert_eq!(next(EXIT ^ NEVER | 0x18, &[]), Err(UNSUPPORTED));
    assert!(next(SSY | 0xf001f, &[]).is_ok());
}

#[test]
fn spec_2_4_predicates() {
    for pppp in 0..16 {
        for set in 0..7 {
            let p = program(2, &[(0x10, EXIT & !0xf0000 | pppp << 16)]);
            let trace = run(&p, &[(0, 1 << set)]);
            let holds = (pppp & 7 == 7 || pppp & 7 == set) != (pppp > 7);
            assert_eq!(trace.end == End::Done, holds, "predicate {pppp:x}, P{set}");
        }
    }
}

#[test]
fn conditions_are_0_until_the_first_draw_and_stay_until_the_next() {
    let p = program(
        2,
        &[
            (0x08, BRA & !0xf0000 | to(8, 0x10)),
            (0x18, EXIT & !0xf0000),
        ],
    );
    let scalar = scalar(&p);
    let mut thread = scalar.launch();
    let ones = |_| Draw {
        bits: 0x7ff,
        word: 0,
    };
    assert_eq!(scalar.next(&thread, ones), Ok(Deed::Passes));
    scalar.execute(&mut thread, Deed::Passes);
    // k counts every instruction, control or not: the draw is that of k = 1.
    scalar.execute(&mut thread, Deed::Computes);
    let second = |k| Draw {
        bits: u16::from(k == 1),
        word: 0,
    };
    assert_eq!(scalar.next(&thread, second), Ok(Deed::Exits));
    assert_eq!(scalar.next(&thread, |_| Draw::default()), Ok(Deed::Stays));
    scalar.execute(&mut thread, Deed::Stays);
    assert_eq!((thread.pc, thread.executed), (0x28, 3));
    assert_eq!(scalar.condition(&thread, second), Ok(false));
}

#[test]
fn spec_4_4_tokens_that_leaving_instructions_go_back_to() {
    let left = |word, tokens: &[TokenKind]| match next(word, tokens) {
        Ok(Deed::Leaves { left, to, .. }) => {
            assert_eq!(to, 0x28 + 8 * left as u32);
            Ok(left)
        }
        Ok(other) => panic!("{other:?}"),
        Err(code) => Err(code),
    };
    // SYNC: only the newest (spa5-O7).
    assert_eq!(left(SYNC, &[]), Err(SYNC_NO_SSY));
    assert_eq!(left(SYNC, &[Ssy, Ssy]), Ok(1));
    for above in [Pbk, Pcnt, Ret] {
        assert_eq!(left(SYNC, &[Ssy, above]), Err(SYNC_NO_SSY));
    }
    // BRK and CONT: the newest of their type, not across a RET token (spa5-O6).
    for (word, kind, other, error) in [
        (BRK, Pbk, Pcnt, BRK_NO_PBK),
        (CONT, Pcnt, Pbk, CONT_NO_PCNT),
    ] {
        assert_eq!(left(word, &[]), Err(error));
        assert_eq!(left(word, &[Ssy, other]), Err(error));
        assert_eq!(left(word, &[kind, Ssy, kind, Ssy, other, Ssy]), Ok(2));
        assert_eq!(left(word, &[kind, Ret]), Err(error));
        assert_eq!(left(word, &[kind, Ret, Ssy, other]), Err(error));
        assert_eq!(left(word, &[kind, Ret, kind]), Ok(2));
    }
    // RET: across everything of its function.
    assert_eq!(left(RET, &[Ssy, Pbk, Pcnt]), Err(RET_NO_CALL));
    assert_eq!(left(RET, &[Ret, Pbk, Ret, Ssy, Pbk, Pcnt]), Ok(2));
    for word in [SYNC, BRK, CONT, RET, EXIT] {
        assert_eq!(next(word ^ NEVER, &[]), Ok(Deed::Stays));
    }
    // The token is used up, with all above it.
    let p = program(2, &[]);
    let scalar = scalar(&p);
    let mut thread = scalar.launch();
    thread.tokens = vec![Token { kind: Ret, addr: 8 }; 5];
    let (kind, left, to) = (Ret, 2, 0x30);
    scalar.execute(&mut thread, Deed::Leaves { kind, left, to });
    assert_eq!((thread.tokens.len(), thread.pc), (2, 0x30));
}

#[test]
fn spec_6_which_error_comes_first() {
    // PC_RANGE, before any word; an entry at the end of the program.
    let mut p = program(1, &[(8, 0xe3f << 52)]);
    p.entry = 32;
    let trace = run(&p, &[]);
    assert_eq!(
        (trace.end, &trace.executed[..]),
        (End::Error(PC_RANGE), &[][..])
    );
    // Falling off the end.
    p = program(1, &[]);
    let trace = run(&p, &[]);
    assert_eq!(trace.end, End::Error(PC_RANGE));
    assert_eq!((trace.executed.len(), trace.thread.pc), (3, 40));
    // Words that were not loaded are OTHER.
    p.prog_size = 64;
    assert_eq!(run(&p, &[]).executed.len(), 6);
    // A misaligned target that is also out of range, on a full stack.
    for (offset, code) in [
        (0x40_0004, TARGET_MISALIGNED),
        (0x40_0000, TARGET_RANGE),
        (0, STACK_OVERFLOW),
    ] {
        for word in [SSY, PBK, PCNT, PRET, CAL] {
            assert_eq!(next(word | offset << 20, &[Ssy; 64]), Err(code));
        }
    }
    assert!(next(SSY, &[Ssy; 63]).is_ok());
    // The CC test before the token and the target.
    for word in [SYNC, BRK, CONT, RET, BRA | 4 << 20] {
        assert_eq!(next(word | 0x1f, &[]), Err(UNSUPPORTED));
    }
}

#[test]
fn recursion_goes_as_deep_as_there_is_room() {
    let p = program(1, &[(0x08, CAL | to(8, 8))]);
    for depth in [1, 2, 64] {
        let trace = Scalar::new(&p, depth, false).run(100, |_| Draw::default());
        assert_eq!(trace.end, End::Error(STACK_OVERFLOW));
        assert_eq!(trace.executed.len(), depth);
        assert_eq!(
            trace.thread.tokens,
            vec![
                Token {
                    kind: Ret,
                    addr: 0x10
                };
                depth
            ]
        );
    }
}

#[test]
fn appendix_a_brx() {
    // A base of 0x40, and from 0x10 on a list of its own.
    let mut p = program(
        4,
        &[(0x10, BRX | to(0x10, 0x40)), (0x48, EXIT), (0x68, EXIT)],
    );
    let end = |p: &Program, brx, word| {
        let trace = Scalar::new(p, 64, brx).run(10, |_| Draw { bits: 0, word });
        (trace.executed.last().copied(), trace.end)
    };
    let done = |pc| (Some(pc), End::Done);
    assert_eq!(end(&p, false, 0), (Some(0x08), End::Error(UNSUPPORTED)));
    // Without a list the register is 0.
    assert_eq!(end(&p, true, u64::MAX), done(0x48));
    p.targets.insert(0x10, vec![]);
    assert_eq!(end(&p, true, 0), done(0x48));
    p.targets.insert(0x10, vec![0x60, 0x48, 0x4c, 0x80]);
    assert_eq!(end(&p, true, 0), done(0x68));
    assert_eq!(end(&p, true, (1 << 44) - 1), done(0x68));
    assert_eq!(end(&p, true, 5 << 44), done(0x48));
    let fails = |code| (Some(0x08), End::Error(code));
    assert_eq!(end(&p, true, 2 << 44), fails(TARGET_MISALIGNED));
    assert_eq!(end(&p, true, 3 << 44), fails(TARGET_RANGE));
    // Before the first draw it is word 0; where the condition does not hold, nothing is used.
    p.entry = 0x10;
    assert_eq!(end(&p, true, 3 << 44), done(0x68));
    p.words[2] = BRX ^ NEVER | to(0x10, 0x200);
    p.words[3] = EXIT;
    assert_eq!(end(&p, true, 0), done(0x18));
    p.words[2] = BRX ^ NEVER | 0x1f;
    assert_eq!(end(&p, true, 0), (None, End::Error(UNSUPPORTED)));
    assert!(is_brx(BRX) && !is_brx(BRX | 0x20) && !is_brx(BRA));
}

#[test]
fn a_run_ends_where_it_is_asked_to() {
    let p = program(1, &[(0x08, BRA | to(8, 8))]);
    for most in [0, 1, 7] {
        let trace = scalar(&p).run(most, |_| Draw::default());
        assert_eq!((trace.end, trace.executed.len() as u64), (End::Limit, most));
        assert_eq!(trace.thread.executed, most);
    }
}

#[test]
fn scalar_machine_reads_what_the_table_says() {
    let mut program = program(1, &[]);
    for word in crate::spa5::isa::tests::words() {
        let table = Word::decode(word);
        let expected = match table {
            Word::Other(_) => Op::Other,
            Word::Illegal(_) => Op::Illegal,
            Word::Unsupported(..) => Op::Unsupported,
            Word::Indirect(it) if matches!(it.target, Target::Bank { .. }) => Op::Unsupported,
            Word::Branch(_) => Op::Branch,
            Word::Indirect(_) => Op::IndirectBranch,
            Word::SetUp(set_up) => match set_up.op {
                SetUpOp::Ssy => Op::SetUp(Ssy),
                SetUpOp::Pbk => Op::SetUp(Pbk),
                SetUpOp::Pcnt => Op::SetUp(Pcnt),
                SetUpOp::Pret => Op::SetUp(Ret),
                SetUpOp::Cal | SetUpOp::Jcal => Op::Call,
            },
            Word::Leave(leave) => match leave.op {
                LeaveOp::Sync => Op::Leave(Ssy),
                LeaveOp::Brk => Op::Leave(Pbk),
                LeaveOp::Cont => Op::Leave(Pcnt),
                LeaveOp::Ret => Op::Leave(Ret),
                LeaveOp::Exit => Op::Exit,
                LeaveOp::Kil => Op::Kill,
            },
        };
        assert_eq!(decode(word), expected, "{word:016x}");
        let unanimous = matches!(
            table,
            Word::Branch(Branch {
                unanimous: true,
                ..
            })
        );
        assert_eq!(is_unanimous(word), unanimous, "{word:016x}");
        if expected == Op::Unsupported {
            continue;
        }
        match table.target() {
            Some(Target::Bank { bank, address }) => {
                let place = u32::from(bank) << 16 | u32::from(address);
                program.constants = [(place, word as u32)].into();
                let offset = ((word as u32) << 8) as i32 >> 8;
                assert_eq!(
                    base(8, word, &program),
                    16 + i64::from(offset),
                    "{word:016x}"
                );
            }
            Some(target) => {
                assert_eq!(
                    Some(base(8, word, &program)),
                    target.address(8),
                    "{word:016x}"
                );
            }
            None => {}
        }
    }
}
