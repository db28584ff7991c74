//! Tests of the scalar machine alone. That it executes what the golden model does, and so the specification: `tb/alone.rs`.

use super::super::program::{Registers, Slot};
use super::*;

const IF_ELSE: u32 = 0x0a00_0f00;
const IF: u32 = 0x0200_0f00;
const ELSE: u32 = 0x0401_0010;
const ENDIF: u32 = 0x0101_0020;
const JUMP: u32 = 0x0000_ff00;
const LOOP: u32 = 0x0000_0021;
const ENDLOOP: u32 = 0x0000_ff22;
const CALL: u32 = 0x0800_ffa0;
const CALL_IF: u32 = 0x0800_f0a0;
const RETURN: u32 = 0x0401_ff40;
const RETURN_IF: u32 = 0x0601_f040;

/// Returns a program with the words of the examples in r500-7; 0 is an ALU or OUT instruction.
fn program(words: &[(u32, u32)]) -> Program {
    let slots: Vec<Slot> = words
        .iter()
        .map(|&(inst, addr)| Slot {
            cmn: if inst == 0 { 0 } else { 0x402 },
            inst,
            addr,
            ..Slot::default()
        })
        .collect();
    let mut regs = Registers {
        code_addr: (words.len() as u32 - 1) << 16,
        ..Registers::default()
    };
    regs.int_const[0] = 0x0001_0701;
    regs.int_const[1] = 2;
    regs.int_const[5] = 0x00fe_0a03;
    Program {
        name: "test".to_owned(),
        regs,
        slots,
        ..Program::default()
    }
}

const A: (u32, u32) = (0, 0);

fn to(inst: u32, target: u32) -> (u32, u32) {
    (inst, target << 16)
}

/// Runs a lane whose nth ALU instruction gives `results[n]`.
fn lane(program: &Program, results: &[u16]) -> Trace {
    let scalar = Scalar::new(program).expect("structured");
    let mut n = 0;
    scalar.run(1000, &mut |_, _, _| {
        n += 1;
        results.get(n - 1).copied().unwrap_or(0)
    })
}

fn pcs(trace: &Trace) -> Vec<u16> {
    assert_eq!(trace.end, End::Done);
    assert!(trace.loops.is_empty() && trace.addrs.is_empty());
    trace.executed.iter().map(|e| e.0).collect()
}

fn if_else() -> Program {
    program(&[A, to(IF_ELSE, 4), A, to(ELSE, 6), A, to(ENDIF, 6), A])
}

fn continue_and_break() -> Program {
    program(&[
        (LOOP, 0x000c_0500),
        A,
        to(IF, 5),
        to(0x0401_ff07, 11),
        to(ENDIF, 5),
        A,
        to(IF, 10),
        A,
        to(0x0401_ff05, 12),
        to(ENDIF, 10),
        A,
        (ENDLOOP, 0x0001_0500),
        A,
    ])
}

fn call_and_return() -> Program {
    let mut p = program(&[
        A,
        to(CALL_IF, 4),
        A,
        A,
        A,
        (RETURN_IF, 0),
        A,
        (RETURN + 0x1_0000, 0),
    ]);
    p.regs.code_offset = 0x20;
    p.regs.code_addr = 3 << 16;
    p
}

/// A CALL takes a branch level, its RETURN for some lanes another one.
#[test]
fn depths_are_those_of_the_deepest_path() {
    for (program, branch, calls) in [(if_else(), 1, 0), (call_and_return(), 2, 1)] {
        let depth = Scalar::new(&program).expect("structured").depth();
        let loops = 0;
        assert_eq!(
            depth,
            Some(Depth {
                branch,
                loops,
                calls
            })
        );
    }
}

