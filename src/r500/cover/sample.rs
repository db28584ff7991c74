//! Counts the hits of a step, and remembers what the state does not show.

use super::axes::{
    AOp, AddrEnd, Any, BOp, Boolean, Came, Code, Corner, Count, Covered, Effect, Family, Fetched,
    Func, Highest, Ignore, InstKind, Inverted, Last, Left, Limit, LoopEnd, Offset, Open, Partial,
    Plain, PopCount, Position, Predicate, Present, Row, Start, Step, Target, Two, Where, Why,
    Woken, Wrap,
};
use super::instruction::{Flow, below, highest};
use super::{Bins, STACK, begins, breaks, ends, in_loop, pops_frame, pushes_frame};
use crate::axes::{Failed, classes};
use crate::r500::golden::{Error, Event};
use crate::r500::isa::{AOp as AddrOp, Op, Type};
use crate::r500::state::{In, State};
use reconverge_campaign::cover::{Decision, Hits, Level, Previous, Values as _};

/// Values that the state does not show: the registers taken at the launch, and the last step.
#[derive(Debug, Default)]
pub struct Memory {
    pub(super) full: bool,
    pub(super) offset: u16,
    pub(super) end: u16,
    pub(super) lo: u16,
    pub(super) hi: u16,
    pub(super) last: Option<Event>,
    pub(super) previous: Previous<InstKind>,
}

impl Memory {
    pub(super) fn launch(&mut self, pins: &In) {
        let field = |word: u32, lo: u32| (word >> lo & 0x1ff) as u16;
        let (lo, size) = (field(pins.code_range, 0), field(pins.code_range, 16));
        *self = Memory {
            full: pins.fc_ctrl >> 31 == 1,
            offset: field(pins.code_offset, 0),
            end: field(pins.code_addr, 16),
            lo,
            hi: (lo + size).min(511),
            ..Memory::default()
        };
    }

    pub(super) fn mode(&self) -> Partial {
        Partial(!self.full)
    }

    pub(super) fn offset(&self) -> Offset {
        Offset(self.offset != 0)
    }

    /// Returns the place of `pc` in the window. The address of a window of one instruction is its last.
    pub(super) fn place(&self, pc: u16) -> Position {
        match pc {
            pc if pc < self.lo => Position::Below,
            pc if pc > self.hi => Position::Above,
            pc if pc == self.hi => Position::Last,
            pc if pc == self.lo => Position::First,
            _ => Position::Inside,
        }
    }

    fn is_last(&self, pc: u16) -> bool {
        pc == self.offset + self.end
    }
}

impl Bins {
    /// Counts a step: the event of the golden model, and the state after it.
    pub(super) fn step(
        &self,
        m: &mut Memory,
        before: &State,
        pins: &In,
        (event, after): (Event, &State),
        hits: &mut Hits,
    ) {
        let place = m.place(before.pc);
        let fetched = Fetched::of((Start::of(place), event));
        hits.hit(self.fetches, (Came::of(m.last), place, fetched));
        if fetched == Fetched::Outside {
            if let Event::Halted(code) = event {
                hits.hit(self.errors, (Failed(None), Code::of(code)));
            }
            return;
        }
        let kind = Type::from_bits(pins.cmn);
        let flow = (kind == Type::Fc).then(|| Flow::new(before, pins, self.all));
        let op = flow.as_ref().map(|f| (f.fc.op, f.fc.a_op, f.fc.b_else));
        let kind = InstKind::of((kind, op));
        hits.hit_next(self.neighbours, &mut m.previous, kind);
        if m.is_last(before.pc) {
            let left = Left::of((after.active, self.all));
            let open = Open::of((after.loop_depth, after.addr_depth));
            hits.hit(self.last, (Last::of((kind, event)), left, open));
        }
        match &flow {
            None => {
                if let Some(plain) = Plain::of(kind) {
                    let present = Present::of(classes(before.st, self.all));
                    hits.hit(self.plain, (plain, present));
                }
            }
            Some(flow) => {
                let outcome = match event {
                    Event::Halted(code) => Err(code),
                    _ => Ok(event == Event::FlowControl { jump: true }),
                };
                self.flow(m, flow, before, pins, outcome, after, hits);
            }
        }
        m.last = Some(event);
    }

