//! Any bytes are a program or an error, behind an ELF file's first four a cubin; a program that is taken is
//! whole bundles, survives being written as `.s`, and is the one that the list says there is.
//!
//! `cargo fuzz run spa5_cubin fuzz/corpus/spa5_cubin tb/spa5/programs/cubin tb/spa5/programs/cuda tb/spa5/programs/mesa`
#![no_main]

use libfuzzer_sys::fuzz_target;
use reconverge::spa5::asm::{assemble, program_text};
use reconverge::spa5::import::{kernels, load};
use reconverge::spa5::program::{MAX_BUNDLES, Program};
use reconverge::unit::LoadOptions;

fn check(program: &Program) {
    let words = &program.words;
    assert!((1..=4 * MAX_BUNDLES).contains(&words.len()) && words.len() % 4 == 0);
    let again = assemble(&program_text(program), "f.s").map(|again| Program {
        name: program.name.clone(),
        ..again
    });
    assert_eq!(again.ok().as_ref(), Some(program));
}

fuzz_target!(|data: &[u8]| {
    match load(data, "f", &LoadOptions::default()) {
        Ok(got) => check(&got.program),
        Err(e) => assert!(!e.field.is_empty() && !e.message.is_empty()),
    }
    let rest = data.strip_prefix(b"\x7fELF").unwrap_or(data);
    let bytes = [b"\x7fELF", rest].concat();
    let Ok(listed) = kernels(&bytes, "f.cubin") else {
        return;
    };
    for kernel in listed.iter().take(4) {
        let options = LoadOptions {
            which: Some(kernel.number.to_string()),
            ..LoadOptions::default()
        };
        // Another kernel may have this number for a name.
        let named = listed.iter().any(|k| k.name == kernel.number.to_string());
        match load(&bytes, "f.cubin", &options) {
            Ok(got) => {
                check(&got.program);
                assert!(named || kernel.bytes == Some(8 * got.program.words.len()));
            }
            Err(e) => {
                assert!(named || kernel.problem.is_some(), "{e}");
                assert!(!e.field.is_empty() && !e.message.is_empty());
            }
        }
    }
});
