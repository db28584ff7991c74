//! Generates the Rust file of a design in a build script.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use crate::{Declaration, Error};

impl Declaration {
    /// Reads the declaration at `path` (in a build script: relative to the package), writes the Rust file for it to
    /// `OUT_DIR/<name>.rs`, and tells cargo to rerun if the declaration changes. `bench` is the path of the crate with the
    /// bench: `crate` in that crate itself.
    ///
    /// # Errors
    /// The file cannot be read or written; the first error in the declaration.
    pub fn generate(path: &str, bench: &str) -> Result<Self, Error> {
        let out = env::var_os("OUT_DIR").unwrap_or_default();
        generated(path, bench, "", Path::new(&out))
    }
}

fn error(file: &Path, e: &io::Error) -> Error {
    Error {
        file: file.display().to_string(),
        line: 0,
        field: "file".to_owned(),
        message: e.to_string(),
    }
}

fn generated(path: &str, bench: &str, sources: &str, out: &Path) -> Result<Declaration, Error> {
    println!("cargo:rerun-if-changed={path}");
    let from = Path::new(path);
    let toml = fs::read_to_string(from).map_err(|e| error(from, &e))?;
    let declaration = Declaration::parse(path, &toml)?;
    let out = out.join(format!("{}.rs", declaration.name));
    let folder = from.parent().unwrap_or(Path::new(""));
    let text = declaration.rust(&toml, bench, &folder.to_string_lossy(), sources);
    fs::write(&out, text).map_err(|e| error(&out, &e))?;
    Ok(declaration)
}

/// Returns a digest of the Rust files below `src`, if there are any, and tells cargo to rerun if they change.
fn digest(src: &Path) -> Result<String, Error> {
    let mut files = Vec::new();
    if src.is_dir() {
        println!("cargo:rerun-if-changed={}", src.display());
        rust_files(src, &mut files)?;
    }
    files.sort();
    // FNV-1a: the digest must not depend on the compiler.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in &files {
        let text = fs::read(file).map_err(|e| error(file, &e))?;
        let name = file.to_string_lossy();
        let length = (text.len() as u64).to_le_bytes();
        for byte in name.bytes().chain([0]).chain(length).chain(text) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    Ok(format!("{hash:016x}"))
}

fn rust_files(dir: &Path, files: &mut Vec<PathBuf>) -> Result<(), Error> {
    for entry in fs::read_dir(dir).map_err(|e| error(dir, &e))? {
        let entry = entry.map_err(|e| error(dir, &e))?;
        let path = entry.path();
        // Links are not followed: one may lead back here.
        if entry.file_type().map_err(|e| error(&path, &e))?.is_dir() {
            rust_files(&path, files)?;
        } else if path.extension().is_some_and(|x| x == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// Reads the declaration at `path`, relative to the package, and writes `OUT_DIR/<name>.rs` with the structs of pins and
/// state. For the build script of a crate that defines a design; the crate includes the file with
/// `include!(concat!(env!("OUT_DIR"), "/<name>.rs"))`. The file also has a digest of the Rust files in `src`, if there are
/// any: campaigns of a crate with other sources have other results.
///
/// # Errors
/// The file cannot be read or written, or a file in `src` cannot be read; the first error in the declaration.
pub fn generate(path: &str) -> Result<Declaration, Error> {
    let out = env::var_os("OUT_DIR").unwrap_or_default();
    let sources = digest(Path::new("src"))?;
    generated(path, "::reconverge", &sources, Path::new(&out))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: an absolute path was taken as one below the package, and a package without `src` did not build.
    #[test]
    fn a_declaration_may_lie_anywhere_and_a_package_need_not_have_src() {
        let dir = tempfile::tempdir().unwrap();
        let toml = "name = \"one\"\ndoc = \"One bit.\"\n[[pin]]\nname = \"a\"\ndoc = \"In.\"\nwidth = 1\n[[state]]\nname = \"b\"\ndoc = \"Out.\"\nwidth = 1\noutput = \"b\"\n";
        let file = dir.path().join("design.toml");
        fs::write(&file, toml).unwrap();
        let sources = digest(&dir.path().join("src")).unwrap();
        generated(&file.to_string_lossy(), "crate", &sources, dir.path()).unwrap();
        let text = fs::read_to_string(dir.path().join("one.rs")).unwrap();
        assert!(
            text.contains(&format!("folder: {:?},", dir.path())),
            "{text}"
        );
    }
}
