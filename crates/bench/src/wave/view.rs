//! The GTKWave view of a dump, generated from the field list of the design.

use std::fmt::Write as _;

use super::xor::XOR;
use super::{Added, PERIOD_NS, Signals, WORDS, signal};
use crate::design::Design;
use crate::field::Shape;
use crate::quantity::counted;

/// A field's signal in the waves. Both sides have it, as `rtl_view.NAME` and `golden_view.NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Name below the view's scope, e.g. `lane[3]`.
    pub name: String,
    /// Width in bits.
    pub width: u32,
    /// Filter file that names the values, without folder and extension.
    pub filter: Option<&'static str>,
    /// It is a number with a sign.
    pub signed: bool,
    /// It belongs to a list with one element per lane.
    pub per_lane: bool,
}

impl Trace {
    /// Returns the name of its list, or its own name.
    fn list(&self) -> &str {
        self.name.split('[').next().unwrap_or_default()
    }
}

/// Returns the signals of one side in the order of the view.
fn traces<U: Design>(lanes: usize) -> Vec<Trace> {
    let mut list: Vec<Trace> = Vec::new();
    for field in U::fields() {
        let elements = if field.shape == Shape::Planes(1) {
            1
        } else {
            field.elements(lanes)
        };
        let width = if field.shape == Shape::Planes(1) {
            lanes as u32
        } else {
            field.signal_width
        };
        for element in 0..elements {
            let trace = Trace {
                name: signal(field, element),
                width,
                filter: field.filter,
                signed: field.signed,
                per_lane: field.per_lane(),
            };
            // Fields that share a signal (class and counters of a lane) are listed once.
            if !list.contains(&trace) {
                list.push(trace);
            }
        }
    }
    list
}

/// Longer lists of values are folded.
const UNFOLDED: usize = 8;
/// The same for lists of lanes: a window has room for this many on both sides.
const UNFOLDED_LANES: usize = 16;

// Trace flags of a save file: radix, and begin and end of a group.
const BINARY: &str = "28";
const HEX: &str = "22";
const SIGNED: &str = "420";
const TEXT: &str = "820";
const NAMED: &str = "2028";
const COMMENT: &str = "200";
const OPEN: &str = "800200";
const OPEN_HEX: &str = "800022";
const FOLDED: &str = "c00200";
const END: &str = "1000200";
const END_FOLDED: &str = "1401200";

/// What a view shows of a dump.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// Lanes.
    pub lanes: usize,
    /// Time of the marker.
    pub marker: Option<u64>,
    /// Indices of the fields that differ there; the view shows them first.
    pub fields: Vec<usize>,
    /// Signals added to the dump.
    pub added: Added,
    /// Letters of each text signal that is a vector; empty where they are strings.
    pub letters: Vec<usize>,
    /// First time of the dump.
    pub begin: u64,
    /// Signals of the dump, without the added text signals: the view shows no others. `None` if there is no dump yet; then they
    /// are as declared.
    pub signals: Option<Signals>,
}

// GTKWave 3.3 has a fixed number of ns per pixel, whatever the width of its window, so one start time puts the marker at one
// distance from the left edge. If the window is wider than the rest of the dump, GTKWave moves the start back until the end of the
// dump is at the right edge: then the marker keeps its distance from that edge. With the two distances below, it is at about two
// thirds of the waves whether the window is as wide as the view asks or covers a screen of 1920 pixels. A start time at which the
// dump would end within the window is ignored, so the two together are a little more than the waves of the window.

/// Size in pixels of the window: it fits on a screen of 1280 pixels.
const WINDOW: (u32, u32) = (1280, 900);
/// Width in pixels of the column of names and values.
const NAMES: u32 = 400;
/// Most pixels of the waves to the left of the marker, and pixels to its right that the dump has to cover.
const LEFT: f64 = 560.0;
const RIGHT: f64 = 345.0;
/// Most ns that a pixel stands for: 25 pixels a cycle.
const COARSEST: f64 = 0.4;
/// Pixels that stand for 2^z ns at zoom -z.
const ZOOM_UNIT: f64 = 200.0;

/// Returns how many ns a pixel stands for, if the dump begins `before` ns before the marker.
fn scale(before: u64) -> f64 {
    (before.max(1) as f64 / LEFT).min(COARSEST)
}

/// Returns how many cycles a dump needs after its marker, which is `before` ns after its begin.
pub fn cycles_after(before: u64) -> u64 {
    (RIGHT * scale(before) / PERIOD_NS as f64).ceil() as u64
}

