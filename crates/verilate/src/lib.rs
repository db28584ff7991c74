//! From SystemVerilog to a compiled model: `verilator --cc`, one C++ unit, an archive or a shared
//! library. Used by the build script and, for `--rtl` and uncommon lane counts, at run time.
//!
//! Results lie in folders named by a hash of everything they depend on (files, tool version, flags),
//! so nothing is built twice and nothing stale is ever linked.

use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Name of the archive with Verilator's own runtime.
pub const RUNTIME: &str = "rcv_verilated";

/// What the runtime does when the RTL stops the simulation, in the bench's folder.
const STOP: &str = "stop.cpp";

/// What that replaces, included before each file of the runtime.
const STOP_H: &str = "stop.h";

/// Oldest Verilator that is known to work.
const OLDEST: (u32, u32) = (5, 6);

/// An installed Verilator.
#[derive(Clone, Debug)]
pub struct Verilator {
    program: PathBuf,
    /// Set where the program is a bare `verilator_bin` that cannot find its include folder alone.
    root: Option<PathBuf>,
    include: PathBuf,
    /// What `verilator --version` prints.
    version: String,
}

/// Who compiles, and for whom.
#[derive(Clone, Debug)]
pub struct ToolChain {
    /// Target triple.
    pub target: String,
    /// Host triple.
    pub host: String,
    /// SystemVerilog assertions stay in.
    pub assertions: bool,
    /// What the C++ compiler calls itself: objects of two compilers are not the same.
    compiler: String,
    /// Clang leaves atomic operations on odd sizes to a library of their own.
    pub needs_atomic: bool,
}

impl ToolChain {
    /// The compiler that the `cc` crate finds for `target`.
    ///
    /// # Errors
    /// There is none; the message names `./setup`.
    pub fn find(target: &str, host: &str, assertions: bool) -> Result<Self, String> {
        let none = |why: String| {
            format!(
                "no usable C++ compiler: {why}\nRun ./setup in the project's folder: it installs one."
            )
        };
        let tool = cc::Build::new()
            .cpp(true)
            .target(target)
            .host(host)
            .opt_level(3)
            .cargo_metadata(false)
            .try_get_compiler()
            .map_err(|e| none(e.to_string()))?;
        let out = Command::new(tool.path())
            .arg("--version")
            .output()
            .map_err(|e| none(format!("{}: {e}", tool.path().display())))?;
        let version = String::from_utf8_lossy(&out.stdout).into_owned();
        Ok(ToolChain {
            target: target.to_owned(),
            host: host.to_owned(),
            assertions,
            compiler: format!("{} {version}", tool.path().display()),
            needs_atomic: tool.is_like_clang() && target.contains("linux"),
        })
    }
}

/// The files that a model of a unit is made from.
#[derive(Clone, Debug)]
pub struct Sources {
    unit: String,
    rtl_dir: PathBuf,
    tb_dir: PathBuf,
    lint: Option<PathBuf>,
    /// The RTL itself, in the order of its list.
    pub rtl: Vec<PathBuf>,
    /// Everything that the model depends on, for change tracking.
    pub files: Vec<PathBuf>,
}

/// One model to build.
#[derive(Debug)]
pub struct Job<'a> {
    /// Its files.
    pub sources: &'a Sources,
    /// Parameter `LANES`.
    pub lanes: u32,
    /// Further parameters, with their values.
    pub parameters: Vec<(String, u32)>,
    /// The model counts lines, branches and changes of bits.
    pub counting: bool,
}

impl Job<'_> {
    /// Exported name of the model's function table; also the name of the archive.
    pub fn symbol(&self) -> String {
        let parameters = self.parameters.iter().map(|(n, v)| (n.as_str(), *v));
        symbol(&self.sources.unit, self.lanes, parameters, self.counting)
    }

    /// What the model tells of itself: `RCV_ASSERTIONS` and `RCV_COUNTING` of `tb/shim.h`.
    fn features(&self, chain: &ToolChain) -> String {
        let features = u32::from(chain.assertions) | u32::from(self.counting) << 1;
        features.to_string()
    }

    /// All parameters as the command line has them, e.g. `LANES=16`.
    fn values(&self) -> Vec<String> {
        let further = self.parameters.iter().map(|(n, v)| format!("{n}={v}"));
        std::iter::once(format!("LANES={}", self.lanes))
            .chain(further)
            .collect()
    }
}

