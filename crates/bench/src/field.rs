//! The declaration of a design, with the contents of its `design.toml`: pins, fields of the state, tables of names. The
//! comparison, the report, random pins and the GTKWave view use it. The lists are generated (`crates/declaration`).

use std::fmt;

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::bins::{Condition, Cover};
use crate::hidden::Compared;
use crate::json::{count, hex};
use crate::quantity::counted;

/// Layout of a field in the state struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `n` consecutive bit planes of 64 bits; element i is lane i, bit b of it is bit i of plane b.
    Planes(usize),
    /// `count` little-endian integers of `bytes` bytes each; elements are frames, entries, or one value.
    Words {
        /// Bytes of one element, 1..=8.
        bytes: usize,
        /// How many elements.
        count: usize,
    },
}

impl Shape {
    /// Returns how many words it has: planes, or elements.
    pub(crate) fn words(self) -> usize {
        match self {
            Shape::Planes(n) => n,
            Shape::Words { count, .. } => count,
        }
    }

    /// Returns the bytes of one word.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Shape::Planes(_) => 8,
            Shape::Words { bytes, .. } => bytes,
        }
    }
}

/// One architectural field.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Name, as in the spec and in the dump.
    pub name: &'static str,
    /// Byte offset in the state struct.
    pub offset: usize,
    /// Layout.
    pub shape: Shape,
    /// Significant bits of one element.
    pub width: u32,
    /// Prints one element; both sides use the same printer.
    pub show: fn(u64) -> String,
    /// Signal of the bench top's view that shows the field; several fields of a lane may share one.
    pub signal: &'static str,
    /// Bits of one element of that signal.
    pub signal_width: u32,
    /// Table that names the values of that signal.
    pub filter: Option<&'static str>,
    /// It is a number with a sign.
    pub signed: bool,
    /// A mismatch report shows the field even if both sides agree on it.
    pub context: bool,
    /// The one of several clocks with whose rising edge alone the field changes.
    pub clock: Option<&'static str>,
    /// The field is not compared in the first cycle of a run: it, or a field that may hide it, is what an output was before the clock
    /// edge of that cycle, when no reset had set the registers on which it may depend.
    pub not_first: bool,
    /// It is taken before the clock edge, with the pins of the same cycle. So is every field of a design without a clock.
    pub sampled: bool,
    /// When the field is compared.
    pub compared: Compared,
    /// It is an output of the module; otherwise it is read inside.
    pub output: bool,
    /// Its elements are wavefronts.
    pub per_wavefront: bool,
}

/// Purpose of a pin, as far as the bench needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The reset pin.
    Reset {
        /// Its value while the reset is asserted.
        asserted: u64,
    },
    /// While it is 1, nothing changes.
    Stall,
    /// One of several clocks, 1 in the cycles in which it rises. The range of the pin is that of the period.
    Clock {
        /// Least and greatest phase; `None`: every one below the period.
        phase: Option<(u64, u64)>,
    },
    /// Any other pin.
    Plain,
}

/// One input.
#[derive(Clone, Copy, Debug)]
pub struct Pin {
    /// Name in the struct.
    pub name: &'static str,
    /// Byte offset in the struct of the pins.
    pub offset: usize,
    /// Layout.
    pub shape: Shape,
    /// Significant bits of one element.
    pub width: u32,
    /// Purpose.
    pub role: Role,
    /// The one of several clocks with whose rising edge alone the pin changes; of a clock itself.
    pub clock: Option<&'static str>,
    /// Value of each element when the pin is not driven.
    pub default: u64,
    /// Least and greatest value drawn at random.
    pub range: (u64, u64),
    /// The only values drawn at random, in ascending order; empty: all of the range.
    pub values: &'static [u64],
    /// How often a flag or a bit of a mask is drawn as 1, in percent.
    pub percent: u32,
    /// Its values are numbers with a sign.
    pub signed: bool,
    /// Prints a word by its name; `None`: its values have none.
    pub named: Option<fn(u64) -> String>,
}

