//! Random programs: structured ones, structured ones with one rule broken, raw words, and a mixture for
//! the scalar judge.
//!
//! Source: spa5-2, spa5-4, spa5-6 and spa5-9 in `docs/spec/spa5.md`.
//!
//! | function | programs | what they are for |
//! |---|---|---|
//! | [`structured`] | every construct of spa5-9, nested up to the limits | all three judges: each thread must do what it does alone |
//! | [`near_legal`] | the same with one word, target or size changed, and stacks filled to the brim | corners just outside the rules |
//! | [`raw`] | random words | everything else: every error, every token on every other |
//! | [`unstructured`] | random instructions and targets, but nothing by which threads would look at each other | each thread must do what it does alone, up to the first error |
//!
//! Structured programs end without an error: statements only nest and leave a thread's tokens as they
//! found them, subroutines call only subroutines behind them or, with a limit, themselves, and each pass of
//! a loop lets every thread out with a known chance, whatever share of its condition bits is 1 as
//! long as it is neither none nor all. The others need a limit of clocks or instructions.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use rand::Rng;

use super::isa::{
    Branch, Code, CodeError, Cond, Indirect, Label, Leave, LeaveOp, Pred, SetUp, SetUpOp, Target,
    Test, Word, is_control,
};
use super::program::{BUNDLE, Program};
use crate::generate::{chance, choose, pick, when};

mod brim;
mod near_legal;
mod raw;

pub use near_legal::near_legal;
pub use raw::{raw, unstructured};

/// Tokens of the stack at its default build size (spa5-3).
const DEPTH: u32 = 64;
/// Most DIV tokens at once in a warp of 32: one thread less (spa5-3, spa5-I4).
const DIVS: u32 = 31;
/// Tokens that the nesting of a structured program may take. With [`DIVS`] they fill the stack: all
/// tokens but DIV are there for every active thread (spa5-I3), so there are as many of them as the active
/// threads' own nesting makes.
const NESTING: u32 = DEPTH - DIVS;
/// Tokens kept for a recursion. It goes one token deeper with a chance of at most 1 in 4, or two with
/// 1 in 16, so that of 32 threads one gets beyond this with a chance of 32 / 4^20, less than 1 in 10^10.
const RECURSION: u32 = 20;

/// Everything that [`structured`] can put into a program, by the names that [`Constructs`] uses.
pub const CONSTRUCTS: &[&str] = &[
    "BRA always",
    "BRA never",
    "BRA.LMT",
    "BRA.U always",
    "BRA.U never",
    "BRK",
    "BRK across an inner loop",
    "BRK by a CC test",
    "BRK never",
    "BRK under several IFs",
    "BRX",
    "BRX predicated",
    "CAL",
    "CAL in a loop",
    "CAL in a subroutine",
    "CAL under an IF",
    "CAL.NOINC",
    "CONT",
    "CONT across an inner loop",
    "CONT by a CC test",
    "CONT never",
    "CONT under several IFs",
    "EXIT",
    "EXIT in a loop",
    "EXIT in a subroutine",
    "EXIT never",
    "EXIT under an IF",
    "EXIT.KEEPREFCOUNT",
    "IF",
    "IF and ELSE",
    "IF and ELSE without SSY",
    "IF by SYNC",
    "IF to a SYNC",
    "IF without SSY",
    "PBK and PCNT loop",
    "PBK block",
    "PBK loop",
    "PCNT block",
    "PCNT latch",
    "PCNT latch without PBK",
    "PCNT loop",
    "PRET and BRA",
    "PRET block",
    "PRET of the whole program",
    "PRET.NOINC",
    "RET",
    "RET in a loop",
    "RET never",
    "RET under an IF",
    "SSY loop",
    "SYNC",
    "SYNC early",
    "SYNC never",
    "both predicate and CC test",
    "branch to the SYNC",
    "code behind a BRA",
    "code behind a leaving instruction",
    "code between PRET and BRA",
    "do-while",
    "exit on both sides of an IF",
    "exit out of line",
    "exit under an IF",
    "exits 1 in 16",
    "full nesting",
    "inverted predicate",
    "loop in a loop",
    "loop in a subroutine",
    "loop under an IF",
    "loop without tokens",
    "nested IF",
    "recursion",
    "recursion of two tokens",
    "side of an IF that leaves",
    "tail call",
];

/// The constructs of one program, each of them in [`CONSTRUCTS`].
pub type Constructs = BTreeSet<&'static str>;

/// Which constructs a structured program is made of.
///
/// IF with and without ELSE, joined by SSY and SYNC, and black boxes are always among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// PBK, BRK, and the loops that they are part of.
    pub breaks: bool,
    /// PCNT, CONT, and the loops that they are part of.
    pub continues: bool,
    /// Loops left by SYNC, and those without any token.
    pub plain_loops: bool,
    /// IFs without SSY: their two sides meet only in an outer token.
    pub unjoined: bool,
    /// CAL, PRET and RET.
    pub calls: bool,
    /// Subroutines that call themselves.
    pub recursion: bool,
    /// EXIT elsewhere than at the end.
    pub exits: bool,
    /// CC tests besides predicates.
    pub tests: bool,
    /// Conditions that are the same for every thread, with and without `.U`, and the suffixes without an
    /// effect.
    pub uniform: bool,
    /// BRX: switches, with their targets listed in the program. For a unit built with it; an error in others.
    pub brx: bool,
    /// Chance, in sixteenths, that a program nests to the last token that it may take.
    pub limits16: u32,
    /// About how many instructions a thread executes at most; typical runs stay far below.
    pub length: u32,
    /// Random contents for everything that the unit must not look at: control words, ignored bits, black
    /// boxes, words that are never reached.
    pub noise: bool,
}

impl Options {
    /// Every construct of spa5-9.
    pub const ALL: Options = Options {
        breaks: true,
        continues: true,
        plain_loops: true,
        unjoined: true,
        calls: true,
        recursion: true,
        exits: true,
        tests: true,
        uniform: true,
        brx: false,
        limits16: 1,
        length: 2000,
        noise: true,
    };

    /// What ptxas emits (spa5-5, spa5-8): no PCNT, no CC tests, hardly anything unconditional.
    pub const PTXAS: Options = Options {
        continues: false,
        recursion: false,
        tests: false,
        uniform: false,
        noise: false,
        ..Options::ALL
    };

    /// A random choice, so that a campaign also meets programs of few constructs, in which those
    /// few come at greater depth. Never with BRX.
    pub fn random(rng: &mut (impl Rng + ?Sized)) -> Options {
        match rng.random_range(0..16) {
            0 => Options::PTXAS,
            1..8 => Options::ALL,
            _ => Options {
                breaks: rng.random_bool(0.7),
                continues: rng.random_bool(0.7),
                plain_loops: rng.random_bool(0.4),
                unjoined: rng.random_bool(0.3),
                calls: rng.random_bool(0.5),
                recursion: rng.random_bool(0.5),
                exits: rng.random_bool(0.5),
                tests: rng.random_bool(0.6),
                uniform: rng.random_bool(0.4),
                brx: false,
                limits16: 2,
                length: rng.random_range(100..3000),
                noise: rng.random_bool(0.7),
            },
        }
    }
}

