//! Cubins and raw bundles: programs from good ones, errors for bad ones.
//!
//! Good files are held against what NVIDIA's nvdisasm printed for them (`tb/spa5/programs/*/nvdisasm.txt`,
//! `*.sass`) and against spa5-2.5 and spa5-8. Bad ones are made here, or are good ones with bytes changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use reconverge::design::{Build, Design};
use reconverge::spa5::Spa5;
use reconverge::spa5::asm::{assemble, disassemble, hex_text, parse_hex, program_text};
use reconverge::spa5::import::{kernels, list, load};
use reconverge::spa5::isa::{self, CONTROL, LeaveOp, NOP, Word, is_control};
use reconverge::spa5::program::{MAX_BUNDLES, Program};
use reconverge::unit::{LoadOptions, Loaded, Unit};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tb/spa5/programs");

const SYNC: u64 = 0xf0f8_0000_0007_000f;
const EXIT: u64 = 0xe300_0000_0007_000f;
const BRX: u64 = 0xe250_0000_0007_000f;

fn real(name: &str) -> Vec<u8> {
    fs::read(format!("{FOLDER}/cubin/{name}.cubin")).unwrap()
}

fn which(choice: &str) -> LoadOptions {
    LoadOptions {
        which: Some(choice.to_owned()),
        ..LoadOptions::default()
    }
}

fn import(bytes: &[u8], choice: Option<&str>) -> Loaded<Program> {
    let options = choice.map(which).unwrap_or_default();
    load(bytes, "dir/x.cubin", &options).unwrap_or_else(|e| panic!("{e}"))
}

/// The error for a bad file.
fn refused(bytes: &[u8], choice: Option<&str>) -> String {
    let options = choice.map(which).unwrap_or_default();
    match load(bytes, "x", &options) {
        Err(e) => e.to_string(),
        Ok(p) => panic!("accepted: {p:?}"),
    }
}

/// The files of a kind.
fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(format!("{FOLDER}/{folder}"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == ending))
        .collect();
    found.sort();
    found
}

/// Address and fields of each instruction.
fn instructions(program: &Program) -> impl Iterator<Item = (u32, Word)> {
    (0..)
        .step_by(8)
        .zip(&program.words)
        .filter(|(pc, _)| !is_control(*pc))
        .map(|(pc, word)| (pc, Word::decode(*word)))
}

/// A list of targets is of a SYNC, a BRK or a BRX.
fn is_listed(word: Word) -> bool {
    match word {
        Word::Indirect(_) => true,
        Word::Leave(leave) => matches!(leave.op, LeaveOp::Sync | LeaveOp::Brk),
        _ => false,
    }
}

mod bundles;
mod cubins;
mod links;
mod listings;
mod others;
mod refused;
