//! The axes that the bins of the unit cross.

use crate::spa5::golden::Error;
use crate::spa5::isa::{BlockOp, LeaveOp, SetUpOp};
use crate::spa5::state::{ERROR_NAMES, TOKEN_NAMES};
use reconverge_campaign::cover::{axis, numbered, part};

axis! {
    /// An instruction.
    InstKind "instruction" {
        Ssy "SSY",
        Pbk "PBK",
        Pcnt "PCNT",
        Pret "PRET",
        Cal "CAL",
        Jcal "JCAL",
        Bra "BRA",
        Jmp "JMP",
        Brx "BRX",
        Jmx "JMX",
        Sync "SYNC",
        Brk "BRK",
        Cont "CONT",
        Ret "RET",
        Exit "EXIT",
        Kil "KIL",
        Other "OTHER",
        Bank "unsupported constant-bank form",
        Unsupported "unsupported opcode",
        Illegal "illegal opcode",
    }
}

part! {
    /// Instructions that push a token.
    Pusher "instruction" of InstKind 0 10
}
part! {
    /// Instructions with a predicate and a CC test.
    Conditional "instruction" of InstKind 6 10
}
part! {
    /// BRA and JMP.
    Brancher "instruction" of InstKind 6 2
}
part! {
    /// BRX and JMX.
    Register "instruction" of InstKind 8 2
}
part! {
    /// Leaving instructions.
    Leaver "instruction" of InstKind 10 6
}
part! {
    /// Instructions that the unit executes.
    Legal "instruction" of InstKind 0 17
}

axis! {
    /// The instruction that failed.
    Failed "instruction" {
        Ssy "SSY",
        Pbk "PBK",
        Pcnt "PCNT",
        Pret "PRET",
        Cal "CAL",
        Jcal "JCAL",
        Bra "BRA",
        Jmp "JMP",
        Brx "BRX",
        Jmx "JMX",
        Sync "SYNC",
        Brk "BRK",
        Cont "CONT",
        Ret "RET",
        Exit "EXIT",
        Kil "KIL",
        Bank "unsupported constant-bank form",
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
    Test "CC test" 32 |n| TESTS.get(n).map_or(format!("{n:02x} of the clip state"), |name| (*name).to_owned())
}

numbered! {
    /// CC test of the table in spa5-2.4.
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
    /// The token on top of the stack.
    Top "on top" 6 |n| if n == 0 { "nothing".to_owned() } else { TOKEN_NAMES[n].to_owned() }
}

numbered! {
    /// Type of a popped token; 0: the stack is empty.
    Popped "pops" 6 |n| if n == 0 { "nothing: stack empty".to_owned() } else { TOKEN_NAMES[n].to_owned() }
}

numbered! {
    /// Threads that are not active, by the token that they wait for.
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
    /// A launch on the pins.
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
    /// Operand of a launch: the place of the program (spa5-3-p).
    Base "program" {
        Zero "at 0",
        Low "elsewhere below 2^31",
        High "from 2^31 on",
        Last "ends at 2^32",
    }
}

numbered! {
    /// A bit of an address.
    Bit "address bit" 29 |n| format!("{}", n + 3)
}

axis! {
    /// The value of a bit of an address.
    Is "is" {
        Clear "0",
        Set "1",
    }
}

axis! {
    /// The way to this PC.
    Came "reached by" {
        Launch "launch",
        Next "next in order",
        Jump "jump",
        Token "token",
    }
}

axis! {
    /// The place of PC.
    Position "PC" {
        Slot0 "slot 0",
        Slot1 "slot 1",
        Slot2 "slot 2",
        Behind "outside the program",
    }
}

axis! {
    /// The outcome of the step.
    Fetched "outcome" {
        Executed "executed",
        Refused "instruction in error",
        Outside "error 6",
    }
}

axis! {
    /// Two errors at once: the reported one, and the other that holds too.
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
    /// The outcome of a push.
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
    /// The outcome of a BRA or JMP.
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
    /// The place of a target.
    Where "target" {
        Back "backward",
        Itself "itself",
        Next "next in order",
        Forward "forward",
        Below "below the program",
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
    /// The word that a target names.
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
    /// The result of a cycle of an unwind.
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
    /// Number of cycles of an unwind.
    Turns "cycles" {
        One "1",
        Two "2",
        Few "3 or 4",
        Many "5 and more",
    }
}

axis! {
    /// The end of an unwind.
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
        JcalNoinc "JCAL.NOINC",
        JmpLmt "JMP.LMT",
        Constant "bits 31:24 of a constant",
    }
}

axis! {
    /// The outcome of a BRX or JMX (spa5-A).
    Indirect "outcome" {
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
    /// Corner cases that no other group singles out.
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
        UntakenTarget "spa5-6-b: no thread takes a BRA or JMP with a target in error: no error",
        Behind "spa5-2.1-d: the last slot of the program, a token for what is behind it",
        EndOfSpace "spa5-2.1-d: the last slot of 32 bits, the next is outside",
        StillKilled "spa5-3-q: KIL adds threads to those that were killed",
        Exits "spa5-3-q: EXIT where other threads were killed",
        Wraps "spa5-A-f: the sum of a JMX wraps and is in the program",
    }
}

/// Names of the tests of spa5-2.4.
const TESTS: [&str; 24] = [
    "F", "LT", "EQ", "LE", "GT", "NE", "GE", "NUM", "NAN", "LTU", "EQU", "LEU", "GTU", "NEU",
    "GEU", "T", "OFF", "LO", "SFF", "LS", "HI", "SFT", "HS", "OFT",
];

impl Code {
    pub(super) fn is(self, code: Error) -> bool {
        self.0 + 1 == code as u8
    }
}
