//! Files with the results of campaigns: `--json`, `--junit`, `--html`.

use std::path::PathBuf;

use reconverge::input::InputError;
use serde_json::Value;

use crate::args::SummaryArgs;
use crate::console::{Done, Failure, Status, tell as tell_why};
use crate::junit::{self, Suite};
use crate::page::{Further, Part, page};
use crate::ran::Ran;
use crate::streams::{all_writable, is_standard, write_whole};

/// Checks that the files of a summary can be written.
///
/// # Errors
/// One cannot be; the message names its option.
pub fn writable_summary(args: &SummaryArgs) -> Result<(), InputError> {
    all_writable([
        ("--json", &args.json),
        ("--junit", &args.junit),
        ("--html", &args.html),
    ])
}

/// Writes the files. `error`, the last suite of `--junit`, says why a campaign could not be run: a file of an earlier run must not
/// stand for this one.
///
/// Standard output is written only the `last` time.
pub fn publish(
    args: &SummaryArgs,
    ran: &[&Ran],
    several: bool,
    error: Option<Suite>,
    last: bool,
) -> Result<(), Failure> {
    let now = |path: &&PathBuf| last || !is_standard(path);
    // Without a campaign these files have no contents.
    let now_some = |path: &&PathBuf| !ran.is_empty() && now(path);
    if let Some(path) = args.json.as_ref().filter(now_some) {
        let mut jsons: Vec<Value> = ran.iter().map(|ran| ran.json.clone()).collect();
        let json = if several {
            Value::from(jsons)
        } else {
            jsons.pop().unwrap_or_default()
        };
        write_whole(path, &format!("{json:#}\n"))?;
    }
    if let Some(path) = args.junit.as_ref().filter(now) {
        let suites = ran.iter().map(|ran| match &ran.interrupted {
            Some(why) => junit::with_error(ran.suite.clone(), why),
            None => ran.suite.clone(),
        });
        let suites: Vec<Suite> = suites.chain(error).collect();
        write_whole(path, &junit::text(&suites))?;
    }
    if let Some(path) = args.html.as_ref().filter(now_some) {
        let parts: Vec<&Part> = ran.iter().map(|ran| &ran.part).collect();
        write_whole(path, &page(&parts, &Further::default()))?;
    }
    Ok(())
}

/// Writes the results of campaigns, with `error` as [`publish`] does; returns whether one failed.
pub fn write_summary(args: &SummaryArgs, ran: &[Ran], several: bool, error: Option<Suite>) -> Done {
    let all: Vec<&Ran> = ran.iter().collect();
    let written = publish(args, &all, several, error, true);
    let interrupted = ran.iter().find_map(|ran| ran.interrupted.clone());
    if ran.iter().any(|ran| ran.status == Status::Failed) {
        // The exit status reports the failure, whatever other errors there are.
        for why in [written.err(), interrupted.map(Failure::Other)] {
            why.as_ref().map(tell_why);
        }
        return Ok(Status::Failed);
    }
    written?;
    match interrupted {
        Some(why) => Err(Failure::Other(why)),
        None => Ok(Status::Agreed),
    }
}
