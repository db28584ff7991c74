//! The bins of the unit: what of the rules in `docs/spec/r700.md` a campaign has to meet, all in one place.

use super::R700;
use super::golden::{Error, Event, Golden};
use super::isa::{AluOp, CfOp, MemOp};
use super::state::{ERROR_NAMES, In, State};
use crate::cover::{
    Coverage, Cross, Decision, Declaration, Hits, Host, Pace, Port, Previous, Rest, Status, Values,
    When, Written, axis, classes, numbered, part, present,
};
use crate::unit::Build;

// ---- axes --------------------------------------------------------------------------------------------

axis! {
    /// An instruction: each control instruction and each ALU form by itself, the rest by what they are to
    /// the sequencer.
    Kind "instruction" {
        LoopStart "LOOP_START",
        LoopStartNoAl "LOOP_START_NO_AL",
        LoopStartDx10 "LOOP_START_DX10",
        Jump "JUMP",
        Push "PUSH",
        PushElse "PUSH_ELSE",
        Call "CALL",
        Return "RETURN",
        LoopEnd "LOOP_END",
        LoopContinue "LOOP_CONTINUE",
        LoopBreak "LOOP_BREAK",
        Kill "KILL",
        Else "ELSE",
        Pop "POP",
        Slot "slot",
        Memory "memory, export",
        Alu "ALU",
        AluPushBefore "ALU_PUSH_BEFORE",
        AluPopAfter "ALU_POP_AFTER",
        AluPop2After "ALU_POP2_AFTER",
        AluContinue "ALU_CONTINUE",
        AluBreak "ALU_BREAK",
        AluElseAfter "ALU_ELSE_AFTER",
        Reserved "reserved opcode",
    }
}

part! {
    /// Instructions that open a loop.
    Start "instruction" of Kind 0 3
}
part! {
    /// Instructions that may jump.
    Jumper "instruction" of Kind 0 13
}
part! {
    /// Control instructions.
    Control "instruction" of Kind 0 14
}
part! {
    /// Control instructions that test the lanes as they find them, LOOP_END those that it has woken.
    Tested "instruction" of Kind 0 12
}
part! {
    /// Instructions that lanes execute if they pass.
    Executed "instruction" of Kind 14 2
}
part! {
    /// Everything but the ALU format: what has END, COND or VPM.
    General "instruction" of Kind 0 16
}
part! {
    /// Instructions that never jump.
    Straight "instruction" of Kind 13 10
}
part! {
    /// The ALU format.
    Clause "instruction" of Kind 16 7
}
part! {
    /// Everything that is not reserved.
    Legal "instruction" of Kind 0 23
}

numbered! {
    /// `CF_INST`: 0..63, then 8..15 of the ALU format.
    Opcode "opcode" 72 |n| match n {
        0..32 => CfOp::from_bits(n as u32).map_or(format!("{n} reserved"), |op| format!("{n} {}", op.name())),
        32..64 => MemOp::from_bits(n as u32).map_or(format!("{n} reserved"), |op| format!("{n} {}", op.name())),
        _ => AluOp::from_bits(n as u32 - 56).map_or(format!("{} reserved", n - 56), |op| format!("{} {}", n - 56, op.name())),
    }
}

numbered! {
    /// Error code.
    Code "error" 9 |n| format!("{} {}", n + 1, ERROR_NAMES[n + 1])
}

numbered! {
    /// Lane classes present: bit 0 ACTIVE, 1 BRANCH, 2 CONT, 3 BRK, minus one: some class always is.
    Present "lane classes" 15 |n| {
        let letters = "Abck".chars().enumerate();
        letters.filter(|(bit, _)| (n + 1) >> bit & 1 == 1).map(|(_, c)| c).collect()
    }
}

axis! {
    /// A lane's class before the instruction.
    From "lane before" {
        Active "A",
        Branch "b",
        Cont "c",
        Brk "k",
    }
}

axis! {
    /// And after it.
    To "lane after" {
        Active "A",
        Branch "b",
        Cont "c",
        Brk "k",
    }
}

axis! {
    /// `COND` and the boolean.
    Cond "COND" {
        Active "ACTIVE",
        False "FALSE",
        Bool1 "BOOL, it is 1",
        Bool0 "BOOL, it is 0",
        NotBool1 "NOT_BOOL, it is 1",
        NotBool0 "NOT_BOOL, it is 0",
    }
}

axis! {
    /// `VALID_PIXEL_MODE`.
    Vpm "VPM" {
        Off "0",
        On "1",
    }
}

axis! {
    /// Which ACTIVE lanes pass the condition test.
    Pass "pass" {
        NoneActive "no lane is ACTIVE",
        None "none",
        Some "some",
        All "all",
    }
}

axis! {
    /// Valid lanes.
    Valid "valid" {
        All "all",
        Some "some",
        None "none",
    }
}

axis! {
    /// Instructions that push, if they do.
    Pusher "instruction" {
        LoopStart "LOOP_START",
        LoopStartNoAl "LOOP_START_NO_AL",
        LoopStartDx10 "LOOP_START_DX10",
        Push "PUSH",
        PushElse "PUSH_ELSE",
        Call "CALL",
        AluPushBefore "ALU_PUSH_BEFORE",
        AluElseAfter "ALU_ELSE_AFTER",
    }
}

axis! {
    /// Sub-entries that a push leaves, the reserve of r700-3.4-e set aside.
    Room "room" {
        Less "2 or more too few",
        OneLess "1 too few",
        Zero "0",
        One "1",
        More "2 or more",
    }
}

axis! {
    /// Branch frames of all levels before a push.
    Live "branch frames" {
        None "none",
        Some "some",
    }
}

axis! {
    /// What is pushed.
    Frame "frame" {
        Branch "branch",
        LoopStart "LOOP_START",
        LoopStartNoAl "LOOP_START_NO_AL",
        LoopStartDx10 "LOOP_START_DX10",
        Call "call",
    }
}

axis! {
    /// The innermost loop or call frame.
    Innermost "innermost" {
        None "none",
        Loop "loop",
        Call "call",
    }
}

axis! {
    /// Branch frames open above it.
    Open "open" {
        None "0",
        One "1",
        More "2 or more",
    }
}

axis! {
    /// Instructions that pop branch frames.
    Popper "instruction" {
        LoopStart "LOOP_START",
        LoopStartNoAl "LOOP_START_NO_AL",
        LoopStartDx10 "LOOP_START_DX10",
        Jump "JUMP",
        Push "PUSH",
        Else "ELSE",
        Pop "POP",
        AluPopAfter "ALU_POP_AFTER",
        AluPop2After "ALU_POP2_AFTER",
    }
}

axis! {
    /// How many.
    Pops "frames to pop" {
        Zero "0",
        One "1",
        Two "2",
        More "3..7",
    }
}

axis! {
    /// Against those that are open above the innermost loop or call frame.
    Against "they are" {
        Fewer "fewer than are open",
        Exactly "all that are open",
        Beyond "more: error 6",
    }
}

