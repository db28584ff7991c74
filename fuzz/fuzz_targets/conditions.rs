//! Any text is a table of conditions or an error that names its line.
//!
//! `cargo +nightly fuzz run conditions`
#![no_main]

use libfuzzer_sys::fuzz_target;
use reconverge::case::Table;

fuzz_target!(|text: &str| {
    if let Err(e) = Table::parse(text, "f.jsonl") {
        assert!((1..=text.lines().count()).contains(&e.line) && !e.message.is_empty());
    }
});
