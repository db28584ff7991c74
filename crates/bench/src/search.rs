//! The search for a smaller case that fails as before, of any kind: a kind of cases offers candidates, a [`Search`] runs them and keeps
//! the smallest.

use std::collections::BTreeMap;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::check::{Judged, Judges, TestCase, close};
use crate::design::Design;
use crate::dut::{Dut, Rtl};
use crate::failure::{Cause, Failure};
use crate::saved::Savable;

/// Suffix of the name of a case that was made smaller.
pub const SHRUNK: &str = "-shrunk";

/// Limits of a search. If one is reached, the result is the smallest case so far.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Number of runs.
    pub runs: u64,
    /// Cycles of all runs together.
    pub cycles: u64,
    /// Processor time of the search, so that slow RTL does not take forever. The only limit that depends on the machine; not on
    /// what else runs there, and not on how long it takes to build a model.
    pub time: Duration,
}

impl Default for Budget {
    /// Returns limits that are rarely reached. With the RTL of this repository, a search takes seconds.
    fn default() -> Self {
        Budget {
            runs: 60_000,
            cycles: 10_000_000,
            time: Duration::from_secs(30),
        }
    }
}

impl Budget {
    /// Checks that there is time for more than one run of RTL that hangs, if `cause` says that it does.
    ///
    /// # Errors
    /// There is none.
    pub fn allows<D: Design>(&self, cause: &Cause<D>) -> Result<(), String> {
        match cause {
            Cause::Hung(seconds) if Duration::from_secs(*seconds) >= self.time => Err(format!(
                "each run in which the RTL hangs takes {seconds} s, all may take {} s",
                self.time.as_secs()
            )),
            _ => Ok(()),
        }
    }
}

/// Observes how a case is made smaller.
pub trait Follow<C: TestCase> {
    /// Called with the cycle from time to time, while a case runs.
    fn progress(&mut self, _cycle: u64) {}
    /// Called when the case has become smaller; `failure` is that of the smaller case.
    fn smaller(&mut self, _failure: &Failure<C>) {}
}

/// Ignores the search.
impl<C: TestCase> Follow<C> for () {}

/// Returns the processor time that this thread has used, and the time of RTL that ran for it in other processes: unlike the time of day,
/// it does not depend on what else runs on the machine, nor on how long another process takes to build a model.
fn processor_time() -> Duration {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    let here = Duration::new(
        used.tv_sec.unsigned_abs(),
        used.tv_nsec.unsigned_abs() as u32,
    );
    here + crate::dut::used()
}

/// Judges a case on a model of its build that may have run other cases before; the last argument is called with the cycle from time to
/// time.
pub type JudgeOn<'f, C> =
    &'f dyn Fn(&C, &mut Dut<<C as Savable>::Design>, Judges, &mut dyn FnMut(u64)) -> Judged<C>;

/// RTL, with the model that ran the last case, if that can run others.
type Model<D> = (Rtl<D>, Option<Dut<D>>);

/// A search for a smaller case.
pub struct Search<'f, C: TestCase> {
    /// The failure of the smallest case so far.
    pub best: Failure<C>,
    /// How many cases were smaller than the best one before.
    pub kept: u64,
    /// Runs of candidates.
    pub runs: Runs<'f, C>,
}

/// Runs of cases, with the models that run them.
pub struct Runs<'f, C: TestCase> {
    /// Number of runs.
    pub count: u64,
    /// The search may now use 1/`share` of the budget; the rest is for later.
    pub share: u32,
    /// Who judges.
    pub judges: Judges,
    /// Each run ends the simulation, on a model of its own: the failure may be what a `final` block says.
    closes: bool,
    /// RTL by number of lanes.
    models: BTreeMap<u32, Model<C::Design>>,
    judge: JudgeOn<'f, C>,
    /// Cycles of all runs.
    cycles: u64,
    budget: Budget,
    /// The processor time of this thread at the beginning.
    started: Duration,
    follow: &'f mut dyn Follow<C>,
}

