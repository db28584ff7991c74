//! Counts hits of bins.

use std::marker::PhantomData;
use std::ops::BitOr;

use serde::{Deserialize, Serialize};

use super::{Cross, Met, Point, Previous, Values};

/// Returns a number whose bit n is 1 if `masks[n]` is not 0.
#[inline]
pub fn present<const N: usize>(masks: [u64; N]) -> u64 {
    const { assert!(N <= 64) };
    let bits = masks.iter().zip(0..);
    bits.map(|(mask, n)| u64::from(*mask != 0) << n).sum()
}

/// Values of an axis, of which there are at most 64. For many conditions of which few are true: a condition costs less than a hit.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct ValueSet<A> {
    /// Bit n is 1 if value n is in the set.
    bits: u64,
    axis: PhantomData<A>,
}

impl<A: Values> ValueSet<A> {
    /// Returns the set whose value n is in it if bit n is 1.
    #[inline]
    pub fn new(bits: u64) -> Self {
        const { assert!(A::COUNT <= 64) };
        debug_assert!(A::COUNT == 64 || bits >> A::COUNT == 0);
        let axis = PhantomData;
        ValueSet { bits, axis }
    }

    /// Returns the set whose value n is in it if `masks[n]` is not 0.
    #[inline]
    pub fn present<const N: usize>(masks: [u64; N]) -> Self {
        const { assert!(N == A::COUNT) };
        ValueSet::new(present(masks))
    }

    /// Returns true if no value is in the set.
    pub fn is_empty(&self) -> bool {
        self.bits == 0
    }
}

impl<A: Values> BitOr for ValueSet<A> {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        ValueSet::new(self.bits | other.bits)
    }
}

/// Number of hits that [`Hits`] buffers before it counts them.
const PENDING: usize = 1024;

/// Counters of all bins of a model.
///
/// Hits are buffered, then counted many at a time, for speed: there are too many counters for the cache, and a branch on
/// whether a counter is still 0 is unpredictable. [`Hits::settle`] counts the buffered hits.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Hits {
    pub(super) counts: Vec<u64>,
    /// Bins whose counter became more than 0, in this order.
    #[serde(skip)]
    pub(super) new: Vec<usize>,
    /// Buffered hits: the first `waiting` entries are bins that were hit and are not counted yet.
    #[serde(skip)]
    pending: Vec<u32>,
    #[serde(skip)]
    waiting: usize,
    /// Buffered words, each bit of which hits a bin ([`Hits::hit_bits`]). `of_words` is the first bin of their group, and the
    /// number of bits.
    #[serde(skip)]
    words: Vec<u32>,
    #[serde(skip)]
    of_words: (usize, usize),
}

impl PartialEq for Hits {
    /// Compares the counters. All hits must be counted.
    fn eq(&self, other: &Self) -> bool {
        self.counts() == other.counts()
    }
}
impl Eq for Hits {}

impl Hits {
    /// Returns counters of `bins` bins, all 0.
    pub(super) fn new(bins: usize) -> Self {
        Hits {
            counts: vec![0; bins],
            ..Hits::default()
        }
    }

    /// Hits the bin of `cross` at `point`.
    #[inline]
    pub fn hit<P: Point>(&mut self, cross: Cross<P>, point: P) {
        self.hit_if(true, cross, point);
    }

    /// Does the same as [`Hits::hit`], if `condition` is true.
    #[inline]
    pub fn hit_if<P: Point>(&mut self, condition: bool, cross: Cross<P>, point: P) {
        // An index after the last bin would be a bin of the next group.
        debug_assert!(!condition || point.index() < P::COUNT);
        let bin = (cross.first + point.index()) as u32;
        let waiting = self.waiting;
        match self.pending.get_mut(waiting) {
            Some(place) => *place = bin,
            None => self.make_room(bin),
        }
        // If the condition is false, the next hit overwrites the entry.
        self.waiting += usize::from(condition);
    }

    /// Hits the bin of `cross` at `point(value)` for each value in `values`.
    #[inline]
    pub fn hit_each<A: Values, P: Point>(
        &mut self,
        cross: Cross<P>,
        values: ValueSet<A>,
        point: impl Fn(A) -> P,
    ) {
        let mut left = values.bits;
        while left != 0 {
            self.hit(cross, point(A::at(left.trailing_zeros() as usize)));
            left &= left - 1;
        }
    }

