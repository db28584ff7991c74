//! A program as a list of instructions. The shrinker removes instructions to make a program smaller; a guided run changes
//! instructions to make a new program from an old one.

use std::iter;

use crate::assembly::Assembly;

/// One instruction of a new program that [`Instructions::laid_out`] makes from an old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// The old instruction of this number.
    Old(usize),
    /// A plain instruction that replaces the old one of this number; jumps to the old one lead here.
    Instead(usize),
    /// An additional plain instruction; jumps to the instruction after it lead here.
    New,
}

impl Piece {
    /// Returns the number of the old instruction that this is or replaces.
    pub fn original(self) -> Option<usize> {
        match self {
            Piece::Old(n) | Piece::Instead(n) => Some(n),
            Piece::New => None,
        }
    }
}

/// Variants of a value, each with one edit; none is equal to the value itself.
#[derive(Debug)]
pub struct Edits<'a, T> {
    of: &'a T,
    /// The variants so far.
    pub all: Vec<T>,
}

impl<'a, T: Clone + PartialEq> Edits<'a, T> {
    /// Returns no variant of `of` yet.
    pub const fn of(of: &'a T) -> Self {
        Edits {
            of,
            all: Vec::new(),
        }
    }

    /// Adds the variant with this edit, unless the edit changes nothing.
    pub fn with(&mut self, edit: impl FnOnce(&mut T)) {
        let mut new = self.of.clone();
        edit(&mut new);
        if new != *self.of {
            self.all.push(new);
        }
    }
}

/// A program as instructions, numbered from 0. A *plain* instruction does not affect flow control: ALU, NOP.
///
/// [`places`] and [`moved`] compute the new targets of jumps.
pub trait Instructions: Clone {
    /// Returns the number of instructions, without padding after the last one (spa5: NOPs of the last bundle).
    fn count(&self) -> usize;
    /// Returns the address of instruction `number`. By default instruction n is at address n.
    fn address(&self, number: usize) -> u32 {
        u32::try_from(number).unwrap_or(u32::MAX)
    }
    /// Returns the number of the instruction at address `pc`, if there is one. By default instruction n is at address n.
    fn number(&self, pc: u32) -> Option<usize> {
        usize::try_from(pc).ok().filter(|n| *n < self.count())
    }
    /// Returns true if the instruction is plain and has no other effect.
    fn is_plain(&self, number: usize) -> bool;
    /// Returns the program that consists of `pieces`, whose numbers must ascend. Jumps, the launch address and the end address
    /// lead to the same instruction as before or, if it was removed, to the next remaining one. An address after the end of
    /// the old program leads equally far after the end of the new one.
    #[must_use]
    fn laid_out(&self, pieces: &[Piece]) -> Self;
    /// Returns where `address`, an address of the program, is in [`Instructions::laid_out`] of `pieces`. By default instruction
    /// n is at address n.
    fn led(&self, pieces: &[Piece], address: u32) -> u32 {
        let led = usize::try_from(address).map(|old| moved(&places(pieces, self.count()), old));
        led.map_or(address, |new| u32::try_from(new).unwrap_or(u32::MAX))
    }
    /// Returns programs with one thing simplified: a register or constant at its default or smaller, a field of an
    /// instruction set to 0. Repeated application always terminates. By default there are none, and programs shrink only by
    /// removal of instructions.
    fn simpler(&self) -> Vec<Self> {
        Vec::new()
    }
    /// Returns the program with a jump from its end to its beginning, for all lanes. By default the program is unchanged: no
    /// program is made a loop.
    #[must_use]
    fn looped(&self) -> Self {
        self.clone()
    }
    /// Replaces instruction `to` by an unchanged copy of instruction `from` of `donor`.
    ///
    /// # Panics
    /// There is no instruction of that number.
    fn copy(&mut self, to: usize, donor: &Self, from: usize);
    /// Flips bit `bit`, modulo the bits of an instruction.
    ///
    /// # Panics
    /// There is no instruction of that number.
    fn flip(&mut self, number: usize, bit: u32);
    /// Returns the programs with another target of one instruction, one for each of its targets: instruction `to`, or the place after the
    /// last one. By default no instruction has a target.
    ///
    /// # Panics
    /// There is no instruction of that number.
    fn retargeted(&self, _number: usize, _to: usize) -> Vec<Self> {
        Vec::new()
    }
}

