//! `new --programs`: a crate with a sequencer that runs programs. It is `rpseq` of `examples/own_unit`, which the guide explains, under
//! another name: its table of words, golden model, judge, grammar and bins are there to be changed.

use std::fs;
use std::path::Path;

use reconverge::input::InputError;

use super::manifest::{manifest, sources};
use super::{BUILD, IGNORED, WORKFLOW, main_of, type_of};
use crate::console::Failure;

/// Files of the example, and what they are in the crate; `NAME` stands for its name.
const FILES: [(&str, &str); 13] = [
    ("docs/spec/rpseq.md", "docs/spec/NAME.md"),
    ("rtl/rpseq/design.toml", "rtl/design.toml"),
    ("rtl/rpseq/rpseq.sv", "rtl/NAME.sv"),
    ("rtl/rpseq/rpseq_formal.sv", "rtl/NAME_formal.sv"),
    ("rtl/rpstack.sv", "rtl/rpstack.sv"),
    ("src/rpseq/mod.rs", "src/lib.rs"),
    ("src/rpseq/program.rs", "src/program.rs"),
    ("src/rpseq/golden.rs", "src/golden.rs"),
    ("src/rpseq/judge.rs", "src/judge.rs"),
    ("src/rpseq/generate.rs", "src/generate.rs"),
    ("src/rpseq/cover.rs", "src/cover.rs"),
    ("tests/bench/rpseq.rs", "tests/programs.rs"),
    ("tests/bench/common.rs", "tests/common/mod.rs"),
];

/// Texts of the example that depend on its place among the other designs, and what stands there instead.
const PLACES: [(&str, &str); 7] = [
    ("../../docs/spec", "../docs/spec"),
    (
        "crate::rtl().join(\"rpseq\")",
        "PathBuf::from(env!(\"CARGO_MANIFEST_DIR\")).join(\"rtl\")",
    ),
    ("&dir.path().join(\"rpseq\")", "dir.path()"),
    ("rpseq/rpseq.sv", "rpseq.sv"),
    ("use crate::common;", "mod common;"),
    ("own_unit::rpseq::", "rpseq::"),
    ("own_unit::", "rpseq::"),
];

/// What the tests of the example begin with that need Yosys.
const MUTANTS: [&str; 2] = [
    "\n/// How many mutants of a family",
    "use reconverge::mutate::{self, Family, by_campaign};\n",
];

/// Writes the crate `name`; `write` gets the name of each file and its text.
pub fn write(name: &str, write: impl Fn(&str, &str) -> Result<(), Failure>) -> Result<(), Failure> {
    let refused = |why: String| Failure::from(InputError::option("--programs", why));
    if name == "rpstack" {
        return Err(refused("rpstack is the stack in its RTL".to_owned()));
    }
    let home = sources().map_err(|why| {
        let root = reconverge::ROOT;
        refused(format!(
            "it copies an example, which is in {root}; that is {why}"
        ))
    })?;
    let example = home.join("examples/own_unit");
    let read = |(from, to): (&str, &str)| {
        let text = fs::read_to_string(example.join(from));
        let text = text.map_err(|e| InputError::io(example.join(from).to_string_lossy(), &e))?;
        Ok((to.replace("NAME", name), text))
    };
    let files: Vec<(String, String)> = FILES
        .map(read)
        .into_iter()
        .collect::<Result<_, InputError>>()?;
    let mut kind = type_of(name);
    let word = |c: char| !(c.is_alphanumeric() || c == '_');
    if files
        .iter()
        .any(|(_, text)| text.split(word).any(|word| word == kind))
    {
        kind += "Unit";
    }
    for (to, text) in files {
        let (rest, mutants) = (
            text.split(MUTANTS[0]).next().unwrap_or_default(),
            MUTANTS[1],
        );
        let own = PLACES
            .iter()
            .fold(rest.replace(mutants, ""), |text, (there, here)| {
                text.replace(there, here)
            });
        write(&to, &own.replace("rpseq", name).replace("RpSeq", &kind))?;
    }
    write(
        &format!("rtl/{name}.f"),
        &format!("rpstack.sv\n{name}.sv\n"),
    )?;
    write("src/main.rs", &main_of(name, &kind, "guest"))?;
    write("Cargo.toml", &with_programs(&manifest(name, Some(&home))))?;
    write("build.rs", BUILD)?;
    write(".gitignore", IGNORED)?;
    write(".github/workflows/test.yaml", WORKFLOW)
}

/// Returns a `Cargo.toml` with what programs need: campaigns, and the libraries that draw and save them.
fn with_programs(manifest: &str) -> String {
    let needs =
        "[dependencies]\nrand = \"0.9\"\nserde = { version = \"1\", features = [\"derive\"] }\n";
    let tests = "\n[dev-dependencies]\ntempfile = \"3\"\n\n[build-dependencies]";
    manifest
        .replace("features = [\"rtl\"]", "features = [\"mutate\"]")
        .replace("[dependencies]\n", needs)
        .replace("\n[build-dependencies]", tests)
}

/// Returns what the command prints.
pub fn summary(dir: &Path, run: &str) -> String {
    let dir = dir.display();
    format!(
        "{dir}: a sequencer that runs programs, with seven instructions\n  \
         docs/spec/*.md     its specification, whose rules reports cite and explain shows\n  \
         src/program.rs     the table of its words: assembler, disassembler, explain, shrinker and random words follow it\n  \
         src/golden.rs      what a cycle does; src/judge.rs what a lane does alone\n  \
         src/generate.rs    random programs; src/cover.rs bins\n  \
         src/lib.rs         what is around it: memory, conditions, a launch\n  \
         rtl/design.toml    pins and state of rtl/*.sv\n  \
         src/main.rs        its command: cd {run} && cargo run --release -- fuzz\n  \
         tests/programs.rs  run it: cargo test\n"
    )
}
