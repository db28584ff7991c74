//! The common parts of the program texts of all units: lines, labels, numbers, directives, hexadecimal words, listings.
//! Each unit has its own mnemonics, operands and registers.
//!
//! Each line has one instruction, directive or label; labels may precede an instruction. `;` and `//` begin a comment.
//! Numbers are decimal or `0x` hexadecimal. Mnemonics and directives may be in upper or lower case; labels are
//! case-sensitive.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Write as _};
use std::path::Path;

use crate::input::{InputError, code, did_you_mean};
use crate::quantity::counted;

/// An item with the line where it was written, from 1; 0 if it does not come from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<T> {
    /// Line, for messages.
    pub line: usize,
    /// The item.
    pub item: T,
}

impl<T> Line<T> {
    /// Creates `item` on `line`.
    pub const fn new(line: usize, item: T) -> Self {
        Line { line, item }
    }
}

/// Returns the name of a program from `file`.
pub fn program_name(file: &str) -> String {
    Path::new(file)
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Splits `text` at blanks and commas.
pub fn operands(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c == ',' || c.is_whitespace())
        .filter(|t| !t.is_empty())
}

/// An item of a `.s` file.
pub enum Item<'a> {
    /// `NAME:`, a checked label.
    Label(&'a str),
    /// Mnemonic or directive in lower case, and its operands.
    Line(String, &'a str),
}

/// Collects the errors of a file, to report them all at once.
#[derive(Default)]
pub struct Errors(Option<InputError>);

impl Errors {
    /// Returns the value found, or records the error.
    pub fn note<T>(&mut self, found: Result<T, InputError>) -> Option<T> {
        match (found, &mut self.0) {
            (Ok(found), _) => return Some(found),
            (Err(error), None) => self.0 = Some(error),
            (Err(error), Some(first)) => first.note(error),
        }
        None
    }

    /// Returns whether no further error will be reported.
    pub fn is_full(&self) -> bool {
        self.0.as_ref().is_some_and(InputError::is_full)
    }

    /// Ends the work on a file.
    ///
    /// # Errors
    /// The first error, with the others.
    pub fn none(self) -> Result<(), InputError> {
        self.0.map_or(Ok(()), Err)
    }
}

/// Calls `take` for each label, instruction and directive of a `.s` file. Skips the rest of a line after an error.
///
/// # Errors
/// The first error of `take`, with the others.
pub fn items<'a>(
    text: &'a str,
    file: &'a str,
    mut take: impl FnMut(Location<'a>, Item<'a>) -> Result<(), InputError>,
) -> Result<(), InputError> {
    let mut errors = Errors::default();
    let mut line_items = |at: Location<'a>, content: &'a str| {
        let mut rest = code(content);
        while let Some((name, after)) = label(rest) {
            at.check_label(name)?;
            take(at, Item::Label(name))?;
            rest = after.trim_start();
        }
        if rest.is_empty() {
            return Ok(());
        }
        let end = rest.find(|c: char| c.is_whitespace() || c == '[' || c == ',');
        let (word, operands) = rest.split_at(end.unwrap_or(rest.len()));
        take(at, Item::Line(word.to_ascii_lowercase(), operands.trim()))
    };
    for (line, content) in (1..).zip(text.lines()) {
        errors.note(line_items(Location { file, line }, content));
        if errors.is_full() {
            break;
        }
    }
    errors.none()
}

/// An item of a `.hex` file.
pub enum HexItem<'a> {
    /// Directive in lower case, and its operands.
    Directive(String, &'a str),
    /// The words of an instruction.
    Words(Vec<&'a str>),
}

/// Calls `take` for each instruction and directive of a `.hex` file.
///
/// # Errors
/// The same as of [`items`].
pub fn hex_items<'a>(
    text: &'a str,
    file: &'a str,
    mut take: impl FnMut(Location<'a>, HexItem<'a>) -> Result<(), InputError>,
) -> Result<(), InputError> {
    let mut errors = Errors::default();
    for (line, content) in (1..).zip(text.lines()) {
        let at = Location { file, line };
        let content = code(content);
        if content.starts_with('.') {
            let (word, operands) = content
                .split_once(char::is_whitespace)
                .unwrap_or((content, ""));
            let directive = HexItem::Directive(word.to_ascii_lowercase(), operands.trim());
            errors.note(take(at, directive));
        } else if !content.is_empty() {
            let words = HexItem::Words(content.split_whitespace().collect());
            errors.note(take(at, words));
        }
        if errors.is_full() {
            break;
        }
    }
    errors.none()
}

