//! Text to words and back: instruction fields, statements, assembler, disassembler.
//!
//! Expected words are copied from `docs/spec/r700.md` or follow r700-2 bit by bit, never computed.

use crate::texts;
use rand::{Rng as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;
use reconverge::input::InputError;
use reconverge::r700::asm::{
    ElseForm, EndifForm, Line, LoopKind, Stmt, When, assemble, disassemble, expand, hex_text,
    parse_hex, program_text, statement,
};
use reconverge::r700::isa::{Alu, AluOp, Cf, CfOp, Clause, Kcache, Mem, MemOp, Word};
use reconverge::r700::program::{MAX_QUADS, Program, Quad, Registers};

fn quad(dw0: u32, dw1: u32) -> Quad {
    Quad { dw0, dw1, u: false }
}

fn with_u(dw0: u32, dw1: u32) -> Quad {
    Quad { dw0, dw1, u: true }
}

/// The error of a `.s` file.
fn refused(text: &str) -> InputError {
    match assemble(text, "t.s") {
        Err(e) => e,
        Ok(_) => panic!("accepted:\n{text}"),
    }
}

mod disassembly;
mod forms;
mod limits;
