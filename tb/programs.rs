//! Whole programs in lock-step, and the scalar judge: the repository's own, and random ones.

use std::fs;
use std::path::Path;

use crate::common::{
    self, Tested, arg, imported_programs, loaded, mismatch, own_programs, program, reconverge_ends,
};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use reconverge::campaign::{self, Limit, Options, Pace};
use reconverge::case::{Case, Conditions, Kind};
use reconverge::check::{Judges, TestCase, check};
use reconverge::cover::Model;
use reconverge::design::Design;
use reconverge::dut::{Dut, Rtl};
use reconverge::environment;
use reconverge::lockstep::Outcome;
use reconverge::place::Place;
use reconverge::saved::Saved;
use reconverge::unit::{LoadOptions, Programs, Records, Unit, Verdict};

use reconverge::for_each_unit;

macro_rules! tests {
    ($($module:ident $unit:ident [$($model:tt)+];)+) => {$(
        mod $module {
            crate::common::test_unit!(reconverge::$module::$unit:
                own_programs_agree_on_every_clock_and_with_the_scalar_judge,
                a_case_for_another_build_is_not_run,
                #[ignore = "takes long; CI's step builds runs it"]
                two_thousand_structured_programs_agree_with_the_scalar_judge,
                the_scalar_judge_sees_a_lane_that_strays,
                stalls_and_wait_states_change_no_step,
                a_recording_for_measurements_ends_at_every_pace,
            );
            crate::common::test_unit_with_models!($module reconverge::$module::$unit:
                any_number_of_lanes_runs,
                a_campaign_is_the_same_for_any_number_of_jobs,
            );
        }
    )+};
}
for_each_unit!(tests);

/// A model of our own RTL with `lanes` lanes.
fn dut<U: Unit>(lanes: u32) -> Dut<U> {
    Rtl::<U>::own(lanes).unwrap().open(1).unwrap()
}

/// Runs `case`, on which RTL and golden must agree.
fn agreed<U: Unit>(case: &Case<U>, dut: &mut Dut<U>, at: &str) -> (Outcome<U>, Records<U>) {
    let mut records = Records::default();
    let ran = mismatch::agreed(case, dut, &mut records, at);
    (ran, records)
}

/// Saves `case` in `dir` as one that failed like this.
fn save<U: Unit>(case: Case<U>, failure: Option<Place>, dir: &Path) {
    let saved = Saved { failure, case };
    fs::write(dir.join("saved.json"), saved.to_text()).unwrap();
}

/// Regression: a saved program whose run ends before its launch was a failure of RTL that is right, and one that the scalar machine
/// cannot judge was none.
#[test]
fn a_saved_program_is_judged_as_its_replay_is() {
    let rtl = Rtl::<R500>::own(R500::LANES).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let options = Options::default().cases(256).out(dir.path());
    let mut idle = Case::<R500>::new(loaded::<R500>("if_else.s"));
    idle.noise_cycles = Some(1);
    save(idle.clone(), None, dir.path());
    let file = dir.path().join("saved.json");
    let replayed = campaign::replay::<Case<R500>>(&file, &rtl).unwrap();
    let said = replayed.unwrap_err().to_string();
    assert!(said.contains("no program was launched"), "{said}");
    // One that failed before its launch has run as far as it needs to, if it reaches that cycle.
    for (cycle, reached) in [(0, true), (1, false)] {
        let mismatch = Place::Mismatch {
            cycle,
            field: "pc".to_owned(),
            element: 0,
        };
        save(idle.clone(), Some(mismatch), dir.path());
        let replayed = campaign::replay::<Case<R500>>(&file, &rtl).unwrap();
        match reached {
            true => assert_eq!(replayed.unwrap().compared.launches, 0),
            false => assert!(replayed.unwrap_err().to_string().contains("no program")),
        }
    }
    campaign::fuzz::<Case<R500>>(&rtl, &options).unwrap();

    let bytes = common::source::<R500>("mesa/17_nested_loops.txt");
    let loaded = R500::load(&bytes, "17_nested_loops.txt", &LoadOptions::default()).unwrap();
    let unclear = Case::<R500>::new(loaded.program);
    let how = "not structured".to_owned();
    save(
        unclear,
        Some(Place::ScalarJudge { lane: 0, how }),
        dir.path(),
    );
    let replayed = campaign::replay::<Case<R500>>(&file, &rtl).unwrap();
    let replayed = replayed.unwrap_err().to_string();
    assert!(replayed.starts_with("SCALAR JUDGE "), "{replayed}");
    let found = campaign::fuzz::<Case<R500>>(&rtl, &options).unwrap_err();
    assert_eq!(found.failure.to_string(), replayed);
    // Regression: nothing said that it is not of this campaign, nor how to get rid of it.
    let still = "saved.json still fails; delete it if the generator or the table of words was wrong when it was drawn\nprogram of ";
    assert!(found.text.contains(still), "{}", found.text);
    // Had it not failed as one that must be structured, it would agree.
    check(&*found.failure.case, &rtl).unwrap();
}

