//! `merge`.

use std::path::PathBuf;

use reconverge::campaign::results;
use reconverge::campaign::{Failed, Shard};
use reconverge::design::Build;
use reconverge::input::InputError;

use crate::args::MergeArgs;
use crate::commands::Commands;
use crate::console::{Done, Failure, print};
use crate::failures::{self, groups, reports, shown, tell};
use crate::fuzz::{HEADER, Ran, Shown, Whole, ran};
use crate::report::{Part, ReportArgs};
use crate::shows::Shows;
use crate::summary::{writable_summary, write_summary};
use crate::{found, streams};

pub fn merge(units: &[&dyn Commands], args: &MergeArgs) -> Done {
    writable_summary(&args.summary)?;
    let mut files = Vec::new();
    for path in &args.results {
        let bad = |why: &str| InputError::new(path.to_string_lossy(), 0, "results", why);
        if path.is_dir() {
            let found = results::files(path)?;
            if found.is_empty() {
                let why = format!("no file *.{} in this folder", results::ENDING);
                return Err(bad(&why).into());
            }
            files.extend(found);
        } else {
            files.push(path.clone());
        }
    }
    let campaigns = campaigns(units, files)?;
    let several = campaigns.len() > 1;
    let row = several && !args.details;
    if row {
        print(HEADER)?;
    }
    let all: Result<Vec<Ran>, Failure> = campaigns
        .iter()
        .map(|((unit, _), files)| units[*unit].merge(files, args, row))
        .collect();
    write_summary(&args.summary, &all?, several, None)
}

/// Files of results of one build of a unit: the number of the unit, and the build.
pub type Campaign = ((usize, Build), Vec<PathBuf>);

/// Sorts files of results by campaign, in the order in which `fuzz` runs them.
///
/// # Errors
/// A file has no header, or is of an unknown unit.
pub fn campaigns(units: &[&dyn Commands], files: Vec<PathBuf>) -> Result<Vec<Campaign>, Failure> {
    // One campaign for each build of a unit.
    let mut campaigns: Vec<Campaign> = Vec::new();
    for file in files {
        streams::reads(&file)?;
        let bad = |field: &str, why: &str| InputError::new(file.to_string_lossy(), 0, field, why);
        let Some(header) = results::header(&file)? else {
            return Err(bad("header", "there is nothing in it yet").into());
        };
        let Some(unit) = units.iter().position(|unit| unit.name() == header.unit) else {
            let why = format!("there is no unit {:?}", header.unit);
            return Err(bad("unit", &why).into());
        };
        let of = (unit, header.build);
        match campaigns.iter_mut().find(|(other, _)| *other == of) {
            Some((_, files)) => files.push(file),
            None => campaigns.push((of, vec![file])),
        }
    }
    // In the order of `fuzz`.
    campaigns.sort_by_key(|((unit, build), _)| {
        let mut variants = units[*unit].variants().into_iter();
        (variants.position(|variant| variant == *build), *unit)
    });
    Ok(campaigns)
}

/// Adds up the results of one unit for a page.
pub fn report<C: Shows>(files: &[PathBuf], args: &ReportArgs) -> Result<Part, Failure> {
    let (header, summary) = results::merge::<C>(files)?;
    let (options, shard) = (header.options(), Shard::default());
    let groups = groups(&summary.failures);
    let save = |failed: &Failed<C>| found::save(&failed.failure, &args.out);
    let saved = failures::saved(&summary.failures, &groups, save);
    let whole = Whole {
        summary: &summary,
        counted: &summary.failures,
        options: &options,
        shard,
        build: &header.build,
    };
    let shown = shown(&summary.failures, &saved, &groups, None);
    Ok(Part::new(&whole, summary.given_up().is_none(), shown))
}

/// Adds up the results of one unit and prints them.
pub fn unit<C: Shows>(files: &[PathBuf], args: &MergeArgs, row: bool) -> Result<Ran, Failure> {
    let (header, summary) = results::merge::<C>(files)?;
    let (options, whole) = (header.options(), Shard::default());
    let failed = !summary.failures.is_empty();
    let details = args.details;
    let said = Shown { row, details }.text(&summary, &options, whole, &header.build, true);
    // As in `fuzz`.
    let last = failed && !row;
    if !last {
        print(&said)?;
    }
    let groups = groups(&summary.failures);
    let save = |failed: &Failed<C>| found::save(&failed.failure, &args.out);
    let saved = failures::saved(&summary.failures, &groups, save);
    let mut reports = reports(&summary.failures, &saved, &groups);
    if row && failed {
        print("\n")?;
    }
    tell(&summary.failures, &saved, &groups, &mut reports, None)?;
    if last {
        print(&format!("\n{said}"))?;
    }
    let whole = Whole {
        summary: &summary,
        counted: &summary.failures,
        options: &options,
        shard: whole,
        build: &header.build,
    };
    let shown = match args.summary.html {
        Some(_) => shown(&summary.failures, &saved, &groups, None),
        None => Vec::new(),
    };
    ran(&whole, &reports, None, None, shown)
}
