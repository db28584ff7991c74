//! Bad input: one clear message that names file, line and field, exit status 2, no panic, and no file left half-written.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{ROOT, Tested, arg, loaded, program, reconverge, refusal, text};
use reconverge::assembly::Assembly as _;
use reconverge::case::{Case, Place, Table};
use reconverge::r500::R500;
use reconverge::saved::{PROGRAM, Saved, identify};

use reconverge::for_each_unit;

mod files;
mod options;
mod outputs;

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {
        /// As messages list them.
        const UNITS: &[&str] = &[$(stringify!($module)),+];

        $(mod $module {
            crate::common::test_unit!(reconverge::$module::$unit:
                flags_out_of_range_are_refused,
                files_that_are_not_there_or_not_text_are_refused,
                an_output_that_cannot_be_a_file_is_refused,
                a_long_word_is_shortened_in_the_message,
                a_truncated_hex_file_is_refused,
                a_program_may_have_any_file_name,
                closed_pipes_are_quiet,
                a_mistake_in_a_program_is_shown_with_its_line,
                a_refused_file_leaves_the_output_as_it_was,
                a_saved_case_reads_back_as_it_was,
                a_saved_case_with_a_value_out_of_range_is_refused,
            );
        })+
    };
}
for_each_unit!(tests);

/// Runs the command and checks that it refuses its input with exactly this first line.
fn refused(args: &[&str], message: &str) {
    let output = reconverge(args);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{args:?}\n{stderr}");
    assert_eq!(stderr.lines().next().unwrap_or(""), message, "{args:?}");
    assert!(output.stdout.is_empty(), "{args:?} printed something");
}

fn flags_out_of_range_are_refused<U: Tested>() {
    let program = program::<U>(U::IF_ELSE);
    let run = ["run", U::NAME, &program];
    let with = |more: &[&'static str]| [&run, more].concat();
    for (flag, value, names) in [
        ("--seed", "0", "the seed must be at least 1"),
        ("--seed", "x", "`x` is not a number"),
        ("--param", "D=x", "`x` is not a number"),
        ("--p16", "17", "0..=16"),
        ("--lanes", "0", "1..=64"),
        ("--lanes", "65", "1..=64"),
        ("--stall16", "16", "0..=15"),
        ("--max-steps", "0", "must be at least 1"),
        ("--launch-mask", "xyz", "hexadecimal"),
    ] {
        let stderr = refusal(&with(&[flag, value]));
        assert!(
            stderr.contains(flag) && stderr.contains(names),
            "{flag} {value}: {stderr}"
        );
    }
    // One less, or one more, is accepted.
    let all = format!("0x{:x}", all_lanes::<U>());
    for (flag, value) in [
        ("--seed", "1"),
        ("--p16", "0"),
        ("--p16", "16"),
        ("--stall16", "15"),
        ("--max-steps", "1"),
        ("--launch-mask", "0"),
        ("--launch-mask", &all),
    ] {
        let output = reconverge(&[&run[..], &[flag, value]].concat());
        assert_eq!(output.status.code(), Some(0), "{flag} {value}");
    }
    refused(
        &with(&["--lanes", "4", "--launch-mask", "10"]),
        "error: --launch-mask: 0x10 names lanes beyond 3",
    );
    refused(
        &with(&["--flip", "nothing@3"]),
        &format!("error: --flip: no field nothing; there are {}", U::FIELDS),
    );
    let lanes = U::LANES;
    if lanes < 64 {
        let mask = format!("{:x}", 1u64 << lanes);
        refused(
            &[&run[..], &["--launch-mask", &mask]].concat(),
            &format!(
                "error: --launch-mask: 0x{mask} names lanes beyond {}",
                lanes - 1
            ),
        );
    }
    // The first field of every unit has one element per lane.
    let field = &U::fields()[0];
    let (name, bits) = (field.name, field.width);
    refused(
        &[&run[..], &["--flip", &format!("{name}[{lanes}]@3")]].concat(),
        &format!(
            "error: --flip: {name} has {lanes} elements: the element must be below {lanes}, not {lanes}"
        ),
    );
    refused(
        &[&run[..], &["--flip", &format!("{name}[3].{bits}@3")]].concat(),
        &format!("error: --flip: {name} has {bits} bits: the bit must be below {bits}, not {bits}"),
    );
    refused(
        &with(&["--flip", "pc[3"]),
        "error: --flip: pc[3: the cycle is missing; FIELD[ELEMENT].BIT@CYCLE",
    );
    refused(
        &with(&["--rtl", "no/such"]),
        "error: no/such: --rtl: no such folder",
    );
    refused(
        &with(&["--rtl", "rtl/sap5"]),
        "error: rtl/sap5: --rtl: no such folder; did you mean `spa5`?",
    );
    let dir = tempfile::tempdir().unwrap();
    let conditions = dir.path().join("c.jsonl");
    fs::write(&conditions, "{\"lane\":4,\"k\":0,\"bits\":1}\n").unwrap();
    refused(
        &[
            &run[..],
            &["--lanes", "4", "--conditions", arg(&conditions)],
        ]
        .concat(),
        "error: --conditions: lane 4, and the case has lanes 0 to 3",
    );
}

fn all_lanes<U: Tested>() -> u64 {
    u64::MAX >> (64 - U::LANES)
}

fn files_that_are_not_there_or_not_text_are_refused<U: Tested>() {
    let file = format!("error: no/such.s: file: there is no folder no, seen from {ROOT}");
    for command in ["run", "asm", "dis", "import"] {
        refused(&[command, U::NAME, "no/such.s"], &file);
    }
    refused(&["replay", "no/such.s"], &file);
    // Regression: the message did not say which file was looked for, and where.
    let near = format!("tb/{}/programs/if_els.s", U::NAME);
    let folder = format!("{ROOT}/tb/{}/programs", U::NAME);
    let meant = "; did you mean `if_else.s`?";
    let why = format!("error: {near}: file: there is no such file in {folder}{meant}");
    refused(&["run", U::NAME, &near], &why);
    let far = format!("{folder}/nothing_like_it.s");
    let why = format!("error: {far}: file: there is no such file in {folder}");
    refused(&["run", U::NAME, &far], &why);
    refused(
        &["view", U::NAME, "no/such.vcd"],
        "error: no/such.vcd: dump: no such dump; `run --wave` or a mismatch writes one",
    );
    let dir = tempfile::tempdir().unwrap();
    let binary = dir.path().join("binary.s");
    fs::write(&binary, [0xff, 0xfe, 0x00]).unwrap();
    let name = arg(&binary);
    let output = reconverge(&["run", U::NAME, name]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).starts_with(&format!("error: {name}")));
}

