//! What the pages show is what the commands print.
//!
//! A line `$ COMMAND` in a block of `sh` is run, and ends with status 0, or N if `# exit N` stands behind it. The block of
//! `text` behind it is what the commands of the block print, one after the other, standard error included. A line `...`
//! stands for lines that are left out, `[..]` for a part of a line that differs from run to run. A further block of text that
//! begins with `...` is more of the same output.
//!
//! The commands of a page run in order, in a folder like the repository; what they write into `docs` and `examples/shaders` is what
//! the repository holds there. `cargo run --release --` is there the command as it is built already. A comment above a block says how it
//! differs:
//!
//! | comment | the block |
//! |---|---|
//! | `<!-- in CI: WHY -->` | is run by `cargo xtask readme` only, `<!-- all in CI: WHY -->`: and so are all further blocks |
//! | `<!-- not compared: WHY -->` | prints what the page does not show, or is text that no command of the page prints |
//! | `<!-- in CI, not compared: WHY -->` | both |
//! | `<!-- by cargo xtask bare -->` | is a command that `cargo xtask bare` runs |
//! | `<!-- file: NAME -->` | goes into a file; `, at the end`, `, from "TEXT" on`, `, instead of "TEXT"`: into a part of it |
//!
//! A command that prints something and a block of text have to be compared or to say why not. `SNAPSHOTS=overwrite cargo test
//! --test bench readme::` writes what is printed into the pages, and pictures into the repository.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use snapbox::assert::Action;
use snapbox::{Assert, IntoData};
use tempfile::TempDir;

use crate::common::pages::pages;
use crate::common::{ROOT, text, tool};

/// The command as it is built for the tests.
const BUILT: &str = env!("CARGO_BIN_EXE_reconverge");

/// A block of a page between two fences.
#[derive(Debug)]
struct Block {
    /// The number of the line with its first fence, from 1.
    line: usize,
    /// The comment above it, without its arrows.
    mark: String,
    language: String,
    body: Vec<String>,
    /// Whether a heading is between the previous block and this one.
    behind_heading: bool,
}

impl Block {
    /// Returns whether the comment contains `word` before the reason, between commas: `in CI`.
    fn says(&self, word: &str) -> bool {
        let what = self.mark.split_once(": ").map_or("", |(what, _)| what);
        what.split(", ").any(|said| said == word)
    }

    /// Its commands with their lines and the status that each ends with.
    fn commands(&self) -> impl Iterator<Item = (usize, &str, i32)> {
        let shell = self.language == "sh";
        let lines = self.body.iter().enumerate().filter(move |_| shell);
        lines.filter_map(|(n, line)| {
            let (words, status) = match line.strip_prefix("$ ")?.split_once(" # exit ") {
                Some((words, status)) => (words, status.parse().unwrap()),
                None => (&line[2..], 0),
            };
            Some((self.line + 1 + n, words, status))
        })
    }
}

/// The blocks of a page in order. Panics at a comment that marks none.
fn blocks(page: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let (mut mark, mut inside, mut behind_heading, mut all) =
        (String::new(), false, false, String::new());
    for (n, line) in page.lines().enumerate() {
        let comment = line
            .strip_prefix("<!-- ")
            .and_then(|l| l.strip_suffix(" -->"));
        match (line.strip_prefix("```"), comment) {
            (Some(_), _) if inside => inside = false,
            (Some(language), _) => {
                inside = true;
                let of_all = mark.is_empty() && language == "sh";
                found.push(Block {
                    line: n + 1,
                    mark: std::mem::take(if of_all { &mut all } else { &mut mark }),
                    language: language.to_owned(),
                    body: Vec::new(),
                    behind_heading: std::mem::take(&mut behind_heading),
                });
                if of_all {
                    all.clone_from(&found.last().unwrap().mark);
                }
            }
            _ if inside => found.last_mut().unwrap().body.push(line.to_owned()),
            (_, Some(said)) => match said.strip_prefix("all in CI: ") {
                Some(why) => all = format!("in CI: {why}"),
                None => mark = said.to_owned(),
            },
            _ => {
                behind_heading |= line.starts_with('#');
                let blank = line.is_empty() || mark.is_empty();
                assert!(blank, "line {}: <!-- {mark} --> is above no block", n + 1);
            }
        }
    }
    assert!(!inside && mark.is_empty(), "a block without an end");
    found
}

