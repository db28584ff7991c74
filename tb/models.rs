//! Models as programs of their own: what they are built from, where they are kept, how they fail.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

use reconverge::dut::{Dut, Rtl};
use reconverge::r500::R500;
use reconverge::r500::state::{In, State};
use reconverge::unit::Pins;

use crate::common::rtl::{Copy, Rtl as Folder};
use crate::common::{ROOT, Tested, arg, line_starting, program, reconverge_ends, text};

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
        (0..2000).map(|_| *dut.clock(&reset(), None)).collect()
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
    line_starting(&report, "MISMATCH r500.if_else.1  clock 5  ");
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

/// The command under limits that a shell sets.
fn limited(limits: &str, args: &[&str]) -> Output {
    let script = format!("{limits}; exec \"$0\" \"$@\"");
    Command::new("bash")
        .args(["-c", &script, env!("CARGO_BIN_EXE_reconverge")])
        .args(args)
        .current_dir(ROOT)
        .output()
        .unwrap()
}

#[test]
fn rtl_that_ends_the_simulation_before_its_first_clock_stops_its_case() {
    let rtl = planted("  initial $finish;");
    let program = program::<R500>(R500::IF_ELSE);
    let report = reconverge_ends(1, &["run", NAME, &program, "--rtl", rtl.arg()]);
    let stopped = line_starting(&report, "STOPPED r500.if_else.1  clock 0  ");
    assert!(stopped.contains("$finish at "), "{stopped}");
}

/// A constructor that ran out of memory threw through Rust's frames.
#[test]
fn a_model_for_which_there_is_no_memory_is_an_error() {
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
    let output = limited("ulimit -v 300000", &args);
    let why = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{why}");
    assert!(why.contains("out of memory"), "{why}");
}

#[test]
fn what_a_failed_assertion_says_is_in_the_report() {
    let rtl = planted(
        "  always_ff @(posedge clk_i) if (rst_ni) low: assert (pc_o < 3) else $error(\"pc is %0d\", pc_o);",
    );
    let program = program::<R500>(R500::IF_ELSE);
    let report = reconverge_ends(1, &["run", NAME, &program, "--rtl", rtl.arg()]);
    let stopped = line_starting(&report, "STOPPED ");
    assert!(stopped.contains("r500_seq.sv:"), "{stopped}");
    assert!(stopped.ends_with("r500_tb.dut.low: pc is 3"), "{stopped}");
    assert_eq!(report.matches("pc is 3").count(), 1, "{report}");
}
