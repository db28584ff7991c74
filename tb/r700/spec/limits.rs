//! Limits, each at N and N + 1.

use super::*;

/// `STACK_SIZE`, and what fits: branch frames, loop frames, call frames, call frames over one branch frame.
type Fits = (u8, usize, usize, usize, usize);

/// How many frames of a kind fit, for each `stack_size` (r700-3.4-e).
fn stack_sizes(machine: &mut dyn Unit) {
    const FITS: [Fits; 8] = [
        (0, 0, 0, 0, 0),
        (1, 2, 1, 4, 1),
        (2, 6, 2, 8, 5),
        (3, 10, 3, 12, 9),
        (31, 122, 31, 124, 121),
        (32, 126, 32, 128, 125),
        // The unit has 32 entries and no more.
        (33, 126, 32, 128, 125),
        (255, 126, 32, 128, 125),
    ];
    frames_fit(machine, &FITS);
}

/// The same with eight sub-entries in an entry (r700-3.4-h).
fn stack_sizes_of_eight(machine: &mut dyn Unit) {
    const FITS: [Fits; 7] = [
        (0, 0, 0, 0, 0),
        (1, 6, 1, 8, 5),
        (2, 14, 2, 16, 13),
        (3, 22, 3, 24, 21),
        (31, 246, 31, 248, 245),
        (32, 254, 32, 256, 253),
        // The unit has 32 entries and no more.
        (255, 254, 32, 256, 253),
    ];
    frames_fit(machine, &FITS);
}

/// Exactly as many frames of a kind fit as `fits` says.
fn frames_fit(machine: &mut dyn Unit, fits: &[Fits]) {
    for &(size, branches, loops, calls, calls_over) in fits {
        let kinds = [
            ("branch frames", alu(ALU_PUSH_BEFORE, ALL), branches, 0),
            ("branch frames", cf(0, PUSH), branches, 0),
            ("branch frames", cf(0, PUSH_ELSE), branches, 0),
            ("branch frames", alu(ALU_ELSE_AFTER, 0), branches, 0),
            ("loop frames", cf(0, LOOP_START_DX10), loops, 0),
            ("loop frames", cf(0, LOOP_START | cf_const(1)), loops, 0),
            ("call frames", cf(0, CALL), calls, 0),
            (
                "call frames over a branch frame",
                cf(0, CALL),
                calls_over,
                1,
            ),
        ];
        for (what, push, fits, before) in kinds {
            let at = format!("STACK_SIZE {size}, {what}");
            let mut regs = program(1000, size);
            regs.loop_const[1] = 1;
            let mut state = start(machine, &regs, ALL);
            if before == 1 {
                if size == 0 {
                    continue;
                }
                state = machine.clock(&cf(0, PUSH));
            }
            for n in 0..fits {
                state = machine.clock(&push);
                assert_eq!(state.err, 0, "{at}: number {}", n + 1);
            }
            fails(machine, &state, &push, OVERFLOW, &at);
            let stack = machine.stack();
            assert!(stack.is_none_or(|s| s.len() == fits + before), "{at}");
        }
    }
}

