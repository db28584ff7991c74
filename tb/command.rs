//! Traces, and the conditions of the programs in them.

use std::fs;

use crate::common::{Tested, arg, own_programs, program, reconverge_ends};
use reconverge::environment::{bits, draw_word};
use serde_json::Value;

use reconverge::for_each_unit;

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        mod $module {
            crate::common::test_unit!(reconverge::$module::$unit:
                the_records_of_a_trace_follow_one_another,
                conditions_are_drawn_as_defined,
                conditions_are_drawn_but_for_those_that_are_changed,
            );
        }
    )+};
}
for_each_unit!(tests);

/// Standard output of a command that must succeed.
fn stdout(args: &[&str]) -> String {
    reconverge_ends(0, args)
}

fn trace(args: &[&str]) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("t.jsonl");
    stdout(&[args, &["--trace", arg(&file)]].concat());
    assert_eq!(
        fs::read_dir(dir.path()).unwrap().count(),
        1,
        "one file and nothing besides"
    );
    fs::read_to_string(file)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

/// Trace of the program in file `name` among the unit's own, with four lanes.
fn trace_of<U: Tested>(name: &str, more: &[&str]) -> Vec<String> {
    let program = program::<U>(name);
    trace(&[&["run", U::NAME, &program, "--lanes", "4"], more].concat())
}

fn record(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

/// Steps follow one another up to the end, for every own program. tb/formats.rs checks the records.
fn the_records_of_a_trace_follow_one_another<U: Tested>() {
    let lines = trace_of::<U>(U::IF_ELSE, &["--seed", "2"]);
    assert_eq!(lines[0], U::TRACED);
    let mut records = 0;
    for file in own_programs::<U>() {
        // One of them has no end (spa5: the continue loop of the ISA reference).
        const MAX: usize = 2000;
        let most = MAX.to_string();
        let lines = trace(&[
            "run",
            U::NAME,
            arg(&file),
            "--lanes",
            "4",
            "--max-steps",
            &most,
        ]);
        for (step, line) in lines.iter().enumerate() {
            let this = record(line);
            assert_eq!(this["step"], step);
            let last = step + 1 == lines.len();
            let (done, failed) = U::ended(&this);
            assert_eq!(last && step + 1 < MAX, done || failed);
            assert_eq!(failed, this["err"] != 0);
            if !last {
                assert_eq!(record(&lines[step + 1])["pc"], this["pc_next"]);
            }
            records += 1;
        }
    }
    assert!(records > 100, "{records} records");
}

/// ACTIVE lanes after the steps of `if_else.s` that [`Tested::PARTS`] names.
fn parts<U: Tested>(more: &[&str]) -> [u64; 3] {
    let lines = trace_of::<U>(U::IF_ELSE, more);
    U::PARTS.map(|step| <U as Tested>::active(&record(&lines[step])))
}

/// The draw of the conditions is fixed too: lane, k and seed give these bits. The condition by hand from
/// the definition: z of seed 2, lane l, k 0, lowest nibble below 8.
fn conditions_are_drawn_as_defined<U: Tested>() {
    let draw = |lane: u64| {
        let mut z = 2u64
            .wrapping_add(lane.wrapping_mul(0x9E37_79B9_7F4A_7C15))
            .wrapping_add(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) & 15 < 8
    };
    let drawn = (0..4).map(|lane| u64::from(draw(lane)) << lane).sum();
    assert!(![0, 15].contains(&drawn), "seed 2 divides the lanes");
    assert_eq!(
        parts::<U>(&["--seed", "2"]),
        [drawn, 15 & !drawn, 15],
        "by their condition"
    );
}

/// The program that is not built without a parameter, and by which draws its targets: changed bits leave the word alone.
const SWITCH: [&str; 5] = [
    "spa5",
    "tb/spa5/programs/cubin/k08_switch_cmp.12.9.O3.cubin",
    "--param",
    "BRX=1",
    "--lanes",
];

/// With `--p16` a table replaces the draws that it has, and no others.
fn conditions_are_drawn_but_for_those_that_are_changed<U: Tested>() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("c.jsonl");
    let drawn = parts::<U>(&["--seed", "2", "--p16", "8"]);
    for lane in 0..4 {
        let other = 1 - (drawn[0] >> lane & 1);
        fs::write(
            &file,
            format!("{{\"lane\":{lane},\"k\":0,\"bits\":{other}}}\n"),
        )
        .unwrap();
        let changed = parts::<U>(&["--seed", "2", "--p16", "8", "--conditions", arg(&file)]);
        assert_eq!(changed[0] ^ drawn[0], 1 << lane, "lane {lane} alone");
        assert_eq!(changed, [changed[0], 15 & !changed[0], 15]);
    }
    // The scalar judge agrees with all of them: `trace` expects status 0.
    if U::NAME == SWITCH[0] {
        let run = [&["run"], &SWITCH[..], &["4", "--seed", "5"]].concat();
        let draw = bits(draw_word(5, 2, 1), 16, 8);
        fs::write(&file, format!("{{\"lane\":2,\"k\":1,\"bits\":{draw}}}\n")).unwrap();
        let same = ["--p16", "8", "--conditions", arg(&file)];
        assert_eq!(trace(&[&run[..], &same].concat()), trace(&run));
    }
}
