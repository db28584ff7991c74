//! Shrinking of findings of a unit's scalar judge.

use crate::r500::R500;
use crate::r500::asm::assemble;
use crate::r500::state::State;
use reconverge_bench::dut::Rtl;
use reconverge_bench::failure::Cause;
use reconverge_campaign::shrink::{Budget, LANES, shrink_by};
use reconverge_program::case::{Case, Place};
use reconverge_program::judges::{Judges, check_on};
use reconverge_program::program::{Records, Verdict};

/// Stands in for a scalar judge with a finding: it disagrees as soon as only some lanes execute an instruction.
fn minds_some(records: &Records<R500>, case: &Case<R500>, _: &State) -> Verdict {
    let all = u64::MAX >> (64 - case.lanes);
    let some = |executes: u64| executes != 0 && executes != all;
    if records.records.iter().any(|r| some(r.executes)) {
        let how = String::new();
        return Verdict::Disagrees { lane: 0, how };
    }
    Verdict::NotStructured(String::new())
}

/// Returns whether the scalar judge finds something in `case`.
fn judged(rtl: &Rtl<R500>, case: &Case<R500>) -> bool {
    let mut dut = rtl.open(case.model_seed()).unwrap();
    let failure = check_on(case, &mut dut, Judges::All, minds_some, &mut ()).unwrap_err();
    matches!(failure.cause, Cause::Judge { .. })
}

#[test]
fn what_only_the_scalar_judge_finds_is_shrunk_too() {
    let text =
        ".int 1 3 0 1\nLOOP i1\nALU c\nIF alu\nALU a\nELSE\nALU b\nENDIF\nENDLOOP\nALU\nOUT\n";
    let mut case = Case::<R500>::new(assemble(text, "judged.s").unwrap());
    case.stall16 = 4;
    let rtl = Rtl::own(case.lanes).unwrap();
    assert!(judged(&rtl, &case));
    let other = |lanes| Ok(Rtl::own(lanes)?);
    let budget = Budget::default();
    let shrunk = shrink_by(&case, &rtl, minds_some, other, &budget, &mut ()).unwrap();
    let place = shrunk.failure.place();
    assert!(matches!(place, Place::ScalarJudge { lane: 0, .. }));
    // A draw, a branch on it, and an instruction that only some lanes execute.
    assert_eq!(shrunk.after.instructions, 3, "{}", shrunk.text());
    let case = &shrunk.failure.case;
    assert_eq!((case.lanes, case.stall16), (LANES, 0));
    assert!(judged(&Rtl::own(LANES).unwrap(), case));
}
