//! Any text is what Verilator's runtime counted or an error that names its line; it can be written as lcov.
//!
//! `cargo fuzz run counters`
#![no_main]

use libfuzzer_sys::fuzz_target;
use reconverge::cover::lcov::RtlCoverage;

fuzz_target!(|text: &str| {
    match RtlCoverage::parse(text, "f.dat") {
        Ok(coverage) => {
            let mut twice = coverage.clone();
            twice.merge(coverage);
            twice.to_lcov();
            twice.text();
        }
        Err(why) => assert!(why.starts_with("f.dat:")),
    }
});
