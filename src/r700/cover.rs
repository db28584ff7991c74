//! The bins of the unit: the situations from `docs/spec/r700.md` that a campaign must reach. Their axes are
//! in `cover/axes.rs`; `cover/sample.rs` counts the hits.

use super::R700;
use super::golden::{Error, Event, Golden};
use super::state::{In, State};
use crate::axes::{HostPort, Rest};
use reconverge_bench::design::Build;
use reconverge_campaign::cover::{
    Coverage, Cross, Decision, Groups, Hits, Previous, Status, Values as _, When,
};

mod axes;
mod instruction;
mod sample;
use axes::{
    After, Against, Bank, Before, Beyond, CallCount, Called, Caller, Clause, Code, Cond, Control,
    Corner, Count, Dropped, Ending, Entry, Executed, Frame, From, General, Innermost, Inside,
    InstKind, Jumper, Killed, Leave, Legal, Live, Mask, Opcode, Open, Pass, Pass2, Popper, Pops,
    Position, Pred, Present, Pusher, Reach, Refused, Returned, Room, Size, Start, Step, Straight,
    Tested, To, Two, Updates, Valid, Vpm, Where, Woken,
};
use sample::Memory;

/// The groups of the unit.
#[derive(Debug)]
pub struct Bins {
    all: u64,
    /// Entries of the stack.
    max: u32,
    /// Sub-entries of each entry.
    subentries: u32,
    host: HostPort,
    launches: Cross<(Rest, Mask, Entry, Size)>,
    neighbours: Cross<(Previous<InstKind>, InstKind)>,
    opcodes: Cross<(Opcode,)>,
    errors: Cross<(InstKind, Code)>,
    priority: Cross<(Two,)>,
    wqm: Cross<(Legal,)>,
    straight: Cross<(Straight, Present)>,
    classes: Cross<(Jumper, Present, Decision)>,
    conditions: Cross<(Control, Cond, Vpm, Decision)>,
    tests: Cross<(Tested, Pass, Vpm)>,
    executions: Cross<(Executed, Pass, Vpm)>,
    valid: Cross<(General, Vpm, Valid)>,
    lanes: Cross<(Legal, From, To)>,
    clauses: Cross<(Clause, Updates, Pred)>,
    pushes: Cross<(Pusher, Room, Live)>,
    nesting: Cross<(Frame, Innermost, Open)>,
    banks: Cross<(Start, Bank)>,
    /// Only for a unit with eight sub-entries in an entry.
    places: Option<Cross<(Start, Position)>>,
    pops: Cross<(Popper, Pops, Against, Innermost)>,
    reaches: Cross<(Reach, Innermost, Open, Refused)>,
    begins: Cross<(Start, Count, Inside, Decision)>,
    ends: Cross<(Ending, Count, Pass2)>,
    woken: Cross<(Ending, Pass2, Woken)>,
    index: Cross<(Step, Before, After)>,
    leaves: Cross<(Leave, Ending, Dropped)>,
    calls: Cross<(CallCount, Called)>,
    returns: Cross<(Returned, Caller)>,
    kills: Cross<(Killed, Decision)>,
    last: Cross<(General, Decision, Beyond)>,
    targets: Cross<(Jumper, Where)>,
    corners: Cross<(Corner,)>,
}

/// Returns whether an instruction of this kind jumps if no lane passes, and can stay only if one does.
fn jumps_without_lane(kind: InstKind) -> bool {
    use InstKind::{Jump, LoopStart, LoopStartDx10, LoopStartNoAl, Push, PushElse};
    matches!(
        kind,
        Jump | Push | PushElse | LoopStart | LoopStartDx10 | LoopStartNoAl
    )
}

/// Returns whether the class of a lane may change in this way (r700-4.3, column "lane classes").
fn changes(kind: InstKind, from: From, to: To) -> bool {
    use InstKind::*;
    let (on, off) = (from == From::Active, from == From::Branch);
    // The effect of a pop or an ELSE.
    let chosen = (on || off) && matches!(to, To::Active | To::Branch);
    let same = from.index() == to.index();
    let goes_off = on && to == To::Branch;
    match kind {
        Jump | Push | Pop | Else | AluPopAfter | AluPop2After => same || chosen,
        PushElse | Alu | AluPushBefore => same || goes_off,
        // With u, only lanes of the mask that it has just pushed change: those that were ACTIVE.
        AluElseAfter => same || chosen,
        LoopStart | LoopStartNoAl | LoopStartDx10 => same || chosen || to == To::Brk,
        // Another iteration: to ACTIVE or BRK. Leaving: to whatever the frame saved.
        LoopEnd => true,
        LoopContinue | AluContinue => same || on && to == To::Cont,
        LoopBreak | AluBreak => same || on && to == To::Brk,
        Call | Return | Kill | Slot | Memory | Reserved => same,
    }
}

