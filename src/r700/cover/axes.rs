//! The axes that the bins of the unit cross.

use std::cmp::Ordering;

use crate::axes::{classes_present, error_codes};
use crate::r700::golden::Error;
use crate::r700::isa::{AluOp, CfOp, MemOp};
use crate::r700::state::ERROR_NAMES;
use reconverge_campaign::cover::{Values as _, axis};

axis! {
    /// An instruction: each control instruction and each ALU form by itself, the others by their effect on
    /// the sequencer.
    InstKind "instruction" of (Option<AluOp>, Option<MemOp>, Option<CfOp>) {
        (.., Some(CfOp::LoopStart)) => LoopStart "LOOP_START",
        (.., Some(CfOp::LoopStartNoAl)) => LoopStartNoAl "LOOP_START_NO_AL",
        (.., Some(CfOp::LoopStartDx10)) => LoopStartDx10 "LOOP_START_DX10",
        (.., Some(CfOp::Jump)) => Jump "JUMP",
        (.., Some(CfOp::Push)) => Push "PUSH",
        (.., Some(CfOp::PushElse)) => PushElse "PUSH_ELSE",
        (.., Some(CfOp::Call)) => Call "CALL",
        (.., Some(CfOp::Return)) => Return "RETURN",
        (.., Some(CfOp::LoopEnd)) => LoopEnd "LOOP_END",
        (.., Some(CfOp::LoopContinue)) => LoopContinue "LOOP_CONTINUE",
        (.., Some(CfOp::LoopBreak)) => LoopBreak "LOOP_BREAK",
        (.., Some(CfOp::Kill)) => Kill "KILL",
        (.., Some(CfOp::Else)) => Else "ELSE",
        (.., Some(CfOp::Pop)) => Pop "POP",
        (.., Some(_)) => Slot "slot",
        (_, Some(_), _) => Memory "memory, export",
        (Some(AluOp::Alu), ..) => Alu "ALU",
        (Some(AluOp::AluPushBefore), ..) => AluPushBefore "ALU_PUSH_BEFORE",
        (Some(AluOp::AluPopAfter), ..) => AluPopAfter "ALU_POP_AFTER",
        (Some(AluOp::AluPop2After), ..) => AluPop2After "ALU_POP2_AFTER",
        (Some(AluOp::AluContinue), ..) => AluContinue "ALU_CONTINUE",
        (Some(AluOp::AluBreak), ..) => AluBreak "ALU_BREAK",
        (Some(AluOp::AluElseAfter), ..) => AluElseAfter "ALU_ELSE_AFTER",
        (None, None, None) => Reserved "reserved opcode",
    }

    /// Instructions that open a loop.
    Start "instruction" of InstKind [LoopStart..=LoopStartDx10]

    /// Instructions that may jump.
    Jumper "instruction" of InstKind [LoopStart..=Else]

    /// Control instructions.
    Control "instruction" of InstKind [LoopStart..=Pop]

    /// Control instructions that test the lanes as they find them; LOOP_END tests those that it has woken.
    Tested "instruction" of InstKind [LoopStart..=Kill]

    /// Instructions that lanes execute if they pass.
    Executed "instruction" of InstKind [Slot..=Memory]

    /// Everything except the ALU format: instructions with END, COND or VPM.
    General "instruction" of InstKind [LoopStart..=Memory]

    /// Instructions that never jump.
    Straight "instruction" of InstKind [Pop..=AluElseAfter]

    /// The ALU format.
    Clause "instruction" of InstKind [Alu..=AluElseAfter]

    /// Everything that is not reserved.
    Legal "instruction" of InstKind [LoopStart..=AluElseAfter]

    /// `CF_INST`: 0..63, then 8..15 of the ALU format.
    Opcode "opcode" 72 |n| match n {
        0..32 => CfOp::from_bits(n as u32).map_or(format!("{n} reserved"), |op| format!("{n} {}", op.name())),
        32..64 => MemOp::from_bits(n as u32).map_or(format!("{n} reserved"), |op| format!("{n} {}", op.name())),
        _ => AluOp::from_bits(n as u32 - 56).map_or(format!("{} reserved", n - 56), |op| format!("{} {}", n - 56, op.name())),
    };

    /// A lane's class before the instruction.
    From "lane before" {
        Active "A",
        Branch "b",
        Cont "c",
        Brk "k",
    }

    /// A lane's class after the instruction.
    To "lane after" {
        Active "A",
        Branch "b",
        Cont "c",
        Brk "k",
    }

    /// Whether there is a `COND`, it, and the boolean.
    Cond "COND" of (bool, u32, bool) {
        (false, ..) | (_, 0, _) => Active "ACTIVE",
        (_, 1, _) => False "FALSE",
        (_, 2, true) => Bool1 "BOOL, it is 1",
        (_, 2, false) => Bool0 "BOOL, it is 0",
        (.., true) => NotBool1 "NOT_BOOL, it is 1",
        (.., false) => NotBool0 "NOT_BOOL, it is 0",
    }

    /// `VALID_PIXEL_MODE`.
    Vpm "VPM" of bool ["0", "1"]

    /// The ACTIVE lanes, and those that pass the condition test.
    Pass "pass" of (u64, u64) {
        (0, _) => NoneActive "no lane is ACTIVE",
        (_, 0) => None "none",
        (tested, pass) if tested != pass => Some "some",
        _ => All "all",
    }

    /// Valid lanes, and all.
    Valid "valid" of (u64, u64) {
        (valid, all) if valid == all => All "all",
        (1.., _) => Some "some",
        (0, _) => None "none",
    }

    /// Instructions that push, in the cases in which they do.
    Pusher "instruction" of InstKind [LoopStart..=LoopStartDx10, Push..=Call, AluPushBefore, AluElseAfter]

    /// Sub-entries left after a push, without the reserve of r700-3.4-e.
    Room "room" of i64 {
        i64::MIN..=-2 => Less "2 or more too few",
        -1 => OneLess "1 too few",
        0 => Zero "0",
        1 => One "1",
        2.. => More "2 or more",
    }

    /// Whether there are branch frames, of all levels, before a push.
    Live "branch frames" of bool ["none", "some"]

    /// The frame that is pushed.
    Frame "frame" of InstKind {
        InstKind::Push | InstKind::PushElse
        | InstKind::AluPushBefore | InstKind::AluElseAfter => Branch "branch",
        InstKind::LoopStart => LoopStart "LOOP_START",
        InstKind::LoopStartNoAl => LoopStartNoAl "LOOP_START_NO_AL",
        InstKind::LoopStartDx10 => LoopStartDx10 "LOOP_START_DX10",
        _ => Call "call",
    }

    /// The innermost loop or call frame.
    Innermost "innermost" {
        None "none",
        Loop "loop",
        Call "call",
    }

    /// Branch frames open above that frame.
    Open "open" of u32 {
        0 => None "0",
        1 => One "1",
        2.. => More "2 or more",
    }

    /// Instructions that pop branch frames.
    Popper "instruction" of InstKind [LoopStart..=Push, Else..=Pop, AluPopAfter..=AluPop2After]

    /// The number of frames to pop.
    Pops "frames to pop" of u32 {
        0 => Zero "0",
        1 => One "1",
        2 => Two "2",
        3.. => More "3..7",
    }

    /// That number compared with the frames open above the innermost loop or call frame.
    Against "they are" of Ordering {
        Ordering::Less => Fewer "fewer than are open",
        Ordering::Equal => Exactly "all that are open",
        Ordering::Greater => Beyond "more: error 6",
    }

    /// Instructions that need a loop or call frame, and may not reach through another.
    Reach "instruction" of InstKind [LoopEnd..=LoopBreak, Return, AluContinue..=AluBreak]

    /// Whether the frame was missing.
    Refused "outcome" of bool ["executed", "error 3, 4 or 5"]

    /// The innermost loop around an instruction.
    Inside "inside" {
        Nothing "no loop",
        Al "LOOP_START",
        NoAl "LOOP_START_NO_AL",
        Dx10 "LOOP_START_DX10",
    }

    /// The loop that ends or is left.
    Ending "loop" {
        Al "LOOP_START",
        NoAl "LOOP_START_NO_AL",
        Dx10 "LOOP_START_DX10",
    }

    /// A count of passes.
    Count "passes" of u32 {
        0 => Zero "0",
        1 => One "1",
        2 => Two "2",
        3..=4094 => More "3..4094",
        4095.. => Most "4095",
    }

    /// The outcome of LOOP_END: whether it jumps, and whether a lane passes.
    Pass2 "LOOP_END" of (bool, bool) {
        (true, _) => Again "once more",
        (false, true) => LastPass "leaves after the last pass",
        (false, false) => NoLane "leaves, no lane passes",
    }

    /// The lanes that LOOP_END woke: BRANCH and CONT.
    Woken "woken" of (u64, u64) {
        (0, 0) => NoLane "no lane",
        (1.., 0) => Branch "BRANCH lanes",
        (0, 1..) => Cont "CONT lanes",
        (1.., 1..) => Both "BRANCH and CONT lanes",
    }

    /// Sign of the step.
    Step "step" of i8 {
        i8::MIN..=-1 => Down "negative",
        0 => Zero "0",
        1.. => Up "positive",
    }

    /// Sign of aL.
    Before "aL before" of i32 {
        i32::MIN..=-1 => Negative "negative",
        0 => Zero "0",
        1.. => Positive "positive",
    }

    /// Sign of aL afterwards.
    After "aL after" of i32 {
        i32::MIN..=-1 => Negative "negative",
        0 => Zero "0",
        1.. => Positive "positive",
    }

    /// Instructions that leave a pass.
    Leave "instruction" of InstKind [LoopContinue..=LoopBreak]

    /// Branch frames that a jump to the end of the pass drops.
    Dropped "dropped" of u32 {
        0 => None "0",
        1 => One "1",
        2.. => More "2 or more",
    }

    /// `CALL_COUNT`.
    CallCount "CALL_COUNT" of u32 {
        0 => Zero "0",
        1 => One "1",
        2..=32 => More "2..32",
        33.. => Beyond "33..63",
    }

    /// The outcome of a CALL: the lanes that pass, and the depth to which it leads.
    Called "CALL" of (u64, u32) {
        (0, _) => NoLane "no lane passes",
        (_, ..=31) => Below "depth up to 31",
        (_, 32) => Exactly "depth 32",
        (_, 33..) => Skipped "too deep: skipped",
    }

    /// The outcome of a RETURN: whether it jumps, the ACTIVE lanes, and those of them that fail.
    Returned "RETURN" of (bool, u64, u64) {
        (false, ..) => Stays "stays",
        (true, 1.., 0) => All "every ACTIVE lane passes",
        (true, 0, _) => NoneActive "no lane is ACTIVE",
        (true, 1.., 1..) => Invalid "only lanes that are not valid fail",
    }

    /// The caller's innermost frame.
    Caller "the caller in" {
        None "nothing",
        Loop "a loop",
        Call "a call",
    }

    /// Whether the next PC of a last instruction is outside the program.
    Beyond "next PC" of bool ["in the program", "behind it"]

    /// `u`.
    Updates "u" of bool ["0", "1"]

    /// ACTIVE lanes, and those whose predicate is 1.
    Pred "predicates" of (u64, u64) {
        (0, _) => NoneActive "no lane is ACTIVE",
        (_, 0) => None "all 0",
        (active, set) if active != set => Some "0 and 1",
        _ => All "all 1",
    }

    /// The target of a jump: whether it is an error, and how far it is from PC.
    Where "target" of (bool, i64) {
        (false, ..=-1) => Back "backward",
        (false, 0) => Itself "itself",
        (false, 1) => Next "next",
        (false, 2..) => Forward "forward",
        (true, _) => Outside "behind the program",
    }

    /// The lanes that a KILL reaches, the valid ones of them, and those that are valid afterwards.
    Killed "killed" of (u64, u64, u64) {
        (0, ..) => NoLane "no lane passes",
        (_, 0, _) => Invalid "only lanes that are not valid",
        (.., 1..) => Some "some valid lanes",
        (.., 0) => All "all valid lanes",
    }

    /// Operand of a launch: lanes, of all.
    Mask "lane mask" of (u64, u64) {
        (0, _) => None "none",
        (mask, all) if mask != all => Some "some",
        _ => All "all",
    }

    /// Operand of a launch: whether the entry is outside the program.
    Entry "entry" of bool ["in the program", "behind it"]

    /// Operand of a launch: `STACK_SIZE`, and its maximum.
    Size "STACK_SIZE" of (u32, u32) {
        (0, _) => Zero "0",
        (size, max) if size < max => Fewer "1..MAX-1",
        (size, max) if size == max => Max "MAX",
        _ => More "above MAX",
    }

    /// The bank in which a loop frame begins.
    Bank "sp mod 4" 4 |n| n.to_string();

    /// The place in an entry of eight sub-entries where a loop frame begins.
    Position "sp mod 8" 8 |n| n.to_string();

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

error_codes!(9);
classes_present!("Abck");

impl Present {
    pub(super) fn has(self, class: From) -> bool {
        (self.0 + 1) >> class.index() & 1 == 1
    }
}
