//! Folds repeats of a loop: rows that repeat those before them become one line with a count.

use std::collections::VecDeque;

use super::Row;

/// Longest loop that is folded, in rows.
const LONGEST: usize = 128;

/// A row or a folded loop of a shown run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A row.
    Row(Row),
    /// The last `rows` rows repeat `times` more times, up to `cycle`.
    Again {
        /// Rows of one pass.
        rows: usize,
        /// Passes that are not shown.
        times: u64,
        /// Cycle of the last row of these passes.
        cycle: u64,
    },
}

/// Turns rows into items, each as soon as it is determined.
#[derive(Default)]
pub struct Fold {
    /// The most recent rows given, oldest first.
    given: VecDeque<Row>,
    /// Rows that may become a repeat.
    waiting: VecDeque<Row>,
    /// Lengths of loops whose next pass `waiting` may be, shortest first.
    periods: Vec<usize>,
    /// The loop that is being folded: its length in rows, the passes folded so far, the cycle of the last one.
    folded: Option<(usize, u64, u64)>,
}

impl Fold {
    /// Takes a row; passes the items that are determined now to `give`.
    pub fn push(&mut self, row: Row, give: &mut impl FnMut(Item)) {
        self.waiting.push_back(row);
        self.look(self.waiting.len() - 1, give);
    }

    /// Passes the remaining items to `give`, at the end of a run.
    pub fn end(&mut self, give: &mut impl FnMut(Item)) {
        self.close(give);
        for row in std::mem::take(&mut self.waiting) {
            give(Item::Row(row));
        }
    }

    /// Returns true if waiting row `at` repeats the row that a loop of `period` rows has there.
    fn fits(&self, period: usize, at: usize) -> bool {
        let Some(before) = self.given.len().checked_sub(period) else {
            return false;
        };
        // A pass is complete before the next one begins.
        self.given
            .get(before + at)
            .is_some_and(|row| self.waiting[at].repeats(row))
    }

    /// Examines the waiting rows from `at` on.
    fn look(&mut self, mut at: usize, give: &mut impl FnMut(Item)) {
        while at < self.waiting.len() {
            if at == 0 {
                self.periods = match self.folded {
                    // A loop that is being folded continues or ends.
                    Some((period, ..)) => vec![period],
                    None => (1..=self.given.len()).collect(),
                };
            }
            let mut periods = std::mem::take(&mut self.periods);
            periods.retain(|period| self.fits(*period, at));
            self.periods = periods;
            if self.periods.is_empty() {
                if self.folded.is_some() {
                    self.close(give);
                } else if let Some(row) = self.waiting.pop_front() {
                    self.show(row, give);
                }
                at = 0;
                continue;
            }
            at += 1;
            if self.periods.contains(&at) {
                let cycle = self.waiting[at - 1].cycle;
                self.waiting.drain(..at);
                let times = self.folded.map_or(0, |(_, times, _)| times);
                self.folded = Some((at, times + 1, cycle));
                at = 0;
            }
        }
    }

    /// Ends the loop that is being folded.
    fn close(&mut self, give: &mut impl FnMut(Item)) {
        if let Some((rows, times, cycle)) = self.folded.take() {
            give(Item::Again { rows, times, cycle });
        }
    }

    fn show(&mut self, row: Row, give: &mut impl FnMut(Item)) {
        if self.given.len() == LONGEST {
            self.given.pop_front();
        }
        self.given.push_back(row.clone());
        give(Item::Row(row));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::show::ShownState;

    /// Folds rows with these addresses. Returns an address for each row, `rows*times` for repeats.
    fn folded(addresses: &[u32]) -> String {
        let mut shown = Vec::new();
        let mut give = |item| {
            shown.push(match item {
                Item::Row(row) => row.found.pc.to_string(),
                Item::Again { rows, times, .. } => format!("{rows}*{times}"),
            });
        };
        let mut fold = Fold::default();
        for (cycle, pc) in (0..).zip(addresses) {
            let row = Row {
                cycle,
                text: String::new(),
                instruction: true,
                found: ShownState {
                    pc: *pc,
                    ..ShownState::default()
                },
                next: 0,
            };
            fold.push(row, &mut give);
        }
        fold.end(&mut give);
        shown.join(" ")
    }

    #[test]
    fn whole_passes_are_folded_and_parts_of_one_are_shown() {
        assert_eq!(folded(&[0, 1, 2, 1, 2, 1, 2, 3]), "0 1 2 2*2 3");
        assert_eq!(folded(&[0, 1, 2, 1, 2, 1, 3]), "0 1 2 2*1 1 3");
        assert_eq!(folded(&[5, 5, 5, 5]), "5 1*3");
        assert_eq!(folded(&[1, 2, 3]), "1 2 3");
        assert_eq!(folded(&[1, 2, 1, 2]), "1 2 2*1");
        assert_eq!(folded(&[]), "");
    }

    #[test]
    fn a_loop_in_a_loop_is_folded_each_time_it_is_run() {
        assert_eq!(
            folded(&[0, 1, 2, 1, 2, 3, 0, 1, 2, 1, 2, 3]),
            "0 1 2 2*1 3 0 1 2 2*1 3"
        );
    }

    /// Checks that no row is lost: shown and folded rows together are all rows.
    #[test]
    fn every_row_is_shown_or_counted() {
        let mut state = 7u32;
        for length in 0..200 {
            let addresses: Vec<u32> = (0..length)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    state >> 30
                })
                .collect();
            let mut rows = 0;
            for item in folded(&addresses).split_whitespace() {
                rows += match item.split_once('*') {
                    Some((rows, times)) => {
                        rows.parse::<usize>().unwrap() * times.parse::<usize>().unwrap()
                    }
                    None => 1,
                };
            }
            assert_eq!(rows, addresses.len(), "{addresses:?}");
        }
    }

    #[test]
    fn a_loop_as_long_as_can_be_is_folded_and_a_longer_one_is_not() {
        let twice = |n: u32| (0..n).chain(0..n).collect::<Vec<_>>();
        let longest = LONGEST as u32;
        assert!(folded(&twice(longest)).ends_with(&format!("{longest}*1")));
        assert!(!folded(&twice(longest + 1)).contains('*'));
    }
}
