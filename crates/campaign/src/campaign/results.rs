//! Results of a campaign in a file, so that it can be interrupted, spread over machines, and put together.
//!
//! A file holds what one run of a campaign, or of a shard of it, has done: JSON Lines, appended to and never
//! changed. The first line ([`Header`]) says which campaign it is, every other is what some cases of a chunk did
//! ([`Piece`]): all of it or, where the RTL took a process along, one after another. Each line ends with the CRC-32 of
//! what stands before that in it:
//!
//! ```text
//! {"reconverge_campaign":4,"unit":"r500","seed":"0x1","limit":{"programs":1000},...,"crc32":"5f0c0ffe"}
//! {"chunk":0,"cases":{"start":0,"end":256},"summary":{...},"crc32":"82b1c0de"}
//! ```
//!
//! A line that does not end is what a killed process was writing: it is dropped, and its cases are run again.
//! A killed process loses nothing else, for what it has written is the operating system's. Against a machine
//! that goes down, the file is synced to the disk every ten seconds and at the end; what is lost then is
//! run again likewise. Any other line that is not as it was written is refused.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{Limit, Options, Piece, Shard, Summary, Tally};
use crate::design::Build;
use crate::dut::Rtl;
use crate::grammar::Campaign;
use crate::input::{self, InputError};
use crate::json::{self, hex};

/// Ending of the files.
pub const ENDING: &str = "jsonl";

/// The version of the format that this crate writes and reads.
pub const FORMAT: u32 = 4;

/// How often a file is synced to the disk.
const SYNC: Duration = Duration::from_secs(10);

/// What stands before the check sum of a line.
const CRC: &str = ",\"crc32\":\"";

/// Which campaign: everything that its totals depend on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`FORMAT`].
    pub reconverge_campaign: u32,
    /// Name of the unit.
    pub unit: String,
    /// Campaign seed.
    #[serde(with = "hex")]
    pub seed: u64,
    /// When it ends; never by time.
    pub limit: Limit,
    /// It does not end with the first failure.
    pub keep_going: bool,
    /// Lanes and parameters.
    pub build: Build,
    /// Hash of the contents of RTL and bench.
    pub rtl: String,
    /// Whether the RTL's assertions are in the models.
    pub assertions: bool,
    /// Hash of this program's sources: generators, golden models, judges.
    pub program: String,
    /// Which part of it.
    pub shard: Shard,
}

impl Header {
    /// Of the campaign with `options` on `rtl`.
    pub fn new<U: Campaign>(options: &Options, rtl: &Rtl<U>, shard: Shard) -> Self {
        Header {
            reconverge_campaign: FORMAT,
            unit: U::NAME.to_owned(),
            seed: options.seed,
            limit: options.limit,
            keep_going: options.keep_going,
            build: rtl.build().clone(),
            rtl: rtl.contents().to_owned(),
            assertions: rtl.assertions(),
            program: U::package()
                .map_or(env!("CARGO_PKG_VERSION"), |package| package.sources)
                .to_owned(),
            shard,
        }
    }

    /// Name of the file in its folder, where there is one for each build of the unit `U`.
    pub fn file_name<U: Campaign>(&self) -> String {
        let name = format!("{}{}", self.unit, self.build.tag::<U>());
        match (self.shard.index(), self.shard.of()) {
            (_, 1) => format!("{name}.{ENDING}"),
            (index, of) => format!("{name}.{index}-of-{of}.{ENDING}"),
        }
    }

    /// The options of the campaign, as far as its totals depend on them.
    pub fn options(&self) -> Options {
        Options {
            seed: self.seed,
            limit: self.limit,
            jobs: 1,
            keep_going: self.keep_going,
            rtl: None,
        }
    }

