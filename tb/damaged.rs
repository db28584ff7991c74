//! Damaged files of every kind that is read, in this process: no reader panics, every error says where, nothing that
//! is read or said of it commands a terminal, and what is read can be written, read again and run.
//!
//! `cargo test` reads some 10,000 of them. A million, with the memory of each kind and the slowest file, which is kept in
//! `target/tmp/slowest`:
//!
//! ```sh
//! RECONVERGE_INPUTS=1000000 cargo test --release --test bench -- --ignored --nocapture damaged::as_many
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use reconverge::campaign::{self, Failed, Limit, Options, Shard, Summary, results};
use reconverge::case::{CASE_FORMAT, Case, Conditions, Row, SavedCase, Table, unit_of_case};
use reconverge::cover::lcov::RtlCoverage;
use reconverge::cover::{FailedRun, Model, Ran, Saved, UnitCoverage, page};
use reconverge::design::{Build, Golden};
use reconverge::dut::Rtl;
use reconverge::failure::{Cause, Failure};
use reconverge::field::Diff;
use reconverge::input::{InputError, printable, read_text};
use reconverge::lockstep::{Compared, Mismatch, Stopped};
use reconverge::mutate::source;
use reconverge::place::Place;
use reconverge::start::Start;
use reconverge::stimulus::CaseStimulus;
use reconverge::unit::{Executor as _, LoadOptions, Records, Unit};
use reconverge::watch::Watch;
use serde_json::json;

use crate::common::damage::{Damager, Kind, seal};
use crate::common::rtl::Rtl as Folder;
use crate::common::{ROOT, Tested, imported_programs, own_programs};

use reconverge::for_each_unit;

/// Files of `cargo test`, and of the long run unless `RECONVERGE_INPUTS` says otherwise.
const FEW: usize = 10_000;
const MANY: usize = 1_000_000;

/// Bytes of a long file, which takes longer and reaches nothing more.
const LONG: usize = 20_000;

/// Cycles that what was read is run for.
const CYCLES: u64 = 200;

/// Who reads a file: its error, or the one of what has no [`InputError`].
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
    kind: Kind,
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
            // A flag or the folder of the file may be what is wrong.
            assert!(
                e.file == file || e.file.starts_with("--") || file.starts_with(&e.file),
                "{e}"
            );
            let lines = 1 + bytes.iter().filter(|b| **b == b'\n').count();
            assert!(e.line <= lines, "line {} of {lines}: {e}", e.line);
            assert!(!e.field.is_empty() && !e.message.is_empty(), "{e}");
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
    // Whether a program is structured may take its judge a while to find out.
    if records.records.len() % 8 == 0 {
        records.judge(case, golden.state());
    }
}

/// Writes a program in every form, reads it again, and runs it.
fn used<U: Tested>(program: &U::Program) {
    let name = U::name(program).to_owned();
    let text = U::to_text(program);
    harmless(&text);
    harmless(&U::to_hex(program));
    let again = U::load(text.as_bytes(), "dir/again.s", &LoadOptions::default());
    let mut again = again.unwrap_or_else(|e| panic!("{e}\n{text}")).program;
    U::rename(&mut again, name);
    assert_eq!(&again, program, "{text}");
    let case = Case::<U>::new(program.clone());
    if case.check("flags").is_ok() {
        let saved = SavedCase {
            reconverge: CASE_FORMAT,
            unit: U::NAME.to_owned(),
            failure: None,
            case,
        };
        assert_eq!(
            SavedCase::<U>::parse(&saved.to_text(), "c").as_ref().ok(),
            Some(&saved)
        );
        run(&saved.case);
    }
}

// ---- kinds of files ------------------------------------------------------------------------------------

fn program_reader<U: Tested>(file: &'static str) -> Read {
    Box::new(move |bytes, rng| {
        if rng.random_ratio(1, 4) {
            // Of assembly there is no list.
            match U::list(bytes, file) {
                Ok(lines) => lines.iter().for_each(|line| harmless(line)),
                Err(e) => checked(&e.into(), bytes, file),
            }
        }
        let options = LoadOptions {
            safe_loops: U::NAME == "r500" && rng.random_ratio(1, 8),
            which: ["1", "2", "main", "0", ""]
                .choose(rng)
                .filter(|_| rng.random_ratio(1, 3))
                .map(|which| (*which).to_owned()),
        };
        let loaded = U::load(bytes, file, &options)?;
        used::<U>(&loaded.program);
        Ok(())
    })
}

