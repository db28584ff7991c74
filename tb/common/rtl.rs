//! A unit's RTL, and copies of it with planted faults.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{ROOT, changes};

/// A unit's RTL: its name and the folder with it.
pub struct Rtl {
    pub unit: String,
    pub dir: PathBuf,
}

/// A copy of a unit's RTL to plant errors in.
pub struct Copy {
    pub rtl: Rtl,
    _dir: TempDir,
}

/// A change to RTL: the file, text that occurs in it once, its replacement.
pub type Change = (&'static str, &'static str, &'static str);

/// The faults in `tb/<unit>/faults/<kind>.txt`.
pub fn faults(unit: &str, kind: &str) -> Vec<changes::Change> {
    changes::changes(&format!("{ROOT}/tb/{unit}/faults/{kind}.txt"))
}

/// The repository, as `RECONVERGE_HOME` names it, with a copy of all files of `unit`.
pub fn home_of(unit: &str) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(ROOT).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() != "rtl" {
            symlink(entry.path(), home.path().join(entry.file_name())).unwrap();
        }
    }
    let rtl = home.path().join("rtl").join(unit);
    fs::create_dir_all(&rtl).unwrap();
    Rtl::own(unit).copy_to(&rtl);
    home
}

/// Changes text that stands once in the file `<unit>_<end>` of the only unit of `home`.
pub fn change(home: &TempDir, end: &str, from: &str, to: &str) {
    let mut units = fs::read_dir(home.path().join("rtl")).unwrap();
    let rtl = units.next().unwrap().unwrap();
    let unit = rtl.file_name();
    let path = rtl.path().join(format!("{}_{end}", unit.to_str().unwrap()));
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.matches(from).count(), 1, "{from}");
    fs::write(path, text.replace(from, to)).unwrap();
}

impl Rtl {
    /// The repository's own RTL of `unit`.
    pub fn own(unit: &str) -> Rtl {
        Rtl {
            unit: unit.to_owned(),
            dir: Path::new(ROOT).join("rtl").join(unit),
        }
    }

    /// Name of the module and of its file.
    pub fn top(&self) -> String {
        format!("{}_seq", self.unit)
    }

    /// The names in `<unit>.f`, in order.
    pub fn list(&self) -> Vec<String> {
        fs::read_to_string(self.dir.join(format!("{}.f", self.unit)))
            .unwrap()
            .lines()
            .map(|line| line.split("//").next().unwrap_or_default().trim())
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect()
    }

    fn copy_to(&self, dir: &Path) {
        for entry in fs::read_dir(&self.dir).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, dir.join(path.file_name().unwrap())).unwrap();
        }
    }

    /// All files in a folder of their own.
    pub fn copy(&self) -> Copy {
        let dir = tempfile::tempdir().unwrap();
        self.copy_to(dir.path());
        Copy {
            rtl: Rtl {
                unit: self.unit.clone(),
                dir: dir.path().to_owned(),
            },
            _dir: dir,
        }
    }

    /// A copy with `code` at the end of the top module.
    pub fn planted(&self, code: &str) -> Copy {
        let copy = self.copy();
        let file = copy.rtl.dir.join(format!("{}.sv", self.top()));
        let source = fs::read_to_string(&file).unwrap();
        let end = source.rfind("endmodule").unwrap();
        fs::write(
            &file,
            format!("{}{code}\n{}", &source[..end], &source[end..]),
        )
        .unwrap();
        copy
    }
}

impl Copy {
    /// The RTL in the folder.
    pub fn rtl(&self) -> &Rtl {
        &self.rtl
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.rtl.dir
    }

    /// The folder, as an argument.
    pub fn arg(&self) -> &str {
        super::arg(self.dir())
    }

    /// Removes the assertions, so that the comparison must find what is planted.
    pub fn without_assertions(self) -> Copy {
        let path = self.dir().join("design.toml");
        let text = fs::read_to_string(&path).unwrap();
        // They come last.
        let (rest, _) = text.split_once("\n[assertions]\n").unwrap();
        fs::write(&path, rest).unwrap();
        self
    }

    /// Replaces `from`, which must occur in `file` once.
    pub fn change(&self, (file, from, to): (&str, &str, &str)) {
        let path = self.dir().join(file);
        let old = fs::read_to_string(&path).unwrap();
        assert_eq!(
            old.matches(from).count(),
            1,
            "{file}: {from:?} must stand there once"
        );
        fs::write(path, old.replace(from, to)).unwrap();
    }
}
