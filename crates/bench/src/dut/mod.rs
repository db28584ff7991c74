//! The unit under test: RTL compiled by Verilator, clocked from Rust.

mod ffi;

#[doc(hidden)]
pub use ffi::{Api, Linked};

use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use bytemuck::{Zeroable, bytes_of, bytes_of_mut, cast_slice};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::design::Build;
use crate::design::Design;
use crate::home::{home, own_rtl};
use crate::input::InputError;
use crate::lcov::RtlCoverage;

/// Why there is no RTL to be opened.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// It cannot be built.
    #[error(transparent)]
    Build(#[from] verilate::Error),
    /// What was built cannot be loaded.
    #[error("{0}")]
    Load(String),
}

impl Error {
    /// It as bad input, if that is what it is: of the RTL in `dir`, or of the variable that names the cache.
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

/// Which RTL, and how it is to be built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Make {
    /// A folder with `<unit>.f` and `<unit>_probe.toml`, and a module with the name and the ports of ours; `None`: our own RTL.
    pub dir: Option<PathBuf>,
    /// Models check SystemVerilog assertions. A failed one stops the simulation ([`Dut::stopped`]).
    pub assertions: bool,
    /// Models count what of the RTL is executed ([`Dut::coverage`]), and are slower.
    pub counting: bool,
}

impl Make {
    /// The RTL in `dir` with its assertions; our own as it is linked in, which is with them in debug builds.
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
        library: Arc<verilate::Library>,
        loaded: Arc<OnceLock<Result<ffi::Source, String>>>,
    },
}

/// RTL that has been built, to be opened by another process of this program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Built {
    build: Build,
    make: Make,
    mutant: u32,
    contents: String,
    /// The library and its SHA-256; `None`: it is linked in.
    library: Option<(PathBuf, String)>,
    preloads: bool,
    counted: Vec<PathBuf>,
}

impl<U: Design> Rtl<U> {
    /// Our own RTL, by lanes or with further parameters: linked in for the usual ones, built on first use
    /// for others.
    ///
    /// # Errors
    /// Uncommon parameters without Verilator or without the project's sources at hand.
    pub fn own(build: impl Into<Build>) -> Result<Self, Error> {
        Self::make(build, &Make::of(None))
    }

    /// The RTL in `dir` with its assertions, built on first use and then found by its contents.
    ///
    /// # Errors
    /// What is missing in `dir`, or what Verilator or the C++ compiler said.
    pub fn of(build: impl Into<Build>, dir: &Path) -> Result<Self, Error> {
        Self::make(build, &Make::of(Some(dir)))
    }

    /// The RTL that `make` says, built on first use and then found by its contents.
    ///
    /// # Errors
    /// As [`Rtl::of`].
    pub fn make(build: impl Into<Build>, make: &Make) -> Result<Self, Error> {
        let build = build.into();
        if let Some(rtl) = Self::linked(&build, make) {
            return Ok(rtl);
        }
        let project = home(U::package())?;
        let dir = match &make.dir {
            Some(dir) => dir.clone(),
            None => own_rtl::<U>()?,
        };
        let dir = dir.as_path();
        let sources = sources::<U>(dir)?;
        let job = verilate::Job {
            sources: &sources,
            lanes: build.lanes,
            parameters: build.parameters.clone().into_iter().collect(),
            counting: make.counting,
            assertions: make.assertions,
        };
        let store = verilate::Store::of_user()?;
        let store = match U::package() {
            // Its build script has built the runtime already.
            Some(package) => store.beside(Path::new(package.built)),
            None => store,
        };
        let library = job.library(&tools(&project), &store)?;
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
        ))
    }

    /// A model that this program has in it.
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
            mutant: 0,
            unit: PhantomData,
        }
    }

    /// The same RTL with other lanes and parameters.
    ///
    /// # Errors
    /// As [`Rtl::of`].
    pub fn rebuilt(&self, build: impl Into<Build>) -> Result<Self, Error> {
        Ok(Self::make(build, &self.make)?.mutant(self.mutant))
    }

    /// What [`Rtl::built`] of another process stands for.
    ///
    /// # Errors
    /// The library is gone or is not the one that was built; it was linked into a program that is not this one.
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
                    ..
                } = built;
                Self::library(build, make, library, preloads, counted)
            }
        };
        Ok(rtl.mutant(mutant))
    }

    /// For other processes: nothing has to be built again, and what is opened is what was built, whatever
    /// has become of the sources. The model stays in the cache as long as this `Rtl` lives.
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
        }
    }

    /// What Verilator warned of in the RTL when it was built; of our own that is linked in nothing.
    pub fn warnings(&self) -> &str {
        match &self.source {
            Source::Linked(_) => "",
            Source::Library { library, .. } => &library.warnings,
        }
    }

    /// Whether its models can be put into a state ([`Dut::load`]).
    pub fn preloads(&self) -> bool {
        self.preloads
    }

    /// Hash of every file of RTL and bench that was read: equal contents, equal hash, wherever they lie.
    pub fn contents(&self) -> &str {
        &self.contents
    }

    /// Whether its models check SystemVerilog assertions. A failed one stops the simulation ([`Dut::stopped`]).
    pub fn assertions(&self) -> bool {
        self.make.assertions
    }

    /// Whether its models do not check assertions although they do as [`Make::of`] has them: `Case::no_assert`.
    pub fn no_assert(&self) -> bool {
        Make::of(self.make.dir.as_deref()).assertions && !self.make.assertions
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
    /// The library cannot be loaded; the bench top was built for other structs than this crate's; no memory for a model.
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
            counted: self.counted.clone(),
            dir: self.make.dir.clone(),
        })
    }
}

