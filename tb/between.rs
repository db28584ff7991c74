//! RTL that keeps something between cases, which no case shows when it runs alone, and RTL that shows X.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::common::rtl::{Copy, Rtl as Folder};
use crate::common::{ROOT, arg, command_in, line_starting, text};

/// A counter that reset does not clear, and `code` in the cycle in which it is 20,000: in the middle of a chunk of cases.
fn counting(code: &str) -> Copy {
    Folder::own("r500").planted(&format!(
        "  int unsigned cycles = 0;\n  always_ff @(posedge clk_i) begin\n    cycles <= cycles + 1;\n    \
         if (cycles == 20000) {code}\n  end"
    ))
}

/// Runs a campaign on `rtl` with results in `dir`; `MARK` names a file in it.
fn fuzz(rtl: &Copy, dir: &Path, more: &[&str]) -> Output {
    campaign(rtl, dir, more).output().unwrap()
}

/// Returns the command of [`fuzz`].
fn campaign(rtl: &Copy, dir: &Path, more: &[&str]) -> Command {
    let place = |name: &str| arg(&dir.join(name)).to_owned();
    let (results, out) = (place("results"), place("out"));
    let fuzz = [
        "fuzz",
        "r500",
        "--jobs",
        "1",
        "--no-shrink",
        "--rtl",
        rtl.arg(),
    ];
    let places = ["--results", &results, "--out", &out];
    let mut command = command_in(Path::new(ROOT), &[&fuzz[..], &places, more].concat());
    command.env("MARK", place("mark"));
    command
}

/// Before, the cases were run again in models of their own, agreed, and the campaign with them.
#[test]
fn rtl_that_ends_its_process_after_many_cases_fails_though_each_case_agrees_alone() {
    for (code, failed) in [
        ("$c(\"std::abort();\");", "CRASHED "),
        ("$c(\"std::_Exit(0);\");", "CRASHED "),
        ("$c(\"for (volatile int i = 1; i;) {}\");", "HUNG "),
    ] {
        let rtl = counting(code);
        let dir = tempfile::tempdir().unwrap();
        let run = || fuzz(&rtl, dir.path(), &["--programs", "64", "--timeout", "3"]);
        let first = run();
        let said = text(&first.stdout);
        assert_eq!(first.status.code(), Some(1), "{said}");
        line_starting(&said, failed);
        if failed == "CRASHED " {
            let warnings = text(&first.stderr);
            let alone = warnings
                .lines()
                .find(|line| line.contains(" agrees when it runs again"));
            assert!(alone.is_some(), "{warnings}");
        }
        // What was found is kept.
        let again = run();
        assert_eq!((again.status.code(), text(&again.stdout)), (Some(1), said));
    }
}

#[test]
fn rtl_that_ends_its_process_once_fails_though_no_case_does_it_again() {
    let code = "$c(\"if (std::fopen(std::getenv(\\\"MARK\\\"), \\\"wx\\\")) std::abort();\");";
    let dir = tempfile::tempdir().unwrap();
    let run = fuzz(&counting(code), dir.path(), &["--programs", "64"]);
    let said = text(&run.stdout);
    assert_eq!(run.status.code(), Some(1), "{said}");
    // The last case, because nothing tells which it was.
    let crashed = line_starting(&said, "CRASHED ");
    assert!(crashed.ends_with("  signal: 6 (SIGABRT)"), "{crashed}");
    line_starting(&said, "r500.fuzz.1  64 programs, 1 FAILED; ");
}

