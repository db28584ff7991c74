//! The kinds of files that are read: samples, and their readers.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rand::Rng;
use rand::seq::IndexedRandom;
use reconverge::assembly::Assembly as _;
use reconverge::campaign::{self, Drawn, Failed, Limit, Options, Shard, Summary, results};
use reconverge::case::{Case, Conditions, Row, Table};
use reconverge::cover::lcov::RtlCoverage;
use reconverge::cover::{Bins as _, FailedRun, Ran, SavedCoverage, UnitCoverage, page};
use reconverge::design::{Build, Design, Golden};
use reconverge::dut::Rtl;
use reconverge::failure::{Cause, Failure};
use reconverge::field::Diff;
use reconverge::input::{InputError, printable, read_text};
use reconverge::lockstep::{Compared, Mismatch, Stopped};
use reconverge::mutate::source;
use reconverge::place::Place;
use reconverge::saved::{Saved, identify};
use reconverge::stream::Stream;
use reconverge::unit::{LoadOptions, Unit};
use serde_json::json;

use crate::common::damage::{FormatKind, seal};
use crate::common::rtl::Rtl as Folder;
use crate::common::{ROOT, Tested, imported_programs, own_programs};

use reconverge::for_each_unit;

use super::*;

fn program_reader<U: Tested>(file: &'static str) -> Read {
    Box::new(move |bytes, rng| {
        if rng.random_ratio(1, 4) {
            // There is no list of assembly files.
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
            ..LoadOptions::default()
        };
        let loaded = U::load(bytes, file, &options)?;
        used::<U>(&loaded.program);
        Ok(())
    })
}

fn programs<U: Tested>(formats: &mut Vec<Format>) {
    let mut add = |name: &str, file: &'static str, kind: FormatKind, seeds: Vec<Vec<u8>>| {
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
        text.push(case.program.to_text().into_bytes());
        hex.push(U::to_hex(&case.program).into_bytes());
    }
    text.retain(|text| text.len() < LONG);
    hex.retain(|words| words.len() < LONG);
    add("assembly", FILE, FormatKind::Text, text);
    add("words", "dir/file.hex", FormatKind::Text, hex);
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
            true => FormatKind::Text,
            false => FormatKind::Binary,
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
        kind: FormatKind::Json,
        seeds,
        read: Box::new(|bytes, _| {
            let text = utf8(bytes)?;
            identify(text, FILE)?;
            let saved = Saved::<Case<U>>::parse(text, FILE)?;
            let again = Saved::<Case<U>>::parse(&saved.to_text(), FILE);
            assert_eq!(again.ok().as_ref(), Some(&saved));
            harmless(&saved.case.name());
            run(&saved.case);
            Ok(())
        }),
    });
}

fn saved<U: Unit>(case: Case<U>) -> Vec<u8> {
    let failure = Failure::new(&case, Cause::Hung(60), Compared::default());
    Saved::from(&failure).to_text().into_bytes()
}

fn utf8(bytes: &[u8]) -> Result<&str, InputError> {
    // As `input::read_text` says it.
    str::from_utf8(bytes).map_err(|_| InputError::new(FILE, 0, "file", "is not UTF-8"))
}

