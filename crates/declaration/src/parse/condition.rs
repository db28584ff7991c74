//! Conditions: comparisons of pins, fields, parameters and numbers, joined by `&&` and `||`.

use super::names::is_identifier;
use super::ones;
use crate::{
    Comparison, Condition, Coverpoint, Enum, Lanes, Operand, Parameter, Pin, Role, Shape, Show,
    State, Sum,
};

/// The names that a condition may use.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub lanes: Option<&'a Lanes>,
    pub parameters: &'a [Parameter],
    pub enums: &'a [Enum],
    pub pins: &'a [Pin],
    pub state: &'a [State],
    pub coverpoints: &'a [Coverpoint],
    /// Which state a field without `next.` is of.
    pub fields: Fields,
}

/// Which state the fields of a condition are of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fields {
    /// That before the cycle; of a field which depends on the pins of the cycle, that of the cycle. `next.NAME` is that after it.
    Seen {
        /// All fields depend on the pins of the cycle.
        combinational: bool,
    },
    /// That after the cycle. Pins are those of the cycle, without resets and clocks; a name that one shares with a field is the field's.
    After,
    /// There are none. Pins are those of the cycle, without resets and clocks.
    Pins,
    /// There are neither fields nor pins.
    None,
}

/// What a name stands for.
pub(super) struct Named<'a> {
    pub operand: Operand,
    /// Bits; of a mask 64, of a parameter 32.
    pub width: u32,
    /// The names of its values.
    pub of: Option<&'a Enum>,
}

const OPERATORS: [&str; 6] = ["==", "!=", "<=", ">=", "<", ">"];

impl Pin {
    /// Returns whether the bench top has its value as every other one: it is neither reset nor clock, and there with all parameters.
    fn is_plain(&self) -> bool {
        matches!(self.role, Role::Plain | Role::Stall) && self.only_with.is_none()
    }
}

