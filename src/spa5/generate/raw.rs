//! Random words: unconstrained, by weights, and by a map of the stack.

use rand::Rng;

use super::brim::{around, brim};
use super::{add_noise, ignored, other, program};
use crate::spa5::isa::{
    BlockOp, Branch, Code, Cond, Indirect, LeaveOp, Pred, SetUpOp, Target, Test, Word, is_control,
    norm, seq,
};
use crate::spa5::program::{BUNDLE, Program};
use reconverge_program::generate::{Way, chance, choose, knobs, pick, target, when, within};

/// The kind of a random instruction.
#[derive(Clone, Copy)]
enum What {
    SetUp(SetUpOp),
    Leave(LeaveOp),
    Branch,
    Other,
}

knobs! {
    /// Weights of a raw program, in sixteenths unless stated otherwise.
    #[derive(Clone, Copy)]
    pub(super) struct Mix;

    pub(super) const TAME;

    /// Weights of the opcodes.
    set_ups: [u32; 6] = [4, 2, 2, 1, 1, 1],
    leaves: [u32; 6] = [2, 1, 1, 1, 1, 1],
    branches: u32 = 5,
    /// BRX and JMX, in 256ths.
    indirect256: u32 = 2,
    /// The unit has BRX and JMX.
    brx: bool = false,
    /// Branches in absolute form (JMP).
    jumps: u32 = 3,
    /// Offsets in a constant bank.
    banks: u32 = 1,
    others: u32 = 6,
    /// Leaving instructions and BRA for every thread.
    always: u32 = 3,
    /// CC tests other than T.
    tests: u32 = 5,
    /// Tests of the clip state machine are among them: errors in a unit without it.
    clips: bool = false,
    /// `.U`.
    unanimous: u32 = 2,
    /// Targets that are not forward, if there is a choice.
    back: u32 = 7,
    /// Targets outside or not aligned, in 256ths.
    astray256: u32 = 2,
    /// UNSUPPORTED and ILLEGAL of all kinds, in 256ths.
    errors256: u32 = 2,
}

impl Mix {
    /// For a full stack: pushes, and many bad targets.
    pub(super) const ASTRAY: Mix = Mix {
        set_ups: [2; 6],
        leaves: [0; 6],
        others: 1,
        jumps: 8,
        astray256: 128,
        ..Mix::TAME
    };

    /// Returns random weights. A program in which one thing is frequent gets further with it than an average would: as many
    /// leaving instructions as set-up ones would end every run in an error.
    fn random<R: Rng + ?Sized>(rng: &mut R, brx: bool) -> Mix {
        let mut weight = |often| choose(rng, &[(0, 3), (1, 4), (3, often), (9, often)]);
        let set_ups = std::array::from_fn(|_| weight(3));
        // Instructions that need a token on the stack.
        let leaves = std::array::from_fn(|_| weight(1));
        Mix {
            set_ups,
            leaves,
            branches: within(rng, 1..8),
            others: within(rng, 1..8),
            always: within(rng, 0..5),
            // They are errors in a unit without them.
            indirect256: match brx {
                true => pick(rng, &[0, 16, 64, 128]),
                false => pick(rng, &[0, 0, 4, 16]),
            },
            brx,
            jumps: within(rng, 0..6),
            banks: within(rng, 0..3),
            tests: within(rng, 0..10),
            clips: chance(rng, 1),
            unanimous: within(rng, 0..4),
            back: 7,
            astray256: if rng.random_bool(0.6) { 0 } else { 8 },
            errors256: if rng.random_bool(0.6) { 0 } else { 6 },
        }
    }
}

/// Returns a random condition, rarely one that is the same for all threads.
fn raw_cond<R: Rng + ?Sized>(rng: &mut R, mix: &Mix) -> Cond {
    if chance(rng, mix.always) {
        return Cond::ALWAYS;
    }
    let mut pred = Pred {
        number: within(rng, 0..8),
        not: rng.random(),
    };
    let mut test = Test::T;
    if chance(rng, mix.tests) {
        test = Test::from_code(within(rng, 0..if mix.clips { 32 } else { 24 }));
        if rng.random() {
            pred = Pred::ALWAYS;
        }
    }
    Cond { pred, test }
}

