//! The bins of the unit: the situations from `docs/spec/spa5.md` that a campaign must reach. Their axes are
//! in `cover/axes.rs`; `cover/sample.rs` counts the hits.

use super::Spa5;
use super::golden::{Error, Event, Golden};
use super::isa::seq;
use super::state::values::token::{DIV, PBK, PCNT, RET, SSY};
use super::state::{In, State};
use crate::axes::Failed;
use reconverge_bench::design::Build;
use reconverge_campaign::cover::{
    Coverage, Cross, Groups, Hits, Level, Pace, Previous, Values as _, When,
};

mod axes;
mod instruction;
mod sample;
use axes::{
    Active, Base, Bit, Branched, Brancher, Came, Cc, Code, Conditional, Corner, End, Entry, Fails,
    Fetched, Formula, Ignored, Indirect, InstKind, Inverted, Is, Kept, Launch, Leaver, Legal, Mask,
    Names, Opcode, Others, Popped, Position, Pred, Pushed, Pusher, Register, Result, Slot, Status,
    Stopped, Taken, Test, Top, Turns, Two, Unanimous, Vis, Waiting, Where,
};
use sample::Memory;

/// The groups of the unit.
#[derive(Debug)]
pub struct Bins {
    lanes: u32,
    all: u64,
    depth: usize,
    brx: bool,
    csm: bool,
    cycles: Cross<(Status, Pace, Launch)>,
    launches: Cross<(Stopped, Mask, Entry)>,
    bases: Cross<(Base,)>,
    addresses: Cross<(Bit, Is)>,
    fetches: Cross<(Came, Position, Fetched)>,
    neighbours: Cross<(Previous<InstKind>, InstKind)>,
    opcodes: Cross<(Opcode,)>,
    banks: Cross<(Pusher,)>,
    ignored: Cross<(Ignored,)>,
    errors: Cross<(Failed<Fails>, Code)>,
    priority: Cross<(Two,)>,
    predicates: Cross<(Conditional, Pred, Inverted)>,
    tests: Cross<(Conditional, Test)>,
    codes: Cross<(Formula, Cc)>,
    active: Cross<(Legal, Active)>,
    waiting: Cross<(Legal, Waiting)>,
    pushes: Cross<(Pusher, Level, Pushed)>,
    visible: Cross<(Pusher, Vis)>,
    tokens: Cross<(Pusher, Top)>,
    branches: Cross<(Brancher, Unanimous, Taken, Branched)>,
    indirect: Cross<(Register, Indirect)>,
    targets: Cross<(Pusher, Where, Slot)>,
    names: Cross<(Pusher, Names)>,
    leaves: Cross<(Leaver, Taken, Vis)>,
    unwinds: Cross<(Leaver, Popped, Result)>,
    kept: Cross<(Popped, Kept, Others)>,
    turns: Cross<(Leaver, Turns, End)>,
    corners: Cross<(Corner,)>,
}

/// Types of tokens.
const EMPTY: u8 = 0;

