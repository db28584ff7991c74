//! The bins of rpseq: what a campaign has to meet.

use reconverge::cover::When::{Sometimes, Step as EachStep};
use reconverge::cover::{
    Coverage, Cross, Decision, Groups, Hits, Instruction, Lanes, Level, Previous, numbered,
};
use reconverge::design::Build;
use reconverge::unit::{Executor as _, Step};
use reconverge::words::Code as _;

use super::golden::Golden;
use super::program::{BR, Code, END, YIELD};
use super::{ERROR_NAMES, In, RpSeq, State};

/// An instruction.
pub type Op = Instruction<Code>;

numbered! {
    /// How a program ended.
    Ended "ended" 5 |n| ERROR_NAMES[n].to_owned()
}

/// The groups of bins that do not count themselves.
pub struct Bins {
    lanes: u32,
    depth: usize,
    steps: Cross<(Op, Level, Lanes)>,
    branches: Cross<(Level, Lanes)>,
    yields: Cross<(Level, Decision)>,
}

impl Coverage<RpSeq> for Bins {
    type Memory = ();
    const OVERVIEW: &'static [&'static str] = &["steps", "branches", "ends", "pins", "fields"];

    #[rustfmt::skip]
    fn declare(d: &mut Groups<RpSeq>, build: &Build) -> Self {
        let depth = build.value::<RpSeq>("DEPTH") as usize;
        d.cycles();
        d.neighbours(|pins: &In| Op::of(pins.inst));
        d.ends(|state: &State| Ended(state.err));
        d.bits(build, |field, bit, value| {
            (field == "level" && value == 1 && 1 << bit > depth).then_some("the stack has no such level")
        });
        let bins = Bins {
            lanes: build.lanes,
            depth,
            steps: d.cross(EachStep, "steps", "each step: instruction, entries on the stack, active lanes"),
            branches: d.cross(Sometimes, "branches", "each BR: entries on the stack, lanes that take it"),
            yields: d.cross(Sometimes, "yields", "each YIELD: entries on the stack, whether lanes change places"),
        };
        d.unreachable_levels("the stack has no such level", bins.depth);
        d.unreachable(bins.yields, "there is no entry", |at| at == (Level::Empty, Decision::Jump));
        let last = |op| [Code::OUTSIDE, END].map(Op::of).contains(&op);
        d.unreachable_values("it ended the program", |before: Previous<Op>| before.0.is_some_and(last));
        bins
    }

    fn sample(&self, _: &mut (), before: &State, pins: &In, after: &Golden, hits: &mut Hits) {
        if after.step() == Step::None {
            return;
        }
        let (op, level) = (pins.inst >> 16, Level::of(before.level.into(), self.depth));
        let lanes = |mask| Lanes::of(mask, self.lanes);
        let swaps = before.level > 0 && before.top_mask & before.active == 0;
        let taken = lanes(before.active & pins.cond);
        hits.hit(self.steps, (Op::of(pins.inst), level, lanes(before.active)));
        hits.hit_if(op == BR >> 16, self.branches, (level, taken));
        hits.hit_if(op == YIELD >> 16, self.yields, (level, swaps.into()));
    }
}