/// Returns a word that is an error whenever it is executed: UNSUPPORTED or ILLEGAL (spa5-2.3, spa5-2.4).
pub(super) fn error_word<R: Rng + ?Sized>(rng: &mut R) -> u64 {
    let rest = rng.random::<u64>() >> 12;
    match within(rng, 0..8) {
        0 => pick(rng, &[0xE20, 0xE25]) << 52 | rest,
        // Without bit 5, JMP and JCAL are not errors.
        1..4 => u64::from(pick(rng, BlockOp::ALL).bits()) << 52 | rest | 1 << 5,
        4 => rng.random_range(0xE3B..=0xE3F) << 52 | rest,
        // A constant bank.
        5 => pick(rng, &[0xE20, 0xE21, 0xE22, 0xE25]) << 52 | rest | 1 << 5,
        // A CC test of the clip state machine, whatever the predicate.
        _ => {
            let test = Test::from_code(within(rng, 0x18..32));
            let number = within(rng, 0..8);
            let not = rng.random();
            let pred = Pred { number, not };
            let cond = Cond { pred, test };
            let target = Target::Offset(0);
            let bra = Word::Branch(Branch {
                cond,
                target,
                unanimous: rng.random(),
                lmt: false,
            });
            let word = match chance(rng, 4) {
                true => bra.encode(),
                false => Word::leave(pick(rng, LeaveOp::ALL), cond).encode(),
            };
            word ^ rng.random::<u64>() & ignored(word)
        }
    }
}

/// Returns `word` with a target that is an error if it is used, or nearly one: around both ends of a program of `size` bytes,
/// anywhere, or between two words (spa5-4.2).
pub(super) fn astray<R: Rng + ?Sized>(rng: &mut R, word: Word, pc: u32, size: u32) -> Word {
    let size = i64::from(size);
    let absolute = word.target().is_some_and(Target::is_absolute);
    let address = match within(rng, 0..10) {
        0..2 => size,
        2 => size - 8,
        3 => size + 8 * within(rng, 1..9),
        4 => -8,
        5 => -8 * within(rng, 1..9),
        // Next to a word.
        6..8 => within(rng, 0..size.max(8)) / 8 * 8 + within(rng, 1..8),
        // Outside the program and next to a word: the latter error counts (spa5-6).
        8 => size + within(rng, 0..64),
        _ if absolute => rng.random::<u32>().into(),
        _ => return word.with_target(Target::Offset(rng.random::<i32>() >> 8)),
    };
    if absolute {
        // An address below 0 is far above the program.
        return word.with_target(Target::Absolute(address as u32));
    }
    word.with_target(Target::direct(pc, address).unwrap_or(Target::Offset(-1)))
}

/// Returns a word by the weights of `mix`, for address `pc` of a program of `size` bytes.
pub(super) fn raw_word<R: Rng + ?Sized>(rng: &mut R, mix: &Mix, pc: u32, size: u32) -> u64 {
    if within(rng, 0..256) < mix.errors256 {
        return error_word(rng);
    }
    let set_up = |n: usize| (What::SetUp(SetUpOp::ALL[n]), mix.set_ups[n]);
    let leave = |n: usize| (What::Leave(LeaveOp::ALL[n]), mix.leaves[n]);
    let mut list = [(What::Other, mix.others); 14];
    for n in 0..6 {
        (list[n], list[n + 6]) = (set_up(n), leave(n));
    }
    list[12] = (What::Branch, mix.branches);
    let word = match choose(rng, &list) {
        What::SetUp(op) => Word::set_up(op),
        What::Leave(op) => Word::leave(op, raw_cond(rng, mix)),
        What::Branch if within(rng, 0..256) < mix.indirect256 => indirect(rng, mix),
        What::Branch => Word::Branch(Branch {
            cond: raw_cond(rng, mix),
            target: form(rng, mix),
            unanimous: chance(rng, mix.unanimous),
            lmt: false,
        }),
        What::Other => Word::Other(other(rng)),
    };
    let word = match word.target() {
        None => word,
        Some(_) if mix.brx && matches!(word, Word::Indirect(_)) && chance(rng, 2) => {
            around(rng, word, pc)
        }
        Some(_) if within(rng, 0..256) < mix.astray256 => astray(rng, word, pc, size),
        Some(Target::Offset(_)) if !matches!(word, Word::Indirect(_)) && chance(rng, mix.banks) => {
            word.with_target(bank(rng))
        }
        Some(_) => {
            // Mostly near.
            let words = i64::from(size / 8).max(1);
            let here = i64::from(pc / 8);
            let plain = word;
            let to = match within(rng, 0..16) {
                0..3 => within(rng, 0..words),
                _ if chance(rng, mix.back) => here - within(rng, 0..9),
                _ => here + within(rng, 1..12),
            };
            plain.aimed(pc, to.clamp(0, words - 1) * 8).unwrap_or(plain)
        }
    };
    let word = word.encode();
    word ^ rng.random::<u64>() & ignored(word)
}

