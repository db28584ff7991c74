//! Exhaustive exploration of a small build of a unit: finds every state that the unit can reach with a given set of pins (the
//! alphabet), and compares RTL and golden model in lock-step in every cycle with these pins from each of these states.
//!
//! A [`World`] defines the alphabet of a unit. [`Space`] finds the states with the golden model alone, breadth first.
//! [`check`] compares RTL and golden model in all cycles from some of the states. The program memory is not part of the
//! state: in every cycle any word of the alphabet may be at any address, which covers more than all programs.

#[cfg(feature = "rtl")]
pub mod check;
mod space;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use reconverge_bench::design::{Build, Control, Design};
use reconverge_bench::input::InputError;
use reconverge_program::program::{Pins, Programs};
pub use space::{Broken, Space, TooLarge};

/// Reset cycles at the beginning.
const RESET_CYCLES: usize = 2;

/// A limit of a world that is not a parameter of the RTL.
#[derive(Clone, Debug)]
pub struct Bound {
    /// Name of the limit for `--bound`.
    pub name: &'static str,
    /// Default value.
    pub default: u32,
    /// Allowed values.
    pub range: RangeInclusive<u32>,
    /// Description of what it limits.
    pub about: &'static str,
}

impl Bound {
    /// Returns the limit `name`.
    pub const fn new(
        name: &'static str,
        default: u32,
        range: RangeInclusive<u32>,
        about: &'static str,
    ) -> Self {
        Bound {
            name,
            default,
            range,
            about,
        }
    }
}

/// The small worlds of a unit.
pub struct Small<U: Design> {
    /// Default number of lanes.
    pub lanes: u32,
    /// Parameters whose default differs from that of the RTL, with their values.
    pub parameters: &'static [(&'static str, u32)],
    /// Further limits.
    pub bounds: &'static [Bound],
    /// Makes the world from a build and the values of all `bounds`, in their order.
    pub world: fn(&Build, &[u32]) -> Box<dyn World<U>>,
}

impl<U: Design> Small<U> {
    /// Returns the values of all bounds, in their order: the value in `given`, or the default.
    ///
    /// # Errors
    /// There is no such bound; a value out of its range.
    pub fn limits(&self, given: &BTreeMap<String, u32>) -> Result<Vec<u32>, InputError> {
        let bad = |why: String| Err(InputError::option("--bound", why));
        for (name, value) in given {
            let Some(bound) = self.bounds.iter().find(|b| b.name == name) else {
                let names: Vec<_> = self.bounds.iter().map(|b| b.name).collect();
                return bad(match names[..] {
                    [] => format!("{} has no bound {name}, only parameters", U::NAME),
                    _ => format!(
                        "{} has no bound {name}; there are {}",
                        U::NAME,
                        names.join(" ")
                    ),
                });
            };
            if !bound.range.contains(value) {
                let (least, most) = (bound.range.start(), bound.range.end());
                return bad(format!("{name} must be {least} to {most}, not {value}"));
            }
        }
        let value = |b: &Bound| given.get(b.name).copied().unwrap_or(b.default);
        Ok(self.bounds.iter().map(value).collect())
    }
}

/// The inputs of a unit in a small world, and the operations on its states.
pub trait World<U: Programs>: Send + Sync {
    /// Returns the cycles of the host writes between reset and the first launch. By default there are none.
    fn setup(&self) -> Vec<U::In> {
        Vec::new()
    }
    /// Returns every launch. The first one leads to a state in which a program runs.
    fn launches(&self) -> Vec<U::In>;
    /// Calls `each` with every combination of words and conditions for a cycle of a running unit in `state`. The caller adds
    /// stalls, cycles without an instruction, resets, and noise on pins that do not matter.
    fn steps(&self, state: &U::State, each: &mut dyn FnMut(U::In));
    /// Returns the states that put a unit into the state of `golden` when they are loaded in sequence; the last one is the
    /// state that `golden` shows. Two golden models with equal results behave identically.
    fn loads(&self, golden: &U::Golden) -> Vec<U::State>;
    /// Returns true if the state of `golden` belongs to the world. A state outside is compared, but not explored further.
    fn inside(&self, _golden: &U::Golden) -> bool {
        true
    }
    /// Returns the rule id of an invariant that is violated in the state of `golden`.
    fn broken(&self, golden: &U::Golden) -> Option<&'static str>;
    /// Returns the pins of a cycle that makes hidden parts of the state of `golden` visible; `None` if nothing is hidden, or if
    /// the hidden parts can have no effect.
    fn reveal(&self, _golden: &U::Golden) -> Option<U::In> {
        None
    }
}

/// Returns every subset of `mask`, the empty one first.
pub fn subsets(mask: u64) -> impl Iterator<Item = u64> {
    let mut next = Some(0_u64);
    std::iter::from_fn(move || {
        let now = next?;
        next = (now != mask).then(|| now.wrapping_sub(mask) & mask);
        Some(now)
    })
}

/// Returns the cycles that lead to the first state: reset and host writes.
pub fn head<U: Programs>(world: &dyn World<U>) -> Vec<U::In> {
    let mut head = vec![U::In::reset(); RESET_CYCLES];
    head.extend(world.setup());
    head
}

/// Returns the pins of every cycle from `state`: steps and a cycle without an instruction, or launches and an idle cycle; a
/// stalled cycle; a reset. With `noise`, pins that must not matter get noise that depends only on `noise`, the bytes of the
/// state in a [`Space`].
pub fn transitions<U: Programs>(
    world: &dyn World<U>,
    state: &U::State,
    noise: Option<&[u8]>,
) -> Vec<U::In> {
    let mut all = Vec::new();
    let running = U::running(state);
    if running {
        world.steps(state, &mut |pins| all.push(pins));
        let mut starved = all.first().copied().unwrap_or_default();
        starved.starve();
        all.push(starved);
    } else {
        all.extend(world.launches());
        all.push(U::In::default());
    }
    let mut stalled = all.first().copied().unwrap_or_default();
    stalled.set_stall(true);
    all.push(stalled);
    all.push(U::In::reset());
    if let Some(bytes) = noise {
        let key = space::hash(bytes);
        for (n, pins) in (0..).zip(&mut all) {
            pins.scramble(running, &mut Pcg64Mcg::seed_from_u64(key.wrapping_add(n)));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subsets_are_all_there_in_order() {
        assert_eq!(subsets(0b101).collect::<Vec<_>>(), [0, 1, 0b100, 0b101]);
        assert_eq!(subsets(0).collect::<Vec<_>>(), [0]);
    }
}
