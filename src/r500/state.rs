//! The pins and the state of the unit, generated from `rtl/r500/design.toml` by the build script: the structs, which the bench
//! top has too, and the list of fields.

use reconverge_bench::field::across;

include!(concat!(env!("OUT_DIR"), "/r500.rs"));

impl State {
    /// Returns the class of lane `i` (0 ACTIVE, 1 BRANCH, 2 CONT, 3 BRK).
    pub fn class(&self, i: usize) -> u8 {
        across(&self.st, i) as u8
    }
    /// Returns the branch counter of lane `i`.
    pub fn bc(&self, i: usize) -> u8 {
        across(&self.bc, i) as u8
    }
    /// Returns the loop-inactive counter of lane `i`.
    pub fn lc(&self, i: usize) -> u8 {
        across(&self.lc, i) as u8
    }
    /// Returns lane `i` as the spec's traces print it: `A`, `B2`, `C0`, `K1`; with both counters if they are not
    /// canonical (r500-3.1), which only happens in broken RTL.
    pub fn lane(&self, i: usize) -> String {
        let (class, bc, lc) = (self.class(i), self.bc(i), self.lc(i));
        let letter = LANE_LETTERS[usize::from(class)];
        match class {
            0 if bc == 0 && lc == 0 => letter.to_string(),
            1 if lc == 0 => format!("{letter}{bc}"),
            2 | 3 if bc == 0 => format!("{letter}{lc}"),
            _ => format!("{letter}[bc={bc},lc={lc}]"),
        }
    }
    /// Returns constant `n` as written, bits 23:0 of `US_FC_INT_CONST_n`.
    pub fn int(&self, n: usize) -> u32 {
        let [a, b, c] = self.int_const[n];
        u32::from_le_bytes([a, b, c, 0])
    }
    /// Returns loop frame `f` as (is REP, count, aL).
    pub fn frame(&self, f: usize) -> (bool, u8, u8) {
        let w = self.loops[f];
        (w >> 16 & 1 == 1, (w >> 8) as u8, w as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_print_as_in_the_traces_of_the_spec() {
        let s = State {
            st: [0b1010, 0b1100],
            bc: [0b10, 0b10, 0, 0, 0b10],
            lc: [0b1000, 0],
            ..State::default()
        };
        assert_eq!([0, 1, 2, 3].map(|i| s.lane(i)), ["A", "B19", "C0", "K1"]);
    }
}