/// Splits `NAME: rest` into name and rest. Ignores a colon later in the line (in an operand or a remark).
fn label(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(':')?;
    let name = name.trim_end();
    (!name.is_empty() && !name.contains(char::is_whitespace)).then_some((name, rest))
}

fn is_label(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
}

/// Reads a hexadecimal number of at most 64 bits, with or without `0x`.
pub fn hex(text: &str) -> Option<u64> {
    let digits = strip_0x(text).unwrap_or(text);
    // from_str_radix would accept a sign.
    let plain = digits.chars().all(|c| c.is_ascii_hexdigit());
    u64::from_str_radix(digits, 16).ok().filter(|_| plain)
}

/// Strips `0x` or `0X` from the front.
fn strip_0x(text: &str) -> Option<&str> {
    text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))
}

/// The place that a message refers to.
#[derive(Clone, Copy)]
pub struct Location<'a> {
    /// File name as the user gave it.
    pub file: &'a str,
    /// Line, from 1; 0 if there is none.
    pub line: usize,
}

impl Location<'_> {
    /// Creates an error about `field` at this place.
    pub fn error(self, field: &str, message: impl Into<String>) -> InputError {
        InputError::new(self.file, self.line, field, message)
    }

    /// Reads a number in `min..=max`.
    pub fn number(self, field: &str, text: &str, min: i64, max: i64) -> Result<i64, InputError> {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => (-1, digits),
            None => (1, text),
        };
        let (digits, radix) = strip_0x(digits).map_or((digits, 10), |h| (h, 16));
        let plain = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
        if !plain {
            let message = format!("`{text}` is not a number");
            return Err(self.error(field, message).about(text));
        }
        match i64::from_str_radix(digits, radix).map(|n| sign * n) {
            Ok(n) if (min..=max).contains(&n) => Ok(n),
            _ => {
                let message = format!("{text} is not in {min}..{max}");
                Err(self.error(field, message).about(text))
            }
        }
    }

    /// Reads a number of an unsigned type in `0..=max`.
    pub fn unsigned<T: TryFrom<i64>>(
        self,
        field: &str,
        text: &str,
        max: u32,
    ) -> Result<T, InputError> {
        let n = self.number(field, text, 0, i64::from(max))?;
        T::try_from(n).map_err(|_| {
            let message = format!("{text} is too large");
            self.error(field, message).about(text)
        })
    }

    /// Reads a step in -128..=127 and returns it as the two's complement byte of a register.
    pub fn step(self, text: &str) -> Result<u8, InputError> {
        let step = self.number("step", text, -128, 127)?;
        Ok((step & 0xff) as u8)
    }

    /// Reads a 32-bit word in hexadecimal, with or without `0x`.
    pub fn hex_word(self, field: &str, text: &str) -> Result<u32, InputError> {
        let digits = strip_0x(text).unwrap_or(text);
        if digits.len() <= 8
            && let Some(word) = hex(text)
            && let Ok(word) = u32::try_from(word)
        {
            return Ok(word);
        }
        let message = format!("`{text}` is not a 32-bit word in hexadecimal");
        Err(self.error(field, message).about(text))
    }

    /// Checks that `name` is a valid label.
    ///
    /// # Errors
    /// The name begins with neither a letter nor `_`, or has characters other than letters, digits, `_` and `.`.
    pub fn check_label(self, name: &str) -> Result<(), InputError> {
        if is_label(name) {
            return Ok(());
        }
        let message = format!(
            "`{name}` is not a label: letters, digits, `_` and `.`, not beginning with a digit or `.`"
        );
        Err(self.error("label", message).about(name))
    }

    /// Reads the N of a constant `iN` or `bN`.
    pub fn indexed(self, field: &str, letter: char, text: &str) -> Result<u8, InputError> {
        match is_indexed(letter, text) {
            true => self.unsigned(field, &text[1..], 31),
            false => {
                let message = format!("`{text}` is not one of {letter}0 to {letter}31");
                Err(self.error(field, message).about(text))
            }
        }
    }

    /// Reads the constant N of `.int N` or `.int iN`.
    pub fn int_constant(self, text: &str) -> Result<usize, InputError> {
        match text.starts_with(['i', 'I']) {
            true => Ok(self.indexed("constant", 'i', text)?.into()),
            false => self.unsigned("constant", text, 31),
        }
    }

    /// Reads the operands of `.bool`, `VALUE` or `bN ...`; bit i of the result is boolean constant i.
    pub fn booleans(self, word: &str, operands: &[&str]) -> Result<u32, InputError> {
        match operands {
            [first, ..] if first.starts_with(['b', 'B']) => {
                let mut all = 0;
                for name in operands {
                    all |= 1 << self.indexed("constant", 'b', name)?;
                }
                Ok(all)
            }
            [value] => self.unsigned("value", value, u32::MAX),
            _ => Err(self.usage(word, " VALUE` or `.bool bN ...")),
        }
    }

    /// Reads an address in the program from a directive: a number up to `max`, or a label if `labels` is set.
    pub fn address(self, text: &str, max: u32, labels: bool) -> Result<Address, InputError> {
        if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            Ok(Address::Number(self.unsigned("address", text, max)?))
        } else if labels {
            self.check_label(text)?;
            Ok(Address::Label(text.to_owned()))
        } else {
            let message = format!("`{text}` is not a number");
            Err(self.error("address", message).about(text))
        }
    }

    /// Creates the error of a directive whose operands do not have the form `form`.
    pub fn usage(self, word: &str, form: &str) -> InputError {
        self.error(word, format!("is written `{word}{form}`"))
    }

    /// Creates the error of a directive that is none of the `known` ones, or not one of those for words in hexadecimal.
    pub fn unknown_directive(self, word: &str, known: &[&str]) -> InputError {
        let listing = [".text", ".section", ".globl", ".file"].contains(&word);
        let hint = did_you_mean(word, known);
        let message = if listing {
            format!(
                "`{word}` is not a directive; of a compiler's listing, give the object file instead"
            )
        } else if known.contains(&word) {
            format!("`{word}` goes with assembly, not with words in hexadecimal")
        } else if hint.is_empty() {
            format!(
                "`{word}` is not a directive; there are {}",
                known.join(", ")
            )
        } else {
            format!("`{word}` is not a directive{hint}")
        };
        self.error("directive", message).about(word)
    }

    /// Creates the error of a line that begins with none of the `known` words.
    pub fn unknown_mnemonic(
        self,
        word: &str,
        known: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> InputError {
        if word.is_empty() {
            let why = "a line must begin with an instruction, statement or directive";
            return self.error("mnemonic", why);
        }
        let hint = did_you_mean(word, known);
        let message = format!("`{word}` is not an instruction, statement or directive{hint}");
        self.error("mnemonic", message).about(word)
    }

    /// Creates the error of a `field` with a label that is none of the `known` ones.
    pub fn undefined_label(
        self,
        field: &str,
        name: &str,
        known: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> InputError {
        let hint = did_you_mean(name, known);
        self.error(field, format!("label `{name}` is not defined{hint}"))
            .about(name)
    }

    /// Creates the error of a statement that ends or divides a block where no matching block is open. `open` is the line
    /// and name of the innermost open block.
    pub fn misplaced(self, what: &str, wanted: &str, open: Option<(usize, &str)>) -> InputError {
        let message = match open {
            None => format!("belongs to {wanted}, none is open"),
            Some((at, opened)) => {
                format!("belongs to {wanted}, but the {opened} of line {at} is open")
            }
        };
        self.error(what, message)
    }

    /// Creates the error of a second ELSE for the IF on line `of`, which is called `opened`.
    pub fn second_else(self, what: &str, opened: &str, of: usize) -> InputError {
        let message = format!("the {opened} of line {of} has an ELSE already");
        self.error(what, message)
    }
}

/// Returns whether `text` begins with `letter`, in either case, and a digit.
pub fn is_indexed(letter: char, text: &str) -> bool {
    let mut chars = text.chars();
    chars
        .next()
        .is_some_and(|c| c.eq_ignore_ascii_case(&letter))
        && chars.next().is_some_and(|c| c.is_ascii_digit())
}

/// An address in the program as written in a directive.
pub enum Address {
    /// A number.
    Number(u32),
    /// A label.
    Label(String),
}

/// The fields that directives have set.
#[derive(Default)]
pub struct Given(BTreeSet<String>);

impl Given {
    /// Records that directive `word` sets `field`; setting it twice is an error.
    pub fn once(&mut self, at: Location, word: &str, field: &str) -> Result<(), InputError> {
        if self.0.insert(field.to_owned()) {
            return Ok(());
        }
        Err(at.error(word, format!("{field} is set already")))
    }
}

/// The operands of a statement that are still to be read.
pub struct Operands<'a> {
    /// Location of the statement.
    pub at: Location<'a>,
    /// Mnemonic, for messages.
    pub word: &'a str,
    /// Operands still to be read.
    pub rest: Vec<&'a str>,
    /// Number of leading operands that are never flags, whatever their name: labels.
    pub fixed: usize,
}

