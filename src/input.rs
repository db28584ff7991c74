//! Bad input from outside: one message that names the file, the line and the field.

use std::sync::Arc;

use miette::{Diagnostic, NamedSource, SourceSpan};
use thiserror::Error;

/// Why a file or a flag was not accepted.
///
/// Prints as `FILE:LINE: FIELD: MESSAGE`, without the line where there is none (binary input, flags).
/// With the text at hand ([`InputError::in_text`]) the report shows the line itself.
#[derive(Debug, Error, Diagnostic)]
#[error("{}: {field}: {message}", place(.file, *.line))]
pub struct InputError {
    /// File name as the user gave it, or the flag.
    pub file: String,
    /// Line, from 1; 0 where lines mean nothing.
    pub line: usize,
    /// The field, operand, directive or column that is wrong.
    pub field: String,
    /// What is wrong with it and what would be right.
    pub message: String,
    /// The text around the place, if it is known.
    #[source_code]
    text: Option<Arc<NamedSource<String>>>,
    #[label("{field}")]
    span: Option<SourceSpan>,
}

fn place(file: &str, line: usize) -> String {
    if line == 0 {
        file.to_owned()
    } else {
        format!("{file}:{line}")
    }
}

impl InputError {
    /// An error at `file`:`line` (0: no line) in `field`.
    pub fn new(
        file: impl Into<String>,
        line: usize,
        field: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        InputError {
            file: file.into(),
            line,
            field: field.into(),
            message: message.into(),
            text: None,
            span: None,
        }
    }

    /// The same error with the text of the file, so that the report can show the line.
    #[must_use]
    pub fn in_text(mut self, text: &str) -> Self {
        if let Some(line) = self.line.checked_sub(1)
            && let Some(content) = text.lines().nth(line)
        {
            let at = content.as_ptr() as usize - text.as_ptr() as usize;
            let lead = content.len() - content.trim_start().len();
            self.span = Some((at + lead, content.trim().len()).into());
            self.text = Some(Arc::new(NamedSource::new(&self.file, text.to_owned())));
        }
        self
    }
}

#[cfg(feature = "cli")]
impl InputError {
    /// The line with the mistake, marked, if the text is known: what a terminal shows below the message.
    pub fn snippet(&self) -> Option<String> {
        self.text.as_ref()?;
        let mut out = String::new();
        let handler =
            miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::unicode_nocolor());
        handler.render_report(&mut out, self).ok()?;
        Some(out)
    }
}
