//! A store of build results: finds them by what they were made from, checks them, and deletes old ones.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::error::{Error, io};
use crate::manifest::{self, Manifest};

/// Prefix of the name of a folder that is being filled.
const BUILDING: &str = ".building-";

/// Prefix of the name of a folder that is being deleted.
const TRASH: &str = ".trash-";

/// Lock file, held by the process that fills the folder.
const LOCK: &str = ".lock";

/// Name of the lock file until it is locked.
const NEW_LOCK: &str = ".lock-new";

/// Prefixes of all names.
const OWN: [&str; 5] = [MODEL, RUNTIME, HEADERS, BUILDING, TRASH];

/// Prefix of the name of a model's entry.
pub(crate) const MODEL: &str = "rcv_";

/// Prefix of the name of an entry with Verilator's runtime.
pub(crate) const RUNTIME: &str = "runtime-";

/// Prefix of the name of an entry with precompiled headers.
pub(crate) const HEADERS: &str = "headers-";

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
        self.beside = ours(dir, true).is_ok().then(|| dir.to_owned());
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
            match self.open(&name) {
                None => self.delete(&name)?,
                Some(entry) if is_up_to_date(&entry.manifest) => {
                    if entry.is_whole() {
                        entry.touch();
                        return Ok(Some(entry));
                    }
                    drop(entry);
                    self.delete(&name)?;
                }
                Some(_) => {}
            }
        }
        let Some(dir) = &self.beside else {
            return Ok(None);
        };
        let beside = Store::at(dir.clone(), true);
        let names = beside.names()?.into_iter();
        let mut entries = names
            .filter(|name| name.starts_with(prefix))
            .filter_map(|name| beside.open(&name));
        Ok(entries.find(|entry| is_up_to_date(&entry.manifest) && entry.is_whole()))
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
        let lock = File::open(&path).ok()?;
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
                fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).map_err(io(&path))?;
            }
            sync(&path)?;
        }
        let lock = dir.join(LOCK);
        fs::remove_file(&lock).map_err(io(&lock))?;
        sync(dir)?;
        let done = self.dir.join(name);
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
                match File::open(path.join(LOCK)) {
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
            let lock = File::open(self.dir.join(&name).join(manifest::NAME));
            if lock.is_ok_and(|lock| lock.try_lock().is_err()) {
                kept += bytes;
                continue;
            }
            self.delete(&name)?;
            thrown.add(bytes);
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
        let entry = store.open(dir.file_name()?.to_str()?)?;
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

/// Checks that `path` is a folder or a regular file that belongs to this user and that others cannot write to.
///
/// # Errors
/// It is not; says why.
fn ours(path: &Path, dir: bool) -> Result<(), String> {
    let m = fs::symlink_metadata(path).map_err(|e| e.to_string())?;
    let user = rustix::process::geteuid().as_raw();
    if m.is_symlink() {
        Err("is a symbolic link".to_owned())
    } else if m.is_dir() != dir || m.is_file() == dir {
        Err(format!("is no {}", if dir { "folder" } else { "file" }))
    } else if m.uid() != user {
        Err(format!("belongs to user {}, not to {user}", m.uid()))
    } else if m.mode() & 0o022 != 0 {
        Err(format!(
            "others can write to it (mode {:o})",
            m.mode() & 0o7777
        ))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Output;
    use std::os::unix::fs::symlink;

    const CONTENT: &str = "content of the library";

    fn store() -> (TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::private(&dir.path().join("cache")).unwrap();
        (dir, store)
    }

    /// Puts an entry with one file into the store.
    fn put(store: &Store, name: &str) -> Entry {
        let work = store.begin().unwrap();
        fs::write(work.path().join("lib.so"), CONTENT).unwrap();
        fs::write(work.path().join("lib.o"), "not to be kept").unwrap();
        let manifest = Manifest {
            outputs: vec![Output::of(work.path(), "lib.so").unwrap()],
            ..Manifest::default()
        };
        store.publish(work, name, &manifest).unwrap()
    }

    fn find(store: &Store) -> Option<Entry> {
        store.find("rcv_x-", |_| true).unwrap()
    }

    /// Sets the last use of the entry to so many days ago.
    fn aged(store: &Store, name: &str, days: u64) {
        let then = SystemTime::now() - Duration::from_secs(days * 24 * 3600);
        let path = store.dir().join(name).join(manifest::NAME);
        let file = File::options().append(true).open(path).unwrap();
        file.set_modified(then).unwrap();
    }

    fn names(store: &Store) -> Vec<String> {
        store.names().unwrap()
    }

    #[test]
    fn entries_beside_are_used_and_never_touched() {
        let (_dir, store) = store();
        let (_other, built) = self::store();
        let open = |mode| fs::set_permissions(built.dir(), fs::Permissions::from_mode(mode));
        drop(put(&built, "rcv_x-1"));
        aged(&built, "rcv_x-1", 99);
        open(0o777).unwrap();
        assert!(find(&store.clone().beside(built.dir())).is_none());
        open(0o755).unwrap();
        assert!(find(&store.clone().beside(Path::new("/no/such/folder"))).is_none());

        let both = store.clone().beside(built.dir());
        let found = find(&both).unwrap();
        assert_eq!(found.dir, built.dir().join("rcv_x-1"));
        drop(found);
        assert!(both.find("rcv_x-", |_| false).unwrap().is_none());
        both.prune(&Limits::default()).unwrap();
        both.clear().unwrap();
        assert!(names(&both).is_empty());
        assert_eq!(names(&built), ["rcv_x-1"]);
        // The store's own entry comes first.
        let own = put(&both, "rcv_x-1").dir;
        assert_eq!(find(&both).unwrap().dir, own);
        both.clear().unwrap();

        fs::write(built.dir().join("rcv_x-1/lib.so"), "damaged").unwrap();
        assert!(find(&both).is_none());
        assert_eq!(names(&built), ["rcv_x-1"]);
    }

    #[test]
    fn an_entry_is_found_holds_its_outputs_only_and_is_the_users_alone() {
        let (_dir, store) = store();
        assert!(find(&store).is_none());
        drop(put(&store, "rcv_x-1"));
        let entry = find(&store).unwrap();
        let mut files: Vec<_> = fs::read_dir(&entry.dir)
            .unwrap()
            .map(|f| f.unwrap().file_name())
            .collect();
        files.sort();
        assert_eq!(files, ["lib.so", "manifest"]);
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
        assert_eq!(mode(store.dir()), 0o700);
        assert_eq!(mode(&entry.dir), 0o700);
        assert_eq!(mode(&entry.dir.join("lib.so")), 0o600);
        assert!(store.find("rcv_x-", |_| false).unwrap().is_none());
        assert!(store.find("rcv_y-", |_| true).unwrap().is_none());
        assert_eq!(names(&store), ["rcv_x-1"]);
    }

    /// Damage by a power cut, a full disk or a bad one. A truncated library once ended the process with a signal.
    #[test]
    fn a_damaged_entry_is_deleted_and_not_used() {
        let damages: [fn(&Path); 9] = [
            |dir| fs::write(dir.join("lib.so"), "").unwrap(),
            |dir| fs::write(dir.join("lib.so"), &CONTENT[..5]).unwrap(),
            |dir| fs::write(dir.join("lib.so"), CONTENT.to_uppercase()).unwrap(),
            |dir| fs::remove_file(dir.join("lib.so")).unwrap(),
            |dir| fs::write(dir.join("manifest"), "").unwrap(),
            |dir| fs::remove_file(dir.join("manifest")).unwrap(),
            |dir| {
                fs::remove_file(dir.join("lib.so")).unwrap();
                fs::write(dir.join("other"), CONTENT).unwrap();
                symlink("other", dir.join("lib.so")).unwrap();
            },
            |dir| {
                let mode = fs::Permissions::from_mode(0o666);
                fs::set_permissions(dir.join("lib.so"), mode).unwrap();
            },
            |dir| fs::set_permissions(dir, fs::Permissions::from_mode(0o777)).unwrap(),
        ];
        for (n, damage) in damages.iter().enumerate() {
            let (_dir, store) = store();
            damage(&put(&store, "rcv_x-1").dir);
            assert!(find(&store).is_none(), "damage {n}");
            assert_eq!(names(&store), [""; 0], "damage {n}");
            // A new entry can take its place.
            drop(put(&store, "rcv_x-1"));
            assert!(find(&store).is_some(), "damage {n}");
        }
    }

    #[test]
    fn an_entry_for_another_process_must_be_the_one_that_was_built() {
        let (_dir, store) = store();
        let entry = put(&store, "rcv_x-1");
        let path = entry.dir.join("lib.so");
        let digest = entry.manifest.outputs[0].digest.clone();
        assert!(Entry::holding(&path, &digest).is_some());
        assert!(Entry::holding(&path, &digest.replace('0', "1")).is_none());
        fs::write(&path, CONTENT.to_uppercase()).unwrap();
        assert!(Entry::holding(&path, &digest).is_none());
        fs::remove_dir_all(&entry.dir).unwrap();
        assert!(Entry::holding(&path, &digest).is_none());
    }

    #[test]
    fn of_two_that_build_the_same_one_wins_and_both_have_it() {
        let (_dir, store) = store();
        let (a, b) = (store.begin().unwrap(), store.begin().unwrap());
        let publish = |work: Work| {
            fs::write(work.path().join("lib.so"), CONTENT).unwrap();
            let manifest = Manifest {
                outputs: vec![Output::of(work.path(), "lib.so").unwrap()],
                ..Manifest::default()
            };
            store.publish(work, "rcv_x-1", &manifest).unwrap()
        };
        let (a, b) = (publish(a), publish(b));
        assert_eq!(a.dir, b.dir);
        assert_eq!(names(&store), ["rcv_x-1"]);
    }

    #[test]
    fn what_is_too_old_or_too_much_is_pruned_and_what_is_in_use_stays() {
        let (_dir, store) = store();
        let day = Duration::from_secs(24 * 3600);
        for (name, days) in [("rcv_x-1", 40), ("rcv_x-2", 20), ("rcv_x-3", 10)] {
            drop(put(&store, name));
            aged(&store, name, days);
        }
        fs::write(store.dir().join("notes"), "of the user").unwrap();
        fs::create_dir(store.dir().join("folder")).unwrap();
        let usage = store.usage().unwrap();
        let size = usage.bytes / 3;
        assert_eq!(usage.entries, 3);
        let entries = store.entries().unwrap();
        let listed: Vec<_> = entries.iter().map(|e| (e.name.as_str(), e.bytes)).collect();
        assert_eq!(
            listed,
            ["rcv_x-3", "rcv_x-2", "rcv_x-1"].map(|name| (name, size))
        );
        assert!(size > CONTENT.len() as u64);

        let all = Limits::default();
        assert_eq!(
            all,
            Limits {
                age: 30 * day,
                size: 2 << 30
            }
        );
        let thrown = store.prune(&all).unwrap();
        assert_eq!((thrown.entries, thrown.bytes), (1, size));
        assert_eq!(names(&store), ["rcv_x-2", "rcv_x-3"]);

        // Room for one: the most recently used one stays.
        let limits = |size| Limits {
            age: 30 * day,
            size,
        };
        assert_eq!(store.prune(&limits(2 * size)).unwrap().entries, 0);
        assert_eq!(store.prune(&limits(2 * size - 1)).unwrap().entries, 1);
        assert_eq!(names(&store), ["rcv_x-3"]);

        let used = find(&store).unwrap();
        aged(&store, "rcv_x-3", 50);
        assert_eq!(store.prune(&all).unwrap().entries, 0);
        assert_eq!(store.clear().unwrap().entries, 0);
        drop(used);
        assert_eq!(store.clear().unwrap().entries, 1);
        assert_eq!(names(&store), [""; 0]);
        // Files that are not the store's are not touched.
        assert!(store.dir().join("notes").is_file() && store.dir().join("folder").is_dir());
    }

    #[test]
    fn to_use_an_entry_makes_it_young() {
        let (_dir, store) = store();
        drop(put(&store, "rcv_x-1"));
        aged(&store, "rcv_x-1", 40);
        drop(find(&store).unwrap());
        assert_eq!(store.prune(&Limits::default()).unwrap().entries, 0);
    }

    #[test]
    fn what_a_killed_build_left_behind_is_swept_and_a_running_one_is_not() {
        let (_dir, store) = store();
        let running = store.begin().unwrap();
        let dead = store.begin().unwrap();
        fs::write(dead.path().join("half.o"), "").unwrap();
        let left = dead.path().to_owned();
        // As after SIGKILL: the lock is released, the folder stays.
        let Work { dir, _lock } = dead;
        let _ = dir.keep();
        drop(_lock);
        // Folders of a version without locks, an old one and a new one.
        let (old, young) = (
            store.dir().join(".building-old"),
            store.dir().join(".building-young"),
        );
        for dir in [&old, &young] {
            fs::create_dir(dir).unwrap();
        }
        let then = SystemTime::now() - 2 * LEFT_OVER;
        File::open(&old).unwrap().set_modified(then).unwrap();

        drop(store.begin().unwrap());
        assert!(running.path().is_dir() && young.is_dir());
        assert!(!left.exists() && !old.exists());
    }

    #[test]
    fn a_build_that_begins_is_not_swept_by_others_that_begin() {
        let (_dir, store) = store();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        let work = store.begin().unwrap();
                        std::thread::yield_now();
                        assert!(work.path().join(LOCK).is_file());
                    }
                });
            }
        });
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cache");
        fs::create_dir(&path).unwrap();
        for (mode, taken) in [(0o700, true), (0o755, true), (0o770, false), (0o707, false)] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let made = Store::private(&path);
            assert_eq!(made.is_ok(), taken, "{mode:o}");
            let why = format!("others can write to it (mode {mode:o}); ");
            assert!(
                made.is_ok_and(|_| true) || refused(&path).contains(&why),
                "{mode:o}"
            );
        }
    }

    /// Returns why `path` is refused as a store.
    fn refused(path: &Path) -> String {
        let error = Store::private(path).unwrap_err();
        assert!(matches!(error, Error::Cache(_)) && error.is_input());
        let text = error.to_string();
        assert!(text.contains("RECONVERGE_CACHE"), "{text}");
        text
    }

    #[test]
    fn a_link_a_file_and_a_folder_of_another_user_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        fs::write(&file, "").unwrap();
        refused(&file);
        symlink(dir.path(), &link).unwrap();
        assert!(refused(&link).contains("is a symbolic link"));
        let other = dir.path().join("other");
        if rustix::process::geteuid().is_root() {
            fs::create_dir(&other).unwrap();
            std::os::unix::fs::chown(&other, Some(65534), None).unwrap();
            assert!(refused(&other).contains("belongs to user 65534, not to 0"));
        } else {
            assert!(refused(Path::new("/usr")).contains("belongs to user 0, not to "));
        }
        assert!(refused(&dir.path().join("a$b")).contains("`$`"));
    }
}
