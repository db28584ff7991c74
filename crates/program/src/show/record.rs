//! Makes the rows of a run from the golden model.

use super::{End, Row, ShownState};
use crate::assembly::Assembly as _;
use crate::case::Case;
use crate::program::{Executor as _, Pins as _, Programs, Step};
use crate::stimulus::golden_alone;
use crate::watch::Watch;
use reconverge_bench::design::{Control as _, Golden as _};

/// Makes a row of each instruction of a run, and of each return of conditions, and passes it to a sink.
pub struct Recorder<'c, U: Programs, F> {
    case: &'c Case<U>,
    /// The last cycle of the run, which always gives a row.
    last: u64,
    sink: F,
    wavefront: usize,
    /// Conditions of an earlier instruction return.
    returns: bool,
    /// The state before the present step.
    found: ShownState,
    launched: bool,
    enough: bool,
    end: ShownState,
    outcome: String,
}

impl<U: Programs, F: FnMut(Row) -> bool> Watch<U> for Recorder<'_, U, F> {
    fn before(&mut self, _: u64, pins: &U::In, golden: &U::Golden) {
        if !U::mid_step(golden.state()) {
            self.wavefront = U::wavefront(golden.state(), pins);
            self.returns = U::returns_to(golden.state(), pins).is_some();
            self.found = ShownState::of::<U>(golden, self.case.lanes as usize, self.wavefront);
        }
    }

    fn after(&mut self, cycle: u64, pins: &U::In, golden: &U::Golden) {
        let after = golden.state();
        self.end = ShownState::of::<U>(golden, self.case.lanes as usize, self.wavefront);
        let step = golden.step();
        let launched = pins.launches() && step == Step::None && U::running(after);
        let instruction = step != Step::None || U::mid_step(after);
        let shown = step != Step::None
            || self.returns
            || cycle == self.last
            || self.launched && (launched || pins.is_reset());
        if shown {
            let text = match instruction {
                true => self.case.program.statement(self.found.pc),
                false => pins.describe(!launched && U::running(after)),
            };
            let row = Row {
                cycle,
                text,
                instruction,
                found: self.found.clone(),
                next: self.end.active(),
            };
            self.enough |= !(self.sink)(row);
        }
        self.launched |= launched;
        self.outcome = U::outcome(after);
    }

    fn enough(&self) -> bool {
        self.enough
    }
}

/// Runs the golden model of `case` alone up to cycle `last`, and passes each row to `sink` until that returns false.
pub fn rows<U: Programs>(case: &Case<U>, last: u64, sink: impl FnMut(Row) -> bool) -> End {
    let mut recorder = Recorder {
        case,
        last,
        sink,
        wavefront: 0,
        returns: false,
        found: ShownState::default(),
        launched: false,
        enough: false,
        end: ShownState::default(),
        outcome: String::new(),
    };
    golden_alone(case, last, &mut recorder);
    End {
        found: recorder.end,
        outcome: recorder.outcome,
    }
}
