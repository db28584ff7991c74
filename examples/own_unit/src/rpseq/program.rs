//! Programs of rpseq.

use reconverge::words::{self, Bits, Row, Words, bits};

// Operations, with target 0.
pub const ALU: u32 = 0;
pub const SSY: u32 = 1 << 16;
pub const BR: u32 = 2 << 16;
pub const JOIN: u32 = 3 << 16;
pub const YIELD: u32 = 4 << 16;
pub const JMP: u32 = 5 << 16;
pub const END: u32 = 6 << 16;

/// The table of the words.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Code;

#[rustfmt::skip]
impl words::Code for Code {
    const BITS: u32 = 20;
    const OPCODE: Bits = bits(19, 16);
    const TARGET: Bits = bits(15, 0);
    const TABLE: &'static [Row] = &[
        Row::new    ("ALU",   ALU,   "nothing that matters for flow control"),
        Row::leading("SSY",   SSY,   "the active lanes are pushed: at the target they meet"),
        Row::leading("BR",    BR,    "lanes whose condition is 1 go to the target; if some do and some do not, these wait on the stack"),
        Row::new    ("JOIN",  JOIN,  "the active lanes have arrived; those on top of the stack go on where their entry says"),
        Row::new    ("YIELD", YIELD, "the active lanes change places with those on top of the stack, if none is in both"),
        Row::leading("JMP",   JMP,   "goes on at the target"),
        Row::new    ("END",   END,   "the program is done, if nothing is on the stack"),
    ];
    const OUTSIDE: u32 = 0xf_0000;
}

/// A program, from address 0 on; behind its end every word is illegal.
pub type Program = Words<Code>;
