//! RTL in separate processes: whatever it does, the command survives it and keeps its findings.
//!
//! A worker is this program again (`reconverge worker UNIT`) with a socket as its standard input, over which both sides
//! write lines of JSON ([`protocol`]): first the job, then repeatedly an order and the answers to it
//! ([`child`]). A running worker sends a sign of life several times a second. A worker that sends nothing for the time limit, or ends, is
//! lost ([`supervisor`]); its last order then runs again to find the case that caused it.
//! Every command that runs RTL does so here; a library call has a process of another kind for it (`reconverge::dut`).

mod child;
mod chunk;
mod protocol;
mod supervisor;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use reconverge::campaign;
use reconverge::case::Case;
use reconverge::compiled::Compiled;
use reconverge::cover::lcov::RtlCoverage;
use reconverge::cover::{Model, Totals, run as cover};
use reconverge::design::Build;
use reconverge::dut::Rtl;
use reconverge::exhaust::check::{Checked, Difference};
use reconverge::failure::{Cause, Failure};
use reconverge::instructions::Instructions as _;
use reconverge::judges::Judges;
use reconverge::lockstep::Compared;
use reconverge::mutate::Hunt;
use reconverge::quantity;
use reconverge::report::{Waves, dump_file, dump_from};
use reconverge::shrink::Shrunk;
use reconverge::stream::Stream;
use reconverge::wave::Format;

use crate::console::complain;
use crate::progress::Ticker;
use crate::stop;
use crate::stop::Trouble;
pub use child::work;
use protocol::{Answer, Job, Judged, Order, Played, parsed};
use supervisor::{Lost, Patience, Worker};

/// Time that a worker gets to stop after the order to stop.
const GRACE: Duration = Duration::from_secs(2);
/// Maximum number of starts of a worker for a run that is lost at a different place each time, or before it begins.
const TRIES: usize = 3;
/// Number of kills from outside after which the RTL counts as the cause.
const KILLS: usize = 8;

/// What RTL may take.
#[derive(Args, Clone, Copy)]
pub struct LimitArgs {
    /// Give a case up as hung if its RTL makes no progress for this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
    /// Limit the memory of each process that runs RTL, in megabytes, 64 at least; 0: no limit
    #[arg(long, value_name = "MB", default_value_t = 4096, value_parser = quantity::memory)]
    memory: u64,
}

/// Returns the message for RTL that exceeds the memory limit.
fn out_of_memory(megabytes: u64) -> String {
    format!("out of memory: it may have {megabytes} MB (--memory)")
}

/// Returns the cause for a worker with an impossible answer: its memory is corrupt.
fn impossible<U: Compiled>() -> Lost<U> {
    Lost::By(Cause::Crashed("it gave an impossible answer".to_owned()))
}

/// A flag that is never set.
static NEVER: AtomicBool = AtomicBool::new(false);

/// What to do after an answer.
enum Step<U: Compiled, T> {
    /// Wait for more answers.
    More,
    /// Send this order, and wait for more answers.
    Tell(Order<U>),
    /// Finish with this result.
    Done(T),
}

/// RTL in a worker, which is started when needed.
pub struct Isolated<'a, U: Compiled> {
    rtl: &'a Rtl<U>,
    limits: LimitArgs,
    /// The format of dumps.
    format: Format,
    stop: &'static AtomicBool,
    over: &'a AtomicBool,
    worker: Option<Worker>,
}

impl<'a, U: Compiled> Isolated<'a, U> {
    /// Returns RTL without a started worker.
    ///
    /// # Errors
    /// Signals cannot be watched.
    pub fn new(rtl: &'a Rtl<U>, limits: LimitArgs) -> Result<Self, String> {
        Self::until(rtl, limits, &NEVER)
    }

    /// Does the same as [`Isolated::new`]; once `over` is set, the current work no longer counts.
    pub fn until(rtl: &'a Rtl<U>, limits: LimitArgs, over: &'a AtomicBool) -> Result<Self, String> {
        Ok(Isolated {
            rtl,
            limits,
            format: Format::default(),
            stop: stop::asked()?,
            over,
            worker: None,
        })
    }

