//! File lists, `<unit>.f`: the files of an RTL design.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, io};

/// The contents of a file list. Paths are as Verilator gets them: absolute, or relative to the folder of the list.
///
/// Each line of the list has one of these forms:
///
/// | line | meaning |
/// |---|---|
/// | `FILE` | SystemVerilog, in the order of compilation, or a `.vlt` file of Verilator |
/// | `FILE.cpp`, `.cc`, `.cxx`, `.c` | code that the RTL imports with DPI-C; `.c` is C, the others C++17 |
/// | `+incdir+DIR...`, `-I DIR` | a folder that is searched for include files |
/// | `-y DIR` | a folder that is searched for modules |
/// | `+libext+.EXT...` | extensions of the files in it |
/// | `+define+NAME...`, `-D NAME`, each with or without `=VALUE` | a macro |
/// | `-f LIST` | a further list, its paths relative to the folder of the FIRST list |
/// | `-F LIST` | a further list, its paths relative to its OWN folder |
///
/// A comment begins with `//` or `#` at the beginning of a line or after a blank. A name may contain blanks, and `$NAME`,
/// `${NAME}` or `$(NAME)`, which stands for the value of an environment variable. The folder of the list is searched for
/// include files before all others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileList {
    /// Lists that were read: this one, then those that it names.
    pub lists: Vec<PathBuf>,
    /// SystemVerilog files.
    pub verilog: Vec<PathBuf>,
    /// C and C++ files.
    pub code: Vec<PathBuf>,
    /// Folders that are searched for include files.
    pub include_dirs: Vec<PathBuf>,
    /// Folders that are searched for modules.
    pub library_dirs: Vec<PathBuf>,
    /// File extensions in these folders, each with its dot.
    pub endings: Vec<String>,
    /// Macros, `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
}

/// Most levels of lists that name further lists.
const DEPTH: usize = 32;

impl FileList {
    /// Reads list `name` in folder `dir`.
    ///
    /// # Errors
    /// [`Error::Input`] with list and line: an entry has none of these forms; a file does not exist or is not a regular
    /// file; lists name each other in a circle; Verilator would misread a name.
    pub fn read(dir: &Path, name: &str) -> Result<Self, Error> {
        let mut list = FileList::default();
        list.add(dir, Path::new(name), Path::new(""), &mut Vec::new())?;
        if list.verilog.is_empty() {
            let file = dir.join(name);
            return Err(Error::input(&file, 1, "file", "the list names no RTL"));
        }
        Ok(list)
    }

    /// Returns whether the list names RTL files only, so that a tool without options for the rest can use it.
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

    /// Returns how the names of files end in which modules are found.
    pub(crate) fn module_endings(&self) -> impl Iterator<Item = &str> {
        let own = self.endings.iter().map(String::as_str);
        [".v", ".sv"].into_iter().chain(own)
    }

    /// Adds the list's entries other than files to a Verilator command that runs in the folder of the list.
    pub(crate) fn to_verilator(&self, command: &mut Command) {
        command.arg("-I.");
        for dir in &self.include_dirs {
            command.arg(format!("-I{}", dir.display()));
        }
        for dir in &self.library_dirs {
            command.arg("-y").arg(dir);
        }
        if !self.endings.is_empty() {
            command.arg(format!("+libext+{}", self.endings.join("+")));
        }
        command.args(self.defines.iter().map(|define| format!("-D{define}")));
    }

