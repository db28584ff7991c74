//! From sources to a model: runs Verilator, compiles, and keeps the result.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::compiler::{Compiler, environment};
use crate::error::{Error, io};
use crate::filelist::takes;
use crate::files::{Digest, Hasher, Snapshot, digest_of, hex};
use crate::limit;
use crate::manifest::{Manifest, Output, Roots, SourcePath, Tool};
use crate::sources::{Sources, plain};
use crate::store::{self, Entry, Limits, Store, Work};
use crate::verilator::{Candidate, Verilator, candidates, warnings};

mod fit;
mod shared;
use shared::{HEADER, archive_in, headers, runtime};
pub use shared::{Host, archive_of_runtime, host};

/// Name of the archive with Verilator's own runtime.
pub const RUNTIME: &str = "rcv_verilated";

/// File with Verilator's warnings in the entry of a model.
const WARNINGS: &str = "warnings.txt";

/// Most attempts at a build whose sources change meanwhile.
const TRIES: u32 = 3;

/// Most rounds in which sources may turn out to read further files; then they count as changing.
const ROUNDS: u32 = 8;

/// The sources of this crate that determine a result, because the result depends on them.
const HOW: [&[u8]; 8] = [
    include_bytes!("compiler.rs"),
    include_bytes!("filelist.rs"),
    include_bytes!("interface.rs"),
    include_bytes!("model.rs"),
    include_bytes!("model/fit.rs"),
    include_bytes!("model/shared.rs"),
    include_bytes!("sources.rs"),
    include_bytes!("verilator.rs"),
];

/// One model to build.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// The files of the model.
    pub sources: &'a Sources,
    /// Parameter `LANES`.
    pub lanes: u32,
    /// Further parameters and their values.
    pub parameters: Vec<(String, u32)>,
    /// The model counts lines, branches and changes of bits.
    pub counting: bool,
    /// The model checks SystemVerilog assertions.
    pub assertions: bool,
}

/// A model as a shared library; the store keeps the file as long as this value exists.
#[derive(Debug)]
pub struct Library {
    /// The library.
    pub path: PathBuf,
    /// Name of the model's function table in it.
    pub symbol: String,
    /// Its SHA-256, in hexadecimal.
    pub digest: String,
    /// Hash of the contents of everything that the model was made from. It is the same for the same RTL and bench, in any
    /// folder and with any compiler.
    pub contents: String,
    /// Verilator's warnings about the RTL; empty if there are none.
    pub warnings: String,
    _entry: Entry,
}

/// An archive to be linked.
#[derive(Debug)]
pub struct Archive {
    /// Folder of `lib<name>.a`.
    pub dir: PathBuf,
    /// The same hash as [`Library::contents`].
    pub contents: String,
    /// All files that it was made from; a change in one of them changes the archive.
    pub files: Vec<PathBuf>,
}

/// The programs that build models.
#[derive(Clone, Debug)]
pub struct Tools {
    build: cc::Build,
    target: String,
    verilators: Vec<Candidate>,
    /// What identifies them without running any.
    key: Vec<Vec<u8>>,
}

impl Tools {
    /// Selects the Verilator of `$VERILATOR`, of the project's own folder `.tools`, or in `PATH`, and the compiler of
    /// `build` for `target`. The flags of `build` are used for every file.
    pub fn new(project: &Path, build: cc::Build, target: &str) -> Self {
        let verilators = candidates(project);
        let mut key: Vec<Vec<u8>> = HOW.iter().map(|source| source.to_vec()).collect();
        key.push(target.into());
        key.push(format!("{build:?}").into_bytes());
        for (name, value) in environment() {
            key.push(name.into_encoded_bytes());
            key.push(value.into_encoded_bytes());
        }
        for program in verilators.iter().flatten() {
            // A link to a program is the same program.
            let program = program.canonicalize().unwrap_or_else(|_| program.clone());
            key.push(program.into_os_string().into_encoded_bytes());
        }
        Tools {
            build,
            target: target.to_owned(),
            verilators,
            key,
        }
    }

