//! The pins and the architectural state of the unit, as plain structs shared with the bench top.
//!
//! `tb/r700_tb.sv` declares the same two structs, fields in reverse order (a packed struct begins
//! with its most significant bit). Sizes are asserted when a model is opened; that every field lies
//! where both sides think is shown by flipping each bit (`tb/must_fail.rs`).
//!
//! Of the stack the state shows what is on top: the mask of the top branch frame, and the innermost loop
//! or call frame. A frame is on top when it is written and again when it is revealed, so comparing these
//! on every clock compares every frame that any later instruction can use (r700-3.4).

use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

use crate::field::{Field, planes, show, words};

/// One clock's inputs. Lane masks: bit i is lane i; flags are 0 or 1.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct In {
    /// The clause's predicate of every lane (r700-2.7), sampled when an ALU instruction executes.
    pub pred: u64,
    /// Operand of a launch: lanes that are valid (r700-3.3).
    pub lane_mask: u64,
    /// CF word at PC, lower half.
    pub dw0: u32,
    /// CF word at PC, upper half.
    pub dw1: u32,
    /// Host write port: data.
    pub const_wdata: u32,
    /// Operand of a launch: address of the first instruction.
    pub entry: u32,
    /// Operand of a launch: quadwords that belong to the program.
    pub prog_len: u32,
    /// Operand of a launch: `STACK_SIZE`, entries.
    pub stack_size: u8,
    /// Host write port: 0..31 loop constants, 32 the booleans, 33..63 nothing.
    pub const_addr: u8,
    /// Host write port: write.
    pub const_we: u8,
    /// Start a wavefront.
    pub launch: u8,
    /// Nothing changes in this clock.
    pub stall: u8,
    /// The instruction words belong to PC.
    pub inst_valid: u8,
    /// `u` of the instruction (r700-2.7): the clause updates the execute mask.
    pub u: u8,
    /// Synchronous active-low reset.
    pub rst_n: u8,
    /// Always 0.
    pub pad: [u8; 4],
}

impl Default for In {
    /// No reset, no stall, nothing asked for.
    fn default() -> Self {
        In {
            rst_n: 1,
            ..In::zeroed()
        }
    }
}

/// The architectural state after a clock (r700-3), with the outputs that repeat part of it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct State {
    /// Class planes: 0 ACTIVE, 1 BRANCH, 2 CONT, 3 BRK.
    pub st: [u64; 2],
    /// Lanes covered and not killed.
    pub valid: u64,
    /// Output `active_o`: lanes of class ACTIVE.
    pub active: u64,
    /// Output `exec_o`: lanes that executed the instruction of this clock; 0 if there was none.
    pub exec: u64,
    /// Mask of the top branch frame; 0 if `sp` = `base`.
    pub top_mask: u64,
    /// Innermost loop frame: the classes it saved, as planes; 0 unless `bkind` is LOOP.
    pub frame_st: [u64; 2],
    /// Loop constants.
    pub loop_const: [u32; 32],
    /// Booleans.
    pub bool_const: u32,
    /// Quadword address.
    pub pc: u32,
    /// Loop index aL, two's complement.
    pub al: u32,
    /// Innermost loop frame: aL of the enclosing loop; 0 unless `bkind` is LOOP.
    pub frame_al: u32,
    /// Innermost call frame: return address; 0 unless `bkind` is CALL.
    pub frame_ret: u32,
    /// Sub-entries in use.
    pub sp: u16,
    /// `sp` just above the innermost loop or call frame.
    pub base: u16,
    /// Live branch frames, all levels.
    pub nb: u16,
    /// Passes left, this one included.
    pub lc: u16,
    /// Innermost loop or call frame: `base` of the enclosing one; 0 unless there is one.
    pub frame_base: u16,
    /// Innermost loop frame: `lc` of the enclosing loop; 0 unless `bkind` is LOOP.
    pub frame_lc: u16,
    /// Kind of the innermost loop or call frame: 0 none, 1 LOOP, 2 CALL.
    pub bkind: u8,
    /// Innermost loop: 0 none, 1 LOOP_START, 2 LOOP_START_NO_AL, 3 LOOP_START_DX10.
    pub lt: u8,
    /// Step of aL, two's complement.
    pub inc: u8,
    /// Call nesting depth, 0..32.
    pub depth: u8,
    /// A CALL was skipped because of the depth; sticky.
    pub skipped: u8,
    /// Output `jump_o`: the instruction of this clock jumped.
    pub jump: u8,
    /// Launched, and neither done nor halted.
    pub running: u8,
    /// Ended normally.
    pub done: u8,
    /// Stopped by an error.
    pub halted: u8,
    /// Error code of r700-6.
    pub err: u8,
    /// Innermost loop or call frame: `bkind` of the enclosing one; 0 unless there is one.
    pub frame_bkind: u8,
    /// Innermost loop frame: `lt` of the enclosing loop; 0 unless `bkind` is LOOP.
    pub frame_lt: u8,
    /// Innermost loop frame: `inc` of the enclosing loop; 0 unless `bkind` is LOOP.
    pub frame_inc: u8,
    /// Innermost call frame: `depth` of the caller; 0 unless `bkind` is CALL.
    pub frame_depth: u8,
    /// Always 0.
    pub pad: [u8; 2],
}

