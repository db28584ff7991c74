//! A run as one self-contained HTML page: it needs no network and no server, and works with the keyboard and on a narrow
//! screen.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::Hash;

use serde_json::{Value, json};

use super::text::turn;
use super::{Class, Frame, Item, Run, ShownState};
use reconverge_bench::field::mask_in_eights;
use reconverge_bench::html::text;

/// Maximum number of instructions of a page.
pub const ROWS: usize = 20_000;

const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// Text of a page besides the run itself.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// True if the judges agree.
    pub agrees: bool,
    /// The verdict: the output lines of the command, or the report of a failure.
    pub verdict: String,
    /// Id and text of the rule that determines the first field that differs.
    pub rule: Option<(String, String)>,
    /// The command that repeats the run.
    pub replay: Option<String>,
    /// The program: addresses and instructions.
    pub program: Vec<(u32, String)>,
}

/// A table of distinct values.
struct Table<K> {
    numbers: HashMap<K, usize>,
    values: Vec<Value>,
}

impl<K: Hash + Eq> Table<K> {
    fn new() -> Self {
        Table {
            numbers: HashMap::new(),
            values: Vec::new(),
        }
    }

    /// Returns the number of `key`; adds `value` if the key is new.
    fn number(&mut self, key: K, value: impl FnOnce() -> Value) -> usize {
        *self.numbers.entry(key).or_insert_with(|| {
            self.values.push(value());
            self.values.len() - 1
        })
    }
}

fn letters(lanes: &[Class]) -> String {
    lanes.iter().map(|class| class.letter()).collect()
}

fn stack(frames: &[Frame], lanes: usize) -> Value {
    let frame = |frame: &Frame| {
        let kept = frame
            .lanes
            .map(|mask| mask_in_eights(lanes, |i| mask >> i & 1 == 1));
        json!({"kind": frame.kind, "address": frame.address, "passes": frame.passes, "lanes": kept})
    };
    frames.iter().map(frame).collect()
}

fn found(found: &ShownState) -> Value {
    let mut shown = json!({"pc": found.pc, "lanes": letters(&found.lanes), "stack": stack(&found.stack, found.lanes.len())});
    if let Some(wavefront) = found.wavefront {
        shown["wavefront"] = wavefront.into();
    }
    shown
}

/// Returns the JSON data for the script of the page. The rows refer to tables of texts, lanes, stacks and turns by number.
pub fn data(run: &Run, said: &Said) -> Value {
    let (mut texts, mut lanes) = (Table::new(), Table::new());
    let (mut stacks, mut turns) = (Table::new(), Table::new());
    let mut rows = Vec::new();
    for item in &run.items {
        let Item::Row(row) = item else { continue };
        let said = turn(row.found.active(), row.next);
        let classes = letters(&row.found.lanes);
        let frames = stack(&row.found.stack, run.lanes);
        let mut shown = vec![
            json!(row.cycle),
            json!(row.found.pc),
            json!(texts.number(row.text.clone(), || json!(row.text))),
            json!(lanes.number(classes.clone(), || json!(classes))),
            json!(stacks.number(frames.to_string(), || frames)),
            json!(turns.number(said.clone(), || json!(said))),
        ];
        shown.extend(row.found.wavefront.map(Value::from));
        rows.push(shown);
    }
    let mut end = found(&run.end.found);
    end["outcome"] = match run.left_out {
        0 => json!(run.end.outcome),
        n => json!(format!(
            "{} ({n} more instructions before it)",
            run.end.outcome
        )),
    };
    json!({
        "unit": run.unit,
        "name": run.name,
        "width": run.lanes,
        "rows": rows,
        "texts": texts.values,
        "lanes": lanes.values,
        "stacks": stacks.values,
        "turns": turns.values,
        "end": end,
        "failed": run.failed,
        "sides": run.sides.as_ref().map(|sides| sides.each_ref().map(found)),
        "program": said.program,
    })
}