    /// Returns the path of the Verilator that is used, and its version.
    ///
    /// # Errors
    /// No usable Verilator was found.
    pub fn verilator_found(&self) -> Result<(PathBuf, String), Error> {
        let found = self.verilator()?;
        Ok((found.program, found.version))
    }

    /// Returns the path of the C++ compiler that is used, and the first line of its version output.
    ///
    /// # Errors
    /// No compiler was found.
    pub fn compiler_found(&self) -> Result<(PathBuf, String), Error> {
        let scratch = tempfile::tempdir().map_err(io(Path::new("a temporary folder")))?;
        let compiler = self.compiler(scratch.path(), |_| {})?;
        let program = compiler.programs().into_iter().next().unwrap_or_default();
        let said = Command::new(&program).arg("--version").output();
        let said = said.map_err(io(&program))?;
        let said = String::from_utf8_lossy(&said.stdout);
        Ok((program, said.lines().next().unwrap_or_default().to_owned()))
    }

    /// Returns whether there is a program that may be Verilator, even if it cannot be used.
    pub fn names_verilator(&self) -> bool {
        !self.verilators.is_empty()
    }

    pub(crate) fn verilator(&self) -> Result<Verilator, Error> {
        Verilator::find(&self.verilators)
    }

    /// Returns the libraries with which a program with models must be linked, other than [`RUNTIME`]. `scratch` is a folder
    /// for trial files.
    ///
    /// # Errors
    /// No compiler was found.
    pub fn libraries(&self, scratch: &Path) -> Result<Vec<&'static str>, Error> {
        let compiler = self.compiler(scratch, |_| {})?;
        let standard = match self.target.contains("apple") {
            true => "c++",
            false => "stdc++",
        };
        let atomic = compiler.needs_atomic().then_some("atomic");
        Ok([standard].into_iter().chain(atomic).collect())
    }

    /// Returns the C++ compiler with the flags that `more` adds.
    fn compiler(&self, out: &Path, more: impl FnOnce(&mut cc::Build)) -> Result<Compiler, Error> {
        let mut build = self.build.clone();
        build.cpp(true).std("c++17").out_dir(out);
        more(&mut build);
        Compiler::new(build, &self.target)
    }

    /// Returns the C++ compiler for files that include Verilator's headers.
    fn of_verilator(
        &self,
        tool: &Verilator,
        out: &Path,
        counting: bool,
        more: impl FnOnce(&mut cc::Build),
    ) -> Result<Compiler, Error> {
        self.compiler(out, |build| {
            build
                .include(&tool.include)
                .include(tool.include.join("vltstd"))
                .define("VM_COVERAGE", if counting { "1" } else { "0" })
                .define("VM_SC", "0")
                .define("VM_TRACE", "1")
                .define("VM_TRACE_FST", "0")
                .define("VM_TRACE_VCD", "1");
            more(build);
        })
    }
}

impl Job<'_> {
    /// Returns the exported name of the model's function table, which is also the name of its archive and library.
    pub fn symbol(&self) -> String {
        let mut symbol = format!("{}{}_{}", store::MODEL, self.sources.unit, self.lanes);
        for (name, value) in &self.parameters {
            let _ = write!(symbol, "_{name}{value}");
        }
        if self.counting {
            symbol += "_counting";
        }
        symbol
    }

    /// Returns the features that the model reports: `RCV_ASSERTIONS`, `RCV_COUNTING` and `RCV_PRELOADS` of `shim/shim.h`.
    fn features(&self) -> u32 {
        u32::from(self.assertions)
            | u32::from(self.counting) << 1
            | u32::from(self.sources.bench.preloads) << 2
    }

    /// Returns all parameters in the form of the command line, such as `LANES=16`.
    fn values(&self) -> Vec<String> {
        let further = self.parameters.iter().map(|(n, v)| format!("{n}={v}"));
        std::iter::once(format!("LANES={}", self.lanes))
            .chain(further)
            .collect()
    }

    fn key(&self) -> Vec<Vec<u8>> {
        let mut key = vec![self.sources.unit.clone().into_bytes()];
        key.extend(self.values().into_iter().map(String::into_bytes));
        key.push(self.features().to_string().into_bytes());
        key.push(self.sources.bench.text.clone().into_bytes());
        key
    }
}

