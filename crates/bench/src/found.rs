//! What a test gets of a case that fails: made smaller, saved, run again with a dump, and all of that as text.

use std::fmt::{self, Debug, Display, Formatter};
use std::path::{Path, PathBuf};

use crate::check::TestCase;
use crate::dut::Rtl;
use crate::failure::{Cause, Failure};
use crate::report::{Report, Waves};

/// A case that fails: a stream of pins, or a program with its surroundings. `Display` and `Debug` are all that is to be said
/// of it, so that `unwrap` in a test prints it.
pub struct Found<C: TestCase> {
    /// The smallest case that fails like the one that was found, and how.
    pub failure: Failure<C>,
    /// The smaller case as text, and what it was made from.
    pub text: String,
    /// File with the case, if one was written.
    pub saved: Option<PathBuf>,
    /// The dump with both sides, if one was written.
    pub waves: Option<Waves>,
    /// What could not be done: to make it smaller, to write a file.
    pub troubles: Vec<String>,
}

impl<C: TestCase> Found<C> {
    /// Keeps what is known of `failure`: its case is saved in `out`, made smaller by `smaller`, saved again, and run once more
    /// on the RTL that `rtl_for` gives for it, with a dump. A case that did not run is nothing to make smaller.
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
        if matches!(found.failure.cause, Cause::NotRun(_)) {
            return found;
        }
        // Saved first: nothing that comes may lose it.
        found.save(out);
        match smaller(&found.failure) {
            Ok((failure, text)) => {
                (found.failure, found.text) = (failure, text);
                found.save(out);
            }
            Err(why) => found.troubles.push(format!("not made smaller: {why}")),
        }
        if let Some(dir) = out {
            let failure = &found.failure;
            let made = rtl_for(&failure.case)
                .and_then(|rtl| Waves::make(&*failure.case, &rtl, Some(failure), dir));
            match made {
                Ok(waves) => found.waves = Some(waves),
                Err(why) => found.troubles.push(format!("no dump: {why}")),
            }
        }
        found
    }

    fn save(&mut self, out: Option<&Path>) {
        match out.map(|dir| self.failure.save(dir)) {
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
