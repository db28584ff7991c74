//! Program files: what the units' importers have in common.
//!
//! A file is recognised by its content, a program is chosen by number or name where a file holds several,
//! and a program's name becomes part of file names, whatever it was called in the file.

use std::path::Path;

use crate::case::LONGEST_NAME;
use crate::elf::is_elf;
use crate::input::InputError;
use crate::text::code;

/// The file as text, without a byte order mark.
///
/// # Errors
///
/// The line with the first byte that is not UTF-8.
pub fn utf8<'a>(bytes: &'a [u8], file: &str) -> Result<&'a str, InputError> {
    if is_elf(bytes) {
        let why = "is an ELF object; of this unit there is none to read";
        return Err(InputError::new(file, 0, "file", why));
    }
    let text = str::from_utf8(bytes).map_err(|e| {
        let before = &bytes[..e.valid_up_to()];
        let line = 1 + before.iter().filter(|b| **b == b'\n').count();
        let message = format!("is not UTF-8 text from byte {} on", e.valid_up_to());
        InputError::new(file, line, "file", message)
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Whether a text is words rather than assembly.
///
/// The first line with an instruction decides, `.word` and `.quad` being one; where there is none the extension of
/// `file` does.
pub fn is_hex(text: &str, file: &str) -> bool {
    let first = text
        .lines()
        .map(code)
        .filter_map(|line| line.split_whitespace().next())
        .find(|word| !word.starts_with('.') || is_word(word));
    match first {
        Some(word) => {
            // No mnemonic consists of the digits 0-9 and a-f alone.
            let digits = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"));
            digits
                .unwrap_or(word)
                .chars()
                .all(|c| c.is_ascii_hexdigit())
        }
        None => Path::new(file)
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("hex")),
    }
}

/// Whether a directive stands for an instruction as it is: its words follow.
fn is_word(directive: &str) -> bool {
    [".word", ".quad"]
        .iter()
        .any(|d| directive.eq_ignore_ascii_case(d))
}

/// `name` as it may become part of a file name: letters, digits and `._-+`, at most [`LONGEST_NAME`].
pub fn sound_name(name: &str) -> String {
    let sound = |c: char| {
        if c.is_ascii_alphanumeric() || "._-+".contains(c) {
            c
        } else {
            '_'
        }
    };
    name.chars().map(sound).take(LONGEST_NAME).collect()
}

/// How many entries of a list a message shows.
pub const MOST_SHOWN: usize = 16;

/// `slot 3` or `slots 3, 5`, for `one` = `slot`; of more than `most` places the rest is counted.
pub fn places(one: &str, at: &[usize], most: usize) -> String {
    let plural = if at.len() == 1 { "" } else { "s" };
    let shown: Vec<String> = at.iter().take(most).map(ToString::to_string).collect();
    let more = match at.len().saturating_sub(most) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{one}{plural} {}{more}", shown.join(", "))
}

/// Index of the program that `which` names, by number (from 1) or name; `one` is what they are called.
///
/// A name is looked for first. One program alone needs no choice.
///
/// # Errors
///
/// A choice that is none of them, a name that several bear, or no choice among several.
pub fn choose(
    names: &[&str],
    one: &str,
    which: Option<&str>,
    file: &str,
) -> Result<usize, InputError> {
    let fail = |message: String| Err(InputError::new(file, 0, "which", message));
    let there = || {
        let shown: Vec<String> = (1..)
            .zip(names)
            .take(MOST_SHOWN)
            .map(|(n, name)| format!("{n} {}", sound_name(name)))
            .collect();
        let more = match names.len().saturating_sub(MOST_SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        match names.len() {
            1 => format!("there is one {one}, {}", shown.join(", ")),
            n => format!("there are {n} {one}s, {}{more}", shown.join(", ")),
        }
    };
    let Some(which) = which else {
        return match names.len() {
            1 => Ok(0),
            _ => fail(format!("{}; choose one by number or name", there())),
        };
    };
    let mut named = (0..names.len()).filter(|i| names[*i] == which);
    match (named.next(), named.next()) {
        (Some(i), None) => return Ok(i),
        (Some(i), Some(j)) => {
            return fail(format!(
                "{one}s {} and {} are both called {which:?}; choose by number",
                i + 1,
                j + 1
            ));
        }
        _ => {}
    }
    match which.parse::<usize>() {
        Ok(n) if (1..=names.len()).contains(&n) => Ok(n - 1),
        _ => fail(format!("{}, not {which:?}", there())),
    }
}
