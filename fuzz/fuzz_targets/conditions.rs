//! Any text is a table of conditions or an error that names its line, if there is one.
//!
//! `cargo fuzz run conditions`
#![no_main]

use libfuzzer_sys::fuzz_target;
use reconverge::case::Table;

fuzz_target!(|text: &str| {
    if let Err(e) = Table::parse(text, "f.jsonl") {
        assert!(e.line <= text.lines().count() && !e.message.is_empty());
    }
});
