//! The chunks of a campaign: each runs as a whole, and case by case if that loses its worker.

use std::collections::BTreeMap;

use reconverge::campaign::{Chunk, Failed, Options, Piece, Put, Summary, model_seed};
use reconverge::design::Design as _;
use reconverge::failure::Cause;
use reconverge::saved::Savable;

use super::protocol::{Answer, Order, Ordered};
use super::supervisor::Lost;
use super::{GRACE, Isolated, KILLS, Step, TRIES};
use crate::console::complain;

/// How RTL ended its process, and the seed of the model.
type Blame<C> = (Cause<<C as Savable>::Design>, u32);

/// What is known of a chunk whose cases run again.
struct Known<C: Ordered> {
    /// How the RTL ended its process, no case in particular.
    blame: Option<Blame<C>>,
    /// How the next case did.
    first: Option<Blame<C>>,
    /// The cases that failed before the process was lost.
    failed: BTreeMap<u64, Failed<C>>,
}

impl<C: Ordered> Isolated<'_, C> {
    /// Runs the rest of a chunk of the campaign with `options`: all at once or, if that loses the worker, one case
    /// after another. `found` receives each failure as soon as it is known, before it counts.
    ///
    /// # Errors
    /// The bench is at fault.
    pub fn chunk(
        &mut self,
        options: &Options,
        chunk: &Chunk<C>,
        found: &dyn Fn(&Failed<C>),
        put: Put<C>,
    ) -> Result<(), String> {
        if !chunk.broken {
            let order = self.cases(options, chunk, chunk.cases.start, false);
            let mut failed = BTreeMap::new();
            let done = self.ask(&order, GRACE, |answer| match answer {
                Answer::Did(summary, took) => Step::Done(Summary { took, ..*summary }),
                Answer::Failed(one) => {
                    found(&one);
                    failed.insert(one.number, *one);
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
                Lost::By(cause) => Some((cause.clone(), model_seed(options, chunk.cases.start))),
                _ => None,
            };
            // Before the message: if this process is killed after the message, the results have the loss.
            let goes_on = match &blame {
                Some(blame) => self.owe(options, chunk, chunk.cases.start, blame, put)?,
                None => true,
            };
            complain(&format!(
                "warning: a worker of {} ended in cases {}..{} ({}); they are run again one by one",
                C::Design::NAME,
                chunk.cases.start,
                chunk.cases.end - 1,
                lost.trouble().why()
            ));
            if !goes_on {
                return Ok(());
            }
            let known = Known {
                blame,
                first: None,
                failed,
            };
            return self.one_by_one(options, chunk, known, put);
        }
        let blamed =
            |Failed { failure, .. }: &Failed<C>| (failure.cause.clone(), failure.case.model_seed());
        let owed = chunk.owed.as_ref().map(blamed);
        let (first, blame) = match chunk.next_owes() {
            true => (owed, None),
            false => (None, owed),
        };
        let failed = BTreeMap::new();
        let known = Known {
            blame,
            first,
            failed,
        };
        self.one_by_one(options, chunk, known, put)
    }

    /// Delivers that the RTL has ended a process in `chunk` by `blame`, and that no case from number `next` on is known to do it.
    /// Should this process end before one is found, the next run of the campaign knows of it.
    fn owe(
        &self,
        options: &Options,
        chunk: &Chunk<C>,
        next: u64,
        (cause, seed): &Blame<C>,
        put: Put<C>,
    ) -> Result<bool, String> {
        let failed = Failed::lost(options, self.rtl, next, cause.clone(), *seed);
        put(Piece::owed(chunk.number, failed))
    }

    /// Returns the order to run the cases of `chunk` from number `first` on.
    fn cases(&self, options: &Options, chunk: &Chunk<C>, first: u64, each: bool) -> Order<C> {
        Order::Cases {
            seed: options.seed,
            keep_going: options.keep_going,
            rtl: options.rtl.clone(),
            cycles: options.cycles,
            cases: first..chunk.cases.end,
            each,
            bins: chunk.bins,
        }
    }

    /// Runs the cases of `chunk` again, each with an answer of its own, to find the one that ended the process. The
    /// model is opened once, as in the first run, because the RTL may count something that reset does not clear. What is known
    /// of the RTL is never forgiven: a case that failed or ended its process fails, even if it agrees now, and if no case
    /// ends the process again, the last one fails.
    fn one_by_one(
        &mut self,
        options: &Options,
        chunk: &Chunk<C>,
        known: Known<C>,
        put: Put<C>,
    ) -> Result<(), String> {
        let rtl = self.rtl;
        let lost = |case, (cause, seed)| Summary::lost(options, rtl, case, cause, seed);
        let last = chunk.cases.end - 1;
        let mut next = chunk.cases.start;
        let Known {
            mut blame,
            // How the next case lost its process first.
            mut first,
            failed: mut failed_before,
        } = known;
        // How often the next case has lost its process, and the seed of its model if it had begun.
        let (mut tries, mut began) = (0, None);
        let piece = |put: Put<C>, case: u64, summary| {
            put(Piece {
                chunk: chunk.number,
                cases: case..case + 1,
                summary,
            })
        };
        while next < chunk.cases.end && !self.stopped() {
            let from = next;
            let order = self.cases(options, chunk, from, true);
            let done = self.ask(&order, GRACE, |answer| match answer {
                Answer::Begins(seed) => {
                    began = Some(seed);
                    Step::More
                }
                Answer::Stopped => Step::Done(Ok(())),
                Answer::Did(summary, took) => {
                    let cause = match next == last {
                        true => first.take().or_else(|| blame.take()),
                        false => first.take(),
                    };
                    if cause.is_some() {
                        blame = None;
                    }
                    let mut summary = Summary { took, ..*summary };
                    // A case that fails this time keeps what was found.
                    if summary.failures.is_empty() {
                        let failed = failed_before.remove(&next);
                        if cause.is_some() || failed.is_some() {
                            complain(&format!(
                                "warning: case {next} of {} agrees when it runs again: the RTL keeps something that reset does not reach, or fails at random",
                                C::Design::NAME
                            ));
                        }
                        match cause {
                            Some(blame) => summary = lost(next, blame),
                            None => summary.failures.extend(failed),
                        }
                    }
                    (tries, began) = (0, None);
                    next += 1;
                    match piece(&mut *put, next - 1, summary) {
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
                    return done;
                }
                Err(Lost::Interrupted) => return Ok(()),
                Err(Lost::Trouble(why)) => return Err(why),
                Err(lost) => lost,
            };
            let seed = began.unwrap_or_else(|| model_seed(options, from));
            tries += 1;
            // A second run of the case alone shows whether the case does it by itself, and so which cause is reported.
            let enough = match &how {
                Lost::By(Cause::Hung(_)) => 1,
                Lost::By(_) if began.is_some() => 2,
                Lost::Killed(_) => KILLS,
                _ => TRIES,
            };
            if tries < enough {
                if let Lost::By(cause) = how
                    && first.is_none()
                {
                    let blame = (cause, seed);
                    if !self.owe(options, chunk, next, &blame, put)? {
                        return Ok(());
                    }
                    first = Some(blame);
                }
                continue;
            }
            (tries, first, began) = (0, None, None);
            blame = None;
            let cause = match how.cause() {
                Ok(cause) => cause,
                // RTL that suspends its own process makes no progress either.
                Err(_) => Cause::Hung(self.limits.timeout),
            };
            next += 1;
            if !piece(&mut *put, next - 1, lost(next - 1, (cause, seed)))? {
                return Ok(());
            }
        }
        Ok(())
    }
}
