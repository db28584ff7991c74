//! The surroundings of the unit: instruction memory, and the predicates from ALU clauses (r700-2.7, r700-3.6).

use rand::Rng;

use super::R700;
use super::program::{Program, Quad};
use super::state::{In, State};
use crate::unit::{Environment, Pins};
use reconverge_program::case::Case;
use reconverge_program::environment::{Draw, Histories, Noise, draw_word};

/// Returns whether `quad` is an ALU instruction whose clause gives predicates that the unit uses.
fn gives_predicates(quad: Quad) -> bool {
    quad.dw1 >> 29 & 1 == 1 && quad.u
}

/// The black boxes around one wavefront.
#[derive(Debug)]
pub struct Surroundings {
    program: Program,
    lanes: Histories,
    seed: u64,
}

impl Surroundings {
    /// Returns predicates that the unit must not use and that therefore need no draw: arbitrary, and always the same.
    fn unasked(&self, pc: u32) -> u64 {
        draw_word(self.seed, u32::MAX, pc.into())
    }
}

impl Environment<R700> for Surroundings {
    fn new(case: &Case<R700>) -> Self {
        Surroundings {
            program: case.program.clone(),
            lanes: Histories::new(case),
            seed: case.seed,
        }
    }

    fn launched(&mut self) {
        self.lanes.forget();
    }

    #[inline]
    fn set_pins(&mut self, state: &State, rng: &mut impl Rng, pins: &mut In) {
        let quad = self.program.quad(state.pc);
        *pins = In {
            dw0: quad.dw0,
            dw1: quad.dw1,
            u: quad.u.into(),
            inst_valid: 1,
            rst_n: 1,
            ..In::default()
        };
        if self.lanes.noisy() {
            let mut noise = Noise::<1>::draw(rng);
            if gives_predicates(quad) {
                noise.shape(0, state.active);
            }
            [pins.pred] = noise.conditions;
            return;
        }
        pins.pred = self.unasked(state.pc);
        if gives_predicates(quad) {
            let mut left = state.active;
            pins.pred &= !left;
            while left != 0 {
                let lane = left.trailing_zeros();
                left &= left - 1;
                let drawn = self.lanes.draw(lane, self.lanes.k(lane), 1);
                pins.pred |= u64::from(drawn & 1) << lane;
            }
        }
    }

    #[inline]
    fn executed(&mut self, after: &State) {
        if !self.lanes.noisy() {
            self.lanes.count(after.exec);
        }
    }

    fn draw(&self, state: &State, lane: u32) -> Option<Draw> {
        let draw = self.lanes.whole(lane, self.lanes.k(lane), &["predicate"]);
        let asked = gives_predicates(self.program.quad(state.pc));
        draw.filter(|_| asked && state.active >> lane & 1 == 1)
    }
}

impl Pins for In {
    fn launches(&self) -> bool {
        self.launch == 1
    }

    fn written(&self) -> Option<String> {
        match (self.const_we, self.const_addr) {
            (1, n @ 0..=31) => Some(format!("SQ_LOOP_CONST_{n} = 0x{:08x}", self.const_wdata)),
            (1, 32) => Some(format!("SQ_BOOL_CONST = 0x{:08x}", self.const_wdata)),
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
            pred,
            lane_mask,
            dw0,
            dw1,
            const_wdata,
            entry,
            prog_len,
            stack_size,
            const_addr,
            const_we,
            launch,
            stall,
            inst_valid,
            u,
            rst_n: _,
            pad: _,
        } = self;
        if reset {
            *stall = rng.random_range(0..=1);
        }
        let anything = reset || *stall == 1;
        if anything || !running || *inst_valid == 0 {
            (*dw0, *dw1) = (rng.random(), rng.random());
            *u = rng.random_range(0..=1);
            *pred = rng.random();
        }
        let alu = *dw1 >> 29 & 1 == 1;
        if !alu {
            *u = rng.random_range(0..=1);
        }
        if !alu || *u == 0 {
            *pred = rng.random();
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
            (*entry, *prog_len) = (rng.random(), rng.random());
            (*lane_mask, *stack_size) = (rng.random(), rng.random());
        }
        if anything || running || !writing {
            *const_wdata = rng.random();
            *const_addr = rng.random_range(0..64);
        }
    }

    fn host_write(&mut self, rng: &mut impl Rng) {
        self.const_we = 1;
        self.const_addr = rng.random_range(0..64);
        // Mostly loops of few passes: others would fill a whole case.
        let few = if rng.random_ratio(7, 8) {
            0xffff_f003
        } else {
            u32::MAX
        };
        self.const_wdata = rng.random::<u32>() & few;
    }
}
