//! Text to words and back: assembler, disassembler, `.hex`.
//!
//! Expected words are copied from `docs/spec/spa5.md` or follow spa5-2 bit by bit; expected texts are what NVIDIA's nvdisasm
//! 12.4 prints for them.

use std::collections::BTreeMap;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use reconverge::input::InputError;
use reconverge::spa5::asm::text::is_hex;
use reconverge::spa5::asm::{assemble, disassemble, hex_text, parse_hex, program_text};
use reconverge::spa5::isa::{self, CONTROL, NOP, Word};
use reconverge::spa5::program::{MAX_BUNDLES, Program};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tb/spa5/programs");

fn example(name: &str) -> Program {
    let text = std::fs::read_to_string(format!("{FOLDER}/{name}")).unwrap();
    assemble(&text, name).unwrap()
}

fn program(text: &str) -> Program {
    assemble(text, "t.s").unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The instructions of `text`, without the control words.
fn words(text: &str) -> Vec<u64> {
    let words = program(text).words;
    words
        .chunks(4)
        .flat_map(|b| b[1..].iter().copied())
        .collect()
}

/// The first instruction of `text`, which lies at 8.
fn first(text: &str) -> u64 {
    words(text)[0]
}

/// The error of a `.s` file.
fn refused(text: &str) -> InputError {
    match assemble(text, "t.s") {
        Err(e) => e,
        Ok(_) => panic!("accepted:\n{text}"),
    }
}

fn around(words: Vec<u64>) -> Program {
    Program {
        name: "t".to_owned(),
        prog_size: words.len() as u32 * 8,
        words,
        ..Program::default()
    }
}

mod disassembly;
mod forms;
mod limits;
mod misuse;
