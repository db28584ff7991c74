//! What the pages name is there: options of the commands that they name, names of the sources, variables, exit statuses.
//! Rules, links, files and symbols of Rust: tb/citations.rs. Names in the specifications are those of their Python and of the
//! sources that they cite.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::pages::{pages, quoted, texts};
use crate::common::{ROOT, reconverge_ends, text};

/// Code on one line of a page: each span of it, each command of a block of `sh`, with the line numbers.
fn code(page: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = quoted(page)
        .into_iter()
        .map(|(n, span)| (n, span.to_owned()))
        .collect();
    let mut shell = false;
    for (n, line) in page.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(language) => shell = language == "sh",
            None if shell => {
                let line = line.split(" # ").next().unwrap();
                let commands = line.split(" | ").flat_map(|part| part.split(" && "));
                found.extend(commands.map(|words| (n + 1, words.to_owned())));
            }
            None => {}
        }
    }
    found
}

/// The options in a text: `--lanes`.
fn options(said: &str) -> impl Iterator<Item = &str> {
    said.match_indices("--").filter_map(|(at, _)| {
        let before = said[..at].chars().next_back();
        let rest = &said[at + 2..];
        let end = rest.find(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
        let name = &rest[..end.unwrap_or(rest.len())];
        let whole = !before.is_some_and(|c| c.is_alphanumeric() || "-_<!".contains(c));
        (whole && name.starts_with(|c: char| c.is_ascii_lowercase())).then_some(name)
    })
}

/// The options of each command, and of `./setup`.
fn known() -> BTreeMap<String, BTreeSet<String>> {
    let owned = |help: &str| options(help).map(str::to_owned).collect::<BTreeSet<_>>();
    let help = reconverge_ends(0, &["--help"]);
    let commands = help.split("Commands:\n").nth(1).unwrap();
    let commands = commands.split("\n\n").next().unwrap().lines();
    let names = commands.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let mut all: BTreeMap<String, BTreeSet<String>> = names
        .filter(|name| !name.is_empty())
        .map(|name| (name.to_owned(), owned(&reconverge_ends(0, &["help", name]))))
        .collect();
    // What only the command of a crate without programs offers: tb/guest.rs.
    let of_streams = ["streams", "stream-cycles"].map(str::to_owned);
    all.get_mut("fuzz").unwrap().extend(of_streams);
    let setup = Command::new(Path::new(ROOT).join("setup"))
        .arg("--help")
        .output();
    all.insert("./setup".to_owned(), owned(&text(&setup.unwrap().stdout)));
    all
}

/// In the texts of the command, `{CONDITION:PART}` is a part for some designs only: no help shows one, and that of the units says nothing of
/// designs without programs. Of those without, and of what theirs does not say: tb/guest.rs.
#[test]
fn help_is_about_the_units() {
    for name in known().keys().filter(|name| *name != "./setup") {
        let help = reconverge_ends(0, &["help", name]);
        let mut conditions = help
            .split('{')
            .skip(1)
            .filter_map(|part| part.split_once(':'));
        let is_word = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric());
        assert!(
            !conditions.any(|(condition, _)| is_word(condition)),
            "{help}"
        );
        let mut words = help.split(|c: char| !c.is_ascii_alphanumeric());
        // `prove` writes streams of pins for every design, and `replay` runs them.
        let may = ["prove", "replay"].contains(&name.as_str());
        assert!(
            may || words.all(|word| !word.starts_with("stream")),
            "{help}"
        );
    }
    let replay = reconverge_ends(0, &["replay", "--help"]);
    assert!(
        replay.contains("A saved case or stream of pins"),
        "{replay}"
    );
}

/// Programs that pages call and that are not ours.
const OTHERS: [&str; 8] = [
    "cargo",
    "bash",
    "valgrind",
    "sbatch",
    "kubectl",
    "parallel",
    "docker",
    "verilator",
];

/// The options of `words` that do not exist: of the command that it begins with, otherwise of any command.
fn unknown<'w>(words: &'w str, known: &BTreeMap<String, BTreeSet<String>>) -> Vec<&'w str> {
    let mut rest = words.trim();
    for before in [
        "$ ",
        "cargo run --release -- ",
        "target/release/reconverge ",
        "reconverge ",
    ] {
        rest = rest.strip_prefix(before).unwrap_or(rest);
    }
    // Variables for one command stand before it.
    let mut parts = rest.split(' ');
    let first = parts.find(|part| !part.contains('=')).unwrap_or_default();
    if OTHERS.contains(&first) {
        return Vec::new();
    }
    let there = |option: &&str| match known.get(first) {
        Some(of_command) => of_command.contains(*option),
        None => known.values().any(|all| all.contains(*option)),
    };
    options(rest).filter(|option| !there(option)).collect()
}

