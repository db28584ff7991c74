//! The properties of instructions that bins count, from the words and the state before them.

use super::axes::{Conditional, InstKind};
use crate::spa5::isa::{LeaveOp, SetUpOp};
use crate::spa5::state::{In, State};

impl InstKind {
    /// Returns the kind of `word` (spa5-2.3); `brx`: the option of spa5-A is on.
    pub(super) fn of_word(word: u64, brx: bool) -> Self {
        let (op, bank) = ((word >> 52) as u16, word >> 5 & 1 == 1);
        InstKind::of(match word >> 56 {
            0xE2 | 0xE3 => (
                SetUpOp::from_bits(op),
                LeaveOp::from_bits(op),
                op,
                bank,
                brx,
            ),
            0xF0 if word >> 51 & 31 == 31 => (None, Some(LeaveOp::Sync), 0, bank, brx),
            _ => (None, None, 0, bank, brx),
        })
    }

    /// Returns whether it is BRX or JMX.
    pub(super) fn is_indirect(self) -> bool {
        matches!(self, InstKind::Brx | InstKind::Jmx)
    }

    /// Returns whether it is BRA or JMP.
    pub(super) fn is_branch(self) -> bool {
        matches!(self, InstKind::Bra | InstKind::Jmp)
    }

    /// Returns the bit of vis that a leaving instruction needs; 0 for EXIT and KIL.
    pub(super) fn need(self) -> u8 {
        match self {
            InstKind::Sync => 1,
            InstKind::Brk => 2,
            InstKind::Cont => 4,
            InstKind::Ret => 8,
            _ => 0,
        }
    }
}

/// Returns the threads for which the test numbered `code` is true, by the formulas of spa5-2.4.
pub(super) fn test(code: u64, [z, s, c, o]: [u64; 4]) -> u64 {
    match code {
        0x00 => 0,
        0x01 => s & !z ^ o,
        0x02 => z & !s,
        0x03 => s ^ (z | o),
        0x04 => !z & !(s ^ o),
        0x05 => !z,
        0x06 => !(s ^ o),
        0x07 => !z | !s,
        0x08 => z & s,
        0x09 => s ^ o,
        0x0a => z,
        0x0b => z | (s ^ o),
        0x0c => !s ^ (z | o),
        0x0d => !z | s,
        0x0e => (!s | z) ^ o,
        0x0f => u64::MAX,
        0x10 => !o,
        0x11 => !c,
        0x12 => !s,
        0x13 => z | !c,
        0x14 => !z & c,
        0x15 => s,
        0x16 => c,
        _ => o,
    }
}

/// An instruction and its threads.
pub(super) struct Instruction {
    pub(super) kind: InstKind,
    pub(super) word: u64,
    /// Active threads for which its condition is true, before the rule of .U; all if it has no condition.
    pub(super) condition: u64,
    /// The CC test exists.
    pub(super) tested: bool,
    pub(super) unanimous: bool,
    /// Its target, if it has one; for BRX and JMX that of the lowest thread.
    pub(super) target: Option<i64>,
    /// The sum of a JMX does not fit into 32 bits.
    pub(super) wraps: bool,
}

impl Instruction {
    pub(super) fn new(word: u64, before: &State, pins: &In, brx: bool, csm: bool) -> Self {
        let kind = InstKind::of_word(word, brx);
        let active = before.active;
        let code = word & 0x1f;
        let (mut condition, mut tested) = (active, true);
        if Conditional::of(kind).is_some() {
            tested = code < 24 || csm;
            let number = (word >> 16 & 7) as usize;
            let predicate = pins.p.get(number).copied().unwrap_or(u64::MAX);
            let predicate = if word >> 19 & 1 == 1 {
                !predicate
            } else {
                predicate
            };
            let passes = match code {
                // An error: no bin depends on the condition.
                24.. if !csm => 0,
                24.. => (0..).zip(&pins.csm).fold(0, |threads, (t, bits)| {
                    threads | u64::from(bits >> (code & 7) & 1) << t
                }),
                _ => test(code, pins.cc),
            };
            condition = active & predicate & passes;
        }
        let offset = match word >> 5 & 1 {
            1 => i64::from((pins.constant << 8) as i32 >> 8),
            _ => (word << 20) as i64 >> 40,
        };
        let register = i64::from(pins.r[active.trailing_zeros() as usize % 64]);
        let relative = i64::from(before.pc) + 8 + offset;
        let absolute = i64::from((word >> 20) as u32);
        let target = match kind {
            InstKind::Jmp | InstKind::Jcal => Some(absolute),
            InstKind::Jmx => Some(i64::from((absolute + register) as u32)),
            InstKind::Brx => Some(relative + register),
            InstKind::Ssy
            | InstKind::Pbk
            | InstKind::Pcnt
            | InstKind::Pret
            | InstKind::Cal
            | InstKind::Bra => Some(relative),
            _ => None,
        };
        Instruction {
            kind,
            word,
            condition,
            tested,
            unanimous: kind.is_branch() && word >> 7 & 1 == 1,
            target,
            wraps: kind == InstKind::Jmx && absolute + register > i64::from(u32::MAX),
        }
    }

    pub(super) fn bit(&self, at: u32) -> bool {
        self.word >> at & 1 == 1
    }
}
