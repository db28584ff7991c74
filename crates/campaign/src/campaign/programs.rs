//! Campaigns of programs: how a case is drawn, run and counted.

use std::collections::BTreeMap;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::{Drawn, NOT_PRELOADED, Other, Summary, own_seed};
use crate::cover::{Collector, Model};
use crate::grammar::Campaign;
use crate::shrink::{self, Budget, Follow, Shrunk, Size};
use reconverge_bench::design::{Build, Control, Golden};
use reconverge_bench::dut::{Dut, Rtl};
use reconverge_bench::failure::Failure;
use reconverge_bench::text::abridged;
use reconverge_program::assembly::Assembly as _;
use reconverge_program::case::{Case, Conditions, Kind};
use reconverge_program::instructions::Instructions as _;
use reconverge_program::judges::{Judges, Scalar, check_on};
use reconverge_program::program::{Executor as _, Records};
use reconverge_program::start::Start;
use reconverge_program::stimulus::CaseStimulus;
use reconverge_program::watch::{Pulse, Watch};

/// Length in cycles of a case with a fixed length.
const CASE_CYCLES: u64 = 512;

/// Number of preloaded states of a seeded case: about the number of its launches.
const STARTS: usize = 24;
/// The kinds of cases, in turn. Only one in eight is seeded: seeded cases begin in corner cases, but only the others test the
/// way there.
const KINDS: [Kind; 8] = [
    Kind::Structured,
    Kind::Raw,
    Kind::NearLegal,
    Kind::Raw,
    Kind::Structured,
    Kind::Raw,
    Kind::Seeded,
    Kind::Raw,
];

/// Counts how the programs of a case end.
#[derive(Default)]
struct Outcomes {
    outcomes: BTreeMap<String, u64>,
    was_running: bool,
}

impl<U: Campaign> Watch<U> for Outcomes {
    #[inline]
    fn before(&mut self, _: u64, _: &U::In, golden: &U::Golden) {
        self.was_running = U::running(golden.state());
    }
    #[inline]
    fn after(&mut self, _: u64, pins: &U::In, golden: &U::Golden) {
        let state = golden.state();
        if self.was_running && !U::running(state) {
            self.count::<U>(pins, state);
        }
    }
}

impl Outcomes {
    /// Counts a program that has ended in a cycle with `pins`, in `state`.
    #[cold]
    fn count<U: Campaign>(&mut self, pins: &U::In, state: &U::State) {
        let how = match pins.is_reset() {
            true => "reset in mid-flight".to_owned(),
            false => U::outcome(state),
        };
        *self.outcomes.entry(how).or_default() += 1;
    }
}

/// Returns the kind of case number `index` of a campaign. Every other case is raw.
fn kind(index: u64) -> Kind {
    KINDS[index as usize % KINDS.len()]
}

/// Returns case number `index` of a campaign with `seed`, and its kind.
pub fn case<U: Campaign>(seed: u64, index: u64, build: &Build) -> (Kind, Case<U>) {
    let lanes = build.lanes;
    let own = own_seed::<U>(seed, index);
    let mut rng = Pcg64Mcg::seed_from_u64(own);
    // All but structured cases have a fixed length and noise.
    let kind = kind(index);
    let mut case = Case::<U>::new(U::generate_for(build, kind, &mut rng));
    // Two builds may fail in the case of the same number, and both cases are saved.
    let name = format!("{}-{index}{}", kind.name(), build.tag::<U>());
    case.program.rename(name);
    case.seed = own;
    case.lanes = lanes;
    case.parameters.clone_from(&build.parameters);
    let all = u64::MAX >> (64 - lanes);
    case.launch_mask = if rng.random_ratio(3, 4) {
        all
    } else {
        rng.random::<u64>() & all
    };
    case.stall16 = [0, 0, 1, 3, 5, 8][rng.random_range(0..6)];
    case.conditions = Conditions::Drawn {
        p16: [1, 4, 8, 8, 12, 15][rng.random_range(0..6)],
    };
    if kind != Kind::Structured {
        case.noise_cycles = Some(CASE_CYCLES);
        case.max_steps = u64::MAX;
    }
    if matches!(kind, Kind::Raw | Kind::Seeded) {
        case.conditions = Conditions::Noise;
    }
    if kind == Kind::Seeded {
        case.start = (0..STARTS)
            .filter_map(|_| U::Start::random(&case, &mut rng))
            .collect();
    }
    (kind, case)
}

/// Selects the cases from which inputs are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Campaign cases as they are: stalls, wait states, noise, resets.
    Campaign,
    /// The same without noise. These inputs also suit a unit with fewer lanes. Noise would not: it may violate the contract
    /// where the unit ignores it, but the unit with fewer lanes is in another state and may not ignore it.
    NoNoise,
    /// The same programs without stalls, wait states or noise: an instruction in every cycle of a program.
    Busy,
}

