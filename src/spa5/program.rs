//! A program in instruction memory, with its launch operands (spa5-2.1, spa5-2.5).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::isa::{Target, Word};
use reconverge_bench::json::{hexes, map};

/// Bundles that a program may have here; the hardware's addresses go further.
pub const MAX_BUNDLES: usize = 16_384;

/// Bytes of a bundle.
pub const BUNDLE: u32 = 32;

/// Slots of a bundle, the control word included.
pub const WORDS: usize = 4;

/// A program: word i lies at byte address `prog_base` + 8 i; every fourth, from 0 on, is a scheduling control word.
///
/// Addresses beyond the words read as 0, which the unit treats as OTHER.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The name of its runs: file name or kernel.
    pub name: String,
    /// Operand of the launch: byte offset of the first instruction from the base on, a multiple of 8 (spa5-2.5).
    pub entry: u32,
    /// Operand of the launch: byte address of the program, a multiple of 32 (spa5-3-p).
    pub prog_base: u32,
    /// Operand of the launch: bytes that belong to the program, a multiple of 32.
    pub prog_size: u32,
    /// Control and instruction words; at most [`MAX_BUNDLES`] whole bundles.
    #[serde(with = "hexes")]
    pub words: Vec<u64>,
    /// The compiler's lists for SYNC, BRK and BRX: byte address of the instruction, the legal
    /// targets, normalized (cubin attribute 0x34, spa5-2.5). BRX draws from it.
    #[serde(deserialize_with = "map")]
    pub targets: BTreeMap<u32, Vec<u32>>,
    /// Nonzero contents of the constant banks, for targets of constant-bank forms (spa5-2.3-n): by bank *
    /// 65536 + address.
    #[serde(deserialize_with = "map")]
    pub constants: BTreeMap<u32, u32>,
}

impl Program {
    /// Returns the word at byte address `pc`; 0 if nothing is loaded there.
    #[inline]
    pub fn word(&self, pc: u32) -> u64 {
        usize::try_from(pc.wrapping_sub(self.prog_base) / 8)
            .ok()
            .and_then(|i| self.words.get(i))
            .copied()
            .unwrap_or_default()
    }

    /// Returns the constant for `word`, a constant-bank form: c of bits 40:36 at bits 35:20 (spa5-2.3-n).
    pub fn constant(&self, word: u64) -> u32 {
        let held = self.constants.get(&Self::place(word));
        held.copied().unwrap_or_default()
    }

    /// Returns the key in [`Program::constants`] for `word`, a constant-bank form.
    pub(super) fn place(word: u64) -> u32 {
        (word >> 20) as u32 & 0x1f_ffff
    }

    /// Returns the maximum of [`Program::prog_base`]: program or words then end at 2^32 (spa5-3-p).
    pub fn last_base(&self) -> u32 {
        let words = self.words.len() as u64 * 8;
        let room = (1 << 32) - words.max(self.prog_size.into());
        u32::try_from(room).unwrap_or(u32::MAX) / BUNDLE * BUNDLE
    }

    /// Returns the same program at `base`: absolute targets (JMP, JCAL, JMX and the listed targets) move with it.
    #[must_use]
    pub fn at(&self, base: u32) -> Self {
        let by = base.wrapping_sub(self.prog_base);
        let mut program = self.clone();
        program.prog_base = base;
        for (n, word) in program.words.iter_mut().enumerate() {
            if n % WORDS != 0
                && let Some(Target::Absolute(address)) = Word::decode(*word).target()
            {
                let from = Target::Absolute(address).encode();
                *word = *word & !from | Target::Absolute(address.wrapping_add(by)).encode();
            }
        }
        program.targets = (self.targets.iter())
            .map(|(pc, to)| {
                let to = to.iter().map(|t| t.wrapping_add(by)).collect();
                (pc.wrapping_add(by), to)
            })
            .collect();
        program
    }

    /// Returns the program that a launch with another `base` sees: its words from there on, with 0 before it.
    #[must_use]
    pub fn seen_from(&self, base: u32) -> Self {
        let words = match base.checked_sub(self.prog_base) {
            Some(behind) => {
                let skipped = (behind as usize / 8).min(self.words.len());
                self.words[skipped..].to_vec()
            }
            // If it is too far, the program can reach no word there.
            None => {
                let before = (self.prog_base - base) as usize / 8;
                let most = MAX_BUNDLES * WORDS;
                let zeros = std::iter::repeat_n(0, before.min(most));
                zeros.chain(self.words.iter().copied()).take(most).collect()
            }
        };
        Program {
            prog_base: base,
            words,
            ..self.clone()
        }
    }
}
