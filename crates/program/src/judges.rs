//! Judges a case: RTL against golden model in lock-step, then the scalar judge, if it can tell. The verdict is the first of
//! these that applies: the process of the RTL was lost, the RTL stopped the simulation, RTL and golden model differ, nothing was
//! compared, the bit to flip was not flipped, the scalar judge disagrees.

use std::path::Path;

use crate::assembly::Assembly as _;
use crate::case::{Case, LONGEST_NAME};
use crate::program::{Programs, Records, Verdict};
use crate::show::{Class, Lines, ShownState, words};
use crate::stimulus;
use crate::watch::{Pulse, Watch};
pub use reconverge_bench::check::{Agreed, Judges, Scalar};
use reconverge_bench::check::{Judged, TestCase, by_lockstep, close};
use reconverge_bench::design::{Build, Design};
use reconverge_bench::dut::{Dut, Rtl};
use reconverge_bench::failure::{Cause, Failure};
use reconverge_bench::field::Flip;
use reconverge_bench::lockstep::Mismatch;
use reconverge_bench::report::History;
use reconverge_bench::wave::Words;

impl<U: Programs> TestCase for Case<U> {
    fn name(&self) -> String {
        Case::name(self)
    }

    fn mark(&mut self, mark: &str) {
        let room = LONGEST_NAME.saturating_sub(mark.len());
        let name: String = self.program.name().chars().take(room).collect();
        self.program.rename(name + mark);
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
        let enough = match judges {
            Judges::LockStep => true,
            Judges::Again(cycle) if agreed.compared.cycles > cycle => true,
            _ => agreed.compared.launches > 0,
        };
        if !enough {
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
        // The lanes below are those of the wavefront of the last cycle; the one that differs may be another one.
        if U::DECLARATION.wavefronts > 1 {
            return [Vec::new(), Vec::new()];
        }
        ShownState::of_sides::<U>(sides, self.lanes as usize).map(|found| found.lanes)
    }

    fn stack(golden: &U::Golden) -> Option<String> {
        U::stack(golden)
    }

    fn words(&self, from: u64, last: u64, mismatch: Option<&Mismatch<U>>) -> Words {
        words(self, from, last, mismatch)
    }

    fn document(rule: &str) -> String {
        // Other texts are no ids of a rule.
        let of = |prefix: &str| {
            rule.strip_prefix(prefix)
                .is_some_and(|id| id.starts_with('-'))
        };
        match () {
            () if of("contract") => format!("docs/contract.md#{rule}"),
            () if of(U::NAME) => format!("docs/spec/{}.md#{rule}", U::NAME),
            () => rule.to_owned(),
        }
    }
}

/// What the message of a program begins with that was drawn as a structured one, and which the scalar judge cannot judge.
pub const NOT_STRUCTURED: &str = "not structured";

/// The function by which a scalar judge is called.
pub type Judge<U> = fn(&Records<U>, &Case<U>, &<U as Design>::State) -> Verdict;

/// Judges `case` on `dut`, a model of its build that may have run other cases before, with `judge` as the scalar judge; `watch` observes
/// the run. A model cannot be used again after a case failed on it with [`Cause::Stopped`].
///
/// # Errors
/// The same as [`check`](reconverge_bench::check::check).
pub fn check_on<U: Programs>(
    case: &Case<U>,
    dut: &mut Dut<U>,
    judges: Judges,
    judge: Judge<U>,
    watch: &mut impl Watch<U>,
) -> Judged<Case<U>> {
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
    let mut records = (judges != Judges::LockStep && plain).then(|| Records::new(case.lanes));
    let watch = &mut (watch, &mut records);
    let ran = stimulus::run_with_dump(case, dut, &mut case.golden(), watch, dump)?;
    let judged =
        by_lockstep(case, ran).and_then(|agreed| by_scalar(case, judges, judge, agreed, records));
    Ok(judged.map_err(|mut failure| {
        failure.case.ran_on(dut.origin());
        failure
    }))
}

/// Asks the scalar judge about `case`, on which RTL and golden model agree, if `judges` say so.
fn by_scalar<U: Programs>(
    case: &Case<U>,
    judges: Judges,
    judge: Judge<U>,
    mut agreed: Agreed<U>,
    records: Option<Records<U>>,
) -> Judged<Case<U>> {
    if judges == Judges::LockStep {
        return Ok(agreed);
    }
    let records = records.unwrap_or_else(|| Records::new(case.lanes));
    let disagrees = |lane, how| {
        let cause = Cause::Judge { lane, how };
        Err(Failure::new(case, cause, agreed.compared))
    };
    agreed.scalar = match judge(&records, case, &agreed.end) {
        Verdict::Agrees {
            lanes,
            instructions,
        } => Scalar::Agrees {
            lanes,
            instructions,
        },
        Verdict::Disagrees { lane, how } => return disagrees(lane, how),
        Verdict::NotStructured(why) if judges == Judges::Structured => {
            return disagrees(0, format!("{NOT_STRUCTURED}: {why}"));
        }
        Verdict::NotStructured(why) => Scalar::CannotTell(why),
    };
    Ok(agreed)
}