    /// Hits the bins of `cross` at `values`.
    #[inline]
    pub fn hit_all<A: Values>(&mut self, cross: Cross<(A,)>, values: ValueSet<A>) {
        self.hit_each(cross, values, |value| (value,));
    }

    /// Hits the bin of `kind` after the previous one, and makes it the previous one.
    #[inline]
    pub fn hit_next<K: Values>(
        &mut self,
        cross: Cross<(Previous<K>, K)>,
        previous: &mut Previous<K>,
        kind: K,
    ) {
        let before = std::mem::replace(previous, Previous(Some(kind)));
        self.hit(cross, (before, kind));
    }

    /// Hits bin number `bin` at once, not buffered.
    pub(super) fn hit_bin(&mut self, bin: usize) {
        self.count(bin, 1);
    }

    /// Counts `hits` of bin number `bin`.
    fn count(&mut self, bin: usize, hits: u64) {
        let count = &mut self.counts[bin];
        if *count == 0 && hits > 0 {
            self.new.push(bin);
        }
        *count += hits;
    }

    /// Hits one bin of `cross` for each of the lowest `A::COUNT` bits of `word`: bit n hits value n of `A` with the first value
    /// of `B` if the bit is clear, with the second if it is set.
    #[inline]
    pub fn hit_bits<A: Values, B: Values>(&mut self, cross: Cross<(A, B)>, word: u32) {
        const { assert!(A::COUNT <= 32 && B::COUNT == 2) };
        let group = (cross.first, A::COUNT);
        if self.of_words != group || self.words.len() == PENDING {
            self.settle();
            self.of_words = group;
        }
        self.words.push(word);
    }

    /// Counts the buffered hits, and buffers `bin` as the first of the next.
    #[cold]
    fn make_room(&mut self, bin: u32) {
        self.settle();
        self.pending.resize(PENDING, 0);
        self.pending[0] = bin;
    }

    /// Counts all buffered hits. Must be called before the counters are read.
    pub fn settle(&mut self) {
        for n in 0..self.waiting {
            self.count(self.pending[n] as usize, 1);
        }
        let (first, bits) = self.of_words;
        let words = self.words.len() as u64;
        // For each bit loop over all words, so that the compiler can vectorise.
        for bit in (0..bits).take_while(|_| words > 0) {
            let set = self.words.iter().map(|word| word >> bit & 1).sum::<u32>();
            self.count(first + 2 * bit, words - u64::from(set));
            self.count(first + 2 * bit + 1, set.into());
        }
        self.waiting = 0;
        self.words.clear();
    }

