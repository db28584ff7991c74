//! Runs the cases of a campaign in lock-step and counts the bins that they hit.
//!
//! A guided run spends half of its cycles on children: cases made from those that came close to a missed or rare bin. The
//! table gives the millions of cycles needed to hit a share of the reachable bins: the median of seven seeds, with the least
//! and the most (`benches/guided.rs`, `guided bins`; at most 12 million cycles):
//!
//! | unit | | 90 % | 95 % | 99 % | 100 % |
//! |---|---|---|---|---|---|
//! | r500 | campaign | 0.11 (0.11..0.11) | 0.27 (0.19..0.27) | 1.04 (0.79..1.47) | 4.94 (3.80..7.36) |
//! | | guided | 0.11 (0.09..0.14) | 0.20 (0.19..0.21) | 0.52 (0.41..0.69) | 4.02 (2.27..7.64) |
//! | r700 | campaign | 0.19 (0.17..0.22) | 0.42 (0.36..0.54) | 1.71 (1.57..2.06) | 9.44 (5.03..more) |
//! | | guided | 0.20 (0.19..0.25) | 0.36 (0.32..0.43) | 0.91 (0.75..1.13) | 5.66 (3.12..9.47) |
//! | spa5 | campaign | 0.12 (0.12..0.13) | 0.25 (0.21..0.31) | 1.12 (0.96..1.31) | 9.33 (3.25..more) |
//! | | guided | 0.11 (0.09..0.12) | 0.17 (0.15..0.22) | 0.43 (0.37..0.47) | 2.64 (1.65..3.08) |
//!
//! A guided run helps most if the generators do not know the build. For spa5 with BRX=1 the campaigns with seeds 1 to 3
//! missed 22, 22 and 16 of the 2,338 bins of that version after 6 million cycles; the guided runs missed 3, 0 and 1.
//!
//! A guided run helps with bins only: it does not catch mutants of the RTL sooner (`guided mutants`). Of 1,203 mutants of
//! r500, the campaign with one seed catches all but 70 within 100,000 cycles; neither a campaign nor a guided run catches
//! these 70 with two seeds and a million cycles. Of 840 mutants of spa5 with BRX=1, it leaves 6 that are caught later, on
//! average after 100,000 cycles by the campaign and after 110,000 by the guided run.
//!
//! Only bins guide a run. After 300,000 cycles a campaign has covered all lines and branches of our units, and all but 0 to 3
//! of the bits that change in 10 million cycles, while a twentieth of the bins is still missed. Code coverage, which guides
//! fuzzers such as libFuzzer, would therefore give as little guidance.

use std::time::Instant;

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::lcov::RtlCoverage;
use super::{Bins as _, Declaration, Hits, Ran, Totals};
use crate::campaign::{Drawn, Limit, results};
use reconverge_bench::check::{Judged, close};
use reconverge_bench::design::Design;
use reconverge_bench::dut::{Dut, Rtl};
use reconverge_bench::failure::{Cause, Failure};
use reconverge_bench::lockstep::Compared;
use reconverge_bench::stream::CYCLES;
use reconverge_program::environment::draw_word;

/// Cases handed out at once. A run ends with a whole chunk, so that its length does not depend on the number of jobs.
const CHUNK: u64 = 64;
/// Shares of the reachable bins, in percent, for which a run reports when it reached them.
const SHARES: [usize; 4] = [90, 95, 99, 100];

/// Settings of a run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Options {
    /// Campaign seed. Never 0.
    pub seed: u64,
    /// When the run ends.
    pub limit: Limit,
    /// Number of worker threads.
    pub jobs: usize,
    /// Spend half of the cycles on cases made from others that came close to a missed or rare bin.
    pub guided: bool,
    /// Cycles of a stream that is not long, as [`campaign::Options::cycles`](crate::campaign::Options::cycles).
    pub cycles: usize,
    /// Number of cases after which one chunk is run case by case, with a call of [`Follow::begins`] before each case. Set if
    /// an earlier run was lost in this chunk. The results are the same as in parallel.
    pub careful: Option<u64>,
}

