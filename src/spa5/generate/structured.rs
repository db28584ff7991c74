//! Structured programs: subroutines, blocks and statements, and their words.

use rand::Rng;

use super::raw::error_word;
use super::{CONSTRUCTS, NESTING, Options, RECURSION, add_noise, other, program, set_up_of};
use crate::spa5::isa::{
    Branch, Code, CodeError, Cond, Label, Leave, LeaveOp, SetUp, SetUpOp, Target, Test, Word,
    is_control,
};
use crate::spa5::program::Program;
use reconverge_program::generate::{Constructs, chance, choose, pick, when};

pub(super) mod conditions;
mod deep;
mod loops;
mod routines;

pub(super) fn build<R: Rng + ?Sized>(
    rng: &mut R,
    options: &Options,
) -> Result<(Program, Vec<&'static str>), CodeError> {
    let mut b = Builder {
        rng,
        options,
        code: Code::default(),
        items: vec![],
        room: 800,
        time: i64::from(options.length),
        subs: vec![],
        peak: 0,
        met: Vec::new(),
    };
    let main = b.program();
    let Builder {
        rng,
        mut code,
        mut met,
        subs,
        ..
    } = b;
    let entry = code.label();
    let mut parts = vec![(entry, main)];
    for sub in subs.into_iter().rev() {
        // A subroutine is only included if an included part leads there; those that do come before it.
        let calls = |item: &Item| matches!(item, Item::Word(_, Some(to)) if *to == sub.label);
        if parts.iter().any(|(_, items)| items.iter().any(calls)) {
            let at = rng.random_range(0..=parts.len());
            parts.insert(at, (sub.label, sub.items));
            met.extend(sub.met);
        }
    }
    let (mut switches, mut constants) = (vec![], vec![]);
    for (label, items) in parts {
        // Unreachable words between the parts.
        if options.noise && chance(rng, 6) {
            for _ in 0..rng.random_range(1..6) {
                push(rng, &mut code, options, rng_word, None);
            }
        }
        bind(rng, &mut code, label);
        for item in items {
            match item {
                Item::Label(label) => bind(rng, &mut code, label),
                Item::Word(word, to) => {
                    let in_bank = matches!(Word::decode(word).target(), Some(Target::Bank { .. }));
                    let to_offset = to.filter(|_| !in_bank);
                    let at = push(rng, &mut code, options, |_| word, to_offset);
                    constants.extend(to.filter(|_| in_bank).map(|to| (at, to)));
                }
                Item::Switch(word, table) => {
                    let at = push(rng, &mut code, options, |_| word, None);
                    switches.push((at, table));
                }
            }
        }
    }
    let entry = code.address(entry).unwrap_or_default();
    let addresses = |table: &[Label]| -> Vec<u32> {
        (table.iter().filter_map(|l| code.address(*l)))
            .map(crate::spa5::isa::norm)
            .collect()
    };
    let switches: Vec<_> = (switches.iter())
        .map(|(at, table)| (*at, addresses(table)))
        .collect();
    let constants: Vec<_> = (constants.iter())
        .filter_map(|(at, to)| Some((*at, code.address(*to)?)))
        .collect();
    let mut program = Program {
        entry,
        ..program("structured", code.finish()?)
    };
    for (at, to) in constants {
        let (bank, address) = (rng.random_range(0..32), rng.random());
        let place = u32::from(bank) << 16 | u32::from(address);
        if program.constants.contains_key(&place) {
            // The place would need another offset too; this is very rare.
            return build(rng, options);
        }
        // The upper bits do not count (spa5-2.3-n).
        let offset = to.wrapping_sub(at + 8) & 0xff_ffff | rng.random::<u32>() << 24;
        program.constants.insert(place, offset);
        let word = &mut program.words[at as usize / 8];
        *word = Word::decode(*word)
            .with_target(Target::Bank { bank, address })
            .encode();
    }
    for (at, targets) in switches {
        // The base may be anywhere below the targets: the offset from it is then not negative.
        let base = rng.random_range(0..=targets.iter().copied().min().unwrap_or_default());
        let word = &mut program.words[at as usize / 8];
        if let Some(aimed) = Word::decode(*word).aimed(at, base.into()) {
            *word = aimed.encode();
        }
        program.targets.insert(at, targets);
    }
    if options.noise {
        add_noise(rng, &mut program);
    }
    Ok((program, met))
}

