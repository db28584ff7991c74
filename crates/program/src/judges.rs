//! Judges a case: RTL against golden model in lock-step, then the scalar judge, if it can tell. The verdict is the first of
//! these that applies: the process of the RTL was lost, the RTL stopped the simulation, RTL and golden model differ, nothing was
//! compared, the bit to flip was not flipped, the scalar judge disagrees.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::case::{CASE_FORMAT, Case, LONGEST_NAME, Place, SavedCase};
use crate::check::{Judged, TestCase};
use crate::design::Design;
use crate::dut::{Dut, Rtl};
use crate::failure::{Cause, Failure};
use crate::field::Flip;
use crate::input::InputError;
use crate::lockstep::{Compared, Mismatch, state_bytes};
use crate::program::{Programs, Records, Verdict};
use crate::report::History;
use crate::show::{Class, Lines, ShownState, words};
use crate::stimulus::{self, Ran};
use crate::watch::Watch;
use crate::wave::Words;

/// Selects who judges a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judges {
    /// RTL against golden model only. Mutation needs no more: the scalar judge looks at the golden model's run, which is the
    /// same for every mutant.
    LockStep,
    /// The scalar judge too. It cannot judge a program that is not structured, which is not a failure.
    All,
    /// The scalar judge too, for a program whose generator guarantees that it is structured. If the scalar judge cannot tell,
    /// the case fails: generator or judge is wrong.
    Structured,
}

/// The scalar judge's verdict on a case that did not fail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scalar {
    /// The scalar judge was not asked.
    NotAsked,
    /// The scalar judge cannot tell, with the reason.
    CannotTell(String),
    /// Every compared lane executed what it executes alone.
    Agrees {
        /// Lanes compared.
        lanes: u32,
        /// Instructions compared, all lanes together.
        instructions: u64,
    },
}

/// A case on which its judges agree.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
#[non_exhaustive]
pub struct Agreed<U: Programs> {
    /// How much was compared: at least one cycle.
    pub compared: Compared,
    /// State at the end.
    #[serde(with = "state_bytes")]
    pub end: U::State,
    /// The run ended because it reached [`Case::max_steps`].
    pub step_limit: bool,
    /// The scalar judge's verdict.
    pub scalar: Scalar,
}

/// Returns the saved case of a failure.
impl<U: Programs> From<&Failure<Case<U>>> for SavedCase<U> {
    fn from(failure: &Failure<Case<U>>) -> Self {
        SavedCase {
            reconverge: CASE_FORMAT,
            unit: U::NAME.to_owned(),
            failure: Some(failure.place()),
            case: Case::clone(&failure.case),
        }
    }
}

impl<U: Programs> TestCase for Case<U> {
    type Design = U;
    type Agreed = Agreed<U>;

    fn name(&self) -> String {
        Case::name(self)
    }

    fn mark(&mut self, mark: &str) {
        let room = LONGEST_NAME.saturating_sub(mark.len());
        let name: String = U::name(&self.program).chars().take(room).collect();
        U::rename(&mut self.program, name + mark);
    }

    fn lanes(&self) -> usize {
        self.lanes as usize
    }

    fn flip(&self) -> Option<&Flip> {
        self.flip.as_ref()
    }

    fn check_input(&self, file: &str) -> Result<(), InputError> {
        Case::check(self, file)
    }

    fn to_saved(&self, place: Place) -> String {
        let saved = SavedCase {
            reconverge: CASE_FORMAT,
            unit: U::NAME.to_owned(),
            failure: Some(place),
            case: self.clone(),
        };
        saved.to_text()
    }

    fn judge(&self, rtl: &Rtl<U>, dump: Option<(u64, &Path)>) -> Result<Judged<Self>, String> {
        match dump {
            None => Ok(check_fresh(self, rtl, Judges::All, &mut ())),
            Some((from, path)) => check_with_dump(self, rtl, from, path, &mut ()),
        }
    }

    fn of_mutant(&mut self, dir: &Path, no_assert: bool, number: u32) {
        self.rtl = Some(dir.to_owned());
        self.no_assert = no_assert;
        self.mutant = Some(number);
    }

    fn history(&self, last: u64) -> History<U> {
        let mut lines = Lines::new(self, last);
        stimulus::golden_alone(self, last, &mut lines);
        lines.history
    }

    fn classes(&self, sides: [&U::State; 2]) -> [Vec<Class>; 2] {
        ShownState::of_sides::<U>(sides, self.lanes as usize).map(|found| found.lanes)
    }

    fn stack(golden: &U::Golden) -> Option<String> {
        U::stack(golden)
    }

    fn words(&self, from: u64, last: u64, mismatch: Option<&Mismatch<U>>) -> Words {
        words(self, from, last, mismatch)
    }

    fn document(rule: &str) -> String {
        let file = match rule.starts_with("contract-") {
            true => "contract".to_owned(),
            false => format!("spec/{}", U::NAME),
        };
        format!("docs/{file}.md#{rule}")
    }
}

/// Does the same as [`check`](crate::check::check), with selectable judges and a watch.
///
/// # Errors
/// The same as [`check`](crate::check::check).
pub fn check_fresh<U: Programs>(
    case: &Case<U>,
    rtl: &Rtl<U>,
    judges: Judges,
    watch: &mut impl Watch<U>,
) -> Result<Agreed<U>, Failure<Case<U>>> {
    let mut dut = open(case, rtl)?;
    let agreed = check_on(case, &mut dut, judges, watch)?;
    close(dut, case, agreed.compared)?;
    if agreed.compared.launches == 0 {
        let why = "nothing was compared: no program was launched".to_owned();
        return Err(Failure::new(case, Cause::NotRun(why), agreed.compared));
    }
    Ok(agreed)
}

