//! Campaigns that are interrupted, killed, divided, put together, and that lose their processes: the
//! totals are those of one undisturbed run, and whatever is wrong with results is said where it is.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use bytemuck::bytes_of;

use crate::common::rtl::Rtl as Folder;
use crate::common::{
    ROOT, Tested, arg, command_in, line_starting, reconverge, reconverge_ends, text,
};
use quick_junit::{Report, TestCaseStatus};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use reconverge::campaign::results::FORMAT;
use reconverge::campaign::{
    self, Chunk, Failed, Limit, Options, Piece, Put, Runner, Shard, Summary, Tally, drive,
};
use reconverge::cover::{Met, Model};
use reconverge::design::Build;
use reconverge::design::Design;
use reconverge::dut::Rtl;
use reconverge::failure::Cause;
use reconverge::stimulus::golden_alone;
use reconverge::unit::Unit;
use reconverge::watch::Watch;
use serde_json::Value;
use tempfile::TempDir;

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {
        const UNITS: &[&str] = &[$(stringify!($module)),+];

        $(mod $module {
            crate::common::test_unit!(reconverge::$module::$unit:
                worker_processes_add_up_to_what_threads_do,
                four_shards_merged_are_one_run,
                variants_have_few_and_many_lanes_and_each_parameter_at_its_limits,
                every_bit_of_every_pin_is_driven,
            );
            crate::common::test_unit_with_models!($module reconverge::$module::$unit:
                a_campaign_killed_again_and_again_ends_with_the_totals_of_one_run,
            );
        })+

        /// What `fuzz all` builds, in its order.
        fn builds() -> Vec<Build> {
            let own = [$(Build::from(reconverge::$module::$unit::LANES)),+];
            let variants = [$(Build::from(&reconverge::$module::$unit::VARIANTS[0])),+];
            own.into_iter().chain(variants).collect()
        }

        /// Ten campaigns, a hundred thousand programs together, each killed about every quarter of a second.
        #[test]
        #[ignore = "minutes; a step of CI by itself"]
        fn ten_campaigns_killed_at_random_times_end_with_the_totals_of_one_run() {
            for n in 0..10 {
                let kills = match UNITS[n % UNITS.len()] {
                    $(stringify!($module) => {
                        killed::<reconverge::$module::$unit>(n as u64 + 1, 10_000, 250)
                    })+
                    _ => 0,
                };
                println!("campaign {n}: killed {kills} times");
                assert!(kills > 0, "campaign {n} was never killed");
            }
        }
    };
}
reconverge::for_each_unit!(tests);

/// A folder for results and cases.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Place(tempfile::tempdir().unwrap())
    }
    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
    fn arg(&self, name: &str) -> String {
        arg(&self.path(name)).to_owned()
    }
    /// `fuzz unit` with seed 1 and so many programs and the results in folder `r`.
    fn fuzz(&self, unit: &str, programs: u64) -> Vec<String> {
        let with = [
            "fuzz",
            unit,
            "--programs",
            &programs.to_string(),
            "--results",
            &self.arg("r"),
            "--out",
            &self.arg("out"),
        ];
        with.map(str::to_owned).to_vec()
    }
}

fn ends(status: i32, args: &[String], more: &[&str]) -> String {
    reconverge_ends(status, &with(args, more))
}

fn with<'a>(args: &'a [String], more: &[&'a str]) -> Vec<&'a str> {
    args.iter()
        .map(String::as_str)
        .chain(more.iter().copied())
        .collect()
}

/// Runs the command and checks that it ends with `status` and says exactly this first.
fn says(status: i32, args: &[&str], message: &str) {
    let output = reconverge(args);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{args:?}\n{stderr}");
    assert_eq!(stderr.lines().next().unwrap_or(""), message, "{args:?}");
}

/// A command that runs; a test that fails does not leave it behind.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Waits for its end. What it says fits into pipes.
    pub fn ended(mut self) -> Output {
        let status = self.0.wait().unwrap();
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        if let Some(mut pipe) = self.0.stdout.take() {
            pipe.read_to_end(&mut stdout).unwrap();
        }
        if let Some(mut pipe) = self.0.stderr.take() {
            pipe.read_to_end(&mut stderr).unwrap();
        }
        Output {
            status,
            stdout,
            stderr,
        }
    }
}

fn start(args: &[&str]) -> Running {
    let child = command_in(Path::new(ROOT), args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    Running(child.unwrap())
}

pub fn signal(pid: u32, signal: &str) {
    let sent = Command::new("kill")
        .args([signal, &pid.to_string()])
        .status();
    assert!(sent.unwrap().success());
}

/// Waits until `file` has so many lines.
fn wait_for_lines(file: &Path, lines: usize) {
    let begin = Instant::now();
    while fs::read_to_string(file).unwrap_or_default().lines().count() < lines {
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "{} stays short",
            file.display()
        );
        sleep(Duration::from_millis(2));
    }
}

