//! Why a model cannot be built or opened.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

/// Why a model cannot be built or opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A file list, or a file that it names, is wrong. Prints as `FILE:LINE: FIELD: MESSAGE`, without the line if it is 0.
    Input {
        /// The list, or the file itself.
        file: PathBuf,
        /// Line of the list, from 1.
        line: usize,
        /// The part of the line that is wrong.
        field: Cow<'static, str>,
        /// What is wrong with it.
        message: String,
    },
    /// Verilator, the C++ compiler or the linker rejects the sources; holds its message.
    Refused(String),
    /// A port or a probe has more bits than the bench top connects, an input is not connected at all, or a port does not exist.
    Misfit(Misfit),
    /// Files changed during each of several builds; holds one of them.
    Changing(PathBuf),
    /// There is no folder for models that can be trusted.
    Cache(String),
    /// There is no usable Verilator or C++ compiler.
    Tool(String),
    /// A file or folder cannot be read or written.
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

/// What does not fit the declaration.
#[derive(Debug, PartialEq, Eq)]
pub struct Misfit {
    /// What it is.
    pub kind: Part,
    /// Name of the port, or of the net with the value of the probe.
    pub name: String,
    /// Its bits, and those that the bench top connects; `None` if they are not known.
    pub bits: Option<(u32, u32)>,
}

/// A part of the interface between a module and its bench top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// An input with more bits.
    Input,
    /// An output with more bits.
    Output,
    /// A probe with more bits.
    Probe,
    /// An input that is not connected.
    Open,
    /// A declared port that the module does not have.
    Missing,
}

impl Misfit {
    /// Reads the name that the bench top gives its check of a size: `input_NAME`, `output_NAME`, `probe_NAME`.
    pub(crate) fn of(check: &str, bits: Option<(u32, u32)>) -> Option<Self> {
        let (kind, name) = check.split_once('_')?;
        let (kind, name) = match kind {
            "input" => (Part::Input, name),
            "output" => (Part::Output, name),
            "probe" => (Part::Probe, check),
            _ => return None,
        };
        let name = name.to_owned();
        Some(Misfit { kind, name, bits })
    }
}

impl Display for Misfit {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match self.kind {
            Part::Input | Part::Output => write!(f, "port {name}")?,
            Part::Probe => {
                let field = name.strip_prefix("probe_").unwrap_or(name);
                write!(f, "the probe of {field}")?;
            }
            Part::Open => {
                return write!(
                    f,
                    "input port {name} is not declared: it would have a constant value that the seed draws"
                );
            }
            Part::Missing => {
                return write!(
                    f,
                    "port {name} is declared, but the module has no such port"
                );
            }
        }
        match self.bits {
            Some((has, takes)) => write!(f, " has {has} bits, {takes} are declared: ")?,
            None => f.write_str(" has more bits than are declared: ")?,
        }
        f.write_str(match self.kind {
            Part::Input => "the others would not be driven",
            _ => "the others would not be compared",
        })?;
        match (self.kind, self.bits) {
            (Part::Probe, Some((32, _))) => f.write_str(" (a number without a size has 32)"),
            _ => Ok(()),
        }
    }
}

impl Error {
    /// Creates an error about `field` of `file`, at `line`, or with 0 about the whole file.
    pub fn input(
        file: &Path,
        line: usize,
        field: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Self {
        Error::Input {
            file: file.to_owned(),
            line,
            field: field.into(),
            message: message.into(),
        }
    }

    /// Returns whether the input is wrong, rather than the machine.
    pub fn is_input(&self) -> bool {
        match self {
            Error::Input { .. }
            | Error::Refused(_)
            | Error::Misfit(_)
            | Error::Changing(_)
            | Error::Cache(_) => true,
            Error::Tool(_) | Error::Io { .. } => false,
        }
    }
}

/// Creates an error of the operating system at `path`.
pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Error + '_ {
    move |source| Error::Io {
        path: path.to_owned(),
        source,
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Error::Input {
                file,
                line: 0,
                field,
                message,
            } => write!(f, "{}: {field}: {message}", file.display()),
            Error::Input {
                file,
                line,
                field,
                message,
            } => write!(f, "{}:{line}: {field}: {message}", file.display()),
            Error::Refused(message) | Error::Cache(message) | Error::Tool(message) => {
                f.write_str(message)
            }
            Error::Misfit(misfit) => misfit.fmt(f),
            Error::Changing(path) => write!(
                f,
                "{}: the sources change while they are compiled; try again when they are at rest",
                path.display()
            ),
            Error::Io { path, source } => write!(f, "{}: {source}", path.display()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
