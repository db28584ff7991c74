//! A campaign for a test: saved cases run first; the first failing case is shrunk, saved, and run again with a dump.

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use super::{Drawn, Options, Shrunk, Summary, case_on, run};
use reconverge_bench::check::{TestCase, check_with, rtl_for};
use reconverge_bench::design::{Build, Design as _};
use reconverge_bench::dut::Rtl;
use reconverge_bench::failure::{Cause, Failure};
use reconverge_bench::found::Found;
use reconverge_bench::input::{InputError, read_text};
use reconverge_bench::lockstep::Compared;
use reconverge_bench::place::Place;
use reconverge_bench::saved::{Saved, identify};
use reconverge_bench::search::Budget;

/// Runs a campaign in threads of this process. The cases that are saved in `out` run first, each with its own lanes and parameters. The
/// first failing case is shrunk, saved in `out`, and run again with a dump there; without `out` nothing is read or written. Of new cases,
/// the same options find the same, unless the limit is a time.
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
    if let Some(found) = out.and_then(|out| again(options, rtl, out)) {
        return Err(Box::new(found));
    }
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

/// Returns the saved cases in the folder `dir`, by the names of their files, without those that are saved to fail on RTL that is right
/// ([`TestCase::flip`]), and the errors of the files that are of this design and cannot be read or are not legal any more
/// ([`TestCase::illegal`]).
pub fn saved<C: TestCase>(
    dir: &Path,
) -> impl Iterator<Item = (PathBuf, Result<Saved<C>, InputError>)> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json") && path.is_file());
    paths.sort();
    paths.into_iter().filter_map(|path| {
        let text = match read_text(&path) {
            Ok(text) => text,
            Err(why) => return Some((path, Err(why))),
        };
        let file = path.to_string_lossy();
        // Others are files such as a summary, or cases of another design.
        if identify(&text, &file).ok()? != (C::FORM, C::Design::NAME.to_owned()) {
            return None;
        }
        match Saved::<C>::parse(&text, &file) {
            Ok(saved) if saved.case.flip().is_some() => None,
            Ok(saved) => {
                let legal = match saved.case.illegal() {
                    Some(why) => Err(InputError::new(&*file, 0, C::FORM.case(), why)),
                    None => Ok(saved),
                };
                Some((path.clone(), legal))
            }
            wrong => Some((path.clone(), wrong)),
        }
    })
}

/// Runs the cases that are saved in `dir`. Returns the first that fails; says on standard error which did not run.
fn again<C: Drawn>(options: &Options, rtl: &Rtl<C::Design>, dir: &Path) -> Option<Found<C>> {
    saved::<C>(dir).find_map(|(path, case)| {
        let not_run = |why: &dyn std::fmt::Display| {
            // Not by `eprintln`, which a test that passes hides.
            let _ = writeln!(std::io::stderr(), "note: not run again: {why}");
        };
        let saved = case.inspect_err(|why| not_run(why)).ok()?;
        let (judges, before, mut case) = (saved.judges(), saved.failure, saved.case);
        case.on_rtl(options.rtl.as_deref(), rtl.no_assert(), None);
        let on = rtl_for(&case, rtl);
        let on = on.inspect_err(|why| not_run(&format!("{}: {why}", path.display())));
        let on = on.ok()?;
        let failure = match catch_unwind(AssertUnwindSafe(|| check_with(&case, &on, judges))) {
            Ok(judged) => {
                let failure = judged.err()?;
                if let Cause::NotRun(why) = &failure.cause {
                    not_run(&format!("{}: {why}", path.display()));
                    return None;
                }
                failure
            }
            // A file that was saved because of this panic says in which cycle it comes.
            Err(_) => {
                let why = match before {
                    Some(Place::NotRun { how }) => how,
                    _ => "the golden model panics".to_owned(),
                };
                Failure::new(&case, Cause::NotRun(why), Compared::default())
            }
        };
        let text = text(&Shrunk::<C>::new(&failure.case, failure.clone(), 0));
        Some(Found::again(failure, text, &path, |_| Ok(on)))
    })
}

/// Returns a line with the sizes of a case that was made smaller, and the case.
fn text<C: Drawn>(shrunk: &Shrunk<C>) -> String {
    format!("{}:\n{}", shrunk.headline(), shrunk.text())
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
    let as_found = text(&Shrunk::<C>::new(&failure.case, failure.clone(), 0));
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
