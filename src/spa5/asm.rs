//! The text forms of a program: `.s` in the syntax of NVIDIA's disassembler, and `.hex`.
//!
//! Source: spa5-2 and spa5-8 in `docs/spec/spa5.md`.
//!
//! | layer | what |
//! |---|---|
//! | [`Code`](super::isa::Code) | instructions to bundles: control words, labels |
//! | [`assemble`] | the `.s` dialect, and listings of `nvdisasm`, see [`text`] |
//! | [`parse_hex`] | `.hex`: one word per line, see [`text`] |
//! | [`disassemble`], [`program_text`], [`hex_text`] | the way back, see [`dis`] |

use super::isa::BlockOp;
use super::program::{BUNDLE, MAX_BUNDLES, Program, WORDS};
use reconverge_bench::input::InputError;
use reconverge_program::assembly::Assembly;

pub mod dis;
pub mod text;

pub use dis::{disassemble, hex_text, program_text, statement};
pub use text::{assemble, parse_hex};

/// Returns the word of an opcode that this unit does not support, when only the mnemonic is given: PT and T
/// where others have a condition.
const fn bare(op: BlockOp) -> u64 {
    (op.bits() as u64) << 52 | 0x7_000F
}

impl Assembly for Program {
    fn name(&self) -> &str {
        &self.name
    }

    fn rename(&mut self, name: String) {
        self.name = name;
    }

    fn check(&self, file: &str) -> Result<(), InputError> {
        let bad = |field: &str, why: String| Err(InputError::new(file, 0, field, why));
        if self.words.len() > MAX_BUNDLES * WORDS {
            let why = format!(
                "{} words, there is room for {}",
                self.words.len(),
                MAX_BUNDLES * WORDS
            );
            return bad("words", why);
        }
        if !self.words.len().is_multiple_of(WORDS) {
            return bad(
                "words",
                format!("must be whole bundles, not {} words", self.words.len()),
            );
        }
        // spa5-6: not allowed, and no check exists.
        if !self.prog_size.is_multiple_of(BUNDLE) {
            return bad(
                "prog_size",
                format!("must be a multiple of {BUNDLE}, not {}", self.prog_size),
            );
        }
        if !self.entry.is_multiple_of(8) {
            return bad(
                "entry",
                format!("must be a multiple of 8, not {}", self.entry),
            );
        }
        let base = self.prog_base;
        if !base.is_multiple_of(BUNDLE) {
            return bad(
                "prog_base",
                format!("must be a multiple of {BUNDLE}, not {base}"),
            );
        }
        if base > self.last_base() {
            let size = self.prog_size;
            let why = format!("{base}: with prog_size {size} the program does not end in 32 bits");
            return bad("prog_base", why);
        }
        Ok(())
    }

    fn disassemble(&self, pc: u32) -> String {
        disassemble(self.word(pc), pc, self)
    }

    fn statement(&self, pc: u32) -> String {
        statement(self.word(pc), pc)
    }

    fn to_text(&self) -> String {
        program_text(self)
    }

    fn assemble(text: &str, file: &str) -> Result<Self, InputError> {
        assemble(text, file)
    }
}
