//! Reads the tables of a TOML file, each value with its line. A key that nothing asks for is an error.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::Error;

/// A file and its text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct File<'a> {
    pub name: &'a str,
    pub text: &'a str,
}

impl File<'_> {
    /// Returns an error at byte `at` of the file.
    pub fn error(&self, at: usize, field: &str, message: impl Into<String>) -> Error {
        let before = self.text.as_bytes().iter().take(at);
        Error {
            file: self.name.to_owned(),
            line: 1 + before.filter(|byte| **byte == b'\n').count(),
            field: field.to_owned(),
            message: message.into(),
        }
    }

    /// Parses the file; `read` reads the known keys from the root table.
    pub fn parse<T>(&self, read: impl FnOnce(&Table) -> Result<T, Error>) -> Result<T, Error> {
        let root = DeTable::parse(self.text).map_err(|e| {
            let at = e.span().map_or(0, |span| span.start);
            self.error(at, "TOML", e.message().trim())
        })?;
        Table::new(*self, String::new(), root.get_ref(), 0..0).all(read)
    }

    /// Returns an error at the first key, but those in `free`, whose value is not that of the file `other`, which is called `whose`.
    pub fn differs(self, other: Self, free: &[&str], whose: &str) -> Option<Error> {
        let parse = |file: Self| {
            let table = DeTable::parse(file.text).ok()?.into_inner();
            Some(Spanned::new(0..0, DeValue::Table(table)))
        };
        let (own, theirs) = (parse(self)?, parse(other)?);
        let (mut found, values) = (Vec::new(), [Some(&own), Some(&theirs)]);
        differences([self, other], 0, "", values, free, &mut found);
        let (at, path, why) = found.into_iter().min()?;
        Some(self.error(at, &path, format!("{why} in {whose}")))
    }
}

/// Adds to `found` each key below `path`, but those in `free`, whose values differ between two files: its byte in the first, or `at`, its
/// path, and what is to be said of it.
fn differences(
    files: [File; 2],
    at: usize,
    path: &str,
    values: [Option<&Value>; 2],
    free: &[&str],
    found: &mut Vec<(usize, String, String)>,
) {
    let table = |value: &Value| value.get_ref().is_table();
    let mut below = |path: String, values: [Option<&Value>; 2]| {
        let at = values[0].map_or(at, |value| value.span().start);
        differences(files, at, &path, values, free, found);
    };
    match values.map(|value| value.map(Spanned::get_ref)) {
        [Some(DeValue::Table(own)), Some(DeValue::Table(theirs))] => {
            let keys: BTreeSet<_> = own
                .keys()
                .chain(theirs.keys())
                .map(Spanned::get_ref)
                .collect();
            for key in keys.into_iter().filter(|key| !free.contains(&&***key)) {
                let dot = if path.is_empty() { "" } else { "." };
                let pair = [own, theirs].map(|table| table.get(&**key));
                below(format!("{path}{dot}{key}"), pair);
            }
        }
        [Some(DeValue::Array(own)), Some(DeValue::Array(theirs))] if own.iter().any(table) => {
            for number in 0..own.len().max(theirs.len()) {
                let pair = [own.get(number), theirs.get(number)];
                let one = pair
                    .iter()
                    .flatten()
                    .find_map(|value| value.get_ref().as_table());
                let name = one.and_then(|table| table.get("name")?.get_ref().as_str());
                below(
                    format!("{path} {}", name.unwrap_or("of it").escape_debug()),
                    pair,
                );
            }
        }
        _ => {
            let [own, theirs] = [0, 1].map(|n| Some(&files[n].text[values[n]?.span()]));
            let first = |text: &str| text.lines().next().unwrap_or_default().to_owned();
            let why = match (own.map(first), theirs.map(first)) {
                (Some(own), Some(theirs)) => format!("{own}, and {theirs}"),
                (Some(_), None) => "given here, and not".to_owned(),
                _ => "missing, and given".to_owned(),
            };
            if own != theirs {
                found.push((at, path.to_owned(), why));
            }
        }
    }
}

/// Position of a key in a file, and its name in messages.
#[derive(Clone, Debug)]
pub(crate) struct KeyPosition {
    at: usize,
    path: String,
}

type Value<'a> = Spanned<DeValue<'a>>;

/// One table of a file.
pub(crate) struct Table<'a> {
    file: File<'a>,
    /// Name in messages; empty for the root.
    name: String,
    table: &'a DeTable<'a>,
    span: Range<usize>,
    /// Keys that `read` has asked for.
    asked: RefCell<Vec<&'static str>>,
}

impl<'a> Table<'a> {
    fn new(file: File<'a>, name: String, table: &'a DeTable<'a>, span: Range<usize>) -> Self {
        Table {
            file,
            name,
            table,
            span,
            asked: RefCell::default(),
        }
    }

