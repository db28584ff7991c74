//! Functional coverage: what is counted, merged, refused and shown.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::common::rtl::Rtl as Folder;
use crate::common::{ROOT, Tested, arg, loaded, mismatch, reconverge, reconverge_ends, text};
use reconverge::campaign::{self, Limit};
use reconverge::case::{Case, Conditions, Table};
use reconverge::cover::run::{self, Options};
use reconverge::cover::{Collector, Model, SavedCoverage, UnitCoverage, When, page};
use reconverge::design::Build;
use reconverge::dut::Rtl;
use reconverge::r500::R500;
use reconverge::r700::R700;
use reconverge::spa5::Spa5;
use reconverge::unit::{Executor as _, Step, Unit};
use reconverge::watch::Watch;

use reconverge::for_each_unit;

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        mod $module {
            crate::common::test_unit!(reconverge::$module::$unit:
                every_step_and_every_clock_is_in_one_bin,
                a_worked_example_hits_what_its_trace_says,
                two_halves_merge_to_the_whole,
                jobs_change_nothing,
                jobs_change_nothing_in_a_guided_run,
                no_declaration_of_the_usual_build_is_idle,
                a_bin_declared_unreachable_that_is_hit_is_told_with_its_reason,
                missed_bins_are_listed_and_fail_where_all_are_required,
                the_page_holds_every_group_and_is_well_formed,
            );
        }
    )+};
}
for_each_unit!(tests);

/// A worked example of the specification, and every bin that it hits, without those of cycles.
trait Worked: Tested {
    /// Conditions of the example: lane, k, bits.
    const CONDITIONS: &'static [(u32, u32, u16)];
    /// The bins with their hits, as the trace of the spec has them.
    const BINS: &'static str;
}

include!("common/cover_bins.rs");

/// Counts by itself.
#[derive(Default)]
struct Counted {
    cycles: u64,
    steps: u64,
}

impl<U: Unit> Watch<U> for Counted {
    fn before(&mut self, _: u64, _: &U::In, _: &U::Golden) {}
    fn after(&mut self, _: u64, _: &U::In, golden: &U::Golden) {
        self.cycles += 1;
        self.steps += u64::from(golden.step() != Step::None);
    }
}

/// The coverage of these cases of the campaign with seed 1.
fn covered<U: Unit>(model: &Model<U>, cases: std::ops::Range<u64>) -> (UnitCoverage, Counted) {
    let build = Build::from(U::LANES);
    let rtl = Rtl::<U>::own(build.clone()).unwrap();
    let mut dut = rtl.open(1).unwrap();
    let mut collector = Collector::new(model);
    let mut counted = Counted::default();
    for index in cases {
        let (_, case) = campaign::case::<U>(1, index, &build);
        collector.begin(&case);
        let watch = &mut (&mut collector, &mut counted);
        mismatch::agreed(&case, &mut dut, watch, &format!("case {index}"));
        collector.end();
    }
    (model.coverage(&collector), counted)
}

fn usual<U: Unit>() -> Model<U> {
    Model::new(&Build::from(U::LANES))
}

fn every_step_and_every_clock_is_in_one_bin<U: Tested>() {
    let (coverage, counted) = covered::<U>(&usual(), 0..96);
    assert!(counted.steps > 1000 && counted.cycles > counted.steps);
    assert_eq!(coverage.totals.steps, counted.steps);
    assert_eq!(coverage.totals.cycles, counted.cycles);
    let of = |when: When| coverage.groups.iter().filter(move |g| g.sampled == when);
    assert!(of(When::Step).count() > 0 && of(When::Cycle).count() > 0);
    for group in of(When::Step) {
        assert_eq!(group.hits(), counted.steps, "{}", group.name);
    }
    for group in of(When::Cycle) {
        assert_eq!(group.hits(), counted.cycles, "{}", group.name);
    }
    // Some bins of every other group too, if enough cases reach it.
    let idle = coverage
        .groups
        .iter()
        .filter(|g| g.reachable() > 0 && g.hits() == 0);
    assert_eq!(idle.map(|g| &g.name).collect::<Vec<_>>(), [""; 0]);
}

fn a_worked_example_hits_what_its_trace_says<U: Worked>() {
    let rows = U::CONDITIONS
        .iter()
        .map(|(lane, k, bits)| format!("{{\"lane\":{lane},\"k\":{k},\"bits\":{bits}}}\n"));
    let mut case = Case::<U>::new(loaded::<U>(U::IF_ELSE));
    case.lanes = 4;
    case.launch_mask = 15;
    let table = Table::parse(&rows.collect::<String>(), "conditions").unwrap();
    case.conditions = Conditions::Table(table);
    let model = Model::<U>::new(&case.build());
    let mut collector = Collector::new(&model);
    let mut dut = Rtl::<U>::own(4).unwrap().open(1).unwrap();
    mismatch::agreed(&case, &mut dut, &mut collector, U::IF_ELSE);
    let coverage = model.coverage(&collector);
    let mut found = String::new();
    for group in coverage.groups.iter().filter(|g| g.sampled != When::Cycle) {
        for bin in group.bins.iter().filter(|b| b.hits > 0) {
            found += &format!("{}: {}: {}\n", group.name, bin.name(), bin.hits);
        }
    }
    assert_eq!(found, U::BINS.trim_start());
}