impl<'f, C: TestCase> Search<'f, C> {
    /// Creates a search for a smaller case than `case`, which fails on `rtl`. `None`: it does not fail from reset on a fresh model. With
    /// `closes`, each run ends its simulation; otherwise only if the case fails at the end of one.
    ///
    /// # Errors
    /// No model can be opened, or the time is too short for a run in which the RTL hangs.
    pub fn of(
        case: &C,
        rtl: &Rtl<C::Design>,
        judge: JudgeOn<'f, C>,
        closes: bool,
        budget: &Budget,
        follow: &'f mut dyn Follow<C>,
    ) -> Result<Option<Self>, String> {
        let mut runs = Runs {
            count: 0,
            share: 1,
            judges: Judges::All,
            closes,
            models: BTreeMap::from([(rtl.build().lanes, (rtl.clone(), None))]),
            judge,
            cycles: 0,
            budget: *budget,
            started: processor_time(),
            follow,
        };
        let mut failure = runs.run(case, true)?;
        if failure.is_none() && !closes {
            runs.closes = true;
            failure = runs.run(case, true)?;
        }
        let Some(best) = failure else {
            return Ok(None);
        };
        budget.allows(&best.cause)?;
        let kept = 0;
        Ok(Some(Search { best, kept, runs }))
    }

    /// Returns whether there is RTL with this number of lanes.
    pub fn has(&self, lanes: u32) -> bool {
        self.runs.models.contains_key(&lanes)
    }

    /// Adds RTL with another number of lanes.
    ///
    /// # Errors
    /// No model of it can be opened.
    pub fn add(&mut self, rtl: Rtl<C::Design>) -> Result<(), String> {
        let dut = rtl.open(self.best.case.model_seed())?;
        let models = &mut self.runs.models;
        models.insert(rtl.build().lanes, (rtl, Some(dut)));
        Ok(())
    }

    /// Returns whether the budget is used up.
    pub fn over(&self) -> bool {
        let runs = &self.runs;
        let (budget, share) = (runs.budget, u64::from(runs.share));
        runs.count >= budget.runs / share
            || runs.cycles >= budget.cycles / share
            || processor_time().saturating_sub(runs.started) >= budget.time / runs.share
    }

    /// Returns the failure of `candidate` on a fresh model, if it fails as the best case does.
    ///
    /// # Errors
    /// No model can be opened.
    pub fn fails(&mut self, candidate: &C) -> Result<Option<Failure<C>>, String> {
        if !self.runs.closes {
            let failure = self.runs.run(candidate, false)?;
            if failure.is_none_or(|failure| !failure.alike(&self.best)) {
                return Ok(None);
            }
            // Registers without reset may hold values of an earlier run that caused the failure: repeat on a fresh model.
        }
        let failure = self.runs.run(candidate, true)?;
        Ok(failure.filter(|failure| failure.alike(&self.best)))
    }

    /// Makes the case of `failure`, which [`Search::fails`] returned, the best one.
    pub fn keep(&mut self, failure: Failure<C>) {
        self.best = failure;
        self.kept += 1;
        self.runs.follow.smaller(&self.best);
    }
}

impl<C: TestCase> Runs<'_, C> {
    /// Returns the failure of `case`, if it fails: on a fresh model, as a replay does, or on one that has run other cases before.
    ///
    /// # Errors
    /// No model can be opened.
    fn run(&mut self, case: &C, fresh: bool) -> Result<Option<Failure<C>>, String> {
        let Some((rtl, kept)) = self.models.get_mut(&case.build().lanes) else {
            return Ok(None);
        };
        let mut dut = match kept.take() {
            Some(dut) if !fresh => dut,
            _ => rtl.open(case.model_seed())?,
        };
        let follow = &mut self.follow;
        let judged = (self.judge)(case, &mut dut, self.judges, &mut |cycle| {
            follow.progress(cycle);
        });
        self.count += 1;
        self.cycles += match &judged {
            Ok(agreed) => agreed.compared.cycles,
            Err(failure) => failure.compared.cycles,
        };
        match judged {
            Ok(agreed) if self.closes => Ok(close(dut, case, agreed.compared).err()),
            Ok(_) => {
                *kept = Some(dut);
                Ok(None)
            }
            // Its model may be in a state that correct RTL never reaches.
            Err(failure) => Ok(Some(failure)),
        }
    }
}
