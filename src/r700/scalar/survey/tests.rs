//! Tests of the survey.

use super::super::Class::Branch;
use super::super::tests::{
    ALU, ALU_BREAK, BREAK, CALL, CONTINUE, DX10, ELSE, ELSE_AFTER, END, FAILS, FALSE, HOLDS, JUMP,
    KILL, LOOP_END, LOOP_START, NO_AL, NOP, POP, POP_AFTER, POP2_AFTER, PUSH, PUSH_BEFORE, RETURN,
    VPM, break_and_continue, call_under_if, if_else, lane, pcs, program, with,
};
use super::*;

fn refused(p: &Program, pc: u32, words: &[&str]) {
    match Scalar::new(p, true) {
        Ok(_) => panic!("accepted, expected {pc}: {words:?}"),
        Err(e) => {
            let text = e.to_string();
            assert!(
                e.pc == pc && words.iter().all(|w| text.contains(w)),
                "{text}, expected {pc}: {words:?}"
            );
        }
    }
}

/// Sets one target or field wrong at a time.
#[test]
fn lanes_that_depend_on_others_are_refused() {
    refused(
        &with(if_else(), 1, 4, JUMP),
        1,
        &["JUMP", "next executes 0x004, and alone executes 0x005"],
    );
    refused(
        &with(if_else(), 1, 3, JUMP + 1),
        1,
        &["JUMP", "alone ends in error 6 UNDERFLOW at 0x003"],
    );
    refused(
        &with(if_else(), 3, 5, ELSE),
        3,
        &["ELSE", "alone ends in error 8 END_STACK at 0x005"],
    );
    refused(
        &with(if_else(), 3, 4, ELSE + 1),
        3,
        &["ELSE", "alone ends in error 6 UNDERFLOW at 0x004"],
    );
    let leave = break_and_continue;
    refused(&with(leave(), 4, 12, BREAK), 4, &["LOOP_BREAK", "r700-7.1"]);
    refused(
        &with(leave(), 8, 8, CONTINUE),
        8,
        &["LOOP_CONTINUE", "and alone does nothing more"],
    );
    let call = call_under_if;
    refused(&with(call(), 8, 9, JUMP + 1), 8, &["JUMP", "error 6"]);
    refused(&with(call(), 8, 10, JUMP), 8, &["JUMP", "error 5"]);
    // After the POP of the caller's IF, a jump without a pop leaves the frame open.
    refused(&with(call(), 1, 4, JUMP), 1, &["JUMP", "error 8"]);
}

/// Tests each limit of r700-9.2 that makes one lane depend on another, each followed by the nearest program that
/// keeps it.
#[test]
fn limits_of_spec_9_2() {
    let accepted = |p: &Program| {
        for valid in [true, false] {
            if let Err(e) = Scalar::new(p, valid) {
                panic!("{e}");
            }
        }
    };
    // A PUSH must jump past its POP.
    let push = |to| {
        let words = [
            (0, PUSH_BEFORE),
            (to, PUSH | HOLDS),
            (0, ALU),
            (4, POP + 1),
            (5, POP + 1),
            (0, NOP | END),
        ];
        program(&words, &[0])
    };
    refused(&push(3), 1, &["PUSH", "behind the POP"]);
    refused(&push(2), 1, &["PUSH"]);
    accepted(&push(4));
    // VPM on a JUMP; on a CALL.
    let killed_if = |dw1| {
        let words = [
            (0, PUSH_BEFORE),
            (2, KILL),
            (3, POP + 1),
            (6, dw1),
            (0, ALU),
            (6, NOP),
            (0, NOP | END),
            (0, ALU),
            (0, RETURN),
        ];
        program(&words, &[0])
    };
    refused(&killed_if(JUMP | VPM | HOLDS), 3, &["JUMP", "VPM"]);
    accepted(&killed_if(JUMP | HOLDS));
    let calls = |dw1| with(killed_if(dw1), 3, 7, dw1);
    refused(&calls(CALL | VPM), 3, &["CALL", "take along", "VPM"]);
    accepted(&calls(CALL | HOLDS));
    // VPM on an ELSE that pops, and not on the POP.
    let vpm = |on_else, on_pop| {
        let words = [
            (1, KILL),
            (0, PUSH_BEFORE),
            (0, ALU),
            (6, (ELSE + 1) | on_else),
            (0, ALU),
            (6, (POP + 1) | on_pop),
            (0, NOP | END),
        ];
        program(&words, &[1])
    };
    refused(&vpm(VPM, 0), 3, &["ELSE", "VPM belongs at the POP too"]);
    refused(&vpm(0, VPM), 3, &["ELSE"]);
    accepted(&vpm(VPM, VPM));
    accepted(&with(vpm(0, VPM), 3, 4, ELSE | VPM));
    // The same for a PUSH, at which killed lanes stay unchanged.
    let pushes = |on_push, on_pop| {
        let words = [
            (0, PUSH_BEFORE),
            (2, KILL),
            (3, POP + 1),
            (6, PUSH | HOLDS | on_push),
            (0, ALU),
            (6, (POP + 1) | on_pop),
            (0, NOP | END),
        ];
        program(&words, &[0])
    };
    refused(&pushes(VPM, VPM), 3, &["PUSH"]);
    accepted(&pushes(VPM, 0));
    accepted(&pushes(0, VPM));
    // The wave does not wait for killed lanes.
    let kill = |to| {
        let words = [(0, ALU), (to, KILL | HOLDS), (0, ALU), (0, NOP | END)];
        program(&words, &[0])
    };
    refused(&kill(3), 1, &["KILL", "killed lanes go on"]);
    accepted(&kill(2));
    // These are errors and do not depend on lanes: r700-6 ends the wavefront.
    let errors = |words: &[(u32, u32)]| {
        let p = program(words, &[0, 3]);
        accepted(&p);
        Scalar::new(&p, true).map_or(0, |s| s.possible_errors())
    };
    let some_return = [
        (0, ALU),
        (3, CALL),
        (0, NOP | END),
        (0, PUSH_BEFORE),
        (6, JUMP + 1),
        (0, RETURN),
        (0, RETURN),
    ];
    assert_eq!(errors(&some_return), 1 << NO_CALL);
    let callers_loop = [
        (3, DX10),
        (4, CALL),
        (1, LOOP_END),
        (0, NOP | END),
        (2, BREAK),
        (0, RETURN),
    ];
    assert_eq!(errors(&callers_loop), 1 << NO_LOOP);
}

