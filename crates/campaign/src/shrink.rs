//! From a failing case to a small one that fails in the same field.
//!
//! A case is changed, run, and what it became is kept if it fails as before: RTL and golden differ, and the
//! first field that differs is the same (of any element, at any clock); or the RTL stops the simulation and
//! says the same; or the scalar judge disagrees again. In this order:
//!
//! 1. A noisy case is made a plain one, if it still fails then. The launch that led to the failure is laid
//!    out as a program of its own: its operands and constants, the instructions that were executed, and what
//!    their lanes saw as a table of conditions. Otherwise it stays noisy.
//! 2. Instructions are taken out, most at once first, then single ones, pairs, and single ones with a jump of
//!    the rest led elsewhere; or a few of them are run again and again. A table follows: a lane that executes one instruction less counts one less, and
//!    the rows behind it move up.
//! 3. Lanes: those that do not matter become copies of others; what is left is run on a model of
//!    [`LANES`] lanes.
//! 4. Rows of the table, their bits, registers, constants, fields of instructions.
//!
//! 2 to 4 are repeated until nothing gets simpler. Everything is a function of the case and the RTL, unless
//! [`Budget::time`] runs out.

mod history;
mod search;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use crate::case::{Case, Conditions, LONGEST_NAME, Row, Table};
use crate::dut::{Dut, Rtl};
use crate::environment::draw_word;
use crate::failure::{Cause, Failure};
use crate::grammar::Campaign;
use crate::instructions::{Instructions, Piece};
use crate::judges::{Judge, Judges, check_by};
use crate::program::Records;
use crate::start::Start;
use crate::watch::Watch;
use history::History;
use search::Search;

/// Lanes that a shrunk case has, if it fails with so few: every unit's worked examples have four.
pub const LANES: u32 = 4;

/// What a program is called that came out of here.
const SHRUNK: &str = "-shrunk";
/// Seeds tried for a case that depends on its seed.
const SEEDS: u64 = 4;
/// Likewise of a case without noise, which is short.
const STALL_SEEDS: u64 = 16;
/// Likewise for a change that takes much away at once.
const MANY_SEEDS: u64 = 48;
/// Largest program of which pairs are taken out, and of which jumps are led elsewhere.
const PAIRS: usize = 24;
/// Largest program that is not tried as a loop, and steps that one gets.
const INSTRUCTIONS: usize = 6;
const LOOPED: u64 = 512;
/// Most draws that are written down one by one.
const DRAWS: u64 = 20_000;
/// Largest program whose fields are looked at one by one.
const SIMPLER: usize = 64;
const RETARGETED: usize = 10;

/// How much may be tried. A case that runs out of it is as small as it got.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Runs.
    pub runs: u64,
    /// Clocks of all runs together.
    pub clocks: u64,
    /// Time, so that slow RTL does not take for ever. The only one that depends on the machine.
    pub time: Duration,
}

impl Default for Budget {
    /// Seldom used up; with the RTL here, seconds.
    fn default() -> Self {
        Budget {
            runs: 60_000,
            clocks: 10_000_000,
            time: Duration::from_secs(30),
        }
    }
}

/// How large a case is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Instructions.
    pub instructions: usize,
    /// Lanes.
    pub lanes: u32,
    /// Clocks of noise, 0 if there is none.
    pub noise: u64,
}

impl Size {
    fn of<U: Campaign>(case: &Case<U>) -> Self {
        Size {
            instructions: case.program.count(),
            lanes: case.lanes,
            noise: case.noise_clocks.unwrap_or(0),
        }
    }
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Shrunk<U: Campaign> {
    /// The smaller case and how it fails, from reset on a fresh model.
    pub failure: Failure<Case<U>>,
    /// As it was.
    pub before: Size,
    /// As it is.
    pub after: Size,
    /// Runs that it took.
    pub runs: u64,
}

impl<U: Campaign> Shrunk<U> {
    /// `program shrunk from 48 to 6 instructions, 16 to 4 lanes`.
    pub fn headline(&self) -> String {
        let (a, b) = (self.before, self.after);
        let noise = match (a.noise, b.noise) {
            (0, 0) => String::new(),
            (from, 0) => format!(", {from} clocks of noise to none"),
            (from, to) => format!(", {from} to {to} clocks of noise"),
        };
        format!(
            "program shrunk from {} to {} instructions, {} to {} lanes{noise}",
            a.instructions, b.instructions, a.lanes, b.lanes
        )
    }

