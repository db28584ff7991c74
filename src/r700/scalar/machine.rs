//! One step of one lane, and where other lanes could lead it (see [`super`]).

use super::{
    Alu, Built, Class, Control, END_STACK, FIELD, Frame, ILLEGAL, LOOP_OPEN, Lane, LoopType,
    MAX_CALLS, NO_CALL, NO_LOOP, OVERFLOW, Op, PC_RANGE, Stack, Stacks, Status, Step, Turn,
    UNDERFLOW, Word,
};
use crate::r700::program::Program;

/// The program from the view of one lane.
#[derive(Clone, Copy)]
pub(super) struct Machine<'p> {
    pub(super) program: &'p Program,
    /// Sub-entries that fit (r700-3.4).
    pub(super) limit: u32,
    dx10_count: bool,
}

impl<'p> Machine<'p> {
    pub(super) fn new(program: &'p Program, built: Built) -> Self {
        let entries = built.max_stack_size.min(program.regs.stack_size.into());
        Machine {
            program,
            limit: built.subentries * entries,
            dx10_count: built.dx10_count,
        }
    }

    /// Returns whether loops of this type also end by a count: loops until break do so only on a unit that counts them
    /// (r700-4.3-w, r700-4.3-z).
    pub(super) fn counts(&self, kind: LoopType) -> bool {
        match kind {
            LoopType::Al | LoopType::NoAl => true,
            LoopType::Dx10 => self.dx10_count,
        }
    }

    /// Returns the lane after a launch (r700-3.3).
    pub(super) fn launch(&self, valid: bool) -> Lane {
        let regs = &self.program.regs;
        Lane {
            pc: regs.entry,
            stack: Stack::EMPTY,
            class: if valid { Class::Active } else { Class::Branch },
            valid,
            status: match regs.entry < regs.prog_len {
                true => Status::Running,
                false => Status::Failed(PC_RANGE),
            },
        }
    }

    pub(super) fn word(&self, pc: u32) -> Word {
        Word::decode(self.program.quad(pc))
    }

    pub(super) fn constant(&self, word: &Word) -> u32 {
        self.program.regs.loop_const[word.cf_const as usize]
    }

    /// Returns whether the part of the condition test that is the same for all lanes holds (r700-4.1).
    pub(super) fn holds(&self, word: &Word) -> bool {
        let boolean = self.program.regs.bool_const >> word.cf_const & 1 == 1;
        match word.cond {
            0 => true,
            1 => false,
            2 => boolean,
            _ => !boolean,
        }
    }

    /// Returns whether the lane would have to be valid but is not (r700-4.1).
    fn is_left_out(lane: &Lane, word: &Word) -> bool {
        word.vpm && !lane.valid
    }

    /// Returns whether the lane passes the condition test (r700-4.1).
    fn passes(&self, lane: &Lane, word: &Word) -> bool {
        lane.class == Class::Active && self.holds(word) && !Self::is_left_out(lane, word)
    }

    /// Applies VPM after a pop or an ELSE.
    fn filter(lane: &mut Lane, word: &Word) {
        if lane.class == Class::Active && Self::is_left_out(lane, word) {
            lane.class = Class::Branch;
        }
    }

    fn push_branch(stacks: &mut Stacks, lane: &mut Lane) {
        lane.stack = stacks.push(lane.stack, Frame::Branch(lane.class == Class::Active));
    }

    pub(super) fn pop(stacks: &Stacks, lane: &mut Lane, count: u32, word: &Word) -> Result<(), u8> {
        let mut last = None;
        for _ in 0..count {
            let Some((Frame::Branch(active), below)) = stacks.top(lane.stack) else {
                return Err(UNDERFLOW);
            };
            (last, lane.stack) = (Some(active), below);
        }
        if let Some(active) = last {
            if lane.class.is_in_pass() {
                lane.class = if active { Class::Active } else { Class::Branch };
            }
            Self::filter(lane, word);
        }
        Ok(())
    }

    /// Applies the effect of ELSE on the class.
    fn invert(stacks: &Stacks, lane: &mut Lane, holds: bool, word: &Word) -> Result<(), u8> {
        let Some((Frame::Branch(active), _)) = stacks.top(lane.stack) else {
            return Err(UNDERFLOW);
        };
        if holds && active && !Self::is_left_out(lane, word) {
            lane.class = match lane.class {
                Class::Active => Class::Branch,
                Class::Branch => Class::Active,
                other => other,
            };
        }
        Self::filter(lane, word);
        Ok(())
    }

    /// Returns the lane at `pc` after a jump that pops `POP_COUNT`.
    fn jump(stacks: &Stacks, mut lane: Lane, word: &Word) -> Result<Lane, u8> {
        Self::pop(stacks, &mut lane, word.pops, word)?;
        lane.pc = word.addr;
        Ok(lane)
    }