/// Returns a branch's target: an offset, or an absolute address as in JMP.
fn form<R: Rng + ?Sized>(rng: &mut R, mix: &Mix) -> Target {
    match chance(rng, mix.jumps) {
        true => Target::Absolute(0),
        false => Target::Offset(0),
    }
}

/// Returns a BRX or JMX.
fn indirect<R: Rng + ?Sized>(rng: &mut R, mix: &Mix) -> Word {
    Word::Indirect(Indirect {
        cond: raw_cond(rng, mix),
        target: pick(rng, &[Target::Offset(0), Target::Absolute(0)]),
        register: rng.random(),
        lmt: false,
    })
}

/// Returns any constant-bank target.
fn bank<R: Rng + ?Sized>(rng: &mut R) -> Target {
    Target::Bank {
        bank: within(rng, 0..32),
        address: rng.random(),
    }
}

/// Returns random words with random operands. Four kinds:
///
/// * *wild* (1 in 16): every bit random, except that half of the words have upper bits from the unit's own
///   opcodes. Ends within a few instructions, mostly in UNSUPPORTED, ILLEGAL or TARGET_MISALIGNED.
/// * *weighted* (4 in 16): any instruction anywhere, targets mostly inside. Soon reaches every other error.
/// * *brim* (2 in 16): fills the stack, or parts all threads, and then does anything.
/// * *mapped* (9 in 16): each address has a depth on a stack of random tokens, and an instruction is
///   only placed where that fits, and mostly leads to an address where it fits; predicates, tests and the targets
///   themselves are random. Runs for long, with threads in every state and deep stacks.
///
/// `brx` is for a unit that has BRX and JMX; they are then as frequent as any other branch.
pub fn raw<R: Rng + ?Sized>(rng: &mut R, brx: bool) -> Program {
    let mut program = match within(rng, 0..16) {
        0 => wild(rng),
        1..5 => {
            let mix = Mix::random(rng, brx);
            weighted(rng, &mix, 400)
        }
        5..7 => brim(rng),
        _ => {
            let mix = Mix::random(rng, brx);
            let deepest = pick(rng, &[2, 4, 8, 16, 32, 64, 72]);
            mapped(rng, &mix, deepest, 300)
        }
    };
    match within(rng, 0..24) {
        // Zero words up to the end of the address space.
        0 => enlarge(rng, &mut program, !(BUNDLE - 1)),
        1 => {
            let size = rng.random::<u32>() / BUNDLE * BUNDLE;
            enlarge(rng, &mut program, size);
        }
        2 => program.prog_size = rng.random_range(0..=program.prog_size / BUNDLE) * BUNDLE,
        _ => {}
    }
    if chance(rng, 3) {
        program.entry = match within(rng, 0..8) {
            0 => rng.random::<u32>() & !7,
            // The last words in the address space.
            1 => u32::MAX - 7 - 8 * within(rng, 0..8),
            2 => program.prog_size,
            _ => rng.random_range(0..=program.prog_size / 8) * 8,
        };
    }
    program
}

