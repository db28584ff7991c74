//! Files of coverage: which runs they hold, which of these failed, and what is refused beside each other.

use std::fs;

use super::{ran, saved};
use crate::common::rtl::{Copy, Rtl as Folder};
use crate::common::{Tested, arg, line_starting, reconverge, reconverge_ends, text};
use reconverge::cover::{Ran, SavedCoverage, UnitCoverage};
use reconverge::design::Build;
use reconverge::for_each_unit;
use reconverge::place::Place;

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        mod $module {
            crate::common::test_unit!(reconverge::$module::$unit:
                counts_of_the_same_run_are_not_added_twice,
                a_file_that_does_not_say_what_was_run_is_refused,
                a_file_of_other_assertions_is_refused,
            );
            crate::common::test_unit_with_models!($module reconverge::$module::$unit:
                a_run_that_failed_fails_wherever_its_file_is_read,
                files_of_other_rtl_are_refused,
            );
        }
    )+};
}
for_each_unit!(tests);

/// Runs the command, which must refuse its input with this one message.
fn refuses(args: &[&str], why: &str) {
    let output = reconverge(args);
    assert_eq!(text(&output.stderr), format!("error: {why}\n"), "{args:?}");
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    assert_eq!(text(&output.stdout), "", "{args:?}");
}

/// A file that is given twice, under two names, within another file, or with the seed of this run.
fn counts_of_the_same_run_are_not_added_twice<U: Tested>() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| arg(&dir.path().join(name)).to_owned();
    let (_, first) = saved::<U>(dir.path());
    let [file, copy, whole] = ["cover.json", "copy.json", "whole.json"].map(at);
    fs::copy(&file, &copy).unwrap();
    let merge = ["cover", U::NAME, "--merge", &file];
    let twice = |file: &str, other: &str| {
        format!(
            "{file}: runs.seed: 0x1 is in {other} already: its cases would count twice; use another --seed"
        )
    };
    refuses(&[&merge[..], &[&file]].concat(), &twice(&file, &file));
    refuses(&[&merge[..], &[&copy]].concat(), &twice(&copy, &file));
    let why = twice(&file, "this run") + "; give another --seed";
    for guided in [&[][..], &["--guided"]] {
        refuses(&[&merge[..], &["--programs", "9"], guided].concat(), &why);
    }
    // Another seed is another run, whose file holds both.
    let further = ["--programs", "4", "--seed", "2", "--json", &whole];
    let out = reconverge_ends(0, &[&merge[..], &further].concat());
    let read = |file: &str| SavedCoverage::parse(&fs::read_to_string(file).unwrap(), file).unwrap();
    let both = &read(&whole).units[0];
    assert_eq!(both.totals.programs, 12);
    let seeds: Vec<u64> = both.runs.iter().map(|run| run.seed).collect();
    assert_eq!(seeds, [1, 2]);
    assert_eq!(both.runs[0].cycles, first.units[0].runs[0].cycles);
    let cycles = both.runs[0].cycles + both.runs[1].cycles;
    let line = line_starting(&out, "  lock-step ").replace(',', "");
    assert!(
        line.contains(&format!(" 0 mismatches in {cycles} cycles")),
        "{line}"
    );
    refuses(
        &["cover", U::NAME, "--merge", &whole, &file],
        &twice(&file, &whole),
    );
    refuses(
        &["cover", U::NAME, "--merge", &file, &whole],
        &twice(&whole, &file),
    );
}

/// A file of an earlier version, or one without runs, does not say whether a run failed, and on which RTL.
fn a_file_that_does_not_say_what_was_run_is_refused<U: Tested>() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("early.json");
    let name = arg(&file);
    let merge = ["cover", U::NAME, "--merge", name];
    let mut coverage = UnitCoverage::declared::<U>(&Build::from(U::LANES));
    coverage.groups[0].bins[0].hits = 1;
    let text = SavedCoverage::new(vec![coverage]).to_text();
    fs::write(&file, &text).unwrap();
    let why =
        "runs: empty: it does not say which RTL was covered; measure again with `cover --json`";
    refuses(&merge, &format!("{name}: {why}"));
    let early = text
        .replacen("\"reconverge_cover\": 4", "\"reconverge_cover\": 2", 1)
        .replacen("      \"runs\": [],\n      \"failures\": [],\n", "", 1);
    assert!(!early.contains("\"runs\""));
    fs::write(&file, early).unwrap();
    let why = "reconverge_cover: format 2 is of an earlier version, this one reads 4; measure again with `cover --json`";
    refuses(&merge, &format!("{name}: {why}"));
    let page = dir.path().join("page.html");
    refuses(
        &["report", name, "-o", arg(&page)],
        &format!("{name}: {why}"),
    );
    assert!(!page.exists());
}

/// As `merge` does with results of campaigns.
fn a_file_of_other_assertions_is_refused<U: Tested>() {
    let dir = tempfile::tempdir().unwrap();
    let files = [(1, true), (2, false)].map(|(seed, assertions)| {
        let mut coverage = UnitCoverage::declared::<U>(&Build::from(U::LANES));
        coverage.groups[0].bins[0].hits = 1;
        coverage.runs.push(Ran {
            assertions,
            ..ran::<U>(seed)
        });
        let file = dir.path().join(format!("{assertions}.json"));
        fs::write(&file, SavedCoverage::new(vec![coverage]).to_text()).unwrap();
        arg(&file).to_owned()
    });
    let [with, without] = &files;
    reconverge_ends(0, &["cover", U::NAME, "--merge", without]);
    refuses(
        &["cover", U::NAME, "--merge", with, without],
        &format!("{without}: runs.assertions: false, but {with} has true"),
    );
}

