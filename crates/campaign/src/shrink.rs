//! Shrinks a failing case to a small one that fails in the same field.
//!
//! The shrinker changes a case, runs it, and keeps the change if the case fails as before: the first field in which RTL and
//! golden model differ is the same (any element, any cycle); or the RTL stops the simulation with the same message; or the
//! scalar judge disagrees again. It tries changes in this order:
//!
//! 1. Make a noisy case a plain one. The launch that led to the failure becomes a separate program: its operands and
//!    constants, the executed instructions, and a table of the conditions that their lanes saw. If this does not fail, the
//!    case stays noisy.
//! 2. Remove instructions: first as many as possible at once, then single ones, pairs, and single ones together with a new
//!    target for a jump. Or repeat a few instructions in a loop. The table of conditions is adapted: if a lane executes one
//!    instruction less, its k is one less, and its later rows move up.
//! 3. Reduce the lanes: lanes that do not matter become copies of others, then the case runs on a model of [`LANES`] lanes.
//! 4. Remove or simplify rows of the table, their bits, registers, constants, and fields of instructions.
//!
//! Steps 2 to 4 are repeated until nothing becomes simpler. The result depends only on the case and the RTL, unless
//! [`Budget::time`] runs out.

mod history;
mod simplify;

use std::collections::BTreeSet;

pub use crate::campaign::Shrunk;
use crate::grammar::Campaign;
use history::History;
use reconverge_bench::dut::{Dut, Rtl};
use reconverge_bench::failure::Cause;
use reconverge_bench::lanes::Wavefronts;
use reconverge_bench::quantity::counted;
use reconverge_bench::saved::Savable as _;
use reconverge_bench::search::Search;
pub use reconverge_bench::search::{Budget, Follow};
use reconverge_program::assembly::Assembly as _;
use reconverge_program::case::{Case, Conditions, Row, Table};
use reconverge_program::environment::draw_word;
use reconverge_program::instructions::{Instructions, Piece};
use reconverge_program::judges::{Judge, Judges, check_on};
use reconverge_program::program::Records;
use reconverge_program::start::Start;
use reconverge_program::watch::Pulse;
use simplify::Simplify;

/// Number of lanes of a shrunk case, if it fails with so few. The worked examples of every unit have four lanes.
pub const LANES: u32 = 4;

/// Number of seeds tried for a case that depends on its seed.
const SEEDS: u64 = 4;
/// Number of seeds tried for a case with stalls and without noise, which is short.
const STALL_SEEDS: u64 = 16;
/// Number of seeds tried for a change that removes much at once.
const MANY_SEEDS: u64 = 48;
/// Largest program from which pairs of instructions are removed.
const PAIRS: usize = 24;
/// Largest program that is not tried as a loop.
const INSTRUCTIONS: usize = 6;
/// Minimum step limit of a program that was made a loop.
const LOOPED: u64 = 512;
/// Maximum number of draws that are replaced by a table.
const DRAWS: u64 = 20_000;
/// Largest program whose fields are simplified one by one.
const SIMPLER: usize = 64;
/// Largest program in which jumps get new targets.
const RETARGETED: usize = 10;

/// Size of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Number of instructions.
    pub instructions: usize,
    /// Number of lanes.
    pub lanes: u32,
    /// Cycles of noise, 0 if there is none.
    pub noise: u64,
}

impl Size {
    pub(crate) fn of<U: Campaign>(case: &Case<U>) -> Self {
        Size {
            instructions: case.program.count(),
            lanes: case.lanes,
            noise: case.noise_cycles.unwrap_or(0),
        }
    }
}

/// Returns a line such as `program shrunk from 48 to 6 instructions, 16 to 4 lanes`, or `program of 6 instructions, 4 lanes`.
pub(crate) fn headline(a: Size, b: Size) -> String {
    let [instructions, lanes] = [
        counted(b.instructions, "instruction"),
        counted(b.lanes, "lane"),
    ];
    let noise = match (a.noise, b.noise) {
        (0, 0) => String::new(),
        (from, to) if from == to => format!(", {} of noise", counted(to, "cycle")),
        (from, 0) => format!(", {} of noise to none", counted(from, "cycle")),
        (from, to) => format!(", {from} to {} of noise", counted(to, "cycle")),
    };
    if a == b {
        return format!("program of {instructions}, {lanes}{noise}");
    }
    let lanes = match a.lanes == b.lanes {
        true => lanes,
        false => format!("{} to {lanes}", a.lanes),
    };
    format!(
        "program shrunk from {} to {instructions}, {lanes}{noise}",
        a.instructions
    )
}

/// Shrinks `case`, which fails on `rtl`. `other` returns the same RTL with another number of lanes; if it fails, the lanes
/// stay.
///
/// # Errors
/// The case does not fail from reset, a model cannot be opened, or the time is too short for a run in which the RTL hangs.
pub fn shrink<U: Campaign>(
    case: &Case<U>,
    rtl: &Rtl<U>,
    other: impl Fn(u32) -> Result<Rtl<U>, String>,
    budget: &Budget,
    follow: &mut dyn Follow<Case<U>>,
) -> Result<Shrunk<Case<U>>, String> {
    shrink_by(case, rtl, Records::judge, other, budget, follow)
}

/// Does the same as [`shrink`], with `judge` as the scalar judge.
///
/// # Errors
/// The same as [`shrink`].
#[doc(hidden)]
pub fn shrink_by<U: Campaign>(
    case: &Case<U>,
    rtl: &Rtl<U>,
    judge: Judge<U>,
    other: impl Fn(u32) -> Result<Rtl<U>, String>,
    budget: &Budget,
    follow: &mut dyn Follow<Case<U>>,
) -> Result<Shrunk<Case<U>>, String> {
    let judge = |case: &Case<U>, dut: &mut Dut<U>, judges, progress: &mut dyn FnMut(u64)| {
        check_on(case, dut, judges, judge, &mut Pulse(progress))
    };
    let mut search = Search::of(case, rtl, &judge, false, budget, follow)?
        .ok_or_else(|| format!("{}: nothing fails when it is run from reset", case.name()))?;
    // The scalar judge takes longer than the run.
    if !matches!(search.best.cause, Cause::Judge { .. }) {
        search.runs.judges = Judges::LockStep;
    }
    search.runs.share = 2;
    let mut simplify = Simplify {
        readable: readable::<U>(&case.program),
        best: case.clone(),
        history: History::of(case, search.best.cycle()),
        search,
        error: None,
    };
    simplify.all(&other);
    match simplify.error {
        Some(error) => Err(error),
        None => Ok(Shrunk::new(
            case,
            simplify.search.best,
            simplify.search.runs.count,
        )),
    }
}

/// Returns true if two cases of one failure are equal.
pub(crate) fn same<U: Campaign>(a: &Case<U>, b: &Case<U>) -> bool {
    let rest = |c: &Case<U>| {
        (
            c.seed,
            c.lanes,
            c.launch_mask,
            c.stall16,
            c.max_steps,
            c.noise_cycles,
        )
    };
    rest(a) == rest(b)
        && a.start == b.start
        && a.conditions == b.conditions
        && a.program == b.program
}

/// Returns true if the program's text assembles to the same program.
fn readable<U: Campaign>(program: &U::Program) -> bool {
    let text = program.to_text();
    U::Program::assemble(&text, "shrunk.s").is_ok_and(|mut again| {
        again.rename(program.name().to_owned());
        again == *program
    })
}
