//! Compares every thread of a warp with the scalar machine.
//!
//! The threads run alone in parallel with the records of the warp: at each record, every thread that executes it
//! must be there alone, and able to execute it. So an endless program, a run that was stopped and a run
//! that ended in an error are all compared as far as they went. Where the warp stopped, the judge checks
//! whether each thread is where it would be alone.
//!
//! The claims are those of spa5-9 ("Holds for"), for any program:
//!
//! * each thread executes what it executes alone; in a warp that is DONE, all of it;
//! * where the warp stops, each thread runs, waits or has exited as its last instruction says, and the
//!   stack holds the tokens that a running thread holds alone, and at most one DIV token for each thread
//!   that waits without a flag;
//! * the error in which the warp stops is that of each running thread that takes the instruction.
//!   `STACK_OVERFLOW` is different, because DIV tokens take room: it needs a full stack and an
//!   instruction that pushes.
//!
//! A BRA.U at which running threads disagree treats them as none of them would be treated alone (spa5-O12): there
//! the judge makes no further claim.

use super::Spa5;
use super::scalar::{self, Deed, Draw, Scalar, Thread, TokenKind};
use super::state::values::status::{DONE, ERR, UNWIND};
use super::state::{ERROR_NAMES, State};
use crate::unit::{Record, Verdict};
use reconverge_program::case::{Case, Conditions};
use reconverge_program::environment::draw_word;

/// Condition bits of a draw: P0 to P6, Z, S, C, O, and those of the clip state machine up to bit 15.
const BITS: u32 = 16;

/// Compares what every thread executed with what it executes alone.
pub fn judge(case: &Case<Spa5>, records: &[Record], end: &State) -> Verdict {
    if case.conditions == Conditions::Noise || case.noise_cycles.is_some() {
        let why = "its conditions are noise, or more than one launch is run";
        return Verdict::NotStructured(why.to_owned());
    }
    let build = case.build();
    let depth = build.value::<Spa5>("DEPTH") as usize;
    let brx = build.value::<Spa5>("BRX") == 1;
    let csm = build.value::<Spa5>("CSM") == 1;
    let scalar = Scalar::new(&case.program, depth, brx).with_csm(csm);
    let mut warp = Warp::new(case, scalar);
    let compared = records
        .iter()
        .try_for_each(|record| warp.follow(record))
        .and_then(|()| warp.stopped(records.last(), end, depth));
    match compared {
        Ok(()) => Verdict::Agrees {
            lanes: warp.launched.count_ones(),
            instructions: warp.threads.iter().map(|t| t.executed).sum(),
        },
        Err(verdict) => verdict,
    }
}

fn disagrees(lane: u32, how: String) -> Verdict {
    Verdict::Disagrees { lane, how }
}

/// Returns the threads of `mask`, the lowest first.
fn threads(mut mask: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lane = (mask != 0).then(|| mask.trailing_zeros())?;
        mask &= mask - 1;
        Some(lane)
    })
}

fn error(code: u8) -> String {
    let name = ERROR_NAMES.get(usize::from(code)).unwrap_or(&"?");
    format!("error {code} {name}")
}

/// The threads of a warp, each run alone.
struct Warp<'c> {
    case: &'c Case<Spa5>,
    scalar: Scalar<'c>,
    launched: u64,
    threads: Vec<Thread>,
}

impl<'c> Warp<'c> {
    fn new(case: &'c Case<Spa5>, scalar: Scalar<'c>) -> Self {
        let lanes = case.lanes.min(u64::BITS);
        Warp {
            case,
            scalar,
            launched: case.launch_mask & all(lanes),
            threads: vec![scalar.launch(); lanes as usize],
        }
    }

    fn thread(&self, lane: u32) -> &Thread {
        &self.threads[lane as usize]
    }

    /// Returns the draws of one thread.
    fn draws(&self, lane: u32) -> impl Fn(u64) -> Draw {
        let Case {
            conditions, seed, ..
        } = self.case;
        move |k| Draw {
            bits: conditions.draw(*seed, lane, k, BITS),
            word: match conditions.are_drawn() {
                true => draw_word(*seed, lane, k),
                false => 0,
            },
        }
    }

    fn next(&self, lane: u32) -> Result<Deed, u8> {
        self.scalar.next(self.thread(lane), self.draws(lane))
    }

    /// Checks that every thread of `mask` is alone at `pc`, where the warp `does` something.
    fn arrived(&self, mask: u64, pc: u32, does: &str) -> Result<(), Verdict> {
        for lane in threads(mask) {
            if self.launched >> lane & 1 == 0 {
                let how = format!("0x{pc:03x} {does} in the warp, and was never launched");
                return Err(disagrees(lane, how));
            }
            let thread = self.thread(lane);
            let n = thread.executed;
            if thread.exited || thread.pc != pc {
                let alone = match thread.exited {
                    true => "none".to_owned(),
                    false => format!("0x{:03x}", thread.pc),
                };
                let how = format!("instruction {n}: 0x{pc:03x} {does} in the warp, {alone} alone");
                return Err(disagrees(lane, how));
            }
        }
        Ok(())
    }

