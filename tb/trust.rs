//! No wrong verdict passes and no finding is lost, whatever the RTL, the disk or the scheduler does.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use reconverge::campaign;
use reconverge::case::Case;
use reconverge::check::check;
use reconverge::dut::Rtl;
use reconverge::failure::Failure;
use reconverge::field::Flip;
use reconverge::r500::R500;
use reconverge::report::Waves;
use reconverge::saved::Saved;

use serde_json::Value;

use crate::common::rtl::{Copy, Rtl as Folder};
use crate::common::{
    ROOT, Tested, arg, command_in, line_starting, loaded, program, reconverge, reconverge_ends,
    text, wait_until,
};

mod agreement;
mod interrupted;
mod many;

/// A case of r500 that fails in its PC.
fn spoilt() -> Case<R500> {
    let mut case = Case::<R500>::new(loaded::<R500>("if_else.s"));
    case.flip = Some(Flip {
        field: "pc".to_owned(),
        element: 0,
        bit: 1,
        cycle: 6,
    });
    case
}

/// A user's own test prints the same as the command, except for file names.
#[test]
fn unwrapping_a_failed_check_prints_the_report() {
    let case = spoilt();
    let rtl = Rtl::own(case.lanes).unwrap();
    let failure = check(&case, &rtl).unwrap_err();
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let program = program::<R500>("if_else.s");
    let out_arg = out.to_str().unwrap();
    let args = [
        "run", "r500", &program, "--flip", "pc.1@6", "--out", out_arg,
    ];
    let printed = reconverge_ends(1, &args);
    let (report, files) = printed.split_once("replay  ").unwrap();
    assert_eq!(failure.to_string(), report);
    assert_eq!(format!("{failure:?}"), format!("\n{report}"));
    let rule = format!("  rule    {}\n", failure.rule().unwrap());
    assert!(report.contains(&rule), "{report}");

    // It is saved as the command saves it, and dumped likewise.
    let own = dir.path().join("own");
    let saved = failure.save(&own).unwrap();
    let name = saved.file_name().unwrap();
    let text = fs::read_to_string(&saved).unwrap();
    assert_eq!(text, fs::read_to_string(out.join(name)).unwrap());
    let again = Saved::<Case<R500>>::parse(&text, "saved").unwrap();
    assert_eq!((again.case, again.failure), (case, Some(failure.place())));
    let waves = Waves::make(&*failure.case, &rtl, Some(&failure), &own).unwrap();
    assert_eq!(
        waves.to_string().replace(own.to_str().unwrap(), out_arg),
        files.split_once('\n').unwrap().1
    );
}

/// A failure crosses process boundaries unchanged.
#[test]
fn a_failure_reads_back_as_it_was_written() {
    let case = spoilt();
    let failure = check(&case, &Rtl::own(case.lanes).unwrap()).unwrap_err();
    let text = serde_json::to_string(&failure).unwrap();
    let again: Failure<Case<R500>> = serde_json::from_str(&text).unwrap();
    assert_eq!(again.to_string(), failure.to_string());
    assert_eq!(serde_json::to_string(&again).unwrap(), text);
    for (from, to) in [
        ("\"element\":0,\"rtl\"", "\"element\":64,\"rtl\""),
        ("\"diffs\":[{\"field\":", "\"diffs\":[{\"field\":9"),
    ] {
        let nowhere = text.replace(from, to);
        assert_ne!(nowhere, text);
        let refused = serde_json::from_str::<Failure<Case<R500>>>(&nowhere);
        let message = refused.unwrap_err().to_string();
        assert!(message.starts_with("a mismatch in no field"), "{message}");
    }
}

// ---- RTL that does anything --------------------------------------------------------------------------