/// Steps after which [`Instructions::simpler`] counts as endless.
const SIMPLER: usize = 10_000;

/// Compares a program type of one's own with what this trait and [`Assembly`] ask of it, for `program`. Returns what is wrong:
///
/// * its text, or its words, do not assemble to it;
/// * laid out with all of its instructions it is another program;
/// * with an instruction put in front of it, a target that was given to an instruction ([`Instructions::retargeted`]) is not that of the same
///   instruction: [`Instructions::laid_out`] forgets it;
/// * there is always a simpler program.
///
/// Programs that use all operands find most. An address that is a target to neither method is not found.
pub fn wrong_edits<P: Assembly + Instructions>(program: &P) -> Vec<String> {
    let mut wrong = Vec::new();
    for (what, text) in [("text", program.to_text()), ("words", program.to_words())] {
        match P::assemble(&text, what) {
            Ok(mut read) => {
                read.rename(program.name().to_owned());
                if read != *program {
                    wrong.push(format!(
                        "assembled from its {what} it is another program:\n{text}"
                    ));
                }
            }
            Err(why) => wrong.push(format!("its {what} cannot be assembled: {why}")),
        }
    }
    let count = program.count();
    let all: Vec<_> = (0..count).map(Piece::Old).collect();
    if program.laid_out(&all) != *program {
        wrong.push("laid out with all of its instructions it is another program".to_owned());
    }
    let behind: Vec<_> = iter::once(Piece::New).chain(all).collect();
    let moved = program.laid_out(&behind);
    // What led to the first instruction leads to the new one.
    for (number, to) in (0..count).flat_map(|number| (1..=count).map(move |to| (number, to))) {
        let led = program.retargeted(number, to);
        let led = led.iter().map(|program| program.laid_out(&behind));
        if !led.eq(moved.retargeted(number + 1, to + 1)) {
            wrong.push(format!(
                "instruction {number}, led to {to}, does not lead there when one is put in front of both"
            ));
        }
    }
    if [false, true]
        .into_iter()
        .any(|last| has_no_end(program, last))
    {
        wrong.push(format!(
            "after {SIMPLER} simpler programs there is still a simpler one"
        ));
    }
    wrong
}

/// Returns whether there is always a simpler program, if the first one of each list is taken, or, with `last`, the last one.
fn has_no_end<P: Instructions>(program: &P, last: bool) -> bool {
    let mut now = program.clone();
    for _ in 0..SIMPLER {
        let mut simpler = now.simpler();
        let next = match last {
            true => simpler.pop(),
            false => simpler.into_iter().next(),
        };
        match next {
            Some(next) => now = next,
            None => return false,
        }
    }
    true
}

/// Returns the positions in `pieces` of `count` instructions and of the place after them: `count` + 1 numbers. A removed
/// instruction has the position of the next remaining one.
pub fn places(pieces: &[Piece], count: usize) -> Vec<usize> {
    let mut places = vec![pieces.len(); count + 1];
    let mut begin = 0;
    let mut next = 0;
    for (at, piece) in pieces.iter().enumerate() {
        if let Some(number) = piece.original() {
            places[next..=number].fill(begin);
            next = number + 1;
            begin = at + 1;
        }
    }
    // After the last remaining instruction, padding included.
    places[next..].fill(begin);
    places[count] = pieces.len();
    places
}

