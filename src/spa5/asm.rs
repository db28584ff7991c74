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

pub mod dis;
pub mod text;

pub use dis::{disassemble, hex_text, program_text, statement};
pub use text::{assemble, parse_hex};

/// Returns the word of an opcode that this unit does not support, when only the mnemonic is given: PT and T
/// where others have a condition.
const fn bare(op: BlockOp) -> u64 {
    (op.bits() as u64) << 52 | 0x7_000F
}
