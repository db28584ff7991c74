//! The RTL of the units that this package contains: the files, and the models that the build script linked.

use reconverge_bench::home::Package;

// The RTL, and the files that proofs use with it.
include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
// Linked models.
include!(concat!(env!("OUT_DIR"), "/models.rs"));

/// The value of [`crate::design::Design::package`] for the units.
pub(crate) static PACKAGE: Package = Package {
    root: crate::ROOT,
    files: FILES,
    sources: SOURCES,
    built: env!("OUT_DIR"),
    linked: LINKED,
};

/// A digest of what the campaigns of this program depend on, apart from the RTL.
pub const SOURCES: &str = env!("RECONVERGE_SOURCES");
/// The commit from which this package was built, if known.
pub const COMMIT: Option<&str> = option_env!("RECONVERGE_COMMIT");
/// The target for which it was compiled.
pub const TARGET: &str = env!("RECONVERGE_TARGET");
/// The versions of Verilator and compiler that built the linked models; empty if none is linked.
pub const BUILT_WITH: &str = env!("RECONVERGE_BUILT_WITH");

/// Returns unit and contents of each linked model, as the cache names them.
pub fn linked() -> impl Iterator<Item = (&'static str, &'static str)> {
    PACKAGE.linked.iter().map(|l| (l.unit, l.contents))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On another machine the program builds models from these files alone, with the shim and the lint settings, which the bench
    /// contains.
    #[test]
    fn every_unit_is_embedded() {
        let has = |path: &str| FILES.iter().any(|(file, _)| *file == path);
        for unit in ["r500", "r700", "spa5"] {
            for file in [
                "design.toml",
                "_seq.sv",
                "_sva.sv",
                "_formal.sv",
                "_step.sv",
                "_proofs.json",
                ".f",
            ] {
                let path = match file {
                    "design.toml" => format!("rtl/{unit}/design.toml"),
                    rest => format!("rtl/{unit}/{unit}{rest}"),
                };
                assert!(has(&path), "{path}");
            }
        }
    }
}
