//! Where bench top, shim and our own RTL lie when a model is built: in the folder from which this program was built, or, where that
//! is gone or has changed, unpacked from the program itself.

use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustc_hash::FxHasher;
use verilate::{Error, Store};

use crate::wave::write_whole;

// Paths in the folder of the project, and their contents.
include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// Returns the folder with `rtl` and `tb`: `$RECONVERGE_HOME`; otherwise the folder from which this program was built, if it
/// has the files that the program was built with; otherwise the cache, with these files unpacked.
///
/// # Errors
/// There is no cache, or it cannot be written.
pub fn home() -> Result<PathBuf, Error> {
    if let Some(given) = std::env::var_os("RECONVERGE_HOME").filter(|v| !v.is_empty()) {
        return Ok(given.into());
    }
    static HOME: OnceLock<PathBuf> = OnceLock::new();
    if let Some(home) = HOME.get() {
        return Ok(home.clone());
    }
    let built_in = Path::new(env!("CARGO_MANIFEST_DIR"));
    let home = match is_whole(built_in) {
        true => built_in.to_owned(),
        false => unpacked(Store::of_user()?.dir())?,
    };
    Ok(HOME.get_or_init(|| home).clone())
}

/// Returns the folder of our own RTL of `unit`.
///
/// # Errors
/// As [`home`].
pub fn own_rtl(unit: &str) -> Result<PathBuf, Error> {
    Ok(home()?.join("rtl").join(unit))
}

/// Whether `dir` has every file as this program has it.
fn is_whole(dir: &Path) -> bool {
    let has = |(path, text): &(&str, &str)| {
        let there = std::fs::read(dir.join(path));
        there.is_ok_and(|bytes| bytes == text.as_bytes())
    };
    FILES.iter().all(has)
}

/// Unpacks the files into a folder of `cache` that is named by their contents; returns it. What is there and right stays: two
/// programs may do this at once.
fn unpacked(cache: &Path) -> Result<PathBuf, Error> {
    let mut hasher = FxHasher::default();
    FILES.hash(&mut hasher);
    let dir = cache.join(format!("home_{:016x}", hasher.finish()));
    for (path, text) in FILES {
        let file = dir.join(path);
        if std::fs::read(&file).is_ok_and(|bytes| bytes == text.as_bytes()) {
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

    #[test]
    fn files_are_unpacked_once_and_a_damaged_one_is_mended() {
        let cache = tempfile::tempdir().unwrap();
        let dir = unpacked(cache.path()).unwrap();
        assert!(dir.starts_with(cache.path()) && is_whole(&dir));
        let file = dir.join("tb/shim.cpp");
        let written = || std::fs::metadata(&file).unwrap().modified().unwrap();
        let first = written();
        assert_eq!(unpacked(cache.path()).unwrap(), dir);
        assert_eq!(written(), first);
        std::fs::write(&file, "half").unwrap();
        assert!(!is_whole(&dir));
        assert_eq!(unpacked(cache.path()).unwrap(), dir);
        assert!(is_whole(&dir));
    }

    #[test]
    fn the_folder_that_the_program_was_built_from_is_used_while_it_is_the_same() {
        assert!(is_whole(Path::new(env!("CARGO_MANIFEST_DIR"))));
        assert!(!is_whole(Path::new("/")));
    }

    /// A program that was copied to another machine builds models from these alone.
    #[test]
    fn shim_lint_settings_and_every_unit_are_embedded() {
        let has = |path: &str| FILES.iter().any(|(file, _)| *file == path);
        assert!(has("tb/shim.cpp") && has("tb/stop.cpp") && has("rtl/lint.vlt"));
        if cfg!(feature = "units") {
            for unit in ["r500", "r700", "spa5"] {
                for file in ["design.toml", "_seq.sv", "_sva.sv", ".f"] {
                    let path = match file {
                        "design.toml" => format!("rtl/{unit}/design.toml"),
                        rest => format!("rtl/{unit}/{unit}{rest}"),
                    };
                    assert!(has(&path), "{path}");
                }
                assert!(has(&format!("tb/formal/{unit}.sv")));
            }
        }
    }
}
