//! Raw programs: random words, constants and registers, with weights and maps that keep them running.

use rand::Rng;

use super::STACK_DEPTH;
use super::brim::brim;
use crate::r500::isa::{AOp, BOp, Fc, Op, PredSel, Type};
use crate::r500::program::{MEMORY_SLOTS, Program, Registers, Slot};
use reconverge_program::generate::{Dice, Way, chance, knobs, pick, target, within};

knobs! {
    /// Weights of a raw program, in sixteenths unless stated otherwise.
    #[derive(Clone, Copy)]
    pub(super) struct Mix;

    pub(super) const TAME;

    /// Flow control rather than ALU, TEX, OUT.
    pub(super) flow: u32 = 16,
    /// Field values that are error 1, in 256ths.
    pub(super) illegal256: u32 = 2,
    /// `B_POP_CNT` of 0 to 3.
    pub(super) short_pops: u32 = 14,
    /// INCR, if there is a branch operation; otherwise DECR.
    pub(super) incr: u32 = 8,
    /// A branch operation.
    pub(super) b_ops: u32 = 10,
    /// `B_ELSE`.
    pub(super) b_else: u32 = 3,
    /// `JUMP_GLOBAL`.
    pub(super) global: u32 = 8,
    /// A table that depends on the lane, rather than any table.
    pub(super) by_lane: u32 = 8,
}

impl Mix {
    pub(super) fn random<R: Rng + ?Sized>(rng: &mut R) -> Mix {
        Mix {
            flow: if rng.random_bool(0.7) {
                14
            } else {
                rng.random_range(4..=16)
            },
            illegal256: if rng.random_bool(0.8) { 0 } else { 1 },
            short_pops: rng.random_range(8..=16),
            // Counters near their limit need programs that mostly increment them.
            incr: rng.random_range(5..=13),
            b_ops: rng.random_range(4..=14),
            b_else: within(rng, 0..6),
            global: if rng.random() {
                16
            } else {
                rng.random_range(0..=16)
            },
            by_lane: rng.random_range(4..=14),
        }
    }
}

/// Returns three random words by the weights of `mix`: any operation, any target.
pub(super) fn raw_slot<R: Rng + ?Sized>(rng: &mut R, mix: &Mix) -> Slot {
    let (low, high): (u64, u64) = (rng.random(), rng.random());
    let mut slot = Slot::new(low as u32, (low >> 32) as u32, high as u32);
    let mut dice = Dice::draw(rng);
    if !dice.chance(mix.flow) {
        if slot.cmn & 3 == Type::Fc.bits() {
            slot.cmn ^= 2;
        }
        return slot;
    }
    // The upper half of `high` is four numbers of eight bits.
    let illegal = |n: u32| (high >> (32 + 8 * n)) as u32 & 0xff < mix.illegal256;
    slot.cmn = slot.cmn & !3 | Type::Fc.bits();
    let mut i = Fc::of([slot.cmn.into(), slot.inst.into(), slot.addr.into()]);
    let legal = PredSel::from_bits(2 + dice.below(4));
    if !illegal(0) && matches!(i.pred_sel.bits(), 1 | 6 | 7) {
        i.pred_sel = legal;
    }
    if dice.chance(mix.short_pops) {
        i.b_pop_cnt &= 3;
    }
    const TABLES: [u8; 6] = [0x0f, 0xf0, 0x33, 0xcc, 0x3c, 0x7e];
    let table = TABLES[dice.below(6) as usize];
    if dice.chance(mix.by_lane) {
        i.jump_func = table;
    }
    i.b_else = dice.chance(mix.b_else);
    for (n, op) in [(1, &mut i.b_op0), (2, &mut i.b_op1)] {
        let (changes, incr) = (dice.chance(mix.b_ops), dice.chance(mix.incr));
        *op = match () {
            () if illegal(n) => BOp::Reserved,
            () if !changes => BOp::None,
            () if incr => BOp::Incr,
            () => BOp::Decr,
        };
    }
    if i.a_op == AOp::Reserved && !illegal(3) {
        i.a_op = AOp::None;
    }
    i.jump_global = dice.chance(mix.global);
    let (words, free) = (i.encode(), Fc::RESERVED);
    Slot::new(
        words.cmn | slot.cmn & free.cmn,
        words.inst | slot.inst & free.inst,
        words.addr | slot.addr & free.addr,
    )
}

