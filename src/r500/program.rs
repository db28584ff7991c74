//! A program with the registers that it runs under (r500-2.1).

use serde::{Deserialize, Serialize};

use super::shader::Shader;

/// Instruction slots of the instruction memory; an absolute address is 0..=511 (r500-2.1).
pub const MEMORY_SLOTS: usize = 512;

/// The six words of an instruction (r500-2.1), of which the sequencer reads three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slot {
    /// `US_CMN_INST`, word 0: the type, and the predicate of an FC instruction (r500-2.2).
    pub cmn: u32,
    /// `US_FC_INST`, word 2 (r500-2.3). The sequencer ignores it unless `cmn` says FC.
    pub inst: u32,
    /// `US_FC_ADDR`, word 3 (r500-2.4). The same holds.
    pub addr: u32,
    /// Words 1, 4 and 5, which only the ALU reads ([`super::alu`]); 0 in flow control and where they are
    /// unknown.
    pub rest: [u32; 3],
}

impl Slot {
    /// Returns the instruction with the words that the sequencer reads; the others are 0.
    pub const fn new(cmn: u32, inst: u32, addr: u32) -> Self {
        Slot {
            cmn,
            inst,
            addr,
            rest: [0; 3],
        }
    }

    /// Returns the instruction with these words, in the order of their numbers.
    pub const fn from_words([cmn, w1, inst, addr, w4, w5]: [u32; 6]) -> Self {
        Slot {
            cmn,
            inst,
            addr,
            rest: [w1, w4, w5],
        }
    }

    /// Returns the six words, in the order of their numbers.
    pub const fn words(self) -> [u32; 6] {
        let [w1, w4, w5] = self.rest;
        [self.cmn, w1, self.inst, self.addr, w4, w5]
    }
}

/// Control registers and constants, in the formats of the registers (r500-2.1, r500-2.5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registers {
    /// `US_FC_CTRL`: bit 31 `FULL_FC_EN`.
    pub fc_ctrl: u32,
    /// `US_CODE_ADDR`: 8:0 `START_ADDR`, 24:16 `END_ADDR`, both relative to `OFFSET_ADDR`.
    pub code_addr: u32,
    /// `US_CODE_RANGE`: 8:0 `CODE_ADDR` (absolute), 24:16 `CODE_SIZE` (length minus one).
    pub code_range: u32,
    /// `US_CODE_OFFSET`: 8:0 `OFFSET_ADDR`.
    pub code_offset: u32,
    /// `US_FC_BOOL_CONST`: bit i is boolean constant i.
    pub bool_const: u32,
    /// `US_FC_INT_CONST_0..31`: 7:0 `KR` count, 15:8 `KG` init, 23:16 `KB` step.
    pub int_const: [u32; 32],
}

impl Default for Registers {
    /// Returns the registers for full flow control, code window 0..511, everything else 0.
    fn default() -> Self {
        Registers {
            fc_ctrl: 1 << 31,
            code_addr: 0,
            code_range: 511 << 16,
            code_offset: 0,
            bool_const: 0,
            int_const: [0; 32],
        }
    }
}

impl Registers {
    /// Returns `FULL_FC_EN`: full flow control (loops, calls, 32 branch levels) rather than partial.
    pub fn full(&self) -> bool {
        self.fc_ctrl >> 31 == 1
    }
    /// Returns `OFFSET_ADDR`, absolute.
    pub fn offset(&self) -> u16 {
        (self.code_offset & 0x1ff) as u16
    }
    /// Returns `START_ADDR`, relative to `OFFSET_ADDR`.
    pub fn start(&self) -> u16 {
        (self.code_addr & 0x1ff) as u16
    }
    /// Returns `END_ADDR`, relative to `OFFSET_ADDR`: the last instruction (r500-O26).
    pub fn end(&self) -> u16 {
        (self.code_addr >> 16 & 0x1ff) as u16
    }
}

/// A program: slot i lies at absolute address `OFFSET_ADDR` + i.
///
/// Addresses of the instruction memory outside the slots read as zero words (an ALU instruction).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The name of its runs: file name without extension.
    pub name: String,
    /// Registers and constants set before launch.
    pub regs: Registers,
    /// Instructions from `OFFSET_ADDR` on; at most [`MEMORY_SLOTS`] minus the offset.
    pub slots: Vec<Slot>,
    /// The inputs of its ALU instructions, if the file has them ([`super::alu`]). Lock-step alone does not
    /// need them.
    pub shader: Shader,
}

impl Program {
    /// Returns a program without a name.
    pub fn of(regs: Registers, slots: Vec<Slot>) -> Self {
        Program {
            regs,
            slots,
            ..Program::default()
        }
    }

    /// Returns the instruction at absolute address `pc`; zero words if nothing is loaded there.
    #[inline]
    pub fn slot(&self, pc: u16) -> Slot {
        pc.checked_sub(self.regs.offset())
            .and_then(|i| self.slots.get(usize::from(i)))
            .copied()
            .unwrap_or_default()
    }
}