/// A parameter of a unit's RTL other than `LANES`; RTL and golden model are built with the same value.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Name in the RTL.
    pub name: &'static str,
    /// Default value.
    pub default: u32,
    /// Least and greatest value.
    pub range: RangeInclusive<u32>,
    /// The only values, in ascending order; empty: all of the range.
    pub values: &'static [u32],
}

impl Parameter {
    /// Returns why the parameter cannot have `value`; `None` if it can.
    pub fn refuses(&self, value: u32) -> Option<String> {
        let (name, least, most) = (self.name, self.range.start(), self.range.end());
        match self.values {
            [] if self.range.contains(&value) => None,
            [] => Some(format!("{name} must be {least} to {most}, not {value}")),
            values if values.contains(&value) => None,
            values => {
                let values: Vec<String> = values.iter().map(u32::to_string).collect();
                let values = values.join(" or ");
                Some(format!("{name} must be {values}, not {value}"))
            }
        }
    }
}

/// A table of names for values in the waves.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Name of its file, without folder and extension.
    pub name: &'static str,
    /// Bits of a value.
    pub width: u32,
    /// Values and their names.
    pub values: &'static [(u64, &'static str)],
}

/// The declaration of a design.
#[derive(Debug)]
pub struct Declaration {
    /// The text of its `design.toml`.
    pub toml: &'static str,
    /// Name.
    pub name: &'static str,
    /// What it is, in a sentence that begins with a small letter.
    pub doc: &'static str,
    /// The folder of its `design.toml`, with the RTL, where the crate was compiled.
    pub folder: &'static str,
    /// A digest of the sources of its crate, which has the golden model; empty if the crate has one of its own
    /// ([`crate::home::Package::sources`]).
    pub sources: &'static str,
    /// Default number of lanes, if the design has any.
    pub lanes: Option<u32>,
    /// Number of wavefronts into which the lanes are divided.
    pub wavefronts: u32,
    /// Parameters other than the lanes.
    pub parameters: &'static [Parameter],
    /// Inputs, in the order of the struct of pins.
    pub pins: &'static [Pin],
    /// State, in the order of the bench top's mismatch bits.
    pub fields: &'static [Field],
    /// Tables of names.
    pub tables: &'static [Table],
    /// Handshakes.
    pub channels: &'static [Channel],
    /// Transfers on the channels are compared instead of states.
    pub transactions: bool,
    /// Inputs shown in the waves.
    pub inputs: &'static [Input],
    /// Values with which the RTL compares; numbers of more than 6 bits are drawn from them too.
    pub literals: &'static [u64],
    /// Groups of bins.
    pub covers: &'static [Cover],
    /// Names of the coverpoints, which the golden model gives ([`Golden::coverpoint`](crate::design::Golden::coverpoint)).
    pub coverpoints: &'static [&'static str],
}

/// Whether the design receives or sends on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Valid and payload are pins, ready is a field.
    In,
    /// Valid and payload are fields, ready is a pin.
    Out,
}

/// A signal of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// The pin with this number, from 0.
    Pin(usize),
    /// The field with this number, from 0.
    Field {
        /// The number.
        number: usize,
        /// Its value after a cycle is the one in the cycle; otherwise that in the next.
        now: bool,
    },
}

/// A handshake: a transfer takes place in each cycle in which valid and ready are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// Name.
    pub name: &'static str,
    /// Who sends.
    pub side: Side,
    /// 1 while a payload is offered.
    pub valid: Wire,
    /// 1 while one would be taken.
    pub ready: Wire,
    /// What is offered.
    pub payload: &'static [Wire],
    /// The number of the pin that is its clock, of several.
    pub clock: Option<usize>,
    /// Valid may fall, and the payload change, before ready.
    pub withdraw: bool,
    /// In a cycle whose pins meet this condition they may: it ends what is offered, as a reset does.
    pub unless: Condition,
    /// What cannot happen to it: bit n for event n of the declaration's list.
    pub never: u64,
    /// Most cycles in which valid is 0 while a transaction is owed; where the module receives, in which ready is 0 while nothing is owed.
    pub latency: Option<u32>,
}

