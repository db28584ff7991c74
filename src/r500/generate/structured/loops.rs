//! Loops, and the statements that leave them.

use rand::Rng;

use super::{At, Builder};
use crate::r500::asm::{Cond, Stmt};

impl<R: Rng + ?Sized> Builder<'_, R> {
    /// Returns an integer constant with this count.
    pub(super) fn int(&mut self, count: u8) -> Option<u8> {
        let known = self.counts.iter().position(|&c| c == count);
        let n = match known {
            Some(n) if self.options.endless || self.counts.len() == 32 || self.rng.random() => n,
            None if self.counts.len() == 32 => return None,
            _ => {
                self.counts.push(count);
                self.counts.len() - 1
            }
        };
        u8::try_from(n).ok()
    }

    pub(super) fn loop_(&mut self, at: &At) {
        // Products of counts make a run long. Counts 0 and 1 are corner cases of their own.
        let mut count = match self.rng.random_range(0..16) {
            _ if self.options.endless => 255,
            0 => 0,
            1..4 => 1,
            4..9 => 2,
            9..13 => 3,
            13 => 5,
            14 => 9,
            // Left by BREAK. Rare, because under some conditions no lane breaks and every pass is made.
            _ if at.passes == 1 => self.rng.random_range(10..=255),
            _ => 4,
        };
        let mut passes = i64::from(count).clamp(1, 9);
        if count >= 10 {
            passes = 4;
        }
        if passes > self.time / (at.passes * 4) {
            if self.options.endless {
                return self.plain(at);
            }
            (count, passes) = (1, 1);
        }
        let Some(int) = self.int(count) else {
            return self.plain(at);
        };
        let some = self.options.some_lanes && at.levels < self.limit() && self.chance(5);
        let cond = some.then(|| self.cond(at));
        let body = self.begin_loop(at, int, cond, passes);
        if count >= 10 {
            let both = at.passes > 1 || self.chance(8);
            self.exit(&body.1, both);
        }
        self.block(&body.1, 0);
        self.end_loop(&body);
    }

    /// Begins a LOOP or REP, and returns the place of its body.
    pub(super) fn begin_loop(
        &mut self,
        at: &At,
        int: u8,
        cond: Option<Cond>,
        passes: i64,
    ) -> (bool, At) {
        let rep = self.options.reps && (!self.options.loops || self.rng.random());
        self.push(at, Stmt::Loop { rep, int, cond });
        let some = usize::from(cond.is_some());
        let body = At {
            levels: at.levels + some,
            loops: at.loops + 1,
            pops: some,
            passes: at.passes * passes,
            dynamic: true,
            ..*at
        };
        self.note(body.levels, body.loops, 0);
        (rep, body)
    }

    pub(super) fn end_loop(&mut self, (rep, body): &(bool, At)) {
        self.push(body, Stmt::EndLoop { rep: *rep });
    }

    /// Adds the exit of a loop that does not end by its count; with `both`, two opposite tests, so that
    /// it ends soon whether conditions are mostly 0 or mostly 1.
    fn exit(&mut self, at: &At, both: bool) {
        if at.levels >= self.limit() {
            return;
        }
        for negated in [false, true].into_iter().take(if both { 2 } else { 1 }) {
            self.push(at, Stmt::Alu);
            let cond = if negated { !Cond::ALU } else { Cond::ALU };
            let leave = |cond| Stmt::Leave { breaks: true, cond };
            if self.options.conditional_leave && self.rng.random() {
                self.push(at, leave(Some(cond)));
                continue;
            }
            self.begin_if(at, Cond::ALU);
            if negated {
                self.push(at, Stmt::Else);
            }
            self.push(at, leave(None));
            self.push(at, Stmt::Endif);
        }
    }

    pub(super) fn leave(&mut self, at: &At) {
        // A bare BREAK as the loop's own statement ends it for every lane, so it is rare.
        let bare = at.pops > 0 || self.chance(2);
        let cond = match self.options.conditional_leave && (!bare || self.rng.random()) {
            true => Some(self.cond(at)),
            false if bare => None,
            false => return self.plain(at),
        };
        let breaks = self.rng.random();
        self.push(at, Stmt::Leave { breaks, cond });
    }
}
