//! A failing case becomes a small one that fails in the same field; and programs are cut soundly.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::common::rtl::{Change, Rtl as Folder};
use crate::common::{
    ROOT, Tested, arg, line_starting, loaded, program, reconverge, reconverge_ends, text,
};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use reconverge::assembly::Assembly as _;
use reconverge::case::{Case, Kind};
use reconverge::design::Golden;
use reconverge::dut::Rtl;
use reconverge::field::Flip;
use reconverge::instructions::{Instructions, Piece};
use reconverge::saved::Saved;
use reconverge::shrink::{self, Budget};
use reconverge::stimulus::CaseStimulus;
use reconverge::unit::{Executor as _, LoadOptions, Programs, Step};

use reconverge::for_each_unit;

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        mod $module {
            crate::common::test_unit!(reconverge::$module::$unit:
                a_case_that_does_not_fail_is_refused,
                what_cannot_be_smaller_comes_back_as_it_is,
                the_result_does_not_depend_on_how_long_a_model_takes_to_build,
                instructions_that_no_lane_executes_can_be_taken_out,
                cut_programs_are_accepted_and_their_text_assembles_to_them,
                simpler_programs_come_to_an_end,
                #[ignore = "many models or proofs; CI's step builds runs it"]
                a_breach_of_the_clock_contract_is_shrunk_to_a_few_instructions_and_lanes,
            );
            crate::common::test_unit_with_models!($module reconverge::$module::$unit:
                a_caught_change_is_shrunk_to_a_few_instructions_and_lanes,
            );

            #[test]
            #[ignore = "builds every changed RTL twice: some ten minutes"]
            fn all_changes_are_shrunk() {
                super::all_changes_are_shrunk::<reconverge::$module::$unit>();
            }
        }
    )+};
}
for_each_unit!(tests);

/// Maximum number of instructions and lanes of a shrunk program.
const INSTRUCTIONS: usize = 6;
const LANES: u32 = 4;

/// The result of shrinking, and how long it took with all models built.
struct Small {
    instructions: usize,
    lanes: u32,
    seconds: f64,
}

/// Whether a report has a row in which `field` differs.
fn differs(report: &str, field: &str) -> bool {
    let row = |line: &str| {
        let label = line.split_whitespace().next().unwrap_or_default();
        line.ends_with("<--") && label.split('[').next() == Some(field)
    };
    report.lines().any(row)
}

