//! docs/formats.md is true: traces, saved cases, tables, coverage files and results follow its tables, and missing, unknown or
//! duplicate fields are refused.

use std::fs;

use serde_json::{Value, json};

use crate::common::rtl::{Rtl as Folder, change, home_of};
use crate::common::run::Run;
use crate::common::schema::{Entry, Formats, Reader, Type};
use crate::common::{
    Tested, arg, imported_programs, loaded, needs, own_programs, program, reconverge,
    reconverge_ends, refusal, text,
};
use reconverge::campaign::{self, results};
use reconverge::case::{Case, Conditions, Place, Row, Table};
use reconverge::cover::{SavedCoverage, UnitCoverage};
use reconverge::design::Build;
use reconverge::field::Flip;
use reconverge::saved::{PROGRAM, Saved};
use reconverge::unit::LoadOptions;

use reconverge::for_each_unit;

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {
        $(mod $module {
            crate::common::test_unit!(reconverge::$module::$unit:
                saved_cases_are_as_documented,
                a_saved_case_without_a_field_or_with_another_is_refused,
                coverage_files_are_as_documented_and_read_strictly,
                results_are_as_documented_and_read_strictly,
                ends_of_runs_are_as_documented,
            );
            crate::common::test_unit_with_models!($module reconverge::$module::$unit:
                summaries_are_as_documented,
                every_trace_record_is_as_documented,
            );
        })+
    };
}
for_each_unit!(tests);

// ---- the tables of the page ---------------------------------------------------------------------------

/// The checker itself: it tells each type from its neighbours.
#[test]
fn the_tables_tell_right_from_wrong() {
    let formats = Formats::of::<reconverge::r500::R500>(2);
    let check = |kind: &str, text: &str| {
        let kind = Reader::whole(kind);
        let entry = serde_json::from_str::<Entry>(text).map_err(|e| e.to_string())?;
        formats.check(&kind, &entry)
    };
    for (kind, right, wrong) in [
        ("number", "9007199254740991", "9007199254740992"),
        ("number", "0", "-1"),
        ("0..7", "7", "8"),
        ("-128..127", "-128", "-129"),
        ("2", "2", "1"),
        ("hex", "\"0xffffffffffffffff\"", "\"0x10000000000000000\""),
        ("hex", "\"0x1f\"", "31"),
        ("hex", "\"0x0\"", "\"0x00\""),
        ("real", "1.0", "1"),
        ("text", "\"\"", "null"),
        ("\"a\" or null", "null", "\"b\""),
        ("bool", "true", "1"),
        ("[0..1; lanes]", "[0,1]", "[0,1,1]"),
        ("[0..1]", "[]", "[2]"),
        ("(number, hex)", "[1,\"0x1\"]", "[1,1]"),
        ("(number, hex)", "[1,\"0x1\"]", "[1]"),
        ("{a: number}", "{\"a\":1}", "{\"a\":1,\"b\":2}"),
        (
            "{a: number, b: text}",
            "{\"a\":1,\"b\":\"\"}",
            "{\"b\":\"\",\"a\":1}",
        ),
        ("map [number]", "{\"x\":[1]}", "{\"x\":1}"),
        (
            "object row",
            r#"{"lane":0,"k":0,"bits":1}"#,
            r#"{"lane":64,"k":0,"bits":1}"#,
        ),
        ("number or [number]", "[1]", "[[1]]"),
    ] {
        assert_eq!(check(kind, right), Ok(()), "{kind}: {right}");
        check(kind, wrong).expect_err(wrong);
    }
}

// ---- traces -------------------------------------------------------------------------------------------

