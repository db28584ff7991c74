//! Long commands report their progress where there is no terminal.

use std::path::Path;

use crate::common::rtl::Rtl as Folder;
use crate::common::{ROOT, Tested, arg, command_in, line_starting, text};
use reconverge::r500::R500;

/// Standard error of the command, which writes a line of progress each second and must end with `status`.
fn said(status: i32, args: &[&str]) -> String {
    let mut command = command_in(Path::new(ROOT), args);
    let output = command.env("RECONVERGE_PROGRESS", "1").output().unwrap();
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{err}");
    err
}

/// `line` with each number as `N`.
fn without_numbers(line: &str) -> String {
    let words = line.split(' ').map(|word| {
        let number = word.trim_end_matches(',').replace(',', "");
        match number.parse::<u64>() {
            Ok(_) if word.ends_with(',') => "N,",
            Ok(_) => "N",
            Err(_) => word,
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_campaign_says_how_far_it_is() {
    let said = said(0, &["fuzz", "r500", "--seconds", "3", "--jobs", "1"]);
    let lines: Vec<String> = said.lines().map(without_numbers).collect();
    assert!(!lines.is_empty(), "{said}");
    let shown = "r500: N programs, N cycles, N failed, N s";
    assert!(lines.iter().all(|line| line == shown), "{said}");
}

/// No cache has the models of this RTL: its text contains its path.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn building_and_shrinking_say_how_far_they_are() {
    let bad = Folder::own("r500").copy().without_assertions();
    bad.change(R500::faults("decisions")[0]);
    let top = bad.dir().join("r500_seq.sv");
    let source = std::fs::read_to_string(&top).unwrap();
    std::fs::write(&top, format!("{source}// {}\n", bad.arg())).unwrap();
    let out = bad.dir().join("out");
    let place = ["--rtl", bad.arg(), "--out", arg(&out)];
    let said = said(
        1,
        &[&["fuzz", "r500", "--cycles", "400k"], &place[..]].concat(),
    );
    let building = line_starting(&said, "building ");
    assert_eq!(
        without_numbers(building),
        "building the RTL of r500, N lanes, N s"
    );
    let shrinking = line_starting(&said, "shrinking r500.");
    let (_, what) = shrinking.split_once(": ").unwrap();
    let what = without_numbers(what);
    assert!(what.starts_with("N to N instructions, "), "{said}");
}
