//! The golden model's own: lanes that do not exist, and explanations.

use super::*;

/// For every number of lanes: bits of lanes that do not exist stay 0, whatever the pins.
#[test]
fn lanes_beyond_the_last_never_show() {
    for lanes in 1..=64 {
        let all = u64::MAX >> (64 - lanes);
        let mut golden = Golden::new(lanes);
        assert_eq!(golden.state().active, all);
        golden.cycle(&launch(&program(1000, 32), u64::MAX));
        assert_eq!((golden.state().valid, golden.state().active), (all, all));
        for pins in [
            alu(ALU_PUSH_BEFORE, 0x5555_5555_5555_5555),
            cf(1, LOOP_START_DX10),
            cf(1, PUSH_ELSE | FALSE),
            alu(ALU_PUSH_BEFORE, 0),
            cf(1, POP | 2 | VPM),
            cf(1, LOOP_BREAK),
            cf(1, LOOP_END),
            cf(1, ELSE | VPM),
            cf(1, KILL),
            cf(1, PUSH_ELSE),
            cf(1, POP | 2),
            cf(1, NOP),
        ] {
            let s = *golden.cycle(&pins);
            assert_eq!(s.err, 0, "{lanes} lanes: {:08X}", pins.dw1);
            for plane in [s.st[0], s.st[1], s.valid, s.active, s.exec, s.top_mask] {
                assert_eq!(plane & !all, 0, "{lanes} lanes: {:08X}", pins.dw1);
            }
        }
        assert_eq!(golden.state().active, all);
    }
}

/// What a report says of a field names the rule and not just the instruction.
#[test]
fn the_golden_explains_each_field_by_its_rule() {
    // Instructions that lead there; then the one explained, field, lane, and what must be said.
    type Row<'a> = (&'a [In], In, &'a str, usize, &'a str);
    let some = alu(ALU_PUSH_BEFORE, 0b0101);
    let looped = cf(9, LOOP_START | cf_const(1));
    let rows: &[Row] = &[
        (&[], alu(ALU, 0b0101), "st", 1, "predicate 0: BRANCH"),
        (&[], alu(ALU, 0b0101), "st", 0, "predicate 1: stays ACTIVE"),
        (&[], cf(0, ALU), "st", 1, "u = 0"),
        (&[], some, "top_mask", 0, "the lanes ACTIVE before it"),
        (
            &[some],
            cf(1, POP | 1),
            "st",
            1,
            "pop rule (r700-4.3-u): 1 popped, bit 1",
        ),
        (&[some], cf(1, POP | 1), "nb", 0, "pops 1 branch frames"),
        (
            &[some],
            cf(1, POP),
            "active",
            1,
            "popping 0 frames does nothing",
        ),
        (
            &[some],
            cf(1, ELSE),
            "st",
            1,
            "ELSE rule (r700-4.3-v): in the mask",
        ),
        (
            &[some, alu(ALU_PUSH_BEFORE, 1)],
            cf(1, ELSE),
            "st",
            1,
            "not in the mask",
        ),
        (
            &[some],
            cf(1, JUMP | 1),
            "sp",
            0,
            "pops only when it jumps (r700-O1)",
        ),
        (
            &[some],
            cf(1, JUMP),
            "pc",
            0,
            "a lane passes, so it stays; next PC is PC + 1",
        ),
        (
            &[some],
            cf(1, JUMP | FALSE),
            "jump",
            0,
            "no lane passes, so it jumps",
        ),
        (
            &[],
            cf(1, PUSH | FALSE),
            "sp",
            0,
            "nothing is pushed (r700-O13)",
        ),
        (
            &[some],
            looped,
            "st",
            1,
            "loop entry (r700-O5): lane fails the test, it is BRANCH",
        ),
        (&[some], looped, "frame_st", 1, "the loop frame saves"),
        (&[looped], cf(1, LOOP_END), "al", 0, "once more: al + inc"),
        (
            &[looped],
            cf(1, LOOP_END),
            "lc",
            0,
            "once more: the count goes down by 1",
        ),
        (
            &[looped, alu(ALU_CONTINUE, 0b0111)],
            cf(1, LOOP_END),
            "st",
            3,
            "wake rule (r700-O7), CONT becomes ACTIVE",
        ),
        (
            &[looped, alu(ALU_BREAK, 1)],
            cf(1, LOOP_END),
            "st",
            3,
            "BRK lanes are not woken",
        ),
        (
            &[looped],
            cf(1, LOOP_END | FALSE),
            "st",
            0,
            "restores the class",
        ),
        (
            &[looped],
            cf(1, LOOP_END | FALSE),
            "lt",
            0,
            "leaving restores lt",
        ),
        (
            &[looped],
            cf(1, LOOP_END | FALSE),
            "base",
            0,
            "the frame below them is revealed",
        ),
        (
            &[looped, some, alu(ALU_BREAK, 1)],
            cf(1, POP | 1),
            "st",
            2,
            "BRK survives a pop (r700-O2)",
        ),
        (
            &[looped, some],
            cf(1, LOOP_BREAK),
            "pc",
            0,
            "held back by ACTIVE or BRANCH lanes (r700-O6)",
        ),
        (
            &[looped, alu(ALU_PUSH_BEFORE, ALL)],
            cf(1, LOOP_CONTINUE),
            "sp",
            0,
            "all branch frames above the loop frame are dropped",
        ),
        (
            &[],
            cf(1, CALL | call_count(33)),
            "skipped",
            0,
            "skipped is set if the depth",
        ),
        (
            &[],
            cf(1, CALL | call_count(33)),
            "pc",
            0,
            "over 32, so it is skipped (r700-O20)",
        ),
        (
            &[cf(1, CALL)],
            cf(1, RETURN),
            "pc",
            0,
            "RETURN rule (r700-O19)",
        ),
        (
            &[cf(1, CALL)],
            cf(1, RETURN),
            "pc",
            0,
            "next PC is the call frame's address",
        ),
        (&[], cf(1, KILL), "valid", 0, "lanes that pass lose valid"),
        (
            &[],
            cf(1, NOP),
            "exec",
            0,
            "lanes that pass the condition test execute",
        ),
        (
            &[],
            cf(1, KILL),
            "exec",
            0,
            "control instruction, which no lane executes",
        ),
        (&[some], cf(1, POP | 2), "err", 0, "error 6 UNDERFLOW"),
        (
            &[some],
            cf(1, POP | 2),
            "st",
            0,
            "everything else as before",
        ),
        (
            &[],
            cf(1, LOOP_BREAK),
            "pc",
            0,
            "error 3 NO_LOOP: LOOP_BREAK, and bkind is not LOOP",
        ),
        (&[], cf(5000, JUMP | FALSE), "pc", 0, "error 9 PC_RANGE"),
        (
            &[],
            cf(1, NOP | END),
            "done",
            0,
            "END: executed as usual, then done",
        ),
        (&[], In::default(), "exec", 0, "running, no instruction"),
        (&[], stalled::<R700>(), "st", 0, "nothing changes at all"),
        (&[], In::reset(), "st", 0, "reset"),
        (&[cf(1, NOP | END)], In::default(), "pc", 0, "no wave runs"),
        (
            &[cf(1, NOP | END)],
            write(3, 1),
            "loop_const",
            3,
            "the host may write",
        ),
        (
            &[cf(1, NOP | END)],
            launch(&program(9, 1), 1),
            "st",
            1,
            "BRANCH elsewhere",
        ),
    ];
    for (before, pins, field, lane, said) in rows {
        let mut golden = Golden::new(LANES);
        golden.cycle(&write(1, 0x0100_7003));
        golden.cycle(&launch(&program(1000, 32), ALL));
        for pins in *before {
            golden.cycle(pins);
            assert!(matches!(golden.event(), Event::Executed { .. }));
        }
        let text = golden.explain(pins, field, *lane);
        assert!(
            text.contains(said),
            "{field}[{lane}]: {text:?} lacks {said:?}"
        );
    }
}

