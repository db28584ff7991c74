//! Errors in a declaration.

use std::fmt::{self, Display, Formatter};

/// An error in a declaration. Prints as `FILE:LINE: FIELD: MESSAGE`, without the line if it is 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The file name given to [`crate::Declaration::parse`].
    pub file: String,
    /// Line, from 1; 0 for the whole file.
    pub line: usize,
    /// The key that is wrong, with its table, such as `state loops.width`.
    pub field: String,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Error {
            file,
            line,
            field,
            message,
        } = self;
        match line {
            0 => write!(f, "{file}: {field}: {message}"),
            line => write!(f, "{file}:{line}: {field}: {message}"),
        }
    }
}

impl std::error::Error for Error {}
