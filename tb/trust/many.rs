//! RTL of which nearly every program fails.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::saved;
use crate::common::rtl::{Copy, Rtl as Folder};
use crate::common::{arg, line_starting, reconverge_ends};

/// r500 whose address is wrong from the second cycle on.
fn wrong_at_once() -> Copy {
    let rtl = Folder::own("r500").copy();
    rtl.change((
        "r500_seq.sv",
        "assign pc_o      = pc_q;",
        "assign pc_o      = ~pc_q;",
    ));
    rtl
}

fn json(path: &std::path::Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Runs a campaign on `rtl` whose files in `dir` begin with `name`; returns what it says, its JSON and the cases it saves.
fn run(rtl: &Copy, dir: &Path, name: &str, more: &[&str]) -> (String, Value, Vec<String>) {
    let at = |what: &str| dir.join(format!("{name}.{what}"));
    let (out, results, file) = (at("out"), at("results"), at("json"));
    let fuzz = ["fuzz", "r500", "--keep-going", "--no-shrink", "--no-assert"];
    let with = ["--rtl", rtl.arg(), "--out", arg(&out), "--json", arg(&file)];
    let args = [&fuzz[..], &with, &["--results", arg(&results)], more].concat();
    let said = reconverge_ends(1, &args);
    (said, json(&file), saved(&out))
}

/// Regression: such a campaign saved every case, 230 MB in twenty seconds, and ran until it had compared all its cycles.
#[test]
fn a_campaign_of_which_every_program_fails_is_given_up_and_saves_ten_cases_a_group() {
    let rtl = wrong_at_once();
    let dir = tempfile::tempdir().unwrap();
    let run = |name: &str, more: &[&str]| run(&rtl, dir.path(), name, more);
    // Without a limit of programs it is that of cycles, which is never reached.
    let (said, cycles, _) = run("cycles", &["--jobs", "2"]);
    line_starting(
        &said,
        "  given up        1,024 programs failed; the rest not run",
    );
    assert_eq!(
        (&cycles["complete"], &cycles["not_run"]),
        (&false.into(), &Value::Null)
    );

    let programs = ["--programs", "5000"];
    let (said, one, kept) = run("one", &[&programs[..], &["--jobs", "1"]].concat());
    line_starting(&said, "r500.fuzz.1  1,024 programs, 1,024 FAILED; ");
    let line = "  given up        1,024 programs failed; 3,976 programs not run";
    line_starting(&said, line);
    assert_eq!(
        (&one["complete"], &one["not_run"]),
        (&false.into(), &3976.into())
    );
    let failed = one["mismatches"].as_array().unwrap();
    assert_eq!(failed.len(), 1024);
    // Ten of each group are saved, or all of a smaller one; the others are counted.
    let heading = |line: &str| {
        let (_, count) = line.strip_suffix(" of 1,024 failures")?.rsplit_once(": ")?;
        count.replace(',', "").parse().ok()
    };
    let counts: Vec<usize> = said.lines().filter_map(heading).collect();
    assert_eq!(counts.iter().sum::<usize>(), 1024, "{said}");
    let expected: usize = counts.iter().map(|count| *count.min(&10)).sum();
    assert!(
        kept.len() >= expected && kept.len() < 3 * expected,
        "{}",
        kept.len()
    );
    let told = said
        .lines()
        .filter(|line| line.ends_with(" more, counted and not saved"));
    let large = counts.iter().filter(|count| **count > 10);
    assert_eq!(told.count(), large.count(), "{said}");
    // What is named is there.
    let named = said
        .split_whitespace()
        .filter(|word| word.ends_with(".json"));
    for path in named {
        assert!(fs::exists(path).unwrap(), "{path}");
    }
}

#[test]
#[ignore = "minutes; CI's step builds runs it"]
fn a_campaign_is_given_up_alike_for_any_number_of_jobs_and_shards() {
    let rtl = wrong_at_once();
    let dir = tempfile::tempdir().unwrap();
    let run = |name: &str, more: &[&str]| run(&rtl, dir.path(), name, more);
    let programs = ["--programs", "5000"];
    let (_, one, _) = run("one", &[&programs[..], &["--jobs", "1"]].concat());

    // And resumed.
    let more = [&programs[..], &["--jobs", "2"]].concat();
    let two = run("two", &more);
    assert_eq!(two.1, one);
    assert_eq!(run("two", &more).1, one);

    // Shards are given up one by one. Their sum says so too, with the correct counts.
    let mut sums = BTreeMap::new();
    let (shards, all) = (dir.path().join("shards"), dir.path().join("all.json"));
    for shard in ["1/2", "2/2"] {
        let more = [
            "--programs",
            "5000",
            "--shard",
            shard,
            "--results",
            arg(&shards),
        ];
        let file = dir.path().join("shard.json");
        let fuzz = ["fuzz", "r500", "--keep-going", "--no-shrink", "--no-assert"];
        let out = dir.path().join("shard.out");
        let with = ["--rtl", rtl.arg(), "--out", arg(&out), "--json", arg(&file)];
        reconverge_ends(1, &[&fuzz[..], &with, &more].concat());
        for name in ["programs", "cycles", "launches"] {
            *sums.entry(name).or_insert(0) += json(&file)[name].as_u64().unwrap();
        }
    }
    let out = dir.path().join("merged.out");
    let merge = [
        "merge",
        arg(&shards),
        "--json",
        arg(&all),
        "--out",
        arg(&out),
    ];
    let said = reconverge_ends(1, &merge);
    line_starting(
        &said,
        "  given up        1,024 programs failed; 2,952 programs not run",
    );
    let all = json(&all);
    assert_eq!(
        (&all["complete"], &all["not_run"]),
        (&false.into(), &2952.into())
    );
    for (name, sum) in sums {
        assert_eq!(all[name], sum, "{name}");
    }
}
