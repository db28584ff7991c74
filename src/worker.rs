//! What a worker does: a process of its own, in which RTL runs, executes orders and answers them.
//!
//! The messages are [`Order`] and [`Answer`]; a [`Desk`] takes them from and to the process that gives the orders. [`obey`] is the one
//! function that executes an order. What only programs have is in [`Ordered::Order`] and [`Ordered::Answer`].

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::unit::Unit;
use reconverge_bench::check::{Judged, Judges};
use reconverge_bench::design::Design;
use reconverge_bench::dut::{Built, Rtl};
use reconverge_bench::failure::{Cause, Failure};
use reconverge_bench::stream::Stream;
use reconverge_campaign::campaign::{self, Failed, Follow, Limit, Options, Runner, Summary, Took};
use reconverge_campaign::cover::run::{self as cover, Counted};
use reconverge_campaign::cover::{Bins, Declaration};
use reconverge_campaign::exhaust::check::{Checked, Difference, check as exhaust};
use reconverge_campaign::shrink::Budget;
use reconverge_mutate::mutate::Hunt;
use reconverge_program::case::Case;

/// Approximate time between two messages with the coverage so far, which are long.
const SO_FAR: Duration = Duration::from_secs(1);

/// An order to a worker, which executes one at a time.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Order<C: Ordered> {
    /// Run cases of a campaign.
    Cases {
        /// Campaign seed.
        seed: u64,
        /// Continue after a failure.
        keep_going: bool,
        /// The RTL to name in saved cases.
        rtl: Option<PathBuf>,
        /// Cycles of a stream that is not long.
        cycles: usize,
        /// The numbers of the cases.
        cases: Range<u64>,
        /// Answer before and after each.
        each: bool,
        /// Count the bins that they hit.
        bins: bool,
    },
    /// Judge a case.
    Judge {
        /// The case.
        case: Box<C>,
        /// The judges.
        judges: Judges,
        /// The cycle in which a dump begins, and its file.
        dump: Option<(u64, PathBuf)>,
    },
    /// Make a failing case smaller.
    Shrink(Box<Failure<C>>),
    /// The answer to [`Answer::Wants`].
    Built(Result<Built, String>),
    /// Go on with a campaign against a mutant.
    Hunt {
        /// Its number.
        mutant: u32,
        /// Campaign seed.
        seed: u64,
        /// The progress so far.
        hunt: Hunt<C>,
        /// Maximum number of cycles.
        budget: u64,
        /// Answer with the progress before each case.
        each: bool,
    },
    /// Run cases and count what they cover.
    Cover(cover::Options),
    /// What only such cases have.
    Own(C::Order),
    /// Stop the current work, and answer.
    Stop,
}

/// A failure of a smaller case, and the number of runs.
pub type Smaller<C> = (Box<Failure<C>>, u64);

/// An answer of a worker.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Answer<C: Ordered> {
    /// A sign of life: the number of cycles of the case so far.
    Pulse(u64),
    /// [`Order::Cases`], one by one: the next case begins, on a model with this seed.
    Begins(u32),
    /// [`Order::Cases`], all at once: this one has failed. It counts together with the summary of all of them.
    Failed(Box<Failed<C>>),
    /// [`Order::Cases`]: the summary of the case that began, or of all ordered cases, and how long they ran.
    Did(Box<Summary<C>>, Took),
    /// [`Order::Judge`]: the result of the run, or why there is no model or no dump.
    Judged(Box<Result<Judged<C>, String>>),
    /// [`Order::Shrink`]: the smallest so far.
    Smaller(Box<Failure<C>>),
    /// [`Order::Shrink`]: the same RTL is needed with this number of lanes.
    Wants(u32),
    /// [`Order::Shrink`]: the number of runs, after the last [`Answer::Smaller`]; or why it cannot be shrunk.
    Shrunk(Result<Smaller<C>, String>),
    /// [`Order::Hunt`]: the progress, from time to time or before each case, and at the end.
    Hunting(Box<Hunt<C>>),
    /// [`Order::Cover`]: this case begins; the coverage before it was sent.
    Covers(Box<C>),
    /// [`Order::Cover`]: after each chunk, the number of cases, cycles and hit bins.
    Covering(u64, u64, usize),
    /// [`Order::Cover`]: the coverage so far, from time to time and before a careful chunk.
    SoFar(Box<cover::Covered<C>>),
    /// [`Order::Cover`]: the coverage at the end.
    Covered(Box<cover::Covered<C>>),
    /// [`Order::Own`].
    Own(Box<C::Answer>),
    /// The work has stopped because of [`Order::Stop`].
    Stopped,
    /// The order was not executed, because of the RTL.
    Lost(Box<Cause<C::Design>>),
    /// The order was not executed, but not because of the RTL.
    Cannot(String),
}

