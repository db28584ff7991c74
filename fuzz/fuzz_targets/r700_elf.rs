//! Any bytes behind an ELF object's first four are an object or an error; a program that is taken ends where
//! its END is, survives being written as `.s`, and is the one that the list says there is.
//!
//! `cargo fuzz run r700_elf fuzz/corpus/r700_elf tb/r700/programs/llvm`
#![no_main]

use libfuzzer_sys::fuzz_target;
use reconverge::r700::asm::{assemble, program_text};
use reconverge::r700::import::{functions, load};
use reconverge::r700::program::MAX_QUADS;
use reconverge::unit::LoadOptions;

fuzz_target!(|data: &[u8]| {
    let rest = data.strip_prefix(b"\x7fELF").unwrap_or(data);
    let bytes = [b"\x7fELF", rest].concat();
    let Ok(listed) = functions(&bytes, "f.o") else {
        return;
    };
    for function in listed.iter().take(4) {
        let options = LoadOptions {
            which: Some(function.number.to_string()),
            ..LoadOptions::default()
        };
        // Another function may have this number for a name.
        let named = listed.iter().any(|f| f.name == function.number.to_string());
        match load(&bytes, "f.o", &options) {
            Ok(got) => {
                let program = got.program;
                let quads = &program.quads;
                assert!((1..=MAX_QUADS).contains(&quads.len()));
                assert_eq!(program.regs.prog_len as usize, quads.len());
                let end = quads[quads.len() - 1];
                assert_eq!((end.dw0, end.dw1), (0, 0x8020_0000));
                assert!(named || function.instructions == Some(quads.len()));
                let again = assemble(&program_text(&program), "f.s");
                assert_eq!(again.ok().map(|a| a.quads), Some(program.quads));
            }
            Err(e) => {
                assert!(named || function.problem.is_some(), "{e}");
                assert!(!e.field.is_empty() && !e.message.is_empty());
            }
        }
    }
});
