//! `run --html`: the page holds the run that the golden model made, and shows it in a browser.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::rtl::{Copy, Rtl};
use crate::common::{
    ROOT, Tested, arg, loaded, needs, program, reconverge, reconverge_ends, reconverge_in, refusal,
    text, tool,
};
use reconverge::assembly::Assembly as _;
use reconverge::case::Case;
use reconverge::instructions::Instructions as _;
use reconverge::r500::R500;
use reconverge::show::{Class, Item, Row, Run, page};

use reconverge::for_each_unit;

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        mod $module {
            crate::common::test_unit!(reconverge::$module::$unit:
                a_page_holds_every_step_of_its_run,
                a_page_of_a_failure_has_both_sides_the_rule_and_its_replay,
            );
            crate::common::test_unit!(reconverge::$module::$unit:
                #[crate::common::needs(chromium)]
                the_lanes_of_a_failure_are_seen_without_scrolling_and_nothing_is_cut,
            );
            crate::common::test_unit_with_models!($module reconverge::$module::$unit:
                #[crate::common::needs(chromium)]
                a_browser_shows_each_step_by_keyboard,
            );
        }
    )+};
}
for_each_unit!(tests);

/// The data of each run in a page.
fn runs(page: &str) -> Vec<Value> {
    let marker = "<script type=\"application/json\" class=\"run\">";
    let parts = page.split(marker).skip(1);
    let run = |part: &str| serde_json::from_str(part.split_once("</script>").unwrap().0).unwrap();
    parts.map(run).collect()
}

