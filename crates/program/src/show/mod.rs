//! A run as a person sees it: which instruction each cycle executed, what each lane did meanwhile, what was on the
//! stack, where lanes parted and met again.
//!
//! A run is looked on at, and each executed instruction becomes a [`Row`] (`rows`). A row is the state that the instruction
//! finds; what it leads to is the next row. [`text`] prints rows on a terminal; all renderers show the same rows.

mod fold;
#[cfg(feature = "rtl")]
mod lines;
#[cfg(feature = "rtl")]
pub mod page;
#[cfg(feature = "rtl")]
mod record;
#[cfg(feature = "rtl")]
mod run;
#[cfg(feature = "rtl")]
pub mod step;
#[cfg(feature = "rtl")]
pub mod svg;
pub mod text;
#[cfg(feature = "rtl")]
mod words;

pub use fold::{Fold, Item};
#[cfg(feature = "rtl")]
pub(crate) use lines::Lines;
#[cfg(feature = "rtl")]
pub use record::{Recorder, rows};
#[cfg(feature = "rtl")]
pub use run::{Run, Share, ended, until};
#[cfg(feature = "rtl")]
pub use words::words;

pub use crate::lanes::Class;

use crate::design::Golden as _;
use crate::program::Programs;

/// What is on a stack: a branch, loop or call that has not ended, or a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// What the manual calls it.
    pub kind: &'static str,
    /// Where its lanes go on, if it says so.
    pub address: Option<u32>,
    /// Lanes that it keeps, bit i is lane i, if it does.
    pub lanes: Option<u64>,
    /// Passes left of a loop that counts.
    pub passes: Option<u32>,
}

impl Frame {
    /// A frame of which only its kind is known.
    pub fn of(kind: &'static str) -> Self {
        Frame {
            kind,
            address: None,
            lanes: None,
            passes: None,
        }
    }

    /// Returns the text of it with where its lanes go on: `SSY to 0x048`.
    pub fn long(&self) -> String {
        match self.address {
            Some(address) => format!("{} to 0x{address:03x}", self.short()),
            None => self.short(),
        }
    }

    /// Returns the short text of it: `SSY`, `LOOP*3` with three passes left.
    pub fn short(&self) -> String {
        match self.passes {
            Some(passes) => format!("{}*{passes}", self.kind),
            None => self.kind.to_owned(),
        }
    }
}

/// What a unit is in, between two cycles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Address of the next instruction.
    pub pc: u32,
    /// Class of each lane.
    pub lanes: Vec<Class>,
    /// What is on the golden's stack, the bottom first.
    pub stack: Vec<Frame>,
}

impl Found {
    /// Returns what a unit with `lanes` lanes is in whose golden model is `golden`.
    pub fn of<U: Programs>(golden: &U::Golden, lanes: usize) -> Self {
        Found {
            stack: U::frames(golden),
            ..Self::of_state::<U>(golden.state(), lanes)
        }
    }

    /// Returns what `state` of a unit with `lanes` lanes is, without the stack.
    pub fn of_state<U: Programs>(state: &U::State, lanes: usize) -> Self {
        Found {
            pc: U::pc(state),
            lanes: (0..lanes).map(|lane| U::class(state, lane)).collect(),
            stack: Vec::new(),
        }
    }

    /// Returns what `sides`, the states of RTL and golden, are, without the stack. If all lanes do the same on both sides,
    /// lanes that take no part are shown in the class that the registers hold of them: they may differ in it.
    pub fn of_sides<U: Programs>(sides: [&U::State; 2], lanes: usize) -> [Self; 2] {
        let mut both = sides.map(|state| Self::of_state::<U>(state, lanes));
        if both[0].lanes == both[1].lanes {
            for (found, state) in both.iter_mut().zip(sides) {
                found.lanes = (0..lanes).map(|lane| U::held(state, lane)).collect();
            }
        }
        both
    }

    /// Returns the lanes that execute, bit i is lane i.
    pub fn active(&self) -> u64 {
        let lanes = self.lanes.iter().enumerate();
        lanes.fold(0, |mask, (i, class)| {
            mask | u64::from(*class == Class::Active) << i
        })
    }
}

/// What happened to the lanes that execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Some of them wait now, the others go on.
    Parted,
    /// Others have joined them.
    Met,
    /// Others execute instead of some or all of them.
    Switched,
    /// None executed, and some do now.
    Resumed,
}

impl Turn {
    /// Returns what it is from the lanes `before` to the lanes `after`; `None` if they are the same or none is left.
    pub fn of(before: u64, after: u64) -> Option<Self> {
        if before == after || after == 0 {
            None
        } else if after & !before == 0 {
            Some(Turn::Parted)
        } else if before == 0 {
            Some(Turn::Resumed)
        } else if before & !after == 0 {
            Some(Turn::Met)
        } else {
            Some(Turn::Switched)
        }
    }

    /// Returns its word.
    pub fn word(self) -> &'static str {
        match self {
            Turn::Parted => "parted",
            Turn::Met => "met",
            Turn::Switched => "switched",
            Turn::Resumed => "resumed",
        }
    }
}

/// One executed instruction, or what happened to the unit besides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Cycle in which it was done.
    pub cycle: u64,
    /// The instruction as text; what else it was (a reset, a further launch), if `instruction` is not set.
    pub text: String,
    /// It is an instruction.
    pub instruction: bool,
    /// What it finds.
    pub found: Found,
    /// The lanes that execute after it, bit i is lane i.
    pub next: u64,
}

impl Row {
    /// Returns what it does to the lanes that execute.
    pub fn turn(&self) -> Option<Turn> {
        Turn::of(self.found.active(), self.next)
    }

    /// Whether it says the same as `other` in another pass of a loop: what counts passes and cycles may differ.
    pub fn repeats(&self, other: &Row) -> bool {
        let kinds = |row: &Row| row.found.stack.iter().map(|f| f.kind).collect::<Vec<_>>();
        self.found.pc == other.found.pc
            && self.instruction == other.instruction
            && self.next == other.next
            && self.found.lanes == other.found.lanes
            && self.text == other.text
            && self.found.stack.len() == other.found.stack.len()
            && kinds(self) == kinds(other)
    }
}

/// How a run ended that was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// What the unit is in.
    pub found: Found,
    /// `done`, an error, or that it still runs.
    pub outcome: String,
}
