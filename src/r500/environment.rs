//! What surrounds the unit: instruction memory, ALU results, predicates, coverage (spec 3.1).

use rand::Rng;

use super::R500;
use super::program::Program;
use super::state::{In, State};
use crate::case::{Case, Conditions};
use crate::environment::{bits, draw_word};
use crate::unit::{Environment, Pins};

/// Condition bits of the unit: ALU result, predicates R, G, B, A.
const CONDITION_BITS: u32 = 5;

/// Lanes for whose history an instruction on `pins` counts: the ACTIVE ones, and at an ENDLOOP or
/// ENDREP also the continued lanes that it returns to ACTIVE before it decides (spec 4.1 step 2).
/// Without those a lane would draw other bits after a CONTINUE that was held back than after one
/// that jumped, so its draws would depend on other lanes.
pub fn counts(state: &State, pins: &In) -> u64 {
    let ends_a_loop = pins.cmn & 3 == 2 && matches!(pins.inst & 7, 2 | 4);
    let returned = if ends_a_loop && state.loop_depth > 0 {
        state.st[1] & !state.st[0] & !state.lc[0] & !state.lc[1]
    } else {
        0
    };
    state.active | returned
}

/// The black boxes around one wavefront.
#[derive(Debug)]
pub struct Surroundings {
    program: Program,
    conditions: Conditions,
    seed: u64,
    lanes: u32,
    cov: u64,
    /// Instructions each lane has executed.
    k: [u64; 64],
    /// The k of each lane's last draw.
    drawn_at: [u64; 64],
    /// Lanes whose last draw is not in `alu` and `pred` yet: only an FC instruction looks at them.
    stale: u64,
    alu: u64,
    pred: [u64; 4],
    /// Of the instruction last asked for: is it FC, lanes it counts for, lanes that are ACTIVE.
    asked: (bool, u64, u64),
}

impl Surroundings {
    fn refresh(&mut self) {
        let stale = std::mem::take(&mut self.stale);
        if stale == 0 {
            return;
        }
        let mut planes = [0u64; CONDITION_BITS as usize];
        let mut left = stale;
        while left != 0 {
            let lane = left.trailing_zeros();
            left &= left - 1;
            let k = self.drawn_at[lane as usize];
            let drawn = match &self.conditions {
                Conditions::Drawn { p16 } => {
                    bits(draw_word(self.seed, lane, k), CONDITION_BITS, *p16)
                }
                Conditions::Table(table) => table.bits(lane, k),
                Conditions::Noise => 0,
            };
            for (j, plane) in planes.iter_mut().enumerate() {
                *plane |= u64::from(drawn >> j & 1) << lane;
            }
        }
        let [alu, pred @ ..] = planes;
        self.alu = self.alu & !stale | alu;
        for (old, new) in self.pred.iter_mut().zip(pred) {
            *old = *old & !stale | new;
        }
    }
}

impl Environment<R500> for Surroundings {
    fn new(case: &Case<R500>) -> Self {
        Surroundings {
            program: case.program.clone(),
            conditions: case.conditions.clone(),
            seed: case.seed,
            lanes: case.lanes,
            cov: case.launch_mask,
            k: [0; 64],
            drawn_at: [0; 64],
            stale: 0,
            alu: 0,
            pred: [0; 4],
            asked: (false, 0, 0),
        }
    }

    fn launched(&mut self) {
        self.k = [0; 64];
        self.stale = 0;
        self.alu = 0;
        self.pred = [0; 4];
    }

    fn pins(&mut self, state: &State, rng: &mut impl Rng) -> In {
        let slot = self.program.slot(state.pc);
        let mut pins = In {
            cmn: slot.cmn,
            inst: slot.inst,
            addr: slot.addr,
            inst_valid: 1,
            ..In::default()
        };
        if self.conditions == Conditions::Noise {
            pins.alu = rng.random();
            pins.pred = rng.random();
            // Mostly covered: with half of the lanes left out few decisions would be contested.
            pins.cov = rng.random::<u64>() | rng.random::<u64>();
            return pins;
        }
        let is_fc = slot.cmn & 3 == 2;
        if is_fc {
            self.refresh();
        }
        self.asked = (is_fc, counts(state, &pins), state.active);
        pins.alu = self.alu;
        pins.pred = self.pred;
        pins.cov = self.cov;
        pins
    }

    fn executed(&mut self) {
        if self.conditions == Conditions::Noise {
            return;
        }
        let (is_fc, counts, active) = self.asked;
        let lanes = self.lanes as usize;
        if is_fc {
            // The ALU result is used up (spec O24); predicates stay.
            self.alu = 0;
        } else {
            for (lane, (at, k)) in self.drawn_at[..lanes].iter_mut().zip(&self.k).enumerate() {
                if counts >> lane & 1 == 1 {
                    *at = *k;
                }
            }
            self.stale |= active;
        }
        // Added, not branched upon: masks are as random as the programs.
        for (lane, k) in self.k[..lanes].iter_mut().enumerate() {
            *k += counts >> lane & 1;
        }
    }
}

impl Pins for In {
    fn reset() -> Self {
        In {
            rst_n: 0,
            ..In::default()
        }
    }

    fn is_reset(&self) -> bool {
        self.rst_n == 0
    }

    fn set_stall(&mut self, stall: bool) {
        self.stall = u8::from(stall);
    }

    fn is_stalled(&self) -> bool {
        self.stall == 1
    }

    fn starve(&mut self) {
        self.inst_valid = 0;
    }

    fn scramble(&mut self, running: bool, rng: &mut impl Rng) {
        if self.is_reset() {
            self.stall = rng.random_range(0..=1);
        }
        let anything = self.is_reset() || self.is_stalled();
        if anything || !running || self.inst_valid == 0 {
            self.alu = rng.random();
            self.pred = rng.random();
            self.cov = rng.random();
            (self.cmn, self.inst, self.addr) = (rng.random(), rng.random(), rng.random());
        }
        if anything || !running {
            self.inst_valid = rng.random_range(0..=1);
        }
        let launching = self.launch == 1;
        let writing = self.const_we == 1;
        if anything || running {
            self.launch = rng.random_range(0..=1);
            self.const_we = rng.random_range(0..=1);
        }
        if anything || running || !launching {
            (self.fc_ctrl, self.code_addr) = (rng.random(), rng.random());
            (self.code_range, self.code_offset) = (rng.random(), rng.random());
        }
        if anything || running || !writing {
            self.const_wdata = rng.random();
            self.const_addr = rng.random_range(0..64);
        }
    }

    fn host_write(&mut self, rng: &mut impl Rng) {
        self.const_we = 1;
        self.const_addr = rng.random_range(0..64);
        // Loops of few iterations mostly: others would fill a case by themselves.
        let few = if rng.random_ratio(7, 8) {
            0xffff_ff03
        } else {
            u32::MAX
        };
        self.const_wdata = rng.random::<u32>() & few;
    }
}