/// Returns random words with random registers. Four kinds:
///
/// * *wild* (1 in 16): every bit random, registers too. Ends within a few instructions, mostly in
///   error 1, 2 or 9.
/// * *weighted* (4 in 16): any operation anywhere, values mostly legal. Soon reaches every other
///   error: under- and overflows of both stacks, targets outside the window.
/// * *brim* (2 in 16): fills counters and stacks to about their limits, and then does anything.
/// * *mapped* (9 in 16): each address has a loop depth and a call depth, and an operation is
///   only placed, and only targets an address, where those depths fit; tables, branch operations
///   and the targets themselves are random. Runs for long, with lanes in every class, full stacks
///   and counters at the limit.
pub fn raw<R: Rng + ?Sized>(rng: &mut R) -> Program {
    let (name, program) = match within(rng, 0..16) {
        0 => ("raw_wild", wild(rng)),
        1..5 => ("raw_weighted", weighted(rng)),
        5..7 => ("raw_brim", brim(rng)),
        _ => ("raw_mapped", mapped(rng)),
    };
    Program {
        name: name.to_owned(),
        ..program
    }
}

fn wild<R: Rng + ?Sized>(rng: &mut R) -> Program {
    let mut regs = Registers {
        fc_ctrl: rng.random(),
        code_addr: rng.random(),
        code_range: rng.random(),
        code_offset: rng.random(),
        bool_const: rng.random(),
        int_const: [0; 32],
    };
    rng.fill(&mut regs.int_const);
    if rng.random() {
        // Otherwise three of four would end at the first fetch.
        regs.code_range = 511 << 16;
        regs.code_offset &= 63;
    }
    let slots = (0..MEMORY_SLOTS - usize::from(regs.offset()))
        .map(|_| Slot::new(rng.random(), rng.random(), rng.random()))
        .collect();
    Program::of(regs, slots)
}

/// Returns registers that leave room: mostly the whole memory is code, and counts are mostly small.
pub(super) fn wide_registers<R: Rng + ?Sized>(rng: &mut R, full: bool) -> Registers {
    let offset: u32 = if rng.random() { 0 } else { within(rng, 0..128) };
    let (low, size) = match within(rng, 0..4) {
        0 => (rng.random_range(0..=offset), within(rng, 400..512)),
        _ => (0, 511),
    };
    let mut regs = Registers {
        fc_ctrl: u32::from(full) << 31 | rng.random::<u32>() >> 1,
        code_addr: rng.random::<u32>() & 0xfe00_fe00
            | within(rng, 0..512u32) << 16
            | within(rng, 0..256u32),
        code_range: rng.random::<u32>() & 0xfe00_fe00 | size << 16 | low,
        code_offset: rng.random::<u32>() & !0x1ff | offset,
        bool_const: rng.random(),
        int_const: [0; 32],
    };
    let small = rng.random_bool(0.7);
    for constant in &mut regs.int_const {
        *constant = rng.random();
        if small {
            *constant = *constant & !0xff | within(rng, 0..5);
        } else if rng.random() {
            // Most of the 256 counts behave like any other.
            *constant = *constant & !0xff | pick(rng, &[0, 1, 2, 254, 255]);
        }
    }
    regs
}

/// Returns the operation for this kind of loop.
fn by_kind(rep: bool, of_loop: Op, of_rep: Op) -> Op {
    if rep { of_rep } else { of_loop }
}

