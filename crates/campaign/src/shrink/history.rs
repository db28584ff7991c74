//! The golden model's run up to a failure, instruction by instruction.

use std::collections::{BTreeMap, BTreeSet};

use crate::grammar::Campaign;
use reconverge_bench::design::Control;
use reconverge_bench::design::Golden;
use reconverge_bench::lanes::Wavefronts;
use reconverge_program::case::{Case, Row, Table};
use reconverge_program::instructions::Instructions;
use reconverge_program::program::{Executor as _, Pins, Step};
use reconverge_program::stimulus;
use reconverge_program::watch::Watch;

/// An instruction that was executed, or that ended in an error.
pub(super) struct Executed<U: Campaign> {
    pub(super) pc: u32,
    /// Pins with its instruction, or later ones with its conditions.
    pub(super) pins: U::In,
    /// Active lanes before the instruction.
    pub(super) active: u64,
    /// Lanes whose k it increments.
    pub(super) counts: u64,
}

/// The golden model's run from the last launch before a failure to the failure.
pub(super) struct History<U: Campaign> {
    /// Pins of the launch, and the state after it.
    pub(super) launch: Option<(U::In, U::State)>,
    /// The state preloaded after the launch.
    pub(super) start: Option<U::Start>,
    pub(super) steps: Vec<Executed<U>>,
    /// State before the step, and the pins of its first cycle.
    pub(super) before: (U::State, U::In),
    /// State after the last cycle.
    pub(super) now: U::State,
    pub(super) running: bool,
    wavefronts: Wavefronts,
}

impl<U: Campaign> History<U> {
    pub(super) fn of(case: &Case<U>, last: u64) -> Self {
        let state = *case.golden().state();
        let mut history = History {
            launch: None,
            start: None,
            steps: Vec::new(),
            before: (state, U::In::default()),
            now: state,
            running: false,
            wavefronts: Wavefronts::of::<U>(case.lanes as usize),
        };
        stimulus::golden_alone(case, last, &mut history);
        // A step that the failure interrupted.
        if U::mid_step(&history.now) {
            history.push(0);
        }
        history
    }

    pub(super) fn push(&mut self, counts: u64) {
        let (state, pins) = &self.before;
        let wavefront = U::wavefront(state, pins);
        self.steps.push(Executed {
            pc: U::pc_of(state, wavefront),
            pins: *pins,
            active: U::active(state) & self.wavefronts.mask(wavefront),
            counts: counts & self.wavefronts.mask(wavefront),
        });
    }

    /// Returns the number of each step's instruction in `program`.
    pub(super) fn numbers<'h>(
        &'h self,
        program: &'h U::Program,
    ) -> impl Iterator<Item = Option<usize>> + 'h {
        self.steps.iter().map(|step| program.number(step.pc))
    }

    /// Returns `table` adapted to a program that has only the instructions `kept`.
    pub(super) fn followed(
        &self,
        table: &Table,
        program: &U::Program,
        kept: &BTreeSet<usize>,
    ) -> Table {
        let mut old = [0u64; 64];
        let mut new = [0u64; 64];
        let mut moves = BTreeMap::new();
        for (step, number) in self.steps.iter().zip(self.numbers(program)) {
            let stays = number.is_none_or(|n| kept.contains(&n));
            for lane in (0..64).filter(|lane| step.counts >> lane & 1 == 1) {
                if stays {
                    moves.insert((lane as u32, old[lane]), new[lane]);
                    new[lane] += 1;
                }
                old[lane] += 1;
            }
        }
        let rows = table.rows().into_iter().filter_map(|row| {
            let seen = row.k < old[row.lane as usize];
            let k = match moves.get(&(row.lane, row.k)) {
                Some(k) => *k,
                // Not yet drawn at the failure.
                None if !seen => row.k - old[row.lane as usize] + new[row.lane as usize],
                None => return None,
            };
            Some(Row { k, ..row })
        });
        Table::from(rows.collect::<Vec<_>>())
    }
}

impl<U: Campaign> Watch<U> for History<U> {
    fn before(&mut self, _: u64, pins: &U::In, golden: &U::Golden) {
        self.running = U::running(golden.state());
        if !U::mid_step(golden.state()) {
            self.before = (*golden.state(), *pins);
        }
    }

    fn after(&mut self, _: u64, pins: &U::In, golden: &U::Golden) {
        self.now = *golden.state();
        if pins.is_reset() {
            (self.launch, self.start) = (None, None);
            self.steps.clear();
        } else if !self.running && pins.launches() && !pins.is_stalled() {
            (self.launch, self.start) = (Some((*pins, *golden.state())), None);
            self.steps.clear();
        }
        if let Some(wavefront) = U::returns_to(&self.before.0, pins) {
            let own = self.wavefronts.mask(wavefront);
            let mut steps = self.steps.iter_mut().rev();
            if let Some(step) = steps.find(|step| step.active & own != 0) {
                step.pins = *pins;
            }
        }
        match golden.step() {
            Step::None => {}
            Step::Executed => {
                let (before, pins) = &self.before;
                self.push(U::record(before, pins, golden.state()).counts);
            }
            Step::Failed => self.push(0),
        }
    }

    fn loaded(&mut self, start: &U::Start) {
        self.start = Some(start.clone());
    }
}
