//! Channels: what happens to them in each cycle, and whether the design keeps what it has promised.
//!
//! A transfer takes place in each cycle in which valid and ready are 1, the clock of the channel rises, and neither reset nor stall is
//! asserted. Until then valid and payload stay, unless the declaration allows a withdrawal, always or in some cycles. The bench keeps this
//! for what it sends ([`crate::stream`]), and checks it of what the design sends, in every run ([`crate::lockstep`]).

use std::iter::zip;

use bytemuck::{bytes_of, bytes_of_mut, pod_read_unaligned};
pub use reconverge_declaration::EVENTS;
use serde::{Deserialize, Serialize};

use crate::bins::{Cycle, holds};
use crate::design::{Control, Design};
use crate::field::{Channel, Pin, Side, Wire};
use crate::wave::{PERIOD_NS, Words};

/// Number of [`EVENTS`].
pub const COUNT: usize = EVENTS.len();
/// Cycles of a stall that is long.
pub const LONG_STALL: u32 = 8;

/// A promise that the design has broken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Broken {
    /// Name of the channel.
    pub channel: String,
    /// The golden model breaks it too: the values that are expected are those promised.
    pub both: bool,
}

/// Returns the channels of a design.
fn all<D: Design>() -> &'static [Channel] {
    D::DECLARATION.channels
}

/// Returns whether field `number` is valid or payload of the channel with this name.
pub(crate) fn keeps<D: Design>(channel: &str, number: usize) -> bool {
    let is = |wire: &Wire| matches!(wire, Wire::Field { number: n, .. } if *n == number);
    let channel = all::<D>().iter().find(|known| known.name == channel);
    channel.is_some_and(|channel| is(&channel.valid) || channel.payload.iter().any(is))
}

/// Returns the pin with this number.
fn pin<D: Design>(number: usize) -> &'static Pin {
    &D::DECLARATION.pins[number]
}

/// One channel in one cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Beat {
    valid: bool,
    ready: bool,
    /// The cycle counts: its clock rises, and nothing is reset or stalled.
    counts: bool,
    /// It is offered and not taken, and nothing ends that.
    waits: bool,
}

impl Beat {
    /// Returns what happens to `channel` in a cycle with `pins`, between two states.
    pub fn of<D: Design>(channel: &Channel, before: &[u8], pins: &D::In, after: &[u8]) -> Self {
        let one = |wire| word::<D>(wire, 0, before, bytes_of(pins), after) == 1;
        let (valid, ready) = (one(channel.valid), one(channel.ready));
        let rises = |clock| pin::<D>(clock).get(bytes_of(pins), 0) == 1;
        let counts = !pins.is_reset() && !pins.is_stalled() && channel.clock.is_none_or(rises);
        Beat {
            valid,
            ready,
            counts,
            waits: valid && !ends::<D>(channel, pins) && !(ready && counts),
        }
    }

    pub fn transfers(self) -> bool {
        self.counts && self.valid && self.ready
    }

    pub fn waits(self) -> bool {
        self.waits
    }

    /// Returns whether it is offered and not taken in a cycle that counts.
    pub fn stalls(self) -> bool {
        self.counts && self.valid && !self.ready
    }

    /// Returns whether nothing is offered in a cycle that counts.
    pub fn idles(self) -> bool {
        self.counts && !self.valid
    }
}

/// Returns whether a cycle with `pins` ends what is offered on `channel`: with a reset, or as the declaration says.
pub(crate) fn ends<D: Design>(channel: &Channel, pins: &D::In) -> bool {
    let cycle = Cycle {
        declaration: D::DECLARATION,
        before: &[],
        pins: bytes_of(pins),
        after: &[],
        points: &[],
    };
    pins.is_reset() || holds(channel.unless, &cycle)
}

/// Returns word `i` of a signal in a cycle: an element, or a bit of each lane.
fn word<D: Design>(wire: Wire, i: usize, before: &[u8], pins: &[u8], after: &[u8]) -> u64 {
    match wire {
        Wire::Pin(number) => pin::<D>(number).get(pins, i),
        Wire::Field { number, now } => {
            let state = if now { after } else { before };
            D::fields()[number].word(state, i)
        }
    }
}

