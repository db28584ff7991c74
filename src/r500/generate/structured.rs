//! Structured programs: subroutines, blocks and statements, and their words.

use rand::Rng;

use super::{Ignore, MAX_POPS, Options, STACK_DEPTH};
use crate::r500::asm::{Cond, Line, Stmt, Targets, expand};
use crate::r500::isa::{AOp, BOp, Fc, Op, PredSel};
use crate::r500::program::{MEMORY_SLOTS, Program, Registers, Slot};
use reconverge_bench::input::InputError;
use reconverge_program::generate::{Constructs, chance, choose, pick, when};

mod deep;
mod loops;

pub(super) fn build<R: Rng + ?Sized>(
    rng: &mut R,
    options: &Options,
) -> Result<Program, InputError> {
    let mut regs = Registers {
        fc_ctrl: u32::from(options.full) << 31,
        bool_const: rng.random(),
        ..Registers::default()
    };
    let mut b = Builder {
        rng,
        options,
        stmts: vec![],
        room: 440,
        time: i64::from(options.length),
        bool_const: regs.bool_const,
        counts: vec![],
        subs: vec![],
        peak: Need::default(),
        labels: 0,
    };
    let stmts = b.program();
    let counts = std::mem::take(&mut b.counts);
    for (n, constant) in regs.int_const.iter_mut().enumerate() {
        // Any init, any step: aL wraps (r500-O20).
        let count = counts.get(n).copied().unwrap_or_else(|| rng.random());
        *constant = match options.endless {
            true => u32::from(count),
            false => rng.random::<u32>() & 0x00ff_ff00 | u32::from(count),
        };
    }
    // Unreachable instructions in front of the first one.
    let start = if options.noise {
        rng.random_range(0..3)
    } else {
        0
    };
    let junk = |_| Line::new(0, (junk(rng), false));
    let all: Vec<_> = (0..start).map(junk).chain(stmts).collect();
    let length = expand(&all, 0, Targets::Relative, "structured")?
        .slots
        .len();
    let offset = match rng.random_range(0..4) {
        0 => 0,
        _ => rng.random_range(0..=MEMORY_SLOTS - length),
    } as u16;
    let code = expand(&all, offset, Targets::Relative, "structured")?;
    regs.code_offset = offset.into();
    regs.code_addr = u32::from(code.end(start)) << 16 | u32::from(start);
    if rng.random_bool(0.5) {
        // A window without a spare slot finds off-by-one checks.
        regs.code_range = (length as u32 - 1) << 16 | u32::from(offset);
    }
    let mut program = Program {
        name: "structured".to_owned(),
        regs,
        slots: code.slots,
        ..Program::default()
    };
    for slot in &mut program.slots {
        if let Some(mut fc) = Fc::decode(*slot) {
            let absolute = fc.jump_addr + offset;
            if absolute < 512 && rng.random_bool(0.3) {
                (fc.jump_addr, fc.jump_global) = (absolute, true);
                *slot = fc.encode();
            }
        }
    }
    if options.noise {
        add_noise(rng, &mut program);
    }
    Ok(program)
}

/// Puts random contents into everything that must have no effect (r500-2.2 to r500-2.5).
fn add_noise<R: Rng + ?Sized>(rng: &mut R, program: &mut Program) {
    for slot in &mut program.slots {
        let Some(mut fc) = Fc::decode(*slot) else {
            // Only TYPE tells that this is not flow control.
            slot.cmn |= rng.random::<u32>() & !3;
            (slot.inst, slot.addr) = (rng.random(), rng.random());
            continue;
        };
        if fc.b_op0 != BOp::Decr && fc.b_op1 != BOp::Decr {
            fc.b_pop_cnt = rng.random_range(0..32);
        }
        let counts = matches!(fc.op, Op::Loop | Op::Rep | Op::EndLoop | Op::EndRep);
        // ENDLOOP uses only the step of its constant, which need not be LOOP's constant (r500-O21).
        let begins = matches!(fc.op, Op::Loop | Op::Rep);
        if !counts || !begins && rng.random_bool(0.1) {
            fc.int_addr = rng.random_range(0..32);
        }
        let table = fc.jump_func;
        if table & 0x55 == table >> 1 & 0x55 {
            fc.bool_addr = rng.random_range(0..32);
        }
        if table & 0x33 == table >> 2 & 0x33 && fc.pred_sel == PredSel::None {
            const LEGAL: [PredSel; 5] = [
                PredSel::None,
                PredSel::R,
                PredSel::G,
                PredSel::B,
                PredSel::A,
            ];
            fc.pred_sel = pick(rng, &LEGAL);
            fc.pred_inv = rng.random();
        }
        if fc.a_op == AOp::Pop || table == 0 && fc.jump_any && !begins {
            // The target of a RETURN is popped, and an ENDIF does not jump.
            fc.jump_addr = rng.random_range(0..512);
        }
        let words = fc.encode();
        // Of the first word, only TYPE, RGB_PRED_SEL and RGB_PRED_INV matter.
        slot.cmn = words.cmn & 0x7b | rng.random::<u32>() & !0x7b;
        slot.inst = words.inst | rng.random::<u32>() & Fc::RESERVED.inst;
        slot.addr = words.addr | rng.random::<u32>() & Fc::RESERVED.addr;
    }
    let regs = &mut program.regs;
    regs.fc_ctrl |= rng.random::<u32>() & 0x7fff_ffff;
    for word in [&mut regs.code_addr, &mut regs.code_range] {
        *word |= rng.random::<u32>() & 0xfe00_fe00;
    }
    regs.code_offset |= rng.random::<u32>() & 0xffff_fe00;
    for constant in &mut regs.int_const {
        *constant |= rng.random::<u32>() & 0xff00_0000;
    }
}

