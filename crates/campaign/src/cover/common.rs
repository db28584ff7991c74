//! Groups that any unit may declare in one line, and that count themselves.

use std::ops::{Deref, DerefMut};

#[cfg(feature = "rtl")]
use super::bits::Bits;
use super::{Cross, Declaration, Hits, Pace, Point, Previous, Status, Values, When};
use crate::grammar::Campaign;
#[cfg(feature = "rtl")]
use reconverge_bench::design::Build;
use reconverge_bench::design::{Control as _, Golden as _};
use reconverge_program::program::{Executor as _, Pins as _, Step};

/// Returns the index of a value for something of a cycle.
type Index<T> = Box<dyn Fn(&T) -> usize + Send + Sync>;

/// A group that counts itself.
enum Own<U: Campaign> {
    Cycles(Cross<(Status, Pace)>),
    Neighbours {
        first: usize,
        kinds: usize,
        kind: Index<U::In>,
    },
    Ends {
        first: usize,
        how: Index<U::State>,
    },
    #[cfg(feature = "rtl")]
    Bits(Bits),
}

/// The groups of a unit, while they are declared: those of [`Declaration`], which the unit counts, and those that count themselves.
pub struct Groups<U: Campaign> {
    declaration: Declaration,
    own: Vec<Own<U>>,
}

impl<U: Campaign> Default for Groups<U> {
    fn default() -> Self {
        Groups {
            declaration: Declaration::default(),
            own: Vec::new(),
        }
    }
}

impl<U: Campaign> Deref for Groups<U> {
    type Target = Declaration;
    fn deref(&self) -> &Declaration {
        &self.declaration
    }
}

impl<U: Campaign> DerefMut for Groups<U> {
    fn deref_mut(&mut self) -> &mut Declaration {
        &mut self.declaration
    }
}

impl<U: Campaign> Groups<U> {
    /// Adds the group `cycles`, which counts itself, in each cycle: what the unit was doing, and what the bench did.
    ///
    /// # Panics
    /// This and the others panic if there is a group of the same name.
    pub fn cycles(&mut self) {
        let about = "each cycle: what the unit was doing, and what the bench did";
        let cross = self.cross(When::Cycle, "cycles", about);
        self.own.push(Own::Cycles(cross));
    }

    /// Adds the group `neighbours`, which counts itself, in each step: the instruction before it, and itself. `kind` returns the
    /// instruction on the pins.
    pub fn neighbours<K: Values + 'static>(
        &mut self,
        kind: impl Fn(&U::In) -> K + Send + Sync + 'static,
    ) -> Cross<(Previous<K>, K)> {
        let about = "each step: the instruction before it, and itself";
        let cross = self.cross(When::Step, "neighbours", about);
        self.own.push(Own::Neighbours {
            first: cross.first,
            kinds: K::COUNT,
            kind: Box::new(move |pins| kind(pins).index()),
        });
        cross
    }

    /// Adds the group `ends`, which counts itself, at each end of a program. `how` returns how it ended, from the state afterwards.
    pub fn ends<E: Values + 'static>(
        &mut self,
        how: impl Fn(&U::State) -> E + Send + Sync + 'static,
    ) -> Cross<(E,)> {
        let cross: Cross<(E,)> = self.cross(When::Sometimes, "ends", "each end of a program");
        self.own.push(Own::Ends {
            first: cross.first,
            how: Box::new(move |state| (how(state),).index()),
        });
        cross
    }

    /// Adds the groups `pins` and `fields`, which count themselves: the cases in which each bit was 0, and was 1. `why` returns why a bit cannot
    /// be so, if it cannot: of a pin or field, its bit, 0 or 1.
    #[cfg(feature = "rtl")]
    pub fn bits(&mut self, build: &Build, why: impl Fn(&str, u32, u32) -> Option<&'static str>) {
        let bits = Bits::declare::<U>(&mut self.declaration, build, why);
        self.own.push(Own::Bits(bits));
    }

    /// Returns whether there are groups that count themselves.
    #[inline]
    pub(super) fn count_themselves(&self) -> bool {
        !self.own.is_empty()
    }

    /// Samples one cycle, as [`super::Coverage::sample`] does.
    pub(super) fn sample(
        &self,
        memory: &mut Memory,
        before: &U::State,
        pins: &U::In,
        after: &U::Golden,
        hits: &mut Hits,
    ) {
        let (step, state) = (after.step(), after.state());
        let (ran, ends) = (U::running(before), !U::running(state));
        for own in &self.own {
            match own {
                Own::Cycles(cross) => {
                    let status = if ran { Status::Running } else { memory.ended };
                    hits.hit(*cross, (status, pace::<U>(pins)));
                }
                Own::Neighbours { first, kinds, kind } if step != Step::None => {
                    let kind = kind(pins);
                    let before = memory.previous.replace(kind).map_or(0, |kind| kind + 1);
                    hits.hit_bin(first + before * kinds + kind);
                }
                Own::Ends { first, how } if step != Step::None && ends => {
                    hits.hit_bin(first + how(state));
                }
                Own::Neighbours { .. } | Own::Ends { .. } => {}
                #[cfg(feature = "rtl")]
                Own::Bits(bits) => bits.sample::<U>(&mut memory.bits, pins, state, hits),
            }
        }
        memory.ended = match step {
            _ if pins.is_reset() => Status::Fresh,
            Step::Failed => Status::Halted,
            Step::Executed if ends => Status::Done,
            _ => memory.ended,
        };
        if step == Step::None && !ran {
            // A launch, if it runs now.
            memory.previous = None;
        }
    }
}

/// Returns what the bench does with `pins`: there is an instruction if to withhold it makes a difference.
fn pace<U: Campaign>(pins: &U::In) -> Pace {
    let mut starved = *pins;
    starved.starve();
    let valid = bytemuck::bytes_of(&starved) != bytemuck::bytes_of(pins);
    Pace::of(
        (!pins.is_reset()).into(),
        pins.is_stalled().into(),
        valid.into(),
    )
}

/// What the groups remember from one cycle to the next.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    /// How the last program ended.
    ended: Status,
    /// The last instruction.
    previous: Option<usize>,
    #[cfg(feature = "rtl")]
    bits: super::bits::Seen,
}

impl Default for Memory {
    fn default() -> Self {
        Memory {
            ended: Status::Fresh,
            previous: None,
            #[cfg(feature = "rtl")]
            bits: Default::default(),
        }
    }
}
