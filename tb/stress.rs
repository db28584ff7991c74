//! Campaigns on RTL that misbehaves, with faults injected at random: whatever happens to the command, its workers and its disk,
//! the campaign ends or resumes with the totals of an undisturbed one, and every failing case is saved.
//!
//! A campaign is disturbed and resumed until it comes to its end. Everything is drawn from one seed, which is printed;
//! times depend on the machine, so that a campaign that failed may have to be repeated a few times:
//! `RECONVERGE_STRESS_SEED=SEED RECONVERGE_STRESS=1 cargo test --test bench stress:: -- --ignored --nocapture`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use reconverge::r500::R500;
use serde_json::Value;

use crate::campaign::{Running, alive, signal, workers_of};
use crate::common::{ROOT, Tested, arg, command_in, text};
use crate::trust::misbehaving;

/// Campaigns, unless `RECONVERGE_STRESS` says how many.
const CAMPAIGNS: u64 = 6;
/// Seed of the first, unless `RECONVERGE_STRESS_SEED` says which; those after it count up.
const SEED: u64 = 1;
/// Disturbed attempts of a campaign; the one behind them is left alone.
const DISTURBED: usize = 6;
/// A command that was told to end has ended after this, on a machine that does nothing else; the driver gives it
/// [`SLACK`] times as much.
const ENDS: Duration = Duration::from_secs(5);
const SLACK: u32 = 6;
/// Seconds without progress after which RTL hangs.
const TIMEOUT: &str = "4";

/// Cases with failures alike that a campaign saves.
const SAVED: usize = 10;

/// A campaign: unit, what its RTL does wrong ([`crate::trust::MISBEHAVES`]; nothing: an ordinary error) or `None` for our
/// own RTL, and programs.
type Plan = (&'static str, Option<&'static str>, u64);

/// RTL that crashes in every case: its campaign is given up.
const GIVEN_UP: &str = "*c";

/// Errors of r500 that programs come to often and seldom: 1, 9; 8, 4; 6.
const KINDS: &[Plan] = &[
    ("r500", None, 1000),
    ("r700", None, 600),
    ("spa5", None, 600),
    // An ordinary error and nothing else.
    ("r500", Some(""), 600),
    // Crash; a process that ends as if all were well; take all memory; stop the simulation; print a lot; hang; print for
    // ever.
    ("r500", Some("8c"), 40),
    ("r500", Some("8e"), 40),
    ("r500", Some("8a"), 30),
    ("r500", Some("9s"), 300),
    ("r500", Some("9p8c"), 100),
    ("r500", Some("6h"), 24),
    ("r500", Some("6f"), 24),
    ("r500", Some("4c6h8a9s"), 24),
    ("r500", Some(GIVEN_UP), 1000),
];

/// What is done to a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    /// SIGKILL for a worker.
    KillWorker,
    /// A worker is suspended for a while.
    SuspendWorker,
    /// The command and its workers are suspended for a while.
    SuspendAll,
    /// SIGKILL for the command.
    Kill,
    /// SIGINT, SIGTERM, SIGHUP or SIGQUIT for the command.
    End,
    /// Two of them.
    EndTwice,
    /// No file can grow beyond a size.
    FullDisk,
}

/// What happened in all campaigns.
#[derive(Default)]
struct Numbers {
    attempts: u64,
    faults: BTreeMap<Fault, u64>,
    cases: u64,
    longest_end: Duration,
}

/// A campaign that was left alone.
struct Undisturbed {
    status: Option<i32>,
    out: String,
    json: Value,
    cases: BTreeMap<String, String>,
    took: Duration,
}

/// The saved cases in `out`. What a process that was killed was writing has another name.
fn cases(out: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(out).into_iter().flatten();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .filter_map(|path| {
            let name = path.file_name()?.to_str()?.to_owned();
            let whole = !name.starts_with(".writing-");
            whole.then(|| (name, fs::read_to_string(&path).unwrap()))
        })
        .collect()
}

