//! Names: which are allowed, and which are reserved.

use crate::MOST_NAME;
use crate::error::Error;
use crate::table::Table;

/// Reserved words of Rust and SystemVerilog, and names that the bench top uses. Contains only those keywords that a user
/// might choose as a name; the compilers find the others.
const RESERVED: [&str; 61] = [
    "abstract",
    "always",
    "and",
    "as",
    "assign",
    "async",
    "await",
    "become",
    "bench_i",
    "begin",
    "bit",
    "box",
    "break",
    "buf",
    "byte",
    "case",
    "clk_i",
    "const",
    "continue",
    "disable",
    "do",
    "dut",
    "else",
    "end",
    "enum",
    "event",
    "final",
    "fn",
    "for",
    "force",
    "golden_i",
    "if",
    "in",
    "in_i",
    "in_q",
    "inout",
    "input",
    "int",
    "kept",
    "load_i",
    "loop",
    "match",
    "mismatch_o",
    "mod",
    "module",
    "move",
    "not",
    "or",
    "output",
    "priority",
    "reg",
    "repeat",
    "return",
    "self",
    "signed",
    "state_o",
    "struct",
    "type",
    "unsafe",
    "use",
    "wire",
];

/// Prefixes of generated names.
const PREFIXES: [&str; 5] = ["kept_", "pad", "probe_", "load_", "valid_"];

/// Returns whether `text` is a SystemVerilog identifier without escapes.
pub(super) fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && text.len() <= MOST_NAME
}

/// Reads a name that becomes part of other names.
pub(super) fn part_of_names(table: &Table, key: &'static str) -> Result<String, Error> {
    let name = table.required_string(key)?;
    if !is_identifier(&name) || name.starts_with('_') || name.chars().any(|c| c.is_uppercase()) {
        let limit = format!("a to z, 0 to 9 and _, at most {MOST_NAME} of them");
        return Err(table.error(key, format!("{name:?} is not a name: {limit}")));
    }
    Ok(name)
}

/// Reads a name that must be valid in Rust, SystemVerilog and C.
pub(super) fn name(table: &Table, key: &'static str) -> Result<String, Error> {
    let name = part_of_names(table, key)?;
    if RESERVED.contains(&name.as_str()) {
        let why = format!("{name:?} is a word that the generated files need");
        return Err(table.error(key, why));
    }
    if PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
        let why = format!("{name:?} begins as generated names do");
        return Err(table.error(key, why));
    }
    Ok(name)
}

/// Returns a suitable name for the pin or field of port `port`: in lower case, without the suffix for its direction.
pub fn name_of(port: &str) -> String {
    let name = port.to_ascii_lowercase();
    let name = match (name.strip_suffix("_ni"), name.strip_suffix("_no")) {
        (Some(name), _) | (_, Some(name)) => format!("{name}_n"),
        _ => {
            let short = name.strip_suffix("_i").or(name.strip_suffix("_o"));
            short.unwrap_or(&name).to_owned()
        }
    };
    let name = name.trim_start_matches('_');
    let begins = PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    match begins || !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        true => format!("p_{name}"),
        false if RESERVED.contains(&name) => format!("{name}_port"),
        false => name.to_owned(),
    }
}

/// Reads the name of a module, port or parameter of the RTL.
pub(super) fn port(table: &Table, key: &'static str) -> Result<Option<String>, Error> {
    let port = table.string(key)?;
    port.map(|name| port_name(table, key, name)).transpose()
}

pub(super) fn port_name(table: &Table, key: &'static str, name: String) -> Result<String, Error> {
    match is_identifier(&name) {
        true => Ok(name),
        false => {
            let limit = format!("letters, digits and _, at most {MOST_NAME} of them");
            Err(table.error(key, format!("{name:?} is not an identifier: {limit}")))
        }
    }
}

pub(super) fn ports(table: &Table, key: &'static str) -> Result<Option<Vec<String>>, Error> {
    let Some(names) = table.strings(key)? else {
        return Ok(None);
    };
    let names = names.into_iter().map(|name| port_name(table, key, name));
    names.collect::<Result<_, _>>().map(Some)
}
