//! RTL that a library caller builds runs in a process of its own: whatever it does fails its case, which is saved, shrunk and replayed,
//! and what it computes is judged as it is in the caller's process.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};

use reconverge::campaign::{self, Options, fuzz, replay};
use reconverge::case::Case;
use reconverge::check::{TestCase, check};
use reconverge::design::{Build, Design, Golden as _};
use reconverge::dut::{Limits, Make, Rtl};
use reconverge::failure::{Cause, Failure};
use reconverge::field::Flip;
use reconverge::judges::{Judges, check_on};
use reconverge::lockstep::{self, Seen, Setting, Stimulus};
use reconverge::program::{Programs, Records};
use reconverge::r500::R500;
use reconverge::r500::golden::Golden;
use reconverge::r500::state::In;
use reconverge::stream::Stream;
use reconverge::watch::Watch;

use crate::common::rtl::Rtl as Folder;
use crate::common::{arg, text};

/// What the RTL does, selected by the number of the mutant; 0: nothing.
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
const STOP: u32 = 17;
const SHORT: u32 = 18;
const SPOIL: u32 = 19;
const LATER: u32 = 20;
const TELL: u32 = 21;
const ORPHAN: u32 = 22;
const FATAL: u32 = 23;
const THREADS: u32 = 24;

/// It does so in this cycle.
const CYCLE: usize = 20;

const CODE: &str = include_str!("hosted/act.cpp");

/// The folder of the copy `name`.
fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Returns the number of the process that RTL has written into its folder, and removes that file.
fn told() -> String {
    let file = folder("hosted").join("process");
    let process = fs::read_to_string(&file).unwrap();
    fs::remove_file(file).unwrap();
    process
}

/// Waits until a process has ended; its parent need not have noticed.
fn has_ended(process: &str) {
    let stat = Path::new("/proc").join(process).join("stat");
    let runs = |stat: String| {
        let state = stat.rsplit_once(") ").unwrap().1;
        !state.starts_with(['Z', 'X'])
    };
    while fs::read_to_string(&stat).is_ok_and(runs) {
        std::thread::yield_now();
    }
}

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
    if (does == 23 && cycles == 20) $fatal(1, \"out of memory for tags\");
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
            "assign pc_o = pc_q ^ 10'((does == 13 || does == 20) && cycles >= 40);",
        ),
    ] {
        copy.change(change);
    }
    let list = copy.dir().join("r500.f");
    let files = fs::read_to_string(&list).unwrap();
    fs::write(&list, files + "\nact.cpp\n").unwrap();
    // It outlives every test: shrinking builds it with other lanes.
    let dir = folder(name);
    fs::create_dir_all(&dir).unwrap();
    let here = format!("#define HERE {dir:?}\n");
    fs::write(copy.dir().join("act.cpp"), here + CODE + code).unwrap();
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
    let mut options = Options::default().cases(3).cycles(60).out(out);
    options.budget.runs = 60;
    options
}

/// What is said of RTL that closes the connection.
const CLOSED: &str = "it closed its connection to the bench";