/// The data in a page.
fn data(page: &str) -> Value {
    let marker = "<script type=\"application/json\" class=\"run\">";
    let (_, rest) = page.split_once(marker).unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

fn letters(lanes: &[Class]) -> String {
    lanes.iter().map(|class| class.letter()).collect()
}

/// A page of the unit's long program, with more arguments, and the rows of that run up to cycle `last`.
fn paged<U: Tested>(status: i32, last: u64, out: &Path, more: &[&str]) -> (String, Vec<Row>, Run) {
    let file = out.join("run.html");
    let program = program::<U>(U::LONG);
    let args = [
        "run",
        U::NAME,
        &program,
        "--seed",
        "3",
        "--html",
        arg(&file),
        "--out",
        arg(out),
    ];
    reconverge_ends(status, &[&args[..], more].concat());
    let mut case = Case::<U>::new(loaded::<U>(U::LONG));
    case.seed = 3;
    let run = Run::of(&case, last, None, false, page::ROWS);
    let rows = run.items.iter().map(|item| match item {
        Item::Row(row) => row.clone(),
        Item::Again { .. } => panic!("folded"),
    });
    (fs::read_to_string(file).unwrap(), rows.collect(), run)
}

fn a_page_holds_every_step_of_its_run<U: Tested>() {
    let out = tempfile::tempdir().unwrap();
    let (page, rows, run) = paged::<U>(0, u64::MAX, out.path(), &[]);
    let data = data(&page);
    let shown = data["rows"].as_array().unwrap();
    assert!(rows.len() > 20);
    assert_eq!(shown.len(), rows.len());
    for (row, shown) in rows.iter().zip(shown) {
        let at = |i: usize, table: &str| &data[table][shown[i].as_u64().unwrap() as usize];
        assert_eq!(shown[0], row.cycle);
        assert_eq!(shown[1], row.found.pc);
        assert_eq!(at(2, "texts"), &row.text);
        assert_eq!(at(3, "lanes"), &letters(&row.found.lanes));
        let stack = at(4, "stacks").as_array().unwrap();
        let kinds: Vec<_> = stack
            .iter()
            .map(|frame| frame["kind"].as_str().unwrap())
            .collect();
        assert_eq!(
            kinds,
            row.found.stack.iter().map(|f| f.kind).collect::<Vec<_>>()
        );
        let turn = at(5, "turns").as_str().unwrap();
        match row.turn() {
            Some(said) => assert!(turn.ends_with(said.word()), "{turn}"),
            None => assert_eq!(turn, ""),
        }
    }
    assert_eq!(data["end"]["lanes"], letters(&run.end.found.lanes));
    assert_eq!(data["end"]["outcome"], "done");
    assert_eq!(data["sides"], Value::Null);
    let code = loaded::<U>(U::LONG);
    let listed = data["program"].as_array().unwrap();
    assert_eq!(listed.len(), code.count());
    for (number, line) in listed.iter().enumerate() {
        let pc = line[0].as_u64().unwrap() as u32;
        assert_eq!(code.number(pc), Some(number), "{pc:#x}");
        assert_eq!(line[1], code.statement(pc));
    }
    assert!(page.contains("lock-step    agrees: "));
    // Nothing is fetched from anywhere.
    for other in ["http:", "https:", "src=", "href=", "@import", "url("] {
        assert!(!page.contains(other), "{other}");
    }
}

/// A flip of the class of lane 2.
fn flip<U: Tested>(cycle: u64) -> String {
    let field = if U::NAME == "spa5" { "active" } else { "st" };
    format!("{field}[2].0@{cycle}")
}

fn a_page_of_a_failure_has_both_sides_the_rule_and_its_replay<U: Tested>() {
    let out = tempfile::tempdir().unwrap();
    let (page, rows, _) = paged::<U>(1, 20, out.path(), &["--flip", &flip::<U>(20)]);
    let data = data(&page);
    assert_eq!(data["rows"].as_array().unwrap().len(), rows.len());
    let side = |i: usize| data["sides"][i]["lanes"].as_str().unwrap().as_bytes();
    let differ: Vec<_> = (0..side(0).len())
        .filter(|i| side(0)[*i] != side(1)[*i])
        .collect();
    assert_eq!(differ, [2]);
    // The rule is one of the specification, with what it says there.
    let (_, rest) = page.split_once("<p class=\"rule\"><b>Rule ").unwrap();
    let (id, said) = rest.split_once("</b> ").unwrap();
    let rule = reconverge::rules::find(id).unwrap();
    assert!(
        said.starts_with(&reconverge::html::text(&rule.text)),
        "{said}"
    );
    assert!(page.contains(&format!("#{id} ")), "the report names {id}");
    let (_, rest) = page.split_once("<code class=\"replay\">").unwrap();
    let command = rest.split_once("</code>").unwrap().0;
    let words: Vec<_> = command.split(' ').collect();
    assert_eq!(words[0], env!("CARGO_BIN_EXE_reconverge"));
    let again = reconverge_in(Path::new(ROOT), &words[1..]);
    assert_eq!(again.status.code(), Some(1), "{command}");
}

/// A page in a browser.
struct Shown<'p> {
    page: &'p str,
    /// The text after the `#` of its address.
    at: &'p str,
    /// Pixels that it has.
    size: (u32, u32),
    dark: bool,
}

