//! Preloading: a case may begin, after each of its launches, in a random legal state instead of the state after the launch.
//! A situation that a program reaches only after hundreds of instructions is then one step away.
//!
//! The bench loads the state into RTL ([`reconverge_bench::dut::Dut::load`]) and golden model in a stalled cycle after the launch, and
//! compares it in the next cycle. The unit must be able to reach the state. A [`Start`] therefore holds only the registers
//! and the pushed frames; everything that follows from these is computed.

use std::fmt::Debug;

use rand::Rng;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::program::Programs;
use reconverge_bench::design::Build;

/// A state of unit `U` that a program can be in, given the operands of its launch.
pub trait Start<U: Programs>:
    Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync
{
    /// Returns a random state, mostly a corner case: stacks and counters at 0, at 1, one below their limits or at their
    /// limits, and lanes of few classes. `None` if the unit has no such states.
    fn random(case: &Case<U>, rng: &mut impl Rng) -> Option<Self>;
    /// Checks that the unit can be in this state.
    ///
    /// # Errors
    /// The field that is wrong, and why.
    fn check(&self, case: &Case<U>) -> Result<(), (&'static str, String)>;
    /// Returns the states to load in sequence into a unit built as `build`, after a launch that led to `launched`. A load
    /// writes only the part of a stack that the state shows, so there is one load for each frame, the bottom one first. The
    /// case begins in the last of these states.
    fn states(&self, build: &Build, launched: &U::State) -> Vec<U::State>;
    /// Returns the same state for a wavefront that consists of these lanes.
    #[must_use]
    fn of_lanes(&self, lanes: &[usize]) -> Self;
    /// Returns the same state with every address into the program mapped by `lead`.
    #[must_use]
    fn led(&self, lead: impl Fn(u32) -> u32) -> Self;
    /// Returns variants of the state, each with one thing simplified. Repeated application always terminates.
    fn simpler(&self) -> Vec<Self>;
}

/// The [`Start`] of units that have no preloaded states: every case begins with a launch.
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

/// Selects lanes from `mask`: bit i of the result is bit `lanes[i]` of `mask`.
pub fn bits_of_lanes(mask: u64, lanes: &[usize]) -> u64 {
    (0..)
        .zip(lanes)
        .fold(0, |bits, (i, lane)| bits | (mask >> lane & 1) << i)
}

/// Returns a random number up to `most`, mostly a corner case: 0, 1, `most` - 1 or `most`.
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
