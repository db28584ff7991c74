//! `run --show`: the rows of a run are those of its trace, and the lines below match the rows.

use std::fs;

use serde_json::Value;

use crate::common::dump::Dump;
use crate::common::{Tested, arg, loaded, own_programs, program, reconverge_ends};
use reconverge::case::Case;
use reconverge::lanes::lanes;
use reconverge::show::text::{Layout, NARROWEST, Survey, WIDTH};
use reconverge::show::{Class, Row, Turn, rows};
use reconverge::unit::LoadOptions;

use reconverge::for_each_unit;

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        mod $module {
            crate::common::test_unit!(reconverge::$module::$unit:
                rows_are_the_steps_of_the_trace,
                a_run_ends_with_the_row_that_was_enough,
                no_line_is_longer_than_the_terminal,
                waves_say_in_words_what_the_rows_say,
            );
        }
    )+};
}
for_each_unit!(tests);

/// The lanes that a record of the trace leaves executing.
fn active(record: &Value) -> u64 {
    let mask = |name: &str| {
        let hex = record[name].as_str()?.strip_prefix("0x")?;
        u64::from_str_radix(hex, 16).ok()
    };
    match record["st"].as_array() {
        Some(classes) => {
            let valid = mask("valid").unwrap_or(u64::MAX);
            let lanes = (0..).zip(classes).filter(|(_, class)| **class == 0);
            lanes.fold(0, |all, (lane, _)| all | 1 << lane) & valid
        }
        None => mask("active").unwrap(),
    }
}

/// Entries of the stack after a step, as its trace has them.
fn depth(record: &Value) -> usize {
    let entries = |name: &str| record[name].as_array().map(Vec::len);
    match entries("frames") {
        Some(frames) => frames,
        None => match (entries("loops"), entries("addrs")) {
            (Some(loops), Some(addrs)) => loops + addrs,
            _ => record["sp"].as_u64().unwrap() as usize,
        },
    }
}

fn rows_are_the_steps_of_the_trace<U: Tested>() {
    let out = tempfile::tempdir().unwrap();
    let trace = out.path().join("trace");
    let mut turns = Vec::new();
    for file in own_programs::<U>() {
        let name = file.to_string_lossy();
        reconverge_ends(
            0,
            &["run", U::NAME, &name, "--seed", "5", "--trace", arg(&trace)],
        );
        let bytes = fs::read(&file).unwrap();
        let loaded = U::load(&bytes, &name, &LoadOptions::default()).unwrap();
        let mut case = Case::<U>::new(loaded.program);
        case.seed = 5;
        let mut shown: Vec<Row> = Vec::new();
        let end = rows(&case, u64::MAX, |row| {
            shown.push(row);
            true
        });
        let lines = fs::read_to_string(&trace).unwrap();
        let records: Vec<Value> = lines
            .lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect();
        assert_eq!(shown.len(), records.len(), "{name}");
        let found: Vec<_> = shown
            .iter()
            .map(|row| &row.found)
            .chain([&end.found])
            .collect();
        for (i, record) in records.iter().enumerate() {
            let at = format!("{name}: step {i}");
            assert_eq!(
                u64::from(found[i].pc),
                record["pc"].as_u64().unwrap(),
                "{at}"
            );
            assert_eq!(shown[i].next, active(record), "{at}: lanes");
            assert_eq!(
                found[i + 1].active(),
                active(record),
                "{at}: lanes of the next row"
            );
            assert_eq!(found[i + 1].stack.len(), depth(record), "{at}: stack");
            let whole = record["text"].as_str().unwrap_or_default();
            assert!(whole.contains(&shown[i].text), "{at}: {whole}");
            turns.extend(shown[i].turn());
        }
    }
    for turn in [Turn::Diverged, Turn::Reconverged, Turn::Switched] {
        assert!(turns.contains(&turn), "{turn:?} never came");
    }
}

/// Regression: a watch behind a reference did not end the run, which went on to its end.
fn a_run_ends_with_the_row_that_was_enough<U: Tested>() {
    let case = Case::<U>::new(loaded::<U>(U::LONG));
    for most in [1, 2] {
        let mut shown = 0;
        rows(&case, u64::MAX, |_| {
            shown += 1;
            shown < most
        });
        assert_eq!(shown, most);
    }
}

