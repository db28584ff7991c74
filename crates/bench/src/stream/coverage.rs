//! Coverage of streams: every bit of every pin and field that was 0 and that was 1, the values of narrow ones, and what happened to
//! channels.

use std::fmt::{self, Display, Formatter};
use std::marker::PhantomData;

use bytemuck::bytes_of;

use super::clocks::rises_always;
use crate::bins::{Cover, Sampler};
use crate::channels::{EVENTS, Watch, possible};
use crate::design::{Build, Control, Design};
use crate::field::{Field, Pin, Role, Shape, word};
use crate::lockstep::Seen;
use crate::quantity::counted;

/// Widest pin or field for which each value is recorded.
const VALUES: u32 = 6;

/// What one pin or field reached, over all its elements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Met {
    /// Bits that were 1.
    pub ones: u64,
    /// Bits that were 0.
    pub zeros: u64,
    /// Values reached, if the pin or field is narrow: bit v for value v.
    pub values: u64,
    /// An element had another value than in the first cycle.
    pub changed: bool,
}

impl Met {
    fn see(&mut self, value: u64, bits: u64, width: u32) {
        self.ones |= value & bits;
        self.zeros |= !value & bits;
        if width <= VALUES {
            self.values |= 1 << (value & 63);
        }
    }

    /// Returns what a pin or field with these bits can reach at most.
    fn all(bits: u64) -> Self {
        let values = match bits.count_ones() {
            width @ 0..=VALUES => u64::MAX >> (64 - (1 << width)),
            _ => 0,
        };
        Met {
            ones: bits,
            zeros: bits,
            values,
            changed: true,
        }
    }
}

/// Toggle and value coverage of a design.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    build: Build,
    /// Which bins of the groups of the declaration were hit, one group after the other.
    pub bins: Vec<bool>,
    /// Pins, in the order of the declaration.
    pub pins: Vec<Met>,
    /// Fields, in the order of the declaration.
    pub fields: Vec<Met>,
    /// What happened to each channel: bit n for [`EVENTS`] n.
    pub channels: Vec<u64>,
    /// Cycles observed.
    pub cycles: u64,
    /// Cycles of these in which the reset was asserted.
    pub resets: u64,
}

/// Observes the cycles of a stream: what its [`Coverage`] is.
pub struct Observer<D> {
    coverage: Coverage,
    sampler: Sampler,
    watch: Watch,
    pins: Reached,
    fields: Reached,
    design: PhantomData<fn() -> D>,
}

impl<D: Design> Observer<D> {
    /// Begins a stream of a design with `build`, such as a number of lanes.
    pub fn new(build: impl Into<Build>) -> Self {
        let build = build.into();
        let pins = D::DECLARATION.pins.iter();
        let pins = pins.map(|pin| (pin.most(build.lanes), pin.offset, pin.shape));
        let fields = D::fields().iter();
        let fields = fields.map(|field| (bits(field, build.lanes), field.offset, field.shape));
        Observer {
            sampler: Sampler::new::<D>(&build, 0, |_| true),
            watch: Watch::new::<D>(),
            pins: Reached::new(size_of::<D::In>(), pins),
            fields: Reached::new(size_of::<D::State>(), fields),
            coverage: Coverage::new::<D>(build),
            design: PhantomData,
        }
    }

    /// Records a cycle.
    pub fn see(&mut self, cycle: &Seen<D>) {
        let Seen {
            pins,
            state,
            points,
            ..
        } = *cycle;
        let Coverage { channels, bins, .. } = &mut self.coverage;
        self.watch
            .see::<D>(pins, state, |channel, events| channels[channel] |= events);
        self.sampler
            .see::<D>(pins, state, points, |bin| bins[bin] = true);
        self.coverage.cycles += 1;
        self.coverage.resets += u64::from(pins.is_reset());
        self.pins.see(bytes_of(pins));
        self.fields.see(bytes_of(state));
    }

    /// Returns the coverage of the cycles so far.
    pub fn coverage(&self) -> Coverage {
        Coverage {
            pins: self.pins.met(),
            fields: self.fields.met(),
            ..self.coverage.clone()
        }
    }
}

/// What was seen of a struct with all pins, or all fields.
struct Reached {
    /// For each eight bytes of the struct the bits that were 1, and those that were 0.
    bits: Vec<[u64; 2]>,
    /// What is in the struct, in the order of the declaration.
    items: Vec<Part>,
    /// The elements whose values are recorded: number of the pin or field, offset, and bytes.
    narrow: Vec<(usize, usize, usize)>,
}