/// A failure of a campaign, or the representative of several.
#[derive(Clone, Debug)]
pub struct Failed {
    /// The kind of failure, and how often it occurred.
    pub heading: String,
    /// The name of its case.
    pub name: String,
    /// The run of its program up to the failure; `None`: the case has no program.
    pub run: Option<Run>,
    /// Further text about the run.
    pub said: Said,
    /// What texts call a case, and the case as text, if it was shrunk.
    pub small: Option<(&'static str, String)>,
    /// Paths of the saved cases with the same kind of failure.
    pub others: Vec<String>,
}

/// Returns the page of a run. Its repeats must not be folded.
pub fn page(run: &Run, said: &Said) -> String {
    let mut page = head(&run.name, said.agrees.into());
    rule(&mut page, said);
    if run.left_out > 0 {
        left_out(&mut page, run);
    }
    view(&mut page, true);
    about(&mut page, said);
    foot(&mut page, &[data(run, said)]);
    page
}

/// What the heading of a page says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heading {
    /// Everything agrees.
    Agrees,
    /// Something fails.
    Fails,
    /// Nothing fails so far, but not everything has run.
    NotComplete,
    /// The page shows only measurements.
    Nothing,
}

impl From<bool> for Heading {
    fn from(agrees: bool) -> Self {
        if agrees {
            Heading::Agrees
        } else {
            Heading::Fails
        }
    }
}

/// Returns the page of a campaign: every failure to step through, then the HTML `totals` and `below`.
pub fn campaign(
    title: &str,
    heading: Heading,
    totals: &str,
    failures: &[Failed],
    below: &str,
) -> String {
    let mut page = head(title, heading);
    if failures.is_empty() {
        page += totals;
        page += below;
        page += "</body>\n</html>\n";
        return page;
    }
    page += "<h2>Failures</h2>\n<div id=\"failures\">\n";
    for (number, failed) in failures.iter().enumerate() {
        let _ = writeln!(
            page,
            "<button data-run=\"{number}\" aria-pressed=\"{}\">{}</button>",
            number == 0,
            text(&failed.heading)
        );
    }
    page += "</div>\n";
    let section = |number: usize| {
        let hidden = if number == 0 { "" } else { " hidden" };
        format!("<section data-failure=\"{number}\"{hidden}>\n")
    };
    for (number, failed) in failures.iter().enumerate() {
        page += &section(number);
        let _ = writeln!(page, "<h2>{}</h2>", text(&failed.name));
        rule(&mut page, &failed.said);
        if let Some(run) = failed.run.as_ref().filter(|run| run.left_out > 0) {
            left_out(&mut page, run);
        }
        page += "</section>\n";
    }
    view(&mut page, failures[0].run.is_some());
    for (number, failed) in failures.iter().enumerate() {
        page += &section(number);
        about(&mut page, &failed.said);
        if let Some((noun, small)) = &failed.small {
            let _ = writeln!(
                page,
                "<h2>Small {noun}</h2>\n<pre class=\"program\">{}</pre>",
                text(small.trim_end())
            );
        }
        if !failed.others.is_empty() {
            let others = failed.others.join("\n");
            let _ = writeln!(
                page,
                "<details><summary>Others that fail so</summary><pre>{}</pre></details>",
                text(&others)
            );
        }
        page += "</section>\n";
    }
    page += totals;
    page += below;
    let run = |failed: &Failed| failed.run.as_ref().map(|run| data(run, &failed.said));
    let runs: Vec<Value> = failures.iter().map(|failed| json!(run(failed))).collect();
    foot(&mut page, &runs);
    page
}

fn head(title: &str, heading: Heading) -> String {
    let title = text(title);
    let word = match heading {
        Heading::Agrees => " <span class=\"good\">agrees</span>",
        Heading::Fails => " <span class=\"bad\">fails</span>",
        Heading::NotComplete => " <span class=\"bad\">not complete</span>",
        Heading::Nothing => "",
    };
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}{word}</h1>\n"
    )
}

