//! Campaigns and workers that are killed, interrupted, or ended by the RTL.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use quick_junit::TestCaseStatus;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use reconverge::campaign::{self, Limit, Options, Runner, Summary};
use reconverge::case::Case;
use reconverge::cover::Model;
use reconverge::design::Design;
use reconverge::dut::Rtl;
use reconverge::unit::Unit;

use super::{
    CampaignFolder, alive, ends, json, junit_in, says, signal, start, wait_for_lines, with,
    workers_of,
};
use crate::common::rtl::Rtl as Folder;
use crate::common::{Tested, arg, line_starting, reconverge, reconverge_ends, text, wait_until};

/// Kills and resumes a campaign of `programs` programs with SIGKILL about every `ms` milliseconds until it
/// ends; the workers do not outlive it. Its totals are those of an undisturbed run. Returns how often it
/// was killed.
pub(super) fn killed<U: Unit>(seed: u64, programs: u64, ms: u64) -> u64 {
    let place = CampaignFolder::new();
    let fuzz = place.fuzz(U::NAME, programs);
    let seed_text = seed.to_string();
    let results = with(&fuzz, &["--seed", &seed_text, "--jobs", "2"]);
    let mut once = results.clone();
    let at = once.iter().position(|a| *a == "--results").unwrap();
    once.drain(at..at + 2);
    let undisturbed = reconverge_ends(0, &once);

    let file = place.path("r").join(format!("{}.jsonl", U::NAME));
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    // How often it was killed before it had done anything. It then gets more time, so that a slow machine also finishes.
    let (mut kills, mut before, mut idle) = (0, 0, 0);
    loop {
        let mut child = start(&results);
        let end = Instant::now() + Duration::from_millis(rng.random_range(1..(2 * ms) << idle));
        while Instant::now() < end && child.0.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(1));
        }
        // Not all of its workers may have begun.
        let workers = workers_of(child.id());
        child.0.kill().unwrap();
        let output = child.ended();
        let done = fs::read(&file).unwrap_or_default();
        let lines = done.iter().filter(|b| **b == b'\n').count();
        assert!(lines >= before, "what was done is still there");
        idle = if lines == before { idle + 1 } else { 0 };
        before = lines;
        if output.status.signal().is_none() {
            assert_eq!(output.status.code(), Some(0), "{output:?}");
            assert_eq!(text(&output.stdout), undisturbed);
            break;
        }
        kills += 1;
        let ended = || !workers.iter().any(|pid| alive(*pid));
        wait_until("no worker is left", ended);
    }
    // No case is run twice, no other file is left, and a complete campaign is not run again.
    let chunks = programs.div_ceil(campaign::CHUNK) as usize;
    assert_eq!(before, chunks + 1, "a header, and each chunk once");
    assert_eq!(fs::read_dir(place.path("r")).unwrap().count(), 1);
    let again = reconverge(&results);
    assert_eq!(text(&again.stdout), undisturbed);
    let shown = line_starting(&undisturbed, U::NAME)
        .split_whitespace()
        .nth(1)
        .unwrap();
    let complete = format!("{}: complete, {shown} programs\n", U::NAME);
    assert_eq!(text(&again.stderr), complete);
    kills
}

pub(super) fn a_campaign_killed_again_and_again_ends_with_the_totals_of_one_run<U: Tested>() {
    let kills = killed::<U>(3, 1100, 80);
    println!("killed {kills} times");
}