    /// Reads the whole table with `read`. A key that `read` does not ask for is an error.
    fn all<T>(&self, read: impl FnOnce(&Self) -> Result<T, Error>) -> Result<T, Error> {
        let done = read(self)?;
        let asked = self.asked.borrow();
        let mut keys = self.table.keys();
        match keys.find(|key| !asked.contains(&key.get_ref().as_ref())) {
            None => Ok(done),
            Some(key) => Err(self.file.error(
                key.span().start,
                &self.path(key.get_ref()),
                format!("unknown; known here: {}", asked.join(", ")),
            )),
        }
    }

    fn path(&self, key: &str) -> String {
        match self.name.as_str() {
            "" => key.to_owned(),
            name => format!("{name}.{key}"),
        }
    }

    /// Returns the position of `key`: that of its value if there is one, otherwise that of the table.
    pub fn place(&self, key: &str) -> KeyPosition {
        let value = self.table.get(key);
        KeyPosition {
            at: value.map_or(self.span.start, |value| value.span().start),
            path: self.path(key),
        }
    }

    /// Returns an error about `key`.
    pub fn error(&self, key: &str, message: impl Into<String>) -> Error {
        self.error_at(&self.place(key), message)
    }

    pub fn error_at(&self, place: &KeyPosition, message: impl Into<String>) -> Error {
        self.file.error(place.at, &place.path, message)
    }

    fn value(&self, key: &'static str) -> Option<&'a Value<'a>> {
        let mut asked = self.asked.borrow_mut();
        if !asked.contains(&key) {
            asked.push(key);
        }
        self.table.get(key)
    }

    pub fn has(&self, key: &'static str) -> bool {
        self.value(key).is_some()
    }

    fn required<T>(&self, key: &'static str, value: Option<T>) -> Result<T, Error> {
        value.ok_or_else(|| self.error(key, "missing"))
    }

    /// Names the table after the value of its key `name`.
    pub fn named(mut self, kind: &str) -> Self {
        if let Some(DeValue::String(name)) = self.table.get("name").map(Spanned::get_ref) {
            self.name = format!("{kind} {}", name.escape_debug());
        }
        self
    }

    // ---- values ---------------------------------------------------------------------------------------

    fn string_of(&self, key: &str, value: &Value<'_>) -> Result<String, Error> {
        let at = value.span().start;
        let wrong = |message: &str| self.file.error(at, &self.path(key), message);
        match value.get_ref() {
            DeValue::String(text) if text.trim().is_empty() => Err(wrong("empty")),
            DeValue::String(text) if text.chars().any(|c| c.is_control() && c != '\n') => {
                Err(wrong("holds a control character"))
            }
            DeValue::String(text) => Ok(text.clone().into_owned()),
            _ => Err(wrong("not a string")),
        }
    }

    pub fn string(&self, key: &'static str) -> Result<Option<String>, Error> {
        let value = self.value(key);
        value.map(|value| self.string_of(key, value)).transpose()
    }

    pub fn required_string(&self, key: &'static str) -> Result<String, Error> {
        self.required(key, self.string(key)?)
    }

    /// Reads one line of text.
    pub fn line(&self, key: &'static str) -> Result<Option<String>, Error> {
        match self.string(key)? {
            Some(text) if text.contains('\n') => Err(self.error(key, "more than one line")),
            text => Ok(text),
        }
    }

    /// Reads an array of strings; a single string is an array of one.
    pub fn strings(&self, key: &'static str) -> Result<Option<Vec<String>>, Error> {
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        match value.get_ref() {
            DeValue::Array(list) if list.is_empty() => Err(self.error(key, "an empty list")),
            DeValue::Array(list) => {
                let strings = list.iter().map(|value| self.string_of(key, value));
                strings.collect::<Result<_, _>>().map(Some)
            }
            _ => Ok(Some(vec![self.string_of(key, value)?])),
        }
    }

    /// Does the same as [`Table::strings`]; a number is taken as its text.
    pub fn texts(&self, key: &'static str) -> Result<Option<Vec<String>>, Error> {
        self.value(key)
            .map(|value| self.texts_of(key, value))
            .transpose()
    }

