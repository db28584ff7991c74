//! A FIFO between two clocks.

use std::path::PathBuf;

use reconverge::design::{self, Build, Design};
use reconverge::field::Declaration;

include!(concat!(env!("OUT_DIR"), "/cdc_fifo.rs"));

/// The design.
#[derive(Clone, Copy, Debug)]
pub struct CdcFifo;

impl Design for CdcFifo {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type In = In;
    type State = State;
    type Golden = Golden;
}

/// Folder of the RTL.
pub fn rtl() -> PathBuf {
    super::rtl().join("cdc_fifo")
}

/// Bytes that it holds.
const DEPTH: u64 = 4;

/// What one side knows.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    /// Bytes that it has put in or taken since the reset.
    count: u64,
    /// The same before the last edge of its clock.
    before: u64,
    /// The count of the other side at the last edge of its own clock.
    known: u64,
    /// The same, as it is on its way here through two registers.
    other: [u64; 2],
}

impl Side {
    /// An edge of its clock: the count of `from` moves on. It crosses in Gray code, so its last step changed one bit; if that bit is
    /// `late`, the first edge since a change takes the count of before that step.
    fn edge(&mut self, from: Side, late: u8) {
        // Three bits of it.
        let gray = |count: u64| (count % 8) ^ (count % 8) >> 1;
        let changing = gray(from.before) ^ gray(from.count);
        let taken = match from.count != self.known && changing & u64::from(late) != 0 {
            true => from.before,
            false => from.count,
        };
        self.known = from.count;
        self.other = [taken, self.other[0]];
        self.before = self.count;
    }

    /// Returns the count of the other side as this one sees it.
    fn seen(&self) -> u64 {
        self.other[1]
    }
}

/// The golden model.
#[derive(Clone, Debug, Default)]
pub struct Golden {
    /// The byte that was put in as number n is number n modulo 4.
    bytes: [u8; DEPTH as usize],
    writer: Side,
    reader: Side,
    state: State,
}

impl Golden {
    fn full(&self) -> bool {
        self.writer.count == self.writer.seen() + DEPTH
    }

    fn empty(&self) -> bool {
        self.reader.count == self.reader.seen()
    }

    fn slot(count: u64) -> usize {
        (count % DEPTH) as usize
    }
}

impl design::Golden<CdcFifo> for Golden {
    fn build(_: &Build) -> Self {
        let mut golden = Golden::default();
        golden.state.empty = 1;
        golden
    }

    fn cycle(&mut self, pins: &In) -> &State {
        if pins.is_reset() {
            (self.writer, self.reader) = (Side::default(), Side::default());
        } else {
            // Both sides before any edge: they may come together.
            let before = self.clone();
            if pins.wr_clk == 1 {
                self.writer.edge(before.reader, pins.wr_late);
                if pins.push == 1 && !before.full() {
                    self.bytes[Golden::slot(before.writer.count)] = pins.data;
                    self.writer.count += 1;
                }
            }
            if pins.rd_clk == 1 {
                self.reader.edge(before.writer, pins.rd_late);
                if pins.pop == 1 && !before.empty() {
                    self.reader.count += 1;
                }
            }
        }
        self.state = State {
            full: self.full().into(),
            empty: self.empty().into(),
            head: match self.empty() {
                true => 0,
                false => self.bytes[Golden::slot(self.reader.count)],
            },
            ..State::default()
        };
        &self.state
    }

    fn state(&self) -> &State {
        &self.state
    }

    fn explain(&self, _: &In, field: &str, _: usize) -> String {
        let rule = match field {
            "full" => "the writer has put in four bytes more than it has seen taken",
            "empty" => "the reader has taken as many bytes as it has seen put in",
            _ => "the bytes come out as they were put in",
        };
        rule.to_owned()
    }
}