axis! {
    /// Instructions that need a loop or call frame, and may not reach through another.
    Reach "instruction" {
        LoopEnd "LOOP_END",
        LoopContinue "LOOP_CONTINUE",
        LoopBreak "LOOP_BREAK",
        Return "RETURN",
        AluContinue "ALU_CONTINUE",
        AluBreak "ALU_BREAK",
    }
}

axis! {
    /// Whether the frame was there.
    Found "outcome" {
        Executed "executed",
        Refused "error 3, 4 or 5",
    }
}

axis! {
    /// The loop that an instruction stands in.
    Inside "inside" {
        Nothing "no loop",
        Al "LOOP_START",
        NoAl "LOOP_START_NO_AL",
        Dx10 "LOOP_START_DX10",
    }
}

axis! {
    /// The loop that ends or is left.
    Ending "loop" {
        Al "LOOP_START",
        NoAl "LOOP_START_NO_AL",
        Dx10 "LOOP_START_DX10",
    }
}

axis! {
    /// A count of passes.
    Count "passes" {
        Zero "0",
        One "1",
        Two "2",
        More "3..4094",
        Most "4095",
    }
}

axis! {
    /// How LOOP_END went.
    Pass2 "LOOP_END" {
        Again "once more",
        LastPass "leaves after the last pass",
        NoLane "leaves, no lane passes",
    }
}

axis! {
    /// Lanes that LOOP_END woke.
    Woken "woken" {
        NoLane "no lane",
        Branch "BRANCH lanes",
        Cont "CONT lanes",
        Both "BRANCH and CONT lanes",
    }
}

axis! {
    /// Sign of the step.
    Step "step" {
        Down "negative",
        Zero "0",
        Up "positive",
    }
}

axis! {
    /// Sign of aL.
    Before "aL before" {
        Negative "negative",
        Zero "0",
        Positive "positive",
    }
}

axis! {
    /// Sign of aL afterwards.
    After "aL after" {
        Negative "negative",
        Zero "0",
        Positive "positive",
    }
}

axis! {
    /// Instructions that leave a pass.
    Leave "instruction" {
        Continue "LOOP_CONTINUE",
        Break "LOOP_BREAK",
    }
}

axis! {
    /// Branch frames that a jump to the end of the pass drops.
    Dropped "dropped" {
        None "0",
        One "1",
        More "2 or more",
    }
}

axis! {
    /// `CALL_COUNT`.
    CallCount "CALL_COUNT" {
        Zero "0",
        One "1",
        More "2..32",
        Beyond "33..63",
    }
}

axis! {
    /// What became of a CALL.
    Called "CALL" {
        NoLane "no lane passes",
        Below "depth up to 31",
        Exactly "depth 32",
        Skipped "too deep: skipped",
    }
}

axis! {
    /// What became of a RETURN.
    Returned "RETURN" {
        Stays "stays",
        All "every ACTIVE lane passes",
        NoneActive "no lane is ACTIVE",
        Invalid "only lanes that are not valid fail",
    }
}

axis! {
    /// What the caller stood in.
    Caller "the caller in" {
        None "nothing",
        Loop "a loop",
        Call "a call",
    }
}

axis! {
    /// Where the next PC of a last instruction lies.
    Beyond "next PC" {
        Inside "in the program",
        Outside "behind it",
    }
}

axis! {
    /// `u`.
    Updates "u" {
        No "0",
        Yes "1",
    }
}

axis! {
    /// Predicates of ACTIVE lanes.
    Pred "predicates" {
        NoneActive "no lane is ACTIVE",
        None "all 0",
        Some "0 and 1",
        All "all 1",
    }
}

axis! {
    /// Where a jump goes.
    Where "target" {
        Back "backward",
        Itself "itself",
        Next "next",
        Forward "forward",
        Outside "behind the program",
    }
}

axis! {
    /// Lanes that a KILL reaches.
    Killed "killed" {
        NoLane "no lane passes",
        Invalid "only lanes that are not valid",
        Some "some valid lanes",
        All "all valid lanes",
    }
}

axis! {
    /// Operand of a launch: lanes.
    Mask "lane mask" {
        None "none",
        Some "some",
        All "all",
    }
}

axis! {
    /// Operand of a launch: entry.
    Entry "entry" {
        Inside "in the program",
        Outside "behind it",
    }
}

axis! {
    /// Operand of a launch: `STACK_SIZE`.
    Size "STACK_SIZE" {
        Zero "0",
        Fewer "1..MAX-1",
        Max "MAX",
        More "above MAX",
    }
}

numbered! {
    /// Bank in which a loop frame begins.
    Bank "sp mod 4" 4 |n| n.to_string()
}

axis! {
    /// Two errors at once: reported, and also holding.
    Two "errors" {
        FieldLoop "2 over 3: WQM, no loop",
        FieldOpen "2 over 4: WQM, LOOP_END with a branch frame open",
        FieldCall "2 over 5: WQM, no call to return from",
        FieldPop "2 over 6: WQM, POP of too many",
        LoopEnd "3 over 8: no loop, and END",
        OpenEnd "4 over 8: LOOP_END with a branch frame open, and END",
        CallEnd "5 over 8: no call to return from, and END",
        PopEnd "6 over 8: pop of too many, and END",
        PushEnd "7 over 8: push that does not fit, and END",
        PopRange "6 over 9: pop of too many, and a target behind the program",
        CallRange "7 over 9: CALL that does not fit, and a target behind the program",
    }
}

axis! {
    /// Corners that no other group singles out.
    Corner "corner" {
        IdlePush "r700-O4: ALU_PUSH_BEFORE pushes although no lane is ACTIVE",
        IdlePushElse "r700-O14: PUSH_ELSE pushes although no lane is ACTIVE",
        PopNone "r700-4.3-u: VPM and a pop of 0: an ACTIVE lane that is not valid stays ACTIVE",
        PopFilters "r700-4.3-u: VPM and a pop: an ACTIVE lane that is not valid becomes BRANCH",
        ElseFilters "r700-4.3-v: VPM and ELSE: likewise",
        LeaveFilters "r700-O22: VPM and LOOP_END that leaves: likewise",
        ElseOutside "r700-4.3-v: ELSE leaves a lane outside the mask alone",
        ElseKeeps "r700-4.3-v: ELSE leaves CONT and BRK lanes of the mask alone",
        PopKeeps "r700-O2: a pop leaves CONT and BRK lanes alone",
        ElseOwn "r700-O16: ALU_ELSE_AFTER with u and no frame open pushes its own",
        ElseNone "r700-E6: ELSE with no frame open: error 6",
        ElseAfterNone "r700-E6: ALU_ELSE_AFTER without u and no frame open: error 6",
        BreakInCall "r700-O34: LOOP_BREAK or LOOP_CONTINUE in a subroutine called from a loop: error 3",
        KeepsIndex "r700-4.3-w: LOOP_START_NO_AL in a loop keeps its aL",
        OwnIndex "r700-4.3-w: LOOP_START in a loop loads its own aL",
        RestoresIndex "r700-4.3-w: leaving a loop restores another aL",
        Dx10Restores "r700-4.3-w: leaving a DX10 loop restores a count",
        SkippedSticks "r700-3.2-k: a CALL is performed after one that was skipped",
        CallPops "r700-O20: CALL with POP_COUNT",
        DeadExecutes "r700-3.1-c: a lane that is not valid executes",
        BornLater "r700-3.3-b: a lane that was not launched becomes ACTIVE",
        LeavesEarly "r700-4.3-j: LOOP_END leaves although passes are left",
        StackFull "r700-3.4-e: the last sub-entry of all is in use",
        ReserveFreed "r700-3.4-e: the last branch frame is popped, and with it the reserve",
        FallsOff "r700-O32: PC + 1 behind the program: error 9",
    }
}

