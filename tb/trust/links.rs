//! Files whose names the command chooses replace links; files that the user names are written where their links lead.

use std::fs;
use std::os::unix::fs::symlink;

use reconverge::r500::R500;

use crate::bad_input::saved_case;
use crate::common::rtl::Rtl as Folder;
use crate::common::{arg, reconverge, reconverge_ends, reconverge_in, text};

const RUN: [&str; 5] = [
    "run",
    "r500",
    "tb/r500/programs/if_else.s",
    "--flip",
    "pc@5",
];

/// Regression (CWE-59): a user with write access to the folder of the outputs could have any file of another user overwritten.
#[test]
fn a_link_with_the_name_of_an_output_does_not_lead_it_elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    let (out, theirs) = (dir.path().join("out"), dir.path().join("theirs"));
    let victim = dir.path().join("victim");
    fs::create_dir(&out).unwrap();
    fs::create_dir(&theirs).unwrap();
    fs::write(&victim, "precious").unwrap();
    let outputs = ["json", "vcd", "gtkw", "fst"].map(|ending| format!("r500.if_else.1.{ending}"));
    for format in [&[][..], &["--fst"]] {
        for name in &outputs {
            let link = out.join(name);
            let _ = fs::remove_file(&link);
            symlink(&victim, link).unwrap();
        }
        for name in ["filters", ".surfer"] {
            let folder = out.join(name);
            let _ = fs::remove_dir_all(&folder);
            symlink(&theirs, folder).unwrap();
        }
        let report = reconverge_ends(1, &[&RUN[..], &["--out", arg(&out)], format].concat());
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious", "{report}");
        assert_eq!(fs::read_dir(&theirs).unwrap().count(), 0, "{report}");
        let dump = if format.is_empty() { "vcd" } else { "fst" };
        for ending in ["json", "gtkw", dump] {
            let file = out.join(format!("r500.if_else.1.{ending}"));
            assert!(file.is_file() && !file.is_symlink(), "{}", file.display());
        }
        assert!(out.join("filters").is_dir() && !out.join("filters").is_symlink());
    }

    // Pictures, unless the user names them.
    let (png, heat) = (out.join("r500.nested.png"), dir.path().join("heat.png"));
    symlink(&victim, &png).unwrap();
    let named = dir.path().join("named.png");
    fs::write(&named, "").unwrap();
    symlink(&named, &heat).unwrap();
    let shader = "examples/shaders/nested.txt";
    let render = ["render", "r500", shader, "--safe-loops", "--size", "8x8"];
    let places = ["--out", arg(&out), "--heat", arg(&heat)];
    reconverge_ends(0, &[&render[..], &places].concat());
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    assert!(png.is_file() && !png.is_symlink());
    assert!(heat.is_symlink() && !fs::read(&named).unwrap().is_empty());
}

#[test]
fn what_the_user_names_is_written_where_it_leads() {
    let dir = tempfile::tempdir().unwrap();
    let (target, link) = (dir.path().join("target"), dir.path().join("link"));
    fs::write(&target, "old").unwrap();
    symlink(&target, &link).unwrap();
    let run = ["run", "r500", "tb/r500/programs/if_else.s", "--json"];
    reconverge_ends(0, &[&run[..], &[arg(&link)]].concat());
    assert!(link.is_symlink());
    let written = fs::read_to_string(&target).unwrap();
    assert!(written.contains("\"reconverge_run\": 2"), "{written}");
    let standard = reconverge_ends(0, &[&run[..], &["/dev/stdout"]].concat());
    assert!(standard.contains(&written), "{standard}");
    let full = reconverge(&[&run[..], &["/dev/full"]].concat());
    assert_eq!(full.status.code(), Some(3));
    assert!(text(&full.stderr).contains("/dev/full: No space left on device"));
}

/// Results are appended, so a link cannot be replaced.
#[test]
fn results_are_not_written_through_a_link() {
    let dir = tempfile::tempdir().unwrap();
    let (victim, link) = (dir.path().join("victim"), dir.path().join("r500.jsonl"));
    for there in [true, false] {
        if there {
            fs::write(&victim, "").unwrap();
            symlink(&victim, &link).unwrap();
        } else {
            fs::remove_file(&victim).unwrap();
        }
        let fuzz = ["fuzz", "r500", "--programs", "1", "--results"];
        let run = reconverge(&[&fuzz[..], &[arg(dir.path())]].concat());
        let why = format!(
            "error: {}: file: is a symbolic link, through which results are not written\n",
            link.display()
        );
        assert_eq!((run.status.code(), text(&run.stderr)), (Some(2), why));
        assert_eq!(victim.exists(), there);
    }
}

/// Regression: a case whose RTL lies below the current folder had files from elsewhere built and run, which a file list or a link
/// in that folder named.
#[test]
fn rtl_that_uses_files_from_elsewhere_is_not_run_because_a_case_names_it() {
    let dir = tempfile::tempdir().unwrap();
    let (here, elsewhere) = (dir.path().join("here"), dir.path().join("elsewhere"));
    fs::create_dir(&here).unwrap();
    fs::create_dir(&elsewhere).unwrap();
    for name in ["a.sv", "a.f", "a.cpp"] {
        fs::write(elsewhere.join(name), "// nothing\n").unwrap();
    }
    let (rtl, case) = (here.join("rtl"), here.join("case.json"));
    let mut saved = saved_case::<R500>();
    saved.case.rtl = Some(rtl.clone());
    fs::write(&case, saved.to_text()).unwrap();
    let refused = |path: &str| {
        let run = reconverge_in(&here, &["replay", "case.json"]);
        let why = format!(
            "error: case.json: rtl: the case names RTL that uses {}, outside this folder, and RTL is a program: if it is to be \
             built and run, replay with --rtl {}\n",
            rtl.join(path).display(),
            rtl.display()
        );
        assert_eq!((run.status.code(), text(&run.stderr)), (Some(2), why));
    };
    for (entry, path) in [
        ("-F ../../elsewhere/a.f", "../../elsewhere/a.f"),
        ("../../elsewhere/a.sv", "../../elsewhere/a.sv"),
        ("../../elsewhere/a.cpp", "../../elsewhere/a.cpp"),
        ("+incdir+../../elsewhere", "../../elsewhere"),
        ("-y ../../elsewhere", "../../elsewhere"),
        ("linked.sv", "linked.sv"),
    ] {
        let _ = fs::remove_dir_all(&rtl);
        let copy = Folder::own("r500").copy();
        fs::create_dir(&rtl).unwrap();
        for file in fs::read_dir(copy.dir()).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), rtl.join(file.file_name())).unwrap();
        }
        symlink(elsewhere.join("a.sv"), rtl.join("linked.sv")).unwrap();
        let list = rtl.join("r500.f");
        let text = fs::read_to_string(&list).unwrap();
        fs::write(&list, format!("{text}{entry}\n")).unwrap();
        refused(path);
    }
}
