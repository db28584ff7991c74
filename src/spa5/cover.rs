//! The bins of the unit: what of the rules in `docs/spec/spa5.md` a campaign has to meet, all in one place.

use super::Spa5;
use super::golden::{Error, Event, Golden};
use super::isa::{BlockOp, LeaveOp, SetUpOp, norm, seq};
use super::state::{ERROR_NAMES, In, State, TOKEN_NAMES};
use crate::cover::{
    Coverage, Cross, Declaration, Hits, Level, Pace, Previous, Values, When, axis, numbered, part,
    present,
};
use crate::unit::Build;

// ---- axes --------------------------------------------------------------------------------------------

axis! {
    /// An instruction.
    Kind "instruction" {
        Ssy "SSY",
        Pbk "PBK",
        Pcnt "PCNT",
        Pret "PRET",
        Cal "CAL",
        Bra "BRA",
        Brx "BRX",
        Sync "SYNC",
        Brk "BRK",
        Cont "CONT",
        Ret "RET",
        Exit "EXIT",
        Other "OTHER",
        Bank "constant-bank form",
        Unsupported "unsupported opcode",
        Illegal "illegal opcode",
    }
}

part! {
    /// Instructions that push a token.
    Pusher "instruction" of Kind 0 7
}
part! {
    /// Instructions with a predicate and a CC test.
    Conditional "instruction" of Kind 5 7
}
part! {
    /// Leaving instructions.
    Leaver "instruction" of Kind 7 5
}
part! {
    /// Instructions that the unit executes.
    Legal "instruction" of Kind 0 13
}

axis! {
    /// Who failed.
    Failed "instruction" {
        Ssy "SSY",
        Pbk "PBK",
        Pcnt "PCNT",
        Pret "PRET",
        Cal "CAL",
        Bra "BRA",
        Brx "BRX",
        Sync "SYNC",
        Brk "BRK",
        Cont "CONT",
        Ret "RET",
        Exit "EXIT",
        Bank "constant-bank form",
        Unsupported "unsupported opcode",
        Illegal "illegal opcode",
        Fetch "the fetch",
    }
}

numbered! {
    /// Error code.
    Code "error" 10 |n| format!("{} {}", n + 1, ERROR_NAMES[n + 1])
}

numbered! {
    /// Bits 63:52: E20..E3F, then SYNC and OTHER.
    Opcode "opcode" 34 |n| {
        let bits = 0xE20 + n as u16;
        let name = SetUpOp::from_bits(bits).map(SetUpOp::name)
            .or(LeaveOp::from_bits(bits).map(LeaveOp::name))
            .or(BlockOp::from_bits(bits).map(BlockOp::name));
        match (n, name) {
            (32, _) => "SYNC".to_owned(),
            (33, _) => "OTHER".to_owned(),
            (4, _) => "E24 BRA".to_owned(),
            (5, _) => "E25 BRX".to_owned(),
            (_, Some(name)) => format!("{bits:X} {name}"),
            _ => format!("{bits:X} illegal"),
        }
    }
}

numbered! {
    /// CC test.
    Test "CC test" 32 |n| TESTS.get(n).map_or(format!("{n:02x} unsupported"), |name| (*name).to_owned())
}

numbered! {
    /// CC test of spa5-2.4's table.
    Formula "CC test" 24 |n| TESTS[n].to_owned()
}

numbered! {
    /// Condition code of a thread.
    Cc "O C S Z" 16 |n| format!("{n:04b}")
}

numbered! {
    /// Predicate register.
    Pred "predicate" 8 |n| if n == 7 { "PT".to_owned() } else { format!("P{n}") }
}

numbered! {
    /// `vis`: RET, CONT, BRK, SYNC.
    Vis "vis" 16 |n| format!("{n:04b}")
}

numbered! {
    /// What is on top of the stack.
    Top "on top" 6 |n| if n == 0 { "nothing".to_owned() } else { TOKEN_NAMES[n].to_owned() }
}

numbered! {
    /// Type of a popped token; 0: the stack is empty.
    Popped "pops" 6 |n| if n == 0 { "nothing: stack empty".to_owned() } else { TOKEN_NAMES[n].to_owned() }
}

numbered! {
    /// Threads that are not active, by what they wait for.
    Waiting "waiting" 32 |n| {
        let names = ["BRK", "CONT", "RET", "exited", "SSY or DIV"].iter().enumerate();
        let present: Vec<&str> = names.filter(|(bit, _)| n >> bit & 1 == 1).map(|(_, name)| *name).collect();
        if present.is_empty() { "no thread".to_owned() } else { present.join(" + ") }
    }
}

axis! {
    /// What the unit is doing.
    Status "status" {
        Run "RUN",
        Done "DONE",
        Err "ERR",
        Unwind "UNWIND",
    }
}

axis! {
    /// Launch asked for.
    Launch "launch" {
        No "no",
        Yes "yes",
    }
}

axis! {
    /// What the unit did before a launch.
    Rest "before it" {
        Done "DONE",
        Err "ERR",
    }
}

axis! {
    /// Operand of a launch: threads.
    Mask "launch mask" {
        None "none",
        One "one",
        Some "some",
        All "all",
    }
}

axis! {
    /// Operand of a launch: entry.
    Entry "entry" {
        Control "a control word",
        Slot "a slot",
        Behind "behind the program",
    }
}

