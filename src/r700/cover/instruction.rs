//! The properties of instructions that bins count, from the words and the state before them.

use super::axes::{
    Cond, Control, Count, Frame, General, Innermost, InstKind, Open, Popper, Pusher, Reach,
};
use crate::axes::classes;
use crate::r700::isa::{AluOp, CfOp, MemOp};
use crate::r700::state::{In, State};
use reconverge_campaign::cover::Values;

impl InstKind {
    pub(super) fn of(dw1: u32) -> Self {
        let op = dw1 >> 23 & 0x7f;
        if dw1 >> 29 & 1 == 1 {
            return match AluOp::from_bits(dw1 >> 26 & 15) {
                None => InstKind::Reserved,
                Some(AluOp::Alu) => InstKind::Alu,
                Some(AluOp::AluPushBefore) => InstKind::AluPushBefore,
                Some(AluOp::AluPopAfter) => InstKind::AluPopAfter,
                Some(AluOp::AluPop2After) => InstKind::AluPop2After,
                Some(AluOp::AluContinue) => InstKind::AluContinue,
                Some(AluOp::AluBreak) => InstKind::AluBreak,
                Some(AluOp::AluElseAfter) => InstKind::AluElseAfter,
            };
        }
        if op >= 32 {
            return MemOp::from_bits(op).map_or(InstKind::Reserved, |_| InstKind::Memory);
        }
        match CfOp::from_bits(op) {
            None => InstKind::Reserved,
            Some(op) if op.is_illegal() => InstKind::Reserved,
            Some(CfOp::LoopStart) => InstKind::LoopStart,
            Some(CfOp::LoopStartNoAl) => InstKind::LoopStartNoAl,
            Some(CfOp::LoopStartDx10) => InstKind::LoopStartDx10,
            Some(CfOp::LoopEnd) => InstKind::LoopEnd,
            Some(CfOp::LoopContinue) => InstKind::LoopContinue,
            Some(CfOp::LoopBreak) => InstKind::LoopBreak,
            Some(CfOp::Jump) => InstKind::Jump,
            Some(CfOp::Push) => InstKind::Push,
            Some(CfOp::PushElse) => InstKind::PushElse,
            Some(CfOp::Else) => InstKind::Else,
            Some(CfOp::Pop) => InstKind::Pop,
            Some(CfOp::Call) => InstKind::Call,
            Some(CfOp::Return) => InstKind::Return,
            Some(CfOp::Kill) => InstKind::Kill,
            Some(_) => InstKind::Slot,
        }
    }

    /// Returns whether it is ALU_ELSE_AFTER or ELSE.
    pub(super) fn inverts(self) -> bool {
        matches!(self, InstKind::Else | InstKind::AluElseAfter)
    }
}

impl Pusher {
    pub(super) fn of(kind: InstKind) -> Option<Self> {
        Some(match kind {
            InstKind::LoopStart => Pusher::LoopStart,
            InstKind::LoopStartNoAl => Pusher::LoopStartNoAl,
            InstKind::LoopStartDx10 => Pusher::LoopStartDx10,
            InstKind::Push => Pusher::Push,
            InstKind::PushElse => Pusher::PushElse,
            InstKind::Call => Pusher::Call,
            InstKind::AluPushBefore => Pusher::AluPushBefore,
            InstKind::AluElseAfter => Pusher::AluElseAfter,
            _ => return None,
        })
    }

    pub(super) fn frame(self) -> Frame {
        match self {
            Pusher::LoopStart => Frame::LoopStart,
            Pusher::LoopStartNoAl => Frame::LoopStartNoAl,
            Pusher::LoopStartDx10 => Frame::LoopStartDx10,
            Pusher::Call => Frame::Call,
            _ => Frame::Branch,
        }
    }
}

impl Popper {
    pub(super) fn of(kind: InstKind) -> Option<Self> {
        Some(match kind {
            InstKind::LoopStart => Popper::LoopStart,
            InstKind::LoopStartNoAl => Popper::LoopStartNoAl,
            InstKind::LoopStartDx10 => Popper::LoopStartDx10,
            InstKind::Jump => Popper::Jump,
            InstKind::Push => Popper::Push,
            InstKind::Else => Popper::Else,
            InstKind::Pop => Popper::Pop,
            InstKind::AluPopAfter => Popper::AluPopAfter,
            InstKind::AluPop2After => Popper::AluPop2After,
            _ => return None,
        })
    }
}

impl Reach {
    pub(super) fn of(kind: InstKind) -> Option<Self> {
        Some(match kind {
            InstKind::LoopEnd => Reach::LoopEnd,
            InstKind::LoopContinue => Reach::LoopContinue,
            InstKind::LoopBreak => Reach::LoopBreak,
            InstKind::Return => Reach::Return,
            InstKind::AluContinue => Reach::AluContinue,
            InstKind::AluBreak => Reach::AluBreak,
            _ => return None,
        })
    }
}

pub(super) fn count(n: u32) -> Count {
    match n {
        0 => Count::Zero,
        1 => Count::One,
        2 => Count::Two,
        4095 => Count::Most,
        _ => Count::More,
    }
}

/// Returns the index of the sign of a number: negative, 0, positive.
pub(super) fn sign(n: i32) -> usize {
    (n.signum() + 1) as usize
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
        let kind = InstKind::of(dw1);
        let bit = |at: u32| dw1 >> at & 1 == 1;
        let has_test = General::of(kind).is_some();
        let boolean = s.bool_const >> (dw1 >> 3 & 31) & 1 == 1;
        let cond = match dw1 >> 8 & 3 {
            // Memory and export have no COND.
            _ if Control::of(kind).is_none() && kind != InstKind::Slot => Cond::Active,
            0 => Cond::Active,
            1 => Cond::False,
            2 if boolean => Cond::Bool1,
            2 => Cond::Bool0,
            _ if boolean => Cond::NotBool1,
            _ => Cond::NotBool0,
        };
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

    pub(super) fn open_frames(&self) -> Open {
        match self.open {
            0 => Open::None,
            1 => Open::One,
            _ => Open::More,
        }
    }
}
