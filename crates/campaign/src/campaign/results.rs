//! Results of a campaign in files, so that a campaign can be interrupted, split between machines, and merged.
//!
//! A file holds the results of one run of a campaign or shard as JSON Lines, which are only appended to. The first line
//! ([`Header`]) identifies the campaign. Every other line is the result of some cases of a chunk ([`Piece`]): of the whole
//! chunk or, if a process was lost, of single cases. A line without cases says that the RTL ended a process. Each line ends
//! with the CRC-32 of the part of the line before it:
//!
//! ```text
//! {"reconverge_campaign":5,"unit":"r500","cases":"program","seed":"0x1","limit":{"programs":1000},...,"crc32":"5f0c0ffe"}
//! {"chunk":0,"cases":{"start":0,"end":256},"summary":{...},"crc32":"82b1c0de"}
//! ```
//!
//! A killed process may leave an incomplete last line. It is dropped, and its cases are run again. Nothing else is lost,
//! because complete lines are already with the operating system. To protect against a crash of the machine, the file is synced
//! to disk every ten seconds and at the end; cases that are lost then are also run again. Any other damaged line is an error.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{ByScalar, Drawn, Limit, Options, Piece, Shard, Summary, Tally};
use reconverge_bench::design::{Build, Design};
use reconverge_bench::dut::Rtl;
use reconverge_bench::input::{self, InputError};
use reconverge_bench::json::{self, hex, required};
use reconverge_bench::lockstep::Compared;
use reconverge_bench::quantity::counted;
use reconverge_bench::stream::{CYCLES, MAX_CYCLES};

/// File name extension.
pub const ENDING: &str = "jsonl";

/// The version of the format that this crate writes and reads.
pub const FORMAT: u32 = 5;

/// Interval between syncs of a file to disk.
const SYNC: Duration = Duration::from_secs(10);

/// The text before the checksum of a line.
const CRC: &str = ",\"crc32\":\"";

/// Identifies a campaign: everything that its totals depend on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`FORMAT`].
    pub reconverge_campaign: u32,
    /// Name of the unit.
    pub unit: String,
    /// What its cases are: [`Drawn::NOUN`].
    pub cases: String,
    /// Campaign seed.
    #[serde(with = "hex")]
    pub seed: u64,
    /// When the campaign ends; never a time.
    pub limit: Limit,
    /// Cycles of a stream that is not long; `None` in a campaign of programs.
    #[serde(deserialize_with = "required")]
    pub cycles: Option<usize>,
    /// The campaign does not end with the first failure.
    pub keep_going: bool,
    /// Lanes and parameters.
    pub build: Build,
    /// Hash of the contents of RTL and bench.
    pub rtl: String,
    /// True if the models check the RTL's assertions.
    pub assertions: bool,
    /// Hash of this program: generators, golden models, judges, engine.
    pub program: String,
    /// Shard of the campaign.
    pub shard: Shard,
}

impl Header {
    /// Returns the header of the campaign with `options` on `rtl`.
    pub fn new<C: Drawn>(options: &Options, rtl: &Rtl<C::Design>, shard: Shard) -> Self {
        Header {
            reconverge_campaign: FORMAT,
            unit: C::Design::NAME.to_owned(),
            cases: C::NOUN.to_owned(),
            seed: options.seed,
            limit: options.limit,
            cycles: (!C::EXECUTES).then_some(options.cycles),
            keep_going: options.keep_going,
            build: rtl.build().clone(),
            rtl: rtl.contents().to_owned(),
            assertions: rtl.assertions(),
            program: program::<C::Design>(),
            shard,
        }
    }

    /// Returns the name of the file in its folder, which has one file for each build and shard of design `D`.
    pub fn file_name<D: Design>(&self) -> String {
        let name = format!("{}{}", self.unit, self.build.tag::<D>());
        match (self.shard.index(), self.shard.of()) {
            (_, 1) => format!("{name}.{ENDING}"),
            (index, of) => format!("{name}.{index}-of-{of}.{ENDING}"),
        }
    }

    /// Returns the options of the campaign, as far as its totals depend on them.
    pub fn options(&self) -> Options {
        Options {
            seed: self.seed,
            limit: self.limit,
            jobs: 1,
            keep_going: self.keep_going,
            cycles: self.cycles.unwrap_or(CYCLES),
            ..Options::default()
        }
    }

