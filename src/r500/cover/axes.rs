//! The axes that the bins of the unit cross.

use crate::axes::present;
use crate::r500::golden::Error;
use crate::r500::isa::Op;
use crate::r500::state::ERROR_NAMES;
use reconverge_campaign::cover::{Values, axis, numbered, part};

impl Values for Op {
    const NAME: &'static str = "OP";
    const COUNT: usize = Op::ALL.len();
    fn names() -> Vec<String> {
        Op::ALL.iter().map(|op| op.name().to_owned()).collect()
    }
    fn index(self) -> usize {
        self as usize
    }
    fn at(index: usize) -> Self {
        Op::ALL[index]
    }
}

axis! {
    /// The kind of an instruction; JUMPs are distinguished by their other effects.
    InstKind "instruction" {
        Jump "JUMP",
        Call "JUMP PUSH",
        Return "JUMP POP",
        Else "JUMP B_ELSE",
        Loop "LOOP",
        EndLoop "ENDLOOP",
        Rep "REP",
        EndRep "ENDREP",
        BreakLoop "BREAKLOOP",
        BreakRep "BREAKREP",
        Continue "CONTINUE",
        Alu "ALU",
        Out "OUT",
        Tex "TEX",
    }
}

part! {
    /// Instructions that are not flow control.
    Plain "TYPE" of InstKind 11 3
}

axis! {
    /// Operations with the same effect on the address stack.
    Family "OP" {
        Jump "JUMP",
        Begin "LOOP/REP",
        End "ENDLOOP/ENDREP",
        Break "BREAKLOOP/BREAKREP",
        Continue "CONTINUE",
    }
}

axis! {
    /// Operations that require a certain kind of loop.
    LoopKind "kind" {
        Loop "LOOP",
        Rep "REP",
    }
}

axis! {
    /// The reason for the unit's decision (r500-4.1-g, r500-4.1-h, r500-4.2).
    Why "why" {
        CountZero "count 0",
        LastPass "last pass",
        HeldByBranch "held back by BRANCH",
        HeldByCont "held back by CONT",
        HeldByBoth "held back by BRANCH and CONT",
        NoVoter "no voter",
        AllWant "all voters want to jump",
        NoneWants "no voter wants to jump",
        Split "voters disagree",
    }
}

axis! {
    /// `JUMP_ANY`.
    Any "JUMP_ANY" {
        All "0",
        Any "1",
    }
}

numbered! {
    /// Lane classes present: bit 0 ACTIVE, 1 BRANCH, 2 CONT, 3 BRK, minus one, because some class is always present.
    Present "lane classes" 15 |n| {
        let letters = "ABCK".chars().enumerate();
        letters.filter(|(bit, _)| (n + 1) >> bit & 1 == 1).map(|(_, c)| c).collect()
    }
}

axis! {
    /// The effect on a lane: the swap and the return of step 2, then the rows of r500-4.3.
    Row "lane" {
        ElseOff "else: ACTIVE off",
        ElseOn "else: BRANCH 0 on",
        ElseDeep "else: BRANCH stays off",
        EndWakes "end: CONT 0 returns",
        EndSleeps "end: CONT of an outer loop stays",
        Agrees "ACTIVE, agrees",
        ToBrk "ACTIVE -> BRK",
        ToCont "ACTIVE -> CONT",
        ToBranch "ACTIVE -> BRANCH",
        Carried "ACTIVE, carried along",
        BranchKept "BRANCH, NONE",
        BranchUp "BRANCH, INCR",
        BranchWakes "BRANCH, DECR wakes",
        BranchDown "BRANCH, DECR counts",
        ContPushed "CONT, lc + 1",
        ContWakes "CONT, popped awake",
        ContDown "CONT, lc - 1",
        ContKept "CONT, untouched",
        BrkPushed "BRK, lc + 1",
        BrkWakes "BRK, popped awake",
        BrkDown "BRK, lc - 1",
        BrkKept "BRK, untouched",
    }
}

axis! {
    /// The outcome of an instruction that works on the loop stack.
    LoopEnd "outcome" {
        Stay "stays",
        Jump "jumps",
        Underflow "error 3",
        InstKind "error 4",
        Overflow "error 5",
        Other "another error",
    }
}

axis! {
    /// The outcome of an instruction that works on the address stack.
    AddrEnd "outcome" {
        Stay "stays",
        Jump "jumps",
        Overflow "error 6",
        Underflow "error 7",
        Other "another error",
    }
}

