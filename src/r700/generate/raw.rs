//! Random words: unconstrained, by weights, and by a map of the stack.

use rand::Rng;

use super::parted::parted;
use super::{FrameKind, RESERVED, SLOTS, corner_count, is_control, raise, unused};
use crate::r700::isa::{Alu, AluOp, Cf, CfOp, Cond, Mem, MemOp, Word};
use crate::r700::program::{Program, Quad, Registers};
use reconverge_program::generate::{Way, chance, choose, knobs, pick, target, when, within};

knobs! {
    /// Weights of a raw program, in sixteenths unless stated otherwise.
    #[derive(Clone, Copy)]
    pub(super) struct Mix;

    pub(super) const TAME;

    /// ALU format rather than any other.
    alu: u32 = 6,
    /// u of an ALU instruction.
    u: u32 = 12,
    /// `COND` other than ACTIVE.
    cond: u32 = 4,
    /// `VALID_PIXEL_MODE`.
    vpm: u32 = 2,
    /// `POP_COUNT` of 0 or 1.
    few_pops: u32 = 13,
    /// Reserved opcodes, WQM and `POP_COUNT` where they are errors, in 256ths.
    illegal256: u32 = 2,
    /// `END_OF_PROGRAM`, in 256ths.
    end256: u32 = 8,
    /// Weights of the opcodes by their effect.
    pushes: u32 = 3,
    pops: u32 = 3,
    loops: u32 = 3,
    loop_ends: u32 = 2,
    leaves: u32 = 2,
    calls: u32 = 2,
    returns: u32 = 2,
    kills: u32 = 1,
    others: u32 = 3,
    /// Share of instructions that leave a pass of a loop, but not the loop.
    continues: u32 = 8,
}

impl Mix {
    /// Returns the share of `VALID_PIXEL_MODE`, in sixteenths.
    pub(super) fn vpm(&self) -> u32 {
        self.vpm
    }

    /// Returns random weights. A program in which one thing is frequent gets further with it than an average would: as many
    /// pops as pushes would end every run in an UNDERFLOW.
    pub(super) fn random<R: Rng + ?Sized>(rng: &mut R) -> Mix {
        let mut weight = |often| choose(rng, &[(0, 3), (1, 4), (3, often), (9, often)]);
        let [pushes, loops, calls] = std::array::from_fn(|_| weight(3));
        // Instructions that need a frame on the stack.
        let [pops, loop_ends, leaves, returns] = std::array::from_fn(|_| weight(1));
        Mix {
            alu: rng.random_range(0..=12),
            u: rng.random_range(4..=16),
            cond: choose(rng, &[(0, 3), (3, 5), (8, 5)]),
            // Often in some programs, and there together with KILL: otherwise VALID_PIXEL_MODE finds all lanes valid, or none.
            vpm: choose(rng, &[(0, 3), (2, 5), (8, 5)]),
            few_pops: rng.random_range(10..=16),
            illegal256: if rng.random_bool(0.7) { 0 } else { 2 },
            end256: within(rng, 0..8),
            pushes,
            pops,
            loops,
            loop_ends,
            leaves,
            calls,
            returns,
            kills: choose(rng, &[(0, 4), (1, 6), (4, 4)]),
            others: within(rng, 1..4),
            // If no lane breaks, only CONT lanes are off.
            continues: choose(rng, &[(4, 4), (8, 2), (16, 2)]),
        }
    }
}

