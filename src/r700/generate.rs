//! Random programs: structured ones, structured ones with one rule broken, and raw words.
//!
//! Source: r700-7.1 and r700-9 in `docs/spec/r700.md`.
//!
//! | function | programs | what they are for |
//! |---|---|---|
//! | [`structured`] | every construct of r700-9.1, nested up to the limits | all three judges: each lane must do what it does alone |
//! | [`near_legal`] | the same with one word, constant or register changed, and stacks filled to the brim | corners just outside the rules |
//! | [`raw`] | random words, random constants, random registers | everything else: every error, every frame on every other |
//!
//! Structured programs end by construction: statements only nest, a loop has a count or two exits of
//! which every lane takes one sooner or later, and a subroutine calls only subroutines behind it. The
//! other two need an instruction limit.
//!
//! Some states are so far off that only programs made for them get there: a long counted loop
//! ([`Options::long1000`]) for large loop indices and long runs, code at high addresses for wide return
//! addresses, and for a full stack the one that `near_legal` fills.

use std::collections::BTreeSet;

use rand::Rng;

use super::asm::{ElseForm, EndifForm, Line, LoopKind, Stmt, When, expand};
use super::isa::{Cf, CfOp, Clause, Cond, Mem, MemOp, Word};
use super::program::{MOST_QUADS, Program, Quad, Registers};
use crate::generate::{chance, choose, pick, when};
use crate::input::InputError;

mod near_legal;
mod parted;
mod raw;

pub use near_legal::near_legal;
pub use raw::raw;

/// Sub-entries of the stack at its default build size (r700-3.4), and so of the deepest program.
const SPACE: u32 = 128;
/// Sub-entries that a loop frame takes; a branch or call frame takes one.
const LOOP_FRAME: u32 = 4;
/// What the first live branch frame takes besides its own (r700-3.4).
const RESERVE: u32 = 2;
/// Deepest call nesting that a CALL may lead to (r700-4.3).
const CALL_DEPTH: u32 = 32;

/// Everything that [`structured`] can put into a program, by the names that [`Constructs`] uses.
pub const CONSTRUCTS: &[&str] = &[
    "ALU_BREAK",
    "ALU_CONTINUE",
    "BREAK",
    "BREAK by a boolean",
    "BREAK expanded",
    "BREAK under several IFs",
    "CALL",
    "CALL by a boolean",
    "CALL in a loop",
    "CALL in a subroutine",
    "CALL under an IF",
    "CALL_COUNT 0",
    "CALL_COUNT above 1",
    "CONTINUE",
    "CONTINUE by a boolean",
    "CONTINUE expanded",
    "CONTINUE under several IFs",
    "ELSE",
    "ELSE fused",
    "ELSE that stays",
    "END on EXPORT_DONE",
    "END on NOP",
    "ENDIF fused",
    "ENDIF fused, u",
    "IF",
    "IF not",
    "JUMP left out",
    "KILL",
    "KILL by a boolean",
    "LOOP",
    "LOOP until break",
    "LOOP_BREAK FALSE",
    "PUSH",
    "PUSH_ELSE",
    "REPEAT",
    "VPM on ELSE",
    "VPM on LOOP_END",
    "VPM on POP",
    "VPM on PUSH",
    "aL counts down",
    "call depth 32",
    "code behind a BREAK",
    "count 0",
    "count 1",
    "count of 10 or more",
    "count of thousands",
    "full stack",
    "loop in a loop",
    "loop in a subroutine",
    "loop under an IF",
    "nested IF",
    "skip in a loop body",
    "skip in a part of an IF",
    "skip to the end",
    "slot",
    "slot by a boolean",
    "too deep a CALL",
    "two ENDIFs fused",
    "uniform ELSE",
    "uniform IF",
];

/// The constructs of one program, each of them in [`CONSTRUCTS`].
pub type Constructs = BTreeSet<&'static str>;

/// Which constructs a structured program is made of.
///
/// IF with and without ELSE, and plain instructions, are always among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Every form of r700-7.1; otherwise those that LLVM and Mesa emit.
    pub forms: bool,
    /// IFs on booleans, with and without a frame; booleans on BREAK, CONTINUE, CALL, KILL and slots.
    pub uniform: bool,
    /// Loops that only breaks end.
    pub until_break: bool,
    /// LOOP with aL, and REPEAT.
    pub counted: bool,
    /// CONTINUE.
    pub continues: bool,
    /// ALU with u and no push, where r700-9.2 allows it.
    pub skips: bool,
    /// CALL and RETURN.
    pub calls: bool,
    /// KILL, and `VALID_PIXEL_MODE` within the limits of r700-9.2.
    pub kill: bool,
    /// Chance, in sixteenths, that a program drives one limit to its last value: the stack of
    /// `SPACE` sub-entries, by branches or loops, or 32 nested calls.
    pub limits16: u32,
    /// Chance, in thousandths, that a program has one counted loop of 1,100 to 4,095 passes, with
    /// `aL` in steps of 127 or 128 either way. It comes on top of `length`, with 20,000 instructions at
    /// most.
    pub long1000: u32,
    /// About how many instructions a wave executes at most; typical runs stay far below.
    pub length: u32,
    /// Random contents for everything the sequencer must not look at: reserved and unused fields,
    /// clauses, words that are never reached, the rest of the address space.
    pub noise: bool,
}

impl Options {
    /// Every construct of r700-9.1.
    pub const ALL: Options = Options {
        forms: true,
        uniform: true,
        until_break: true,
        counted: true,
        continues: true,
        skips: true,
        calls: true,
        kill: true,
        limits16: 2,
        long1000: 5,
        length: 300,
        noise: true,
    };

