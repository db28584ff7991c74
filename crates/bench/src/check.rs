//! How any kind of case is judged: [`check`] calls the [`TestCase`]. [`crate::stream::Stream::check_on`] decides whether a
//! stream of pins passes; for any other case the crate that defines it decides.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::design::Design;
use crate::dut::Rtl;
use crate::failure::{Cause, Failure};
use crate::field::Flip;
use crate::input::InputError;
use crate::lanes::Class;
use crate::lockstep::{Compared, Mismatch};
use crate::place::Place;
use crate::report::History;
use crate::wave::Words;

/// What a bench judges: a stream of pins ([`crate::stream::Stream`]), or a case that another crate defines, such as a
/// program with its environment.
pub trait TestCase: Clone + Serialize + DeserializeOwned + Send + Sync {
    /// The design that the case is for.
    type Design: Design;
    /// What is known about a case that passes.
    type Agreed;
    /// Returns the name of the case, which is part of file names.
    fn name(&self) -> String;
    /// Adds `mark` to the part of the name before the seed.
    fn mark(&mut self, mark: &str);
    /// Returns the lanes of the design.
    fn lanes(&self) -> usize;
    /// Checks the values that a file can get wrong.
    ///
    /// # Errors
    /// A value is out of range.
    fn check_input(&self, file: &str) -> Result<(), InputError>;
    /// Returns the case as saved text, with the place where it failed.
    fn to_saved(&self, place: Place) -> String;
    /// Judges the case on a fresh model of `rtl`. With `dump`, writes a dump from the given cycle on.
    ///
    /// # Errors
    /// Outer: `rtl` has other lanes or parameters than the case, no model can be opened, or the dump cannot be written. A case of
    /// a program without `dump` reports the first two as an inner [`Cause::NotRun`](crate::failure::Cause). Inner: the failure.
    fn judge(
        &self,
        rtl: &Rtl<Self::Design>,
        dump: Option<(u64, &Path)>,
    ) -> Result<Judged<Self>, String>;
    /// Returns the bit of the expected state that the case flips, if it does.
    fn flip(&self) -> Option<&Flip> {
        None
    }
    /// Records for a replay that the case caught mutant `number` of those in `dir`.
    fn of_mutant(&mut self, _dir: &Path, _no_assert: bool, _number: u32) {}
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

/// The result of judging a case.
pub type Judged<C> = Result<<C as TestCase>::Agreed, Failure<C>>;

/// Judges `case` on a fresh model of `rtl`; a program is judged by all its judges.
///
/// # Errors
/// [`Cause::NotRun`]: the case has a value that a file must not have ([`TestCase::check_input`]), or it does not fit `rtl`. Otherwise the
/// failure. Its `Display` and `Debug` are the report, so that `check(..).unwrap()` in a test prints it.
pub fn check<C: TestCase>(case: &C, rtl: &Rtl<C::Design>) -> Result<C::Agreed, Failure<C>> {
    let not_run = |why| Failure::new(case, Cause::NotRun(why), Compared::default());
    if let Err(wrong) = case.check_input(&case.name()) {
        return Err(not_run(wrong.to_string()));
    }
    case.judge(rtl, None)
        .unwrap_or_else(|why| Err(not_run(why)))
}
