//! Loops, and the statements that leave them.

use rand::Rng;

use super::{At, Builder, Skips};
use crate::r700::asm::{LoopKind, Stmt, When};
use reconverge_program::generate::pick;

impl<R: Rng + ?Sized> Builder<'_, R> {
    /// Returns a loop constant with this count.
    pub(super) fn constant(&mut self, count: u16) -> Option<u8> {
        let known = self.counts.iter().position(|&c| c == count);
        let n = match known {
            Some(n) if self.counts.len() == 32 || self.rng.random() => n,
            None if self.counts.len() == 32 => return None,
            _ => {
                self.counts.push(count);
                self.counts.len() - 1
            }
        };
        u8::try_from(n).ok()
    }

    pub(super) fn loop_(&mut self, at: &At) {
        let until_break = self.options.until_break && (!self.options.counted || self.chance(8));
        // Products of counts make a run long. Counts 0 and 1 are corner cases of their own.
        let mut count: u16 = match self.rng.random_range(0..16) {
            0 => 0,
            1..4 => 1,
            4..9 => 2,
            9..13 => 3,
            13 => 5,
            14 => 9,
            // Left by BREAK. Rare, because under some conditions no lane breaks and every pass is made.
            _ if at.passes == 1 && self.chance(4) => self.rng.random_range(10..=4095),
            _ if at.passes == 1 => self.rng.random_range(10..=99),
            _ => 4,
        };
        // One pass of a loop with two exits is the last one for most lanes; for all of 64 lanes it takes several.
        let mut passes = if until_break || count >= 10 {
            4
        } else {
            i64::from(count).max(1)
        };
        if passes > self.time / (at.passes * 4) {
            if until_break {
                return self.plain(at);
            }
            (count, passes) = (1, 1);
        }
        let kind = match until_break {
            true => LoopKind::Dx10,
            false => {
                let Some(constant) = self.constant(count) else {
                    return self.plain(at);
                };
                match self.rng.random() {
                    true => LoopKind::Al(constant),
                    false => LoopKind::NoAl(constant),
                }
            }
        };
        let mut body = self.begin_loop(at, kind, passes);
        if !until_break {
            match count {
                0 => self.met("count 0"),
                1 => self.met("count 1"),
                10.. => self.met("count of 10 or more"),
                _ => {}
            }
        }
        if until_break || count >= 10 {
            // Both exits, because the predicates are unknown; one is enough if there is a count as well.
            let both = until_break || count >= 100 || self.chance(8);
            let first: bool = self.rng.random();
            // Until a lane is past both of them, it may neither continue nor skip: it might do so
            // for ever.
            body.may_continue = false;
            body.skips = Skips::Nothing;
            for predicate in [first, !first].into_iter().take(if both { 2 } else { 1 }) {
                if self.chance(8) {
                    self.block(&body, 0);
                }
                self.exit(&body, predicate);
            }
        }
        body.may_continue = self.options.continues;
        body.skips = Skips::Pass;
        self.block(&body, 0);
        self.end_loop(at, &body);
    }

    /// Adds a loop that no lane leaves before its count is at zero. Near its end `aL` needs 19 bits, and a
    /// loop inside it saves that value.
    pub(super) fn long_loop(&mut self, at: &At) {
        const MAX: usize = 20_000;
        let count = match self.rng.random() {
            true => pick(self.rng, &[2047, 2048, 2049, 4094, 4095]),
            false => self.rng.random_range(1100..=4095),
        };
        // Both constants, or none.
        if self.counts.len() > 30 {
            return;
        }
        let (Some(constant), Some(once)) = (self.constant(count), self.constant(1)) else {
            return;
        };
        let step: i8 = pick(self.rng, &[127, -127, -128]);
        self.steep = Some((usize::from(constant), step as u8));
        let time = self.time;
        let body = self.begin_loop(at, LoopKind::Al(constant), i64::from(count));
        // Besides the LOOP_END: more than 4,096 instructions in all.
        let pass = self
            .rng
            .random_range(3..=(MAX / usize::from(count) - 1).min(6));
        let inside = self.chance(12).then(|| self.rng.random_range(0..=pass - 2));
        let mut left = pass;
        while left > 0 {
            if inside == Some(pass - left) {
                let kind = match self.rng.random() {
                    true => LoopKind::Al(once),
                    false => LoopKind::NoAl(once),
                };
                let inner = self.begin_loop(&body, kind, 1);
                self.end_loop(&body, &inner);
                left -= 2;
                continue;
            }
            let stmt = match self.chance(4) {
                true => self.slot(),
                false => self.alu(false),
            };
            self.push(&body, stmt);
            left -= 1;
        }
        self.end_loop(at, &body);
        // Everything else runs once.
        self.time = time;
        self.met("count of thousands");
    }

    /// Begins a loop and returns the place of its body.
    pub(super) fn begin_loop(&mut self, at: &At, kind: LoopKind, passes: i64) -> At {
        self.push(at, Stmt::Loop { kind });
        self.met(match kind {
            LoopKind::Dx10 => "LOOP until break",
            LoopKind::Al(_) => "LOOP",
            LoopKind::NoAl(_) => "REPEAT",
        });
        self.met_if(at.loops > 0, "loop in a loop");
        self.met_if(at.ifs > 0, "loop under an IF");
        self.met_if(at.sub, "loop in a subroutine");
        let body = self.pushed(at, self.options.target.loop_frame(), false);
        At {
            ifs: 0,
            loops: at.loops + 1,
            may_continue: self.options.continues,
            skips: Skips::Pass,
            passes: at.passes * passes,
            ..body
        }
    }

    /// Ends the loop at `at`.
    pub(super) fn end_loop(&mut self, at: &At, body: &At) {
        let vpm = self.may_drop(at) && self.chance(4);
        self.met_if(vpm, "VPM on LOOP_END");
        self.push(body, Stmt::EndLoop { vpm });
    }

    /// Returns whether the end of a statement here may switch off invalid lanes (r700-O22): from then on they are off like
    /// lanes that skip, so the same places allow both. Before the exits of a loop, these lanes would never leave it.
    pub(super) fn may_drop(&self, at: &At) -> bool {
        self.options.kill && at.skips != Skips::Nothing
    }

    /// Adds an exit for the lanes whose predicate is `predicate`.
    fn exit(&mut self, at: &At, predicate: bool) {
        if !predicate && self.options.forms && self.chance(10) {
            return self.leave_unless(at, true);
        }
        // IF not, or the ELSE part.
        let not = !predicate && self.options.forms && self.chance(8);
        let jump = !self.options.forms || self.rng.random();
        let clause = self.clause();
        self.push(at, Stmt::If { clause, not, jump });
        let inner = At {
            ifs: 1,
            ..self.pushed(at, 1, true)
        };
        if predicate == not {
            self.else_(at);
        }
        self.leave_now(&inner, true, When::Always);
        self.endif(at);
    }

    pub(super) fn leave(&mut self, at: &At) {
        let o = self.options;
        let breaks = !(at.may_continue && self.chance(10));
        match self.rng.random_range(0..8) {
            0..2 if o.forms && self.fits(at, 1) => self.leave_unless(at, breaks),
            2 if o.uniform => {
                let when = self.boolean();
                self.leave_now(at, breaks, when);
                self.met(match breaks {
                    true => "BREAK by a boolean",
                    false => "CONTINUE by a boolean",
                });
            }
            // A bare BREAK as the loop's own statement ends it for every lane, so it is rare.
            _ if at.ifs > 0 || self.chance(2) => {
                self.leave_now(at, breaks, When::Always);
                if self.chance(8) {
                    // No lane is left to execute it.
                    self.met("code behind a BREAK");
                    self.block(at, 1);
                }
            }
            _ => self.plain(at),
        }
    }

    /// Adds a BREAK or CONTINUE.
    fn leave_now(&mut self, at: &At, breaks: bool, when: When) {
        self.push(at, Stmt::Leave { breaks, when });
        self.met(match (breaks, at.ifs > 1) {
            (true, false) => "BREAK",
            (true, true) => "BREAK under several IFs",
            (false, false) => "CONTINUE",
            (false, true) => "CONTINUE under several IFs",
        });
    }

    /// Adds a BREAK or CONTINUE for the lanes whose predicate is 0.
    fn leave_unless(&mut self, at: &At, breaks: bool) {
        let expanded = self.chance(6);
        if expanded {
            self.pushed(at, 1, true);
        }
        let stmt = Stmt::LeaveUnless {
            breaks,
            clause: self.clause(),
            expanded,
        };
        self.push(at, stmt);
        self.met(match (breaks, expanded) {
            (true, false) => "ALU_BREAK",
            (true, true) => "BREAK expanded",
            (false, false) => "ALU_CONTINUE",
            (false, true) => "CONTINUE expanded",
        });
        if self.chance(6) {
            // ALU_BREAK cannot jump, so this statement does if no lane is left.
            let (breaks, when) = (true, When::Never);
            self.push(at, Stmt::Leave { breaks, when });
            self.met("LOOP_BREAK FALSE");
        }
    }

    pub(super) fn skip(&mut self, at: &At) {
        // At the top level it skips the rest of the program, so it is rare.
        if at.skips == Skips::Program && self.chance(10) {
            return self.plain(at);
        }
        let stmt = self.alu(true);
        self.push(at, stmt);
        match at.skips {
            Skips::Nothing => {}
            Skips::Program => self.met("skip to the end"),
            Skips::Pass => self.met("skip in a loop body"),
            Skips::Part => self.met("skip in a part of an IF"),
        }
    }

    pub(super) fn kill(&mut self, at: &At) {
        // Mostly under an IF: otherwise every lane is killed.
        if at.ifs == 0 && self.chance(12) {
            return self.plain(at);
        }
        let when = match self.options.uniform && self.chance(4) {
            true => {
                self.met("KILL by a boolean");
                self.boolean()
            }
            false => When::Always,
        };
        let vpm = self.chance(4);
        self.push(at, Stmt::Kill { when, vpm });
        self.met("KILL");
    }
}