/// RTL that is wrong, in a decision that tb/must_fail.rs breaks too.
fn wrong<U: Tested>() -> Copy {
    let wrong = Folder::own(U::NAME).copy().without_assertions();
    wrong.change(U::faults("decisions")[0]);
    wrong
}

/// The file, its merged file, pages and reports all name the failure.
fn a_run_that_failed_fails_wherever_its_file_is_read<U: Tested>() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| arg(&dir.path().join(name)).to_owned();
    let [file, again, html] = ["failed.json", "again.json", "cover.html"].map(at);
    let wrong = wrong::<U>();
    let rtl = ["--rtl", wrong.arg(), "--out", arg(dir.path())];
    let run = ["cover", U::NAME, "--cycles", "600000", "--json", &file];
    let said = reconverge_ends(1, &[&run[..], &rtl].concat());
    let read = |file: &str| SavedCoverage::parse(&fs::read_to_string(file).unwrap(), file).unwrap();
    let saved = read(&file);
    let [failed] = &saved.units[0].failures[..] else {
        panic!("{:?}", saved.units[0].failures);
    };
    // As the report and the saved case have it.
    assert!(line_starting(&said, "MISMATCH ").contains(&failed.run));
    let case = failed.saved.as_deref().unwrap();
    assert!(line_starting(&said, "replay ").ends_with(case));
    let case: serde_json::Value = serde_json::from_str(&fs::read_to_string(case).unwrap()).unwrap();
    assert_eq!(
        serde_json::to_value(&failed.failure).unwrap(),
        case["failure"]
    );
    let Place::Mismatch {
        cycle,
        field,
        element,
    } = &failed.failure
    else {
        panic!("{}", failed.failure);
    };
    let what = format!("cycle {cycle}: {field}[{element}] is ");
    assert!(failed.message.starts_with(&what), "{}", failed.message);
    if let Some(rule) = &failed.rule {
        assert!(said.contains(&format!(".md#{rule} ")), "{rule}\n{said}");
    }

    let merge = [
        "cover",
        U::NAME,
        "--merge",
        &file,
        "--json",
        &again,
        "--html",
        &html,
    ];
    let output = reconverge(&[&merge[..], &rtl].concat());
    let out = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{out}");
    let why = format!("{}: 1 of the merged runs failed\n", U::NAME);
    assert_eq!(text(&output.stderr), why);
    assert!(
        out.contains("\n  lock-step         1 mismatch in "),
        "{out}"
    );
    let line = format!("{}: {}", failed.run, failed.message);
    assert!(line_starting(&out, "  FAILED ").contains(&line), "{out}");
    assert_eq!(read(&again), saved);

    let report = at("report.html");
    assert_eq!(reconverge_ends(1, &["report", &file, "-o", &report]), "");
    let report = fs::read_to_string(report).unwrap();
    assert!(report.contains("<span class=\"bad\">fails</span>"));
    let shown = reconverge::html::text(&line);
    for page in [report, fs::read_to_string(html).unwrap()] {
        assert!(page.contains(&format!("FAILED {shown}")), "{line}");
    }
}

/// Beside each other, beside a run, and by themselves if the command names another folder.
fn files_of_other_rtl_are_refused<U: Tested>() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| arg(&dir.path().join(name)).to_owned();
    let [ours, other] = ["ours.json", "other.json"].map(at);
    // The RTL differs only by a comment and does not fail.
    let copy = Folder::own(U::NAME).copy();
    let list = copy.rtl.list();
    let path = copy.dir().join(list.last().unwrap());
    let source = fs::read_to_string(&path).unwrap();
    fs::write(path, source + "// Another file.\n").unwrap();
    let rtl = ["--rtl", copy.arg()];
    let run = |seed: &'static str| ["cover", U::NAME, "--programs", "2", "--seed", seed];
    reconverge_ends(0, &[&run("1")[..], &["--json", &ours]].concat());
    reconverge_ends(0, &[&run("2")[..], &["--json", &other], &rtl].concat());
    let hash = |file: &str| {
        let saved = SavedCoverage::parse(&fs::read_to_string(file).unwrap(), file).unwrap();
        saved.units[0].runs[0].rtl.clone()
    };
    let (our_hash, other_hash) = (hash(&ours), hash(&other));
    assert_ne!(our_hash, other_hash);
    let merge = |files: &[&str], more: &[&str], why: &str| {
        let args = [&["cover", U::NAME], more, &["--merge"], files].concat();
        refuses(&args, why);
    };
    let theirs = format!("{other}: runs.rtl: {other_hash}, but");
    let own = format!("{ours}: runs.rtl: {our_hash}, but");
    let named = "--rtl DIR names the RTL that was covered";
    let why = format!("{theirs} {ours} has {our_hash}");
    merge(&[&ours, &other], &[], &why);
    let why = format!("{theirs} our own RTL has {our_hash}; {named}");
    merge(&[&other], &[], &why);
    let why = format!("{own} {} has {other_hash}; {named}", copy.arg());
    merge(&[&ours], &rtl, &why);
    let limit = ["--seed", "3", "--programs", "2"];
    merge(
        &[&other],
        &limit,
        &format!("{theirs} this run has {our_hash}"),
    );
    let limit = [&limit[..], &rtl].concat();
    merge(
        &[&ours],
        &limit,
        &format!("{own} this run has {other_hash}"),
    );
    // Each beside its own.
    reconverge_ends(0, &["cover", U::NAME, "--merge", &ours]);
    reconverge_ends(
        0,
        &[&["cover", U::NAME, "--merge", &other][..], &rtl].concat(),
    );
}
