//! The pins and the architectural state of the unit, as plain structs shared with the bench top.
//!
//! `tb/r500_tb.sv` declares the same two structs, fields in reverse order (a packed struct begins
//! with its most significant bit). Sizes are asserted when a model is opened; that every field lies
//! where both sides think is shown by flipping each bit (`tb/must_fail.rs`).

use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

use crate::field::{Field, planes, show, words};

/// One clock's inputs. Lane masks: bit i is lane i; flags are 0 or 1.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct In {
    /// ALU-result bits (r500-3.1), sampled when an FC instruction executes.
    pub alu: u64,
    /// Predicates R, G, B, A.
    pub pred: [u64; 4],
    /// Covered bits.
    pub cov: u64,
    /// `US_CMN_INST`, `US_FC_INST`, `US_FC_ADDR` of the instruction at PC.
    pub cmn: u32,
    /// See `cmn`.
    pub inst: u32,
    /// See `cmn`.
    pub addr: u32,
    /// Host write port: data.
    pub const_wdata: u32,
    /// `US_FC_CTRL`, operand of a launch.
    pub fc_ctrl: u32,
    /// `US_CODE_ADDR`, operand of a launch.
    pub code_addr: u32,
    /// `US_CODE_RANGE`, operand of a launch.
    pub code_range: u32,
    /// `US_CODE_OFFSET`, operand of a launch.
    pub code_offset: u32,
    /// Host write port: 0..31 `US_FC_INT_CONST_n`, 32 `US_FC_BOOL_CONST`, 33..63 nothing.
    pub const_addr: u8,
    /// Host write port: write.
    pub const_we: u8,
    /// Start a program.
    pub launch: u8,
    /// Nothing changes in this clock.
    pub stall: u8,
    /// The instruction words belong to PC.
    pub inst_valid: u8,
    /// Synchronous active-low reset.
    pub rst_n: u8,
    /// Always 0.
    pub pad: [u8; 2],
}

impl Default for In {
    /// No reset, no stall, nothing asked for; every lane covered.
    fn default() -> Self {
        In {
            rst_n: 1,
            cov: u64::MAX,
            ..In::zeroed()
        }
    }
}

/// The architectural state after a clock (r500-3), with the outputs that repeat part of it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct State {
    /// Class planes: 0 ACTIVE, 1 BRANCH, 2 CONT, 3 BRK.
    pub st: [u64; 2],
    /// Branch-counter planes; 0 unless the class is BRANCH.
    pub bc: [u64; 5],
    /// Loop-inactive-counter planes; 0 unless the class is CONT or BRK.
    pub lc: [u64; 2],
    /// Output `active_o`.
    pub active: u64,
    /// Loop frames, bottom first: bit 16 kind (0 LOOP, 1 REP), 15:8 count, 7:0 aL; 0 above the depth.
    pub loops: [u32; 4],
    /// Return addresses, bottom first; 0 above the depth.
    pub addrs: [u16; 4],
    /// PC, absolute, 10 bits.
    pub pc: u16,
    /// Frames in use.
    pub loop_depth: u8,
    /// Entries in use.
    pub addr_depth: u8,
    /// Launched, and neither done nor halted.
    pub running: u8,
    /// Ended normally.
    pub done: u8,
    /// Stopped by an error.
    pub halted: u8,
    /// Error code of r500-6.
    pub err: u8,
    /// Output `al_o`: aL of the top frame.
    pub al: u8,
    /// Output `alu_clr_o`: the ALU-result bits are cleared (r500-O24).
    pub alu_clr: u8,
    /// Always 0.
    pub pad: [u8; 6],
    /// `US_FC_INT_CONST_n`, 24 bits each, little-endian.
    pub int_const: [[u8; 3]; 32],
    /// `US_FC_BOOL_CONST`.
    pub bool_const: u32,
    /// Always 0.
    pub pad_end: u32,
}

impl Default for State {
    fn default() -> Self {
        State::zeroed()
    }
}

/// Letter of a lane class as in the spec's traces.
pub const CLASS_LETTER: [char; 4] = ['A', 'B', 'C', 'K'];

/// Names of the error codes of r500-6.
pub const ERROR_NAMES: [&str; 10] = [
    "OK",
    "ILLEGAL",
    "PARTIAL",
    "LOOP_UNDERFLOW",
    "LOOP_KIND",
    "LOOP_OVERFLOW",
    "ADDR_OVERFLOW",
    "ADDR_UNDERFLOW",
    "BRANCH_OVERFLOW",
    "PC_RANGE",
];

fn class(v: u64) -> String {
    show::named(&["ACTIVE", "BRANCH", "CONT", "BRK"], v)
}

fn frame(v: u64) -> String {
    let kind = if v >> 16 & 1 == 0 { "LOOP" } else { "REP" };
    format!("{kind} n={} aL={}", v >> 8 & 0xff, v & 0xff)
}

