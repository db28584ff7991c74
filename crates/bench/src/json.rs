//! How numbers and tables are written in all JSON files of the project.
//!
//! JavaScript, and much other software that reads JSON, handles integers only up to 2^53 - 1. A number that may be greater
//! (masks, 64-bit words and seeds) is a string, `"0x1f"`: `hex`, `hexes`, [`Hex`]. A count is a number, and a greater one
//! is refused: `count`. No key of a format may be missing (`required`) or occur twice (`map`).

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::marker::PhantomData;
use std::path::PathBuf;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::input::InputError;

/// The greatest integer that all JSON readers represent exactly: 2^53 - 1.
pub const MAX: u64 = (1 << 53) - 1;

/// A 64-bit number written in JSON as a string of hexadecimal digits, `"0x1f"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hex(pub u64);

impl Display for Hex {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl From<Hex> for Value {
    fn from(number: Hex) -> Value {
        Value::String(number.to_string())
    }
}

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Digits;
        impl Visitor<'_> for Digits {
            type Value = Hex;
            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("a string of 1 to 16 hexadecimal digits, as \"0x1f\"")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Hex, E> {
                // from_str_radix would accept a sign.
                let digits = text
                    .strip_prefix("0x")
                    .filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
                let number = digits.and_then(|d| u64::from_str_radix(d, 16).ok());
                let number = number.filter(|_| text.len() <= 18);
                let wrong = || E::invalid_value(serde::de::Unexpected::Str(text), &self);
                number.map(Hex).ok_or_else(wrong)
            }
        }
        from.deserialize_str(Digits)
    }
}

/// Returns an object on one line, with its keys in this order.
pub fn line(fields: &[(&str, Value)]) -> String {
    let pair = |(name, value): &(&str, Value)| format!("{}:{value}", Value::from(*name));
    let pairs: Vec<String> = fields.iter().map(pair).collect();
    format!("{{{}}}", pairs.join(","))
}

/// Serialises a `u64` as [`Hex`].
pub mod hex {
    use super::*;

    /// Writes the number.
    pub fn serialize<S: Serializer>(number: &u64, to: S) -> Result<S::Ok, S::Error> {
        Hex(*number).serialize(to)
    }

    /// Reads the number.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        Ok(Hex::deserialize(from)?.0)
    }
}

/// Serialises a list of `u64`, each as [`Hex`].
pub mod hexes {
    use super::*;

    /// Writes the list.
    pub fn serialize<S: Serializer>(numbers: &[u64], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(numbers.iter().map(|n| Hex(*n)))
    }

    /// Reads the list.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u64>, D::Error> {
        let numbers = Vec::<Hex>::deserialize(from)?;
        Ok(numbers.into_iter().map(|n| n.0).collect())
    }
}

/// Serialises a `u64` that counts, as a number of at most [`MAX`].
pub mod count {
    use super::*;

    /// Writes the count.
    pub fn serialize<S: Serializer>(number: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(*number)
    }

    /// Reads the count.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        match u64::deserialize(from)? {
            number @ ..=MAX => Ok(number),
            number => Err(D::Error::custom(format_args!(
                "{number} is more than {MAX}"
            ))),
        }
    }
}

/// Serialises a limit like [`count`], with [`u64::MAX`] as `null`.
pub mod limit {
    use super::*;

    /// Writes the limit.
    pub fn serialize<S: Serializer>(number: &u64, to: S) -> Result<S::Ok, S::Error> {
        match *number {
            u64::MAX => to.serialize_none(),
            number => to.serialize_some(&number),
        }
    }

    /// Reads the limit.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        #[derive(Deserialize)]
        struct Count(#[serde(with = "count")] u64);
        Ok(Option::<Count>::deserialize(from)?.map_or(u64::MAX, |n| n.0))
    }
}

/// Reads a key that must be present, even if its value is `null`. Without this, serde reads a missing [`Option`] as `None`.
///
/// # Errors
/// The value has another type.
pub fn required<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    T::deserialize(from)
}

/// Checks the format version `found` in `field` of a file that should be `what`; `again` tells the user how to make such a
/// file again.
///
/// # Errors
/// There is no version, or it is not `format`.
pub fn check_format(
    found: Option<u64>,
    (field, format): (&str, u32),
    what: &str,
    again: &str,
    file: &str,
) -> Result<(), InputError> {
    let bad = |why: String| Err(InputError::new(file, 0, field, why));
    match found {
        Some(found) if found == u64::from(format) => Ok(()),
        Some(found) if found < u64::from(format) => bad(format!(
            "format {found} is of an earlier version, this one reads {format}; {again}"
        )),
        Some(found) => bad(format!(
            "format {found} is of a later version, this one reads {format}"
        )),
        None => bad(format!("missing: not {what}")),
    }
}

