//! `step`: its screen, its keys, and what it leaves of a run whose conditions were changed.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{ROOT, Tested, arg, loaded, program, reconverge_ends, text};
use reconverge::case::{Case, Conditions, Row as Changed, Table};
use reconverge::check::{Judged, check};
use reconverge::dut::Rtl;
use reconverge::environment::Draw;
use reconverge::field::Flip;
use reconverge::instructions::Instructions as _;
use reconverge::program::Records;
use reconverge::saved::Saved;
use reconverge::show::step::{Ask, Key, Stepper};
use reconverge::show::{Row, Turn, rows};
use reconverge::stimulus::{draws, golden_alone};

use reconverge::for_each_unit;

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        mod $module {
            crate::common::test_unit!(reconverge::$module::$unit:
                screens_are_as_expected,
                screens_fit_and_colours_change_no_letter,
                keys_go_where_the_run_does_what_they_say,
                a_changed_condition_changes_its_lane_and_is_taken_back,
                every_draw_that_is_shown_is_the_one_that_decides,
                a_terminal_shows_a_changed_run_that_its_files_repeat,
            );
        }
    )+};
}
for_each_unit!(tests);

fn judged<U: Tested>(case: &Case<U>) -> Judged<Case<U>> {
    check(case, &Rtl::<U>::own(case.build()).unwrap())
}

/// The run of a program of the unit, with four lanes or all.
fn case<U: Tested>(name: &str, seed: u64, lanes: u32) -> Case<U> {
    let mut case = Case::<U>::new(loaded::<U>(name));
    case.seed = seed;
    case.lanes = lanes;
    case.launch_mask = u64::MAX >> (64 - lanes);
    case
}

/// A run, and the stepper of it, as the command has them.
struct Looked<U: Tested> {
    case: Case<U>,
    now: Case<U>,
    stepper: Stepper,
}

impl<U: Tested> Looked<U> {
    fn at(case: Case<U>) -> Self {
        let stepper = Stepper::new(&case, &judged(&case));
        Looked {
            now: case.clone(),
            case,
            stepper,
        }
    }

    /// Presses keys, and does what they ask for.
    fn press(&mut self, keys: &[Key]) -> &mut Self {
        for key in keys {
            match self.stepper.press(*key) {
                Ask::Draws(cycle) => self.stepper.draws(draws(&self.now, cycle)),
                Ask::Run(rows) => {
                    self.now = self.case.clone();
                    if !rows.is_empty() {
                        let rows = Table::from(rows);
                        self.now.conditions = Conditions::Changed { p16: 8, rows };
                    }
                    self.stepper.again(&self.now, &judged(&self.now));
                }
                Ask::Nothing => {}
                ask => panic!("{key:?}: {ask:?}"),
            }
        }
        self
    }

    fn letters(&mut self, keys: &str) -> &mut Self {
        let keys: Vec<Key> = keys.chars().map(Key::Char).collect();
        self.press(&keys)
    }

    fn screen(&self, width: usize, height: usize) -> String {
        let lines = self.stepper.screen(width, height, false);
        assert_eq!(lines.len(), height);
        let ended = lines.iter().map(|line| line.trim_end().to_owned() + "\n");
        format!("==== {width} x {height}\n{}", ended.collect::<String>())
    }
}

/// The rows of a run that agrees.
fn all_rows<U: Tested>(case: &Case<U>) -> Vec<Row> {
    let mut all = Vec::new();
    rows(case, u64::MAX, |row| {
        all.push(row);
        true
    });
    all
}

/// The whole text of screens: where lanes meet, a condition that is being changed, the run with it, a mismatch, the keys.
fn screens_are_as_expected<U: Tested>() {
    let mut text = String::new();
    let mut run = Looked::at(case::<U>(U::LONG, 3, U::LANES));
    text += &run.letters("nm").screen(110, 24);
    let (at, _) = parting(&run.case);
    run.press(&[Key::Home]).letters(&format!("{at}lx"));
    text += &run.press(&[Key::Right, Key::Char(' ')]).screen(110, 30);
    text += &run.press(&[Key::Enter]).screen(60, 24);
    text += &run.letters("a1").screen(60, 12);
    text += &run.press(&[Key::Escape]).letters("?").screen(60, 24);
    let mut wrong = case::<U>(U::IF_ELSE, 1, 4);
    wrong.flip = Some(Flip {
        field: "pc".to_owned(),
        element: 0,
        bit: 3,
        cycle: 7,
    });
    text += &Looked::at(wrong).screen(80, 30);
    let expected = Path::new(ROOT).join(program::<U>("stepped.txt"));
    assert_eq!(text, fs::read_to_string(expected).unwrap());
}