/// No two tests that look at the processes of the RTL run at the same time.
static ALONE: Mutex<()> = Mutex::new(());

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
    let found = fuzz::<Stream<R500>>(rtl, &options(dir.path())).expect_err(how);
    assert_eq!(cause(&found.failure), how);
    let report = found.to_string();
    let kind = found.failure.kind().to_uppercase();
    assert!(
        report.starts_with(&format!("{kind} r500.short-")),
        "{report}"
    );
    assert!(found.waves.is_none(), "{report}");
    let saved = found.saved.as_ref().unwrap();
    let again = replay::<Stream<R500>>(saved, rtl).unwrap().unwrap_err();
    assert_eq!(cause(&again), how);
    // How many answers arrive before the connection is gone depends on how busy the machine is.
    if how != CLOSED {
        assert_eq!(again.compared, found.failure.compared, "{how}");
    }
    // The saved stream names the mutant, which `check` does not look at; the process is as good as new for other RTL.
    check(&*found.failure.case, &that(0)).unwrap();
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
        // A child process still holds the connection.
        (FORK, "exit status: 0"),
        (
            ALLOCATE,
            "out of memory: the process of the RTL may have 300 MB",
        ),
        (CLOSE, CLOSED),
        (
            GARBAGE,
            "it gave an answer that only the RTL can have written",
        ),
        (
            FORGE,
            "it gave an answer that only the RTL can have written",
        ),
        // Regression: these agreed, although nothing had been compared.
        (
            SHORT,
            "it gave an answer that only the RTL can have written",
        ),
        (
            SPOIL,
            "it gave an answer that only the RTL can have written",
        ),
    ] {
        let case = fails(&that(what), how);
        if [CLOSE, GARBAGE, FORGE, SHORT, SPOIL].contains(&what) {
            // It shows when the batch has been run.
            assert!((CYCLE + 1..60).contains(&case.cycles.0.len()), "{what}");
            continue;
        }
        // It happens with the last cycle of the smallest stream.
        assert_eq!(case.cycles.0.len(), CYCLE + 1, "{what}");
        let failure = check(&case, &that(what)).unwrap_err();
        assert_eq!(failure.compared.cycles, CYCLE as u64, "{what}");
    }
}

/// Regression: with each model the runtime started a thread for each further processor, and a stream took a fifth more time.
#[test]
fn a_model_starts_no_thread() {
    let stream = Stream::<R500>::random(1, 2 * CYCLE, &Build::from(R500::LANES));
    check(&stream, &that(THREADS)).unwrap();
}

#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn rtl_that_ends_its_process_before_the_first_cycle_or_after_the_last_fails_its_case() {
    assert_eq!(fails(&that(INITIAL), "exit status: 0").cycles.0.len(), 1);
    let at_the_end = "at the end of the simulation: exit status: 0";
    assert_eq!(fails(&that(FINAL), at_the_end).cycles.0.len(), 1);
    let code = "__attribute__((constructor)) static void loaded() { exit(0); }\n";
    let rtl = limited(&planted("hosted-loads", code));
    let dir = tempfile::tempdir().unwrap();
    let found = fuzz::<Stream<R500>>(&rtl, &options(dir.path())).unwrap_err();
    assert_eq!(cause(&found.failure), "exit status: 0");
    let saved = found.saved.as_ref().unwrap();
    let again = replay::<Stream<R500>>(saved, &rtl).unwrap().unwrap_err();
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
    let found = fuzz::<Stream<R500>>(&rtl, &options).unwrap_err();
    assert_eq!(cause(&found.failure), "hung for 2 s");
    let saved = found.saved.as_ref().unwrap();
    let again = replay::<Stream<R500>>(saved, &rtl).unwrap().unwrap_err();
    assert_eq!(cause(&again), "hung for 2 s");
}

/// Regression: the bench waited for ever, because time in which a signal suspends the RTL did not count.
#[test]
fn rtl_that_suspends_its_process_fails_its_case_after_the_time_limit() {
    let rtl = that(STOP).limits(Limits {
        seconds: 1,
        ..Limits::default()
    });
    let stream = Stream::random(1, 60, &Build::from(R500::LANES));
    let failure = check(&stream, &rtl).unwrap_err();
    assert_eq!(cause(&failure), "a signal suspended it");
    assert_eq!(failure.compared.cycles, CYCLE as u64);
}

/// Regression: it was taken for the limit on memory.
#[test]
fn rtl_that_says_that_memory_has_run_out_stopped_the_simulation() {
    let stream = Stream::random(1, 60, &Build::from(R500::LANES));
    let failure = check(&stream, &that(FATAL)).unwrap_err();
    let Cause::Stopped(stopped) = &failure.cause else {
        panic!("{failure}");
    };
    assert!(stopped.why.contains("out of memory for tags"), "{failure}");
}

