//! The files with which every model is built, as this crate was compiled with them.

use std::path::Path;

/// Their folder, seen from the root of the repository, and of every folder into which they are unpacked.
pub const FOLDER: &str = "crates/verilate/shim";

macro_rules! files {
    ($($name:literal),+) => {
        &[$((
            concat!("crates/verilate/shim/", $name),
            include_str!(concat!("../shim/", $name)),
        )),+]
    };
}

/// Path and contents of each.
pub const FILES: &[(&str, &str)] = files![
    "deleter.h",
    "host.cpp",
    "lint.vlt",
    "shim.cpp",
    "shim.h",
    "stop.cpp",
    "stop.h"
];

/// Settings of Verilator for a bench top.
pub(crate) const LINT: &str = "lint.vlt";

/// The C interface of a model.
pub(crate) const SHIM_H: &str = "shim.h";

/// File with the runtime's reaction when the RTL stops the simulation.
pub(crate) const STOP: &str = "stop.cpp";

/// Header that disables the functions that `stop.cpp` replaces, included before each file of the runtime.
pub(crate) const STOP_H: &str = "stop.h";

/// Header that replaces a class of Verilator's runtime in a model, included at the end of the precompiled headers.
pub(crate) const DELETER_H: &str = "deleter.h";

/// What every model is compiled with.
pub(crate) const OF_MODELS: [&str; 5] = [DELETER_H, SHIM_H, "shim.cpp", STOP, STOP_H];

/// Returns the folder with these files in the source of this crate, for a build script. It may be gone when a program runs.
pub fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/shim"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folder_is_embedded() {
        let names = std::fs::read_dir(folder()).unwrap();
        let mut there: Vec<_> = names
            .map(|entry| format!("{FOLDER}/{}", entry.unwrap().file_name().to_string_lossy()))
            .collect();
        there.sort();
        assert_eq!(
            there,
            FILES.iter().map(|(path, _)| *path).collect::<Vec<_>>()
        );
        assert!(folder().ends_with("verilate/shim"));
    }
}
