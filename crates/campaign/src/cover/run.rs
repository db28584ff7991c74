//! Runs the cases of a campaign in lock-step and counts what they cover.
//!
//! A guided run spends half of its clocks on children: cases made of those that came near to a bin that was
//! missed or is rare. Millions of clocks to reach shares of the reachable bins, median of seven seeds with the
//! least and the most (`benches/guided.rs`, `guided bins`; 12 million clocks at most):
//!
//! | unit | | 90 % | 95 % | 99 % | 100 % |
//! |---|---|---|---|---|---|
//! | r500 | campaign | 0.11 (0.11..0.14) | 0.24 (0.22..0.30) | 0.99 (0.90..1.73) | 5.30 (4.23..6.24) |
//! | | guided | 0.10 (0.09..0.12) | 0.20 (0.19..0.24) | 0.55 (0.53..0.68) | 4.20 (2.42..4.83) |
//! | r700 | campaign | 0.19 (0.14..0.19) | 0.36 (0.34..0.41) | 1.36 (1.28..1.73) | 8.06 (6.26..more) |
//! | | guided | 0.19 (0.15..0.23) | 0.33 (0.30..0.37) | 0.85 (0.64..1.02) | 4.71 (2.31..8.57) |
//! | spa5 | campaign | 0.09 (0.09..0.10) | 0.20 (0.18..0.25) | 0.98 (0.84..1.37) | 4.77 (2.28..5.67) |
//! | | guided | 0.09 (0.09..0.10) | 0.15 (0.11..0.17) | 0.46 (0.39..0.53) | 1.87 (1.26..2.33) |
//!
//! Its use is greatest where the generators do not know the build: of spa5 with BRX=1 the campaign with seeds
//! 1 to 3 missed 22, 22 and 16 of 2,338 bins after 6 million clocks, guided 3, 0 and 1.
//!
//! It is for bins: mutants of the RTL's text are not caught sooner (`guided mutants`). Of 1,203 of r500 the
//! campaign with one seed catches within 100,000 clocks all but 70, which nothing catches with two seeds and a
//! million clocks either way; of 840 of spa5 with BRX=1 it leaves 6 that are caught later, after 100,000 clocks
//! in the mean by the campaign and 110,000 guided.
//!
//! Only bins guide it. Of lines and branches of our units a campaign has all after 300,000 clocks, and of the bits all but 0 to 3
//! of those that 10 million clocks change, when a twentieth of the bins is still missing; a fuzzer
//! that is guided by edges of the code, like libFuzzer, would have as little to go on.

use std::time::Instant;

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::guide::{Found, Guide, Trail};
use super::lcov::RtlCoverage;
use super::{Collector, Hits, Model, Totals};
use crate::campaign::{self, Limit};
use crate::case::Case;
use crate::dut::{Dut, Rtl};
use crate::environment::draw_word;
use crate::failure::Failure;
use crate::grammar::Campaign;
use crate::judges::{Judges, check_on};
use crate::watch::Pulse;

/// Cases handed out at once. A run ends with a whole chunk, so that its length does not depend on the jobs.
const CHUNK: u64 = 64;
/// Shares of the reachable bins, in percent, of which a run tells when it had them.
const SHARES: [usize; 4] = [90, 95, 99, 100];

/// What to run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Options {
    /// Campaign seed. Never 0.
    pub seed: u64,
    /// When it ends.
    pub limit: Limit,
    /// Worker threads.
    pub jobs: usize,
    /// For half of the clocks, cases made of others that came near to a bin that was missed or is rare.
    pub guided: bool,
    /// After so many cases those of one chunk are run one after another, each told of before it begins
    /// ([`Follow::begins`]): a run before this one was lost in this chunk. They do what they do side by side.
    pub careful: Option<u64>,
}

/// Looks on at a run.
pub trait Follow<U: Campaign>: Sync {
    /// What is covered so far, after each chunk. Whether the run is to go on.
    fn chunk(&self, _covered: &Covered<U>) -> bool {
        true
    }
    /// A case of the careful chunk is about to begin.
    fn begins(&self, _case: &Case<U>) {}
    /// A case goes on, in any thread.
    fn pulse(&self) {}
}

/// Ignores what happens.
impl<U: Campaign> Follow<U> for () {}

