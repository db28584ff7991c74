//! Any bytes behind a line of another tool's listing, or behind a graphics shader's header, are a program or an error; a program that
//! is taken survives being written as `.s`.
//!
//! `cargo fuzz run spa5_listing fuzz/corpus/spa5_listing tb/spa5/programs/listings`
#![no_main]

use libfuzzer_sys::fuzz_target;
use reconverge::spa5::asm::{assemble, program_text};
use reconverge::spa5::import::load;
use reconverge::unit::LoadOptions;

const BEGINNINGS: [&[u8]; 4] = [
    b"--:-:-:-:5 EXIT;\n",
    b"[B------:R-:W-:-:S05] EXIT;\n",
    b"Function : k\n",
    b"\x61\x04\x02\0\0\0\0\0\0\0\0\0\0\0\0\0",
];

fuzz_target!(|data: &[u8]| {
    for beginning in BEGINNINGS {
        let bytes = [beginning, data].concat();
        match load(&bytes, "f", &LoadOptions::default()) {
            Ok(got) => {
                let again = assemble(&program_text(&got.program), "f.s");
                assert_eq!(again.ok().map(|a| a.words), Some(got.program.words));
            }
            Err(e) => assert!(!e.message.is_empty(), "{e}"),
        }
    }
});
