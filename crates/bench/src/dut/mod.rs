//! The unit under test: RTL compiled by Verilator, clocked from Rust.

mod ffi;
mod probed;

#[doc(hidden)]
pub use ffi::{Api, Linked};

use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use bytemuck::{Zeroable, bytes_of, bytes_of_mut, cast_slice};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::design::Design;
use crate::design::{Build, Origin};
use crate::home::{home, own_rtl};
use crate::input::{InputError, read_text};
use crate::lcov::RtlCoverage;

/// Why RTL cannot be opened. `Debug` prints the message too, because it is what a test that unwraps prints, and has several lines.
#[derive(Error)]
#[non_exhaustive]
pub enum Error {
    /// The RTL cannot be built.
    #[error(transparent)]
    Build(#[from] verilate::Error),
    /// The built model cannot be loaded.
    #[error("{0}")]
    Load(String),
}

impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

impl Error {
    /// Returns the error as bad input, if it is one: of the RTL in `dir`, or of the variable that names the cache.
    pub fn as_input(&self, dir: Option<&Path>) -> Option<InputError> {
        match (self, dir) {
            (Error::Build(verilate::Error::Cache(why)), _) => {
                Some(InputError::new("RECONVERGE_CACHE", 0, "folder", why))
            }
            (Error::Build(e), Some(dir)) if e.is_input() => Some(InputError::new(
                dir.to_string_lossy(),
                0,
                "--rtl",
                e.to_string(),
            )),
            _ => None,
        }
    }
}

impl From<Error> for String {
    fn from(e: Error) -> Self {
        e.to_string()
    }
}

/// Which RTL to use, and how to build it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Make {
    /// A folder with `<unit>.f` and `<unit>_probe.toml`, and a module with the same name and ports as ours; `None`: our own
    /// RTL.
    pub dir: Option<PathBuf>,
    /// Models check SystemVerilog assertions. A failed one stops the simulation ([`Dut::stopped`]).
    pub assertions: bool,
    /// Models count which RTL is executed ([`Dut::coverage`]), and are slower.
    pub counting: bool,
}

impl Make {
    /// Selects the RTL in `dir` with its assertions, or without `dir` our own linked RTL, which has assertions in debug
    /// builds.
    pub fn of(dir: Option<&Path>) -> Self {
        Make {
            dir: dir.map(Path::to_owned),
            assertions: dir.is_some() || cfg!(debug_assertions),
            counting: false,
        }
    }
}

/// RTL of unit `U`, ready to be opened any number of times (`Clone` is cheap).
#[derive(Clone)]
pub struct Rtl<U> {
    build: Build,
    make: Make,
    source: Source,
    contents: String,
    preloads: bool,
    /// Files whose lines and bits a model counts; empty if it does not count.
    counted: Arc<[PathBuf]>,
    /// Fields that may change at the falling edge of the clock.
    falling: Arc<[String]>,
    mutant: u32,
    unit: PhantomData<fn() -> U>,
}

/// Where models come from.
#[derive(Clone)]
enum Source {
    Linked(ffi::Source),
    /// A library, loaded when the first model is opened, because loading it runs code that came with the RTL.
    Library {
        library: Arc<verilate::Library>,
        loaded: Arc<OnceLock<Result<ffi::Source, String>>>,
    },
}

/// RTL that has been built, for another process of this program to open.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Built {
    build: Build,
    make: Make,
    mutant: u32,
    contents: String,
    /// The library and its SHA-256; `None` if the model is linked in.
    library: Option<(PathBuf, String)>,
    preloads: bool,
    counted: Vec<PathBuf>,
    falling: Vec<String>,
}

impl<U: Design> Rtl<U> {
    /// Returns our own RTL with the given lanes or parameters. The default build is linked in (feature `linked`); any other is
    /// compiled by this call, which takes seconds, unless the cache has a model of the same sources.
    ///
    /// # Errors
    /// The model has to be compiled, and Verilator, the C++ compiler or the project's sources are missing.
    pub fn own(build: impl Into<Build>) -> Result<Self, Error> {
        Self::make(build, &Make::of(None))
    }