    /// What LLVM emits (r700-8.2).
    pub const LLVM: Options = Options {
        forms: false,
        uniform: false,
        counted: false,
        continues: false,
        skips: false,
        calls: false,
        kill: false,
        noise: false,
        ..Options::ALL
    };

    /// A random choice, so that a campaign also meets programs of few constructs, in which those
    /// few come at greater depth.
    pub fn random(rng: &mut (impl Rng + ?Sized)) -> Options {
        match rng.random_range(0..16) {
            0 => Options::LLVM,
            1..8 => Options::ALL,
            _ => Options {
                forms: rng.random_bool(0.8),
                uniform: rng.random_bool(0.5),
                until_break: rng.random_bool(0.6),
                counted: rng.random_bool(0.6),
                continues: rng.random_bool(0.6),
                skips: rng.random_bool(0.4),
                calls: rng.random_bool(0.5),
                kill: rng.random_bool(0.3),
                limits16: 2,
                long1000: 5,
                length: rng.random_range(50..500),
                noise: rng.random_bool(0.7),
            },
        }
    }
}

/// A structured program that ends with an empty stack, whatever the conditions (r700-9.1).
///
/// `STACK_SIZE` is mostly what the accounting of r700-3.4 gives for its deepest nesting, never less.
pub fn structured<R: Rng + ?Sized>(rng: &mut R, options: &Options) -> Program {
    structured_of(rng, options).0
}

/// [`structured`], with the constructs that it is made of.
pub fn structured_of<R: Rng + ?Sized>(rng: &mut R, options: &Options) -> (Program, Constructs) {
    // Whatever `build` writes nests, so one try is enough; smaller ones cannot hurt.
    let mut quads = 500;
    while quads > 20 {
        if let Ok(made) = build(rng, options, quads) {
            return made;
        }
        quads /= 2;
    }
    let end = Cf {
        end: true,
        ..Cf::new(CfOp::Nop)
    };
    let program = Program {
        name: "structured".to_owned(),
        regs: Registers {
            prog_len: 1,
            ..Registers::default()
        },
        quads: vec![end.encode()],
    };
    (program, Constructs::from(["END on NOP"]))
}

