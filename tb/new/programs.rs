//! `new --programs` writes the example `rpseq` under another name. `tb/guest.rs` compiles and runs such a crate.

use std::fs;
use std::path::Path;
use std::process::Command;

use reconverge_declaration::Declaration;

use super::refused;
use crate::common::{ROOT, arg, reconverge_ends, text};

/// Calls `take` with each file below `dir`.
fn files(dir: &Path, take: &mut impl FnMut(&Path)) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path, take),
            false => take(&path),
        }
    }
}

#[test]
fn a_sequencer_is_written_under_the_name_of_the_crate() {
    let dir = tempfile::tempdir().unwrap();
    // `golden` is called as a module of it, and `frame` would be the type Frame.
    for (name, kind) in [
        ("my-seq", "MySeq"),
        ("golden", "GoldenUnit"),
        ("frame", "FrameUnit"),
    ] {
        let at = dir.path().join(name);
        let said = reconverge_ends(0, &["new", arg(&at), "--programs"]);
        let (mut count, name) = (0, name.replace('-', "_"));
        files(&at, &mut |file| {
            let written = fs::read_to_string(file).unwrap();
            for example in ["rpseq", "RpSeq", "own_unit", "crate::common", "Family"] {
                assert!(!written.contains(example), "{file:?}: {example}");
            }
            count += 1;
        });
        assert_eq!(count, 18, "{said}");
        let sources = ["build.rs", "src/lib.rs", "src/main.rs", "tests/programs.rs"];
        let mut check = Command::new("rustfmt");
        check.args(["--check", "--edition", "2024"]).args(sources);
        let formatted = check.current_dir(&at).output().unwrap();
        assert!(formatted.status.success(), "{}", text(&formatted.stdout));
        let toml = fs::read_to_string(at.join("rtl/design.toml")).unwrap();
        let made = Declaration::parse("design.toml", &toml).unwrap();
        assert_eq!((&made.name, &made.top), (&name, &name));
        let main = fs::read_to_string(at.join("src/main.rs")).unwrap();
        assert!(main.contains(&format!("guest::<{kind}>()")), "{main}");
        for line in said.lines().skip(1) {
            let file = line.split_whitespace().next().unwrap();
            assert!(at.join(file).is_file() || file.contains('*'), "{line}");
        }
    }
    let there = dir.path().join("golden");
    refused(&["new", arg(&there), "--programs"], "already exists");
    let stack = dir.path().join("rpstack");
    refused(
        &["new", arg(&stack), "--programs"],
        "--programs: rpstack is",
    );
    assert!(!stack.exists());
    let both = ["new", arg(&stack), "--programs", "--top", "m"];
    refused(&both, "'--programs' cannot be used with '--top <MODULE>'");
    refused(&["new", arg(&stack)], "--rtl <FILE>");
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
