//! A module without a clock.

use bytemuck::Zeroable as _;
use reconverge::design::{self, Build, Design as _};
use reconverge::dut::Rtl;

use super::{changed, found};

crate::common::designs! {
    /// The larger of two numbers.
    larger Larger Most;
}

#[derive(Clone, Debug)]
struct Most(larger::State);

impl design::Golden<Larger> for Most {
    fn build(_: &Build) -> Self {
        Most(larger::State::zeroed())
    }
    fn cycle(&mut self, pins: &larger::In) -> &larger::State {
        self.0.most = pins.a.max(pins.b);
        &self.0
    }
    fn state(&self) -> &larger::State {
        &self.0
    }
}

/// Regression: the outputs of a module without a clock, which are all sampled, were said to need that.
#[test]
fn an_output_of_a_module_without_a_clock_is_not_hinted_at() {
    let (copy, out) = (
        changed("larger", "a_i > b_i", "a_i > 4'd9"),
        tempfile::tempdir().unwrap(),
    );
    let rtl = Rtl::<Larger>::of(Larger::LANES, copy.dir()).unwrap();
    let report = found(&rtl, out.path()).failure.to_string();
    assert!(
        report.starts_with("MISMATCH ") && !report.contains("  output  "),
        "{report}"
    );
}
