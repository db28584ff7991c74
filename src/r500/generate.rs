//! Random programs: structured ones, structured ones with one random change, and raw words.
//!
//! Source: r500-7.1 and r500-8 in `docs/spec/r500.md`.
//!
//! | function | programs | purpose |
//! |---|---|---|
//! | [`structured`] | every construct of r500-8.1, nested up to the limits | all three judges: each lane must do what it does alone |
//! | [`near_legal`] | the same with one word, constant or register changed | corners just outside the rules |
//! | [`raw`] | random words, random constants, random registers | everything else: every error, both modes, full stacks, full counters |
//!
//! Structured programs end by construction: statements only nest, a loop has a count, and a
//! subroutine calls only later subroutines. The other two need an instruction limit.

use rand::Rng;

use super::program::Program;
use reconverge_program::generate::{built, knobs};

mod brim;
mod near_legal;
mod raw;
mod structured;
use structured::build;

pub use near_legal::near_legal;
pub use raw::raw;

/// Frames of the loop stack, entries of the address stack (r500-3.2).
const STACK_DEPTH: usize = 4;

/// `B_POP_CNT` has 5 bits.
const MAX_POPS: usize = 31;

/// The instructions that have `IGNORE_UNCOVERED`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ignore {
    /// None: uncovered lanes are like any other.
    Never,
    /// Every flow-control instruction: only covered lanes follow their scalar paths.
    Always,
    /// Those where Mesa sets it: IF, LOOP, ENDLOOP, BREAK, CONTINUE (r500-7.1).
    Mesa,
    /// Random ones.
    Mixed,
}

knobs! {
    /// The constructs of a structured program.
    ///
    /// IF, IF/ELSE and plain instructions are always included.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Options;

    /// Every construct of r500-8.1 in full mode.
    pub const ALL;

    /// Full flow control. Without it, only IF, ELSE, ELSE IF and static IF, 4 levels deep.
    pub full: bool = true,
    /// Conditions on predicates, booleans and tables of all three; otherwise on the ALU result.
    pub conditions: bool = true,
    /// ELSE fused with IF. Only with it can a lane's k depend on other lanes.
    pub else_if: bool = true,
    /// Static IF and plain jumps.
    pub static_if: bool = true,
    /// LOOP.
    pub loops: bool = true,
    /// REP.
    pub reps: bool = true,
    /// LOOP and REP for some lanes.
    pub some_lanes: bool = true,
    /// BREAK and CONTINUE as one conditional instruction, not only inside an IF.
    pub conditional_leave: bool = true,
    /// CALL and RETURN.
    pub calls: bool = true,
    /// Every loop has count 255 from one constant, as Mesa's loops do, and ends by BREAK.
    pub endless: bool = false,
    /// The instructions that have `IGNORE_UNCOVERED`.
    pub ignore: Ignore = Ignore::Never,
    /// Probability, in sixteenths, that a program drives one limit to its last value: 32 branch levels
    /// (4 in partial mode), 4 loops, 4 calls.
    pub limits16: u32 = 3,
    /// Approximate maximum of instructions that a wavefront executes; typical runs stay far below.
    pub length: u32 = 400,
    /// Random contents for everything that the sequencer must ignore: reserved and unused fields,
    /// words of ALU, TEX and OUT instructions, unreachable code, bits of the registers.
    pub noise: bool = true,
}

impl Options {
    /// [`Options::ALL`] without the fused ELSE IF: a lane's k is the same alone and in a wavefront.
    pub const SAME_K: Options = Options {
        else_if: false,
        ..Options::ALL
    };

    /// Every construct that partial mode has.
    pub const PARTIAL: Options = Options {
        full: false,
        loops: false,
        reps: false,
        some_lanes: false,
        conditional_leave: false,
        calls: false,
        length: 150,
        ..Options::ALL
    };

    /// The constructs that Mesa emits (r500-7.1; the LOOP word with bit 5 set, r500-O29).
    pub const MESA: Options = Options {
        conditions: false,
        else_if: false,
        static_if: false,
        reps: false,
        some_lanes: false,
        conditional_leave: false,
        calls: false,
        endless: true,
        ignore: Ignore::Mesa,
        noise: false,
        ..Options::ALL
    };

    /// Returns random options, so that a campaign also has programs with few constructs, in which those
    /// few are nested more deeply.
    pub fn random(rng: &mut (impl Rng + ?Sized)) -> Options {
        let ignore = match rng.random_range(0..8) {
            0..3 => Ignore::Never,
            3..5 => Ignore::Always,
            5 => Ignore::Mesa,
            _ => Ignore::Mixed,
        };
        match rng.random_range(0..16) {
            0..2 => Options {
                ignore,
                ..Options::PARTIAL
            },
            2 => Options::MESA,
            3..9 => Options {
                ignore,
                ..Options::ALL
            },
            _ => Options {
                full: true,
                conditions: rng.random_bool(0.8),
                else_if: rng.random_bool(0.25),
                static_if: rng.random_bool(0.4),
                loops: rng.random_bool(0.7),
                reps: rng.random_bool(0.5),
                some_lanes: rng.random_bool(0.4),
                conditional_leave: rng.random_bool(0.7),
                calls: rng.random_bool(0.5),
                endless: false,
                ignore,
                limits16: 3,
                length: rng.random_range(50..600),
                noise: rng.random_bool(0.7),
            },
        }
    }
}

/// Returns a structured program that ends with every lane ACTIVE and both stacks empty if run, with any
/// conditions, in the mode that it is made for (r500-8.1).
pub fn structured<R: Rng + ?Sized>(rng: &mut R, options: &Options) -> Program {
    // `build` keeps within memory and limits, so one try is enough.
    built(|| build(rng, options))
}

#[cfg(test)]
mod tests;