// ---- what is built once -------------------------------------------------------------------------------

/// The outputs of a build, and what they depend on.
#[derive(Default)]
struct Made {
    /// Names of the files to keep.
    outputs: Vec<String>,
    tools: BTreeSet<Tool>,
    /// Sources found by a search; other files would replace them if they existed.
    found: Vec<PathBuf>,
}

impl Made {
    /// Records programs and headers that were used.
    fn used(&mut self, files: impl IntoIterator<Item = PathBuf>) -> Result<(), Error> {
        for file in files {
            let gone = || Error::Tool(format!("{}: it was used and is gone", file.display()));
            self.tools.insert(Tool::of(&file).ok_or_else(gone)?);
        }
        Ok(())
    }
}

/// A build: its name, its inputs as far as known in advance, and how to run it.
struct Recipe<'a> {
    name: String,
    /// Settings.
    key: Vec<Vec<u8>>,
    roots: Roots,
    /// Files known in advance to be read.
    listed: Vec<PathBuf>,
    /// Fills a folder. Adds each file to the snapshot before reading it.
    build: &'a dyn Fn(&Work, &mut Snapshot) -> Result<Made, Error>,
    /// Returns the files that would be read instead of the given one if they existed.
    shadows: &'a dyn Fn(&Path) -> Vec<PathBuf>,
}

impl Recipe<'_> {
    /// Returns the first part of its entries' names: a hash of settings and listed files.
    fn prefix(&self, mut digest: impl FnMut(&Path) -> Option<Digest>) -> String {
        let mut hash = Hasher::default();
        for part in &self.key {
            hash.part(part);
        }
        for path in &self.listed {
            let place = SourcePath::of(path, &self.roots);
            hash.part(format!("{place:?}"));
            hash.part(digest(path).map_or_else(String::new, |d| hex(&d)));
        }
        format!("{}-{}-", self.name, hash.name())
    }

    /// Returns the entry in `store`; builds it first if necessary.
    fn entry(&self, store: &Store) -> Result<Entry, Error> {
        // Each file is read once for all entries that list it.
        let mut known: BTreeMap<PathBuf, Option<Digest>> = BTreeMap::new();
        let mut digest = |path: &Path| {
            *known
                .entry(path.to_owned())
                .or_insert_with(|| digest_of(path).ok())
        };
        let prefix = self.prefix(&mut digest);
        let found = store.find(&prefix, |m| m.is_up_to_date(&self.roots, &mut digest))?;
        if let Some(entry) = found {
            return Ok(entry);
        }
        let mut changing = PathBuf::new();
        for _ in 0..TRIES {
            let work = store.begin()?;
            let mut snapshot = Snapshot::default();
            for path in &self.listed {
                snapshot.add(path)?;
            }
            let built = (self.build)(&work, &mut snapshot);
            if let Some(path) = snapshot.changed()? {
                // Discard the result, even an error of the compiler.
                changing = path.to_owned();
                continue;
            }
            let made = match built {
                Err(Error::Changing(path)) => {
                    changing = path;
                    continue;
                }
                other => other?,
            };
            let manifest = self.manifest(&work, &snapshot, made)?;
            let prefix = self.prefix(|path| snapshot.digest(path));
            let name = prefix + &manifest.key();
            let entry = store.publish(work, &name, &manifest)?;
            // Occasionally delete old entries; ignore an error.
            let _ = store.prune(&Limits::default());
            return Ok(entry);
        }
        Err(Error::Changing(changing))
    }

    fn manifest(&self, work: &Work, snapshot: &Snapshot, made: Made) -> Result<Manifest, Error> {
        let outputs = made.outputs.iter();
        let outputs: Result<_, Error> = outputs.map(|name| Output::of(work.path(), name)).collect();
        let mut sources = BTreeMap::new();
        for (path, digest) in snapshot.files() {
            let place = SourcePath::of(path, &self.roots);
            takes(place.kept()).map_err(|why| Error::input(path, 0, "file", why))?;
            sources.insert(place, digest.map(|digest| hex(&digest)));
        }
        for path in made.found.iter().flat_map(|path| (self.shadows)(path)) {
            if !path.exists() {
                sources
                    .entry(SourcePath::of(&path, &self.roots))
                    .or_insert(None);
            }
        }
        Ok(Manifest {
            outputs: outputs?,
            sources: sources.into_iter().collect(),
            tools: made.tools.into_iter().collect(),
        })
    }
}