fn weighted<R: Rng + ?Sized>(rng: &mut R) -> Program {
    let full = rng.random_bool(0.85);
    let regs = wide_registers(rng, full);
    let mix = Mix::random(rng);
    // Operations on a stack, and how many of them push, in sixteenths: with as many pops as pushes,
    // every run would end in an underflow.
    let stacks = if full {
        rng.random_range(1..=8)
    } else {
        within(rng, 0..2)
    };
    let pushes = rng.random_range(9..=14);
    // Only one kind of loop, or both and with them error 4.
    let kinds = within(rng, 0..3);
    let slots = (0..MEMORY_SLOTS - usize::from(regs.offset()))
        .map(|_| {
            let mut slot = raw_slot(rng, &mix);
            let Some(mut i) = Fc::decode(slot) else {
                return slot;
            };
            let rep = match kinds {
                0 => false,
                1 => true,
                _ => rng.random(),
            };
            let push = chance(rng, pushes);
            i.op = match (chance(rng, stacks), push) {
                (false, _) => Op::Jump,
                (true, true) => by_kind(rep, Op::Loop, Op::Rep),
                (true, false) => match within(rng, 0..4) {
                    0 => Op::Continue,
                    1 => by_kind(rep, Op::BreakLoop, Op::BreakRep),
                    _ => by_kind(rep, Op::EndLoop, Op::EndRep),
                },
            };
            let push = chance(rng, pushes);
            i.a_op = match (chance(rng, stacks), push) {
                _ if i.a_op == AOp::Reserved => AOp::Reserved,
                (false, _) => AOp::None,
                (true, true) => AOp::Push,
                (true, false) => AOp::Pop,
            };
            slot.inst = i.encode().inst | slot.inst & Fc::RESERVED.inst;
            slot
        })
        .collect();
    Program::of(regs, slots)
}

/// The depths that hold at an address of a mapped program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
struct Depths {
    loops: usize,
    calls: usize,
}

/// A map of depths, and the operations that fit it.
struct Map {
    depths: Vec<Depths>,
    /// One kind of loop for each depth, so that kinds match wherever a jump comes from.
    reps: [bool; STACK_DEPTH],
    /// The loop depth at which subroutines of each call depth begin and return.
    base: [usize; STACK_DEPTH + 1],
    /// Deepest call depth on the map.
    callers: usize,
}

impl Map {
    fn random<R: Rng + ?Sized>(rng: &mut R, full: bool, length: usize) -> Map {
        let (deepest, callers) = match full {
            true => (
                rng.random_range(0..=STACK_DEPTH),
                rng.random_range(0..=STACK_DEPTH),
            ),
            false => (0, 0),
        };
        let mut base = [0; STACK_DEPTH + 1];
        for calls in 1..=STACK_DEPTH {
            base[calls] = rng.random_range(base[calls - 1]..=deepest.min(base[calls - 1] + 1));
        }
        let steep = within(rng, 4..24);
        // Only calls and returns change the call depth, so call depths form zones; each occurs twice.
        let zone = (length / (2 * callers + 2)).max(1);
        let depths = (0..length)
            .scan(Depths { loops: 0, calls: 0 }, |at, i| {
                let calls = (i / zone) % (callers + 1);
                let above = at.loops - base[at.calls];
                if calls != at.calls {
                    *at = Depths {
                        loops: base[calls],
                        calls,
                    };
                } else if zone - i % zone <= 2 * above || i + 2 * above >= length {
                    // The loops of a zone end before it does, so that its last jump has targets.
                    at.loops -= usize::from(above > 0);
                } else if within(rng, 0..steep) == 0 {
                    match above == 0 || rng.random_bool(0.6) {
                        true => at.loops += usize::from(at.loops < deepest),
                        false => at.loops -= 1,
                    }
                }
                Some(*at)
            })
            .collect();
        Map {
            depths,
            reps: rng.random(),
            base,
            callers,
        }
    }