/// Every program of the repository, own and imported: each record is as its table says, and its text is the
/// disassembler's.
fn every_trace_record_is_as_documented<U: Tested>() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("trace.jsonl");
    let formats = Formats::of::<U>(4);
    let (mut records, mut outside, mut below) = (0, 0, 0);
    // One leaves its program; r700 halts before it can.
    let astray = dir.path().join("astray.s");
    let text_of_it = match U::NAME {
        "r500" => Some("ALU\nALU\n.window 0 0\n"),
        "spa5" => Some("NOP;\n"),
        _ => None,
    };
    fs::write(&astray, text_of_it.unwrap_or_default()).unwrap();
    let programs = own_programs::<U>()
        .into_iter()
        .chain(imported_programs::<U>())
        .chain(text_of_it.is_some().then_some(astray));
    for program in programs {
        let shown = arg(&program);
        let args = ["--lanes", "4", "--max-steps", "300", "--trace", arg(&file)];
        reconverge_ends(
            0,
            &[&["run", U::NAME, shown, "--select", "1"], &args[..]].concat(),
        );
        for line in fs::read_to_string(&file).unwrap().lines() {
            if let Err(why) = formats.object("trace", line) {
                panic!("{shown}: trace{why}\n{line}");
            }
            let record: Value = serde_json::from_str(line).unwrap();
            outside += u32::from(record["text"].is_null());
            if U::NAME == "r700" {
                let [sp, base, nb] =
                    ["sp", "base", "nb"].map(|name| record[name].as_u64().unwrap());
                assert_eq!(by_frames(&record), [sp, base, nb], "{line}");
                below += u32::from(base > 0 && nb > sp - base);
            }
            records += 1;
        }
    }
    assert!(records > 500, "{records} records");
    assert_eq!(outside > 0, text_of_it.is_some(), "{outside} steps outside");
    assert_eq!(
        below > 10,
        U::NAME == "r700",
        "{below} with branch frames below `base`"
    );
}

/// What a record of r700 says of its stack, counted from the frames: `sp`, `sp` above the innermost loop or call frame, and the branch
/// frames of all levels (r700-3.2-c, r700-3.2-e).
fn by_frames(record: &Value) -> [u64; 3] {
    let (mut sp, mut base, mut branches) = (0, 0, 0);
    for frame in record["frames"].as_array().unwrap() {
        let kind = frame[0].as_u64().unwrap();
        sp += if kind == 2 { 4 } else { 1 };
        match kind {
            1 => branches += 1,
            _ => base = sp,
        }
    }
    [sp, base, branches]
}

// ---- saved cases --------------------------------------------------------------------------------------

/// Cases that between them have something in every field.
fn cases<U: Tested>() -> Vec<Saved<Case<U>>> {
    let build = Build::from(4);
    let mut cases: Vec<Case<U>> = (0..16)
        .map(|n| campaign::case::<U>(9, n, &build).1)
        .collect();
    assert!(
        cases.iter().any(|c| !c.start.is_empty()),
        "seeded cases among them"
    );
    let mut run = Case::new(loaded::<U>(U::LONG));
    run.lanes = 4;
    run.launch_mask = 15;
    let row = |lane, k| Row { lane, k, bits: 3 };
    run.conditions = Conditions::Table(Table::from(vec![row(1, 0), row(0, 7)]));
    let mut changed = run.clone();
    changed.conditions = Conditions::Changed {
        p16: 16,
        rows: Table::from(vec![row(3, 1)]),
    };
    cases.push(changed);
    run.parameters = U::PARAMETERS
        .iter()
        .map(|p| (p.name.to_owned(), *p.range.end()))
        .collect();
    run.rtl = Some("rtl/mine".into());
    run.no_assert = true;
    run.mutant = Some(3);
    run.flip = Some(Flip {
        field: "pc".to_owned(),
        element: 0,
        bit: 1,
        cycle: 9,
    });
    cases.push(run);
    let how = || "because".to_owned();
    let failures = [
        None,
        Some(Place::Mismatch {
            cycle: 7,
            field: "pc".to_owned(),
            element: 0,
        }),
        Some(Place::Stopped {
            cycle: 7,
            how: how(),
        }),
        Some(Place::ScalarJudge {
            lane: 3,
            how: how(),
        }),
        Some(Place::Crashed { how: how() }),
        Some(Place::Hung { seconds: 60 }),
        Some(Place::NotRun { how: how() }),
    ];
    let saved = |(case, failure)| Saved { failure, case };
    let failures = failures.into_iter().cycle();
    cases.into_iter().zip(failures).map(saved).collect()
}

