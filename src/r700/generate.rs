//! Random programs: structured ones, structured ones with one random change, and raw words.
//!
//! Source: r700-7.1 and r700-9 in `docs/spec/r700.md`.
//!
//! | function | programs | purpose |
//! |---|---|---|
//! | [`structured`] | every construct of r700-9.1, nested up to the limits | all three judges: each lane must do what it does alone |
//! | [`near_legal`] | the same with one word, constant or register changed, and stacks filled to the limit | corners just outside the rules |
//! | [`raw`] | random words, random constants, random registers | everything else: every error, every frame on every other |
//!
//! Structured programs end by construction: statements only nest, a loop has a count or two exits, one of
//! which every lane takes at some time, and a subroutine calls only later subroutines. The
//! other two need an instruction limit.
//!
//! Only programs made for the purpose reach some states: a long counted loop
//! ([`Options::long1000`]) for large loop indices and long runs, code at high addresses for wide return
//! addresses, and the programs with which `near_legal` fills the stack.

use std::collections::BTreeSet;

use rand::Rng;

use super::isa::{Cf, CfOp, Cond, Mem, Word};
use super::program::{MAX_QUADS, Program, Quad};
use reconverge_program::generate::{built, knobs};

mod near_legal;
mod parted;
mod raw;
mod structured;
use structured::build;

pub use near_legal::near_legal;
pub use raw::raw;

/// Entries of the stack in the default build (r700-3.4), and so of the deepest program.
const ENTRIES: u32 = 32;
/// Sub-entries that the first live branch frame takes besides its own (r700-3.4).
const RESERVE: u32 = 2;
/// Deepest call nesting that a CALL may lead to (r700-4.3).
const CALL_DEPTH: u32 = 32;

/// The properties of the unit that a program is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Sub-entries of a stack entry (r700-3.4-h).
    pub subentries: u32,
    /// LOOP_START_DX10 counts its passes (r700-4.3-z).
    pub dx10_count: bool,
}

impl Target {
    /// The default build of the unit.
    pub const DEFAULT: Target = Target {
        subentries: 4,
        dx10_count: false,
    };

    /// Returns the sub-entries of [`ENTRIES`].
    fn space(self) -> u32 {
        ENTRIES * self.subentries
    }

    /// Returns the sub-entries that a loop frame takes; a branch or call frame takes one.
    fn loop_frame(self) -> u32 {
        self.subentries
    }
}

/// Everything that [`structured`] can put into a program, by the names that [`Constructs`] uses.
pub const CONSTRUCTS: &[&str] = &[
    "ALU_BREAK",
    "ALU_CONTINUE",
    "BREAK",
    "BREAK by a boolean",
    "BREAK expanded",
    "BREAK under several IFs",
    "CALL",
    "CALL by a boolean",
    "CALL in a loop",
    "CALL in a subroutine",
    "CALL under an IF",
    "CALL_COUNT 0",
    "CALL_COUNT above 1",
    "CONTINUE",
    "CONTINUE by a boolean",
    "CONTINUE expanded",
    "CONTINUE under several IFs",
    "ELSE",
    "ELSE fused",
    "ELSE that stays",
    "END on EXPORT_DONE",
    "END on NOP",
    "ENDIF fused",
    "ENDIF fused, u",
    "IF",
    "IF not",
    "JUMP left out",
    "KILL",
    "KILL by a boolean",
    "LOOP",
    "LOOP until break",
    "LOOP_BREAK FALSE",
    "PUSH",
    "PUSH_ELSE",
    "REPEAT",
    "VPM on ELSE",
    "VPM on LOOP_END",
    "VPM on POP",
    "VPM on PUSH",
    "aL counts down",
    "call depth 32",
    "code behind a BREAK",
    "count 0",
    "count 1",
    "count of 10 or more",
    "count of thousands",
    "full stack",
    "loop in a loop",
    "loop in a subroutine",
    "loop under an IF",
    "nested IF",
    "skip in a loop body",
    "skip in a part of an IF",
    "skip to the end",
    "slot",
    "slot by a boolean",
    "too deep a CALL",
    "two ENDIFs fused",
    "uniform ELSE",
    "uniform IF",
];

/// The constructs of one program, each of them in [`CONSTRUCTS`].
pub type Constructs = BTreeSet<&'static str>;

