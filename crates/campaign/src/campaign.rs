//! Random campaigns: many cases in lock-step. The same seed gives the same cases for any number of jobs.
//!
//! A campaign is one of programs or one of streams of pins ([`Drawn`]). A case depends only on design, campaign seed, case number and
//! build ([`Drawn::draw`]). Cases run in chunks ([`Runner`]): the programs of a chunk share a fresh model, each stream has one of its own.
//! The results of the chunks are added in the order of their numbers ([`Tally`]). The totals of a
//! campaign therefore depend neither on the number of threads, processes or shards, nor on interruptions ([`results`]),
//! unless programs run on RTL that shows X or keeps something that reset does not reach. A test of your own unit needs only [`fuzz()`].

mod drawn;
mod fuzz;
mod programs;
#[cfg(feature = "campaign")]
pub mod results;
mod streams;
mod tally;

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};
use std::ops::{AddAssign, Range};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cover::{Bins, Met};
use reconverge_bench::check::close;
pub use reconverge_bench::check::replay;
use reconverge_bench::design::Design;
use reconverge_bench::dut::{Dut, Rtl};
use reconverge_bench::failure::{Cause, Failure};
use reconverge_bench::json::{Hex, count, map};
use reconverge_bench::lockstep::Compared;
use reconverge_bench::stream::CYCLES;
use reconverge_program::environment::draw_word;

pub use drawn::{Drawn, Other, Shrunk};
pub use fuzz::{StillFails, found, fuzz, ran, saved, saved_agree, still_fails};
pub use programs::{Pace, case, recorded};
pub use reconverge_bench::search::{Budget, Follow};
pub use streams::PinBins;
pub use tally::{Chunk, Piece, Put, Shard, Tally, drive};

/// Programs handed out at once ([`Drawn::CHUNK`]).
pub const CHUNK: u64 = 256;
/// Number of cases of one chunk that crash or hang their process after which the campaign is given up. Each case that hangs
/// takes as long as its time limit.
pub const MAX_LOST: usize = 8;
/// Number of failed programs after which a campaign or a shard of it is given up, with the chunk in which that is reached. RTL that
/// is wrong in its first cycles compares next to nothing, and would reach no limit of cycles.
pub const MAX_FAILED: usize = 1000;
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
    pub rtl: Option<PathBuf>,
    /// Cycles of a stream that is not long, 1 to [`MAX_CYCLES`](reconverge_bench::stream::MAX_CYCLES). Without effect on programs.
    pub cycles: usize,
    /// The folder in which [`fuzz()`] saves a failing case, its dump and its view. Cases that are there run first. `None`: nothing is read
    /// or written.
    pub out: Option<PathBuf>,
    /// Limits within which [`fuzz()`] shrinks a failing case.
    pub budget: Budget,
}

impl Default for Options {
    /// Returns settings for two million cycles (well under a minute) with seed 1, one job per processor, up to the first
    /// failure, which is saved in `failures`.
    fn default() -> Self {
        Options {
            seed: 1,
            limit: Limit::Cycles(2_000_000),
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            keep_going: false,
            rtl: None,
            cycles: CYCLES,
            out: Some(PathBuf::from("failures")),
            budget: Budget::default(),
        }
    }
}

impl Options {
    /// Sets the seed; not 0.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Options { seed, ..self }
    }
    /// Ends the campaign after this many cases.
    #[must_use]
    pub fn cases(self, cases: u64) -> Self {
        let limit = Limit::Programs(cases);
        Options { limit, ..self }
    }
    /// Sets the number of cycles of a stream that is not long.
    #[must_use]
    pub fn cycles(self, cycles: usize) -> Self {
        Options { cycles, ..self }
    }
    /// Sets the folder for a failing case.
    #[must_use]
    pub fn out(self, out: impl Into<PathBuf>) -> Self {
        let out = Some(out.into());
        Options { out, ..self }
    }
}