fn programs<U: Tested>(formats: &mut Vec<Format>) {
    let mut add = |name: &str, file: &'static str, kind: Kind, seeds: Vec<Vec<u8>>| {
        formats.push(Format {
            name: format!("{}, {name}", U::NAME),
            kind,
            seeds,
            read: program_reader::<U>(file),
        });
    };
    let own: Vec<Vec<u8>> = own_programs::<U>()
        .iter()
        .map(|file| fs::read(file).unwrap())
        .collect();
    let words = own.iter().map(|text| {
        let loaded = U::load(text, FILE, &LoadOptions::default()).unwrap();
        U::to_hex(&loaded.program).into_bytes()
    });
    let mut hex: Vec<Vec<u8>> = words.collect();
    let mut text = own;
    // What the generators make, and the disassembler writes.
    for index in 0..16 {
        let (_, case) = campaign::case::<U>(3, index, &Build::from(U::LANES));
        text.push(U::to_text(&case.program).into_bytes());
        hex.push(U::to_hex(&case.program).into_bytes());
    }
    text.retain(|text| text.len() < LONG);
    hex.retain(|words| words.len() < LONG);
    add("assembly", FILE, Kind::Text, text);
    add("words", "dir/file.hex", Kind::Text, hex);
    // What compilers wrote, by the ending of its name.
    let mut imported: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
    for file in imported_programs::<U>() {
        let bytes = fs::read(&file).unwrap();
        let ending = file.extension().unwrap().to_string_lossy().into_owned();
        let seeds = imported.entry(ending).or_default();
        if bytes.len() < LONG || seeds.is_empty() {
            seeds.push(bytes);
        }
    }
    for (ending, seeds) in imported {
        let kind = match seeds.iter().all(|bytes| str::from_utf8(bytes).is_ok()) {
            true => Kind::Text,
            false => Kind::Binary,
        };
        add(&ending, FILE, kind, seeds);
    }
}

fn saved_cases<U: Tested>(formats: &mut Vec<Format>) {
    let lanes = [U::LANES, 4, 64];
    let mut seeds: Vec<Vec<u8>> = (0..40)
        .map(|index| {
            let build = Build::from(lanes[index as usize % 3]);
            let (_, mut case) = campaign::case::<U>(5, index, &build);
            if index == 3 {
                let rows = (0..4).map(|lane| Row {
                    lane,
                    k: lane.into(),
                    bits: 1,
                });
                case.conditions = Conditions::Table(Table::from(rows.collect::<Vec<_>>()));
            }
            saved(case)
        })
        .filter(|case| case.len() < LONG)
        .collect();
    seeds.extend(own_programs::<U>().iter().take(4).map(|file| {
        let loaded = U::load(&fs::read(file).unwrap(), FILE, &LoadOptions::default());
        saved(Case::<U>::new(loaded.unwrap().program))
    }));
    formats.push(Format {
        name: format!("{}, saved case", U::NAME),
        kind: Kind::Json,
        seeds,
        read: Box::new(|bytes, _| {
            let text = utf8(bytes)?;
            unit_of_case(text, FILE)?;
            let saved = SavedCase::<U>::parse(text, FILE)?;
            let again = SavedCase::<U>::parse(&saved.to_text(), FILE);
            assert_eq!(again.ok().as_ref(), Some(&saved));
            harmless(&saved.case.name());
            run(&saved.case);
            Ok(())
        }),
    });
}

fn saved<U: Unit>(case: Case<U>) -> Vec<u8> {
    let failure = Failure::new(&case, Cause::Hung(60), Compared::default());
    SavedCase::from(&failure).to_text().into_bytes()
}

fn utf8(bytes: &[u8]) -> Result<&str, InputError> {
    // As `input::read_text` says it.
    str::from_utf8(bytes).map_err(|_| InputError::new(FILE, 0, "file", "is not UTF-8"))
}

