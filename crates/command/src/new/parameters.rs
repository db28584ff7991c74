//! The parameters of a module, read from its text: Verilator reports ports only.

use std::path::Path;

use reconverge::input::InputError;
use verilate::FileList;

use super::texts;

/// The default of a parameter; of one that is not a plain number, its text.
pub type Preset = Result<u32, String>;

/// A parameter of the module with its default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    pub default: u32,
}

/// Returns the parameters of module `top`, with their defaults.
pub fn all(dir: &Path, files: &FileList, top: &str) -> Result<Vec<(String, Preset)>, InputError> {
    for text in texts(dir, files) {
        if let Some(found) = parameters_in(&text?, top) {
            return Ok(found);
        }
    }
    // The module may come from a folder of modules, or from a macro: Verilator will report it if not.
    Ok(Vec::new())
}

/// Makes the `asked` values the defaults of those `parameters` of module `top`.
pub fn choose(
    asked: &[(String, u32)],
    parameters: &mut [(String, Preset)],
    top: &str,
) -> Result<(), InputError> {
    for (name, value) in asked {
        let bad = |why: String| InputError::option("--param", format!("{name}: {why}"));
        let there: Vec<&str> = parameters.iter().map(|(name, _)| name.as_str()).collect();
        let none = bad(match there[..] {
            [] => format!("the files of --rtl have no {top} with parameters in its head"),
            _ => format!("{top} has the parameters {}", there.join(", ")),
        });
        let found = parameters.iter_mut().find(|(there, _)| there == name);
        let (_, default) = found.ok_or(none)?;
        if default.as_ref().is_err_and(|text| text.starts_with('"')) {
            return Err(bad(
                "its value is text; only numbers can be given".to_owned()
            ));
        }
        *default = Ok(*value);
    }
    Ok(())
}

/// Returns the parameters that have a default; `notes` name the others.
pub fn with_defaults(parameters: Vec<(String, Preset)>, notes: &mut Vec<String>) -> Vec<Parameter> {
    let known = parameters.into_iter().filter_map(|(name, default)| {
        match &default {
            Err(text) if text.starts_with('"') => {
                notes.push(format!("parameter {name} is not declared: its default is text, {text}"));
            }
            Err(_) => notes.push(format!(
                "parameter {name} is not declared: its default is not a plain number; --param {name}=VALUE gives one"
            )),
            Ok(_) => {}
        }
        let default = default.ok()?;
        Some(Parameter { name, default })
    });
    known.collect()
}

/// Returns the parameters in the head of module `top`; `None` if it is not in `text`.
fn parameters_in(text: &str, top: &str) -> Option<Vec<(String, Preset)>> {
    let (parameters, _) = heads(text, top)?;
    let (mut local, mut types) = (false, false);
    let found = parameters.into_iter().filter_map(|one| {
        // The keyword also holds for those after it.
        let mut words = one.split_whitespace().peekable();
        if let Some(word) = words.next_if(|word| ["localparam", "parameter"].contains(word)) {
            (local, types) = (word == "localparam", false);
        }
        types |= words.peek() == Some(&"type");
        let (left, right) = one.split_once('=')?;
        let name = left.split_whitespace().last()?.to_owned();
        let right = right.trim();
        (!local && !types).then(|| (name, number(right).ok_or_else(|| right.to_owned())))
    });
    Some(found.collect())
}

/// Returns what stands in the parentheses of the parameters and of the ports of module `top`; `None` if it is not in `text`.
pub fn heads<'a>(text: &'a str, top: &str) -> Option<(Vec<&'a str>, Vec<&'a str>)> {
    let mut words = text.match_indices("module");
    let body = words.find_map(|(at, word)| {
        let after = text[at + word.len()..].trim_start();
        let rest = after.strip_prefix(top)?;
        let goes_on = |c: char| c.is_alphanumeric() || c == '_';
        (!rest.starts_with(goes_on)).then_some(rest)
    })?;
    // Before the parameters, packages may be imported.
    let mut body = body.trim_start();
    while let Some(rest) = body.strip_prefix("import")
        && rest.starts_with(char::is_whitespace)
    {
        let (_, rest) = rest.split_once(';').unwrap_or_default();
        body = rest.trim_start();
    }
    let (parameters, rest) = match body.strip_prefix('#') {
        Some(rest) => in_parentheses(rest),
        None => ("", body),
    };
    let lists = [parameters, in_parentheses(rest).0].map(|list| top_level(list).collect());
    let [parameters, ports] = lists;
    Some((parameters, ports))
}

/// Returns what stands in the parentheses at the beginning of `text`, and what follows them.
fn in_parentheses(text: &str) -> (&str, &str) {
    let Some(list) = text.trim_start().strip_prefix('(') else {
        return ("", text);
    };
    let mut depth = 1;
    let end = list.find(|c| {
        depth += nests(c);
        depth == 0
    });
    let end = end.unwrap_or(list.len());
    (&list[..end], list.get(end + 1..).unwrap_or_default())
}

/// Splits a text at the commas outside brackets.
fn top_level(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    text.split(move |c| {
        depth += nests(c);
        c == ',' && depth == 0
    })
}

/// Returns how much deeper in brackets what follows `c` is.
fn nests(c: char) -> i32 {
    i32::from("([{".contains(c)) - i32::from(")]}".contains(c))
}

/// Parses a number in SystemVerilog notation: `4`, `32'd4`, `8'hff`.
fn number(text: &str) -> Option<u32> {
    let text = text.replace('_', "");
    let (radix, digits) = match text.split_once('\'') {
        None => (10, text.as_str()),
        Some((_, rest)) => {
            let rest = rest.trim_start_matches(['s', 'S']);
            match rest.chars().next()?.to_ascii_lowercase() {
                'd' => (10, &rest[1..]),
                'h' => (16, &rest[1..]),
                'b' => (2, &rest[1..]),
                'o' => (8, &rest[1..]),
                _ => return None,
            }
        }
    };
    u32::from_str_radix(digits, radix).ok()
}
