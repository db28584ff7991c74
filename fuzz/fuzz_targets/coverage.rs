//! Any text is a coverage file or an error that names the file; a file survives being written and read, and what is
//! merged counts as much as its parts.
//!
//! `cargo fuzz run coverage`
#![no_main]

use libfuzzer_sys::fuzz_target;
use reconverge::cover::{SavedCoverage, page};

fuzz_target!(|text: &str| {
    let saved = match SavedCoverage::parse(text, "f.json") {
        Ok(saved) => saved,
        Err(e) => {
            assert!(e.file == "f.json" && !e.field.is_empty() && !e.message.is_empty());
            return;
        }
    };
    assert!(SavedCoverage::parse(&saved.to_text(), "f.json").is_ok_and(|again| again == saved));
    page(&saved.units);
    for unit in &saved.units {
        unit.text();
        let mut twice = unit.clone();
        if twice.merge(unit, "f.json").is_ok() {
            assert_eq!(twice.totals.cycles, 2 * unit.totals.cycles);
        }
    }
});