/// Results of a small campaign, and of one with a failure of every sort.
fn results_of<U: Tested>(formats: &mut Vec<Format>, dir: &Path) {
    let header = results::Header::new(
        &Options {
            seed: 7,
            limit: Limit::Programs(300),
            jobs: 1,
            keep_going: true,
            rtl: None,
        },
        &Rtl::<U>::own(Build::from(4)).unwrap(),
        Shard::default(),
    );
    let chunk = |number: u64, programs: u64, failures: Vec<Failed<U>>| {
        let mut summary = Summary::<U> {
            programs,
            failures,
            ..Summary::default()
        };
        summary.compared.cycles = 1000;
        summary.kinds.insert("raw".to_owned(), (programs, 1000));
        summary.outcomes.insert("done".to_owned(), programs);
        let cases = number * 256..number * 256 + programs;
        seal(&json!({ "chunk": number, "cases": cases, "summary": summary }))
    };
    let state = || Case::<U>::new(U::Program::default()).golden();
    let causes = [
        Cause::Mismatch(Box::new(Mismatch {
            cycle: 3,
            diffs: vec![Diff {
                field: 0,
                element: 1,
                rtl: 0,
                golden: u64::MAX,
            }],
            rtl: *state().state(),
            golden: *state().state(),
        })),
        Cause::Stopped(Stopped {
            cycle: 4,
            why: "%Error: boom".to_owned(),
        }),
        Cause::Judge {
            lane: 2,
            how: "differs".to_owned(),
        },
        Cause::Crashed("signal 11".to_owned()),
        Cause::Hung(60),
        Cause::NotRun("no model".to_owned()),
    ];
    let small = |number: &u64| {
        let (_, case) = campaign::case::<U>(7, *number, &Build::from(4));
        serde_json::to_string(&case).unwrap().len() < LONG
    };
    let failures = (0..256).filter(small).zip(causes).map(|(number, cause)| {
        let (_, case) = campaign::case::<U>(7, number, &Build::from(4));
        let failure = Failure::new(&case, cause, Compared::default());
        Failed { number, failure }
    });
    let first = seal(&json!(header));
    let seeds = [
        [chunk(0, 256, Vec::new()), chunk(1, 44, Vec::new())],
        [chunk(1, 44, Vec::new()), chunk(0, 256, failures.collect())],
    ];
    let dir = dir.join(U::NAME);
    fs::create_dir(&dir).unwrap();
    let file = dir.join(header.file_name::<U>());
    let bins = Model::<U>::new(&Build::from(U::LANES));
    formats.push(Format {
        name: format!("{}, results", U::NAME),
        kind: Kind::Sealed,
        seeds: seeds
            .iter()
            .map(|chunks| (first.clone() + &chunks.concat()).into_bytes())
            .collect(),
        read: Box::new(move |bytes, rng| {
            fs::write(&file, bytes).unwrap();
            // A header of another shard belongs into another file.
            let header = results::header(&file)?;
            let merged = results::merge::<U>(std::slice::from_ref(&file));
            if let Ok((_, summary)) = &merged {
                let options = header.as_ref().unwrap().options();
                summary.to_json(&options, &bins).to_string();
                for failed in &summary.failures {
                    // Escaped where it is printed: RTL may have said anything.
                    failed.failure.message();
                    let again = serde_json::to_string(failed).unwrap();
                    serde_json::from_str::<Failed<U>>(&again).unwrap();
                }
            }
            // Resumed: what is behind the last whole line is cut off.
            if let Some(header) = header.filter(|h| file.ends_with(h.file_name::<U>()))
                && rng.random_ratio(1, 2)
            {
                let opened =
                    results::Results::open::<U>(file.parent().unwrap(), &header, &header.options());
                let whole = opened.is_ok();
                drop(opened);
                if whole {
                    let left = fs::read(&file).unwrap();
                    assert!(bytes.starts_with(&left) || left.ends_with(b"\n"));
                }
            }
            merged.map(drop).map_err(Refused::from)
        }),
    });
}

fn coverage_files<U: Tested>(formats: &mut Vec<Format>) {
    let coverage = |lanes| {
        let mut coverage = UnitCoverage::declared::<U>(&Build::from(lanes));
        // A few groups and bins stand for all.
        coverage.groups.truncate(4);
        for group in &mut coverage.groups {
            group.bins.truncate(5);
        }
        coverage
    };
    let seeds = [4, U::LANES].map(|lanes| {
        let mut one = coverage(lanes);
        one.totals.cycles = 70;
        one.groups[0].bins[0].hits = 5;
        let (run, saved) = ("a".to_owned(), Some("a.json".to_owned()));
        let (rtl, program, from) = ("1f".to_owned(), "2e".to_owned(), String::new());
        let (message, rule) = ("cycle 9: pc[0] is 1, not 2".to_owned(), None);
        one.runs.push(Ran {
            seed: 7,
            guided: true,
            rtl,
            assertions: true,
            program,
            cycles: 60,
            from,
        });
        one.failures.push(FailedRun {
            run,
            failure: Place::Mismatch {
                cycle: 9,
                field: "pc".to_owned(),
                element: 0,
            },
            message,
            rule,
            saved,
        });
        Saved::new(vec![one]).to_text().into_bytes()
    });
    formats.push(Format {
        name: format!("{}, coverage", U::NAME),
        kind: Kind::Json,
        seeds: seeds.to_vec(),
        read: Box::new(move |bytes, _| {
            let saved = Saved::parse(utf8(bytes)?, FILE)?;
            let mut merged = coverage(4);
            for unit in &saved.units {
                harmless(&printable(&unit.text()));
                merged.merge(unit, FILE)?;
                merged.text();
            }
            page(&saved.units);
            let again = Saved::parse(&saved.to_text(), FILE).ok();
            assert_eq!(again.as_ref(), Some(&saved));
            Ok(())
        }),
    });
}