/// The largest stack that can be built: `sp` goes up to 1020, and a frame that does not fit would end
/// beyond what ten bits can say (r700-3.4). N frames fit, N + 1 of any kind do not, and all N come off.
fn largest_stack(machine: &mut dyn Unit) {
    let [push, call, dx10] = [PUSH, CALL, LOOP_START_DX10].map(|op| cf(0, op));
    let al = cf(0, LOOP_START | cf_const(1));
    let no_al = cf(0, LOOP_START_NO_AL | cf_const(1));
    let before = alu(ALU_PUSH_BEFORE, ALL);
    let [pop, leave, back] = [POP | 1, LOOP_END | FALSE, RETURN].map(|op| cf(1, op));
    // What they lie on, the frames, what takes one off, how many fit
    let kinds: [(&[In], In, In, usize); 16] = [
        (&[], before, pop, 1018),
        (&[], push, pop, 1018),
        (&[], cf(0, PUSH_ELSE), pop, 1018),
        (&[], alu(ALU_ELSE_AFTER, 0), pop, 1018),
        (&[], dx10, leave, 255),
        (&[], al, leave, 255),
        (&[], no_al, leave, 255),
        (&[], call, back, 1020),
        // Every alignment: the next loop frame would end at 1021, 1022, 1023.
        (&[call], dx10, leave, 254),
        (&[call, call], al, leave, 254),
        (&[call, call, call], no_al, leave, 254),
        (&[call, call, call, call], dx10, leave, 254),
        // With the two sub-entries that a branch frame reserves, at 1023, 1024, 1026, 1021.
        (&[push], dx10, leave, 254),
        (&[push, call], dx10, leave, 254),
        (&[push, push, push, push], dx10, leave, 253),
        (&[push], call, back, 1017),
    ];
    for (below, frame, off, fits) in kinds {
        let at = format!("{:08X} over {} frames", frame.dw1, below.len());
        let mut regs = program(5000, 255);
        regs.loop_const[1] = 0x7F00_1001;
        let mut state = start(machine, &regs, ALL);
        for pins in below {
            state = machine.clock(pins);
            assert_eq!(state.err, 0, "{at}");
        }
        let mut states = vec![state];
        for n in 1..=fits {
            state = machine.clock(&frame);
            assert_eq!((state.err, state.running), (0, 1), "{at}: number {n}");
            states.push(state);
        }
        let space = 1020 - u32::from(state.sp);
        for (next, size, branch) in [
            (before, 1, true),
            (push, 1, true),
            (cf(0, PUSH_ELSE), 1, true),
            (cf(0, ALU_ELSE_AFTER), 1, true),
            (dx10, 4, false),
            (al, 4, false),
            (no_al, 4, false),
            (call, 1, false),
        ] {
            let next = In { u: 1, ..next };
            let reserve = if branch || state.nb > 0 { 2 } else { 0 };
            if size + reserve > space {
                let at = format!("{at}: then {:08X}", next.dw1);
                fails(machine, &state, &next, OVERFLOW, &at);
            } else {
                assert_ne!(next.dw1, frame.dw1, "{at}: one more fits");
            }
        }
        for (n, before) in states.iter().enumerate().rev().skip(1) {
            let s = machine.clock(&off);
            let place = |s: &State| (s.err, s.sp, s.base, s.bkind, s.nb);
            assert_eq!(place(&s), place(before), "{at}: back to {n}");
        }
    }
}

/// A loop frame beside branch frames: the two reserved sub-entries count once (r700-3.4-e).
fn reserved(machine: &mut dyn Unit) {
    // Branch frame, loop: 1 + 4 + 2 of 8. A branch frame more fits, a second one does not, a loop neither.
    let mut state = start(machine, &program(1000, 2), ALL);
    for push in [PUSH, LOOP_START_DX10, PUSH] {
        state = machine.clock(&cf(0, push));
        assert_eq!((state.err, state.running), (0, 1));
    }
    assert_eq!((state.sp, state.nb), (6, 2));
    for push in [PUSH, PUSH_ELSE, CALL, LOOP_START_DX10] {
        fails(
            machine,
            &state,
            &cf(0, push),
            OVERFLOW,
            &format!("{push:08X}"),
        );
    }
    // Without branch frames nothing is reserved: the same loop, and four calls.
    let mut state = start(machine, &program(1000, 2), ALL);
    for push in [LOOP_START_DX10, CALL, CALL, CALL, CALL] {
        state = machine.clock(&cf(0, push));
        assert_eq!((state.err, state.running), (0, 1));
    }
    assert_eq!((state.sp, state.nb), (8, 0));
    fails(machine, &state, &cf(0, CALL), OVERFLOW, "fifth call");
}

