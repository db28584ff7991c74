//! Shrinks a failing stream to a short one that fails in the same field.
//!
//! Shrinking removes the cycles after the failure, then other cycles, the longest runs first. It sets pins to their
//! default, first in all cycles and then in single ones, and makes numbers smaller. All this is repeated until nothing
//! changes. Every candidate is legal for the design: [`Golden::constrain`] checks each cycle, and the first reset stays.

use std::time::Duration;

use bytemuck::{bytes_of, bytes_of_mut};
use rustix::time::{ClockId, clock_gettime};

use super::{Cycles, Stream, caught};
use crate::check::close;
use crate::design::{Control, Design, Golden};
use crate::dut::Rtl;
use crate::failure::{Cause, Failure};
use crate::field::{Pin, Role};

/// Limits of a search. If one is reached, the result is the smallest case so far.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Number of runs.
    pub runs: u64,
    /// Cycles of all runs together.
    pub cycles: u64,
    /// Processor time of the search, so that slow RTL does not take forever. The only limit that depends on the machine; not on
    /// what else runs there, and not on how long it takes to build a model.
    pub time: Duration,
}

impl Default for Budget {
    /// Returns limits that are rarely reached. With the RTL of this repository, a search takes seconds.
    fn default() -> Self {
        Budget {
            runs: 60_000,
            cycles: 10_000_000,
            time: Duration::from_secs(30),
        }
    }
}

impl Budget {
    /// Checks that there is time for more than one run of RTL that hangs, if `cause` says that it does.
    ///
    /// # Errors
    /// There is none.
    pub fn allows<D: Design>(&self, cause: &Cause<D>) -> Result<(), String> {
        match cause {
            Cause::Hung(seconds) if Duration::from_secs(*seconds) >= self.time => Err(format!(
                "each run in which the RTL hangs takes {seconds} s, all may take {} s",
                self.time.as_secs()
            )),
            _ => Ok(()),
        }
    }
}

/// What a search tells of itself: a stream that is shorter, or the cycle in which a run is.
pub type Told<'t, D> = Result<&'t Failure<Stream<D>>, u64>;

/// Shortens the stream of `failure`, which fails on `rtl`. Returns the failure of the shortest one found, from reset on a fresh model,
/// and the number of runs; `tell` is called from time to time.
///
/// # Errors
/// The stream does not fail the same way from reset on a fresh model, a model cannot be opened, or the time is too short for a
/// run in which the RTL hangs.
pub fn shrink<D: Design>(
    failure: &Failure<Stream<D>>,
    rtl: &Rtl<D>,
    budget: &Budget,
    tell: &mut dyn FnMut(Told<'_, D>),
) -> Result<(Failure<Stream<D>>, u64), String> {
    budget.allows(&failure.cause)?;
    let mut search = Search {
        rtl,
        best: failure.clone(),
        runs: 0,
        cycles: 0,
        budget: *budget,
        started: processor_time(),
        tell,
    };
    let again = search.run(&failure.case)?;
    let again = again.filter(|again| again.alike(failure));
    search.best = again.ok_or_else(|| {
        "run again from reset on a fresh model it does not fail as before: the RTL keeps something that reset does not reach"
            .to_owned()
    })?;
    search.all()?;
    Ok((search.best, search.runs))
}

/// Returns the processor time that this thread has used, and the time of RTL that ran for it in other processes: unlike the time of day, it does not depend on what else runs on the
/// machine, nor on how long another process takes to build a model.
pub fn processor_time() -> Duration {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    let here = Duration::new(
        used.tv_sec.unsigned_abs(),
        used.tv_nsec.unsigned_abs() as u32,
    );
    here + crate::dut::used()
}

struct Search<'r, 't, D: Design> {
    rtl: &'r Rtl<D>,
    best: Failure<Stream<D>>,
    runs: u64,
    /// Cycles of all runs.
    cycles: u64,
    budget: Budget,
    /// The processor time of this thread at the beginning.
    started: Duration,
    tell: &'t mut dyn FnMut(Told<'_, D>),
}

