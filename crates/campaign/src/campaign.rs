//! Random campaigns: many cases in lock-step. The same seed gives the same cases for any number of jobs.
//!
//! A case depends only on unit, campaign seed, case number and build ([`case()`]). Cases run in chunks, each chunk on a fresh
//! model ([`Runner`]), and the results of the chunks are added in the order of their numbers ([`Tally`]). The totals of a
//! campaign therefore depend neither on the number of threads, processes or shards, nor on interruptions ([`results`]),
//! unless the RTL shows X or keeps something that reset does not reach. A test of your own unit needs only [`fuzz()`].

mod fuzz;
pub mod results;
mod tally;

use std::collections::BTreeMap;
use std::ops::{AddAssign, Range};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::case::{Case, Conditions, Kind};
use crate::cover::{self, Met, Model};
use crate::design::Control;
use crate::design::{Build, Golden};
use crate::dut::{Dut, Rtl};
use crate::environment::draw_word;
use crate::failure::{Cause, Failure};
use crate::grammar::Campaign;
use crate::json::{Hex, count, map};
use crate::judges::{Judges, Scalar, check_on};
use crate::lockstep::Compared;
use crate::program::Executor as _;
use crate::start::Start;
use crate::stimulus::CaseStimulus;
use crate::watch::Watch;

pub use fuzz::{found, fuzz, replay};
pub use tally::{Chunk, Piece, Put, Shard, Tally, drive};

/// Cases handed out at once. A campaign ends with a whole chunk, so that its length does not depend on the number of jobs.
pub const CHUNK: u64 = 256;
/// Number of cases of one chunk that crash or hang their process after which the campaign is given up. Each case that hangs
/// takes as long as its time limit.
pub const MAX_LOST: usize = 8;
/// Number of failed programs after which a campaign or a shard of it is given up, with the chunk in which that is reached. RTL that
/// is wrong in its first cycles compares next to nothing, and would reach no limit of cycles.
pub const MAX_FAILED: usize = 1000;
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

/// When a campaign ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Limit {
    /// After this many programs.
    Programs(#[serde(with = "count")] u64),
    /// After at least this many cycles.
    Cycles(#[serde(with = "count")] u64),
    /// After about this time.
    Time(Duration),
}

/// Settings of a campaign.
#[derive(Clone, Debug)]
pub struct Options {
    /// Campaign seed, from which each case derives its own seed. Never 0.
    pub seed: u64,
    /// When the campaign ends.
    pub limit: Limit,
    /// Number of chunks that run in parallel.
    pub jobs: usize,
    /// Do not end with the first failure.
    pub keep_going: bool,
    /// Directory of other RTL, for saved cases; `None`: own RTL.
    pub rtl: Option<std::path::PathBuf>,
}

impl Default for Options {
    /// Returns settings for two million cycles (well under a minute) with seed 1, one job per processor, up to the first
    /// failure.
    fn default() -> Self {
        Options {
            seed: 1,
            limit: Limit::Cycles(2_000_000),
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            keep_going: false,
            rtl: None,
        }
    }
}

/// The result of a campaign or of some of its cases.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Summary<U: Campaign> {
    /// Programs run.
    pub programs: u64,
    /// How much was compared.
    pub compared: Compared,
    /// How much of each kind was run.
    #[serde(deserialize_with = "map")]
    pub kinds: BTreeMap<String, OfKind>,
    /// Number of programs by the way in which they ended.
    #[serde(deserialize_with = "map")]
    pub outcomes: BTreeMap<String, u64>,
    /// How much the scalar judge compared.
    pub judged: ByScalar,
    /// Bins that were hit, by their numbers in [`Model`]. Empty if hits were not counted ([`Tally::goal`]).
    pub bins: Met,
    /// Cases that failed, in the order of their numbers.
    pub failures: Vec<Failed<U>>,
    /// The campaign, or one of the shards that are added up here, ended because [`MAX_FAILED`] programs had failed.
    #[serde(skip)]
    pub too_many: Option<usize>,
}

