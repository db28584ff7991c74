//! A program as instructions that can be taken out. Control words are none: they follow the bundles.

use std::collections::BTreeMap;

use super::isa::{CONTROL, Cond, NOP, Pred, Target, Test, Word, is_control, norm};
use super::program::{BUNDLE, Program, WORDS};
use crate::instructions::{Instructions, Piece, moved, places};

/// Instructions of a bundle.
const SLOTS: usize = WORDS - 1;
/// Bits 43:20 of an instruction with a target.
const OFFSET: u64 = 0xff_ffff << 20;

/// Address of an instruction.
fn address(number: usize) -> u32 {
    let word = number / SLOTS * WORDS + number % SLOTS + 1;
    u32::try_from(word * 8).unwrap_or(u32::MAX)
}

/// The instruction at an address, or behind the control word there.
fn number(address: u32) -> usize {
    let word = (norm(address) / 8) as usize;
    word / WORDS * SLOTS + word % WORDS - 1
}

/// What may become of a condition, one at a time.
const EDITS: &[fn(&mut Cond)] = &[
    |cond| *cond = Cond::ALWAYS,
    |cond| cond.test = Test::T,
    |cond| cond.pred = Pred::ALWAYS,
    |cond| cond.pred.not = false,
    |cond| {
        if cond.pred.number < 7 {
            cond.pred.number = 0;
        }
    },
];

impl Program {
    fn with_word(&self, number: usize, word: u64) -> Self {
        let mut program = self.clone();
        program.words[address(number) as usize / 8] = word;
        program
    }

    fn size(&self) -> u32 {
        u32::try_from(self.words.len() * 8).unwrap_or(u32::MAX)
    }

    /// Where `old`, an address of this program, is in one whose instructions moved to `places` and that has
    /// `size` bytes. One outside stays as far outside, one that is not aligned stays so.
    fn led_to(&self, places: &[usize], size: u32, old: i64) -> i64 {
        match u32::try_from(old) {
            Ok(inside) if inside < self.size() => {
                let new = address(moved(places, number(inside & !7)));
                // Through the control word, where there still is one before it.
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
        let filled = |n: &usize| self.word(address(*n)) != NOP;
        (0..all).rev().find(filled).map_or(0, |last| last + 1)
    }

    fn address(&self, number: usize) -> u32 {
        address(number)
    }

    fn number(&self, pc: u32) -> Option<usize> {
        Some(number(pc)).filter(|n| *n < self.count())
    }

    fn is_plain(&self, number: usize) -> bool {
        matches!(Word::decode(self.word(address(number))), Word::Other(_))
    }

    fn laid_out(&self, pieces: &[Piece]) -> Self {
        let all = self.words.len() / WORDS * SLOTS;
        let places = places(pieces, all);
        let bundles = pieces.len().div_ceil(SLOTS).max(1);
        let size = u32::try_from(bundles).unwrap_or(u32::MAX / BUNDLE) * BUNDLE;
        let mut words = Vec::with_capacity(bundles * WORDS);
        for at in 0..bundles * SLOTS {
            if at % SLOTS == 0 {
                words.push(CONTROL);
            }
            let Some(Piece::Old(n)) = pieces.get(at) else {
                words.push(NOP);
                continue;
            };
            let mut word = self.word(address(*n));
            if let Some(old) = Word::decode(word)
                .target()
                .and_then(|t| t.address(address(*n)))
                && !matches!(Word::decode(word), Word::Indirect(_))
                && let Some(Target::Offset(offset)) =
                    Target::direct(address(at), self.led_to(&places, size, old))
            {
                // The bits without meaning stay.
                word = word & !OFFSET | (offset as u64) << 20 & OFFSET;
            }
            words.push(word);
        }
        let led = |old: u32| u32::try_from(self.led_to(&places, size, old.into())).unwrap_or(old);
        let kept = |pc: u32| {
            let n = number(pc);
            pieces.iter().position(|p| *p == Piece::Old(n)).map(address)
        };
        let targets: BTreeMap<u32, Vec<u32>> = self
            .targets
            .iter()
            .filter_map(|(pc, to)| Some((kept(*pc)?, to.iter().map(|t| norm(led(*t))).collect())))
            .collect();
        Program {
            name: self.name.clone(),
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
        }
    }

    fn copy(&mut self, to: usize, donor: &Self, from: usize) {
        self.words[address(to) as usize / 8] = donor.word(address(from));
    }

    fn flip(&mut self, number: usize, bit: u32) {
        self.words[address(number) as usize / 8] ^= 1 << (bit % 64);
    }

    fn led(&self, pieces: &[Piece], address: u32) -> u32 {
        let places = places(pieces, self.words.len() / WORDS * SLOTS);
        let bundles = pieces.len().div_ceil(SLOTS).max(1) as u32;
        let to = self.led_to(&places, bundles * BUNDLE, address.into());
        u32::try_from(to).unwrap_or(address)
    }

    fn simpler(&self) -> Vec<Self> {
        let with = |edit: &dyn Fn(&mut Program)| {
            let mut program = self.clone();
            edit(&mut program);
            program
        };
        let mut all = vec![
            with(&|p| p.targets.clear()),
            with(&|p| p.entry = 0),
            with(&|p| p.entry &= !31),
            with(&|p| p.prog_size = p.size()),
            with(&|p| p.words.iter_mut().step_by(WORDS).for_each(|w| *w = CONTROL)),
        ];
        for n in 0..self.count() {
            let word = self.word(address(n));
            let decoded = Word::decode(word);
            let mut set = |new: Word| {
                if new.encode() != word {
                    all.push(self.with_word(n, new.encode()));
                }
            };
            set(match decoded {
                Word::Other(_) => Word::NOP,
                other => other,
            });
            let conditions = |cond: Cond| {
                EDITS.iter().filter_map(move |edit| {
                    let mut changed = cond;
                    edit(&mut changed);
                    (changed != cond).then_some(changed)
                })
            };
            match decoded {
                Word::SetUp(mut set_up) => {
                    set_up.noinc = false;
                    set(Word::SetUp(set_up));
                }
                Word::Branch(branch) => {
                    let mut changed = branch;
                    changed.lmt = false;
                    set(Word::Branch(changed));
                    changed.unanimous = false;
                    set(Word::Branch(changed));
                    for cond in conditions(branch.cond) {
                        set(Word::Branch(super::isa::Branch { cond, ..branch }));
                    }
                }
                Word::Leave(leave) => {
                    let mut changed = leave;
                    changed.keep_ref_count = false;
                    set(Word::Leave(changed));
                    for cond in conditions(leave.cond) {
                        set(Word::Leave(super::isa::Leave { cond, ..leave }));
                    }
                }
                Word::Indirect(indirect) => {
                    for cond in conditions(indirect.cond) {
                        set(Word::Indirect(super::isa::Indirect { cond, ..indirect }));
                    }
                }
                _ => {}
            }
        }
        all.retain(|p| p != self);
        all
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

    fn retargeted(&self, number: usize, to: usize) -> Option<Self> {
        let word = Word::decode(self.word(address(number)));
        if !matches!(word, Word::SetUp(_) | Word::Branch(_)) {
            return None;
        }
        let target = Target::direct(address(number), address(to).into())?;
        Some(self.with_word(number, word.with_target(target).encode()))
    }
}
