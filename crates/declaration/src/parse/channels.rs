//! Handshakes: which pins and fields are valid, ready and payload of one.

use std::collections::{BTreeMap, BTreeSet};

use super::condition::{Fields, Scope};
use super::names::part_of_names;
use super::{needed, once};
use crate::error::Error;
use crate::table::Table;
use crate::{
    Channel, Condition, EVENTS, MAX_CHANNELS, MAX_LATENCY, Operand, Pin, Role, Shape, Side, State,
    Wire,
};

/// Reads the tables `[[channel]]`, whose signals are among the pins and fields of `scope`.
pub(super) fn channels(
    root: &Table,
    scope: Scope,
    combinational: bool,
    transactions: bool,
) -> Result<Vec<Channel>, Error> {
    let Scope { pins, state, .. } = scope;
    let several = pins
        .iter()
        .any(|pin| matches!(pin.role, Role::Clock { .. }));
    let mut names = BTreeSet::new();
    // A signal of two channels would have to stay for the one and change for the other.
    let mut taken: BTreeMap<(bool, usize), String> = BTreeMap::new();
    let mut places = Vec::new();
    let channels = root.tables("channel", |table| {
        let name = part_of_names(table, "name")?;
        once(table, &mut names, &name)?;
        let side = match needed(table, "side", table.string("side")?)?.as_str() {
            "in" => Side::In,
            "out" => Side::Out,
            _ => return Err(table.error("side", "must be \"in\" or \"out\"")),
        };
        let mut wire = |key: &'static str, signal: &str| {
            let signals = Signals {
                side,
                pins,
                state,
                combinational,
            };
            let wire = signals.wire(table, key, signal)?;
            if let Some(other) = taken.insert(wire.place(), name.clone()) {
                let why = format!("{signal} belongs to channel {other} already");
                return Err(table.error(key, why));
            }
            Ok(wire)
        };
        let mut bit = |key| {
            let signal = needed(table, key, table.string(key)?)?;
            let wire = wire(key, &signal)?;
            let (shape, clock) = of(wire, pins, state);
            let single = Shape::Words {
                width: 1,
                count: Some(1),
            };
            match shape == single {
                true => Ok((wire, signal, clock)),
                false => Err(table.error(key, format!("{signal} has more than one bit"))),
            }
        };
        let (valid, valid_name, clock) = bit("valid")?;
        if several && clock.is_none() {
            let why = format!("{valid_name} has no clock: of several, one is that of a channel");
            return Err(table.error("valid", why));
        }
        let one_clock = |key, name: &str, other: &Option<String>| match *other == clock {
            true => Ok(()),
            false => {
                let said = |clock: &Option<String>| match clock {
                    Some(clock) => format!("belongs to {clock}"),
                    None => "has no clock".to_owned(),
                };
                let why = format!("{name} {}, and {valid_name} {}", said(other), said(&clock));
                Err(table.error(key, why))
            }
        };
        let (ready, ready_name, other) = bit("ready")?;
        one_clock("ready", &ready_name, &other)?;
        let mut payload = Vec::new();
        for signal in table.strings("payload")?.unwrap_or_default() {
            let found = wire("payload", &signal)?;
            one_clock("payload", &signal, &of(found, pins, state).1)?;
            payload.push(found);
        }
        places.push(table.place("unless"));
        Ok(Channel {
            name,
            side,
            valid,
            ready,
            payload,
            clock,
            withdraw: table.flag("withdraw")?,
            unless: unless(table, scope)?,
            never: never(table)?,
            latency: latency(table, transactions)?,
        })
    })?;
    for (channel, place) in channels.iter().zip(&places) {
        let operands = channel.unless.iter().flat_map(Condition::operands);
        for name in operands.filter_map(|operand| match operand {
            Operand::Pin(name) => Some(name),
            _ => None,
        }) {
            // What is kept would decide whether it is kept.
            let number = pins.iter().position(|pin| pin.name == *name);
            let offers = number.and_then(|number| taken.get(&Wire::Pin(number).place()));
            let sends = |of: &&String| {
                channels
                    .iter()
                    .any(|c| c.name == **of && c.side == Side::In)
            };
            if let Some(of) = offers.filter(sends) {
                let why = format!("{name} is offered on channel {of}");
                return Err(root.error_at(place, why));
            }
        }
    }
    match channels.len() {
        0..=MAX_CHANNELS => Ok(channels),
        n => {
            let why = format!("{n} of them, and {MAX_CHANNELS} is the most");
            Err(root.error("channel", why))
        }
    }
}

