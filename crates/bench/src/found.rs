//! What a test gets for a failing case: the shrunk and saved case, a dump from a second run, and all of it as text.

use std::fmt::{self, Debug, Display, Formatter};
use std::path::{Path, PathBuf};

use crate::check::TestCase;
use crate::dut::Rtl;
use crate::failure::{Cause, Failure};
use crate::report::{Report, Waves};

/// A failing case: a stream of pins, or a program with its environment. `Display` and `Debug` print everything known about
/// it, so that `unwrap` in a test prints it.
pub struct Found<C: TestCase> {
    /// The smallest case found that fails like the original one, with its failure.
    pub failure: Failure<C>,
    /// A line with the sizes before and after shrinking, then the shrunk case as text.
    pub text: String,
    /// File with the case, if one was written.
    pub saved: Option<PathBuf>,
    /// The dump with both sides, if one was written.
    pub waves: Option<Waves>,
    /// What went wrong besides: the case could not be shrunk, or a file could not be written.
    pub troubles: Vec<String>,
}

impl<C: TestCase> Found<C> {
    /// Processes `failure`: saves its case in `out`, shrinks it with `smaller`, saves it again, and runs it once more with
    /// a dump on the RTL that `rtl_for` returns for it. A case that did not run is only saved.
    pub fn of(
        failure: Failure<C>,
        text: String,
        out: Option<&Path>,
        smaller: impl FnOnce(&Failure<C>) -> Result<(Failure<C>, String), String>,
        rtl_for: impl FnOnce(&C) -> Result<Rtl<C::Design>, String>,
    ) -> Self {
        let mut found = Found {
            failure,
            text,
            saved: None,
            waves: None,
            troubles: Vec::new(),
        };
        // Save first, so that nothing that follows can lose the case.
        found.save(out);
        if matches!(found.failure.cause, Cause::NotRun(_)) {
            return found;
        }
        match smaller(&found.failure) {
            Ok((failure, text)) => {
                (found.failure, found.text) = (failure, text);
                found.save(out);
            }
            Err(why) => found.troubles.push(format!("not made smaller: {why}")),
        }
        if let Some(dir) = out {
            found.dump(dir, rtl_for);
        }
        found
    }

    /// Processes `failure` of a case that was read from the file `saved`: runs it once more with a dump, as [`Found::of`] does.
    pub fn again(
        failure: Failure<C>,
        text: String,
        saved: &Path,
        rtl_for: impl FnOnce(&C) -> Result<Rtl<C::Design>, String>,
    ) -> Self {
        let mut found = Found {
            failure,
            text,
            saved: Some(saved.to_owned()),
            waves: None,
            troubles: Vec::new(),
        };
        if let Some(dir) = saved.parent() {
            found.dump(dir, rtl_for);
        }
        found
    }

    /// Runs the case once more with a dump in `dir`, unless it did not run, or the RTL ended its process, which it does before its dump
    /// is complete.
    fn dump(&mut self, dir: &Path, rtl_for: impl FnOnce(&C) -> Result<Rtl<C::Design>, String>) {
        let failure = &self.failure;
        if failure.lost() || matches!(failure.cause, Cause::NotRun(_)) {
            return;
        }
        let made = rtl_for(&failure.case)
            .and_then(|rtl| Waves::make(&*failure.case, &rtl, Some(failure), dir));
        match made {
            Ok(waves) => self.waves = Some(waves),
            Err(why) => self.troubles.push(format!("no dump: {why}")),
        }
    }

    /// Saves the case in `out`.
    fn save(&mut self, out: Option<&Path>) {
        match out.map(|dir| self.failure.save_new(dir)) {
            None => {}
            Some(Ok(path)) => self.saved = Some(path),
            Some(Err(why)) => self.troubles.push(format!("not saved: {why}")),
        }
    }
}

impl<C: TestCase> Display for Found<C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", Report::of(&self.failure), self.text)?;
        if let Some(path) = &self.saved {
            writeln!(f, "saved   {}", path.display())?;
        }
        if let Some(waves) = &self.waves {
            write!(f, "{waves}")?;
        }
        for trouble in &self.troubles {
            writeln!(f, "{trouble}")?;
        }
        Ok(())
    }
}

impl<C: TestCase> Debug for Found<C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}

impl<C: TestCase> std::error::Error for Found<C> {}
