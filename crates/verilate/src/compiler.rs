//! The C and C++ compilers.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, io};
use crate::limit;

/// Environment variables of Verilator, the compilers and the programs that call them. Some may also have a prefix or suffix
/// that names a target, as in the `cc` crate.
pub const VARIABLES: [&str; 22] = [
    "AR",
    "CC",
    "CFLAGS",
    "CXX",
    "CXXFLAGS",
    "CXXSTDLIB",
    "CC_SHELL_ESCAPED_FLAGS",
    "CC_KNOWN_WRAPPER_CUSTOM",
    "CRATE_CC_NO_DEFAULTS",
    "CROSS_COMPILE",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "LD_RUN_PATH",
    "SDKROOT",
    "MACOSX_DEPLOYMENT_TARGET",
    "VERILATOR",
    "VERILATOR_BIN",
    "VERILATOR_ROOT",
];

/// Variables that may be set for one target, with a prefix or suffix.
const OF_TARGET: [&str; 6] = ["AR", "CC", "CFLAGS", "CXX", "CXXFLAGS", "CXXSTDLIB"];

/// Returns the environment variables that determine how a model is built.
pub(crate) fn environment() -> Vec<(OsString, OsString)> {
    let counts = |name: &str| {
        let bare = name
            .strip_prefix("HOST_")
            .or_else(|| name.strip_prefix("TARGET_"));
        VARIABLES.contains(&name)
            || bare.is_some_and(|bare| OF_TARGET.contains(&bare))
            || OF_TARGET.iter().any(|v| {
                name.strip_prefix(v)
                    .is_some_and(|rest| rest.starts_with('_'))
            })
    };
    let mut found: Vec<(OsString, OsString)> = std::env::vars_os()
        .filter(|(name, _)| name.to_str().is_some_and(counts))
        .collect();
    found.sort();
    found
}

/// A compiler with its flags.
#[derive(Clone)]
pub(crate) struct Compiler {
    build: cc::Build,
    tool: cc::Tool,
    apple: bool,
    linux: bool,
}

/// An object and the files that it was made from.
pub(crate) struct Object {
    pub path: PathBuf,
    pub read: Vec<PathBuf>,
}

impl Compiler {
    /// Returns the compiler that `build` selects.
    pub fn new(mut build: cc::Build, target: &str) -> Result<Self, Error> {
        build
            .debug(false)
            .warnings(false)
            .extra_warnings(false)
            .cargo_metadata(false)
            .cargo_warnings(false)
            .pic(true)
            .flag_if_supported("-fcf-protection=none")
            .flag_if_supported("-fvisibility=hidden");
        let tool = build.try_get_compiler().map_err(|e| {
            Error::Tool(format!(
                "no usable C++ compiler: {e}\nRun ./setup in the project's folder: it installs one."
            ))
        })?;
        Ok(Compiler {
            build,
            tool,
            apple: target.contains("apple"),
            linux: target.contains("linux"),
        })
    }

    /// Returns the programs of the compiler.
    pub fn programs(&self) -> Vec<PathBuf> {
        let called = self.tool.to_command();
        let mut programs = vec![self.tool.path().to_owned(), called.get_program().into()];
        programs.dedup();
        programs
    }

    /// Returns whether programs need `libatomic`: Clang puts atomic operations on unusual sizes into this library.
    pub fn needs_atomic(&self) -> bool {
        self.tool.is_like_clang() && self.linux
    }

    fn command(&self) -> Command {
        self.tool.to_command()
    }

    /// Compiles `source`, relative to folder `from`, to `name.o` in `out`.
    pub fn object(
        &self,
        from: &Path,
        source: &Path,
        out: &Path,
        name: &str,
    ) -> Result<Object, Error> {
        let mut command = self.command();
        command.current_dir(from).arg("-c").arg(source);
        let shown = source.strip_prefix(from).unwrap_or(source);
        compile(command, &shown.display().to_string(), out, name, "o")
    }

    /// Returns whether it precompiles headers. Clang uses them in another way.
    pub fn precompiles(&self) -> bool {
        self.tool.is_like_gnu()
    }