fn saved_cases_are_as_documented<U: Tested>() {
    let formats = Formats::of::<U>(4);
    let mut cases = cases::<U>();
    // What a compiler made has more in it than what is generated.
    for file in imported_programs::<U>() {
        let bytes = fs::read(&file).unwrap();
        let first = LoadOptions {
            which: Some("1".to_owned()),
            ..LoadOptions::default()
        };
        let mut saved = cases[0].clone();
        saved.case.program = U::load(&bytes, arg(&file), &first).unwrap().program;
        cases.push(saved);
    }
    for saved in cases {
        let text = saved.to_text();
        if let Err(why) = formats.object("saved-case", &text) {
            panic!("{}: saved-case{why}", saved.case.name());
        }
        assert_eq!(Saved::<Case<U>>::parse(&text, "case.json").unwrap(), saved);
    }
}

/// Objects of `value` that have fixed fields, as paths; `free` are the names of those that have not.
fn objects(value: &Value, free: &[&str], path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            found.push(path.to_owned());
            for (name, value) in fields.iter().filter(|(name, _)| !free.contains(&&***name)) {
                objects(value, free, &format!("{path}/{name}"), found);
            }
        }
        Value::Array(list) => {
            // One of each kind: lists are long, and alike.
            let mut kinds: Vec<String> = Vec::new();
            for (i, value) in list.iter().enumerate() {
                let kind = match value {
                    Value::Object(fields) => fields.keys().cloned().collect(),
                    Value::Array(_) => "list".to_owned(),
                    _ => "other".to_owned(),
                };
                if !kinds.contains(&kind) {
                    objects(value, free, &format!("{path}/{i}"), found);
                    kinds.push(kind);
                }
            }
        }
        _ => {}
    }
}

/// Leaves out each field in each object of `whole`, and adds one; `refused` returns the error. Returns the number of changes.
fn strict(whole: &Value, free: &[&str], refused: impl Fn(&Value) -> String) -> usize {
    let mut places = Vec::new();
    objects(whole, free, "", &mut places);
    let mut tried = 0;
    for place in places {
        let fields = whole.pointer(&place).unwrap().as_object().unwrap();
        let with = |name: &str, value: Option<Value>| {
            let mut copy = whole.clone();
            let fields = copy.pointer_mut(&place).unwrap().as_object_mut().unwrap();
            match value {
                Some(value) => fields.insert(name.to_owned(), value),
                None => fields.remove(name),
            };
            refused(&copy)
        };
        // A field that distinguishes variants may be the only one.
        let alone = fields.len() == 1;
        for name in fields.keys() {
            let why = with(name, None);
            assert!(
                why.contains(name.as_str()) || alone && why.contains("expected"),
                "{place}/{name} left out: {why}"
            );
            tried += 1;
        }
        let why = with("unheard_of", Some(json!(0)));
        assert!(
            why.contains("unheard_of") || why.contains("expected"),
            "{place}: {why}"
        );
        tried += 1;
    }
    tried
}

