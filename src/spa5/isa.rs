//! Instruction words as fields, encoding and decoding, and the bundles that hold them, without their
//! meaning.
//!
//! Source: spa5-2.1 to spa5-2.4 and spa5-A in `docs/spec/spa5.md`.
//!
//! [`Word::decode`] never fails, and [`Word::encode`] gives the word back, except that bits that the unit
//! ignores are 0 ([`Word::is_canonical`]). [`Code`] puts instructions into bundles.

use super::program::BUNDLE;
use reconverge_program::names;

mod code;
pub mod fields;
mod opcodes;

use fields::{
    ADDRESS, BANK, COUNTS, IMM32, IN_BANK, INVERT, KEEP_REF_COUNT, LMT, OFF24, PREDICATE, REGISTER,
    TEST, UNANIMOUS,
};

pub use code::{Code, CodeError, Label};
pub use opcodes::{BLACK_BOXES, black_box};

/// The scheduling control word of hand-made programs (spa5-2.1).
pub const CONTROL: u64 = 0x001f_bc00_fde0_07ef;

/// NOP (spa5-2.3): a black box, as ptxas and Mesa write it.
pub const NOP: u64 = 0x50b0_0000_0007_0f00;

/// The field of a slot in a control word that hand-made programs use (spa5-2.1), 21 bits.
const CONTROL_FIELD: u64 = 0x7ef;

/// Byte offsets that a direct target may have from the address after its instruction (spa5-2.2).
pub const OFFSETS: std::ops::RangeInclusive<i64> = -0x80_0000..=0x7f_ffff;

/// Returns whether a control word lies at `address` (spa5-2.1).
pub const fn is_control(address: u32) -> bool {
    address.is_multiple_of(BUNDLE)
}

/// Returns the normalized address: that of a control word means the first slot of its bundle (spa5-2.1).
pub const fn norm(address: u32) -> u32 {
    if is_control(address) {
        address.wrapping_add(8)
    } else {
        address
    }
}

/// Returns the next instruction in program order (spa5-2.1).
pub const fn seq(pc: u32) -> u32 {
    norm(pc.wrapping_add(8))
}

/// Returns `control` with the field of slot 0, 1 or 2 set to the value of hand-made programs.
pub const fn with_plain_slot(control: u64, slot: u32) -> u64 {
    let shift = 21 * slot;
    control & !(0x1f_ffff << shift) | CONTROL_FIELD << shift
}

names! {
    /// The set-up instructions and calls, which push a token: bits 63:52 (spa5-2.3). They have neither predicate
    /// nor CC test.
    SetUpOp: u16 {
        /// Where the threads that execute SYNC meet.
        Ssy = 0xE29 "SSY",
        /// Where the threads that execute BRK go.
        Pbk = 0xE2A "PBK",
        /// Where the threads that execute CONT go.
        Pcnt = 0xE2B "PCNT",
        /// Where the threads that execute RET go.
        Pret = 0xE27 "PRET",
        /// Call.
        Cal = 0xE26 "CAL",
        /// Call of an absolute address.
        Jcal = 0xE22 "JCAL",
    }
}

impl SetUpOp {
    /// Returns whether it has the form `.NOINC`, bit 6 clear.
    pub const fn has_noinc(self) -> bool {
        matches!(self, SetUpOp::Cal | SetUpOp::Pret | SetUpOp::Jcal)
    }
}

names! {
    /// The leaving instructions: bits 63:52 (spa5-2.3); for SYNC, those of them that are compared.
    LeaveOp: u16 {
        /// To the SSY token.
        Sync = 0xF0F "SYNC",
        /// To the PBK token.
        Brk = 0xE34 "BRK",
        /// To the PCNT token.
        Cont = 0xE35 "CONT",
        /// To the RET token.
        Ret = 0xE32 "RET",
        /// Ends the thread.
        Exit = 0xE30 "EXIT",
        /// Ends the thread and marks it as killed.
        Kil = 0xE33 "KIL",
    }
}

