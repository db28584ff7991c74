//! Program files: common part of the units' importers.
//!
//! Recognises a file by its content, selects a program by number or name if a file holds several, and makes a program's
//! name usable in file names.

use std::borrow::Cow;
use std::path::Path;

use crate::case::LONGEST_NAME;
use crate::elf::is_elf;
use crate::foreign::foreign;
use reconverge_bench::input::{InputError, code};

/// Checks that a file is not of a kind that no unit reads.
///
/// # Errors
///
/// It is; the error names the kind and says what to do instead.
pub fn not_foreign(bytes: &[u8], file: &str) -> Result<(), InputError> {
    match foreign(bytes) {
        Some(what) => Err(InputError::new(file, 0, "file", what)),
        None => Ok(()),
    }
}

/// Returns a line of a log with the tabs in it that a logging service has escaped: rsyslog writes `#011`, the kernel `\x09`.
pub fn with_tabs(line: &str) -> Cow<'_, str> {
    match line.contains("#011") || line.contains("\\x09") {
        true => Cow::Owned(line.replace("#011", "\t").replace("\\x09", "\t")),
        false => Cow::Borrowed(line),
    }
}

/// Returns the file as text, without a byte order mark.
///
/// # Errors
///
/// The file is of a kind that no unit reads, it is an ELF file, or it is not UTF-8; the error then names the line of the first
/// wrong byte.
pub fn utf8<'a>(bytes: &'a [u8], file: &str) -> Result<&'a str, InputError> {
    not_foreign(bytes, file)?;
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

/// Returns true if a text consists of hexadecimal words, not assembly.
///
/// The first line with an instruction decides; `.word` and `.quad` count as instructions. Without any, the extension of
/// `file` decides.
pub fn is_hex(text: &str, file: &str) -> bool {
    let first = text
        .lines()
        .map(code)
        .filter_map(|line| line.split_whitespace().next())
        .find(|word| !word.starts_with('.') || is_word(word));
    match first {
        Some(word) => {
            // No mnemonic consists only of the digits 0-9 and a-f.
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

/// Returns true if a directive gives an instruction as words.
fn is_word(directive: &str) -> bool {
    [".word", ".quad"]
        .iter()
        .any(|d| directive.eq_ignore_ascii_case(d))
}

/// Returns `name` made usable in a file name: letters, digits and `._-+`, at most [`LONGEST_NAME`] characters. Every other
/// character becomes `_`. A hash at the end of a changed name keeps two names apart that differ only in what was changed.
pub fn sound_name(name: &str) -> String {
    let sound = |c: char| {
        if c.is_ascii_alphanumeric() || "._-+".contains(c) {
            c
        } else {
            '_'
        }
    };
    let sounds: String = name.chars().map(sound).collect();
    if sounds == name && name.len() <= LONGEST_NAME {
        return sounds;
    }
    // FNV-1a.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mark = format!("-{:08x}", hash >> 32);
    let room = LONGEST_NAME - mark.len();
    sounds.chars().take(room).collect::<String>() + &mark
}

/// Maximum number of entries of a list that a message shows.
pub const MAX_SHOWN: usize = 16;

/// Returns `slot 3` or `slots 3, 5` for `one` = `slot`. Shows at most `most` places and counts the others.
pub fn places(one: &str, at: &[usize], most: usize) -> String {
    let plural = if at.len() == 1 { "" } else { "s" };
    let shown: Vec<String> = at.iter().take(most).map(ToString::to_string).collect();
    let more = match at.len().saturating_sub(most) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{one}{plural} {}{more}", shown.join(", "))
}

/// Returns the index of the program that `which` selects by number (from 1) or name. `one` is the word for a program in
/// messages.
///
/// A name has precedence over a number. If there is only one program, `which` may be `None`.
///
/// # Errors
///
/// No program has this number or name, several have this name, or `which` is `None` and the file does not have exactly one.
pub fn choose(
    names: &[&str],
    one: &str,
    which: Option<&str>,
    file: &str,
) -> Result<usize, InputError> {
    let fail = |message: String| Err(InputError::new(file, 0, "--select", message));
    let there = || {
        let shown: Vec<String> = (1..)
            .zip(names)
            .take(MAX_SHOWN)
            .map(|(n, name)| format!("{n} {}", sound_name(name)))
            .collect();
        let more = match names.len().saturating_sub(MAX_SHOWN) {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: programs whose names differ only in letters beyond ASCII wrote the same waves, and kernels whose names differ
    /// only behind the longest name did too.
    #[test]
    fn different_names_stay_different_when_they_are_made_sound() {
        assert_eq!(sound_name("if_else.1-a+b"), "if_else.1-a+b");
        let longest = "k".repeat(LONGEST_NAME);
        assert_eq!(sound_name(&longest), longest);
        let others = ["größe", "grüße", "gr__e", "gr e", "gr/e"].map(str::to_owned);
        let long = ["a", "b"].map(|end| longest.clone() + end);
        let names = others.iter().chain(&long).map(|name| sound_name(name));
        let names: std::collections::BTreeSet<String> = names.collect();
        assert_eq!(names.len(), 7, "{names:?}");
        for name in &names {
            assert!(name.len() <= LONGEST_NAME, "{name}");
            assert_eq!(sound_name(name), *name);
        }
        assert_eq!(sound_name("größe").split_once('-').unwrap().0, "gr__e");
    }
}
