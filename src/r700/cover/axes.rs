//! The axes that the bins of the unit cross.

use crate::axes::present;
use crate::r700::golden::Error;
use crate::r700::isa::{AluOp, CfOp, MemOp};
use crate::r700::state::ERROR_NAMES;
use reconverge_campaign::cover::{Values, axis, numbered, part};

axis! {
    /// An instruction: each control instruction and each ALU form by itself, the others by their effect on
    /// the sequencer.
    InstKind "instruction" {
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
    Start "instruction" of InstKind 0 3
}
part! {
    /// Instructions that may jump.
    Jumper "instruction" of InstKind 0 13
}
part! {
    /// Control instructions.
    Control "instruction" of InstKind 0 14
}
part! {
    /// Control instructions that test the lanes as they find them; LOOP_END tests those that it has woken.
    Tested "instruction" of InstKind 0 12
}
part! {
    /// Instructions that lanes execute if they pass.
    Executed "instruction" of InstKind 14 2
}
part! {
    /// Everything except the ALU format: instructions with END, COND or VPM.
    General "instruction" of InstKind 0 16
}
part! {
    /// Instructions that never jump.
    Straight "instruction" of InstKind 13 10
}
part! {
    /// The ALU format.
    Clause "instruction" of InstKind 16 7
}
part! {
    /// Everything that is not reserved.
    Legal "instruction" of InstKind 0 23
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
    /// Lane classes present: bit 0 ACTIVE, 1 BRANCH, 2 CONT, 3 BRK, minus one, because some class is always present.
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
    /// A lane's class after the instruction.
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
    /// The ACTIVE lanes that pass the condition test.
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
    /// Instructions that push, in the cases in which they do.
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
    /// Sub-entries left after a push, without the reserve of r700-3.4-e.
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
    /// The frame that is pushed.
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
    /// Branch frames open above that frame.
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
    /// The number of frames to pop.
    Pops "frames to pop" {
        Zero "0",
        One "1",
        Two "2",
        More "3..7",
    }
}

axis! {
    /// That number compared with the frames open above the innermost loop or call frame.
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
    Reached "outcome" {
        Executed "executed",
        Refused "error 3, 4 or 5",
    }
}

axis! {
    /// The innermost loop around an instruction.
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
    /// The outcome of LOOP_END.
    Pass2 "LOOP_END" {
        Again "once more",
        LastPass "leaves after the last pass",
        NoLane "leaves, no lane passes",
    }
}

axis! {
    /// The lanes that LOOP_END woke.
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
    /// The outcome of a CALL.
    Called "CALL" {
        NoLane "no lane passes",
        Below "depth up to 31",
        Exactly "depth 32",
        Skipped "too deep: skipped",
    }
}

axis! {
    /// The outcome of a RETURN.
    Returned "RETURN" {
        Stays "stays",
        All "every ACTIVE lane passes",
        NoneActive "no lane is ACTIVE",
        Invalid "only lanes that are not valid fail",
    }
}

axis! {
    /// The caller's innermost frame.
    Caller "the caller in" {
        None "nothing",
        Loop "a loop",
        Call "a call",
    }
}

axis! {
    /// The place of the next PC of a last instruction.
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
    /// The target of a jump.
    Where "target" {
        Back "backward",
        Itself "itself",
        Next "next",
        Forward "forward",
        Outside "behind the program",
    }
}

axis! {
    /// The lanes that a KILL reaches.
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
    /// The bank in which a loop frame begins.
    Bank "sp mod 4" 4 |n| n.to_string()
}

numbered! {
    /// The place in an entry of eight sub-entries where a loop frame begins.
    Position "sp mod 8" 8 |n| n.to_string()
}

axis! {
    /// Two errors at once: the reported one, and the other that holds too.
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
    /// Corner cases that no other group singles out.
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

impl Cond {
    /// Returns whether the part of the test that is the same for all lanes holds.
    pub(super) fn holds(self) -> bool {
        matches!(self, Cond::Active | Cond::Bool1 | Cond::NotBool0)
    }
}

impl Present {
    pub(super) fn of(classes: [u64; 4]) -> Self {
        Present(present(classes) as u8 - 1)
    }

    pub(super) fn has(self, class: From) -> bool {
        (self.0 + 1) >> class.index() & 1 == 1
    }
}

impl Code {
    pub(super) fn is(self, code: Error) -> bool {
        self.0 + 1 == code as u8
    }
}
