//! Every value of each half of an instruction word: RTL and golden model do the same with it, from the same states. The tests of
//! `src/<unit>` compare the table of the unit's words with what the golden model reads, so the table also agrees with the decoder of the RTL.

use bytemuck::{bytes_of, bytes_of_mut};
use rand::SeedableRng as _;
use rand_pcg::Pcg64Mcg;
use reconverge::campaign;
use reconverge::design::{Build, Control as _, Golden as _};
use reconverge::start::Start as _;
use reconverge::unit::{Environment as _, Unit};

use crate::machine::{Machine, Sequencer, stalled};
use crate::steps::{pin, word_pins};

/// Returns instructions of which each half in turn takes all its values.
fn instructions(unit: &str) -> &'static [&'static [u64]] {
    match unit {
        "r500" => &[&[0x402, 0x0906_f0b0, 0x8028_0503]],
        "r700" => &[&[3, 0x8507_e2fd], &[3, 0xa400_0000]],
        _ => &[&[0xe24f_fffe_c007_000f]],
    }
}

/// Puts a machine into the last of `states`, one for each frame of a stack, and clocks it with `pins`.
fn step<U: Unit>(machine: &mut impl Machine<U>, states: &[U::State], pins: &U::In) -> U::State {
    for state in states {
        machine.load(state);
        machine.clock(&stalled::<U>());
    }
    machine.clock(pins)
}

fn rtl_and_golden_model_do_the_same_with_every_half_of_a_word<U: Unit>() {
    let build = Build::from(U::LANES);
    let mut golden = U::Golden::build(&build);
    let mut rtl = Sequencer::<U>::built(build.clone());
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    let mut changed = 0;
    let cases = (0..).map(|n| campaign::case::<U>(1, n, &build).1);
    for case in cases.filter(|case| case.start.len() > 1).take(1) {
        let setup = U::setup(&case.program);
        let launch = [U::In::reset()].into_iter().chain(setup);
        for pins in launch.chain([U::launch(&case, None)]) {
            assert!(bytes_of(&golden.clock(&pins)) == bytes_of(&rtl.clock(&pins)));
        }
        let launched = *golden.state();
        assert!(U::running(&launched));
        let begin = case
            .start
            .iter()
            .map(|start| start.states(&build, &launched));
        // Each frame of a stack costs a load in each step.
        let states = begin.min_by_key(Vec::len).unwrap();
        let mut environment = U::Environment::new(&case);
        for words in instructions(U::NAME) {
            let width = 16 * (4 / words.len()).max(2);
            for (word, shift) in
                (0..words.len()).flat_map(|word| (0..width).step_by(16).map(move |s| (word, s)))
            {
                for value in 0..=0xffff {
                    let mut pins = U::In::default();
                    environment.set_pins(states.last().unwrap(), &mut rng, &mut pins);
                    for (number, name) in word_pins(U::NAME).iter().enumerate() {
                        let mut of = words[number];
                        if number == word {
                            of = of & !(0xffff << shift) | value << shift;
                        }
                        pin::<U>(name).set(bytes_of_mut(&mut pins), 0, of);
                    }
                    pin::<U>("inst_valid").set(bytes_of_mut(&mut pins), 0, 1);
                    let expected = step(&mut golden, &states, &pins);
                    let found = step(&mut rtl, &states, &pins);
                    assert!(
                        bytes_of(&found) == bytes_of(&expected),
                        "{words:x?}, bits {shift} of word {word} {value:#x}: {found:?} instead of {expected:?}"
                    );
                    changed += u32::from(Some(&expected) != states.last());
                }
            }
        }
    }
    assert!(changed > 100_000, "{changed}");
}

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        mod $module {
            #[test]
            fn rtl_and_golden_model_do_the_same_with_every_half_of_a_word() {
                super::rtl_and_golden_model_do_the_same_with_every_half_of_a_word::<reconverge::$module::$unit>();
            }
        }
    )+};
}
reconverge::for_each_unit!(tests);
