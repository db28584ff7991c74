//! The three words of a flow-control instruction: the table of its fields, without their meaning.
//!
//! Source: r500-2.2 to r500-2.4 in `docs/spec/r500.md`.
//!
//! `decode` never fails: each field takes every value that its bits can hold, also those that the manual
//! reserves (`A_OP` = 3). Text, its errors and the edits of the shrinker follow from the table.

use super::program::Slot;
use reconverge_program::layout::Bits;
use reconverge_program::layout::Text::{Flag, Hex, Named, Number, Other, Without};
use reconverge_program::{layout, names};

names! {
    /// `TYPE`, bits 1:0 of `US_CMN_INST` (r500-2.2).
    every Type {
        /// Arithmetic.
        Alu = 0 "ALU",
        /// Arithmetic with a write to an output.
        Out = 1 "OUT",
        /// Flow control.
        Fc = 2 "FC",
        /// Texture fetch.
        Tex = 3 "TEX",
    }
}

names! {
    /// `RGB_PRED_SEL` and `ALPHA_PRED_SEL`: which predicate bit is read (r500-2.2).
    every PredSel {
        /// No predicate; the input of the `JUMP_FUNC` table reads 1 (r500-O23).
        None = 0 "NONE",
        /// One per channel: not allowed for flow control.
        Rgba = 1 "RGBA",
        /// Red.
        R = 2 "R",
        /// Green.
        G = 3 "G",
        /// Blue.
        B = 4 "B",
        /// Alpha.
        A = 5 "A",
        /// Reserved.
        Reserved6 = 6 "6",
        /// Reserved.
        Reserved7 = 7 "7",
    }
}

names! {
    /// `OP`, bits 2:0 of `US_FC_INST` (r500-2.3).
    every Op {
        /// Branches, calls and returns.
        Jump = 0 "JUMP",
        /// Begins a loop that has an aL.
        Loop = 1 "LOOP",
        /// Ends a LOOP.
        EndLoop = 2 "ENDLOOP",
        /// Begins a loop without an aL of its own.
        Rep = 3 "REP",
        /// Ends a REP.
        EndRep = 4 "ENDREP",
        /// Leaves a LOOP.
        BreakLoop = 5 "BREAKLOOP",
        /// Leaves a REP.
        BreakRep = 6 "BREAKREP",
        /// Skips to the end of the iteration.
        Continue = 7 "CONTINUE",
    }
}

names! {
    /// `A_OP`: what a jump does to the address stack (r500-2.3).
    every AOp {
        /// Nothing.
        None = 0 "NONE",
        /// Pop: the popped address is the target.
        Pop = 1 "POP",
        /// Push PC + 1.
        Push = 2 "PUSH",
        /// Reserved: error 1.
        Reserved = 3 "3",
    }
}

names! {
    /// `B_OP0` and `B_OP1`: what happens to the branch counters (r500-2.3).
    every BOp {
        /// Nothing.
        None = 0 "NONE",
        /// Subtract `B_POP_CNT`; lanes that would go below 0 wake.
        Decr = 1 "DECR",
        /// Switch off lanes that disagree, increment the counters of lanes that are already off.
        Incr = 2 "INCR",
        /// Reserved: error 1.
        Reserved = 3 "3",
    }
}

/// Bits of `US_CMN_INST` (r500-2.2).
const fn cmn(high: u32, low: u32) -> Bits {
    Bits { word: 0, high, low }
}

/// Bits of `US_FC_INST` (r500-2.3).
const fn inst(high: u32, low: u32) -> Bits {
    Bits { word: 1, high, low }
}

/// Bits of `US_FC_ADDR` (r500-2.4).
const fn addr(high: u32, low: u32) -> Bits {
    Bits { word: 2, high, low }
}

layout! {
    /// A flow-control instruction as fields.
    Fc: 3 words {
        /// `TYPE`: FC.
        ty: Type = [cmn(1, 0)], Other;
        /// `OP`.
        op: Op = [inst(2, 0)], Other;
        /// `JUMP_FUNC`: bit `alu_result*4 + predicate*2 + boolean` says whether a lane wants to jump.
        jump_func: u8 = [inst(15, 8)], Hex("func=");
        /// `JUMP_ANY`: jump if any voter wants to, not only if all do.
        jump_any: bool = [inst(5, 5)], Flag("any");
        /// `B_ELSE`: do the else swap before anything else.
        b_else: bool = [inst(4, 4)], Flag("else");
        /// `A_OP`.
        a_op: AOp = [inst(7, 6)], Named("a=", AOp::NAMES);
        /// `B_OP0`: if the unit stays.
        b_op0: BOp = [inst(25, 24)], Named("b0=", BOp::NAMES);
        /// `B_OP1`: if the unit jumps.
        b_op1: BOp = [inst(27, 26)], Named("b1=", BOp::NAMES);
        /// `B_POP_CNT`: amount of a DECR.
        b_pop_cnt: u8 = [inst(20, 16)], Number("pop=");
        /// `BOOL_ADDR`: the boolean constant.
        bool_addr: u8 = [addr(4, 0)], Number("bool=");
        /// `INT_ADDR`: the integer constant.
        int_addr: u8 = [addr(12, 8)], Number("int=");
        /// `RGB_PRED_SEL`: the predicate.
        pred_sel: PredSel = [cmn(5, 3)], Named("pred=", PredSel::NAMES);
        /// `RGB_PRED_INV`.
        pred_inv: bool = [cmn(6, 6)], Flag("inv");
        /// `IGNORE_UNCOVERED`: uncovered lanes do not vote.
        ignore_uncovered: bool = [inst(28, 28)], Flag("ign");
        /// `JUMP_GLOBAL`: the target is absolute; otherwise `OFFSET_ADDR` is added.
        jump_global: bool = [addr(31, 31)], Flag("global");
        /// `TEX_SEM_WAIT`: timing only.
        tex_sem_wait: bool = [cmn(2, 2)], Flag("tex_wait");
        /// `LAST`: a hint.
        last: bool = [cmn(8, 8)], Flag("last");
        /// `ALU_WAIT`: timing only.
        alu_wait: bool = [cmn(10, 10)], Without("no_alu_wait");
        /// `ALU_RESULT_SEL`, `ALPHA_PRED_INV`, `ALU_RESULT_OP`, `ALPHA_PRED_SEL`: nothing in flow control.
        alu_result: u8 = [cmn(27, 21)], Other;
        /// `JUMP_ADDR`: the target.
        jump_addr: u16 = [addr(24, 16)], Other;
    }
}

