//! RTL that a library caller builds runs in a process of its own: whatever it does fails its case, which is saved, shrunk and replayed,
//! and what it computes is judged as it is in the caller's process.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use reconverge::campaign;
use reconverge::check::{TestCase, check};
use reconverge::design::{Build, Design};
use reconverge::dut::{Limits, Make, Rtl};
use reconverge::failure::{Cause, Failure};
use reconverge::field::Flip;
use reconverge::judges::{Judges, check_on};
use reconverge::program::Programs;
use reconverge::r500::R500;
use reconverge::r500::golden::Golden;
use reconverge::r500::state::{In, State};
use reconverge::stream::Stream;
use reconverge::stream::fuzz::{Options, fuzz, replay};
use reconverge::watch::Watch;

use crate::common::arg;
use crate::common::rtl::Rtl as Folder;

/// What the RTL does, by the number of the mutant. 0: nothing.
const EXIT: u32 = 1;
const UNDERSCORE_EXIT: u32 = 2;
const ABORT: u32 = 3;
const SEGFAULT: u32 = 4;
const LOOP: u32 = 5;
const ALLOCATE: u32 = 6;
const FINAL: u32 = 7;
const CLOSE: u32 = 8;
const GARBAGE: u32 = 9;
const FORGE: u32 = 10;
const INITIAL: u32 = 11;
const FINISH: u32 = 12;
const WRONG: u32 = 13;
const TALK: u32 = 14;
const KILL: u32 = 15;
const FORK: u32 = 16;

/// It does so in this cycle.
const CYCLE: usize = 20;

const CODE: &str = r#"
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Not to be optimised away.
static void *a_megabyte() {
  static void *volatile last;
  return last = new char[1 << 20];
}

extern "C" void act(int what, int cycle) {
  switch (what) {
    case 7: if (cycle == -1) exit(0); return;
    case 11: if (cycle == -2) exit(0); return;
  }
  if (cycle != 20) return;
  switch (what) {
    case 1: exit(0);
    case 2: _exit(0);
    case 3: abort();
    case 4: *(volatile int *)8 = 1; return;
    case 5: for (;;) { volatile int n = 0; (void)n; }
    case 6: for (;;) memset(a_megabyte(), 1, 1 << 20);
    case 8: for (int fd = 0; fd < 1024; ++fd) close(fd); return;
    case 9: for (int fd = 0; fd < 1024; ++fd) if (write(fd, "garbage that answers nothing that was asked", 43)) {} return;
    case 10: {
      // An answer as the host writes it: the next one counts, and 128 cycles are done.
      struct { uint64_t number; uint32_t status, size; uint64_t value, used; } answer = {1, 0, 0, 128, 1};
      for (int fd = 3; fd < 1024; ++fd) if (write(fd, &answer, sizeof(answer))) {}
      exit(0);
    }
    case 15: kill(0, SIGKILL); return;
    case 16: if (fork() == 0) for (;;) pause(); exit(0);
    case 14: for (int n = 0; n < 200000; ++n) putchar(0); return;  // not to be seen in the log of the tests
  }
}
"#;

/// A copy of r500 in folder `name` that calls C code, in which the number of the mutant says what happens; `code` is added to that
/// code.
fn planted(name: &str, code: &str) -> Rtl<R500> {
    let copy = Folder::own("r500")
        .planted(
            "  int does = 0, cycles = 0;
  initial begin
    if (!$value$plusargs(\"reconverge_mutant=%d\", does)) does = 0;
    act(does, -2);
  end
  always @(posedge clk_i) begin
    cycles <= cycles + 1;
    act(does, cycles);
    if (does == 12 && cycles == 20) $finish;
  end
  final act(does, -1);",
        )
        .without_assertions();
    for change in [
        (
            "r500_seq.sv",
            "\nmodule r500_seq",
            "\nimport \"DPI-C\" function void act(int what, int cycle);\nmodule r500_seq",
        ),
        (
            "r500_seq.sv",
            "assign pc_o      = pc_q;",
            "assign pc_o = pc_q ^ 10'(does == 13 && cycles >= 40);",
        ),
    ] {
        copy.change(change);
    }
    let list = copy.dir().join("r500.f");
    let files = fs::read_to_string(&list).unwrap();
    fs::write(&list, files + "\nact.cpp\n").unwrap();
    fs::write(copy.dir().join("act.cpp"), format!("{CODE}{code}")).unwrap();
    // It outlives every test: shrinking builds it with other lanes.
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&dir).unwrap();
    for entry in fs::read_dir(copy.dir()).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, dir.join(path.file_name().unwrap())).unwrap();
    }
    Rtl::<R500>::of(R500::LANES, &dir).unwrap()
}

