//! RTL in separate processes: whatever it does, the command survives it and keeps its findings.
//!
//! A worker is this program again (`reconverge worker UNIT`) with a socket as its standard input, over which both sides
//! write lines of JSON ([`protocol`]): first the job, then repeatedly an order and the answers to it
//! ([`child`]). A running worker sends a sign of life several times a second. A worker that sends nothing for the time limit, or ends, is
//! lost ([`supervisor`]); its last order then runs again to find the case that caused it.
//! Every command that runs RTL does so here; a library call has a process of another kind for it (`reconverge::dut`).

mod child;
mod chunk;
mod cover;
mod programs;
mod protocol;
mod supervisor;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use reconverge::campaign::Shrunk;
use reconverge::check::{Judged, Judges};
use reconverge::design::{Build, Design};
use reconverge::dut::Rtl;
use reconverge::failure::{Cause, Failure};
use reconverge::lockstep::Compared;
use reconverge::mutate::Hunt;
use reconverge::quantity;
use reconverge::report::{Waves, dump_file, dump_from};
use reconverge::stream::CYCLES;
use reconverge::wave::Format;

use crate::progress::Ticker;
use crate::stop;
use crate::stop::Trouble;
pub use child::work;
use protocol::{Answer, Job, Order, Ordered, parsed};
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

/// Returns the cause for a worker with an impossible answer: its memory is corrupt.
fn impossible<C: Ordered>() -> Lost<C> {
    Lost::By(Cause::Crashed("it gave an impossible answer".to_owned()))
}

/// A flag that is never set.
static NEVER: AtomicBool = AtomicBool::new(false);

/// What to do after an answer.
enum Step<C: Ordered, T> {
    /// Wait for more answers.
    More,
    /// Send this order, and wait for more answers.
    Tell(Order<C>),
    /// Finish with this result.
    Done(T),
}

/// RTL in a worker, which is started when needed.
pub struct Isolated<'a, C: Ordered> {
    rtl: &'a Rtl<C::Design>,
    limits: LimitArgs,
    /// The format of dumps.
    format: Format,
    stop: &'static AtomicBool,
    over: &'a AtomicBool,
    worker: Option<Worker>,
}

impl<'a, C: Ordered> Isolated<'a, C> {
    /// Returns RTL without a started worker.
    ///
    /// # Errors
    /// Signals cannot be watched.
    pub fn new(rtl: &'a Rtl<C::Design>, limits: LimitArgs) -> Result<Self, String> {
        Self::until(rtl, limits, &NEVER)
    }

    /// Does the same as [`Isolated::new`]; once `over` is set, the current work no longer counts.
    pub fn until(
        rtl: &'a Rtl<C::Design>,
        limits: LimitArgs,
        over: &'a AtomicBool,
    ) -> Result<Self, String> {
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
    pub fn built_for(&self, case: &C) -> Result<Option<Rtl<C::Design>>, Trouble> {
        let lanes = case.build().lanes;
        if lanes == self.rtl.build().lanes {
            return Ok(None);
        }
        let mut ticker = Ticker::new();
        let waiting = || {
            ticker.tick(|| format!("building the RTL of {} with {lanes} lanes", C::Design::NAME));
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
        order: &Order<C>,
        grace: Duration,
        mut take: impl FnMut(Answer<C>) -> Step<C, T>,
    ) -> Result<T, Lost<C>> {
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
        order: &Order<C>,
        grace: Duration,
        take: &mut dyn FnMut(Answer<C>) -> Step<C, ()>,
    ) -> Result<(), Lost<C>> {
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
                worker.tell(&Order::<C>::Stop)?;
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
        order: &Order<C>,
        mut take: impl FnMut(Answer<C>) -> Step<C, T>,
    ) -> Result<T, Lost<C>> {
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
        case: &C,
        judges: Judges,
        progress: impl FnMut(u64),
    ) -> Result<Judged<C>, Trouble> {
        let not_run = |why| Err(Failure::new(case, Cause::NotRun(why), Compared::default()));
        let judged = self.judge(case, judges, None, progress)?;
        Ok(judged.unwrap_or_else(not_run))
    }

    /// Does the same as [`Isolated::check`]; with `dump`, writes a dump from this cycle on. The inner error says why there is no model or
    /// no dump.
    fn judge(
        &mut self,
        case: &C,
        judges: Judges,
        dump: Option<(u64, PathBuf)>,
        mut progress: impl FnMut(u64),
    ) -> Result<Result<Judged<C>, String>, Trouble> {
        let dumps = dump.is_some();
        let order = Order::Judge {
            case: Box::new(case.clone()),
            judges,
            dump,
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
            Err(lost) if dumps => Err(lost.trouble()),
            Err(lost) => match lost.cause() {
                Ok(cause) => Ok(Ok(Err(Failure::new(case, cause, compared)))),
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
        case: &C,
        failure: Option<&Failure<C>>,
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
        let from = dump_from(failure);
        let dumped = self.judge(case, Judges::LockStep, Some((from, part.clone())), |_| ());
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
            Err(trouble) => Err(trouble),
        };
        if made.is_err() {
            let _ = std::fs::remove_file(&part);
        }
        made
    }

    /// Makes the case of `failure` smaller. The second value says why it is not as small as possible.
    ///
    /// # Errors
    /// Nothing smaller was found: the reason.
    pub fn shrink(&mut self, failure: &Failure<C>) -> Result<(Shrunk<C>, Option<String>), String> {
        let mut smallest: Option<Failure<C>> = None;
        let mut runs = 0;
        let case = &*failure.case;
        let order = Order::Shrink(Box::new(failure.clone()));
        let (name, mut ticker) = (case.name(), Ticker::new());
        let before = case.length();
        let mut after = before;
        let far = |after| format!("shrinking {name}: {before} to {after} {}", C::MEASURE);
        let shrunk = self.ask(&order, Duration::ZERO, |answer| match answer {
            Answer::Smaller(failure) => {
                after = failure.case.length();
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

    /// Continues a campaign with `seed` against a mutant.
    ///
    /// # Errors
    /// The bench is at fault; the process was told to end.
    pub fn hunt(
        &mut self,
        mutant: u32,
        seed: u64,
        mut hunt: Hunt<C>,
        budget: u64,
    ) -> Result<Hunt<C>, Trouble> {
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
                    let drawn = C::draw(seed, hunt.next, CYCLES, self.rtl.build());
                    let case = drawn.unwrap_or_else(|failure| *failure.case);
                    let kind = C::kind(hunt.next).to_string();
                    hunt.lost(&kind, Failure::new(&case, cause, Compared::default()));
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

/// Returns `rtl` with another number of lanes; `waiting` is called several times a second.
fn rebuilt<D: Design>(rtl: &Rtl<D>, lanes: u32, waiting: impl FnMut()) -> Result<Rtl<D>, Trouble> {
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

impl<C: Ordered> Lost<C> {
    /// Returns how the RTL failed, if it did.
    fn cause(self) -> Result<Cause<C::Design>, Self> {
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