/// Depth 32 is reached, 33 is not: the CALL is skipped and that is not an error (r700-4.3-m, r700-O20).
fn call_depth(machine: &mut dyn Unit) {
    let mut state = start(machine, &program(1000, 32), ALL);
    for depth in 1..=32 {
        state = machine.clock(&cf(10 * depth, CALL | call_count(1)));
        assert_eq!(
            (
                state.depth.into(),
                state.jump,
                state.skipped,
                state.pc,
                state.sp.into()
            ),
            (depth, 1, 0, 10 * depth, depth)
        );
    }
    assert_eq!(state.frame_depth, 31);
    let deepest = state;
    state = machine.clock(&cf(500, CALL | call_count(1)));
    let skipped = State {
        pc: 321,
        jump: 0,
        skipped: 1,
        ..deepest
    };
    assert_eq!(state, skipped, "the 33rd");
    // CALL_COUNT 0 still fits; the flag is sticky.
    state = machine.clock(&cf(500, CALL));
    assert_eq!(
        (state.depth, state.sp, state.skipped, state.jump),
        (32, 33, 1, 1)
    );
    for depth in (0..=32).rev() {
        assert_eq!(state.frame_depth, if depth == 32 { 32 } else { depth });
        let back = state.frame_ret;
        state = machine.clock(&cf(7, RETURN));
        assert_eq!(
            (state.depth, state.pc, state.jump, state.skipped),
            (depth, back, 1, 1)
        );
    }
    assert_eq!((state.pc, state.sp, state.base, state.bkind), (1, 0, 0, 0));

    // From depth and count to the depth after it; all six bits of the count are used.
    for (first, count, after) in [
        (31, 1, 32),
        (31, 2, 31),
        (0, 32, 32),
        (0, 33, 0),
        (0, 63, 0),
        (32, 0, 32),
        (32, 63, 32),
        (1, 31, 32),
        (1, 32, 1),
    ] {
        start(machine, &program(1000, 32), ALL);
        state = machine.clock(&cf(1, CALL | call_count(first)));
        assert_eq!(u32::from(state.depth), first);
        state = machine.clock(&cf(1, CALL | call_count(count)));
        let taken = first + count <= 32;
        assert_eq!(
            (
                u32::from(state.depth),
                state.skipped,
                state.jump,
                state.sp,
                state.err
            ),
            (
                after,
                u8::from(!taken),
                u8::from(taken),
                1 + u16::from(taken),
                0
            ),
            "{first} + {count}"
        );
    }
    // No lane passes: neither taken nor skipped, whatever the depth.
    start(machine, &program(1000, 32), ALL);
    state = machine.clock(&cf(1, CALL | call_count(63) | FALSE));
    assert_eq!(
        (state.skipped, state.sp, state.pc, state.jump),
        (0, 0, 1, 0)
    );
}

/// Trip counts 0, 1, 2 and 4095, and aL on the way (r700-4.3-w).
fn trip_counts(machine: &mut dyn Unit) {
    // Loop constant, passes, aL in the last pass of a LOOP_START
    let loops = [
        (0x0100_7000, 0, 0),
        (0x0100_7001, 1, 7),
        (0x0100_7002, 2, 8),
        (0x80FF_FFFF, 4095, 4095 - 4094 * 128),
        (0x7FFF_FFFF, 4095, 4095 + 4094 * 127),
        (0x0000_0FFF, 4095, 0),
    ];
    for (constant, passes, last_al) in loops {
        for op in [LOOP_START, LOOP_START_NO_AL] {
            let at = format!("{op:08X} with {constant:08X}");
            let mut regs = program(1000, 4);
            regs.loop_const[9] = constant;
            start(machine, &regs, ALL);
            let mut state = machine.clock(&cf(100, op | cf_const(9)));
            if passes == 0 {
                assert_eq!((state.pc, state.jump, state.sp), (100, 1, 0), "{at}");
                continue;
            }
            let mut found = 0;
            let mut al = 0;
            while state.sp > 0 {
                assert_eq!(state.lc, passes - found, "{at}");
                (found, al) = (found + 1, state.al as i32);
                // Another constant at the end is not looked at (r700-O10).
                state = machine.clock(&cf(1, LOOP_END | cf_const(8)));
                assert_eq!(state.jump, u8::from(state.sp > 0), "{at}");
            }
            assert_eq!(found, passes, "{at}: passes");
            assert_eq!(al, if op == LOOP_START { last_al } else { 0 }, "{at}: aL");
            assert_eq!(
                (state.lt, state.lc, state.al, state.inc, state.pc),
                (0, 0, 0, 0, 2),
                "{at}"
            );
        }
    }
}

