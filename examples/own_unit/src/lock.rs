//! A lock, which waits for values that are hardly ever drawn at random.

use std::path::PathBuf;

use reconverge::design::{self, Build, Design};
use reconverge::field::Declaration;

include!(concat!(env!("OUT_DIR"), "/lock.rs"));

/// The design.
#[derive(Clone, Copy, Debug)]
pub struct Lock;

impl Design for Lock {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type In = In;
    type State = State;
    type Golden = Golden;
}

/// Folder of the RTL.
pub fn rtl() -> PathBuf {
    super::rtl().join("lock")
}

/// The golden model.
#[derive(Clone, Debug, Default)]
pub struct Golden {
    last: u32,
    state: State,
}

impl design::Golden<Lock> for Golden {
    fn build(_: &Build) -> Self {
        Golden::default()
    }

    fn cycle(&mut self, pins: &In) -> &State {
        if pins.is_reset() {
            *self = Golden::default();
        } else if pins.write == 1 {
            if pins.data == 0x600d_cafe {
                self.state.open = 1;
            }
            let again = u8::from(pins.data == self.last);
            self.state.repeats = (self.state.repeats + again) % 16;
            self.last = pins.data;
        }
        &self.state
    }

    fn state(&self) -> &State {
        &self.state
    }
}