/// Opens a fresh model of `rtl` for `case`. What the case says of the RTL (`rtl`, `no_assert`, `mutant`) is not used: the caller
/// has selected `rtl`.
///
/// # Errors
/// [`Cause::NotRun`]: `rtl` has other lanes or parameters than the case, or no model can be opened.
pub fn open<U: Programs>(case: &Case<U>, rtl: &Rtl<U>) -> Result<Dut<U>, Failure<Case<U>>> {
    let opened = rtl.open_for("case", &case.build(), case.model_seed());
    opened.map_err(|why| Failure::new(case, Cause::NotRun(why), Compared::default()))
}

/// Judges `case` on `dut`, a model of its build that may have run other cases before; `watch` observes the run. A model
/// cannot be used again after a case failed on it with [`Cause::Stopped`].
///
/// # Errors
/// The same as [`check`](crate::check::check).
pub fn check_on<U: Programs>(
    case: &Case<U>,
    dut: &mut Dut<U>,
    judges: Judges,
    watch: &mut impl Watch<U>,
) -> Result<Agreed<U>, Failure<Case<U>>> {
    check_by(case, dut, judges, Records::judge, watch)
}

/// The function by which a scalar judge is called.
pub type Judge<U> = fn(&Records<U>, &Case<U>, &<U as Design>::State) -> Verdict;

/// Does the same as [`check_on`], with `judge` as the scalar judge.
///
/// # Errors
/// The failure of `case`.
#[doc(hidden)]
pub fn check_by<U: Programs>(
    case: &Case<U>,
    dut: &mut Dut<U>,
    judges: Judges,
    judge: Judge<U>,
    watch: &mut impl Watch<U>,
) -> Result<Agreed<U>, Failure<Case<U>>> {
    // A judge that is not asked, or can never tell, needs no records.
    let plain = case.noise_cycles.is_none() && case.start.is_empty();
    let mut records = (judges != Judges::LockStep && plain).then(Records::default);
    let outcome = stimulus::run(case, dut, &mut case.golden(), &mut (watch, &mut records));
    verdict(case, judges, judge, outcome, records).map_err(|mut failure| {
        failure.case.ran_on(dut.origin());
        failure
    })
}

/// Runs `case` again on a fresh model, with a dump at `path` that begins at cycle `from`, and judges it in lock-step;
/// `watch` observes the run.
///
/// # Errors
/// `rtl` has other lanes or parameters than the case, no model can be opened, or the dump cannot be written.
pub fn check_with_dump<U: Programs>(
    case: &Case<U>,
    rtl: &Rtl<U>,
    from: u64,
    path: &Path,
    watch: &mut impl Watch<U>,
) -> Result<Result<Agreed<U>, Failure<Case<U>>>, String> {
    let mut dut = rtl.open_for("case", &case.build(), case.model_seed())?;
    let golden = &mut case.golden();
    let outcome = stimulus::run_with_dump(case, &mut dut, golden, watch, Some((from, path)))?;
    let verdict = verdict(case, Judges::LockStep, Records::judge, outcome, None);
    Ok(verdict.and_then(|agreed| close(dut, case, agreed.compared).map(|()| agreed)))
}

/// Ends the simulation on `dut`, on which `case` was the last and agreed; `compared` is what it compared.
///
/// # Errors
/// A `final` block of the RTL says that something is wrong.
pub fn close<U: Programs>(
    dut: Dut<U>,
    case: &Case<U>,
    compared: Compared,
) -> Result<(), Failure<Case<U>>> {
    let origin = dut.origin();
    dut.close().map_err(|why| {
        let mut failure = Failure::at_the_end(case, why, compared);
        failure.case.ran_on(origin);
        failure
    })
}

/// Gives the verdict on the run `ran`. This is where the order of the judges is defined.
///
/// # Errors
/// The failure of `case`.
#[doc(hidden)]
pub fn verdict<U: Programs>(
    case: &Case<U>,
    judges: Judges,
    judge: Judge<U>,
    ran: Ran<U>,
    records: Option<Records<U>>,
) -> Result<Agreed<U>, Failure<Case<U>>> {
    let Ran {
        compared,
        mismatch,
        stopped,
        lost,
        end,
        step_limit,
        not_flipped,
    } = ran;
    let fails = |cause| Err(Failure::new(case, cause, compared));
    if let Some(lost) = lost {
        return fails(lost.into());
    }
    if let Some(stopped) = stopped {
        return fails(Cause::Stopped(stopped));
    }
    if let Some(mismatch) = mismatch {
        return fails(Cause::Mismatch(Box::new(mismatch)));
    }
    if compared.cycles == 0 {
        return fails(Cause::NotRun("nothing was compared".to_owned()));
    }
    if let Some(why) = not_flipped {
        return fails(Cause::NotRun(why));
    }
    let scalar = match judges {
        Judges::LockStep => Scalar::NotAsked,
        Judges::All | Judges::Structured => match judge(&records.unwrap_or_default(), case, &end) {
            Verdict::Agrees {
                lanes,
                instructions,
            } => Scalar::Agrees {
                lanes,
                instructions,
            },
            Verdict::Disagrees { lane, how } => return fails(Cause::Judge { lane, how }),
            Verdict::NotStructured(why) if judges == Judges::Structured => {
                let how = format!("not structured: {why}");
                return fails(Cause::Judge { lane: 0, how });
            }
            Verdict::NotStructured(why) => Scalar::CannotTell(why),
        },
    };
    Ok(Agreed {
        compared,
        end,
        step_limit,
        scalar,
    })
}