    /// The first field in which `other` is of another campaign, and its value here and there; shards of
    /// the same one are not.
    fn differs(&self, other: &Header) -> Option<(&'static str, String, String)> {
        let limit = |h: &Header| match h.limit {
            Limit::Programs(n) => format!("{n} programs"),
            Limit::Clocks(n) => format!("{n} clocks"),
            Limit::Time(t) => format!("{} seconds", t.as_secs()),
        };
        type Shown<'a> = &'a dyn Fn(&Header) -> String;
        let fields: [(&'static str, Shown); 9] = [
            ("unit", &|h| h.unit.clone()),
            ("seed", &|h| h.seed.to_string()),
            ("limit", &limit),
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

/// `value` as a line with its check sum.
fn seal(value: &impl Serialize) -> String {
    // Plain data with string keys: nothing in it can fail to serialise.
    let mut line = serde_json::to_string(value).unwrap_or_default();
    line.pop();
    let crc = crc32fast::hash(line.as_bytes());
    line + CRC + &format!("{crc:08x}\"}}\n")
}

/// The JSON in line `number` of `file`, if it is as it was written.
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

/// Most bytes of a header, and of a line with a chunk.
const MOST_HEADER: u64 = 1 << 20;
const MOST_CHUNK: u64 = input::MOST_BYTES;

/// Most that a chunk can count of anything: its cases are of some hundred clocks each, or end by construction.
const MOST_COUNT: u64 = 1 << 32;

/// The header of a file of results. `None`: not even the first line is whole, so there is nothing in it.
///
/// # Errors
/// It cannot be read, is not results of a campaign, or of another version.
pub fn header(path: &Path) -> Result<Option<Header>, InputError> {
    let file = &*path.to_string_lossy();
    let mut from = BufReader::new(input::open(path)?);
    let mut line = input::read_line(&mut from, MOST_HEADER, file, 1)?;
    if line.pop() != Some(b'\n') {
        return Ok(None);
    }
    let line = unseal(&line, file, 1)?;
    let bad = |field: &str, why: String| InputError::new(file, 1, field, why);
    /// The field that says what a file is; all others are passed over.
    #[derive(Deserialize)]
    struct Kind {
        reconverge_campaign: Option<u64>,
    }
    let kind: Kind = serde_json::from_str(&line).map_err(|e| bad("header", e.to_string()))?;
    let again = "begin the campaign anew, in another folder";
    let format = ("reconverge_campaign", FORMAT);
    let what = "the results of a campaign";
    json::check_format(kind.reconverge_campaign, format, what, again, file)
        .map_err(|e| e.on_line(1))?;
    let header: Header = serde_json::from_str(&line).map_err(|e| bad("header", e.to_string()))?;
    if matches!(header.limit, Limit::Time(_)) {
        return Err(bad("limit", "a time cannot be resumed".to_owned()));
    }
    Ok(Some(header))
}

/// The tally of what stands in a file of results, and where its last whole line ends.
fn tally<U: Campaign>(
    mut from: impl BufRead,
    file: &str,
    header: &Header,
    options: &Options,
) -> Result<(Tally<U>, u64), InputError> {
    let mut tally = Tally::new(options, header.shard);
    let mut end = 0;
    for n in 1.. {
        let line = input::read_line(&mut from, MOST_CHUNK, file, n)?;
        let Some(whole) = line.strip_suffix(b"\n") else {
            break;
        };
        end += line.len() as u64;
        if n == 1 {
            continue;
        }
        let bad = |field: &str, why: String| InputError::new(file, n, field, why);
        let piece: Piece<U> = serde_json::from_str(&unseal(whole, file, n)?)
            .map_err(|e| bad("piece", e.to_string()))?;
        if let Some(count) = piece.summary.counts().find(|count| *count > MOST_COUNT) {
            let why = format!("{count}, where {MOST_COUNT} is the most that a chunk counts");
            return Err(bad("summary", why));
        }
        for failed in &piece.summary.failures {
            failed.failure.check(file)?;
        }
        tally.put(piece).map_err(|(field, why)| bad(field, why))?;
    }
    Ok((tally, end))
}

/// The files of results in `dir`, by name.
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

/// A file of results that is being written. No other process can write it meanwhile.
pub struct Results {
    file: File,
    path: PathBuf,
    synced: Instant,
}

impl Results {
    /// Opens the file of a campaign's results in `dir`, or begins it; with the tally of what is in it.
    ///
    /// # Errors
    /// Another process writes it; results of another campaign are in `dir`; a damaged file; no such folder
    /// can be made.
    pub fn open<U: Campaign>(
        dir: &Path,
        header: &Header,
        options: &Options,
    ) -> Result<(Self, Tally<U>), InputError> {
        let path = dir.join(header.file_name::<U>());
        let name = path.to_string_lossy().into_owned();
        let bad = |field: &str, why: String| InputError::new(&name, 0, field, why);
        let shown = |e: std::io::Error| InputError::io(&name, &e);
        fs::create_dir_all(dir).map_err(shown)?;
        // Other shards may be there, and other units and builds; another campaign of this one not.
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
        let there = input::read_line(&mut BufReader::new(&file), MOST_HEADER, &name, 1)?;
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

    /// Adds what cases did.
    ///
    /// # Errors
    /// The file cannot be written, as on a full disk.
    pub fn add<U: Campaign>(&mut self, piece: &Piece<U>) -> Result<(), String> {
        self.write(&seal(piece))?;
        if self.synced.elapsed() >= SYNC {
            self.sync()?;
        }
        Ok(())
    }

    /// Brings what was added to the disk.
    ///
    /// # Errors
    /// The disk says so.
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

/// Adds up the results in `files`: those of one whole campaign of `U`, each shard once. The header is that
/// of the first.
///
/// # Errors
/// A file that cannot be read or is damaged; files of several campaigns; a shard that is there twice, not
/// at all, or not finished.
pub fn merge<U: Campaign>(files: &[PathBuf]) -> Result<(Header, Summary<U>), InputError> {
    let mut first: Option<(String, Header)> = None;
    let mut shards: Vec<Option<String>> = Vec::new();
    let mut total = Summary::<U>::default();
    for path in files {
        let name = path.to_string_lossy().into_owned();
        let Some(header) = header(path)? else {
            return Err(InputError::new(
                name,
                0,
                "header",
                "there is nothing in it yet",
            ));
        };
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
        let (tally, _) = tally::<U>(from, &name, &header, &header.options())?;
        if !tally.finished() {
            let done = tally.total();
            let why = format!(
                "not finished: {} programs, {} clocks; the command that wrote it resumes",
                done.programs, done.compared.clocks
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
    if total.compared.clocks == 0 && total.failures.is_empty() {
        let why = "nothing was compared: 0 clocks";
        return Err(InputError::new(first_name, 0, "clocks", why));
    }
    Ok((header, total))
}
