//! A campaign for a test: saved cases run first; the first failing case is shrunk, saved, and run again with a dump.

use std::convert::Infallible;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use super::{Drawn, Options, Shrunk, Summary, case_on, run};
use crate::cover::Bins as _;
use reconverge_bench::check::{Judged, TestCase, check_with, rtl_for};
use reconverge_bench::design::{Build, Design as _};
use reconverge_bench::dut::Rtl;
use reconverge_bench::failure::{Cause, Failure};
use reconverge_bench::found::Found;
use reconverge_bench::input::{InputError, read_text};
use reconverge_bench::lockstep::Compared;
use reconverge_bench::place::Place;
use reconverge_bench::saved::{Saved, identify};
use reconverge_bench::search::SHRUNK;
use reconverge_bench::stream::MAX_CYCLES;
use reconverge_program::judges::NOT_STRUCTURED;

/// Runs a campaign in threads of this process. The cases that are saved in [`Options::out`] run first, each with its own lanes and
/// parameters. The first failing case is shrunk, saved there, and run again with a dump. Of new cases, the same options find the same,
/// unless the limit is a time. If all streams of pins agree, prints a warning for each gap ([`Summary::gaps`]).
///
/// # Errors
/// A case failed; the golden model panics, a model cannot be opened, or nothing was compared ([`Cause::NotRun`]).
///
/// # Panics
/// The seed or the number of jobs is 0, or a stream would have no cycle or more than [`MAX_CYCLES`].
pub fn fuzz<C: Drawn>(
    rtl: &Rtl<C::Design>,
    options: &Options,
) -> Result<Summary<C>, Box<Found<C>>> {
    assert!(
        options.seed > 0 && options.jobs > 0,
        "the seed and the number of jobs must be at least 1"
    );
    assert!(
        (1..=MAX_CYCLES).contains(&options.cycles),
        "a stream must have 1 to {MAX_CYCLES} cycles"
    );
    let not_run = |why| {
        let first = case_on::<C>(options, rtl, 0).unwrap_or_else(|failure| *failure.case);
        let failure = Failure::new(&first, Cause::NotRun(why), Compared::default());
        // There is no case to blame.
        let unsaved = Options {
            out: None,
            ..options.clone()
        };
        Box::new(found(failure, rtl, &unsaved))
    };
    if let Some(found) = options
        .out
        .as_ref()
        .and_then(|out| again(options, rtl, out))
    {
        return Err(Box::new(found));
    }
    let mut summary = run::<C>(options, rtl, |_| ()).map_err(not_run)?;
    if !summary.failures.is_empty() {
        let failure = summary.failures.swap_remove(0).failure;
        return Err(Box::new(found(failure, rtl, options)));
    }
    if summary.compared.cycles == 0 {
        return Err(not_run("nothing was compared".to_owned()));
    }
    // Programs need not meet everything in a short campaign.
    if !C::EXECUTES {
        for gap in summary.gaps(&C::Bins::new(rtl.build())) {
            tell(&format!("{}: {}: {gap}", C::GAP, C::Design::NAME));
        }
    }
    Ok(summary)
}

/// Writes a line to standard error, not by `eprintln`, which a test that passes hides. If it cannot be written, the result is the same.
fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Returns the saved cases in the folder `dir`: those that were shrunk, then the others, in the order of the names of their files. Cases that
/// are saved to fail on RTL that is right ([`TestCase::flip`]) are left out. A file of this design that cannot be read, or whose case is
/// not legal any more ([`TestCase::illegal`]), is an error.
pub fn saved<C: TestCase>(
    dir: &Path,
) -> impl Iterator<Item = (PathBuf, Result<Saved<C>, InputError>)> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json") && path.is_file());
    // The first that fails is reported, and a small one is easier to read.
    let shrunk = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".shrunk.json") || name.contains("-shrunk.")
    };
    paths.sort_by_cached_key(|path| (!shrunk(path), path.clone()));
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
                    Some(why) => {
                        let why = format!("{why}; delete the file, if that is right");
                        Err(InputError::new(&*file, 0, C::FORM.case(), why))
                    }
                    None => Ok(saved),
                };
                Some((path.clone(), legal))
            }
            wrong => Some((path.clone(), wrong)),
        }
    })
}

/// The file of a saved case, and its failure.
pub type StillFails<C> = (PathBuf, Failure<C>);