impl<C: Ordered> Answer<C> {
    /// Returns whether a worker can have given this answer: its cases are cases of the design. RTL that writes into memory
    /// of its process or to its socket may change what the worker says. ([`Mismatch`] checks itself.)
    ///
    /// [`Mismatch`]: reconverge_bench::lockstep::Mismatch
    pub fn is_possible(&self) -> bool {
        let failure = |failure: &Failure<C>| failure.case.check_input("").is_ok();
        let judged = |judged: &Judged<C>| judged.as_ref().err().is_none_or(failure);
        match self {
            Answer::Failed(failed) => failure(&failed.failure),
            Answer::Did(summary, _) => summary.failures.iter().all(|f| failure(&f.failure)),
            Answer::Judged(done) => done.as_ref().as_ref().map_or(true, judged),
            Answer::Smaller(small) => failure(small),
            Answer::Shrunk(shrunk) => shrunk.as_ref().map_or(true, |(small, _)| failure(small)),
            Answer::Hunting(hunt) => {
                let caught = hunt.caught.as_ref();
                caught.is_none_or(|caught| failure(&caught.failure))
            }
            Answer::Covers(case) => case.check_input("").is_ok(),
            Answer::SoFar(found) | Answer::Covered(found) => {
                found.failed.as_ref().is_none_or(failure)
            }
            Answer::Own(_)
            | Answer::Covering(..)
            | Answer::Pulse(_)
            | Answer::Begins(_)
            | Answer::Wants(_)
            | Answer::Stopped
            | Answer::Lost(_)
            | Answer::Cannot(_) => true,
        }
    }
}

/// Cases that a worker runs.
pub trait Ordered: Counted + 'static {
    /// Orders that only such cases have.
    type Order: Serialize + DeserializeOwned + Send;
    /// Answers to them.
    type Answer: Serialize + DeserializeOwned;
    /// Executes an order of this kind, and returns its last answer.
    fn obey(worker: &mut Worker<'_, Self>, order: Self::Order) -> Answer<Self>;
}

/// The place at which a worker gets its orders and gives its answers.
pub trait Desk<C: Ordered>: Sync {
    /// Gives an answer.
    fn say(&self, answer: &Answer<C>);
    /// Gives an answer if none was given for a while.
    fn pulse(&self, answer: &dyn Fn() -> Answer<C>);
    /// Returns the next order; `None`: there is none any more.
    fn next(&self) -> Option<Order<C>>;
    /// Returns the flag that is set by [`Order::Stop`].
    fn stop(&self) -> &AtomicBool;
}

/// Returns the answer with `summary`.
fn did<C: Ordered>(mut summary: Summary<C>) -> Answer<C> {
    let took = std::mem::take(&mut summary.took);
    Answer::Did(Box::new(summary), took)
}

/// A worker.
pub struct Worker<'d, C: Ordered> {
    rtl: Rtl<C::Design>,
    desk: &'d dyn Desk<C>,
    /// Megabytes of memory that the process may use; 0: no limit.
    memory: u64,
    /// The bins of the cases of a campaign, once cases have run.
    bins: Option<C::Bins>,
}

/// Returns the message for RTL that exceeds the memory limit.
pub fn out_of_memory(megabytes: u64) -> String {
    format!("out of memory: it may have {megabytes} MB (--memory)")
}

