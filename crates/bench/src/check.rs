//! How any kind of case is judged: [`check`] calls the [`TestCase`]. [`crate::stream::Stream::check_on`] decides whether a
//! stream of pins passes; for any other case the crate that defines it decides.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::design::{Build, Design, Origin};
use crate::dut::{Dut, Rtl};
use crate::failure::{Cause, Failure};
use crate::field::Flip;
use crate::input::{InputError, read_text};
use crate::lanes::Class;
use crate::lockstep::{Compared, Mismatch, Outcome, state_bytes};
use crate::report::History;
pub use crate::saved::Judges;
use crate::saved::{Savable, Saved};
use crate::wave::Words;

/// What a bench judges: a stream of pins ([`crate::stream::Stream`]), or a case that another crate defines, such as a
/// program with its environment.
pub trait TestCase: Savable + Send + Sync {
    /// Returns the name of the case, which is part of file names.
    fn name(&self) -> String;
    /// Adds `mark` to the part of the name before the seed.
    fn mark(&mut self, mark: &str);
    /// Returns the lanes and parameters with which RTL and golden model are built.
    fn build(&self) -> Build;
    /// Returns the lanes of the design.
    fn lanes(&self) -> usize {
        self.build().lanes as usize
    }
    /// Returns the seed of the case; not 0.
    fn seed(&self) -> u64;
    /// Returns the seed of its model: of registers without reset, and of X.
    fn model_seed(&self) -> u32;
    /// Makes `seed` the seed of its model.
    fn set_model_seed(&mut self, seed: u32);
    /// Records the model on which the case ran, for a replay. RTL that the case names already stays.
    fn ran_on(&mut self, origin: Origin) {
        self.set_model_seed(origin.seed);
        if self.rtl().is_none() && origin.rtl.is_some() {
            let mutant = Some(origin.mutant).filter(|mutant| *mutant != 0);
            self.on_rtl(origin.rtl.as_deref(), origin.no_assert, mutant);
        }
    }
    /// Records for a replay that the RTL is that in `dir`, or our own, whether its assertions were switched off, and the number of
    /// its mutant.
    fn on_rtl(&mut self, dir: Option<&Path>, no_assert: bool, mutant: Option<u32>);
    /// Returns the folder of the RTL that the case is for; `None`: our own.
    fn rtl(&self) -> Option<&Path>;
    /// Returns whether the assertions of that RTL are switched off.
    fn no_assert(&self) -> bool;
    /// Returns the number of the mutant that the case is for.
    fn mutant(&self) -> Option<u32>;
    /// Judges the case on a fresh model of `rtl`, which it ends. With `dump`, writes a dump from the given cycle on. Calls `progress` with
    /// the cycle from time to time.
    ///
    /// # Errors
    /// Outer: `rtl` has other lanes or parameters than the case, no model can be opened, or the dump cannot be written. Inner: the
    /// failure.
    fn judge(
        &self,
        rtl: &Rtl<Self::Design>,
        judges: Judges,
        dump: Option<(u64, &Path)>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Judged<Self>, String>;
    /// Returns the bit of the expected state that the case flips, if it does.
    fn flip(&self) -> Option<&Flip> {
        None
    }
    /// Returns why the golden model no longer draws this case, if it does not: its [`constrain`](crate::design::Golden::constrain)
    /// has changed since the case was saved.
    fn illegal(&self) -> Option<String> {
        None
    }
    /// Runs the golden model alone up to cycle `last`. Returns the last cycles as text, and the golden model and the pins
    /// of cycle `last`, as they were before it.
    fn history(&self, last: u64) -> History<Self::Design>;
    /// Returns the class of each lane in both `sides`, the states of RTL and golden model. Empty if the design runs no
    /// programs.
    fn classes(&self, sides: [&<Self::Design as Design>::State; 2]) -> [Vec<Class>; 2];
    /// Returns the contents of the golden model's stack, if the state shows only its top.
    fn stack(golden: &<Self::Design as Design>::Golden) -> Option<String>;
    /// Returns the text signals of the case's waves, from cycle `from` to cycle `last` or to the end of the run, with both
    /// sides of `mismatch`. Empty if the design runs no programs.
    fn words(&self, _from: u64, _last: u64, _mismatch: Option<&Mismatch<Self::Design>>) -> Words {
        Words::default()
    }
    /// Returns the text of the rule whose id `rule` begins with, and where that text is.
    fn document(rule: &str) -> String;
}

/// The scalar judge's verdict on a case that did not fail. In JSON: nothing, the reason, or what was compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Scalar {
    /// The scalar judge was not asked.
    #[default]
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
pub struct Agreed<D: Design> {
    /// How much was compared: at least one cycle.
    pub compared: Compared,
    /// State at the end.
    #[serde(with = "state_bytes")]
    pub end: D::State,
    /// The run ended because it reached the limit of instructions of its case.
    pub step_limit: bool,
    /// The scalar judge's verdict.
    pub scalar: Scalar,
    /// Text signals for the dump of the run, which only the run knows.
    #[serde(default, skip_serializing_if = "Words::is_empty")]
    pub words: Words,
}

/// The result of judging a case.
pub type Judged<C> = Result<Agreed<<C as Savable>::Design>, Failure<C>>;

/// Returns the verdict of the lock-step on `case`, whose run ended as `outcome`.
///
/// # Errors
/// The first of these that applies: the process of the RTL was lost, the RTL stopped the simulation, RTL and golden model differ,
/// nothing was compared, the bit to flip was not flipped.
pub fn by_lockstep<C: TestCase>(case: &C, outcome: Outcome<C::Design>) -> Judged<C> {
    let Outcome {
        compared,
        mismatch,
        stopped,
        lost,
        end,
        not_flipped,
        step_limit,
        words,
    } = outcome;
    match Cause::of_run(lost, stopped, mismatch, compared.cycles, not_flipped) {
        Some(cause) => Err(Failure {
            words,
            ..Failure::new(case, cause, compared)
        }),
        None => Ok(Agreed {
            compared,
            end,
            step_limit,
            scalar: Scalar::NotAsked,
            words,
        }),
    }
}

/// Ends the simulation on `dut`, on which `case` ran last and agreed; `compared` is what it compared.
///
/// # Errors
/// A `final` block of the RTL says that something is wrong.
pub fn close<C: TestCase>(
    dut: Dut<C::Design>,
    case: &C,
    compared: Compared,
) -> Result<(), Failure<C>> {
    let origin = dut.origin();
    dut.close().map_err(|why| {
        let cause = Cause::at_the_end(why, compared.cycles);
        let mut failure = Failure::new(case, cause, compared);
        failure.case.ran_on(origin);
        failure
    })
}

/// Returns `rtl` with the lanes, parameters and mutant of `case`: a shrunk case may have fewer lanes than the original.
///
/// # Errors
/// The RTL cannot be built with them.
pub fn rtl_for<C: TestCase>(case: &C, rtl: &Rtl<C::Design>) -> Result<Rtl<C::Design>, String> {
    let rtl = match case.build() == *rtl.build() {
        true => rtl.clone(),
        false => rtl.rebuilt(case.build())?,
    };
    Ok(match case.mutant() {
        Some(number) => rtl.mutant(number),
        None => rtl,
    })
}

/// Reads a saved case and runs it again on `rtl`, with the lanes and parameters of the case.
///
/// # Errors
/// Outer: the file cannot be read, or holds no case of this kind and design. Inner: the failure of the case.
pub fn replay<C: TestCase>(file: &Path, rtl: &Rtl<C::Design>) -> Result<Judged<C>, InputError> {
    let saved = Saved::<C>::parse(&read_text(file)?, &file.to_string_lossy())?;
    let not_run = |why| Failure::new(&saved.case, Cause::NotRun(why), Compared::default());
    let rtl = rtl_for(&saved.case, rtl).map_err(not_run);
    Ok(rtl.and_then(|rtl| check_with(&saved.case, &rtl, saved.judges())))
}

/// Judges `case` on a fresh model of `rtl`; a program is judged by all its judges.
///
/// # Errors
/// [`Cause::NotRun`]: the case has a value that a file must not have ([`Savable::check_input`]), or it does not fit `rtl`. Otherwise the
/// failure. Its `Display` and `Debug` are the report, so that `check(..).unwrap()` in a test prints it.
pub fn check<C: TestCase>(case: &C, rtl: &Rtl<C::Design>) -> Judged<C> {
    check_with(case, rtl, Judges::All)
}

/// Does the same as [`check`] with other judges.
///
/// # Errors
/// As [`check`].
pub fn check_with<C: TestCase>(case: &C, rtl: &Rtl<C::Design>, judges: Judges) -> Judged<C> {
    let not_run = |why| Failure::new(case, Cause::NotRun(why), Compared::default());
    if let Err(wrong) = case.check_input(&case.name()) {
        return Err(not_run(wrong.to_string()));
    }
    case.judge(rtl, judges, None, &mut |_| ())
        .unwrap_or_else(|why| Err(not_run(why)))
}
