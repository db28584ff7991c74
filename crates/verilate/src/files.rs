//! Hashes of files, and detection of files that change during a build.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};

use crate::error::{Error, io};

/// SHA-256.
pub(crate) type Digest = [u8; 32];

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub(crate) fn digest(bytes: &[u8]) -> Digest {
    Sha256::digest(bytes).into()
}

/// Returns the SHA-256 of a regular file.
pub(crate) fn digest_of(path: &Path) -> std::io::Result<Digest> {
    if !fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("not a regular file"));
    }
    Ok(digest(&fs::read(path)?))
}

/// Hashes a list of parts. Different lists never give the same input to the hash.
#[derive(Default)]
pub(crate) struct Hasher(Sha256);

impl Hasher {
    pub fn part(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    /// Returns the first 80 bits in hexadecimal, as part of a file name.
    pub fn name(self) -> String {
        hex(&self.0.finalize()[..10])
    }
}

/// Identity and times of a file according to the file system. It changes with every change of the contents, even if a later
/// change restores them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp([i64; 7]);

impl Stamp {
    fn of(m: &Metadata) -> Self {
        Stamp([
            m.dev().cast_signed(),
            m.ino().cast_signed(),
            m.size().cast_signed(),
            m.mtime(),
            m.mtime_nsec(),
            m.ctime(),
            m.ctime_nsec(),
        ])
    }
}

/// A file at one time; `None` if it does not exist or is not a regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen(Option<(Stamp, Digest)>);

impl Seen {
    fn now(path: &Path) -> Result<Self, Error> {
        // Taken before reading, so that a change during the read is detected later.
        let stamp = match fs::metadata(path) {
            Ok(m) if m.is_file() => Stamp::of(&m),
            _ => return Ok(Seen(None)),
        };
        let bytes = fs::read(path).map_err(io(path))?;
        Ok(Seen(Some((stamp, digest(&bytes)))))
    }
}

/// Files as they were when each was added.
#[derive(Debug, Default)]
pub(crate) struct Snapshot(BTreeMap<PathBuf, Seen>);

impl Snapshot {
    /// Records the present contents of `path`, unless it is recorded already; returns whether it was new.
    pub fn add(&mut self, path: &Path) -> Result<bool, Error> {
        if self.0.contains_key(path) {
            return Ok(false);
        }
        self.0.insert(path.to_owned(), Seen::now(path)?);
        Ok(true)
    }

    /// Returns a file that has changed, if there is one.
    pub fn changed(&self) -> Result<Option<&Path>, Error> {
        for (path, seen) in &self.0 {
            if Seen::now(path)? != *seen {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// Returns all files; the digest is `None` for those that do not exist.
    pub fn files(&self) -> impl Iterator<Item = (&Path, Option<Digest>)> {
        self.0
            .iter()
            .map(|(path, seen)| (path.as_path(), seen.0.map(|(_, digest)| digest)))
    }

    pub fn digest(&self, path: &Path) -> Option<Digest> {
        self.0.get(path)?.0.map(|(_, digest)| digest)
    }
}

/// Returns size and modification time of a tool's file. These files are too many and too large to read each time.
pub(crate) fn stamp_of_tool(path: &Path) -> Option<(u64, u128)> {
    let m = fs::metadata(path).ok()?;
    let time = m.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH);
    Some((m.len(), time.unwrap_or(Duration::ZERO).as_nanos()))
}

/// Returns the absolute path of program `name`: `name` itself if it contains a folder, otherwise the first match in `PATH`.
pub fn program(name: &Path) -> Option<PathBuf> {
    if name.components().count() > 1 {
        return std::path::absolute(name).ok().filter(|p| p.is_file());
    }
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|dir| dir.join(name))
        .find(|path| fs::metadata(path).is_ok_and(|m| m.is_file() && m.mode() & 0o111 != 0))
}

/// Returns a hash of the files `paths`, of all Rust files below those that are folders, and of the file `more`. Any of them may be missing.
///
/// # Errors
/// A file cannot be read.
pub fn rust_contents(paths: &[PathBuf], more: &Path) -> Result<String, Error> {
    let mut files = Vec::new();
    for path in paths {
        match path.is_dir() {
            true => rust_files(path, &mut files)?,
            false => files.extend(path.is_file().then(|| path.clone())),
        }
    }
    files.sort();
    files.extend(more.is_file().then(|| more.to_owned()));
    let mut hash = Hasher::default();
    for file in &files {
        hash.part(file.file_name().unwrap_or_default().as_encoded_bytes());
        hash.part(fs::read(file).map_err(io(file))?);
    }
    Ok(hash.name())
}

fn rust_files(dir: &Path, files: &mut Vec<PathBuf>) -> Result<(), Error> {
    for entry in fs::read_dir(dir).map_err(io(dir))? {
        let entry = entry.map_err(io(dir))?;
        let path = entry.path();
        // Do not follow links: one may lead back here.
        if entry.file_type().map_err(io(&path))?.is_dir() {
            rust_files(&path, files)?;
        } else if path.extension().is_some_and(|x| x == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// Writes `text` unless the file already holds it, so that an unchanged file keeps its modification time.
///
/// # Errors
/// The file cannot be written.
pub fn write_if_changed(path: &Path, text: &str) -> Result<(), Error> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    fs::write(path, text).map_err(io(path))
}
