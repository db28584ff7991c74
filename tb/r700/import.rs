//! Objects of LLVM's r600 back end: programs from good ones, errors for bad ones.
//!
//! Good objects are held against the assembly listing that the same compiler wrote
//! (`tb/r700/programs/llvm/*.s`) and against r700-8.2; dumps of Mesa's form against the object that they print. Bad ones are good ones with bytes changed.

use std::fs;
use std::path::{Path, PathBuf};

use reconverge::elf::{LONGEST_SYMBOL, MAX_FUNCTIONS};
use reconverge::r700::asm::{assemble, hex_text, parse_hex, program_text};
use reconverge::r700::import::{functions, list, load};
use reconverge::r700::program::{MAX_QUADS, Program, Quad};
use reconverge::unit::{LoadOptions, Loaded};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tb/r700/programs/llvm");

fn object(name: &str) -> Vec<u8> {
    fs::read(format!("{FOLDER}/{name}.o")).unwrap()
}

fn which(choice: &str) -> LoadOptions {
    LoadOptions {
        which: Some(choice.to_owned()),
        ..LoadOptions::default()
    }
}

fn import(bytes: &[u8], choice: Option<&str>) -> Loaded<Program> {
    let options = choice.map(which).unwrap_or_default();
    load(bytes, "dir/x.o", &options).unwrap_or_else(|e| panic!("{e}"))
}

/// The error for a bad file.
fn refused(bytes: &[u8], choice: Option<&str>) -> String {
    let options = choice.map(which).unwrap_or_default();
    match load(bytes, "x.o", &options) {
        Err(e) => e.to_string(),
        Ok(p) => panic!("accepted: {p:?}"),
    }
}

mod amd;
mod dumps;
mod functions;
mod listings;
mod objects;