/// What RTL does on request: `MISBEHAVE` is a list of pairs of when and what. When: `*` in any cycle, `8` in which it
/// shows error 8, `L` where it has four lanes and is at address 1. What: `h` hang, `c` crash, `e` end the process as if
/// all were well, `a` take all memory, `f` flood standard output, `p` print a lot, `s` stop the simulation.
const MISBEHAVES: &str = r#"  always @(posedge clk_i) if (rst_ni) begin
    $c("for (const char *e = std::getenv(\"MISBEHAVE\"); e && *e; e += 2)",
       "  if (*e == '*' || *e - '0' == (int)(", err_o, ")",
       "      || (*e == 'L' && ", LANES, " == 4 && ", pc_o, " == 1))",
       "    switch (e[1]) {",
       "      case 'h': for (volatile int i = 1; i;) {} break;",
       "      case 'c': std::abort();",
       "      case 'e': std::_Exit(0);",
       "      case 'a': for (;;) std::memset(new char[1 << 24], 1, 1 << 24);",
       "      case 'f': for (;;) std::puts(\"flood\");",
       "      case 'p': for (int i = 0; i < 1000; ++i) std::puts(\"a lot\"); break;",
       "      case 's': vl_stop(\"planted\", 1, \"\"); break;",
       "    }");
  end"#;

/// r500 that misbehaves on request, and does what it should otherwise.
pub fn misbehaving() -> Copy {
    Folder::own("r500").planted(MISBEHAVES)
}

/// How a command ended that runs RTL which does `what`.
struct Ended {
    status: Option<i32>,
    out: String,
    err: String,
}

fn start_with(what: &str, args: &[impl AsRef<str>]) -> Child {
    let args: Vec<&str> = args.iter().map(AsRef::as_ref).collect();
    command_in(Path::new(ROOT), &args)
        .env("MISBEHAVE", what)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Arguments of a campaign on `rtl` with one worker that goes on after failures, with results and cases called `name` in
/// `dir`; `more` says the rest.
fn resumable(rtl: &Copy, dir: &tempfile::TempDir, name: &str, more: &[&str]) -> Vec<String> {
    let place = |name: &str| arg(&dir.path().join(name)).to_owned();
    let (results, out) = (place(name), place(&format!("{name}.out")));
    let fuzz = [
        "fuzz",
        "r500",
        "--jobs",
        "1",
        "--keep-going",
        "--no-shrink",
        "--rtl",
        rtl.arg(),
    ];
    let places = ["--results", &results, "--out", &out];
    [&fuzz[..], &places, more]
        .concat()
        .into_iter()
        .map(str::to_owned)
        .collect()
}

fn ended(child: Child) -> Ended {
    let output = child.wait_with_output().unwrap();
    Ended {
        status: output.status.code(),
        out: text(&output.stdout),
        err: text(&output.stderr),
    }
}

fn with(what: &str, args: &[&str]) -> Ended {
    ended(start_with(what, args))
}

/// Whatever the RTL does to its process, `run` says what it was, saves the case, and ends with 1; `replay` of the case
/// likewise.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn rtl_that_takes_its_process_along_is_a_failure_of_its_case() {
    let rtl = misbehaving();
    let dir = tempfile::tempdir().unwrap();
    let program = program::<R500>("if_else.s");
    for (what, message) in [
        ("*h", "HUNG r500.if_else.1  no progress within 2 s\n"),
        ("*c", "CRASHED r500.if_else.1  signal: 6 (SIGABRT)\n"),
        // As if all were well.
        ("*e", "CRASHED r500.if_else.1  exit status: 0\n"),
        (
            "*a",
            "CRASHED r500.if_else.1  out of memory: it may have 400 MB (--memory)\n",
        ),
    ] {
        let out = dir.path().join(&what[1..]);
        // Only tests that wait for it have a short limit: a busy machine is slow.
        let timeout = if what == "*h" { "2" } else { "60" };
        let limits = [
            "--timeout",
            timeout,
            "--memory",
            "400",
            "--rtl",
            rtl.arg(),
            "--out",
            arg(&out),
        ];
        let run = with(what, &[&["run", "r500", &program], &limits[..]].concat());
        assert_eq!(run.status, Some(1), "{what}: {}{}", run.out, run.err);
        assert!(run.out.starts_with(message), "{what}: {}", run.out);
        let case = out.join("r500.if_else.1.json");
        let again = with(what, &[&["replay", arg(&case)], &limits[..]].concat());
        assert_eq!((again.status, again.out), (Some(1), run.out), "{what}");
        assert_eq!(
            fs::read_dir(&out).unwrap().count(),
            1,
            "{what}: the case and nothing else"
        );
        // The same RTL without misbehaviour agrees.
        let fine = with("", &["replay", arg(&case), "--rtl", rtl.arg()]);
        assert_eq!(fine.status, Some(0), "{}", fine.err);
        assert!(fine.out.contains("it failed "), "{}", fine.out);
    }
}

