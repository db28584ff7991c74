//! Simple programs: each instruction is one word at one address, starting at address 0, with at most one target. A unit with
//! such programs describes its words ([`Code`]) and gets assembler, disassembler, checks and the edits of shrinker and guided
//! run.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::marker::PhantomData;

use serde::{Deserialize, Serialize};

use crate::assembly::Assembly;
use crate::instructions::{Instructions, Piece, moved, places};
use reconverge_bench::input::InputError;
use reconverge_bench::text::{Errors, Item, items, program_name};

/// A mnemonic, its word with target 0, and whether it has a target.
pub type Mnemonic = (&'static str, u32, bool);

/// The encoding of a unit's instructions. The target is the lowest bits of a word.
pub trait Code: Copy + Debug + Default + PartialEq + Send + Sync + 'static {
    /// Bits of a word, at most 32.
    const BITS: u32;
    /// Bits of a target and of an address, at most 24.
    const TARGET: u32;
    /// All instructions, with their mnemonics in upper case; the first one is plain ([`Instructions`]).
    const MNEMONICS: &'static [Mnemonic];
    /// The word at addresses after the end of a program, preferably an illegal one.
    const OUTSIDE: u32;
}

/// A program: its words, starting at address 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Words<C> {
    /// Name of the program.
    pub name: String,
    /// Words of the program.
    pub words: Vec<u32>,
    #[serde(skip)]
    code: PhantomData<C>,
}

impl<C: Code> Words<C> {
    /// Returns a program of these words.
    pub fn new(name: &str, words: Vec<u32>) -> Self {
        Words {
            name: name.to_owned(),
            words,
            code: PhantomData,
        }
    }

    /// Returns the word at `pc`, [`Code::OUTSIDE`] after the end of the program.
    pub fn word(&self, pc: u32) -> u32 {
        let word = self.words.get(pc as usize);
        word.copied().unwrap_or(C::OUTSIDE)
    }

    /// Splits `word` into the word with target 0, and the target.
    fn apart(word: u32) -> (u32, u32) {
        let target = word & ((1 << C::TARGET) - 1);
        (word - target, target)
    }

    /// Returns the index of the mnemonic of `word` in [`Code::MNEMONICS`]; `None` if it has none.
    pub fn number_of(word: u32) -> Option<usize> {
        let code = Self::apart(word).0;
        C::MNEMONICS.iter().position(|(_, known, _)| *known == code)
    }

    /// Returns the target of `word`, if it has one.
    pub fn target(word: u32) -> Option<u32> {
        let leads = Self::number_of(word).is_some_and(|n| C::MNEMONICS[n].2);
        leads.then(|| Self::apart(word).1)
    }
}

impl<C: Code> Assembly for Words<C> {
    fn name(&self) -> &str {
        &self.name
    }

    fn rename(&mut self, name: String) {
        self.name = name;
    }

    /// Checks the values that a file can give.
    ///
    /// # Errors
    /// There are no words, there are more words than addresses, or a word has too many bits.
    fn check(&self, file: &str) -> Result<(), InputError> {
        let bad = |why: String| Err(InputError::new(file, 0, "words", why));
        let (count, most) = (self.words.len(), 1 << C::TARGET);
        let wide = |word: &&u32| **word > u32::MAX >> (32 - C::BITS);
        match self.words.iter().find(wide) {
            _ if count == 0 => bad("there are none".to_owned()),
            _ if count > most => bad(format!("{count}, the memory has room for {most}")),
            Some(word) => bad(format!("{word:#x} has more than {} bits", C::BITS)),
            None => Ok(()),
        }
    }

    /// Returns the instruction at `pc` as text: `.word` if no mnemonic assembles to it.
    fn disassemble(&self, pc: u32) -> String {
        let word = self.word(pc);
        let digits = C::BITS.div_ceil(4) as usize;
        match (Self::number_of(word), Self::apart(word).1) {
            (Some(n), target) if C::MNEMONICS[n].2 => format!("{} {target}", C::MNEMONICS[n].0),
            (Some(n), 0) => C::MNEMONICS[n].0.to_owned(),
            // Keeps the bits that the instruction ignores.
            _ => format!(".word 0x{word:0digits$x}"),
        }
    }

