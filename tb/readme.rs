//! What README.md and the guides in docs show is what the commands print, and their links lead somewhere.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{ROOT, reconverge, text};

/// README.md and the files of docs.
fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir(Path::new(ROOT).join("docs")).unwrap();
    let docs = docs.map(|entry| entry.unwrap().path());
    let mut pages: Vec<_> = docs
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect();
    pages.push(Path::new(ROOT).join("README.md"));
    pages.sort();
    pages
}

/// Commands of a page with the block of text behind each: the words, and what is shown of the output.
fn commands(page: &str) -> Vec<(Vec<String>, String)> {
    let blocks: Vec<&str> = page.split("```").collect();
    let mut found = Vec::new();
    // A block of commands, words between, a block of text.
    for at in (1..blocks.len()).step_by(2) {
        let Some(block) = blocks[at].strip_prefix("sh\n") else {
            continue;
        };
        let shown = blocks
            .get(at + 2)
            .and_then(|next| next.strip_prefix("text\n"));
        let (Some(line), Some(shown)) = (block.trim_end().lines().last(), shown) else {
            continue;
        };
        let line = line.split(" # exit").next().unwrap();
        if let Some(rest) = line.strip_prefix("$ cargo run --release -- ") {
            let words = rest
                .split(' ')
                .map(|word| word.trim_matches('\'').to_owned());
            found.push((words.collect(), shown.to_owned()));
        }
    }
    found
}

/// Commands that take a moment, with our own RTL as it is built for the tests anyhow. `.ci/run readme` runs the others too.
fn is_quick(words: &[String]) -> bool {
    let slow = |word: &&String| ["--rtl", "--param", "--html", "--case"].contains(&word.as_str());
    matches!(words[0].as_str(), "run" | "picture" | "explain" | "dis")
        && !words.iter().any(|word| slow(&word))
}

#[test]
fn outputs_of_quick_commands_are_as_they_are_shown() {
    let mut count = 0;
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        for (words, shown) in commands(&page).iter().filter(|(words, _)| is_quick(words)) {
            let out = tempfile::tempdir().unwrap();
            let mut args: Vec<&str> = words.iter().map(String::as_str).collect();
            // Not into the folder of the repository.
            let file = out.path().join("picture.svg");
            let mut drawn = None;
            if let Some(at) = args.iter().position(|word| *word == "-o") {
                drawn = Some(Path::new(ROOT).join(args[at + 1]));
                args[at + 1] = file.to_str().unwrap();
            }
            let waves = out.path().join("waves");
            if matches!(args[0], "run" | "picture") {
                args.extend(["--out", waves.to_str().unwrap()]);
            }
            let output = reconverge(&args);
            let said = text(&output.stderr) + &text(&output.stdout);
            let said = said
                .replace(
                    env!("CARGO_BIN_EXE_reconverge"),
                    "target/release/reconverge",
                )
                .replace(waves.to_str().unwrap(), "waves");
            // A picture's text is that of `run --show`, which stands beside it.
            if let Some(drawn) = drawn {
                let [drawn, made] =
                    [drawn, file.clone()].map(|file| fs::read_to_string(file).unwrap());
                assert_eq!(
                    made, drawn,
                    "{words:?}: the picture in the repository is another one"
                );
                args[0] = "run";
                let at = args.iter().position(|word| *word == "-o").unwrap();
                args.splice(at..at + 2, ["--show"]);
                expect(&text(&reconverge(&args).stdout), shown, &path, words);
            } else {
                expect(&said, shown, &path, words);
            }
            count += 1;
        }
    }
    assert!(count >= 5, "{count} commands");
}

/// Checks that the parts of `shown`, between lines of three dots, stand in `said` one behind the other.
fn expect(said: &str, shown: &str, path: &Path, words: &[String]) {
    let mut rest = said;
    for part in shown.split("...\n") {
        let at = rest.find(part);
        let at = at.unwrap_or_else(|| panic!("{}: {words:?} prints\n{said}", path.display()));
        rest = &rest[at + part.len()..];
    }
}

#[test]
fn the_readme_is_short_and_every_link_leads_to_a_file() {
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        if path.ends_with("README.md") && path.parent() == Some(Path::new(ROOT)) {
            assert!(
                page.lines().count() <= 150,
                "{} lines",
                page.lines().count()
            );
            assert!(page.lines().take(20).any(|line| line.starts_with("![")));
        }
        for rest in page.split("](").skip(1) {
            let target = rest.split(')').next().unwrap();
            let file = target.split('#').next().unwrap();
            if file.is_empty() || file.starts_with("https://") {
                continue;
            }
            let there = path.parent().unwrap().join(file);
            assert!(there.exists(), "{}: {target}", path.display());
        }
    }
}