/// Where a pin or a field lies in its struct.
struct Part {
    /// The significant bits of one element.
    bits: u64,
    offset: usize,
    shape: Shape,
    /// Values reached, as in [`Met`].
    values: u64,
}

impl Part {
    /// Returns the elements that are in `bytes`.
    fn words(&self, bytes: &[u8]) -> impl Iterator<Item = u64> {
        self.offsets().map(|at| word(bytes, at, self.shape.bytes()))
    }

    /// Returns where they are.
    fn offsets(&self) -> impl Iterator<Item = usize> {
        (0..self.shape.words()).map(|i| self.offset + self.shape.bytes() * i)
    }
}

impl Reached {
    /// Begins with a struct of `size` bytes. Of what is in it come the bits of an element, the offset and the layout.
    fn new(size: usize, items: impl Iterator<Item = (u64, usize, Shape)>) -> Self {
        let part = |(bits, offset, shape)| Part {
            bits,
            offset,
            shape,
            values: 0,
        };
        let items: Vec<Part> = items.map(part).collect();
        let narrow = items.iter().enumerate();
        let narrow = narrow.filter(|(_, item)| item.bits.count_ones() <= VALUES);
        let narrow = narrow.flat_map(|(number, item)| {
            let size = item.shape.bytes();
            item.offsets().map(move |at| (number, at, size))
        });
        Reached {
            bits: vec![[0; 2]; size.div_ceil(8)],
            narrow: narrow.collect(),
            items,
        }
    }

    /// Records the struct of a cycle. All its bits at once: to take it apart in every cycle was most of the time of a stream.
    fn see(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        for (seen, bytes) in self.bits.iter_mut().zip(words.iter().chain([&last])) {
            let word = u64::from_le_bytes(*bytes);
            seen[0] |= word;
            seen[1] |= !word;
        }
        for (item, at, size) in &self.narrow {
            self.items[*item].values |= 1 << (word(bytes, *at, *size) & 63);
        }
    }

    /// Returns what each pin or field met.
    fn met(&self) -> Vec<Met> {
        let side = |n: usize| self.bits.iter().flat_map(move |seen| seen[n].to_le_bytes());
        let [zeros, ones]: [Vec<u8>; 2] = [1, 0].map(|n| side(n).collect());
        let met = |item: &Part| {
            let all = |bytes| item.words(bytes).fold(0, |all, word| all | word) & item.bits;
            let mut both = std::iter::zip(item.words(&ones), item.words(&zeros));
            Met {
                ones: all(&ones),
                zeros: all(&zeros),
                values: item.values,
                // A bit that was 0 and 1 had another value than in the first cycle.
                changed: both.any(|(ones, zeros)| ones & zeros != 0),
            }
        };
        self.items.iter().map(met).collect()
    }
}

impl Coverage {
    /// Returns empty coverage of `D` with `build`, such as a number of lanes.
    pub fn new<D: Design>(build: impl Into<Build>) -> Self {
        Coverage {
            build: build.into(),
            bins: vec![false; D::DECLARATION.covers.iter().map(Cover::bins).sum()],
            pins: vec![Met::default(); D::DECLARATION.pins.len()],
            fields: vec![Met::default(); D::fields().len()],
            channels: vec![0; D::DECLARATION.channels.len()],
            cycles: 0,
            resets: 0,
        }
    }

    /// Returns the coverage in which every bit, value and bin of a design with `build` is reached that the declarations allow.
    pub fn all<D: Design>(build: impl Into<Build>) -> Self {
        let mut none = Self::new::<D>(build);
        let hits = none.hits::<D>().into_iter();
        none.bins = hits.map(|bin| bin.unreachable.is_none()).collect();
        let lanes = none.build.lanes;
        let pins = D::DECLARATION.pins.iter();
        let fields = D::fields().iter();
        Coverage {
            pins: pins.map(|pin| reach::<D>(pin, lanes)).collect(),
            fields: fields.map(|field| Met::all(bits(field, lanes))).collect(),
            channels: D::DECLARATION.channels.iter().map(possible).collect(),
            ..none
        }
    }

    /// Returns what was reached as words, which are united when coverage is added up: four for each pin and each field, with the
    /// bits that were 1, the bits that were 0, the values, and bit 0 if it changed; then one for each channel; then the bins of the
    /// groups, 64 in each.
    pub fn words(&self) -> Vec<u64> {
        let items = self.pins.iter().chain(&self.fields);
        let words = items.flat_map(|met| [met.ones, met.zeros, met.values, met.changed.into()]);
        let bits = |bins: &[bool]| {
            (0..)
                .zip(bins)
                .fold(0, |word, (n, hit)| word | u64::from(*hit) << n)
        };
        let channels = self.channels.iter().copied();
        words
            .chain(channels)
            .chain(self.bins.chunks(64).map(bits))
            .collect()
    }