// ---- models -------------------------------------------------------------------------------------------

/// Joins objects to the outputs of an entry, in a folder.
type Join<'a> = &'a dyn Fn(&Compiler, &[PathBuf], &Path, &mut Made) -> Result<(), Error>;

impl Job<'_> {
    /// Builds the model as an archive `lib<symbol>.a`. The runtime is a separate archive ([`archive_of_runtime`]).
    ///
    /// # Errors
    /// Errors in the sources, the tools or the store.
    pub fn archive(&self, tools: &Tools, store: &Store) -> Result<Archive, Error> {
        let symbol = self.symbol();
        let entry = self.entry("archive", tools, store, &|compiler, objects, out, made| {
            compiler.archive(objects, out, &symbol)?;
            made.outputs.push(format!("lib{symbol}.a"));
            Ok(())
        })?;
        Ok(archive_in(&entry, &self.sources.roots))
    }

    /// Builds the model and its runtime as a shared library.
    ///
    /// # Errors
    /// Errors in the sources, the tools or the store. An undefined function is an error here, not when it is called.
    pub fn library(&self, tools: &Tools, store: &Store) -> Result<Library, Error> {
        let file = format!("lib{}.so", self.symbol());
        let entry = self.entry("library", tools, store, &|compiler, objects, out, made| {
            let runtime = runtime(self.sources, tools, store)?;
            let archive = runtime.dir.join(format!("lib{RUNTIME}.a"));
            let objects: Vec<PathBuf> = objects.iter().cloned().chain([archive]).collect();
            compiler.library(&objects, &out.join(&file))?;
            made.tools.extend(runtime.manifest.tools.iter().cloned());
            made.outputs.push(file.clone());
            Ok(())
        })?;
        Library::in_entry(entry, &file)
    }

    /// Returns the entry of the model, with objects joined by `join`.
    fn entry(&self, kind: &str, tools: &Tools, store: &Store, join: Join) -> Result<Entry, Error> {
        let sources = self.sources;
        let build = |work: &Work, snapshot: &mut Snapshot| -> Result<Made, Error> {
            let Roots { rtl, shim } = &sources.roots;
            let again = Sources::of(&sources.unit, shim, rtl, sources.bench.clone());
            if again.as_ref().ok() != Some(sources) {
                return Err(Error::Changing(
                    sources.roots.rtl.join(&sources.list.lists[0]),
                ));
            }
            let verilator = tools.verilator()?;
            let mut made = Made::default();
            self.verilate(&verilator, work, snapshot, &mut made)?;
            // Compiling would be useless.
            if let Some(path) = snapshot.changed()? {
                return Err(Error::Changing(path.to_owned()));
            }
            self.connected(&verilator, work.path())?;
            let objects = self.compile(tools, store, &verilator, work, snapshot, &mut made)?;
            let compiler = tools.compiler(work.path(), |_| {})?;
            join(&compiler, &objects, work.path(), &mut made)?;
            made.used(compiler.programs())?;
            made.used([verilator.program])?;
            made.outputs.push(WARNINGS.to_owned());
            Ok(made)
        };
        let mut key = tools.key.clone();
        key.extend(self.key());
        key.push(kind.into());
        Recipe {
            name: self.symbol(),
            key,
            roots: sources.roots.clone(),
            listed: sources.files(),
            build: &build,
            shadows: &|path| sources.shadows(path),
        }
        .entry(store)
    }

    /// Runs Verilator until every file that it reads was known before.
    fn verilate(
        &self,
        verilator: &Verilator,
        work: &Work,
        snapshot: &mut Snapshot,
        made: &mut Made,
    ) -> Result<(), Error> {
        let sources = self.sources;
        let listed: BTreeSet<PathBuf> = sources.files().into_iter().collect();
        let mut last = PathBuf::new();
        for _ in 0..ROUNDS {
            work.empty()?;
            let said = self.run_verilator(verilator, work.path())?;
            let path = work.path().join(WARNINGS);
            fs::write(&path, said).map_err(io(&path))?;
            let mut all_known = true;
            for read in Verilator::read(work.path(), &self.prefix())? {
                let path = clean(&sources.roots.rtl.join(&read));
                if path.starts_with(work.path()) {
                    continue;
                }
                if verilator.owns(&path) {
                    made.used([path])?;
                    continue;
                }
                if !listed.contains(&path) {
                    made.found.push(path.clone());
                }
                if snapshot.add(&path)? {
                    all_known = false;
                    last = path;
                }
            }
            if all_known {
                return Ok(());
            }
        }
        Err(Error::Changing(last))
    }

    /// Returns the prefix of the classes that Verilator generates.
    fn prefix(&self) -> String {
        format!("V{}", self.symbol())
    }

    /// Runs Verilator once, into `out`; returns its warnings.
    fn run_verilator(&self, verilator: &Verilator, out: &Path) -> Result<String, Error> {
        let (sources, list) = (self.sources, &self.sources.list);
        // Run in the folder of the RTL, so that the model depends neither on the user's current folder nor on the path of
        // the RTL.
        let mut command = verilator.command(&sources.roots.rtl);
        command.args([
            "--cc",
            "--trace",
            "-O3",
            // Conditions merged across assignments cost more compile time than they save: 3 %.
            "-fno-merge-cond",
            // Verilator has no X: it is a value that the seed of a model draws, so that RTL that shows it differs.
            "--x-assign",
            "unique",
            "--x-initial",
            "unique",
            "-Wno-fatal",
        ]);
        command.args(["--timescale", "1ns/1ns"]);
        // Verilator leaves longer arrays and wider signals out of a dump, and refuses the loop of a view over a longer array
        // unless it unrolls it.
        let (array, width) = self.sources.bench.traced;
        let (array, width) = (array.max(64).to_string(), width.max(256).to_string());
        command.args(["--trace-max-array", &array, "--unroll-count", &array]);
        command.args(["--trace-max-width", &width]);
        command.args(["--top-module", &sources.top()]);
        command.args(["--prefix", &self.prefix()]);
        command.args(self.values().iter().map(|v| format!("-G{v}")));
        command.arg("-Mdir").arg(out);
        list.to_verilator(&mut command);
        // Give one of both, because the default depends on the version. Without assertions Verilator does not even read
        // their file: it would compute logic that only assertions use. The define is for the bench top.
        let assertions = sources.assertions().filter(|_| self.assertions);
        match self.assertions {
            true => command.args(["--assert", "+define+RECONVERGE_ASSERT"]),
            false => command.arg("--no-assert"),
        };
        if self.counting {
            // The bench has many nets of its own, whose coverage says nothing about the unit; nor does that of assertions.
            let mut config = format!(
                "`verilator_config\ncoverage_off -file \"*/{}.sv\"\n",
                sources.top()
            );
            if let Some(file) = &assertions {
                let _ = writeln!(config, "coverage_off -file \"{}\"", file.display());
            }
            let path = out.join("coverage.vlt");
            fs::write(&path, config).map_err(io(&path))?;
            command.args(["--coverage-line", "--coverage-toggle"]);
            command.arg(path);
        }
        command.args(sources.verilog()).args(assertions);
        let bench = out.join(format!("{}.sv", sources.top()));
        fs::write(&bench, &sources.bench.text).map_err(io(&bench))?;
        command.arg(bench);
        let done = limit::output(&command)?;
        let said = String::from_utf8_lossy(&done.stderr);
        if !done.status.success() {
            if let Some(misfit) = self.misfit(verilator, out, &said)? {
                return Err(Error::Misfit(misfit));
            }
            return Err(Error::Refused(format!(
                "Verilator {} refused it ({}):\n{}",
                verilator.version,
                self.values().join(" "),
                said.trim_end()
            )));
        }
        let bench = format!("{}.sv", sources.top());
        Ok(warnings(&said, &bench, &self.parameters))
    }

    /// Compiles Verilator's output with the shim, and the C and C++ files of the list; returns the objects.
    fn compile(
        &self,
        tools: &Tools,
        store: &Store,
        verilator: &Verilator,
        work: &Work,
        snapshot: &mut Snapshot,
        made: &mut Made,
    ) -> Result<Vec<PathBuf>, Error> {
        let (sources, out) = (self.sources, work.path());
        let rtl = &sources.roots.rtl;
        let includes = sources.list.include_dirs.iter().map(|dir| rtl.join(dir));
        let includes: Vec<PathBuf> = includes.collect();
        let mut objects = Vec::new();
        for (number, source) in sources.list.code.iter().enumerate() {
            let c = source.extension().is_some_and(|x| x == "c");
            let compiler = tools.of_verilator(verilator, out, self.counting, |build| {
                build.include(rtl).includes(&includes);
                if c {
                    build.cpp(false).std("c11");
                }
            })?;
            let name = format!("code{number}");
            let compile = || compiler.object(rtl, &plain(source), out, &name);
            objects.push(known(compile, rtl, verilator, work, snapshot, made)?);
            made.used(compiler.programs())?;
        }
        let unity = self.unity(out)?;
        // A compiler that includes `first` before everything else.
        let compiler = |first: Option<&Path>| {
            tools.of_verilator(verilator, out, self.counting, |build| {
                build
                    .include(out)
                    .include(&sources.roots.shim)
                    .define("RCV_SYMBOL", self.symbol().as_str())
                    .define("RCV_LANES", self.lanes.to_string().as_str())
                    .define("RCV_FEATURES", self.features().to_string().as_str());
                if let Some(first) = first {
                    build.flag("-include").flag(first);
                }
            })
        };
        let plain = compiler(None)?;
        let headers = match plain.precompiles() {
            true => Some(headers(sources, self.counting, tools, store)?),
            false => None,
        };
        let compile = || {
            let compile = |with: &Compiler| with.object(out, &unity, out, "unity");
            let Some(headers) = &headers else {
                return compile(&plain);
            };
            // If the compiler rejects its own precompiled header, or another Verilator uses a class that the header replaces in a
            // way of its own, compile without it.
            let first = compiler(Some(&headers.dir.join(HEADER)))?;
            let mut object = compile(&first).or_else(|_| compile(&plain))?;
            object.read.retain(|path| !path.starts_with(&headers.dir));
            Ok(object)
        };
        objects.push(known(compile, out, verilator, work, snapshot, made)?);
        if let Some(headers) = headers {
            made.tools.extend(headers.manifest.tools.iter().cloned());
        }
        // Parts of the runtime that few models need: counters, and the functions declared in svdpi.h.
        let parts = [
            ("verilated_cov", self.counting),
            ("verilated_dpi", !sources.list.code.is_empty()),
        ];
        for (name, _) in parts.into_iter().filter(|(_, needed)| *needed) {
            let source = verilator.include.join(name).with_extension("cpp");
            let object = plain.object(out, &source, out, name)?;
            made.used(object.read.into_iter().filter(|path| verilator.owns(path)))?;
            objects.push(object.path);
        }
        Ok(objects)
    }

    /// Writes the one C++ file that includes the whole model.
    fn unity(&self, out: &Path) -> Result<PathBuf, Error> {
        let prefix = self.prefix();
        let mut emitted: Vec<PathBuf> = fs::read_dir(out)
            .map_err(io(out))?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|p| p.extension().is_some_and(|x| x == "cpp"))
            .collect();
        emitted.sort();
        let mut unity = format!("#include \"{prefix}.h\"\n#define RCV_TOP {prefix}\n");
        for file in &emitted {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let _ = writeln!(unity, "#include \"{name}\"");
        }
        unity.push_str("#include \"shim.cpp\"\n");
        let path = out.join("unity.cc");
        fs::write(&path, unity).map_err(io(&path))?;
        Ok(path)
    }
}