/// Outputs are checked before any work is done, and the flag is named.
fn an_output_that_cannot_be_a_file_is_refused<U: Tested>() {
    let program = program::<U>(U::IF_ELSE);
    let dir = tempfile::tempdir().unwrap();
    let folder = arg(dir.path());
    let nowhere = format!("{folder}/no/such");
    for (args, flag) in [
        (vec!["run", U::NAME, &program, "--trace"], "--trace"),
        (vec!["fuzz", U::NAME, "--cycles", "1", "--json"], "--json"),
        (vec!["asm", U::NAME, &program, "-o"], "--output"),
    ] {
        for (path, why) in [
            (folder, "is a folder"),
            (&nowhere, "its folder does not exist"),
        ] {
            refused(
                &[&args[..], &[path]].concat(),
                &format!("error: {flag}: {path}: {why}"),
            );
        }
    }
}

/// Regression: a word of a million characters was repeated whole on the terminal.
fn a_long_word_is_shortened_in_the_message<U: Tested>() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("long.s");
    fs::write(&file, "q".repeat(1_000_000)).unwrap();
    let output = reconverge(&["asm", U::NAME, arg(&file)]);
    let stderr = text(&output.stderr);
    let first = stderr.lines().next().unwrap_or_default();
    assert_eq!(output.status.code(), Some(2), "{first:.200}");
    let shown = format!(
        ":1: mnemonic: `{}...` is not an instruction",
        "q".repeat(64)
    );
    assert!(first.contains(&shown), "{first:.200}");
    assert!(stderr.len() < 3000, "{} bytes", stderr.len());
}

