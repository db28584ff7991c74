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
            Error::Input { .. } | Error::Refused(_) | Error::Changing(_) | Error::Cache(_) => true,
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