/// What belongs to no unit.
fn others(formats: &mut Vec<Format>) {
    let rows = |lanes: u32| {
        let row = |lane| {
            format!(
                "{{\"lane\":{lane},\"k\":{},\"bits\":{}}}\n",
                lane * 3,
                lane + 1
            )
        };
        (0..lanes).map(row).collect::<String>().into_bytes()
    };
    formats.push(Format {
        name: "conditions".to_owned(),
        kind: Kind::Text,
        seeds: vec![rows(3), rows(16)],
        read: Box::new(|bytes, _| {
            let table = Table::parse(utf8(bytes)?, FILE)?;
            table.bits(0, 0);
            Ok(())
        }),
    });
    let counters = "# SystemC::Coverage-3\n\
        C '\u{1}f\u{2}rtl/a.sv\u{1}l\u{2}20\u{1}n\u{2}5\u{1}page\u{2}v_line/a\u{1}o\u{2}block\u{1}S\u{2}20,22-24\u{1}h\u{2}T' 7\n\
        C '\u{1}f\u{2}rtl/a.sv\u{1}l\u{2}21\u{1}n\u{2}5\u{1}page\u{2}v_branch/a\u{1}o\u{2}if\u{1}S\u{2}\u{1}h\u{2}T' 0\n\
        C '\u{1}f\u{2}rtl/b.sv\u{1}l\u{2}2\u{1}n\u{2}1\u{1}page\u{2}v_toggle/b\u{1}o\u{2}x[3]\u{1}h\u{2}T' 12\n";
    formats.push(Format {
        name: "counters of the RTL".to_owned(),
        kind: Kind::Text,
        seeds: vec![counters.as_bytes().to_vec()],
        read: Box::new(|bytes, _| {
            let mut coverage = RtlCoverage::parse(utf8(bytes)?, FILE).map_err(Refused::Said)?;
            coverage.merge(coverage.clone());
            coverage.text();
            coverage.to_lcov();
            Ok(())
        }),
    });
    let mut texts = Vec::new();
    for unit in units() {
        let rtl = Folder::own(unit);
        let files = rtl.list();
        texts.extend(
            files
                .iter()
                .map(|file| fs::read(rtl.dir.join(file)).unwrap()),
        );
    }
    formats.push(Format {
        name: "SystemVerilog for mutants".to_owned(),
        kind: Kind::Text,
        seeds: texts,
        read: Box::new(|bytes, _| {
            let text = utf8(bytes)?;
            let found = source::candidates(FILE, text)?;
            let chosen: Vec<_> = (1..).zip(found.iter().step_by(3)).collect();
            source::schema(text, &chosen);
            for candidate in &found {
                candidate.before(text);
            }
            Ok(())
        }),
    });
}

/// The list of files of RTL, in a folder with all that it names.
fn file_lists(formats: &mut Vec<Format>, dir: &Path) {
    let unit = units()[0];
    let rtl = Folder::own(unit).copy();
    let list = rtl.dir().join(format!("{unit}.f"));
    fs::write(rtl.dir().join("more.f"), "+define+A=1\n-f last.f\n").unwrap();
    fs::write(rtl.dir().join("last.f"), "-D B // nothing more\n").unwrap();
    fs::write(rtl.dir().join("code.cpp"), "").unwrap();
    fs::create_dir(rtl.dir().join("lib")).unwrap();
    let own = fs::read_to_string(&list).unwrap();
    let rich = "# all there is\n+incdir+.+lib\n-I lib\n-y lib\n+libext+.sv+.v\n+define+C+D=2\n-D E=3\n-f more.f\n-F last.f\ncode.cpp\n";
    let folder = dir.join("list");
    fs::rename(rtl.dir(), &folder).unwrap();
    let list = folder.join(format!("{unit}.f"));
    formats.push(Format {
        name: "file list".to_owned(),
        kind: Kind::Text,
        seeds: vec![
            own.clone().into_bytes(),
            format!("{rich}{own}").into_bytes(),
        ],
        read: Box::new(move |bytes, _| {
            fs::write(&list, bytes).unwrap();
            let list = verilate::FileList::read(&folder, &format!("{unit}.f")).map_err(|e| {
                assert!(e.is_input(), "{e}");
                Refused::Said(e.to_string())
            })?;
            assert!(!list.verilog.is_empty());
            Ok(())
        }),
    });
}