    /// Returns the coverage with these [`Coverage::words`], of no cycles; words that are missing are 0.
    pub fn of_words<D: Design>(
        build: impl Into<Build>,
        words: impl IntoIterator<Item = u64>,
    ) -> Self {
        let mut words = words.into_iter();
        let mut next = || words.next().unwrap_or(0);
        let mut coverage = Self::new::<D>(build);
        for met in coverage.pins.iter_mut().chain(&mut coverage.fields) {
            *met = Met {
                ones: next(),
                zeros: next(),
                values: next(),
                changed: next() != 0,
            };
        }
        coverage.channels.fill_with(&mut next);
        for bins in coverage.bins.chunks_mut(64) {
            let word = next();
            for (n, bin) in bins.iter_mut().enumerate() {
                *bin = word >> n & 1 == 1;
            }
        }
        coverage
    }

    /// Returns how many bits of the pins and of the fields were 0 and 1, of both kinds together, and how many events of channels
    /// happened.
    pub fn reached(&self) -> [usize; 3] {
        let [pins, fields] = [&self.pins, &self.fields].map(|all| {
            let bits = all
                .iter()
                .map(|met| met.ones.count_ones() + met.zeros.count_ones());
            bits.sum::<u32>() as usize
        });
        let events = self.channels.iter().map(|events| events.count_ones());
        [pins, fields, events.sum::<u32>() as usize]
    }

    /// Returns what was never reached, one line each: `pin data: bit 7 was never 1`, `channel req: no back-to-back`. Empty if every
    /// bit of every pin and field was 0 and was 1, everything has happened to every channel, and every bin was hit, unless the
    /// declaration excludes it.
    pub fn missing<D: Design>(&self) -> Vec<String> {
        let pin = |(pin, met): (&Pin, &Met)| {
            let reach = reach::<D>(pin, self.build.lanes);
            gaps("pin", pin.name, &reach, met)
        };
        let field = |(field, met): (&Field, &Met)| {
            let reach = Met::all(bits(field, self.build.lanes));
            gaps("field", field.name, &reach, met)
        };
        let pins = D::DECLARATION.pins.iter().zip(&self.pins).flat_map(pin);
        let channels = D::DECLARATION.channels.iter().zip(&self.channels);
        let channels = channels.flat_map(|(channel, met)| {
            let never = events(possible(channel) & !met);
            never.map(|event| format!("channel {}: no {event}", channel.name))
        });
        let fields = D::fields().iter().zip(&self.fields).flat_map(field);
        let bin = |bin: Hit| {
            let never = !bin.hit && bin.unreachable.is_none();
            never.then(|| format!("cover {}: {} was never hit", bin.cover.name, bin.name()))
        };
        let bins = self.hits::<D>().into_iter().filter_map(bin);
        pins.chain(fields).chain(channels).chain(bins).collect()
    }

    /// Returns the bins that were hit although they are declared unreachable, one line each with the reason. Empty if there are none.
    pub fn impossible<D: Design>(&self) -> Vec<String> {
        let line = |bin: Hit| {
            let why = bin.unreachable.filter(|_| bin.hit)?;
            let (cover, name) = (bin.cover.name, bin.name());
            Some(format!(
                "cover {cover}: {name} was hit, and is declared unreachable: {why}"
            ))
        };
        self.hits::<D>().into_iter().filter_map(line).collect()
    }

    /// Returns every bin of the groups, in the order of the declaration.
    pub fn hits<D: Design>(&self) -> Vec<Hit> {
        let covers = D::DECLARATION.covers.iter();
        let all = covers.flat_map(|cover| (0..cover.bins()).map(move |bin| (cover, bin)));
        let hits = all.zip(&self.bins).map(|((cover, bin), hit)| Hit {
            cover,
            bin,
            hit: *hit,
            unreachable: cover.unreachable::<D>(bin, &self.build),
        });
        hits.collect()
    }