    /// Returns the same with `format` as the format of dumps.
    pub fn dumping(self, format: Format) -> Self {
        Isolated { format, ..self }
    }

    /// Returns the format of dumps.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the limits of the RTL.
    pub fn limits(&self) -> LimitArgs {
        self.limits
    }

    /// Returns the same RTL with the number of lanes of `case`; `None` if it has that number already.
    ///
    /// # Errors
    /// It cannot be built; the process was told to end.
    pub fn built_for(&self, case: &Case<U>) -> Result<Option<Rtl<U>>, Trouble> {
        let lanes = case.lanes;
        if lanes == self.rtl.build().lanes {
            return Ok(None);
        }
        let mut ticker = Ticker::new();
        let waiting = || {
            ticker.tick(|| format!("building the RTL of {} with {lanes} lanes", U::NAME));
        };
        rebuilt(self.rtl, lanes, waiting).map(Some)
    }

    /// Returns whether the process has been told to end.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Sends an order and passes the answers to `take` until that is done. If this does not end in an answer, the worker is lost.
    fn ask<T>(
        &mut self,
        order: &Order<U>,
        grace: Duration,
        mut take: impl FnMut(Answer<U>) -> Step<U, T>,
    ) -> Result<T, Lost<U>> {
        let mut result = None;
        self.converse(order, grace, &mut |answer| match take(answer) {
            Step::More => Step::More,
            Step::Tell(order) => Step::Tell(order),
            Step::Done(done) => {
                result = Some(done);
                Step::Done(())
            }
        })?;
        Ok(result.unwrap_or_else(|| unreachable!("a conversation ends with a result")))
    }

    /// Does the same as [`Isolated::ask`], without a result, so that it is compiled once and not for each order.
    fn converse(
        &mut self,
        order: &Order<U>,
        grace: Duration,
        take: &mut dyn FnMut(Answer<U>) -> Step<U, ()>,
    ) -> Result<(), Lost<U>> {
        let mut worker = match self.worker.take() {
            Some(worker) => worker,
            None => Worker::start(&Job {
                built: self.rtl.built(),
                memory: self.limits.memory,
            })?,
        };
        let timeout = Duration::from_secs(self.limits.timeout);
        let mut patience = Patience::new(timeout, self.stop, grace, self.over);
        worker.tell(order)?;
        let mut told = false;
        loop {
            let line = worker.hear(&mut patience)?;
            let answer = parsed(&line).ok().filter(Answer::is_possible);
            let answer = answer.ok_or_else(impossible)?;
            match answer {
                Answer::Lost(cause) => return Err(Lost::By(*cause)),
                // One that could not begin ends after this.
                Answer::Cannot(why) => return Err(Lost::Trouble(why)),
                answer => match take(answer) {
                    Step::More => {}
                    Step::Tell(order) => worker.tell(&order)?,
                    Step::Done(()) => {
                        self.worker = Some(worker);
                        return Ok(());
                    }
                },
            }
            if self.stopped() && !grace.is_zero() && !told {
                told = true;
                worker.tell(&Order::<U>::Stop)?;
            }
            if patience.over() {
                worker.end();
                return Err(Lost::Interrupted);
            }
        }
    }

    /// Does the same as [`Isolated::ask`], for work that stops at once; repeats it if something outside ended or suspended the worker.
    fn ask_again<T>(
        &mut self,
        order: &Order<U>,
        mut take: impl FnMut(Answer<U>) -> Step<U, T>,
    ) -> Result<T, Lost<U>> {
        for _ in 1..TRIES {
            match self.ask(order, Duration::ZERO, &mut take) {
                Err(Lost::Killed(_) | Lost::Suspended) => {}
                asked => return asked,
            }
        }
        self.ask(order, Duration::ZERO, take)
    }

