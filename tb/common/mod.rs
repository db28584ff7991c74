//! What the tests of the command share; what they need to know of each unit is in [`units`].
//!
//! A test that holds for every unit is a function `fn name<U: Tested>()`, and its file lists it once:
//!
//! ```ignore
//! macro_rules! tests {
//!     ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
//!         mod $module {
//!             crate::common::test_unit!(reconverge::$module::$unit: name, another_name);
//!         }
//!     )+};
//! }
//! reconverge::for_each_unit!(tests);
//! ```
//!
//! so that it runs as `r500::name` and so on, for every unit of `src/units.rs`.

pub mod changes;
pub mod damage;
pub mod dump;
pub mod failed;
pub mod mismatch;
pub mod pages;
pub mod rtl;
pub mod run;
pub mod schema;
pub mod screen;
pub mod shaders;
pub mod specification;
pub mod step_sv;
mod test_unit;
pub mod tool;
pub mod units;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::{Duration, Instant};

use reconverge::unit::{LoadOptions, Unit};

pub use needs::needs;
pub use units::Tested;

/// The repository.
pub use reconverge::ROOT;

pub(crate) use test_unit::test_unit;

/// The designs of a file of tests, each from the structs that the build script has made of its declaration, and its golden model.
macro_rules! designs {
    ($($(#[$doc:meta])* $module:ident $design:ident $golden:ident;)+) => {$(
        mod $module {
            include!(concat!(env!("OUT_DIR"), "/", stringify!($module), ".rs"));
        }

        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        struct $design;

        impl reconverge::design::Design for $design {
            const DECLARATION: &'static reconverge::field::Declaration = &$module::DECLARATION;
            type In = $module::In;
            type State = $module::State;
            type Golden = $golden;
        }
    )+};
}
pub(crate) use designs;

/// As [`test_unit`], of functions that build models of changed RTL, which takes seconds each: `cargo test` runs them for r500, CI's
/// step `builds` for the other units too.
macro_rules! test_unit_with_models {
    (r500 $unit:ty: $($(#[$attribute:meta])* $test:ident),+ $(,)?) => {
        crate::common::test_unit!($unit: $($(#[$attribute])* $test),+);
    };
    ($module:ident $unit:ty: $($(#[$attribute:meta])* $test:ident),+ $(,)?) => {
        $(
            $(#[$attribute])*
            #[test]
            #[ignore = "many models or proofs; CI's step builds runs it"]
            fn $test() {
                super::$test::<$unit>();
            }
        )+
    };
}
pub(crate) use test_unit_with_models;

/// The command in folder `from`, to be started. Cargo gives the tests a cache of models in the build folder
/// (`.cargo/config.toml`).
pub fn command_in(from: &Path, args: &[&str]) -> Command {
    let mut command = tool::command(env!("CARGO_BIN_EXE_reconverge"));
    command.envs(tool::ENVIRONMENT);
    command.args(args).current_dir(from);
    command
}

/// The command in folder `from`.
pub fn reconverge_in(from: &Path, args: &[&str]) -> Output {
    command_in(from, args).output().unwrap()
}

/// The command in the repository.
pub fn reconverge(args: &[&str]) -> Output {
    reconverge_in(Path::new(ROOT), args)
}

/// Commands that write the files of a failure into a folder.
const WITH_FILES: [&str; 5] = ["cover", "exhaust", "fuzz", "replay", "run"];

/// Returns the standard output of a command that must end with `status`. A command that finds an unexpected failure runs again,
/// so that its files are in a folder that stays.
pub fn reconverge_ends(status: i32, args: &[&str]) -> String {
    let mut output = reconverge(args);
    if status == 0 && output.status.code() == Some(1) && WITH_FILES.contains(&args[0]) {
        let folder = failed::folder();
        let mut again = args.to_vec();
        match args.iter().position(|arg| *arg == "--out") {
            Some(at) => again[at + 1] = arg(&folder),
            None => again.extend(["--out", arg(&folder)]),
        }
        output = reconverge(&again);
    }
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(status), "{args:?}\n{out}{err}");
    out
}

/// Returns what the command says of `args`, which it must refuse as bad input.
pub fn refusal(args: &[&str]) -> String {
    let output = reconverge(args);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{args:?}\n{said}");
    said
}

/// Waits for an event. The limit ends a test whose event never comes; it is too long to be reached on a busy machine.
pub fn wait_until(what: &str, mut so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !so() {
        assert!(
            begin.elapsed() < Duration::from_secs(1200),
            "not so: {what}"
        );
        sleep(Duration::from_millis(5));
    }
}

/// Output of a command as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The path as an argument.
pub fn arg(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The first line of `report` that begins with `start`.
pub fn line_starting<'a>(report: &'a str, start: &str) -> &'a str {
    report
        .lines()
        .find(|l| l.starts_with(start))
        .unwrap_or_else(|| panic!("no {start:?} in\n{report}"))
}

/// One of the unit's own programs, from the repository.
pub fn program<U: Unit>(name: &str) -> String {
    format!("tb/{}/programs/{name}", U::NAME)
}

/// The text of such a program.
pub fn source<U: Unit>(name: &str) -> Vec<u8> {
    fs::read(Path::new(ROOT).join(program::<U>(name))).unwrap()
}

/// Such a program, loaded.
pub fn loaded<U: Unit>(name: &str) -> U::Program {
    U::load(&source::<U>(name), name, &LoadOptions::default())
        .unwrap()
        .program
}

fn files(dir: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|x| endings.contains(&x.to_str().unwrap()))
        })
        .collect();
    found.sort();
    found
}

/// The unit's own programs, as assembly.
pub fn own_programs<U: Unit>() -> Vec<PathBuf> {
    files(&Path::new(ROOT).join(program::<U>("")), &["s"])
}

/// What compilers and drivers made for the unit.
pub fn imported_programs<U: Tested>() -> Vec<PathBuf> {
    let folders = fs::read_dir(Path::new(ROOT).join(program::<U>(""))).unwrap();
    folders
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .flat_map(|dir| files(&dir, U::IMPORTED))
        .collect()
}
