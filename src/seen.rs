//! Which of a set of numbered things a campaign has met.

/// A set of numbers below [`Met::END`]: error codes, opcodes, depths of a stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Met([u64; Met::END / 64]);

impl Met {
    /// More than the deepest stack that a unit can be built with.
    pub const END: usize = 17 * 64;

    /// `n` was met.
    ///
    /// # Panics
    /// If there can be no `n`.
    pub fn hit(&mut self, n: usize) {
        self.0[n / 64] |= 1 << (n % 64);
    }

    /// As [`Met::hit`], if `condition`.
    pub fn hit_if(&mut self, condition: bool, n: usize) {
        self.0[n / 64] |= u64::from(condition) << (n % 64);
    }

    /// Whether `n` was met.
    pub fn has(&self, n: usize) -> bool {
        self.0[n / 64] >> (n % 64) & 1 == 1
    }

    /// Adds what another set has met.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine |= theirs;
        }
    }

    /// Everything met, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..Self::END).filter(|n| self.has(*n))
    }

    /// What was met from `first` on, as numbers.
    pub fn above(&self, first: usize) -> String {
        let met: Vec<String> = self
            .iter()
            .filter(|n| *n >= first)
            .map(|n| n.to_string())
            .collect();
        met.join(" ")
    }

    /// What was met, by name.
    pub fn text(&self, name: impl Fn(usize) -> String) -> String {
        self.iter().map(name).collect::<Vec<_>>().join(" ")
    }

    /// What was met as numbers, runs of three and more as `first..last`.
    pub fn ranges(&self) -> String {
        let met: Vec<usize> = self.iter().collect();
        met.chunk_by(|a, b| a + 1 == *b)
            .flat_map(|run| match run {
                [first, .., last] if run.len() > 2 => vec![format!("{first}..{last}")],
                few => few.iter().map(usize::to_string).collect(),
            })
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Whether all of `wanted` was met.
    pub fn all(&self, wanted: impl IntoIterator<Item = usize>) -> bool {
        wanted.into_iter().all(|n| self.has(n))
    }
}

#[cfg(test)]
mod tests {
    use super::Met;

    #[test]
    fn numbers_are_met_merged_and_written_as_ranges() {
        let mut a = Met::default();
        for n in [0, 1, 2, 3, 5, 6, 128, 1087] {
            a.hit(n);
        }
        let mut b = Met::default();
        b.hit_if(false, 9);
        b.hit_if(true, 7);
        b.merge(&a);
        assert_eq!(a.ranges(), "0..3 5 6 128 1087");
        assert_eq!(b.ranges(), "0..3 5..7 128 1087");
        assert!(b.all(0..4) && !b.all(0..5) && !b.has(9));
        assert_eq!(a.text(|n| format!("<{n}>")).split(' ').count(), 8);
    }
}
