//! The pictures of docs show what a user sees of a bug in each unit now. `docs/pictures/UNIT.json` says which page, waves and
//! picture belong together; a test makes page and waves again and compares. With `RECONVERGE_PICTURES` set, which
//! `docs/pictures/make` does, it writes the pictures instead: with Chromium, and with GTKWave in Xvfb.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};

use reconverge::case::Case;
use reconverge::check::check;
use reconverge::dut::{Make, Rtl};
use reconverge::html;
use reconverge::saved::Saved;
use reconverge::show::step::Stepper;
use serde_json::{Value, json};

use crate::common::dump::Dump;
use crate::common::rtl;
use crate::common::rtl::Change;
use crate::common::screen::{Screen, gtkwave};
use crate::common::{ROOT, Tested, arg, command_in, text, tool};

use reconverge::for_each_unit;

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        mod $module {
            crate::common::test_unit_with_models!($module reconverge::$module::$unit:
                pictures_are_of_what_the_commands_write_now,
            );
        }
    )+};
}
for_each_unit!(tests);

/// The bug of docs/tutorial.md in a unit, and the seed of the campaign that finds it.
fn bug(unit: &str) -> (Change, &'static str) {
    match unit {
        "r500" => (("r500_vote.sv", "agreed & ~|held", "agreed & |held"), "1"),
        "r700" => {
            let right = "brk   = frame_st1_i & frame_st0_i";
            let wrong = "brk   = frame_st1_i | frame_st0_i";
            (("r700_lanes.sv", right, wrong), "33")
        }
        _ => {
            let (right, wrong) = (" | d_ret_d | exited_q);", " | exited_q);");
            (("spa5_threads.sv", right, wrong), "7")
        }
    }
}

/// Runs the command, under the name that it has when it is installed, in `dir`.
fn run(dir: &Path, args: &[&str]) -> String {
    let output = command_in(dir, args).arg0("reconverge").output().unwrap();
    let (said, errors) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{args:?}: {said}{errors}");
    said
}

/// What a user has of the bug: the files of its case.
struct Files {
    _dir: tempfile::TempDir,
    dir: PathBuf,
    /// The saved case, relative to the folder.
    case: String,
}

/// Plants the bug of a unit, lets a campaign find it, and makes the page of the case that fails.
fn found<U: Tested>() -> Files {
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path().canonicalize().unwrap();
    let (change, seed) = bug(U::NAME);
    let planted = rtl::Rtl::own(U::NAME).copy();
    planted.change(change);
    fs::create_dir(dir.join("planted")).unwrap();
    for file in fs::read_dir(planted.dir()).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), dir.join("planted").join(file.file_name())).unwrap();
    }
    // An assertion of our RTL may fail in the cycle of the comparison; then the report would name the assertion.
    let fuzz = [
        "fuzz",
        U::NAME,
        "--rtl",
        "planted",
        "--seed",
        seed,
        "--jobs",
        "1",
    ];
    let said = run(&dir, &[&fuzz[..], &["--no-assert", "--no-shrink"]].concat());
    let name = said.split_whitespace().nth(1).unwrap();
    let case = format!("waves/{name}.json");
    run(
        &dir,
        &["replay", "--no-assert", &case, "--html", "page.html"],
    );
    Files {
        _dir: temporary,
        dir,
        case,
    }
}

// ---- what pictures show --------------------------------------------------------------------------------

/// Columns and lines of the terminal.
const TERMINAL: (usize, usize) = (118, 32);

/// The stepper where the run fails, as on a terminal with colours.
fn stepper<U: Tested>(found: &Files) -> Vec<String> {
    let file = found.dir.join(&found.case);
    let saved = Saved::<Case<U>>::parse(&fs::read_to_string(&file).unwrap(), arg(&file)).unwrap();
    let make = Make {
        assertions: false,
        ..Make::of(Some(&found.dir.join("planted")))
    };
    let rtl = Rtl::<U>::make(saved.case.build(), &make).unwrap();
    let judged = check(&saved.case, &rtl);
    Stepper::new(&saved.case, &judged).screen(TERMINAL.0, TERMINAL.1, true)
}

