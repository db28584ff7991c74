//! `fuzz`, `merge` and `report`: the campaigns of several designs.

use std::collections::BTreeSet;
use std::path::PathBuf;

use reconverge::campaign::results;
use reconverge::design::Build;
use reconverge::input::InputError;
use reconverge::show::page::Heading;

use crate::args::{FuzzArgs, MergeArgs, ReportArgs, Which, no_streams, workers};
use crate::commands::Commands;
use crate::console::{Done, Failure, Status, print, tell as tell_why};
use crate::fuzz;
use crate::guests::unknown;
use crate::junit;
use crate::page::{Further, Part, heading, page};
use crate::ran::Ran;
use crate::report::{json, json_files};
use crate::streams::{self, writable, write_whole};
use crate::summary::{publish, writable_summary, write_summary};
use crate::variants::{self, Variant};
use crate::whole::HEADER;

/// Runs the campaigns of `units` in turn, then those of their variants, and writes their results.
pub fn fuzz(units: &[&'static dyn Commands], args: &FuzzArgs) -> Done {
    writable_summary(&args.summary)?;
    if args.stream_cycles.is_some()
        && let Some(unit) = units.iter().find(|unit| unit.known().programs.is_some())
    {
        return Err(no_streams(unit.name()).into());
    }
    let which = args.which(units.len() > 1)?;
    let variants: Vec<Variant> = (units.iter())
        .flat_map(|unit| which.of(*unit).map(|build| (*unit, build)))
        .collect();
    if variants.is_empty() && matches!(args.variants, Some(Which::One | Which::All)) {
        let names: Vec<&str> = units.iter().map(|unit| unit.name()).collect();
        let have = if names.len() == 1 { "has" } else { "have" };
        let why = format!("{} {have} no variants", names.join(", "));
        return Err(InputError::option("--variants", why).into());
    }
    let several = units.len() + variants.len() > 1;
    let row = several && !args.details;
    let mut all: Vec<Ran> = Vec::new();
    let defaults = units.iter().map(|unit| (*unit, None));
    let plan = defaults.chain(variants.iter().map(|(unit, build)| (*unit, Some(build))));
    let mut failed_again = false;
    for unit in units {
        if unit.again(args)? == Status::Failed {
            failed_again = true;
        }
    }
    if failed_again && !args.keep_going {
        let why = "a saved case still fails: no new one was drawn";
        let error = junit::not_run(units[0].name(), why);
        write_summary(&args.summary, &all, several, Some(error))?;
        return Ok(Status::Failed);
    }
    for (number, (unit, variant)) in plan.enumerate() {
        let row = row && (units.len() > 1 || variant.is_some());
        if row && all.len() == usize::from(units.len() == 1) {
            print(HEADER)?;
        }
        let ready = match number == units.len() {
            // Not earlier, because nothing is built without RTL that agrees.
            true => variants::build(&variants, &args.place, workers(args.jobs)),
            false => Ok(()),
        };
        let ran = ready.and_then(|()| {
            let first = number == 0;
            let campaign = fuzz::Campaign {
                variant,
                row,
                first,
            };
            unit.fuzz(args, campaign, &mut |ran| {
                let so_far: Vec<&Ran> = all.iter().chain([ran]).collect();
                publish(&args.summary, &so_far, several, None, false)
            })
        });
        let ran = match ran {
            Ok(ran) => ran,
            // The results of the campaigns before this one are kept.
            Err(why) => {
                let error = junit::not_run(unit.name(), &why.to_string());
                let written = write_summary(&args.summary, &all, several, Some(error));
                if matches!(written, Ok(Status::Failed)) {
                    // The exit status reports the failure, whatever other errors there are.
                    tell_why(&why);
                    return written;
                }
                written.as_ref().err().map(tell_why);
                return Err(why);
            }
        };
        let last = ran.interrupted.is_some() || ran.status == Status::Failed && !args.keep_going;
        all.push(ran);
        if last {
            break;
        }
    }
    let done = write_summary(&args.summary, &all, several, None)?;
    Ok(if failed_again { Status::Failed } else { done })
}

impl FuzzArgs {
    /// Returns which variants are tested; `all`: the unit is `all`.
    fn which(&self, all: bool) -> Result<Which, InputError> {
        let built_otherwise = self.build.given();
        match self.variants {
            Some(Which::None) => Ok(Which::None),
            Some(which) if built_otherwise => {
                let why = "variants are builds with lanes and parameters of their own: without --lanes and --param";
                Err(InputError::new(
                    "--variants",
                    0,
                    format!("{which:?}").to_lowercase(),
                    why,
                ))
            }
            Some(which) => Ok(which),
            None if all && !built_otherwise => Ok(Which::One),
            None => Ok(Which::None),
        }
    }
}

/// Adds up the results of campaigns and prints them.
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
    let campaigns = by_campaign(units, files)?;
    let several = campaigns.len() > 1;
    let row = several && !args.details;
    if row {
        print(HEADER)?;
    }
    let merged = |((unit, _), files): &Campaign| units[*unit].merge(files, args, row);
    let all: Result<Vec<Ran>, Failure> = campaigns.iter().map(merged).collect();
    write_summary(&args.summary, &all?, several, None)
}

