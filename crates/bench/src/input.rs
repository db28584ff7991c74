//! Input from outside: one function reads files, and one message reports an error with the file, the line and the field.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufRead, ErrorKind, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Longest name of a program: file systems allow 255 bytes, and a seed and an extension follow the name.
pub const LONGEST_NAME: usize = 200;

/// Why a file or a flag was not accepted.
///
/// Prints as `FILE:LINE: FIELD: MESSAGE`, without the line where there is none (binary input, flags). Prints only the first
/// error of a file; [`InputError::others`] has the others. Escapes control characters ([`printable`]), in file and field
/// also line breaks. If the text is known ([`InputError::in_text`]), the command also shows the line and underlines the
/// error.
#[derive(Debug, Error)]
#[error("{}: {}", self.place(), printable(.message))]
pub struct InputError {
    /// File name as the user gave it, or the flag.
    pub file: String,
    /// Line, from 1; 0 if the input has no lines.
    pub line: usize,
    /// The field, operand, directive or column that is wrong; empty for an option of the command line ([`InputError::option`]).
    pub field: String,
    /// What is wrong with the field, and what would be right.
    pub message: String,
    /// The part of the line that the message is about, if that is not the field.
    token: Option<Box<str>>,
    excerpt: Option<Box<Excerpt>>,
    /// Further errors in the file.
    others: Option<Box<Others>>,
    of_the_machine: bool,
}

/// The line of an error, and the wrong part of it.
#[derive(Debug)]
struct Excerpt {
    line: String,
    span: Range<usize>,
}

/// Errors after the first one.
#[derive(Debug, Default)]
struct Others(Vec<InputError>);

/// Most errors of a file that are reported after the first one.
const MAX_OTHERS: usize = 7;

/// Most characters of a token that a message repeats.
const MAX_REPEATED: usize = 64;

/// Bytes that an excerpt keeps on either side of the wrong part.
const MAX_BESIDE: usize = 500;

/// The error of the operating system that a link leads to itself. The standard library's name for it is not stable yet.
const ELOOP: i32 = if cfg!(target_os = "linux") { 40 } else { 62 };

#[cfg(feature = "rtl")]
impl From<reconverge_declaration::Error> for InputError {
    fn from(e: reconverge_declaration::Error) -> Self {
        InputError::new(e.file, e.line, e.field, e.message)
    }
}

