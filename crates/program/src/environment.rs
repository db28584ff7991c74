//! Conditions: the bits that the black boxes (ALU, texture, memory) of the environment give each lane.
//!
//! A lane's draw depends only on the lane's own history, so a lane draws the same bits alone, in the wavefront and in
//! another program (contract-7).

use rand::Rng;

use crate::case::{Case, Conditions};
use crate::program::Programs;
use reconverge_bench::field::plane;

/// Condition bits of one draw.
pub const BITS: u32 = 16;

/// Returns the 64-bit word of draw number `k` (from 0) of lane `lane`: SplitMix64 over seed, lane and k (contract-7-a).
#[inline]
pub fn draw_word(seed: u64, lane: u32, k: u64) -> u64 {
    let mut z = seed
        .wrapping_add(u64::from(lane).wrapping_mul(0x9E37_79B9_7F4A_7C15))
        .wrapping_add(k.wrapping_add(1).wrapping_mul(0xBF58_476D_1CE4_E5B9));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Returns condition bit `j` (0..=15) of a draw: 1 with probability `p16`/16.
pub fn bit(word: u64, j: u32, p16: u32) -> bool {
    ((word >> (4 * j)) & 15) < u64::from(p16)
}

/// Returns the lowest `count` condition bits of a draw; bit j of the result is condition bit j ([`bit`]). Computes all of
/// them at once: a nibble is below p16 if adding 16 - p16 to it does not carry.
#[inline]
pub fn bits(word: u64, count: u32, p16: u32) -> u16 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let add = EACH * u64::from(16 - p16.min(16));
    // Bit 0 of byte i is set if nibble 2 i is below p16 (`even`), or nibble 2 i + 1 (`odd`).
    let even = !((word & (0x0f * EACH)) + add) >> 4 & EACH;
    let odd = !((word >> 4 & (0x0f * EACH)) + add) >> 4 & EACH;
    // Pack two bits per byte, then four per 16 bits, eight per 32 bits, and all 16.
    let pairs = even | odd << 1;
    let fours = (pairs | pairs >> 6) & 0x000f_000f_000f_000f;
    let eights = (fours | fours >> 12) & 0x0000_00ff_0000_00ff;
    let all = (eights | eights >> 24) as u16;
    lowest(all, count)
}

/// Returns the lowest `count` of the condition bits `all`; the others are 0.
#[inline]
pub fn lowest(all: u16, count: u32) -> u16 {
    all & ((1u32 << count.min(BITS)) - 1) as u16
}

/// `N` conditions (at most 16) of every lane that depend on no history. The drawn bits of different lanes are independent,
/// so they are almost never all 1, all 0 or all but one equal. [`Noise::shape`] produces these patterns on purpose, for a
/// condition that a decision uses.
///
/// One random word selects the shapes of all conditions, and one more word per condition gives its bits. The number of words
/// depends neither on their values nor on which conditions are shaped, so the processor need not wait for one condition
/// before it begins the next, and predicts no branch.
#[derive(Clone, Copy, Debug)]
pub struct Noise<const N: usize> {
    /// The shape of each condition, four bits each.
    kinds: u64,
    /// The conditions.
    pub conditions: [u64; N],
}

impl<const N: usize> Noise<N> {
    /// Draws all conditions and their shapes.
    #[inline]
    pub fn draw(rng: &mut impl Rng) -> Self {
        const { assert!(N <= 16, "four bits of a draw for each") };
        let kinds = rng.next_u64();
        let mut conditions = [0; N];
        // Neither `array::from_fn` nor `fill_with` was inlined here.
        for bits in &mut conditions {
            *bits = rng.next_u64();
        }
        Noise { kinds, conditions }
    }

