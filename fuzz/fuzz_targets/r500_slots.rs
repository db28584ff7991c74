//! Any bytes after `# SLOTS` are a listing or an error; a program survives being written as `.s`.
//!
//! `cargo fuzz run r500_slots fuzz/corpus/r500_slots tb/r500/programs/mesa`
#![no_main]

use libfuzzer_sys::fuzz_target;
use reconverge::r500::asm::program_text;
use reconverge::r500::import::{Options, import, load};

fuzz_target!(|data: &[u8]| {
    let bytes = [b"# SLOTS\n", data].concat();
    if let Ok(got) = import(&bytes, "f.txt", &Options::default()) {
        let again = load(
            program_text(&got.program).as_bytes(),
            "f.s",
            &Options::default(),
        );
        assert_eq!(again.ok().map(|a| a.program.slots), Some(got.program.slots));
    }
});
