//! Verilator: which one is used, where it is, and which files it read.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, io};
use crate::files::program;
use crate::owner::only_ours;

/// Oldest Verilator version known to work.
const OLDEST: (u32, u32) = (5, 6);

/// An installed Verilator.
#[derive(Clone, Debug)]
pub(crate) struct Verilator {
    /// Absolute path.
    pub program: PathBuf,
    /// Set if the program is a bare `verilator_bin`, which cannot find its include folder itself.
    root: Option<PathBuf>,
    /// Its installation folder, with links resolved.
    home: PathBuf,
    /// Folder with the sources of its runtime.
    pub include: PathBuf,
    /// Version, such as `5.006`.
    pub version: String,
}

/// Most lines of a failed Verilator that are shown.
const SAID: usize = 4;

/// Returns `$VERILATOR_ROOT` as an absolute path, because Verilator runs in another folder.
fn root() -> Option<PathBuf> {
    let given = std::env::var_os("VERILATOR_ROOT").filter(|v| !v.is_empty())?;
    std::path::absolute(given).ok()
}

/// A program that may be Verilator, or why it is not tried.
pub(crate) type Candidate = Result<PathBuf, String>;

/// Returns the programs to try as Verilator, in order: `$VERILATOR` alone, or the project's own in `.tools`, unless others can
/// change it, and the one in `PATH`.
pub(crate) fn candidates(project: &Path) -> Vec<Candidate> {
    if let Some(given) = std::env::var_os("VERILATOR").filter(|v| !v.is_empty()) {
        // The user named this one, so nothing else is tried.
        let given = program(Path::new(&given)).unwrap_or_else(|| PathBuf::from(given));
        return vec![Ok(given)];
    }
    let in_path = program(Path::new("verilator")).map(Ok);
    own(project).into_iter().chain(in_path).collect()
}

/// Returns the project's own Verilator, if there is one, or why it is not used.
fn own(project: &Path) -> Option<Candidate> {
    let own = project.join(".tools/bin/verilator");
    own.is_file().then(|| match only_ours(&own) {
        Ok(()) => Ok(own),
        Err(why) => Err(format!("{}: not used: {why}", own.display())),
    })
}

impl Verilator {
    /// Returns the first usable one of `candidates`.
    pub fn find(candidates: &[Candidate]) -> Result<Self, Error> {
        let mut tried = Vec::new();
        for program in candidates {
            match program.clone().and_then(|program| Self::probe(&program)) {
                Ok(found) => return Ok(found),
                Err(why) => tried.push(why),
            }
        }
        let remedy = match root() {
            Some(root) => format!(
                "\nVERILATOR_ROOT is set to {}: unset it, or set it to the folder of the Verilator that is to be used.",
                root.display()
            ),
            None => String::new(),
        };
        if std::env::var_os("VERILATOR").is_some_and(|v| !v.is_empty()) {
            return Err(Error::Tool(format!(
                "$VERILATOR: {}{remedy}",
                tried.join(", ")
            )));
        }
        if tried.is_empty() {
            tried.push("there is no verilator in PATH".to_owned());
        }
        Err(Error::Tool(format!(
            "no usable Verilator (at least {}.{:03}) was found:\n  {}{remedy}\n\
             Run ./setup in the project's folder: it installs one. Or set VERILATOR to the program.\n\
             Without the RTL: build with --no-default-features --features units.",
            OLDEST.0,
            OLDEST.1,
            tried.join("\n  ")
        )))
    }

    fn probe(program: &Path) -> Result<Self, String> {
        // One call: its script takes longer to start than Verilator itself.
        let out = Command::new(program)
            .arg("-V")
            .output()
            .map_err(|e| format!("{}: {e}", program.display()))?;
        if !out.status.success() {
            // What it says names the cause, such as a VERILATOR_ROOT that is gone.
            let said = String::from_utf8_lossy(&out.stderr);
            let said = said.lines().filter(|line| !line.trim().is_empty());
            let said: String = said
                .take(SAID)
                .map(|line| format!("\n    {line}"))
                .collect();
            return Err(format!("{} -V: {}{said}", program.display(), out.status));
        }
        let details = String::from_utf8_lossy(&out.stdout);
        // The wheel's prints no number; the header of its runtime has it.
        let version = details.lines().next().unwrap_or_default().trim();
        let home = details
            .lines()
            .filter_map(|l| l.trim().strip_prefix("VERILATOR_ROOT"))
            .filter_map(|l| l.split_once('=').map(|(_, v)| v.trim().to_owned()))
            .find(|v| !v.is_empty())
            .map(PathBuf::from);
        let home =
            home.ok_or_else(|| format!("{} -V names no VERILATOR_ROOT", program.display()))?;
        let home = home
            .canonicalize()
            .map_err(|e| format!("{}: {e}", home.display()))?;
        let include = home.join("include");
        let number = number_in(version)
            .or_else(|| {
                let header = fs::read_to_string(include.join("verilated_config.h")).ok()?;
                // Not the first number of the file, which is the version of its licence.
                number_in(
                    header
                        .lines()
                        .find(|l| l.starts_with("#define VERILATOR_VERSION "))?,
                )
            })
            .ok_or_else(|| format!("{} -V prints no version: {version}", program.display()))?;
        if number < OLDEST {
            return Err(format!(
                "{} is version {}.{:03}",
                program.display(),
                number.0,
                number.1
            ));
        }
        if !include.join("verilated.cpp").exists() {
            return Err(format!(
                "{}: no verilated.cpp in {}",
                program.display(),
                include.display()
            ));
        }
        Ok(Verilator {
            program: program.to_owned(),
            root: root(),
            home,
            include,
            version: format!("{}.{:03}", number.0, number.1),
        })
    }

