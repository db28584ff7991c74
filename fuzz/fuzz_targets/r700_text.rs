//! Any bytes behind the header of a dump, or behind the first line of a listing, are programs or an error; a program that is taken
//! is the one that the list says there is, and survives being written as `.s`.
//!
//! `cargo fuzz run r700_text fuzz/corpus/r700_text tb/r700/programs/dumps`
#![no_main]

use libfuzzer_sys::fuzz_target;
use reconverge::r700::asm::{assemble, program_text};
use reconverge::r700::import::{functions, load};
use reconverge::unit::LoadOptions;

const BEGINNINGS: [&[u8]; 3] = [
    b"===== SHADER #1 === PS/RV770/R700 =====\n",
    b"bytecode 40 dw -- 2 gprs -- 1 nstack ---\n",
    b"00 CALL_FS NO_BARRIER\n",
];

fuzz_target!(|data: &[u8]| {
    for beginning in BEGINNINGS {
        let bytes = [beginning, data].concat();
        let Ok(listed) = functions(&bytes, "f.log") else {
            continue;
        };
        for function in listed.iter().take(4) {
            let options = LoadOptions {
                which: Some(function.number.to_string()),
                ..LoadOptions::default()
            };
            // Another shader may have this number for a name.
            let named = listed.iter().any(|f| f.name == function.number.to_string());
            match load(&bytes, "f.log", &options) {
                Ok(got) => {
                    let quads = got.program.quads.len();
                    assert_eq!(got.program.regs.prog_len as usize, quads);
                    assert!(named || function.instructions == Some(quads));
                    let again = assemble(&program_text(&got.program), "f.s");
                    assert_eq!(again.ok().map(|a| a.quads), Some(got.program.quads));
                }
                Err(e) => {
                    assert!(named || function.problem.is_some(), "{e}");
                    assert!(!e.field.is_empty() && !e.message.is_empty());
                }
            }
        }
    }
});