/// In a picture it is the block that fails, by its first pixel, and its case is like any other. No picture is written.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn rtl_that_takes_its_process_along_in_a_picture_is_a_failure_of_its_block() {
    let rtl = misbehaving();
    let dir = tempfile::tempdir().unwrap();
    let limits = ["--timeout", "2", "--rtl", rtl.arg(), "--out"];
    for (what, message) in [
        ("*h", "HUNG r500.nested.x0.y0.1  no progress within 2 s\n"),
        ("*c", "CRASHED r500.nested.x0.y0.1  signal: 6 (SIGABRT)\n"),
    ] {
        let out = dir.path().join(&what[1..]);
        let shader = "examples/shaders/nested.txt";
        let render = ["render", "r500", shader, "--safe-loops", "--size", "8x8"];
        let args = [&render[..], &limits, &[arg(&out)]].concat();
        let ran = with(what, &args);
        assert_eq!(ran.status, Some(1), "{what}: {}{}", ran.out, ran.err);
        assert!(ran.out.starts_with(message), "{what}: {}", ran.out);
        assert_eq!(saved(&out), ["r500.nested.x0.y0.1.json"], "{what}");
        assert_eq!(fs::read_dir(&out).unwrap().count(), 1, "{what}");
        let case = out.join("r500.nested.x0.y0.1.json");
        let again = [&["replay", arg(&case)], &limits[..], &[arg(&out)]].concat();
        assert_eq!(with(what, &again).out, ran.out, "{what}");
        // The same RTL without misbehaviour.
        assert_eq!(with("", &args).status, Some(0), "{what}");
        assert!(out.join("r500.nested.png").exists(), "{what}");
    }
}

/// Endless output of the RTL fills neither memory nor disk.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_flood_of_output_is_cut_off() {
    let rtl = misbehaving();
    let dir = tempfile::tempdir().unwrap();
    let program = program::<R500>("if_else.s");
    let args = [
        "run",
        "r500",
        &program,
        "--timeout",
        "2",
        "--rtl",
        rtl.arg(),
        "--out",
        arg(dir.path()),
    ];
    let run = with("*f", &args);
    assert_eq!(run.status, Some(1));
    assert!(run.out.starts_with("HUNG "), "{}", run.out);
    assert!(run.err.len() < 100_000, "{} bytes", run.err.len());
    let note = run.err.lines().last().unwrap();
    assert!(
        note.ends_with(" bytes more of the RTL's output not shown"),
        "{note}"
    );
}

/// Regression: `cover` waited for ever for RTL that hangs; a guided run also names the case.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn coverage_of_rtl_that_hangs_ends_with_the_case() {
    let rtl = misbehaving();
    let dir = tempfile::tempdir().unwrap();
    let json = dir.path().join("c.json");
    let out = dir.path().join("out");
    let args = [
        "cover",
        "r500",
        "--programs",
        "500",
        "--timeout",
        "2",
        "--rtl",
        rtl.arg(),
        "--json",
        arg(&json),
        "--out",
        arg(&out),
    ];
    for (more, what, kind) in [(&[][..], "8h", "HUNG "), (&["--guided"], "8c", "CRASHED ")] {
        let ran = with(what, &[&args[..], more].concat());
        assert_eq!(ran.status, Some(1), "{}{}", ran.out, ran.err);
        let failed = line_starting(&ran.out, kind);
        let name = failed.split_whitespace().nth(1).unwrap();
        // The coverage until then is reported, and its case fails again.
        assert!(ran.out.starts_with("r500.cover.1  "), "{}", ran.out);
        assert!(fs::read_to_string(&json).unwrap().contains("\"hits\""));
        let case = out.join(format!("{name}.json"));
        let again = with(
            what,
            &[
                "replay",
                arg(&case),
                "--timeout",
                "2",
                "--rtl",
                rtl.arg(),
                "--out",
                arg(&out),
            ],
        );
        assert_eq!(again.status, Some(1), "{}{}", again.out, again.err);
        assert_eq!(line_starting(&again.out, kind), failed);
    }
}

