//! The bins of each unit, with every parameter.

use crate::unit::Unit;
use reconverge_bench::design::Build;
use reconverge_campaign::campaign;
use reconverge_campaign::cover::{Collector, Met, Model};
use reconverge_program::stimulus::golden_alone;

/// Campaign cases of each build, run by the golden model alone.
const CASES: u64 = 64;

/// Returns the names of the bins that are declared unreachable and were hit in a build; panics on a point outside its group.
fn impossible<U: Unit>(build: &Build) -> Vec<String> {
    let model = Model::<U>::new(build);
    let mut collector = Collector::new(&model);
    for index in 0..CASES {
        let (_, case) = campaign::case::<U>(1, index, build);
        collector.begin(&case);
        golden_alone(&case, u64::MAX, &mut collector);
        collector.end();
    }
    let mut met = Met::default();
    let hit = collector.hits.counts().iter().enumerate();
    hit.filter(|(_, count)| **count > 0)
        .for_each(|(bin, _)| met.hit(bin));
    model.impossible(&met)
}

/// Regression: a CC test of the clip state machine was counted with the condition codes of a test that does not exist, so it hit
/// bins of the following groups, which no program of that build can hit.
#[test]
fn no_bin_is_hit_that_its_build_cannot_hit() {
    macro_rules! units {
        ($($module:ident $unit:ident [$($model:tt)+];)+) => {$({
            type U = crate::$module::$unit;
            let variants = U::VARIANTS.iter().map(Build::from);
            let own = Build::from(<U as reconverge_bench::design::Design>::LANES);
            for build in std::iter::once(own).chain(variants) {
                let hit = impossible::<U>(&build);
                assert!(hit.is_empty(), "{build:?}: {hit:?}");
            }
        })+};
    }
    for_each_unit!(units);
}
