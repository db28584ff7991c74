//! Damaged files of every kind, read in this process: no reader panics, every error names its place, no output contains control
//! codes, and a file that is accepted can be written, read again and run.
//!
//! `cargo test` reads some 10,000 of them. A million, with the memory of each kind and the slowest file, which is kept in
//! `target/tmp/slowest`:
//!
//! ```sh
//! RECONVERGE_INPUTS=1000000 cargo test --release --test bench -- --ignored --nocapture damaged::as_many
//! ```

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use reconverge::assembly::Assembly as _;
use reconverge::case::Case;
use reconverge::cover::lcov::RtlCoverage;
use reconverge::design::Golden;
use reconverge::input::{InputError, printable};
use reconverge::mutate::source;
use reconverge::saved::{Savable as _, Saved};
use reconverge::start::Start;
use reconverge::stimulus::CaseStimulus;
use reconverge::unit::{Executor as _, LoadOptions, Records, Unit};
use reconverge::watch::Watch;

use crate::common::Tested;
use crate::common::damage::{Damager, FormatKind};

mod formats;

/// Files of `cargo test`, and of the long run unless `RECONVERGE_INPUTS` says otherwise.
const FEW: usize = 10_000;
const MANY: usize = 1_000_000;

/// Maximum number of bytes of a file: longer ones take longer and test nothing more.
const LONG: usize = 20_000;

/// Cycles that what was read is run for.
const CYCLES: u64 = 200;

/// Reads a file and returns its error.
type Read = Box<dyn Fn(&[u8], &mut Pcg64Mcg) -> Result<(), Refused>>;

enum Refused {
    Input(InputError),
    Said(String),
}

impl From<InputError> for Refused {
    fn from(e: InputError) -> Self {
        Refused::Input(e)
    }
}

/// A kind of file.
struct Format {
    name: String,
    kind: FormatKind,
    seeds: Vec<Vec<u8>>,
    read: Read,
}

/// The name that files get.
const FILE: &str = "dir/file.s";

// ---- what must hold of what was read ------------------------------------------------------------------

fn harmless(text: &str) {
    assert_eq!(printable(text), text, "a terminal would obey it");
}

fn checked(refused: &Refused, bytes: &[u8], file: &str) {
    match refused {
        Refused::Said(why) => assert!(!why.is_empty()),
        Refused::Input(e) => {
            // An option or the folder of the file may be what is wrong.
            let option = e.file.starts_with("--");
            assert!(e.file == file || option || file.starts_with(&e.file), "{e}");
            let lines = 1 + bytes.iter().filter(|b| **b == b'\n').count();
            assert!(e.line <= lines, "line {} of {lines}: {e}", e.line);
            assert!(e.field.is_empty() == option && !e.message.is_empty(), "{e}");
            harmless(&e.to_string());
            assert!(!e.is_of_the_machine(), "{e}");
            if let Some(snippet) = e.snippet() {
                let text = anstream::adapter::strip_str(&snippet).to_string();
                harmless(&text);
                assert!(snippet.len() < 20_000, "{} bytes", snippet.len());
            }
        }
    }
}

/// Runs the golden on a case, and asks the scalar judge.
fn run<U: Unit>(case: &Case<U>) {
    let mut golden = case.golden();
    let mut stimulus = CaseStimulus::new(case);
    let mut records = Records::<U>::default();
    for cycle in 0..CYCLES {
        let Some(pins) = stimulus.next(golden.state()) else {
            break;
        };
        records.before(cycle, &pins, &golden);
        golden.cycle(&pins);
        if let Some(start) = stimulus.load() {
            for state in start.states(&case.build(), golden.state()) {
                golden.load(&state);
            }
        }
        records.after(cycle, &pins, &golden);
        stimulus.done(&pins, golden.step(), golden.state());
    }
    // Determining whether a program is structured may take its judge long.
    if records.records.len() % 8 == 0 {
        records.judge(case, golden.state());
    }
}

