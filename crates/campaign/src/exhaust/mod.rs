//! Exhaustive exploration of a small world: every state that a small build of a unit can reach under an alphabet of pins, and
//! from each of them every cycle with these pins, RTL against golden model in lock-step.
//!
//! A [`World`] says what a unit takes for its alphabet; [`Space`] finds the states with the golden model alone, breadth first;
//! [`check`] takes RTL and golden model through all cycles of some of them. The memory of a program is no part of the state:
//! any word of the alphabet may stand at any address in any cycle, which is more than all programs do.

#[cfg(feature = "rtl")]
pub mod check;
mod space;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use crate::design::{Build, Control, Design};
use crate::input::InputError;
use crate::program::{Pins, Programs};
pub use space::{Broken, Space, TooLarge};

/// Cycles of reset before anything else.
const RESET_CYCLES: usize = 2;

/// A limit of a world that is no parameter of the RTL.
#[derive(Clone, Debug)]
pub struct Bound {
    /// Its name, as `--bound` takes it.
    pub name: &'static str,
    /// What it is unless asked for otherwise.
    pub default: u32,
    /// What it may be.
    pub range: RangeInclusive<u32>,
    /// What it limits.
    pub about: &'static str,
}

/// The small worlds of a unit.
pub struct Small<U: Design> {
    /// Lanes, unless asked for otherwise.
    pub lanes: u32,
    /// Parameters with other values than the RTL's own, unless asked for otherwise.
    pub parameters: &'static [(&'static str, u32)],
    /// Further limits.
    pub bounds: &'static [Bound],
    /// The world of a build and of the values of all `bounds`, in their order.
    pub world: fn(&Build, &[u32]) -> Box<dyn World<U>>,
}

impl<U: Design> Small<U> {
    /// Returns the values of all bounds, in their order: those of `given`, the defaults of the others.
    ///
    /// # Errors
    /// There is no such bound; a value out of its range.
    pub fn limits(&self, given: &BTreeMap<String, u32>) -> Result<Vec<u32>, InputError> {
        let bad = |why: String| Err(InputError::new("--bound", 0, "bound", why));
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
                return bad(format!("{name} = {value} is not {least}..{most}"));
            }
        }
        let value = |b: &Bound| given.get(b.name).copied().unwrap_or(b.default);
        Ok(self.bounds.iter().map(value).collect())
    }
}

/// What a unit can be given in a small world, and what is known of its states.
pub trait World<U: Programs>: Send + Sync {
    /// Returns the cycles of the host's writes between reset and the first launch. Without further words there are none.
    fn setup(&self) -> Vec<U::In> {
        Vec::new()
    }
    /// Returns every launch. The first one leads to a state in which a program runs.
    fn launches(&self) -> Vec<U::In>;
    /// Calls `each` with every cycle of a unit that runs and is in `state`: words and conditions. Stalls, cycles without an
    /// instruction, resets and noise on pins that do not matter come from the caller.
    fn steps(&self, state: &U::State, each: &mut dyn FnMut(U::In));
    /// Returns the states that, loaded one after another, put a unit into the state of `golden`; the last one is the state
    /// that it shows. Two goldens with equal results behave alike.
    fn loads(&self, golden: &U::Golden) -> Vec<U::State>;
    /// Tells whether the state of `golden` belongs to the world. One that does not is compared and not gone on from.
    fn inside(&self, _golden: &U::Golden) -> bool {
        true
    }
    /// Returns the rule of an invariant that does not hold in the state of `golden`.
    fn broken(&self, golden: &U::Golden) -> Option<&'static str>;
    /// Returns the pins of a cycle that brings to light what the state of `golden` does not show; `None` if it shows all,
    /// or what it hides can be of no effect.
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

/// Returns the cycles that lead to the first state: reset, host writes.
pub fn head<U: Programs>(world: &dyn World<U>) -> Vec<U::In> {
    let mut head = vec![U::In::reset(); RESET_CYCLES];
    head.extend(world.setup());
    head
}

/// Returns the pins of every cycle from `state`: steps or launches, an idle cycle or one without an instruction, a stalled
/// one, a reset. Pins that must not matter have noise, which depends on `noise` alone: the bytes of the state in a [`Space`].
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
