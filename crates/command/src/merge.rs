//! `merge`.

use std::path::PathBuf;

use reconverge::campaign::{Failed, Options, Shard, Summary, results};
use reconverge::design::Build;

use crate::args::{MergeArgs, ReportArgs};
use crate::console::{Failure, print};
use crate::failures::{self, groups, reports, shown, tell};
use crate::found;
use crate::page::Part;
use crate::ran::{Ran, ran};
use crate::shows::Shows;
use crate::whole::{Shown, Whole};

/// Returns the campaign whose shards add up to `summary`.
fn merged<'a, C: Shows>(
    summary: &'a Summary<C>,
    options: &'a Options,
    build: &'a Build,
) -> Whole<'a, C> {
    Whole {
        summary,
        counted: &summary.failures,
        options,
        shard: Shard::default(),
        build,
        ended: true,
    }
}

/// Adds up the results of one unit for a page.
pub fn report<C: Shows>(files: &[PathBuf], args: &ReportArgs) -> Result<Part, Failure> {
    let (header, summary) = results::merge::<C>(files)?;
    let options = header.options();
    let groups = groups(&summary.failures);
    let save = |failed: &mut Failed<C>| found::save_new(&mut failed.failure, &args.out);
    let mut failures = summary.failures.clone();
    let saved = failures::saved(&mut failures, &groups, save);
    let whole = merged(&summary, &options, &header.build);
    let shown = shown(&failures, &saved, &groups, None);
    Ok(Part::new(&whole, summary.given_up().is_none(), shown))
}

/// Adds up the results of one unit and prints them.
pub fn unit<C: Shows>(files: &[PathBuf], args: &MergeArgs, row: bool) -> Result<Ran, Failure> {
    let (header, summary) = results::merge::<C>(files)?;
    let options = header.options();
    let whole = merged(&summary, &options, &header.build);
    let failed = !summary.failures.is_empty();
    let details = args.details;
    let said = whole.text(Shown { row, details });
    // As in `fuzz`.
    let last = failed && !row;
    if !last {
        print(&said)?;
    }
    let groups = groups(&summary.failures);
    let save = |failed: &mut Failed<C>| found::save_new(&mut failed.failure, &args.out);
    let mut failures = summary.failures.clone();
    let saved = failures::saved(&mut failures, &groups, save);
    let mut reports = reports(&failures, &saved, &groups);
    if row && failed {
        print("\n")?;
    }
    tell(&failures, &saved, &groups, &mut reports, None)?;
    if last {
        print(&format!("\n{said}"))?;
    }
    let shown = match args.summary.html {
        Some(_) => shown(&failures, &saved, &groups, None),
        None => Vec::new(),
    };
    ran(&whole, &reports, None, None, shown)
}