axis! {
    /// How PC got there.
    Came "reached by" {
        Launch "launch",
        Next "next in order",
        Jump "jump",
        Token "token",
    }
}

axis! {
    /// Where PC stands.
    Place "PC" {
        Slot0 "slot 0",
        Slot1 "slot 1",
        Slot2 "slot 2",
        Behind "behind the program",
    }
}

axis! {
    /// How the step ended.
    Fetched "outcome" {
        Executed "executed",
        Refused "instruction in error",
        Outside "error 6",
    }
}

axis! {
    /// Two errors at once: reported, and also holding.
    Two "errors" {
        TestMisaligned "10 over 8: CC test, target",
        TestRange "10 over 7: CC test, target",
        TestToken "10 over 1 to 4: CC test, no token",
        MisalignedRange "8 over 7",
        MisalignedFull "8 over 5",
        RangeFull "7 over 5",
    }
}

axis! {
    /// How a push ended.
    Pushed "outcome" {
        Done "pushed",
        Full "error 5",
        Range "error 7",
        Misaligned "error 8",
    }
}

axis! {
    /// `.U`.
    Unanimous ".U" {
        No "no",
        Yes "yes",
    }
}

axis! {
    /// Active threads for which the condition is true.
    Taken "taken" {
        None "none",
        Some "some",
        All "all",
    }
}

axis! {
    /// How a BRA ended.
    Branched "outcome" {
        Through "goes on",
        Jumps "jumps",
        Divides "divides",
        Full "error 5",
        Range "error 7",
        Misaligned "error 8",
    }
}

axis! {
    /// Where a target lies.
    Where "target" {
        Back "backward",
        Itself "itself",
        Next "next in order",
        Forward "forward",
        Below "below 0",
        Behind "behind the program",
        Misaligned "misaligned",
    }
}

axis! {
    /// Slot of the instruction.
    Slot "slot" {
        Zero "0",
        One "1",
        Two "2",
    }
}

axis! {
    /// What a target names.
    Names "target" {
        Slot "an instruction",
        Control "a control word",
    }
}

axis! {
    /// Inverted predicate.
    Inverted "inverted" {
        No "no",
        Yes "yes",
    }
}

axis! {
    /// What a cycle of an unwind comes to.
    Result "result" {
        Over "no thread resumes, goes on",
        Resumes "threads resume",
        Done "DONE",
    }
}

axis! {
    /// Why a thread of a popped token does not resume.
    Kept "kept out" {
        Brk "waits for a PBK token",
        Cont "waits for a PCNT token",
        Ret "waits for a RET token",
        Exited "exited",
    }
}

axis! {
    /// Whether other threads resume.
    Others "others" {
        NoThread "no thread resumes",
        Some "others resume",
    }
}

axis! {
    /// Cycles of an unwind.
    Turns "clocks" {
        One "1",
        Two "2",
        Few "3 or 4",
        Many "5 and more",
    }
}

axis! {
    /// How it ends.
    End "ends in" {
        Run "RUN",
        Done "DONE",
    }
}

axis! {
    /// Active threads.
    Active "active" {
        One "one",
        Some "some",
        All "all",
    }
}

axis! {
    /// Bits that the unit ignores (spa5-2.3).
    Ignored "bits" {
        Noinc "CAL.NOINC",
        PretNoinc "PRET.NOINC",
        Lmt "BRA.LMT",
        KeepRefCount "EXIT.KEEPREFCOUNT",
        SetUp "predicate and CC test of a set-up instruction",
    }
}

axis! {
    /// How a BRX ended (spa5-A).
    Indirect "BRX" {
        NoThread "no thread takes it",
        Condition "divides by its condition, PC stays",
        Together "all jump together",
        Register "divides by its register",
        ConditionFull "error 5, dividing by its condition",
        RegisterFull "error 5, dividing by its register",
        Range "error 7",
        Misaligned "error 8",
    }
}

axis! {
    /// Corners that no other group singles out.
    Corner "corner" {
        SelfPcnt "spa5-7.2: PCNT with itself as target",
        LastExit "spa5-I11: the last thread exits under tokens",
        AllExit "spa5-I8: the last thread exits with an empty stack",
        MoreBrk "spa5-4.4-g: PBK resumes its threads, others go on waiting for an outer one",
        MoreCont "spa5-4.4-h: PCNT resumes its threads, others go on waiting for an outer one",
        MoreRet "spa5-4.4-i: RET resumes its threads, others go on waiting for an outer one",
        VisRestored "spa5-4.4-b: a pop restores another vis",
        Recursion "spa5-4.3-b: CAL to an address that a RET token leads behind",
        SyncWaits "spa5-4.4-f: a thread that executed SYNC resumes",
        Separated "spa5-I4: every thread but one in a DIV token",
        FullUnwinds "spa5-3-l: the stack is popped from full",
        UntakenLeave "spa5-6-b: no thread takes a leaving instruction that has no token: no error",
        UntakenTarget "spa5-6-b: no thread takes a BRA with a target in error: no error",
        Behind "spa5-2.1-d: the last slot of the program, a token for what is behind it",
    }
}

/// Names of the tests of spa5-2.4.
const TESTS: [&str; 24] = [
    "F", "LT", "EQ", "LE", "GT", "NE", "GE", "NUM", "NAN", "LTU", "EQU", "LEU", "GTU", "NEU",
    "GEU", "T", "OFF", "LO", "SFF", "LS", "HI", "SFT", "HS", "OFT",
];

