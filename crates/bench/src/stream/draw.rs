//! Draws the pins of a stream.

use std::fmt::{self, Display, Formatter};
use std::hint::select_unpredictable;

use rand::{Rng, RngCore};
use rand_pcg::Pcg64Mcg;

use super::echo::{Echo, REMEMBERED, is_wide};
use super::{LONG_EVERY, LONG_RESET_EVERY, RESET_CYCLES, RESET_EVERY, STAYS};
use crate::field::{Declaration, Pin, Role, Shape, Wire};

/// How fast the pins of a stream change: its kind in a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Phases are short, and every cycle draws anew.
    Short,
    /// Phases are long, in some of them most pins stay as they are, and the reset comes seldom or never: the design reaches
    /// states that are many cycles from reset.
    Long,
}

impl Pace {
    /// Returns the pace of stream number `index` of a campaign.
    pub fn of(index: u64) -> Self {
        match index % LONG_EVERY == LONG_EVERY - 1 {
            true => Pace::Long,
            false => Pace::Short,
        }
    }
}

/// Prints the pace as it appears in the names of streams.
impl Display for Pace {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Pace::Short => "short",
            Pace::Long => "long",
        })
    }
}

/// Most cycles that are drawn at once: as many as a word has bits.
const AT_ONCE: usize = 64;

/// Draws pins. It has no type parameter, so that it is compiled once and not in the crate of each design. Many cycles are drawn at
/// once, pin by pin: drawing them one by one would spend most of its time on deciding how each pin is drawn.
pub(super) struct Draw {
    lanes: u32,
    pace: Pace,
    /// Cycles of the phase that are not drawn.
    left: usize,
    pins: Vec<Drawn>,
    resets: Chance,
    /// The pins of some cycles before, and of those drawn at once: the bytes of a struct for each.
    cycles: Vec<u8>,
    /// Where in `cycles` those drawn at once begin, in bytes, and where the next cycle is.
    begin: usize,
    next: usize,
    /// Pins, each with the cycles in which it stays as it is: bit n is cycle n of those drawn at once.
    stay: Vec<(&'static Pin, u64)>,
    /// The same of pins that have a value with which the design may compare.
    echoes: Vec<(&'static Pin, u64)>,
    echo: Echo,
}

/// How a pin is drawn.
struct Drawn {
    pin: &'static Pin,
    /// It is valid or ready of a channel: in some phases it is always 0, in some always 1.
    handshake: bool,
    /// How often it is 1 in this phase.
    ones: Chance,
    /// It keeps its value in most cycles of this phase.
    stays: bool,
}

/// How often something happens: so many times in 65536.
#[derive(Clone, Copy)]
pub(super) struct Chance(u32);

impl Chance {
    /// Returns the chance of `n` times in `of`.
    pub fn new(n: u32, of: u32) -> Self {
        Chance((n * 65536).div_ceil(of))
    }

    /// Draws whether it happens.
    fn happens(self, bits: &mut Bits) -> bool {
        bits.take(16) < u64::from(self.0)
    }

    /// Draws 64 bits, each of which is 1 so often, rounded up to a multiple of 1/256.
    fn mask(self, rng: &mut Pcg64Mcg) -> u64 {
        match self.0.div_ceil(256) {
            256 => u64::MAX,
            // Binary digits from the lowest on: OR turns a chance of p into (1 + p) / 2, AND into p / 2.
            share => (0..8).fold(0, |bits, digit| match share >> digit & 1 {
                1 => bits | rng.next_u64(),
                _ => bits & rng.next_u64(),
            }),
        }
    }

    /// Draws whether it happens in each of `count` cycles, at most 64: a bit for each.
    pub fn in_cycles(self, count: usize, rng: &mut Pcg64Mcg) -> u64 {
        let mut bits = Bits::of(rng);
        (0..count).fold(0, |cycles, cycle| {
            cycles | u64::from(self.happens(&mut bits)) << cycle
        })
    }
}

/// Hands out the bits of random numbers, a few at a time: to draw a number for each pin and cycle would take most of the time.
struct Bits<'a> {
    rng: &'a mut Pcg64Mcg,
    number: u64,
    left: u32,
}

impl<'a> Bits<'a> {
    fn of(rng: &'a mut Pcg64Mcg) -> Self {
        let (number, left) = (0, 0);
        Bits { rng, number, left }
    }

    /// Returns the next `count` bits; `count` is less than 64.
    fn take(&mut self, count: u32) -> u64 {
        if self.left < count {
            (self.number, self.left) = (self.rng.next_u64(), 64);
        }
        let bits = self.number & !(u64::MAX << count);
        self.number >>= count;
        self.left -= count;
        bits
    }

