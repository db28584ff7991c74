//! A failed case: the cause, the place, and all that is needed to inspect, save and replay it.

use std::fmt::{self, Debug, Display, Formatter};
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::channels::{Broken, keeps};
use crate::check::TestCase;
use crate::design::Design;
use crate::dut::Ended;
use crate::lanes::Wavefronts;
use crate::lockstep::{Compared, Lost, Mismatch, Stopped};
use crate::place::Place;
use crate::report::Report;
use crate::saved::Saved;
use crate::transactions::Transaction;
use crate::wave::{self, Words};

/// A failed case. `Display` and `Debug` print its report, made from the golden model alone: `{:#}` prints it in colours,
/// and a format width limits the line length.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
#[non_exhaustive]
pub struct Failure<C: TestCase> {
    /// The case.
    pub case: Box<C>,
    /// Why it failed.
    pub cause: Cause<C::Design>,
    /// How much was compared before the failure.
    pub compared: Compared,
    /// Text signals for the dump of the run, which only the run knows.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub words: Words,
}

/// Why a case failed.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Cause<D: Design> {
    /// RTL and golden differ.
    Mismatch(Box<Mismatch<D>>),
    /// The RTL stopped the simulation.
    Stopped(Stopped),
    /// RTL and golden model agree, but the scalar judge does not.
    Judge {
        /// Lane.
        lane: u32,
        /// What the lane did in the wavefront and what it does alone.
        how: String,
    },
    /// The process in which the RTL ran ended; holds how it ended.
    Crashed(String),
    /// The RTL made no progress for this many seconds.
    Hung(u64),
    /// The bench could not run the case, or nothing was compared; holds the reason. This says nothing about the RTL.
    NotRun(String),
}

impl<D: Design> From<Lost> for Cause<D> {
    fn from(lost: Lost) -> Self {
        match lost {
            Lost::Crashed(how) => Cause::Crashed(how),
            Lost::Hung(seconds) => Cause::Hung(seconds),
        }
    }
}

impl<D: Design> Cause<D> {
    /// Returns why a run of `cycles` cycles failed, if it did: the first of these that applies.
    pub fn of_run(
        lost: Option<Lost>,
        stopped: Option<Stopped>,
        mismatch: Option<Mismatch<D>>,
        cycles: u64,
        not_flipped: Option<String>,
    ) -> Option<Self> {
        let nothing = (cycles == 0).then(|| "nothing was compared".to_owned());
        let lost = lost.map(Cause::from);
        lost.or_else(|| stopped.map(Cause::Stopped))
            .or_else(|| mismatch.map(|mismatch| Cause::Mismatch(Box::new(mismatch))))
            .or_else(|| nothing.or(not_flipped).map(Cause::NotRun))
    }

    /// Returns the cause of a failure at the end of a simulation of `cycles` cycles that agreed.
    pub fn at_the_end(why: Ended, cycles: u64) -> Self {
        match why {
            Ended::Stopped(why) => Cause::Stopped(Stopped {
                // No cycle comes after the last one.
                cycle: cycles.saturating_sub(1),
                why,
            }),
            Ended::Lost(lost) => lost.into(),
        }
    }
}

/// Returns the cause as it is saved.
impl<D: Design> From<&Cause<D>> for Place {
    fn from(cause: &Cause<D>) -> Self {
        match cause {
            Cause::Mismatch(mismatch) => {
                let first = mismatch.first();
                Place::Mismatch {
                    cycle: mismatch.cycle,
                    field: D::fields()[first.field].name.to_owned(),
                    element: first.element,
                }
            }
            Cause::Stopped(stopped) => Place::Stopped {
                cycle: stopped.cycle,
                how: stopped.why.clone(),
            },
            Cause::Judge { lane, how } => Place::ScalarJudge {
                lane: *lane,
                how: how.clone(),
            },
            Cause::Crashed(how) => Place::Crashed { how: how.clone() },
            Cause::Hung(seconds) => Place::Hung { seconds: *seconds },
            Cause::NotRun(why) => Place::NotRun { how: why.clone() },
        }
    }
}

impl<C: TestCase> Failure<C> {
    /// Creates a failure of `case`.
    pub fn new(case: &C, cause: Cause<C::Design>, compared: Compared) -> Self {
        Failure {
            case: Box::new(case.clone()),
            cause,
            compared,
            words: Words::default(),
        }
    }

    /// Returns the mismatch, if the cause is one.
    pub fn mismatch(&self) -> Option<&Mismatch<C::Design>> {
        match &self.cause {
            Cause::Mismatch(mismatch) => Some(mismatch),
            _ => None,
        }
    }

    /// Returns the place and kind of the failure, as saved with the case.
    pub fn place(&self) -> Place {
        Place::from(&self.cause)
    }

