//! The designs that this program knows, as far as those modules need them that do not run anything: names for the command line, and
//! whose a file is.

use std::sync::OnceLock;

use clap::builder::PossibleValuesParser;

/// What is known of a design.
#[derive(Clone, Copy)]
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// Names the format of a file that only this design reads, and says whether it runs it.
    pub recognises: fn(&[u8]) -> Option<(String, bool)>,
    /// Returns whether a file, with its name, is a program of this design.
    pub reads: fn(&[u8], &str) -> bool,
}

static KNOWN: OnceLock<Vec<Known>> = OnceLock::new();

/// Sets what this program knows, once, before the command line is parsed.
pub fn know(all: Vec<Known>) {
    let _ = KNOWN.set(all);
}

/// Returns all designs that this program knows.
pub fn known() -> &'static [Known] {
    KNOWN.get().map_or(&[], Vec::as_slice)
}

/// Returns the names of all.
pub fn names() -> impl Iterator<Item = &'static str> {
    known().iter().map(|known| known.name)
}

/// Returns all but the one called `name`.
pub fn others(name: &str) -> impl Iterator<Item = &'static Known> {
    known().iter().filter(move |known| known.name != name)
}

/// Returns the values that clap accepts as a unit.
pub fn unit_names() -> PossibleValuesParser {
    PossibleValuesParser::new(names())
}

/// Returns the same with `all`.
pub fn unit_names_and_all() -> PossibleValuesParser {
    PossibleValuesParser::new(names().chain(["all"]))
}