/// The result of a campaign or of some of its cases.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Summary<C: Drawn> {
    /// Programs run.
    pub programs: u64,
    /// How much was compared.
    pub compared: Compared,
    /// Cycles of these in which the reset was asserted; counted for streams.
    pub resets: u64,
    /// Cycles of these in which a field was not compared, by its name; counted for streams.
    #[serde(deserialize_with = "map")]
    pub hidden: BTreeMap<String, u64>,
    /// How much of each kind was run.
    #[serde(deserialize_with = "map")]
    pub kinds: BTreeMap<String, OfKind>,
    /// Number of programs by the way in which they ended.
    #[serde(deserialize_with = "map")]
    pub outcomes: BTreeMap<String, u64>,
    /// How much the scalar judge compared.
    pub judged: ByScalar,
    /// Bins that were hit, by their numbers in [`Bins`]. Empty if hits were not counted ([`Tally::goal`]).
    pub bins: Met,
    /// Cases that failed, in the order of their numbers.
    pub failures: Vec<Failed<C>>,
    /// The campaign, or one of the shards that are added up here, ended because [`MAX_FAILED`] programs had failed.
    #[serde(skip)]
    pub too_many: Option<usize>,
    /// How long the cases of each kind ran, of those that a process of this run has judged. No result depends on it, and none that is saved has
    /// it.
    #[serde(skip)]
    pub took: Took,
}

/// How long the cases of each kind ran.
pub type Took = BTreeMap<String, Duration>;

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
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Failed<C: Drawn> {
    /// Number of the case in the campaign.
    pub number: u64,
    /// The case and its failure.
    pub failure: Failure<C>,
}

impl<C: Drawn> Failed<C> {
    /// Returns the failure of case number `index` of a campaign, which crashed or hung its process on a model with the seed
    /// `seed`, or on one of its own.
    pub fn lost(
        options: &Options,
        rtl: &Rtl<C::Design>,
        index: u64,
        cause: Cause<C::Design>,
        seed: u32,
    ) -> Self {
        let mut case = case_on::<C>(options, rtl, index).unwrap_or_else(|failure| *failure.case);
        if !C::OWN_MODEL {
            case.set_model_seed(seed);
        }
        Failed {
            number: index,
            failure: Failure::new(&case, cause, Compared::default()),
        }
    }
}

// Derived, it would exist only for cases that have it.
impl<C: Drawn> Debug for Summary<C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let failures = self.failures.iter().map(|failed| &failed.failure);
        f.debug_struct("Summary")
            .field("programs", &self.programs)
            .field("compared", &self.compared)
            .field("failures", &failures.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl<C: Drawn> Default for Summary<C> {
    fn default() -> Self {
        Summary {
            programs: 0,
            compared: Compared::default(),
            resets: 0,
            hidden: BTreeMap::new(),
            kinds: BTreeMap::new(),
            outcomes: BTreeMap::new(),
            judged: ByScalar::default(),
            bins: Met::default(),
            failures: Vec::new(),
            too_many: None,
            took: Took::new(),
        }
    }
}

impl<C: Drawn> Summary<C> {
    /// Returns the summary of case number `index`, of which nothing was compared, with its failure.
    fn not_compared(index: u64, failure: Failure<C>) -> Self {
        let mut summary = Summary::default();
        summary.fails(index, failure);
        summary.of_one(index)
    }

    /// Makes this the summary of the one case number `index`.
    fn of_one(mut self, index: u64) -> Self {
        self.programs = 1;
        let kind = C::kind(index).to_string();
        self.kinds.insert(kind, (1, self.compared.cycles).into());
        self
    }

    /// Records the failure of case number `number`.
    pub(crate) fn fails(&mut self, number: u64, failure: Failure<C>) {
        self.compared = failure.compared;
        self.failures.push(Failed { number, failure });
    }

    /// Adds the summary of later cases.
    pub fn add(&mut self, other: Self) {
        self.programs += other.programs;
        self.compared += other.compared;
        self.resets += other.resets;
        for (field, cycles) in other.hidden {
            *self.hidden.entry(field).or_default() += cycles;
        }
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
        for (kind, took) in other.took {
            let all = self.took.entry(kind).or_default();
            // A worker may say anything.
            *all = all.saturating_add(took);
        }
    }

    /// Returns true if the campaign ends with this summary: it has a failure and `keep_going` is not set, or it is given up.
    pub fn ends(&self, options: &Options) -> bool {
        !options.keep_going && !self.failures.is_empty() || self.given_up().is_some()
    }

    /// Returns why the campaign is given up, if it is.
    pub fn given_up(&self) -> Option<GivenUp> {
        let mut chunks = self
            .failures
            .chunk_by(|a, b| a.number / C::CHUNK == b.number / C::CHUNK);
        let lost = chunks.find_map(|chunk| {
            let mut lost = chunk.iter().filter(|failed| failed.failure.lost());
            let last = lost.nth(MAX_LOST - 1)?;
            Some(GivenUp::Lost {
                cases: MAX_LOST,
                of: last.number % C::CHUNK + 1,
            })
        });
        lost.or(self.too_many.map(GivenUp::Failed))
    }

    /// Returns the summary of case number `index` of a campaign, which crashed or hung its process on a model with the seed
    /// `seed`.
    pub fn lost(
        options: &Options,
        rtl: &Rtl<C::Design>,
        index: u64,
        cause: Cause<C::Design>,
        seed: u32,
    ) -> Self {
        let failed = Failed::lost(options, rtl, index, cause, seed);
        Self::not_compared(index, failed.failure)
    }

    /// Returns what the cases hardly tested ([`Bins::gaps`]); `model` has the bins of their build.
    pub fn gaps(&self, model: &C::Bins) -> Vec<String> {
        let mut gaps = model.gaps(&self.bins, self.compared.cycles, self.resets);
        let never = |cycles: u64| cycles >= self.compared.cycles && cycles > 0;
        let never = self.hidden.iter().filter(|(_, cycles)| never(**cycles));
        gaps.extend(never.map(|(field, _)| format!("field {field} was never compared")));
        gaps
    }

    /// Returns the summary as JSON; `model` has the bins of its build.
    pub fn to_json(&self, options: &Options, model: &C::Bins) -> Value {
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
            "unit": C::Design::NAME,
            "seed": Hex(options.seed),
            "programs": self.programs,
            "launches": self.compared.launches,
            "cycles": self.compared.cycles,
            "instructions": self.compared.steps,
            "fields": C::Design::fields().len(),
            "kinds": kinds,
            "outcomes": self.outcomes,
            "judged": {
                "programs": self.judged.programs,
                "lanes": self.judged.lanes,
                "instructions": self.judged.instructions,
            },
            "seen": seen,
            "not_seen": self.gaps(model),
            "mismatches": failures,
        })
    }
}