    /// Returns the target of the operation at `i`.
    fn target<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        i: usize,
        (op, a_op, wanted): (Op, AOp, Depths),
    ) -> usize {
        let way = match op {
            _ if a_op == AOp::Push => Way::Anywhere,
            Op::EndLoop | Op::EndRep => Way::Back,
            _ => Way::Forward,
        };
        target(rng, &self.depths, i, &wanted, way)
    }

    /// Returns whether another call depth begins after the instruction at `i`, or the map ends.
    fn is_border(&self, i: usize) -> bool {
        self.depths
            .get(i + 1)
            .is_none_or(|n| n.calls != self.depths[i].calls)
    }

    /// Returns operation, address operation and the depths at the jump's target, for the instruction at `i`.
    fn operation<R: Rng + ?Sized>(&self, rng: &mut R, i: usize) -> (Op, AOp, Depths) {
        let at = self.depths[i];
        let next = self.depths.get(i + 1).copied();
        let loops = next
            .filter(|n| n.calls == at.calls)
            .map_or(at.loops, |n| n.loops);
        if loops > at.loops {
            let op = by_kind(self.reps[at.loops], Op::Loop, Op::Rep);
            return (op, AOp::None, at);
        }
        if loops < at.loops {
            let op = by_kind(self.reps[loops], Op::EndLoop, Op::EndRep);
            return (op, AOp::None, at);
        }
        let outside = Depths {
            loops: at.loops.saturating_sub(1),
            ..at
        };
        match within(rng, 0..16) {
            0..2 if at.loops > self.base[at.calls] => {
                let op = by_kind(self.reps[outside.loops], Op::BreakLoop, Op::BreakRep);
                (op, AOp::None, outside)
            }
            2..4 if at.loops > 0 => (Op::Continue, AOp::None, at),
            4..7 if at.calls < self.callers && at.loops == self.base[at.calls + 1] => (
                Op::Jump,
                AOp::Push,
                Depths {
                    calls: at.calls + 1,
                    ..at
                },
            ),
            7..9 if at.calls > 0 && at.loops == self.base[at.calls] => (Op::Jump, AOp::Pop, at),
            _ => (Op::Jump, AOp::None, at),
        }
    }
}

fn mapped<R: Rng + ?Sized>(rng: &mut R) -> Program {
    let full = rng.random_bool(0.85);
    let mut regs = wide_registers(rng, full);
    if rng.random_bool(0.9) {
        // Most runs would end where a part of the map is cut off.
        regs.code_range = 511 << 16;
    }
    let offset = regs.offset();
    let mix = Mix::random(rng);
    let map = Map::random(rng, full, MEMORY_SLOTS - usize::from(offset));
    let outside = Depths { loops: 0, calls: 0 };
    let from = within(rng, 0..map.depths.len() / 2);
    let start = (from..map.depths.len())
        .find(|&i| map.depths[i] == outside)
        .unwrap_or_default();
    regs.code_addr = regs.code_addr & !0x1ff | start as u32;
    if rng.random() {
        // Otherwise a sweep over the map would end at END_ADDR.
        regs.code_addr |= 0x1ff << 16;
    }
    let mut slots = Vec::with_capacity(map.depths.len());
    for (i, &at) in map.depths.iter().enumerate() {
        let mut slot = raw_slot(rng, &mix);
        let next = map.depths.get(i + 1);
        // Only a LOOP or its end may stand where the map changes, and no path may continue where it
        // ends or a subroutine begins.
        let border = map.is_border(i);
        if next != Some(&at) && slot.cmn & 3 != Type::Fc.bits() {
            slot = raw_slot(rng, &Mix { flow: 16, ..mix });
        }
        if let Some(mut fc) = Fc::decode(slot) {
            let mut operation = map.operation(rng, i);
            if border {
                operation = (Op::Jump, AOp::None, at);
                (fc.jump_func, fc.jump_any) = (0xff, false);
            }
            (fc.op, fc.a_op) = (operation.0, operation.1);
            if matches!(fc.op, Op::Loop | Op::Rep) && rng.random_bool(0.8) {
                (fc.jump_func, fc.jump_any) = (0, true);
            }
            let target = map.target(rng, i, operation) as u16;
            let base = if fc.jump_global { offset } else { 0 };
            fc.jump_addr = target + base;
            let words = fc.encode();
            slot.inst = words.inst | slot.inst & Fc::RESERVED.inst;
            slot.addr = words.addr | slot.addr & Fc::RESERVED.addr;
        }
        slots.push(slot);
    }
    Program::of(regs, slots)
}