/// Regression: RTL with an ordinary error that hangs, crashes or ends the process with four lanes ended `fuzz` while the case was
/// shrunk, and nothing was written.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn what_happens_while_a_case_is_made_smaller_loses_nothing() {
    let rtl = misbehaving();
    rtl.change(R500::faults("decisions")[0]);
    let dir = tempfile::tempdir().unwrap();
    for (what, why) in [
        ("Lh", "no progress within 2 s"),
        ("Lc", "signal: 6 (SIGABRT)"),
        ("Le", "exit status: 0"),
    ] {
        let at = |name: &str| dir.path().join(what).join(name);
        fs::create_dir(at("")).unwrap();
        let (json, junit, out) = (at("s.json"), at("s.xml"), at("out"));
        let args = [
            "fuzz",
            "r500",
            "--cycles",
            "400000",
            "--timeout",
            "2",
            "--rtl",
            rtl.arg(),
            "--json",
            arg(&json),
            "--junit",
            arg(&junit),
            "--out",
            arg(&out),
        ];
        let ran = with(what, &args);
        assert_eq!(ran.status, Some(1), "{}{}", ran.out, ran.err);
        let failed = line_starting(&ran.out, "MISMATCH ");
        let name = failed.split_whitespace().nth(1).unwrap();
        let small = ran.out.split("\nMISMATCH ").nth(1).unwrap();
        let small = small.split_whitespace().next().unwrap();
        for file in [
            json,
            junit,
            at(&format!("out/{name}.json")),
            at(&format!("out/{small}.vcd")),
        ] {
            assert!(file.is_file(), "{what}: {}", file.display());
        }
        // The smallest case so far.
        assert!(
            ran.out.contains("program shrunk from "),
            "{what}: {}{}",
            ran.out,
            ran.err
        );
        assert!(
            ran.err
                .contains(&format!("note: not shrunk further: {why}\n")),
            "{what}: {}",
            ran.err
        );
        assert!(at(&format!("out/{name}.shrunk.json")).is_file());
    }
}

/// Regression: all files are written before a case is shrunk, whatever then ends the command.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn summaries_are_written_before_a_case_is_made_smaller() {
    let rtl = misbehaving();
    rtl.change(R500::faults("decisions")[0]);
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let (json, junit, out) = (at("s.json"), at("s.xml"), at("out"));
    let args = [
        "fuzz",
        "r500",
        "--cycles",
        "400000",
        "--timeout",
        "600",
        "--rtl",
        rtl.arg(),
        "--json",
        arg(&json),
        "--junit",
        arg(&junit),
        "--out",
        arg(&out),
    ];
    // With fewer lanes it hangs for ten minutes.
    let mut child = start_with("Lh", &args);
    let said = child.stdout.take().unwrap();
    let written = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    wait_until("summaries are written", || {
        assert_eq!(child.try_wait().unwrap(), None, "it does not hang");
        written(&json).contains("\"mismatches\": [\n") && written(&junit).contains("<failure ")
    });
    // Behind them comes the line of the failure; then nothing can be written any more.
    let mut line = String::new();
    BufReader::new(said).read_line(&mut line).unwrap();
    signal(&child, "-KILL");
    assert!(line.starts_with("MISMATCH "), "{line}{}", ended(child).err);
}

fn signal(child: &Child, name: &str) {
    crate::campaign::signal(child.id(), name);
}

