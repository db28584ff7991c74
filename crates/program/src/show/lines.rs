//! The last cycles of a run, for the report of a failure.

use super::ShownState;
use super::text::{TURN, printed, turn};
use crate::assembly::Assembly as _;
use crate::case::Case;
use crate::program::{Executor as _, Pins as _, Programs, Step};
use crate::watch::Watch;
use reconverge_bench::design::Golden as _;
use reconverge_bench::report::{History, Line};

/// Keeps the last cycles of a program's run as text.
pub(crate) struct Lines<'c, U: Programs> {
    case: &'c Case<U>,
    from: u64,
    pub history: History<U>,
}

impl<'c, U: Programs> Lines<'c, U> {
    pub fn new(case: &'c Case<U>, last: u64) -> Self {
        Lines {
            case,
            from: History::<U>::from(last),
            history: History::default(),
        }
    }
}

impl<U: Programs> Watch<U> for Lines<'_, U> {
    fn before(&mut self, cycle: u64, pins: &U::In, golden: &U::Golden) {
        if cycle >= self.from {
            self.history.last = Some((golden.clone(), *pins));
        }
    }

    fn after(&mut self, cycle: u64, _: &U::In, golden: &U::Golden) {
        let Some((before, pins)) = &self.history.last else {
            return;
        };
        let lanes = self.case.lanes as usize;
        let wavefront = U::wavefront(before.state(), pins);
        let found = ShownState::of::<U>(before, lanes, wavefront);
        let pc = found.pc;
        let what = match golden.step() {
            // A further cycle of the same instruction.
            _ if U::mid_step(before.state()) => {
                format!("{} (continued)", self.case.program.statement(pc))
            }
            Step::Executed | Step::Failed => self.case.program.statement(pc),
            Step::None if U::mid_step(golden.state()) => self.case.program.statement(pc),
            Step::None => pins.describe(U::running(before.state())),
        };
        let next = ShownState::of_state::<U>(golden.state(), lanes, wavefront).active();
        let turn = match golden.step() {
            Step::None if U::returns_to(before.state(), pins).is_none() => String::new(),
            _ => turn(found.active(), next),
        };
        self.history.push(Line {
            cycle,
            what: format!("{}  {what}", found.address()),
            state: format!("{turn:<TURN$}  {}", printed(&found.stack)),
            lanes: found.lanes,
        });
    }
}
