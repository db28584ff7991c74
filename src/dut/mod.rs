//! The unit under test: RTL compiled by Verilator, clocked from Rust.

mod ffi;

use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use bytemuck::{Zeroable, bytes_of, bytes_of_mut, cast_slice};
use serde::{Deserialize, Serialize};

use crate::cover::lcov::RtlCoverage;
use crate::unit::{Build, Unit};

/// RTL of unit `U`, ready to be opened any number of times (`Clone` is cheap).
#[derive(Clone)]
pub struct Rtl<U> {
    build: Build,
    source: Source,
    contents: String,
    /// Its models check SystemVerilog assertions.
    assertions: bool,
    /// Files whose lines and bits a model counts, if it does.
    counted: Arc<[PathBuf]>,
    mutant: u32,
    unit: PhantomData<fn() -> U>,
}

/// Where models come from.
#[derive(Clone)]
enum Source {
    Linked(ffi::Source),
    /// A library, loaded when the first model is opened: to load it runs code that came with the RTL.
    Library {
        path: PathBuf,
        symbol: String,
        loaded: Arc<OnceLock<Result<ffi::Source, String>>>,
    },
}

/// RTL that has been built, to be opened by another process of this program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Built {
    build: Build,
    contents: String,
    assertions: bool,
    /// None: it is linked in.
    library: Option<PathBuf>,
    counted: Vec<PathBuf>,
    mutant: u32,
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
            Some(model) => {
                let source = ffi::Source::Linked(model.api);
                Ok(Rtl {
                    build,
                    assertions: source.assertions(),
                    source: Source::Linked(source),
                    contents: model.contents.to_owned(),
                    counted: Arc::new([]),
                    mutant: 0,
                    unit: PhantomData,
                })
            }
            None => Self::of(build, &project().join("rtl").join(U::NAME)),
        }
    }

    /// Somebody's RTL in `dir` (same module name and ports, `<unit>.f`, `<unit>_probe.svh`), built on
    /// first use and then found by its contents.
    ///
    /// # Errors
    /// What is missing in `dir`, or what Verilator or the C++ compiler said.
    pub fn of(build: impl Into<Build>, dir: &Path) -> Result<Self, String> {
        Self::make(build.into(), dir, false)
    }

    /// The RTL in `dir`, or our own, built so that its models count what of it is executed
    /// ([`Dut::coverage`]). Slower; built on first use and then found by its contents.
    ///
    /// # Errors
    /// As [`Rtl::of`].
    pub fn counting(build: impl Into<Build>, dir: Option<&Path>) -> Result<Self, String> {
        let own = project().join("rtl").join(U::NAME);
        Self::make(build.into(), dir.unwrap_or(&own), true)
    }

    fn make(build: Build, dir: &Path, counting: bool) -> Result<Self, String> {
        let project = project();
        let sources = verilate::Sources::of(U::NAME, &project, dir)?;
        let tool = verilate::Verilator::find(&project)?;
        let target = env!("RECONVERGE_TARGET");
        let chain = verilate::ToolChain::find(target, target, cfg!(debug_assertions))?;
        let job = verilate::Job {
            sources: &sources,
            lanes: build.lanes,
            parameters: build.parameters.clone().into_iter().collect(),
            counting,
        };
        let library = verilate::shared(&job, &tool, &chain, &cache())?;
        let counted = if counting {
            sources.rtl().to_vec()
        } else {
            Vec::new()
        };
        Ok(Self::library(
            Built {
                build,
                contents: sources.contents()?,
                assertions: chain.assertions,
                library: None,
                counted,
                mutant: 0,
            },
            library,
        ))
    }

    /// What was built as `library`.
    fn library(built: Built, library: PathBuf) -> Self {
        let parameters = &built.build.parameters;
        let parameters = parameters.iter().map(|(n, v)| (n.as_str(), *v));
        Rtl {
            source: Source::Library {
                symbol: verilate::symbol(
                    U::NAME,
                    built.build.lanes,
                    parameters,
                    !built.counted.is_empty(),
                ),
                path: library,
                loaded: Arc::default(),
            },
            build: built.build,
            contents: built.contents,
            assertions: built.assertions,
            counted: built.counted.into(),
            mutant: built.mutant,
            unit: PhantomData,
        }
    }

    /// What [`Rtl::built`] of another process stands for.
    ///
    /// # Errors
    /// It was linked into a program that is not this one.
    pub fn from_built(mut built: Built) -> Result<Self, String> {
        match built.library.take() {
            None => Ok(Self::own(built.build)?.mutant(built.mutant)),
            Some(library) => Ok(Self::library(built, library)),
        }
    }

    /// For other processes: nothing has to be built again, and what is opened is what was built, whatever
    /// has become of the sources.
    pub fn built(&self) -> Built {
        let library = match &self.source {
            Source::Linked(_) => None,
            Source::Library { path, .. } => Some(path.clone()),
        };
        Built {
            build: self.build.clone(),
            contents: self.contents.clone(),
            assertions: self.assertions,
            library,
            counted: self.counted.to_vec(),
            mutant: self.mutant,
        }
    }

    /// Hash of the RTL's files and the bench's: equal contents, equal hash, wherever they lie.
    pub fn contents(&self) -> &str {
        &self.contents
    }

    /// Whether its models check SystemVerilog assertions. A failed one stops the simulation ([`Dut::stopped`]).
    pub fn assertions(&self) -> bool {
        self.assertions
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
    /// The library is gone; the bench top was built for other structs than this crate's; no memory for a model.
    pub fn open(&self, seed: u32) -> Result<Dut<U>, String> {
        let source = match &self.source {
            Source::Linked(source) => source,
            Source::Library {
                path,
                symbol,
                loaded,
            } => loaded
                .get_or_init(|| ffi::Source::open(path, symbol))
                .as_ref()
                .map_err(Clone::clone)?,
        };
        let model = ffi::Model::new(
            source,
            self.build.lanes,
            size_of::<U::In>(),
            size_of::<U::State>(),
            seed,
            self.mutant,
        )?;
        Ok(Dut {
            model,
            state: U::State::zeroed(),
            counted: self.counted.clone(),
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
    Ok(verilate::Sources::of(unit, &project(), dir)?.rtl)
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
    counted: Arc<[PathBuf]>,
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

    /// Clocks the model through `pins` without looking; a checksum of the states, `None` once the RTL has stopped.
    /// For measuring.
    pub fn bare(&mut self, pins: &[U::In]) -> Option<u64> {
        self.model.bare(cast_slice(pins))
    }

    /// Opens a dump; it begins with the next clock.
    ///
    /// # Errors
    /// `path` cannot be written.
    pub fn open_vcd(&mut self, path: &Path) -> Result<(), String> {
        self.model.open_vcd(path)
    }

    /// Closes the dump, if one is open. A dump that can no longer be written ends at once and the simulation goes
    /// on without it; it is here that this is told.
    ///
    /// # Errors
    /// The dump is not whole: what the operating system said.
    pub fn close_vcd(&mut self) -> Result<(), String> {
        self.model.close_vcd()
    }

    /// What of the unit's RTL this model has executed since it was opened, paths from the project's folder on;
    /// nothing, unless it counts ([`Rtl::counting`]).
    ///
    /// # Errors
    /// The counters cannot be read.
    pub fn coverage(&mut self) -> Result<RtlCoverage, String> {
        if self.counted.is_empty() {
            return Ok(RtlCoverage::default());
        }
        // The runtime has no other way out for them than a file.
        let file = tempfile::NamedTempFile::new().map_err(|e| format!("temporary file: {e}"))?;
        self.model.write_coverage(file.path())?;
        let shown = file.path().to_string_lossy();
        let text = std::fs::read_to_string(file.path()).map_err(|e| format!("{shown}: {e}"))?;
        // The runtime does not look whether what it writes arrives.
        if !text.ends_with('\n') {
            return Err(format!(
                "{shown}: the counters are cut off; is the disk full?"
            ));
        }
        Ok(RtlCoverage::parse(&text, &shown)?.within(&self.counted, &project()))
    }

    /// The bench top's own comparison of the last clock, one bit a field; only while a dump is open.
    pub fn mismatch(&self) -> u64 {
        self.model.mismatch()
    }
}