    /// Returns the RTL in `dir` with its assertions, compiled by this call unless the cache has a model of the same sources.
    ///
    /// # Errors
    /// A file is missing in `dir`; the message of Verilator or of the C++ compiler.
    pub fn of(build: impl Into<Build>, dir: &Path) -> Result<Self, Error> {
        Self::make(build, &Make::of(Some(dir)))
    }

    /// Returns the RTL that `make` selects, compiled by this call unless it is linked in or the cache has a model of the same
    /// sources.
    ///
    /// # Errors
    /// The same as of [`Rtl::of`].
    pub fn make(build: impl Into<Build>, make: &Make) -> Result<Self, Error> {
        let build = build.into();
        build
            .check::<U>("")
            .map_err(|e| verilate::Error::Refused(e.message))?;
        if let Some(rtl) = Self::linked(&build, make) {
            return Ok(rtl);
        }
        let project = home(U::package())?;
        let dir = match &make.dir {
            Some(dir) => dir.clone(),
            None => own_rtl::<U>()?,
        };
        let dir = dir.as_path();
        let (sources, falling) = sources::<U>(dir)?;
        let job = verilate::Job {
            sources: &sources,
            lanes: build.lanes,
            parameters: build.parameters.clone().into_iter().collect(),
            counting: make.counting,
            assertions: make.assertions,
        };
        let store = verilate::Store::of_user()?;
        let store = match U::package() {
            // The package's build script has already built the runtime.
            Some(package) => store.beside(Path::new(package.built)),
            None => store,
        };
        let library = job.library(&tools(&project), &store);
        let library = library.map_err(|e| placed::<U>(dir, e))?;
        let counted = match make.counting {
            true => sources.rtl(),
            false => Vec::new(),
        };
        let preloads = sources.preloads();
        Ok(Self::library(
            build,
            make.clone(),
            library,
            preloads,
            counted,
            falling,
        ))
    }

    /// Returns a model that is linked into this program.
    fn linked(build: &Build, make: &Make) -> Option<Self> {
        if make.dir.is_some() || make.counting {
            return None;
        }
        let parameters = || build.parameters.iter().map(|(n, v)| (n.as_str(), *v));
        let mut linked = U::package()?.linked.iter();
        let model = linked.find(|m| {
            m.unit == U::NAME
                && m.lanes == build.lanes
                && parameters().eq(m.parameters.iter().copied())
        })?;
        let source = ffi::Source::Linked(model.api);
        (source.assertions() == make.assertions).then(|| Rtl {
            build: build.clone(),
            make: make.clone(),
            preloads: source.preloads(),
            source: Source::Linked(source),
            contents: model.contents.to_owned(),
            counted: Arc::new([]),
            falling: declared::<U>()
                .map_or_else(|_| Arc::default(), |d| d.falling(&d.probes).into()),
            mutant: 0,
            unit: PhantomData,
        })
    }

    fn library(
        build: Build,
        make: Make,
        library: verilate::Library,
        preloads: bool,
        counted: Vec<PathBuf>,
        falling: Vec<String>,
    ) -> Self {
        Rtl {
            build,
            make,
            preloads,
            contents: library.contents.clone(),
            source: Source::Library {
                library: Arc::new(library),
                loaded: Arc::default(),
            },
            counted: counted.into(),
            falling: falling.into(),
            mutant: 0,
            unit: PhantomData,
        }
    }

    /// Returns the same RTL with other lanes and parameters.
    ///
    /// # Errors
    /// The same as of [`Rtl::of`].
    pub fn rebuilt(&self, build: impl Into<Build>) -> Result<Self, Error> {
        Ok(Self::make(build, &self.make)?.mutant(self.mutant))
    }