    /// Returns what makes an agreement worth little, one line each: the design was held in reset, a pin or a field never changed,
    /// a channel had no transfer.
    /// Empty if there is nothing of the kind.
    pub fn idle<D: Design>(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.resets > self.cycles / 2 {
            lines.push(format!(
                "the reset was asserted in {} of {} cycles: little else was compared",
                self.resets, self.cycles
            ));
        }
        let still = |met: &Met| !met.changed;
        let pins = D::DECLARATION.pins.iter().zip(&self.pins);
        let pins = pins
            .filter(|(pin, met)| still(met) && reach::<D>(pin, self.build.lanes).changed)
            .map(|(pin, _)| format!("pin {}", pin.name));
        let fields = D::fields().iter().zip(&self.fields);
        let fields: Vec<_> = fields.filter(|(_, met)| still(met)).collect();
        if fields.len() == D::fields().len() {
            lines.push(
                "no field ever changed: the streams, or the golden model, do nothing".to_owned(),
            );
        }
        let fields = fields
            .into_iter()
            .map(|(field, _)| format!("field {}", field.name));
        let hits = self.hits::<D>();
        let covers = hits.chunk_by(|a, b| std::ptr::eq(a.cover, b.cover));
        let covers = covers.filter(|bins| !bins.iter().any(|bin| bin.hit));
        let covers: Vec<_> = covers
            .map(|bins| format!("cover {}: no bin was hit", bins[0].cover.name))
            .collect();
        lines.extend(
            pins.chain(fields)
                .map(|what| format!("{what} never changed")),
        );
        let channels = D::DECLARATION.channels.iter().zip(&self.channels);
        let silent = channels.filter(|(_, met)| *met & 1 == 0);
        lines.extend(silent.map(|(channel, _)| format!("channel {}: no transfer", channel.name)));
        lines.extend(covers);
        lines
    }

    /// Returns the coverage as a readable table.
    pub fn table<D: Design>(&self) -> Table {
        let lanes = self.build.lanes;
        let row =
            |kind, name: &str, bits: u64, reach: Met, met: &Met, show: &dyn Fn(u64) -> String| {
                let toggle = reach.ones & reach.zeros;
                Row {
                    name: format!("{kind} {name}"),
                    bits: toggle.count_ones(),
                    toggled: (met.ones & met.zeros & toggle).count_ones(),
                    values: values(met, bits, show),
                }
            };
        let pins = D::DECLARATION.pins.iter().zip(&self.pins);
        let pins = pins.map(|(pin, met)| {
            let (bits, reach) = (pin.most(lanes), reach::<D>(pin, lanes));
            let show = |v: u64| pin.named.map_or_else(|| v.to_string(), |named| named(v));
            row("pin", pin.name, bits, reach, met, &show)
        });
        let fields = D::fields().iter().zip(&self.fields);
        let fields = fields.map(|(field, met)| {
            let bits = bits(field, lanes);
            row("field", field.name, bits, Met::all(bits), met, &field.show)
        });
        let channels = D::DECLARATION.channels.iter().zip(&self.channels);
        let channels = channels.map(|(channel, met)| Row {
            name: format!("channel {}", channel.name),
            bits: possible(channel).count_ones(),
            toggled: (met & possible(channel)).count_ones(),
            values: Some(events(*met).collect::<Vec<_>>().join(", ")),
        });
        let hits = self.hits::<D>();
        let covers = hits.chunk_by(|a, b| std::ptr::eq(a.cover, b.cover));
        let covers = covers.filter_map(|bins| {
            let reachable = bins.iter().filter(|bin| bin.unreachable.is_none());
            Some(Row {
                name: format!("cover {}", bins.first()?.cover.name),
                bits: reachable.clone().count() as u32,
                toggled: reachable.filter(|bin| bin.hit).count() as u32,
                values: None,
            })
        });
        Table {
            cycles: self.cycles,
            rows: pins.chain(fields).chain(channels).chain(covers).collect(),
        }
    }
}

/// Returns the names of these events.
fn events(of: u64) -> impl Iterator<Item = &'static str> {
    let named = (0..).zip(EVENTS);
    named.filter_map(move |(n, event)| (of >> n & 1 == 1).then_some(event))
}

/// A bin of a group of the declaration.
#[derive(Clone, Copy, Debug)]
pub struct Hit {
    /// Its group.
    pub cover: &'static Cover,
    /// Its number in the group.
    pub bin: usize,
    /// Whether it was hit.
    pub hit: bool,
    /// Why it cannot be hit, if it is declared unreachable.
    pub unreachable: Option<&'static str>,
}

impl Hit {
    /// Returns each axis of its group with the value of the bin.
    pub fn name(&self) -> String {
        self.cover.name_of(self.bin)
    }
}