impl<'a> Operands<'a> {
    /// Takes the first operand after the fixed ones for which `is` holds.
    pub fn take(&mut self, is: impl Fn(&str) -> bool) -> Option<&'a str> {
        let i = self.rest.iter().skip(self.fixed).position(|t| is(t))?;
        Some(self.rest.remove(i + self.fixed))
    }

    /// Takes the flag `name` from any position after the fixed operands; returns whether it was there.
    pub fn flag(&mut self, name: &str) -> bool {
        self.take(|t| t.eq_ignore_ascii_case(name)).is_some()
    }

    /// Takes the first operand, which messages call `field`.
    pub fn next(&mut self, field: &str) -> Result<&'a str, InputError> {
        if self.rest.is_empty() {
            return Err(self.at.error(self.word, format!("needs a {field}")));
        }
        self.fixed = self.fixed.saturating_sub(1);
        Ok(self.rest.remove(0))
    }

    /// Takes the first operand, which must be a label.
    pub fn label(&mut self) -> Result<String, InputError> {
        let name = self.next("label")?;
        self.at.check_label(name)?;
        Ok(name.to_owned())
    }

    /// Checks that no operand is left.
    pub fn finish(&self) -> Result<(), InputError> {
        match self.rest.first() {
            None => Ok(()),
            Some(t) => {
                let message = format!("does not take `{t}`");
                Err(self.at.error(self.word, message).about(t))
            }
        }
    }
}