impl<D: Design> Search<'_, '_, D> {
    fn over(&self) -> bool {
        self.runs >= self.budget.runs
            || self.cycles >= self.budget.cycles
            || processor_time().saturating_sub(self.started) >= self.budget.time
    }

    /// Runs `stream` on a fresh model, as a replay does, so that values left in registers by an earlier run do not matter.
    fn run(&mut self, stream: &Stream<D>) -> Result<Option<Failure<Stream<D>>>, String> {
        self.runs += 1;
        let mut dut = self.rtl.open(stream.model_seed())?;
        let (mut cycle, tell) = (0_u64, &mut self.tell);
        let judged = stream.check_on(&mut dut, None, &mut |_: &_, _: &_| {
            if cycle.is_multiple_of(1024) {
                tell(Err(cycle));
            }
            cycle += 1;
        })?;
        self.cycles += cycle;
        Ok(judged
            .and_then(|agreed| close(dut, stream, agreed.compared))
            .err())
    }

    /// Keeps `cycles` if they are smaller than the best stream and fail the same way. Makes illegal pins legal first.
    /// Returns whether they were kept; those on which the golden model panics are not.
    fn keep(&mut self, mut cycles: Vec<D::In>) -> Result<bool, String> {
        let mut stream = (*self.best.case).clone();
        let legal = caught(|| {
            let mut golden = D::Golden::build(&stream.build());
            for pins in &mut cycles {
                golden.constrain(pins);
                golden.cycle(pins);
            }
        });
        if legal.is_err() || size::<D>(&cycles) >= size::<D>(&self.best.case.cycles.0) {
            return Ok(false);
        }
        stream.cycles = Cycles(cycles);
        let Some(failure) = self.run(&stream)? else {
            return Ok(false);
        };
        let alike = failure.alike(&self.best);
        if alike {
            self.best = failure;
            (self.tell)(Ok(&self.best));
        }
        Ok(alike)
    }

    fn cycles(&self) -> &[D::In] {
        &self.best.case.cycles.0
    }

    fn all(&mut self) -> Result<(), String> {
        loop {
            let before = size::<D>(self.cycles());
            self.cut()?;
            self.take_out()?;
            self.release()?;
            self.lessen()?;
            if self.over() || size::<D>(self.cycles()) == before {
                return Ok(());
            }
        }
    }

    /// Removes all cycles after the failure.
    fn cut(&mut self) -> Result<(), String> {
        let end = self.best.cycle() as usize + 1;
        if end < self.cycles().len() && !self.over() {
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
            while end > 0 && !self.over() {
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
            if many == 1 || self.over() {
                return Ok(());
            }
            many /= 2;
        }
    }

    /// Sets pins to their default: each in all cycles, or else in single ones.
    fn release(&mut self) -> Result<(), String> {
        for pin in D::DECLARATION.pins {
            let put = |pins: &mut D::In| {
                (0..pin.words()).for_each(|i| pin.set(bytes_of_mut(pins), i, pin.default));
            };
            let mut all = self.cycles().to_vec();
            all.iter_mut().filter(|pins| !pins.is_reset()).for_each(put);
            if self.over() || self.keep(all)? {
                continue;
            }
            for cycle in 0..self.cycles().len() {
                if cycle == 0 && matches!(pin.role, Role::Reset { .. }) {
                    continue;
                }
                let mut one = self.cycles().to_vec();
                put(&mut one[cycle]);
                if self.over() {
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
            let reset = |pin: &Pin| cycle == 0 && matches!(pin.role, Role::Reset { .. });
            for pin in D::DECLARATION.pins.iter().filter(|pin| !reset(pin)) {
                for i in 0..pin.words() {
                    let mut smaller = true;
                    while smaller && !self.over() {
                        let value = pin.get(bytes_of(&self.cycles()[cycle]), i);
                        smaller = false;
                        let top = value.checked_ilog2().map_or(0, |bit| value & !(1 << bit));
                        for less in [0, 1, value >> 1, top, value & value.wrapping_sub(1)] {
                            if less >= value {
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