/// The rows of a view and the values of its visible signals, without paths.
fn waves(found: &Files) -> String {
    let case = found.dir.join(&found.case);
    let view = fs::read_to_string(case.with_extension("gtkw")).unwrap();
    let place = |line: &&str| !line.starts_with("[dumpfile]") && !line.starts_with("[savefile]");
    let mut shown: String = view
        .lines()
        .filter(place)
        .map(|line| line.to_owned() + "\n")
        .collect();
    let begin = (view.lines()).find_map(|line| line.strip_prefix("[timestart] "));
    let begin: u64 = begin.unwrap().parse().unwrap();
    for time in (begin..begin + 400).step_by(5) {
        let dump = Dump::at(&case.with_extension("vcd"), time);
        for row in super::waves::named(&view) {
            let name = match row.rsplit_once('[') {
                Some((name, range)) if range.contains(':') => name,
                _ => row,
            };
            writeln!(shown, "{time} {name} {}", dump.bits(name)).unwrap();
        }
    }
    shown
}

/// One of the 256 colours of a terminal.
fn colour(number: u32) -> String {
    const BRIGHT: [&str; 16] = [
        "#000000", "#cd3131", "#0dbc79", "#e5e510", "#2472c8", "#bc3fbc", "#11a8cd", "#e5e5e5",
        "#666666", "#ff5555", "#23d18b", "#f5f543", "#3b8eea", "#d670d6", "#29b8db", "#ffffff",
    ];
    match number {
        0..16 => BRIGHT[number as usize].to_owned(),
        16..232 => {
            let level = |n: u32| [0, 95, 135, 175, 215, 255][(n % 6) as usize];
            let n = number - 16;
            format!("#{:02x}{:02x}{:02x}", level(n / 36), level(n / 6), level(n))
        }
        _ => {
            let grey = 8 + 10 * (number - 232);
            format!("#{grey:02x}{grey:02x}{grey:02x}")
        }
    }
}

/// Lines of a terminal as SVG, with the colours that their sequences select.
fn terminal(lines: &[String]) -> String {
    const WIDE: f64 = 7.8;
    const HIGH: usize = 17;
    let (mut out, mut text_colour, mut behind) = (String::new(), None, None);
    let (mut bold, mut dim) = (false, false);
    for (y, line) in lines.iter().enumerate() {
        let mut x = 0;
        for (n, part) in line.split("\x1b[").enumerate() {
            let (codes, part) = match n {
                0 => ("", part),
                _ => part.split_once('m').unwrap(),
            };
            let mut codes = codes.split(';').filter_map(|code| code.parse::<u32>().ok());
            while let Some(code) = codes.next() {
                match code {
                    0 => (text_colour, behind, bold, dim) = (None, None, false, false),
                    1 => bold = true,
                    2 => dim = true,
                    38 => text_colour = codes.nth(1).map(colour),
                    48 => behind = codes.nth(1).map(colour),
                    90..=97 => text_colour = Some(colour(code - 82)),
                    other => panic!("a sequence that is not known: {other}"),
                }
            }
            let letters = part.chars().count();
            let (left, wide) = (x as f64 * WIDE, letters as f64 * WIDE);
            if let (Some(colour), 1..) = (&behind, letters) {
                let top = y * HIGH;
                let _ = writeln!(
                    out,
                    "<rect x=\"{left:.1}\" y=\"{top}\" width=\"{wide:.1}\" height=\"{HIGH}\" fill=\"{colour}\"/>"
                );
            }
            if !part.trim().is_empty() {
                let fill = match (&text_colour, dim) {
                    (Some(colour), _) => colour,
                    (None, true) => "#8b949e",
                    (None, false) => "#e6edf3",
                };
                let weight = if bold { " font-weight=\"bold\"" } else { "" };
                let base = y * HIGH + 13;
                let _ = writeln!(
                    out,
                    "<text x=\"{left:.1}\" y=\"{base}\" textLength=\"{wide:.1}\" fill=\"{fill}\"{weight}>{}</text>",
                    html::text(part)
                );
            }
            x += letters;
        }
    }
    let (width, height) = (
        (TERMINAL.0 as f64 * WIDE) as usize + 20,
        lines.len() * HIGH + 20,
    );
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" width=\"{width}\" height=\"{height}\" viewBox=\"-10 -10 {width} {height}\" \
         font-family=\"ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace\" font-size=\"13\">\n\
         <style>text{{white-space:pre}}</style>\n\
         <rect x=\"-10\" y=\"-10\" width=\"{width}\" height=\"{height}\" fill=\"#0d1117\"/>\n{out}</svg>\n"
    )
}