names! {
    /// The other opcodes of the block that have a name: bits 63:52 (spa5-2.3). Each is UNSUPPORTED.
    BlockOp: u16 {
        /// JMX in its constant-bank form.
        Jmx = 0xE20 "JMX",
        /// JMP in its constant-bank form.
        Jmp = 0xE21 "JMP",
        /// JCAL in its constant-bank form.
        Jcal = 0xE22 "JCAL",
        /// Push an address for threads that exit.
        Pexit = 0xE23 "PEXIT",
        /// Push an address for long jumps.
        Plongjmp = 0xE28 "PLONGJMP",
        /// Read the stack pointer.
        Getcrsptr = 0xE2C "GETCRSPTR",
        /// Read the base of local memory.
        Getlmembase = 0xE2D "GETLMEMBASE",
        /// Write the stack pointer.
        Setcrsptr = 0xE2E "SETCRSPTR",
        /// Write the base of local memory.
        Setlmembase = 0xE2F "SETLMEMBASE",
        /// Long jump.
        Longjmp = 0xE31 "LONGJMP",
        /// Return from a trap.
        Rtt = 0xE36 "RTT",
        /// Make all threads active.
        Sam = 0xE37 "SAM",
        /// Restore the active mask.
        Ram = 0xE38 "RAM",
        /// Enable or disable interrupts.
        Ide = 0xE39 "IDE",
        /// Breakpoint, trap.
        Bpt = 0xE3A "BPT",
    }
}

/// Returns every mnemonic of the instruction set without its suffixes: this unit's instructions first.
pub fn mnemonics() -> impl Iterator<Item = &'static str> {
    let set_up = SetUpOp::ALL.iter().map(|op| op.name());
    let leave = LeaveOp::ALL.iter().map(|op| op.name());
    // JMX, JMP and JCAL are already included.
    let block = BlockOp::ALL.iter().skip(3).map(|op| op.name());
    (set_up.chain(leave))
        .chain(["BRA", "BRX", "JMP", "JMX"])
        .chain(block)
        .chain(BLACK_BOXES.iter().map(|(name, _)| *name))
}

names! {
    /// CC tests, bits 4:0 (spa5-2.4).
    Test: u16 {
        /// Never.
        F = 0x00 "F",
        /// Less.
        Lt = 0x01 "LT",
        /// Equal.
        Eq = 0x02 "EQ",
        /// Less or equal.
        Le = 0x03 "LE",
        /// Greater.
        Gt = 0x04 "GT",
        /// Not equal.
        Ne = 0x05 "NE",
        /// Greater or equal.
        Ge = 0x06 "GE",
        /// A number.
        Num = 0x07 "NUM",
        /// No number.
        Nan = 0x08 "NAN",
        /// Less or unordered.
        Ltu = 0x09 "LTU",
        /// Equal or unordered.
        Equ = 0x0A "EQU",
        /// Less, equal or unordered.
        Leu = 0x0B "LEU",
        /// Greater or unordered.
        Gtu = 0x0C "GTU",
        /// Not equal, or unordered.
        Neu = 0x0D "NEU",
        /// Greater, equal or unordered.
        Geu = 0x0E "GEU",
        /// Always; the test of an instruction that shows none.
        T = 0x0F "T",
        /// No overflow.
        Off = 0x10 "OFF",
        /// No carry.
        Lo = 0x11 "LO",
        /// No sign.
        Sff = 0x12 "SFF",
        /// No carry, or zero.
        Ls = 0x13 "LS",
        /// Carry, and not zero.
        Hi = 0x14 "HI",
        /// Sign.
        Sft = 0x15 "SFT",
        /// Carry.
        Hs = 0x16 "HS",
        /// Overflow.
        Oft = 0x17 "OFT",
        /// Of the clip state machine, as all that follow: UNSUPPORTED unless the unit is built with CSM=1.
        CsmTa = 0x18 "CSM_TA",
        /// The same.
        CsmTr = 0x19 "CSM_TR",
        /// The same.
        CsmMx = 0x1A "CSM_MX",
        /// The same.
        FcsmTa = 0x1B "FCSM_TA",
        /// The same.
        FcsmTr = 0x1C "FCSM_TR",
        /// The same.
        FcsmMx = 0x1D "FCSM_MX",
        /// The same.
        Rle = 0x1E "RLE",
        /// The same.
        Rgt = 0x1F "RGT",
    }
}