impl Coverage<R700> for Bins {
    type Memory = Memory;
    const OVERVIEW: &'static [&'static str] = &[
        "opcodes",
        "errors",
        "classes, jumping",
        "pushes",
        "pops",
        "nesting",
        "loop starts",
        "calls",
    ];

    #[rustfmt::skip]
    fn declare(d: &mut Groups<R700>, build: &Build) -> Self {
        use When::{Sometimes, Step as EachStep};
        let max = build.value::<R700>("MAX_STACK_SIZE");
        let subentries = build.value::<R700>("SUBENTRIES");
        let dx10_count = build.value::<R700>("DX10_COUNT") == 1;
        // Whether loops of this kind count their passes (r700-4.3-z).
        let counts = move |start: InstKind| start != InstKind::LoopStartDx10 || dx10_count;
        let bins = Bins {
            all: u64::MAX >> (64 - build.lanes),
            max,
            subentries,
            host: HostPort::declare(d),
            launches: d.cross(Sometimes, "launches", "each launch: what went before, and its operands"),
            neighbours: d.cross(EachStep, "neighbours", "each step: the instruction before it, and itself"),
            opcodes: d.cross(Sometimes, "opcodes", "each instruction that executed, and each reserved one, which is error 1"),
            errors: d.cross(Sometimes, "errors", "each step that failed: instruction and error"),
            priority: d.cross(Sometimes, "error priority", "each step for which two errors hold: the lower code is reported"),
            wqm: d.cross(Sometimes, "WQM", "each instruction with WHOLE_QUAD_MODE: ignored, or error 2 (r700-4.2)"),
            straight: d.cross(Sometimes, "classes, straight", "each instruction without error that never jumps: lane classes present before it"),
            classes: d.cross(Sometimes, "classes, jumping", "each instruction without error that may jump: lane classes present before it, and what it decided"),
            conditions: d.cross(Sometimes, "conditions", "each control instruction without error: its condition, and what it decided"),
            tests: d.cross(Sometimes, "tests", "each control instruction without error but ELSE and POP, which do not test lanes as they find them: the lanes that passed"),
            executions: d.cross(Sometimes, "executions", "each slot, memory and export instruction: the lanes that passed, which execute it"),
            valid: d.cross(Sometimes, "valid lanes", "each instruction without error that has VPM: valid lanes before it"),
            lanes: d.cross(Sometimes, "lanes", "each instruction without error: every change of class of some lane"),
            clauses: d.cross(Sometimes, "clauses", "each ALU instruction without error: u, and the predicates of ACTIVE lanes"),
            pushes: d.cross(Sometimes, "pushes", "each push, and each that is error 7: room that it leaves"),
            nesting: d.cross(Sometimes, "nesting", "each push: what is pushed onto what"),
            banks: d.cross(Sometimes, "banks", "each loop frame: where in the four banks it begins (r700-3.4-k)"),
            places: (subentries == 8).then(|| d.cross(Sometimes, "places", "each loop frame: where in the eight sub-entries of an entry it begins (r700-3.4-h)")),
            pops: d.cross(Sometimes, "pops", "each pop that is made, and each that is error 6"),
            reaches: d.cross(Sometimes, "reach", "each instruction that needs its own loop or call frame: what it found (r700-4.3-x)"),
            begins: d.cross(Sometimes, "loop starts", "each loop start without error: count of its constant, loop around it, entered or not"),
            ends: d.cross(Sometimes, "loop ends", "each LOOP_END without error: passes left with this one"),
            woken: d.cross(Sometimes, "loop ends, woken", "each LOOP_END without error: lanes that it woke first"),
            index: d.cross(Sometimes, "aL", "each LOOP_END that jumps in a LOOP_START loop"),
            leaves: d.cross(Sometimes, "passes left", "each LOOP_CONTINUE and LOOP_BREAK that jumps: branch frames it drops"),
            calls: d.cross(Sometimes, "calls", "each CALL without error"),
            returns: d.cross(Sometimes, "returns", "each RETURN without error"),
            kills: d.cross(Sometimes, "kills", "each KILL without error"),
            last: d.cross(Sometimes, "program ends", "each instruction with END that executed"),
            targets: d.cross(Sometimes, "targets", "each jump, and each that error 9 refused: where to"),
            corners: d.cross(Sometimes, "corners", "decisions of r700-5 and corners of the unit's README that no other group singles out"),
        };

        d.unreachable(bins.neighbours, "r700-E1: a reserved opcode halts, so that none is behind it",
            |(before, _)| before.0 == Some(InstKind::Reserved));
        if max == 255 {
            d.unreachable(bins.launches, "MAX_STACK_SIZE is 255, and STACK_SIZE has 8 bits", |(.., size)| size == Size::More);
        }
        if max == 1 {
            d.unreachable(bins.launches, "MAX_STACK_SIZE is 1", |(.., size)| size == Size::Fewer);
        }

        d.unreachable(bins.errors, "r700-E1: error 1 is reserved opcodes, which have no other",
            |(kind, code)| (kind == InstKind::Reserved) != code.is(Error::Illegal));
        d.unreachable(bins.errors, "r700-4.2-a: WQM is ignored by ALU, slot, memory and export instructions",
            |(kind, code)| code.is(Error::Field) && Control::of(kind).is_none());
        d.unreachable(bins.errors, "r700-E3: error 3 is LOOP_END, LOOP_BREAK, LOOP_CONTINUE, ALU_BREAK, ALU_CONTINUE",
            |(kind, code)| code.is(Error::NoLoop)
                && !matches!(kind, InstKind::LoopEnd | InstKind::LoopBreak | InstKind::LoopContinue | InstKind::AluBreak | InstKind::AluContinue));
        d.unreachable(bins.errors, "r700-E4, r700-E5: error 4 is LOOP_END, error 5 is RETURN",
            |(kind, code)| code.is(Error::LoopOpen) && kind != InstKind::LoopEnd || code.is(Error::NoCall) && kind != InstKind::Return);
        d.unreachable(bins.errors, "r700-E6: error 6 is of what pops or inverts the top mask",
            |(kind, code)| code.is(Error::Underflow) && Popper::of(kind).is_none() && kind != InstKind::AluElseAfter);
        d.unreachable(bins.errors, "r700-E7: error 7 is of what pushes",
            |(kind, code)| code.is(Error::Overflow) && Pusher::of(kind).is_none());
        d.unreachable(bins.errors, "r700-2.3-i: the ALU format has no END_OF_PROGRAM",
            |(kind, code)| code.is(Error::EndStack) && Clause::of(kind).is_some());

        d.unreachable(bins.classes, "r700-4.3-b to r700-4.3-d, r700-4.3-g: JUMP, PUSH, PUSH_ELSE and loop starts stay only if a lane passes, and only ACTIVE lanes do",
            |(kind, present, decision)| jumps_without_lane(kind.0) && decision == Decision::Stay && !present.has(From::Active));
        d.unreachable(bins.classes, "r700-4.3-m, r700-4.3-n: CALL jumps, and RETURN stays, only if a lane is ACTIVE",
            |(kind, present, decision)| !present.has(From::Active)
                && (kind.0 == InstKind::Call && decision == Decision::Jump || kind.0 == InstKind::Return && decision == Decision::Stay));
        d.unreachable(bins.classes, "r700-4.3-f: ELSE swaps ACTIVE and BRANCH; without lanes of either class no lane is ACTIVE afterwards, and it jumps",
            |(kind, present, decision)| kind.0 == InstKind::Else && decision == Decision::Stay
                && !present.has(From::Active) && !present.has(From::Branch));
        d.unreachable(bins.classes, "r700-4.3-i: LOOP_END jumps back only if a lane is not BRK",
            |(kind, present, decision)| kind.0 == InstKind::LoopEnd && decision == Decision::Jump && present == Present(7));
        d.unreachable(bins.classes, "r700-4.3-k, r700-4.3-l: LOOP_BREAK and LOOP_CONTINUE jump if, and only if, no lane is ACTIVE or BRANCH afterwards",
            |(kind, present, decision)| matches!(kind.0, InstKind::LoopBreak | InstKind::LoopContinue) && match decision {
                Decision::Jump => present.has(From::Branch),
                Decision::Stay => !present.has(From::Active) && !present.has(From::Branch),
            });

        d.unreachable_by_history(bins.classes, "r700-4.3-m: a CALL needs an ACTIVE lane, which becomes CONT or BRK in the subroutine only in a loop of its own, and has its class back when that is left",
            |(kind, present, _)| kind.0 == InstKind::Return && !present.has(From::Active) && !present.has(From::Branch));
        d.unreachable(bins.conditions, "r700-4.3-e: POP never jumps",
            |(kind, _, _, decision)| kind.0 == InstKind::Pop && decision == Decision::Jump);
        d.unreachable(bins.conditions, "r700-4.1-a: no lane passes a condition that is false: JUMP, PUSH, PUSH_ELSE and loop starts jump, CALL stays, LOOP_END leaves",
            |(kind, cond, _, decision)| !cond.holds() && match kind.0 {
                InstKind::Call | InstKind::LoopEnd => decision == Decision::Jump,
                kind => jumps_without_lane(kind) && decision == Decision::Stay,
            });
        d.unreachable(bins.conditions, "r700-4.3-n, r700-O19: a RETURN stays if an ACTIVE lane fails, and only COND can fail it: VPM excuses the others",
            |(kind, cond, _, decision)| kind.0 == InstKind::Return && cond.holds() && decision == Decision::Stay);
        d.unreachable(bins.tests, "r700-4.1-c: apart from VPM all ACTIVE lanes pass or none",
            |(_, pass, vpm)| pass == Pass::Some && !vpm.0);
        d.unreachable(bins.executions, "r700-2.4-a: memory and export instructions have no COND: without VPM every ACTIVE lane passes",
            |(executed, pass, vpm)| executed.0 == InstKind::Memory && pass == Pass::None && !vpm.0);
        d.unreachable(bins.executions, "r700-4.1-c: apart from VPM all ACTIVE lanes pass or none",
            |(_, pass, vpm)| pass == Pass::Some && !vpm.0);
        if build.lanes == 1 {
            d.unreachable_values("one lane is all or none", |pass: Pass| pass == Pass::Some);
        }
        d.unreachable(bins.lanes, "r700-4.3: no such change in the column of lane classes",
            |(kind, from, to)| !changes(kind.0, from, to));
        d.unreachable_by_history(bins.lanes, "r700-4.3-g, r700-4.3-h: a lane that is not BRK in a loop was ACTIVE around it, and LOOP_END does not give it the class CONT back",
            |(kind, from, to)| kind.0 == InstKind::LoopEnd && from != From::Brk && to == To::Cont);
        d.unreachable_by_history(bins.lanes, "r700-4.3-u: an ACTIVE lane is in the mask of every branch frame open above base (pushes store all of them, pops and ELSE choose among those), so that only VPM lets a pop switch one off",
            |(kind, from, to)| matches!(kind.0, InstKind::AluPopAfter | InstKind::AluPop2After) && from == From::Active && to == To::Branch);
        d.unreachable(bins.pushes, "r700-3.4-e: with a branch frame live the last push left the reserve of two, of which a branch frame or a call takes one",
            |(pusher, room, live)| live.0 && room == Room::Less && Start::of(pusher.0).is_none());
        d.unreachable(bins.pushes, "r700-3.4-e: a call without a branch frame live takes one sub-entry, which is one too few at most",
            |(pusher, room, _)| pusher.0 == InstKind::Call && room == Room::Less);
        d.unreachable_by_history(bins.corners, "r700-3.3-b, r700-4.3-g: a lane that was not launched is in no mask, and loops give it back the class BRANCH",
            |(corner,)| corner == Corner::BornLater);

        d.unreachable(bins.pops, "r700-4.3-r: ALU_POP_AFTER pops one frame, ALU_POP2_AFTER two",
            |(popper, pops, ..)| popper.0 == InstKind::AluPopAfter && pops != Pops::One || popper.0 == InstKind::AluPop2After && pops != Pops::Two);
        d.unreachable(bins.pops, "r700-4.3-u: popping 0 frames does nothing, and cannot fail",
            |(_, pops, against, _)| pops == Pops::Zero && against == Against::Beyond);
        d.unreachable(bins.pops, "r700-E6: ELSE needs an open frame before it can pop any",
            |(popper, pops, against, _)| popper.0 == InstKind::Else
                && (pops == Pops::Zero && against == Against::Exactly || pops == Pops::One && against == Against::Beyond));

        d.unreachable(bins.reaches, "r700-E3, r700-E4, r700-E5: LOOP_* and ALU_BREAK, ALU_CONTINUE need a loop frame innermost, LOOP_END with nothing open; RETURN a call frame with nothing open",
            |(reach, innermost, open, found)| {
                let fits = match reach.0 {
                    InstKind::LoopEnd => innermost == Innermost::Loop && open == Open::None,
                    InstKind::Return => innermost == Innermost::Call && open == Open::None,
                    _ => innermost == Innermost::Loop,
                };
                fits == found.0
            });

        d.unreachable(bins.begins, "r700-4.3-g: LOOP_START and LOOP_START_NO_AL with count 0 jump",
            move |(start, count, _, decision)| counts(start.0) && count == Count::Zero && decision == Decision::Stay);
        // Whether a loop that ends counts its passes.
        let counted = move |ending| ending != Ending::Dx10 || dx10_count;
        d.unreachable(bins.ends, "r700-3.2-g: passes left are 0 in a DX10 loop, and only there",
            move |(ending, count, _)| counted(ending) == (count == Count::Zero));
        d.unreachable(bins.ends, "r700-4.3-i: a DX10 loop has no last pass",
            move |(ending, _, how)| !counted(ending) && how == Pass2::LastPass);
        d.unreachable(bins.ends, "r700-4.3-i, r700-4.3-j: LOOP_END jumps only if lc > 1, and where a lane passes it leaves only if lc is 1",
            move |(ending, count, how)| counted(ending) && match how {
                Pass2::Again => count == Count::One,
                Pass2::LastPass => count != Count::One,
                Pass2::NoLane => false,
            });
        d.unreachable(bins.woken, "r700-4.3-i: a DX10 loop has no last pass",
            move |(ending, how, _)| !counted(ending) && how == Pass2::LastPass);
        d.unreachable_by_history(bins.index, "r700-4.3-w: LOOP_START loads an index of 0 or more and a step; the index goes below 0 only by a negative step of the same loop",
            |(step, before, after)| step != Step::Down && (before == Before::Negative || after == After::Negative));
        d.unreachable_by_history(bins.index, "r700-O11: aL goes the way of its step, and never so far that it wraps",
            |(step, before, after)| {
                let (from, to) = (before.index(), after.index());
                match step {
                    Step::Zero => from != to,
                    Step::Down => to > from || to == from && before == Before::Zero,
                    Step::Up => to < from || to == from && before == Before::Zero,
                }
            });
        d.unreachable(bins.calls, "r700-4.3-m: the depth is 0 to 32, so that a CALL of 33 or more is always skipped and one of 0 never",
            |(count, called)| match count {
                CallCount::Zero => called == Called::Skipped,
                CallCount::Beyond => matches!(called, Called::Below | Called::Exactly),
                _ => false,
            });
        d.unreachable(bins.kills, "r700-4.3-o: KILL jumps if, and only if, no lane is valid afterwards",
            |(killed, decision)| killed == Killed::Some && decision == Decision::Jump || killed == Killed::All && decision == Decision::Stay);
        d.unreachable(bins.last, "r700-4.3-a, r700-4.3-e: slot, memory, export and POP never jump",
            |(kind, decision, _)| Straight::of(kind.0).is_some() && decision == Decision::Jump);
        d.unreachable(bins.last, "r700-E8: END with a frame open; an instruction that pushes a frame, or needs an open one and does not pop it, leaves one",
            |(kind, decision, _)| match decision {
                _ if matches!(kind.0, InstKind::PushElse | InstKind::LoopBreak | InstKind::LoopContinue) => true,
                Decision::Stay => Start::of(kind.0).is_some() || matches!(kind.0, InstKind::Push | InstKind::Else | InstKind::Return),
                Decision::Jump => matches!(kind.0, InstKind::Call | InstKind::LoopEnd),
            });
        d.unreachable_by_history(bins.targets, "r700-4.3-m: the address behind a RETURN would have been stored by it, and it is not a CALL",
            |(kind, place)| kind.0 == InstKind::Return && place == Where::Next);
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
            Event::Launched => self.launch(m, status, pins, hits),
            Event::Stalled | Event::Idle | Event::Waiting => {}
            Event::Executed { jump } => self.step(m, before, pins, Ok(jump), after.state(), hits),
            Event::Halted(code) => self.step(m, before, pins, Err(code), after.state(), hits),
        }
    }
}