    /// Returns a number below `limit`, which is at most 65536: more would not be equally likely.
    fn below(&mut self, limit: u64) -> u64 {
        (self.take(32) * limit) >> 32
    }
}

impl Draw {
    /// Begins a stream with the seed `seed`.
    pub fn new(
        design: &'static Declaration,
        seed: u64,
        lanes: u32,
        pace: Pace,
        rng: &mut Pcg64Mcg,
    ) -> Self {
        let channels = design.channels.iter();
        let wires: Vec<Wire> = channels.flat_map(|one| [one.valid, one.ready]).collect();
        let pins = design.pins.iter().enumerate().map(|(number, pin)| Drawn {
            pin,
            handshake: wires.contains(&Wire::Pin(number)),
            ones: Chance(0),
            stays: false,
        });
        let resets = match pace {
            Pace::Short => Chance::new(1, RESET_EVERY),
            Pace::Long if rng.random_ratio(1, 3) => Chance::new(1, LONG_RESET_EVERY),
            Pace::Long => Chance(0),
        };
        Draw {
            lanes,
            pace,
            left: 0,
            pins: pins.collect(),
            resets,
            cycles: Vec::new(),
            begin: 0,
            next: 0,
            stay: Vec::new(),
            echoes: Vec::new(),
            echo: Echo::new(design, seed),
        }
    }

    fn phase(&mut self, rng: &mut Pcg64Mcg) {
        self.echo.phase();
        self.left = match self.pace {
            Pace::Short => rng.random_range(8..64),
            Pace::Long => rng.random_range(64..512),
        };
        for drawn in &mut self.pins {
            let often = drawn.pin.percent;
            let kind = rng.random_range(0..if drawn.handshake { 6 } else { 4 });
            let percent = match kind {
                4 => 0,
                5 => 100,
                0 => often.div_ceil(8),
                1 => 100 - (100 - often).div_ceil(8),
                _ => often,
            };
            drawn.ones = Chance::new(percent, 100);
            drawn.stays = self.pace == Pace::Long && rng.random_ratio(1, 4);
        }
    }

    /// Sets `pins` to those of the next cycle, before which the golden model is in `state`; both are the bytes of structs.
    pub fn pins(&mut self, state: &[u8], pins: &mut [u8], rng: &mut Pcg64Mcg) {
        let size = pins.len();
        if size == 0 {
            return;
        }
        if self.next == self.cycles.len() {
            self.draw_ahead(size, rng);
        }
        let (before, rest) = self.cycles.split_at_mut(self.next);
        let now = &mut rest[..size];
        let cycle = (self.next - self.begin) / size;
        for (pin, cycles) in &self.stay {
            if cycles >> cycle & 1 == 1
                && let Some(start) = before.len().checked_sub(size)
            {
                pin.copy(&before[start..], now);
            }
        }
        for (pin, cycles) in &self.echoes {
            if cycles >> cycle & 1 == 1 {
                self.echo.set(pin, now, before, state);
            }
        }
        pins.copy_from_slice(now);
        self.next += size;
    }

