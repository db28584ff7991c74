//! The properties of instructions that bins count, from the words and the state before them.

use super::axes::{Cond, Control, General, Innermost, InstKind};
use crate::axes::classes;
use crate::r700::isa::{AluOp, CfOp, MemOp};
use crate::r700::state::{In, State};
use reconverge_campaign::cover::Values as _;

impl InstKind {
    pub(super) fn of_word(dw1: u32) -> Self {
        let op = dw1 >> 23 & 0x7f;
        InstKind::of(match op {
            _ if dw1 >> 29 & 1 == 1 => (AluOp::from_bits(dw1 >> 26 & 15), None, None),
            32.. => (None, MemOp::from_bits(op), None),
            _ => {
                let cf = CfOp::from_bits(op).filter(|op| !op.is_illegal());
                (None, None, cf)
            }
        })
    }

    /// Returns whether it is ALU_ELSE_AFTER or ELSE.
    pub(super) fn inverts(self) -> bool {
        matches!(self, InstKind::Else | InstKind::AluElseAfter)
    }
}

/// An instruction and its lanes.
pub(super) struct Word {
    pub(super) kind: InstKind,
    pub(super) dw0: u32,
    pub(super) dw1: u32,
    pub(super) u: bool,
    /// `POP_COUNT`, or the number of frames that an ALU form pops.
    pub(super) pops: u32,
    pub(super) cond: Cond,
    pub(super) vpm: bool,
    pub(super) end: bool,
    pub(super) wqm: bool,
    /// Classes before it.
    pub(super) before: [u64; 4],
    /// ACTIVE lanes that pass its condition test.
    pub(super) pass: u64,
    pub(super) innermost: Innermost,
    /// Branch frames above the innermost loop or call frame.
    pub(super) open: u32,
}

impl Word {
    pub(super) fn new(s: &State, pins: &In, all: u64) -> Self {
        let dw1 = pins.dw1;
        let kind = InstKind::of_word(dw1);
        let bit = |at: u32| dw1 >> at & 1 == 1;
        let has_test = General::of(kind).is_some();
        let boolean = s.bool_const >> (dw1 >> 3 & 31) & 1 == 1;
        // Memory and export have no COND.
        let has_cond = Control::of(kind).is_some() || kind == InstKind::Slot;
        let cond = Cond::of((has_cond, dw1 >> 8 & 3, boolean));
        let before = classes(s.st, all);
        let vpm = has_test && bit(22);
        let mut word = Word {
            kind,
            dw0: pins.dw0,
            dw1,
            u: pins.u == 1,
            pops: match kind {
                InstKind::AluPopAfter => 1,
                InstKind::AluPop2After => 2,
                _ => dw1 & 7,
            },
            cond,
            vpm,
            end: has_test && bit(21),
            wqm: bit(30),
            before,
            pass: 0,
            innermost: Innermost::at(s.bkind.into()),
            open: u32::from(s.sp - s.base),
        };
        word.pass = before[0] & word.passes(s);
        word
    }

    /// Returns the lanes that pass its condition test if they are ACTIVE at that time (r700-4.1).
    pub(super) fn passes(&self, s: &State) -> u64 {
        match (self.cond.holds(), self.vpm) {
            (false, _) => 0,
            (true, true) => s.valid,
            (true, false) => u64::MAX,
        }
    }
}
