//! A FIFO with one entry, with an output that depends on a pin of the same cycle.

use std::path::PathBuf;

use reconverge::design::{self, Build, Design};
use reconverge::field::Declaration;

include!(concat!(env!("OUT_DIR"), "/slot.rs"));

/// The design.
#[derive(Clone, Copy, Debug)]
pub struct Slot;

impl Design for Slot {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type In = In;
    type State = State;
    type Golden = Golden;
}

/// Folder of the RTL.
pub fn rtl() -> PathBuf {
    super::rtl().join("slot")
}

/// The golden model.
#[derive(Clone, Debug, Default)]
pub struct Golden {
    entry: Option<u8>,
    state: State,
}

impl design::Golden<Slot> for Golden {
    fn build(_: &Build) -> Self {
        Golden::default()
    }

    fn cycle(&mut self, pins: &In) -> &State {
        let popped = pins.pop == 1;
        // Of the registers before the edge and the pins of this cycle.
        let ready = self.entry.is_none() || popped;
        let taken = (pins.valid == 1 && ready).then_some(pins.data);
        self.entry = match self.entry {
            _ if pins.is_reset() => None,
            Some(old) if !popped => Some(old),
            _ => taken,
        };
        self.state = State {
            full: self.entry.is_some().into(),
            ready: ready.into(),
            data: self.entry.unwrap_or(0),
            ..State::default()
        };
        &self.state
    }

    fn state(&self) -> &State {
        &self.state
    }
}
