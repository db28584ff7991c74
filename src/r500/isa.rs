//! The three instruction words as fields: encoding and decoding, without their meaning.
//!
//! Source: r500-2.2 to r500-2.4 in `docs/spec/r500.md`.
//!
//! `decode` never fails: each field takes every value that its bits can hold, also those that the manual
//! reserves (`A_OP` = 3). `X::decode(w).encode() == w` for every `w` without bits of `X::RESERVED`.

use super::program::Slot;

/// Returns `word[hi:lo]`.
const fn bits(word: u32, hi: u32, lo: u32) -> u32 {
    word >> lo & ((1 << (hi - lo + 1)) - 1)
}

const fn bit(word: u32, at: u32) -> bool {
    word >> at & 1 == 1
}

/// Declares an enum for a field whose values are all named: number, variant, name in assembly text.
macro_rules! field {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $value:literal $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $name { $($(#[$vdoc])* $variant = $value,)+ }

        impl $name {
            /// Every value of the field, in numerical order.
            pub const ALL: &[$name] = &[$($name::$variant),+];

            /// Returns the variant numbered `value`; bits above the width of the field are ignored.
            pub const fn from_bits(value: u32) -> Self {
                Self::ALL[value as usize & (Self::ALL.len() - 1)]
            }

            /// Returns the number in the word.
            pub const fn bits(self) -> u32 {
                self as u32
            }

            /// Returns the name in assembly text; for a reserved value, its number.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)+ }
            }

            /// Returns the variant called `name`, in upper or lower case.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|v| v.name().eq_ignore_ascii_case(name))
            }
        }
    };
}