impl Shown<'_> {
    /// What `script`, the body of a function, returns once the page is loaded, or the errors of scripts.
    fn asked(&self, script: &str) -> Value {
        let dir = tempfile::tempdir().unwrap();
        let (file, frame) = (dir.path().join("page.html"), dir.path().join("frame.html"));
        let script = format!(
            "<script>const errors = [];
             window.onerror = (what) => {{ errors.push('Error: ' + what); }};
             window.addEventListener('load', () => {{
               const found = (() => {{ {script} }})();
               parent.postMessage(JSON.stringify(errors.length ? [errors] : found), '*');
             }});</script>"
        );
        // Before the page's own scripts, whose errors are to be seen.
        let page = self.page.replacen("<head>", &format!("<head>{script}"), 1);
        fs::write(&file, page).unwrap();
        // In a frame, because a window is at least 500 pixels wide and has a bar.
        let ((width, height), at) = (self.size, self.at);
        let around = format!(
            "<!DOCTYPE html><meta charset=\"utf-8\"><script>onmessage = (event) => {{
               const out = document.createElement('pre');
               out.id = 'seen';
               out.textContent = event.data;
               document.body.append(out);
             }};</script><body>
             <iframe src=\"page.html{at}\" style=\"border: 0; width: {width}px; height: {height}px\"></iframe></body>"
        );
        fs::write(&frame, around).unwrap();
        let mut browser = tool::command("timeout");
        browser.args([
            "1200",
            "chromium",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
        ]);
        browser.args(["--disable-background-networking", "--window-size=1600,1200"]);
        browser.args(["--virtual-time-budget=10000", "--dump-dom"]);
        if self.dark {
            browser.arg("--blink-settings=preferredColorScheme=0");
        }
        let profile = dir.path().join("profile");
        browser.arg(format!("--user-data-dir={}", profile.display()));
        let output = browser.arg(format!("file://{}", frame.display())).output();
        let output = output.unwrap();
        let dom = text(&output.stdout);
        let (_, seen) = dom
            .split_once("<pre id=\"seen\">")
            .unwrap_or_else(|| panic!("{dom}{}", text(&output.stderr)));
        let seen = seen.split_once("</pre>").unwrap().0;
        let seen = seen
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&amp;", "&");
        serde_json::from_str(&seen).unwrap()
    }
}

/// A narrow screen, and one of a laptop.
const NARROW: (u32, u32) = (390, 844);
const WIDE: (u32, u32) = (1400, 900);

/// Returns the text of the page after each of these keys; `Error` if a script failed.
fn pressed(page: &str, keys: &[&str]) -> Vec<Vec<String>> {
    opened(page, "", keys)
}

/// As `pressed`, with `at` behind the address of the page.
fn opened(page: &str, at: &str, keys: &[&str]) -> Vec<Vec<String>> {
    let keys = serde_json::to_string(keys).unwrap();
    let script = format!(
        "const seen = [];
         const see = () => seen.push([
           document.getElementById('step').textContent, document.getElementById('pc').textContent,
           document.getElementById('text').textContent, document.getElementById('turn').textContent,
           [...document.querySelectorAll('#one:not([hidden]) .lane, #both:not([hidden]) .lane')].map((c) => c.textContent).join(''),
           [...document.querySelectorAll('#one:not([hidden]) .differs, #both:not([hidden]) .differs')].map((c) => c.title).join(),
           [...document.querySelectorAll('#stack li')].map((c) => c.firstChild.textContent).join(),
           [...document.querySelectorAll('#program li.here')].map((c) => c.textContent).join(),
           String(document.documentElement.scrollWidth <= window.innerWidth || [...document.querySelectorAll('body *')].filter((c) => c.getBoundingClientRect().right > window.innerWidth).map((c) => c.tagName + c.className + c.id).join()),
           [...document.querySelectorAll('[data-failure]:not([hidden]) h2')].map((c) => c.textContent).slice(0, 1).join()]);
         const press = (key) => {{
           const button = key.startsWith('run ') && [...document.querySelectorAll('button')].find((b) => b.dataset.run === key.slice(4));
           if (button) {{ button.focus(); button.click(); return; }}
           document.body.dispatchEvent(new KeyboardEvent('keydown', {{ key, bubbles: true, cancelable: true }}));
         }};
         see();
         for (const key of {keys}) {{ press(key); see(); }}
         return seen;"
    );
    let shown = Shown {
        page,
        at,
        size: NARROW,
        dark: false,
    };
    serde_json::from_value(shown.asked(&script)).unwrap()
}

