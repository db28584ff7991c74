//! The example of docs/your-own-rtl.md: RTL of r500 with names of its own, which is made of ours, behind a wrapper.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::rtl::Rtl;
use crate::common::{ROOT, arg, reconverge_ends, text};

/// The folder of the example with its RTL in it, made as the page says.
fn made(dir: &Path) {
    let example = Path::new(ROOT).join("examples/own_rtl/r500");
    for entry in fs::read_dir(&example).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, dir.join(path.file_name().unwrap())).unwrap();
    }
    let ours = Rtl::own("r500");
    let files: Vec<PathBuf> = ours.list().iter().map(|file| ours.dir.join(file)).collect();
    let sed = Command::new("sed")
        .arg("-f")
        .arg(example.join("rename.sed"))
        .args(files)
        .output()
        .unwrap();
    assert!(sed.status.success(), "{}", text(&sed.stderr));
    fs::write(dir.join("flow_core.sv"), sed.stdout).unwrap();
}

#[test]
fn rtl_with_names_of_its_own_agrees_by_its_table_of_probes() {
    let dir = tempfile::tempdir().unwrap();
    made(dir.path());
    // None of the registers that our own declaration names is there.
    let core = fs::read_to_string(dir.path().join("flow_core.sv")).unwrap();
    let design = fs::read_to_string(Path::new(ROOT).join("rtl/r500/design.toml")).unwrap();
    let ours = design.split("dut.").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !(c.is_alphanumeric() || "_.".contains(c)))?;
        rest[..end].rsplit('.').next()
    });
    let ours: Vec<&str> = ours
        .filter(|name| name.ends_with("_q") && *name != "loaded_q")
        .collect();
    assert!(ours.len() > 30, "{ours:?}");
    for name in ours {
        let word = |text: &str| {
            text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
                .any(|word| word == name)
        };
        assert!(!word(&core), "{name} is not renamed");
    }
    // Enough for cases that begin in preloaded states: what they load is in the table too.
    let said = reconverge_ends(
        0,
        &[
            "fuzz",
            "r500",
            "--rtl",
            arg(dir.path()),
            "--programs",
            "128",
            "-v",
        ],
    );
    assert!(!said.contains("skipped"), "{said}");
    assert!(said.contains(" 0 mismatches in "), "{said}");
}