/// A structured program that ends without an error.
///
/// For conditions drawn with any p16 from 1 to 15 (see [`crate::environment`]): where all bits or none are 1, a
/// loop need not end. On a stack of 64 tokens, for up to 32 threads.
pub fn structured<R: Rng + ?Sized>(rng: &mut R, options: &Options) -> Program {
    structured_of(rng, options).0
}

/// [`structured`], with the constructs that it is made of.
pub fn structured_of<R: Rng + ?Sized>(rng: &mut R, options: &Options) -> (Program, Constructs) {
    // Each label is bound where it is made and a thousand instructions always fit, so one try is enough.
    build(rng, options).unwrap_or_else(|_| {
        let words = vec![0, Word::leave(LeaveOp::Exit, Cond::ALWAYS).encode(), 0, 0];
        (program("structured", words), Constructs::new())
    })
}

/// A program that begins with its first word and ends with its last.
fn program(name: &str, words: Vec<u64>) -> Program {
    Program {
        name: name.to_owned(),
        // At most MOST_BUNDLES bundles.
        prog_size: words.len() as u32 * 8,
        words,
        ..Program::default()
    }
}

fn build<R: Rng + ?Sized>(
    rng: &mut R,
    options: &Options,
) -> Result<(Program, Constructs), CodeError> {
    let mut b = Builder {
        rng,
        options,
        code: Code::default(),
        items: vec![],
        room: 800,
        time: i64::from(options.length),
        subs: vec![],
        peak: 0,
        met: Constructs::new(),
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
        // A subroutine is in only if a part that is in leads there; those that do come before it.
        let calls = |item: &Item| matches!(item, Item::Word(_, Some(to)) if *to == sub.label);
        if parts.iter().any(|(_, items)| items.iter().any(calls)) {
            let at = rng.random_range(0..=parts.len());
            parts.insert(at, (sub.label, sub.items));
            met.extend(sub.met);
        }
    }
    let mut switches = vec![];
    for (label, items) in parts {
        // Words between the parts, never reached.
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
                    push(rng, &mut code, options, |_| word, to);
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
            .map(super::isa::norm)
            .collect()
    };
    let switches: Vec<_> = (switches.iter())
        .map(|(at, table)| (*at, addresses(table)))
        .collect();
    let mut program = Program {
        entry,
        ..program("structured", code.finish()?)
    };
    for (at, targets) in switches {
        // The base may be anywhere below the targets: what is added to it is not negative then.
        let base = rng.random_range(0..=targets.iter().copied().min().unwrap_or_default());
        let word = &mut program.words[at as usize / 8];
        if let Some(target) = Target::direct(at, base.into()) {
            *word = Word::decode(*word).with_target(target).encode();
        }
        program.targets.insert(at, targets);
    }
    if options.noise {
        add_noise(rng, &mut program);
    }
    Ok((program, met))
}

/// Binds `label` to the next instruction, or to the control word before it, which is the same to the
/// unit (spa5-2.1).
fn bind<R: Rng + ?Sized>(rng: &mut R, code: &mut Code, label: Label) {
    if rng.random() {
        code.bind_control(label);
    } else {
        code.bind(label);
    }
}

/// Adds a word, and a control word if it is the first of its bundle.
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

/// Any word.
fn rng_word<R: Rng + ?Sized>(rng: &mut R) -> u64 {
    rng.random()
}

/// Any black box; some look much like the unit's own words.
fn other<R: Rng + ?Sized>(rng: &mut R) -> u64 {
    loop {
        let mut word: u64 = rng.random();
        if chance(rng, 4) {
            let high = pick(rng, &[0xE1, 0xE4, 0xF0, 0xF1, 0x62, 0xA3, 0xE0, 0xC3]);
            word = word & !(0xff << 56) | high << 56;
        }
        if matches!(Word::decode(word), Word::Other(_)) {
            return word;
        }
    }
}

/// The bits of `word` that may be anything: it stays the same to the unit (spa5-2.3).
fn ignored(word: u64) -> u64 {
    const HIGH: u64 = 0xff << 44;
    match Word::decode(word) {
        // Bits 51:44, 19:6 and 4:0; `.NOINC` is one of them.
        Word::SetUp(_) => HIGH | 0xf_ffdf,
        // Bits 51:44 and 15:8, and `.LMT`.
        Word::Branch(_) | Word::Indirect(_) => HIGH | 0xff << 8 | 1 << 6,
        // All but predicate and test, `.KEEPREFCOUNT` too; SYNC is told by one bit more.
        Word::Leave(leave) => {
            let sync = u64::from(leave.op == LeaveOp::Sync) << 51;
            ((1 << 52) - 1) & !0xf_001f & !sync
        }
        Word::Unsupported(..) | Word::Illegal(_) => (1 << 52) - 1,
        // That could be SYNC.
        Word::Other(word) if word >> 56 == 0xF0 => 0,
        Word::Other(_) => (1 << 56) - 1,
    }
}

/// Random contents for whatever must have no effect.
fn add_noise<R: Rng + ?Sized>(rng: &mut R, program: &mut Program) {
    for (n, word) in (0..).zip(&mut program.words) {
        *word ^= rng.random::<u64>() & if n % 4 == 0 { u64::MAX } else { ignored(*word) };
    }
    if chance(rng, 2) {
        // Nothing is lost by a program that ends before its memory does.
        let more = rng.random::<u32>() >> rng.random_range(0..32);
        program.prog_size = program.prog_size.saturating_add(more) / BUNDLE * BUNDLE;
    }
}

/// The condition codes for which a test is true: bit 8 O + 4 C + 2 S + Z (spa5-2.4).
const TESTS: [u16; 24] = [
    0x0000, 0xbb44, 0x2222, 0x3366, 0x4411, 0x5555, 0xcc33, 0x7777, 0x8888, 0x33cc, 0xaaaa, 0xbbee,
    0xcc99, 0xdddd, 0x44bb, 0xffff, 0x00ff, 0x0f0f, 0x3333, 0xafaf, 0x5050, 0xcccc, 0xf0f0, 0xff00,
];

/// The chance that none of `conds` is true for a thread whose condition bits are each 1 `p16` times in 16:
/// if they all look at the same bits, and if each looks at its own. At most two.
fn none_of(conds: &[Cond], p16: u32) -> [f64; 2] {
    let p = f64::from(p16) / 16.0;
    // That a predicate is false, and that it is true.
    let false_ = |pred: Pred| match (pred.number, pred.not) {
        (7, not) => f64::from(u8::from(not)),
        (_, false) => 1.0 - p,
        (_, true) => p,
    };
    let both_false = |a: Pred, b: Pred| match a.number == b.number {
        true if a.not != b.not => 0.0,
        true => false_(a),
        false => false_(a) * false_(b),
    };
    let passes = |cond: &Cond, cc: u16| TESTS[usize::from(cond.test.bits())] >> cc & 1 == 1;
    let chances = &CODES[p16 as usize];
    let over_codes = |none: &dyn Fn(u16) -> f64| -> f64 {
        (0..16)
            .map(|cc: u16| chances[cc.count_ones() as usize] * none(cc))
            .sum()
    };
    let same = over_codes(&|cc| {
        let mut left = conds.iter().filter(|c| passes(c, cc)).map(|c| c.pred);
        match (left.next(), left.next()) {
            (None, _) => 1.0,
            (Some(a), None) => false_(a),
            (Some(a), Some(b)) => both_false(a, b),
        }
    });
    let alone = |c: &Cond| over_codes(&|cc| if passes(c, cc) { false_(c.pred) } else { 1.0 });
    [same, conds.iter().map(alone).product()]
}

