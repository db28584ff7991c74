//! Models as programs of their own: what they are built from, where they are kept, how they fail.

use std::borrow::BorrowMut;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use quick_junit::TestCaseStatus;
use reconverge::campaign::results;
use reconverge::dut::{Dut, Rtl};
use reconverge::r500::R500;
use reconverge::r500::state::{In, State};
use reconverge::saved::Saved;

use crate::campaign::{junit_in, signal};
use crate::common::rtl::{Copy, Rtl as Folder};
use crate::common::{
    ROOT, Tested, arg, command_in, line_starting, program, reconverge_ends, text, tool, wait_until,
};

mod cache;
mod sources;

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

/// Regression: the exception of a full disk passed through Rust's frames and ended the process: the mismatch was lost.
#[test]
fn a_mismatch_is_reported_although_its_dump_does_not_fit_on_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    symlink(FULL, dir.path().join("r500.if_else.1.vcd")).unwrap();
    let program = program::<R500>(R500::IF_ELSE);
    let run = [
        "run",
        NAME,
        &program,
        "--flip",
        "pc@5",
        "--out",
        arg(dir.path()),
    ];
    let report = reconverge_ends(1, &run);
    line_starting(&report, "MISMATCH r500.if_else.1  cycle 5  ");
    let case = line_starting(&report, "replay ");
    let case = case.split_whitespace().last().unwrap();
    reconverge_ends(
        1,
        &["replay", case, "--out", arg(&dir.path().join("again"))],
    );
}

/// RTL of r500 with `code` in its top module.
fn planted(code: &str) -> Copy {
    Folder::own(NAME).planted(code)
}

#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn rtl_that_ends_the_simulation_before_its_first_clock_stops_its_case() {
    let rtl = planted("  initial $finish;");
    let [report, _] = ends(1, run_on(rtl.dir()));
    let stopped = line_starting(&report, "STOPPED r500.if_else.1  cycle 0  ");
    assert!(stopped.contains("$finish at "), "{stopped}");
}

/// Regression: a constructor that ran out of memory threw through Rust's frames.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_model_for_which_there_is_no_memory_fails_its_case() {
    let rtl = planted(
        "  int big [100000000];
  always_ff @(posedge clk_i) begin
    big[pc_o] <= big[pc_o + 1] + 1;
    if (big[7] == 77) $display(\"77\");
  end",
    );
    let program = program::<R500>(R500::IF_ELSE);
    let args = ["run", NAME, program.as_str(), "--rtl", rtl.arg()];
    // Built while there is memory.
    reconverge_ends(0, &args);
    let out = rtl.dir().join("out");
    let report = reconverge_ends(
        1,
        &[&args[..], &["--memory", "300", "--out", arg(&out)]].concat(),
    );
    let crashed = line_starting(&report, "CRASHED r500.if_else.1  ");
    assert!(
        crashed.contains("out of memory: it may have 300 MB"),
        "{crashed}"
    );
}

#[test]
fn what_a_failed_assertion_says_is_in_the_report() {
    let rtl = planted(
        "  always_ff @(posedge clk_i) if (rst_ni) low: assert (pc_o < 3) else $error(\"pc is %0d\", pc_o);",
    );
    let [report, _] = ends(1, run_on(rtl.dir()));
    let stopped = line_starting(&report, "STOPPED ");
    assert!(stopped.contains("r500_seq.sv:"), "{stopped}");
    assert!(stopped.ends_with("r500_tb.dut.low: pc is 3"), "{stopped}");
    assert_eq!(report.matches("pc is 3").count(), 1, "{report}");
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

/// The end of a module, and one that no program runs with.
const RIGHT: &str = "endmodule";
const WRONG: &str = "  initial $finish;\nendmodule";

/// Moves `module`, a file of `rtl`, into `file`, which `module` includes as `name`.
fn include(rtl: &Copy, module: &str, name: &str, file: &Path) {
    let module = rtl.dir().join(module);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::copy(&module, file).unwrap();
    fs::write(&module, format!("`include \"{name}\"\n")).unwrap();
}

/// Replaces the one place where `from` stands in the file.
fn change(file: &Path, from: &str, to: &str) {
    let old = fs::read_to_string(file).unwrap();
    assert_eq!(old.matches(from).count(), 1, "{from}");
    fs::write(file, old.replace(from, to)).unwrap();
}

/// Adds text to the end of the file.
fn append(file: &Path, text: &str) {
    let old = fs::read_to_string(file).unwrap();
    fs::write(file, old + text).unwrap();
}

/// Adds a line to the front of the list of files.
fn list(rtl: &Copy, line: &str) {
    let path = rtl.dir().join("r500.f");
    let old = fs::read_to_string(&path).unwrap();
    fs::write(path, format!("{line}\n{old}")).unwrap();
}

/// How Verilator is called.
pub fn verilator() -> String {
    std::env::var("VERILATOR").unwrap_or_else(|_| {
        let own = Path::new(ROOT).join(".tools/bin/verilator");
        match own.is_file() {
            true => arg(&own).to_owned(),
            false => "verilator".to_owned(),
        }
    })
}

/// A program that does what the variable `BEFORE` says, with Verilator as `$real`, and then is Verilator. Always the
/// same, so that the runtime is compiled once for all who use it.
fn wrapper() -> &'static Path {
    static WRAPPER: LazyLock<PathBuf> = LazyLock::new(|| {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wrapped-verilator");
        let real = verilator();
        let script = format!("#!/bin/sh\nreal={real}\neval \"$BEFORE\"\nexec $real \"$@\"\n");
        if fs::read_to_string(&path).ok().as_ref() != Some(&script) {
            tool::write(&path, &script);
        }
        path
    });
    &WRAPPER
}

