//! The words of a flow-control instruction as the scalar machine reads them: from r500-2.2 to r500-2.4, without the table of
//! [`crate::r500::isa`], which a test compares with them.

use crate::r500::isa::{AOp, BOp, Op, PredSel};
use crate::r500::program::Slot;

/// The fields that a lane or the form of a program depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::r500) struct Fc {
    pub(in crate::r500) op: Op,
    pub(in crate::r500) b_else: bool,
    pub(in crate::r500) jump_any: bool,
    pub(in crate::r500) a_op: AOp,
    pub(in crate::r500) jump_func: u8,
    pub(in crate::r500) b_pop_cnt: u8,
    pub(in crate::r500) b_op0: BOp,
    pub(in crate::r500) b_op1: BOp,
    pub(in crate::r500) pred_sel: PredSel,
    pub(in crate::r500) pred_inv: bool,
    pub(in crate::r500) bool_addr: u8,
    pub(in crate::r500) int_addr: u8,
    pub(in crate::r500) jump_addr: u16,
    pub(in crate::r500) jump_global: bool,
}

impl Fc {
    /// Returns the fields; `None` unless it is flow control.
    pub(in crate::r500) fn decode(slot: Slot) -> Option<Fc> {
        let Slot {
            cmn, inst, addr, ..
        } = slot;
        let b_op = |low: u32| match inst >> low & 3 {
            0 => BOp::None,
            1 => BOp::Decr,
            2 => BOp::Incr,
            _ => BOp::Reserved,
        };
        (cmn & 3 == 2).then(|| Fc {
            op: match inst & 7 {
                0 => Op::Jump,
                1 => Op::Loop,
                2 => Op::EndLoop,
                3 => Op::Rep,
                4 => Op::EndRep,
                5 => Op::BreakLoop,
                6 => Op::BreakRep,
                _ => Op::Continue,
            },
            b_else: inst >> 4 & 1 == 1,
            jump_any: inst >> 5 & 1 == 1,
            a_op: match inst >> 6 & 3 {
                0 => AOp::None,
                1 => AOp::Pop,
                2 => AOp::Push,
                _ => AOp::Reserved,
            },
            jump_func: (inst >> 8) as u8,
            b_pop_cnt: (inst >> 16 & 31) as u8,
            b_op0: b_op(24),
            b_op1: b_op(26),
            pred_sel: match cmn >> 3 & 7 {
                0 => PredSel::None,
                1 => PredSel::Rgba,
                2 => PredSel::R,
                3 => PredSel::G,
                4 => PredSel::B,
                5 => PredSel::A,
                6 => PredSel::Reserved6,
                _ => PredSel::Reserved7,
            },
            pred_inv: cmn >> 6 & 1 == 1,
            bool_addr: (addr & 31) as u8,
            int_addr: (addr >> 8 & 31) as u8,
            jump_addr: (addr >> 16 & 511) as u16,
            jump_global: addr >> 31 == 1,
        })
    }
}