    /// Returns the program as text that assembles to the same words.
    fn to_text(&self) -> String {
        let lines = (0..)
            .zip(&self.words)
            .map(|(pc, _)| (pc, self.disassemble(pc)));
        lines
            .map(|(pc, line)| format!("{line:<16} // {pc}\n"))
            .collect()
    }

    /// Assembles a program: one instruction per line, labels `name:`, targets by label or address, `.word` for any word.
    ///
    /// # Errors
    /// A line is none of these, or the program fails [`Assembly::check`].
    fn assemble(text: &str, file: &str) -> Result<Self, InputError> {
        let (mut words, mut labels, mut targets) = (Vec::new(), BTreeMap::new(), Vec::new());
        items(text, file, |at, item| {
            let (name, operand) = match item {
                Item::Label(name) => {
                    return match labels.insert(name, words.len()) {
                        None => Ok(()),
                        Some(_) => Err(at.error("label", format!("`{name}` is defined twice"))),
                    };
                }
                Item::Line(name, operand) => (name.to_uppercase(), operand),
            };
            if name == ".WORD" {
                words.push(at.unsigned("word", operand, u32::MAX >> (32 - C::BITS))?);
                return Ok(());
            }
            let known = C::MNEMONICS.iter().find(|(known, ..)| *known == name);
            let Some((_, word, leads)) = known else {
                return Err(at.unknown_mnemonic(&name, C::MNEMONICS.iter().map(|m| m.0)));
            };
            match (leads, operand) {
                (true, "") => return Err(at.error(&name, "needs a target")),
                (true, _) => targets.push((at, words.len(), operand)),
                (false, "") => {}
                (false, _) => return Err(at.error(&name, format!("does not take `{operand}`"))),
            }
            words.push(*word);
            Ok(())
        })?;
        let most = (1 << C::TARGET) - 1;
        let mut errors = Errors::default();
        for (at, number, target) in targets {
            let led: Result<u32, InputError> = match labels.get(target) {
                // Checks that the address fits into the target bits.
                Some(place) => at.unsigned("target", &place.to_string(), most),
                None if target.starts_with(|c: char| c.is_ascii_digit()) => {
                    at.unsigned("target", target, most)
                }
                None => Err(at.undefined_label("target", target, labels.keys())),
            };
            words[number] |= errors.note(led).unwrap_or(0);
            if errors.is_full() {
                break;
            }
        }
        errors.none()?;
        let program = Words::new(&program_name(file), words);
        program.check(file)?;
        Ok(program)
    }
}

impl<C: Code> Instructions for Words<C> {
    fn count(&self) -> usize {
        self.words.len()
    }

    fn is_plain(&self, number: usize) -> bool {
        Self::number_of(self.words[number]) == Some(0)
    }

    fn laid_out(&self, pieces: &[Piece]) -> Self {
        let places = places(pieces, self.words.len());
        let words = pieces.iter().map(|piece| {
            let Piece::Old(number) = *piece else {
                return C::MNEMONICS[0].1;
            };
            let word = self.words[number];
            match Self::target(word) {
                Some(target) => self.led_to(word, moved(&places, target as usize)),
                None => word,
            }
        });
        Words::new(&self.name, words.collect())
    }

    fn simpler(&self) -> Vec<Self> {
        let numbers = 0..self.words.len();
        let simple = numbers.filter_map(|number| {
            let known = Self::number_of(self.words[number])?;
            let (_, word, leads) = C::MNEMONICS[known];
            // Clears the bits that the instruction ignores.
            (!leads && word != self.words[number]).then(|| self.with(number, word))
        });
        simple.collect()
    }

    fn copy(&mut self, to: usize, donor: &Self, from: usize) {
        self.words[to] = donor.words[from];
    }