knobs! {
    /// The constructs of a structured program.
    ///
    /// IF with and without ELSE, and plain instructions, are always included.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Options;

    /// Every construct of r700-9.1.
    pub const ALL;

    /// Every form of r700-7.1; otherwise those that LLVM and Mesa emit.
    pub forms: bool = true,
    /// IFs on booleans, with and without a frame; booleans on BREAK, CONTINUE, CALL, KILL and slots.
    pub uniform: bool = true,
    /// Loops that end only by breaks.
    pub until_break: bool = true,
    /// LOOP with aL, and REPEAT.
    pub counted: bool = true,
    /// CONTINUE.
    pub continues: bool = true,
    /// ALU with u and no push, where r700-9.2 allows it.
    pub skips: bool = true,
    /// CALL and RETURN.
    pub calls: bool = true,
    /// KILL, and `VALID_PIXEL_MODE` within the limits of r700-9.2.
    pub kill: bool = true,
    /// Probability, in sixteenths, that a program drives one limit to its last value: the stack of
    /// 32 entries, by branches or loops, or 32 nested calls.
    pub limits16: u32 = 2,
    /// Probability, in thousandths, that a program has one counted loop of 1,100 to 4,095 passes, with
    /// `aL` in steps of 127 or 128 in either direction. It adds at most 20,000 instructions to
    /// `length`.
    pub long1000: u32 = 5,
    /// Approximate maximum of instructions that a wave executes; typical runs stay far below.
    pub length: u32 = 300,
    /// Random contents for everything that the sequencer must ignore: reserved and unused fields,
    /// clauses, unreachable words, the rest of the address space.
    pub noise: bool = true,
    /// The unit that the programs are made for.
    pub target: Target = Target::DEFAULT,
}

impl Options {
    /// The constructs that LLVM emits (r700-8.2).
    pub const LLVM: Options = Options {
        forms: false,
        uniform: false,
        counted: false,
        continues: false,
        skips: false,
        calls: false,
        kill: false,
        noise: false,
        ..Options::ALL
    };

    /// Returns random options, so that a campaign also has programs with few constructs, in which those
    /// few are nested more deeply.
    pub fn random(rng: &mut (impl Rng + ?Sized)) -> Options {
        match rng.random_range(0..16) {
            0 => Options::LLVM,
            1..8 => Options::ALL,
            _ => Options {
                forms: rng.random_bool(0.8),
                uniform: rng.random_bool(0.5),
                until_break: rng.random_bool(0.6),
                counted: rng.random_bool(0.6),
                continues: rng.random_bool(0.6),
                skips: rng.random_bool(0.4),
                calls: rng.random_bool(0.5),
                kill: rng.random_bool(0.3),
                limits16: 2,
                long1000: 5,
                length: rng.random_range(50..500),
                noise: rng.random_bool(0.7),
                target: Target::DEFAULT,
            },
        }
    }
}

/// Returns a structured program that ends with an empty stack, whatever the conditions (r700-9.1).
///
/// `STACK_SIZE` is mostly the result of r700-3.4 for its deepest nesting, never less.
pub fn structured<R: Rng + ?Sized>(rng: &mut R, options: &Options) -> Program {
    // Everything that `build` writes nests and fits, so one try is enough.
    built(|| build(rng, options)).0
}

/// Returns the same as [`structured`], with the constructs in the program.
pub fn structured_of<R: Rng + ?Sized>(rng: &mut R, options: &Options) -> (Program, Constructs) {
    let (program, met) = built(|| build(rng, options));
    (program, met.into_iter().collect())
}

/// Returns the bits of both words that have no effect on the sequencer (r700-2.2 to r700-2.4, r700-4.3).
fn unused(quad: Quad) -> (u32, u32) {
    const POPS: u32 = 7;
    const CF_CONST: u32 = 31 << 3;
    const CALL_COUNT: u32 = 63 << 13;
    // COUNT and COUNT_3, the reserved bit, BARRIER.
    const NEVER: u32 = 7 << 10 | 1 << 19 | Cf::RESERVED | 1 << 31;
    const WQM: u32 = 1 << 30;
    let cf = match Word::decode(quad) {
        Word::Alu(_) => return (u32::MAX, !(15 << 26)),
        Word::Mem(_) => return (u32::MAX, Mem::REST | WQM | 1 << 31),
        Word::Reserved(..) => return (u32::MAX, 0),
        Word::Cf(cf) => cf,
    };
    let boolean = match cf.cond {
        Cond::Bool | Cond::NotBool => 0,
        Cond::Active | Cond::False => CF_CONST,
    };
    match cf.op {
        CfOp::LoopStart | CfOp::LoopStartNoAl => (0, NEVER | CALL_COUNT),
        CfOp::Jump | CfOp::Push | CfOp::Else | CfOp::LoopStartDx10 => {
            (0, NEVER | CALL_COUNT | boolean)
        }
        CfOp::PushElse | CfOp::LoopEnd | CfOp::LoopBreak | CfOp::LoopContinue | CfOp::Kill => {
            (0, NEVER | CALL_COUNT | boolean | POPS)
        }
        // Neither jumps to its ADDR (r700-O12, r700-O19).
        CfOp::Pop => (u32::MAX, NEVER | CALL_COUNT | boolean),
        CfOp::Return => (u32::MAX, NEVER | CALL_COUNT | boolean | POPS),
        CfOp::Call => (0, NEVER | boolean),
        CfOp::PopJump | CfOp::PopPush | CfOp::PopPushElse => (u32::MAX, 0),
        _ => (u32::MAX, NEVER | CALL_COUNT | boolean | POPS | WQM),
    }
}

