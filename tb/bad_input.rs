//! Bad input: one clear message that names file, line and field, exit status 2, no panic. What the command says of single files,
//! options and outputs is in `tb/transcripts`.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{Tested, arg, loaded, reconverge, refusal, text};
use reconverge::assembly::Assembly as _;
use reconverge::case::{Case, Place};
use reconverge::saved::{PROGRAM, Saved, identify};

use reconverge::for_each_unit;

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {
        /// As messages list them.
        const UNITS: &[&str] = &[$(stringify!($module)),+];

        $(mod $module {
            crate::common::test_unit!(reconverge::$module::$unit:
                a_saved_case_reads_back_as_it_was,
                a_saved_case_with_a_value_out_of_range_is_refused,
            );
        })+
    };
}
for_each_unit!(tests);

fn all_lanes<U: Tested>() -> u64 {
    u64::MAX >> (64 - U::LANES)
}

fn saved_case<U: Tested>() -> Saved<Case<U>> {
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
    let units = UNITS.join(", ");
    let why = format!("error: {name}: unit: \"r600\" is unknown; there are {units}\n");
    assert_eq!(refusal(&["replay", name]), why);
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

/// Lack of memory is not reported as an error of the file.
#[test]
fn out_of_memory_is_no_bad_input() {
    let dir = tempfile::tempdir().unwrap();
    let (small, large) = (dir.path().join("small.s"), dir.path().join("large.s"));
    fs::write(&small, "OUT\n").unwrap();
    fs::File::create(&large).unwrap().set_len(60 << 20).unwrap();
    let with = |file: &Path, kilobytes: u32| {
        let command = env!("CARGO_BIN_EXE_reconverge");
        let limited = format!(
            "ulimit -v {kilobytes}; exec {command} asm r500 {}",
            arg(file)
        );
        let output = Command::new("bash")
            .args(["-c", &limited])
            .output()
            .unwrap();
        (output.status.code(), text(&output.stderr).to_owned())
    };
    // Enough for the program, but not for 60 MiB more.
    let enough = (1..)
        .map(|n| n * 8192)
        .find(|kilobytes| with(&small, *kilobytes).0 == Some(0))
        .unwrap();
    let (code, stderr) = with(&large, enough + 16384);
    assert_eq!(
        stderr,
        format!("error: {}: file: out of memory\n", large.display())
    );
    assert_eq!(code, Some(3));
}
