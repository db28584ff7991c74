//! The cycles in which the golden model is ahead of RTL in another process.

use std::collections::VecDeque;

use super::{End, Judged, Seen, Shown, Stimulus, Wanted, wanted};
use crate::design::Design;
use crate::dut::Dut;

/// A cycle without a result.
struct Asked<D: Design> {
    cycle: u64,
    pins: D::In,
    /// The state that the RTL must show in it, and the bits that need not agree.
    expected: Shown<D>,
    /// The same of the state when the cycle has asserted an asynchronous reset.
    reset: Option<Shown<D>>,
    /// The golden model before it, for a stimulus that observes it.
    golden: Option<D::Golden>,
    /// Its state after the cycle, and the bits that are not specified in it.
    after: Option<Shown<D>>,
    /// The coverpoints before it.
    points: Vec<u64>,
    /// The golden model does not execute it.
    flush: bool,
}

/// The cycles that were asked for and have no result, the oldest first. What observes the run gets to know of a cycle when it has been
/// compared.
pub(super) struct Ahead<D: Design>(VecDeque<Asked<D>>);

impl<D: Design> Ahead<D> {
    pub fn new() -> Self {
        Ahead(VecDeque::new())
    }

    /// Asks `dut` for `cycle`, in which it must show the state `expected`, and `reset` if the cycle asserts an asynchronous reset. `golden`
    /// is the golden model before it, for a stimulus that observes it, and whether it does not execute the cycle.
    pub fn ask(
        &mut self,
        dut: &mut Dut<D>,
        cycle: u64,
        pins: &D::In,
        expected: Wanted<D>,
        reset: Option<Wanted<D>>,
        (golden, flush): (Option<D::Golden>, bool),
    ) {
        let copied = |(state, free): Wanted<D>| (*state, free.copied());
        dut.ask(pins, expected.0, reset.map(|reset| reset.0));
        self.0.push_back(Asked {
            cycle,
            pins: *pins,
            expected: copied(expected),
            reset: reset.map(copied),
            golden,
            after: None,
            points: Vec::new(),
            flush,
        });
    }

    /// Records the state of the golden model after the cycle that was asked for last, and the coverpoints before it.
    pub fn done(&mut self, state: &D::State, free: Option<D::State>, points: &[u64]) {
        if let Some(last) = self.0.back_mut() {
            (last.after, last.points) = (Some((*state, free)), points.to_vec());
        }
    }

    /// Takes the results that have come, or with `all` all of them, and shows their cycles to `stimulus`. `golden` is the golden model
    /// after the last cycle that was asked for.
    pub fn take(
        &mut self,
        all: bool,
        dut: &mut Dut<D>,
        stimulus: &mut impl Stimulus<D>,
        golden: &D::Golden,
        judged: &mut Judged<D>,
    ) {
        while let Some(first) = self.0.front() {
            let Some(check) = dut.answer(all, &first.expected.0) else {
                if all {
                    judged.end = Some(End::Lost);
                }
                return;
            };
            let (expected, reset) = (wanted::<D>(&first.expected), &first.reset);
            let wanted = (expected, reset.as_ref().map(wanted::<D>));
            let (cycle, flush) = (first.cycle, first.flush);
            judged.judge(cycle, flush, check, wanted, &first.pins, stimulus);
            if judged.ended() {
                self.0.clear();
                return;
            }
            let Some(done) = self.0.pop_front() else {
                return;
            };
            if let Some(before) = &done.golden
                && !done.flush
            {
                stimulus.before(done.cycle, &done.pins, before);
                let next = self.0.front().and_then(|next| next.golden.as_ref());
                stimulus.after(done.cycle, &done.pins, next.unwrap_or(golden));
            }
            if let Some((state, free)) = &done.after
                && !D::DECLARATION.transactions
            {
                stimulus.seen(&Seen {
                    pins: &done.pins,
                    state,
                    unspecified: free.as_ref(),
                    points: &done.points,
                });
            }
        }
    }
}