/// Five nested IFs: a lane alone cannot meet error 8, but it is predicted.
#[test]
fn spec_7_9_errors() {
    let mut words = vec![];
    for level in 0..5 {
        words.extend([A, to(IF, 16 - level)]);
    }
    words.push(A);
    words.extend((12..=16).map(|n| to(ENDIF, n)));
    words.push(A);
    let mut p = program(&words);
    assert_eq!(Scalar::new(&p).expect("structured").possible_errors(), 0);
    p.regs.fc_ctrl = 0;
    assert_eq!(
        Scalar::new(&p).expect("structured").possible_errors(),
        1 << BRANCH_OVERFLOW
    );
    assert_eq!(pcs(&lane(&p, &[0])), [0, 16]);

    let p = program(&[(RETURN, 0), A]);
    let t = lane(&p, &[]);
    assert_eq!((t.end, t.pc, t.k), (End::Error(ADDR_UNDERFLOW), 0, 0));
    assert_eq!(
        Scalar::new(&p).expect("structured").possible_errors(),
        1 << ADDR_UNDERFLOW
    );
}

/// Breaks one rule at a time; checks the address and the words of the reason.
#[test]
fn unstructured_programs_are_refused() {
    let refused = |p: &Program, pc: u16, why: &str| match Scalar::new(p) {
        Ok(_) => panic!("accepted, expected: {why}"),
        Err(e) => assert!(
            e.pc == pc && e.why.contains(why),
            "{e}, expected {pc}: {why}"
        ),
    };
    let with = |mut p: Program, at: usize, (inst, addr): (u32, u32)| {
        p.slots[at] = Slot::new(0x402, inst, addr);
        p
    };
    refused(
        &with(if_else(), 5, to(ENDIF + 0x1_0000, 6)),
        5,
        "more branch levels than are open",
    );
    refused(
        &with(if_else(), 5, to(ENDIF - 0x1_0000, 6)),
        6,
        "ends inside",
    );
    refused(
        &with(if_else(), 1, to(IF_ELSE, 5)),
        3,
        "would be elsewhere alone",
    );
    refused(&with(if_else(), 3, to(ELSE, 5)), 5, "two ways here");
    refused(
        &with(if_else(), 3, to(ELSE + 0x20, 6)),
        3,
        "B_ELSE with JUMP_ANY",
    );
    refused(&with(if_else(), 1, to(0x0f00, 4)), 1, "carries lanes along");
    refused(
        &with(if_else(), 1, to(IF_ELSE + 0x20, 4)),
        1,
        "lanes along that want to stay",
    );
    let mut early = if_else();
    early.regs.code_addr = 2 << 16;
    refused(&early, 2, "ends inside");
    refused(&with(if_else(), 6, to(IF, 6)), 6, "opens a construct");
    let leave = continue_and_break;
    refused(
        &with(leave(), 3, to(0x0401_ff07, 10)),
        3,
        "to the end of its loop",
    );
    refused(
        &with(leave(), 3, to(0x0402_ff07, 11)),
        3,
        "more branch levels",
    );
    refused(
        &with(leave(), 8, to(0x0400_ff05, 12)),
        8,
        "levels of the loop open",
    );
    refused(
        &with(leave(), 8, to(0x0401_ff05, 13)),
        8,
        "behind the end of its loop",
    );
    refused(
        &with(leave(), 11, (0x0000_f022, 0x0001_0500)),
        11,
        "lanes disagree about another pass",
    );
    // Mesa's own LOOP word (r500-O29) can reach the ENDLOOP without a frame.
    refused(&with(leave(), 0, (1, 0x000b_0500)), 11, "two ways here");
    let call = call_and_return;
    refused(
        &with(call(), 7, (RETURN, 0)),
        0x27,
        "does not close the levels",
    );
    refused(
        &with(call(), 5, (0x0401_f040, 0)),
        0x25,
        "does not switch the returned lanes off",
    );
    refused(
        &with(call(), 1, to(0x0000_f0a0, 4)),
        0x21,
        "without counters",
    );
    refused(
        &with(call(), 1, to(CALL_IF - 0x20, 4)),
        0x21,
        "CALL without JUMP_ANY",
    );
    refused(
        &with(call(), 6, to(0x0400_ff05, 7)),
        0x26,
        "this subroutine did not open",
    );
    let in_if = program(&[
        to(CALL, 2),
        A,
        A,
        to(IF, 6),
        (RETURN, 0),
        to(ENDIF, 6),
        (RETURN, 0),
    ]);
    let in_if = Program {
        regs: Registers {
            code_addr: 1 << 16,
            ..in_if.regs
        },
        ..in_if
    };
    refused(&in_if, 4, "inside a dynamic IF");
    let back = program(&[A, to(0x5500, 0), A]);
    refused(&back, 0, "a cycle of jumps");
}

