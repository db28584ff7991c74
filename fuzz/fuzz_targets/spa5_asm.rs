//! Any text is an spa5 program or an error, as assembly and as words; a program survives being written and
//! read again, as `.s` and as `.hex`.
//!
//! `cargo fuzz run spa5_asm fuzz/corpus/spa5_asm tb/spa5/programs`
#![no_main]

use libfuzzer_sys::fuzz_target;
use reconverge::spa5::asm::{assemble, hex_text, parse_hex, program_text};

fuzz_target!(|text: &str| {
    for read in [assemble(text, "f.s"), parse_hex(text, "f.s")] {
        match read {
            Ok(program) => {
                for again in [
                    assemble(&program_text(&program), "f.s"),
                    parse_hex(&hex_text(&program), "f.s"),
                ] {
                    assert_eq!(again.ok().as_ref(), Some(&program));
                }
            }
            Err(e) => assert!(e.line <= text.lines().count() && !e.message.is_empty()),
        }
    }
});