/// Returns what proofs may use of the RTL of `D` in `dir`, and the file that says it: `<design>_formal.sv` there, or
/// `tb/formal/<design>.sv` of its package.
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
        .find_map(|(name, path)| Some((name, std::fs::read_to_string(path).ok()?)))
}

/// Returns the files that `<unit>.f` in `dir` names, in its order.
///
/// # Errors
/// As [`Rtl::of`]; a list that says more than names of files.
#[doc(hidden)]
pub fn files_of<D: Design>(dir: &Path) -> Result<Vec<PathBuf>, String> {
    let sources = sources::<D>(dir).map_err(|e| e.to_string())?;
    if !sources.list.is_plain() {
        let list = dir.join(format!("{}.f", D::NAME));
        return Err(format!(
            "{}: file: only a list of names of RTL files can be taken here, without options and C++ files",
            list.display()
        ));
    }
    Ok(sources.rtl())
}

/// Reads what the declaration of `D` says, with the probes of its own RTL.
///
/// # Errors
/// The first thing that is wrong with it.
#[doc(hidden)]
pub fn declared<D: Design>() -> Result<declaration::Declaration, declaration::Error> {
    declaration::Declaration::parse(&format!("{}/design.toml", D::NAME), D::DECLARATION.toml)
}

/// The RTL in `dir`, with the bench top for it.
fn sources<D: Design>(dir: &Path) -> Result<verilate::Sources, Error> {
    let bad = |e: declaration::Error| {
        verilate::Error::input(Path::new(&e.file), e.line, e.field, e.message)
    };
    // The list first: a folder without one is no RTL, whatever else it has.
    verilate::FileList::read(dir, &format!("{}.f", D::NAME))?;
    let declared = declared::<D>().map_err(bad)?;
    let (from, probes) = declared.probes_in(dir).map_err(bad)?;
    let bench = verilate::Bench {
        text: declared.bench_top(&probes),
        preloads: !probes.loads.is_empty(),
        from: from.file_name().unwrap_or_default().into(),
        assertions: probes.assertions.map(|a| a.file.into()),
    };
    Ok(verilate::Sources::of(
        D::NAME,
        &home(D::package())?,
        dir,
        bench,
    )?)
}

/// Debug builds of this program build models sooner, release builds models that run faster: by a few percent.
const OPTIMISATION: u32 = if cfg!(debug_assertions) { 1 } else { 3 };

/// Returns what builds models; `project` is [`home`].
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
/// There is no Verilator, or it does not take the RTL.
#[doc(hidden)]
pub fn ports(
    dir: &Path,
    list: &verilate::FileList,
    top: &str,
    parameters: &[(&str, u32)],
) -> Result<Vec<verilate::Port>, verilate::Error> {
    verilate::ports(&tools(&home(None)?), dir, list, top, parameters)
}

/// What a compared clock brought.
#[derive(Debug)]
pub enum Check<'a, U: Design> {
    /// Every bit is as expected.
    Agrees,
    /// The unit's state, which is not as expected.
    Differs(&'a U::State),
    /// The RTL stopped the simulation.
    Stopped,
}

/// One running model.
pub struct Dut<U: Design> {
    model: ffi::Model,
    state: U::State,
    counted: Arc<[PathBuf]>,
    /// Folder of the RTL; `None`: our own.
    dir: Option<PathBuf>,
}

impl<U: Design> Dut<U> {
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

    /// Whether the unit can be put into a state.
    pub fn preloads(&self) -> bool {
        self.model.preloads()
    }

    /// Puts the unit into `state`, control registers and constants excepted. The clock before it must
    /// have been a stalled one, for it is still in the bench top's registers.
    /// It does nothing if the RTL's probes name no registers to load: [`Dut::preloads`].
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
    /// nothing, unless it counts ([`Make::counting`]).
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
        let coverage = RtlCoverage::parse(&text, &shown)?;
        let home = home(U::package()).map_err(|e| e.to_string())?;
        let own = home.join("rtl").join(U::NAME);
        let dir = self.dir.as_deref().unwrap_or(&own);
        Ok(coverage.within(&self.counted, dir, &home))
    }

    /// The bench top's own comparison of the last clock, one bit a field; only while a dump is open.
    pub fn mismatch(&self) -> u64 {
        self.model.mismatch()
    }
}
