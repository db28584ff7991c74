//! Makes pins legal, cycle by cycle.

use bytemuck::bytes_of_mut;
use rand::Rng;

use super::clocks::{Clocks, Schedule};
use crate::channels::Offers;
use crate::design::{Design, Golden};
use crate::field::Role;

/// Makes the pins of a stream legal, in the order of its cycles.
pub(super) struct Legal<D: Design> {
    /// Only of a design that has several clocks.
    clocks: Option<Clocks<D>>,
    /// Only of a design that has channels.
    offers: Option<Offers<D>>,
    first: bool,
}

impl<D: Design> Legal<D> {
    /// Begins with the first cycle of a stream with this schedule.
    pub fn new(schedule: &Schedule) -> Self {
        Legal {
            clocks: Clocks::new(schedule),
            offers: Offers::new(),
            first: true,
        }
    }

    /// Keeps most of what is offered on a channel and may be withdrawn, in the pins drawn for the next cycle.
    pub fn keep(&self, golden: &D::Golden, pins: &mut D::In, rng: &mut impl Rng) {
        if let Some(offers) = &self.offers {
            offers.keep(golden.state(), pins, || rng.random_ratio(3, 4));
        }
    }

    /// Makes the pins of the next cycle legal in the present state of `golden`. The reset of the first cycle stays.
    pub fn make(&mut self, golden: &D::Golden, pins: &mut D::In) {
        if let Some(clocks) = &mut self.clocks {
            clocks.next(pins);
            clocks.hold(pins);
        }
        if let Some(offers) = &self.offers {
            offers.hold(golden.state(), pins);
        }
        golden.constrain(pins);
        if std::mem::take(&mut self.first) {
            for pin in D::DECLARATION.pins {
                if let Role::Reset { asserted } = pin.role {
                    pin.set(bytes_of_mut(pins), 0, asserted);
                }
            }
        }
        if let Some(clocks) = &mut self.clocks {
            clocks.hold(pins);
        }
        if let Some(offers) = &mut self.offers {
            offers.hold(golden.state(), pins);
            offers.done(golden.state(), pins);
        }
        if let Some(clocks) = &mut self.clocks {
            clocks.done(pins);
        }
    }

    /// Returns why the pins of a cycle are illegal.
    pub fn why(&self) -> &'static str {
        match (&self.clocks, &self.offers) {
            (None, None) => "constrain changes its pins",
            (Some(_), None) => "constrain changes its pins, or they change without their clock,",
            (None, Some(_)) => {
                "constrain changes its pins, or those of a channel change before ready,"
            }
            (Some(_), Some(_)) => {
                "constrain changes its pins, or they change without their clock or those of a channel before ready,"
            }
        }
    }
}
