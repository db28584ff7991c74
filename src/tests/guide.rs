//! What guided coverage of a unit learns from cases.

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use crate::spa5::Spa5;
use crate::tests::failed;
use reconverge_bench::design::{Build, Design};
use reconverge_bench::dut::{Dut, Rtl};
use reconverge_bench::saved::Savable as _;
use reconverge_campaign::campaign::{self, Options};
use reconverge_campaign::cover::guide::{AIMS, Guide, KeptCases, Trail};
use reconverge_campaign::cover::{Collector, Hits, Model};
use reconverge_program::case::Case;
use reconverge_program::judges::{Judges, check_on};
use reconverge_program::program::Records;
use reconverge_program::stimulus;

fn model() -> (Model<Spa5>, Dut<Spa5>) {
    let build = Build::from(Spa5::LANES);
    let dut = Rtl::own(build.clone()).unwrap().open(1);
    (Model::new(&build), dut.unwrap())
}

/// Returns what the guide keeps of `case`, with number `number`.
fn kept(
    (model, guide): (&Model<Spa5>, &Guide<Spa5>),
    dut: &mut Dut<Spa5>,
    number: u64,
    case: &Case<Spa5>,
) -> KeptCases<Spa5> {
    let mut collector = Collector::new(model);
    collector.begin(case);
    let mut trail = Trail::new(&mut collector, case);
    if let Err(failure) = check_on(case, dut, Judges::LockStep, Records::judge, &mut trail) {
        let rtl = Rtl::own(case.build()).unwrap();
        let found = campaign::found(failure, &rtl, &Options::default().out(failed::folder()));
        panic!("\n{}", failed::text(&found, None));
    }
    trail.collector.end();
    let mut found = KeptCases::default();
    found.keep(guide, number, case, trail);
    found
}

fn case(index: u64) -> Case<Spa5> {
    campaign::case(1, index, &Build::from(Spa5::LANES)).1
}

#[test]
fn a_case_is_kept_for_what_no_other_came_to_as_soon() {
    let (model, mut dut) = model();
    let mut guide = Guide::new(&model);
    for number in 0..16 {
        let found = kept((&model, &guide), &mut dut, number, &case(number));
        for new in &found.0 {
            let old = guide.kept[new.place.bin].as_ref();
            assert!(old.is_none_or(|old| new.place.cycles < old.place.cycles));
            assert!(model.declaration().is_reachable(new.place.bin));
        }
        assert!(number > 0 || found.0.len() > 100);
        guide.learn(found);
        // The same case again adds nothing.
        assert_eq!(
            kept((&model, &guide), &mut dut, 100, &case(number)).0.len(),
            0
        );
    }
}

#[test]
fn a_bin_has_beside_it_those_with_one_other_value() {
    let (model, _) = model();
    let coverage = model.named(&model.declaration().no_hits(), Default::default());
    let groups = coverage.groups.iter();
    let bins: Vec<_> = groups
        .flat_map(|g| g.bins.iter().map(move |b| (&g.name, &b.at)))
        .collect();
    for (n, (group, at)) in bins.iter().enumerate().step_by(7) {
        let mut beside = model.declaration().beside(n).concat();
        beside.sort_unstable();
        let others = |(other, values): &(_, &Vec<String>)| {
            other == group && values.iter().zip(*at).filter(|(a, b)| a != b).count() == 1
        };
        let expected: Vec<usize> = (0..bins.len()).filter(|n| others(&bins[*n])).collect();
        assert_eq!(beside, expected, "{group}: {at:?}");
    }
}

#[test]
fn children_are_cases_that_end_soon_and_hit_more_of_what_is_aimed_at() {
    /// After so many cases the campaign hits few further bins; after 64 it is still as good as the children.
    const LEARNED: u64 = 256;
    let (model, mut dut) = model();
    let mut guide = Guide::new(&model);
    let mut hits = model.declaration().no_hits();
    let count = |dut: &mut Dut<Spa5>, case: &Case<Spa5>| {
        let mut collector = Collector::new(&model);
        collector.begin(case);
        stimulus::run(case, dut, &mut case.golden(), &mut collector);
        collector.end();
        (collector.cycles, collector.hits)
    };
    for number in 0..LEARNED {
        let found = kept((&model, &guide), &mut dut, number, &case(number));
        guide.learn(found);
        hits.add(&count(&mut dut, &case(number)).1);
    }
    guide.aim(&hits);
    assert!(guide.aims.len() >= AIMS && guide.aims.iter().all(|n| hits.counts()[*n] == 0));
    // The children get as many cycles as the campaign that goes on.
    let new = |hits: &Hits| guide.aims.iter().filter(|n| hits.counts()[**n] > 0).count();
    let mut rng = Pcg64Mcg::seed_from_u64(3);
    let (mut children, mut campaign) =
        (model.declaration().no_hits(), model.declaration().no_hits());
    let (mut spent, mut most) = (0, 0);
    for number in LEARNED..2 * LEARNED {
        let (cycles, hits) = count(&mut dut, &case(number));
        campaign.add(&hits);
        most += cycles;
    }
    while spent < most {
        let child = guide.child(&mut rng).unwrap();
        child.check_input("child").unwrap();
        let (cycles, hits) = count(&mut dut, &child);
        children.add(&hits);
        spent += cycles;
    }
    assert!(
        new(&children) > new(&campaign),
        "{} {}",
        new(&children),
        new(&campaign)
    );
}
