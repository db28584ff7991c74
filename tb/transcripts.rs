//! Transcripts: what commands print, as files. `tb/transcripts/*.txt` are read; each part of one is a test with the name
//! `file::title`, and runs in an empty folder of its own.
//!
//! | a line begins with | it is |
//! |---|---|
//! | `== ` | the title of a part; behind it in brackets: `each unit`, `in CI: WHY`, `others in CI: WHY`, if it is for the first unit alone that `cargo test` runs it, `needs TOOL TOOL` |
//! | `# ` | a comment: what the part shows, and why |
//! | `$ ` | a command line for bash, in which `reconverge` is the command; what follows belongs to it; of a pipe, a status that is not 0 counts, also in a script |
//! | `> ` | a line of its standard input |
//! | two blanks | a line of what it prints to standard output |
//! | `! ` | a line of what it prints to standard error |
//! | `? ` | the status with which it ends, if that is not 0 |
//!
//! All that is printed stands there, so a `$ ls` shows which files were written, and which were not. A line `...` stands for lines, and
//! `[..]` for a part of a line, that differ from machine to machine. `[DIR]` is the folder of the part, `[REPO]` the repository, and
//! `$REPO` names it in a command. A part with `each unit` runs for each of them: `$UNIT` is its name, and `[UNIT]` stands for it in what is printed.
//!
//! `$COMMAND` is the path of the command, for a `PATH` in which it is not found; `[COMMAND]` stands for it. `$VERILATOR` names a Verilator,
//! if the tests run with another one than `.tools/bin/verilator` or that of `PATH`. What is sorted has the order of bytes, and messages of
//! the system are English: `LC_ALL` is `C`. A command that takes 1,200 s is ended, with status 124.
//!
//! Some programs stand beside the transcripts and are found; the head of each says more. `rtl` copies and changes RTL, `tables` prints a
//! declaration, `sealed` gives lines their check sums, `wrapped` is Verilator behind something else, `until_rtl_runs` waits for a worker.
//!
//! `SNAPSHOTS=overwrite cargo test --test transcripts` writes what is printed into the files.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;

use libtest_mimic::{Arguments, Failed, Trial};
use snapbox::assert::Action;
use snapbox::{Assert, IntoData, Redactions};

use crate::common::tool;

#[path = "common/changes.rs"]
#[allow(
    dead_code,
    reason = "no transcript asks what a fault is expected to do"
)]
mod changes;

const UNITS: [&str; 3] = ["r500", "r700", "spa5"];

/// A command, and what it is expected to do.
#[derive(Debug, Default)]
struct Step {
    /// The numbers of its lines, from 0: of the first one, and of the first one behind its input.
    line: usize,
    shown: usize,
    /// The number of the line behind what it prints.
    end: usize,
    command: String,
    input: String,
    out: String,
    err: String,
    status: i32,
}

/// A part of a transcript.
#[derive(Debug, Default)]
struct Part {
    title: String,
    each_unit: bool,
    in_ci: bool,
    others_in_ci: bool,
    needs: Vec<String>,
    steps: Vec<Step>,
}

impl Part {
    /// Reads what stands behind `== `.
    fn titled(line: &str) -> Result<Part, String> {
        let (title, marks) = match line.split_once(" (") {
            Some((title, marks)) => (title, marks.strip_suffix(')').ok_or("no closing bracket")?),
            None => (line, ""),
        };
        let mut part = Part {
            title: title.to_owned(),
            ..Part::default()
        };
        for mark in marks.split("; ").filter(|mark| !mark.is_empty()) {
            match mark.split_once(' ') {
                Some(("each", "unit")) => part.each_unit = true,
                Some(("in", why)) if why.starts_with("CI: ") => part.in_ci = true,
                Some(("others", why)) if why.starts_with("in CI: ") => part.others_in_ci = true,
                Some(("needs", tools)) => {
                    part.needs = tools.split(' ').map(str::to_owned).collect();
                }
                _ => return Err(format!("what is ({mark})?")),
            }
        }
        Ok(part)
    }

    /// Whether `cargo test` leaves it out for `unit`.
    fn is_ignored(&self, unit: &str) -> bool {
        let in_ci = self.in_ci || self.others_in_ci && unit != UNITS[0];
        in_ci || !self.needs.is_empty() && !cfg!(all_tools)
    }
}

