//! The time-consuming functions of a unit, compiled in this crate.
//!
//! A generic function is compiled in the crate that calls it, with the settings of that crate. [`Compiled`] declares the functions in
//! which runs, campaigns and explorations spend their time as functions of each unit, so that they are compiled in this crate, with
//! full optimisation. The command calls them; the command itself is compiled without optimisation, in a tenth of the time (`docs/cost.md`).

use std::path::Path;

use crate::explain::cycle::{Explained, explain};
use crate::unit::Unit;
use reconverge_bench::check::{self, Judges, TestCase as _};
use reconverge_bench::design::Build;
use reconverge_bench::dut::{Dut, Rtl};
use reconverge_bench::stream::Stream;
use reconverge_campaign::campaign::{Follow, Runner, Shrunk, Summary};
use reconverge_campaign::cover::{Model, run as cover};
use reconverge_campaign::exhaust::check::{Checked, check as exhaust};
use reconverge_campaign::exhaust::{Space, TooLarge, World};
use reconverge_campaign::shrink::{self, Budget};
use reconverge_mutate::mutate::Hunt;
use reconverge_program::case::Case;
use reconverge_program::show::{End, Row, Run, rows};
use reconverge_program::stimulus;
use reconverge_program::watch::Watch;

/// The result of judging a case.
pub type Judged<U> = check::Judged<Case<U>>;

/// A callback that receives the cycle of the run from time to time.
pub type Progress<'p> = dyn FnMut(u64) + 'p;

/// A unit whose time-consuming functions are compiled in this crate. Each function does what the function linked in its text does.
pub trait Compiled: Unit {
    /// Judges `case` on a fresh model: [`TestCase::judge`](reconverge_bench::check::TestCase::judge).
    ///
    /// # Errors
    /// As there.
    fn judge(
        case: &Case<Self>,
        rtl: &Rtl<Self>,
        judges: Judges,
        dump: Option<(u64, &Path)>,
        progress: &mut Progress<'_>,
    ) -> Result<Judged<Self>, String>;

    /// Judges a stream of pins: [`TestCase::judge`](reconverge_bench::check::TestCase::judge).
    ///
    /// # Errors
    /// As there.
    fn play(
        stream: &Stream<Self>,
        rtl: &Rtl<Self>,
        dump: Option<(u64, &Path)>,
        progress: &mut Progress<'_>,
    ) -> Result<check::Judged<Stream<Self>>, String>;

    /// Runs case `index` of a campaign: [`Runner::run`].
    fn run_case(
        runner: &mut Runner<'_, Case<Self>>,
        index: u64,
        progress: &mut Progress<'_>,
    ) -> Summary<Case<Self>>;

    /// Makes a failing case smaller: [`shrink::shrink`].
    ///
    /// # Errors
    /// The case does not fail, or a model cannot be opened.
    fn shrink(
        case: &Case<Self>,
        rtl: &Rtl<Self>,
        other: &dyn Fn(u32) -> Result<Rtl<Self>, String>,
        follow: &mut dyn Follow<Case<Self>>,
    ) -> Result<Shrunk<Case<Self>>, String>;

    /// Runs cases and counts what they cover: [`cover::run`].
    ///
    /// # Errors
    /// A model cannot be opened, or its counters cannot be read.
    fn cover(
        options: &cover::Options,
        model: &Model<Self>,
        rtl: &Rtl<Self>,
        follow: &dyn cover::Follow<Self>,
    ) -> Result<cover::Covered<Self>, String>;

    /// Runs the next case of a campaign against a mutant: [`Hunt::go_on`].
    ///
    /// # Errors
    /// No model can be opened.
    fn go_on(
        hunt: &mut Hunt<Case<Self>>,
        rtl: &Rtl<Self>,
        seed: u64,
        progress: &mut Progress<'_>,
    ) -> Result<(), String>;

    /// Takes all transitions from states of a small world, or transition `only` of each: [`reconverge_campaign::exhaust::check::check`].
    fn exhaust(
        world: &dyn World<Self>,
        build: &Build,
        dut: &mut Dut<Self>,
        states: &[Vec<u8>],
        only: Option<usize>,
        progress: &mut Progress<'_>,
    ) -> Checked<Self>;

