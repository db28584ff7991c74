//! Orders that only programs have: small worlds.

use reconverge::case::Case;
use reconverge::exhaust::check::{Checked, Difference};
use reconverge::failure::Cause;
use reconverge::unit::Unit;
use reconverge::worker::unplaced;

use super::protocol::{Answer, Order, ProgramAnswer, ProgramOrder};
use super::supervisor::Lost;
use super::{Isolated, Step, impossible};
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
            Answer::Own(own) => {
                let ProgramAnswer::Exhausted(checked) = *own;
                Step::Done(checked)
            }
            _ => Step::More,
        })?;
        match &checked.difference {
            Some(found) if found.state >= states.len() => Err(impossible()),
            _ => Ok(checked),
        }
    }
}