fn two_halves_merge_to_the_whole<U: Tested>() {
    let model = usual::<U>();
    let whole = covered(&model, 0..8).0;
    let mut merged = UnitCoverage::declared::<U>(&Build::from(U::LANES));
    for half in [covered(&model, 0..4).0, covered(&model, 4..8).0] {
        // The coverage after it was written and read.
        let saved = SavedCoverage::new(vec![half.clone()]);
        let read = SavedCoverage::parse(&saved.to_text(), "half.json").unwrap();
        assert_eq!(read, saved);
        merged.merge(&read.units[0], "half.json").unwrap();
    }
    assert_eq!(merged, whole);
    assert!(merged.hit() > 100);
}

fn jobs_change_nothing<U: Tested>() {
    let model = usual::<U>();
    let rtl = Rtl::<U>::own(U::LANES).unwrap();
    let [one, three] = [1, 3].map(|jobs| {
        let options = Options {
            seed: 5,
            limit: Limit::Programs(24),
            jobs,
            guided: false,
            cycles: reconverge::stream::CYCLES,
            careful: None,
        };
        let covered = run::run::<Case<U>>(&options, &model, &rtl, &()).unwrap();
        assert!(covered.failed.is_none());
        model.named(&covered.hits, covered.totals)
    });
    assert_eq!(one, three);
    assert_eq!(one.totals.programs, 24);
}

/// The campaign's first cases, then children of them; and another run than the campaign is.
fn jobs_change_nothing_in_a_guided_run<U: Tested>() {
    let model = usual::<U>();
    let rtl = Rtl::<U>::own(U::LANES).unwrap();
    let [one, three, campaign] = [(1, true), (3, true), (1, false)].map(|(jobs, guided)| {
        let options = Options {
            seed: 5,
            limit: Limit::Programs(256),
            jobs,
            guided,
            cycles: reconverge::stream::CYCLES,
            careful: None,
        };
        let covered = run::run::<Case<U>>(&options, &model, &rtl, &()).unwrap();
        assert!(covered.failed.is_none());
        model.named(&covered.hits, covered.totals)
    });
    assert!(one == three);
    assert_eq!(one.impossible().next(), None);
    assert_eq!(one.totals.programs, campaign.totals.programs);
    // Children end soon after the bin that they aim at.
    assert!(one.totals.cycles < campaign.totals.cycles);
}

fn no_declaration_of_the_usual_build_is_idle<U: Tested>() {
    assert_eq!(usual::<U>().declaration().idle(), [""; 0]);
}

fn a_bin_declared_unreachable_that_is_hit_is_told_with_its_reason<U: Tested>() {
    let mut model = usual::<U>();
    let before = model.declaration().reachable();
    let count = model.forbid("neighbours", "nothing follows a launch", |at| {
        at[0] == "launch"
    });
    assert!(count > 10);
    assert_eq!(model.declaration().reachable(), before - count);
    let coverage = covered(&model, 0..4).0;
    let (group, bin) = coverage.impossible().next().unwrap();
    assert_eq!(
        (group.name.as_str(), bin.at[0].as_str()),
        ("neighbours", "launch")
    );
    let line = format!(
        "  IMPOSSIBLE        neighbours: {}: hit {} times: nothing follows a launch\n",
        bin.name(),
        bin.hits
    );
    assert!(coverage.text().contains(&line), "{line}{}", coverage.text());
    assert!(page(&[coverage]).contains("declared unreachable (nothing follows a launch), hit"));
}

/// Runs `cover` for so many programs and gives its output and the JSON.
fn saved<U: Tested>(dir: &Path) -> (String, SavedCoverage) {
    let json = dir.join("cover.json");
    let out = reconverge_ends(
        0,
        &[
            "cover",
            U::NAME,
            "--programs",
            "8",
            "--jobs",
            "1",
            "--json",
            arg(&json),
        ],
    );
    let saved = SavedCoverage::parse(&fs::read_to_string(&json).unwrap(), "cover.json").unwrap();
    (out, saved)
}

fn missed_bins_are_listed_and_fail_where_all_are_required<U: Tested>() {
    let dir = tempfile::tempdir().unwrap();
    let (out, saved) = saved::<U>(dir.path());
    let coverage = &saved.units[0];
    let (missed, reachable) = (coverage.missed().count(), coverage.reachable());
    assert!(missed > 0);
    let hit = format!("{} of {reachable} reachable hit", reachable - missed);
    assert!(out.contains(&hit), "{hit}\n{out}");
    // The first three of each group, and how many more there are.
    assert!(missed > 64);
    for group in &coverage.groups {
        let all: Vec<String> = group
            .bins
            .iter()
            .filter(|b| b.is_missed())
            .map(|b| b.name())
            .collect();
        for (n, name) in all.iter().enumerate() {
            let line = format!("  missed            {}: {name}\n", group.name);
            assert_eq!(out.contains(&line), n < 3, "{line}");
        }
        if all.len() > 3 {
            assert!(out.contains(&format!("{}: and {} more\n", group.name, all.len() - 3)));
        }
    }
    let json = dir.path().join("cover.json");
    let failed = reconverge(&["cover", U::NAME, "--merge", arg(&json), "--require-all"]);
    assert_eq!(failed.status.code(), Some(1));
    let why = format!("{}: {missed} reachable bins missed\n", U::NAME);
    assert_eq!(text(&failed.stderr), why);
}

