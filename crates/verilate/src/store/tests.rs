use super::*;
use crate::manifest::Output;
use std::os::unix::fs::{MetadataExt, symlink};
use std::sync::atomic::{AtomicBool, Ordering};

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
        // A process that another test is starting has a copy of the entry's lock until it runs its own program: a later search
        // deletes the entry then.
        let deleted = (0..1000).any(|_| {
            assert!(find(&store).is_none(), "damage {n}");
            let deleted = names(&store).is_empty();
            if !deleted {
                std::thread::sleep(Duration::from_millis(10));
            }
            deleted
        });
        assert!(deleted, "damage {n}: {:?}", names(&store));
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

/// Regression: who can write to a folder above the cache can put another one in its place.
#[test]
fn a_cache_below_a_folder_that_others_can_write_to_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let above = dir.path().join("above");
    fs::create_dir(&above).unwrap();
    let open = |mode| fs::set_permissions(&above, fs::Permissions::from_mode(mode)).unwrap();
    open(0o777);
    let why = refused(&above.join("cache"));
    let expected = format!("others can write to {} (mode 777); ", above.display());
    assert!(why.contains(&expected), "{why}");
    open(0o755);
    Store::private(&above.join("cache")).unwrap();
}

/// Regression: to open a pipe for writing waits until another process reads it.
#[test]
fn a_lock_that_is_not_a_regular_file_is_refused_and_not_waited_for() {
    let (_dir, store) = store();
    drop(put(&store, "rcv_x-1"));
    let lock = store.dir().join(LOCK);
    fs::remove_file(&lock).unwrap();
    let pipe = |path: &Path| {
        let made = std::process::Command::new("mkfifo").arg(path).status();
        assert!(made.unwrap().success());
    };
    pipe(&lock);
    let why = store.find("rcv_x-", |_| true).unwrap_err().to_string();
    let expected = format!("{}: is not a regular file; delete it", lock.display());
    assert!(why.starts_with(&expected), "{why}");
    assert!(
        store
            .clear()
            .unwrap_err()
            .to_string()
            .starts_with(&expected)
    );
    fs::remove_file(&lock).unwrap();
    // The same for the manifest of an entry, and for the lock of a build.
    let manifest = store.dir().join("rcv_x-1").join(manifest::NAME);
    fs::remove_file(&manifest).unwrap();
    pipe(&manifest);
    let building = store.dir().join(".building-1");
    fs::create_dir(&building).unwrap();
    pipe(&building.join(LOCK));
    assert!(find(&store).is_none());
    assert_eq!(names(&store), [".building-1"]);
    store.sweep().unwrap();
}

/// The lock of an entry in use was released before the entry was deleted, and a new entry could be deleted before it was opened.
#[test]
fn what_is_in_use_or_just_published_is_not_deleted() {
    let (_dir, store) = store();
    let over = AtomicBool::new(false);
    let found = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                store.clear().unwrap();
            }
        });
        let finder = scope.spawn(|| {
            let mut found = 0;
            while !over.load(Ordering::Relaxed) {
                if let Some(entry) = store.find("rcv_x-", |_| true).unwrap() {
                    std::thread::sleep(Duration::from_micros(300));
                    assert!(entry.dir.join("lib.so").exists(), "deleted while in use");
                    found += 1;
                }
            }
            found
        });
        let published = (0..300).try_for_each(|_| {
            let work = store.begin().unwrap();
            fs::write(work.path().join("lib.so"), CONTENT).unwrap();
            let manifest = Manifest {
                outputs: vec![Output::of(work.path(), "lib.so").unwrap()],
                ..Manifest::default()
            };
            store.publish(work, "rcv_x-1", &manifest).map(drop)
        });
        // Before anything can panic: the other threads wait for it.
        over.store(true, Ordering::Relaxed);
        published.unwrap();
        finder.join().unwrap()
    });
    assert!(found > 0, "nothing was ever found");
}
