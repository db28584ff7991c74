//! The files of a unit: its RTL, wherever that lies, and the project's bench.

use std::path::{Path, PathBuf};

use crate::error::{Error, io};
use crate::filelist::{FileList, takes};
use crate::manifest::Roots;

/// Files of the bench, in the project's folder `tb`.
const SHIM: [&str; 4] = ["shim.h", "shim.cpp", STOP, STOP_H];

/// What the runtime does when the RTL stops the simulation.
pub(crate) const STOP: &str = "stop.cpp";

/// What that replaces, included before each file of the runtime.
pub(crate) const STOP_H: &str = "stop.h";

/// The bench top of a model, generated for its RTL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bench {
    /// The SystemVerilog file; its module is `<unit>_tb`.
    pub text: String,
    /// It can put the unit into a state.
    pub preloads: bool,
    /// The file in the folder of the RTL that it was generated from.
    pub from: PathBuf,
    /// A file in the folder of the RTL, named by `from`, with assertions that bind themselves to the RTL.
    pub assertions: Option<PathBuf>,
}

/// The files that a model of a unit is made from, as far as they are named. What they include is found out when the
/// model is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sources {
    pub(crate) unit: String,
    pub(crate) roots: Roots,
    /// What `<unit>.f` says.
    pub list: FileList,
    lint: Option<PathBuf>,
    pub(crate) bench: Bench,
}

impl Sources {
    /// The files of `unit`: the shim of the project at `project`, the RTL in `rtl_dir`, and the bench top around it.
    ///
    /// # Errors
    /// [`Error::Input`]: `<unit>.f` is missing or wrong ([`FileList`]); the file of assertions is missing; a name that
    /// Verilator would take for another.
    pub fn of(unit: &str, project: &Path, rtl_dir: &Path, bench: Bench) -> Result<Self, Error> {
        let absolute = |path: &Path| std::path::absolute(path).map_err(io(path));
        let roots = Roots {
            rtl: absolute(rtl_dir)?,
            project: absolute(project)?,
        };
        let list = FileList::read(rtl_dir, &format!("{unit}.f"))?;
        takes(&roots.project).map_err(|why| Error::input(project, 0, "project", why))?;
        if let Some(file) = &bench.assertions {
            let wrong = |why| Error::input(&rtl_dir.join(&bench.from), 0, "assertions.file", why);
            takes(file).map_err(wrong)?;
            if !rtl_dir.join(file).is_file() {
                return Err(wrong(format!("no such file: {}", file.display())));
            }
        }
        let lint = Some(project.join("rtl/lint.vlt")).filter(|p| p.is_file());
        Ok(Sources {
            unit: unit.to_owned(),
            roots,
            list,
            lint,
            bench,
        })
    }

    /// Whether the bench top can put the unit into a state.
    pub fn preloads(&self) -> bool {
        self.bench.preloads
    }

    /// The project's folder with the bench.
    pub(crate) fn tb(&self) -> PathBuf {
        self.roots.project.join("tb")
    }

    /// Name of the bench top.
    pub(crate) fn top(&self) -> String {
        format!("{}_tb", self.unit)
    }

    /// What of it Verilator is given before the bench top, in order; relative to the folder of the RTL or absolute.
    pub(crate) fn verilog(&self) -> Vec<PathBuf> {
        let lint = self.lint.iter().map(|path| self.roots.project.join(path));
        lint.chain(self.list.verilog.iter().map(|path| plain(path)))
            .collect()
    }

    /// What binds itself to the RTL, for a model that checks assertions.
    pub(crate) fn assertions(&self) -> Option<PathBuf> {
        self.bench.assertions.as_deref().map(plain)
    }

    /// All named files, absolute.
    pub fn files(&self) -> Vec<PathBuf> {
        let list = &self.list;
        let rtl = list.lists.iter().chain(&list.verilog).chain(&list.code);
        let mut files: Vec<PathBuf> = rtl
            .chain([&self.bench.from])
            .chain(&self.bench.assertions)
            .map(|path| self.roots.rtl.join(path))
            .collect();
        files.extend(self.verilog().into_iter().filter(|path| path.is_absolute()));
        files.extend(self.shim());
        files
    }

    /// Files of the shim, absolute.
    pub(crate) fn shim(&self) -> Vec<PathBuf> {
        SHIM.map(|name| self.tb().join(name)).into()
    }

    /// The RTL files of the list, absolute, in order.
    pub fn rtl(&self) -> Vec<PathBuf> {
        let rtl = self.list.verilog.iter();
        rtl.map(|path| self.roots.rtl.join(path)).collect()
    }

    /// Files that Verilator or a C++ compiler would have read in the place of `path`, had they been there: `path` was
    /// found in one of the folders of the list, and others are looked into too.
    pub(crate) fn shadows(&self, path: &Path) -> Vec<PathBuf> {
        let list = &self.list;
        let dirs = [PathBuf::new()]
            .into_iter()
            .chain(list.include_dirs.iter().cloned())
            .chain(list.library_dirs.iter().cloned());
        let dirs: Vec<PathBuf> = dirs.map(|dir| self.roots.rtl.join(dir)).collect();
        let mut endings = vec!["", ".v", ".sv"];
        endings.extend(list.endings.iter().map(String::as_str));
        let mut found = Vec::new();
        for tail in dirs.iter().filter_map(|dir| path.strip_prefix(dir).ok()) {
            for dir in &dirs {
                found.push(dir.join(tail));
                // A module is looked for by its name, with each ending.
                let stem = dir.join(tail.with_extension("")).into_os_string();
                for ending in &endings {
                    let mut name = stem.clone();
                    name.push(ending);
                    found.push(PathBuf::from(name));
                }
            }
        }
        found.sort();
        found.dedup();
        found
    }
}

/// `path` such that it does not begin like an option.
pub(crate) fn plain(path: &Path) -> PathBuf {
    match path.to_string_lossy().starts_with(['-', '+']) {
        true => Path::new(".").join(path),
        false => path.to_owned(),
    }
}