/// A file of words that is cut off in the middle still reads as words: the program must mark its end.
fn a_truncated_hex_file_is_refused<U: Tested>() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("cut.hex");
    let whole = text(&reconverge(&["asm", U::NAME, &program::<U>(U::IF_ELSE)]).stdout);
    let name = arg(&file);
    fs::write(&file, &whole).unwrap();
    assert_eq!(reconverge(&["run", U::NAME, name]).status.code(), Some(0));
    let cut = |lines: usize| {
        let left: String = whole.split_inclusive('\n').take(lines).collect();
        fs::write(&file, left).unwrap();
    };
    let lines = whole.lines().count();
    match U::CUT_OFF {
        Some(why) => {
            cut(lines - 1);
            refused(&["run", U::NAME, name], &format!("error: {name}: {why}"));
        }
        // Otherwise a program of which half is missing would look whole.
        None => {
            cut(lines / 2);
            let output = reconverge(&["run", U::NAME, name]);
            assert!(!text(&output.stdout).contains("  done"));
        }
    }
}

fn a_program_may_have_any_file_name<U: Tested>() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("my prog.v1 \u{fc}.s");
    fs::copy(Path::new(ROOT).join(program::<U>(U::IF_ELSE)), &file).unwrap();
    let output = reconverge(&["run", U::NAME, arg(&file)]);
    assert_eq!(output.status.code(), Some(0));
    // The name gets a hash, so that a name that differs only in the blank or the umlaut has other files.
    let said = text(&output.stdout);
    let named = said.strip_prefix(&format!("{}.my_prog.v1__-", U::NAME));
    let hash = named
        .and_then(|rest| rest.split_once(".1  done"))
        .unwrap()
        .0;
    assert!(
        hash.len() == 8 && hash.chars().all(|c| c.is_ascii_hexdigit()),
        "{said}"
    );
}