impl Coverage<Spa5> for Bins {
    type Memory = Memory;
    const OVERVIEW: &'static [&'static str] = &[
        "opcodes", "errors", "CC tests", "pushes", "leaves", "unwinds",
    ];

    #[rustfmt::skip]
    fn declare(d: &mut Groups<Spa5>, build: &Build) -> Self {
        use When::{Cycle, Sometimes, Step as EachStep};
        let depth = build.value::<Spa5>("DEPTH") as usize;
        let brx = build.value::<Spa5>("BRX") != 0;
        let csm = build.value::<Spa5>("CSM") != 0;
        let bins = Bins {
            lanes: build.lanes,
            all: u64::MAX >> (64 - build.lanes),
            depth,
            brx,
            csm,
            cycles: d.cross(Cycle, "cycles", "each cycle: what the unit was doing, and what bench and host asked of it"),
            launches: d.cross(Sometimes, "launches", "each launch: what went before, and its operands"),
            bases: d.cross(Sometimes, "program bases", "each launch: where the program lies"),
            addresses: d.cross(Sometimes, "address bits", "each instruction: the bits of its address"),
            fetches: d.cross(EachStep, "fetches", "each step: how PC got there, where it stands, how the step ended"),
            neighbours: d.cross(Sometimes, "neighbours", "each step with an instruction: the instruction before it, and itself"),
            opcodes: d.cross(Sometimes, "opcodes", "each instruction that executed, and each that is illegal or unsupported by its opcode"),
            banks: d.cross(Sometimes, "constant banks", "each instruction in its constant-bank form, error 10 for JMP, JCAL, BRX and JMX"),
            ignored: d.cross(Sometimes, "ignored bits", "each instruction that executed with bits set that have no effect in this unit"),
            errors: d.cross(Sometimes, "errors", "each step that failed: instruction and error"),
            priority: d.cross(Sometimes, "error priority", "each step for which two errors hold: which is reported"),
            predicates: d.cross(Sometimes, "predicates", "each conditional instruction whose CC test is in the table: its predicate"),
            tests: d.cross(Sometimes, "CC tests", "each conditional instruction: its CC test; those from 18 on are error 10"),
            codes: d.cross(Sometimes, "condition codes", "each conditional instruction: every condition code of an active thread, by test"),
            active: d.cross(Sometimes, "active", "each instruction that executed: active threads before it"),
            waiting: d.cross(Sometimes, "waiting", "each instruction that executed: what the other threads were waiting for"),
            pushes: d.cross(Sometimes, "pushes", "each set-up instruction and each branch that divides: tokens before it, and how it ended"),
            visible: d.cross(Sometimes, "pushes, vis", "each push: vis before it"),
            tokens: d.cross(Sometimes, "pushes, top", "each push: the token that it goes on"),
            branches: d.cross(Sometimes, "branches", "each BRA and JMP: the threads for which its condition was true, and how it ended"),
            indirect: d.cross(Sometimes, "indirect branches", "each BRX and JMX of a unit built with them: how it ended"),
            targets: d.cross(Sometimes, "targets", "each target that was looked at: where it lies, and the slot of the instruction"),
            names: d.cross(Sometimes, "targets, control words", "each target in the program: whether it is the address of a control word"),
            leaves: d.cross(Sometimes, "leaves", "each leaving instruction, refused ones too: the threads for which its condition was true, and vis"),
            unwinds: d.cross(Sometimes, "unwinds", "each cycle of an unwind: the instruction that began it, the token it popped, whether threads resume"),
            kept: d.cross(Sometimes, "kept out", "each popped token: why threads of its mask do not resume"),
            turns: d.cross(Sometimes, "unwinds, length", "each unwind: its cycles, and its end"),
            corners: d.cross(Sometimes, "corners", "corners of spec and README that no other group singles out"),
        };

        if !brx {
            const OFF: &str = "BRX=0: words E20 and E25 are unsupported opcodes";
            d.unreachable_values(OFF, InstKind::is_indirect);
            d.unreachable_values(OFF, |before: Previous<InstKind>| before.0.is_some_and(InstKind::is_indirect));
            d.unreachable(bins.corners, OFF, |(corner,)| corner == Corner::Wraps);
        } else {
            d.unreachable(bins.pushes, "spa5-A-c, spa5-A-d: a BRX that divides by its condition looks at no target, and one that divides by its register has looked at it",
                |(kind, _, pushed)| kind.0.is_indirect() && matches!(pushed, Pushed::Range | Pushed::Misaligned));
        }

        if csm {
            d.unreachable(bins.errors, "CSM=1: there is every CC test, and no other error 10 is told apart by a condition",
                |(failed, code)| (6..16).contains(&failed.index()) && code.is(Error::Unsupported));
            d.unreachable(bins.priority, "CSM=1: there is every CC test",
                |(two,)| matches!(two, Two::TestMisaligned | Two::TestRange | Two::TestToken));
        }
        d.unreachable(bins.fetches, "spa5-E6: error 6 is a PC outside the program, and always then",
            |(_, place, fetched)| (place == Position::Behind) != (fetched == Fetched::Outside));
        d.unreachable(bins.fetches, "spa5-4.2-a: every target that is jumped to lies in the program",
            |(came, place, _)| came == Came::Jump && place == Position::Behind);
        d.unreachable(bins.neighbours, "spa5-6-a: these forms are errors, which stop the unit, so that nothing is behind them",
            |(before, _)| matches!(before.0, Some(InstKind::Bank | InstKind::Unsupported | InstKind::Illegal)));

        d.unreachable(bins.errors, "spa5-E6: error 6 comes before there is an instruction, and a fetch has no other",
            |(failed, code)| failed.0.is_none() != code.is(Error::PcRange));
        d.unreachable(bins.errors, "spa5-E1 to spa5-E4: errors 1 to 4 are of SYNC, BRK, CONT and RET, each its own",
            |(failed, code)| {
                let owner = [InstKind::Sync, InstKind::Brk, InstKind::Cont, InstKind::Ret].get(code.index());
                owner.is_some_and(|owner| failed.0 != Some(Fails(*owner)))
            });
        d.unreachable(bins.errors, "spa5-E5, spa5-E7, spa5-E8: errors 5, 7 and 8 are of what has a target and pushes",
            |(failed, code)| {
                let target = failed.index() < 10;
                !target && [Error::StackOverflow, Error::TargetRange, Error::TargetMisaligned].iter().any(|e| code.is(*e))
            });
        d.unreachable(bins.errors, "spa5-E9: error 9 is an opcode E3B to E3F, which has no other",
            |(failed, code)| (failed.0 == Some(Fails(InstKind::Illegal))) != code.is(Error::Illegal));
        d.unreachable(bins.errors, "spa5-2.3-m: SSY, PBK, PCNT, PRET, CAL and JCAL have no CC test; other unsupported words are told apart here",
            |(failed, code)| failed.index() < 6 && code.is(Error::Unsupported));

        d.unreachable(bins.pushes, "spa5-E5: error 5 is a push on a full stack, and always then",
            |(_, level, pushed)| (level == Level::Full && pushed == Pushed::Done) || (level != Level::Full && pushed == Pushed::Full));
        d.unreachable_levels("DEPTH is so small that there is no such level", depth);
        d.unreachable(bins.branches, "spa5-4.3-c to spa5-4.3-f: without a thread BRA goes on, with all it jumps, with some it divides; BRA.U of some goes on",
            |(_, unanimous, taken, branched)| {
                let taken = if unanimous.0 && taken == Taken::Some { Taken::None } else { taken };
                match branched {
                    Branched::Through => taken != Taken::None,
                    Branched::Jumps => taken != Taken::All,
                    Branched::Divides | Branched::Full => taken != Taken::Some,
                    Branched::Range | Branched::Misaligned => taken == Taken::None,
                }
            });
        if build.lanes == 1 {
            d.unreachable(bins.branches, "one thread is all or none", |(_, _, taken, _)| taken == Taken::Some);
        }

        d.unreachable(bins.unwinds, "spa5-4.4-a: the stack is empty only when the unwind ends in DONE",
            |(_, popped, result)| (popped == Popped(EMPTY)) != (result == Result::Done));
        d.unreachable(bins.unwinds, "spa5-I11: DONE only with every thread exited, so that the last one left by EXIT or KIL",
            |(leaver, _, result)| result == Result::Done && !matches!(leaver.0, InstKind::Exit | InstKind::Kil));
        d.unreachable(bins.unwinds, "spa5-I4: the threads of a DIV token have not left, and resume",
            |(_, popped, result)| popped == Popped(DIV) && result == Result::Over);
        d.unreachable(bins.unwinds, "spa5-4.4-k: SYNC needs an SSY token below DIV tokens only",
            |(leaver, popped, _)| leaver.0 == InstKind::Sync && matches!(popped, Popped(PBK | PCNT | RET)));
        d.unreachable(bins.unwinds, "spa5-4.4-j: the token that a thread left for resumes it",
            |(leaver, popped, result)| result == Result::Over && matches!((leaver.0, popped),
                (InstKind::Sync, Popped(SSY)) | (InstKind::Brk, Popped(PBK)) | (InstKind::Cont, Popped(PCNT)) | (InstKind::Ret, Popped(RET))));
        d.unreachable(bins.unwinds, "spa5-4.4-k: BRK and CONT have their token above the nearest RET token, and stop there",
            |(leaver, popped, _)| matches!(leaver.0, InstKind::Brk | InstKind::Cont) && popped == Popped(RET));

        let lanes = build.lanes;
        if lanes < 6 {
            d.unreachable(bins.waiting, "spa5-I1, spa5-I2: one thread is active, and each other waits for one thing: there are not so many",
                move |(_, waiting)| u32::from(waiting.0).count_ones() >= lanes);
        }
        d.unreachable(bins.kept, "an empty stack has no threads", |(popped, ..)| popped == Popped(EMPTY));
        d.unreachable(bins.kept, "spa5-I4: no thread of a DIV token has left", |(popped, ..)| popped == Popped(DIV));
        d.unreachable(bins.kept, "spa5-4.4-c: a token ends the wait of its own flag",
            |(popped, kept, _)| matches!((popped, kept), (Popped(PBK), Kept::Brk) | (Popped(PCNT), Kept::Cont) | (Popped(RET), Kept::Ret)));
        d.unreachable(bins.kept, "spa5-4.4-k: BRK and CONT have their token above the nearest RET token, and it is popped first",
            |(popped, kept, _)| popped == Popped(RET) && matches!(kept, Kept::Brk | Kept::Cont));
        d.unreachable(bins.turns, "spa5-4.4-f: the first token that SYNC pops resumes a thread",
            |(leaver, turns, _)| leaver.0 == InstKind::Sync && turns != Turns::One);
        d.unreachable(bins.turns, "spa5-I11: DONE only with every thread exited, so that the last one left by EXIT or KIL",
            |(leaver, _, end)| end.0 && !matches!(leaver.0, InstKind::Exit | InstKind::Kil));
        bins
    }

    fn sample(&self, m: &mut Memory, before: &State, pins: &In, after: &Golden, hits: &mut Hits) {
        let status = Status::at(before.status.into());
        let pace = Pace::of(pins.rst_n, pins.stall, pins.inst_valid);
        hits.hit(self.cycles, (status, pace, Launch(pins.launch == 1)));
        match after.event() {
            Event::Reset => *m = Memory::default(),
            Event::Launched => self.launch(m, status, pins, hits),
            Event::Stalled | Event::Idle | Event::Waiting => {}
            Event::Executed => {
                self.instruction(m, before, pins, after, None, hits);
                self.completed(m, None, hits);
                let next = after.state().pc == seq(before.pc);
                m.came = Some(if next { Came::Next } else { Came::Jump });
            }
            Event::Emptied => {
                self.instruction(m, before, pins, after, None, hits);
                m.turns = 0;
            }
            Event::Failed(code) => {
                if code == Error::PcRange {
                    m.step = Some((m.came.unwrap_or(Came::Launch), Position::Behind));
                    hits.hit(self.errors, (Failed(None), Code::of(code)));
                } else {
                    self.instruction(m, before, pins, after, Some(code), hits);
                }
                self.completed(m, Some(code), hits);
            }
            event @ (Event::Popped | Event::Resumed | Event::Finished) => {
                self.turn(m, before, event, after.state(), hits);
                if event != Event::Popped {
                    self.completed(m, None, hits);
                    m.came = Some(Came::Token);
                }
            }
        }
    }
}
