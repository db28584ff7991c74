//! Any bytes after the header of a log are programs or an error; what is taken fits the memory, and
//! safe loops change LOOP words only.
//!
//! `cargo fuzz run r500_mesa_log fuzz/corpus/r500_mesa_log tb/r500/programs/mesa`
#![no_main]

use libfuzzer_sys::fuzz_target;
use reconverge::r500::import::{Options, import};
use reconverge::r500::isa::{Fc, Op};
use reconverge::r500::program::MEMORY_SLOTS;

fuzz_target!(|data: &[u8]| {
    let bytes = [b"R500 Fragment Program:\n", data].concat();
    let plain = import(&bytes, "f.log", &Options::default());
    let safe = import(
        &bytes,
        "f.log",
        &Options {
            safe_loops: true,
            which: None,
        },
    );
    let (Ok(plain), Ok(safe)) = (plain, safe) else {
        return;
    };
    assert!(!plain.listed.is_empty());
    assert!((1..=MEMORY_SLOTS).contains(&plain.program.slots.len()));
    for (a, b) in plain.program.slots.iter().zip(&safe.program.slots) {
        let begins = Fc::decode(*a).is_some_and(|f| matches!(f.op, Op::Loop | Op::Rep));
        assert!(a == b || begins && a.inst | 1 << 5 == b.inst);
    }
});
