//! Any text is an r500 program or an error; a program survives being written and read again.
//!
//! `cargo fuzz run r500_asm fuzz/corpus/r500_asm tb/r500/programs`
#![no_main]

use libfuzzer_sys::fuzz_target;
use reconverge::r500::asm::{assemble, program_text};

fuzz_target!(|text: &str| {
    match assemble(text, "f.s") {
        Ok(program) => assert_eq!(assemble(&program_text(&program), "f.s").ok(), Some(program)),
        Err(e) => assert!(e.line <= text.lines().count() && !e.message.is_empty()),
    }
});
