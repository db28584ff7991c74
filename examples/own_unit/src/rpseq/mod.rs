//! A sequencer around the stack: the same bench, with programs.

use std::path::PathBuf;

use rand::{Rng, RngCore};
use reconverge::case::{Case, Kind};
use reconverge::design::Design;
use reconverge::environment::Histories;
use reconverge::explain::{self, Anatomy};
use reconverge::field::Declaration;
use reconverge::show::Frame;
use reconverge::start::Launched;
use reconverge::unit::{self, Campaign, Environment, Pins, Programs, ScalarJudge, Unit};

pub mod cover;
mod generate;
mod golden;
pub mod judge;
mod program;

pub use golden::Golden;
pub use program::{Code, Program};

include!(concat!(env!("OUT_DIR"), "/rpseq.rs"));

/// The unit.
#[derive(Clone, Copy, Debug)]
pub struct RpSeq;

/// Folder of the RTL.
pub fn rtl() -> PathBuf {
    crate::rtl().join("rpseq")
}

impl Design for RpSeq {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type In = In;
    type State = State;
    type Golden = Golden;
}

impl Pins for In {
    fn launches(&self) -> bool {
        self.launch == 1
    }

    fn starve(&mut self) {
        self.inst_valid = 0;
    }

    fn scramble(&mut self, running: bool, rng: &mut impl Rng) {
        let held = self.is_reset() || self.is_stalled();
        if self.is_reset() {
            self.stall = rng.random_range(0..=1);
        }
        if held || !running {
            self.inst_valid = rng.random_range(0..=1);
            (self.inst, self.cond) = (rng.random_range(0..1 << 20), rng.random());
        }
        if held || running {
            (self.launch, self.lanes) = (rng.random_range(0..=1), rng.random());
        }
    }
}

/// What is around the unit: the memory with the program, and the conditions of the lanes.
pub struct Surroundings {
    program: Program,
    lanes: Histories,
    active: u64,
}

impl Environment<RpSeq> for Surroundings {
    fn new(case: &Case<RpSeq>) -> Self {
        Surroundings {
            program: case.program.clone(),
            lanes: Histories::new(case),
            active: 0,
        }
    }

    fn launched(&mut self) {
        self.lanes.forget();
    }

    fn set_pins(&mut self, state: &State, rng: &mut impl Rng, pins: &mut In) {
        self.active = state.active;
        *pins = In {
            inst: self.program.word(state.pc.into()),
            inst_valid: 1,
            cond: self.lanes.condition(state.active, rng),
            ..In::default()
        };
    }

    fn executed(&mut self, _: &State) {
        self.lanes.count(self.active);
    }
}

impl Programs for RpSeq {
    type Program = Program;
    type Environment = Surroundings;
    type Start = Launched;
    const SCALAR: Option<ScalarJudge<Self>> = Some(judge::judge);

    fn running(state: &State) -> bool {
        state.running == 1
    }

    fn outcome(state: &State) -> String {
        unit::outcome(state.running == 1, state.done == 1, state.err, &ERROR_NAMES)
    }

    fn pc(state: &State) -> u32 {
        state.pc.into()
    }

    fn active(state: &State) -> u64 {
        state.active
    }

    fn frames(golden: &Golden) -> Vec<Frame> {
        let frame = |(lanes, pc): &(u64, u16)| Frame {
            address: Some((*pc).into()),
            lanes: Some(*lanes),
            ..Frame::of("WAIT")
        };
        golden.entries.iter().map(frame).collect()
    }

    fn launch(case: &Case<Self>, again: Option<&mut dyn RngCore>) -> In {
        // Other lanes each time, and now and then none.
        let lanes = again.map(|rng| {
            if rng.random_ratio(1, 16) {
                0
            } else {
                rng.random()
            }
        });
        In {
            launch: 1,
            lanes: lanes.unwrap_or(u64::MAX) & case.launch_mask,
            ..In::default()
        }
    }
}

impl Unit for RpSeq {
    const SPECIFICATION: &'static str = include_str!("../../docs/spec/rpseq.md");

    fn anatomy(words: &[u64]) -> Result<Anatomy<Program>, String> {
        explain::word(words)
    }

    fn instruction(pins: &In) -> Vec<u64> {
        vec![pins.inst.into()]
    }
}

reconverge::compiled!(RpSeq);

impl Campaign for RpSeq {
    type Coverage = cover::Bins;
    const DRAWS_ITSELF: bool = true;

    fn generate(kind: Kind, rng: &mut impl Rng) -> Program {
        generate::generate(kind, rng)
    }

    fn conditions(pins: &In, lane: u32) -> u16 {
        (pins.cond >> lane & 1) as u16
    }
}
