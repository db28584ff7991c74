//! The stack, who may leave (spa5-4.2, spa5-4.3), and errors (spa5-6).

use super::decoding::branched;
use super::*;

/// vis after each push, from every value that it can have; what the token saves.
fn new_vis(machine: &mut dyn Unit) {
    // Bits are written as the spec numbers them: RET, CONT, BRK, SYNC.
    let rows: [(u64, u8, u8, u8); 6] = [
        (SSY, T_SSY, 0b1111, 0b0001),
        (PBK, T_PBK, 0b1110, 0b0010),
        (PCNT, T_PCNT, 0b1110, 0b0100),
        (PRET, T_RET, 0b0000, 0b1000),
        (CAL, T_RET, 0b0000, 0b1000),
        (BRA | P0, T_DIV, 0b1111, 0b0000),
    ];
    let before = start(machine);
    for vis in 0..16 {
        let here = State { vis, ..before };
        put(machine, &here);
        for (word, kind, kept, set) in rows {
            let pins = exec_p0(off(word, 0x78), 0b0011);
            let after = works(machine, &here, &pins, "push");
            assert_eq!(after.vis, vis & kept | set, "{word:016x}");
            assert_eq!(
                (after.sp, after.top_type, after.top_vis),
                (1, kind, vis),
                "{word:016x}"
            );
            // Popped again it brings vis back.
            let on_top = State {
                status: UNWIND,
                active: 0,
                ..after
            };
            put(machine, &on_top);
            assert_eq!(machine.clock(&In::default()).vis, vis, "{word:016x}");
            put(machine, &here);
        }
    }
}

/// Each leaving instruction with its bit of vis and without, for no, some and all threads.
fn leaving(machine: &mut dyn Unit) {
    let launched = start(machine);
    let token = State {
        sp: 1,
        top_type: T_RET,
        top_vis: 0b0110,
        top_mask: ALL,
        top_addr: 0x48,
        ..launched
    };
    for (number, word) in LEAVING.into_iter().enumerate() {
        for vis in 0..16 {
            // EXIT needs no bit.
            let may = number == 4 || vis >> number & 1 == 1;
            for taken in 0..=ALL {
                let at = format!("{word:016x}, vis {vis:04b}, T {taken:04b}");
                let before = State { vis, ..token };
                put(machine, &before);
                let pins = exec_p0(word | P0, taken);
                if taken != 0 && !may {
                    fails(machine, &before, &pins, number as u8 + 1, &at);
                    continue;
                }
                let mut after = State {
                    active: ALL & !taken,
                    ..before
                };
                match number {
                    1 => after.d_brk = taken,
                    2 => after.d_cont = taken,
                    3 => after.d_ret = taken,
                    4 => after.exited = taken,
                    _ => {}
                }
                if taken == ALL {
                    // pc, vis, sp and the stack stay in this clock.
                    after.status = UNWIND;
                } else {
                    after.pc = 0x10;
                }
                assert_eq!(works(machine, &before, &pins, &at), after, "{at}");
            }
        }
    }
}

/// Each type of token popped over a thread in each condition (table of spa5-4.4).
fn pops(machine: &mut dyn Unit) {
    let launched = start(machine);
    for kind in T_SSY..=T_DIV {
        // Thread 2 is looked at; the others have exited.
        for (held, inside) in (0..5).flat_map(|h| [(h, false), (h, true)]) {
            let at = format!("type {kind}, held {held}, in the mask: {inside}");
            let flag = |n: u8| u64::from(held == n) << 2;
            let before = State {
                status: UNWIND,
                active: 0,
                pc: 0x30,
                d_brk: flag(1),
                d_cont: flag(2),
                d_ret: flag(3),
                exited: flag(4) | 0b1011,
                vis: 0b1111,
                sp: 1,
                top_type: kind,
                top_vis: 0b0101,
                top_addr: 0x68,
                top_mask: 0b1010 | u64::from(inside) << 2,
                ..launched
            };
            // A flag is ended only by a token of its own type with the thread in its mask.
            let ended = inside && held > 0 && held < 4 && kind == held + 1;
            let resumes = inside && held == 0 || ended;
            let mut after = State {
                sp: 0,
                vis: 0b0101,
                top_type: 0,
                top_vis: 0,
                top_addr: 0,
                top_mask: 0,
                ..before
            };
            if ended {
                (after.d_brk, after.d_cont, after.d_ret) = (0, 0, 0);
            }
            if resumes {
                (after.active, after.status, after.pc) = (0b0100, RUN, 0x68);
            }
            put(machine, &before);
            // Whatever the pins.
            let mut pins = exec(EXIT | ALWAYS);
            (pins.launch, pins.launch_mask, pins.prog_size) = (1, ALL, SIZE);
            assert_eq!(machine.clock(&pins), after, "{at}");
            if !resumes {
                let end = State {
                    status: DONE,
                    ..after
                };
                assert_eq!(machine.clock(&In::default()), end, "{at}: empty");
            }
        }
    }
}