/// Labels with their addresses, and the part of the program that is being expanded: the main part, or the subroutine that
/// began at the last label that a CALL names.
pub struct Labels<A> {
    addresses: BTreeMap<String, A>,
    subroutines: BTreeSet<String>,
    subroutine: Option<String>,
}

impl<A: Copy> Labels<A> {
    /// Creates an empty table; the labels in `called` begin subroutines.
    pub fn new(called: impl Iterator<Item = String>) -> Self {
        Labels {
            addresses: BTreeMap::new(),
            subroutines: called.collect(),
            subroutine: None,
        }
    }

    /// Returns whether a CALL names `name`.
    pub fn is_subroutine(&self, name: &str) -> bool {
        self.subroutines.contains(name)
    }

    /// Begins subroutine `name`.
    pub fn enter(&mut self, name: &str) {
        self.subroutine = Some(name.to_owned());
    }

    /// Returns the subroutine of the present part; `None` in the main part.
    pub fn subroutine(&self) -> Option<&str> {
        self.subroutine.as_deref()
    }

    /// Gives label `name` its address.
    ///
    /// # Errors
    /// The label is defined already.
    pub fn define(&mut self, at: Location, name: &str, address: A) -> Result<(), InputError> {
        match self.addresses.insert(name.to_owned(), address) {
            None => Ok(()),
            Some(_) => {
                let message = format!("`{name}` is defined twice");
                Err(at.error("label", message).about(name))
            }
        }
    }

    /// Returns the address of label `name`; `field` is the field with that name, for the error.
    pub fn find(&self, at: Location, field: &str, name: &str) -> Result<A, InputError> {
        find(&self.addresses, at, field, name)
    }

