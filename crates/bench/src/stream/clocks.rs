//! Several clocks: when each of them rises in a stream, and what does not change without its clock.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::zip;

use bytemuck::{bytes_of, bytes_of_mut};
use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::design::{Control, Design};
use crate::field::{Pin, Role};
use crate::json::map;

/// One of several clocks: it rises at its phase, and then once in each period. Both are in steps of time of the stream, in which
/// only the order of edges matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// Steps from one rising edge to the next.
    pub period: u64,
    /// Steps before the first one.
    pub phase: u64,
}

/// When each of the clocks of a stream rises, by its name. In the first cycle all rise; each further cycle is the next step of time
/// in which one does at least.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Schedule(#[serde(deserialize_with = "map")] pub BTreeMap<String, Clock>);

/// Returns the clocks of a design that has several.
pub(super) fn clocks<D: Design>() -> impl Iterator<Item = &'static Pin> {
    let clock = |pin: &&Pin| matches!(pin.role, Role::Clock { .. });
    D::DECLARATION.pins.iter().filter(clock)
}

/// Returns whether `clock` rises in the cycle with these pins.
pub(super) fn rises<D: Design>(clock: &Pin, pins: &D::In) -> bool {
    clock.get(bytes_of(pins), 0) == 1
}

impl Schedule {
    /// Returns whether there is one clock, or several follow no periods.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Draws a schedule. Draws nothing for a design with one clock.
    pub(super) fn draw<D: Design>(rng: &mut impl Rng) -> Self {
        let clocks = clocks::<D>().map(|pin| {
            let period = rng.random_range(pin.range.0..=pin.range.1);
            let (least, most) = phases(pin, period);
            let phase = rng.random_range(least..=most);
            (pin.name.to_owned(), Clock { period, phase })
        });
        Schedule(clocks.collect())
    }

    /// Returns schedules that a reader understands sooner: all clocks with one period, or one of them with that of another or with
    /// its least.
    pub(super) fn simpler<D: Design>(&self) -> Vec<Self> {
        let fits = |pin: &Pin, period| (pin.range.0..=pin.range.1).contains(&period);
        let with = |pin: &Pin, period| {
            let phase = phases(pin, period).0;
            (pin.name.to_owned(), Clock { period, phase })
        };
        let all = clocks::<D>().map(|pin| pin.range.0).max();
        let all = all.filter(|period| clocks::<D>().all(|pin| fits(pin, *period)));
        let all = all.map(|period| Schedule(clocks::<D>().map(|pin| with(pin, period)).collect()));
        let one = clocks::<D>().flat_map(|pin| {
            let others = self.0.values().map(|clock| clock.period);
            let periods = others.chain([pin.range.0]).filter(|p| fits(pin, *p));
            periods.map(|period| {
                let mut simpler = self.clone();
                simpler.0.extend([with(pin, period)]);
                simpler
            })
        });
        // Cycles that follow no periods get either none or those of all clocks.
        let one = one.filter(|_| !self.is_empty());
        all.into_iter().chain(one).filter(|s| s != self).collect()
    }

    /// Checks the schedule, and that the clocks of `cycles` follow it.
    pub(super) fn check<D: Design>(&self, cycles: &[D::In]) -> Result<(), String> {
        let names = || clocks::<D>().map(|pin| pin.name);
        if !self.is_empty() && !self.0.keys().eq(names().collect::<BTreeSet<_>>()) {
            let names: Vec<&str> = names().collect();
            return Err(match names[..] {
                [] => format!("{} has one clock", D::NAME),
                _ => format!("the clocks of {} are {}", D::NAME, names.join(", ")),
            });
        }
        for pin in clocks::<D>() {
            let Some(Clock { period, phase }) = self.0.get(pin.name) else {
                continue;
            };
            let (name, (least, most)) = (pin.name, pin.range);
            if !(least..=most).contains(period) {
                return Err(format!(
                    "{name}: the period must be {least} to {most}, not {period}"
                ));
            }
            let (least, most) = phases(pin, *period);
            if !(least..=most).contains(phase) {
                return Err(format!(
                    "{name}: the phase must be {least} to {most}, not {phase}"
                ));
            }
        }
        let Some(mut follows) = Clocks::<D>::new(self) else {
            return Ok(());
        };
        for (cycle, pins) in cycles.iter().enumerate() {
            let mut due = *pins;
            follows.next(&mut due);
            if let Some(pin) =
                clocks::<D>().find(|pin| rises::<D>(pin, pins) != rises::<D>(pin, &due))
            {
                let must = if rises::<D>(pin, &due) {
                    "must"
                } else {
                    "must not"
                };
                return Err(format!("cycle {cycle}: {} {must} rise", pin.name));
            }
        }
        Ok(())
    }
}

