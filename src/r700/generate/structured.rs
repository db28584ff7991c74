//! Structured programs: subroutines, blocks and statements, and their words.

use rand::Rng;

use super::{CALL_DEPTH, CONSTRUCTS, Options, RESERVE, SLOTS, add_noise};
use crate::r700::asm::{ElseForm, EndifForm, Line, Stmt, When, expand};
use crate::r700::isa::{Cf, CfOp, Clause, Cond, Mem, MemOp, Word};
use crate::r700::program::{Program, Quad, Registers};
use reconverge_bench::input::InputError;
use reconverge_program::generate::{Constructs, chance, choose, pick, when};

mod deep;
mod loops;

pub(super) fn build<R: Rng + ?Sized>(
    rng: &mut R,
    options: &Options,
) -> Result<(Program, Vec<&'static str>), InputError> {
    let mut b = Builder {
        bool_const: rng.random(),
        rng,
        options,
        stmts: vec![],
        room: 500,
        time: i64::from(options.length),
        counts: vec![],
        steep: None,
        subs: vec![],
        peak: Need::default(),
        met: Vec::new(),
    };
    let main = b.program();
    let need = b.peak.bare;
    let Builder {
        counts,
        steep,
        bool_const,
        mut met,
        subs,
        rng,
        ..
    } = b;
    if need == options.target.space() {
        met.push("full stack");
    }
    let mut parts = vec![(None, main)];
    for sub in subs.into_iter().rev() {
        // A label that no CALL names would not start a subroutine, so unreached ones are left out.
        let calls = |s: &Stmt| matches!(s, Stmt::Call { label, .. } if *label == sub.label);
        if parts.iter().any(|(_, stmts)| stmts.iter().any(calls)) {
            let at = rng.random_range(0..=parts.len());
            parts.insert(at, (Some(sub.label), sub.stmts));
            met.extend(sub.met);
        }
    }
    let mut lines = Vec::new();
    for (label, stmts) in parts {
        // Unreachable words between the parts.
        let gap = if options.noise && chance(rng, 6) {
            rng.random_range(1..4)
        } else {
            0
        };
        lines.extend((0..gap).map(|_| junk(rng)));
        lines.push(Stmt::Label(label.unwrap_or_else(|| MAIN.to_owned())));
        lines.extend(stmts);
    }
    if options.noise && chance(rng, 4) {
        lines.push(junk(rng));
    }
    let lines: Vec<_> = lines.into_iter().map(|s| Line::new(0, s)).collect();
    let code = expand(&lines, "structured")?;
    let mut regs = Registers {
        entry: code.labels.get(MAIN).copied().unwrap_or_default(),
        prog_len: code.quads.len() as u32,
        stack_size: need.div_ceil(options.target.subentries) as u8,
        bool_const,
        loop_const: [0; 32],
    };
    if chance(rng, 4) {
        let more = rng.random::<u8>() >> rng.random_range(0..8);
        regs.stack_size = regs.stack_size.saturating_add(more);
    }
    if options.noise && chance(rng, 2) {
        // A program may end before its memory does.
        regs.prog_len = regs
            .prog_len
            .saturating_add(rng.random::<u32>() >> rng.random_range(0..32));
    }
    for (n, constant) in regs.loop_const.iter_mut().enumerate() {
        // Any first index, any step: aL is 32 bits wide and goes below zero too (r700-O11).
        let count = match counts.get(n) {
            Some(count) => u32::from(*count),
            None => rng.random_range(0..1 << 12),
        };
        *constant = rng.random::<u32>() & 0xffff_f000 | count;
        if let Some((_, step)) = steep.filter(|(steep, _)| *steep == n) {
            *constant = *constant & 0x00ff_ffff | u32::from(step) << 24;
        }
        if n < counts.len() && *constant >> 31 == 1 {
            met.push("aL counts down");
        }
    }
    let mut program = Program {
        name: "structured".to_owned(),
        regs,
        quads: code.quads,
    };
    if options.noise {
        add_noise(rng, &mut program);
    }
    if options.target.dx10_count {
        count_dx10(rng, &mut program, counts.len());
    }
    Ok((program, met))
}

