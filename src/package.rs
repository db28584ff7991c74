//! The RTL of the units that this package contains: the files, and the models that the build script linked.

use reconverge_bench::home::Package;

// The RTL, and the files that proofs use with it.
include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
// Linked models.
include!(concat!(env!("OUT_DIR"), "/models.rs"));

macro_rules! packages {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {
        /// The value of [`reconverge_bench::design::Design::package`] for each unit. They differ in their sources alone.
        #[allow(non_upper_case_globals)]
        pub(crate) mod of {
            use super::*;

            $(pub static $module: Package = Package {
                root: crate::ROOT,
                files: FILES,
                sources: env!(concat!("RECONVERGE_SOURCES_", stringify!($module))),
                built: env!("OUT_DIR"),
                linked: LINKED,
            };)+
        }
    };
}
for_each_unit!(packages);

/// A digest of what the campaigns of all units depend on, apart from the RTL.
pub const SOURCES: &str = env!("RECONVERGE_SOURCES");
/// The commit from which this package was built, if known.
pub const COMMIT: Option<&str> = option_env!("RECONVERGE_COMMIT");
/// The target for which it was compiled.
pub const TARGET: &str = env!("RECONVERGE_TARGET");
/// The versions of Verilator and compiler that built the linked models; empty if none is linked.
pub const BUILT_WITH: &str = env!("RECONVERGE_BUILT_WITH");

/// Returns unit and contents of each linked model, as the cache names them.
pub fn linked() -> impl Iterator<Item = (&'static str, &'static str)> {
    LINKED.iter().map(|l| (l.unit, l.contents))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A found bug: a comment in the command made the results of a campaign unusable, and compiled all units anew.
    #[test]
    fn the_sources_of_a_unit_are_its_own_and_those_of_the_engine() {
        let output = std::fs::read_to_string(concat!(env!("OUT_DIR"), "/../output")).unwrap();
        let read = |path: &str| output.contains(&format!("={}/{path}\n", crate::ROOT));
        assert!(read("src/r500") && read("crates/bench/src") && read("crates/campaign/src"));
        assert!(!output.contains("crates/command") && !read("crates") && !read("src"));
        let sources = [&of::r500, &of::r700, &of::spa5].map(|package| package.sources);
        assert!(
            sources
                .iter()
                .all(|one| sources.iter().filter(|two| *two == one).count() == 1)
        );
        assert!(!sources.contains(&SOURCES));
    }

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
