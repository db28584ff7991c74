//! Where models are kept: damaged ones are built again, those of other users never run.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use reconverge::r500::R500;

use crate::common::rtl::Rtl as Folder;
use crate::common::{Tested, arg, program, tool};

use super::{NAME, ends, never_seen, run_behind, run_on, started};

/// Returns the number of files and folders in the cache, without the lock of the cache itself.
fn files(cache: &Path) -> usize {
    let names = fs::read_dir(cache)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    names.filter(|name| name != ".lock").count()
}

/// Entries of the cache with models.
fn models(cache: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(cache)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut models: Vec<PathBuf> = entries
        .filter(|path| {
            path.file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .starts_with("rcv_")
        })
        .collect();
    models.sort();
    models
}

/// Regression: a library that was cut off ended every later run with a signal.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_damaged_model_is_built_again_and_the_cache_can_be_shown_and_emptied() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("cache");
    let rtl = Folder::own(NAME).copy();
    let with_cache = |mut command: Command| {
        command.env("RECONVERGE_CACHE", &cache);
        command
    };
    ends(0, with_cache(run_on(rtl.dir())));
    // Two at once; one of the models is kept.
    fs::remove_dir_all(&models(&cache)[0]).unwrap();
    let both = [(); 2].map(|()| {
        let command = with_cache(run_on(rtl.dir()));
        std::thread::spawn(|| ends(0, command))
    });
    for run in both {
        run.join().unwrap();
    }
    let [entry] = models(&cache).try_into().unwrap();
    let library = entry.join("librcv_r500_16.so");
    let whole = fs::read(&library).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2..][..64].fill(0xcc);
    for damaged in [&whole[..4096], &[], &flipped] {
        fs::write(&library, damaged).unwrap();
        ends(0, with_cache(run_on(rtl.dir())));
        assert_eq!(models(&cache), std::slice::from_ref(&entry));
        assert_ne!(fs::read(&library).unwrap(), damaged);
    }

    let [said, _] = ends(0, with_cache(started(&["cache"])));
    let expected = format!("folder       {}\nmodels       3 entries, ", arg(&cache));
    assert!(said.starts_with(&expected), "{said}");
    let [said, _] = ends(0, with_cache(started(&["cache", "--list"])));
    let listed = |name: &str| said.lines().filter(|line| line.contains(name)).count();
    let model = entry.file_name().unwrap().to_str().unwrap();
    assert_eq!(
        [model, "runtime-archive-", "headers-precompiled-"].map(listed),
        [1; 3],
        "{said}"
    );
    assert_eq!(said.lines().count(), 5, "{said}");
    let [said, _] = ends(0, with_cache(started(&["cache", "--prune"])));
    assert!(
        said.starts_with("thrown away  0 entries, 0 B\nfolder "),
        "{said}"
    );
    let none = ["cache", "--prune", "--megabytes", "0"];
    let [said, _] = ends(0, with_cache(started(&none)));
    assert!(said.starts_with("thrown away  3 entries, "), "{said}");
    fs::create_dir(cache.join("rcv_r500_16-left-over")).unwrap();
    let [said, _] = ends(0, with_cache(started(&["cache", "--clear"])));
    assert!(said.starts_with("thrown away  1 entry, "), "{said}");
    assert!(said.ends_with("models       0 entries, 0 B\n"), "{said}");
    assert_eq!(files(&cache), 0);
}

