//! Models as programs of their own: what they are built from, where they are kept, how they fail.

use std::borrow::BorrowMut;
use std::fs;
use std::path::Path;
use std::process::Command;

use quick_junit::TestCaseStatus;
use reconverge::dut::{Dut, Rtl};
use reconverge::r500::R500;
use reconverge::r500::state::{In, State};
use reconverge::saved::Saved;

use crate::campaign::junit_in;
use crate::common::rtl::{Copy, Rtl as Folder};
use crate::common::{ROOT, Tested, arg, command_in, program, reconverge_ends, text};

const NAME: &str = "r500";

/// Pins of a reset.
fn reset() -> In {
    In::reset()
}

// ---- the interface to C++ -----------------------------------------------------------------------------

/// A device that refuses every write for lack of space.
const FULL: &str = "/dev/full";

#[test]
fn a_dump_that_cannot_be_written_is_an_error_and_the_model_goes_on() {
    let rtl = Rtl::<R500>::own(16).unwrap();
    let (mut blind, mut traced) = (rtl.open(1).unwrap(), rtl.open(1).unwrap());
    traced.open_vcd(Path::new(FULL)).unwrap();
    // More than the buffer of the dump holds, so that the disk is full in the middle.
    let states = |dut: &mut Dut<R500>| -> Vec<State> {
        (0..10_000).map(|_| *dut.clock(&reset(), None)).collect()
    };
    assert!(
        states(&mut blind) == states(&mut traced),
        "a dump changes the run"
    );
    let why = traced.close_vcd().unwrap_err();
    assert_eq!(why, "/dev/full: No space left on device");
    assert_eq!(traced.stopped(), None);
    // The error is reported once, and no file is open any more.
    traced.close_vcd().unwrap();

    // The next dump is a whole one.
    let dir = tempfile::tempdir().unwrap();
    let vcd = dir.path().join("whole.vcd");
    traced.open_vcd(&vcd).unwrap();
    states(&mut traced);
    traced.close_vcd().unwrap();
    assert!(
        fs::read_to_string(&vcd)
            .unwrap()
            .contains("$enddefinitions")
    );
}

#[test]
fn a_model_that_is_dropped_with_a_dump_on_a_full_disk_ends_quietly() {
    let mut dut = Rtl::<R500>::own(16).unwrap().open(1).unwrap();
    dut.open_vcd(Path::new(FULL)).unwrap();
    // Too little to be written before the model is closed.
    dut.clock(&reset(), None);
    drop(dut);
}

#[test]
fn a_dump_that_cannot_be_opened_is_an_error() {
    let mut dut = Rtl::<R500>::own(16).unwrap().open(1).unwrap();
    let why = dut.open_vcd(Path::new("no/such/dump.vcd")).unwrap_err();
    assert_eq!(why, "no/such/dump.vcd: No such file or directory");
    dut.clock(&reset(), None);
    assert_eq!(dut.stopped(), None);
}

/// RTL of r500 with `code` in its top module.
fn planted(code: &str) -> Copy {
    Folder::own(NAME).planted(code)
}

