//! The contract of docs/contract.md, cycle by cycle.

use super::*;

/// Launch, stall, waiting, unwinding and reset (spa5-3).
fn contract(machine: &mut dyn Unit) {
    let reset = State {
        status: DONE,
        exited: ALL,
        pc: 8,
        ..State::default()
    };
    assert_eq!(machine.clock(&In::reset()), reset, "reset");
    assert_eq!(machine.clock(&exec(off(SSY, 0))), reset, "no warp");
    assert_eq!(machine.clock(&exec(EXIT | ALWAYS)), reset, "no warp");

    // A launch takes its operands, and not the instruction beside it; threads that there are not do not count.
    let mut pins = exec(EXIT | ALWAYS);
    (pins.launch, pins.entry, pins.prog_size, pins.launch_mask) = (1, 0x40, 0x80, !0b0010);
    let mut refused = pins;
    refused.stall = 1;
    assert_eq!(machine.clock(&refused), reset, "stalled launch");
    let launched = State {
        status: RUN,
        pc: 0x48,
        active: 0b1101,
        exited: 0b0010,
        ..State::default()
    };
    assert_eq!(machine.clock(&pins), launched, "launch");

    // Running: a launch is ignored; so is everything without an instruction.
    assert_eq!(machine.clock(&launch(0, 0, 1)), launched, "waiting");
    let mut beside = launch(0, 0, 1);
    (beside.inst_valid, beside.word) = (1, off(PBK, 0x10));
    let mut late = beside;
    late.stall = 1;
    assert_eq!(machine.clock(&late), launched, "stalled");
    let mut expected = State {
        pc: 0x50,
        ..pushed(&launched, T_PBK, 2, 0b1101, 0x68)
    };
    // The size that was launched with is what counts, not the one on the pins.
    assert_eq!(machine.clock(&beside), expected, "beside a launch");
    expected = State {
        pc: 0x58,
        ..pushed(&expected, T_SSY, 3, 0b1101, 0x78)
    };
    assert_eq!(machine.clock(&exec(off(SSY, 0x20))), expected, "SSY");
    // No thread is left for the SSY token.
    expected.status = UNWIND;
    (expected.active, expected.d_brk) = (0, 0b1101);
    assert_eq!(machine.clock(&exec(BRK | ALWAYS)), expected, "BRK");
    // Stalls freeze the unwind; instructions, their absence and launches do not matter to it.
    let mut pins = launch(0, 0x20, ALL);
    (pins.inst_valid, pins.word, pins.stall) = (1, NOP, 1);
    for _ in 0..3 {
        assert_eq!(machine.clock(&pins), expected, "stalled");
    }
    pins.stall = 0;
    let popped = State {
        sp: 1,
        vis: 2,
        top_type: T_PBK,
        top_vis: 0,
        top_mask: 0b1101,
        top_addr: 0x68,
        ..expected
    };
    assert_eq!(machine.clock(&pins), popped, "popped");
    pins.stall = 1;
    assert_eq!(machine.clock(&pins), popped, "stalled");
    let resumed = State {
        pc: 0x68,
        ..launched
    };
    assert_eq!(machine.clock(&In::default()), resumed, "resumed");

    // An error stays, and so does everything else, until a launch clears all of it.
    let mut state = machine.clock(&exec(off(PRET, 0)));
    assert_eq!((state.err, state.sp, state.vis), (0, 1, 8));
    state = machine.clock(&exec_p0(RET | P0, 0b0100));
    assert_eq!((state.err, state.d_ret), (0, 0b0100));
    let stopped = failed(&state, BRK_NO_PBK);
    assert_eq!(machine.clock(&exec(BRK | ALWAYS)), stopped, "error");
    assert_eq!(machine.clock(&exec(NOP)), stopped, "stopped");
    let mut again = launch(0x20, 0x60, 0b0110);
    again.stall = 1;
    assert_eq!(machine.clock(&again), stopped, "stalled launch");
    again.stall = 0;
    let relaunched = State {
        pc: 0x28,
        active: 0b0110,
        exited: 0b1001,
        ..State::default()
    };
    assert_eq!(machine.clock(&again), relaunched, "again");

    // Done in the clock after the last pop; the state stays to be read.
    let emptied = State {
        status: UNWIND,
        active: 0,
        exited: ALL,
        ..relaunched
    };
    assert_eq!(machine.clock(&exec(EXIT | ALWAYS)), emptied, "EXIT");
    let done = State {
        status: DONE,
        ..emptied
    };
    assert_eq!(machine.clock(&exec(NOP)), done, "done");
    assert_eq!(machine.clock(&exec(NOP)), done, "done");
    // A launch of no thread is done at once.
    let none = State { pc: 0x48, ..reset };
    assert_eq!(machine.clock(&launch(0x40, 0x60, !ALL)), none, "no thread");
    assert_eq!(machine.clock(&exec(EXIT | ALWAYS)), none, "no thread");
    assert_eq!(machine.clock(&again), relaunched, "again");

    // Reset beats stall and launch, in RUN, UNWIND and ERR.
    let mut pins = launch(0x40, 0x60, ALL);
    (pins.rst_n, pins.stall) = (0, 1);
    assert_eq!(machine.clock(&pins), reset, "reset in RUN");
    machine.clock(&again);
    machine.clock(&exec(EXIT | ALWAYS));
    assert_eq!(machine.clock(&pins), reset, "reset in UNWIND");
    machine.clock(&again);
    machine.clock(&exec(BPT));
    assert_eq!(machine.clock(&pins), reset, "reset in ERR");
    assert_eq!(machine.clock(&In::default()), reset, "and after it");
}

