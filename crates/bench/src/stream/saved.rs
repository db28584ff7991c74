//! Saved streams: JSON with the driven pins of every cycle.

use std::collections::BTreeMap;

use bytemuck::{bytes_of, bytes_of_mut};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Stream;
use crate::check::TestCase;
use crate::design::Design;
use crate::field::Pin;
use crate::input::InputError;
use crate::json::{self, Hex, required};
use crate::place::Place;

/// The version of [`SavedStream`] that this crate writes and reads.
pub const STREAM_FORMAT: u32 = 2;

/// The pins of every cycle. In JSON each cycle is an object with the pins that do not have their default. A value is a
/// number, or the list of all values for a pin with several planes or elements.
pub struct Cycles<D: Design>(pub Vec<D::In>);

impl<D: Design> Clone for Cycles<D> {
    fn clone(&self) -> Self {
        Cycles(self.0.clone())
    }
}

/// The value of a pin in JSON.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Value {
    One(Hex),
    Many(Vec<Hex>),
}

impl Value {
    fn of(pin: &Pin, pins: &[u8]) -> Option<Self> {
        let words: Vec<u64> = (0..pin.words()).map(|i| pin.get(pins, i)).collect();
        match words[..] {
            _ if words.iter().all(|word| *word == pin.default) => None,
            [word] => Some(Value::One(Hex(word))),
            _ => Some(Value::Many(words.into_iter().map(Hex).collect())),
        }
    }

    /// Writes the value into `pins`.
    fn put(&self, pin: &Pin, pins: &mut [u8]) -> Result<(), String> {
        let words = match self {
            Value::One(word) => std::slice::from_ref(word),
            Value::Many(words) => words,
        };
        if words.len() != pin.words() {
            return Err(format!("{} values, not {}", words.len(), pin.words()));
        }
        for (i, Hex(word)) in words.iter().enumerate() {
            if *word > pin.most(64) {
                return Err(format!("0x{word:x} is more than 0x{:x}", pin.most(64)));
            }
            pin.set(pins, i, *word);
        }
        Ok(())
    }
}

impl<D: Design> Serialize for Cycles<D> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().map(|pins| {
            let values = D::DECLARATION.pins.iter().filter_map(|pin| {
                let value = Value::of(pin, bytes_of(pins))?;
                Some((pin.name, value))
            });
            values.collect::<BTreeMap<_, _>>()
        }))
    }
}

impl<'de, D: Design> Deserialize<'de> for Cycles<D> {
    fn deserialize<F: Deserializer<'de>>(from: F) -> Result<Self, F::Error> {
        /// One cycle; no pin may occur twice.
        #[derive(Deserialize)]
        struct Cycle(#[serde(deserialize_with = "json::map")] BTreeMap<String, Value>);
        let mut cycles = Vec::new();
        for (cycle, Cycle(values)) in Vec::<Cycle>::deserialize(from)?.into_iter().enumerate() {
            let mut pins = D::In::default();
            for (name, value) in values {
                let bad = |why: String| F::Error::custom(format!("cycle {cycle}: {name}: {why}"));
                let pin = D::DECLARATION.pins.iter().find(|pin| pin.name == name);
                let pin = pin.ok_or_else(|| bad(format!("{} has no such pin", D::NAME)))?;
                value.put(pin, bytes_of_mut(&mut pins)).map_err(bad)?;
            }
            cycles.push(pins);
        }
        Ok(Cycles(cycles))
    }
}

/// A saved stream.
#[derive(Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct SavedStream<D: Design> {
    /// Version of this format.
    pub reconverge_stream: u32,
    /// Name of the design.
    pub design: String,
    /// How the stream failed when it was saved.
    #[serde(deserialize_with = "required")]
    pub failure: Option<Place>,
    /// The stream.
    pub stream: Stream<D>,
}

/// Returns the design of a saved stream; `None` if `text` is not one.
pub fn design_of_stream(text: &str) -> Option<String> {
    /// The fields that identify the file; all others are ignored.
    #[derive(Deserialize)]
    struct Tag {
        #[serde(rename = "reconverge_stream")]
        _format: u64,
        design: String,
    }
    serde_json::from_str(text).ok().map(|kind: Tag| kind.design)
}

impl<D: Design> SavedStream<D> {
    /// Creates the saved form of `stream`, with the place where it failed, if it did.
    pub fn new(stream: Stream<D>, failure: Option<Place>) -> Self {
        SavedStream {
            reconverge_stream: STREAM_FORMAT,
            design: D::NAME.to_owned(),
            failure,
            stream,
        }
    }

    /// Reads a saved stream; `file` is its name in messages.
    ///
    /// # Errors
    /// The text is not JSON; the version or the design is another one; a field is unknown or missing; a value is out of
    /// range.
    pub fn parse(text: &str, file: &str) -> Result<Self, InputError> {
        /// The fields that identify the file; all others are ignored.
        #[derive(Deserialize)]
        struct Tag {
            reconverge_stream: Option<u64>,
            design: Option<String>,
        }
        let kind: Tag =
            serde_json::from_str(text).map_err(|e| InputError::json(file, "json", text, &e))?;
        let format = ("reconverge_stream", STREAM_FORMAT);
        let again = "run what failed again, which saves the stream anew";
        json::check_format(
            kind.reconverge_stream,
            format,
            "a saved stream",
            again,
            file,
        )?;
        match kind.design {
            Some(name) if name == D::NAME => {}
            name => {
                let name = name.unwrap_or_default();
                let why = format!("the stream is for {name:?}, not for {}", D::NAME);
                return Err(InputError::new(file, 0, "design", why));
            }
        }
        let saved: Self =
            serde_json::from_str(text).map_err(|e| InputError::json(file, "stream", text, &e))?;
        saved.stream.check_input(file)?;
        Ok(saved)
    }

    /// Returns the saved stream as text.
    pub fn to_text(&self) -> String {
        // The data is plain with string keys, so serialising cannot fail.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}
