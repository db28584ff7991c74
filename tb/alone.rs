//! Golden model and scalar machine without RTL: what a lane does among others it does alone. Random programs of every kind, on
//! builds with one, few and many lanes; a fault in either machine ends in a lane that strays.

use std::collections::BTreeSet;

use reconverge::campaign;
use reconverge::case::{Conditions, Kind};
use reconverge::design::{Build, Golden as _};
use reconverge::stimulus::golden_alone;
use reconverge::unit::{Records, Unit, Verdict};
use reconverge::watch::Watch;

/// Programs for each build.
const PROGRAMS: u64 = 600;

/// The state at the end.
#[derive(Default)]
struct End<S>(S);

impl<U: Unit> Watch<U> for End<U::State> {
    fn before(&mut self, _: u64, _: &U::In, _: &U::Golden) {}
    fn after(&mut self, _: u64, _: &U::In, golden: &U::Golden) {
        self.0 = *golden.state();
    }
}

fn lanes_do_among_others_what_they_do_alone<U: Unit>() {
    let (mut agreed, mut instructions, mut ends) = (0, 0, BTreeSet::new());
    let variants = U::VARIANTS.iter().map(Build::from);
    for build in variants.chain([Build::from(8)]) {
        for number in 0..PROGRAMS {
            let (kind, mut case) = campaign::case::<U>(2, number, &build);
            // The judge follows one launch, and conditions that belong to a lane.
            case.noise_cycles = None;
            if kind != Kind::Structured {
                case.max_steps = 1000;
            }
            case.start.clear();
            if case.conditions == Conditions::Noise {
                let p16 = [2, 8, 14][number as usize % 3];
                case.conditions = Conditions::Drawn { p16 };
            }
            // All lanes do the same. spa5 promises no end then.
            if kind == Kind::Structured && number % 8 == 0 && U::NAME != "spa5" {
                let p16 = [0, 16][number as usize / 8 % 2];
                case.conditions = Conditions::Drawn { p16 };
            }
            let mut watch = (Records::<U>::default(), End(U::State::default()));
            golden_alone(&case, 400_000, &mut watch);
            let (records, End(end)) = watch;
            match records.judge(&case, &end) {
                Verdict::Agrees {
                    instructions: n, ..
                } => {
                    (agreed, instructions) = (agreed + 1, instructions + n);
                    // A structured program fits on the stack of the default parameters.
                    if kind == Kind::Structured && build.parameters.is_empty() {
                        assert_eq!(U::outcome(&end), "done", "{}", case.name());
                    }
                    ends.insert(U::outcome(&end));
                }
                Verdict::Disagrees { lane, how } => {
                    let name = case.name();
                    panic!("{name}, lane {lane}: {how}");
                }
                Verdict::NotStructured(why) => {
                    assert_ne!(kind, Kind::Structured, "{}: {why}", case.name());
                }
            }
        }
    }
    println!("{agreed} programs agree, {instructions} instructions; {ends:?}");
    assert!(ends.contains("done") && ends.len() > 1, "{ends:?}");
    assert!(
        agreed > 1000 && instructions > 100_000,
        "{agreed} {instructions}"
    );
}

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        mod $module {
            crate::test_unit::test_unit!(reconverge::$module::$unit:
                lanes_do_among_others_what_they_do_alone,
            );
        }
    )+};
}
reconverge::for_each_unit!(tests);