/// Returns what drawn streams reach of `pin` at most: of an enum its values, of a range what lies in it, of a clock that rises whenever
/// another one does only 1.
fn reach<D: Design>(pin: &Pin, lanes: u32) -> Met {
    let bits = pin.most(lanes);
    let width = bits.count_ones();
    let mut met = Met::default();
    if !pin.values.is_empty() {
        met.changed = pin.values.len() > 1;
        let values = pin.values.iter();
        values.for_each(|value| met.see(*value, bits, width));
        return met;
    }
    let (least, most) = match pin.role {
        Role::Clock { .. } => (u64::from(rises_always::<D>(pin)), 1),
        _ => (pin.range.0, pin.range.1 & bits),
    };
    if width <= VALUES {
        (least..=most).for_each(|value| met.see(value, bits, width));
    }
    // Both bounds have the same bits above the highest one in which they differ, and what is between them has all of the rest.
    let top = (least ^ most).checked_ilog2();
    let free = top.map_or(0, |top| u64::MAX >> (63 - top));
    Met {
        ones: least | free,
        zeros: (!least | free) & bits,
        changed: least != most,
        ..met
    }
}

/// A pin or a field; of a list of elements the bits of one.
pub struct Item {
    /// Its name.
    pub name: &'static str,
    /// Its number of bits.
    pub width: u32,
    /// The bits that can be 0, and those that can be 1, by the declaration of the pin.
    pub reached: [u64; 2],
}

/// Returns every pin and then every field of a design with `lanes` lanes, in the order of the declaration.
pub fn items<D: Design>(lanes: u32) -> Vec<Item> {
    let pins = D::DECLARATION.pins.iter();
    let pins = pins.map(|pin| (pin.name, pin.most(lanes), reach::<D>(pin, lanes)));
    let fields = D::fields().iter();
    let fields = fields.map(|field| {
        let bits = bits(field, lanes);
        (field.name, bits, Met::all(bits))
    });
    let item = |(name, bits, met): (_, u64, Met)| Item {
        name,
        width: bits.count_ones(),
        reached: [met.zeros, met.ones],
    };
    pins.chain(fields).map(item).collect()
}

/// Calls `item` with each word of the pins and of the state, and the number of its pin or field in [`items`].
pub fn each_word<D: Design>(pins: &D::In, state: &D::State, mut item: impl FnMut(usize, u64)) {
    let declared = D::DECLARATION.pins;
    for (number, pin) in declared.iter().enumerate() {
        (0..pin.words()).for_each(|i| item(number, pin.get(bytes_of(pins), i)));
    }
    for (number, field) in D::fields().iter().enumerate() {
        let number = declared.len() + number;
        (0..field.words()).for_each(|i| item(number, field.word(bytes_of(state), i)));
    }
}

/// Returns the mask of the bits of one word of `field` with `lanes` lanes; a plane has one bit per lane.
fn bits(field: &Field, lanes: u32) -> u64 {
    match field.shape {
        Shape::Planes(_) => ones(lanes),
        Shape::Words { .. } => ones(field.width),
    }
}

fn ones(width: u32) -> u64 {
    u64::MAX >> (64 - width.clamp(1, 64))
}

fn gaps(kind: &str, name: &str, reach: &Met, met: &Met) -> Vec<String> {
    let lines = |never: u64, what: u32| {
        let numbers = (0..64).filter(move |bit| never >> bit & 1 == 1);
        numbers.map(move |bit| format!("{kind} {name}: bit {bit} was never {what}"))
    };
    let zeros = lines(reach.zeros & !met.zeros, 0);
    lines(reach.ones & !met.ones, 1).chain(zeros).collect()
}

fn values(met: &Met, bits: u64, show: &dyn Fn(u64) -> String) -> Option<String> {
    if !(2..=VALUES).contains(&bits.count_ones()) {
        return None;
    }
    let met = (0..64).filter(|v| met.values >> v & 1 == 1).map(show);
    Some(met.collect::<Vec<_>>().join(" "))
}

/// A line of a table.
#[derive(Clone, Debug)]
struct Row {
    name: String,
    bits: u32,
    toggled: u32,
    values: Option<String>,
}

/// The coverage as a readable table: bits that were 0 and 1, and values of narrow fields.
#[derive(Clone, Debug)]
pub struct Table {
    cycles: u64,
    rows: Vec<Row>,
}

impl Display for Table {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "coverage of {}: bits that were 0 and 1, values",
            counted(self.cycles, "cycle")
        )?;
        let width = self
            .rows
            .iter()
            .map(|row| row.name.len())
            .max()
            .unwrap_or(0);
        for Row {
            name,
            bits,
            toggled,
            values,
        } in &self.rows
        {
            let values = values.as_deref().unwrap_or_default();
            let line = format!("  {name:<width$}  {toggled:>3} of {bits:<3} {values}");
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
