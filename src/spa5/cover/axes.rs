//! The axes that the bins of the unit cross.

use crate::axes::error_codes;
use crate::spa5::golden::{Error, Event};
use crate::spa5::isa::{LeaveOp, SetUpOp, Word};
use crate::spa5::state::{ERROR_NAMES, TOKEN_NAMES};
use reconverge_campaign::cover::axis;

axis! {
    /// An instruction, by its opcode: one that sets up, one that leaves, its number, whether it has an offset in a constant bank, and
    /// whether the unit has BRX and JMX. The number is 0 for SYNC and for what is not the unit's.
    InstKind "instruction" of (Option<SetUpOp>, Option<LeaveOp>, u16, bool, bool) {
        (Some(SetUpOp::Ssy), ..) => Ssy "SSY",
        (Some(SetUpOp::Pbk), ..) => Pbk "PBK",
        (Some(SetUpOp::Pcnt), ..) => Pcnt "PCNT",
        (Some(SetUpOp::Pret), ..) => Pret "PRET",
        (Some(SetUpOp::Cal), ..) => Cal "CAL",
        (Some(SetUpOp::Jcal), .., false, _) => Jcal "JCAL",
        (.., 0xE24, _, _) => Bra "BRA",
        (.., 0xE21, false, _) => Jmp "JMP",
        (.., 0xE25, false, true) => Brx "BRX",
        (.., 0xE20, false, true) => Jmx "JMX",
        (_, Some(LeaveOp::Sync), ..) => Sync "SYNC",
        (_, Some(LeaveOp::Brk), ..) => Brk "BRK",
        (_, Some(LeaveOp::Cont), ..) => Cont "CONT",
        (_, Some(LeaveOp::Ret), ..) => Ret "RET",
        (_, Some(LeaveOp::Exit), ..) => Exit "EXIT",
        (_, Some(LeaveOp::Kil), ..) => Kil "KIL",
        (.., 0, _, _) => Other "OTHER",
        (.., 0xE21 | 0xE22, true, _)
        | (.., 0xE20 | 0xE25, true, true) => Bank "unsupported constant-bank form",
        (.., ..0xE3B, _, _) => Unsupported "unsupported opcode",
        (.., 0xE3B.., _, _) => Illegal "illegal opcode",
    }

    /// Instructions that push a token.
    Pusher "instruction" of InstKind [Ssy..=Jmx]

    /// Instructions with a predicate and a CC test.
    Conditional "instruction" of InstKind [Bra..=Kil]

    /// BRA and JMP.
    Brancher "instruction" of InstKind [Bra..=Jmp]

    /// BRX and JMX.
    Register "instruction" of InstKind [Brx..=Jmx]

    /// Leaving instructions.
    Leaver "instruction" of InstKind [Sync..=Kil]

    /// Instructions that the unit executes.
    Legal "instruction" of InstKind [Ssy..=Other]

    /// The instructions that may fail.
    Fails "instruction" of InstKind [Ssy..=Kil, Bank..=Illegal]

    /// Bits 63:52: E20..E3F, then SYNC and OTHER.
    Opcode "opcode" 34 |n| {
        let bits = 0xE20 + n as u16;
        match (n, Word::decode(u64::from(bits) << 52).name()) {
            (32, _) => "SYNC".to_owned(),
            (33, _) => "OTHER".to_owned(),
            // What bit 5 makes JMP of BRA and JMX of BRX is in other axes.
            (_, Some(name)) => format!("{bits:X} {name}"),
            _ => format!("{bits:X} illegal"),
        }
    };

    /// CC test.
    Test "CC test" 32 |n| TESTS.get(n).map_or(format!("{n:02x} of the clip state"), |name| (*name).to_owned());

    /// CC test of the table in spa5-2.4.
    Formula "CC test" 24 |n| TESTS[n].to_owned();

    /// Condition code of a thread.
    Cc "O C S Z" 16 |n| format!("{n:04b}");

    /// Predicate register.
    Pred "predicate" 8 |n| if n == 7 { "PT".to_owned() } else { format!("P{n}") };

    /// `vis`: RET, CONT, BRK, SYNC.
    Vis "vis" 16 |n| format!("{n:04b}");

    /// The token on top of the stack.
    Top "on top" 6 |n| if n == 0 { "nothing".to_owned() } else { TOKEN_NAMES[n].to_owned() };

    /// Type of a popped token; 0: the stack is empty.
    Popped "pops" 6 |n| if n == 0 { "nothing: stack empty".to_owned() } else { TOKEN_NAMES[n].to_owned() };

    /// Threads that are not active, by the token that they wait for.
    Waiting "waiting" 32 |n| {
        let names = ["BRK", "CONT", "RET", "exited", "SSY or DIV"].iter().enumerate();
        let present: Vec<&str> = names.filter(|(bit, _)| n >> bit & 1 == 1).map(|(_, name)| *name).collect();
        if present.is_empty() { "no thread".to_owned() } else { present.join(" + ") }
    };

    /// What the unit is doing.
    Status "status" {
        Run "RUN",
        Done "DONE",
        Err "ERR",
        Unwind "UNWIND",
    }

    /// A launch on the pins.
    Launch "launch" of bool ["no", "yes"]

    /// What the unit did before a launch: whether it had stopped in an error.
    Stopped "before it" of bool ["DONE", "ERR"]

    /// Operand of a launch: threads, of all.
    Mask "launch mask" of (u64, u64) {
        (0, _) => None "none",
        (mask, all) if mask != all && mask.is_power_of_two() => One "one",
        (mask, all) if mask != all => Some "some",
        _ => All "all",
    }

    /// Operand of a launch: entry, and whether it is in the program.
    Entry "entry" of (u32, bool) {
        (entry, true) if entry.is_multiple_of(32) => Control "a control word",
        (_, true) => Slot "a slot",
        (_, false) => Behind "behind the program",
    }

    /// Operand of a launch: the place of the program, its begin and end (spa5-3-p).
    Base "program" of (u32, u32) {
        (0, _) => Zero "at 0",
        (..=0x7fff_ffff, 1..) => Low "elsewhere below 2^31",
        (_, 1..) => High "from 2^31 on",
        (_, 0) => Last "ends at 2^32",
    }

    /// A bit of an address.
    Bit "address bit" 29 |n| format!("{}", n + 3);

    /// The value of a bit of an address.
    Is "is" of bool ["0", "1"]

    /// The way to this PC.
    Came "reached by" {
        Launch "launch",
        Next "next in order",
        Jump "jump",
        Token "token",
    }

    /// The place of PC.
    Position "PC" {
        Slot0 "slot 0",
        Slot1 "slot 1",
        Slot2 "slot 2",
        Behind "outside the program",
    }

    /// The outcome of the step: its error.
    Fetched "outcome" of Option<Error> {
        None => Executed "executed",
        Some(code) if code != Error::PcRange => Refused "instruction in error",
        Some(_) => Outside "error 6",
    }

    /// Two errors at once: the reported one, and the other that holds too.
    Two "errors" {
        TestMisaligned "10 over 8: CC test, target",
        TestRange "10 over 7: CC test, target",
        TestToken "10 over 1 to 4: CC test, no token",
        MisalignedRange "8 over 7",
        MisalignedFull "8 over 5",
        RangeFull "7 over 5",
    }

    /// The outcome of a push.
    Pushed "outcome" {
        Done "pushed",
        Full "error 5",
        Range "error 7",
        Misaligned "error 8",
    }

    /// `.U`.
    Unanimous ".U" of bool ["no", "yes"]

    /// Active threads for which the condition is true, of all active ones.
    Taken "taken" of (u64, u64) {
        (0, _) => None "none",
        (taken, active) if taken != active => Some "some",
        _ => All "all",
    }

    /// The outcome of a BRA or JMP: the end of a push, the threads that take it, and `.U`.
    Branched "outcome" of (Pushed, Taken, bool) {
        (Pushed::Done, Taken::None, _) | (Pushed::Done, Taken::Some, true) => Through "goes on",
        (Pushed::Done, Taken::All, _) => Jumps "jumps",
        (Pushed::Done, Taken::Some, false) => Divides "divides",
        (Pushed::Full, ..) => Full "error 5",
        (Pushed::Range, ..) => Range "error 7",
        (Pushed::Misaligned, ..) => Misaligned "error 8",
    }

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

    /// Slot of the instruction.
    Slot "slot" {
        Zero "0",
        One "1",
        Two "2",
    }

    /// Whether a target is the address of a control word.
    Names "target" of bool ["an instruction", "a control word"]

    /// Inverted predicate.
    Inverted "inverted" of bool ["no", "yes"]

    /// The result of a cycle of an unwind.
    Result "result" of Event {
        Event::Popped => Over "no thread resumes, goes on",
        Event::Resumed => Resumes "threads resume",
        _ => Done "DONE",
    }

    /// Why a thread of a popped token does not resume.
    Kept "kept out" {
        Brk "waits for a PBK token",
        Cont "waits for a PCNT token",
        Ret "waits for a RET token",
        Exited "exited",
    }

    /// Whether other threads resume.
    Others "others" of bool ["no thread resumes", "others resume"]

    /// Number of cycles of an unwind.
    Turns "cycles" of u32 {
        0 | 1 => One "1",
        2 => Two "2",
        3 | 4 => Few "3 or 4",
        5.. => Many "5 and more",
    }

    /// The end of an unwind.
    End "ends in" of bool ["RUN", "DONE"]

    /// Active threads, and all.
    Active "active" of (u64, u64) {
        (active, all) if active != all && active.is_power_of_two() => One "one",
        (active, all) if active != all => Some "some",
        _ => All "all",
    }

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

    /// The outcome of a BRX or JMX (spa5-A): the end of a push, the threads that take it, and whether one was made.
    Indirect "outcome" of (Pushed, Taken, bool) {
        (Pushed::Done, Taken::None, _) => NoThread "no thread takes it",
        (Pushed::Done, Taken::Some, _) => Condition "divides by its condition, PC stays",
        (Pushed::Done, Taken::All, false) => Together "all jump together",
        (Pushed::Done, Taken::All, true) => Register "divides by its register",
        (Pushed::Full, Taken::None | Taken::Some, _) => ConditionFull "error 5, dividing by its condition",
        (Pushed::Full, Taken::All, _) => RegisterFull "error 5, dividing by its register",
        (Pushed::Range, ..) => Range "error 7",
        (Pushed::Misaligned, ..) => Misaligned "error 8",
    }

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

error_codes!(10);
