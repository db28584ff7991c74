//! What a verdict says: a flip that never came is not agreement, a limit that was not reached ended nothing, and a failing case
//! names the RTL on which it failed.

use std::fs;

use reconverge::case::{Case, Conditions};
use reconverge::check::check;
use reconverge::dut::Rtl;
use reconverge::failure::Cause;
use reconverge::r500::R500;
use serde_json::json;

use super::spoilt;
use crate::common::rtl::Rtl as Folder;
use crate::common::{arg, loaded, program, reconverge_ends};

#[test]
fn a_bit_that_was_not_flipped_is_no_agreement() {
    let case = spoilt();
    let rtl = Rtl::own(case.lanes).unwrap();
    let why = |change: fn(&mut Case<R500>)| {
        let mut case = case.clone();
        change(&mut case);
        match check(&case, &rtl).unwrap_err().cause {
            Cause::NotRun(why) => why,
            _ => panic!("it ran"),
        }
    };
    let mut same = case.clone();
    same.flip = None;
    let cycles = check(&same, &rtl).unwrap().compared.cycles;
    assert_eq!(
        why(|case| case.flip.as_mut().unwrap().cycle = 5000),
        format!("the run ended after {cycles} cycles, cycle 5000 never came")
    );
    let unknown = why(|case| case.flip.as_mut().unwrap().field = "nothing".to_owned());
    assert!(
        unknown.starts_with("r500.if_else.1: flip: no field nothing; there are "),
        "{unknown}"
    );
    let bit = why(|case| case.flip.as_mut().unwrap().bit = 10);
    assert_eq!(
        bit,
        "r500.if_else.1: flip: pc has 10 bits: the bit must be below 10, not 10"
    );
}

#[test]
fn a_program_that_ends_with_the_last_instruction_it_may_execute_has_ended() {
    let mut case = Case::<R500>::new(loaded::<R500>("if_else.s"));
    case.conditions = Conditions::Drawn { p16: 8 };
    let rtl = Rtl::own(case.lanes).unwrap();
    let steps = check(&case, &rtl).unwrap().compared.steps;
    for (most, limited) in [(steps - 1, true), (steps, false), (steps + 1, false)] {
        case.max_steps = most;
        let agreed = check(&case, &rtl).unwrap();
        assert_eq!(agreed.step_limit, limited, "{most} of {steps}");
    }
}

#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_failing_case_names_the_rtl_on_which_it_failed() {
    let copy = Folder::own("r500").copy().without_assertions();
    copy.change(("r500_vote.sv", "agreed & ~|held", "agreed"));
    let rtl = Rtl::<R500>::of(4, copy.dir()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let failure = (0..)
        .find_map(|number| {
            let case = reconverge::campaign::case::<R500>(1, number, &4.into()).1;
            check(&case, &rtl).err()
        })
        .unwrap();
    assert_eq!(failure.case.rtl.as_deref(), Some(copy.dir()));
    let saved = failure.save(dir.path()).unwrap();
    let replayed = reconverge_ends(1, &["replay", arg(&saved), "--rtl", copy.arg()]);
    assert!(replayed.starts_with("MISMATCH r500."), "{replayed}");
}

/// An impossible answer from a worker: the RTL writes to the socket of its process.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn an_answer_with_impossible_values_is_a_crash_of_the_rtl() {
    let mut case = spoilt();
    case.lanes = 4;
    case.launch_mask = 0xf;
    let rtl = Rtl::<R500>::own(4).unwrap();
    let failure = check(&case, &rtl).unwrap_err();
    let mut answer = json!({ "Judged": { "Ok": { "Err": failure } } });
    let possible = answer.to_string();
    answer["Judged"]["Ok"]["Err"]["cause"]["mismatch"]["diffs"] = json!([]);
    let no_field = answer.to_string();
    let no_lanes = possible.replace("\"lanes\":4", "\"lanes\":0");
    for (answer, says) in [
        (no_field, "CRASHED r500.if_else.1"),
        (no_lanes, "CRASHED r500.if_else.1"),
        (possible, "MISMATCH r500.if_else.1"),
    ] {
        let copy = Folder::own("r500").copy();
        let list = copy.dir().join("r500.f");
        let files = fs::read_to_string(&list).unwrap();
        fs::write(&list, files + "\nanswers.cpp\n").unwrap();
        let line = serde_json::to_string(&(answer + "\n")).unwrap();
        let code = format!(
            "#include <sys/stat.h>\n#include <unistd.h>\n\
             __attribute__((constructor)) static void answer() {{\n  static const char line[] = {line};\n  \
             for (int fd = 0; fd < 64; ++fd) {{\n    struct stat is;\n    \
             if (fstat(fd, &is) == 0 && S_ISSOCK(is.st_mode)) {{\n      \
             if (write(fd, line, sizeof line - 1) < 0) return;\n      return;\n    }}\n  }}\n}}\n"
        );
        fs::write(copy.dir().join("answers.cpp"), code).unwrap();
        let program = program::<R500>("if_else.s");
        let out = tempfile::tempdir().unwrap();
        let run = ["run", "r500", &program, "--lanes", "4", "--rtl", copy.arg()];
        let said = reconverge_ends(1, &[&run[..], &["--out", arg(out.path())]].concat());
        assert!(said.starts_with(says), "{says}\n{said}");
    }
}
