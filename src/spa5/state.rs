//! The pins and the architectural state of the unit, as plain structs shared with the bench top.
//!
//! `tb/spa5_tb.sv` declares the same two structs, fields in reverse order (a packed struct begins
//! with its most significant bit). Sizes are asserted when a model is opened; that every field lies
//! where both sides think is shown by flipping each bit (`tb/must_fail.rs`).
//!
//! Of the stack the state shows the top token. Tokens below it never change (spa5-3), and each is on top
//! when it is pushed and again when it is revealed, so comparing the top on every clock compares all.

use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

use crate::field::{Field, planes, show, words};

/// One clock's inputs. Masks: bit t is thread t; flags are 0 or 1.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct In {
    /// Predicates P0 to P6 of every thread (spa5-2.4).
    pub p: [u64; 7],
    /// Condition codes of every thread: Z, S, C, O (spa5-2.4).
    pub cc: [u64; 4],
    /// Operand of a launch: threads of the warp.
    pub launch_mask: u64,
    /// The instruction word at PC.
    pub word: u64,
    /// Operand of a launch: byte offset of the first instruction.
    pub entry: u32,
    /// Operand of a launch: bytes that belong to the program.
    pub prog_size: u32,
    /// Start a warp.
    pub launch: u8,
    /// Nothing changes in this clock.
    pub stall: u8,
    /// The instruction word belongs to PC.
    pub inst_valid: u8,
    /// Synchronous active-low reset.
    pub rst_n: u8,
    /// Always 0.
    pub pad: [u8; 4],
    /// Each thread's value of the register that a BRX names (spa5-A); read only by a unit built
    /// with BRX.
    pub r: [u32; 64],
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

/// The architectural state after a clock (spa5-3).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
pub struct State {
    /// Threads that execute the next instruction.
    pub active: u64,
    /// Threads that executed EXIT, or were never launched.
    pub exited: u64,
    /// Threads that executed BRK and wait for their PBK token.
    pub d_brk: u64,
    /// Threads that executed CONT and wait for their PCNT token.
    pub d_cont: u64,
    /// Threads that executed RET and wait for their RET token.
    pub d_ret: u64,
    /// Mask of the top token; 0 if there is none.
    pub top_mask: u64,
    /// Byte address of the next instruction, normalized.
    pub pc: u32,
    /// Address of the top token; 0 if there is none.
    pub top_addr: u32,
    /// Tokens on the stack.
    pub sp: u16,
    /// 0 RUN, 1 DONE, 2 ERR, 3 UNWIND.
    pub status: u8,
    /// Error code of spa5-6.
    pub err: u8,
    /// Which leaving instructions are legal: bit 0 SYNC, 1 BRK, 2 CONT, 3 RET.
    pub vis: u8,
    /// Type of the top token: 1 SSY, 2 PBK, 3 PCNT, 4 RET, 5 DIV; 0 if there is none.
    pub top_type: u8,
    /// `vis` that the top token saved; 0 if there is none.
    pub top_vis: u8,
    /// Always 0.
    pub pad: u8,
}

impl Default for State {
    fn default() -> Self {
        State::zeroed()
    }
}

/// Values of `status`.
pub const STATUS_NAMES: [&str; 4] = ["RUN", "DONE", "ERR", "UNWIND"];

/// Token types.
pub const TOKEN_NAMES: [&str; 6] = ["-", "SSY", "PBK", "PCNT", "RET", "DIV"];

/// Names of the error codes of spa5-6.
pub const ERROR_NAMES: [&str; 11] = [
    "OK",
    "SYNC_NO_SSY",
    "BRK_NO_PBK",
    "CONT_NO_PCNT",
    "RET_NO_CALL",
    "STACK_OVERFLOW",
    "PC_RANGE",
    "TARGET_RANGE",
    "TARGET_MISALIGNED",
    "ILLEGAL",
    "UNSUPPORTED",
];

fn status(v: u64) -> String {
    show::named(&STATUS_NAMES, v)
}

fn token(v: u64) -> String {
    show::named(&TOKEN_NAMES, v)
}

fn error(v: u64) -> String {
    show::code(&ERROR_NAMES, v)
}

fn vis(v: u64) -> String {
    format!("{v:04b}")
}

/// The fields of [`State`], in the order of the `mismatch` bits of the bench top.
#[rustfmt::skip]
pub static FIELDS: [Field; 14] = [
    planes("active", offset_of!(State, active), 1, show::decimal),
    planes("exited", offset_of!(State, exited), 1, show::decimal),
    planes("d_brk", offset_of!(State, d_brk), 1, show::decimal),
    planes("d_cont", offset_of!(State, d_cont), 1, show::decimal),
    planes("d_ret", offset_of!(State, d_ret), 1, show::decimal),
    planes("top_mask", offset_of!(State, top_mask), 1, show::decimal),
    words("pc", offset_of!(State, pc), 4, 1, 32, show::address),
    words("top_addr", offset_of!(State, top_addr), 4, 1, 32, show::address),
    words("sp", offset_of!(State, sp), 2, 1, 11, show::decimal),
    words("status", offset_of!(State, status), 1, 1, 2, status),
    words("err", offset_of!(State, err), 1, 1, 4, error),
    words("vis", offset_of!(State, vis), 1, 1, 4, vis),
    words("top_type", offset_of!(State, top_type), 1, 1, 3, token),
    words("top_vis", offset_of!(State, top_vis), 1, 1, 4, vis),
];

impl State {
    /// Thread `i` as a letter: `A` active, `b` waits for a PBK token, `c` for a PCNT token, `r` for a RET
    /// token, `x` exited, `.` waits in an SSY or DIV token.
    pub fn letter(&self, i: usize) -> char {
        let masks = [
            self.active,
            self.d_brk,
            self.d_cont,
            self.d_ret,
            self.exited,
        ];
        masks
            .iter()
            .zip("Abcrx".chars())
            .find(|(mask, _)| *mask >> i & 1 == 1)
            .map_or('.', |(_, letter)| letter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::unowned;

    #[test]
    fn the_field_list_covers_every_byte_of_the_state_but_the_padding() {
        assert_eq!(
            unowned(&FIELDS, size_of::<State>()),
            [offset_of!(State, pad)]
        );
    }

    #[test]
    fn threads_print_as_letters() {
        let s = State {
            active: 1,
            d_brk: 2,
            d_cont: 4,
            d_ret: 8,
            exited: 16,
            ..State::default()
        };
        assert_eq!((0..6).map(|i| s.letter(i)).collect::<String>(), "Abcrx.");
    }
}