impl InputError {
    /// Creates an error at `file`:`line` (0: no line) in `field`.
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
            token: None,
            excerpt: None,
            others: None,
            of_the_machine: false,
        }
    }

    /// Creates an error in an option of the command line, such as `--lanes`.
    pub fn option(option: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(option, 0, "", message)
    }

    /// Returns the error of a value that was given as an option: its place is the option with the name of the field.
    #[must_use]
    pub fn in_option(self) -> Self {
        let name = match &*self.field {
            "parameter" => "param".to_owned(),
            field => field.replace('_', "-"),
        };
        Self::option(format!("--{name}"), self.message)
    }

    /// Creates an error from the operating system's error about `file`.
    pub fn io(file: impl Into<String>, e: &io::Error) -> Self {
        use ErrorKind::*;
        let of_the_user = matches!(
            e.kind(),
            NotFound
                | PermissionDenied
                | AlreadyExists
                | NotADirectory
                | IsADirectory
                | InvalidInput
                | InvalidFilename
                | UnexpectedEof
                | ReadOnlyFilesystem
        ) || e.raw_os_error() == Some(ELOOP);
        InputError {
            of_the_machine: !of_the_user,
            ..Self::new(file, 0, "file", e.to_string())
        }
    }

    /// Returns whether the machine is at fault and the file may be right: no memory, a full disk, a disk that cannot be
    /// read.
    pub fn is_of_the_machine(&self) -> bool {
        self.of_the_machine
    }

    /// Returns the same error about `token`, a part of the line. Without a token the error is about the field. A long token is
    /// shortened in the message.
    #[must_use]
    pub fn about(mut self, token: &str) -> Self {
        if let Some((end, _)) = token.char_indices().nth(MAX_REPEATED) {
            let shown = format!("{}...", &token[..end]);
            self.message = self.message.replace(token, &shown);
        }
        self.token = Some(token.into());
        self
    }

    /// Returns the further errors of the file: tokens that are wrong independently of the rest of the file.
    pub fn others(&self) -> &[InputError] {
        self.others.as_ref().map_or(&[], |others| &others.0)
    }

    /// Adds `other` as a further error. An error without a token may follow from the first one, and is left out.
    pub fn note(&mut self, other: InputError) {
        if other.token.is_some() && !self.is_full() {
            self.others.get_or_insert_default().0.push(other);
        }
    }

    /// Returns whether no further error will be added.
    pub fn is_full(&self) -> bool {
        self.others().len() == MAX_OTHERS
    }

    /// Returns the line with the error, shortened if it is long, and the range of its wrong bytes; `None` if the text is
    /// not known.
    pub fn excerpt(&self) -> Option<(&str, Range<usize>)> {
        let excerpt = self.excerpt.as_ref()?;
        Some((&excerpt.line, excerpt.span.clone()))
    }

    /// Returns the same error with its line of `text`, the whole file.
    ///
    /// The underline marks the token or the field if it occurs exactly once in the line's code, otherwise all of the code.
    #[must_use]
    pub fn in_text(mut self, text: &str) -> Self {
        if let Some(Others(others)) = self.others.as_deref_mut() {
            let located = std::mem::take(others).into_iter();
            *others = located.map(|e| e.in_text(text)).collect();
        }
        if let Some(line) = self.content(text) {
            let code = match code(line) {
                "" => line.trim(),
                code => code,
            };
            let at = code.as_ptr().addr() - line.as_ptr().addr();
            let token = self.token.as_deref().unwrap_or(&self.field);
            let span = match only_place(code, token) {
                Some(found) => at + found.start..at + found.end,
                None => at..at + code.len(),
            };
            self.excerpt = Some(Box::new(Excerpt::new(line, span)));
        }
        self
    }

    /// Returns the same error with its line of `text`, the whole file. The underline marks the character that ends at
    /// `column`, in bytes.
    #[must_use]
    pub fn in_text_at(mut self, text: &str, column: usize) -> Self {
        if let Some(line) = self.content(text) {
            let end = (0..=column.min(line.len()))
                .rev()
                .find(|at| line.is_char_boundary(*at))
                .unwrap_or(0);
            let start = line[..end].char_indices().next_back().map_or(0, |(i, _)| i);
            self.excerpt = Some(Box::new(Excerpt::new(line, start..end)));
        }
        self
    }

    /// Creates an error from a JSON parser's error about `text`, which should be a `field`.
    pub fn json(file: &str, field: &str, text: &str, e: &serde_json::Error) -> Self {
        let (line, column) = (e.line(), e.column());
        let why = e.to_string();
        // Line and place are shown in another way, and the line may not be that of the file.
        let why = match why.strip_suffix(&format!(" at line {line} column {column}")) {
            Some(why) => format!("{why}, column {column}"),
            None => why,
        };
        InputError::new(file, line, field, why).in_text_at(text, column)
    }

    /// Returns the same error with another line number, for a text that is part of a file.
    #[must_use]
    pub fn on_line(self, line: usize) -> Self {
        InputError { line, ..self }
    }

    /// Returns the line of the error, if it is not blank.
    fn content<'a>(&self, text: &'a str) -> Option<&'a str> {
        let line = text.lines().nth(self.line.checked_sub(1)?)?;
        (!line.trim().is_empty()).then_some(line)
    }

    fn place(&self) -> String {
        let mut place = one_line(&self.file).into_owned();
        if self.line > 0 {
            let _ = write!(place, ":{}", self.line);
        }
        if !self.field.is_empty() {
            let _ = write!(place, ": {}", one_line(&self.field));
        }
        place
    }
}

impl Excerpt {
    /// Quotes `span` of `line`, cut to about `MAX_BESIDE` bytes, with at most as many on either side.
    fn new(line: &str, span: Range<usize>) -> Self {
        let near = |at: usize| {
            (at..=line.len())
                .find(|i| line.is_char_boundary(*i))
                .unwrap_or(line.len())
        };
        let from = near(span.start.saturating_sub(MAX_BESIDE));
        let end = near(span.end.min(span.start.saturating_add(MAX_BESIDE)));
        let to = near(end.saturating_add(MAX_BESIDE).min(line.len()));
        // Escape each piece separately, so that the span stays right.
        let before = one_line(&line[from..span.start]);
        let wrong = one_line(&line[span.start..end]);
        let after = one_line(&line[end..to]);
        Excerpt {
            span: before.len()..before.len() + wrong.len(),
            line: format!("{before}{wrong}{after}"),
        }
    }
}