impl<'a> Scope<'a> {
    /// Returns what `name` stands for.
    ///
    /// # Errors
    /// There is nothing of that name which is one number, or more than one.
    pub fn find(&self, name: &str) -> Result<Named<'a>, String> {
        let (kind, bare) = name.split_once('.').unwrap_or(("", name));
        let seen = matches!(self.fields, Fields::Seen { .. });
        let cycles = self.fields != Fields::None;
        let known = match kind {
            "" => true,
            "pin" => cycles,
            "state" => cycles && self.fields != Fields::Pins,
            "next" => seen,
            _ => false,
        };
        if !known {
            let kinds = match self.fields {
                Fields::Seen { .. } => "`pin.`, `state.` or `next.`",
                Fields::None => "nothing",
                Fields::Pins => "`pin.`",
                _ => "`pin.` or `state.`",
            };
            return Err(format!("{name:?}: only {kinds} may stand before a name"));
        }
        let mut found = Vec::new();
        if matches!(kind, "" | "pin") && cycles {
            let mut pins = self.pins.iter().filter(|pin| seen || pin.is_plain());
            let pin = pins.find(|pin| pin.name == bare);
            found.extend(
                pin.map(|pin| (Operand::Pin(bare.to_owned()), pin.shape, self.of_pin(pin))),
            );
        }
        let field = self.state.iter().find(|field| field.name == bare);
        let of_field = field.map(|field| {
            let now = match self.fields {
                Fields::Seen { combinational } => combinational || field.sampled || kind == "next",
                _ => true,
            };
            let operand = match now {
                true => Operand::After(bare.to_owned()),
                false => Operand::Before(bare.to_owned()),
            };
            (operand, field.shape, self.of_field(field))
        });
        if kind != "pin" && cycles && self.fields != Fields::Pins {
            if self.fields == Fields::After && of_field.is_some() {
                found.clear();
            }
            found.extend(of_field);
        }
        if kind.is_empty() && seen {
            let point = self.coverpoints.iter().find(|point| point.name == bare);
            found.extend(point.map(|point| {
                let shape = Shape::Words {
                    width: point.width,
                    count: Some(1),
                };
                let of = self.table(point.of_enum.as_ref());
                (Operand::Coverpoint(bare.to_owned()), shape, of)
            }));
        }
        if kind.is_empty() && seen || !cycles {
            let number = Shape::Words {
                width: 32,
                count: Some(1),
            };
            if self.parameters.iter().any(|p| p.name == bare) {
                found.push((Operand::Parameter(bare.to_owned()), number, None));
            }
            if self.lanes.is_some_and(|lanes| lanes.parameter == bare) {
                found.push((Operand::Lanes, number, None));
            }
        }
        let what = match self.fields {
            Fields::Seen { .. } => "pin, field, coverpoint or parameter",
            Fields::After => "pin or field",
            Fields::Pins => "pin",
            Fields::None => "parameter",
        };
        let mut found = found.into_iter();
        match (found.next(), found.next()) {
            (Some((operand, shape, of)), None) => {
                let width = match shape {
                    Shape::Words {
                        width,
                        count: Some(1),
                    } => width,
                    // A mask is one number too.
                    Shape::Planes(1) if seen => 64,
                    _ => return Err(format!("no {what} {name:?} that is one number")),
                };
                Ok(Named { operand, width, of })
            }
            (None, _) => Err(format!("no {what} {name:?} that is one number")),
            (Some(_), Some(_)) => {
                let which = format!("pin.{bare} or state.{bare}");
                Err(format!(
                    "{name:?} is the name of a pin and of a field: {which} says which"
                ))
            }
        }
    }

    fn of_field(&self, field: &State) -> Option<&'a Enum> {
        match &field.show {
            Show::Enum(name) => self.table(Some(name)),
            _ => None,
        }
    }

    fn of_pin(&self, pin: &Pin) -> Option<&'a Enum> {
        self.table(pin.of_enum.as_ref())
    }

    /// Returns the table with this name.
    fn table(&self, name: Option<&String>) -> Option<&'a Enum> {
        let name = name?;
        self.enums.iter().find(|e| e.name == *name)
    }

    /// Reads a condition.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn condition(&self, text: &str) -> Result<Condition, String> {
        let any = text.split("||");
        let all = |part: &str| {
            part.split("&&")
                .map(|one| self.comparison(one, text))
                .collect()
        };
        any.map(all).collect::<Result<_, _>>().map(Condition)
    }

    fn comparison(&self, text: &str, whole: &str) -> Result<Comparison, String> {
        let wrong = || {
            let form = "a condition is comparisons such as \"level != 0\", joined by && and ||";
            Err(format!("{form}; not {whole:?}"))
        };
        let place = OPERATORS
            .iter()
            .filter_map(|op| Some((text.find(op)?, *op)));
        // At one place the longer operator comes first in the list.
        let Some((at, operator)) = place.min_by_key(|(at, op)| (*at, 2 - op.len())) else {
            return wrong();
        };
        let (left, right) = (&text[..at], &text[at + operator.len()..]);
        let Some((name, plus)) = sum(left) else {
            return wrong();
        };
        if number(name).is_some() || !is_name(name) {
            return wrong();
        }
        let of = self.find(name)?;
        let left = Sum {
            of: of.operand,
            plus,
        };
        let Some((name, plus)) = sum(right) else {
            return wrong();
        };
        if let Some(n) = number(name).filter(|n| *n > ones(of.width)) {
            let (name, bits) = (text[..at].trim(), of.width);
            return Err(format!("{n} is more than the {bits} bits of {name}"));
        }
        let right = match (number(name), of.of.and_then(|e| value(e, name))) {
            (Some(number), _) | (_, Some(number)) => Operand::Number(number),
            _ if !is_name(name) => return wrong(),
            _ => self.find(name)?.operand,
        };
        Ok(Comparison {
            left,
            operator,
            right: Sum { of: right, plus },
        })
    }
}

/// Returns the value that `of` calls `name`.
pub(super) fn value(of: &Enum, name: &str) -> Option<u64> {
    let place = of.names.iter().position(|n| n == name)?;
    of.values.get(place).copied()
}

/// Reads a decimal or hexadecimal number.
pub(super) fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) if hex.starts_with(|c: char| c.is_ascii_hexdigit()) => {
            u64::from_str_radix(hex, 16).ok()
        }
        None if text.starts_with(|c: char| c.is_ascii_digit()) => text.parse().ok(),
        _ => None,
    }
}

/// Splits `NAME`, `NUMBER` or `NAME + NUMBER`.
fn sum(text: &str) -> Option<(&str, u64)> {
    match text.split_once('+') {
        None => Some((text.trim(), 0)),
        Some((name, plus)) => Some((name.trim(), number(plus.trim())?)),
    }
}

/// Returns whether `text` has the form of a name, perhaps with `pin.`, `state.` or `next.` before it.
fn is_name(text: &str) -> bool {
    text.split('.').all(is_identifier)
}
