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

both! {
    stack_sizes: golden_has_room_for_as_many_frames_as_fit, rtl_has_room_for_as_many_frames_as_fit;
    trip_counts: golden_makes_as_many_passes_as_counted, rtl_makes_as_many_passes_as_counted;
    pop_counts: golden_pops_seven_of_seven_frames_and_not_of_six, rtl_pops_seven_of_seven_frames_and_not_of_six;
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