/// The failed cases in a folder.
fn saved(out: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(out)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".json"))
        .collect();
    names.sort();
    names
}

/// RTL that hangs or crashes in every case is given up, with a verdict, instead of taking its time limit a thousand
/// times.
#[test]
fn rtl_that_crashes_again_and_again_is_given_up() {
    let rtl = misbehaving();
    let dir = tempfile::tempdir().unwrap();
    let (json, out) = (dir.path().join("s.json"), dir.path().join("out"));
    let results = dir.path().join("r");
    let args = [
        "fuzz",
        "r500",
        "--programs",
        "10000",
        "--jobs",
        "2",
        "--keep-going",
        "--rtl",
        rtl.arg(),
        "--json",
        arg(&json),
        "--results",
        arg(&results),
        "--out",
        arg(&out),
    ];
    let ran = with("*c", &args);
    assert_eq!(ran.status, Some(1), "{}", ran.err);
    let line =
        "  given up        the RTL crashed or hung in 8 of 8 cases; 9,992 programs not run\n";
    assert!(ran.out.contains(line), "{}", ran.out);
    let summary: Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(
        (&summary["complete"], &summary["not_run"]),
        (&false.into(), &9992.into())
    );
    assert_eq!(summary["mismatches"].as_array().unwrap().len(), 8);
    // The result does not depend on the number of requests.
    let again = with("*c", &args);
    assert_eq!((again.status, again.out), (Some(1), ran.out));
}

/// Regression: a dump that does not fit on the disk ended the process, and the mismatch was lost.
#[test]
fn a_full_disk_loses_no_mismatch() {
    let dir = tempfile::tempdir().unwrap();
    let program = program::<R500>("if_else.s");
    let limited = |blocks: u32, args: &[&str]| {
        let command = command_in(Path::new(ROOT), args);
        let mut shell = Command::new("sh");
        shell
            // Files of so many blocks at most. What is beyond is a signal too, which ends a process by default.
            .arg("-c")
            .arg(format!("ulimit -f {blocks}; exec \"$0\" \"$@\""))
            .arg(command.get_program())
            .args(command.get_args())
            .current_dir(ROOT)
            .envs(command.get_envs().filter_map(|(k, v)| Some((k, v?))));
        let output = shell.output().unwrap();
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let out = dir.path().join("run");
    let (status, report, err) = limited(
        32,
        &[
            "run",
            "r500",
            &program,
            "--flip",
            "pc.1@6",
            "--out",
            arg(&out),
        ],
    );
    assert_eq!(status, Some(1), "{err}");
    assert!(
        report.starts_with("MISMATCH r500.if_else.1  cycle 6  "),
        "{report}"
    );
    assert!(
        err.contains("warning: no waves: ") && err.contains("r500.if_else.1.vcd: File too large"),
        "{err}"
    );
    assert_eq!(saved(&out), ["r500.if_else.1.json"]);
    assert_eq!(
        fs::read_dir(&out).unwrap().count(),
        1,
        "nothing half-written"
    );

    // Results that cannot be kept: the findings are reported all the same.
    let bad = Folder::own("r500").copy();
    bad.change(R500::faults("decisions")[0]);
    // A compiler has larger files.
    let fine = ["run", "r500", &program, "--rtl", bad.arg(), "--out"];
    reconverge(&[&fine[..], &[arg(&dir.path().join("built"))]].concat());
    let (results, json, out) = (
        dir.path().join("r"),
        dir.path().join("s.json"),
        dir.path().join("fuzz"),
    );
    let args = [
        "fuzz",
        "r500",
        "--programs",
        "600",
        "--keep-going",
        "--no-shrink",
        "--rtl",
        bad.arg(),
        "--results",
        arg(&results),
        "--json",
        arg(&json),
        "--out",
        arg(&out),
    ];
    let (status, report, err) = limited(1024, &args);
    assert_eq!(status, Some(1), "{err}");
    assert!(report.contains("\n\nMISMATCH "), "{report}");
    assert!(err.contains("r500.jsonl: File too large"), "{err}");
    assert!(!saved(&out).is_empty());
}

/// Regression: the campaigns of a unit's builds have cases of the same names, and only the last one that failed was left.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn cases_of_other_builds_do_not_replace_each_other() {
    let bad = Folder::own("r500").copy();
    bad.change(R500::faults("decisions")[0]);
    let dir = tempfile::tempdir().unwrap();
    let fuzz = [
        "fuzz",
        "r500",
        "--programs",
        "256",
        "--keep-going",
        "--no-shrink",
    ];
    let out = dir.path().join("out");
    let summary = dir.path().join("s.json");
    let with = [
        "--variants",
        "one",
        "--rtl",
        bad.arg(),
        "--out",
        arg(&out),
        "--json",
        arg(&summary),
    ];
    reconverge_ends(1, &[&fuzz[..], &with[..]].concat());
    let summary: Value = serde_json::from_str(&fs::read_to_string(&summary).unwrap()).unwrap();
    let campaigns = summary.as_array().unwrap().iter();
    let runs = campaigns.flat_map(|campaign| campaign["mismatches"].as_array().unwrap());
    let mut told: Vec<String> = runs
        .map(|failed| format!("{}.json", failed["run"].as_str().unwrap()))
        .collect();
    told.sort();
    let builds = told
        .iter()
        .map(|name| name.contains("-lanes"))
        .collect::<Vec<_>>();
    assert!(
        builds.contains(&true) && builds.contains(&false),
        "{told:?}"
    );
    let there = saved(&out);
    let builds = there.iter().map(|name| name.contains("-lanes"));
    assert_eq!(builds.collect::<BTreeSet<_>>().len(), 2, "{there:?}");
    for name in &there {
        assert!(told.contains(name), "{name}: {told:?}");
        let text = fs::read_to_string(out.join(name)).unwrap();
        let case = Saved::<Case<R500>>::parse(&text, name).unwrap().case;
        assert_eq!(format!("{}.json", case.name()), *name);
    }
}

