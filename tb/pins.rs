//! What a test of a specification prints of the pins that it drove.

use crate::machine::{Machine, Sequencer, stalled};
use reconverge::ROOT;
use reconverge::field::Flip;
use reconverge::unit::Unit;

/// Nothing is printed if the golden model agrees on the pins.
fn pins_on_which_both_differ_are_reported_and_saved<U: Unit>() {
    let mut machine = Sequencer::<U>::new(4);
    for _ in 0..3 {
        machine.clock(&stalled::<U>());
    }
    assert_eq!(machine.report(None), None);
    let flip = Flip {
        field: "pc".to_owned(),
        element: 0,
        bit: 0,
        cycle: 5,
    };
    let report = machine.report(Some(flip)).unwrap();
    let start = format!("MISMATCH {}.spec", U::NAME);
    assert!(report.starts_with(&start), "{report}");
    let rest_of = |start: &str| {
        let line = report.lines().find_map(|line| line.strip_prefix(start));
        line.unwrap_or_else(|| panic!("no {start:?} in\n{report}"))
    };
    let rule = rest_of("  rule    ");
    assert!(
        rule.starts_with("contract-") || rule.starts_with(U::NAME),
        "{report}"
    );
    let saved = std::path::Path::new(ROOT).join(rest_of("saved   "));
    let replay = rest_of("replay  cargo run -q -- replay ");
    assert_eq!(replay, rest_of("saved   "));
    for ending in ["json", "vcd", "gtkw"] {
        assert!(saved.with_extension(ending).is_file(), "{ending}: {report}");
    }
    std::fs::remove_dir_all(saved.parent().unwrap()).unwrap();
}

macro_rules! pins {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        mod $module {
            #[test]
            fn pins_on_which_both_differ_are_reported_and_saved() {
                super::pins_on_which_both_differ_are_reported_and_saved::<reconverge::$module::$unit>();
            }
        }
    )+};
}
reconverge::for_each_unit!(pins);