/// Returns two random words by the weights of `mix`: any operation, mostly any target below `len`.
pub(super) fn raw_quad<R: Rng + ?Sized>(rng: &mut R, mix: &Mix, len: u32) -> Quad {
    let illegal = |rng: &mut R| within(rng, 0..256) < mix.illegal256;
    let (dw0, dw1): (u32, u32) = (rng.random(), rng.random());
    if chance(rng, mix.alu) {
        let op = choose(
            rng,
            &[
                (AluOp::Alu, 2),
                (AluOp::AluPushBefore, mix.pushes * 2),
                (AluOp::AluPopAfter, mix.pops),
                (AluOp::AluPop2After, mix.pops.div_ceil(2)),
                (AluOp::AluContinue, mix.leaves),
                (AluOp::AluBreak, mix.leaves),
                (AluOp::AluElseAfter, mix.pushes),
            ],
        );
        let op = if illegal(rng) { 12 } else { op.bits() };
        let dw1 = dw1 & !(15 << 26) | op << 26;
        return Quad {
            dw0,
            dw1,
            u: chance(rng, mix.u),
        };
    }
    let op = choose(
        rng,
        &[
            (CfOp::LoopStart, mix.loops),
            (CfOp::LoopStartNoAl, mix.loops),
            (CfOp::LoopStartDx10, mix.loops),
            (CfOp::LoopEnd, mix.loop_ends * 2),
            (CfOp::LoopBreak, mix.leaves),
            (CfOp::LoopContinue, mix.leaves),
            (CfOp::Push, mix.pushes),
            (CfOp::PushElse, mix.pushes),
            (CfOp::Pop, mix.pops * 2),
            (CfOp::Else, mix.pops),
            (CfOp::Call, mix.calls * 2),
            (CfOp::Return, mix.returns * 2),
            (CfOp::Kill, mix.kills),
            (CfOp::Jump, mix.others),
            (CfOp::Nop, mix.others),
        ],
    );
    let op = match op {
        _ if illegal(rng) => pick(rng, RESERVED),
        CfOp::Nop if rng.random() => pick(rng, MemOp::ALL).bits(),
        CfOp::Nop => pick(rng, SLOTS).bits(),
        op => op.bits(),
    };
    let quad = Quad {
        dw0,
        dw1: dw1 & !(127 << 23) | op << 23,
        u: false,
    };
    let Word::Cf(mut cf) = Word::decode(quad) else {
        return tame_end(rng, mix, quad);
    };
    if chance(rng, mix.few_pops) {
        cf.pop_count &= 1;
    }
    if !chance(rng, mix.cond) {
        cf.cond = Cond::Active;
    }
    cf.vpm = chance(rng, mix.vpm);
    if chance(rng, 14) {
        cf.call_count = within(rng, 0..2);
    }
    if is_control(cf.op) && !illegal(rng) {
        cf.wqm = false;
    }
    if cf.op == CfOp::Call && !illegal(rng) {
        cf.pop_count = 0;
    }
    cf.addr = match within(rng, 0..256) {
        0 => rng.random(),
        1 => len.wrapping_add(within(rng, 0..3)),
        _ => within(rng, 0..len),
    };
    let quad = Quad {
        dw1: cf.encode().dw1 | dw1 & Cf::RESERVED,
        ..cf.encode()
    };
    tame_end(rng, mix, quad)
}

/// Returns `quad`, of a format with `END_OF_PROGRAM`, with that bit as often as `mix` says.
fn tame_end<R: Rng + ?Sized>(rng: &mut R, mix: &Mix, quad: Quad) -> Quad {
    let end = u32::from(within(rng, 0..256) < mix.end256) << 21;
    Quad {
        dw1: quad.dw1 & !(1 << 21) | end,
        ..quad
    }
}

/// Returns random words with random registers. Four kinds:
///
/// * *wild* (1 in 16): every bit random, registers too. Ends within a few instructions, mostly in
///   ILLEGAL or PC_RANGE.
/// * *weighted* (4 in 16): any operation anywhere, values mostly legal. Soon reaches every other error.
/// * *parted* (2 in 16): parts the lanes by class, kills some, and then does anything.
/// * *mapped* (9 in 16): each address has a depth on a stack of random frames, and an operation is
///   only placed where that fits, and mostly targets an address where it fits; predicates, conditions and the targets
///   themselves are random. Runs for long, with lanes in every class and deep stacks.
///
/// One in 16 lies at high addresses.
pub fn raw<R: Rng + ?Sized>(rng: &mut R) -> Program {
    let (name, mut program) = match within(rng, 0..16) {
        0 => ("raw_wild", wild(rng)),
        1..5 => ("raw_weighted", weighted_words(rng)),
        5..7 => ("raw_parted", parted(rng)),
        _ => ("raw_mapped", mapped(rng)),
    };
    if within(rng, 0..16) == 0 {
        raise(rng, &mut program);
    }
    Program {
        name: name.to_owned(),
        ..program
    }
}

fn wild<R: Rng + ?Sized>(rng: &mut R) -> Program {
    let len = within(rng, 1..600);
    let mut regs = raw_registers(rng, len);
    rng.fill(&mut regs.loop_const);
    regs.stack_size = rng.random();
    if chance(rng, 2) {
        // Zero words up to the end of the address space, and beyond it from 0.
        regs.prog_len = u32::MAX - within(rng, 0..3);
        regs.entry = u32::MAX - within(rng, 0..20);
    }
    // With every address random, the first jump would be the last.
    let inside = rng.random();
    let quads = (0..len)
        .map(|_| {
            let dw1: u32 = rng.random();
            Quad {
                dw0: if inside {
                    within(rng, 0..len)
                } else {
                    rng.random()
                },
                dw1,
                u: dw1 >> 29 & 1 == 1 && rng.random(),
            }
        })
        .collect();
    Program::of(regs, quads)
}