    /// Counts a flow-control instruction that jumped, stayed, or failed.
    #[allow(clippy::too_many_arguments)]
    fn flow(
        &self,
        m: &Memory,
        f: &Flow,
        before: &State,
        pins: &In,
        outcome: Result<bool, Error>,
        after: &State,
        hits: &mut Hits,
    ) {
        let op = f.fc.op;
        let is = |code: Error| outcome == Err(code);
        let level = Level::of(before.loop_depth.into(), STACK);
        hits.hit(self.loop_stack, (op, level, LoopEnd::of(outcome)));
        if let Some(stacking) = f.stacking() {
            let level = Level::of(before.addr_depth.into(), STACK);
            let point = (stacking, Family::of(op), level, AddrEnd::of(outcome));
            hits.hit(self.addr_stack, point);
        }
        if let Err(code) = outcome {
            hits.hit(self.errors, (Failed(Some(op)), Code::of(code)));
        }

        // Errors 1 to 4 need no decision, so there is none to count.
        let reserved = f.reserved();
        hits.hit_each(self.reserved, reserved, |what| (op, what));
        let illegal = !reserved.is_empty();
        let refused = !m.full && (op != Op::Jump || f.stacking().is_some());
        let underflow = in_loop(op) && f.top.is_none();
        let wrong_kind = f.top.is_some_and(|(rep, ..)| match op {
            Op::EndLoop | Op::BreakLoop => rep,
            Op::EndRep | Op::BreakRep => !rep,
            _ => false,
        });
        hits.hit_all(
            self.priority,
            Two::IllegalPartial.when(illegal && refused)
                | Two::IllegalUnderflow.when(illegal && underflow)
                | Two::IllegalKind.when(illegal && wrong_kind)
                | Two::PartialUnderflow.when(refused && !illegal && underflow),
        );
        if !m.full && !illegal {
            hits.hit(self.partial, (op, AOp::of(f.fc.a_op)));
        }
        if illegal || refused || underflow || wrong_kind {
            debug_assert!(matches!(outcome, Err(code) if code <= Error::LoopKind));
            return;
        }

        let (jump, why) = f.decide(f.consulted);
        debug_assert!(
            outcome.is_err() || outcome == Ok(jump),
            "{outcome:?} by {why:?}"
        );
        let decision = Decision::from(jump);
        hits.hit(self.decisions, (op, why, Any(f.fc.jump_any)));

        // Errors 5 to 9.
        let b_op = f.b_op(jump);
        let max = if m.full { 31 } else { 3 };
        let top_counter = (f.branch != 0).then(|| highest(&before.bc, f.branch));
        let at_limit = b_op == BOp::Incr && top_counter == Some(max);
        let target = f.target(m, before).filter(|_| jump);
        let outside = target.is_some_and(|t| Start::of(m.place(t)) != Start::Inside);
        hits.hit_all(
            self.priority,
            Two::LoopBranch.when(is(Error::LoopOverflow) && at_limit)
                | Two::PushBranch.when(is(Error::AddrOverflow) && at_limit)
                | Two::PushRange.when(is(Error::AddrOverflow) && outside)
                | Two::PopBranch.when(is(Error::AddrUnderflow) && at_limit)
                | Two::BranchRange.when(is(Error::BranchOverflow) && outside),
        );
        if outcome.is_ok() || is(Error::BranchOverflow) {
            let limit = Limit(outcome.is_err());
            let point = (m.mode(), Highest::of((top_counter, max)), b_op, limit);
            hits.hit(self.counters, point);
        }
        if let Some(target) = target.filter(|_| outcome.is_ok() || is(Error::PcRange)) {
            let far = i32::from(target) - i32::from(before.pc);
            let place = Where::of((Start::of(m.place(target)), far));
            let how = Target::of((f.fc.a_op == AddrOp::Pop, f.fc.jump_global));
            hits.hit(self.targets, (how, place, m.offset()));
        }
        if outcome.is_err() {
            return;
        }

        hits.hit(self.classes, (op, Present::of(f.before), decision));
        self.votes(f, pins, jump, hits);
        self.lanes(f, before, jump, hits);
        if begins(op) {
            let point = (f.loop_kind(), Count::of(f.kr), f.around, decision);
            hits.hit(self.begins, point);
        }
        if let Some((_, left, al)) = f.top.filter(|_| ends(op)) {
            let point = (f.loop_kind(), Count::of(left), f.around, decision);
            hits.hit(self.ends, point);
            if op == Op::EndLoop && jump {
                let wrap = Wrap::of(i16::from(al) + i16::from(f.kb));
                hits.hit(self.al, (Step::of(f.kb), wrap, f.around));
            }
        }
        self.corner_cases(f, pins, (before, after), (jump, why), hits);
    }

