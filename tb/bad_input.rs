//! Bad input: one clear message that names file, line and field, exit status 2, no panic. What the command says of single files,
//! options and outputs is in `tb/transcripts`.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{Tested, arg, loaded, reconverge, text};
use reconverge::case::{Case, Place};
use reconverge::saved::Saved;

use reconverge::for_each_unit;

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {
        /// As messages list them.
        const UNITS: &[&str] = &[$(stringify!($module)),+];

        $(mod $module {
            crate::common::test_unit!(reconverge::$module::$unit:
                a_saved_case_reads_back_as_it_was,
                the_most_cycles_of_noise_that_a_case_may_have_are_accepted,
            );
        })+
    };
}
for_each_unit!(tests);

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

/// One more is refused: tb/transcripts/saved.txt.
fn the_most_cycles_of_noise_that_a_case_may_have_are_accepted<U: Tested>() {
    let text = saved_case::<U>().to_text();
    let most = text.replace("\"noise_cycles\": null,", "\"noise_cycles\": 10000000,");
    assert_ne!(most, text);
    assert!(Saved::<Case<U>>::parse(&most, "case.json").is_ok());
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
