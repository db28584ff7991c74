//! Whole programs in lock-step, and the scalar judge: the repository's own, and random ones.

use std::fs;
use std::path::{Path, PathBuf};

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use reconverge::campaign::{self, Limit, Options};
use reconverge::case::{Case, Conditions};
use reconverge::dut::{Dut, Rtl};
use reconverge::environment;
use reconverge::lockstep::{self, Outcome};
use reconverge::r500::R500;
use reconverge::r500::asm::assemble;
use reconverge::r500::generate;
use reconverge::r500::golden::Golden;
use reconverge::r500::scalar::Scalar;
use reconverge::unit::{LoadOptions, Records, Seen, Unit, Verdict};

fn run(case: &Case<R500>, dut: &mut Dut<R500>) -> (Outcome<R500>, Verdict) {
    let mut records = Records::default();
    let mut golden = Golden::new(case.lanes as usize);
    let outcome = lockstep::run(case, dut, &mut golden, &mut records);
    let verdict = R500::judge(case, &records.records, &outcome.end);
    (outcome, verdict)
}

fn own_programs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tb/programs/r500");
    let mut files: Vec<PathBuf> = [root.clone(), root.join("mesa")]
        .iter()
        .flat_map(|dir| fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()))
        .filter(|p| {
            p.extension()
                .is_some_and(|x| x == "s" || x == "log" || x == "txt")
        })
        .collect();
    files.sort();
    files
}

#[test]
fn own_programs_agree_on_every_clock_and_with_the_scalar_judge() {
    let rtl = Rtl::<R500>::own(16).unwrap();
    let mut dut = rtl.open(1).unwrap();
    let files = own_programs();
    assert!(files.len() > 15);
    let mut judged = 0;
    for file in files {
        let name = file.display().to_string();
        let options = LoadOptions {
            safe_loops: true,
            which: None,
        };
        let program = R500::load(&fs::read(&file).unwrap(), &name, &options)
            .unwrap()
            .program;
        for seed in 1..=20 {
            for stall16 in [0, 5] {
                let mut case = Case::<R500>::new(program.clone());
                (case.seed, case.stall16) = (seed, stall16);
                let (outcome, verdict) = run(&case, &mut dut);
                let at = format!("{name} seed {seed} stall16 {stall16}");
                assert!(
                    outcome.mismatch.is_none(),
                    "{at}: {:?}",
                    outcome.mismatch.map(|m| m.diffs)
                );
                assert!(
                    outcome.compared.clocks > 2 && outcome.compared.launches == 1,
                    "{at}"
                );
                match verdict {
                    Verdict::Agrees { lanes: 16, .. } => judged += 1,
                    Verdict::NotStructured(_) if name.ends_with("manual_terms.s") => {}
                    other => panic!("{at}: {other:?}"),
                }
            }
        }
    }
    assert!(judged > 600, "{judged} runs judged");
}

/// Spec O29: with Mesa's own LOOP word the scalar judge refuses to promise anything.
#[test]
fn mesa_s_loop_word_is_outside_of_what_the_scalar_judge_can_tell() {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tb/programs/r500/mesa/17_nested_loops.txt");
    let bytes = fs::read(file).unwrap();
    let loaded = R500::load(&bytes, "17_nested_loops.txt", &LoadOptions::default()).unwrap();
    assert!(
        loaded.warnings.iter().any(|w| w.contains("LOOP")),
        "{:?}",
        loaded.warnings
    );
    assert!(Scalar::new(&loaded.program).is_err());
}

/// Every construct for which spec 8.1 promises anything, 20,000 programs.
#[test]
fn twenty_thousand_structured_programs_agree_with_the_scalar_judge() {
    let rtl = Rtl::<R500>::own(16).unwrap();
    let mut dut = rtl.open(1).unwrap();
    let mut rng = Pcg64Mcg::seed_from_u64(20_000);
    // How many programs hold a construct: OP 0..7, else, fused else-if, push, pop, predicates, booleans,
    // uncovered lanes left out, partial mode.
    let mut constructs = [0u32; 16];
    let (mut lanes_compared, mut instructions_compared) = (0u64, 0u64);
    for n in 0..20_000 {
        let options = generate::Options::random(&mut rng);
        let mut case = Case::<R500>::new(generate::structured(&mut rng, &options));
        case.seed = n + 1;
        case.conditions = Conditions::Drawn {
            p16: [2, 8, 14][n as usize % 3],
        };
        if n % 4 == 0 {
            case.launch_mask = environment::draw_word(7, 0, n) & 0xffff;
        }
        let mut has = [false; 16];
        for slot in case.program.slots.iter().filter(|s| s.cmn & 3 == 2) {
            has[slot.inst as usize & 7] = true;
            has[8] |= slot.inst >> 4 & 1 == 1;
            has[9] |= slot.inst >> 4 & 1 == 1 && slot.inst >> 8 & 0xff != 0;
            has[10] |= slot.inst >> 6 & 3 == 2;
            has[11] |= slot.inst >> 6 & 3 == 1;
            has[12] |= slot.cmn >> 3 & 7 != 0;
            has[13] |= matches!(slot.inst >> 8 & 0xff, 0x55 | 0xAA);
            has[14] |= slot.inst >> 28 & 1 == 1;
        }
        has[15] = !case.program.regs.full();
        for (count, has) in constructs.iter_mut().zip(has) {
            *count += u32::from(has);
        }
        let (outcome, verdict) = run(&case, &mut dut);
        assert!(
            outcome.mismatch.is_none(),
            "program {n}: {:?}",
            outcome.mismatch.map(|m| m.diffs)
        );
        match verdict {
            Verdict::Agrees {
                lanes,
                instructions,
            } => {
                lanes_compared += u64::from(lanes);
                instructions_compared += instructions;
            }
            other => panic!("program {n}: {other:?}\n{}", R500::to_text(&case.program)),
        }
        assert_eq!(outcome.end.done, 1, "program {n} ends");
    }
    assert!(
        constructs.iter().all(|n| *n > 500),
        "programs by construct: {constructs:?}"
    );
    assert!(lanes_compared > 200_000 && instructions_compared > 2_000_000);
}

