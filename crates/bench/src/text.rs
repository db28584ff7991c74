//! What the program texts of all units have in common: lines, labels, numbers, directives, hexadecimal words,
//! listings. Units differ in mnemonics, operands and registers, which are theirs.
//!
//! One instruction, directive or label a line; labels may stand before an instruction. `;` and `//` begin a
//! comment. Numbers are decimal or `0x` hexadecimal. Mnemonics and directives may be in upper or lower case,
//! labels may not be mixed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Write as _};
use std::path::Path;

use crate::input::InputError;

/// Something with the line it was written on, from 1; 0 if it was not written in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<T> {
    /// Where, for messages.
    pub line: usize,
    /// What.
    pub item: T,
}

impl<T> Line<T> {
    /// `item` on `line`.
    pub const fn new(line: usize, item: T) -> Self {
        Line { line, item }
    }
}

/// The name that a program from `file` gets.
pub fn program_name(file: &str) -> String {
    Path::new(file)
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// `line` without its comment and the blanks around it.
pub fn code(line: &str) -> &str {
    let end = [line.find(';'), line.find("//")]
        .into_iter()
        .flatten()
        .min();
    line[..end.unwrap_or(line.len())].trim()
}

/// `text` at blanks and commas.
pub fn operands(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c == ',' || c.is_whitespace())
        .filter(|t| !t.is_empty())
}

/// What a `.s` file consists of.
pub enum Item<'a> {
    /// `NAME:`, checked.
    Label(&'a str),
    /// Mnemonic or directive in lower case, and what follows it.
    Line(String, &'a str),
}

/// What is wrong in a file, so that all of it is told of at once.
#[derive(Default)]
pub struct Errors(Option<InputError>);

impl Errors {
    /// Returns what was found, and notes what is wrong otherwise.
    pub fn note<T>(&mut self, found: Result<T, InputError>) -> Option<T> {
        match (found, &mut self.0) {
            (Ok(found), _) => return Some(found),
            (Err(error), None) => self.0 = Some(error),
            (Err(error), Some(first)) => first.note(error),
        }
        None
    }

    /// Whether nothing that comes would be told of.
    pub fn is_full(&self) -> bool {
        self.0.as_ref().is_some_and(InputError::is_full)
    }

    /// Ends the work on a file.
    ///
    /// # Errors
    /// The first thing that is wrong, with the others.
    pub fn none(self) -> Result<(), InputError> {
        self.0.map_or(Ok(()), Err)
    }
}

/// Calls `take` for each label, instruction and directive of a `.s` file. Of a line that is wrong the rest is left out.
///
/// # Errors
/// What `take` found wrong, the first with the others.
pub fn items<'a>(
    text: &'a str,
    file: &'a str,
    mut take: impl FnMut(Place<'a>, Item<'a>) -> Result<(), InputError>,
) -> Result<(), InputError> {
    let mut errors = Errors::default();
    let mut line_items = |at: Place<'a>, content: &'a str| {
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
        errors.note(line_items(Place { file, line }, content));
        if errors.is_full() {
            break;
        }
    }
    errors.none()
}

/// What a `.hex` file consists of.
pub enum HexItem<'a> {
    /// Directive in lower case, and what follows it.
    Directive(String, &'a str),
    /// The words of an instruction.
    Words(Vec<&'a str>),
}

/// Calls `take` for each instruction and directive of a `.hex` file.
///
/// # Errors
/// As [`items`].
pub fn hex_items<'a>(
    text: &'a str,
    file: &'a str,
    mut take: impl FnMut(Place<'a>, HexItem<'a>) -> Result<(), InputError>,
) -> Result<(), InputError> {
    let mut errors = Errors::default();
    for (line, content) in (1..).zip(text.lines()) {
        let at = Place { file, line };
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

/// `NAME: rest` as name and rest. A colon further on in the line (an operand, a remark) does not count.
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

/// Reads a number in hexadecimal of at most 64 bits, with or without `0x`.
pub fn hex(text: &str) -> Option<u64> {
    let digits = strip_0x(text).unwrap_or(text);
    // from_str_radix takes a sign.
    let plain = digits.chars().all(|c| c.is_ascii_hexdigit());
    u64::from_str_radix(digits, 16).ok().filter(|_| plain)
}

/// `0x` or `0X` off the front.
fn strip_0x(text: &str) -> Option<&str> {
    text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))
}