/// Returns the position in the new program of `old`, a position in the old one; `places` comes from [`places`]. A position
/// after the end of the old program is equally far after the end of the new one.
pub fn moved(places: &[usize], old: usize) -> usize {
    let (last, new_end) = (places.len() - 1, places[places.len() - 1]);
    places
        .get(old)
        .copied()
        .unwrap_or_else(|| new_end + (old - last))
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::words::Words;
    use crate::words::tests::Two;
    use reconverge_bench::input::InputError;

    /// A program with a mistake.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    struct Mistaken(Words<Two>, u8);

    const NAMES: [&str; 7] = [
        "none", "text", "all", "target", "simpler", "words", "unread",
    ];

    impl Assembly for Mistaken {
        fn name(&self) -> &str {
            self.0.name()
        }
        fn rename(&mut self, name: String) {
            self.0.rename(name);
        }
        fn disassemble(&self, pc: u32) -> String {
            self.0.disassemble(pc)
        }
        fn to_text(&self) -> String {
            let text = self.0.to_text();
            let text = match self.1 {
                1 => text.replace("not ", ""),
                6 => text.replace("GO", "COME"),
                _ => text,
            };
            format!("{}\n{text}", self.1)
        }
        fn to_words(&self) -> String {
            let text = match self.1 {
                5 => Words::<Two>::new("p", vec![0]).to_words(),
                _ => self.0.to_words(),
            };
            format!("{}\n{text}", self.1)
        }
        fn assemble(text: &str, file: &str) -> Result<Self, InputError> {
            let (mistake, text) = text.split_once('\n').unwrap();
            let mistake = mistake.parse().unwrap();
            Ok(Mistaken(Words::assemble(text, file)?, mistake))
        }
    }

    impl Instructions for Mistaken {
        fn count(&self) -> usize {
            self.0.count()
        }
        fn is_plain(&self, number: usize) -> bool {
            self.0.is_plain(number)
        }
        fn laid_out(&self, pieces: &[Piece]) -> Self {
            let mut new = self.0.laid_out(pieces);
            match self.1 {
                2 => new.words[0] = 0,
                3 => {
                    // The target that does not stand last keeps its place.
                    for (word, piece) in new.words.iter_mut().zip(pieces) {
                        if let (0x800.., Piece::Old(old)) = (*word, piece) {
                            *word = *word & !0x270 | self.0.words[*old] & 0x270;
                        }
                    }
                }
                _ => {}
            }
            Mistaken(new, self.1)
        }
        fn simpler(&self) -> Vec<Self> {
            let mut simpler = self.0.simpler();
            if self.1 == 4 {
                simpler.push(self.0.clone());
            }
            simpler
                .into_iter()
                .map(|new| Mistaken(new, self.1))
                .collect()
        }
        fn copy(&mut self, to: usize, donor: &Self, from: usize) {
            self.0.copy(to, &donor.0, from);
        }
        fn flip(&mut self, number: usize, bit: u32) {
            self.0.flip(number, bit);
        }
        fn retargeted(&self, number: usize, to: usize) -> Vec<Self> {
            let led = self.0.retargeted(number, to).into_iter();
            led.map(|new| Mistaken(new, self.1)).collect()
        }
    }

    #[test]
    fn a_mistake_in_a_program_type_is_named() {
        let text = "BREAK not end=2 3\nNOP\nGO 1\nWAIT end=3\n";
        let program = Words::<Two>::assemble(text, "p").unwrap();
        for (mistake, name) in (0..).zip(NAMES) {
            let wrong = wrong_edits(&Mistaken(program.clone(), mistake));
            let begins = |start: &str| wrong.iter().any(|line| line.starts_with(start));
            match name {
                "none" => assert_eq!(wrong, [""; 0]),
                "text" => assert!(begins("assembled from its text it is another"), "{wrong:?}"),
                "all" => assert!(begins("laid out with all"), "{wrong:?}"),
                "target" => assert_eq!(wrong.len(), 8, "{wrong:?}"),
                "words" => assert!(
                    begins("assembled from its words it is another"),
                    "{wrong:?}"
                ),
                "unread" => assert!(begins("its text cannot be assembled"), "{wrong:?}"),
                _ => assert!(begins("after 10000 simpler programs"), "{wrong:?}"),
            }
        }
    }

    #[test]
    fn what_led_to_an_instruction_leads_to_it_or_to_the_next_one_left() {
        use Piece::{Instead, New, Old};
        assert_eq!(places(&[Old(0), Old(1), Old(2)], 3), [0, 1, 2, 3]);
        assert_eq!(places(&[Old(1)], 4), [0, 0, 1, 1, 1]);
        assert_eq!(places(&[New, Old(1), New, Instead(3)], 4), [0, 0, 2, 2, 4]);
        assert_eq!(places(&[Old(0), New], 3), [0, 1, 1, 2]);
        assert_eq!(places(&[New], 2), [0, 0, 1]);
        let places = places(&[Old(1)], 4);
        assert_eq!([2, 4, 5, 9].map(|n| moved(&places, n)), [1, 1, 2, 6]);
    }
}
