//! The example of docs/your-own-rtl.md: RTL of r500 with names of its own, which is made of ours, behind a wrapper.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::rtl::{Copy, Rtl};
use crate::common::{ROOT, arg, reconverge, reconverge_ends, text};

/// The folder of the example with its RTL in it, made as the page says.
fn made(dir: &Path) {
    let example = Path::new(ROOT).join("examples/own_rtl/r500");
    for entry in fs::read_dir(&example).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, dir.join(path.file_name().unwrap())).unwrap();
    }
    let ours = Rtl::own("r500");
    let files: Vec<PathBuf> = ours.list().iter().map(|file| ours.dir.join(file)).collect();
    let sed = Command::new("sed")
        .arg("-f")
        .arg(example.join("rename.sed"))
        .args(files)
        .output()
        .unwrap();
    assert!(sed.status.success(), "{}", text(&sed.stderr));
    fs::write(dir.join("flow_core.sv"), sed.stdout).unwrap();
}

#[test]
fn rtl_with_names_of_its_own_agrees_by_its_table_of_probes() {
    let dir = tempfile::tempdir().unwrap();
    made(dir.path());
    // The registers that our own declaration names are not in it.
    let core = fs::read_to_string(dir.path().join("flow_core.sv")).unwrap();
    let design = fs::read_to_string(Path::new(ROOT).join("rtl/r500/design.toml")).unwrap();
    let ours = design.split("dut.").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !(c.is_alphanumeric() || "_.".contains(c)))?;
        rest[..end].rsplit('.').next()
    });
    let ours: Vec<&str> = ours
        .filter(|name| name.ends_with("_q") && *name != "loaded_q")
        .collect();
    assert!(ours.len() > 30, "{ours:?}");
    for name in ours {
        let word = |text: &str| {
            text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
                .any(|word| word == name)
        };
        assert!(!word(&core), "{name} is not renamed");
    }
    // Enough for cases that begin in preloaded states, whose registers are in the table too.
    let said = reconverge_ends(
        0,
        &[
            "fuzz",
            "r500",
            "--rtl",
            arg(dir.path()),
            "--programs",
            "128",
            "-v",
        ],
    );
    assert!(!said.contains("skipped"), "{said}");
    assert!(said.contains(" 0 mismatches in "), "{said}");
}

/// RTL of r500 whose output `pc_o` is `value`, with `code` in its module; no assertion looks at it.
fn with_pc(value: &str, code: &str) -> Copy {
    let rtl = Rtl::own("r500").planted(code).without_assertions();
    let right = "assign pc_o      = pc_q;";
    rtl.change(("r500_seq.sv", right, &format!("assign pc_o = {value};")));
    rtl
}

/// Runs a program on `rtl`; returns the standard output, which ends with `status`.
fn run_on(rtl: &Copy, status: i32) -> String {
    let program = format!("{ROOT}/tb/r500/programs/if_else.s");
    let out = rtl.dir().join("out");
    let args = [
        "run",
        "r500",
        &program,
        "--rtl",
        rtl.arg(),
        "--out",
        arg(&out),
    ];
    reconverge_ends(status, &args)
}

/// Regression: the state was compared only after the falling edge, and all of these agreed.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn what_changes_at_the_falling_edge_of_the_clock_is_a_mismatch_unless_it_is_allowed() {
    let late = "  logic [9:0] late;\n  always_ff @(negedge clk_i) late <= pc_q;";
    let latch = "  logic [9:0] late;\n  always_latch if (!clk_i) late = pc_q;";
    let other = "  logic [9:0] late;\n  assign late = clk_i ? 10'h3ad : pc_q;";
    for code in [late, latch, other] {
        let rtl = with_pc("late", code);
        let said = run_on(&rtl, 1);
        assert!(said.starts_with("MISMATCH r500.if_else."), "{said}");
        let row = said.lines().find(|line| line.starts_with("  pc "));
        assert!(row.is_some_and(|row| row.ends_with("<--")), "{said}");
        let half = "  half    rtl is before the falling edge of the clock; after it the RTL shows what golden has";
        assert!(said.contains(half), "{said}");
    }
    let rtl = with_pc("late", late);
    rtl.change((
        "design.toml",
        "output = \"pc_o\"",
        "output = \"pc_o\"\nfalling = true",
    ));
    run_on(&rtl, 0);
}