// ---- pictures ------------------------------------------------------------------------------------------

/// Takes a picture of a page in a window of a laptop.
fn take_page(page: &Path, to: &Path) {
    let profile = tempfile::tempdir().unwrap();
    let done = tool::command("chromium")
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
        ])
        .args(["--disable-background-networking", "--window-size=1400,900"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--screenshot={}", to.display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", text(&done.stderr));
}

/// Takes a picture of GTKWave on a screen of the size of its window, with the command that a report prints.
fn take_waves(found: &Files, to: &Path) {
    let case = Path::new(&found.case);
    let mut screen = Screen::new(1280, 900);
    let view = case.with_extension("gtkw");
    let _viewer = gtkwave(&screen, &case.with_extension("vcd"), &view, &found.dir);
    let (mut last, mut same) = (None, 0);
    // It is complete when the marker is there and nothing has changed for three seconds.
    let image = screen.until(|screen| {
        let image = screen.image()?;
        super::waves::marker(&image, (1280, 900))?;
        same = if last.as_ref() == Some(&image) {
            same + 1
        } else {
            0
        };
        last = Some(image.clone());
        (same > 30).then_some(image)
    });
    fs::write(to, image.png()).unwrap();
}

fn sum(bytes: &[u8]) -> Value {
    json!(format!("{:08x}", crc32fast::hash(bytes)))
}

/// Regression: the pictures of the tutorial were of other programs than the text, and retouched.
fn pictures_are_of_what_the_commands_write_now<U: Tested>() {
    let found = found::<U>();
    let page = found.dir.join("page.html");
    let shown = BTreeMap::from([
        ("page", sum(&fs::read(&page).unwrap())),
        ("waves", sum(waves(&found).as_bytes())),
    ]);
    let screen = terminal(&stepper::<U>(&found));
    let place = |what: &str| Path::new(ROOT).join(format!("docs/pictures/{}{what}", U::NAME));
    let picture = |what: &str| place(&format!("-{what}.png"));
    let record = || {
        let both = |(what, shown): (&&str, &Value)| {
            let picture = sum(&fs::read(picture(what)).unwrap());
            (
                (*what).to_owned(),
                json!({"shows": shown, "picture": picture}),
            )
        };
        Value::from_iter(shown.iter().map(both))
    };
    if std::env::var_os("RECONVERGE_PICTURES").is_some() {
        let _needed = tool::needs(&["chromium", "gtkwave", "Xvfb"]);
        take_page(&page, &picture("page"));
        take_waves(&found, &picture("waves"));
        fs::write(place("-step.svg"), &screen).unwrap();
        let record = serde_json::to_string_pretty(&record()).unwrap();
        fs::write(place(".json"), record + "\n").unwrap();
    }
    let old = "is not what the commands show now: docs/pictures/make makes the pictures again";
    let there = fs::read_to_string(place("-step.svg")).unwrap();
    assert!(there == screen, "{} {old}", place("-step.svg").display());
    let recorded: Value =
        serde_json::from_str(&fs::read_to_string(place(".json")).unwrap()).unwrap();
    for (what, now) in record().as_object().unwrap() {
        assert_eq!(recorded[what], *now, "{} {old}", picture(what).display());
    }
}
