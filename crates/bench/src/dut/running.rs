//! A model while it runs, in this process or in another one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytemuck::{Zeroable as _, bytes_of, bytes_of_mut, cast_slice};
use thiserror::Error;

use super::ffi;
use super::host::{Cycle, Hosted};
use crate::design::{Design, Origin};
use crate::home::{home, own_rtl};
use crate::lcov::RtlCoverage;
use crate::lockstep::Lost;

/// The result of one compared cycle.
#[derive(Debug)]
pub enum Check<'a, U: Design> {
    /// Every bit is as expected.
    Agrees,
    /// The state of the unit, which is not as expected.
    Differs(&'a U::State),
    /// The state is as expected, but something changed at the falling edge of the clock.
    Halves(Halves<U>),
    /// The RTL stopped the simulation.
    Stopped,
    /// The process in which the RTL ran is lost ([`Dut::lost`]).
    Lost,
}

/// The state before and after the falling edge of the clock, by what changed at that edge.
#[derive(Clone, Debug)]
pub struct Halves<U: Design> {
    /// The compared state, if it was as expected only after the edge.
    pub compared: Option<[U::State; 2]>,
    /// With the outputs that depend on the pins of the same cycle as they are in this cycle, which is compared next.
    pub next: Option<[U::State; 2]>,
}

/// What the end of a simulation ([`Dut::close`]) says is wrong.
#[derive(Debug, Error)]
pub enum Ended {
    /// $stop, $fatal, $finish or a failed assertion in a `final` block.
    #[error("{0}")]
    Stopped(String),
    /// The RTL ended its process, or made no progress.
    #[error("{0}")]
    Lost(Lost),
}

impl Ended {
    const AT: &str = "at the end of the simulation";

    pub(super) fn stopped(why: &str) -> Self {
        Ended::Stopped(format!("{}: {why}", Self::AT))
    }

    pub(super) fn lost(lost: Lost) -> Self {
        Ended::Lost(match lost {
            Lost::Crashed(how) => Lost::Crashed(format!("{}: {how}", Self::AT)),
            hung @ Lost::Hung(_) => hung,
        })
    }
}

/// Where a model runs.
pub(super) enum Model {
    Here(ffi::Model),
    Hosted(Box<Hosted>),
}

/// One running model.
pub struct Dut<U: Design> {
    pub(super) model: Model,
    pub(super) state: U::State,
    pub(super) seed: u32,
    pub(super) preloads: bool,
    pub(super) counted: Arc<[PathBuf]>,
    /// Folder of the RTL; `None` for our own.
    pub(super) dir: Option<PathBuf>,
    pub(super) no_assert: bool,
    pub(super) mutant: u32,
    pub(super) falling: Arc<[String]>,
}

impl<U: Design> Dut<U> {
    /// Returns what a replay needs of the model.
    pub fn origin(&self) -> Origin {
        let absolute = |dir: &PathBuf| std::path::absolute(dir).unwrap_or_else(|_| dir.clone());
        Origin {
            seed: self.seed,
            rtl: self.dir.as_ref().map(absolute),
            no_assert: self.no_assert,
            mutant: self.mutant,
        }
    }

    /// Returns the seed with which the model was opened.
    pub fn seed(&self) -> u32 {
        self.seed
    }

    /// Ends the simulation: runs the `final` blocks of the RTL. A model that is only dropped prints what they say as a warning.
    ///
    /// # Errors
    /// Why they stopped: $stop, $fatal, $finish or a failed assertion; how they ended their process.
    pub fn close(self) -> Result<(), Ended> {
        match self.model {
            Model::Here(model) => model.close().map_err(|why| Ended::stopped(&why)),
            Model::Hosted(mut model) => model.close(),
        }
    }

    /// Clocks the model once with `pins`. The bench top registers its inputs, so the returned state is the one after the
    /// PREVIOUS cycle; `expected`, the golden model's state after that same cycle, goes into an open dump. Once the RTL has
    /// stopped ([`Dut::stopped`]) or is lost ([`Dut::lost`]), the state no longer changes.
    pub fn clock(&mut self, pins: &U::In, expected: Option<&U::State>) -> &U::State {
        let (pins, expected) = (bytes_of(pins), expected.map(bytes_of));
        let state = match &mut self.model {
            Model::Here(model) => model.clock(pins, expected, None, false),
            Model::Hosted(model) => match model.clock(pins, expected, None, false) {
                Cycle::State(state) => Some(state),
                Cycle::Halves(..) | Cycle::Stopped | Cycle::Lost => None,
            },
        };
        if let Some(state) = state {
            bytes_of_mut(&mut self.state).copy_from_slice(state);
        }
        &self.state
    }

