//! A whole run, kept for renderers that need to know all of it before they begin.

use super::{Class, End, Fold, Found, Item, Row, rows};
use crate::case::Case;
use crate::check::Judged;
use crate::failure::{Cause, Failure};
use crate::program::Programs;

/// Bins of the strip over a whole run.
const BINS: usize = 512;

/// How many lanes were in each class, over a number of rows: in the order of [`Class::ALL`].
pub type Share = [u64; Class::ALL.len()];

/// A run as a picture or a page shows it.
#[derive(Clone, Debug)]
pub struct Run {
    /// Name of the unit.
    pub unit: &'static str,
    /// Name of the case.
    pub name: String,
    /// Lanes.
    pub lanes: usize,
    /// Rows, repeats of loops folded if that was asked for; the first ones only of a long run.
    pub items: Vec<Item>,
    /// Rows in all.
    pub rows: u64,
    /// Rows that `items` neither show nor count, at the end of a long run.
    pub left_out: u64,
    /// Lanes by class over the whole run, in as many bins as there are rows, or some hundred of equal length.
    pub strip: Vec<Share>,
    /// Rows in a bin of `strip`; the last one may hold fewer.
    pub rows_in_bin: u64,
    /// How it ended, by the golden.
    pub end: End,
    /// RTL and golden where they differ.
    pub sides: Option<[Found; 2]>,
    /// It failed, in this way or another.
    pub failed: bool,
}

/// Returns the cycle behind which a run is not shown that was judged so, and the states of RTL and golden there if they
/// differ.
pub fn until<U: Programs>(judged: &Judged<Case<U>>) -> (u64, Option<[&U::State; 2]>) {
    let failure = judged.as_ref().err();
    let last = match failure.map(|failure| (&failure.cause, failure.cycle())) {
        Some((Cause::Mismatch(_) | Cause::Stopped(_), cycle)) => cycle,
        _ => u64::MAX,
    };
    let mismatch = failure.and_then(Failure::mismatch);
    let sides = mismatch.map(|mismatch| [&mismatch.rtl, &mismatch.golden]);
    (last, sides)
}

/// Returns what the RTL ended a run with that was judged so, where the golden model says no more than how it goes on.
pub fn ended<U: Programs>(judged: &Judged<Case<U>>) -> Option<&'static str> {
    match judged.as_ref().err()?.cause {
        Cause::Stopped(_) => Some("RTL stopped"),
        Cause::Crashed(_) => Some("RTL crashed"),
        Cause::Hung(_) => Some("RTL hangs"),
        _ => None,
    }
}

impl Run {
    /// Returns the run of `case` that was judged so, up to where it failed.
    pub fn judged<U: Programs>(
        case: &Case<U>,
        judged: &Judged<Case<U>>,
        fold: bool,
        most: usize,
    ) -> Self {
        let (last, sides) = until(judged);
        let mut run = Run::of(case, last, sides, fold, most);
        run.failed = judged.is_err();
        if let Some(ended) = ended(judged) {
            ended.clone_into(&mut run.end.outcome);
        }
        run
    }

    /// Returns the run of `case` up to cycle `last`, with `most` items at most; `sides` are the RTL's state and the
    /// golden's if they differ there. Repeats of a loop become one item if `fold`.
    pub fn of<U: Programs>(
        case: &Case<U>,
        last: u64,
        sides: Option<[&U::State; 2]>,
        fold: bool,
        most: usize,
    ) -> Self {
        let lanes = case.lanes as usize;
        let mut run = Run {
            unit: U::NAME,
            name: case.name(),
            lanes,
            items: Vec::new(),
            rows: 0,
            left_out: 0,
            strip: Vec::new(),
            rows_in_bin: 1,
            end: End::default(),
            sides: None,
            failed: false,
        };
        let mut folded = Fold::default();
        let end = rows(case, last, |row| {
            run.count(&row);
            match fold {
                true => folded.push(row, &mut |item| run.keep(item, most)),
                false => run.keep(Item::Row(row), most),
            }
            true
        });
        folded.end(&mut |item| run.keep(item, most));
        run.sides = sides.map(|sides| {
            let [rtl, golden] = Found::of_sides::<U>(sides, lanes);
            let stack = end.found.stack.clone();
            [rtl, Found { stack, ..golden }]
        });
        run.end = end;
        run
    }

    fn keep(&mut self, item: Item, most: usize) {
        if self.items.len() < most {
            self.items.push(item);
        } else {
            self.left_out += match item {
                Item::Row(_) => 1,
                Item::Again { rows, times, .. } => rows as u64 * times,
            };
        }
    }

    /// Adds a row to the strip, whose bins grow when there are too many.
    fn count(&mut self, row: &Row) {
        if self.rows.is_multiple_of(self.rows_in_bin) {
            if self.strip.len() == BINS {
                self.strip = self
                    .strip
                    .chunks(2)
                    .map(|two| std::array::from_fn(|c| two.iter().map(|bin| bin[c]).sum()))
                    .collect();
                self.rows_in_bin *= 2;
            }
            self.strip.push(Share::default());
        }
        self.rows += 1;
        if let Some(bin) = self.strip.last_mut() {
            for class in &row.found.lanes {
                bin[*class as usize] += 1;
            }
        }
    }
}
