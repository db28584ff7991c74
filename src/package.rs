//! What this package has in it of the RTL of its units: the files, and the models that the build script linked.

use reconverge_bench::home::Package;

// The RTL, and what proofs may use of it.
include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
// Linked models.
include!(concat!(env!("OUT_DIR"), "/models.rs"));

/// For [`crate::design::Design::package`] of the units.
pub(crate) static PACKAGE: Package = Package {
    root: crate::ROOT,
    files: FILES,
    sources: SOURCES,
    built: env!("OUT_DIR"),
    linked: LINKED,
};

/// What the campaigns of this program depend on beside the RTL, as a digest.
pub const SOURCES: &str = env!("RECONVERGE_SOURCES");
/// The commit from which this package was made, where it is known.
pub const COMMIT: Option<&str> = option_env!("RECONVERGE_COMMIT");
/// The machine for which it was compiled.
pub const TARGET: &str = env!("RECONVERGE_TARGET");
/// Verilator and compiler of the linked models; nothing where there are none.
pub const BUILT_WITH: &str = env!("RECONVERGE_BUILT_WITH");

/// Returns the unit and the contents of each model that is linked, as the cache would name them.
pub fn linked() -> impl Iterator<Item = (&'static str, &'static str)> {
    PACKAGE.linked.iter().map(|l| (l.unit, l.contents))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that was copied to another machine builds models from these alone, with shim and lint settings, which are
    /// in the bench.
    #[test]
    fn every_unit_is_embedded() {
        let has = |path: &str| FILES.iter().any(|(file, _)| *file == path);
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
