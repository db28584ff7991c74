//! Mistakes in options: those of the whole command line, not only the first one.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Command, Error};

use crate::guests::{names, only};

/// Most mistakes of a command line that are reported.
const MAX: usize = 8;

/// Parses the arguments of this process. On mistakes it prints them and ends the process.
pub fn matches(command: &mut Command) -> ArgMatches {
    let mut given: Vec<OsString> = std::env::args_os().collect();
    // The id of a rule says of which unit it is.
    if let [_, explain, id] = &given[..]
        && explain == "explain"
        && let Some(unit) = unit_of(&id.to_string_lossy())
    {
        given.insert(2, unit.into());
    }
    let mut errors: Vec<Error> = Vec::new();
    loop {
        match command.try_get_matches_from_mut(&given) {
            Ok(matches) if errors.is_empty() => return matches,
            Err(e) if errors.is_empty() || is_alone(&e) => {
                let shorter = without(&given, &e).filter(|_| errors.len() + 1 < MAX);
                errors.push(e);
                match shorter {
                    Some(shorter) => given = shorter,
                    None => break,
                }
            }
            // It may be there only because an option was left out above.
            _ => break,
        }
    }
    let Some(last) = errors.pop() else {
        unreachable!("the loop ends with an error")
    };
    for e in errors {
        // Without the hints, which come once.
        let text = e.render().to_string();
        eprintln!("{}", text.split("\n\n").next().unwrap_or(&text));
    }
    last.exit()
}

/// Returns the unit of the rule `id`, if there are several units: `spa5` of `spa5-4.4-d`.
fn unit_of(id: &str) -> Option<&'static str> {
    let id = id.rsplit_once('#').map_or(id, |(_, id)| id);
    let (unit, _) = id.split_once('-')?;
    names().find(|name| *name == unit && only().is_none())
}

/// Returns whether a mistake concerns one option and nothing else.
fn is_alone(e: &Error) -> bool {
    let alone = [
        ErrorKind::InvalidValue,
        ErrorKind::ValueValidation,
        ErrorKind::UnknownArgument,
    ];
    alone.contains(&e.kind())
}

/// Returns the arguments `given` without the option about which `e` is, if it is about one.
fn without(given: &[OsString], e: &Error) -> Option<Vec<OsString>> {
    let text = |kind| match e.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let option = text(ContextKind::InvalidArg).filter(|_| is_alone(e))?;
    let flag = option.split([' ', '=']).next()?;
    let value = text(ContextKind::InvalidValue);
    let joined = value.map(|value| OsString::from(format!("{flag}={value}")));
    let found = |at: &usize| {
        let next = given.get(at + 1);
        Some(&given[*at]) == joined.as_ref()
            || given[*at] == flag
                && value.is_none_or(|value| next.is_some_and(|next| next == value))
    };
    let at = (1..given.len())
        .find(found)
        .filter(|_| flag.starts_with('-'))?;
    let mut rest = given.to_vec();
    rest.remove(at);
    // Its value, which an unknown option may have too.
    let value = |next: &OsString| given[at] == flag && !next.to_string_lossy().starts_with('-');
    if rest.get(at).is_some_and(value) {
        rest.remove(at);
    }
    Some(rest)
}
