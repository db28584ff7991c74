//! Decides whether others can lead a lane to anything that it does not do alone: every way through a program
//! is compared with the way that the lane goes by itself (see [`super`]).

use super::*;
use crate::r700::state::ERROR_NAMES;

/// The ways that a lane can be led through a program.
pub(super) struct Survey<'p> {
    pub(super) machine: Machine<'p>,
    pub(super) known: Known,
    /// Number of the states that lanes can have in a wavefront ([`Entry::met`]).
    pub(super) met: usize,
    /// Number of the states whose next visible event is known ([`Entry::next`]).
    pub(super) next: usize,
    /// Pairs of which the first does the same as the second, up to an error.
    pub(super) pairs: FxHashSet<(Id, Id)>,
    /// Bit c: some way ends in error c.
    pub(super) errors: u16,
    /// Some CALL is skipped because of its depth.
    pub(super) skips: bool,
}

impl Survey<'_> {
    fn overflows(&self, id: Id) -> bool {
        let stack = self.known.lane(id).stack;
        self.known.stacks.needs(stack) > self.machine.limit
    }

    fn is_too_large(&self) -> bool {
        self.met + self.pairs.len() + self.next > MAX_STATES
    }

    fn step(&mut self, id: Id) -> Step<Id> {
        self.known.step(&self.machine, id)
    }

    /// Marks a state as one that lanes can have in a wavefront. Returns whether it is the first time.
    fn meet(&mut self, id: Id) -> bool {
        let met = std::mem::replace(&mut self.known.state_mut(id).met, true);
        self.met += usize::from(!met);
        !met
    }

    /// Records in which state a lane in state `id` has its next visible event.
    fn set_next(&mut self, id: Id, next: Option<Id>) {
        let before = self.known.state_mut(id).next.replace(next);
        self.next += usize::from(before.is_none());
    }

    /// Follows every way from `start`.
    pub(super) fn explore(&mut self, start: Id) -> Result<(), NotStructured> {
        let mut work = vec![start];
        self.meet(start);
        while let Some(id) = work.pop() {
            let lane = self.known.lane(id);
            if let Status::Failed(code) = lane.status {
                self.errors |= 1 << code;
                continue;
            }
            let step = self.step(id);
            let alone = match step.alone {
                Turn::Moves(next) | Turn::Enters(next) => [Some(next), None],
                Turn::Executes([off, on]) => [Some(off), Some(on)],
                Turn::EndsPass { again, leaves, .. } => [again, leaves],
                Turn::Stopped => [None, None],
            };
            for next in alone.into_iter().flatten().chain(step.led) {
                if self.overflows(next) {
                    // A push that is made and does not fit ends the wavefront.
                    self.errors |= 1 << OVERFLOW;
                } else if self.meet(next) {
                    work.push(next);
                }
            }
            let word = self.machine.word(lane.pc);
            if word.op == Op::Control(Control::Call) && self.machine.holds(&word) {
                let depth = self.known.stacks.node(lane.stack).depth;
                self.skips |= depth + word.calls > MAX_CALLS;
            }
            if let Some(led) = step.led
                && !self.overflows(led)
            {
                self.compare(led, id)
                    .map_err(|why| reason(lane.pc, &word, &why))?;
            }
            if self.is_too_large() {
                let why = format!("more than {MAX_STATES} ways to get there");
                return Err(NotStructured { pc: lane.pc, why });
            }
        }
        Ok(())
    }

    /// Checks that a lane in state `led`, from here on alone, does what a lane in state `own` does alone. It may end in an
    /// error or have no further visible event: then it has done the beginning of it.
    fn compare(&mut self, led: Id, own: Id) -> Result<(), String> {
        let mut work = vec![(led, own)];
        while let Some((led, own)) = work.pop() {
            if led == own || self.is_too_large() {
                continue;
            }
            let Some(led) = self.next_seen(led) else {
                continue;
            };
            let own = self.next_seen(own);
            if own == Some(led) || self.overflows(led) {
                continue;
            }
            if let Some(own) = own
                && !self.pairs.insert((led, own))
            {
                continue;
            }
            let here = self.step(led).alone;
            let there = own.map(|own| (self.known.lane(own), self.step(own).alone));
            let led = self.known.lane(led);
            match (here, there) {
                (Turn::Stopped, _) if matches!(led.status, Status::Failed(_)) => {}
                (Turn::Stopped, Some((own, Turn::Stopped)))
                    if own.status == Status::Done
                        && (own.class, own.valid) == (led.class, led.valid) => {}
                (Turn::Executes(here), Some((own, Turn::Executes(there)))) if own.pc == led.pc => {
                    work.extend(here.into_iter().zip(there));
                }
                (Turn::Enters(here), Some((own, Turn::Enters(there)))) if own.pc == led.pc => {
                    work.push((here, there));
                }
                (
                    Turn::EndsPass {
                        head,
                        again,
                        leaves,
                    },
                    Some((
                        _,
                        Turn::EndsPass {
                            head: own_head,
                            again: own_again,
                            leaves: own_leaves,
                        },
                    )),
                ) if head == own_head
                    && again.is_some() == own_again.is_some()
                    && leaves.is_some() == own_leaves.is_some() =>
                {
                    work.extend(again.into_iter().zip(own_again));
                    work.extend(leaves.into_iter().zip(own_leaves));
                }
                (here, there) => {
                    let alone = there.map_or("does nothing more".to_owned(), |(own, turn)| {
                        describe(&own, &turn)
                    });
                    return Err(format!("next {}, and alone {alone}", describe(&led, &here)));
                }
            }
        }
        Ok(())
    }

    /// Returns the state in which a lane in state `id` has its next visible event alone; `None` if there is none.
    fn next_seen(&mut self, id: Id) -> Option<Id> {
        let (mut at, mut passed) = (id, vec![]);
        let found = loop {
            // Until the event is found, the state is recorded as one without: this holds if the way leads back to it.
            if let Some(known) = self.known.state(at).next {
                break known;
            }
            match self.step(at).alone {
                Turn::Moves(next) => {
                    let stack = self.known.lane(at).stack;
                    if self.known.stacks.node(stack).size > BOTTOMLESS {
                        break None;
                    }
                    self.set_next(at, None);
                    passed.push(at);
                    at = next;
                }
                _ => break Some(at),
            }
        };
        for passed in passed {
            self.set_next(passed, found);
        }
        found
    }
}

