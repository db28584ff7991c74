//! What is wrong with a declaration.

use std::fmt::{self, Display, Formatter};

/// What is wrong with a declaration. Prints as `FILE:LINE: FIELD: MESSAGE`, without the line where it is 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The file, as it was named to [`crate::Declaration::parse`].
    pub file: String,
    /// Line, from 1; 0: the whole file.
    pub line: usize,
    /// The key that is wrong, with the table that it is in, e.g. `state loops.width`.
    pub field: String,
    /// How it is wrong and what would be right.
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