    /// Returns the lane after its instruction leads from `before` to `after`: handles the end of the program, and the
    /// errors that depend on where the instruction leads.
    fn settle(&self, stacks: &Stacks, before: Lane, word: &Word, after: Result<Lane, u8>) -> Lane {
        let fails = |code| Lane {
            status: Status::Failed(code),
            ..before
        };
        let lane = match after {
            Ok(lane) => lane,
            Err(code) => return fails(code),
        };
        let code = match word.end {
            true if lane.stack == Stack::EMPTY => {
                return Lane {
                    status: Status::Done,
                    ..lane
                };
            }
            true => END_STACK,
            false if lane.pc < self.program.regs.prog_len => return lane,
            false => PC_RANGE,
        };
        // The lowest code wins; OVERFLOW counts here, although a lane alone always has room.
        match stacks.needs(lane.stack) > self.limit {
            true => fails(OVERFLOW),
            false => fails(code),
        }
    }

    /// Returns what `lane` does next, and where else it may be led.
    pub(super) fn step(&self, stacks: &mut Stacks, lane: Lane) -> Step {
        if lane.status != Status::Running {
            return Step {
                alone: Turn::Stopped,
                led: None,
            };
        }
        let word = &self.word(lane.pc);
        // Where the lane continues if nothing else happens to it.
        let next = Lane {
            pc: lane.pc.wrapping_add(1),
            ..lane
        };
        let step = match word.op {
            Op::Reserved => Err(ILLEGAL),
            Op::Alu(alu) => self.alu(stacks, lane, next, word, alu),
            Op::Slot => {
                let next = self.settle(stacks, lane, word, Ok(next));
                Ok(match self.passes(&lane, word) {
                    true => Self::executes(next, next),
                    false => Step::moves(next),
                })
            }
            Op::Control(_) if word.wqm => Err(FIELD),
            Op::Control(Control::Call) if word.pops > 0 => Err(FIELD),
            Op::Control(control) => self.control(stacks, lane, next, word, control),
        };
        step.unwrap_or_else(|code| Step::moves(self.settle(stacks, lane, word, Err(code))))
    }

    /// Returns the errors that happen whichever way the lane goes as `Err`; [`Machine::settle`] handles
    /// the others.
    fn control(
        &self,
        stacks: &mut Stacks,
        lane: Lane,
        mut next: Lane,
        word: &Word,
        control: Control,
    ) -> Result<Step, u8> {
        let ok = self.passes(&lane, word);
        // Whether any lane can pass.
        let holds = self.holds(word);
        // Alone; led, if the others may want that.
        let (alone, led) = match control {
            Control::Jump if ok => (Ok(next), None),
            Control::Jump => (Self::jump(stacks, lane, word), holds.then_some(Ok(next))),
            Control::Push | Control::PushElse => {
                Self::push_branch(stacks, &mut next);
                if lane.class == Class::Active && !ok {
                    next.class = Class::Branch;
                }
                let jumps = match control {
                    Control::Push => Self::jump(stacks, lane, word),
                    _ => Ok(Lane {
                        pc: word.addr,
                        ..next
                    }),
                };
                match ok {
                    true => (Ok(next), None),
                    false => (jumps, holds.then_some(Ok(next))),
                }
            }
            Control::Pop => {
                Self::pop(stacks, &mut next, word.pops, word)?;
                if next.class == Class::Active && !self.passes(&next, word) {
                    next.class = Class::Branch;
                }
                (Ok(next), None)
            }
            Control::Else => {
                Self::invert(stacks, &mut next, holds, word)?;
                match next.class {
                    Class::Active => (Ok(next), None),
                    _ => (Self::jump(stacks, next, word), Some(Ok(next))),
                }
            }
            Control::LoopStart(kind) => {
                let passes = !self.counts(kind) || self.constant(word) & 0xfff > 0;
                let entered = ok && passes;
                let frame = Frame::Loop {
                    head: lane.pc,
                    class: lane.class,
                    entered,
                };
                next.stack = stacks.push(lane.stack, frame);
                if entered {
                    return Ok(match self.settle(stacks, lane, word, Ok(next)) {
                        failed if failed.status != Status::Running => Step::moves(failed),
                        next => Step {
                            alone: Turn::Enters(next),
                            led: None,
                        },
                    });
                }
                next.class = Class::Brk;
                let enters = (holds && passes).then_some(Ok(next));
                (Self::jump(stacks, lane, word), enters)
            }
            Control::LoopEnd => return self.loop_end(stacks, lane, word),
            Control::Leave(class) => {
                let base = stacks.base(lane.stack);
                let Some((Frame::Loop { .. }, _)) = stacks.top(base) else {
                    return Err(NO_LOOP);
                };
                if ok {
                    next.class = class;
                }
                let jumps = Lane {
                    pc: word.addr,
                    stack: base,
                    ..next
                };
                match next.class.is_in_pass() {
                    true => (Ok(next), None),
                    false => (Ok(jumps), Some(Ok(next))),
                }
            }
            Control::Call => {
                let depth = stacks.node(lane.stack).depth + word.calls;
                let frame = Frame::Call { to: next.pc, depth };
                let calls = Lane {
                    pc: word.addr,
                    stack: stacks.push(lane.stack, frame),
                    ..lane
                };
                match (holds && depth <= MAX_CALLS, ok) {
                    (false, _) => (Ok(next), None),
                    (true, true) => (Ok(calls), None),
                    (true, false) => (Ok(next), Some(Ok(calls))),
                }
            }
            Control::Return => {
                let Some((Frame::Call { to, .. }, below)) = stacks.top(lane.stack) else {
                    return Err(NO_CALL);
                };
                let returns = Lane {
                    pc: to,
                    stack: below,
                    ..lane
                };
                let wants = lane.class == Class::Active && !Self::is_left_out(&lane, word);
                match (holds, wants) {
                    (true, _) => (Ok(returns), None),
                    (false, true) => (Ok(next), None),
                    (false, false) => (Ok(returns), Some(Ok(next))),
                }
            }
            Control::Kill => {
                next.valid &= !ok;
                let jumps = Lane {
                    pc: word.addr,
                    ..next
                };
                match next.valid {
                    true => (Ok(next), None),
                    false => (Ok(jumps), Some(Ok(next))),
                }
            }
        };
        Ok(Step {
            alone: Turn::Moves(self.settle(stacks, lane, word, alone)),
            led: led.map(|led| self.settle(stacks, lane, word, led)),
        })
    }

