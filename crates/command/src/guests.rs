//! The designs that this program knows, as far as those modules need them that do not run anything: names for the command line, and
//! whose a file is.

use std::path::Path;
use std::sync::{LazyLock, OnceLock};

use clap::builder::PossibleValuesParser;
use reconverge::field::Declaration;
use reconverge::rules;

/// What is known of a design.
#[derive(Clone, Copy)]
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// What it declares.
    pub declaration: &'static Declaration,
    /// Whether its RTL is linked into this program.
    pub linked: bool,
    /// What is known of its programs, if it runs any.
    pub programs: Option<Reads>,
    /// The text of its specification; empty if there is none, or the rules are known without it.
    pub specification: &'static str,
}

/// Which files a design reads.
#[derive(Clone, Copy)]
pub struct Reads {
    /// Names the format of a file that only this design reads, and says whether it runs it.
    pub recognises: fn(&[u8]) -> Option<(String, bool)>,
    /// Returns whether a file, with its name, is a program of this design.
    pub reads: fn(&[u8], &str) -> bool,
}

static KNOWN: OnceLock<Vec<Known>> = OnceLock::new();

/// Sets what this program knows, once, before the command line is parsed.
pub fn know(all: Vec<Known>) {
    let specified = all.iter().filter(|known| !known.specification.is_empty());
    rules::know(specified.map(|known| (known.name, known.specification)));
    let _ = KNOWN.set(all);
}

/// Returns all designs that this program knows.
pub fn known() -> &'static [Known] {
    KNOWN.get().map_or(&[], Vec::as_slice)
}

/// Returns the only design that this program knows, if there is just one. Its name is left out of the command line.
pub fn only() -> Option<&'static Known> {
    match known() {
        [one] => Some(one),
        _ => None,
    }
}

/// Returns the names of all.
pub fn names() -> impl Iterator<Item = &'static str> {
    known().iter().map(|known| known.name)
}

/// Returns what to say of a name that is none of them.
pub fn unknown() -> String {
    let names: Vec<_> = names().collect();
    format!("is unknown; there are {}", names.join(", "))
}

/// Returns the designs but the one called `name` that run programs.
pub fn others(name: &str) -> impl Iterator<Item = (&'static str, Reads)> {
    let others = known().iter().filter(move |known| known.name != name);
    others.filter_map(|known| Some((known.name, known.programs?)))
}

/// Returns command `what` for the design `name` as a user types it.
pub fn for_design(what: &str, name: &str) -> String {
    match only() {
        Some(_) => what.to_owned(),
        None => format!("{what} {name}"),
    }
}

/// Returns the values that clap accepts as a unit.
pub fn unit_names() -> PossibleValuesParser {
    PossibleValuesParser::new(names())
}

/// Returns those for commands that need programs.
pub fn program_unit_names() -> PossibleValuesParser {
    let runs = known().iter().filter(|known| known.programs.is_some());
    PossibleValuesParser::new(runs.map(|known| known.name))
}

/// Returns the same as [`unit_names`] with `all`.
pub fn unit_names_and_all() -> PossibleValuesParser {
    PossibleValuesParser::new(names().chain(["all"]))
}

/// Returns the name of this program's file, in messages and help.
pub fn called() -> &'static str {
    static NAME: LazyLock<String> = LazyLock::new(|| {
        let path = std::env::args().next().unwrap_or_default();
        let name = Path::new(&path).file_name();
        name.map_or_else(
            || "reconverge".to_owned(),
            |name| name.to_string_lossy().into_owned(),
        )
    });
    &NAME
}
