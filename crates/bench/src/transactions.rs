//! Golden models that speak in transactions instead of cycles: a scoreboard.
//!
//! With `transactions = true` in its declaration, what a design sends on its channels is compared, in order or by tag, and nothing else: a
//! model says what it owes for what it has received ([`Transactions`]). When it sends that is free, unless the `latency` of the channel
//! limits it. The golden model of the design is a [`Scoreboard`] of such a model.
//!
//! In which cycle the RTL takes what is offered only the RTL knows. So the bench top keeps what is offered until then, and the
//! comparison finds out what it has kept. Behind a stream come some cycles in which nothing is offered and every channel is ready ([`drain`]):
//! what is still owed then is lost.

use std::collections::VecDeque;
use std::iter::zip;
use std::ops::Range;

use bytemuck::{bytes_of, bytes_of_mut};
use serde::{Deserialize, Serialize};

use crate::channels::{Beat, ends, payload_text};
use crate::design::{Build, Control, Design, Golden};
use crate::field::{self, Channel, Diff, Field, Side, Wire};
use crate::quantity::counted;

/// Cycles behind a stream, besides the latencies of the channels.
const DRAIN: u64 = 64;
/// Transactions that a report shows.
const RECENT: usize = 8;

/// What a design must send for what it has received.
pub trait Transactions<D: Design>: Clone + Send {
    /// Returns the model after a reset.
    fn build(build: &Build) -> Self;
    /// Takes a transaction that the design has received on `channel`, with the pins of its cycle, and adds to `owed` what the design must
    /// send for it.
    fn receives(&mut self, channel: &str, pins: &D::In, owed: &mut Owed<D>);
    /// Takes a transaction that the design has sent on `channel`, and that was owed: `payload` has the fields of its payload, all others
    /// are 0.
    fn sends(&mut self, _channel: &str, _payload: &D::State, _owed: &mut Owed<D>) {}
    /// Takes the pins of a cycle without a reset, after its transfers: what they do besides, such as a clear.
    fn cycle(&mut self, _pins: &D::In, _owed: &mut Owed<D>) {}
    /// Returns the tag of a payload on `channel`. What has the same tag comes in the order in which it is owed; what has another one may
    /// come before. Unless a model says otherwise, everything has one tag.
    fn tag(&self, _channel: &str, _payload: &D::State) -> u64 {
        0
    }
    /// Returns coverpoint `name` of the declaration before a cycle with `pins`, in which this is `owed`.
    ///
    /// # Panics
    /// Unless a model says otherwise: the declaration has a `[[coverpoint]]` that the model does not give.
    fn coverpoint(&self, name: &str, _pins: &D::In, _owed: &Owed<D>) -> u64 {
        panic!("it has no `fn coverpoint`, and design.toml declares coverpoint {name}")
    }
    /// Changes randomly drawn pins into pins that may be offered. Must not change pins that may be offered already.
    fn constrain(_pins: &mut D::In) {}
}

/// What a design must still send, by channel.
#[derive(Clone, Debug)]
pub struct Owed<D: Design> {
    /// A list for each channel of the declaration, the oldest first.
    channels: Vec<VecDeque<Debt<D>>>,
    cycle: u64,
}

/// One transaction that is owed.
#[derive(Clone, Debug)]
struct Debt<D: Design> {
    /// The payloads with which it may come.
    any: Vec<D::State>,
    /// The cycle from which on it is owed.
    since: u64,
}

impl<D: Design> Owed<D> {
    fn new() -> Self {
        Owed {
            channels: D::DECLARATION
                .channels
                .iter()
                .map(|_| VecDeque::new())
                .collect(),
            cycle: 0,
        }
    }

    fn number(channel: &str) -> usize {
        let channels = D::DECLARATION.channels;
        let number = channels
            .iter()
            .position(|known| known.name == channel && known.side == Side::Out);
        number.unwrap_or_else(|| panic!("{} does not send on a channel {channel}", D::NAME))
    }