/// Returns the least and the greatest phase of a clock with this period.
fn phases(pin: &Pin, period: u64) -> (u64, u64) {
    match pin.role {
        Role::Clock { phase: Some(phase) } => phase,
        _ => (0, period - 1),
    }
}

/// Returns whether `clock` rises in every cycle, with all periods and phases of the design's clocks: no other one rises without it.
pub(super) fn rises_always<D: Design>(clock: &Pin) -> bool {
    edges(clock).all(|(period, phase)| {
        let others = clocks::<D>().filter(|pin| pin.name != clock.name);
        let mut theirs = others.flat_map(edges);
        theirs.all(|(p, first)| p % period == 0 && first >= phase && (first - phase) % period == 0)
    })
}

/// Returns each period that `clock` may have, with each of its phases.
fn edges(clock: &Pin) -> impl Iterator<Item = (u64, u64)> + '_ {
    let periods = clock.range.0..=clock.range.1;
    periods.flat_map(move |period| {
        let (least, most) = phases(clock, period);
        (least..=most).map(move |phase| (period, phase))
    })
}

/// The clocks of a stream, cycle by cycle.
pub(super) struct Clocks<D: Design> {
    /// Period and next rising edge of each; empty: the pins say which rise.
    due: Vec<(u64, u64)>,
    first: bool,
    /// The pins of the cycle before; `None` in the first cycle.
    last: Option<D::In>,
    /// Which clocks rise in this cycle, in their order.
    rising: Vec<bool>,
    /// Which have risen since the reset was asserted.
    reset: Vec<bool>,
}

impl<D: Design> Clocks<D> {
    /// Begins a stream with this schedule; `None` if the design has one clock.
    pub fn new(schedule: &Schedule) -> Option<Self> {
        let count = clocks::<D>().count();
        let due = clocks::<D>().filter_map(|pin| schedule.0.get(pin.name));
        (count > 0).then(|| Clocks {
            due: due.map(|clock| (clock.period, clock.phase)).collect(),
            first: true,
            last: None,
            rising: vec![true; count],
            reset: vec![false; count],
        })
    }

    /// Sets the clocks that rise in the next cycle. If the pins say it: all, if they say none.
    pub fn next(&mut self, pins: &mut D::In) {
        if self.first {
            self.rising.fill(true);
        } else if self.due.is_empty() {
            let said: Vec<bool> = clocks::<D>().map(|pin| rises::<D>(pin, pins)).collect();
            self.rising = match said.contains(&true) {
                true => said,
                false => vec![true; said.len()],
            };
        } else {
            let now = self.due.iter().map(|(_, at)| *at).min().unwrap_or(0);
            for ((period, at), rises) in zip(&mut self.due, &mut self.rising) {
                *rises = *at == now;
                *at += if *rises { *period } else { 0 };
            }
        }
        self.first = false;
        self.put(pins);
    }

    fn put(&self, pins: &mut D::In) {
        for (pin, rises) in zip(clocks::<D>(), &self.rising) {
            pin.set(bytes_of_mut(pins), 0, u64::from(*rises));
        }
    }

    /// Takes back what may not change: the clocks; a pin whose clock did not rise in the cycle before; a reset that not every clock has
    /// seen. An asynchronous reset may be asserted at any time.
    pub fn hold(&self, pins: &mut D::In) {
        self.put(pins);
        let Some(last) = &self.last else {
            return;
        };
        let risen = |name| {
            let mut clocks = clocks::<D>();
            clocks.any(|clock| clock.name == name && rises::<D>(clock, last))
        };
        for pin in D::DECLARATION.pins {
            let held = match pin.role {
                Role::Clock { .. } => false,
                Role::Reset { .. } if last.is_reset() && self.reset.contains(&false) => true,
                Role::Reset { .. } if pins.resets_at_once() => false,
                _ => pin.clock.is_some_and(|name| !risen(name)),
            };
            if held {
                pin.copy(bytes_of(last), bytes_of_mut(pins));
            }
        }
    }

    /// Ends the cycle, in which the pins are these.
    pub fn done(&mut self, pins: &D::In) {
        for (seen, rises) in zip(&mut self.reset, &self.rising) {
            *seen = pins.is_reset() && (*seen || *rises);
        }
        self.last = Some(*pins);
    }
}
