//! The pins and the state of the unit, generated from `rtl/r700/design.toml` by the build script: the structs, which the bench
//! top has too, and the list of fields.

use reconverge_bench::field::across;

include!(concat!(env!("OUT_DIR"), "/r700.rs"));

impl State {
    /// Returns the class of lane `i` (0 ACTIVE, 1 BRANCH, 2 CONT, 3 BRK).
    pub fn class(&self, i: usize) -> u8 {
        across(&self.st, i) as u8
    }

    /// Returns the first `lanes` lanes as the spec's traces print them: `Abck`.
    pub fn classes(&self, lanes: usize) -> String {
        (0..lanes)
            .map(|i| LANE_LETTERS[usize::from(self.class(i))])
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_print_as_in_the_traces_of_the_spec() {
        let s = State {
            st: [0b1010, 0b1100],
            ..State::default()
        };
        assert_eq!(s.classes(4), "Abck");
    }
}