/// Statements of r700-7.1 in forms that no example has.
#[test]
fn forms_of_spec_7_1() {
    // IF not c { a } fused ELSE { b }, the JUMP left out.
    let words = [
        (0, ELSE_AFTER),
        (0, ELSE_AFTER),
        (0, POP_AFTER),
        (0, NOP | END),
    ];
    let p = program(&words, &[0]);
    assert_eq!(pcs(&lane(&p, &[0])), [0, 1, 3]);
    assert_eq!(pcs(&lane(&p, &[1])), [0, 2, 3]);
    // IF b5 { a; skip the rest unless c; b } ELSE { c } without a frame, in a loop until break.
    let words = [
        (8, DX10),
        (5, JUMP | HOLDS),
        (0, ALU),
        (0, ALU),
        (6, JUMP | FALSE),
        (0, ALU),
        (0, ALU_BREAK),
        (1, LOOP_END),
        (0, NOP | END),
    ];
    let p = program(&words, &[2, 6]);
    assert_eq!(pcs(&lane(&p, &[0, 1, 1, 0])), [2, 2, 3, 6, 8]);
    // Two ENDIFs in one, dead code after a break, nothing left to do.
    let words = [
        (13, LOOP_START + (2 << 3)),
        (0, PUSH_BEFORE),
        (11, JUMP + 1),
        (12, BREAK),
        (0, PUSH_BEFORE),
        (8, JUMP),
        (0, ALU),
        (12, BREAK | FALSE),
        (11, ELSE + 2),
        (0, ALU),
        (0, POP2_AFTER),
        (0, ALU),
        (1, LOOP_END),
        (0, NOP | END),
    ];
    let p = program(&words, &[1, 4]);
    assert_eq!(lane(&p, &[1]).executed, [(1, 5), (13, 0)]);
    let e = [(1, 5), (11, 5), (1, 7), (11, 7), (1, 9), (13, 0)];
    assert_eq!(lane(&p, &[0, 1, 0, 1, 1]).executed, e);
    // REPEAT in LOOP keeps aL, and so does a called subroutine.
    let words = [
        (6, LOOP_START + (2 << 3)),
        (5, NO_AL + (4 << 3)),
        (8, CALL | 31 << 13),
        (2, LOOP_END | FALSE),
        (0, NOP),
        (1, LOOP_END),
        (0, NOP | END),
        (0, NOP),
        (0, ALU),
        (6, CALL | 2 << 13),
        (0, RETURN | FAILS),
        (0, RETURN),
    ];
    let p = program(&words, &[]);
    let e = [(8, 5), (4, 5), (8, 7), (4, 7), (8, 9), (4, 9), (6, 0)];
    assert_eq!(lane(&p, &[]).executed, e);
    let scalar = Scalar::new(&p, true).expect("structured");
    assert!(scalar.may_skip(), "31 + 2 calls are more than 32");
    assert_eq!(scalar.possible_errors(), 0);
}

/// A lane that is not valid at launch never executes anything, whatever others do.
#[test]
fn launched_not_valid() {
    let p = break_and_continue();
    let scalar = Scalar::new(&p, false).expect("structured");
    let trace = scalar.run(1000, &mut |_| true);
    assert_eq!((trace.executed.len(), trace.end), (0, End::Done));
    assert_eq!((trace.class, trace.valid), (Branch, false));
}

