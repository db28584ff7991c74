//! The parts of an instruction word, field by field, each with its rule. With the bench, also why an instruction of a run did
//! what it did (`explain::cycle`).

#[cfg(feature = "rtl")]
pub mod cycle;

use crate::rules::{self, BitField, Rule, bit_fields};
use crate::unit::Unit;
use reconverge_bench::input::did_you_mean;
use reconverge_bench::text::hex;
use reconverge_program::layout::{self, Bits, Text};
use reconverge_program::words::{Code, Row, Words};

/// A word of an instruction and its fields.
#[derive(Clone, Debug)]
pub struct Part {
    /// The manual's name of the word.
    pub name: &'static str,
    /// The word.
    pub word: u64,
    /// Width of the word in bits: 32 or 64.
    pub width: u32,
    /// Its fields, the highest bits first.
    pub fields: Vec<BitField>,
}

impl Part {
    /// Returns a word of 32 bits with the fields of the table in `section`, if there is such a table.
    pub fn of(name: &'static str, word: u32, section: &str, dw: usize) -> Part {
        Part::new(name, word.into(), 32, bit_fields(section, dw))
    }

    /// Returns a word of `width` bits with these fields.
    pub fn new(name: &'static str, word: u64, width: u32, mut fields: Vec<BitField>) -> Part {
        fields.sort_by_key(|field| std::cmp::Reverse(field.bits.first().map(|bits| bits.0)));
        Part {
            name,
            word,
            width,
            fields,
        }
    }
}

/// An instruction taken apart.
#[derive(Clone, Debug)]
pub struct Anatomy<P> {
    /// A program that holds the instruction at address `pc`.
    pub program: P,
    /// The instruction's address in it.
    pub pc: u32,
    /// The name of the operation in the rules; `None` if the unit only passes the word through, or refuses it.
    pub operation: Option<String>,
    /// Its words.
    pub parts: Vec<Part>,
}

/// Returns the rule or section that `id` names: its id, the id without the name of `unit`, or a citation of it as in a report,
/// `docs/spec/spa5.md#spa5-4.4-d`.
///
/// # Errors
/// There is none; the message suggests similar ids, or names the sections, or says that the unit has no specification.
pub fn rule(unit: &str, id: &str) -> Result<&'static Rule, String> {
    let id = id.rsplit_once('#').map_or(id, |(_, id)| id);
    let found = rules::find(id).or_else(|| rules::find(&format!("{unit}-{id}")));
    found.ok_or_else(|| {
        let all = rules::of(unit);
        if all.is_empty() {
            return format!(
                "{unit} has no rules: its `SPECIFICATION` is empty, and is to be the text of docs/spec/{unit}.md"
            );
        }
        let hint = did_you_mean(id, rules::ids());
        // `r500-4`, not `r500-4.1` or `r500-E1`.
        let is_section = |id: &&str| {
            let number = id.strip_prefix(unit).and_then(|rest| rest.strip_prefix('-'));
            number.is_some_and(|number| number.chars().all(|c| c.is_ascii_digit()))
        };
        let sections = all.iter().map(|rule| rule.id.as_str()).filter(is_section);
        match (&*hint, &sections.collect::<Vec<_>>()[..]) {
            ("", [first, .., last]) => {
                format!("there is no such rule; the sections are {first} to {last}")
            }
            _ => format!("there is no such rule{hint}"),
        }
    })
}

/// Takes an instruction apart; each word is given as hexadecimal digits, with or without `0x`.
///
/// # Errors
/// A word is wrong: the word and the reason.
pub fn words<U: Unit>(words: &[String]) -> Result<Anatomy<U::Program>, (String, String)> {
    let mut numbers = Vec::new();
    for word in words {
        // FADD and DADD are digits too.
        if word.len() < 8 && word.chars().all(|c| c.is_ascii_alphabetic()) && hex(word).is_some() {
            let why = format!(
                "is not an operation of {}; as a word, write 0x{word}",
                U::NAME
            );
            return Err((word.clone(), why));
        }
        numbers.push(hex(word).ok_or_else(|| {
            // A section stands before its rules, with a shorter id.
            let example = rules::of(U::NAME)
                .iter()
                .find(|rule| rule.id.matches('-').count() > 1);
            let rule = example.map_or_else(String::new, |rule| {
                format!(", nor the id of a rule ({})", rule.id)
            });
            let why = format!(
                "is neither a word in hexadecimal{rule}, nor an operation, which stands alone{}",
                did_you_mean(word, rules::ids())
            );
            (word.clone(), why)
        })?);
    }
    U::anatomy(&numbers).map_err(|why| (words.join(" "), why))
}

