//! A campaign for a test: the first failing case is shrunk, saved, and run again with a dump.

use std::path::Path;

use super::{Options, Summary, case, run};
use crate::case::{Case, SavedCase};
use crate::check::{Judged, check};
use crate::design::Build;
use crate::dut::Rtl;
use crate::failure::{Cause, Failure};
use crate::found::Found;
use crate::grammar::Campaign;
use crate::input::{InputError, read_text};
use crate::lockstep::Compared;
use crate::program::Programs;
use crate::shrink::{Budget, Shrunk, shrink};

/// Runs a campaign in threads of this process. The first failing case is shrunk, saved in `out`, and run again with a dump
/// there; without `out` nothing is written. The same options find the same case, unless the limit is a time.
///
/// # Errors
/// A case failed; a model cannot be opened, or nothing was compared ([`Cause::NotRun`]).
pub fn fuzz<U: Campaign>(
    rtl: &Rtl<U>,
    options: &Options,
    out: Option<&Path>,
) -> Result<Summary<U>, Box<Found<Case<U>>>> {
    let not_run = |why| {
        let (_, first) = case::<U>(options.seed, 0, rtl.build());
        let failure = Failure::new(&first, Cause::NotRun(why), Compared::default());
        Box::new(found(failure, rtl, out))
    };
    let mut summary = run(options, rtl, |_| ()).map_err(not_run)?;
    if !summary.failures.is_empty() {
        let failure = summary.failures.swap_remove(0).failure;
        return Err(Box::new(found(failure, rtl, out)));
    }
    match summary.compared.cycles {
        0 => Err(not_run("nothing was compared".to_owned())),
        _ => Ok(summary),
    }
}

/// Makes of a failing case what [`fuzz`] returns of one: shrinks it, saves it in `out`, and runs it again with a dump there.
/// `rtl` is the RTL on which it failed. For a test that judges cases of its own.
pub fn found<U: Campaign>(
    failure: Failure<Case<U>>,
    rtl: &Rtl<U>,
    out: Option<&Path>,
) -> Found<Case<U>> {
    let case = Case::clone(&failure.case);
    let text = |shrunk: &Shrunk<U>| format!("{}:\n{}", shrunk.headline(), shrunk.text());
    let as_found = text(&Shrunk::new(&case, failure.clone(), 0));
    let smaller = |_: &_| {
        let other = |lanes| {
            let build = rtl.build().clone();
            Ok(rtl.rebuilt(Build { lanes, ..build })?)
        };
        let shrunk = shrink(&case, rtl, other, &Budget::default(), &mut ())?;
        let text = text(&shrunk);
        Ok((shrunk.failure, text))
    };
    Found::of(failure, as_found, out, smaller, |case| for_case(case, rtl))
}

/// Returns `rtl` with the lanes, parameters and mutant of `case`: a shrunk case may have fewer lanes than the original.
fn for_case<U: Programs>(case: &Case<U>, rtl: &Rtl<U>) -> Result<Rtl<U>, String> {
    let rtl = match case.build() == *rtl.build() {
        true => rtl.clone(),
        false => rtl.rebuilt(case.build())?,
    };
    Ok(match case.mutant {
        Some(number) => rtl.mutant(number),
        None => rtl,
    })
}

/// Reads a saved case and runs it again on `rtl`, with the lanes and parameters of the case.
///
/// # Errors
/// Outer: the file cannot be read, or is not a case of `U`. Inner: the failure of the case.
pub fn replay<U: Programs>(file: &Path, rtl: &Rtl<U>) -> Result<Judged<Case<U>>, InputError> {
    let text = read_text(file)?;
    let saved = SavedCase::<U>::parse(&text, &file.to_string_lossy())?;
    let not_run = |why| Failure::new(&saved.case, Cause::NotRun(why), Compared::default());
    Ok(for_case(&saved.case, rtl)
        .map_err(not_run)
        .and_then(|rtl| check(&saved.case, &rtl)))
}