/// Describes what a lane visibly does.
fn describe(lane: &Lane, turn: &Turn<Id>) -> String {
    let pc = lane.pc;
    match turn {
        Turn::Executes(_) => format!("executes 0x{pc:03x}"),
        Turn::Enters(_) => format!("enters the loop at 0x{pc:03x}"),
        Turn::EndsPass { head, again, .. } => {
            let what = if again.is_some() {
                "ends a pass of"
            } else {
                "leaves"
            };
            format!("{what} the loop of 0x{head:03x} at 0x{pc:03x}")
        }
        Turn::Moves(_) => format!("is at 0x{pc:03x}"),
        Turn::Stopped => match lane.status {
            Status::Failed(code) => {
                let name = ERROR_NAMES[usize::from(code)];
                format!("ends in error {code} {name} at 0x{pc:03x}")
            }
            _ => format!("ends as {:?}", lane.class),
        },
    }
}

/// Returns why a program cannot be judged: another way from the instruction at `pc` makes a difference.
fn reason(pc: u32, word: &Word, difference: &str) -> NotStructured {
    let Op::Control(control) = word.op else {
        return NotStructured {
            pc,
            why: difference.to_owned(),
        };
    };
    let (name, led) = match control {
        Control::Jump => ("JUMP", "keep from jumping"),
        Control::Push => ("PUSH", "keep from jumping"),
        Control::PushElse => ("PUSH_ELSE", "keep from jumping"),
        Control::Else => ("ELSE", "keep from jumping"),
        Control::Pop => ("POP", "keep"),
        Control::LoopStart(_) => ("LOOP_START", "take into the loop"),
        Control::LoopEnd => ("LOOP_END", "take through another pass"),
        Control::Leave(Class::Cont) => ("LOOP_CONTINUE", "keep from jumping"),
        Control::Leave(_) => ("LOOP_BREAK", "keep from jumping"),
        Control::Call => ("CALL", "take along"),
        Control::Return => ("RETURN", "keep from returning"),
        Control::Kill => ("KILL", "keep from jumping"),
    };
    let limit = match control {
        Control::Jump | Control::Call if word.vpm => "VPM lets one lane depend on others, r700-9.2",
        Control::Push => "ADDR belongs behind the POP, r700-9.2",
        Control::Else if word.pops > 0 && word.vpm => "VPM belongs at the POP too, r700-9.2",
        Control::Kill => "killed lanes go on, r700-3.1",
        _ => "r700-7.1 says where ADDR belongs",
    };
    let why = format!("{name}: a lane that others {led} {difference} ({limit})");
    NotStructured { pc, why }
}

#[cfg(test)]
mod tests;
