//! Generates the Rust file of a design in a build script.

use std::path::Path;
use std::{env, fs};

use crate::{Declaration, Error};

impl Declaration {
    /// Reads the declaration at `path` (in a build script: relative to the package), writes the Rust file for it to
    /// `OUT_DIR/<name>.rs`, and tells cargo to rerun if the declaration changes. `bench` is the path of the crate with the
    /// bench: `crate` in that crate itself.
    ///
    /// # Errors
    /// The file cannot be read or written; the first error in the declaration.
    pub fn generate(path: &str, bench: &str) -> Result<Self, Error> {
        let error = |file: &Path, e: std::io::Error| Error {
            file: file.display().to_string(),
            line: 0,
            field: "file".to_owned(),
            message: e.to_string(),
        };
        println!("cargo:rerun-if-changed={path}");
        let from = Path::new(path);
        let toml = fs::read_to_string(from).map_err(|e| error(from, e))?;
        let declaration = Self::parse(path, &toml)?;
        let out = env::var_os("OUT_DIR").unwrap_or_default();
        let out = Path::new(&out).join(format!("{}.rs", declaration.name));
        fs::write(&out, declaration.rust(&toml, bench)).map_err(|e| error(&out, e))?;
        Ok(declaration)
    }
}

/// Reads the declaration at `path`, relative to the package, and writes `OUT_DIR/<name>.rs` with the structs of pins and
/// state. For the build script of a crate that defines a design; the crate includes the file with
/// `include!(concat!(env!("OUT_DIR"), "/<name>.rs"))`.
///
/// # Errors
/// The file cannot be read or written; the first error in the declaration.
pub fn generate(path: &str) -> Result<Declaration, Error> {
    Declaration::generate(path, "::reconverge")
}