/// Checks a page that shows a failure of `lanes` lanes, on a wide and on a narrow screen, light and dark: the lanes of both sides
/// are seen without scrolling on the wide one, nothing is cut on the narrow one, and text differs enough from what is behind it.
fn is_readable(page: &str, lanes: usize) {
    const ASK: &str = "
        const box = (e) => e.getBoundingClientRect();
        const seen = (e) => box(e).width > 0;
        const all = [...document.querySelectorAll('body *')].filter(seen);
        const lanes = [...document.querySelectorAll('#both:not([hidden]) .lane')];
        const name = (e) => `${e.tagName}.${e.className}#${e.id} ${e.textContent.slice(0, 40)}`;
        const words = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
        // The contrast of a colour and its background, by the formula of WCAG.
        const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
        const over = (a, b) => a.length < 4 ? a : [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3]));
        const behind = (e) => e === null ? [255, 255, 255] : over(parts(getComputedStyle(e).backgroundColor), behind(e.parentElement));
        const light = (c) => { const [r, g, b] = c.map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
          return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const contrast = (e) => { const [a, b] = [light(over(parts(getComputedStyle(e).color), behind(e))), light(behind(e))].sort((x, y) => y - x);
          return (a + 0.05) / (b + 0.05); };
        return {
          size: [innerWidth, innerHeight],
          page: getComputedStyle(document.body).backgroundColor,
          lanes: lanes.length,
          lowest: Math.max(...lanes.map((e) => box(e).bottom)),
          letters: Math.min(...all.filter(words).map((e) => parseFloat(getComputedStyle(e).fontSize))),
          out: all.filter((e) => box(e).right > innerWidth + 0.5).map(name),
          cut: all.filter((e) => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== 'visible').map(name),
          pale: all.filter(words).filter((e) => contrast(e) < 4.5).map((e) => `${name(e)} ${contrast(e)}`),
        };";
    for (size, dark) in [(WIDE, false), (WIDE, true), (NARROW, false), (NARROW, true)] {
        let shown = Shown {
            page,
            at: "",
            size,
            dark,
        };
        let seen = shown.asked(ASK);
        let about = format!("{size:?}, dark: {dark}: {seen}");
        println!("{about}");
        assert_eq!(seen["size"], serde_json::json!([size.0, size.1]), "{about}");
        let page = if dark {
            "rgb(13, 17, 23)"
        } else {
            "rgb(255, 255, 255)"
        };
        assert_eq!(seen["page"], page, "{about}");
        assert_eq!(seen["lanes"], 2 * lanes, "{about}");
        if size == WIDE {
            assert!(
                seen["lowest"].as_f64().unwrap() <= f64::from(WIDE.1),
                "{about}"
            );
        }
        assert!(seen["letters"].as_f64().unwrap() >= 11.0, "{about}");
        for wrong in ["out", "cut", "pale"] {
            assert_eq!(seen[wrong], serde_json::json!([]), "{wrong}: {about}");
        }
    }
}

/// Regression: the report took 590 of 900 pixels above the lanes, and tables and listings were cut on a narrow screen.
fn the_lanes_of_a_failure_are_seen_without_scrolling_and_nothing_is_cut<U: Tested>() {
    let out = tempfile::tempdir().unwrap();
    let (page, _, _) = paged::<U>(1, 20, out.path(), &["--flip", &flip::<U>(20)]);
    is_readable(&page, U::LANES as usize);
}

