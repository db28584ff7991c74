//! Random programs: structured ones, structured ones with one random change, raw words, and a mixture for
//! the scalar judge.
//!
//! Source: spa5-2, spa5-4, spa5-6 and spa5-9 in `docs/spec/spa5.md`.
//!
//! | function | programs | purpose |
//! |---|---|---|
//! | [`structured`] | every construct of spa5-9, nested up to the limits | all three judges: each thread must do what it does alone |
//! | [`near_legal`] | the same with one word, target or size changed, and stacks filled to the limit | corners just outside the rules |
//! | [`raw`] | random words | everything else: every error, every token on every other |
//! | [`unstructured`] | random instructions and targets, but nothing that makes threads depend on each other | each thread must do what it does alone, up to the first error |
//!
//! Structured programs end without an error: statements only nest and leave a thread's tokens as they
//! found them, subroutines call only later subroutines or, with a limit, themselves, and each pass of
//! a loop lets every thread leave with a known probability, whatever share of its condition bits is 1, as
//! long as it is neither none nor all. The others need a limit of cycles or instructions.

use std::collections::BTreeSet;

use rand::Rng;

use super::isa::{LeaveOp, SetUpOp, Target, Word};
use super::program::{BUNDLE, Program};
use reconverge_program::generate::{built, chance, knobs, pick};

mod brim;
mod near_legal;
mod raw;
mod structured;
use structured::build;

pub use near_legal::near_legal;
pub use raw::{raw, unstructured};

/// Tokens of the stack in the default build (spa5-3).
const DEPTH: u32 = 64;
/// Most DIV tokens at once in a warp of 32: one thread less (spa5-3, spa5-I4).
const DIVS: u32 = 31;
/// Tokens that the nesting of a structured program may take. With [`DIVS`] they fill the stack: every active thread
/// has all tokens except DIV (spa5-I3), so their number is the nesting depth of the active
/// threads.
const NESTING: u32 = DEPTH - DIVS;
/// Tokens reserved for a recursion. It goes one token deeper with a probability of at most 1 in 4, or two with
/// 1 in 16, so that of 32 threads one exceeds this with a probability of 32 / 4^20, less than 1 in 10^10.
const RECURSION: u32 = 20;

/// Everything that [`structured`] can put into a program, by the names in [`Constructs`].
pub const CONSTRUCTS: &[&str] = &[
    "BRA always",
    "BRA never",
    "BRA.LMT",
    "BRA.U always",
    "BRA.U never",
    "BRK",
    "BRK across an inner loop",
    "BRK by a CC test",
    "BRK never",
    "BRK under several IFs",
    "BRX",
    "BRX predicated",
    "CAL",
    "CAL in a loop",
    "CAL in a subroutine",
    "CAL under an IF",
    "CAL.NOINC",
    "CONT",
    "CONT across an inner loop",
    "CONT by a CC test",
    "CONT never",
    "CONT under several IFs",
    "EXIT",
    "EXIT in a loop",
    "EXIT in a subroutine",
    "EXIT never",
    "EXIT under an IF",
    "EXIT.KEEPREFCOUNT",
    "IF",
    "IF and ELSE",
    "IF and ELSE without SSY",
    "IF by SYNC",
    "IF to a SYNC",
    "IF without SSY",
    "JCAL",
    "JMP",
    "JMX",
    "KIL",
    "PBK and PCNT loop",
    "PBK block",
    "PBK loop",
    "PCNT block",
    "PCNT latch",
    "PCNT latch without PBK",
    "PCNT loop",
    "PRET and BRA",
    "PRET block",
    "PRET of the whole program",
    "PRET.NOINC",
    "RET",
    "RET in a loop",
    "RET never",
    "RET under an IF",
    "SSY loop",
    "SYNC",
    "SYNC early",
    "SYNC never",
    "both predicate and CC test",
    "branch to the SYNC",
    "code behind a BRA",
    "code behind a leaving instruction",
    "code between PRET and BRA",
    "constant bank",
    "do-while",
    "exit on both sides of an IF",
    "exit out of line",
    "exit under an IF",
    "exits 1 in 16",
    "full nesting",
    "inverted predicate",
    "loop in a loop",
    "loop in a subroutine",
    "loop under an IF",
    "loop without tokens",
    "nested IF",
    "recursion",
    "recursion of two tokens",
    "side of an IF that leaves",
    "tail call",
];

