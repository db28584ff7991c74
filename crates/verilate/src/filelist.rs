//! File lists, `<unit>.f`: what RTL is made of.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, io};

/// What a file list says. Paths are as Verilator gets them: absolute, or relative to the folder of the list.
///
/// A line of the list is one of
///
/// | line | meaning |
/// |---|---|
/// | `FILE` | SystemVerilog, in the order of compilation, or a `.vlt` file of Verilator |
/// | `FILE.cpp`, `.cc`, `.cxx`, `.c` | code that the RTL imports with DPI-C; `.c` is C, the others C++17 |
/// | `+incdir+DIR...`, `-I DIR` | a folder in which includes are looked for |
/// | `-y DIR` | a folder in which modules are looked for |
/// | `+libext+.EXT...` | endings of the files in it |
/// | `+define+NAME...`, `-D NAME`, each with or without `=VALUE` | a macro |
/// | `-f LIST` | a further list, its paths relative to the folder of the FIRST list |
/// | `-F LIST` | a further list, its paths relative to its OWN folder |
///
/// A comment begins with `//` or `#` at the beginning of a line or behind a blank. A name may hold blanks. The folder of
/// the list is looked into for includes, before all others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileList {
    /// Lists read: this one, then those that it names.
    pub lists: Vec<PathBuf>,
    /// SystemVerilog files.
    pub verilog: Vec<PathBuf>,
    /// C and C++ files.
    pub code: Vec<PathBuf>,
    /// Folders with includes.
    pub include_dirs: Vec<PathBuf>,
    /// Folders with modules.
    pub library_dirs: Vec<PathBuf>,
    /// Endings of files in these, each with its dot.
    pub endings: Vec<String>,
    /// Macros, `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
}

/// How deep lists may name lists.
const DEPTH: usize = 32;

impl FileList {
    /// Reads list `name` in folder `dir`.
    ///
    /// # Errors
    /// [`Error::Input`] with list and line: what is no entry of a list, what is not there or no regular file, lists that
    /// name each other in a circle, names that Verilator would take for something else.
    pub fn read(dir: &Path, name: &str) -> Result<Self, Error> {
        let mut list = FileList::default();
        list.add(dir, Path::new(name), Path::new(""), &mut Vec::new())?;
        if list.verilog.is_empty() {
            let file = dir.join(name);
            return Err(Error::input(&file, 1, "file", "the list names no RTL"));
        }
        Ok(list)
    }

    /// Whether it names RTL files and nothing else: what a tool can take that only knows lists of files.
    pub fn is_plain(&self) -> bool {
        let FileList {
            lists: _,
            verilog: _,
            code,
            include_dirs,
            library_dirs,
            endings,
            defines,
        } = self;
        code.is_empty()
            && include_dirs.is_empty()
            && library_dirs.is_empty()
            && endings.is_empty()
            && defines.is_empty()
    }

    /// Adds the list `path`, relative to `dir`, whose own entries are relative to `base` in `dir`. `open`: the lists that
    /// led here.
    fn add(
        &mut self,
        dir: &Path,
        path: &Path,
        base: &Path,
        open: &mut Vec<PathBuf>,
    ) -> Result<(), Error> {
        let file = dir.join(path);
        let text = fs::read_to_string(&file).map_err(io(&file))?;
        let real = file.canonicalize().map_err(io(&file))?;
        open.push(real);
        self.lists.push(path.to_owned());
        for (index, line) in text.lines().enumerate() {
            let at = Place {
                file: &file,
                line: index + 1,
                dir,
                base,
            };
            self.entry(&at, without_comment(line).trim(), open)?;
        }
        open.pop();
        Ok(())
    }