fn a_browser_shows_each_step_by_keyboard<U: Tested>() {
    let out = tempfile::tempdir().unwrap();
    let (page, rows, run) = paged::<U>(0, u64::MAX, out.path(), &[]);
    let keys = [
        "ArrowRight",
        "ArrowRight",
        "ArrowLeft",
        "n",
        "p",
        "End",
        "ArrowRight",
        "Home",
        "PageDown",
    ];
    let seen = pressed(&page, &keys);
    let turn = (2..rows.len()).find(|i| rows[*i].turn().is_some()).unwrap();
    let before = (0..turn)
        .rev()
        .find(|i| rows[*i].turn().is_some())
        .unwrap_or(0);
    let end = rows.len();
    let steps = [0, 1, 2, 1, turn, before, end, end, 0, 16];
    assert_eq!(seen.len(), steps.len(), "{seen:?}");
    for (step, seen) in steps.into_iter().zip(&seen) {
        let (number, found, said) = match rows.get(step) {
            Some(row) => (
                format!("{} of {end}", step + 1),
                &row.found,
                row.text.clone(),
            ),
            None => ("end".to_owned(), &run.end.found, run.end.outcome.clone()),
        };
        assert_eq!(seen[0], number);
        assert_eq!(seen[1], format!("0x{:03x}", found.pc));
        assert_eq!(seen[2], said);
        assert_eq!(seen[4], letters(&found.lanes), "{number}");
        assert_eq!(seen[5], "", "nothing differs");
        let kinds: Vec<_> = seen[6]
            .split(',')
            .filter(|kind| !kind.contains("passes"))
            .collect();
        let first = found.stack.last().map_or("empty", |frame| frame.kind);
        assert!(kinds[0].starts_with(first), "{}: {kinds:?}", number);
        if rows.get(step).is_some() {
            assert!(
                seen[7].starts_with(&seen[1]) && seen[7].ends_with(&said),
                "{seen:?}"
            );
        }
        assert_eq!(seen[8], "true", "nothing stands out of a narrow window");
    }
    // The address of the page may name a step.
    let (third, last) = (format!("3 of {end}"), format!("{end} of {end}"));
    let addresses = [
        ("#step=3", third.as_str()),
        (&format!("#step={end}"), &last),
        (&format!("#step={}", end + 1), "end"),
        ("#step=end", "end"),
        ("#step=-1", seen[0][0].as_str()),
        ("#run=9&step=x", &seen[0][0]),
    ];
    for (at, step) in addresses {
        assert_eq!(opened(&page, at, &[])[0][0], step, "{at}");
    }
    // A failure is shown first, with both sides.
    let (page, _, _) = paged::<U>(1, 20, out.path(), &["--flip", &flip::<U>(20)]);
    let seen = pressed(&page, &["Home"]);
    assert_eq!(seen[0][0], "end");
    assert_eq!(seen[0][4].len(), 2 * U::LANES as usize);
    let differs: Vec<_> = seen[0][5].split(',').collect();
    assert!(
        matches!(differs[..], [a, b] if a.starts_with("lane 2: ") && b.starts_with("lane 2: ")),
        "{differs:?}"
    );
    assert_eq!(
        (seen[1][0].as_str(), seen[1][5].as_str()),
        (
            format!("1 of {}", data(&page)["rows"].as_array().unwrap().len()).as_str(),
            ""
        )
    );
}

/// The program is listed at its addresses: every executed instruction is in it.
#[test]
fn a_page_lists_a_program_at_the_addresses_at_which_it_runs() {
    let dir = tempfile::tempdir().unwrap();
    let (source, page) = (dir.path().join("far.s"), dir.path().join("far.html"));
    let near =
        fs::read_to_string(Path::new(ROOT).join(program::<reconverge::spa5::Spa5>("if_else.s")))
            .unwrap();
    for base in ["0", "0xfffff700"] {
        fs::write(&source, format!(".prog_base {base}\n{near}")).unwrap();
        let run = ["run", "spa5", arg(&source), "--html", arg(&page)];
        reconverge_ends(0, &run);
        let data = data(&fs::read_to_string(&page).unwrap());
        let listed: Vec<_> = data["program"].as_array().unwrap().iter().collect();
        let texts = data["texts"].as_array().unwrap();
        let rows = data["rows"].as_array().unwrap();
        assert!(rows.len() > 5);
        for row in rows {
            let text = &texts[row[2].as_u64().unwrap() as usize];
            let stands = |line: &&&Value| line[0] == row[1] && line[1] == *text;
            assert_eq!(listed.iter().filter(stands).count(), 1, "{base}: {row}");
        }
    }
}