impl Test {
    /// Returns the test with this code; higher bits are ignored.
    pub const fn from_code(code: u64) -> Self {
        Self::ALL[(code & 31) as usize]
    }

    /// Returns whether it belongs to the clip state machine (spa5-2.4-d).
    pub const fn is_clip(self) -> bool {
        self.bits() >= 0x18
    }
}

/// `pppp`, bits 19:16: a predicate and whether it is inverted (spa5-2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pred {
    /// 0..=6 for P0 to P6, 7 for PT, which is 1.
    pub number: u8,
    /// Bit 19: true for the threads whose predicate is 0.
    pub not: bool,
}

impl Pred {
    /// `7`, PT.
    pub const ALWAYS: Pred = Pred {
        number: 7,
        not: false,
    };
    /// `f`, !PT.
    pub const NEVER: Pred = Pred {
        number: 7,
        not: true,
    };

    /// Returns P0 to P6, or PT.
    pub const fn p(number: u8) -> Self {
        Pred { number, not: false }
    }

    /// Returns the inverted predicate.
    pub const fn not_p(number: u8) -> Self {
        Pred { number, not: true }
    }

    const fn decode(word: u64) -> Self {
        Pred {
            number: PREDICATE.of(word) as u8,
            not: INVERT.is_set(word),
        }
    }

    const fn encode(self) -> u64 {
        PREDICATE.put(self.number as u64) | INVERT.put(self.not as u64)
    }
}

/// The condition of an instruction: it is for the threads for which both the predicate and the CC test are true
/// (spa5-2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cond {
    /// `pppp`.
    pub pred: Pred,
    /// `ccccc`.
    pub test: Test,
}

impl Cond {
    /// Every thread.
    pub const ALWAYS: Cond = Cond {
        pred: Pred::ALWAYS,
        test: Test::T,
    };

    /// Returns the condition that holds for threads whose predicate is true.
    pub const fn pred(pred: Pred) -> Self {
        Cond {
            pred,
            test: Test::T,
        }
    }

    /// Returns the condition that holds for threads whose condition code passes.
    pub const fn test(test: Test) -> Self {
        Cond {
            pred: Pred::ALWAYS,
            test,
        }
    }

    const fn decode(word: u64) -> Self {
        Cond {
            pred: Pred::decode(word),
            test: Test::from_code(TEST.of(word)),
        }
    }

    const fn encode(self) -> u64 {
        self.pred.encode() | TEST.put(self.test.bits() as u64)
    }
}

/// The target of an instruction: bits 43:20, and bit 5 that gives their meaning, or bits 51:20 (spa5-2.2, spa5-2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// `off24`: bytes from the address after the instruction, one of [`OFFSETS`]; for BRX the register is
    /// added.
    Offset(i32),
    /// `imm32`: the address itself, for JMP, JCAL and JMX; for JMX the register is added.
    Absolute(u32),
    /// Constant bank, bit 5 set: its contents are the offset. UNSUPPORTED for BRX.
    Bank {
        /// Bits 40:36, 0..=31.
        bank: u8,
        /// Bits 35:20.
        address: u16,
    },
}

impl Target {
    /// Returns the offset with which the instruction at `pc` leads to `address`, not normalized; `None` if it does
    /// not fit.
    pub fn direct(pc: u32, address: i64) -> Option<Self> {
        let offset = address - (i64::from(pc) + 8);
        match i32::try_from(offset) {
            Ok(offset) if OFFSETS.contains(&offset.into()) => Some(Target::Offset(offset)),
            _ => None,
        }
    }

