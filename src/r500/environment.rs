//! The surroundings of the unit: instruction memory, ALU results, predicates, coverage (r500-3.1).

use rand::Rng;

use super::R500;
use super::program::Program;
use super::state::{In, State};
use crate::unit::{Environment, Pins};
use reconverge_program::case::Case;
use reconverge_program::environment::{Draw, Noise, Planes};

/// Returns the lanes for whose history an instruction on `pins` counts: the ACTIVE ones, and at an ENDLOOP or
/// ENDREP also the continued lanes that it returns to ACTIVE before it decides (r500-4.1-e).
/// Without those, a lane would draw other bits after a CONTINUE that was held back than after one
/// that jumped, so that its draws would depend on other lanes.
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
    cov: u64,
    /// ALU result, predicates R, G, B, A.
    conditions: Planes<5>,
    /// What the planes show, as far as an FC instruction has looked at them.
    shown: [u64; 5],
    /// The last requested instruction: whether it is FC, and the lanes that it counts for.
    asked: (bool, u64),
}

impl Environment<R500> for Surroundings {
    fn new(case: &Case<R500>) -> Self {
        Surroundings {
            program: case.program.clone(),
            cov: case.launch_mask,
            conditions: Planes::new(case),
            shown: [0; 5],
            asked: (false, 0),
        }
    }

    fn launched(&mut self) {
        self.conditions.forget();
        self.shown = [0; 5];
    }

    #[inline]
    fn set_pins(&mut self, state: &State, rng: &mut impl Rng, pins: &mut In) {
        let slot = self.program.slot(state.pc);
        *pins = In {
            cmn: slot.cmn,
            inst: slot.inst,
            addr: slot.addr,
            inst_valid: 1,
            rst_n: 1,
            ..In::default()
        };
        let is_fc = slot.cmn & 3 == 2;
        if self.conditions.lanes.noisy() {
            let mut noise = Noise::<6>::draw(rng);
            if is_fc {
                // The conditions that it may look at: the ALU result, and the predicate that RGB_PRED_SEL selects, 2 = R (r500-2.2-c).
                noise.shape(0, state.active);
                if let selected @ 2..6 = (slot.cmn >> 3 & 7) as usize {
                    noise.shape(selected - 1, state.active);
                }
            }
            let [alu, pred @ .., _] = noise.conditions;
            (pins.alu, pins.pred) = (alu, pred);
            // Most lanes are covered: with half of them left out, few decisions would be contested. At times none or few are
            // covered of the lanes whose class would hold a BREAK back.
            pins.cov = match rng.random_range(0..8) {
                0 => {
                    noise.shape(5, state.active);
                    noise.conditions[5]
                }
                1 => state.active,
                _ => rng.random::<u64>() | rng.random::<u64>(),
            };
            return;
        }
        if is_fc {
            self.shown = *self.conditions.refresh();
        }
        self.asked = (is_fc, counts(state, pins));
        let [alu, pred @ ..] = self.shown;
        (pins.alu, pins.pred) = (alu, pred);
        pins.cov = self.cov;
    }

    #[inline]
    fn executed(&mut self, _: &State) {
        if self.conditions.lanes.noisy() {
            return;
        }
        let (is_fc, counts) = self.asked;
        if is_fc {
            // The FC instruction has used up the ALU result (r500-O24); predicates stay.
            self.conditions.clear(0);
            self.shown[0] = 0;
        } else {
            self.conditions.redraw(counts);
        }
        self.conditions.lanes.count(counts);
    }

    fn draw(&self, state: &State, lane: u32) -> Option<Draw> {
        let names = &["alu", "R", "G", "B", "A"];
        let lanes = &self.conditions.lanes;
        let draw = match self.program.slot(state.pc).cmn & 3 == 2 {
            true => self.conditions.last(lane, names),
            false => lanes.whole(lane, lanes.k(lane), names),
        };
        draw.filter(|_| state.active >> lane & 1 == 1)
    }
}

impl Pins for In {
    fn launches(&self) -> bool {
        self.launch == 1
    }

    fn written(&self) -> Option<String> {
        match (self.const_we, self.const_addr) {
            (1, n @ 0..=31) => Some(format!("US_FC_INT_CONST_{n} = 0x{:08x}", self.const_wdata)),
            (1, 32) => Some(format!("US_FC_BOOL_CONST = 0x{:08x}", self.const_wdata)),
            _ => None,
        }
    }

    fn starve(&mut self) {
        self.inst_valid = 0;
    }

    #[inline]
    fn scramble(&mut self, running: bool, rng: &mut impl Rng) {
        let reset = self.is_reset();
        // Every pin is named: the compiler tells of a new one.
        let In {
            alu,
            pred,
            cov,
            cmn,
            inst,
            addr,
            const_wdata,
            fc_ctrl,
            code_addr,
            code_range,
            code_offset,
            const_addr,
            const_we,
            launch,
            stall,
            inst_valid,
            rst_n: _,
            pad: _,
        } = self;
        if reset {
            *stall = rng.random_range(0..=1);
        }
        let anything = reset || *stall == 1;
        if anything || !running || *inst_valid == 0 {
            *alu = rng.random();
            *pred = rng.random();
            *cov = rng.random();
            (*cmn, *inst, *addr) = (rng.random(), rng.random(), rng.random());
        }
        if anything || !running {
            *inst_valid = rng.random_range(0..=1);
        }
        let launching = *launch == 1;
        let writing = *const_we == 1;
        if anything || running {
            *launch = rng.random_range(0..=1);
            *const_we = rng.random_range(0..=1);
        }
        if anything || running || !launching {
            (*fc_ctrl, *code_addr) = (rng.random(), rng.random());
            (*code_range, *code_offset) = (rng.random(), rng.random());
        }
        if anything || running || !writing {
            *const_wdata = rng.random();
            *const_addr = rng.random_range(0..64);
        }
    }

    fn host_write(&mut self, rng: &mut impl Rng) {
        self.const_we = 1;
        self.const_addr = rng.random_range(0..64);
        // Mostly loops of few iterations: others would fill a whole case.
        let few = if rng.random_ratio(7, 8) {
            0xffff_ff03
        } else {
            u32::MAX
        };
        self.const_wdata = rng.random::<u32>() & few;
    }
}