// ---- the declaration ---------------------------------------------------------------------------------

/// The groups of the unit.
#[derive(Debug)]
pub struct Bins {
    lanes: u32,
    all: u64,
    depth: usize,
    brx: bool,
    clocks: Cross<(Status, Pace, Launch)>,
    launches: Cross<(Rest, Mask, Entry)>,
    fetches: Cross<(Came, Place, Fetched)>,
    neighbours: Cross<(Previous<Kind>, Kind)>,
    opcodes: Cross<(Opcode,)>,
    banks: Cross<(Pusher,)>,
    ignored: Cross<(Ignored,)>,
    errors: Cross<(Failed, Code)>,
    priority: Cross<(Two,)>,
    predicates: Cross<(Conditional, Pred, Inverted)>,
    tests: Cross<(Conditional, Test)>,
    codes: Cross<(Formula, Cc)>,
    active: Cross<(Legal, Active)>,
    waiting: Cross<(Legal, Waiting)>,
    pushes: Cross<(Pusher, Level, Pushed)>,
    visible: Cross<(Pusher, Vis)>,
    tokens: Cross<(Pusher, Top)>,
    branches: Cross<(Unanimous, Taken, Branched)>,
    indirect: Cross<(Indirect,)>,
    targets: Cross<(Pusher, Where, Slot)>,
    names: Cross<(Pusher, Names)>,
    leaves: Cross<(Leaver, Taken, Vis)>,
    unwinds: Cross<(Leaver, Popped, Result)>,
    kept: Cross<(Popped, Kept, Others)>,
    turns: Cross<(Leaver, Turns, End)>,
    corners: Cross<(Corner,)>,
}

impl Code {
    fn is(self, code: Error) -> bool {
        self.0 + 1 == code as u8
    }
}

/// Types of tokens.
const EMPTY: u8 = 0;
const SSY: u8 = 1;
const PBK: u8 = 2;
const PCNT: u8 = 3;
const RET: u8 = 4;
const DIV: u8 = 5;

impl Coverage<Spa5> for Bins {
    type Memory = Memory;