    /// Gives condition `n` the shape that was drawn for it; `active` is the mask of the lanes that matter. Call it once for
    /// each condition.
    #[inline]
    pub fn shape(&mut self, n: usize, active: u64) {
        let kind = self.kinds >> (4 * n) & 15;
        let bits = self.conditions[n];
        let (second, third) = (bits.rotate_left(21), bits.rotate_left(42));
        let turn = (bits >> 58) as u32;
        let one = only_one(turn, active);
        // The kind below which each value is chosen, in descending order: the compiler makes these choices conditional moves,
        // not branches.
        let mut value = bits;
        for (below, other) in [
            (11, bits | second | third),
            (9, bits & second & third),
            (7, !one),
            (6, one),
            (5, 1 << turn),
            (4, u64::MAX),
            (2, 0),
        ] {
            value = if kind < below { other } else { value };
        }
        self.conditions[n] = value;
    }

    /// Returns all conditions, each in its shape ([`Noise::shape`]).
    #[inline]
    pub fn shaped(mut self, active: u64) -> [u64; N] {
        for n in 0..N {
            self.shape(n, active);
        }
        self.conditions
    }
}

/// Draws one condition of every lane, in its shape ([`Noise::shape`]).
#[inline]
pub fn noise(rng: &mut impl Rng, active: u64) -> u64 {
    let [condition] = Noise::draw(rng).shaped(active);
    condition
}

/// Returns a mask with one lane of `lanes`: the first at or after lane number `turn` (below 64), wrapping at 64. If `lanes` is
/// empty, returns lane `turn`.
#[inline]
pub fn only_one(turn: u32, lanes: u64) -> u64 {
    let first = lanes.rotate_right(turn).trailing_zeros() % 64;
    1u64.rotate_left(first + turn)
}

/// The draws of every lane of a wavefront, and the length of each lane's history.
#[derive(Clone, Debug)]
pub struct Histories {
    conditions: Conditions,
    seed: u64,
    lanes: usize,
    /// Instructions that each lane has executed: k of contract-7-b.
    k: [u64; 64],
}

impl Histories {
    /// Returns the empty histories of `case`.
    pub fn new<U: Programs>(case: &Case<U>) -> Self {
        Histories {
            conditions: case.conditions.clone(),
            seed: case.seed,
            lanes: case.lanes as usize,
            k: [0; 64],
        }
    }

    /// Returns true if the conditions are noise, which depends on no lane's history.
    #[inline]
    pub fn noisy(&self) -> bool {
        self.conditions == Conditions::Noise
    }

    /// Clears the histories at a launch: no lane has executed anything.
    pub fn forget(&mut self) {
        self.k = [0; 64];
    }

    /// Returns the number of instructions that `lane` has executed.
    pub fn k(&self, lane: u32) -> u64 {
        self.k[lane as usize]
    }

    /// Returns the lowest `count` condition bits of draw `k` of `lane`.
    #[inline]
    pub fn draw(&self, lane: u32, k: u64, count: u32) -> u16 {
        self.conditions.draw(self.seed, lane, k, count)
    }

    /// Returns a condition for each lane of `active`: the lowest bit of the lane's next draw. If the conditions are noise,
    /// returns noise for all lanes.
    pub fn condition(&self, active: u64, rng: &mut impl Rng) -> u64 {
        if self.noisy() {
            return noise(rng, active);
        }
        let lanes = (0..self.lanes as u32).filter(|lane| active >> lane & 1 == 1);
        lanes.fold(0, |condition, lane| {
            condition | u64::from(self.draw(lane, self.k(lane), 1)) << lane
        })
    }

    /// Returns draw `k` of `lane`, its bits named by `names`; `None` if the conditions are noise.
    pub fn whole(&self, lane: u32, k: u64, names: &'static [&'static str]) -> Option<Draw> {
        let bits = self.draw(lane, k, BITS);
        (!self.noisy()).then_some(Draw { k, bits, names })
    }

    /// Counts an instruction for the lanes of `mask`.
    #[inline]
    pub fn count(&mut self, mask: u64) {
        // An addition instead of a branch: masks are as random as the programs, so a branch would be mispredicted.
        for (lane, k) in self.k[..self.lanes].iter_mut().enumerate() {
            *k += mask >> lane & 1;
        }
    }
}