    /// Returns the RTL from [`Rtl::built`] of another process.
    ///
    /// # Errors
    /// The library is missing or is not the one that was built; the model was linked into another program.
    pub fn from_built(built: Built) -> Result<Self, Error> {
        let mutant = built.mutant;
        let rtl = match &built.library {
            None => Self::linked(&built.build, &built.make)
                .ok_or_else(|| Error::Load("this program has no such model in it".to_owned()))?,
            Some((path, digest)) => {
                let library = verilate::Library::at(path, digest)?;
                let Built {
                    build,
                    make,
                    preloads,
                    counted,
                    falling,
                    ..
                } = built;
                Self::library(build, make, library, preloads, counted, falling)
            }
        };
        Ok(rtl.mutant(mutant))
    }

    /// Returns a description for other processes. They build nothing again, and they open the model that was built here
    /// even if its sources have changed. The model stays in the cache as long as this `Rtl` lives.
    pub fn built(&self) -> Built {
        Built {
            build: self.build.clone(),
            make: self.make.clone(),
            mutant: self.mutant,
            contents: self.contents.clone(),
            library: match &self.source {
                Source::Linked(_) => None,
                Source::Library { library, .. } => {
                    Some((library.path.clone(), library.digest.clone()))
                }
            },
            preloads: self.preloads,
            counted: self.counted.to_vec(),
            falling: self.falling.to_vec(),
        }
    }

    /// Returns Verilator's warnings about the RTL from the build; empty for our own linked RTL.
    pub fn warnings(&self) -> &str {
        match &self.source {
            Source::Linked(_) => "",
            Source::Library { library, .. } => &library.warnings,
        }
    }

    /// Returns whether a state can be loaded into its models ([`Dut::load`]).
    pub fn preloads(&self) -> bool {
        self.preloads
    }

    /// Returns a hash of every RTL and bench file that was read. It depends on the contents only, not on the folder.
    pub fn contents(&self) -> &str {
        &self.contents
    }

    /// Returns whether its models check SystemVerilog assertions. A failed one stops the simulation ([`Dut::stopped`]).
    pub fn assertions(&self) -> bool {
        self.make.assertions
    }

    /// Returns whether its models check no assertions although [`Make::of`] would enable them: `Case::no_assert`.
    pub fn no_assert(&self) -> bool {
        Make::of(self.make.dir.as_deref()).assertions && !self.make.assertions
    }

    /// Returns the same RTL with mutant `number` of those in it selected (`mutate`); 0 selects none. RTL without mutants
    /// ignores the number.
    #[must_use]
    pub fn mutant(mut self, number: u32) -> Self {
        self.mutant = number;
        self
    }

    /// Returns the lanes and parameters of the build.
    pub fn build(&self) -> &Build {
        &self.build
    }

    /// Opens a model after power-up for a `what` (a case, a stream) of `build`; see [`Rtl::open`].
    ///
    /// # Errors
    /// The RTL has other lanes or parameters; the same as of [`Rtl::open`].
    pub fn open_for(&self, what: &str, build: &Build, seed: u32) -> Result<Dut<U>, String> {
        match *build == self.build {
            true => self.open(seed),
            false => Err(format!(
                "the {what} is for {build}, the RTL has {}",
                self.build
            )),
        }
    }

    /// Opens a model after power-up; from `seed` it draws the registers that reset does not reach, and the values for X.
    ///
    /// # Errors
    /// The library cannot be loaded; the bench top was built for other structs than this crate's; memory is short.
    pub fn open(&self, seed: u32) -> Result<Dut<U>, String> {
        let source = match &self.source {
            Source::Linked(source) => source,
            Source::Library { library, loaded } => loaded
                .get_or_init(|| ffi::Source::open(library))
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
            seed,
            counted: self.counted.clone(),
            dir: self.make.dir.clone(),
            no_assert: self.no_assert(),
            mutant: self.mutant,
            falling: self.falling.clone(),
        })
    }
}