/// A saved case without the seed of its model. A killed worker is followed by one with a new model.
fn without_seed(mut saved: Value) -> Value {
    if let Some(case) = saved.get_mut("case").and_then(Value::as_object_mut) {
        case.remove("model_seed");
    }
    saved
}

/// The failed cases that lines of results in `dir` name, whole lines only, by what they have in common: of as many as fail alike
/// the command saves [`SAVED`].
fn recorded(dir: &Path, unit: &str) -> BTreeMap<String, Vec<String>> {
    let lines = fs::read_to_string(dir.join(format!("{unit}.jsonl"))).unwrap_or_default();
    let whole = lines.rfind('\n').map_or("", |end| &lines[..end]);
    let mut names: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in whole.lines().skip(1) {
        let piece: Value = serde_json::from_str(line).unwrap();
        // That a process was lost is not a failure of a case yet.
        if piece["cases"]["start"] == piece["cases"]["end"] {
            continue;
        }
        for failed in piece["summary"]["failures"].as_array().unwrap() {
            let case = &failed["failure"]["case"];
            let seed = case["seed"].as_str().unwrap().trim_start_matches("0x");
            let program = case["program"]["name"].as_str().unwrap();
            let alike = alike(&failed["failure"]["cause"]);
            (names.entry(alike).or_default()).push(format!("{unit}.{program}.{seed}.json"));
        }
    }
    names
}

/// What failures with the cause `cause` have in common: its kind, and the field of a mismatch.
fn alike(cause: &Value) -> String {
    let (kind, told) = match cause.as_object() {
        Some(object) => object.iter().next().unwrap(),
        None => return cause.to_string(),
    };
    format!("{kind} {}", told["differences"][0]["field"])
}

/// Its place in the file system.
struct Campaign {
    kind: Plan,
    rtl: String,
    seed: String,
    dir: tempfile::TempDir,
}

impl Campaign {
    fn new(kind: Plan, rtl: &str, seed: u64) -> Self {
        Campaign {
            kind,
            rtl: rtl.to_owned(),
            seed: seed.to_string(),
            dir: tempfile::tempdir().unwrap(),
        }
    }

    /// The command; files of `limit` bytes at most, if there is a limit.
    fn command(&self, limit: Option<u64>) -> Command {
        let (unit, does, programs) = self.kind;
        let at = |name: &str| arg(&self.dir.path().join(name)).to_owned();
        let (programs, results, json, out) = (
            programs.to_string(),
            at("results"),
            at("summary.json"),
            at("out"),
        );
        let mut args = vec![
            "fuzz",
            unit,
            "--seed",
            &self.seed,
            "--programs",
            &programs,
            "--jobs",
            "2",
            "--keep-going",
            "--no-shrink",
            "--timeout",
            TIMEOUT,
            "--memory",
            "400",
            "--results",
            &results,
            "--json",
            &json,
            "--out",
            &out,
        ];
        if does.is_some() {
            args.extend(["--rtl", &self.rtl]);
        }
        let plain = command_in(Path::new(ROOT), &args);
        let mut command = match limit {
            None => plain,
            Some(bytes) => {
                let mut shell = Command::new("sh");
                // In blocks of 512 bytes; what is beyond is an error, and no signal.
                let limit = format!("ulimit -f {}; trap '' XFSZ", bytes / 512);
                shell
                    .arg("-c")
                    .arg(format!("{limit}; exec \"$0\" \"$@\""))
                    .arg(plain.get_program())
                    .args(plain.get_args())
                    .envs(
                        plain
                            .get_envs()
                            .filter_map(|(name, value)| Some((name, value?))),
                    )
                    .current_dir(ROOT);
                shell
            }
        };
        command
            .env("MISBEHAVE", does.unwrap_or_default())
            .stdin(Stdio::null())
            .stdout(fs::File::create(self.dir.path().join("stdout")).unwrap())
            .stderr(Stdio::piped())
            .env("RUST_BACKTRACE", "1");
        command
    }

