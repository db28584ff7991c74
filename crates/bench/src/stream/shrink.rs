//! Shrinks a failing stream to a short one that fails in the same field.
//!
//! Shrinking removes the cycles after the failure, then other cycles, the longest runs first. It sets pins to their
//! default, first in all cycles and then in single ones, and makes numbers smaller. All this is repeated until nothing
//! changes. Of several clocks it tries simpler periods, with the same cycles, those at edges, or the same edges. Every candidate is legal for the design: [`Golden::constrain`] checks each cycle, and the first reset stays.

use bytemuck::{bytes_of, bytes_of_mut};

use super::clocks::{Clocks, clocks, rises};
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

    /// Takes out runs of cycles; with several clocks also those from one edge of a clock to a later one, so that the edges behind them come
    /// as before.
    fn take_out(&mut self) -> Result<(), String> {
        self.take_out_from(|_| true)?;
        for clock in clocks::<D>() {
            self.take_out_from(|pins| rises::<D>(clock, pins))?;
        }
        Ok(())
    }

    /// Takes out runs that start at a cycle for which `begins` holds, and end just before another.
    fn take_out_from(&mut self, begins: impl Fn(&D::In) -> bool) -> Result<(), String> {
        let starts = |cycles: &[D::In]| {
            let starts = (0..cycles.len()).filter(|cycle| begins(&cycles[*cycle]));
            starts.chain([cycles.len()]).collect::<Vec<_>>()
        };
        let mut many = (starts(self.cycles()).len() / 2).max(1);
        loop {
            // Begin at the end, because early cycles set up the state that later ones need.
            let mut to = usize::MAX;
            while to > 0 && !self.0.over() {
                let mut cycles = self.cycles().to_vec();
                let starts = starts(&cycles);
                to = to.min(starts.len() - 1);
                let from = to.saturating_sub(many);
                // The design powers up in any state, so the first reset must stay.
                let first = starts[from] == 0 && cycles.first().is_some_and(Control::is_reset);
                let run = starts[from] + usize::from(first)..starts[to];
                if !run.is_empty() {
                    cycles.drain(run);
                    self.keep(cycles)?;
                }
                to = from;
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
            let mut tries = self.at_edges();
            tries.extend([self.edge_by_edge(&clocks), self.cycles().to_vec()]);
            for cycles in tries {
                if self.0.over() || self.keep_with(clocks.clone(), cycles)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Returns for each clock a stream of the cycles in which it rises, and those after its last edge.
    fn at_edges(&self) -> Vec<Vec<D::In>> {
        let of = |clock: &Pin| {
            let last = self
                .cycles()
                .iter()
                .rposition(|pins| rises::<D>(clock, pins));
            let here =
                |(cycle, pins): &(usize, &D::In)| rises::<D>(clock, pins) || last < Some(*cycle);
            let cycles = self.cycles().iter().enumerate().filter(here);
            cycles.map(|(_, pins)| *pins).collect()
        };
        clocks::<D>().map(of).collect()
    }

    /// Returns the stream with other clocks: at each edge of a clock its pins, and those of no clock, are what they were at the edge
    /// with the same number.
    fn edge_by_edge(&self, schedule: &Schedule) -> Vec<D::In> {
        let (old, mut due) = (self.cycles(), Clocks::<D>::new(schedule));
        let all = clocks::<D>().map(|clock| {
            let edges = old.iter().filter(move |pins| rises::<D>(clock, pins));
            (clock, edges.peekable())
        });
        let mut all: Vec<_> = all.collect();
        let mut cycles: Vec<D::In> = Vec::new();
        let mut pins = old.first().copied().unwrap_or_default();
        while cycles.len() < old.len() && all.iter_mut().any(|(_, edges)| edges.peek().is_some()) {
            due.iter_mut().for_each(|due| due.next(&mut pins));
            let now = pins;
            let mut next = Vec::new();
            for (clock, edges) in all.iter_mut().filter(|(clock, _)| rises::<D>(clock, &now)) {
                if let Some(then) = edges.next() {
                    copy::<D>(then, &mut pins, |of| of.is_none());
                }
                next.extend(edges.peek().map(|then| (clock.name, **then)));
            }
            cycles.push(pins);
            // The pins of a clock change after its edge.
            for (clock, then) in next {
                copy::<D>(&then, &mut pins, |of| of == Some(clock));
            }
        }
        cycles
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

/// Copies the pins whose clock is one for which `which` holds, but no clock itself.
fn copy<D: Design>(from: &D::In, to: &mut D::In, which: impl Fn(Option<&str>) -> bool) {
    let is_clock = |pin: &Pin| matches!(pin.role, Role::Clock { .. });
    for pin in D::DECLARATION
        .pins
        .iter()
        .filter(|pin| !is_clock(pin) && which(pin.clock))
    {
        pin.copy(bytes_of(from), bytes_of_mut(to));
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
