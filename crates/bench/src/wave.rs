//! Waves: the GTKWave view of a unit, generated from its field list, and the filters that name values.

#[cfg(feature = "fst")]
pub mod fst;
mod output;
mod xor;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use crate::design::Design;
use crate::field::{Field, Shape, Table};
pub use output::{Output, write_named, write_whole};
#[doc(hidden)]
pub use output::{remove_old, write_new};
use xor::Sides;
pub use xor::XOR;

/// Time in ns of one cycle in a dump; the clock of cycle n rises at n times this.
pub const PERIOD_NS: u64 = 10;

/// A field's signal in the waves. Both sides have it, as `rtl_view.NAME` and `golden_view.NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Name below the view's scope, e.g. `lane[3]`.
    pub name: String,
    /// Width in bits.
    pub width: u32,
    /// Filter file that names the values, without folder and extension.
    pub filter: Option<&'static str>,
    /// It belongs to a list with one element per lane.
    pub per_lane: bool,
}

impl Trace {
    /// Returns the name of its list, or its own name.
    fn list(&self) -> &str {
        self.name.split('[').next().unwrap_or_default()
    }
}

/// Returns the time in a dump at which the effect of the inputs of cycle `cycle` is visible.
pub fn time_of(cycle: u64) -> u64 {
    (cycle + 1) * PERIOD_NS
}

/// Returns the signal that shows `element` of `field`.
pub fn signal(field: &Field, element: usize) -> String {
    let name = field.signal;
    match field.shape {
        // A single plane is a mask, one signal for all lanes.
        Shape::Planes(1) => name.to_owned(),
        Shape::Words { count: 1, .. } => name.to_owned(),
        _ => format!("{name}[{element}]"),
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

/// Cycles of the dump to the left of the marker. With the window size and the zoom below, about forty cycles are visible.
/// GTKWave ignores a start time that would show time after the end of the dump, which is four cycles after a mismatch.
const CLOCKS_BEFORE: u64 = 34;

/// Longer lists of values are folded.
const UNFOLDED: usize = 8;
/// The same for lists of lanes: a window has room for this many on both sides.
const UNFOLDED_LANES: usize = 16;

// Trace flags of a save file: radix, and begin and end of a group.
const BINARY: &str = "28";
const HEX: &str = "22";
const TEXT: &str = "820";
const NAMED: &str = "2028";
const COMMENT: &str = "200";
const OPEN: &str = "800200";
const OPEN_HEX: &str = "800022";
const FOLDED: &str = "c00200";
const END: &str = "1000200";
const END_FOLDED: &str = "1401200";

/// Text signals of a dump, and their texts in the order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// Names of the signals.
    pub signals: Vec<String>,
    /// Time, index of the signal, text.
    pub changes: Vec<(u64, usize, String)>,
}

/// Scope of the text signals in a dump.
pub const WORDS: &str = "run";

/// Returns a text escaped for a dump, where a space ends it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'!'..=b'~' if byte != b'\\' => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
    }
    out
}

impl Words {
    /// Inserts a first signal, with `text` from `time` on and empty from `begin` until then.
    pub fn put_first(&mut self, name: &str, begin: u64, time: u64, text: &str) {
        for (_, signal, _) in &mut self.changes {
            *signal += 1;
        }
        self.signals.insert(0, name.to_owned());
        self.changes.insert(0, (begin, 0, "-".to_owned()));
        let later = self.changes.partition_point(|(at, ..)| *at <= time);
        self.changes.insert(later, (time, 0, text.to_owned()));
    }
}

/// Signals added to a dump that the RTL has written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Signals of [`WORDS`].
    pub words: Vec<String>,
    /// Signals of [`XOR`]: signals of the views in which the two sides ever differ.
    pub xor: Vec<String>,
}

/// Adds `words` to the dump `path` as text signals, and the exclusive or of the signals that differ; returns the added
/// signals.
///
/// # Errors
/// The dump cannot be read or written.
pub fn insert(path: &Path, words: &Words) -> Result<Added, String> {
    let shown = |e: io::Error| format!("{}: {e}", path.display());
    let read = || fs::File::open(path).map(io::BufReader::new);
    let mut sides = read().and_then(Sides::of).map_err(shown)?;
    let added = Added {
        words: words.signals.clone(),
        xor: sides.names(),
    };
    if added == Added::default() {
        return Ok(added);
    }
    let from = read().map_err(shown)?;
    let file = Output::replacing(path).map_err(shown)?;
    let mut out = io::BufWriter::new(file);
    copy_with(from, &mut out, words, &mut sides).map_err(shown)?;
    let file = out.into_inner().map_err(|e| shown(e.into_error()))?;
    file.finish().map_err(shown)?;
    Ok(added)
}