fn threads<U: Unit>(limit: Limit) -> (Options, Summary<U>) {
    let options = Options {
        seed: 1,
        limit,
        jobs: 2,
        keep_going: false,
        rtl: None,
    };
    let rtl = Rtl::<U>::own(U::LANES).unwrap();
    let summary = campaign::run(&options, &rtl, |_| {}).unwrap();
    (options, summary)
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn worker_processes_add_up_to_what_threads_do<U: Tested>() {
    let place = Place::new();
    let file = place.path("s.json");
    for (flag, limit) in [
        ("--programs", Limit::Programs(600)),
        ("--clocks", Limit::Clocks(250_000)),
    ] {
        let (options, summary) = threads::<U>(limit);
        let mut expected = summary.to_json(&options, &Model::new(&Build::from(U::LANES)));
        expected["complete"] = true.into();
        expected["build"] = serde_json::to_value(Build::from(U::LANES)).unwrap();
        let (Limit::Programs(n) | Limit::Clocks(n)) = limit else {
            unreachable!("no time")
        };
        let n = n.to_string();
        reconverge_ends(
            0,
            &[
                "fuzz",
                U::NAME,
                flag,
                &n,
                "--jobs",
                "3",
                "--json",
                arg(&file),
            ],
        );
        assert_eq!(json(&file), expected, "{flag}");
    }
}

/// Kills and resumes a campaign of `programs` programs with SIGKILL about every `ms` milliseconds until it
/// ends; the workers do not outlive it. Its totals are those of an undisturbed run. Returns how often it
/// was killed.
fn killed<U: Unit>(seed: u64, programs: u64, ms: u64) -> u64 {
    let place = Place::new();
    let fuzz = place.fuzz(U::NAME, programs);
    let seed_text = seed.to_string();
    let results = with(&fuzz, &["--seed", &seed_text, "--jobs", "2"]);
    let mut once = results.clone();
    let at = once.iter().position(|a| *a == "--results").unwrap();
    once.drain(at..at + 2);
    let undisturbed = reconverge_ends(0, &once);

    let file = place.path("r").join(format!("{}.jsonl", U::NAME));
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    // How often it was killed before it had done anything: it gets the longer next time, so that a slow machine comes
    // to an end too.
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
        let begin = Instant::now();
        while workers.iter().any(|pid| alive(*pid)) {
            assert!(
                begin.elapsed() < Duration::from_secs(10),
                "a worker is left"
            );
            sleep(Duration::from_millis(2));
        }
    }
    // Nothing twice, nothing left beside it; and what is complete is not run again.
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

/// Processes that `pid` has started.
fn children(pid: u32) -> Vec<u32> {
    let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let others = fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten();
    // Each is the child of the thread that started it.
    let threads =
        others.map(|task| fs::read_to_string(task.path().join("children")).unwrap_or_default());
    let mut pids: Vec<u32> = std::iter::once(list)
        .chain(threads)
        .flat_map(|list| {
            list.split_whitespace()
                .map(|pid| pid.parse().unwrap())
                .collect::<Vec<_>>()
        })
        .collect();
    pids.sort_unstable();
    pids.dedup();
    pids
}

/// The workers of a command, which starts other processes too.
pub fn workers_of(pid: u32) -> Vec<u32> {
    let works = |pid: &u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).nth(1) == Some(b"worker")
    };
    children(pid).into_iter().filter(works).collect()
}

/// Whether a process runs; one that has ended and is not waited for does not.
pub fn alive(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit_once(')')
            .unwrap()
            .1
            .trim_start()
            .starts_with('Z')
    })
}

fn a_campaign_killed_again_and_again_ends_with_the_totals_of_one_run<U: Tested>() {
    let kills = killed::<U>(3, 1100, 80);
    println!("killed {kills} times");
}

/// The numbers, the words, the JSON.
fn four_shards_merged_are_one_run<U: Tested>() {
    let place = Place::new();
    let fuzz = place.fuzz(U::NAME, 1100);
    let (one, four) = (place.path("one.json"), place.path("four.json"));
    let whole = place.arg("whole");
    let once = [
        &with(&fuzz, &[])[..4],
        &["--results", &whole, "--json", arg(&one)],
    ]
    .concat();
    let once = reconverge_ends(0, &once);
    for shard in ["3/4", "1/4", "4/4", "2/4"] {
        let part = ends(0, &fuzz, &["--shard", shard]);
        assert!(
            part.starts_with(&format!("{}.fuzz.1  shard {shard}  ", U::NAME)),
            "{part}"
        );
        assert!(
            !part.contains("never met"),
            "a part need not meet everything"
        );
    }
    let merged = reconverge_ends(0, &["merge", &place.arg("r"), "--json", arg(&four)]);
    assert_eq!(merged, once);
    assert_eq!(json(&four), json(&one));
    assert_eq!(
        reconverge_ends(0, &["merge", &whole]),
        once,
        "one is a merge too"
    );
}

/// Of a part of the clocks each shard does its own, and they are at least what was asked for.
#[test]
fn shards_of_clocks_do_a_part_each() {
    let place = Place::new();
    let mut sum = 0;
    for shard in ["1/2", "2/2"] {
        let (results, file) = (place.arg("r"), place.path("s.json"));
        let args = [
            "fuzz",
            "r500",
            "--clocks",
            "300000",
            "--results",
            &results,
            "--shard",
            shard,
        ];
        reconverge_ends(0, &[&args[..], &["--json", arg(&file)]].concat());
        let part = json(&file);
        assert_eq!(part["shard"], shard);
        let clocks = part["clocks"].as_u64().unwrap();
        assert!((150_000..300_000).contains(&clocks), "{clocks}");
        sum += clocks;
    }
    let file = place.path("m.json");
    reconverge_ends(0, &["merge", &place.arg("r"), "--json", arg(&file)]);
    assert_eq!(json(&file)["clocks"], sum);
    assert!(sum >= 300_000);
}

/// Results of r500 in three chunks, complete, and the lines of their file.
fn three_chunks() -> (Place, Vec<String>, PathBuf, Vec<String>) {
    let place = Place::new();
    let fuzz = place.fuzz("r500", 700);
    ends(0, &fuzz, &["--jobs", "1"]);
    let file = place.path("r/r500.jsonl");
    let lines = fs::read_to_string(&file).unwrap();
    let lines: Vec<String> = lines.split_inclusive('\n').map(str::to_owned).collect();
    assert_eq!(lines.len(), 4);
    (place, fuzz, file, lines)
}

/// Wherever a killed process stopped writing, in a line or between two, the rest is run again.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_torn_line_is_dropped_and_its_chunk_run_again() {
    let (_place, fuzz, file, lines) = three_chunks();
    let whole = lines.concat();
    let expected = ends(0, &fuzz, &[]);
    let (header, first) = (lines[0].len(), lines[0].len() + lines[1].len());
    let first_done = "r500: resumes after 256 programs\n";
    for (cut, note) in [
        (0, ""),
        (header / 2, ""),
        (header - 1, ""),
        (header, ""),
        (header + 40, ""),
        (first - 1, ""),
        (first, first_done),
        (first + 1, first_done),
        (whole.len() - 1, "r500: resumes after 512 programs\n"),
    ] {
        fs::write(&file, &whole[..cut]).unwrap();
        let output = reconverge(&with(&fuzz, &["--jobs", "1"]));
        assert_eq!(output.status.code(), Some(0), "cut at {cut}: {output:?}");
        assert_eq!(text(&output.stdout), expected, "cut at {cut}");
        assert_eq!(text(&output.stderr), note, "cut at {cut}");
        assert_eq!(fs::read_to_string(&file).unwrap(), whole, "cut at {cut}");
    }
}

