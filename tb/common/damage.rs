//! Damaged files, as editors, disks, other programs and attackers produce them.

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde_json::{Map, Value, json};

/// The kind of a format, which decides after which damage a file can still be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatKind {
    /// Lines of words and numbers.
    Text,
    /// One JSON value.
    Json,
    /// JSON values on lines that end with their check sum.
    Sealed,
    /// Headers with offsets, sizes and numbers of things.
    Binary,
}

/// Numbers at and around the limits of types, formats and sizes.
const NUMBERS: [i128; 28] = [
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    15,
    16,
    31,
    32,
    33,
    63,
    64,
    65,
    127,
    128,
    255,
    256,
    511,
    512,
    65_535,
    65_536,
    0x7fff_ffff,
    0xffff_ffff,
    0x1_0000_0000,
    1 << 53,
    u64::MAX as i128,
];

/// Strings that no format contains, or every format.
const ODD: [&str; 24] = [
    "\0",
    "\u{1b}[2J",
    "\u{7f}",
    "\u{9b}",
    "\u{202e}",
    "\u{feff}",
    "\u{e9}",
    "\u{1f600}",
    "\r",
    "\r\n",
    "\n",
    "\t",
    " ",
    "\"",
    "\\",
    "//",
    "/*",
    "*/",
    ";",
    "0x",
    "-",
    "[[[[[[[[",
    "{",
    "99999999999999999999999999",
];

fn number(rng: &mut impl Rng) -> i128 {
    let n = NUMBERS[rng.random_range(0..NUMBERS.len())];
    match rng.random_range(0..6) {
        0 => -n,
        1 => n - 1,
        2 => n + 1,
        3 => rng.random::<u64>().into(),
        _ => n,
    }
}

fn numeral(rng: &mut impl Rng) -> String {
    let n = number(rng);
    match rng.random_range(0..3) {
        0 => format!("0x{n:x}"),
        _ => n.to_string(),
    }
}

/// Makes damaged files from good ones.
pub struct Damager {
    kind: FormatKind,
    seeds: Vec<Vec<u8>>,
    /// The same as JSON, line by line if they are sealed.
    values: Vec<Vec<Value>>,
    /// The good files.
    words: Vec<String>,
    rng: Pcg64Mcg,
}

/// A line with its check sum, as results have it.
pub fn seal(value: &Value) -> String {
    let mut value = value.clone();
    if let Value::Object(fields) = &mut value {
        fields.remove("crc32");
    }
    let text = value.to_string();
    let body = text.strip_suffix('}').unwrap_or(&text);
    format!(
        "{body},\"crc32\":\"{:08x}\"}}\n",
        crc32fast::hash(body.as_bytes())
    )
}

impl Damager {
    /// Of the good files `seeds`.
    pub fn new(kind: FormatKind, seeds: Vec<Vec<u8>>, seed: u64) -> Self {
        assert!(!seeds.is_empty());
        let texts: Vec<String> = seeds
            .iter()
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
            .collect();
        let values = match kind {
            FormatKind::Json => texts
                .iter()
                .map(|t| vec![serde_json::from_str(t).unwrap()])
                .collect(),
            FormatKind::Sealed => texts
                .iter()
                .map(|t| {
                    t.lines()
                        .map(|l| serde_json::from_str(l).unwrap())
                        .collect()
                })
                .collect(),
            FormatKind::Text | FormatKind::Binary => Vec::new(),
        };
        let mut words: Vec<String> = texts
            .iter()
            .flat_map(|text| text.split(|c: char| c.is_whitespace() || "(),:[]{}\"".contains(c)))
            .filter(|word| (1..40).contains(&word.len()))
            .take(20_000)
            .map(str::to_owned)
            .collect();
        words.sort();
        words.dedup();
        let rng = Pcg64Mcg::seed_from_u64(seed);
        Damager {
            kind,
            seeds,
            values,
            words,
            rng,
        }
    }

    /// The next file.
    pub fn next(&mut self) -> Vec<u8> {
        let structured = !self.values.is_empty() && self.rng.random_ratio(3, 4);
        let mut bytes = if structured {
            self.json().into_bytes()
        } else {
            self.seeds.choose(&mut self.rng).unwrap().clone()
        };
        if !structured || self.rng.random_ratio(1, 8) {
            for _ in 0..self.rng.random_range(1..=4) {
                if self.kind == FormatKind::Binary && self.rng.random() {
                    self.field(&mut bytes);
                } else {
                    self.bytes(&mut bytes);
                }
            }
        }
        // Corrects the check sums of all lines.
        if self.kind == FormatKind::Sealed && !structured && self.rng.random() {
            bytes = reseal(&bytes);
        }
        bytes
    }

