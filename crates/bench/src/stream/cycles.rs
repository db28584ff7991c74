//! The pins of a stream in JSON: the driven ones of every cycle.

use std::collections::BTreeMap;

use bytemuck::{bytes_of, bytes_of_mut};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::design::Design;
use crate::field::Pin;
use crate::json::{self, Hex};

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
                let pin = pin.ok_or_else(|| {
                    let pins = D::DECLARATION.pins.iter().map(|pin| pin.name);
                    let pins: Vec<&str> = pins.collect();
                    bad(format!(
                        "{} has no such pin; there are {}",
                        D::NAME,
                        pins.join(", ")
                    ))
                })?;
                value.put(pin, bytes_of_mut(&mut pins)).map_err(bad)?;
            }
            cycles.push(pins);
        }
        Ok(Cycles(cycles))
    }
}