impl Declaration {
    /// Returns what is compared in each cycle: `15 fields each`, or how many channels are.
    pub fn extent(&self) -> String {
        match (self.transactions, self.channels.len()) {
            (false, _) => counted(self.fields.len(), "field") + " each",
            (true, channels) => counted(channels, "channel"),
        }
    }
}

/// An input port that the waves show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// Signal below the bench top.
    pub signal: &'static str,
    /// Bits, or bits per lane.
    pub bits: u32,
    /// The port has `bits` for each lane.
    pub per_lane: bool,
}

impl Input {
    /// Returns the width in bits with `lanes` lanes.
    pub fn width(&self, lanes: usize) -> u32 {
        match self.per_lane {
            true => self.bits * lanes as u32,
            false => self.bits,
        }
    }
}

/// Printers of elements that several units use.
pub mod show {
    /// Returns the name at `place` of the value `v`; without one, the number and that it has no name.
    pub fn named(names: &[&str], place: u64, v: u64) -> String {
        let name = names.get(place as usize);
        name.map_or_else(|| format!("{v} (no name)"), |n| (*n).to_owned())
    }

    /// Returns the number and the name of `v`.
    pub fn code(names: &[&str], place: u64, v: u64) -> String {
        match names.get(place as usize) {
            Some(name) => format!("{v} {name}"),
            None => named(names, place, v),
        }
    }

    /// Returns the place of `v` in an enum with these `values`.
    pub fn place(values: &[u64], v: u64) -> u64 {
        let place = values.iter().position(|value| *value == v);
        place.unwrap_or(values.len()) as u64
    }
}

/// One element of a field in which RTL and golden model differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Diff {
    /// Index in the unit's field list.
    pub field: usize,
    /// Lane, frame or entry; 0 for a single value.
    pub element: usize,
    /// Value in the unit under test.
    #[serde(with = "hex")]
    pub rtl: u64,
    /// Value in the golden model.
    #[serde(with = "hex")]
    pub golden: u64,
}

/// Returns the little-endian integer of `bytes` bytes at `at`.
#[inline]
pub(crate) fn word(from: &[u8], at: usize, bytes: usize) -> u64 {
    // The usual sizes without a call of memcpy, whose length is not known before.
    match from[at..at + bytes] {
        [byte] => byte.into(),
        [a, b] => u16::from_le_bytes([a, b]).into(),
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]).into(),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        ref odd => odd.iter().rfold(0, |all, byte| all << 8 | u64::from(*byte)),
    }
}

impl Pin {
    /// Returns how many words the pin has: planes, or elements.
    pub fn words(&self) -> usize {
        self.shape.words()
    }

    /// Returns the greatest value of a word, for a design of `lanes` lanes.
    pub fn most(&self, lanes: u32) -> u64 {
        let bits = match self.shape {
            Shape::Planes(_) => lanes,
            Shape::Words { .. } => self.width,
        };
        u64::MAX >> (64 - bits.clamp(1, 64))
    }

    /// Returns a word as text: a name of its enum, a flag, a small number or one with a sign in decimal, others in hexadecimal.
    pub fn show(&self, value: u64) -> String {
        if let Some(named) = self.named {
            return named(value);
        }
        match self.shape {
            _ if self.signed => {
                let unused = 64 - self.width;
                ((value << unused) as i64 >> unused).to_string()
            }
            Shape::Words { .. } if self.width <= 3 => value.to_string(),
            _ => format!("0x{value:x}"),
        }
    }

    /// Returns the offset of word `i` and its number of bytes.
    fn place(&self, i: usize) -> (usize, usize) {
        let bytes = self.shape.bytes();
        (self.offset + bytes * i, bytes)
    }