    /// Counts the vote and the decision of an instruction without error.
    fn votes(&self, f: &Flow, pins: &In, jump: bool, hits: &mut Hits) {
        if f.forced.is_some() {
            return;
        }
        if f.active != 0 {
            let predicate = Predicate::of(f.fc.pred_sel);
            let (inverted, func) = (Inverted(f.fc.pred_inv), Func::of(f.fc.jump_func));
            let point = (predicate, inverted, func, Boolean(f.boolean));
            hits.hit(self.conditions, point);
        }
        let ignore = Ignore(f.fc.ignore_uncovered);
        let covered = Covered::of((pins.cov & self.all, self.all));
        let effect = Effect(f.decide(self.all).0 != jump);
        let point = (Family::of(f.fc.op), ignore, covered, effect);
        hits.hit(self.coverage, point);
    }

    /// Counts the rows of the lane table that lanes took, and the effect of a DECR.
    fn lanes(&self, f: &Flow, before: &State, jump: bool, hits: &mut Hits) {
        let (op, decision) = (f.fc.op, Decision::from(jump));
        let mut row = |row: Row, lanes: u64| {
            hits.hit_if(lanes != 0, self.rows, (op, row, decision));
        };
        let counted = before.bc.iter().fold(0, |a, plane| a | plane);
        let waiting = before.lc[0] | before.lc[1];
        let [_, was_branch, was_cont, _] = f.before;
        if f.fc.b_else {
            row(Row::ElseOff, f.else_off);
            row(Row::ElseOn, was_branch & !counted);
            row(Row::ElseDeep, was_branch & counted);
        }
        if ends(op) {
            row(Row::EndWakes, f.returned);
            row(Row::EndSleeps, was_cont & waiting);
        }
        let off = self.disagree(f, jump);
        row(Row::Agrees, f.active & !off);
        let b_op = f.b_op(jump);
        let becomes = match op {
            _ if breaks(op) && !jump => Row::ToBrk,
            Op::Continue if !jump => Row::ToCont,
            _ if b_op == BOp::Incr => Row::ToBranch,
            _ => Row::Carried,
        };
        row(becomes, off);
        let pop = f.fc.b_pop_cnt;
        let wakes = if b_op == BOp::Decr {
            f.branch & below(&before.bc, pop)
        } else {
            0
        };
        match b_op {
            BOp::None => row(Row::BranchKept, f.branch),
            BOp::Incr => row(Row::BranchUp, f.branch),
            BOp::Decr => {
                row(Row::BranchWakes, wakes);
                row(Row::BranchDown, f.branch & !wakes);
            }
        }
        let (pushed, popped) = (pushes_frame(op, decision), pops_frame(op, decision));
        let mut waits = |lanes: u64, [up, wakes, down, kept]: [Row; 4]| match (pushed, popped) {
            (true, _) => row(up, lanes),
            (_, true) => {
                row(wakes, lanes & !waiting);
                row(down, lanes & waiting);
            }
            _ => row(kept, lanes),
        };
        waits(
            f.cont,
            [
                Row::ContPushed,
                Row::ContWakes,
                Row::ContDown,
                Row::ContKept,
            ],
        );
        waits(
            f.brk,
            [Row::BrkPushed, Row::BrkWakes, Row::BrkDown, Row::BrkKept],
        );

        if b_op == BOp::Decr {
            let woken = Woken::of((f.branch, wakes));
            hits.hit(self.pops, (PopCount::of(pop), woken, decision));
        }
    }