/// Regression: it read `--max-steps 18446744073709551615`, which `run` refuses.
#[test]
fn a_case_without_a_limit_is_described_without_one() {
    let mut case = Case::<R500>::new(loaded::<R500>("if_else.s"));
    (case.max_steps, case.noise_cycles) = (u64::MAX, Some(9));
    let described = "--lanes 16 --seed 1 --p16 8, 9 noisy cycles with launches and resets";
    assert_eq!(case.surroundings(), described);
}

/// RTL of another width would differ from the golden model without being wrong.
fn a_case_for_another_build_is_not_run<U: Tested>() {
    let rtl = Rtl::<U>::own(U::LANES).unwrap();
    let mut case = Case::<U>::new(loaded::<U>("if_else.s"));
    check(&case, &rtl).unwrap();
    (case.lanes, case.launch_mask) = (4, 0xf);
    let said = check(&case, &rtl).unwrap_err().to_string();
    let why = format!("the case is for 4 lanes, the RTL has {} lanes", U::LANES);
    assert!(
        said.starts_with("NOT RUN ") && said.contains(&why),
        "{said}"
    );
    let dir = tempfile::tempdir().unwrap();
    let dump = dir.path().join("x.vcd");
    let judged = TestCase::judge(&case, &rtl, Judges::All, Some((0, &dump)), &mut |_| ());
    assert_eq!(judged.err(), Some(why));
    assert!(!dump.exists());
}

/// Every program in every file, as it comes and with stalls.
fn own_programs_agree_on_every_clock_and_with_the_scalar_judge<U: Tested>() {
    let mut dut = dut::<U>(U::LANES);
    let files = [own_programs::<U>(), imported_programs::<U>()].concat();
    assert!(files.len() > 15);
    let (mut runs, mut judged_runs) = (0, 0);
    for file in files {
        let bytes = fs::read(&file).unwrap();
        let file = arg(&file);
        // What is not assembly may hold several.
        let count = U::list(&bytes, file).map_or(1, |list| list.len());
        for number in 1..=count {
            let options = LoadOptions {
                safe_loops: U::NAME == "r500",
                which: (count > 1).then(|| number.to_string()),
                ..LoadOptions::default()
            };
            let program = U::load(&bytes, file, &options).unwrap().program;
            for seed in 1..=U::SEEDS {
                for stall16 in [0, 5] {
                    let mut case = Case::<U>::new(program.clone());
                    (case.seed, case.stall16) = (seed, stall16);
                    let at = format!("{file} {number} seed {seed} stall16 {stall16}");
                    let (outcome, records) = agreed(&case, &mut dut, &at);
                    assert!(
                        outcome.compared.cycles > 2 && outcome.compared.launches == 1,
                        "{at}"
                    );
                    runs += 1;
                    let ran = (&outcome, &records);
                    let judged = mismatch::judged(&case, &dut, ran, U::unjudged(file), &at);
                    judged_runs += u32::from(judged.is_some());
                }
            }
        }
    }
    assert!(
        judged_runs > 600 && 20 * judged_runs > 19 * runs,
        "{judged_runs} of {runs} runs judged"
    );
}