/// Runs cases of a campaign in sequence: on one model, or each on its own ([`Drawn::OWN_MODEL`]).
pub struct Runner<'a, C: Drawn> {
    options: &'a Options,
    rtl: &'a Rtl<C::Design>,
    /// Seed of the model that the cases share.
    seed: u32,
    /// This model, unless each case has its own; the error says why there is no fresh one after the last failure.
    shared: Option<Result<Dut<C::Design>, String>>,
    collector: Option<C::Collector<'a>>,
    /// The last case on the shared model, and what it compared.
    last: Option<(u64, Compared)>,
}

impl<'a, C: Drawn> Runner<'a, C> {
    /// Opens a fresh model of `rtl`, for cases from number `first` on, unless each case has its own. The contents of its registers without
    /// reset depend only on campaign seed and `first`. `bins` are those of the build of `rtl`; `None`: hits are not counted.
    ///
    /// # Errors
    /// The model cannot be opened.
    pub fn open(
        options: &'a Options,
        rtl: &'a Rtl<C::Design>,
        bins: Option<&'a C::Bins>,
        first: u64,
    ) -> Result<Self, String> {
        let seed = model_seed(options, first);
        let shared = match C::OWN_MODEL {
            true => None,
            false => Some(Ok(rtl.open(seed)?)),
        };
        Ok(Runner {
            options,
            rtl,
            seed,
            shared,
            collector: bins.map(C::collector),
            last: None,
        })
    }

    /// Runs case number `index`; `progress` is called with the cycle from time to time.
    pub fn run(&mut self, index: u64, progress: &mut impl FnMut(u64)) -> Summary<C> {
        let case = match case_on::<C>(self.options, self.rtl, index) {
            Ok(case) => case,
            Err(failure) => return Summary::not_compared(index, *failure),
        };
        let seed = case.model_seed();
        let opened = self.shared.take();
        let mut dut = match opened.unwrap_or_else(|| self.rtl.open(seed)) {
            Ok(dut) => dut,
            Err(why) => {
                if !C::OWN_MODEL {
                    self.shared = Some(Err(why.clone()));
                }
                let failure = Failure::new(&case, Cause::NotRun(why), Compared::default());
                return Summary::not_compared(index, failure);
            }
        };
        let mut summary = case.run_on(index, &mut dut, self.collector.as_mut(), progress);
        let failed = !summary.failures.is_empty();
        if C::OWN_MODEL && !failed {
            ended(dut, &case, index, summary.compared, &mut summary);
        } else if !C::OWN_MODEL {
            self.last = Some((index, summary.compared));
            // A stopped model cannot be used again. Any other may be in a state that correct RTL never reaches, in which
            // assertions fail before the next reset has ended.
            let next = match failed {
                true => self.rtl.open(seed),
                false => Ok(dut),
            };
            self.seed = next.as_ref().map_or(self.seed, Dut::seed);
            self.shared = Some(next);
        }
        summary.of_one(index)
    }

