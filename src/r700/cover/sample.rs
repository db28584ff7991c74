//! Counts the hits of a step, and remembers what the state does not show.

use super::Bins;
use super::axes::{
    After, Against, Bank, Before, Beyond, CallCount, Called, Caller, Clause, Code, Control, Corner,
    Dropped, Ending, Entry, Executed, Frame, From, General, Innermost, Inside, InstKind, Jumper,
    Killed, Leave, Legal, Live, Mask, Opcode, Pass, Pass2, Popper, Pops, Position, Pred, Present,
    Pusher, Reach, Reached, Returned, Room, Size, Start, Step, Straight, Tested, To, Two, Updates,
    Valid, Vpm, Where, Woken,
};
use super::instruction::{Word, count, sign};
use crate::axes::{Rest, classes};
use crate::r700::golden::Error;
use crate::r700::state::{In, State};
use reconverge_campaign::cover::{Decision, Hits, Previous, Status, ValueSet, Values};

/// Values that the state does not show: operands of the launch, and the last instruction.
#[derive(Debug, Default)]
pub struct Memory {
    pub(super) prog_len: u32,
    /// Sub-entries that the wave may use.
    pub(super) limit: u32,
    pub(super) launched: u64,
    pub(super) previous: Option<InstKind>,
}

impl Bins {
    pub(super) fn launch(&self, m: &mut Memory, status: Status, pins: &In, hits: &mut Hits) {
        *m = Memory {
            prog_len: pins.prog_len,
            limit: self.subentries * u32::from(pins.stack_size).min(self.max),
            launched: pins.lane_mask & self.all,
            previous: None,
        };
        let mask = match m.launched {
            0 => Mask::None,
            mask if mask == self.all => Mask::All,
            _ => Mask::Some,
        };
        let entry = if pins.entry < pins.prog_len {
            Entry::Inside
        } else {
            Entry::Outside
        };
        let size = match u32::from(pins.stack_size) {
            0 => Size::Zero,
            n if n < self.max => Size::Fewer,
            n if n == self.max => Size::Max,
            _ => Size::More,
        };
        hits.hit(self.launches, (Rest::from(status), mask, entry, size));
    }

    /// Counts an instruction that jumped, stayed, or failed.
    pub(super) fn step(
        &self,
        m: &mut Memory,
        before: &State,
        pins: &In,
        outcome: Result<bool, Error>,
        after: &State,
        hits: &mut Hits,
    ) {
        let w = Word::new(before, pins, self.all);
        hits.hit(self.neighbours, (Previous(m.previous), w.kind));
        m.previous = Some(w.kind);
        let opcode = match w.dw1 >> 29 & 1 {
            1 => 56 + (w.dw1 >> 26 & 15),
            _ => w.dw1 >> 23 & 0x7f,
        };
        let known = outcome.is_ok() || outcome == Err(Error::Illegal);
        hits.hit_if(known, self.opcodes, (Opcode(opcode as u8),));
        if let Err(code) = outcome {
            hits.hit(self.errors, (w.kind, Code(code as u8 - 1)));
            self.two_errors(m, &w, before, code, hits);
        }
        if let Some(legal) = Legal::of(w.kind) {
            hits.hit_if(w.wqm, self.wqm, (legal,));
        }
        if let Some(reach) = Reach::of(w.kind) {
            let found = match outcome {
                Ok(_) => Some(Reached::Executed),
                Err(Error::NoLoop | Error::LoopOpen | Error::NoCall) => Some(Reached::Refused),
                Err(_) => None,
            };
            if let Some(found) = found {
                hits.hit(self.reaches, (reach, w.innermost, w.open_frames(), found));
            }
        }
        self.stack(m, &w, before, outcome, after, hits);
        self.targets(m, &w, before, outcome, hits);
        match outcome {
            Ok(jump) => {
                self.executed(m, &w, before, pins, jump.into(), after, hits);
                self.loops(&w, before, jump, after, hits);
                self.calls(&w, before, jump, after, hits);
                self.corner_cases(m, &w, before, jump, after, hits);
            }
            Err(code) => {
                let mut corner = |is: bool, what: Corner| hits.hit_if(is, self.corners, (what,));
                let closed = code == Error::Underflow && w.open == 0;
                corner(closed && w.kind == InstKind::Else, Corner::ElseNone);
                corner(
                    closed && w.kind == InstKind::AluElseAfter,
                    Corner::ElseAfterNone,
                );
                let leaves = matches!(w.kind, InstKind::LoopBreak | InstKind::LoopContinue);
                corner(
                    code == Error::NoLoop
                        && leaves
                        && w.innermost == Innermost::Call
                        && before.lt != 0,
                    Corner::BreakInCall,
                );
                corner(
                    code == Error::Field && w.kind == InstKind::Call && !w.wqm,
                    Corner::CallPops,
                );
            }
        }
    }