/// A copy of the repository to run commands in: what they write is in it, what they only read is linked.
struct Sandbox {
    dir: TempDir,
    /// The files of the folders that are copied, as they are in the repository.
    copied: BTreeMap<PathBuf, Vec<u8>>,
    /// Where the next command runs.
    at: PathBuf,
}

impl Sandbox {
    fn new() -> Sandbox {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().join("reconverge");
        fs::create_dir_all(at.join("waves")).unwrap();
        let mut copied = BTreeMap::new();
        fs::create_dir(at.join("examples")).unwrap();
        for folder in ["", "examples"] {
            for entry in fs::read_dir(Path::new(ROOT).join(folder)).unwrap() {
                let from = entry.unwrap().path();
                let name = Path::new(folder).join(from.file_name().unwrap());
                match name.to_str().unwrap() {
                    ".git" | "target" | "waves" | "examples" => {}
                    "docs" | "examples/shaders" => files(&from, &mut copied),
                    _ => std::os::unix::fs::symlink(&from, at.join(name)).unwrap(),
                }
            }
        }
        for (from, bytes) in &copied {
            let to = at.join(from.strip_prefix(ROOT).unwrap());
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::write(&to, bytes).unwrap();
            fs::set_permissions(&to, fs::metadata(from).unwrap().permissions()).unwrap();
        }
        Sandbox { dir, copied, at }
    }

    /// What `line` prints on both outputs, as the page shows it; the status that it ends with.
    fn run(&mut self, line: &str, command: &Path) -> (String, Option<i32>) {
        if let Some(to) = line.strip_prefix("cd ") {
            self.at = self.at.join(to);
            return (String::new(), Some(0));
        }
        let mut words = line.to_owned();
        let mut shell = tool::command("bash");
        if self.at == self.dir.path().join("reconverge") {
            words = line.replace("cargo run --release --", "\"$RECONVERGE\"");
        } else {
            // A crate of its own. Not the folder of the tests, where cargo may be building.
            let built = Path::new(BUILT).ancestors().nth(2).unwrap();
            shell.env("CARGO_TARGET_DIR", built.join("own_unit"));
        }
        let output = shell
            .args(["-c", &format!("exec 2>&1\n{words}")])
            .current_dir(&self.at)
            .env("RECONVERGE", command)
            // No line of progress, however long it takes.
            .env("RECONVERGE_PROGRESS", "86400")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let dir = self.dir.path().to_str().unwrap();
        let said = text(&output.stdout)
            .replace(command.to_str().unwrap(), "target/release/reconverge")
            .replace(&format!("{dir}/"), "/home/me/");
        let lines: Vec<&str> = said.trim_end().lines().map(str::trim_end).collect();
        (lines.join("\n"), output.status.code())
    }

    /// Puts a block into the file that its mark names.
    fn write(&self, mark: &str, body: &[String]) {
        let (name, how) = mark.split_once(", ").unwrap_or((mark, ""));
        let path = self.at.join(name);
        let old = match how {
            "" => String::new(),
            _ => fs::read_to_string(&path).unwrap(),
        };
        let mut lines: Vec<&str> = old.lines().collect();
        let body = body.iter().map(String::as_str);
        match how.split_once('"').unwrap_or((how, "")) {
            ("" | "at the end", _) => {
                lines.extend((!how.is_empty()).then_some(""));
                lines.extend(body);
            }
            (way @ ("from " | "instead of "), rest) => {
                let begin = rest.trim_end_matches(" on").trim_end_matches('"');
                let mut found =
                    (0..lines.len()).filter(|n| lines[*n].trim_start().starts_with(begin));
                let (Some(at), None) = (found.next(), found.next()) else {
                    panic!("{name} does not have one line that begins with {begin:?}");
                };
                let end = if way == "from " { lines.len() } else { at + 1 };
                lines.splice(at..end, body);
            }
            _ => panic!("how does it go into the file? {mark}"),
        }
        fs::write(&path, lines.join("\n") + "\n").unwrap();
    }

    /// The copied files that have changed, with their contents: the path in the repository.
    fn changed(&self) -> Vec<(&PathBuf, Vec<u8>)> {
        let now = self.copied.iter().map(|(path, old)| {
            let copy = self.dir.path().join("reconverge");
            let new = fs::read(copy.join(path.strip_prefix(ROOT).unwrap())).unwrap_or_default();
            (path, old, new)
        });
        now.filter(|(_, old, new)| *old != new)
            .map(|(path, _, new)| (path, new))
            .collect()
    }
}