/// The RTL that does `what`, with little memory.
fn that(what: u32) -> Rtl<R500> {
    static RTL: OnceLock<Rtl<R500>> = OnceLock::new();
    limited(RTL.get_or_init(|| planted("hosted", ""))).mutant(what)
}

fn limited(rtl: &Rtl<R500>) -> Rtl<R500> {
    rtl.clone().limits(Limits {
        megabytes: 300,
        ..Limits::default()
    })
}

fn options(out: &Path) -> Options {
    let mut options = Options::default().streams(3).cycles(60).out(out);
    options.budget.runs = 60;
    options
}

/// What a failure says of the process.
fn cause<C: TestCase>(failure: &Failure<C>) -> String {
    match &failure.cause {
        Cause::Crashed(how) => how.clone(),
        Cause::Hung(seconds) => format!("hung for {seconds} s"),
        _ => panic!("{failure}"),
    }
}

/// Streams on RTL that does `what` fail with `how`; the case is saved, and fails again.
fn fails(rtl: &Rtl<R500>, how: &str) -> Stream<R500> {
    let dir = tempfile::tempdir().unwrap();
    let found = fuzz(rtl, &options(dir.path())).expect_err(how);
    assert_eq!(cause(&found.failure), how);
    let report = found.to_string();
    let kind = found.failure.kind().to_uppercase();
    assert!(
        report.starts_with(&format!("{kind} r500.random")),
        "{report}"
    );
    assert!(found.waves.is_none(), "{report}");
    let saved = found.saved.as_ref().unwrap();
    let again = replay::<R500>(saved, rtl).unwrap().unwrap_err();
    assert_eq!(cause(&again), how);
    assert_eq!(again.compared, found.failure.compared, "{how}");
    // It is as good as new for other RTL.
    replay::<R500>(saved, &that(0)).unwrap().unwrap();
    *found.failure.case
}

#[test]
fn rtl_that_ends_its_process_fails_its_case_which_is_saved_and_made_smaller() {
    for (what, how) in [
        (EXIT, "exit status: 0"),
        (UNDERSCORE_EXIT, "exit status: 0"),
        (ABORT, "signal: 6 (SIGABRT)"),
        (SEGFAULT, "signal: 11 (SIGSEGV)"),
        // Of its process group.
        (KILL, "signal: 9 (SIGKILL)"),
        // What it has started still has its connection.
        (FORK, "exit status: 0"),
        (
            ALLOCATE,
            "out of memory: the process of the RTL may have 300 MB",
        ),
        (CLOSE, "it closed its connection to the bench"),
        (
            GARBAGE,
            "it says what only the RTL can have written to its connection",
        ),
        (
            FORGE,
            "it says what only the RTL can have written to its connection",
        ),
    ] {
        let case = fails(&that(what), how);
        if [CLOSE, GARBAGE, FORGE].contains(&what) {
            // Noticed when the batch has been run.
            assert!((CYCLE..60).contains(&case.cycles.0.len()), "{what}");
            continue;
        }
        // It happens with the last cycle of the smallest stream.
        assert_eq!(case.cycles.0.len(), CYCLE, "{what}");
        let failure = check(&case, &that(what)).unwrap_err();
        assert_eq!(failure.compared.cycles, CYCLE as u64 - 1, "{what}");
    }
}

