//! The bins of rpseq: what a campaign has to meet.

use reconverge::cover::When::{Cycle, Sometimes, Step as EachStep};
use reconverge::cover::{
    Coverage, Cross, Decision, Declaration, Hits, Instruction, Lanes, Level, Pace, Previous,
    Status, numbered,
};
use reconverge::design::{Build, Golden as _};
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

/// The groups of bins.
pub struct Bins {
    lanes: u32,
    depth: usize,
    cycles: Cross<(Status, Pace)>,
    steps: Cross<(Op, Level, Lanes)>,
    neighbours: Cross<(Previous<Op>, Op)>,
    branches: Cross<(Level, Lanes)>,
    yields: Cross<(Level, Decision)>,
    ends: Cross<(Ended,)>,
}

impl Coverage<RpSeq> for Bins {
    /// The last instruction.
    type Memory = Option<Op>;
    const OVERVIEW: &'static [&'static str] = &["steps", "branches", "ends"];

    #[rustfmt::skip]
    fn declare(d: &mut Declaration, build: &Build) -> Self {
        let depth = build.value::<RpSeq>("DEPTH") as usize;
        let bins = Bins {
            lanes: build.lanes,
            depth,
            cycles: d.cross(Cycle, "cycles", "each cycle: what the unit was doing, and what the bench did"),
            steps: d.cross(EachStep, "steps", "each step: instruction, entries on the stack, active lanes"),
            neighbours: d.cross(EachStep, "neighbours", "each step: the instruction before it, and itself"),
            branches: d.cross(Sometimes, "branches", "each BR: entries on the stack, lanes that take it"),
            yields: d.cross(Sometimes, "yields", "each YIELD: entries on the stack, whether lanes change places"),
            ends: d.cross(Sometimes, "ends", "each end of a program"),
        };
        let none = "the stack has no such level";
        d.unreachable(bins.steps, none, |(_, level, _)| !level.exists(depth));
        d.unreachable(bins.branches, none, |(level, _)| !level.exists(depth));
        d.unreachable(bins.yields, none, |(level, _)| !level.exists(depth));
        d.unreachable(bins.yields, "there is no entry", |at| at == (Level::Empty, Decision::Jump));
        let last = |op| [Code::OUTSIDE, END].map(Op::of).contains(&op);
        d.unreachable(bins.neighbours, "it ended the program", |(before, _)| before.0.is_some_and(last));
        bins
    }

    fn sample(
        &self,
        last: &mut Option<Op>,
        before: &State,
        pins: &In,
        after: &Golden,
        hits: &mut Hits,
    ) {
        let status = Status::of(before.running, before.done, (before.err != 0).into());
        hits.hit(
            self.cycles,
            (status, Pace::of(pins.rst_n, pins.stall, pins.inst_valid)),
        );
        if after.step() == Step::None {
            // A launch, if it runs now.
            *last = last.filter(|_| before.running == 1);
            return;
        }
        let (word, level) = (
            pins.inst & 0xf_0000,
            Level::of(before.level.into(), self.depth),
        );
        let op = Op::of(word);
        let lanes = |mask| Lanes::of(mask, self.lanes);
        hits.hit(self.steps, (op, level, lanes(before.active)));
        hits.hit(self.neighbours, (Previous(last.replace(op)), op));
        hits.hit_if(
            word == BR,
            self.branches,
            (level, lanes(before.active & pins.cond)),
        );
        let swaps = before.level > 0 && before.top_mask & before.active == 0;
        hits.hit_if(word == YIELD, self.yields, (level, swaps.into()));
        hits.hit_if(
            after.state().running == 0,
            self.ends,
            (Ended(after.state().err),),
        );
    }
}
