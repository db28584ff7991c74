//! Judges a case: RTL against golden model in lock-step, then the scalar judge, if it can tell. The verdict is the first of
//! these that applies: the process of the RTL was lost, the RTL stopped the simulation, RTL and golden model differ, nothing was
//! compared, the bit to flip was not flipped, the scalar judge disagrees.

use std::path::Path;

use crate::case::{Case, LONGEST_NAME};
use crate::program::{Programs, Records, Verdict};
use crate::show::{Class, Lines, ShownState, words};
use crate::stimulus::{self, Ran};
use crate::watch::{Pulse, Watch};
pub use reconverge_bench::check::{Agreed, Judges, Scalar};
use reconverge_bench::check::{Judged, TestCase};
use reconverge_bench::design::{Build, Design};
use reconverge_bench::dut::{Dut, Rtl};
use reconverge_bench::failure::{Cause, Failure};
use reconverge_bench::field::Flip;
use reconverge_bench::lockstep::{Compared, Mismatch};
use reconverge_bench::report::History;
use reconverge_bench::wave::Words;

impl<U: Programs> TestCase for Case<U> {
    fn name(&self) -> String {
        Case::name(self)
    }

    fn mark(&mut self, mark: &str) {
        let room = LONGEST_NAME.saturating_sub(mark.len());
        let name: String = U::name(&self.program).chars().take(room).collect();
        U::rename(&mut self.program, name + mark);
    }

    fn build(&self) -> Build {
        Case::build(self)
    }

    fn seed(&self) -> u64 {
        self.seed
    }

    fn model_seed(&self) -> u32 {
        Case::model_seed(self)
    }

    fn set_model_seed(&mut self, seed: u32) {
        Case::set_model_seed(self, seed);
    }

    fn on_rtl(&mut self, dir: Option<&Path>, no_assert: bool, mutant: Option<u32>) {
        self.rtl = dir.map(Path::to_owned);
        (self.no_assert, self.mutant) = (no_assert, mutant);
    }

    fn rtl(&self) -> Option<&Path> {
        self.rtl.as_deref()
    }

    fn no_assert(&self) -> bool {
        self.no_assert
    }

    fn mutant(&self) -> Option<u32> {
        self.mutant
    }

    fn flip(&self) -> Option<&Flip> {
        self.flip.as_ref()
    }

    fn judge(
        &self,
        rtl: &Rtl<U>,
        judges: Judges,
        dump: Option<(u64, &Path)>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Judged<Self>, String> {
        let mut dut = rtl.open_for("case", &self.build(), self.model_seed())?;
        let judged = run(
            self,
            &mut dut,
            judges,
            Records::judge,
            &mut Pulse(progress),
            dump,
        )?;
        let agreed = match judged {
            Ok(agreed) => agreed,
            failed => return Ok(failed),
        };
        if let Err(failure) = close(dut, self, agreed.compared) {
            return Ok(Err(failure));
        }
        if judges != Judges::LockStep && agreed.compared.launches == 0 {
            let why = "nothing was compared: no program was launched".to_owned();
            return Ok(Err(Failure::new(self, Cause::NotRun(why), agreed.compared)));
        }
        Ok(Ok(agreed))
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

/// Judges `case` on `dut`, a model of its build that may have run other cases before; `watch` observes the run. A model
/// cannot be used again after a case failed on it with [`Cause::Stopped`].
///
/// # Errors
/// The same as [`check`](reconverge_bench::check::check).
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
    run(case, dut, judges, judge, watch, None).unwrap_or_else(|e| unreachable!("no dump: {e}"))
}

fn run<U: Programs>(
    case: &Case<U>,
    dut: &mut Dut<U>,
    judges: Judges,
    judge: Judge<U>,
    watch: &mut impl Watch<U>,
    dump: Option<(u64, &Path)>,
) -> Result<Judged<Case<U>>, String> {
    // A judge that is not asked, or can never tell, needs no records.
    let plain = case.noise_cycles.is_none() && case.start.is_empty();
    let mut records = (judges != Judges::LockStep && plain).then(Records::default);
    let watch = &mut (watch, &mut records);
    let ran = stimulus::run_with_dump(case, dut, &mut case.golden(), watch, dump)?;
    let judged = verdict(case, judges, judge, ran, records);
    Ok(judged.map_err(|mut failure| {
        failure.case.ran_on(dut.origin());
        failure
    }))
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
    if let Some(cause) = Cause::of_run(lost, stopped, mismatch, compared.cycles, not_flipped) {
        return fails(cause);
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
    let mut agreed = Agreed::new(compared, end);
    (agreed.step_limit, agreed.scalar) = (step_limit, scalar);
    Ok(agreed)
}
