//! Parts that models share and that are built once: Verilator's runtime, precompiled headers.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::{Archive, Made, RUNTIME, Recipe, Tools};
use crate::error::{Error, io};
use crate::files::Snapshot;
use crate::manifest::Roots;
use crate::shim::{DELETER_H, SHIM_H, STOP, STOP_H};
use crate::sources::Sources;
use crate::store::{self, Entry, Store, Work};

// ---- the runtime --------------------------------------------------------------------------------------

/// Returns the entry with Verilator's runtime as an archive. The runtime is slow to compile, so it is built once.
pub(super) fn runtime(sources: &Sources, tools: &Tools, store: &Store) -> Result<Entry, Error> {
    // Models that are built in parallel wait for it instead of each building one.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let shim = &sources.roots.shim;
    let build = |work: &Work, _: &mut Snapshot| -> Result<Made, Error> {
        let out = work.path();
        let verilator = tools.verilator()?;
        // $stop and the like end a case, not the process: shim/stop.cpp.
        let compiler = tools.of_verilator(&verilator, out, false, |build| {
            build.flag("-include").flag(shim.join(STOP_H));
        })?;
        let mut made = Made::default();
        let mut objects = Vec::new();
        let of_verilator = ["verilated", "verilated_threads", "verilated_vcd_c"];
        let of_verilator =
            of_verilator.map(|name| verilator.include.join(name).with_extension("cpp"));
        for source in [shim.join(STOP)].iter().chain(&of_verilator) {
            let name = source.file_stem().unwrap_or_default().to_string_lossy();
            let object = compiler.object(out, source, out, &name)?;
            made.used(object.read.into_iter().filter(|path| verilator.owns(path)))?;
            objects.push(object.path);
        }
        compiler.archive(&objects, out, RUNTIME)?;
        made.outputs.push(format!("lib{RUNTIME}.a"));
        made.used(compiler.programs())?;
        made.used([verilator.program])?;
        Ok(made)
    };
    Recipe {
        name: format!("{}archive", store::RUNTIME),
        key: tools.key.clone(),
        roots: sources.roots.clone(),
        listed: [STOP, STOP_H].map(|name| shim.join(name)).into(),
        build: &build,
        shadows: &|_| Vec::new(),
    }
    .entry(store)
}

/// Builds Verilator's runtime as an archive.
///
/// # Errors
/// No usable tools were found, or the compiler rejects the runtime.
pub fn archive_of_runtime(
    sources: &Sources,
    tools: &Tools,
    store: &Store,
) -> Result<Archive, Error> {
    let entry = runtime(sources, tools, store)?;
    Ok(archive_in(&entry, &sources.roots))
}

pub(super) fn archive_in(entry: &Entry, roots: &Roots) -> Archive {
    let sources = entry.manifest.sources.iter();
    Archive {
        dir: entry.dir.clone(),
        contents: entry.manifest.contents(),
        files: sources
            .filter(|(_, digest)| digest.is_some())
            .map(|(place, _)| place.path(roots))
            .collect(),
    }
}

// ---- the host -----------------------------------------------------------------------------------------

/// Source of the program in which models run for a library caller, in the folder of the shim.
const HOST: &str = "host.cpp";

/// Name of that program.
const PROGRAM: &str = "host";

/// The program that runs a model in a process of its own; the store keeps the file as long as this value exists.
#[derive(Debug)]
pub struct Host {
    /// The program.
    pub path: PathBuf,
    _entry: Entry,
}

/// Builds the program that runs models, from `host.cpp` in the folder `shim`.
///
/// # Errors
/// No compiler was found, or it rejects the program.
pub fn host(shim: &Path, tools: &Tools, store: &Store) -> Result<Host, Error> {
    // Tests that run in parallel wait for it instead of each building one.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let shim = std::path::absolute(shim).map_err(io(shim))?;
    let build = |work: &Work, _: &mut Snapshot| -> Result<Made, Error> {
        let out = work.path();
        let compiler = tools.compiler(out, |_| {})?;
        let object = compiler.object(&shim, Path::new(HOST), out, PROGRAM)?;
        compiler.program(&object.path, &out.join(PROGRAM))?;
        let mut made = Made::default();
        made.outputs.push(PROGRAM.to_owned());
        made.used(compiler.programs())?;
        Ok(made)
    };
    let entry = Recipe {
        name: format!("{}program", store::HOST),
        key: tools.key.clone(),
        roots: Roots {
            rtl: shim.clone(),
            shim: shim.clone(),
        },
        listed: [HOST, SHIM_H].map(|name| shim.join(name)).into(),
        build: &build,
        shadows: &|_| Vec::new(),
    }
    .entry(store)?;
    Ok(Host {
        path: entry.dir.join(PROGRAM),
        _entry: entry,
    })
}

// ---- headers ------------------------------------------------------------------------------------------

/// The headers that every model and the shim include.
const INCLUDED: [&str; 9] = [
    "verilated.h",
    "verilated_vcd_c.h",
    "cerrno",
    "cstdio",
    "cstring",
    "exception",
    "memory",
    "new",
    "string",
];

/// Name of the header that includes all of them.
pub(super) const HEADER: &str = "model.h";

/// Returns the entry with the precompiled headers that every model includes: reading these headers takes a third of the
/// time to compile a small model.
pub(super) fn headers(
    sources: &Sources,
    counting: bool,
    tools: &Tools,
    store: &Store,
) -> Result<Entry, Error> {
    // The same lock as for the runtime.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let shim = &sources.roots.shim;
    let build = |work: &Work, _: &mut Snapshot| -> Result<Made, Error> {
        let out = work.path();
        let path = out.join(HEADER);
        let included = INCLUDED.map(|name| format!("#include <{name}>\n")).concat();
        // At the end: it replaces a name of the others.
        let text = format!("{included}#include \"{DELETER_H}\"\n");
        fs::write(&path, text).map_err(io(&path))?;
        let verilator = tools.verilator()?;
        let compiler = tools.of_verilator(&verilator, out, counting, |build| {
            build.include(shim);
        })?;
        let read = compiler.precompiled(out, HEADER)?.read;
        let mut made = Made::default();
        made.used(read.into_iter().filter(|path| verilator.owns(path)))?;
        made.used(compiler.programs())?;
        made.used([verilator.program])?;
        made.outputs = vec![HEADER.to_owned(), format!("{HEADER}.gch")];
        Ok(made)
    };
    let mut key = tools.key.clone();
    key.push(counting.to_string().into_bytes());
    Recipe {
        name: format!("{}precompiled", store::HEADERS),
        key,
        roots: sources.roots.clone(),
        listed: vec![shim.join(DELETER_H)],
        build: &build,
        shadows: &|_| Vec::new(),
    }
    .entry(store)
}
