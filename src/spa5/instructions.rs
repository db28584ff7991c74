//! A program as a list of instructions that can be removed. Control words are not included: they follow the bundles.

use std::collections::{BTreeMap, BTreeSet};

use super::isa::{CONTROL, Cond, NOP, Target, Word, is_control, norm};
use super::program::{BUNDLE, Program, WORDS};
use reconverge_program::instructions::{Edits, Instructions, Piece, moved, places};

/// Instructions of a bundle.
const SLOTS: usize = WORDS - 1;

/// Returns the address of an instruction, counted from the program's base.
fn address(number: usize) -> u32 {
    let word = number / SLOTS * WORDS + number % SLOTS + 1;
    u32::try_from(word * 8).unwrap_or(u32::MAX)
}

/// Returns the number of the instruction at such an address, or of the one after the control word there; an address within the first
/// control word has no instruction.
fn number(address: u32) -> usize {
    let word = (norm(address) / 8) as usize;
    (word / WORDS * SLOTS + word % WORDS).wrapping_sub(1)
}

impl Program {
    fn with_word(&self, number: usize, word: u64) -> Self {
        let mut program = self.clone();
        program.words[address(number) as usize / 8] = word;
        program
    }

    /// Returns the instruction with this number.
    fn nth(&self, number: usize) -> u64 {
        let word = self.words.get(address(number) as usize / 8);
        word.copied().unwrap_or_default()
    }

    fn size(&self) -> u32 {
        u32::try_from(self.words.len() * 8).unwrap_or(u32::MAX)
    }

    /// Returns the new place of `old`, an address counted from the base of this program, after its instructions moved to `places` and its
    /// size became `size` bytes. An address outside stays as far outside; a misaligned one stays misaligned.
    fn led_to(&self, places: &[usize], size: u32, old: i64) -> i64 {
        match u32::try_from(old) {
            Ok(inside) if inside < self.size() => {
                let new = address(moved(places, number(inside & !7)));
                // By the control word, if there is still one before it.
                let through = is_control(inside & !7) && is_control(new - 8);
                i64::from(if through { new - 8 } else { new }) + old % 8
            }
            Ok(_) => old - i64::from(self.size()) + i64::from(size),
            Err(_) => old,
        }
    }
}

impl Instructions for Program {
    fn count(&self) -> usize {
        let all = self.words.len() / WORDS * SLOTS;
        let filled = |n: &usize| self.nth(*n) != NOP;
        (0..all).rev().find(filled).map_or(0, |last| last + 1)
    }

    fn address(&self, number: usize) -> u32 {
        address(number).wrapping_add(self.prog_base)
    }

    fn number(&self, pc: u32) -> Option<usize> {
        Some(number(pc.wrapping_sub(self.prog_base))).filter(|n| *n < self.count())
    }

    fn is_plain(&self, number: usize) -> bool {
        matches!(Word::decode(self.nth(number)), Word::Other(_))
    }

    fn laid_out(&self, pieces: &[Piece]) -> Self {
        let all = self.words.len() / WORDS * SLOTS;
        let places = places(pieces, all);
        let bundles = pieces.len().div_ceil(SLOTS).max(1);
        let size = u32::try_from(bundles).unwrap_or(u32::MAX / BUNDLE) * BUNDLE;
        let mut words = Vec::with_capacity(bundles * WORDS);
        let mut constants = self.constants.clone();
        for at in 0..bundles * SLOTS {
            if at % SLOTS == 0 {
                words.push(CONTROL);
            }
            let Some(Piece::Old(n)) = pieces.get(at) else {
                words.push(NOP);
                continue;
            };
            let word = self.nth(*n);
            let decoded = Word::decode(word);
            if let (Some(Target::Bank { .. }), false) =
                (decoded.target(), matches!(decoded, Word::Indirect(_)))
            {
                // The target is in the constant: the low 24 bits, signed.
                let old = self.constant(word);
                let to = i64::from(address(*n)) + 8 + i64::from((old << 8) as i32 >> 8);
                let moved = self.led_to(&places, size, to) - i64::from(address(at)) - 8;
                let held = old & 0xff00_0000 | moved as u32 & 0xff_ffff;
                if held != old {
                    constants.insert(Self::place(word), held);
                }
            }
            // An absolute target has another base.
            let base = match decoded.target() {
                Some(Target::Absolute(_)) => self.prog_base.into(),
                _ => 0,
            };
            let aimed = decoded
                .target()
                .filter(|_| !matches!(decoded, Word::Indirect(_)))
                .and_then(|t| t.address(address(*n)))
                .map(|old| self.led_to(&places, size, old - base) + base)
                .and_then(|new| decoded.aimed(address(at), new));
            // Bits without meaning stay.
            words.push(match aimed {
                Some(aimed) => word ^ decoded.encode() ^ aimed.encode(),
                None => word,
            });
        }
        let led = |old: u32| u32::try_from(self.led_to(&places, size, old.into())).unwrap_or(old);
        let base = self.prog_base;
        let kept = |pc: u32| {
            let n = number(pc.wrapping_sub(base));
            let at = pieces.iter().position(|p| *p == Piece::Old(n))?;
            Some(base.wrapping_add(address(at)))
        };
        let target = |t: &u32| norm(base.wrapping_add(led(t.wrapping_sub(base))));
        let targets: BTreeMap<u32, Vec<u32>> = self
            .targets
            .iter()
            .filter_map(|(pc, to)| Some((kept(*pc)?, to.iter().map(target).collect())))
            .collect();
        let program = Program {
            name: self.name.clone(),
            prog_base: base,
            constants,
            entry: led(self.entry) & !7,
            prog_size: match self.prog_size {
                all if all >= self.size() => all - self.size() + size,
                some => {
                    let before = moved(&places, (some / BUNDLE) as usize * SLOTS);
                    u32::try_from(before.div_ceil(SLOTS)).unwrap_or(0) * BUNDLE
                }
            },
            words,
            targets,
        };
        // A program that became longer may end beyond 2^32.
        match program.last_base() {
            last if last < base => program.at(last),
            _ => program,
        }
    }