/// The constructs of one program, each of them in [`CONSTRUCTS`].
pub type Constructs = BTreeSet<&'static str>;

knobs! {
    /// The constructs of a structured program.
    ///
    /// IF with and without ELSE, joined by SSY and SYNC, and black boxes are always included.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Options;

    /// Every construct of spa5-9.
    pub const ALL;

    /// PBK, BRK, and the loops that they are part of.
    pub breaks: bool = true,
    /// PCNT, CONT, and the loops that they are part of.
    pub continues: bool = true,
    /// Loops left by SYNC, and loops without any token.
    pub plain_loops: bool = true,
    /// IFs without SSY: their two sides meet only in an outer token.
    pub unjoined: bool = true,
    /// CAL, PRET and RET.
    pub calls: bool = true,
    /// Subroutines that call themselves.
    pub recursion: bool = true,
    /// EXIT at other places than the end.
    pub exits: bool = true,
    /// CC tests besides predicates.
    pub tests: bool = true,
    /// Conditions that are the same for every thread, with and without `.U`, and the suffixes without an
    /// effect.
    pub uniform: bool = true,
    /// Some BRA and CAL replaced by JMP and JCAL, some EXIT by KIL, and offsets in constant banks.
    pub rare: bool = true,
    /// BRX and JMX: switches, with their targets listed in the program. For a unit built with them; an error in
    /// others.
    pub brx: bool = false,
    /// Probability, in sixteenths, that a program nests to the last token that it may take.
    pub limits16: u32 = 1,
    /// Approximate maximum of instructions that a thread executes; typical runs stay far below.
    pub length: u32 = 2000,
    /// Random contents for everything that the unit must ignore: control words, ignored bits, black
    /// boxes, unreachable words.
    pub noise: bool = true,
}

impl Options {
    /// The constructs that ptxas emits (spa5-5, spa5-8): no PCNT, no CC tests, hardly anything unconditional.
    pub const PTXAS: Options = Options {
        continues: false,
        recursion: false,
        tests: false,
        uniform: false,
        rare: false,
        noise: false,
        ..Options::ALL
    };

    /// Returns random options, so that a campaign also has programs with few constructs, in which those
    /// few are nested more deeply. Never with BRX.
    pub fn random(rng: &mut (impl Rng + ?Sized)) -> Options {
        match rng.random_range(0..16) {
            0 => Options::PTXAS,
            1..8 => Options::ALL,
            _ => Options {
                breaks: rng.random_bool(0.7),
                continues: rng.random_bool(0.7),
                plain_loops: rng.random_bool(0.4),
                unjoined: rng.random_bool(0.3),
                calls: rng.random_bool(0.5),
                recursion: rng.random_bool(0.5),
                exits: rng.random_bool(0.5),
                tests: rng.random_bool(0.6),
                uniform: rng.random_bool(0.4),
                rare: rng.random_bool(0.5),
                brx: false,
                limits16: 2,
                length: rng.random_range(100..3000),
                noise: rng.random_bool(0.7),
            },
        }
    }
}

/// Returns a structured program that ends without an error.
///
/// This holds for conditions drawn with any p16 from 1 to 15 (see [`reconverge_program::environment`]), on a stack of 64 tokens and for
/// up to 32 threads. If all bits or none are 1, a loop need not end.
pub fn structured<R: Rng + ?Sized>(rng: &mut R, options: &Options) -> Program {
    // Each label is bound where it is made, and a thousand instructions always fit, so one try is enough.
    built(|| build(rng, options)).0
}

/// Returns the same as [`structured`], with the constructs in the program. Only here are they sorted: that would take a quarter as long as
/// all the rest.
pub fn structured_of<R: Rng + ?Sized>(rng: &mut R, options: &Options) -> (Program, Constructs) {
    let (program, met) = built(|| build(rng, options));
    (program, met.into_iter().collect())
}