/// Text of a program or a report can neither end the page's script nor become part of the page.
#[test]
fn what_a_run_says_is_no_part_of_the_page() {
    let case = Case::<reconverge::spa5::Spa5>::new(loaded::<reconverge::spa5::Spa5>("if_else.s"));
    let run = Run::of(&case, u64::MAX, None, false, page::ROWS);
    let bad = "</script><script>alert(1)</script>";
    let said = page::Said {
        verdict: bad.to_owned(),
        replay: Some(bad.to_owned()),
        rule: Some((bad.to_owned(), bad.to_owned())),
        program: vec![(8, bad.to_owned())],
        agrees: false,
    };
    let page = page::page(&run, &said);
    assert!(!page.contains("alert(1)</script>") && !page.contains("<script>alert"));
    assert_eq!(data(&page)["program"][0][1], bad);
    // A page that cannot be written is refused before anything runs.
    let said = refusal(&[
        "run",
        "spa5",
        "tb/spa5/programs/if_else.s",
        "--html",
        "no/such/folder.html",
    ]);
    assert_eq!(
        said,
        "error: --html: no/such/folder.html: its folder does not exist\n"
    );
}

/// Everything between `before` and `after`, each time.
fn between<'a>(page: &'a str, before: &str, after: &str) -> Vec<&'a str> {
    let parts = page.split(before).skip(1);
    parts
        .map(|part| part.split_once(after).unwrap().0)
        .collect()
}

/// The output of a campaign on RTL with one change; its page and results are files `page.html` and `r` in the folder.
fn campaign_with_failures(bad: &Copy, dir: &Path) -> String {
    bad.change(reconverge::r500::R500::faults("decisions")[0]);
    let args = ["fuzz", "r500", "--programs", "40", "--keep-going"];
    let with = ["--rtl", bad.arg(), "--out", arg(dir)];
    let (page, results) = (dir.join("page.html"), dir.join("r"));
    let files = ["--html", arg(&page), "--results", arg(&results)];
    reconverge_ends(1, &[&args[..], &with, &files].concat())
}