/// Binds `label` to the next instruction, or to the control word before it, which is equivalent for the
/// unit (spa5-2.1).
fn bind<R: Rng + ?Sized>(rng: &mut R, code: &mut Code, label: Label) {
    if rng.random() {
        code.bind_control(label);
    } else {
        code.bind(label);
    }
}

/// Adds a word, and before it a control word if it is the first of its bundle.
fn push<R: Rng + ?Sized>(
    rng: &mut R,
    code: &mut Code,
    options: &Options,
    word: impl FnOnce(&mut R) -> u64,
    to: Option<Label>,
) -> u32 {
    if options.noise && is_control(code.end()) {
        code.control(rng.random());
    }
    let word = word(rng);
    match to {
        Some(to) => code.push_raw_to(word, to),
        None => code.push_raw(word),
    }
}

/// Returns any word.
fn rng_word<R: Rng + ?Sized>(rng: &mut R) -> u64 {
    rng.random()
}

/// An element of the program; elements are put into bundles when all parts are complete.
#[derive(Clone, Debug)]
enum Item {
    Label(Label),
    /// A word, and its target.
    Word(u64, Option<Label>),
    /// BRX, and its possible targets.
    Switch(u64, Vec<Label>),
}

/// A subroutine that is already generated.
struct Routine {
    label: Label,
    /// Tokens that it takes, including those that it calls, without the RET token.
    need: u32,
    /// Approximate number of instructions of one pass.
    cost: i64,
    met: Vec<&'static str>,
    items: Vec<Item>,
}

/// The effect of a leaving instruction here.
#[derive(Clone, Copy)]
struct Way {
    /// Loops between here and its token.
    loops: u32,
    /// IFs between here and its token.
    ifs: u32,
}

/// The place of a statement.
#[derive(Clone, Copy, Default)]
struct At {
    /// Number of tokens of this routine on the stack, without DIV tokens.
    tokens: u32,
    /// Number of statements around this one in the routine.
    nest: u32,
    /// Number of IFs around this one in the routine.
    ifs: u32,
    /// Number of loops around this one in the routine.
    loops: u32,
    /// SYNC is allowed here: the innermost token is an SSY.
    sync: bool,
    /// A SYNC that may be a branch target from here.
    to_sync: Option<Label>,
    /// BRK is allowed here.
    brk: Option<Way>,
    /// CONT is allowed here, and a thread that continues each time still leaves the loop.
    cont: Option<Way>,
    /// RET is allowed here.
    ret: bool,
    /// Approximate number of times that this place is passed.
    passes: i64,
    /// In a subroutine.
    sub: bool,
}

/// The loops of spa5-9.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loop {
    /// PBK in front, PCNT to itself at the head: Mesa's form of every loop with a `continue`.
    PbkPcnt,
    /// PBK in front, PCNT at the head to the latch.
    PcntLatch,
    /// The same without PBK.
    PcntLatchOnly,
    /// PCNT at the head, and nothing in front.
    Pcnt,
    /// PBK in front, a branch back.
    Pbk,
    /// SSY in front, a branch back.
    Ssy,
    /// A branch back and nothing else.
    Bare,
}

