//! The table of a unit's instruction words: for each field its place, its type and its text, once.
//!
//! [`layout!`](macro@crate::layout) makes a struct of such a table, with the conversion of words to fields and back;
//! [`names!`](macro@crate::names) makes an enum of a field whose values have names. The functions here read the table
//! ([`Field`]): text of an operand, both directions, and what is simpler than a value.
//!
//! Golden model, scalar machine and RTL must not use it: they decode words by themselves, and a test compares them with the table.

use std::fmt::Write as _;

use reconverge_bench::input::InputError;
use reconverge_bench::text::{Location, Operands};

/// Bits `high` to `low` of one word of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    /// Number of the word in the table's order.
    pub word: usize,
    /// The highest bit, at most 62.
    pub high: u32,
    /// The lowest bit.
    pub low: u32,
}

impl Bits {
    /// Returns the mask of a value: a 1 for each bit.
    #[inline]
    pub const fn mask(self) -> u64 {
        (1 << (self.high - self.low + 1)) - 1
    }
}

/// How the text of an instruction says a field.
#[derive(Clone, Copy, Debug)]
pub enum Text {
    /// By the mnemonic or the target, or not at all.
    Other,
    /// Text such as `NAME=` and an address or a label, always: a target of an instruction of [`words`](crate::words), besides the one
    /// that stands last.
    Target(&'static str),
    /// `NAME` for 1, nothing for 0.
    Flag(&'static str),
    /// `NAME` for 0, nothing for 1.
    Without(&'static str),
    /// Text such as `NAME=` and the number; nothing for 0.
    Number(&'static str),
    /// Text such as `NAME=` and the number in hexadecimal, for 0 too.
    Hex(&'static str),
    /// Text such as `NAME=` and the name of the value; nothing for 0.
    Named(&'static str, &'static [&'static str]),
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name in the struct.
    pub name: &'static str,
    /// Its bits, the most significant piece first.
    pub bits: &'static [Bits],
    /// Its text.
    pub text: Text,
}

impl Field {
    /// Returns a row, for a table that [`layout!`](macro@crate::layout) does not make.
    pub const fn new(name: &'static str, bits: &'static [Bits], text: Text) -> Field {
        Field { name, bits, text }
    }

    /// Returns the value in `words`.
    pub const fn get(&self, words: &[u64]) -> u64 {
        get(self.bits, words)
    }

    /// Returns `words` with this value; bits above the width of the field are ignored.
    #[must_use]
    pub const fn with<const N: usize>(&self, words: [u64; N], value: u64) -> [u64; N] {
        put(self.bits, words, value)
    }

    /// Returns the highest value that its bits can hold.
    pub fn max(&self) -> u64 {
        get(self.bits, &[u64::MAX; 8])
    }

    /// Returns the name of its operand; `None` if it is none, or a target.
    fn operand(&self) -> Option<&'static str> {
        match self.text {
            Text::Other | Text::Target(_) => None,
            Text::Flag(name)
            | Text::Without(name)
            | Text::Number(name)
            | Text::Hex(name)
            | Text::Named(name, _) => Some(name),
        }
    }

    /// Returns ` [OPERAND]` with its values, of a target ` NAME=TARGET`; nothing if it is none.
    pub(crate) fn form(&self) -> String {
        let values = match self.text {
            Text::Target(name) => return format!(" {name}TARGET"),
            Text::Number(_) => format!("0..{}", self.max()),
            Text::Hex(_) => format!("0x0..{:#x}", self.max()),
            Text::Named(_, names) => names.join("|"),
            Text::Other | Text::Flag(_) | Text::Without(_) => String::new(),
        };
        let name = self.operand();
        name.map_or_else(String::new, |name| format!(" [{name}{values}]"))
    }

    /// Returns the value that text does not mention.
    const fn usual(&self) -> u64 {
        matches!(self.text, Text::Without(_)) as u64
    }
}

/// Returns the value of `bits` in `words`.
#[inline]
pub const fn get(bits: &[Bits], words: &[u64]) -> u64 {
    let (mut value, mut piece) = (0, 0);
    while piece < bits.len() {
        let at = bits[piece];
        value = value << (at.high - at.low + 1) | words[at.word] >> at.low & at.mask();
        piece += 1;
    }
    value
}

/// Returns `words` with `value` in `bits`.
#[inline]
pub const fn put<const N: usize>(bits: &[Bits], mut words: [u64; N], mut value: u64) -> [u64; N] {
    let mut piece = bits.len();
    while piece > 0 {
        piece -= 1;
        let at = bits[piece];
        words[at.word] = words[at.word] & !(at.mask() << at.low) | (value & at.mask()) << at.low;
        value >>= at.high - at.low + 1;
    }
    words
}

/// Returns the bits of each word that belong to a field.
///
/// # Panics
/// Two fields share a bit, or a value has no name: at compile time, because [`layout!`](macro@crate::layout) calls it for a constant.
pub const fn used<const N: usize>(fields: &[Field]) -> [u64; N] {
    let (mut all, mut row) = ([0; N], 0);
    while row < fields.len() {
        let own = put(fields[row].bits, [0; N], u64::MAX);
        if let Text::Named(_, names) = fields[row].text {
            let max = fields[row].get(&[u64::MAX; N]);
            assert!(names.len() as u64 == max + 1, "a value has no name");
        }
        let mut word = 0;
        while word < N {
            assert!(all[word] & own[word] == 0, "two fields share a bit");
            all[word] |= own[word];
            word += 1;
        }
        row += 1;
    }
    all
}

/// Returns `words` with the usual value in each field: the one that text does not mention.
pub const fn usual<const N: usize>(fields: &[Field], mut words: [u64; N]) -> [u64; N] {
    let mut row = 0;
    while row < fields.len() {
        words = fields[row].with(words, fields[row].usual());
        row += 1;
    }
    words
}

/// Returns ` OPERAND` for each target and each field that does not have its usual value.
pub fn operands(fields: &[Field], words: &[u64]) -> String {
    let mut text = String::new();
    for field in fields {
        let value = field.get(words);
        let _ = match field.text {
            Text::Hex(name) => write!(text, " {name}0x{value:02X}"),
            Text::Target(name) => write!(text, " {name}{value}"),
            _ if value == field.usual() => Ok(()),
            Text::Other => Ok(()),
            Text::Flag(name) | Text::Without(name) => write!(text, " {name}"),
            Text::Number(name) => write!(text, " {name}{value}"),
            Text::Named(name, names) => write!(text, " {name}{}", names[value as usize]),
        };
    }
    text
}

/// Reads `operand` into `words`; returns the name of its field, or `None` if no field is written so.
///
/// # Errors
/// The field has no such value; the message says which it has.
pub fn read<const N: usize>(
    at: Location,
    operand: &str,
    fields: &[Field],
    words: &mut [u64; N],
) -> Result<Option<&'static str>, InputError> {
    let named = |field: &&Field| {
        let (begin, behind) = operand.split_at_checked(field.operand()?.len())?;
        let same = begin.eq_ignore_ascii_case(field.operand()?);
        let flag = matches!(field.text, Text::Flag(_) | Text::Without(_));
        (same && (!flag || behind.is_empty())).then_some(behind)
    };
    let Some(field) = fields.iter().find(|field| named(field).is_some()) else {
        return Ok(None);
    };
    let text = named(&field).unwrap_or_default();
    let name = field.operand().unwrap_or_default();
    let name = name.trim_end_matches(['=', ':']);
    let value = match field.text {
        Text::Named(_, names) => {
            let found = names.iter().position(|n| n.eq_ignore_ascii_case(text));
            found.ok_or_else(|| {
                let message = format!("`{text}` is not one of {}", names.join(", "));
                at.error(name, message).about(text)
            })? as u64
        }
        Text::Number(_) | Text::Hex(_) => {
            let max = u32::try_from(field.max()).unwrap_or(u32::MAX);
            at.unsigned(name, text, max)?
        }
        Text::Flag(_) | Text::Without(_) | Text::Target(_) | Text::Other => 1 - field.usual(),
    };
    *words = field.with(*words, value);
    Ok(Some(name))
}

/// Reads the operands that are fields into `words` and takes them out of `from`, which keeps the others and those that are given again.
///
/// # Errors
/// As [`read`].
pub fn take<const N: usize>(
    from: &mut Operands,
    fields: &[Field],
    words: &mut [u64; N],
) -> Result<(), InputError> {
    let (mut given, mut left) = (Vec::new(), Vec::new());
    // Those in front of them are labels, whatever their names.
    for operand in from.rest.split_off(from.fixed.min(from.rest.len())) {
        match read(from.at, operand, fields, words)? {
            Some(name) if !given.contains(&name) => given.push(name),
            _ => left.push(operand),
        }
    }
    from.rest.extend(left);
    Ok(())
}

/// Returns words with one operand simplified: its usual value, 1, or one bit less. What the mnemonic and the target say stays.
pub fn simpler<const N: usize>(fields: &[Field], words: [u64; N]) -> Vec<[u64; N]> {
    let mut all = Vec::new();
    for field in fields.iter().filter(|field| field.operand().is_some()) {
        let value = field.get(&words);
        let mut values = vec![field.usual()];
        if matches!(field.text, Text::Number(_) | Text::Hex(_)) {
            values.extend([value & value.wrapping_sub(1), value.min(1)]);
        }
        values.retain(|new| *new != value);
        values.dedup();
        all.extend(values.into_iter().map(|new| field.with(words, new)));
    }
    all
}

/// Declares the fields of an instruction: a struct, its table `FIELDS`, `of` words and to `words`. Each row is a field with its type, its
/// bits (the most significant piece first) and its [`Text`](crate::layout::Text). A type is `bool`, a number, or one with `from_bits` and `bits`, such as an
/// enum of [`names!`](macro@crate::names) in which every value has a name. A field in brackets behind the name is given to `of`: an opcode of
/// which not every number has a name.
#[macro_export]
macro_rules! layout {
    ($(#[$doc:meta])* $name:ident$(($(#[$means:meta])* $key:ident: $number:ident = $place:expr))?: $count:literal words {
        $($(#[$about:meta])* $field:ident: $type:ident = $bits:expr, $text:expr;)+
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name {
            $($(#[$means])* pub $key: $number,)?
            $($(#[$about])* pub $field: $type,)+
        }

        impl $name {
            /// The table, in the order of the text.
            pub const FIELDS: &'static [$crate::layout::Field] = &[$($crate::layout::Field {
                name: stringify!($key),
                bits: &$place,
                text: $crate::layout::Text::Other,
            },)? $($crate::layout::Field {
                name: stringify!($field),
                bits: &$bits,
                text: $text,
            }),+];

            /// The bits of each word that belong to no field.
            pub const FREE: [u64; $count] = {
                let mut free = $crate::layout::used(Self::FIELDS);
                let mut word = 0;
                while word < $count {
                    free[word] = !free[word];
                    word += 1;
                }
                free
            };

            /// Returns the fields of `words`.
            #[inline]
            pub const fn of($($key: $number,)? words: [u64; $count]) -> Self {
                $name { $($key,)? $($field: $crate::layout_value!(
                    of $type, $crate::layout::get(&$bits, &words)
                ),)+ }
            }

            /// Returns the fields with the values that text does not mention: 0, and 1 of a flag that is written where it is 0.
            pub const fn new($($key: $number)?) -> Self {
                Self::of($($key,)? $crate::layout::usual(Self::FIELDS, [0; $count]))
            }

            /// Returns the words, with zeros at [`Self::FREE`]; bits above the width of a field are not encoded.
            #[inline]
            pub const fn words(self) -> [u64; $count] {
                let words = [0; $count];
                $(let words = $crate::layout::put(&$place, words, self.$key.bits() as u64);)?
                $(let words = $crate::layout::put(
                    &$bits, words, $crate::layout_value!(to $type, self.$field)
                );)+
                words
            }
        }

        // The compiler evaluates what is used, and finds two fields that share a bit.
        const _: [u64; $count] = $name::FREE;
    };
}

/// Converts a number to the type of a field, or back.
#[doc(hidden)]
#[macro_export]
macro_rules! layout_value {
    (of bool, $value:expr) => {
        $value != 0
    };
    (of u8, $value:expr) => {
        $value as u8
    };
    (of u16, $value:expr) => {
        $value as u16
    };
    (of u32, $value:expr) => {
        $value as u32
    };
    (of $type:ident, $value:expr) => {
        $type::from_bits($value as u32)
    };
    (to bool, $value:expr) => {
        $value as u64
    };
    (to u8, $value:expr) => {
        $value as u64
    };
    (to u16, $value:expr) => {
        $value as u64
    };
    (to u32, $value:expr) => {
        $value as u64
    };
    (to $type:ident, $value:expr) => {
        $value.bits() as u64
    };
}

/// Declares an enum of values with names: variant, number, name in text. With `every`, each value of the field has one, in order, and
/// `from_bits` ignores higher bits; otherwise `from_bits` gives `None` for the others.
#[macro_export]
macro_rules! names {
    ($(#[$doc:meta])* every $name:ident { $($rows:tt)+ }) => {
        $crate::names! { @enum $(#[$doc])* $name: u32 { $($rows)+ } }
        const _: () = {
            let mut number = 0;
            while number < $name::ALL.len() {
                assert!($name::ALL[number] as usize == number, "not in order");
                number += 1;
            }
            assert!(number.is_power_of_two(), "a value has no name");
        };
        impl $name {
            /// Returns the variant numbered `value`; bits above the width of the field are ignored.
            pub const fn from_bits(value: u32) -> Self {
                Self::ALL[value as usize & (Self::ALL.len() - 1)]
            }
        }
    };
    ($(#[$doc:meta])* $name:ident: $number:ident {
        $($(#[$about:meta])* $variant:ident = $value:literal $text:literal,)+
    }) => {
        $crate::names! { @enum $(#[$doc])* $name: $number { $($(#[$about])* $variant = $value $text,)+ } }
        impl $name {
            /// Returns the variant with this number; `None` if there is none.
            pub const fn from_bits(value: $number) -> Option<Self> {
                match value { $($value => Some($name::$variant),)+ _ => None }
            }
        }
    };
    (@enum $(#[$doc:meta])* $name:ident: $number:ident {
        $($(#[$about:meta])* $variant:ident = $value:literal $text:literal,)+
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum $name { $($(#[$about])* $variant = $value,)+ }

        impl $name {
            /// All of them, in the order of the specification.
            pub const ALL: &[$name] = &[$($name::$variant),+];

            /// Their names, in the same order.
            pub const NAMES: &[&str] = &[$($text),+];

            /// Returns the number in the word.
            pub const fn bits(self) -> $number {
                self as $number
            }

            /// Returns the name in text.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)+ }
            }

            /// Returns the variant called `name`, in upper or lower case.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|v| v.name().eq_ignore_ascii_case(name))
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::Text::{Flag, Hex, Named, Number, Other, Without};
    use super::*;

    names! {
        /// What it does.
        every What {
            /// Nothing.
            Stay = 0 "STAY",
            /// Something.
            Go = 1 "GO",
        }
    }

    const fn at(word: usize, high: u32, low: u32) -> Bits {
        Bits { word, high, low }
    }

    layout! {
        /// Two words of eight bits.
        Small: 2 words {
            /// Two pieces.
            apart: u8 = [at(1, 7, 7), at(0, 2, 0)], Number("n:");
            /// One.
            mask: u8 = [at(1, 3, 0)], Hex("m=");
            /// With names.
            what: What = [at(0, 7, 7)], Named("what=", What::NAMES);
            /// Usually 0.
            on: bool = [at(0, 4, 4)], Flag("on");
            /// Usually 1.
            wait: bool = [at(0, 5, 5)], Without("no_wait");
            /// The target.
            to: u16 = [at(1, 6, 4)], Other;
        }
    }

    fn parsed(text: &str) -> Result<[u64; 2], String> {
        let (mut words, at) = (
            [0x20, 0],
            Location {
                file: "t.s",
                line: 3,
            },
        );
        for operand in text.split_whitespace() {
            match read(at, operand, Small::FIELDS, &mut words) {
                Ok(Some(_)) => {}
                Ok(None) => return Err(format!("no field {operand}")),
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(words)
    }

    #[test]
    fn words_fields_and_text_are_each_other_s_inverse() {
        assert_eq!(Small::FREE, [!0xb7, !0xff]);
        for bits in 0..=u64::from(u16::MAX) {
            let words = [bits & 0xff, bits >> 8];
            let said = [words[0] & 0xb7, words[1]];
            assert_eq!(Small::of(words).words(), said);
            let read = parsed(&operands(Small::FIELDS, &words)).unwrap();
            assert_eq!(
                read,
                [said[0], said[1] & 0x8f],
                "the target is not among them"
            );
        }
        let wide = Small {
            apart: 0x1f,
            mask: 0x10,
            to: 8,
            ..Small::of([0, 0])
        };
        assert_eq!(wide.words(), [7, 0x80]);
        assert_eq!(Small::new().words(), [0x20, 0]);
    }

    #[test]
    fn an_operand_that_is_wrong_is_told_what_is_allowed() {
        for (text, why) in [
            ("N:16", "t.s:3: n: 16 is not in 0..15"),
            ("what=run", "t.s:3: what: `run` is not one of STAY, GO"),
            ("n:", "t.s:3: n: `` is not a number"),
            ("on=1", "no field on=1"),
            ("n", "no field n"),
            ("to=1", "no field to=1"),
        ] {
            assert_eq!(parsed(text), Err(why.to_owned()));
        }
    }

    #[test]
    fn each_simplification_changes_one_operand_and_they_come_to_an_end() {
        for bits in 0..=u64::from(u16::MAX) {
            let words = [bits & 0xff, bits >> 8];
            for new in simpler(Small::FIELDS, words) {
                let changed = Small::FIELDS
                    .iter()
                    .filter(|f| f.get(&new) != f.get(&words));
                let [field] = changed.collect::<Vec<_>>()[..] else {
                    panic!("{words:x?} {new:x?}")
                };
                let (old, new) = (field.get(&words), field.get(&new));
                assert!(new == field.usual() || new < old, "{field:?}");
                assert_ne!(old, field.usual());
            }
        }
        assert!(simpler(Small::FIELDS, [0x20, 0x70]).is_empty());
        assert_eq!(What::from_name("go"), Some(What::Go));
        assert!(
            What::ALL
                .iter()
                .map(|w| w.name())
                .eq(What::NAMES.iter().copied())
        );
    }
}