    /// Returns a command that runs it in folder `dir`.
    pub fn command(&self, dir: &Path) -> Command {
        let mut command = Command::new(&self.program);
        if let Some(root) = &self.root {
            command.env("VERILATOR_ROOT", root);
        }
        command.current_dir(dir);
        command
    }

    /// Returns whether `path` belongs to this Verilator.
    pub fn owns(&self, path: &Path) -> bool {
        let program = path.file_name().unwrap_or_default().to_string_lossy();
        let real = path.canonicalize();
        program.starts_with("verilator_bin")
            || real.as_deref().unwrap_or(path).starts_with(&self.home)
    }

    /// Returns the files that Verilator read to build the model `prefix` in `out`, as it names them. They include files
    /// that it searched for and did not find.
    pub fn read(out: &Path, prefix: &str) -> Result<Vec<PathBuf>, Error> {
        // Not V*__ver.d, which is written for make: it does not separate names with blanks.
        let path = out.join(format!("{prefix}__verFiles.dat"));
        let text = fs::read_to_string(&path).map_err(io(&path))?;
        // Format: S, numbers, in later versions a hash in quotes, the name in quotes.
        let names = text
            .lines()
            .filter(|line| line.starts_with("S "))
            .filter_map(|line| line.strip_suffix('"')?.rsplit_once(" \""));
        let files: Vec<PathBuf> = names.map(|(_, name)| PathBuf::from(name)).collect();
        if files.is_empty() {
            let why = std::io::Error::other("it names no file that Verilator has read");
            return Err(io(&path)(why));
        }
        Ok(files)
    }
}

/// Returns the first `major.minor` in a text: "Verilator 5.006 2023-01-22" gives (5, 6).
fn number_in(text: &str) -> Option<(u32, u32)> {
    text.split(|c: char| c.is_whitespace() || c == '"')
        .find_map(|word| {
            let (major, rest) = word.split_once('.')?;
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            Some((major.parse().ok()?, digits.parse().ok()?))
        })
}

/// Returns those of Verilator's warnings that concern the RTL, in order. To preload a state, the bench writes the unit's
/// registers on an edge of its own, which adds a second process per register. Warnings about this are not the RTL's, nor is the width of
/// the numbers that it gives to `parameters`.
pub(crate) fn warnings(said: &str, bench: &str, parameters: &[(String, u32)]) -> String {
    let mut blocks: Vec<String> = Vec::new();
    let mut inside = false;
    for line in said.lines() {
        if line.starts_with('%') {
            inside = line.starts_with("%Warning");
            if inside {
                blocks.push(String::new());
            }
        }
        if let Some(block) = blocks.last_mut().filter(|_| inside) {
            *block += line;
            *block += "\n";
        }
    }
    blocks.retain(|block| !(block.starts_with("%Warning-MULTIDRIVEN") && block.contains(bench)));
    blocks.retain(|block| {
        !parameters
            .iter()
            .any(|(name, value)| is_of(block, name, *value))
    });
    blocks.concat()
}