    /// Owes a transaction on `channel`; of `payload` only the fields of its payload count.
    ///
    /// # Panics
    /// The design does not send on such a channel.
    pub fn push(&mut self, channel: &str, payload: D::State) {
        self.push_any(channel, vec![payload]);
    }

    /// Owes a transaction that may come with any of these payloads, which have one tag.
    ///
    /// # Panics
    /// The design does not send on such a channel, or there is no payload.
    pub fn push_any(&mut self, channel: &str, payloads: Vec<D::State>) {
        assert!(
            !payloads.is_empty(),
            "a transaction on {channel} without a payload"
        );
        let (since, any) = (self.cycle, payloads);
        self.channels[Self::number(channel)].push_back(Debt { any, since });
    }

    /// Owes nothing more on `channel`.
    ///
    /// # Panics
    /// The design does not send on such a channel.
    pub fn clear(&mut self, channel: &str) {
        self.channels[Self::number(channel)].clear();
    }

    /// Returns how many transactions are owed on `channel`.
    ///
    /// # Panics
    /// The design does not send on such a channel.
    pub fn count(&self, channel: &str) -> usize {
        self.channels[Self::number(channel)].len()
    }
}

/// Why a transaction is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Another one is owed.
    Other,
    /// None is owed.
    Extra,
    /// It is owed for too long.
    Late,
    /// It has not come at all.
    Missing,
}

/// The transaction with which RTL and model differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transaction {
    /// Name of the channel.
    pub channel: String,
    /// Why it is wrong.
    pub why: Why,
    /// What is to be said of it.
    pub text: String,
    /// The last transactions of all channels before it, as text.
    pub recent: Vec<String>,
}

/// A difference between RTL and model.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Wrong<D: Design> {
    /// The transaction.
    pub transaction: Transaction,
    /// The elements that differ.
    pub diffs: Vec<Diff>,
    /// The state of the RTL, with what it has sent.
    pub rtl: D::State,
    /// The same with what is owed.
    pub golden: D::State,
}

/// Returns the number of cycles behind a stream, in which nothing is offered and every channel is ready.
pub fn drain<D: Design>() -> u64 {
    let latencies = D::DECLARATION.channels.iter();
    let latencies = latencies.map(|channel| u64::from(channel.latency.unwrap_or_default()));
    match D::DECLARATION.transactions {
        true => DRAIN + latencies.sum::<u64>(),
        false => 0,
    }
}

/// Returns the pins of these cycles.
pub(crate) fn draining<D: Design>() -> D::In {
    let mut pins = D::In::default();
    for channel in D::DECLARATION.channels {
        for (wire, value) in [(channel.valid, 0), (channel.ready, 1)] {
            if let Wire::Pin(number) = wire {
                D::DECLARATION.pins[number].set(bytes_of_mut(&mut pins), 0, value);
            }
        }
    }
    pins
}

/// A cycle as it was played.
#[derive(Clone, Copy, Debug)]
pub struct Cycle<D: Design> {
    /// The state of the RTL before it.
    pub before: D::State,
    /// The pins, with what the bench top has kept.
    pub pins: D::In,
    /// The state after it.
    pub after: D::State,
}

/// Follows what the bench top keeps.
pub(crate) struct Played<D: Design>(Option<(D::State, D::In)>);

impl<D: Design> Played<D> {
    pub fn new() -> Self {
        Played(None)
    }

    /// Takes the state `after` a cycle, and the pins that are given for the next one. Returns the cycle; `None` before the first one.
    pub fn next(&mut self, after: &D::State, given: &D::In) -> Option<Cycle<D>> {
        let mut next = *given;
        let cycle = self.0.map(|(before, pins)| Cycle {
            before,
            pins,
            after: *after,
        });
        if let Some(Cycle { before, pins, .. }) = &cycle {
            let channels = D::DECLARATION.channels.iter();
            let kept = |c: &&Channel| c.side == Side::In && !c.withdraw && !ends::<D>(c, given);
            for channel in channels.filter(kept) {
                if !Beat::of::<D>(channel, bytes_of(before), pins, bytes_of(after)).waits() {
                    continue;
                }
                for wire in [&channel.valid].into_iter().chain(channel.payload) {
                    if let Wire::Pin(number) = wire {
                        let pin = &D::DECLARATION.pins[*number];
                        pin.copy(bytes_of(pins), bytes_of_mut(&mut next));
                    }
                }
            }
        }
        self.0 = Some((*after, next));
        cycle
    }
}

