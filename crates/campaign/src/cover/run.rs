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

use super::guide::{Guide, KeptCases, Trail};
use super::lcov::RtlCoverage;
use super::{Collector, Hits, Model, Ran, Totals};
use crate::campaign::{self, Limit, results};
use crate::grammar::Campaign;
use reconverge_bench::check::close;
use reconverge_bench::dut::{Dut, Rtl};
use reconverge_bench::failure::Failure;
use reconverge_bench::lockstep::Compared;
use reconverge_program::case::Case;
use reconverge_program::environment::draw_word;
use reconverge_program::judges::{Judges, check_on};
use reconverge_program::program::Records;
use reconverge_program::watch::Pulse;

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
    /// Number of cases after which one chunk is run case by case, with a call of [`Follow::begins`] before each case. Set if
    /// an earlier run was lost in this chunk. The results are the same as in parallel.
    pub careful: Option<u64>,
}

impl Options {
    /// Returns what a coverage file says of the run with these options on `rtl`, before its first cycle.
    pub fn ran<U: Campaign>(&self, rtl: &Rtl<U>) -> Ran {
        Ran {
            seed: self.seed,
            guided: self.guided,
            rtl: rtl.contents().to_owned(),
            assertions: rtl.assertions(),
            program: results::program::<U>(),
            cycles: 0,
            from: "this run".to_owned(),
        }
    }
}

/// Observes a run.
pub trait Follow<U: Campaign>: Sync {
    /// Called after each chunk with the coverage so far. Returns true if the run is to continue.
    fn chunk(&self, _covered: &Covered<U>) -> bool {
        true
    }
    /// Called before each case of the careful chunk.
    fn begins(&self, _case: &Case<U>) {}
    /// Called from time to time, in any thread, while a case runs.
    fn pulse(&self) {}
}

/// Ignores the run.
impl<U: Campaign> Follow<U> for () {}

/// The coverage of a run.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Covered<U: Campaign> {
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
    pub failed: Option<Failure<Case<U>>>,
}

/// A thread with its model and its counters.
struct Worker<'m, U: Campaign> {
    dut: Dut<U>,
    /// Counters of the present case.
    collector: Collector<'m, U>,
    /// Counters of all cases.
    hits: Hits,
    totals: Totals,
    compared: u64,
    failed: Option<(u64, Failure<Case<U>>)>,
    /// The last case, and what it compared.
    last: Option<(Case<U>, Compared)>,
    found: KeptCases<U>,
}

impl<U: Campaign> Worker<'_, U> {
    /// Runs a case. Keeps it for `guide`, if there is one and the case hit a bin sooner.
    fn run(
        &mut self,
        number: u64,
        case: Case<U>,
        guide: Option<&Guide<U>>,
        follow: &dyn Follow<U>,
    ) {
        if !case.start.is_empty() && !self.dut.preloads() {
            self.totals.programs += 1;
            return;
        }
        self.collector.hits.clear();
        self.collector.begin(&case);
        let mut trail = Trail::new(&mut self.collector, &case);
        // The scalar judge does not affect bins; only `fuzz` asks it.
        let watch = &mut (&mut trail, Pulse(|_| follow.pulse()));
        let judged = check_on(
            &case,
            &mut self.dut,
            Judges::LockStep,
            Records::judge,
            watch,
        );
        trail.collector.end();
        if let Some(guide) = guide {
            self.found.keep(guide, number, &case, trail);
        }
        self.hits.add(&self.collector.hits);
        let compared = match &judged {
            Ok(agreed) => agreed.compared,
            Err(failure) => failure.compared,
        };
        self.totals.programs += 1;
        self.totals.launches += compared.launches;
        self.compared += compared.cycles;
        if let Err(failure) = judged
            && self.failed.is_none()
        {
            self.failed = Some((number, failure));
        }
        self.last = Some((case, compared));
    }
}

