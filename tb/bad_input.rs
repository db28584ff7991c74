//! Bad input: one clear message that names file, line and field, exit status 2, never a panic, and no
//! file left half-written.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use reconverge::case::{CASE_FORMAT, Case, Failure, SavedCase, Table, unit_of_case};
use reconverge::r500::R500;
use reconverge::unit::{LoadOptions, Unit};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn reconverge(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_reconverge"))
        .args(args)
        .current_dir(ROOT)
        .output()
        .unwrap()
}

/// Runs the command and checks that it refuses with exactly this first line.
fn refused(args: &[&str], message: &str) {
    let output = reconverge(args);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}\n{stderr}");
    assert_eq!(stderr.lines().next().unwrap_or(""), message, "{args:?}");
    assert!(output.stdout.is_empty(), "{args:?} printed something");
}

const PROGRAM: &str = "tb/programs/r500/if_else.s";

#[test]
fn flags_out_of_range_are_refused() {
    for (flag, value, names) in [
        ("--seed", "0", "0 is no seed"),
        ("--seed", "x", "invalid digit"),
        ("--p16", "17", "0..=16"),
        ("--lanes", "0", "1..=64"),
        ("--lanes", "65", "1..=64"),
        ("--stall16", "16", "0..=15"),
        ("--max-steps", "0", "1.."),
        ("--launch-mask", "xyz", "hexadecimal"),
    ] {
        let output = reconverge(&["run", "r500", PROGRAM, flag, value]);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{flag} {value}");
        assert!(
            stderr.contains(flag) && stderr.contains(names),
            "{flag} {value}: {stderr}"
        );
    }
    // One less, or one more, is accepted.
    for (flag, value) in [
        ("--seed", "1"),
        ("--p16", "0"),
        ("--p16", "16"),
        ("--stall16", "15"),
        ("--max-steps", "1"),
        ("--launch-mask", "0"),
        ("--launch-mask", "0xffff"),
    ] {
        assert_eq!(
            reconverge(&["run", "r500", PROGRAM, flag, value])
                .status
                .code(),
            Some(0),
            "{flag} {value}"
        );
    }
    refused(
        &["run", "r500", PROGRAM, "--launch-mask", "10000"],
        "error: flags: launch_mask: 0x10000 names lanes beyond 15",
    );
    refused(
        &["run", "r500", PROGRAM, "--flip", "nothing@3"],
        "error: flags: flip: no field nothing; there are st bc lc active loops addrs pc loop_depth addr_depth \
         running done halted err al alu_clr int_const bool_const",
    );
    refused(
        &["run", "r500", PROGRAM, "--flip", "st[16]@3"],
        "error: flags: flip: st has 16 elements, there is no 16",
    );
    refused(
        &["run", "r500", PROGRAM, "--flip", "st[15].2@3"],
        "error: flags: flip: st has 2 bits, there is no 2",
    );
    refused(
        &["run", "r500", PROGRAM, "--flip", "st[3"],
        "error: --flip: flip: st[3: no clock; FIELD[ELEMENT].BIT@CLOCK",
    );
    refused(
        &["run", "r500", PROGRAM, "--rtl", "no/such"],
        "error: no/such: --rtl: no such folder",
    );
}

#[test]
fn files_that_are_not_there_or_not_text_are_refused() {
    let file = "error: no/such.s: file: No such file or directory (os error 2)";
    refused(&["run", "r500", "no/such.s"], file);
    refused(&["asm", "r500", "no/such.s"], file);
    refused(&["dis", "r500", "no/such.s"], file);
    refused(&["import", "r500", "no/such.s"], file);
    refused(&["replay", "no/such.s"], file);
    refused(
        &["view", "r500", "no/such.vcd"],
        "error: no/such.vcd: dump: no such dump; `run --wave` or a mismatch writes one",
    );
    let dir = tempfile::tempdir().unwrap();
    let binary = dir.path().join("binary.s");
    fs::write(&binary, [0xff, 0xfe, 0x00]).unwrap();
    let name = binary.to_str().unwrap();
    let output = reconverge(&["run", "r500", name]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .starts_with(&format!("error: {name}"))
    );
}

/// Outputs are checked before any work is done, and the flag is named.
#[test]
fn an_output_that_cannot_be_a_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().to_str().unwrap();
    let nowhere = format!("{folder}/no/such");
    for (args, flag) in [
        (vec!["run", "r500", PROGRAM, "--trace"], "--trace"),
        (vec!["fuzz", "r500", "--clocks", "1", "--json"], "--json"),
        (vec!["asm", "r500", PROGRAM, "-o"], "--output"),
    ] {
        let with = |path: &str| {
            [args.clone(), vec![path]]
                .concat()
                .into_iter()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        for (path, why) in [
            (folder, "is a folder"),
            (&nowhere, "its folder does not exist"),
        ] {
            let args = with(path);
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            refused(&args, &format!("error: {flag}: {path}: {why}"));
        }
    }
}

