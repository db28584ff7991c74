//! Drawing, for the program generators of units.
//!
//! What is drawn is part of a campaign's seed: another order of draws is another campaign.

use std::ops::Range;

use rand::Rng;
use rand::distr::uniform::{SampleUniform, UniformSampler};

/// Returns a number of `range`, each as often as the others: what `Rng::random_range` draws, which is called and not inlined
/// wherever the compiler does not optimise across units of code.
///
/// # Panics
/// `range` is empty.
#[inline]
pub fn within<T: SampleUniform, R: Rng + ?Sized>(rng: &mut R, range: Range<T>) -> T {
    let drawn = T::Sampler::sample_single(range.start, range.end, rng);
    drawn.unwrap_or_else(|_| unreachable!("the range is not empty"))
}

/// Returns true `n` times in 16.
#[inline]
pub fn chance<R: Rng + ?Sized>(rng: &mut R, n: u32) -> bool {
    within(rng, 0..16) < n
}

/// Returns one of `of`, each as often as the others.
///
/// # Panics
/// `of` is empty.
#[inline]
pub fn pick<T: Copy, R: Rng + ?Sized>(rng: &mut R, of: &[T]) -> T {
    of[within(rng, 0..of.len())]
}

/// Returns one of `of`, each as often as its weight says.
///
/// # Panics
/// No weight is more than 0.
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

/// `weight` where `on`, else 0: for the lists of [`choose`].
pub fn when(on: bool, weight: u32) -> u32 {
    if on { weight } else { 0 }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    use super::*;

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
        let mut picked = [0; 3];
        (0..300).for_each(|_| picked[pick(&mut rng, &[2, 0, 1])] += 1);
        assert!(picked.iter().all(|n| *n > 60), "{picked:?}");
    }
}
