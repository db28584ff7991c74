//! Counts the hits of a step, and remembers what the state does not show.

use super::axes::{
    Active, Base, Branched, Brancher, Came, Cc, Code, Conditional, Corner, End, Entry, Fails,
    Fetched, Formula, Ignored, Indirect, InstKind, Inverted, Kept, Leaver, Legal, Mask, Names,
    Opcode, Others, Popped, Position, Pred, Pushed, Pusher, Register, Result, Slot, Status,
    Stopped, Taken, Test, Top, Turns, Two, Unanimous, Vis, Waiting, Where,
};
use super::instruction::Instruction;
use super::{Bins, DIV, EMPTY, PBK, PCNT, RET, SSY};
use crate::axes::Failed;
use crate::spa5::golden::{Error, Event, Golden};
use crate::spa5::isa::{norm, seq};
use crate::spa5::state::{In, State};
use reconverge_campaign::cover::{Hits, Level, Previous, ValueSet, Values as _, present};

/// Values that the state does not show: operands of the launch, and the step before.
#[derive(Debug, Default)]
pub struct Memory {
    pub(super) prog_base: u32,
    pub(super) prog_size: u32,
    pub(super) came: Option<Came>,
    pub(super) previous: Previous<InstKind>,
    /// The current step.
    pub(super) step: Option<(Came, Position)>,
    pub(super) leaver: Option<Leaver>,
    /// Cycles of its unwind.
    pub(super) turns: u32,
}

impl Memory {
    /// Returns whether an address lies in the program.
    fn holds(&self, address: i64) -> bool {
        (0..i64::from(self.prog_size)).contains(&(address - i64::from(self.prog_base)))
    }
}

impl Bins {
    pub(super) fn launch(&self, m: &mut Memory, status: Status, pins: &In, hits: &mut Hits) {
        *m = Memory {
            prog_base: pins.prog_base,
            prog_size: pins.prog_size,
            ..Memory::default()
        };
        let mask = Mask::of((pins.launch_mask & self.all, self.all));
        let first = norm(pins.prog_base.wrapping_add(pins.entry));
        let entry = Entry::of((pins.entry, m.holds(first.into())));
        let stopped = Stopped(status == Status::Err);
        hits.hit(self.launches, (stopped, mask, entry));
        let end = pins.prog_base.wrapping_add(pins.prog_size);
        hits.hit(self.bases, (Base::of((pins.prog_base, end)),));
    }

    /// Counts a completed step, which may have been an error.
    pub(super) fn completed(&self, m: &mut Memory, error: Option<Error>, hits: &mut Hits) {
        if let Some((came, place)) = m.step.take() {
            hits.hit(self.fetches, (came, place, Fetched::of(error)));
        }
    }

    /// Counts the cycle in which an instruction executed or failed.
    pub(super) fn instruction(
        &self,
        m: &mut Memory,
        before: &State,
        pins: &In,
        after: &Golden,
        error: Option<Error>,
        hits: &mut Hits,
    ) {
        let i = Instruction::new(pins.word, before, pins, self.brx, self.csm);
        let slot = Slot::at((before.pc / 8 % 4).saturating_sub(1) as usize);
        m.step = Some((m.came.unwrap_or(Came::Launch), Position::at(slot.index())));
        hits.hit_next(self.neighbours, &mut m.previous, i.kind);
        m.leaver = Leaver::of(i.kind);
        hits.hit_bits(self.addresses, before.pc >> 3);

        let opcode = match i.kind {
            InstKind::Sync => 32,
            InstKind::Other => 33,
            _ => (i.word >> 52) as u8 & 0x1f,
        };
        let by_opcode =
            error.is_none() || matches!(i.kind, InstKind::Illegal | InstKind::Unsupported);
        hits.hit_if(by_opcode, self.opcodes, (Opcode(opcode),));
        let banked = match i.kind {
            InstKind::Bank => match opcode {
                0 => Some(InstKind::Jmx),
                1 => Some(InstKind::Jmp),
                2 => Some(InstKind::Jcal),
                _ => Some(InstKind::Brx),
            },
            kind => Some(kind).filter(|_| i.bit(5)),
        };
        if let Some(pusher) = banked.and_then(Pusher::of) {
            hits.hit(self.banks, (pusher,));
        }
        if let Some(code) = error {
            hits.hit(self.errors, (Failed(Fails::of(i.kind)), Code::of(code)));
        }
        self.conditions(&i, before, pins, hits);
        self.target(m, &i, before, slot, error, hits);
        if let Some(leaver) = Leaver::of(i.kind).filter(|_| i.tested) {
            let left = Taken::of((i.condition, before.active));
            hits.hit(self.leaves, (leaver, left, Vis(before.vis)));
        }
        self.push(&i, before, after, error, hits);
        if error.is_none() {
            debug_assert!(
                i.unanimous || after.taken() == i.condition,
                "{i:x?}",
                i = i.word
            );
            self.executed(&i, before, pins.constant, hits);
        }
        self.corner_cases(m, &i, before, after, error, hits);
    }

