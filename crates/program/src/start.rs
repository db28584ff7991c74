//! State seeding: a case may begin, behind each of its launches, in a random legal state instead of the one
//! that the launch led to. What takes a program hundreds of instructions to reach is then one step away.
//!
//! The state is put into RTL and golden by the bench top ([`crate::dut::Dut::load`]), in a stalled clock
//! behind the launch, and compared in the next one. It must be one that the unit can reach: what is said of
//! it are its registers and what was pushed, and everything that follows from these is not said but computed.

use std::fmt::Debug;

use rand::Rng;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::design::Build;
use crate::program::Programs;

/// A state of unit `U` in which a program can be, under the operands of its launch.
pub trait Start<U: Programs>:
    Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync
{
    /// A random one, mostly at a corner: stacks and counters empty, at one, one below their limits, at their
    /// limits, lanes of few sorts. `None`: there is none but that of a launch.
    fn random(case: &Case<U>, rng: &mut impl Rng) -> Option<Self>;
    /// Checks that the unit can be in it.
    ///
    /// # Errors
    /// Field and reason.
    fn check(&self, case: &Case<U>) -> Result<(), (&'static str, String)>;
    /// The states to be loaded one after another, into a unit that is built as `build`, behind a launch that led to
    /// `launched`: a load writes what the state shows of a stack, so one for each frame, the bottom one first. In the last one the case
    /// begins.
    fn states(&self, build: &Build, launched: &U::State) -> Vec<U::State>;
    /// The same for a wavefront of these lanes of it.
    #[must_use]
    fn of_lanes(&self, lanes: &[usize]) -> Self;
    /// The same with every address that leads into the program led elsewhere.
    #[must_use]
    fn led(&self, lead: impl Fn(u32) -> u32) -> Self;
    /// With one thing less. A caller that repeats this on one of the results comes to an end.
    fn simpler(&self) -> Vec<Self>;
}

/// No state but the one that a launch leads to: for units whose cases begin with their launches alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Launched {}

impl<U: Programs> Start<U> for Launched {
    fn random(_: &Case<U>, _: &mut impl Rng) -> Option<Self> {
        None
    }
    fn check(&self, _: &Case<U>) -> Result<(), (&'static str, String)> {
        match *self {}
    }
    fn states(&self, _: &Build, _: &U::State) -> Vec<U::State> {
        match *self {}
    }
    fn of_lanes(&self, _: &[usize]) -> Self {
        match *self {}
    }
    fn led(&self, _: impl Fn(u32) -> u32) -> Self {
        match *self {}
    }
    fn simpler(&self) -> Vec<Self> {
        match *self {}
    }
}

/// Bit i of the result is bit `lanes[i]` of `mask`.
pub fn bits_of_lanes(mask: u64, lanes: &[usize]) -> u64 {
    (0..)
        .zip(lanes)
        .fold(0, |bits, (i, lane)| bits | (mask >> lane & 1) << i)
}

/// A number up to `most`, mostly a corner: 0, 1, one below it, it.
pub fn corner(rng: &mut impl Rng, most: u32) -> u32 {
    match rng.random_range(0..6) {
        0 => 0,
        1 => most.min(1),
        2 => most.saturating_sub(1),
        3 => most,
        _ => rng.random_range(0..=most),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_chosen_from_masks() {
        assert_eq!(bits_of_lanes(0b1010, &[3, 0, 1, 1]), 0b1101);
        assert_eq!(bits_of_lanes(1 << 63, &[63]), 1);
    }
}
