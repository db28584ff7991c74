//! The unit under test: RTL compiled by Verilator, clocked from Rust.

mod ffi;
mod host;
mod probed;
#[doc(hidden)]
pub mod process;
mod repeats;
mod running;
mod warned;

#[doc(hidden)]
pub use ffi::{Api, Linked};
pub use running::{Check, Dut, Ended, Halves};

use std::collections::BTreeSet;
use std::io::Write as _;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use bytemuck::Zeroable;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::design::Build;
use crate::design::Design;
use crate::home::{home, own_rtl, shim};
use crate::input::{InputError, read_text};
pub(crate) use host::used;
use host::{Hosts, Shape};
use running::Model;

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
            (
                Error::Build(verilate::Error::Input {
                    file,
                    line,
                    field,
                    message,
                }),
                Some(_),
            ) => {
                let file = file.to_string_lossy();
                Some(InputError::new(file, *line, field.clone(), message))
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

/// What RTL in a process of its own may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// A case fails as hung if the RTL makes no progress for this many seconds; 1 at least.
    pub seconds: u64,
    /// Memory of each process in megabytes, 64 at least; 0: no limit.
    pub megabytes: u64,
}

impl Default for Limits {
    /// Returns the limits that the command has without `--timeout` and `--memory`.
    fn default() -> Self {
        Limits {
            seconds: 60,
            megabytes: 4096,
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
    limits: Limits,
    unit: PhantomData<fn() -> U>,
}

/// Where models come from.
#[derive(Clone)]
enum Source {
    Linked(ffi::Source),
    /// A library, loaded when the first model is opened, because loading it runs code that came with the RTL. This process
    /// runs it: it was started for that by the one that built the library.
    Here {
        library: Arc<verilate::Library>,
        loaded: Arc<OnceLock<Result<ffi::Source, String>>>,
    },
    /// A library that other processes run, because its RTL may end them.
    Hosted(Arc<Hosts>),
}

impl Source {
    fn library(&self) -> Option<&verilate::Library> {
        match self {
            Source::Linked(_) => None,
            Source::Here { library, .. } => Some(library),
            Source::Hosted(hosts) => Some(&hosts.library),
        }
    }
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
    /// The model has to be compiled, and Verilator, the C++ compiler or the sources are missing.
    pub fn own(build: impl Into<Build>) -> Result<Self, Error> {
        Self::make(build, &Make::of(None))
    }

    /// Returns the RTL in `dir` with its assertions, compiled by this call unless the cache has a model of the same sources. Prints
    /// Verilator's warnings about it on standard error, once ([`Rtl::warned`]).
    ///
    /// # Errors
    /// A file is missing in `dir`; the message of Verilator or of the C++ compiler.
    pub fn of(build: impl Into<Build>, dir: &Path) -> Result<Self, Error> {
        let rtl = Self::make(build, &Make::of(Some(dir)))?;
        if let Some(warnings) = rtl.warned() {
            // Not by a macro, whose output a test keeps back if it passes.
            let _ = writeln!(std::io::stderr(), "{warnings}");
        }
        Ok(rtl)
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
        let home = home(U::package())?;
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
        let library = job.library(&tools(&home), &store);
        let library = library.map_err(|e| placed::<U>(dir, e))?;
        let counted = match make.counting {
            true => sources.rtl(),
            false => Vec::new(),
        };
        let shape = Shape {
            lanes: build.lanes,
            input: size_of::<U::In>(),
            state: size_of::<U::State>(),
        };
        let limits = Limits::default();
        Ok(Rtl {
            preloads: sources.preloads(),
            contents: library.contents.clone(),
            source: Source::Hosted(Arc::new(Hosts::new(
                Arc::new(library),
                shape,
                limits,
                U::package(),
            ))),
            build,
            make: make.clone(),
            counted: counted.into(),
            falling: falling.into(),
            mutant: 0,
            limits,
            unit: PhantomData,
        })
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
            limits: Limits::default(),
            unit: PhantomData,
        })
    }

    /// Returns the same RTL with other lanes and parameters.
    ///
    /// # Errors
    /// The same as of [`Rtl::of`].
    pub fn rebuilt(&self, build: impl Into<Build>) -> Result<Self, Error> {
        let rtl = Self::make(build, &self.make)?;
        Ok(rtl.mutant(self.mutant).limits(self.limits))
    }

