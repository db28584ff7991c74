//! Random programs: structured ones, structured ones with one rule broken, and raw words.
//!
//! Source: r500-7.1 and r500-8 in `docs/spec/r500.md`.
//!
//! | function | programs | what they are for |
//! |---|---|---|
//! | [`structured`] | every construct of r500-8.1, nested up to the limits | all three judges: each lane must do what it does alone |
//! | [`near_legal`] | the same with one word, constant or register changed | corners just outside the rules |
//! | [`raw`] | random words, random constants, random registers | everything else: every error, both modes, full stacks, full counters |
//!
//! Structured programs end by construction: statements only nest, a loop has a count, and a
//! subroutine calls only subroutines behind it. The other two need an instruction limit.

use rand::Rng;

use super::asm::{Cond, Line, Stmt, Targets, expand};
use super::isa::{AOp, BOp, Cmn, Fc, FcAddr, FcInst, Op, PredSel, Type};
use super::program::{MEMORY_SLOTS, Program, Registers, Slot};
use crate::generate::{chance, choose, pick, when};
use crate::input::InputError;

mod brim;
use brim::brim;

/// Frames of the loop stack, entries of the address stack (r500-3.2).
const STACK_DEPTH: usize = 4;

/// `B_POP_CNT` has 5 bits.
const MOST_POPS: usize = 31;

/// Where `IGNORE_UNCOVERED` is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ignore {
    /// Nowhere: uncovered lanes are like any.
    Never,
    /// On every flow-control instruction: only covered lanes follow their scalar paths.
    Always,
    /// Where Mesa sets it: IF, LOOP, ENDLOOP, BREAK, CONTINUE (r500-7.1).
    Mesa,
    /// On each instruction or not, at random.
    Mixed,
}

/// Which constructs a structured program is made of.
///
/// IF, IF/ELSE and plain instructions are always among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Full flow control. Without it only IF, ELSE, ELSE IF and static IF, 4 levels deep.
    pub full: bool,
    /// Conditions on predicates, booleans and tables of all three; otherwise on the ALU result.
    pub conditions: bool,
    /// ELSE fused with IF. Only with it can a lane's k depend on other lanes.
    pub else_if: bool,
    /// Static IF and plain jumps.
    pub static_if: bool,
    /// LOOP.
    pub loops: bool,
    /// REP.
    pub reps: bool,
    /// LOOP and REP for some lanes.
    pub some_lanes: bool,
    /// BREAK and CONTINUE as one conditional instruction, not only inside an IF.
    pub conditional_leave: bool,
    /// CALL and RETURN.
    pub calls: bool,
    /// Every loop counts 255 by one constant, as Mesa's do, and ends by BREAK.
    pub endless: bool,
    /// Where `IGNORE_UNCOVERED` is set.
    pub ignore: Ignore,
    /// Chance, in sixteenths, that a program drives one limit to its last value: 32 branch levels
    /// (4 in partial mode), 4 loops, 4 calls.
    pub limits16: u32,
    /// About how many instructions a wavefront executes at most; typical runs stay far below.
    pub length: u32,
    /// Random contents for everything the sequencer must not look at: reserved and unused fields,
    /// words of ALU, TEX and OUT instructions, code that is never reached, bits of the registers.
    pub noise: bool,
}

impl Options {
    /// Every construct of r500-8.1 in full mode.
    pub const ALL: Options = Options {
        full: true,
        conditions: true,
        else_if: true,
        static_if: true,
        loops: true,
        reps: true,
        some_lanes: true,
        conditional_leave: true,
        calls: true,
        endless: false,
        ignore: Ignore::Never,
        limits16: 3,
        length: 400,
        noise: true,
    };

    /// [`Options::ALL`] without the fused ELSE IF: a lane's k is the same alone and in a wavefront.
    pub const SAME_K: Options = Options {
        else_if: false,
        ..Options::ALL
    };

    /// What there is in partial mode.
    pub const PARTIAL: Options = Options {
        full: false,
        loops: false,
        reps: false,
        some_lanes: false,
        conditional_leave: false,
        calls: false,
        length: 150,
        ..Options::ALL
    };

    /// What Mesa emits (r500-7.1; the LOOP word with bit 5 set, r500-O29).
    pub const MESA: Options = Options {
        conditions: false,
        else_if: false,
        static_if: false,
        reps: false,
        some_lanes: false,
        conditional_leave: false,
        calls: false,
        endless: true,
        ignore: Ignore::Mesa,
        noise: false,
        ..Options::ALL
    };

    /// A random choice, so that a campaign also meets programs of few constructs, in which those
    /// few come at greater depth.
    pub fn random(rng: &mut (impl Rng + ?Sized)) -> Options {
        let ignore = match rng.random_range(0..8) {
            0..3 => Ignore::Never,
            3..5 => Ignore::Always,
            5 => Ignore::Mesa,
            _ => Ignore::Mixed,
        };
        match rng.random_range(0..16) {
            0..2 => Options {
                ignore,
                ..Options::PARTIAL
            },
            2 => Options::MESA,
            3..9 => Options {
                ignore,
                ..Options::ALL
            },
            _ => Options {
                full: true,
                conditions: rng.random_bool(0.8),
                else_if: rng.random_bool(0.25),
                static_if: rng.random_bool(0.4),
                loops: rng.random_bool(0.7),
                reps: rng.random_bool(0.5),
                some_lanes: rng.random_bool(0.4),
                conditional_leave: rng.random_bool(0.7),
                calls: rng.random_bool(0.5),
                endless: false,
                ignore,
                limits16: 3,
                length: rng.random_range(50..600),
                noise: rng.random_bool(0.7),
            },
        }
    }
}

/// A structured program that ends with every lane ACTIVE and both stacks empty, if run with any
/// conditions in the mode it is made for (r500-8.1).
pub fn structured<R: Rng + ?Sized>(rng: &mut R, options: &Options) -> Program {
    // `build` keeps within memory and limits, so one try is enough; smaller ones cannot hurt.
    let mut slots = 440;
    while slots > 20 {
        if let Ok(program) = build(rng, options, slots) {
            return program;
        }
        slots /= 2;
    }
    Program {
        name: "structured".to_owned(),
        slots: vec![Slot {
            cmn: Type::Out.bits(),
            ..Slot::default()
        }],
        ..Program::default()
    }
}

fn build<R: Rng + ?Sized>(
    rng: &mut R,
    options: &Options,
    slots: i64,
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
        room: slots,
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
    let lines: Vec<_> = stmts.into_iter().map(|s| Line::new(0, s)).collect();
    // Instructions in front of the first one, never reached.
    let start = if options.noise {
        rng.random_range(0..3)
    } else {
        0
    };
    let mut all: Vec<_> = (0..start).map(|_| Line::new(0, junk(rng))).collect();
    all.extend(lines);
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
        // A window without a slot to spare finds checks that are off by one.
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
            let absolute = fc.addr.jump_addr + offset;
            if absolute < 512 && rng.random_bool(0.3) {
                fc.addr = FcAddr {
                    jump_addr: absolute,
                    jump_global: true,
                    ..fc.addr
                };
                *slot = Fc {
                    addr: fc.addr,
                    ..fc
                }
                .encode();
            }
        }
    }
    if options.noise {
        add_noise(rng, &mut program);
    }
    Ok(program)
}