/// Compiles, in folder `from`, until every file that is read was known before.
fn known(
    compile: impl Fn() -> Result<crate::compiler::Object, Error>,
    from: &Path,
    verilator: &Verilator,
    work: &Work,
    snapshot: &mut Snapshot,
    made: &mut Made,
) -> Result<PathBuf, Error> {
    let mut last = PathBuf::new();
    for _ in 0..ROUNDS {
        let object = compile()?;
        let mut all_known = true;
        for read in object.read {
            let path = clean(&from.join(read));
            if path.starts_with(work.path()) {
                continue;
            }
            if verilator.owns(&path) {
                made.used([path])?;
            } else if snapshot.add(&path)? {
                made.found.push(path.clone());
                all_known = false;
                last = path;
            }
        }
        if all_known {
            return Ok(object.path);
        }
    }
    Err(Error::Changing(last))
}

/// Returns `path` without `.` components.
fn clean(path: &Path) -> PathBuf {
    path.components().collect()
}

impl Library {
    fn in_entry(entry: Entry, file: &str) -> Result<Self, Error> {
        let path = entry.dir.join(file);
        let gone = || io(&path)(std::io::Error::other("not in its entry"));
        let mut outputs = entry.manifest.outputs.iter();
        let output = outputs.find(|o| o.name == file).ok_or_else(gone)?;
        let warnings = entry.dir.join(WARNINGS);
        let symbol = file.strip_prefix("lib").and_then(|f| f.strip_suffix(".so"));
        Ok(Library {
            symbol: symbol.unwrap_or(file).to_owned(),
            digest: output.digest.clone(),
            contents: entry.manifest.contents(),
            warnings: fs::read_to_string(&warnings).map_err(io(&warnings))?,
            path,
            _entry: entry,
        })
    }