// ---- the declaration ---------------------------------------------------------------------------------

/// The groups of the unit.
#[derive(Debug)]
pub struct Bins {
    all: u64,
    /// Entries of the stack.
    max: u32,
    clocks: Cross<(Status, Pace, Host)>,
    writes: Cross<(Written, Port)>,
    launches: Cross<(Rest, Mask, Entry, Size)>,
    neighbours: Cross<(Previous<Kind>, Kind)>,
    opcodes: Cross<(Opcode,)>,
    errors: Cross<(Kind, Code)>,
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
    pops: Cross<(Popper, Pops, Against, Innermost)>,
    reaches: Cross<(Reach, Innermost, Open, Found)>,
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

impl Cond {
    /// Whether the part of the test that is the same for all lanes holds.
    fn holds(self) -> bool {
        matches!(self, Cond::Active | Cond::Bool1 | Cond::NotBool0)
    }
}

impl Present {
    fn of(classes: [u64; 4]) -> Self {
        Present(present(classes) - 1)
    }

    fn has(self, class: From) -> bool {
        (self.0 + 1) >> class.index() & 1 == 1
    }
}

impl Code {
    fn is(self, code: Error) -> bool {
        self.0 + 1 == code as u8
    }
}

/// Whether an instruction of this kind jumps if no lane passes, and can stay only if one does.
fn jumps_without_lane(kind: Kind) -> bool {
    use Kind::{Jump, LoopStart, LoopStartDx10, LoopStartNoAl, Push, PushElse};
    matches!(
        kind,
        Jump | Push | PushElse | LoopStart | LoopStartDx10 | LoopStartNoAl
    )
}

/// Whether a lane may change so (r700-4.3, column "lane classes").
fn changes(kind: Kind, from: From, to: To) -> bool {
    use Kind::*;
    let (on, off) = (from == From::Active, from == From::Branch);
    // What a pop or an ELSE does.
    let chosen = (on || off) && matches!(to, To::Active | To::Branch);
    let same = from.index() == to.index();
    let goes_off = on && to == To::Branch;
    match kind {
        Jump | Push | Pop | Else | AluPopAfter | AluPop2After => same || chosen,
        PushElse | Alu | AluPushBefore => same || goes_off,
        // With u only lanes of the mask it has just pushed change: those that were ACTIVE.
        AluElseAfter => same || chosen,
        LoopStart | LoopStartNoAl | LoopStartDx10 => same || chosen || to == To::Brk,
        // Once more: to ACTIVE or BRK. Leaving: to whatever the frame saved.
        LoopEnd => true,
        LoopContinue | AluContinue => same || on && to == To::Cont,
        LoopBreak | AluBreak => same || on && to == To::Brk,
        Call | Return | Kill | Slot | Memory | Reserved => same,
    }
}

impl Coverage<R700> for Bins {
    type Memory = Memory;