    /// Executes on each thread alone what the threads executed together.
    fn follow(&mut self, record: &Record) -> Result<(), Verdict> {
        let Record { pc, executes, .. } = *record;
        if executes == 0 {
            return Err(disagrees(0, format!("0x{pc:03x} executed by no thread")));
        }
        self.arrived(executes, pc, "executed")?;
        if scalar::is_unanimous(self.case.program.word(pc)) {
            let takes = |lane: &u32| {
                let (thread, draws) = (self.thread(*lane), self.draws(*lane));
                self.scalar.condition(thread, draws) == Ok(true)
            };
            let taken = threads(executes).filter(takes).count() as u32;
            if taken != 0 && taken != executes.count_ones() {
                let why = "a BRA.U on which the running threads disagree (spa5-O12)";
                return Err(Verdict::NotStructured(format!("0x{pc:03x}: {why}")));
            }
        }
        for lane in threads(executes) {
            match self.next(lane) {
                Ok(deed) => self.scalar.execute(&mut self.threads[lane as usize], deed),
                Err(code) => {
                    let n = self.thread(lane).executed;
                    let alone = error(code);
                    let how =
                        format!("instruction {n}: 0x{pc:03x} executed in the warp, {alone} alone");
                    return Err(disagrees(lane, how));
                }
            }
        }
        Ok(())
    }

    /// Checks everything known about the state in which the warp stopped.
    fn stopped(&self, last: Option<&Record>, end: &State, depth: usize) -> Result<(), Verdict> {
        let wrong = |what: &str| Err(disagrees(0, what.to_owned()));
        if (end.status == ERR) != (end.err != 0) {
            return wrong("status and error code do not go together");
        }
        self.killed(end)?;
        match end.status {
            DONE => self.done(last, end),
            // In the middle of a step, there is no record of it yet.
            UNWIND => Ok(()),
            _ if end.active == 0 => wrong("no thread is active, and the warp is not DONE"),
            _ => {
                self.arrived(end.active, end.pc, "next")?;
                (0..self.threads.len() as u32).try_for_each(|lane| self.stands(lane, end))?;
                self.tokens(end)?;
                match end.status {
                    ERR => self.failed(end, depth),
                    _ => Ok(()),
                }
            }
        }
    }

    /// Checks that exactly the threads that were killed are marked so (spa5-I12). A step that unwinds is not yet complete in a
    /// record.
    fn killed(&self, end: &State) -> Result<(), Verdict> {
        if end.status == UNWIND {
            return Ok(());
        }
        let alone = |lane: &u32| self.thread(*lane).killed;
        let lanes = 0..self.threads.len() as u32;
        match lanes
            .clone()
            .find(|lane| alone(lane) != (end.killed >> lane & 1 == 1))
        {
            None => Ok(()),
            Some(lane) => {
                let how = match alone(&lane) {
                    true => "killed alone, and not in the warp",
                    false => "killed in the warp, and not alone",
                };
                Err(disagrees(lane, how.to_owned()))
            }
        }
    }

    /// Checks that a thread is active, waits with its flag, or has exited, as its last instruction says (spa5-3).
    fn stands(&self, lane: u32, end: &State) -> Result<(), Verdict> {
        let thread = self.thread(lane);
        let has = |mask: u64| mask >> lane & 1 == 1;
        let launched = has(self.launched);
        let active = has(end.active);
        let flags = [end.exited, end.d_brk, end.d_cont, end.d_ret].map(has);
        let none = [false; 4];
        // It may be deferred before a BRX that it will take, as soon as it has reached it.
        let before_brx = scalar::is_brx(self.case.program.word(thread.pc));
        let fits = match thread.last {
            _ if !launched || thread.exited => flags == [true, false, false, false],
            _ if active || before_brx && flags == none => flags == none,
            Some(Deed::Leaves { kind, .. }) => {
                let [brk, cont, ret] =
                    [TokenKind::Pbk, TokenKind::Pcnt, TokenKind::Ret].map(|k| k == kind);
                flags == [false, brk, cont, ret]
            }
            // Deferred. A thread alone cannot tell which side goes first (spa5-O1).
            Some(Deed::Passes | Deed::Jumps { .. }) => flags == none,
            _ => false,
        };
        if fits {
            return Ok(());
        }
        let (n, last) = (thread.executed, thread.last);
        let how = format!(
            "after {n} instructions active is {active} and exited, d_brk, d_cont, d_ret are {flags:?} in the warp, which cannot be after {last:?}"
        );
        Err(disagrees(lane, how))
    }