/// Gives `program` the size `size`, with zero words after its own, and moves half of its targets to its new ends:
/// only then are they compared with a size of many bits (spa5-4.2-a).
fn enlarge<R: Rng + ?Sized>(rng: &mut R, program: &mut Program, size: u32) {
    program.prog_size = size;
    for (pc, word) in (0..).step_by(8).zip(&mut program.words) {
        let instruction = Word::decode(*word);
        if pc % BUNDLE != 0 && instruction.target().is_some() && chance(rng, 2) {
            *word = astray(rng, instruction, pc, size).encode();
        }
    }
}

/// Returns random instructions and targets for the scalar judge: up to the first error, each thread does in the warp
/// what it does alone.
///
/// Therefore BRA.U only occurs where its condition is the same for every thread (spa5-9, d). The program may run for
/// ever, end in any error, or end.
pub fn unstructured<R: Rng + ?Sized>(rng: &mut R) -> Program {
    // Some EXITs, few unconditional instructions, and hardly a way back: otherwise most would run for ever.
    let mut mix = Mix::random(rng, false);
    mix.back = within(rng, 0..4);
    mix.leaves[4] = mix.leaves[4].max(1);
    // No BRX and JMX: here they have no registers from a warp.
    mix.indirect256 = 0;
    mix.always = mix.always.min(2);
    let mut program = match within(rng, 0..8) {
        0..4 => weighted(rng, &mix, 90),
        4..6 => mapped(rng, &mix, 4, 60),
        _ => {
            let deepest = pick(rng, &[3, 6, 10, 20]);
            mapped(rng, &mix, deepest, 150)
        }
    };
    program.name = "unstructured".to_owned();
    for (n, word) in (0..).zip(&mut program.words) {
        if let Word::Branch(bra) = Word::decode(*word)
            && n % 4 != 0
            && bra.unanimous
            && bra.cond != Cond::ALWAYS
            && bra.cond.pred != Pred::NEVER
            && bra.cond.test != Test::F
        {
            // Bit 7.
            *word &= !(1 << 7);
        }
    }
    program
}

fn wild<R: Rng + ?Sized>(rng: &mut R) -> Program {
    let words = 4 * within(rng, 1..80);
    let own = within(rng, 1..9);
    let words = (0..words)
        .map(|_| {
            let word: u64 = rng.random();
            match chance(rng, own) {
                false => word,
                true if chance(rng, 4) => 0xF0F8 << 48 | word >> 13,
                true => within(rng, 0xE20..0xE40) << 52 | word >> 12,
            }
        })
        .collect();
    let mut program = program("raw_wild", words);
    program.entry = within(rng, 0..program.prog_size / 8) * 8;
    program
}

/// Returns fewer than `most` instructions.
fn weighted<R: Rng + ?Sized>(rng: &mut R, mix: &Mix, most: usize) -> Program {
    let bundles = within(rng, 2..most / 3);
    let size = bundles as u32 * BUNDLE;
    let words = (0..size / 8).map(|n| match n % 4 {
        0 => rng.random(),
        _ => raw_word(rng, mix, 8 * n, size),
    });
    let words = words.collect();
    program("raw_weighted", words)
}

/// A map of depths: the tokens on the stack at each address, and instructions that fit it.
struct Map {
    /// Number of tokens at each address in program order, without control words.
    depths: Vec<usize>,
    /// The tokens on the stack, bottom first: an address of depth d has the first d of them, so that
    /// depths fit wherever a jump comes from. PRET stands for CAL too.
    profile: Vec<SetUpOp>,
}

impl Map {
    /// Returns the depth to which `op` leads from depth `d`: the place of its token. `None` if no token is visible to it
    /// (spa5-4.4).
    fn leads(&self, d: usize, op: LeaveOp) -> Option<usize> {
        let below = &self.profile[..d];
        let last = |wanted: SetUpOp| below.iter().rposition(|t| *t == wanted);
        let call = last(SetUpOp::Pret);
        let own = |wanted| last(wanted).filter(|at| call.is_none_or(|call| call < *at));
        match op {
            LeaveOp::Sync => (below.last() == Some(&SetUpOp::Ssy)).then(|| d - 1),
            LeaveOp::Brk => own(SetUpOp::Pbk),
            LeaveOp::Cont => own(SetUpOp::Pcnt),
            LeaveOp::Ret => call,
            LeaveOp::Exit | LeaveOp::Kil => None,
        }
    }