impl<'d, C: Ordered> Worker<'d, C> {
    /// Returns a worker on `rtl`, whose process may use `memory` megabytes; 0: no limit.
    pub fn new(rtl: Rtl<C::Design>, desk: &'d dyn Desk<C>, memory: u64) -> Self {
        Worker {
            rtl,
            desk,
            memory,
            bins: None,
        }
    }

    /// Returns the cause, if `why` says that memory ran out.
    fn short(&self, why: &str) -> Option<Cause<C::Design>> {
        let short = self.memory > 0 && why.contains("out of memory");
        short.then(|| Cause::Crashed(out_of_memory(self.memory)))
    }

    /// Returns the cause, if that is why a case failed: a run that stopped for lack of memory counts as crashed.
    fn cause(&self, cause: &Cause<C::Design>) -> Option<Cause<C::Design>> {
        match cause {
            Cause::Stopped(stopped) => self.short(&stopped.why),
            Cause::NotRun(why) => self.short(why),
            _ => None,
        }
    }

    fn blame(&self, failure: &mut Failure<C>) {
        if let Some(cause) = self.cause(&failure.cause) {
            failure.cause = cause;
        }
    }

    /// Returns the answer for an order that cannot be executed.
    fn cannot(&self, why: String) -> Answer<C> {
        match self.short(&why) {
            Some(cause) => Answer::Lost(Box::new(cause)),
            None => Answer::Cannot(why),
        }
    }

    /// Returns a function that tells how far a case is.
    fn progress(&self) -> impl FnMut(u64) + 'd + use<'d, C> {
        let desk = self.desk;
        move |cycle| desk.pulse(&|| Answer::Pulse(cycle))
    }

    fn is_stopped(&self) -> bool {
        self.desk.stop().load(Ordering::Relaxed)
    }

    fn cases(&mut self, options: &Options, cases: Range<u64>, each: bool, bins: bool) -> Answer<C> {
        if bins && self.bins.is_none() {
            self.bins = Some(C::Bins::new(self.rtl.build()));
        }
        let bins = self.bins.as_ref().filter(|_| bins);
        let mut total = Summary::default();
        let mut runner = None;
        let last = cases.end.saturating_sub(1);
        for case in cases {
            if each {
                // This shows which case ended the process.
                let seed = runner.as_ref().map(Runner::<C>::seed);
                let seed = seed.unwrap_or_else(|| campaign::model_seed(options, case));
                self.desk.say(&Answer::Begins(seed));
            }
            let open = match &mut runner {
                Some(open) => open,
                none => match Runner::open(options, &self.rtl, bins, case) {
                    Ok(opened) => none.insert(opened),
                    Err(why) => return self.cannot(why),
                },
            };
            let begun = Instant::now();
            let mut summary = open.run(case, &mut self.progress());
            let kind = C::kind(case).to_string();
            summary.took.insert(kind, begun.elapsed());
            // After its answer no further case runs.
            let stopped = each && self.is_stopped();
            if each && (case == last || stopped) {
                runner
                    .take()
                    .into_iter()
                    .for_each(|open| open.close(&mut summary));
            }
            let short = |failed: &Failed<C>| self.cause(&failed.failure.cause);
            if let Some(cause) = summary.failures.iter().find_map(short) {
                // Memory that a case has taken is missing for the others: this process cannot be used any more, and another
                // case may have taken the memory.
                return Answer::Lost(Box::new(cause));
            }
            match each {
                true if case == last => return did(summary),
                true => self.desk.say(&did(summary)),
                false => {
                    for failed in &summary.failures {
                        self.desk.say(&Answer::Failed(Box::new(failed.clone())));
                    }
                    total.add(summary);
                    if total.ends(options) {
                        break;
                    }
                }
            }
            if stopped {
                return Answer::Stopped;
            }
        }
        if let Some(open) = runner {
            open.close(&mut total);
        }
        did(total)
    }