/// `run_on` with a Verilator that does `before` first.
fn run_behind(before: &str, dir: &Path) -> Command {
    let mut command = run_on(dir);
    command.env("VERILATOR", wrapper()).env("BEFORE", before);
    command
}

/// RTL that no earlier test has built.
fn never_seen() -> Copy {
    let rtl = Folder::own(NAME).copy();
    let mark = format!("// {}\n", rtl.arg());
    append(&rtl.dir().join("r500_seq.sv"), &mark);
    rtl
}

/// A command that is told to end does not wait for Verilator.
#[test]
fn a_build_that_takes_its_time_can_be_interrupted() {
    let rtl = never_seen();
    let began = rtl.dir().join("began");
    // Asked for its version, it is quick.
    let slow = format!(
        "[ $1 = -V ] || {{ touch {}; exec sleep 600; }}",
        arg(&began)
    );
    let child = run_behind(&slow, rtl.dir())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("it builds", || began.exists());
    signal(child.id(), "-TERM");
    let begin = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(begin.elapsed() < Duration::from_secs(300), "it waits");
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(text(&output.stderr), "error: interrupted\n");
}

// ---- assertions ----------------------------------------------------------------------------------------

/// Regression: assertions were built in by a debug build of this program only.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_failed_assertion_of_rtl_fails_its_case_unless_assertions_are_left_out() {
    let rtl = planted("  always_ff @(posedge clk_i) if (rst_ni) low: assert (pc_o < 3);");
    let [report, _] = ends(1, run_on(rtl.dir()));
    assert!(
        line_starting(&report, "STOPPED ").contains("dut.low"),
        "{report}"
    );
    let mut without = run_on(rtl.dir());
    without.arg("--no-assert");
    ends(0, without);

    let results = rtl.dir().join("results");
    let file = results.join("r500.jsonl");
    let results = arg(&results);
    let fuzz = [
        "fuzz",
        NAME,
        "--rtl",
        rtl.arg(),
        "--programs",
        "4",
        "--no-shrink",
        "--results",
        results,
    ];
    let out = rtl.dir().join("out");
    let fuzz = [&fuzz[..], &["--out", arg(&out)]].concat();
    ends(0, started(&[&fuzz[..], &["--no-assert"]].concat()));
    assert!(!results::header(&file).unwrap().unwrap().assertions);
    // Not the same campaign.
    let [_, why] = ends(2, started(&fuzz));
    assert!(why.contains(": assertions: "), "{why}");
    fs::remove_file(&file).unwrap();
    ends(1, started(&fuzz));
    assert!(results::header(&file).unwrap().unwrap().assertions);
}

/// What only they look at costs nothing where they are not checked.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_file_of_assertions_is_read_only_by_models_that_check_them() {
    let rtl = Folder::own(NAME).copy();
    let bound = rtl.dir().join("r500_sva.sv");
    fs::write(&bound, "no SystemVerilog\n").unwrap();
    ends(0, run_on(rtl.dir()).arg("--no-assert"));
    let [_, why] = ends(2, run_on(rtl.dir()));
    assert!(why.contains("r500_sva.sv:1:"), "{why}");
    fs::remove_file(&bound).unwrap();
    let [_, why] = ends(2, run_on(rtl.dir()));
    let missing = "design.toml: assertions.file: no such file: r500_sva.sv\n";
    assert!(why.contains(missing), "{why}");
}

/// Regression: the replay stopped at an assertion, long before the cycle of the saved case.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_case_that_was_found_without_assertions_replays_without_them() {
    let rtl = planted("  high: assert property (@(posedge clk_i) pc_o == 10'd1023);");
    change(
        &rtl.dir().join("r500_lanes.sv"),
        "else_on      = was_branch",
        "else_on      = active_q",
    );
    // An assertion that does not mention reset is checked in reset too.
    let [report, _] = ends(1, run_on(rtl.dir()));
    let stopped = line_starting(&report, "STOPPED r500.if_else.1  cycle 0  ");
    assert!(stopped.contains("dut.high"), "{stopped}");

    let out = rtl.dir().join("out");
    let few = ["--programs", "64", "--no-shrink", "--out", arg(&out)];
    let fuzz = started(&[&["fuzz", NAME, "--rtl", rtl.arg()], &few[..]].concat());
    for mut command in [run_on(rtl.dir()), fuzz] {
        let [found, _] = ends(1, command.arg("--no-assert"));
        let mismatch = line_starting(&found, "MISMATCH ");
        let replay = line_starting(&found, "replay ");
        let case = replay.split_whitespace().last().unwrap();
        let again = ["replay", case, "--rtl", rtl.arg(), "--out", arg(&out)];
        let [again, said] = ends(1, started(&again));
        assert_eq!(line_starting(&again, "MISMATCH "), mismatch);
        assert_eq!(said, "");
    }
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