/// Regression: the destructor used the DPI scopes of the model that ran last.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_model_that_has_stopped_takes_nothing_of_another_one_along() {
    let rtl = planted(
        "  int number;
  initial if ($value$plusargs(\"reconverge_mutant=%d\", number) && number == 1) $finish;
  always_ff @(posedge clk_i) found: assert (is_found() == 1);",
    );
    change(
        &rtl.dir().join("r500_seq.sv"),
        "module r500_seq",
        "import \"DPI-C\" context function int is_found();\nmodule r500_seq",
    );
    list(&rtl, "found.cpp");
    let code = "#include <svdpi.h>
extern \"C\" int is_found() { return svGetScopeFromName(svGetNameFromScope(svGetScope())) != nullptr; }
";
    fs::write(rtl.dir().join("found.cpp"), code).unwrap();
    let built = Rtl::<R500>::of(1, rtl.dir()).unwrap();
    // Both in this process.
    let rtl = Rtl::<R500>::from_built(built.built()).unwrap();
    let (mut stops, mut runs) = (rtl.clone().mutant(1).open(1).unwrap(), rtl.open(1).unwrap());
    stops.clock(&reset(), None);
    runs.clock(&reset(), None);
    assert!(stops.stopped().is_some());
    drop(stops);
    runs.clock(&reset(), None);
    assert_eq!(runs.stopped(), None);
}

/// The command in the repository, to be started.
fn started(args: &[&str]) -> Command {
    command_in(Path::new(ROOT), args)
}

/// Both outputs of a command that must end with `status`.
fn ends(status: i32, mut command: impl BorrowMut<Command>) -> [String; 2] {
    let command = command.borrow_mut();
    let output = command.output().unwrap();
    let both = [text(&output.stdout), text(&output.stderr)];
    assert_eq!(
        output.status.code(),
        Some(status),
        "{command:?}\n{}",
        both.concat()
    );
    both
}

/// `run` of a program on the RTL in `dir`.
fn run_on(dir: &Path) -> Command {
    let program = program::<R500>(R500::IF_ELSE);
    let (dir, out) = (arg(dir), dir.join("out"));
    started(&["run", NAME, &program, "--rtl", dir, "--out", arg(&out)])
}

/// Replaces the one place where `from` stands in the file.
fn change(file: &Path, from: &str, to: &str) {
    let old = fs::read_to_string(file).unwrap();
    assert_eq!(old.matches(from).count(), 1, "{from}");
    fs::write(file, old.replace(from, to)).unwrap();
}

/// Adds a line to the front of the list of files.
fn list(rtl: &Copy, line: &str) {
    let path = rtl.dir().join("r500.f");
    let old = fs::read_to_string(&path).unwrap();
    fs::write(path, format!("{line}\n{old}")).unwrap();
}

// ---- probes -------------------------------------------------------------------------------------------

/// A copy of the RTL whose probes are in a file of their own and name no registers to load.
fn with_probes_alone() -> Copy {
    let rtl = Folder::own(NAME).copy();
    let design = rtl.dir().join("design.toml");
    let text = fs::read_to_string(&design).unwrap();
    let mut probes = reconverge_declaration::Declaration::parse("design.toml", &text)
        .unwrap()
        .probes;
    assert!(!probes.loads.is_empty());
    probes.loads.clear();
    fs::write(rtl.dir().join("r500_probe.toml"), probes.to_toml()).unwrap();
    fs::remove_file(design).unwrap();
    rtl
}

#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn rtl_that_names_no_registers_to_load_is_judged_without_the_cases_that_need_it() {
    let (own, rtl) = (Folder::own(NAME), with_probes_alone());
    let junit = rtl.dir().join("s.xml");
    // Returns the output, and the tests that count as skipped.
    let fuzz = |dir: &str| {
        let options = [
            "fuzz",
            NAME,
            "--programs",
            "60",
            "--no-shrink",
            "--junit",
            arg(&junit),
            "--rtl",
            dir,
        ];
        let said = reconverge_ends(0, &options);
        let read = junit_in(&junit);
        let mut skipped = Vec::new();
        for test in &read.test_suites[0].test_cases {
            if let TestCaseStatus::Skipped { message, .. } = &test.status {
                skipped.push(format!(
                    "{}: {}",
                    test.name.as_str(),
                    message.as_deref().unwrap()
                ));
            }
        }
        (said, skipped)
    };
    let (said, skipped) = fuzz(rtl.arg());
    let line = said.lines().find(|l| l.ends_with("skipped, no preloading"));
    let programs = line.unwrap().split_whitespace().nth(1).unwrap();
    assert_eq!(
        skipped,
        [format!(
            "r500.seeded.1: {programs} programs: skipped, no preloading"
        )]
    );
    let cover = |dir: &str| {
        reconverge_ends(0, &["cover", NAME, "--programs", "60", "--rtl", dir])
            .contains("cases that begin in a preloaded state: skipped, no preloading\n")
    };
    assert!(cover(rtl.arg()) && !cover(arg(&own.dir)));
    let (said, skipped) = fuzz(arg(&own.dir));
    assert!(!said.contains("skipped"), "{said}");
    assert!(skipped.is_empty(), "{skipped:?}");

    // A saved case that begins in a state says why it cannot be replayed there.
    let case = (0..)
        .map(|i| reconverge::campaign::case::<R500>(1, i, &16.into()).1)
        .find(|case| !case.start.is_empty())
        .unwrap();
    let saved = rtl.dir().join("case.json");
    let case = Saved {
        failure: None,
        case,
    };
    fs::write(&saved, serde_json::to_string(&case).unwrap()).unwrap();
    let [_, why] = ends(2, started(&["replay", arg(&saved), "--rtl", rtl.arg()]));
    assert!(
        why.contains("load: the case begins in a state that this RTL cannot be put into"),
        "{why}"
    );
}

#[test]
fn probes_that_do_not_fit_the_declaration_are_bad_input_with_file_and_line() {
    let rtl = with_probes_alone();
    let probes = rtl.dir().join("r500_probe.toml");
    change(&probes, "name = \"loop_depth\"", "name = \"loop_dept\"");
    let [_, why] = ends(2, run_on(rtl.dir()));
    assert!(
        why.contains("r500_probe.toml:") && why.contains("state loop_dept.name: no such field"),
        "{why}"
    );
}