    /// Clocks the model like [`Dut::clock`] and compares the state, for the lock-step loop. Compares every byte, in the
    /// model's own memory. If the pins assert an asynchronous reset, `after` is the state expected from then on, and the result
    /// is [`Check::Halves`] if the RTL has another one.
    #[inline]
    pub fn check(
        &mut self,
        pins: &U::In,
        expected: &U::State,
        after: Option<&U::State>,
    ) -> Check<'_, U> {
        let (pins, expected, after) = (bytes_of(pins), bytes_of(expected), after.map(bytes_of));
        let cycle = match &mut self.model {
            Model::Here(model) => match model.clock(pins, Some(expected), after, true) {
                Some(state) => Cycle::State(state),
                None => return self.halves(),
            },
            Model::Hosted(model) => model.clock(pins, Some(expected), after, true),
        };
        compared(cycle, expected, &mut self.state)
    }

    /// Returns what changed at the falling edge of the last cycle of a model in this process, or that the RTL has stopped.
    #[cold]
    fn halves(&self) -> Check<'_, U> {
        let Model::Here(model) = &self.model else {
            return Check::Stopped;
        };
        match [false, true].map(|now| model.halves(now)) {
            [None, None] => Check::Stopped,
            halves => Check::Halves(copied(halves)),
        }
    }

    /// Returns the fields that may change at the falling edge of the clock.
    pub(crate) fn falling(&self) -> Arc<[String]> {
        Arc::clone(&self.falling)
    }

    /// Returns whether its cycles take much less time if they are asked for ([`Dut::ask`]) before the results are needed.
    #[inline]
    pub(crate) fn runs_ahead(&self) -> bool {
        matches!(self.model, Model::Hosted(_))
    }

    /// Clocks a model that runs ahead with `pins`, at some time. [`Dut::answer`] returns the results in the same order.
    pub(crate) fn ask(&mut self, pins: &U::In, expected: &U::State, after: Option<&U::State>) {
        if let Model::Hosted(model) = &mut self.model {
            model.ask(bytes_of(pins), bytes_of(expected), after.map(bytes_of));
        }
    }

    /// Compares the result of the next cycle that was asked for with `expected`. `None` if it has not come; with `all`, waits for
    /// it.
    pub(crate) fn answer(&mut self, all: bool, expected: &U::State) -> Option<Check<'_, U>> {
        match &mut self.model {
            Model::Here(_) => None,
            Model::Hosted(model) => {
                let cycle = model.answer(all)?;
                Some(compared(cycle, bytes_of(expected), &mut self.state))
            }
        }
    }

    /// Returns how the RTL stopped the simulation ($stop, $fatal, $finish, a failed assertion, logic that does not settle),
    /// if it did. The model cannot be used any more then.
    pub fn stopped(&self) -> Option<String> {
        match &self.model {
            Model::Here(model) => model.stopped(),
            Model::Hosted(model) => model.stopped(),
        }
    }

    /// Returns how the process in which the RTL ran was lost, if it was. The model cannot be used any more then. Always `None` for a
    /// model that runs in this process.
    pub fn lost(&self) -> Option<Lost> {
        match &self.model {
            Model::Here(_) => None,
            Model::Hosted(model) => model.lost(),
        }
    }

    /// Checks no assertion of the RTL from now on: after a failure, cycles that only complete a dump must not end it.
    pub(crate) fn no_assert(&mut self) {
        match &mut self.model {
            Model::Here(model) => model.no_assert(),
            Model::Hosted(model) => model.no_assert(),
        }
    }

    /// Returns whether a state can be loaded into the unit.
    pub fn preloads(&self) -> bool {
        match &self.model {
            Model::Here(model) => model.preloads(),
            Model::Hosted(_) => self.preloads,
        }
    }

    /// Loads `state` into the unit, except control registers and constants. The cycle before must have been stalled,
    /// because its pins are still in the bench top's registers. Does nothing if the RTL's probes name no registers to load:
    /// [`Dut::preloads`].
    pub fn load(&mut self, state: &U::State) {
        match &mut self.model {
            Model::Here(model) => model.load(bytes_of(state)),
            Model::Hosted(model) => model.load(bytes_of(state)),
        }
    }

    /// Clocks the model through `pins` without comparing, for measurements. Returns a checksum of the states; `None` once
    /// the RTL has stopped.
    pub fn bare(&mut self, pins: &[U::In]) -> Option<u64> {
        match &mut self.model {
            Model::Here(model) => model.bare(cast_slice(pins)),
            Model::Hosted(model) => model.bare(cast_slice(pins)),
        }
    }

    /// Opens a dump; it begins with the next cycle. It replaces a file or a link with this name.
    ///
    /// # Errors
    /// `path` cannot be written.
    pub fn open_vcd(&mut self, path: &Path) -> Result<(), String> {
        crate::wave::remove_old(path);
        match &mut self.model {
            Model::Here(model) => model.open_vcd(path),
            Model::Hosted(model) => model.open_vcd(path),
        }
    }

    /// Closes the dump, if one is open. If a dump can no longer be written, it ends at once and the simulation continues
    /// without it; this call reports the error.
    ///
    /// # Errors
    /// The dump is incomplete; says what the operating system reported.
    pub fn close_vcd(&mut self) -> Result<(), String> {
        match &mut self.model {
            Model::Here(model) => model.close_vcd(),
            Model::Hosted(model) => model.close_vcd(),
        }
    }

    /// Returns the coverage of the unit's RTL in this model since it was opened. Paths are relative to the project's
    /// folder. Empty unless the model counts ([`Make::counting`](super::Make::counting)).
    ///
    /// # Errors
    /// The counters cannot be read.
    pub fn coverage(&mut self) -> Result<RtlCoverage, String> {
        if self.counted.is_empty() {
            return Ok(RtlCoverage::default());
        }
        // The runtime can only write the counters to a file.
        let file = tempfile::NamedTempFile::new().map_err(|e| format!("temporary file: {e}"))?;
        match &mut self.model {
            Model::Here(model) => model.write_coverage(file.path())?,
            Model::Hosted(model) => model.write_coverage(file.path())?,
        }
        let shown = file.path().to_string_lossy();
        let text = std::fs::read_to_string(file.path()).map_err(|e| format!("{shown}: {e}"))?;
        // The runtime does not check whether its output is written.
        if !text.ends_with('\n') {
            return Err(format!(
                "{shown}: the counters are cut off; is the disk full?"
            ));
        }
        let coverage = RtlCoverage::parse(&text, &shown)?;
        let home = home(U::package()).map_err(|e| e.to_string())?;
        let dir = match &self.dir {
            Some(dir) => dir.clone(),
            None => own_rtl::<U>().map_err(|e| e.to_string())?,
        };
        Ok(coverage.within(&self.counted, &dir, &home))
    }
}

/// Compares the state of a cycle with `expected`; `state` becomes a state that differs.
#[inline]
fn compared<'s, U: Design>(
    cycle: Cycle<'_>,
    expected: &[u8],
    state: &'s mut U::State,
) -> Check<'s, U> {
    match cycle {
        Cycle::State(is) | Cycle::Halves(is, _) if is != expected => {
            bytes_of_mut(state).copy_from_slice(is);
            Check::Differs(state)
        }
        Cycle::State(_) => Check::Agrees,
        Cycle::Halves(_, halves) => Check::Halves(copied(halves)),
        Cycle::Stopped => Check::Stopped,
        Cycle::Lost => Check::Lost,
    }
}

/// Returns copies of the states before and after the falling edge.
#[cold]
fn copied<U: Design>(halves: [Option<[&[u8]; 2]>; 2]) -> Halves<U> {
    let copy = |state: &[u8]| {
        let mut copy = U::State::zeroed();
        bytes_of_mut(&mut copy).copy_from_slice(state);
        copy
    };
    let [compared, next] = halves.map(|halves| halves.map(|both| both.map(copy)));
    Halves { compared, next }
}