/// A draw of one lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draw {
    /// Number of instructions that the lane had executed before this draw: k of contract-7-b.
    pub k: u64,
    /// Condition bits of the draw; bit j is condition bit j.
    pub bits: u16,
    /// The unit's names for the bits that it uses, lowest bit first.
    pub names: &'static [&'static str],
}

/// Condition bits that the lanes keep until the next draw, stored as one lane mask (plane) per bit.
#[derive(Clone, Debug)]
pub struct Planes<const BITS: usize> {
    /// The lanes' draws.
    pub lanes: Histories,
    /// The k of each lane's last draw.
    drawn_at: [u64; 64],
    /// Lanes that have drawn.
    drawn: u64,
    /// Lanes whose last draw is not in the planes yet. They are filled in on demand, because few instructions read them.
    stale: u64,
    planes: [u64; BITS],
}

impl<const BITS: usize> Planes<BITS> {
    /// Returns the planes of `case`: all 0 until the first draw.
    pub fn new<U: Programs>(case: &Case<U>) -> Self {
        Planes {
            lanes: Histories::new(case),
            drawn_at: [0; 64],
            drawn: 0,
            stale: 0,
            planes: [0; BITS],
        }
    }

    /// Clears histories and draws at a launch: no lane has executed or drawn anything.
    pub fn forget(&mut self) {
        self.lanes.forget();
        (self.drawn, self.stale) = (0, 0);
        self.planes = [0; BITS];
    }

    /// Draws all bits anew for the lanes of `mask`, with their present k.
    #[inline]
    pub fn redraw(&mut self, mask: u64) {
        let lanes = self.lanes.lanes;
        for (lane, (at, k)) in self.drawn_at[..lanes]
            .iter_mut()
            .zip(&self.lanes.k)
            .enumerate()
        {
            if mask >> lane & 1 == 1 {
                *at = *k;
            }
        }
        self.drawn |= mask;
        self.stale |= mask;
    }

    /// Sets condition bit `j` of every lane to 0.
    pub fn clear(&mut self, j: usize) {
        self.refresh();
        self.planes[j] = 0;
    }

    /// Brings the planes up to date with the last draws and returns them.
    pub fn refresh(&mut self) -> &[u64; BITS] {
        let stale = std::mem::take(&mut self.stale);
        if stale == 0 {
            return &self.planes;
        }
        // Condition bits 0 to 7, and 8 to 15, one byte per lane.
        let mut drawn = [[0; 64]; 2];
        let mut left = stale;
        while left != 0 {
            let lane = left.trailing_zeros();
            left &= left - 1;
            let k = self.drawn_at[lane as usize];
            let bits = self.lanes.draw(lane, k, BITS as u32).to_le_bytes();
            for (byte, bits) in drawn.iter_mut().zip(bits) {
                byte[lane as usize] = bits;
            }
        }
        let lanes = self.lanes.lanes.next_multiple_of(8);
        for (j, now) in self.planes.iter_mut().enumerate() {
            *now = *now & !stale | plane(&drawn[j / 8][..lanes], j as u32 % 8);
        }
        &self.planes
    }

