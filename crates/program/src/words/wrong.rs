//! What finds a wrong row of a table of words: the comparison with what a machine does.

use std::collections::BTreeMap;

use super::{Code, Words, put};

/// Words of at most so many bits are all tried, and as many of longer ones.
const ALL: u32 = 22;

/// Compares the table with a machine that decodes words by itself: a golden model, RTL. `does` returns what it does with a word, in states
/// that tell instructions and operands apart. All words are tried, of more than 22 bits four million that lie evenly. Returns what is wrong:
///
/// * an opcode without a row does something other than [`Code::OUTSIDE`]: an instruction is missing;
/// * an opcode with a row does what [`Code::OUTSIDE`] does: there is no such instruction;
/// * a bit that is no operand changes what an instruction does: a field is too narrow or in a wrong place;
/// * a bit of an operand changes nothing in these states: a field is too wide or in a wrong place, or the states lack one in which it
///   matters.
///
/// Two rows with each other's opcode are found only by a test that says what each mnemonic does.
pub fn wrong_rows<C: Code, D: PartialEq>(mut does: impl FnMut(u32) -> D) -> Vec<String> {
    let illegal = does(C::OUTSIDE);
    let opcode = put(C::OPCODE, 0, u32::MAX);
    // Of each opcode: whether it exists, and the other bits that change what is done.
    let mut opcodes: BTreeMap<u32, (bool, u32)> = BTreeMap::new();
    for n in 0..1 << C::BITS.min(ALL) {
        let word = match C::BITS <= ALL {
            true => n,
            false => u32::wrapping_mul(n, 0x9e37_79b9) >> (32 - C::BITS),
        };
        let done = does(word);
        let (exists, matter) = opcodes.entry(word & opcode).or_default();
        *exists |= done != illegal;
        for bit in (0..C::BITS).map(|bit| 1 << bit) {
            if bit & (opcode | *matter) == 0 && does(word ^ bit) != done {
                *matter |= bit;
            }
        }
    }
    let mut wrong = Vec::new();
    for (code, (exists, matter)) in opcodes {
        let Some(row) = Words::<C>::row(code) else {
            wrong.extend(exists.then(|| format!("opcode {code:#x} has no row")));
            continue;
        };
        let (name, operands) = (row.name, Words::<C>::operands(row));
        let kinds = [
            (matter & !operands, "matter, and are no operand"),
            (
                operands & !matter,
                "are an operand, and change nothing in these states",
            ),
        ];
        match exists {
            false => wrong.push(format!("there is no {name}")),
            true => wrong.extend(
                (kinds.iter().filter(|(bits, _)| *bits != 0))
                    .map(|(bits, what)| format!("{name}: bits {bits:#x} {what}")),
            ),
        }
    }
    wrong
}
