//! Calls, and programs that nest to the limits.

use rand::Rng;

use super::{At, Builder, Routine};
use crate::r500::asm::{Cond, Stmt};
use crate::r500::generate::{MAX_POPS, STACK_DEPTH};
use reconverge_program::generate::pick;

impl<R: Rng + ?Sized> Builder<'_, R> {
    /// Calls a subroutine that fits here; with `nearest`, the last one generated.
    pub(super) fn call(&mut self, at: &At, nearest: bool) {
        let fits = |b: &Self, sub: &Routine| {
            at.levels + sub.need.levels <= b.limit()
                && at.loops + sub.need.loops <= STACK_DEPTH
                && sub.need.calls < STACK_DEPTH
                && (nearest || sub.cost * at.passes <= b.time)
        };
        let fitting: Vec<usize> = (0..self.subs.len())
            .filter(|&i| fits(self, &self.subs[i]))
            .collect();
        let Some(&last) = fitting.last() else {
            return self.plain(at);
        };
        let n = match nearest {
            true if last + 1 == self.subs.len() => last,
            true => return self.plain(at),
            false => pick(self.rng, &fitting),
        };
        let sub = &self.subs[n];
        let (label, counters, need, cost) = (sub.label.clone(), sub.counters, sub.need, sub.cost);
        // Without counters, only if every lane goes (r500-7.1).
        let cond = (counters && self.rng.random()).then(|| self.cond(at));
        let stmt = Stmt::Call {
            label,
            cond,
            counters,
        };
        self.push(at, stmt);
        self.time -= cost * at.passes;
        self.note(
            at.levels + need.levels,
            at.loops + need.loops,
            need.calls + 1,
        );
    }

    /// Opens branch levels up to the limit; some lanes leave on the way and some arrive.
    pub(super) fn deep(&mut self, at: At, first: bool) {
        let left = self.limit() - at.levels;
        if left == 0 {
            self.plain(&at);
            if at.loops > 0 && at.pops <= MAX_POPS {
                self.leave(&at);
            }
            return;
        }
        if self.room < 5 * left as i64 + 24 {
            return;
        }
        let cond = match first || !self.options.conditions || self.chance(2) {
            // Half of the lanes wait outside and count up to the limit.
            true => {
                self.push(&at, Stmt::Alu);
                Cond::ALU
            }
            false => {
                let n = self.rng.random_range(0..32);
                let boolean = Cond::boolean(n);
                if self.bool_const >> n & 1 == 1 {
                    boolean
                } else {
                    !boolean
                }
            }
        };
        if !first
            && self.options.some_lanes
            && at.loops < STACK_DEPTH
            && self.chance(1)
            && let Some(int) = self.int(1)
        {
            let body = self.begin_loop(&at, int, Some(cond), 1);
            self.deep(body.1, false);
            return self.end_loop(&body);
        }
        // Both parts lead deeper.
        let by_else = self.chance(4);
        let cond = if by_else && self.options.conditions {
            !cond
        } else {
            cond
        };
        let mut inner = self.begin_if(&at, cond);
        if by_else {
            self.push(&inner, Stmt::Alu);
            if self.options.else_if && left > 1 && self.chance(5) {
                self.else_if(&mut inner, &at);
            } else {
                self.push(&at, Stmt::Else);
            }
        }
        self.deep(inner, false);
        self.push(&at, Stmt::Endif);
    }

    /// Adds four nested loops.
    pub(super) fn deep_loops(&mut self, at: At) {
        if at.loops == STACK_DEPTH || self.room < 24 || !(self.options.loops || self.options.reps) {
            return self.block(&at, 0);
        }
        if self.options.endless {
            return self.loop_(&at);
        }
        let count = self.rng.random_range(1..3);
        let Some(int) = self.int(count) else { return };
        let some = self.options.some_lanes && at.levels < self.limit() && self.chance(4);
        let cond = some.then(|| self.cond(&at));
        let body = self.begin_loop(&at, int, cond, count.into());
        if self.chance(8) {
            self.leave(&body.1);
        }
        self.deep_loops(body.1);
        if self.chance(8) {
            self.leave(&body.1);
        }
        self.end_loop(&body);
    }
}