    /// Returns the RTL from [`Rtl::built`] of another process. Its models run in this process, so that the other one must be
    /// prepared for its end.
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
                Rtl {
                    build,
                    make,
                    preloads,
                    contents: library.contents.clone(),
                    source: Source::Here {
                        library: Arc::new(library),
                        loaded: Arc::default(),
                    },
                    counted: counted.into(),
                    falling: falling.into(),
                    mutant,
                    limits: Limits::default(),
                    unit: PhantomData,
                }
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
            library: self
                .source
                .library()
                .map(|library| (library.path.clone(), library.digest.clone())),
            preloads: self.preloads,
            counted: self.counted.to_vec(),
            falling: self.falling.to_vec(),
        }
    }

    /// Returns Verilator's warnings about the RTL from the build; empty for our own linked RTL.
    pub fn warnings(&self) -> &str {
        let library = self.source.library();
        library.map_or("", |library| &library.warnings)
    }

    /// Returns Verilator's warnings, ten at most, as they are shown to the user, whether the model was built now or before. `None` if
    /// there are none, or if this process has had the same warnings before.
    pub fn warned(&self) -> Option<String> {
        warned::warned(self.warnings(), self.make.dir.as_deref())
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

    /// Returns the same RTL with other limits. They bound models that are built at run time: those of a linked model run in this
    /// process.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        if let Source::Hosted(hosts) = &self.source {
            let library = Arc::clone(&hosts.library);
            let hosts = Hosts::new(library, hosts.shape, limits, hosts.package);
            self.source = Source::Hosted(Arc::new(hosts));
        }
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

    /// Opens a model after power-up; from `seed` it draws the registers that reset does not reach, and the values for X. A model
    /// that was built at run time runs in a process of its own, with these [`Limits`], except after [`Rtl::from_built`].
    ///
    /// # Errors
    /// The library cannot be loaded; the bench top was built for other structs than this crate's; memory is short. If the RTL ends
    /// the process, that is not an error here: the first cycle reports it ([`Dut::lost`]).
    pub fn open(&self, seed: u32) -> Result<Dut<U>, String> {
        let drawn = verilator_seed(seed.max(1));
        let here = |source: &ffi::Source| {
            let (input, state) = (size_of::<U::In>(), size_of::<U::State>());
            let lanes = self.build.lanes;
            ffi::Model::new(source, lanes, input, state, drawn, self.mutant).map(Model::Here)
        };
        let model = match &self.source {
            Source::Linked(source) => here(source)?,
            Source::Here { library, loaded } => {
                let source = loaded.get_or_init(|| ffi::Source::open(library));
                here(source.as_ref().map_err(Clone::clone)?)?
            }
            Source::Hosted(hosts) => Model::Hosted(Box::new(hosts.open(drawn, self.mutant)?)),
        };
        Ok(Dut {
            model,
            state: U::State::zeroed(),
            seed,
            preloads: self.preloads,
            counted: self.counted.clone(),
            dir: self.make.dir.clone(),
            no_assert: self.no_assert(),
            mutant: self.mutant,
            falling: self.falling.clone(),
        })
    }
}

/// Returns the number that Verilator gets for `seed`, another one for each and never 0: what it draws first for small numbers is
/// nearly the same. This is the last step of MurmurHash3.
#[doc(hidden)]
pub fn verilator_seed(seed: u32) -> u32 {
    let once = (seed ^ seed >> 16).wrapping_mul(0x85eb_ca6b);
    let twice = (once ^ once >> 13).wrapping_mul(0xc2b2_ae35);
    twice ^ twice >> 16
}

/// Returns the path and the text of `<design>_formal.sv`, which says what proofs may use of the RTL of `D` in `dir`: the file there
/// or, if there is none, the one of its package.
#[doc(hidden)]
pub fn formal_of<D: Design>(dir: &Path) -> Option<(String, String)> {
    let own = D::package().and_then(|_| own_rtl::<D>().ok());
    [Some(dir.to_owned()), own]
        .into_iter()
        .flatten()
        .find_map(|dir| {
            let path = dir.join(format!("{}_formal.sv", D::NAME));
            let text = read_text(&path).ok()?;
            Some((path.display().to_string(), text))
        })
}

/// Names of files, and their texts.
type Texts = Vec<(String, String)>;

/// Returns the files that `<unit>.f` in `dir` lists, in its order, and the name and text of each. If the list has options, two files have
/// one name, or a file includes another, it is one text: what Verilator's preprocessor makes of them.
///
/// # Errors
/// The same as of [`Rtl::of`]; a file cannot be read; the list names C++ files.
#[doc(hidden)]
pub fn texts_of<D: Design>(dir: &Path) -> Result<(Vec<PathBuf>, Texts), InputError> {
    let bad = |why: &dyn std::fmt::Display| {
        InputError::new(dir.to_string_lossy(), 0, "rtl", why.to_string())
    };
    let (sources, _) = sources::<D>(dir).map_err(|why| bad(&why))?;
    let files = sources.rtl();
    if sources.list.is_plain() {
        let named = |file: &PathBuf| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            Ok((name.into_owned(), read_text(file)?))
        };
        let texts = files.iter().map(named);
        let texts = texts.collect::<Result<Texts, InputError>>()?;
        let names: BTreeSet<&str> = texts.iter().map(|(name, _)| name.as_str()).collect();
        let includes = texts.iter().any(|(_, text)| text.contains("`include"));
        if names.len() == texts.len() && !includes {
            return Ok((files, texts));
        }
    }
    if !sources.list.code.is_empty() {
        let list = dir.join(format!("{}.f", D::NAME)).display().to_string();
        let why = "C++ files cannot be taken here";
        return Err(InputError::new(list, 0, "file", why));
    }
    let home = home(D::package()).map_err(|why| bad(&why))?;
    let text = verilate::preprocessed(&tools(&home), &sources).map_err(|why| bad(&why))?;
    Ok((files, vec![(format!("{}.sv", D::NAME), text)]))
}

