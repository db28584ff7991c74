//! The tables of docs/formats.md, read as a schema.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use reconverge::unit::Unit;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::ROOT;

/// A type as the page writes it.
#[derive(Clone, Debug)]
pub enum Type {
    Range(i64, i64),
    Hex,
    Real,
    Text,
    Word(String),
    Bool,
    Null,
    Any,
    List(Box<Type>, Option<String>),
    Tuple(Vec<Type>),
    Inline(Vec<(String, Type)>),
    Map(Box<Type>),
    Object(String),
    Either(Vec<Type>),
}

/// Reads a type.
pub struct Reader<'a>(&'a str);

impl<'a> Reader<'a> {
    /// All of `text` as a type.
    pub fn whole(text: &'a str) -> Type {
        let mut reader = Reader(text);
        let found = reader.all();
        assert_eq!(reader.0, "", "{text}");
        found
    }

    fn take(&mut self, token: &str) -> bool {
        match self.0.trim_start().strip_prefix(token) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) {
        assert!(self.take(token), "`{token}` is missing before `{}`", self.0);
    }

    fn word(&mut self) -> &'a str {
        let text = self.0.trim_start();
        let part = |c: char| c.is_alphanumeric() || "_-".contains(c);
        let end = text.find(|c| !part(c)).unwrap_or(text.len());
        assert_ne!(end, 0, "no word at `{text}`");
        self.0 = &text[end..];
        &text[..end]
    }

    fn all(&mut self) -> Type {
        let mut types = vec![self.one()];
        while self.take("or ") {
            types.push(self.one());
        }
        match types.len() {
            1 => types.remove(0),
            _ => Type::Either(types),
        }
    }

    fn one(&mut self) -> Type {
        if self.take("[") {
            let element = Box::new(self.all());
            let count = self.take(";").then(|| self.word().to_owned());
            self.expect("]");
            return Type::List(element, count);
        }
        if self.take("(") {
            let mut types = vec![self.all()];
            while self.take(",") {
                types.push(self.all());
            }
            self.expect(")");
            // Braces around one type only group it.
            return match types.len() {
                1 => types.remove(0),
                _ => Type::Tuple(types),
            };
        }
        if self.take("{") {
            let mut fields = Vec::new();
            while !self.take("}") {
                assert!(fields.is_empty() || self.take(","), "no comma");
                let name = self.word().to_owned();
                self.expect(":");
                fields.push((name, self.all()));
            }
            return Type::Inline(fields);
        }
        if self.take("\"") {
            let word = self.word().to_owned();
            self.expect("\"");
            return Type::Word(word);
        }
        match self.word() {
            "number" => Type::Range(0, (1 << 53) - 1),
            "hex" => Type::Hex,
            "real" => Type::Real,
            "text" => Type::Text,
            "bool" => Type::Bool,
            "null" => Type::Null,
            "any" => Type::Any,
            "map" => Type::Map(Box::new(self.one())),
            "object" => Type::Object(self.word().to_owned()),
            number => {
                let low = number.parse().expect("a type");
                match self.take("..") {
                    true => Type::Range(low, self.word().parse().expect("a number")),
                    false => Type::Range(low, low),
                }
            }
        }
    }
}

pub type Fields = Vec<(String, Type)>;

/// The tables by name, for a unit with so many lanes.
pub struct Formats {
    pub objects: BTreeMap<String, Fields>,
    unit: &'static str,
    lanes: usize,
}

/// `text` in backticks, without them.
fn code(text: &str) -> &str {
    let inner = text
        .trim()
        .strip_prefix('`')
        .and_then(|t| t.strip_suffix('`'));
    inner.unwrap_or_else(|| panic!("no backticks: {text}"))
}

impl Formats {
    pub fn of<U: Unit>(lanes: usize) -> Self {
        let page = fs::read_to_string(Path::new(ROOT).join("docs/formats.md")).unwrap();
        let mut objects = BTreeMap::new();
        let mut current: Option<(String, Fields)> = None;
        for line in page.lines() {
            if let Some(name) = line.strip_prefix("### Object ") {
                if let Some((name, fields)) = current.replace((code(name).to_owned(), Vec::new())) {
                    objects.insert(name, fields);
                }
            } else if let Some((_, fields)) = &mut current
                && line.starts_with("| `")
            {
                let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
                let [name, kind, meaning] = cells[..] else {
                    panic!("no three columns: {line}");
                };
                assert!(meaning.trim().len() > 2, "no meaning: {line}");
                fields.push((code(name).to_owned(), Reader::whole(code(kind))));
            }
        }
        objects.extend(current);
        assert!(objects.len() > 15 && objects.values().all(|fields| !fields.is_empty()));
        Formats {
            objects,
            unit: U::NAME,
            lanes,
        }
    }

