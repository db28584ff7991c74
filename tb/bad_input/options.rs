//! Mistakes in options.

use crate::common::{reconverge, refusal, text};

/// Regression: only the first of several mistakes in a command line was reported.
#[test]
fn every_mistake_in_an_option_is_reported() {
    let program = "tb/r500/programs/if_else.s";
    let run = [
        "run",
        "r500",
        program,
        "--stall16",
        "99",
        "--sed",
        "4",
        "--max-steps=x",
    ];
    let said = refusal(&[&run[..], &["--p16", "77"]].concat());
    let told: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("error: "))
        .collect();
    let starts = [
        "error: invalid value '99' for '--stall16 ",
        "error: unexpected argument '--sed' found",
        "error: invalid value 'x' for '--max-steps ",
        "error: invalid value '77' for '--p16 ",
    ];
    assert_eq!(told.len(), starts.len(), "{said}");
    for start in starts {
        assert!(
            told.iter().any(|line| line.starts_with(start)),
            "{start}: {said}"
        );
    }
    // An option that depends on a wrong one is not reported, and no option is reported twice.
    let one = reconverge(&["run", "r500", program, "--lanes", "65"]);
    assert_eq!(text(&one.stderr).matches("error: ").count(), 1);
    let missing = reconverge(&["run", "--lanes", "65", "--sed", "4"]);
    assert!(
        !text(&missing.stderr).contains("were not provided"),
        "{}",
        text(&missing.stderr)
    );
}

/// Regression: `cover` had no option for the length of streams, and a program has none.
#[test]
fn a_unit_that_runs_programs_has_no_streams_whose_length_is_set() {
    for command in ["fuzz", "cover"] {
        let said = refusal(&[command, "r500", "--stream-cycles", "20"]);
        let expected = "error: --stream-cycles: r500 runs programs, whose lengths are their own: only streams of pins have one\n";
        assert_eq!(said, expected, "{command}");
    }
}