    #[rustfmt::skip]
    fn declare(d: &mut Declaration, build: &Build) -> Self {
        use When::{Clock, Sometimes, Step as EachStep};
        let max = build.value::<R700>("MAX_STACK_SIZE");
        let bins = Bins {
            all: u64::MAX >> (64 - build.lanes),
            max,
            clocks: d.cross(Clock, "clocks", "each cycle: what the unit was doing, and what bench and host asked of it"),
            writes: d.cross(Sometimes, "host writes", "each cycle with a write at the host port, reset aside"),
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
            |(before, _)| before.0 == Some(Kind::Reserved));
        if max == 255 {
            d.unreachable(bins.launches, "MAX_STACK_SIZE is 255, and STACK_SIZE has 8 bits", |(.., size)| size == Size::More);
        }
        if max == 1 {
            d.unreachable(bins.launches, "MAX_STACK_SIZE is 1", |(.., size)| size == Size::Fewer);
        }

        d.unreachable(bins.errors, "r700-E1: error 1 is reserved opcodes, which have no other",
            |(kind, code)| (kind == Kind::Reserved) != code.is(Error::Illegal));
        d.unreachable(bins.errors, "r700-4.2-a: WQM is ignored by ALU, slot, memory and export instructions",
            |(kind, code)| code.is(Error::Field) && Control::of(kind).is_none());
        d.unreachable(bins.errors, "r700-E3: error 3 is LOOP_END, LOOP_BREAK, LOOP_CONTINUE, ALU_BREAK, ALU_CONTINUE",
            |(kind, code)| code.is(Error::NoLoop)
                && !matches!(kind, Kind::LoopEnd | Kind::LoopBreak | Kind::LoopContinue | Kind::AluBreak | Kind::AluContinue));
        d.unreachable(bins.errors, "r700-E4, r700-E5: error 4 is LOOP_END, error 5 is RETURN",
            |(kind, code)| code.is(Error::LoopOpen) && kind != Kind::LoopEnd || code.is(Error::NoCall) && kind != Kind::Return);
        d.unreachable(bins.errors, "r700-E6: error 6 is of what pops or inverts the top mask",
            |(kind, code)| code.is(Error::Underflow) && Popper::of(kind).is_none() && kind != Kind::AluElseAfter);
        d.unreachable(bins.errors, "r700-E7: error 7 is of what pushes",
            |(kind, code)| code.is(Error::Overflow) && Pusher::of(kind).is_none());
        d.unreachable(bins.errors, "r700-2.3-i: the ALU format has no END_OF_PROGRAM",
            |(kind, code)| code.is(Error::EndStack) && Clause::of(kind).is_some());

        d.unreachable(bins.classes, "r700-4.3-b to r700-4.3-d, r700-4.3-g: JUMP, PUSH, PUSH_ELSE and loop starts stay only if a lane passes, and only ACTIVE lanes do",
            |(kind, present, decision)| jumps_without_lane(kind.0) && decision == Decision::Stay && !present.has(From::Active));
        d.unreachable(bins.classes, "r700-4.3-m, r700-4.3-n: CALL jumps, and RETURN stays, only if a lane is ACTIVE",
            |(kind, present, decision)| !present.has(From::Active)
                && (kind.0 == Kind::Call && decision == Decision::Jump || kind.0 == Kind::Return && decision == Decision::Stay));
        d.unreachable(bins.classes, "r700-4.3-f: ELSE swaps ACTIVE and BRANCH; without lanes of either class no lane is ACTIVE afterwards, and it jumps",
            |(kind, present, decision)| kind.0 == Kind::Else && decision == Decision::Stay
                && !present.has(From::Active) && !present.has(From::Branch));
        d.unreachable(bins.classes, "r700-4.3-i: LOOP_END jumps back only if a lane is not BRK",
            |(kind, present, decision)| kind.0 == Kind::LoopEnd && decision == Decision::Jump && present == Present(7));
        d.unreachable(bins.classes, "r700-4.3-k, r700-4.3-l: LOOP_BREAK and LOOP_CONTINUE jump if, and only if, no lane is ACTIVE or BRANCH afterwards",
            |(kind, present, decision)| matches!(kind.0, Kind::LoopBreak | Kind::LoopContinue) && match decision {
                Decision::Jump => present.has(From::Branch),
                Decision::Stay => !present.has(From::Active) && !present.has(From::Branch),
            });

        d.unreachable_by_history(bins.classes, "r700-4.3-m: a CALL needs an ACTIVE lane, which becomes CONT or BRK in the subroutine only in a loop of its own, and has its class back when that is left",
            |(kind, present, _)| kind.0 == Kind::Return && !present.has(From::Active) && !present.has(From::Branch));
        d.unreachable(bins.conditions, "r700-4.3-e: POP never jumps",
            |(kind, _, _, decision)| kind.0 == Kind::Pop && decision == Decision::Jump);
        d.unreachable(bins.conditions, "r700-4.1-a: no lane passes a condition that is false: JUMP, PUSH, PUSH_ELSE and loop starts jump, CALL stays, LOOP_END leaves",
            |(kind, cond, _, decision)| !cond.holds() && match kind.0 {
                Kind::Call | Kind::LoopEnd => decision == Decision::Jump,
                kind => jumps_without_lane(kind) && decision == Decision::Stay,
            });
        d.unreachable(bins.conditions, "r700-4.3-n, r700-O19: a RETURN stays if an ACTIVE lane fails, and only COND can fail it: VPM excuses the others",
            |(kind, cond, _, decision)| kind.0 == Kind::Return && cond.holds() && decision == Decision::Stay);
        d.unreachable(bins.tests, "r700-4.1-c: apart from VPM all ACTIVE lanes pass or none",
            |(_, pass, vpm)| pass == Pass::Some && vpm == Vpm::Off);
        d.unreachable(bins.executions, "r700-2.4-a: memory and export instructions have no COND: without VPM every ACTIVE lane passes",
            |(executed, pass, vpm)| executed.0 == Kind::Memory && pass == Pass::None && vpm == Vpm::Off);
        d.unreachable(bins.executions, "r700-4.1-c: apart from VPM all ACTIVE lanes pass or none",
            |(_, pass, vpm)| pass == Pass::Some && vpm == Vpm::Off);
        if build.lanes == 1 {
            d.unreachable(bins.tests, "one lane is all or none", |(_, pass, _)| pass == Pass::Some);
            d.unreachable(bins.executions, "one lane is all or none", |(_, pass, _)| pass == Pass::Some);
        }
        d.unreachable(bins.lanes, "r700-4.3: no such change in the column of lane classes",
            |(kind, from, to)| !changes(kind.0, from, to));
        d.unreachable_by_history(bins.lanes, "r700-4.3-g, r700-4.3-h: a lane that is not BRK in a loop was ACTIVE around it, and LOOP_END does not give it the class CONT back",
            |(kind, from, to)| kind.0 == Kind::LoopEnd && from != From::Brk && to == To::Cont);
        d.unreachable_by_history(bins.lanes, "r700-4.3-u: an ACTIVE lane is in the mask of every branch frame open above base (pushes store all of them, pops and ELSE choose among those), so that only VPM lets a pop switch one off",
            |(kind, from, to)| matches!(kind.0, Kind::AluPopAfter | Kind::AluPop2After) && from == From::Active && to == To::Branch);
        d.unreachable(bins.pushes, "r700-3.4-e: with a branch frame live the last push left the reserve of two, of which a branch frame or a call takes one",
            |(pusher, room, live)| live == Live::Some && room == Room::Less && !matches!(pusher.frame(), Frame::LoopStart | Frame::LoopStartNoAl | Frame::LoopStartDx10));
        d.unreachable(bins.pushes, "r700-3.4-e: a call without a branch frame live takes one sub-entry, which is one too few at most",
            |(pusher, room, _)| pusher == Pusher::Call && room == Room::Less);
        d.unreachable_by_history(bins.corners, "r700-3.3-b, r700-4.3-g: a lane that was not launched is in no mask, and loops give it back the class BRANCH",
            |(corner,)| corner == Corner::BornLater);

        d.unreachable(bins.pops, "r700-4.3-r: ALU_POP_AFTER pops one frame, ALU_POP2_AFTER two",
            |(popper, pops, ..)| popper == Popper::AluPopAfter && pops != Pops::One || popper == Popper::AluPop2After && pops != Pops::Two);
        d.unreachable(bins.pops, "r700-4.3-u: popping 0 frames does nothing, and cannot fail",
            |(_, pops, against, _)| pops == Pops::Zero && against == Against::Beyond);
        d.unreachable(bins.pops, "r700-E6: ELSE needs an open frame before it can pop any",
            |(popper, pops, against, _)| popper == Popper::Else
                && (pops == Pops::Zero && against == Against::Exactly || pops == Pops::One && against == Against::Beyond));

        d.unreachable(bins.reaches, "r700-E3, r700-E4, r700-E5: LOOP_* and ALU_BREAK, ALU_CONTINUE need a loop frame innermost, LOOP_END with nothing open; RETURN a call frame with nothing open",
            |(reach, innermost, open, found)| {
                let fits = match reach {
                    Reach::LoopEnd => innermost == Innermost::Loop && open == Open::None,
                    Reach::Return => innermost == Innermost::Call && open == Open::None,
                    _ => innermost == Innermost::Loop,
                };
                fits != (found == Found::Executed)
            });

        d.unreachable(bins.begins, "r700-4.3-g: LOOP_START and LOOP_START_NO_AL with count 0 jump",
            |(start, count, _, decision)| start.0 != Kind::LoopStartDx10 && count == Count::Zero && decision == Decision::Stay);
        d.unreachable(bins.ends, "r700-3.2-g: passes left are 0 in a DX10 loop, and only there",
            |(ending, count, _)| (ending == Ending::Dx10) != (count == Count::Zero));
        d.unreachable(bins.ends, "r700-4.3-i: a DX10 loop has no last pass", |(ending, _, how)| ending == Ending::Dx10 && how == Pass2::LastPass);
        d.unreachable(bins.ends, "r700-4.3-i, r700-4.3-j: LOOP_END jumps only if lc > 1, and where a lane passes it leaves only if lc is 1",
            |(ending, count, how)| ending != Ending::Dx10 && match how {
                Pass2::Again => count == Count::One,
                Pass2::LastPass => count != Count::One,
                Pass2::NoLane => false,
            });
        d.unreachable(bins.woken, "r700-4.3-i: a DX10 loop has no last pass", |(ending, how, _)| ending == Ending::Dx10 && how == Pass2::LastPass);
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
                _ if matches!(kind.0, Kind::PushElse | Kind::LoopBreak | Kind::LoopContinue) => true,
                Decision::Stay => Start::of(kind.0).is_some() || matches!(kind.0, Kind::Push | Kind::Else | Kind::Return),
                Decision::Jump => matches!(kind.0, Kind::Call | Kind::LoopEnd),
            });
        d.unreachable_by_history(bins.targets, "r700-4.3-m: the address behind a RETURN would have been stored by it, and it is no CALL",
            |(kind, place)| kind.0 == Kind::Return && place == Where::Next);
        let lanes = build.lanes;
        if lanes < 4 {
            d.unreachable(bins.straight, "there are not so many lanes",
                move |(_, present)| u32::from(present.0 + 1).count_ones() > lanes);
            d.unreachable(bins.classes, "there are not so many lanes",
                move |(_, present, _)| u32::from(present.0 + 1).count_ones() > lanes);
        }
        bins
    }

    fn sample(&self, m: &mut Memory, before: &State, pins: &In, after: &Golden, hits: &mut Hits) {
        let status = Status::of(before.running, before.done, before.halted);
        let pace = Pace::of(pins.rst_n, pins.stall, pins.inst_valid);
        hits.hit(
            self.clocks,
            (status, pace, Host::of(pins.launch, pins.const_we)),
        );
        if pins.const_we == 1 && pins.rst_n == 1 {
            let written = Written::of(pins.const_addr);
            hits.hit(
                self.writes,
                (written, Port::of(status, pins.stall, pins.launch)),
            );
        }
        match after.event() {
            Event::Reset => *m = Memory::default(),
            Event::Launched => self.launch(m, status, pins, hits),
            Event::Stalled | Event::Idle | Event::Waiting => {}
            Event::Executed { jump } => self.step(m, before, pins, Ok(jump), after.state(), hits),
            Event::Halted(code) => self.step(m, before, pins, Err(code), after.state(), hits),
        }
    }
}