/// The files below `dir` with their contents, without those of cargo.
fn files(dir: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            files(&path, found);
        } else if path.is_file() {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
}

/// Compares what is printed with a block; the block as it should be if it differs, and how it does.
fn compare(said: &str, shown: &[String]) -> Result<(), (Vec<String>, String)> {
    let assert = Assert::new().action(Action::Verify).normalize_paths(false);
    let shown = shown.join("\n").into_data();
    let (normal, _) = assert.normalize(said.into_data(), shown.clone());
    let lines = normal.render().unwrap();
    assert
        .try_eq(Some(&"printed"), said.into_data(), shown)
        .map_err(|e| (lines.lines().map(str::to_owned).collect(), e.to_string()))
}

/// Counts of what a page contains, and of what was done with it.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    /// Commands that ran, blocks of text that were compared, files that were written.
    ran: usize,
    compared: usize,
    written: usize,
    /// Commands that only CI runs, commands and blocks that say why they are not compared.
    in_ci: usize,
    not_compared: usize,
}

/// What is wrong on a page; corrected blocks, by the line of their first fence.
#[derive(Debug, Default)]
struct Findings {
    wrong: Vec<String>,
    new: BTreeMap<usize, Vec<String>>,
    counts: Counts,
}

/// Follows `page` with `command` for `cargo run --release --`; also what only CI runs, if `all`.
fn follow(page: &str, command: &Path, all: bool, place: &mut Sandbox) -> Findings {
    let mut found = Findings::default();
    // What the last commands printed, if they ran; the line of a command whose output has not been shown yet.
    let (mut said, mut follows, mut owed) = (None::<String>, false, None);
    let bare = fs::read_to_string(Path::new(ROOT).join("crates/xtask/src/bare.rs")).unwrap();
    for block in blocks(page) {
        let at = block.line;
        let compared = !block.says("not compared");
        let more = block.body.first().is_some_and(|first| first == "...");
        let is_text = block.language == "text";
        // Output that no block shows.
        if let Some(line) = owed.take_if(|_| !is_text || !compared) {
            found.wrong.push(format!(
                "{line}: no block shows what this prints:\n{}",
                said.as_deref().unwrap_or_default()
            ));
        }
        follows &= is_text && (more || !block.behind_heading);
        if let Some(mark) = block.mark.strip_prefix("file: ") {
            if all {
                place.write(mark, &block.body);
                found.counts.written += 1;
            }
        } else if !compared && is_text {
            found.counts.not_compared += 1;
        } else if is_text && !follows {
            found.wrong.push(format!("{at}: no command prints this; a comment <!-- not compared: WHY --> may stand above it"));
        } else if is_text {
            owed = None;
            if block.body == ["..."] {
                found.wrong.push(format!("{at}: nothing is compared"));
            }
            if let Some(said) = &said {
                found.counts.compared += 1;
                if let Err((new, why)) = compare(said, &block.body) {
                    found
                        .wrong
                        .push(format!("{at}: what is printed differs:\n{why}"));
                    found.new.insert(at, new);
                }
            }
        } else if block.commands().next().is_some() {
            follows = compared;
            said = None;
            for (line, words, status) in block.commands() {
                if block.mark == "by cargo xtask bare" {
                    if !bare.contains(&format!("{words:?}")) {
                        found
                            .wrong
                            .push(format!("{line}: cargo xtask bare does not run {words}"));
                    }
                    found.counts.in_ci += 1;
                    follows = false;
                    continue;
                }
                if block.says("in CI") && !all {
                    found.counts.in_ci += 1;
                    continue;
                }
                println!("$ {words}");
                let (printed, ended) = place.run(words, command);
                found.counts.ran += 1;
                if ended != Some(status) {
                    let ended = ended.map_or_else(|| "a signal".to_owned(), |n| n.to_string());
                    found.wrong.push(format!(
                        "{line}: exit status {ended}, not {status}: {words}\n{printed}"
                    ));
                }
                let before = said.get_or_insert_default();
                if !before.is_empty() && !printed.is_empty() {
                    before.push('\n');
                }
                *before += &printed;
                if !compared {
                    found.counts.not_compared += 1;
                } else if !printed.is_empty() {
                    owed = Some(line);
                }
            }
        }
    }
    if let Some(line) = owed {
        found.wrong.push(format!(
            "{line}: no block shows what this prints:\n{}",
            said.unwrap_or_default()
        ));
    }
    found
}