/// [`Job::symbol`] where there is no job.
pub fn symbol<'a>(
    unit: &str,
    lanes: u32,
    parameters: impl Iterator<Item = (&'a str, u32)>,
    counting: bool,
) -> String {
    let symbol = parameters.fold(format!("rcv_{unit}_{lanes}"), |symbol, (name, value)| {
        format!("{symbol}_{name}{value}")
    });
    symbol + if counting { "_counting" } else { "" }
}

fn io(path: &Path, e: &std::io::Error) -> String {
    format!("{}: {e}", path.display())
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| io(path, &e))
}

/// Writes `text` unless the file already holds it, so that its time of change stays true.
pub fn write_if_changed(path: &Path, text: &str) -> Result<(), String> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    fs::write(path, text).map_err(|e| io(path, &e))
}

impl Verilator {
    /// Looks in `$VERILATOR`, the project's own folder `.tools`, and `PATH`, in this order.
    ///
    /// # Errors
    /// None found, or only ones that are too old: the message names `./setup`.
    pub fn find(project: &Path) -> Result<Self, String> {
        let mut tried = Vec::new();
        if let Some(given) = std::env::var_os("VERILATOR").filter(|v| !v.is_empty()) {
            // Asked for by name: anything else would be a surprise.
            return Self::probe(Path::new(&given)).map_err(|why| format!("$VERILATOR: {why}"));
        }
        let own = project.join(".tools/bin/verilator");
        if own.exists() {
            match Self::probe(&own) {
                Ok(found) => return Ok(found),
                Err(why) => tried.push(why),
            }
        }
        match Self::probe(Path::new("verilator")) {
            Ok(found) => return Ok(found),
            Err(why) => tried.push(why),
        }
        Err(format!(
            "no usable Verilator (at least {}.{:03}) was found:\n  {}\n\
             Run ./setup in the project's folder: it installs one. Or set VERILATOR to the program.\n\
             Without the RTL: build with --no-default-features.",
            OLDEST.0,
            OLDEST.1,
            tried.join("\n  ")
        ))
    }

    fn probe(program: &Path) -> Result<Self, String> {
        let run = |arg: &str| -> Result<String, String> {
            let out = Command::new(program)
                .arg(arg)
                .output()
                .map_err(|e| format!("{}: {e}", program.display()))?;
            if !out.status.success() {
                return Err(format!("{} {arg}: {}", program.display(), out.status));
            }
            Ok(String::from_utf8_lossy(&out.stdout).into_owned())
        };
        // The wheel's --version prints no number; the header of its runtime has it.
        let version = run("--version")?.trim().to_owned();
        let details = run("-V")?;
        let root = details
            .lines()
            .filter_map(|l| l.trim().strip_prefix("VERILATOR_ROOT"))
            .filter_map(|l| l.split_once('=').map(|(_, v)| v.trim().to_owned()))
            .find(|v| !v.is_empty())
            .map(PathBuf::from);
        let root =
            root.ok_or_else(|| format!("{} -V names no VERILATOR_ROOT", program.display()))?;
        let include = root.join("include");
        let number = number_in(&version)
            .or_else(|| {
                let header = fs::read_to_string(include.join("verilated_config.h")).ok()?;
                // Not the first number of the file: that is the version of its licence.
                number_in(
                    header
                        .lines()
                        .find(|l| l.starts_with("#define VERILATOR_VERSION "))?,
                )
            })
            .ok_or_else(|| {
                format!(
                    "{} --version prints no version: {version}",
                    program.display()
                )
            })?;
        if number < OLDEST {
            return Err(format!(
                "{} is version {}.{:03}",
                program.display(),
                number.0,
                number.1
            ));
        }
        if !include.join("verilated.cpp").exists() {
            return Err(format!(
                "{}: no verilated.cpp in {}",
                program.display(),
                include.display()
            ));
        }
        Ok(Verilator {
            program: program.to_owned(),
            root: std::env::var_os("VERILATOR_ROOT").map(PathBuf::from),
            include,
            version: format!("{}.{:03}", number.0, number.1),
        })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        if let Some(root) = &self.root {
            command.env("VERILATOR_ROOT", root);
        }
        command
    }
}

/// The first `major.minor` in a text: "Verilator 5.006 2023-01-22" gives (5, 6).
fn number_in(text: &str) -> Option<(u32, u32)> {
    text.split(|c: char| c.is_whitespace() || c == '"')
        .find_map(|word| {
            let (major, rest) = word.split_once('.')?;
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            Some((major.parse().ok()?, digits.parse().ok()?))
        })
}

