//! The library is built in layers, and a module names none of a layer above its own: a design that runs no program needs no
//! module that knows of programs, and a change above changes nothing below. docs/architecture.md shows them. Between crates the
//! compiler holds that; here it is held within one, and that each crate stands on those below it alone.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use reconverge::ROOT;

/// The crates of the library, the lowest first, each with its folder.
const CRATES: [(&str, &str); 5] = [
    ("reconverge-bench", "crates/bench"),
    ("reconverge-program", "crates/program"),
    ("reconverge-campaign", "crates/campaign"),
    ("reconverge-mutate", "crates/mutate"),
    ("reconverge", "."),
];

/// The layers, the lowest first: what each is for, the folder of its crate, and the modules.
const LAYERS: [(&str, &str, &[&str]); 8] = [
    (
        "text and numbers",
        "crates/bench",
        &["html", "input", "json", "process", "quantity", "text"],
    ),
    (
        "designs",
        "crates/bench",
        &[
            "check", "design", "dut", "failure", "field", "found", "home", "lanes", "lcov",
            "lockstep", "place", "report", "stream", "wave",
        ],
    ),
    (
        "programs",
        "crates/program",
        &[
            "alone",
            "case",
            "elf",
            "environment",
            "foreign",
            "generate",
            "import",
            "instructions",
            "judges",
            "program",
            "show",
            "start",
            "stimulus",
            "watch",
            "words",
        ],
    ),
    (
        "campaigns",
        "crates/campaign",
        &["campaign", "cover", "exhaust", "grammar", "shrink"],
    ),
    ("mutants", "crates/mutate", &["mutate", "prove"]),
    ("rules", ".", &["explain", "rules", "unit"]),
    ("units", ".", &["axes", "r500", "r700", "spa5"]),
    ("units as the command has them", ".", &["compiled"]),
];

/// What belongs to no layer: the roots, which name everything; what build script and units share; tests of a layer that take a
/// unit as an example.
const ROOTS: [&str; 4] = ["lib", "package", "tests", "units"];

fn layer(module: &str) -> Option<usize> {
    LAYERS
        .iter()
        .position(|(_, _, modules)| modules.contains(&module))
}

/// The code of `text`: without comments, and without the tests of the module, which may take any unit as an example.
fn code(text: &str) -> String {
    // Whatever else they are there for: `#[cfg(all(test, feature = "linked"))]`.
    let ends = text.match_indices("\nmod tests {").map(|(at, _)| at);
    let ends = ends
        .filter(|at| {
            let before = text[..*at].lines().next_back().unwrap_or_default();
            before.starts_with("#[cfg(") && before.contains("test")
        })
        .min();
    let lines = text[..ends.unwrap_or(text.len())].lines();
    let code = lines.filter(|line| !line.trim_start().starts_with("//"));
    code.collect::<Vec<_>>().join("\n")
}

/// The modules of the crate that `code` names: behind `crate::`, or one of several in braces behind it.
fn named(code: &str) -> BTreeSet<&str> {
    let mut modules = BTreeSet::new();
    for (at, path) in code.match_indices("crate::") {
        let after = &code[at + path.len()..];
        let names = match after.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap_or(list),
            None => after,
        };
        let most = if after.starts_with('{') {
            usize::MAX
        } else {
            1
        };
        modules.extend(names.split(',').take(most).map(|name| {
            name.trim()
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .next()
                .unwrap_or("")
        }));
    }
    modules
}

/// Every Rust file below `path` with its text, each by its path from `src` on.
fn files(src: &Path, path: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(src, &path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let name = path.strip_prefix(src).unwrap();
            found.push((
                name.display().to_string(),
                fs::read_to_string(&path).unwrap(),
            ));
        }
    }
}

/// The source files of the crate in `folder`.
fn sources(folder: &str) -> Vec<(String, String)> {
    let src = Path::new(ROOT).join(folder).join("src");
    let mut found = Vec::new();
    files(&src, &src, &mut found);
    found
}

/// What `text`, the file `name` of the sources of the crate in `folder`, names of a layer above its own.
fn upwards(folder: &str, name: &str, text: &str) -> Vec<String> {
    let module = name.split(['/', '.']).next().unwrap_or(name);
    if ROOTS.contains(&module) {
        return Vec::new();
    }
    let Some(own) = layer(module).filter(|own| LAYERS[*own].1 == folder) else {
        return vec![format!(
            "{name}: `{module}` is in no layer of {folder} in tb/layers.rs"
        )];
    };
    let code = code(text);
    let above = named(&code)
        .into_iter()
        .filter(|other| layer(other).is_some_and(|other| other > own));
    above
        .map(|other| {
            let layers = [layer(other), Some(own)].map(|n| n.map_or("", |n| LAYERS[n].0));
            format!(
                "{name}: `{other}` is of the layer of {}, above {}",
                layers[0], layers[1]
            )
        })
        .collect()
}

#[test]
fn no_module_names_one_of_a_layer_above_its_own() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (_, folder) in CRATES {
        for (name, text) in sources(folder) {
            wrong.extend(upwards(folder, &name, &text));
            count += 1;
        }
    }
    assert!(count > 100, "{count} files");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The packages of the library that a manifest names, also for its tests alone, where cargo takes circles.
fn depends_on(manifest: &str) -> Vec<&str> {
    let names = CRATES.map(|(name, _)| name);
    let lines = manifest.lines();
    let named = lines.filter_map(|line| {
        let name = line.split([' ', '.', '=']).next()?;
        names.into_iter().find(|known| *known == name)
    });
    named.collect()
}