/// Regression: the process that ended while it ran no model was the failure of the next case.
#[test]
fn a_process_that_ends_between_two_cases_fails_neither() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let stream = Stream::random(1, 60, &Build::from(R500::LANES));
    let rtl = that(TELL);
    check(&stream, &rtl).unwrap();
    let process = told();
    let killed = Command::new("kill").args(["-KILL", &process]).status();
    assert!(killed.unwrap().success());
    has_ended(&process);
    check(&stream, &rtl).unwrap();
    assert_ne!(told(), process);
}

/// Regression: a longer answer counted as one that only the RTL can have written.
#[test]
fn a_process_says_at_most_4096_bytes_of_what_is_wrong() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let stream = Stream::random(1, 20, &Build::from(R500::LANES));
    let rtl = that(TELL);
    check(&stream, &rtl).unwrap();
    let program = fs::read_link(Path::new("/proc").join(told()).join("exe")).unwrap();
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&[0; 8192]).unwrap();
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let library = format!("/{}", "a".repeat(5000));
    let mut process = Command::new(program)
        .args([&library, "rcv", "1", "8", "8", "1", "0"])
        .stdin(file)
        .stdout(OwnedFd::from(theirs))
        .spawn()
        .unwrap();
    // The first request: to create a model. It has the number 7.
    let mut request = [0; 32];
    request[0] = 7;
    ours.write_all(&request).unwrap();
    let mut answer = [0; 32];
    ours.read_exact(&mut answer).unwrap();
    let word = |at| u32::from_ne_bytes([0, 1, 2, 3].map(|i: usize| answer[at + i]));
    assert_eq!((answer[0], word(8), word(12)), (7, 1, 4096));
    let mut why = vec![0; 4096];
    ours.read_exact(&mut why).unwrap();
    assert!(why.starts_with(b"/aaa"));
    drop(ours);
    process.wait().unwrap();
}

/// Regression: it was left behind if the process that had started it had ended before the bench knew.
#[test]
fn what_rtl_has_started_is_ended_with_it() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let stream = Stream::random(1, 60, &Build::from(R500::LANES));
    let failure = check(&stream, &that(ORPHAN)).unwrap_err();
    assert_eq!(failure.kind(), "crashed", "{failure}");
    has_ended(&told());
}

/// Regression: the dump could not be closed then, and that was all that was said.
#[test]
fn rtl_that_ends_its_process_after_a_mismatch_shows_the_mismatch() {
    let stream = Stream::random(1, 60, &Build::from(R500::LANES));
    let dir = tempfile::tempdir().unwrap();
    let dump = dir.path().join("dump.vcd");
    let dump = Some((0, dump.as_path()));
    let judged = stream.judge(&that(LATER), Judges::All, dump, &mut |_| ());
    let judged = judged.unwrap();
    let failure = judged.unwrap_err();
    assert!(matches!(failure.cause, Cause::Mismatch(_)), "{failure}");
    let found = fuzz::<Stream<R500>>(&that(LATER), &options(dir.path())).unwrap_err();
    assert_eq!(found.failure.kind(), "mismatch", "{found}");
    assert!(found.saved.is_some(), "{found}");
}

/// Pins of a stream up to cycle 100, in which it panics.
struct Panics<'s>(&'s Stream<R500>);

impl Stimulus<R500> for Panics<'_> {
    const OBSERVES: bool = false;
    fn next(&mut self, cycle: u64, _: &Golden, pins: &mut In) -> bool {
        *pins = self.0.cycles.0[cycle as usize];
        assert_ne!(cycle, 100, "no cycle 100");
        true
    }
}