    fn shrink(&self, failure: &Failure<C>) -> Answer<C> {
        let other = |lanes| {
            self.desk.say(&Answer::Wants(lanes));
            match self.desk.next() {
                Some(Order::Built(built)) => built.and_then(|built| Ok(Rtl::from_built(built)?)),
                _ => Err("worker: no RTL".to_owned()),
            }
        };
        let follow = &mut Shrinking(self.desk);
        let shrunk = C::shrink(failure, &self.rtl, &other, &Budget::default(), follow);
        Answer::Shrunk(shrunk.map(|shrunk| (Box::new(shrunk.failure), shrunk.runs)))
    }

    fn hunt(
        &self,
        mutant: u32,
        seed: u64,
        mut hunt: Hunt<C>,
        budget: u64,
        each: bool,
    ) -> Answer<C> {
        let rtl = self.rtl.clone().mutant(mutant);
        while !hunt.over(budget) {
            let so_far = || Answer::Hunting(Box::new(hunt.clone()));
            match each {
                true => self.desk.say(&so_far()),
                false => self.desk.pulse(&so_far),
            }
            if let Err(why) = hunt.go_on(&rtl, seed, &mut self.progress()) {
                return self.cannot(why);
            }
        }
        let caught = hunt.caught.as_ref();
        if let Some(cause) = caught.and_then(|caught| self.cause(&caught.failure.cause)) {
            return Answer::Lost(Box::new(cause));
        }
        Answer::Hunting(Box::new(hunt))
    }
}

/// Executes an order and returns its last answer.
pub fn obey<C: Ordered>(worker: &mut Worker<'_, C>, order: Order<C>) -> Answer<C> {
    match order {
        Order::Cases {
            seed,
            keep_going,
            rtl,
            cycles,
            cases,
            each,
            bins,
        } => {
            let options = Options {
                seed,
                limit: Limit::Programs(u64::MAX),
                jobs: 1,
                keep_going,
                rtl,
                cycles,
                out: None,
                budget: Budget::default(),
            };
            worker.cases(&options, cases, each, bins)
        }
        Order::Hunt {
            mutant,
            seed,
            hunt,
            budget,
            each,
        } => worker.hunt(mutant, seed, hunt, budget, each),
        Order::Cover(options) => cover(worker, &options),
        Order::Own(order) => C::obey(worker, order),
        order => judge(worker, order),
    }
}

/// Executes an order about one case: judges it or makes it smaller. A unit with programs runs a stream of pins only in this way.
pub fn judge<C: Ordered>(worker: &mut Worker<'_, C>, order: Order<C>) -> Answer<C> {
    match order {
        Order::Judge { case, judges, dump } => {
            let dump = dump.as_ref().map(|(from, path)| (*from, path.as_path()));
            let mut done = case.judge(&worker.rtl, judges, dump, &mut worker.progress());
            match &mut done {
                Ok(Err(failure)) => worker.blame(failure),
                // A model for which there is no memory.
                Err(why) if dump.is_none() && worker.short(why).is_some() => {
                    return worker.cannot(std::mem::take(why));
                }
                _ => {}
            }
            Answer::Judged(Box::new(done))
        }
        Order::Shrink(failure) => worker.shrink(&failure),
        _ => Answer::Cannot("worker: nothing was asked".to_owned()),
    }
}

/// Tells each smaller case.
struct Shrinking<'d, C: Ordered>(&'d dyn Desk<C>);

impl<C: Ordered> Follow<C> for Shrinking<'_, C> {
    fn progress(&mut self, cycle: u64) {
        self.0.pulse(&|| Answer::Pulse(cycle));
    }
    fn smaller(&mut self, failure: &Failure<C>) {
        self.0.say(&Answer::Smaller(Box::new(failure.clone())));
    }
}

/// Streams of pins have no orders of their own.
impl<D: Design> Ordered for Stream<D> {
    type Order = ();
    type Answer = ();
    fn obey(_: &mut Worker<'_, Self>, (): ()) -> Answer<Self> {
        Answer::Cannot("worker: nothing was asked".to_owned())
    }
}