/// A reader that goes away is not a reason to panic.
fn closed_pipes_are_quiet<U: Tested>() {
    let command = format!(
        "{} run {} no/such.s 2>&1 | true",
        env!("CARGO_BIN_EXE_reconverge"),
        U::NAME
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

fn a_mistake_in_a_program_is_shown_with_its_line<U: Tested>() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("bad.s");
    fs::write(&file, U::MISTAKE.text).unwrap();
    let name = arg(&file);
    let stderr = refusal(&["run", U::NAME, name]);
    assert!(
        stderr.starts_with(&format!("error: {name}:{}: ", U::MISTAKE.line)),
        "{stderr}"
    );
    assert!(
        stderr.contains(U::MISTAKE.shown),
        "the line itself is shown: {stderr}"
    );
}

fn a_refused_file_leaves_the_output_as_it_was<U: Tested>() {
    let dir = tempfile::tempdir().unwrap();
    let (bad, out) = (dir.path().join("bad.s"), dir.path().join("out.hex"));
    fs::write(&bad, U::MISTAKE.text).unwrap();
    fs::write(&out, "precious\n").unwrap();
    let output = reconverge(&["asm", U::NAME, arg(&bad), "-o", arg(&out)]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read_to_string(&out).unwrap(), "precious\n");
    assert_eq!(
        fs::read_dir(dir.path()).unwrap().count(),
        2,
        "nothing else was left behind"
    );
}

pub fn saved_case<U: Tested>() -> Saved<Case<U>> {
    Saved {
        failure: Some(Place::Mismatch {
            cycle: 7,
            field: "pc".to_owned(),
            element: 0,
        }),
        case: Case::new(loaded::<U>(U::LONG)),
    }
}

fn a_saved_case_reads_back_as_it_was<U: Tested>() {
    let saved = saved_case::<U>();
    assert_eq!(
        Saved::<Case<U>>::parse(&saved.to_text(), "case.json").unwrap(),
        saved
    );
}

/// Each field of a saved case out of range, with the message.
fn a_saved_case_with_a_value_out_of_range_is_refused<U: Tested>() {
    let saved = saved_case::<U>();
    let good = saved.to_text();
    let parse = |text: &str| {
        Saved::<Case<U>>::parse(text, "case.json")
            .unwrap_err()
            .to_string()
    };
    let with = |from: &str, to: &str| {
        assert_eq!(good.matches(from).count(), 1, "{from}");
        good.replace(from, to)
    };
    let lanes = format!("\"lanes\": {},", U::LANES);
    for (from, to, message) in [
        (
            "\"seed\": \"0x1\",",
            "\"seed\": \"0x0\",",
            "seed: must be at least 1",
        ),
        (
            &lanes,
            "\"lanes\": 65,",
            "lanes: the number of lanes must be 1 to 64, not 65",
        ),
        (
            &lanes,
            &format!("\"lanes\": {},", U::LANES - 1),
            &format!(
                "launch_mask: 0x{:x} names lanes beyond {}",
                all_lanes::<U>(),
                U::LANES - 2
            ),
        ),
        (
            "\"stall16\": 0,",
            "\"stall16\": 16,",
            "stall16: must be 0 to 15, not 16; 16 would never let the unit run",
        ),
        ("\"p16\": 8", "\"p16\": 17", "p16: must be 0 to 16, not 17"),
        (
            "\"max_steps\": 100000,",
            "\"max_steps\": 0,",
            "max_steps: 0 would compare nothing",
        ),
        (
            "\"noise_cycles\": null,",
            "\"noise_cycles\": 0,",
            "noise_cycles: 0 would compare nothing",
        ),
        // A case with this many cycles would never end.
        (
            "\"noise_cycles\": null,",
            "\"noise_cycles\": 10000001,",
            "noise_cycles: 10000001 is more than 10000000",
        ),
        (
            "\"noise_cycles\": null,",
            "\"noise_cycles\": 1000000000000000000,",
            "noise_cycles: 1000000000000000000 is more than 10000000",
        ),
        (
            "\"max_steps\": 100000,",
            "\"max_steps\": null,",
            "max_steps: without a limit only with noise_cycles",
        ),
        (
            &format!("\"name\": \"{}\"", saved.case.program.name()),
            "\"name\": \"../x\"",
            "name: \"../x\" cannot be part of a file name",
        ),
        (
            "\"flip\": null",
            "\"flip\": {\"field\":\"pc\",\"element\":1,\"bit\":0,\"cycle\":1}",
            "flip: pc has 1 elements: the element must be below 1, not 1",
        ),
    ] {
        assert_eq!(parse(&with(from, to)), format!("case.json: {message}"));
    }
    let most = with("\"noise_cycles\": null,", "\"noise_cycles\": 10000000,");
    assert!(Saved::<Case<U>>::parse(&most, "case.json").is_ok());
    let error = Saved::<Case<U>>::parse(
        &with(
            &format!("\"reconverge\": {},", PROGRAM.version),
            &format!("\"reconverge\": {},", PROGRAM.version + 1),
        ),
        "case.json",
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "case.json: reconverge: format {} is of a later version, this one reads {}",
            PROGRAM.version + 1,
            PROGRAM.version
        )
    );
    assert_eq!(
        identify("{}", "c").unwrap_err().to_string(),
        "c: reconverge: missing: not a saved case"
    );
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("case.json");
    let unit = format!("\"unit\": \"{}\",", U::NAME);
    fs::write(&file, with(&unit, "\"unit\": \"r600\",")).unwrap();
    let name = arg(&file);
    refused(
        &["replay", name],
        &format!(
            "error: {name}: unit: \"r600\" is unknown; there are {}",
            UNITS.join(", ")
        ),
    );
}