    /// Judges `case`; `progress` receives its cycles.
    ///
    /// # Errors
    /// The process was told to end, or the bench is at fault.
    pub fn check(
        &mut self,
        case: &Case<U>,
        judges: Judges,
        mut progress: impl FnMut(u64),
    ) -> Result<Judged<U>, Trouble> {
        let order = Order::Check {
            case: Box::new(case.clone()),
            judges,
        };
        let mut compared = Compared::default();
        let judged = self.ask_again(&order, |answer| match answer {
            Answer::Judged(judged) => Step::Done(*judged),
            Answer::Pulse(cycles) => {
                compared.cycles = cycles;
                progress(cycles);
                Step::More
            }
            _ => Step::More,
        });
        match judged {
            Ok(judged) => Ok(judged),
            Err(lost) => match lost.cause() {
                Ok(cause) => Ok(Err(Failure::new(case, cause, compared))),
                Err(lost) => Err(lost.trouble()),
            },
        }
    }

    /// Takes all transitions from `states` of a small world with the bounds `limits`. If the process is lost, searches for the
    /// cause, state by state and transition by transition.
    ///
    /// # Errors
    /// The process was told to end, or the bench is at fault.
    pub fn exhaust(&mut self, limits: &[u32], states: &[Vec<u8>]) -> Result<Checked<U>, Trouble> {
        let lost = match self.transitions(limits, states, None) {
            Ok(checked) => return Ok(checked),
            Err(lost) => lost.cause().map_err(Lost::trouble)?,
        };
        let mut checked = self.search(limits, states).unwrap_or_else(|trouble| {
            if let Trouble::Other(why) = trouble {
                complain(&format!("warning: {why}"));
            }
            Checked {
                transitions: 0,
                cycles: 0,
                difference: None,
            }
        });
        // No state causes it by itself: the RTL counts something that no state holds. Or there was no time to find the state.
        let unplaced = || unplaced(states, lost);
        checked.difference.get_or_insert_with(unplaced);
        Ok(checked)
    }

    /// Takes all transitions from one of `states` after the other, until one of them loses the process.
    fn search(&mut self, limits: &[u32], states: &[Vec<u8>]) -> Result<Checked<U>, Trouble> {
        let mut checked = Checked {
            transitions: 0,
            cycles: 0,
            difference: None,
        };
        for (number, state) in states.iter().enumerate() {
            let one = std::slice::from_ref(state);
            let found = match self.transitions(limits, one, None) {
                Ok(found) => found,
                Err(lost) => {
                    let cause = lost.cause().map_err(Lost::trouble)?;
                    self.transition(limits, one, cause)?
                }
            };
            checked.transitions += found.transitions;
            checked.cycles += found.cycles;
            if let Some(difference) = found.difference {
                checked.difference = Some(Difference {
                    state: number,
                    ..difference
                });
                break;
            }
        }
        Ok(checked)
    }

    /// Searches for the transition from the one state `state` that loses the process by `cause`.
    fn transition(
        &mut self,
        limits: &[u32],
        state: &[Vec<u8>],
        cause: Cause<U>,
    ) -> Result<Checked<U>, Trouble> {
        let (mut transitions, mut cycles) = (0, 0);
        let mut found = None;
        for number in 0.. {
            match self.transitions(limits, state, Some(number)) {
                // Past the last transition.
                Ok(checked) if checked.transitions == 0 && checked.difference.is_none() => break,
                Ok(checked) => {
                    transitions += checked.transitions;
                    cycles += checked.cycles;
                }
                Err(lost) => {
                    found = Some((number, lost.cause().map_err(Lost::trouble)?));
                    break;
                }
            }
        }
        let (transition, cause) = match found {
            Some((number, cause)) => (Some(number), cause),
            None => (None, cause),
        };
        Ok(Checked {
            transitions,
            cycles,
            difference: Some(Difference {
                state: 0,
                transition,
                cause,
            }),
        })
    }