/// Reading them is a third of the work for a small model.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn headers_are_precompiled_once_and_used_by_every_model() {
    let dir = tempfile::tempdir().unwrap();
    let [cache, log, compiler] = ["cache", "log", "compiler"].map(|name| dir.path().join(name));
    // -H tells of every header that is read, and of a precompiled one whether it could be used.
    let script = format!(
        "#!/bin/sh\nexec 2>>{}\necho \"$@\" >&2\nexec g++ -H \"$@\"\n",
        arg(&log)
    );
    tool::write(&compiler, &script);
    for lanes in ["2", "3"] {
        let run = ["run", NAME, "tb/r500/programs/if_else.s", "--lanes", lanes];
        let mut command = started(&run);
        ends(
            0,
            command
                .env("RECONVERGE_CACHE", &cache)
                .env("CXX", &compiler),
        );
    }
    let log = fs::read_to_string(&log).unwrap();
    let count = |is: &dyn Fn(&str) -> bool| log.lines().filter(|line| is(line)).count();
    assert_eq!(count(&|line| line.contains("-x c++-header")), 1, "{log}");
    assert_eq!(
        count(&|line| line.contains("-c") && line.contains("unity.cc")),
        2,
        "{log}"
    );
    let used = |line: &str| line.starts_with("! ") && line.ends_with("/model.h.gch");
    assert_eq!(count(&used), 2, "{log}");
}

/// To build it took three times as long as the model.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn the_runtime_that_the_program_has_in_it_is_not_built_again() {
    let dir = tempfile::tempdir().unwrap();
    let (cache, out) = (dir.path().join("cache"), dir.path().join("out"));
    let program = program::<R500>(R500::IF_ELSE);
    let args = ["run", NAME, &program, "--lanes", "2", "--out", arg(&out)];
    let mut command = started(&args);
    command.env("RECONVERGE_CACHE", &cache);
    ends(0, command.env_remove("CXXFLAGS"));
    assert_eq!(models(&cache).len(), 1);
    assert_eq!(files(&cache), 1);
    // Other flags are another runtime.
    let mut command = started(&args);
    ends(0, command.env("RECONVERGE_CACHE", &cache));
    assert_eq!(models(&cache).len(), 2);
    assert_eq!(files(&cache), 4);
}

/// Regression: without a home, models came from a folder that any user of the machine can write to, and were run.
#[test]
fn models_never_come_from_a_folder_of_others() {
    let temporary = tempfile::tempdir().unwrap();
    let run = ["run", NAME, "tb/r500/programs/if_else.s", "--lanes", "3"];
    let homeless = |command: &mut Command| {
        for name in ["RECONVERGE_CACHE", "XDG_CACHE_HOME", "HOME"] {
            command.env_remove(name);
        }
        command.env("TMPDIR", temporary.path());
    };
    let mut command = started(&run);
    homeless(&mut command);
    let [_, why] = ends(2, command);
    assert!(
        why.contains("RECONVERGE_CACHE") && why.contains("not set"),
        "{why}"
    );
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
    // What is linked in needs none.
    let mut command = started(&run[..3]);
    homeless(&mut command);
    ends(0, command);

    let open = temporary.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    let link = temporary.path().join("link");
    symlink(temporary.path(), &link).unwrap();
    for (cache, expected) in [
        (&open, "others can write to it"),
        (&link, "is a symbolic link"),
    ] {
        let mut command = started(&run);
        command.env("RECONVERGE_CACHE", cache);
        let [_, why] = ends(2, command);
        assert!(why.contains(expected) && why.contains(arg(cache)), "{why}");
    }
}

/// Files of a build that was killed do not block a later one.
#[test]
fn a_build_that_was_killed_is_swept_by_the_next_one() {
    let rtl = never_seen();
    let (cache, begun) = (rtl.dir().join("cache"), rtl.dir().join("started"));
    let hang = format!(
        "[ $1 != --cc ] || {{ touch {}; exec sleep 20; }}",
        arg(&begun)
    );
    let mut command = run_behind(&hang, rtl.dir());
    let mut child = command.env("RECONVERGE_CACHE", &cache).spawn().unwrap();
    while !begun.exists() {
        assert!(
            child.try_wait().unwrap().is_none(),
            "it ended before it built"
        );
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let left = || files(&cache);
    assert_eq!(left(), 1);
    let mut next = started(&["cache", "--prune"]);
    next.env("RECONVERGE_CACHE", &cache);
    let [said, _] = ends(0, next);
    assert!(said.starts_with("thrown away  1 entry, "), "{said}");
    assert_eq!(left(), 0);
}