    /// Returns the library that [`Job::library`] of another process built: `path` with SHA-256 `digest`.
    ///
    /// # Errors
    /// The library is missing or has changed.
    pub fn at(path: &Path, digest: &str) -> Result<Self, Error> {
        let entry = Entry::holding(path, digest);
        let name = path.file_name().and_then(|name| name.to_str());
        match (entry, name) {
            (Some(entry), Some(name)) => Library::in_entry(entry, name),
            _ => {
                let why = "the model that was built is gone, or is not what it was; build it again";
                Err(Error::Cache(format!("{}: {why}", path.display())))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::HOW;

    /// Regression: after a file was split in two, one part was missing here, and a change in it found models built without
    /// it.
    #[test]
    fn every_file_that_builds_belongs_to_the_key() {
        let src = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
        let parts = std::fs::read_dir(format!("{src}/model")).unwrap();
        let parts = parts.map(|entry| entry.unwrap().path());
        let whole = [
            "compiler",
            "filelist",
            "interface",
            "model",
            "sources",
            "verilator",
        ];
        let whole = whole.map(|name| format!("{src}/{name}.rs").into());
        let mut count = 0;
        for path in parts.chain(whole) {
            let text = std::fs::read(&path).unwrap();
            assert!(HOW.contains(&&text[..]), "{}", path.display());
            count += 1;
        }
        assert_eq!(count, HOW.len());
    }
}
