//! A unit that can be clocked and looked at, be it the golden model or the RTL: what the tests of the
//! specifications share.

use reconverge::design::Build;
use reconverge::design::Control;
use reconverge::dut::{Dut, Rtl};
use reconverge::unit::{Executor, Unit};

/// Something that can be clocked and looked at.
pub trait Machine<U: Unit> {
    /// One clock; the state after it.
    fn clock(&mut self, pins: &U::In) -> U::State;
    /// Puts it into `state`.
    fn load(&mut self, state: &U::State);
}

impl<U: Unit, G: Executor<U>> Machine<U> for G {
    fn clock(&mut self, pins: &U::In) -> U::State {
        *self.cycle(pins)
    }
    fn load(&mut self, state: &U::State) {
        Executor::load(self, state);
    }
}

/// The RTL; a stalled clock after each one brings out what it did.
pub struct Sequencer<U: Unit>(Dut<U>);

impl<U: Unit> Sequencer<U> {
    /// Our own RTL with `lanes` lanes, after reset.
    pub fn new(lanes: usize) -> Self {
        Self::built(Build::from(lanes as u32))
    }

    /// Our own RTL built as `build` says, after reset; compiled now if no such model is linked.
    pub fn built(build: Build) -> Self {
        let mut dut = Rtl::<U>::own(build).unwrap().open(1).unwrap();
        dut.clock(&U::In::reset(), None);
        dut.clock(&U::In::reset(), None);
        dut.clock(&stalled::<U>(), None);
        Sequencer(dut)
    }
}

impl<U: Unit> Machine<U> for Sequencer<U> {
    fn clock(&mut self, pins: &U::In) -> U::State {
        self.0.clock(pins, None);
        *self.0.clock(&stalled::<U>(), None)
    }
    fn load(&mut self, state: &U::State) {
        self.0.load(state);
    }
}

/// The pins of a clock in which nothing changes.
pub fn stalled<U: Unit>() -> U::In {
    let mut pins = U::In::default();
    pins.set_stall(true);
    pins
}

/// A file of the unit's programs.
pub fn read<U: Unit>(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tb/programs");
    std::fs::read_to_string(format!("{folder}/{}/{name}", U::NAME)).unwrap()
}

/// Rows of a table of expected values: columns stand between bars, `#` begins a comment.
pub fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    table
        .lines()
        .filter(|l| !l.starts_with('#'))
        .map(|l| l.split('|').map(str::trim).collect())
}

/// Lanes as the specifications print them: `1101`, lane 0 first; anything but 1 counts as 0.
pub fn mask(text: &str) -> u64 {
    text.chars()
        .enumerate()
        .fold(0, |m, (i, c)| m | u64::from(c == '1') << i)
}
