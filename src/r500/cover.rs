//! The bins of the unit: what of the rules in `docs/spec/r500.md` a campaign has to meet, all in one place.

use super::R500;
use super::golden::{Error, Event, Golden};
use super::isa::{AOp as AddrOp, BOp as BranchOp, Cmn, FcAddr, FcInst, Op, PredSel, Type};
use super::state::{ERROR_NAMES, In, State};
use crate::cover::{
    Coverage, Cross, Decision, Declaration, Hits, Host, Level, Pace, Port, Previous, Rest, Status,
    Values, When, Written, axis, classes, numbered, part, present,
};
use crate::unit::Build;

// ---- axes --------------------------------------------------------------------------------------------

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
    /// An instruction as its neighbours see it: JUMP by what it does besides.
    Kind "instruction" {
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
    Plain "TYPE" of Kind 11 3
}

axis! {
    /// Operations that behave alike towards the address stack.
    Family "OP" {
        Jump "JUMP",
        Begin "LOOP/REP",
        End "ENDLOOP/ENDREP",
        Break "BREAKLOOP/BREAKREP",
        Continue "CONTINUE",
    }
}

axis! {
    /// Operations with a kind of loop of their own.
    LoopKind "kind" {
        Loop "LOOP",
        Rep "REP",
    }
}

axis! {
    /// Why the unit decided as it did (r500-4.1-g, r500-4.1-h, r500-4.2).
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
    /// Lane classes present: bit 0 ACTIVE, 1 BRANCH, 2 CONT, 3 BRK, minus one: some class always is.
    Present "lane classes" 15 |n| {
        let letters = "ABCK".chars().enumerate();
        letters.filter(|(bit, _)| (n + 1) >> bit & 1 == 1).map(|(_, c)| c).collect()
    }
}

axis! {
    /// What became of a lane: the swap and the return of step 2, then the rows of r500-4.3.
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
    /// How an instruction that works on the loop stack ended.
    LoopEnd "outcome" {
        Stay "stays",
        Jump "jumps",
        Underflow "error 3",
        Kind "error 4",
        Overflow "error 5",
        Other "another error",
    }
}

axis! {
    /// How an instruction that works on the address stack ended.
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
    /// An `A_OP` that does something.
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
    /// The branch operation of the decision.
    BOp "b_op" {
        None "NONE",
        Decr "DECR",
        Incr "INCR",
    }
}

axis! {
    /// Whether it went well.
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
    /// Which BRANCH lanes a DECR woke.
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
    /// The frame around a loop.
    Around "around it" {
        Nothing "nothing",
        Loop "LOOP",
        Rep "REP",
    }
}

axis! {
    /// Sign of `KB`.
    Step "KB" {
        Down "negative",
        Zero "0",
        Up "positive",
    }
}

axis! {
    /// What aL did.
    Wrap "aL" {
        None "in range",
        Below "below 0",
        Above "above 255",
    }
}

axis! {
    /// How a target is given.
    Target "target" {
        Relative "JUMP_ADDR + OFFSET_ADDR",
        Global "JUMP_ADDR",
        Popped "popped",
    }
}

axis! {
    /// Where it lies.
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
    /// What led to this address.
    Came "reached by" {
        Launch "launch",
        Plain "ALU, OUT, TEX",
        Stayed "FC that stayed",
        Jumped "FC that jumped",
    }
}

axis! {
    /// Where PC stands in the code window.
    Place "PC" {
        Below "below the window",
        First "first",
        Inside "inside",
        Last "last",
        Above "above the window",
    }
}

axis! {
    /// How a fetched instruction ended.
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
    /// Lanes when the program ends.
    Left "lanes" {
        All "all ACTIVE",
        Some "some off",
        None "all off",
    }
}

axis! {
    /// Frames when the program ends.
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
    /// Two errors at once: reported, and also holding.
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
    /// Whether the decision is another than with every lane consulted.
    Effect "decision" {
        Same "as if all were consulted",
        Other "another",
    }
}

axis! {
    /// Corners that no other group singles out.
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
    /// Where a program begins.
    Start "START_ADDR" {
        Below "below the window",
        Inside "in the window",
        Above "above the window",
    }
}