/// A campaign on RTL with one change: each group of failures is on the page with the run that shows it, both sides, the rule and
/// the command; the first one is shrunk.
#[test]
fn a_page_of_a_campaign_shows_each_failure() {
    let (bad, dir) = (Rtl::own("r500").copy(), tempfile::tempdir().unwrap());
    let said = campaign_with_failures(&bad, dir.path());
    let with = ["--rtl", bad.arg(), "--out", arg(dir.path())];
    let (file, results) = (dir.path().join("page.html"), dir.path().join("r"));
    let page = fs::read_to_string(&file).unwrap();
    // What the text says stands on the page, in its order.
    let told: Vec<&str> = (said.lines())
        .filter(|line| line.ends_with(" failures") && line.contains(" of "))
        .collect();
    let shown = runs(&page);
    assert!(told.len() >= 2, "{said}");
    assert_eq!(shown.len(), told.len().min(8));
    for (number, told) in told.iter().take(8).enumerate() {
        let button = format!(
            "<button data-run=\"{number}\" aria-pressed=\"{}\">",
            number == 0
        );
        assert_eq!(between(&page, &button, "</button>"), [*told]);
    }
    let numbers = between(&page, " class=\"number\">", "</td>");
    assert_eq!(numbers[0], "40");
    assert!(
        told[0].ends_with(&format!(" of {} failures", numbers[4])),
        "{numbers:?}"
    );
    assert!(page.contains(">bins</td>") && !page.contains("Never met"));
    for other in ["http:", "https:", "src=", "href=", "@import", "url("] {
        assert!(!page.contains(other), "{other}");
    }
    // Each case fails again by the command beside it.
    let commands = between(&page, "<code class=\"replay\">", "</code>");
    assert_eq!(commands.len(), shown.len());
    assert!(commands[0].contains(" run r500 "), "{}", commands[0]);
    assert_eq!(between(&page, "<pre class=\"program\">", "</pre>").len(), 1);
    for (command, run) in commands.iter().zip(&shown) {
        let words: Vec<_> = command.split(' ').collect();
        let again = reconverge_in(Path::new(ROOT), &[&words[1..], &with[2..]].concat());
        let again = text(&again.stdout);
        let rule = again.lines().find_map(|line| line.split_once(".md#"));
        if let Some((_, rule)) = rule {
            let id = rule.split(' ').next().unwrap();
            assert!(page.contains(&format!("<b>Rule {id}</b>")), "{id}");
        }
        let mismatch = again.starts_with("MISMATCH ");
        assert!(
            mismatch || again.starts_with("STOPPED "),
            "{command} {again}"
        );
        assert_eq!(run["sides"].is_array(), mismatch);
    }

    // The results alone give the same page, also beside coverage and mutants.
    let cover = ["cover", "spa5", "--programs", "64", "--json"];
    let coverage = results.join("coverage.json");
    reconverge_ends(0, &[&cover[..], &[arg(&coverage)]].concat());
    let mutants = r#"[{"unit": "spa5", "family": "source", "seed": "0x1", "modules": {"spa5_stack":
        {"caught": 40, "missed": 1, "equivalent": 2, "undecided": 0}}, "verdicts": {"caught": 41, "missed": 1,
        "equivalent": 2, "undecided": 0}, "mutants": [{"number": 7, "file": "spa5_stack.sv", "line": 31, "operator":
        "operator", "before": "a < b", "after": "a <= b", "verdict": "missed", "why": "one input shows it"}]}]"#;
    fs::write(results.join("mutants.json"), mutants).unwrap();
    fs::write(results.join("other.json"), "{\"reconverge\": 3}").unwrap();
    let report = ["report", arg(&results), "-o", arg(&file)];
    let out = ["--out", arg(dir.path())];
    // As with `merge`: a failure on the page is a failure of the command.
    assert_eq!(reconverge_ends(1, &[&report[..], &out].concat()), "");
    let page = fs::read_to_string(&file).unwrap();
    let again = between(&page, " class=\"number\">", "</td>");
    assert_eq!(again[..5], numbers[..5]);
    assert_eq!(runs(&page).len(), shown.len());
    // What `fuzz` made smaller is beside its case.
    assert_eq!(between(&page, "<pre class=\"program\">", "</pre>").len(), 1);
    assert!(page.contains("<h2>Coverage of spa5.cover, 32 lanes</h2>"));
    let (_, mutants) = page.split_once("<h2>Mutants of spa5.source</h2>").unwrap();
    let counts = between(mutants, " class=\"number\">", "</td>");
    assert_eq!(counts[..8], ["41", "1", "2", "0", "40", "1", "2", "0"]);
    assert!(mutants.contains(
        "missed 7  spa5_stack.sv:31  operator: a &lt; b  -&gt;  a &lt;= b  (one input shows it)"
    ));
}

#[needs(chromium)]
#[test]
fn a_browser_shows_each_failure_of_a_campaign() {
    let (bad, dir) = (Rtl::own("r500").copy(), tempfile::tempdir().unwrap());
    campaign_with_failures(&bad, dir.path());
    let page = fs::read_to_string(dir.path().join("page.html")).unwrap();
    let lanes = runs(&page)[0]["width"].as_u64().unwrap();
    is_readable(&page, lanes as usize);
    let seen = pressed(&page, &["run 1", "Home", "run 0", "ArrowLeft"]);
    let name = |run: usize| runs(&page)[run]["name"].as_str().unwrap().to_owned();
    let rows = |run: usize| runs(&page)[run]["rows"].as_array().unwrap().len();
    let steps = [
        (0, "end".to_owned()),
        (1, "end".to_owned()),
        (1, format!("1 of {}", rows(1))),
        (0, "end".to_owned()),
        (0, format!("{} of {}", rows(0), rows(0))),
    ];
    assert_eq!(seen.len(), steps.len(), "{seen:?}");
    for ((run, step), seen) in steps.iter().zip(&seen) {
        assert_eq!((&seen[9], &seen[0]), (&name(*run), step), "{seen:?}");
        assert_eq!(seen[8], "true", "nothing stands out of a narrow window");
        let data = &runs(&page)[*run];
        if step != "end" {
            continue;
        }
        // Both sides, with a frame around the lanes that differ.
        let side = |i: usize| data["sides"][i]["lanes"].as_str().unwrap().to_owned();
        assert_eq!(seen[4], side(0) + &side(1));
    }
}