/// Files of results of one build of a unit: the number of the unit, and the build.
type Campaign = ((usize, Build), Vec<PathBuf>);

/// Sorts files of results by campaign, in the order in which `fuzz` runs them.
///
/// # Errors
/// A file has no header, or is of an unknown unit.
fn by_campaign(units: &[&dyn Commands], files: Vec<PathBuf>) -> Result<Vec<Campaign>, Failure> {
    // One campaign for each build of a unit.
    let mut campaigns: Vec<Campaign> = Vec::new();
    for file in files {
        streams::reads(&file)?;
        let bad = |field: &str, why: &str| InputError::new(file.to_string_lossy(), 0, field, why);
        let Some(header) = results::header(&file)? else {
            return Err(bad("header", "the campaign has written none yet").into());
        };
        let Some(unit) = units.iter().position(|unit| unit.name() == header.unit) else {
            let why = format!("{:?} {}", header.unit, unknown());
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

/// Writes the contents of result folders as one page.
pub fn report(units: &[&'static dyn Commands], args: &ReportArgs) -> Done {
    writable("--output", &args.output)?;
    let (mut campaigns, mut further) = (Vec::new(), Further::default());
    let mut given = BTreeSet::new();
    for path in &args.from {
        let bad = |why: &str| InputError::new(path.to_string_lossy(), 0, "results", why);
        if !given.insert(std::fs::canonicalize(path).unwrap_or_else(|_| path.clone())) {
            return Err(bad("is given twice").into());
        }
        let before = (campaigns.len(), further.html.len());
        if path.is_dir() {
            campaigns.extend(results::files(path)?);
            // Saved cases and other files may lie there too.
            for file in json_files(path)? {
                json(&mut further, &file)?;
            }
        } else if path.extension().is_some_and(|e| e == results::ENDING) {
            campaigns.push(path.clone());
        } else {
            json(&mut further, path)?;
        }
        if before == (campaigns.len(), further.html.len()) {
            let why = "nothing to report: no results of `fuzz --results`, `cover --json` or `mutate --json`";
            return Err(bad(why).into());
        }
    }
    let campaigns = by_campaign(units, campaigns)?;
    let part = |((unit, _), files): &Campaign| units[*unit].report(files, args);
    let parts: Result<Vec<Part>, Failure> = campaigns.iter().map(part).collect();
    let parts = parts?;
    let parts: Vec<&Part> = parts.iter().collect();
    write_whole(&args.output, &page(&parts, &further))?;
    let heading = heading(&parts, &further);
    Ok(Status::of(matches!(heading, Heading::Fails)))
}