    fn transitions(
        &mut self,
        limits: &[u32],
        states: &[Vec<u8>],
        only: Option<usize>,
    ) -> Result<Checked<U>, Lost<U>> {
        let order = Order::Exhaust {
            limits: limits.to_vec(),
            states: states.to_vec(),
            only,
        };
        let checked = self.ask_again(&order, |answer| match answer {
            Answer::Exhausted(checked) => Step::Done(*checked),
            _ => Step::More,
        })?;
        match &checked.difference {
            Some(found) if found.state >= states.len() => Err(impossible()),
            _ => Ok(checked),
        }
    }

    /// Judges a stream of pins; with `dump`, writes a VCD from this cycle on.
    ///
    /// # Errors
    /// The process was told to end, or the bench is at fault; the file of `dump` cannot be written.
    pub fn play(
        &mut self,
        stream: &Stream<U>,
        dump: Option<(u64, &Path)>,
    ) -> Result<Played<U>, Trouble> {
        let order = Order::Play {
            stream: Box::new(stream.clone()),
            dump: dump.map(|(from, path)| (from, path.to_owned())),
        };
        let played = self.ask_again(&order, |answer| match answer {
            Answer::Played(played) => Step::Done(*played),
            _ => Step::More,
        });
        match played {
            Ok(played) => Ok(played?),
            Err(lost) => match lost.cause() {
                Ok(cause) => Ok(Err(Failure::new(stream, cause, Compared::default()))),
                Err(lost) => Err(lost.trouble()),
            },
        }
    }

    /// Runs `case` again with waves, and writes dump and view into `dir`; `failure` is its failure, if it fails.
    ///
    /// # Errors
    /// A file cannot be written; the RTL ends the process this time; the process was told to end.
    pub fn waves(
        &mut self,
        case: &Case<U>,
        failure: Option<&Failure<Case<U>>>,
        dir: &Path,
    ) -> Result<Waves, Trouble> {
        if self.stopped() {
            return Err(Trouble::Interrupted);
        }
        std::fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
        let dump = dump_file(case, dir);
        let name = dump.file_name().unwrap_or_default().to_string_lossy();
        // The dump gets its name when it is complete.
        let part = dir.join(format!(".writing-{}-{name}", std::process::id()));
        let order = Order::Dump {
            case: Box::new(case.clone()),
            from: dump_from(failure),
            path: part.clone(),
        };
        let dumped = self.ask_again(&order, |answer| match answer {
            Answer::Dumped(dumped) => Step::Done(*dumped),
            _ => Step::More,
        });
        let made = match dumped {
            Ok(Ok(again)) => std::fs::rename(&part, &dump)
                .map_err(|e| format!("{}: {e}", dump.display()))
                .and_then(|()| Waves::of(case, failure, &again, dump, self.format))
                .map_err(Trouble::Other),
            // The user knows the dump by its final name.
            Ok(Err(why)) => {
                let (part, dump) = (part.to_string_lossy(), dump.to_string_lossy());
                Err(Trouble::Other(why.replace(&*part, &dump)))
            }
            Err(lost) => Err(lost.trouble()),
        };
        if made.is_err() {
            let _ = std::fs::remove_file(&part);
        }
        made
    }