#[test]
fn rtl_that_ends_its_process_before_the_first_cycle_or_after_the_last_fails_its_case() {
    assert_eq!(fails(&that(INITIAL), "exit status: 0").cycles.0.len(), 1);
    let at_the_end = "at the end of the simulation: exit status: 0";
    assert_eq!(fails(&that(FINAL), at_the_end).cycles.0.len(), 1);
    let code = "__attribute__((constructor)) static void loaded() { exit(0); }\n";
    let rtl = limited(&planted("hosted-loads", code));
    let dir = tempfile::tempdir().unwrap();
    let found = fuzz(&rtl, &options(dir.path())).unwrap_err();
    assert_eq!(cause(&found.failure), "exit status: 0");
    let saved = found.saved.as_ref().unwrap();
    let again = replay::<R500>(saved, &rtl).unwrap().unwrap_err();
    assert_eq!(cause(&again), "exit status: 0");
}

#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn rtl_that_loops_for_ever_fails_its_case_after_the_time_limit() {
    let rtl = that(LOOP).limits(Limits {
        seconds: 2,
        ..Limits::default()
    });
    let dir = tempfile::tempdir().unwrap();
    let mut options = options(dir.path());
    options.budget.runs = 3;
    let found = fuzz(&rtl, &options).unwrap_err();
    assert_eq!(cause(&found.failure), "hung for 2 s");
    let saved = found.saved.as_ref().unwrap();
    let again = replay::<R500>(saved, &rtl).unwrap().unwrap_err();
    assert_eq!(cause(&again), "hung for 2 s");
}

#[test]
fn a_program_on_rtl_that_ends_its_process_fails_and_is_saved() {
    let rtl = that(EXIT);
    let dir = tempfile::tempdir().unwrap();
    let found = campaign::fuzz(&rtl, &campaign::Options::default(), Some(dir.path())).unwrap_err();
    assert_eq!(cause(&found.failure), "exit status: 0");
    let saved = found.saved.as_ref().unwrap();
    let again = campaign::replay::<R500>(saved, &rtl).unwrap().unwrap_err();
    assert_eq!(cause(&again), "exit status: 0");
}

/// All that a run shows, in this process and in another one.
fn both_ways(what: u32, run: impl Fn(&Rtl<R500>) -> String) {
    let there = that(what);
    let here = Rtl::from_built(there.built()).unwrap();
    assert_eq!(run(&there), run(&here), "{what}");
}

/// What a stream shows: what is observed, and how it ends.
fn seen(stream: &Stream<R500>, rtl: &Rtl<R500>) -> String {
    let mut dut = rtl.open(stream.model_seed()).unwrap();
    let mut seen = Vec::new();
    let judged = stream.check_on(&mut dut, None, &mut |pins: &In, state: &State| {
        seen.push((*pins, *state));
    });
    match judged.unwrap() {
        Ok(agreed) => format!("{seen:?} {agreed:?}"),
        Err(failure) => format!("{seen:?} {:?} {failure}", failure.compared),
    }
}

#[test]
fn streams_show_the_same_in_another_process() {
    let build = Build::from(R500::LANES);
    for what in [0, FINISH, WRONG] {
        // A batch has 128 cycles, and two are under way.
        for cycles in [1, 2, 41, 126, 127, 128, 129, 255, 256, 257, 400] {
            let stream = Stream::random(cycles as u64, cycles, &build);
            both_ways(what, |rtl| seen(&stream, rtl));
        }
    }
    for cycle in [0, 1, 126, 127, 128, 129, 254, 255, 256, 299] {
        let mut stream = Stream::random(3, 300, &build);
        stream.flip = Some(Flip {
            field: "pc".to_owned(),
            element: 0,
            bit: 2,
            cycle,
        });
        both_ways(0, |rtl| seen(&stream, rtl));
    }
}

