//! Coverage of a run: if it loses its worker, the chunk in which it did runs again, case by case.

use reconverge::cover::{Bins as _, run as cover};
use reconverge::design::Design as _;
use reconverge::failure::Failure;
use reconverge::lockstep::Compared;
use reconverge::quantity::counted;

use super::protocol::{Answer, Order, Ordered};
use super::supervisor::Lost;
use super::{GRACE, Isolated, Step, TRIES};
use crate::console::complain;

impl<C: Ordered> Isolated<'_, C> {
    /// Runs cases and counts what they cover; `progress` receives programs, cycles and bins after each chunk.
    ///
    /// # Errors
    /// The bench is at fault.
    pub fn cover(
        &mut self,
        options: &cover::Options,
        mut progress: impl FnMut(u64, u64, usize),
    ) -> Result<Option<cover::Covered<C>>, String> {
        let (mut options, rtl) = (*options, self.rtl);
        // How the RTL ended its process first; the last case of those that ran one by one since, and the cases before them.
        let (mut blame, mut last, mut before) = (None, None, 0);
        let (seed, cycles) = (options.seed, options.cycles);
        // RTL that has ended its process is never forgiven: if no case does it again, the last one fails.
        let settled = |covered: Option<cover::Covered<C>>, blame, last: Option<C>, before| {
            let Some(cause) = blame else {
                return covered;
            };
            let bins = C::Bins::new(rtl.build());
            let mut covered =
                covered.unwrap_or_else(|| cover::Covered::nothing(bins.declaration()));
            let case = last.unwrap_or_else(|| {
                let drawn = C::draw(seed, before, cycles, rtl.build());
                drawn.unwrap_or_else(|failure| *failure.case)
            });
            if covered.failed.is_none() {
                complain(&format!(
                    "warning: it is not known which case of {} ended its process: {} stands for it",
                    C::Design::NAME,
                    case.name()
                ));
                covered.failed = Some(Failure::new(&case, cause, Compared::default()));
            }
            Some(covered)
        };
        for _ in 0..TRIES {
            let (mut so_far, mut case, mut done) = (None, None, 0);
            let covered = self.ask(&Order::Cover(options), GRACE, |answer| {
                match answer {
                    Answer::Covering(programs, cycles, hit) => {
                        done = programs;
                        last = case.take().or(last.take());
                        progress(programs, cycles, hit);
                    }
                    Answer::Covers(begins) => case = Some(*begins),
                    Answer::SoFar(covered) => so_far = Some(*covered),
                    Answer::Covered(covered) => return Step::Done(*covered),
                    _ => {}
                }
                Step::More
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
                "warning: the worker of {} ended after {} ({}); they are run again to find the one that did it",
                C::Design::NAME,
                counted(done, "case"),
                lost.trouble().why()
            ));
            (options.careful, before) = (Some(done), done);
        }
        if blame.is_some() {
            return Ok(settled(None, blame, last, before));
        }
        Err(format!(
            "{}: the worker ended {TRIES} times, each time in other cases",
            C::Design::NAME
        ))
    }
}
