//! RTL and golden in lock-step.

use std::fs;

use own_unit::{RpStack, rtl};
use reconverge::campaign::{Options, fuzz, replay};
use reconverge::design::Build;
use reconverge::dut::Rtl;
use reconverge::stream::Stream;

use crate::common::{found, planted};

/// Builds the RTL with DEPTH `depth`.
fn built(depth: u32) -> Rtl<RpStack> {
    let mut build = Build::from(8);
    if depth != 4 {
        build.parameters.insert("DEPTH".to_owned(), depth);
    }
    Rtl::of(build, &rtl()).unwrap()
}

#[test]
fn rtl_and_golden_agree_on_random_pins_and_every_bit_is_toggled() {
    let options = Options::default()
        .cases(200)
        .out(env!("CARGO_TARGET_TMPDIR"));
    let rtl = built(4);
    let met = fuzz::<Stream<RpStack>>(&rtl, &options).unwrap();
    let coverage = met.coverage(rtl.build());
    let missing = coverage.missing::<RpStack>();
    let table = coverage.table::<RpStack>().to_string();
    println!("{table}");
    // A mask has a bit for each lane.
    assert!(table.contains("  field top_mask    8 of 8\n"), "{table}");
    // A level of four takes three bits of five.
    let expected = [
        "field level: bit 3 was never 1",
        "field level: bit 4 was never 1",
    ];
    assert_eq!(missing, expected);
}

#[test]
fn a_mistake_in_the_rtl_is_reported_with_a_short_stream_that_replays() {
    let wrong = ("pop_i ? top : AddrBits'(level_q)", "AddrBits'(level_q)");
    let dir = planted("rpstack.sv", &[wrong]);
    let rtl = Rtl::of(Build::from(8), dir.path()).unwrap();
    let out = dir.path().join("failures");
    let options = Options::default().cases(200).out(&out);
    let found = found::<Stream<RpStack>>("a push with a pop", &rtl, &options);
    // Reset, a push, a push with a pop: the old entry stays on top.
    let stream = &found.failure.case;
    assert!(stream.cycles.0.len() <= 5, "{found}");

    let saved = found.saved.as_ref().unwrap();
    assert!(replay::<Stream<RpStack>>(saved, &built(4)).unwrap().is_ok());
    for file in ["vcd", "gtkw"] {
        let path = saved.with_extension(file);
        assert!(fs::metadata(&path).unwrap().len() > 0, "{}", path.display());
    }
}
