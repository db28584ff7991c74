//! The invariants of the specifications (r500-3.5, r700-3.7, spa5-3) in every cycle of random programs, on the golden model alone.
//! `exhaust` checks them in every state of a small world; random programs reach deeper stacks and more lanes.

use std::collections::{BTreeMap, BTreeSet};

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use reconverge::case::{Case, Conditions, Kind};
use reconverge::design::{Build, Control, Golden as _};
use reconverge::unit::{Environment as _, Executor as _, Pins as _, Step, Unit};

/// Programs of each kind on each build, and cycles of each program.
const PROGRAMS: u64 = 40;
const CYCLES: usize = 400;

fn invariants_hold_in_every_cycle_of_random_programs<U: Unit>() {
    let small = U::SMALL.expect("the small worlds check the invariants");
    let limits = small.limits(&BTreeMap::new()).unwrap();
    let mut rng = Pcg64Mcg::seed_from_u64(0x5EED);
    let mut outcomes = BTreeSet::new();
    let mut steps = 0;
    let few = [1, 4, U::LANES, 64].map(Build::from);
    for build in few.into_iter().chain(U::VARIANTS.iter().map(Build::from)) {
        let world = (small.world)(&build, &limits);
        for (kind, seed) in [Kind::Structured, Kind::NearLegal, Kind::Raw]
            .into_iter()
            .flat_map(|kind| (1..=PROGRAMS).map(move |seed| (kind, seed)))
        {
            let mut case = Case::<U>::new(U::generate_for(&build, kind, &mut rng));
            (case.lanes, case.parameters) = (build.lanes, build.parameters.clone());
            (case.seed, case.conditions) = (seed, Conditions::Noise);
            case.launch_mask = rng.random::<u64>() | rng.random::<u64>();
            let at = format!("{build}, {} program {seed}", kind.name());
            let mut golden = case.golden();
            let mut environment = U::Environment::new(&case);
            golden.cycle(&U::In::reset());
            for pins in U::setup(&case.program) {
                golden.cycle(&pins);
            }
            golden.cycle(&U::launch(&case, None));
            environment.launched();
            for cycle in 0..CYCLES {
                let before = *golden.state();
                let broken = world.broken(&golden);
                assert_eq!(broken, None, "{at}, cycle {cycle}: {before:?}");
                if !U::running(&before) {
                    outcomes.insert(U::outcome(&before));
                    break;
                }
                let mut pins = U::In::default();
                environment.set_pins(&before, &mut rng, &mut pins);
                match rng.random_range(0..16) {
                    0 => pins.set_stall(true),
                    1 => pins.starve(),
                    _ => {}
                }
                pins.scramble(true, &mut rng);
                golden.cycle(&pins);
                if pins.is_stalled() {
                    assert_eq!(*golden.state(), before, "{at}, cycle {cycle}: stalled");
                }
                if golden.step() == Step::Executed {
                    environment.executed(golden.state());
                }
                steps += u64::from(golden.step() != Step::None);
            }
        }
    }
    assert!(steps > 40_000, "{steps} steps");
    let errors = U::DECLARATION
        .tables
        .iter()
        .find(|table| table.name.ends_with("err"));
    for (_, error) in &errors.unwrap().values[1..] {
        let met = outcomes.iter().any(|outcome| outcome.contains(error));
        assert!(met, "no program ends in {error}: {outcomes:?}");
    }
}

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        mod $module {
            #[test]
            fn invariants_hold_in_every_cycle_of_random_programs() {
                super::invariants_hold_in_every_cycle_of_random_programs::<reconverge::$module::$unit>();
            }
        }
    )+};
}
reconverge::for_each_unit!(tests);