/// Where a message belongs.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// File name as the user gave it.
    pub file: &'a str,
    /// From 1; 0 if there is none.
    pub line: usize,
}

impl Place<'_> {
    /// The error of `field`, which stands here.
    pub fn error(self, field: &str, message: impl Into<String>) -> InputError {
        InputError::new(self.file, self.line, field, message)
    }

    /// A number in `min..=max`.
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

    /// A number of an unsigned type in `0..=max`.
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

    /// A step in -128..=127 as the two's complement byte of a register.
    pub fn step(self, text: &str) -> Result<u8, InputError> {
        let step = self.number("step", text, -128, 127)?;
        Ok((step & 0xff) as u8)
    }

    /// A 32-bit word in hexadecimal, with or without `0x`.
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

    /// Checks that `name` can be a label.
    ///
    /// # Errors
    /// It begins with neither a letter nor `_`, or has other characters than letters, digits, `_` and `.`.
    pub fn check_label(self, name: &str) -> Result<(), InputError> {
        if is_label(name) {
            return Ok(());
        }
        let message = format!(
            "`{name}` is not a label: letters, digits, `_` and `.`, not beginning with a digit or `.`"
        );
        Err(self.error("label", message).about(name))
    }

    /// The constant N of `iN`, `bN`.
    pub fn indexed(self, field: &str, letter: char, text: &str) -> Result<u8, InputError> {
        match is_indexed(letter, text) {
            true => self.unsigned(field, &text[1..], 31),
            false => {
                let message = format!("`{text}` is not one of {letter}0 to {letter}31");
                Err(self.error(field, message).about(text))
            }
        }
    }

    /// The constant N of `.int N` or `.int iN`.
    pub fn int_constant(self, text: &str) -> Result<usize, InputError> {
        match text.starts_with(['i', 'I']) {
            true => Ok(self.indexed("constant", 'i', text)?.into()),
            false => self.unsigned("constant", text, 31),
        }
    }

    /// The operands of `.bool`, `VALUE` or `bN ...`: bit i is boolean constant i.
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

    /// A place in the program as a directive names it: a number up to `max`, or a label if there are any.
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

    /// The error of a directive whose operands are not of `form`.
    pub fn usage(self, word: &str, form: &str) -> InputError {
        self.error(word, format!("is written `{word}{form}`"))
    }

    /// The error of a directive that there is not.
    pub fn unknown_directive(self, word: &str) -> InputError {
        let listing = [".text", ".section", ".globl", ".file"].contains(&word);
        let hint = if listing {
            "; of a compiler's listing, give the object file instead"
        } else {
            ""
        };
        let message = format!("there is no directive `{word}` here{hint}");
        self.error("directive", message).about(word)
    }

    /// The error of a line that begins with none of the `known` words.
    pub fn unknown_mnemonic(
        self,
        word: &str,
        known: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> InputError {
        let hint = did_you_mean(word, known);
        let message = format!("`{word}` is no instruction, statement or directive{hint}");
        self.error("mnemonic", message).about(word)
    }

    /// The error of `field` where it names a label that is none of the `known` ones.
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

    /// The error of a statement that ends or divides a block, for which it found `open`: line and name of
    /// the innermost one.
    pub fn misplaced(self, what: &str, wanted: &str, open: Option<(usize, &str)>) -> InputError {
        let message = match open {
            None => format!("belongs to {wanted}, none is open"),
            Some((at, opened)) => {
                format!("belongs to {wanted}, but the {opened} of line {at} is open")
            }
        };
        self.error(what, message)
    }

    /// The error of a second ELSE for the IF of line `of`, which is called `opened`.
    pub fn second_else(self, what: &str, opened: &str, of: usize) -> InputError {
        let message = format!("the {opened} of line {of} has an ELSE already");
        self.error(what, message)
    }
}