/// `line` without the sequences of colours.
fn plain(line: &str) -> String {
    let mut parts = line.split('\x1b');
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |plain, part| plain + part.split_once('m').unwrap().1)
}

fn screens_fit_and_colours_change_no_letter<U: Tested>() {
    for lanes in [4, U::LANES] {
        let mut run = Looked::at(case::<U>(U::LONG, 3, lanes));
        for keys in ["", "n", "m", "x ", "e", "?"] {
            run.letters(keys);
            for (width, height) in [(1, 1), (20, 5), (60, 12), (61, 24), (80, 25), (200, 60)] {
                let lines = run.stepper.screen(width, height, false);
                assert!(lines.len() == height, "{width} x {height}");
                for line in &lines {
                    assert!(line.chars().count() <= width, "{width} x {height}: {line}");
                }
                let coloured = run.stepper.screen(width, height, true);
                let coloured: Vec<String> = coloured.iter().map(|line| plain(line)).collect();
                assert_eq!(coloured, lines);
                // The current row is visible if there is room for it.
                if height >= 12 {
                    assert!(
                        lines.iter().any(|line| line.starts_with('>')),
                        "{keys}: {lines:#?}"
                    );
                }
            }
            let screen = run.screen(80, 24);
            if screen.contains("conditions here") {
                run.press(&[Key::Escape]);
            }
        }
    }
}

fn keys_go_where_the_run_does_what_they_say<U: Tested>() {
    let case = case::<U>(U::LONG, 3, U::LANES);
    let rows = all_rows(&case);
    let mut run = Looked::at(case);
    let end = rows.len();
    assert!(end > 20);
    let at = |run: &mut Looked<U>, key: char, from: usize| {
        run.press(&[Key::Home]);
        run.letters(&format!("{from}")).press(&[Key::Right]);
        if from == 0 {
            run.press(&[Key::Home]);
        }
        assert_eq!(run.stepper.at(), from);
        run.letters(&key.to_string());
        run.stepper.at()
    };
    let class = |at: usize| at > 0 && at < end && rows[at].found.lanes != rows[at - 1].found.lanes;
    let turns = |at: usize| at < end && rows[at].turn().is_some();
    let meets =
        |at: usize| at < end && matches!(rows[at].turn(), Some(Turn::Reconverged | Turn::Resumed));
    let (mut met, mut changed) = (0, 0);
    for from in 0..=end {
        for (key, is) in [
            ('n', &turns as &dyn Fn(usize) -> bool),
            ('m', &meets),
            ('c', &class),
        ] {
            let on = (from + 1..=end).find(|at| is(*at));
            let back = (0..from).rev().find(|at| is(*at));
            // The end is a row of its own: lanes that ended are in another class there.
            if key != 'c' || on.is_some() {
                assert_eq!(
                    at(&mut run, key, from),
                    on.unwrap_or(from),
                    "{key} from {from}"
                );
            }
            let upper = if key == 'n' {
                'p'
            } else {
                key.to_ascii_uppercase()
            };
            if from < end {
                assert_eq!(
                    at(&mut run, upper, from),
                    back.unwrap_or(from),
                    "{upper} from {from}"
                );
            }
            met += u32::from(key == 'm' && on.is_some());
            changed += u32::from(key == 'c' && on.is_some());
        }
    }
    assert!(met > 5 && changed > 5);
    // To an address and back.
    let last = rows.last().unwrap().found.pc;
    run.press(&[Key::Home])
        .letters(&format!("a0x{last:x}"))
        .press(&[Key::Enter]);
    let first = rows
        .iter()
        .skip(1)
        .position(|row| row.found.pc == last)
        .unwrap()
        + 1;
    assert_eq!(run.stepper.at(), first);
    let pc = rows[0].found.pc;
    run.letters(&format!("A{pc:x}")).press(&[Key::Enter]);
    let back = rows[..first]
        .iter()
        .rposition(|row| row.found.pc == pc)
        .unwrap();
    assert_eq!(run.stepper.at(), back);
    // An address that is not executed: the stepper stays, and says so.
    for (keys, said) in [
        ("afffff", "nothing is executed at 0xfffff behind this"),
        ("ax", "x: no hexadecimal address"),
        ("e", "the run ends without an error, and both sides agree"),
        ("z", "? lists the keys"),
        ("u", "nothing is changed"),
    ] {
        let was = run.stepper.at();
        run.letters(keys);
        if keys.starts_with('a') {
            run.press(&[Key::Enter]);
        }
        assert_eq!(run.stepper.at(), was);
        assert!(
            run.screen(80, 24).contains(&format!("\n{said}\n")),
            "{keys}"
        );
    }
    run.press(&[Key::End, Key::Right, Key::PageDown]);
    assert_eq!(run.stepper.at(), end);
    run.press(&[Key::PageUp]);
    assert_eq!(run.stepper.at(), end - 16);
    run.letters("99999999").press(&[Key::Left]);
    assert_eq!(run.stepper.at(), 0);
    for key in [Key::Char('q'), Key::Escape] {
        assert_eq!(run.stepper.press(key), Ask::Leave);
    }
}