    /// Starts it. What it says on standard error is kept in a file that no limit holds for.
    fn start(&self, limit: Option<u64>) -> (Running, JoinHandle<()>) {
        let mut child = self.command(limit).spawn().unwrap();
        let (mut from, path) = (child.stderr.take().unwrap(), self.dir.path().join("stderr"));
        let keeps = spawn(move || {
            std::io::copy(&mut from, &mut fs::File::create(path).unwrap()).unwrap();
        });
        (Running(child), keeps)
    }

    /// What it said, with another name for its folder.
    fn said(&self, name: &str) -> String {
        let said = text(&fs::read(self.dir.path().join(name)).unwrap());
        said.replace(arg(self.dir.path()), "DIR")
    }

    fn out(&self) -> std::path::PathBuf {
        self.dir.path().join("out")
    }

    fn json(&self) -> Value {
        let file = self.dir.path().join("summary.json");
        serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
    }

    /// Left alone.
    fn undisturbed(&self) -> Undisturbed {
        let begin = Instant::now();
        let (child, stderr) = self.start(None);
        let status = child.ended().status.code();
        stderr.join().unwrap();
        assert!(
            matches!(status, Some(0 | 1)),
            "{status:?} {}",
            self.said("stderr")
        );
        Undisturbed {
            status,
            out: self.said("stdout"),
            json: self.json(),
            cases: cases(&self.out()),
            took: begin.elapsed(),
        }
    }

    /// Whatever was found and recorded is saved, as the undisturbed campaign saves it, or [`SAVED`] cases that fail alike are. A case
    /// that is larger than a file could be is printed instead, and is one of `unsaved` until a later attempt saves it.
    fn check(
        &self,
        expected: &Undisturbed,
        limited: bool,
        unsaved: &mut BTreeSet<String>,
        history: &str,
    ) {
        let parsed = |case: &str| without_seed(serde_json::from_str(case).unwrap());
        let err = self.said("stderr");
        let by_hand = err.contains("the case, to be saved by hand:");
        let lines = err.lines();
        let printed: Vec<Value> = lines
            .filter_map(|line| serde_json::from_str(line).ok().map(without_seed))
            .collect();
        let saved = cases(&self.out());
        let mut whole = recorded(&self.dir.path().join("results"), self.kind.0);
        for names in whole.values_mut() {
            let found = names.len();
            names.retain(|name| {
                if saved.contains_key(name) || unsaved.contains(name) {
                    return false;
                }
                let case = expected.cases.get(name).map(|case| parsed(case));
                let printed = limited && by_hand && case.is_none_or(|case| printed.contains(&case));
                if printed {
                    unsaved.insert(name.clone());
                }
                !printed
            });
            assert!(
                names.is_empty() || found - names.len() >= SAVED,
                "{names:?} were found, and are neither saved nor printed\n{history}\n{err}"
            );
        }
        let named = expected.json["mismatches"].as_array().unwrap();
        for (name, case) in &saved {
            let same = expected.cases.get(name);
            let same = same.map(|expected| parsed(expected) == parsed(case));
            // What is found behind the end of a campaign that is given up depends on how its jobs took turns; so do those of many
            // that fail alike that are saved.
            let run = name.trim_end_matches(".json");
            let counted = || named.iter().any(|failed| failed["run"] == run);
            let right = same.unwrap_or_else(|| self.kind.1 == Some(GIVEN_UP) || counted());
            assert!(right, "{name}: {same:?}\n{case}\n{history}");
        }
    }

