//! The words of an instruction taken apart (r700-2).

use super::isa::Word;
use super::program::{Program, Quad, Registers};
use crate::explain::{Anatomy, Part, field, halves};

/// Fields of DW1 of the memory and export format, which has no table.
const MEMORY: [(&str, (u32, u32), &str); 6] = [
    ("BARRIER", (31, 31), "no effect here"),
    ("WHOLE_QUAD_MODE (WQM)", (30, 30), "ignored"),
    ("CF_INST", (29, 23), "opcode"),
    (
        "VALID_PIXEL_MODE (VPM)",
        (22, 22),
        "count lanes that are not valid as off",
    ),
    (
        "END_OF_PROGRAM",
        (21, 21),
        "the program ends after this instruction",
    ),
    ("", (20, 0), "not read by the sequencer"),
];

/// Returns the instruction with the words DW0 and DW1.
///
/// # Errors
/// The number of words is another, or a word has more than 32 bits.
pub(super) fn anatomy(words: &[u64]) -> Result<Anatomy<Program>, String> {
    let words = halves(words)?;
    let &[dw0, dw1] = &words[..] else {
        return Err(format!(
            "an instruction has two words, DW0 DW1; given: {}",
            words.len()
        ));
    };
    let quad = Quad { dw0, dw1, u: false };
    let word = Word::decode(quad);
    let table = |section: &str| {
        vec![
            Part::of("DW1", dw1, section, 1),
            Part::of("DW0", dw0, section, 0),
        ]
    };
    let (operation, parts) = match word {
        Word::Alu(alu) => (Some(alu.op.name()), table("r700-2.3")),
        Word::Cf(cf) => (Some(cf.op.name()), table("r700-2.2")),
        Word::Reserved(..) if dw1 >> 29 & 1 == 1 => (None, table("r700-2.3")),
        Word::Mem(_) | Word::Reserved(..) if dw1 >> 28 & 1 == 1 => {
            let fields = MEMORY.map(|(name, bits, says)| field(name, bits, says, "r700-2.4-a"));
            // To the sequencer, each of them is a slot (r700-4.3-a).
            let operation = matches!(word, Word::Mem(_)).then_some("export");
            (
                operation,
                vec![Part::new("DW1", dw1.into(), 32, fields.to_vec())],
            )
        }
        Word::Mem(_) | Word::Reserved(..) => (None, table("r700-2.2")),
    };
    Ok(Anatomy {
        program: Program {
            regs: Registers {
                prog_len: 1,
                ..Registers::default()
            },
            quads: vec![quad],
            ..Program::default()
        },
        pc: 0,
        operation: operation.map(str::to_owned),
        parts,
    })
}
