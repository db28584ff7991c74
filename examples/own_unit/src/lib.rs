//! A stack of reconvergence points: its pins and state, and the golden model.

use std::path::{Path, PathBuf};

use reconverge::design::{self, Build, Design};
use reconverge::field::Declaration;

pub mod answers;
pub mod axil_regs;
pub mod axil_transactions;
pub mod cdc_fifo;
pub mod lock;
pub mod rpseq;
pub mod rpwarps;
pub mod rr_arb;
pub mod slot;

include!(concat!(env!("OUT_DIR"), "/rpstack.rs"));

/// The design.
#[derive(Clone, Copy, Debug)]
pub struct RpStack;

impl Design for RpStack {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type In = In;
    type State = State;
    type Golden = Golden;
}

/// Folder of the RTL.
pub fn rtl() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("rtl")
}

/// The golden model: what the RTL must do, one call a cycle.
#[derive(Clone, Debug)]
pub struct Golden {
    depth: usize,
    /// Masks and addresses, the bottom one first.
    entries: Vec<(u64, u16)>,
    state: State,
}

impl Golden {
    fn show(&mut self) {
        let (top_mask, top_pc) = self.entries.last().copied().unwrap_or_default();
        self.state = State {
            level: self.entries.len() as u8,
            full: (self.entries.len() == self.depth).into(),
            empty: self.entries.is_empty().into(),
            top_mask,
            top_pc,
            ..State::default()
        };
    }
}

impl design::Golden<RpStack> for Golden {
    fn build(build: &Build) -> Self {
        let mut golden = Golden {
            depth: build.value::<RpStack>("DEPTH") as usize,
            entries: Vec::new(),
            state: State::default(),
        };
        golden.show();
        golden
    }

    fn cycle(&mut self, pins: &In) -> &State {
        if pins.is_reset() {
            self.entries.clear();
        } else {
            if pins.pop == 1 {
                self.entries.pop();
            }
            if pins.push == 1 {
                self.entries.push((pins.mask, pins.pc));
            }
        }
        self.show();
        &self.state
    }

    fn state(&self) -> &State {
        &self.state
    }

    /// A push needs room and a pop an entry: the module allows no others.
    fn constrain(&self, pins: &mut In) {
        if self.state.empty == 1 {
            pins.pop = 0;
        }
        if self.state.full == 1 && pins.pop == 0 {
            pins.push = 0;
        }
    }
}