/// Records the inputs of the first `cycles` cycles of a campaign with the golden model alone, for measurements.
pub fn recorded<U: Campaign>(seed: u64, build: &Build, cycles: usize, pace: Pace) -> Vec<U::In> {
    let mut inputs = Vec::with_capacity(cycles + 2 * CASE_CYCLES as usize);
    let mut golden = U::Golden::build(build);
    for index in 0.. {
        let (_, mut case) = case::<U>(seed, index, build);
        if !case.start.is_empty() {
            // Recorded pins cannot load a state.
            continue;
        }
        if pace == Pace::Busy {
            (case.stall16, case.max_steps) = (0, CASE_CYCLES);
        }
        if pace != Pace::Campaign {
            case.noise_cycles = None;
        }
        let mut stimulus = CaseStimulus::new(&case);
        // Limit the length: without noise a program may wait forever for an instruction.
        for _ in 0..16 * CASE_CYCLES {
            let Some(pins) = stimulus.next(golden.state()) else {
                break;
            };
            golden.cycle(&pins);
            stimulus.done(&pins, golden.step(), golden.state());
            inputs.push(pins);
        }
        if inputs.len() >= cycles {
            break;
        }
    }
    inputs.truncate(cycles);
    inputs
}

impl<U: Campaign> Drawn for Case<U> {
    type Kind = Kind;
    type Bins = Model<U>;
    type Collector<'b> = Collector<'b, U>;
    type Size = Size;

    const NOUN: &'static str = "program";
    const EXECUTES: bool = true;
    const GAP: &'static str = "never met";
    const MEASURE: &'static str = "instructions";
    const CHUNK: u64 = super::CHUNK;
    const OWN_MODEL: bool = false;

    fn kind(index: u64) -> Kind {
        kind(index)
    }

    fn draw(seed: u64, index: u64, _: usize, build: &Build) -> Result<Self, Box<Failure<Self>>> {
        Ok(case(seed, index, build).1)
    }

    fn collector(bins: &Model<U>) -> Collector<'_, U> {
        Collector::new(bins)
    }

    fn run_on(
        &self,
        index: u64,
        dut: &mut Dut<U>,
        mut collector: Option<&mut Collector<'_, U>>,
        progress: &mut impl FnMut(u64),
    ) -> Summary<Self> {
        let mut outcomes = Outcomes::default();
        if !self.start.is_empty() && !dut.preloads() {
            return Summary {
                outcomes: BTreeMap::from([(NOT_PRELOADED.to_owned(), 1)]),
                ..Summary::default()
            };
        }
        if let Some(collector) = &mut collector {
            collector.begin(self);
        }
        let judges = match kind(index) {
            Kind::Structured if U::SCALAR.is_some() => Judges::Structured,
            _ => Judges::LockStep,
        };
        let look = &mut (&mut outcomes, (collector.as_deref_mut(), Pulse(progress)));
        let judged = check_on(self, dut, judges, Records::judge, look);
        let met = collector.map(|collector| {
            collector.end();
            collector.hits.take()
        });
        let mut summary = Summary {
            outcomes: outcomes.outcomes,
            bins: met.unwrap_or_default(),
            ..Summary::default()
        };
        match judged {
            Ok(agreed) => {
                summary.compared = agreed.compared;
                if agreed.step_limit {
                    let limit = "step limit".to_owned();
                    *summary.outcomes.entry(limit).or_default() += 1;
                }
                if let Scalar::Agrees {
                    lanes,
                    instructions,
                } = agreed.scalar
                {
                    summary.judged = (1, u64::from(lanes), instructions).into();
                }
            }
            Err(failure) => summary.fails(index, failure),
        }
        summary
    }

    fn shrink(
        failure: &Failure<Self>,
        rtl: &Rtl<U>,
        other: Other<U>,
        budget: &Budget,
        follow: &mut dyn Follow<Self>,
    ) -> Result<Shrunk<Self>, String> {
        shrink::shrink(&failure.case, rtl, other, budget, follow)
    }

    fn length(&self) -> usize {
        self.program.count()
    }

    fn size(&self) -> Size {
        Size::of(self)
    }

    fn headline(before: Size, after: Size) -> String {
        shrink::headline(before, after)
    }

    fn text(&self, _: u64) -> String {
        let program = abridged(&self.program.to_text());
        format!("// {}\n{program}", self.surroundings())
    }

    fn is_same(&self, other: &Self) -> bool {
        shrink::same(self, other)
    }
}
