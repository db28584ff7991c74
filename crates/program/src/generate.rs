//! Random choices for the program generators of units.
//!
//! A campaign's programs depend on the order of these calls: another order gives another campaign for the same seed.

use std::ops::Range;

use rand::Rng;
use rand::distr::uniform::{SampleUniform, UniformSampler};

pub mod near_legal;

/// Declares the knobs of a generator: a struct, and a constant of it, whose value of each field stands beside the field.
///
/// ```
/// use reconverge_program::generate::knobs;
///
/// knobs! {
///     /// What a program may have.
///     #[derive(Clone, Copy)]
///     pub struct Options;
///
///     /// Everything.
///     pub const ALL;
///
///     /// Loops.
///     pub loops: bool = true,
///     /// Most instructions.
///     pub length: u32 = 200,
/// }
/// let short = Options { length: 9, ..Options::ALL };
/// assert!(short.loops && short.length == 9);
/// ```
#[macro_export]
macro_rules! knobs {
    (
        $(#[$meta:meta])*
        $seen:vis struct $name:ident;
        $(#[$about:meta])*
        $set:vis const $preset:ident;
        $($(#[$doc:meta])* $open:vis $field:ident: $type:ty = $value:expr,)+
    ) => {
        $(#[$meta])*
        $seen struct $name {
            $($(#[$doc])* $open $field: $type,)+
        }

        impl $name {
            $(#[$about])*
            $set const $preset: $name = $name {
                $($field: $value,)+
            };
        }
    };
}
pub use crate::knobs;

/// Returns a uniformly distributed number of `range`: the number that `Rng::random_range` returns. Unlike that, this is
/// inlined even if the compiler does not optimise across codegen units.
///
/// # Panics
/// `range` is empty.
#[inline]
pub fn within<T: SampleUniform, R: Rng + ?Sized>(rng: &mut R, range: Range<T>) -> T {
    let drawn = T::Sampler::sample_single(range.start, range.end, rng);
    drawn.unwrap_or_else(|_| unreachable!("the range is not empty"))
}

/// Returns true with probability `n`/16.
#[inline]
pub fn chance<R: Rng + ?Sized>(rng: &mut R, n: u32) -> bool {
    within(rng, 0..16) < n
}

/// Returns one element of `of`, uniformly distributed.
///
/// # Panics
/// `of` is empty.
#[inline]
pub fn pick<T: Copy, R: Rng + ?Sized>(rng: &mut R, of: &[T]) -> T {
    of[within(rng, 0..of.len())]
}

/// Returns one element of `of`, uniformly distributed, without a draw if there is one; `None` if there is none.
pub fn one_of<T, R: Rng + ?Sized>(rng: &mut R, mut of: Vec<T>) -> Option<T> {
    let number = match of.len() {
        0 => return None,
        1 => 0,
        count => within(rng, 0..count),
    };
    Some(of.swap_remove(number))
}

/// Returns one element of `of`, with a probability proportional to its weight.
///
/// # Panics
/// All weights are 0.
#[inline]
pub fn choose<T: Copy, R: Rng + ?Sized>(rng: &mut R, of: &[(T, u32)]) -> T {
    let total: u32 = of.iter().map(|(_, weight)| weight).sum();
    let mut left = within(rng, 0..total);
    for (item, weight) in of {
        if left < *weight {
            return *item;
        }
        left -= weight;
    }
    unreachable!("{left} is not below the sum of the weights")
}

/// Returns what `build` makes, at the first try if everything that it writes fits.
pub fn built<T, E>(mut build: impl FnMut() -> Result<T, E>) -> T {
    loop {
        if let Ok(made) = build() {
            return made;
        }
    }
}

/// Functions of `B` that each add a construct to a structured program at a place, with their weights.
pub type Constructs<B, At, const N: usize> = [(fn(&mut B, &At), u32); N];

/// How an instruction of a map of depths leads to its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Mostly a little forward, so that runs sweep over the map and reach all of its depths. Targets all over it would soon trap every run
    /// in a few instructions.
    Forward,
    /// Back, in the same part of this depth or a greater one.
    Back,
    /// Anywhere.
    Anywhere,
}

/// Returns a target of the instruction at address `from` where the depth is `wanted`. `depths` is the map: what the stack holds at each
/// address, whichever way a run comes there. If no address fits, returns the next one.
pub fn target<D: PartialOrd, R: Rng + ?Sized>(
    rng: &mut R,
    depths: &[D],
    from: usize,
    wanted: &D,
    way: Way,
) -> usize {
    let fits = |n: &usize| depths[*n] == *wanted;
    let len = depths.len();
    let start = match way {
        Way::Back => {
            let part = (0..=from).rev().take_while(|n| depths[*n] >= *wanted);
            let back = part.filter(fits).take(within(rng, 1..13)).last();
            return back.unwrap_or((from + 1) % len);
        }
        Way::Forward if within(rng, 0..64) > 0 => (from + within(rng, 1..5)).min(len),
        _ => within(rng, 0..len),
    };
    let mut all = (start..len).chain(0..start);
    all.find(fits).unwrap_or((from + 1) % len)
}

/// Small random numbers from one random word: for an instruction that takes many of them, one draw instead of many.
#[derive(Clone, Copy, Debug)]
pub struct Dice {
    bits: u64,
    /// Bits taken.
    taken: u32,
}

impl Dice {
    /// Draws the word. It is enough for eight numbers of eight bits, or sixteen chances.
    #[inline]
    pub fn draw<R: Rng + ?Sized>(rng: &mut R) -> Self {
        Dice {
            bits: rng.next_u64(),
            taken: 0,
        }
    }

    /// Returns the next `count` bits of the word.
    #[inline]
    fn next(&mut self, count: u32) -> u32 {
        self.taken += count;
        debug_assert!(self.taken <= u64::BITS, "more bits than the word has");
        let bits = self.bits as u32 & ((1 << count) - 1);
        self.bits >>= count;
        bits
    }

    /// Returns true with probability `n`/16. Takes four bits.
    #[inline]
    pub fn chance(&mut self, n: u32) -> bool {
        self.next(4) < n
    }

    /// Returns a number below `n`, at most 16, uniformly distributed up to one part in 16. Takes eight bits.
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        (self.next(8) * n) >> 8
    }
}

/// Returns `weight` if `on`, otherwise 0: for the lists of [`choose`].
pub fn when(on: bool, weight: u32) -> u32 {
    if on { weight } else { 0 }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    use super::*;

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "more bits than the word has")]
    fn dice_have_one_word() {
        let mut dice = Dice::draw(&mut Pcg64Mcg::seed_from_u64(1));
        (0..9).for_each(|_| {
            dice.below(6);
        });
    }

    #[test]
    fn targets_have_the_wanted_depth() {
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        let depths = [0, 1, 2, 2, 1, 1, 0, 1, 0];
        let mut all = |from, wanted, way| {
            let drawn = (0..2000).map(|_| target(&mut rng, &depths, from, &wanted, way));
            drawn.collect::<std::collections::BTreeSet<_>>()
        };
        assert_eq!(all(5, 1, Way::Back), [1, 4, 5].into());
        assert_eq!(all(4, 2, Way::Back), [5].into(), "the next one");
        assert_eq!(all(4, 1, Way::Forward), [1, 4, 5, 7].into());
        assert_eq!(all(4, 2, Way::Anywhere), [2, 3].into());
        assert_eq!(all(8, 3, Way::Anywhere), [0].into(), "the next one");
    }

    #[test]
    fn draws_are_as_often_as_asked_for() {
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        let mut counts = [0; 4];
        for _ in 0..8000 {
            let list = [(0, 1), (1, when(false, 9)), (2, when(true, 4)), (3, 3)];
            counts[choose(&mut rng, &list)] += 1;
        }
        assert_eq!(counts[1], 0);
        for (n, share) in [(0, 1000), (2, 4000), (3, 3000)] {
            assert!(
                (share - 200..share + 200).contains(&counts[n]),
                "{counts:?}"
            );
        }
        let heads = (0..1600).filter(|_| chance(&mut rng, 4)).count();
        assert!((300..500).contains(&heads), "{heads}");
        assert!(!chance(&mut rng, 0) && chance(&mut rng, 16));
        let mut again = rng.clone();
        for end in 1..1000 {
            let drawn = within(&mut rng, end / 2..end);
            assert_eq!(drawn, again.random_range(end / 2..end));
        }
        let mut rolled = [0; 16];
        for _ in 0..3000 {
            let mut dice = Dice::draw(&mut rng);
            (0..4).for_each(|_| rolled[dice.below(6) as usize] += 1);
            (0..8).for_each(|_| rolled[10 + usize::from(dice.chance(12))] += 1);
        }
        assert!(
            rolled[..6].iter().all(|n| (1800..2200).contains(n)),
            "{rolled:?}"
        );
        assert!((5700..6300).contains(&rolled[10]), "{rolled:?}");
        assert_eq!(rolled[10] + rolled[11], 24_000);
        let mut dice = Dice::draw(&mut rng);
        assert!(!dice.chance(0) && dice.chance(16));
        let mut picked = [0; 3];
        (0..300).for_each(|_| picked[pick(&mut rng, &[2, 0, 1])] += 1);
        assert!(picked.iter().all(|n| *n > 60), "{picked:?}");
    }
}