/// Why a campaign is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenUp {
    /// [`MAX_LOST`] cases of one chunk crashed or hung.
    Lost {
        /// Number of these cases.
        cases: usize,
        /// Number of cases of the chunk up to then.
        of: u64,
    },
    /// At least [`MAX_FAILED`] programs failed: this many.
    Failed(usize),
}

/// How much of one kind of cases was run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u64)", into = "(u64, u64)")]
pub struct OfKind {
    /// Programs.
    pub programs: u64,
    /// Cycles in which the whole state was compared.
    pub cycles: u64,
}

impl From<(u64, u64)> for OfKind {
    fn from((programs, cycles): (u64, u64)) -> Self {
        OfKind { programs, cycles }
    }
}

impl From<OfKind> for (u64, u64) {
    fn from(of: OfKind) -> Self {
        (of.programs, of.cycles)
    }
}

impl AddAssign for OfKind {
    fn add_assign(&mut self, other: Self) {
        self.programs += other.programs;
        self.cycles += other.cycles;
    }
}

/// How much the scalar judge compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u64, u64)", into = "(u64, u64, u64)")]
pub struct ByScalar {
    /// Programs.
    pub programs: u64,
    /// Lanes, of all programs together.
    pub lanes: u64,
    /// Instructions, of all lanes together.
    pub instructions: u64,
}

impl From<(u64, u64, u64)> for ByScalar {
    fn from((programs, lanes, instructions): (u64, u64, u64)) -> Self {
        ByScalar {
            programs,
            lanes,
            instructions,
        }
    }
}

impl From<ByScalar> for (u64, u64, u64) {
    fn from(by: ByScalar) -> Self {
        (by.programs, by.lanes, by.instructions)
    }
}

impl AddAssign for ByScalar {
    fn add_assign(&mut self, other: Self) {
        self.programs += other.programs;
        self.lanes += other.lanes;
        self.instructions += other.instructions;
    }
}

/// The outcome of cases that are not run because the RTL cannot be preloaded.
pub const NOT_PRELOADED: &str = "skipped, no preloading";

/// A failed case.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Failed<U: Campaign> {
    /// Number of the case in the campaign.
    pub number: u64,
    /// The case and its failure.
    pub failure: Failure<Case<U>>,
}

impl<U: Campaign> Failed<U> {
    /// Returns the failure of case number `index` of a campaign, which crashed or hung its process on a model with the seed
    /// `seed`.
    pub fn lost(options: &Options, rtl: &Rtl<U>, index: u64, cause: Cause<U>, seed: u32) -> Self {
        let (_, mut case) = case_on(options, rtl, index);
        case.set_model_seed(seed);
        Failed {
            number: index,
            failure: Failure::new(&case, cause, Compared::default()),
        }
    }
}

impl<U: Campaign> Default for Summary<U> {
    fn default() -> Self {
        Summary {
            programs: 0,
            compared: Compared::default(),
            kinds: BTreeMap::new(),
            outcomes: BTreeMap::new(),
            judged: ByScalar::default(),
            bins: Met::default(),
            failures: Vec::new(),
            too_many: None,
        }
    }
}

impl<U: Campaign> Summary<U> {
    /// Returns the summary of one case of `kind`, of which nothing was compared.
    fn not_compared(kind: Kind) -> Self {
        Summary {
            programs: 1,
            kinds: BTreeMap::from([(kind.name().to_owned(), (1, 0).into())]),
            ..Summary::default()
        }
    }

    /// Adds the summary of later cases.
    pub fn add(&mut self, other: Self) {
        self.programs += other.programs;
        self.compared += other.compared;
        for (kind, of) in other.kinds {
            *self.kinds.entry(kind).or_default() += of;
        }
        for (outcome, count) in other.outcomes {
            *self.outcomes.entry(outcome).or_default() += count;
        }
        self.judged += other.judged;
        self.bins.merge(&other.bins);
        self.failures.extend(other.failures);
        self.too_many = self.too_many.or(other.too_many);
    }