    /// Adds the counters of another collector of the same model.
    ///
    /// # Panics
    /// `other` has hits that are not counted yet.
    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts()) {
            *mine += theirs;
        }
    }

    /// Returns the bins that were hit, and sets every counter to 0.
    pub fn take(&mut self) -> Met {
        self.settle();
        // The counter is 0 again if the hit was revoked.
        let counted = |bin: &usize| std::mem::take(&mut self.counts[*bin]) > 0;
        self.new.drain(..).filter(counted).collect()
    }

    /// Sets every counter to 0.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        self.new.clear();
        self.waiting = 0;
        self.words.clear();
    }

    /// Returns the counters, in the order of the declaration.
    ///
    /// # Panics
    /// There are hits that are not counted yet. [`Hits::settle`] counts them; the end of a case calls it.
    pub fn counts(&self) -> &[u64] {
        let waiting = self.waiting + self.words.len();
        assert_eq!(waiting, 0, "hits that are not counted");
        &self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis;
    use crate::cover::{Declaration, Level, When};

    axis! {
        /// An axis of three values.
        Three "three" {
            A "a",
            B "b",
            C "c",
        }

        /// The value of a bit.
        Is "is" of bool ["0", "1"]

        /// Some of the three.
        Two "three" of Three [C, A]
    }

    #[test]
    fn hits_written_down_are_counted_as_they_came() {
        let mut declaration = Declaration::default();
        let plain = declaration.cross::<(Three, Is)>(When::Sometimes, "plain", "");
        let bits = declaration.cross::<(Three, Is)>(When::Sometimes, "bits", "");
        let none = || Hits::new(12);
        // More than the buffer holds, and more than twice as many.
        for steps in [0, 1, PENDING - 1, PENDING, PENDING + 1, 5 * PENDING] {
            let (mut hits, mut counts, mut new) = (none(), [0; 12], Vec::new());
            let mut count = |bin: usize, is: bool| {
                if is && counts[bin] == 0 {
                    new.push(bin);
                }
                counts[bin] += u64::from(is);
            };
            for n in 0..steps {
                let (three, is) = (Three::at(n % 3), Is::at(n / 7 % 2));
                let holds = n % 5 < 2;
                hits.hit_if(holds, plain, (three, is));
                count(2 * (n % 3) + n / 7 % 2, holds);
                let set = Three::A.when(n % 3 == 0) | Three::C.when(n % 4 == 0);
                hits.hit_each(plain, set, |three| (three, is));
                count(n / 7 % 2, n % 3 == 0);
                count(4 + n / 7 % 2, n % 4 == 0);
                // Bits above the third hit no bin.
                let word = (n as u32).wrapping_mul(0x9E37_79B9) >> 7;
                hits.hit_bits(bits, word);
                for bit in 0..3 {
                    count(6 + 2 * bit + (word >> bit & 1) as usize, true);
                }
            }
            hits.settle();
            assert_eq!(hits.counts(), counts, "{steps}");
            let met = hits.take();
            assert!((0..12).all(|bin| met.has(bin) == new.contains(&bin)));
            // Each case returns all bins that it hits, regardless of earlier cases, so a lost worker loses no bin of others.
            assert_eq!(hits.take(), Met::default());
            hits.hit(plain, (Three::C, Is(true)));
            assert!(hits.take().has(5));
            hits.hit(plain, (Three::C, Is(true)));
            hits.hit_bits(bits, 0);
            hits.clear();
            assert!(hits == none());
        }
    }

    #[test]
    fn sets_and_neighbours_hit_their_bins() {
        let mut declaration = Declaration::default();
        let three = declaration.cross::<(Three,)>(When::Sometimes, "three", "");
        let next = declaration.cross::<(Previous<Is>, Is)>(When::Sometimes, "next", "");
        let mut hits = declaration.no_hits();
        let masks = ValueSet::present([5, 0, 1]);
        assert!(!masks.is_empty() && ValueSet::<Three>::present([0; 3]).is_empty());
        hits.hit_all(three, masks);
        hits.hit_all(three, Three::A.when(true) | Three::B.when(false));
        let mut previous = Previous::default();
        for is in [true, true, false] {
            hits.hit_next(next, &mut previous, Is(is));
        }
        hits.settle();
        // After the launch 1, after it 1, after that 0.
        assert_eq!(hits.counts(), [2, 0, 1, 0, 1, 0, 0, 1, 1]);
        assert_eq!(previous, Previous(Some(Is(false))));
    }

    #[test]
    fn a_value_is_unreachable_in_all_groups_that_have_it() {
        let mut declaration = Declaration::default();
        declaration.cross::<(Three, Is)>(When::Sometimes, "plain", "");
        declaration.cross::<(Two,)>(When::Sometimes, "part", "");
        declaration.unreachable_values("never", |three: Three| three == Three::C);
        assert!(declaration.idle().is_empty());
        let reachable = (0..8).filter(|bin| declaration.is_reachable(*bin));
        assert_eq!(reachable.collect::<Vec<_>>(), [0, 1, 2, 3, 7]);
        declaration.unreachable_values("again", |three: Three| three == Three::C);
        assert_eq!(declaration.idle(), ["three: again"]);
        assert_eq!(
            (Two::of(Three::A), Two::of(Three::B)),
            (Some(Two::at(1)), None)
        );
    }

    #[test]
    fn levels_that_a_stack_does_not_have_are_unreachable() {
        for (max, levels) in [(1, 2), (2, 3), (3, 4), (4, 5)] {
            let mut declaration = Declaration::default();
            declaration.cross::<(Is, Level)>(When::Sometimes, "levels", "");
            declaration.unreachable_levels("none", max);
            assert_eq!((declaration.reachable(), max), (2 * levels, max));
            assert!(declaration.idle().is_empty());
        }
    }

    #[test]
    #[should_panic(expected = "hits that are not counted")]
    fn counters_are_not_read_before_all_is_counted() {
        let mut declaration = Declaration::default();
        let plain = declaration.cross::<(Three,)>(When::Sometimes, "plain", "");
        let mut hits = Hits::new(3);
        hits.hit(plain, (Three::B,));
        hits.counts();
    }
}