    #[rustfmt::skip]
    fn declare(d: &mut Declaration, build: &Build) -> Self {
        use When::{Clock, Sometimes, Step as EachStep};
        let depth = build.value::<Spa5>("DEPTH") as usize;
        let brx = build.value::<Spa5>("BRX") != 0;
        let bins = Bins {
            lanes: build.lanes,
            all: u64::MAX >> (64 - build.lanes),
            depth,
            brx,
            clocks: d.cross(Clock, "clocks", "each cycle: what the unit was doing, and what bench and host asked of it"),
            launches: d.cross(Sometimes, "launches", "each launch: what went before, and its operands"),
            fetches: d.cross(EachStep, "fetches", "each step: how PC got there, where it stands, how the step ended"),
            neighbours: d.cross(Sometimes, "neighbours", "each step with an instruction: the instruction before it, and itself"),
            opcodes: d.cross(Sometimes, "opcodes", "each instruction that executed, and each that is illegal or unsupported by its opcode"),
            banks: d.cross(Sometimes, "constant banks", "each instruction in its constant-bank form, which is error 10"),
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
            branches: d.cross(Sometimes, "branches", "each BRA: the threads for which its condition was true, and how it ended"),
            indirect: d.cross(Sometimes, "indirect branches", "each BRX of a unit built with it: how it ended"),
            targets: d.cross(Sometimes, "targets", "each target that was looked at: where it lies, and the slot of the instruction"),
            names: d.cross(Sometimes, "targets, control words", "each target in the program: whether it is the address of a control word"),
            leaves: d.cross(Sometimes, "leaves", "each leaving instruction, refused ones too: the threads for which its condition was true, and vis"),
            unwinds: d.cross(Sometimes, "unwinds", "each cycle of an unwind: the instruction that began it, the token it popped, whether threads resume"),
            kept: d.cross(Sometimes, "kept out", "each popped token: why threads of its mask do not resume"),
            turns: d.cross(Sometimes, "unwinds, length", "each unwind: its cycles, and its end"),
            corners: d.cross(Sometimes, "corners", "corners of spec and README that no other group singles out"),
        };

        if !brx {
            const OFF: &str = "BRX=0: word E25 is an unsupported opcode";
            d.unreachable(bins.neighbours, OFF, |(before, kind)| kind == Kind::Brx || before.0 == Some(Kind::Brx));
            d.unreachable(bins.banks, OFF, |(kind,)| kind.0 == Kind::Brx);
            d.unreachable(bins.errors, OFF, |(kind, _)| kind == Failed::Brx);
            d.unreachable(bins.predicates, OFF, |(kind, ..)| kind.0 == Kind::Brx);
            d.unreachable(bins.tests, OFF, |(kind, _)| kind.0 == Kind::Brx);
            d.unreachable(bins.active, OFF, |(kind, _)| kind.0 == Kind::Brx);
            d.unreachable(bins.waiting, OFF, |(kind, _)| kind.0 == Kind::Brx);
            d.unreachable(bins.pushes, OFF, |(kind, ..)| kind.0 == Kind::Brx);
            d.unreachable(bins.visible, OFF, |(kind, _)| kind.0 == Kind::Brx);
            d.unreachable(bins.tokens, OFF, |(kind, _)| kind.0 == Kind::Brx);
            d.unreachable(bins.indirect, OFF, |_| true);
            d.unreachable(bins.targets, OFF, |(kind, ..)| kind.0 == Kind::Brx);
            d.unreachable(bins.names, OFF, |(kind, _)| kind.0 == Kind::Brx);
        } else {
            d.unreachable(bins.pushes, "spa5-A-c, spa5-A-d: a BRX that divides by its condition looks at no target, and one that divides by its register has looked at it",
                |(kind, _, pushed)| kind.0 == Kind::Brx && matches!(pushed, Pushed::Range | Pushed::Misaligned));
        }

        d.unreachable(bins.fetches, "spa5-E6: error 6 is a PC behind the program, and always then",
            |(_, place, fetched)| (place == Place::Behind) != (fetched == Fetched::Outside));
        d.unreachable(bins.fetches, "spa5-4.2-a: every target that is jumped to lies in the program",
            |(came, place, _)| came == Came::Jump && place == Place::Behind);
        d.unreachable(bins.neighbours, "spa5-6-a: these forms are errors, which stop the unit, so that nothing is behind them",
            |(before, _)| matches!(before.0, Some(Kind::Bank | Kind::Unsupported | Kind::Illegal)));

        d.unreachable(bins.errors, "spa5-E6: error 6 comes before there is an instruction, and a fetch has no other",
            |(failed, code)| (failed == Failed::Fetch) != code.is(Error::PcRange));
        d.unreachable(bins.errors, "spa5-E1 to spa5-E4: errors 1 to 4 are of SYNC, BRK, CONT and RET, each its own",
            |(failed, code)| {
                let owner = [Failed::Sync, Failed::Brk, Failed::Cont, Failed::Ret].get(code.index());
                owner.is_some_and(|owner| *owner != failed)
            });
        d.unreachable(bins.errors, "spa5-E5, spa5-E7, spa5-E8: errors 5, 7 and 8 are of what has a target and pushes",
            |(failed, code)| {
                let target = failed.index() < 7;
                !target && [Error::StackOverflow, Error::TargetRange, Error::TargetMisaligned].iter().any(|e| code.is(*e))
            });
        d.unreachable(bins.errors, "spa5-E9: error 9 is an opcode E3B to E3F, which has no other",
            |(failed, code)| (failed == Failed::Illegal) != code.is(Error::Illegal));
        d.unreachable(bins.errors, "spa5-2.3-m: SSY, PBK, PCNT, PRET and CAL have no CC test; other unsupported words are told apart here",
            |(failed, code)| failed.index() < 5 && code.is(Error::Unsupported));

        d.unreachable(bins.pushes, "spa5-E5: error 5 is a push on a full stack, and always then",
            |(_, level, pushed)| (level == Level::Full && pushed == Pushed::Done) || (level != Level::Full && pushed == Pushed::Full));
        if !Level::One.exists(depth) || !Level::Middle.exists(depth) || !Level::AlmostFull.exists(depth) {
            d.unreachable(bins.pushes, "DEPTH is so small that there is no such level", |(_, level, _)| !level.exists(depth));
        }
        d.unreachable(bins.branches, "spa5-4.3-c to spa5-4.3-f: without a thread BRA goes on, with all it jumps, with some it divides; BRA.U of some goes on",
            |(unanimous, taken, branched)| {
                let taken = if unanimous == Unanimous::Yes && taken == Taken::Some { Taken::None } else { taken };
                match branched {
                    Branched::Through => taken != Taken::None,
                    Branched::Jumps => taken != Taken::All,
                    Branched::Divides | Branched::Full => taken != Taken::Some,
                    Branched::Range | Branched::Misaligned => taken == Taken::None,
                }
            });
        if build.lanes == 1 {
            d.unreachable(bins.branches, "one thread is all or none", |(_, taken, _)| taken == Taken::Some);
        }

        d.unreachable(bins.unwinds, "spa5-4.4-a: the stack is empty only when the unwind ends in DONE",
            |(_, popped, result)| (popped == Popped(EMPTY)) != (result == Result::Done));
        d.unreachable(bins.unwinds, "spa5-I11: DONE only with every thread exited, so that the last one left by EXIT",
            |(leaver, _, result)| result == Result::Done && leaver.0 != Kind::Exit);
        d.unreachable(bins.unwinds, "spa5-I4: the threads of a DIV token have not left, and resume",
            |(_, popped, result)| popped == Popped(DIV) && result == Result::Over);
        d.unreachable(bins.unwinds, "spa5-4.4-k: SYNC needs an SSY token below DIV tokens only",
            |(leaver, popped, _)| leaver.0 == Kind::Sync && matches!(popped, Popped(PBK | PCNT | RET)));
        d.unreachable(bins.unwinds, "spa5-4.4-j: the token that a thread left for resumes it",
            |(leaver, popped, result)| result == Result::Over && matches!((leaver.0, popped),
                (Kind::Sync, Popped(SSY)) | (Kind::Brk, Popped(PBK)) | (Kind::Cont, Popped(PCNT)) | (Kind::Ret, Popped(RET))));
        d.unreachable(bins.unwinds, "spa5-4.4-k: BRK and CONT have their token above the nearest RET token, and stop there",
            |(leaver, popped, _)| matches!(leaver.0, Kind::Brk | Kind::Cont) && popped == Popped(RET));

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
            |(leaver, turns, _)| leaver.0 == Kind::Sync && turns != Turns::One);
        d.unreachable(bins.turns, "spa5-I11: DONE only with every thread exited, so that the last one left by EXIT",
            |(leaver, _, end)| end == End::Done && leaver.0 != Kind::Exit);
        bins
    }

    fn sample(&self, m: &mut Memory, before: &State, pins: &In, after: &Golden, hits: &mut Hits) {
        let status = Status::at(before.status.into());
        let pace = Pace::of(pins.rst_n, pins.stall, pins.inst_valid);
        let launch = if pins.launch == 1 {
            Launch::Yes
        } else {
            Launch::No
        };
        hits.hit(self.clocks, (status, pace, launch));
        match after.event() {
            Event::Reset => *m = Memory::default(),
            Event::Launched => self.launch(m, status, pins, hits),
            Event::Stalled | Event::Idle | Event::Waiting => {}
            Event::Executed => {
                self.instruction(m, before, pins, after, None, hits);
                self.completed(m, Fetched::Executed, hits);
                let next = after.state().pc == seq(before.pc);
                m.came = Some(if next { Came::Next } else { Came::Jump });
            }
            Event::Emptied => {
                self.instruction(m, before, pins, after, None, hits);
                m.turns = 0;
            }
            Event::Failed(code) => {
                let behind = code == Error::PcRange;
                if behind {
                    m.step = Some((m.came.unwrap_or(Came::Launch), Place::Behind));
                    hits.hit(self.errors, (Failed::Fetch, Code(code as u8 - 1)));
                } else {
                    self.instruction(m, before, pins, after, Some(code), hits);
                }
                let fetched = if behind {
                    Fetched::Outside
                } else {
                    Fetched::Refused
                };
                self.completed(m, fetched, hits);
            }
            event @ (Event::Popped | Event::Resumed | Event::Finished) => {
                self.turn(m, before, event, after.state(), hits);
                if event != Event::Popped {
                    self.completed(m, Fetched::Executed, hits);
                    m.came = Some(Came::Token);
                }
            }
        }
    }
}

