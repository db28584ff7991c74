//! The comparison of transactions, in the place of states.

use std::borrow::Cow;

use bytemuck::bytes_of;

use super::{End, Judged, Mismatch, Seen, Stimulus};
use crate::bins::coverpoints;
use crate::channels::Broken;
use crate::design::{Design, Golden};
use crate::dut::Check;
use crate::field;

impl<D: Design> Judged<D> {
    /// Compares the transactions of the cycle before `cycle`, and shows that cycle to `stimulus` as it was played. `resets`: the pins assert
    /// an asynchronous reset. What counts is the state before it acts.
    pub(super) fn transact(
        &mut self,
        cycle: u64,
        flush: bool,
        check: Check<D>,
        (expected, resets): (&D::State, bool),
        pins: &D::In,
        stimulus: &mut impl Stimulus<D>,
    ) {
        let rtl = match check {
            Check::Stopped => {
                self.end = Some(End::Stopped(cycle.saturating_sub(1)));
                return;
            }
            Check::Lost => {
                self.end = Some(End::Lost);
                return;
            }
            Check::Differs(rtl) => Cow::Borrowed(rtl),
            Check::Agrees => Cow::Borrowed(expected),
            Check::Halves(halves) => match halves.compared {
                Some([before, _]) if resets => Cow::Owned(before),
                _ => Cow::Borrowed(expected),
            },
        };
        let rtl = &*rtl;
        if cycle == 0 {
            self.promises.forget();
        }
        let kept = self.promises.see(rtl, None, pins);
        let Some((golden, played)) = &mut self.board else {
            return;
        };
        let Some(played) = played.next(rtl, pins) else {
            return;
        };
        let mut points = Vec::new();
        coverpoints::<D>(golden, &played.pins, &mut points);
        let Some(board) = golden.board() else {
            return;
        };
        let of = cycle - 1;
        if let Some((from, texts)) = &mut self.texts
            && of >= *from
        {
            texts.see::<D>(of, &played.before, &played.pins, &played.after);
        }
        let wrong = board.take(of, &played);
        let wrong = wrong.or_else(|| flush.then(|| board.end(&played)).flatten());
        let mismatch = |rtl, golden, diffs| Mismatch {
            cycle: of,
            diffs,
            rtl,
            golden,
            half: false,
            reset: false,
            broken: None,
            transaction: None,
        };
        let found = match (kept, wrong) {
            (Some((channel, kept)), _) => {
                let diffs = field::diff(D::fields(), bytes_of(rtl), bytes_of(&kept));
                let channel = channel.name.to_owned();
                Some(Mismatch {
                    broken: Some(Broken {
                        channel,
                        both: false,
                    }),
                    ..mismatch(*rtl, kept, diffs)
                })
            }
            (None, Some(wrong)) => Some(Mismatch {
                transaction: Some(wrong.transaction),
                ..mismatch(wrong.rtl, wrong.golden, wrong.diffs)
            }),
            (None, None) => {
                self.cycles += 1;
                stimulus.seen(&Seen {
                    pins: &played.pins,
                    state: &played.after,
                    unspecified: None,
                    points: &points,
                });
                None
            }
        };
        self.end = found.map(End::Mismatch);
    }
}