/// Puts random contents into everything that must have no effect.
fn add_noise<R: Rng + ?Sized>(rng: &mut R, program: &mut Program) {
    for quad in &mut program.quads {
        let (mask0, mask1) = unused(*quad);
        quad.dw0 ^= rng.random::<u32>() & mask0;
        quad.dw1 ^= rng.random::<u32>() & mask1;
    }
}

/// Returns a trip count next to a power of two.
fn corner_count<R: Rng + ?Sized>(rng: &mut R) -> u32 {
    let power = 1_u32 << rng.random_range(0..=12);
    (power + rng.random_range(0..3)).saturating_sub(1) & 0xfff
}

/// Moves the program to high addresses, with zero words below it: up to the last address that a program
/// may use here, or across a power of two. Sometimes it begins with a CALL at its last address; at the highest
/// address, this CALL returns to an address of more than 16 bits. In half of the cases the program stays where it is and
/// runs at one of the higher addresses where it is visible again ([`Program::quad`]): no other addresses exceed 16 bits.
fn raise<R: Rng + ?Sized>(rng: &mut R, program: &mut Program) {
    let regs = &mut program.regs;
    let len = program.quads.len() as u32;
    let inside = |addr: u32| addr <= len.saturating_add(2);
    let appended = match rng.random_range(0..4) {
        0 | 1 => 0,
        n => n - 1,
    };
    let Some(most) = (MAX_QUADS as u32).checked_sub(len + appended) else {
        return;
    };
    let again = rng.random();
    let base = match rng.random_range(0..4) {
        _ if again => rng.random::<u32>() / MAX_QUADS as u32 * MAX_QUADS as u32,
        0 | 1 => most,
        2 => {
            let power = 1_u32 << rng.random_range(8..16);
            (power - rng.random_range(0..=len.min(power))).min(most)
        }
        _ => rng.random_range(0..=most),
    };
    for quad in &mut program.quads {
        let jumps = matches!(Word::decode(*quad), Word::Cf(cf) if is_control(cf.op));
        if jumps && (inside(quad.dw0) || quad.dw0 == regs.prog_len) {
            quad.dw0 = quad.dw0.saturating_add(base);
        }
    }
    if inside(regs.entry) {
        regs.entry += base;
    }
    regs.prog_len = regs.prog_len.saturating_add(base + appended);
    if !again {
        // Not `splice`, which puts one after another into place: it took two hundredths of a campaign.
        let mut moved = vec![Quad::default(); base as usize];
        moved.append(&mut program.quads);
        program.quads = moved;
    }
    let call = |addr| Cf::new(CfOp::Call).to(addr).counting(1).encode();
    let end = base + len;
    match appended {
        // The program then begins as usual, but ends in END_STACK.
        1 => program.quads.push(call(regs.entry)),
        2 => program
            .quads
            .extend([Cf::new(CfOp::Return).encode(), call(end)]),
        _ => return,
    }
    regs.entry = end + appended - 1;
}

/// General-format instructions that lanes execute and that do nothing to the wave (r700-4.3).
const SLOTS: &[CfOp] = &[
    CfOp::Nop,
    CfOp::Tex,
    CfOp::Vtx,
    CfOp::VtxTc,
    CfOp::CallFs,
    CfOp::EmitVertex,
    CfOp::EmitCutVertex,
    CfOp::CutVertex,
    CfOp::WaitAck,
    CfOp::TexAck,
    CfOp::VtxAck,
    CfOp::VtxTcAck,
];

/// The numbers of [`SLOTS`], a bit each: raw programs ask for each word.
const SLOT_NUMBERS: u64 = {
    let (mut numbers, mut n) = (0, 0);
    while n < SLOTS.len() {
        numbers |= 1 << SLOTS[n].bits();
        n += 1;
    }
    numbers
};

/// Returns whether `op`, an opcode with a name, belongs to the wave rather than to its lanes.
fn is_control(op: CfOp) -> bool {
    SLOT_NUMBERS >> op.bits() & 1 == 0 && !op.is_illegal()
}

/// Opcodes of the general and the memory format that are ILLEGAL (r700-6).
const RESERVED: &[u32] = &[
    15, 16, 17, 25, 30, 31, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 59,
    60, 61, 62, 63,
];

/// The frames on the stack, apart from call frames.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FrameKind {
    Branch,
    Loop,
}

#[cfg(test)]
mod tests;