#[test]
fn errors_that_are_possible() {
    let errors = |p: &Program| {
        let scalar = Scalar::new(p, true).expect("structured");
        scalar.possible_errors()
    };
    let stack = |mut p: Program, size| {
        p.regs.stack_size = size;
        errors(&p)
    };
    // A branch frame and the two reserved; a loop frame beside that; the call frame and one more.
    assert_eq!(stack(if_else(), 1), 0);
    assert_eq!(stack(if_else(), 0), 1 << OVERFLOW);
    assert_eq!(stack(break_and_continue(), 2), 0);
    assert_eq!(stack(break_and_continue(), 1), 1 << OVERFLOW);
    assert_eq!(stack(call_under_if(), 2), 0);
    assert_eq!(stack(call_under_if(), 1), 1 << OVERFLOW);
    // Recursion: bounded by the depth, or only by the stack (r700-A-84).
    let recursive = |calls: u32| {
        let words = [
            (2, CALL | calls << 13),
            (0, NOP | END),
            (0, ALU),
            (2, CALL | calls << 13),
            (0, RETURN),
        ];
        program(&words, &[])
    };
    assert_eq!(errors(&recursive(1)), 0);
    assert_eq!(lane(&recursive(1), &[]).executed.len(), 33);
    assert_eq!(errors(&recursive(0)), 1 << OVERFLOW);
    assert_eq!(lane(&recursive(0), &[]).end, End::Limit);

    let alone = |p: &Program| {
        let trace = lane(p, &[]);
        let End::Error(code) = trace.end else {
            panic!("{trace:?}");
        };
        assert_eq!(errors(p), 1 << code);
        (code, trace.pc, trace.executed.len())
    };
    let one = |dw0, dw1| program(&[(0, NOP), (dw0, dw1), (0, NOP)], &[]);
    assert_eq!(alone(&one(0, 0x8780_0000)), (ILLEGAL, 1, 1));
    assert_eq!(alone(&one(0, JUMP | 1 << 30)), (FIELD, 1, 1));
    assert_eq!(alone(&one(0, BREAK)), (NO_LOOP, 1, 1));
    assert_eq!(alone(&one(0, RETURN)), (NO_CALL, 1, 1));
    assert_eq!(alone(&one(0, POP + 1)), (UNDERFLOW, 1, 1));
    assert_eq!(alone(&one(0, PUSH | END)), (END_STACK, 1, 1));
    assert_eq!(alone(&one(9, JUMP | FALSE)), (PC_RANGE, 1, 1));
    // An instruction that ends in an error is not executed.
    assert_eq!(alone(&one(0, NOP)), (PC_RANGE, 2, 2));
    let mut outside = if_else();
    outside.regs.entry = 6;
    assert_eq!(alone(&outside), (PC_RANGE, 6, 0));
    // END is not checked against the program (r700-A-64).
    let p = program(&[(0x7777, JUMP | FALSE | END)], &[]);
    assert_eq!((lane(&p, &[]).end, lane(&p, &[]).pc), (End::Done, 0x7777));
    // Without room, even a lone push is an error of the wavefront, and the lower code wins.
    let mut p = one(0, PUSH | END);
    p.regs.stack_size = 0;
    assert_eq!(errors(&p), 1 << OVERFLOW);
}

#[test]
fn loops_without_end() {
    // Executes for ever; the limit also counts the passes.
    let p = program(&[(2, DX10), (0, ALU), (1, LOOP_END), (0, NOP | END)], &[]);
    let trace = lane(&p, &[]);
    assert_eq!((trace.end, trace.executed.len()), (End::Limit, 500));
    // No visible event: an empty loop that counts, and a jump to itself.
    let mut p = program(&[(2, LOOP_START + 8), (1, LOOP_END), (0, NOP | END)], &[]);
    p.regs.loop_const[1] = 4095;
    assert_eq!(lane(&p, &[]).end, End::Limit);
    p.regs.loop_const[1] = 900;
    assert_eq!(pcs(&lane(&p, &[])), [2]);
    let p = program(&[(0, JUMP | FALSE), (0, NOP | END)], &[]);
    assert_eq!((lane(&p, &[]).end, lane(&p, &[]).pc), (End::Silent, 0));
    // CALLs alone fill no stack here, but are detected too.
    let p = program(&[(0, CALL), (0, NOP | END)], &[]);
    assert_eq!(lane(&p, &[]).end, End::Silent);
}

/// The frames have more arrangements than the limit: two subroutines that call each other freely.
#[test]
fn a_program_that_is_too_large_is_refused() {
    let mut words = vec![(2, CALL), (0, NOP | END)];
    // Routine n calls the next one from four places, and can be skipped.
    for n in 0..20 {
        for _ in 0..4 {
            words.push((2 + 5 * (n + 1), CALL));
        }
        words.push((0, RETURN));
    }
    words.push((0, RETURN));
    let p = program(&words, &[]);
    match Scalar::new(&p, true) {
        Err(e) => assert!(e.why.contains("ways to get there"), "{e}"),
        Ok(_) => panic!("accepted"),
    }
}