// ---- what is remembered ------------------------------------------------------------------------------

/// What the state does not show: operands of the launch, and the last instruction.
#[derive(Debug, Default)]
pub struct Memory {
    prog_len: u32,
    /// Sub-entries that the wave may use.
    limit: u32,
    launched: u64,
    previous: Option<Kind>,
}

// ---- a step ------------------------------------------------------------------------------------------

impl Kind {
    fn of(dw1: u32) -> Self {
        let op = dw1 >> 23 & 0x7f;
        if dw1 >> 29 & 1 == 1 {
            return match AluOp::from_bits(dw1 >> 26 & 15) {
                None => Kind::Reserved,
                Some(AluOp::Alu) => Kind::Alu,
                Some(AluOp::AluPushBefore) => Kind::AluPushBefore,
                Some(AluOp::AluPopAfter) => Kind::AluPopAfter,
                Some(AluOp::AluPop2After) => Kind::AluPop2After,
                Some(AluOp::AluContinue) => Kind::AluContinue,
                Some(AluOp::AluBreak) => Kind::AluBreak,
                Some(AluOp::AluElseAfter) => Kind::AluElseAfter,
            };
        }
        if op >= 32 {
            return MemOp::from_bits(op).map_or(Kind::Reserved, |_| Kind::Memory);
        }
        match CfOp::from_bits(op) {
            None => Kind::Reserved,
            Some(op) if op.is_illegal() => Kind::Reserved,
            Some(CfOp::LoopStart) => Kind::LoopStart,
            Some(CfOp::LoopStartNoAl) => Kind::LoopStartNoAl,
            Some(CfOp::LoopStartDx10) => Kind::LoopStartDx10,
            Some(CfOp::LoopEnd) => Kind::LoopEnd,
            Some(CfOp::LoopContinue) => Kind::LoopContinue,
            Some(CfOp::LoopBreak) => Kind::LoopBreak,
            Some(CfOp::Jump) => Kind::Jump,
            Some(CfOp::Push) => Kind::Push,
            Some(CfOp::PushElse) => Kind::PushElse,
            Some(CfOp::Else) => Kind::Else,
            Some(CfOp::Pop) => Kind::Pop,
            Some(CfOp::Call) => Kind::Call,
            Some(CfOp::Return) => Kind::Return,
            Some(CfOp::Kill) => Kind::Kill,
            Some(_) => Kind::Slot,
        }
    }

    /// Whether it is ALU_ELSE_AFTER or ELSE.
    fn inverts(self) -> bool {
        matches!(self, Kind::Else | Kind::AluElseAfter)
    }
}

impl Pusher {
    fn of(kind: Kind) -> Option<Self> {
        Some(match kind {
            Kind::LoopStart => Pusher::LoopStart,
            Kind::LoopStartNoAl => Pusher::LoopStartNoAl,
            Kind::LoopStartDx10 => Pusher::LoopStartDx10,
            Kind::Push => Pusher::Push,
            Kind::PushElse => Pusher::PushElse,
            Kind::Call => Pusher::Call,
            Kind::AluPushBefore => Pusher::AluPushBefore,
            Kind::AluElseAfter => Pusher::AluElseAfter,
            _ => return None,
        })
    }

    fn frame(self) -> Frame {
        match self {
            Pusher::LoopStart => Frame::LoopStart,
            Pusher::LoopStartNoAl => Frame::LoopStartNoAl,
            Pusher::LoopStartDx10 => Frame::LoopStartDx10,
            Pusher::Call => Frame::Call,
            _ => Frame::Branch,
        }
    }
}

impl Popper {
    fn of(kind: Kind) -> Option<Self> {
        Some(match kind {
            Kind::LoopStart => Popper::LoopStart,
            Kind::LoopStartNoAl => Popper::LoopStartNoAl,
            Kind::LoopStartDx10 => Popper::LoopStartDx10,
            Kind::Jump => Popper::Jump,
            Kind::Push => Popper::Push,
            Kind::Else => Popper::Else,
            Kind::Pop => Popper::Pop,
            Kind::AluPopAfter => Popper::AluPopAfter,
            Kind::AluPop2After => Popper::AluPop2After,
            _ => return None,
        })
    }
}