    /// Makes `case`, which fails, smaller. The second value says why it is not as small as possible.
    ///
    /// # Errors
    /// Nothing smaller was found: the reason.
    pub fn shrink(&mut self, case: &Case<U>) -> Result<(Shrunk<Case<U>>, Option<String>), String> {
        let mut smallest: Option<Failure<Case<U>>> = None;
        let mut runs = 0;
        let order = Order::Shrink(Box::new(case.clone()));
        let (name, mut ticker) = (case.name(), Ticker::new());
        let before = case.program.count();
        let mut after = before;
        let far = |after| format!("shrinking {name}: {before} to {after} instructions");
        let shrunk = self.ask(&order, Duration::ZERO, |answer| match answer {
            Answer::Smaller(failure) => {
                after = failure.case.program.count();
                ticker.tick(|| far(after));
                smallest = Some(*failure);
                runs += 1;
                Step::More
            }
            Answer::Wants(lanes) => {
                let waiting = || {
                    ticker.tick(|| format!("{}, building {lanes} lanes", far(after)));
                };
                let built = rebuilt(self.rtl, lanes, waiting).map(|rtl| rtl.built());
                Step::Tell(Order::Built(built.map_err(Trouble::why)))
            }
            Answer::Shrunk(shrunk) => Step::Done(shrunk),
            _ => {
                ticker.tick(|| far(after));
                Step::More
            }
        });
        let why = match shrunk {
            Ok(Ok((failure, runs))) => return Ok((Shrunk::new(case, *failure, runs), None)),
            Ok(Err(why)) => why,
            Err(lost) => lost.trouble().why(),
        };
        match smallest {
            Some(failure) => Ok((Shrunk::new(case, failure, runs), Some(why))),
            None => Err(why),
        }
    }

    /// Runs cases and counts what they cover; `progress` receives programs, cycles and bins after each chunk.
    ///
    /// # Errors
    /// The bench is at fault.
    pub fn cover(
        &mut self,
        options: &cover::Options,
        mut progress: impl FnMut(u64, u64, usize),
    ) -> Result<Option<cover::Covered<U>>, String> {
        let (mut options, rtl) = (*options, self.rtl);
        // How the RTL ended its process first; the last case of those that ran one by one since, and the cases before them.
        let (mut blame, mut last, mut before) = (None, None, 0);
        let seed = options.seed;
        // RTL that has ended its process is never forgiven: if no case does it again, the last one fails.
        let settled = |covered: Option<cover::Covered<U>>, blame, last: Option<Case<U>>, before| {
            let Some(cause) = blame else {
                return covered;
            };
            let mut covered = covered.unwrap_or_else(|| uncovered(rtl));
            let case = last.unwrap_or_else(|| campaign::case::<U>(seed, before, rtl.build()).1);
            if covered.failed.is_none() {
                complain(&format!(
                    "warning: it is not known which case of {} ended its process: {} stands for it",
                    U::NAME,
                    case.name()
                ));
                covered.failed = Some(Failure::new(&case, cause, Compared::default()));
            }
            Some(covered)
        };
        for _ in 0..TRIES {
            let (mut so_far, mut case, mut done) = (None, None, 0);
            let covered = self.ask(&Order::Cover(options), GRACE, |answer| match answer {
                Answer::Covering(programs, cycles, hit) => {
                    done = programs;
                    last = case.take().or(last.take());
                    progress(programs, cycles, hit);
                    Step::More
                }
                Answer::BeginsCase(begins) => {
                    case = Some(*begins);
                    Step::More
                }
                Answer::SoFar(covered) => {
                    so_far = Some(*covered);
                    Step::More
                }
                Answer::Covered(covered) => Step::Done(*covered),
                _ => Step::More,
            });
            let lost = match (covered, so_far, case) {
                (Ok(covered), ..) => return Ok(settled(Some(covered), blame, last, before)),
                (Err(Lost::Trouble(why)), ..) if blame.is_none() => return Err(why),
                (Err(Lost::Interrupted | Lost::Trouble(_)), so_far, case) => {
                    return Ok(settled(so_far, blame, case.or(last), before));
                }
                // The last coverage received before the careful chunk.
                (Err(Lost::By(cause)), Some(mut so_far), Some(case)) => {
                    so_far.failed = Some(Failure::new(&case, cause, Compared::default()));
                    return Ok(Some(so_far));
                }
                (Err(lost), ..) => lost,
            };
            if let Lost::By(cause) = &lost {
                blame.get_or_insert_with(|| cause.clone());
            }
            complain(&format!(
                "warning: the worker of {} ended after {done} cases ({}); they are run again to find the one that did it",
                U::NAME,
                lost.trouble().why()
            ));
            (options.careful, before) = (Some(done), done);
        }
        if blame.is_some() {
            return Ok(settled(None, blame, last, before));
        }
        Err(format!(
            "{}: the worker ended {TRIES} times, each time in other cases",
            U::NAME
        ))
    }