/// Returns layout and clock of a signal.
fn of(wire: Wire, pins: &[Pin], state: &[State]) -> (Shape, Option<String>) {
    match wire {
        Wire::Pin(number) => (pins[number].shape, pins[number].clock.clone()),
        Wire::Field { number, .. } => (state[number].shape, state[number].clock.clone()),
    }
}

/// Where the signals of a channel are looked up.
#[derive(Clone, Copy)]
struct Signals<'a> {
    side: Side,
    pins: &'a [Pin],
    state: &'a [State],
    combinational: bool,
}

impl Signals<'_> {
    /// Returns the pin or the field that `key` names.
    fn wire(self, table: &Table, key: &'static str, name: &str) -> Result<Wire, Error> {
        let input = (self.side == Side::In) == (key != "ready");
        let pin = self.pins.iter().position(|pin| pin.name == name);
        let field = self.state.iter().position(|field| field.name == name);
        let (kind, side) = match (input, self.side) {
            (true, Side::In) => ("pin", "in"),
            (true, Side::Out) => ("pin", "out"),
            (false, Side::In) => ("field", "in"),
            (false, Side::Out) => ("field", "out"),
        };
        let why = match (input, pin, field) {
            (true, Some(number), _) => {
                let pin = &self.pins[number];
                match (pin.role, &pin.only_with) {
                    (Role::Plain, None) => return Ok(Wire::Pin(number)),
                    (Role::Plain, Some(parameter)) => {
                        format!("{name} is not there without {parameter}")
                    }
                    _ => format!("{name} is a reset, a stall or a clock"),
                }
            }
            (false, _, Some(number)) => {
                return Ok(Wire::Field {
                    number,
                    now: self.combinational || self.state[number].sampled,
                });
            }
            (true, None, Some(_)) => {
                format!("{name} is a field, and with side = {side:?} {key} is a pin")
            }
            (false, Some(_), None) => {
                format!("{name} is a pin, and with side = {side:?} {key} is a field")
            }
            _ => format!("no {kind} {name:?}"),
        };
        Err(table.error(key, why))
    }
}

/// Reads the condition under which what is offered may be taken back.
fn unless(table: &Table, scope: Scope) -> Result<Option<Condition>, Error> {
    let Some(text) = table.line("unless")? else {
        return Ok(None);
    };
    if table.flag("withdraw")? {
        let why = "with `withdraw = true` what is offered may be taken back in every cycle";
        return Err(table.error("unless", why));
    }
    let pins = Scope {
        fields: Fields::Pins,
        ..scope
    };
    let condition = pins.condition(&text);
    condition
        .map(Some)
        .map_err(|why| table.error("unless", why))
}

/// Reads how long a transaction may be owed on a channel, or not taken.
fn latency(table: &Table, transactions: bool) -> Result<Option<u32>, Error> {
    let latency = table.number("latency", 1..=MAX_LATENCY)?;
    if latency.is_some() && !transactions {
        let why = "only with `transactions = true` is it known what is owed";
        return Err(table.error("latency", why));
    }
    Ok(latency.map(|latency| latency as u32))
}

/// Reads what cannot happen to a channel, as a mask of [`EVENTS`].
fn never(table: &Table) -> Result<u64, Error> {
    let mut never = 0;
    for word in table.strings("never")?.unwrap_or_default() {
        // A channel without a transfer is of no use, and `withdraw` says the last one.
        let known = &EVENTS[1..EVENTS.len() - 1];
        let Some(event) = known.iter().position(|event| *event == word) else {
            let why = format!("{word:?} is not one of {}", known.join(", "));
            return Err(table.error("never", why));
        };
        never |= 2 << event;
        if word == "stall" {
            let long = EVENTS.iter().position(|event| *event == "long stall");
            never |= 1 << long.unwrap_or_default();
        }
    }
    Ok(never)
}