/// Random contents for whatever must have no effect (r500-2.2 to r500-2.5).
fn add_noise<R: Rng + ?Sized>(rng: &mut R, program: &mut Program) {
    for slot in &mut program.slots {
        let Some(mut fc) = Fc::decode(*slot) else {
            // Only TYPE tells that this is no flow control.
            slot.cmn |= rng.random::<u32>() & !3;
            (slot.inst, slot.addr) = (rng.random(), rng.random());
            continue;
        };
        let i = &mut fc.inst;
        if i.b_op0 != BOp::Decr && i.b_op1 != BOp::Decr {
            i.b_pop_cnt = rng.random_range(0..32);
        }
        let counts = matches!(i.op, Op::Loop | Op::Rep | Op::EndLoop | Op::EndRep);
        // ENDLOOP takes only the step of its constant, and not even LOOP's constant (r500-O21).
        let begins = matches!(i.op, Op::Loop | Op::Rep);
        if !counts || !begins && rng.random_bool(0.1) {
            fc.addr.int_addr = rng.random_range(0..32);
        }
        let table = i.jump_func;
        if table & 0x55 == table >> 1 & 0x55 {
            fc.addr.bool_addr = rng.random_range(0..32);
        }
        if table & 0x33 == table >> 2 & 0x33 && fc.cmn.pred_sel == PredSel::None {
            const LEGAL: [PredSel; 5] = [
                PredSel::None,
                PredSel::R,
                PredSel::G,
                PredSel::B,
                PredSel::A,
            ];
            fc.cmn.pred_sel = pick(rng, &LEGAL);
            fc.cmn.pred_inv = rng.random();
        }
        if i.a_op == AOp::Pop || table == 0 && i.jump_any && !begins {
            // A RETURN goes elsewhere, an ENDIF nowhere.
            fc.addr.jump_addr = rng.random_range(0..512);
        }
        let words = fc.encode();
        // TYPE, RGB_PRED_SEL and RGB_PRED_INV are all that matters of the first word.
        slot.cmn = words.cmn & 0x7b | rng.random::<u32>() & !0x7b;
        slot.inst = words.inst | rng.random::<u32>() & FcInst::RESERVED;
        slot.addr = words.addr | rng.random::<u32>() & FcAddr::RESERVED;
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

/// Any three words.
fn junk<R: Rng + ?Sized>(rng: &mut R) -> Stmt {
    let slot = Slot::new(rng.random(), rng.random(), rng.random());
    Stmt::Raw { slot, target: None }
}

/// What a routine needs, with all it calls.
#[derive(Clone, Copy, Default)]
struct Need {
    levels: usize,
    loops: usize,
    calls: usize,
}

/// A subroutine that is already written.
struct Routine {
    label: String,
    counters: bool,
    need: Need,
    /// Instructions of one pass, about.
    cost: i64,
    stmts: Vec<Stmt>,
}

/// Where a statement stands.
#[derive(Clone, Copy, Default)]
struct At {
    /// Branch levels open in this routine, with those of its CALL and RETURNs.
    levels: usize,
    /// Loops open in this routine.
    loops: usize,
    /// Levels that a BREAK has to close; the some-lanes loop itself is one.
    pops: usize,
    /// How often this place is passed, about.
    passes: i64,
    /// Whether a dynamic IF or loop is open, inside which no lane can return (r500-8.2).
    dynamic: bool,
    /// Static IFs open, within which a conditional RETURN would leave r to the path.
    in_static: bool,
    /// `Some(counters)` in a subroutine.
    sub: Option<bool>,
}

#[derive(Clone, Copy)]
enum Kind {
    Plain,
    If,
    StaticIf,
    Skip,
    Loop,
    Leave,
    Call,
    Return,
}

struct Builder<'a, R: ?Sized> {
    rng: &'a mut R,
    options: &'a Options,
    stmts: Vec<Stmt>,
    /// Slots left in memory.
    room: i64,
    /// Executed instructions left, about.
    time: i64,
    bool_const: u32,
    /// Counts of the integer constants in use.
    counts: Vec<u8>,
    /// Subroutines that can be called from here.
    subs: Vec<Routine>,
    /// The most that the routine being written has needed.
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

    fn ign(&mut self, stmt: &str) -> bool {
        match self.options.ignore {
            Ignore::Never => false,
            Ignore::Always => true,
            Ignore::Mesa => matches!(stmt, "IF" | "LOOP" | "ENDLOOP" | "BREAK" | "CONTINUE"),
            Ignore::Mixed => self.rng.random(),
        }
    }

    fn push(&mut self, at: &At, stmt: Stmt) {
        let slots = match stmt {
            Stmt::Label(_) | Stmt::StaticEndif => 0,
            // The repeated test and the way back from it lie out of line.
            Stmt::ElseIf { .. } => 3,
            _ => 1,
        };
        self.room -= slots;
        self.time -= at.passes;
        self.stmts.push(stmt);
    }

    fn note(&mut self, levels: usize, loops: usize, calls: usize) {
        self.peak.levels = self.peak.levels.max(levels);
        self.peak.loops = self.peak.loops.max(loops);
        self.peak.calls = self.peak.calls.max(calls);
    }

    /// The whole program, main part first.
    fn program(&mut self) -> Vec<Stmt> {
        let all_calls = self.options.calls && self.chance(self.options.limits16);
        let subs = match self.options.calls {
            false => 0,
            true if all_calls => STACK_DEPTH,
            true => self.rng.random_range(0..4),
        };
        // From the last one on, each knowing those behind it: no recursion.
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
        self.stmts.push(Stmt::Out);

        let mut all = std::mem::take(&mut self.stmts);
        // A label that no CALL names would not start a subroutine, so leave out what is not reached.
        for sub in self.subs.drain(..).rev() {
            let called = all
                .iter()
                .any(|s| matches!(s, Stmt::Call { label, .. } if *label == sub.label));
            if called {
                all.push(Stmt::Label(sub.label));
                all.extend(sub.stmts);
            }
        }
        all
    }

    /// Writes subroutine `n`; `chain`: it calls the one behind it for certain.
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
        let ign = self.ign("RETURN");
        self.push(
            &at,
            Stmt::Ret {
                cond: None,
                counters,
                ign,
            },
        );
        let cost = before - self.time;
        // What subroutines take is only taken when they are called.
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

    /// RETURN if ..., at the top level of a subroutine.
    fn conditional_return(&mut self, at: &mut At) {
        let Some(counters) = at.sub else { return };
        if at.dynamic || at.in_static || at.levels >= self.limit().min(MOST_POPS) {
            return;
        }
        // Without counters all lanes have to agree.
        let cond = if counters {
            self.cond(at)
        } else {
            self.static_cond()
        };
        let ign = self.ign("RETURN");
        self.push(
            at,
            Stmt::Ret {
                cond: Some(cond),
                counters,
                ign,
            },
        );
        if counters {
            at.levels += 1;
            self.note(at.levels, at.loops, 0);
        }
    }

    /// One to some statements.
    fn block(&mut self, at: &At, least: usize) {
        let mut at = *at;
        let most = if at.levels + at.loops < 3 { 5 } else { 3 };
        for _ in 0..self.rng.random_range(least..=most) {
            if self.room < 16 || self.time < at.passes {
                break;
            }
            self.statement(&mut at);
        }
    }

    fn statement(&mut self, at: &mut At) {
        let o = self.options;
        let deep = at.levels + at.loops > 6;
        let weights = [
            (Kind::Plain, 5),
            (
                Kind::If,
                when(at.levels < self.limit(), if deep { 2 } else { 6 }),
            ),
            (Kind::StaticIf, when(o.static_if, 2)),
            (Kind::Skip, when(o.static_if && o.noise, 1)),
            (
                Kind::Loop,
                when((o.loops || o.reps) && at.loops < STACK_DEPTH, 4),
            ),
            (
                Kind::Leave,
                when(
                    at.loops > 0 && at.pops <= MOST_POPS,
                    if at.pops > 0 { 6 } else { 3 },
                ),
            ),
            (Kind::Call, when(!self.subs.is_empty(), 4)),
            (
                Kind::Return,
                when(at.sub.is_some() && at.in_static && !at.dynamic, 4),
            ),
        ];
        match choose(self.rng, &weights) {
            Kind::Plain => self.plain(at),
            Kind::If => self.if_(at),
            Kind::StaticIf => self.static_if(at),
            Kind::Skip => self.skip(at),
            Kind::Loop => self.loop_(at),
            Kind::Leave => self.leave(at),
            Kind::Call => self.call(at, false),
            Kind::Return => {
                let counters = at.sub == Some(true);
                let ign = self.ign("RETURN");
                self.push(
                    at,
                    Stmt::Ret {
                        cond: None,
                        counters,
                        ign,
                    },
                );
            }
        }
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

    /// A condition, and before it what computes it.
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
        // Any flow control clears the ALU result, so its instruction comes directly before
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

    /// The same for all lanes.
    fn static_cond(&mut self) -> Cond {
        let cond = Cond::boolean(self.rng.random_range(0..32));
        if self.rng.random() { !cond } else { cond }
    }

    /// The condition of an ELSE IF: its lanes were off since the IF, which has cleared their ALU
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

    fn if_(&mut self, at: &At) {
        let cond = self.cond(at);
        let ign = self.ign("IF");
        self.push(at, Stmt::If { cond, ign });
        let mut inner = At {
            levels: at.levels + 1,
            pops: at.pops + 1,
            dynamic: true,
            ..*at
        };
        self.note(inner.levels, inner.loops, 0);
        self.block(&inner, 0);
        while self.options.else_if && inner.levels < self.limit() && self.chance(5) {
            self.else_if(&mut inner, at);
            self.block(&inner, 0);
        }
        if self.chance(8) {
            let ign = self.ign("ELSE");
            self.push(at, Stmt::Else { ign });
            self.block(&inner, 0);
        }
        let ign = self.ign("ENDIF");
        self.push(at, Stmt::Endif { ign });
    }

    fn else_if(&mut self, inner: &mut At, at: &At) {
        let cond = self.else_cond();
        let ign = self.ign("IF");
        self.push(at, Stmt::ElseIf { cond, ign });
        inner.levels += 1;
        inner.pops += 1;
        self.note(inner.levels, inner.loops, 0);
    }

    fn static_if(&mut self, at: &At) {
        let cond = self.static_cond();
        let ign = self.ign("IF");
        self.push(at, Stmt::StaticIf { cond, ign });
        let inner = At {
            in_static: true,
            ..*at
        };
        self.block(&inner, 0);
        if self.chance(8) {
            let ign = self.ign("JUMP");
            self.push(at, Stmt::StaticElse { ign });
            self.block(&inner, 0);
        }
        self.push(at, Stmt::StaticEndif);
    }

    /// A plain jump over words that are never reached.
    fn skip(&mut self, at: &At) {
        let label = format!("l{}", self.labels);
        self.labels += 1;
        let ign = self.ign("JUMP");
        self.push(
            at,
            Stmt::Jump {
                label: label.clone(),
                ign,
            },
        );
        let stmt = junk(self.rng);
        self.push(at, stmt);
        self.push(at, Stmt::Label(label));
    }

    /// An integer constant with this count.
    fn int(&mut self, count: u8) -> Option<u8> {
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

    fn loop_(&mut self, at: &At) {
        // Products of counts are what makes a run long. Counts 0 and 1 are corners of their own.
        let mut count = match self.rng.random_range(0..16) {
            _ if self.options.endless => 255,
            0 => 0,
            1..4 => 1,
            4..9 => 2,
            9..13 => 3,
            13 => 5,
            14 => 9,
            // Left by BREAK. Seldom, because under some conditions no lane breaks and every pass is made.
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

    /// LOOP or REP, and where its body stands.
    fn begin_loop(&mut self, at: &At, int: u8, cond: Option<Cond>, passes: i64) -> (bool, At) {
        let rep = self.options.reps && (!self.options.loops || self.rng.random());
        let ign = self.ign("LOOP");
        let stmt = match rep {
            true => Stmt::Rep { int, cond, ign },
            false => Stmt::Loop { int, cond, ign },
        };
        self.push(at, stmt);
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

    fn end_loop(&mut self, (rep, body): &(bool, At)) {
        let ign = self.ign("ENDLOOP");
        let stmt = if *rep {
            Stmt::EndRep { ign }
        } else {
            Stmt::EndLoop { ign }
        };
        self.push(body, stmt);
    }

    /// The way out of a loop that does not end by its count; `both`: by two opposite tests, so that
    /// it ends soon whether conditions are mostly 0 or mostly 1.
    fn exit(&mut self, at: &At, both: bool) {
        if at.levels >= self.limit() {
            return;
        }
        for negated in [false, true].into_iter().take(if both { 2 } else { 1 }) {
            self.push(at, Stmt::Alu);
            let ign = self.ign("BREAK");
            let cond = if negated { !Cond::ALU } else { Cond::ALU };
            if self.options.conditional_leave && self.rng.random() {
                self.push(
                    at,
                    Stmt::Break {
                        cond: Some(cond),
                        ign,
                    },
                );
                continue;
            }
            self.note(at.levels + 1, at.loops, 0);
            let if_ign = self.ign("IF");
            self.push(
                at,
                Stmt::If {
                    cond: Cond::ALU,
                    ign: if_ign,
                },
            );
            if negated {
                let ign = self.ign("ELSE");
                self.push(at, Stmt::Else { ign });
            }
            self.push(at, Stmt::Break { cond: None, ign });
            let ign = self.ign("ENDIF");
            self.push(at, Stmt::Endif { ign });
        }
    }

    fn leave(&mut self, at: &At) {
        // A bare BREAK as the loop's own statement ends it for every lane: seldom.
        let bare = at.pops > 0 || self.chance(2);
        let cond = match self.options.conditional_leave && (!bare || self.rng.random()) {
            true => Some(self.cond(at)),
            false if bare => None,
            false => return self.plain(at),
        };
        let stmt = match self.rng.random() {
            true => {
                let ign = self.ign("BREAK");
                Stmt::Break { cond, ign }
            }
            false => {
                let ign = self.ign("CONTINUE");
                Stmt::Continue { cond, ign }
            }
        };
        self.push(at, stmt);
    }

    /// CALLs a subroutine that fits here; `nearest`: the one written last.
    fn call(&mut self, at: &At, nearest: bool) {
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
        // Without counters only if every lane goes (r500-7.1).
        let cond = (counters && self.rng.random()).then(|| self.cond(at));
        let ign = self.ign("CALL");
        self.push(
            at,
            Stmt::Call {
                label,
                cond,
                counters,
                ign,
            },
        );
        self.time -= cost * at.passes;
        self.note(
            at.levels + need.levels,
            at.loops + need.loops,
            need.calls + 1,
        );
    }

    /// Branch levels up to the limit, some lanes leaving on the way and some arriving.
    fn deep(&mut self, mut at: At, first: bool) {
        let left = self.limit() - at.levels;
        if left == 0 {
            self.plain(&at);
            if at.loops > 0 && at.pops <= MOST_POPS {
                self.leave(&at);
            }
            return;
        }
        if self.room < 5 * left as i64 + 24 {
            return;
        }
        let cond = match first || !self.options.conditions || self.chance(2) {
            // Half of the lanes wait outside, and count up to the limit.
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
        // Either way leads deeper.
        let by_else = self.chance(4);
        let ign = self.ign("IF");
        let cond = if by_else && self.options.conditions {
            !cond
        } else {
            cond
        };
        self.push(&at, Stmt::If { cond, ign });
        let outer = at;
        at = At {
            levels: at.levels + 1,
            pops: at.pops + 1,
            dynamic: true,
            ..at
        };
        self.note(at.levels, at.loops, 0);
        if by_else {
            self.push(&at, Stmt::Alu);
            if self.options.else_if && left > 1 && self.chance(5) {
                let inner_cond = self.else_cond();
                let ign = self.ign("IF");
                self.push(
                    &outer,
                    Stmt::ElseIf {
                        cond: inner_cond,
                        ign,
                    },
                );
                at.levels += 1;
                at.pops += 1;
                self.note(at.levels, at.loops, 0);
                self.deep(at, false);
            } else {
                let ign = self.ign("ELSE");
                self.push(&outer, Stmt::Else { ign });
                self.deep(at, false);
            }
        } else {
            self.deep(at, false);
        }
        let ign = self.ign("ENDIF");
        self.push(&outer, Stmt::Endif { ign });
    }

    /// Four loops, one inside the other.
    fn deep_loops(&mut self, at: At) {
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

/// A structured program of any kind with one thing changed: a field of one word, a word in another
/// place, a constant, a register.
///
/// The result may still be structured (a change of a field that has no effect, or to a neighbouring
/// form), may run for ever, or may end in any error.
pub fn near_legal<R: Rng + ?Sized>(rng: &mut R) -> Program {
    let options = Options::random(rng);
    let mut program = structured(rng, &options);
    program.name = "near_legal".to_owned();
    if rng.random_bool(0.15) {
        break_registers(rng, &mut program);
    } else {
        break_word(rng, &mut program);
    }
    // What another OFFSET_ADDR moved out of the memory is not there: a saved case would be refused.
    let room = MEMORY_SLOTS - usize::from(program.regs.offset());
    program.slots.truncate(room);
    program
}

fn break_registers<R: Rng + ?Sized>(rng: &mut R, program: &mut Program) {
    let regs = &mut program.regs;
    let moved = |word: u32, by: u32| word & !0x1ff | word.wrapping_add(by) & 0x1ff;
    // One more or one less, both near the end of what is right.
    let by = if rng.random() { 1 } else { 0x1ff };
    match rng.random_range(0..8) {
        0 => regs.fc_ctrl ^= 1 << 31,
        1 => regs.code_offset = moved(regs.code_offset, by),
        2 => regs.code_addr = moved(regs.code_addr, by),
        3 => regs.code_addr = moved(regs.code_addr >> 16, by) << 16 | regs.code_addr & 0xffff,
        4 => regs.code_range = moved(regs.code_range, by),
        5 => {
            let size = program.slots.len() as u32;
            regs.code_range = rng.random_range(0..size) << 16 | u32::from(regs.offset());
        }
        6 => regs.bool_const ^= 1 << rng.random_range(0..32),
        _ => {
            const COUNTS: [u32; 4] = [0, 1, 2, 255];
            let constant = &mut regs.int_const[rng.random_range(0..32)];
            *constant = *constant & !0xff | pick(rng, &COUNTS);
        }
    }
}

fn break_word<R: Rng + ?Sized>(rng: &mut R, program: &mut Program) {
    let flow: Vec<usize> = (0..program.slots.len())
        .filter(|&i| Fc::decode(program.slots[i]).is_some())
        .collect();
    let any = rng.random_range(0..program.slots.len());
    let n = match flow.len() {
        0 => any,
        _ => pick(rng, &flow),
    };
    let Some(mut fc) = Fc::decode(program.slots[n]) else {
        program.slots[n] = raw_slot(rng, &Mix::TAME);
        return;
    };
    let i = &mut fc.inst;
    match rng.random_range(0..20) {
        0 => i.op = Op::from_bits(rng.random()),
        1 => i.b_else = !i.b_else,
        2..4 => i.jump_any = !i.jump_any,
        4 => i.a_op = AOp::from_bits(rng.random()),
        5 => i.jump_func = rng.random(),
        // Off by one in either direction.
        6..9 => i.b_pop_cnt = (i.b_pop_cnt + if rng.random() { 1 } else { 31 }) & 31,
        9 => i.b_op0 = BOp::from_bits(rng.random()),
        10 => i.b_op1 = BOp::from_bits(rng.random()),
        11 => i.ignore_uncovered = !i.ignore_uncovered,
        12 => fc.cmn.pred_sel = PredSel::from_bits(rng.random()),
        13 => fc.addr.int_addr = rng.random_range(0..32),
        14 => fc.addr.jump_addr = rng.random_range(0..512),
        15 => fc.addr.jump_addr = (fc.addr.jump_addr + if rng.random() { 1 } else { 511 }) & 511,
        16 => fc.addr.jump_global = !fc.addr.jump_global,
        17 => fc.cmn.ty = Type::Alu,
        18 => return program.slots[any] = program.slots[n],
        _ => return program.slots.swap(n, any),
    }
    program.slots[n] = fc.encode();
}

/// Weights of a raw program, in sixteenths unless it says otherwise.
#[derive(Clone, Copy)]
struct Mix {
    /// Flow control rather than ALU, TEX, OUT.
    flow: u32,
    /// Field values that are error 1, in 256ths.
    illegal256: u32,
    /// `B_POP_CNT` of 0 to 3.
    short_pops: u32,
    /// INCR, where there is a branch operation at all; the rest is DECR.
    incr: u32,
    /// A branch operation at all.
    b_ops: u32,
    /// `B_ELSE`.
    b_else: u32,
    /// `JUMP_GLOBAL`.
    global: u32,
    /// A table that depends on the lane, rather than any.
    by_lane: u32,
}

impl Mix {
    const TAME: Mix = Mix {
        flow: 16,
        illegal256: 2,
        short_pops: 14,
        incr: 8,
        b_ops: 10,
        b_else: 3,
        global: 8,
        by_lane: 8,
    };

    fn random<R: Rng + ?Sized>(rng: &mut R) -> Mix {
        Mix {
            flow: if rng.random_bool(0.7) {
                14
            } else {
                rng.random_range(4..=16)
            },
            illegal256: if rng.random_bool(0.8) { 0 } else { 1 },
            short_pops: rng.random_range(8..=16),
            // Counters near their limit need programs in which they mostly go up.
            incr: rng.random_range(5..=13),
            b_ops: rng.random_range(4..=14),
            b_else: rng.random_range(0..6),
            global: if rng.random() {
                16
            } else {
                rng.random_range(0..=16)
            },
            by_lane: rng.random_range(4..=14),
        }
    }
}

/// Three random words by the weights of `mix`: any operation, any target.
fn raw_slot<R: Rng + ?Sized>(rng: &mut R, mix: &Mix) -> Slot {
    let mut slot = Slot::new(rng.random(), rng.random(), rng.random());
    if !chance(rng, mix.flow) {
        if slot.cmn & 3 == Type::Fc.bits() {
            slot.cmn ^= 2;
        }
        return slot;
    }
    let illegal = |rng: &mut R| rng.random_range(0..256) < mix.illegal256;
    slot.cmn = slot.cmn & !3 | Type::Fc.bits();
    let mut cmn = Cmn::decode(slot.cmn);
    if !illegal(rng) && matches!(cmn.pred_sel.bits(), 1 | 6 | 7) {
        cmn.pred_sel = PredSel::from_bits(rng.random_range(2..6));
    }
    let mut i = FcInst::decode(slot.inst);
    if chance(rng, mix.short_pops) {
        i.b_pop_cnt &= 3;
    }
    if chance(rng, mix.by_lane) {
        const TABLES: [u8; 6] = [0x0f, 0xf0, 0x33, 0xcc, 0x3c, 0x7e];
        i.jump_func = pick(rng, &TABLES);
    }
    i.b_else = chance(rng, mix.b_else);
    for op in [&mut i.b_op0, &mut i.b_op1] {
        *op = match () {
            () if illegal(rng) => BOp::Reserved,
            () if !chance(rng, mix.b_ops) => BOp::None,
            () if chance(rng, mix.incr) => BOp::Incr,
            () => BOp::Decr,
        };
    }
    if i.a_op == AOp::Reserved && !illegal(rng) {
        i.a_op = AOp::None;
    }
    let mut addr = FcAddr::decode(slot.addr);
    addr.jump_global = chance(rng, mix.global);
    let words = Fc { cmn, inst: i, addr }.encode();
    Slot::new(
        words.cmn | slot.cmn & Cmn::RESERVED,
        words.inst | slot.inst & FcInst::RESERVED,
        words.addr | slot.addr & FcAddr::RESERVED,
    )
}

/// Random words in random surroundings. Four sorts:
///
/// * *wild* (1 in 16): every bit random, registers too. Ends within a few instructions, mostly in
///   error 1, 2 or 9.
/// * *weighted* (4 in 16): any operation anywhere, values mostly legal. Meets every other error
///   soon: under- and overflows of both stacks, targets outside the window.
/// * *brim* (2 in 16): fills counters and stacks to about their limits, and then does anything.
/// * *mapped* (9 in 16): each address is given a loop depth and a call depth, and an operation is
///   only put where those depths fit and only aims where they fit, but tables, branch operations
///   and the targets themselves are random. Runs for long, with lanes in every class, full stacks
///   and counters at the limit.
pub fn raw<R: Rng + ?Sized>(rng: &mut R) -> Program {
    let (name, program) = match rng.random_range(0..16) {
        0 => ("raw_wild", wild(rng)),
        1..5 => ("raw_weighted", weighted(rng)),
        5..7 => ("raw_brim", brim(rng)),
        _ => ("raw_mapped", mapped(rng)),
    };
    Program {
        name: name.to_owned(),
        ..program
    }
}

fn wild<R: Rng + ?Sized>(rng: &mut R) -> Program {
    let mut regs = Registers {
        fc_ctrl: rng.random(),
        code_addr: rng.random(),
        code_range: rng.random(),
        code_offset: rng.random(),
        bool_const: rng.random(),
        int_const: [0; 32],
    };
    rng.fill(&mut regs.int_const);
    if rng.random() {
        // Otherwise three of four end at the first fetch.
        regs.code_range = 511 << 16;
        regs.code_offset &= 63;
    }
    let slots = (0..MEMORY_SLOTS - usize::from(regs.offset()))
        .map(|_| Slot::new(rng.random(), rng.random(), rng.random()))
        .collect();
    Program {
        regs,
        slots,
        ..Program::default()
    }
}

/// Registers that leave room: mostly the whole memory is code, counts are mostly small.
fn wide_registers<R: Rng + ?Sized>(rng: &mut R, full: bool) -> Registers {
    let offset: u32 = if rng.random() {
        0
    } else {
        rng.random_range(0..128)
    };
    let (low, size) = match rng.random_range(0..4) {
        0 => (rng.random_range(0..=offset), rng.random_range(400..512)),
        _ => (0, 511),
    };
    let mut regs = Registers {
        fc_ctrl: u32::from(full) << 31 | rng.random::<u32>() >> 1,
        code_addr: rng.random::<u32>() & 0xfe00_fe00
            | rng.random_range(0..512u32) << 16
            | rng.random_range(0..256u32),
        code_range: rng.random::<u32>() & 0xfe00_fe00 | size << 16 | low,
        code_offset: rng.random::<u32>() & !0x1ff | offset,
        bool_const: rng.random(),
        int_const: [0; 32],
    };
    let small = rng.random_bool(0.7);
    for constant in &mut regs.int_const {
        *constant = rng.random();
        if small {
            *constant = *constant & !0xff | rng.random_range(0..5);
        } else if rng.random() {
            // Most of 256 counts are like any other.
            *constant = *constant & !0xff | pick(rng, &[0, 1, 2, 254, 255]);
        }
    }
    regs
}

/// The operation for this kind of loop.
fn by_kind(rep: bool, of_loop: Op, of_rep: Op) -> Op {
    if rep { of_rep } else { of_loop }
}

fn weighted<R: Rng + ?Sized>(rng: &mut R) -> Program {
    let full = rng.random_bool(0.85);
    let regs = wide_registers(rng, full);
    let mix = Mix::random(rng);
    // Operations on a stack, and how many of them push, in sixteenths: with as many pops as pushes
    // every run would end in an underflow.
    let stacks = if full {
        rng.random_range(1..=8)
    } else {
        rng.random_range(0..2)
    };
    let pushes = rng.random_range(9..=14);
    // One kind of loop alone, or both and with them error 4.
    let kinds = rng.random_range(0..3);
    let slots = (0..MEMORY_SLOTS - usize::from(regs.offset()))
        .map(|_| {
            let mut slot = raw_slot(rng, &mix);
            if slot.cmn & 3 != Type::Fc.bits() {
                return slot;
            }
            let mut i = FcInst::decode(slot.inst);
            let rep = match kinds {
                0 => false,
                1 => true,
                _ => rng.random(),
            };
            let push = chance(rng, pushes);
            i.op = match (chance(rng, stacks), push) {
                (false, _) => Op::Jump,
                (true, true) => by_kind(rep, Op::Loop, Op::Rep),
                (true, false) => match rng.random_range(0..4) {
                    0 => Op::Continue,
                    1 => by_kind(rep, Op::BreakLoop, Op::BreakRep),
                    _ => by_kind(rep, Op::EndLoop, Op::EndRep),
                },
            };
            let push = chance(rng, pushes);
            i.a_op = match (chance(rng, stacks), push) {
                _ if i.a_op == AOp::Reserved => AOp::Reserved,
                (false, _) => AOp::None,
                (true, true) => AOp::Push,
                (true, false) => AOp::Pop,
            };
            slot.inst = i.encode() | slot.inst & FcInst::RESERVED;
            slot
        })
        .collect();
    Program {
        regs,
        slots,
        ..Program::default()
    }
}

/// What may be taken for granted at an address of a mapped program.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Depths {
    loops: usize,
    calls: usize,
}

/// A map of depths, and operations that keep to it.
struct Map {
    depths: Vec<Depths>,
    /// One kind of loop for each depth, so that kinds match wherever a jump comes from.
    reps: [bool; STACK_DEPTH],
    /// The loop depth at which subroutines of each call depth begin and return.
    base: [usize; STACK_DEPTH + 1],
    /// Deepest call depth on the map.
    callers: usize,
}

impl Map {
    fn random<R: Rng + ?Sized>(rng: &mut R, full: bool, length: usize) -> Map {
        let (deepest, callers) = match full {
            true => (
                rng.random_range(0..=STACK_DEPTH),
                rng.random_range(0..=STACK_DEPTH),
            ),
            false => (0, 0),
        };
        let mut base = [0; STACK_DEPTH + 1];
        for calls in 1..=STACK_DEPTH {
            base[calls] = rng.random_range(base[calls - 1]..=deepest.min(base[calls - 1] + 1));
        }
        let steep = rng.random_range(4..24);
        // Calls change depth by jumps alone, so that call depths come in zones; each comes twice.
        let zone = (length / (2 * callers + 2)).max(1);
        let depths = (0..length)
            .scan(Depths { loops: 0, calls: 0 }, |at, i| {
                let calls = (i / zone) % (callers + 1);
                let above = at.loops - base[at.calls];
                if calls != at.calls {
                    *at = Depths {
                        loops: base[calls],
                        calls,
                    };
                } else if zone - i % zone <= 2 * above || i + 2 * above >= length {
                    // Everything ends before the zone does, so that its last jump has places to go.
                    at.loops -= usize::from(above > 0);
                } else if rng.random_range(0..steep) == 0 {
                    match above == 0 || rng.random_bool(0.6) {
                        true => at.loops += usize::from(at.loops < deepest),
                        false => at.loops -= 1,
                    }
                }
                Some(*at)
            })
            .collect();
        Map {
            depths,
            reps: rng.random(),
            base,
            callers,
        }
    }

    /// Where the operation at `i` jumps to.
    ///
    /// A JUMP goes a little forward within its loop body, so that runs sweep over the map and enter
    /// its loops. Targets all over it would soon catch every run in a few instructions: with many
    /// lanes most decisions come out the same each time.
    fn target<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        i: usize,
        (op, a_op, wanted): (Op, AOp, Depths),
    ) -> Option<u16> {
        let length = self.depths.len();
        let found = if self.is_border(i) {
            // To the start of the next zone of this call depth.
            let start = |n: usize| self.is_border((n + length - 1) % length);
            (i + 1..length)
                .chain(0..=i)
                .find(|&n| start(n) && self.depths[n] == wanted)
        } else if a_op == AOp::Push || rng.random_range(0..100) == 0 {
            let anywhere = rng.random_range(0..length);
            (anywhere..length)
                .chain(0..anywhere)
                .find(|&n| self.depths[n] == wanted)
        } else if matches!(op, Op::EndLoop | Op::EndRep) {
            // Back into the same loop, at worst to itself.
            let from = i.saturating_sub(rng.random_range(1..24));
            (from..=i).find(|&n| self.depths[n] == wanted)
        } else if op == Op::Jump {
            let to = (i + rng.random_range(1..10)).min(length - 1);
            Some(
                (i + 1..=to)
                    .take_while(|&n| self.depths[n] == wanted)
                    .last()
                    .unwrap_or(i + 1),
            )
        } else {
            (i + 1..length).find(|&n| self.depths[n] == wanted)
        };
        found.and_then(|n| u16::try_from(n).ok())
    }

    /// Behind the instruction at `i` another call depth begins, or nothing.
    fn is_border(&self, i: usize) -> bool {
        self.depths
            .get(i + 1)
            .is_none_or(|n| n.calls != self.depths[i].calls)
    }

    /// Operation, address operation and the depths a jump leads to, for the instruction at `i`.
    fn operation<R: Rng + ?Sized>(&self, rng: &mut R, i: usize) -> (Op, AOp, Depths) {
        let at = self.depths[i];
        let next = self.depths.get(i + 1).copied();
        let loops = next
            .filter(|n| n.calls == at.calls)
            .map_or(at.loops, |n| n.loops);
        if loops > at.loops {
            let op = by_kind(self.reps[at.loops], Op::Loop, Op::Rep);
            return (op, AOp::None, at);
        }
        if loops < at.loops {
            let op = by_kind(self.reps[loops], Op::EndLoop, Op::EndRep);
            return (op, AOp::None, at);
        }
        let outside = Depths {
            loops: at.loops.saturating_sub(1),
            ..at
        };
        match rng.random_range(0..16) {
            0..2 if at.loops > self.base[at.calls] => {
                let op = by_kind(self.reps[outside.loops], Op::BreakLoop, Op::BreakRep);
                (op, AOp::None, outside)
            }
            2..4 if at.loops > 0 => (Op::Continue, AOp::None, at),
            4..7 if at.calls < self.callers && at.loops == self.base[at.calls + 1] => (
                Op::Jump,
                AOp::Push,
                Depths {
                    calls: at.calls + 1,
                    ..at
                },
            ),
            7..9 if at.calls > 0 && at.loops == self.base[at.calls] => (Op::Jump, AOp::Pop, at),
            _ => (Op::Jump, AOp::None, at),
        }
    }
}

fn mapped<R: Rng + ?Sized>(rng: &mut R) -> Program {
    let full = rng.random_bool(0.85);
    let mut regs = wide_registers(rng, full);
    if rng.random_bool(0.9) {
        // A part of the map cut off would end most runs there.
        regs.code_range = 511 << 16;
    }
    let offset = regs.offset();
    let mix = Mix::random(rng);
    let map = Map::random(rng, full, MEMORY_SLOTS - usize::from(offset));
    let outside = Depths { loops: 0, calls: 0 };
    let from = rng.random_range(0..map.depths.len() / 2);
    let start = (from..map.depths.len())
        .find(|&i| map.depths[i] == outside)
        .unwrap_or_default();
    regs.code_addr = regs.code_addr & !0x1ff | start as u32;
    if rng.random() {
        // Otherwise a sweep over the map ends where it comes to END_ADDR.
        regs.code_addr |= 0x1ff << 16;
    }
    let mut slots = Vec::with_capacity(map.depths.len());
    for (i, &at) in map.depths.iter().enumerate() {
        let mut slot = raw_slot(rng, &mix);
        let next = map.depths.get(i + 1);
        // Only a LOOP or its end may stand where the map changes, and nothing can go on where it
        // ends or a subroutine begins.
        let border = map.is_border(i);
        if next != Some(&at) && slot.cmn & 3 != Type::Fc.bits() {
            slot = raw_slot(rng, &Mix { flow: 16, ..mix });
        }
        if let Some(mut fc) = Fc::decode(slot) {
            let mut operation = map.operation(rng, i);
            if border {
                operation = (Op::Jump, AOp::None, at);
                (fc.inst.jump_func, fc.inst.jump_any) = (0xff, false);
            }
            (fc.inst.op, fc.inst.a_op) = (operation.0, operation.1);
            if matches!(fc.inst.op, Op::Loop | Op::Rep) && rng.random_bool(0.8) {
                (fc.inst.jump_func, fc.inst.jump_any) = (0, true);
            }
            // Where there is nothing further on, the next instruction.
            let target = map.target(rng, i, operation).unwrap_or(i as u16 + 1);
            let base = if fc.addr.jump_global { offset } else { 0 };
            fc.addr.jump_addr = target + base;
            let words = fc.encode();
            slot.inst = words.inst | slot.inst & FcInst::RESERVED;
            slot.addr = words.addr | slot.addr & FcAddr::RESERVED;
        }
        slots.push(slot);
    }
    Program {
        regs,
        slots,
        ..Program::default()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    use super::super::scalar::{End, Scalar};
    use super::*;
    use crate::environment::{bits, draw_word};

    const PRESETS: [Options; 4] = [
        Options::ALL,
        Options::SAME_K,
        Options::PARTIAL,
        Options::MESA,
    ];

    fn rng(seed: u64) -> Pcg64Mcg {
        Pcg64Mcg::seed_from_u64(seed)
    }

    fn flow(program: &Program) -> impl Iterator<Item = Fc> {
        program.slots.iter().filter_map(|s| Fc::decode(*s))
    }

    /// Whatever the conditions are, mostly 0 and mostly 1 included.
    #[test]
    fn structured_programs_are_structured_and_end() {
        for (n, options) in PRESETS.iter().enumerate() {
            for seed in 1..=150 {
                let p = build(&mut rng(seed), options, 440).expect("fits at the first try");
                let what = || format!("preset {n} seed {seed}");
                let scalar = Scalar::new(&p).unwrap_or_else(|e| panic!("{}: {e}", what()));
                assert_eq!(scalar.possible_errors(), 0, "{}", what());
                for p16 in [0, 3, 8, 16] {
                    let t = scalar.run(200_000, &mut |k, _, _| bits(draw_word(seed, 1, k), 5, p16));
                    assert_eq!(t.end, End::Done, "{} p16 {p16}", what());
                    assert!(t.loops.is_empty() && t.addrs.is_empty(), "{}", what());
                }
            }
        }
    }

    #[test]
    fn random_options_make_structured_programs() {
        for seed in 1..=400 {
            let mut rng = rng(seed);
            let options = Options::random(&mut rng);
            let p = build(&mut rng, &options, 440).expect("fits at the first try");
            let scalar = Scalar::new(&p).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            assert_eq!(scalar.possible_errors(), 0, "seed {seed}");
            assert!(
                options.else_if || !scalar.k_depends_on_others(),
                "seed {seed}"
            );
        }
    }

    /// Each limit of r500-8.2 is driven to its last value, none beyond.
    #[test]
    fn limits_are_reached_exactly() {
        let (mut branch, mut loops, mut calls, mut partial) = (0, 0, 0, 0);
        for seed in 1..=60 {
            let full = Options {
                limits16: 16,
                ..Options::ALL
            };
            let p = structured(&mut rng(seed), &full);
            let d = Scalar::new(&p)
                .expect("structured")
                .depth()
                .expect("no recursion");
            branch = branch.max(d.branch);
            loops = loops.max(d.loops);
            calls = calls.max(d.calls);
            let p = structured(
                &mut rng(seed),
                &Options {
                    limits16: 16,
                    ..Options::PARTIAL
                },
            );
            let d = Scalar::new(&p)
                .expect("structured")
                .depth()
                .expect("no recursion");
            partial = partial.max(d.branch);
        }
        assert_eq!((branch, loops, calls, partial), (32, 4, 4, 4));
    }

    /// A construct that a generator never makes is never tested.
    #[test]
    fn every_construct_occurs() {
        let mut seen = BTreeSet::new();
        for seed in 1..=300 {
            // Without noise there is no code that is never reached.
            let options = Options {
                noise: false,
                ..Options::ALL
            };
            let p = structured(&mut rng(seed), &options);
            for fc in flow(&p) {
                let i = fc.inst;
                let count = p.regs.int_const[usize::from(fc.addr.int_addr)] & 0xff;
                seen.insert(match (i.op, i.a_op, i.b_else) {
                    (Op::Jump, AOp::Push, _) if i.jump_func == 0xff => "CALL",
                    (Op::Jump, AOp::Push, _) => "CALL if",
                    (Op::Jump, AOp::Pop, _) if i.b_op0 == BOp::Incr => "RETURN if",
                    (Op::Jump, AOp::Pop, _) if i.b_op1 == BOp::None => "RETURN without counters",
                    (Op::Jump, AOp::Pop, _) => "RETURN",
                    (Op::Jump, _, true) if i.b_op0 == BOp::Incr => "ELSE IF",
                    (Op::Jump, _, true) => "ELSE",
                    (Op::Loop, ..) if i.b_op0 == BOp::Incr => "LOOP for some lanes",
                    (Op::Rep, ..) if i.b_op0 == BOp::Incr => "REP for some lanes",
                    (Op::Loop | Op::Rep, ..) if count == 0 => "count 0",
                    (Op::Loop | Op::Rep, ..) if count == 1 => "count 1",
                    (Op::Loop | Op::Rep, ..) if count >= 10 => "long",
                    (Op::Loop, ..) => "LOOP",
                    (Op::Rep, ..) => "REP",
                    (Op::BreakLoop | Op::BreakRep, ..) if i.jump_func == 0xff => "BREAK",
                    (Op::BreakLoop | Op::BreakRep, ..) => "BREAK if",
                    (Op::Continue, ..) if i.jump_func == 0xff => "CONTINUE",
                    (Op::Continue, ..) => "CONTINUE if",
                    _ if i.jump_func == 0xff => "JUMP",
                    _ if i.b_op0 == BOp::Incr && i.b_op1 == BOp::Incr => "IF with ELSE",
                    _ if i.b_op0 == BOp::Incr => "IF",
                    _ => "other",
                });
                seen.insert(if fc.addr.jump_global {
                    "global"
                } else {
                    "relative"
                });
                if fc.cmn.pred_inv && fc.cmn.pred_sel == PredSel::A && i.jump_func == 0xcc {
                    seen.insert("inverted A");
                }
            }
        }
        let wanted = [
            "BREAK",
            "BREAK if",
            "CALL",
            "CALL if",
            "CONTINUE",
            "CONTINUE if",
            "ELSE",
            "ELSE IF",
            "IF",
            "IF with ELSE",
            "JUMP",
            "LOOP",
            "LOOP for some lanes",
            "REP",
            "REP for some lanes",
            "RETURN",
            "RETURN if",
            "RETURN without counters",
            "count 0",
            "count 1",
            "global",
            "inverted A",
            "long",
            "other",
            "relative",
        ];
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), wanted);
    }

    /// The list of Mesa's words under the table of r500-7.1, LOOP with bit 5.
    #[test]
    fn mesa_programs_have_mesas_words() {
        const WORDS: [u32; 6] = [
            0x1a00_0f00,
            0x1200_0f00,
            0x0401_0010,
            0x0101_0020,
            0x1000_0021,
            0x1000_ff22,
        ];
        for seed in 1..=100 {
            let p = structured(&mut rng(seed), &Options::MESA);
            for fc in flow(&p) {
                let word = fc.inst.encode();
                let leaves = matches!(word & !0x1f_0000, 0x1400_ff05 | 0x1400_ff07);
                assert!(WORDS.contains(&word) || leaves, "seed {seed}: {word:08x}");
                assert_eq!(fc.cmn, Cmn::FC);
            }
        }
    }

    #[test]
    fn partial_programs_have_no_stacks() {
        for seed in 1..=100 {
            let options = Options {
                noise: false,
                ..Options::PARTIAL
            };
            let p = structured(&mut rng(seed), &options);
            assert!(!p.regs.full());
            assert!(flow(&p).all(|fc| fc.inst.op == Op::Jump && fc.inst.a_op == AOp::None));
        }
    }

    #[test]
    fn ignore_uncovered_is_set_where_asked() {
        for (ignore, ends_if) in [
            (Ignore::Never, false),
            (Ignore::Always, true),
            (Ignore::Mesa, false),
        ] {
            let options = Options {
                ignore,
                noise: false,
                ..Options::ALL
            };
            for seed in 1..=50 {
                let p = structured(&mut rng(seed), &options);
                for i in flow(&p).map(|fc| fc.inst) {
                    let is_if = i.op == Op::Jump && i.a_op == AOp::None && i.b_op0 == BOp::Incr;
                    let is_endif = i.op == Op::Jump && i.b_op0 == BOp::Decr;
                    if is_if && !i.b_else {
                        assert_eq!(i.ignore_uncovered, ignore != Ignore::Never);
                    } else if is_endif {
                        assert_eq!(i.ignore_uncovered, ends_if);
                    }
                }
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_program() {
        for seed in 1..=10 {
            let all =
                |rng: &mut Pcg64Mcg| [structured(rng, &Options::ALL), near_legal(rng), raw(rng)];
            assert_eq!(all(&mut rng(seed)), all(&mut rng(seed)));
            assert_ne!(raw(&mut rng(seed)).slots, raw(&mut rng(seed + 1000)).slots);
        }
    }

    /// Both sides of the border: a change that never mattered would test nothing, and one that
    /// always broke everything at once would be no better than `raw`.
    #[test]
    fn near_legal_programs_are_near_legal() {
        let (mut inside, mut outside) = (0, 0);
        for seed in 1..=500 {
            let p = near_legal(&mut rng(seed));
            match Scalar::new(&p) {
                Ok(_) => inside += 1,
                Err(_) => outside += 1,
            }
        }
        assert!(
            inside > 100 && outside > 100,
            "{inside} inside, {outside} outside"
        );
    }

    #[test]
    fn raw_programs_fit_the_memory_and_come_in_all_sorts() {
        let mut sorts = BTreeSet::new();
        let (mut partial, mut illegal) = (0, 0);
        for seed in 1..=300 {
            let p = raw(&mut rng(seed));
            assert!(
                p.slots.len() + usize::from(p.regs.offset()) <= MEMORY_SLOTS,
                "seed {seed}"
            );
            let reserved = |i: &FcInst| i.b_op0 == BOp::Reserved || i.a_op == AOp::Reserved;
            partial += u32::from(!p.regs.full());
            illegal += u32::from(flow(&p).any(|fc| reserved(&fc.inst)));
            sorts.insert(p.name);
        }
        assert_eq!(
            sorts.into_iter().collect::<Vec<_>>(),
            ["raw_brim", "raw_mapped", "raw_weighted", "raw_wild"]
        );
        assert!((20..100).contains(&partial), "{partial}");
        assert!((20..150).contains(&illegal), "{illegal}");
    }
}