/// Models replace the class of Verilator's runtime that deletes objects of classes.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn rtl_with_objects_of_classes_is_judged() {
    let code = include_str!("models/objects.svh");
    run_on(&with_pc("held(pc_q)", code), 0);
    let said = run_on(&with_pc("held(pc_q) ^ 10'd1", code), 1);
    assert!(said.starts_with("MISMATCH r500.if_else."), "{said}");
}

/// Regression: of a campaign that agreed 541 of 596 lines were the same twenty, once and ten times from each process.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn what_the_rtl_prints_at_time_0_is_shown_once() {
    let talks = r#"  initial begin
    $warning("an old macro");
    $display("built in\n two lines");
    if ($time == 0) $info("for information");
  end
  always_ff @(posedge clk_i) if (!rst_ni) $display("in reset");
  int cycles = 0;
  always_ff @(posedge clk_i) cycles <= cycles + 1;
  always_ff @(posedge clk_i) if (cycles == 3 && DIES) begin
    $display("the last words");
    $fatal(1, "it dies");
  end"#;
    let fuzz = |rtl: &Copy, status| {
        let out = rtl.dir().join("out");
        let few = ["--programs", "24", "--jobs", "2", "--out", arg(&out)];
        let output = reconverge(&[&["fuzz", "r500", "--rtl", rtl.arg()], &few[..]].concat());
        let said = text(&output.stderr) + &text(&output.stdout);
        assert_eq!(output.status.code(), Some(status), "{said}");
        said
    };
    let said = fuzz(&Rtl::own("r500").planted(&talks.replace("DIES", "0")), 0);
    let count = |said: &str, line: &str| said.matches(line).count();
    for line in [
        "an old macro\n",
        "built in\n two lines\n",
        "for information\n",
    ] {
        assert_eq!(count(&said, line), 1, "{line}: {said}");
    }
    assert!(count(&said, "in reset\n") >= 10, "{said}");
    assert!(!said.contains('\x1e'), "{said}");
    // What it prints later is there for each case that fails.
    let said = fuzz(&Rtl::own("r500").planted(&talks.replace("DIES", "1")), 1);
    assert_eq!(count(&said, "an old macro\n"), 1, "{said}");
    assert!(count(&said, "the last words\n") > 1, "{said}");
}

/// Regression: an assertion that only warns agreed, with a line for each of 43,684 cycles.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_line_that_the_rtl_repeats_is_shown_ten_times_and_counted() {
    let noisy = "  always_ff @(posedge clk_i) noisy: assert (!rst_ni) else $warning(\"noisy\");";
    let rtl = Rtl::own("r500").planted(noisy);
    let fuzz = |rtl: &Copy| {
        let out = rtl.dir().join("out");
        let few = ["--programs", "8", "--jobs", "1", "--out", arg(&out)];
        reconverge(&[&["fuzz", "r500", "--rtl", rtl.arg()], &few[..]].concat())
    };
    let output = fuzz(&rtl);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let noise = |start: &str| {
        let lines = said.lines().filter(|line| line.ends_with(".noisy: noisy"));
        lines.filter(|line| line.starts_with(start)).count()
    };
    assert_eq!(noise("["), 10, "{said}");
    assert_eq!(
        noise("... 1000 lines like this so far, 10 shown: "),
        1,
        "{said}"
    );
    assert!(noise("") < 20, "{said}");
    // It is the action that decides.
    let fails = Rtl::own("r500").planted(&noisy.replace("$warning", "$error"));
    assert_eq!(fuzz(&fails).status.code(), Some(1));
}
