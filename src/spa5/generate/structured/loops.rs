//! Loops, and the statements that leave them.

use rand::Rng;

use super::{At, Builder, Loop, Way};
use crate::spa5::isa::{Cond, Label, LeaveOp, SetUpOp};
use reconverge_program::generate::{choose, when};

impl<R: Rng + ?Sized> Builder<'_, R> {
    pub(super) fn loop_(&mut self, at: &At) {
        let o = self.options;
        // The least probability to leave in a pass, and the resulting number of passes for some threads of 32.
        let (mut least, mut passes) = choose(
            self.rng,
            &[
                ((0.75, 2), 6),
                ((0.5, 3), 5),
                ((0.25, 6), 2),
                ((1.0 / 16.0, 16), 1),
            ],
        );
        if at.passes * passes * 8 > self.time {
            (least, passes) = (0.75, 2);
        }
        if at.passes * passes * 8 > self.time {
            return self.plain(at);
        }
        self.met_if(passes == 16, "exits 1 in 16");
        // No thread continues after the loop: rare if that is the end of the program.
        let out = at.brk.is_some() || at.sub;
        let no_end = o.continues && (out || self.chance(if at.ifs > 0 { 4 } else { 1 }));
        let kind = choose(
            self.rng,
            &[
                (Loop::PbkPcnt, when(o.breaks && o.continues, 6)),
                (Loop::PcntLatch, when(o.breaks && o.continues, 3)),
                (Loop::PcntLatchOnly, when(o.continues, 2)),
                (Loop::Pcnt, when(no_end, 1)),
                (Loop::Pbk, when(o.breaks, 3)),
                (Loop::Ssy, when(o.plain_loops, 2)),
                (Loop::Bare, when(o.plain_loops, 1)),
                (Loop::Ssy, when(!o.breaks && !o.continues, 1)),
            ],
        );
        self.met_if(at.loops > 0, "loop in a loop");
        self.met_if(at.ifs > 0, "loop under an IF");
        self.met_if(at.sub, "loop in a subroutine");
        match kind {
            Loop::PbkPcnt | Loop::Pcnt => self.pcnt_loop(at, kind, least, passes),
            Loop::PcntLatch | Loop::PcntLatchOnly => self.latch_loop(at, kind, least, passes),
            Loop::Pbk | Loop::Ssy | Loop::Bare => self.back_loop(at, kind, least, passes),
        }
    }

    /// Adds a PCNT to itself.
    fn pcnt_loop(&mut self, at: &At, kind: Loop, least: f64, passes: i64) {
        let end = self.label();
        let mut outer = *at;
        let out = if kind == Loop::PbkPcnt {
            self.met("PBK and PCNT loop");
            self.set_up(at, SetUpOp::Pbk, end);
            outer = self.pushed(at);
            outer.brk = Some(Way { loops: 0, ifs: 0 });
            if self.chance(3) {
                self.plain(&outer);
            }
            LeaveOp::Brk
        } else {
            // Leave the statement around the loop.
            self.met("PCNT loop");
            match (at.brk, at.ret) {
                (Some(_), _) => LeaveOp::Brk,
                (None, true) => LeaveOp::Ret,
                (None, false) => LeaveOp::Exit,
            }
        };
        let head = self.label();
        self.bind(head);
        let brk = outer.brk;
        let mut body = Self::in_loop(&outer, passes);
        if kind == Loop::PbkPcnt {
            body.brk = brk;
        }
        self.set_up(&body, SetUpOp::Pcnt, head);
        body = self.pushed(&body);
        // Until it is past the exits, a thread may not continue: it might do so for ever.
        body.cont = None;
        let stubs = self.exits(&body, out, least);
        body.cont = Some(Way { loops: 0, ifs: 0 });
        self.block(&body, 0);
        if kind == Loop::PbkPcnt && self.chance(3) {
            let cond = self.cond();
            self.leave_now(&body, LeaveOp::Cont, cond);
            self.leave_now(&body, LeaveOp::Brk, Cond::ALWAYS);
        } else {
            self.leave_now(&body, LeaveOp::Cont, Cond::ALWAYS);
        }
        self.stubs(&body, out, &stubs);
        self.dead_code(&body);
        self.bind(end);
    }

    /// Adds a PCNT to the latch, where the exits are: CONT may be anywhere before.
    fn latch_loop(&mut self, at: &At, kind: Loop, least: f64, passes: i64) {
        let end = self.label();
        let with_pbk = kind == Loop::PcntLatch;
        // Reconverge after the loop, if not by PBK.
        let with_ssy = !with_pbk && self.chance(10);
        let staying = self.staying(least);
        if !with_pbk && staying.is_none() {
            return self.plain(at);
        }
        self.met(if with_pbk {
            "PCNT latch"
        } else {
            "PCNT latch without PBK"
        });
        let mut outer = *at;
        if with_pbk || with_ssy {
            self.set_up(at, if with_pbk { SetUpOp::Pbk } else { SetUpOp::Ssy }, end);
            outer = self.pushed(at);
            outer.sync = with_ssy;
        }
        let mut latch_at = Self::in_loop(&outer, passes);
        if with_pbk {
            latch_at.brk = Some(Way { loops: 0, ifs: 0 });
        }
        let (head, latch) = (self.label(), self.label());
        self.bind(head);
        self.set_up(&latch_at, SetUpOp::Pcnt, latch);
        let mut body = self.pushed(&latch_at);
        body.cont = Some(Way { loops: 0, ifs: 0 });
        self.block(&body, 1);
        self.leave_now(&body, LeaveOp::Cont, Cond::ALWAYS);
        self.dead_code(&body);
        self.bind(latch);
        // A CONT in the latch would continue an outer loop, so the exits must not rely on it.
        match staying {
            Some(cond) if !with_pbk || self.chance(6) => {
                self.other(&latch_at);
                self.bra(&latch_at, cond, head);
                self.met("do-while");
                match (with_pbk, with_ssy) {
                    (true, _) => self.leave_now(&latch_at, LeaveOp::Brk, Cond::ALWAYS),
                    (_, true) => self.leave_word(&latch_at, LeaveOp::Sync, Cond::ALWAYS),
                    _ => {}
                }
            }
            _ => {
                let stubs = self.exits(&latch_at, LeaveOp::Brk, least);
                self.bra(&latch_at, Cond::ALWAYS, head);
                self.stubs(&latch_at, LeaveOp::Brk, &stubs);
                self.dead_code(&latch_at);
            }
        }
        self.bind(end);
    }

    /// Adds a loop with a branch back.
    fn back_loop(&mut self, at: &At, kind: Loop, least: f64, passes: i64) {
        let staying = self.staying(least);
        if kind == Loop::Bare && staying.is_none() {
            return self.plain(at);
        }
        let end = self.label();
        let mut outer = *at;
        let out = match kind {
            Loop::Pbk => {
                self.met("PBK loop");
                self.set_up(at, SetUpOp::Pbk, end);
                outer = self.pushed(at);
                LeaveOp::Brk
            }
            Loop::Ssy => {
                self.met("SSY loop");
                self.set_up(at, SetUpOp::Ssy, end);
                outer = self.pushed(at);
                outer.sync = true;
                LeaveOp::Sync
            }
            _ => {
                self.met("loop without tokens");
                LeaveOp::Exit
            }
        };
        let mut body = Self::in_loop(&outer, passes);
        if kind == Loop::Pbk {
            body.brk = Some(Way { loops: 0, ifs: 0 });
        }
        let head = self.label();
        self.bind(head);
        match staying {
            Some(cond) if kind == Loop::Bare || self.chance(6) => {
                self.block(&body, 0);
                self.other(&body);
                self.bra(&body, cond, head);
                self.met("do-while");
                if kind != Loop::Bare {
                    self.leave_now(&body, out, Cond::ALWAYS);
                }
            }
            _ => {
                let stubs = self.exits(&body, out, least);
                self.block(&body, 0);
                self.bra(&body, Cond::ALWAYS, head);
                self.stubs(&body, out, &stubs);
                self.dead_code(&body);
            }
        }
        self.bind(end);
    }

    /// Adds the exits of a loop: each thread that reaches them in a pass leaves with a probability of at least `least`.
    /// Returns the labels at which `op` is needed after the end of the loop.
    fn exits(&mut self, at: &At, op: LeaveOp, least: f64) -> Vec<Label> {
        let conds = self.leaving(least);
        let mut stubs = vec![];
        for (n, cond) in conds.into_iter().enumerate() {
            // The exits use the same bits, or each its own; but never bits that have already
            // decided who comes here: an inner loop left by threads that stay in this one would keep both
            // going for ever.
            if n == 0 || self.chance(5) {
                if self.chance(8) {
                    self.block(at, 0);
                }
                self.other(at);
            }
            stubs.extend(self.exit(at, op, cond));
        }
        stubs
    }

    /// Adds one exit, for the threads for which `cond` is true.
    fn exit(&mut self, at: &At, op: LeaveOp, cond: Cond) -> Option<Label> {
        match self.rng.random_range(0..16) {
            0..2 => {
                let stub = self.label();
                self.bra(at, cond, stub);
                self.met("exit out of line");
                return Some(stub);
            }
            // An SSY token would prevent SYNC.
            2..5 if op != LeaveOp::Sync && Self::fits(at, 1) => {
                let (join, then) = (self.label(), self.label());
                let inner = self.token(at, LeaveOp::Sync, join);
                self.bra(&inner, cond, then);
                self.leave_word(&inner, LeaveOp::Sync, Cond::ALWAYS);
                self.bind(then);
                self.leave_now(&inner, op, Cond::ALWAYS);
                self.dead_code(&inner);
                self.bind(join);
                self.met("exit under an IF");
            }
            5..7 if op != LeaveOp::Sync && Self::fits(at, 1) => {
                let (join, other_side) = (self.label(), self.label());
                let inner = self.token(at, LeaveOp::Sync, join);
                let side = self.cond();
                self.bra(&inner, side, other_side);
                // New bits on both sides or on neither: otherwise the side would depend on the bits.
                let anew = self.rng.random();
                for side in 0..2 {
                    if side == 1 {
                        self.bind(other_side);
                    }
                    if anew {
                        self.plain(&inner);
                    }
                    self.leave_now(&inner, op, cond);
                    self.leave_word(&inner, LeaveOp::Sync, Cond::ALWAYS);
                }
                self.bind(join);
                self.met("exit on both sides of an IF");
            }
            _ => self.leave_now(at, op, cond),
        }
        None
    }

    /// Adds the exits that are out of line.
    fn stubs(&mut self, at: &At, op: LeaveOp, stubs: &[Label]) {
        for stub in stubs {
            self.bind(*stub);
            if self.chance(4) {
                self.plain(at);
            }
            self.leave_now(at, op, Cond::ALWAYS);
        }
    }

    /// Returns an exit of the innermost statement of its kind; `hard`: not by SYNC.
    pub(super) fn way_out(&mut self, at: &At, hard: bool) -> Option<LeaveOp> {
        let weights = [
            (LeaveOp::Sync, when(at.sync && !hard, 4)),
            (LeaveOp::Brk, when(at.brk.is_some(), 4)),
            (LeaveOp::Cont, when(at.cont.is_some(), 5)),
            (LeaveOp::Ret, when(at.ret, 3)),
            (LeaveOp::Exit, when(self.options.exits, 1)),
        ];
        let any = weights.iter().any(|(_, weight)| *weight > 0);
        any.then(|| choose(self.rng, &weights))
    }

    pub(super) fn leave(&mut self, at: &At) {
        let Some(op) = self.way_out(at, false) else {
            return self.plain(at);
        };
        // EXIT is rare: otherwise hardly any thread would reach the end.
        let for_good = match op {
            LeaveOp::Exit => true,
            LeaveOp::Ret => !at.sub && at.nest < 3,
            _ => false,
        };
        if for_good && self.chance(if at.ifs > 0 { 10 } else { 14 }) {
            return self.plain(at);
        }
        let cond = self.cond();
        match at.to_sync {
            Some(sync) if op == LeaveOp::Sync && self.chance(5) => {
                self.bra(at, cond, sync);
                self.met("branch to the SYNC");
            }
            _ => self.leave_now(at, op, cond),
        }
        self.met_if(op == LeaveOp::Sync, "SYNC early");
    }

    /// Adds a leaving instruction, and records the construct for its place.
    pub(super) fn leave_now(&mut self, at: &At, op: LeaveOp, cond: Cond) {
        self.leave_word(at, op, cond);
        let far = |way: Option<Way>| way.is_some_and(|w| w.loops > 0);
        let deep = |way: Option<Way>| way.is_some_and(|w| w.ifs > 1);
        match op {
            LeaveOp::Brk => {
                self.met_if(far(at.brk), "BRK across an inner loop");
                self.met_if(deep(at.brk), "BRK under several IFs");
            }
            LeaveOp::Cont => {
                self.met_if(far(at.cont), "CONT across an inner loop");
                self.met_if(deep(at.cont), "CONT under several IFs");
            }
            LeaveOp::Ret => {
                self.met_if(at.ifs > 0, "RET under an IF");
                self.met_if(at.loops > 0, "RET in a loop");
            }
            LeaveOp::Exit => {
                self.met_if(at.ifs > 0, "EXIT under an IF");
                self.met_if(at.loops > 0, "EXIT in a loop");
                self.met_if(at.sub, "EXIT in a subroutine");
            }
            LeaveOp::Sync | LeaveOp::Kil => {}
        }
    }
}