#[test]
fn options_that_pages_name_are_those_of_the_commands() {
    let known = known();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for path in pages() {
        if path.ends_with("CHANGELOG.md") {
            continue;
        }
        let page = fs::read_to_string(&path).unwrap();
        for (n, words) in code(&page) {
            count += options(&words).count();
            for option in unknown(&words, &known) {
                wrong.push(format!(
                    "{}:{n}: no command has --{option}: {words}",
                    path.display()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 250, "{count} options");
}

#[test]
fn an_option_that_is_not_there_is_seen() {
    let known = known();
    let page = "`--lanes` `--lane`\n```sh\n$ cargo run --release -- fuzz r500 --cycles 1 --lcov x && ./setup --all --every # exit 1\n```\n\
        `fuzz --shard 1/2 --genau`, `cargo test --test x`";
    let wrong: Vec<(usize, String)> = code(page)
        .iter()
        .flat_map(|(n, words)| {
            unknown(words, &known)
                .into_iter()
                .map(|o| (*n, o.to_owned()))
        })
        .collect();
    let wrong: Vec<(usize, &str)> = wrong.iter().map(|(n, o)| (*n, o.as_str())).collect();
    assert_eq!(
        wrong,
        [(1, "lane"), (5, "genau"), (3, "lcov"), (3, "every")]
    );
}

/// The words of a text, as in the languages of the sources.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split(move |c| !letter(c))
        .filter(|word| !word.is_empty())
}

/// The names in a span of code that have to be in the sources: with an underscore (fields, ports, files, constants), and
/// variables of the environment. `US_FC_*` and `u_core__level_q` are patterns.
fn names(span: &str) -> Vec<&str> {
    let underscore = |word: &&str| {
        word.contains('_') && !word.starts_with('_') && !word.ends_with('_') && !word.contains("__")
    };
    let variables = span.split('$').skip(1).filter_map(|rest| {
        words(rest)
            .next()
            .filter(|word| rest.starts_with(word) && word.to_uppercase() == **word)
    });
    let mut all: Vec<&str> = words(span).filter(underscore).chain(variables).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The words of everything but the pages, and of the names of files.
fn in_sources() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for name in [
        ".cargo",
        ".ci",
        "Cargo.toml",
        "benches",
        "build.rs",
        "crates",
        "deny.toml",
        "dist",
        "examples",
        "fuzz/Cargo.toml",
        "fuzz/fuzz_targets",
        "rtl",
        "setup",
        "src",
        "tb",
        "waves",
    ] {
        for (path, text) in texts(&Path::new(ROOT).join(name)) {
            let page = path.extension().is_some_and(|e| e == "md");
            // Strings that this file tries do not count.
            if !page && !path.ends_with("tb/named.rs") {
                all.extend(words(&text).map(str::to_owned));
            }
            all.extend(words(path.to_str().unwrap()).map(str::to_owned));
            // The parts of transcripts are tests, with their titles as names.
            let titles = text.lines().filter_map(|line| line.strip_prefix("== "));
            let titles = titles.filter_map(|line| line.split(" (").next());
            all.extend(titles.map(|title| title.replace(|c: char| !c.is_alphanumeric(), "_")));
        }
    }
    all
}

#[test]
fn names_that_pages_write_as_code_are_in_the_sources() {
    let sources = in_sources();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for path in pages() {
        let spec = path.starts_with(Path::new(ROOT).join("docs/spec"));
        if spec || path.ends_with("CHANGELOG.md") {
            continue;
        }
        let page = fs::read_to_string(&path).unwrap();
        for (n, span) in quoted(&page) {
            for name in names(span) {
                count += 1;
                if !sources.contains(name) && !GENERATED.contains(&name) {
                    wrong.push(format!("{}:{n}: nothing is called {name}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 350, "{count} names");
}

/// Names that programs compose, and patterns of names.
const GENERATED: [&str; 7] = [
    // The end of names of tests, which `cargo test` takes.
    "what_the_table_says",
    // A program of tb/spa5/programs/cubin.
    "kNN_name",
    // A struct for each unit: crates/golden/src/bench.rs.
    "r500_pins",
    // Faults of rtl/r500/r500_proofs.json: one for each error, one for each pair of kinds.
    "error_4",
    "loop_in_loop",
    // Signals of a dump, which begin with the number of a wavefront.
    "w1_instruction",
    "w1_lanes_rtl",
];

#[test]
fn a_name_that_is_in_no_source_is_seen() {
    let sources = in_sources();
    assert_eq!(
        names("dut.u_core.lop_q + $CXX, US_FC_*"),
        ["CXX", "lop_q", "u_core"]
    );
    for (name, there) in [
        ("loop_depth", true),
        ("r500_vote", true),
        ("RECONVERGE_PROGRESS", true),
        ("RECONVERGE_PROGRES", false),
        ("loop_depht", false),
    ] {
        assert_eq!(sources.contains(name), there, "{name}");
    }
}

/// The numbers that a sentence of a paragraph gives as exit statuses.
fn statuses(paragraph: &str) -> Vec<u32> {
    let sentences = paragraph.split(". ").filter_map(|sentence| {
        let (_, rest) = sentence
            .split_once("xit status")
            .or(sentence.split_once("exits with status"))?;
        Some(rest.split('(').next().unwrap())
    });
    sentences
        .flat_map(|rest| rest.split([' ', '\n', ',', ':', '*', ';']))
        .filter_map(|word| word.parse().ok())
        .collect()
}

#[test]
fn exit_statuses_that_pages_name_are_those_of_the_contract() {
    let mut count = 0;
    for path in pages() {
        if path.ends_with("CHANGELOG.md") {
            continue;
        }
        for paragraph in fs::read_to_string(&path).unwrap().split("\n\n") {
            for status in statuses(paragraph) {
                count += 1;
                let at = path.display();
                assert!(
                    status <= 3,
                    "{at}: contract-10 has no exit status {status}:\n{paragraph}"
                );
            }
        }
    }
    assert!(count > 15, "{count} exit statuses");
    assert_eq!(
        statuses("The exit status is 4, or\n1. Then 7; exits with status 2 (in 9)"),
        [4, 1, 2]
    );
}