/// Returns the range of `token` in `line`, if it occurs exactly once as a whole word.
fn only_place(line: &str, token: &str) -> Option<Range<usize>> {
    let part = |c: char| c.is_alphanumeric() || "_.$@".contains(c);
    // Only the case of ASCII letters changes, so positions are the same in both.
    let (lower, token) = (line.to_ascii_lowercase(), token.to_ascii_lowercase());
    let (first, last) = (token.chars().next()?, token.chars().next_back()?);
    let mut found = lower.match_indices(&token).filter(|(at, _)| {
        let before = lower[..*at].chars().next_back();
        let after = lower[at + token.len()..].chars().next();
        let joined = |end: char, beside: Option<char>| part(end) && beside.is_some_and(part);
        !joined(first, before) && !joined(last, after)
    });
    let (at, _) = found.next()?;
    found.next().is_none().then(|| at..at + token.len())
}

/// Returns whether a terminal would do anything but show `c`: control characters, and characters that change the direction
/// of text, separate lines or are invisible.
fn is_command(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn escaped(text: &str, kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    let command = |c: char| is_command(c) && !kept(c);
    if !text.contains(command) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match command(c) {
            true => {
                let _ = write!(out, "{}", c.escape_default());
            }
            false => out.push(c),
        }
    }
    out.into()
}

/// Returns `text` safe for a terminal: escapes control characters as in Rust, except line breaks and tabs. Text that is
/// escaped already stays the same.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c == '\n' || c == '\t')
}

/// Returns `text` as [`printable`] does, with line breaks escaped too.
pub fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c == '\t')
}

/// Most bytes of a program, a table of conditions, a saved case, a coverage file, a declaration or a table of probes.
pub const MAX_BYTES: u64 = 64 << 20;

/// Opens a regular file for reading. Refuses others: opening a pipe waits for its writer, and a device has no end.
///
/// # Errors
/// The file does not exist or is not regular; errors of the operating system.
pub fn open(path: &Path) -> Result<File, InputError> {
    let name = path.to_string_lossy();
    let shown = |e: io::Error| match e.kind() {
        ErrorKind::NotFound => InputError::new(&*name, 0, "file", missing(path)),
        _ => InputError::io(&*name, &e),
    };
    // Check before opening, because opening a pipe waits too.
    let what = match fs::metadata(path).map_err(shown)?.file_type() {
        kind if kind.is_file() => return File::open(path).map_err(shown),
        kind if kind.is_dir() => "a folder",
        _ => "a pipe, a socket or a device",
    };
    let why = format!("is {what}; only regular files are read");
    Err(InputError::new(name, 0, "file", why))
}

/// Returns `path` relative to the current folder if it lies below that folder, and otherwise unchanged: for commands and messages.
pub fn relative(path: &Path) -> PathBuf {
    let here = std::env::current_dir().ok();
    let below = here.and_then(|here| path.strip_prefix(here).ok());
    let below = below.filter(|below| !below.as_os_str().is_empty());
    below.unwrap_or(path).to_owned()
}

/// Returns which folder `path`, which is none, may mean: `; did you mean ...?`, or nothing.
pub fn folder_meant(path: &Path) -> String {
    meant(path, Path::is_dir)
}

/// Returns which of the entries beside `path` that are `wanted` may be meant by it.
fn meant(path: &Path, wanted: impl Fn(&Path) -> bool) -> String {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let entries = fs::read_dir(dir.unwrap_or(Path::new(".")));
    let entries = entries.into_iter().flatten().flatten();
    let entries = entries.filter(|entry| wanted(&entry.path()));
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    did_you_mean(
        &path.file_name().unwrap_or_default().to_string_lossy(),
        names,
    )
}