/// Writes a path as text, so that what holds it can always be saved.
///
/// # Errors
/// The text cannot be written.
pub fn path<S: Serializer>(path: &Option<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
    let text = path.as_ref().map(|path| path.to_string_lossy());
    text.serialize(to)
}

/// Reads an object and refuses duplicate keys. serde itself would keep the last.
///
/// # Errors
/// The value has another type, or a key occurs twice.
pub fn map<'de, K, V, D>(from: D) -> Result<BTreeMap<K, V>, D::Error>
where
    K: Deserialize<'de> + Ord + fmt::Debug,
    V: Deserialize<'de>,
    D: Deserializer<'de>,
{
    struct Entries<K, V>(PhantomData<(K, V)>);
    impl<'de, K, V> Visitor<'de> for Entries<K, V>
    where
        K: Deserialize<'de> + Ord + fmt::Debug,
        V: Deserialize<'de>,
    {
        type Value = BTreeMap<K, V>;
        fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
            let mut map = BTreeMap::new();
            while let Some((key, value)) = from.next_entry::<K, V>()? {
                if map.contains_key(&key) {
                    return Err(A::Error::custom(format_args!("{key:?} is given twice")));
                }
                map.insert(key, value);
            }
            Ok(map)
        }
    }
    from.deserialize_map(Entries(PhantomData))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct All {
        #[serde(with = "hex")]
        mask: u64,
        #[serde(with = "hexes")]
        words: Vec<u64>,
        #[serde(with = "count")]
        cycles: u64,
        #[serde(with = "limit")]
        most: u64,
        #[serde(deserialize_with = "required")]
        perhaps: Option<u8>,
        #[serde(deserialize_with = "map")]
        named: BTreeMap<u32, u8>,
    }

    const TEXT: &str = r#"{"mask":"0xffffffffffffffff","words":["0x0","0x1f"],"cycles":9007199254740991,"most":7,"perhaps":null,"named":{"1":2}}"#;

    #[test]
    fn numbers_of_64_bits_are_strings_and_come_back() {
        let all = All {
            mask: u64::MAX,
            words: vec![0, 31],
            cycles: MAX,
            most: 7,
            perhaps: None,
            named: BTreeMap::from([(1, 2)]),
        };
        assert_eq!(serde_json::to_string(&all).unwrap(), TEXT);
        assert_eq!(serde_json::from_str::<All>(TEXT).unwrap(), all);
        let endless = TEXT.replace("\"most\":7", "\"most\":null");
        let read: All = serde_json::from_str(&endless).unwrap();
        assert_eq!(read.most, u64::MAX);
        assert_eq!(serde_json::to_string(&read).unwrap(), endless);
    }

    #[test]
    fn what_is_missing_twice_or_of_another_form_is_refused() {
        let digits = "expected a string of 1 to 16 hexadecimal digits, as \"0x1f\"";
        for (from, to, why) in [
            ("\"0xffffffffffffffff\"", "5", digits),
            ("0xffffffffffffffff", "0x10000000000000000", digits),
            ("0xffffffffffffffff", "0x00000000000000000", digits),
            ("0xffffffffffffffff", "0x", digits),
            ("0xffffffffffffffff", "0x+1", digits),
            ("0xffffffffffffffff", "12", digits),
            ("0xffffffffffffffff", "0X1", digits),
            ("\"0x1f\"", "31", digits),
            (
                "9007199254740991",
                "9007199254740992",
                "9007199254740992 is more than 9007199254740991",
            ),
            (
                ":7",
                ":9007199254740992",
                "9007199254740992 is more than 9007199254740991",
            ),
            (":7", ":-1", "invalid value: integer `-1`, expected u64"),
            ("\"perhaps\":null,", "", "missing field `perhaps`"),
            ("\"most\":7,", "", "missing field `most`"),
            ("{\"1\":2}", "{\"1\":2,\"1\":3}", "1 is given twice"),
            ("\"named\"", "\"x\":0,\"named\"", "unknown field `x`"),
            (
                "\"named\"",
                "\"most\":7,\"named\"",
                "duplicate field `most`",
            ),
        ] {
            let text = TEXT.replacen(from, to, 1);
            assert_ne!(text, TEXT);
            let error = serde_json::from_str::<All>(&text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
        assert!(
            serde_json::from_str::<All>(&TEXT.replace("0xffffffffffffffff", "0xABCdef")).is_ok()
        );
    }
}
