//! What the commands do with a failure: save its case, say what it is, run it again with waves, make it smaller. In
//! this order, so that whatever goes wrong later, the case is on the disk and the report has been printed.

use std::path::{Path, PathBuf};

use reconverge::case::Case;
use reconverge::failure::{Cause, Failure};
use reconverge::input::printable;
use reconverge::report::headline;
use reconverge::unit::Unit;
use reconverge::wave::{self, shell};

use super::run::trusted;
use super::show::{colour, width};
use super::workers::Isolated;
use super::{Agreed, Done, Failure as Trouble, complain, folder, print, print_styled, program};

/// Saves, prints and dumps a failure.
///
/// # Errors
/// The bench could not run the case: that is no failure of the RTL.
pub fn report<U: Unit>(failure: &Failure<Case<U>>, rtl: &mut Isolated<U>, out: &Path) -> Done {
    if let Cause::NotRun(why) = &failure.cause {
        return Err(Trouble::Other(format!("{}: {why}", failure.case.name())));
    }
    report_saved(failure, &save(failure, out), rtl)
}

/// As [`report`], of a failure whose case is saved.
pub fn report_saved<U: Unit>(
    failure: &Failure<Case<U>>,
    saved: &Saved,
    rtl: &mut Isolated<U>,
) -> Done {
    let text = printed(failure) + &printable(&replay(&failure.case, saved));
    print_styled(&text)?;
    print(&waves(failure, rtl, saved))?;
    Ok(Agreed::No)
}

/// The report of a failure as standard output shows it: in colours on a terminal, in lines as long as there is room.
fn printed<U: Unit>(failure: &Failure<Case<U>>) -> String {
    let width = width();
    match colour() {
        true => format!("{failure:#width$}"),
        false => format!("{failure:width$}"),
    }
}

/// The report of a failure, and how to replay it.
pub fn text<U: Unit>(failure: &Failure<Case<U>>, saved: &Saved) -> String {
    format!("{failure}{}", replay(&failure.case, saved))
}

/// As [`text`], with one line for the report.
pub fn brief<U: Unit>(failure: &Failure<Case<U>>, saved: &Saved) -> String {
    format!("{}\n{}", headline(failure), replay(&failure.case, saved))
}

fn replay<U: Unit>(case: &Case<U>, saved: &Saved) -> String {
    let line = |path: &PathBuf| format!("replay  {}\n", replay_command(case, path));
    saved.as_ref().map_or_else(String::new, line)
}

/// The command that runs `case` again, which is saved as `path`.
pub fn replay_command<U: Unit>(case: &Case<U>, path: &Path) -> String {
    let shown = |path: &Path| shell(&path.to_string_lossy());
    let rtl = case.rtl.as_deref().filter(|dir| !trusted::<U>(dir));
    let rtl = rtl.map_or_else(String::new, |dir| format!("--rtl {} ", shown(dir)));
    let program = shell(&program());
    format!("{program} replay {rtl}{}", shown(path))
}

/// Where a case was saved, if it could be.
pub type Saved = Option<PathBuf>;

/// Saves the case of a failure, in `out` if that can be; where.
pub fn save<U: Unit>(failure: &Failure<Case<U>>, out: &Path) -> Saved {
    let why = match failure.save(out) {
        Ok(path) => return Some(path),
        Err(why) => why,
    };
    let elsewhere = || {
        let dir = tempfile::Builder::new().prefix("reconverge-").tempdir();
        let dir = dir.map_err(|e| e.to_string())?;
        let path = failure.save(dir.path())?;
        let _ = dir.keep();
        Ok(path)
    };
    match elsewhere() {
        Ok(path) => {
            let shown = path.display();
            complain(&format!("warning: {why}; saved as {shown} instead"));
            Some(path)
        }
        Err::<_, String>(other) => {
            // The last place where it is not lost.
            let case = serde_json::to_string(&failure.saved()).unwrap_or_default();
            complain(&format!(
                "warning: {why}; {other}; the case, to be saved by hand:\n{case}"
            ));
            None
        }
    }
}

/// Runs a failure again with waves, beside its saved case; the lines that say where. What cannot be written is only a
/// warning: the failure has been reported. What ended or hung a process is not run again.
pub fn waves<U: Unit>(failure: &Failure<Case<U>>, rtl: &mut Isolated<U>, saved: &Saved) -> String {
    let Some(path) = saved.as_ref().filter(|_| !failure.lost()) else {
        return String::new();
    };
    match rtl.waves(&failure.case, Some(failure), folder(path)) {
        Ok(waves) => waves.to_string(),
        Err(trouble) => {
            complain(&format!("warning: no waves: {}", trouble.why()));
            String::new()
        }
    }
}

/// Makes a failing case smaller; prints the program as a file that `run` takes, and how to replay it. What cannot be
/// done is only said: the failure itself has been reported.
pub fn shrink<U: Unit>(
    failure: &Failure<Case<U>>,
    rtl: &mut Isolated<U>,
    out: &Path,
) -> Result<(), Trouble> {
    let case = Case::clone(&failure.case);
    let (shrunk, why) = match rtl.shrink(&case) {
        Ok(shrunk) => shrunk,
        Err(why) => {
            complain(&format!("note: not shrunk: {why}"));
            return Ok(());
        }
    };
    if let Some(why) = why {
        complain(&format!("note: not shrunk further: {why}"));
    }
    let place = shrunk.failure.place();
    let at = match (place.clock(), place.field()) {
        (Some(clock), Some(field)) => format!("  (clock {clock}, {field})"),
        _ => String::new(),
    };
    let mut text = format!(
        "{}: tb-ready text follows\n{}",
        shrunk.headline(),
        shrunk.text()
    );
    let path = out.join(format!("{}.shrunk.json", case.name()));
    match wave::write_whole(&path, &shrunk.failure.saved().to_text()) {
        Ok(()) => {
            let line = replay(&shrunk.failure.case, &Some(path));
            text += &format!("{}{at}\n", line.trim_end());
        }
        Err(why) => complain(&format!("warning: {why}: the shrunk case is not saved")),
    }
    print(&text)
}