/// The first instruction of a run at which lanes part, by the draws that they look at there.
fn parting<U: Tested>(case: &Case<U>) -> (usize, Vec<Row>) {
    let rows = all_rows(case);
    let at = rows
        .iter()
        .position(|row| row.turn() == Some(Turn::Diverged));
    (at.unwrap(), rows)
}

fn a_changed_condition_changes_its_lane_and_is_taken_back<U: Tested>() {
    let case = case::<U>(U::IF_ELSE, 2, 4);
    let (at, before) = parting(&case);
    let mut run = Looked::at(case);
    run.letters(&format!("{at}")).press(&[Key::Right]);
    let found = run.screen(80, 24);
    // The second lane's first bit.
    run.letters("x")
        .press(&[Key::Right, Key::Char(' '), Key::Enter]);
    assert_eq!(run.stepper.at(), at);
    let after = all_rows(&run.now);
    assert_eq!(after[..at], before[..at]);
    assert_eq!(after[at].next ^ before[at].next, 2, "lane 1, and no other");
    let [change] = run.stepper.changes() else {
        panic!()
    };
    assert!(
        change.said().starts_with("lane 1, draw "),
        "{}",
        change.said()
    );
    let screen = run.screen(80, 24);
    assert!(
        screen.contains(&format!("\nchanged: {}\n", change.said())),
        "{screen}"
    );
    let cycle = before[at].cycle;
    assert!(
        screen.contains(&format!("\nthe run differs from cycle {cycle} on\n")),
        "{screen}"
    );
    // RTL and golden and scalar judge: all three have judged it.
    assert!(judged(&run.now).is_ok());
    // The same bit again gives the original run, without a recorded change: the last change of a draw counts.
    run.letters("x")
        .press(&[Key::Right, Key::Char(' '), Key::Enter]);
    assert_eq!(run.stepper.changes().len(), 1);
    assert_eq!(all_rows(&run.now), before);
    run.letters("u");
    assert_eq!(run.stepper.changes(), []);
    assert_eq!(run.now, run.case);
    let said = "\nthe run stays as it was: no instruction depends on that\n";
    assert_eq!(run.screen(80, 24).replace(said, "\n\n"), found);
    // A run that could not be made leaves everything as it is.
    run.letters("x").press(&[Key::Char(' ')]);
    assert!(matches!(run.stepper.press(Key::Enter), Ask::Run(rows) if rows.len() == 1));
    run.stepper.refused("no worker");
    assert_eq!(run.stepper.changes(), []);
    assert_eq!(run.screen(80, 24).replace("\nno worker\n", "\n\n"), found);
}

/// Whatever bits are shown for a lane, with them as a table the run is the same; and no draw that the run depends on is
/// missing: with all others 0 it is the same too.
fn every_draw_that_is_shown_is_the_one_that_decides<U: Tested>() {
    for name in [U::IF_ELSE, U::LONG] {
        let case = case::<U>(name, 5, 4);
        let rows = all_rows(&case);
        let mut records = Records::<U>::default();
        golden_alone(&case, u64::MAX, &mut records);
        let records = records.records;
        assert_eq!(records.len(), rows.len());
        let mut seen: Vec<Changed> = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            // The draw of the lane at this instruction, or its last one; not its next one.
            let draws_here = {
                let plain = case
                    .program
                    .number(row.found.pc)
                    .is_some_and(|n| case.program.is_plain(n));
                plain || U::DRAWS_ITSELF
            };
            for (lane, draw) in (0..).zip(draws(&case, row.cycle)) {
                let Some(Draw { k, bits, names }) = draw else {
                    continue;
                };
                assert!(row.found.active() >> lane & 1 == 1 && !names.is_empty());
                let before = records[..at].iter();
                let executed = before.filter(|r| r.counts >> lane & 1 == 1).count() as u64;
                assert!(
                    k == executed || k < executed && !draws_here,
                    "{name}: {at}: {lane}:{k}"
                );
                let draw = Changed { lane, k, bits };
                if !seen.contains(&draw) {
                    seen.push(draw);
                }
            }
        }
        let mut keys: Vec<_> = seen.iter().map(|row| (row.lane, row.k)).collect();
        keys.sort_unstable();
        keys.dedup();
        assert!(
            seen.len() >= 4 && keys.len() == seen.len(),
            "a draw has its bits for good"
        );
        let mut alone = case.clone();
        alone.conditions = Conditions::Table(Table::from(seen));
        assert_eq!(all_rows(&alone), rows, "{name}");
    }
}

