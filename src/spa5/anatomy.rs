//! An instruction word taken apart (spa5-2.3).

use super::isa::{CONTROL, NOP, Word};
use super::program::{BUNDLE, Program};
use crate::explain::{Anatomy, Part, field};
use reconverge_program::layout::Bits;

/// Returns the instruction with this word, in slot 0 of the first bundle.
///
/// # Errors
/// There is not exactly one word.
pub(super) fn anatomy(words: &[u64]) -> Result<Anatomy<Program>, String> {
    let &[bits] = words else {
        return Err(format!(
            "an instruction is one word of 64 bits; given: {}",
            words.len()
        ));
    };
    let word = Word::decode(bits);
    let opcode =
        |high: u32, rule: &str| field("opcode", (63, high), "which instruction it is", rule);
    let place = |bits: Bits| (bits.high, bits.low);
    let own = word.fields();
    let own = (own.iter()).map(|f| field(f.name, place(f.bits), f.about, f.rule));
    let mut fields: Vec<_> = own.collect();
    // One more bit distinguishes SYNC (spa5-2.3-h).
    let sync = word.name() == Some("SYNC");
    fields.push(match word {
        Word::Unsupported(..) => opcode(52, "spa5-2.3-q"),
        Word::Illegal(_) => opcode(52, "spa5-2.3-r"),
        Word::Other(_) => opcode(56, "spa5-2.3-s"),
        _ if sync => opcode(51, "spa5-2.3-h"),
        _ => opcode(52, "spa5-2.3-a"),
    });
    let operation = match word {
        Word::Unsupported(..) | Word::Illegal(_) => None,
        Word::Other(_) => Some("OTHER"),
        word => word.name(),
    };
    Ok(Anatomy {
        program: Program {
            prog_size: BUNDLE,
            words: vec![CONTROL, bits, NOP, NOP],
            ..Program::default()
        },
        pc: 8,
        operation: operation.map(str::to_owned),
        parts: vec![Part::new("word", bits, 64, fields)],
    })
}