/// Chunks count in their order, in whatever order they were done.
#[test]
fn the_order_of_the_lines_does_not_matter() {
    let (place, fuzz, file, lines) = three_chunks();
    let expected = ends(0, &fuzz, &[]);
    let [header, a, b, c] = &lines[..] else {
        unreachable!("four lines")
    };
    for order in [[c, a, b], [b, c, a], [c, b, a]] {
        fs::write(
            &file,
            [&[header], &order[..]]
                .concat()
                .into_iter()
                .cloned()
                .collect::<String>(),
        )
        .unwrap();
        assert_eq!(ends(0, &fuzz, &[]), expected);
        assert_eq!(reconverge_ends(0, &["merge", &place.arg("r")]), expected);
    }
    // One is missing in the middle: it is the one that is run.
    fs::write(&file, format!("{header}{a}{c}")).unwrap();
    assert_eq!(ends(0, &fuzz, &[]), expected);
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        format!("{header}{a}{c}{b}")
    );
}

#[test]
fn damaged_results_are_refused_by_file_and_line() {
    let (place, fuzz, file, lines) = three_chunks();
    let name = arg(&file);
    let [header, a, b, c] = &lines[..] else {
        unreachable!("four lines")
    };
    let sealed = |body: &str| {
        let crc = crc32fast::hash(body.as_bytes());
        format!("{body},\"crc32\":\"{crc:08x}\"}}\n")
    };
    let unsealed = |line: &str| line[..line.rfind(",\"crc32\"").unwrap()].to_owned();
    let programs = sealed(&unsealed(b).replacen("\"programs\":256", "\"programs\":255", 1));
    let elsewhere = sealed(&unsealed(b).replacen("\"chunk\":1", "\"chunk\":3", 1));
    let [this, next] = [FORMAT, FORMAT + 1].map(|n| format!("campaign\":{n}"));
    let newer = sealed(&unsealed(header).replacen(&this, &next, 1));
    let other = "{\"step\":0}\n".to_owned();
    for (content, message) in [
        (
            [header, a, &b.replacen("\"done\":", "\"dine\":", 1), c],
            format!("{name}:3: crc32: the line is not as it was written"),
        ),
        (
            [header, &a.replace("\"clocks\":1", "\"clocks\":2"), b, c],
            format!("{name}:2: crc32: the line is not as it was written"),
        ),
        (
            [header, a, &b[..b.len() / 2].to_owned(), c],
            format!("{name}:3: crc32: the line is not as it was written"),
        ),
        (
            [header, a, &other, c],
            format!("{name}:3: crc32: missing: not a line of a campaign's results"),
        ),
        (
            [header, a, b, a],
            format!("{name}:4: chunk: 0 is here twice"),
        ),
        (
            [header, a, &programs, c],
            format!("{name}:3: programs: 255 in cases 256..512 of chunk 1"),
        ),
        (
            [header, a, &elsewhere, c],
            format!("{name}:3: chunk: 3 does not belong to shard 1/1"),
        ),
        (
            [&newer, a, b, c],
            format!(
                "{name}:1: reconverge_campaign: format {} is of a later version, this one reads {FORMAT}",
                FORMAT + 1
            ),
        ),
        (
            [&other, a, b, c],
            format!("{name}:1: crc32: missing: not a line of a campaign's results"),
        ),
    ] {
        let content = content.map(String::as_str).concat();
        fs::write(&file, &content).unwrap();
        let message = format!("error: {message}");
        says(2, &with(&fuzz, &[]), &message);
        says(2, &["merge", &place.arg("r")], &message);
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            content,
            "it is left as it is"
        );
    }
    fs::write(&file, "notes of another tool").unwrap();
    says(
        2,
        &with(&fuzz, &[]),
        &format!("error: {name}: file: not the results of a campaign"),
    );
    says(
        2,
        &["merge", name],
        &format!("error: {name}: header: there is nothing in it yet"),
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "notes of another tool");
}

/// And is not taken for another one because it is called so.
#[test]
fn results_of_each_build_are_in_a_file_of_their_own() {
    let (place, fuzz, file, _) = three_chunks();
    let four = with(&fuzz, &["--lanes", "4"]);
    let out = reconverge_ends(0, &four);
    let other = place.path("r").join("r500-lanes4.jsonl");
    let content = fs::read_to_string(&other).unwrap();
    assert_eq!(reconverge_ends(0, &four), out, "it is complete");
    assert_eq!(fs::read_to_string(&other).unwrap(), content);
    // Both are told of.
    let merged = reconverge_ends(0, &["merge", &place.arg("r")]);
    let lines: Vec<&str> = merged.lines().filter(|l| !l.starts_with(' ')).collect();
    assert_eq!(lines.len(), 3, "{merged}");
    assert!(lines[1].starts_with("r500.fuzz.1  16 lanes  "), "{merged}");
    assert!(lines[2].starts_with("r500.fuzz.1  4 lanes  "), "{merged}");
    let details = reconverge_ends(0, &["merge", &place.arg("r"), "--details"]);
    assert!(
        details.contains("\nr500.fuzz.1  4 lanes  700 programs, "),
        "{details}"
    );

    fs::rename(&other, &file).unwrap();
    let why = "build: results with 4 lanes, not 16 lanes; use another folder";
    says(
        2,
        &with(&fuzz, &[]),
        &format!("error: {}:1: {why}", arg(&file)),
    );
}