fn a_saved_case_without_a_field_or_with_another_is_refused<U: Tested>() {
    let refused = |value: &Value| {
        let error = Saved::<Case<U>>::parse(&value.to_string(), "case.json");
        error.expect_err("read all the same").to_string()
    };
    let mut tried = 0;
    for saved in cases::<U>() {
        let whole: Value = serde_json::from_str(&saved.to_text()).unwrap();
        const FREE: [&str; 6] = [
            "parameters",
            "targets",
            "inputs",
            "constants",
            "varyings",
            "textures",
        ];
        tried += strict(&whole, &FREE, refused);
    }
    assert!(tried > 300, "{tried}");

    // Duplicates: a field, a draw, a parameter. A value of serde_json keeps only the last one.
    let saved = cases::<U>().pop().unwrap();
    let good = saved.to_text();
    for (from, to, why) in [
        (
            "\"stall16\": 0",
            "\"stall16\": 0, \"stall16\": 1",
            "duplicate field `stall16`",
        ),
        ("\"k\": 7", "\"k\": 7, \"k\": 8", "duplicate field `k`"),
        (
            "\"table\": [",
            "\"table\": [ {\"lane\":1,\"k\":0,\"bits\":2},",
            "draw 0 of lane 1 is given twice",
        ),
        (
            "\"k\": 7",
            "\"k\": 9007199254740992",
            "9007199254740992 is more than 9007199254740991",
        ),
        (
            "\"seed\": \"0x1\"",
            "\"seed\": 1",
            "expected a string of 1 to 16 hexadecimal digits",
        ),
        (
            "\"max_steps\": 100000",
            "\"max_steps\": 9007199254740992",
            "9007199254740992 is more than 9007199254740991",
        ),
    ] {
        assert_eq!(good.matches(from).count(), 1, "{from}");
        let error = Saved::<Case<U>>::parse(&good.replace(from, to), "case.json").unwrap_err();
        assert!(error.to_string().contains(why), "{to}: {error}");
    }
    if let Some(parameter) = U::PARAMETERS.first() {
        let (name, value) = (parameter.name, parameter.range.end());
        let one = format!("\"{name}\": {value}");
        let twice = good.replace(&one, &format!("{one}, {one}"));
        let error = Saved::<Case<U>>::parse(&twice, "case.json").unwrap_err();
        assert!(
            error
                .to_string()
                .contains(&format!("\"{name}\" is given twice")),
            "{error}"
        );
    }

    // Saved by version 0.1.
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("old.json");
    fs::write(
        &file,
        good.replacen(&format!(": {}", PROGRAM.version), ": 1", 1),
    )
    .unwrap();
    let why = format!(
        "error: {}: reconverge: format 1 is of an earlier version, this one reads {}; run what failed again, which saves the case anew\n",
        file.display(),
        PROGRAM.version
    );
    assert_eq!(refusal(&["replay", arg(&file)]), why);
}

/// Rows that a case could not keep apart are refused as in a file of conditions.
#[test]
fn rows_of_conditions_are_as_documented() {
    let formats = Formats::of::<reconverge::r500::R500>(4);
    let row = "{\"lane\":63,\"k\":9007199254740991,\"bits\":65535}";
    assert_eq!(formats.object("row", row), Ok(()));
    assert!(Table::parse(row, "c.jsonl").is_ok());
    let far = row.replace("740991", "740992");
    let error = Table::parse(&far, "c.jsonl").unwrap_err().to_string();
    assert!(
        error.starts_with("c.jsonl:1: row: 9007199254740992 is more than"),
        "{error}"
    );
}

// ---- coverage -----------------------------------------------------------------------------------------