    /// Precompiles `header` in `out` to `<header>.gch`. Later compilations with the same flags that include `header` first
    /// read this file instead.
    pub fn precompiled(&self, out: &Path, header: &str) -> Result<Object, Error> {
        let mut command = self.command();
        command.current_dir(out).args(["-x", "c++-header", header]);
        compile(command, header, out, header, "gch")
    }

    /// Joins `objects` in the archive `lib<name>.a` in `out`.
    pub fn archive(&self, objects: &[PathBuf], out: &Path, name: &str) -> Result<(), Error> {
        let mut build = self.build.clone();
        build.out_dir(out).objects(objects);
        build
            .try_compile(name)
            .map_err(|e| Error::Refused(e.to_string()))
    }

    /// Links `objects` as the shared library `file`.
    ///
    /// # Errors
    /// A symbol is undefined: calling it would end the process.
    pub fn library(&self, objects: &[PathBuf], file: &Path) -> Result<(), Error> {
        let mut command = self.command();
        command.arg("-shared").args(objects);
        if !self.apple {
            command.arg("-Wl,-z,defs");
        }
        if self.linux {
            command.arg("-pthread");
        }
        command.args(self.needs_atomic().then_some("-latomic"));
        command.arg("-o").arg(file);
        run(command, "linking the model")
    }

    /// Links `object` as the program `file`, which opens libraries and starts threads.
    pub fn program(&self, object: &Path, file: &Path) -> Result<(), Error> {
        let mut command = self.command();
        command.arg(object);
        if self.linux {
            command.args(["-pthread", "-ldl"]);
        }
        command.arg("-o").arg(file);
        run(command, "linking the program that runs models")
    }
}

/// Runs `command`, a compilation shown to the user as `shown`, with output `<name>.<ending>` in `out`.
fn compile(
    mut command: Command,
    shown: &str,
    out: &Path,
    name: &str,
    ending: &str,
) -> Result<Object, Error> {
    let object = out.join(format!("{name}.{ending}"));
    let list = out.join(format!("{name}.d"));
    command.arg("-o").arg(&object);
    command.arg("-MMD").arg("-MF").arg(&list);
    run(command, &format!("compiling {shown}"))?;
    let text = fs::read_to_string(&list).map_err(io(&list))?;
    Ok(Object {
        path: object,
        read: prerequisites(&text),
    })
}

fn run(command: Command, what: &str) -> Result<(), Error> {
    let program = PathBuf::from(command.get_program());
    let out = limit::output(&command)?;
    if out.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&out.stderr);
    Err(Error::Refused(format!(
        "{what}: {} ended with {}:\n{}",
        program.display(),
        out.status,
        said.trim_end()
    )))
}

/// Returns the prerequisites of a make rule with one target, as compilers write it: blanks in names are escaped, and a line
/// continues after a backslash.
fn prerequisites(rule: &str) -> Vec<PathBuf> {
    let mut names = vec![String::new()];
    let mut letters = rule.chars().peekable();
    while let Some(c) = letters.next() {
        let last = names.last_mut();
        match (c, letters.peek(), last) {
            ('\\', Some('\n'), _) => {
                letters.next();
                names.push(String::new());
            }
            ('\\', Some(' ' | '#' | '\\'), Some(name)) => name.extend(letters.next()),
            ('$', Some('$'), Some(name)) => name.extend(letters.next()),
            (c, _, _) if c.is_whitespace() => names.push(String::new()),
            (c, _, Some(name)) => name.push(c),
            (_, _, None) => {}
        }
    }
    // The first name is the target, with its colon.
    let names = names.into_iter().filter(|name| !name.is_empty());
    names.skip(1).map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_of_make_is_read_with_names_that_hold_blanks() {
        let rule = "out/unity.o: out/unity.cc \\\n /a\\ b/c.h \\\n  d$$.h e\\#.h\n";
        let names = ["out/unity.cc", "/a b/c.h", "d$.h", "e#.h"].map(PathBuf::from);
        assert_eq!(prerequisites(rule), names);
    }

    #[test]
    fn a_rule_of_make_without_prerequisites_has_none() {
        assert_eq!(prerequisites("x.o:\n"), Vec::<PathBuf>::new());
    }
}
