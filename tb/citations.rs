//! Rules are cited by id (`r500-4.3-b`, `contract-3`): every id that is cited exists, once; golden model and RTL cite each
//! rule of behaviour. What the documents name in the source is there.
//!
//! An id is the anchor `<a id="..."></a>` of a rule in docs/spec/<unit>.md or docs/contract.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use reconverge::ROOT;

use crate::pages::{pages, quoted, texts};

/// The files with rules, and how the ids in each begin.
const RULES: [(&str, &str); 5] = [
    // Before r500-, which is a prefix of it.
    ("docs/spec/r500-alu.md", "r500-alu-"),
    ("docs/spec/r500.md", "r500-"),
    ("docs/spec/r700.md", "r700-"),
    ("docs/spec/spa5.md", "spa5-"),
    ("docs/contract.md", "contract-"),
];

/// What may cite rules.
const CITING: [&str; 16] = [
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    "Cargo.toml",
    "build.rs",
    "setup",
    ".ci",
    "benches",
    "crates",
    "docs",
    "examples",
    "rtl",
    "src",
    "tb",
    "waves",
];

/// How long the number at the beginning of `text` is.
fn digits(text: &str) -> usize {
    text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len()
}

/// The id at the beginning of `text`, if it is one: a section (`4.3`, an appendix `A`) with or without a
/// label (`-b`, `-33`), or an open point, invariant or error (`O29`, `I4b`, `E8`); behind its prefix.
fn id<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(prefix)?;
    let mut end = match rest.as_bytes().first()? {
        b'0'..=b'9' => {
            let section = digits(rest);
            match rest[section..].strip_prefix('.').map(digits) {
                None | Some(0) => section,
                Some(more) => section + 1 + more,
            }
        }
        b'O' | b'I' | b'E' if prefix != "contract-" => {
            let number = digits(&rest[1..]);
            if number == 0 {
                return None;
            }
            let letter = rest[1 + number..].starts_with(|c: char| c.is_ascii_lowercase());
            1 + number + usize::from(letter)
        }
        b'A' | b'B' if prefix != "contract-" => 1,
        _ => return None,
    };
    if let Some(label) = rest[end..].strip_prefix('-') {
        let word = label.len()
            - label
                .trim_start_matches(|c: char| c.is_ascii_alphanumeric())
                .len();
        end += if word > 0 { 1 + word } else { 0 };
    }
    // A longer name is not an id: r500-4x4, A_PUSH.
    let next = rest[end..].chars().next();
    (!next.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_'))
        .then(|| &text[..prefix.len() + end])
}

/// The ids that a line cites.
fn cited(line: &str) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for (_, prefix) in RULES {
        for (at, _) in line.match_indices(prefix) {
            let before = line[..at].chars().next_back();
            if !before.is_some_and(|c| c.is_alphanumeric() || c == '-' || c == '_') {
                found.extend(id(&line[at..], prefix));
            }
        }
    }
    found
}

/// Every rule: its id, and the file and line it stands in. Panics if two rules have one id, or if an id does
/// not stand visibly behind its anchor.
pub fn rules() -> BTreeMap<String, String> {
    let mut rules = BTreeMap::new();
    for (file, prefix) in RULES {
        let text = fs::read_to_string(Path::new(ROOT).join(file)).unwrap();
        for (n, line) in text.lines().enumerate() {
            for part in line.split("<a id=\"").skip(1) {
                let (name, rest) = part.split_once("\"></a>").unwrap_or_default();
                let place = format!("{file}:{}", n + 1);
                assert_eq!(
                    id(name, prefix),
                    Some(name),
                    "{place}: {name:?} is not an id of this file"
                );
                let shown = rest.trim_start_matches("**");
                assert!(
                    shown.starts_with(name),
                    "{place}: {name} does not stand behind its anchor"
                );
                if let Some(first) = rules.insert(name.to_owned(), place.clone()) {
                    panic!("{place}: {name} stands at {first} already");
                }
            }
        }
    }
    rules
}

#[test]
fn ids_are_unique_and_stand_where_they_belong() {
    let rules = rules();
    assert!(rules.len() > 800, "{} rules", rules.len());
}