/// Returns what to say of `path`, which does not exist: where it was looked for, and which file may be meant.
fn missing(path: &Path) -> String {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let dir = dir.unwrap_or(Path::new("."));
    let here = std::env::current_dir().unwrap_or_default();
    if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
        return "is a link to a file that does not exist".to_owned();
    }
    if !dir.is_dir() {
        let place = match path.is_relative() {
            true => format!(", seen from {}", here.display()),
            false => String::new(),
        };
        return format!("there is no folder {}{place}", dir.display());
    }
    let meant = meant(path, |_| true);
    let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    format!("there is no such file in {}{meant}", dir.display())
}

/// Reads a whole file of at most [`MAX_BYTES`].
///
/// # Errors
/// The same as of [`open`]; the file is longer.
pub fn read(path: &Path) -> Result<Vec<u8>, InputError> {
    let name = path.to_string_lossy();
    let file = open(path)?;
    let length = file
        .metadata()
        .map_err(|e| InputError::io(&*name, &e))?
        .len();
    let too_long = |length: u64| {
        let why =
            format!("has {length} bytes or more, which no input has; the most is {MAX_BYTES}");
        InputError::new(&*name, 0, "file", why)
    };
    if length > MAX_BYTES {
        return Err(too_long(length));
    }
    let mut bytes = Vec::new();
    // Reserve all the memory at once: if there is too little, this returns an error instead of aborting.
    let room = usize::try_from(length).unwrap_or(usize::MAX);
    bytes
        .try_reserve_exact(room)
        .map_err(|_| InputError::io(&*name, &ErrorKind::OutOfMemory.into()))?;
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| InputError::io(&*name, &e))?;
    match bytes.len() as u64 {
        // The file has grown, or is of a kind that reports no length.
        length if length > MAX_BYTES => Err(too_long(length)),
        _ => Ok(bytes),
    }
}

/// Reads a whole text file as [`read`] does.
///
/// # Errors
/// The same as of [`read`]; the file is not UTF-8.
pub fn read_text(path: &Path) -> Result<String, InputError> {
    String::from_utf8(read(path)?).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let why = format!("not UTF-8 text at byte {at}");
        InputError::new(path.to_string_lossy(), 0, "file", why)
    })
}

/// Reads line `number` of `file`, at most `most` bytes including its line end, which the last line may lack. Returns an
/// empty list at the end of the file.
///
/// # Errors
/// The line is longer; errors of the operating system.
pub fn read_line(
    from: &mut impl BufRead,
    most: u64,
    file: &str,
    number: usize,
) -> Result<Vec<u8>, InputError> {
    let mut line = Vec::new();
    from.take(most + 1)
        .read_until(b'\n', &mut line)
        .map_err(|e| InputError::io(file, &e))?;
    if line.len() as u64 > most {
        let why = format!("has more than {most} bytes");
        return Err(InputError::new(file, number, "line", why));
    }
    Ok(line)
}

#[cfg(feature = "snippet")]
impl InputError {
    /// Returns the line with the error marked, for a terminal to show below the message; `None` if the text is not known.
    /// Colours are ANSI escape codes.
    pub fn snippet(&self) -> Option<String> {
        use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
        let (line, span) = self.excerpt()?;
        let (file, label) = (one_line(&self.file), one_line(&self.field));
        let mark = AnnotationKind::Primary.span(span).label(label.as_ref());
        let snippet = Snippet::source(line)
            .line_start(self.line)
            .path(file)
            .annotation(mark);
        let group = Group::with_level(Level::ERROR).element(snippet);
        Some(Renderer::styled().render(&[group]))
    }
}

/// Longest word, in bytes, that is compared with others: the time grows with the product of the two lengths.
const LONGEST_COMPARED: usize = 64;
/// Most words that a message suggests: a longer list does not help.
const MAX_SUGGESTED: usize = 3;

/// Returns `line` without its comment and surrounding blanks.
pub fn code(line: &str) -> &str {
    let end = [line.find(';'), line.find("//")]
        .into_iter()
        .flatten()
        .min();
    line[..end.unwrap_or(line.len())].trim()
}