/// Errors that a lane alone meets too (r500-6); the offending instruction does nothing.
#[test]
fn errors_alone() {
    let end = |p: &Program| {
        let t = lane(p, &[]);
        if let End::Error(code) = t.end {
            let possible = Scalar::new(p).expect("structured").possible_errors();
            assert!(possible >> code & 1 == 1, "error {code} was not foreseen");
        }
        (t.end, t.pc, t.loops.len(), t.addrs.len())
    };
    assert_eq!(
        end(&program(&[(0x0300_0000, 0), A])),
        (End::Error(ILLEGAL), 0, 0, 0)
    );
    for op in [2, 4, 5, 6, 7] {
        assert_eq!(
            end(&program(&[(op, 0), A])),
            (End::Error(LOOP_UNDERFLOW), 0, 0, 0),
            "{op}"
        );
    }
    for op in [4, 6] {
        let p = program(&[to(LOOP, 2), (op, 0), A]);
        assert_eq!(end(&p), (End::Error(LOOP_KIND), 1, 1, 0), "{op}");
    }
    let nested = |n: u32| {
        let mut words: Vec<_> = (0..n).map(|i| to(LOOP, 2 * n - i)).collect();
        words.extend((0..n).rev().map(|i| to(ENDLOOP, i + 1)));
        words.push(A);
        program(&words)
    };
    assert_eq!(end(&nested(4)).0, End::Done);
    assert_eq!(end(&nested(5)), (End::Error(LOOP_OVERFLOW), 4, 4, 0));
    let chain = |n: u32| {
        let mut words = vec![to(CALL, 2), A];
        for i in 1..n {
            words.extend([to(CALL, 2 * i + 2), (RETURN, 0)]);
        }
        words.push((RETURN, 0));
        let p = program(&words);
        Program {
            regs: Registers {
                code_addr: 1 << 16,
                ..p.regs
            },
            ..p
        }
    };
    assert_eq!(end(&chain(4)).0, End::Done);
    assert_eq!(end(&chain(5)), (End::Error(ADDR_OVERFLOW), 8, 0, 4));
    // A subroutine that calls itself has no fixed depth.
    let p = program(&[to(CALL, 2), A, to(CALL, 2), (RETURN, 0)]);
    let p = Program {
        regs: Registers {
            code_addr: 1 << 16,
            ..p.regs
        },
        ..p
    };
    assert_eq!(Scalar::new(&p).expect("structured").depth(), None);
    assert_eq!(end(&p), (End::Error(ADDR_OVERFLOW), 2, 0, 4));
    let mut p = program(&[to(JUMP, 300), A]);
    p.regs.code_range = 255 << 16;
    assert_eq!(end(&p), (End::Error(PC_RANGE), 0, 0, 0));
    let mut p = program(&[A, A, A]);
    p.regs.code_range = 1 << 16;
    assert_eq!(end(&p), (End::Error(PC_RANGE), 2, 0, 0));
    let mut p = program(&[to(LOOP, 2), to(ENDLOOP, 1), A]);
    p.regs.fc_ctrl = 0;
    assert_eq!(end(&p), (End::Error(PARTIAL), 0, 0, 0));
    let p = if_else();
    let scalar = Scalar::new(&p).expect("structured");
    assert_eq!(scalar.run(3, &mut |_, _, _| 1).end, End::StepLimit);
}