/// Regression: memory that one case had taken of a worker was missing in later ones, which failed too.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_case_that_takes_all_memory_fails_alone() {
    let rtl = misbehaving();
    let dir = tempfile::tempdir().unwrap();
    let failed = |what: &str| {
        let out = dir.path().join(what);
        let args = [
            "fuzz",
            "r500",
            "--seed",
            "3",
            "--programs",
            "30",
            "--jobs",
            "1",
        ];
        let more = [
            "--keep-going",
            "--no-shrink",
            "--memory",
            "400",
            "--rtl",
            rtl.arg(),
        ];
        let ran = with(
            what,
            &[&args[..], &more[..], &["--out", arg(&out)]].concat(),
        );
        assert_eq!(ran.status, Some(1), "{}", ran.err);
        saved(&out)
    };
    let crashed = failed("8c");
    assert!(
        crashed.len() > 1 && crashed.len() < campaign::MAX_LOST,
        "{crashed:?}"
    );
    assert_eq!(failed("8a"), crashed);
}

/// Regression: the worker panicked and continued without the thread that reads its orders, and its RTL was reported as hanging.
#[test]
fn a_worker_that_cannot_start_a_thread_says_so() {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    ours.set_read_timeout(Some(Duration::from_secs(1200)))
        .unwrap();
    let mut child = command_in(Path::new(ROOT), &["worker", "r500"])
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let built = Rtl::<R500>::own(16).unwrap().built();
    let job = serde_json::json!({"built": built, "memory": 1});
    writeln!(ours, "{job}").unwrap();
    let mut said = String::new();
    let read = BufReader::new(ours).read_line(&mut said);
    let _ = child.kill();
    child.wait().unwrap();
    assert!(read.is_ok(), "{read:?}");
    let answer: Value = serde_json::from_str(&said).unwrap();
    let why = answer["Cannot"].as_str().unwrap();
    assert!(
        why.starts_with("worker: no thread can be started: "),
        "{why}"
    );
    assert!(why.ends_with("; it may have 1 MB (--memory)"), "{why}");
}