/// Returns start time and zoom of a view whose marker is `before` ns after `begin`, if it has one.
fn window(begin: u64, before: Option<u64>) -> (u64, f64) {
    let scale = before.map_or(COARSEST, scale);
    let left = (LEFT * scale).round() as u64;
    let start = before.map_or(begin, |before| begin + before.saturating_sub(left));
    (start, -(scale * ZOOM_UNIT).log2())
}

/// The text of a view, written row by row.
struct View<'s> {
    text: String,
    signals: Option<&'s Signals>,
    /// Names of lists and signals that the dump does not have.
    absent: Vec<String>,
}

impl View<'_> {
    /// Writes a row, or what begins or ends a group.
    fn line(&mut self, flags: &str, what: &str) {
        let _ = writeln!(self.text, "@{flags}\n{what}");
    }

    /// Returns the signal at `path` with its range in the dump, or with that of `width` bits if there is no dump yet. `None` if
    /// the dump does not have it.
    fn ranged(&mut self, path: &str, width: u32) -> Option<String> {
        let range = match self.signals {
            None => range(width),
            Some(signals) => match signals.get(path) {
                Some(signal) => signal.range.clone(),
                None => {
                    let list = path.split('[').next().unwrap_or_default();
                    if !self.absent.iter().any(|absent| absent == list) {
                        self.absent.push(list.to_owned());
                    }
                    return None;
                }
            },
        };
        Some(path.to_owned() + &range)
    }

    /// Writes the row of the signal at `path`; `before` stands before its name.
    fn row(&mut self, flags: &str, before: &str, path: &str, width: u32) {
        if let Some(signal) = self.ranged(path, width) {
            self.line(flags, &format!("{before}{signal}"));
        }
    }
}

/// Returns the view as the text of a save file that names `dump`. `filters` is the folder of the filter files, relative to
/// the folder where GTKWave is started, because GTKWave searches there and not beside the save file.
///
/// A view that works from any folder contains its own path, `own`. GTKWave then searches for dump and filters beside the
/// view, even if they have been moved together.
pub fn save_file<U: Design>(shown: &Shown, dump: &str, own: Option<&str>, filters: &str) -> String {
    let Shown { lanes, marker, .. } = *shown;
    let mut view = View {
        text: String::new(),
        signals: shown.signals.as_ref(),
        absent: Vec::new(),
    };
    let top = format!("TOP.{}_tb", U::NAME);
    let (start, zoom) = window(shown.begin, marker.map(|at| at.saturating_sub(shown.begin)));
    let marker = marker.map_or_else(|| "-1".to_owned(), |t| t.to_string());
    let own = own.map_or_else(String::new, |own| format!("[savefile] \"{own}\"\n"));
    let _ = writeln!(
        view.text,
        "[*] Reconverge {}: RTL beside golden, {}\n\
         [dumpfile] \"{dump}\"\n\
         {own}\
         [timestart] {start}\n\
         [size] {} {}\n\
         [pos] -1 -1\n\
         *{zoom:.4} {marker}{}\n\
         [treeopen] TOP.\n\
         [treeopen] {top}.\n\
         [sst_expanded] 0\n\
         [signals_width] {NAMES}",
        U::NAME,
        counted(lanes, "lane"),
        WINDOW.0,
        WINDOW.1,
        " -1".repeat(26)
    );
    for (n, name) in shown.added.words.iter().enumerate() {
        let (flags, range) = match shown.letters.get(n) {
            Some(letters) => (TEXT, range(8 * *letters as u32)),
            None => (BINARY, String::new()),
        };
        let row = format!("+{{{}}} {WORDS}.{name}{range}", label(name));
        view.line(flags, &row);
    }
    view.row(BINARY, "", &format!("{top}.clk_i"), 1);
    mismatch::<U>(&mut view, &top, &shown.fields);
    let traces = traces::<U>(lanes);
    let lists = traces.chunk_by(|a, b| a.list() == b.list());
    let differs = |group: &&[Trace]| {
        let mut fields = shown.fields.iter().map(|i| U::fields()[*i].signal);
        fields.any(|signal| signal == group[0].list())
    };
    let (first, rest): (Vec<&[Trace]>, Vec<_>) = lists.partition(differs);
    let side = Sides {
        top: &top,
        filters,
        xor: &shown.added.xor,
    };
    if !first.is_empty() {
        view.line(COMMENT, SIDES);
    }
    let mut others = Vec::new();
    for list in &first {
        // Elements that differ come first, then some of the others; a window has no room for more.
        let differ = |trace: &&Trace| shown.added.xor.contains(&trace.name);
        let (mut seen, mut more): (Vec<&Trace>, Vec<&Trace>) = list.iter().partition(differ);
        seen.append(&mut more);
        more = seen.split_off(seen.len().min(UNFOLDED));
        side.list(&mut view, &seen, false, "");
        others.push(more);
    }
    view.line(OPEN, "-inputs (act a cycle later)");
    for input in U::DECLARATION.inputs {
        let width = input.width(lanes);
        let flags = if width == 1 { BINARY } else { HEX };
        view.row(flags, "", &format!("{top}.{}", input.signal), width);
    }
    view.line(END, GROUP_END);
    if first.is_empty() {
        view.line(COMMENT, SIDES);
    }
    for more in others.iter().filter(|more| !more.is_empty()) {
        side.list(&mut view, more, true, ", the others");
    }
    for list in rest {
        // If something differs, fold the rest; otherwise fold long lists.
        let folded = !first.is_empty() || list.len() > folded_from(&list[0]);
        side.list(&mut view, &list.iter().collect::<Vec<_>>(), folded, "");
    }
    for path in std::mem::take(&mut view.absent) {
        let name = path.strip_prefix(&format!("{top}.")).unwrap_or(&path);
        view.line(COMMENT, &format!("-not in the dump: {name}"));
    }
    view.text + "[pattern_trace] 1\n[pattern_trace] 0\n"
}