/// What bench and trace hear of each clock.
#[test]
fn golden_tells_what_each_clock_did() {
    let mut golden = Golden::new(LANES);
    let rows: [(In, Event, Step, Option<Stepped>); 16] = {
        let of = |pc, word, active, taken| {
            Some(Stepped {
                pc,
                word,
                active,
                taken,
            })
        };
        let (pbk, ssy, bra) = (off(PBK, 0x40), off(SSY, 0x40), off(BRA | P0, 0x40));
        let (brk, exit) = (BRK | ALWAYS, EXIT | ALWAYS);
        let left = of(0x68, brk, 0b0001, 0b0001);
        let again = of(0x20 + 8, brk, 0b1110, 0b1110);
        [
            (In::reset(), Event::Reset, Step::None, None),
            (In::default(), Event::Idle, Step::None, None),
            (launch(0, 0x80, ALL), Event::Launched, Step::None, None),
            (In::default(), Event::Waiting, Step::None, None),
            (
                exec(pbk),
                Event::Executed,
                Step::Executed,
                of(0x08, pbk, ALL, ALL),
            ),
            (
                exec(ssy),
                Event::Executed,
                Step::Executed,
                of(0x10, ssy, ALL, ALL),
            ),
            (
                exec_p0(bra, 0b0001),
                Event::Executed,
                Step::Executed,
                of(0x18, bra, ALL, 0b0001),
            ),
            (stalled::<Spa5>(), Event::Stalled, Step::None, None),
            // The divergent side comes back at once; after that no thread is left for the SSY token.
            (exec(brk), Event::Emptied, Step::None, left),
            (exec(NOP), Event::Resumed, Step::Executed, left),
            (exec(brk), Event::Emptied, Step::None, again),
            (stalled::<Spa5>(), Event::Stalled, Step::None, again),
            (exec(NOP), Event::Popped, Step::None, again),
            (exec(NOP), Event::Resumed, Step::Executed, again),
            (
                exec(exit),
                Event::Emptied,
                Step::None,
                of(0x50, exit, ALL, ALL),
            ),
            (
                In::default(),
                Event::Finished,
                Step::Executed,
                of(0x50, exit, ALL, ALL),
            ),
        ]
    };
    for (n, (pins, event, step, stepped)) in rows.iter().enumerate() {
        golden.cycle(pins);
        assert_eq!(
            (golden.event(), golden.step()),
            (*event, *step),
            "clock {n}"
        );
        if let Some(stepped) = stepped {
            assert_eq!(golden.stepped(), stepped, "clock {n}");
            assert_eq!(golden.taken(), stepped.taken);
            assert_eq!(golden.step_word(), stepped.word);
        }
    }
    // BRA.U that is not unanimous: no thread. An error: T is 0. PC_RANGE: there is no word either.
    golden.cycle(&launch(0, 0x20, ALL));
    golden.cycle(&exec_p0(BRA | P0 | U, 0b0001));
    assert_eq!((golden.taken(), golden.stepped().active), (0, ALL));
    golden.cycle(&exec(NOP));
    assert_eq!((golden.taken(), golden.step_word()), (ALL, NOP));
    golden.cycle(&exec(BRK | ALWAYS));
    assert_eq!(golden.event(), Event::Failed(Error::BrkNoPbk));
    assert_eq!((golden.step(), golden.taken()), (Step::Failed, 0));
    assert_eq!(
        (golden.step_word(), golden.stepped().active),
        (BRK | ALWAYS, ALL)
    );
    golden.cycle(&launch(0x20, 0x20, 0b0100));
    golden.cycle(&exec(BRK | ALWAYS));
    assert_eq!(golden.event(), Event::Failed(Error::PcRange));
    let stepped = Stepped {
        pc: 0x28,
        word: 0,
        active: 0b0100,
        taken: 0,
    };
    assert_eq!(*golden.stepped(), stepped);
}

both! {
    contract: golden_keeps_the_clock_contract, rtl_keeps_the_clock_contract;
}