    fn conditions(&self, i: &Instruction, before: &State, pins: &In, hits: &mut Hits) {
        let Some(conditional) = Conditional::of(i.kind) else {
            return;
        };
        let code = (i.word & 0x1f) as u8;
        hits.hit(self.tests, (conditional, Test(code)));
        if !i.tested {
            return;
        }
        let predicate = Pred((i.word >> 16 & 7) as u8);
        let point = (conditional, predicate, Inverted(i.bit(19)));
        hits.hit(self.predicates, point);
        if usize::from(code) >= Formula::COUNT {
            // A test of the clip state machine uses no condition code.
            return;
        }
        // Threads by condition code: divided by each of its bits in turn.
        let mut threads = [before.active; 16];
        for (bit, plane) in pins.cc.iter().enumerate() {
            for cc in 0..1 << bit {
                threads[cc | 1 << bit] = threads[cc] & plane;
                threads[cc] &= !plane;
            }
        }
        let codes = ValueSet::present(threads);
        hits.hit_each(self.codes, codes, |cc: Cc| (Formula(code), cc));
    }

    /// Returns whether the target is used: by set-up instructions always, by branches when they jump.
    fn looks(&self, i: &Instruction, before: &State) -> bool {
        match i.kind {
            InstKind::Bra | InstKind::Jmp if i.unanimous => i.condition == before.active,
            InstKind::Bra | InstKind::Jmp => i.condition != 0,
            InstKind::Brx | InstKind::Jmx => i.condition == before.active,
            _ => true,
        }
    }

    fn target(
        &self,
        m: &Memory,
        i: &Instruction,
        before: &State,
        slot: Slot,
        error: Option<Error>,
        hits: &mut Hits,
    ) {
        let (Some(pusher), Some(target)) = (Pusher::of(i.kind), i.target) else {
            return;
        };
        let misaligned = target % 8 != 0;
        let outside = !m.holds(target);
        let full = usize::from(before.sp) == self.depth;
        // Instructions that push in any case.
        let pushes = match i.kind {
            kind if kind.is_branch() => {
                !i.unanimous && Taken::of((i.condition, before.active)) == Taken::Some
            }
            kind => !kind.is_indirect(),
        };
        let is = |code: Error| error == Some(code);
        let untested = is(Error::Unsupported) && !i.tested;
        hits.hit_all(
            self.priority,
            Two::TestMisaligned.when(untested && misaligned)
                | Two::TestRange.when(untested && outside && !misaligned)
                | Two::MisalignedRange.when(is(Error::TargetMisaligned) && outside)
                | Two::MisalignedFull.when(is(Error::TargetMisaligned) && pushes && full)
                | Two::RangeFull.when(is(Error::TargetRange) && pushes && full),
        );
        if !i.tested || !self.looks(i, before) {
            return;
        }
        let place = match target {
            _ if misaligned => Where::Misaligned,
            to if to < m.prog_base.into() => Where::Below,
            _ if outside => Where::Behind,
            to => match norm(to as u32) {
                to if to == before.pc => Where::Itself,
                to if to == seq(before.pc) => Where::Next,
                to if to < before.pc => Where::Back,
                _ => Where::Forward,
            },
        };
        hits.hit(self.targets, (pusher, place, slot));
        if !misaligned && !outside {
            hits.hit(self.names, (pusher, Names(target % 32 == 0)));
        }
    }

