//! The parameters of a module, read from its text: Verilator reports ports only.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use reconverge::input::InputError;
use verilate::FileList;

use super::texts;
use super::tree::{Kind, Type};
use crate::args::parameter;

/// The default of a parameter; of one that is not a plain number, its text.
type Preset = Result<u32, String>;

/// A parameter in the head of the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub name: String,
    default: Preset,
    form: Form,
}

/// What the values of a parameter are.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    Number,
    /// Those of a type with a name, which only Verilator knows.
    Named,
    Enum(String, Vec<(String, u64)>),
    /// No number: what it is.
    Other(&'static str),
}

/// That of an unpacked array.
const ARRAY: Form = Form::Other("an array");

/// A parameter of the module with its default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    pub default: u32,
    /// The enum of its values: only a cast makes one of a number.
    pub of_enum: Option<String>,
}

/// What `--param` gives: a number, or a name that an enum has for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    Number(u32),
    Name(String),
}

/// Parses `NAME=VALUE`.
pub fn given(text: &str) -> Result<(String, Given), String> {
    let begins = |c: char| c.is_ascii_alphabetic() || c == '_';
    match text.split_once('=') {
        Some((name, value)) if value.starts_with(begins) => {
            Ok((name.to_owned(), Given::Name(value.to_owned())))
        }
        _ => parameter(text).map(|(name, value)| (name, Given::Number(value))),
    }
}

/// Returns the parameters of module `top`, with their defaults.
pub fn all(dir: &Path, files: &FileList, top: &str) -> Result<Vec<Head>, InputError> {
    for text in texts(dir, files) {
        if let Some(found) = parameters_in(&text?, top) {
            return Ok(found);
        }
    }
    // The module may come from a folder of modules, or from a macro: Verilator will report it if not.
    Ok(Vec::new())
}

/// Returns whether the types of `parameters` matter: of one with an `asked` value, and of one whose default cannot be declared.
pub fn need_types(parameters: &[Head], asked: &[(String, Given)]) -> bool {
    parameters.iter().any(|head| {
        let given = asked.iter().any(|(name, _)| *name == head.name);
        head.form == Form::Named && (given || head.default.is_err())
    })
}

/// Sets what the values of `parameters` are, from the `types` of the module's variables; `name_of` is the name of an enum in a wrapper.
pub fn with_types(
    parameters: &mut [Head],
    types: &BTreeMap<String, Option<Type>>,
    name_of: impl Fn(&str) -> Option<String>,
) {
    for head in parameters.iter_mut().filter(|p| p.form == Form::Named) {
        let Some(of) = types.get(&head.name) else {
            continue;
        };
        head.form = match of.as_ref().map(|of| &of.kind) {
            None | Some(Kind::List(..)) => ARRAY,
            Some(Kind::Struct(_)) => Form::Other("a struct"),
            Some(Kind::Enum(name, values)) => match name_of(name) {
                Some(name) => Form::Enum(name, values.clone()),
                None => Form::Named,
            },
            Some(_) => Form::Number,
        };
    }
}

/// Makes the `asked` values the defaults of those `parameters` of module `top`.
pub fn choose(
    asked: &[(String, Given)],
    parameters: &mut [Head],
    top: &str,
) -> Result<(), InputError> {
    for (name, value) in asked {
        let bad = |why: String| InputError::option("--param", format!("{name}: {why}"));
        let there: Vec<&str> = parameters.iter().map(|head| head.name.as_str()).collect();
        let none = bad(match there[..] {
            [] => format!("the files of --rtl have no {top} with parameters in its head"),
            _ => format!("{top} has the parameters {}", there.join(", ")),
        });
        let found = parameters.iter_mut().find(|head| head.name == *name);
        let found = found.ok_or(none)?;
        if found
            .default
            .as_ref()
            .is_err_and(|text| text.starts_with('"'))
        {
            return Err(bad(
                "its value is text; only numbers can be given".to_owned()
            ));
        }
        found.default = Ok(found.value(value).map_err(bad)?);
    }
    Ok(())
}

impl Head {
    /// Returns the number that a given value is.
    ///
    /// # Errors
    /// Why it is none.
    fn value(&self, given: &Given) -> Result<u32, String> {
        let (of, values) = match (&self.form, given) {
            (Form::Other(what), _) => {
                let name = &self.name;
                return Err(format!(
                    "it is {what}; --type {name}=VALUE gives it a value"
                ));
            }
            (Form::Enum(of, values), _) => (of, values),
            (_, Given::Number(value)) => return Ok(*value),
            (_, Given::Name(text)) => {
                return Err(format!("`{text}` is not a number, and it has no enum"));
            }
        };
        // A name of a package stands before the enum and before its values.
        let package = of.rsplit_once("::").map_or("", |(package, _)| package);
        let is = |(name, value): &&(String, u64)| match given {
            Given::Number(number) => u64::from(*number) == *value,
            Given::Name(text) => match text.rsplit_once("::") {
                Some((from, text)) => from == package && text == name,
                None => text == name,
            },
        };
        let found = values.iter().find(is);
        let found = found.and_then(|(_, value)| u32::try_from(*value).ok());
        found.ok_or_else(|| {
            let all = values
                .iter()
                .map(|(name, value)| format!("{name} = {value}"));
            let all: Vec<String> = all.collect();
            format!("the enum {of} has the values {}", all.join(", "))
        })
    }
}