/// Copies a dump and adds `words` and the exclusive or of `sides`.
fn copy_with(
    mut from: impl BufRead,
    out: &mut impl Write,
    words: &Words,
    sides: &mut Sides,
) -> io::Result<()> {
    let mut line = Vec::new();
    let mut changes = words.changes.iter().peekable();
    let mut head = true;
    loop {
        line.clear();
        if from.read_until(b'\n', &mut line)? == 0 {
            return sides.write(out);
        }
        if !head {
            sides.line(&line, out)?;
        }
        if line.starts_with(b"$enddefinitions") {
            head = false;
            sides.declare(out)?;
        }
        if line.starts_with(b"$enddefinitions") && !words.signals.is_empty() {
            writeln!(out, "$scope module {WORDS} $end")?;
            for (n, name) in words.signals.iter().enumerate() {
                writeln!(out, "$var string 1 ~{WORDS}{n} {name} $end")?;
            }
            writeln!(out, "$upscope $end")?;
        }
        out.write_all(&line)?;
        let time = line.strip_prefix(b"#").and_then(|digits| {
            let digits = std::str::from_utf8(digits).ok()?;
            digits.trim().parse::<u64>().ok()
        });
        let Some(now) = time else { continue };
        while let Some((_, signal, text)) = changes.next_if(|(time, ..)| *time <= now) {
            writeln!(out, "s{} ~{WORDS}{signal}", escaped(text))?;
        }
    }
}

/// What the header of a dump says.
#[derive(Clone, Debug, Default)]
pub struct Header {
    /// Name of the design whose bench top wrote the dump; empty if none did.
    pub design: String,
    /// The signals added to the dump.
    pub added: Added,
    /// Width in bits of each variable in the golden model's view, by name.
    pub widths: BTreeMap<String, usize>,
}

impl Header {
    /// Returns the number of lanes of the dump of `D`: the width of a lane mask. `None` if the state has none.
    pub fn lanes<D: Design>(&self) -> Option<usize> {
        let masks = D::fields().iter().filter(|field| field.per_lane());
        masks
            .filter_map(|field| self.widths.get(field.name).copied())
            .next()
    }
}

/// Returns what the header of a dump says; `None` if it is not a dump.
///
/// # Errors
/// The dump cannot be read.
pub fn header(mut dump: impl BufRead) -> io::Result<Option<Header>> {
    let mut header = Header::default();
    let mut line = Vec::new();
    let mut in_view = false;
    loop {
        line.clear();
        if dump.read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if line.starts_with(b"$enddefinitions") {
            return Ok(Some(header));
        }
        let text = String::from_utf8_lossy(&line);
        let words = text.split_whitespace().collect::<Vec<_>>();
        match words[..] {
            ["$scope", _, name, ..] => in_view = name == "golden_view",
            ["$upscope", ..] => in_view = false,
            ["$var", _, width, _, name, ..] if in_view => {
                let width = width.parse().unwrap_or_default();
                header.widths.insert(name.to_owned(), width);
            }
            _ => {}
        }
        if let ["$scope", "module", name, ..] = words[..]
            && let Some(name) = name.strip_suffix("_tb")
            && header.design.is_empty()
        {
            name.clone_into(&mut header.design);
        }
        if let ["$var", _, _, id, name, ..] = words[..] {
            if id.starts_with(&format!("~{WORDS}")) {
                header.added.words.push(name.to_owned());
            } else if id.starts_with(&format!("~{XOR}")) {
                header.added.xor.push(name.to_owned());
            }
        }
    }
}

/// Format of a dump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Value change dump.
    #[default]
    Vcd,
    /// GTKWave's own format, which is smaller.
    #[cfg(feature = "fst")]
    Fst,
}

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
    /// Cycles in the dump, if known.
    pub cycles: Option<u64>,
}

/// Width in pixels of a window for the waves, and of 2^z ns at zoom -z.
const WAVES_WIDE: f64 = 1100.0;
const ZOOM_UNIT: f64 = 200.0;
/// Zoom at which about forty cycles are visible, and the largest zoom, for shorter runs.
const ZOOM: f64 = 6.0;
const LARGEST: f64 = 3.0;