#[test]
fn a_failing_stream_ends_in_the_same_files_in_another_process() {
    for what in [FINISH, WRONG] {
        both_ways(what, |rtl| {
            let dir = tempfile::tempdir().unwrap();
            let found = fuzz(rtl, &options(dir.path())).unwrap_err();
            assert!(found.troubles.is_empty(), "{found}");
            let saved = found.saved.as_ref().unwrap();
            let files = ["json", "vcd", "gtkw"].map(|end| {
                let text = fs::read_to_string(saved.with_extension(end)).unwrap();
                text.lines()
                    .filter(|line| !line.contains(arg(dir.path())))
                    .collect::<Vec<_>>()
                    .join("\n")
            });
            assert!(files[1].len() > 1000);
            files.concat()
        });
    }
}

/// Every call of an observer.
#[derive(Default)]
struct Calls(String);

impl Watch<R500> for Calls {
    fn before(&mut self, cycle: u64, pins: &In, golden: &Golden) {
        let _ = write!(self.0, "before {cycle} {pins:?} {:?} ", golden.state());
    }
    fn after(&mut self, cycle: u64, pins: &In, golden: &Golden) {
        let _ = write!(self.0, "after {cycle} {pins:?} {:?} ", golden.state());
    }
    fn loaded(&mut self, start: &<R500 as Programs>::Start) {
        let _ = write!(self.0, "loaded {start:?} ");
    }
}

#[test]
fn programs_show_the_same_in_another_process() {
    let build = Build::from(R500::LANES);
    let mut preloaded = 0;
    for what in [0, WRONG] {
        let (there, mut seen) = (that(what), [String::new(), String::new()]);
        let here = Rtl::from_built(there.built()).unwrap();
        for (rtl, seen) in [&there, &here].into_iter().zip(&mut seen) {
            let mut dut = rtl.open(1).unwrap();
            for number in 0..40 {
                let (_, mut case) = campaign::case::<R500>(1, number, &build);
                preloaded += usize::from(!case.start.is_empty());
                case.noise_cycles = case.noise_cycles.map(|cycles| cycles.min(600));
                let mut calls = Calls::default();
                let judged = check_on(&case, &mut dut, Judges::All, &mut calls);
                seen.push_str(&calls.0);
                match judged {
                    Ok(agreed) => seen.push_str(&format!("{agreed:?}")),
                    Err(failure) => {
                        seen.push_str(&format!("{:?} {failure}", failure.compared));
                        dut = rtl.open(1).unwrap();
                    }
                }
            }
        }
        assert!(seen[0] == seen[1], "{what}");
        assert_eq!(seen[0].contains("MISMATCH"), what == WRONG);
    }
    assert!(preloaded > 4, "{preloaded}");
}

#[test]
fn rtl_that_prints_without_end_is_judged_by_what_it_does() {
    let mut options = Options::default().streams(2).cycles(60);
    options.out = None;
    assert_eq!(fuzz(&that(TALK), &options).unwrap().cycles, 120);
}

/// `Rtl::of` has printed them; they are there again for another build alone.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn warnings_about_the_rtl_are_shown_once_for_each_build() {
    let copy = Folder::own("r500").planted("  logic [3:0] narrow;\n  assign narrow = pc_q;");
    let make = |lanes| Rtl::<R500>::make(lanes, &Make::of(Some(copy.dir()))).unwrap();
    assert_eq!(Rtl::<R500>::of(2, copy.dir()).unwrap().warned(), None);
    let shown = make(3).warned();
    assert_eq!(shown, None, "the same warnings");
    copy.change(("r500_seq.sv", "logic [3:0] narrow", "logic [2:0] narrow"));
    let shown = make(3).warned().unwrap();
    let begin = format!("warning: Verilator on {}:\n%Warning-WIDTH", arg(copy.dir()));
    assert!(shown.starts_with(&begin), "{shown}");
    assert_eq!(make(3).warned(), None);
    // Waived in the RTL.
    let waived = "/* verilator lint_off WIDTH */ logic [2:0] narrow";
    copy.change(("r500_seq.sv", "logic [2:0] narrow", waived));
    assert_eq!(make(3).warned(), None);
}
