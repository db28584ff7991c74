//! Waves: the GTKWave view of a unit, generated from its field list, and the filters that name values.

#[cfg(feature = "fst")]
pub mod fst;
mod header;
mod output;
mod view;
mod xor;

use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::design::Design;
use crate::field::{Field, Shape, Table};
pub use header::{Header, Signal, Signals, header};
pub use output::{Output, write_named, write_whole};
#[doc(hidden)]
pub use output::{remove_old, write_new};
pub use view::{Shown, Trace, cycles_after, save_file};
use xor::Sides;
pub use xor::XOR;

/// Time in ns of one cycle in a dump; the clock of cycle n rises at n times this.
pub const PERIOD_NS: u64 = 10;

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

/// Text signals of a dump, and their texts in the order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
    /// Returns whether there are no signals.
    pub fn is_empty(&self) -> bool {
        self.signals.is_empty()
    }

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

/// Adds `words` to the dump `path` as text signals, and the exclusive or of the signals that differ; makes the dump last until
/// `end` at least. Returns what its header then says.
///
/// # Errors
/// The dump cannot be read or written, or is not a VCD.
pub fn insert(path: &Path, words: &Words, end: Option<u64>) -> Result<Header, String> {
    let shown = |e: io::Error| format!("{}: {e}", path.display());
    let read = || fs::File::open(path).map(io::BufReader::new);
    let mut sides = read().and_then(Sides::of).map_err(shown)?;
    if !words.signals.is_empty() || !sides.names().is_empty() || end.is_some() {
        let from = read().map_err(shown)?;
        let file = Output::replacing(path).map_err(shown)?;
        let mut out = io::BufWriter::new(file);
        copy_with(from, &mut out, words, &mut sides, end).map_err(shown)?;
        let file = out.into_inner().map_err(|e| shown(e.into_error()))?;
        file.finish().map_err(shown)?;
    }
    let header = read().and_then(header).map_err(shown)?;
    header.ok_or_else(|| format!("{}: not a VCD: no $enddefinitions in it", path.display()))
}

/// Copies a dump and adds `words`, the exclusive or of `sides`, and the time `end` if the dump ends before it.
fn copy_with(
    mut from: impl BufRead,
    out: &mut impl Write,
    words: &Words,
    sides: &mut Sides,
    end: Option<u64>,
) -> io::Result<()> {
    let mut line = Vec::new();
    let mut changes = words.changes.iter().peekable();
    let mut head = true;
    let mut last = 0;
    loop {
        line.clear();
        if from.read_until(b'\n', &mut line)? == 0 {
            sides.write(out)?;
            return match end.filter(|end| *end > last) {
                Some(end) => writeln!(out, "#{end}"),
                None => Ok(()),
            };
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
        let Some(now) = xor::time(&line) else {
            continue;
        };
        last = now;
        while let Some((_, signal, text)) = changes.next_if(|(time, ..)| *time <= now) {
            writeln!(out, "s{} ~{WORDS}{signal}", escaped(text))?;
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