/// Returns all words of a signal in a cycle.
fn words<'a, D: Design>(
    wire: Wire,
    before: &'a [u8],
    pins: &'a [u8],
    after: &'a [u8],
) -> impl Iterator<Item = u64> + 'a {
    let count = match wire {
        Wire::Pin(number) => pin::<D>(number).words(),
        Wire::Field { number, .. } => D::fields()[number].words(),
    };
    (0..count).map(move |i| word::<D>(wire, i, before, pins, after))
}

/// Returns the events of a channel that can happen, by its declaration: bit n for [`EVENTS`] n.
pub fn possible(channel: &Channel) -> u64 {
    let withdrawal = u64::from(!channel.withdraw) << (COUNT - 1);
    ((1 << COUNT) - 1) & !channel.never & !withdrawal
}

/// Observes the channels of a run, cycle by cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    /// The state before the cycle; empty without channels.
    before: Vec<u8>,
    channels: Vec<Seen>,
}

/// What one channel did before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seen {
    waits: bool,
    /// What is offered while it waits.
    offered: Vec<u64>,
    /// It transferred in the last cycle that counts.
    transferred: bool,
    /// Cycles of this stall.
    stalled: u32,
}

impl Watch {
    /// Begins a run of `D`.
    pub fn new<D: Design>() -> Self {
        let channels = all::<D>();
        let bytes = match channels.is_empty() {
            true => 0,
            false => size_of::<D::State>(),
        };
        Watch {
            before: vec![0; bytes],
            channels: vec![Seen::default(); channels.len()],
        }
    }

    /// Observes a cycle: its pins, and the state after it. Calls `each` with the number of each channel and its events, bit n for
    /// [`EVENTS`] n.
    pub fn see<D: Design>(
        &mut self,
        pins: &D::In,
        after: &D::State,
        mut each: impl FnMut(usize, u64),
    ) {
        if all::<D>().is_empty() {
            return;
        }
        let (Watch { before, channels }, after) = (self, bytes_of(after));
        for (number, (channel, seen)) in zip(all::<D>(), channels).enumerate() {
            let beat = Beat::of::<D>(channel, before, pins, after);
            let values = |wire: &Wire| words::<D>(*wire, before, bytes_of(pins), after);
            let changes = || {
                let mut offered = seen.offered.iter().copied();
                !channel.payload.iter().flat_map(values).eq(&mut offered)
            };
            let stays = seen.waits && beat.valid && !changes();
            let withdrawn = seen.waits && !stays && !ends::<D>(channel, pins);
            let stalls = beat.stalls();
            seen.stalled = match stalls {
                true if stays => seen.stalled + 1,
                true => 1,
                false if beat.counts || !beat.waits => 0,
                false => seen.stalled,
            };
            let happens = [
                beat.transfers(),
                beat.transfers() && seen.transferred,
                stalls,
                stalls && seen.stalled >= LONG_STALL,
                beat.counts && beat.ready && !beat.valid,
                withdrawn,
            ];
            let events = zip(0.., happens).map(|(n, happens)| u64::from(happens) << n);
            each(number, events.sum());
            seen.transferred = match beat.counts || pins.is_reset() {
                true => beat.transfers(),
                false => seen.transferred,
            };
            seen.offered.clear();
            if beat.waits {
                let offered = channel.payload.iter().flat_map(values);
                seen.offered.extend(offered);
            }
            seen.waits = beat.waits;
        }
        before.copy_from_slice(after);
    }
}

/// Returns what each channel does in a cycle: of one that transfers or stalls the word for it and the payload; `beside_pins`, without a
/// payload of pins alone.
pub fn shown<D: Design>(
    before: &D::State,
    pins: &D::In,
    after: &D::State,
    beside_pins: bool,
) -> Vec<Option<String>> {
    let (before, after) = (bytes_of(before), bytes_of(after));
    let is_said = |channel: &Channel| {
        let mut payload = channel.payload.iter();
        beside_pins && payload.all(|wire| matches!(wire, Wire::Pin(_)))
    };
    let text = |channel: &Channel| {
        let beat = Beat::of::<D>(channel, before, pins, after);
        let does = match (beat.transfers(), beat.stalls()) {
            (true, _) => "transfers",
            (_, true) => "stalls",
            _ => return None,
        };
        let payload = match is_said(channel) {
            true => String::new(),
            false => payload_text::<D>(channel, before, pins, after),
        };
        Some(does.to_owned() + &payload)
    };
    all::<D>().iter().map(text).collect()
}