    fn push(
        &self,
        i: &Instruction,
        before: &State,
        after: &Golden,
        error: Option<Error>,
        hits: &mut Hits,
    ) {
        let state = after.state();
        let left = Taken::of((i.condition, before.active));
        let ended = match error {
            None => Pushed::Done,
            Some(Error::StackOverflow) => Pushed::Full,
            Some(Error::TargetRange) => Pushed::Range,
            Some(Error::TargetMisaligned) => Pushed::Misaligned,
            Some(_) => return,
        };
        let pushes = match i.kind {
            kind if kind.is_branch() => !i.unanimous && left == Taken::Some,
            kind if kind.is_indirect() => state.sp > before.sp || ended == Pushed::Full,
            _ => true,
        };
        let level = Level::of(before.sp.into(), self.depth);
        if let Some(pusher) = Pusher::of(i.kind).filter(|_| pushes) {
            hits.hit(self.pushes, (pusher, level, ended));
            if ended == Pushed::Done {
                hits.hit(self.visible, (pusher, Vis(before.vis)));
                hits.hit(self.tokens, (pusher, Top(before.top_type)));
            }
        }
        if let Some(brancher) = Brancher::of(i.kind) {
            let branched = Branched::of((ended, left, i.unanimous));
            let point = (brancher, Unanimous(i.unanimous), left, branched);
            hits.hit(self.branches, point);
        }
        if let Some(register) = Register::of(i.kind) {
            let indirect = Indirect::of((ended, left, state.sp > before.sp));
            hits.hit(self.indirect, (register, indirect));
        }
    }

    fn executed(&self, i: &Instruction, before: &State, constant: u32, hits: &mut Hits) {
        let Some(legal) = Legal::of(i.kind) else {
            return;
        };
        let active = Active::of((before.active, self.all));
        hits.hit(self.active, (legal, active));
        let dis = before.d_brk | before.d_cont | before.d_ret | before.exited;
        let parked = self.all & !dis & !before.active;
        let waiting = present([
            before.d_brk,
            before.d_cont,
            before.d_ret,
            before.exited,
            parked,
        ]);
        hits.hit(self.waiting, (legal, Waiting(waiting as u8)));
        let bank = i.bit(5) && Pusher::of(i.kind).is_some();
        let set_up = i.kind < InstKind::Bra;
        hits.hit_all(
            self.ignored,
            Ignored::Constant.when(bank && constant >> 24 != 0)
                | Ignored::JcalNoinc.when(i.kind == InstKind::Jcal && !i.bit(6))
                | Ignored::JmpLmt.when(i.kind == InstKind::Jmp && i.bit(6))
                | Ignored::Noinc.when(i.kind == InstKind::Cal && !i.bit(6))
                | Ignored::PretNoinc.when(i.kind == InstKind::Pret && !i.bit(6))
                | Ignored::Lmt.when(i.kind == InstKind::Bra && i.bit(6))
                | Ignored::KeepRefCount.when(i.kind == InstKind::Exit && i.bit(5))
                | Ignored::SetUp.when(set_up && i.word & 0xf_001f != 0),
        );
    }

