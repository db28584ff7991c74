//! A run in human-readable form: the executed instructions, what each lane did meanwhile, the stack, and where lanes diverged
//! and reconverged.
//!
//! Each executed instruction of a run becomes a [`Row`] (`rows`). A row shows the state before the instruction; the state
//! after it is in the next row. [`text`] prints rows on a terminal; all renderers show the same rows.

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

pub use reconverge_bench::lanes::Class;

use crate::program::Programs;
use reconverge_bench::design::Golden as _;
use reconverge_bench::lanes::Wavefronts;

/// An entry of a stack: a branch, loop or call that has not ended, or a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Name of this kind of entry in the manual.
    pub kind: &'static str,
    /// Address at which its lanes continue, if the entry holds one.
    pub address: Option<u32>,
    /// Lanes that the entry holds, if it does; bit i is lane i.
    pub lanes: Option<u64>,
    /// Remaining passes of a counted loop.
    pub passes: Option<u32>,
}

impl Frame {
    /// Returns a frame that has only a kind.
    pub fn of(kind: &'static str) -> Self {
        Frame {
            kind,
            address: None,
            lanes: None,
            passes: None,
        }
    }

    /// Returns the frame as text, with the address at which its lanes continue: `SSY to 0x048`.
    pub fn long(&self) -> String {
        match self.address {
            Some(address) => format!("{} to 0x{address:03x}", self.short()),
            None => self.short(),
        }
    }

    /// Returns the frame as short text: `SSY`, or `LOOP*3` with three passes left.
    pub fn short(&self) -> String {
        match self.passes {
            Some(passes) => format!("{}*{passes}", self.kind),
            None => self.kind.to_owned(),
        }
    }
}

/// The shown part of a unit's state, between two cycles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownState {
    /// The wavefront of which this is, if there are several.
    pub wavefront: Option<usize>,
    /// Address of its next instruction.
    pub pc: u32,
    /// Class of each lane.
    pub lanes: Vec<Class>,
    /// Frames on the golden model's stack, bottom first.
    pub stack: Vec<Frame>,
}

impl ShownState {
    /// Returns what `golden`, the golden model of a unit with `lanes` lanes, shows of wavefront `wavefront`.
    pub fn of<U: Programs>(golden: &U::Golden, lanes: usize, wavefront: usize) -> Self {
        ShownState {
            stack: U::frames_of(golden, wavefront),
            ..Self::of_state::<U>(golden.state(), lanes, wavefront)
        }
    }

    /// Returns what `state`, of a unit with `lanes` lanes, shows of wavefront `wavefront`, without the stack.
    pub fn of_state<U: Programs>(state: &U::State, lanes: usize, wavefront: usize) -> Self {
        let all = Wavefronts::of::<U>(lanes);
        let lanes = all.range(wavefront);
        ShownState {
            wavefront: (all.count > 1).then_some(wavefront),
            pc: U::pc_of(state, wavefront),
            lanes: lanes.map(|lane| U::class(state, lane)).collect(),
            stack: Vec::new(),
        }
    }

    /// Returns what `sides`, the states of RTL and golden model, show of the first wavefront that differs in it, without the stack.
    /// If all lanes have the same class on both sides, lanes that take no part get the class that the registers hold for them,
    /// which may differ.
    pub fn of_sides<U: Programs>(sides: [&U::State; 2], lanes: usize) -> [Self; 2] {
        let all = Wavefronts::of::<U>(lanes);
        let differs = (0..all.count).find(|wavefront| {
            let [rtl, golden] = sides.map(|state| Self::of_state::<U>(state, lanes, *wavefront));
            rtl != golden
        });
        Self::sides_of::<U>(sides, lanes, differs.unwrap_or(0))
    }

    /// Does the same as [`ShownState::of_sides`] for wavefront `wavefront`.
    fn sides_of<U: Programs>(sides: [&U::State; 2], lanes: usize, wavefront: usize) -> [Self; 2] {
        let mut both = sides.map(|state| Self::of_state::<U>(state, lanes, wavefront));
        if both[0].lanes == both[1].lanes {
            for (found, state) in both.iter_mut().zip(sides) {
                let lanes = Wavefronts::of::<U>(lanes).range(wavefront);
                found.lanes = lanes.map(|lane| U::held(state, lane)).collect();
            }
        }
        both
    }

    /// Returns the address, after the wavefront if there are several: `w2 0x01c`.
    pub fn address(&self) -> String {
        let wavefront = self.wavefront.map(|number| format!("w{number} "));
        format!("{}0x{:03x}", wavefront.unwrap_or_default(), self.pc)
    }

    /// Returns the active lanes; bit i is lane i.
    pub fn active(&self) -> u64 {
        let lanes = self.lanes.iter().enumerate();
        lanes.fold(0, |mask, (i, class)| {
            mask | u64::from(*class == Class::Active) << i
        })
    }
}

/// How the set of executing lanes changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Some of the lanes that executed wait now; the others continue.
    Diverged,
    /// Other lanes have joined them.
    Reconverged,
    /// Other lanes execute instead of some or all of them.
    Switched,
    /// No lane executed before; some do now.
    Resumed,
}

impl Turn {
    /// Returns the change from the lanes `before` to the lanes `after`; `None` if they are the same or `after` is empty.
    pub fn of(before: u64, after: u64) -> Option<Self> {
        if before == after || after == 0 {
            None
        } else if after & !before == 0 {
            Some(Turn::Diverged)
        } else if before == 0 {
            Some(Turn::Resumed)
        } else if before & !after == 0 {
            Some(Turn::Reconverged)
        } else {
            Some(Turn::Switched)
        }
    }

    /// Returns the word for the change.
    pub fn word(self) -> &'static str {
        match self {
            Turn::Diverged => "diverged",
            Turn::Reconverged => "reconverged",
            Turn::Switched => "switched",
            Turn::Resumed => "resumed",
        }
    }
}

/// One executed instruction, or another event of the unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Cycle in which the instruction was completed.
    pub cycle: u64,
    /// The instruction as text; if `instruction` is false, the event (a reset, a further launch).
    pub text: String,
    /// True if the row is an instruction.
    pub instruction: bool,
    /// The state before it.
    pub found: ShownState,
    /// The active lanes after it; bit i is lane i.
    pub next: u64,
}

impl Row {
    /// Returns how the instruction changes the set of executing lanes.
    pub fn turn(&self) -> Option<Turn> {
        Turn::of(self.found.active(), self.next)
    }

    /// Returns true if the row is a repeat of `other` in another pass of a loop. Cycles and the contents of frames may differ.
    pub fn repeats(&self, other: &Row) -> bool {
        let kinds = |row: &Row| row.found.stack.iter().map(|f| f.kind).collect::<Vec<_>>();
        self.found.pc == other.found.pc
            && self.found.wavefront == other.found.wavefront
            && self.instruction == other.instruction
            && self.next == other.next
            && self.found.lanes == other.found.lanes
            && self.text == other.text
            && self.found.stack.len() == other.found.stack.len()
            && kinds(self) == kinds(other)
    }
}

/// How a shown run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// The state at the end.
    pub found: ShownState,
    /// `done`, an error, or a text that the program still runs.
    pub outcome: String,
}
