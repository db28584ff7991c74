//! Campaigns of threads, processes and shards have the same totals and failures; reports of campaigns; which pins and builds they
//! cover. Modules: processes that are killed, files of results, accounting of chunks.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use crate::common::{
    ROOT, Tested, arg, command_in, mismatch, reconverge, reconverge_ends, text, wait_until,
};
use quick_junit::Report;
use reconverge::campaign::{self, Limit, Options, Summary};
use reconverge::case::Case;
use reconverge::cover::Model;
use reconverge::design::Build;
use reconverge::design::Design;
use reconverge::dut::Rtl;
use reconverge::process::Process;
use reconverge::unit::Unit;
use serde_json::Value;
use tempfile::TempDir;

mod processes;
mod tally;

use processes::{a_campaign_killed_again_and_again_ends_with_the_totals_of_one_run, killed};

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {
        const UNITS: &[&str] = &[$(stringify!($module)),+];

        $(mod $module {
            crate::common::test_unit!(reconverge::$module::$unit:
                variants_have_few_and_many_lanes_and_each_parameter_at_its_limits,
                #[ignore = "takes long; CI's step builds runs it"]
                a_campaign_killed_again_and_again_ends_with_the_totals_of_one_run,
            );
            crate::common::test_unit_with_models!($module reconverge::$module::$unit:
                worker_processes_add_up_to_what_threads_do,
            );
        })+

        /// The builds of `fuzz all`, in order.
        fn builds() -> Vec<Build> {
            let own = [$(Build::from(reconverge::$module::$unit::LANES)),+];
            let variants = [$(Build::from(&reconverge::$module::$unit::VARIANTS[0])),+];
            own.into_iter().chain(variants).collect()
        }

        /// Ten campaigns with a hundred thousand programs in all, each killed about every quarter of a second.
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
struct CampaignFolder(TempDir);

impl CampaignFolder {
    fn new() -> Self {
        CampaignFolder(tempfile::tempdir().unwrap())
    }
    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
    fn arg(&self, name: &str) -> String {
        arg(&self.path(name)).to_owned()
    }
    /// Runs `fuzz unit` with seed 1 and this number of programs; its results are in folder `r`.
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

/// Runs the command and checks that it ends with `status` and prints exactly this first line.
fn says(status: i32, args: &[&str], message: &str) {
    let output = reconverge(args);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{args:?}\n{stderr}");
    assert_eq!(stderr.lines().next().unwrap_or(""), message, "{args:?}");
}

/// A running command, which is killed if the test fails.
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

    /// Waits for its end. Its output must fit into the pipes.
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
    let has = || fs::read_to_string(file).unwrap_or_default().lines().count();
    wait_until("the file grows", || has() >= lines);
}

fn threads<U: Unit>(limit: Limit) -> (Options, Summary<Case<U>>) {
    let options = Options {
        seed: 1,
        limit,
        jobs: 2,
        ..Options::default()
    };
    let rtl = Rtl::<U>::own(U::LANES).unwrap();
    let summary = mismatch::campaign(&options, &rtl);
    (options, summary)
}

/// The file of `--junit`.
pub fn junit_in(path: &Path) -> Report {
    Report::deserialize_from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn worker_processes_add_up_to_what_threads_do<U: Tested>() {
    let place = CampaignFolder::new();
    let file = place.path("s.json");
    for (flag, limit) in [
        ("--programs", Limit::Programs(300)),
        // The older name of --cycles.
        ("--clocks", Limit::Cycles(150_000)),
    ] {
        let (options, summary) = threads::<U>(limit);
        assert!(summary.programs > campaign::CHUNK, "sums of several chunks");
        let mut expected = summary.to_json(&options, &Model::new(&Build::from(U::LANES)));
        expected["complete"] = true.into();
        (expected["not_run"], expected["shard"]) = (Value::Null, Value::Null);
        expected["build"] = serde_json::to_value(Build::from(U::LANES)).unwrap();
        let (Limit::Programs(n) | Limit::Cycles(n)) = limit else {
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

/// Waits until a worker of the command runs RTL: it has computed for longer than it takes to begin.
pub fn wait_for_rtl(pid: u32) {
    let used = |pid: &u32| Process::of(*pid).map_or(Duration::ZERO, |process| process.used);
    wait_until("a worker runs RTL", || {
        let workers = workers_of(pid);
        workers.iter().map(used).sum::<Duration>() >= Duration::from_millis(500)
    });
}

/// Returns whether a process runs; a zombie does not.
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

/// The JUnit file of several units.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn summaries_of_all_units_are_one_list_and_one_file_of_suites() {
    let place = CampaignFolder::new();
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
    let read = junit_in(&junit);
    assert_eq!(read.test_suites.len(), 2 * UNITS.len());
    // A test for each kind of program.
    assert_eq!((read.tests, read.failures), (8 * UNITS.len(), 0));
    let names =
        (read.test_suites.iter()).flat_map(|s| s.test_cases.iter().map(|t| t.name.as_str()));
    assert_eq!(names.collect::<BTreeSet<_>>().len(), read.tests);
    // One line for each, in one format; below it, the bins that so few programs do not hit.
    let lines: Vec<&str> = out.lines().filter(|l| !l.starts_with(' ')).collect();
    assert_eq!(lines.len(), 1 + built.len(), "{out}");
    for (line, build) in lines[1..].iter().zip(&built) {
        assert!(
            line.contains(&format!("  {build}  ")) && line.ends_with(" 0"),
            "{line}"
        );
        assert_eq!(line.len(), lines[0].len(), "{out}");
    }
    // How long the programs of a kind ran is told, but saved nowhere.
    let timed = |read: &Report| {
        let tests = read.test_suites.iter().flat_map(|suite| &suite.test_cases);
        tests.filter(|test| test.time.is_some()).count()
    };
    assert_eq!(timed(&read), read.tests);
    let merge = [
        "merge",
        &results,
        "--json",
        arg(&again),
        "--junit",
        arg(&junit),
    ];
    assert_eq!((reconverge_ends(0, &merge), json(&again)), (out, list));
    assert_eq!(timed(&junit_in(&junit)), 0);
}

/// Each can be built; the first differs from the default build in every parameter.
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
        // A parameter named with its default value would look like another build.
        assert_ne!(*value, default, "{name}");
    }
}