fn coverage_files_are_as_documented_and_read_strictly<U: Tested>() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("cover.json");
    let args = [
        "cover",
        U::NAME,
        "--programs",
        "2",
        "--lanes",
        "4",
        "--json",
        arg(&file),
    ];
    let output = reconverge(&args);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let content = fs::read_to_string(&file).unwrap();
    // As if a case had failed.
    let failure = r#""failures": [{"run": "a", "failure": {"kind": "mismatch", "cycle": 9, "field": "pc", "element": 0},
        "message": "cycle 9: pc[0] is 1, not 2", "rule": null, "saved": "a.json"}]"#;
    let failed = content.replacen("\"failures\": []", failure, 1);
    for content in [&content, &failed] {
        if let Err(why) = Formats::of::<U>(4).object("coverage", content) {
            panic!("coverage{why}");
        }
    }
    // A few groups and bins stand for all.
    let mut whole: Value = serde_json::from_str(&failed).unwrap();
    assert!(whole["units"][0]["failures"][0].is_object());
    let groups = whole["units"][0]["groups"].as_array_mut().unwrap();
    groups.truncate(2);
    for group in groups {
        group["bins"].as_array_mut().unwrap().truncate(2);
    }
    let refused = |value: &Value| {
        let error = SavedCoverage::parse(&value.to_string(), "cover.json");
        error.expect_err("read all the same").to_string()
    };
    assert!(strict(&whole, &["parameters"], refused) > 40);
    // Hits that are more than a number can be, in one file and in two together.
    let mut coverage = UnitCoverage::declared::<U>(&Build::from(4));
    let (most, name) = ((1 << 53) - 1, coverage.groups[0].name.clone());
    coverage.groups[0].bins[0].hits = most;
    let full = SavedCoverage::new(vec![coverage.clone()]).to_text();
    assert!(SavedCoverage::parse(&full, "cover.json").is_ok());
    let over = full.replacen(&most.to_string(), &(most + 1).to_string(), 1);
    let error = SavedCoverage::parse(&over, "cover.json")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("9007199254740992 is more than 9007199254740991"),
        "{error}"
    );
    let other = coverage.clone();
    let error = coverage.merge(&other, "b.json").unwrap_err().to_string();
    assert_eq!(
        error,
        format!("b.json: groups.{name}: more than {most} in all")
    );
}

// ---- ends of runs -------------------------------------------------------------------------------------

/// `run` and `replay` write them: of a run that agrees, of one that is cut off, of a mismatch.
fn summaries_are_as_documented<U: Tested>() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("fuzz.json");
    let formats = Formats::of::<U>(U::LANES as usize);
    let results = arg(&dir.path().join("r")).to_owned();
    let bad = Folder::own(U::NAME).copy();
    bad.change(U::faults("decisions")[0]);
    let place = ["--json", arg(&file), "--out", arg(dir.path())];
    for (status, more) in [
        (0, &["--shard", "1/2", "--results", &results][..]),
        (1, &["--rtl", bad.arg(), "--no-shrink"]),
    ] {
        let fuzz = ["fuzz", U::NAME, "--programs", "512", "--variants", "none"];
        reconverge_ends(status, &[&fuzz, more, &place].concat());
        let written = fs::read_to_string(&file).unwrap();
        if let Err(why) = formats.object("campaign", &written) {
            panic!("campaign{why}\n{written}");
        }
        let read: Value = serde_json::from_str(&written).unwrap();
        let failures = read["mismatches"].as_array().unwrap();
        assert_eq!(failures.is_empty(), status == 0);
        assert!(failures.iter().all(|failure| failure["run"].is_string()));
    }
}

