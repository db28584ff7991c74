//! Waves: the GTKWave view of a unit, made from its field list, and the filters that name values.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use crate::design::Design;
use crate::field::{Field, Shape, Table};

/// Time units (ns) a clock takes in a dump; clock n rises at n times this.
pub const PERIOD_NS: u64 = 10;

/// How a field is shown in the waves. Both sides have it, as `rtl_view.NAME` and `golden_view.NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Name below the view's scope, e.g. `lane[3]`.
    pub name: String,
    /// Bits.
    pub width: u32,
    /// Filter file that names the values, without folder and ending.
    pub filter: Option<&'static str>,
    /// It is one of a list with an element for each lane.
    pub per_lane: bool,
}

impl Trace {
    /// Name of the list that it is an element of, or its own.
    fn list(&self) -> &str {
        self.name.split('[').next().unwrap_or_default()
    }
}

/// Time in a dump at which what the inputs of clock `clock` did is to be seen.
pub fn time_of(clock: u64) -> u64 {
    (clock + 1) * PERIOD_NS
}

/// The signal that shows `element` of `field`.
pub fn signal(field: &Field, element: usize) -> String {
    let name = field.signal;
    match field.shape {
        // A single plane is a mask, one signal for all lanes.
        Shape::Planes(1) => name.to_owned(),
        Shape::Words { count: 1, .. } => name.to_owned(),
        _ => format!("{name}[{element}]"),
    }
}

/// Signals of one side in the order of the view: (name, width, filter).
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

/// Clocks of the dump to the left of the marker. With the size of window and the zoom below some forty
/// clocks are to be seen; GTKWave ignores a start that shows time behind the end of the dump, which
/// comes four clocks after a mismatch.
const CLOCKS_BEFORE: u64 = 34;

/// Lists of more values than this are folded up.
const UNFOLDED: usize = 8;
/// The same for lists of lanes: a window has room for so many on both sides.
const UNFOLDED_LANES: usize = 16;

// Trace flags of a save file: radix, and what opens and ends a group.
const BINARY: &str = "28";
const HEX: &str = "22";
const NAMED: &str = "2028";
const COMMENT: &str = "200";
const OPEN: &str = "800200";
const OPEN_HEX: &str = "800022";
const FOLDED: &str = "c00200";
const END: &str = "1000200";
const END_FOLDED: &str = "1401200";

/// What a dump says in words: signals, and the text that each has from a time on, in the order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// Names of the signals.
    pub signals: Vec<String>,
    /// Time, number of the signal, text.
    pub changes: Vec<(u64, usize, String)>,
}

/// Scope of the words in a dump.
pub const WORDS: &str = "run";

/// How a text stands in a dump, which ends it at the first space.
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

/// Writes `words` into the dump `path`, as signals of their own.
///
/// # Errors
/// The dump cannot be read or written.
pub fn insert(path: &Path, words: &Words) -> Result<(), String> {
    if words.signals.is_empty() {
        return Ok(());
    }
    let shown = |e: io::Error| format!("{}: {e}", path.display());
    let from = fs::File::open(path).map_err(shown)?;
    let file = Output::create(path).map_err(shown)?;
    let mut out = io::BufWriter::new(file);
    copy_with(io::BufReader::new(from), &mut out, words).map_err(shown)?;
    let file = out.into_inner().map_err(|e| shown(e.into_error()))?;
    file.finish().map_err(shown)
}