/// A stack of `depth` tokens takes as many and no more, whatever pushes.
fn check_depth(machine: &mut dyn Unit, depth: u16) {
    let before = start(machine);
    let pushes = SET_UP.map(|word| exec(off(word, 0x78)));
    for first in pushes {
        put(machine, &before);
        let mut state = before;
        for n in 0..depth {
            state = machine.clock(&first);
            assert_eq!((state.err, state.sp), (0, n + 1), "{depth}");
            state = State { pc: 0x08, ..state };
            machine.load(&state);
        }
        for again in pushes {
            fails(machine, &state, &again, STACK_OVERFLOW, "one more");
        }
        let divergent = exec_p0(off(BRA | P0, 0x78), 0b0001);
        fails(machine, &state, &divergent, STACK_OVERFLOW, "divergent");
        // Instructions that do not push are not affected.
        for word in [BRA | ALWAYS, BRA | NEVER] {
            let after = works(machine, &state, &exec(off(word, 0x78)), "BRA");
            assert_eq!(after.sp, depth);
        }
        works(machine, &state, &exec(NOP), "OTHER");
        // Every thread leaves: one clock for it, one for each token, one to see that there is none.
        let (end, clocks) = step(machine, &exec(EXIT | ALWAYS));
        assert_eq!((end.status, end.sp, end.pc), (DONE, 0, 0x08));
        assert_eq!(clocks, usize::from(depth) + 2);
        assert_eq!(end.exited, ALL);
    }
    // The last entry holds a divergent side as well, and gives it back.
    put(machine, &before);
    for _ in 1..depth {
        let state = machine.clock(&exec(off(SSY, 0)));
        machine.load(&State { pc: 0x08, ..state });
    }
    let divergent = exec_p0(off(BRA | P0, 0x78), 0b0001);
    let state = machine.clock(&divergent);
    assert_eq!((state.err, state.sp, state.active), (0, depth, 0b0001));
    let (state, clocks) = step(machine, &exec(EXIT | ALWAYS));
    assert_eq!(
        (state.active, state.pc, state.sp),
        (0b1110, 0x10, depth - 1)
    );
    assert_eq!(clocks, 2);
}

fn depth(machine: &mut dyn Unit) {
    check_depth(machine, DEFAULT_DEPTH as u16);
}

fn small_depth(machine: &mut dyn Unit) {
    check_depth(machine, SMALL as u16);
}

#[test]
fn golden_has_room_for_exactly_its_depth() {
    for depth in [1, 2, 3, 1024] {
        check_depth(&mut Golden::with(LANES, depth, false), depth as u16);
    }
}

/// BRA.U branches with all active threads or not at all.
fn unanimous(machine: &mut dyn Unit) {
    let all = start(machine);
    let some = State {
        active: 0b0110,
        exited: 0b1001,
        ..all
    };
    for before in [all, some] {
        put(machine, &before);
        for p0 in 0..=ALL {
            let pins = exec_p0(off(BRA | P0 | U, 0x78), p0);
            let after = works(machine, &before, &pins, "BRA.U");
            let together = p0 & before.active == before.active;
            let taken = if together { before.active } else { 0 };
            assert_eq!(after, branched(&before, taken), "{p0:04b}");
            let pins = exec_p0(off(BRA | P0, 0x78), p0);
            let after = works(machine, &before, &pins, "BRA");
            assert_eq!(after, branched(&before, p0 & before.active), "{p0:04b}");
        }
    }
}

// ---- spa5-6: errors ---------------------------------------------------------------------------------------

both! {
    new_vis: golden_knows_who_may_leave_after_a_push, rtl_knows_who_may_leave_after_a_push;
    leaving: golden_lets_leave_who_may, rtl_lets_leave_who_may;
    pops: golden_resumes_who_waits_for_the_token, rtl_resumes_who_waits_for_the_token;
    depth: golden_has_room_for_64_tokens, rtl_has_room_for_64_tokens;
    unanimous: golden_branches_unanimously_or_not_at_all, rtl_branches_unanimously_or_not_at_all;
}

both! {
    (Golden::with(LANES, SMALL, true), small())
    small_depth: golden_has_room_for_4_tokens, rtl_has_room_for_4_tokens;
}