/// The chance of one condition code with that many of its four bits set, each set `p16` times in 16: by p16, then by
/// the number of bits.
static CODES: LazyLock<[[f64; 5]; 17]> = LazyLock::new(|| {
    std::array::from_fn(|p16| {
        let p = p16 as f64 / 16.0;
        std::array::from_fn(|ones| p.powi(ones as i32) * (1.0 - p).powi(4 - ones as i32))
    })
});

/// The least chance that one of `conds` is true, over every p16 from 1 to 15, on the same bits or on others.
fn at_least(conds: &[Cond]) -> f64 {
    let most = (1..16)
        .flat_map(|p16| none_of(conds, p16))
        .fold(0.0, f64::max);
    // What sums of products lose.
    1.0 - most + 1e-9
}

/// A part of the program as it is written: it is put into bundles when all parts are there.
#[derive(Clone, Debug)]
enum Item {
    Label(Label),
    /// A word, and where it leads.
    Word(u64, Option<Label>),
    /// BRX, and where it may lead.
    Switch(u64, Vec<Label>),
}

/// A subroutine that is already written.
struct Routine {
    label: Label,
    /// Tokens that it takes, with all it calls, besides the RET token.
    need: u32,
    /// Instructions of one pass, about.
    cost: i64,
    met: Constructs,
    items: Vec<Item>,
}

/// What a leaving instruction would do here.
#[derive(Clone, Copy)]
struct Way {
    /// Loops between here and its token.
    loops: u32,
    /// IFs between here and its token.
    ifs: u32,
}

/// Where a statement stands.
#[derive(Clone, Copy, Default)]
struct At {
    /// Tokens of this routine on the stack, DIV tokens not counted.
    tokens: u32,
    /// Statements around this one in the routine.
    nest: u32,
    /// IFs around this one in the routine.
    ifs: u32,
    /// Loops around this one in the routine.
    loops: u32,
    /// SYNC may stand here: the innermost token is an SSY.
    sync: bool,
    /// A SYNC that may be branched to from here.
    to_sync: Option<Label>,
    /// BRK may stand here.
    brk: Option<Way>,
    /// CONT may stand here, and a thread that continues each time still gets out of the loop.
    cont: Option<Way>,
    /// RET may stand here.
    ret: bool,
    /// How often this place is passed, about.
    passes: i64,
    /// In a subroutine.
    sub: bool,
}

#[derive(Clone, Copy)]
enum Kind {
    Plain,
    If,
    Unjoined,
    Loop,
    Block,
    Leave,
    Call,
    Nothing,
    Switch,
}