/// Every construct for which the spec promises anything, 2,000 programs.
fn two_thousand_structured_programs_agree_with_the_scalar_judge<U: Tested>() {
    let mut duts: Vec<Dut<U>> = U::STRUCTURED.iter().map(|lanes| dut(*lanes)).collect();
    let mut rng = Pcg64Mcg::seed_from_u64(20_000);
    let mut constructs = vec![0u32; U::CONSTRUCTS.len()];
    let (mut lanes_compared, mut instructions_compared) = (0u64, 0u64);
    for n in 0..2_000 {
        let mut case = Case::<U>::new(U::generate(Kind::Structured, &mut rng));
        let model = n as usize % duts.len();
        case.lanes = U::STRUCTURED[model];
        case.seed = n + 1;
        case.conditions = Conditions::Drawn {
            p16: [2, 8, 14][n as usize % 3],
        };
        case.launch_mask = u64::MAX >> (64 - case.lanes);
        // In a fourth of them, not all lanes are launched.
        if (n as usize / duts.len()).is_multiple_of(4) {
            case.launch_mask &= environment::draw_word(7, 0, n);
        }
        let at = format!("program {n}");
        let (outcome, records) = agreed(&case, &mut duts[model], &at);
        let mut pcs: Vec<u32> = records.records.iter().map(|r| r.pc).collect();
        pcs.sort_unstable();
        pcs.dedup();
        let has = U::constructs(&case.program, &pcs);
        assert_eq!(has.len(), constructs.len());
        for (count, has) in constructs.iter_mut().zip(has) {
            *count += u32::from(has);
        }
        let ran = (&outcome, &records);
        let judged = mismatch::judged(&case, &duts[model], ran, false, &at);
        let (lanes, instructions) = judged.unwrap();
        lanes_compared += u64::from(lanes);
        instructions_compared += instructions;
        assert_eq!(U::outcome(&outcome.end), "done", "program {n} ends");
    }
    let rare: Vec<_> = U::CONSTRUCTS
        .iter()
        .zip(&constructs)
        .filter(|(_, n)| **n <= 50)
        .collect();
    assert!(rare.is_empty(), "in 50 programs or less: {rare:?}");
    assert!(
        lanes_compared > 20_000 && instructions_compared > 200_000,
        "{lanes_compared} lanes, {instructions_compared} instructions compared"
    );
}

/// The judge itself can fail: an instruction that a lane did not execute, one too many, another aL.
fn the_scalar_judge_sees_a_lane_that_strays<U: Tested>() {
    let mut case = Case::<U>::new(loaded::<U>(U::IF_ELSE));
    case.seed = 5;
    let (outcome, records) = agreed(&case, &mut dut(case.lanes), "if and else");
    let scalar = U::SCALAR.unwrap();
    let judge = |records: &[_]| scalar(&case, records, &outcome.end);
    assert!(matches!(
        judge(&records.records),
        Verdict::Agrees { lanes, .. } if lanes == U::LANES
    ));
    let at = records
        .records
        .iter()
        .position(|r| r.executes != 0 && r.executes != case.launch_mask)
        .unwrap();
    for change in 0..4 {
        if change == 1 && !U::CONTEXT {
            continue;
        }
        let mut strayed = records.records.clone();
        match change {
            0 => strayed[at].executes ^= 1,
            1 => strayed[at].context ^= 1,
            2 => strayed[at].pc += 1,
            _ => drop(strayed.remove(at)),
        }
        assert!(
            matches!(judge(&strayed), Verdict::Disagrees { .. }),
            "change {change}"
        );
    }
}

/// Regression: without noise a program that waits for an instruction waited for ever, and its recording took all memory.
fn a_recording_for_measurements_ends_at_every_pace<U: Tested>() {
    for pace in [Pace::Campaign, Pace::Busy, Pace::NoNoise] {
        let pins = campaign::recorded::<U>(1, &U::LANES.into(), 40_000, pace);
        assert_eq!(pins.len(), 40_000);
    }
}

/// The same seed gives the same campaign for any number of jobs.
fn a_campaign_is_the_same_for_any_number_of_jobs<U: Tested>() {
    let rtl = Rtl::<U>::own(U::LANES).unwrap();
    let bins = Model::new(rtl.build());
    let mut summaries = Vec::new();
    for jobs in [1, 3] {
        let options = Options {
            seed: 1,
            limit: Limit::Cycles(150_000),
            jobs,
            ..Options::default()
        };
        let summary = mismatch::campaign(&options, &rtl);
        assert!(summary.compared.cycles >= 150_000);
        // Sums of several chunks are compared.
        assert!(summary.programs > campaign::CHUNK);
        let raw = summary.kinds["raw"].cycles;
        assert!(
            2 * raw >= summary.compared.cycles,
            "{raw} of {} cycles are raw",
            summary.compared.cycles
        );
        summaries.push(summary.to_json(&options, &bins));
    }
    assert_eq!(summaries[0], summaries[1]);

    // One program does not meet everything.
    let options = Options {
        seed: 1,
        limit: Limit::Programs(1),
        jobs: 1,
        ..Options::default()
    };
    let summary = mismatch::campaign(&options, &rtl);
    assert_eq!(summary.programs, 1);
    assert!(bins.never_met(&summary.bins).len() > 3);
}

