//! A whole run, stored for renderers that need all of it before they begin.

use super::{Class, End, Fold, Item, Row, ShownState, rows};
use crate::case::Case;
use crate::program::Programs;
use reconverge_bench::check::Judged;
use reconverge_bench::failure::{Cause, Failure};
use reconverge_bench::lanes::Wavefronts;

/// Maximum number of columns of the strip, the overview of a whole run.
const BINS: usize = 512;

/// Number of lanes in each class, summed over a number of rows, in the order of [`Class::ALL`].
pub type Share = [u64; Class::ALL.len()];

/// A run, as a picture or page shows it.
#[derive(Clone, Debug)]
pub struct Run {
    /// Name of the unit.
    pub unit: &'static str,
    /// Name of the case.
    pub name: String,
    /// Number of lanes of a wavefront.
    pub lanes: usize,
    /// Rows, with repeats of loops folded on request. Of a long run only the first ones.
    pub items: Vec<Item>,
    /// Total number of rows.
    pub rows: u64,
    /// Rows at the end of a long run that `items` neither shows nor counts.
    pub left_out: u64,
    /// Lanes by class over the whole run: one column per row, or for a long run some hundred columns of equal length.
    pub strip: Vec<Share>,
    /// Rows in a column of `strip`; the last one may hold fewer.
    pub rows_in_bin: u64,
    /// How the run ended, according to the golden model.
    pub end: End,
    /// States of RTL and golden model, if they differ.
    pub sides: Option<[ShownState; 2]>,
    /// The case failed, by a mismatch or otherwise.
    pub failed: bool,
}

/// Returns the last cycle to show of a run with this judgement, and the states of RTL and golden model there if they differ.
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

/// Returns how the RTL ended a run with this judgement; `None` if it was not the RTL that ended the run.
pub fn ended<U: Programs>(judged: &Judged<Case<U>>) -> Option<&'static str> {
    match judged.as_ref().err()?.cause {
        Cause::Stopped(_) => Some("RTL stopped"),
        Cause::Crashed(_) => Some("RTL crashed"),
        Cause::Hung(_) => Some("RTL hangs"),
        _ => None,
    }
}

impl Run {
    /// Returns the run of `case` with this judgement, up to the failure; `fold` and `most` as in [`Run::of`].
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

    /// Returns the run of `case` up to cycle `last`, with at most `most` items; `sides` are the states of RTL and golden model
    /// if they differ there. With `fold`, the repeats of a loop become one item.
    pub fn of<U: Programs>(
        case: &Case<U>,
        last: u64,
        sides: Option<[&U::State; 2]>,
        fold: bool,
        most: usize,
    ) -> Self {
        let all = case.lanes as usize;
        let lanes = Wavefronts::of::<U>(all).lanes;
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
            let [rtl, golden] = ShownState::of_sides::<U>(sides, all);
            let stack = end.found.stack.clone();
            [rtl, ShownState { stack, ..golden }]
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

    /// Adds a row to the strip. If the strip is full, merges its columns in pairs.
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