    /// Disturbs and resumes it until it is at its end. `rng` draws what happens.
    fn disturbed(&self, expected: &Undisturbed, rng: &mut Pcg64Mcg, numbers: &mut Numbers) {
        let mut history = format!("{:?}, seed of the campaign {}", self.kind, self.seed);
        let mut lines = 0;
        // How often nothing was done: then it gets longer, so that it comes to an end on a slow machine too.
        let mut idle = 0;
        let mut unsaved = BTreeSet::new();
        for attempt in 0.. {
            numbers.attempts += 1;
            let last = attempt >= DISTURBED;
            let limit =
                (!last && rng.random_ratio(1, 6)).then(|| rng.random_range(1 << 9..1 << 18));
            history += &format!("\n{attempt}:");
            let (mut child, stderr) = self.start(limit);
            if let Some(bytes) = limit {
                history += &format!(" files of {bytes} bytes");
                *numbers.faults.entry(Fault::FullDisk).or_default() += 1;
            }
            let mut workers = Vec::new();
            let mut told: Option<Instant> = None;
            let span = expected.took.as_millis() as u64 + 200;
            for _ in 0..if last { 0 } else { rng.random_range(1..6) } {
                let wait = Duration::from_millis(rng.random_range(0..(span / 2) << idle));
                let end = Instant::now() + wait;
                while Instant::now() < end && child.0.try_wait().unwrap().is_none() {
                    sleep(Duration::from_millis(2));
                }
                if told.is_some() || child.0.try_wait().unwrap().is_some() {
                    break;
                }
                let fault = [
                    Fault::KillWorker,
                    Fault::KillWorker,
                    Fault::SuspendWorker,
                    Fault::SuspendAll,
                    Fault::Kill,
                    Fault::End,
                    Fault::EndTwice,
                ][rng.random_range(0..7)];
                history += &format!(" {fault:?} after {} ms", wait.as_millis());
                *numbers.faults.entry(fault).or_default() += 1;
                workers = workers_of(child.id());
                let worker = match workers.len() {
                    0 => None,
                    n => Some(workers[rng.random_range(0..n)]),
                };
                let end = ["-INT", "-TERM", "-HUP", "-QUIT"][rng.random_range(0..4)];
                let longest = 6000 >> rng.random_range(0..8);
                let pause = Duration::from_millis(rng.random_range(1..longest));
                match (fault, worker) {
                    (Fault::KillWorker, Some(worker)) => try_signal(worker, "-KILL"),
                    (Fault::SuspendWorker, Some(worker)) => {
                        try_signal(worker, "-STOP");
                        sleep(pause);
                        try_signal(worker, "-CONT");
                    }
                    (Fault::SuspendAll, _) => {
                        let all = || workers.iter().copied().chain([child.id()]);
                        all().for_each(|pid| try_signal(pid, "-STOP"));
                        sleep(pause);
                        all().for_each(|pid| try_signal(pid, "-CONT"));
                    }
                    (Fault::Kill, _) => {
                        child.0.kill().unwrap();
                        told = Some(Instant::now());
                    }
                    (Fault::End, _) => {
                        signal(child.id(), end);
                        told = Some(Instant::now());
                    }
                    (Fault::EndTwice, _) => {
                        signal(child.id(), end);
                        sleep(pause.min(ENDS));
                        try_signal(child.id(), end);
                        told = Some(Instant::now());
                    }
                    _ => {}
                }
            }
            // It ends by itself otherwise; nothing here takes so long.
            let patience = match told {
                Some(_) => ENDS * SLACK,
                None => Duration::from_secs(600),
            };
            let begin = told.unwrap_or_else(Instant::now);
            while child.0.try_wait().unwrap().is_none() {
                assert!(begin.elapsed() < patience, "it does not end\n{history}");
                workers = workers_of(child.id());
                sleep(Duration::from_millis(5));
            }
            if told.is_some() {
                numbers.longest_end = numbers.longest_end.max(begin.elapsed());
            }
            let Output { status, .. } = child.ended();
            history += &format!(" -> {status}");
            let begin = Instant::now();
            while workers.iter().any(|pid| alive(*pid)) {
                assert!(
                    begin.elapsed() < ENDS * SLACK,
                    "a worker is left\n{history}"
                );
                sleep(Duration::from_millis(5));
            }
            stderr.join().unwrap();
            self.check(expected, limit.is_some(), &mut unsaved, &history);
            let results = self
                .dir
                .path()
                .join("results")
                .join(format!("{}.jsonl", self.kind.0));
            let now = fs::read(&results).unwrap_or_default();
            let now = now.iter().filter(|b| **b == b'\n').count();
            assert!(now >= lines, "what was done is still there\n{history}");
            idle = if now == lines { (idle + 1).min(6) } else { 0 };
            lines = now;
            let err = self.said("stderr");
            // RTL that was ended while it printed leaves half a line before ours.
            let cut =
                |line: &str| line.contains("error: ") || line.ends_with("no waves: interrupted");
            let ended = err.lines().any(cut);
            match status.code() {
                // It came to its end, but where it could not write all there is to write.
                code @ Some(0 | 1) if !ended && limit.is_none() => {
                    assert_eq!(code, expected.status, "{history}\n{err}");
                    assert_eq!(self.said("stdout"), expected.out, "{history}\n{err}");
                    assert_eq!(self.json(), expected.json, "{history}");
                    let saved = cases(&self.out());
                    let named = expected.out.split_whitespace();
                    for path in named.filter(|word| word.ends_with(".json")) {
                        let name = Path::new(path).file_name().unwrap().to_str().unwrap();
                        assert!(saved.contains_key(name), "{name} is lost\n{history}\n{err}");
                    }
                    numbers.cases += expected.cases.len() as u64;
                    println!("{history}");
                    return;
                }
                // Interrupted, or it could not write.
                Some(0 | 1 | 3) => {}
                // By the second signal; by SIGKILL, or the first while there was nothing to lose yet.
                Some(code) => assert!(code > 128, "{code}\n{history}\n{err}"),
                None => assert!(told.is_some(), "{history}\n{err}"),
            }
            assert!(!last, "left alone, it ends\n{history}\n{err}");
        }
    }
}

