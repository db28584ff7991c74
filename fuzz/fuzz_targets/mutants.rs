//! Any text is SystemVerilog that can be mutated or an error that names its line; all mutants can stand in it at once.
//!
//! `cargo fuzz run mutants --features command fuzz/corpus/mutants rtl/r500 rtl/r700 rtl/spa5`
#![no_main]

use libfuzzer_sys::fuzz_target;
use reconverge::mutate::source::{Enums, candidates, enums, schema};

fuzz_target!(|text: &str| {
    let mut all = Enums::new();
    match enums("f.sv", text, &mut all).and_then(|()| candidates("f.sv", text, &all)) {
        Ok(found) => {
            let chosen: Vec<_> = (1..).zip(&found.candidates).collect();
            assert!(schema(text, &chosen).len() >= text.len());
        }
        Err(e) => assert!(e.line <= text.lines().count() + 1 && !e.message.is_empty()),
    }
});
