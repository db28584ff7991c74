//! Which of a set of numbered things a campaign has met.

use serde::{Deserialize, Serialize};

use crate::json::Hex;

/// A set of numbers below [`Met::END`]: error codes, opcodes, depths of a stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Hex>", into = "Vec<Hex>")]
pub struct Met([u64; Met::END / 64]);

impl From<Met> for Vec<Hex> {
    /// 64 numbers a word, up to the highest that was met.
    fn from(met: Met) -> Self {
        let used = met.0.iter().rposition(|word| *word != 0);
        let words = &met.0[..used.map_or(0, |last| last + 1)];
        words.iter().map(|word| Hex(*word)).collect()
    }
}

impl TryFrom<Vec<Hex>> for Met {
    type Error = String;

    fn try_from(words: Vec<Hex>) -> Result<Self, String> {
        let mut met = Met::default();
        if words.len() > met.0.len() {
            return Err(format!("numbers beyond {} were met", Met::END));
        }
        for (mine, word) in met.0.iter_mut().zip(words) {
            *mine = word.0;
        }
        Ok(met)
    }
}

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

    #[test]
    fn what_was_met_is_saved_up_to_the_highest_number() {
        let mut met = Met::default();
        for (n, saved) in [
            (1, r#"["0x2"]"#),
            (64, r#"["0x2","0x1"]"#),
            (63, r#"["0x8000000000000002","0x1"]"#),
        ] {
            met.hit(n);
            assert_eq!(serde_json::to_string(&met).unwrap(), saved);
            assert_eq!(serde_json::from_str::<Met>(saved).unwrap(), met);
        }
        assert_eq!(serde_json::to_string(&Met::default()).unwrap(), "[]");
        met.hit(Met::END - 1);
        let text = serde_json::to_string(&met).unwrap();
        assert_eq!(serde_json::from_str::<Met>(&text).unwrap(), met);
        let longer = text.replace(']', ",\"0x0\"]");
        let why = serde_json::from_str::<Met>(&longer).unwrap_err();
        assert_eq!(why.to_string(), "numbers beyond 1088 were met");
    }
}