/// `page` with other blocks, by the lines of their first fences.
fn rewritten(page: &str, new: &BTreeMap<usize, Vec<String>>) -> String {
    let mut lines: Vec<&str> = page.lines().collect();
    for (at, body) in new.iter().rev() {
        let end = (*at..).find(|n| lines[*n].starts_with("```")).unwrap();
        lines.splice(*at..end, body.iter().map(String::as_str));
    }
    lines.join("\n") + "\n"
}

/// Follows the page in file `name`.
fn page(name: &str, all: bool) {
    let path = Path::new(ROOT).join(name);
    let old = fs::read_to_string(&path).unwrap();
    // CI's step compares what an optimised build prints.
    let command = std::env::var_os("RECONVERGE").map_or_else(|| BUILT.into(), PathBuf::from);
    let mut place = Sandbox::new();
    let found = follow(&old, &command, all, &mut place);
    let mut wrong: Vec<String> = found.wrong.iter().map(|w| format!("{name}:{w}")).collect();
    println!("{name}: {:?}", found.counts);
    let overwrite = std::env::var("SNAPSHOTS").is_ok_and(|what| what == "overwrite");
    if overwrite && !found.new.is_empty() {
        fs::write(&path, rewritten(&old, &found.new)).unwrap();
    }
    for (path, new) in place.changed() {
        wrong.push(format!(
            "{name}: its commands write {} in another way",
            path.display()
        ));
        if overwrite {
            fs::write(path, new).unwrap();
        }
    }
    let hint = "SNAPSHOTS=overwrite writes what is printed into the page";
    assert!(wrong.is_empty(), "{}\n{hint}", wrong.join("\n"));
}

/// The pages with commands.
macro_rules! pages_with_commands {
    ($($module:ident $name:literal;)+) => {
        const PAGES: &[&str] = &[$($name),+];
        $(
            mod $module {
                // What `./setup --all` installs: the guide runs it.
                #[crate::common::needs(cadical, chromium, gtkwave, iverilog, xauth, Xvfb, yosys, yosys-abc)]
                #[test]
                #[ignore = "minutes; CI's step readme runs it"]
                fn commands_print_what_is_shown() {
                    super::page($name, true);
                }
            }
        )+
    };
}

pages_with_commands! {
    readme "README.md";
    campaigns "docs/campaigns.md";
    coverage "docs/coverage.md";
    dialects "docs/dialects.md";
    mutation "docs/mutation.md";
    rendering "docs/rendering.md";
    running "docs/running.md";
    tutorial "docs/tutorial.md";
    your_own_rtl "docs/your-own-rtl.md";
    your_own_unit "docs/your-own-unit.md";
    foreign "examples/foreign/README.md";
}

/// The cheap commands of the README. CI's step `readme` runs everything of every page.
#[test]
fn quick_commands_of_the_readme_print_what_is_shown() {
    page("README.md", false);
}

/// Every command of a page is run by a test above, and every block of text is compared or says why not.
#[test]
fn no_block_is_left_out() {
    let (mut with_commands, mut commands) = (Vec::new(), 0);
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(ROOT).unwrap().to_str().unwrap();
        let blocks = blocks(&page);
        let here: usize = blocks.iter().map(|block| block.commands().count()).sum();
        commands += here;
        if here > 0 {
            with_commands.push(name.to_owned());
            continue;
        }
        for block in blocks.iter().filter(|block| block.language == "text") {
            assert!(
                block.says("not compared"),
                "{name}:{}: text that is not compared; a comment <!-- not compared: WHY --> may stand above it",
                block.line
            );
        }
    }
    let mut tested: Vec<&str> = PAGES.to_vec();
    tested.sort_unstable();
    with_commands.sort_unstable();
    assert_eq!(with_commands, tested);
    assert!(commands > 60, "{commands} commands");
}

/// The lines of a page that [`follow`] finds wrong, as their beginnings, and what it counts.
fn wrong(page: &str) -> (Vec<String>, Findings) {
    let mut place = Sandbox::new();
    let found = follow(page, Path::new(BUILT), false, &mut place);
    let lines = found.wrong.iter();
    let first = lines.map(|w| w.lines().next().unwrap().to_owned());
    (first.collect(), found)
}