/// Writes a program in every form, reads it again, and runs it.
fn used<U: Tested>(program: &U::Program) {
    let name = program.name().to_owned();
    let text = program.to_text();
    harmless(&text);
    harmless(&U::to_hex(program));
    let again = U::load(text.as_bytes(), "dir/again.s", &LoadOptions::default());
    let mut again = again.unwrap_or_else(|e| panic!("{e}\n{text}")).program;
    again.rename(name);
    assert_eq!(&again, program, "{text}");
    let case = Case::<U>::new(program.clone());
    if case.check_input("flags").is_ok() {
        let saved = Saved {
            failure: None,
            case,
        };
        assert_eq!(
            Saved::<Case<U>>::parse(&saved.to_text(), "c").as_ref().ok(),
            Some(&saved)
        );
        run(&saved.case);
    }
}

// ---- found in this way ---------------------------------------------------------------------------------

/// Regression: the tokens never ended after a quote.
#[test]
fn a_quote_that_begins_no_number_is_not_read_by_the_mutator() {
    let text = "module m;\n  assign a = ';\nendmodule\n";
    assert_eq!(mutated(text).unread, ["m.sv:2: \"'\" in an expression"]);
}

/// What can be mutated in `text`.
fn mutated(text: &str) -> source::Places {
    source::candidates("m.sv", text, &source::Enums::new()).unwrap()
}

/// Regression: the stack overflowed, which ends the process.
#[test]
fn what_lies_too_deep_is_not_read_by_the_mutator() {
    let module =
        |part: String| format!("module m;\n  always_comb begin\n{part}\n  end\nendmodule\n");
    let nested = |before: &str, inner: &str, after: &str, times: usize| {
        module(before.repeat(times) + inner + &after.repeat(times))
    };
    let brackets = |times| module(format!("a = {}b{};", "(".repeat(times), ")".repeat(times)));
    let blocks = |times| nested("begin ", "a = b;", " end", times);
    let ifs = |times| nested("if (c) ", "a = b;", "", times);
    // The last one is nested, and the assignment in it.
    let chain = |times: usize| {
        module(format!(
            "if (c) a = b; {} else a = b;",
            "else if (c) a = b; ".repeat(times)
        ))
    };
    assert_eq!(mutated(&chain(5000)).unread, [""; 0]);
    let negations = |times| module(format!("a = {}b;", "~".repeat(times)));
    let targets = |times| module(format!("{}a{} = b;", "{".repeat(times), "}".repeat(times)));
    let row = |times: usize| module(format!("a = b{};", " + b".repeat(times)));
    type Text<'a> = &'a dyn Fn(usize) -> String;
    let deep = "what lies in more than 100 brackets and blocks";
    for (name, text, most, why) in [
        ("brackets", &brackets as Text, 98, deep),
        ("blocks", &blocks, 98, deep),
        ("ifs", &ifs, 98, deep),
        ("negations", &negations, 98, deep),
        ("targets", &targets, 99, deep),
        ("row", &row, 1000, "more than 1000 operators in a row"),
    ] {
        let good = text(most);
        let found = mutated(&good);
        assert_eq!(found.unread, [""; 0], "{name}");
        let chosen: Vec<_> = (1..).zip(&found.candidates).take(50).collect();
        source::schema(&good, &chosen);
        for times in [most + 1, 100_000] {
            let unread = mutated(&text(times)).unread;
            assert!(
                unread.len() == 1 && unread[0].contains(why),
                "{name}: {unread:?}"
            );
        }
    }
}

/// Regression: the sum of two counts overflowed; a range of lines took all memory.
#[test]
fn counters_of_the_rtl_may_be_any_numbers() {
    let with = |lines: &str, count: &str| {
        let keys = [
            ("f", "a.sv"),
            ("l", "1"),
            ("n", "1"),
            ("page", "v_line/a"),
            ("S", lines),
        ];
        let keys: String = keys
            .iter()
            .map(|(k, v)| format!("\u{1}{k}\u{2}{v}"))
            .collect();
        RtlCoverage::parse(&format!("C '{keys}' {count}\n"), "c")
    };
    let mut full = with("1-3", &u64::MAX.to_string()).unwrap();
    full.merge(full.clone());
    assert!(full.to_lcov().contains("18446744073709551615"));
    assert!(with("1-1048576", "1").is_ok());
    for lines in ["1-1048577", "0-4294967295", "1-3,5-1048578"] {
        let error = with(lines, "1").err();
        assert_eq!(
            error.unwrap_or_default(),
            "c:1: the lines must be numbers, and not too many"
        );
    }
}

// ---- the runs ------------------------------------------------------------------------------------------