// ---- what is remembered ------------------------------------------------------------------------------

/// What the state does not show: operands of the launch, and the step before.
#[derive(Debug, Default)]
pub struct Memory {
    prog_size: u32,
    came: Option<Came>,
    previous: Option<Kind>,
    /// The step under way.
    step: Option<(Came, Place)>,
    leaver: Option<Leaver>,
    /// Clocks of its unwind.
    turns: u32,
}

// ---- a step ------------------------------------------------------------------------------------------

impl Kind {
    /// What `word` is (spa5-2.3); `brx`: the option of spa5-A is on.
    fn of(word: u64, brx: bool) -> Self {
        if word & 0xFFF8_0000_0000_0000 == 0xF0F8_0000_0000_0000 {
            return Kind::Sync;
        }
        if !matches!(word >> 56, 0xE2 | 0xE3) {
            return Kind::Other;
        }
        let op = (word >> 52) as u16;
        let bank = word >> 5 & 1 == 1;
        match (SetUpOp::from_bits(op), LeaveOp::from_bits(op), op) {
            (Some(_), ..) | (.., 0xE24) if bank => Kind::Bank,
            (.., 0xE25) if bank && brx => Kind::Bank,
            (Some(SetUpOp::Ssy), ..) => Kind::Ssy,
            (Some(SetUpOp::Pbk), ..) => Kind::Pbk,
            (Some(SetUpOp::Pcnt), ..) => Kind::Pcnt,
            (Some(SetUpOp::Pret), ..) => Kind::Pret,
            (Some(SetUpOp::Cal), ..) => Kind::Cal,
            (_, Some(LeaveOp::Brk), _) => Kind::Brk,
            (_, Some(LeaveOp::Cont), _) => Kind::Cont,
            (_, Some(LeaveOp::Ret), _) => Kind::Ret,
            (_, Some(LeaveOp::Exit), _) => Kind::Exit,
            (.., 0xE24) => Kind::Bra,
            (.., 0xE25) if brx => Kind::Brx,
            (.., 0xE3B..) => Kind::Illegal,
            _ => Kind::Unsupported,
        }
    }

    /// The bit of vis that a leaving instruction needs; EXIT none.
    fn need(self) -> u8 {
        match self {
            Kind::Sync => 1,
            Kind::Brk => 2,
            Kind::Cont => 4,
            Kind::Ret => 8,
            _ => 0,
        }
    }
}

impl Failed {
    fn of(kind: Kind) -> Self {
        // OTHER stands between, and never fails.
        let index = kind.index();
        Failed::at(if kind > Kind::Other { index - 1 } else { index })
    }
}

/// Threads for which the test numbered `code` is true, by the formulas of spa5-2.4.
fn test(code: u64, [z, s, c, o]: [u64; 4]) -> u64 {
    match code {
        0x00 => 0,
        0x01 => s & !z ^ o,
        0x02 => z & !s,
        0x03 => s ^ (z | o),
        0x04 => !z & !(s ^ o),
        0x05 => !z,
        0x06 => !(s ^ o),
        0x07 => !z | !s,
        0x08 => z & s,
        0x09 => s ^ o,
        0x0a => z,
        0x0b => z | (s ^ o),
        0x0c => !s ^ (z | o),
        0x0d => !z | s,
        0x0e => (!s | z) ^ o,
        0x0f => u64::MAX,
        0x10 => !o,
        0x11 => !c,
        0x12 => !s,
        0x13 => z | !c,
        0x14 => !z & c,
        0x15 => s,
        0x16 => c,
        _ => o,
    }
}

