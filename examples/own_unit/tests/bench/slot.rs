//! An output that depends on a pin of the same cycle, and a reset that is active high.

use std::fs;

use own_unit::slot::{Slot, rtl};
use reconverge::campaign::{Options, fuzz};
use reconverge::design::Build;
use reconverge::dut::Rtl;
use reconverge::stream::Stream;

use crate::common::{found, planted};

/// Before the first edge no reset has set the registers, so an output that depends on them can be anything.
#[test]
fn an_output_of_the_same_cycle_agrees_whatever_is_in_the_registers_at_first() {
    let rtl = Rtl::<Slot>::of(Build::from(1), &rtl()).unwrap();
    for seed in 1..=20 {
        let options = Options::default().seed(seed).cases(200);
        let options = options.out(env!("CARGO_TARGET_TMPDIR"));
        let met = fuzz::<Stream<Slot>>(&rtl, &options).unwrap();
        let coverage = met.coverage(rtl.build());
        assert_eq!(coverage.missing::<Slot>(), [""; 0]);
    }
}

/// Later it is compared, and a dump marks exactly the cycles in which it differs.
#[test]
fn a_wrong_output_of_the_same_cycle_is_found() {
    let dir = planted("slot/slot.sv", &[("= !full_q || pop_i", "= !full_q")]);
    let rtl = Rtl::<Slot>::of(Build::from(1), &dir.path().join("slot")).unwrap();
    let options = Options::default().cases(200).out(dir.path());
    let found = found::<Stream<Slot>>("ready without pop", &rtl, &options);
    let said = found.to_string();
    assert!(said.contains("ready"), "{said}");
    assert!(found.failure.cycle() > 0, "{said}");
    let dump = found.saved.as_ref().unwrap().with_extension("vcd");
    let dump = fs::read_to_string(dump).unwrap();
    let declared = dump.lines().find(|line| line.contains(" mismatch_o "));
    let code = declared.unwrap().split_whitespace().nth(3).unwrap();
    let (mut time, mut differs) = (0, Vec::new());
    for line in dump.lines() {
        if let Some(at) = line.strip_prefix('#') {
            time = at.parse::<u64>().unwrap();
        } else if let Some((bits, _)) = line.split_once(' ').filter(|(_, of)| *of == code)
            && bits.contains('1')
        {
            differs.push((time, bits.to_owned()));
        }
    }
    let failed = 10 * (found.failure.cycle() + 1);
    let mismatch = found.failure.mismatch().unwrap();
    let fields = mismatch.diffs.iter().map(|diff| 1 << diff.field);
    let bits = fields.fold(0_u32, |bits, bit| bits | bit);
    assert_eq!(differs, [(failed, format!("b{bits:03b}"))]);
}
