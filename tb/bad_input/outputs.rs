//! Two outputs are never written to one file, and no output overwrites an input.

use std::fs;
use std::path::Path;

use crate::common::{ROOT, arg, reconverge, text};
use reconverge::r500::R500;

use super::{refused, saved_case};

/// Regression: of two outputs to one file, the first was lost without a message.
#[test]
fn outputs_to_one_file_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| format!("{}/{name}", arg(dir.path()));
    let program = "tb/spa5/programs/if_else.s";
    fs::create_dir(dir.path().join("folder")).unwrap();
    std::os::unix::fs::symlink(".", dir.path().join("here")).unwrap();
    fs::write(at("old"), "old").unwrap();
    std::os::unix::fs::symlink("old", dir.path().join("link")).unwrap();
    let (new, old) = (at("new"), at("old"));
    let run = |first: &str, second: &str| {
        let run = ["run", "spa5", program, "--json", first, "--trace", second];
        refused(
            &run,
            &format!("error: --trace: {second}: another output goes to this file already"),
        );
    };
    run(&new, &new);
    run(&new, &at("./new"));
    run(&new, &at("folder/../new"));
    run(&at("here/new"), &new);
    run(&old, &at("link"));
    run(&at("link"), &old);
    let picture = at("s.svg");
    let said = "another output goes to this file already";
    let pictures = ["--html", &picture, "--picture", &picture];
    refused(
        &[&["run", "spa5", program], &pictures[..]].concat(),
        &format!("error: --html: {picture}: {said}"),
    );
    refused(
        &[
            "fuzz", "spa5", "--cycles", "1", "--json", &new, "--junit", &new,
        ],
        &format!("error: --junit: {new}: {said}"),
    );
    // The same for files whose names the command chooses.
    let shader = "examples/shaders/nested.txt";
    let heat = at("r500.nested.heat.png");
    let out = ["--out", arg(dir.path())];
    let output = reconverge(&[&["render", "r500", shader, "--png", &heat], &out[..]].concat());
    let message = format!("error: --heat: {heat}: {said}\n");
    // Warnings precede it.
    assert!(text(&output.stderr).ends_with(&message));
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read(&old).unwrap(), b"old");
    assert!(!Path::new(&new).exists());
    // What is written to a device replaces nothing.
    let null = ["--json", "/dev/null", "--trace", "/dev/null"];
    let output = reconverge(&[&["run", "spa5", program], &null[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

/// Regression: `run spa5 prog.s --json prog.s` replaced the user's program.
#[test]
fn an_output_over_an_input_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| format!("{}/{name}", arg(dir.path()));
    let program = at("prog.s");
    fs::copy(Path::new(ROOT).join("tb/spa5/programs/if_else.s"), &program).unwrap();
    std::os::unix::fs::symlink("prog.s", dir.path().join("link")).unwrap();
    let (link, conditions, case) = (at("link"), at("c.jsonl"), at("case.json"));
    let (results, mutants) = (at("r500.jsonl"), at("mutants.json"));
    fs::write(&conditions, "{\"lane\":0,\"k\":0,\"bits\":1}\n").unwrap();
    fs::write(&case, saved_case::<R500>().to_text()).unwrap();
    fs::write(&results, "").unwrap();
    fs::write(&mutants, "[]").unwrap();
    let run = ["run", "spa5", &program];
    for (args, flag, output) in [
        (&run[..], "--json", &program),
        (&run, "--json", &link),
        (&run, "--trace", &program),
        (&run, "--html", &program),
        (
            &[&run[..], &["--conditions", &conditions]].concat(),
            "--trace",
            &conditions,
        ),
        (&["asm", "spa5", &program], "--output", &program),
        (&["dis", "spa5", &link], "--output", &program),
        (&["import", "spa5", &program], "--output", &program),
        (&["replay", &case], "--json", &case),
        (&["merge", &results], "--json", &results),
        (&["report", &results], "--output", &results),
        (&["cover", "r500", "--merge", &mutants], "--json", &mutants),
        (
            &["prove", "r500", "--mutants", &mutants],
            "--json",
            &mutants,
        ),
    ] {
        let read = || fs::read(output).unwrap();
        let before = read();
        refused(
            &[args, &[flag, output.as_str()]].concat(),
            &format!(
                "error: {flag}: {output}: is an input of this command too, and would be overwritten"
            ),
        );
        assert_eq!(read(), before, "{args:?}");
    }
}