/// The parts of a transcript in order, or the number of a line that has no place, and why.
fn parts(text: &str) -> Result<Vec<Part>, (usize, String)> {
    let mut parts: Vec<Part> = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let wrong = |why: &str| (n + 1, why.to_owned());
        let (sign, rest) = line.split_at_checked(2).unwrap_or((line, ""));
        if let Some(title) = line.strip_prefix("== ") {
            parts.push(Part::titled(title).map_err(|why| wrong(&why))?);
            continue;
        }
        let part = parts.last_mut();
        if sign == "$ " {
            let part = part.ok_or_else(|| wrong("a command before the first title"))?;
            part.steps.push(Step {
                line: n,
                shown: n + 1,
                end: n + 1,
                command: rest.to_owned(),
                ..Step::default()
            });
            continue;
        }
        let step = part.and_then(|part| part.steps.last_mut());
        let add = |to: &mut String| *to += &format!("{rest}\n");
        match (sign, step) {
            ("# " | "#", _) => continue,
            ("", None) => continue,
            // Of output, if more of it follows.
            ("", Some(step)) if step.err.is_empty() => step.out.push('\n'),
            ("", Some(step)) => step.err.push('\n'),
            (">" | "> ", Some(step)) if step.shown == n => {
                add(&mut step.input);
                step.shown = n + 1;
            }
            ("  ", Some(step)) if step.err.trim().is_empty() => add(&mut step.out),
            ("! " | "!", Some(step)) => add(&mut step.err),
            ("? ", Some(step)) => step.status = rest.parse().map_err(|_| wrong("no number"))?,
            (_, Some(_)) => {
                return Err(wrong("output stands before errors, and input before both"));
            }
            (_, None) => return Err(wrong("this is behind no command")),
        }
        if let (false, Some(step)) = (sign.is_empty(), parts.last_mut().unwrap().steps.last_mut()) {
            step.end = n + 1;
        }
    }
    for step in parts.iter_mut().flat_map(|part| &mut part.steps) {
        for printed in [&mut step.out, &mut step.err] {
            printed.truncate(printed.trim_end_matches('\n').len());
        }
    }
    Ok(parts)
}

/// The lines that say what a command does.
fn shown(out: &str, err: &str, status: i32) -> Vec<String> {
    let lines = |sign: &str, text: &str| -> Vec<String> {
        let line = |line: &str| format!("{sign}{line}").trim_end().to_owned();
        text.lines().map(line).collect()
    };
    let status = (status != 0).then(|| format!("? {status}"));
    let lines = lines("  ", out).into_iter().chain(lines("! ", err));
    lines.chain(status).collect()
}