/// The golden model of a design that is compared by transactions: `type Golden = Scoreboard<Self, Model>`. It has no state.
#[derive(Clone, Debug)]
pub struct Scoreboard<D: Design, M> {
    build: Build,
    model: M,
    owed: Owed<D>,
    state: D::State,
    /// How many transactions each channel had since the reset, its last payload, and for how many cycles it has owed one, or not taken one.
    seen: Vec<Seen<D>>,
    /// The last transactions, the newest one last.
    recent: VecDeque<(u64, usize, Cycle<D>)>,
}

#[derive(Clone, Debug)]
struct Seen<D: Design> {
    count: u64,
    last: Option<D::State>,
    idle: u32,
}

impl<D: Design, M: Transactions<D>> Golden<D> for Scoreboard<D, M> {
    fn build(build: &Build) -> Self {
        const {
            assert!(
                D::DECLARATION.transactions,
                "a Scoreboard needs `transactions = true` in design.toml"
            );
        }
        let seen = Seen {
            count: 0,
            last: None,
            idle: 0,
        };
        Scoreboard {
            build: build.clone(),
            model: M::build(build),
            owed: Owed::new(),
            state: D::State::default(),
            seen: vec![seen; D::DECLARATION.channels.len()],
            recent: VecDeque::with_capacity(RECENT),
        }
    }

    fn cycle(&mut self, _: &D::In) -> &D::State {
        &self.state
    }

    fn state(&self) -> &D::State {
        &self.state
    }

    fn constrain(&self, pins: &mut D::In) {
        M::constrain(pins);
    }

    fn coverpoint(&self, name: &str, pins: &D::In) -> u64 {
        self.model.coverpoint(name, pins, &self.owed)
    }

    fn board(&mut self) -> Option<&mut dyn Board<D>> {
        Some(self)
    }
}

/// What the lock-step loop asks of a [`Scoreboard`].
#[doc(hidden)]
pub trait Board<D: Design> {
    /// Takes a cycle. Returns the first transaction that is wrong.
    fn take(&mut self, number: u64, cycle: &Cycle<D>) -> Option<Wrong<D>>;
    /// Returns what is still owed behind the last cycle.
    fn end(&self, cycle: &Cycle<D>) -> Option<Wrong<D>>;
}

impl<D: Design, M: Transactions<D>> Board<D> for Scoreboard<D, M> {
    fn take(&mut self, number: u64, cycle: &Cycle<D>) -> Option<Wrong<D>> {
        let Cycle {
            before,
            pins,
            after,
        } = cycle;
        self.owed.cycle = number;
        let channels = || zip(0.., D::DECLARATION.channels);
        let beat = |channel| Beat::of::<D>(channel, bytes_of(before), pins, bytes_of(after));
        // A design may send for what it receives in the same cycle.
        for (at, channel) in channels().filter(|(_, channel)| channel.side == Side::In) {
            let beat = beat(channel);
            if let Some(wrong) = self.not_taken(at, channel, beat, cycle) {
                return Some(wrong);
            }
            if beat.transfers() {
                self.log(number, at, cycle);
                self.model.receives(channel.name, pins, &mut self.owed);
            }
        }
        for (at, channel) in channels().filter(|(_, channel)| channel.side == Side::Out) {
            let beat = beat(channel);
            let wrong = match beat.transfers() {
                true => self.sent(at, channel, cycle, number),
                false => {
                    let owes = !self.owed.channels[at].is_empty();
                    self.seen[at].idle += u32::from(owes && beat.idles());
                    let idle = &self.seen[at].idle;
                    let late = channel.latency.filter(|latency| *idle > *latency);
                    late.and_then(|latency| {
                        let text = format!("valid was 0 in {}", counted(latency + 1, "cycle"));
                        self.absent(at, channel, cycle, Why::Late, &text)
                    })
                }
            };
            if wrong.is_some() {
                return wrong;
            }
        }
        if pins.is_reset() {
            let recent = std::mem::take(&mut self.recent);
            *self = Scoreboard {
                recent,
                ..Self::build(&self.build)
            };
            return None;
        }
        self.model.cycle(pins, &mut self.owed);
        for (at, _) in channels().filter(|(_, channel)| channel.side == Side::Out) {
            if self.owed.channels[at].is_empty() {
                self.seen[at].idle = 0;
            }
        }
        None
    }

