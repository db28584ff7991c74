//! The axes that the bins of the unit cross.

use crate::axes::{classes_present, error_codes};
use crate::r500::golden::{Error, Event};
use crate::r500::isa::{self, Op, PredSel, Type};
use crate::r500::state::ERROR_NAMES;
use reconverge_campaign::cover::{Values, axis};

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
    InstKind "instruction" of (Type, Option<(Op, isa::AOp, bool)>) {
        (_, Some((Op::Jump, isa::AOp::None | isa::AOp::Reserved, false))) => Jump "JUMP",
        (_, Some((Op::Jump, isa::AOp::Push, _))) => Call "JUMP PUSH",
        (_, Some((Op::Jump, isa::AOp::Pop, _))) => Return "JUMP POP",
        (_, Some((Op::Jump, ..))) => Else "JUMP B_ELSE",
        (_, Some((Op::Loop, ..))) => Loop "LOOP",
        (_, Some((Op::EndLoop, ..))) => EndLoop "ENDLOOP",
        (_, Some((Op::Rep, ..))) => Rep "REP",
        (_, Some((Op::EndRep, ..))) => EndRep "ENDREP",
        (_, Some((Op::BreakLoop, ..))) => BreakLoop "BREAKLOOP",
        (_, Some((Op::BreakRep, ..))) => BreakRep "BREAKREP",
        (_, Some((Op::Continue, ..))) => Continue "CONTINUE",
        (Type::Alu, None) => Alu "ALU",
        (Type::Out, None) => Out "OUT",
        (Type::Tex | Type::Fc, None) => Tex "TEX",
    }

    /// Instructions that are not flow control.
    Plain "TYPE" of InstKind [Alu..=Tex]

    /// Operations with the same effect on the address stack.
    Family "OP" of Op {
        Op::Jump => Jump "JUMP",
        Op::Loop | Op::Rep => Begin "LOOP/REP",
        Op::EndLoop | Op::EndRep => End "ENDLOOP/ENDREP",
        Op::BreakLoop | Op::BreakRep => Break "BREAKLOOP/BREAKREP",
        Op::Continue => Continue "CONTINUE",
    }

    /// The kind of loop that an operation requires.
    LoopKind "kind" of bool ["LOOP", "REP"]

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

    /// `JUMP_ANY`.
    Any "JUMP_ANY" of bool ["0", "1"]

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

    /// The outcome of an instruction that works on the loop stack.
    LoopEnd "outcome" of Result<bool, Error> {
        Ok(false) => Stay "stays",
        Ok(true) => Jump "jumps",
        Err(Error::LoopUnderflow) => Underflow "error 3",
        Err(Error::LoopKind) => InstKind "error 4",
        Err(Error::LoopOverflow) => Overflow "error 5",
        Err(_) => Other "another error",
    }

    /// The outcome of an instruction that works on the address stack.
    AddrEnd "outcome" of Result<bool, Error> {
        Ok(false) => Stay "stays",
        Ok(true) => Jump "jumps",
        Err(Error::AddrOverflow) => Overflow "error 6",
        Err(Error::AddrUnderflow) => Underflow "error 7",
        Err(_) => Other "another error",
    }

    /// `A_OP`.
    AOp "A_OP" of isa::AOp {
        isa::AOp::None | isa::AOp::Reserved => None "NONE",
        isa::AOp::Pop => Pop "POP",
        isa::AOp::Push => Push "PUSH",
    }

    /// An `A_OP` other than none.
    Stacking "A_OP" of AOp [Pop..=Push]

    /// `FULL_FC_EN` is 0.
    Partial "mode" of bool ["full", "partial"]

    /// The highest counter of a BRANCH lane after step 2, and its limit.
    Highest "highest bc" of (Option<u8>, u8) {
        (None, _) => None "no BRANCH lane",
        (Some(0), _) => Zero "0",
        (Some(1), _) => One "1",
        (Some(n), max) if n + 1 < max => Middle "2..max-2",
        (Some(n), max) if n < max => AlmostMax "max-1",
        (Some(_), _) => Max "max",
    }

    /// The branch operation that the decision selects.
    BOp "b_op" of isa::BOp {
        isa::BOp::None | isa::BOp::Reserved => None "NONE",
        isa::BOp::Decr => Decr "DECR",
        isa::BOp::Incr => Incr "INCR",
    }

    /// Whether a limit is an error.
    Limit "outcome" of bool ["executed", "error 8"]

    /// `B_POP_CNT`.
    PopCount "B_POP_CNT" of u8 {
        0 => Zero "0",
        1 => One "1",
        2 => Two "2",
        3..=30 => More "3..30",
        31.. => Most "31",
    }

    /// The BRANCH lanes, and those that a DECR woke.
    Woken "woken" of (u64, u64) {
        (0, _) => NoLane "there is no BRANCH lane",
        (_, 0) => None "none",
        (branch, woken) if branch != woken => Some "some",
        _ => All "all",
    }

    /// A count of iterations.
    Count "count" of u8 {
        0 => Zero "0",
        1 => One "1",
        2 => Two "2",
        3..=254 => More "3..254",
        255 => Most "255",
    }

    /// The loop around a loop.
    Around "around it" of Option<(bool, u8, u8)> {
        None => Nothing "nothing",
        Some((false, ..)) => Loop "LOOP",
        Some((true, ..)) => Rep "REP",
    }

    /// The sign of `KB`.
    Step "KB" of i8 {
        i8::MIN..=-1 => Down "negative",
        0 => Zero "0",
        1.. => Up "positive",
    }

    /// The change of aL.
    Wrap "aL" of i16 {
        0..=255 => None "in range",
        i16::MIN..=-1 => Below "below 0",
        256.. => Above "above 255",
    }

    /// The form of a target: whether it is popped, and `JUMP_GLOBAL`.
    Target "target" of (bool, bool) {
        (false, false) => Relative "JUMP_ADDR + OFFSET_ADDR",
        (false, true) => Global "JUMP_ADDR",
        (true, _) => Popped "popped",
    }

    /// The place of the target, and how far it is from PC.
    Where "where" of (Start, i32) {
        (Start::Below, _) => Below "below the window",
        (_, ..=-1) => Back "backward",
        (_, 0) => Itself "itself",
        (Start::Inside, 1) => Next "next",
        (Start::Inside, _) => Forward "forward",
        (Start::Above, _) => Above "above the window",
    }

    /// `OFFSET_ADDR` is not 0.
    Offset "OFFSET_ADDR" of bool ["0", "1..511"]

    /// The way to this address: what the last step was.
    Came "reached by" of Option<Event> {
        None => Launch "launch",
        Some(Event::Other) => Plain "ALU, OUT, TEX",
        Some(Event::FlowControl { jump: false }) => Stayed "FC that stayed",
        Some(_) => Jumped "FC that jumped",
    }

    /// The place of PC in the code window.
    Position "PC" {
        Below "below the window",
        First "first",
        Inside "inside",
        Last "last",
        Above "above the window",
    }

    /// The outcome of a fetched instruction.
    Fetched "outcome" of (Start, Event) {
        (Start::Inside, Event::Other | Event::FlowControl { .. }) => Executed "executed",
        (Start::Inside, _) => Refused "instruction in error",
        (Start::Below | Start::Above, _) => Outside "error 9 at the fetch",
    }

    /// The instruction at `END_ADDR`.
    Last "at END_ADDR" of (InstKind, Event) {
        (InstKind::Alu, Event::Other) => Alu "ALU",
        (InstKind::Out, Event::Other) => Out "OUT",
        (_, Event::Other) => Tex "TEX",
        (_, Event::FlowControl { jump: false }) => Stays "FC stays",
        (_, Event::FlowControl { jump: true }) => Jumps "FC jumps",
        _ => Error "error",
    }

    /// The ACTIVE lanes at the end of the program, and all.
    Left "lanes" of (u64, u64) {
        (active, all) if active == all => All "all ACTIVE",
        (1.., _) => Some "some off",
        (0, _) => None "all off",
    }

    /// The frames at the end of the program: of loops and of calls.
    Open "open" of (u8, u8) {
        (0, 0) => Nothing "nothing",
        (1.., 0) => Loops "loops",
        (0, 1..) => Calls "calls",
        (1.., 1..) => Both "loops and calls",
    }

    /// `RGB_PRED_SEL`, legal values.
    Predicate "predicate" of PredSel {
        PredSel::None | PredSel::Rgba | PredSel::Reserved6 | PredSel::Reserved7 => None "NONE",
        PredSel::R => R "R",
        PredSel::G => G "G",
        PredSel::B => B "B",
        PredSel::A => A "A",
    }

    /// `RGB_PRED_INV`.
    Inverted "inverted" of bool ["0", "1"]

    /// `JUMP_FUNC`: the tables of r500-2.3-k.
    Func "JUMP_FUNC" of u8 {
        0x00 => Never "00",
        0xff => Always "FF",
        0x0f => IfNotAlu "0F",
        0xf0 => IfAlu "F0",
        0x33 => IfNotPred "33",
        0xcc => IfPred "CC",
        0x55 => IfNotBool "55",
        0xaa => IfBool "AA",
        _ => Other "another",
    }

    /// The boolean.
    Boolean "boolean" of bool ["0", "1"]

    /// A field with a reserved value.
    Reserved "reserved" {
        AOp "A_OP 3",
        BOp0 "B_OP0 3",
        BOp1 "B_OP1 3",
        PredSel1 "PRED_SEL 1",
        PredSel6 "PRED_SEL 6",
        PredSel7 "PRED_SEL 7",
    }

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

    /// `IGNORE_UNCOVERED`.
    Ignore "IGNORE_UNCOVERED" of bool ["0", "1"]

    /// Covered lanes, and all.
    Covered "covered" of (u64, u64) {
        (covered, all) if covered == all => All "all",
        (1.., _) => Some "some",
        (0, _) => None "none",
    }

    /// Whether the decision differs from that with every lane consulted.
    Effect "decision" of bool ["as if all were consulted", "another"]

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

    /// The place where a program begins.
    Start "START_ADDR" of Position {
        Position::Below => Below "below the window",
        Position::First | Position::Inside | Position::Last => Inside "in the window",
        Position::Above => Above "above the window",
    }
}

error_codes!(9);
classes_present!("ABCK");
