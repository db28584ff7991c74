//! Verdicts on cases of a unit.

use crate::r500::{R500, asm::assemble, state::State};
use reconverge_bench::check::{by_lockstep, check};
use reconverge_bench::dut::Rtl;
use reconverge_bench::field::Flip;
use reconverge_program::case::Case;
use reconverge_program::judges::{Judge, Judges, Scalar, check_on};
use reconverge_program::program::{Records, Verdict};
use reconverge_program::stimulus;

fn disagrees(_: &Records<R500>, _: &Case<R500>, _: &State) -> Verdict {
    let how = "it strays".to_owned();
    Verdict::Disagrees { lane: 3, how }
}

fn cannot_tell(_: &Records<R500>, _: &Case<R500>, _: &State) -> Verdict {
    Verdict::NotStructured("a maze".to_owned())
}

/// Judges a program on which RTL and golden agree, with `judge` as the scalar judge.
fn judged(judges: Judges, judge: Judge<R500>, flip: Option<Flip>) -> Result<Scalar, String> {
    let program = assemble("ALU c\nIF alu\nALU a\nENDIF\nOUT\n", "judged.s").unwrap();
    let mut case = Case::<R500>::new(program);
    case.lanes = 4;
    case.launch_mask = 15;
    case.flip = flip;
    let mut dut = Rtl::own(4).unwrap().open(1).unwrap();
    match check_on(&case, &mut dut, judges, judge, &mut ()) {
        Ok(agreed) => Ok(agreed.scalar),
        Err(failure) => Err(format!("{}: {}", failure.kind(), failure.message())),
    }
}

#[test]
fn the_scalar_judge_is_asked_as_the_caller_wants() {
    let ask = |judges, judge| judged(judges, judge, None);
    assert_eq!(ask(Judges::LockStep, disagrees), Ok(Scalar::NotAsked));
    let strays = Err("scalar-judge: lane 3: it strays".to_owned());
    assert_eq!(ask(Judges::All, disagrees), strays);
    assert_eq!(ask(Judges::Structured, disagrees), strays);
    let maze = Ok(Scalar::CannotTell("a maze".to_owned()));
    assert_eq!(ask(Judges::All, cannot_tell), maze);
    let broken = Err("scalar-judge: lane 0: not structured: a maze".to_owned());
    assert_eq!(ask(Judges::Structured, cannot_tell), broken);
    let agrees = ask(Judges::Structured, Records::judge);
    assert!(
        matches!(agrees, Ok(Scalar::Agrees { lanes: 4, .. })),
        "{agrees:?}"
    );
}

#[test]
fn a_mismatch_counts_before_what_the_scalar_judge_says() {
    let flip = Flip {
        field: "pc".to_owned(),
        element: 0,
        bit: 0,
        cycle: 6,
    };
    let found = judged(Judges::All, disagrees, Some(flip)).unwrap_err();
    assert!(found.starts_with("mismatch: cycle 6: pc[0] is "), "{found}");
}

#[test]
fn what_stops_the_rtl_counts_before_a_mismatch() {
    let program = assemble("ALU c\nOUT\n", "judged.s").unwrap();
    let mut case = Case::<R500>::new(program);
    case.flip = Some(Flip {
        field: "pc".to_owned(),
        element: 0,
        bit: 0,
        cycle: 4,
    });
    let mut dut = Rtl::own(case.lanes).unwrap().open(1).unwrap();
    let mut ran = stimulus::run(&case, &mut dut, &mut case.golden(), &mut ());
    assert!(ran.mismatch.is_some());
    let why = "$stop".to_owned();
    ran.stopped = Some(reconverge_bench::lockstep::Stopped { cycle: 4, why });
    let failure = by_lockstep(&case, ran).unwrap_err();
    assert_eq!((failure.kind(), failure.cycle()), ("stopped", 4));
}

/// A verdict without a comparison is not a pass.
#[test]
fn a_case_that_launches_nothing_is_no_pass() {
    let program = assemble("OUT\n", "judged.s").unwrap();
    let mut case = Case::<R500>::new(program);
    let rtl = Rtl::own(case.lanes).unwrap();
    check(&case, &rtl).unwrap();
    case.noise_cycles = Some(1);
    let failure = check(&case, &rtl).unwrap_err();
    assert_eq!(failure.kind(), "not-run", "{failure}");
}
