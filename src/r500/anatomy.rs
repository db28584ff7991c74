//! The words of an instruction taken apart (r500-2).

use super::isa::{Fc, Type};
use super::program::{Program, Slot};
use crate::explain::{Anatomy, Part, halves};

/// Returns the instruction with these words: the three that the sequencer reads (`US_CMN_INST`, `US_FC_INST`, `US_FC_ADDR`), or all six.
///
/// # Errors
/// The number of words is another, or a word has more than 32 bits.
pub(super) fn anatomy(words: &[u64]) -> Result<Anatomy<Program>, String> {
    let words = halves(words)?;
    let slot = match words[..] {
        [cmn, inst, addr] => Slot::new(cmn, inst, addr),
        [w0, w1, w2, w3, w4, w5] => Slot::from_words([w0, w1, w2, w3, w4, w5]),
        _ => {
            return Err(format!(
                "an instruction has three words that the sequencer reads, US_CMN_INST US_FC_INST US_FC_ADDR, or all six; given: {}",
                words.len()
            ));
        }
    };
    let fc = Fc::decode(slot);
    let mut parts = vec![Part::of("US_CMN_INST", slot.cmn, "r500-2.2", 0)];
    if fc.is_some() {
        parts.push(Part::of("US_FC_INST", slot.inst, "r500-2.3", 0));
        parts.push(Part::of("US_FC_ADDR", slot.addr, "r500-2.4", 0));
    }
    Ok(Anatomy {
        program: Program {
            slots: vec![slot],
            ..Program::default()
        },
        pc: 0,
        operation: Some(match fc {
            Some(fc) => fc.op.name().to_owned(),
            None => Type::from_bits(slot.cmn).name().to_owned(),
        }),
        parts,
    })
}
