//! Where shim and RTL are when a model is built: in the folder from which this program was built or, if that folder is
//! missing or has changed, unpacked from the program itself.

use std::collections::BTreeMap;
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHasher;
#[doc(hidden)]
pub use verilate::program;
use verilate::shim::{FILES, FOLDER};
use verilate::{Error, Store, only_ours};

use crate::design::Design;
use crate::dut::Linked;
use crate::wave::write_whole;

/// The RTL and models that a package embeds.
pub struct Package {
    /// The folder from which the package was built. It has the shim too if it is the root of the repository.
    pub root: &'static str,
    /// Embedded files of `rtl/<design>` in that folder, with path and contents: RTL, and the formal files that proofs use.
    pub files: &'static [(&'static str, &'static str)],
    /// Hash of the sources of the design, its golden model, generators and judges, and of the engine.
    pub sources: &'static str,
    /// A cache in which the build script left Verilator's runtime.
    pub built: &'static str,
    /// Models that are linked in.
    pub linked: &'static [Linked],
}

/// Returns the folder with the shim ([`verilate::shim`]) and, for a `package`, its `rtl`. It is the first of these: `$RECONVERGE_HOME`; the folder
/// from which this program was built, if its files are still the same and no other user can change them; a folder in the
/// cache, into which the files are unpacked.
///
/// # Errors
/// There is no cache, or it cannot be written.
pub fn home(package: Option<&'static Package>) -> Result<PathBuf, Error> {
    if let Some(given) = std::env::var_os("RECONVERGE_HOME").filter(|v| !v.is_empty()) {
        return Ok(given.into());
    }
    static HOMES: Mutex<BTreeMap<&str, PathBuf>> = Mutex::new(BTreeMap::new());
    let (root, files) = package.map_or(("", &[][..]), |p| (p.root, p.files));
    let known = || HOMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(home) = known().get(root) {
        return Ok(home.clone());
    }
    let whole = built_from(package).filter(|dir| is_ours(dir, files).is_ok());
    let home = match whole {
        Some(dir) => dir,
        None => unpacked(Store::of_user()?.dir(), files)?,
    };
    known().insert(root, home.clone());
    Ok(home)
}

/// Returns the folder from which this program was built, if its files are still the same.
pub fn built_from(package: Option<&'static Package>) -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    // In its repository this crate is two folders below the root.
    let repository = here.ancestors().nth(2).unwrap_or(here);
    let dir = package.map_or(repository, |p| Path::new(p.root));
    let files = package.map_or(&[][..], |p| p.files);
    is_whole(dir, files).then(|| dir.to_owned())
}

/// Returns a file of the RTL of `D` in the folder from which this program was built that is no longer as it was; `None` if there is none,
/// or no such folder.
pub fn changed_rtl<D: Design>() -> Option<PathBuf> {
    let package = D::package()?;
    let rtl = format!("rtl/{}/", D::NAME);
    let files = package.files.iter();
    let files = files.filter(|(path, _)| path.starts_with(&rtl));
    changed(
        &Path::new(package.root).join(&rtl),
        files,
        Path::new(package.root),
    )
}

/// Returns the first of `files` in `root` with other contents; `None` if there is no `folder`.
fn changed<'f>(
    folder: &Path,
    mut files: impl Iterator<Item = &'f (&'f str, &'f str)>,
    root: &Path,
) -> Option<PathBuf> {
    let found = files.find(|(path, text)| !is_same(&root.join(path), text));
    found
        .filter(|_| folder.is_dir())
        .map(|(path, _)| root.join(path))
}

/// Returns the folder of the shim in `home`.
pub(crate) fn shim(home: &Path) -> PathBuf {
    home.join(FOLDER)
}

/// Returns the folder with the RTL of `D`: what its package embeds, or the folder of its declaration.
///
/// # Errors
/// The same as of [`home`].
pub fn own_rtl<D: Design>() -> Result<PathBuf, Error> {
    Ok(match D::package() {
        Some(package) => home(Some(package))?.join("rtl").join(D::NAME),
        None => PathBuf::from(D::DECLARATION.folder),
    })
}

/// Returns the files with which every model is built, and `more`.
fn with<'f>(more: &'f [(&'f str, &'f str)]) -> impl Iterator<Item = &'f (&'f str, &'f str)> {
    FILES.iter().chain(more)
}

