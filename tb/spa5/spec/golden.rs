//! The golden model's own: what it tells of each cycle, and any state with any pins.

use super::*;

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

/// Whatever the host loads or asks for, nothing panics, and no bit of a thread that does not exist is set.
#[test]
fn the_golden_takes_any_state_and_any_pins() {
    let mut rng = Pcg64Mcg::seed_from_u64(11);
    for (lanes, depth) in [(1, 1), (4, 4), (64, 64), (33, 1024)] {
        let all = u64::MAX >> (64 - lanes);
        let mut golden = Golden::with(lanes, depth, true);
        for _ in 0..20_000 {
            let mut state = State::default();
            rng.fill(bytes_of_mut(&mut state));
            state.sp &= 0x7FF;
            (state.status, state.err, state.vis) =
                (state.status & 3, state.err & 15, state.vis & 15);
            golden.load(&state);
            for _ in 0..3 {
                let mut pins = In::default();
                rng.fill(bytes_of_mut(&mut pins));
                (pins.rst_n, pins.stall) = (u8::from(pins.rst_n > 3), pins.stall & 1);
                (pins.launch, pins.inst_valid) = (pins.launch & 1, pins.inst_valid & 1);
                if rng.random() {
                    pins.word = pins.word >> 8 | 0xE2 << 56;
                }
                for field in ["active", "pc", "err", "top_mask", "d_ret", "vis", "sp"] {
                    golden.explain(&pins, field, usize::from(rng.random::<u8>()));
                }
                let s = golden.cycle(&pins);
                let shown = s.active | s.exited | s.d_brk | s.d_cont | s.d_ret | s.top_mask;
                assert_eq!(shown & !all, 0);
            }
        }
    }
}