    /// Checks spa5-I11: every thread has exited, and nothing is left.
    fn done(&self, last: Option<&Record>, end: &State) -> Result<(), Verdict> {
        if let Some(lane) = threads(self.launched).find(|lane| !self.thread(*lane).exited) {
            let Thread { executed, pc, .. } = self.thread(lane);
            let how =
                format!("{executed} instructions in the warp, alone it goes on at 0x{pc:03x}");
            return Err(disagrees(lane, how));
        }
        let masks = [end.active, end.d_brk, end.d_cont, end.d_ret];
        let pc = last.map_or(self.scalar.launch().pc, |record| record.pc);
        let all_threads = all(self.threads.len() as u32);
        if masks != [0; 4]
            || end.exited != all_threads
            || end.sp != 0
            || end.vis != 0
            || end.pc != pc
        {
            let how = "at its end a thread, a token or a flag is left, or pc is not that of the last instruction";
            return Err(disagrees(0, how.to_owned()));
        }
        Ok(())
    }

    /// Checks that the stack holds the tokens of each running thread, and DIV tokens for at most as many threads as
    /// could be in one (spa5-I3 to spa5-I5).
    fn tokens(&self, end: &State) -> Result<(), Verdict> {
        let dis = end.exited | end.d_brk | end.d_cont | end.d_ret;
        let others = (self.launched & !end.active & !dis).count_ones() as usize;
        let held = usize::from(end.sp);
        for lane in threads(end.active) {
            let own = self.thread(lane).tokens.len();
            if held < own || held > own + others {
                let how = format!(
                    "{own} tokens alone, {held} in the warp, where {others} threads may be deferred"
                );
                return Err(disagrees(lane, how));
            }
        }
        Ok(())
    }

    /// Checks that the error in which the warp stopped is that of its running threads alone; for a full stack, that
    /// they can fill it.
    fn failed(&self, end: &State, depth: usize) -> Result<(), Verdict> {
        let full = end.err == scalar::STACK_OVERFLOW;
        if full && usize::from(end.sp) != depth {
            let how = format!("STACK_OVERFLOW with {} tokens of {depth}", end.sp);
            return Err(disagrees(0, how));
        }
        let alone: Vec<_> = threads(end.active)
            .map(|lane| (lane, self.next(lane)))
            .collect();
        let takes = |deed: &Result<Deed, u8>| !matches!(deed, Ok(Deed::Passes | Deed::Stays));
        let takers = alone.iter().filter(|(_, deed)| takes(deed)).count();
        let divided = takers != 0 && takers != alone.len();
        let word = self.case.program.word(end.pc);
        let by_register = scalar::is_brx(word)
            && matches!(
                end.err,
                scalar::STACK_OVERFLOW | scalar::TARGET_RANGE | scalar::TARGET_MISALIGNED
            );
        let wrong = if by_register {
            // The condition divides first, then the target of the lowest thread is used, then the BRX
            // divides again (spa5-A).
            let lowest = &alone[0].1;
            let fits = match full {
                true if divided => true,
                true => {
                    matches!(lowest, Ok(Deed::Jumps { .. }))
                        && alone.iter().any(|(_, deed)| deed != lowest)
                }
                false => !divided && *lowest == Err(end.err),
            };
            alone.first().filter(|_| !fits)
        } else {
            // Every other check depends only on the instruction, and comes before any push. A BRA.U on which the
            // threads disagree does nothing.
            let unanimous = scalar::is_unanimous(word);
            let fits = |deed: &Result<Deed, u8>| match deed {
                Err(code) => *code == end.err && !(divided && unanimous),
                Ok(Deed::Pushes { .. }) => full,
                Ok(Deed::Jumps { .. }) => full && divided && !unanimous,
                Ok(Deed::Passes | Deed::Stays) => takers != 0,
                Ok(_) => false,
            };
            alone.iter().find(|(_, deed)| !fits(deed))
        };
        let Some((lane, deed)) = wrong else {
            return Ok(());
        };
        let n = self.thread(*lane).executed;
        let (there, pc) = (error(end.err), end.pc);
        let alone = match deed {
            Ok(deed) => format!("{deed:?}"),
            Err(code) => error(*code),
        };
        let how = format!("instruction {n}: {there} at 0x{pc:03x} in the warp, {alone} alone");
        Err(disagrees(*lane, how))
    }
}

/// Returns the lowest `lanes` threads.
fn all(lanes: u32) -> u64 {
    u64::MAX.checked_shr(u64::BITS - lanes).unwrap_or(0)
}

#[cfg(all(test, feature = "rtl"))]
mod tests;