fn taken(of: u64, active: u64) -> Taken {
    match of {
        0 => Taken::None,
        of if of == active => Taken::All,
        _ => Taken::Some,
    }
}

/// An instruction among its threads.
struct Instruction {
    kind: Kind,
    word: u64,
    /// Active threads for which its condition is true, before the rule of .U; all without a condition.
    condition: u64,
    /// The CC test is one that there is.
    tested: bool,
    unanimous: bool,
    /// Where it leads, if it has a target; of BRX that of its lowest thread.
    target: Option<i64>,
}

impl Instruction {
    fn new(word: u64, before: &State, pins: &In, brx: bool) -> Self {
        let kind = Kind::of(word, brx);
        let active = before.active;
        let code = word & 0x1f;
        let (mut condition, mut tested) = (active, true);
        if Conditional::of(kind).is_some() {
            tested = code < 24;
            let number = (word >> 16 & 7) as usize;
            let predicate = pins.p.get(number).copied().unwrap_or(u64::MAX);
            let predicate = if word >> 19 & 1 == 1 {
                !predicate
            } else {
                predicate
            };
            condition = active & predicate & test(code, pins.cc);
        }
        let offset = (word << 20) as i64 >> 40;
        let register = match kind {
            Kind::Brx => pins.r[active.trailing_zeros() as usize % 64],
            _ => 0,
        };
        let target = i64::from(before.pc) + 8 + offset + i64::from(register);
        Instruction {
            kind,
            word,
            condition,
            tested,
            unanimous: kind == Kind::Bra && word >> 7 & 1 == 1,
            target: Pusher::of(kind).map(|_| target),
        }
    }

    fn bit(&self, at: u32) -> bool {
        self.word >> at & 1 == 1
    }
}

impl Bins {
    fn launch(&self, m: &mut Memory, status: Status, pins: &In, hits: &mut Hits) {
        *m = Memory {
            prog_size: pins.prog_size,
            ..Memory::default()
        };
        let rest = if status == Status::Err {
            Rest::Err
        } else {
            Rest::Done
        };
        let mask = match pins.launch_mask & self.all {
            0 => Mask::None,
            mask if mask == self.all => Mask::All,
            mask if mask.is_power_of_two() => Mask::One,
            _ => Mask::Some,
        };
        let entry = match pins.entry {
            entry if norm(entry) >= pins.prog_size => Entry::Behind,
            entry if entry.is_multiple_of(32) => Entry::Control,
            _ => Entry::Slot,
        };
        hits.hit(self.launches, (rest, mask, entry));
    }

    /// A step is complete.
    fn completed(&self, m: &mut Memory, fetched: Fetched, hits: &mut Hits) {
        if let Some((came, place)) = m.step.take() {
            hits.hit(self.fetches, (came, place, fetched));
        }
    }

    /// The cycle in which an instruction executed, or failed.
    fn instruction(
        &self,
        m: &mut Memory,
        before: &State,
        pins: &In,
        after: &Golden,
        error: Option<Error>,
        hits: &mut Hits,
    ) {
        let i = Instruction::new(pins.word, before, pins, self.brx);
        let slot = Slot::at((before.pc / 8 % 4).saturating_sub(1) as usize);
        m.step = Some((m.came.unwrap_or(Came::Launch), Place::at(slot.index())));
        hits.hit(self.neighbours, (Previous(m.previous), i.kind));
        m.previous = Some(i.kind);
        m.leaver = Leaver::of(i.kind);

        let opcode = match i.kind {
            Kind::Sync => 32,
            Kind::Other => 33,
            _ => (i.word >> 52) as u8 & 0x1f,
        };
        let by_opcode = error.is_none() || matches!(i.kind, Kind::Illegal | Kind::Unsupported);
        hits.hit_if(by_opcode, self.opcodes, (Opcode(opcode),));
        if i.kind == Kind::Bank {
            let op = SetUpOp::from_bits((i.word >> 52) as u16);
            let kind = match op {
                Some(SetUpOp::Ssy) => Kind::Ssy,
                Some(SetUpOp::Pbk) => Kind::Pbk,
                Some(SetUpOp::Pcnt) => Kind::Pcnt,
                Some(SetUpOp::Pret) => Kind::Pret,
                Some(SetUpOp::Cal) => Kind::Cal,
                None if opcode == 4 => Kind::Bra,
                None => Kind::Brx,
            };
            hits.hit(self.banks, (Pusher(kind),));
        }
        if let Some(code) = error {
            hits.hit(self.errors, (Failed::of(i.kind), Code(code as u8 - 1)));
        }
        self.conditions(&i, before, pins, hits);
        self.target(m, &i, before, slot, error, hits);
        if let Some(leaver) = Leaver::of(i.kind).filter(|_| i.tested) {
            let left = taken(i.condition, before.active);
            hits.hit(self.leaves, (leaver, left, Vis(before.vis)));
        }
        self.push(&i, before, after, error, hits);
        if error.is_none() {
            debug_assert!(
                i.unanimous || after.taken() == i.condition,
                "{i:x?}",
                i = i.word
            );
            self.executed(&i, before, hits);
        }
        self.corner_cases(m, &i, before, after, error, hits);
    }

