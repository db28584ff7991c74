//! A round-robin arbiter with credits, whose requests and grants are channels.

use std::collections::VecDeque;
use std::path::PathBuf;

use reconverge::design::{self, Build, Design};
use reconverge::field::Declaration;

include!(concat!(env!("OUT_DIR"), "/rr_arb.rs"));

/// The design.
#[derive(Clone, Copy, Debug)]
pub struct RrArb;

impl Design for RrArb {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type In = In;
    type State = State;
    type Golden = Golden;
}

/// Folder of the RTL.
pub fn rtl() -> PathBuf {
    super::rtl().join("rr_arb")
}

/// Credits after a reset.
const CREDITS: usize = 4;
/// Entries of the queue.
const ROOM: usize = 2;

/// A request that was taken.
#[derive(Clone, Copy, Debug)]
struct Taken {
    from: usize,
    data: u8,
}

/// The golden model: the queue, and where the credits are.
#[derive(Clone, Debug, Default)]
pub struct Golden {
    queue: VecDeque<Taken>,
    /// Requests that the receiver has got and whose credits it has not given back.
    owed: usize,
    /// The channel of the request that was taken last.
    last: Option<usize>,
    state: State,
}

impl Golden {
    /// Returns the request that is taken in a cycle with `pins`.
    fn take(&self, pins: &In) -> Option<Taken> {
        let requests = [
            (pins.req0_valid, pins.req0_data),
            (pins.req1_valid, pins.req1_data),
            (pins.req2_valid, pins.req2_data),
        ];
        if self.queue.len() == ROOM || self.queue.len() + self.owed == CREDITS {
            return None;
        }
        let first = self.last.map_or(0, |last| last + 1);
        let turn = (first..first + 3).map(|channel| channel % 3);
        let mut valid = turn.filter(|channel| requests[*channel].0 == 1);
        valid.next().map(|from| Taken {
            from,
            data: requests[from].1,
        })
    }
}

impl design::Golden<RrArb> for Golden {
    fn build(_: &Build) -> Self {
        Golden::default()
    }

    fn cycle(&mut self, pins: &In) -> &State {
        let taken = self.take(pins);
        if pins.is_reset() {
            *self = Golden::default();
        } else {
            if pins.gnt_ready == 1 && self.queue.pop_front().is_some() {
                self.owed += 1;
            }
            if let Some(taken) = taken {
                self.last = Some(taken.from);
                self.queue.push_back(taken);
            }
            self.owed -= usize::from(pins.credit);
        }
        let [req0_ready, req1_ready, req2_ready] =
            [0, 1, 2].map(|channel| taken.is_some_and(|taken| taken.from == channel).into());
        let head = self.queue.front();
        self.state = State {
            req0_ready,
            req1_ready,
            req2_ready,
            gnt_valid: head.is_some().into(),
            gnt_from: head.map_or(0, |head| head.from as u8),
            gnt_data: head.map_or(0, |head| head.data),
            ..State::default()
        };
        &self.state
    }

    fn state(&self) -> &State {
        &self.state
    }

    /// Only credits that the receiver has can be given back.
    fn constrain(&self, pins: &mut In) {
        if self.owed == 0 {
            pins.credit = 0;
        }
    }

    fn explain(&self, _: &In, field: &str, _: usize) -> String {
        let rule = match field {
            "req0_ready" | "req1_ready" | "req2_ready" => {
                "the first request behind the last one is taken, if there is room and a credit"
            }
            _ => "what was taken leaves in the order in which it came",
        };
        rule.to_owned()
    }
}