/// aL is 32 bits wide, two's complement (r700-O11).
fn al_wraps(machine: &mut dyn Unit) {
    for (al, inc, after) in [
        (0x7FFF_FFFF, 1, 0x8000_0000),
        (0x8000_0000, -1i8, 0x7FFF_FFFF),
        (0xFFFF_FFFF, 1, 0),
        (0, -1, 0xFFFF_FFFF),
        (0x8000_0000, -128, 0x7FFF_FF80),
        (0x7FFF_FFFF, 127, 0x8000_007E),
        (0x00FF_FFFF, 127, 0x0100_007E),
    ] {
        let mut regs = program(1000, 4);
        regs.loop_const[1] = 3;
        start(machine, &regs, ALL);
        let mut state = machine.clock(&cf(0, LOOP_START | cf_const(1)));
        (state.al, state.inc) = (al, inc as u8);
        machine.load(&state);
        let state = machine.clock(&cf(0, LOOP_END));
        assert_eq!(state.al, after, "{al:08x} {inc}");
    }
}

/// POP_COUNT 7 of 7 frames, and of 6; with a loop frame below they are not enough either (r700-4.3-x).
fn pop_counts(machine: &mut dyn Unit) {
    let pops = [
        ("POP", cf(50, POP | 7)),
        ("JUMP", cf(50, JUMP | FALSE | 7)),
        ("PUSH", cf(50, PUSH | FALSE | 7)),
        ("ELSE", cf(50, ELSE | 7)),
        ("LOOP_START", cf(50, LOOP_START | cf_const(2) | 7)),
    ];
    for below in [None, Some(LOOP_START_DX10), Some(CALL)] {
        for (name, pop) in pops {
            for frames in [7, 6] {
                let at = format!("{name} of 7 with {frames} over {below:?}");
                let mut state = start(machine, &program(1000, 8), ALL);
                if let Some(below) = below {
                    machine.clock(&cf(0, PUSH));
                    state = machine.clock(&cf(0, below));
                }
                for _ in 0..frames {
                    state = machine.clock(&alu(ALU_PUSH_BEFORE, ALL));
                }
                if frames == 6 {
                    fails(machine, &state, &pop, UNDERFLOW, &at);
                    continue;
                }
                let (sp, nb) = (state.sp, state.nb);
                state = machine.clock(&pop);
                assert_eq!((state.err, state.sp, state.nb), (0, sp - 7, nb - 7), "{at}");
                assert_eq!(state.active, ALL, "{at}");
                assert_eq!(
                    (state.pc == 50, state.jump),
                    (name != "POP", u8::from(name != "POP")),
                    "{at}"
                );
            }
        }
    }
    for (word, n) in [(ALU_POP_AFTER, 1), (ALU_POP2_AFTER, 2)] {
        let mut state = start(machine, &program(1000, 8), ALL);
        for _ in 1..n {
            state = machine.clock(&cf(0, PUSH));
        }
        fails(machine, &state, &cf(0, word), UNDERFLOW, "one too few");
        machine.clock(&cf(0, PUSH));
        state = machine.clock(&cf(0, word));
        assert_eq!((state.err, state.sp, state.nb), (0, 0, 0));
    }
}