/// Returns the parameters that have a default; `notes` name the others but those with `types`.
pub fn with_defaults(
    parameters: Vec<Head>,
    types: &[(String, String)],
    notes: &mut Vec<String>,
) -> Vec<Parameter> {
    let known = parameters.into_iter().filter_map(|head| {
        let Head {
            name,
            default,
            form,
        } = head;
        // It is in the wrapper, which says so.
        if types.iter().any(|(given, _)| *given == name) {
            return None;
        }
        let why = match (&default, &form) {
            (Err(text), _) if text.starts_with('"') => format!("its default is text, {text}"),
            (Err(_), Form::Other(what)) => {
                format!("it is {what}; --type {name}=VALUE gives it a value in a wrapper")
            }
            (Err(text), Form::Enum(of, _)) => {
                format!("its default is {text} of enum {of}; --param {name}=VALUE gives one, a number or a name")
            }
            _ => format!("its default is not a plain number; --param {name}=VALUE gives one"),
        };
        if default.is_err() {
            notes.push(format!("parameter {name} is not declared: {why}"));
        }
        Some(Parameter {
            name,
            default: default.ok()?,
            of_enum: match form {
                Form::Enum(of, _) => Some(of),
                _ => None,
            },
        })
    });
    known.collect()
}

/// The words with which a type begins that has no other name.
const PLAIN: [&str; 13] = [
    "logic", "bit", "reg", "int", "integer", "byte", "shortint", "longint", "time", "signed",
    "unsigned", "string", "real",
];

/// Returns the parameters in the head of module `top`; `None` if it is not in `text`.
fn parameters_in(text: &str, top: &str) -> Option<Vec<Head>> {
    let [_, parameters, _] = heads(text, top)?;
    let (mut local, mut types, mut named) = (false, false, false);
    let found = parameters.into_iter().filter_map(|one| {
        // The keyword and the type also hold for those after it.
        let mut words = one.split_whitespace().peekable();
        if let Some(word) = words.next_if(|word| ["localparam", "parameter"].contains(word)) {
            (local, types, named) = (word == "localparam", false, false);
        }
        types |= words.peek() == Some(&"type");
        let (left, right) = one.split_once('=')?;
        let mut name = left.trim_end();
        let mut form = Form::Number;
        while let Some((before, _)) = name.strip_suffix(']').and_then(|of| of.rsplit_once('[')) {
            (name, form) = (before.trim_end(), ARRAY);
        }
        let name = name.split_whitespace().last()?.rsplit(']').next()?;
        if let Some(word) = words.next().filter(|word| !word.starts_with(name)) {
            let plain = |of: &&str| {
                word.strip_prefix(*of)
                    .is_some_and(|rest| !rest.starts_with(is_of_name))
            };
            named = !word.starts_with('[') && !PLAIN.iter().any(plain);
        }
        if named && form == Form::Number {
            form = Form::Named;
        }
        let (name, right) = (name.to_owned(), right.trim());
        (!local && !types).then(|| Head {
            name,
            default: number(right).ok_or_else(|| right.to_owned()),
            form,
        })
    });
    Some(found.collect())
}

/// Returns whether a name goes on with `c`.
fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the parameters of a head that are used in `text`, and those that they use, as local ones: names and declarations. `given` are other
/// values.
pub fn used_in(
    text: &str,
    parameters: &[&str],
    given: &[(String, String)],
) -> Vec<(String, String)> {
    let mut type_of = "";
    let declared = parameters.iter().filter_map(|one| {
        let (left, value) = one.split_once('=')?;
        let words = left.trim();
        let keyword = ["parameter", "localparam"]
            .iter()
            .find_map(|keyword| words.strip_prefix(keyword));
        let rest = keyword.filter(|rest| rest.starts_with(char::is_whitespace));
        let word = rest.unwrap_or(words).trim();
        let begin = word.rfind(|c| !is_of_name(c)).map_or(0, |at| at + 1);
        let (typed, name) = word.split_at(begin);
        if rest.is_some() || !typed.trim().is_empty() {
            type_of = typed.trim();
        }
        let value = given
            .iter()
            .find(|(of, _)| of == name)
            .map_or(value, |(_, value)| value);
        Some((name, type_of, value.trim()))
    });
    let declared: Vec<_> = declared.collect();
    let mut used = names_in(text);
    let mut found = Vec::new();
    // Each uses only those before it.
    for (name, of, value) in declared.into_iter().rev() {
        if used.contains(name) {
            used.extend(names_in(of).into_iter().chain(names_in(value)));
            let space = if of.is_empty() { "" } else { " " };
            found.push((
                name.to_owned(),
                format!("localparam {of}{space}{name} = {value};"),
            ));
        }
    }
    found.reverse();
    found
}

/// Returns the words of `text`.
fn names_in(text: &str) -> BTreeSet<String> {
    let words = text.split(|c| !is_of_name(c));
    words.map(str::to_owned).collect()
}

/// Returns the packages that module `top` imports, and what stands in the parentheses of its parameters and of its ports; `None` if it is not in
/// `text`.
pub fn heads<'a>(text: &'a str, top: &str) -> Option<[Vec<&'a str>; 3]> {
    let mut words = text.match_indices("module");
    let body = words.find_map(|(at, word)| {
        let after = text[at + word.len()..].trim_start();
        let rest = after.strip_prefix(top)?;
        (!rest.starts_with(is_of_name)).then_some(rest)
    })?;
    // Before the parameters, packages may be imported.
    let (mut body, mut imports) = (body.trim_start(), Vec::new());
    while let Some(rest) = body.strip_prefix("import")
        && rest.starts_with(char::is_whitespace)
    {
        let (import, rest) = rest.split_once(';').unwrap_or_default();
        imports.push(import.trim());
        body = rest.trim_start();
    }
    let (parameters, rest) = match body.strip_prefix('#') {
        Some(rest) => in_parentheses(rest),
        None => ("", body),
    };
    let lists = [parameters, in_parentheses(rest).0].map(|list| top_level(list).collect());
    let [parameters, ports] = lists;
    Some([imports, parameters, ports])
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
