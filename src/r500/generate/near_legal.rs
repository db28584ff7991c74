//! Structured programs with one thing changed.

use rand::Rng;

use super::raw::{Mix, raw_slot};
use super::{Options, structured};
use crate::r500::isa::Fc;
use crate::r500::program::{MEMORY_SLOTS, Program};
use reconverge_program::generate::near_legal::{Fault, break_one, find, with_other_value};
use reconverge_program::generate::{pick, within};

/// Returns a structured program of any kind with one change: a field of one word, a word in another
/// place, a constant, a register.
///
/// The result may still be structured (if the changed field has no effect, or the form becomes a neighbouring
/// one), may run for ever, or may end in any error.
pub fn near_legal<R: Rng + ?Sized>(rng: &mut R) -> Program {
    let options = Options::random(rng);
    let mut program = structured(rng, &options);
    program.name = "near_legal".to_owned();
    break_one(rng, &mut program, &faults());
    // Drop the slots that another OFFSET_ADDR moved out of the memory: a saved case with them would be refused.
    let room = MEMORY_SLOTS - usize::from(program.regs.offset());
    program.slots.truncate(room);
    program
}

/// Returns the number of a random flow-control instruction, and the instruction.
fn find_flow<R: Rng + ?Sized>(rng: &mut R, program: &Program) -> Option<(usize, Fc)> {
    let all = (0..).zip(&program.slots);
    let flow = all.filter_map(|(n, slot)| Some((n, Fc::decode(*slot)?)));
    find(rng, flow, |_| true)
}

fn faults<R: Rng + ?Sized>() -> [Fault<R, Program>; 4] {
    [
        ("field of a word", 28, |rng, program| {
            let (n, fc) = find_flow(rng, program)?;
            let field = pick(rng, Fc::FIELDS);
            let words = with_other_value(rng, field.bits, fc.words());
            program.slots[n] = Fc::of(words).encode();
            Some(())
        }),
        ("B_POP_CNT", 6, |rng, program| {
            let (n, mut fc) = find_flow(rng, program)?;
            fc.b_pop_cnt = pick(rng, &[fc.b_pop_cnt + 1, fc.b_pop_cnt.wrapping_sub(1)]);
            program.slots[n] = fc.encode();
            Some(())
        }),
        ("word", 2, |rng, program| {
            let n = within(rng, 0..program.slots.len());
            program.slots[n] = raw_slot(rng, &Mix::TAME);
            Some(())
        }),
        ("register", 8, |rng, program| {
            break_registers(rng, program);
            Some(())
        }),
    ]
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