field! {
    /// `TYPE`, bits 1:0 of `US_CMN_INST` (r500-2.2).
    Type {
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

field! {
    /// `RGB_PRED_SEL` and `ALPHA_PRED_SEL`: which predicate bit is read (r500-2.2).
    PredSel {
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

field! {
    /// `ALU_RESULT_OP`: comparison with zero that makes the ALU-result bit (r500-2.2).
    AluResultOp {
        /// Equal.
        Eq = 0 "EQ",
        /// Less.
        Lt = 1 "LT",
        /// Greater or equal.
        Ge = 2 "GE",
        /// Not equal.
        Ne = 3 "NE",
    }
}

field! {
    /// `OP`, bits 2:0 of `US_FC_INST` (r500-2.3).
    Op {
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

field! {
    /// `A_OP`: what a jump does to the address stack (r500-2.3).
    AOp {
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

field! {
    /// `B_OP0` and `B_OP1`: what happens to the branch counters (r500-2.3).
    BOp {
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

/// `US_CMN_INST`: the fields that the sequencer or the ALU-result bit depends on (r500-2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cmn {
    /// `TYPE`, 1:0.
    pub ty: Type,
    /// `TEX_SEM_WAIT`, 2: timing only.
    pub tex_sem_wait: bool,
    /// `RGB_PRED_SEL`, 5:3: the predicate of an FC instruction.
    pub pred_sel: PredSel,
    /// `RGB_PRED_INV`, 6.
    pub pred_inv: bool,
    /// `LAST`, 8: a hint.
    pub last: bool,
    /// `ALU_WAIT`, 10: timing only.
    pub alu_wait: bool,
    /// `ALU_RESULT_SEL`, 21: the source of the ALU result, red (false) or alpha (true).
    pub alu_result_alpha: bool,
    /// `ALPHA_PRED_INV`, 22.
    pub alpha_pred_inv: bool,
    /// `ALU_RESULT_OP`, 24:23.
    pub alu_result_op: AluResultOp,
    /// `ALPHA_PRED_SEL`, 27:25.
    pub alpha_pred_sel: PredSel,
}

impl Cmn {
    /// Bits without a field here: write masks and clamps of ALU and TEX, and unused bits.
    pub const RESERVED: u32 = 0xf01f_fa80;

    /// The usual word 0 of a flow-control instruction, 0x00000402 (r500-2.2).
    pub const FC: Cmn = Cmn::decode(0x402);

    /// Returns the fields of `word`.
    pub const fn decode(word: u32) -> Self {
        Cmn {
            ty: Type::from_bits(word),
            tex_sem_wait: bit(word, 2),
            pred_sel: PredSel::from_bits(word >> 3),
            pred_inv: bit(word, 6),
            last: bit(word, 8),
            alu_wait: bit(word, 10),
            alu_result_alpha: bit(word, 21),
            alpha_pred_inv: bit(word, 22),
            alu_result_op: AluResultOp::from_bits(word >> 23),
            alpha_pred_sel: PredSel::from_bits(word >> 25),
        }
    }

    /// Returns the word, with zeros at [`Cmn::RESERVED`].
    pub const fn encode(self) -> u32 {
        self.ty.bits()
            | (self.tex_sem_wait as u32) << 2
            | self.pred_sel.bits() << 3
            | (self.pred_inv as u32) << 6
            | (self.last as u32) << 8
            | (self.alu_wait as u32) << 10
            | (self.alu_result_alpha as u32) << 21
            | (self.alpha_pred_inv as u32) << 22
            | self.alu_result_op.bits() << 23
            | self.alpha_pred_sel.bits() << 25
    }
}

/// `US_FC_INST` (r500-2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FcInst {
    /// `OP`, 2:0.
    pub op: Op,
    /// `B_ELSE`, 4: do the else swap before anything else.
    pub b_else: bool,
    /// `JUMP_ANY`, 5: jump if any voter wants to, not only if all do.
    pub jump_any: bool,
    /// `A_OP`, 7:6.
    pub a_op: AOp,
    /// `JUMP_FUNC`, 15:8: bit `alu_result*4 + predicate*2 + boolean` says whether a lane wants to jump.
    pub jump_func: u8,
    /// `B_POP_CNT`, 20:16: amount of a DECR, 0..=31; higher bits are not encoded.
    pub b_pop_cnt: u8,
    /// `B_OP0`, 25:24: if the unit stays.
    pub b_op0: BOp,
    /// `B_OP1`, 27:26: if the unit jumps.
    pub b_op1: BOp,
    /// `IGNORE_UNCOVERED`, 28: uncovered lanes do not vote.
    pub ignore_uncovered: bool,
}

impl FcInst {
    /// Bits 3, 23:21 and 31:29.
    pub const RESERVED: u32 = 0xe0e0_0008;

    /// A JUMP that never jumps and does nothing: word 0.
    pub const NOP: FcInst = FcInst::decode(0);

    /// Returns the fields of `word`.
    pub const fn decode(word: u32) -> Self {
        FcInst {
            op: Op::from_bits(word),
            b_else: bit(word, 4),
            jump_any: bit(word, 5),
            a_op: AOp::from_bits(word >> 6),
            jump_func: bits(word, 15, 8) as u8,
            b_pop_cnt: bits(word, 20, 16) as u8,
            b_op0: BOp::from_bits(word >> 24),
            b_op1: BOp::from_bits(word >> 26),
            ignore_uncovered: bit(word, 28),
        }
    }

    /// Returns the word, with zeros at [`FcInst::RESERVED`].
    pub const fn encode(self) -> u32 {
        self.op.bits()
            | (self.b_else as u32) << 4
            | (self.jump_any as u32) << 5
            | self.a_op.bits() << 6
            | (self.jump_func as u32) << 8
            | (self.b_pop_cnt as u32 & 31) << 16
            | self.b_op0.bits() << 24
            | self.b_op1.bits() << 26
            | (self.ignore_uncovered as u32) << 28
    }
}

/// `US_FC_ADDR` (r500-2.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FcAddr {
    /// `BOOL_ADDR`, 4:0: the boolean constant, 0..=31.
    pub bool_addr: u8,
    /// `INT_ADDR`, 12:8: the integer constant, 0..=31.
    pub int_addr: u8,
    /// `JUMP_ADDR`, 24:16: target, 0..=511.
    pub jump_addr: u16,
    /// `JUMP_GLOBAL`, 31: the target is absolute; otherwise `OFFSET_ADDR` is added.
    pub jump_global: bool,
}

impl FcAddr {
    /// Bits 7:5, 15:13 and 30:25.
    pub const RESERVED: u32 = 0x7e00_e0e0;

    /// Returns the fields of `word`.
    pub const fn decode(word: u32) -> Self {
        FcAddr {
            bool_addr: bits(word, 4, 0) as u8,
            int_addr: bits(word, 12, 8) as u8,
            jump_addr: bits(word, 24, 16) as u16,
            jump_global: bit(word, 31),
        }
    }

    /// Returns the word, with zeros at [`FcAddr::RESERVED`]; bits above a field's width are not encoded.
    pub const fn encode(self) -> u32 {
        self.bool_addr as u32 & 31
            | (self.int_addr as u32 & 31) << 8
            | (self.jump_addr as u32 & 511) << 16
            | (self.jump_global as u32) << 31
    }
}

/// A flow-control instruction as fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fc {
    /// `US_CMN_INST`, with `TYPE` = FC.
    pub cmn: Cmn,
    /// `US_FC_INST`.
    pub inst: FcInst,
    /// `US_FC_ADDR`.
    pub addr: FcAddr,
}

impl Fc {
    /// Returns the fields of `slot`; `None` unless its `TYPE` is FC.
    pub const fn decode(slot: Slot) -> Option<Self> {
        let cmn = Cmn::decode(slot.cmn);
        match cmn.ty {
            Type::Fc => Some(Fc {
                cmn,
                inst: FcInst::decode(slot.inst),
                addr: FcAddr::decode(slot.addr),
            }),
            _ => None,
        }
    }

    /// Returns the three words.
    pub const fn encode(self) -> Slot {
        Slot::new(self.cmn.encode(), self.inst.encode(), self.addr.encode())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Walks one bit through a word: each bit belongs to a field or is reserved, never both.
    #[test]
    fn every_bit_is_a_field_or_reserved() {
        for i in 0..32 {
            let w = 1u32 << i;
            assert_eq!(Cmn::decode(w).encode(), w & !Cmn::RESERVED, "CMN bit {i}");
            assert_eq!(
                FcInst::decode(w).encode(),
                w & !FcInst::RESERVED,
                "INST bit {i}"
            );
            assert_eq!(
                FcAddr::decode(w).encode(),
                w & !FcAddr::RESERVED,
                "ADDR bit {i}"
            );
        }
    }

    /// The LOOP for some lanes and RETURN if alu of r500-7.1, and the layout of r500-2.4, field by field.
    #[test]
    fn fields_lie_where_the_spec_puts_them() {
        let i = FcInst::decode(0x1605_f0b5);
        assert_eq!(
            i,
            FcInst {
                op: Op::BreakLoop,
                b_else: true,
                jump_any: true,
                a_op: AOp::Push,
                jump_func: 0xf0,
                b_pop_cnt: 5,
                b_op0: BOp::Incr,
                b_op1: BOp::Decr,
                ignore_uncovered: true,
            }
        );
        let a = FcAddr::decode(0x8028_0503);
        assert_eq!(
            (a.bool_addr, a.int_addr, a.jump_addr, a.jump_global),
            (3, 5, 40, true)
        );
        let c = Cmn::decode(0x442 | 4 << 3);
        assert_eq!(
            (c.ty, c.pred_sel, c.pred_inv, c.alu_wait),
            (Type::Fc, PredSel::B, true, true)
        );
    }

    /// A value too wide for its field must not leak into the neighbouring fields.
    #[test]
    fn encode_masks_too_wide_values() {
        let i = FcInst {
            b_pop_cnt: 32,
            ..FcInst::NOP
        };
        assert_eq!(i.encode(), 0);
        let a = FcAddr {
            bool_addr: 32,
            int_addr: 32,
            jump_addr: 512,
            jump_global: false,
        };
        assert_eq!(a.encode(), 0);
    }
}