#[test]
fn results_of_another_campaign_are_refused() {
    let (place, fuzz, file, lines) = three_chunks();
    let name = arg(&file);
    let spoilt = Folder::own("r500").copy();
    spoilt.change(<reconverge::r500::R500 as Tested>::DECISIONS[0]);
    let refused = |args: &[&str], field: &str, why: &str| {
        let why = format!("error: {name}:1: {field}: results with {why}; use another folder");
        says(2, &with(&fuzz, args), &why);
    };
    refused(&["--seed", "2"], "seed", "1, not 2");
    refused(&["--shard", "2/3"], "shard", "one of 1, not one of 3");
    refused(&["--keep-going"], "keep_going", "false, not true");
    let results = place.arg("r");
    for (flag, n, limit) in [
        ("--programs", "701", "701 programs"),
        ("--clocks", "700", "700 clocks"),
    ] {
        let why = format!(
            "error: {name}:1: limit: results with 700 programs, not {limit}; use another folder"
        );
        says(2, &["fuzz", "r500", flag, n, "--results", &results], &why);
    }
    // The same RTL elsewhere is the same, other RTL is not.
    let copy = Folder::own("r500").copy();
    ends(0, &fuzz, &["--rtl", copy.arg()]);
    let output = reconverge(&with(&fuzz, &["--rtl", spoilt.arg()]));
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(
        message.starts_with(&format!("error: {name}:1: rtl: results with ")),
        "{message}"
    );

    // Another unit has a file of its own; a shard under another's name has not.
    reconverge_ends(
        0,
        &[
            "fuzz",
            "r700",
            "--programs",
            "16",
            "--results",
            &results,
            "--seed",
            "2",
        ],
    );
    let mine = place.path("s/r500.1-of-2.jsonl");
    let shards = place.arg("s");
    let shard = [
        "fuzz",
        "r500",
        "--programs",
        "600",
        "--results",
        &shards,
        "--shard",
    ];
    reconverge_ends(0, &[&shard[..], &["2/2"]].concat());
    fs::rename(place.path("s/r500.2-of-2.jsonl"), &mine).unwrap();
    let why = format!(
        "error: {}:1: shard: results with 2/2, not 1/2; use another folder",
        arg(&mine)
    );
    says(2, &[&shard[..], &["1/2"]].concat(), &why);
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        lines.concat(),
        "nothing was added"
    );
}