impl Sources {
    /// The files of `unit`: the bench of the project at `root`, the RTL in `rtl_dir`.
    ///
    /// # Errors
    /// `<unit>.f` is missing, unreadable, or names a file that is not there; no probe.
    pub fn of(unit: &str, root: &Path, rtl_dir: &Path) -> Result<Self, String> {
        let list = rtl_dir.join(format!("{unit}.f"));
        let mut rtl = Vec::new();
        for (number, line) in read(&list)?.lines().enumerate() {
            let name = line
                .split("//")
                .next()
                .unwrap_or("")
                .split('#')
                .next()
                .unwrap_or("")
                .trim();
            if name.is_empty() {
                continue;
            }
            let file = rtl_dir.join(name);
            if !file.is_file() {
                return Err(format!(
                    "{}:{}: file: no such file: {name}",
                    list.display(),
                    number + 1
                ));
            }
            rtl.push(file);
        }
        if rtl.is_empty() {
            return Err(format!("{}:1: file: the list is empty", list.display()));
        }
        let probe = rtl_dir.join(format!("{unit}_probe.svh"));
        if !probe.is_file() {
            return Err(format!(
                "{}: missing: it tells the bench where the state lives (see rtl/{unit}/{unit}_probe.svh)",
                probe.display()
            ));
        }
        let tb_dir = root.join("tb");
        let lint = Some(root.join("rtl/lint.vlt")).filter(|p| p.is_file());
        // An `include may name any of them, so a change of any of them counts.
        let mut files = vec![list];
        verilog_files(rtl_dir, 8, &mut files)?;
        for file in &rtl {
            let dir = file.parent().unwrap_or(rtl_dir);
            verilog_files(dir, 0, &mut files)?;
        }
        files.sort();
        files.dedup();
        files.extend(["shim.h", "shim.cpp", STOP, STOP_H].map(|n| tb_dir.join(n)));
        files.push(tb_dir.join(format!("{unit}_tb.sv")));
        files.extend(lint.clone());
        Ok(Sources {
            unit: unit.to_owned(),
            rtl_dir: rtl_dir.to_owned(),
            tb_dir,
            lint,
            rtl,
            files,
        })
    }
}

impl Sources {
    /// Hash of the contents of all files: equal for equal RTL under the same bench, wherever it lies.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn contents(&self) -> Result<String, String> {
        key(&["contents", &self.unit], &self.files)
    }

    /// The unit's own files, without the bench.
    pub fn rtl(&self) -> &[PathBuf] {
        &self.rtl
    }
}

/// Hash of all Rust files below the folders `dirs` and of `more`. Any of them may be missing.
///
/// # Errors
/// A file cannot be read.
pub fn rust_contents(dirs: &[PathBuf], more: &Path) -> Result<String, String> {
    let mut files = Vec::new();
    for dir in dirs.iter().filter(|dir| dir.is_dir()) {
        files_below(dir, 8, &["rs"], &mut files)?;
    }
    files.sort();
    files.extend(more.is_file().then(|| more.to_owned()));
    key(&["rust"], &files)
}

/// Adds the Verilog files in `dir`, and in its folders down to `depth`, to `files`.
fn verilog_files(dir: &Path, depth: u32, files: &mut Vec<PathBuf>) -> Result<(), String> {
    files_below(dir, depth, &["sv", "v", "svh", "vh"], files)
}

fn files_below(
    dir: &Path,
    depth: u32,
    endings: &[&str],
    files: &mut Vec<PathBuf>,
) -> Result<(), String> {
    for entry in fs::read_dir(dir).map_err(|e| io(dir, &e))? {
        let path = entry.map_err(|e| io(dir, &e))?.path();
        if path.is_dir() {
            if depth > 0 {
                files_below(&path, depth - 1, endings, files)?;
            }
        } else if path
            .extension()
            .is_some_and(|x| endings.iter().any(|v| x == *v))
        {
            files.push(path);
        }
    }
    Ok(())
}

/// Hash of contents and settings, as the name of a folder.
fn key(parts: &[&str], files: &[PathBuf]) -> Result<String, String> {
    let mut hash = Sha256::new();
    // The way of building belongs to what a result depends on.
    hash.update(include_bytes!("lib.rs"));
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    for file in files {
        let bytes = fs::read(file).map_err(|e| io(file, &e))?;
        hash.update(
            file.file_name()
                .map_or_else(Vec::new, |n| n.as_encoded_bytes().to_vec()),
        );
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(&bytes);
    }
    Ok(hash
        .finalize()
        .iter()
        .take(10)
        .fold(String::new(), |mut s, b| {
            let _ = write!(s, "{b:02x}");
            s
        }))
}

