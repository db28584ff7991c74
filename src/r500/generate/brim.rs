//! Raw programs that begin in a state where everything is full: counters at their limit and both stacks at their last
//! entries at once. Random words reach these only one at a time.

use rand::Rng;

use super::STACK_DEPTH;
use super::raw::{Mix, raw_slot, wide_registers};
use crate::r500::isa::{AOp, BOp, Fc, Op};
use crate::r500::program::{MEMORY_SLOTS, Program};
use reconverge_program::generate::{chance, pick};

/// Returns blocks that each fill counters and stacks and then do anything. Launches go anywhere: the rest of a block
/// leads to the next.
pub(super) fn brim<R: Rng + ?Sized>(rng: &mut R) -> Program {
    let full = rng.random_bool(0.9);
    let mut regs = wide_registers(rng, full);
    regs.code_range = 511 << 16;
    if rng.random() {
        // END_ADDR is the last address; otherwise it lies somewhere in the program.
        regs.code_addr |= 0x1ff << 16;
    }
    for constant in &mut regs.int_const {
        // A count of at least 2, so that loops are entered.
        *constant |= 2;
    }
    let mix = Mix {
        incr: pick(rng, &[4, 13]),
        b_ops: 14,
        short_pops: 6,
        ..Mix::random(rng)
    };
    let length = MEMORY_SLOTS - usize::from(regs.offset());
    let mut slots = Vec::with_capacity(length);
    while slots.len() < length {
        let here = slots.len();
        slots.extend(rise(rng, full).into_iter().zip(here..).map(|(mut fc, n)| {
            // Whatever the lanes decide, the next instruction follows.
            fc.jump_addr = (n + 1) as u16 & 0x1ff;
            fc.encode()
        }));
        let anything = rng.random_range(1..6);
        slots.extend((0..anything).map(|_| {
            let mut slot = raw_slot(rng, &mix);
            if let Some(mut fc) = Fc::decode(slot) {
                let deep = [Op::Loop, Op::Rep, Op::Jump, fc.op];
                fc.op = pick(rng, &deep);
                if full && chance(rng, 8) {
                    fc.a_op = pick(rng, &[AOp::Push, AOp::Pop]);
                }
                // As much as there is.
                if chance(rng, 4) {
                    fc.b_pop_cnt = 31;
                }
                slot = fc.encode();
            }
            slot
        }));
    }
    slots.truncate(length);
    Program::of(regs, slots)
}

/// Returns instructions, in any order, that fill counters and stacks: INCRs to about the limit of the branch counters, LOOPs and
/// CALLs to about that of the stacks.
fn rise<R: Rng + ?Sized>(rng: &mut R, full: bool) -> Vec<Fc> {
    let (levels, depth) = match full {
        true => (28..34, STACK_DEPTH),
        false => (2..5, 0),
    };
    let mut all = Vec::new();
    // Lanes that are off from the start, and mostly no later ones: their counters are equal.
    let late = rng.random_range(0..4);
    for n in 0..rng.random_range(levels) {
        let by_lane = n == 0 || chance(rng, late);
        all.push(Fc {
            jump_func: if by_lane { 0x0f } else { 0 },
            b_op0: BOp::Incr,
            b_op1: BOp::Incr,
            ..Fc::NOP
        });
    }
    for _ in 0..rng.random_range(0..=depth) {
        let begin = Fc {
            op: pick(rng, &[Op::Loop, Op::Rep]),
            jump_any: true,
            ..Fc::NOP
        };
        all.insert(rng.random_range(1..all.len()), begin);
    }
    for _ in 0..rng.random_range(0..=depth) {
        let call = Fc {
            a_op: AOp::Push,
            jump_func: 0xff,
            ..Fc::NOP
        };
        all.insert(rng.random_range(1..all.len()), call);
    }
    all
}