/// Stalls change when things happen and nothing else.
fn stalls_and_wait_states_change_no_step<U: Tested>() {
    let mut rng = Pcg64Mcg::seed_from_u64(3);
    let mut dut = dut::<U>(U::LANES);
    for n in 0..200 {
        let mut case = Case::<U>::new(U::generate(Kind::Structured, &mut rng));
        case.seed = n + 1;
        let mut traces = Vec::new();
        for stall16 in [0, 5, 15] {
            case.stall16 = stall16;
            let at = format!("program {n} stall16 {stall16}");
            let (outcome, records) = agreed(&case, &mut dut, &at);
            traces.push((records.records, outcome.end));
        }
        assert!(traces.iter().all(|t| *t == traces[0]), "program {n}");
    }
}

/// Other lane counts than the linked ones are built on demand.
fn any_number_of_lanes_runs<U: Tested>() {
    let program = program::<U>(U::LONG);
    for (lanes, said) in [
        ("1", ", 1 lane\n"),
        ("33", ", 33 lanes\n"),
        ("64", ", 64 lanes\n"),
    ] {
        let text = reconverge_ends(0, &["run", U::NAME, &program, "--lanes", lanes]);
        assert!(text.contains(said), "{text}");
    }
}

// ---- r500 -------------------------------------------------------------------------------------------

use reconverge::r500::R500;
use reconverge::r500::scalar::Scalar;

/// r500-O29: with Mesa's own LOOP word the scalar judge refuses to promise anything.
#[test]
fn mesa_s_loop_word_is_outside_of_what_the_scalar_judge_can_tell() {
    let bytes = common::source::<R500>("mesa/17_nested_loops.txt");
    let loaded = R500::load(&bytes, "17_nested_loops.txt", &LoadOptions::default()).unwrap();
    assert!(
        loaded.warnings.iter().any(|w| w.contains("LOOP")),
        "{:?}",
        loaded.warnings
    );
    assert!(Scalar::new(&loaded.program).is_err());
}

// ---- r700 -------------------------------------------------------------------------------------------

use reconverge::r700::R700;
use reconverge::watch::Watch;

/// The most sub-entries that the stack had to have room for, the two for the masks included (r700-3.4-e).
struct Deepest(u32);

impl Watch<R700> for Deepest {
    fn before(&mut self, _: u64, _: &<R700 as Design>::In, _: &<R700 as Design>::Golden) {}
    fn after(&mut self, _: u64, _: &<R700 as Design>::In, golden: &<R700 as Design>::Golden) {
        let state = golden.state();
        self.0 = self
            .0
            .max(u32::from(state.sp) + if state.nb > 0 { 2 } else { 0 });
    }
}

/// Every function of every object ends, within the stack that its compiler declared for it; and nearly all
/// of them need all of it, so this is the compiler's own count (r700-O30).
#[test]
fn compiled_programs_need_the_stack_that_their_compiler_declared() {
    let mut dut = dut::<R700>(64);
    let (mut functions, mut all_of_it) = (0, 0);
    let objects = imported_programs::<R700>().into_iter();
    for file in objects.filter(|file| file.extension().is_some_and(|x| x == "o")) {
        let bytes = fs::read(&file).unwrap();
        for number in 1..=R700::list(&bytes, arg(&file)).unwrap().len() {
            let options = LoadOptions {
                which: Some(number.to_string()),
                ..LoadOptions::default()
            };
            let program = R700::load(&bytes, arg(&file), &options).unwrap().program;
            let declared = 4 * u32::from(program.regs.stack_size);
            let mut deepest = Deepest(0);
            for seed in 1..=10 {
                let mut case = Case::<R700>::new(program.clone());
                case.seed = seed;
                let at = format!("{} {number} seed {seed}", file.display());
                let outcome = mismatch::agreed(&case, &mut dut, &mut deepest, &at);
                assert_eq!(R700::outcome(&outcome.end), "done", "{at}");
                assert!(deepest.0 <= declared, "{at}: {} of {declared}", deepest.0);
            }
            functions += 1;
            all_of_it += u32::from(deepest.0.next_multiple_of(4) == declared);
        }
    }
    println!("{all_of_it} of {functions}");
    assert!(
        functions >= 40 && 10 * all_of_it >= 9 * functions,
        "{all_of_it} of {functions}"
    );
}

