//! The pins and the state of the unit, generated from `rtl/spa5/design.toml` by the build script: the structs, which the bench
//! top has too, and the list of fields.

include!(concat!(env!("OUT_DIR"), "/spa5.rs"));

/// Returns the number of `name` in the declaration; a name that is not there does not compile.
const fn number(names: &[&str], name: &str) -> u8 {
    let mut number = 0;
    while !same(names[number].as_bytes(), name.as_bytes()) {
        number += 1;
    }
    number as u8
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    match (a, b) {
        ([], []) => true,
        ([x, a @ ..], [y, b @ ..]) => *x == *y && same(a, b),
        _ => false,
    }
}

// Values of `status` and of `top_type`.
pub(super) const RUN: u8 = number(&STATUS_NAMES, "RUN");
pub(super) const DONE: u8 = number(&STATUS_NAMES, "DONE");
pub(super) const ERR: u8 = number(&STATUS_NAMES, "ERR");
pub(super) const UNWIND: u8 = number(&STATUS_NAMES, "UNWIND");
pub(super) const SSY: u8 = number(&TOKEN_NAMES, "SSY");
pub(super) const PBK: u8 = number(&TOKEN_NAMES, "PBK");
pub(super) const PCNT: u8 = number(&TOKEN_NAMES, "PCNT");
pub(super) const RET: u8 = number(&TOKEN_NAMES, "RET");
pub(super) const DIV: u8 = number(&TOKEN_NAMES, "DIV");

impl State {
    /// Returns thread `i` as a letter: `A` active, `b` waits for a PBK token, `c` for a PCNT token, `r` for a RET
    /// token, `x` exited, `.` waits in an SSY or DIV token.
    pub fn letter(&self, i: usize) -> char {
        let masks = [
            self.active,
            self.d_brk,
            self.d_cont,
            self.d_ret,
            self.exited,
        ];
        masks
            .iter()
            .zip("Abcrx".chars())
            .find(|(mask, _)| *mask >> i & 1 == 1)
            .map_or('.', |(_, letter)| letter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_print_as_letters() {
        let s = State {
            active: 1,
            d_brk: 2,
            d_cont: 4,
            d_ret: 8,
            exited: 16,
            ..State::default()
        };
        assert_eq!((0..6).map(|i| s.letter(i)).collect::<String>(), "Abcrx.");
    }
}