/// Returns whether a warning is only about the 32 bits in which parameter `name` gets its `value`: all of it is in those that it has.
fn is_of(warning: &str, name: &str, value: u32) -> bool {
    let (from, to) = (
        format!("Operator VAR '{name}' expects "),
        " bits on the Initial value",
    );
    let rest = warning.split_once(&from).map(|(_, rest)| rest);
    let bits = rest.and_then(|rest| rest.split_once(to)?.0.parse().ok());
    let fits = bits.is_some_and(|bits: u32| bits < 32 && value >> bits == 0);
    fits && warning.contains(&format!("CONST '32'h{value:x}' generates 32 bits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_the_first_number_with_a_point() {
        assert_eq!(number_in("Verilator 5.006 2023-01-22 rev x"), Some((5, 6)));
        assert_eq!(
            number_in("#define VERILATOR_VERSION \"5.048 devel\""),
            Some((5, 48))
        );
        assert_eq!(number_in("rev vUNKNOWN-built20260516"), None);
    }

    /// Regression: who could write to the folder of the build chose the program that others ran as Verilator.
    #[test]
    fn a_verilator_of_the_project_that_others_can_change_is_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        assert!(own(dir.path()).is_none());
        let program = dir.path().join(".tools/bin/verilator");
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::write(&program, "#!/bin/sh\n").unwrap();
        let open = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        open(&program, 0o755);
        open(&dir.path().join(".tools"), 0o755);
        open(&dir.path().join(".tools/bin"), 0o755);
        assert_eq!(own(dir.path()), Some(Ok(program.clone())));
        open(&dir.path().join(".tools"), 0o777);
        let why = own(dir.path()).unwrap().unwrap_err();
        let expected = format!(
            "{}: not used: others can write to {} (mode 777)",
            program.display(),
            dir.path().join(".tools").display()
        );
        assert_eq!(why, expected);
        let refused = Verilator::find(&[Err(why.clone())])
            .unwrap_err()
            .to_string();
        assert!(refused.contains(&why), "{refused}");
    }

    #[test]
    fn names_of_files_that_were_read_may_hold_blanks_and_come_in_both_formats() {
        let dir = tempfile::tempdir().unwrap();
        let text = "# DESCRIPTION: Verilator output\nC \"--cc a.sv\"\n\
                    S  478 10011404  1795338734   984471164  1795338734   984471164 \"rtl/a b.sv\"\n\
                    S  7280 10225885  1795339044  0  1795339044  0 \"XaBJBoH7\" \"in c/lanes.inc\"\n\
                    T  4740 10071716  1795338998  749456647  1795338998  749456647 \"o/Vx.cpp\"\n";
        fs::write(dir.path().join("Vx__verFiles.dat"), text).unwrap();
        let read = Verilator::read(dir.path(), "Vx").unwrap();
        assert_eq!(read, ["rtl/a b.sv", "in c/lanes.inc"].map(PathBuf::from));
    }

    #[test]
    fn a_list_without_a_file_is_an_error_and_not_a_model_without_sources() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Verilator::read(dir.path(), "Vx").is_err());
        fs::write(dir.path().join("Vx__verFiles.dat"), "C \"--cc\"\n").unwrap();
        assert!(Verilator::read(dir.path(), "Vx").is_err());
    }

    #[test]
    fn warnings_are_those_of_the_rtl() {
        let said = "%Warning-WIDTH: x_tb.sv:3:1: Output port is 16 bits\n    3 | .pc_o (pc)\n      |  ^\n\
                    %Warning-MULTIDRIVEN: u.sv:1:1: Signal 'x_tb.dut.r'\n    x_tb.sv:9:1: ... first\n\
                    %Warning-MULTIDRIVEN: u.sv:2:1: Signal 'x_tb.dut.s'\n    u.sv:7:1: ... first\n\
                    %Error: Exiting\n  of no matter\n";
        let kept = warnings(said, "x_tb.sv", &[]);
        assert_eq!(kept.matches("%Warning").count(), 2);
        assert!(kept.starts_with("%Warning-WIDTH") && kept.contains("      |  ^\n"));
        assert!(kept.ends_with("u.sv:7:1: ... first\n"), "{kept}");
    }

    /// Regression: `--param` of a parameter with less than 32 bits was a warning about the RTL.
    #[test]
    fn the_width_of_a_parameter_that_the_bench_gives_is_no_warning() {
        let said = |name: &str, value| {
            format!(
                "%Warning-WIDTH: r.sv:1:33: Operator VAR '{name}' expects 20 bits on the Initial value, but Initial value's CONST \
                 '32'h{value:x}' generates 32 bits.\n    1 | module r\n"
            )
        };
        let kept = |said: &str, value| warnings(said, "x_tb.sv", &[("R".to_owned(), value)]);
        assert_eq!(kept(&said("R", 0xf_ffff), 0xf_ffff), "");
        // What it cannot hold, another value, and one of the RTL's own.
        for (name, there, given) in [("R", 0x10_0000, 0x10_0000), ("R", 5, 6), ("S", 5, 5)] {
            let said = said(name, there);
            assert_eq!(kept(&said, given), said);
        }
    }
}