    /// Counts a cycle of an unwind.
    pub(super) fn turn(
        &self,
        m: &mut Memory,
        before: &State,
        event: Event,
        after: &State,
        hits: &mut Hits,
    ) {
        let Some(leaver) = m.leaver else {
            return;
        };
        m.turns += 1;
        let popped = Popped(before.top_type);
        let (result, others) = (Result::of(event), Others(event == Event::Resumed));
        hits.hit(self.unwinds, (leaver, popped, result));
        let finished = event == Event::Finished;
        if event != Event::Popped {
            hits.hit(self.turns, (leaver, Turns::of(m.turns), End(finished)));
        }
        if popped != Popped(EMPTY) {
            let flags = [after.d_brk, after.d_cont, after.d_ret, after.exited];
            let keeps = ValueSet::present(flags.map(|flag| before.top_mask & flag));
            hits.hit_each(self.kept, keeps, |kept: Kept| (popped, kept, others));
        }
        let resumes = event == Event::Resumed;
        let over = |kind: u8, flag: u64| resumes && popped == Popped(kind) && flag != 0;
        hits.hit_all(
            self.corners,
            Corner::MoreBrk.when(over(PBK, after.d_brk))
                | Corner::MoreCont.when(over(PCNT, after.d_cont))
                | Corner::MoreRet.when(over(RET, after.d_ret))
                | Corner::VisRestored.when(before.vis != after.vis)
                | Corner::SyncWaits.when(resumes && popped == Popped(SSY))
                | Corner::FullUnwinds.when(usize::from(before.sp) == self.depth)
                | Corner::AllExit.when(finished && m.turns == 1)
                | Corner::LastExit.when(finished && m.turns != 1),
        );
    }

    fn corner_cases(
        &self,
        m: &Memory,
        i: &Instruction,
        before: &State,
        after: &Golden,
        error: Option<Error>,
        hits: &mut Hits,
    ) {
        let fine = error.is_none();
        let pushed = fine && after.state().sp > before.sp;
        let lands = |address: u32| i.target == Some(address.into());
        let divided = pushed && (i.kind.is_branch() || i.kind.is_indirect());
        // Going through all tokens takes time; few pushes reach this height.
        let separated = divided
            && u32::from(before.sp) + 1 >= self.lanes - 1
            && after.tokens().iter().filter(|t| t.kind == DIV).count() + 1 == self.lanes as usize;
        let recursion = pushed
            && matches!(i.kind, InstKind::Cal | InstKind::Jcal)
            && after
                .tokens()
                .iter()
                .filter(|t| t.kind == RET && t.addr == seq(before.pc))
                .count()
                > 1;
        let left = i.tested && i.condition == 0;
        let outside = i.target.is_some_and(|t| t % 8 != 0 || !m.holds(t));
        let behind = !m.holds(seq(before.pc).into());
        let killed = before.killed != 0 && i.condition != 0;
        let no_token = i.kind.need() & !before.vis != 0;
        hits.hit_all(
            self.corners,
            Corner::SelfPcnt.when(pushed && i.kind == InstKind::Pcnt && lands(before.pc))
                | Corner::Recursion.when(recursion)
                | Corner::Separated.when(separated)
                | Corner::UntakenLeave.when(left && no_token)
                | Corner::UntakenTarget.when(left && i.kind.is_branch() && outside)
                | Corner::Behind
                    .when(pushed && behind && matches!(i.kind, InstKind::Cal | InstKind::Bra))
                | Corner::EndOfSpace
                    .when(fine && before.pc == u32::MAX - 7 && after.state().pc == 8)
                | Corner::StillKilled.when(fine && killed && i.kind == InstKind::Kil)
                | Corner::Exits.when(fine && killed && i.kind == InstKind::Exit)
                | Corner::Wraps.when(fine && i.wraps && self.looks(i, before)),
        );
        let untested = error == Some(Error::Unsupported) && !i.tested;
        let leaves = Leaver::of(i.kind).is_some();
        let both = Two::TestToken.when(untested && leaves && no_token);
        hits.hit_all(self.priority, both);
    }
}
