//! Runs the cases of a campaign in lock-step and counts what they cover.
//!
//! A guided run makes every other case from one that hit what few had hit: other instructions, conditions,
//! or another seed. Measured with 20 million clocks, one job and seeds 1 to 3, it is behind the campaign
//! itself, whose generators are weighted for the bins (millions of clocks to 99 and 100 %):
//!
//! | unit | campaign | guided |
//! |---|---|---|
//! | r500 | 1.1 1.1 1.2, 3.7 9.1 4.0 | 1.5 1.2 1.1, 7.5 12.2 5.7 |
//! | r700 | 1.2 1.4 1.2, 5.3 9.4 4.8 | 1.8 2.2 2.0, 12.8 11.6 13.4 |
//! | spa5 | 0.9 0.7 1.1, 3.9 6.6 4.4 | 1.4 1.4 1.2, 5.6 5.6 6.1 |
//!
//! It is of use where the generators do not know the build: of spa5 with BRX=1 it missed 4, 10 and 11 of 2,338
//! bins after 10 million clocks, the campaign 12, 14 and 12. Lines, branches and bits of the RTL do not
//! guide it: a campaign has all lines and branches of our units after 300,000 clocks.

use std::time::Instant;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;

use super::lcov::RtlCoverage;
use super::{Collector, Hits, Model, Totals};
use crate::campaign::{self, Limit};
use crate::case::Case;
use crate::dut::{Dut, Rtl};
use crate::instructions::Instructions;
use crate::lockstep::{self, Outcome};
use crate::unit::Unit;

/// Cases handed out at once. A run ends with a whole chunk, so that its length does not depend on the jobs.
const CHUNK: u64 = 64;
/// Shares of the reachable bins, in percent, of which a run tells when it had them.
const SHARES: [usize; 3] = [95, 99, 100];
/// A guided run keeps a case for a bin that was hit less often than this before it.
const RARE: u64 = 4;
/// Clocks of a mutated case.
const MUTANT_CLOCKS: u64 = 512;

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Campaign seed. Never 0.
    pub seed: u64,
    /// When it ends.
    pub limit: Limit,
    /// Worker threads.
    pub jobs: usize,
    /// Every other case is made from one that hit what few had hit. Depends on the jobs: each has its own.
    pub guided: bool,
}

/// What a run covered.
pub struct Covered<U: Unit> {
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
    pub failed: Option<(Case<U>, Outcome<U>)>,
}

/// A thread with its model and what it has counted.
struct Worker<'m, U: Unit> {
    dut: Dut<U>,
    collector: Collector<'m, U>,
    totals: Totals,
    compared: u64,
    failed: Option<(u64, Case<U>, Outcome<U>)>,
    /// What a guided run goes on from.
    kept: Vec<Case<U>>,
}

impl<U: Unit> Worker<'_, U> {
    /// As [`Worker::run`], on a case of its own making every other time.
    fn guided(&mut self, index: u64, fresh: Case<U>) {
        // Not the draws that the case is made of: else only cases of some sorts would ever be run anew.
        let mut rng = Pcg64Mcg::seed_from_u64(!fresh.seed);
        let case = match self.kept.is_empty() || rng.random() {
            true => fresh,
            false => mutant(&self.kept, fresh, &mut rng),
        };
        let before = self.collector.hits.clone();
        self.run(index, case.clone());
        if self
            .collector
            .model
            .hit_new(&before, &self.collector.hits, RARE)
        {
            self.kept.push(case);
        }
    }

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
            kept: Vec::new(),
        });
    }
    let mut next = 0;
    let mut reached = Vec::new();
    loop {
        let mut covered = gather(model, &workers);
        let hit = model.hit(&covered.hits);
        for share in &SHARES[reached.len()..] {
            if 100 * hit >= share * model.reachable() {
                reached.push((*share, covered.totals.clocks));
            }
        }
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
            covered.reached = reached;
            for worker in &workers {
                covered.rtl.merge(worker.dut.coverage()?);
            }
            return Ok(covered);
        }
        pool.install(|| {
            workers.par_iter_mut().enumerate().for_each(|(n, worker)| {
                for index in (next..next + chunk).skip(n).step_by(options.jobs) {
                    let (_, case) = campaign::case::<U>(options.seed, index, rtl.build());
                    match options.guided {
                        true => worker.guided(index, case),
                        false => worker.run(index, case),
                    }
                }
            });
        });
        next += chunk;
    }
}

/// One of `kept` with something of another, or of `fresh`, in it: instructions, conditions, or only its seed.
fn mutant<U: Unit>(kept: &[Case<U>], fresh: Case<U>, rng: &mut Pcg64Mcg) -> Case<U> {
    let pick = |rng: &mut Pcg64Mcg| &kept[rng.random_range(0..kept.len())];
    let mut case = pick(rng).clone();
    case.seed = fresh.seed;
    case.noise_clocks = Some(MUTANT_CLOCKS);
    case.max_steps = u64::MAX;
    let (donor, most) = match rng.random_range(0..4) {
        0 => (None, 0),
        1 => (Some(&pick(rng).program), case.program.count() / 4),
        2 => (Some(&fresh.program), 4),
        _ => {
            case.conditions = fresh.conditions.clone();
            case.stall16 = fresh.stall16;
            case.launch_mask = fresh.launch_mask;
            (None, 0)
        }
    };
    let (mine, theirs) = (case.program.count(), donor.map_or(0, U::Program::count));
    if let Some(donor) = donor.filter(|_| mine.min(theirs) > 0) {
        let count = rng.random_range(1..=most.clamp(1, mine.min(theirs)));
        let to = rng.random_range(0..=mine - count);
        let from = rng.random_range(0..=theirs - count);
        case.program.overwrite(to, donor, from, count);
    }
    U::rename(
        &mut case.program,
        format!("guided-{}", U::name(&fresh.program)),
    );
    // What fits one program need not fit another: the state that it begins in, for instance.
    match case.check("guided") {
        Ok(()) => case,
        Err(_) => fresh,
    }
}

/// What all workers have counted.
fn gather<U: Unit>(model: &Model<U>, workers: &[Worker<U>]) -> Covered<U> {
    let mut covered = Covered {
        hits: model.no_hits(),
        totals: Totals::default(),
        compared: 0,
        reached: Vec::new(),
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