    /// Returns the last draw of `lane`, its bits named by `names`; `None` before the first draw, or if the conditions are noise.
    pub fn last(&self, lane: u32, names: &'static [&'static str]) -> Option<Draw> {
        let drawn = self.drawn >> lane & 1 == 1;
        let k = self.drawn_at[lane as usize];
        self.lanes.whole(lane, k, names).filter(|_| drawn)
    }

    /// Returns all condition bits of the last draw of `lane`, including those without a plane; 0 before the first draw.
    pub fn last_bits(&self, lane: u32) -> u16 {
        match self.drawn >> lane & 1 == 1 {
            true => (self.lanes).draw(lane, self.drawn_at[lane as usize], self::BITS),
            false => 0,
        }
    }

    /// Returns the whole word of the last draw of `lane`; 0 before the first draw, or if the conditions are a table or noise.
    pub fn last_word(&self, lane: u32) -> u64 {
        match self.lanes.conditions.are_drawn() && self.drawn >> lane & 1 == 1 {
            true => draw_word(self.lanes.seed, lane, self.drawn_at[lane as usize]),
            false => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    use super::*;

    /// Checks how often each shape of noise occurs, in 16ths, and how often a lane has a 1.
    #[test]
    fn noise_is_often_the_same_for_all_lanes_or_for_all_but_one() {
        const DRAWS: usize = 40_000;
        let mut rng = Pcg64Mcg::seed_from_u64(5);
        let active = 0x00ff_0000_1000_0801;
        let mut kinds = [0; 5];
        let (mut ones, mut of_lanes) = (0, [0u32; 64]);
        let mut equal = 0;
        for _ in 0..DRAWS / 11 {
            let conditions = Noise::<11>::draw(&mut rng).shaped(active);
            equal += usize::from(conditions[3] == conditions[7]);
            for condition in conditions {
                let alone = |bits: u64| bits.count_ones() == 1 && bits & active != 0;
                kinds[match condition {
                    0 => 0,
                    u64::MAX => 1,
                    one if alone(one) => 2,
                    one if alone(!one) => 3,
                    _ => 4,
                }] += 1;
                ones += condition.count_ones();
                for (lane, ones) in of_lanes.iter_mut().enumerate() {
                    *ones += (condition >> lane & 1) as u32;
                }
            }
        }
        let near = |n: u32, sixteenths: f64| {
            let share = f64::from(n) * 16.0 / DRAWS as f64;
            assert!(
                (share - sixteenths).abs() < 0.3,
                "{kinds:?} {share} {sixteenths}"
            );
        };
        // One lane of all 64, and one of the active lanes. The former is active in 11 of 64 cases.
        let expected = [2.0, 2.0, 1.0 + 11.0 / 64.0, 1.0, 10.0 - 11.0 / 64.0];
        for (n, sixteenths) in kinds.into_iter().zip(expected) {
            near(n, sixteenths);
        }
        // A single lane contributes almost nothing, and all lanes but one almost as much as all.
        near(ones / 64, 7.5);
        for ones in of_lanes {
            near(ones, 7.5);
        }
        // Equal if both are all 0 or both all 1, with probability (2/16)^2 each; almost never otherwise.
        assert!((60..200).contains(&equal), "{equal}");
    }

    #[test]
    fn only_one_is_a_lane_of_those_given() {
        for turn in 0..64 {
            assert_eq!(only_one(turn, 0), 1 << turn);
            assert_eq!(only_one(turn, u64::MAX), 1 << turn);
            assert_eq!(
                only_one(turn, 1 << 63 | 1 << 7),
                if (8..64).contains(&turn) {
                    1 << 63
                } else {
                    1 << 7
                }
            );
        }
    }

    #[test]
    fn condition_bits_found_at_once_are_those_of_the_formula() {
        for k in 0..2000 {
            let word = draw_word(7, (k % 64) as u32, k);
            for p16 in 0..=16 {
                for count in 0..=BITS {
                    let each = (0..count).fold(0, |acc, j| acc | u16::from(bit(word, j, p16)) << j);
                    assert_eq!(bits(word, count, p16), each, "{word:016x} {count} {p16}");
                }
            }
        }
    }

    /// Before, the other bits of a row set the conditions of the lanes above.
    #[test]
    fn a_condition_is_the_lowest_bit_of_a_row_and_sets_no_other_lane() {
        let rows = "{\"lane\":0,\"k\":0,\"bits\":3}\n{\"lane\":2,\"k\":0,\"bits\":65534}\n";
        let rows = crate::case::Table::parse(rows, "rows").unwrap();
        let mut rng = Pcg64Mcg::seed_from_u64(5);
        for (conditions, others) in [
            (Conditions::Table(rows.clone()), 0),
            (Conditions::Changed { p16: 16, rows }, 0b1010),
        ] {
            let histories = Histories {
                conditions,
                seed: 1,
                lanes: 4,
                k: [0; 64],
            };
            assert_eq!(histories.condition(0b1111, &mut rng), 0b0001 | others);
            assert_eq!(histories.condition(0b1110, &mut rng), others);
            assert_eq!(histories.draw(2, 0, 16), 65534);
        }
    }
}
