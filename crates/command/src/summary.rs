//! Files with the results of campaigns: `--json`, `--junit`, `--html`.

use std::path::PathBuf;

use reconverge::input::InputError;
use serde_json::Value;

use super::fuzz::Ran;
use super::junit::{self, Suite};
use super::report::{self, Part};
use super::streams::{is_standard, write_whole};
use super::{Agreed, Done, Failure, SummaryArgs, tell as tell_why, writable};

/// Checks that the files of a summary can be written.
///
/// # Errors
/// One cannot be; the message names its option.
pub fn writable_summary(args: &SummaryArgs) -> Result<(), InputError> {
    let files = [
        ("--json", &args.json),
        ("--junit", &args.junit),
        ("--html", &args.html),
    ];
    for (flag, path) in files {
        if let Some(path) = path {
            writable(flag, path)?;
        }
    }
    Ok(())
}

/// Writes the files.
///
/// Standard output is written only the `last` time.
pub fn publish(args: &SummaryArgs, ran: &[&Ran], several: bool, last: bool) -> Result<(), Failure> {
    let now = |path: &&PathBuf| last || !is_standard(path);
    if let Some(path) = args.json.as_ref().filter(now) {
        let mut jsons: Vec<Value> = ran.iter().map(|ran| ran.json.clone()).collect();
        let json = if several {
            Value::from(jsons)
        } else {
            jsons.pop().unwrap_or_default()
        };
        write_whole(path, &format!("{json:#}\n"))?;
    }
    publish_junit(args, ran.iter().copied(), None, last)?;
    if let Some(path) = args.html.as_ref().filter(now) {
        let parts: Vec<&Part> = ran.iter().map(|ran| &ran.part).collect();
        write_whole(path, &report::page(&parts, &report::Further::default()))?;
    }
    Ok(())
}

/// Writes the file of `--junit`, with `error` as the last suite.
pub fn publish_junit<'r>(
    args: &SummaryArgs,
    ran: impl Iterator<Item = &'r Ran>,
    error: Option<Suite>,
    last: bool,
) -> Result<(), Failure> {
    let now = |path: &&PathBuf| last || !is_standard(path);
    let Some(path) = args.junit.as_ref().filter(now) else {
        return Ok(());
    };
    let suites = ran.map(|ran| match &ran.interrupted {
        Some(why) => junit::unfinished(ran.suite.clone(), why),
        None => ran.suite.clone(),
    });
    let suites = suites.chain(error).collect();
    Ok(write_whole(path, &junit::text(suites)?)?)
}

/// Writes the results of campaigns; returns whether all agreed.
pub fn write_summary(args: &SummaryArgs, ran: &[Ran], several: bool) -> Done {
    let written = publish(args, &ran.iter().collect::<Vec<_>>(), several, true);
    let interrupted = ran.iter().find_map(|ran| ran.interrupted.clone());
    if ran.iter().any(|ran| ran.agreed == Agreed::No) {
        // The exit status reports the failure, whatever other errors there are.
        for why in [written.err(), interrupted.map(Failure::Other)] {
            why.as_ref().map(tell_why);
        }
        return Ok(Agreed::No);
    }
    written?;
    match interrupted {
        Some(why) => Err(Failure::Other(why)),
        None => Ok(Agreed::Yes),
    }
}