/// The judge itself can fail: an instruction that a lane did not execute, one too many, another aL.
#[test]
fn the_scalar_judge_sees_a_lane_that_strays() {
    let program = assemble("IF alu\nALU\nELSE\nALU\nENDIF\nOUT\n", "t.s");
    let mut case =
        Case::<R500>::new(assemble("ALU\nIF alu\nALU\nELSE\nALU\nENDIF\nOUT\n", "t.s").unwrap());
    assert!(program.is_ok());
    case.seed = 5;
    let mut records = Records::default();
    let mut golden = Golden::new(16);
    let mut dut = Rtl::<R500>::own(16).unwrap().open(1).unwrap();
    let outcome = lockstep::run(&case, &mut dut, &mut golden, &mut records);
    let judge = |records: &[_]| R500::judge(&case, records, &outcome.end);
    assert!(matches!(
        judge(&records.records),
        Verdict::Agrees { lanes: 16, .. }
    ));
    let at = records
        .records
        .iter()
        .position(|r| r.executes != 0 && r.executes != 0xffff)
        .unwrap();
    for change in 0..3 {
        let mut strayed = records.records.clone();
        match change {
            0 => strayed[at].executes ^= 1,
            1 => strayed[at].context ^= 1,
            _ => drop(strayed.remove(at)),
        }
        assert!(
            matches!(judge(&strayed), Verdict::Disagrees { .. }),
            "change {change}"
        );
    }
}

/// The same seed gives the same campaign whatever the number of jobs, and meets everything.
#[test]
fn a_campaign_is_the_same_for_any_number_of_jobs_and_meets_everything() {
    let rtl = Rtl::<R500>::own(16).unwrap();
    let mut summaries = Vec::new();
    for jobs in [1, 3] {
        let options = Options {
            seed: 1,
            limit: Limit::Clocks(1_000_000),
            jobs,
            keep_going: false,
            rtl: None,
        };
        let summary = campaign::run(&options, &rtl, |_| {}).unwrap();
        assert!(summary.failures.is_empty());
        assert!(summary.compared.clocks >= 1_000_000);
        assert_eq!(summary.seen.missing(), Vec::<String>::new());
        let raw = summary.kinds["raw"].1;
        assert!(
            2 * raw >= summary.compared.clocks,
            "{raw} of {} clocks are raw",
            summary.compared.clocks
        );
        summaries.push(summary.to_json(&options));
    }
    assert_eq!(summaries[0], summaries[1]);
}

/// Stalls change when things happen and nothing else.
#[test]
fn stalls_and_wait_states_change_no_step() {
    let mut rng = Pcg64Mcg::seed_from_u64(3);
    let mut dut = Rtl::<R500>::own(16).unwrap().open(1).unwrap();
    for n in 0..200 {
        let options = generate::Options::random(&mut rng);
        let mut case = Case::<R500>::new(generate::structured(&mut rng, &options));
        case.seed = n + 1;
        let mut traces = Vec::new();
        for stall16 in [0, 5, 15] {
            case.stall16 = stall16;
            let mut records = Records::default();
            let outcome = lockstep::run(&case, &mut dut, &mut Golden::new(16), &mut records);
            assert!(outcome.mismatch.is_none());
            traces.push((records.records, outcome.end));
        }
        assert!(traces.iter().all(|t| *t == traces[0]), "program {n}");
    }
}

/// Other lane counts than the linked ones are built on demand.
#[test]
fn any_number_of_lanes_runs() {
    // Nothing else in this program reads the environment.
    let cache = concat!(env!("CARGO_TARGET_TMPDIR"), "/models");
    for lanes in ["1", "33", "64"] {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_reconverge"))
            .args([
                "run",
                "r500",
                "tb/programs/r500/loop_continue_break.s",
                "--lanes",
                lanes,
            ])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env("RECONVERGE_CACHE", cache)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(
            output.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(text.contains(&format!("{lanes} lanes")), "{text}");
    }
}
