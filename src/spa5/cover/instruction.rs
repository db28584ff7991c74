//! Instructions as the bins tell them apart, from the words and the state before them.

use super::axes::{Conditional, Failed, Kind, Pusher, Taken};
use crate::cover::Values;
use crate::spa5::isa::{LeaveOp, SetUpOp};
use crate::spa5::state::{In, State};

impl Kind {
    /// What `word` is (spa5-2.3); `brx`: the option of spa5-A is on.
    pub(super) fn of(word: u64, brx: bool) -> Self {
        if word & 0xFFF8_0000_0000_0000 == 0xF0F8_0000_0000_0000 {
            return Kind::Sync;
        }
        if !matches!(word >> 56, 0xE2 | 0xE3) {
            return Kind::Other;
        }
        let op = (word >> 52) as u16;
        let bank = word >> 5 & 1 == 1;
        match (SetUpOp::from_bits(op), LeaveOp::from_bits(op), op) {
            (Some(_), ..) | (.., 0xE24) if bank => Kind::Bank,
            (.., 0xE25) if bank && brx => Kind::Bank,
            (Some(SetUpOp::Ssy), ..) => Kind::Ssy,
            (Some(SetUpOp::Pbk), ..) => Kind::Pbk,
            (Some(SetUpOp::Pcnt), ..) => Kind::Pcnt,
            (Some(SetUpOp::Pret), ..) => Kind::Pret,
            (Some(SetUpOp::Cal), ..) => Kind::Cal,
            (_, Some(LeaveOp::Brk), _) => Kind::Brk,
            (_, Some(LeaveOp::Cont), _) => Kind::Cont,
            (_, Some(LeaveOp::Ret), _) => Kind::Ret,
            (_, Some(LeaveOp::Exit), _) => Kind::Exit,
            (.., 0xE24) => Kind::Bra,
            (.., 0xE25) if brx => Kind::Brx,
            (.., 0xE3B..) => Kind::Illegal,
            _ => Kind::Unsupported,
        }
    }

    /// The bit of vis that a leaving instruction needs; EXIT none.
    pub(super) fn need(self) -> u8 {
        match self {
            Kind::Sync => 1,
            Kind::Brk => 2,
            Kind::Cont => 4,
            Kind::Ret => 8,
            _ => 0,
        }
    }
}

impl Failed {
    pub(super) fn of(kind: Kind) -> Self {
        // OTHER stands between, and never fails.
        let index = kind.index();
        Failed::at(if kind > Kind::Other { index - 1 } else { index })
    }
}

/// Threads for which the test numbered `code` is true, by the formulas of spa5-2.4.
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

pub(super) fn taken(of: u64, active: u64) -> Taken {
    match of {
        0 => Taken::None,
        of if of == active => Taken::All,
        _ => Taken::Some,
    }
}

/// An instruction among its threads.
pub(super) struct Instruction {
    pub(super) kind: Kind,
    pub(super) word: u64,
    /// Active threads for which its condition is true, before the rule of .U; all without a condition.
    pub(super) condition: u64,
    /// The CC test is one that there is.
    pub(super) tested: bool,
    pub(super) unanimous: bool,
    /// Where it leads, if it has a target; of BRX that of its lowest thread.
    pub(super) target: Option<i64>,
}

impl Instruction {
    pub(super) fn new(word: u64, before: &State, pins: &In, brx: bool) -> Self {
        let kind = Kind::of(word, brx);
        let active = before.active;
        let code = word & 0x1f;
        let (mut condition, mut tested) = (active, true);
        if Conditional::of(kind).is_some() {
            tested = code < 24;
            let number = (word >> 16 & 7) as usize;
            let predicate = pins.p.get(number).copied().unwrap_or(u64::MAX);
            let predicate = if word >> 19 & 1 == 1 {
                !predicate
            } else {
                predicate
            };
            condition = active & predicate & test(code, pins.cc);
        }
        let offset = (word << 20) as i64 >> 40;
        let register = match kind {
            Kind::Brx => pins.r[active.trailing_zeros() as usize % 64],
            _ => 0,
        };
        let target = i64::from(before.pc) + 8 + offset + i64::from(register);
        Instruction {
            kind,
            word,
            condition,
            tested,
            unanimous: kind == Kind::Bra && word >> 7 & 1 == 1,
            target: Pusher::of(kind).map(|_| target),
        }
    }

    pub(super) fn bit(&self, at: u32) -> bool {
        self.word >> at & 1 == 1
    }
}