/// Longest word, in bytes, that is held against others: the comparison takes time by the product of two lengths.
const LONGEST_COMPARED: usize = 64;
/// Most words that a message suggests: more say nothing.
const MOST_SUGGESTED: usize = 3;

/// The end of a message about `word`, which is none of `known`: "; did you mean `A` or `B`?" with the words of
/// `known` of which it may be a slip. Empty if there is none, or if more than three are equally near.
///
/// How near two words are is the number of letters that are inserted, left out, replaced, or swapped with their
/// neighbour, whatever their case. It is one slip in three letters of the longer word at most.
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
        [first @ .., last] if names.len() <= MOST_SUGGESTED => {
            format!("; did you mean {} or {last}?", first.join(", "))
        }
        _ => String::new(),
    }
}

/// Whether `text` is `letter`, in either case, and a digit.
pub fn is_indexed(letter: char, text: &str) -> bool {
    let mut chars = text.chars();
    chars
        .next()
        .is_some_and(|c| c.eq_ignore_ascii_case(&letter))
        && chars.next().is_some_and(|c| c.is_ascii_digit())
}

/// A place in a program as a directive names it.
pub enum Address {
    /// By its number.
    Number(u32),
    /// By a label.
    Label(String),
}

/// Fields that directives have set.
#[derive(Default)]
pub struct Given(BTreeSet<String>);

impl Given {
    /// Notes that directive `word` sets `field`; twice is an error.
    pub fn once(&mut self, at: Place, word: &str, field: &str) -> Result<(), InputError> {
        if self.0.insert(field.to_owned()) {
            return Ok(());
        }
        Err(at.error(word, format!("{field} is set already")))
    }
}

/// Operands of a statement that have not been read yet.
pub struct Operands<'a> {
    /// Where the statement stands.
    pub at: Place<'a>,
    /// Mnemonic, for messages.
    pub word: &'a str,
    /// Those that have not been read.
    pub rest: Vec<&'a str>,
    /// Leading operands that are never flags, whatever they are called: labels.
    pub fixed: usize,
}

impl<'a> Operands<'a> {
    /// Takes the first operand behind the fixed ones that `is` says, wherever it stands.
    pub fn take(&mut self, is: impl Fn(&str) -> bool) -> Option<&'a str> {
        let i = self.rest.iter().skip(self.fixed).position(|t| is(t))?;
        Some(self.rest.remove(i + self.fixed))
    }

    /// Takes `name`, where it may stand before or after other flags.
    pub fn flag(&mut self, name: &str) -> bool {
        self.take(|t| t.eq_ignore_ascii_case(name)).is_some()
    }

    /// Takes the first operand.
    pub fn next(&mut self, field: &str) -> Result<&'a str, InputError> {
        if self.rest.is_empty() {
            return Err(self.at.error(self.word, format!("needs a {field}")));
        }
        self.fixed = self.fixed.saturating_sub(1);
        Ok(self.rest.remove(0))
    }

    /// Takes the first operand, a label.
    pub fn label(&mut self) -> Result<String, InputError> {
        let name = self.next("label")?;
        self.at.check_label(name)?;
        Ok(name.to_owned())
    }

    /// Nothing may be left.
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

/// Labels with their addresses, and the part of the program that statements are being expanded in: the main
/// part, or the subroutine that began at the last label a CALL names.
pub struct Labels<A> {
    addresses: BTreeMap<String, A>,
    subroutines: BTreeSet<String>,
    subroutine: Option<String>,
}

impl<A: Copy> Labels<A> {
    /// `called` are the labels that begin subroutines.
    pub fn new(called: impl Iterator<Item = String>) -> Self {
        Labels {
            addresses: BTreeMap::new(),
            subroutines: called.collect(),
            subroutine: None,
        }
    }

