//! How a case is judged, whatever it is: [`check`] asks the [`TestCase`]. What fails and what passes is decided by
//! [`crate::stream::Stream::check_on`] for a stream of pins, and for any other case by the crate that brings it.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::design::Design;
use crate::dut::Rtl;
use crate::failure::{Cause, Failure};
use crate::input::InputError;
use crate::lanes::Class;
use crate::lockstep::{Compared, Mismatch};
use crate::place::Place;
use crate::report::History;
use crate::wave::Words;

/// What a bench judges: a stream of pins ([`crate::stream::Stream`]), or what another crate brings, such as a program with its
/// surroundings.
pub trait TestCase: Clone + Serialize + DeserializeOwned + Send + Sync {
    /// The design that it is for.
    type Design: Design;
    /// What is known of one that does not fail.
    type Agreed;
    /// Returns what it is called everywhere: part of the names of files.
    fn name(&self) -> String;
    /// Returns the lanes of the design.
    fn lanes(&self) -> usize;
    /// Checks what a file can get wrong.
    ///
    /// # Errors
    /// A value out of range.
    fn check_input(&self, file: &str) -> Result<(), InputError>;
    /// Returns the text of it as it is saved, with how it failed.
    fn to_saved(&self, place: Place) -> String;
    /// Judges it on a fresh model of `rtl`. With `dump` a dump is written, from this cycle on.
    ///
    /// # Errors
    /// Outside: with `dump` alone, no model can be opened or the dump not be written. Inside: how it fails.
    fn judge(
        &self,
        rtl: &Rtl<Self::Design>,
        dump: Option<(u64, &Path)>,
    ) -> Result<Judged<Self>, String>;
    /// Notes that it caught mutant `number` of those in `dir`, for a replay.
    fn of_mutant(&mut self, _dir: &Path, _no_assert: bool, _number: u32) {}
    /// Runs the golden alone up to cycle `last`; returns the last cycles as text, and how the golden was before the
    /// last one, with the pins of that.
    fn history(&self, last: u64) -> History<Self::Design>;
    /// Returns the class of each lane on both `sides`, the states of RTL and golden; nothing if the design runs no programs.
    fn classes(&self, sides: [&<Self::Design as Design>::State; 2]) -> [Vec<Class>; 2];
    /// Returns what is on the golden's stack, if the state shows only its top.
    fn stack(golden: &<Self::Design as Design>::Golden) -> Option<String>;
    /// Returns what waves of it say in words, from cycle `from` to cycle `last` or the end of the run; of `mismatch` both
    /// sides. Nothing if the design runs no programs.
    fn words(&self, _from: u64, _last: u64, _mismatch: Option<&Mismatch<Self::Design>>) -> Words {
        Words::default()
    }
    /// Returns where the rule stands whose id `rule` begins with, and what it says.
    fn document(rule: &str) -> String;
}

/// How a case was judged.
pub type Judged<C> = Result<<C as TestCase>::Agreed, Failure<C>>;

/// Judges `case` on a fresh model of `rtl`: a program by all its judges.
///
/// # Errors
/// The failure; its `Display` and `Debug` are the report, so that `check(..).unwrap()` in a test prints it.
pub fn check<C: TestCase>(case: &C, rtl: &Rtl<C::Design>) -> Result<C::Agreed, Failure<C>> {
    let not_run = |why| Failure::new(case, Cause::NotRun(why), Compared::default());
    case.judge(rtl, None)
        .unwrap_or_else(|why| Err(not_run(why)))
}