    /// Runs `cases`, or those up to the one that ends the campaign, as the last ones on the model.
    pub fn run_all(mut self, cases: Range<u64>) -> Summary<C> {
        let mut total = Summary::default();
        for index in cases {
            total.add(self.run(index, &mut |_| ()));
            if total.ends(self.options) {
                break;
            }
        }
        self.close(&mut total);
        total
    }

    /// Returns the seed of the model that the cases share.
    pub fn seed(&self) -> u32 {
        self.seed
    }

    /// Ends the simulation. If a `final` block of the RTL says that something is wrong, the last case, which `summary`
    /// includes, fails with [`Cause::Stopped`], unless it has failed already.
    pub fn close(self, summary: &mut Summary<C>) {
        if let (Some(Ok(dut)), Some((number, compared))) = (self.shared, self.last) {
            let case = case_on::<C>(self.options, self.rtl, number);
            let case = case.unwrap_or_else(|failure| *failure.case);
            ended(dut, &case, number, compared, summary);
        }
    }
}

/// Ends the simulation on `dut`, on which `case`, number `number`, ran last: [`Runner::close`].
fn ended<C: Drawn>(
    dut: Dut<C::Design>,
    case: &C,
    number: u64,
    compared: Compared,
    summary: &mut Summary<C>,
) {
    if let Err(failure) = close(dut, case, compared)
        && (summary.failures.iter()).all(|failed| failed.number != number)
    {
        summary.failures.push(Failed { number, failure });
    }
}

/// Returns the seed of case number `index` of a campaign with `seed`. The design's name is mixed in, so that two designs never use the
/// same random numbers.
fn own_seed<D: Design>(seed: u64, index: u64) -> u64 {
    let bytes = D::NAME.bytes();
    let name = bytes.fold(0, |a: u32, b| a.wrapping_mul(31).wrapping_add(b.into()));
    draw_word(seed, name, index).max(1)
}

/// Returns the seed of the model that runs the cases of a campaign from number `first` on.
pub fn model_seed(options: &Options, first: u64) -> u32 {
    (options.seed as u32).wrapping_add(first as u32) | 1
}

/// Returns case number `index` of a campaign on `rtl`.
///
/// # Errors
/// The golden model panics while the case is drawn.
fn case_on<C: Drawn>(
    options: &Options,
    rtl: &Rtl<C::Design>,
    index: u64,
) -> Result<C, Box<Failure<C>>> {
    let on_rtl = |case: &mut C| case.on_rtl(options.rtl.as_deref(), rtl.no_assert(), None);
    let mut drawn = C::draw(options.seed, index, options.cycles, rtl.build());
    match &mut drawn {
        Ok(case) => on_rtl(case),
        Err(failure) => on_rtl(&mut failure.case),
    }
    drawn
}

/// Runs a campaign in threads of this process. `progress` is called after every chunk.
///
/// # Errors
/// A model cannot be opened.
pub fn run<C: Drawn>(
    options: &Options,
    rtl: &Rtl<C::Design>,
    mut progress: impl FnMut(&Summary<C>) + Send,
) -> Result<Summary<C>, String> {
    let mut tally = Tally::new(options, Shard::default());
    let (never, over) = (AtomicBool::new(false), AtomicBool::new(false));
    let bins = &C::Bins::new(rtl.build());
    drive(
        &mut tally,
        &never,
        &over,
        || {
            Ok(|chunk: &Chunk<C>, put: Put<C>| {
                let cases = chunk.cases.clone();
                let runner = Runner::<C>::open(options, rtl, Some(bins), cases.start)?;
                let summary = runner.run_all(cases.clone());
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