    /// Draws the next cycles, whose pins are structs of `size` bytes.
    #[inline(never)]
    fn draw_ahead(&mut self, size: usize, rng: &mut Pcg64Mcg) {
        let first = self.cycles.is_empty();
        if self.left == 0 {
            self.phase(rng);
        }
        let count = self.left.min(AT_ONCE);
        self.left -= count;
        let old = self.cycles.len().saturating_sub(size * REMEMBERED);
        self.cycles.drain(..old);
        (self.begin, self.next) = (self.cycles.len(), self.cycles.len());
        self.cycles.resize(self.begin + size * count, 0);
        self.stay.clear();
        self.echoes.clear();
        let mut values = [0; AT_ONCE];
        let values = &mut values[..count];
        for drawn in &self.pins {
            let pin = drawn.pin;
            for i in 0..pin.words() {
                match pin.role {
                    Role::Reset { asserted } => {
                        let mut bits = Bits::of(rng);
                        values.fill_with(|| match self.resets.happens(&mut bits) {
                            true => asserted,
                            false => 1 - asserted,
                        });
                        if first {
                            values[..RESET_CYCLES].fill(asserted);
                        }
                    }
                    // The schedule says it.
                    Role::Clock { .. } => values.fill(1),
                    Role::Stall | Role::Plain => drawn.draw(self.lanes, values, rng),
                }
                pin.set_all(&mut self.cycles[self.begin..], size, i, values);
            }
            let mut stay = 0;
            if drawn.stays && matches!(pin.role, Role::Stall | Role::Plain) {
                stay = Chance::new(STAYS - 1, STAYS).in_cycles(count, rng);
                self.stay.push((pin, stay));
            }
            if is_wide(pin) {
                let cycles = self.echo.cycles(count) & !stay;
                self.echoes.push((pin, cycles));
            }
        }
    }
}

impl Drawn {
    /// Sets `values` to those of a word of the pin in successive cycles.
    fn draw(&self, lanes: u32, values: &mut [u64], rng: &mut Pcg64Mcg) {
        let pin = self.pin;
        let mut bits = Bits::of(rng);
        match pin.shape {
            _ if !pin.values.is_empty() => values.fill_with(|| {
                let number = bits.below(pin.values.len() as u64);
                pin.values[number as usize]
            }),
            Shape::Words { .. } if pin.width > 1 => {
                let (least, most) = pin.range;
                match most - least {
                    last @ ..=0xffff => values.fill_with(|| least + bits.below(last + 1)),
                    _ => values.fill_with(|| rng.random_range(least..=most)),
                }
                at_the_ends(values, least, most, rng);
            }
            Shape::Words { .. } => {
                values.fill_with(|| u64::from(self.ones.happens(&mut bits)));
            }
            Shape::Planes(_) => {
                let most = pin.most(lanes);
                // With few lanes one number serves several cycles.
                for values in values.chunks_mut(64 / lanes as usize) {
                    let mut bits = self.ones.mask(rng);
                    for value in values {
                        *value = bits & most;
                        bits = bits.checked_shr(lanes).unwrap_or(0);
                    }
                }
                at_the_ends(values, 0, most, rng);
            }
        }
    }
}

/// Sets one in eight of `values` to `least`, and one in eight to `most`.
fn at_the_ends(values: &mut [u64], least: u64, most: u64, rng: &mut Pcg64Mcg) {
    let mut bits = Bits::of(rng);
    for value in values {
        let end = bits.take(3);
        let at_end = least + (most - least) * (end & 1);
        // No branch: a processor would guess it wrong.
        *value = select_unpredictable(end > 1, *value, at_end);
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// Counts how many of 64,000 bits are 1.
    fn ones(mut draw: impl FnMut(&mut Pcg64Mcg) -> u64) -> u32 {
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        (0..1_000).map(|_| draw(&mut rng).count_ones()).sum()
    }

    #[test]
    fn a_chance_of_0_never_happens_and_one_of_100_percent_always() {
        for (percent, all) in [(0, 0), (100, 64_000)] {
            let chance = Chance::new(percent, 100);
            assert_eq!(ones(|rng| chance.mask(rng)), all);
            assert_eq!(ones(|rng| chance.in_cycles(64, rng)), all);
        }
    }

    #[test]
    fn a_chance_happens_as_often_as_it_says() {
        for (n, of) in [
            (1, 2_000),
            (1, 200),
            (1, 100),
            (40, 100),
            (50, 100),
            (99, 100),
        ] {
            let exact = 64_000 * n / of;
            // Four standard deviations, and what the rounding adds.
            let spread = 4.0 * (f64::from(exact) * f64::from(of - n) / f64::from(of)).sqrt();
            let near = |drawn: u32, more: u32| {
                assert!(
                    f64::from(drawn.abs_diff(exact)) <= spread + f64::from(more),
                    "{n}/{of}: {drawn} of {exact}"
                );
            };
            near(ones(|rng| Chance::new(n, of).in_cycles(64, rng)), 1);
            near(ones(|rng| Chance::new(n, of).mask(rng)), 64_000 / 256);
        }
    }

    #[test]
    fn one_number_in_eight_is_the_least_and_one_the_greatest() {
        let mut values = vec![5; 80_000];
        at_the_ends(&mut values, 3, 9, &mut Pcg64Mcg::seed_from_u64(1));
        for (end, count) in [(3, 10_000_u32), (5, 60_000), (9, 10_000)] {
            let drawn = values.iter().filter(|value| **value == end).count();
            assert!((drawn as u32).abs_diff(count) < 500, "{end}: {drawn}");
        }
    }

    #[test]
    fn a_number_below_a_limit_may_be_each_of_them_and_is_not_the_limit() {
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        let mut bits = Bits::of(&mut rng);
        for limit in [1, 2, 3, 64] {
            let drawn: std::collections::BTreeSet<_> =
                (0..1_000).map(|_| bits.below(limit)).collect();
            assert!(drawn.into_iter().eq(0..limit));
        }
    }
}
