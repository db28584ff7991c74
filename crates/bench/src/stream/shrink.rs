//! Shrinks a failing stream to a short one that fails in the same field.
//!
//! Shrinking removes the cycles after the failure, then other cycles, the longest runs first. It sets pins to their
//! default, first in all cycles and then in single ones, and makes numbers smaller. All this is repeated until nothing
//! changes. Of several clocks it tries simpler periods. Every candidate is legal for the design: [`Golden::constrain`] checks each cycle, and the first reset stays.

use bytemuck::{bytes_of, bytes_of_mut};

use super::{Cycles, Legal, Schedule, Stream, caught, pulse};
use crate::check::{Judged, Judges};
use crate::design::{Control, Design, Golden};
use crate::dut::{Dut, Rtl};
use crate::failure::Failure;
use crate::field::{Pin, Role};
use crate::search::{Budget, Follow, Search};

/// Shortens the stream of `failure`, which fails on `rtl`. Returns the failure of the shortest one found, from reset on a fresh model,
/// and the number of runs.
///
/// # Errors
/// The stream does not fail the same way from reset on a fresh model, a model cannot be opened, or the time is too short for a
/// run in which the RTL hangs.
pub fn shrink<D: Design>(
    failure: &Failure<Stream<D>>,
    rtl: &Rtl<D>,
    budget: &Budget,
    follow: &mut dyn Follow<Stream<D>>,
) -> Result<(Failure<Stream<D>>, u64), String> {
    budget.allows(&failure.cause)?;
    let search = Search::of(&*failure.case, rtl, &judge, true, budget, follow)?;
    let search = search.filter(|search| search.best.alike(failure)).ok_or_else(|| {
        "run again from reset on a fresh model it does not fail as before: the RTL keeps something that reset does not reach"
            .to_owned()
    })?;
    let mut shorten = Shorten(search);
    shorten.all()?;
    Ok((shorten.0.best, shorten.0.runs.count))
}

fn judge<D: Design>(
    stream: &Stream<D>,
    dut: &mut Dut<D>,
    _: Judges,
    progress: &mut dyn FnMut(u64),
) -> Judged<Stream<D>> {
    let mut pulse = pulse(progress);
    let judged = stream.check_on(dut, None, &mut |_: &_| pulse());
    judged.unwrap_or_else(|why| unreachable!("no dump: {why}"))
}

/// Offers shorter streams.
struct Shorten<'f, D: Design>(Search<'f, Stream<D>>);