fn build<R: Rng + ?Sized>(
    rng: &mut R,
    options: &Options,
    quads: i64,
) -> Result<(Program, Constructs), InputError> {
    let mut b = Builder {
        bool_const: rng.random(),
        rng,
        options,
        stmts: vec![],
        room: quads,
        time: i64::from(options.length),
        counts: vec![],
        steep: None,
        subs: vec![],
        peak: Need::default(),
        met: Constructs::new(),
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
    if need == SPACE {
        met.insert("full stack");
    }
    let mut parts = vec![(None, main)];
    for sub in subs.into_iter().rev() {
        // A label that no CALL names would not start a subroutine, so leave out what is not reached.
        let calls = |s: &Stmt| matches!(s, Stmt::Call { label, .. } if *label == sub.label);
        if parts.iter().any(|(_, stmts)| stmts.iter().any(calls)) {
            let at = rng.random_range(0..=parts.len());
            parts.insert(at, (Some(sub.label), sub.stmts));
            met.extend(sub.met);
        }
    }
    let mut lines = Vec::new();
    for (label, stmts) in parts {
        // Words between the parts, never reached.
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
        stack_size: need.div_ceil(4) as u8,
        bool_const,
        loop_const: [0; 32],
    };
    if chance(rng, 4) {
        let more = rng.random::<u8>() >> rng.random_range(0..8);
        regs.stack_size = regs.stack_size.saturating_add(more);
    }
    if options.noise && chance(rng, 2) {
        // Nothing is lost by a program that ends before its memory does.
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
            met.insert("aL counts down");
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
    Ok((program, met))
}

/// The label at which the main part begins.
const MAIN: &str = "main";

/// The bits of both words that have no effect on the sequencer (r700-2.2 to r700-2.4, r700-4.3).
fn unused(quad: Quad) -> (u32, u32) {
    const POPS: u32 = 7;
    const CF_CONST: u32 = 31 << 3;
    const CALL_COUNT: u32 = 63 << 13;
    // COUNT and COUNT_3, the reserved bit, BARRIER.
    const NEVER: u32 = 7 << 10 | 1 << 19 | Cf::RESERVED | 1 << 31;
    const WQM: u32 = 1 << 30;
    let cf = match Word::decode(quad) {
        Word::Alu(_) => return (u32::MAX, !(15 << 26)),
        Word::Mem(_) => return (u32::MAX, Mem::REST | WQM | 1 << 31),
        Word::Reserved(..) => return (u32::MAX, 0),
        Word::Cf(cf) => cf,
    };
    let boolean = match cf.cond {
        Cond::Bool | Cond::NotBool => 0,
        Cond::Active | Cond::False => CF_CONST,
    };
    match cf.op {
        CfOp::LoopStart | CfOp::LoopStartNoAl => (0, NEVER | CALL_COUNT),
        CfOp::Jump | CfOp::Push | CfOp::Else | CfOp::LoopStartDx10 => {
            (0, NEVER | CALL_COUNT | boolean)
        }
        CfOp::PushElse | CfOp::LoopEnd | CfOp::LoopBreak | CfOp::LoopContinue | CfOp::Kill => {
            (0, NEVER | CALL_COUNT | boolean | POPS)
        }
        // Neither jumps to its ADDR (r700-O12, r700-O19).
        CfOp::Pop => (u32::MAX, NEVER | CALL_COUNT | boolean),
        CfOp::Return => (u32::MAX, NEVER | CALL_COUNT | boolean | POPS),
        CfOp::Call => (0, NEVER | boolean),
        CfOp::PopJump | CfOp::PopPush | CfOp::PopPushElse => (u32::MAX, 0),
        _ => (u32::MAX, NEVER | CALL_COUNT | boolean | POPS | WQM),
    }
}

/// Random contents for whatever must have no effect.
fn add_noise<R: Rng + ?Sized>(rng: &mut R, program: &mut Program) {
    for quad in &mut program.quads {
        let (mask0, mask1) = unused(*quad);
        quad.dw0 ^= rng.random::<u32>() & mask0;
        quad.dw1 ^= rng.random::<u32>() & mask1;
    }
}

/// A trip count next to a power of two.
fn corner_count<R: Rng + ?Sized>(rng: &mut R) -> u32 {
    let power = 1_u32 << rng.random_range(0..=12);
    (power + rng.random_range(0..3)).saturating_sub(1) & 0xfff
}

/// Moves the program to high addresses, with zero words below it: up to the last address that a program
/// may use here, or across a power of two. Now and then it begins with a CALL at its last address, which
/// at the highest one returns to where no 16 bits lead.
fn raise<R: Rng + ?Sized>(rng: &mut R, program: &mut Program) {
    let regs = &mut program.regs;
    let len = program.quads.len() as u32;
    let inside = |addr: u32| addr <= len.saturating_add(2);
    let appended = match rng.random_range(0..4) {
        0 | 1 => 0,
        n => n - 1,
    };
    let Some(most) = (MOST_QUADS as u32).checked_sub(len + appended) else {
        return;
    };
    let base = match rng.random_range(0..4) {
        0 | 1 => most,
        2 => {
            let power = 1_u32 << rng.random_range(8..16);
            power - rng.random_range(0..=len.min(power))
        }
        _ => rng.random_range(0..=most),
    };
    let base = base.min(most);
    for quad in &mut program.quads {
        let jumps = matches!(Word::decode(*quad), Word::Cf(cf) if is_control(cf.op));
        if jumps && (inside(quad.dw0) || quad.dw0 == regs.prog_len) {
            quad.dw0 = quad.dw0.saturating_add(base);
        }
    }
    if inside(regs.entry) {
        regs.entry += base;
    }
    regs.prog_len = regs.prog_len.saturating_add(base + appended);
    let zeros = std::iter::repeat_n(Quad::default(), base as usize);
    program.quads.splice(0..0, zeros);
    let call = |addr| {
        Cf {
            addr,
            call_count: 1,
            ..Cf::new(CfOp::Call)
        }
        .encode()
    };
    let end = base + len;
    match appended {
        // What begins as usual then ends in END_STACK.
        1 => program.quads.push(call(regs.entry)),
        2 => program
            .quads
            .extend([Cf::new(CfOp::Return).encode(), call(end)]),
        _ => return,
    }
    regs.entry = end + appended - 1;
}

/// Any two words.
fn junk<R: Rng + ?Sized>(rng: &mut R) -> Stmt {
    let quad = Quad {
        dw0: rng.random(),
        dw1: rng.random(),
        u: false,
    };
    Stmt::Raw { quad, target: None }
}

/// Sub-entries that a routine needs, with all it calls (r700-3.4).
#[derive(Clone, Copy, Default)]
struct Need {
    /// If no branch frame is live around it.
    bare: u32,
    /// If one is: its reserve counted from the beginning.
    under: u32,
}

/// A subroutine that is already written.
struct Routine {
    label: String,
    need: Need,
    /// The most that `CALL_COUNT`s add up to inside.
    calls: u32,
    /// Instructions of one pass, about.
    cost: i64,
    met: Constructs,
    stmts: Vec<Stmt>,
}

/// What `ALU u` without a push would skip here (r700-9.2).
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Skips {
    /// It may not stand here: the lane would be woken too soon, or not by the end of the subroutine.
    #[default]
    Nothing,
    /// The rest of the program.
    Program,
    /// The rest of the pass.
    Pass,
    /// The rest of the part of an IF.
    Part,
}

/// Where a statement stands.
#[derive(Clone, Copy, Default)]
struct At {
    /// Sub-entries in use in this routine.
    sp: u32,
    /// A branch frame is live in this routine.
    branch: bool,
    /// Statements around this one in the routine.
    nest: usize,
    /// IFs with a frame open in the innermost loop of this routine, or in the routine.
    ifs: usize,
    /// Loops open in this routine.
    loops: usize,
    /// CONTINUE may stand here: a lane that continues each time still gets out of the loop.
    may_continue: bool,
    /// What ALU with u does.
    skips: Skips,
    /// How often this place is passed, about.
    passes: i64,
    /// In a subroutine.
    sub: bool,
}

#[derive(Clone, Copy)]
enum Kind {
    Plain,
    If,
    Uniform,
    Loop,
    Leave,
    Skip,
    Call,
    Kill,
}

/// How an IF begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Head {
    If,
    IfNot,
    Push,
    PushElse,
}

/// BREAK or CONTINUE.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leave {
    Break,
    Continue,
}

/// What a chain of nested statements is made of.
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
    /// Executed instructions left, about.
    time: i64,
    bool_const: u32,
    /// Counts of the loop constants in use.
    counts: Vec<u16>,
    /// The loop constant of the long loop, and its step.
    steep: Option<(usize, u8)>,
    /// Subroutines that can be called from here.
    subs: Vec<Routine>,
    /// The most that the routine being written has needed.
    peak: Need,
    met: Constructs,
}

