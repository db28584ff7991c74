//! The main part of a program and its subroutines.

use rand::Rng;

use super::super::{NESTING, RECURSION};
use super::{At, Builder, Item, Routine};
use crate::spa5::isa::{Cond, Label, LeaveOp};

impl<R: Rng + ?Sized> Builder<'_, R> {
    /// Generates the main part.
    pub(super) fn program(&mut self) -> Vec<Item> {
        let subs = match self.options.calls {
            true => self.rng.random_range(0..5),
            false => 0,
        };
        // From the last one on, each calling only later ones.
        for _ in 0..subs {
            self.subroutine();
        }
        let limit = self.chance(self.options.limits16);
        let mut at = At {
            passes: 1,
            ..At::default()
        };
        // Before the first black box all conditions are 0.
        if self.chance(14) {
            self.other(&at);
        }
        let end = self.label();
        let whole = self.options.calls && self.chance(2);
        if whole {
            self.met("PRET of the whole program");
            at = self.token(&at, LeaveOp::Ret, end);
        }
        for _ in 0..self.rng.random_range(3..10) {
            self.block(&at, 1);
        }
        if limit {
            let to = match self.chance(10) {
                true => NESTING,
                false => self.rng.random_range(8..NESTING),
            };
            self.deep(&at, to);
        }
        if !self.subs.is_empty() && self.chance(10) {
            self.call(&at);
        }
        self.block(&at, 0);
        if whole {
            self.leave_word(&at, LeaveOp::Ret, Cond::ALWAYS);
            self.bind(end);
            at.tokens -= 1;
            self.block(&At { ret: false, ..at }, 0);
        }
        self.leave_word(&at, LeaveOp::Exit, Cond::ALWAYS);
        if self.chance(6) {
            // The usual end of ptxas kernels.
            let here = self.label();
            self.bind(here);
            self.bra(&at, Cond::ALWAYS, here);
        }
        std::mem::take(&mut self.items)
    }

    /// Generates a subroutine, in front of those generated before.
    pub(super) fn subroutine(&mut self) {
        let outer_time = std::mem::replace(&mut self.time, i64::from(self.options.length / 12));
        let outer_met = std::mem::take(&mut self.met);
        self.peak = 0;
        let before = self.time;
        let label = self.label();
        let at = At {
            passes: 1,
            sub: true,
            ret: true,
            ..At::default()
        };
        let recursive = self.options.recursion && self.chance(6);
        if recursive {
            self.recursion(&at, label);
        } else {
            self.block(&at, 1);
            if !self.subs.is_empty() && self.chance(6) {
                self.call(&at);
            }
            self.block(&at, 0);
        }
        match self.subs.last().map(|s| (s.label, s.need, s.cost)) {
            // For the stack, this is a routine of this one's caller.
            Some((other, need, cost)) if self.chance(4) => {
                self.bra(&at, Cond::ALWAYS, other);
                self.met("tail call");
                self.peak = self.peak.max(need);
                self.time -= cost;
            }
            _ => self.leave_word(&at, LeaveOp::Ret, Cond::ALWAYS),
        }
        let mut cost = before - self.time;
        // The time of subroutines is only spent when they are called.
        self.time = outer_time;
        let mut need = std::mem::take(&mut self.peak);
        if recursive {
            need += RECURSION;
            // On average, each call leads to a third of another one.
            cost += cost / 3;
        }
        let met = std::mem::replace(&mut self.met, outer_met);
        let items = std::mem::take(&mut self.items);
        self.subs.push(Routine {
            label,
            need,
            cost,
            met,
            items,
        });
    }

    /// Generates a body that calls itself at most once per pass; `label` is where it begins.
    pub(super) fn recursion(&mut self, at: &At, label: Label) {
        let two = self.chance(6);
        // Twice the guard for twice the tokens, see RECURSION.
        for _ in 0..if two { 2 } else { 1 } {
            // New condition bits: a thread that comes here by a condition does not test the same bits again.
            self.other(at);
            for cond in self.leaving(0.75) {
                self.leave_word(at, LeaveOp::Ret, cond);
            }
        }
        self.block(at, 0);
        if two {
            let join = self.label();
            let inner = self.token(at, LeaveOp::Sync, join);
            self.cal(&inner, label);
            self.leave_word(&inner, LeaveOp::Sync, Cond::ALWAYS);
            self.bind(join);
            self.met("recursion of two tokens");
        } else {
            self.cal(at, label);
            self.met("recursion");
        }
        self.block(at, 0);
    }
}
