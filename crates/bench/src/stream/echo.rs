//! Values that a design may wait for.

use std::marker::PhantomData;

use bytemuck::bytes_of;

use crate::design::{Design, Random};
use crate::field::{Field, Pin, Role, Shape};

/// Narrower values come up often enough by themselves.
const NARROW: u32 = 6;
/// How many values of pins are remembered.
const REMEMBERED: usize = 16;

/// Draws values that pins had before, values of fields, and literals of the RTL. It has random numbers of its own, so that all else is drawn
/// as without it.
pub(super) struct Echo<D> {
    random: Random,
    /// How often it has a value in this phase, in percent.
    percent: u32,
    /// The last values of pins.
    seen: Vec<u64>,
    /// The fields that are numbers.
    fields: Vec<&'static Field>,
    literals: &'static [u64],
    design: PhantomData<fn() -> D>,
}

impl<D: Design> Echo<D> {
    /// Begins a stream with the seed `seed`.
    pub fn new(seed: u64) -> Self {
        let number = |field: &&Field| matches!(field.shape, Shape::Words { .. });
        Echo {
            random: Random::new(!seed),
            percent: 0,
            seen: Vec::new(),
            fields: D::fields()
                .iter()
                .filter(number)
                .filter(|f| f.width > NARROW)
                .collect(),
            literals: D::DECLARATION.literals,
            design: PhantomData,
        }
    }

    /// Begins a phase. In half of them all values are as the declaration of the pin says.
    pub fn phase(&mut self) {
        self.percent = [0, 0, 10, 50][self.random.below(4) as usize];
    }

    /// Returns a value for `pin` while the golden model is in `state`; `None` most of the time, and for narrow pins.
    pub fn value(&mut self, pin: &Pin, state: &D::State) -> Option<u64> {
        if !is_wide(pin) || !self.random.percent(self.percent) {
            return None;
        }
        let value = match self.random.below(3) {
            0 => *self.random.of(&self.seen)?,
            1 => {
                let field = self.random.of(&self.fields)?;
                let word = self.random.below(field.words() as u64);
                field.word(bytes_of(state), word as usize)
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
    pub fn see(&mut self, pins: &D::In) {
        for pin in D::DECLARATION.pins.iter().filter(|pin| is_wide(pin)) {
            let values = (0..pin.words()).map(|i| pin.get(bytes_of(pins), i));
            self.seen.extend(values);
        }
        let old = self.seen.len().saturating_sub(REMEMBERED);
        self.seen.drain(..old);
    }
}

fn is_wide(pin: &Pin) -> bool {
    let number = matches!(pin.shape, Shape::Words { .. });
    number && pin.width > NARROW && pin.values.is_empty() && pin.role == Role::Plain
}
