//! What a new crate is for cargo: where its `Cargo.toml` takes Reconverge from, and that `cargo fmt` finds nothing to do.

use std::path::{Path, PathBuf};
use std::process::Command;

use reconverge::home;

/// Returns the sources from which this program was built, if they still are what they were and no other user can change them:
/// cargo runs what is in them.
pub fn sources() -> Result<PathBuf, String> {
    let root = PathBuf::from(reconverge::ROOT);
    let there = root.join("Cargo.toml").is_file() && root.join("crates/declaration").is_dir();
    match home::built_from(None).filter(|dir| there && *dir == root) {
        None => Err("gone or changed".to_owned()),
        Some(_) => match home::refused(None) {
            Some(why) => Err(format!("not used: {why}")),
            None => Ok(root),
        },
    }
}

/// Formats the Rust of the crate in `dir`: lines and lists depend on the names that the user chose. Without rustfmt it stays as it was
/// written, which compiles as well.
pub fn format_crate(dir: &Path) {
    let roots = ["build.rs", "src/lib.rs", "src/main.rs"];
    let tests = ["tests/lockstep.rs", "tests/programs.rs"];
    let there = (roots.iter().chain(&tests)).filter(|file| dir.join(file).is_file());
    let mut rustfmt = Command::new("rustfmt");
    let _ = (rustfmt.args(["--edition", "2024"]).args(there))
        .current_dir(dir)
        .output();
}

/// Returns the text of `Cargo.toml`: it takes Reconverge from the folder `home`, or from a registry.
pub fn manifest(name: &str, home: Option<&Path>) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let from = |part: Option<PathBuf>| match part {
        Some(part) => format!("path = {:?}", part.to_string_lossy()),
        None => format!("version = {version:?}"),
    };
    format!(
        "[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\n\
         # Tests in it would be linked with the whole command once more.\n\
         [[bin]]\nname = {name:?}\npath = \"src/main.rs\"\ntest = false\n\n\
         [dependencies]\nreconverge = {{ {}, default-features = false, features = [\"rtl\"] }}\n\
         reconverge-command = {{ {}, default-features = false }}\n\n\
         [build-dependencies]\nreconverge-declaration = {{ {} }}\n\n\
         {}[workspace]\n",
        from(home.map(Path::to_owned)),
        from(home.map(|home| home.join("crates/command"))),
        from(home.map(|home| home.join("crates/declaration"))),
        profiles(name),
    )
}

/// The crates, beside the design's own and the bench, in which a campaign spends its time, that write what its processes tell each other, or
/// that hash tools and RTL before a model is built.
const HOT: [(&str, u32); 10] = [
    ("bytemuck", 3),
    ("crc32fast", 2),
    ("itoa", 2),
    ("rand", 3),
    ("rand_core", 3),
    ("rand_pcg", 3),
    ("reconverge-campaign", 2),
    ("rustc-hash", 3),
    ("serde_json", 2),
    ("sha2", 3),
];

/// Returns the profiles: what the first result of a new crate waits for is compiling.
fn profiles(name: &str) -> String {
    let hot = HOT.iter().filter(|(of, _)| *of != name);
    let hot = hot.map(|(of, level)| format!("{of} = {{ opt-level = {level} }}\n"));
    // In one code unit the loop that draws pins is compiled as a whole.
    let table = format!(
        "{name} = {{ opt-level = 2 }}\n\
         reconverge-bench = {{ opt-level = 3, codegen-units = 1 }}\n{}\n",
        hot.collect::<String>()
    );
    format!(
        "# What runs in every cycle is optimised: this crate and these. The others take no time, except to compile them. Add crates that your\n\
         # golden model uses and, for mutants and proofs of large RTL, reconverge-mutate = {{ opt-level = 2 }}.\n\
         [profile.release]\nlto = \"off\"\n\n[profile.release.package]\n\"*\" = {{ opt-level = 0 }}\n{table}\
         # The same for tests and for `cargo run` without --release.\n\
         [profile.dev]\ndebug = \"line-tables-only\"\nlto = \"off\"\n\n\
         [profile.dev.package]\n\"*\" = {{ debug = false }}\n{table}"
    )
}