/// Of two commands at once the second is refused. After SIGTERM and SIGINT the results are kept, and the status says so.
#[test]
fn a_signal_ends_a_campaign_and_no_other_command_writes_it_meanwhile() {
    let place = CampaignFolder::new();
    let fuzz = place.fuzz("r500", 200_000);
    let (json_file, junit) = (place.arg("s.json"), place.arg("s.xml"));
    let args = with(
        &fuzz,
        &["--json", &json_file, "--junit", &junit, "--jobs", "2"],
    );
    let file = place.path("r/r500.jsonl");
    for name in ["-INT", "-TERM"] {
        let before = fs::read_to_string(&file)
            .unwrap_or_default()
            .lines()
            .count();
        let child = start(&args);
        // New results exist: this command holds the lock. Programs are counted from the first chunk on, which may be done after the second;
        // in the second round it is there.
        wait_for_lines(&file, before + 2);
        wait_until("the first chunk is done", || {
            let results = fs::read_to_string(&file).unwrap_or_default();
            results.contains("\n{\"chunk\":0,")
        });
        let why = "another process is writing these results";
        says(2, &args, &format!("error: {}: lock: {why}", arg(&file)));
        signal(child.id(), name);
        let output = child.ended();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(3), "{err}");
        let shown = line_starting(&out, "r500.fuzz.1")
            .split_whitespace()
            .nth(1)
            .unwrap();
        let end = format!(
            "error: r500: interrupted after {shown} programs; the same command goes on from there\n"
        );
        assert!(err.ends_with(&end), "{err}");
        let summary = json(Path::new(&json_file));
        assert_eq!(summary["complete"], false);
        let read = junit_in(Path::new(&junit));
        assert_eq!((read.failures, read.errors), (0, 1));
        let done = fs::read_to_string(&file).unwrap();
        assert!(done.ends_with('\n'), "the chunks were brought to their end");
        let counted = summary["programs"].as_u64().unwrap();
        assert!((done.lines().count() as u64 - 1) * campaign::CHUNK >= counted && counted > 0);
        let mut left: Vec<_> = fs::read_dir(place.0.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["r", "s.json", "s.xml"]);
    }
}

/// A worker that is killed costs nothing but the time to run its chunk again.
#[test]
fn a_worker_that_is_killed_loses_nothing() {
    let place = CampaignFolder::new();
    let fuzz = place.fuzz("r500", 1000);
    let mut once = with(&fuzz, &[]);
    once.drain(4..6);
    let expected = reconverge_ends(0, &once);
    let child = start(&with(&fuzz, &["--jobs", "1"]));
    wait_for_lines(&place.path("r/r500.jsonl"), 2);
    let workers = workers_of(child.id());
    assert_eq!(workers.len(), 1);
    signal(workers[0], "-KILL");
    let output = child.ended();
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert_eq!(text(&output.stdout), expected);
    let warning = line_starting(&err, "warning: a worker of r500 ended in cases ");
    assert!(
        warning.ends_with(" (signal: 9 (SIGKILL)); they are run again one by one"),
        "{warning}"
    );
}