/// Writes the rule: it stands above the lanes, which are to be seen without scrolling.
fn rule(page: &mut String, said: &Said) {
    if let Some((id, rule)) = &said.rule {
        let _ = writeln!(
            page,
            "<p class=\"rule\"><b>Rule {}</b> {}</p>",
            text(id),
            text(rule)
        );
    }
}

/// Writes the command and the verdict.
fn about(page: &mut String, said: &Said) {
    if let Some(replay) = &said.replay {
        let _ = writeln!(
            page,
            "<p class=\"again\">Again: <code class=\"replay\">{}</code></p>",
            text(replay)
        );
    }
    let heading = match said.agrees {
        true => "Verdict",
        false => "Report",
    };
    let _ = writeln!(
        page,
        "<h2>{heading}</h2>\n<pre class=\"verdict\">{}</pre>",
        text(said.verdict.trim_end())
    );
}

fn left_out(page: &mut String, run: &Run) {
    let _ = writeln!(
        page,
        "<p class=\"dim\">The first {} of {} instructions.</p>",
        reconverge_bench::html::number(run.items.len() as u64),
        reconverge_bench::html::number(run.rows)
    );
}

/// Writes the view of a run, which the script shows or hides, and the legend of the letters.
fn view(page: &mut String, shown: bool) {
    let (above, below) = BODY.split_once("LEGEND").unwrap_or((BODY, ""));
    let hidden = if shown { "" } else { " hidden" };
    let _ = writeln!(page, "<div id=\"view\"{hidden}>");
    *page += above;
    *page += "<p class=\"legend\">";
    for class in Class::ALL {
        let letter = class.letter();
        let style = format!("{class:?}").to_lowercase();
        let _ = write!(
            page,
            "<span><i class=\"lane {style}\">{letter}</i>{}</span>",
            class.meaning()
        );
    }
    *page += "</p>";
    *page += below;
}

/// Writes the runs, and the script that shows them.
fn foot(page: &mut String, runs: &[Value]) {
    for run in runs {
        // Data within a script element must not contain its end tag.
        let data = run.to_string().replace('<', "\\u003c");
        let _ = writeln!(
            page,
            "<script type=\"application/json\" class=\"run\">{data}</script>"
        );
    }
    let _ = write!(page, "<script>\n{SCRIPT}</script>\n</body>\n</html>\n");
}

const BODY: &str = r#"<div id="listing"><h2>Program</h2><div id="program" class="mono" tabindex="0" aria-label="program"><ol></ol></div></div>
<div id="middle"><h2>Step <span id="step"></span></h2>
<div id="now" aria-live="polite"><span id="cycle" class="dim"></span> <code id="pc"></code> <b id="text" class="mono"></b>
<div id="turn"></div></div>
<div id="one"><div id="lanes" class="row"></div></div>
<div id="both" hidden><div><span class="side">RTL</span><code id="rtlpc"></code></div><div id="rtl" class="row"></div>
<div><span class="side">golden model</span><code id="goldenpc"></code></div><div id="golden" class="row"></div></div>
LEGEND
<input id="scrub" type="range" min="0" value="0" aria-label="step">
<div><button data-key="Home">|&lt;</button><button data-key="p">lanes &lt;</button><button data-key="ArrowLeft">&lt;</button>
<button data-key="ArrowRight">&gt;</button><button data-key="n">lanes &gt;</button><button data-key="End">&gt;|</button></div>
<canvas id="timeline" aria-label="lanes from top to bottom, steps from left to right"></canvas>
<p class="dim"><kbd>&larr;</kbd> <kbd>&rarr;</kbd> one step, <kbd>PageUp</kbd> <kbd>PageDown</kbd> sixteen, <kbd>Home</kbd>
<kbd>End</kbd>, <kbd>p</kbd> <kbd>n</kbd> to where lanes diverge or reconverge. A step is shown as the instruction finds it.</p></div>
<div id="frames"><h2>Stack</h2><div id="stack" tabindex="0" aria-label="stack, the top first"><ol></ol></div></div>
</div>
"#;