    fn conditions(&self, i: &Instruction, before: &State, pins: &In, hits: &mut Hits) {
        let Some(conditional) = Conditional::of(i.kind) else {
            return;
        };
        let code = (i.word & 0x1f) as u8;
        hits.hit(self.tests, (conditional, Test(code)));
        if !i.tested {
            return;
        }
        let inverted = if i.bit(19) {
            Inverted::Yes
        } else {
            Inverted::No
        };
        let predicate = Pred((i.word >> 16 & 7) as u8);
        hits.hit(self.predicates, (conditional, predicate, inverted));
        for cc in 0..16 {
            let threads = pins
                .cc
                .iter()
                .enumerate()
                .fold(before.active, |of, (bit, plane)| {
                    of & if cc >> bit & 1 == 1 { *plane } else { !plane }
                });
            hits.hit_if(threads != 0, self.codes, (Formula(code), Cc(cc)));
        }
    }

    /// Whether the target is looked at: of set-up instructions always, of branches when they jump.
    fn looks(&self, i: &Instruction, before: &State) -> bool {
        match i.kind {
            Kind::Bra if i.unanimous => i.condition == before.active,
            Kind::Bra => i.condition != 0,
            Kind::Brx => i.condition == before.active,
            _ => true,
        }
    }

    fn target(
        &self,
        m: &Memory,
        i: &Instruction,
        before: &State,
        slot: Slot,
        error: Option<Error>,
        hits: &mut Hits,
    ) {
        let (Some(pusher), Some(target)) = (Pusher::of(i.kind), i.target) else {
            return;
        };
        let misaligned = target % 8 != 0;
        let outside = !(0..i64::from(m.prog_size)).contains(&target);
        let full = usize::from(before.sp) == self.depth;
        // Of those that push for certain.
        let pushes = match i.kind {
            Kind::Bra => !i.unanimous && taken(i.condition, before.active) == Taken::Some,
            kind => kind != Kind::Brx,
        };
        let mut two = |first: Error, second: bool, what: Two| {
            hits.hit_if(error == Some(first) && second, self.priority, (what,));
        };
        two(
            Error::Unsupported,
            !i.tested && misaligned,
            Two::TestMisaligned,
        );
        two(
            Error::Unsupported,
            !i.tested && outside && !misaligned,
            Two::TestRange,
        );
        two(Error::TargetMisaligned, outside, Two::MisalignedRange);
        two(Error::TargetMisaligned, pushes && full, Two::MisalignedFull);
        two(Error::TargetRange, pushes && full, Two::RangeFull);
        if !i.tested || !self.looks(i, before) {
            return;
        }
        let place = match target {
            _ if misaligned => Where::Misaligned,
            ..0 => Where::Below,
            _ if outside => Where::Behind,
            to => match norm(to as u32) {
                to if to == before.pc => Where::Itself,
                to if to == seq(before.pc) => Where::Next,
                to if to < before.pc => Where::Back,
                _ => Where::Forward,
            },
        };
        hits.hit(self.targets, (pusher, place, slot));
        if !misaligned && !outside {
            let names = if target % 32 == 0 {
                Names::Control
            } else {
                Names::Slot
            };
            hits.hit(self.names, (pusher, names));
        }
    }

    fn push(
        &self,
        i: &Instruction,
        before: &State,
        after: &Golden,
        error: Option<Error>,
        hits: &mut Hits,
    ) {
        let state = after.state();
        let left = taken(i.condition, before.active);
        let ended = match error {
            None => Pushed::Done,
            Some(Error::StackOverflow) => Pushed::Full,
            Some(Error::TargetRange) => Pushed::Range,
            Some(Error::TargetMisaligned) => Pushed::Misaligned,
            Some(_) => return,
        };
        let pushes = match i.kind {
            Kind::Bra => !i.unanimous && left == Taken::Some,
            Kind::Brx => state.sp > before.sp || ended == Pushed::Full,
            _ => true,
        };
        let level = Level::of(before.sp.into(), self.depth);
        if let Some(pusher) = Pusher::of(i.kind).filter(|_| pushes) {
            hits.hit(self.pushes, (pusher, level, ended));
            if ended == Pushed::Done {
                hits.hit(self.visible, (pusher, Vis(before.vis)));
                hits.hit(self.tokens, (pusher, Top(before.top_type)));
            }
        }
        if i.kind == Kind::Bra {
            let unanimous = if i.unanimous {
                Unanimous::Yes
            } else {
                Unanimous::No
            };
            let ended = match (ended, left) {
                (Pushed::Full, _) => Branched::Full,
                (Pushed::Range, _) => Branched::Range,
                (Pushed::Misaligned, _) => Branched::Misaligned,
                (_, Taken::All) => Branched::Jumps,
                (_, Taken::Some) if !i.unanimous => Branched::Divides,
                _ => Branched::Through,
            };
            hits.hit(self.branches, (unanimous, left, ended));
        }
        if i.kind == Kind::Brx {
            let ended = match (ended, left) {
                (Pushed::Full, Taken::All) => Indirect::RegisterFull,
                (Pushed::Full, _) => Indirect::ConditionFull,
                (Pushed::Range, _) => Indirect::Range,
                (Pushed::Misaligned, _) => Indirect::Misaligned,
                (_, Taken::None) => Indirect::NoThread,
                (_, Taken::Some) => Indirect::Condition,
                _ if state.sp > before.sp => Indirect::Register,
                _ => Indirect::Together,
            };
            hits.hit(self.indirect, (ended,));
        }
    }

