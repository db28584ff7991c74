//! The worked traces, condition tests, limits, errors and invariants of the specification, by the golden
//! model alone and by the RTL alone. Expected values are the spec's (`tb/spa5/programs/*.exp` for its
//! tables), never computed.
//! The rules are those of `docs/spec/spa5.md`.

// Not the whole of tb/common: that asks for the command, and this target does without it.

use std::collections::{BTreeMap, BTreeSet};

use crate::machine::{self, Machine, Sequencer, both, mask, rows, stalled};
use bytemuck::{bytes_of, bytes_of_mut};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use reconverge::design::Build;
use reconverge::field::diff;
use reconverge::spa5::Spa5;
use reconverge::spa5::asm::assemble;
use reconverge::spa5::golden::{DEFAULT_DEPTH, Error, Event, Golden, Stepped, Token};
use reconverge::spa5::state::{FIELDS, In, State};
use reconverge::unit::{Executor as _, Step};

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
const RET: u64 = 0xE320_0000_0000_0000;
const BRK: u64 = 0xE340_0000_0000_0000;
const CONT: u64 = 0xE350_0000_0000_0000;
const SYNC: u64 = 0xF0F8_0000_0000_0000;
const ILLEGAL_WORD: u64 = 0xE3B0_0000_0000_0000;
const JMP: u64 = 0xE210_0000_0000_0000;
const JCAL: u64 = 0xE220_0000_0000_0000;
const NOP: u64 = 0x50B0_0000_0007_0F00;
const CONTROL: u64 = 0x001F_BC00_FDE0_07EF;

const SET_UP: [u64; 5] = [SSY, PBK, PCNT, PRET, CAL];
const LEAVING: [u64; 5] = [SYNC, BRK, CONT, RET, EXIT];

// Predicate and CC test: always, when P0, never.
const ALWAYS: u64 = 0x7_000F;
const P0: u64 = 0x0_000F;
const NEVER: u64 = 0xF_000F;
/// BRA.U.
const U: u64 = 1 << 7;
/// The bit that makes the target a constant.
const CONSTANT_BANK: u64 = 1 << 5;

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
const SYNC_NO_SSY: u8 = 1;
const BRK_NO_PBK: u8 = 2;
const CONT_NO_PCNT: u8 = 3;
const RET_NO_CALL: u8 = 4;
const STACK_OVERFLOW: u8 = 5;
const PC_RANGE: u8 = 6;
const TARGET_RANGE: u8 = 7;
const TARGET_MISALIGNED: u8 = 8;
const ILLEGAL: u8 = 9;
const UNSUPPORTED: u8 = 10;
const T_SSY: u8 = 1;
const T_PBK: u8 = 2;
const T_PCNT: u8 = 3;
const T_RET: u8 = 4;
const T_DIV: u8 = 5;

// ---- the protocol of a bench --------------------------------------------------------------------------

/// Bytes of the program, where nothing else is said.
const SIZE: u32 = 0x1000;

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

/// Reset and launch of all four threads; the state after it.
fn start(machine: &mut dyn Unit) -> State {
    machine.clock(&In::reset());
    machine.clock(&launch(0, SIZE, u64::MAX))
}

/// Puts `machine` into `state`.
fn put(machine: &mut dyn Unit, state: &State) {
    machine.load(state);
    assert_eq!(machine.clock(&stalled::<Spa5>()), *state, "loaded");
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

/// What an instruction that ends in an error leaves of the state before it (spa5-6).
fn failed(before: &State, err: u8) -> State {
    State {
        err,
        status: ERR,
        ..*before
    }
}

/// Executes `pins`, which must end in error `err` and change nothing else; then makes the unit go on.
fn fails(machine: &mut dyn Unit, before: &State, pins: &In, err: u8, at: &str) {
    assert_eq!(machine.clock(pins), failed(before, err), "{at}");
    put(machine, before);
}

/// Executes `pins`, which must not end in an error; then puts the unit back. Returns the state after it.
fn works(machine: &mut dyn Unit, before: &State, pins: &In, at: &str) -> State {
    let state = machine.clock(pins);
    assert_eq!(state.err, 0, "{at}");
    put(machine, before);
    state
}

/// `before` with a token pushed on an empty stack, executed in slot 0 or 1 of a bundle.
fn pushed(before: &State, top_type: u8, vis: u8, top_mask: u64, top_addr: u32) -> State {
    State {
        sp: before.sp + 1,
        top_type,
        top_vis: before.vis,
        top_mask,
        top_addr,
        vis,
        ..*before
    }
}

mod absolute;
mod decoding;
mod golden;
mod memory;
mod stack;
mod traces;