/// prog_len - 1 is in the program, prog_len is not: entry, target, return address, PC + 1 (r700-E9).
fn program_length(machine: &mut dyn Unit) {
    for len in [1, 2, 0x200, 0x0100_0000, 0xFFFF_FFFF] {
        let at = format!("prog_len {len:#x}");
        let last = len - 1;
        let mut regs = program(len, 4);
        regs.entry = last;
        let mut state = start(machine, &regs, ALL);
        assert_eq!((state.pc, state.running, state.err), (last, 1, 0), "{at}");
        for next in [cf(0, NOP), cf(0, ALU), cf(0, EXPORT), cf(0, POP)] {
            fails(machine, &state, &next, PC_RANGE, &at);
        }
        for jump in [JUMP | FALSE, PUSH | FALSE, PUSH_ELSE | FALSE, CALL] {
            fails(machine, &state, &cf(len, jump), PC_RANGE, &at);
            fails(machine, &state, &cf(0xFFFF_FFFF, jump), PC_RANGE, &at);
        }
        let before = state;
        state = machine.clock(&cf(last, JUMP | FALSE));
        assert_eq!((state.pc, state.jump, state.running), (last, 1, 1), "{at}");
        // A call from the last address is taken, but there is nothing to return to.
        state = machine.clock(&cf(0, CALL));
        assert_eq!((state.pc, state.frame_ret, state.err), (0, len, 0), "{at}");
        fails(machine, &state, &cf(0, RETURN), PC_RANGE, &at);
        // END does not check: PC + 1 and any target.
        machine.load(&before);
        state = machine.clock(&cf(0, NOP | END));
        assert_eq!((state.pc, state.done, state.running), (len, 1, 0), "{at}");
        machine.load(&before);
        state = machine.clock(&cf(0xFFFF_FFFF, JUMP | FALSE | END));
        assert_eq!(
            (state.pc, state.done, state.jump),
            (0xFFFF_FFFF, 1, 1),
            "{at}"
        );

        regs.entry = len;
        let state = start(machine, &regs, 0b0110);
        let outside = State {
            st: [0b1001, 0],
            valid: 0b0110,
            active: 0b0110,
            pc: len,
            halted: 1,
            err: PC_RANGE,
            ..State::default()
        };
        assert_eq!(state, outside, "{at}: entry outside");
    }
    // No program: there is no valid entry.
    let state = start(machine, &program(0, 4), ALL);
    assert_eq!((state.halted, state.err, state.running), (1, PC_RANGE, 0));
    // PC + 1 has 32 bits, in the return address too. No launch leads there.
    let mut state = start(machine, &program(10, 4), ALL);
    state.pc = 0xFFFF_FFFF;
    machine.load(&state);
    let after = machine.clock(&cf(0, NOP));
    assert_eq!((after.pc, after.err), (0, 0));
    machine.load(&state);
    let after = machine.clock(&cf(3, CALL));
    assert_eq!((after.pc, after.frame_ret), (3, 0));
}

