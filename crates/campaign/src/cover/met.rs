//! The set of bins that were hit.

use serde::{Deserialize, Serialize};

use reconverge_bench::json::Hex;

/// A set of bins, by their numbers in the declaration. In JSON: words of 64 bins each, starting with bin 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<Hex>", into = "Vec<Hex>")]
pub struct Met(Vec<u64>);

impl From<Met> for Vec<Hex> {
    fn from(met: Met) -> Self {
        met.0.into_iter().map(Hex).collect()
    }
}

impl From<Vec<Hex>> for Met {
    fn from(words: Vec<Hex>) -> Self {
        Met(words.into_iter().map(|word| word.0).collect())
    }
}

impl FromIterator<usize> for Met {
    fn from_iter<I: IntoIterator<Item = usize>>(bins: I) -> Self {
        let mut met = Met::default();
        bins.into_iter().for_each(|bin| met.hit(bin));
        met
    }
}

impl Met {
    /// Adds bin `bin`.
    pub fn hit(&mut self, bin: usize) {
        if self.0.len() <= bin / 64 {
            self.0.resize(bin / 64 + 1, 0);
        }
        self.0[bin / 64] |= 1 << (bin % 64);
    }

    /// Returns true if bin `bin` is in the set.
    pub fn has(&self, bin: usize) -> bool {
        self.0
            .get(bin / 64)
            .is_some_and(|word| word >> (bin % 64) & 1 == 1)
    }

    /// Returns true if all bins of another set are in this one.
    pub fn includes(&self, other: &Self) -> bool {
        let mine = self.0.iter().chain(std::iter::repeat(&0));
        other
            .0
            .iter()
            .zip(mine)
            .all(|(theirs, mine)| theirs & !mine == 0)
    }

    /// Adds the bins of another set.
    pub fn merge(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine |= theirs;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Met;

    #[test]
    fn bins_are_met_merged_and_saved() {
        let (mut a, mut b) = (Met::default(), Met::default());
        for bin in [0, 63, 64] {
            a.hit(bin);
        }
        b.hit(200);
        b.merge(&a);
        a.merge(&b);
        assert_eq!(a, b);
        let mut fewer = Met::default();
        assert!(a.includes(&fewer) && a.includes(&b));
        fewer.hit(63);
        assert!(a.includes(&fewer) && !fewer.includes(&a));
        fewer.hit(201);
        assert!(!a.includes(&fewer));
        let met: Vec<usize> = (0..300).filter(|bin| a.has(*bin)).collect();
        assert_eq!(met, [0, 63, 64, 200]);
        let saved = r#"["0x8000000000000001","0x1","0x0","0x100"]"#;
        assert_eq!(serde_json::to_string(&a).unwrap(), saved);
        assert_eq!(serde_json::from_str::<Met>(saved).unwrap(), a);
    }
}