    /// Returns the leaving instruction for the topmost of `d` tokens.
    fn top(&self, d: usize) -> LeaveOp {
        match d.checked_sub(1).map(|top| self.profile[top]) {
            Some(SetUpOp::Ssy) => LeaveOp::Sync,
            Some(SetUpOp::Pbk) => LeaveOp::Brk,
            Some(SetUpOp::Pcnt) => LeaveOp::Cont,
            Some(SetUpOp::Pret | SetUpOp::Cal | SetUpOp::Jcal) => LeaveOp::Ret,
            None => LeaveOp::Exit,
        }
    }
}

/// An instruction of the map: the word without its target, the depth after it, and the depth of its target.
struct Instruction {
    word: Word,
    next: usize,
    to: Option<(usize, Way)>,
}

/// Returns a map of `deepest` tokens, with fewer than `most` instructions besides those needed to reach that depth and return.
fn mapped<R: Rng + ?Sized>(rng: &mut R, mix: &Mix, deepest: usize, most: usize) -> Program {
    let len = within(rng, most / 3..most) + 3 * deepest;
    // All kinds of tokens, or mostly one.
    let common = pick(rng, PROFILE);
    let how_common = pick(rng, &[0, 0, 0, 8, 15]);
    let profile = (0..deepest)
        .map(|_| match chance(rng, how_common) {
            true => common,
            false => pick(rng, PROFILE),
        })
        .collect();
    let mut map = Map {
        depths: vec![],
        profile,
    };
    let steep = if deepest < 16 {
        within(rng, 2..8)
    } else {
        within(rng, 6..10)
    };
    let misfit = within(rng, 100..600);
    let mut instructions = Vec::with_capacity(len);
    let mut at = 0;
    // Up to the deepest and down again, more than once in long programs with few tokens.
    let mut falling = false;
    for i in 0..len {
        map.depths.push(at);
        falling = match at {
            0 => false,
            _ if at == deepest => true,
            _ => falling,
        };
        let left = len - i - 1;
        let instruction = if left == 0 {
            // Back to the beginning, or the end.
            match chance(rng, if mix.leaves[4] > 0 { 10 } else { 4 }) {
                true => plain(Word::leave(LeaveOp::Exit, Cond::ALWAYS), 0),
                false => Instruction {
                    word: Word::bra(Cond::ALWAYS).with_target(form(rng, mix)),
                    next: 0,
                    to: Some((0, Way::Anywhere)),
                },
            }
        } else {
            // Every token is popped before the program ends.
            let down = left <= at + 1;
            let move_on = within(rng, 0..10) < steep;
            let (up, down) = (
                !down && move_on && !falling,
                down || move_on && falling && rng.random(),
            );
            map_instruction(rng, &map, mix, at, up, down)
        };
        at = instruction.next;
        instructions.push(instruction);
    }
    let mut code = Code::default();
    // Instruction i lies in slot i mod 3 of bundle i / 3.
    let address = |i: usize| (i / 3 * 4 + i % 3 + 1) as u32 * 8;
    let size = len.div_ceil(3) as u32 * BUNDLE;
    for (i, Instruction { word, to, .. }) in instructions.into_iter().enumerate() {
        let pc = address(i);
        debug_assert_eq!(code.here(), pc);
        let word = match to {
            _ if within(rng, 0..misfit) == 0 => {
                // Sometimes an instruction that does not fit.
                code.push_raw(raw_word(rng, mix, pc, size));
                continue;
            }
            None => word,
            // The environment sets the value of the constant.
            Some(_) if matches!(word.target(), Some(Target::Bank { .. })) => word,
            Some((depth, way)) => {
                let target = address(target(rng, &map.depths, i, &depth, way));
                // By its control word too, as ptxas does.
                let control = is_control(target - 8) && rng.random();
                let target = if control { target - 8 } else { target };
                word.aimed(pc, target.into()).unwrap_or(word)
            }
        };
        code.push(word);
        debug_assert_eq!(norm(code.end()), seq(pc));
    }
    // Far less than MAX_BUNDLES, and no labels.
    let words = code.finish().unwrap_or_default();
    let mut program = program("raw_mapped", words);
    let size = program.prog_size;
    add_noise(rng, &mut program);
    program.prog_size = size;
    program
}