impl Options {
    /// Returns what a coverage file says of the run with these options on `rtl`, before its first cycle.
    pub fn ran<D: Design>(&self, rtl: &Rtl<D>) -> Ran {
        Ran {
            seed: self.seed,
            guided: self.guided,
            rtl: rtl.contents().to_owned(),
            assertions: rtl.assertions(),
            program: results::program::<D>(),
            cycles: 0,
            from: "this run".to_owned(),
        }
    }
}

/// What a counter has counted.
#[derive(Clone, Copy)]
pub struct Counts<'c> {
    /// Hits of the last case.
    pub hits: &'c Hits,
    /// Cycles of all cases.
    pub cycles: u64,
    /// Steps of all cases.
    pub steps: u64,
}

/// Cases of which a run counts what they hit.
pub trait Counted: Drawn {
    /// Counts the hits of cases on one thread.
    type Counter<'m>: Send;
    /// What is known of the cases so far, for new ones.
    type Guide<'m>: Sync;
    /// Cases that one thread found for it.
    type Kept: Default + Send;

    /// Returns a counter that has counted nothing.
    fn counter(bins: &Self::Bins) -> Self::Counter<'_>;
    /// Returns what `counter` has counted.
    fn counts<'c>(counter: &'c Self::Counter<'_>) -> Counts<'c>;
    /// Returns a guide that knows nothing.
    fn guide(bins: &Self::Bins) -> Self::Guide<'_>;
    /// Returns whether the case begins in a state that is loaded.
    fn is_preloaded(&self) -> bool {
        false
    }
    /// Judges the case, number `number` of the run, on `dut`, and counts what it hits. Keeps it for the guide, if one is given and the
    /// case hit a bin sooner. `progress` is called from time to time.
    fn count(
        &self,
        number: u64,
        dut: &mut Dut<Self::Design>,
        counter: &mut Self::Counter<'_>,
        guide: Option<(&Self::Guide<'_>, &mut Self::Kept)>,
        progress: &dyn Fn(),
    ) -> Judged<Self>;
    /// Adds the cases found. The order of the threads does not matter.
    fn learn(_guide: &mut Self::Guide<'_>, _kept: Self::Kept) {}
    /// Aims at the bins with the fewest hits in `hits`.
    fn aim(_guide: &mut Self::Guide<'_>, _hits: &Hits) {}
    /// Returns case number `index` of those made from others; `None` if there are none to make it from.
    fn child(_guide: &Self::Guide<'_>, _rng: &mut Pcg64Mcg) -> Option<Self> {
        None
    }
    /// Names a case of a guided run.
    fn name_child(&mut self, _index: u64) {}
}

/// Observes a run.
pub trait Follow<C: Counted>: Sync {
    /// Called after each chunk with the coverage so far. Returns true if the run is to continue.
    fn chunk(&self, _covered: &Covered<C>) -> bool {
        true
    }
    /// Called before each case of the careful chunk.
    fn begins(&self, _case: &C) {}
    /// Called from time to time, in any thread, while a case runs.
    fn pulse(&self) {}
}

/// Ignores the run.
impl<C: Counted> Follow<C> for () {}

/// The coverage of a run.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Covered<C: Counted> {
    /// Hit counters of the bins.
    pub hits: Hits,
    /// How much was run.
    pub totals: Totals,
    /// Cycles compared.
    pub compared: u64,
    /// Shares of the reachable bins in percent, with the number of cycles after which they were hit.
    pub reached: Vec<(usize, u64)>,
    /// Coverage counters of the RTL, if the model has them.
    pub rtl: RtlCoverage,
    /// The first case that failed; it ended the run.
    pub failed: Option<Failure<C>>,
}

/// A thread with its model and its counters.
struct Worker<'m, C: Counted> {
    /// The model that its cases share; `None`: each has its own ([`Drawn::OWN_MODEL`]).
    dut: Option<Dut<C::Design>>,
    /// Counters of the present case.
    counter: C::Counter<'m>,
    /// Counters of all cases.
    hits: Hits,
    totals: Totals,
    compared: u64,
    failed: Option<(u64, Failure<C>)>,
    /// The last case on the shared model, and what it compared.
    last: Option<(C, Compared)>,
    /// What models that have ended counted of the RTL; the error says why that is not known.
    rtl: Result<RtlCoverage, String>,
    found: C::Kept,
}

impl<C: Counted> Worker<'_, C> {
    /// Runs a case. Keeps it for `guide`, if there is one and the case hit a bin sooner.
    fn run(
        &mut self,
        number: u64,
        case: C,
        rtl: &Rtl<C::Design>,
        guide: Option<&C::Guide<'_>>,
        follow: &dyn Follow<C>,
    ) {
        self.totals.programs += 1;
        let opened = match self.dut.take() {
            Some(dut) => Ok(dut),
            None => rtl.open(case.model_seed()),
        };
        let mut dut = match opened {
            Ok(dut) => dut,
            Err(why) => {
                let cause = Cause::NotRun(why);
                return self.fails(number, Failure::new(&case, cause, Compared::default()));
            }
        };
        if case.is_preloaded() && !dut.preloads() {
            self.dut = Some(dut);
            return;
        }
        let guide = guide.map(|guide| (guide, &mut self.found));
        let counter = &mut self.counter;
        let judged = case.count(number, &mut dut, counter, guide, &|| follow.pulse());
        self.hits.add(C::counts(&self.counter).hits);
        let compared = match &judged {
            Ok(agreed) => agreed.compared,
            Err(failure) => failure.compared,
        };
        self.totals.launches += compared.launches;
        self.compared += compared.cycles;
        if let Err(failure) = judged {
            self.fails(number, failure);
        }
        match C::OWN_MODEL {
            true => self.end(number, dut, &case, compared),
            false => {
                self.dut = Some(dut);
                self.last = Some((case, compared));
            }
        }
    }