/// Makes loops until break count, for a unit that counts their passes (r700-4.3-z). `counted`: the number of loop constants
/// that counted loops use; the counts of the others may change.
fn count_dx10<R: Rng + ?Sized>(rng: &mut R, program: &mut Program, counted: usize) {
    for constant in program.regs.loop_const.iter_mut().skip(counted) {
        // Few passes, so that some loops end by their count before all of their lanes have left.
        if chance(rng, 12) {
            *constant = *constant & !0xfff | pick(rng, &[0, 1, 2, 2, 3, 4, 4095]);
        }
    }
    for quad in &mut program.quads {
        if let Word::Cf(cf) = Word::decode(*quad)
            && cf.op == CfOp::LoopStartDx10
            && matches!(cf.cond, Cond::Active | Cond::False)
        {
            quad.dw1 = quad.dw1 & !(31 << 3) | rng.random_range(0..32) << 3;
        }
    }
}

/// The label at which the main part begins.
const MAIN: &str = "main";

/// Returns any two words.
fn junk<R: Rng + ?Sized>(rng: &mut R) -> Stmt {
    let quad = Quad {
        dw0: rng.random(),
        dw1: rng.random(),
        u: false,
    };
    Stmt::Raw { quad, target: None }
}

/// Sub-entries that a routine needs, including those that it calls (r700-3.4).
#[derive(Clone, Copy, Default)]
struct Need {
    /// Its need if no branch frame is live around it.
    bare: u32,
    /// Its need if one is live, so that the reserve counts from the beginning.
    under: u32,
}

/// A subroutine that is already generated.
struct Routine {
    label: String,
    need: Need,
    /// The maximum sum of `CALL_COUNT`s inside.
    calls: u32,
    /// Approximate number of instructions of one pass.
    cost: i64,
    met: Vec<&'static str>,
    stmts: Vec<Stmt>,
}

/// The part of the program that `ALU u` without a push would skip here (r700-9.2).
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Skips {
    /// It is not allowed here: the lane would wake too early, or not before the end of the subroutine.
    #[default]
    Nothing,
    /// The rest of the program.
    Program,
    /// The rest of the pass.
    Pass,
    /// The rest of the part of an IF.
    Part,
}

/// The place of a statement.
#[derive(Clone, Copy, Default)]
struct At {
    /// Sub-entries in use in this routine.
    sp: u32,
    /// A branch frame is live in this routine.
    branch: bool,
    /// Number of statements around this one in the routine.
    nest: usize,
    /// Number of IFs with an open frame in the innermost loop of this routine, or in the routine.
    ifs: usize,
    /// Loops open in this routine.
    loops: usize,
    /// CONTINUE is allowed here: a lane that continues each time still leaves the loop.
    may_continue: bool,
    /// The effect of ALU with u.
    skips: Skips,
    /// Approximate number of times that this place is passed.
    passes: i64,
    /// In a subroutine.
    sub: bool,
}

/// The beginning of an IF.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Head {
    If,
    IfNot,
    Push,
    PushElse,
}

/// The statements of a chain of nested statements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chain {
    Branches,
    Loops,
    Mixed,
}

struct Builder<'a, R: ?Sized> {
    rng: &'a mut R,
    options: &'a Options,
    stmts: Vec<Stmt>,
    /// Quadwords left.
    room: i64,
    /// Executed instructions left, approximately.
    time: i64,
    bool_const: u32,
    /// Counts of the loop constants in use.
    counts: Vec<u16>,
    /// The loop constant of the long loop, and its step.
    steep: Option<(usize, u8)>,
    /// Subroutines that can be called from here.
    subs: Vec<Routine>,
    /// The maximum that the current routine has needed.
    peak: Need,
    met: Vec<&'static str>,
}

