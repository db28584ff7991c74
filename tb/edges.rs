//! Edges of the clock and of a reset: the RTL gets those that its golden model is told of, and no other.

use std::path::Path;

use bytemuck::Zeroable as _;
use reconverge::check::{Judges, TestCase, check};
use reconverge::design::{self, Build, Design};
use reconverge::dut::Rtl;
use reconverge::stream::Stream;

use crate::common::ROOT;

crate::common::designs! {
    /// A counter without a reset.
    tick Tick Ticks;
}

#[derive(Clone, Debug)]
struct Ticks(tick::State);

impl design::Golden<Tick> for Ticks {
    fn build(_: &Build) -> Self {
        Ticks(tick::State::zeroed())
    }
    fn cycle(&mut self, pins: &tick::In) -> &tick::State {
        self.0.number += u16::from(pins.by) + 1;
        self.0.sum = self.0.number;
        &self.0
    }
    fn state(&self) -> &tick::State {
        &self.0
    }
}

/// The RTL in the folder of `D`.
fn rtl<D: Design>() -> Rtl<D> {
    Rtl::of(D::LANES, &Path::new(ROOT).join("tb/edges").join(D::NAME)).unwrap()
}

/// Regression: RTL got one rising edge, with all pins 0, before the first cycle, so a counter without a reset was one ahead.
#[test]
fn rtl_without_a_reset_counts_the_cycles_of_its_golden_model() {
    let rtl = rtl::<Tick>();
    let stream = Stream::<Tick>::random(1, 200, rtl.build());
    check(&stream, &rtl).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let dump = dir.path().join("tick.vcd");
    let dumped = stream.judge(&rtl, Judges::LockStep, Some((0, &dump)), &mut |_| ());
    dumped.unwrap().unwrap();
}