/// RTL with `change` is caught by `fuzz`, and the shrunk case is right: it fails in the same field and at the place that is saved
/// with it, its text is the program, and our own RTL passes it.
fn caught_and_shrunk<U: Tested>(change: Change, cycles: &str, timed: bool) -> (Small, String) {
    let out = tempfile::tempdir().unwrap();
    let out = arg(out.path());
    let bad = Folder::own(U::NAME).copy().without_assertions();
    bad.change(change);
    let report = reconverge_ends(
        1,
        &[
            "fuzz",
            U::NAME,
            "--rtl",
            bad.arg(),
            "--cycles",
            cycles,
            "--out",
            out,
        ],
    );
    let (first, rest) = report.split_once("program shrunk from ").unwrap();
    let (headline, rest) = rest.split_once(":\n").unwrap();
    let (assembly, commands) = rest
        .split_once("\nrun     ")
        .unwrap_or_else(|| rest.split_once("\nprogram ").unwrap());
    let (original, first) = first.split_once("\n\n").unwrap();
    let words: Vec<&str> = line_starting(commands, "replay  ")
        .split_whitespace()
        .collect();
    assert_eq!(words[2..5], ["replay", "--rtl", bad.arg()]);
    let path = words[5];
    let failed = original.split_whitespace().nth(1).unwrap();
    assert!(original.starts_with("MISMATCH ") && original.lines().count() == 1);
    assert!(original.ends_with(&format!("; saved as {out}/{failed}.json")));
    assert_eq!(path, format!("{out}/{failed}.shrunk.json"));
    assert!(first.starts_with("MISMATCH "), "{report}");

    let saved = Saved::<Case<U>>::parse(&fs::read_to_string(path).unwrap(), path).unwrap();
    let case = &saved.case;
    let (instructions, lanes) = (case.program.count(), case.lanes);
    let plural = if instructions == 1 { "" } else { "s" };
    let said = format!(
        " to {instructions} instruction{plural}, {} to {lanes} lanes",
        U::LANES
    );
    assert!(headline.contains(&said), "{headline}");
    let field = saved.failure.as_ref().unwrap().field().unwrap();
    assert!(differs(first, field), "{change:?}: {field}\n{report}");
    case.program.check(path).unwrap();

    let mut again = U::load(assembly.as_bytes(), "again.s", &LoadOptions::default())
        .unwrap_or_else(|e| panic!("{e}\n{assembly}"))
        .program;
    again.rename(case.program.name().to_owned());
    assert_eq!(again, case.program, "{assembly}");

    // The program's file begins with the command that shows the mismatch again.
    let script = fs::read_to_string(format!("{out}/{failed}.shrunk.s")).unwrap();
    let (command, lines) = script.split_once('\n').unwrap();
    let command = command.strip_prefix("// ").unwrap();
    let (_, program) = assembly.split_once('\n').unwrap();
    assert!(lines.ends_with(&format!("{program}\n")), "{script}");
    let mut shell = Command::new("sh");
    let ran = shell
        .args(["-c", command])
        .current_dir(ROOT)
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(1), "{command}");
    let shown = text(&ran.stdout);
    let table = |report: &str| {
        let from = report.find("\n  field ").unwrap();
        let end = report[from..]
            .find("\nreplay  ")
            .map_or(report.len(), |at| from + at);
        report[from..end].trim_end().to_owned()
    };
    assert_eq!(table(&shown), table(first), "{command}");

    let with = ["--rtl", bad.arg(), "--out", out];
    let again = reconverge(&[&["replay", path], &with[..]].concat());
    assert_eq!(again.status.code(), Some(1), "{change:?}\n{report}");
    assert!(differs(&text(&again.stdout), field), "{change:?}: {field}");
    assert_eq!(text(&again.stderr), "", "same place as saved");
    let own = format!("rtl/{}", U::NAME);
    reconverge_ends(0, &["replay", path, "--rtl", &own, "--out", out]);

    let original = format!("{out}/{failed}.json");
    let time = |more: &[&str]| {
        let start = std::time::Instant::now();
        reconverge_ends(1, &[&["replay", &original], &with[..], more].concat());
        start.elapsed().as_secs_f64()
    };
    let small = Small {
        instructions,
        lanes,
        seconds: if timed {
            time(&["--shrink"]) - time(&[])
        } else {
            0.0
        },
    };
    let report = report
        .replace(out, "OUT")
        .replace(bad.arg(), "RTL")
        .replace(env!("CARGO_BIN_EXE_reconverge"), "reconverge");
    (small, report)
}

/// A decision; `all_changes_are_shrunk` does them all.
fn a_caught_change_is_shrunk_to_a_few_instructions_and_lanes<U: Tested>() {
    let change = U::faults("decisions")[U::OTHER_FIELD];
    let (small, report) = caught_and_shrunk::<U>(change, "400000", false);
    assert!(small.instructions <= INSTRUCTIONS, "{change:?}");
    assert!(small.lanes <= LANES, "{change:?}");
    let expected = Path::new(ROOT).join(program::<U>("shrunk.report"));
    assert_eq!(report, fs::read_to_string(expected).unwrap());
}

fn a_breach_of_the_clock_contract_is_shrunk_to_a_few_instructions_and_lanes<U: Tested>() {
    let change = U::faults("contract")[4];
    let (small, _) = caught_and_shrunk::<U>(change, "400000", false);
    assert!(small.instructions <= INSTRUCTIONS, "{change:?}");
    assert!(small.lanes <= LANES, "{change:?}");
}