    fn fails(&mut self, number: u64, failure: Failure<C>) {
        self.failed.get_or_insert((number, failure));
    }

    /// Ends the simulation on `dut`, on which `case` ran last: takes what was counted of the RTL, and the complaint of a `final` block.
    fn end(&mut self, number: u64, mut dut: Dut<C::Design>, case: &C, compared: Compared) {
        match (dut.coverage(), &mut self.rtl) {
            (Ok(counted), Ok(rtl)) => rtl.merge(counted),
            (Err(why), rtl) => *rtl = Err(why),
            (Ok(_), Err(_)) => {}
        }
        if let Err(failure) = close(dut, case, compared) {
            self.fails(number, failure);
        }
    }
}

/// Runs the cases of the campaign with this seed ([`Drawn::draw`]), and in a guided run also their children. The cases do
/// not depend on the number of jobs. `follow` observes the run. `model` must have the build of `rtl`.
///
/// # Errors
/// A model cannot be opened, the threads cannot be created, or the counters of the RTL cannot be read.
pub fn run<C: Counted>(
    options: &Options,
    model: &C::Bins,
    rtl: &Rtl<C::Design>,
    follow: &dyn Follow<C>,
) -> Result<Covered<C>, String> {
    let started = Instant::now();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(options.jobs)
        .build()
        .map_err(|e| e.to_string())?;
    let bins = model.declaration();
    let mut workers = Vec::new();
    for n in 0..options.jobs as u32 {
        let shared = || rtl.open((options.seed as u32).wrapping_add(n) | 1);
        workers.push(Worker {
            dut: (!C::OWN_MODEL).then(shared).transpose()?,
            counter: C::counter(model),
            hits: bins.no_hits(),
            totals: Totals::default(),
            compared: 0,
            failed: None,
            last: None,
            rtl: Ok(RtlCoverage::default()),
            found: C::Kept::default(),
        });
    }
    let mut guide = C::guide(model);
    // Cases so far and cycles, each for the campaign and for the children.
    let (mut cases, mut cycles) = ([0, 0], [0, 0]);
    let mut children = false;
    let mut reached = Vec::new();
    loop {
        let mut covered = gather(bins, &workers);
        let hit = bins.hit(&covered.hits);
        for share in &SHARES[reached.len()..] {
            if 100 * hit >= share * bins.reachable() {
                reached.push((*share, covered.totals.cycles));
            }
        }
        covered.reached.clone_from(&reached);
        let goes_on = follow.chunk(&covered);
        cycles[usize::from(children)] = covered.totals.cycles - cycles[usize::from(!children)];
        let done = cases[0] + cases[1];
        // The time limit does not apply before the careful chunk is done.
        let late = |t| started.elapsed() >= t && done > options.careful.unwrap_or(0);
        let chunk = match options.limit {
            _ if !goes_on => 0,
            Limit::Programs(n) => CHUNK.min(n.saturating_sub(done)),
            Limit::Cycles(n) if covered.totals.cycles >= n => 0,
            Limit::Time(t) if late(t) => 0,
            _ => CHUNK,
        };
        let failed = workers.iter_mut().filter_map(|w| w.failed.take());
        covered.failed = failed
            .min_by_key(|(number, _)| *number)
            .map(|(_, failure)| failure);
        if chunk == 0 || covered.failed.is_some() {
            for mut worker in workers {
                match (worker.dut.take(), worker.last.take()) {
                    (Some(dut), Some((last, compared))) => worker.end(done, dut, &last, compared),
                    // What a `final` block says is not the campaign's, if no case ran.
                    (Some(dut), None) => drop(dut.close()),
                    (None, _) => {}
                }
                match worker.rtl {
                    Ok(rtl) => covered.rtl.merge(rtl),
                    // What failed counts more than the counters.
                    Err(_) if covered.failed.is_some() => {}
                    Err(why) => return Err(why),
                }
                let failed = worker.failed.map(|(_, failure)| failure);
                covered.failed = covered.failed.or(failed);
            }
            return Ok(covered);
        }
        children = options.guided && cycles[1] < cycles[0];
        for worker in &mut workers {
            C::learn(&mut guide, std::mem::take(&mut worker.found));
        }
        if children {
            C::aim(&mut guide, &covered.hits);
        }
        let first = cases[usize::from(children)];
        let run = |worker: &mut Worker<C>, index: u64, careful: bool| {
            let number = done + index - first;
            let drawn = match children {
                false => C::draw(options.seed, index, options.cycles, rtl.build()),
                true => child(&guide, options.seed, index, rtl),
            };
            let mut case = match drawn {
                Ok(case) => case,
                Err(failure) => {
                    worker.totals.programs += 1;
                    return worker.fails(number, *failure);
                }
            };
            if careful {
                // Should the case end the process, it is saved with it.
                if let Some(dut) = &worker.dut {
                    case.set_model_seed(dut.seed());
                }
                follow.begins(&case);
            }
            let guide = options.guided.then_some(&guide);
            worker.run(number, case, rtl, guide, follow);
        };
        let jobs = options.jobs;
        if options.careful == Some(done) {
            for (n, index) in (first..first + chunk).enumerate() {
                run(&mut workers[n % jobs], index, true);
            }
        } else {
            pool.install(|| {
                workers.par_iter_mut().enumerate().for_each(|(n, worker)| {
                    for index in (first..first + chunk).skip(n).step_by(jobs) {
                        run(worker, index, false);
                    }
                });
            });
        }
        cases[usize::from(children)] += chunk;
    }
}