/// Copies a dump, with `words` in it.
fn copy_with(mut from: impl BufRead, out: &mut impl Write, words: &Words) -> io::Result<()> {
    let mut line = Vec::new();
    let mut changes = words.changes.iter().peekable();
    loop {
        line.clear();
        if from.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if line.starts_with(b"$enddefinitions") {
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

/// Returns the words' signals that a dump has, by the lines of its head; `None` if it is no dump.
///
/// # Errors
/// It cannot be read.
pub fn words_of(mut dump: impl BufRead) -> io::Result<Option<Vec<String>>> {
    let mut names = Vec::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        if dump.read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if line.starts_with(b"$enddefinitions") {
            return Ok(Some(names));
        }
        let text = String::from_utf8_lossy(&line);
        let own = format!("~{WORDS}");
        if let ["$var", "string", _, id, name, "$end"] =
            text.split_whitespace().collect::<Vec<_>>()[..]
            && id.starts_with(&own)
        {
            names.push(name.to_owned());
        }
    }
}

/// What a view shows of a dump.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// Lanes.
    pub lanes: usize,
    /// Where the marker stands.
    pub marker: Option<u64>,
    /// Fields that differ there, by their number: they come first.
    pub fields: Vec<usize>,
    /// The words' signals in it.
    pub words: Vec<String>,
}

/// The view as the text of a save file. `dump` is named in it; `filters` is the folder of the filter
/// files as seen from where GTKWave is started, for it looks there and not beside the save file.
pub fn save_file<U: Design>(shown: &Shown, dump: &str, filters: &str) -> String {
    let Shown { lanes, marker, .. } = *shown;
    let mut text = String::new();
    let top = format!("TOP.{}_tb", U::NAME);
    let start = marker.map_or(0, |t| t.saturating_sub(CLOCKS_BEFORE * PERIOD_NS));
    let marker = marker.map_or_else(|| "-1".to_owned(), |t| t.to_string());
    // Zoom -6: 2^6 ns take 200 pixels, so that forty clocks have room.
    let _ = writeln!(
        text,
        "[*] Reconverge {}: RTL beside golden, {lanes} lanes\n\
         [dumpfile] \"{dump}\"\n\
         [timestart] {start}\n\
         [size] 1700 1000\n\
         [pos] -1 -1\n\
         *-6.0 {marker}{}\n\
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
    for name in &shown.words {
        line(
            BINARY,
            &format!("+{{{}}} {WORDS}.{name}", name.replace('_', " ")),
        );
    }
    line(BINARY, &format!("{top}.clk_i"));
    let bits = U::fields().len();
    let mismatch = format!("{top}.mismatch_o[{}:0]", bits - 1);
    // Bits that stay 0 say nothing.
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
    line(OPEN, "-inputs, one clock before they act");
    for (name, width) in U::DECLARATION.inputs {
        let width = if *width == 0 { lanes as u32 } else { *width };
        line(
            if width == 1 { BINARY } else { HEX },
            &format!("{top}.{name}{}", range(width)),
        );
    }
    line(END, "-group_end");
    line(COMMENT, "-rtl, and golden below it");
    let traces = traces::<U>(lanes);
    let mut groups: Vec<&[Trace]> = traces.chunk_by(|a, b| a.list() == b.list()).collect();
    // What differs comes first, and is not folded.
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
            [first, ..] if group.len() > folded_from(first) => Some((FOLDED, END_FOLDED)),
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
        }
        if let Some((_, end)) = ends {
            line(end, "-group_end");
        }
    }
    text.push_str("[pattern_trace] 1\n[pattern_trace] 0\n");
    text
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

/// A filter file: value in binary, then its name.
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

/// An output that is there whole or not at all: a temporary file that gets its name at the end. What is no
/// regular file (a pipe, a device) is written as it is; behind a symbolic link, the file that it leads to.
#[derive(Debug)]
pub struct Output(Sink);

#[derive(Debug)]
enum Sink {
    New(tempfile::NamedTempFile, PathBuf),
    There(fs::File),
}

impl Output {
    /// Begins to write `path`.
    ///
    /// # Errors
    /// The folder, or what is no regular file, cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if fs::metadata(&path).is_ok_and(|m| !m.is_file()) {
            return Ok(Output(Sink::There(
                fs::File::options().write(true).open(path)?,
            )));
        }
        let dir = path
            .parent()
            .filter(|d| !d.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        // Readable by whom the umask allows, like any file.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.prefix(".writing-").tempfile_in(dir)?;
        Ok(Output(Sink::New(file, path)))
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// It cannot be renamed.
    pub fn finish(self) -> io::Result<()> {
        match self.0 {
            Sink::New(file, path) => file.persist(path).map(drop).map_err(|e| e.error),
            Sink::There(_) => Ok(()),
        }
    }
}

impl io::Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Sink::New(file, _) => file.write(bytes),
            Sink::There(file) => file.write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Sink::New(file, _) => file.flush(),
            Sink::There(file) => file.flush(),
        }
    }
}

/// Writes `text` to `path`, whole or not at all, and the folder if there is none.
///
/// # Errors
/// The folder or the file cannot be written.
pub fn write_whole(path: &Path, text: &str) -> Result<(), String> {
    let shown = |e: io::Error| format!("{}: {e}", path.display());
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir).map_err(shown)?;
    }
    let mut file = Output::create(path).map_err(shown)?;
    io::Write::write_all(&mut file, text.as_bytes()).map_err(shown)?;
    file.finish().map_err(shown)
}

/// Writes the filters of `U` into `dir/filters` and the view to `path`; returns the command that opens
/// `dump` in it, to be run from the current folder. With `anywhere` the view finds dump and filters from any folder.
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
    let filters: PathBuf = dir.join("filters");
    for table in U::DECLARATION.tables {
        write_whole(
            &filters.join(format!("{}.txt", table.name)),
            &filter_text(table),
        )?;
    }
    let dump_name = dump.to_string_lossy();
    let place = |path: &Path| match std::path::absolute(path) {
        Ok(absolute) if anywhere => absolute.to_string_lossy().into_owned(),
        _ => path.to_string_lossy().into_owned(),
    };
    write_whole(path, &save_file::<U>(shown, &place(dump), &place(&filters)))?;
    Ok(format!(
        "gtkwave {} {}",
        quoted(&dump_name),
        quoted(&path.to_string_lossy())
    ))
}

/// `word` as a shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// `word` as one word for a shell: quoted only where it has to be.
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
    /// A found bug: outputs named on the command line replaced pipes, devices and links by files.
    #[cfg(unix)]
    #[test]
    fn an_output_replaces_neither_a_pipe_nor_a_link() {
        use std::os::unix::fs::{FileTypeExt, symlink};
        let dir = tempfile::tempdir().expect("a folder");
        let (file, link, pipe) = (
            dir.path().join("a"),
            dir.path().join("l"),
            dir.path().join("p"),
        );
        std::fs::write(&file, "old").expect("written");
        symlink(&file, &link).expect("linked");
        super::write_whole(&link, "new").expect("written");
        assert_eq!(std::fs::read_to_string(&file).expect("read"), "new");
        assert!(
            std::fs::symlink_metadata(&link)
                .expect("there")
                .is_symlink()
        );

        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.is_ok_and(|s| s.success()));
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::read_to_string(pipe).expect("read")
        });
        super::write_whole(&pipe, "through").expect("written");
        assert_eq!(reader.join().expect("joined"), "through");
        assert!(
            std::fs::metadata(&pipe)
                .expect("there")
                .file_type()
                .is_fifo()
        );
        assert_eq!(std::fs::read_dir(dir.path()).expect("read").count(), 3);
    }

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