/// Converts `words` to words of 32 bits.
///
/// # Errors
/// A word has more than 32 bits; the message names the first one.
#[cfg(feature = "units")]
pub(crate) fn halves(words: &[u64]) -> Result<Vec<u32>, String> {
    let narrow =
        |word: &u64| u32::try_from(*word).map_err(|_| format!("{word:#x} has more than 32 bits"));
    words.iter().map(narrow).collect()
}

/// Takes the instruction of a program of [`Words`] apart: opcode and operands.
///
/// # Errors
/// There is not exactly one word, or it has too many bits.
pub fn word<C: Code>(words: &[u64]) -> Result<Anatomy<Words<C>>, String> {
    let bits = C::BITS;
    let &[given] = words else {
        let count = words.len();
        return Err(format!(
            "an instruction is one word of {bits} bits; given: {count}"
        ));
    };
    let word = u32::try_from(given)
        .ok()
        .filter(|word| word >> (bits - 1) < 2);
    let word = word.ok_or_else(|| format!("{given:#x} has more than {bits} bits"))?;
    let row = Words::<C>::row(word);
    let numbered = |(value, name): (u64, &str)| format!("{value} {name}");
    let opcode = |row: &Row| (layout::get(&[C::OPCODE], &[row.word.into()]), row.name);
    let opcodes: Vec<_> = C::TABLE.iter().map(opcode).map(numbered).collect();
    let mut fields = vec![of_bits("opcode", &[C::OPCODE], &opcodes.join(", "))];
    for field in row.map_or(&[][..], |row| row.fields) {
        let values = match field.text {
            Text::Named(_, names) => (0..).zip(names.iter().copied()).map(numbered).collect(),
            Text::Target(_) => vec!["address".to_owned()],
            _ => Vec::new(),
        };
        fields.push(of_bits(field.name, field.bits, &values.join(", ")));
    }
    if row.is_some_and(|row| row.leads) {
        fields.push(of_bits("target", &[C::TARGET], "address"));
    }
    let known = fields.iter().flat_map(|field| &field.bits);
    let known = known.fold(0, |all, (high, low)| all | ((2 << high) - (1 << low)));
    let ignored: u64 = ((2 << (bits - 1)) - 1) & !known;
    let mut from = 0;
    while let Some(low) = (from..bits).find(|bit| ignored >> bit & 1 == 1) {
        from = (low..bits)
            .find(|bit| ignored >> bit & 1 == 0)
            .unwrap_or(bits);
        fields.push(field("", (from - 1, low), "ignored", ""));
    }
    Ok(Anatomy {
        program: Words::<C>::new("word", vec![word]),
        pc: 0,
        operation: row.map(|row| row.name.to_owned()),
        parts: vec![Part::new("word", word.into(), C::BITS, fields)],
    })
}

/// Returns the field `name` with these bits of the only word.
fn of_bits(name: &str, bits: &[Bits], meaning: &str) -> BitField {
    BitField {
        bits: bits.iter().map(|bits| (bits.high, bits.low)).collect(),
        ..field(name, (0, 0), meaning, "")
    }
}

/// Returns a field that the specification gives outside a table of bits.
pub(crate) fn field(name: &str, (high, low): (u32, u32), meaning: &str, rule: &str) -> BitField {
    BitField {
        name: name.to_owned(),
        bits: vec![(high, low)],
        meaning: meaning.to_owned(),
        rule: rule.to_owned(),
    }
}