    /// Whether something calls `name`.
    pub fn is_subroutine(&self, name: &str) -> bool {
        self.subroutines.contains(name)
    }

    /// Subroutine `name` begins here.
    pub fn enter(&mut self, name: &str) {
        self.subroutine = Some(name.to_owned());
    }

    /// The subroutine that this part is.
    pub fn subroutine(&self) -> Option<&str> {
        self.subroutine.as_deref()
    }

    /// Gives label `name` its address.
    ///
    /// # Errors
    /// It has one.
    pub fn define(&mut self, at: Place, name: &str, address: A) -> Result<(), InputError> {
        match self.addresses.insert(name.to_owned(), address) {
            None => Ok(()),
            Some(_) => {
                let message = format!("`{name}` is defined twice");
                Err(at.error("label", message).about(name))
            }
        }
    }

    /// The address of `name`, which `field` names.
    pub fn find(&self, at: Place, field: &str, name: &str) -> Result<A, InputError> {
        find(&self.addresses, at, field, name)
    }

    /// Returns the labels with their addresses.
    pub fn into_addresses(self) -> BTreeMap<String, A> {
        self.addresses
    }

    /// The error of a block, opened at `at` and called `what`, that this part ends without.
    pub fn unclosed(&self, at: Place, what: &str, ends_with: &str) -> InputError {
        let within = match &self.subroutine {
            Some(name) => format!(" before the end of subroutine `{name}`"),
            None if self.subroutines.is_empty() => String::new(),
            None => " before the first subroutine".to_owned(),
        };
        at.error(what, format!("needs {ends_with}{within}"))
    }

    /// The error of a BREAK or CONTINUE outside `loops`.
    pub fn outside(&self, at: Place, what: &str, loops: &str) -> InputError {
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
    at: Place,
    field: &str,
    name: &str,
) -> Result<A, InputError> {
    labels
        .get(name)
        .copied()
        .ok_or_else(|| at.undefined_label(field, name, labels.keys()))
}

/// The number of what a directive named: labels must lie before an instruction of the `len` there are.
pub fn resolve<A: Copy + Into<u32>>(
    place: &Option<Line<Address>>,
    labels: &BTreeMap<String, A>,
    len: usize,
    file: &str,
) -> Result<Option<u32>, InputError> {
    let Some(Line { line, item }) = place else {
        return Ok(None);
    };
    let at = Place { file, line: *line };
    match item {
        Address::Number(n) => Ok(Some(*n)),
        Address::Label(name) => {
            let address = find(labels, at, "label", name)?.into();
            if address as usize >= len {
                let message = format!("there is no instruction at `{name}`");
                return Err(at.error("label", message).about(name));
            }
            Ok(Some(address))
        }
    }
}

/// The error of a file without instructions.
pub fn no_instruction(file: &str) -> InputError {
    InputError::new(file, 0, "program", "has no instruction")
}

/// A comment line with a program's name, whatever is in it.
pub fn name_comment(name: &str) -> String {
    let name: String = name
        .chars()
        .map(|c| if c.is_control() { '?' } else { c })
        .collect();
    format!("; {name}\n")
}

/// `text` with a comment of `notes`, if there are any.
pub fn with_notes(mut text: String, notes: &[String]) -> String {
    if !notes.is_empty() {
        let _ = write!(text, " ; {}", notes.join("; "));
    }
    text
}

/// Adds a line of a listing: what assembles again, then its address and a remark as a comment.
pub fn listing_line(t: &mut String, text: &str, address: impl Display, note: &str) {
    let _ = writeln!(t, "{}", format!("{text:<56} ; {address} {note}").trim_end());
}

/// Writes `part` of `whole` in percent, rounded down: 100.0 only if it is all.
pub fn percent(part: usize, whole: usize) -> String {
    let tenths = (part * 1000).checked_div(whole).unwrap_or(1000);
    format!("{}.{}", tenths / 10, tenths % 10)
}