    /// Returns the address to which it leads from `pc`, before the check and the normalization: t of spa5-2.2.
    /// `None` for a constant bank.
    pub fn address(self, pc: u32) -> Option<i64> {
        match self {
            Target::Offset(offset) => Some(i64::from(pc) + 8 + i64::from(offset)),
            Target::Absolute(address) => Some(address.into()),
            Target::Bank { .. } => None,
        }
    }

    /// Returns the target with which the instruction at `pc` leads to `address`: in the same form, or an offset for a constant
    /// bank. `None` if there is none.
    pub fn aimed(self, pc: u32, address: i64) -> Option<Self> {
        match self {
            Target::Absolute(_) => u32::try_from(address).ok().map(Target::Absolute),
            _ => Target::direct(pc, address),
        }
    }

    /// Returns whether it is the address itself.
    pub const fn is_absolute(self) -> bool {
        matches!(self, Target::Absolute(_))
    }

    /// Returns `imm32` of `word`.
    const fn absolute(word: u64) -> Self {
        Target::Absolute(IMM32.of(word) as u32)
    }

    const fn decode(word: u64) -> Self {
        if IN_BANK.is_set(word) {
            Target::Bank {
                bank: BANK.of(word) as u8,
                address: ADDRESS.of(word) as u16,
            }
        } else {
            // The sign of 24 bits is extended to 32.
            Target::Offset((OFF24.of(word) << 8) as i32 >> 8)
        }
    }

    pub(in crate::spa5) const fn encode(self) -> u64 {
        match self {
            Target::Offset(offset) => OFF24.put(offset as u64),
            Target::Absolute(address) => IMM32.put(address as u64),
            Target::Bank { bank, address } => {
                BANK.put(bank as u64) | ADDRESS.put(address as u64) | IN_BANK.put(1)
            }
        }
    }
}

/// SSY, PBK, PCNT, PRET, CAL, JCAL (spa5-2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SetUp {
    /// Bits 63:52.
    pub op: SetUpOp,
    /// Bits 43:20 and 5; of JCAL [`Target::Absolute`].
    pub target: Target,
    /// Bit 6 clear, only for CAL, JCAL and PRET: `.NOINC`, no effect here.
    pub noinc: bool,
}

/// BRA, and JMP, whose target is [`Target::Absolute`] (spa5-2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Branch {
    /// Bits 19:16 and 4:0.
    pub cond: Cond,
    /// Bits 43:20 and 5.
    pub target: Target,
    /// Bit 7, `.U`: all active threads or none.
    pub unanimous: bool,
    /// Bit 6, `.LMT`: no effect here.
    pub lmt: bool,
}

/// BRX, and JMX, whose target is [`Target::Absolute`] (spa5-A); UNSUPPORTED in a unit built without them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Indirect {
    /// Bits 19:16 and 4:0.
    pub cond: Cond,
    /// Bits 43:20 and 5.
    pub target: Target,
    /// Bits 15:8: the register with the rest of the address, 255 is RZ.
    pub register: u8,
    /// Bit 6, `.LMT`: no effect here.
    pub lmt: bool,
}

/// SYNC, BRK, CONT, RET, EXIT, KIL (spa5-2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Leave {
    /// Bits 63:52.
    pub op: LeaveOp,
    /// Bits 19:16 and 4:0.
    pub cond: Cond,
    /// Bit 5, only for EXIT: `.KEEPREFCOUNT`, no effect here.
    pub keep_ref_count: bool,
}