/// The loops of spa5-9.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loop {
    /// PBK in front, PCNT to itself at the head: what Mesa makes of every loop with a `continue`.
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
    /// For its labels; the words come last.
    code: Code,
    items: Vec<Item>,
    /// Instructions left.
    room: i64,
    /// Executed instructions left, about.
    time: i64,
    /// Subroutines that can be called from here.
    subs: Vec<Routine>,
    /// The most tokens that the routine being written has needed.
    peak: u32,
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

    /// A black box: it draws all condition bits anew.
    fn other(&mut self, at: &At) {
        let word = match self.options.noise {
            true => other(self.rng),
            false => pick(self.rng, BLACK_BOXES),
        };
        self.push(at, Item::Word(word, None));
    }

    fn set_up(&mut self, at: &At, op: SetUpOp, to: Label) {
        let noinc = op.has_noinc() && self.options.uniform && self.chance(3);
        let target = Target::Offset(0);
        let word = Word::SetUp(SetUp { op, target, noinc }).encode();
        self.push(at, Item::Word(word, Some(to)));
        self.met_if(noinc && op == SetUpOp::Cal, "CAL.NOINC");
        self.met_if(noinc && op == SetUpOp::Pret, "PRET.NOINC");
    }

    fn leave_word(&mut self, at: &At, op: LeaveOp, cond: Cond) {
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
        });
        let tests = cond.test != Test::T;
        self.met_if(tests && op == LeaveOp::Brk, "BRK by a CC test");
        self.met_if(tests && op == LeaveOp::Cont, "CONT by a CC test");
    }

    fn bra(&mut self, at: &At, cond: Cond, to: Label) {
        let lmt = self.options.uniform && self.chance(2);
        let always = cond == Cond::ALWAYS;
        // Only where it cannot differ between threads: otherwise what a thread does depends on the others
        // (spa5-9-d).
        let unanimous = always && self.options.uniform && self.chance(5);
        let word = Word::Branch(Branch {
            cond,
            target: Target::Offset(0),
            unanimous,
            lmt,
        });
        self.push(at, Item::Word(word.encode(), Some(to)));
        self.met_if(lmt, "BRA.LMT");
        self.met_if(always, "BRA always");
        self.met_if(unanimous, "BRA.U always");
    }

    /// A condition that is true for some threads and false for others.
    fn cond(&mut self) -> Cond {
        let pred = Pred {
            number: self.rng.random_range(0..7),
            not: self.rng.random(),
        };
        let kind = self.rng.random_range(0..8);
        let cond = match self.options.tests {
            true if kind < 3 => {
                // Neither F nor T.
                let test = pick(self.rng, VARYING_TESTS);
                match kind {
                    0 => Cond { pred, test },
                    _ => Cond::test(test),
                }
            }
            _ => Cond::pred(pred),
        };
        let both = cond.pred.number != 7 && cond.test != Test::T;
        self.met_if(both, "both predicate and CC test");
        self.met_if(cond.pred.not, "inverted predicate");
        cond
    }

    /// A condition that is never true.
    fn never(&mut self) -> Cond {
        let cond = self.cond();
        match self.options.tests && self.rng.random() {
            true => Cond {
                test: Test::F,
                ..cond
            },
            false => Cond {
                pred: Pred::NEVER,
                ..cond
            },
        }
    }

    /// One or two conditions of which one is true with a chance of at least `least`, up to 3/4, whatever p16.
    fn leaving(&mut self, least: f64) -> Vec<Cond> {
        for _ in 0..12 {
            let conds: Vec<Cond> = (0..self.rng.random_range(1..3))
                .map(|_| self.cond())
                .collect();
            if at_least(&conds) >= least {
                return conds;
            }
        }
        let number = self.rng.random_range(0..7);
        vec![Cond::pred(Pred::p(number)), Cond::pred(Pred::not_p(number))]
    }

    /// A condition that is false with a chance of at least `least`, up to 1/16 without CC tests, 3/4 with
    /// them; `None` if there is none.
    fn staying(&mut self, least: f64) -> Option<Cond> {
        let stays = |cond: &Cond| (1..16).all(|p16| none_of(&[*cond], p16)[0] + 1e-9 >= least);
        (0..12).map(|_| self.cond()).find(stays)
    }

    /// `at` with a token more, and in one statement more.
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

    /// Above an SSY token of an IF whose SYNC is at `to_sync`.
    fn above_ssy(&mut self, at: &At, to_sync: Option<Label>) -> At {
        let at = At {
            ifs: at.ifs + 1,
            ..self.pushed(at)
        };
        let more = |way: Way| Way {
            ifs: way.ifs + 1,
            ..way
        };
        At {
            sync: true,
            to_sync,
            brk: at.brk.map(more),
            cont: at.cont.map(more),
            ..at
        }
    }

    /// Above a RET token that this routine has pushed (spa5-4.2: it hides all others).
    fn above_ret(&mut self, at: &At) -> At {
        At {
            brk: None,
            cont: None,
            ret: true,
            ..self.pushed(at)
        }
    }

    /// In a loop that is passed so often.
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

    /// Whether `more` tokens fit on top of `at`.
    fn fits(at: &At, more: u32) -> bool {
        // A subroutine does not know how much there is below it.
        at.tokens + more <= if at.sub { SUB_NESTING } else { NESTING }
    }

    /// The main part.
    fn program(&mut self) -> Vec<Item> {
        let subs = match self.options.calls {
            true => self.rng.random_range(0..5),
            false => 0,
        };
        // From the last one on, each knowing those behind it.
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
            self.set_up(&at, SetUpOp::Pret, end);
            self.met("PRET of the whole program");
            at = self.above_ret(&at);
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
            // As ptxas ends its kernels.
            let here = self.label();
            self.bind(here);
            self.bra(&at, Cond::ALWAYS, here);
        }
        std::mem::take(&mut self.items)
    }

    /// Writes a subroutine, in front of those written before.
    fn subroutine(&mut self) {
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
            // A routine of this one's caller, as far as the stack is concerned.
            Some((other, need, cost)) if self.chance(4) => {
                self.bra(&at, Cond::ALWAYS, other);
                self.met("tail call");
                self.peak = self.peak.max(need);
                self.time -= cost;
            }
            _ => self.leave_word(&at, LeaveOp::Ret, Cond::ALWAYS),
        }
        let mut cost = before - self.time;
        // What subroutines take is only taken when they are called.
        self.time = outer_time;
        let mut need = std::mem::take(&mut self.peak);
        if recursive {
            need += RECURSION;
            // Each call leads to a third of another.
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

    /// A body that calls itself at most once a pass: `label`, where it begins.
    fn recursion(&mut self, at: &At, label: Label) {
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
            self.set_up(at, SetUpOp::Ssy, join);
            let inner = self.above_ssy(at, None);
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

    /// Some statements.
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
        let deep = at.nest > 6;
        let loops = o.breaks || o.continues || o.plain_loops;
        let leaves = at.sync || at.brk.is_some() || at.cont.is_some() || at.ret || o.exits;
        let kind = choose(
            self.rng,
            &[
                (Kind::Plain, 5),
                (Kind::If, when(Self::fits(at, 1), if deep { 2 } else { 6 })),
                (Kind::Unjoined, when(o.unjoined, 1)),
                (Kind::Loop, when(loops && Self::fits(at, 3), 3)),
                (Kind::Block, when(Self::fits(at, 1), 1)),
                (Kind::Leave, when(leaves, if at.ifs > 0 { 5 } else { 3 })),
                (Kind::Call, when(!self.subs.is_empty(), 4)),
                (Kind::Nothing, when(o.uniform, 1)),
                (Kind::Switch, when(o.brx && Self::fits(at, 1), 3)),
            ],
        );
        match kind {
            Kind::Plain => self.plain(at),
            Kind::If => self.if_(at),
            Kind::Unjoined => self.unjoined(at),
            Kind::Loop => self.loop_(at),
            Kind::Block => self.token_block(at),
            Kind::Leave => self.leave(at),
            Kind::Call => self.call(at),
            Kind::Nothing => self.nothing(at),
            Kind::Switch => self.switch(at),
        }
    }

    fn plain(&mut self, at: &At) {
        for _ in 0..self.rng.random_range(1..4) {
            self.other(at);
        }
    }

    /// IF, joined by SSY and SYNC.
    fn if_(&mut self, at: &At) {
        let (join, sync) = (self.label(), self.label());
        self.set_up(at, SetUpOp::Ssy, join);
        let inner = self.above_ssy(at, Some(sync));
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
                // Those that do not branch are the ones that have nothing to do.
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

    /// The end of one side of an IF, elsewhere than at its join.
    fn leave_side(&mut self, at: &At) {
        match self.way_out(at, true) {
            // Seldom for good.
            Some(op) if op != LeaveOp::Exit || self.chance(4) => {
                self.leave_now(at, op, Cond::ALWAYS);
                self.met("side of an IF that leaves");
                self.dead_code(at);
            }
            _ => self.leave_word(at, LeaveOp::Sync, Cond::ALWAYS),
        }
    }

    /// IF without a token.
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

    fn loop_(&mut self, at: &At) {
        let o = self.options;
        // The least chance to leave in a pass, and passes that this makes with some threads of 32.
        let (mut least, mut passes) = choose(
            self.rng,
            &[
                ((0.75, 2), 6),
                ((0.5, 3), 5),
                ((0.25, 6), 2),
                ((1.0 / 16.0, 16), 1),
            ],
        );
        if at.passes * passes * 8 > self.time {
            (least, passes) = (0.75, 2);
        }
        if at.passes * passes * 8 > self.time {
            return self.plain(at);
        }
        self.met_if(passes == 16, "exits 1 in 16");
        // No thread comes out at the end of it: seldom where that is the end of the program.
        let out = at.brk.is_some() || at.sub;
        let no_end = o.continues && (out || self.chance(if at.ifs > 0 { 4 } else { 1 }));
        let kind = choose(
            self.rng,
            &[
                (Loop::PbkPcnt, when(o.breaks && o.continues, 6)),
                (Loop::PcntLatch, when(o.breaks && o.continues, 3)),
                (Loop::PcntLatchOnly, when(o.continues, 2)),
                (Loop::Pcnt, when(no_end, 1)),
                (Loop::Pbk, when(o.breaks, 3)),
                (Loop::Ssy, when(o.plain_loops, 2)),
                (Loop::Bare, when(o.plain_loops, 1)),
                (Loop::Ssy, when(!o.breaks && !o.continues, 1)),
            ],
        );
        self.met_if(at.loops > 0, "loop in a loop");
        self.met_if(at.ifs > 0, "loop under an IF");
        self.met_if(at.sub, "loop in a subroutine");
        match kind {
            Loop::PbkPcnt | Loop::Pcnt => self.pcnt_loop(at, kind, least, passes),
            Loop::PcntLatch | Loop::PcntLatchOnly => self.latch_loop(at, kind, least, passes),
            Loop::Pbk | Loop::Ssy | Loop::Bare => self.back_loop(at, kind, least, passes),
        }
    }

    /// PCNT to itself.
    fn pcnt_loop(&mut self, at: &At, kind: Loop, least: f64, passes: i64) {
        let end = self.label();
        let mut outer = *at;
        let out = if kind == Loop::PbkPcnt {
            self.met("PBK and PCNT loop");
            self.set_up(at, SetUpOp::Pbk, end);
            outer = self.pushed(at);
            outer.brk = Some(Way { loops: 0, ifs: 0 });
            if self.chance(3) {
                self.plain(&outer);
            }
            LeaveOp::Brk
        } else {
            // Out of whatever is around it.
            self.met("PCNT loop");
            match (at.brk, at.ret) {
                (Some(_), _) => LeaveOp::Brk,
                (None, true) => LeaveOp::Ret,
                (None, false) => LeaveOp::Exit,
            }
        };
        let head = self.label();
        self.bind(head);
        let brk = outer.brk;
        let mut body = Self::in_loop(&outer, passes);
        if kind == Loop::PbkPcnt {
            body.brk = brk;
        }
        self.set_up(&body, SetUpOp::Pcnt, head);
        body = self.pushed(&body);
        // Until it is through the exits, a thread may not continue: it might do so for ever.
        body.cont = None;
        let stubs = self.exits(&body, out, least);
        body.cont = Some(Way { loops: 0, ifs: 0 });
        self.block(&body, 0);
        if kind == Loop::PbkPcnt && self.chance(3) {
            let cond = self.cond();
            self.leave_now(&body, LeaveOp::Cont, cond);
            self.leave_now(&body, LeaveOp::Brk, Cond::ALWAYS);
        } else {
            self.leave_now(&body, LeaveOp::Cont, Cond::ALWAYS);
        }
        self.stubs(&body, out, &stubs);
        self.dead_code(&body);
        self.bind(end);
    }

    /// PCNT to the latch, where the exits are: CONT may be anywhere before.
    fn latch_loop(&mut self, at: &At, kind: Loop, least: f64, passes: i64) {
        let end = self.label();
        let with_pbk = kind == Loop::PcntLatch;
        // Reconverging behind it, if not by PBK.
        let with_ssy = !with_pbk && self.chance(10);
        let staying = self.staying(least);
        if !with_pbk && staying.is_none() {
            return self.plain(at);
        }
        self.met(if with_pbk {
            "PCNT latch"
        } else {
            "PCNT latch without PBK"
        });
        let mut outer = *at;
        if with_pbk || with_ssy {
            self.set_up(at, if with_pbk { SetUpOp::Pbk } else { SetUpOp::Ssy }, end);
            outer = self.pushed(at);
            outer.sync = with_ssy;
        }
        let mut latch_at = Self::in_loop(&outer, passes);
        if with_pbk {
            latch_at.brk = Some(Way { loops: 0, ifs: 0 });
        }
        let (head, latch) = (self.label(), self.label());
        self.bind(head);
        self.set_up(&latch_at, SetUpOp::Pcnt, latch);
        let mut body = self.pushed(&latch_at);
        body.cont = Some(Way { loops: 0, ifs: 0 });
        self.block(&body, 1);
        self.leave_now(&body, LeaveOp::Cont, Cond::ALWAYS);
        self.dead_code(&body);
        self.bind(latch);
        // What leads on to an outer loop is not ours to count on: the latch has no CONT of its own.
        match staying {
            Some(cond) if !with_pbk || self.chance(6) => {
                self.other(&latch_at);
                self.bra(&latch_at, cond, head);
                self.met("do-while");
                match (with_pbk, with_ssy) {
                    (true, _) => self.leave_now(&latch_at, LeaveOp::Brk, Cond::ALWAYS),
                    (_, true) => self.leave_word(&latch_at, LeaveOp::Sync, Cond::ALWAYS),
                    _ => {}
                }
            }
            _ => {
                let stubs = self.exits(&latch_at, LeaveOp::Brk, least);
                self.bra(&latch_at, Cond::ALWAYS, head);
                self.stubs(&latch_at, LeaveOp::Brk, &stubs);
                self.dead_code(&latch_at);
            }
        }
        self.bind(end);
    }

    /// A branch back.
    fn back_loop(&mut self, at: &At, kind: Loop, least: f64, passes: i64) {
        let staying = self.staying(least);
        if kind == Loop::Bare && staying.is_none() {
            return self.plain(at);
        }
        let end = self.label();
        let mut outer = *at;
        let out = match kind {
            Loop::Pbk => {
                self.met("PBK loop");
                self.set_up(at, SetUpOp::Pbk, end);
                outer = self.pushed(at);
                LeaveOp::Brk
            }
            Loop::Ssy => {
                self.met("SSY loop");
                self.set_up(at, SetUpOp::Ssy, end);
                outer = self.pushed(at);
                outer.sync = true;
                LeaveOp::Sync
            }
            _ => {
                self.met("loop without tokens");
                LeaveOp::Exit
            }
        };
        let mut body = Self::in_loop(&outer, passes);
        if kind == Loop::Pbk {
            body.brk = Some(Way { loops: 0, ifs: 0 });
        }
        let head = self.label();
        self.bind(head);
        match staying {
            Some(cond) if kind == Loop::Bare || self.chance(6) => {
                self.block(&body, 0);
                self.other(&body);
                self.bra(&body, cond, head);
                self.met("do-while");
                if kind != Loop::Bare {
                    self.leave_now(&body, out, Cond::ALWAYS);
                }
            }
            _ => {
                let stubs = self.exits(&body, out, least);
                self.block(&body, 0);
                self.bra(&body, Cond::ALWAYS, head);
                self.stubs(&body, out, &stubs);
                self.dead_code(&body);
            }
        }
        self.bind(end);
    }

    /// The exits of a loop: each thread that comes here in a pass leaves with a chance of at least `least`.
    /// Returns the labels at which `op` is wanted behind the end of the loop.
    fn exits(&mut self, at: &At, op: LeaveOp, least: f64) -> Vec<Label> {
        let conds = self.leaving(least);
        let mut stubs = vec![];
        for (n, cond) in conds.into_iter().enumerate() {
            // The exits look at the same bits, or each at its own; but never at bits that have already
            // decided who comes here: an inner loop left by those that stay in this one would keep both
            // going for ever.
            if n == 0 || self.chance(5) {
                if self.chance(8) {
                    self.block(at, 0);
                }
                self.other(at);
            }
            stubs.extend(self.exit(at, op, cond));
        }
        stubs
    }

    /// One way out, for the threads for which `cond` is true.
    fn exit(&mut self, at: &At, op: LeaveOp, cond: Cond) -> Option<Label> {
        match self.rng.random_range(0..16) {
            0..2 => {
                let stub = self.label();
                self.bra(at, cond, stub);
                self.met("exit out of line");
                return Some(stub);
            }
            // An SSY token would be in the way of SYNC.
            2..5 if op != LeaveOp::Sync && Self::fits(at, 1) => {
                let (join, then) = (self.label(), self.label());
                self.set_up(at, SetUpOp::Ssy, join);
                let inner = self.above_ssy(at, None);
                self.bra(&inner, cond, then);
                self.leave_word(&inner, LeaveOp::Sync, Cond::ALWAYS);
                self.bind(then);
                self.leave_now(&inner, op, Cond::ALWAYS);
                self.dead_code(&inner);
                self.bind(join);
                self.met("exit under an IF");
            }
            5..7 if op != LeaveOp::Sync && Self::fits(at, 1) => {
                let (join, other_side) = (self.label(), self.label());
                self.set_up(at, SetUpOp::Ssy, join);
                let inner = self.above_ssy(at, None);
                let side = self.cond();
                self.bra(&inner, side, other_side);
                // New bits on both sides or on none: otherwise which side it is tells something.
                let anew = self.rng.random();
                for side in 0..2 {
                    if side == 1 {
                        self.bind(other_side);
                    }
                    if anew {
                        self.plain(&inner);
                    }
                    self.leave_now(&inner, op, cond);
                    self.leave_word(&inner, LeaveOp::Sync, Cond::ALWAYS);
                }
                self.bind(join);
                self.met("exit on both sides of an IF");
            }
            _ => self.leave_now(at, op, cond),
        }
        None
    }

    /// The exits that are out of line.
    fn stubs(&mut self, at: &At, op: LeaveOp, stubs: &[Label]) {
        for stub in stubs {
            self.bind(*stub);
            if self.chance(4) {
                self.plain(at);
            }
            self.leave_now(at, op, Cond::ALWAYS);
        }
    }

    /// PBK, PCNT or PRET to just behind a few statements.
    fn token_block(&mut self, at: &At) {
        let o = self.options;
        let weights = [
            (LeaveOp::Brk, when(o.breaks, 2)),
            (LeaveOp::Cont, when(o.continues, 2)),
            (LeaveOp::Ret, when(o.calls, 2)),
            (LeaveOp::Sync, 1),
        ];
        let way = Some(Way { loops: 0, ifs: 0 });
        let end = self.label();
        let out = choose(self.rng, &weights);
        let (op, construct) = match out {
            LeaveOp::Brk => (SetUpOp::Pbk, "PBK block"),
            LeaveOp::Cont => (SetUpOp::Pcnt, "PCNT block"),
            LeaveOp::Ret => (SetUpOp::Pret, "PRET block"),
            _ => return self.if_(at),
        };
        self.set_up(at, op, end);
        self.met(construct);
        let inner = match out {
            LeaveOp::Brk => At {
                brk: way,
                ..self.pushed(at)
            },
            LeaveOp::Cont => At {
                cont: way,
                ..self.pushed(at)
            },
            _ => self.above_ret(at),
        };
        self.block(&inner, 1);
        self.leave_word(&inner, out, Cond::ALWAYS);
        self.dead_code(&inner);
        self.bind(end);
    }

    /// Instructions that are not reached.
    fn dead_code(&mut self, at: &At) {
        if self.options.noise && self.chance(3) {
            self.junk(at);
            self.met("code behind a leaving instruction");
        }
    }

    /// Whatever it is, even an error.
    fn junk(&mut self, at: &At) {
        for _ in 0..self.rng.random_range(1..3) {
            let word = match self.rng.random() {
                true => self.rng.random(),
                false => raw::error_word(self.rng),
            };
            self.push(&At { passes: 0, ..*at }, Item::Word(word, None));
        }
    }

    /// A way out of the innermost statement of its kind; `hard`: not by SYNC.
    fn way_out(&mut self, at: &At, hard: bool) -> Option<LeaveOp> {
        let weights = [
            (LeaveOp::Sync, when(at.sync && !hard, 4)),
            (LeaveOp::Brk, when(at.brk.is_some(), 4)),
            (LeaveOp::Cont, when(at.cont.is_some(), 5)),
            (LeaveOp::Ret, when(at.ret, 3)),
            (LeaveOp::Exit, when(self.options.exits, 1)),
        ];
        let any = weights.iter().any(|(_, weight)| *weight > 0);
        any.then(|| choose(self.rng, &weights))
    }

    fn leave(&mut self, at: &At) {
        let Some(op) = self.way_out(at, false) else {
            return self.plain(at);
        };
        // Leaving for good is seldom: otherwise hardly any thread gets to the end.
        let for_good = match op {
            LeaveOp::Exit => true,
            LeaveOp::Ret => !at.sub && at.nest < 3,
            _ => false,
        };
        if for_good && self.chance(if at.ifs > 0 { 10 } else { 14 }) {
            return self.plain(at);
        }
        let cond = self.cond();
        match at.to_sync {
            Some(sync) if op == LeaveOp::Sync && self.chance(5) => {
                self.bra(at, cond, sync);
                self.met("branch to the SYNC");
            }
            _ => self.leave_now(at, op, cond),
        }
        self.met_if(op == LeaveOp::Sync, "SYNC early");
    }

    /// A leaving instruction, with what is to be said of the place where it stands.
    fn leave_now(&mut self, at: &At, op: LeaveOp, cond: Cond) {
        self.leave_word(at, op, cond);
        let far = |way: Option<Way>| way.is_some_and(|w| w.loops > 0);
        let deep = |way: Option<Way>| way.is_some_and(|w| w.ifs > 1);
        match op {
            LeaveOp::Brk => {
                self.met_if(far(at.brk), "BRK across an inner loop");
                self.met_if(deep(at.brk), "BRK under several IFs");
            }
            LeaveOp::Cont => {
                self.met_if(far(at.cont), "CONT across an inner loop");
                self.met_if(deep(at.cont), "CONT under several IFs");
            }
            LeaveOp::Ret => {
                self.met_if(at.ifs > 0, "RET under an IF");
                self.met_if(at.loops > 0, "RET in a loop");
            }
            LeaveOp::Exit => {
                self.met_if(at.ifs > 0, "EXIT under an IF");
                self.met_if(at.loops > 0, "EXIT in a loop");
                self.met_if(at.sub, "EXIT in a subroutine");
            }
            LeaveOp::Sync => {}
        }
    }

    /// Something that all threads do alike.
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
                // Its target is not looked at (spa5-4.3).
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
                // Neither is its token (spa5-6), so it may stand anywhere.
                let op = pick(self.rng, LeaveOp::ALL);
                let cond = self.never();
                self.push(at, Item::Word(Word::leave(op, cond).encode(), None));
                self.met(match op {
                    LeaveOp::Sync => "SYNC never",
                    LeaveOp::Brk => "BRK never",
                    LeaveOp::Cont => "CONT never",
                    LeaveOp::Ret => "RET never",
                    LeaveOp::Exit => "EXIT never",
                });
            }
        }
    }

    /// Calls a subroutine that fits here.
    fn call(&mut self, at: &At) {
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

    /// CAL, or PRET and a branch.
    fn cal(&mut self, at: &At, to: Label) {
        if self.chance(11) {
            self.set_up(at, SetUpOp::Cal, to);
            self.pushed(at);
            self.met("CAL");
            self.met_if(at.loops > 0, "CAL in a loop");
            self.met_if(at.ifs > 0, "CAL under an IF");
            self.met_if(at.sub, "CAL in a subroutine");
            return;
        }
        let back = self.label();
        self.set_up(at, SetUpOp::Pret, back);
        let inner = self.above_ret(at);
        if self.chance(4) && !at.sub {
            self.block(&inner, 1);
            self.met("code between PRET and BRA");
        }
        self.bra(&inner, Cond::ALWAYS, to);
        self.met("PRET and BRA");
        self.dead_code(&inner);
        self.bind(back);
    }

    /// A switch: BRX, and what it leads to.
    fn switch(&mut self, at: &At) {
        let (join, sync) = (self.label(), self.label());
        self.set_up(at, SetUpOp::Ssy, join);
        let inner = self.above_ssy(at, Some(sync));
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
        let word = Word::Indirect(Indirect {
            cond,
            target: Target::Offset(0),
            register: self.rng.random(),
            lmt: self.rng.random(),
        });
        self.push(&inner, Item::Switch(word.encode(), table));
        self.met("BRX");
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

    /// Statements one inside the other, until `to` tokens are in use.
    fn deep(&mut self, at: &At, to: u32) {
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
        let way = Some(Way { loops: 0, ifs: 0 });
        self.other(at);
        let op = match kind {
            LeaveOp::Sync => SetUpOp::Ssy,
            LeaveOp::Brk => SetUpOp::Pbk,
            LeaveOp::Cont => SetUpOp::Pcnt,
            _ => SetUpOp::Pret,
        };
        self.set_up(at, op, end);
        let inner = match kind {
            LeaveOp::Sync => self.above_ssy(at, None),
            LeaveOp::Brk => At {
                brk: way,
                ..self.pushed(at)
            },
            LeaveOp::Cont => At {
                cont: way,
                ..self.pushed(at)
            },
            _ => self.above_ret(at),
        };
        // Some go around what is inside, and wait in a DIV token, or in ours.
        let cond = self.cond();
        let around = self.label();
        match self.rng.random_range(0..32) {
            // More would leave no thread for the innermost.
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

/// Tokens that a subroutine's own statements may take.
const SUB_NESTING: u32 = 8;
/// Tokens that a subroutine may take with all it calls: what is left for its callers is five.
const SUB_NEED: u32 = RECURSION + SUB_NESTING;

/// CC tests that depend on the condition code (spa5-2.4).
const VARYING_TESTS: &[Test] = &[
    Test::Lt,
    Test::Eq,
    Test::Le,
    Test::Gt,
    Test::Ne,
    Test::Ge,
    Test::Num,
    Test::Nan,
    Test::Ltu,
    Test::Equ,
    Test::Leu,
    Test::Gtu,
    Test::Neu,
    Test::Geu,
    Test::Off,
    Test::Lo,
    Test::Sff,
    Test::Ls,
    Test::Hi,
    Test::Sft,
    Test::Hs,
    Test::Oft,
];

/// Some words of the spec's examples.
const BLACK_BOXES: &[u64] = &[
    super::isa::NOP,
    0x5b6b_0000_0007_ff07,
    0x1e04_0000_0007_0404,
    0x081c_4800_0007_04ff,
    0x080c_0000_0007_0404,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    use super::super::isa::norm;
    use super::super::scalar::{Draw, End, Scalar, Trace};
    use super::*;
    use crate::environment::{bits, draw_word};

    const WITH_BRX: Options = Options {
        brx: true,
        ..Options::ALL
    };

    pub(super) fn rng(seed: u64) -> Pcg64Mcg {
        Pcg64Mcg::seed_from_u64(seed)
    }

    /// The draws of one thread.
    pub(super) fn draws(seed: u64, p16: u32) -> impl Fn(u64) -> Draw {
        move |k| {
            let word = draw_word(seed, 1, k);
            Draw {
                bits: bits(word, 11, p16),
                word,
            }
        }
    }

    /// One thread alone, with room for the nesting of structured programs and no more.
    fn run(program: &Program, seed: u64, p16: u32) -> Trace {
        Scalar::new(program, NESTING as usize, true).run(200_000, draws(seed, p16))
    }

    /// The instruction words, not the control words.
    pub(super) fn instructions(program: &Program) -> impl Iterator<Item = u64> {
        (0..)
            .zip(&program.words)
            .filter(|(n, _)| n % 4 != 0)
            .map(|(_, word)| *word)
    }

    /// Whatever share of the condition bits is 1, hardly any and nearly all included, and within the
    /// tokens that leave room for those of divergence.
    #[test]
    fn structured_programs_end() {
        let mut lengths = vec![];
        for seed in 1..=500 {
            let mut rng = rng(seed);
            let options = match seed % 4 {
                0 => Options::PTXAS,
                1 => WITH_BRX,
                _ => Options::random(&mut rng),
            };
            let (p, _) = build(&mut rng, &options).expect("fits, and every label is bound");
            for p16 in [1, 5, 8, 15] {
                let t = run(&p, seed, p16);
                assert_eq!(t.end, End::Done, "seed {seed} p16 {p16}");
                lengths.push(t.executed.len());
            }
        }
        lengths.sort_unstable();
        let median = lengths[lengths.len() / 2];
        assert!((25..100).contains(&median), "{median}");
    }

    /// The chances that loops count on, against draws.
    #[test]
    fn exits_are_taken_as_often_as_computed() {
        for seed in 1..=20 {
            let mut rng = rng(seed);
            let mut cond = || Cond {
                pred: Pred {
                    number: rng.random_range(0..8),
                    not: rng.random(),
                },
                test: Test::from_code(rng.random_range(0..24)),
            };
            let conds = [cond(), cond()];
            for p16 in [1, 8, 13] {
                let holds = |cond: &Cond, k| {
                    let drawn = bits(draw_word(seed, 0, k), 11, p16);
                    let pred = cond.pred.number == 7 || drawn >> cond.pred.number & 1 == 1;
                    let test = TESTS[usize::from(cond.test.bits())] >> (drawn >> 7) & 1 == 1;
                    pred != cond.pred.not && test
                };
                const DRAWS: u64 = 10_000;
                let share = |none: &dyn Fn(u64) -> bool| {
                    (0..DRAWS).filter(|k| none(*k)).count() as f64 / DRAWS as f64
                };
                let same = share(&|k| !conds.iter().any(|c| holds(c, k)));
                let own = share(&|k| !holds(&conds[0], k) && !holds(&conds[1], k + DRAWS));
                let [wanted_same, wanted_own] = none_of(&conds, p16);
                assert!((same - wanted_same).abs() < 0.03, "{conds:?} {p16}");
                assert!((own - wanted_own).abs() < 0.03, "{conds:?} {p16}");
            }
        }
        let p0 = Cond::pred(Pred::p(0));
        assert_eq!(none_of(&[p0, Cond::pred(Pred::not_p(0))], 3)[0], 0.0);
        // ~Z or S: fails for p (1 - p) at most.
        assert!(at_least(&[Cond::test(Test::Neu)]) >= 0.75);
        assert!(at_least(&[p0]) < 0.07);
    }

    /// A construct that a generator never makes is never tested.
    #[test]
    fn every_construct_occurs() {
        let mut seen = BTreeMap::new();
        let (mut names, mut tests) = (BTreeSet::new(), BTreeSet::new());
        let (mut controls, mut entries) = (0, 0);
        for seed in 1..=300 {
            let (p, constructs) = structured_of(&mut rng(seed), &WITH_BRX);
            for construct in constructs {
                *seen.entry(construct).or_insert(0) += 1;
            }
            entries += u32::from(p.entry > 8);
            // Without noise there is no code that is never reached.
            let options = Options {
                noise: false,
                ..WITH_BRX
            };
            let p = structured(&mut rng(seed), &options);
            for (pc, word) in (0..)
                .step_by(8)
                .zip(&p.words)
                .filter(|(pc, _)| pc % 32 != 0)
            {
                let word = Word::decode(*word);
                names.insert(word.name().unwrap_or("OTHER"));
                if let Word::Branch(Branch { cond, .. }) | Word::Leave(Leave { cond, .. }) = word {
                    tests.insert(cond.test.bits());
                }
                let to = word.target().and_then(|t| t.address(pc));
                controls += u32::from(to.is_some_and(|to| to % 32 == 0));
            }
        }
        assert!(seen.keys().eq(CONSTRUCTS), "{seen:?}");
        assert!(seen.values().all(|n| *n >= 3), "{seen:?}");
        let own = (SetUpOp::ALL.iter().map(|op| op.name()))
            .chain(LeaveOp::ALL.iter().map(|op| op.name()))
            .chain(["BRA", "BRX", "OTHER"]);
        assert_eq!(names, own.collect());
        assert_eq!(tests, (0..24).collect());
        assert!(controls > 300 && entries > 100, "{controls} {entries}");
    }

    /// The instructions that the spec found in ptxas code.
    #[test]
    fn ptxas_programs_have_ptxas_s_words() {
        for seed in 1..=100 {
            let p = structured(&mut rng(seed), &Options::PTXAS);
            assert!(p.targets.is_empty());
            for word in p.words {
                assert!(Word::is_canonical(word), "seed {seed}: {word:016x}");
                match Word::decode(word) {
                    Word::SetUp(set_up) => {
                        assert_ne!(set_up.op, SetUpOp::Pcnt, "seed {seed}");
                        assert!(!set_up.noinc, "seed {seed}");
                    }
                    Word::Branch(bra) => {
                        assert_eq!(bra.cond.test, Test::T, "seed {seed}");
                        assert!(!bra.unanimous && !bra.lmt, "seed {seed}");
                    }
                    Word::Leave(leave) => {
                        assert_eq!(leave.cond.test, Test::T, "seed {seed}");
                        assert_ne!(leave.op, LeaveOp::Cont, "seed {seed}");
                    }
                    Word::Other(_) => {}
                    word => panic!("seed {seed}: {word:?}"),
                }
            }
        }
    }

    /// Noise is in nearly every word, and no thread notices.
    #[test]
    fn noise_changes_nothing() {
        let (mut words, mut changed) = (0, 0);
        for seed in 1..=200 {
            let mut rng = rng(seed);
            let options = Options {
                noise: false,
                ..WITH_BRX
            };
            let plain = structured(&mut rng, &options);
            let mut noisy = plain.clone();
            add_noise(&mut rng, &mut noisy);
            words += plain.words.len();
            changed += (plain.words.iter().zip(&noisy.words))
                .filter(|(p, n)| p != n)
                .count();
            for p16 in [4, 12] {
                assert_eq!(
                    run(&plain, seed, p16),
                    run(&noisy, seed, p16),
                    "seed {seed}"
                );
            }
        }
        assert!(changed > words * 9 / 10, "{changed} of {words}");
    }

    #[test]
    fn the_same_seed_gives_the_same_program() {
        for seed in 1..=10 {
            let all = |rng: &mut Pcg64Mcg| {
                [
                    structured(rng, &Options::ALL),
                    near_legal(rng),
                    raw(rng),
                    unstructured(rng),
                ]
            };
            assert_eq!(all(&mut rng(seed)), all(&mut rng(seed)));
            assert_ne!(raw(&mut rng(seed)).words, raw(&mut rng(seed + 1000)).words);
        }
    }

    /// What every program promises its users.
    #[test]
    fn programs_are_fit_for_a_launch() {
        for seed in 1..=200 {
            let mut rng = rng(seed);
            let options = Options::random(&mut rng);
            for p in [
                structured(&mut rng, &options),
                near_legal(&mut rng),
                raw(&mut rng),
                unstructured(&mut rng),
            ] {
                assert!(!p.words.is_empty() && p.words.len() % 4 == 0, "seed {seed}");
                assert!(p.words.len() / 4 <= super::super::program::MOST_BUNDLES);
                assert_eq!((p.entry % 8, p.prog_size % 32), (0, 0), "seed {seed}");
            }
        }
    }

    /// A thread alone knows nothing of the others (spa5-9-d).
    #[test]
    fn nothing_for_the_judge_depends_on_other_threads() {
        let mut unanimous = [0; 2];
        for seed in 1..=200 {
            let mut rng = rng(seed);
            // Without noise: its words that are never reached may be anything.
            let options = Options {
                noise: false,
                ..Options::ALL
            };
            let programs = [structured(&mut rng, &options), unstructured(&mut rng)];
            for (p, unanimous) in programs.iter().zip(&mut unanimous) {
                for word in instructions(p) {
                    let Word::Branch(bra) = Word::decode(word) else {
                        continue;
                    };
                    *unanimous += u32::from(bra.unanimous);
                    let uniform = bra.cond == Cond::ALWAYS
                        || bra.cond.pred == Pred::NEVER
                        || bra.cond.test == Test::F;
                    assert!(!bra.unanimous || uniform, "seed {seed}: {bra:?}");
                }
            }
        }
        assert!(unanimous.iter().all(|n| *n > 20), "{unanimous:?}");
    }

    /// The lists from which the registers of switches are drawn.
    #[test]
    fn switches_have_their_targets() {
        let mut switches = 0;
        for seed in 1..=100 {
            let p = structured(&mut rng(seed), &WITH_BRX);
            for (at, targets) in &p.targets {
                let word = Word::decode(p.word(*at));
                let base = word.target().and_then(|t| t.address(*at));
                let base = base.expect("a BRX");
                assert!(matches!(word, Word::Indirect(_)), "seed {seed}");
                assert!(!targets.is_empty());
                for to in targets {
                    assert!(norm(*to) == *to && *to < p.prog_size, "seed {seed}");
                    assert!(base >= 0 && base <= i64::from(*to), "seed {seed}");
                }
                switches += 1;
            }
            assert_eq!(structured(&mut rng(seed), &Options::ALL).targets.len(), 0);
        }
        assert!(switches > 100, "{switches}");
    }
}
