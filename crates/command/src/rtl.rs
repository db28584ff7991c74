//! The RTL that a command judges: ours, or what the user names.

use std::path::{Path, PathBuf};
use std::sync::Once;

use reconverge::design::{Build, Design};
use reconverge::dut::{self, Make, Rtl};
use reconverge::home::{changed_rtl, own_rtl};
use reconverge::input::{InputError, folder_meant};
use reconverge::wave::Format;

use crate::args::PlaceArgs;
use crate::console::{Failure, complain, warn};
use crate::progress::Ticker;
use crate::stop;

/// Returns the RTL in `dir`, or our own, with its assertions or without. RTL that no package embeds has them by default, as that in a
/// folder has.
pub fn make<D: Design>(dir: Option<&Path>, no_assert: bool) -> Make {
    let make = Make::of(dir);
    Make {
        assertions: (make.assertions || D::package().is_none()) && !no_assert,
        ..make
    }
}

impl PlaceArgs {
    /// Returns how to build the requested RTL.
    pub fn make<D: Design>(&self) -> Make {
        make::<D>(self.rtl.as_deref(), self.no_assert)
    }

    /// Returns the format of dumps.
    pub fn format(&self) -> Format {
        match self.fst {
            true => Format::Fst,
            false => Format::Vcd,
        }
    }
}

/// Returns the RTL that a command judges.
pub fn rtl<D: Design>(place: &PlaceArgs, build: Build) -> Result<Rtl<D>, Failure> {
    made(&place.make::<D>(), build)
}

/// Returns our own RTL in its usual build, which is linked in.
pub fn usual_rtl<D: Design>() -> Result<Rtl<D>, Failure> {
    made(&make::<D>(None, false), Build::from(D::LANES))
}

/// Returns the RTL with coverage counters.
pub fn counting_rtl<D: Design>(place: &PlaceArgs, build: Build) -> Result<Rtl<D>, Failure> {
    let make = Make {
        counting: true,
        ..place.make::<D>()
    };
    made(&make, build)
}

/// Warns once that this program judges the RTL that it was built with, and not the files that have changed since.
pub fn warn_if_changed<D: Design>() {
    static WARNED: Once = Once::new();
    if let Some(file) = changed_rtl::<D>() {
        WARNED.call_once(|| {
            let (dir, file) = (file.parent().unwrap_or(&file).display(), file.display());
            warn(&[format!(
                "{file} has changed since this program was built, which judges the RTL that it was built with: build it again, or name \
                 the folder with --rtl {dir}"
            )]);
        });
    }
}

pub fn made<D: Design>(make: &Make, build: Build) -> Result<Rtl<D>, Failure> {
    let dir = make.dir.as_deref();
    if let Some(dir) = dir.filter(|dir| !dir.is_dir()) {
        let why = format!("no such folder{}", folder_meant(dir));
        return Err(InputError::new(dir.to_string_lossy(), 0, "--rtl", why).into());
    }
    if dir.is_none() {
        warn_if_changed::<D>();
    }
    let own = Path::new(D::DECLARATION.folder);
    if dir.is_none() && D::package().is_none() && !own.is_dir() {
        let why = format!(
            "{} is gone, where the RTL was when this program was built: --rtl must name its folder",
            own.display()
        );
        return Err(InputError::option("--rtl", why).into());
    }
    let rtl = {
        let (make, mut ticker) = (make.clone(), Ticker::new());
        let what = format!("building the RTL of {}, {build}", D::NAME);
        stop::unless_asked(
            move || Rtl::make(build, &make),
            || ticker.tick(|| what.clone()),
        )?
    };
    let rtl = rtl.map_err(|e| Failure::unbuilt(&e, dir))?;
    if let Some(warnings) = rtl.warned() {
        complain(&warnings);
    }
    Ok(rtl)
}

/// Returns `path` as an absolute path, for saved cases; unchanged if there is no current folder.
pub fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns the folder of --rtl as a saved case names it; `None` if the RTL of `D` that is built without --rtl is the one in that folder.
pub fn named_rtl<D: Design>(dir: &Path) -> Option<PathBuf> {
    let real = |dir: &Path| std::fs::canonicalize(dir).ok();
    let own = real(Path::new(D::DECLARATION.folder));
    let is_own = D::package().is_none() && own.is_some() && own == real(dir);
    (!is_own).then(|| absolute(dir))
}

/// Returns whether the RTL in `dir` may run although only a saved case names it.
pub fn trusted<D: Design>(dir: &Path) -> bool {
    foreign::<D>(dir).is_none()
}

/// Returns why the RTL in `dir` must not run if only a saved case names it: `dir` itself, or a file or folder that it names, which
/// must lie below the current folder, or be our own. A case may come from anywhere, and the RTL that it names would run with the
/// rights of the user.
pub fn foreign<D: Design>(dir: &Path) -> Option<PathBuf> {
    let real = |dir: PathBuf| std::fs::canonicalize(dir).ok();
    let current = std::env::current_dir().ok().and_then(real);
    // Everything lies below the root, which therefore does not count.
    let current = current.filter(|dir| dir.parent().is_some());
    let own = own_rtl::<D>().ok().and_then(real);
    // Its list was trusted when this program was built.
    if own.is_some() && real(dir.to_owned()) == own {
        return None;
    }
    let ours = [current, own];
    let inside = |path: &PathBuf| {
        let real = real(path.clone());
        real.is_some_and(|path| ours.iter().flatten().any(|own| path.starts_with(own)))
    };
    let named = std::iter::once(dir.to_owned()).chain(dut::paths_of::<D>(dir));
    named.into_iter().find(|path| !inside(path))
}