    fn entry(&mut self, at: &Place, entry: &str, open: &mut Vec<PathBuf>) -> Result<(), Error> {
        if let Some(rest) = entry.strip_prefix('+') {
            let (option, values) = rest.split_once('+').unwrap_or((rest, ""));
            let values = values.split('+').filter(|v| !v.is_empty());
            match option {
                "incdir" => {
                    for value in values {
                        self.include_dirs.push(at.folder("+incdir+", value)?);
                    }
                }
                "define" => {
                    for value in values {
                        self.defines.push(at.define("+define+", value)?);
                    }
                }
                "libext" => self.endings.extend(values.map(str::to_owned)),
                _ => return Err(at.unknown(entry)),
            }
            return Ok(());
        }
        if let Some(rest) = entry.strip_prefix('-') {
            // `-I` and `-D` may stand before their value without a blank.
            let option = rest.chars().next().filter(char::is_ascii_alphabetic);
            let value = rest.get(1..).unwrap_or("");
            let (blank, value) = (value.starts_with([' ', '\t']), value.trim());
            match option {
                Some('I') => self.include_dirs.push(at.folder("-I", value)?),
                Some('D') => self.defines.push(at.define("-D", value)?),
                Some('y') if blank => self.library_dirs.push(at.folder("-y", value)?),
                Some(option @ ('f' | 'F')) if blank => {
                    let field = if option == 'f' { "-f" } else { "-F" };
                    let path = at.file(field, value)?;
                    let real = at.dir.join(&path);
                    let real = real.canonicalize().map_err(io(&real))?;
                    if open.contains(&real) {
                        return Err(at.error(field, format!("{value} includes itself")));
                    }
                    if open.len() == DEPTH {
                        let why = format!("more than {DEPTH} lists within each other");
                        return Err(at.error(field, why));
                    }
                    let base = match option {
                        'f' => Path::new(""),
                        _ => path.parent().unwrap_or(Path::new("")),
                    };
                    self.add(at.dir, &path, base, open)?;
                }
                _ => return Err(at.unknown(entry)),
            }
            return Ok(());
        }
        if entry.is_empty() {
            return Ok(());
        }
        let path = at.file("file", entry)?;
        match path.extension().and_then(|x| x.to_str()) {
            Some("cpp" | "cc" | "cxx" | "c") => self.code.push(path),
            Some("o" | "a" | "so") => {
                let why = format!("{entry}: compiled code is not taken, only its source");
                return Err(at.error("file", why));
            }
            _ => self.verilog.push(path),
        }
        Ok(())
    }
}

/// `line` up to a comment.
fn without_comment(line: &str) -> &str {
    let begins = |at: usize| {
        let rest = &line[at..];
        let free = line[..at].chars().next_back().is_none_or(char::is_whitespace);
        free && (rest.starts_with("//") || rest.starts_with('#'))
    };
    let end = line.char_indices().map(|(at, _)| at).find(|at| begins(*at));
    &line[..end.unwrap_or(line.len())]
}

/// A line of a list.
struct Place<'a> {
    file: &'a Path,
    line: usize,
    /// Folder of the first list.
    dir: &'a Path,
    /// What its paths are relative to, in `dir`.
    base: &'a Path,
}

impl Place<'_> {
    fn error(&self, field: &'static str, message: impl Into<String>) -> Error {
        Error::input(self.file, self.line, field, message)
    }

    fn unknown(&self, entry: &str) -> Error {
        let why = format!(
            "{entry}: not taken; there are FILE, +incdir+DIR, -I DIR, -y DIR, +libext+.EXT, +define+NAME=VALUE, -D NAME=VALUE, -f LIST and -F LIST, one a line"
        );
        self.error("option", why)
    }

    fn path(&self, field: &'static str, value: &str) -> Result<PathBuf, Error> {
        if value.is_empty() {
            return Err(self.error(field, "nothing stands behind it"));
        }
        let path = self.base.join(value);
        takes(&path).map_err(|why| self.error(field, why))?;
        Ok(path)
    }

    fn file(&self, field: &'static str, value: &str) -> Result<PathBuf, Error> {
        let path = self.path(field, value)?;
        match fs::metadata(self.dir.join(&path)) {
            Err(_) => Err(self.error(field, format!("no such file: {value}"))),
            Ok(found) if !found.is_file() => {
                Err(self.error(field, format!("not a regular file: {value}")))
            }
            Ok(_) => Ok(path),
        }
    }

    fn folder(&self, field: &'static str, value: &str) -> Result<PathBuf, Error> {
        let path = self.path(field, value)?;
        if !self.dir.join(&path).is_dir() {
            return Err(self.error(field, format!("no such folder: {value}")));
        }
        Ok(path)
    }

    fn define(&self, field: &'static str, value: &str) -> Result<String, Error> {
        let name = value.split('=').next().unwrap_or_default();
        let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(letter) || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.error(field, format!("{value}: {name:?} is no name of a macro")));
        }
        Ok(value.to_owned())
    }
}

/// Whether Verilator takes `path` for what it is.
///
/// # Errors
/// It does not; what of the path does that.
pub(crate) fn takes(path: &Path) -> Result<(), String> {
    let shown = path.display();
    let Some(text) = path.to_str() else {
        return Err(format!("{shown}: not UTF-8; Verilator needs a name that is"));
    };
    if text.contains('$') {
        return Err(format!(
            "{shown}: Verilator would put the value of a variable in the place of `$`; give it another name"
        ));
    }
    if text.chars().any(char::is_control) {
        return Err(format!("{text:?}: a control character in a name"));
    }
    Ok(())
}
