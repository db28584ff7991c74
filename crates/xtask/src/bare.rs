//! A machine on which nothing is installed but what `./setup` brings.

use std::collections::BTreeSet;
use std::{env, fs};

use xshell::cmd;

use crate::{Done, Workspace, ensure, run, say};

/// The first two commands of README.md, as a newcomer types them.
const FIRST: [&str; 2] = [
    "./setup && cargo run --release -- fuzz all",
    "./setup && cargo test",
];

/// Runs the first two commands of README.md where `PATH` has none of the programs that only `./setup --all` installs.
///
/// `PATH` is one folder of links to all others, below cargo's, because cargo runs a build script again when its Verilator is gone.
pub fn bare(place: &Workspace) -> Done {
    let readme = place.sh.read_file("README.md")?;
    let shown: Vec<&str> = readme
        .lines()
        .filter_map(|line| line.strip_prefix("$ "))
        .filter(|line| line.starts_with("./setup"))
        .take(2)
        .collect();
    ensure(
        shown == FIRST,
        format!("README.md begins with other commands: {shown:?}"),
    )?;
    // What it installs has to be there before the links are made.
    run(cmd!(place.sh, "./setup"))?;
    let optional = place.sh.read_file("tb/optional_tools")?;
    let optional: BTreeSet<&str> = optional.lines().collect();
    let links = place.target.join("bare");
    place.sh.remove_path(&links)?;
    fs::create_dir_all(&links)?;
    for folder in
        env::split_paths(&env::var_os("PATH").unwrap_or_default()).filter(|folder| folder.is_dir())
    {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or_default();
            let link = links.join(name);
            // Of two programs with one name the first counts.
            if path.is_file() && !optional.contains(name) && link.symlink_metadata().is_err() {
                std::os::unix::fs::symlink(&path, link)?;
            }
        }
    }
    for command in FIRST {
        say(command);
        let own = env::vars_os()
            .map(|(name, _)| name)
            .filter(|name| name.to_string_lossy().starts_with("RECONVERGE_"));
        let first = cmd!(place.sh, "bash -c {command}").env("PATH", &links);
        run(own.fold(first, |cmd, name| cmd.env_remove(name)))?;
    }
    Ok(())
}

/// Installs the optional tools; a second run has nothing to do.
pub fn setup(place: &Workspace) -> Done {
    run(cmd!(place.sh, "./setup --all"))?;
    let again = cmd!(place.sh, "./setup --all").read()?;
    let works = ["running", "installing", "MISSING"]
        .iter()
        .any(|word| again.contains(word));
    ensure(
        !works,
        format!("a second ./setup --all is not idle:\n{again}"),
    )?;
    let refused = cmd!(place.sh, "./setup --no-such-option")
        .quiet()
        .ignore_status()
        .ignore_stderr()
        .output()?;
    ensure(!refused.status.success(), "./setup takes an unknown option")
}