/// An instruction word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Word {
    /// SSY, PBK, PCNT, PRET, CAL, JCAL.
    SetUp(SetUp),
    /// BRA, JMP.
    Branch(Branch),
    /// BRX, JMX.
    Indirect(Indirect),
    /// SYNC, BRK, CONT, RET, EXIT, KIL.
    Leave(Leave),
    /// UNSUPPORTED: another opcode or form of the block, and the word.
    Unsupported(BlockOp, u64),
    /// ILLEGAL: an opcode of the block without a name, E3B to E3F, and the word.
    Illegal(u64),
    /// OTHER: a black box, the word itself.
    Other(u64),
}

impl Word {
    /// NOP.
    pub const NOP: Word = Word::Other(NOP);

    /// Returns SSY, PBK, PCNT, PRET, CAL or JCAL with offset or address 0, to be pushed with a label.
    pub const fn set_up(op: SetUpOp) -> Self {
        let target = match op {
            SetUpOp::Jcal => Target::Absolute(0),
            _ => Target::Offset(0),
        };
        Word::SetUp(SetUp {
            op,
            target,
            noinc: false,
        })
    }

    /// Returns BRA with offset 0, to be pushed with a label.
    pub const fn bra(cond: Cond) -> Self {
        Word::Branch(Branch {
            cond,
            target: Target::Offset(0),
            unanimous: false,
            lmt: false,
        })
    }

    /// Returns JMP with address 0, to be pushed with a label.
    pub const fn jmp(cond: Cond) -> Self {
        Word::bra(cond).with_target(Target::Absolute(0))
    }

    /// Returns SYNC, BRK, CONT, RET, EXIT or KIL.
    pub const fn leave(op: LeaveOp, cond: Cond) -> Self {
        Word::Leave(Leave {
            op,
            cond,
            keep_ref_count: false,
        })
    }

    /// Returns the fields of a word.
    pub const fn decode(word: u64) -> Self {
        // Bits 63:51 distinguish SYNC (spa5-2.3).
        if word & 0xFFF8_0000_0000_0000 == 0xF0F8_0000_0000_0000 {
            return Word::Leave(Leave {
                op: LeaveOp::Sync,
                cond: Cond::decode(word),
                keep_ref_count: false,
            });
        }
        if !matches!(word >> 56, 0xE2 | 0xE3) {
            return Word::Other(word);
        }
        let op = (word >> 52) as u16;
        let cond = Cond::decode(word);
        // JMX, JMP, JCAL have no constant-bank form (spa5-2.3-w).
        let target = match op {
            0xE20..=0xE22 if !IN_BANK.is_set(word) => Target::absolute(word),
            _ => Target::decode(word),
        };
        if let (0xE20..=0xE22, true, Some(op)) = (op, IN_BANK.is_set(word), BlockOp::from_bits(op))
        {
            return Word::Unsupported(op, word);
        }
        if let Some(op) = SetUpOp::from_bits(op) {
            return Word::SetUp(SetUp {
                op,
                target,
                noinc: op.has_noinc() && !COUNTS.is_set(word),
            });
        }
        if let Some(op) = LeaveOp::from_bits(op) {
            return Word::Leave(Leave {
                op,
                cond,
                keep_ref_count: matches!(op, LeaveOp::Exit) && KEEP_REF_COUNT.is_set(word),
            });
        }
        match op {
            0xE21 | 0xE24 => Word::Branch(Branch {
                cond,
                target,
                unanimous: UNANIMOUS.is_set(word),
                lmt: LMT.is_set(word),
            }),
            0xE20 | 0xE25 => Word::Indirect(Indirect {
                cond,
                target,
                register: REGISTER.of(word) as u8,
                lmt: LMT.is_set(word),
            }),
            _ => match BlockOp::from_bits(op) {
                Some(op) => Word::Unsupported(op, word),
                None => Word::Illegal(word),
            },
        }
    }

