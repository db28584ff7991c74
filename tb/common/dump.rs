//! The contents of a VCD at a time.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Every signal of a dump by its path: its width, and its value at some time as so many binary digits.
pub struct Dump(pub BTreeMap<String, (u32, String)>);

/// Paths and widths of the signals with a code.
pub type Names = HashMap<vcd::IdCode, Vec<(String, u32)>>;

/// Adds the signals of `items` to `names`.
pub fn walk(items: &[vcd::ScopeItem], scope: &str, names: &mut Names) {
    for item in items {
        match item {
            vcd::ScopeItem::Scope(inner) => {
                walk(
                    &inner.items,
                    &format!("{scope}{}.", inner.identifier),
                    names,
                );
            }
            vcd::ScopeItem::Var(var) => {
                let entry = names.entry(var.code).or_default();
                entry.push((format!("{scope}{}", var.reference), var.size));
            }
            _ => {}
        }
    }
}

/// Decodes the `\xHH` that a dump writes for characters that are not visible.
pub fn unescaped(value: &str) -> String {
    let mut parts = value.split("\\x");
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        text.push(char::from(u8::from_str_radix(&part[..2], 16).unwrap()));
        text += &part[2..];
    }
    text
}

impl Dump {
    /// The dump in file `path` at `time`.
    pub fn at(path: &Path, time: u64) -> Dump {
        let mut parser = vcd::Parser::new(BufReader::new(File::open(path).unwrap()));
        let header = parser.parse_header().unwrap();
        let mut names = Names::new();
        walk(&header.items, "", &mut names);
        let mut values: HashMap<vcd::IdCode, String> = HashMap::new();
        for command in parser {
            match command.unwrap() {
                vcd::Command::Timestamp(t) if t > time => break,
                vcd::Command::ChangeScalar(id, value) => {
                    values.insert(id, value.to_string());
                }
                vcd::Command::ChangeVector(id, value) => {
                    values.insert(id, value.to_string());
                }
                vcd::Command::ChangeString(id, value) => {
                    values.insert(id, unescaped(&value));
                }
                _ => {}
            }
        }
        let mut signals = BTreeMap::new();
        for (id, vars) in names {
            let value = values.get(&id).map_or("", String::as_str);
            for (name, width) in vars {
                signals.insert(name, (width, format!("{value:0>0$}", width as usize)));
            }
        }
        Dump(signals)
    }

    /// The value of the signal, as binary digits.
    pub fn bits(&self, name: &str) -> &str {
        match self.0.get(name) {
            Some((_, bits)) => bits,
            None => panic!(
                "no {name} among {}",
                self.0
                    .keys()
                    .filter(|k| k.contains("_view"))
                    .cloned()
                    .collect::<Vec<_>>()
                    .join(" ")
            ),
        }
    }
}
