//! Text to words and back: instruction fields, assembler, disassembler, importers.
//!
//! Expected words are copied from `docs/spec/r500.md`, never computed.

use crate::texts;
use rand::{Rng as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;
use reconverge::input::InputError;
use reconverge::r500::asm::{
    Cond, Line, Stmt, Targets, assemble, disassemble, expand, parse_hex, statement,
};
use reconverge::r500::import::{Format, Imported, Options, import, load, recognise};
use reconverge::r500::isa::{Fc, PredSel};
use reconverge::r500::program::{Program, Registers, Slot};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tb/r500/programs");

fn read(name: &str) -> String {
    std::fs::read_to_string(format!("{FOLDER}/{name}")).unwrap()
}

fn example(name: &str) -> Program {
    assemble(&read(name), name).unwrap()
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
mod import;
mod limits;
mod logs;