/// Parses the declaration of `D`, with the probes of its own RTL.
///
/// # Errors
/// The first error in it.
#[doc(hidden)]
pub fn declared<D: Design>()
-> Result<reconverge_declaration::Declaration, reconverge_declaration::Error> {
    reconverge_declaration::Declaration::parse(
        &format!("{}/design.toml", D::NAME),
        D::DECLARATION.toml,
    )
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
    let list = format!("{}.f", D::NAME);
    if !dir.join(&list).exists() {
        let there = dir.read_dir().into_iter().flatten().flatten();
        let lists = there.filter(|file| file.path().extension().is_some_and(|e| e == "f"));
        let other = lists.map(|file| file.file_name()).min();
        let other = other.map_or_else(String::new, |other| {
            format!("; this one has {}", other.to_string_lossy())
        });
        let why = format!(
            "there is no such file; a folder with RTL of {0} has {list}, which lists its files, and {0}_probe.toml or design.toml{other}",
            D::NAME
        );
        return Err(verilate::Error::input(&dir.join(&list), 0, "file", why).into());
    }
    verilate::FileList::read(dir, &list)?;
    let declared = declared::<D>().map_err(|e| bad(e.into()))?;
    let (from, probes) = declared
        .probes_in(dir, D::DECLARATION.toml, read_text)
        .map_err(bad)?;
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
    let sources = verilate::Sources::of(D::NAME, &shim(&home(D::package())?), dir, bench)?;
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
    let (file, probes) = declared
        .probes_in(dir, D::DECLARATION.toml, read_text)
        .ok()?;
    find(&probed::Probed {
        bench: &declared.bench_top(&probes),
        name: &format!("{}_tb.sv", D::NAME),
        file: &file.to_string_lossy(),
        text: &read_text(&file).ok()?,
    })
}

/// Debug builds of this program build models faster; release builds build models that run a few percent faster.
const OPTIMISATION: u32 = if cfg!(debug_assertions) { 1 } else { 3 };

/// Returns the tools that build models; `home` is [`home()`].
#[doc(hidden)]
pub fn tools(home: &Path) -> verilate::Tools {
    let target = env!("RECONVERGE_TARGET");
    let mut build = verilate::cc::Build::new();
    build.target(target).host(target).opt_level(OPTIMISATION);
    verilate::Tools::new(home, build, target)
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

/// Returns Verilator's tree of module `top` and of what it needs, as [`ports`] reads them.
///
/// # Errors
/// There is no Verilator, or it rejects the RTL.
#[doc(hidden)]
pub fn tree(
    dir: &Path,
    list: &verilate::FileList,
    top: &str,
    parameters: &[(&str, u32)],
) -> Result<String, verilate::Error> {
    verilate::tree(&tools(&home(None)?), dir, list, top, parameters)
}

/// Returns when registers and outputs of module `top`, and of the modules below it, change.
///
/// # Errors
/// There is no Verilator, or it rejects the RTL.
#[doc(hidden)]
pub fn timing(
    dir: &Path,
    list: &verilate::FileList,
    top: &str,
    parameters: &[(&str, u32)],
) -> Result<verilate::Timing, verilate::Error> {
    verilate::timing(&tools(&home(None)?), dir, list, top, parameters)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first two values that `vl_rand64` of Verilator's runtime draws for a seed.
    fn first(seed: u32) -> [u64; 2] {
        let state = u64::from(seed) << 32 ^ seed as i32 as u64;
        let state = match state.count_ones() < 10 {
            true => !state,
            false => state,
        };
        [state.wrapping_mul(2), state.rotate_left(55)]
    }

    #[test]
    fn what_verilator_draws_first_differs_between_small_seeds() {
        let bits = |a: u32, b: u32| {
            let both = first(a).into_iter().zip(first(b));
            both.map(|(a, b)| (a ^ b).count_ones()).min().unwrap_or(0)
        };
        for (a, b) in [(1, 3), (1, 5), (3, 5), (1, 2), (2, 4)] {
            assert!(bits(a, b) < 5, "the seeds themselves");
            let mixed = bits(verilator_seed(a), verilator_seed(b));
            assert!(mixed > 15, "seeds {a} and {b}: {mixed} bits of 64");
        }
        assert_ne!(verilator_seed(1), 0);
    }
}