/// Returns registers: mostly the whole stack, counts mostly small, others often next to a power of two.
pub(super) fn raw_registers<R: Rng + ?Sized>(rng: &mut R, len: u32) -> Registers {
    let small = rng.random_bool(0.8);
    // A step for which the index stays at 0 or comes back to it.
    let near_zero = within(rng, 0..4) == 0;
    let loop_const = std::array::from_fn(|_| match small {
        true if near_zero => {
            let step = within(rng, -1..2) as u8;
            u32::from(step) << 24 | within(rng, 0..3) << 12 | within(rng, 0..4)
        }
        true => match within(rng, 0..24) {
            0 => rng.random::<u32>() | 0xfff,
            _ => rng.random::<u32>() & 0xffff_f000 | within(rng, 0..4),
        },
        false if rng.random() => rng.random::<u32>() & 0xffff_f000 | corner_count(rng),
        false => rng.random(),
    });
    Registers {
        entry: within(rng, 0..len),
        prog_len: len,
        stack_size: match within(rng, 0..8) {
            0 => within(rng, 0..5),
            1 => within(rng, 0..40),
            2 => rng.random(),
            _ => 32,
        },
        bool_const: rng.random(),
        loop_const,
    }
}

fn weighted_words<R: Rng + ?Sized>(rng: &mut R) -> Program {
    let len = within(rng, 16..400);
    let regs = raw_registers(rng, len);
    let mix = Mix::random(rng);
    let quads = (0..len).map(|_| raw_quad(rng, &mix, len)).collect();
    Program::of(regs, quads)
}

/// The stack at an address: the part of the program, and the number of frames of its profile.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
struct Depth {
    /// In a subroutine: the frames are those above its call frame.
    sub: bool,
    frames: usize,
}

/// A map of depths, and the operations that fit it.
struct Map {
    depths: Vec<Depth>,
    /// The frames on the stack, bottom first, in the main part and above a call frame: an address of
    /// depth d has the first d of them, so that depths fit wherever a jump comes from.
    profiles: [Vec<FrameKind>; 2],
}

impl Map {
    fn profile(&self, at: Depth) -> &[FrameKind] {
        &self.profiles[usize::from(at.sub)]
    }

    /// Returns the number of branch frames on top.
    fn branches(&self, at: Depth) -> usize {
        let frames = &self.profile(at)[..at.frames];
        frames
            .iter()
            .rev()
            .take_while(|f| **f == FrameKind::Branch)
            .count()
    }

    /// Returns whether the innermost frame that is not a branch frame is a loop.
    fn in_loop(&self, at: Depth) -> bool {
        self.branches(at) < at.frames
    }
}

/// An operation on the map: the words except the target, the depth after it, and its target.
struct Operation {
    word: Word,
    u: bool,
    next: usize,
    jump: Jump,
}

#[derive(Clone, Copy)]
enum Jump {
    Nowhere,
    /// To an address with this number of frames.
    To(usize),
    /// Back to the beginning of the pass.
    Back(usize),
    /// Into a subroutine.
    Call,
}

