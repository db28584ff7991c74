//! Counts the hits of a step, and remembers what the state does not show.

use super::axes::{
    Active, Base, Branched, Brancher, Came, Cc, Code, Conditional, Corner, End, Entry, Failed,
    Fetched, Formula, Ignored, Indirect, InstKind, Inverted, Kept, Leaver, Legal, Mask, Names,
    Opcode, Others, Popped, Position, Pred, Pushed, Pusher, Register, Rest, Result, Slot, Status,
    Taken, Test, Top, Turns, Two, Unanimous, Vis, Waiting, Where,
};
use super::instruction::{Instruction, taken};
use super::{Bins, DIV, EMPTY, PBK, PCNT, RET, SSY};
use crate::axes::present;
use crate::spa5::golden::{Error, Event, Golden};
use crate::spa5::isa::{norm, seq};
use crate::spa5::state::{In, State};
use reconverge_campaign::cover::{Hits, Level, Previous, ValueSet, Values};

/// Values that the state does not show: operands of the launch, and the step before.
#[derive(Debug, Default)]
pub struct Memory {
    pub(super) prog_base: u32,
    pub(super) prog_size: u32,
    pub(super) came: Option<Came>,
    pub(super) previous: Option<InstKind>,
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
        let rest = if status == Status::Err {
            Rest::Err
        } else {
            Rest::Done
        };
        let mask = match pins.launch_mask & self.all {
            0 => Mask::None,
            mask if mask == self.all => Mask::All,
            mask if mask.is_power_of_two() => Mask::One,
            _ => Mask::Some,
        };
        let first = norm(pins.prog_base.wrapping_add(pins.entry));
        let entry = match pins.entry {
            _ if !m.holds(first.into()) => Entry::Behind,
            entry if entry.is_multiple_of(32) => Entry::Control,
            _ => Entry::Slot,
        };
        hits.hit(self.launches, (rest, mask, entry));
        let base = match pins.prog_base {
            0 => Base::Zero,
            base if base.wrapping_add(pins.prog_size) == 0 => Base::Last,
            base if base >> 31 == 0 => Base::Low,
            _ => Base::High,
        };
        hits.hit(self.bases, (base,));
    }

    /// Counts a completed step.
    pub(super) fn completed(&self, m: &mut Memory, fetched: Fetched, hits: &mut Hits) {
        if let Some((came, place)) = m.step.take() {
            hits.hit(self.fetches, (came, place, fetched));
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
        hits.hit(self.neighbours, (Previous(m.previous), i.kind));
        m.previous = Some(i.kind);
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
            hits.hit(self.errors, (Failed::of(i.kind), Code(code as u8 - 1)));
        }
        self.conditions(&i, before, pins, hits);
        self.target(m, &i, before, slot, error, hits);
        if let Some(leaver) = Leaver::of(i.kind).filter(|_| i.tested) {
            let left = taken(i.condition, before.active);
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
        let inverted = if i.bit(19) {
            Inverted::Yes
        } else {
            Inverted::No
        };
        let predicate = Pred((i.word >> 16 & 7) as u8);
        hits.hit(self.predicates, (conditional, predicate, inverted));
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
        let codes = ValueSet::new(present(threads).into());
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
                !i.unanimous && taken(i.condition, before.active) == Taken::Some
            }
            kind => !kind.is_indirect(),
        };
        let mut both = ValueSet::default();
        let mut two = |first: Error, second: bool, what: Two| {
            both.add_if(error == Some(first) && second, what);
        };
        two(
            Error::Unsupported,
            !i.tested && misaligned,
            Two::TestMisaligned,
        );
        two(
            Error::Unsupported,
            !i.tested && outside && !misaligned,
            Two::TestRange,
        );
        two(Error::TargetMisaligned, outside, Two::MisalignedRange);
        two(Error::TargetMisaligned, pushes && full, Two::MisalignedFull);
        two(Error::TargetRange, pushes && full, Two::RangeFull);
        hits.hit_each(self.priority, both, |two| (two,));
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
            let names = if target % 32 == 0 {
                Names::Control
            } else {
                Names::Slot
            };
            hits.hit(self.names, (pusher, names));
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
        let left = taken(i.condition, before.active);
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
            let unanimous = if i.unanimous {
                Unanimous::Yes
            } else {
                Unanimous::No
            };
            let ended = match (ended, left) {
                (Pushed::Full, _) => Branched::Full,
                (Pushed::Range, _) => Branched::Range,
                (Pushed::Misaligned, _) => Branched::Misaligned,
                (_, Taken::All) => Branched::Jumps,
                (_, Taken::Some) if !i.unanimous => Branched::Divides,
                _ => Branched::Through,
            };
            hits.hit(self.branches, (brancher, unanimous, left, ended));
        }
        if let Some(register) = Register::of(i.kind) {
            let ended = match (ended, left) {
                (Pushed::Full, Taken::All) => Indirect::RegisterFull,
                (Pushed::Full, _) => Indirect::ConditionFull,
                (Pushed::Range, _) => Indirect::Range,
                (Pushed::Misaligned, _) => Indirect::Misaligned,
                (_, Taken::None) => Indirect::NoThread,
                (_, Taken::Some) => Indirect::Condition,
                _ if state.sp > before.sp => Indirect::Register,
                _ => Indirect::Together,
            };
            hits.hit(self.indirect, (register, ended));
        }
    }

    fn executed(&self, i: &Instruction, before: &State, constant: u32, hits: &mut Hits) {
        let Some(legal) = Legal::of(i.kind) else {
            return;
        };
        let active = match before.active {
            active if active == self.all => Active::All,
            active if active.is_power_of_two() => Active::One,
            _ => Active::Some,
        };
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
        let mut all = ValueSet::default();
        let mut ignored = |is: bool, what: Ignored| all.add_if(is, what);
        ignored(bank && constant >> 24 != 0, Ignored::Constant);
        ignored(i.kind == InstKind::Jcal && !i.bit(6), Ignored::JcalNoinc);
        ignored(i.kind == InstKind::Jmp && i.bit(6), Ignored::JmpLmt);
        ignored(i.kind == InstKind::Cal && !i.bit(6), Ignored::Noinc);
        ignored(i.kind == InstKind::Pret && !i.bit(6), Ignored::PretNoinc);
        ignored(i.kind == InstKind::Bra && i.bit(6), Ignored::Lmt);
        ignored(i.kind == InstKind::Exit && i.bit(5), Ignored::KeepRefCount);
        let set_up = i.kind < InstKind::Bra;
        ignored(set_up && i.word & 0xf_001f != 0, Ignored::SetUp);
        hits.hit_each(self.ignored, all, |what| (what,));
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
        let (result, others) = match event {
            Event::Popped => (Result::Over, Others::NoThread),
            Event::Resumed => (Result::Resumes, Others::Some),
            _ => (Result::Done, Others::NoThread),
        };
        hits.hit(self.unwinds, (leaver, popped, result));
        if event != Event::Popped {
            let turns = match m.turns {
                0 | 1 => Turns::One,
                2 => Turns::Two,
                3 | 4 => Turns::Few,
                _ => Turns::Many,
            };
            let end = if event == Event::Finished {
                End::Done
            } else {
                End::Run
            };
            hits.hit(self.turns, (leaver, turns, end));
        }
        if popped != Popped(EMPTY) {
            let mask = before.top_mask;
            let mut keeps = ValueSet::default();
            for (flag, kept) in [
                (after.d_brk, Kept::Brk),
                (after.d_cont, Kept::Cont),
                (after.d_ret, Kept::Ret),
                (after.exited, Kept::Exited),
            ] {
                keeps.add_if(mask & flag != 0, kept);
            }
            hits.hit_each(self.kept, keeps, |kept| (popped, kept, others));
        }
        let mut corners = ValueSet::default();
        let mut corner = |is: bool, what: Corner| corners.add_if(is, what);
        let resumes = event == Event::Resumed;
        let over = |kind: u8, flag: u64| resumes && popped == Popped(kind) && flag != 0;
        corner(over(PBK, after.d_brk), Corner::MoreBrk);
        corner(over(PCNT, after.d_cont), Corner::MoreCont);
        corner(over(RET, after.d_ret), Corner::MoreRet);
        corner(before.vis != after.vis, Corner::VisRestored);
        corner(resumes && popped == Popped(SSY), Corner::SyncWaits);
        let full = usize::from(before.sp) == self.depth;
        corner(full, Corner::FullUnwinds);
        let first = m.turns == 1;
        let finished = event == Event::Finished;
        corner(finished && first, Corner::AllExit);
        corner(finished && !first, Corner::LastExit);
        hits.hit_each(self.corners, corners, |corner| (corner,));
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
        let mut corners = ValueSet::default();
        let mut corner = |is: bool, what: Corner| corners.add_if(is, what);
        corner(
            pushed && i.kind == InstKind::Pcnt && lands(before.pc),
            Corner::SelfPcnt,
        );
        corner(recursion, Corner::Recursion);
        corner(separated, Corner::Separated);
        corner(
            left && i.kind.need() & !before.vis != 0,
            Corner::UntakenLeave,
        );
        corner(left && i.kind.is_branch() && outside, Corner::UntakenTarget);
        corner(
            pushed && behind && matches!(i.kind, InstKind::Cal | InstKind::Bra),
            Corner::Behind,
        );
        corner(
            fine && before.pc == u32::MAX - 7 && after.state().pc == 8,
            Corner::EndOfSpace,
        );
        let killed = before.killed != 0 && i.condition != 0;
        corner(
            fine && killed && i.kind == InstKind::Kil,
            Corner::StillKilled,
        );
        corner(fine && killed && i.kind == InstKind::Exit, Corner::Exits);
        corner(fine && i.wraps && self.looks(i, before), Corner::Wraps);
        hits.hit_each(self.corners, corners, |corner| (corner,));
        let no_token = Leaver::of(i.kind).is_some() && i.kind.need() & !before.vis != 0;
        hits.hit_if(
            error == Some(Error::Unsupported) && !i.tested && no_token,
            self.priority,
            (Two::TestToken,),
        );
    }
}