/// What a run covered.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Covered<U: Campaign> {
    /// Counters of the bins.
    pub hits: Hits,
    /// How much was looked at.
    pub totals: Totals,
    /// Clocks compared.
    pub compared: u64,
    /// Percent of the reachable bins, and clocks after which so many were hit.
    pub reached: Vec<(usize, u64)>,
    /// Counters of the RTL, of a model that has them.
    pub rtl: RtlCoverage,
    /// The first case that did not agree; the run ended with it.
    pub failed: Option<Failure<Case<U>>>,
}

/// A thread with its model and what it has counted.
struct Worker<'m, U: Campaign> {
    dut: Dut<U>,
    /// Of one case.
    collector: Collector<'m, U>,
    /// Of all.
    hits: Hits,
    totals: Totals,
    compared: u64,
    failed: Option<(u64, Failure<Case<U>>)>,
    found: Found<U>,
}

impl<U: Campaign> Worker<'_, U> {
    /// What is worth it is kept for `guide`, if there is one.
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
        // The scalar judge looks at no bins: `fuzz` asks it.
        let watch = &mut (&mut trail, Pulse(|_| follow.pulse()));
        let judged = check_on(&case, &mut self.dut, Judges::LockStep, watch);
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
        self.compared += compared.clocks;
        if let Err(failure) = judged
            && self.failed.is_none()
        {
            self.failed = Some((number, failure));
        }
    }
}

/// Runs the cases of the campaign with this seed ([`campaign::case`]); in a guided run their children too. The
/// same ones whatever the jobs. `follow` looks on. `model` is of the build of `rtl`.
///
/// # Errors
/// A model or the threads cannot be made; counters of the RTL cannot be read.
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
            found: Found::default(),
        });
    }
    let mut guide = Guide::new(model);
    // Of the campaign and of the children: cases so far, and clocks.
    let (mut cases, mut clocks) = ([0, 0], [0, 0]);
    let mut children = false;
    let mut reached = Vec::new();
    loop {
        let mut covered = gather(model, &workers);
        let hit = model.hit(&covered.hits);
        for share in &SHARES[reached.len()..] {
            if 100 * hit >= share * model.reachable() {
                reached.push((*share, covered.totals.clocks));
            }
        }
        covered.reached.clone_from(&reached);
        let goes_on = follow.chunk(&covered);
        clocks[usize::from(children)] = covered.totals.clocks - clocks[usize::from(!children)];
        let done = cases[0] + cases[1];
        // Time is not up before what a run was lost in is found.
        let late = |t| started.elapsed() >= t && done > options.careful.unwrap_or(0);
        let chunk = match options.limit {
            _ if !goes_on => 0,
            Limit::Programs(n) => CHUNK.min(n.saturating_sub(done)),
            Limit::Clocks(n) if covered.totals.clocks >= n => 0,
            Limit::Time(t) if late(t) => 0,
            _ => CHUNK,
        };
        let failed = workers.iter_mut().filter_map(|w| w.failed.take());
        covered.failed = failed
            .min_by_key(|(number, _)| *number)
            .map(|(_, failure)| failure);
        if chunk == 0 || covered.failed.is_some() {
            for worker in &mut workers {
                covered.rtl.merge(worker.dut.coverage()?);
            }
            return Ok(covered);
        }
        children = options.guided && clocks[1] < clocks[0];
        for worker in &mut workers {
            guide.learn(std::mem::take(&mut worker.found));
        }
        if children {
            guide.aim(&covered.hits);
        }
        let first = cases[usize::from(children)];
        let run = |worker: &mut Worker<U>, index: u64, careful: bool| {
            let case = match children {
                false => campaign::case::<U>(options.seed, index, rtl.build()).1,
                true => child(&guide, options.seed, index, rtl),
            };
            if careful {
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

/// Child number `index`.
fn child<U: Campaign>(guide: &Guide<U>, seed: u64, index: u64, rtl: &Rtl<U>) -> Case<U> {
    let mut rng = Pcg64Mcg::seed_from_u64(draw_word(seed, 0, index));
    // Where nothing leads anywhere, one of the campaign's that it does not come to.
    let mut case = guide
        .child(&mut rng)
        .unwrap_or_else(|| campaign::case::<U>(seed, u64::MAX - index, rtl.build()).1);
    U::rename(&mut case.program, format!("guided-{index}"));
    case
}

/// What all workers have counted.
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
        covered.totals.clocks += worker.collector.clocks;
        covered.totals.steps += worker.collector.steps;
        covered.compared += worker.compared;
    }
    covered
}