struct Builder<'a, R: ?Sized> {
    rng: &'a mut R,
    options: &'a Options,
    /// Used for its labels; the words come last.
    code: Code,
    items: Vec<Item>,
    /// Instructions left.
    room: i64,
    /// Executed instructions left, approximately.
    time: i64,
    /// Subroutines that can be called from here.
    subs: Vec<Routine>,
    /// The maximum number of tokens that the current routine has needed.
    peak: u32,
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

    fn label(&mut self) -> Label {
        self.code.label()
    }

    fn bind(&mut self, label: Label) {
        self.items.push(Item::Label(label));
    }

    fn push(&mut self, at: &At, item: Item) {
        self.room -= 1;
        self.time -= at.passes;
        self.items.push(item);
    }

    /// Adds a black box, which draws all condition bits anew.
    fn other(&mut self, at: &At) {
        let word = match self.options.noise {
            true => other(self.rng),
            false => pick(self.rng, BLACK_BOXES),
        };
        self.push(at, Item::Word(word, None));
    }

    fn set_up(&mut self, at: &At, op: SetUpOp, to: Label) {
        let noinc = op.has_noinc() && self.options.uniform && self.chance(3);
        let target = match op {
            SetUpOp::Jcal => Target::Absolute(0),
            _ => self.offset(),
        };
        let word = Word::SetUp(SetUp { op, target, noinc }).encode();
        self.push(at, Item::Word(word, Some(to)));
        self.met_if(noinc && op == SetUpOp::Cal, "CAL.NOINC");
        self.met_if(noinc && op == SetUpOp::Pret, "PRET.NOINC");
    }

    /// Returns an offset for a label: in the word or, rarely, in a constant bank.
    fn offset(&mut self) -> Target {
        if self.options.rare && self.chance(1) {
            self.met("constant bank");
            return Target::Bank {
                bank: 0,
                address: 0,
            };
        }
        Target::Offset(0)
    }

    fn leave_word(&mut self, at: &At, op: LeaveOp, cond: Cond) {
        let op = match op {
            LeaveOp::Exit if self.options.rare && self.chance(5) => LeaveOp::Kil,
            op => op,
        };
        let keep_ref_count = op == LeaveOp::Exit && self.options.uniform && self.chance(3);
        let word = Word::Leave(Leave {
            op,
            cond,
            keep_ref_count,
        })
        .encode();
        self.push(at, Item::Word(word, None));
        self.met_if(keep_ref_count, "EXIT.KEEPREFCOUNT");
        self.met(match op {
            LeaveOp::Sync => "SYNC",
            LeaveOp::Brk => "BRK",
            LeaveOp::Cont => "CONT",
            LeaveOp::Ret => "RET",
            LeaveOp::Exit => "EXIT",
            LeaveOp::Kil => "KIL",
        });
        let tests = cond.test != Test::T;
        self.met_if(tests && op == LeaveOp::Brk, "BRK by a CC test");
        self.met_if(tests && op == LeaveOp::Cont, "CONT by a CC test");
    }

    fn bra(&mut self, at: &At, cond: Cond, to: Label) {
        let lmt = self.options.uniform && self.chance(2);
        let always = cond == Cond::ALWAYS;
        // Only if it cannot differ between threads: otherwise what a thread does would depend on the others
        // (spa5-9-d).
        let unanimous = always && self.options.uniform && self.chance(5);
        let jump = self.options.rare && self.chance(3);
        let target = match jump {
            true => Target::Absolute(0),
            false => self.offset(),
        };
        self.met_if(jump, "JMP");
        let word = Word::Branch(Branch {
            cond,
            target,
            unanimous,
            lmt,
        });
        self.push(at, Item::Word(word.encode(), Some(to)));
        self.met_if(lmt, "BRA.LMT");
        self.met_if(always, "BRA always");
        self.met_if(unanimous, "BRA.U always");
    }

    /// Returns `at` with one more token, in one more statement.
    fn pushed(&mut self, at: &At) -> At {
        let tokens = at.tokens + 1;
        self.peak = self.peak.max(tokens);
        At {
            tokens,
            nest: at.nest + 1,
            sync: false,
            to_sync: None,
            ..*at
        }
    }

    /// Pushes the token for which threads leave by `out`, with the address `end`, and returns the place above it.
    fn token(&mut self, at: &At, out: LeaveOp, end: Label) -> At {
        self.set_up(at, set_up_of(out), end);
        let above = self.pushed(at);
        let way = Some(Way { loops: 0, ifs: 0 });
        let more = |way: Way| Way {
            ifs: way.ifs + 1,
            ..way
        };
        match out {
            LeaveOp::Sync => At {
                ifs: at.ifs + 1,
                sync: true,
                brk: at.brk.map(more),
                cont: at.cont.map(more),
                ..above
            },
            LeaveOp::Brk => At { brk: way, ..above },
            LeaveOp::Cont => At { cont: way, ..above },
            // It hides all others (spa5-4.2).
            _ => At {
                brk: None,
                cont: None,
                ret: true,
                ..above
            },
        }
    }

    /// Returns the place in a loop with `passes` passes.
    fn in_loop(at: &At, passes: i64) -> At {
        let more = |way: Way| Way {
            loops: way.loops + 1,
            ..way
        };
        At {
            nest: at.nest + 1,
            loops: at.loops + 1,
            ifs: 0,
            passes: at.passes * passes,
            brk: at.brk.map(more),
            cont: at.cont.map(more),
            ..*at
        }
    }

    /// Returns whether `more` tokens fit on top of `at`.
    fn fits(at: &At, more: u32) -> bool {
        // A subroutine does not know the height of the stack below it.
        at.tokens + more <= if at.sub { SUB_NESTING } else { NESTING }
    }

    /// Adds at least `least` statements.
    fn block(&mut self, at: &At, least: usize) {
        let most = match at.nest {
            0 => 9,
            1..3 => 5,
            _ => 3,
        };
        for _ in 0..self.rng.random_range(least..=most) {
            if self.room < 30 || self.time < at.passes {
                break;
            }
            self.statement(at);
        }
    }

    fn statement(&mut self, at: &At) {
        let o = self.options;
        let one_fits = Self::fits(at, 1);
        let loops = o.breaks || o.continues || o.plain_loops;
        let leaves = at.sync || at.brk.is_some() || at.cont.is_some() || at.ret || o.exits;
        let constructs: Constructs<Self, At, _> = [
            (Self::plain, 5),
            (Self::if_, when(one_fits, if at.nest > 6 { 2 } else { 6 })),
            (Self::unjoined, when(o.unjoined, 1)),
            (Self::loop_, when(loops && Self::fits(at, 3), 3)),
            (Self::token_block, when(one_fits, 1)),
            (Self::leave, when(leaves, if at.ifs > 0 { 5 } else { 3 })),
            (Self::call, when(!self.subs.is_empty(), 4)),
            (Self::nothing, when(o.uniform, 1)),
            (Self::switch, when(o.brx && one_fits, 3)),
        ];
        choose(self.rng, &constructs)(self, at);
    }

    fn plain(&mut self, at: &At) {
        for _ in 0..self.rng.random_range(1..4) {
            self.other(at);
        }
    }

    /// Adds an IF joined by SSY and SYNC.
    fn if_(&mut self, at: &At) {
        let (join, sync) = (self.label(), self.label());
        let inner = At {
            to_sync: Some(sync),
            ..self.token(at, LeaveOp::Sync, join)
        };
        self.met_if(inner.ifs > 1, "nested IF");
        // Most compilers branch at once.
        if self.chance(3) {
            self.plain(&inner);
        }
        let cond = self.cond();
        match self.rng.random_range(0..8) {
            0..2 => {
                self.leave_word(&inner, LeaveOp::Sync, cond);
                self.met("IF by SYNC");
                self.block(&inner, 0);
            }
            2 => {
                self.bra(&inner, cond, sync);
                self.met("IF to a SYNC");
                self.block(&inner, 0);
            }
            3 => {
                // Threads that do not branch have nothing to do.
                let then = self.label();
                self.bra(&inner, cond, then);
                self.leave_word(&inner, LeaveOp::Sync, Cond::ALWAYS);
                self.bind(then);
                self.met("IF");
                self.block(&inner, 0);
            }
            _ => {
                let other_side = self.label();
                self.bra(&inner, cond, other_side);
                self.met("IF and ELSE");
                self.block(&inner, 0);
                if self.chance(3) {
                    self.leave_side(&inner);
                } else if self.chance(4) {
                    self.bra(&inner, Cond::ALWAYS, sync);
                    self.met("branch to the SYNC");
                } else {
                    self.leave_word(&inner, LeaveOp::Sync, Cond::ALWAYS);
                }
                self.bind(other_side);
                self.block(&inner, 0);
            }
        }
        self.bind(sync);
        self.leave_word(&inner, LeaveOp::Sync, Cond::ALWAYS);
        self.bind(join);
    }

    /// Ends one side of an IF elsewhere than at its join.
    fn leave_side(&mut self, at: &At) {
        match self.way_out(at, true) {
            // Rarely by EXIT.
            Some(op) if op != LeaveOp::Exit || self.chance(4) => {
                self.leave_now(at, op, Cond::ALWAYS);
                self.met("side of an IF that leaves");
                self.dead_code(at);
            }
            _ => self.leave_word(at, LeaveOp::Sync, Cond::ALWAYS),
        }
    }

    /// Adds an IF without a token.
    fn unjoined(&mut self, at: &At) {
        let (end, other_side) = (self.label(), self.label());
        let inner = At {
            nest: at.nest + 1,
            ifs: at.ifs + 1,
            ..*at
        };
        let cond = self.cond();
        self.bra(at, cond, other_side);
        self.block(&inner, 0);
        if self.chance(8) {
            self.bra(&inner, Cond::ALWAYS, end);
            self.bind(other_side);
            self.block(&inner, 0);
            self.met("IF and ELSE without SSY");
        } else {
            self.bind(other_side);
            self.met("IF without SSY");
        }
        self.bind(end);
    }

    /// Adds a few statements with a PBK, PCNT or PRET token whose address is just after them.
    fn token_block(&mut self, at: &At) {
        let o = self.options;
        let weights = [
            (LeaveOp::Brk, when(o.breaks, 2)),
            (LeaveOp::Cont, when(o.continues, 2)),
            (LeaveOp::Ret, when(o.calls, 2)),
            (LeaveOp::Sync, 1),
        ];
        let out = choose(self.rng, &weights);
        self.met(match out {
            LeaveOp::Brk => "PBK block",
            LeaveOp::Cont => "PCNT block",
            LeaveOp::Ret => "PRET block",
            _ => return self.if_(at),
        });
        let end = self.label();
        let inner = self.token(at, out, end);
        self.block(&inner, 1);
        self.leave_word(&inner, out, Cond::ALWAYS);
        self.dead_code(&inner);
        self.bind(end);
    }

    /// Adds unreachable instructions.
    fn dead_code(&mut self, at: &At) {
        if self.options.noise && self.chance(3) {
            self.junk(at);
            self.met("code behind a leaving instruction");
        }
    }

    /// Adds any word, even an error.
    fn junk(&mut self, at: &At) {
        for _ in 0..self.rng.random_range(1..3) {
            let word = match self.rng.random() {
                true => self.rng.random(),
                false => error_word(self.rng),
            };
            self.push(&At { passes: 0, ..*at }, Item::Word(word, None));
        }
    }

    /// Adds an instruction that all threads execute in the same way.
    fn nothing(&mut self, at: &At) {
        match self.rng.random_range(0..4) {
            0 => {
                let over = self.label();
                self.bra(at, Cond::ALWAYS, over);
                if self.options.noise && self.chance(8) {
                    self.junk(at);
                    self.met("code behind a BRA");
                }
                self.bind(over);
            }
            1 => {
                // The target is not used (spa5-4.3).
                let offset = match self.rng.random() {
                    true => self.rng.random::<i32>() >> 8,
                    false => self.rng.random_range(-64..64),
                };
                let cond = self.never();
                let unanimous = self.rng.random();
                let word = Word::Branch(Branch {
                    cond,
                    target: Target::Offset(offset),
                    unanimous,
                    lmt: self.rng.random(),
                });
                self.push(at, Item::Word(word.encode(), None));
                self.met(if unanimous {
                    "BRA.U never"
                } else {
                    "BRA never"
                });
            }
            _ => {
                // Its token is not used either (spa5-6), so it may stand anywhere.
                let op = match pick(self.rng, LeaveOp::ALL) {
                    LeaveOp::Kil if !self.options.rare => LeaveOp::Exit,
                    op => op,
                };
                let cond = self.never();
                self.push(at, Item::Word(Word::leave(op, cond).encode(), None));
                self.met(match op {
                    LeaveOp::Sync => "SYNC never",
                    LeaveOp::Brk => "BRK never",
                    LeaveOp::Cont => "CONT never",
                    LeaveOp::Ret => "RET never",
                    LeaveOp::Exit => "EXIT never",
                    LeaveOp::Kil => "KIL",
                });
            }
        }
    }
}

/// Tokens that a subroutine's own statements may take.
const SUB_NESTING: u32 = 8;
/// Tokens that a subroutine may take, including those that it calls: five are left for its callers.
const SUB_NEED: u32 = RECURSION + SUB_NESTING;

/// Some words of the spec's examples.
const BLACK_BOXES: &[u64] = &[
    crate::spa5::isa::NOP,
    0x5b6b_0000_0007_ff07,
    0x1e04_0000_0007_0404,
    0x081c_4800_0007_04ff,
    0x080c_0000_0007_0404,
];