/// Several conditions hold: the lowest code wins (r700-6-b).
fn lowest_code_wins(machine: &mut dyn Unit) {
    // prog_len 1, STACK_SIZE 0: whatever is pushed does not fit and wherever it goes on is outside.
    let state = start(machine, &program(1, 0), ALL);
    let rows = [
        (0x8780_0000 | WQM | END | 7, ILLEGAL),
        (0x8C80_0000 | WQM, ILLEGAL),
        (0xB000_0000, ILLEGAL),
        (0xB000_0000 | WQM, ILLEGAL),
        (CALL | 1, FIELD),
        (CALL | WQM | END, FIELD),
        (LOOP_END | WQM, FIELD),
        (RETURN | WQM, FIELD),
        (POP | WQM | 7, FIELD),
        (KILL | WQM, FIELD),
        (LOOP_END | END, NO_LOOP),
        (LOOP_BREAK, NO_LOOP),
        (LOOP_CONTINUE | FALSE, NO_LOOP),
        (ALU_BREAK | WQM, NO_LOOP),
        (ALU_CONTINUE, NO_LOOP),
        (RETURN | END, NO_CALL),
        (POP | 1 | END, UNDERFLOW),
        (ELSE | 7, UNDERFLOW),
        (JUMP | FALSE | 1, UNDERFLOW),
        (PUSH | FALSE | 1, UNDERFLOW),
        (LOOP_START | 1, UNDERFLOW),
        (ALU_POP_AFTER, UNDERFLOW),
        (ALU_ELSE_AFTER, UNDERFLOW),
        (PUSH | END, OVERFLOW),
        (PUSH_ELSE, OVERFLOW),
        (LOOP_START_DX10 | END, OVERFLOW),
        (CALL, OVERFLOW),
        (ALU_PUSH_BEFORE | WQM, OVERFLOW),
        (NOP, PC_RANGE),
        (EXPORT | WQM, PC_RANGE),
        (KILL, PC_RANGE),
    ];
    for (dw1, err) in rows {
        fails(machine, &state, &cf(1, dw1), err, &format!("{dw1:08X}"));
    }
    let inverted = alu(ALU_ELSE_AFTER, 0);
    fails(machine, &state, &inverted, OVERFLOW, "ALU_ELSE_AFTER, u");
    // With room: what is pushed stays, and END comes before the range.
    let mut state = start(machine, &program(1, 8), ALL);
    for dw1 in [PUSH, PUSH_ELSE, LOOP_START_DX10, CALL] {
        fails(machine, &state, &cf(1, dw1 | END), END_STACK, "END");
        fails(machine, &state, &cf(1, dw1), PC_RANGE, "range");
    }
    state.pc = 0xFFFF_FFFF;
    machine.load(&state);
    machine.clock(&cf(0, LOOP_START_DX10));
    let mut state = machine.clock(&cf(0, JUMP));
    assert_eq!((state.err, state.halted), (PC_RANGE, 1));
    (state.err, state.halted, state.running) = (0, 0, 1);
    state.pc = 0xFFFF_FFFF;
    machine.load(&state);
    let state = machine.clock(&cf(0, PUSH));
    assert_eq!((state.err, state.sp), (0, 5));
    fails(machine, &state, &cf(1, LOOP_END), LOOP_OPEN, "LOOP_END");
    fails(machine, &state, &cf(1, LOOP_END | WQM), FIELD, "LOOP_END");
    fails(machine, &state, &cf(1, RETURN), NO_CALL, "RETURN");
    fails(machine, &state, &cf(0, POP | 2), UNDERFLOW, "POP");
}

both! {
    stack_sizes: golden_has_room_for_as_many_frames_as_fit, rtl_has_room_for_as_many_frames_as_fit;
    reserved: golden_reserves_two_sub_entries_beside_branch_frames, rtl_reserves_two_sub_entries_beside_branch_frames;
    call_depth: golden_skips_the_call_to_depth_33, rtl_skips_the_call_to_depth_33;
    trip_counts: golden_makes_as_many_passes_as_counted, rtl_makes_as_many_passes_as_counted;
    al_wraps: golden_wraps_al_in_32_bits, rtl_wraps_al_in_32_bits;
    pop_counts: golden_pops_seven_of_seven_frames_and_not_of_six, rtl_pops_seven_of_seven_frames_and_not_of_six;
    program_length: golden_ends_at_the_program_s_length, rtl_ends_at_the_program_s_length;
    lowest_code_wins: golden_s_lowest_error_code_wins, rtl_s_lowest_error_code_wins;
}

/// A unit with as much stack as there can be.
const LARGEST: usize = 255;

#[test]
fn golden_fills_the_largest_stack_to_the_last_frame() {
    largest_stack(&mut Golden::with(LANES, LARGEST));
}

#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn rtl_fills_the_largest_stack_to_the_last_frame() {
    largest_stack(&mut sequencer(LARGEST as u32, 4, false));
}

