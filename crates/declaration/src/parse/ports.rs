//! Ports of pins and fields, whole or in parts.

use std::collections::BTreeMap;

use super::names::{is_plain, no_identifier};
use crate::error::Error;
use crate::table::Table;
use crate::{MAX_NAME, MAX_PORT, Port, Shape};

/// Reads a list of ports: `NAME`, `NAME[HIGH:LOW]`, `NAME[BIT]`, `\\ESCAPED` or `\\ESCAPED [HIGH:LOW]`.
pub(super) fn ports(table: &Table, key: &'static str) -> Result<Option<Vec<Port>>, Error> {
    let Some(texts) = table.strings(key)? else {
        return Ok(None);
    };
    let read = |text: String| {
        let (name, select) = match text.strip_prefix('\\') {
            Some(escaped) => escaped.split_once(' ').unwrap_or((escaped, "")),
            None => text.split_at(text.find('[').unwrap_or(text.len())),
        };
        let escaped = text.starts_with('\\');
        let printable =
            name.chars().all(|c| c.is_ascii_graphic()) && (1..=MAX_NAME).contains(&name.len());
        if !(if escaped { printable } else { is_plain(name) }) {
            return Err(no_identifier(table, key, name));
        }
        let bits = match select {
            "" => None,
            _ => {
                let bits = selected(select).filter(|(high, low)| high >= low && *high < MAX_PORT);
                let limit = format!("[high:low] or [bit], below {MAX_PORT}");
                let why = || {
                    table.error(
                        key,
                        format!("{text:?}: the bits of a part of a port are {limit}"),
                    )
                };
                Some(bits.ok_or_else(why)?)
            }
        };
        Ok(Port {
            name: name.to_owned(),
            bits,
        })
    };
    texts
        .into_iter()
        .map(read)
        .collect::<Result<_, _>>()
        .map(Some)
}

/// Reads `[HIGH:LOW]` or `[BIT]`.
fn selected(text: &str) -> Option<(u32, u32)> {
    let text = text.strip_prefix('[')?.strip_suffix(']')?;
    let (high, low) = text.split_once(':').unwrap_or((text, text));
    Some((high.parse().ok()?, low.parse().ok()?))
}

/// The ports that pins or fields have, each with its bits.
#[derive(Default)]
pub(super) struct Taken {
    all: BTreeMap<String, Vec<Option<(u32, u32)>>>,
}

impl Taken {
    /// Adds `port`; `false` if it has bits that were there before.
    pub fn take(&mut self, port: &Port) -> bool {
        let there = self.all.entry(port.name.clone()).or_default();
        let apart = |bits: &Option<(u32, u32)>| match (bits, port.bits) {
            (Some((high, low)), Some((other_high, other_low))) => {
                other_low > *high || *low > other_high
            }
            _ => false,
        };
        let free = there.iter().all(apart);
        there.push(port.bits);
        free
    }

    /// Returns bits that are missing below others of the same port.
    pub fn left(&self) -> Option<Port> {
        self.all.iter().find_map(|(name, parts)| {
            let mut parts: Vec<(u32, u32)> = parts.iter().copied().flatten().collect();
            parts.sort_by_key(|(_, low)| *low);
            let mut next = 0;
            for (high, low) in parts {
                if low != next {
                    let bits = Some((low - 1, next));
                    return Some(Port {
                        name: name.clone(),
                        bits,
                    });
                }
                next = high + 1;
            }
            None
        })
    }
}

/// Checks that each part of a port has the bits of `shape`, or of its element.
pub(super) fn check_bits(
    table: &Table,
    key: &'static str,
    ports: &[Port],
    shape: Shape,
) -> Result<(), Error> {
    for port in ports {
        let Some((high, low)) = port.bits else {
            continue;
        };
        let Shape::Words {
            width,
            count: Some(count),
        } = shape
        else {
            return Err(table.error(
                key,
                format!("{port}: a pin or field with lanes needs whole ports"),
            ));
        };
        let declared = width as usize * if ports.len() == 1 { count } else { 1 };
        let bits = (high - low + 1) as usize;
        if bits != declared {
            return Err(table.error(
                key,
                format!("{port} has {bits} bits, {declared} are declared"),
            ));
        }
    }
    Ok(())
}