    /// Continues a campaign with `seed` against a mutant.
    ///
    /// # Errors
    /// The bench is at fault; the process was told to end.
    pub fn hunt(
        &mut self,
        mutant: u32,
        seed: u64,
        mut hunt: Hunt<Case<U>>,
        budget: u64,
    ) -> Result<Hunt<Case<U>>, Trouble> {
        let (mut each, mut tries) = (false, 0);
        loop {
            let order = Order::Hunt {
                mutant,
                seed,
                hunt: hunt.clone(),
                budget,
                each,
            };
            let mut begun = false;
            let hunted = self.ask(&order, Duration::ZERO, |answer| match answer {
                Answer::Hunting(so_far) if so_far.over(budget) => Step::Done(*so_far),
                Answer::Hunting(so_far) => {
                    if so_far.next != hunt.next {
                        tries = 0;
                    }
                    hunt = *so_far;
                    begun = each;
                    Step::More
                }
                _ => Step::More,
            });
            tries += 1;
            match (hunted, begun) {
                (Ok(hunt), _) => return Ok(hunt),
                (Err(Lost::By(cause)), true) => {
                    let (kind, case) = campaign::case::<U>(seed, hunt.next, self.rtl.build());
                    hunt.lost(kind.name(), Failure::new(&case, cause, Compared::default()));
                    return Ok(hunt);
                }
                (Err(Lost::By(_) | Lost::Suspended | Lost::Killed(_)), _) if tries < KILLS => {
                    each = true;
                }
                (Err(lost), _) => return Err(lost.trouble()),
            }
        }
    }
}

/// Returns the coverage of a run on `rtl` in which nothing was counted.
fn uncovered<U: Compiled>(rtl: &Rtl<U>) -> cover::Covered<U> {
    cover::Covered {
        hits: Model::<U>::new(rtl.build()).no_hits(),
        totals: Totals::default(),
        compared: 0,
        reached: Vec::new(),
        rtl: RtlCoverage::default(),
        failed: None,
    }
}

/// Returns the difference of `cause`, which is that of none of `states` in particular.
fn unplaced<U: Compiled>(states: &[Vec<u8>], cause: Cause<U>) -> Difference<U> {
    Difference {
        state: states.len().saturating_sub(1),
        transition: None,
        cause,
    }
}

/// Returns `rtl` with another number of lanes; `waiting` is called several times a second.
fn rebuilt<U: Compiled>(
    rtl: &Rtl<U>,
    lanes: u32,
    waiting: impl FnMut(),
) -> Result<Rtl<U>, Trouble> {
    let rtl = rtl.clone();
    let rebuild = move || {
        let build = Build {
            lanes,
            ..rtl.build().clone()
        };
        rtl.rebuilt(build).map_err(|e| e.to_string())
    };
    Ok(stop::unless_asked(rebuild, waiting)??)
}

impl<U: Compiled> Lost<U> {
    /// Returns how the RTL failed, if it did.
    fn cause(self) -> Result<Cause<U>, Self> {
        match self {
            Lost::By(cause) => Ok(cause),
            Lost::Killed(how) => Ok(Cause::Crashed(how)),
            lost => Err(lost),
        }
    }

    /// Returns the trouble as a message.
    fn trouble(self) -> Trouble {
        Trouble::Other(match self {
            Lost::By(Cause::Hung(seconds)) => format!("no progress within {seconds} s"),
            Lost::By(Cause::Crashed(how)) | Lost::Killed(how) => how,
            Lost::By(_) => "the worker ended".to_owned(),
            Lost::Suspended => "it was suspended".to_owned(),
            Lost::Interrupted => return Trouble::Interrupted,
            Lost::Trouble(why) => why,
        })
    }
}
