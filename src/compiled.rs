//! The time-consuming functions of a unit, compiled in this crate.
//!
//! A generic function is compiled in the crate that calls it, with the settings of that crate. [`Compiled`] declares the functions in
//! which runs, campaigns and explorations spend their time as functions of each unit, so that they are compiled in this crate, with
//! full optimisation. The command calls them; the command itself is compiled without optimisation, in a tenth of the time (`docs/cost.md`).
//! All that runs RTL is behind one of them, [`crate::worker::obey`]; the others run the golden model alone.

use crate::explain::cycle::Explained;
use crate::unit::Unit;
use crate::worker::{Answer, Order, Worker};
use reconverge_bench::check::Judged;
use reconverge_bench::stream::Stream;
use reconverge_campaign::exhaust::{Space, TooLarge};
use reconverge_program::case::Case;
use reconverge_program::show::{End, Row, Run};
use reconverge_program::watch::Watch;

/// A unit whose time-consuming functions are compiled in its own crate, by [`compiled!`](crate::compiled!). Each function does what
/// the function linked in its text does.
pub trait Compiled: Unit {
    /// Executes an order to a worker that runs programs: [`crate::worker::obey`].
    fn obey(worker: &mut Worker<'_, Case<Self>>, order: Order<Case<Self>>) -> Answer<Case<Self>>;

    /// Executes an order to a worker that runs streams of pins: [`crate::worker::judge`].
    fn obey_pins(
        worker: &mut Worker<'_, Stream<Self>>,
        order: Order<Stream<Self>>,
    ) -> Answer<Stream<Self>>;

    /// Expands the next state of a small world: [`Space::expand`].
    ///
    /// # Errors
    /// There are more states than the limit.
    fn expand(space: &mut Space<'_, Self>) -> Result<Option<usize>, TooLarge>;

    /// Runs the golden model of `case` alone, up to cycle `last`: [`crate::stimulus::golden_alone`].
    fn golden_alone(case: &Case<Self>, last: u64, watch: &mut dyn Watch<Self>);

    /// Records what is shown of a run with this judgement: [`Run::judged`].
    fn run_to_show(case: &Case<Self>, judged: &Judged<Case<Self>>, fold: bool, most: usize) -> Run;

    /// Gives each row of a run up to cycle `last` to `sink`, until that returns false: [`crate::show::rows()`].
    fn rows(case: &Case<Self>, last: u64, sink: &mut dyn FnMut(Row) -> bool) -> End;

    /// Says why the instruction of a cycle did what it did: [`crate::explain::cycle::explain()`].
    fn explain(case: &Case<Self>, cycle: u64) -> Explained;
}

/// Implements [`Compiled`] for units: the functions are compiled in the crate that calls this macro.
#[macro_export]
macro_rules! compiled {
    ($($unit:ty),+ $(,)?) => {$(
        impl $crate::compiled::Compiled for $unit {
            fn obey(
                worker: &mut $crate::worker::Worker<'_, $crate::case::Case<Self>>,
                order: $crate::worker::Order<$crate::case::Case<Self>>,
            ) -> $crate::worker::Answer<$crate::case::Case<Self>> {
                $crate::worker::obey(worker, order)
            }
            fn obey_pins(
                worker: &mut $crate::worker::Worker<'_, $crate::stream::Stream<Self>>,
                order: $crate::worker::Order<$crate::stream::Stream<Self>>,
            ) -> $crate::worker::Answer<$crate::stream::Stream<Self>> {
                $crate::worker::judge(worker, order)
            }
            fn expand(
                space: &mut $crate::exhaust::Space<'_, Self>,
            ) -> Result<Option<usize>, $crate::exhaust::TooLarge> {
                space.expand()
            }
            fn golden_alone(
                case: &$crate::case::Case<Self>,
                last: u64,
                mut watch: &mut dyn $crate::watch::Watch<Self>,
            ) {
                $crate::stimulus::golden_alone(case, last, &mut watch);
            }
            fn run_to_show(
                case: &$crate::case::Case<Self>,
                judged: &$crate::check::Judged<$crate::case::Case<Self>>,
                fold: bool,
                most: usize,
            ) -> $crate::show::Run {
                $crate::show::Run::judged(case, judged, fold, most)
            }
            fn rows(
                case: &$crate::case::Case<Self>,
                last: u64,
                sink: &mut dyn FnMut($crate::show::Row) -> bool,
            ) -> $crate::show::End {
                $crate::show::rows(case, last, sink)
            }
            fn explain(
                case: &$crate::case::Case<Self>,
                cycle: u64,
            ) -> $crate::explain::cycle::Explained {
                $crate::explain::cycle::explain(case, cycle)
            }
        }
    )+};
}

#[cfg(feature = "units")]
macro_rules! units {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {
        compiled!($(crate::$module::$unit),+);
    };
}
#[cfg(feature = "units")]
for_each_unit!(units);