    fn end(&self, cycle: &Cycle<D>) -> Option<Wrong<D>> {
        let text = format!(
            "it did not come in the {} cycles at the end, in which nothing is offered and ready is 1",
            drain::<D>()
        );
        zip(0.., D::DECLARATION.channels)
            .find_map(|(at, channel)| self.absent(at, channel, cycle, Why::Missing, &text))
    }
}

impl<D: Design, M: Transactions<D>> Scoreboard<D, M> {
    fn log(&mut self, number: u64, at: usize, cycle: &Cycle<D>) {
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back((number, at, *cycle));
        self.seen[at].count += 1;
    }

    /// Counts the cycles in which a design that owes nothing does not take what is offered. Returns what is wrong after too many.
    fn not_taken(
        &mut self,
        at: usize,
        channel: &Channel,
        beat: Beat,
        cycle: &Cycle<D>,
    ) -> Option<Wrong<D>> {
        let latency = channel.latency?;
        let free = self.owed.channels.iter().all(VecDeque::is_empty);
        let idle = &mut self.seen[at].idle;
        *idle = match free && beat.waits() {
            true => *idle + 1,
            false => 0,
        };
        if *idle <= latency {
            return None;
        }
        let text = format!(
            "transaction {} is not taken; ready was 0 in {} in which nothing is owed",
            self.seen[at].count + 1,
            counted(latency + 1, "cycle")
        );
        self.wrong(channel, cycle, Why::Late, text, |rtl, golden| {
            set::<D>(channel.ready, rtl, 0);
            set::<D>(channel.ready, golden, 1);
        })
    }

    /// Takes a transaction that was sent.
    fn sent(
        &mut self,
        at: usize,
        channel: &Channel,
        cycle: &Cycle<D>,
        number: u64,
    ) -> Option<Wrong<D>> {
        self.log(number, at, cycle);
        let mut got = D::State::default();
        for wire in channel.payload {
            if let Wire::Field { number, now } = *wire {
                let from = if now { &cycle.after } else { &cycle.before };
                copy::<D>(&D::fields()[number], from, &mut got);
            }
        }
        let same = |one: &D::State| {
            let equal = |field: &Field| bytes_of(one)[span(field)] == bytes_of(&got)[span(field)];
            payload::<D>(channel).all(equal)
        };
        let name = channel.name;
        let tag = self.model.tag(name, &got);
        let debts = &self.owed.channels[at];
        let tagged = |(_, debt): &(usize, &Debt<D>)| self.model.tag(name, &debt.any[0]) == tag;
        let mut its = debts.iter().enumerate().filter(tagged);
        let seen = &self.seen[at];
        let again = seen.last.as_ref().is_some_and(same);
        let count = seen.count;
        let doubled = || match again {
            true => format!("; it is transaction {} once more", count - 1),
            false => String::new(),
        };
        let Some((place, debt)) = its.next() else {
            let with = match debts.is_empty() {
                true => "",
                false => " with its tag",
            };
            let text = format!("transaction {count}: nothing{with} is owed{}", doubled());
            return self.wrong(channel, cycle, Why::Extra, text, |rtl, golden| {
                set::<D>(channel.valid, rtl, 1);
                set::<D>(channel.valid, golden, 0);
            });
        };
        if debt.any.iter().any(same) {
            self.owed.channels[at].remove(place);
            (self.seen[at].last, self.seen[at].idle) = (Some(got), 0);
            self.model.sends(name, &got, &mut self.owed);
            return None;
        }
        let later = its.position(|(_, debt)| debt.any.iter().any(same));
        let instead = match (later, debt.any.len()) {
            (Some(later), _) => format!("; what came is owed {} later", later + 1),
            (None, 1) => doubled(),
            (None, any) => format!(
                "; {any} payloads are allowed, of which golden has the first{}",
                doubled()
            ),
        };
        let text = format!(
            "transaction {count} is owed since cycle {}{instead}",
            debt.since
        );
        let expected = debt.any[0];
        self.wrong(channel, cycle, Why::Other, text, |rtl, golden| {
            for (side, from) in [(rtl, &got), (golden, &expected)] {
                payload::<D>(channel).for_each(|field| copy::<D>(field, from, side));
            }
        })
    }

