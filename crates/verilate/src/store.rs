//! A store of build results: finds them by what they were made from, checks them, and deletes old ones.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::error::{Error, io};
use crate::manifest::{self, Manifest};
use crate::owner::{only_ours, ours};

/// Prefix of the name of a folder that is being filled.
const BUILDING: &str = ".building-";

/// Prefix of the name of a folder that is being deleted.
const TRASH: &str = ".trash-";

/// Lock file, held by the process that fills the folder.
const LOCK: &str = ".lock";

/// Name of the lock file until it is locked.
const NEW_LOCK: &str = ".lock-new";

/// Prefixes of all names.
const OWN: [&str; 6] = [MODEL, RUNTIME, HEADERS, HOST, BUILDING, TRASH];

/// Prefix of the name of a model's entry.
pub(crate) const MODEL: &str = "rcv_";

/// Prefix of the name of an entry with Verilator's runtime.
pub(crate) const RUNTIME: &str = "runtime-";

/// Prefix of the name of an entry with precompiled headers.
pub(crate) const HEADERS: &str = "headers-";

/// Prefix of the name of the entry with the program in which models run.
pub(crate) const HOST: &str = "host-";

/// A folder that is being filled and has no lock counts as abandoned after this time.
const LEFT_OVER: Duration = Duration::from_secs(600);

/// Least time between two updates of an entry's time of last use.
const TOUCH: Duration = Duration::from_secs(3600);

/// Limits beyond which entries are deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most time since an entry was last used.
    pub age: Duration,
    /// Most bytes of all entries; the most recently used ones stay.
    pub size: u64,
}

impl Default for Limits {
    /// Returns thirty days and 2 GiB.
    fn default() -> Self {
        Limits {
            age: Duration::from_secs(30 * 24 * 3600),
            size: 2 << 30,
        }
    }
}

/// How much a store holds, or how much was deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Entries, including what interrupted builds left behind.
    pub entries: u64,
    /// Bytes in them.
    pub bytes: u64,
}

impl Usage {
    fn add(&mut self, bytes: u64) {
        self.entries += 1;
        self.bytes += bytes;
    }
}

/// An entry of a store, for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Name of its folder.
    pub name: String,
    /// Bytes in it.
    pub bytes: u64,
    /// Time of last use, to within an hour.
    pub used: SystemTime,
}

/// A folder with build results.
#[derive(Clone, Debug)]
pub struct Store {
    dir: PathBuf,
    /// Programs run the contents because they are in this folder, so it must belong to us alone.
    private: bool,
    /// Another folder whose entries are used too.
    beside: Option<PathBuf>,
}

/// A whole build result; the store keeps it as long as this value exists.
#[derive(Debug)]
pub(crate) struct Entry {
    pub dir: PathBuf,
    pub manifest: Manifest,
    /// Shared lock: other processes do not delete the entry.
    _lock: File,
}

/// A folder that is being filled.
pub(crate) struct Work {
    dir: TempDir,
    _lock: File,
}

impl Work {
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Deletes all files in the folder.
    pub fn empty(&self) -> Result<(), Error> {
        self.keep(&[])
    }

    /// Deletes all files except `names`.
    fn keep(&self, names: &[&str]) -> Result<(), Error> {
        let dir = self.path();
        for entry in fs::read_dir(dir).map_err(io(dir))? {
            let path = entry.map_err(io(dir))?.path();
            let name = path.file_name().unwrap_or_default();
            if name == LOCK || names.iter().any(|keep| name == *keep) {
                continue;
            }
            let gone = match path.is_dir() && !path.is_symlink() {
                true => fs::remove_dir_all(&path),
                false => fs::remove_file(&path),
            };
            gone.map_err(io(&path))?;
        }
        Ok(())
    }
}

/// Opens a regular file. To open anything else may wait for ever, or change it.
fn regular(path: &Path) -> std::io::Result<File> {
    match fs::symlink_metadata(path)?.is_file() {
        true => File::open(path),
        false => Err(std::io::Error::other("not a regular file")),
    }
}

/// Flushes `path` to the disk.
fn sync(path: &Path) -> Result<(), Error> {
    File::open(path)
        .and_then(|file| file.sync_all())
        .map_err(io(path))
}

impl Store {
    fn at(dir: PathBuf, private: bool) -> Self {
        Store {
            dir,
            private,
            beside: None,
        }
    }