    fn executed(&self, i: &Instruction, before: &State, hits: &mut Hits) {
        let Some(legal) = Legal::of(i.kind) else {
            return;
        };
        let active = match before.active {
            active if active == self.all => Active::All,
            active if active.is_power_of_two() => Active::One,
            _ => Active::Some,
        };
        hits.hit(self.active, (legal, active));
        let dis = before.d_brk | before.d_cont | before.d_ret | before.exited;
        let parked = self.all & !dis & !before.active;
        let waiting = present([
            before.d_brk,
            before.d_cont,
            before.d_ret,
            before.exited,
            parked,
        ]);
        hits.hit(self.waiting, (legal, Waiting(waiting)));
        let mut ignored = |is: bool, what: Ignored| hits.hit_if(is, self.ignored, (what,));
        ignored(i.kind == Kind::Cal && !i.bit(6), Ignored::Noinc);
        ignored(i.kind == Kind::Pret && !i.bit(6), Ignored::PretNoinc);
        ignored(i.kind == Kind::Bra && i.bit(6), Ignored::Lmt);
        ignored(i.kind == Kind::Exit && i.bit(5), Ignored::KeepRefCount);
        let set_up = i.kind < Kind::Bra;
        ignored(set_up && i.word & 0xf_001f != 0, Ignored::SetUp);
    }

    /// A cycle of an unwind.
    fn turn(&self, m: &mut Memory, before: &State, event: Event, after: &State, hits: &mut Hits) {
        let Some(leaver) = m.leaver else {
            return;
        };
        m.turns += 1;
        let popped = Popped(before.top_type);
        let (result, others) = match event {
            Event::Popped => (Result::Over, Others::NoThread),
            Event::Resumed => (Result::Resumes, Others::Some),
            _ => (Result::Done, Others::NoThread),
        };
        hits.hit(self.unwinds, (leaver, popped, result));
        if event != Event::Popped {
            let turns = match m.turns {
                0 | 1 => Turns::One,
                2 => Turns::Two,
                3 | 4 => Turns::Few,
                _ => Turns::Many,
            };
            let end = if event == Event::Finished {
                End::Done
            } else {
                End::Run
            };
            hits.hit(self.turns, (leaver, turns, end));
        }
        if popped != Popped(EMPTY) {
            let mask = before.top_mask;
            for (flag, kept) in [
                (after.d_brk, Kept::Brk),
                (after.d_cont, Kept::Cont),
                (after.d_ret, Kept::Ret),
                (after.exited, Kept::Exited),
            ] {
                hits.hit_if(mask & flag != 0, self.kept, (popped, kept, others));
            }
        }
        let mut corner = |is: bool, what: Corner| hits.hit_if(is, self.corners, (what,));
        let resumes = event == Event::Resumed;
        let over = |kind: u8, flag: u64| resumes && popped == Popped(kind) && flag != 0;
        corner(over(PBK, after.d_brk), Corner::MoreBrk);
        corner(over(PCNT, after.d_cont), Corner::MoreCont);
        corner(over(RET, after.d_ret), Corner::MoreRet);
        corner(before.vis != after.vis, Corner::VisRestored);
        corner(resumes && popped == Popped(SSY), Corner::SyncWaits);
        let full = usize::from(before.sp) == self.depth;
        corner(full, Corner::FullUnwinds);
        let first = m.turns == 1;
        let finished = event == Event::Finished;
        corner(finished && first, Corner::AllExit);
        corner(finished && !first, Corner::LastExit);
    }

    fn corner_cases(
        &self,
        m: &Memory,
        i: &Instruction,
        before: &State,
        after: &Golden,
        error: Option<Error>,
        hits: &mut Hits,
    ) {
        let fine = error.is_none();
        let pushed = fine && after.state().sp > before.sp;
        let lands = |address: u32| i.target == Some(address.into());
        let divided = pushed && matches!(i.kind, Kind::Bra | Kind::Brx);
        // Looking at every token costs; there are few pushes on so many.
        let separated = divided
            && u32::from(before.sp) + 1 >= self.lanes - 1
            && after.tokens().iter().filter(|t| t.kind == DIV).count() + 1 == self.lanes as usize;
        let recursion = pushed
            && i.kind == Kind::Cal
            && after
                .tokens()
                .iter()
                .filter(|t| t.kind == RET && t.addr == seq(before.pc))
                .count()
                > 1;
        let left = i.tested && i.condition == 0;
        let outside = i
            .target
            .is_some_and(|t| t % 8 != 0 || !(0..i64::from(m.prog_size)).contains(&t));
        let behind = seq(before.pc) >= m.prog_size;
        let mut corner = |is: bool, what: Corner| hits.hit_if(is, self.corners, (what,));
        corner(
            pushed && i.kind == Kind::Pcnt && lands(before.pc),
            Corner::SelfPcnt,
        );
        corner(recursion, Corner::Recursion);
        corner(separated, Corner::Separated);
        corner(
            left && i.kind.need() & !before.vis != 0,
            Corner::UntakenLeave,
        );
        corner(
            left && i.kind == Kind::Bra && outside,
            Corner::UntakenTarget,
        );
        corner(
            pushed && behind && matches!(i.kind, Kind::Cal | Kind::Bra),
            Corner::Behind,
        );
        let no_token = Leaver::of(i.kind).is_some() && i.kind.need() & !before.vis != 0;
        hits.hit_if(
            error == Some(Error::Unsupported) && !i.tested && no_token,
            self.priority,
            (Two::TestToken,),
        );
    }
}