    /// Returns the first field in which `other` belongs to another campaign, with both values. Shards of the same campaign do
    /// not differ.
    fn differs(&self, other: &Header) -> Option<(&'static str, String, String)> {
        let limit = |h: &Header| match h.limit {
            Limit::Programs(n) => counted(n, &h.cases),
            Limit::Cycles(n) => counted(n, "cycle"),
            Limit::Time(t) => counted(t.as_secs(), "second"),
        };
        type Shown<'a> = &'a dyn Fn(&Header) -> String;
        let fields: [(&'static str, Shown); 11] = [
            ("unit", &|h| h.unit.clone()),
            ("cases", &|h| format!("{}s", h.cases)),
            ("seed", &|h| h.seed.to_string()),
            ("limit", &limit),
            ("cycles", &|h| {
                h.cycles.map_or_else(
                    || "no length".to_owned(),
                    |n| counted(n, "cycle") + " in a stream",
                )
            }),
            ("shard", &|h| format!("one of {}", h.shard.of())),
            ("keep_going", &|h| h.keep_going.to_string()),
            ("build", &|h| h.build.to_string()),
            ("rtl", &|h| h.rtl.clone()),
            ("assertions", &|h| h.assertions.to_string()),
            ("program", &|h| h.program.clone()),
        ];
        fields
            .iter()
            .map(|(name, shown)| (*name, shown(self), shown(other)))
            .find(|(_, mine, theirs)| mine != theirs)
    }
}

/// Returns the hash of the sources that results of `D` depend on: golden model, generators, this engine, and the declaration.
pub fn program<D: Design>() -> String {
    let sources = match D::package() {
        Some(package) => package.sources.to_owned(),
        None => format!("{}-{}", env!("RECONVERGE_ENGINE"), D::DECLARATION.sources),
    };
    let declaration = crc32fast::hash(D::DECLARATION.toml.as_bytes());
    format!("{sources}-{declaration:08x}")
}

/// Returns `value` as a line with its checksum.
fn seal(value: &impl Serialize) -> String {
    // Plain data with string keys: serialisation cannot fail.
    let mut line = serde_json::to_string(value).unwrap_or_default();
    line.pop();
    let crc = crc32fast::hash(line.as_bytes());
    line + CRC + &format!("{crc:08x}\"}}\n")
}

/// Returns the JSON in line `number` of `file`, if its checksum is right.
fn unseal(line: &[u8], file: &str, number: usize) -> Result<String, InputError> {
    let bad = |why: &str| InputError::new(file, number, "crc32", why);
    let none = || bad("missing: not a line of a campaign's results");
    let line = str::from_utf8(line).map_err(|_| none())?;
    let (body, crc) = line.rsplit_once(CRC).ok_or_else(none)?;
    let crc = crc.strip_suffix("\"}").ok_or_else(none)?;
    if crc != format!("{:08x}", crc32fast::hash(body.as_bytes())) {
        return Err(bad("the line is not as it was written"));
    }
    Ok(body.to_owned() + "}")
}

/// Maximum length in bytes of a header, and of a line with a piece.
const MAX_HEADER: u64 = 1 << 20;
const MAX_CHUNK: u64 = input::MAX_BYTES;

/// Maximum of every counter of a piece: its cases take some hundred cycles each, or end by construction.
const MAX_COUNT: u64 = 1 << 32;

/// Returns the header of a file of results; `None` if even the first line is incomplete, so that there are no results.
///
/// # Errors
/// The file cannot be read, does not contain the results of a campaign, or has another version.
pub fn header(path: &Path) -> Result<Option<Header>, InputError> {
    let file = &*path.to_string_lossy();
    let mut from = BufReader::new(input::open(path)?);
    let mut line = input::read_line(&mut from, MAX_HEADER, file, 1)?;
    if line.pop() != Some(b'\n') {
        return Ok(None);
    }
    let line = unseal(&line, file, 1)?;
    let bad = |field: &str, why: String| InputError::new(file, 1, field, why);
    /// The field that identifies the kind of file; all others are ignored.
    #[derive(Deserialize)]
    struct Tag {
        reconverge_campaign: Option<u64>,
    }
    let kind: Tag = serde_json::from_str(&line).map_err(|e| bad("header", e.to_string()))?;
    let again = "begin the campaign anew, in another folder";
    let format = ("reconverge_campaign", FORMAT);
    let what = "the results of a campaign";
    json::check_format(kind.reconverge_campaign, format, what, again, file)
        .map_err(|e| e.on_line(1))?;
    let header: Header = serde_json::from_str(&line).map_err(|e| bad("header", e.to_string()))?;
    if matches!(header.limit, Limit::Time(_)) {
        return Err(bad("limit", "a time cannot be resumed".to_owned()));
    }
    if header
        .cycles
        .is_some_and(|n| !(1..=MAX_CYCLES).contains(&n))
    {
        return Err(bad("cycles", format!("must be 1 to {MAX_CYCLES}")));
    }
    Ok(Some(header))
}

impl<C: Drawn> Summary<C> {
    /// Returns all counters.
    fn counts(&self) -> impl Iterator<Item = u64> {
        let Compared {
            cycles,
            steps,
            launches,
        } = self.compared;
        let ByScalar {
            programs,
            lanes,
            instructions,
        } = self.judged;
        let kinds = self.kinds.values().flat_map(|of| [of.programs, of.cycles]);
        [
            self.programs,
            self.resets,
            cycles,
            steps,
            launches,
            programs,
            lanes,
            instructions,
        ]
        .into_iter()
        .chain(kinds)
        .chain(self.outcomes.values().copied())
        .chain(self.hidden.values().copied())
    }
}

/// Returns the tally of the results in a file, and the end of its last complete line.
fn tally<C: Drawn>(
    mut from: impl BufRead,
    file: &str,
    header: &Header,
    options: &Options,
) -> Result<(Tally<C>, u64), InputError> {
    let mut tally = Tally::new(options, header.shard);
    let mut end = 0;
    for n in 1.. {
        let line = input::read_line(&mut from, MAX_CHUNK, file, n)?;
        let Some(whole) = line.strip_suffix(b"\n") else {
            break;
        };
        end += line.len() as u64;
        if n == 1 {
            continue;
        }
        let bad = |field: &str, why: String| InputError::new(file, n, field, why);
        let piece: Piece<C> = serde_json::from_str(&unseal(whole, file, n)?)
            .map_err(|e| bad("piece", e.to_string()))?;
        if let Some(count) = piece.summary.counts().find(|count| *count > MAX_COUNT) {
            let why = format!("{count}, where {MAX_COUNT} is the most that a chunk counts");
            return Err(bad("summary", why));
        }
        for failed in &piece.summary.failures {
            failed.failure.case.check_input(file)?;
        }
        tally.put(piece).map_err(|(field, why)| bad(field, why))?;
    }
    Ok((tally, end))
}

/// Returns the files of results in `dir`, sorted by name.
///
/// # Errors
/// The folder cannot be read.
pub fn files(dir: &Path) -> Result<Vec<PathBuf>, InputError> {
    let shown =
        |e: std::io::Error| InputError::new(dir.to_string_lossy(), 0, "folder", e.to_string());
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(shown)? {
        let path = entry.map_err(shown)?.path();
        if path.extension().is_some_and(|e| e == ENDING) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// A file of results, open for writing. A lock prevents other processes from writing it.
pub struct Results {
    file: File,
    path: PathBuf,
    synced: Instant,
}

impl Results {
    /// Opens the file of a campaign's results in `dir`, or creates it. Returns it with the tally of its contents.
    ///
    /// # Errors
    /// Another process writes the file, `dir` holds results of another campaign, a file is damaged, or the folder cannot be
    /// created.
    pub fn open<C: Drawn>(
        dir: &Path,
        header: &Header,
        options: &Options,
    ) -> Result<(Self, Tally<C>), InputError> {
        let path = dir.join(header.file_name::<C::Design>());
        let name = path.to_string_lossy().into_owned();
        let bad = |field: &str, why: String| InputError::new(&name, 0, field, why);
        let shown = |e: std::io::Error| InputError::io(&name, &e);
        fs::create_dir_all(dir).map_err(shown)?;
        if path.is_symlink() {
            let why = "is a symbolic link, through which results are not written".to_owned();
            return Err(bad("file", why));
        }
        // The folder may hold other shards, units and builds, but no other campaign of this unit and build.
        for other in files(dir)? {
            let Some(there) = self::header(&other)? else {
                continue;
            };
            let differs = match there.differs(header) {
                _ if other != path
                    && (there.unit != header.unit || there.build != header.build) =>
                {
                    None
                }
                None if other == path && there.shard != header.shard => {
                    Some(("shard", there.shard.to_string(), header.shard.to_string()))
                }
                differs => differs,
            };
            if let Some((field, theirs, ours)) = differs {
                let why = format!("results with {theirs}, not {ours}; use another folder");
                return Err(InputError::new(other.to_string_lossy(), 1, field, why));
            }
        }
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&path)
            .map_err(shown)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let why = "another process is writing these results".to_owned();
                return Err(bad("lock", why));
            }
            Err(TryLockError::Error(e)) => return Err(bad("lock", e.to_string())),
        }
        let first = seal(header);
        let there = input::read_line(&mut BufReader::new(&file), MAX_HEADER, &name, 1)?;
        file.rewind().map_err(shown)?;
        let (tally, end) = if there.ends_with(b"\n") {
            tally(BufReader::new(&file), &name, header, options)?
        } else if first.as_bytes().starts_with(&there) {
            (Tally::new(options, header.shard), 0)
        } else {
            return Err(bad("file", "not the results of a campaign".to_owned()));
        };
        if end < file.metadata().map_err(shown)?.len() {
            file.set_len(end).map_err(shown)?;
        }
        let mut results = Results {
            file,
            path,
            synced: Instant::now(),
        };
        if end == 0 {
            results.write(&first).map_err(|why| bad("file", why))?;
        }
        Ok((results, tally))
    }