    /// Returns the ACTIVE lanes that disagree with the decision; none under a count override.
    fn disagree(&self, f: &Flow, jump: bool) -> u64 {
        match (f.forced, jump) {
            (Some(_), _) => 0,
            (None, true) => f.active & !f.want,
            (None, false) => f.active & f.want,
        }
    }

    fn corner_cases(
        &self,
        f: &Flow,
        pins: &In,
        (before, after): (&State, &State),
        (jump, why): (bool, Why),
        hits: &mut Hits,
    ) {
        let op = f.fc.op;
        let waiting = before.lc[0] | before.lc[1];
        let held = matches!(why, Why::HeldByBranch | Why::HeldByCont | Why::HeldByBoth);
        let (branch, cont) = f.holders(f.consulted);
        let popped = pops_frame(op, Decision::from(jump));
        let pushed = after.addr_depth > before.addr_depth;
        let entered = after.loop_depth > before.loop_depth;
        let off = self.disagree(f, jump);
        let only_else = held && cont == 0 && branch & !f.else_off == 0;
        let waits = f.cont | f.brk;
        let voters = f.voters(f.consulted);
        let others_want = voters & f.want & !f.else_off != 0;
        let left = off & !after.active & !f.consulted;
        let returned = after.addr_depth < before.addr_depth;
        hits.hit_all(
            self.corners,
            Corner::UncoveredContPopped.when(breaks(op) && jump && f.cont & !waiting != 0)
                | Corner::HeldByOuterCont.when(why == Why::HeldByCont && cont & !waiting == 0)
                | Corner::BreakWithoutActive.when(breaks(op) && jump && f.active == 0)
                | Corner::ContinueWithoutActive.when(op == Op::Continue && jump && f.active == 0)
                | Corner::ElseBreak.when(breaks(op) && only_else)
                | Corner::ElseContinue.when(op == Op::Continue && only_else)
                | Corner::ElseIncr.when(f.else_off != 0 && f.b_op(jump) == BOp::Incr)
                | Corner::ElseAny.when(
                    f.forced.is_none()
                        && jump
                        && f.fc.jump_any
                        && f.else_off & voters != 0
                        && !others_want,
                )
                | Corner::UncoveredLeft.when(left & !pins.cov != 0)
                | Corner::CountIncr.when(f.forced.is_some() && f.b_op(jump) == BOp::Incr)
                | Corner::LoopSkipped.when(begins(op) && jump && f.kr > 0)
                | Corner::PushTop.when(pushed && before.pc == 511)
                | Corner::LoopNoVoter.when(begins(op) && jump && why == Why::NoVoter)
                | Corner::ElseEnd.when(ends(op) && f.else_off != 0)
                | Corner::EndDecides
                    .when(ends(op) && f.forced.is_none() && f.vote(voters & !f.returned) != jump)
                | Corner::CallFull.when(pushed && after.addr_depth == 4 && before.loop_depth == 4)
                | Corner::CallInLoop.when(pushed && before.loop_depth > 0)
                | Corner::ReturnInLoop.when(returned && before.loop_depth > 0)
                | Corner::DeepLc.when(before.lc[0] & before.lc[1] & waits != 0)
                | Corner::RepInherits.when(entered && op == Op::Rep && before.al != 0)
                | Corner::LoopHides
                    .when(entered && op == Op::Loop && before.loop_depth > 0 && f.kg != before.al)
                | Corner::PopAll.when(popped && waits & waiting != 0 && waits & !waiting != 0),
        );
    }
}