/// What was met of one kind.
#[derive(Default)]
struct Met {
    read: usize,
    refused: usize,
    slowest: Duration,
    /// The slowest file.
    file: Vec<u8>,
}

/// Most memory that this process has had up to now, in KiB.
fn most_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM:"));
    let number = line.and_then(|l| l.split_whitespace().nth(1));
    number.and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// Reads `count` damaged files of `format`; a file that causes a panic is kept.
fn survive(format: Format, count: usize, seed: u64) -> Met {
    let Format {
        name,
        kind,
        seeds,
        read,
    } = format;
    let file = match name.ends_with("words") {
        true => "dir/file.hex",
        false => FILE,
    };
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    // Some have several programs, of which none is chosen; a random program may end behind its words.
    let good = seeds
        .iter()
        .filter(|seed| read(seed, &mut rng).is_ok())
        .count();
    assert!(good > 0, "{name}: no good file is read");
    let mut damager = Damager::new(kind, seeds, seed);
    let mut met = Met::default();
    for round in 0..count {
        let bytes = damager.next();
        let begun = Instant::now();
        let survived = catch_unwind(AssertUnwindSafe(|| {
            let result = read(&bytes, &mut rng);
            let took = begun.elapsed();
            if let Err(refused) = &result {
                let shown = match refused {
                    Refused::Input(e) if e.file.ends_with(".jsonl") => e.file.clone(),
                    _ => file.to_owned(),
                };
                checked(refused, &bytes, &shown);
            }
            (result.is_ok(), took)
        }));
        let Ok((good, took)) = survived else {
            let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.{round}"));
            fs::write(&kept, &bytes).unwrap();
            panic!(
                "{name}: file {round} of seed {seed} is not survived; kept as {}",
                kept.display()
            );
        };
        match good {
            true => met.read += 1,
            false => met.refused += 1,
        }
        if took > met.slowest {
            (met.slowest, met.file) = (took, bytes);
        }
    }
    assert!(
        met.read > count / 100 && met.refused > count / 100,
        "{name}: {} read, {} refused",
        met.read,
        met.refused
    );
    met
}

fn run_all(count: usize, seed: u64, mut say: impl FnMut(&str, &Met)) -> usize {
    let dir = tempfile::tempdir().unwrap();
    let formats = formats::all(dir.path());
    let each = count.div_ceil(formats.len());
    for format in formats {
        let name = format.name.clone();
        say(&name, &survive(format, each, seed));
    }
    count
}

#[test]
#[ignore = "thousands of inputs; CI's step builds runs it"]
fn ten_thousand_damaged_files_are_read_or_refused() {
    let mut kinds = 0;
    run_all(FEW, 1, |_, _| kinds += 1);
    assert!(kinds >= 20, "{kinds} kinds of files");
}

#[test]
#[ignore = "a million files: some ten minutes with --release; see the head of this file"]
fn as_many_damaged_files_as_asked_for_are_read_or_refused() {
    let asked = |name: &str, default: usize| {
        let text = std::env::var(name).ok();
        text.map_or(default, |text| text.parse().expect("a number"))
    };
    let (count, seed) = (
        asked("RECONVERGE_INPUTS", MANY),
        asked("RECONVERGE_SEED", 1),
    );
    let (begun, mut all) = (Instant::now(), Met::default());
    println!(
        "{:<28} {:>8} {:>8}  slowest  of bytes  memory",
        "kind", "read", "refused"
    );
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("slowest");
    fs::create_dir_all(&dir).unwrap();
    run_all(count, seed as u64, |name, met| {
        println!(
            "{name:<28} {:>8} {:>8} {:>6.1} ms {:>9} {:>5} MiB",
            met.read,
            met.refused,
            met.slowest.as_secs_f64() * 1e3,
            met.file.len(),
            most_memory() / 1024
        );
        fs::write(dir.join(name), &met.file).unwrap();
        all.read += met.read;
        all.refused += met.refused;
        all.slowest = all.slowest.max(met.slowest);
    });
    println!(
        "{} files, {} read, {} refused, in {:.0} s; slowest {:.1} ms; at most {} MiB",
        all.read + all.refused,
        all.read,
        all.refused,
        begun.elapsed().as_secs_f64(),
        all.slowest.as_secs_f64() * 1e3,
        most_memory() / 1024
    );
}