impl<D: Design> Shorten<'_, D> {
    /// Keeps `cycles` if they are smaller than the best stream and fail the same way. Makes illegal pins legal first.
    /// Returns whether they were kept; those on which the golden model panics are not.
    fn keep(&mut self, cycles: Vec<D::In>) -> Result<bool, String> {
        let clocks = self.0.best.case.clocks.clone();
        self.keep_with(clocks, cycles)
    }

    /// Does the same with another schedule of the clocks.
    fn keep_with(&mut self, clocks: Schedule, mut cycles: Vec<D::In>) -> Result<bool, String> {
        let mut stream = (*self.0.best.case).clone();
        stream.clocks = clocks;
        let legal = caught(|| {
            let mut golden = D::Golden::build(&stream.build());
            let mut legal = Legal::<D>::new(&stream.clocks);
            for pins in &mut cycles {
                legal.make(&golden, pins);
                golden.cycle(pins);
            }
        });
        if legal.is_err() || size::<D>(&cycles) >= size::<D>(&self.0.best.case.cycles.0) {
            return Ok(false);
        }
        stream.cycles = Cycles(cycles);
        let failure = self.0.fails(&stream)?;
        let fails = failure.is_some();
        failure.into_iter().for_each(|failure| self.0.keep(failure));
        Ok(fails)
    }

    fn cycles(&self) -> &[D::In] {
        &self.0.best.case.cycles.0
    }

    fn all(&mut self) -> Result<(), String> {
        loop {
            let before = size::<D>(self.cycles());
            self.cut()?;
            self.take_out()?;
            self.align()?;
            self.release()?;
            self.lessen()?;
            if self.0.over() || size::<D>(self.cycles()) == before {
                return Ok(());
            }
        }
    }

    /// Removes all cycles after the failure.
    fn cut(&mut self) -> Result<(), String> {
        let end = self.0.best.cycle() as usize + 1;
        if end < self.cycles().len() && !self.0.over() {
            let cycles = self.cycles()[..end].to_vec();
            self.keep(cycles)?;
        }
        Ok(())
    }

    fn take_out(&mut self) -> Result<(), String> {
        let mut many = (self.cycles().len() / 2).max(1);
        loop {
            // Start from the end, because early cycles set up the state that later ones need.
            let mut end = self.cycles().len();
            while end > 0 && !self.0.over() {
                let from = end.saturating_sub(many);
                let mut cycles = self.cycles().to_vec();
                // The design powers up in any state, so the first reset must stay.
                let first = usize::from(from == 0 && cycles.first().is_some_and(Control::is_reset));
                if from + first < end {
                    cycles.drain(from + first..end);
                    self.keep(cycles)?;
                    end = end.min(self.cycles().len());
                }
                end = end.min(from);
            }
            if many == 1 || self.0.over() {
                return Ok(());
            }
            many /= 2;
        }
    }

    /// Lets clocks rise together more often.
    fn align(&mut self) -> Result<(), String> {
        for clocks in self.0.best.case.clocks.simpler::<D>() {
            if self.0.over() {
                break;
            }
            let cycles = self.cycles().to_vec();
            self.keep_with(clocks, cycles)?;
        }
        Ok(())
    }

    /// Sets pins to their default: each in all cycles, or else in single ones.
    fn release(&mut self) -> Result<(), String> {
        for pin in D::DECLARATION.pins {
            let put = |pins: &mut D::In| {
                (0..pin.words()).for_each(|i| pin.set(bytes_of_mut(pins), i, pin.default));
            };
            let mut all = self.cycles().to_vec();
            all.iter_mut().filter(|pins| !pins.is_reset()).for_each(put);
            if self.0.over() || self.keep(all)? {
                continue;
            }
            for cycle in 0..self.cycles().len() {
                if cycle == 0 && matches!(pin.role, Role::Reset { .. }) {
                    continue;
                }
                let mut one = self.cycles().to_vec();
                put(&mut one[cycle]);
                if self.0.over() {
                    return Ok(());
                }
                if bytes_of(&one[cycle]) != bytes_of(&self.cycles()[cycle]) {
                    self.keep(one)?;
                }
            }
        }
        Ok(())
    }

    /// Makes numbers smaller: 0, 1, halved, without their highest set bit, without their lowest.
    fn lessen(&mut self) -> Result<(), String> {
        for cycle in 0..self.cycles().len() {
            let fixed = |pin: &Pin| match pin.role {
                Role::Reset { .. } => cycle == 0,
                // A clock that rises is its default.
                Role::Clock { .. } => true,
                Role::Stall | Role::Plain => false,
            };
            for pin in D::DECLARATION.pins.iter().filter(|pin| !fixed(pin)) {
                for i in 0..pin.words() {
                    let mut smaller = true;
                    while smaller && !self.0.over() {
                        let value = pin.get(bytes_of(&self.cycles()[cycle]), i);
                        smaller = false;
                        let top = value.checked_ilog2().map_or(0, |bit| value & !(1 << bit));
                        for less in [0, 1, value >> 1, top, value & value.wrapping_sub(1)] {
                            let excluded = !pin.values.is_empty() && !pin.values.contains(&less);
                            if less >= value || excluded {
                                continue;
                            }
                            let mut one = self.cycles().to_vec();
                            pin.set(bytes_of_mut(&mut one[cycle]), i, less);
                            if self.keep(one)? {
                                smaller = cycle < self.cycles().len();
                                break;
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// Returns the size of a stream: cycles, words that do not have their default, bits set in those.
fn size<D: Design>(cycles: &[D::In]) -> (usize, u32, u32) {
    let (mut driven, mut bits) = (0, 0);
    for pins in cycles {
        for pin in D::DECLARATION.pins {
            for i in 0..pin.words() {
                let value = pin.get(bytes_of(pins), i);
                if value != pin.default {
                    driven += 1;
                    bits += value.count_ones();
                }
            }
        }
    }
    (cycles.len(), driven, bits)
}