/// A declaration of pins and state, and the probes of other RTL in a file of their own.
fn declarations(formats: &mut Vec<Format>, dir: &Path) {
    let own: Vec<String> = units()
        .iter()
        .map(|unit| fs::read_to_string(format!("{ROOT}/rtl/{unit}/design.toml")).unwrap())
        .collect();
    let parse = |text: &str| declaration::Declaration::parse("design.toml", text);
    let declared = parse(&own[0]).unwrap();
    let said = |e: declaration::Error| Refused::Said(e.to_string());
    let folder = dir.join("probes");
    fs::create_dir(&folder).unwrap();
    let probes = folder.join(format!("{}_probe.toml", declared.name));
    let seeds = vec![declared.probes.to_toml().into_bytes()];
    formats.push(Format {
        name: "declaration".to_owned(),
        kind: Kind::Text,
        seeds: own.into_iter().map(String::into_bytes).collect(),
        read: Box::new(move |bytes, _| {
            let declared = parse(&String::from_utf8_lossy(bytes)).map_err(said)?;
            declared.rust("", "crate");
            declared.bench_top(&declared.probes);
            declared.header();
            Ok(())
        }),
    });
    formats.push(Format {
        name: "probes".to_owned(),
        kind: Kind::Text,
        seeds,
        read: Box::new(move |bytes, _| {
            fs::write(&probes, bytes).unwrap();
            let (_, read) = declared
                .probes_in(&folder, read_text)
                .map_err(|e| Refused::Said(e.to_string()))?;
            declared.bench_top(&read);
            Ok(())
        }),
    });
}

fn units() -> Vec<&'static str> {
    macro_rules! names {
        ($($module:ident $unit:ident [$($model:tt)+];)+) => { vec![$(stringify!($module)),+] };
    }
    for_each_unit!(names)
}

/// Every kind of file that is read; what some of them need lies in `dir`.
fn formats(dir: &Path) -> Vec<Format> {
    let mut formats = Vec::new();
    macro_rules! all {
        ($($module:ident $unit:ident [$($model:tt)+];)+) => {
            $({
                type U = reconverge::$module::$unit;
                programs::<U>(&mut formats);
                saved_cases::<U>(&mut formats);
                coverage_files::<U>(&mut formats);
                results_of::<U>(&mut formats, dir);
            })+
        };
    }
    for_each_unit!(all);
    others(&mut formats);
    file_lists(&mut formats, dir);
    declarations(&mut formats, dir);
    formats
}

// ---- found in this way ---------------------------------------------------------------------------------

/// Its tokens had no end: none came after the quote, again and again.
#[test]
fn a_quote_that_begins_no_number_is_refused_by_the_mutator() {
    let text = "module m;\n  assign a = ';\nendmodule\n";
    let error = source::candidates("m.sv", text).unwrap_err().to_string();
    assert!(
        error.starts_with("m.sv:2: source: \"'\" in an expression"),
        "{error}"
    );
}

/// The stack would overflow, which ends the process.
#[test]
fn what_lies_too_deep_is_refused_by_the_mutator() {
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
    assert!(source::candidates("m.sv", &chain(5000)).is_ok());
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
        let found = source::candidates("m.sv", &good).unwrap_or_else(|e| panic!("{name}: {e}"));
        let chosen: Vec<_> = (1..).zip(&found).take(50).collect();
        source::schema(&good, &chosen);
        for times in [most + 1, 100_000] {
            let error = source::candidates("m.sv", &text(times))
                .unwrap_err()
                .to_string();
            assert!(error.contains(why), "{name}: {error}");
        }
    }
}

/// The sum of two counts went over; a range of lines took all of the memory.
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
            "c:1: the lines are no numbers, or too many"
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

/// Reads `count` damaged files of `format`; a file that is not survived is kept.
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
    let formats = formats(dir.path());
    let each = count.div_ceil(formats.len());
    for format in formats {
        let name = format.name.clone();
        say(&name, &survive(format, each, seed));
    }
    count
}

#[test]
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
