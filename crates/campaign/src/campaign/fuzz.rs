//! A campaign for a test: the first failing case is shrunk, saved, and run again with a dump.

use std::path::Path;

use super::{Drawn, Options, Shrunk, Summary, case_on, run};
use reconverge_bench::check::rtl_for;
use reconverge_bench::design::Build;
use reconverge_bench::dut::Rtl;
use reconverge_bench::failure::{Cause, Failure};
use reconverge_bench::found::Found;
use reconverge_bench::lockstep::Compared;
use reconverge_bench::stream::shrink::Budget;

/// Runs a campaign in threads of this process. The first failing case is shrunk, saved in `out`, and run again with a dump
/// there; without `out` nothing is written. The same options find the same case, unless the limit is a time.
///
/// # Errors
/// A case failed; the golden model panics, a model cannot be opened, or nothing was compared ([`Cause::NotRun`]).
pub fn fuzz<C: Drawn>(
    rtl: &Rtl<C::Design>,
    options: &Options,
    out: Option<&Path>,
) -> Result<Summary<C>, Box<Found<C>>> {
    fuzz_within(rtl, options, out, &Budget::default())
}

/// Does the same as [`fuzz`], with a budget for shrinking.
///
/// # Errors
/// As [`fuzz`].
pub fn fuzz_within<C: Drawn>(
    rtl: &Rtl<C::Design>,
    options: &Options,
    out: Option<&Path>,
    budget: &Budget,
) -> Result<Summary<C>, Box<Found<C>>> {
    let not_run = |why| {
        let first = case_on::<C>(options, rtl, 0).unwrap_or_else(|failure| *failure.case);
        let failure = Failure::new(&first, Cause::NotRun(why), Compared::default());
        // There is no case to blame.
        Box::new(found_within(failure, rtl, None, budget))
    };
    let mut summary = run(options, rtl, |_| ()).map_err(not_run)?;
    if !summary.failures.is_empty() {
        let failure = summary.failures.swap_remove(0).failure;
        return Err(Box::new(found_within(failure, rtl, out, budget)));
    }
    match summary.compared.cycles {
        0 => Err(not_run("nothing was compared".to_owned())),
        _ => Ok(summary),
    }
}

/// Makes of a failing case what [`fuzz`] returns of one: shrinks it, saves it in `out`, and runs it again with a dump there.
/// `rtl` is the RTL on which it failed. For a test that judges cases of its own.
pub fn found<C: Drawn>(failure: Failure<C>, rtl: &Rtl<C::Design>, out: Option<&Path>) -> Found<C> {
    found_within(failure, rtl, out, &Budget::default())
}

/// Does the same as [`found`], with a budget for shrinking.
pub fn found_within<C: Drawn>(
    failure: Failure<C>,
    rtl: &Rtl<C::Design>,
    out: Option<&Path>,
    budget: &Budget,
) -> Found<C> {
    let text = |shrunk: &Shrunk<C>| format!("{}:\n{}", shrunk.headline(), shrunk.text());
    let as_found = text(&Shrunk::new(&failure.case, failure.clone(), 0));
    let smaller = |failure: &Failure<C>| {
        let other = |lanes| {
            let build = rtl.build().clone();
            Ok(rtl.rebuilt(Build { lanes, ..build })?)
        };
        let shrunk = C::shrink(failure, rtl, &other, budget, &mut ())?;
        let text = text(&shrunk);
        Ok((shrunk.failure, text))
    };
    Found::of(failure, as_found, out, smaller, |case| rtl_for(case, rtl))
}
