//! The bins of rpwarps: what its warps do to each other. What an instruction does within one warp is in the bins of rpseq.

use reconverge::cover::When::{Cycle, Sometimes, Step as EachStep};
use reconverge::cover::{
    Coverage, Cross, Decision, Groups, Hits, Lanes, Level, Pace, Status, axis,
};
use reconverge::design::{Build, Golden as _};
use reconverge::unit::{Executor as _, Programs as _, Step};

use super::golden::Golden;
use super::{In, RpWarps, State, WARPS};
use crate::rpseq::cover::{Ended, Op};

axis! {
    /// A warp.
    Warp "warp" 4 |n| format!("w{n}");

    /// How many warps wait for conditions.
    Waiting "waiting" 5 |n| n.to_string();

    /// The warp that issues, counted from the one that issued before.
    Turn "turn" 4 |n| ["the same", "the next", "skips one", "skips two"][n].to_owned();

    /// Which of the branches that wait gets its conditions.
    Order "order" of bool ["the oldest", "a younger one"]
}

/// What was issued before.
#[derive(Default)]
pub struct Before {
    last: Option<u8>,
    /// Warps that wait, the one that has waited longest first.
    waits: Vec<usize>,
}

/// The groups of bins.
pub struct Bins {
    width: u32,
    depth: usize,
    cycles: Cross<(Status, Pace)>,
    issues: Cross<(Warp, Op, Waiting)>,
    turns: Cross<(Turn, Waiting)>,
    returns: Cross<(Warp, Lanes, Level)>,
    orders: Cross<(Order, Decision, Waiting)>,
    ends: Cross<(Warp, Ended)>,
}

impl Coverage<RpWarps> for Bins {
    type Memory = Before;
    const OVERVIEW: &'static [&'static str] = &["issues", "returns", "orders"];

    #[rustfmt::skip]
    fn declare(d: &mut Groups<RpWarps>, build: &Build) -> Self {
        let depth = build.value::<RpWarps>("DEPTH") as usize;
        let bins = Bins {
            width: build.lanes / WARPS as u32,
            depth,
            cycles: d.cross(Cycle, "cycles", "each cycle: what the unit was doing, and what the bench did"),
            issues: d.cross(EachStep, "issues", "each step: warp, instruction, warps that wait for conditions"),
            turns: d.cross(Sometimes, "turns", "each step but the first: which warp issues, warps that wait"),
            returns: d.cross(Sometimes, "returns", "each return of conditions: warp, lanes that take the branch, entries on its stack"),
            orders: d.cross(Sometimes, "orders", "each return of conditions: which branch, whether an instruction has to wait for it, warps that wait"),
            ends: d.cross(Sometimes, "ends", "each end of a warp"),
        };
        d.unreachable(bins.issues, "a warp that waits does not issue", |(_, _, waiting)| waiting.0 == 4);
        d.unreachable(bins.turns, "a warp that waits does not issue", |(_, waiting)| waiting.0 == 4);
        d.unreachable_levels("the stack has no such level", depth);
        d.unreachable(bins.orders, "no warp waits", |(_, _, waiting)| waiting.0 == 0);
        d.unreachable(bins.orders, "it is the only one", |(order, _, waiting)| order.0 && waiting.0 == 1);
        d.unreachable(bins.orders, "no warp is left to issue", |(_, issues, waiting)| (issues, waiting.0) == (Decision::Jump, 4));
        bins
    }

    fn sample(
        &self,
        memory: &mut Before,
        before: &State,
        pins: &In,
        after: &Golden,
        hits: &mut Hits,
    ) {
        let runs = RpWarps::running(before);
        let failed = before.err != [0; WARPS];
        let status = Status::of(
            runs.into(),
            (!failed && before.done != [0; WARPS]).into(),
            failed.into(),
        );
        let pace = Pace::of(pins.rst_n, pins.stall, pins.inst_valid);
        hits.hit(
            self.cycles,
            (if runs { Status::Running } else { status }, pace),
        );
        if !runs || pins.rst_n == 0 {
            *memory = Before::default();
        }
        let waiting = Waiting(before.waiting.iter().sum());
        if after.step() != Step::None {
            let op = Op::of(pins.inst);
            hits.hit(self.issues, (Warp(before.warp), op, waiting));
            if let Some(last) = memory.last.replace(before.warp) {
                let turn = Turn((before.warp + 4 - last) % 4);
                hits.hit(self.turns, (turn, waiting));
            }
        }
        if let Some(warp) = RpWarps::returns_to(before, pins) {
            let own = |mask: u64| mask >> (warp * self.width as usize) & ((1 << self.width) - 1);
            let lanes = Lanes::of(own(before.active & pins.cond), self.width);
            let level = Level::of(before.level[warp].into(), self.depth);
            hits.hit(self.returns, (Warp(warp as u8), lanes, level));
            let order = Order(memory.waits.first().is_some_and(|oldest| *oldest != warp));
            let delayed = before.issue == 1 && pins.inst_valid == 1;
            hits.hit(self.orders, (order, delayed.into(), waiting));
            memory.waits.retain(|waits| *waits != warp);
        }
        for warp in 0..WARPS {
            let now = after.state();
            if now.waiting[warp] > before.waiting[warp] {
                memory.waits.push(warp);
            }
            hits.hit_if(
                now.running[warp] < before.running[warp] && pins.rst_n == 1,
                self.ends,
                (Warp(warp as u8), Ended(now.err[warp])),
            );
        }
    }
}