impl Fc {
    /// The bits that belong to no field here: in the first word write masks and clamps of ALU and TEX instructions.
    pub const RESERVED: Slot = slot(Fc::FREE);

    /// A JUMP that never jumps and does nothing, with the usual first word 0x00000402 (r500-2.2).
    pub const NOP: Fc = Fc {
        ty: Type::Fc,
        ..Fc::new()
    };

    /// Returns the fields of `slot`; `None` unless its `TYPE` is FC.
    #[inline]
    pub const fn decode(slot: Slot) -> Option<Self> {
        let fc = Fc::of([slot.cmn as u64, slot.inst as u64, slot.addr as u64]);
        match fc.ty {
            Type::Fc => Some(fc),
            _ => None,
        }
    }

    /// Returns the three words, with zeros at [`Fc::RESERVED`].
    #[inline]
    pub const fn encode(self) -> Slot {
        slot(self.words())
    }
}

/// Returns the instruction with these words.
#[inline]
const fn slot([cmn, inst, addr]: [u64; 3]) -> Slot {
    Slot::new(cmn as u32, inst as u32, addr as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::r500::golden::Flow;
    use crate::r500::scalar;
    use crate::r500::state::In;
    use crate::rules::check_layout;

    #[test]
    fn fields_lie_where_the_spec_puts_them() {
        let sections = [("r500-2.2", 0), ("r500-2.3", 0), ("r500-2.4", 0)];
        let names = [
            ("ty", "TYPE"),
            ("pred_sel", "RGB_PRED_SEL"),
            ("pred_inv", "RGB_PRED_INV"),
            ("alu_result", ""),
        ];
        check_layout(Fc::FIELDS, &sections, &names);
        assert_eq!(Fc::NOP.encode(), Slot::new(0x402, 0, 0));
    }

    /// All values of each half of each word, beside the decoders that are written without the table.
    #[test]
    fn golden_model_and_scalar_machine_read_what_the_table_says() {
        for (half, others) in (0..6).flat_map(|half| [(half, 0), (half, u32::MAX)]) {
            for value in 0..=0xffff {
                let mut words = [others & !3 | Type::Fc.bits(), others, others];
                let (word, shift) = (half / 2, half % 2 * 16);
                words[word] = words[word] & !(0xffff << shift) | value << shift;
                let [cmn, inst, addr] = words;
                let fc = Fc::of(words.map(u64::from));
                let golden = Flow {
                    op: fc.op.bits(),
                    b_else: fc.b_else,
                    jump_any: fc.jump_any,
                    a_op: fc.a_op.bits(),
                    func: fc.jump_func.into(),
                    pop_cnt: fc.b_pop_cnt,
                    b_op0: fc.b_op0.bits(),
                    b_op1: fc.b_op1.bits(),
                    ignore_uncovered: fc.ignore_uncovered,
                    bool_addr: fc.bool_addr.into(),
                    int_addr: fc.int_addr.into(),
                    jump_addr: fc.jump_addr,
                    jump_global: fc.jump_global,
                    pred_sel: fc.pred_sel.bits(),
                    pred_inv: fc.pred_inv.into(),
                };
                let pins = In {
                    cmn,
                    inst,
                    addr,
                    ..In::default()
                };
                assert_eq!(golden, Flow::of(&pins), "{words:08x?}");
                let scalar = (fc.ty == Type::Fc).then_some(scalar::Fc {
                    op: fc.op,
                    b_else: fc.b_else,
                    jump_any: fc.jump_any,
                    a_op: fc.a_op,
                    jump_func: fc.jump_func,
                    b_pop_cnt: fc.b_pop_cnt,
                    b_op0: fc.b_op0,
                    b_op1: fc.b_op1,
                    pred_sel: fc.pred_sel,
                    pred_inv: fc.pred_inv,
                    bool_addr: fc.bool_addr,
                    int_addr: fc.int_addr,
                    jump_addr: fc.jump_addr,
                    jump_global: fc.jump_global,
                });
                let slot = Slot::new(cmn, inst, addr);
                assert_eq!(scalar, scalar::Fc::decode(slot), "{slot:08x?}");
            }
        }
    }
}
