//! The golden model's own: a step without a word, and any state with any pins. What it tells of each cycle is in its explanations,
//! `tb/spa5/steps/explained.txt`.

use super::*;

/// A step outside the program has no word, whatever stands on the pins, and no thread takes it: what a trace shows.
#[test]
fn golden_shows_no_word_of_a_step_outside_the_program() {
    let mut golden = Golden::new(LANES);
    golden.cycle(&launch(0x20, 0x20, 0b0100));
    golden.cycle(&exec(BRK | ALWAYS));
    assert_eq!(golden.event(), Event::Failed(Error::PcRange));
    let stepped = Stepped {
        pc: 0x28,
        word: 0,
        active: 0b0100,
        taken: 0,
    };
    assert_eq!((golden.stepped(), golden.step_word()), (&stepped, 0));
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