/// Returns any three words.
fn junk<R: Rng + ?Sized>(rng: &mut R) -> Stmt {
    let slot = Slot::new(rng.random(), rng.random(), rng.random());
    Stmt::Raw { slot, target: None }
}

/// The needs of a routine, including those that it calls.
#[derive(Clone, Copy, Default)]
struct Need {
    levels: usize,
    loops: usize,
    calls: usize,
}

/// Statements with their `IGNORE_UNCOVERED`.
type Stmts = Vec<Line<(Stmt, bool)>>;

/// A subroutine that is already generated.
struct Routine {
    label: String,
    counters: bool,
    need: Need,
    /// Approximate number of instructions of one pass.
    cost: i64,
    stmts: Stmts,
}

/// The place of a statement.
#[derive(Clone, Copy, Default)]
struct At {
    /// Branch levels open in this routine, including those of its CALL and RETURNs.
    levels: usize,
    /// Loops open in this routine.
    loops: usize,
    /// Levels that a BREAK has to close; the some-lanes loop itself is one.
    pops: usize,
    /// Approximate number of times that this place is passed.
    passes: i64,
    /// Whether a dynamic IF or loop is open, inside which no lane can return (r500-8.2).
    dynamic: bool,
    /// Number of open static IFs, in which a conditional RETURN would make r depend on the path.
    in_static: bool,
    /// `Some(counters)` in a subroutine.
    sub: Option<bool>,
}

struct Builder<'a, R: ?Sized> {
    rng: &'a mut R,
    options: &'a Options,
    stmts: Stmts,
    /// Slots left in memory.
    room: i64,
    /// Executed instructions left, approximately.
    time: i64,
    bool_const: u32,
    /// Counts of the integer constants in use.
    counts: Vec<u8>,
    /// Subroutines that can be called from here.
    subs: Vec<Routine>,
    /// The maximum that the current routine has needed.
    peak: Need,
    labels: usize,
}