    /// Returns all counters.
    fn counts(&self) -> impl Iterator<Item = u64> {
        let Compared {
            cycles,
            steps,
            launches,
        } = self.compared;
        let ByScalar {
            programs,
            lanes,
            instructions,
        } = self.judged;
        let kinds = self.kinds.values().flat_map(|of| [of.programs, of.cycles]);
        [
            self.programs,
            cycles,
            steps,
            launches,
            programs,
            lanes,
            instructions,
        ]
        .into_iter()
        .chain(kinds)
        .chain(self.outcomes.values().copied())
    }

    /// Returns true if the campaign ends with this summary: it has a failure and `keep_going` is not set, or it is given up.
    pub fn ends(&self, options: &Options) -> bool {
        !options.keep_going && !self.failures.is_empty() || self.given_up().is_some()
    }

    /// Returns why the campaign is given up, if it is.
    pub fn given_up(&self) -> Option<GivenUp> {
        let mut chunks = self
            .failures
            .chunk_by(|a, b| a.number / CHUNK == b.number / CHUNK);
        let lost = chunks.find_map(|chunk| {
            let mut lost = chunk.iter().filter(|failed| failed.failure.lost());
            let last = lost.nth(MAX_LOST - 1)?;
            Some(GivenUp::Lost {
                cases: MAX_LOST,
                of: last.number % CHUNK + 1,
            })
        });
        lost.or(self.too_many.map(GivenUp::Failed))
    }

    /// Returns the summary of case number `index` of a campaign, which crashed or hung its process on a model with the seed
    /// `seed`.
    pub fn lost(options: &Options, rtl: &Rtl<U>, index: u64, cause: Cause<U>, seed: u32) -> Self {
        Summary {
            failures: vec![Failed::lost(options, rtl, index, cause, seed)],
            ..Self::not_compared(kind(index))
        }
    }

    /// Returns the summary as JSON; `model` has the bins of its build.
    pub fn to_json(&self, options: &Options, model: &Model<U>) -> Value {
        let kinds: serde_json::Map<String, Value> = self
            .kinds
            .iter()
            .map(|(kind, of)| {
                let json = json!({"programs": of.programs, "cycles": of.cycles});
                (kind.clone(), json)
            })
            .collect();
        let failures: Vec<Value> = self
            .failures
            .iter()
            .map(|f| {
                let mut value = json!(f.failure.place());
                value["run"] = f.failure.case.name().into();
                value
            })
            .collect();
        let overview = model.overview(&self.bins);
        let all = ("bins", overview.all);
        let seen: BTreeMap<&str, Value> = std::iter::once(all)
            .chain(overview.groups)
            .map(|(name, share)| {
                (
                    name,
                    json!({"hit": share.hit, "reachable": share.reachable}),
                )
            })
            .collect();
        json!({
            "unit": U::NAME,
            "seed": Hex(options.seed),
            "programs": self.programs,
            "launches": self.compared.launches,
            "cycles": self.compared.cycles,
            "instructions": self.compared.steps,
            "fields": U::fields().len(),
            "kinds": kinds,
            "outcomes": self.outcomes,
            "judged": {
                "programs": self.judged.programs,
                "lanes": self.judged.lanes,
                "instructions": self.judged.instructions,
            },
            "seen": seen,
            "not_seen": model.never_met(&self.bins),
            "mismatches": failures,
        })
    }
}

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
            let how = if pins.is_reset() {
                "reset in mid-flight".to_owned()
            } else {
                U::outcome(state)
            };
            *self.outcomes.entry(how).or_default() += 1;
        }
    }
}

