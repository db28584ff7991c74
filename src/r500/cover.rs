//! The bins of the unit: the situations from `docs/spec/r500.md` that a campaign must reach. Their axes are
//! in `cover/axes.rs`; `cover/sample.rs` counts the hits.
//!
//! ```
//! use reconverge::cover::{Collector, Model};
//! use reconverge::r500::R500;
//! use reconverge::design::Build;
//!
//! let model = Model::<R500>::new(&Build::from(16));
//! let collector = Collector::new(&model); // a `Watch`: looks on in `stimulus::run`
//! let coverage = model.coverage(&collector);
//! assert_eq!(coverage.hit(), 0);
//! assert!(coverage.reachable() > 1000);
//! ```

use super::R500;
use super::golden::{Error, Event, Golden};
use super::isa::Op;
use super::state::{In, State};
use crate::axes::{Failed, HostPort, Rest};
use reconverge_bench::design::Build;
use reconverge_campaign::cover::{
    Coverage, Cross, Decision, Groups, Hits, Level, Previous, Status, When,
};

mod axes;
mod instruction;
mod sample;
use axes::{
    AOp, AddrEnd, Any, Around, BOp, Boolean, Came, Code, Corner, Count, Covered, Effect, Family,
    Fetched, Func, Highest, Ignore, InstKind, Inverted, Last, Left, Limit, LoopEnd, LoopKind,
    Offset, Open, Partial, Plain, PopCount, Position, Predicate, Present, Reserved, Row, Stacking,
    Start, Step, Target, Two, Where, Why, Woken, Wrap,
};
use sample::Memory;

/// The groups of the unit.
#[derive(Debug)]
pub struct Bins {
    all: u64,
    host: HostPort,
    launches: Cross<(Rest, Partial, Start, Offset)>,
    fetches: Cross<(Came, Position, Fetched)>,
    neighbours: Cross<(Previous<InstKind>, InstKind)>,
    errors: Cross<(Failed<Op>, Code)>,
    priority: Cross<(Two,)>,
    reserved: Cross<(Op, Reserved)>,
    partial: Cross<(Op, AOp)>,
    plain: Cross<(Plain, Present)>,
    classes: Cross<(Op, Present, Decision)>,
    decisions: Cross<(Op, Why, Any)>,
    rows: Cross<(Op, Row, Decision)>,
    conditions: Cross<(Predicate, Inverted, Func, Boolean)>,
    coverage: Cross<(Family, Ignore, Covered, Effect)>,
    counters: Cross<(Partial, Highest, BOp, Limit)>,
    pops: Cross<(PopCount, Woken, Decision)>,
    loop_stack: Cross<(Op, Level, LoopEnd)>,
    addr_stack: Cross<(Stacking, Family, Level, AddrEnd)>,
    begins: Cross<(LoopKind, Count, Around, Decision)>,
    ends: Cross<(LoopKind, Count, Around, Decision)>,
    al: Cross<(Step, Wrap, Around)>,
    targets: Cross<(Target, Where, Offset)>,
    last: Cross<(Last, Left, Open)>,
    corners: Cross<(Corner,)>,
}

/// Frames of the loop stack, entries of the address stack.
const STACK: usize = 4;

fn begins(op: Op) -> bool {
    matches!(op, Op::Loop | Op::Rep)
}
fn ends(op: Op) -> bool {
    matches!(op, Op::EndLoop | Op::EndRep)
}
fn breaks(op: Op) -> bool {
    matches!(op, Op::BreakLoop | Op::BreakRep)
}
/// Returns whether `op` needs a loop.
fn in_loop(op: Op) -> bool {
    ends(op) || breaks(op) || op == Op::Continue
}
fn pushes_frame(op: Op, decision: Decision) -> bool {
    begins(op) && decision == Decision::Stay
}
fn pops_frame(op: Op, decision: Decision) -> bool {
    ends(op) && decision == Decision::Stay || breaks(op) && decision == Decision::Jump
}

