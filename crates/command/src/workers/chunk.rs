//! The chunks of a campaign: each runs as a whole, and case by case if that loses its worker.

use reconverge::campaign::{Chunk, Failed, Options, Piece, Put, Summary};
use reconverge::compiled::Compiled;
use reconverge::failure::Cause;

use super::super::complain;
use super::protocol::{Answer, Order};
use super::supervisor::Lost;
use super::{GRACE, Isolated, KILLS, Step, TRIES};

impl<U: Compiled> Isolated<'_, U> {
    /// Runs the rest of a chunk of the campaign with `options`: all at once or, if that loses the worker, one case
    /// after another. `found` receives each failure as soon as it is known, before it counts.
    ///
    /// # Errors
    /// The bench is at fault.
    pub fn chunk(
        &mut self,
        options: &Options,
        chunk: &Chunk,
        found: &dyn Fn(&Failed<U>),
        put: Put<U>,
    ) -> Result<(), String> {
        if !chunk.broken {
            let order = self.cases(options, chunk.cases.clone(), false);
            let done = self.ask(&order, GRACE, |answer| match answer {
                Answer::Did(summary) => Step::Done(*summary),
                Answer::Failed(failed) => {
                    found(&failed);
                    Step::More
                }
                _ => Step::More,
            });
            let lost = match done {
                Ok(summary) => {
                    put(Piece {
                        chunk: chunk.number,
                        cases: chunk.cases.clone(),
                        summary,
                    })?;
                    return Ok(());
                }
                Err(Lost::Interrupted) => return Ok(()),
                Err(Lost::Trouble(why)) => return Err(why),
                Err(lost) => lost,
            };
            let blame = match &lost {
                Lost::By(cause) => Some(cause.clone()),
                _ => None,
            };
            complain(&format!(
                "warning: a worker of {} ended in cases {}..{} ({}); they are run again one by one",
                U::NAME,
                chunk.cases.start,
                chunk.cases.end - 1,
                lost.trouble().why()
            ));
            return self.one_by_one(options, chunk, blame, put);
        }
        self.one_by_one(options, chunk, None, put)
    }

    fn cases(&self, options: &Options, cases: std::ops::Range<u64>, each: bool) -> Order<U> {
        Order::Cases {
            seed: options.seed,
            keep_going: options.keep_going,
            rtl: options.rtl.clone(),
            cases,
            each,
        }
    }

    /// Runs the cases of `chunk` again, each with an answer of its own, to find the one that ended the process by `blame`. The
    /// model is opened once, as in the first run, because the RTL may count something that reset does not clear. RTL that has
    /// ended its process is never forgiven: the case in which it did fails, even if it agrees alone, and if no case does it
    /// again, the last one fails, or the one at which the campaign is interrupted.
    fn one_by_one(
        &mut self,
        options: &Options,
        chunk: &Chunk,
        mut blame: Option<Cause<U>>,
        put: Put<U>,
    ) -> Result<(), String> {
        let rtl = self.rtl;
        let lost = |case, first, cause| Summary::lost(options, rtl, case, first, cause);
        let last = chunk.cases.end - 1;
        let mut next = chunk.cases.start;
        // How often the next case has lost its process, how it did so first, and whether it had begun.
        let (mut tries, mut first, mut began) = (0, None, false);
        // Whether further cases of the chunk count.
        let mut more = true;
        let mut piece = |case: u64, summary| {
            more = put(Piece {
                chunk: chunk.number,
                cases: case..case + 1,
                summary,
            })?;
            Ok(more)
        };
        let done = loop {
            if self.stopped() {
                break Ok(());
            }
            let from = next;
            let order = self.cases(options, from..chunk.cases.end, true);
            let done = self.ask(&order, GRACE, |answer| match answer {
                Answer::Begins(_) => {
                    began = true;
                    Step::More
                }
                Answer::Stopped => Step::Done(Ok(())),
                Answer::Did(summary) => {
                    let cause = match next == last {
                        true => first.take().or_else(|| blame.take()),
                        false => first.take(),
                    };
                    if cause.is_some() {
                        blame = None;
                    }
                    let summary = match cause {
                        // A case that fails this time keeps what was found.
                        Some(cause) if summary.failures.is_empty() => {
                            complain(&format!(
                                "warning: case {next} of {} agrees when it runs again: the RTL keeps something that reset does not reach, or fails at random",
                                U::NAME
                            ));
                            lost(next, chunk.cases.start, cause)
                        }
                        _ => *summary,
                    };
                    (tries, began) = (0, false);
                    next += 1;
                    match piece(next - 1, summary) {
                        Ok(true) if next < chunk.cases.end => Step::More,
                        Ok(_) => Step::Done(Ok(())),
                        Err(why) => Step::Done(Err(why)),
                    }
                }
                _ => Step::More,
            });
            let how = match done {
                Ok(done) => {
                    // The worker may go on with further cases, which do not count.
                    if next < chunk.cases.end {
                        self.worker = None;
                    }
                    break done;
                }
                Err(Lost::Interrupted) => break Ok(()),
                Err(Lost::Trouble(why)) => break Err(why),
                Err(lost) => lost,
            };
            tries += 1;
            // A second run of the case alone shows whether the case does it by itself, and so which cause is reported.
            let enough = match &how {
                Lost::By(Cause::Hung(_)) => 1,
                Lost::By(_) if began => 2,
                Lost::Killed => KILLS,
                _ => TRIES,
            };
            if tries < enough {
                if let Lost::By(cause) = how {
                    first.get_or_insert(cause);
                }
                continue;
            }
            (tries, first, began) = (0, None, false);
            blame = None;
            let cause = match how.cause() {
                Ok(cause) => cause,
                // RTL that suspends its own process makes no progress either.
                Err(_) => Cause::Hung(self.limits.timeout),
            };
            next += 1;
            if !piece(next - 1, lost(next - 1, from, cause))? || next == chunk.cases.end {
                break Ok(());
            }
        };
        // Interrupted before the last case.
        if let Some(cause) = first.or(blame)
            && more
            && next < chunk.cases.end
            && self.stopped()
        {
            let summary = lost(next, chunk.cases.start, cause);
            put(Piece {
                chunk: chunk.number,
                cases: next..next + 1,
                summary,
            })?;
        }
        done
    }
}
