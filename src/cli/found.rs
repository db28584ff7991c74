//! What the commands do with a failure: save its case, say what it is, run it again with waves. In this order, so
//! that whatever goes wrong later, the case is on the disk and the report has been printed.

use std::path::{Path, PathBuf};

use reconverge::dut::Rtl;
use reconverge::failure::{Cause, Failure};
use reconverge::report::{Waves, headline};
use reconverge::unit::Unit;
use reconverge::wave::shell;

use super::{Agreed, Done, Failure as Trouble, complain, folder, print, program};

/// Saves, prints and dumps a failure.
///
/// # Errors
/// The bench could not run the case: that is no failure of the RTL.
pub fn report<U: Unit>(failure: &Failure<U>, rtl: &Rtl<U>, out: &Path) -> Done {
    if let Cause::NotRun(why) = &failure.cause {
        return Err(Trouble::Other(format!("{}: {why}", failure.case.name())));
    }
    let saved = save(failure, out);
    print(&text(failure, &saved))?;
    print(&waves(failure, rtl, &saved))?;
    Ok(Agreed::No)
}

/// The report of a failure, and how to replay it.
pub fn text<U: Unit>(failure: &Failure<U>, saved: &Saved) -> String {
    format!("{failure}{}", replay(saved))
}

/// As [`text`], with one line for the report.
pub fn brief<U: Unit>(failure: &Failure<U>, saved: &Saved) -> String {
    format!("{}\n{}", headline(failure), replay(saved))
}

fn replay(saved: &Saved) -> String {
    match saved {
        Some(path) => {
            let path = path.to_string_lossy().into_owned();
            format!("replay  {} replay {}\n", shell(&program()), shell(&path))
        }
        None => String::new(),
    }
}

/// Where a case was saved, if it could be.
pub type Saved = Option<PathBuf>;

/// Saves the case of a failure, in `out` if that can be; where.
pub fn save<U: Unit>(failure: &Failure<U>, out: &Path) -> Saved {
    let why = match failure.save(out) {
        Ok(path) => return Some(path),
        Err(why) => why,
    };
    let elsewhere = || {
        let dir = tempfile::Builder::new().prefix("reconverge-").tempdir();
        failure.save(&dir.map_err(|e| e.to_string())?.keep())
    };
    match elsewhere() {
        Ok(path) => {
            let shown = path.display();
            complain(&format!("warning: {why}; saved as {shown} instead"));
            Some(path)
        }
        Err(other) => {
            // The last place where it is not lost.
            let case = failure.saved().to_text();
            complain(&format!(
                "warning: {why}; {other}; the case, to be saved by hand:\n{case}"
            ));
            None
        }
    }
}

/// Runs a failure again with waves, beside its saved case; the lines that say where. What cannot be written is only a
/// warning: the failure has been reported. What ended or hung a process is not run again.
pub fn waves<U: Unit>(failure: &Failure<U>, rtl: &Rtl<U>, saved: &Saved) -> String {
    let Some(path) = saved else {
        return String::new();
    };
    if matches!(failure.cause, Cause::Crashed(_) | Cause::Hung(_)) {
        return String::new();
    }
    match Waves::make(&failure.case, rtl, Some(failure), folder(path)) {
        Ok(waves) => waves.to_string(),
        Err(why) => {
            complain(&format!("warning: no waves: {why}"));
            String::new()
        }
    }
}