    /// Returns the step of an executed instruction. No lane executes one that ends in an error, whatever the predicates.
    pub(super) fn executes(on: Lane, off: Lane) -> Step {
        match on.status {
            Status::Failed(_) => Step::moves(on),
            _ => Step {
                alone: Turn::Executes([off, on]),
                led: None,
            },
        }
    }

    fn alu(
        &self,
        stacks: &mut Stacks,
        lane: Lane,
        mut next: Lane,
        word: &Word,
        alu: Alu,
    ) -> Result<Step, u8> {
        let off = match alu {
            Alu::Break => Class::Brk,
            Alu::Continue => Class::Cont,
            _ => Class::Branch,
        };
        if alu == Alu::Break || alu == Alu::Continue {
            let Some((Frame::Loop { .. }, _)) = stacks.top(stacks.base(lane.stack)) else {
                return Err(NO_LOOP);
            };
        }
        if alu == Alu::PushBefore || alu == Alu::ElseAfter && word.u {
            Self::push_branch(stacks, &mut next);
        }
        let on = lane.class == Class::Active;
        let mut after = [next, next];
        if word.u && on {
            after[0].class = off;
        }
        for next in &mut after {
            let done = match alu {
                Alu::PopAfter => Self::pop(stacks, next, 1, word),
                Alu::Pop2After => Self::pop(stacks, next, 2, word),
                Alu::ElseAfter => Self::invert(stacks, next, true, word),
                _ => Ok(()),
            };
            *next = self.settle(stacks, lane, word, done.map(|()| *next));
        }
        let [zero, one] = after;
        Ok(match on {
            true => Self::executes(one, zero),
            false => Step::moves(one),
        })
    }

    fn loop_end(&self, stacks: &Stacks, mut lane: Lane, word: &Word) -> Result<Step, u8> {
        let before = lane;
        let Some((
            Frame::Loop {
                head,
                class,
                entered,
            },
            below,
        )) = stacks.top(lane.stack)
        else {
            return Err(match stacks.top(stacks.base(lane.stack)) {
                Some((Frame::Loop { .. }, _)) => LOOP_OPEN,
                _ => NO_LOOP,
            });
        };
        if lane.class != Class::Brk {
            lane.class = Class::Active;
        }
        let start = self.word(head);
        let (counts, once) = match start.op {
            Op::Control(Control::LoopStart(kind)) if !self.counts(kind) => (false, false),
            _ => (true, self.constant(&start) & 0xfff == 1),
        };
        let ok = self.passes(&lane, word);
        let again = Lane {
            pc: word.addr,
            class: if ok { Class::Active } else { Class::Brk },
            ..lane
        };
        let again = self.settle(stacks, before, word, Ok(again));
        let mut leaves = Lane {
            pc: lane.pc.wrapping_add(1),
            stack: below,
            class,
            ..lane
        };
        Self::filter(&mut leaves, word);
        let leaves = self.settle(stacks, before, word, Ok(leaves));
        // Another pass is possible as long as any lane passes.
        let possible = self.holds(word) && !once;
        if !entered {
            return Ok(Step {
                alone: Turn::Moves(leaves),
                led: possible.then_some(again),
            });
        }
        let stays = ok && possible;
        Ok(Step {
            alone: Turn::EndsPass {
                head,
                again: stays.then_some(again),
                leaves: (!stays || counts).then_some(leaves),
            },
            led: (possible && !ok).then_some(again),
        })
    }
}
