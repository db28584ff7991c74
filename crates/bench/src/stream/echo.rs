//! Values with which a design may compare.

use rand::seq::{IndexedRandom, IteratorRandom};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::draw::Chance;
use crate::field::{Declaration, Field, Pin, Role, Shape};

/// Pins of at most this many bits take every value often enough by themselves.
const NARROW: u32 = 6;
/// Values of pins are taken from this many of the last cycles.
pub(super) const REMEMBERED: usize = 16;

/// Draws values that pins had before, values of fields, and literals of the RTL. It has random numbers of its own, so that all else is drawn
/// as without it.
pub(super) struct Echo {
    rng: Pcg64Mcg,
    /// How often it has a value in this phase.
    often: Chance,
    /// The pins whose values are remembered.
    pins: Vec<&'static Pin>,
    /// The fields that are numbers.
    fields: Vec<&'static Field>,
    literals: &'static [u64],
}

impl Echo {
    /// Begins a stream with the seed `seed`.
    pub fn new(design: &'static Declaration, seed: u64) -> Self {
        let number = |field: &&Field| matches!(field.shape, Shape::Words { .. });
        let fields = design.fields.iter().filter(number);
        Echo {
            rng: Pcg64Mcg::seed_from_u64(!seed),
            often: Chance::new(0, 100),
            pins: design.pins.iter().filter(|pin| is_wide(pin)).collect(),
            fields: fields.filter(|f| f.width > NARROW).collect(),
            literals: design.literals,
        }
    }

    /// Begins a phase. In half of them all values are as the declaration of the pin says.
    pub fn phase(&mut self) {
        self.often = Chance::new([0, 0, 10, 50][self.rng.random_range(0..4)], 100);
    }

    /// Draws in which of the next `count` cycles, at most 64, a pin has such a value: a bit for each.
    pub fn cycles(&mut self, count: usize) -> u64 {
        self.often.in_cycles(count, &mut self.rng)
    }

    /// Sets `pin` in `pins` to such a value if there is one that the pin may have. `before` are the pins of the cycles before, as they were
    /// drawn; the golden model is in `state`. Not inlined: most cycles have no such value.
    #[inline(never)]
    pub fn set(&mut self, pin: &Pin, pins: &mut [u8], before: &[u8], state: &[u8]) {
        let words = pin.words();
        for i in 0..words {
            // Of several words about half.
            if (words == 1 || self.rng.random())
                && let Some(value) = self.value(pin, pins.len(), before, state)
            {
                pin.set(pins, i, value);
            }
        }
    }

    fn value(&mut self, pin: &Pin, size: usize, before: &[u8], state: &[u8]) -> Option<u64> {
        let rng = &mut self.rng;
        let value = match rng.random_range(0..3) {
            0 => {
                let cycle = before.rchunks_exact(size).take(REMEMBERED).choose(rng)?;
                let seen = self.pins.choose(rng)?;
                seen.get(cycle, rng.random_range(0..seen.words()))
            }
            1 => {
                let field = self.fields.choose(rng)?;
                field.word(state, rng.random_range(0..field.words()))
            }
            _ => *self.literals.choose(rng)?,
        };
        let value = match rng.random_range(0..8) {
            0 => value.wrapping_add(1),
            1 => value.wrapping_sub(1),
            _ => value,
        };
        let (least, most) = pin.range;
        let value = value & u64::MAX >> (64 - pin.width);
        (least..=most).contains(&value).then_some(value)
    }
}

/// Returns whether `pin` is a number of so many bits that values with which the design compares seldom come up by themselves.
pub(super) fn is_wide(pin: &Pin) -> bool {
    let number = matches!(pin.shape, Shape::Words { .. });
    number && pin.width > NARROW && pin.values.is_empty() && pin.role == Role::Plain
}