/// Before, the campaign forgot the loss, and its next run began with fresh models, on which every case agrees.
#[test]
fn an_interruption_while_the_cases_run_again_does_not_forget_that_the_process_ended() {
    // Slow, so that there is time to interrupt it.
    let code = "$c(\"for (volatile int i = 0; i < 200000; i = i + 1) {} if (\", cycles, \" == 2000 && \
        std::fopen(std::getenv(\\\"MARK\\\"), \\\"wx\\\")) std::abort();\");";
    let rtl = Folder::own("r500").planted(&format!(
        "  int unsigned cycles = 0;\n  always_ff @(posedge clk_i) begin\n    cycles <= cycles + 1;\n    {code}\n  end"
    ));
    let dir = tempfile::tempdir().unwrap();
    let mut first = campaign(&rtl, dir.path(), &["--programs", "256"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(first.stderr.take().unwrap()).lines();
    let again = |line: &std::io::Result<String>| {
        line.as_ref()
            .is_ok_and(|line| line.contains("they are run again one by one"))
    };
    assert!(lines.any(|line| again(&line)));
    let sent = Command::new("kill")
        .args(["-INT", &first.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    lines.for_each(drop);
    let first = first.wait_with_output().unwrap();
    let said = text(&first.stdout);
    assert_eq!(first.status.code(), Some(1), "{said}");
    let summary = line_starting(&said, "r500.fuzz.1  ");
    assert!(summary.contains(" 1 FAILED; "), "{said}");
    assert!(
        !summary.contains(" 64 programs"),
        "it was not interrupted: {said}"
    );
    let second = campaign(&rtl, dir.path(), &["--programs", "256"])
        .env("MARK", dir.path().join("none/mark"))
        .output()
        .unwrap();
    let said = text(&second.stdout);
    assert_eq!(second.status.code(), Some(1), "{said}");
    line_starting(&said, "CRASHED ");
}

/// Before, X was 0: the RTL agreed where the golden model has 0. A model draws a value for it by its seed, so that one of
/// four chunks may still draw a 0.
#[test]
fn rtl_that_shows_x_in_place_of_0_differs() {
    let rtl = Folder::own("r500").copy();
    rtl.change((
        "r500_seq.sv",
        "  assign err_o     = err_q;",
        "  assign err_o     = (err_q == 0) ? 'x : err_q;",
    ));
    let dir = tempfile::tempdir().unwrap();
    let run = fuzz(&rtl, dir.path(), &["--programs", "1024", "--no-assert"]);
    let said = text(&run.stdout);
    assert_eq!(run.status.code(), Some(1), "{said}");
    line_starting(&said, "MISMATCH ");
}

/// Before, the dump and `replay` had another X than the model of the campaign, whose seed the case did not have.
#[test]
fn x_is_the_same_in_the_campaign_in_the_dump_and_in_replay() {
    let rtl = Folder::own("r500").copy();
    // An element past the end of an array: nine bits that a model draws.
    rtl.change((
        "r500_seq.sv",
        "  assign pc_o      = pc_q;",
        "  logic [8:0] three[3];\n  initial for (int i = 0; i < 3; i++) three[i] = '0;\n  \
         assign pc_o      = pc_q == 9'd5 ? three[2'd3 & {2{pc_q[0]}}] : pc_q;",
    ));
    let dir = tempfile::tempdir().unwrap();
    let run = fuzz(&rtl, dir.path(), &["--programs", "64", "--no-assert"]);
    let said = text(&run.stdout);
    assert_eq!(run.status.code(), Some(1), "{said}");
    let table = |said: &str| {
        let from = said.find("MISMATCH ").expect(said);
        let to = from + said[from..].find("  last cycles").expect(said);
        said[from..to].to_owned()
    };
    for unlike in ["\nnote    ", "\nNOT REPRODUCED"] {
        assert!(!said.contains(unlike), "{said}");
    }
    let case = line_starting(&said, "replay  ").split(' ').next_back();
    let out = arg(&dir.path().join("again")).to_owned();
    let again = ["replay", case.unwrap(), "--rtl", rtl.arg(), "--out", &out];
    let again = command_in(Path::new(ROOT), &again).output().unwrap();
    let again = text(&again.stdout);
    assert_eq!(table(&again), table(&said));
    for unlike in ["note: saved", "\nNOT REPRODUCED"] {
        assert!(!again.contains(unlike), "{again}");
    }
}

/// Before, this was a warning: a check at the end of a test, as `final` blocks make it, failed nothing.
#[test]
fn what_a_final_block_says_is_a_failure_of_the_last_case_on_its_model() {
    let rtl = Folder::own("r500").planted("  final $fatal(1, \"left over\");");
    let dir = tempfile::tempdir().unwrap();
    let program = "tb/programs/r500/if_else.s";
    let out = arg(&dir.path().join("out")).to_owned();
    let run = ["run", "r500", program, "--rtl", rtl.arg(), "--out", &out];
    let run = command_in(Path::new(ROOT), &run).output().unwrap();
    let said = text(&run.stdout);
    assert_eq!(run.status.code(), Some(1), "{said}");
    let stopped = line_starting(&said, "STOPPED r500.if_else.1  clock ");
    assert!(
        stopped.contains("  at the end of the simulation: "),
        "{stopped}"
    );
    assert!(stopped.ends_with(": left over"), "{stopped}");
    let case = format!("{out}/r500.if_else.1.json");
    let again = ["replay", &case, "--rtl", rtl.arg(), "--out", &out];
    let again = command_in(Path::new(ROOT), &again).output().unwrap();
    line_starting(&text(&again.stdout), stopped);
    assert_eq!(again.status.code(), Some(1));

    // Each chunk has a model of its own.
    let run = fuzz(&rtl, dir.path(), &["--programs", "300", "--keep-going"]);
    let said = text(&run.stdout);
    assert_eq!(run.status.code(), Some(1), "{said}");
    line_starting(&said, "r500.fuzz.1  300 programs, 2 FAILED; ");
    let cover = ["cover", "r500", "--rtl", rtl.arg(), "--programs", "20"];
    let cover = command_in(dir.path(), &cover).output().unwrap();
    assert_eq!(cover.status.code(), Some(1), "{}", text(&cover.stdout));
}

/// Before, the lost process replaced what the case showed when it ran again.
#[test]
fn a_mismatch_in_the_second_run_is_kept_though_the_first_run_lost_the_process() {
    let rtl = Folder::own("r500").copy();
    rtl.change((
        "r500_seq.sv",
        "  assign err_o     = err_q;",
        "  int unsigned cycles = 0;\n  always_ff @(posedge clk_i) begin\n    cycles <= cycles + 1;\n    \
         if (cycles == 20) $c(\"if (std::fopen(std::getenv(\\\"MARK\\\"), \\\"wx\\\")) std::abort();\");\n  end\n  \
         assign err_o     = cycles > 25 ? ~err_q : err_q;",
    ));
    let dir = tempfile::tempdir().unwrap();
    let run = fuzz(&rtl, dir.path(), &["--programs", "1", "--no-assert"]);
    let (said, warnings) = (text(&run.stdout), text(&run.stderr));
    assert_eq!(run.status.code(), Some(1), "{said}");
    line_starting(&warnings, "warning: a worker of r500 ended in cases 0..0 ");
    line_starting(&said, "MISMATCH ");
}