    fn two_errors(&self, m: &Memory, w: &Word, before: &State, code: Error, hits: &mut Hits) {
        let no_loop = matches!(
            w.kind,
            InstKind::LoopEnd | InstKind::LoopBreak | InstKind::LoopContinue
        ) && w.innermost != Innermost::Loop;
        let open = w.kind == InstKind::LoopEnd && w.innermost == Innermost::Loop && w.open > 0;
        let no_call = w.kind == InstKind::Return && (w.innermost != Innermost::Call || w.open > 0);
        let too_many = w.kind == InstKind::Pop && w.pops > w.open;
        // The stack is not empty if the instruction leaves it unchanged.
        let ends = w.end && before.sp > 0;
        let outside = !w.end && w.dw0 >= m.prog_len;
        let mut two = |first: Error, second: bool, what: Two| {
            hits.hit_if(code == first && second, self.priority, (what,));
        };
        two(Error::Field, no_loop, Two::FieldLoop);
        two(Error::Field, open, Two::FieldOpen);
        two(Error::Field, no_call, Two::FieldCall);
        two(Error::Field, too_many, Two::FieldPop);
        two(Error::NoLoop, ends, Two::LoopEnd);
        two(Error::LoopOpen, ends, Two::OpenEnd);
        two(Error::NoCall, ends, Two::CallEnd);
        two(Error::Underflow, ends, Two::PopEnd);
        two(Error::Overflow, ends, Two::PushEnd);
        // Of the instructions that pop, only JUMP always jumps when it pops.
        two(
            Error::Underflow,
            w.kind == InstKind::Jump && outside,
            Two::PopRange,
        );
        two(
            Error::Overflow,
            w.kind == InstKind::Call && outside,
            Two::CallRange,
        );
    }