impl<R: Rng + ?Sized> Builder<'_, R> {
    fn chance(&mut self, out_of_16: u32) -> bool {
        chance(self.rng, out_of_16)
    }

    fn met(&mut self, construct: &'static str) {
        debug_assert!(CONSTRUCTS.contains(&construct), "{construct}");
        self.met.push(construct);
    }

    fn met_if(&mut self, so: bool, construct: &'static str) {
        if so {
            self.met(construct);
        }
    }

    fn push(&mut self, at: &At, stmt: Stmt) {
        let quads = match stmt {
            Stmt::Label(_) => 0,
            Stmt::If { .. } => 2,
            Stmt::LeaveUnless { expanded: true, .. } => 5,
            _ => 1,
        };
        self.room -= quads;
        self.time -= quads * at.passes;
        self.stmts.push(stmt);
    }

    /// Returns `at` with one more frame.
    fn pushed(&mut self, at: &At, frame: u32, branch: bool) -> At {
        let at = At {
            sp: at.sp + frame,
            branch: at.branch || branch,
            nest: at.nest + 1,
            ..*at
        };
        let reserve = if at.branch { RESERVE } else { 0 };
        self.peak.bare = self.peak.bare.max(at.sp + reserve);
        self.peak.under = self.peak.under.max(at.sp + RESERVE);
        at
    }

    /// Returns whether `more` sub-entries fit on top of `at`; the reserve is always counted.
    fn fits(&self, at: &At, more: u32) -> bool {
        // A subroutine does not know the height of the stack below it, so half of the stack is left for that.
        let whole = self.options.target.space();
        let space = if at.sub { whole / 2 } else { whole };
        at.sp + more + RESERVE <= space
    }

    /// Generates the whole program, main part first.
    fn program(&mut self) -> Vec<Stmt> {
        let limit = self.chance(self.options.limits16);
        let chain = limit && self.options.calls && self.chance(5);
        let subs = match self.options.calls {
            false => 0,
            // One more than allowed: the last CALL is skipped.
            true if chain => CALL_DEPTH + self.rng.random_range(0..2),
            true => self.rng.random_range(0..5),
        };
        // From the last one on, each calling only later ones: no recursion.
        for n in (0..subs).rev() {
            self.subroutine(n, chain);
        }
        let at = At {
            passes: 1,
            skips: Skips::Program,
            ..At::default()
        };
        self.plain(&at);
        if self.options.counted && self.rng.random_range(0..1000) < self.options.long1000 {
            self.long_loop(&at);
        }
        for _ in 0..self.rng.random_range(1..5) {
            self.block(&at, 1);
        }
        if chain {
            self.call(&at, true);
        } else if limit {
            let kind = pick(self.rng, &[Chain::Branches, Chain::Loops, Chain::Mixed]);
            let to = match self.chance(6) {
                true => self.options.target.space(),
                false => self.rng.random_range(8..72),
            };
            self.deep(at, kind, to);
        }
        if !self.subs.is_empty() && self.chance(8) {
            self.call(&at, false);
        }
        self.block(&at, 0);
        if self.chance(8) {
            self.push(&at, Stmt::End);
            self.met("END on NOP");
        } else {
            let end = Mem {
                end: true,
                ..Mem::new(MemOp::ExportDone)
            };
            self.push(
                &at,
                Stmt::Raw {
                    quad: end.encode(),
                    target: None,
                },
            );
            self.met("END on EXPORT_DONE");
        }
        std::mem::take(&mut self.stmts)
    }

    /// Generates subroutine `n`; with `chain`, it always calls the next one and does little else.
    fn subroutine(&mut self, n: u32, chain: bool) {
        let outer_time = std::mem::replace(&mut self.time, i64::from(self.options.length / 5));
        let outer_peak = std::mem::take(&mut self.peak);
        let outer_met = std::mem::take(&mut self.met);
        let before = self.time;
        let mut at = At {
            passes: 1,
            sub: true,
            ..At::default()
        };
        let mut calls = 0;
        if chain {
            if self.chance(8) {
                self.plain(&at);
            }
            // Half of them under an IF, which takes one more sub-entry.
            let around =
                self.chance(2) && self.fits(&at, 1 + self.subs.last().map_or(0, |s| s.need.under));
            if around {
                at = self.deep_if(&at);
            }
            if !self.subs.is_empty() {
                calls = self.call(&at, true);
            }
            if around {
                self.endif(&at);
            }
        } else {
            self.block(&at, 1);
            if !self.subs.is_empty() && self.chance(8) {
                calls = self.call(&at, false);
            }
            self.block(&at, 0);
            calls = calls.max(self.called());
        }
        self.push(&at, Stmt::Return { when: When::Always });
        let cost = before - self.time;
        // The time of subroutines is only spent when they are called.
        self.time = outer_time;
        let need = std::mem::replace(&mut self.peak, outer_peak);
        self.subs.push(Routine {
            label: format!("s{n}"),
            need,
            calls,
            cost,
            met: std::mem::replace(&mut self.met, outer_met),
            stmts: std::mem::take(&mut self.stmts),
        });
    }

    /// Returns the maximum that the calls in `stmts` add to the depth.
    fn called(&self) -> u32 {
        let adds = |stmt: &Stmt| match stmt {
            Stmt::Call { label, count, .. } => {
                let sub = self.subs.iter().find(|s| s.label == *label);
                u32::from(*count) + sub.map_or(0, |s| s.calls)
            }
            _ => 0,
        };
        self.stmts.iter().map(adds).max().unwrap_or(0)
    }

    /// Adds at least `least` statements.
    fn block(&mut self, at: &At, least: usize) {
        let most = match at.nest {
            0 => 9,
            1..3 => 5,
            _ => 3,
        };
        for _ in 0..self.rng.random_range(least..=most) {
            if self.room < 24 || self.time < at.passes {
                break;
            }
            self.statement(at);
        }
    }

    fn statement(&mut self, at: &At) {
        let o = self.options;
        let branches = if at.nest > 6 { 2 } else { 7 };
        let loops = o.until_break || o.counted;
        let loop_fits = self.fits(at, o.target.loop_frame() + 2);
        let constructs: Constructs<Self, At, _> = [
            (Self::plain, 5),
            (|b, at| b.if_(at, 0), when(self.fits(at, 2), branches)),
            (Self::uniform, when(o.uniform, 1)),
            (Self::loop_, when(loops && loop_fits, 4)),
            (
                Self::leave,
                when(at.loops > 0, if at.ifs > 0 { 6 } else { 3 }),
            ),
            (Self::skip, when(o.skips && at.skips != Skips::Nothing, 1)),
            (
                |b, at| _ = b.call(at, false),
                when(!self.subs.is_empty(), 4),
            ),
            (Self::kill, when(o.kill, 1)),
        ];
        choose(self.rng, &constructs)(self, at);
    }

    fn plain(&mut self, at: &At) {
        for _ in 0..self.rng.random_range(1..3) {
            let stmt = match self.rng.random_range(0..4) {
                0 => self.slot(),
                _ => self.alu(false),
            };
            self.push(at, stmt);
        }
    }

    fn alu(&mut self, u: bool) -> Stmt {
        Stmt::Alu {
            clause: self.clause(),
            u,
        }
    }

    /// Returns a random clause. The place of its slots in a real program means nothing to the sequencer.
    fn clause(&mut self) -> Clause {
        Clause {
            count: self.rng.random_range(0..128),
            ..Clause::at(self.rng.random_range(0..=Clause::ADDR))
        }
    }

    /// Returns an instruction that is executed and has no effect here.
    fn slot(&mut self) -> Stmt {
        self.met("slot");
        let vpm = self.options.kill && self.chance(4);
        let quad = if self.chance(5) {
            Mem {
                vpm,
                ..Mem::new(pick(self.rng, MemOp::ALL))
            }
            .encode()
        } else {
            let op = pick(self.rng, SLOTS);
            let mut slot = Cf { vpm, ..Cf::new(op) };
            if self.options.uniform && self.chance(3) {
                let when = self.boolean();
                (slot.cond, slot.cf_const) = (when.cond(), when.boolean());
                self.met("slot by a boolean");
            }
            slot.encode()
        };
        Stmt::Raw { quad, target: None }
    }

    /// Returns a condition that is the same for all lanes.
    fn boolean(&mut self) -> When {
        let n = self.rng.random_range(0..32);
        if self.rng.random() {
            When::Bool(n)
        } else {
            When::NotBool(n)
        }
    }

    /// Returns a condition that is true, whatever the lanes are.
    fn true_boolean(&mut self) -> When {
        let n = self.rng.random_range(0..32);
        if self.bool_const >> n & 1 == 1 {
            When::Bool(n)
        } else {
            When::NotBool(n)
        }
    }

    /// Adds an IF with a frame, its ELSE, its ENDIF. `outer`: 1 if its last ALU also ends the IF around it.
    ///
    /// Invalid lanes must end up the same whether the wave jumps over the rest or passes through it, because a
    /// lane alone jumps more often (r700-9.2). So VPM is set on
    /// * PUSH, if the POP has none: a PUSH that jumps switches off no lane, unless it pops the frame
    ///   of the IF around;
    /// * POP, if no jump without VPM leads over it: no JUMP, and an ELSE that stays or has VPM;
    /// * ELSE, if it stays, or if the POP has it too.
    fn if_(&mut self, at: &At, outer: u32) {
        let o = self.options;
        let pushes = o.forms && o.uniform;
        let head = choose(
            self.rng,
            &[
                (Head::If, 8),
                (Head::IfNot, when(o.forms, 2)),
                (Head::Push, when(pushes, 2)),
                (Head::PushElse, when(pushes, 2)),
            ],
        );
        let has_else = match head {
            Head::If | Head::IfNot => self.chance(8),
            Head::Push => false,
            Head::PushElse => true,
        };
        // Two ENDIFs in one: the inner one ends this IF.
        let doubled = o.forms && outer == 0 && self.fits(at, 2) && self.chance(2);
        let fused = !doubled && (outer == 1 || self.chance(6));
        let pop_vpm = !doubled && !fused && self.may_drop(at) && self.chance(5);
        let push_vpm = o.kill && head == Head::Push && outer == 0 && !pop_vpm && self.chance(5);
        match head {
            Head::If | Head::IfNot => {
                let jump = !(o.forms && self.chance(3)) && (has_else || !pop_vpm);
                let clause = self.clause();
                let not = head == Head::IfNot;
                self.push(at, Stmt::If { clause, not, jump });
                self.met(if head == Head::If { "IF" } else { "IF not" });
                self.met_if(!jump, "JUMP left out");
            }
            Head::Push | Head::PushElse => {
                let when = match push_vpm && self.chance(8) {
                    true => When::Always,
                    false => self.boolean(),
                };
                let (frame, vpm) = (true, push_vpm);
                self.push(at, Stmt::IfBool { when, frame, vpm });
                self.met(if has_else { "PUSH_ELSE" } else { "PUSH" });
                self.met_if(push_vpm, "VPM on PUSH");
            }
        }
        let mut inner = self.pushed(at, 1, true);
        inner.ifs += 1;
        self.met_if(inner.ifs > 1, "nested IF");
        // ELSE would wake a lane that skips the rest of a THEN part.
        inner.skips = if has_else {
            Skips::Nothing
        } else {
            Skips::Part
        };
        self.block(&inner, 0);
        if has_else {
            let else_vpm = o.kill && self.chance(4);
            let must_stay = pop_vpm != else_vpm;
            let form = match () {
                () if o.forms && !else_vpm && self.chance(4) => ElseForm::Fused,
                () if must_stay || o.forms && self.chance(4) => ElseForm::Stay,
                () => ElseForm::Jump,
            };
            if form == ElseForm::Fused {
                let last = self.alu(false);
                self.push(&inner, last);
                // The ELSE takes no instruction of its own.
                self.room += 1;
            }
            let vpm = else_vpm;
            self.push(at, Stmt::Else { form, vpm });
            self.met(match form {
                ElseForm::Fused => "ELSE fused",
                ElseForm::Stay => "ELSE that stays",
                ElseForm::Jump => "ELSE",
            });
            self.met_if(else_vpm, "VPM on ELSE");
            inner.skips = Skips::Part;
            self.block(&inner, 0);
        }
        if doubled {
            self.if_(&inner, 1);
            return;
        }
        if fused {
            let u = o.skips && self.chance(4);
            self.met_if(u, "ENDIF fused, u");
            let last = self.alu(u);
            self.push(&inner, last);
            self.room += 1;
        }
        let form = match () {
            () if !fused => EndifForm::Pop,
            () if outer == 1 => EndifForm::FusedTwo,
            () => EndifForm::Fused,
        };
        self.push(at, Stmt::Endif { form, vpm: pop_vpm });
        match form {
            EndifForm::Pop if pop_vpm => self.met("VPM on POP"),
            EndifForm::Pop => {}
            EndifForm::Fused => self.met("ENDIF fused"),
            EndifForm::FusedTwo => self.met("two ENDIFs fused"),
        }
    }

    /// Adds an IF on a boolean, without a frame.
    fn uniform(&mut self, at: &At) {
        let when = self.boolean();
        let (frame, vpm) = (false, false);
        self.push(at, Stmt::IfBool { when, frame, vpm });
        self.met("uniform IF");
        let inner = At {
            skips: Skips::Nothing,
            nest: at.nest + 1,
            ..*at
        };
        self.block(&inner, 0);
        if self.chance(8) {
            self.else_(at);
            self.met("uniform ELSE");
            self.block(&inner, 0);
        }
        // It takes no instruction.
        self.room += 1;
        self.endif(at);
    }

    /// Adds a plain ELSE.
    fn else_(&mut self, at: &At) {
        let (form, vpm) = (ElseForm::Jump, false);
        self.push(at, Stmt::Else { form, vpm });
    }

    /// Adds a plain ENDIF.
    fn endif(&mut self, at: &At) {
        let (form, vpm) = (EndifForm::Pop, false);
        self.push(at, Stmt::Endif { form, vpm });
    }
}