fn all_changes_are_shrunk<U: Tested>() {
    let changes = [U::faults("decisions"), U::faults("contract")].concat();
    let mut instructions = Vec::new();
    let mut lanes = Vec::new();
    let mut seconds = Vec::new();
    for change in &changes {
        let (small, _) = caught_and_shrunk::<U>(*change, "4000000", true);
        println!(
            "{:>3} instructions {:>2} lanes {:>6.2} s  {change:?}",
            small.instructions, small.lanes, small.seconds
        );
        instructions.push(small.instructions);
        lanes.push(small.lanes);
        seconds.push(small.seconds);
    }
    instructions.sort_unstable();
    lanes.sort_unstable();
    seconds.sort_by(f64::total_cmp);
    let (middle, last) = (changes.len() / 2, changes.len() - 1);
    println!(
        "{}: {} changes; instructions median {} most {}; lanes median {} most {}; seconds median {:.2} most {:.2}",
        U::NAME,
        changes.len(),
        instructions[middle],
        instructions[last],
        lanes[middle],
        lanes[last],
        seconds[middle],
        seconds[last]
    );
    assert!(instructions[middle] <= INSTRUCTIONS && lanes[middle] <= LANES);
}

fn save<U: Tested>(case: &Case<U>, path: &Path) {
    let saved = Saved::<Case<U>> {
        failure: None,
        case: case.clone(),
    };
    fs::write(path, saved.to_text()).unwrap();
}

/// What stops the simulation stops it in the small case, and says the same but for the time. One unit: the
/// bench does the same for all.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn rtl_that_stops_the_simulation_is_shrunk_and_replays() {
    let unit = "r500";
    let stops = Folder::own(unit)
        .planted("  always @(posedge clk_i) if (rst_ni && halted_o) $fatal(1, \"halted\");");
    let out = stops.dir().join("out");
    let out = arg(&out);
    let rtl = stops.arg();
    let report = reconverge_ends(
        1,
        &[
            "fuzz", unit, "--cycles", "100000", "--rtl", rtl, "--out", out,
        ],
    );
    let what = |report: &str| {
        // The last one; the original case is above it.
        let line = report.lines().rfind(|l| l.starts_with("STOPPED ")).unwrap();
        line.split_once(".sv").unwrap().1.to_owned()
    };
    assert!(
        report.contains(" to 1 instruction, 16 to 4 lanes"),
        "{report}"
    );
    let replay = report.lines().rfind(|l| l.starts_with("replay ")).unwrap();
    let small = replay.split_whitespace().nth(5).unwrap();
    assert!(small.ends_with(".shrunk.json"), "{replay}");
    let again = reconverge_ends(1, &["replay", small, "--rtl", rtl, "--out", out]);
    assert_eq!(what(&again), what(&report));
}

fn a_case_that_does_not_fail_is_refused<U: Tested>() {
    let out = tempfile::tempdir().unwrap();
    let path = out.path().join("passes.json");
    let case = Case::<U>::new(loaded::<U>(U::IF_ELSE));
    save(&case, &path);
    let output = reconverge(&["replay", arg(&path), "--shrink", "--out", arg(out.path())]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        text(&output.stderr),
        format!(
            "error: {}: --shrink: does not fail, there is nothing to shrink\n",
            path.display()
        )
    );
    assert_eq!(text(&output.stdout), "");
    assert_eq!(
        fs::read_dir(out.path()).unwrap().count(),
        1,
        "nothing is written"
    );

    let rtl = Rtl::<U>::own(case.lanes).unwrap();
    let refused = shrink::shrink(
        &case,
        &rtl,
        |lanes| Ok(Rtl::own(lanes)?),
        &Budget::default(),
        &mut (),
    );
    assert!(refused.unwrap_err().contains("nothing fails"));
}

