//! Calls, and programs that nest to the limits.

use rand::Rng;

use super::{At, Builder, Chain, Routine, Skips};
use crate::r700::asm::{EndifForm, LoopKind, Stmt, When};
use crate::r700::generate::{CALL_DEPTH, RESERVE};
use reconverge_program::generate::pick;

impl<R: Rng + ?Sized> Builder<'_, R> {
    /// Calls a subroutine that fits here; with `nearest`, the last one generated. Returns how much deeper the call
    /// leads (r700-4.3), 0 if there is no such subroutine.
    pub(super) fn call(&mut self, at: &At, nearest: bool) -> u32 {
        let whole = self.options.target.space();
        let fits = |sub: &Routine| {
            let space = if at.sub && !nearest { whole / 2 } else { whole };
            at.sp + 1 + sub.need.under <= space
        };
        let cheap = |b: &Self, sub: &Routine| nearest || sub.cost * at.passes <= b.time;
        let fitting: Vec<usize> = (0..self.subs.len())
            .filter(|&i| fits(&self.subs[i]) && cheap(self, &self.subs[i]))
            .collect();
        let n = match fitting.last() {
            None => {
                self.plain(at);
                return 0;
            }
            Some(&last) if nearest => last,
            Some(_) => pick(self.rng, &fitting),
        };
        let sub = &self.subs[n];
        let (label, need, cost, calls) = (sub.label.clone(), sub.need, sub.cost, sub.calls);
        let left = CALL_DEPTH.saturating_sub(calls);
        let count = match self.rng.random_range(0..16) {
            _ if nearest => 1,
            0..2 => 0,
            // Up to the limit, and beyond it: then every lane skips the call, or a call inside it.
            2 if !at.sub => left.max(1),
            3 if !at.sub && self.chance(4) => self.rng.random_range(left + 1..=63),
            4..6 => self.rng.random_range(0..=left.min(9)),
            _ => left.min(1),
        };
        let when = match self.options.uniform && !nearest && self.chance(5) {
            true => self.boolean(),
            false => When::Always,
        };
        let stmt = Stmt::Call {
            label,
            when,
            count: count as u8,
        };
        self.push(at, stmt);
        let deepest = count + calls;
        self.met("CALL");
        self.met_if(when != When::Always, "CALL by a boolean");
        self.met_if(at.loops > 0, "CALL in a loop");
        self.met_if(at.ifs > 0, "CALL under an IF");
        self.met_if(at.sub, "CALL in a subroutine");
        self.met_if(count == 0, "CALL_COUNT 0");
        self.met_if(count > 1, "CALL_COUNT above 1");
        self.met_if(!at.sub && deepest == CALL_DEPTH, "call depth 32");
        self.met_if(!at.sub && deepest > CALL_DEPTH, "too deep a CALL");
        self.time -= cost * at.passes;
        // A call that is always skipped pushes nothing.
        if count <= CALL_DEPTH {
            let below = self.pushed(at, 1, false).sp;
            let inside = if at.branch { need.under } else { need.bare };
            self.peak.bare = self.peak.bare.max(below + inside);
            self.peak.under = self.peak.under.max(below + need.under);
        }
        deepest
    }

    /// Returns the place in an IF of a chain: some lanes may leave, and no jump leads over it, so that its frames are
    /// pushed whichever lanes are left.
    pub(super) fn deep_if(&mut self, at: &At) -> At {
        if self.options.forms && self.options.uniform && self.chance(8) {
            let when = self.true_boolean();
            let (frame, vpm) = (true, false);
            self.push(at, Stmt::IfBool { when, frame, vpm });
        } else {
            let clause = self.clause();
            let not = self.options.forms && self.rng.random();
            let jump = !self.options.forms;
            self.push(at, Stmt::If { clause, not, jump });
        }
        let inner = self.pushed(at, 1, true);
        At {
            ifs: at.ifs + 1,
            skips: Skips::Part,
            ..inner
        }
    }

    /// Nests statements until `to` sub-entries are in use.
    pub(super) fn deep(&mut self, at: At, chain: Chain, to: u32) {
        let reserve = if at.branch { RESERVE } else { 0 };
        let left = to.saturating_sub(at.sp + reserve);
        // The first branch frame takes three.
        let branch = left >= 1 + RESERVE - reserve;
        let constant = match chain {
            Chain::Branches => None,
            Chain::Loops => self.constant(1),
            Chain::Mixed if self.chance(5) => self.constant(1),
            Chain::Mixed => None,
        };
        let constant =
            constant.filter(|_| self.options.counted && left >= self.options.target.loop_frame());
        if !branch && constant.is_none() || self.room < -600 {
            self.plain(&at);
            if at.loops > 0 {
                self.leave(&at);
            }
            return;
        }
        if let Some(constant) = constant {
            let kind = match self.rng.random() {
                true => LoopKind::Al(constant),
                false => LoopKind::NoAl(constant),
            };
            let body = self.begin_loop(&at, kind, 1);
            self.deep(body, chain, to);
            return self.end_loop(&at, &body);
        }
        let inner = self.deep_if(&at);
        self.deep(inner, chain, to);
        if self.chance(2) {
            let last = self.alu(false);
            self.push(&inner, last);
            let (form, vpm) = (EndifForm::Fused, false);
            return self.push(&at, Stmt::Endif { form, vpm });
        }
        self.endif(&at);
    }
}