impl Reach {
    fn of(kind: Kind) -> Option<Self> {
        Some(match kind {
            Kind::LoopEnd => Reach::LoopEnd,
            Kind::LoopContinue => Reach::LoopContinue,
            Kind::LoopBreak => Reach::LoopBreak,
            Kind::Return => Reach::Return,
            Kind::AluContinue => Reach::AluContinue,
            Kind::AluBreak => Reach::AluBreak,
            _ => return None,
        })
    }
}

fn count(n: u32) -> Count {
    match n {
        0 => Count::Zero,
        1 => Count::One,
        2 => Count::Two,
        4095 => Count::Most,
        _ => Count::More,
    }
}

/// Index of the sign of a number: negative, 0, positive.
fn sign(n: i32) -> usize {
    (n.signum() + 1) as usize
}

/// An instruction among its lanes.
struct Word {
    kind: Kind,
    dw0: u32,
    dw1: u32,
    u: bool,
    /// `POP_COUNT`, or what an ALU form pops.
    pops: u32,
    cond: Cond,
    vpm: bool,
    end: bool,
    wqm: bool,
    /// Classes before it.
    before: [u64; 4],
    /// ACTIVE lanes that pass its condition test.
    pass: u64,
    innermost: Innermost,
    /// Branch frames above the innermost loop or call frame.
    open: u32,
}

impl Word {
    fn new(s: &State, pins: &In, all: u64) -> Self {
        let dw1 = pins.dw1;
        let kind = Kind::of(dw1);
        let bit = |at: u32| dw1 >> at & 1 == 1;
        let has_test = General::of(kind).is_some();
        let boolean = s.bool_const >> (dw1 >> 3 & 31) & 1 == 1;
        let cond = match dw1 >> 8 & 3 {
            // Memory and export have no COND.
            _ if Control::of(kind).is_none() && kind != Kind::Slot => Cond::Active,
            0 => Cond::Active,
            1 => Cond::False,
            2 if boolean => Cond::Bool1,
            2 => Cond::Bool0,
            _ if boolean => Cond::NotBool1,
            _ => Cond::NotBool0,
        };
        let before = classes(s.st, all);
        let vpm = has_test && bit(22);
        let mut word = Word {
            kind,
            dw0: pins.dw0,
            dw1,
            u: pins.u == 1,
            pops: match kind {
                Kind::AluPopAfter => 1,
                Kind::AluPop2After => 2,
                _ => dw1 & 7,
            },
            cond,
            vpm,
            end: has_test && bit(21),
            wqm: bit(30),
            before,
            pass: 0,
            innermost: Innermost::at(s.bkind.into()),
            open: u32::from(s.sp - s.base),
        };
        word.pass = before[0] & word.passes(s);
        word
    }

    /// Lanes that pass its condition test if they are ACTIVE then (r700-4.1).
    fn passes(&self, s: &State) -> u64 {
        match (self.cond.holds(), self.vpm) {
            (false, _) => 0,
            (true, true) => s.valid,
            (true, false) => u64::MAX,
        }
    }

    fn open_frames(&self) -> Open {
        match self.open {
            0 => Open::None,
            1 => Open::One,
            _ => Open::More,
        }
    }
}

impl Bins {
    fn launch(&self, m: &mut Memory, status: Status, pins: &In, hits: &mut Hits) {
        *m = Memory {
            prog_len: pins.prog_len,
            limit: 4 * u32::from(pins.stack_size).min(self.max),
            launched: pins.lane_mask & self.all,
            previous: None,
        };
        let mask = match m.launched {
            0 => Mask::None,
            mask if mask == self.all => Mask::All,
            _ => Mask::Some,
        };
        let entry = if pins.entry < pins.prog_len {
            Entry::Inside
        } else {
            Entry::Outside
        };
        let size = match u32::from(pins.stack_size) {
            0 => Size::Zero,
            n if n < self.max => Size::Fewer,
            n if n == self.max => Size::Max,
            _ => Size::More,
        };
        hits.hit(self.launches, (Rest::from(status), mask, entry, size));
    }

    /// An instruction that jumped, stayed, or failed.
    fn step(
        &self,
        m: &mut Memory,
        before: &State,
        pins: &In,
        outcome: Result<bool, Error>,
        after: &State,
        hits: &mut Hits,
    ) {
        let w = Word::new(before, pins, self.all);
        hits.hit(self.neighbours, (Previous(m.previous), w.kind));
        m.previous = Some(w.kind);
        let opcode = match w.dw1 >> 29 & 1 {
            1 => 56 + (w.dw1 >> 26 & 15),
            _ => w.dw1 >> 23 & 0x7f,
        };
        let known = outcome.is_ok() || outcome == Err(Error::Illegal);
        hits.hit_if(known, self.opcodes, (Opcode(opcode as u8),));
        if let Err(code) = outcome {
            hits.hit(self.errors, (w.kind, Code(code as u8 - 1)));
            self.two_errors(m, &w, before, code, hits);
        }
        if let Some(legal) = Legal::of(w.kind) {
            hits.hit_if(w.wqm, self.wqm, (legal,));
        }
        if let Some(reach) = Reach::of(w.kind) {
            let found = match outcome {
                Ok(_) => Some(Found::Executed),
                Err(Error::NoLoop | Error::LoopOpen | Error::NoCall) => Some(Found::Refused),
                Err(_) => None,
            };
            if let Some(found) = found {
                hits.hit(self.reaches, (reach, w.innermost, w.open_frames(), found));
            }
        }
        self.stack(m, &w, before, outcome, after, hits);
        self.targets(m, &w, before, outcome, hits);
        match outcome {
            Ok(jump) => {
                self.executed(m, &w, before, pins, jump.into(), after, hits);
                self.loops(&w, before, jump, after, hits);
                self.calls(&w, before, jump, after, hits);
                self.corner_cases(m, &w, before, jump, after, hits);
            }
            Err(code) => {
                let mut corner = |is: bool, what: Corner| hits.hit_if(is, self.corners, (what,));
                let closed = code == Error::Underflow && w.open == 0;
                corner(closed && w.kind == Kind::Else, Corner::ElseNone);
                corner(
                    closed && w.kind == Kind::AluElseAfter,
                    Corner::ElseAfterNone,
                );
                let leaves = matches!(w.kind, Kind::LoopBreak | Kind::LoopContinue);
                corner(
                    code == Error::NoLoop
                        && leaves
                        && w.innermost == Innermost::Call
                        && before.lt != 0,
                    Corner::BreakInCall,
                );
                corner(
                    code == Error::Field && w.kind == Kind::Call && !w.wqm,
                    Corner::CallPops,
                );
            }
        }
    }

