//! Four warps that share the datapath of the sequencer: several wavefronts, and conditions that return later.

use std::path::PathBuf;

use rand::{Rng, RngCore};
use reconverge::case::{Case, Kind};
use reconverge::design::Design;
use reconverge::environment::{Histories, draw_word};
use reconverge::field::Declaration;
use reconverge::show::Frame;
use reconverge::start::Launched;
use reconverge::unit::{
    self, Campaign, Environment, Pins, Programs, Record, ScalarJudge, Unit, Verdict,
};

mod cover;
mod golden;

use crate::rpseq::{self, Program, RpSeq};
use golden::Golden;

include!(concat!(env!("OUT_DIR"), "/rpwarps.rs"));

/// Number of warps.
pub const WARPS: usize = 4;

/// The unit.
#[derive(Clone, Copy, Debug)]
pub struct RpWarps;

/// Folder of the RTL.
pub fn rtl() -> PathBuf {
    crate::rtl().join("rpwarps")
}

impl Design for RpWarps {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type In = In;
    type State = State;
    type Golden = Golden;
}

impl Pins for In {
    fn launches(&self) -> bool {
        self.launch == 1
    }

    fn returned(&self) -> Option<String> {
        (self.cond_valid == 1).then(|| "conditions return".to_owned())
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
            self.inst = rng.random_range(0..1 << 20);
            self.cond_valid = rng.random_range(0..=1);
        }
        if held || !running || self.cond_valid == 0 {
            (self.cond_warp, self.cond) = (rng.random_range(0..WARPS as u8), rng.random());
        }
        if held || running {
            (self.launch, self.lanes) = (rng.random_range(0..=1), rng.random());
        }
    }
}

/// What is around the unit: the memory with the program, and the units that compute the conditions of the lanes.
pub struct Surroundings {
    program: Program,
    lanes: Histories,
    seed: u64,
    /// Lanes of a warp.
    width: usize,
    /// The warp that may issue, its active lanes, and their conditions.
    asked: (usize, u64, u64),
    /// Conditions for which each warp waits, and cycles until they return.
    late: [Option<(u64, u64)>; WARPS],
    /// BRs that each warp has issued.
    branches: [u64; WARPS],
}

impl Environment<RpWarps> for Surroundings {
    fn new(case: &Case<RpWarps>) -> Self {
        Surroundings {
            program: case.program.clone(),
            lanes: Histories::new(case),
            seed: case.seed,
            width: case.lanes as usize / WARPS,
            asked: (0, 0, 0),
            late: [None; WARPS],
            branches: [0; WARPS],
        }
    }

    fn launched(&mut self) {
        self.lanes.forget();
        (self.late, self.branches) = ([None; WARPS], [0; WARPS]);
    }

    fn set_pins(&mut self, state: &State, rng: &mut impl Rng, pins: &mut In) {
        let warp = usize::from(state.warp);
        let active = state.active & ((1 << self.width) - 1) << (warp * self.width);
        self.asked = (warp, active, self.lanes.condition(active, rng));
        *pins = In {
            inst: self.program.word(state.pc[warp].into()),
            inst_valid: 1,
            ..In::default()
        };
        for (warp, late) in self.late.iter_mut().enumerate() {
            match late {
                // They have returned, or a reset came first.
                _ if state.waiting[warp] == 0 => *late = None,
                Some((_, cycles @ 1..)) => *cycles -= 1,
                Some((cond, _)) if pins.cond_valid == 0 => {
                    (pins.cond_valid, pins.cond_warp, pins.cond) = (1, warp as u8, *cond);
                }
                _ => {}
            }
        }
    }

    fn executed(&mut self, after: &State) {
        let (warp, active, cond) = self.asked;
        if after.waiting[warp] == 1 {
            // The warp's own branches alone decide how long each takes.
            let word = draw_word(self.seed, 64 + warp as u32, self.branches[warp]);
            self.late[warp] = Some((cond, word % 8));
            self.branches[warp] += 1;
        }
        self.lanes.count(active);
    }
}

impl Programs for RpWarps {
    type Program = Program;
    type Environment = Surroundings;
    type Start = Launched;
    const SCALAR: Option<ScalarJudge<Self>> = Some(judge);

    fn running(state: &State) -> bool {
        state.running != [0; WARPS]
    }

    fn outcome(state: &State) -> String {
        let failed = (0..WARPS).find(|warp| state.err[*warp] != 0);
        let err = failed.map_or(0, |warp| state.err[warp]);
        let done = state.done == [1; WARPS];
        let how = unit::outcome(Self::running(state), done, err, &ERROR_NAMES);
        failed.map_or(how.clone(), |warp| format!("{how} of w{warp}"))
    }

    fn pc(state: &State) -> u32 {
        Self::pc_of(state, 0)
    }

    fn active(state: &State) -> u64 {
        state.active
    }

    fn wavefront(state: &State, pins: &In) -> usize {
        Self::returns_to(state, pins).unwrap_or(state.warp.into())
    }

    fn pc_of(state: &State, wavefront: usize) -> u32 {
        state.pc[wavefront].into()
    }

    fn returns_to(state: &State, pins: &In) -> Option<usize> {
        let warp = usize::from(pins.cond_warp);
        let taken = !pins.is_reset() && !pins.is_stalled();
        (taken && pins.cond_valid == 1 && state.waiting[warp] == 1).then_some(warp)
    }

    fn frames_of(golden: &Golden, wavefront: usize) -> Vec<Frame> {
        RpSeq::frames(&golden.warps[wavefront])
    }

    fn launch(case: &Case<Self>, again: Option<&mut dyn RngCore>) -> In {
        // Other lanes each time, and now and then none of a warp.
        let lanes = again.map(|rng| match rng.random_ratio(1, 4) {
            true => rng.random::<u64>() & rng.random::<u64>() & rng.random::<u64>(),
            false => rng.random(),
        });
        In {
            launch: 1,
            lanes: lanes.unwrap_or(u64::MAX) & case.launch_mask,
            ..In::default()
        }
    }
}

/// The scalar judge: each lane of each warp does what it does alone.
fn judge(case: &Case<RpWarps>, records: &[Record], end: &State) -> Verdict {
    let width = case.lanes / WARPS as u32;
    let (mut lanes, mut instructions) = (0, 0);
    for (warp, first) in (0..case.lanes).step_by(width as usize).enumerate() {
        let own = first..first + width;
        match rpseq::judge::of_wavefront(case, records, own, end.err[warp], end.done[warp]) {
            Verdict::Agrees {
                lanes: of_warp,
                instructions: executed,
            } => {
                lanes += of_warp;
                instructions += executed;
            }
            other => return other,
        }
    }
    Verdict::Agrees {
        lanes,
        instructions,
    }
}

// Programs are assembly, and no specification is declared: the defaults.
impl Unit for RpWarps {}

reconverge::compiled!(RpWarps);

impl Campaign for RpWarps {
    type Coverage = cover::Bins;
    const DRAWS_ITSELF: bool = true;

    fn generate(kind: Kind, rng: &mut impl Rng) -> Program {
        RpSeq::generate(kind, rng)
    }

    fn conditions(pins: &In, lane: u32) -> u16 {
        (pins.cond >> lane & 1) as u16
    }
}
