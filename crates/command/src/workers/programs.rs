//! Orders that only programs have: coverage with a guide, small worlds.

use reconverge::campaign;
use reconverge::case::Case;
use reconverge::cover::lcov::RtlCoverage;
use reconverge::cover::{Model, Totals, run as cover};
use reconverge::dut::Rtl;
use reconverge::exhaust::check::{Checked, Difference};
use reconverge::failure::{Cause, Failure};
use reconverge::lockstep::Compared;
use reconverge::unit::Unit;
use reconverge::worker::unplaced;

use super::protocol::{Answer, Order, ProgramAnswer, ProgramOrder};
use super::supervisor::Lost;
use super::{GRACE, Isolated, Step, TRIES, impossible};
use crate::console::complain;
use crate::stop::Trouble;

impl<U: Unit> Isolated<'_, Case<U>> {
    /// Takes all transitions from `states` of a small world with the bounds `limits`. If the process is lost, searches for the
    /// cause, state by state and transition by transition.
    ///
    /// # Errors
    /// The process was told to end, or the bench is at fault.
    pub fn exhaust(&mut self, limits: &[u32], states: &[Vec<u8>]) -> Result<Checked<U>, Trouble> {
        let lost = match self.transitions(limits, states, None) {
            Ok(checked) => return Ok(checked),
            Err(lost) => lost.cause().map_err(Lost::trouble)?,
        };
        let mut checked = self.search(limits, states).unwrap_or_else(|trouble| {
            if let Trouble::Other(why) = trouble {
                complain(&format!("warning: {why}"));
            }
            Checked {
                transitions: 0,
                cycles: 0,
                difference: None,
            }
        });
        // No state causes it by itself: the RTL counts something that no state holds. Or there was no time to find the state.
        let unplaced = || unplaced(states, lost);
        checked.difference.get_or_insert_with(unplaced);
        Ok(checked)
    }

    /// Takes all transitions from one of `states` after the other, until one of them loses the process.
    fn search(&mut self, limits: &[u32], states: &[Vec<u8>]) -> Result<Checked<U>, Trouble> {
        let mut checked = Checked {
            transitions: 0,
            cycles: 0,
            difference: None,
        };
        for (number, state) in states.iter().enumerate() {
            let one = std::slice::from_ref(state);
            let found = match self.transitions(limits, one, None) {
                Ok(found) => found,
                Err(lost) => {
                    let cause = lost.cause().map_err(Lost::trouble)?;
                    self.transition(limits, one, cause)?
                }
            };
            checked.transitions += found.transitions;
            checked.cycles += found.cycles;
            if let Some(difference) = found.difference {
                checked.difference = Some(Difference {
                    state: number,
                    ..difference
                });
                break;
            }
        }
        Ok(checked)
    }

    /// Searches for the transition from the one state `state` that loses the process by `cause`.
    fn transition(
        &mut self,
        limits: &[u32],
        state: &[Vec<u8>],
        cause: Cause<U>,
    ) -> Result<Checked<U>, Trouble> {
        let (mut transitions, mut cycles) = (0, 0);
        let mut found = None;
        for number in 0.. {
            match self.transitions(limits, state, Some(number)) {
                // Past the last transition.
                Ok(checked) if checked.transitions == 0 && checked.difference.is_none() => break,
                Ok(checked) => {
                    transitions += checked.transitions;
                    cycles += checked.cycles;
                }
                Err(lost) => {
                    found = Some((number, lost.cause().map_err(Lost::trouble)?));
                    break;
                }
            }
        }
        let (transition, cause) = match found {
            Some((number, cause)) => (Some(number), cause),
            None => (None, cause),
        };
        Ok(Checked {
            transitions,
            cycles,
            difference: Some(Difference {
                state: 0,
                transition,
                cause,
            }),
        })
    }

    fn transitions(
        &mut self,
        limits: &[u32],
        states: &[Vec<u8>],
        only: Option<usize>,
    ) -> Result<Checked<U>, Lost<Case<U>>> {
        let order = Order::Own(ProgramOrder::Exhaust {
            limits: limits.to_vec(),
            states: states.to_vec(),
            only,
        });
        let checked = self.ask_again(&order, |answer| match answer {
            Answer::Own(own) => match *own {
                ProgramAnswer::Exhausted(checked) => Step::Done(checked),
                _ => Step::More,
            },
            _ => Step::More,
        })?;
        match &checked.difference {
            Some(found) if found.state >= states.len() => Err(impossible()),
            _ => Ok(checked),
        }
    }

    /// Runs cases and counts what they cover; `progress` receives programs, cycles and bins after each chunk.
    ///
    /// # Errors
    /// The bench is at fault.
    pub fn cover(
        &mut self,
        options: &cover::Options,
        mut progress: impl FnMut(u64, u64, usize),
    ) -> Result<Option<cover::Covered<U>>, String> {
        let (mut options, rtl) = (*options, self.rtl);
        // How the RTL ended its process first; the last case of those that ran one by one since, and the cases before them.
        let (mut blame, mut last, mut before) = (None, None, 0);
        let seed = options.seed;
        // RTL that has ended its process is never forgiven: if no case does it again, the last one fails.
        let settled = |covered: Option<cover::Covered<U>>, blame, last: Option<Case<U>>, before| {
            let Some(cause) = blame else {
                return covered;
            };
            let mut covered = covered.unwrap_or_else(|| uncovered(rtl));
            let case = last.unwrap_or_else(|| campaign::case::<U>(seed, before, rtl.build()).1);
            if covered.failed.is_none() {
                complain(&format!(
                    "warning: it is not known which case of {} ended its process: {} stands for it",
                    U::NAME,
                    case.name()
                ));
                covered.failed = Some(Failure::new(&case, cause, Compared::default()));
            }
            Some(covered)
        };
        for _ in 0..TRIES {
            let (mut so_far, mut case, mut done) = (None, None, 0);
            let covered = self.ask(&Order::Own(ProgramOrder::Cover(options)), GRACE, |answer| {
                let Answer::Own(own) = answer else {
                    return Step::More;
                };
                match *own {
                    ProgramAnswer::Covering(programs, cycles, hit) => {
                        done = programs;
                        last = case.take().or(last.take());
                        progress(programs, cycles, hit);
                        Step::More
                    }
                    ProgramAnswer::Begins(begins) => {
                        case = Some(begins);
                        Step::More
                    }
                    ProgramAnswer::SoFar(covered) => {
                        so_far = Some(covered);
                        Step::More
                    }
                    ProgramAnswer::Covered(covered) => Step::Done(covered),
                    _ => Step::More,
                }
            });
            let lost = match (covered, so_far, case) {
                (Ok(covered), ..) => return Ok(settled(Some(covered), blame, last, before)),
                (Err(Lost::Trouble(why)), ..) if blame.is_none() => return Err(why),
                (Err(Lost::Interrupted | Lost::Trouble(_)), so_far, case) => {
                    return Ok(settled(so_far, blame, case.or(last), before));
                }
                // The last coverage received before the careful chunk.
                (Err(Lost::By(cause)), Some(mut so_far), Some(case)) => {
                    so_far.failed = Some(Failure::new(&case, cause, Compared::default()));
                    return Ok(Some(so_far));
                }
                (Err(lost), ..) => lost,
            };
            if let Lost::By(cause) = &lost {
                blame.get_or_insert_with(|| cause.clone());
            }
            complain(&format!(
                "warning: the worker of {} ended after {done} cases ({}); they are run again to find the one that did it",
                U::NAME,
                lost.trouble().why()
            ));
            (options.careful, before) = (Some(done), done);
        }
        if blame.is_some() {
            return Ok(settled(None, blame, last, before));
        }
        Err(format!(
            "{}: the worker ended {TRIES} times, each time in other cases",
            U::NAME
        ))
    }
}

/// Returns the coverage of a run on `rtl` in which nothing was counted.
fn uncovered<U: Unit>(rtl: &Rtl<U>) -> cover::Covered<U> {
    cover::Covered {
        hits: Model::<U>::new(rtl.build()).no_hits(),
        totals: Totals::default(),
        compared: 0,
        reached: Vec::new(),
        rtl: RtlCoverage::default(),
        failed: None,
    }
}
