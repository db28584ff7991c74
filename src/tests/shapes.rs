//! Noise: no decision of a unit looks at a condition that was drawn without its shape.

use bytemuck::bytes_of;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use crate::r500::{R500, state::In};
use crate::spa5::{Spa5, state};
use crate::unit::{Campaign, Environment as _};
use reconverge_bench::design::{Build, Golden as _};
use reconverge_campaign::campaign::case;
use reconverge_program::case::{Case, Conditions};
use reconverge_program::environment::Noise;

/// Runs cases with noise on which `applies`, and beside each cycle one in which every condition has its shape, as `shape` draws them for
/// these active lanes: the golden model does the same.
fn does_the_same_with_every_shape<U: Campaign>(
    applies: impl Fn(&Case<U>) -> bool,
    shape: impl Fn(&mut U::In, &mut Pcg64Mcg, u64),
) {
    let (mut cycles, mut others) = (0, 0);
    for index in 0..200 {
        let build = Build::from(U::LANES);
        let (_, case) = case::<U>(3, index, &build);
        if case.conditions != Conditions::Noise || !applies(&case) {
            continue;
        }
        let mut environment = U::Environment::new(&case);
        let mut rng = Pcg64Mcg::seed_from_u64(case.seed);
        let mut golden = U::Golden::build(&build);
        for pins in U::setup(&case.program)
            .into_iter()
            .chain([U::launch(&case, None)])
        {
            golden.cycle(&pins);
        }
        while U::running(golden.state()) && cycles < 100 * index {
            let (mut draws, active) = (rng.clone(), U::active(golden.state()));
            let mut pins = U::In::default();
            environment.set_pins(golden.state(), &mut rng, &mut pins);
            let mut all = pins;
            shape(&mut all, &mut draws, active);
            let mut beside = golden.clone();
            let same = bytes_of(golden.cycle(&pins)) == bytes_of(beside.cycle(&all));
            assert!(same, "{pins:?}");
            cycles += 1;
            others += u64::from(bytes_of(&pins) != bytes_of(&all));
        }
    }
    assert!(cycles > 1000 && others > cycles / 2, "{others} of {cycles}");
}

#[test]
fn no_decision_of_r500_looks_at_a_condition_without_its_shape() {
    does_the_same_with_every_shape::<R500>(
        |_| true,
        |pins: &mut In, rng, active| {
            let [alu, pred @ .., _] = Noise::<6>::draw(rng).shaped(active);
            (pins.alu, pins.pred) = (alu, pred);
        },
    );
}

#[test]
fn no_decision_of_spa5_looks_at_a_condition_without_its_shape() {
    does_the_same_with_every_shape::<Spa5>(
        // Of the others, each condition is that of all threads but one.
        |case| !case.seed.is_multiple_of(16),
        |pins: &mut state::In, rng, active| {
            let [p @ .., z, s, c, o] = Noise::<11>::draw(rng).shaped(active);
            (pins.p, pins.cc) = (p, [z, s, c, o]);
        },
    );
}
