//! `merge`.

use std::path::PathBuf;

use reconverge::campaign::Shard;
use reconverge::campaign::results;
use reconverge::design::Build;
use reconverge::input::InputError;
use reconverge::unit::Unit;

use super::fuzz::{self, HEADER, Ran, Whole, ran, text, writable_summary, write_summary};
use super::{Commands, Done, Failure, MergeArgs, found, print};

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
    // A campaign for each build of a unit.
    let mut campaigns: Vec<((usize, Build), Vec<PathBuf>)> = Vec::new();
    for file in files {
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
    // As `fuzz` runs them.
    campaigns.sort_by_key(|((unit, build), _)| {
        let mut variants = units[*unit].variants().into_iter();
        (variants.position(|variant| variant == *build), *unit)
    });
    let several = campaigns.len() > 1;
    let row = several && !args.details;
    if row {
        print(HEADER)?;
    }
    let all: Result<Vec<Ran>, Failure> = campaigns
        .iter()
        .map(|((unit, _), files)| units[*unit].merge(files, args, row))
        .collect();
    write_summary(&args.summary, &all?, several)
}

/// Adds up the results of one unit and says what they are.
pub fn unit<U: Unit>(files: &[PathBuf], args: &MergeArgs, row: bool) -> Result<Ran, Failure> {
    let (header, summary) = results::merge::<U>(files)?;
    let (options, whole) = (header.options(), Shard::default());
    print(&match row {
        true => fuzz::row(&summary, &options, whole, &header.build, true),
        false => text(&summary, &options, whole, &header.build, true),
    })?;
    let mut reports = Vec::new();
    for failed in &summary.failures {
        let saved = found::save(&failed.failure, &args.out);
        let report = found::brief(&failed.failure, &saved);
        print(&format!("\n{report}"))?;
        reports.push(report);
    }
    let whole = Whole {
        summary: &summary,
        counted: &summary.failures,
        options: &options,
        shard: whole,
        build: &header.build,
    };
    ran(&whole, &reports, None, None)
}