    /// Returns the word, with zeros in the bits that the unit ignores; bits above a field's width are not encoded.
    pub const fn encode(self) -> u64 {
        match self {
            Word::SetUp(it) => {
                let counts = it.op.has_noinc() && !it.noinc;
                (it.op.bits() as u64) << 52 | it.target.encode() | COUNTS.put(counts as u64)
            }
            Word::Branch(it) => {
                let op = if it.target.is_absolute() {
                    0xE21
                } else {
                    0xE24
                };
                let flags = UNANIMOUS.put(it.unanimous as u64) | LMT.put(it.lmt as u64);
                op << 52 | it.target.encode() | it.cond.encode() | flags
            }
            Word::Indirect(it) => {
                let op = if it.target.is_absolute() {
                    0xE20
                } else {
                    0xE25
                };
                let others = REGISTER.put(it.register as u64) | LMT.put(it.lmt as u64);
                op << 52 | it.target.encode() | it.cond.encode() | others
            }
            Word::Leave(it) => {
                let high = match it.op {
                    LeaveOp::Sync => 0xF0F8 << 48,
                    op => (op.bits() as u64) << 52,
                };
                let keep = matches!(it.op, LeaveOp::Exit) && it.keep_ref_count;
                high | it.cond.encode() | KEEP_REF_COUNT.put(keep as u64)
            }
            Word::Unsupported(_, word) | Word::Illegal(word) | Word::Other(word) => word,
        }
    }

    /// Returns whether the fields of `word` express all of it: the bits that the unit ignores are 0.
    pub const fn is_canonical(word: u64) -> bool {
        Word::decode(word).encode() == word
    }

    /// Returns its condition; `None` if it has none.
    pub const fn cond(self) -> Option<Cond> {
        match self {
            Word::Branch(Branch { cond, .. })
            | Word::Indirect(Indirect { cond, .. })
            | Word::Leave(Leave { cond, .. }) => Some(cond),
            _ => None,
        }
    }

    /// Returns its target, if it is an instruction with a target.
    pub const fn target(self) -> Option<Target> {
        match self {
            Word::SetUp(SetUp { target, .. })
            | Word::Branch(Branch { target, .. })
            | Word::Indirect(Indirect { target, .. }) => Some(target),
            _ => None,
        }
    }

    /// Returns the same set-up instruction with `.NOINC`, if it can have it, or without.
    #[must_use]
    pub const fn with_noinc(self, noinc: bool) -> Self {
        match self {
            Word::SetUp(set_up) => Word::SetUp(SetUp {
                noinc: noinc && set_up.op.has_noinc(),
                ..set_up
            }),
            other => other,
        }
    }

    /// Returns the instruction with which `self` at `pc` leads to `address`; `None` if it has no target or cannot.
    pub fn aimed(self, pc: u32, address: i64) -> Option<Self> {
        let target = self.target()?.aimed(pc, address)?;
        Some(self.with_target(target))
    }

    /// Returns the same instruction with another target; one without a target is returned unchanged.
    #[must_use]
    pub const fn with_target(self, target: Target) -> Self {
        match self {
            Word::SetUp(set_up) => Word::SetUp(SetUp { target, ..set_up }),
            Word::Branch(branch) => Word::Branch(Branch { target, ..branch }),
            Word::Indirect(indirect) => Word::Indirect(Indirect { target, ..indirect }),
            other => other,
        }
    }

    /// Returns its mnemonic without suffixes; `None` for a black box and for an opcode without a name.
    pub const fn name(self) -> Option<&'static str> {
        Some(match self {
            Word::SetUp(SetUp { op, .. }) => op.name(),
            Word::Branch(Branch { target, .. }) if target.is_absolute() => "JMP",
            Word::Branch(_) => "BRA",
            Word::Indirect(Indirect { target, .. }) if target.is_absolute() => "JMX",
            Word::Indirect(_) => "BRX",
            Word::Leave(Leave { op, .. }) => op.name(),
            Word::Unsupported(op, _) => op.name(),
            Word::Illegal(_) | Word::Other(_) => return None,
        })
    }
}

#[cfg(test)]
pub(super) mod tests;
