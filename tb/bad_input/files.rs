//! Inputs must be regular files of limited length.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::rtl::Rtl;
use crate::common::{ROOT, arg, text, tool};

/// What the command says, which must not block, but refuse its input.
fn at_once(args: &[&str]) -> String {
    let output = tool::command("timeout")
        .args(["1200", env!("CARGO_BIN_EXE_reconverge")])
        .args(args)
        .current_dir(ROOT)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    text(&output.stderr)
}

/// Every command that reads a file, with `file` as that file.
fn readers(file: &str) -> Vec<Vec<&str>> {
    let program = "tb/r500/programs/if_else.s";
    vec![
        vec!["run", "r500", file],
        vec!["asm", "r700", file],
        vec!["dis", "spa5", file],
        vec!["import", "spa5", file],
        vec!["import", "r700", file, "--list"],
        vec!["run", "r500", program, "--conditions", file],
        vec!["replay", file],
        vec!["cover", "all", "--merge", file],
        vec!["merge", file],
    ]
}

/// A pipe would block, a device has no end.
#[test]
fn only_regular_files_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let linked = dir.path().join("link");
    std::os::unix::fs::symlink(&pipe, &linked).unwrap();
    let folder = "is a folder; only regular files are read";
    let other = "is a pipe, a socket or a device; only regular files are read";
    for (file, why) in [
        (arg(&pipe), other),
        (arg(&linked), other),
        ("/dev/zero", other),
        (arg(dir.path()), folder),
    ] {
        for args in readers(file) {
            // Results may be given as their folder.
            if args[0] == "merge" && file == arg(dir.path()) {
                continue;
            }
            let message = format!("error: {file}: file: {why}\n");
            assert_eq!(at_once(&args), message, "{args:?}");
        }
    }
    // A link to itself is a loop.
    let around = dir.path().join("around");
    std::os::unix::fs::symlink("around", &around).unwrap();
    for args in readers(arg(&around)) {
        let stderr = at_once(&args);
        let message = format!("error: {}: file: Too many levels", around.display());
        assert!(stderr.starts_with(&message), "{args:?} {stderr}");
    }
    // As a file of results.
    fs::rename(&pipe, dir.path().join("r500.jsonl")).unwrap();
    let folder = arg(dir.path());
    let fuzz = ["fuzz", "r500", "--programs", "1", "--results", folder];
    for args in [&["merge", folder][..], &fuzz] {
        let message = format!("error: {folder}/r500.jsonl: file: {other}\n");
        assert_eq!(at_once(args), message, "{args:?}");
    }
    at_once(&["view", "r500", arg(&linked)]);
}

#[test]
fn files_that_are_too_long_are_refused_before_they_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("long");
    let name = arg(&file);
    // A sparse file of zeros: it has a length, but no byte on the disk.
    let long = |bytes: u64| fs::File::create(&file).unwrap().set_len(bytes).unwrap();
    let most: u64 = 64 << 20;
    for (length, refused) in [(most, false), (most + 1, true), (10 << 30, true)] {
        long(length);
        // One byte shows that a file is not JSON; that it is not a program shows only at its end.
        for args in readers(name) {
            if !refused && !["replay", "cover", "merge"].contains(&args[0]) {
                continue;
            }
            let stderr = at_once(&args);
            let why = match args[0] {
                // No line of the file is that long.
                "merge" => format!("{name}:1: line: has more than 1048576 bytes"),
                _ if refused => format!(
                    "{name}: file: has {length} bytes or more, which no input has; the most is {most}"
                ),
                "replay" => {
                    format!(
                        "{name}: file: must be a saved case, which is JSON; a program is run, not replayed"
                    )
                }
                _ => format!("{name}:1: json: expected value, column 1"),
            };
            let first = stderr.lines().next().unwrap_or("");
            assert_eq!(first, format!("error: {why}"), "{args:?}");
        }
    }
    // A first line of one MiB is accepted, a longer one is not.
    for (length, why) in [
        (1 << 20, "header: the campaign has written none yet"),
        (1 << 20 | 1, "line: has more than 1048576 bytes"),
    ] {
        long(length);
        let said = at_once(&["merge", name]);
        assert!(said.contains(why), "{said}");
    }
}

