//! Runs the cases of a campaign in lock-step and counts what they cover.

use std::time::Instant;

use rayon::prelude::*;

use super::lcov::RtlCoverage;
use super::{Collector, Hits, Model, Totals};
use crate::campaign::{self, Limit};
use crate::case::Case;
use crate::dut::{Dut, Rtl};
use crate::lockstep::{self, Outcome};
use crate::unit::Unit;

/// Cases handed out at once, as in a campaign.
const CHUNK: u64 = 256;

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Campaign seed. Never 0.
    pub seed: u64,
    /// When it ends.
    pub limit: Limit,
    /// Worker threads.
    pub jobs: usize,
}

/// What a run covered.
pub struct Covered<U: Unit> {
    /// Counters of the bins.
    pub hits: Hits,
    /// How much was looked at.
    pub totals: Totals,
    /// Clocks compared.
    pub compared: u64,
    /// Counters of the RTL, of a model that has them.
    pub rtl: RtlCoverage,
    /// The first case that did not agree; the run ended with it.
    pub failed: Option<(Case<U>, Outcome<U>)>,
}

/// A thread with its model and what it has counted.
struct Worker<'m, U: Unit> {
    dut: Dut<U>,
    collector: Collector<'m, U>,
    totals: Totals,
    compared: u64,
    failed: Option<(u64, Case<U>, Outcome<U>)>,
}

impl<U: Unit> Worker<'_, U> {
    fn run(&mut self, index: u64, case: Case<U>) {
        let mut golden = case.golden();
        self.collector.begin(&case);
        let outcome = lockstep::run(&case, &mut self.dut, &mut golden, &mut self.collector);
        self.collector.end();
        self.totals.programs += 1;
        self.totals.launches += outcome.compared.launches;
        self.compared += outcome.compared.clocks;
        let agreed = outcome.mismatch.is_none() && outcome.stopped.is_none();
        if !agreed && self.failed.is_none() {
            self.failed = Some((index, case, outcome));
        }
    }
}

/// Runs the cases of the campaign with this seed ([`campaign::case`]), the same ones whatever the jobs.
/// `progress` is called after every chunk with what has been looked at.
///
/// # Errors
/// A model or the threads cannot be made; counters of the RTL cannot be read.
pub fn run<U: Unit>(
    options: &Options,
    model: &Model<U>,
    rtl: &Rtl<U>,
    mut progress: impl FnMut(&Totals, &Hits),
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
            totals: Totals::default(),
            compared: 0,
            failed: None,
        });
    }
    let mut next = 0;
    loop {
        let mut covered = gather(model, &workers);
        progress(&covered.totals, &covered.hits);
        let chunk = match options.limit {
            Limit::Programs(n) => CHUNK.min(n.saturating_sub(next)),
            Limit::Clocks(n) if covered.totals.clocks >= n => 0,
            Limit::Time(t) if started.elapsed() >= t && next > 0 => 0,
            _ => CHUNK,
        };
        let failed = workers.iter_mut().filter_map(|w| w.failed.take());
        covered.failed = failed
            .min_by_key(|(index, ..)| *index)
            .map(|(_, case, outcome)| (case, outcome));
        if chunk == 0 || covered.failed.is_some() {
            for worker in &workers {
                covered.rtl.merge(worker.dut.coverage()?);
            }
            return Ok(covered);
        }
        pool.install(|| {
            workers.par_iter_mut().enumerate().for_each(|(n, worker)| {
                for index in (next..next + chunk).skip(n).step_by(options.jobs) {
                    let (_, case) = campaign::case::<U>(options.seed, index, rtl.build());
                    worker.run(index, case);
                }
            });
        });
        next += chunk;
    }
}

/// What all workers have counted.
fn gather<U: Unit>(model: &Model<U>, workers: &[Worker<U>]) -> Covered<U> {
    let mut covered = Covered {
        hits: model.no_hits(),
        totals: Totals::default(),
        compared: 0,
        rtl: RtlCoverage::default(),
        failed: None,
    };
    for worker in workers {
        covered.hits.add(&worker.collector.hits);
        covered.totals.programs += worker.totals.programs;
        covered.totals.launches += worker.totals.launches;
        covered.totals.clocks += worker.collector.clocks;
        covered.totals.steps += worker.collector.steps;
        covered.compared += worker.compared;
    }
    covered
}
