//! Handling of a failure: save its case, report it, run it again with waves, make it smaller. This
//! order ensures that the case is saved and the report printed, whatever fails later.

use std::iter;
use std::path::{Path, PathBuf};

use reconverge::campaign::Shrunk;
use reconverge::check::TestCase;
use reconverge::failure::{Cause, Failure, holds};
use reconverge::input::{one_line, printable};
use reconverge::lanes::{RED, styled};
use reconverge::report::headline;
use reconverge::saved::Saved;
use reconverge::wave;

use crate::console::{
    Done, Failure as Trouble, Status, colour, complain, print, print_styled, width,
};
use crate::shows::{Shows, at, replay_command};
use crate::streams::folder;
use crate::workers::Isolated;

/// Saves, prints and dumps a failure.
///
/// # Errors
/// The same as of [`save_run`].
pub fn report<C: Shows>(failure: &Failure<C>, rtl: &mut Isolated<C>, out: &Path) -> Done {
    report_saved(failure, &save_run(failure, out)?, rtl)
}

/// Saves the failure of a run.
///
/// # Errors
/// The bench could not run the case, which is not a failure of the RTL.
pub fn save_run<C: Shows>(failure: &Failure<C>, out: &Path) -> Result<SavedFile, Trouble> {
    match &failure.cause {
        Cause::NotRun(why) => Err(Trouble::Other(format!("{}: {why}", failure.case.name()))),
        _ => {
            crate::console::failed();
            Ok(save(failure, out))
        }
    }
}

/// Does the same as [`report`], for a failure whose case is saved.
pub fn report_saved<C: Shows>(
    failure: &Failure<C>,
    saved: &SavedFile,
    rtl: &mut Isolated<C>,
) -> Done {
    whole(failure, saved, rtl)?;
    Ok(Status::Failed)
}

/// Returns the report of a failure for standard output: in colours on a terminal, with lines as long as fit.
fn printed<C: Shows>(failure: &Failure<C>) -> String {
    let width = width();
    match colour() {
        true => format!("{failure:#width$}"),
        false => format!("{failure:width$}"),
    }
}

/// Returns the report of a failure and the command that replays it.
pub fn text<C: Shows>(failure: &Failure<C>, saved: &SavedFile) -> String {
    format!("{failure}{}", replay(&*failure.case, saved))
}

/// Returns the same as [`text`], with one line for the report.
pub fn brief<C: Shows>(failure: &Failure<C>, saved: &SavedFile) -> String {
    format!("{}\n{}", headline(failure), replay(&*failure.case, saved))
}

fn replay<C: Shows>(case: &C, saved: &SavedFile) -> String {
    let line = |path: &PathBuf| format!("replay  {}\n", replay_command(case, path));
    saved.as_ref().map_or_else(String::new, line)
}

/// The file of a saved case, if it could be saved.
pub type SavedFile = Option<PathBuf>;

/// Returns the path of that file as JSON gives it.
pub fn name_of(saved: &SavedFile) -> Option<String> {
    let path = saved.as_ref()?;
    Some(path.to_string_lossy().into_owned())
}

/// Saves a case that did not fail as `path`.
pub fn save_agreed<C: TestCase>(case: C, path: &Path) -> Result<(), String> {
    let saved = Saved {
        failure: None,
        case,
    };
    wave::write_whole(path, &saved.to_text())
}

/// Saves the case of a failure, in `out` if possible; returns its file. Replaces the file of an earlier
/// run with the same name.
pub fn save<C: TestCase>(failure: &Failure<C>, out: &Path) -> SavedFile {
    save_with(out, |dir| failure.save(dir)).unwrap_or_else(|why| by_hand(failure, &why))
}

/// Saves the case of a failure of a campaign, in `out` if possible; returns its file. The case gets another name if that is the name of
/// another case.
pub fn save_new<C: TestCase>(failure: &mut Failure<C>, out: &Path) -> SavedFile {
    save_with(out, |dir| failure.save_new(dir)).unwrap_or_else(|why| by_hand(failure, &why))
}

/// Saves with `save` in `out`, or if that cannot be written, in a temporary folder.
fn save_with(
    out: &Path,
    mut save: impl FnMut(&Path) -> Result<PathBuf, String>,
) -> Result<SavedFile, String> {
    let why = match save(out) {
        Ok(path) => return Ok(Some(path)),
        Err(why) => why,
    };
    let mut elsewhere = || {
        let dir = tempfile::Builder::new().prefix("reconverge-").tempdir();
        let dir = dir.map_err(|e| e.to_string())?;
        let path = save(dir.path())?;
        let _ = dir.keep();
        Ok(path)
    };
    let path = elsewhere().map_err(|other: String| format!("{why}; {other}"))?;
    complain(&format!(
        "warning: {why}; saved as {} instead",
        path.display()
    ));
    Ok(Some(path))
}

/// Prints a case that cannot be saved anywhere, because of `why`.
fn by_hand<C: TestCase>(failure: &Failure<C>, why: &str) -> SavedFile {
    let case = Saved::from(failure).to_text();
    let case = serde_json::from_str::<serde_json::Value>(&case).unwrap_or_default();
    complain(&format!(
        "warning: {why}; the case, to be saved by hand:\n{case}"
    ));
    None
}