fn mapped<R: Rng + ?Sized>(rng: &mut R) -> Program {
    let deepest = pick(rng, &[2, 4, 8, 16, 32, 64, 128]);
    let len = within(rng, 100..300) + 3 * deepest;
    let mut regs = raw_registers(rng, len as u32);
    let mix = Mix::random(rng);
    // Mostly loops, mostly branches, or both; up to and beyond the whole stack in the main part.
    let loops = pick(rng, &[0, 1, 4, 8, 12, 16]);
    let mut profile = |deepest: usize| -> Vec<FrameKind> {
        let frame = |rng: &mut R| {
            if chance(rng, loops) {
                FrameKind::Loop
            } else {
                FrameKind::Branch
            }
        };
        (0..deepest).map(|_| frame(rng)).collect()
    };
    let profiles = [profile(deepest), profile(6)];
    let mut map = Map {
        depths: vec![],
        profiles,
    };
    let with_subs = rng.random_bool(0.6);
    let first_sub = if with_subs { len * 2 / 3 } else { len };
    let steep = if deepest < 32 { within(rng, 2..9) } else { 9 };
    let mut operations = Vec::with_capacity(len);
    let mut at = Depth {
        sub: false,
        frames: 0,
    };
    for i in 0..len {
        // Ends of parts; subroutines are short and many.
        let border = if i < first_sub {
            first_sub
        } else {
            (first_sub + (i - first_sub) / 24 * 24 + 24).min(len)
        };
        if i >= first_sub && (i - first_sub) % 24 == 0 {
            at = Depth {
                sub: true,
                frames: 0,
            };
        }
        map.depths.push(at);
        let left = border - i - 1;
        let operation = match left {
            0 => border_operation(rng, &mix, at),
            _ => {
                // Every frame is closed before the part ends.
                let down = left <= at.frames + 1;
                let up = !down && within(rng, 0..10) < steep;
                map_operation(rng, &map, &mix, at, up, down, with_subs)
            }
        };
        at.frames = operation.next;
        operations.push(operation);
    }
    let quads = (operations.iter().zip(&map.depths).enumerate())
        .map(|(i, (operation, &at))| {
            let to = |frames| Depth { frames, ..at };
            let addr = match operation.jump {
                Jump::Nowhere => rng.random(),
                Jump::To(frames) => target(rng, &map.depths, i, &to(frames), Way::Forward) as u32,
                Jump::Back(frames) => target(rng, &map.depths, i, &to(frames), Way::Back) as u32,
                Jump::Call => {
                    let subs = (len - first_sub).div_ceil(24).max(1);
                    (first_sub + within(rng, 0..subs) * 24) as u32
                }
            };
            let mut quad = match operation.word {
                Word::Cf(cf) => cf.to(addr).encode(),
                word => word.encode(),
            };
            let (mask0, mask1) = unused(quad);
            quad.dw0 ^= rng.random::<u32>() & mask0;
            quad.dw1 ^= rng.random::<u32>() & mask1;
            quad.u = operation.u;
            // The end, where the last frame is closed or may be: with it, the next PC may be anything.
            if let Word::Cf(cf) = operation.word {
                let closes = match at.sub {
                    true => cf.op == CfOp::Return,
                    false => at.frames <= 1,
                };
                if closes && within(rng, 0..24) == 0 {
                    quad.dw1 |= 1 << 21;
                    if rng.random() {
                        quad.dw0 = len as u32;
                    }
                }
                if is_control(cf.op) && within(rng, 0..300) == 0 {
                    // WQM is error 2 before any other; for LOOP_END here before 3 and 4.
                    if within(rng, 0..4) == 0 {
                        quad.dw1 = Cf::new(CfOp::LoopEnd).encode().dw1;
                    }
                    quad.dw1 |= 1 << 30;
                }
            }
            // Sometimes an operation that does not fit.
            match within(rng, 0..300) {
                0 => raw_quad(rng, &mix, len as u32),
                _ => quad,
            }
        })
        .collect();
    if rng.random_bool(0.8) {
        regs.entry = 0;
    }
    let mut quads: Vec<Quad> = quads;
    if with_subs && chance(rng, 2) {
        // A call at the last address, where the main part ends: it returns to an address outside the program.
        let sub = (first_sub + within(rng, 0..(len - first_sub).div_ceil(24).max(1)) * 24) as u32;
        quads.push(Cf::new(CfOp::Call).to(sub).encode());
        quads[first_sub - 1] = Cf::new(CfOp::Jump).to(len as u32).never().encode();
        regs.prog_len = len as u32 + 1;
    }
    // Or the program ends after a LOOP_END that closes everything.
    let closes = |n: &usize| {
        let ends = matches!(operations[*n].word, Word::Cf(cf) if cf.op == CfOp::LoopEnd);
        ends && operations[*n].next == 0 && !map.depths[*n].sub
    };
    if let Some(n) = (0..len).find(closes).filter(|_| chance(rng, 2)) {
        quads[n].dw1 |= 1 << 21;
        regs.prog_len = n as u32 + 1;
    }
    Program::of(regs, quads)
}

/// Returns a condition as often other than ACTIVE as `mix` says.
fn raw_cond<R: Rng + ?Sized>(rng: &mut R, mix: &Mix) -> Cond {
    match chance(rng, mix.cond) {
        true => Cond::from_bits(rng.random()),
        false => Cond::Active,
    }
}