    fn two_errors(&self, m: &Memory, w: &Word, before: &State, code: Error, hits: &mut Hits) {
        let no_loop = matches!(w.kind, Kind::LoopEnd | Kind::LoopBreak | Kind::LoopContinue)
            && w.innermost != Innermost::Loop;
        let open = w.kind == Kind::LoopEnd && w.innermost == Innermost::Loop && w.open > 0;
        let no_call = w.kind == Kind::Return && (w.innermost != Innermost::Call || w.open > 0);
        let too_many = w.kind == Kind::Pop && w.pops > w.open;
        // What is left on the stack if the instruction does nothing to it.
        let ends = w.end && before.sp > 0;
        let outside = !w.end && w.dw0 >= m.prog_len;
        let mut two = |first: Error, second: bool, what: Two| {
            hits.hit_if(code == first && second, self.priority, (what,));
        };
        two(Error::Field, no_loop, Two::FieldLoop);
        two(Error::Field, open, Two::FieldOpen);
        two(Error::Field, no_call, Two::FieldCall);
        two(Error::Field, too_many, Two::FieldPop);
        two(Error::NoLoop, ends, Two::LoopEnd);
        two(Error::LoopOpen, ends, Two::OpenEnd);
        two(Error::NoCall, ends, Two::CallEnd);
        two(Error::Underflow, ends, Two::PopEnd);
        two(Error::Overflow, ends, Two::PushEnd);
        // Of those that pop, JUMP always does so with a jump.
        two(
            Error::Underflow,
            w.kind == Kind::Jump && outside,
            Two::PopRange,
        );
        two(
            Error::Overflow,
            w.kind == Kind::Call && outside,
            Two::CallRange,
        );
    }

    /// What was pushed and popped, and what could not be.
    fn stack(
        &self,
        m: &Memory,
        w: &Word,
        before: &State,
        outcome: Result<bool, Error>,
        after: &State,
        hits: &mut Hits,
    ) {
        let pushed = match outcome {
            // ALU_ELSE_AFTER only pushes with u, and nothing else leaves more than there was.
            Ok(_) => after.sp > before.sp,
            Err(code) => code == Error::Overflow,
        };
        if let Some(pusher) = Pusher::of(w.kind).filter(|_| pushed) {
            let (size, branch) = match pusher.frame() {
                Frame::Branch => (1, 1),
                Frame::Call => (1, 0),
                _ => (4, 0),
            };
            let (sp, nb) = (i64::from(before.sp) + size, before.nb + branch);
            let room = i64::from(m.limit) - sp - if nb > 0 { 2 } else { 0 };
            debug_assert_eq!(room < 0, outcome.is_err());
            let room = match room {
                ..=-2 => Room::Less,
                -1 => Room::OneLess,
                0 => Room::Zero,
                1 => Room::One,
                _ => Room::More,
            };
            let live = if before.nb > 0 {
                Live::Some
            } else {
                Live::None
            };
            hits.hit(self.pushes, (pusher, room, live));
            if outcome.is_ok() {
                hits.hit(self.nesting, (pusher.frame(), w.innermost, w.open_frames()));
                if let Some(start) = Start::of(w.kind) {
                    hits.hit(self.banks, (start, Bank((before.sp % 4) as u8)));
                }
            }
        }
        // What jumps pops; POP and the ALU forms always do.
        let popped = match outcome {
            Ok(jump) => {
                jump || matches!(w.kind, Kind::Pop | Kind::AluPopAfter | Kind::AluPop2After)
            }
            Err(code) => code == Error::Underflow && !(w.kind == Kind::Else && w.open == 0),
        };
        if let Some(popper) = Popper::of(w.kind).filter(|_| popped) {
            let pops = match w.pops {
                0 => Pops::Zero,
                1 => Pops::One,
                2 => Pops::Two,
                _ => Pops::More,
            };
            let against = match w.pops.cmp(&w.open) {
                std::cmp::Ordering::Less => Against::Fewer,
                std::cmp::Ordering::Equal => Against::Exactly,
                std::cmp::Ordering::Greater => Against::Beyond,
            };
            hits.hit(self.pops, (popper, pops, against, w.innermost));
        }
    }

    fn targets(
        &self,
        m: &Memory,
        w: &Word,
        before: &State,
        outcome: Result<bool, Error>,
        hits: &mut Hits,
    ) {
        let target = if w.kind == Kind::Return {
            before.frame_ret
        } else {
            w.dw0
        };
        let falls_off = before.pc.wrapping_add(1) >= m.prog_len;
        let jumps = match outcome {
            Ok(jump) => jump,
            // The last instruction of a program may have fallen off it instead.
            Err(code) => code == Error::PcRange && !falls_off,
        };
        hits.hit_if(
            outcome == Err(Error::PcRange) && (falls_off && target < m.prog_len),
            self.corners,
            (Corner::FallsOff,),
        );
        if let Some(jumper) = Jumper::of(w.kind).filter(|_| jumps && !w.end) {
            let place = match target {
                _ if outcome.is_err() => Where::Outside,
                to if to == before.pc => Where::Itself,
                to if to == before.pc + 1 => Where::Next,
                to if to < before.pc => Where::Back,
                _ => Where::Forward,
            };
            hits.hit(self.targets, (jumper, place));
        }
    }

    /// An instruction without error: its lanes, its condition, what it decided.
    #[allow(clippy::too_many_arguments)]
    fn executed(
        &self,
        m: &Memory,
        w: &Word,
        before: &State,
        pins: &In,
        decision: Decision,
        after: &State,
        hits: &mut Hits,
    ) {
        let present = Present::of(w.before);
        if let Some(jumper) = Jumper::of(w.kind) {
            hits.hit(self.classes, (jumper, present, decision));
        } else if let Some(straight) = Straight::of(w.kind) {
            hits.hit(self.straight, (straight, present));
        }
        let vpm = if w.vpm { Vpm::On } else { Vpm::Off };
        if let Some(control) = Control::of(w.kind) {
            hits.hit(self.conditions, (control, w.cond, vpm, decision));
        }
        if let Some(general) = General::of(w.kind) {
            let tested = if w.kind == Kind::LoopEnd {
                self.all & !w.before[3]
            } else {
                w.before[0]
            };
            let pass = match (tested, tested & w.passes(before)) {
                (0, _) => Pass::NoneActive,
                (_, 0) => Pass::None,
                (tested, pass) if tested == pass => Pass::All,
                _ => Pass::Some,
            };
            if let Some(tested) = Tested::of(w.kind) {
                hits.hit(self.tests, (tested, pass, vpm));
            } else if let Some(executed) = Executed::of(w.kind) {
                hits.hit(self.executions, (executed, pass, vpm));
            }
            let valid = match before.valid & self.all {
                0 => Valid::None,
                valid if valid == self.all => Valid::All,
                _ => Valid::Some,
            };
            hits.hit(self.valid, (general, vpm, valid));
            if w.end {
                let beyond = if after.pc < m.prog_len {
                    Beyond::Inside
                } else {
                    Beyond::Outside
                };
                hits.hit(self.last, (general, decision, beyond));
            }
        }
        if let Some(clause) = Clause::of(w.kind) {
            let active = w.before[0];
            let pred = match (active, pins.pred & active) {
                (0, _) => Pred::NoneActive,
                (_, 0) => Pred::None,
                (active, pred) if active == pred => Pred::All,
                _ => Pred::Some,
            };
            let updates = if w.u { Updates::Yes } else { Updates::No };
            hits.hit(self.clauses, (clause, updates, pred));
        }
        if let Some(legal) = Legal::of(w.kind) {
            let now = classes(after.st, self.all);
            for (from, before) in w.before.iter().enumerate() {
                for (to, now) in now.iter().enumerate() {
                    hits.hit_if(
                        before & now != 0,
                        self.lanes,
                        (legal, From::at(from), To::at(to)),
                    );
                }
            }
        }
    }