    /// Counts pushes and pops, and those that failed.
    fn stack(
        &self,
        m: &Memory,
        w: &Word,
        before: &State,
        outcome: Result<bool, Error>,
        after: &State,
        hits: &mut Hits,
    ) {
        let pushed = match outcome {
            // ALU_ELSE_AFTER only pushes with u, and no other instruction leaves the stack higher.
            Ok(_) => after.sp > before.sp,
            Err(code) => code == Error::Overflow,
        };
        if let Some(pusher) = Pusher::of(w.kind).filter(|_| pushed) {
            let (size, branch) = match pusher.frame() {
                Frame::Branch => (1, 1),
                Frame::Call => (1, 0),
                _ => (i64::from(self.subentries), 0),
            };
            let (sp, nb) = (i64::from(before.sp) + size, before.nb + branch);
            let room = i64::from(m.limit) - sp - if nb > 0 { 2 } else { 0 };
            debug_assert_eq!(room < 0, outcome.is_err());
            let room = match room {
                ..=-2 => Room::Less,
                -1 => Room::OneLess,
                0 => Room::Zero,
                1 => Room::One,
                _ => Room::More,
            };
            let live = if before.nb > 0 {
                Live::Some
            } else {
                Live::None
            };
            hits.hit(self.pushes, (pusher, room, live));
            if outcome.is_ok() {
                hits.hit(self.nesting, (pusher.frame(), w.innermost, w.open_frames()));
                if let Some(start) = Start::of(w.kind) {
                    hits.hit(self.banks, (start, Bank((before.sp % 4) as u8)));
                    if let Some(places) = self.places {
                        hits.hit(places, (start, Position((before.sp % 8) as u8)));
                    }
                }
            }
        }
        // Other instructions pop only if they jump; POP and the ALU forms always pop.
        let popped = match outcome {
            Ok(jump) => {
                jump || matches!(
                    w.kind,
                    InstKind::Pop | InstKind::AluPopAfter | InstKind::AluPop2After
                )
            }
            Err(code) => code == Error::Underflow && !(w.kind == InstKind::Else && w.open == 0),
        };
        if let Some(popper) = Popper::of(w.kind).filter(|_| popped) {
            let pops = match w.pops {
                0 => Pops::Zero,
                1 => Pops::One,
                2 => Pops::Two,
                _ => Pops::More,
            };
            let against = match w.pops.cmp(&w.open) {
                std::cmp::Ordering::Less => Against::Fewer,
                std::cmp::Ordering::Equal => Against::Exactly,
                std::cmp::Ordering::Greater => Against::Beyond,
            };
            hits.hit(self.pops, (popper, pops, against, w.innermost));
        }
    }

    fn targets(
        &self,
        m: &Memory,
        w: &Word,
        before: &State,
        outcome: Result<bool, Error>,
        hits: &mut Hits,
    ) {
        let target = if w.kind == InstKind::Return {
            before.frame_ret
        } else {
            w.dw0
        };
        let falls_off = before.pc.wrapping_add(1) >= m.prog_len;
        let jumps = match outcome {
            Ok(jump) => jump,
            // The last instruction of a program may have fallen off its end instead.
            Err(code) => code == Error::PcRange && !falls_off,
        };
        hits.hit_if(
            outcome == Err(Error::PcRange) && (falls_off && target < m.prog_len),
            self.corners,
            (Corner::FallsOff,),
        );
        if let Some(jumper) = Jumper::of(w.kind).filter(|_| jumps && !w.end) {
            let place = match target {
                _ if outcome.is_err() => Where::Outside,
                to if to == before.pc => Where::Itself,
                to if to == before.pc + 1 => Where::Next,
                to if to < before.pc => Where::Back,
                _ => Where::Forward,
            };
            hits.hit(self.targets, (jumper, place));
        }
    }

    /// Counts an instruction without error: its lanes, its condition, its decision.
    #[allow(clippy::too_many_arguments)]
    fn executed(
        &self,
        m: &Memory,
        w: &Word,
        before: &State,
        pins: &In,
        decision: Decision,
        after: &State,
        hits: &mut Hits,
    ) {
        let present = Present::of(w.before);
        if let Some(jumper) = Jumper::of(w.kind) {
            hits.hit(self.classes, (jumper, present, decision));
        } else if let Some(straight) = Straight::of(w.kind) {
            hits.hit(self.straight, (straight, present));
        }
        let vpm = if w.vpm { Vpm::On } else { Vpm::Off };
        if let Some(control) = Control::of(w.kind) {
            hits.hit(self.conditions, (control, w.cond, vpm, decision));
        }
        if let Some(general) = General::of(w.kind) {
            let tested = if w.kind == InstKind::LoopEnd {
                self.all & !w.before[3]
            } else {
                w.before[0]
            };
            let pass = match (tested, tested & w.passes(before)) {
                (0, _) => Pass::NoneActive,
                (_, 0) => Pass::None,
                (tested, pass) if tested == pass => Pass::All,
                _ => Pass::Some,
            };
            if let Some(tested) = Tested::of(w.kind) {
                hits.hit(self.tests, (tested, pass, vpm));
            } else if let Some(executed) = Executed::of(w.kind) {
                hits.hit(self.executions, (executed, pass, vpm));
            }
            let valid = match before.valid & self.all {
                0 => Valid::None,
                valid if valid == self.all => Valid::All,
                _ => Valid::Some,
            };
            hits.hit(self.valid, (general, vpm, valid));
            if w.end {
                let beyond = if after.pc < m.prog_len {
                    Beyond::Inside
                } else {
                    Beyond::Outside
                };
                hits.hit(self.last, (general, decision, beyond));
            }
        }
        if let Some(clause) = Clause::of(w.kind) {
            let active = w.before[0];
            let pred = match (active, pins.pred & active) {
                (0, _) => Pred::NoneActive,
                (_, 0) => Pred::None,
                (active, pred) if active == pred => Pred::All,
                _ => Pred::Some,
            };
            let updates = if w.u { Updates::Yes } else { Updates::No };
            hits.hit(self.clauses, (clause, updates, pred));
        }
        if let Some(legal) = Legal::of(w.kind) {
            let now = classes(after.st, self.all);
            for (from, before) in w.before.iter().enumerate() {
                for (to, now) in now.iter().enumerate() {
                    hits.hit_if(
                        before & now != 0,
                        self.lanes,
                        (legal, From::at(from), To::at(to)),
                    );
                }
            }
        }
    }