/// What the channels of a run do, as text signals of a dump.
#[derive(Clone, Debug)]
pub(crate) struct Texts {
    words: Words,
    /// The text of each channel in the last cycle.
    last: Vec<Option<String>>,
}

impl Texts {
    /// Begins a run of `D`.
    pub fn new<D: Design>() -> Self {
        let signals: Vec<String> = all::<D>().iter().map(|c| c.name.to_owned()).collect();
        Texts {
            last: vec![None; signals.len()],
            words: Words {
                signals,
                changes: Vec::new(),
            },
        }
    }

    /// Records cycle `cycle`, with the states before it and after it.
    pub fn see<D: Design>(
        &mut self,
        cycle: u64,
        before: &D::State,
        pins: &D::In,
        after: &D::State,
    ) {
        let does = shown::<D>(before, pins, after, false);
        for (signal, (last, does)) in zip(&mut self.last, does).enumerate() {
            let does = does.unwrap_or_else(|| "-".to_owned());
            if last.as_ref() != Some(&does) {
                let time = cycle * PERIOD_NS;
                self.words.changes.push((time, signal, does.clone()));
                *last = Some(does);
            }
        }
    }

    /// Returns the signals.
    pub fn words(self) -> Words {
        self.words
    }
}

/// Returns the payload of a channel in a cycle: ` data=0x3f last=1`.
pub(crate) fn payload_text<D: Design>(
    channel: &Channel,
    before: &[u8],
    pins: &D::In,
    after: &[u8],
) -> String {
    let payload = channel.payload.iter().map(|wire| {
        let values = words::<D>(*wire, before, bytes_of(pins), after);
        let (name, show): (_, &dyn Fn(u64) -> String) = match *wire {
            Wire::Pin(number) => {
                let pin = pin::<D>(number);
                (pin.name, &|value| pin.show(value))
            }
            Wire::Field { number, .. } => {
                let field = &D::fields()[number];
                match field.per_lane() {
                    true => (field.name, &|lanes| format!("0x{lanes:x}")),
                    false => (field.name, &field.show),
                }
            }
        };
        let values: Vec<String> = values.map(show).collect();
        format!(" {name}={}", values.join(","))
    });
    payload.collect()
}

/// What the bench has promised on the channels on which the design receives.
pub(crate) struct Offers<D: Design> {
    /// The state before the last cycle, and its pins; `None` in the first cycle.
    last: Option<(D::State, D::In)>,
}

impl<D: Design> Offers<D> {
    /// Begins a stream; `None` if the design has no channels, or the bench top keeps what is offered on them.
    pub fn new() -> Option<Self> {
        let here = !all::<D>().is_empty() && !D::DECLARATION.transactions;
        here.then_some(Offers { last: None })
    }

    /// Returns the pins that were offered in the last cycle and not taken, and those of that cycle; `now` is the state after it.
    /// With `kept` those that must stay, otherwise those that may be withdrawn: one list for each channel.
    fn waiting(
        &self,
        now: &D::State,
        kept: bool,
    ) -> Vec<(&'static Channel, Vec<&'static Pin>, D::In)> {
        let Some((before, pins)) = &self.last else {
            return Vec::new();
        };
        let of = all::<D>().iter().filter(|channel| {
            channel.side == Side::In
                && channel.withdraw != kept
                && Beat::of::<D>(channel, bytes_of(before), pins, bytes_of(now)).waits
        });
        let wires = |channel: &'static Channel| {
            let wires = [&channel.valid].into_iter().chain(channel.payload);
            let pins_of = wires.filter_map(|wire| match wire {
                Wire::Pin(number) => Some(pin::<D>(*number)),
                Wire::Field { .. } => None,
            });
            (channel, pins_of.collect(), *pins)
        };
        of.map(wires).collect()
    }

    /// Keeps in `pins` what waits for ready, unless they end it; `now` is the state before the cycle.
    pub fn hold(&self, now: &D::State, pins: &mut D::In) {
        for (channel, held, last) in self.waiting(now, true) {
            if !ends::<D>(channel, pins) {
                copy::<D>(&held, &last, pins);
            }
        }
    }

    /// Does the same of each channel on which an offer may be withdrawn, if `stays` says so.
    pub fn keep(&self, now: &D::State, pins: &mut D::In, mut stays: impl FnMut() -> bool) {
        for (_, held, last) in self.waiting(now, false) {
            if stays() {
                copy::<D>(&held, &last, pins);
            }
        }
    }

    /// Ends the cycle, in which the pins are these; `before` is the state before it.
    pub fn done(&mut self, before: &D::State, pins: &D::In) {
        self.last = Some((*before, *pins));
    }
}

