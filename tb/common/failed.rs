//! The files of a failed test's case, and the message that names them.

use std::path::{Path, PathBuf};

use reconverge::ROOT;
use reconverge::check::TestCase;
use reconverge::found::Found;
use reconverge::wave::shell;

/// The folder for the files of this test: two tests that fail at once write into different folders.
pub fn folder() -> PathBuf {
    let test = std::thread::current();
    let test = test.name().unwrap_or("main").replace("::", ".");
    Path::new(ROOT).join("waves/tests").join(test)
}

/// Returns the report and the line that runs the case again. Paths are relative to the folder in which the tests were started,
/// where possible.
pub fn text<C: TestCase>(found: &Found<C>, rtl: Option<&Path>) -> String {
    let shown = |path: &Path| shell(&path.to_string_lossy());
    let mut text = found.to_string();
    if let Some(saved) = &found.saved {
        // A package without the command does not know the path of the command.
        let command = option_env!("CARGO_BIN_EXE_reconverge");
        let command = command.map_or("cargo run -q --".to_owned(), |path| shown(Path::new(path)));
        let rtl = rtl.map_or_else(String::new, |dir| format!("--rtl {} ", shown(dir)));
        text += &format!("replay  {command} replay {rtl}{}\n", shown(saved));
    }
    match std::env::var("PWD") {
        Ok(started) if started == ROOT => text.replace(&format!("{ROOT}/"), ""),
        _ => text,
    }
}