/// Returns the kind of case number `index` of a campaign. Every other case is raw.
fn kind(index: u64) -> Kind {
    KINDS[index as usize % KINDS.len()]
}

/// Returns case number `index` of a campaign with `seed`, and its kind.
pub fn case<U: Campaign>(seed: u64, index: u64, build: &Build) -> (Kind, Case<U>) {
    let lanes = build.lanes;
    // The unit's name is mixed in, so that two units never use the same random numbers.
    let stream = U::NAME
        .bytes()
        .fold(0, |a: u32, b| a.wrapping_mul(31).wrapping_add(b.into()));
    let own = draw_word(seed, stream, index).max(1);
    let mut rng = Pcg64Mcg::seed_from_u64(own);
    // All but structured cases have a fixed length and noise.
    let kind = kind(index);
    let mut case = Case::<U>::new(U::generate_for(build, kind, &mut rng));
    // Two builds may fail in the case of the same number, and both cases are saved.
    let name = format!("{}-{index}{}", kind.name(), build.tag::<U>());
    U::rename(&mut case.program, name);
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

/// Runs cases of a campaign in sequence on one model.
pub struct Runner<'a, U: Campaign> {
    options: &'a Options,
    rtl: &'a Rtl<U>,
    dut: Dut<U>,
    /// Why there is no fresh model after the last failure; `dut` must not run another case then.
    no_model: Option<String>,
    collector: Option<cover::Collector<'a, U>>,
    /// The last case, and what it compared.
    last: Option<(u64, Compared)>,
}

impl<'a, U: Campaign> Runner<'a, U> {
    /// Opens a fresh model of `rtl`, for cases from number `first` on. The contents of registers without reset depend only on
    /// campaign seed and `first`. `bins` are those of the build of `rtl`; `None`: hits are not counted.
    ///
    /// # Errors
    /// The model cannot be opened.
    pub fn open(
        options: &'a Options,
        rtl: &'a Rtl<U>,
        bins: Option<&'a Model<U>>,
        first: u64,
    ) -> Result<Self, String> {
        let dut = rtl.open(model_seed(options, first))?;
        let collector = bins.map(cover::Collector::new);
        Ok(Runner {
            options,
            rtl,
            dut,
            no_model: None,
            collector,
            last: None,
        })
    }

    /// Runs case number `index`; `watch` observes it.
    pub fn run(&mut self, index: u64, watch: &mut impl Watch<U>) -> Summary<U> {
        if let Some(why) = &self.no_model {
            return self.not_run(index, why.clone());
        }
        let Runner {
            options,
            rtl,
            dut,
            collector,
            last,
            ..
        } = self;
        let summary = run_one(dut, rtl, collector, options, index, watch);
        *last = Some((index, summary.compared));
        if !summary.failures.is_empty() {
            // A stopped model cannot be used again. Any other may be in a state that correct RTL never reaches, in which
            // assertions fail before the next reset has ended.
            match rtl.open(case_on(options, rtl, index).1.model_seed()) {
                Ok(fresh) => *dut = fresh,
                Err(why) => self.no_model = Some(why),
            }
        }
        summary
    }

    /// Returns the summary of case number `index`, for which there is no model because of `why`.
    fn not_run(&self, index: u64, why: String) -> Summary<U> {
        let (kind, case) = case_on(self.options, self.rtl, index);
        let failure = Failure::new(&case, Cause::NotRun(why), Compared::default());
        Summary {
            failures: vec![Failed {
                number: index,
                failure,
            }],
            ..Summary::not_compared(kind)
        }
    }

    /// Runs `cases`, or those up to the one that ends the campaign, as the last ones on the model; `watch` observes them.
    pub fn run_all(mut self, cases: Range<u64>, watch: &mut impl Watch<U>) -> Summary<U> {
        let mut total = Summary::default();
        for index in cases {
            total.add(self.run(index, watch));
            if total.ends(self.options) {
                break;
            }
        }
        self.close(&mut total);
        total
    }