/// The tokens of a map's stack.
const PROFILE: &[SetUpOp] = &[SetUpOp::Ssy, SetUpOp::Pbk, SetUpOp::Pcnt, SetUpOp::Pret];

fn plain(word: Word, next: usize) -> Instruction {
    Instruction {
        word,
        next,
        to: None,
    }
}

/// Returns a random instruction for depth `at`, leading up or down if asked to.
fn map_instruction<R: Rng + ?Sized>(
    rng: &mut R,
    map: &Map,
    mix: &Mix,
    at: usize,
    up: bool,
    down: bool,
) -> Instruction {
    if let Some(&token) = map.profile.get(at).filter(|_| up) {
        let call = token == SetUpOp::Pret && chance(rng, 5);
        if call {
            let op = match chance(rng, mix.jumps) {
                true => SetUpOp::Jcal,
                false => SetUpOp::Cal,
            };
            return Instruction {
                word: Word::set_up(op),
                next: at,
                to: Some((at + 1, Way::Anywhere)),
            };
        }
        let back = chance(rng, mix.back) && (token == SetUpOp::Pcnt || chance(rng, 5));
        let way = if back { Way::Back } else { Way::Forward };
        return Instruction {
            word: Word::set_up(token),
            next: at + 1,
            to: Some((at, way)),
        };
    }
    if down && at > 0 {
        let op = map.top(at);
        return plain(Word::leave(op, Cond::ALWAYS), at - 1);
    }
    let mut cond = raw_cond(rng, mix);
    let leads = |op| map.leads(at, op).is_some();
    let [sync, brk, cont, ret] =
        [LeaveOp::Sync, LeaveOp::Brk, LeaveOp::Cont, LeaveOp::Ret].map(leads);
    let what = choose(
        rng,
        &[
            (What::Other, 3),
            (What::Branch, 6),
            (What::Leave(LeaveOp::Sync), when(sync, 2)),
            (What::Leave(LeaveOp::Brk), when(brk, 1)),
            (What::Leave(LeaveOp::Cont), when(cont, 1)),
            (What::Leave(LeaveOp::Ret), when(ret, 1)),
        ],
    );
    if !matches!(what, What::Branch) {
        // An unconditional leaving instruction would lead down, which is not wanted here.
        while cond == Cond::ALWAYS {
            cond = raw_cond(rng, &Mix { always: 0, ..*mix });
        }
    }
    match what {
        What::Branch => {
            let back = chance(rng, mix.back) && chance(rng, 5);
            let to = Some((at, if back { Way::Back } else { Way::Forward }));
            let word = if mix.brx && chance(rng, 3) {
                indirect(rng, mix)
            } else {
                let target = match within(rng, 0..64) {
                    n if n < mix.banks => bank(rng),
                    _ => form(rng, mix),
                };
                let unanimous = chance(rng, mix.unanimous);
                Word::Branch(Branch {
                    cond,
                    target,
                    unanimous,
                    lmt: false,
                })
            };
            Instruction { word, next: at, to }
        }
        What::Leave(op) => plain(Word::leave(op, cond), at),
        // BRX is UNSUPPORTED unless the unit is built with it; EXIT takes threads out.
        _ => match within(rng, 0..200) {
            0 => Instruction {
                word: indirect(rng, mix),
                next: at,
                to: Some((at, Way::Forward)),
            },
            1..9 if mix.leaves[4] > 0 => plain(Word::leave(LeaveOp::Exit, cond), at),
            9..12 if mix.leaves[5] > 0 => plain(Word::leave(LeaveOp::Kil, cond), at),
            12..16 => plain(
                Word::leave(
                    pick(rng, LeaveOp::ALL),
                    Cond {
                        pred: Pred::NEVER,
                        ..cond
                    },
                ),
                at,
            ),
            _ => plain(Word::Other(other(rng)), at),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::super::tests::{draws, instructions, rng};
    use super::*;
    use crate::spa5::isa::{Leave, SetUp};
    use crate::spa5::scalar::{End, Scalar};

    #[test]
    fn raw_programs_come_in_all_sorts() {
        let (mut sorts, mut opcodes) = (BTreeMap::new(), BTreeSet::new());
        let mut tests = BTreeSet::new();
        for seed in 1..=300 {
            let p = raw(&mut rng(seed), false);
            for word in instructions(&p) {
                let decoded = Word::decode(word);
                let op = match decoded {
                    Word::Other(_) => 0,
                    _ => word >> 52,
                };
                opcodes.insert(op.min(0xE40));
                if let Word::Branch(Branch { cond, .. }) | Word::Leave(Leave { cond, .. }) = decoded
                {
                    tests.insert(cond.test.bits());
                }
            }
            *sorts.entry(p.name).or_insert(0) += 1;
        }
        let names: Vec<&String> = sorts.keys().collect();
        assert_eq!(
            names,
            ["raw_brim", "raw_mapped", "raw_weighted", "raw_wild"]
        );
        assert!(sorts.values().all(|n| *n >= 10), "{sorts:?}");
        // OTHER, E20 to E3F, SYNC.
        let all = [0].into_iter().chain(0xE20..=0xE40);
        assert_eq!(opcodes, all.collect::<BTreeSet<_>>());
        assert_eq!(tests, (0..32).collect());
    }

    /// Executed straight on, without leaving, a mapped program has the tokens that its instructions need.
    #[test]
    fn maps_fit_the_way_straight_on() {
        let (mut deepest, mut all) = (0, (0, 0));
        for seed in 1..=100 {
            let mut rng = rng(seed);
            let mix = Mix::random(&mut rng, false);
            let p = mapped(&mut rng, &mix, 40, 300);
            let mut tokens: Vec<SetUpOp> = vec![];
            let (mut misfits, mut leaves) = (0, 0);
            for word in instructions(&p) {
                match Word::decode(word) {
                    // A call returns.
                    Word::SetUp(SetUp { op, .. })
                        if !matches!(op, SetUpOp::Cal | SetUpOp::Jcal) =>
                    {
                        tokens.push(op);
                    }
                    Word::Leave(leave) if leave.cond == Cond::ALWAYS => {
                        let wanted = match leave.op {
                            LeaveOp::Sync => SetUpOp::Ssy,
                            LeaveOp::Brk => SetUpOp::Pbk,
                            LeaveOp::Cont => SetUpOp::Pcnt,
                            LeaveOp::Ret => SetUpOp::Pret,
                            LeaveOp::Exit | LeaveOp::Kil => continue,
                        };
                        leaves += 1;
                        match tokens.iter().rposition(|token| *token == wanted) {
                            Some(at) => {
                                misfits += tokens.len() - at - 1;
                                tokens.truncate(at);
                            }
                            None => misfits += 1,
                        }
                    }
                    _ => {}
                }
                deepest = deepest.max(tokens.len());
            }
            all.0 += misfits;
            all.1 += leaves;
        }
        // One word in about a hundred is random; the token that it removes or leaves is missing or superfluous later.
        assert!(all.0 * 5 < all.1, "{all:?}");
        assert!(deepest >= 40, "{deepest}");
    }

    /// For the judge, many programs end, many end in an error of each kind, and some run on.
    #[test]
    fn unstructured_programs_end_in_every_way() {
        let mut errors = [0; 11];
        let (mut done, mut endless) = (0, 0);
        for seed in 1..=1000 {
            let p = unstructured(&mut rng(seed));
            assert!(p.targets.is_empty());
            match Scalar::new(&p, DEPTH, false).run(2000, draws(seed, 8)).end {
                End::Done => done += 1,
                End::Limit => endless += 1,
                End::Error(code) => errors[usize::from(code)] += 1,
            }
        }
        assert!(
            done > 200 && (20..300).contains(&endless),
            "{done} {endless}"
        );
        assert!(errors[1..].iter().all(|n| *n >= 3), "{errors:?}");
    }

    const DEPTH: usize = super::super::DEPTH as usize;
}
