//! Programs from files: in any format of the unit, and with a reason if a file is of something else.

use std::path::Path;

use reconverge::compiled::Compiled;
use reconverge::input::InputError;
use reconverge::saved::identify;
use reconverge::unit::LoadOptions;

use crate::console::{Failure, warn};
use crate::guests::others;
use crate::streams::read;

/// Reads a program and prints its warnings.
pub fn load<U: Compiled>(path: &Path, options: &LoadOptions) -> Result<U::Program, Failure> {
    let (bytes, file) = read(path)?;
    other_input(&bytes, &file, U::NAME)?;
    let loaded = U::load(&bytes, &file, options);
    let loaded = loaded.map_err(|wrong| of_another(&bytes, &file, U::NAME).unwrap_or(wrong))?;
    warn(&loaded.warnings);
    Ok(loaded.program)
}

/// Refuses a saved case, and a file that only a unit other than `unit` reads.
pub fn other_input(bytes: &[u8], file: &str, unit: &str) -> Result<(), InputError> {
    let object = bytes.trim_ascii_start().starts_with(b"{");
    let text = str::from_utf8(bytes).ok().filter(|_| object);
    if text.is_some_and(|text| identify(text, file).is_ok()) {
        let why = "this is a saved case, try `replay`";
        return Err(InputError::new(file, 0, "file", why));
    }
    for (other, reads) in others(unit) {
        let Some((what, runs)) = (reads.recognises)(bytes) else {
            continue;
        };
        let hint = match runs {
            true => format!(", try `run {other}`"),
            false => String::new(),
        };
        return Err(InputError::new(
            file,
            0,
            "file",
            format!("this is {what}{hint}"),
        ));
    }
    Ok(())
}

/// Returns why a program that is none of `unit` is refused, if another unit reads it: many messages about its words would not help.
fn of_another(bytes: &[u8], file: &str, unit: &str) -> Option<InputError> {
    // Words in hexadecimal may be of any unit.
    let mut letters = bytes.iter().filter(|byte| byte.is_ascii_alphabetic());
    if letters.all(|byte| byte.is_ascii_hexdigit() || *byte == b'x') {
        return None;
    }
    let (name, _) = others(unit).find(|(_, other)| (other.reads)(bytes, file))?;
    let why = format!("this is a program of {name}, not of {unit}; try `run {name}`");
    Some(InputError::new(file, 0, "file", why))
}