#[test]
fn shards_that_do_not_make_one_campaign_are_refused() {
    let place = Place::new();
    let fuzz = |dir: &str, shard: &str, more: &[&str]| {
        let dir = place.arg(dir);
        let args = [
            "fuzz",
            "r500",
            "--programs",
            "600",
            "--results",
            &dir,
            "--shard",
            shard,
        ];
        reconverge_ends(0, &[&args[..], more].concat());
    };
    fuzz("a", "1/3", &[]);
    fuzz("a", "2/3", &[]);
    let (a, b, c) = (place.arg("a"), place.arg("b"), place.arg("c"));
    let at = |dir: &str, n: u32| format!("{}/r500.{n}-of-3.jsonl", place.arg(dir));
    let missing = format!("error: {}:1: shard: missing beside it: 3/3", at("a", 1));
    says(2, &["merge", &a], &missing);

    fuzz("b", "2/3", &[]);
    fuzz("b", "3/3", &[]);
    let twice = format!(
        "error: {}:1: shard: 2/3 is in {} already",
        at("b", 2),
        at("a", 2)
    );
    says(2, &["merge", &a, &b], &twice);
    reconverge_ends(0, &["merge", &at("b", 3), &at("a", 1), &at("b", 2)]);

    fuzz("c", "3/3", &["--seed", "2"]);
    let mixed = format!("error: {}:1: seed: 2, but {} has 1", at("c", 3), at("a", 1));
    says(2, &["merge", &a, &c], &mixed);

    // One that was not finished is not counted.
    let file = at("b", 3);
    let content = fs::read_to_string(&file).unwrap();
    let header = content.find('\n').unwrap() + 1;
    fs::write(&file, &content[..header + 20]).unwrap();
    let why = "not finished: 0 programs, 0 clocks; the command that wrote it resumes";
    says(
        2,
        &["merge", &a, &file],
        &format!("error: {file}: shard: {why}"),
    );

    let empty = place.arg("empty");
    fs::create_dir(&empty).unwrap();
    says(
        2,
        &["merge", &empty],
        &format!("error: {empty}: results: no file *.jsonl in this folder"),
    );
    let gone = place.arg("gone");
    says(
        2,
        &["merge", &gone],
        &format!("error: {gone}: file: No such file or directory (os error 2)"),
    );
    let few = [
        "fuzz",
        "r500",
        "--programs",
        "600",
        "--results",
        &a,
        "--shard",
        "1/4",
    ];
    let why = "error: --shard: 1/4: 600 programs are 3 chunks of 256, too few for 4 shards";
    says(2, &few, why);
    for (shard, why) in [
        ("0/4", "there is no shard 0 of 4, only 1..4"),
        ("5/4", "there is no shard 5 of 4, only 1..4"),
        ("1/0", "there is no shard 1 of 0, only 1..0"),
        ("3", "no /; a shard is e.g. 3/8"),
        ("1/2000000", "2000000 shards, more than 1000000"),
    ] {
        let args = ["fuzz", "r500", "--results", &a, "--shard", shard];
        let why = format!("error: invalid value '{shard}' for '--shard <I/N>': {why}");
        says(2, &args, &why);
    }
    for more in [
        ["--seconds", "1", "--results", &a],
        ["--programs", "1", "--shard", "1/2"],
    ] {
        let output = reconverge(&[&["fuzz", "r500"], &more[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{more:?}");
    }
}

/// Two at once: the second is refused. SIGTERM and SIGINT: what was done is kept, the status says so.
#[test]
fn a_signal_ends_a_campaign_and_no_other_command_writes_it_meanwhile() {
    let place = Place::new();
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
        // Something new is there: this one holds the lock.
        wait_for_lines(&file, before + 2);
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
    let place = Place::new();
    let fuzz = place.fuzz("r500", 3000);
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

/// RTL that crashes its process in one place and hangs in another: both are failures of exactly the cases
/// that come there, and every other case counts as it does with sound RTL.
#[test]
fn rtl_that_crashes_or_hangs_loses_its_case_and_nothing_else() {
    use reconverge::r500::R500;
    const PROGRAMS: u64 = 12;
    // As r500 has them: 6 is ADDR_OVERFLOW, 2 PARTIAL.
    let bad = Folder::own("r500").planted(
        "  always @(posedge clk_i) if (rst_ni && err_o == 4'd6) $c(\"abort();\");\n  \
         always @(posedge clk_i) if (rst_ni && err_o == 4'd2) $c(\"for (volatile int i = 1; i;) {}\");",
    );
    // Which cases come there, found with sound RTL.
    let options = Options {
        seed: 1,
        limit: Limit::Programs(PROGRAMS),
        jobs: 1,
        keep_going: true,
        rtl: None,
    };
    let rtl = Rtl::<R500>::own(R500::LANES).unwrap();
    let bins = Model::new(rtl.build());
    let mut runner = Runner::open(&options, &rtl, Some(&bins), 0).unwrap();
    let mut sound = Summary::<R500>::default();
    let mut expected = Vec::new();
    for index in 0..PROGRAMS {
        let one = runner.run(index, &mut ());
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

    let place = Place::new();
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
        "clocks",
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

    // Each is saved, said, and a test of its own.
    let read = Report::deserialize_from_str(&fs::read_to_string(&junit).unwrap()).unwrap();
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

/// The first mismatch ends the campaign, for any number of workers the same one; with --keep-going all are
/// found; of each there is a saved case, and a test in what CI reads, with its report.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn failures_are_the_same_for_any_number_of_workers_and_shards() {
    let bad = Folder::own("r500").copy();
    bad.change(<reconverge::r500::R500 as Tested>::DECISIONS[0]);
    let place = Place::new();
    let junit = place.path("s.xml");
    let run = |dir: &str, more: &[&str]| {
        let (results, out) = (place.arg(dir), place.arg("out"));
        let args = [
            "fuzz",
            "r500",
            "--programs",
            "1100",
            "--rtl",
            bad.arg(),
            "--no-shrink",
            "--out",
            &out,
        ];
        reconverge_ends(1, &[&args[..], &["--results", &results], more].concat())
    };
    let first = run("a", &["--jobs", "1", "--junit", arg(&junit)]);
    assert_eq!(run("b", &["--jobs", "4"]), first);
    assert_eq!(run("b", &["--jobs", "4"]), first, "resumed");
    let read = Report::deserialize_from_str(&fs::read_to_string(&junit).unwrap()).unwrap();
    let failed = read.test_suites[0].test_cases.last().unwrap();
    let TestCaseStatus::NonSuccess {
        message,
        description,
        ty,
        ..
    } = &failed.status
    else {
        panic!("it passed");
    };
    // The failure comes first, then one line about the campaign.
    let (report, rest) = first.split_once("\n\n").unwrap();
    assert!(
        rest.starts_with("r500.fuzz.1  ") && rest.lines().count() == 1,
        "{rest}"
    );
    assert!(report.starts_with(&format!("MISMATCH {}  ", failed.name.as_str())));
    // Below it the lines are as long as there is room.
    let above = |text: &str| text.trim().split("last cycles").next().unwrap().to_owned();
    assert_eq!(above(description.as_ref().unwrap().as_str()), above(report));
    assert!(above(report).contains("\n  rule "), "{report}");
    assert_eq!(ty.as_ref().unwrap().as_str(), "mismatch");
    assert!(message.as_ref().unwrap().as_str().starts_with("clock "));

    // All of them, by shards too.
    let (one, two) = (place.path("one.json"), place.path("two.json"));
    run("all", &["--keep-going", "--json", arg(&one)]);
    let found = json(&one)["mismatches"].as_array().unwrap().len();
    assert!(found > 10, "{found} mismatches");
    for shard in ["2/2", "1/2"] {
        run("shards", &["--keep-going", "--shard", shard]);
    }
    let out = place.arg("merged");
    let args = [
        "merge",
        &place.arg("shards"),
        "--json",
        arg(&two),
        "--out",
        &out,
    ];
    let merged = reconverge_ends(1, &args);
    assert_eq!(json(&two), json(&one));
    // Each belongs to one group.
    let counts = merged.lines().filter_map(|line| {
        let (_, counts) = line.split_once(": ")?;
        let (count, all) = counts.strip_suffix(" failures")?.split_once(" of ")?;
        let number = |text: &str| text.replace(',', "").parse::<usize>().ok();
        assert_eq!(number(all), Some(found));
        number(count)
    });
    let counts: Vec<usize> = counts.collect();
    assert_eq!(counts.iter().sum::<usize>(), found);
    assert!(counts.len() < found / 2, "{merged}");
    let headline = |line: &&str| line.starts_with("MISMATCH ") || line.starts_with("STOPPED ");
    let headlines = merged.lines().filter(headline).count();
    assert_eq!(headlines, counts.len(), "{merged}");
    assert!(counts.is_sorted_by(|a, b| a >= b), "{counts:?}");
    let case = line_starting(&merged, "replay ")
        .split_whitespace()
        .last()
        .unwrap();
    assert!(case.starts_with(&out));
    reconverge_ends(1, &["replay", case, "--rtl", bad.arg(), "--out", &out]);
}

/// A found bug: a failing case left the registers in a state that sound RTL never reaches, and an assertion failed there in
/// the reset of the next case, which agrees when it is replayed.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_failing_case_does_not_fail_the_next_one() {
    let bad = Folder::own("spa5").copy();
    let resume = " | d_ret_d | exited_q);";
    bad.change(("spa5_threads.sv", resume, " | exited_q);"));
    let place = Place::new();
    let fuzz = place.fuzz("spa5", 100);
    let file = place.path("s.json");
    let with = [
        "--seed",
        "7",
        "--keep-going",
        "--no-shrink",
        "--rtl",
        bad.arg(),
    ];
    let out = ends(1, &fuzz, &[&with[..], &["--json", arg(&file)]].concat());
    let failed = json(&file)["mismatches"].take();
    let failed = failed.as_array().unwrap();
    assert!(failed.len() > 5, "{out}");
    for failure in failed {
        assert_eq!(failure["kind"], "mismatch", "{failure}");
    }
    assert!(!out.contains("NOT REPRODUCED"), "{out}");
}

/// What CI gets of several units.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn summaries_of_all_units_are_one_list_and_one_file_of_suites() {
    let place = Place::new();
    let (file, junit, again) = (
        place.path("s.json"),
        place.path("s.xml"),
        place.path("m.json"),
    );
    let results = place.arg("r");
    let args = [
        "fuzz",
        "all",
        "--programs",
        "200",
        "--results",
        &results,
        "--json",
        arg(&file),
    ];
    let out = reconverge_ends(0, &[&args[..], &["--junit", arg(&junit)]].concat());
    let list = json(&file);
    // The default builds, then a variant of each.
    let campaigns = || list.as_array().unwrap().iter();
    let units: Vec<&str> = campaigns().map(|s| s["unit"].as_str().unwrap()).collect();
    assert_eq!(units, [UNITS, UNITS].concat());
    let built: Vec<Build> = campaigns()
        .map(|s| serde_json::from_value(s["build"].clone()).unwrap())
        .collect();
    assert_eq!(built, builds());
    assert!(campaigns().all(|s| s["programs"] == 200 || s["programs"] == 256));
    let read = Report::deserialize_from_str(&fs::read_to_string(&junit).unwrap()).unwrap();
    assert_eq!(read.test_suites.len(), 2 * UNITS.len());
    // A test for each kind of program.
    assert_eq!((read.tests, read.failures), (8 * UNITS.len(), 0));
    let names =
        (read.test_suites.iter()).flat_map(|s| s.test_cases.iter().map(|t| t.name.as_str()));
    assert_eq!(names.collect::<BTreeSet<_>>().len(), read.tests);
    // A line for each, all alike; below it, what so few programs do not meet.
    let lines: Vec<&str> = out.lines().filter(|l| !l.starts_with(' ')).collect();
    assert_eq!(lines.len(), 1 + built.len(), "{out}");
    for (line, build) in lines[1..].iter().zip(&built) {
        assert!(
            line.contains(&format!("  {build}  ")) && line.ends_with(" 0"),
            "{line}"
        );
        assert_eq!(line.len(), lines[0].len(), "{out}");
    }
    let merged = reconverge_ends(0, &["merge", &results, "--json", arg(&again)]);
    assert_eq!((merged, json(&again)), (out, list));
}

#[test]
fn variants_have_lanes_and_parameters_of_their_own() {
    for other in [["--lanes", "4"], ["--param", "DEPTH=4"]] {
        let args = [&["fuzz", "spa5", "--variants", "all"], &other[..]].concat();
        let output = reconverge(&args);
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(
            text(&output.stderr),
            "error: --variants: all: variants are builds with lanes and parameters of their own: without --lanes and \
             --param\n"
        );
    }
}

/// What was found before is kept.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn rtl_that_cannot_be_built_as_a_variant_is_bad_input_that_names_it() {
    let bad = Folder::own("spa5").planted("  if (DEPTH < 8) no_such_module u_none ();");
    let place = Place::new();
    let (json_file, out) = (place.path("s.json"), place.arg("out"));
    let args = [
        "fuzz",
        "spa5",
        "--rtl",
        bad.arg(),
        "--variants",
        "one",
        "--programs",
        "20",
    ];
    let files = ["--json", arg(&json_file), "--out", &out];
    let output = reconverge(&[&args[..], &files].concat());
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    let message = text(&output.stderr);
    assert!(
        message.starts_with("error: ") && message.contains("no_such_module"),
        "{message}"
    );
    let last = "This is the variant of spa5 with 33 lanes, BRX=1, CSM=1, DEPTH=5; --variants none tests none.\n";
    assert!(message.ends_with(last), "{message}");
    assert_eq!(json(&json_file)[0]["programs"], 20);
    reconverge_ends(
        0,
        &[
            &args[..4],
            &["--variants", "none", "--programs", "20", "--out", &out],
        ]
        .concat(),
    );
}

/// Notes which bits of the pins were 1 and which were 0 in some cycle.
struct Driven {
    ones: Vec<u8>,
    zeros: Vec<u8>,
}

impl<U: Unit> Watch<U> for Driven {
    fn before(&mut self, _: u64, pins: &U::In, _: &U::Golden) {
        for (byte, (one, zero)) in bytes_of(pins)
            .iter()
            .zip(self.ones.iter_mut().zip(&mut self.zeros))
        {
            *one |= byte;
            *zero |= !byte;
        }
    }
    fn after(&mut self, _: u64, _: &U::In, _: &U::Golden) {}
}

/// A pin that the surroundings of a unit forget is 0 on both sides, which agree for ever.
fn every_bit_of_every_pin_is_driven<U: Tested>() {
    let build = Build::from(&U::VARIANTS[0]);
    let none = vec![0; size_of::<U::In>()];
    let mut driven = Driven {
        ones: none.clone(),
        zeros: none,
    };
    for number in 0..600 {
        let (_, case) = campaign::case::<U>(1, number, &build);
        golden_alone(&case, 512, &mut driven);
    }
    let mut missing = Vec::new();
    for pin in U::DECLARATION.pins {
        for (value, bits) in [(1, &driven.ones), (0, &driven.zeros)] {
            let met = (0..pin.words()).map(|i| pin.get(bits, i));
            let most = pin.most(build.lanes);
            for (i, met) in met.enumerate().filter(|(_, met)| met & most != most) {
                let name = pin.name;
                let never = !met & most;
                missing.push(format!("{name}[{i}]: never {value}: {never:#x}"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// And each can be built; the first has nothing of the default build.
fn variants_have_few_and_many_lanes_and_each_parameter_at_its_limits<U: Tested>() {
    let own = Build::from(U::LANES);
    let builds: Vec<Build> = U::VARIANTS.iter().map(Build::from).collect();
    let all = || builds.iter().chain([&own]);
    let lanes: BTreeSet<u32> = all().map(|build| build.lanes).collect();
    assert!(
        lanes.is_superset(&BTreeSet::from([1, 4, 33, 64])),
        "{lanes:?}"
    );
    assert_ne!(builds[0].lanes, own.lanes);
    for parameter in U::PARAMETERS {
        let value = |build: &Build| build.value::<U>(parameter.name);
        let values: BTreeSet<u32> = all().map(value).collect();
        let range = &parameter.range;
        assert_eq!(values.first(), Some(range.start()), "{}", parameter.name);
        assert_eq!(values.last(), Some(range.end()), "{}", parameter.name);
        assert_ne!(value(&builds[0]), parameter.default);
    }
    let names = U::PARAMETERS.iter().map(|p| p.name);
    let names: BTreeSet<&str> = names.collect();
    for (name, value) in builds.iter().flat_map(|build| &build.parameters) {
        assert!(names.contains(name.as_str()));
        let default = U::PARAMETERS
            .iter()
            .find(|p| p.name == name)
            .unwrap()
            .default;
        // A default that is named would be another build than the one that is not.
        assert_ne!(*value, default, "{name}");
    }
}

/// A found bug: outcomes were sorted as text, 10 before 2.
#[test]
fn outcomes_stand_in_the_order_of_their_numbers() {
    let out = reconverge_ends(0, &["fuzz", "spa5", "--programs", "800"]);
    let codes: Vec<u32> = out
        .lines()
        .filter_map(|line| {
            line.split_once(" error ")?
                .1
                .split(' ')
                .next()?
                .parse()
                .ok()
        })
        .collect();
    assert!(codes.len() > 8 && codes.is_sorted(), "{codes:?}");
}

/// A found bug: a chunk that was given up in one job, while the one before it still ran in another, was gone on with;
/// its next case was refused, which ended the campaign without a verdict.
#[test]
fn a_chunk_that_is_over_is_not_gone_on_with() {
    use reconverge::r500::R500;
    let options = Options {
        seed: 1,
        limit: Limit::Programs(2 * campaign::CHUNK),
        jobs: 2,
        keep_going: true,
        rtl: None,
    };
    let mut tally = Tally::<R500>::new(&options, Shard::default());
    let (never, over, second) = (
        AtomicBool::new(false),
        AtomicBool::new(false),
        AtomicBool::new(false),
    );
    let rtl = Rtl::<R500>::own(R500::LANES).unwrap();
    let lost = |case| {
        let cause = Cause::Crashed("as told".to_owned());
        Summary::lost(&options, &rtl, case, cause, 1)
    };
    let ran = drive(
        &mut tally,
        &never,
        &over,
        || {
            Ok(|chunk: &Chunk<R500>, put: Put<R500>| {
                let mut piece = |cases, summary| {
                    put(Piece {
                        chunk: chunk.number,
                        cases,
                        summary,
                    })
                };
                if chunk.number == 0 {
                    while !second.load(Ordering::Relaxed) {
                        sleep(Duration::from_millis(1));
                    }
                    let programs = campaign::CHUNK;
                    let summary = Summary {
                        programs,
                        ..Summary::default()
                    };
                    return piece(chunk.cases.clone(), summary).map(drop);
                }
                let mut cases = chunk.cases.clone();
                while piece(cases.start..cases.start + 1, lost(cases.start))? {
                    cases.start += 1;
                }
                second.store(true, Ordering::Relaxed);
                Ok(())
            })
        },
        |_| Ok(()),
        |_| (),
    );
    assert_eq!(ran, Ok(()));
    assert!(tally.finished());
    assert_eq!(
        tally.total().given_up(),
        Some((campaign::MOST_LOST, campaign::MOST_LOST as u64))
    );
    assert_eq!(tally.total().programs, campaign::CHUNK + 8);
}

/// Only the command that starts it has a socket for it.
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

#[test]
fn a_lost_process_is_owed_a_failure_until_a_case_of_its_chunk_has_one() {
    use reconverge::r500::R500;
    let options = Options {
        limit: Limit::Programs(campaign::CHUNK),
        keep_going: true,
        ..Options::default()
    };
    let rtl = Rtl::<R500>::own(R500::LANES).unwrap();
    let cause = || Cause::Crashed("as told".to_owned());
    let owed = |case| Piece::owed(0, Failed::lost(&options, &rtl, case, cause(), 7));
    let agree = |cases: std::ops::Range<u64>| Piece::<R500> {
        chunk: 0,
        summary: Summary {
            programs: cases.end - cases.start,
            ..Summary::default()
        },
        cases,
    };
    let mut tally = Tally::<R500>::new(&options, Shard::default());
    tally.put(owed(0)).unwrap();
    tally.put(agree(0..1)).unwrap();
    assert_eq!(tally.owed().count(), 1);
    let chunk = tally.hand_out().unwrap();
    assert_eq!((chunk.cases, chunk.broken), (1..campaign::CHUNK, true));
    let failure = chunk.owed.unwrap().failure;
    assert_eq!(
        (failure.message(), failure.case.model_seed()),
        ("as told".to_owned(), 7)
    );

    // Only for the next case, only of a lost process, only without programs.
    let refused = |tally: &mut Tally<R500>, piece| tally.put(piece).unwrap_err();
    let why = refused(&mut tally, owed(2));
    assert_eq!(
        why,
        (
            "cases",
            "2..2 of chunk 0, of which 1..256 are left".to_owned()
        )
    );
    let mut other = owed(1);
    other.summary.failures[0].failure.cause = Cause::NotRun("no".to_owned());
    let why = refused(&mut tally, other);
    let expected = "without cases, and not that case 1 ended its process";
    assert_eq!(why, ("failures", expected.to_owned()));
    let mut more = owed(1);
    more.summary.programs = 1;
    let why = refused(&mut tally, more);
    assert_eq!(why, ("failures", "not one without cases".to_owned()));
    let why = refused(&mut tally, agree(1..campaign::CHUNK));
    let expected = "the RTL ended a process in chunk 0, and none of its cases fails";
    assert_eq!(why, ("cases", expected.to_owned()));

    let lost = Piece {
        chunk: 0,
        cases: 1..2,
        summary: Summary::lost(&options, &rtl, 1, cause(), 7),
    };
    // A case that fails otherwise does not settle it.
    let mut differs = lost.clone();
    differs.summary.failures[0].failure.cause = Cause::NotRun("no".to_owned());
    let mut other = Tally::<R500>::new(&options, Shard::default());
    other.put(owed(0)).unwrap();
    other.put(agree(0..1)).unwrap();
    other.put(differs).unwrap();
    assert_eq!(other.owed().count(), 1);
    // The campaign has failed, so the end of the chunk does.
    other.put(agree(2..campaign::CHUNK)).unwrap();
    assert!(other.finished() && other.owed().count() == 0);

    tally.put(lost).unwrap();
    assert_eq!(tally.owed().count(), 0);
    tally.put(agree(2..campaign::CHUNK)).unwrap();
    assert!(tally.finished());
    assert_eq!(tally.total().failures.len(), 1);
}

/// Only chunks that count in any case decide it, so that the bins of a campaign do not depend on which chunk is done first.
#[test]
fn chunks_count_bins_until_those_before_them_have_hit_all() {
    use reconverge::r500::R500;
    let options = Options {
        limit: Limit::Programs(6 * campaign::CHUNK),
        ..Options::default()
    };
    let met = |bins: &[usize]| bins.iter().copied().collect::<Met>();
    let done = |chunk: &Chunk<R500>, bins: &[usize]| Piece::<R500> {
        chunk: chunk.number,
        cases: chunk.cases.clone(),
        summary: Summary {
            programs: campaign::CHUNK,
            bins: met(bins),
            ..Summary::default()
        },
    };
    let mut tally = Tally::<R500>::new(&options, Shard::default());
    tally.goal = Some(met(&[3, 70]));
    let [zero, one, two] = std::array::from_fn(|_| tally.hand_out().unwrap());
    assert!(zero.bins && one.bins && two.bins);
    // Chunk 0 is not done, and without it chunk 1 may not count.
    tally.put(done(&one, &[3, 70])).unwrap();
    assert!(tally.hand_out().unwrap().bins);
    tally.put(done(&zero, &[3])).unwrap();
    assert!(!tally.hand_out().unwrap().bins);
    tally.put(done(&two, &[500])).unwrap();
    assert!(!tally.hand_out().unwrap().bins);
    assert_eq!(tally.total().bins, met(&[3, 70, 500]));

    // Without a goal every chunk counts.
    let mut tally = Tally::<R500>::new(&options, Shard::default());
    let first = tally.hand_out().unwrap();
    tally.put(done(&first, &[3, 70])).unwrap();
    assert!(tally.hand_out().unwrap().bins);
}

#[test]
fn cases_that_count_no_bins_are_judged_the_same() {
    use reconverge::spa5::Spa5;
    let options = Options::default();
    let rtl = Rtl::<Spa5>::own(Spa5::LANES).unwrap();
    let bins = Model::new(rtl.build());
    let run = |bins| {
        let runner = Runner::open(&options, &rtl, bins, 0).unwrap();
        runner.run_all(0..16, &mut ())
    };
    let (counts, mut counts_not) = (run(Some(&bins)), run(None));
    assert!(counts.bins != Met::default() && counts.judged.0 > 0);
    assert_eq!(counts_not.bins, Met::default());
    counts_not.bins = counts.bins.clone();
    let [counts, counts_not] = [counts, counts_not].map(|s| serde_json::to_string(&s).unwrap());
    assert_eq!(counts_not, counts);
}

/// For random bins of each chunk, any order in which chunks are done, restarts from what was kept, shards, and a chunk that fails,
/// after which none counts: chunks that do not count bins leave out no reachable one.
#[test]
fn no_reachable_bin_is_lost_by_chunks_that_do_not_count() {
    use reconverge::r500::R500;
    const CHUNKS: u64 = 24;
    const BINS: usize = 4;
    let options = Options {
        limit: Limit::Programs(CHUNKS * campaign::CHUNK),
        ..Options::default()
    };
    let goal: Met = (0..BINS).collect();
    let rtl = Rtl::<R500>::own(R500::LANES).unwrap();
    let lost = |case| {
        let cause = Cause::Crashed("as told".to_owned());
        Summary::lost(&options, &rtl, case, cause, 1)
    };
    let mut saved = 0;
    for seed in 0..2000 {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        // Bins of each chunk; the last one is not reachable.
        let bins: Vec<Vec<usize>> = (0..CHUNKS)
            .map(|_| (0..=BINS).filter(|_| rng.random_ratio(1, 3)).collect())
            .collect();
        let of = rng.random_range(1..4);
        let fails = rng.random_range(0..CHUNKS);
        let counts = |number: u64| number <= fails || number % of != fails % of;
        let counted = (0..).zip(&bins).filter(|(number, _)| counts(*number));
        let expected: Met = counted.flat_map(|(_, bins)| bins).copied().collect();
        let mut total = Met::default();
        for index in 1..=of {
            let shard = Shard::new(index, of).unwrap();
            let new = || {
                let mut tally = Tally::<R500>::new(&options, shard);
                tally.goal = Some(goal.clone());
                tally
            };
            let (mut tally, mut kept, mut running) = (new(), Vec::<Piece<R500>>::new(), Vec::new());
            loop {
                if rng.random_ratio(1, 10) {
                    // What runs is lost, what is kept is read again.
                    (tally, running) = (new(), Vec::new());
                    kept.iter()
                        .for_each(|piece| tally.put(piece.clone()).unwrap());
                }
                if running.len() < 8
                    && let Some(chunk) = tally.hand_out()
                {
                    running.push(chunk);
                }
                if running.is_empty() {
                    break;
                }
                if rng.random_ratio(1, 3) {
                    continue;
                }
                let chunk = running.swap_remove(rng.random_range(0..running.len()));
                let counted = bins[chunk.number as usize].iter().filter(|_| chunk.bins);
                let met = counted.copied().collect();
                saved += u64::from(!chunk.bins);
                let mut summary = match chunk.number == fails {
                    true => lost(chunk.cases.start),
                    false => Summary::default(),
                };
                (summary.programs, summary.bins) = (campaign::CHUNK, met);
                let piece = Piece {
                    chunk: chunk.number,
                    cases: chunk.cases,
                    summary,
                };
                kept.push(piece.clone());
                tally.put(piece).unwrap();
            }
            assert!(tally.finished(), "{seed}: {shard}");
            total.merge(&tally.total().bins);
        }
        let has = |met: &Met| (0..BINS).filter(|bin| met.has(*bin)).collect::<Vec<_>>();
        assert_eq!(has(&total), has(&expected), "{seed}");
    }
    assert!(saved > 300, "{saved}");
}

/// All bins of r500 are hit after some five million cycles.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_campaign_stops_counting_bins_when_all_have_been_hit() {
    let place = Place::new();
    let (results, file) = (place.arg("r"), place.path("s.json"));
    let args = ["fuzz", "r500", "--clocks", "9000000", "--variants", "none"];
    let more = ["--results", &results, "--json", arg(&file)];
    reconverge_ends(0, &[&args[..], &more].concat());
    let bins = &json(&file)["seen"]["bins"];
    assert_eq!(bins["hit"], bins["reachable"]);
    let lines = fs::read_to_string(place.path("r/r500.jsonl")).unwrap();
    let empty = lines.lines().skip(1).map(|line| {
        let piece: Value = serde_json::from_str(line).unwrap();
        let count = piece["summary"]["bins"].as_array().unwrap().len();
        (piece["chunk"].as_u64().unwrap(), count == 0)
    });
    let (stopped, counted): (Vec<_>, Vec<_>) = empty.partition(|(_, empty)| *empty);
    let last = counted.iter().map(|(chunk, _)| *chunk).max().unwrap();
    println!(
        "chunk {last} is the last that counted, {} did not",
        stopped.len()
    );
    assert!(counted.len() > 20 && stopped.len() > 20);
    // Other chunks may run while the one that hits the last bin is not done.
    assert!(stopped.iter().all(|(chunk, _)| *chunk + 8 > last));
}
