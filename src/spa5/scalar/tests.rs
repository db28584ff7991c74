//! Tests of the scalar machine alone. That it executes what the golden model does, and so the specification: `tb/alone.rs`.

use super::TokenKind::{Pbk, Pcnt, Ret, Ssy};
use super::*;
use crate::spa5::isa::{Branch, LeaveOp, SetUpOp, Target, Word};

const X: u64 = 0x50b0_0000_0007_0f00;
const SSY: u64 = 0xe290_0000_0000_0000;
const BRA: u64 = 0xe240_0000_0007_000f;
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
    for (test, formula) in TESTS.iter().zip(formulas) {
        for cc in 0..16_u16 {
            let bit = |n: u16| cc >> n & 1 == 1;
            let holds = formula(bit(0), bit(1), bit(2), bit(3));
            assert_eq!(test >> cc & 1 == 1, holds, "{test:04x}, CC {cc}");
        }
    }
}

/// Without CSM, a test of it is an error even where the predicate is `!PT`; a set-up instruction has no test (spa5-2.4-d).
#[test]
fn unsupported_tests_come_before_the_predicate() {
    for (word, error) in [
        (EXIT ^ NEVER | 0x18, Some(UNSUPPORTED)),
        (SSY | 0xf_001f, None),
    ] {
        let program = program(1, &[(8, word)]);
        let scalar = scalar(&program);
        let next = scalar.next(&scalar.launch(), |_| Draw::default());
        assert_eq!(next.err(), error, "{word:016x}");
    }
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
