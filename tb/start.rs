//! Cases that begin in a random legal state.

use std::fs;

use crate::common::rtl::Rtl as Folder;
use crate::common::{
    ROOT, Tested, arg, line_starting, mismatch, reconverge, reconverge_ends, text,
};
use bytemuck::bytes_of;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use reconverge::campaign;
use reconverge::case::{Case, Kind};
use reconverge::design::Control;
use reconverge::design::{Build, Golden};
use reconverge::dut::Rtl;
use reconverge::saved::{Savable as _, Saved};
use reconverge::start::Start;
use reconverge::unit::{Executor as _, Records, Verdict};
use reconverge::watch::Watch;

use reconverge::for_each_unit;

mod reached;

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        mod $module {
            crate::common::test_unit!(reconverge::$module::$unit:
                random_states_are_legal_and_reach_the_limits,
                a_case_begins_in_the_state_that_it_says,
                a_saved_case_keeps_its_states_and_one_that_cannot_be_is_refused,
                states_become_simpler_until_they_are_gone,
            );
        }
    )+};
}
for_each_unit!(tests);

/// Seeded cases of a campaign.
fn seeded<U: Tested>(count: usize) -> impl Iterator<Item = Case<U>> {
    (0..)
        .map(|n| campaign::case::<U>(1, n, &Build::from(U::LANES)))
        .filter(|(kind, _)| *kind == Kind::Seeded)
        .map(|(_, case)| case)
        .take(count)
}

/// The state in which `start` begins, behind the launch of `case`; `None` if nothing runs then.
fn begun<U: Tested>(case: &Case<U>, start: &U::Start) -> Option<U::State> {
    let mut golden = case.golden();
    golden.cycle(&U::In::reset());
    for pins in U::setup(&case.program) {
        golden.cycle(&pins);
    }
    golden.cycle(&U::launch(case, None));
    if !U::running(golden.state()) {
        return None;
    }
    for state in start.states(&case.build(), golden.state()) {
        golden.load(&state);
        assert_eq!(bytes_of(golden.state()), bytes_of(&state), "{start:?}");
    }
    Some(*golden.state())
}

fn random_states_are_legal_and_reach_the_limits<U: Tested>() {
    let mut reached = vec![(false, false); U::LIMITS.len()];
    let mut states = 0;
    for case in seeded::<U>(100) {
        assert!(case.start.len() > 1);
        case.check_input("seeded").unwrap();
        let lanes: Vec<usize> = (0..case.lanes as usize).collect();
        for start in &case.start {
            assert_eq!(start.of_lanes(&lanes), *start);
            assert_eq!(start.led(|address| address), *start);
            let Some(state) = begun(&case, start) else {
                continue;
            };
            states += 1;
            for ((name, limit), (least, most)) in U::LIMITS.iter().zip(&mut reached) {
                let field = U::fields().iter().find(|f| f.name == *name).unwrap();
                for element in 0..field.elements(lanes.len()) {
                    let value = field.get(bytes_of(&state), element);
                    assert!(value <= *limit, "{name} {value}: {start:?}");
                    *least |= value == 0;
                    *most |= value == *limit;
                }
            }
        }
    }
    assert!(states > 1000, "{states}");
    for ((name, _), (least, most)) in U::LIMITS.iter().zip(reached) {
        assert!(least && most, "{name}: at 0 {least}, at its limit {most}");
    }
}

/// Every state of a run.
struct States<U: Tested>(Vec<U::State>);

impl<U: Tested> Watch<U> for States<U> {
    fn before(&mut self, _: u64, _: &U::In, golden: &U::Golden) {
        self.0.push(*golden.state());
    }
    fn after(&mut self, _: u64, _: &U::In, _: &U::Golden) {}
}

/// On RTL and golden model, the cycle after the load and its effect are compared like any other. The scalar judge does not judge
/// a program that begins in the middle.
fn a_case_begins_in_the_state_that_it_says<U: Tested>() {
    let rtl = Rtl::<U>::own(U::LANES).unwrap();
    let mut dut = rtl.open(1).unwrap();
    let (mut begins, mut steps) = (0, 0);
    for mut case in seeded::<U>(40) {
        case.noise_cycles = None;
        case.max_steps = 100;
        let starts = std::mem::take(&mut case.start);
        for start in starts.into_iter().take(6) {
            case.start = vec![start];
            let Some(state) = begun(&case, &case.start[0]) else {
                continue;
            };
            let (mut states, mut records) = (States::<U>(Vec::new()), Records::default());
            let watch = &mut (&mut states, &mut records);
            let outcome = mismatch::agreed(&case, &mut dut, watch, "begun");
            assert!(states.0.iter().any(|s| bytes_of(s) == bytes_of(&state)));
            let verdict = records.judge(&case, &outcome.end);
            assert_eq!(
                verdict,
                Verdict::NotStructured("begins in the middle".to_owned())
            );
            begins += 1;
            steps += outcome.compared.steps;
        }
    }
    assert!(begins > 100 && steps > 300, "{begins} begun, {steps} steps");
}