/// Returns the path and the text of the formal file for the RTL of `D` in `dir`: `<design>_formal.sv` there, or
/// `tb/formal/<design>.sv` of its package. It says what proofs may use of the RTL.
#[doc(hidden)]
pub fn formal_of<D: Design>(dir: &Path) -> Option<(String, String)> {
    let beside = dir.join(format!("{}_formal.sv", D::NAME));
    let own = format!("tb/formal/{}.sv", D::NAME);
    let files = [
        (beside.display().to_string(), beside),
        (own.clone(), home(D::package()).ok()?.join(own)),
    ];
    files
        .into_iter()
        .find_map(|(name, path)| Some((name, read_text(&path).ok()?)))
}

/// Returns the files that `<unit>.f` in `dir` lists, in its order.
///
/// # Errors
/// The same as of [`Rtl::of`]; the list has entries other than file names.
#[doc(hidden)]
pub fn files_of<D: Design>(dir: &Path) -> Result<Vec<PathBuf>, String> {
    let (sources, _) = sources::<D>(dir).map_err(|e| e.to_string())?;
    if !sources.list.is_plain() {
        let list = dir.join(format!("{}.f", D::NAME));
        return Err(format!(
            "{}: file: only a list of names of RTL files can be taken here, without options and C++ files",
            list.display()
        ));
    }
    Ok(sources.rtl())
}

/// Parses the declaration of `D`, with the probes of its own RTL.
///
/// # Errors
/// The first error in it.
#[doc(hidden)]
pub fn declared<D: Design>() -> Result<declaration::Declaration, declaration::Error> {
    declaration::Declaration::parse(&format!("{}/design.toml", D::NAME), D::DECLARATION.toml)
}

/// Returns the sources of the RTL in `dir`, with the bench top for it, and the fields that may change at the falling edge.
fn sources<D: Design>(dir: &Path) -> Result<(verilate::Sources, Vec<String>), Error> {
    let bad = |e: InputError| match e.is_of_the_machine() {
        false => verilate::Error::input(Path::new(&e.file), e.line, e.field, e.message),
        true => verilate::Error::Io {
            path: e.file.into(),
            source: std::io::Error::other(e.message),
        },
    };
    // Read the list first: a folder without one is not RTL, whatever else it contains.
    verilate::FileList::read(dir, &format!("{}.f", D::NAME))?;
    let declared = declared::<D>().map_err(|e| bad(e.into()))?;
    let (from, probes) = declared.probes_in(dir, read_text).map_err(bad)?;
    let falling = declared.falling(&probes);
    let bench = verilate::Bench {
        text: declared.bench_top(&probes),
        preloads: !probes.loads.is_empty(),
        from: from.file_name().unwrap_or_default().into(),
        assertions: probes.assertions.map(|a| a.file.into()),
        design: verilate::Module {
            name: declared.top.clone(),
            lanes: declared.lanes.as_ref().map(|l| l.parameter.clone()),
            ports: declared.ports(),
        },
        traced: declared.traced(),
    };
    let sources = verilate::Sources::of(D::NAME, &home(D::package())?, dir, bench)?;
    Ok((sources, falling))
}

/// Returns the files and folders that the RTL of `D` in `dir` names, and the files about it in that folder; empty if it names
/// none, or wrong ones.
#[doc(hidden)]
pub fn paths_of<D: Design>(dir: &Path) -> Vec<PathBuf> {
    let Ok(list) = verilate::FileList::read(dir, &format!("{}.f", D::NAME)) else {
        return Vec::new();
    };
    let about = ["design.toml".to_owned(), format!("{}_probe.toml", D::NAME)].map(PathBuf::from);
    let there = about.into_iter().filter(|name| dir.join(name).exists());
    let parts = [
        list.lists,
        list.verilog,
        list.code,
        list.include_dirs,
        list.library_dirs,
    ];
    let all = parts.into_iter().flatten().chain(there);
    all.map(|path| dir.join(path)).collect()
}