axis! {
    /// Who failed.
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

// ---- the declaration ---------------------------------------------------------------------------------

/// The groups of the unit.
#[derive(Debug)]
pub struct Bins {
    all: u64,
    clocks: Cross<(Status, Pace, Host)>,
    writes: Cross<(Written, Port)>,
    launches: Cross<(Rest, Mode, Start, Offset)>,
    fetches: Cross<(Came, Place, Fetched)>,
    neighbours: Cross<(Previous<Kind>, Kind)>,
    errors: Cross<(Failed, Code)>,
    priority: Cross<(Two,)>,
    reserved: Cross<(Op, Reserved)>,
    partial: Cross<(Op, AOp)>,
    plain: Cross<(Plain, Present)>,
    classes: Cross<(Op, Present, Decision)>,
    decisions: Cross<(Op, Why, Any)>,
    rows: Cross<(Op, Row, Decision)>,
    conditions: Cross<(Predicate, Inverted, Func, Boolean)>,
    coverage: Cross<(Family, Ignore, Covered, Effect)>,
    counters: Cross<(Mode, Highest, BOp, Limit)>,
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
/// It needs a loop.
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

    #[rustfmt::skip]
    fn declare(d: &mut Declaration, build: &Build) -> Self {
        use When::{Clock, Sometimes, Step as EachStep};
        let bins = Bins {
            all: u64::MAX >> (64 - build.lanes),
            clocks: d.cross(Clock, "clocks", "each cycle: what the unit was doing, and what bench and host asked of it"),
            writes: d.cross(Sometimes, "host writes", "each cycle with a write at the host port, reset aside"),
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
            |(came, place, _)| place == Place::Below && came != Came::Launch);
        d.unreachable(bins.fetches, "r500-E9: a jump that is taken lands in the window",
            |(came, place, _)| place == Place::Above && came == Came::Jumped);
        d.unreachable(bins.fetches, "r500-O32: what stands one before the first address lies outside and is never executed",
            |(came, place, _)| place == Place::First && matches!(came, Came::Plain | Came::Stayed));
        d.unreachable(bins.fetches, "r500-E9: outside the window there is no instruction, inside it the fetch is in order",
            |(_, place, fetched)| matches!(place, Place::Below | Place::Above) != (fetched == Fetched::Outside));

        d.unreachable(bins.errors, "r500-E9: a fetch outside the window is error 9, and there is no instruction that could have another",
            |(op, code)| op == Failed::Fetch && !code.is(Error::PcRange));
        d.unreachable(bins.errors, "r500-E3, r500-E4: errors 3 and 4 are of ENDLOOP, ENDREP, BREAKLOOP, BREAKREP; 3 of CONTINUE too",
            |(op, code)| {
                let elsewhere = matches!(op, Failed::Jump | Failed::Loop | Failed::Rep);
                let kind = code.is(Error::LoopKind);
                elsewhere && (kind || code.is(Error::LoopUnderflow)) || kind && op == Failed::Continue
            });
        d.unreachable(bins.errors, "r500-E5: error 5 is of LOOP and REP",
            |(op, code)| code.is(Error::LoopOverflow) && !matches!(op, Failed::Loop | Failed::Rep));
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
            |(_, ignore, covered, effect)| effect == Effect::Other && (ignore == Ignore::No || covered == Covered::All));

        d.unreachable(bins.counters, "r500-E8: error 8 is INCR with a counter at its limit, and always then",
            |(_, highest, b_op, limit)| (limit == Limit::Error8) != (b_op == BOp::Incr && highest == Highest::Max));
        d.unreachable(bins.counters, "r500-3.1-b: in partial mode the limit is 3",
            |(mode, highest, ..)| mode == Mode::Partial && highest == Highest::Middle);
        d.unreachable(bins.pops, "r500-4.3-j: no counter is below 0, so DECR by 0 wakes no lane",
            |(count, woken, _)| count == PopCount::Zero && matches!(woken, Woken::Some | Woken::All));

        d.unreachable(bins.loop_stack, "r500-E3: error 3 is an instruction of a loop with no frame, and always then",
            |(op, level, outcome)| {
                let empty = in_loop(op) && level == Level::Empty;
                outcome == LoopEnd::Underflow && !empty || empty && matches!(outcome, LoopEnd::Stay | LoopEnd::Jump)
            });
        d.unreachable(bins.loop_stack, "r500-E4: error 4 is ENDLOOP, ENDREP, BREAKLOOP or BREAKREP with a frame of the other kind",
            |(op, level, outcome)| outcome == LoopEnd::Kind && (level == Level::Empty || !ends(op) && !breaks(op)));
        d.unreachable(bins.loop_stack, "r500-E5: error 5 is LOOP or REP that stays with 4 frames in use, and always then",
            |(op, level, outcome)| {
                let full = begins(op) && level == Level::Full;
                outcome == LoopEnd::Overflow && !full || full && outcome == LoopEnd::Stay
            });

        d.unreachable(bins.addr_stack, "r500-E6: error 6 is PUSH and jump with 4 entries in use, and always then",
            |(a_op, _, level, outcome)| {
                let full = a_op == Stacking::Push && level == Level::Full;
                outcome == AddrEnd::Overflow && !full || full && outcome == AddrEnd::Jump
            });
        d.unreachable(bins.addr_stack, "r500-E7: error 7 is POP and jump with no entry, and always then",
            |(a_op, _, level, outcome)| {
                let empty = a_op == Stacking::Pop && level == Level::Empty;
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
        let lanes = build.lanes;
        if lanes < 4 {
            d.unreachable(bins.plain, "there are not so many lanes",
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
            let port = Port::of(status, pins.stall, pins.launch);
            hits.hit(self.writes, (written, port));
        }
        match after.event() {
            Event::Reset => *m = Memory::default(),
            Event::Launched => {
                m.launch(pins);
                let start = match m.place(after.state().pc) {
                    Place::Below => Start::Below,
                    Place::Above => Start::Above,
                    _ => Start::Inside,
                };
                hits.hit(
                    self.launches,
                    (Rest::from(status), m.mode(), start, m.offset()),
                );
            }
            Event::Stalled | Event::Idle | Event::Waiting => {}
            event @ (Event::Other | Event::FlowControl { .. } | Event::Halted(_)) => {
                self.step(m, before, pins, (event, after.state()), hits);
            }
        }
    }
}

// ---- what is remembered ------------------------------------------------------------------------------

/// What the state does not show: the registers that the launch took, and how the last step ended.
#[derive(Debug, Default)]
pub struct Memory {
    full: bool,
    offset: u16,
    end: u16,
    lo: u16,
    hi: u16,
    came: Option<Came>,
    previous: Option<Kind>,
}

impl Memory {
    fn launch(&mut self, pins: &In) {
        let field = |word: u32, lo: u32| (word >> lo & 0x1ff) as u16;
        let (lo, size) = (field(pins.code_range, 0), field(pins.code_range, 16));
        *self = Memory {
            full: pins.fc_ctrl >> 31 == 1,
            offset: field(pins.code_offset, 0),
            end: field(pins.code_addr, 16),
            lo,
            hi: (lo + size).min(511),
            came: None,
            previous: None,
        };
    }

    fn mode(&self) -> Mode {
        if self.full { Mode::Full } else { Mode::Partial }
    }

    fn offset(&self) -> Offset {
        if self.offset == 0 {
            Offset::Zero
        } else {
            Offset::More
        }
    }

    /// A window of one instruction is its last.
    fn place(&self, pc: u16) -> Place {
        match pc {
            pc if pc < self.lo => Place::Below,
            pc if pc > self.hi => Place::Above,
            pc if pc == self.hi => Place::Last,
            pc if pc == self.lo => Place::First,
            _ => Place::Inside,
        }
    }

    fn is_last(&self, pc: u16) -> bool {
        pc == self.offset + self.end
    }
}

impl Code {
    fn of(code: Error) -> Self {
        Code(code as u8 - 1)
    }

    fn is(self, code: Error) -> bool {
        self == Code::of(code)
    }
}

impl Present {
    fn of(classes: [u64; 4]) -> Self {
        Present(present(classes) - 1)
    }
}

impl From<bool> for Limit {
    fn from(error: bool) -> Self {
        if error { Limit::Error8 } else { Limit::Done }
    }
}

// ---- a step ------------------------------------------------------------------------------------------

/// Lanes whose counter, given as planes, is below `than`.
fn below(planes: &[u64], than: u8) -> u64 {
    let (mut less, mut equal) = (0, u64::MAX);
    for (bit, plane) in planes.iter().enumerate().rev() {
        if than >> bit & 1 == 1 {
            less |= equal & !plane;
            equal &= plane;
        } else {
            equal &= !plane;
        }
    }
    less
}

/// The highest counter among `lanes`, of which there are some.
fn highest(planes: &[u64], lanes: u64) -> u8 {
    let (mut of, mut value) = (lanes, 0);
    for (bit, plane) in planes.iter().enumerate().rev() {
        if of & plane != 0 {
            of &= plane;
            value |= 1 << bit;
        }
    }
    value
}

fn count(n: u8) -> Count {
    match n {
        0 => Count::Zero,
        1 => Count::One,
        2 => Count::Two,
        255 => Count::Most,
        _ => Count::More,
    }
}

/// A flow-control instruction among its lanes: r500-4.1, steps 0 to 5, on whole masks.
struct Flow {
    cmn: Cmn,
    inst: FcInst,
    addr: FcAddr,
    op: Op,
    /// Classes before the step, and after its step 2.
    before: [u64; 4],
    active: u64,
    branch: u64,
    cont: u64,
    brk: u64,
    else_off: u64,
    returned: u64,
    /// Lanes that want to jump.
    want: u64,
    /// Lanes that are consulted.
    consulted: u64,
    boolean: bool,
    /// Count, init and step of the constant.
    kr: u8,
    kg: u8,
    kb: i8,
    /// The frame on top (is REP, count, aL), and the one below it.
    top: Option<(bool, u8, u8)>,
    around: Around,
    forced: Option<bool>,
}

impl Flow {
    fn new(s: &State, pins: &In, all: u64) -> Self {
        let (cmn, inst) = (Cmn::decode(pins.cmn), FcInst::decode(pins.inst));
        let (addr, op) = (FcAddr::decode(pins.addr), inst.op);
        let before = classes(s.st, all);
        let [mut active, mut branch, mut cont, brk] = before;
        let counted = s.bc.iter().fold(0, |a, plane| a | plane);
        let else_off = if inst.b_else { active } else { 0 };
        if inst.b_else {
            (active, branch) = (branch & !counted, branch & counted | active);
        }
        let returned = if ends(op) {
            cont & !(s.lc[0] | s.lc[1])
        } else {
            0
        };
        active |= returned;
        cont &= !returned;

        let boolean = s.bool_const >> addr.bool_addr & 1 == 1;
        let selected = match cmn.pred_sel {
            PredSel::R => pins.pred[0],
            PredSel::G => pins.pred[1],
            PredSel::B => pins.pred[2],
            PredSel::A => pins.pred[3],
            _ => u64::MAX,
        };
        let predicate = if cmn.pred_inv { !selected } else { selected };
        let table = |alu: u8, pred: u8| match inst.jump_func
            >> (alu << 2 | pred << 1 | u8::from(boolean))
            & 1
        {
            0 => 0,
            _ => u64::MAX,
        };
        let wish = pins.alu & predicate & table(1, 1)
            | pins.alu & !predicate & table(1, 0)
            | !pins.alu & predicate & table(0, 1)
            | !pins.alu & !predicate & table(0, 0);

        let constant = s.int(addr.int_addr.into());
        let depth = usize::from(s.loop_depth);
        let frame = |from_top: usize| depth.checked_sub(from_top).map(|f| s.frame(f));
        let (top, kr) = (frame(1), constant as u8);
        let below = if begins(op) { top } else { frame(2) };
        let forced = match top {
            _ if begins(op) && kr == 0 => Some(true),
            Some((_, 1, _)) if ends(op) => Some(false),
            _ => None,
        };
        Flow {
            cmn,
            inst,
            addr,
            op,
            before,
            active,
            branch,
            cont,
            brk,
            else_off,
            returned,
            want: active & wish | else_off,
            consulted: if inst.ignore_uncovered {
                pins.cov & all
            } else {
                all
            },
            boolean,
            kr,
            kg: (constant >> 8) as u8,
            kb: (constant >> 16) as i8,
            top,
            around: match below {
                None => Around::Nothing,
                Some((false, ..)) => Around::Loop,
                Some((true, ..)) => Around::Rep,
            },
            forced,
        }
    }

    /// Lanes with a say (r500-4.2-a), if `consulted` are consulted.
    fn voters(&self, consulted: u64) -> u64 {
        let leaves = breaks(self.op) || self.op == Op::Continue;
        (self.active | if leaves { 0 } else { self.else_off }) & consulted
    }

    /// Lanes that hold the unit back: BRANCH ones and CONT ones.
    fn holders(&self, consulted: u64) -> (u64, u64) {
        let leaves = breaks(self.op) || self.op == Op::Continue;
        let branch = if leaves { self.branch } else { 0 };
        let cont = if breaks(self.op) { self.cont } else { 0 };
        (branch & consulted, cont & consulted)
    }

    /// What `voters` alone decide.
    fn vote(&self, voters: u64) -> bool {
        match self.inst.jump_any {
            true => voters & self.want != 0,
            false => voters & !self.want == 0,
        }
    }

    /// The decision, and what it rests on. Holding back counts where it changes the decision.
    fn decide(&self, consulted: u64) -> (bool, Why) {
        match self.forced {
            Some(true) => return (true, Why::CountZero),
            Some(false) => return (false, Why::LastPass),
            None => {}
        }
        let voters = self.voters(consulted);
        let jump = self.vote(voters);
        let why = match (
            self.holders(consulted),
            voters & self.want,
            voters & !self.want,
        ) {
            ((b, 0), ..) if jump && b != 0 => Why::HeldByBranch,
            ((0, c), ..) if jump && c != 0 => Why::HeldByCont,
            ((b, c), ..) if jump && b != 0 && c != 0 => Why::HeldByBoth,
            (_, 0, 0) => Why::NoVoter,
            (_, _, 0) => Why::AllWant,
            (_, 0, _) => Why::NoneWants,
            _ => Why::Split,
        };
        let held = matches!(why, Why::HeldByBranch | Why::HeldByCont | Why::HeldByBoth);
        (jump && !held, why)
    }

    fn family(&self) -> Family {
        match self.op {
            Op::Jump => Family::Jump,
            Op::Loop | Op::Rep => Family::Begin,
            Op::EndLoop | Op::EndRep => Family::End,
            Op::BreakLoop | Op::BreakRep => Family::Break,
            Op::Continue => Family::Continue,
        }
    }

    fn loop_kind(&self) -> LoopKind {
        match self.op {
            Op::Rep | Op::EndRep => LoopKind::Rep,
            _ => LoopKind::Loop,
        }
    }

    fn stacking(&self) -> Option<Stacking> {
        match self.inst.a_op {
            AddrOp::Pop => Some(Stacking::Pop),
            AddrOp::Push => Some(Stacking::Push),
            _ => None,
        }
    }

    fn b_op(&self, jump: bool) -> BOp {
        match if jump {
            self.inst.b_op1
        } else {
            self.inst.b_op0
        } {
            BranchOp::Decr => BOp::Decr,
            BranchOp::Incr => BOp::Incr,
            _ => BOp::None,
        }
    }

    /// Where a jump leads; `None` if there is nothing to pop.
    fn target(&self, m: &Memory, s: &State) -> Option<u16> {
        match self.inst.a_op {
            AddrOp::Pop => usize::from(s.addr_depth).checked_sub(1).map(|n| s.addrs[n]),
            _ if self.addr.jump_global => Some(self.addr.jump_addr),
            _ => Some(self.addr.jump_addr + m.offset),
        }
    }

    fn reserved(&self) -> impl Iterator<Item = Reserved> {
        let i = &self.inst;
        let pred = self.cmn.pred_sel;
        [
            (i.a_op == AddrOp::Reserved, Reserved::AOp),
            (i.b_op0 == BranchOp::Reserved, Reserved::BOp0),
            (i.b_op1 == BranchOp::Reserved, Reserved::BOp1),
            (pred == PredSel::Rgba, Reserved::PredSel1),
            (pred == PredSel::Reserved6, Reserved::PredSel6),
            (pred == PredSel::Reserved7, Reserved::PredSel7),
        ]
        .into_iter()
        .filter_map(|(is, what)| is.then_some(what))
    }
}

impl Bins {
    /// A step: what the golden did, and the state it led to.
    fn step(
        &self,
        m: &mut Memory,
        before: &State,
        pins: &In,
        (event, after): (Event, &State),
        hits: &mut Hits,
    ) {
        let place = m.place(before.pc);
        let fetched = match (place, event) {
            (Place::Below | Place::Above, _) => Fetched::Outside,
            (_, Event::Halted(_)) => Fetched::Refused,
            _ => Fetched::Executed,
        };
        let came = m.came.unwrap_or(Came::Launch);
        hits.hit(self.fetches, (came, place, fetched));
        if fetched == Fetched::Outside {
            if let Event::Halted(code) = event {
                hits.hit(self.errors, (Failed::Fetch, Code::of(code)));
            }
            return;
        }
        let flow =
            (Type::from_bits(pins.cmn) == Type::Fc).then(|| Flow::new(before, pins, self.all));
        let kind = match (Type::from_bits(pins.cmn), &flow) {
            (Type::Alu, _) => Kind::Alu,
            (Type::Out, _) => Kind::Out,
            (_, None) => Kind::Tex,
            (_, Some(flow)) => match (flow.op, flow.inst.a_op) {
                (Op::Jump, AddrOp::Push) => Kind::Call,
                (Op::Jump, AddrOp::Pop) => Kind::Return,
                (Op::Jump, _) if flow.inst.b_else => Kind::Else,
                (Op::Jump, _) => Kind::Jump,
                (Op::Loop, _) => Kind::Loop,
                (Op::EndLoop, _) => Kind::EndLoop,
                (Op::Rep, _) => Kind::Rep,
                (Op::EndRep, _) => Kind::EndRep,
                (Op::BreakLoop, _) => Kind::BreakLoop,
                (Op::BreakRep, _) => Kind::BreakRep,
                (Op::Continue, _) => Kind::Continue,
            },
        };
        hits.hit(self.neighbours, (Previous(m.previous), kind));
        if m.is_last(before.pc) {
            let last = match (kind, event) {
                (_, Event::Halted(_)) => Last::Error,
                (_, Event::FlowControl { jump: true }) => Last::Jumps,
                (_, Event::FlowControl { jump: false }) => Last::Stays,
                (Kind::Alu, _) => Last::Alu,
                (Kind::Out, _) => Last::Out,
                _ => Last::Tex,
            };
            let left = match after.active {
                active if active == self.all => Left::All,
                0 => Left::None,
                _ => Left::Some,
            };
            let open = match (after.loop_depth, after.addr_depth) {
                (0, 0) => Open::Nothing,
                (_, 0) => Open::Loops,
                (0, _) => Open::Calls,
                _ => Open::Both,
            };
            hits.hit(self.last, (last, left, open));
        }
        match &flow {
            None => {
                if let Some(plain) = Plain::of(kind) {
                    hits.hit(
                        self.plain,
                        (plain, Present::of(classes(before.st, self.all))),
                    );
                }
                m.came = Some(Came::Plain);
            }
            Some(flow) => {
                let outcome = match event {
                    Event::Halted(code) => Err(code),
                    _ => Ok(event == Event::FlowControl { jump: true }),
                };
                self.flow(m, flow, before, pins, outcome, after, hits);
                m.came = Some(if outcome == Ok(true) {
                    Came::Jumped
                } else {
                    Came::Stayed
                });
            }
        }
        m.previous = Some(kind);
    }

    /// A flow-control instruction that jumped, stayed, or failed.
    #[allow(clippy::too_many_arguments)]
    fn flow(
        &self,
        m: &Memory,
        f: &Flow,
        before: &State,
        pins: &In,
        outcome: Result<bool, Error>,
        after: &State,
        hits: &mut Hits,
    ) {
        let op = f.op;
        let is = |code: Error| outcome == Err(code);
        let level = Level::of(before.loop_depth.into(), STACK);
        let ended = match outcome {
            Ok(false) => LoopEnd::Stay,
            Ok(true) => LoopEnd::Jump,
            Err(Error::LoopUnderflow) => LoopEnd::Underflow,
            Err(Error::LoopKind) => LoopEnd::Kind,
            Err(Error::LoopOverflow) => LoopEnd::Overflow,
            Err(_) => LoopEnd::Other,
        };
        hits.hit(self.loop_stack, (op, level, ended));
        if let Some(stacking) = f.stacking() {
            let level = Level::of(before.addr_depth.into(), STACK);
            let ended = match outcome {
                Ok(false) => AddrEnd::Stay,
                Ok(true) => AddrEnd::Jump,
                Err(Error::AddrOverflow) => AddrEnd::Overflow,
                Err(Error::AddrUnderflow) => AddrEnd::Underflow,
                Err(_) => AddrEnd::Other,
            };
            hits.hit(self.addr_stack, (stacking, f.family(), level, ended));
        }
        if let Err(code) = outcome {
            hits.hit(self.errors, (Failed::at(op.index()), Code::of(code)));
        }

        // Errors 1 to 4 need no decision, and leave none.
        let illegal = f.reserved().fold(false, |_, what| {
            hits.hit(self.reserved, (op, what));
            true
        });
        let refused = !m.full && (op != Op::Jump || f.stacking().is_some());
        let underflow = in_loop(op) && f.top.is_none();
        let wrong_kind = f.top.is_some_and(|(rep, ..)| match op {
            Op::EndLoop | Op::BreakLoop => rep,
            Op::EndRep | Op::BreakRep => !rep,
            _ => false,
        });
        let mut two = |first: bool, second: bool, what: Two| {
            hits.hit_if(first && second, self.priority, (what,));
        };
        two(illegal, refused, Two::IllegalPartial);
        two(illegal, underflow, Two::IllegalUnderflow);
        two(illegal, wrong_kind, Two::IllegalKind);
        two(refused && !illegal, underflow, Two::PartialUnderflow);
        if !m.full && !illegal {
            let a_op = f.stacking().map_or(AOp::None, |s| match s {
                Stacking::Pop => AOp::Pop,
                Stacking::Push => AOp::Push,
            });
            hits.hit(self.partial, (op, a_op));
        }
        if illegal || refused || underflow || wrong_kind {
            debug_assert!(matches!(outcome, Err(code) if code <= Error::LoopKind));
            return;
        }

        let (jump, why) = f.decide(f.consulted);
        debug_assert!(
            outcome.is_err() || outcome == Ok(jump),
            "{outcome:?} by {why:?}"
        );
        let decision = Decision::from(jump);
        hits.hit(
            self.decisions,
            (op, why, if f.inst.jump_any { Any::Any } else { Any::All }),
        );

        // Errors 5 to 9.
        let b_op = f.b_op(jump);
        let max = if m.full { 31 } else { 3 };
        let top_counter = (f.branch != 0).then(|| highest(&before.bc, f.branch));
        let at_limit = b_op == BOp::Incr && top_counter == Some(max);
        let target = f.target(m, before).filter(|_| jump);
        let outside = target.is_some_and(|t| matches!(m.place(t), Place::Below | Place::Above));
        let mut two = |first: Error, second: bool, what: Two| {
            hits.hit_if(is(first) && second, self.priority, (what,));
        };
        two(Error::LoopOverflow, at_limit, Two::LoopBranch);
        two(Error::AddrOverflow, at_limit, Two::PushBranch);
        two(Error::AddrOverflow, outside, Two::PushRange);
        two(Error::AddrUnderflow, at_limit, Two::PopBranch);
        two(Error::BranchOverflow, outside, Two::BranchRange);
        if outcome.is_ok() || is(Error::BranchOverflow) {
            let highest = match top_counter {
                None => Highest::None,
                Some(0) => Highest::Zero,
                Some(n) if n == max => Highest::Max,
                Some(n) if n == max - 1 => Highest::AlmostMax,
                Some(1) => Highest::One,
                Some(_) => Highest::Middle,
            };
            let limit = Limit::from(outcome.is_err());
            hits.hit(self.counters, (m.mode(), highest, b_op, limit));
        }
        if let Some(target) = target.filter(|_| outcome.is_ok() || is(Error::PcRange)) {
            let place = match m.place(target) {
                Place::Below => Where::Below,
                Place::Above => Where::Above,
                _ if target == before.pc => Where::Itself,
                _ if target == before.pc + 1 => Where::Next,
                _ if target < before.pc => Where::Back,
                _ => Where::Forward,
            };
            let how = match f.inst.a_op {
                AddrOp::Pop => Target::Popped,
                _ if f.addr.jump_global => Target::Global,
                _ => Target::Relative,
            };
            hits.hit(self.targets, (how, place, m.offset()));
        }
        if outcome.is_err() {
            return;
        }

        hits.hit(self.classes, (op, Present::of(f.before), decision));
        self.votes(f, pins, jump, hits);
        self.lanes(f, before, jump, hits);
        if begins(op) {
            hits.hit(
                self.begins,
                (f.loop_kind(), count(f.kr), f.around, decision),
            );
        }
        if let Some((_, left, al)) = f.top.filter(|_| ends(op)) {
            hits.hit(self.ends, (f.loop_kind(), count(left), f.around, decision));
            if op == Op::EndLoop && jump {
                let step = match f.kb {
                    0 => Step::Zero,
                    kb if kb < 0 => Step::Down,
                    _ => Step::Up,
                };
                let wrap = match i16::from(al) + i16::from(f.kb) {
                    sum if sum < 0 => Wrap::Below,
                    sum if sum > 255 => Wrap::Above,
                    _ => Wrap::None,
                };
                hits.hit(self.al, (step, wrap, f.around));
            }
        }
        self.corner_cases(f, pins, (before, after), (jump, why), hits);
    }

    /// How an instruction without error was asked and decided.
    fn votes(&self, f: &Flow, pins: &In, jump: bool, hits: &mut Hits) {
        if f.forced.is_some() {
            return;
        }
        if f.active != 0 {
            let predicate = match f.cmn.pred_sel {
                PredSel::R => Predicate::R,
                PredSel::G => Predicate::G,
                PredSel::B => Predicate::B,
                PredSel::A => Predicate::A,
                _ => Predicate::None,
            };
            let inverted = if f.cmn.pred_inv {
                Inverted::Yes
            } else {
                Inverted::No
            };
            let func = match f.inst.jump_func {
                0x00 => Func::Never,
                0xff => Func::Always,
                0x0f => Func::IfNotAlu,
                0xf0 => Func::IfAlu,
                0x33 => Func::IfNotPred,
                0xcc => Func::IfPred,
                0x55 => Func::IfNotBool,
                0xaa => Func::IfBool,
                _ => Func::Other,
            };
            let boolean = if f.boolean {
                Boolean::One
            } else {
                Boolean::Zero
            };
            hits.hit(self.conditions, (predicate, inverted, func, boolean));
        }
        let ignore = if f.inst.ignore_uncovered {
            Ignore::Yes
        } else {
            Ignore::No
        };
        let covered = match pins.cov & self.all {
            cov if cov == self.all => Covered::All,
            0 => Covered::None,
            _ => Covered::Some,
        };
        let effect = if f.decide(self.all).0 == jump {
            Effect::Same
        } else {
            Effect::Other
        };
        hits.hit(self.coverage, (f.family(), ignore, covered, effect));
    }

    /// The rows of the lane table that lanes took, and what a DECR did.
    fn lanes(&self, f: &Flow, before: &State, jump: bool, hits: &mut Hits) {
        let (op, decision) = (f.op, Decision::from(jump));
        let mut row = |row: Row, lanes: u64| {
            hits.hit_if(lanes != 0, self.rows, (op, row, decision));
        };
        let counted = before.bc.iter().fold(0, |a, plane| a | plane);
        let waiting = before.lc[0] | before.lc[1];
        let [_, was_branch, was_cont, _] = f.before;
        if f.inst.b_else {
            row(Row::ElseOff, f.else_off);
            row(Row::ElseOn, was_branch & !counted);
            row(Row::ElseDeep, was_branch & counted);
        }
        if ends(op) {
            row(Row::EndWakes, f.returned);
            row(Row::EndSleeps, was_cont & waiting);
        }
        let off = self.disagree(f, jump);
        row(Row::Agrees, f.active & !off);
        let b_op = f.b_op(jump);
        let becomes = match op {
            _ if breaks(op) && !jump => Row::ToBrk,
            Op::Continue if !jump => Row::ToCont,
            _ if b_op == BOp::Incr => Row::ToBranch,
            _ => Row::Carried,
        };
        row(becomes, off);
        let pop = f.inst.b_pop_cnt;
        let wakes = if b_op == BOp::Decr {
            f.branch & below(&before.bc, pop)
        } else {
            0
        };
        match b_op {
            BOp::None => row(Row::BranchKept, f.branch),
            BOp::Incr => row(Row::BranchUp, f.branch),
            BOp::Decr => {
                row(Row::BranchWakes, wakes);
                row(Row::BranchDown, f.branch & !wakes);
            }
        }
        let (pushed, popped) = (pushes_frame(op, decision), pops_frame(op, decision));
        let mut waits = |lanes: u64, [up, wakes, down, kept]: [Row; 4]| match (pushed, popped) {
            (true, _) => row(up, lanes),
            (_, true) => {
                row(wakes, lanes & !waiting);
                row(down, lanes & waiting);
            }
            _ => row(kept, lanes),
        };
        waits(
            f.cont,
            [
                Row::ContPushed,
                Row::ContWakes,
                Row::ContDown,
                Row::ContKept,
            ],
        );
        waits(
            f.brk,
            [Row::BrkPushed, Row::BrkWakes, Row::BrkDown, Row::BrkKept],
        );

        if b_op == BOp::Decr {
            let count = match pop {
                0 => PopCount::Zero,
                1 => PopCount::One,
                2 => PopCount::Two,
                31 => PopCount::Most,
                _ => PopCount::More,
            };
            let woken = match (f.branch, wakes) {
                (0, _) => Woken::NoLane,
                (_, 0) => Woken::None,
                (branch, wakes) if branch == wakes => Woken::All,
                _ => Woken::Some,
            };
            hits.hit(self.pops, (count, woken, decision));
        }
    }

    /// ACTIVE lanes that disagree with the decision; under a count override no lane does.
    fn disagree(&self, f: &Flow, jump: bool) -> u64 {
        match (f.forced, jump) {
            (Some(_), _) => 0,
            (None, true) => f.active & !f.want,
            (None, false) => f.active & f.want,
        }
    }

    fn corner_cases(
        &self,
        f: &Flow,
        pins: &In,
        (before, after): (&State, &State),
        (jump, why): (bool, Why),
        hits: &mut Hits,
    ) {
        let mut corner = |is: bool, corner: Corner| hits.hit_if(is, self.corners, (corner,));
        let op = f.op;
        let waiting = before.lc[0] | before.lc[1];
        let held = matches!(why, Why::HeldByBranch | Why::HeldByCont | Why::HeldByBoth);
        let (branch, cont) = f.holders(f.consulted);
        let popped = pops_frame(op, Decision::from(jump));
        let pushed = after.addr_depth > before.addr_depth;
        let entered = after.loop_depth > before.loop_depth;
        let off = self.disagree(f, jump);
        let only_else = held && cont == 0 && branch & !f.else_off == 0;
        let waits = f.cont | f.brk;
        corner(
            breaks(op) && jump && f.cont & !waiting != 0,
            Corner::UncoveredContPopped,
        );
        corner(
            why == Why::HeldByCont && cont & !waiting == 0,
            Corner::HeldByOuterCont,
        );
        corner(
            breaks(op) && jump && f.active == 0,
            Corner::BreakWithoutActive,
        );
        corner(
            op == Op::Continue && jump && f.active == 0,
            Corner::ContinueWithoutActive,
        );
        corner(breaks(op) && only_else, Corner::ElseBreak);
        corner(op == Op::Continue && only_else, Corner::ElseContinue);
        corner(
            f.else_off != 0 && f.b_op(jump) == BOp::Incr,
            Corner::ElseIncr,
        );
        let voters = f.voters(f.consulted);
        let others_want = voters & f.want & !f.else_off != 0;
        corner(
            f.forced.is_none()
                && jump
                && f.inst.jump_any
                && f.else_off & voters != 0
                && !others_want,
            Corner::ElseAny,
        );
        let left = off & !after.active & !f.consulted;
        corner(left & !pins.cov != 0, Corner::UncoveredLeft);
        corner(
            f.forced.is_some() && f.b_op(jump) == BOp::Incr,
            Corner::CountIncr,
        );
        corner(begins(op) && jump && f.kr > 0, Corner::LoopSkipped);
        corner(pushed && before.pc == 511, Corner::PushTop);
        corner(
            begins(op) && jump && why == Why::NoVoter,
            Corner::LoopNoVoter,
        );
        corner(ends(op) && f.else_off != 0, Corner::ElseEnd);
        corner(
            ends(op) && f.forced.is_none() && f.vote(voters & !f.returned) != jump,
            Corner::EndDecides,
        );
        corner(
            pushed && after.addr_depth == 4 && before.loop_depth == 4,
            Corner::CallFull,
        );
        corner(pushed && before.loop_depth > 0, Corner::CallInLoop);
        let returned = after.addr_depth < before.addr_depth;
        corner(returned && before.loop_depth > 0, Corner::ReturnInLoop);
        corner(before.lc[0] & before.lc[1] & waits != 0, Corner::DeepLc);
        corner(
            entered && op == Op::Rep && before.al != 0,
            Corner::RepInherits,
        );
        corner(
            entered && op == Op::Loop && before.loop_depth > 0 && f.kg != before.al,
            Corner::LoopHides,
        );
        corner(
            popped && waits & waiting != 0 && waits & !waiting != 0,
            Corner::PopAll,
        );
    }
}
