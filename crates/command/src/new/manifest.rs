//! Where the `Cargo.toml` of a new crate takes Reconverge from.

use std::path::{Path, PathBuf};

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
         # Tests and `cargo run` without --release: a cycle takes a fifth of the time, compiling hardly longer.\n\
         [profile.dev]\nopt-level = 1\ndebug = \"line-tables-only\"\n\n\
         # The command is compiled in this crate, with the golden model. Level 1 takes less time to compile, and a campaign no more to run.\n\
         [profile.release.package.{name}]\nopt-level = 1\n\n[workspace]\n",
        from(home.map(Path::to_owned)),
        from(home.map(|home| home.join("crates/command"))),
        from(home.map(|home| home.join("crates/declaration"))),
    )
}