/// RTL that crashes in one place and hangs in another: exactly the cases that reach these places fail, and every other case
/// counts as with sound RTL.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn rtl_that_crashes_or_hangs_loses_its_case_and_nothing_else() {
    use reconverge::r500::R500;
    const PROGRAMS: u64 = 12;
    // As r500 has them: 6 is ADDR_OVERFLOW, 2 PARTIAL.
    let bad = Folder::own("r500").planted(
        "  always @(posedge clk_i) if (rst_ni && err_o == 4'd6) $c(\"abort();\");\n  \
         always @(posedge clk_i) if (rst_ni && err_o == 4'd2) $c(\"for (volatile int i = 1; i;) {}\");",
    );
    // The cases that reach these places, found with sound RTL.
    let options = Options {
        seed: 1,
        limit: Limit::Programs(PROGRAMS),
        jobs: 1,
        keep_going: true,
        ..Options::default()
    };
    let rtl = Rtl::<R500>::own(R500::LANES).unwrap();
    let bins = Model::new(rtl.build());
    let mut runner = Runner::open(&options, &rtl, Some(&bins), 0).unwrap();
    let mut sound = Summary::<Case<R500>>::default();
    let mut expected = Vec::new();
    for index in 0..PROGRAMS {
        let one = runner.run(index, &mut |_| ());
        let ends = |how: &str| one.outcomes.keys().any(|o| o.starts_with(how));
        let how = match (ends("error 2"), ends("error 6")) {
            (false, false) => {
                sound.add(one);
                continue;
            }
            (true, false) => "no progress within 3 s",
            (false, true) => "signal: 6 (SIGABRT)",
            // Whichever comes first.
            (true, true) => "either",
        };
        let (_, case) = campaign::case::<R500>(1, index, rtl.build());
        expected.push((case.name(), how));
    }
    println!("{expected:?}");
    assert!(
        expected
            .iter()
            .any(|(_, how)| how.starts_with("no progress"))
    );
    assert!(expected.iter().any(|(_, how)| how.starts_with("signal")));

    let place = CampaignFolder::new();
    let fuzz = place.fuzz("r500", PROGRAMS);
    let (file, junit) = (place.path("s.json"), place.path("s.xml"));
    let more = [
        "--rtl",
        bad.arg(),
        "--keep-going",
        "--timeout",
        "3",
        "--json",
        arg(&file),
        "--junit",
        arg(&junit),
    ];
    let out = ends(1, &fuzz, &more);
    let mut summary = json(&file);
    let found = summary["mismatches"].take();
    let found: Vec<(String, String)> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|f| {
            let text = |name: &str| {
                f[name]
                    .as_str()
                    .unwrap()
                    .trim_end_matches(" (core dumped)")
                    .to_owned()
            };
            match f["kind"].as_str().unwrap() {
                "hung" => (
                    text("run"),
                    format!("no progress within {} s", f["seconds"]),
                ),
                kind => {
                    assert_eq!(kind, "crashed");
                    (text("run"), text("how"))
                }
            }
        })
        .collect();
    let expected: Vec<(String, String)> = expected
        .into_iter()
        .map(|(name, how)| (name, how.to_owned()))
        .collect();
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, (name, how)) in found.iter().zip(&expected) {
        assert_eq!(found.0, *name);
        assert!(found.1 == *how || how == "either", "{found:?}");
    }
    let counted = sound.to_json(&options, &bins);
    for name in [
        "cycles",
        "launches",
        "instructions",
        "outcomes",
        "judged",
        "seen",
    ] {
        assert_eq!(summary[name], counted[name], "{name}");
    }
    assert_eq!(summary["programs"], PROGRAMS);
    // Resumed, it is the same, and nothing is run again.
    assert_eq!(ends(1, &fuzz, &more), out);

    // Each is saved, reported, and a test of its own in the JUnit file.
    let read = junit_in(&junit);
    let suite = &read.test_suites[0];
    assert_eq!(
        (suite.name.as_str(), suite.failures),
        ("r500.fuzz.1", expected.len())
    );
    let mut tests = suite.test_cases.iter();
    for kind in ["near-legal", "raw", "seeded", "structured"] {
        let test = tests.next().unwrap();
        assert_eq!(test.name.as_str(), format!("r500.{kind}.1"));
        assert!(matches!(test.status, TestCaseStatus::Success { .. }));
    }
    for (name, how) in &found {
        let what = if how.starts_with("no progress") {
            "HUNG"
        } else {
            "CRASHED"
        };
        let saved = place.arg(&format!("out/{name}.json"));
        assert!(out.lines().any(|line| line.ends_with(&saved)), "{out}");
        let TestCaseStatus::NonSuccess {
            message,
            description,
            ..
        } = &tests.next().unwrap().status
        else {
            panic!("{name} passed");
        };
        assert!(message.as_ref().unwrap().as_str().starts_with(how.as_str()));
        let description = description.as_ref().unwrap().as_str();
        assert!(description.starts_with(&format!("{what} {name}  {how}")));
        assert!(place.path(&format!("out/{name}.json")).is_file());
    }
    assert!(tests.next().is_none());

    // The saved case ends its process again.
    let (name, _) = expected
        .iter()
        .find(|(_, how)| how.starts_with("signal"))
        .unwrap();
    let case = place.arg(&format!("out/{name}.json"));
    let again = reconverge_ends(1, &["replay", &case, "--rtl", bad.arg()]);
    assert!(again.starts_with(&format!("CRASHED {name}  signal: 6 (SIGABRT)\n")));
}

/// Only the command that starts a worker has a socket for it.
#[test]
fn a_worker_without_a_campaign_says_so() {
    let output = reconverge(&["worker", "r500"]);
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        err.starts_with("error: worker: standard input is not a socket of reconverge: "),
        "{err}"
    );
}