    fn loops(&self, w: &Word, before: &State, jump: bool, after: &State, hits: &mut Hits) {
        if let Some(start) = Start::of(w.kind) {
            let constant = before.loop_const[(w.dw1 >> 3 & 31) as usize];
            let inside = Inside::at(before.lt.into());
            hits.hit(
                self.begins,
                (start, count(constant & 0xfff), inside, jump.into()),
            );
        }
        let Some(ending) = usize::from(before.lt).checked_sub(1).map(Ending::at) else {
            return;
        };
        let leave = match w.kind {
            InstKind::LoopContinue => Leave::Continue,
            InstKind::LoopBreak => Leave::Break,
            InstKind::LoopEnd => {
                let [_, branch, cont, brk] = w.before;
                // All except the BRK lanes are ACTIVE by the time they are tested.
                let a_lane_passes = self.all & !brk & w.passes(before) != 0;
                let how = match (jump, a_lane_passes) {
                    (true, _) => Pass2::Again,
                    (_, true) => Pass2::LastPass,
                    _ => Pass2::NoLane,
                };
                hits.hit(self.ends, (ending, count(before.lc.into()), how));
                let woken = match (branch, cont) {
                    (0, 0) => Woken::NoLane,
                    (_, 0) => Woken::Branch,
                    (0, _) => Woken::Cont,
                    _ => Woken::Both,
                };
                hits.hit(self.woken, (ending, how, woken));
                if jump && ending == Ending::Al {
                    let step = Step::at(sign((before.inc as i8).into()));
                    let (from, to) = (sign(before.al as i32), sign(after.al as i32));
                    hits.hit(self.index, (step, Before::at(from), After::at(to)));
                }
                return;
            }
            _ => return,
        };
        if jump {
            let dropped = match w.open {
                0 => Dropped::None,
                1 => Dropped::One,
                _ => Dropped::More,
            };
            hits.hit(self.leaves, (leave, ending, dropped));
        }
    }