/// Returns the same program at a random base at which it fits; its absolute addresses move with it. In nearly half of the cases
/// it stays at 0.
pub fn placed<R: Rng + ?Sized>(rng: &mut R, program: Program) -> Program {
    let last = program.last_base();
    let few = BUNDLE * rng.random_range(0..64);
    let base = match rng.random_range(0..8) {
        0..3 => return program,
        // It ends at the end of the address space, or nearly.
        3 => last,
        4 => last.saturating_sub(few),
        // Around the middle, where the highest bit changes; one bit alone.
        5 => (1 << 31) - few,
        6 => BUNDLE << rng.random_range(0..27),
        _ => rng.random(),
    };
    program.at(base.min(last) / BUNDLE * BUNDLE)
}

/// Returns a program whose entry is its first word and whose size is that of its words.
fn program(name: &str, words: Vec<u64>) -> Program {
    Program {
        name: name.to_owned(),
        // At most MAX_BUNDLES bundles.
        prog_size: words.len() as u32 * 8,
        words,
        ..Program::default()
    }
}

/// Returns the set-up instruction of the token that `op` goes to; PRET rather than CAL, which would not continue in sequence.
fn set_up_of(op: LeaveOp) -> SetUpOp {
    match op {
        LeaveOp::Sync => SetUpOp::Ssy,
        LeaveOp::Brk => SetUpOp::Pbk,
        LeaveOp::Cont => SetUpOp::Pcnt,
        LeaveOp::Ret | LeaveOp::Exit | LeaveOp::Kil => SetUpOp::Pret,
    }
}

/// Returns any black box; some closely resemble the unit's own words.
fn other<R: Rng + ?Sized>(rng: &mut R) -> u64 {
    loop {
        let mut word: u64 = rng.random();
        if chance(rng, 4) {
            let high = pick(rng, &[0xE1, 0xE4, 0xF0, 0xF1, 0x62, 0xA3, 0xE0, 0xC3]);
            word = word & !(0xff << 56) | high << 56;
        }
        if matches!(Word::decode(word), Word::Other(_)) {
            return word;
        }
    }
}

/// Returns the bits of `word` that may have any value without changing its meaning for the unit (spa5-2.3).
fn ignored(word: u64) -> u64 {
    const HIGH: u64 = 0xff << 44;
    let decoded = Word::decode(word);
    // Bits 51:44, except those of a constant's place.
    let high = match decoded.target() {
        Some(Target::Absolute(_)) => 0,
        Some(Target::Bank { .. }) => HIGH | 7 << 41,
        _ => HIGH,
    };
    match decoded {
        // Bits 51:44, 19:6 and 4:0; `.NOINC` is one of them.
        Word::SetUp(_) => high | 0xf_ffdf,
        // Bits 51:44 and 15:8, and `.LMT`.
        Word::Branch(_) | Word::Indirect(_) => high | 0xff << 8 | 1 << 6,
        // All except predicate and test, including `.KEEPREFCOUNT`; one more bit distinguishes SYNC.
        Word::Leave(leave) => {
            let sync = u64::from(leave.op == LeaveOp::Sync) << 51;
            ((1 << 52) - 1) & !0xf_001f & !sync
        }
        // Bit 5 may be what makes it so.
        Word::Unsupported(..) | Word::Illegal(_) => (1 << 52) - 1 - (1 << 5),
        // Such a word could become SYNC.
        Word::Other(word) if word >> 56 == 0xF0 => 0,
        Word::Other(_) => (1 << 56) - 1,
    }
}

/// Puts random contents into everything that must have no effect.
fn add_noise<R: Rng + ?Sized>(rng: &mut R, program: &mut Program) {
    for (n, word) in (0..).zip(&mut program.words) {
        *word ^= rng.random::<u64>() & if n % 4 == 0 { u64::MAX } else { ignored(*word) };
    }
    if chance(rng, 2) {
        // A program may end before its memory does.
        let more = rng.random::<u32>() >> rng.random_range(0..32);
        program.prog_size = program.prog_size.saturating_add(more) / BUNDLE * BUNDLE;
    }
}

#[cfg(test)]
mod tests;