    /// Returns the user's store: `$RECONVERGE_CACHE`, or folder `reconverge` in `$XDG_CACHE_HOME` or in `$HOME/.cache`.
    /// Creates it, for the user alone, if it does not exist.
    ///
    /// # Errors
    /// [`Error::Cache`]: none of the variables is set, or others can write to the folder.
    pub fn of_user() -> Result<Self, Error> {
        let set = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty());
        let absolute = |name: &str| set(name).map(PathBuf::from).filter(|p| p.is_absolute());
        let dir = set("RECONVERGE_CACHE")
            .map(PathBuf::from)
            .or_else(|| absolute("XDG_CACHE_HOME").map(|d| d.join("reconverge")))
            .or_else(|| absolute("HOME").map(|d| d.join(".cache/reconverge")));
        let dir = dir.ok_or_else(|| {
            let why = "no folder for models that are built: RECONVERGE_CACHE, XDG_CACHE_HOME and HOME are not set; \
                       set RECONVERGE_CACHE to a folder of your own";
            Error::Cache(why.to_owned())
        })?;
        Self::private(&dir)
    }

    /// Returns the store in folder `dir`, which must belong to the user alone. Creates it if it does not exist.
    ///
    /// # Errors
    /// [`Error::Cache`]: `dir` is not a folder, or others can write to it.
    pub fn private(dir: &Path) -> Result<Self, Error> {
        let dir = std::path::absolute(dir).map_err(io(dir))?;
        let bad = |why: String| {
            let shown = dir.display();
            Error::Cache(format!(
                "{shown}: {why}; models in it are run as programs are: set RECONVERGE_CACHE to a folder of your own"
            ))
        };
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&dir);
        made.map_err(|e| bad(e.to_string()))?;
        crate::filelist::takes(&dir).map_err(bad)?;
        ours(&dir, true).map_err(bad)?;
        // Who can rename it can put another folder in its place after this check.
        only_ours(&dir).map_err(bad)?;
        Ok(Store::at(dir, true))
    }

    /// Returns the store in folder `dir`, which is trusted unchecked, as that of a build script.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn trusted(dir: &Path) -> Result<Self, Error> {
        let dir = std::path::absolute(dir).map_err(io(dir))?;
        fs::create_dir_all(&dir).map_err(io(&dir))?;
        crate::filelist::takes(&dir).map_err(Error::Cache)?;
        Ok(Store::at(dir, false))
    }

    /// Returns the store with a second folder `dir` that a build script filled. Its entries are used, but never written or
    /// deleted. A folder that does not exist or that others can write to is ignored.
    #[must_use]
    pub fn beside(mut self, dir: &Path) -> Self {
        let trusted = ours(dir, true).is_ok() && only_ours(dir).is_ok();
        self.beside = trusted.then(|| dir.to_owned());
        self
    }

    /// Returns the folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the names of the store's own folders: entries, and running or interrupted builds and deletions. Other files
    /// are not touched.
    fn names(&self) -> Result<Vec<String>, Error> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.dir).map_err(io(&self.dir))? {
            let name = entry.map_err(io(&self.dir))?.file_name().into_string();
            let own = |name: &String| OWN.iter().any(|prefix| name.starts_with(prefix));
            names.extend(name.ok().filter(own));
        }
        names.sort();
        Ok(names)
    }

    /// Returns an entry whose name begins with `prefix` and for whose manifest `is_up_to_date` holds. Deletes damaged ones.
    pub(crate) fn find(
        &self,
        prefix: &str,
        mut is_up_to_date: impl FnMut(&Manifest) -> bool,
    ) -> Result<Option<Entry>, Error> {
        for name in self.names()? {
            if !name.starts_with(prefix) {
                continue;
            }
            match self.open_alone(&name)? {
                Some(entry) if !is_up_to_date(&entry.manifest) => {}
                Some(entry) if entry.is_whole() => {
                    entry.touch();
                    return Ok(Some(entry));
                }
                damaged => {
                    drop(damaged);
                    self.delete_unused(&name)?;
                }
            }
        }
        let Some(dir) = &self.beside else {
            return Ok(None);
        };
        let beside = Store::at(dir.clone(), true);
        let names = beside.names()?.into_iter();
        let mut entries = names
            .filter(|name| name.starts_with(prefix))
            .filter_map(|name| beside.open_alone(&name).ok().flatten());
        Ok(entries.find(|entry| is_up_to_date(&entry.manifest) && entry.is_whole()))
    }

    /// Waits until no other process opens, publishes or deletes an entry; the others wait until the result is dropped. `None`: the
    /// folder cannot be written, or its file system has no locks.
    ///
    /// # Errors
    /// [`Error::Cache`]: the lock is not a regular file. To open a pipe would wait for ever.
    fn alone(&self) -> Result<Option<File>, Error> {
        let path = self.dir.join(LOCK);
        if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_file()) {
            let why = "is not a regular file; delete it: the next build makes it";
            return Err(Error::Cache(format!("{}: {why}", path.display())));
        }
        let mut options = File::options();
        let file = options.create(true).append(true).mode(0o600).open(path);
        Ok(file.ok().filter(|file| file.lock().is_ok()))
    }

    /// Does the same as [`Store::open`], while no other process deletes the entry.
    fn open_alone(&self, name: &str) -> Result<Option<Entry>, Error> {
        let _alone = self.alone()?;
        Ok(self.open(name))
    }

    /// Deletes an entry, if no process uses it; returns whether it did.
    fn delete_unused(&self, name: &str) -> Result<bool, Error> {
        let _alone = self.alone()?;
        let lock = regular(&self.dir.join(name).join(manifest::NAME));
        if lock.as_ref().is_ok_and(|lock| lock.try_lock().is_err()) {
            return Ok(false);
        }
        self.delete(name)?;
        Ok(true)
    }

    /// Opens an entry and reads its manifest, without checking its outputs. `None`: it is damaged, or does not belong to
    /// us.
    fn open(&self, name: &str) -> Option<Entry> {
        let dir = self.dir.join(name);
        let path = dir.join(manifest::NAME);
        if self.private {
            ours(&dir, true).ok()?;
            ours(&path, false).ok()?;
        }
        let lock = regular(&path).ok()?;
        // If files cannot be locked, another process may delete an entry in use; this is unlikely.
        let _ = lock.lock_shared();
        let text = fs::read_to_string(&path).ok()?;
        let manifest = Manifest::parse(&text)?;
        let plain = |name: &str| !name.contains('/') && name != manifest::NAME;
        if !manifest.outputs.iter().all(|o| plain(&o.name)) {
            return None;
        }
        if self.private {
            for output in &manifest.outputs {
                ours(&dir.join(&output.name), false).ok()?;
            }
        }
        Some(Entry {
            dir,
            manifest,
            _lock: lock,
        })
    }

    /// Deletes an entry. Other processes see all of it or nothing.
    fn delete(&self, name: &str) -> Result<(), Error> {
        let path = self.dir.join(name);
        let trash = tempfile::Builder::new()
            .prefix(TRASH)
            .tempdir_in(&self.dir)
            .map_err(io(&self.dir))?;
        match fs::rename(&path, trash.path().join("entry")) {
            // Another process was faster.
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
            done => done.map_err(io(&path)),
        }
    }

    /// Creates a new folder to be filled. Deletes what interrupted builds left behind.
    pub(crate) fn begin(&self) -> Result<Work, Error> {
        self.sweep()?;
        let dir = tempfile::Builder::new()
            .prefix(BUILDING)
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(&self.dir)
            .map_err(io(&self.dir))?;
        // Lock it before it has the name that `sweep` looks for. Otherwise another process could lock it first and delete
        // the folder.
        let (new, path) = (dir.path().join(NEW_LOCK), dir.path().join(LOCK));
        let lock = File::create(&new).map_err(io(&new))?;
        let _ = lock.try_lock();
        fs::rename(&new, &path).map_err(io(&path))?;
        Ok(Work { dir, _lock: lock })
    }

    /// Makes `work` the entry `name`, with only the outputs that `manifest` lists.
    pub(crate) fn publish(
        &self,
        work: Work,
        name: &str,
        manifest: &Manifest,
    ) -> Result<Entry, Error> {
        let dir = work.path();
        let mut keep: Vec<&str> = manifest.outputs.iter().map(|o| o.name.as_str()).collect();
        work.keep(&keep)?;
        let path = dir.join(manifest::NAME);
        fs::write(&path, manifest.to_text()).map_err(io(&path))?;
        // Flush to the disk before renaming: a power cut must not leave half an entry under this name.
        keep.push(manifest::NAME);
        for name in keep {
            let path = dir.join(name);
            if self.private {
                // A program stays one.
                let runs = fs::metadata(&path).map_err(io(&path))?.permissions().mode() & 0o100;
                let mode = fs::Permissions::from_mode(0o600 | runs);
                fs::set_permissions(&path, mode).map_err(io(&path))?;
            }
            sync(&path)?;
        }
        let lock = dir.join(LOCK);
        fs::remove_file(&lock).map_err(io(&lock))?;
        sync(dir)?;
        let done = self.dir.join(name);
        // Nothing deletes it between the renaming and the opening.
        let _alone = self.alone()?;
        if fs::rename(dir, &done).is_err() {
            // Another process was faster: its result is the same.
            if let Some(entry) = self.open(name).filter(Entry::is_whole) {
                return Ok(entry);
            }
            self.delete(name)?;
            fs::rename(dir, &done).map_err(io(&done))?;
        }
        // The folder has another name now.
        let _ = work.dir.keep();
        sync(&self.dir)?;
        let entry = self.open(name).filter(Entry::is_whole);
        let lost = || io(&done)(std::io::Error::other("it is not what was just written"));
        entry.ok_or_else(lost)
    }

    /// Deletes what interrupted builds and deletions left behind.
    fn sweep(&self) -> Result<Usage, Error> {
        let mut swept = Usage::default();
        for name in self.names()? {
            let path = self.dir.join(&name);
            let old = || {
                let time = fs::symlink_metadata(&path).and_then(|m| m.modified());
                time.is_ok_and(|t| t.elapsed().is_ok_and(|age| age > LEFT_OVER))
            };
            let left = if name.starts_with(BUILDING) {
                match regular(&path.join(LOCK)) {
                    Ok(lock) => lock.try_lock().is_ok(),
                    Err(_) => old(),
                }
            } else {
                name.starts_with(TRASH) && old()
            };
            if left {
                let size = size_of(&path);
                if fs::remove_dir_all(&path).is_ok() {
                    swept.add(size);
                }
            }
        }
        Ok(swept)
    }

    /// Returns how much the store holds.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn usage(&self) -> Result<Usage, Error> {
        let mut usage = Usage::default();
        for name in self.names()? {
            usage.add(size_of(&self.dir.join(name)));
        }
        Ok(usage)
    }

    /// Returns the entries, except those that are being built or deleted; the most recently used one comes first.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn entries(&self) -> Result<Vec<Kept>, Error> {
        let names = self.names()?.into_iter();
        let mut entries: Vec<Kept> = names
            .filter(|name| !name.starts_with('.'))
            .map(|name| {
                let path = self.dir.join(&name);
                Kept {
                    bytes: size_of(&path),
                    used: used(&path),
                    name,
                }
            })
            .collect();
        entries.sort_by(|a, b| (b.used, &b.name).cmp(&(a.used, &a.name)));
        Ok(entries)
    }

    /// Deletes what interrupted builds left behind, and entries beyond `limits`. Entries in use stay.
    ///
    /// # Errors
    /// The folder cannot be read or written.
    pub fn prune(&self, limits: &Limits) -> Result<Usage, Error> {
        let mut thrown = self.sweep()?;
        if !self.private {
            // A program uses the entries, because they are linked into it.
            return Ok(thrown);
        }
        let now = SystemTime::now();
        let mut kept = 0;
        for Kept { name, bytes, used } in self.entries()? {
            let age = now.duration_since(used).unwrap_or_default();
            if age <= limits.age && kept + bytes <= limits.size {
                kept += bytes;
                continue;
            }
            match self.delete_unused(&name)? {
                true => thrown.add(bytes),
                false => kept += bytes,
            }
        }
        Ok(thrown)
    }

    /// Deletes all entries that are not in use.
    ///
    /// # Errors
    /// The folder cannot be read or written.
    pub fn clear(&self) -> Result<Usage, Error> {
        self.prune(&Limits {
            age: Duration::ZERO,
            size: 0,
        })
    }
}