/// One instruction, four lanes, no condition: nothing of it can be removed. A shrunk case is like this.
fn what_cannot_be_smaller_comes_back_as_it_is<U: Tested>() {
    let rtl = Rtl::<U>::own(LANES).unwrap();
    let longest = Budget {
        time: Duration::MAX,
        ..Budget::default()
    };
    let shrink = |case: &Case<U>| {
        let other = |lanes| Ok(Rtl::own(lanes)?);
        shrink::shrink(case, &rtl, other, &longest, &mut ()).unwrap()
    };
    let mut case = Case::<U>::new(loaded::<U>(U::IF_ELSE));
    case.lanes = LANES;
    case.launch_mask = u64::MAX >> (64 - LANES);
    case.flip = Some(Flip {
        field: "pc".to_owned(),
        element: 0,
        bit: 0,
        cycle: 2,
    });
    let once = shrink(&case);
    assert!(once.after.instructions <= 1, "{}", once.headline());
    let place = once.failure.place();
    assert_eq!((place.field(), place.cycle()), (Some("pc"), Some(2)));
    let twice = shrink(&once.failure.case);
    assert_eq!(
        Saved::from(&twice.failure).to_text(),
        Saved::from(&once.failure).to_text()
    );
    assert_eq!(twice.before, twice.after);

    // An empty budget is obeyed too.
    let none = Budget {
        runs: 0,
        ..Budget::default()
    };
    let kept = shrink::shrink(&case, &rtl, |lanes| Ok(Rtl::own(lanes)?), &none, &mut ()).unwrap();
    assert_eq!(*kept.failure.case, case);
}

/// A busy machine builds the model with fewer lanes slowly.
fn the_result_does_not_depend_on_how_long_a_model_takes_to_build<U: Tested>() {
    let rtl = Rtl::<U>::own(U::LANES).unwrap();
    let mut case = Case::<U>::new(loaded::<U>(U::IF_ELSE));
    case.flip = Some(Flip {
        field: "pc".to_owned(),
        element: 0,
        bit: 0,
        cycle: 4,
    });
    let budget = Budget {
        time: Duration::from_secs(2),
        ..Budget::default()
    };
    let shrink = |builds: Duration| {
        let other = |lanes| -> Result<Rtl<U>, String> {
            std::thread::sleep(builds);
            Ok(Rtl::own(lanes)?)
        };
        shrink::shrink(&case, &rtl, other, &budget, &mut ()).unwrap()
    };
    let (soon, late) = (shrink(Duration::ZERO), shrink(budget.time));
    assert_eq!(soon.after.lanes, LANES, "{}", soon.headline());
    let texts = [soon, late].map(|shrunk| Saved::from(&shrunk.failure).to_text());
    assert_eq!(texts[0], texts[1]);
}

/// What the golden does in `case`: the instruction of each step with the lanes ACTIVE after it, and the end.
fn walk<U: Tested>(case: &Case<U>) -> (Vec<(Option<usize>, u64)>, String) {
    let mut golden = case.golden();
    let mut stimulus = CaseStimulus::new(case);
    let (mut steps, mut pc) = (Vec::new(), 0);
    while let Some(pins) = stimulus.next(golden.state()) {
        if !U::mid_step(golden.state()) {
            pc = U::pc(golden.state());
        }
        golden.cycle(&pins);
        if golden.step() == Step::Executed {
            steps.push((
                case.program.number(pc),
                <U as Programs>::active(golden.state()),
            ));
        }
        stimulus.done(&pins, golden.step(), golden.state());
    }
    (steps, U::outcome(golden.state()))
}

/// Cases with random programs of all kinds.
fn cases<U: Tested>(count: u64) -> impl Iterator<Item = Case<U>> {
    let mut rng = Pcg64Mcg::seed_from_u64(77);
    (0..count).map(move |n| {
        let kind = [Kind::Structured, Kind::NearLegal, Kind::Raw][n as usize % 3];
        let mut case = Case::<U>::new(U::generate(kind, &mut rng));
        case.seed = n + 1;
        case.max_steps = 300;
        case
    })
}

fn kept(numbers: impl IntoIterator<Item = usize>) -> Vec<Piece> {
    numbers.into_iter().map(Piece::Old).collect()
}