    /// Appends the result of some cases.
    ///
    /// # Errors
    /// The file cannot be written, for instance because the disk is full.
    pub fn add<C: Drawn>(&mut self, piece: &Piece<C>) -> Result<(), String> {
        self.write(&seal(piece))?;
        if self.synced.elapsed() >= SYNC {
            self.sync()?;
        }
        Ok(())
    }

    /// Syncs the file to disk.
    ///
    /// # Errors
    /// The sync fails.
    pub fn sync(&mut self) -> Result<(), String> {
        self.synced = Instant::now();
        let synced = self.file.sync_data();
        synced.map_err(|e| format!("{}: {e}", self.path.display()))
    }

    fn write(&mut self, line: &str) -> Result<(), String> {
        let written = self.file.write_all(line.as_bytes());
        written.map_err(|e| format!("{}: {e}", self.path.display()))
    }
}

/// Adds up the results in `files`, which must be one whole campaign of cases of this kind, each shard once. Returns the header of the first
/// file, and the sum.
///
/// # Errors
/// A file cannot be read or is damaged; the files belong to several campaigns; a shard occurs twice, is missing, or is not
/// finished; nothing was compared.
pub fn merge<C: Drawn>(files: &[PathBuf]) -> Result<(Header, Summary<C>), InputError> {
    let mut first: Option<(String, Header)> = None;
    let mut shards: Vec<Option<String>> = Vec::new();
    let mut total = Summary::<C>::default();
    for path in files {
        let name = path.to_string_lossy().into_owned();
        let Some(header) = header(path)? else {
            return Err(InputError::new(
                name,
                0,
                "header",
                "the campaign has written none yet",
            ));
        };
        if (header.unit.as_str(), header.cases.as_str()) != (C::Design::NAME, C::NOUN) {
            let why = format!(
                "{}s of {}, not {}s of {}",
                header.cases,
                header.unit,
                C::NOUN,
                C::Design::NAME
            );
            return Err(InputError::new(name, 1, "cases", why));
        }
        let (first_name, campaign) = first.get_or_insert_with(|| (name.clone(), header.clone()));
        if let Some((field, theirs, ours)) = campaign.differs(&header) {
            let why = format!("{ours}, but {first_name} has {theirs}");
            return Err(InputError::new(name, 1, field, why));
        }
        let shard = header.shard;
        shards.resize(shard.of() as usize, None);
        if let Some(other) = &shards[shard.index() as usize - 1] {
            let why = format!("{shard} is in {other} already");
            return Err(InputError::new(name, 1, "shard", why));
        }
        let from = BufReader::new(input::open(path)?);
        let (tally, _) = tally::<C>(from, &name, &header, &header.options())?;
        if !tally.finished() {
            let done = tally.total();
            let why = format!(
                "not finished: {}, {}; the command that wrote it resumes",
                counted(done.programs, C::NOUN),
                counted(done.compared.cycles, "cycle")
            );
            return Err(InputError::new(name, 0, "shard", why));
        }
        shards[shard.index() as usize - 1] = Some(name);
        total.add(tally.into_total());
    }
    total.failures.sort_by_key(|failed| failed.number);
    let Some((first_name, header)) = first else {
        return Err(InputError::new("merge", 0, "file", "no results given"));
    };
    let missing: Vec<String> = (1..)
        .zip(&shards)
        .filter(|(_, file)| file.is_none())
        .map(|(index, _)| format!("{index}/{}", shards.len()))
        .collect();
    if !missing.is_empty() {
        let why = format!("missing beside it: {}", missing.join(" "));
        return Err(InputError::new(first_name, 1, "shard", why));
    }
    if total.compared.cycles == 0 && total.failures.is_empty() {
        let why = "nothing was compared: 0 cycles";
        return Err(InputError::new(first_name, 0, "cycles", why));
    }
    Ok((header, total))
}

#[cfg(test)]
mod tests {
    /// Regression: results of another engine of the same version were resumed and merged.
    #[test]
    fn the_engine_is_known_by_its_sources_where_they_are() {
        assert_ne!(env!("RECONVERGE_ENGINE"), env!("CARGO_PKG_VERSION"));
    }
}
