//! Makes pins legal, cycle by cycle.

use bytemuck::bytes_of_mut;

use super::clocks::{Clocks, Schedule};
use crate::design::{Design, Golden};
use crate::field::Role;

/// Makes the pins of a stream legal, in the order of its cycles.
pub(super) struct Legal<D: Design> {
    /// Only of a design that has several clocks.
    clocks: Option<Clocks<D>>,
    first: bool,
}

impl<D: Design> Legal<D> {
    /// Begins with the first cycle of a stream with this schedule.
    pub fn new(schedule: &Schedule) -> Self {
        Legal {
            clocks: Clocks::new(schedule),
            first: true,
        }
    }

    /// Makes the pins of the next cycle legal in the present state of `golden`. The reset of the first cycle stays.
    pub fn make(&mut self, golden: &D::Golden, pins: &mut D::In) {
        if let Some(clocks) = &mut self.clocks {
            clocks.next(pins);
            clocks.hold(pins);
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
            clocks.done(pins);
        }
    }

    /// Returns why the pins of a cycle are illegal.
    pub fn why(&self) -> &'static str {
        match self.clocks {
            None => "constrain changes its pins",
            Some(_) => "constrain changes its pins, or they change without their clock,",
        }
    }
}
