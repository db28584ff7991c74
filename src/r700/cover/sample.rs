//! Counts the hits of a step, and remembers what the state does not show.

use super::Bins;
use super::axes::{
    After, Against, Bank, Before, Beyond, CallCount, Called, Caller, Clause, Code, Control, Corner,
    Count, Dropped, Ending, Entry, Executed, Frame, From, General, Innermost, Inside, InstKind,
    Jumper, Killed, Leave, Legal, Live, Mask, Opcode, Open, Pass, Pass2, Popper, Pops, Position,
    Pred, Present, Pusher, Reach, Refused, Returned, Room, Size, Start, Step, Straight, Tested, To,
    Two, Updates, Valid, Vpm, Where, Woken,
};
use super::instruction::Word;
use crate::axes::{Rest, classes};
use crate::r700::golden::Error;
use crate::r700::state::{In, State};
use reconverge_campaign::cover::{Decision, Hits, Previous, Status, Values as _};

/// Values that the state does not show: operands of the launch, and the last instruction.
#[derive(Debug, Default)]
pub struct Memory {
    pub(super) prog_len: u32,
    /// Sub-entries that the wave may use.
    pub(super) limit: u32,
    pub(super) launched: u64,
    pub(super) previous: Previous<InstKind>,
}

impl Bins {
    pub(super) fn launch(&self, m: &mut Memory, status: Status, pins: &In, hits: &mut Hits) {
        *m = Memory {
            prog_len: pins.prog_len,
            limit: self.subentries * u32::from(pins.stack_size).min(self.max),
            launched: pins.lane_mask & self.all,
            previous: Previous(None),
        };
        let mask = Mask::of((m.launched, self.all));
        let entry = Entry(pins.entry >= pins.prog_len);
        let size = Size::of((pins.stack_size.into(), self.max));
        hits.hit(self.launches, (Rest::of(status), mask, entry, size));
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
        hits.hit_next(self.neighbours, &mut m.previous, w.kind);
        let opcode = match w.dw1 >> 29 & 1 {
            1 => 56 + (w.dw1 >> 26 & 15),
            _ => w.dw1 >> 23 & 0x7f,
        };
        let known = outcome.is_ok() || outcome == Err(Error::Illegal);
        hits.hit_if(known, self.opcodes, (Opcode(opcode as u8),));
        if let Err(code) = outcome {
            hits.hit(self.errors, (w.kind, Code::of(code)));
            self.two_errors(m, &w, before, code, hits);
        }
        if let Some(legal) = Legal::of(w.kind) {
            hits.hit_if(w.wqm, self.wqm, (legal,));
        }
        if let Some(reach) = Reach::of(w.kind) {
            let refused = match outcome {
                Ok(_) => Some(false),
                Err(Error::NoLoop | Error::LoopOpen | Error::NoCall) => Some(true),
                Err(_) => None,
            };
            if let Some(refused) = refused.map(Refused) {
                let open = Open::of(w.open);
                hits.hit(self.reaches, (reach, w.innermost, open, refused));
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
                let closed = code == Error::Underflow && w.open == 0;
                let leaves = matches!(w.kind, InstKind::LoopBreak | InstKind::LoopContinue);
                let in_call = leaves && w.innermost == Innermost::Call && before.lt != 0;
                let pops = w.kind == InstKind::Call && !w.wqm;
                hits.hit_all(
                    self.corners,
                    Corner::ElseNone.when(closed && w.kind == InstKind::Else)
                        | Corner::ElseAfterNone.when(closed && w.kind == InstKind::AluElseAfter)
                        | Corner::BreakInCall.when(code == Error::NoLoop && in_call)
                        | Corner::CallPops.when(code == Error::Field && pops),
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
        // Of the instructions that pop, only JUMP always jumps when it pops.
        let jumps_outside = w.kind == InstKind::Jump && outside;
        let calls_outside = w.kind == InstKind::Call && outside;
        let is = |first: Error| code == first;
        hits.hit_all(
            self.priority,
            Two::FieldLoop.when(is(Error::Field) && no_loop)
                | Two::FieldOpen.when(is(Error::Field) && open)
                | Two::FieldCall.when(is(Error::Field) && no_call)
                | Two::FieldPop.when(is(Error::Field) && too_many)
                | Two::LoopEnd.when(is(Error::NoLoop) && ends)
                | Two::OpenEnd.when(is(Error::LoopOpen) && ends)
                | Two::CallEnd.when(is(Error::NoCall) && ends)
                | Two::PopEnd.when(is(Error::Underflow) && ends)
                | Two::PushEnd.when(is(Error::Overflow) && ends)
                | Two::PopRange.when(is(Error::Underflow) && jumps_outside)
                | Two::CallRange.when(is(Error::Overflow) && calls_outside),
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
            let frame = Frame::of(w.kind);
            let (size, branch) = match frame {
                Frame::Branch => (1, 1),
                Frame::Call => (1, 0),
                _ => (i64::from(self.subentries), 0),
            };
            let (sp, nb) = (i64::from(before.sp) + size, before.nb + branch);
            let room = i64::from(m.limit) - sp - if nb > 0 { 2 } else { 0 };
            debug_assert_eq!(room < 0, outcome.is_err());
            let live = Live(before.nb > 0);
            hits.hit(self.pushes, (pusher, Room::of(room), live));
            if outcome.is_ok() {
                hits.hit(self.nesting, (frame, w.innermost, Open::of(w.open)));
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
            let against = Against::of(w.pops.cmp(&w.open));
            let point = (popper, Pops::of(w.pops), against, w.innermost);
            hits.hit(self.pops, point);
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
            let far = i64::from(target) - i64::from(before.pc);
            let place = Where::of((outcome.is_err(), far));
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
        let vpm = Vpm(w.vpm);
        if let Some(control) = Control::of(w.kind) {
            hits.hit(self.conditions, (control, w.cond, vpm, decision));
        }
        if let Some(general) = General::of(w.kind) {
            let tested = if w.kind == InstKind::LoopEnd {
                self.all & !w.before[3]
            } else {
                w.before[0]
            };
            let pass = Pass::of((tested, tested & w.passes(before)));
            if let Some(tested) = Tested::of(w.kind) {
                hits.hit(self.tests, (tested, pass, vpm));
            } else if let Some(executed) = Executed::of(w.kind) {
                hits.hit(self.executions, (executed, pass, vpm));
            }
            let valid = Valid::of((before.valid & self.all, self.all));
            hits.hit(self.valid, (general, vpm, valid));
            if w.end {
                let beyond = Beyond(after.pc >= m.prog_len);
                hits.hit(self.last, (general, decision, beyond));
            }
        }
        if let Some(clause) = Clause::of(w.kind) {
            let active = w.before[0];
            let pred = Pred::of((active, pins.pred & active));
            hits.hit(self.clauses, (clause, Updates(w.u), pred));
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
            let point = (start, Count::of(constant & 0xfff), inside, jump.into());
            hits.hit(self.begins, point);
        }
        let Some(ending) = usize::from(before.lt).checked_sub(1).map(Ending::at) else {
            return;
        };
        if w.kind == InstKind::LoopEnd {
            let [_, branch, cont, brk] = w.before;
            // All except the BRK lanes are ACTIVE by the time they are tested.
            let a_lane_passes = self.all & !brk & w.passes(before) != 0;
            let how = Pass2::of((jump, a_lane_passes));
            hits.hit(self.ends, (ending, Count::of(before.lc.into()), how));
            hits.hit(self.woken, (ending, how, Woken::of((branch, cont))));
            if jump && ending == Ending::Al {
                let step = Step::of(before.inc as i8);
                let (from, to) = (Before::of(before.al as i32), After::of(after.al as i32));
                hits.hit(self.index, (step, from, to));
            }
        } else if let Some(leave) = Leave::of(w.kind).filter(|_| jump) {
            hits.hit(self.leaves, (leave, ending, Dropped::of(w.open)));
        }
    }

    fn calls(&self, w: &Word, before: &State, jump: bool, after: &State, hits: &mut Hits) {
        match w.kind {
            InstKind::Call => {
                let calls = w.dw1 >> 13 & 63;
                let called = Called::of((w.pass, u32::from(before.depth) + calls));
                hits.hit(self.calls, (CallCount::of(calls), called));
            }
            InstKind::Return => {
                let returned = Returned::of((jump, w.before[0], w.before[0] & !w.pass));
                let caller = Caller::at(before.frame_bkind.into());
                hits.hit(self.returns, (returned, caller));
            }
            InstKind::Kill => {
                let killed = Killed::of((w.pass, w.pass & before.valid, after.valid));
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
        let kind = w.kind;
        let [active, branch, cont, brk] = w.before;
        let now = classes(after.st, self.all);
        let invalid = self.all & !before.valid;
        let pops = Popper::of(kind).is_some() && after.sp < before.sp;
        let filtered = active & invalid & now[1] != 0;
        let leaves = kind == InstKind::LoopEnd && !jump;
        let top = if w.open > 0 { before.top_mask } else { 0 };
        let outside = (active & now[0] | branch & now[1]) & !top;
        let entered = after.sp > before.sp && before.lt != 0;
        let stays = w.pops == 0 && active & invalid & now[0] != 0;
        let full = u32::from(after.sp) == self.subentries * self.max;
        hits.hit_all(
            self.corners,
            Corner::IdlePush.when(kind == InstKind::AluPushBefore && active == 0)
                | Corner::IdlePushElse.when(kind == InstKind::PushElse && active == 0)
                | Corner::PopNone.when(w.vpm && kind == InstKind::Jump && jump && stays)
                | Corner::PopFilters.when(w.vpm && pops && kind == InstKind::Jump && filtered)
                | Corner::ElseFilters.when(w.vpm && kind == InstKind::Else && filtered && !pops)
                | Corner::LeaveFilters.when(w.vpm && leaves && invalid & now[1] != 0)
                | Corner::ElseOutside.when(kind == InstKind::Else && !w.vpm && outside != 0)
                | Corner::ElseKeeps.when(kind.inverts() && (cont | brk) & top != 0)
                | Corner::PopKeeps.when(pops && cont | brk != 0 && !kind.inverts())
                | Corner::ElseOwn.when(kind == InstKind::AluElseAfter && w.u && w.open == 0)
                | Corner::KeepsIndex
                    .when(kind == InstKind::LoopStartNoAl && entered && before.al != 0)
                | Corner::OwnIndex
                    .when(kind == InstKind::LoopStart && entered && after.al != before.al)
                | Corner::RestoresIndex.when(leaves && after.lt != 0 && after.al != before.al)
                | Corner::Dx10Restores.when(leaves && before.lt == 3 && after.lc > 0)
                | Corner::SkippedSticks.when(kind == InstKind::Call && jump && before.skipped == 1)
                | Corner::DeadExecutes.when(after.exec & invalid != 0)
                | Corner::BornLater.when(!m.launched & branch & now[0] != 0)
                | Corner::LeavesEarly.when(leaves && before.lc > 1)
                | Corner::StackFull.when(full)
                | Corner::ReserveFreed.when(before.nb > 0 && after.nb == 0),
        );
    }
}
