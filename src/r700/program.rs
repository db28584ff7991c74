//! A control-flow program with the registers and constants of its launch (r700-2.1, r700-2.6, r700-3.3).

use serde::{Deserialize, Serialize};

/// Quadwords that a program may have here; the hardware's addresses go further.
pub const MAX_QUADS: usize = 65_536;

/// A CF instruction (r700-2.1), and the one property of its clause that the sequencer learns (r700-2.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quad {
    /// The word at the lower address.
    pub dw0: u32,
    /// The word above it.
    pub dw1: u32,
    /// `u`: the ALU clause updates the execute mask. Meaningless for other instructions.
    pub u: bool,
}

/// Operands of the launch, and the constants (r700-2.6, r700-3.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registers {
    /// Address of the first instruction.
    pub entry: u32,
    /// Quadwords that belong to the program; a PC at or above it is an error.
    pub prog_len: u32,
    /// `STACK_SIZE`, entries; each has four sub-entries, or eight (r700-3.4-h).
    pub stack_size: u8,
    /// `SQ_BOOL_CONST`: bit i is boolean i.
    pub bool_const: u32,
    /// `SQ_LOOP_CONST` 0..31: 11:0 trip count, 23:12 first index, 31:24 step (signed).
    pub loop_const: [u32; 32],
}

impl Default for Registers {
    /// Returns the registers for an empty program, with as much stack as the default build has.
    fn default() -> Self {
        Registers {
            entry: 0,
            prog_len: 0,
            stack_size: 32,
            bool_const: 0,
            loop_const: [0; 32],
        }
    }
}

/// A program: quad i lies at address i, and at i plus each multiple of [`MAX_QUADS`].
///
/// Between the quads and the next such place, memory reads as zero words, which are a NOP.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The name of its runs: file name or kernel.
    pub name: String,
    /// Registers and constants set before launch.
    pub regs: Registers,
    /// Instructions from address 0 on; at most [`MAX_QUADS`].
    pub quads: Vec<Quad>,
}

impl Program {
    /// Returns a program without a name.
    pub fn of(regs: Registers, quads: Vec<Quad>) -> Self {
        let name = String::new();
        Program { name, regs, quads }
    }

    /// Returns the instruction at `pc`: a short program can run at any address of 32 bits.
    #[inline]
    pub fn quad(&self, pc: u32) -> Quad {
        let place = pc as usize % MAX_QUADS;
        self.quads.get(place).copied().unwrap_or_default()
    }
}