/// Returns the zoom at which a dump of `cycles` cycles fills the window, or about forty of them do.
fn zoom(cycles: Option<u64>) -> f64 {
    let Some(cycles) = cycles else { return -ZOOM };
    let length = (cycles.max(1) * PERIOD_NS) as f64;
    let tenths = (ZOOM_UNIT * length / WAVES_WIDE).log2() * 10.0;
    -(tenths.ceil() / 10.0).clamp(LARGEST, ZOOM)
}

/// Returns the view as the text of a save file that names `dump`. `filters` is the folder of the filter files, relative to
/// the folder where GTKWave is started, because GTKWave searches there and not beside the save file.
///
/// A view that works from any folder contains its own path, `own`. GTKWave then searches for dump and filters beside the
/// view, even if they have been moved together.
pub fn save_file<U: Design>(shown: &Shown, dump: &str, own: Option<&str>, filters: &str) -> String {
    let Shown { lanes, marker, .. } = *shown;
    let mut text = String::new();
    let top = format!("TOP.{}_tb", U::NAME);
    let start = marker.map_or(0, |t| t.saturating_sub(CLOCKS_BEFORE * PERIOD_NS));
    let marker = marker.map_or_else(|| "-1".to_owned(), |t| t.to_string());
    let zoom = zoom(shown.cycles);
    let own = own.map_or_else(String::new, |own| format!("[savefile] \"{own}\"\n"));
    let _ = writeln!(
        text,
        "[*] Reconverge {}: RTL beside golden, {lanes} lanes\n\
         [dumpfile] \"{dump}\"\n\
         {own}\
         [timestart] {start}\n\
         [size] 1700 1000\n\
         [pos] -1 -1\n\
         *{zoom:.1} {marker}{}\n\
         [treeopen] TOP.\n\
         [treeopen] {top}.\n\
         [sst_expanded] 0\n\
         [signals_width] 560",
        U::NAME,
        " -1".repeat(26)
    );
    let mut line = |flags: &str, what: &str| {
        let _ = writeln!(text, "@{flags}\n{what}");
    };
    for (n, name) in shown.added.words.iter().enumerate() {
        let (flags, range) = match shown.letters.get(n) {
            Some(letters) => (TEXT, range(8 * *letters as u32)),
            None => (BINARY, String::new()),
        };
        line(
            flags,
            &format!("+{{{}}} {WORDS}.{name}{range}", label(name)),
        );
    }
    line(BINARY, &format!("{top}.clk_i"));
    let bits = U::fields().len();
    let mismatch = format!("{top}.mismatch_o[{}:0]", bits - 1);
    // Bits that stay 0 carry no information.
    let differ: Vec<usize> = (0..bits).filter(|i| shown.fields.contains(i)).collect();
    let (begin, end) = match differ.is_empty() {
        true => (HEX, ""),
        false => (OPEN_HEX, "-group_end"),
    };
    line(begin, &format!("+{{mismatch, one bit a field}} {mismatch}"));
    for i in differ {
        // GTKWave counts the bits of a vector from its left end.
        let (from_left, name) = (bits - 1 - i, U::fields()[i].name);
        line(
            BINARY,
            &format!("+{{differs: {name}}} ({from_left}){mismatch}"),
        );
    }
    if !end.is_empty() {
        line(END, end);
    }
    line(OPEN, "-inputs (take effect one cycle later)");
    for (name, width) in U::DECLARATION.inputs {
        let width = if *width == 0 { lanes as u32 } else { *width };
        line(
            if width == 1 { BINARY } else { HEX },
            &format!("{top}.{name}{}", range(width)),
        );
    }
    line(END, "-group_end");
    line(
        COMMENT,
        "-rtl, golden below it, exclusive or where they differ",
    );
    let traces = traces::<U>(lanes);
    let mut groups: Vec<&[Trace]> = traces.chunk_by(|a, b| a.list() == b.list()).collect();
    // Fields that differ come first, unfolded.
    let differs = |group: &[Trace]| {
        let mut fields = shown.fields.iter().map(|i| U::fields()[*i].signal);
        fields.any(|signal| signal == group[0].list())
    };
    groups.sort_by_key(|group| !differs(group));
    for group in groups {
        let name = group[0].list();
        let ends = match group {
            [_] => None,
            _ if differs(group) => Some((OPEN, END)),
            // If something differs, fold the rest; otherwise fold long lists.
            [first, ..] if !shown.fields.is_empty() || group.len() > folded_from(first) => {
                Some((FOLDED, END_FOLDED))
            }
            _ => Some((OPEN, END)),
        };
        if let Some((begin, _)) = ends {
            line(begin, &format!("-{name}"));
        }
        for trace in group {
            for (side, colour) in [("rtl", ""), ("golden", "[color] 3\n")] {
                let (flags, filter) = match trace.filter {
                    Some(filter) => (NAMED, format!("^1 {filters}/{filter}.txt\n")),
                    None if trace.width == 1 => (BINARY, String::new()),
                    None => (HEX, String::new()),
                };
                let name = &trace.name;
                line(
                    flags,
                    &format!(
                        "{colour}{filter}+{{{side} {name}}} {top}.{side}_view.{name}{}",
                        range(trace.width)
                    ),
                );
            }
            if shown.added.xor.contains(&trace.name) {
                // In the same radix as both sides, unless those show names.
                let named = trace.filter.is_some() || trace.width == 1;
                let flags = if named { BINARY } else { HEX };
                let (name, range) = (&trace.name, range(trace.width));
                let text = format!("[color] 1\n+{{xor {name}}} {XOR}.{name}{range}");
                line(flags, &text);
            }
        }
        if let Some((_, end)) = ends {
            line(end, "-group_end");
        }
    }
    text.push_str("[pattern_trace] 1\n[pattern_trace] 0\n");
    text
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

/// Returns the same for Surfer: name of the format, width, and values. Values that are errors are drawn as errors.
fn mapping_text(table: &Table) -> String {
    let width = table.width as usize;
    let errors = table.name.ends_with("_err");
    let values = table.values.iter().map(|(value, name)| {
        let kind = if errors && *value != 0 { "[error]" } else { "" };
        format!("0b{value:0width$b}{kind} {name}\n")
    });
    format!("Name = {}\nBits = {width}\n", table.name) + &values.collect::<String>()
}

/// Returns a filter file: each value in binary, then its name.
fn filter_text(table: &Table) -> String {
    let width = table.width as usize;
    table
        .values
        .iter()
        .fold(String::new(), |mut text, (value, name)| {
            let _ = writeln!(text, "{value:0width$b} {name}");
            text
        })
}

/// Folder of the filters, beside the view.
const FILTERS: &str = "filters";

/// Folder, relative to where Surfer is started, in which it searches for names of values.
const MAPPINGS: &str = ".surfer/mappings";

/// Writes the view to `path`, the filters of `U` to the folder `filters` beside it, and the same for Surfer to
/// `.surfer/mappings`. Returns the command that opens `dump` in the view from the current folder. With `anywhere`, the view
/// finds dump and filters from any folder.
///
/// # Errors
/// A file cannot be written.
pub fn write_view<U: Design>(
    path: &Path,
    dump: &Path,
    shown: &Shown,
    anywhere: bool,
) -> Result<String, String> {
    let dir = path.parent().unwrap_or(Path::new(""));
    let filters: PathBuf = dir.join(FILTERS);
    // A link in the place of one of these folders would lead the files elsewhere.
    for folder in [FILTERS, ".surfer", MAPPINGS].map(|name| dir.join(name)) {
        if folder.is_symlink() {
            fs::remove_file(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        }
    }
    for table in U::DECLARATION.tables {
        write_whole(
            &filters.join(format!("{}.txt", table.name)),
            &filter_text(table),
        )?;
        let mapping = dir.join(MAPPINGS).join(format!("{}.txt", table.name));
        write_whole(&mapping, &mapping_text(table))?;
    }
    let shown_as = |path: &Path| path.to_string_lossy().into_owned();
    let text = match (std::path::absolute(dump), std::path::absolute(path)) {
        (Ok(dump), Ok(own)) if anywhere => {
            save_file::<U>(shown, &shown_as(&dump), Some(&shown_as(&own)), FILTERS)
        }
        _ => save_file::<U>(shown, &shown_as(dump), None, &shown_as(&filters)),
    };
    write_whole(path, &text)?;
    Ok(command(dump, path))
}

/// Returns the command that opens `dump` in `view`.
pub fn command(dump: &Path, view: &Path) -> String {
    let [dump, view] = [dump, view].map(|path| shell(&path.to_string_lossy()));
    format!("gtkwave {dump} {view}")
}

/// Returns `word` as one word of a shell command, quoted only if necessary.
pub fn shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn words_are_quoted_for_a_shell_where_they_have_to_be() {
        for (word, quoted) in [
            ("waves/a.vcd", "waves/a.vcd"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
            ("", "''"),
            ("$x", "'$x'"),
        ] {
            assert_eq!(super::shell(word), quoted);
        }
    }
}