/// Without the instructions that are never executed a program does what it did, step by step: every jump, call, loop
/// and return leads where it led. The same with a program from which nothing is taken out.
fn instructions_that_no_lane_executes_can_be_taken_out<U: Tested>() {
    let (mut steps_compared, mut taken_out, mut jumps) = (0, 0, 0);
    for mut case in cases::<U>(300) {
        let (steps, end) = walk(&case);
        let numbers: BTreeSet<usize> = steps.iter().filter_map(|(n, _)| *n).collect();
        // What lies outside of the words has no number: such a program stays as it is.
        let outside = steps.iter().any(|(n, _)| n.is_none());
        let program = case.program.clone();
        let count = program.count();
        case.program = program.laid_out(&kept(0..count));
        assert_eq!(
            walk(&case),
            (steps.clone(), end.clone()),
            "{}",
            program.to_text()
        );
        if outside || !end.starts_with("done") {
            continue;
        }
        // The last one may be gone, and with it what says that it is the last.
        let order: Vec<usize> = numbers.iter().copied().collect();
        case.program = program.laid_out(&kept(order.iter().copied()));
        assert_eq!(case.program.count().max(1), order.len().max(1));
        // spa5 checks the target of PBK, too, where no thread ever breaks.
        if case.program.to_text().contains("TARGET_RANGE") {
            continue;
        }
        let (found, found_end) = walk(&case);
        let expected: Vec<_> = steps
            .iter()
            .map(|(n, active)| (n.map(|n| order.binary_search(&n).unwrap()), *active))
            .collect();
        assert_eq!(
            (found, found_end),
            (expected, end),
            "{}\ncut to\n{}",
            program.to_text(),
            case.program.to_text()
        );
        steps_compared += steps.len();
        taken_out += count - order.len();
        jumps += steps
            .windows(2)
            .filter(|w| w[1].0 != w[0].0.map(|n| n + 1))
            .count();
    }
    assert!(
        steps_compared > 2000 && taken_out > 500 && jumps > 500,
        "{steps_compared} steps, {taken_out} taken out, {jumps} jumps"
    );
}

/// Any subset, with plain instructions put in: `U::check` accepts it, and if the whole program survived its own text, so does the
/// subset.
fn cut_programs_are_accepted_and_their_text_assembles_to_them<U: Tested>() {
    let mut rng = Pcg64Mcg::seed_from_u64(3);
    let through_text = |program: &U::Program| {
        let text = program.to_text();
        U::load(text.as_bytes(), "cut.s", &LoadOptions::default()).map(|mut loaded| {
            loaded.program.rename(program.name().to_owned());
            loaded.program
        })
    };
    let mut assembled = 0;
    for case in cases::<U>(100) {
        let count = case.program.count();
        let share = rng.random_range(1..=10);
        let mut pieces = Vec::new();
        for n in 0..count {
            if rng.random_range(0..10) < share {
                if rng.random_ratio(1, 8) && pieces.len() + 1 < count {
                    pieces.push(Piece::New);
                }
                let instead = rng.random_ratio(1, 8);
                pieces.push(if instead {
                    Piece::Instead(n)
                } else {
                    Piece::Old(n)
                });
            }
        }
        pieces.truncate(count);
        if pieces.is_empty() {
            pieces.push(Piece::New);
        }
        let cut = case.program.laid_out(&pieces);
        cut.check("cut").unwrap();
        assert!(cut.count() <= pieces.len());
        if through_text(&case.program).is_ok_and(|whole| whole == case.program) {
            let again = through_text(&cut).unwrap_or_else(|e| panic!("{e}\n{}", cut.to_text()));
            assert_eq!(again, cut, "{}", cut.to_text());
            assembled += 1;
        }
    }
    assert!(assembled > 30, "{assembled}");
}

fn simpler_programs_come_to_an_end<U: Tested>() {
    let mut rng = Pcg64Mcg::seed_from_u64(5);
    let mut changes = 0;
    for case in cases::<U>(30) {
        let count = case.program.count();
        let mut program = case
            .program
            .laid_out(&kept(count / 2..count.min(count / 2 + 6)));
        let mut left = 3000;
        loop {
            let simpler = program.simpler();
            if simpler.is_empty() {
                break;
            }
            for one in &simpler {
                assert_ne!(*one, program);
                one.check("simpler").unwrap();
            }
            program = simpler[rng.random_range(0..simpler.len())].clone();
            left -= 1;
            changes += 1;
            assert!(left > 0, "{}", program.to_text());
        }
    }
    assert!(changes > 100, "{changes}");
}
