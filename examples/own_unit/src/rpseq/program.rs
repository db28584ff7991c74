//! Programs of rpseq.

use reconverge::words::{self, Mnemonic, Words};

// Operations, with target 0.
pub const ALU: u32 = 0;
pub const SSY: u32 = 1 << 16;
pub const BR: u32 = 2 << 16;
pub const JOIN: u32 = 3 << 16;
pub const YIELD: u32 = 4 << 16;
pub const JMP: u32 = 5 << 16;
pub const END: u32 = 6 << 16;

/// What the words of a program are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Code;

impl words::Code for Code {
    const BITS: u32 = 20;
    const TARGET: u32 = 16;
    #[rustfmt::skip]
    const MNEMONICS: &'static [Mnemonic] = &[
        ("ALU", ALU, false), ("SSY", SSY, true), ("BR", BR, true), ("JOIN", JOIN, false), ("YIELD", YIELD, false),
        ("JMP", JMP, true), ("END", END, false),
    ];
    const OUTSIDE: u32 = 0xf_0000;
}

/// A program, from address 0 on; behind its end every word is illegal.
pub type Program = Words<Code>;