/// The shaders that Mesa's r600 driver compiled end, but for those that only a CALL_FS can enter; none needs more stack
/// than the driver counted, and loops are continued in the two with loops.
#[test]
fn shaders_of_mesa_for_r700_end_within_their_stack() {
    shaders_of_mesa_for_r700(64);
}

fn shaders_of_mesa_for_r700(lanes: u32) {
    const SHADERS: [&str; 8] = [
        "loops.fetch",
        "loops.fragment",
        "loops.vertex",
        "strips.copy",
        "strips.fetch",
        "strips.fragment",
        "strips.geometry",
        "strips.vertex",
    ];
    const LOOP_CONTINUE: u32 = 8;
    let mut dut = dut::<R700>(lanes);
    for name in SHADERS {
        let file = format!("mesa/{name}.hex");
        let options = LoadOptions::default();
        let loaded = R700::load(&common::source::<R700>(&file), &file, &options).unwrap();
        let program = loaded.program;
        let declared = 4 * u32::from(program.regs.stack_size);
        let (mut deepest, mut continues) = (Deepest(0), 0);
        for (seed, stall16) in (1..=20).flat_map(|seed| [(seed, 0), (seed, 5)]) {
            let at = format!("{name} seed {seed} stall16 {stall16}");
            let mut case = Case::<R700>::new(program.clone());
            (case.seed, case.stall16) = (seed, stall16);
            (case.lanes, case.launch_mask) = (lanes, u64::MAX >> (64 - lanes));
            let mut watches = (Records::default(), &mut deepest);
            let outcome = mismatch::agreed(&case, &mut dut, &mut watches, &at);
            let (records, _) = watches;
            mismatch::judged(&case, &dut, (&outcome, &records), false, &at);
            let alone = name.ends_with("fetch");
            let end = if alone { "error 5 NO_CALL" } else { "done" };
            assert_eq!(R700::outcome(&outcome.end), end, "{at}");
            assert_eq!(
                R700::remark(&program, &outcome.end).is_some(),
                alone,
                "{at}"
            );
            let executed = records.records.iter().map(|r| program.quads[r.pc as usize]);
            continues += executed
                .filter(|q| q.dw1 >> 23 & 127 == LOOP_CONTINUE)
                .count();
        }
        let deepest = deepest.0;
        assert!(deepest <= declared, "{name}: {deepest} of {declared}");
        let loops = matches!(name, "loops.fragment" | "strips.geometry");
        assert!(
            !loops || deepest.next_multiple_of(4) == declared,
            "{name}: {deepest}"
        );
        assert_eq!(continues > 100, loops, "{name}: {continues} LOOP_CONTINUE");
    }
}

/// All that compilers made for r700, every function of an object and every shader, with 32 and with 64 lanes. Of spa5:
/// `spa5::compiled::what_compilers_made_ends_and_jumps_where_its_compiler_says`.
#[test]
#[ignore = "a minute; CI's step builds runs it"]
fn what_compilers_made_for_r700_agrees_in_every_build() {
    let (mut runs, mut functions) = (0, 0);
    for lanes in [32, 64] {
        shaders_of_mesa_for_r700(lanes);
        let mut dut = dut::<R700>(lanes);
        for path in imported_programs::<R700>() {
            let (bytes, file) = (fs::read(&path).unwrap(), arg(&path));
            let count = R700::list(&bytes, file).unwrap().len();
            functions += count;
            for number in 1..=count {
                let options = LoadOptions {
                    which: Some(number.to_string()),
                    ..LoadOptions::default()
                };
                let program = R700::load(&bytes, file, &options).unwrap().program;
                for (seed, stall16) in (1..=20).flat_map(|seed| [(seed, 0), (seed, 5)]) {
                    let at = format!("{file} {number} {lanes} lanes seed {seed} stall16 {stall16}");
                    let mut case = Case::<R700>::new(program.clone());
                    (case.seed, case.stall16) = (seed, stall16);
                    (case.lanes, case.launch_mask) = (lanes, u64::MAX >> (64 - lanes));
                    let (outcome, records) = agreed(&case, &mut dut, &at);
                    assert_eq!(R700::outcome(&outcome.end), "done", "{at}");
                    mismatch::judged(&case, &dut, (&outcome, &records), false, &at);
                    runs += 1;
                }
            }
        }
    }
    println!("{runs} runs of {} functions", functions / 2);
    assert!(runs > 4000 && runs == 40 * functions, "{runs}");
}