/// Makes folder `name` under `base` with `fill`, all or nothing; returns it at once if it is there.
fn cached(
    base: &Path,
    name: &str,
    fill: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<PathBuf, String> {
    let done = base.join(name);
    if done.is_dir() {
        return Ok(done);
    }
    fs::create_dir_all(base).map_err(|e| io(base, &e))?;
    let work = tempfile::Builder::new()
        .prefix(".building-")
        .tempdir_in(base)
        .map_err(|e| io(base, &e))?;
    fill(work.path())?;
    let work = work.keep();
    match fs::rename(&work, &done) {
        Ok(()) => Ok(done),
        // Another process was faster: its result is the same.
        Err(_) if done.is_dir() => fs::remove_dir_all(&work)
            .map_err(|e| io(&work, &e))
            .map(|()| done),
        Err(e) => Err(io(&done, &e)),
    }
}

fn compiler(tool: &Verilator, chain: &ToolChain, out: &Path, counting: bool) -> cc::Build {
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .std("c++17")
        .target(&chain.target)
        .host(&chain.host)
        .opt_level(3)
        .debug(false)
        .warnings(false)
        .extra_warnings(false)
        .cargo_metadata(false)
        .pic(true)
        .out_dir(out)
        .include(&tool.include)
        .include(tool.include.join("vltstd"))
        .flag_if_supported("-fcf-protection=none")
        .flag_if_supported("-fvisibility=hidden")
        .define("VM_COVERAGE", if counting { "1" } else { "0" })
        .define("VM_SC", "0")
        .define("VM_TRACE", "1")
        .define("VM_TRACE_FST", "0")
        .define("VM_TRACE_VCD", "1");
    build
}

fn runtime_build(tool: &Verilator, chain: &ToolChain, tb_dir: &Path, out: &Path) -> cc::Build {
    let mut build = compiler(tool, chain, out, false);
    // $stop and the like end a case and not the process: tb/stop.cpp.
    build.flag("-include").flag(tb_dir.join(STOP_H));
    build.file(tb_dir.join(STOP));
    for file in [
        "verilated.cpp",
        "verilated_threads.cpp",
        "verilated_vcd_c.cpp",
    ] {
        build.file(tool.include.join(file));
    }
    build
}

/// Verilator's runtime as an archive; returns its folder. It is the slow part, and built once.
pub fn runtime(
    tool: &Verilator,
    chain: &ToolChain,
    tb_dir: &Path,
    base: &Path,
) -> Result<PathBuf, String> {
    let name = key(
        &["runtime", &tool.version, &chain.target, &chain.compiler],
        &[STOP, STOP_H].map(|n| tb_dir.join(n)),
    )?;
    cached(base, &format!("runtime-{name}"), |dir| {
        runtime_build(tool, chain, tb_dir, dir)
            .try_compile(RUNTIME)
            .map_err(|e| e.to_string())
    })
}

/// Verilates `job` into `dir` and writes the one C++ file that holds all of it.
fn verilate(job: &Job, tool: &Verilator, chain: &ToolChain, dir: &Path) -> Result<PathBuf, String> {
    let unit = &job.sources.unit;
    let prefix = format!("V{}", job.symbol());
    let mut command = tool.command();
    command
        .args([
            "--cc",
            "--trace",
            "--trace-max-array",
            "64",
            "-O3",
            // Conditions merged across assignments cost the C++ compiler more than they spare it: 3 %.
            "-fno-merge-cond",
            "--x-assign",
            "fast",
            "--x-initial",
            "unique",
            "-Wno-fatal",
        ])
        .args([
            "--timescale",
            "1ns/1ns",
            "--top-module",
            &format!("{unit}_tb"),
            "--prefix",
            &prefix,
        ])
        .args(job.values().iter().map(|v| format!("-G{v}")))
        .arg("-Mdir")
        .arg(dir)
        .arg(incdir(&job.sources.rtl_dir));
    if chain.assertions {
        // The define: what only assertions look at is left out with them.
        command.args(["--assert", "+define+RECONVERGE_ASSERT"]);
    }
    if job.counting {
        // Of the bench's own nets nobody wants to know, and they are many.
        let bench = format!("`verilator_config\ncoverage_off -file \"*/{unit}_tb.sv\"\n");
        let config = dir.join("coverage.vlt");
        fs::write(&config, bench).map_err(|e| io(&config, &e))?;
        command
            .args(["--coverage-line", "--coverage-toggle"])
            .arg(config);
    }
    command.args(&job.sources.lint).args(&job.sources.rtl);
    command.arg(job.sources.tb_dir.join(format!("{unit}_tb.sv")));
    let out = command
        .output()
        .map_err(|e| format!("{}: {e}", tool.program.display()))?;
    if !out.status.success() {
        return Err(format!(
            "Verilator {} refused {} ({}):\n{}",
            tool.version,
            job.sources.rtl_dir.display(),
            job.values().join(" "),
            String::from_utf8_lossy(&out.stderr).trim_end()
        ));
    }
    let mut emitted: Vec<PathBuf> = fs::read_dir(dir)
        .map_err(|e| io(dir, &e))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|x| x == "cpp"))
        .collect();
    emitted.sort();
    let mut unity = format!("#include \"{prefix}.h\"\n#define RCV_TOP {prefix}\n");
    for file in &emitted {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        writeln!(unity, "#include \"{name}\"").map_err(|e| e.to_string())?;
    }
    unity.push_str("#include \"shim.cpp\"\n");
    let path = dir.join("unity.cc");
    fs::write(&path, unity).map_err(|e| io(&path, &e))?;
    Ok(path)
}