    /// The program as assembly, with a comment that says what it runs under: a file that `run` takes.
    pub fn text(&self) -> String {
        let case = &self.failure.case;
        format!("// {}\n{}", case.surroundings(), U::to_text(&case.program))
    }
}

impl<U: Campaign> Shrunk<U> {
    /// `case` made smaller: `failure` of what it has become.
    pub fn new(case: &Case<U>, mut failure: Failure<Case<U>>, runs: u64) -> Self {
        let best = &mut failure.case;
        let name = U::name(&best.program);
        let short = name.len() + SHRUNK.len() <= LONGEST_NAME;
        if !same(best, case) && !name.ends_with(SHRUNK) && short {
            let name = format!("{name}{SHRUNK}");
            U::rename(&mut best.program, name);
        }
        Shrunk {
            before: Size::of(case),
            after: Size::of(best),
            runs,
            failure,
        }
    }
}

/// Looks on while a case is shrunk.
pub trait Follow<U: Campaign>: Watch<U> {
    /// The case has become smaller: `failure` of what it has become.
    fn smaller(&mut self, failure: &Failure<Case<U>>);
}

/// Ignores what happens.
impl<U: Campaign> Follow<U> for () {
    fn smaller(&mut self, _: &Failure<Case<U>>) {}
}

/// Shrinks `case`, which fails on `rtl`. `other` gives the same RTL with other lanes; without it lanes stay.
///
/// # Errors
/// The case does not fail from reset, or a model cannot be opened.
pub fn shrink<U: Campaign>(
    case: &Case<U>,
    rtl: &Rtl<U>,
    other: impl Fn(u32) -> Result<Rtl<U>, String>,
    budget: &Budget,
    follow: &mut dyn Follow<U>,
) -> Result<Shrunk<U>, String> {
    shrink_by(case, rtl, Records::judge, other, budget, follow)
}

/// Shrinks as [`shrink`], with `judge` as the scalar judge.
///
/// # Errors
/// As [`shrink`].
#[doc(hidden)]
pub fn shrink_by<U: Campaign>(
    case: &Case<U>,
    rtl: &Rtl<U>,
    judge: Judge<U>,
    other: impl Fn(u32) -> Result<Rtl<U>, String>,
    budget: &Budget,
    follow: &mut dyn Follow<U>,
) -> Result<Shrunk<U>, String> {
    let mut bench = Bench::new(rtl, judge, follow)?;
    let failure = bench
        .fresh(case)?
        .ok_or_else(|| format!("{}: nothing fails when it is run from reset", case.name()))?;
    if !matches!(failure.cause, Cause::Judge { .. }) {
        bench.judges = Judges::LockStep;
    }
    let history = History::of(case, failure.cycle());
    let mut search = Search {
        readable: readable::<U>(&case.program),
        best: case.clone(),
        failure,
        history,
        bench,
        budget: *budget,
        started: Instant::now(),
        accepted: 0,
        error: None,
        share: 2,
    };
    search.all(&other);
    match search.error {
        Some(error) => Err(error),
        None => Ok(Shrunk::new(case, search.failure, search.bench.runs)),
    }
}

/// Whether two cases of one failure are equal.
fn same<U: Campaign>(a: &Case<U>, b: &Case<U>) -> bool {
    let rest = |c: &Case<U>| {
        (
            c.seed,
            c.lanes,
            c.launch_mask,
            c.stall16,
            c.max_steps,
            c.noise_clocks,
        )
    };
    rest(a) == rest(b)
        && a.start == b.start
        && a.conditions == b.conditions
        && a.program == b.program
}

/// Whether the program comes out of its own text as it went in.
fn readable<U: Campaign>(program: &U::Program) -> bool {
    let text = U::to_text(program);
    U::assemble(&text, "shrunk.s").is_ok_and(|mut again| {
        U::rename(&mut again, U::name(program).to_owned());
        again == *program
    })
}

/// The models, and how much they were used.
struct Bench<'f, U: Campaign> {
    /// By lanes.
    models: BTreeMap<u32, (Rtl<U>, Dut<U>)>,
    runs: u64,
    clocks: u64,
    /// The scalar judge only if what it says would matter: it takes longer than the run.
    judges: Judges,
    judge: Judge<U>,
    follow: &'f mut dyn Follow<U>,
}

impl<'f, U: Campaign> Bench<'f, U> {
    fn new(rtl: &Rtl<U>, judge: Judge<U>, follow: &'f mut dyn Follow<U>) -> Result<Self, String> {
        let mut bench = Bench {
            models: BTreeMap::new(),
            runs: 0,
            clocks: 0,
            judges: Judges::All,
            judge,
            follow,
        };
        bench.add(rtl.clone())?;
        Ok(bench)
    }

    fn add(&mut self, rtl: Rtl<U>) -> Result<(), String> {
        let dut = rtl.open(1)?;
        self.models.insert(rtl.build().lanes, (rtl, dut));
        Ok(())
    }

    /// Whether and how `case` fails on a model that has run other cases before.
    fn run(&mut self, case: &Case<U>) -> Result<Option<Failure<Case<U>>>, String> {
        let Some((rtl, dut)) = self.models.get_mut(&case.lanes) else {
            return Ok(None);
        };
        let judged = check_by(case, dut, self.judges, self.judge, &mut &mut *self.follow);
        if dut.stopped().is_some() {
            *dut = rtl.open(case.model_seed())?;
        }
        self.runs += 1;
        self.clocks += match &judged {
            Ok(agreed) => agreed.compared.clocks,
            Err(failure) => failure.compared.clocks,
        };
        Ok(judged.err())
    }

    /// Likewise on a fresh one, as `replay` runs it.
    fn fresh(&mut self, case: &Case<U>) -> Result<Option<Failure<Case<U>>>, String> {
        if let Some((rtl, dut)) = self.models.get_mut(&case.lanes) {
            *dut = rtl.open(case.model_seed())?;
        }
        self.run(case)
    }
}
