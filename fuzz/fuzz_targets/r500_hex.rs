//! Any text is an r500 program in hexadecimal or an error; a program survives being written and
//! read again, as `.hex` and as `.s`.
//!
//! `cargo fuzz run r500_hex`
#![no_main]

use libfuzzer_sys::fuzz_target;
use reconverge::r500::asm::{assemble, hex_text, parse_hex, program_text};

fuzz_target!(|text: &str| {
    match parse_hex(text, "f.hex") {
        Ok(program) => {
            assert_eq!(
                parse_hex(&hex_text(&program), "f.hex").ok().as_ref(),
                Some(&program)
            );
            assert_eq!(assemble(&program_text(&program), "f.s").ok(), Some(program));
        }
        Err(e) => assert!(e.line <= text.lines().count() && !e.message.is_empty()),
    }
});