/// Returns the last operation of a part: another part follows it.
fn border_operation<R: Rng + ?Sized>(rng: &mut R, mix: &Mix, at: Depth) -> Operation {
    let cf = match at.sub {
        // A wave that stays enters the next subroutine, and may return from it.
        true if rng.random() => Cf {
            cond: raw_cond(rng, mix),
            vpm: chance(rng, mix.vpm),
            cf_const: within(rng, 0..32),
            ..Cf::new(CfOp::Return)
        },
        true => Cf::new(CfOp::Return),
        false if chance(rng, 4) => Cf::new(CfOp::Nop).ending(),
        // Back to the beginning.
        false => Cf::new(CfOp::Jump).never(),
    };
    Operation {
        word: Word::Cf(cf),
        u: false,
        next: at.frames,
        jump: if cf.op == CfOp::Jump {
            Jump::Back(0)
        } else {
            Jump::Nowhere
        },
    }
}

/// Returns a random operation for depth `at`, leading up or down if asked to.
fn map_operation<R: Rng + ?Sized>(
    rng: &mut R,
    map: &Map,
    mix: &Mix,
    at: Depth,
    up: bool,
    down: bool,
    subs: bool,
) -> Operation {
    let d = at.frames;
    let branches = map.branches(at);
    let most = if chance(rng, mix.few_pops) { 1 } else { 7 };
    let pops = match within(rng, 0..80) {
        // One more than fit.
        0 => branches.min(6) + 1,
        _ => rng.random_range(0..=branches.min(most)),
    };
    let cond = raw_cond(rng, mix);
    let vpm = chance(rng, mix.vpm);
    let constant = within(rng, 0..32);
    let u = chance(rng, mix.u);
    let operation = |word, u, next, jump| Operation {
        word,
        u,
        next,
        jump,
    };
    let alu = |op, u, next| operation(Word::Alu(Alu::new(op)), u, next, Jump::Nowhere);
    let general = |op| Cf {
        cond,
        vpm,
        cf_const: constant,
        ..Cf::new(op)
    };
    let cf = |op, next, jump| operation(Word::Cf(general(op)), false, next, jump);
    let with_pops = |op, n: usize, next, jump| {
        let cf = general(op).popping(n as u8);
        operation(Word::Cf(cf), false, next, jump)
    };
    // Returns an operation with a POP_COUNT, and the resulting depth at its target.
    let popping = |op, next| with_pops(op, pops, next, Jump::To(d.saturating_sub(pops)));
    let next_frame = map.profile(at).get(d).copied();
    if let Some(frame) = next_frame.filter(|_| up) {
        return match (frame, within(rng, 0..8)) {
            (FrameKind::Branch, 0) => popping(CfOp::Push, d + 1),
            (FrameKind::Branch, 1) => cf(CfOp::PushElse, d + 1, Jump::To(d + 1)),
            (FrameKind::Branch, 2) => alu(AluOp::AluElseAfter, true, d + 1),
            (FrameKind::Branch, _) => alu(AluOp::AluPushBefore, u, d + 1),
            // A loop that only breaks end takes its time.
            (FrameKind::Loop, 0..2) => popping(CfOp::LoopStartDx10, d + 1),
            (FrameKind::Loop, 2..4) => popping(CfOp::LoopStartNoAl, d + 1),
            (FrameKind::Loop, _) => popping(CfOp::LoopStart, d + 1),
        };
    }
    if d > 0 && (down || chance(rng, 5)) {
        return match within(rng, 0..8) {
            _ if branches == 0 => {
                let mut end = general(CfOp::LoopEnd);
                if chance(rng, 2) {
                    end.cond = Cond::False;
                }
                operation(Word::Cf(end), false, d - 1, Jump::Back(d))
            }
            0..3 => alu(AluOp::AluPopAfter, u, d - 1),
            3 if branches > 1 => alu(AluOp::AluPop2After, u, d - 2),
            _ => {
                let n = pops.clamp(1, branches);
                with_pops(CfOp::Pop, n, d - n, Jump::Nowhere)
            }
        };
    }
    let leaves = map.in_loop(at);
    let kind = choose(
        rng,
        &[
            (0, 3),
            (1, 2),
            (2, 2),
            (3, when(branches > 0, 3)),
            (4, when(branches > 0, 1)),
            (5, when(leaves, 1 + mix.leaves / 3)),
            (6, when(leaves, 1 + mix.leaves)),
            (7, when(subs, 2)),
            (8, 1),
            (9, 1),
        ],
    );
    match kind {
        0 => popping(CfOp::Jump, d),
        1 => cf(pick(rng, SLOTS), d, Jump::Nowhere),
        2 => alu(AluOp::Alu, u, d),
        3 => popping(CfOp::Else, d),
        4 => alu(AluOp::AluElseAfter, false, d),
        5 => {
            let op = match chance(rng, mix.continues) {
                true => CfOp::LoopContinue,
                false => CfOp::LoopBreak,
            };
            cf(op, d, Jump::To(d - branches))
        }
        6 if chance(rng, mix.continues) => alu(AluOp::AluContinue, u, d),
        6 => alu(AluOp::AluBreak, u, d),
        7 => {
            let count = pick(rng, &[0, 0, 1, 1, 1, 1, 4, 16]);
            let call = general(CfOp::Call).counting(count);
            operation(Word::Cf(call), false, d, Jump::Call)
        }
        8 if within(rng, 0..8) < mix.kills => cf(CfOp::Kill, d, Jump::To(d)),
        8 if d == 0 && at.sub => cf(CfOp::Return, d, Jump::Nowhere),
        8 => cf(CfOp::Pop, d, Jump::Nowhere),
        _ => {
            let mem = Mem {
                vpm,
                ..Mem::new(pick(rng, MemOp::ALL))
            };
            operation(Word::Mem(mem), false, d, Jump::Nowhere)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    use super::*;
    use crate::r700::program::MAX_QUADS;

    #[test]
    fn raw_programs_come_in_all_sorts() {
        let mut sorts = BTreeMap::new();
        let (mut opcodes, mut illegal) = (BTreeSet::new(), 0);
        for seed in 1..=300 {
            let p = raw(&mut Pcg64Mcg::seed_from_u64(seed));
            assert!((1..=MAX_QUADS).contains(&p.quads.len()), "seed {seed}");
            illegal += u32::from(
                p.quads
                    .iter()
                    .any(|q| matches!(Word::decode(*q), Word::Reserved(..))),
            );
            // ALU format: only the upper four bits of the opcode.
            opcodes.extend(p.quads.iter().map(|q| match q.dw1 >> 29 & 1 {
                0 => q.dw1 >> 23 & 127,
                _ => q.dw1 >> 23 & 0x78,
            }));
            *sorts.entry(p.name).or_insert(0) += 1;
        }
        let names: Vec<&String> = sorts.keys().collect();
        assert_eq!(
            names,
            ["raw_mapped", "raw_parted", "raw_weighted", "raw_wild"]
        );
        assert!(sorts.values().all(|n| *n >= 10), "{sorts:?}");
        assert!((20..200).contains(&illegal), "{illegal}");
        assert_eq!(opcodes.len(), 64 + 8, "{opcodes:?}");
    }

    /// Executed straight on, without jumps, a mapped program has the frames that its instructions need.
    #[test]
    fn maps_fit_the_way_straight_on() {
        let mut deepest = 0;
        for seed in 1..=100 {
            let p = mapped(&mut Pcg64Mcg::seed_from_u64(seed));
            let mut frames: Vec<FrameKind> = vec![];
            let mut misfits = 0;
            for quad in &p.quads {
                let (mut pops, mut ends) = (0, false);
                match Word::decode(*quad) {
                    Word::Alu(alu) => match alu.op {
                        AluOp::AluPushBefore => frames.push(FrameKind::Branch),
                        AluOp::AluElseAfter if quad.u => frames.push(FrameKind::Branch),
                        AluOp::AluPopAfter => pops = 1,
                        AluOp::AluPop2After => pops = 2,
                        _ => {}
                    },
                    Word::Cf(cf) => match cf.op {
                        CfOp::Push | CfOp::PushElse => frames.push(FrameKind::Branch),
                        CfOp::LoopStart | CfOp::LoopStartNoAl | CfOp::LoopStartDx10 => {
                            frames.push(FrameKind::Loop);
                        }
                        CfOp::Pop => pops = cf.pop_count,
                        CfOp::LoopEnd => ends = true,
                        _ => {}
                    },
                    Word::Mem(_) | Word::Reserved(..) => {}
                }
                deepest = deepest.max(frames.len());
                for wanted in (0..pops)
                    .map(|_| FrameKind::Branch)
                    .chain(ends.then_some(FrameKind::Loop))
                {
                    misfits += u32::from(frames.pop() != Some(wanted));
                }
            }
            // One word in 300 is random; the frame that it removes or leaves is missing or superfluous later.
            assert!(misfits < 60, "seed {seed}: {misfits} misfits");
        }
        assert!(deepest > 60, "{deepest}");
    }
}