    fn texts_of(&self, key: &str, value: &Value<'_>) -> Result<Vec<String>, Error> {
        let text = |value: &Value<'_>| match value.get_ref() {
            DeValue::Integer(_) => Ok(self.number_of(key, value, 0..=u64::MAX)?.to_string()),
            _ => self.string_of(key, value),
        };
        match value.get_ref() {
            DeValue::Array(list) if list.is_empty() => Err(self.error(key, "an empty list")),
            DeValue::Array(list) => list.iter().map(text).collect(),
            _ => Ok(vec![text(value)?]),
        }
    }

    /// Reads the table `key`, whose keys are not known: each with its [`Table::texts`] and its position.
    pub fn entries(
        &self,
        key: &'static str,
    ) -> Result<Vec<(String, Vec<String>, KeyPosition)>, Error> {
        let Some(value) = self.value(key) else {
            return Ok(Vec::new());
        };
        let DeValue::Table(table) = value.get_ref() else {
            return Err(self.error(key, "not a table"));
        };
        let entries = table.iter().map(|(name, value)| {
            let name = name.get_ref();
            let path = format!("{key}.{name}");
            let place = KeyPosition {
                at: value.span().start,
                path: self.path(&path),
            };
            Ok((
                name.clone().into_owned(),
                self.texts_of(&path, value)?,
                place,
            ))
        });
        entries.collect()
    }

    fn number_of(
        &self,
        key: &str,
        value: &Value<'_>,
        range: RangeInclusive<u64>,
    ) -> Result<u64, Error> {
        let (least, most) = (range.start(), range.end());
        let wrong = |what: &str| {
            let at = value.span().start;
            let message = format!("{what}is not a number from {least} to {most}");
            self.file.error(at, &self.path(key), message)
        };
        match value.get_ref() {
            DeValue::Integer(number) => {
                let given = number.to_string();
                u64::from_str_radix(number.as_str(), number.radix())
                    .ok()
                    .filter(|n| range.contains(n))
                    .ok_or_else(|| wrong(&format!("{given} ")))
            }
            _ => Err(wrong("")),
        }
    }

    pub fn number(
        &self,
        key: &'static str,
        range: RangeInclusive<u64>,
    ) -> Result<Option<u64>, Error> {
        let value = self.value(key);
        value
            .map(|value| self.number_of(key, value, range))
            .transpose()
    }

    /// Reads two numbers, the first not above the second.
    pub fn pair(
        &self,
        key: &'static str,
        range: RangeInclusive<u64>,
    ) -> Result<Option<(u64, u64)>, Error> {
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        let DeValue::Array(list) = value.get_ref() else {
            return Err(self.error(key, "not a list of two numbers"));
        };
        let numbers = list.iter().map(|n| self.number_of(key, n, range.clone()));
        match numbers.collect::<Result<Vec<u64>, _>>()?[..] {
            [low, high] if low <= high => Ok(Some((low, high))),
            [low, high] => Err(self.error(key, format!("{low} is above {high}"))),
            _ => Err(self.error(key, "not a list of two numbers")),
        }
    }

    /// Reads numbers, each above the one before it.
    pub fn ascending(
        &self,
        key: &'static str,
        range: RangeInclusive<u64>,
    ) -> Result<Option<Vec<u64>>, Error> {
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        let ascending = "not a list of numbers, each above the one before it";
        let DeValue::Array(list) = value.get_ref() else {
            return Err(self.error(key, ascending));
        };
        let numbers = list.iter().map(|n| self.number_of(key, n, range.clone()));
        let numbers = numbers.collect::<Result<Vec<u64>, _>>()?;
        match !numbers.is_empty() && numbers.is_sorted_by(|a, b| a < b) {
            true => Ok(Some(numbers)),
            false => Err(self.error(key, ascending)),
        }
    }

    pub fn flag(&self, key: &'static str) -> Result<bool, Error> {
        match self.value(key).map(Spanned::get_ref) {
            None => Ok(false),
            Some(DeValue::Boolean(flag)) => Ok(*flag),
            Some(_) => Err(self.error(key, "neither true nor false")),
        }
    }

    pub fn is_number(&self, key: &'static str) -> bool {
        matches!(
            self.value(key).map(Spanned::get_ref),
            Some(DeValue::Integer(_))
        )
    }

    pub fn is_list(&self, key: &'static str) -> bool {
        matches!(
            self.value(key).map(Spanned::get_ref),
            Some(DeValue::Array(_))
        )
    }

    // ---- tables ---------------------------------------------------------------------------------------

    /// Reads the table `key`.
    pub fn table<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(&Table) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        let DeValue::Table(table) = value.get_ref() else {
            return Err(self.error(key, "not a table"));
        };
        let table = Table::new(self.file, self.path(key), table, value.span());
        table.all(read).map(Some)
    }

    /// Reads each table of the list `key`.
    pub fn tables<T>(
        &self,
        key: &'static str,
        mut read: impl FnMut(&Table) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let Some(value) = self.value(key) else {
            return Ok(Vec::new());
        };
        let DeValue::Array(list) = value.get_ref() else {
            return Err(self.error(key, format!("not a list of tables, [[{key}]]")));
        };
        let tables = list.iter().enumerate().map(|(i, value)| {
            let name = self.path(&format!("{key}[{i}]"));
            let DeValue::Table(table) = value.get_ref() else {
                return Err(self.file.error(value.span().start, &name, "not a table"));
            };
            let table = Table::new(self.file, name, table, value.span()).named(key);
            table.all(&mut read)
        });
        tables.collect()
    }
}