fn error(v: u64) -> String {
    show::code(&ERROR_NAMES, v)
}

fn int_const(v: u64) -> String {
    format!(
        "count={} init={} step={}",
        v & 0xff,
        v >> 8 & 0xff,
        (v >> 16) as u8 as i8
    )
}

/// The fields of [`State`], in the order of the `mismatch` bits of the bench top.
pub static FIELDS: [Field; 17] = [
    planes("st", offset_of!(State, st), 2, class),
    planes("bc", offset_of!(State, bc), 5, show::decimal),
    planes("lc", offset_of!(State, lc), 2, show::decimal),
    planes("active", offset_of!(State, active), 1, show::decimal),
    words("loops", offset_of!(State, loops), 4, 4, 17, frame),
    words("addrs", offset_of!(State, addrs), 2, 4, 10, show::address),
    words("pc", offset_of!(State, pc), 2, 1, 10, show::address),
    words(
        "loop_depth",
        offset_of!(State, loop_depth),
        1,
        1,
        3,
        show::decimal,
    ),
    words(
        "addr_depth",
        offset_of!(State, addr_depth),
        1,
        1,
        3,
        show::decimal,
    ),
    words(
        "running",
        offset_of!(State, running),
        1,
        1,
        1,
        show::decimal,
    ),
    words("done", offset_of!(State, done), 1, 1, 1, show::decimal),
    words("halted", offset_of!(State, halted), 1, 1, 1, show::decimal),
    words("err", offset_of!(State, err), 1, 1, 4, error),
    words("al", offset_of!(State, al), 1, 1, 8, show::decimal),
    words(
        "alu_clr",
        offset_of!(State, alu_clr),
        1,
        1,
        1,
        show::decimal,
    ),
    words(
        "int_const",
        offset_of!(State, int_const),
        3,
        32,
        24,
        int_const,
    ),
    words(
        "bool_const",
        offset_of!(State, bool_const),
        4,
        1,
        32,
        show::hex32,
    ),
];

impl State {
    /// Class of lane `i` (0 ACTIVE, 1 BRANCH, 2 CONT, 3 BRK).
    pub fn class(&self, i: usize) -> u8 {
        (self.st[0] >> i & 1) as u8 | ((self.st[1] >> i & 1) as u8) << 1
    }
    /// Branch counter of lane `i`.
    pub fn bc(&self, i: usize) -> u8 {
        (0..5).fold(0, |acc, b| acc | ((self.bc[b] >> i & 1) as u8) << b)
    }
    /// Loop-inactive counter of lane `i`.
    pub fn lc(&self, i: usize) -> u8 {
        (self.lc[0] >> i & 1) as u8 | ((self.lc[1] >> i & 1) as u8) << 1
    }
    /// Lane `i` as the spec's traces print it: `A`, `B2`, `C0`, `K1`; with both counters if they are not
    /// canonical (r500-3.1), as only broken RTL has them.
    pub fn lane(&self, i: usize) -> String {
        let (class, bc, lc) = (self.class(i), self.bc(i), self.lc(i));
        let letter = CLASS_LETTER[usize::from(class)];
        match class {
            0 if bc == 0 && lc == 0 => letter.to_string(),
            1 if lc == 0 => format!("{letter}{bc}"),
            2 | 3 if bc == 0 => format!("{letter}{lc}"),
            _ => format!("{letter}[bc={bc},lc={lc}]"),
        }
    }
    /// Constant `n` as written, bits 23:0 of `US_FC_INT_CONST_n`.
    pub fn int(&self, n: usize) -> u32 {
        let [a, b, c] = self.int_const[n];
        u32::from_le_bytes([a, b, c, 0])
    }
    /// Loop frame `f` as (is REP, count, aL).
    pub fn frame(&self, f: usize) -> (bool, u8, u8) {
        let w = self.loops[f];
        (w >> 16 & 1 == 1, (w >> 8) as u8, w as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::unowned;

    #[test]
    fn the_field_list_covers_every_byte_of_the_state_but_the_padding() {
        let pad = offset_of!(State, pad)..offset_of!(State, pad) + 6;
        let pad_end = offset_of!(State, pad_end)..size_of::<State>();
        let padding: Vec<usize> = pad.chain(pad_end).collect();
        assert_eq!(unowned(&FIELDS, size_of::<State>()), padding);
    }

    #[test]
    fn lanes_print_as_in_the_traces_of_the_spec() {
        let s = State {
            st: [0b1010, 0b1100],
            bc: [0b10, 0b10, 0, 0, 0b10],
            lc: [0b1000, 0],
            ..State::default()
        };
        assert_eq!([0, 1, 2, 3].map(|i| s.lane(i)), ["A", "B19", "C0", "K1"]);
    }
}