/// A page of a failing stream of pins and of a failing program.
fn page_of_a_stream_and_a_program() -> String {
    let case = Case::<R500>::new(loaded::<R500>(R500::LONG));
    let run = Run::of(&case, 100, None, false, page::ROWS);
    let failed = |name: &str, run, noun| page::Failed {
        heading: "1 of 2 failures".to_owned(),
        name: name.to_owned(),
        run,
        said: page::Said::default(),
        small: Some((noun, "small".to_owned())),
        others: Vec::new(),
    };
    let failures = [
        failed("slot.random-0.1", None, "stream"),
        failed(&run.name.clone(), Some(run), "program"),
    ];
    page::campaign("two campaigns", page::Heading::Fails, "", &failures, "")
}

/// Regression: the page showed an empty program, a step and a stack, which no stream of pins has.
#[test]
fn a_failing_stream_has_no_program_step_or_stack_on_its_page() {
    let page = page_of_a_stream_and_a_program();
    assert!(page.contains("<div id=\"view\" hidden>"));
    let shown = runs(&page);
    assert!(shown[0].is_null() && shown[1]["rows"].is_array());
    assert_eq!(between(&page, "<h2>Small ", "</h2>"), ["stream", "program"]);
}

#[needs(chromium)]
#[test]
fn a_browser_shows_steps_only_of_failures_that_have_a_program() {
    let page = page_of_a_stream_and_a_program();
    let script = "return [null, 1, 0].map((run) => {
           if (run !== null) document.querySelector(`[data-run='${run}']`).click();
           document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'n', bubbles: true }));
           window.dispatchEvent(new Event('resize'));
           return [document.getElementById('view').hidden, location.hash];
         });";
    let shown = Shown {
        page: &page,
        at: "",
        size: WIDE,
        dark: false,
    };
    let seen = shown.asked(script);
    let expected = serde_json::json!([[true, "#run=1"], [false, "#run=1"], [true, "#run=1"]]);
    assert_eq!(seen, expected);
}

/// An empty page is refused, and so is a file that cannot be written.
#[test]
fn a_report_of_nothing_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("page.html");
    let refused = |from: &Path, to: &Path, why: &str| {
        let output = reconverge(&["report", arg(from), "-o", arg(to)]);
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(text(&output.stderr).lines().next(), Some(why));
        assert!(!page.exists());
    };
    let nothing =
        "nothing to report: no results of `fuzz --results`, `cover --json` or `mutate --json`";
    let shown = dir.path().display();
    refused(
        dir.path(),
        &page,
        &format!("error: {shown}: results: {nothing}"),
    );
    let case = dir.path().join("case.json");
    fs::write(&case, "{\"reconverge\": 3}").unwrap();
    refused(
        &case,
        &page,
        &format!("error: {}: results: {nothing}", case.display()),
    );
    fs::write(&case, "{").unwrap();
    let why = "EOF while parsing an object, column 1";
    refused(
        dir.path(),
        &page,
        &format!("error: {}:1: json: {why}", case.display()),
    );
    let gone = dir.path().join("gone/page.html");
    let why = format!(
        "error: --output: {}: its folder does not exist",
        gone.display()
    );
    refused(dir.path(), &gone, &why);
}