impl Coverage<R500> for Bins {
    type Memory = Memory;
    const OVERVIEW: &'static [&'static str] = &[
        "launches",
        "errors",
        "FC, classes",
        "branch counters",
        "loop stack",
        "address stack",
    ];

    #[rustfmt::skip]
    fn declare(d: &mut Groups<R500>, build: &Build) -> Self {
        use When::{Sometimes, Step as EachStep};
        let bins = Bins {
            all: u64::MAX >> (64 - build.lanes),
            host: HostPort::declare(d),
            launches: d.cross(Sometimes, "launches", "each launch: what went before, and the registers it took"),
            fetches: d.cross(EachStep, "fetches", "each step: how PC got there, where it stands in the code window, how it ended"),
            neighbours: d.cross(Sometimes, "neighbours", "each step with an instruction: the instruction before it, and itself"),
            errors: d.cross(Sometimes, "errors", "each step that failed: operation and error"),
            priority: d.cross(Sometimes, "error priority", "each step for which two errors hold: the lower code is reported"),
            reserved: d.cross(Sometimes, "reserved fields", "each reserved value of an instruction in error 1"),
            partial: d.cross(Sometimes, "partial mode", "each FC instruction in partial mode without a reserved value; all but plain JUMPs are error 2"),
            plain: d.cross(Sometimes, "plain, classes", "each ALU, OUT, TEX instruction: lane classes present"),
            classes: d.cross(Sometimes, "FC, classes", "each FC instruction without error: lane classes present before it, and what it decided"),
            decisions: d.cross(Sometimes, "decisions", "each FC instruction that came to a decision: what it rested on"),
            rows: d.cross(Sometimes, "lanes", "each FC instruction without error: every row of the lane table that a lane took"),
            conditions: d.cross(Sometimes, "conditions", "each FC instruction with a decision by vote and an ACTIVE lane: how its table was asked"),
            coverage: d.cross(Sometimes, "coverage", "each FC instruction decided by vote: covered lanes, and whether leaving others out changed the decision"),
            counters: d.cross(Sometimes, "branch counters", "each FC instruction without another error: highest counter and branch operation"),
            pops: d.cross(Sometimes, "branch pops", "each DECR: how many levels, and which lanes that woke"),
            loop_stack: d.cross(Sometimes, "loop stack", "each FC instruction: frames in use before it, and how it ended"),
            addr_stack: d.cross(Sometimes, "address stack", "each FC instruction with PUSH or POP: entries in use before it, and how it ended"),
            begins: d.cross(Sometimes, "loop begins", "each LOOP and REP without error: its count, the frame below, entered or skipped"),
            ends: d.cross(Sometimes, "loop ends", "each ENDLOOP and ENDREP without error: iterations left with this one, the frame below, again or left"),
            al: d.cross(Sometimes, "aL", "each ENDLOOP that jumps: step, whether aL wrapped, the frame below"),
            targets: d.cross(Sometimes, "targets", "each jump, and each that error 9 refused: where to"),
            last: d.cross(Sometimes, "program ends", "each instruction at END_ADDR: lanes and stacks it leaves"),
            corners: d.cross(Sometimes, "corners", "decisions of r500-5 and corners of the unit's README that no other group singles out"),
        };

        d.unreachable(bins.fetches, "r500-E9: with PC below the window nothing but a launch got there: every jump is checked, and PC + 1 goes up",
            |(came, place, _)| place == Position::Below && came != Came::Launch);
        d.unreachable(bins.fetches, "r500-E9: a jump that is taken lands in the window",
            |(came, place, _)| place == Position::Above && came == Came::Jumped);
        d.unreachable(bins.fetches, "r500-O32: what stands one before the first address lies outside and is never executed",
            |(came, place, _)| place == Position::First && matches!(came, Came::Plain | Came::Stayed));
        d.unreachable(bins.fetches, "r500-E9: outside the window there is no instruction, inside it the fetch is in order",
            |(_, place, fetched)| matches!(place, Position::Below | Position::Above) != (fetched == Fetched::Outside));

        d.unreachable(bins.errors, "r500-E9: a fetch outside the window is error 9, and there is no instruction that could have another",
            |(op, code)| op.0.is_none() && !code.is(Error::PcRange));
        d.unreachable(bins.errors, "r500-E3, r500-E4: errors 3 and 4 are of ENDLOOP, ENDREP, BREAKLOOP, BREAKREP; 3 of CONTINUE too",
            |(op, code)| {
                let elsewhere = matches!(op.0, Some(Op::Jump | Op::Loop | Op::Rep));
                let kind = code.is(Error::LoopKind);
                elsewhere && (kind || code.is(Error::LoopUnderflow)) || kind && op.0 == Some(Op::Continue)
            });
        d.unreachable(bins.errors, "r500-E5: error 5 is of LOOP and REP",
            |(op, code)| code.is(Error::LoopOverflow) && !op.0.is_some_and(begins));
        d.unreachable(bins.decisions, "r500-4.1-g, r500-4.1-h: count 0 decides LOOP and REP only, the last pass ENDLOOP and ENDREP only",
            |(op, why, _)| why == Why::CountZero && !begins(op) || why == Why::LastPass && !ends(op));
        d.unreachable(bins.decisions, "r500-4.2-c, r500-4.2-d: BRANCH lanes hold back BREAK and CONTINUE only, CONT lanes BREAK only",
            |(op, why, _)| match why {
                Why::HeldByBranch => !breaks(op) && op != Op::Continue,
                Why::HeldByCont | Why::HeldByBoth => !breaks(op),
                _ => false,
            });

        d.unreachable(bins.rows, "r500-4.1-e: CONT lanes return at ENDLOOP and ENDREP only",
            |(op, row, _)| matches!(row, Row::EndWakes | Row::EndSleeps) && !ends(op));
        d.unreachable(bins.rows, "r500-4.3-c, r500-4.3-d: to BRK by a BREAK that stays, to CONT by a CONTINUE that stays, and by nothing else",
            |(op, row, decision)| {
                let stays = decision == Decision::Stay;
                row == Row::ToBrk && !(breaks(op) && stays) || row == Row::ToCont && !(op == Op::Continue && stays)
            });
        d.unreachable(bins.rows, "r500-4.3-c, r500-4.3-d: of a BREAK or CONTINUE that stays no lane that disagrees becomes BRANCH or is carried along",
            |(op, row, decision)| {
                let leaves = breaks(op) || op == Op::Continue;
                matches!(row, Row::ToBranch | Row::Carried) && leaves && decision == Decision::Stay
            });
        d.unreachable(bins.rows, "r500-4.4-a, r500-4.4-b: LOOP and REP that stay push a frame, and nothing else does",
            |(op, row, decision)| match row {
                Row::ContPushed | Row::BrkPushed => !pushes_frame(op, decision),
                Row::ContKept | Row::BrkKept => pushes_frame(op, decision),
                _ => false,
            });
        d.unreachable(bins.rows, "r500-4.4-c, r500-4.4-d, r500-4.4-e: ENDLOOP and ENDREP that stay and BREAKs that jump pop a frame, and nothing else does",
            |(op, row, decision)| match row {
                Row::ContWakes | Row::BrkWakes | Row::ContDown | Row::BrkDown => !pops_frame(op, decision),
                Row::ContKept | Row::BrkKept => pops_frame(op, decision),
                _ => false,
            });
        d.unreachable(bins.rows, "r500-4.1-e: the CONT lanes that wait for the frame of an ENDLOOP or ENDREP are ACTIVE by the time it pops",
            |(op, row, _)| row == Row::ContWakes && ends(op));

        d.unreachable(bins.coverage, "r500-4.2-a: with IGNORE_UNCOVERED 0, or every lane covered, every lane is consulted",
            |(_, ignore, covered, effect)| effect.0 && (!ignore.0 || covered == Covered::All));

        d.unreachable(bins.counters, "r500-E8: error 8 is INCR with a counter at its limit, and always then",
            |(_, highest, b_op, limit)| limit.0 != (b_op == BOp::Incr && highest == Highest::Max));
        d.unreachable(bins.counters, "r500-3.1-b: in partial mode the limit is 3",
            |(partial, highest, ..)| partial.0 && highest == Highest::Middle);
        d.unreachable(bins.pops, "r500-4.3-j: no counter is below 0, so DECR by 0 wakes no lane",
            |(count, woken, _)| count == PopCount::Zero && matches!(woken, Woken::Some | Woken::All));

        d.unreachable(bins.loop_stack, "r500-E3: error 3 is an instruction of a loop with no frame, and always then",
            |(op, level, outcome)| {
                let empty = in_loop(op) && level == Level::Empty;
                outcome == LoopEnd::Underflow && !empty || empty && matches!(outcome, LoopEnd::Stay | LoopEnd::Jump)
            });
        d.unreachable(bins.loop_stack, "r500-E4: error 4 is ENDLOOP, ENDREP, BREAKLOOP or BREAKREP with a frame of the other kind",
            |(op, level, outcome)| outcome == LoopEnd::InstKind && (level == Level::Empty || !ends(op) && !breaks(op)));
        d.unreachable(bins.loop_stack, "r500-E5: error 5 is LOOP or REP that stays with 4 frames in use, and always then",
            |(op, level, outcome)| {
                let full = begins(op) && level == Level::Full;
                outcome == LoopEnd::Overflow && !full || full && outcome == LoopEnd::Stay
            });

        d.unreachable(bins.addr_stack, "r500-E6: error 6 is PUSH and jump with 4 entries in use, and always then",
            |(a_op, _, level, outcome)| {
                let full = a_op.0 == AOp::Push && level == Level::Full;
                outcome == AddrEnd::Overflow && !full || full && outcome == AddrEnd::Jump
            });
        d.unreachable(bins.addr_stack, "r500-E7: error 7 is POP and jump with no entry, and always then",
            |(a_op, _, level, outcome)| {
                let empty = a_op.0 == AOp::Pop && level == Level::Empty;
                outcome == AddrEnd::Underflow && !empty || empty && outcome == AddrEnd::Jump
            });

        d.unreachable(bins.begins, "r500-4.1-g: LOOP and REP with count 0 jump",
            |(_, count, _, decision)| count == Count::Zero && decision == Decision::Stay);
        d.unreachable(bins.ends, "r500-3.2-b: the count of a frame is 1 to 255",
            |(_, count, ..)| count == Count::Zero);
        d.unreachable(bins.ends, "r500-4.1-h: ENDLOOP and ENDREP of the last iteration stay",
            |(_, count, _, decision)| count == Count::One && decision == Decision::Jump);
        d.unreachable(bins.al, "r500-4.4-c: aL + KB goes below 0 only with a negative step, above 255 only with a positive one",
            |(step, wrap, _)| match wrap {
                Wrap::None => false,
                Wrap::Below => step != Step::Down,
                Wrap::Above => step != Step::Up,
            });
        d.unreachable_by_history(bins.targets, "r500-4.4-g: PUSH stores PC + 1 of an instruction in the window, which is not below it",
            |(target, place, _)| target == Target::Popped && place == Where::Below);
        d.unreachable_by_history(bins.targets, "r500-4.4-g: the address behind a POP would have been stored by that instruction, and no instruction pushes and pops",
            |(target, place, _)| target == Target::Popped && place == Where::Next);
        if build.lanes < 4 {
            d.unreachable_values("there are not so many lanes", |present: Present| present.count() > build.lanes);
        }
        bins
    }

    fn sample(&self, m: &mut Memory, before: &State, pins: &In, after: &Golden, hits: &mut Hits) {
        let status = Status::of(before.running, before.done, before.halted);
        let write = (pins.const_we == 1).then_some(pins.const_addr);
        let asked = (pins.inst_valid, pins.launch, write);
        self.host.sample(status, pins, asked, hits);
        match after.event() {
            Event::Reset => *m = Memory::default(),
            Event::Launched => {
                m.launch(pins);
                let start = Start::of(m.place(after.state().pc));
                let point = (Rest::of(status), m.mode(), start, m.offset());
                hits.hit(self.launches, point);
            }
            Event::Stalled | Event::Idle | Event::Waiting => {}
            event @ (Event::Other | Event::FlowControl { .. } | Event::Halted(_)) => {
                self.step(m, before, pins, (event, after.state()), hits);
            }
        }
    }
}
