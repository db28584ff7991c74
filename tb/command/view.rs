//! `view`: views of dumps, and those that are committed.

use std::fs;

use crate::common::{arg, command_in, reconverge, reconverge_ends, refusal, text};

/// Regression: `view` replaced the view of a failure, which has a marker, by one without.
#[test]
fn view_keeps_the_view_of_a_failure_and_refuses_a_dump_of_another_unit() {
    let dir = tempfile::tempdir().unwrap();
    let program = "tb/r500/programs/if_else.s";
    let out = ["--flip", "pc[0].0@9", "--out", arg(dir.path())];
    reconverge_ends(1, &[&["run", "r500", program][..], &out].concat());
    let dump = dir.path().join("r500.if_else.1.vcd");
    let view = dump.with_extension("gtkw");
    let written = fs::read_to_string(&view).unwrap();
    assert!(written.contains("+{differs: pc}"), "{written}");
    let command = format!("gtkwave {} {}\n", dump.display(), view.display());
    let args = ["view", "r500", arg(&dump)];
    assert_eq!(reconverge_ends(0, &args), command);
    assert_eq!(fs::read_to_string(&view).unwrap(), written);
    // It is written without a marker if the file is gone.
    fs::remove_file(&view).unwrap();
    assert_eq!(reconverge_ends(0, &args), command);
    let without = fs::read_to_string(&view).unwrap();
    assert!(!without.contains("{differs: ") && without.contains("[dumpfile]"));
    fs::remove_file(&view).unwrap();
    for unit in ["r700", "spa5"] {
        let said = refusal(&["view", unit, arg(&dump)]);
        let why = format!("error: {}: dump: of r500, not of {unit}\n", dump.display());
        assert_eq!(said, why);
        assert!(!view.exists());
    }
    let other = dir.path().join("other.vcd");
    fs::write(
        &other,
        "$scope module top $end\n$upscope $end\n$enddefinitions $end\n",
    )
    .unwrap();
    let output = reconverge(&["view", "r500", arg(&other)]);
    let why = "dump: not of a bench of this command: no module UNIT_tb in it\n";
    assert!(text(&output.stderr).ends_with(why), "{output:?}");
}

/// Regression: nothing said that the dump in the printed command does not exist.
#[test]
fn a_view_without_a_dump_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let output = command_in(dir.path(), &["view", "spa5"]).output().unwrap();
    let note = "note: there is no waves/spa5/spa5.vcd yet; a run that fails writes its dump beside its case, and `view spa5 DUMP` makes the view of that\n";
    assert_eq!(text(&output.stderr), note);
}

/// GTKWave leaves out a signal whose width is not that of the dump, without a word.
#[test]
fn a_view_has_the_lanes_of_its_dump() {
    let dir = tempfile::tempdir().unwrap();
    let run = ["run", "r500", "tb/r500/programs/if_else.s", "--lanes", "4"];
    let waves = ["--wave", "--out", arg(dir.path())];
    reconverge_ends(0, &[&run[..], &waves].concat());
    let dump = dir.path().join("r500.if_else.1.vcd");
    let view = dump.with_extension("gtkw");
    let written = fs::read_to_string(&view).unwrap();
    assert!(written.contains("active[3:0]"), "{written}");
    fs::remove_file(&view).unwrap();
    let args = ["view", "r500", arg(&dump)];
    let said = refusal(&[&args[..], &["--lanes", "16"]].concat());
    let why = format!("error: --lanes: {} has 4 lanes\n", dump.display());
    assert_eq!(said, why);
    reconverge_ends(0, &args);
    let again = fs::read_to_string(&view).unwrap();
    let signals = |view: &str| {
        let lines = view.lines().filter(|line| line.starts_with("TOP."));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(signals(&again), signals(&written));
}