    /// One change of bytes.
    fn bytes(&mut self, bytes: &mut Vec<u8>) {
        let rng = &mut self.rng;
        let len = bytes.len();
        let at = rng.random_range(0..=len);
        let span = at..(at + rng.random_range(0..40)).min(len);
        match rng.random_range(0..13) {
            0 if at < len => bytes[at] ^= 1 << rng.random_range(0..8),
            1 if at < len => bytes[at] = rng.random(),
            2 => drop(bytes.drain(span)),
            3 => {
                let part = bytes[span].to_vec();
                let to = rng.random_range(0..=len);
                bytes.splice(to..to, part);
            }
            4 if rng.random_range(0..4) == 0 => bytes.truncate(at),
            5 => {
                // The rest of the file is replaced by that of another one.
                let other = self.seeds.choose(rng).unwrap();
                let from = rng.random_range(0..=other.len());
                bytes.truncate(at);
                bytes.extend(&other[from..]);
            }
            6 => {
                let word = ODD.choose(rng).unwrap();
                bytes.splice(at..at, word.bytes());
            }
            7 | 8 => {
                // Replaces a number.
                let digit = |b: &u8| b.is_ascii_digit();
                if let Some(start) = bytes[at..].iter().position(digit).map(|n| at + n) {
                    let end = bytes[start..]
                        .iter()
                        .position(|b| !digit(b))
                        .map_or(len, |n| start + n);
                    bytes.splice(start..end, numeral(rng).bytes());
                }
            }
            9 => {
                let (mut lines, a, b) = lines(bytes, rng);
                lines.swap(a, b);
                *bytes = lines.concat();
            }
            10 => {
                let (mut lines, a, b) = lines(bytes, rng);
                let times = [1, 1, 2, 5, 40][rng.random_range(0..5)];
                lines.splice(b..b, std::iter::repeat_n(lines[a].clone(), times));
                *bytes = lines.concat();
            }
            11 => {
                let (mut lines, a, _) = lines(bytes, rng);
                lines.remove(a);
                *bytes = lines.concat();
            }
            _ => {
                if let Some(word) = self.words.choose(rng) {
                    let end = [at, (at + word.len()).min(len)][rng.random_range(0..2)];
                    bytes.splice(at..end, word.bytes());
                }
            }
        }
    }

    /// Overwrites one number of a header, of a table, or anywhere else.
    fn field(&mut self, bytes: &mut [u8]) {
        let rng = &mut self.rng;
        let len = bytes.len();
        // The headers: at the front, and behind the sections.
        let at = match rng.random_range(0..4) {
            0 => rng.random_range(0..64),
            1 => rng.random_range(0..=len),
            _ => len.saturating_sub(rng.random_range(0..800)),
        };
        let size = [1, 2, 4, 4, 8][rng.random_range(0..5)];
        let at = at / size * size;
        let value = match rng.random_range(0..3) {
            0 => len as i128 + rng.random_range(-4..=4),
            _ => number(rng),
        };
        if let Some(place) = bytes.get_mut(at..at + size) {
            place.copy_from_slice(&value.to_le_bytes()[..size]);
        }
    }

    /// Makes one to three changes to the JSON of a seed.
    fn json(&mut self) -> String {
        let rng = &mut self.rng;
        let mut lines = self.values.choose(rng).unwrap().clone();
        for _ in 0..[1, 1, 1, 2, 3][rng.random_range(0..5)] {
            let line = rng.random_range(0..lines.len());
            change(&mut lines[line], rng, &self.words);
        }
        let write = |value: &Value| match self.kind {
            FormatKind::Sealed => seal(value),
            _ => value.to_string(),
        };
        let mut text: String = lines.iter().map(write).collect();
        if self.kind == FormatKind::Json && rng.random_ratio(1, 10) {
            twice(&mut text, rng);
        }
        text
    }
}