    /// Expands the next state of a small world: [`Space::expand`].
    ///
    /// # Errors
    /// There are more states than the limit.
    fn expand(space: &mut Space<'_, Self>) -> Result<Option<usize>, TooLarge>;

    /// Runs the golden model of `case` alone, up to cycle `last`: [`stimulus::golden_alone`].
    fn golden_alone(case: &Case<Self>, last: u64, watch: &mut dyn Watch<Self>);

    /// Records what is shown of a run with this judgement: [`Run::judged`].
    fn run_to_show(case: &Case<Self>, judged: &Judged<Self>, fold: bool, most: usize) -> Run;

    /// Gives each row of a run up to cycle `last` to `sink`, until that returns false: [`rows()`].
    fn rows(case: &Case<Self>, last: u64, sink: &mut dyn FnMut(Row) -> bool) -> End;

    /// Says why the instruction of a cycle did what it did: [`explain()`].
    fn explain(case: &Case<Self>, cycle: u64) -> Explained;
}

macro_rules! compiled {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        impl Compiled for crate::$module::$unit {
            fn judge(
                case: &Case<Self>,
                rtl: &Rtl<Self>,
                judges: Judges,
                dump: Option<(u64, &Path)>,
                progress: &mut Progress<'_>,
            ) -> Result<Judged<Self>, String> {
                case.judge(rtl, judges, dump, progress)
            }
            fn play(
                stream: &Stream<Self>,
                rtl: &Rtl<Self>,
                dump: Option<(u64, &Path)>,
                progress: &mut Progress<'_>,
            ) -> Result<check::Judged<Stream<Self>>, String> {
                stream.judge(rtl, Judges::LockStep, dump, progress)
            }
            fn run_case(
                runner: &mut Runner<'_, Case<Self>>,
                index: u64,
                progress: &mut Progress<'_>,
            ) -> Summary<Case<Self>> {
                runner.run(index, &mut |cycle| progress(cycle))
            }
            fn shrink(
                case: &Case<Self>,
                rtl: &Rtl<Self>,
                other: &dyn Fn(u32) -> Result<Rtl<Self>, String>,
                follow: &mut dyn Follow<Case<Self>>,
            ) -> Result<Shrunk<Case<Self>>, String> {
                shrink::shrink(case, rtl, other, &Budget::default(), follow)
            }
            fn cover(
                options: &cover::Options,
                model: &Model<Self>,
                rtl: &Rtl<Self>,
                follow: &dyn cover::Follow<Self>,
            ) -> Result<cover::Covered<Self>, String> {
                cover::run(options, model, rtl, follow)
            }
            fn go_on(
                hunt: &mut Hunt<Case<Self>>,
                rtl: &Rtl<Self>,
                seed: u64,
                progress: &mut Progress<'_>,
            ) -> Result<(), String> {
                hunt.go_on(rtl, seed, &mut |cycle| progress(cycle))
            }
            fn exhaust(
                world: &dyn World<Self>,
                build: &Build,
                dut: &mut Dut<Self>,
                states: &[Vec<u8>],
                only: Option<usize>,
                progress: &mut Progress<'_>,
            ) -> Checked<Self> {
                exhaust(world, build, dut, states, only, progress)
            }
            fn expand(space: &mut Space<'_, Self>) -> Result<Option<usize>, TooLarge> {
                space.expand()
            }
            fn golden_alone(case: &Case<Self>, last: u64, mut watch: &mut dyn Watch<Self>) {
                stimulus::golden_alone(case, last, &mut watch);
            }
            fn run_to_show(case: &Case<Self>, judged: &Judged<Self>, fold: bool, most: usize) -> Run {
                Run::judged(case, judged, fold, most)
            }
            fn rows(case: &Case<Self>, last: u64, sink: &mut dyn FnMut(Row) -> bool) -> End {
                rows(case, last, sink)
            }
            fn explain(case: &Case<Self>, cycle: u64) -> Explained {
                explain(case, cycle)
            }
        }
    )+};
}
for_each_unit!(compiled);