/// Sends a signal to a process that may be gone.
fn try_signal(pid: u32, name: &str) {
    let _ = Command::new("kill")
        .args([name, &pid.to_string()])
        .stderr(Stdio::null())
        .status();
}

#[test]
#[ignore = "minutes; CI's step kills runs it: cargo test --test bench stress:: -- --ignored --nocapture; \
            RECONVERGE_STRESS=200 for as many campaigns"]
fn campaigns_with_faults_at_random_end_with_the_totals_of_undisturbed_ones() {
    let number = |name: &str, default: u64| match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|e| panic!("{name}: {e}")),
        Err(_) => default,
    };
    let first = number("RECONVERGE_STRESS_SEED", SEED);
    let count = number("RECONVERGE_STRESS", CAMPAIGNS);
    let (spoilt, misbehaving) = (misbehaving(), misbehaving());
    spoilt.change(R500::faults("decisions")[0]);
    let mut known: BTreeMap<(usize, u64), Undisturbed> = BTreeMap::new();
    let mut numbers = Numbers::default();
    let begin = Instant::now();
    for seed in first..first + count {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        // Each kind in turn, so that a few campaigns are different ones.
        let kind = (seed % KINDS.len() as u64) as usize;
        let of = rng.random_range(1..4);
        let rtl = match KINDS[kind].1 {
            Some("") => spoilt.arg(),
            _ => misbehaving.arg(),
        };
        let expected = known
            .entry((kind, of))
            .or_insert_with(|| Campaign::new(KINDS[kind], rtl, of).undisturbed());
        if KINDS[kind].1.is_some() {
            assert!(
                !expected.cases.is_empty(),
                "{:?} finds nothing",
                KINDS[kind]
            );
        }
        println!("RECONVERGE_STRESS_SEED={seed}");
        Campaign::new(KINDS[kind], rtl, of).disturbed(expected, &mut rng, &mut numbers);
    }
    assert!(numbers.attempts > count, "nothing was disturbed");
    println!(
        "{count} campaigns from seed {first} on: {} attempts, {} cases saved, faults {:?}; told to end, the slowest took \
         {:.1} s; {:.0} s in all",
        numbers.attempts,
        numbers.cases,
        numbers.faults,
        numbers.longest_end.as_secs_f64(),
        begin.elapsed().as_secs_f64()
    );
}
