//! Commands that are interrupted end at once, say so, and lose nothing of what they found.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::campaign::wait_for_rtl;
use crate::common::{arg, line_starting, wait_until};

use super::{ended, misbehaving, resumable, saved, signal, start_with};

/// Regression: with RTL that hangs, a signal had no effect for hours, and the findings were lost. Now each case is on the disk as
/// soon as it is known, the command ends long before the time limit of the case that hangs, and resumes where it was.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_signal_ends_a_campaign_on_rtl_that_hangs_and_nothing_found_is_lost() {
    let rtl = misbehaving();
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let args = |results: &str, timeout: &str| {
        let json = arg(&at(&format!("{results}.s.json"))).to_owned();
        resumable(
            &rtl,
            &dir,
            results,
            &["--programs", "60", "--timeout", timeout, "--json", &json],
        )
    };
    // Two ways to fail: error 6, which comes first, crashes; error 8 hangs, and crashes where there is no time to wait for it.
    let whole = ended(start_with("8c6c", &args("whole", "600")));
    assert_eq!(whole.status, Some(1), "{}", whole.err);
    let expected = saved(&at("whole.out"));
    assert!(expected.len() > 2, "{expected:?}");

    let interrupted = args("r", "600");
    let child = start_with("6c8h", &interrupted);
    wait_until("a case is found", || !saved(&at("r.out")).is_empty());
    // The next one that hangs does so for ten minutes.
    wait_for_rtl(child.id());
    signal(&child, "-TERM");
    let begin = Instant::now();
    let ran = ended(child);
    assert!(
        begin.elapsed() < Duration::from_secs(300),
        "it waits for the RTL"
    );
    assert_eq!(ran.status, Some(1), "what was found is told: {}", ran.err);
    let end = ran.err.lines().last().unwrap();
    assert!(
        end.starts_with("error: r500: interrupted after "),
        "{}",
        ran.err
    );
    assert!(
        line_starting(&ran.out, "CRASHED ").contains("signal: 6"),
        "{}",
        ran.out
    );
    assert!(
        fs::read_to_string(at("r.s.json"))
            .unwrap()
            .contains("\"complete\": false")
    );
    // It goes on with the case that it was at, not with the chunk.
    let lines = fs::read_to_string(at("r/r500.jsonl")).unwrap();
    let done = lines.lines().count() - 1;
    assert!(done > 1, "single cases are kept");
    let again = ended(start_with("8c6c", &interrupted));
    assert_eq!(
        (again.status, again.out.replace("/r.out/", "/whole.out/")),
        (Some(1), whole.out)
    );
    assert_eq!(saved(&at("r.out")), expected);
    let resumed = fs::read_to_string(at("r/r500.jsonl")).unwrap();
    assert!(resumed.starts_with(&lines), "nothing is run twice");
}

/// Regression: `timeout` sends its signal to the process and to its group. The second signal ended the command at once, so that
/// nothing was reported.
#[test]
fn a_signal_that_comes_twice_at_once_says_no_more_than_one() {
    let rtl = misbehaving();
    let dir = tempfile::tempdir().unwrap();
    let json = dir.path().join("all.json");
    let limits = ["--programs", "8", "--timeout", "600", "--json", arg(&json)];
    let ran = loop {
        let child = start_with("*h", &resumable(&rtl, &dir, "r", &limits));
        wait_for_rtl(child.id());
        let first = Instant::now();
        signal(&child, "-TERM");
        // In between it waits for the worker to come to an end.
        sleep(Duration::from_millis(100));
        signal(&child, "-TERM");
        // On a busy machine they may come too far apart.
        let at_once = first.elapsed() < Duration::from_secs(1);
        let ran = ended(child);
        if at_once {
            break ran;
        }
    };
    assert_eq!(ran.status, Some(3), "{}", ran.err);
    assert!(
        ran.err
            .contains("error: r500: interrupted after 0 programs"),
        "{}",
        ran.err
    );
    assert!(
        fs::read_to_string(json)
            .unwrap()
            .contains("\"complete\": false")
    );
}

/// Regression: failures of programs that do not count yet, because an earlier one is not done, were subtracted from those that
/// count: JUnit reported too few that passed, and with none left the command panicked.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn an_interrupted_campaign_tells_how_many_of_the_programs_that_count_passed() {
    let rtl = misbehaving();
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let fuzz = |name: &str, programs: &str| {
        let junit = arg(&at(&format!("{name}.xml"))).to_owned();
        resumable(
            &rtl,
            &dir,
            name,
            &[
                "--programs",
                programs,
                "--timeout",
                "600",
                "--junit",
                &junit,
            ],
        )
    };
    let passed = |name: &str| -> Vec<String> {
        let xml = fs::read_to_string(at(&format!("{name}.xml"))).unwrap();
        let lines = xml.lines().map(str::trim);
        let lines = lines.filter(|line| line.contains(" programs passed, "));
        lines.map(str::to_owned).collect()
    };
    // The first chunk alone; then three, of which the second is not done and hangs.
    assert_eq!(ended(start_with("9s", &fuzz("one", "256"))).status, Some(1));
    let three = fuzz("three", "768");
    assert_eq!(ended(start_with("9s", &three)).status, Some(1));
    let results = at("three/r500.jsonl");
    let lines = fs::read_to_string(&results).unwrap();
    let kept: Vec<&str> = lines
        .lines()
        .filter(|line| !line.contains("\"chunk\":1,"))
        .collect();
    assert!(kept.len() > 2 && kept.len() < lines.lines().count());
    fs::write(&results, kept.join("\n") + "\n").unwrap();
    let child = start_with("*h", &three);
    wait_for_rtl(child.id());
    signal(&child, "-TERM");
    let interrupted = ended(child);
    assert_eq!(interrupted.status, Some(1), "{}", interrupted.err);
    let end = interrupted.err.lines().last().unwrap();
    assert!(
        end.starts_with("error: r500: interrupted after 256 programs"),
        "{end}"
    );
    assert!(!passed("one").is_empty());
    assert_eq!(passed("three"), passed("one"));
    assert!(saved(&at("three.out")).len() > saved(&at("one.out")).len());
}
