//! Any text is a saved case or an error that names the file; a case survives being written and read.
//!
//! `cargo +nightly fuzz run case`
#![no_main]

use libfuzzer_sys::fuzz_target;
use reconverge::case::{SavedCase, unit_of_case};
use reconverge::r500::R500;

fuzz_target!(|text: &str| {
    match unit_of_case(text, "f.json").and_then(|_| SavedCase::<R500>::parse(text, "f.json")) {
        Ok(case) => assert_eq!(SavedCase::parse(&case.to_text(), "f.json").ok(), Some(case)),
        Err(e) => assert!(e.file == "f.json" && !e.field.is_empty() && !e.message.is_empty()),
    }
});