/// Rows, and both sides of a mismatch in every lane.
fn no_line_is_longer_than_the_terminal<U: Tested>() {
    for lanes in [1, 4, 33, 64] {
        let mut case = Case::<U>::new(loaded::<U>(U::LONG));
        case.lanes = lanes;
        let mut survey = Survey::default();
        let mut shown = Vec::new();
        let end = rows(&case, u64::MAX, |row| {
            survey.see(&row);
            shown.push(row);
            true
        });
        let mut rtl = end.found.clone();
        rtl.lanes.fill(Class::Return);
        survey.found(&end.found);
        survey.found(&rtl);
        let longest = shown.iter().map(|row| row.found.stack.len()).max().unwrap();
        assert!(longest > 0 && shown.len() > 8);
        for width in [NARROWEST, 80, 81, 100, 120, WIDTH] {
            let layout = Layout::new(survey.clone(), width, false);
            let mut text = layout.header() + &layout.end(&end) + &layout.sides(&rtl, &end.found);
            text.extend(shown.iter().map(|row| layout.row(row)));
            for line in text.lines() {
                assert!(
                    line.chars().count() <= width,
                    "{width}, {lanes} lanes: {line}"
                );
            }
            let letters = text.matches('#').count() - 1;
            let active = |mask: u64| mask.count_ones() as usize;
            let executing: usize = shown.iter().map(|row| active(row.found.active())).sum();
            let ending = active(end.found.active());
            assert_eq!(
                letters,
                executing + 2 * ending,
                "{width}, {lanes} lanes: {text}"
            );
            assert_eq!(text.matches('^').count(), lanes as usize, "{text}");
        }
    }
}

/// At the time at which a row's instruction acts, the dump holds its text, its lanes, what it does to them, and the stack.
fn waves_say_in_words_what_the_rows_say<U: Tested>() {
    let out = tempfile::tempdir().unwrap();
    let program = program::<U>(U::LONG);
    let place = ["--seed", "3", "--wave", "--out", arg(out.path())];
    reconverge_ends(0, &[&["run", U::NAME, &program][..], &place].concat());
    let mut case = Case::<U>::new(loaded::<U>(U::LONG));
    case.seed = 3;
    let dump = out.path().join(format!("{}.vcd", case.name()));
    let mut shown = Vec::new();
    let end = rows(&case, u64::MAX, |row| {
        shown.push(row);
        true
    });
    let deepest = shown.iter().map(|row| row.found.stack.len()).max().unwrap();
    let file = dump;
    let nexts = shown[1..].iter().map(|row| &row.found).chain([&end.found]);
    let mut compared = 0;
    for (i, (row, next)) in shown.iter().zip(nexts).enumerate() {
        let (at, dump) = (row.cycle, Dump::at(&file, row.cycle * 10));
        let said = |name: &str| dump.bits(&format!("run.{name}")).to_owned();
        // Of a step that takes several cycles the row has the first, and the number of the last.
        if i == 0 || shown[i - 1].cycle + 1 == at {
            let text = format!("{}  0x{:03x}", row.text, row.found.pc);
            assert_eq!(said("instruction"), text, "{at}");
            assert_eq!(said("lanes_golden"), lanes(&row.found.lanes, false), "{at}");
            for level in 0..deepest {
                let frame = row.found.stack.get(level);
                let frame = frame.map_or("-".to_owned(), |f| f.long());
                assert_eq!(said(&format!("stack{level}")), frame, "{at}: {level}");
            }
            let happens = said("happens");
            let word = row.turn().map_or("-", Turn::word);
            assert!(happens.ends_with(word), "{at}: {happens}, {word}");
            compared += 1;
        }
        assert_eq!(said("lanes_rtl"), said("lanes_golden"), "{at}");
        assert!(!said("lanes_differ").contains('X'), "{at}");
        // Its effect shows one cycle later.
        let after = Dump::at(&file, (at + 1) * 10);
        let led = lanes(&next.lanes, false);
        assert_eq!(after.bits("run.lanes_golden"), led, "{at}");
    }
    assert!(compared > 20, "{compared} of {} rows", shown.len());
}
