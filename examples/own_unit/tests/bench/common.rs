//! What the tests of several designs need: mistakes in the RTL, and that they are found.

use std::fs;
use std::path::Path;

use reconverge::campaign::{Drawn, Options, fuzz, replay};
use reconverge::dut::Rtl;
use reconverge::found::Found;
use tempfile::TempDir;

/// In a planted text: the number of the mutant that runs ([`Rtl::mutant`]), 0 if none does.
const FAULT: &str = "\n);\n  int fault;\n  initial if (!$value$plusargs(\"reconverge_mutant=%d\", fault)) fault = 0;\n";

/// Copies declarations, file lists and RTL, also those in folders.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let from = entry.unwrap().path();
        let to = to.join(from.file_name().unwrap());
        if from.is_dir() {
            copy(&from, &to);
        } else if ["toml", "f", "sv"]
            .iter()
            .any(|end| from.extension() == Some(end.as_ref()))
        {
            fs::copy(from, to).unwrap();
        }
    }
}

/// Copies the RTL of all designs. In `file` each of `changes` is made at the one place where its left side stands; if they use `fault`,
/// every module there has it.
pub fn planted(file: &str, changes: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    copy(&own_unit::rtl(), dir.path());
    let file = dir.path().join(file);
    let mut text = fs::read_to_string(&file).unwrap();
    for (right, wrong) in changes {
        assert_eq!(text.matches(right).count(), 1, "{right}");
        text = text.replace(right, wrong);
    }
    if changes
        .iter()
        .any(|(_, wrong)| wrong.contains("fault ==") || wrong.contains("fault !="))
    {
        text = text.replace("\n);\n", FAULT);
    }
    fs::write(file, text).unwrap();
    dir
}

/// Runs a campaign on RTL with the mistake `what`: it is found, and what is saved fails in the same way again.
pub fn found<C: Drawn>(what: &str, rtl: &Rtl<C::Design>, options: &Options) -> Box<Found<C>> {
    let Err(found) = fuzz::<C>(rtl, options) else {
        panic!("{what}: not found");
    };
    println!("{what}:\n{found}");
    assert!(found.troubles.is_empty(), "{what}: {:?}", found.troubles);
    let again = replay::<C>(found.saved.as_ref().unwrap(), rtl).unwrap();
    let again = again.err().map(|failure| failure.to_string());
    assert_eq!(again, Some(found.failure.to_string()), "{what}");
    found
}