axis! {
    /// `A_OP`.
    AOp "A_OP" {
        None "NONE",
        Pop "POP",
        Push "PUSH",
    }
}

axis! {
    /// An `A_OP` other than none.
    Stacking "A_OP" {
        Pop "POP",
        Push "PUSH",
    }
}

axis! {
    /// `FULL_FC_EN`.
    Mode "mode" {
        Full "full",
        Partial "partial",
    }
}

axis! {
    /// The highest counter of a BRANCH lane after step 2.
    Highest "highest bc" {
        None "no BRANCH lane",
        Zero "0",
        One "1",
        Middle "2..max-2",
        AlmostMax "max-1",
        Max "max",
    }
}

axis! {
    /// The branch operation that the decision selects.
    BOp "b_op" {
        None "NONE",
        Decr "DECR",
        Incr "INCR",
    }
}

axis! {
    /// The outcome at a limit.
    Limit "outcome" {
        Done "executed",
        Error8 "error 8",
    }
}

axis! {
    /// `B_POP_CNT`.
    PopCount "B_POP_CNT" {
        Zero "0",
        One "1",
        Two "2",
        More "3..30",
        Most "31",
    }
}

axis! {
    /// The BRANCH lanes that a DECR woke.
    Woken "woken" {
        NoLane "there is no BRANCH lane",
        None "none",
        Some "some",
        All "all",
    }
}

axis! {
    /// A count of iterations.
    Count "count" {
        Zero "0",
        One "1",
        Two "2",
        More "3..254",
        Most "255",
    }
}

axis! {
    /// The loop around a loop.
    Around "around it" {
        Nothing "nothing",
        Loop "LOOP",
        Rep "REP",
    }
}

axis! {
    /// The sign of `KB`.
    Step "KB" {
        Down "negative",
        Zero "0",
        Up "positive",
    }
}

axis! {
    /// The change of aL.
    Wrap "aL" {
        None "in range",
        Below "below 0",
        Above "above 255",
    }
}

axis! {
    /// The form of a target.
    Target "target" {
        Relative "JUMP_ADDR + OFFSET_ADDR",
        Global "JUMP_ADDR",
        Popped "popped",
    }
}

axis! {
    /// The place of the target.
    Where "where" {
        Below "below the window",
        Back "backward",
        Itself "itself",
        Next "next",
        Forward "forward",
        Above "above the window",
    }
}

axis! {
    /// `OFFSET_ADDR`.
    Offset "OFFSET_ADDR" {
        Zero "0",
        More "1..511",
    }
}

axis! {
    /// The way to this address.
    Came "reached by" {
        Launch "launch",
        Plain "ALU, OUT, TEX",
        Stayed "FC that stayed",
        Jumped "FC that jumped",
    }
}

axis! {
    /// The place of PC in the code window.
    Position "PC" {
        Below "below the window",
        First "first",
        Inside "inside",
        Last "last",
        Above "above the window",
    }
}

axis! {
    /// The outcome of a fetched instruction.
    Fetched "outcome" {
        Executed "executed",
        Refused "instruction in error",
        Outside "error 9 at the fetch",
    }
}

axis! {
    /// The instruction at `END_ADDR`.
    Last "at END_ADDR" {
        Alu "ALU",
        Out "OUT",
        Tex "TEX",
        Stays "FC stays",
        Jumps "FC jumps",
        Error "error",
    }
}

axis! {
    /// The lanes at the end of the program.
    Left "lanes" {
        All "all ACTIVE",
        Some "some off",
        None "all off",
    }
}

axis! {
    /// The frames at the end of the program.
    Open "open" {
        Nothing "nothing",
        Loops "loops",
        Calls "calls",
        Both "loops and calls",
    }
}

axis! {
    /// `RGB_PRED_SEL`, legal values.
    Predicate "predicate" {
        None "NONE",
        R "R",
        G "G",
        B "B",
        A "A",
    }
}

axis! {
    /// `RGB_PRED_INV`.
    Inverted "inverted" {
        No "0",
        Yes "1",
    }
}

axis! {
    /// `JUMP_FUNC`: the tables of r500-2.3-k.
    Func "JUMP_FUNC" {
        Never "00",
        Always "FF",
        IfNotAlu "0F",
        IfAlu "F0",
        IfNotPred "33",
        IfPred "CC",
        IfNotBool "55",
        IfBool "AA",
        Other "another",
    }
}