/// Returns the end of a message about `word`, which is none of `known`: "; did you mean `A` or `B`?" with the nearest words
/// of `known`. Empty if no word is near, or if more than three are equally near.
///
/// The distance of two words is the number of letters that are inserted, omitted, replaced, or swapped with their
/// neighbour, ignoring case. It is at most one for every three letters of the longer word.
pub fn did_you_mean(word: &str, known: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    if word.len() > LONGEST_COMPARED {
        return String::new();
    }
    let wanted = word.to_lowercase();
    let mut near: Vec<(usize, String)> = Vec::new();
    for name in known {
        let name = name.as_ref();
        let most = word.len().max(name.len()) / 3;
        if word.len().abs_diff(name.len()) > most {
            continue;
        }
        let slips = strsim::osa_distance(&wanted, &name.to_lowercase());
        if slips <= most && near.iter().all(|(_, other)| other != name) {
            near.push((slips, name.to_owned()));
        }
    }
    let least = near.iter().map(|(slips, _)| *slips).min();
    near.retain(|(slips, _)| Some(*slips) == least);
    let names: Vec<String> = near.iter().map(|(_, name)| format!("`{name}`")).collect();
    match &names[..] {
        [] => String::new(),
        [name] => format!("; did you mean {name}?"),
        [first @ .., last] if names.len() <= MAX_SUGGESTED => {
            format!("; did you mean {} or {last}?", first.join(", "))
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(error: InputError) -> String {
        let excerpt = error.excerpt.expect("an excerpt");
        excerpt.line[excerpt.span.clone()].to_owned()
    }

    #[test]
    fn the_token_is_marked_where_it_stands_alone() {
        let at = |field: &str| InputError::new("f.s", 2, field, "is wrong");
        let text = "NOP\n  add r1, R12, 12 ; r1\n";
        assert_eq!(marked(at("R12").in_text(text)), "R12");
        assert_eq!(marked(at("r1").in_text(text)), "r1");
        assert_eq!(marked(at("operand").about("12").in_text(text)), "12");
        assert_eq!(marked(at("mnemonic").about("ADD").in_text(text)), "add");
        // The field occurs nowhere or more than once: all of the line's code is marked.
        for field in ["operand", "r", ",", ""] {
            assert_eq!(marked(at(field).in_text(text)), "add r1, R12, 12");
        }
        assert!(at("r1").in_text("NOP\n \n").excerpt.is_none());
        assert!(at("r1").in_text("NOP\n").excerpt.is_none());
    }

    #[test]
    fn a_column_marks_the_character_before_it() {
        let at = |column| InputError::new("f", 1, "json", "").in_text_at("{\"\u{fc}\":x}", column);
        assert_eq!(marked(at(0)), "");
        assert_eq!(marked(at(1)), "{");
        assert_eq!(marked(at(4)), "\u{fc}");
        assert_eq!(marked(at(3)), "\"");
        assert_eq!(marked(at(7)), "x");
        assert_eq!(marked(at(usize::MAX)), "}");
    }

    #[test]
    fn of_a_long_line_the_neighbourhood_is_kept() {
        let line = format!("{} wrong {}", "\u{fc}".repeat(70_000), "y".repeat(70_000));
        let error = InputError::new("f", 1, "wrong", "").in_text(&line);
        assert!(error.excerpt.as_ref().unwrap().line.len() < 2 * MAX_BESIDE + 20);
        assert_eq!(marked(error), "wrong");
        let error = InputError::new("f", 1, "no", "").in_text(&line);
        assert!(error.excerpt.as_ref().unwrap().line.len() < 2 * MAX_BESIDE + 20);
    }

    #[test]
    fn what_a_terminal_would_obey_is_escaped() {
        let text = "a\u{1b}]0;x\u{7}\u{9b}\u{7f}\u{202e}\u{2066}\u{200f}\u{feff}\u{2028}\r";
        let shown = r"a\u{1b}]0;x\u{7}\u{9b}\u{7f}\u{202e}\u{2066}\u{200f}\u{feff}\u{2028}\r";
        assert_eq!(printable(text), shown);
        assert_eq!(printable(shown), shown);
        assert_eq!(printable("\u{fc}\n\t\\u{1b}"), "\u{fc}\n\t\\u{1b}");
        assert_eq!(one_line("\u{fc}\n"), "\u{fc}\\n");
        let error = InputError::new("f\n\u{1b}", 1, "\n\u{7f}", "m\n\u{9b}").in_text("\u{1b}[31mx");
        assert_eq!(error.to_string(), "f\\n\\u{1b}:1: \\n\\u{7f}: m\n\\u{9b}");
        assert_eq!(marked(error), r"\u{1b}[31mx");
    }
}