/// The file that names the probes of other RTL is checked like any other input.
#[test]
fn probes_of_other_rtl_are_read_only_from_a_regular_file_of_limited_length() {
    let most: u64 = 64 << 20;
    let program = "tb/r500/programs/if_else.s";
    for name in ["design.toml", "r500_probe.toml"] {
        let copy = Rtl::own("r500").copy();
        let file = copy.dir().join(name);
        let refused = |why: &str| {
            let said = at_once(&["run", "r500", program, "--rtl", copy.arg()]);
            assert_eq!(said, format!("error: {}: file: {why}\n", arg(&file)));
            fs::remove_file(&file).unwrap();
        };
        let _ = fs::remove_file(&file);
        let made = Command::new("mkfifo").arg(&file).status().unwrap();
        assert!(made.success());
        refused("is a pipe, a socket or a device; only regular files are read");
        std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
        refused("is a pipe, a socket or a device; only regular files are read");
        fs::File::create(&file).unwrap().set_len(most + 1).unwrap();
        refused(&format!(
            "has {} bytes or more, which no input has; the most is {most}",
            most + 1
        ));
    }
}

/// Every unit and command names a file that is given by mistake, and says what to do; it reads it as nothing else.
#[test]
fn files_that_no_unit_reads_are_refused_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("given");
    let utf16: Vec<u8> = "END\r\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let host = fs::read(env!("CARGO_BIN_EXE_reconverge")).unwrap();
    for (bytes, what) in [
        (
            &b""[..],
            "is empty: the command that wrote it may have failed",
        ),
        (
            b"\x1f\x8b\x08\0",
            "is compressed with gzip: unpack it first",
        ),
        (&utf16, "is UTF-16 text; save it as UTF-8"),
        (
            &host[..4096],
            "is an object or a program of the host, with no GPU code that is read here",
        ),
        (
            b".version 8.0\n.target sm_52\n.address_size 64\n",
            "is PTX, the input of ptxas: `ptxas -arch=sm_50 FILE -o k.cubin` makes a cubin, which spa5 runs",
        ),
        (
            b"\x03\x02\x23\x07\0\0\x01\0",
            "is SPIR-V, an intermediate form: what the driver's compiler makes of it is read",
        ),
    ] {
        fs::write(&file, bytes).unwrap();
        for unit in ["r500", "r700", "spa5"] {
            for command in ["run", "dis", "asm", "import"] {
                let message = format!("error: {}: file: {what}\n", file.display());
                let said = at_once(&[command, unit, arg(&file)]);
                assert_eq!(said, message, "{command} {unit}");
            }
        }
    }
}

/// Lack of memory is not reported as an error of the file.
#[test]
fn out_of_memory_is_no_bad_input() {
    let dir = tempfile::tempdir().unwrap();
    let (small, large) = (dir.path().join("small.s"), dir.path().join("large.s"));
    fs::write(&small, "OUT\n").unwrap();
    fs::File::create(&large).unwrap().set_len(60 << 20).unwrap();
    let with = |file: &Path, kilobytes: u32| {
        let command = env!("CARGO_BIN_EXE_reconverge");
        let limited = format!(
            "ulimit -v {kilobytes}; exec {command} asm r500 {}",
            arg(file)
        );
        let output = Command::new("bash")
            .args(["-c", &limited])
            .output()
            .unwrap();
        (output.status.code(), text(&output.stderr).to_owned())
    };
    // Enough for the program, but not for 60 MiB more.
    let enough = (1..)
        .map(|n| n * 8192)
        .find(|kilobytes| with(&small, *kilobytes).0 == Some(0))
        .unwrap();
    let (code, stderr) = with(&large, enough + 16384);
    assert_eq!(
        stderr,
        format!("error: {}: file: out of memory\n", large.display())
    );
    assert_eq!(code, Some(3));
}
