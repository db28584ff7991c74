//! The unit under test: RTL compiled by Verilator, clocked from Rust.

mod build;
mod ffi;

use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use bytemuck::{Zeroable, bytes_of, bytes_of_mut, cast_slice};

use crate::unit::{Build, Unit};

/// RTL of unit `U`, ready to be opened any number of times (`Clone` is cheap).
#[derive(Clone)]
pub struct Rtl<U> {
    build: Build,
    source: ffi::Source,
    mutant: u32,
    unit: PhantomData<fn() -> U>,
}

impl<U: Unit> Rtl<U> {
    /// Our own RTL, by lanes or with further parameters: linked in for the usual ones, built on first use
    /// for others.
    ///
    /// # Errors
    /// Uncommon parameters without Verilator or without the project's sources at hand.
    pub fn own(build: impl Into<Build>) -> Result<Self, String> {
        let build = build.into();
        let wanted = |m: &&ffi::Linked| {
            let parameters = build.parameters.iter().map(|(n, v)| (n.as_str(), *v));
            m.unit == U::NAME
                && m.lanes == build.lanes
                && parameters.eq(m.parameters.iter().copied())
        };
        match ffi::linked().iter().find(wanted) {
            Some(model) => Ok(Self::from(build, ffi::Source::Linked(model.api))),
            None => Self::of(build, &project().join("rtl").join(U::NAME)),
        }
    }

    /// Somebody's RTL in `dir` (same module name and ports, `<unit>.f`, `<unit>_probe.svh`), built on
    /// first use and then found by its contents.
    ///
    /// # Errors
    /// What is missing in `dir`, or what Verilator or the C++ compiler said.
    pub fn of(build: impl Into<Build>, dir: &Path) -> Result<Self, String> {
        let build = build.into();
        let project = project();
        let sources = build::Sources::of(U::NAME, &project, dir)?;
        let tool = build::Verilator::find(&project)?;
        let target = env!("RECONVERGE_TARGET");
        let chain = build::ToolChain::find(target, target, cfg!(debug_assertions))?;
        let job = build::Job {
            sources: &sources,
            lanes: build.lanes,
            parameters: build.parameters.clone().into_iter().collect(),
        };
        let library = build::shared(&job, &tool, &chain, &cache())?;
        let source = ffi::Source::open(&library, &job.symbol())?;
        Ok(Self::from(build, source))
    }

    fn from(build: Build, source: ffi::Source) -> Self {
        Rtl {
            build,
            source,
            mutant: 0,
            unit: PhantomData,
        }
    }

    /// The same RTL being mutant `number` of those in it (`mutate`); 0 is none. RTL that holds no
    /// mutants does not look.
    #[must_use]
    pub fn mutant(mut self, number: u32) -> Self {
        self.mutant = number;
        self
    }

    /// What it is built with.
    pub fn build(&self) -> &Build {
        &self.build
    }

    /// A model after power-up; `seed` fills the registers that reset does not reach.
    ///
    /// # Errors
    /// The bench top was built for other structs than this crate's.
    pub fn open(&self, seed: u32) -> Result<Dut<U>, String> {
        let model = ffi::Model::new(
            &self.source,
            self.build.lanes,
            size_of::<U::In>(),
            size_of::<U::State>(),
            seed,
            self.mutant,
        )?;
        Ok(Dut {
            model,
            state: U::State::zeroed(),
        })
    }
}

/// Where bench, shim and RTL of this crate lie; only builds at run time need them.
fn project() -> PathBuf {
    std::env::var_os("RECONVERGE_HOME")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from)
}

/// Folder of our own RTL of a unit.
#[cfg(feature = "cli")]
pub(crate) fn own_dir(unit: &str) -> PathBuf {
    project().join("rtl").join(unit)
}

/// What the referee of mutants may know of our own RTL, if the sources are at hand.
#[cfg(feature = "cli")]
pub(crate) fn formal_of(unit: &str) -> Option<String> {
    std::fs::read_to_string(project().join("tb/formal").join(format!("{unit}.sv"))).ok()
}

/// The files that `<unit>.f` in `dir` names, in its order.
#[cfg(feature = "cli")]
pub(crate) fn files_of(unit: &str, dir: &Path) -> Result<Vec<PathBuf>, String> {
    Ok(build::Sources::of(unit, &project(), dir)?.rtl)
}

/// Folder of the models built at run time.
fn cache() -> PathBuf {
    let set = |name: &str| {
        std::env::var_os(name)
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
    };
    set("RECONVERGE_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|d| d.join("reconverge")))
        .or_else(|| set("HOME").map(|d| d.join(".cache/reconverge")))
        .unwrap_or_else(|| std::env::temp_dir().join("reconverge"))
}

/// What a compared clock brought.
#[derive(Debug)]
pub enum Check<'a, U: Unit> {
    /// Every bit is as expected.
    Agrees,
    /// The unit's state, which is not as expected.
    Differs(&'a U::State),
    /// The RTL stopped the simulation.
    Stopped,
}

/// One running model.
pub struct Dut<U: Unit> {
    model: ffi::Model,
    state: U::State,
}

impl<U: Unit> Dut<U> {
    /// One clock with `pins`. The bench top registers its inputs, so the state returned is the one
    /// after the clock BEFORE; `expected`, the golden's state after that same clock, goes into an open dump.
    /// Once the RTL has stopped ([`Dut::stopped`]) the state stays as it was.
    pub fn clock(&mut self, pins: &U::In, expected: Option<&U::State>) -> &U::State {
        if let Some(state) = self.model.clock(bytes_of(pins), expected.map(bytes_of)) {
            bytes_of_mut(&mut self.state).copy_from_slice(state);
        }
        &self.state
    }

    /// As [`Dut::clock`], for the loop that compares. Every byte is compared, where the model has it.
    #[inline]
    pub fn check(&mut self, pins: &U::In, expected: &U::State) -> Check<'_, U> {
        let expected = bytes_of(expected);
        match self.model.clock(bytes_of(pins), Some(expected)) {
            Some(state) if state == expected => Check::Agrees,
            Some(state) => {
                bytes_of_mut(&mut self.state).copy_from_slice(state);
                Check::Differs(&self.state)
            }
            None => Check::Stopped,
        }
    }

    /// How the RTL stopped the simulation ($stop, $fatal, $finish, a failed assertion, logic that does not
    /// settle), if it did. The model is of no more use then.
    pub fn stopped(&self) -> Option<String> {
        self.model.stopped()
    }

    /// Puts the unit into `state`, control registers and constants excepted. The clock before it must
    /// have been a stalled one, for it is still in the bench top's registers.
    pub fn load(&mut self, state: &U::State) {
        self.model.load(bytes_of(state));
    }

    /// Clocks the model through `pins` without looking; a checksum of the states. For measuring.
    pub fn bare(&mut self, pins: &[U::In]) -> u64 {
        self.model.bare(cast_slice(pins))
    }

    /// Opens a dump; it begins with the next clock.
    ///
    /// # Errors
    /// `path` cannot be written.
    pub fn open_vcd(&mut self, path: &Path) -> Result<(), String> {
        self.model.open_vcd(path)
    }

    /// Closes the dump, if one is open.
    pub fn close_vcd(&mut self) {
        self.model.close_vcd();
    }

    /// The bench top's own comparison of the last clock, one bit a field; only while a dump is open.
    pub fn mismatch(&self) -> u64 {
        self.model.mismatch()
    }
}