    /// Returns what is wrong if something is owed on a channel.
    fn absent(
        &self,
        at: usize,
        channel: &Channel,
        cycle: &Cycle<D>,
        why: Why,
        text: &str,
    ) -> Option<Wrong<D>> {
        let debt = self.owed.channels[at].front()?;
        let (count, since) = (self.seen[at].count + 1, debt.since);
        let text = format!("transaction {count} is owed since cycle {since}; {text}");
        let expected = debt.any[0];
        self.wrong(channel, cycle, why, text, |rtl, golden| {
            set::<D>(channel.valid, rtl, 0);
            set::<D>(channel.valid, golden, 1);
            payload::<D>(channel).for_each(|field| copy::<D>(field, &expected, golden));
        })
    }

    /// Returns a difference; `set` sets in the states of both sides, which are equal, in what they differ.
    fn wrong(
        &self,
        channel: &Channel,
        cycle: &Cycle<D>,
        why: Why,
        text: String,
        set: impl FnOnce(&mut D::State, &mut D::State),
    ) -> Option<Wrong<D>> {
        let (mut rtl, mut golden) = (cycle.after, cycle.after);
        set(&mut rtl, &mut golden);
        let mut diffs = field::diff(D::fields(), bytes_of(&rtl), bytes_of(&golden));
        // What is not there comes before what it would be.
        let valid = |diff: &Diff| matches!(channel.valid, Wire::Field { number, .. } if number == diff.field);
        diffs.sort_by_key(|diff| !valid(diff));
        let recent = self.recent.iter().map(|(number, at, cycle)| {
            let Cycle {
                before,
                pins,
                after,
            } = cycle;
            let channel = &D::DECLARATION.channels[*at];
            let payload = payload_text::<D>(channel, bytes_of(before), pins, bytes_of(after));
            format!("{number:>6}  {}{payload}", channel.name)
        });
        Some(Wrong {
            transaction: Transaction {
                channel: channel.name.to_owned(),
                why,
                text,
                recent: recent.collect(),
            },
            diffs,
            rtl,
            golden,
        })
    }
}

/// Returns the fields of the payload of a channel on which the design sends.
fn payload<D: Design>(channel: &Channel) -> impl Iterator<Item = &'static Field> {
    channel.payload.iter().filter_map(|wire| match wire {
        Wire::Field { number, .. } => Some(&D::fields()[*number]),
        Wire::Pin(_) => None,
    })
}

/// Returns the bytes of a field in the state.
fn span(field: &Field) -> Range<usize> {
    field.offset..field.offset + field.size()
}

/// Copies a field.
fn copy<D: Design>(field: &Field, from: &D::State, to: &mut D::State) {
    bytes_of_mut(to)[span(field)].copy_from_slice(&bytes_of(from)[span(field)]);
}

/// Sets valid or ready of a channel, where the design drives it.
fn set<D: Design>(wire: Wire, state: &mut D::State, value: u8) {
    if let Wire::Field { number, .. } = wire {
        bytes_of_mut(state)[D::fields()[number].offset] = value;
    }
}