/// Returns whether `dir` has every file with the same contents as in this program: those of every model, and `more`.
fn is_whole(dir: &Path, more: &[(&str, &str)]) -> bool {
    with(more).all(|(path, text)| is_same(&dir.join(path), text))
}

/// Returns whether `file` exists and contains `text`.
fn is_same(file: &Path, text: &str) -> bool {
    std::fs::read(file).is_ok_and(|bytes| bytes == text.as_bytes())
}

/// Returns why the folder from which this program was built is not used although its files are the same.
pub fn refused(package: Option<&'static Package>) -> Option<String> {
    let files = package.map_or(&[][..], |p| p.files);
    is_ours(&built_from(package)?, files).err()
}

/// Checks that no other user can change a file in `dir` that is compiled and run.
fn is_ours(dir: &Path, more: &[(&str, &str)]) -> Result<(), String> {
    with(more).try_for_each(|(path, _)| only_ours(&dir.join(path)))
}

/// Unpacks the files into a folder of `cache` named by a hash of their contents; returns the folder. Leaves correct files
/// alone, because two programs may do this at once.
fn unpacked(cache: &Path, more: &[(&str, &str)]) -> Result<PathBuf, Error> {
    let mut hasher = FxHasher::default();
    (FILES, more).hash(&mut hasher);
    let dir = cache.join(format!("home_{:016x}", hasher.finish()));
    for (path, text) in with(more) {
        let file = dir.join(path);
        if is_same(&file, text) {
            continue;
        }
        let made =
            std::fs::create_dir_all(file.parent().unwrap_or(&dir)).map_err(|e| e.to_string());
        made.and_then(|()| write_whole(&file, text))
            .map_err(|e| Error::Cache(format!("{}: {e}", file.display())))?;
    }
    Ok(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MORE: [(&str, &str); 1] = [("rtl/mine/mine.f", "mine.sv\n")];

    #[test]
    fn a_file_that_has_changed_since_the_program_was_built_is_found() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("rtl/mine");
        let found = || changed(&folder, MORE.iter(), root.path());
        assert_eq!(found(), None, "there is no folder");
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("mine.f");
        assert_eq!(found().as_ref(), Some(&file), "it is missing");
        std::fs::write(&file, MORE[0].1).unwrap();
        assert_eq!(found(), None);
        std::fs::write(&file, "other.sv\n").unwrap();
        assert_eq!(found().as_ref(), Some(&file));
    }

    #[test]
    fn files_are_unpacked_once_and_a_damaged_one_is_mended() {
        let cache = tempfile::tempdir().unwrap();
        let dir = unpacked(cache.path(), &MORE).unwrap();
        assert!(dir.starts_with(cache.path()) && is_whole(&dir, &MORE));
        let file = dir.join("crates/verilate/shim/shim.cpp");
        let written = || std::fs::metadata(&file).unwrap().modified().unwrap();
        let first = written();
        assert_eq!(unpacked(cache.path(), &MORE).unwrap(), dir);
        assert_eq!(written(), first);
        std::fs::write(&file, "half").unwrap();
        assert!(!is_whole(&dir, &MORE));
        assert_eq!(unpacked(cache.path(), &MORE).unwrap(), dir);
        assert!(is_whole(&dir, &MORE));
        // Another package's files are in another folder.
        assert_ne!(unpacked(cache.path(), &[]).unwrap(), dir);
    }

    /// Regression: the folder of the build was used even if another user had made it, and so was the Verilator in it.
    #[cfg(unix)]
    #[test]
    fn a_folder_that_others_can_write_to_is_not_used_although_its_files_are_right() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let home = unpacked(dir.path(), &MORE).unwrap();
        is_ours(&home, &MORE).unwrap();
        for part in ["", "rtl/mine", "rtl/mine/mine.f"] {
            let path = home.join(part);
            let mode = std::fs::metadata(&path).unwrap().permissions();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o777)).unwrap();
            assert!(is_whole(&home, &MORE));
            let why = is_ours(&home, &MORE).unwrap_err();
            assert!(why.starts_with("others can write to "), "{why}");
            std::fs::set_permissions(&path, mode).unwrap();
        }
    }

    #[test]
    fn the_folder_that_the_program_was_built_from_is_used_while_it_is_the_same() {
        let repository = built_from(None).unwrap();
        assert!(shim(&repository).is_dir() && !is_whole(&repository, &MORE));
        assert!(!is_whole(Path::new("/"), &[]));
    }
}
