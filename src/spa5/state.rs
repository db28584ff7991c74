//! The pins and the state of the unit, generated from `rtl/spa5/design.toml` by the build script: the structs, which the bench
//! top has too, and the list of fields.

include!(concat!(env!("OUT_DIR"), "/spa5.rs"));

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