/// Returns child number `index`.
fn child<C: Counted>(
    guide: &C::Guide<'_>,
    seed: u64,
    index: u64,
    rtl: &Rtl<C::Design>,
) -> Result<C, Box<Failure<C>>> {
    let mut rng = Pcg64Mcg::seed_from_u64(draw_word(seed, 0, index));
    // If there is no child, take a case of the campaign with a number that the campaign does not reach.
    let mut case = match C::child(guide, &mut rng) {
        Some(case) => case,
        None => C::draw(seed, u64::MAX - index, CYCLES, rtl.build())?,
    };
    case.name_child(index);
    Ok(case)
}

/// Returns the sum of all workers' counters.
fn gather<C: Counted>(bins: &Declaration, workers: &[Worker<C>]) -> Covered<C> {
    let mut covered = Covered::nothing(bins);
    for worker in workers {
        let counts = C::counts(&worker.counter);
        covered.hits.add(&worker.hits);
        covered.totals.programs += worker.totals.programs;
        covered.totals.launches += worker.totals.launches;
        covered.totals.cycles += counts.cycles;
        covered.totals.steps += counts.steps;
        covered.compared += worker.compared;
    }
    covered
}

impl<C: Counted> Covered<C> {
    /// Returns the coverage of a run in which nothing was counted, whose bins are `bins`.
    pub fn nothing(bins: &Declaration) -> Self {
        Covered {
            hits: bins.no_hits(),
            totals: Totals::default(),
            compared: 0,
            reached: Vec::new(),
            rtl: RtlCoverage::default(),
            failed: None,
        }
    }
}
