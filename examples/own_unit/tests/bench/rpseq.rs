//! Programs through RTL, golden model and scalar judge.

use own_unit::rpseq::{Code, Golden, In, Program, RpSeq, rtl};
use reconverge::assembly::Assembly as _;
use reconverge::campaign::{Options, found, fuzz, replay};
use reconverge::case::Case;
use reconverge::check::check;
use reconverge::cover::Model;
use reconverge::design::{Build, Golden as _};
use reconverge::dut::Rtl;
use reconverge::instructions::{Instructions as _, wrong_edits};
use reconverge::judges::Scalar;
use reconverge::mutate::{self, Family, by_campaign};
use reconverge::words::wrong_rows;

use crate::common;

#[test]
fn each_lane_of_a_program_does_what_it_does_alone() {
    let text = "SSY out\n again: BR leave\n ALU\n YIELD\n JMP again\n leave: JOIN\n out: END\n";
    let program = Program::assemble(text, "loop.s").unwrap();
    let case = Case::<RpSeq>::new(program);
    let rtl = Rtl::of(8, &rtl()).unwrap();
    let out = env!("CARGO_TARGET_TMPDIR");
    let agreed = check(&case, &rtl)
        .map_err(|failure| found(failure, &rtl, &Options::default().out(out)))
        .unwrap();
    assert!(matches!(agreed.scalar, Scalar::Agrees { lanes: 8, .. }));
    assert_eq!(agreed.end.done, 1);
}

#[test]
fn all_judges_agree_on_random_programs_and_every_bin_is_met() {
    for (lanes, depth) in [(8, 4), (33, 7)] {
        let mut build = Build::from(lanes);
        if depth != 4 {
            build.parameters.insert("DEPTH".to_owned(), depth);
        }
        let rtl = Rtl::<RpSeq>::of(build, &rtl()).unwrap();
        let options = Options::default().out(env!("CARGO_TARGET_TMPDIR"));
        let met = fuzz::<Case<RpSeq>>(&rtl, &options).unwrap();
        let bins = Model::<RpSeq>::new(rtl.build());
        println!("{:?}\n{:?}", met.outcomes, bins.overview(&met.bins));
        assert!(met.judged.programs > 100, "{:?}", met.judged);
        assert_eq!(bins.impossible(&met.bins), [""; 0]);
        assert!(depth != 4 || bins.missing(&met.bins).is_empty());
    }
}

#[test]
fn programs_are_assembled_and_edited_as_the_bench_needs_it() {
    let program = Program::assemble("SSY 3\nBR 2\nJOIN\nEND\n.word 0x61234\n", "edited.s").unwrap();
    assert_eq!(wrong_edits(&program), [""; 0]);
}

#[test]
fn a_mistake_in_the_rtl_is_reported_with_a_short_program_that_replays() {
    let wrong = ("op == Br ? stays : active_q", "active_q");
    let dir = common::planted("rpseq/rpseq.sv", &[wrong]);
    let wrong = Rtl::<RpSeq>::of(8, &dir.path().join("rpseq")).unwrap();
    let out = dir.path().join("failures");
    let options = Options::default().out(&out);
    let found = common::found::<Case<RpSeq>>("BR keeps its lanes", &wrong, &options);
    assert!(found.failure.case.program.count() <= 2, "{found}");

    let saved = found.saved.as_ref().unwrap();
    let right = Rtl::of(8, &rtl()).unwrap();
    replay::<Case<RpSeq>>(saved, &right).unwrap().unwrap();
    for file in ["vcd", "gtkw"] {
        assert!(saved.with_extension(file).metadata().unwrap().len() > 0);
    }
}

/// The golden model after a launch of lanes 3:0 and these words. Lanes 0 and 2 have the condition 1.
fn after(words: &[u32]) -> Golden {
    let mut golden = Golden::build(&Build::from(4));
    let launch = In {
        launch: 1,
        lanes: 0b1111,
        ..In::default()
    };
    let inst = |inst: &u32| In {
        inst: *inst,
        inst_valid: 1,
        cond: 0b0101,
        ..In::default()
    };
    for pins in [In::reset(), launch]
        .into_iter()
        .chain(words.iter().map(inst))
    {
        golden.cycle(&pins);
    }
    golden
}

/// Two states tell all instructions apart: nothing on the stack, and two entries.
#[test]
fn the_golden_model_reads_every_word_as_the_table_says() {
    let states = ["ALU", "SSY 9\nBR 7"].map(|text| {
        let program = Program::assemble(text, "state.s").unwrap();
        after(&program.words)
    });
    let wrong = wrong_rows::<Code, _>(|word| {
        states.clone().map(|mut golden| {
            let pins = In {
                inst: word,
                inst_valid: 1,
                cond: 0b0100,
                ..In::default()
            };
            *golden.cycle(&pins)
        })
    });
    assert_eq!(wrong, [""; 0]);
}

/// What section rpseq-3 says of each instruction, behind an SSY to 9 at address 0: address, active lanes, entries on
/// the stack.
#[test]
fn each_mnemonic_does_what_the_specification_says_of_it() {
    let behind = |text: &str| {
        let program = Program::assemble(&format!("SSY 9\n{text}"), "does.s").unwrap();
        let state = *after(&program.words).state();
        (state.pc, state.active, state.level)
    };
    for (text, expected) in [
        ("ALU", (2, 0b1111, 1)),
        ("SSY 5", (2, 0b1111, 2)),
        ("BR 5", (5, 0b0101, 2)),
        ("BR 5\nYIELD", (2, 0b1010, 2)),
        ("JOIN", (9, 0b1111, 0)),
        ("JMP 5", (5, 0b1111, 1)),
    ] {
        assert_eq!(behind(text), expected, "{text}");
    }
    let end = Program::assemble("END", "end.s").unwrap();
    assert_eq!(after(&end.words).state().done, 1);
}

/// How many mutants of a family are caught by programs, missed, proved equivalent, undecided.
fn judged(family: Family, count: Option<usize>) -> [usize; 4] {
    let options = mutate::Options {
        family,
        count,
        ..mutate::Options::new(rtl(), env!("CARGO_TARGET_TMPDIR"))
    };
    let summary = by_campaign::<Case<RpSeq>>(&options, &Build::from(8)).unwrap();
    println!("{summary}");
    summary.counts().all()
}

#[test]
fn programs_catch_every_mutant_of_the_text() {
    let [caught, others @ ..] = judged(Family::Source, None);
    assert!(caught > 200, "{caught}");
    assert_eq!(others, [0; 3], "missed, equivalent, undecided");
}

#[test]
fn what_programs_do_not_catch_in_the_netlist_is_proved_equivalent() {
    let [caught, missed, equivalent, undecided] = judged(Family::Netlist, Some(60));
    assert!(caught >= 40 && equivalent > 0, "{caught} {equivalent}");
    assert_eq!([missed, undecided], [0, 0]);
}
