//! The worked traces of the specification and the memory of the stack, by the golden model alone and by the RTL alone. Expected
//! values are the spec's (`tb/spa5/programs/*.exp`), never computed. Every step from any state: `tb/spec_docs/states.rs`.
//! The rules are those of `docs/spec/spa5.md`.

// Not the whole of tb/common: that asks for the command, and this target does without it.

use std::collections::{BTreeMap, BTreeSet};

use crate::machine::{self, Machine, Sequencer, both, mask, rows};
use bytemuck::bytes_of_mut;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use reconverge::design::Build;
use reconverge::field::Field;
use reconverge::spa5::Spa5;
use reconverge::spa5::asm::assemble;
use reconverge::spa5::golden::{DEFAULT_DEPTH, Error, Event, Golden, Stepped, Token};
use reconverge::spa5::state::{FIELDS, In, State};

const LANES: usize = 4;
const ALL: u64 = (1 << LANES) - 1;

/// A machine that may know its whole stack; the state shows only what is on top.
trait Unit: Machine<Spa5> {
    /// Live tokens, oldest first.
    fn stack(&self) -> Option<Vec<Token>>;
}

impl Unit for Golden {
    fn stack(&self) -> Option<Vec<Token>> {
        Some(self.tokens().to_vec())
    }
}

impl Unit for Sequencer<Spa5> {
    fn stack(&self) -> Option<Vec<Token>> {
        None
    }
}

/// Tokens of the small stack.
const SMALL: usize = 4;

/// A unit with a small stack and BRX.
fn small() -> Build {
    let parameters = [("DEPTH".to_owned(), SMALL as u32), ("BRX".to_owned(), 1)];
    Build {
        lanes: LANES as u32,
        parameters: parameters.into(),
    }
}

// ---- words of spa5-2.3 ------------------------------------------------------------------------------------

const BRA: u64 = 0xE240_0000_0000_0000;
const CAL: u64 = 0xE260_0000_0000_0000;
const PRET: u64 = 0xE270_0000_0000_0000;
const SSY: u64 = 0xE290_0000_0000_0000;
const PBK: u64 = 0xE2A0_0000_0000_0000;
const PCNT: u64 = 0xE2B0_0000_0000_0000;
const EXIT: u64 = 0xE300_0000_0000_0000;
const BRK: u64 = 0xE340_0000_0000_0000;
const ILLEGAL_WORD: u64 = 0xE3B0_0000_0000_0000;
const NOP: u64 = 0x50B0_0000_0007_0F00;
const CONTROL: u64 = 0x001F_BC00_FDE0_07EF;

// Predicate and CC test: always, when P0.
const ALWAYS: u64 = 0x7_000F;
const P0: u64 = 0x0_000F;

/// A word with the offset field set: bytes from pc + 8 on.
fn off(word: u64, offset: i64) -> u64 {
    assert!((-0x80_0000..0x80_0000).contains(&offset));
    word & !(0xFF_FFFF << 20) | (offset as u64 & 0xFF_FFFF) << 20
}

// status, err, vis and token types (spa5-3, spa5-6).
const RUN: u8 = 0;
const DONE: u8 = 1;
const ERR: u8 = 2;
const UNWIND: u8 = 3;
const T_DIV: u8 = 5;

// ---- the protocol of a bench --------------------------------------------------------------------------

fn launch(entry: u32, prog_size: u32, launch_mask: u64) -> In {
    In {
        launch: 1,
        entry,
        prog_size,
        launch_mask,
        ..In::default()
    }
}

/// The pins that execute `word`; no predicate holds, all condition codes are 0.
fn exec(word: u64) -> In {
    In {
        inst_valid: 1,
        word,
        ..In::default()
    }
}

/// The same, and P0 holds for `p0`.
fn exec_p0(word: u64, p0: u64) -> In {
    let mut pins = exec(word);
    pins.p[0] = p0;
    pins
}

/// Executes a step as a whole: one that unwinds takes further cycles, in which the instruction pins have no effect. Returns the
/// state after it, and the number of cycles.
fn step(machine: &mut dyn Unit, pins: &In) -> (State, usize) {
    let mut clocks = 1;
    let mut state = machine.clock(pins);
    while state.status == UNWIND {
        let pins = exec(if clocks % 2 == 0 { ILLEGAL_WORD } else { NOP });
        let idle = In::default();
        state = machine.clock(if clocks % 3 == 0 { &idle } else { &pins });
        clocks += 1;
    }
    (state, clocks)
}

mod golden;
mod memory;
mod traces;