fn lines(bytes: &[u8], rng: &mut impl Rng) -> (Vec<Vec<u8>>, usize, usize) {
    let mut lines: Vec<Vec<u8>> = bytes
        .split_inclusive(|b| *b == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    if lines.is_empty() {
        lines.push(Vec::new());
    }
    let (a, b) = (
        rng.random_range(0..lines.len()),
        rng.random_range(0..lines.len()),
    );
    (lines, a, b)
}

fn reseal(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let line = |line: &str| match line.rsplit_once(",\"crc32\":\"") {
        Some((body, _)) => format!(
            "{body},\"crc32\":\"{:08x}\"}}\n",
            crc32fast::hash(body.as_bytes())
        ),
        None => line.to_owned() + "\n",
    };
    text.lines().map(line).collect::<String>().into_bytes()
}

/// Writes the field that begins at some comma a second time.
fn twice(text: &mut String, rng: &mut impl Rng) {
    let at = rng.random_range(0..=text.len());
    let Some(start) = text.get(at..).and_then(|t| t.find(",\"")).map(|n| at + n) else {
        return;
    };
    let end = text[start + 1..]
        .find([',', '}'])
        .map_or(text.len(), |n| start + 1 + n);
    let field = text[start..end].to_owned();
    text.insert_str(end, &field);
}

/// Values in `value` that hold no others.
fn leaves(value: &Value) -> usize {
    match value {
        Value::Object(fields) => fields.values().map(leaves).sum::<usize>().max(1),
        Value::Array(list) => list.iter().map(leaves).sum::<usize>().max(1),
        _ => 1,
    }
}

/// Draws one of `among`: with equal chances, or by size, so that neither a lone field nor a long list is left out.
fn one_of<'a>(among: Vec<&'a mut Value>, rng: &mut impl Rng) -> Option<&'a mut Value> {
    let alike = rng.random();
    let weights: Vec<usize> = match alike {
        true => vec![1; among.len()],
        false => among.iter().map(|value| leaves(value)).collect(),
    };
    let mut left = rng.random_range(0..weights.iter().sum::<usize>().max(1));
    among.into_iter().zip(weights).find_map(|(value, weight)| {
        let here = left < weight;
        left = left.saturating_sub(weight);
        here.then_some(value)
    })
}

/// One change somewhere in `value`.
fn change(value: &mut Value, rng: &mut impl Rng, words: &[String]) {
    // Down to some depth, at random.
    if rng.random_ratio(9, 10) && leaves(value) > 1 {
        let inner = match value {
            Value::Object(fields) => one_of(fields.values_mut().collect(), rng),
            Value::Array(list) => one_of(list.iter_mut().collect(), rng),
            _ => None,
        };
        if let Some(inner) = inner {
            return change(inner, rng, words);
        }
    }
    match value {
        Value::Object(fields) if rng.random() => {
            let names: Vec<String> = fields.keys().cloned().collect();
            match (names.choose(rng), rng.random_range(0..3)) {
                (Some(name), 0) => drop(fields.remove(name)),
                (Some(name), 1) => {
                    let moved = fields.remove(name).unwrap();
                    let to = words.choose(rng).map_or("x", String::as_str);
                    fields.insert(to.to_owned(), moved);
                }
                _ => drop(fields.insert("unheard_of".to_owned(), json!(0))),
            }
        }
        Value::Array(list) if rng.random() => match (list.len(), rng.random_range(0..5)) {
            (0, _) => list.push(json!(0)),
            (len, 0) => drop(list.remove(rng.random_range(0..len))),
            (_, 1) => list.clear(),
            (len, 2) => {
                let one = list[rng.random_range(0..len)].clone();
                // Long lists of short values.
                let most = 20_000 / one.to_string().len();
                let times = [1, 2, 70, 1100][rng.random_range(0..4)].min(most.max(1));
                list.extend(std::iter::repeat_n(one, times));
            }
            (len, 3) => list.swap(0, rng.random_range(0..len)),
            (len, _) => list.truncate(rng.random_range(0..len)),
        },
        Value::Number(n) if rng.random() => {
            // A value close to the old one is mostly still valid.
            let n = n.as_u64().unwrap_or(0);
            *value =
                json!([n.wrapping_add(1), n.saturating_sub(1), 0, n / 2][rng.random_range(0..4)]);
        }
        Value::Number(_) if rng.random_ratio(7, 8) => *value = numeric(rng),
        Value::String(text) if rng.random_ratio(7, 8) => {
            let hex = text.starts_with("0x") && rng.random();
            *text = match rng.random_range(0..4) {
                _ if hex => format!("0x{:x}", number(rng)),
                0 => numeral(rng),
                1 => ODD
                    .choose(rng)
                    .unwrap()
                    .repeat([1, 1, 3, 300][rng.random_range(0..4)]),
                2 => format!("{text}{}", ODD.choose(rng).unwrap()),
                _ => words.choose(rng).cloned().unwrap_or_default(),
            };
        }
        Value::Bool(is) if rng.random() => *is = !*is,
        _ => {
            *value = match rng.random_range(0..7) {
                0 => Value::Null,
                1 => json!(rng.random::<bool>()),
                2 => numeric(rng),
                3 => Value::String(words.choose(rng).cloned().unwrap_or_default()),
                4 => Value::Array(Vec::new()),
                5 => Value::Object(Map::new()),
                // Deep, but within the limit of a reader of JSON.
                _ => (0..100).fold(json!(0), |inner, _| Value::Array(vec![inner])),
            };
        }
    }
}

fn numeric(rng: &mut impl Rng) -> Value {
    let n = number(rng);
    match (u64::try_from(n), i64::try_from(n)) {
        _ if rng.random_ratio(1, 12) => json!(n as f64 / 3.0),
        (Ok(n), _) => json!(n),
        (_, Ok(n)) => json!(n),
        _ => json!(n as f64),
    }
}