fn a_saved_case_keeps_its_states_and_one_that_cannot_be_is_refused<U: Tested>() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("case.json");
    let case = seeded::<U>(9)
        .find(|case| case.launch_mask == u64::MAX >> (64 - case.lanes))
        .unwrap();
    let saved = Saved::<Case<U>> {
        failure: None,
        case,
    };
    let whole = saved.to_text();
    assert_eq!(Saved::<Case<U>>::parse(&whole, "case").unwrap(), saved);
    let replay = |text: &str| {
        fs::write(&path, text).unwrap();
        reconverge(&["replay", arg(&path), "--out", arg(dir.path())])
    };
    assert_eq!(replay(&whole).status.code(), Some(0));

    for bad in crate::common::changes::changes(&format!("{ROOT}/tb/{}/bad_starts.txt", U::NAME)) {
        let (place, value, why) = (&bad.file, &bad.from, &bad.expected);
        let mut json: serde_json::Value = serde_json::from_str(&whole).unwrap();
        // Nothing pushed, every lane ACTIVE: each change alone is an error.
        let start = json.pointer_mut("/case/start/0").unwrap();
        for (name, part) in start.as_object_mut().unwrap() {
            match part.as_array_mut() {
                Some(lanes) if name == "lanes" => {
                    let counted = lanes[0].is_array();
                    lanes.fill(if counted {
                        serde_json::json!([0, 0, 0])
                    } else {
                        0.into()
                    });
                }
                Some(pushed) => pushed.clear(),
                None => {}
            }
        }
        *start.pointer_mut(place).unwrap() = serde_json::from_str(value).unwrap();
        // r500: stacks exist in full mode.
        if let Some(mode) = json.pointer_mut("/case/program/regs/fc_ctrl") {
            *mode = (1u64 << 31).into();
        }
        let output = replay(&json.to_string());
        assert_eq!(output.status.code(), Some(2), "{place} {value}");
        let message = format!("error: {}: start[0].{why}\n", path.display());
        assert_eq!(text(&output.stderr), message, "{place} {value}");
    }
    // Names that do not exist.
    let output = replay(&whole.replacen("\"pc\"", "\"pcs\"", 1));
    assert_eq!(output.status.code(), Some(2));
}

fn states_become_simpler_until_they_are_gone<U: Tested>() {
    let mut rng = Pcg64Mcg::seed_from_u64(5);
    let mut changes = 0;
    for mut start in seeded::<U>(2).flat_map(|case| case.start) {
        for left in (0..3000).rev() {
            let simpler = start.simpler();
            if simpler.is_empty() {
                break;
            }
            assert!(simpler.iter().all(|one| *one != start) && left > 0);
            start = simpler[rng.random_range(0..simpler.len())].clone();
            changes += 1;
        }
    }
    assert!(changes > 50, "{changes}");
}

/// The bench itself: a load that forgets what lies deep in the stack is a mismatch, at the latest when it is
/// revealed.
#[test]
#[ignore = "many models or proofs; CI's step builds runs it"]
fn a_load_that_forgets_what_is_deep_in_the_stack_is_seen() {
    let bad = Folder::own("r700").copy();
    bad.change((
        "design.toml",
        "when = \"load_sp != load_base\"",
        "when = \"load_sp != load_base && load_sp > 10'd8\"",
    ));
    let out = bad.dir().join("out");
    let rtl = ["--rtl", bad.arg(), "--out", arg(&out)];
    let fuzz = ["fuzz", "r700", "--programs", "300", "--no-shrink"];
    let report = reconverge_ends(1, &[&fuzz[..], &rtl[..]].concat());
    let failed = line_starting(&report, "MISMATCH ");
    assert!(failed.starts_with("MISMATCH r700.seeded-"), "{failed}");
    // The dump of a run with loads shows the same failure.
    let replay = line_starting(&report, "replay ")
        .split_whitespace()
        .last()
        .unwrap();
    let again = reconverge_ends(1, &[&["replay", replay], &rtl[..]].concat());
    assert_eq!(line_starting(&again, "MISMATCH "), failed);
    reconverge_ends(
        0,
        &["replay", replay, "--rtl", "rtl/r700", "--out", arg(&out)],
    );
}
