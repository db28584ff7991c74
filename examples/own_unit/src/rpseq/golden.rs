//! The golden model, written from `docs/spec/rpseq.md`.

use reconverge::design::{self, Build};
use reconverge::unit::{Executor, Step};

use super::values::error::{ILLEGAL, OPEN, OVERFLOW, UNDERFLOW};
use super::{In, RpSeq, State};

/// The golden model: what the RTL must do, one call a cycle.
#[derive(Clone, Debug)]
pub struct Golden {
    depth: usize,
    /// Lanes that wait, and where they go on, the bottom entry first.
    pub entries: Vec<(u64, u16)>,
    state: State,
    step: Step,
}

impl Golden {
    fn push(&mut self, mask: u64, pc: u16) -> Result<(), u8> {
        if self.entries.len() == self.depth {
            return Err(OVERFLOW);
        }
        self.entries.push((mask, pc));
        Ok(())
    }

    /// Executes an instruction; an error changes nothing. Returns the lanes that go on and where; `None` at the end.
    fn execute(&mut self, inst: u32, cond: u64) -> Result<Option<(u64, u16)>, u8> {
        let (target, next) = (inst as u16, self.state.pc.wrapping_add(1));
        let active = self.state.active;
        Ok(Some(match (inst >> 16, active & cond, active & !cond) {
            (0, ..) | (2, 0, _) => (active, next),
            (1, ..) => {
                self.push(active, target)?;
                (active, next)
            }
            (2, _, 0) | (5, ..) => (active, target),
            (2, taken, stays) => {
                self.push(stays, next)?;
                (taken, target)
            }
            (3, ..) => self.entries.pop().ok_or(UNDERFLOW)?,
            (4, ..) => match self.entries.last_mut() {
                Some(top) if top.0 & active == 0 => std::mem::replace(top, (active, next)),
                _ => (active, next),
            },
            (6, ..) if self.entries.is_empty() => return Ok(None),
            (6, ..) => return Err(OPEN),
            _ => return Err(ILLEGAL),
        }))
    }
}

impl design::Golden<RpSeq> for Golden {
    fn build(build: &Build) -> Self {
        Golden {
            depth: build.value::<RpSeq>("DEPTH") as usize,
            entries: Vec::new(),
            state: State::default(),
            step: Step::None,
        }
    }

    fn cycle(&mut self, pins: &In) -> &State {
        self.step = Step::None;
        let launch = self.state.running == 0 && pins.launch == 1;
        if pins.is_reset() || launch && !pins.is_stalled() {
            self.entries.clear();
            self.state = State::default();
            if !pins.is_reset() {
                (self.state.running, self.state.active) = (1, pins.lanes);
            }
        } else if self.state.running == 1 && pins.inst_valid == 1 && !pins.is_stalled() {
            self.step = Step::Executed;
            match self.execute(pins.inst, pins.cond) {
                Ok(Some((lanes, pc))) => (self.state.active, self.state.pc) = (lanes, pc),
                Ok(None) => (self.state.running, self.state.done) = (0, 1),
                Err(error) => {
                    (self.state.running, self.state.err) = (0, error);
                    self.step = Step::Failed;
                }
            }
        }
        self.state.level = self.entries.len() as u8;
        let top = self.entries.last().copied().unwrap_or_default();
        (self.state.top_mask, self.state.top_pc) = top;
        &self.state
    }

    fn state(&self) -> &State {
        &self.state
    }

    fn explain(&self, pins: &In, _field: &str, _element: usize) -> String {
        let rule = match pins.inst >> 16 {
            _ if pins.is_reset() => "1-a",
            _ if pins.is_stalled() => "1-b",
            _ if self.state.running == 0 => "1-c",
            _ if pins.inst_valid == 0 => "1-d",
            0 => "3-a",
            1 => "3-b",
            2 => "3-c",
            3 => "3-d",
            4 => "3-e",
            5 => "3-f",
            6 => "3-g",
            _ => "2-b",
        };
        format!("rpseq-{rule}")
    }
}

impl Executor<RpSeq> for Golden {
    fn step(&self) -> Step {
        self.step
    }
}
