//! Calls, switches, and programs that nest to the limits.

use rand::Rng;

use super::{At, Builder, Item, Routine, SUB_NEED};
use crate::spa5::generate::NESTING;
use crate::spa5::isa::{Cond, Indirect, Label, LeaveOp, SetUpOp, Target, Word};
use reconverge_program::generate::{choose, pick, when};

impl<R: Rng + ?Sized> Builder<'_, R> {
    /// Calls a subroutine that fits here.
    pub(super) fn call(&mut self, at: &At) {
        let fits = |b: &Self, sub: &Routine| {
            at.tokens + 1 + sub.need <= if at.sub { SUB_NEED } else { NESTING }
                && sub.cost * at.passes <= b.time
        };
        let fitting: Vec<usize> = (0..self.subs.len())
            .filter(|&i| fits(self, &self.subs[i]))
            .collect();
        if fitting.is_empty() {
            return self.plain(at);
        }
        let sub = &self.subs[pick(self.rng, &fitting)];
        let (label, need, cost) = (sub.label, sub.need, sub.cost);
        self.cal(at, label);
        self.peak = self.peak.max(at.tokens + 1 + need);
        self.time -= cost * at.passes;
    }

    /// Adds a CAL, or a PRET and a branch.
    pub(super) fn cal(&mut self, at: &At, to: Label) {
        if self.chance(11) {
            let op = match self.options.rare && self.chance(5) {
                true => SetUpOp::Jcal,
                false => SetUpOp::Cal,
            };
            self.met_if(op == SetUpOp::Jcal, "JCAL");
            self.set_up(at, op, to);
            self.pushed(at);
            self.met("CAL");
            self.met_if(at.loops > 0, "CAL in a loop");
            self.met_if(at.ifs > 0, "CAL under an IF");
            self.met_if(at.sub, "CAL in a subroutine");
            return;
        }
        let back = self.label();
        let inner = self.token(at, LeaveOp::Ret, back);
        if self.chance(4) && !at.sub {
            self.block(&inner, 1);
            self.met("code between PRET and BRA");
        }
        self.bra(&inner, Cond::ALWAYS, to);
        self.met("PRET and BRA");
        self.dead_code(&inner);
        self.bind(back);
    }

    /// Adds a switch: BRX, and its targets.
    pub(super) fn switch(&mut self, at: &At) {
        let (join, sync) = (self.label(), self.label());
        let inner = At {
            to_sync: Some(sync),
            ..self.token(at, LeaveOp::Sync, join)
        };
        let predicated = self.chance(5);
        let cond = match predicated {
            true => self.cond(),
            false => Cond::ALWAYS,
        };
        let cases: Vec<Label> = (0..self.rng.random_range(1..5))
            .map(|_| self.label())
            .collect();
        // Some more often than others.
        let table = (0..self.rng.random_range(1..9))
            .map(|_| pick(self.rng, &cases))
            .collect();
        let absolute = self.chance(5);
        let word = Word::Indirect(Indirect {
            cond,
            target: match absolute {
                true => Target::Absolute(0),
                false => Target::Offset(0),
            },
            register: self.rng.random(),
            lmt: self.rng.random(),
        });
        self.push(&inner, Item::Switch(word.encode(), table));
        self.met(if absolute { "JMX" } else { "BRX" });
        if predicated {
            self.met("BRX predicated");
            self.block(&inner, 0);
            self.leave_word(&inner, LeaveOp::Sync, Cond::ALWAYS);
        }
        for case in cases {
            self.bind(case);
            self.block(&inner, 0);
            match self.rng.random_range(0..4) {
                0 => self.bra(&inner, Cond::ALWAYS, sync),
                // Falls through to the next.
                1 => {}
                _ => self.leave_word(&inner, LeaveOp::Sync, Cond::ALWAYS),
            }
        }
        self.bind(sync);
        self.leave_word(&inner, LeaveOp::Sync, Cond::ALWAYS);
        self.bind(join);
    }

    /// Nests statements until `to` tokens are in use.
    pub(super) fn deep(&mut self, at: &At, to: u32) {
        if at.tokens >= to {
            self.met_if(to == NESTING, "full nesting");
            return self.plain(at);
        }
        let o = self.options;
        let kind = choose(
            self.rng,
            &[
                (LeaveOp::Sync, 6),
                (LeaveOp::Brk, when(o.breaks, 2)),
                (LeaveOp::Cont, when(o.continues, 2)),
                (LeaveOp::Ret, when(o.calls, 2)),
            ],
        );
        let end = self.label();
        self.other(at);
        let inner = self.token(at, kind, end);
        // Some go around the inner statements, and wait in a DIV token, or in the present one.
        let cond = self.cond();
        let around = self.label();
        match self.rng.random_range(0..32) {
            // More would leave no thread for the innermost statement.
            0..2 => self.bra(&inner, cond, around),
            2 => self.leave_word(&inner, kind, cond),
            _ => {}
        }
        self.deep(&inner, to);
        self.bind(around);
        self.leave_word(&inner, kind, Cond::ALWAYS);
        self.bind(end);
    }
}