fn the_page_holds_every_group_and_is_well_formed<U: Tested>() {
    let coverage = covered::<U>(&usual(), 0..4).0;
    let page = page(std::slice::from_ref(&coverage));
    // Every tag is closed, and in order.
    let body = page.strip_prefix("<!DOCTYPE html>\n").unwrap();
    let mut open = Vec::new();
    let mut rest = body;
    while let Some((_, tag)) = rest.split_once('<') {
        let (tag, after) = tag.split_once('>').unwrap();
        rest = after;
        match (tag.strip_prefix('/'), tag.ends_with('/')) {
            (Some(name), _) => assert_eq!(open.pop(), Some(name)),
            (None, true) => {}
            (None, false) => open.push(tag.split(' ').next().unwrap()),
        }
    }
    assert!(open.is_empty(), "{open:?}");
    // Nothing from elsewhere.
    for far in ["http", "src=", "@import", "url("] {
        assert!(!page.contains(far), "{far}");
    }
    for group in &coverage.groups {
        let heading = format!(
            "{}: {} of {}</summary>",
            group.name,
            group.hit(),
            group.reachable()
        );
        assert!(page.contains(&heading), "{heading}");
    }
    let cells = page.matches("<td class=\"hit\">").count();
    assert_eq!(cells, coverage.hit());
    assert_eq!(
        page.matches("<td class=\"missed\">").count(),
        coverage.missed().count()
    );
    let never: usize = coverage
        .groups
        .iter()
        .map(|g| g.bins.len() - g.reachable())
        .sum();
    assert_eq!(page.matches("<td class=\"never\">").count(), never);
}

/// Reads the numbers of an lcov file independently of the code that writes it.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn counters_of_the_rtl_come_out_as_lcov() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rtl.info");
    let out = reconverge_ends(
        0,
        &[
            "cover",
            "r500",
            "--lanes",
            "4",
            "--programs",
            "64",
            "--jobs",
            "2",
            "--lcov",
            arg(&file),
        ],
    );
    let mut files = BTreeSet::new();
    // Lines, branches: found and hit.
    let mut sums = [(0, 0); 2];
    let mut here = [(0, 0); 2];
    let mut source = Vec::new();
    for line in fs::read_to_string(&file).unwrap().lines() {
        let (key, value) = line.split_once(':').unwrap_or((line, ""));
        let numbers: Vec<u64> = value.split(',').filter_map(|n| n.parse().ok()).collect();
        let mut count = |which: usize, line: u64, hits: u64| {
            assert!(line >= 1 && line as usize <= source.len(), "{line}");
            here[which].0 += 1;
            here[which].1 += u64::from(hits > 0);
        };
        match (key, &numbers[..]) {
            ("TN", _) => {}
            ("SF", _) => {
                let text = fs::read_to_string(Path::new(ROOT).join(value)).unwrap();
                source = text.lines().map(str::to_owned).collect();
                assert!(files.insert(value.to_owned()), "{value} twice");
            }
            ("DA", [line, hits]) => count(0, *line, *hits),
            ("BRDA", [line, _, _, hits]) => count(1, *line, *hits),
            ("LF", [n]) => assert_eq!(here[0].0, *n),
            ("LH", [n]) => assert_eq!(here[0].1, *n),
            ("BRF", [n]) => assert_eq!(here[1].0, *n),
            ("BRH", [n]) => assert_eq!(here[1].1, *n),
            ("end_of_record", _) => {
                for (sum, here) in sums.iter_mut().zip(&mut here) {
                    (sum.0, sum.1) = (sum.0 + here.0, sum.1 + here.1);
                    *here = (0, 0);
                }
            }
            _ => panic!("{line}"),
        }
    }
    // The unit's own files with logic, and no file of the bench.
    let own: BTreeSet<String> = Folder::own("r500")
        .list()
        .iter()
        .map(|name| format!("rtl/r500/{name}"))
        .collect();
    assert!(files.is_subset(&own), "{files:?}");
    assert!(
        own.difference(&files).all(|name| name.ends_with("_pkg.sv")),
        "{files:?}"
    );
    let [(lines, lines_hit), (points, points_hit)] = sums;
    assert!(
        lines > 150 && lines_hit > 100 && points > 1000 && points_hit > 500,
        "{sums:?}"
    );
    assert!(
        out.contains(&format!("RTL lines         {lines_hit}/{lines}  ")),
        "{out}"
    );
}
