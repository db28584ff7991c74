//! `explain UNIT --program FILE --cycle N`: why an instruction of a run did what it did. Its text is in `tb/transcripts/shown.txt`.

use std::fs;

use crate::common::{Tested, own_programs};
use reconverge::case::Case;
use reconverge::explain::cycle::{Explained, cited, explain};
use reconverge::rules;
use reconverge::show::{Row, rows};
use reconverge::unit::LoadOptions;

use reconverge::for_each_unit;

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        mod $module {
            crate::common::test_unit!(reconverge::$module::$unit:
                every_row_is_explained_by_rules_that_exist,
            );
        }
    )+};
}
for_each_unit!(tests);

/// Every lane of every row is in one group, with its class on both sides, and each rule named is in the specification.
fn every_row_is_explained_by_rules_that_exist<U: Tested>() {
    let mut ways = Vec::new();
    for file in own_programs::<U>() {
        let name = file.to_string_lossy();
        let bytes = fs::read(&file).unwrap();
        let loaded = U::load(&bytes, &name, &LoadOptions::default()).unwrap();
        let mut case = Case::<U>::new(loaded.program);
        (case.lanes, case.launch_mask) = (5, 0x1f);
        let mut shown: Vec<Row> = Vec::new();
        rows(&case, u64::MAX, |row| {
            shown.push(row);
            shown.len() < 40
        });
        assert!(!shown.is_empty(), "{name}");
        for row in shown {
            let at = format!("{name}: cycle {}", row.cycle);
            let Explained::Instruction(done) = explain(&case, row.cycle) else {
                panic!("{at}: no instruction");
            };
            assert_eq!((done.pc, &done.text), (row.found.pc, &row.text), "{at}");
            assert!(U::anatomy(&done.words).is_ok(), "{at}");
            let [first, last] = [done.cycles.first(), done.cycles.last()].map(Option::unwrap);
            assert_eq!(
                (&first.before, last.number),
                (&row.found, row.cycle),
                "{at}"
            );
            assert_eq!(last.after.active(), row.next, "{at}");
            for cycle in &done.cycles {
                ways.push(cycle.way);
                let mut seen = 0;
                for group in &cycle.groups {
                    assert_eq!(seen & group.lanes, 0, "{at}: a lane in two groups");
                    seen |= group.lanes;
                    for lane in (0..5).filter(|lane| group.lanes >> lane & 1 == 1) {
                        let classes = [cycle.before.lanes[lane], cycle.after.lanes[lane]];
                        assert_eq!([group.before, group.after], classes, "{at}: lane {lane}");
                    }
                }
                assert_eq!(seen, 0x1f, "{at}: a lane in no group");
                let groups = cycle.groups.iter().map(|group| &group.rule);
                let fields = cycle.fields.iter().map(|values| &values.rule);
                for rule in groups.chain(fields).chain([&cycle.address]) {
                    let id = rule.split(' ').next().unwrap_or_default();
                    assert!(
                        rules::find(id).is_some(),
                        "{at}: no rule {id:?} in {rule:?}"
                    );
                    assert_eq!(cited(rule).first(), Some(&id), "{at}: {rule:?}");
                    // Every word that begins like an id is one.
                    let prefix = format!("{}-", U::NAME);
                    let named = rule.matches(&prefix).count() + rule.matches("contract-").count();
                    assert_eq!(cited(rule).len(), named, "{at}: {rule:?}");
                }
            }
        }
    }
    for way in ["jumps to", "falls through to", "pops to"] {
        assert!(ways.contains(&way), "{way} never came");
    }
}