impl Default for State {
    fn default() -> Self {
        State::zeroed()
    }
}

/// Letter of a lane class as in the spec's traces.
pub const CLASS_LETTER: [char; 4] = ['A', 'b', 'c', 'k'];

/// Names of the error codes of r700-6.
pub const ERROR_NAMES: [&str; 10] = [
    "OK",
    "ILLEGAL",
    "FIELD",
    "NO_LOOP",
    "LOOP_OPEN",
    "NO_CALL",
    "UNDERFLOW",
    "OVERFLOW",
    "END_STACK",
    "PC_RANGE",
];

/// Names of the loop types (`lt`) as in the spec's traces.
pub const LOOP_NAMES: [&str; 4] = ["-", "AL", "NO_AL", "DX10"];

/// Names of the frame kinds (`bkind`).
pub const FRAME_NAMES: [&str; 3] = ["-", "LOOP", "CALL"];

fn class(v: u64) -> String {
    show::named(&["ACTIVE", "BRANCH", "CONT", "BRK"], v)
}

fn loop_type(v: u64) -> String {
    show::named(&LOOP_NAMES, v)
}

fn frame_kind(v: u64) -> String {
    show::named(&FRAME_NAMES, v)
}

fn error(v: u64) -> String {
    show::code(&ERROR_NAMES, v)
}

fn loop_const(v: u64) -> String {
    format!(
        "count={} first={} step={}",
        v & 0xfff,
        v >> 12 & 0xfff,
        (v >> 24) as u8 as i8
    )
}

/// The fields of [`State`], in the order of the `mismatch` bits of the bench top.
#[rustfmt::skip]
pub static FIELDS: [Field; 32] = [
    planes("st", offset_of!(State, st), 2, class),
    planes("valid", offset_of!(State, valid), 1, show::decimal),
    planes("active", offset_of!(State, active), 1, show::decimal),
    planes("exec", offset_of!(State, exec), 1, show::decimal),
    planes("top_mask", offset_of!(State, top_mask), 1, show::decimal),
    planes("frame_st", offset_of!(State, frame_st), 2, class),
    words("pc", offset_of!(State, pc), 4, 1, 32, show::address),
    words("sp", offset_of!(State, sp), 2, 1, 10, show::decimal),
    words("base", offset_of!(State, base), 2, 1, 10, show::decimal),
    words("bkind", offset_of!(State, bkind), 1, 1, 2, frame_kind),
    words("nb", offset_of!(State, nb), 2, 1, 10, show::decimal),
    words("lt", offset_of!(State, lt), 1, 1, 2, loop_type),
    words("lc", offset_of!(State, lc), 2, 1, 12, show::decimal),
    words("al", offset_of!(State, al), 4, 1, 32, show::signed32),
    words("inc", offset_of!(State, inc), 1, 1, 8, show::signed8),
    words("depth", offset_of!(State, depth), 1, 1, 6, show::decimal),
    words("skipped", offset_of!(State, skipped), 1, 1, 1, show::decimal),
    words("jump", offset_of!(State, jump), 1, 1, 1, show::decimal),
    words("running", offset_of!(State, running), 1, 1, 1, show::decimal),
    words("done", offset_of!(State, done), 1, 1, 1, show::decimal),
    words("halted", offset_of!(State, halted), 1, 1, 1, show::decimal),
    words("err", offset_of!(State, err), 1, 1, 4, error),
    words("frame_lt", offset_of!(State, frame_lt), 1, 1, 2, loop_type),
    words("frame_lc", offset_of!(State, frame_lc), 2, 1, 12, show::decimal),
    words("frame_al", offset_of!(State, frame_al), 4, 1, 32, show::signed32),
    words("frame_inc", offset_of!(State, frame_inc), 1, 1, 8, show::signed8),
    words("frame_base", offset_of!(State, frame_base), 2, 1, 10, show::decimal),
    words("frame_bkind", offset_of!(State, frame_bkind), 1, 1, 2, frame_kind),
    words("frame_ret", offset_of!(State, frame_ret), 4, 1, 32, show::address),
    words("frame_depth", offset_of!(State, frame_depth), 1, 1, 6, show::decimal),
    words("loop_const", offset_of!(State, loop_const), 4, 32, 32, loop_const),
    words("bool_const", offset_of!(State, bool_const), 4, 1, 32, show::hex32),
];

impl State {
    /// Class of lane `i` (0 ACTIVE, 1 BRANCH, 2 CONT, 3 BRK).
    pub fn class(&self, i: usize) -> u8 {
        (self.st[0] >> i & 1) as u8 | ((self.st[1] >> i & 1) as u8) << 1
    }

    /// The first `lanes` lanes as the spec's traces print them: `Abck`.
    pub fn classes(&self, lanes: usize) -> String {
        (0..lanes)
            .map(|i| CLASS_LETTER[usize::from(self.class(i))])
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::unowned;

    #[test]
    fn the_field_list_covers_every_byte_of_the_state_but_the_padding() {
        let pad = offset_of!(State, pad);
        assert_eq!(unowned(&FIELDS, size_of::<State>()), [pad, pad + 1]);
    }

    #[test]
    fn lanes_print_as_in_the_traces_of_the_spec() {
        let s = State {
            st: [0b1010, 0b1100],
            ..State::default()
        };
        assert_eq!(s.classes(4), "Abck");
    }
}