    /// Returns word `i` of the pin, a plane or an element, from `pins`, the bytes of a struct of pins.
    pub fn get(&self, pins: &[u8], i: usize) -> u64 {
        let (at, bytes) = self.place(i);
        word(pins, at, bytes)
    }

    /// Sets word `i` of the pin in `pins`. Bits that do not fit its bytes are lost.
    pub fn set(&self, pins: &mut [u8], i: usize, value: u64) {
        let (at, bytes) = self.place(i);
        let (to, raw) = (&mut pins[at..at + bytes], value.to_le_bytes());
        match bytes {
            1 => to[0] = raw[0],
            2 => to.copy_from_slice(&raw[..2]),
            4 => to.copy_from_slice(&raw[..4]),
            8 => to.copy_from_slice(&raw),
            _ => to.copy_from_slice(&raw[..bytes]),
        }
    }

    /// Copies all words of the pin from one struct of pins to another, given as bytes.
    #[cfg(feature = "rtl")]
    pub(crate) fn copy(&self, from: &[u8], to: &mut [u8]) {
        let words = self.offset..self.offset + self.shape.bytes() * self.words();
        to[words.clone()].copy_from_slice(&from[words]);
    }

    /// Sets word `i` of the pin in successive structs of `size` bytes, one for each of `values`. Bits that do not fit its bytes are lost.
    #[cfg(feature = "rtl")]
    pub(crate) fn set_all(&self, structs: &mut [u8], size: usize, i: usize, values: &[u64]) {
        for (pins, value) in structs.chunks_exact_mut(size).zip(values) {
            self.set(pins, i, *value);
        }
    }
}

impl Field {
    /// Returns the bytes that the field takes in the state struct.
    pub fn size(&self) -> usize {
        self.shape.bytes() * self.shape.words()
    }

    /// Returns how many words the field has: planes, or elements.
    pub fn words(&self) -> usize {
        self.shape.words()
    }

    /// Returns word `i` of the field, a plane or an element, from `state`, the bytes of a state struct.
    ///
    /// # Panics
    /// `state` is shorter than the struct.
    pub fn word(&self, state: &[u8], i: usize) -> u64 {
        let bytes = self.shape.bytes();
        word(state, self.offset + bytes * i, bytes)
    }

    /// Returns how many elements the field has with `lanes` lanes.
    pub fn elements(&self, lanes: usize) -> usize {
        match self.shape {
            Shape::Planes(_) => lanes,
            Shape::Words { count, .. } => count,
        }
    }

    /// Returns whether the elements are lanes.
    pub fn per_lane(&self) -> bool {
        matches!(self.shape, Shape::Planes(_))
    }

    /// Returns element `i` of the field from `state`, the bytes of a state struct. In a field of planes, elements are lanes.
    ///
    /// # Panics
    /// `state` is shorter than the struct, or the field has no element `i` (planes have 64).
    pub fn get(&self, state: &[u8], i: usize) -> u64 {
        match self.shape {
            Shape::Planes(n) => (0..n).fold(0, |acc, b| {
                acc | (word(state, self.offset + 8 * b, 8) >> i & 1) << b
            }),
            Shape::Words { bytes, .. } => word(state, self.offset + bytes * i, bytes),
        }
    }