    fn loops(&self, w: &Word, before: &State, jump: bool, after: &State, hits: &mut Hits) {
        if let Some(start) = Start::of(w.kind) {
            let constant = before.loop_const[(w.dw1 >> 3 & 31) as usize];
            let inside = Inside::at(before.lt.into());
            hits.hit(
                self.begins,
                (start, count(constant & 0xfff), inside, jump.into()),
            );
        }
        let Some(ending) = usize::from(before.lt).checked_sub(1).map(Ending::at) else {
            return;
        };
        let leave = match w.kind {
            Kind::LoopContinue => Leave::Continue,
            Kind::LoopBreak => Leave::Break,
            Kind::LoopEnd => {
                let [_, branch, cont, brk] = w.before;
                // All but the BRK lanes are ACTIVE by the time they are tested.
                let a_lane_passes = self.all & !brk & w.passes(before) != 0;
                let how = match (jump, a_lane_passes) {
                    (true, _) => Pass2::Again,
                    (_, true) => Pass2::LastPass,
                    _ => Pass2::NoLane,
                };
                hits.hit(self.ends, (ending, count(before.lc.into()), how));
                let woken = match (branch, cont) {
                    (0, 0) => Woken::NoLane,
                    (_, 0) => Woken::Branch,
                    (0, _) => Woken::Cont,
                    _ => Woken::Both,
                };
                hits.hit(self.woken, (ending, how, woken));
                if jump && ending == Ending::Al {
                    let step = Step::at(sign((before.inc as i8).into()));
                    let (from, to) = (sign(before.al as i32), sign(after.al as i32));
                    hits.hit(self.index, (step, Before::at(from), After::at(to)));
                }
                return;
            }
            _ => return,
        };
        if jump {
            let dropped = match w.open {
                0 => Dropped::None,
                1 => Dropped::One,
                _ => Dropped::More,
            };
            hits.hit(self.leaves, (leave, ending, dropped));
        }
    }

    fn calls(&self, w: &Word, before: &State, jump: bool, after: &State, hits: &mut Hits) {
        match w.kind {
            Kind::Call => {
                let calls = w.dw1 >> 13 & 63;
                let count = match calls {
                    0 => CallCount::Zero,
                    1 => CallCount::One,
                    2..=32 => CallCount::More,
                    _ => CallCount::Beyond,
                };
                let called = match (w.pass, u32::from(before.depth) + calls) {
                    (0, _) => Called::NoLane,
                    (_, ..=31) => Called::Below,
                    (_, 32) => Called::Exactly,
                    _ => Called::Skipped,
                };
                hits.hit(self.calls, (count, called));
            }
            Kind::Return => {
                let returned = match (jump, w.before[0], w.before[0] & !w.pass) {
                    (false, ..) => Returned::Stays,
                    (_, 0, _) => Returned::NoneActive,
                    (_, _, 0) => Returned::All,
                    _ => Returned::Invalid,
                };
                hits.hit(
                    self.returns,
                    (returned, Caller::at(before.frame_bkind.into())),
                );
            }
            Kind::Kill => {
                let killed = match (w.pass, w.pass & before.valid, after.valid) {
                    (0, ..) => Killed::NoLane,
                    (_, 0, _) => Killed::Invalid,
                    (.., 0) => Killed::All,
                    _ => Killed::Some,
                };
                hits.hit(self.kills, (killed, jump.into()));
            }
            _ => {}
        }
    }

    fn corner_cases(
        &self,
        m: &Memory,
        w: &Word,
        before: &State,
        jump: bool,
        after: &State,
        hits: &mut Hits,
    ) {
        let mut corner = |is: bool, what: Corner| hits.hit_if(is, self.corners, (what,));
        let kind = w.kind;
        let [active, branch, cont, brk] = w.before;
        let now = classes(after.st, self.all);
        let invalid = self.all & !before.valid;
        let pops = Popper::of(kind).is_some() && after.sp < before.sp;
        let filtered = active & invalid & now[1] != 0;
        let leaves = kind == Kind::LoopEnd && !jump;
        let top = if w.open > 0 { before.top_mask } else { 0 };
        corner(kind == Kind::AluPushBefore && active == 0, Corner::IdlePush);
        corner(kind == Kind::PushElse && active == 0, Corner::IdlePushElse);
        corner(
            w.vpm && kind == Kind::Jump && jump && w.pops == 0 && active & invalid & now[0] != 0,
            Corner::PopNone,
        );
        corner(
            w.vpm && pops && kind == Kind::Jump && filtered,
            Corner::PopFilters,
        );
        corner(
            w.vpm && kind == Kind::Else && filtered && !pops,
            Corner::ElseFilters,
        );
        corner(
            w.vpm && leaves && invalid & now[1] != 0,
            Corner::LeaveFilters,
        );
        let outside = (active & now[0] | branch & now[1]) & !top;
        corner(
            kind == Kind::Else && !w.vpm && outside != 0,
            Corner::ElseOutside,
        );
        corner(kind.inverts() && (cont | brk) & top != 0, Corner::ElseKeeps);
        corner(pops && cont | brk != 0 && !kind.inverts(), Corner::PopKeeps);
        corner(
            kind == Kind::AluElseAfter && w.u && w.open == 0,
            Corner::ElseOwn,
        );
        let entered = after.sp > before.sp && before.lt != 0;
        corner(
            kind == Kind::LoopStartNoAl && entered && before.al != 0,
            Corner::KeepsIndex,
        );
        corner(
            kind == Kind::LoopStart && entered && after.al != before.al,
            Corner::OwnIndex,
        );
        corner(
            leaves && after.lt != 0 && after.al != before.al,
            Corner::RestoresIndex,
        );
        corner(
            leaves && before.lt == 3 && after.lc > 0,
            Corner::Dx10Restores,
        );
        corner(
            kind == Kind::Call && jump && before.skipped == 1,
            Corner::SkippedSticks,
        );
        corner(after.exec & invalid != 0, Corner::DeadExecutes);
        corner(!m.launched & branch & now[0] != 0, Corner::BornLater);
        corner(leaves && before.lc > 1, Corner::LeavesEarly);
        corner(u32::from(after.sp) == 4 * self.max, Corner::StackFull);
        corner(before.nb > 0 && after.nb == 0, Corner::ReserveFreed);
    }
}
