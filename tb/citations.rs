//! Rules are cited by id (`r500-4.3-b`, `contract-3`): every id that is cited exists, once.
//!
//! An id is the anchor `<a id="..."></a>` of a rule in docs/spec/<unit>.md or docs/contract.md.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The files with rules, and how the ids in each begin.
const RULES: [(&str, &str); 5] = [
    // Before r500-, which is the beginning of its prefix.
    ("docs/spec/r500-alu.md", "r500-alu-"),
    ("docs/spec/r500.md", "r500-"),
    ("docs/spec/r700.md", "r700-"),
    ("docs/spec/spa5.md", "spa5-"),
    ("docs/contract.md", "contract-"),
];

/// What may cite rules.
const CITING: [&str; 12] = [
    "README.md",
    "Cargo.toml",
    "build.rs",
    "setup",
    ".ci",
    "benches",
    "docs",
    "examples",
    "rtl",
    "src",
    "tb",
    "waves",
];

/// Every text file of `path`, a file or a folder, with its text.
fn texts(path: &Path) -> Vec<(PathBuf, String)> {
    if path.is_dir() {
        let mut entries: Vec<PathBuf> = fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        entries.sort();
        return entries.iter().flat_map(|path| texts(path)).collect();
    }
    match fs::read_to_string(path) {
        Ok(text) => vec![(path.to_owned(), text)],
        // Pictures and compiled programs.
        Err(e) if e.kind() == std::io::ErrorKind::InvalidData => Vec::new(),
        Err(e) => panic!("{}: {e}", path.display()),
    }
}

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
    // A name that goes on is none of ours: r500-4x4, A_PUSH.
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
    for path in ["README.md", "rtl", "src", "tb"] {
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

/// Links between the documents: the file is there, and so is the rule that the link names.
#[test]
fn links_of_the_documents_lead_somewhere() {
    let rules = rules();
    let mut links = 0;
    for path in ["docs", "README.md"] {
        for (path, text) in texts(&Path::new(ROOT).join(path)) {
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
    }
    assert!(links > 150, "{links} links to rules");
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

#[test]
fn an_id_that_does_not_exist_is_seen() {
    let rules = rules();
    for name in ["4.3-zz", "4.9", "O99", "E10", "A-50", "11"] {
        let line = format!("r500-{name}");
        assert_eq!(cited(&line), [&line]);
        assert!(!rules.contains_key(&line), "{line}");
    }
}