    /// Flips bit `bit` of element `i`, to show that the bench would detect a difference. [`Flip::check`] tells whether they exist:
    /// bits and elements that do not may be those of another field.
    ///
    /// # Panics
    /// They would lie behind the end of `state`.
    pub fn flip(&self, state: &mut [u8], i: usize, bit: usize) {
        match self.shape {
            Shape::Planes(_) => state[self.offset + 8 * bit + i / 8] ^= 1 << (i % 8),
            Shape::Words { bytes, .. } => {
                state[self.offset + bytes * i + bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}

/// One bit of the expected state to flip, to show that the bench would detect it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flip {
    /// Field name.
    pub field: String,
    /// Lane, frame or entry.
    pub element: usize,
    /// Bit of the element.
    pub bit: usize,
    /// Cycle, from 0: the state that the golden model has after this cycle is flipped.
    #[serde(with = "count")]
    pub cycle: u64,
}

/// Prints the flip as `--flip` takes it: `FIELD[ELEMENT].BIT@CYCLE`.
impl fmt::Display for Flip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Flip {
            field,
            element,
            bit,
            cycle,
        } = self;
        write!(f, "{field}[{element}].{bit}@{cycle}")
    }
}

impl Flip {
    /// Returns the field of the flip among `fields`.
    pub fn of<'f>(&self, fields: &'f [Field]) -> Option<&'f Field> {
        fields.iter().find(|field| field.name == self.field)
    }

    /// Checks that `fields`, of a design with `lanes` lanes, contain the bit.
    ///
    /// # Errors
    /// The bit does not exist; says why.
    pub fn check(&self, fields: &[Field], lanes: usize) -> Result<(), String> {
        let Some(field) = self.of(fields) else {
            let names: Vec<_> = fields.iter().map(|f| f.name).collect();
            return Err(format!(
                "no field {}; there are {}",
                self.field,
                names.join(" ")
            ));
        };
        let (name, elements, width) = (field.name, field.elements(lanes), field.width);
        if self.element >= elements {
            let element = self.element;
            return Err(format!(
                "{name} has {}: the element must be below {elements}, not {element}",
                counted(elements, "element")
            ));
        }
        if self.bit >= width as usize {
            return Err(format!(
                "{name} has {}: the bit must be below {width}, not {}",
                counted(width, "bit"),
                self.bit
            ));
        }
        Ok(())
    }
}

/// Bits of a plane: the maximum number of lanes.
pub const MAX_LANES: usize = 64;

/// Returns every element that differs between two states, in the order of the field list.
pub fn diff(fields: &[Field], rtl: &[u8], golden: &[u8]) -> Vec<Diff> {
    let mut diffs = Vec::new();
    for (index, field) in fields.iter().enumerate() {
        let span = field.offset..field.offset + field.size();
        if rtl[span.clone()] == golden[span] {
            continue;
        }
        // Planes may differ above the last lane too: RTL that drives those bits must be detected.
        for element in 0..field.elements(MAX_LANES) {
            let (r, g) = (field.get(rtl, element), field.get(golden, element));
            if r != g {
                diffs.push(Diff {
                    field: index,
                    element,
                    rtl: r,
                    golden: g,
                });
            }
        }
    }
    diffs
}

/// Returns one letter per lane with a space after every eighth, so that a lane is easy to find in a long row.
pub fn in_eights(letters: &str) -> String {
    let letters: Vec<char> = letters.chars().collect();
    let groups: Vec<String> = letters.chunks(8).map(String::from_iter).collect();
    groups.join(" ")
}

/// Returns a mask of `lanes` lanes as text, lane 0 on the left: 1 for a lane that is in it, otherwise 0. Classes of lanes
/// have letters, so the two cannot be confused.
pub fn mask_in_eights(lanes: usize, is_in: impl Fn(usize) -> bool) -> String {
    let digit = |lane| if is_in(lane) { '1' } else { '0' };
    in_eights(&(0..lanes).map(digit).collect::<String>())
}

/// Gathers bit `bit`, 0 to 7, of every byte of `lanes` into a plane; lane i becomes bit i. Processes eight lanes at a time: the
/// length of `lanes` must be a multiple of 8, at most 64. What is beyond, as far as it is not a multiple, is ignored.
// Golden models of other crates call this for every bit of every cycle: without `inline`, r500's takes twice as long.
#[inline]
pub fn plane(lanes: &[u8], bit: u32) -> u64 {
    let (chunks, rest) = lanes.as_chunks::<8>();
    debug_assert!(rest.is_empty() && chunks.len() <= 8);
    let mut out = 0;
    for (i, chunk) in chunks.iter().enumerate() {
        let ones = u64::from_le_bytes(*chunk) >> bit & 0x0101_0101_0101_0101;
        // The product moves byte j's bit to bit 56 + j; no two of its terms overlap there.
        out |= (ones.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i);
    }
    out
}

