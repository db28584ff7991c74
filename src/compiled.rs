//! The time-consuming functions of a unit, compiled in this crate.
//!
//! A generic function is compiled in the crate that calls it, with the settings of that crate. [`Compiled`] declares the functions in
//! which runs, campaigns and explorations spend their time as functions of each unit, so that they are compiled in this crate, with
//! full optimisation. The command calls them; the command itself is compiled without optimisation, in a tenth of the time (`docs/cost.md`).
//! All that runs RTL is behind one of them, [`worker::obey`]; the others run the golden model alone.

use crate::explain::cycle::{Explained, explain};
use crate::unit::Unit;
use crate::worker::{self, Answer, Order, Worker};
use reconverge_bench::check::Judged;
use reconverge_bench::stream::Stream;
use reconverge_campaign::exhaust::{Space, TooLarge};
use reconverge_program::case::Case;
use reconverge_program::show::{End, Row, Run, rows};
use reconverge_program::stimulus;
use reconverge_program::watch::Watch;

/// A unit whose time-consuming functions are compiled in this crate. Each function does what the function linked in its text does.
pub trait Compiled: Unit {
    /// Executes an order to a worker that runs programs: [`worker::obey`].
    fn obey(worker: &mut Worker<'_, Case<Self>>, order: Order<Case<Self>>) -> Answer<Case<Self>>;

    /// Executes an order to a worker that runs streams of pins: [`worker::obey`].
    fn obey_pins(
        worker: &mut Worker<'_, Stream<Self>>,
        order: Order<Stream<Self>>,
    ) -> Answer<Stream<Self>>;

    /// Expands the next state of a small world: [`Space::expand`].
    ///
    /// # Errors
    /// There are more states than the limit.
    fn expand(space: &mut Space<'_, Self>) -> Result<Option<usize>, TooLarge>;

    /// Runs the golden model of `case` alone, up to cycle `last`: [`stimulus::golden_alone`].
    fn golden_alone(case: &Case<Self>, last: u64, watch: &mut dyn Watch<Self>);

    /// Records what is shown of a run with this judgement: [`Run::judged`].
    fn run_to_show(case: &Case<Self>, judged: &Judged<Case<Self>>, fold: bool, most: usize) -> Run;

    /// Gives each row of a run up to cycle `last` to `sink`, until that returns false: [`rows()`].
    fn rows(case: &Case<Self>, last: u64, sink: &mut dyn FnMut(Row) -> bool) -> End;

    /// Says why the instruction of a cycle did what it did: [`explain()`].
    fn explain(case: &Case<Self>, cycle: u64) -> Explained;
}

macro_rules! compiled {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        impl Compiled for crate::$module::$unit {
            fn obey(
                worker: &mut Worker<'_, Case<Self>>,
                order: Order<Case<Self>>,
            ) -> Answer<Case<Self>> {
                worker::obey(worker, order)
            }
            fn obey_pins(
                worker: &mut Worker<'_, Stream<Self>>,
                order: Order<Stream<Self>>,
            ) -> Answer<Stream<Self>> {
                worker::obey(worker, order)
            }
            fn expand(space: &mut Space<'_, Self>) -> Result<Option<usize>, TooLarge> {
                space.expand()
            }
            fn golden_alone(case: &Case<Self>, last: u64, mut watch: &mut dyn Watch<Self>) {
                stimulus::golden_alone(case, last, &mut watch);
            }
            fn run_to_show(
                case: &Case<Self>,
                judged: &Judged<Case<Self>>,
                fold: bool,
                most: usize,
            ) -> Run {
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