/// Runs a part. Returns what differs, and the lines of each step as they should be.
fn follow(part: &Part, file: &str, unit: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let needed: Vec<&'static str> = part
        .needs
        .iter()
        .map(|tool| &*tool.clone().leak())
        .collect();
    let _needed = tool::needs(needed.leak());
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let repository = repository.canonicalize().unwrap();
    let place = tempfile::tempdir().unwrap();
    let (dir, bin) = (place.path().join("dir"), place.path().join("bin"));
    for folder in [&dir, &bin] {
        fs::create_dir(folder).unwrap();
    }
    let command = env!("CARGO_BIN_EXE_reconverge");
    symlink(command, bin.join("reconverge")).unwrap();
    let path = tool::path_behind([bin, repository.join("tb/transcripts")]);
    let mut named = Redactions::new();
    named.insert("[DIR]", dir.clone()).unwrap();
    named.insert("[COMMAND]", command).unwrap();
    named.insert("[REPO]", repository.clone()).unwrap();
    if part.each_unit {
        named.insert("[UNIT]", unit.to_owned()).unwrap();
    }
    let assert = Assert::new().action(Action::Verify);
    let assert = assert.normalize_paths(false).redact_with(named);
    let (mut wrong, mut new) = (Vec::new(), Vec::new());
    for step in &part.steps {
        // A command that waits for ever is ended.
        let mut shell = tool::command("timeout");
        shell.args(["1200", "bash", "-c", &step.command]);
        shell.current_dir(&dir).env("PATH", &path);
        shell.envs(tool::ENVIRONMENT).env("COMMAND", command);
        // Each bash has it, also one that runs a script of the part.
        shell.env("SHELLOPTS", "pipefail").env("LC_ALL", "C");
        shell.env("REPO", &repository).env("UNIT", unit);
        shell.stdin(Stdio::piped());
        let mut running = (shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()).unwrap();
        // A command that reads no input may have ended.
        let _ = running
            .stdin
            .take()
            .unwrap()
            .write_all(step.input.as_bytes());
        let output = running.wait_with_output().unwrap();
        let status = output.status.code().unwrap_or(-1);
        let mut differs = match status == step.status {
            true => String::new(),
            false => format!("exit status {status}, not {}\n", step.status),
        };
        let [out, err] =
            [(&output.stdout, &step.out), (&output.stderr, &step.err)].map(|(bytes, expected)| {
                let said = String::from_utf8_lossy(bytes);
                let lines: Vec<&str> = said.trim_end().lines().map(str::trim_end).collect();
                let said = lines.join("\n");
                let [said, expected] =
                    [&said, expected].map(|text| format!("{text}\n").into_data());
                if let Err(why) = assert.try_eq(None, said.clone(), expected.clone()) {
                    differs += &why.to_string();
                }
                let (normal, _) = assert.normalize(said, expected);
                normal.render().unwrap().trim_end().to_owned()
            });
        if !differs.is_empty() {
            wrong.push(format!(
                "{file}:{}: $ {}\n{differs}",
                step.line + 1,
                step.command
            ));
        }
        new.push(shown(&out, &err, status));
    }
    (wrong, new)
}

/// Writes what the steps of part `title` print into the file.
fn overwrite(path: &Path, title: &str, new: &[Vec<String>]) {
    // Other parts of the file may have been written since it was read.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap();
    let text = fs::read_to_string(path).unwrap();
    let parts = parts(&text).unwrap();
    let part = parts.iter().find(|part| part.title == title).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    for (step, new) in part.steps.iter().zip(new).rev() {
        lines.splice(step.shown..step.end, new.iter().map(String::as_str));
    }
    fs::write(path, lines.join("\n") + "\n").unwrap();
}

/// The tests of file `path`.
fn tests(path: &Path) -> Vec<Trial> {
    let file = path.file_name().unwrap().to_str().unwrap().to_owned();
    let text = fs::read_to_string(path).unwrap();
    let parts = parts(&text).unwrap_or_else(|(line, why)| panic!("{file}:{line}: {why}"));
    let mut all = Vec::new();
    for (n, part) in parts.iter().enumerate() {
        let named_twice = parts[..n].iter().any(|other| other.title == part.title);
        assert!(!named_twice, "{file}: {}: two parts", part.title);
    }
    for part in parts {
        assert!(
            !part.steps.is_empty(),
            "{file}: {}: no commands",
            part.title
        );
        let part: &'static Part = Box::leak(Box::new(part));
        for unit in &UNITS[..if part.each_unit { UNITS.len() } else { 1 }] {
            let name = format!(
                "{}::{}",
                file.trim_end_matches(".txt"),
                part.title.replace(' ', "_")
            );
            let name = if part.each_unit {
                format!("{name}::{unit}")
            } else {
                name
            };
            let (path, file) = (path.to_owned(), file.clone());
            let test = move || -> Result<(), Failed> {
                let (wrong, new) = follow(part, &file, unit);
                if wrong.is_empty() {
                    return Ok(());
                }
                if std::env::var("SNAPSHOTS").is_ok_and(|what| what == "overwrite") {
                    overwrite(&path, &part.title, &new);
                }
                let hint = "SNAPSHOTS=overwrite writes what is printed into the transcript";
                Err(format!("{}\n{hint}", wrong.join("\n")).into())
            };
            all.push(Trial::test(name, test).with_ignored_flag(part.is_ignored(unit)));
        }
    }
    all
}

/// Runs the transcripts that the command line of this program asks for.
pub fn run() {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tb/transcripts");
    let mut files: Vec<PathBuf> = (fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "txt"));
    files.sort();
    let mut all: Vec<Trial> = files.iter().flat_map(|path| tests(path)).collect();
    all.push(Trial::test(
        "a_transcript_that_is_not_followed_is_told",
        || {
            is_told();
            Ok(())
        },
    ));
    all.push(Trial::test("rtl_plants_the_first_fault", || {
        plants_the_first_fault();
        Ok(())
    }));
    libtest_mimic::run(&arguments, all).exit()
}