    fn calls(&self, w: &Word, before: &State, jump: bool, after: &State, hits: &mut Hits) {
        match w.kind {
            InstKind::Call => {
                let calls = w.dw1 >> 13 & 63;
                let count = match calls {
                    0 => CallCount::Zero,
                    1 => CallCount::One,
                    2..=32 => CallCount::More,
                    _ => CallCount::Beyond,
                };
                let called = match (w.pass, u32::from(before.depth) + calls) {
                    (0, _) => Called::NoLane,
                    (_, ..=31) => Called::Below,
                    (_, 32) => Called::Exactly,
                    _ => Called::Skipped,
                };
                hits.hit(self.calls, (count, called));
            }
            InstKind::Return => {
                let returned = match (jump, w.before[0], w.before[0] & !w.pass) {
                    (false, ..) => Returned::Stays,
                    (_, 0, _) => Returned::NoneActive,
                    (_, _, 0) => Returned::All,
                    _ => Returned::Invalid,
                };
                hits.hit(
                    self.returns,
                    (returned, Caller::at(before.frame_bkind.into())),
                );
            }
            InstKind::Kill => {
                let killed = match (w.pass, w.pass & before.valid, after.valid) {
                    (0, ..) => Killed::NoLane,
                    (_, 0, _) => Killed::Invalid,
                    (.., 0) => Killed::All,
                    _ => Killed::Some,
                };
                hits.hit(self.kills, (killed, jump.into()));
            }
            _ => {}
        }
    }

    fn corner_cases(
        &self,
        m: &Memory,
        w: &Word,
        before: &State,
        jump: bool,
        after: &State,
        hits: &mut Hits,
    ) {
        let mut corners = ValueSet::default();
        let mut corner = |is: bool, what: Corner| corners.add_if(is, what);
        let kind = w.kind;
        let [active, branch, cont, brk] = w.before;
        let now = classes(after.st, self.all);
        let invalid = self.all & !before.valid;
        let pops = Popper::of(kind).is_some() && after.sp < before.sp;
        let filtered = active & invalid & now[1] != 0;
        let leaves = kind == InstKind::LoopEnd && !jump;
        let top = if w.open > 0 { before.top_mask } else { 0 };
        corner(
            kind == InstKind::AluPushBefore && active == 0,
            Corner::IdlePush,
        );
        corner(
            kind == InstKind::PushElse && active == 0,
            Corner::IdlePushElse,
        );
        corner(
            w.vpm
                && kind == InstKind::Jump
                && jump
                && w.pops == 0
                && active & invalid & now[0] != 0,
            Corner::PopNone,
        );
        corner(
            w.vpm && pops && kind == InstKind::Jump && filtered,
            Corner::PopFilters,
        );
        corner(
            w.vpm && kind == InstKind::Else && filtered && !pops,
            Corner::ElseFilters,
        );
        corner(
            w.vpm && leaves && invalid & now[1] != 0,
            Corner::LeaveFilters,
        );
        let outside = (active & now[0] | branch & now[1]) & !top;
        corner(
            kind == InstKind::Else && !w.vpm && outside != 0,
            Corner::ElseOutside,
        );
        corner(kind.inverts() && (cont | brk) & top != 0, Corner::ElseKeeps);
        corner(pops && cont | brk != 0 && !kind.inverts(), Corner::PopKeeps);
        corner(
            kind == InstKind::AluElseAfter && w.u && w.open == 0,
            Corner::ElseOwn,
        );
        let entered = after.sp > before.sp && before.lt != 0;
        corner(
            kind == InstKind::LoopStartNoAl && entered && before.al != 0,
            Corner::KeepsIndex,
        );
        corner(
            kind == InstKind::LoopStart && entered && after.al != before.al,
            Corner::OwnIndex,
        );
        corner(
            leaves && after.lt != 0 && after.al != before.al,
            Corner::RestoresIndex,
        );
        corner(
            leaves && before.lt == 3 && after.lc > 0,
            Corner::Dx10Restores,
        );
        corner(
            kind == InstKind::Call && jump && before.skipped == 1,
            Corner::SkippedSticks,
        );
        corner(after.exec & invalid != 0, Corner::DeadExecutes);
        corner(!m.launched & branch & now[0] != 0, Corner::BornLater);
        corner(leaves && before.lc > 1, Corner::LeavesEarly);
        let all = self.subentries * self.max;
        corner(u32::from(after.sp) == all, Corner::StackFull);
        corner(before.nb > 0 && after.nb == 0, Corner::ReserveFreed);
        hits.hit_each(self.corners, corners, |corner| (corner,));
    }
}