    fn flip(&mut self, number: usize, bit: u32) {
        self.words[number] ^= 1 << (bit % C::BITS);
    }

    fn retargeted(&self, number: usize, to: usize) -> Option<Self> {
        let word = self.words[number];
        Self::target(word)?;
        Some(self.with(number, self.led_to(word, to)))
    }
}

impl<C: Code> Words<C> {
    /// Returns `word` with target `to`, limited to the highest address.
    fn led_to(&self, word: u32, to: usize) -> u32 {
        let most = (1 << C::TARGET) - 1;
        Self::apart(word).0 | u32::try_from(to).unwrap_or(most).min(most)
    }

    fn with(&self, number: usize, word: u32) -> Self {
        let mut program = self.clone();
        program.words[number] = word;
        program
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Words of six bits: an instruction without a target and one with it.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub(crate) struct Small;

    impl Code for Small {
        const BITS: u32 = 6;
        const TARGET: u32 = 4;
        const MNEMONICS: &'static [Mnemonic] = &[("NOP", 0, false), ("GO", 0x10, true)];
        const OUTSIDE: u32 = 0x3f;
    }

    fn read(text: &str) -> Result<Vec<u32>, String> {
        let program = Words::<Small>::assemble(text, "small.s").map_err(|e| e.to_string())?;
        let again = Words::assemble(&program.to_text(), "small.s").unwrap();
        assert_eq!(again, program);
        Ok(program.words)
    }

    #[test]
    fn words_and_text_are_each_other_s_inverse() {
        let words = read("on: nop\nGO on // back\n GO 15\n.word 0x3f\n.word 1\nGO on\n");
        assert_eq!(words, Ok(vec![0, 0x10, 0x1f, 0x3f, 1, 0x10]));
        assert_eq!(read(&"NOP\n".repeat(16)), Ok(vec![0; 16]));
        for (text, why) in [
            ("", "small.s: words: there are none"),
            (
                "\nNPO\n",
                "small.s:2: mnemonic: `NPO` is not an instruction, statement or directive; did you mean `NOP`?",
            ),
            ("GO 16\n", "small.s:1: target: 16 is not in 0..15"),
            ("GO\n", "small.s:1: GO: needs a target"),
            ("NOP 1\n", "small.s:1: NOP: does not take `1`"),
            (
                "again: GO agian\n",
                "small.s:1: target: label `agian` is not defined; did you mean `again`?",
            ),
            ("a:\na: NOP\n", "small.s:2: label: `a` is defined twice"),
            (".word 64\n", "small.s:1: word: 64 is not in 0..63"),
        ] {
            assert_eq!(read(text), Err(why.to_owned()));
        }
        let why = "small.s: words: 17, the memory has room for 16";
        assert_eq!(read(&"NOP\n".repeat(17)), Err(why.to_owned()));
        let wide = Words::<Small>::new("wide", vec![64])
            .check("x.json")
            .unwrap_err();
        assert_eq!(wide.to_string(), "x.json: words: 0x40 has more than 6 bits");
    }

    #[test]
    fn targets_follow_their_instructions() {
        let program = Words::<Small>::new("p", vec![0, 0x13, 0x01, 0x10]);
        assert_eq!([program.word(1), program.word(4)], [0x13, 0x3f]);
        let pieces = [Piece::New, Piece::Old(1), Piece::Old(3)];
        assert_eq!(program.laid_out(&pieces).words, [0, 0x12, 0x10]);
        assert_eq!(program.led(&pieces, 3), 2);
        assert_eq!((program.number(3), program.number(4)), (Some(3), None));
        assert_eq!(program.simpler(), [program.with(2, 0)]);
        assert_eq!(program.retargeted(1, 99), Some(program.with(1, 0x1f)));
        assert_eq!(program.retargeted(0, 1), None);
        assert!(program.is_plain(0) && program.is_plain(2) && !program.is_plain(1));
    }
}
