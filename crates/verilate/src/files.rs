//! What files hold, and whether they stay as they are.

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

/// Of a regular file.
pub(crate) fn digest_of(path: &Path) -> std::io::Result<Digest> {
    if !fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("not a regular file"));
    }
    Ok(digest(&fs::read(path)?))
}

/// Hashes parts such that no two lists of parts look the same.
#[derive(Default)]
pub(crate) struct Hasher(Sha256);

impl Hasher {
    pub fn part(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    /// The first 80 bits, as part of a file name.
    pub fn name(self) -> String {
        hex(&self.0.finalize()[..10])
    }
}

/// Which file it is and when it was changed, as far as the file system tells. A change of contents changes it,
/// a change there and back again too.
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

/// A file at one time; `None`: there is none, or it is no regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen(Option<(Stamp, Digest)>);

impl Seen {
    fn now(path: &Path) -> Result<Self, Error> {
        // Before it is read: what changes meanwhile differs later.
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
    /// Remembers `path` as it is now, unless it is remembered already; tells whether it was not.
    pub fn add(&mut self, path: &Path) -> Result<bool, Error> {
        if self.0.contains_key(path) {
            return Ok(false);
        }
        self.0.insert(path.to_owned(), Seen::now(path)?);
        Ok(true)
    }

    /// A file that is not as it was, if there is one.
    pub fn changed(&self) -> Result<Option<&Path>, Error> {
        for (path, seen) in &self.0 {
            if Seen::now(path)? != *seen {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// All of them; `None` for those that are not there.
    pub fn files(&self) -> impl Iterator<Item = (&Path, Option<Digest>)> {
        self.0
            .iter()
            .map(|(path, seen)| (path.as_path(), seen.0.map(|(_, digest)| digest)))
    }

    pub fn digest(&self, path: &Path) -> Option<Digest> {
        self.0.get(path)?.0.map(|(_, digest)| digest)
    }
}

/// Size and time of change of a file of the tools, which are too many and too large to be read each time.
pub(crate) fn stamp_of_tool(path: &Path) -> Option<(u64, u128)> {
    let m = fs::metadata(path).ok()?;
    let time = m.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH);
    Some((m.len(), time.unwrap_or(Duration::ZERO).as_nanos()))
}

/// Returns where program `name` is: itself, if it has a folder in it, or else the first in `PATH`; with links resolved.
pub fn program(name: &Path) -> Option<PathBuf> {
    if name.components().count() > 1 {
        return std::path::absolute(name).ok().filter(|p| p.is_file());
    }
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|dir| dir.join(name))
        .find(|path| fs::metadata(path).is_ok_and(|m| m.is_file() && m.mode() & 0o111 != 0))
}

/// Hash of all Rust files below the folders `dirs` and of `more`. Any of them may be missing.
///
/// # Errors
/// A file cannot be read.
pub fn rust_contents(dirs: &[PathBuf], more: &Path) -> Result<String, Error> {
    let mut files = Vec::new();
    for dir in dirs.iter().filter(|dir| dir.is_dir()) {
        rust_files(dir, &mut files)?;
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
        // Links are not followed: one may lead back here.
        if entry.file_type().map_err(io(&path))?.is_dir() {
            rust_files(&path, files)?;
        } else if path.extension().is_some_and(|x| x == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// Writes `text` unless the file already holds it, so that its time of change stays true.
///
/// # Errors
/// The file cannot be written.
pub fn write_if_changed(path: &Path, text: &str) -> Result<(), Error> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    fs::write(path, text).map_err(io(path))
}