/// With eight sub-entries in an entry `sp` goes up to 2040, and a frame that does not fit would end beyond what eleven bits
/// can say.
fn largest_stack_of_eight(machine: &mut dyn Unit) {
    let [push, call, dx10] = [PUSH, CALL, LOOP_START_DX10].map(|op| cf(0, op));
    let [pop, leave, back] = [POP | 1, LOOP_END | FALSE, RETURN].map(|op| cf(1, op));
    // What they lie on, the frames, what takes one off, how many fit
    let mut kinds: Vec<(Vec<In>, In, In, usize)> = vec![
        (vec![], push, pop, 2038),
        (vec![], dx10, leave, 255),
        (vec![], call, back, 2040),
        (vec![push], call, back, 2037),
        // 1 + 8 * 254 + 2 of 2040; with six branch frames below 6 + 8 * 254 + 2; with seven one loop less.
        (vec![push], dx10, leave, 254),
        (vec![push; 6], dx10, leave, 254),
        (vec![push; 7], dx10, leave, 253),
    ];
    // Every place in an entry.
    kinds.extend((1..=8).map(|calls| (vec![call; calls], dx10, leave, 254)));
    for (below, frame, off, fits) in kinds {
        let at = format!("{:08X} over {} frames", frame.dw1, below.len());
        let mut state = start(machine, &program(5000, 255), ALL);
        for pins in &below {
            state = machine.clock(pins);
            assert_eq!(state.err, 0, "{at}");
        }
        let mut states = vec![state];
        for n in 1..=fits {
            state = machine.clock(&frame);
            assert_eq!((state.err, state.running), (0, 1), "{at}: number {n}");
            states.push(state);
        }
        fails(machine, &state, &frame, OVERFLOW, &at);
        for (n, before) in states.iter().enumerate().rev().skip(1) {
            let s = machine.clock(&off);
            let place = |s: &State| (s.err, s.sp, s.base, s.bkind, s.nb);
            assert_eq!(place(&s), place(before), "{at}: back to {n}");
        }
    }
}

#[test]
fn golden_with_eight_sub_entries_has_room_for_as_many_frames_as_fit() {
    stack_sizes_of_eight(&mut Golden::new(LANES).with_subentries(8));
    largest_stack_of_eight(&mut Golden::with(LANES, LARGEST).with_subentries(8));
}

#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn rtl_with_eight_sub_entries_has_room_for_as_many_frames_as_fit() {
    stack_sizes_of_eight(&mut sequencer(32, 8, false));
    largest_stack_of_eight(&mut sequencer(LARGEST as u32, 8, false));
}

/// How many passes a DX10 loop makes that counts them (r700-4.3-z): as many as its constant says, 0 to 4095.
fn dx10_passes(machine: &mut dyn Unit) {
    for count in [0, 1, 2, 3, 4094, 4095] {
        let mut regs = program(10, 8);
        // First index and step of the constant do not matter.
        regs.loop_const[3] = 0x80FF_F000 | count;
        start(machine, &regs, ALL);
        let mut state = machine.clock(&cf(5, LOOP_START_DX10 | cf_const(3)));
        if count == 0 {
            let expected = (0, 5, 1, 0, 0);
            let found = (state.err, state.pc, state.jump, state.sp, state.lt);
            assert_eq!(found, expected);
            continue;
        }
        for left in (1..=count).rev() {
            let found = (state.lt, u32::from(state.lc), state.al, state.inc);
            assert_eq!(found, (3, left, 0, 0), "{count}");
            assert_eq!(state.running, 1, "{count}");
            state = machine.clock(&cf(1, LOOP_END));
            assert_eq!(u32::from(state.jump), u32::from(left > 1), "{count}");
        }
        assert_eq!((state.err, state.sp, state.lt, state.lc), (0, 0, 0, 0));
    }
}

#[test]
fn golden_makes_as_many_passes_of_a_dx10_loop_as_counted() {
    dx10_passes(&mut Golden::new(LANES).with_dx10_count(true));
}

#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn rtl_makes_as_many_passes_of_a_dx10_loop_as_counted() {
    dx10_passes(&mut sequencer(32, 4, true));
}