/// Copies the words of `pins`.
fn copy<D: Design>(pins: &[&Pin], from: &D::In, to: &mut D::In) {
    for pin in pins {
        pin.copy(bytes_of(from), bytes_of_mut(to));
    }
}

/// What the design has promised on the channels on which it sends.
pub(crate) struct Promises<D: Design> {
    /// The state before the cycle; `None`: not known.
    before: Option<D::State>,
    /// The bits that are not specified in it.
    free: Option<D::State>,
    /// Which channels waited in the cycle before it.
    waited: Vec<bool>,
    /// The pins of the cycle.
    pins: D::In,
}

impl<D: Design> Promises<D> {
    pub fn new() -> Self {
        Promises {
            before: None,
            free: None,
            waited: vec![false; all::<D>().len()],
            pins: D::In::default(),
        }
    }

    /// Forgets what was promised: the design has got another state.
    pub fn forget(&mut self) {
        self.before = None;
        self.waited.fill(false);
    }

    /// Ends a cycle, after which the design shows the state `rtl`, in which the bits of `free` are not specified; `next` are the pins
    /// of the next one. Returns the channel whose promise `rtl` breaks, and the state that keeps it.
    pub fn see(
        &mut self,
        rtl: &D::State,
        free: Option<&D::State>,
        next: &D::In,
    ) -> Option<(&'static Channel, D::State)> {
        let pins = std::mem::replace(&mut self.pins, *next);
        let was_free = std::mem::replace(&mut self.free, free.copied());
        let before = self.before.replace(*rtl)?;
        let mut broken = None;
        let (was, is) = (bytes_of(&before), bytes_of(rtl));
        // What is not specified in one of the two cycles may change.
        let free = [was_free.as_ref(), free];
        let open = |at: usize| {
            free.iter()
                .flatten()
                .fold(0, |all, one| all | bytes_of(*one)[at])
        };
        let differs = |at: usize| (was[at] ^ is[at]) & !open(at);
        for (channel, waited) in zip(all::<D>(), &mut self.waited) {
            let waits = Beat::of::<D>(channel, was, &pins, is).waits;
            let did = std::mem::replace(waited, waits) && !ends::<D>(channel, &pins);
            if channel.side == Side::In || channel.withdraw || broken.is_some() {
                continue;
            }
            // A field of the next cycle was seen in this one, and one of this cycle in the one before.
            let changed = |wire: &Wire| match *wire {
                Wire::Field { number, now } if if now { did } else { waits } => {
                    let field = &D::fields()[number];
                    let bytes = field.offset..field.offset + field.size();
                    bytes.clone().any(|at| differs(at) != 0).then_some(bytes)
                }
                _ => None,
            };
            // Without valid there is no payload.
            let payload = || channel.payload.iter().filter_map(changed).collect();
            let bytes = changed(&channel.valid).map_or_else(payload, |valid| vec![valid]);
            if !bytes.is_empty() {
                let mut kept: D::State = pod_read_unaligned(is);
                for at in bytes.into_iter().flatten() {
                    bytes_of_mut(&mut kept)[at] ^= differs(at);
                }
                broken = Some((channel, kept));
            }
        }
        broken
    }
}
