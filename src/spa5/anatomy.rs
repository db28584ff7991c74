//! An instruction word taken apart (spa5-2.3).

use super::isa::{CONTROL, NOP, Target, Word};
use super::program::{BUNDLE, Program};
use crate::explain::{Anatomy, Part, field};

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
    let offset = field(
        "off24",
        (43, 20),
        "signed byte offset from pc + 8",
        "spa5-2.2-a",
    );
    let predicate = [
        field(
            "pppp, invert",
            (19, 19),
            "1 = the predicate is inverted",
            "spa5-2.4-a",
        ),
        field(
            "pppp",
            (18, 16),
            "number of the predicate: 7 PT (always true)",
            "spa5-2.4-a",
        ),
    ];
    let test = field("ccccc", (4, 0), "CC test: 15 T (always true)", "spa5-2.4-c");
    let form = field(
        "constant bank",
        (5, 5),
        "0 = target in the word; 1 = offset in a constant bank",
        "spa5-2.3-n",
    );
    let absolute = word.target().is_some_and(Target::is_absolute);
    let offset = match absolute {
        true => field("imm32", (51, 20), "absolute byte address", "spa5-2.2-d"),
        false => offset,
    };
    let opcode =
        |high: u32, rule: &str| field("opcode", (63, high), "which instruction it is", rule);
    let mut fields = match word {
        Word::SetUp(_) => vec![
            offset,
            form,
            field(
                "NOINC",
                (6, 6),
                "CAL, JCAL and PRET: 0 = .NOINC, without effect here",
                "spa5-2.3-o",
            ),
        ],
        Word::Branch(_) => {
            let mut fields = vec![
                offset,
                form,
                test,
                field(
                    ".U",
                    (7, 7),
                    "1 = unanimous: taken by all or by none",
                    "spa5-4.3-c",
                ),
                field(".LMT", (6, 6), "no effect here", "spa5-2.3-o"),
            ];
            fields.extend(predicate);
            fields
        }
        Word::Indirect(_) => {
            let mut fields = vec![
                offset,
                form,
                test,
                field(
                    "register",
                    (15, 8),
                    "number of the register that is added to the target",
                    "spa5-A-a",
                ),
            ];
            fields.extend(predicate);
            fields
        }
        Word::Leave(_) => {
            let mut fields = vec![
                test,
                field(
                    ".KEEPREFCOUNT",
                    (5, 5),
                    "EXIT: no effect here",
                    "spa5-2.3-o",
                ),
            ];
            fields.extend(predicate);
            fields
        }
        Word::Unsupported(..) | Word::Illegal(_) | Word::Other(_) => Vec::new(),
    };
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
    if let Some(Target::Bank { .. }) = word.target() {
        fields.retain(|field| field.name != "off24");
        fields.push(field(
            "bank",
            (40, 36),
            "number of the constant bank",
            "spa5-2.3-n",
        ));
        fields.push(field("address", (35, 20), "address in it", "spa5-2.3-n"));
    }
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