/// Runs the cases that are saved in `dir`, up to the first that fails. `judge` runs one; its inner error says why it could not, which
/// `note` gets. Returns the number of cases that agree, and the file and failure of the one that fails.
///
/// # Errors
/// The outer error of `judge`.
pub fn saved_agree<C: TestCase, E>(
    dir: &Path,
    note: impl Fn(&str),
    mut judge: impl FnMut(Saved<C>) -> Result<Result<Judged<C>, String>, E>,
) -> Result<(u64, Option<StillFails<C>>), E> {
    let mut agreed = 0;
    for (path, case) in saved::<C>(dir) {
        let judged = match case.map(&mut judge) {
            Ok(judged) => judged?.map_err(|why| format!("{}: {why}", path.display())),
            Err(why) => Err(why.to_string()),
        };
        match judged {
            Ok(Ok(_)) => agreed += 1,
            Ok(Err(failure)) => return Ok((agreed, Some((path, failure)))),
            Err(why) => note(&format!("note: not run again: {why}")),
        }
    }
    Ok((agreed, None))
}

/// Runs the cases that are saved in `dir`. Returns the first that fails; says on standard error which did not run.
fn again<C: Drawn>(options: &Options, rtl: &Rtl<C::Design>, dir: &Path) -> Option<Found<C>> {
    let judge = |saved: Saved<C>| {
        let (judges, before, mut case) = (saved.judges(), saved.failure, saved.case);
        case.on_rtl(options.rtl.as_deref(), rtl.no_assert(), None);
        let on = match rtl_for(&case, rtl) {
            Ok(on) => on,
            Err(why) => return Ok(Err(why)),
        };
        let judged = catch_unwind(AssertUnwindSafe(|| check_with(&case, &on, judges)));
        Ok(match judged {
            Ok(judged) => ran(judged),
            // A file that was saved because of this panic says in which cycle it comes.
            Err(_) => {
                let why = match before {
                    Some(Place::NotRun { how }) => how,
                    _ => "the golden model panics".to_owned(),
                };
                let cause = Cause::NotRun(why);
                Ok(Err(Failure::new(&case, cause, Compared::default())))
            }
        })
    };
    let Ok((_, failed)) = saved_agree::<C, Infallible>(dir, tell, judge);
    let (path, failure) = failed?;
    let mut text =
        still_fails(&path, &failure) + &text(&Shrunk::<C>::new(&failure.case, failure.clone(), 0));
    if !failure.case.name().contains(SHRUNK) && !failure.lost() {
        let path = path.display();
        text += &format!("shrink  with the command of the design: replay {path} --shrink\n");
    }
    Some(Found::again(failure, text, &path, |case| {
        rtl_for(case, rtl)
    }))
}

/// Returns what is said of a saved case that still fails: its file; and of a program that the scalar judge refuses, what to do if neither RTL
/// nor a model is wrong.
pub fn still_fails<C: TestCase>(path: &Path, failure: &Failure<C>) -> String {
    let why = match &failure.cause {
        Cause::Judge { how, .. } if how.starts_with(NOT_STRUCTURED) => {
            "; delete it if the generator or the table of words was wrong when it was drawn"
        }
        _ => "",
    };
    format!("{} still fails{why}\n", path.display())
}

/// Returns what [`saved_agree`] expects of a case that was judged: why it did not run, if it did not.
pub fn ran<C: TestCase>(judged: Judged<C>) -> Result<Judged<C>, String> {
    match judged {
        Err(Failure {
            cause: Cause::NotRun(why),
            ..
        }) => Err(why),
        judged => Ok(judged),
    }
}

/// Returns a line with the sizes of a case that was made smaller, and the case.
fn text<C: Drawn>(shrunk: &Shrunk<C>) -> String {
    format!("{}:\n{}", shrunk.headline(), shrunk.text())
}

/// Makes of a failing case what [`fuzz`] returns of one: shrinks it, saves it, and runs it again with a dump. `rtl` is the RTL on which
/// it failed. For a test that judges cases of its own.
pub fn found<C: Drawn>(failure: Failure<C>, rtl: &Rtl<C::Design>, options: &Options) -> Found<C> {
    let as_found = text(&Shrunk::<C>::new(&failure.case, failure.clone(), 0));
    let smaller = |failure: &Failure<C>| {
        let other = |lanes| {
            let build = rtl.build().clone();
            Ok(rtl.rebuilt(Build { lanes, ..build })?)
        };
        let shrunk = C::shrink(failure, rtl, &other, &options.budget, &mut ())?;
        let text = text(&shrunk);
        Ok((shrunk.failure, text))
    };
    let out = options.out.as_deref();
    Found::of(failure, as_found, out, smaller, |case| rtl_for(case, rtl))
}