/// Cut off in the middle, a file of words still reads as words: the end address tells.
#[test]
fn a_truncated_hex_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("cut.hex");
    let whole = String::from_utf8(reconverge(&["asm", "r500", PROGRAM]).stdout).unwrap();
    let name = file.to_str().unwrap().to_owned();
    fs::write(&file, &whole).unwrap();
    assert_eq!(reconverge(&["run", "r500", &name]).status.code(), Some(0));
    let lines = whole.lines().count();
    fs::write(
        &file,
        whole
            .lines()
            .take(lines - 1)
            .map(|l| format!("{l}\n"))
            .collect::<String>(),
    )
    .unwrap();
    refused(
        &["run", "r500", &name],
        &format!(
            "error: {name}: end: END_ADDR is 6, and there are 6 instructions: is the file cut off?"
        ),
    );
}

#[test]
fn a_program_may_have_any_file_name() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("my prog.v1 \u{fc}.s");
    fs::copy(Path::new(ROOT).join(PROGRAM), &file).unwrap();
    let output = reconverge(&["run", "r500", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        String::from_utf8(output.stdout)
            .unwrap()
            .starts_with("r500.my_prog.v1__.1  done")
    );
}

/// A reader that goes away is no reason to panic.
#[test]
fn closed_pipes_are_quiet() {
    let command = format!(
        "{} run r500 no/such.s 2>&1 | true",
        env!("CARGO_BIN_EXE_reconverge")
    );
    let output = Command::new("bash")
        .args(["-c", &format!("set -o pipefail; {command}")])
        .output()
        .unwrap();
    assert_ne!(
        output.status.code(),
        Some(101),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn a_mistake_in_a_program_is_shown_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("bad.s");
    fs::write(
        &file,
        "        ALU c\n        IF alu\n        ALU\n        OUT\n",
    )
    .unwrap();
    let name = file.to_str().unwrap();
    let output = reconverge(&["run", "r500", name]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr.starts_with(&format!("error: {name}:2: ")),
        "{stderr}"
    );
    assert!(
        stderr.contains("IF alu"),
        "the line itself is shown: {stderr}"
    );
}

#[test]
fn a_refused_file_leaves_the_output_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let (bad, out) = (dir.path().join("bad.s"), dir.path().join("out.hex"));
    fs::write(&bad, "ELSE\n").unwrap();
    fs::write(&out, "precious\n").unwrap();
    let output = reconverge(&[
        "asm",
        "r500",
        bad.to_str().unwrap(),
        "-o",
        out.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read_to_string(&out).unwrap(), "precious\n");
    assert_eq!(
        fs::read_dir(dir.path()).unwrap().count(),
        2,
        "nothing else was left behind"
    );
}

fn saved_case() -> SavedCase<R500> {
    let bytes = fs::read(Path::new(ROOT).join("tb/programs/r500/call_return.s")).unwrap();
    let program = R500::load(&bytes, "call_return.s", &LoadOptions::default())
        .unwrap()
        .program;
    SavedCase {
        reconverge: CASE_FORMAT,
        unit: "r500".to_owned(),
        failure: Some(Failure {
            clock: 7,
            field: "pc".to_owned(),
            element: 0,
        }),
        case: Case::new(program),
    }
}

#[test]
fn a_saved_case_reads_back_as_it_was() {
    let saved = saved_case();
    assert_eq!(
        SavedCase::<R500>::parse(&saved.to_text(), "case.json").unwrap(),
        saved
    );
}

/// Each field of a saved case out of range, with the message.
#[test]
fn a_saved_case_with_a_value_out_of_range_is_refused() {
    let good = saved_case().to_text();
    let parse = |text: &str| {
        SavedCase::<R500>::parse(text, "case.json")
            .unwrap_err()
            .to_string()
    };
    let with = |from: &str, to: &str| {
        assert_eq!(good.matches(from).count(), 1, "{from}");
        good.replace(from, to)
    };
    for (from, to, message) in [
        (
            "\"seed\": 1,",
            "\"seed\": 0,",
            "case.json: seed: 0 is no seed; use 1 or more",
        ),
        (
            "\"lanes\": 16,",
            "\"lanes\": 65,",
            "case.json: lanes: 65 is not 1..64",
        ),
        (
            "\"lanes\": 16,",
            "\"lanes\": 15,",
            "case.json: launch_mask: 0xffff names lanes beyond 14",
        ),
        (
            "\"stall16\": 0,",
            "\"stall16\": 16,",
            "case.json: stall16: 16 is not 0..15; 16 would never let the unit run",
        ),
        (
            "\"p16\": 8",
            "\"p16\": 17",
            "case.json: p16: 17 is not 0..16",
        ),
        (
            "\"max_steps\": 100000,",
            "\"max_steps\": 0,",
            "case.json: max_steps: 0 would compare nothing",
        ),
        (
            "\"name\": \"call_return\"",
            "\"name\": \"../x\"",
            "case.json: name: \"../x\" cannot be part of a file name",
        ),
        (
            "\"flip\": null",
            "\"flip\": {\"field\":\"pc\",\"element\":1,\"bit\":0,\"clock\":1}",
            "case.json: flip: pc has 1 elements, there is no 1",
        ),
    ] {
        assert_eq!(parse(&with(from, to)), message);
    }
    let error = unit_of_case(
        &with("\"reconverge\": 1,", "\"reconverge\": 2,"),
        "case.json",
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "case.json: reconverge: version 2 of the format, this program reads 1"
    );
    assert_eq!(
        unit_of_case("{}", "c").unwrap_err().to_string(),
        "c: reconverge: missing: not a saved case"
    );
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("case.json");
    fs::write(&file, with("\"unit\": \"r500\",", "\"unit\": \"r600\",")).unwrap();
    let name = file.to_str().unwrap();
    refused(
        &["replay", name],
        &format!("error: {name}: unit: there is no unit \"r600\"; there are r500"),
    );
}

#[test]
fn a_conditions_file_is_checked_row_by_row() {
    let table = |text: &str| Table::parse(text, "c.jsonl");
    let row = "{\"lane\":0,\"k\":0,\"bits\":1}\n";
    assert!(table(row).is_ok());
    assert_eq!(table(row).unwrap().bits(0, 0), 1);
    assert_eq!(table(row).unwrap().bits(1, 0), 0);
    assert!(table("{\"lane\":63,\"k\":0,\"bits\":65535}\n").is_ok());
    for (text, message) in [
        (
            "{\"lane\":64,\"k\":0,\"bits\":1}\n",
            "c.jsonl:1: lane: 64 is not a lane, 0..63",
        ),
        (
            "{\"lane\":0,\"k\":0,\"bits\":1}\n\n{\"lane\":0,\"k\":0,\"bits\":1}\n",
            "c.jsonl:3: k: draw 0 of lane 0 is given twice",
        ),
    ] {
        assert_eq!(table(text).unwrap_err().to_string(), message);
    }
    for text in [
        "{",
        "{\"lane\":0}",
        "{\"lane\":0,\"k\":0,\"bits\":65536}",
        "{\"lane\":0,\"k\":0,\"bits\":1,\"x\":1}",
    ] {
        assert!(
            table(text)
                .unwrap_err()
                .to_string()
                .starts_with("c.jsonl:1: row: "),
            "{text}"
        );
    }
}

/// `bytes` with a few changes: cut off, bytes flipped, pieces repeated, dropped, or exchanged for others.
fn mutated(bytes: &[u8], rng: &mut impl Rng) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..rng.random_range(1..5) {
        if out.is_empty() {
            break;
        }
        let at = rng.random_range(0..out.len());
        match rng.random_range(0..6) {
            0 => out.truncate(at),
            1 => out[at] ^= 1 << rng.random_range(0..8),
            2 => out[at] = b"0123456789{}[]\",:-. \nex"[rng.random_range(0..22)],
            3 => drop(out.drain(at..(at + 7).min(out.len()))),
            4 => {
                let piece = out[at..(at + 19).min(out.len())].to_vec();
                out.splice(at..at, piece);
            }
            _ => drop(out.splice(at..at, b"18446744073709551616".iter().copied())),
        }
    }
    out
}

/// Programs of each kind have their own such test in `r500_text`.
#[test]
fn ten_thousand_mutated_cases_and_condition_files_never_panic() {
    let case = saved_case().to_text();
    let rows: String = (0..40)
        .map(|k| format!("{{\"lane\":{},\"k\":{k},\"bits\":{}}}\n", k % 16, k * 37))
        .collect();
    let mut rng = Pcg64Mcg::seed_from_u64(10_000);
    let (mut cases, mut tables) = (0, 0);
    for _ in 0..10_000 {
        if let Ok(text) = String::from_utf8(mutated(case.as_bytes(), &mut rng)) {
            let read = unit_of_case(&text, "m.json")
                .and_then(|_| SavedCase::<R500>::parse(&text, "m.json"));
            cases += u32::from(read.is_err_and(|e| !e.message.is_empty() && e.file == "m.json"));
        }
        if let Ok(text) = String::from_utf8(mutated(rows.as_bytes(), &mut rng)) {
            tables += u32::from(Table::parse(&text, "m.jsonl").is_err_and(|e| e.line > 0));
        }
    }
    assert!(
        cases > 5000 && tables > 2000,
        "{cases} cases and {tables} tables refused"
    );
}