fn incdir(dir: &Path) -> OsString {
    let mut arg = OsString::from("+incdir+");
    arg.push(dir);
    arg
}

fn model_build(
    job: &Job,
    tool: &Verilator,
    chain: &ToolChain,
    dir: &Path,
) -> Result<cc::Build, String> {
    let unity = verilate(job, tool, chain, dir)?;
    let mut build = compiler(tool, chain, dir, job.counting);
    if job.counting {
        build.file(tool.include.join("verilated_cov.cpp"));
    }
    build
        .include(dir)
        .include(&job.sources.tb_dir)
        .define("RCV_SYMBOL", job.symbol().as_str())
        .define("RCV_LANES", job.lanes.to_string().as_str())
        .define("RCV_FEATURES", job.features(chain).as_str())
        .file(unity);
    Ok(build)
}

fn job_key(job: &Job, tool: &Verilator, chain: &ToolChain) -> Result<String, String> {
    let values = job.values().join(" ");
    let assertions = chain.assertions.to_string();
    let counting = job.counting.to_string();
    let settings = [
        &job.sources.unit,
        &values,
        &tool.version,
        &chain.target,
        &chain.compiler,
        &assertions,
        &counting,
    ];
    key(&settings.map(String::as_str), &job.sources.files)
}

/// The model as an archive `lib<symbol>.a`; returns its folder.
pub fn archive(
    job: &Job,
    tool: &Verilator,
    chain: &ToolChain,
    base: &Path,
) -> Result<PathBuf, String> {
    let name = format!("{}-{}", job.symbol(), job_key(job, tool, chain)?);
    cached(base, &name, |dir| {
        model_build(job, tool, chain, dir)?
            .try_compile(&job.symbol())
            .map_err(|e| e.to_string())
    })
}

/// The model with its runtime as a shared library; returns its path.
pub fn shared(
    job: &Job,
    tool: &Verilator,
    chain: &ToolChain,
    base: &Path,
) -> Result<PathBuf, String> {
    let name = format!("{}-{}-so", job.symbol(), job_key(job, tool, chain)?);
    let file = format!("lib{}.so", job.symbol());
    let dir = cached(base, &name, |dir| {
        let runtime_name = key(
            &["objects", &tool.version, &chain.target, &chain.compiler],
            &[STOP, STOP_H].map(|n| job.sources.tb_dir.join(n)),
        )?;
        let runtime = cached(base, &format!("runtime-{runtime_name}"), |out| {
            runtime_build(tool, chain, &job.sources.tb_dir, out)
                .try_compile_intermediates()
                .map(drop)
                .map_err(|e| e.to_string())
        })?;
        let build = model_build(job, tool, chain, dir)?;
        let mut objects = build
            .try_compile_intermediates()
            .map_err(|e| e.to_string())?;
        for entry in fs::read_dir(&runtime)
            .map_err(|e| io(&runtime, &e))?
            .flatten()
        {
            if entry.path().extension().is_some_and(|x| x == "o") {
                objects.push(entry.path());
            }
        }
        let out = build
            .try_get_compiler()
            .map_err(|e| e.to_string())?
            .to_command()
            .arg("-shared")
            .args(&objects)
            .args(chain.needs_atomic.then_some("-latomic"))
            .arg("-o")
            .arg(dir.join(&file))
            .output()
            .map_err(|e| e.to_string())?;
        if out.status.success() {
            Ok(())
        } else {
            Err(format!(
                "linking {file}:\n{}",
                String::from_utf8_lossy(&out.stderr)
            ))
        }
    })?;
    Ok(dir.join(file))
}
