//! The files of a unit: its RTL, in any folder, and the shim.

use std::path::{Path, PathBuf};

use crate::error::{Error, io};
use crate::filelist::{FileList, takes};
use crate::manifest::Roots;
use crate::shim;

/// The bench top of a model, generated for its RTL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bench {
    /// The SystemVerilog file; its module is `<unit>_tb`.
    pub text: String,
    /// Whether it can load a state into the unit.
    pub preloads: bool,
    /// The file in the RTL folder from which it was generated.
    pub from: PathBuf,
    /// A file in the RTL folder, named by `from`, with assertions that bind themselves to the RTL.
    pub assertions: Option<PathBuf>,
    /// The module under test.
    pub design: Module,
    /// Elements of the longest array and bits of the widest signal that a dump must have.
    pub traced: (usize, usize),
}

/// A module as the bench top instantiates it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// Name.
    pub name: String,
    /// Its parameter for the number of lanes, if it has one.
    pub lanes: Option<String>,
    /// The ports that the bench top connects.
    pub ports: Vec<String>,
}

/// The files listed for a model of a unit. The files that they include are found when the model is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sources {
    pub(crate) unit: String,
    pub(crate) roots: Roots,
    /// The contents of `<unit>.f`.
    pub list: FileList,
    pub(crate) bench: Bench,
}

impl Sources {
    /// Collects the files of `unit`: the shim in the folder `shim`, the RTL in `rtl_dir`, and the bench top around it.
    ///
    /// # Errors
    /// [`Error::Input`]: `<unit>.f` is missing or wrong ([`FileList`]); the assertions file is missing; Verilator would
    /// misread a name.
    pub fn of(unit: &str, shim: &Path, rtl_dir: &Path, bench: Bench) -> Result<Self, Error> {
        let absolute = |path: &Path| std::path::absolute(path).map_err(io(path));
        let roots = Roots {
            rtl: absolute(rtl_dir)?,
            shim: absolute(shim)?,
        };
        let list = FileList::read(rtl_dir, &format!("{unit}.f"))?;
        takes(&roots.shim).map_err(|why| Error::input(shim, 0, "shim", why))?;
        if let Some(file) = &bench.assertions {
            let wrong = |why| Error::input(&rtl_dir.join(&bench.from), 0, "assertions.file", why);
            takes(file).map_err(wrong)?;
            if !rtl_dir.join(file).is_file() {
                return Err(wrong(format!("no such file: {}", file.display())));
            }
        }
        Ok(Sources {
            unit: unit.to_owned(),
            roots,
            list,
            bench,
        })
    }

    /// Returns whether the bench top can load a state into the unit.
    pub fn preloads(&self) -> bool {
        self.bench.preloads
    }

    /// Returns the name of the bench top.
    pub(crate) fn top(&self) -> String {
        format!("{}_tb", self.unit)
    }

    /// Returns the files that Verilator gets before the bench top, in order; absolute, or relative to the RTL folder.
    pub(crate) fn verilog(&self) -> Vec<PathBuf> {
        let lint = self.roots.shim.join(shim::LINT);
        [lint]
            .into_iter()
            .chain(self.list.verilog.iter().map(|path| plain(path)))
            .collect()
    }

    /// Returns the file that binds itself to the RTL, for a model that checks assertions.
    pub(crate) fn assertions(&self) -> Option<PathBuf> {
        self.bench.assertions.as_deref().map(plain)
    }

    /// Returns all listed files as absolute paths.
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

    /// Returns the files of the shim as absolute paths.
    pub(crate) fn shim(&self) -> Vec<PathBuf> {
        shim::OF_MODELS
            .map(|name| self.roots.shim.join(name))
            .into()
    }

    /// Returns the RTL files of the list as absolute paths, in order.
    pub fn rtl(&self) -> Vec<PathBuf> {
        let rtl = self.list.verilog.iter();
        rtl.map(|path| self.roots.rtl.join(path)).collect()
    }

    /// Returns files that Verilator or a C++ compiler could have read instead of `path` if they existed. `path` was found
    /// in one of the folders of the list, and the others are searched too.
    pub(crate) fn shadows(&self, path: &Path) -> Vec<PathBuf> {
        let list = &self.list;
        let dirs = [PathBuf::new()]
            .into_iter()
            .chain(list.include_dirs.iter().cloned())
            .chain(list.library_dirs.iter().cloned());
        let dirs: Vec<PathBuf> = dirs.map(|dir| self.roots.rtl.join(dir)).collect();
        let endings: Vec<&str> = [""].into_iter().chain(list.module_endings()).collect();
        let mut found = Vec::new();
        for tail in dirs.iter().filter_map(|dir| path.strip_prefix(dir).ok()) {
            for dir in &dirs {
                found.push(dir.join(tail));
                // Modules are searched by name, with each extension.
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

/// Returns `path` in a form that does not begin like an option.
pub(crate) fn plain(path: &Path) -> PathBuf {
    match path.to_string_lossy().starts_with(['-', '+']) {
        true => Path::new(".").join(path),
        false => path.to_owned(),
    }
}