/// Runs the command on a terminal of its own, with these keys.
fn on_a_terminal(args: &[&str], keys: &str) -> (Option<i32>, String) {
    let quoted = |word: &&str| format!("'{word}'");
    let words: Vec<String> = args.iter().map(quoted).collect();
    let command = format!(
        "stty cols 100 rows 30; stty -a >&2; '{}' {}; status=$?; stty -a >&2; exit $status",
        env!("CARGO_BIN_EXE_reconverge"),
        words.join(" ")
    );
    let mut child = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .current_dir(ROOT)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(keys.as_bytes()).unwrap();
    stdin.flush().unwrap();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    (output.status.code(), text(&output.stdout))
}

fn a_terminal_shows_a_changed_run_that_its_files_repeat<U: Tested>() {
    let out = tempfile::tempdir().unwrap();
    let if_else = program::<U>(U::IF_ELSE);
    let case = case::<U>(U::IF_ELSE, 2, 4);
    let (at, before) = parting(&case);
    let run = [
        U::NAME,
        &if_else,
        "--lanes",
        "4",
        "--seed",
        "2",
        "--out",
        arg(out.path()),
    ];
    // Forward, x, the second lane by an arrow, its first bit, Enter; w; q.
    let keys = format!("{at}lx\x1b[C \rwq");
    let (status, screens) = on_a_terminal(&[&["step"], &run[..]].concat(), &keys);
    assert_eq!(status, Some(0), "{screens}");
    let (_, left) = screens.rsplit_once("\x1b[?25h\x1b[?1049l").unwrap();
    assert!(
        screens.contains("\x1b[?1049h") && left.contains("lock-step    agrees"),
        "{left}"
    );
    assert!(left.contains("changed: lane 1, draw "), "{left}");
    // The terminal is as it was.
    let modes: Vec<&str> = screens.split("speed ").skip(1).collect();
    assert_eq!(modes.len(), 2, "{screens}");
    let echo = |modes: &str| modes.contains(" echo ") && modes.contains(" icanon");
    assert!(modes.iter().all(|modes| echo(modes)), "{modes:?}");
    // Both commands repeat the last run, which differs from the first.
    let command = |name: &str| -> Vec<String> {
        let line = left.lines().find(|line| line.starts_with(name));
        let words = line.unwrap_or_else(|| panic!("{left}")).split_whitespace();
        words.skip(2).map(str::to_owned).collect()
    };
    let again = |name: &str, more: &[&str]| {
        let words = command(name);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        reconverge_ends(0, &[&words[..], more].concat());
        words[1].to_owned()
    };
    let saved = again("replay", &["--out", arg(out.path())]);
    let saved = Saved::<Case<U>>::parse(&fs::read_to_string(saved).unwrap(), "saved");
    let after = all_rows(&saved.unwrap().case);
    assert_eq!(after[at].next ^ before[at].next, 2);
    let trace = out.path().join("trace");
    again("run", &["--trace", arg(&trace)]);
    let lines = fs::read_to_string(&trace).unwrap();
    assert_eq!(lines.lines().count(), after.len());
    for (line, row) in lines.lines().zip(&after) {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(record["pc"], row.found.pc);
        assert_eq!(<U as Tested>::active(&record), row.next);
    }
    // A run that fails ends with the exit status of a failure.
    let flip = ["--flip", "pc@7"];
    let (status, screens) = on_a_terminal(&[&["step"], &run[..], &flip].concat(), "q");
    assert_eq!(status, Some(1), "{screens}");
    assert!(
        screens.contains("FAILS") && screens.contains("MISMATCH"),
        "{screens}"
    );
}