    /// Returns the labels with their addresses.
    pub fn into_addresses(self) -> BTreeMap<String, A> {
        self.addresses
    }

    /// Creates the error of a block `what`, opened at `at`, that is still open at the end of this part.
    pub fn unclosed(&self, at: Location, what: &str, ends_with: &str) -> InputError {
        let within = match &self.subroutine {
            Some(name) => format!(" before the end of subroutine `{name}`"),
            None if self.subroutines.is_empty() => String::new(),
            None => " before the first subroutine".to_owned(),
        };
        at.error(what, format!("needs {ends_with}{within}"))
    }

    /// Creates the error of a BREAK or CONTINUE outside of `loops`.
    pub fn outside(&self, at: Location, what: &str, loops: &str) -> InputError {
        let message = match &self.subroutine {
            Some(name) => format!(
                "no {loops} is open in subroutine `{name}`, and none can be left across a CALL"
            ),
            None => format!("no {loops} is open"),
        };
        at.error(what, message)
    }
}

fn find<A: Copy>(
    labels: &BTreeMap<String, A>,
    at: Location,
    field: &str,
    name: &str,
) -> Result<A, InputError> {
    labels
        .get(name)
        .copied()
        .ok_or_else(|| at.undefined_label(field, name, labels.keys()))
}

/// Returns the address that a directive gave. A label must be before one of the `len` instructions.
pub fn resolve<A: Copy + Into<u32>>(
    place: &Option<Line<Address>>,
    labels: &BTreeMap<String, A>,
    len: usize,
    file: &str,
) -> Result<Option<u32>, InputError> {
    let Some(Line { line, item }) = place else {
        return Ok(None);
    };
    let at = Location { file, line: *line };
    match item {
        Address::Number(n) => Ok(Some(*n)),
        Address::Label(name) => {
            let address = find(labels, at, "label", name)?.into();
            if address as usize >= len {
                let message = format!("`{name}` stands behind the last instruction");
                return Err(at.error("label", message).about(name));
            }
            Ok(Some(address))
        }
    }
}

/// Creates the error of a file without instructions.
pub fn no_instruction(file: &str) -> InputError {
    InputError::new(file, 0, "program", "has no instruction")
}

/// Returns a comment line with a program's name; replaces control characters in it.
pub fn name_comment(name: &str) -> String {
    let name: String = name
        .chars()
        .map(|c| if c.is_control() { '?' } else { c })
        .collect();
    format!("; {name}\n")
}

/// Appends `notes` to `text` as a comment, if there are any.
pub fn with_notes(mut text: String, notes: &[String]) -> String {
    if !notes.is_empty() {
        let _ = write!(text, " ; {}", notes.join("; "));
    }
    text
}

/// Adds a line of a listing: text that can be assembled again, then its address and a note as a comment.
pub fn listing_line(t: &mut String, text: &str, address: impl Display, note: &str) {
    let _ = writeln!(t, "{}", format!("{text:<56} ; {address} {note}").trim_end());
}

/// Returns `part` of `whole` in percent, rounded down: 100.0 only if both are equal.
pub fn percent(part: usize, whole: usize) -> String {
    let tenths = (part * 1000).checked_div(whole).unwrap_or(1000);
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// Most equal lines in a row that a reader gets to see.
const EQUAL: usize = 8;

/// Returns the text of a program for a reader: of more than eight equal lines in a row one is left, and how often it follows.
pub fn abridged(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut short = String::with_capacity(text.len());
    for run in lines.chunk_by(|a, b| a == b) {
        short += &match run.len() {
            ..=EQUAL => format!("{}\n", run[0]).repeat(run.len()),
            n => format!(
                "{}\n... {} like this\n",
                run[0],
                counted(n - 1, "more line")
            ),
        };
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_eight_equal_lines_in_a_row_are_one_and_their_number() {
        let rows = |n: usize| format!("A\n{}B\n", "NOP\n".repeat(n));
        assert_eq!(abridged(&rows(8)), rows(8));
        assert_eq!(
            abridged(&rows(9)),
            "A\nNOP\n... 8 more lines like this\nB\n"
        );
        assert_eq!(abridged(""), "");
    }
}