fn ends_of_runs_are_as_documented<U: Tested>() {
    let dir = tempfile::tempdir().unwrap();
    let (file, program) = (dir.path().join("run.json"), program::<U>(U::IF_ELSE));
    let formats = Formats::of::<U>(U::LANES as usize);
    let ended = |status: i32, args: &[&str]| -> Value {
        let place = ["--json", arg(&file), "--out", arg(dir.path())];
        let output = reconverge(&[args, &place[..]].concat());
        assert_eq!(
            output.status.code(),
            Some(status),
            "{}",
            text(&output.stderr)
        );
        let written = fs::read_to_string(&file).unwrap();
        if let Err(why) = formats.object("run", &written) {
            panic!("run{why}\n{written}");
        }
        serde_json::from_str(&written).unwrap()
    };
    let run = ["run", U::NAME, &program];
    let whole = ended(0, &run);
    assert_eq!(
        (&whole["agrees"], &whole["saved"]),
        (&true.into(), &Value::Null)
    );
    assert!(whole["scalar"]["lanes"].is_number() && whole["end"]["max_steps"] == false);
    let cut = ended(0, &[&run[..], &["--max-steps", "2"]].concat());
    assert_eq!(
        (&cut["instructions"], &cut["end"]["max_steps"]),
        (&2.into(), &true.into())
    );
    assert!(cut["cycles"].as_u64() < whole["cycles"].as_u64());
    let failed = ended(1, &[&run[..], &["--flip", "pc.1@6"]].concat());
    assert_eq!(
        (&failed["agrees"], &failed["end"]),
        (&false.into(), &Value::Null)
    );
    assert_eq!(failed["failure"]["field"], "pc");
    let [difference] = &failed["differences"].as_array().unwrap()[..] else {
        panic!("{failed}");
    };
    let hex = |side: &str| {
        let digits = difference[side]
            .as_str()
            .unwrap()
            .strip_prefix("0x")
            .unwrap();
        u64::from_str_radix(digits, 16).unwrap()
    };
    assert_eq!(hex("rtl") ^ hex("golden"), 2);
    let rule = failed["rule"].as_str().unwrap();
    assert!(rule.starts_with(&format!("{}-", U::NAME)), "{rule}");
    let saved = failed["saved"].as_str().unwrap();
    let again = ended(1, &["replay", saved]);
    assert_eq!(again, failed);
}

// ---- results ------------------------------------------------------------------------------------------

