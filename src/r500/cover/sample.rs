//! Counts the hits of a step, and remembers what the state does not show.

use super::axes::{
    AOp, AddrEnd, Any, BOp, Boolean, Came, Code, Corner, Covered, Effect, Failed, Fetched, Func,
    Highest, Ignore, InstKind, Inverted, Last, Left, Limit, LoopEnd, Mode, Offset, Open, Plain,
    PopCount, Position, Predicate, Present, Row, Stacking, Step, Target, Two, Where, Why, Woken,
    Wrap,
};
use super::instruction::{Flow, below, count, highest};
use super::{Bins, STACK, begins, breaks, ends, in_loop, pops_frame, pushes_frame};
use crate::axes::classes;
use crate::r500::golden::{Error, Event};
use crate::r500::isa::{AOp as AddrOp, Op, PredSel, Type};
use crate::r500::state::{In, State};
use reconverge_campaign::cover::{Decision, Hits, Level, Previous, ValueSet, Values};

/// Values that the state does not show: the registers taken at the launch, and the end of the last step.
#[derive(Debug, Default)]
pub struct Memory {
    pub(super) full: bool,
    pub(super) offset: u16,
    pub(super) end: u16,
    pub(super) lo: u16,
    pub(super) hi: u16,
    pub(super) came: Option<Came>,
    pub(super) previous: Option<InstKind>,
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
            came: None,
            previous: None,
        };
    }

    pub(super) fn mode(&self) -> Mode {
        if self.full { Mode::Full } else { Mode::Partial }
    }

    pub(super) fn offset(&self) -> Offset {
        if self.offset == 0 {
            Offset::Zero
        } else {
            Offset::More
        }
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
        let fetched = match (place, event) {
            (Position::Below | Position::Above, _) => Fetched::Outside,
            (_, Event::Halted(_)) => Fetched::Refused,
            _ => Fetched::Executed,
        };
        let came = m.came.unwrap_or(Came::Launch);
        hits.hit(self.fetches, (came, place, fetched));
        if fetched == Fetched::Outside {
            if let Event::Halted(code) = event {
                hits.hit(self.errors, (Failed::Fetch, Code::of(code)));
            }
            return;
        }
        let flow =
            (Type::from_bits(pins.cmn) == Type::Fc).then(|| Flow::new(before, pins, self.all));
        let kind = match (Type::from_bits(pins.cmn), &flow) {
            (Type::Alu, _) => InstKind::Alu,
            (Type::Out, _) => InstKind::Out,
            (_, None) => InstKind::Tex,
            (_, Some(flow)) => match (flow.fc.op, flow.fc.a_op) {
                (Op::Jump, AddrOp::Push) => InstKind::Call,
                (Op::Jump, AddrOp::Pop) => InstKind::Return,
                (Op::Jump, _) if flow.fc.b_else => InstKind::Else,
                (Op::Jump, _) => InstKind::Jump,
                (Op::Loop, _) => InstKind::Loop,
                (Op::EndLoop, _) => InstKind::EndLoop,
                (Op::Rep, _) => InstKind::Rep,
                (Op::EndRep, _) => InstKind::EndRep,
                (Op::BreakLoop, _) => InstKind::BreakLoop,
                (Op::BreakRep, _) => InstKind::BreakRep,
                (Op::Continue, _) => InstKind::Continue,
            },
        };
        hits.hit(self.neighbours, (Previous(m.previous), kind));
        if m.is_last(before.pc) {
            let last = match (kind, event) {
                (_, Event::Halted(_)) => Last::Error,
                (_, Event::FlowControl { jump: true }) => Last::Jumps,
                (_, Event::FlowControl { jump: false }) => Last::Stays,
                (InstKind::Alu, _) => Last::Alu,
                (InstKind::Out, _) => Last::Out,
                _ => Last::Tex,
            };
            let left = match after.active {
                active if active == self.all => Left::All,
                0 => Left::None,
                _ => Left::Some,
            };
            let open = match (after.loop_depth, after.addr_depth) {
                (0, 0) => Open::Nothing,
                (_, 0) => Open::Loops,
                (0, _) => Open::Calls,
                _ => Open::Both,
            };
            hits.hit(self.last, (last, left, open));
        }
        match &flow {
            None => {
                if let Some(plain) = Plain::of(kind) {
                    hits.hit(
                        self.plain,
                        (plain, Present::of(classes(before.st, self.all))),
                    );
                }
                m.came = Some(Came::Plain);
            }
            Some(flow) => {
                let outcome = match event {
                    Event::Halted(code) => Err(code),
                    _ => Ok(event == Event::FlowControl { jump: true }),
                };
                self.flow(m, flow, before, pins, outcome, after, hits);
                m.came = Some(if outcome == Ok(true) {
                    Came::Jumped
                } else {
                    Came::Stayed
                });
            }
        }
        m.previous = Some(kind);
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
        let ended = match outcome {
            Ok(false) => LoopEnd::Stay,
            Ok(true) => LoopEnd::Jump,
            Err(Error::LoopUnderflow) => LoopEnd::Underflow,
            Err(Error::LoopKind) => LoopEnd::InstKind,
            Err(Error::LoopOverflow) => LoopEnd::Overflow,
            Err(_) => LoopEnd::Other,
        };
        hits.hit(self.loop_stack, (op, level, ended));
        if let Some(stacking) = f.stacking() {
            let level = Level::of(before.addr_depth.into(), STACK);
            let ended = match outcome {
                Ok(false) => AddrEnd::Stay,
                Ok(true) => AddrEnd::Jump,
                Err(Error::AddrOverflow) => AddrEnd::Overflow,
                Err(Error::AddrUnderflow) => AddrEnd::Underflow,
                Err(_) => AddrEnd::Other,
            };
            hits.hit(self.addr_stack, (stacking, f.family(), level, ended));
        }
        if let Err(code) = outcome {
            hits.hit(self.errors, (Failed::at(op.index()), Code::of(code)));
        }

        // Errors 1 to 4 need no decision, so there is none to count.
        let illegal = f.reserved().fold(false, |_, what| {
            hits.hit(self.reserved, (op, what));
            true
        });
        let refused = !m.full && (op != Op::Jump || f.stacking().is_some());
        let underflow = in_loop(op) && f.top.is_none();
        let wrong_kind = f.top.is_some_and(|(rep, ..)| match op {
            Op::EndLoop | Op::BreakLoop => rep,
            Op::EndRep | Op::BreakRep => !rep,
            _ => false,
        });
        let mut both = ValueSet::default();
        let mut two = |first: bool, second: bool, what: Two| both.add_if(first && second, what);
        two(illegal, refused, Two::IllegalPartial);
        two(illegal, underflow, Two::IllegalUnderflow);
        two(illegal, wrong_kind, Two::IllegalKind);
        two(refused && !illegal, underflow, Two::PartialUnderflow);
        hits.hit_each(self.priority, both, |two| (two,));
        if !m.full && !illegal {
            let a_op = f.stacking().map_or(AOp::None, |s| match s {
                Stacking::Pop => AOp::Pop,
                Stacking::Push => AOp::Push,
            });
            hits.hit(self.partial, (op, a_op));
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
        hits.hit(
            self.decisions,
            (op, why, if f.fc.jump_any { Any::Any } else { Any::All }),
        );

        // Errors 5 to 9.
        let b_op = f.b_op(jump);
        let max = if m.full { 31 } else { 3 };
        let top_counter = (f.branch != 0).then(|| highest(&before.bc, f.branch));
        let at_limit = b_op == BOp::Incr && top_counter == Some(max);
        let target = f.target(m, before).filter(|_| jump);
        let outside =
            target.is_some_and(|t| matches!(m.place(t), Position::Below | Position::Above));
        let mut both = ValueSet::default();
        let mut two = |first: Error, second: bool, what: Two| {
            both.add_if(is(first) && second, what);
        };
        two(Error::LoopOverflow, at_limit, Two::LoopBranch);
        two(Error::AddrOverflow, at_limit, Two::PushBranch);
        two(Error::AddrOverflow, outside, Two::PushRange);
        two(Error::AddrUnderflow, at_limit, Two::PopBranch);
        two(Error::BranchOverflow, outside, Two::BranchRange);
        hits.hit_each(self.priority, both, |two| (two,));
        if outcome.is_ok() || is(Error::BranchOverflow) {
            let highest = match top_counter {
                None => Highest::None,
                Some(0) => Highest::Zero,
                Some(n) if n == max => Highest::Max,
                Some(n) if n == max - 1 => Highest::AlmostMax,
                Some(1) => Highest::One,
                Some(_) => Highest::Middle,
            };
            let limit = Limit::from(outcome.is_err());
            hits.hit(self.counters, (m.mode(), highest, b_op, limit));
        }
        if let Some(target) = target.filter(|_| outcome.is_ok() || is(Error::PcRange)) {
            let place = match m.place(target) {
                Position::Below => Where::Below,
                Position::Above => Where::Above,
                _ if target == before.pc => Where::Itself,
                _ if target == before.pc + 1 => Where::Next,
                _ if target < before.pc => Where::Back,
                _ => Where::Forward,
            };
            let how = match f.fc.a_op {
                AddrOp::Pop => Target::Popped,
                _ if f.fc.jump_global => Target::Global,
                _ => Target::Relative,
            };
            hits.hit(self.targets, (how, place, m.offset()));
        }
        if outcome.is_err() {
            return;
        }

        hits.hit(self.classes, (op, Present::of(f.before), decision));
        self.votes(f, pins, jump, hits);
        self.lanes(f, before, jump, hits);
        if begins(op) {
            hits.hit(
                self.begins,
                (f.loop_kind(), count(f.kr), f.around, decision),
            );
        }
        if let Some((_, left, al)) = f.top.filter(|_| ends(op)) {
            hits.hit(self.ends, (f.loop_kind(), count(left), f.around, decision));
            if op == Op::EndLoop && jump {
                let step = match f.kb {
                    0 => Step::Zero,
                    kb if kb < 0 => Step::Down,
                    _ => Step::Up,
                };
                let wrap = match i16::from(al) + i16::from(f.kb) {
                    sum if sum < 0 => Wrap::Below,
                    sum if sum > 255 => Wrap::Above,
                    _ => Wrap::None,
                };
                hits.hit(self.al, (step, wrap, f.around));
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
            let predicate = match f.fc.pred_sel {
                PredSel::R => Predicate::R,
                PredSel::G => Predicate::G,
                PredSel::B => Predicate::B,
                PredSel::A => Predicate::A,
                _ => Predicate::None,
            };
            let inverted = if f.fc.pred_inv {
                Inverted::Yes
            } else {
                Inverted::No
            };
            let func = match f.fc.jump_func {
                0x00 => Func::Never,
                0xff => Func::Always,
                0x0f => Func::IfNotAlu,
                0xf0 => Func::IfAlu,
                0x33 => Func::IfNotPred,
                0xcc => Func::IfPred,
                0x55 => Func::IfNotBool,
                0xaa => Func::IfBool,
                _ => Func::Other,
            };
            let boolean = if f.boolean {
                Boolean::One
            } else {
                Boolean::Zero
            };
            hits.hit(self.conditions, (predicate, inverted, func, boolean));
        }
        let ignore = if f.fc.ignore_uncovered {
            Ignore::Yes
        } else {
            Ignore::No
        };
        let covered = match pins.cov & self.all {
            cov if cov == self.all => Covered::All,
            0 => Covered::None,
            _ => Covered::Some,
        };
        let effect = if f.decide(self.all).0 == jump {
            Effect::Same
        } else {
            Effect::Other
        };
        hits.hit(self.coverage, (f.family(), ignore, covered, effect));
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
            let count = match pop {
                0 => PopCount::Zero,
                1 => PopCount::One,
                2 => PopCount::Two,
                31 => PopCount::Most,
                _ => PopCount::More,
            };
            let woken = match (f.branch, wakes) {
                (0, _) => Woken::NoLane,
                (_, 0) => Woken::None,
                (branch, wakes) if branch == wakes => Woken::All,
                _ => Woken::Some,
            };
            hits.hit(self.pops, (count, woken, decision));
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
        let mut corners = ValueSet::default();
        let mut corner = |is: bool, corner: Corner| corners.add_if(is, corner);
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
        corner(
            breaks(op) && jump && f.cont & !waiting != 0,
            Corner::UncoveredContPopped,
        );
        corner(
            why == Why::HeldByCont && cont & !waiting == 0,
            Corner::HeldByOuterCont,
        );
        corner(
            breaks(op) && jump && f.active == 0,
            Corner::BreakWithoutActive,
        );
        corner(
            op == Op::Continue && jump && f.active == 0,
            Corner::ContinueWithoutActive,
        );
        corner(breaks(op) && only_else, Corner::ElseBreak);
        corner(op == Op::Continue && only_else, Corner::ElseContinue);
        corner(
            f.else_off != 0 && f.b_op(jump) == BOp::Incr,
            Corner::ElseIncr,
        );
        let voters = f.voters(f.consulted);
        let others_want = voters & f.want & !f.else_off != 0;
        corner(
            f.forced.is_none() && jump && f.fc.jump_any && f.else_off & voters != 0 && !others_want,
            Corner::ElseAny,
        );
        let left = off & !after.active & !f.consulted;
        corner(left & !pins.cov != 0, Corner::UncoveredLeft);
        corner(
            f.forced.is_some() && f.b_op(jump) == BOp::Incr,
            Corner::CountIncr,
        );
        corner(begins(op) && jump && f.kr > 0, Corner::LoopSkipped);
        corner(pushed && before.pc == 511, Corner::PushTop);
        corner(
            begins(op) && jump && why == Why::NoVoter,
            Corner::LoopNoVoter,
        );
        corner(ends(op) && f.else_off != 0, Corner::ElseEnd);
        corner(
            ends(op) && f.forced.is_none() && f.vote(voters & !f.returned) != jump,
            Corner::EndDecides,
        );
        corner(
            pushed && after.addr_depth == 4 && before.loop_depth == 4,
            Corner::CallFull,
        );
        corner(pushed && before.loop_depth > 0, Corner::CallInLoop);
        let returned = after.addr_depth < before.addr_depth;
        corner(returned && before.loop_depth > 0, Corner::ReturnInLoop);
        corner(before.lc[0] & before.lc[1] & waits != 0, Corner::DeepLc);
        corner(
            entered && op == Op::Rep && before.al != 0,
            Corner::RepInherits,
        );
        corner(
            entered && op == Op::Loop && before.loop_depth > 0 && f.kg != before.al,
            Corner::LoopHides,
        );
        corner(
            popped && waits & waiting != 0 && waits & !waiting != 0,
            Corner::PopAll,
        );
        hits.hit_each(self.corners, corners, |corner| (corner,));
    }
}
