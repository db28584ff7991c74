//! Random words of a table, and the faults that its fields suggest.

use rand::Rng;

use super::{Code, Words, led_to, put};
use crate::generate::near_legal::{Fault, any, with_other_value};
use crate::generate::{chance, pick, within};

/// Returns a random word: mostly one of the table, with targets that are mostly in a program of `length` instructions.
pub fn draw<C: Code, R: Rng + ?Sized>(rng: &mut R, length: usize) -> u32 {
    let word = rng.random::<u32>() >> (32 - C::BITS);
    if chance(rng, 1) {
        return word;
    }
    let row = &C::TABLE[within(rng, 0..C::TABLE.len())];
    let mut word = put(C::OPCODE, word, 0) | row.word;
    if !chance(rng, 1) {
        word = Words::<C>::read(row, word);
        for bits in Words::<C>::leads(word) {
            word = led_to(word, bits, within(rng, 0..length as u32) as usize);
        }
    }
    word
}

/// Returns the faults of any program of such words: another value in a field, another opcode, a bit that the instruction ignores.
pub fn faults<C: Code, R: Rng + ?Sized>() -> [Fault<R, Words<C>>; 3] {
    [
        ("field", 2, |rng, program| {
            let number = any(rng, program)?;
            let word = program.words[number];
            let fields = Words::<C>::row(word)?.fields;
            let field = fields.get(within(rng, 0..fields.len().max(1)))?;
            let [word] = with_other_value(rng, field.bits, [word.into()]);
            program.words[number] = word as u32;
            Some(())
        }),
        ("opcode", 2, |rng, program| {
            let number = any(rng, program)?;
            let [word] = with_other_value(rng, &[C::OPCODE], [program.words[number].into()]);
            program.words[number] = word as u32;
            Some(())
        }),
        ("ignored", 1, |rng, program| {
            let number = any(rng, program)?;
            let word = program.words[number];
            let row = Words::<C>::row(word)?;
            let said = row.word | Words::<C>::operands(row) | put(C::OPCODE, 0, u32::MAX);
            let ignored: Vec<u32> = (0..C::BITS).filter(|bit| said >> bit & 1 == 0).collect();
            if ignored.is_empty() {
                return None;
            }
            program.words[number] = word ^ 1 << pick(rng, &ignored);
            Some(())
        }),
    ]
}
