//! The worked traces, corner vectors and digest of the specification, by the golden model alone
//! and by the RTL alone. Expected values are the spec's (`tb/r700/programs/*.exp`), never computed.
//! The rules are those of `docs/spec/r700.md`.

// Not the whole of tb/common: that asks for the command, and this target does without it.

use std::collections::BTreeSet;

use crate::machine::{self, Machine, Sequencer, both, mask, rows};
use reconverge::design::Build;
use reconverge::field::Field;
use reconverge::r700::R700;
use reconverge::r700::asm::assemble;
use reconverge::r700::golden::{Frame, Golden, MAX_STACK_SIZE};
use reconverge::r700::program::{Quad, Registers};
use reconverge::r700::state::{ERROR_NAMES, FIELDS, In, LANE_LETTERS, LOOP_NAMES, State};

const LANES: usize = 4;
const ALL: u64 = (1 << LANES) - 1;

/// A machine that may know its whole stack; the state shows only what is on top.
trait Unit: Machine<R700> {
    /// Live frames, bottom first.
    fn stack(&self) -> Option<Vec<Frame>>;
}

impl Unit for Golden {
    fn stack(&self) -> Option<Vec<Frame>> {
        Some(self.frames().collect())
    }
}

impl Unit for Sequencer<R700> {
    fn stack(&self) -> Option<Vec<Frame>> {
        None
    }
}

/// Our own RTL with so many entries, sub-entries in each, and DX10 loops that count or do not.
fn sequencer(entries: u32, subentries: u16, dx10_count: bool) -> Sequencer<R700> {
    let asked = [
        ("MAX_STACK_SIZE", entries),
        ("SUBENTRIES", subentries.into()),
        ("DX10_COUNT", dx10_count.into()),
    ];
    let mut build = Build::from(LANES as u32);
    let own = build.clone();
    build.parameters.extend(
        asked
            .into_iter()
            .filter(|(name, value)| own.value::<R700>(name) != *value)
            .map(|(name, value)| (name.to_owned(), value)),
    );
    Sequencer::built(build)
}

// ---- the protocol of a bench ---------------------------------------------------------------------------

fn write(addr: u8, data: u32) -> In {
    In {
        const_we: 1,
        const_addr: addr,
        const_wdata: data,
        ..In::default()
    }
}

fn launch(regs: &Registers, lane_mask: u64) -> In {
    In {
        launch: 1,
        entry: regs.entry,
        prog_len: regs.prog_len,
        stack_size: regs.stack_size,
        lane_mask,
        ..In::default()
    }
}

/// The pins of reset, the host's writes, and the launch.
fn launched(regs: &Registers, lane_mask: u64) -> Vec<In> {
    let loops = (0..).zip(&regs.loop_const);
    let mut pins = vec![In::reset()];
    pins.extend(loops.map(|(n, value)| write(n, *value)));
    pins.extend([write(32, regs.bool_const), launch(regs, lane_mask)]);
    pins
}

/// The state after it.
fn start(machine: &mut dyn Unit, regs: &Registers, lane_mask: u64) -> State {
    let states = launched(regs, lane_mask).into_iter();
    states.map(|pins| machine.clock(&pins)).last().unwrap()
}

/// Registers of a program of `prog_len` quadwords.
fn program(prog_len: u32, stack_size: u8) -> Registers {
    Registers {
        prog_len,
        stack_size,
        ..Registers::default()
    }
}

/// The pins that execute an instruction.
fn pins(quad: Quad, pred: u64) -> In {
    In {
        inst_valid: 1,
        dw0: quad.dw0,
        dw1: quad.dw1,
        u: u8::from(quad.u),
        pred,
        ..In::default()
    }
}

/// A CF word to be executed.
fn cf(dw0: u32, dw1: u32) -> In {
    let quad = Quad { dw0, dw1, u: false };
    pins(quad, 0)
}

/// An ALU word whose clause updates the execute mask.
fn alu(dw1: u32, pred: u64) -> In {
    let quad = Quad {
        dw0: 0,
        dw1,
        u: true,
    };
    pins(quad, pred)
}

// Words of r700-2.5, `BARRIER` set.
const ALU_PUSH_BEFORE: u32 = 0xA400_0000;
const ALU_ELSE_AFTER: u32 = 0xBC00_0000;
const LOOP_START: u32 = 0x8200_0000;
const LOOP_END: u32 = 0x8280_0000;
const LOOP_START_DX10: u32 = 0x8300_0000;
const LOOP_START_NO_AL: u32 = 0x8380_0000;
const PUSH: u32 = 0x8580_0000;
const PUSH_ELSE: u32 = 0x8600_0000;
const POP: u32 = 0x8700_0000;
const CALL: u32 = 0x8900_0000;
const RETURN: u32 = 0x8A00_0000;
// Fields of the general format (r700-2.2).
const FALSE: u32 = 1 << 8;
const fn cf_const(n: u32) -> u32 {
    n << 3
}
const fn call_count(n: u32) -> u32 {
    n << 13
}

// Error codes of r700-6.
const OVERFLOW: u8 = 7;

/// What an instruction that ends in an error leaves of the state before it (r700-6).
fn halted(before: &State, err: u8) -> State {
    State {
        err,
        halted: 1,
        running: 0,
        exec: 0,
        jump: 0,
        ..*before
    }
}

mod digest;
mod memory;
mod traces;
