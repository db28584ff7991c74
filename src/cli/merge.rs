//! `merge`.

use std::path::PathBuf;

use reconverge::campaign::Shard;
use reconverge::campaign::results;
use reconverge::input::InputError;
use reconverge::unit::{Build, Unit};

use super::fuzz::{Ran, ran, text, writable_summary, write_summary};
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
    let mut of_units: Vec<(&dyn Commands, Vec<PathBuf>)> =
        units.iter().map(|unit| (*unit, Vec::new())).collect();
    for file in files {
        let bad = |field: &str, why: &str| InputError::new(file.to_string_lossy(), 0, field, why);
        let Some(header) = results::header(&file)? else {
            return Err(bad("header", "there is nothing in it yet").into());
        };
        let unit = of_units
            .iter_mut()
            .find(|(unit, _)| unit.name() == header.unit);
        match unit {
            Some((_, files)) => files.push(file),
            None => {
                let why = format!("there is no unit {:?}", header.unit);
                return Err(bad("unit", &why).into());
            }
        }
    }
    of_units.retain(|(_, files)| !files.is_empty());
    let all: Result<Vec<Ran>, Failure> = of_units
        .iter()
        .map(|(unit, files)| unit.merge(files, args))
        .collect();
    write_summary(&args.summary, &all?, of_units.len() > 1)
}

/// Adds up the results of one unit and says what they are.
pub fn unit<U: Unit>(files: &[PathBuf], args: &MergeArgs) -> Result<Ran, Failure> {
    let (header, summary) = results::merge::<U>(files)?;
    let (options, whole) = (header.options(), Shard::default());
    let usual = header.build == Build::from(U::LANES) && summary.given_up().is_none();
    print(&text(&summary, &options, whole, usual))?;
    let mut reports = Vec::new();
    for failed in &summary.failures {
        let saved = found::save(&failed.failure, &args.out);
        let report = found::brief(&failed.failure, &saved);
        print(&format!("\n{report}"))?;
        reports.push(report);
    }
    ran(&summary, &options, whole, &reports, None, None)
}
