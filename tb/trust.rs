//! Nothing wrong passes and nothing found is lost, whatever the RTL does, the disk does, or a scheduler does.

use std::fs;

use reconverge::case::{Case, Flip, SavedCase};
use reconverge::check::check;
use reconverge::dut::Rtl;
use reconverge::failure::Failure;
use reconverge::r500::R500;
use reconverge::report::Waves;

use crate::common::{loaded, program, reconverge_ends};

/// A case of r500 that fails in its PC.
fn spoilt() -> Case<R500> {
    let mut case = Case::<R500>::new(loaded::<R500>("if_else.s"));
    case.flip = Some(Flip {
        field: "pc".to_owned(),
        element: 0,
        bit: 1,
        clock: 6,
    });
    case
}

/// What a person's own test prints is what the command prints, but for the files.
#[test]
fn unwrapping_a_failed_check_prints_the_report() {
    let case = spoilt();
    let rtl = Rtl::own(case.lanes).unwrap();
    let failure = check(&case, &rtl).unwrap_err();
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let program = program::<R500>("if_else.s");
    let out_arg = out.to_str().unwrap();
    let args = [
        "run", "r500", &program, "--flip", "pc.1@6", "--out", out_arg,
    ];
    let printed = reconverge_ends(1, &args);
    let (report, files) = printed.split_once("replay  ").unwrap();
    assert_eq!(failure.to_string(), report);
    assert_eq!(format!("{failure:?}"), format!("\n{report}"));
    let rule = format!("  rule    {}\n", failure.rule().unwrap());
    assert!(report.contains(&rule), "{report}");

    // It is saved as the command saves it, and dumped likewise.
    let own = dir.path().join("own");
    let saved = failure.save(&own).unwrap();
    let name = saved.file_name().unwrap();
    let text = fs::read_to_string(&saved).unwrap();
    assert_eq!(text, fs::read_to_string(out.join(name)).unwrap());
    let again = SavedCase::<R500>::parse(&text, "saved").unwrap();
    assert_eq!((again.case, again.failure), (case, Some(failure.place())));
    let waves = Waves::make(&failure.case, &rtl, Some(&failure), &own).unwrap();
    assert_eq!(
        waves.to_string().replace(own.to_str().unwrap(), out_arg),
        files.split_once('\n').unwrap().1
    );
}

/// A failure crosses processes as it is.
#[test]
fn a_failure_reads_back_as_it_was_written() {
    let case = spoilt();
    let failure = check(&case, &Rtl::own(case.lanes).unwrap()).unwrap_err();
    let text = serde_json::to_string(&failure).unwrap();
    let again: Failure<R500> = serde_json::from_str(&text).unwrap();
    assert_eq!(again.to_string(), failure.to_string());
    assert_eq!(serde_json::to_string(&again).unwrap(), text);
    again.check("text").unwrap();
    let nowhere = text.replace("\"element\":0,\"rtl\"", "\"element\":64,\"rtl\"");
    assert_ne!(nowhere, text);
    let nowhere: Failure<R500> = serde_json::from_str(&nowhere).unwrap();
    let message = nowhere.check("text").unwrap_err().to_string();
    assert_eq!(message, "text: failures: a mismatch in no field");
}
