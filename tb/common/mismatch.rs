//! How a test ends in which the RTL of a unit disagrees with its judges: as `fuzz` does. The case is saved, shrunk, and run again
//! with a dump, in a folder of the test; the message of the test is the report, the paths, and the line that replays the case.

use reconverge::assembly::Assembly as _;
use reconverge::campaign::{self, Options, Summary};
use reconverge::case::Case;
use reconverge::check::{TestCase as _, by_lockstep};
use reconverge::dut::{Dut, Make, Rtl};
use reconverge::failure::{Cause, Failure};
use reconverge::lockstep::Outcome;
use reconverge::stimulus;
use reconverge::unit::{Campaign, Records, Verdict};
use reconverge::watch::Watch;

use super::failed::{folder, text};

/// Runs `case` on `dut`, where RTL and golden model must agree; `watch` observes the run.
pub fn agreed<U: Campaign>(
    case: &Case<U>,
    dut: &mut Dut<U>,
    watch: &mut impl Watch<U>,
    at: &str,
) -> Outcome<U> {
    let ran = stimulus::run(case, dut, &mut case.golden(), watch);
    if ran.mismatch.is_none() && ran.stopped.is_none() {
        return ran;
    }
    match by_lockstep(case, ran) {
        Err(failure) => fails(failure, dut, at),
        Ok(_) => unreachable!("a run that failed"),
    }
}

/// Returns how many lanes and instructions the scalar judge compared in a run that agreed; `None` if it cannot tell, which is
/// allowed only for programs with `may_be_unjudged`. The judges of r500 and r700 also compare lanes that are not launched.
pub fn judged<U: Campaign>(
    case: &Case<U>,
    dut: &Dut<U>,
    (ran, records): (&Outcome<U>, &Records<U>),
    may_be_unjudged: bool,
    at: &str,
) -> Option<(u32, u64)> {
    let (lane, how) = match records.judge(case, &ran.end) {
        Verdict::Agrees {
            lanes,
            instructions,
        } if lanes == case.lanes || lanes == case.launch_mask.count_ones() => {
            return Some((lanes, instructions));
        }
        Verdict::NotStructured(_) if may_be_unjudged => return None,
        Verdict::Disagrees { lane, how } => (lane, how),
        other => panic!("{at}: {other:?}\n{}", case.program.to_text()),
    };
    let cause = Cause::Judge { lane, how };
    fails(Failure::new(case, cause, ran.compared), dut, at)
}

/// Runs a campaign that must agree.
pub fn campaign<U: Campaign>(options: &Options, rtl: &Rtl<U>) -> Summary<Case<U>> {
    let run = campaign::fuzz::<Case<U>>(rtl, &options.clone().out(folder()));
    run.unwrap_or_else(|found| panic!("\n{}", text(&found, found.failure.case.rtl.as_deref())))
}

/// Ends the test with all that is known about the failure of a case on `dut`.
pub fn fails<U: Campaign>(mut failure: Failure<Case<U>>, dut: &Dut<U>, at: &str) -> ! {
    let origin = dut.origin();
    let mut make = Make::of(origin.rtl.as_deref());
    make.assertions &= !origin.no_assert;
    failure.case.ran_on(origin);
    let first = failure.message();
    let rtl = Rtl::make(failure.case.build(), &make).unwrap();
    let found = campaign::found(failure, &rtl, &Options::default().out(folder()));
    let text = text(&found, found.failure.case.rtl.as_deref());
    panic!("{at}: {first}\n\n{text}")
}