    /// Returns the kind of failure as one word.
    pub fn kind(&self) -> &'static str {
        match &self.cause {
            Cause::Mismatch(_) => "mismatch",
            Cause::Stopped(_) => "stopped",
            Cause::Judge { .. } => "scalar-judge",
            Cause::Crashed(_) => "crashed",
            Cause::Hung(_) => "hung",
            Cause::NotRun(_) => "not-run",
        }
    }

    /// Returns whether the RTL crashed or hung, so that its process was lost.
    pub fn lost(&self) -> bool {
        matches!(self.cause, Cause::Crashed(_) | Cause::Hung(_))
    }

    /// Returns the cause on one line.
    pub fn message(&self) -> String {
        match &self.cause {
            Cause::Mismatch(mismatch) => {
                let diff = mismatch.first();
                let field = &C::Design::fields()[diff.field];
                let (rtl, golden) = ((field.show)(diff.rtl), (field.show)(diff.golden));
                let (cycle, name) = (mismatch.cycle, field.name);
                let lanes = Wavefronts::of::<C::Design>(self.case.lanes());
                let element = match field.per_lane() {
                    true => lanes.lane(diff.element),
                    false => diff.element.to_string(),
                };
                match (mismatch.half, mismatch.reset) {
                    (false, false) => {
                        let promised = match &mismatch.broken {
                            Some(Broken { channel, .. }) => {
                                match keeps::<C::Design>(channel, diff.field) {
                                    true => format!(", and channel {channel} keeps it until ready"),
                                    false => {
                                        format!(", and the promise of channel {channel} is broken")
                                    }
                                }
                            }
                            None => match &mismatch.transaction {
                                Some(Transaction { channel, text, .. }) => {
                                    format!(", channel {channel}: {text}")
                                }
                                None => String::new(),
                            },
                        };
                        format!("cycle {cycle}: {name}[{element}] is {rtl}, not {golden}{promised}")
                    }
                    (false, true) => format!(
                        "cycle {cycle}: {name}[{element}] is {rtl}, not {golden}, when the reset has been asserted between two edges"
                    ),
                    (true, _) => format!(
                        "cycle {cycle}: {name}[{element}] is {rtl} before the falling edge of the clock, and {golden} after it"
                    ),
                }
            }
            Cause::Stopped(stopped) => format!("cycle {}: {}", stopped.cycle, stopped.why),
            Cause::Judge { lane, how } => {
                let lanes = Wavefronts::of::<C::Design>(self.case.lanes());
                format!("lane {}: {how}", lanes.lane(*lane as usize))
            }
            Cause::Crashed(how) | Cause::NotRun(how) => how.clone(),
            Cause::Hung(seconds) => format!("no progress within {seconds} s"),
        }
    }

    /// Returns the cycle whose inputs led to the failure, counted from 0; if that is unknown, the number of cycles that
    /// agreed.
    pub fn cycle(&self) -> u64 {
        match &self.cause {
            Cause::Mismatch(mismatch) => mismatch.cycle,
            Cause::Stopped(stopped) => stopped.cycle,
            _ => self.compared.cycles,
        }
    }

    /// Returns the golden model's rule for the first field that differs.
    pub fn rule(&self) -> Option<String> {
        Report::of(self).rule
    }

    /// Returns whether two cases fail alike: in the same field, with the same message apart from its numbers (which include
    /// the time), or both by judge, crash or hang.
    pub fn alike(&self, other: &Self) -> bool {
        let words = |stopped: &Stopped| stopped.why.replace(|c: char| c.is_ascii_digit(), "");
        match (&self.cause, &other.cause) {
            (Cause::Mismatch(a), Cause::Mismatch(b)) => {
                let both = |m: &Mismatch<_>| m.broken.as_ref().is_some_and(|broken| broken.both);
                let why = |m: &Mismatch<_>| m.transaction.as_ref().map(|one| one.why);
                let how = |m: &Mismatch<_>| (m.first().field, m.half, m.reset, both(m), why(m));
                how(a) == how(b)
            }
            (Cause::Stopped(a), Cause::Stopped(b)) => words(a) == words(b),
            (Cause::Judge { .. }, Cause::Judge { .. })
            | (Cause::Crashed(_), Cause::Crashed(_))
            | (Cause::Hung(_), Cause::Hung(_)) => true,
            _ => false,
        }
    }

    /// Saves the case in `dir` under its name for a replay, and returns the file. Writes the whole file or nothing.
    ///
    /// # Errors
    /// The folder or the file cannot be written.
    pub fn save(&self, dir: &Path) -> Result<PathBuf, String> {
        let path = dir.join(format!("{}.json", self.case.name()));
        wave::write_whole(&path, &Saved::from(self).to_text())?;
        Ok(path)
    }

    /// Saves the case like [`Failure::save`], but never in the place of another one: if a file with its name holds something
    /// else, such as another failure with the same seed, the case gets a number in its name.
    ///
    /// # Errors
    /// The folder or the file cannot be written.
    pub fn save_new(&mut self, dir: &Path) -> Result<PathBuf, String> {
        let mut saved = Saved::from(&*self);
        for number in 2.. {
            let path = dir.join(format!("{}.json", saved.case.name()));
            if wave::write_new(&path, &saved.to_text())? || holds(&path, &saved) {
                *self.case = saved.case;
                return Ok(path);
            }
            saved.case.clone_from(&self.case);
            saved.case.mark(&format!("-{number}"));
        }
        unreachable!("a folder has no file for each number")
    }
}

/// Returns whether the file `path` holds this failure: the case, its RTL, and where it failed. The seed of the model may differ, which depends
/// on the cases that the model has run before.
pub fn holds<C: TestCase>(path: &Path, saved: &Saved<C>) -> bool {
    let text = |mut saved: Saved<C>| {
        saved.case.set_model_seed(1);
        saved.to_text()
    };
    let there = fs::read_to_string(path).ok();
    let there = there.and_then(|text| Saved::parse(&text, "").ok());
    there.is_some_and(|there| text(there) == text(saved.clone()))
}

/// Returns the saved case of a failure.
impl<C: TestCase> From<&Failure<C>> for Saved<C> {
    fn from(failure: &Failure<C>) -> Self {
        Saved {
            failure: Some(failure.place()),
            case: C::clone(&failure.case),
        }
    }
}

impl<C: TestCase> Display for Failure<C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(&Report::of(self), f)
    }
}

/// Prints the same as `Display`, beginning on a new line, so that `unwrap` in a test prints the report.
impl<C: TestCase> Debug for Failure<C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}

impl<C: TestCase> std::error::Error for Failure<C> {}