/// `rtl` reads the faults as the tests in Rust do.
fn plants_the_first_fault() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (unit, kind) in UNITS.iter().flat_map(|unit| {
        ["assertions", "contract", "decisions", "variants"].map(|kind| (unit, kind))
    }) {
        let faults = repository.join(format!("tb/{unit}/faults/{kind}.txt"));
        let fault = &changes::changes(faults.to_str().unwrap())[0];
        let dir = tempfile::tempdir().unwrap();
        let mut rtl = tool::command(repository.join("tb/transcripts/rtl").to_str().unwrap());
        rtl.arg(unit).arg(dir.path()).args(["--fault", kind]);
        rtl.env("REPO", &repository).stdin(Stdio::null());
        assert!(rtl.status().unwrap().success(), "{unit}, {kind}");
        for entry in fs::read_dir(repository.join("rtl").join(unit)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap();
            let mut expected = fs::read_to_string(&path).unwrap();
            if name == fault.file.as_str() {
                assert_eq!(expected.matches(&fault.from).count(), 1, "{unit}, {kind}");
                expected = expected.replace(&fault.from, &fault.to);
            }
            let copy = fs::read_to_string(dir.path().join(name)).unwrap();
            assert!(copy == expected, "{unit}, {kind}: {}", name.display());
        }
    }
}

/// Each way in which a command can differ from its transcript, with what is found, and a file that is written anew.
fn is_told() {
    let good = "== a (each unit)\n# Why.\n$ cat; echo $UNIT $LC_ALL; echo bad >&2; bash -c 'exit 3 | cat'\n> in\n>\n> put\n  in\n\n  put\n  [UNIT] C\n! bad\n? 3\n\n$ ls\n";
    let told = |text: &str| {
        let parts = parts(text).unwrap();
        let (wrong, new) = follow(&parts[0], "t", "r500");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.txt");
        fs::write(&path, text).unwrap();
        overwrite(&path, "a", &new);
        (wrong, fs::read_to_string(path).unwrap())
    };
    assert_eq!(told(good), (vec![], good.to_owned()));
    for (from, to, why) in [
        ("  in\n", "  im\n", "-im"),
        ("  put\n", "", "+put"),
        ("  [UNIT] C\n", "", "+[UNIT]C"),
        ("! bad\n", "", "+bad"),
        ("! bad\n", "! good\n", "-good"),
        ("? 3\n", "", "exitstatus3,not0"),
        ("? 3\n", "? 2\n", "exitstatus3,not2"),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good);
        let (wrong, new) = told(&bad);
        let [said] = &wrong[..] else {
            panic!("{wrong:?}")
        };
        assert!(said.starts_with("t:3: $ cat"), "{said}");
        let mut lines = said.lines().map(|line| line.replace(' ', ""));
        assert!(lines.any(|line| line.ends_with(why)), "{why}: {said}");
        assert_eq!(new, good);
    }
    // A file more than the transcript shows.
    let more = good.replace("$ cat;", "$ cat; touch more;");
    let (wrong, _) = told(&more);
    assert!(wrong.len() == 1 && wrong[0].contains("more"), "{wrong:?}");
    for (marks, ignored) in [
        ("each unit", [false; 3]),
        ("each unit; in CI: it takes long", [true; 3]),
        (
            "each unit; others in CI: they take long",
            [false, true, true],
        ),
        ("needs yosys cadical", [!cfg!(all_tools); 3]),
    ] {
        let part = Part::titled(&format!("a ({marks})")).unwrap();
        assert_eq!(UNITS.map(|unit| part.is_ignored(unit)), ignored, "{marks}");
    }
    for (text, line) in [
        ("$ ls\n", 1),
        ("== a\n  out\n", 2),
        ("== a\n$ ls\n! err\n  out\n", 4),
        ("== a\n$ ls\n  out\n> in\n", 4),
        ("== a (ech unit)\n", 1),
        ("== a\n$ ls\nout\n", 3),
    ] {
        assert_eq!(parts(text).unwrap_err().0, line, "{text}");
    }
}