impl<R: Rng + ?Sized> Builder<'_, R> {
    fn chance(&mut self, out_of_16: u32) -> bool {
        chance(self.rng, out_of_16)
    }

    fn met(&mut self, construct: &'static str) {
        debug_assert!(CONSTRUCTS.contains(&construct), "{construct}");
        self.met.insert(construct);
    }

    fn push(&mut self, at: &At, stmt: Stmt) {
        let quads = match stmt {
            Stmt::Label(_) => 0,
            Stmt::If { .. } => 2,
            Stmt::BreakUnless { expanded: true, .. }
            | Stmt::ContinueUnless { expanded: true, .. } => 5,
            _ => 1,
        };
        self.room -= quads;
        self.time -= quads * at.passes;
        self.stmts.push(stmt);
    }

    /// `at` with a frame more.
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

    /// Whether `more` sub-entries fit on top of `at`, the reserve counted in any case.
    fn fits(at: &At, more: u32) -> bool {
        // A subroutine does not know how much there is below it; half of the stack is left to that.
        let space = if at.sub { SPACE / 2 } else { SPACE };
        at.sp + more + RESERVE <= space
    }

    /// The whole program, main part first.
    fn program(&mut self) -> Vec<Stmt> {
        let limit = self.chance(self.options.limits16);
        let chain = limit && self.options.calls && self.chance(5);
        let subs = match self.options.calls {
            false => 0,
            // One more than there may be: the last CALL is skipped.
            true if chain => CALL_DEPTH + self.rng.random_range(0..2),
            true => self.rng.random_range(0..5),
        };
        // From the last one on, each knowing those behind it: no recursion.
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
                true => SPACE,
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

    /// Writes subroutine `n`; `chain`: it calls the one behind it for certain and does little else.
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
            // Half of them under an IF, which takes a sub-entry more.
            let around =
                self.chance(2) && Self::fits(&at, 1 + self.subs.last().map_or(0, |s| s.need.under));
            if around {
                at = self.deep_if(&at);
            }
            if !self.subs.is_empty() {
                calls = self.call(&at, true);
            }
            if around {
                self.push(
                    &at,
                    Stmt::Endif {
                        form: EndifForm::Pop,
                        vpm: false,
                    },
                );
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
        // What subroutines take is only taken when they are called.
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

    /// The most that the calls in `stmts` add to the depth.
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

    /// Some statements.
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
        let deep = at.nest > 6;
        let kind = choose(
            self.rng,
            &[
                (Kind::Plain, 5),
                (Kind::If, when(Self::fits(at, 2), if deep { 2 } else { 7 })),
                (Kind::Uniform, when(o.uniform, 1)),
                (
                    Kind::Loop,
                    when(
                        (o.until_break || o.counted) && Self::fits(at, LOOP_FRAME + 2),
                        4,
                    ),
                ),
                (
                    Kind::Leave,
                    when(at.loops > 0, if at.ifs > 0 { 6 } else { 3 }),
                ),
                (Kind::Skip, when(o.skips && at.skips != Skips::Nothing, 1)),
                (Kind::Call, when(!self.subs.is_empty(), 4)),
                (Kind::Kill, when(o.kill, 1)),
            ],
        );
        match kind {
            Kind::Plain => self.plain(at),
            Kind::If => self.if_(at, 0),
            Kind::Uniform => self.uniform(at),
            Kind::Loop => self.loop_(at),
            Kind::Leave => self.leave(at),
            Kind::Skip => self.skip(at),
            Kind::Call => {
                self.call(at, false);
            }
            Kind::Kill => self.kill(at),
        }
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

    /// Where its slots would stand in a real program means nothing to the sequencer.
    fn clause(&mut self) -> Clause {
        Clause {
            count: self.rng.random_range(0..128),
            ..Clause::at(self.rng.random_range(0..=Clause::ADDR))
        }
    }

    /// An instruction that is executed and does nothing here.
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

    /// The same for all lanes.
    fn boolean(&mut self) -> When {
        let n = self.rng.random_range(0..32);
        if self.rng.random() {
            When::Bool(n)
        } else {
            When::NotBool(n)
        }
    }

    /// True, whatever the lanes are.
    fn true_boolean(&mut self) -> When {
        let n = self.rng.random_range(0..32);
        if self.bool_const >> n & 1 == 1 {
            When::Bool(n)
        } else {
            When::NotBool(n)
        }
    }

    /// IF with a frame, its ELSE, its ENDIF. `outer`: 1 if its last ALU ends the IF around it too.
    ///
    /// Invalid lanes must end up alike whether the wave jumps over the rest or walks through it, for a
    /// lane alone jumps more often (r700-9.2). So VPM comes on
    /// * PUSH, if the POP has none: a PUSH that jumps switches off no lane, unless it pops the frame
    ///   of the IF around;
    /// * POP, if nothing without VPM jumps over it: no JUMP, and an ELSE that stays or has VPM;
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
        let doubled = o.forms && outer == 0 && Self::fits(at, 2) && self.chance(2);
        let fused = !doubled && (outer == 1 || self.chance(6));
        let pop_vpm = !doubled && !fused && self.may_drop(at) && self.chance(5);
        let push_vpm = o.kill && head == Head::Push && outer == 0 && !pop_vpm && self.chance(5);
        match head {
            Head::If | Head::IfNot => {
                let jump = !(o.forms && self.chance(3)) && (has_else || !pop_vpm);
                let clause = self.clause();
                self.push(
                    at,
                    Stmt::If {
                        clause,
                        not: head == Head::IfNot,
                        jump,
                    },
                );
                self.met(if head == Head::If { "IF" } else { "IF not" });
                if !jump {
                    self.met("JUMP left out");
                }
            }
            Head::Push | Head::PushElse => {
                let when = match push_vpm && self.chance(8) {
                    true => When::Always,
                    false => self.boolean(),
                };
                self.push(
                    at,
                    Stmt::IfBool {
                        when,
                        frame: true,
                        vpm: push_vpm,
                    },
                );
                self.met(if has_else { "PUSH_ELSE" } else { "PUSH" });
                if push_vpm {
                    self.met("VPM on PUSH");
                }
            }
        }
        let mut inner = self.pushed(at, 1, true);
        inner.ifs += 1;
        if inner.ifs > 1 {
            self.met("nested IF");
        }
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
                // The ELSE is no instruction of its own.
                self.room += 1;
            }
            self.push(
                at,
                Stmt::Else {
                    form,
                    vpm: else_vpm,
                },
            );
            self.met(match form {
                ElseForm::Fused => "ELSE fused",
                ElseForm::Stay => "ELSE that stays",
                ElseForm::Jump => "ELSE",
            });
            if else_vpm {
                self.met("VPM on ELSE");
            }
            inner.skips = Skips::Part;
            self.block(&inner, 0);
        }
        if doubled {
            self.if_(&inner, 1);
            return;
        }
        if fused {
            let u = o.skips && self.chance(4);
            if u {
                self.met("ENDIF fused, u");
            }
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

    /// IF on a boolean, without a frame.
    fn uniform(&mut self, at: &At) {
        let when = self.boolean();
        self.push(
            at,
            Stmt::IfBool {
                when,
                frame: false,
                vpm: false,
            },
        );
        self.met("uniform IF");
        let inner = At {
            skips: Skips::Nothing,
            nest: at.nest + 1,
            ..*at
        };
        self.block(&inner, 0);
        if self.chance(8) {
            self.push(
                at,
                Stmt::Else {
                    form: ElseForm::Jump,
                    vpm: false,
                },
            );
            self.met("uniform ELSE");
            self.block(&inner, 0);
        }
        // No instruction.
        self.stmts.push(Stmt::Endif {
            form: EndifForm::Pop,
            vpm: false,
        });
    }

    /// A loop constant with this count.
    fn constant(&mut self, count: u16) -> Option<u8> {
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

    fn loop_(&mut self, at: &At) {
        let until_break = self.options.until_break && (!self.options.counted || self.chance(8));
        // Products of counts are what makes a run long. Counts 0 and 1 are corners of their own.
        let mut count: u16 = match self.rng.random_range(0..16) {
            0 => 0,
            1..4 => 1,
            4..9 => 2,
            9..13 => 3,
            13 => 5,
            14 => 9,
            // Left by BREAK. Seldom, because under some conditions no lane breaks and every pass is made.
            _ if at.passes == 1 && self.chance(4) => self.rng.random_range(10..=4095),
            _ if at.passes == 1 => self.rng.random_range(10..=99),
            _ => 4,
        };
        // A pass of a loop with two exits is the last one of most lanes; 64 of them take some.
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
            // Both, for whatever the predicates are; one is enough where there is a count as well.
            let both = until_break || count >= 100 || self.chance(8);
            let first: bool = self.rng.random();
            // Until it is through both of them, a lane may neither continue nor skip: it might do so
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

    /// A loop that no lane leaves before its count is at zero. Near its end `aL` needs 19 bits, and a
    /// loop inside of it saves that.
    fn long_loop(&mut self, at: &At) {
        const MOST: usize = 20_000;
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
            .random_range(3..=(MOST / usize::from(count) - 1).min(6));
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
        // What else there is runs once.
        self.time = time;
        self.met("count of thousands");
    }

    /// The beginning of a loop, and where its body stands.
    fn begin_loop(&mut self, at: &At, kind: LoopKind, passes: i64) -> At {
        self.push(at, Stmt::Loop { kind });
        self.met(match kind {
            LoopKind::Dx10 => "LOOP until break",
            LoopKind::Al(_) => "LOOP",
            LoopKind::NoAl(_) => "REPEAT",
        });
        for (so, construct) in [
            (at.loops > 0, "loop in a loop"),
            (at.ifs > 0, "loop under an IF"),
            (at.sub, "loop in a subroutine"),
        ] {
            if so {
                self.met(construct);
            }
        }
        let body = self.pushed(at, LOOP_FRAME, false);
        At {
            ifs: 0,
            loops: at.loops + 1,
            may_continue: self.options.continues,
            skips: Skips::Pass,
            passes: at.passes * passes,
            ..body
        }
    }

    /// The end of the loop that stands at `at`.
    fn end_loop(&mut self, at: &At, body: &At) {
        let vpm = self.may_drop(at) && self.chance(4);
        if vpm {
            self.met("VPM on LOOP_END");
        }
        self.push(body, Stmt::EndLoop { vpm });
    }

    /// Whether what ends here may switch off invalid lanes (r700-O22): from then on they are off like
    /// lanes that skip, so it may where those may. Before the exits of a loop they would never get out.
    fn may_drop(&self, at: &At) -> bool {
        self.options.kill && at.skips != Skips::Nothing
    }

    /// A way out for the lanes whose predicate is `predicate`.
    fn exit(&mut self, at: &At, predicate: bool) {
        if !predicate && self.options.forms && self.chance(10) {
            return self.leave_unless(at, Leave::Break);
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
            self.push(
                at,
                Stmt::Else {
                    form: ElseForm::Jump,
                    vpm: false,
                },
            );
        }
        self.leave_now(&inner, Leave::Break, When::Always);
        self.push(
            at,
            Stmt::Endif {
                form: EndifForm::Pop,
                vpm: false,
            },
        );
    }

    fn leave(&mut self, at: &At) {
        let o = self.options;
        let leave = match at.may_continue && self.chance(10) {
            true => Leave::Continue,
            false => Leave::Break,
        };
        match self.rng.random_range(0..8) {
            0..2 if o.forms && Self::fits(at, 1) => self.leave_unless(at, leave),
            2 if o.uniform => {
                let when = self.boolean();
                self.leave_now(at, leave, when);
                self.met(match leave {
                    Leave::Break => "BREAK by a boolean",
                    Leave::Continue => "CONTINUE by a boolean",
                });
            }
            // A bare BREAK as the loop's own statement ends it for every lane: seldom.
            _ if at.ifs > 0 || self.chance(2) => {
                self.leave_now(at, leave, When::Always);
                if self.chance(8) {
                    // No lane is left to execute it.
                    self.met("code behind a BREAK");
                    self.block(at, 1);
                }
            }
            _ => self.plain(at),
        }
    }

    /// BREAK or CONTINUE.
    fn leave_now(&mut self, at: &At, leave: Leave, when: When) {
        let (stmt, names) = match leave {
            Leave::Break => (Stmt::Break { when }, ["BREAK", "BREAK under several IFs"]),
            Leave::Continue => (
                Stmt::Continue { when },
                ["CONTINUE", "CONTINUE under several IFs"],
            ),
        };
        self.push(at, stmt);
        self.met(names[usize::from(at.ifs > 1)]);
    }

    /// BREAK or CONTINUE for the lanes whose predicate is 0.
    fn leave_unless(&mut self, at: &At, leave: Leave) {
        let expanded = self.chance(6);
        if expanded {
            self.pushed(at, 1, true);
        }
        let clause = self.clause();
        let (stmt, names) = match leave {
            Leave::Break => (
                Stmt::BreakUnless { clause, expanded },
                ["ALU_BREAK", "BREAK expanded"],
            ),
            Leave::Continue => (
                Stmt::ContinueUnless { clause, expanded },
                ["ALU_CONTINUE", "CONTINUE expanded"],
            ),
        };
        self.push(at, stmt);
        self.met(names[usize::from(expanded)]);
        if self.chance(6) {
            // ALU_BREAK cannot jump, so this does if no lane is left.
            self.push(at, Stmt::Break { when: When::Never });
            self.met("LOOP_BREAK FALSE");
        }
    }

    fn skip(&mut self, at: &At) {
        // At the top level it is for the rest of the program: seldom.
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

    fn kill(&mut self, at: &At) {
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

    /// CALLs a subroutine that fits here, `nearest`: the one written last. Returns how much deeper it
    /// leads (r700-4.3), 0 if there is none.
    fn call(&mut self, at: &At, nearest: bool) -> u32 {
        let fits = |sub: &Routine| {
            let space = if at.sub && !nearest { SPACE / 2 } else { SPACE };
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
            // Up to the limit, and beyond it: then every lane skips the call, or one inside it.
            2 if !at.sub => left.max(1),
            3 if !at.sub && self.chance(4) => self.rng.random_range(left + 1..=63),
            4..6 => self.rng.random_range(0..=left.min(9)),
            _ => left.min(1),
        };
        let when = match self.options.uniform && !nearest && self.chance(5) {
            true => self.boolean(),
            false => When::Always,
        };
        self.push(
            at,
            Stmt::Call {
                label,
                when,
                count: count as u8,
            },
        );
        let deepest = count + calls;
        for (so, construct) in [
            (true, "CALL"),
            (when != When::Always, "CALL by a boolean"),
            (at.loops > 0, "CALL in a loop"),
            (at.ifs > 0, "CALL under an IF"),
            (at.sub, "CALL in a subroutine"),
            (count == 0, "CALL_COUNT 0"),
            (count > 1, "CALL_COUNT above 1"),
            (!at.sub && deepest == CALL_DEPTH, "call depth 32"),
            (!at.sub && deepest > CALL_DEPTH, "too deep a CALL"),
        ] {
            if so {
                self.met(construct);
            }
        }
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

    /// An IF of a chain: some lanes may leave, and nothing is jumped over, so that its frames are
    /// pushed whichever lanes are left.
    fn deep_if(&mut self, at: &At) -> At {
        if self.options.forms && self.options.uniform && self.chance(8) {
            let when = self.true_boolean();
            self.push(
                at,
                Stmt::IfBool {
                    when,
                    frame: true,
                    vpm: false,
                },
            );
        } else {
            let clause = self.clause();
            let not = self.options.forms && self.rng.random();
            self.push(
                at,
                Stmt::If {
                    clause,
                    not,
                    jump: !self.options.forms,
                },
            );
        }
        let inner = self.pushed(at, 1, true);
        At {
            ifs: at.ifs + 1,
            skips: Skips::Part,
            ..inner
        }
    }

    /// Statements one inside the other, until `to` sub-entries are in use.
    fn deep(&mut self, at: At, chain: Chain, to: u32) {
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
        let constant = constant.filter(|_| self.options.counted && left >= LOOP_FRAME);
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
            self.push(
                &inner,
                Stmt::Alu {
                    clause: Clause::at(0),
                    u: false,
                },
            );
            return self.push(
                &at,
                Stmt::Endif {
                    form: EndifForm::Fused,
                    vpm: false,
                },
            );
        }
        self.push(
            &at,
            Stmt::Endif {
                form: EndifForm::Pop,
                vpm: false,
            },
        );
    }
}

/// General-format instructions that are executed by lanes and do nothing to the wave (r700-4.3).
const SLOTS: &[CfOp] = &[
    CfOp::Nop,
    CfOp::Tex,
    CfOp::Vtx,
    CfOp::VtxTc,
    CfOp::CallFs,
    CfOp::EmitVertex,
    CfOp::EmitCutVertex,
    CfOp::CutVertex,
    CfOp::WaitAck,
    CfOp::TexAck,
    CfOp::VtxAck,
    CfOp::VtxTcAck,
];

/// Instructions that belong to the wave rather than to its lanes, among those with a name.
fn is_control(op: CfOp) -> bool {
    !SLOTS.contains(&op) && !op.is_illegal()
}

/// Opcodes of the general and the memory format that are ILLEGAL (r700-6).
const RESERVED: &[u32] = &[
    15, 16, 17, 25, 30, 31, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 59,
    60, 61, 62, 63,
];

/// What lies on the stack besides call frames.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Frame {
    Branch,
    Loop,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    use super::super::isa::AluOp;
    use super::super::scalar::{End, Scalar, Trace};
    use super::*;
    use crate::environment::{bit, draw_word};

    const OVERFLOW: u16 = 1 << 7;

    fn rng(seed: u64) -> Pcg64Mcg {
        Pcg64Mcg::seed_from_u64(seed)
    }

    fn run(scalar: &Scalar, seed: u64, p16: u32) -> Trace {
        scalar.run(200_000, &mut |k| bit(draw_word(seed, 1, k), 0, p16))
    }

    /// Whatever the predicates are, mostly 0 and mostly 1 included; killed lanes and lanes that were never
    /// valid too.
    #[test]
    fn structured_programs_are_structured_and_end() {
        for seed in 1..=600 {
            let mut rng = rng(seed);
            let options = match seed % 4 {
                0 => Options::LLVM,
                1 => Options::ALL,
                _ => Options::random(&mut rng),
            };
            let (p, _) = build(&mut rng, &options, 500).expect("fits at the first try");
            for valid in [true, false] {
                let scalar = Scalar::new(&p, valid).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
                assert_eq!(scalar.possible_errors(), 0, "seed {seed}");
                for p16 in [0, 3, 8, 16] {
                    let t = run(&scalar, seed, p16);
                    assert_eq!(t.end, End::Done, "seed {seed} p16 {p16}");
                }
            }
        }
    }

    /// The scalar machine's survey of all nestings finds that one entry less would not do.
    #[test]
    fn stack_size_is_mostly_exact() {
        let (mut exact, mut full) = (0, 0);
        for seed in 1..=300 {
            let options = Options {
                // The accounting knows neither which way a boolean leads nor which CALL is too deep.
                uniform: false,
                calls: false,
                ..Options::ALL
            };
            let (mut p, constructs) = structured_of(&mut rng(seed), &options);
            full += u32::from(constructs.contains("full stack"));
            let Some(less) = p.regs.stack_size.checked_sub(1) else {
                continue;
            };
            p.regs.stack_size = less;
            let scalar = Scalar::new(&p, true).expect("a size does not change what lanes do");
            assert_eq!(scalar.possible_errors() & !OVERFLOW, 0, "seed {seed}");
            exact += u32::from(scalar.possible_errors() == OVERFLOW);
        }
        assert!((150..300).contains(&exact), "{exact} of 300 are exact");
        assert!(full >= 5, "{full} of 300 fill the stack");
    }

    /// A construct that a generator never makes is never tested.
    #[test]
    fn every_construct_occurs() {
        let mut seen = BTreeMap::new();
        let mut opcodes = BTreeSet::new();
        for seed in 1..=500 {
            // Without noise there is no code that is never reached.
            let options = Options {
                noise: false,
                long1000: 50,
                ..Options::ALL
            };
            let (p, constructs) = structured_of(&mut rng(seed), &options);
            for construct in constructs {
                *seen.entry(construct).or_insert(0) += 1;
            }
            opcodes.extend(p.quads.iter().map(|q| match Word::decode(*q) {
                Word::Cf(cf) => cf.op.name(),
                Word::Mem(mem) => mem.op.name(),
                Word::Alu(alu) => alu.op.name(),
                Word::Reserved(..) => "reserved",
            }));
        }
        assert!(seen.keys().eq(CONSTRUCTS), "{seen:?}");
        assert!(seen.values().all(|n| *n >= 5), "{seen:?}");
        let legal = CfOp::ALL.iter().filter(|op| !op.is_illegal());
        let named = (legal.map(|op| op.name()))
            .chain(MemOp::ALL.iter().map(|op| op.name()))
            .chain(AluOp::ALL.iter().map(|op| op.name()));
        assert_eq!(opcodes, named.collect::<BTreeSet<_>>());
    }

    /// The long loop is as long as promised, takes `aL` beyond 18 bits, and mostly has a loop inside.
    #[test]
    fn long_loops_are_long_and_bounded() {
        let mut inner = 0;
        let options = Options {
            long1000: 1000,
            limits16: 0,
            ..Options::ALL
        };
        for seed in 1..=40 {
            let (p, constructs) = structured_of(&mut rng(seed), &options);
            assert!(constructs.contains("count of thousands"), "seed {seed}");
            let scalar = Scalar::new(&p, true).expect("structured");
            assert_eq!(scalar.possible_errors(), 0, "seed {seed}");
            let t = run(&scalar, seed, 8);
            assert_eq!(t.end, End::Done, "seed {seed}");
            let farthest = |al: u32| (al as i32).unsigned_abs();
            let far = t.executed.iter().map(|(_, al)| farthest(*al)).max();
            assert!(far > Some(1 << 17), "seed {seed}: {far:?}");
            // Control instructions, two or three of a pass, are not among them.
            let n = t.executed.len();
            assert!((1100..20_000).contains(&n), "seed {seed}: {n} instructions");
            inner += u32::from(constructs.contains("loop in a loop"));
        }
        assert!((20..=40).contains(&inner), "{inner} of 40");
    }

    /// At its new place a program does what it did, the words below it are zero, and no address is
    /// beyond what a program may have.
    #[test]
    fn raised_programs_do_the_same_higher_up() {
        let (mut moved, mut last) = (0, 0);
        for seed in 1..=60 {
            let mut rng = rng(seed);
            let low = structured(&mut rng, &Options::ALL);
            let mut high = low.clone();
            raise(&mut rng, &mut high);
            assert!(high.quads.len() <= MOST_QUADS, "seed {seed}");
            last += u32::from(high.quads.len() == MOST_QUADS);
            if high.quads.len() == low.quads.len() {
                continue;
            }
            let base = (high.quads.len() - low.quads.len()) as u32;
            assert!(
                high.quads[..(base as usize).saturating_sub(2)]
                    .iter()
                    .all(|q| *q == Quad::default()),
                "seed {seed}"
            );
            if high.regs.entry != low.regs.entry + base {
                continue;
            }
            moved += 1;
            let [low, high] = [&low, &high].map(|p| Scalar::new(p, true).expect("structured"));
            let [low, mut high] = [low, high].map(|s| run(&s, seed, 8));
            high.executed.iter_mut().for_each(|(pc, _)| *pc -= base);
            high.pc -= base;
            assert_eq!(low, high, "seed {seed}");
        }
        assert!(moved > 20 && last > 20, "{moved} moved, {last} to the top");
    }

    /// The instructions of r700-8.2, with the fields that it says they have.
    #[test]
    fn llvm_programs_have_llvm_s_words() {
        for seed in 1..=100 {
            let p = structured(&mut rng(seed), &Options::LLVM);
            for quad in &p.quads {
                match Word::decode(*quad) {
                    Word::Alu(alu) => {
                        let wanted = match alu.op {
                            AluOp::AluPushBefore => true,
                            AluOp::Alu | AluOp::AluPopAfter => false,
                            other => panic!("seed {seed}: {other:?}"),
                        };
                        assert_eq!(quad.u, wanted, "seed {seed}");
                    }
                    Word::Cf(cf) => {
                        let plain = (cf.cond, cf.vpm, cf.wqm, cf.cf_const, cf.call_count);
                        assert_eq!(plain, (Cond::Active, false, false, 0, 0), "seed {seed}");
                        let known = matches!(
                            cf.op,
                            CfOp::Jump
                                | CfOp::Pop
                                | CfOp::Else
                                | CfOp::LoopBreak
                                | CfOp::LoopStartDx10
                                | CfOp::LoopEnd
                        );
                        assert!(known || SLOTS.contains(&cf.op), "seed {seed}: {cf:?}");
                    }
                    Word::Mem(_) => {}
                    Word::Reserved(..) => panic!("seed {seed}: {quad:?}"),
                }
            }
        }
    }

    /// Noise is in every word, and no lane notices. A CALL by a boolean has only a handful of bits for
    /// it, which come out as they were now and then.
    #[test]
    fn noise_changes_nothing() {
        let (mut words, mut same) = (0, 0);
        for seed in 1..=200 {
            let mut rng = rng(seed);
            let options = Options {
                noise: false,
                ..Options::ALL
            };
            let plain = structured(&mut rng, &options);
            let mut noisy = plain.clone();
            add_noise(&mut rng, &mut noisy);
            words += plain.quads.len();
            let pairs = plain.quads.iter().zip(&noisy.quads);
            same += pairs.filter(|(p, n)| p == n).count();
            let [plain, noisy] =
                [&plain, &noisy].map(|p| Scalar::new(p, true).expect("structured"));
            for p16 in [4, 12] {
                assert_eq!(
                    run(&plain, seed, p16),
                    run(&noisy, seed, p16),
                    "seed {seed}"
                );
            }
        }
        assert!(same * 2000 < words, "{same} of {words} words are the same");
    }

    #[test]
    fn the_same_seed_gives_the_same_program() {
        for seed in 1..=10 {
            let all =
                |rng: &mut Pcg64Mcg| [structured(rng, &Options::ALL), near_legal(rng), raw(rng)];
            assert_eq!(all(&mut rng(seed)), all(&mut rng(seed)));
            assert_ne!(raw(&mut rng(seed)).quads, raw(&mut rng(seed + 1000)).quads);
        }
    }

    /// u belongs to ALU clauses, and is nowhere else.
    #[test]
    fn u_is_on_alu_instructions_only() {
        for seed in 1..=100 {
            let mut rng = rng(seed);
            let options = Options::random(&mut rng);
            for p in [
                structured(&mut rng, &options),
                near_legal(&mut rng),
                raw(&mut rng),
            ] {
                assert!(
                    p.quads.iter().all(|q| !q.u || q.dw1 >> 29 & 1 == 1),
                    "seed {seed}"
                );
            }
        }
    }
}