    /// Checks that `value` is of type `kind`.
    ///
    /// # Errors
    /// Where it is not.
    pub fn check(&self, kind: &Type, value: &Entry) -> Result<(), String> {
        let unlike = || Err(format!(": {value:?} is not {kind:?}"));
        let each = |types: &[Type], values: &[Entry]| {
            (0..)
                .zip(types.iter().zip(values))
                .try_for_each(|(i, (t, v)): (usize, _)| {
                    self.check(t, v).map_err(|why| format!("[{i}]{why}"))
                })
        };
        let fields = |fields: &[(String, Type)], values: &[(String, Entry)]| {
            let names = |n: Vec<&String>| format!("{n:?}");
            let wanted = names(fields.iter().map(|(name, _)| name).collect());
            let found = names(values.iter().map(|(name, _)| name).collect());
            if wanted != found {
                return Err(format!(": fields {found}, not {wanted}"));
            }
            fields
                .iter()
                .zip(values)
                .try_for_each(|((name, t), (_, v))| {
                    self.check(t, v).map_err(|why| format!(".{name}{why}"))
                })
        };
        match (kind, value) {
            (Type::Any, _) | (Type::Null, Entry::Null) => Ok(()),
            (Type::Real, Entry::Real) => Ok(()),
            (Type::Text, Entry::Text(_)) | (Type::Bool, Entry::Bool) => Ok(()),
            (Type::Range(low, high), Entry::Number(n)) if (low..=high).contains(&n) => Ok(()),
            (Type::Word(word), Entry::Text(text)) if word == text => Ok(()),
            (Type::Hex, Entry::Text(text)) => match text.strip_prefix("0x") {
                // As it is written: no zeros in front, small letters.
                Some(digits)
                    if u64::from_str_radix(digits, 16)
                        .is_ok_and(|n| format!("{n:x}") == digits) =>
                {
                    Ok(())
                }
                _ => unlike(),
            },
            (Type::List(element, count), Entry::List(values)) => {
                let wanted = count.as_deref().map(|count| match count {
                    "lanes" => self.lanes,
                    n => n.parse().unwrap(),
                });
                if wanted.is_some_and(|wanted| wanted != values.len()) {
                    return Err(format!(": {} elements, not {wanted:?}", values.len()));
                }
                each(&vec![(**element).clone(); values.len()], values)
            }
            (Type::Tuple(types), Entry::List(values)) if types.len() == values.len() => {
                each(types, values)
            }
            (Type::Inline(wanted), Entry::Object(values)) => fields(wanted, values),
            (Type::Map(kind), Entry::Object(values)) => {
                values.iter().try_for_each(|(name, value)| {
                    self.check(kind, value)
                        .map_err(|why| format!(".{name}{why}"))
                })
            }
            (Type::Object(name), Entry::Object(values)) => {
                let own = self.objects.get(&format!("{name}-{}", self.unit));
                let wanted = own.or(self.objects.get(name));
                fields(wanted.unwrap_or_else(|| panic!("no table {name}")), values)
            }
            (Type::Either(types), _) => {
                let tried = types.iter().map(|t| self.check(t, value));
                tried.reduce(Result::or).unwrap_or_else(unlike)
            }
            _ => unlike(),
        }
    }

    /// Checks `text`, a JSON object, against table `name`.
    ///
    /// # Errors
    /// Where it is not as the table says.
    pub fn object(&self, name: &str, text: &str) -> Result<(), String> {
        let value: Entry = serde_json::from_str(text).map_err(|e| format!(": {e}"))?;
        self.check(&Type::Object(name.to_owned()), &value)
    }
}

/// JSON with its fields in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    Null,
    Bool,
    Number(i64),
    Real,
    Text(String),
    List(Vec<Entry>),
    Object(Vec<(String, Entry)>),
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Entry;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("JSON")
            }
            fn visit_unit<E>(self) -> Result<Entry, E> {
                Ok(Entry::Null)
            }
            fn visit_bool<E>(self, _: bool) -> Result<Entry, E> {
                Ok(Entry::Bool)
            }
            fn visit_i64<E>(self, n: i64) -> Result<Entry, E> {
                Ok(Entry::Number(n))
            }
            fn visit_u64<E: serde::de::Error>(self, n: u64) -> Result<Entry, E> {
                n.try_into().map(Entry::Number).map_err(E::custom)
            }
            fn visit_f64<E>(self, _: f64) -> Result<Entry, E> {
                Ok(Entry::Real)
            }
            fn visit_str<E>(self, text: &str) -> Result<Entry, E> {
                Ok(Entry::Text(text.to_owned()))
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut from: A,
            ) -> Result<Entry, A::Error> {
                let mut list = Vec::new();
                while let Some(entry) = from.next_element()? {
                    list.push(entry);
                }
                Ok(Entry::List(list))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Entry, A::Error> {
                let mut fields = Vec::new();
                while let Some(entry) = from.next_entry()? {
                    fields.push(entry);
                }
                Ok(Entry::Object(fields))
            }
        }
        from.deserialize_any(Any)
    }
}
