//! The golden model of rpwarps, written from the comment at the head of its RTL: four golden models of rpseq, and who is next.

use reconverge::design::{self, Build};
use reconverge::unit::{Executor, Step};

use super::{In, RpWarps, State, WARPS};
use crate::rpseq::{self, Golden as Warp};

/// The golden model: what the RTL must do, one call a cycle.
#[derive(Clone, Debug)]
pub struct Golden {
    /// Lanes of a warp.
    width: usize,
    pub warps: [Warp; WARPS],
    /// The BR for whose conditions each warp waits.
    waits: [Option<u32>; WARPS],
    /// The warp that issued last.
    last: usize,
    state: State,
    step: Step,
}

impl Golden {
    /// Returns the lanes of warp `warp` in `mask`.
    fn lanes(&self, warp: usize, mask: u64) -> u64 {
        mask >> (warp * self.width) & ((1 << self.width) - 1)
    }

    /// Gives all warps the same pins, except for the lanes of a launch.
    fn all(&mut self, pins: rpseq::In, lanes: u64) {
        for warp in 0..WARPS {
            let lanes = self.lanes(warp, lanes);
            design::Golden::cycle(&mut self.warps[warp], &rpseq::In { lanes, ..pins });
        }
        (self.waits, self.last) = ([None; WARPS], WARPS - 1);
    }

    /// Lets `warp` execute `inst`; returns what came of it.
    fn execute(&mut self, warp: usize, inst: u32, cond: u64) -> Step {
        let pins = rpseq::In {
            inst,
            inst_valid: 1,
            cond: self.lanes(warp, cond),
            ..rpseq::In::default()
        };
        design::Golden::cycle(&mut self.warps[warp], &pins);
        Executor::step(&self.warps[warp])
    }

    /// Returns the warp that may issue.
    fn next(&self) -> Option<usize> {
        let mut turns = (1..=WARPS).map(|turn| (self.last + turn) % WARPS);
        let runs = |warp: usize| design::Golden::state(&self.warps[warp]).running == 1;
        turns.find(|warp| runs(*warp) && self.waits[*warp].is_none())
    }

    fn show(&mut self) {
        let next = self.next();
        self.state = State {
            issue: next.is_some().into(),
            warp: next.unwrap_or(self.last) as u8,
            ..State::default()
        };
        for (warp, model) in self.warps.iter().enumerate() {
            let (of, shift) = (design::Golden::state(model), warp * self.width);
            let state = &mut self.state;
            state.pc[warp] = of.pc;
            state.running[warp] = of.running;
            state.waiting[warp] = self.waits[warp].is_some().into();
            state.done[warp] = of.done;
            state.err[warp] = of.err;
            state.level[warp] = of.level;
            state.top_pc[warp] = of.top_pc;
            state.active |= of.active << shift;
            state.top_mask |= of.top_mask << shift;
        }
    }
}

impl design::Golden<RpWarps> for Golden {
    fn build(build: &Build) -> Self {
        let width = build.lanes as usize / WARPS;
        let one = Build {
            lanes: width as u32,
            ..build.clone()
        };
        let mut golden = Golden {
            width,
            warps: std::array::from_fn(|_| design::Golden::build(&one)),
            waits: [None; WARPS],
            last: WARPS - 1,
            state: State::default(),
            step: Step::None,
        };
        golden.show();
        golden
    }

    fn cycle(&mut self, pins: &In) -> &State {
        self.step = Step::None;
        let back = usize::from(pins.cond_warp);
        if pins.is_reset() {
            self.all(rpseq::In::reset(), 0);
        } else if pins.is_stalled() {
        } else if pins.launch == 1 && self.state.running == [0; WARPS] {
            let launch = rpseq::In {
                launch: 1,
                ..rpseq::In::default()
            };
            self.all(launch, pins.lanes);
        } else if pins.cond_valid == 1
            && let Some(branch) = self.waits[back].take()
        {
            self.execute(back, branch, pins.cond);
        } else if pins.inst_valid == 1
            && let Some(warp) = self.next()
        {
            self.last = warp;
            if pins.inst >> 16 == 2 {
                self.waits[warp] = Some(pins.inst);
                self.step = Step::Executed;
            } else {
                self.step = self.execute(warp, pins.inst, 0);
            }
        }
        self.show();
        &self.state
    }

    fn state(&self) -> &State {
        &self.state
    }
}

impl Executor<RpWarps> for Golden {
    fn step(&self) -> Step {
        self.step
    }
}