    fn copy(&mut self, to: usize, donor: &Self, from: usize) {
        self.words[address(to) as usize / 8] = donor.nth(from);
    }

    fn flip(&mut self, number: usize, bit: u32) {
        self.words[address(number) as usize / 8] ^= 1 << (bit % 64);
    }

    fn led(&self, pieces: &[Piece], address: u32) -> u32 {
        let places = places(pieces, self.words.len() / WORDS * SLOTS);
        let bundles = pieces.len().div_ceil(SLOTS).max(1) as u32;
        let old = address.wrapping_sub(self.prog_base);
        let to = self.led_to(&places, bundles * BUNDLE, old.into());
        self.prog_base
            .wrapping_add(u32::try_from(to).unwrap_or(old))
    }

    fn simpler(&self) -> Vec<Self> {
        // Constants that no word reads change nothing.
        let read: BTreeSet<u32> = self.words.iter().map(|word| Self::place(*word)).collect();
        let mut edits = Edits::of(self);
        edits.with(|p| p.constants.retain(|place, _| read.contains(place)));
        edits.with(|p| p.targets.clear());
        edits.with(|p| *p = p.at(0));
        edits.with(|p| p.entry = 0);
        edits.with(|p| p.entry &= !31);
        edits.with(|p| p.prog_size = p.size());
        edits.with(|p| p.words.iter_mut().step_by(WORDS).for_each(|w| *w = CONTROL));
        for place in self.constants.keys() {
            edits.with(|p| {
                p.constants.remove(place);
            });
        }
        for n in 0..self.count() {
            let decoded = match Word::decode(self.nth(n)) {
                Word::Other(_) => Word::NOP,
                other => other,
            };
            // First without the bits that are ignored.
            for word in [decoded.encode()].into_iter().chain(decoded.simpler()) {
                edits.with(|p| *p = p.with_word(n, word));
            }
        }
        edits.all
    }

    fn looped(&self) -> Self {
        let count = self.count();
        let mut pieces: Vec<Piece> = (0..count).map(Piece::Old).collect();
        pieces.push(Piece::New);
        let program = self.laid_out(&pieces);
        let back = Target::direct(address(count), norm(program.entry).into());
        let jump = back.map_or(Word::NOP, |target| {
            Word::bra(Cond::ALWAYS).with_target(target)
        });
        program.with_word(count, jump.encode())
    }

    fn retargeted(&self, number: usize, to: usize) -> Vec<Self> {
        let word = Word::decode(self.nth(number));
        if !matches!(word, Word::SetUp(_) | Word::Branch(_)) {
            return Vec::new();
        }
        let base = match word.target() {
            Some(Target::Absolute(_)) => self.prog_base,
            _ => 0,
        };
        let aimed = word.aimed(address(number), i64::from(base) + i64::from(address(to)));
        let led = aimed.map(|word| self.with_word(number, word.encode()));
        led.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A saved case may have any target address; 1 to 7 once ended in an overflow.
    /// Regression: shrunk programs kept constants that no instruction reads.
    #[test]
    fn constants_that_no_word_reads_are_left_out_first() {
        // BRA c[1][0x8].
        let bank = 0xe240_0000_0000_002f | 1 << 36 | 8 << 20;
        let read = Program::place(bank);
        let program = Program {
            words: vec![CONTROL, bank, NOP, NOP],
            constants: BTreeMap::from([(read, 16), (read + 4, 24)]),
            ..Program::default()
        };
        let simpler = program.simpler();
        assert_eq!(simpler[0].constants, BTreeMap::from([(read, 16)]));
        assert!(
            simpler
                .iter()
                .any(|p| p.constants == BTreeMap::from([(read + 4, 24)]))
        );
    }

    #[test]
    fn an_address_in_the_first_control_word_is_no_instruction() {
        let program = Program {
            words: vec![1; 2 * WORDS],
            prog_base: 0x100,
            prog_size: 2 * BUNDLE,
            ..Program::default()
        };
        let found: Vec<Option<usize>> = [0x101, 0x107, 0x108, 0x110, 0x100]
            .map(|pc| Instructions::number(&program, pc))
            .into();
        assert_eq!(found, [None, None, Some(0), Some(1), Some(0)]);
        assert_eq!(Instructions::number(&program, 0xff), None);
    }

    /// Addresses were once those of a program at 0: for one elsewhere, a page showed no instruction, and `explain` a jump at every step.
    #[test]
    fn an_instruction_is_at_its_address_wherever_the_program_lies() {
        for prog_base in [0, 0x100, 0u32.wrapping_sub(2 * BUNDLE)] {
            let program = Program {
                words: vec![1; 2 * WORDS],
                prog_base,
                prog_size: 2 * BUNDLE,
                ..Program::default()
            };
            let addresses = [8, 0x10, 0x18, 0x28].map(|offset| prog_base.wrapping_add(offset));
            for (number, pc) in addresses.into_iter().enumerate() {
                assert_eq!(program.address(number), pc);
                assert_eq!(Instructions::number(&program, pc), Some(number));
            }
        }
    }
}
