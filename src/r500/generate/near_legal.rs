//! Structured programs with one thing changed.

use rand::Rng;

use super::raw::{Mix, raw_slot};
use super::{Options, structured};
use crate::r500::isa::{AOp, BOp, Fc, Op, PredSel, Type};
use crate::r500::program::{MEMORY_SLOTS, Program};
use reconverge_program::generate::pick;

/// Returns a structured program of any kind with one change: a field of one word, a word in another
/// place, a constant, a register.
///
/// The result may still be structured (if the changed field has no effect, or the form becomes a neighbouring
/// one), may run for ever, or may end in any error.
pub fn near_legal<R: Rng + ?Sized>(rng: &mut R) -> Program {
    let options = Options::random(rng);
    let mut program = structured(rng, &options);
    program.name = "near_legal".to_owned();
    if rng.random_bool(0.15) {
        break_registers(rng, &mut program);
    } else {
        break_word(rng, &mut program);
    }
    // Drop the slots that another OFFSET_ADDR moved out of the memory: a saved case with them would be refused.
    let room = MEMORY_SLOTS - usize::from(program.regs.offset());
    program.slots.truncate(room);
    program
}

fn break_registers<R: Rng + ?Sized>(rng: &mut R, program: &mut Program) {
    let regs = &mut program.regs;
    let moved = |word: u32, by: u32| word & !0x1ff | word.wrapping_add(by) & 0x1ff;
    // One more or one less: both are close to the limit of what is legal.
    let by = if rng.random() { 1 } else { 0x1ff };
    match rng.random_range(0..8) {
        0 => regs.fc_ctrl ^= 1 << 31,
        1 => regs.code_offset = moved(regs.code_offset, by),
        2 => regs.code_addr = moved(regs.code_addr, by),
        3 => regs.code_addr = moved(regs.code_addr >> 16, by) << 16 | regs.code_addr & 0xffff,
        4 => regs.code_range = moved(regs.code_range, by),
        5 => {
            let size = program.slots.len() as u32;
            regs.code_range = rng.random_range(0..size) << 16 | u32::from(regs.offset());
        }
        6 => regs.bool_const ^= 1 << rng.random_range(0..32),
        _ => {
            const COUNTS: [u32; 4] = [0, 1, 2, 255];
            let constant = &mut regs.int_const[rng.random_range(0..32)];
            *constant = *constant & !0xff | pick(rng, &COUNTS);
        }
    }
}

fn break_word<R: Rng + ?Sized>(rng: &mut R, program: &mut Program) {
    let flow: Vec<usize> = (0..program.slots.len())
        .filter(|&i| Fc::decode(program.slots[i]).is_some())
        .collect();
    let any = rng.random_range(0..program.slots.len());
    let n = match flow.len() {
        0 => any,
        _ => pick(rng, &flow),
    };
    let Some(mut fc) = Fc::decode(program.slots[n]) else {
        program.slots[n] = raw_slot(rng, &Mix::TAME);
        return;
    };
    let i = &mut fc;
    match rng.random_range(0..20) {
        0 => i.op = Op::from_bits(rng.random()),
        1 => i.b_else = !i.b_else,
        2..4 => i.jump_any = !i.jump_any,
        4 => i.a_op = AOp::from_bits(rng.random()),
        5 => i.jump_func = rng.random(),
        // Off by one in either direction.
        6..9 => i.b_pop_cnt = (i.b_pop_cnt + if rng.random() { 1 } else { 31 }) & 31,
        9 => i.b_op0 = BOp::from_bits(rng.random()),
        10 => i.b_op1 = BOp::from_bits(rng.random()),
        11 => i.ignore_uncovered = !i.ignore_uncovered,
        12 => fc.pred_sel = PredSel::from_bits(rng.random()),
        13 => fc.int_addr = rng.random_range(0..32),
        14 => fc.jump_addr = rng.random_range(0..512),
        15 => fc.jump_addr = (fc.jump_addr + if rng.random() { 1 } else { 511 }) & 511,
        16 => fc.jump_global = !fc.jump_global,
        17 => fc.ty = Type::Alu,
        18 => return program.slots[any] = program.slots[n],
        _ => return program.slots.swap(n, any),
    }
    program.slots[n] = fc.encode();
}