/// Regression: the message named neither the case nor its field.
#[test]
fn a_saved_case_with_rtl_that_is_not_there_is_refused_with_its_field() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("case.json");
    let mut saved = saved_case::<R500>();
    saved.case.rtl = Some("nonexist".into());
    fs::write(&file, saved.to_text()).unwrap();
    refused(
        &["replay", arg(&file)],
        &format!(
            "error: {}: rtl: nonexist: no such folder; replay with --rtl and the folder of the RTL",
            file.display()
        ),
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

/// Everything that a command prints about a file whose name and text contain control codes (cursor, title, direction of text):
/// the terminal shows the codes and executes none.
#[test]
fn control_characters_of_files_and_their_names_are_shown_escaped() {
    const COMMANDS: &str = "\u{1b}]0;title\u{7}\u{9b}2J\u{7f}\u{202e}\r";
    const SHOWN: &str = r"\u{1b}]0;title\u{7}\u{9b}2J\u{7f}\u{202e}\r";
    let dir = tempfile::tempdir().unwrap();
    let harmless = |output: &std::process::Output| {
        for stream in [&output.stdout, &output.stderr] {
            let text = text(stream);
            let obeyed = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
            assert!(!text.contains(obeyed), "{text:?}");
        }
    };
    for (n, content) in [
        format!("{COMMANDS} r1\n"),
        format!("{{\"reconverge\": \"{COMMANDS}\"}}"),
        "{\"reconverge\": 2, \"unit\": \"\\u001b[2J\"}".to_owned(),
        format!("NOP ; {COMMANDS}\nRET\n"),
        format!("OUT ; {COMMANDS}\n"),
    ]
    .iter()
    .enumerate()
    {
        let file = dir.path().join(format!("{COMMANDS}\n{n}.s"));
        fs::write(&file, content).unwrap();
        let name = arg(&file);
        for unit in UNITS {
            for args in [
                &["run", unit, name][..],
                &["asm", unit, name],
                &["dis", unit, name],
                &["import", unit, name],
                &["import", unit, name, "--list"],
                &[
                    "run",
                    unit,
                    "tb/r500/programs/if_else.s",
                    "--conditions",
                    name,
                ],
                &["run", unit, "tb/r500/programs/if_else.s", "--rtl", name],
            ] {
                harmless(&reconverge(args));
            }
        }
        for args in [
            &["replay", name][..],
            &["merge", name],
            &["cover", "all", "--merge", name],
        ] {
            let output = reconverge(args);
            harmless(&output);
            let stderr = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{stderr}");
            assert!(stderr.contains(SHOWN), "{args:?}: {stderr}");
        }
        let output = reconverge(&["view", "r500", name]);
        harmless(&output);
    }
}

#[test]
fn parameters_that_a_unit_does_not_have_are_refused() {
    let r500 = "tb/r500/programs/if_else.s";
    let r700 = "tb/r700/programs/if_else.s";
    refused(
        &["run", "r500", r500, "--param", "DEPTH=4"],
        "error: --param: r500 has no parameter DEPTH, only lanes",
    );
    refused(
        &["run", "r700", r700, "--param", "DEPTH=4"],
        "error: --param: r700 has no parameter DEPTH; there are MAX_STACK_SIZE SUBENTRIES DX10_COUNT",
    );
    for value in ["0", "256"] {
        let parameter = format!("MAX_STACK_SIZE={value}");
        refused(
            &["fuzz", "r700", "--param", &parameter],
            &format!("error: --param: MAX_STACK_SIZE must be 1 to 255, not {value}"),
        );
    }
    for value in ["0", "5", "16"] {
        let parameter = format!("SUBENTRIES={value}");
        refused(
            &["fuzz", "r700", "--param", &parameter],
            &format!("error: --param: SUBENTRIES must be 4 or 8, not {value}"),
        );
    }
    refused(
        &["fuzz", "r700", "--param", "DX10_COUNT=2"],
        "error: --param: DX10_COUNT must be 0 to 1, not 2",
    );
}

/// An option of one unit that is given to another unit is refused with the name of its unit.
#[test]
fn files_and_flags_of_another_unit_are_refused_with_a_hint() {
    let object = "tb/r700/programs/llvm/k01_ifelse.o";
    refused(
        &["run", "r700", object, "--safe-loops"],
        "error: --safe-loops: is for the LOOP words of r500; r700 has none",
    );
    let cubin = "tb/spa5/programs/cubin/k01_ifelse.12.9.O3.cubin";
    for (unit, file, what) in [
        ("r500", object, "an R600-family object, try `run r700`"),
        ("spa5", object, "an R600-family object, try `run r700`"),
        ("r500", cubin, "a cubin for sm_50 (Maxwell), try `run spa5`"),
        ("r700", cubin, "a cubin for sm_50 (Maxwell), try `run spa5`"),
    ] {
        for command in [&["run"][..], &["import"], &["import", "--list"], &["dis"]] {
            let args = [command, &[unit, file]].concat();
            refused(&args, &format!("error: {file}: file: this is {what}"));
        }
    }
    for (unit, of) in [
        ("spa5", "r500"),
        ("r500", "spa5"),
        ("r700", "r500"),
        ("r500", "r700"),
    ] {
        let file = format!("tb/{of}/programs/if_else.s");
        let why = format!("this is a program of {of}, not of {unit}; try `run {of}`");
        refused(
            &["run", unit, &file],
            &format!("error: {file}: file: {why}"),
        );
    }
    // A file that no unit runs is named as what it is.
    let dir = tempfile::tempdir().unwrap();
    let changed = |from: &str, at: usize, value: u8| {
        let mut bytes = fs::read(Path::new(ROOT).join(from)).unwrap();
        bytes[at] = value;
        let path = dir.path().join("changed");
        fs::write(&path, bytes).unwrap();
        path.to_string_lossy().into_owned()
    };
    let file = changed(cubin, 48, 75);
    refused(
        &["run", "r700", &file],
        &format!("error: {file}: file: this is a cubin for sm_75 (Turing)"),
    );
    let file = changed(object, 36, 9);
    refused(
        &["run", "spa5", &file],
        &format!(
            "error: {file}: file: this is an object for a GPU of AMD's that is not of the R600 family"
        ),
    );
    let file = changed(object, 18, 62);
    refused(
        &["run", "r500", &file],
        &format!(
            "error: {file}: file: is an object or a program of the host, with no GPU code that is read here"
        ),
    );
    let listing = "tb/r700/programs/llvm/k01_ifelse.s";
    let message = refusal(&["run", "r700", listing]);
    assert!(
        message.contains(
            "`.text` is not a directive; of a compiler's listing, give the object file instead"
        ),
        "{message}"
    );
}

/// All mistakes of a program are reported at once, each with its token underlined and a suggestion; errors that may only follow
/// from an earlier one are not reported.
#[test]
fn all_mistakes_of_a_program_are_told_of_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("bad.s");
    let name = arg(&file);
    let told = |unit: &str, program: &str| {
        fs::write(&file, program).unwrap();
        let output = reconverge(&["asm", unit, name]);
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(text(&output.stdout), "");
        text(&output.stderr).replace(name, "bad.s")
    };
    let errors = |said: &str| {
        let lines = said.lines().filter_map(|line| line.strip_prefix("error: "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let said = told(
        "spa5",
        "        SSY .L_1;\n        SNYC;\n.L_1:\n        RET;\n        BRAA .L_1;\n",
    );
    assert_eq!(
        said,
        "error: bad.s:2: mnemonic: `SNYC` is not an instruction of sm_50; did you mean `SYNC`?
 --> bad.s:2:9
  |
2 |         SNYC;
  |         ^^^^ mnemonic
error: bad.s:5: mnemonic: `BRAA` is not an instruction of sm_50; did you mean `BRA`?
 --> bad.s:5:9
  |
5 |         BRAA .L_1;
  |         ^^^^ mnemonic
"
    );
    // Labels are resolved after every line has been read.
    let said = told("spa5", "start: NOP\nBRA strat\nBRA nowhere\nEXIT\n");
    assert_eq!(
        errors(&said),
        [
            "bad.s:2: label: label `strat` is not defined; did you mean `start`?",
            "bad.s:3: label: label `nowhere` is not defined",
        ]
    );
    let said = told("r700", "NPO\nELSE\nJUPM @0\n");
    assert_eq!(
        errors(&said),
        [
            "bad.s:1: mnemonic: `npo` is not an instruction, statement or directive; did you mean `nop`?",
            "bad.s:3: mnemonic: `jupm` is not an instruction, statement or directive; did you mean `jump`?",
        ]
    );
    let said = told("r500", "ALUU\nIF alu\nEND\nTEXX\n");
    assert_eq!(errors(&said).len(), 3, "{said}");
    let said = told("r500", "0x00007807 1 2\n0 1g 2\n0 1 2\nx 0 0\n");
    assert_eq!(
        errors(&said),
        [
            "bad.s:2: INST: `1g` is not a 32-bit word in hexadecimal",
            "bad.s:4: CMN: `x` is not a 32-bit word in hexadecimal",
        ]
    );
    // At most eight errors are printed.
    for lines in [8, 9, 10_000] {
        assert_eq!(errors(&told("r500", &"NPO\n".repeat(lines))).len(), 8);
    }
    assert_eq!(errors(&told("r500", &"NPO\n".repeat(7))).len(), 7);
}