#[test]
fn every_cited_rule_exists() {
    let rules = rules();
    let mut wrong = Vec::new();
    let mut citations = 0;
    for path in CITING {
        for (path, text) in texts(&Path::new(ROOT).join(path)) {
            let file = path.strip_prefix(ROOT).unwrap().display().to_string();
            for (n, line) in text.lines().enumerate() {
                for id in cited(line) {
                    citations += 1;
                    if !rules.contains_key(id) {
                        wrong.push(format!("{file}:{}: there is no rule {id}", n + 1));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(citations > 2000, "{citations} citations");
}

/// A rule is cited by its id, not by the number of a section.
#[test]
fn no_rule_is_cited_without_its_unit() {
    let mut wrong = Vec::new();
    for path in ["README.md", "crates", "rtl", "src", "tb"] {
        for (path, text) in texts(&Path::new(ROOT).join(path)) {
            let file = path.strip_prefix(ROOT).unwrap().display().to_string();
            for (n, line) in text.lines().enumerate() {
                if cites_a_section(line) {
                    wrong.push(format!("{file}:{}: {}", n + 1, line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether a line says "spec" and the number of a section or an open point behind it.
fn cites_a_section(line: &str) -> bool {
    let line = line.to_lowercase();
    line.match_indices("spec ").any(|(at, word)| {
        let rest = line[at + word.len()..].trim_start_matches("section ");
        let number = rest.strip_prefix(['o', 'i']).unwrap_or(rest);
        number.starts_with(|c: char| c.is_ascii_digit())
    })
}

#[test]
fn a_section_without_its_unit_is_seen() {
    for number in ["4.3", "O29", "section 7", "I4"] {
        assert!(cites_a_section(&format!("// as {} {number} says", "spec")));
    }
    assert!(!cites_a_section("the spec says so (r500-4.3)"));
}

/// What links of a page can lead to: its anchors, and its headings as a browser of Markdown calls them.
fn anchors(page: &str) -> BTreeSet<String> {
    let named = page.split("<a id=\"").skip(1);
    let mut all: BTreeSet<String> = named
        .filter_map(|rest| Some(rest.split_once('"')?.0.to_owned()))
        .collect();
    for line in page.lines().filter(|line| line.starts_with('#')) {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        all.insert(kept.collect::<String>().replace(' ', "-"));
    }
    all
}

/// Links between the documents: the file is there, and so is the rule or heading that the link names.
#[test]
fn links_of_the_documents_lead_somewhere() {
    let rules = rules();
    let mut links = 0;
    for (path, text) in pages().iter().flat_map(|path| texts(path)) {
        for (n, line) in text.lines().enumerate() {
            let targets = line
                .split("](")
                .skip(1)
                .filter_map(|rest| rest.split_once(')'));
            for (target, _) in targets.filter(|(t, _)| !t.contains("://")) {
                let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
                let to = match file {
                    "" => path.clone(),
                    _ => path.parent().unwrap().join(file),
                };
                let at = format!("{}:{}: link to {target}", path.display(), n + 1);
                assert!(to.exists(), "{at}: no such file");
                if to.extension().is_some_and(|e| e == "md") && !anchor.is_empty() {
                    let there = anchors(&fs::read_to_string(&to).unwrap());
                    assert!(there.contains(anchor), "{at}: no such heading");
                }
                let prefix = RULES.iter().find(|(_, prefix)| anchor.starts_with(prefix));
                if let Some((file, _)) = prefix {
                    assert!(rules.contains_key(anchor), "{at}: no such rule");
                    assert!(
                        to.canonicalize().unwrap().ends_with(file),
                        "{at}: the rule is in {file}"
                    );
                    links += 1;
                }
            }
        }
    }
    assert!(links > 150, "{links} links to rules");
}

/// Rules of a unit that golden model and RTL need not cite, as the ids begin, and why.
const NOT_IN_BOTH: [(&str, &str); 13] = [
    (
        "spa5-2.1-a",
        "how bundles lie in memory: the assembler and the importer",
    ),
    ("spa5-2.1-b", "control words, which the unit ignores"),
    ("spa5-2.2-c", "evidence"),
    ("spa5-2.3-p", "there is no such suffix"),
    ("spa5-2.5-", "cubins: the importer"),
    ("spa5-4-a", "what the environment does"),
    // The table behind 4.4-d, and what follows from the rules.
    ("spa5-4.4-e", "a consequence"),
    ("spa5-4.4-f", "a consequence"),
    ("spa5-4.4-g", "a consequence"),
    ("spa5-4.4-h", "a consequence"),
    ("spa5-4.4-i", "a consequence"),
    ("spa5-4.4-j", "a consequence"),
    ("spa5-4.4-k", "a consequence"),
];
/// Likewise, of sections that say nothing of the unit itself: traces, what is not checked, the scalar machine, departures.
const NO_BEHAVIOUR: [&str; 4] = ["spa5-4.5-", "spa5-6-d", "spa5-9-", "spa5-10-"];

/// Whether an id is that of a rule of `unit`, with a letter, or of an error; not of a section, invariant or open point.
fn is_rule(id: &str, unit: &str) -> bool {
    let rest = id
        .strip_prefix(unit)
        .and_then(|rest| rest.strip_prefix('-'));
    rest.is_some_and(|rest| rest.contains('-') || rest.starts_with('E'))
}

/// The rules of `unit` that none of `files` cites, but for those that need not be.
fn uncited(unit: &str, files: &[PathBuf]) -> Vec<String> {
    let texts: Vec<_> = files.iter().flat_map(|path| texts(path)).collect();
    assert!(!texts.is_empty(), "{files:?}");
    let lines = texts.iter().flat_map(|(_, text)| text.lines());
    let cited: BTreeSet<&str> = lines.flat_map(cited).collect();
    let excepted = |id: &str| {
        let begins = |with: &str| id.starts_with(with);
        NOT_IN_BOTH.iter().any(|(with, _)| begins(with)) || NO_BEHAVIOUR.iter().any(|w| begins(w))
    };
    let rules = rules().into_keys().filter(|id| is_rule(id, unit));
    rules
        .filter(|id| !cited.contains(id.as_str()) && !excepted(id))
        .collect()
}

/// So the way from a rule to the code is `grep`.
#[test]
fn golden_model_and_rtl_cite_each_rule_of_behaviour() {
    let root = Path::new(ROOT);
    let unit = "spa5";
    let golden = root.join(format!("src/{unit}/golden.rs"));
    // Assertions and formal files are not the RTL.
    let list = fs::read_to_string(root.join(format!("rtl/{unit}/{unit}.f"))).unwrap();
    let files = list.lines().filter(|line| !line.starts_with("//"));
    let rtl: Vec<PathBuf> = files
        .map(|file| root.join(format!("rtl/{unit}/{file}")))
        .collect();
    assert_eq!(uncited(unit, &[golden]), [""; 0]);
    assert_eq!(uncited(unit, &rtl), [""; 0]);
    // Of the others the golden model's step function.
    for (unit, sections) in [
        ("r500", &["4.", "E"][..]),
        ("r700", &["4.1", "4.2", "4.3", "E"]),
    ] {
        let mut step = uncited(unit, &[root.join(format!("src/{unit}/golden.rs"))]);
        step.retain(|id| {
            sections
                .iter()
                .any(|s| id.starts_with(&format!("{unit}-{s}")))
        });
        assert_eq!(step, [""; 0]);
    }
    // The specification cites every rule, a file that cites none none.
    let none = uncited(unit, &[root.join("LICENSE-MIT")]);
    assert!(
        none.len() > 90 && none.contains(&"spa5-4.4-d".to_owned()),
        "{none:?}"
    );
}

/// The files and folders that a name in a document means, each by what it may be: `<unit>` is a unit, `{a,b}` both. `None`:
/// it is not a path of this repository.
fn paths(name: &str) -> Option<Vec<Vec<String>>> {
    // Not `waves`: what commands write there is named too.
    const FOLDERS: [&str; 8] = [
        "src", "tb", "rtl", "crates", "docs", "examples", "benches", "fuzz",
    ];
    let (first, rest) = name.split_once('/')?;
    let letters = |c: char| c.is_ascii_alphanumeric() || "/._-<>{},".contains(c);
    if !FOLDERS.contains(&first) || rest.is_empty() || !name.chars().all(letters) {
        return None;
    }
    let mut all = vec![name.to_owned()];
    while let Some(at) = all.iter().position(|name| name.contains('{')) {
        let name = all.swap_remove(at);
        let (before, rest) = name.split_once('{')?;
        let (choices, after) = rest.split_once('}')?;
        all.extend(
            choices
                .split(',')
                .map(|one| format!("{before}{one}{after}")),
        );
    }
    let each = all.iter().map(|name| {
        let of = |unit: &&str| name.replace("<unit>", unit);
        let units = ["r500", "r700", "spa5"];
        let many = if name.contains("<unit>") { 3 } else { 1 };
        units[..many].iter().map(of).collect()
    });
    Some(each.collect())
}

/// The word of a definition at the beginning of a line of Rust: `Dut` of `pub struct Dut<U>`, a variant, a field.
fn defines(line: &str, word: &str) -> bool {
    let mut rest = line.trim_start();
    for before in [
        "pub(crate) ",
        "pub(super) ",
        "pub ",
        "const fn ",
        "fn ",
        "struct ",
        "enum ",
        "trait ",
        "const ",
        "static ",
        "type ",
        "mod ",
        "macro_rules! ",
    ] {
        rest = rest.strip_prefix(before).unwrap_or(rest);
    }
    let Some(behind) = rest.strip_prefix(word) else {
        return false;
    };
    !behind.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether `a::b::C` names something in `sources`: a definition of C in a file of module b, or beside that of type b. The
/// name of one of the library's crates in front counts for nothing.
fn is_defined(name: &str, sources: &[(PathBuf, String)]) -> bool {
    let name = name.trim_end_matches("()");
    let mut segments = match name.split_once("::") {
        Some((of, rest)) if of == "reconverge" || of.starts_with("reconverge_") => rest,
        _ => name,
    }
    .rsplit("::");
    let (last, owner) = (segments.next().unwrap_or_default(), segments.next());
    let of_module = |path: &Path, module: &str| {
        path.file_stem().is_some_and(|stem| stem == module)
            || path.iter().any(|part| part == module)
    };
    sources.iter().any(|(path, text)| {
        let Some(owner) = owner else {
            return of_module(path, last);
        };
        let here = match owner.starts_with(|c: char| c.is_ascii_uppercase()) {
            true => text.lines().any(|line| defines(line, owner)),
            false => of_module(path, owner),
        };
        here && text.lines().any(|line| defines(line, last))
    })
}

/// The pages for people with their texts, and the page of the crate; not the specifications, whose Python has names of its
/// own, nor what the changelog says of earlier versions.
fn for_people() -> Vec<(PathBuf, String)> {
    let root = Path::new(ROOT);
    let mut all = pages();
    all.push(root.join("src/lib.rs"));
    all.retain(|path| !path.starts_with(root.join("docs/spec")) && !path.ends_with("CHANGELOG.md"));
    all.iter().flat_map(|path| texts(path)).collect()
}

#[test]
fn files_and_symbols_that_the_documents_name_are_there() {
    let root = Path::new(ROOT);
    let mut sources: Vec<_> = ["src", "tb", "crates", "examples/own_unit"]
        .iter()
        .flat_map(|dir| texts(&root.join(dir)))
        .collect();
    sources.retain(|(path, _)| path.extension().is_some_and(|e| e == "rs"));
    let (mut wrong, mut files, mut symbols) = (Vec::new(), 0, 0);
    for (page, text) in for_people() {
        let at = |n: usize| format!("{}:{n}", page.strip_prefix(root).unwrap().display());
        // The guide follows a crate of its own, which is like the example.
        let own = page
            .ends_with("your-own-unit.md")
            .then(|| root.join("examples/own_unit"));
        let beside = page.parent().unwrap().to_owned();
        let roots: Vec<PathBuf> = own.into_iter().chain([beside, root.to_owned()]).collect();
        for (n, name) in quoted(&text) {
            for may_be in paths(name).unwrap_or_default() {
                files += 1;
                if !roots
                    .iter()
                    .any(|root| may_be.iter().any(|path| root.join(path).exists()))
                {
                    wrong.push(format!("{}: there is no {}", at(n), may_be.join(", no ")));
                }
            }
            let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let words: Vec<&str> = name.trim_end_matches("()").split("::").collect();
            let symbol = words.len() > 1
                && words
                    .iter()
                    .all(|w| !w.is_empty() && w.chars().all(letters));
            if symbol && !name.contains("_pkg::") {
                symbols += 1;
                if !is_defined(name, &sources) {
                    wrong.push(format!("{}: nothing is called {name}", at(n)));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        files > 150 && symbols > 40,
        "{files} files, {symbols} symbols"
    );
}

#[test]
fn a_name_that_is_not_there_is_seen() {
    let page = "a `src/<unit>/x.rs` b `std::fs`\n```sh\n`no/path`\n```\nc `tb/{a,b}.rs`";
    let names = quoted(page);
    assert_eq!(
        names,
        [(1, "src/<unit>/x.rs"), (1, "std::fs"), (5, "tb/{a,b}.rs")]
    );
    let units = ["src/r500/x.rs", "src/r700/x.rs", "src/spa5/x.rs"];
    assert_eq!(paths("src/<unit>/x.rs").unwrap(), [units]);
    assert_eq!(paths("tb/{a,b}.rs").unwrap(), [["tb/a.rs"], ["tb/b.rs"]]);
    assert_eq!(paths("std/fs"), None);
    let sources = [(
        PathBuf::from("crates/bench/src/dut/mod.rs"),
        "pub struct Dut<U> {\n    pub fn check(&self) {}\n".to_owned(),
    )];
    for (name, there) in [
        ("Dut::check", true),
        ("dut::Dut", true),
        ("reconverge::dut", true),
        ("reconverge_bench::dut", true),
        ("Dut::checks", false),
        ("Dot::check", false),
        ("lockstep::Dut", false),
    ] {
        assert_eq!(is_defined(name, &sources), there, "{name}");
    }
}

#[test]
fn ids_are_told_from_other_names() {
    for (line, ids) in [
        ("(r500-4.3-b, r500-O29.)", &["r500-4.3-b", "r500-O29"][..]),
        (
            "r700-A-33 docs/spec/spa5.md#spa5-I4b",
            &["r700-A-33", "spa5-I4b"],
        ),
        ("contract-3-a; r700-4.3.", &["r700-4.3", "contract-3-a"]),
        (
            "r500-alu-3.1-c, docs/spec/r500-alu.md#r500-alu-2.1",
            &["r500-alu-3.1-c", "r500-alu-2.1"],
        ),
        (
            "r500-alu.md spa5-Other my-r500-4.3 r500-4x4 contract-E1",
            &[],
        ),
    ] {
        assert_eq!(cited(line), ids, "{line}");
    }
}

/// The ids behind `](#` on a line.
fn linked(line: &str) -> Vec<&str> {
    line.split("](#")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .collect()
}

/// Pairs of an open point and a row of "Where we depart", by which side names the other.
fn departures(page: &str, unit: &str, section: &str) -> [BTreeSet<(String, String)>; 2] {
    let (point, row) = (format!("{unit}-O"), format!("{unit}-{section}-"));
    let mut pairs = [BTreeSet::new(), BTreeSet::new()];
    let mut open = "";
    for line in page.lines() {
        let anchor = line
            .split("<a id=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        open = anchor.unwrap_or(open);
        let links = linked(line);
        if open.starts_with(&point) {
            let rows = links.iter().filter(|to| to.starts_with(&row));
            pairs[0].extend(rows.map(|to| (open.to_owned(), (*to).to_owned())));
        } else if open.starts_with(&row) {
            let points = links.iter().filter(|to| to.starts_with(&point));
            pairs[1].extend(points.map(|to| ((*to).to_owned(), open.to_owned())));
        }
    }
    pairs
}

/// A reader who has only the documents finds every decision that departs from them in one table.
#[test]
fn a_decision_that_departs_and_its_row_name_each_other() {
    for (unit, section, least) in [("r500", "9", 9), ("r700", "10", 2), ("spa5", "10", 4)] {
        let page = Path::new(ROOT).join(format!("docs/spec/{unit}.md"));
        let page = fs::read_to_string(page).unwrap();
        let [decisions, rows] = departures(&page, unit, section);
        assert_eq!(decisions, rows, "{unit}");
        assert!(rows.len() >= least, "{unit}: {rows:?}");
        let anchors = page.matches(&format!("<a id=\"{unit}-{section}-")).count();
        let named: BTreeSet<&String> = rows.iter().map(|(_, row)| row).collect();
        assert_eq!(named.len(), anchors, "{unit}: {named:?}");
        // A row, or an open point, without its counterpart is found.
        let (point, row) = rows.first().unwrap();
        for gone in [format!("](#{row})"), format!("](#{point})")] {
            let [decisions, rows] = departures(&page.replace(&gone, ""), unit, section);
            assert_ne!(decisions, rows, "{unit}: {gone}");
        }
    }
}

#[test]
fn an_id_that_does_not_exist_is_seen() {
    let rules = rules();
    for name in ["4.3-zz", "4.9", "O99", "E10", "A-50", "11"] {
        let line = format!("r500-{name}");
        assert_eq!(cited(&line), [&line]);
        assert!(!rules.contains_key(&line), "{line}");
    }
}