#[test]
fn each_crate_depends_on_those_below_it_alone() {
    for (index, (name, folder)) in CRATES.iter().enumerate() {
        let path = Path::new(ROOT).join(folder).join("Cargo.toml");
        let manifest = fs::read_to_string(path).unwrap();
        assert!(manifest.contains(&format!("\nname = \"{name}\"\n")));
        let below: Vec<&str> = CRATES[..index].iter().map(|(name, _)| *name).collect();
        let named = depends_on(&manifest);
        assert!(named.iter().all(|n| below.contains(n)), "{name}: {named:?}");
        assert!(below.iter().all(|b| named.contains(b)), "{name}: {named:?}");
    }
    let above =
        "[dependencies]\nserde = \"1\"\n\n[dev-dependencies]\nreconverge = { path = \"../..\" }\n";
    assert_eq!(depends_on(above), ["reconverge"]);
}

/// One unit names no other.
#[test]
fn no_unit_names_another() {
    let found = sources(".");
    for unit in ["r500", "r700", "spa5"] {
        for (name, text) in found.iter().filter(|(name, _)| name.starts_with(unit)) {
            let code = code(text);
            let others = named(&code)
                .into_iter()
                .filter(|m| layer(m) == layer("r500") && *m != unit && *m != "axes");
            assert_eq!(others.collect::<Vec<_>>(), Vec::<&str>::new(), "{name}");
        }
    }
}

/// A file is read in one go. Tests at its end do not count.
const MAX_LINES: usize = 800;

#[test]
fn no_file_is_longer_than_one_reads() {
    let mut count = 0;
    let tests = Path::new(ROOT).join("tb");
    let mut found = Vec::new();
    files(&tests, &tests, &mut found);
    for (name, text) in found {
        let lines = text.lines().count();
        assert!(lines <= MAX_LINES, "tb: {name}: {lines} lines");
        count += 1;
    }
    let others = [
        "crates/command",
        "crates/declaration",
        "crates/verilate",
        "crates/golden",
    ];
    for part in CRATES.map(|(_, folder)| folder).into_iter().chain(others) {
        for (name, text) in sources(part) {
            let lines = text
                .lines()
                .take_while(|line| !line.starts_with("mod tests {"));
            let lines = lines.count();
            assert!(lines <= MAX_LINES, "{part}: {name}: {lines} lines");
            count += 1;
        }
    }
    assert!(count > 300, "{count} files");
}

#[test]
fn a_name_from_above_is_seen_wherever_it_stands() {
    let wrong = |text: &str| upwards("crates/bench", "input.rs", text);
    assert_eq!(
        wrong("use crate::design::Design;\n"),
        ["input.rs: `design` is of the layer of designs, above text and numbers"]
    );
    assert_eq!(wrong("use crate::{text, field::Field};").len(), 1);
    assert_eq!(wrong("fn f(_: crate::spa5::state::State) {}").len(), 1);
    assert_eq!(
        wrong("use crate::text::hex;\n// crate::case::Case\n"),
        Vec::<String>::new()
    );
    assert_eq!(
        wrong("#[cfg(test)]\nmod tests {\n    use crate::r500::R500;\n}\n"),
        Vec::<String>::new()
    );
    assert_eq!(
        upwards(".", "more/deep.rs", ""),
        ["more/deep.rs: `more` is in no layer of . in tb/layers.rs"]
    );
}

/// The command is built on what the library shows of itself, as any other program.
#[test]
fn the_command_names_no_crate_below_the_library() {
    let manifest = fs::read_to_string(Path::new(ROOT).join("crates/command/Cargo.toml")).unwrap();
    assert_eq!(depends_on(&manifest), ["reconverge"]);
}

/// The first line of a test's source that starts an optional tool, or our command, without `tool::command`.
fn starts_by_itself(text: &str) -> Option<&str> {
    let tools = include_str!("optional_tools").lines();
    let programs = tools.map(|tool| format!("{tool:?})"));
    let programs = programs.chain(["env!(".to_owned()]);
    let starts: Vec<String> = programs
        .map(|program| format!("Command::new({program}"))
        .collect();
    text.lines()
        .find(|line| starts.iter().any(|start| line.contains(start)))
}

/// Else a test would find tools that it does not name: tb/common/tool.rs.
#[test]
fn no_test_starts_an_optional_tool_by_itself() {
    let (tb, mut found) = (Path::new(ROOT).join("tb"), Vec::new());
    files(&tb, &tb, &mut found);
    for (name, text) in &found {
        assert_eq!(starts_by_itself(text), None, "tb/{name}");
    }
    for tool in ["\"yosys\"", "env!(\"CARGO_BIN_EXE_reconverge\")"] {
        let started = format!("fn test() {{\n    Command::new({tool})\n");
        assert!(starts_by_itself(&started).is_some(), "{tool}");
    }
}

/// Tests in a crate that is left out of the test build are never run, and pass for ever.
#[test]
fn the_command_has_no_unit_tests_for_they_would_not_be_compiled() {
    let mut count = 0;
    for (name, text) in sources("crates/command") {
        let for_tests =
            |line: &str| line.trim_start().starts_with("#[cfg(") && line.contains("test");
        assert!(!text.lines().any(for_tests), "{name}");
        count += 1;
    }
    assert!(count > 20, "{count} files");
}
