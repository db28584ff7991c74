//! Tools that some tests run, and that not every machine has.

use std::io::Write as _;

/// Whether all of `tools` are there; says it when they are not.
pub fn have(tools: &[&str]) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let missing: Vec<&str> = tools
        .iter()
        .copied()
        .filter(|tool| !std::env::split_paths(&path).any(|dir| dir.join(tool).is_file()))
        .collect();
    if missing.is_empty() {
        return true;
    }
    let missing = missing.join(", ");
    assert!(
        std::env::var_os("RECONVERGE_ALL_TOOLS").is_none(),
        "RECONVERGE_ALL_TOOLS is set, and there is no {missing}: run ./setup --all"
    );
    let test = std::thread::current().name().unwrap_or("?").to_owned();
    // Not eprintln: what a passing test prints is not shown.
    let _ = writeln!(
        std::io::stderr(),
        "skipped: {test}: no {missing} (./setup --all installs it)"
    );
    false
}