impl<R: Rng + ?Sized> Builder<'_, R> {
    fn limit(&self) -> usize {
        if self.options.full { 32 } else { 4 }
    }

    fn chance(&mut self, out_of_16: u32) -> bool {
        chance(self.rng, out_of_16)
    }

    fn push(&mut self, at: &At, stmt: Stmt) {
        let slots = match stmt {
            Stmt::Label(_) | Stmt::StaticEndif => 0,
            // The repeated test and the jump back lie out of line.
            Stmt::ElseIf(_) => 3,
            _ => 1,
        };
        self.room -= slots;
        self.time -= at.passes;
        let ign = match self.options.ignore {
            Ignore::Never => false,
            Ignore::Always => true,
            Ignore::Mesa => matches!(
                stmt,
                Stmt::If(_)
                    | Stmt::ElseIf(_)
                    | Stmt::StaticIf(_)
                    | Stmt::Loop { .. }
                    | Stmt::EndLoop { .. }
                    | Stmt::Leave { .. }
            ),
            Ignore::Mixed => self.rng.random(),
        };
        self.stmts.push(Line::new(0, (stmt, ign)));
    }

    fn note(&mut self, levels: usize, loops: usize, calls: usize) {
        self.peak.levels = self.peak.levels.max(levels);
        self.peak.loops = self.peak.loops.max(loops);
        self.peak.calls = self.peak.calls.max(calls);
    }

    /// Generates the whole program, main part first.
    fn program(&mut self) -> Stmts {
        let all_calls = self.options.calls && self.chance(self.options.limits16);
        let subs = match self.options.calls {
            false => 0,
            true if all_calls => STACK_DEPTH,
            true => self.rng.random_range(0..4),
        };
        // From the last one on, each calling only later ones: no recursion.
        for n in (0..subs).rev() {
            self.subroutine(n, all_calls);
        }
        let at = At {
            passes: 1,
            ..At::default()
        };
        // Predicates are drawn before anything depends on them (r500-8.2).
        self.plain(&at);
        self.block(&at, 0);
        if all_calls {
            self.call(&at, true);
        }
        if self.chance(self.options.limits16) {
            self.deep(at, true);
        }
        if self.chance(self.options.limits16) {
            self.deep_loops(at);
        }
        if self.options.calls && self.chance(8) {
            self.call(&at, false);
        }
        self.block(&at, 0);
        self.push(&at, Stmt::Out);

        let mut all = std::mem::take(&mut self.stmts);
        // A label that no CALL names would not start a subroutine, so unreached ones are left out.
        for sub in self.subs.drain(..).rev() {
            let calls = |s: &Line<(Stmt, _)>| matches!(&s.item.0, Stmt::Call { label, .. } if *label == sub.label);
            if all.iter().any(calls) {
                all.push(Line::new(0, (Stmt::Label(sub.label), false)));
                all.extend(sub.stmts);
            }
        }
        all
    }

    /// Generates subroutine `n`; with `chain`, it always calls the next one.
    fn subroutine(&mut self, n: usize, chain: bool) {
        let outer_time = std::mem::replace(&mut self.time, i64::from(self.options.length / 5));
        let before = self.time;
        let counters = self.chance(11);
        self.peak = Need::default();
        let mut at = At {
            levels: usize::from(counters),
            passes: 1,
            sub: Some(counters),
            ..At::default()
        };
        self.note(at.levels, 0, 0);
        for part in 0..3 {
            self.block(&at, 1);
            if part == 0 && chain {
                self.call(&at, true);
            }
            if self.chance(5) {
                self.conditional_return(&mut at);
            }
        }
        self.return_(&at, None);
        let cost = before - self.time;
        // The time of subroutines is only spent when they are called.
        self.time = outer_time;
        self.subs.push(Routine {
            label: format!("s{n}"),
            counters,
            need: self.peak,
            cost,
            stmts: std::mem::take(&mut self.stmts),
        });
        self.peak = Need::default();
    }

    /// Adds a conditional RETURN at the top level of a subroutine.
    fn conditional_return(&mut self, at: &mut At) {
        let Some(counters) = at.sub else { return };
        if at.dynamic || at.in_static || at.levels >= self.limit().min(MAX_POPS) {
            return;
        }
        // Without counters, all lanes have to agree.
        let cond = if counters {
            self.cond(at)
        } else {
            self.static_cond()
        };
        self.return_(at, Some(cond));
        if counters {
            at.levels += 1;
            self.note(at.levels, at.loops, 0);
        }
    }

    /// Adds at least `least` statements.
    fn block(&mut self, at: &At, least: usize) {
        let most = if at.levels + at.loops < 3 { 5 } else { 3 };
        for _ in 0..self.rng.random_range(least..=most) {
            if self.room < 16 || self.time < at.passes {
                break;
            }
            self.statement(at);
        }
    }

    fn statement(&mut self, at: &At) {
        let o = self.options;
        let branches = if at.levels + at.loops > 6 { 2 } else { 6 };
        let loops = (o.loops || o.reps) && at.loops < STACK_DEPTH;
        let leaves = at.loops > 0 && at.pops <= MAX_POPS;
        let returns = at.sub.is_some() && at.in_static && !at.dynamic;
        let constructs: Constructs<Self, At, _> = [
            (Self::plain, 5),
            (Self::if_, when(at.levels < self.limit(), branches)),
            (Self::static_if, when(o.static_if, 2)),
            (Self::skip, when(o.static_if && o.noise, 1)),
            (Self::loop_, when(loops, 4)),
            (Self::leave, when(leaves, if at.pops > 0 { 6 } else { 3 })),
            (|b, at| b.call(at, false), when(!self.subs.is_empty(), 4)),
            (|b, at| b.return_(at, None), when(returns, 4)),
        ];
        choose(self.rng, &constructs)(self, at);
    }

    /// Adds a RETURN, for the lanes for which `cond` holds.
    fn return_(&mut self, at: &At, cond: Option<Cond>) {
        let counters = at.sub == Some(true);
        self.push(at, Stmt::Ret { cond, counters });
    }

    fn plain(&mut self, at: &At) {
        for _ in 0..self.rng.random_range(1..3) {
            let stmt = match self.rng.random_range(0..8) {
                0 => Stmt::Tex,
                1 => Stmt::Out,
                _ => Stmt::Alu,
            };
            self.push(at, stmt);
        }
    }

    /// Returns a condition, after adding the instructions that compute it.
    fn cond(&mut self, at: &At) -> Cond {
        let cond = match self.rng.random_range(0..8) {
            _ if !self.options.conditions => Cond::ALU,
            0..3 => Cond::ALU,
            3..5 => self.pred_cond(),
            5 => self.static_cond(),
            _ => Cond {
                table: self.rng.random(),
                ..self.pred_cond()
            },
        };
        let cond = if self.options.conditions && self.rng.random() {
            !cond
        } else {
            cond
        };
        // Any flow control clears the ALU result, so the instruction that computes it comes directly before
        // (r500-8.2). A predicate may also be an old one.
        let uses_alu = cond.table & 15 != cond.table >> 4;
        if uses_alu || self.chance(6) {
            self.push(at, Stmt::Alu);
        }
        cond
    }

    fn pred_cond(&mut self) -> Cond {
        const CHANNELS: [PredSel; 4] = [PredSel::R, PredSel::G, PredSel::B, PredSel::A];
        Cond {
            pred_inv: self.rng.random(),
            boolean: self.rng.random_range(0..32),
            ..Cond::pred(pick(self.rng, &CHANNELS))
        }
    }

    /// Returns a condition that is the same for all lanes.
    fn static_cond(&mut self) -> Cond {
        let cond = Cond::boolean(self.rng.random_range(0..32));
        if self.rng.random() { !cond } else { cond }
    }

    /// Returns the condition of an ELSE IF: its lanes were off since the IF, which has cleared their ALU
    /// result (r500-7.1).
    fn else_cond(&mut self) -> Cond {
        match self.rng.random_range(0..4) {
            0 => self.static_cond(),
            1 => {
                let half: u8 = self.rng.random_range(0..16);
                Cond {
                    table: half << 4 | half,
                    ..self.pred_cond()
                }
            }
            _ => self.pred_cond(),
        }
    }

    /// Adds an IF, and returns the place of what is in it.
    fn begin_if(&mut self, at: &At, cond: Cond) -> At {
        self.push(at, Stmt::If(cond));
        let inner = At {
            levels: at.levels + 1,
            pops: at.pops + 1,
            dynamic: true,
            ..*at
        };
        self.note(inner.levels, inner.loops, 0);
        inner
    }

    fn if_(&mut self, at: &At) {
        let cond = self.cond(at);
        let mut inner = self.begin_if(at, cond);
        self.block(&inner, 0);
        while self.options.else_if && inner.levels < self.limit() && self.chance(5) {
            self.else_if(&mut inner, at);
            self.block(&inner, 0);
        }
        if self.chance(8) {
            self.push(at, Stmt::Else);
            self.block(&inner, 0);
        }
        self.push(at, Stmt::Endif);
    }

    fn else_if(&mut self, inner: &mut At, at: &At) {
        let cond = self.else_cond();
        self.push(at, Stmt::ElseIf(cond));
        inner.levels += 1;
        inner.pops += 1;
        self.note(inner.levels, inner.loops, 0);
    }

    fn static_if(&mut self, at: &At) {
        let cond = self.static_cond();
        self.push(at, Stmt::StaticIf(cond));
        let inner = At {
            in_static: true,
            ..*at
        };
        self.block(&inner, 0);
        if self.chance(8) {
            self.push(at, Stmt::StaticElse);
            self.block(&inner, 0);
        }
        self.push(at, Stmt::StaticEndif);
    }

    /// Adds a plain jump over unreachable words.
    fn skip(&mut self, at: &At) {
        let label = format!("l{}", self.labels);
        self.labels += 1;
        self.push(at, Stmt::Jump(label.clone()));
        let stmt = junk(self.rng);
        self.push(at, stmt);
        self.push(at, Stmt::Label(label));
    }
}