/// What stands above the signals of both sides.
const SIDES: &str = "-rtl, golden, xor";

/// What all rows of both sides need.
struct Sides<'s> {
    top: &'s str,
    filters: &'s str,
    /// Signals that differ.
    xor: &'s [String],
}

impl Sides<'_> {
    /// Writes the signals of a list on both sides, in a group if the list has more than one element.
    fn list(&self, view: &mut View<'_>, list: &[&Trace], folded: bool, about: &str) {
        let Sides { top, filters, xor } = self;
        let grouped = list.len() > 1 || list[0].name.contains('[');
        if grouped {
            let begin = if folded { FOLDED } else { OPEN };
            view.line(begin, &format!("-{}{about}", list[0].list()));
        }
        for trace in list {
            let name = &trace.name;
            for (side, colour) in [("rtl", ""), ("golden", "[color] 3\n")] {
                let (flags, filter) = match trace.filter {
                    Some(filter) => (NAMED, format!("^1 {filters}/{filter}.txt\n")),
                    None if trace.width == 1 => (BINARY, String::new()),
                    None if trace.signed => (SIGNED, String::new()),
                    None => (HEX, String::new()),
                };
                let before = format!("{colour}{filter}+{{{side} {name}}} ");
                let path = format!("{top}.{side}_view.{name}");
                view.row(flags, &before, &path, trace.width);
            }
            if xor.contains(name) {
                // In the same radix as both sides, unless those show names.
                let named = trace.filter.is_some() || trace.width == 1;
                let flags = if named { BINARY } else { HEX };
                let before = format!("[color] 1\n+{{xor {name}}} ");
                view.row(flags, &before, &format!("{XOR}.{name}"), trace.width);
            }
        }
        if grouped {
            view.line(if folded { END_FOLDED } else { END }, GROUP_END);
        }
    }
}

/// The row that ends a group. It has no name: GTKWave would show the name behind a brace.
const GROUP_END: &str = "-";

/// Writes the mismatch bits, one for each field, and below them those that are ever 1: the bits of `fields`.
fn mismatch<U: Design>(view: &mut View<'_>, top: &str, fields: &[usize]) {
    let bits = U::fields().len();
    let Some(signal) = view.ranged(&format!("{top}.mismatch_o"), bits as u32) else {
        return;
    };
    // GTKWave finds no bit of a vector of one bit.
    let differ = (0..bits).filter(|i| bits > 1 && fields.contains(i));
    let differ: Vec<usize> = differ.collect();
    let begin = match differ.is_empty() {
        true => HEX,
        false => OPEN_HEX,
    };
    view.line(begin, &format!("+{{mismatch}} {signal}"));
    for i in &differ {
        // GTKWave counts the bits of a vector from its left end.
        let (from_left, name) = (bits - 1 - i, U::fields()[*i].name);
        let row = format!("+{{differs: {name}}} ({from_left}){signal}");
        view.line(BINARY, &row);
    }
    if !differ.is_empty() {
        view.line(END, GROUP_END);
    }
}

/// Returns the label of a text signal. There is no such signal for the RTL's stack.
fn label(word: &str) -> String {
    match word.starts_with("stack") {
        true => format!("golden {word}"),
        false => word.replace('_', " "),
    }
}

fn folded_from(trace: &Trace) -> usize {
    if trace.per_lane {
        UNFOLDED_LANES
    } else {
        UNFOLDED
    }
}

fn range(width: u32) -> String {
    if width == 1 {
        String::new()
    } else {
        format!("[{}:0]", width - 1)
    }
}
