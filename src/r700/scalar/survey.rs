//! Decides whether others can lead a lane to anything that it does not do alone: every way through a program
//! is compared with the way that the lane goes by itself (see [`super`]).

use super::*;
use crate::r700::state::ERROR_NAMES;

/// The ways that a lane can be led through a program.
pub(super) struct Survey<'p> {
    pub(super) machine: Machine<'p>,
    pub(super) stacks: Stacks,
    /// States that lanes can have in a wavefront.
    pub(super) met: FxHashSet<Lane>,
    /// The state in which a lane alone has its next visible event; `None`: never.
    pub(super) next: FxHashMap<Lane, Option<Lane>>,
    /// Pairs of which the first does the same as the second, up to an error.
    pub(super) pairs: FxHashSet<(Lane, Lane)>,
    /// Bit c: some way ends in error c.
    pub(super) errors: u16,
    /// Some CALL is skipped because of its depth.
    pub(super) skips: bool,
}

impl Survey<'_> {
    fn overflows(&self, lane: &Lane) -> bool {
        self.stacks.needs(lane.stack) > self.machine.limit
    }

    fn is_too_large(&self) -> bool {
        self.met.len() + self.pairs.len() + self.next.len() > MOST_STATES
    }

    /// Follows every way from `start`.
    pub(super) fn explore(&mut self, start: Lane) -> Result<(), NotStructured> {
        let mut work = vec![start];
        self.met.insert(start);
        while let Some(lane) = work.pop() {
            if let Status::Failed(code) = lane.status {
                self.errors |= 1 << code;
                continue;
            }
            let step = self.machine.step(&mut self.stacks, lane);
            let alone = match step.alone {
                Turn::Moves(next) | Turn::Enters(next) => [Some(next), None],
                Turn::Executes([off, on]) => [Some(off), Some(on)],
                Turn::EndsPass { again, leaves, .. } => [again, leaves],
                Turn::Stopped => [None, None],
            };
            for next in alone.iter().flatten().chain(&step.led) {
                if self.overflows(next) {
                    // A push that is made and does not fit ends the wavefront.
                    self.errors |= 1 << OVERFLOW;
                } else if self.met.insert(*next) {
                    work.push(*next);
                }
            }
            let word = self.machine.word(lane.pc);
            if word.op == Op::Control(Control::Call) && self.machine.holds(&word) {
                self.skips |= self.stacks.node(lane.stack).depth + word.calls > MOST_CALLS;
            }
            if let Some(led) = step.led
                && !self.overflows(&led)
            {
                self.compare(led, lane)
                    .map_err(|why| reason(lane.pc, &word, &why))?;
            }
            if self.is_too_large() {
                let why = format!("more than {MOST_STATES} ways to get there");
                return Err(NotStructured { pc: lane.pc, why });
            }
        }
        Ok(())
    }

    /// Checks that the lane `led`, from here on alone, does what the lane `own` does alone. It may end in an
    /// error or have no further visible event: then it has done the beginning of it.
    fn compare(&mut self, led: Lane, own: Lane) -> Result<(), String> {
        let mut work = vec![(led, own)];
        while let Some((led, own)) = work.pop() {
            if led == own || self.is_too_large() {
                continue;
            }
            let Some(led) = self.next_seen(led) else {
                continue;
            };
            let own = self.next_seen(own);
            if own == Some(led) || self.overflows(&led) {
                continue;
            }
            if let Some(own) = own
                && !self.pairs.insert((led, own))
            {
                continue;
            }
            let here = self.machine.step(&mut self.stacks, led).alone;
            let there = own.map(|own| (own, self.machine.step(&mut self.stacks, own).alone));
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

    /// Returns `lane` at its next visible event when alone; `None` if there is none.
    fn next_seen(&mut self, lane: Lane) -> Option<Lane> {
        let (mut at, mut passed) = (lane, vec![]);
        let found = loop {
            // Until the event is found, the state is recorded as one without: this holds if the way leads back to it.
            if let Some(known) = self.next.get(&at) {
                break *known;
            }
            match self.machine.step(&mut self.stacks, at).alone {
                Turn::Moves(next) if self.stacks.node(at.stack).size <= BOTTOMLESS => {
                    self.next.insert(at, None);
                    passed.push(at);
                    at = next;
                }
                Turn::Moves(_) => break None,
                _ => break Some(at),
            }
        };
        for lane in passed {
            self.next.insert(lane, found);
        }
        found
    }
}

/// Describes what a lane visibly does.
fn describe(lane: &Lane, turn: &Turn) -> String {
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