impl Entry {
    /// Returns the entry that holds `file`, which must be the output of that name with SHA-256 `digest`.
    pub fn holding(file: &Path, digest: &str) -> Option<Self> {
        let (dir, name) = (file.parent()?, file.file_name()?.to_str()?);
        let store = Store::at(dir.parent()?.to_owned(), true);
        let entry = store.open_alone(dir.file_name()?.to_str()?).ok()??;
        let mut outputs = entry.manifest.outputs.iter();
        let output = outputs.find(|o| o.name == name)?;
        (output.digest == digest && output.is_whole(dir)).then_some(entry)
    }

    /// Returns whether all outputs are unchanged.
    fn is_whole(&self) -> bool {
        self.manifest.outputs.iter().all(|o| o.is_whole(&self.dir))
    }

    /// Updates the time of last use.
    fn touch(&self) {
        let path = self.dir.join(manifest::NAME);
        if used(&self.dir).elapsed().is_ok_and(|age| age > TOUCH) {
            // If this is not permitted, the entry will be built again some day.
            let _ = File::options()
                .append(true)
                .open(path)
                .and_then(|file| file.set_modified(SystemTime::now()));
        }
    }
}

/// Returns when the entry `dir` was last used.
fn used(dir: &Path) -> SystemTime {
    fs::symlink_metadata(dir.join(manifest::NAME))
        .or_else(|_| fs::symlink_metadata(dir))
        .and_then(|m| m.modified())
        .unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Returns the bytes in `path` and below it.
fn size_of(path: &Path) -> u64 {
    let Ok(m) = fs::symlink_metadata(path) else {
        return 0;
    };
    if !m.is_dir() {
        return m.len();
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| size_of(&entry.path())).sum()
}

#[cfg(test)]
mod tests;