/// The same of units that are built otherwise: what depends on the parameters.
#[test]
fn the_golden_explains_what_its_parameters_change() {
    let dx10 = cf(9, LOOP_START_DX10 | cf_const(1));
    let end = cf(1, LOOP_END);
    // Sub-entries, whether DX10 loops count; the instructions, the last of them explained; field; what must be said.
    type Row<'a> = (u16, bool, &'a [In], &'a str, &'a str);
    let rows: &[Row] = &[
        (8, false, &[dx10], "sp", "a loop frame, 8 sub-entries"),
        (4, false, &[dx10], "sp", "a loop frame, 4 sub-entries"),
        (
            8,
            true,
            &[dx10, end, end, end],
            "sp",
            "pops the loop frame, 8 sub-entries",
        ),
        (4, false, &[dx10], "lc", "count 0 (r700-O8)"),
        (
            4,
            true,
            &[dx10],
            "lc",
            "loads the count (r700-4.3-z), al and inc stay",
        ),
        (4, true, &[dx10], "pc", "entered, so it stays"),
        (
            4,
            true,
            &[cf(9, LOOP_START_DX10)],
            "pc",
            "no lane passes or the count is 0: not entered",
        ),
        (4, false, &[dx10, end], "lc", "a DX10 loop does not count"),
        (4, true, &[dx10, end], "lc", "goes down by 1 (r700-4.3-z)"),
        (
            4,
            false,
            &[dx10, end],
            "pc",
            "and the loop is DX10 or lc > 1, so it jumps",
        ),
        (
            4,
            true,
            &[dx10, end],
            "pc",
            "a lane passes, and lc > 1 (r700-4.3-z)",
        ),
        (
            4,
            true,
            &[dx10, end, end, end],
            "pc",
            "or lc is 1: leaves the loop",
        ),
    ];
    for (subentries, dx10_count, steps, field, said) in rows {
        let mut golden = Golden::new(LANES)
            .with_subentries(*subentries)
            .with_dx10_count(*dx10_count);
        golden.cycle(&write(1, 3));
        golden.cycle(&launch(&program(1000, 32), ALL));
        let (last, before) = steps.split_last().unwrap();
        for pins in before {
            golden.cycle(pins);
            assert!(matches!(golden.event(), Event::Executed { .. }));
        }
        let text = golden.explain(last, field, 0);
        assert!(text.contains(said), "{field}: {text:?} lacks {said:?}");
    }
}