/// An order that only programs have.
#[derive(Serialize, Deserialize)]
pub enum ProgramOrder {
    /// Take all transitions from states of a small world.
    Exhaust {
        /// The values of the world's bounds.
        limits: Vec<u32>,
        /// The states, as encoded by their space.
        states: Vec<Vec<u8>>,
        /// Only the transition with this number from each.
        only: Option<usize>,
    },
}

/// An answer to [`ProgramOrder`].
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub enum ProgramAnswer<U: Unit> {
    /// [`ProgramOrder::Exhaust`].
    Exhausted(Checked<U>),
}

impl<U: Unit> Ordered for Case<U> {
    type Order = ProgramOrder;
    type Answer = ProgramAnswer<U>;

    fn obey(worker: &mut Worker<'_, Self>, order: ProgramOrder) -> Answer<Self> {
        let ProgramOrder::Exhaust {
            limits,
            states,
            only,
        } = order;
        explore(worker, &limits, &states, only)
    }
}

fn cover<C: Ordered>(worker: &Worker<'_, C>, options: &cover::Options) -> Answer<C> {
    let bins = C::Bins::new(worker.rtl.build());
    let follow = Covering {
        desk: worker.desk,
        careful: options.careful,
        bins: bins.declaration(),
        told: Mutex::new(Instant::now()),
    };
    match cover::run(options, &bins, &worker.rtl, &follow) {
        Ok(mut covered) => {
            if let Some(failure) = &mut covered.failed {
                worker.blame(failure);
            }
            Answer::Covered(Box::new(covered))
        }
        Err(why) => worker.cannot(why),
    }
}

fn explore<U: Unit>(
    worker: &Worker<'_, Case<U>>,
    limits: &[u32],
    states: &[Vec<u8>],
    only: Option<usize>,
) -> Answer<Case<U>> {
    let Some(small) = U::SMALL else {
        return Answer::Cannot(format!("worker: {} has no small world", U::NAME));
    };
    let build = worker.rtl.build().clone();
    let world = (small.world)(&build, limits);
    let mut dut = match worker.rtl.open(1) {
        Ok(dut) => dut,
        Err(why) => return worker.cannot(why),
    };
    let mut progress = worker.progress();
    let mut checked = exhaust(&*world, &build, &mut dut, states, only, &mut progress);
    if let Some(difference) = &mut checked.difference
        && let Some(cause) = worker.cause(&difference.cause)
    {
        difference.cause = cause;
    }
    // A `final` block speaks of everything that the model ran.
    if checked.difference.is_none()
        && only.is_none()
        && let Err(why) = dut.close()
    {
        let cause = Cause::at_the_end(why, checked.cycles);
        checked.difference = Some(unplaced(states, cause));
    }
    Answer::Own(Box::new(ProgramAnswer::Exhausted(checked)))
}

/// Returns the difference of `cause`, which is that of none of `states` in particular.
pub fn unplaced<U: Unit>(states: &[Vec<u8>], cause: Cause<U>) -> Difference<U> {
    Difference {
        state: states.len().saturating_sub(1),
        transition: None,
        cause,
    }
}

/// Tells the coverage.
struct Covering<'a, C: Ordered> {
    desk: &'a dyn Desk<C>,
    careful: Option<u64>,
    bins: &'a Declaration,
    /// When the whole coverage was last sent.
    told: Mutex<Instant>,
}

impl<C: Ordered> cover::Follow<C> for Covering<'_, C> {
    fn chunk(&self, covered: &cover::Covered<C>) -> bool {
        let totals = covered.totals;
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if self.careful == Some(totals.programs) || told.elapsed() >= SO_FAR {
            self.desk.say(&Answer::SoFar(Box::new(covered.clone())));
            *told = Instant::now();
        }
        let hit = self.bins.hit(&covered.hits);
        let covering = Answer::Covering(totals.programs, totals.cycles, hit);
        self.desk.say(&covering);
        !self.desk.stop().load(Ordering::Relaxed)
    }
    fn begins(&self, case: &C) {
        self.desk.say(&Answer::Covers(Box::new(case.clone())));
    }
    fn pulse(&self) {
        self.desk.pulse(&|| Answer::Pulse(0));
    }
}