/// Returns `error` with places in the file of the probes of the RTL in `dir` instead of places in the bench top.
fn placed<D: Design>(dir: &Path, error: verilate::Error) -> verilate::Error {
    let message = match &error {
        verilate::Error::Refused(message) => {
            in_probes::<D>(dir, |probed| Some(probed.place(message)))
        }
        verilate::Error::Misfit(misfit) => in_probes::<D>(dir, |probed| {
            let place = probed.net(&misfit.name)?;
            Some(format!("{place}: {misfit}"))
        }),
        _ => None,
    };
    message.map_or(error, verilate::Error::Refused)
}

/// Returns what `find` finds in the probes of the RTL in `dir`.
fn in_probes<D: Design>(
    dir: &Path,
    find: impl FnOnce(&probed::Probed) -> Option<String>,
) -> Option<String> {
    let declared = declared::<D>().ok()?;
    let (file, probes) = declared.probes_in(dir, read_text).ok()?;
    find(&probed::Probed {
        bench: &declared.bench_top(&probes),
        name: &format!("{}_tb.sv", D::NAME),
        file: &file.to_string_lossy(),
        text: &read_text(&file).ok()?,
    })
}

/// Debug builds of this program build models faster; release builds build models that run a few percent faster.
const OPTIMISATION: u32 = if cfg!(debug_assertions) { 1 } else { 3 };

/// Returns the tools that build models; `project` is [`home`].
#[doc(hidden)]
pub fn tools(project: &Path) -> verilate::Tools {
    let target = env!("RECONVERGE_TARGET");
    let mut build = verilate::cc::Build::new();
    build.target(target).host(target).opt_level(OPTIMISATION);
    verilate::Tools::new(project, build, target)
}

/// Returns the ports of module `top` in the RTL of `list`, whose names are relative to `dir`, built with `parameters`.
///
/// # Errors
/// There is no Verilator, or it rejects the RTL.
#[doc(hidden)]
pub fn ports(
    dir: &Path,
    list: &verilate::FileList,
    top: &str,
    parameters: &[(&str, u32)],
) -> Result<Vec<verilate::Port>, verilate::Error> {
    verilate::ports(&tools(&home(None)?), dir, list, top, parameters)
}

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
}

/// The state before and after the falling edge of the clock, by what changed at that edge.
#[derive(Clone, Debug)]
pub struct Halves<U: Design> {
    /// The compared state, if it was as expected only after the edge.
    pub compared: Option<[U::State; 2]>,
    /// With the outputs that depend on the pins of the same cycle as they are in this cycle, which is compared next.
    pub next: Option<[U::State; 2]>,
}

/// One running model.
pub struct Dut<U: Design> {
    model: ffi::Model,
    state: U::State,
    seed: u32,
    counted: Arc<[PathBuf]>,
    /// Folder of the RTL; `None` for our own.
    dir: Option<PathBuf>,
    no_assert: bool,
    mutant: u32,
    falling: Arc<[String]>,
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
    /// Why they stopped: $stop, $fatal, $finish or a failed assertion.
    pub fn close(self) -> Result<(), String> {
        self.model.close()
    }

    /// Clocks the model once with `pins`. The bench top registers its inputs, so the returned state is the one after the
    /// PREVIOUS cycle; `expected`, the golden model's state after that same cycle, goes into an open dump. Once the RTL has
    /// stopped ([`Dut::stopped`]), the state no longer changes.
    pub fn clock(&mut self, pins: &U::In, expected: Option<&U::State>) -> &U::State {
        let expected = expected.map(bytes_of);
        if let Some(state) = self.model.clock(bytes_of(pins), expected, false) {
            bytes_of_mut(&mut self.state).copy_from_slice(state);
        }
        &self.state
    }

