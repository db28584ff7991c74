//! The scalar judge: what one lane does alone. It shares nothing with the golden model.
//!
//! Alone, a lane needs no stack of masks: SSY notes where to go at the next JOIN, BR goes where its condition says, and
//! YIELD does nothing. Among others it must execute the same instructions in the same order, whatever they do.

use std::ops::Range;

use reconverge::alone::{Alone, compare, impossible_error};
use reconverge::case::Case;
use reconverge::unit::{Programs, Record, Verdict};

use super::{Program, RpSeq, State};

#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Done,
    Illegal,
    /// JOIN, and no SSY before it: among others such a lane would wait for ever.
    Unpaired,
    Limit,
}

/// Runs a lane alone, for `most` instructions; `draws` gives its condition in instruction k.
fn alone(program: &Program, most: usize, draws: impl Fn(u64) -> bool) -> Alone<End> {
    let (mut pc, mut meet, mut executed) = (0, Vec::new(), Vec::new());
    let end = loop {
        if executed.len() == most {
            break End::Limit;
        }
        let (word, next) = (program.word(pc), (pc + 1) & 0xffff);
        let target = word & 0xffff;
        let then = match word >> 16 {
            1 => {
                meet.push(target);
                next
            }
            2 if draws(executed.len() as u64) => target,
            3 => match meet.pop() {
                Some(place) => place,
                None => break End::Unpaired,
            },
            0 | 2 | 4 => next,
            5 => target,
            6 => {
                executed.push((pc, 0));
                break End::Done;
            }
            _ => break End::Illegal,
        };
        executed.push((pc, 0));
        pc = then;
    };
    Alone {
        executed,
        done: end == End::Done,
        end,
    }
}

/// Whether each lane executed what it executes alone.
pub fn judge(case: &Case<RpSeq>, records: &[Record], end: &State) -> Verdict {
    of_wavefront(case, records, 0..case.lanes, end.err, end.done)
}

/// Whether each of `lanes` did, which are a wavefront that ended with `err` and `done`.
pub fn of_wavefront<U: Programs<Program = Program>>(
    case: &Case<U>,
    records: &[Record],
    lanes: Range<u32>,
    err: u8,
    done: u8,
) -> Verdict {
    let first = lanes.start;
    let launched = lanes.filter(|lane| case.launch_mask >> lane & 1 == 1);
    let runs = launched.map(|lane| {
        let draws = |k| case.conditions.draw(case.seed, lane, k, 1) & 1 == 1;
        (lane, alone(&case.program, records.len() + 1, draws))
    });
    let mut runs: Vec<_> = runs.collect();
    if runs.iter().any(|(_, run)| run.end == End::Unpaired) {
        return Verdict::NotStructured("a JOIN without its SSY".to_owned());
    }
    // The stack has its limits however the lanes are.
    let illegal = runs.iter().any(|(_, run)| run.end == End::Illegal);
    let possible = 0b10101 | u16::from(illegal) << 1;
    if let Some(Verdict::Disagrees { how, .. }) = impossible_error(err, possible) {
        return Verdict::Disagrees { lane: first, how };
    }
    let lanes: Vec<u32> = runs.iter().map(|(lane, _)| *lane).collect();
    compare(records, done == 1, lanes, |_, _| runs.remove(0).1)
}
