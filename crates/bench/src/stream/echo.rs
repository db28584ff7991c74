//! Values that a design may wait for.

use rand::distr::Bernoulli;

use crate::design::{Random, ratio};
use crate::field::{Declaration, Field, Pin, Role, Shape};

/// Narrower values come up often enough by themselves.
const NARROW: u32 = 6;
/// How many values of pins are remembered.
const REMEMBERED: usize = 16;
/// How many are kept until the older ones are dropped, all at once.
const KEPT: usize = 64 * REMEMBERED;

/// Draws values that pins had before, values of fields, and literals of the RTL. It has random numbers of its own, so that all else is drawn
/// as without it.
pub(super) struct Echo {
    random: Random,
    /// How often it has a value in this phase.
    often: Bernoulli,
    /// The last values of pins, and some before them.
    seen: Vec<u64>,
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
            random: Random::new(!seed),
            often: ratio(0, 100),
            seen: Vec::new(),
            pins: design.pins.iter().filter(|pin| is_wide(pin)).collect(),
            fields: fields.filter(|f| f.width > NARROW).collect(),
            literals: design.literals,
        }
    }

    /// Begins a phase. In half of them all values are as the declaration of the pin says.
    pub fn phase(&mut self) {
        self.often = ratio([0, 0, 10, 50][self.random.below(4) as usize], 100);
    }

    /// Returns a value for a wide `pin` while the golden model is in `state`; `None` most of the time.
    #[inline]
    pub fn value(&mut self, pin: &Pin, state: &[u8]) -> Option<u64> {
        match self.random.is(&self.often) {
            true => self.waited(pin, state),
            false => None,
        }
    }

    /// Not inlined: in the loop over pins, which runs in every cycle, there would be too few registers.
    #[inline(never)]
    fn waited(&mut self, pin: &Pin, state: &[u8]) -> Option<u64> {
        let value = match self.random.below(3) {
            0 => {
                let old = self.seen.len().saturating_sub(REMEMBERED);
                *self.random.of(&self.seen[old..])?
            }
            1 => {
                let field = self.random.of(&self.fields)?;
                let word = self.random.below(field.words() as u64);
                field.word(state, word as usize)
            }
            _ => *self.random.of(self.literals)?,
        };
        let value = match self.random.below(8) {
            0 => value.wrapping_add(1),
            1 => value.wrapping_sub(1),
            _ => value,
        };
        let (least, most) = pin.range;
        let value = value & u64::MAX >> (64 - pin.width);
        (least..=most).contains(&value).then_some(value)
    }

    /// Remembers the values of `pins`.
    pub fn see(&mut self, pins: &[u8]) {
        for pin in &self.pins {
            let values = (0..pin.words()).map(|i| pin.get(pins, i));
            self.seen.extend(values);
        }
        if self.seen.len() > KEPT {
            self.forget();
        }
    }

    #[cold]
    fn forget(&mut self) {
        self.seen.drain(..self.seen.len() - REMEMBERED);
    }
}

/// Returns whether `pin` is a number of so many bits that values which the design waits for seldom come up by themselves.
pub(super) fn is_wide(pin: &Pin) -> bool {
    let number = matches!(pin.shape, Shape::Words { .. });
    number && pin.width > NARROW && pin.values.is_empty() && pin.role == Role::Plain
}