/// Returns the value of `lane` in `planes`: bit n is its bit in plane n.
#[inline]
pub fn across(planes: &[u64], lane: usize) -> u16 {
    let bits = planes.iter().map(|plane| (plane >> lane & 1) as u16);
    (0..).zip(bits).fold(0, |value, (n, bit)| value | bit << n)
}

/// Spreads a plane: element i of the result is bit i of `plane`, at least for the first `lanes` lanes.
// Inlined for the same reason as `plane`.
#[inline]
pub fn lanes_of(plane: u64, lanes: usize) -> [u8; 64] {
    let mut out = [0; 64];
    for (i, chunk) in out
        .as_chunks_mut::<8>()
        .0
        .iter_mut()
        .enumerate()
        .take(lanes.div_ceil(8))
    {
        let bits = plane >> (8 * i) & 0xff;
        // Byte j keeps bit j of the eight; adding 0x7f to a non-zero byte carries into its top bit.
        let spread = bits.wrapping_mul(0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
        *chunk = ((spread + 0x7f7f_7f7f_7f7f_7f7f) >> 7 & 0x0101_0101_0101_0101).to_le_bytes();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_and_lanes_are_each_other_s_inverse() {
        let lanes: [u8; 64] = std::array::from_fn(|i| (i as u8).wrapping_mul(37) ^ (i as u8) >> 2);
        for bit in 0..8 {
            let slow = (0..64).fold(0u64, |a, i| a | u64::from(lanes[i] >> bit & 1) << i);
            assert_eq!(plane(&lanes, bit), slow, "bit {bit}");
            for mask in [slow, !slow, 0, u64::MAX, 1, 1 << 63] {
                let spread = lanes_of(mask, 64);
                assert_eq!(
                    spread,
                    std::array::from_fn(|i| (mask >> i & 1) as u8),
                    "{mask:x}"
                );
                assert_eq!(plane(&spread, 0), mask);
                let one = (mask >> 40 & 1) as u16;
                assert_eq!(across(&[0, mask, u64::MAX], 40), one << 1 | 4);
            }
        }
    }

    #[test]
    fn a_flipped_bit_is_the_one_difference_found() {
        let fields = [
            Field {
                name: "p",
                offset: 0,
                shape: Shape::Planes(3),
                width: 3,
                show: |v| v.to_string(),
                signal: "s",
                signal_width: 1,
                filter: None,
                signed: false,
                context: false,
                clock: None,
                not_first: false,
                sampled: false,
                compared: Compared::Always,
                output: false,
                per_wavefront: false,
            },
            Field {
                name: "w",
                offset: 24,
                shape: Shape::Words { bytes: 3, count: 4 },
                width: 24,
                show: |v| v.to_string(),
                signal: "s",
                signal_width: 1,
                filter: None,
                signed: false,
                context: false,
                clock: None,
                not_first: false,
                sampled: false,
                compared: Compared::Always,
                output: false,
                per_wavefront: false,
            },
        ];
        for (f, field) in fields.iter().enumerate() {
            for element in 0..field.elements(16) {
                for bit in 0..field.width as usize {
                    let golden = [0x5a; 36];
                    let mut rtl = golden;
                    field.flip(&mut rtl, element, bit);
                    let found = diff(&fields, &rtl, &golden);
                    assert_eq!(found.len(), 1);
                    assert_eq!((found[0].field, found[0].element), (f, element));
                    assert_eq!(found[0].rtl ^ found[0].golden, 1 << bit);
                }
            }
        }
    }
}