    /// Clocks the model like [`Dut::clock`] and compares the state, for the lock-step loop. Compares every byte, in the
    /// model's own memory.
    #[inline]
    pub fn check(&mut self, pins: &U::In, expected: &U::State) -> Check<'_, U> {
        let expected = bytes_of(expected);
        match self.model.clock(bytes_of(pins), Some(expected), true) {
            Some(state) if state == expected => Check::Agrees,
            Some(state) => {
                bytes_of_mut(&mut self.state).copy_from_slice(state);
                Check::Differs(&self.state)
            }
            None => self.halves().map_or(Check::Stopped, Check::Halves),
        }
    }

    /// Returns what changed at the falling edge of the last cycle.
    #[cold]
    fn halves(&self) -> Option<Halves<U>> {
        let copy = |state: &[u8]| {
            let mut copy = U::State::zeroed();
            bytes_of_mut(&mut copy).copy_from_slice(state);
            copy
        };
        let of = |now| self.model.halves(now).map(|halves| halves.map(copy));
        let (compared, next) = (of(false), of(true));
        (compared.is_some() || next.is_some()).then_some(Halves { compared, next })
    }

    /// Returns whether `field` may change at the falling edge of the clock.
    pub(crate) fn may_fall(&self, field: &str) -> bool {
        self.falling.iter().any(|name| name == field)
    }

    /// Returns how the RTL stopped the simulation ($stop, $fatal, $finish, a failed assertion, logic that does not settle),
    /// if it did. The model cannot be used any more then.
    pub fn stopped(&self) -> Option<String> {
        self.model.stopped()
    }

    /// Checks no assertion of the RTL from now on: after a failure, cycles that only complete a dump must not end it.
    pub(crate) fn no_assert(&mut self) {
        self.model.no_assert();
    }

    /// Returns whether a state can be loaded into the unit.
    pub fn preloads(&self) -> bool {
        self.model.preloads()
    }

    /// Loads `state` into the unit, except control registers and constants. The cycle before must have been stalled,
    /// because its pins are still in the bench top's registers. Does nothing if the RTL's probes name no registers to load:
    /// [`Dut::preloads`].
    pub fn load(&mut self, state: &U::State) {
        self.model.load(bytes_of(state));
    }

    /// Clocks the model through `pins` without comparing, for measurements. Returns a checksum of the states; `None` once
    /// the RTL has stopped.
    pub fn bare(&mut self, pins: &[U::In]) -> Option<u64> {
        self.model.bare(cast_slice(pins))
    }

    /// Opens a dump; it begins with the next cycle. It replaces a file or a link with this name.
    ///
    /// # Errors
    /// `path` cannot be written.
    pub fn open_vcd(&mut self, path: &Path) -> Result<(), String> {
        crate::wave::remove_old(path);
        self.model.open_vcd(path)
    }

    /// Closes the dump, if one is open. If a dump can no longer be written, it ends at once and the simulation continues
    /// without it; this call reports the error.
    ///
    /// # Errors
    /// The dump is incomplete; says what the operating system reported.
    pub fn close_vcd(&mut self) -> Result<(), String> {
        self.model.close_vcd()
    }

    /// Returns the coverage of the unit's RTL in this model since it was opened. Paths are relative to the project's
    /// folder. Empty unless the model counts ([`Make::counting`]).
    ///
    /// # Errors
    /// The counters cannot be read.
    pub fn coverage(&mut self) -> Result<RtlCoverage, String> {
        if self.counted.is_empty() {
            return Ok(RtlCoverage::default());
        }
        // The runtime can only write the counters to a file.
        let file = tempfile::NamedTempFile::new().map_err(|e| format!("temporary file: {e}"))?;
        self.model.write_coverage(file.path())?;
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
        let own = home.join("rtl").join(U::NAME);
        let dir = self.dir.as_deref().unwrap_or(&own);
        Ok(coverage.within(&self.counted, dir, &home))
    }

    /// Returns the bench top's own comparison of the last cycle, one bit per field. Valid only while a dump is open.
    pub fn mismatch(&self) -> u64 {
        self.model.mismatch()
    }
}