/// Runs the cases of the campaign with this seed ([`campaign::case`]), and in a guided run also their children. The cases do
/// not depend on the number of jobs. `follow` observes the run. `model` must have the build of `rtl`.
///
/// # Errors
/// A model cannot be opened, the threads cannot be created, or the counters of the RTL cannot be read.
pub fn run<U: Campaign>(
    options: &Options,
    model: &Model<U>,
    rtl: &Rtl<U>,
    follow: &dyn Follow<U>,
) -> Result<Covered<U>, String> {
    let started = Instant::now();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(options.jobs)
        .build()
        .map_err(|e| e.to_string())?;
    let mut workers = Vec::new();
    for n in 0..options.jobs as u32 {
        workers.push(Worker {
            dut: rtl.open((options.seed as u32).wrapping_add(n) | 1)?,
            collector: Collector::new(model),
            hits: model.no_hits(),
            totals: Totals::default(),
            compared: 0,
            failed: None,
            last: None,
            found: KeptCases::default(),
        });
    }
    let mut guide = Guide::new(model);
    // Cases so far and cycles, each for the campaign and for the children.
    let (mut cases, mut cycles) = ([0, 0], [0, 0]);
    let mut children = false;
    let mut reached = Vec::new();
    loop {
        let mut covered = gather(model, &workers);
        let hit = model.hit(&covered.hits);
        for share in &SHARES[reached.len()..] {
            if 100 * hit >= share * model.reachable() {
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
                match worker.dut.coverage() {
                    Ok(rtl) => covered.rtl.merge(rtl),
                    // What failed counts more than the counters.
                    Err(_) if covered.failed.is_some() => {}
                    Err(why) => return Err(why),
                }
                // What a `final` block says is not said by a single case.
                let closed = match worker.last {
                    Some((last, compared)) => close(worker.dut, &last, compared),
                    None => {
                        // Nor is it the campaign's, if no case ran.
                        let _ = worker.dut.close();
                        Ok(())
                    }
                };
                covered.failed = covered.failed.or(closed.err());
            }
            return Ok(covered);
        }
        children = options.guided && cycles[1] < cycles[0];
        for worker in &mut workers {
            guide.learn(std::mem::take(&mut worker.found));
        }
        if children {
            guide.aim(&covered.hits);
        }
        let first = cases[usize::from(children)];
        let run = |worker: &mut Worker<U>, index: u64, careful: bool| {
            let mut case = match children {
                false => campaign::case::<U>(options.seed, index, rtl.build()).1,
                true => child(&guide, options.seed, index, rtl),
            };
            if careful {
                // Should the case end the process, it is saved with it.
                case.set_model_seed(worker.dut.seed());
                follow.begins(&case);
            }
            let guide = options.guided.then_some(&guide);
            worker.run(done + index - first, case, guide, follow);
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
fn child<U: Campaign>(guide: &Guide<U>, seed: u64, index: u64, rtl: &Rtl<U>) -> Case<U> {
    let mut rng = Pcg64Mcg::seed_from_u64(draw_word(seed, 0, index));
    // If there is no child, take a case of the campaign with a number that the campaign does not reach.
    let mut case = guide
        .child(&mut rng)
        .unwrap_or_else(|| campaign::case::<U>(seed, u64::MAX - index, rtl.build()).1);
    U::rename(&mut case.program, format!("guided-{index}"));
    case
}

/// Returns the sum of all workers' counters.
fn gather<U: Campaign>(model: &Model<U>, workers: &[Worker<U>]) -> Covered<U> {
    let mut covered = Covered {
        hits: model.no_hits(),
        totals: Totals::default(),
        compared: 0,
        reached: Vec::new(),
        rtl: RtlCoverage::default(),
        failed: None,
    };
    for worker in workers {
        covered.hits.add(&worker.hits);
        covered.totals.programs += worker.totals.programs;
        covered.totals.launches += worker.totals.launches;
        covered.totals.cycles += worker.collector.cycles;
        covered.totals.steps += worker.collector.steps;
        covered.compared += worker.compared;
    }
    covered
}