#[test]
fn what_differs_from_a_page_is_found() {
    let page = "```sh\n$ seq 5\n```\n```text\n1\n...\n4\n5\n```\n";
    assert_eq!(wrong(page).0, [""; 0]);
    // The last line differs, is missing, is one too many; the status; no block shows it; nothing prints it.
    for (from, to, said) in [
        ("4\n5\n", "4\n6\n", "4: what is printed differs:"),
        ("4\n5\n", "4\n", "4: what is printed differs:"),
        ("4\n5\n", "4\n5\n6\n", "4: what is printed differs:"),
        ("1\n...\n4\n5\n", "...\n", "4: nothing is compared"),
        ("seq 5", "seq 5 # exit 1", "2: exit status 0, not 1: seq 5"),
        (
            "seq 5",
            "seq 5; exit 3",
            "2: exit status 3, not 0: seq 5; exit 3",
        ),
        (
            "```text",
            "# Further\n```text",
            "2: no block shows what this prints:",
        ),
        (
            "$ seq 5",
            "seq 5",
            "4: no command prints this; a comment <!-- not compared: WHY --> may stand above it",
        ),
        (
            "```text",
            "<!-- not compared: long -->\n```text",
            "2: no block shows what this prints:",
        ),
    ] {
        let changed = page.replacen(from, to, 1);
        let (lines, _) = wrong(&changed);
        assert!(lines.iter().any(|line| line == said), "{changed}{lines:?}");
    }
}

#[test]
fn what_is_printed_can_be_written_into_a_page() {
    let page =
        "a\n```sh\n$ seq 5\n$ echo $$ b >&2\n```\nb\n```text\n1\n3\n...\n5\n[..] b\n```\nc\n";
    let (_, found) = wrong(page);
    let right = page.replace("1\n3\n", "1\n2\n");
    assert_eq!(rewritten(page, &found.new), right);
    assert_eq!(wrong(&right).0, [""; 0]);
}

#[test]
fn what_is_not_run_is_counted() {
    let page = "<!-- in CI: long -->\n```sh\n$ exit 1\n```\n```text\n1\n```\n<!-- not compared: why -->\n```sh\n$ seq 2\n```\n\
        <!-- by cargo xtask bare -->\n```sh\n$ no such command\n```\n";
    let (lines, found) = wrong(page);
    assert_eq!(lines, ["14: cargo xtask bare does not run no such command"]);
    let counts = Counts {
        ran: 1,
        in_ci: 2,
        not_compared: 1,
        ..Counts::default()
    };
    assert_eq!(found.counts, counts);
}

#[test]
fn a_block_goes_into_the_file_that_is_named_above_it() {
    let place = Sandbox::new();
    let write = |mark: &str, body: &str| {
        let body: Vec<String> = body.lines().map(str::to_owned).collect();
        place.write(mark, &body);
        fs::read_to_string(place.at.join("a")).unwrap()
    };
    assert_eq!(write("a", "1\n2\n3"), "1\n2\n3\n");
    assert_eq!(write("a, at the end", "4"), "1\n2\n3\n\n4\n");
    assert_eq!(write("a, instead of \"2\"", "5\n6"), "1\n5\n6\n3\n\n4\n");
    assert_eq!(write("a, from \"3\" on", "7"), "1\n5\n6\n7\n");
}

/// Commands of the template are commands of the guide, which CI runs with the same folders.
#[test]
fn the_template_for_ci_runs_commands_of_the_guide() {
    let read = |name| fs::read_to_string(Path::new(ROOT).join(name)).unwrap();
    let guide = read("docs/your-own-unit.md");
    let template = read("crates/command/src/new/ci.yaml");
    let commands: Vec<&str> = template
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- run: "))
        .collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
    for words in commands {
        assert!(guide.contains(&format!("\n$ {words}\n")), "{words}");
    }
}

#[test]
fn the_readme_is_short_and_begins_with_a_picture() {
    let page = fs::read_to_string(Path::new(ROOT).join("README.md")).unwrap();
    let lines = page.lines().count();
    assert!(lines <= 150, "{lines} lines");
    assert!(page.lines().take(20).any(|line| line.starts_with("![")));
}
