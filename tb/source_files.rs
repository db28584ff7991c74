//! What holds for every source file: its length, that units do not know each other, and how tests start programs.

use std::fs;
use std::path::Path;

use reconverge::ROOT;

/// Every Rust file below `path` with its text, each by its path from `src` on.
fn files(src: &Path, path: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(src, &path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let name = path.strip_prefix(src).unwrap();
            found.push((
                name.display().to_string(),
                fs::read_to_string(&path).unwrap(),
            ));
        }
    }
}

/// The source files of the crate in `folder`.
fn sources(folder: &str) -> Vec<(String, String)> {
    let src = Path::new(ROOT).join(folder).join("src");
    let mut found = Vec::new();
    files(&src, &src, &mut found);
    found
}

/// Whether the code of `text` names the module `other` of the crate.
fn names(text: &str, other: &str) -> bool {
    let code = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let code = code.collect::<Vec<_>>().join("\n");
    code.split("crate::").skip(1).any(|path| {
        let named = match path.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap_or(list),
            None => path.split(',').next().unwrap_or(path),
        };
        let mut all = named.split(',');
        all.any(|name| name.trim().starts_with(&format!("{other}::")))
    })
}

/// Units can be read, changed and copied one by one.
#[test]
fn no_unit_names_another() {
    let units = ["r500", "r700", "spa5"];
    let mut count = 0;
    for (name, text) in sources(".") {
        let own = name.split('/').next().unwrap_or_default();
        if units.contains(&own) {
            for other in units.iter().filter(|other| **other != own) {
                assert!(!names(&text, other), "{name} names {other}");
            }
            count += 1;
        }
    }
    assert!(count > 60, "{count} files");
    for (text, named) in [
        ("use crate::r500::R500;", true),
        ("use crate::{text, r500::R500};", true),
        ("// crate::r500::R500", false),
    ] {
        assert_eq!(names(text, "r500"), named, "{text}");
    }
}

/// The first line of the golden model or the scalar machine in `text` that uses another part of its unit which decodes words or knows the
/// answer. Enums of the table of words, which name numbers and decode nothing, may be used.
fn leans<'a>(part: &str, text: &'a str) -> Option<&'a str> {
    let mut code = text
        .lines()
        .take_while(|line| !line.starts_with("mod tests"))
        .filter(|line| !line.trim_start().starts_with("//"));
    let other = ["golden", "scalar"].into_iter().find(|name| *name != part);
    let modules = other.into_iter().chain(["asm", "environment", "layout"]);
    let modules: Vec<String> = modules.map(|name| format!("{name}::")).collect();
    code.find(|line| {
        let of_table = line.split_once("isa::").map(|(_, names)| names);
        let enums = |names: &str| {
            let names = names.split(|c: char| !c.is_alphanumeric());
            let mut names = names.filter(|name| !name.is_empty()).peekable();
            // A list over several lines, or all of them, has no name here.
            names.peek().is_some()
                && names.all(|name| ["AOp", "BOp", "Op", "PredSel"].contains(&name))
        };
        modules.iter().any(|module| line.contains(module))
            || of_table.is_some_and(|names| !enums(names))
    })
}

/// A mistake in a decoder that two of them share would be one on which they agree.
#[test]
fn golden_model_and_scalar_machine_decode_by_themselves() {
    let mut count = 0;
    for (name, text) in sources(".") {
        let parts: Vec<&str> = name.split(['/', '.']).collect();
        let part = parts.get(1).copied().unwrap_or_default();
        // Tests compare the decoders.
        let compares = parts.contains(&"tests") || parts.contains(&"table");
        if ["golden", "scalar"].contains(&part) && !compares {
            assert_eq!(leans(part, &text), None, "{name}");
            count += 1;
        }
    }
    assert!(count >= 12, "{count} files");
    for (line, wrong) in [
        ("use super::isa::{AOp, Op};", false),
        ("use super::isa::{Fc, Op};", true),
        ("let word = crate::spa5::isa::Word::decode(word);", true),
        ("use super::isa::*;", true),
        ("use super::isa::{", true),
        ("use super::scalar::Fc;", true),
        ("use reconverge_program::layout::get;", true),
    ] {
        assert_eq!(leans("golden", line).is_some(), wrong, "{line}");
    }
}

/// A file is read in one go. Tests at its end do not count.
const MAX_LINES: usize = 800;

#[test]
fn no_file_is_longer_than_one_reads() {
    let mut count = 0;
    let tests = Path::new(ROOT).join("tb");
    let mut found = Vec::new();
    files(&tests, &tests, &mut found);
    for (name, text) in found {
        let lines = text.lines().count();
        assert!(lines <= MAX_LINES, "tb: {name}: {lines} lines");
        count += 1;
    }
    let crates = fs::read_dir(Path::new(ROOT).join("crates")).unwrap();
    let crates: Vec<_> = crates
        .map(|entry| format!("crates/{}", entry.unwrap().file_name().to_str().unwrap()))
        .collect();
    for part in ["."].into_iter().chain(crates.iter().map(String::as_str)) {
        for (name, text) in sources(part) {
            let lines = text
                .lines()
                .take_while(|line| !line.starts_with("mod tests {"));
            let lines = lines.count();
            assert!(lines <= MAX_LINES, "{part}: {name}: {lines} lines");
            count += 1;
        }
    }
    assert!(count > 300, "{count} files");
}

/// The first line of a test's source that starts an optional tool, or our command, without `tool::command`.
fn starts_by_itself(text: &str) -> Option<&str> {
    let tools = include_str!("optional_tools").lines();
    let programs = tools.map(|tool| format!("{tool:?})"));
    let programs = programs.chain(["env!(".to_owned()]);
    let starts: Vec<String> = programs
        .map(|program| format!("Command::new({program}"))
        .collect();
    text.lines()
        .find(|line| starts.iter().any(|start| line.contains(start)))
}

/// Else a test would find tools that it does not name: tb/common/tool.rs.
#[test]
fn no_test_starts_an_optional_tool_by_itself() {
    let (tb, mut found) = (Path::new(ROOT).join("tb"), Vec::new());
    files(&tb, &tb, &mut found);
    for (name, text) in &found {
        assert_eq!(starts_by_itself(text), None, "tb/{name}");
    }
    for tool in ["\"yosys\"", "env!(\"CARGO_BIN_EXE_reconverge\")"] {
        let started = format!("fn test() {{\n    Command::new({tool})\n");
        assert!(starts_by_itself(&started).is_some(), "{tool}");
    }
}

/// Tests in a crate that is left out of the test build are never run, and pass for ever.
#[test]
fn the_command_has_no_unit_tests_for_they_would_not_be_compiled() {
    let mut count = 0;
    for (name, text) in sources("crates/command") {
        let for_tests =
            |line: &str| line.trim_start().starts_with("#[cfg(") && line.contains("test");
        assert!(!text.lines().any(for_tests), "{name}");
        count += 1;
    }
    assert!(count > 20, "{count} files");
}