/// Results of a small campaign, and of one with a failure of every sort.
fn results_of<U: Tested>(formats: &mut Vec<Format>, dir: &Path) {
    let header = results::Header::new::<Case<U>>(
        &Options {
            seed: 7,
            limit: Limit::Programs(300),
            jobs: 1,
            keep_going: true,
            ..Options::default()
        },
        &Rtl::<U>::own(Build::from(4)).unwrap(),
        Shard::default(),
    );
    let chunk = |number: u64, programs: u64, failures: Vec<Failed<Case<U>>>| {
        let mut summary = Summary::<Case<U>> {
            programs,
            failures,
            ..Summary::default()
        };
        summary.compared.cycles = 1000;
        summary
            .kinds
            .insert("raw".to_owned(), (programs, 1000).into());
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
            half: false,
            reset: false,
            broken: None,
            transaction: None,
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
    let seeds = seeds.map(|chunks| (first.clone() + &chunks.concat()).into_bytes());
    let name = format!("{}, results", U::NAME);
    formats.push(results_format::<Case<U>>(name, file, seeds.to_vec()));
}

/// Results of a campaign of streams.
fn results_of_streams<D: Design>(formats: &mut Vec<Format>, dir: &Path) {
    let options = Options {
        limit: Limit::Programs(20),
        keep_going: true,
        cycles: 3,
        ..Options::default()
    };
    let rtl = Rtl::<D>::own(Build::from(4)).unwrap();
    let header = results::Header::new::<Stream<D>>(&options, &rtl, Shard::default());
    let chunk = |number: u64, programs: u64, failures: Vec<Failed<Stream<D>>>| {
        let mut summary = Summary::<Stream<D>> {
            programs,
            resets: 2 * programs,
            failures,
            ..Summary::default()
        };
        summary.compared.cycles = 3 * programs;
        summary
            .kinds
            .insert("short".to_owned(), (programs, 3 * programs).into());
        let cases = number * 16..number * 16 + programs;
        seal(&json!({ "chunk": number, "cases": cases, "summary": summary }))
    };
    let failed = |number| {
        let stream = Stream::<D>::drawn(7, number, 3, rtl.build());
        let cause = Cause::Crashed("signal 11".to_owned());
        let failure = Failure::new(&stream.ok().unwrap(), cause, Compared::default());
        Failed { number, failure }
    };
    let chunks = chunk(0, 16, vec![failed(0), failed(3)]) + &chunk(1, 4, Vec::new());
    let dir = dir.join(format!("{}-streams", D::NAME));
    fs::create_dir(&dir).unwrap();
    let file = dir.join(header.file_name::<D>());
    let seeds = vec![(seal(&json!(header)) + &chunks).into_bytes()];
    let name = format!("{}, results of streams", D::NAME);
    formats.push(results_format::<Stream<D>>(name, file, seeds));
}

/// Results in `file`, which are merged and resumed.
fn results_format<C: Drawn + 'static>(name: String, file: PathBuf, seeds: Vec<Vec<u8>>) -> Format {
    Format {
        name,
        kind: FormatKind::Sealed,
        seeds,
        read: Box::new(move |bytes, rng| {
            fs::write(&file, bytes).unwrap();
            // A header of another shard belongs to another file.
            let header = results::header(&file)?;
            let merged = results::merge::<C>(std::slice::from_ref(&file));
            if let Ok((_, summary)) = &merged {
                let header = header.as_ref().unwrap();
                let (options, bins) = (
                    header.options(),
                    C::Bins::new(&Build::from(C::Design::LANES)),
                );
                summary.to_json(&options, &bins).to_string();
                for failed in &summary.failures {
                    // It is escaped when it is printed: RTL may print anything.
                    failed.failure.message();
                    let again = serde_json::to_string(failed).unwrap();
                    serde_json::from_str::<Failed<C>>(&again).unwrap();
                }
            }
            // Resumed: text after the last whole line is cut off.
            if let Some(header) = header.filter(|h| file.ends_with(h.file_name::<C::Design>()))
                && rng.random_ratio(1, 2)
            {
                let opened =
                    results::Results::open::<C>(file.parent().unwrap(), &header, &header.options());
                let whole = opened.is_ok();
                drop(opened);
                if whole {
                    let left = fs::read(&file).unwrap();
                    assert!(bytes.starts_with(&left) || left.ends_with(b"\n"));
                }
            }
            merged.map(drop).map_err(Refused::from)
        }),
    }
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
        SavedCoverage::new(vec![one]).to_text().into_bytes()
    });
    formats.push(Format {
        name: format!("{}, coverage", U::NAME),
        kind: FormatKind::Json,
        seeds: seeds.to_vec(),
        read: Box::new(move |bytes, _| {
            let saved = SavedCoverage::parse(utf8(bytes)?, FILE)?;
            let mut merged = coverage(4);
            for unit in &saved.units {
                harmless(&printable(&unit.text()));
                merged.merge(unit, FILE)?;
                merged.text();
            }
            page(&saved.units);
            let again = SavedCoverage::parse(&saved.to_text(), FILE).ok();
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
        kind: FormatKind::Text,
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
        kind: FormatKind::Text,
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
        kind: FormatKind::Text,
        seeds: texts,
        read: Box::new(|bytes, _| {
            let text = utf8(bytes)?;
            let mut enums = source::Enums::new();
            source::enums(FILE, text, &mut enums)?;
            let found = source::candidates(FILE, text, &enums)?.candidates;
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
        kind: FormatKind::Text,
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
    let parse = |text: &str| reconverge_declaration::Declaration::parse("design.toml", text);
    let declared = parse(&own[0]).unwrap();
    let said = |e: reconverge_declaration::Error| Refused::Said(e.to_string());
    let folder = dir.join("probes");
    fs::create_dir(&folder).unwrap();
    let probes = folder.join(format!("{}_probe.toml", declared.name));
    let seeds = vec![declared.probes.to_toml().into_bytes()];
    formats.push(Format {
        name: "declaration".to_owned(),
        kind: FormatKind::Text,
        seeds: own.into_iter().map(String::into_bytes).collect(),
        read: Box::new(move |bytes, _| {
            let declared = parse(&String::from_utf8_lossy(bytes)).map_err(said)?;
            declared.rust("", "crate", "", "");
            declared.bench_top(&declared.probes);
            declared.header();
            Ok(())
        }),
    });
    formats.push(Format {
        name: "probes".to_owned(),
        kind: FormatKind::Text,
        seeds,
        read: Box::new(move |bytes, _| {
            fs::write(&probes, bytes).unwrap();
            let (_, read) = declared
                .probes_in(&folder, "", read_text)
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
pub fn all(dir: &Path) -> Vec<Format> {
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
    results_of_streams::<reconverge::r500::R500>(&mut formats, dir);
    others(&mut formats);
    file_lists(&mut formats, dir);
    declarations(&mut formats, dir);
    formats
}