    /// Returns the seed of the model.
    pub fn seed(&self) -> u32 {
        self.dut.seed()
    }

    /// Ends the simulation. If a `final` block of the RTL says that something is wrong, the last case, which `summary`
    /// includes, fails with [`Cause::Stopped`], unless it has failed already.
    pub fn close(self, summary: &mut Summary<U>) {
        let seed = self.dut.seed();
        if let Err(why) = self.dut.close()
            && let Some((number, compared)) = self.last
            && summary
                .failures
                .iter()
                .all(|failed| failed.number != number)
        {
            let (_, mut case) = case_on(self.options, self.rtl, number);
            case.set_model_seed(seed);
            let failure = Failure::at_the_end(&case, why, compared);
            summary.failures.push(Failed { number, failure });
        }
    }
}

/// Returns the seed of the model that runs the cases of a campaign from number `first` on.
pub fn model_seed(options: &Options, first: u64) -> u32 {
    (options.seed as u32).wrapping_add(first as u32) | 1
}

/// Returns case number `index` of a campaign on `rtl`.
fn case_on<U: Campaign>(options: &Options, rtl: &Rtl<U>, index: u64) -> (Kind, Case<U>) {
    let (kind, mut case) = case::<U>(options.seed, index, rtl.build());
    case.rtl.clone_from(&options.rtl);
    case.no_assert = rtl.no_assert();
    (kind, case)
}

fn run_one<U: Campaign>(
    dut: &mut Dut<U>,
    rtl: &Rtl<U>,
    collector: &mut Option<cover::Collector<U>>,
    options: &Options,
    index: u64,
    watch: &mut impl Watch<U>,
) -> Summary<U> {
    let (kind, case) = case_on(options, rtl, index);
    let mut outcomes = Outcomes::default();
    if !case.start.is_empty() && !dut.preloads() {
        return Summary {
            outcomes: BTreeMap::from([(NOT_PRELOADED.to_owned(), 1)]),
            ..Summary::not_compared(kind)
        };
    }
    if let Some(collector) = collector {
        collector.begin(&case);
    }
    let judges = match kind {
        Kind::Structured if U::SCALAR.is_some() => Judges::Structured,
        _ => Judges::LockStep,
    };
    let look = &mut (&mut outcomes, (collector.as_mut(), watch));
    let judged = check_on(&case, dut, judges, look);
    let met = collector.as_mut().map(|collector| {
        collector.end();
        collector.hits.take()
    });
    let mut summary = Summary::<U> {
        programs: 1,
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
        Err(failure) => {
            summary.compared = failure.compared;
            summary.failures.push(Failed {
                number: index,
                failure,
            });
        }
    }
    let cycles = summary.compared.cycles;
    summary
        .kinds
        .insert(kind.name().to_owned(), (1, cycles).into());
    summary
}

/// Runs a campaign in threads of this process. `progress` is called after every chunk.
///
/// # Errors
/// A model cannot be opened.
pub fn run<U: Campaign>(
    options: &Options,
    rtl: &Rtl<U>,
    mut progress: impl FnMut(&Summary<U>) + Send,
) -> Result<Summary<U>, String> {
    let mut tally = Tally::new(options, Shard::default());
    let (never, over) = (AtomicBool::new(false), AtomicBool::new(false));
    let bins = &Model::new(rtl.build());
    drive(
        &mut tally,
        &never,
        &over,
        || {
            Ok(|chunk: &Chunk<U>, put: Put<U>| {
                let cases = chunk.cases.clone();
                let runner = Runner::open(options, rtl, Some(bins), cases.start)?;
                let summary = runner.run_all(cases.clone(), &mut ());
                put(Piece {
                    chunk: chunk.number,
                    cases,
                    summary,
                })?;
                Ok(())
            })
        },
        |_| Ok(()),
        |tally| progress(tally.total()),
    )?;
    Ok(tally.into_total())
}