axis! {
    /// The boolean.
    Boolean "boolean" {
        Zero "0",
        One "1",
    }
}

axis! {
    /// A field with a reserved value.
    Reserved "reserved" {
        AOp "A_OP 3",
        BOp0 "B_OP0 3",
        BOp1 "B_OP1 3",
        PredSel1 "PRED_SEL 1",
        PredSel6 "PRED_SEL 6",
        PredSel7 "PRED_SEL 7",
    }
}

axis! {
    /// Two errors at once: the reported one, and the other that holds too.
    Two "errors" {
        IllegalPartial "1 over 2",
        IllegalUnderflow "1 over 3",
        IllegalKind "1 over 4",
        PartialUnderflow "2 over 3",
        LoopBranch "5 over 8",
        PushBranch "6 over 8",
        PushRange "6 over 9",
        PopBranch "7 over 8",
        BranchRange "8 over 9",
    }
}

axis! {
    /// `IGNORE_UNCOVERED`.
    Ignore "IGNORE_UNCOVERED" {
        No "0",
        Yes "1",
    }
}

axis! {
    /// Covered lanes.
    Covered "covered" {
        All "all",
        Some "some",
        None "none",
    }
}

axis! {
    /// Whether the decision differs from that with every lane consulted.
    Effect "decision" {
        Same "as if all were consulted",
        Other "another",
    }
}

axis! {
    /// Corner cases that no other group singles out.
    Corner "corner" {
        UncoveredContPopped "r500-O5: BREAK pops under a CONT lane of its loop",
        HeldByOuterCont "r500-O9: BREAK held back by CONT lanes of outer loops only",
        BreakWithoutActive "r500-O10: BREAK jumps with no lane ACTIVE",
        ContinueWithoutActive "r500-O10: CONTINUE jumps with no lane ACTIVE",
        ElseBreak "r500-O11: B_ELSE on BREAK switches lanes off that hold it back",
        ElseContinue "r500-O11: B_ELSE on CONTINUE likewise",
        ElseIncr "r500-O12: lanes switched off by B_ELSE take the INCR",
        ElseAny "r500-O13: JUMP_ANY 1, only lanes switched off by B_ELSE want to jump",
        UncoveredLeft "r500-O14: an uncovered lane without a say is switched off",
        CountIncr "r500-O16: INCR under a count override",
        LoopSkipped "r500-O17: LOOP or REP jumps with a count above 0",
        PushTop "r500-O18: PUSH at 511 stores 512",
        LoopNoVoter "r500-O29: LOOP or REP jumps for want of a voter",
        ElseEnd "B_ELSE on ENDLOOP or ENDREP",
        EndDecides "lanes that CONTINUE switched off decide ENDLOOP or ENDREP",
        CallFull "CALL fills the address stack in a full loop stack",
        CallInLoop "CALL in a loop",
        ReturnInLoop "RETURN in a loop",
        DeepLc "a lane with lc 3",
        RepInherits "REP takes an aL other than 0 from the frame below",
        LoopHides "LOOP in a loop begins with its own KG",
        PopAll "one pop wakes lanes with lc 0 and counts others down",
    }
}

axis! {
    /// The place where a program begins.
    Start "START_ADDR" {
        Below "below the window",
        Inside "in the window",
        Above "above the window",
    }
}

axis! {
    /// The operation that failed.
    Failed "OP" {
        Jump "JUMP",
        Loop "LOOP",
        EndLoop "ENDLOOP",
        Rep "REP",
        EndRep "ENDREP",
        BreakLoop "BREAKLOOP",
        BreakRep "BREAKREP",
        Continue "CONTINUE",
        Fetch "the fetch",
    }
}

numbered! {
    /// Error code.
    Code "error" 9 |n| format!("{} {}", n + 1, ERROR_NAMES[n + 1])
}

impl Code {
    pub(super) fn of(code: Error) -> Self {
        Code(code as u8 - 1)
    }

    pub(super) fn is(self, code: Error) -> bool {
        self == Code::of(code)
    }
}

impl Present {
    pub(super) fn of(classes: [u64; 4]) -> Self {
        Present(present(classes) as u8 - 1)
    }
}

impl From<bool> for Limit {
    fn from(error: bool) -> Self {
        if error { Limit::Error8 } else { Limit::Done }
    }
}