/// Regression: the golden model is ahead of RTL in another process, and its panic came before the mismatch.
#[test]
fn a_mismatch_before_the_golden_model_panics_is_the_result() {
    let build = Build::from(R500::LANES);
    let stream = Stream::random(1, 200, &build);
    let run = |what| {
        let mut dut = that(what).open(1).unwrap();
        let mut golden = Golden::build(&build);
        let setting = Setting {
            lanes: R500::LANES as usize,
            ..Setting::default()
        };
        lockstep::run(&mut Panics(&stream), setting, &mut dut, &mut golden).unwrap()
    };
    let mismatch = run(WRONG).mismatch.unwrap();
    assert!((38..=41).contains(&mismatch.cycle), "{}", mismatch.cycle);
    let panicked = catch_unwind(AssertUnwindSafe(|| run(0))).unwrap_err();
    let why = panicked.downcast::<String>().unwrap();
    assert!(why.contains("no cycle 100"), "{why}");
}

/// Counts the cycles that it sees, and fails at the tenth.
struct Watches<'s>(&'s Stream<R500>, u64);

impl Stimulus<R500> for Watches<'_> {
    const OBSERVES: bool = false;
    fn next(&mut self, cycle: u64, _: &Golden, pins: &mut In) -> bool {
        *pins = self.0.cycles.0[cycle as usize];
        true
    }
    fn seen(&mut self, _: &Seen<R500>) {
        self.1 += 1;
        assert_ne!(self.1, 10, "the tenth cycle");
    }
}

/// Regression: what watched a run went on after it had failed, and a mismatch that it then met replaced its failure.
#[test]
fn what_watches_a_run_is_not_called_after_it_has_failed() {
    let build = Build::from(R500::LANES);
    let stream = Stream::random(1, 200, &build);
    let mut watch = Watches(&stream, 0);
    let mut dut = that(WRONG).open(1).unwrap();
    let mut golden = Golden::build(&build);
    let setting = Setting {
        lanes: R500::LANES as usize,
        ..Setting::default()
    };
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let ran = lockstep::run(&mut watch, setting, &mut dut, &mut golden);
        ran.unwrap().mismatch
    }));
    let why = panicked.unwrap_err().downcast::<String>().unwrap();
    assert!(why.contains("the tenth cycle"), "{why}");
    assert_eq!(watch.1, 10);
}

/// Regression: the process wanted descriptor 200.
#[test]
fn rtl_runs_in_a_process_with_few_descriptors() {
    let test = "tb::hosted::rtl_that_prints_without_end_is_judged_by_what_it_does";
    let limited = ["-c", "ulimit -n 100; exec \"$0\" --exact \"$1\""];
    let mut run = Command::new("sh");
    run.args(limited)
        .arg(std::env::current_exe().unwrap())
        .arg(test);
    let ran = run.output().unwrap();
    let said = text(&ran.stdout);
    assert!(said.contains("1 passed"), "{said}{}", text(&ran.stderr));
}

#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_program_on_rtl_that_ends_its_process_fails_and_is_saved() {
    let rtl = that(EXIT);
    let dir = tempfile::tempdir().unwrap();
    let found = fuzz::<Case<R500>>(&rtl, &Options::default().out(dir.path()));
    let found = found.unwrap_err();
    assert_eq!(cause(&found.failure), "exit status: 0");
    let saved = found.saved.as_ref().unwrap();
    let again = replay::<Case<R500>>(saved, &rtl).unwrap().unwrap_err();
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
    let judged = stream.check_on(&mut dut, None, &mut |cycle: &Seen<R500>| {
        seen.push((*cycle.pins, *cycle.state));
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
            let found = fuzz::<Stream<R500>>(rtl, &options(dir.path())).unwrap_err();
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
                let judged = check_on(&case, &mut dut, Judges::All, Records::judge, &mut calls);
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
    let mut options = Options::default().cases(2).cycles(60);
    options.out = None;
    assert_eq!(
        fuzz::<Stream<R500>>(&that(TALK), &options)
            .unwrap()
            .compared
            .cycles,
        120
    );
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
