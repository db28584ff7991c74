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
        // IF on predicate, boolean and ALU result; CALL.
        "r500" => &[
            &[0x412, 0x0a00_9600, 0x0028_0503],
            &[0x402, 0x0800_f0a0, 0x8028_0503],
        ],
        // JUMP on a boolean, CALL, ALU_PUSH_BEFORE.
        "r700" => &[&[3, 0x8500_0219], &[3, 0x8900_2000], &[3, 0xa400_0000]],
        // @P0 BRA, @P0 EXIT.
        _ => &[&[0xe240_0000_0100_000f], &[0xe300_0000_0000_000f]],
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
    for case in cases.filter(|case| !case.start.is_empty()) {
        let setup = U::setup(&case.program);
        let launch = [U::In::reset()].into_iter().chain(setup);
        for pins in launch.chain([U::launch(&case, None)]) {
            assert!(bytes_of(&golden.clock(&pins)) == bytes_of(&rtl.clock(&pins)));
        }
        let launched = *golden.state();
        let begin = (case.start.iter()).map(|start| start.states(&build, &launched));
        let executes = |states: &Vec<U::State>| {
            let runs = |state| U::running(state) && U::active(state).count_ones() > 3;
            states.last().is_some_and(runs)
        };
        // Each frame of a stack costs a load in each step.
        let Some(states) = begin.filter(executes).min_by_key(Vec::len) else {
            continue;
        };
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
        break;
    }
    assert!(changed > 100_000, "{changed}");
}

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        mod $module {
            #[test]
            #[ignore = "takes long; CI's step builds runs it"]
            fn rtl_and_golden_model_do_the_same_with_every_half_of_a_word() {
                super::rtl_and_golden_model_do_the_same_with_every_half_of_a_word::<reconverge::$module::$unit>();
            }
        }
    )+};
}
reconverge::for_each_unit!(tests);