/// Runs a failure again with waves, next to its saved case; returns the lines that name the files. An error is only a
/// warning, because the failure is already reported. A failure that ended or hung a process does not run again.
pub fn waves<C: Shows>(failure: &Failure<C>, rtl: &mut Isolated<C>, saved: &SavedFile) -> String {
    let Some(path) = saved.as_ref().filter(|_| !failure.lost()) else {
        return String::new();
    };
    match rtl.waves(&failure.case, Some(failure), folder(path)) {
        Ok(waves) => {
            if let Some(why) = &waves.kept {
                complain(&format!("warning: the dump stays a VCD: {why}"));
            }
            waves.to_string()
        }
        Err(trouble) => {
            complain(&format!("warning: no waves: {}", trouble.why()));
            String::new()
        }
    }
}

/// A case that was made smaller.
pub struct Small<C: Shows> {
    /// How it fails.
    pub failure: Failure<C>,
    /// The text of its program.
    pub text: String,
    /// The command that runs it again, if the case could be saved.
    pub command: Option<String>,
}

/// Prints in one line that a case fails and where it is saved, then makes it smaller and prints the result: the
/// report, the program as a file that `run` takes, the commands that run it again, waves. A case that cannot be made
/// smaller is reported unchanged. Returns the printed text, and the small case if there is
/// one.
///
/// # Errors
/// Standard output cannot be written. All other errors are only printed, because a failure has to be reported.
pub fn smaller<C: Shows>(
    failure: &Failure<C>,
    saved: &SavedFile,
    rtl: &mut Isolated<C>,
    out: &Path,
) -> Result<(String, Option<Small<C>>), Trouble> {
    let case = &failure.case;
    let line = line(failure, saved);
    let (what, rest) = line.split_once("  ").unwrap_or((&line, ""));
    print_styled(&format!("{}  {rest}\n", styled(colour(), RED, what)))?;
    let (shrunk, why) = match rtl.shrink(failure) {
        Ok(shrunk) => shrunk,
        Err(why) => {
            complain(&format!("note: not shrunk: {why}"));
            print("\n")?;
            return Ok((whole(failure, saved, rtl)?, None));
        }
    };
    if let Some(why) = why {
        complain(&format!("note: not shrunk further: {why}"));
    }
    let small = &shrunk.failure;
    let commands = save_small(&shrunk, out, &case.name());
    let listing = C::small(&shrunk, commands.starts_with("run "));
    let text = format!("{}:\n{listing}", shrunk.headline());
    print_styled(&format!("\n{}", printed(small)))?;
    print(&format!("{text}{commands}"))?;
    let waves = match rtl.built_for(&small.case) {
        // The last run was on another model.
        Ok(Some(other)) => {
            let mut other = Isolated::new(&other, rtl.limits())?.dumping(rtl.format());
            waves(small, &mut other, saved)
        }
        Ok(None) => waves(small, rtl, saved),
        Err(trouble) => {
            complain(&format!("warning: no waves: {}", trouble.why()));
            String::new()
        }
    };
    print(&waves)?;
    let report = format!("{line}\n\n{small}{text}{commands}{waves}");
    // The first of them, if it names one.
    let again = |line: &str| {
        let command = line.strip_prefix("run     ");
        command.or(line.strip_prefix("replay  ")).map(str::to_owned)
    };
    let command = commands.lines().find_map(again);
    let small = Small {
        text: listing,
        failure: shrunk.failure,
        command,
    };
    Ok((report, Some(small)))
}

/// Prints the whole report of a failure whose case is saved, and returns it.
pub fn whole<C: Shows>(
    failure: &Failure<C>,
    saved: &SavedFile,
    rtl: &mut Isolated<C>,
) -> Result<String, Trouble> {
    let text = plain(failure, saved)?;
    let waves = waves(failure, rtl, saved);
    print(&waves)?;
    Ok(text + &waves)
}

/// Does the same as [`whole`], without waves.
pub fn plain<C: Shows>(failure: &Failure<C>, saved: &SavedFile) -> Result<String, Trouble> {
    print_styled(&(printed(failure) + &printable(&replay(&*failure.case, saved))))?;
    Ok(text(failure, saved))
}

/// Describes a failure in one line, with its saved case.
fn line<C: Shows>(failure: &Failure<C>, saved: &SavedFile) -> String {
    let headline = headline(failure);
    let (what, _) = headline.split_once("  ").unwrap_or((&headline, ""));
    let saved = saved
        .as_ref()
        .map_or_else(String::new, |path| format!("; saved as {}", path.display()));
    let text = format!("{what}  {}{saved}", failure.message());
    one_line(&text).into_owned()
}

/// Saves a smaller case of the case called `name` with [`Shows::save_again`], never in the place of another one. Returns the commands that run
/// it again.
fn save_small<C: Shows>(shrunk: &Shrunk<C>, out: &Path, name: &str) -> String {
    let numbers = (2..).map(|number| format!("-{number}"));
    let mut stems = iter::once(String::new())
        .chain(numbers)
        .map(|n| out.join(format!("{name}.shrunk{n}")));
    let free = |stem: &PathBuf| {
        let file = at(stem, "json");
        !file.exists() || holds(&file, &Saved::from(&shrunk.failure))
    };
    let stem = stems.find(free);
    let stem = stem.unwrap_or_else(|| unreachable!("a folder has no file for each number"));
    let saved = C::save_again(&shrunk.failure, &stem);
    saved.unwrap_or_else(|why| {
        complain(&format!("warning: {why}: the shrunk case is not saved"));
        String::new()
    })
}