fn results_are_as_documented_and_read_strictly<U: Tested>() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(format!("{}-lanes4.jsonl", U::NAME));
    let args = [
        "fuzz",
        U::NAME,
        "--programs",
        "64",
        "--lanes",
        "4",
        "--jobs",
        "1",
    ];
    let output = reconverge(&[&args[..], &["--results", arg(dir.path())]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let content = fs::read_to_string(&file).unwrap();
    let [header, chunk] = content.lines().collect::<Vec<_>>()[..] else {
        panic!("{content}");
    };
    let formats = Formats::of::<U>(4);
    for (object, line) in [("header", header), ("piece", chunk)] {
        if let Err(why) = formats.object(object, line) {
            panic!("{object}{why}\n{line}");
        }
    }
    // With a correct check sum.
    let sealed = |value: &Value| {
        let mut value = value.clone();
        value.as_object_mut().unwrap().remove("crc32");
        let body = value.to_string();
        let body = body.strip_suffix('}').unwrap();
        format!(
            "{body},\"crc32\":\"{:08x}\"}}\n",
            crc32fast::hash(body.as_bytes())
        )
    };
    let merged = |lines: String| {
        fs::write(&file, lines).unwrap();
        results::merge::<Case<U>>(std::slice::from_ref(&file)).map(|(_, summary)| summary.programs)
    };
    let (header, chunk): (Value, Value) = (
        serde_json::from_str(header).unwrap(),
        serde_json::from_str(chunk).unwrap(),
    );
    assert_eq!(merged(sealed(&header) + &sealed(&chunk)).unwrap(), 64);
    // The check sum is not part of what it covers.
    let without = |value: &Value| {
        let mut value = value.clone();
        value.as_object_mut().unwrap().remove("crc32");
        value
    };
    let refused = |lines: String| merged(lines).expect_err("read all the same").to_string();
    let tried = strict(&without(&header), &["parameters"], |h| {
        refused(sealed(h) + &sealed(&chunk))
    });
    assert!(tried > 10, "{tried}");
    let tried = strict(&without(&chunk), &["hidden", "kinds", "outcomes"], |c| {
        refused(sealed(&header) + &sealed(c))
    });
    assert!(tried > 15, "{tried}");

    // More cycles than a chunk can count, and none at all.
    let mut endless = chunk.clone();
    endless["summary"]["compared"]["cycles"] = json!((1u64 << 32) + 1);
    let why = refused(sealed(&header) + &sealed(&endless));
    assert!(
        why.ends_with(":2: summary: 4294967297, where 4294967296 is the most that a chunk counts"),
        "{why}"
    );
    endless["summary"]["compared"]["cycles"] = json!(1u64 << 32);
    assert_eq!(merged(sealed(&header) + &sealed(&endless)).unwrap(), 64);
    let mut nothing = chunk.clone();
    nothing["summary"]["compared"]["cycles"] = json!(0);
    merged(sealed(&header) + &sealed(&nothing)).expect_err("nothing");
    let output = reconverge(&["merge", arg(&file)]);
    let message = format!(
        "error: {}: cycles: nothing was compared: 0 cycles\n",
        file.display()
    );
    assert_eq!(
        (output.status.code(), text(&output.stderr)),
        (Some(2), message)
    );
}

/// The results of an exploration, and its checkpoint.
#[test]
fn what_exhaust_writes_is_as_documented() {
    let dir = tempfile::tempdir().unwrap();
    let [json, kept] = ["all.json", "kept.json"].map(|name| dir.path().join(name));
    let world = ["exhaust", "spa5", "--lanes", "1", "--param", "DEPTH=1"];
    let files = ["--json", arg(&json), "--checkpoint", arg(&kept)];
    reconverge_ends(0, &[&world[..], &files].concat());
    let formats = Formats::of::<reconverge::spa5::Spa5>(1);
    for (object, file) in [("exhaust", json), ("checkpoint", kept)] {
        let written = fs::read_to_string(file).unwrap();
        assert_eq!(formats.object(object, &written), Ok(()), "{object}");
    }
}

/// The results of proofs: of a counterexample with its way from reset, of one to which none was found, of a cover that is not reached.
#[needs(yosys, cadical)]
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn what_prove_writes_is_as_documented() {
    let formats = Formats::of::<reconverge::r500::R500>(2);
    let bad = Folder::own("r500").copy();
    bad.change((
        "r500_loop_stack.sv",
        "push_i ? count_i :",
        "push_i ? count_i ^ 8'd1 :",
    ));
    let home = home_of("r500");
    let (reached, never) = ("next__err_q == 4'd7;", "next__err_q == 4'd7 && !rst_ni;");
    change(&home, "properties.sv", reached, never);
    let wrong = ["--rtl", bad.arg(), "--only", "step u_loop_stack.count_q"];
    let unreachable = json!("unreachable");
    for (status, reach, args, field, expected) in [
        (1, "8", &wrong[..], "cycles from reset", json!(3)),
        (1, "1", &wrong, "cycles from reset", Value::Null),
        (3, "0", &["--only", "error_7"], "verdict", unreachable),
    ] {
        let prove = ["prove", "r500", "--lanes", "2", "--reach", reach];
        let args = [&prove, args, &["--no-faults"]].concat();
        let home = [("RECONVERGE_HOME", home.path())];
        let home = if status == 3 { &home[..] } else { &[] };
        let run = Run::of(tempfile::tempdir().unwrap(), &args, home).ends(status);
        let written = run.json();
        assert_eq!(formats.object("proofs", &written.to_string()), Ok(()));
        assert_eq!(written["properties"][0].get(field), Some(&expected));
    }
}

/// The page names the formats that there are.
#[test]
fn the_page_has_the_numbers_of_the_formats() {
    let formats = Formats::of::<reconverge::r500::R500>(4);
    for (object, number) in [
        ("saved-case", PROGRAM.version),
        ("coverage", reconverge::cover::FORMAT),
        ("header", results::FORMAT),
    ] {
        let (_, kind) = &formats.objects[object][0];
        let number = i64::from(number);
        assert!(
            matches!(kind, Type::Range(low, high) if (*low, *high) == (number, number)),
            "{object}"
        );
    }
}