    /// Adds the list `path`, relative to `dir`, whose own entries are relative to `base` in `dir`. `open` has the lists
    /// that led here.
    fn add(
        &mut self,
        dir: &Path,
        path: &Path,
        base: &Path,
        open: &mut Vec<PathBuf>,
    ) -> Result<(), Error> {
        let file = dir.join(path);
        let unread = |e: std::io::Error| Error::input(&file, 0, "file", e.to_string());
        if fs::metadata(&file).is_ok_and(|m| !m.is_file()) {
            return Err(Error::input(&file, 0, "file", "not a regular file"));
        }
        let text = fs::read_to_string(&file).map_err(unread)?;
        let real = file.canonicalize().map_err(io(&file))?;
        open.push(real);
        self.lists.push(path.to_owned());
        for (index, line) in text.lines().enumerate() {
            let at = ListLine {
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

    fn entry(&mut self, at: &ListLine, entry: &str, open: &mut Vec<PathBuf>) -> Result<(), Error> {
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
            // The value may follow `-I` and `-D` without a blank.
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

/// Returns `line` up to a comment.
fn without_comment(line: &str) -> &str {
    let begins = |at: usize| {
        let rest = &line[at..];
        let free = line[..at]
            .chars()
            .next_back()
            .is_none_or(char::is_whitespace);
        free && (rest.starts_with("//") || rest.starts_with('#'))
    };
    let end = line.char_indices().map(|(at, _)| at).find(|at| begins(*at));
    &line[..end.unwrap_or(line.len())]
}

/// A line of a list.
struct ListLine<'a> {
    file: &'a Path,
    line: usize,
    /// Folder of the first list.
    dir: &'a Path,
    /// Base of its paths, in `dir`.
    base: &'a Path,
}

impl ListLine<'_> {
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
        let value = with_variables(value).map_err(|why| self.error(field, why))?;
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
        macro_name(value).map_err(|why| self.error(field, why))?;
        Ok(value.to_owned())
    }
}

/// Checks the name of the macro that `value`, `NAME` or `NAME=VALUE`, defines.
///
/// # Errors
/// It is not a name.
pub fn macro_name(value: &str) -> Result<(), String> {
    let name = value.split('=').next().unwrap_or_default();
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let named = !name.is_empty() && name.chars().all(letter);
    match named && !name.starts_with(|c: char| c.is_ascii_digit()) {
        true => Ok(()),
        false => Err(format!(
            "{value}: a macro must be named by letters, digits and _, not a digit first"
        )),
    }
}

/// Replaces each environment variable in a name by its value.
///
/// # Errors
/// A variable is not set, or not UTF-8; `$` does not begin one.
fn with_variables(text: &str) -> Result<String, String> {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('$') {
        let close = match after.chars().next() {
            Some('{') => Some('}'),
            Some('(') => Some(')'),
            _ => None,
        };
        let (name, left) = match close {
            Some(close) => after[1..].split_once(close).unwrap_or(("", "")),
            None => after.split_at(after.find(|c| !letter(c)).unwrap_or(after.len())),
        };
        if name.is_empty() || !name.chars().all(letter) {
            return Err(format!(
                "{text}: the name of an environment variable must follow `$`"
            ));
        }
        let value = std::env::var(name).map_err(|_| {
            format!("{text}: the environment variable {name} must be set, in UTF-8")
        })?;
        out += before;
        out += &value;
        rest = left;
    }
    Ok(out + rest)
}

/// Checks that Verilator reads the name `path` unchanged.
///
/// # Errors
/// It does not; says which part of the path is the cause.
pub(crate) fn takes(path: &Path) -> Result<(), String> {
    let shown = path.display();
    let Some(text) = path.to_str() else {
        return Err(format!(
            "{shown}: not UTF-8; Verilator needs a name that is"
        ));
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// Creates a folder with these files; a name that ends in `/` is a folder.
    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            if name.ends_with('/') {
                fs::create_dir_all(path).unwrap();
            } else {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
        }
        dir
    }

    fn paths(names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(PathBuf::from).collect()
    }

    /// `CARGO_MANIFEST_DIR` and `CARGO_PKG_NAME` are set in every test.
    #[test]
    fn environment_variables_stand_for_their_values_in_names_only() {
        let package = env!("CARGO_PKG_NAME");
        let inside = format!("{package}/inc/");
        let list = "$CARGO_MANIFEST_DIR/src/lib.rs\n+incdir+${CARGO_PKG_NAME}/inc\n-y $(CARGO_PKG_NAME)\n+define+W=$CARGO_PKG_NAME\n";
        let dir = folder(&[("u.f", list), (&inside, "")]);
        let list = FileList::read(dir.path(), "u.f").unwrap();
        assert_eq!(
            list.verilog,
            [Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")]
        );
        assert_eq!(list.include_dirs, paths(&[&format!("{package}/inc")]));
        assert_eq!(list.library_dirs, paths(&[package]));
        assert_eq!(list.defines, ["W=$CARGO_PKG_NAME"]);
    }

    #[test]
    fn a_list_names_files_folders_macros_and_code() {
        let dir = folder(&[
            (
                "u.f",
                "// comment\n a b.sv  // trailing\nx//y.sv\n# other comment\n+incdir+inc+in 2\n-Iinc\n-I in 2\n-y lib\n\
                 +libext+.vv+.w\n+define+A=1+B\n-DC\n-D D=8'h1\nm.cpp\nn.c\nw.vlt\n",
            ),
            ("a b.sv", ""),
            ("x/y.sv", ""),
            ("m.cpp", ""),
            ("n.c", ""),
            ("w.vlt", ""),
            ("inc/", ""),
            ("in 2/", ""),
            ("lib/", ""),
        ]);
        let list = FileList::read(dir.path(), "u.f").unwrap();
        assert_eq!(
            list,
            FileList {
                lists: paths(&["u.f"]),
                verilog: paths(&["a b.sv", "x//y.sv", "w.vlt"]),
                code: paths(&["m.cpp", "n.c"]),
                include_dirs: paths(&["inc", "in 2", "inc", "in 2"]),
                library_dirs: paths(&["lib"]),
                endings: vec![".vv".to_owned(), ".w".to_owned()],
                defines: ["A=1", "B", "C", "D=8'h1"].map(str::to_owned).into(),
            }
        );
        assert!(!list.is_plain());
    }

    /// The same as in simulators that run in the folder of the first list.
    #[test]
    fn paths_of_a_further_list_are_relative_to_the_first_list_with_f_and_to_their_own_with_capital_f()
     {
        let dir = folder(&[
            ("u.f", "-f sub/one.f\n-F sub/two.f\n"),
            ("sub/one.f", "a.sv\nsub/a.sv\n"),
            (
                "sub/two.f",
                "a.sv\n../a.sv\n+incdir+deep\n-F deep/three.f\n-f sub/four.f\n",
            ),
            ("sub/deep/three.f", "b.sv\n"),
            ("sub/four.f", "a.sv\n"),
            ("a.sv", ""),
            ("sub/a.sv", ""),
            ("sub/deep/b.sv", ""),
        ]);
        // A list that another list names has its paths relative to that list's base.
        let why = FileList::read(dir.path(), "u.f").unwrap_err().to_string();
        assert!(
            why.ends_with("sub/two.f:5: -f: no such file: sub/four.f"),
            "{why}"
        );
        fs::write(
            dir.path().join("sub/two.f"),
            "a.sv\n../a.sv\n+incdir+deep\n-F deep/three.f\n",
        )
        .unwrap();
        let list = FileList::read(dir.path(), "u.f").unwrap();
        let verilog = [
            "a.sv",
            "sub/a.sv",
            "sub/a.sv",
            "sub/../a.sv",
            "sub/deep/b.sv",
        ];
        assert_eq!(list.verilog, paths(&verilog));
        assert_eq!(list.include_dirs, paths(&["sub/deep"]));
        assert_eq!(
            list.lists,
            paths(&["u.f", "sub/one.f", "sub/two.f", "sub/deep/three.f"])
        );
    }

    #[test]
    fn what_a_list_must_not_say_is_refused_with_its_line() {
        for (text, why) in [
            ("a.sv\nno.sv\n", ":2: file: no such file: no.sv"),
            ("a.sv\ndir\n", ":2: file: not a regular file: dir"),
            ("fifo\n", ":1: file: not a regular file: fifo"),
            ("", ":1: file: the list names no RTL"),
            ("// a.sv\n", ":1: file: the list names no RTL"),
            ("a.sv\n+incdir+no\n", ":2: +incdir+: no such folder: no"),
            ("a.sv\n+incdir+a.sv\n", ":2: +incdir+: no such folder: a.sv"),
            ("a.sv\n-I\n", ":2: -I: nothing stands behind it"),
            ("a.sv\n-y no\n", ":2: -y: no such folder: no"),
            ("a.sv\n-f no.f\n", ":2: -f: no such file: no.f"),
            ("a.sv\n-f u.f\n", ":2: -f: u.f includes itself"),
            (
                "a.sv\n-F dir/back.f\n",
                "dir/back.f:1: -F: ../u.f includes itself",
            ),
            (
                "a.sv\n+define+1A\n",
                ":2: +define+: 1A: a macro must be named by letters, digits and _, not a digit first",
            ),
            (
                "a.sv\n-D =3\n",
                ":2: -D: =3: a macro must be named by letters, digits and _, not a digit first",
            ),
            (
                "a.sv\n-Wno-fatal\n",
                ":2: option: -Wno-fatal: not taken; there are FILE, ",
            ),
            (
                "a.sv\n+notimingchecks\n",
                ":2: option: +notimingchecks: not taken; ",
            ),
            ("a.sv\n-v a.sv\n", ":2: option: -v a.sv: not taken; "),
            (
                "a.sv\nx.o\n",
                ":2: file: x.o: compiled code is not taken, only its source",
            ),
            (
                "a.sv\n$RECONVERGE_NEVER_SET/a.sv\n",
                ":2: file: $RECONVERGE_NEVER_SET/a.sv: the environment variable RECONVERGE_NEVER_SET must be set, in UTF-8",
            ),
            (
                "a.sv\n${HOME/a.sv\n",
                ":2: file: ${HOME/a.sv: the name of an environment variable must follow `$`",
            ),
            (
                "a.sv\na$.sv\n",
                ":2: file: a$.sv: the name of an environment variable must follow `$`",
            ),
            (
                "a.sv\nb\u{7}.sv\n",
                ":2: file: \"b\\u{7}.sv\": a control character in a name",
            ),
        ] {
            let dir = folder(&[
                ("u.f", text),
                ("a.sv", ""),
                ("x.o", ""),
                ("dir/back.f", "-F ../u.f\n"),
            ]);
            let made = std::process::Command::new("mkfifo")
                .arg(dir.path().join("fifo"))
                .status();
            assert!(made.unwrap().success());
            let error = FileList::read(dir.path(), "u.f").unwrap_err();
            assert!(error.is_input(), "{text:?}");
            let shown = error.to_string();
            let shown = shown.strip_prefix(dir.path().to_str().unwrap()).unwrap();
            assert!(shown.contains(why), "{text:?}: {shown}");
        }
    }

    #[test]
    fn a_list_that_is_not_there_or_no_text_is_refused() {
        let dir = folder(&[("bin.f", "")]);
        fs::write(dir.path().join("bin.f"), [0xff, 0xfe]).unwrap();
        for (name, why) in [
            ("u.f", "No such file or directory"),
            ("bin.f", "valid UTF-8"),
        ] {
            let error = FileList::read(dir.path(), name).unwrap_err();
            assert!(error.is_input());
            assert!(error.to_string().contains(why), "{error}");
        }
    }

    #[test]
    fn lists_lie_thirty_two_deep_and_no_deeper() {
        for (depth, taken) in [(DEPTH, true), (DEPTH + 1, false)] {
            let dir = folder(&[("a.sv", "")]);
            for n in 0..depth {
                let next = match n + 1 == depth {
                    true => "a.sv\n".to_owned(),
                    false => format!("-f {}.f\n", n + 1),
                };
                fs::write(dir.path().join(format!("{n}.f")), next).unwrap();
            }
            let read = FileList::read(dir.path(), "0.f");
            assert_eq!(read.is_ok(), taken, "{depth}: {read:?}");
        }
    }

    /// Two names of the same list count as one list.
    #[test]
    fn a_circle_through_a_link_is_seen() {
        let dir = folder(&[("u.f", "a.sv\n-f other.f\n"), ("a.sv", "")]);
        symlink("u.f", dir.path().join("other.f")).unwrap();
        let why = FileList::read(dir.path(), "u.f").unwrap_err().to_string();
        assert!(why.ends_with("u.f:2: -f: other.f includes itself"), "{why}");
    }
}
