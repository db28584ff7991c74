//! Tests of the judge.

use super::*;
use crate::spa5::asm::assemble;
use crate::spa5::golden::Golden;
use crate::spa5::program::{BUNDLE, Program};
use crate::spa5::state::{In, values::status::RUN};
use crate::unit::Records;
use reconverge_program::stimulus::golden_alone;
use reconverge_program::watch::Watch;

const X: u64 = 0x50b0_0000_0007_0f00;
const SYNC: u64 = 0xf0f8_0000_0007_000f;
const EXIT: u64 = 0xe300_0000_0007_000f;

/// Returns a case of four threads; rows: thread, k, condition bits.
fn case(bundles: u32, words: &[(u32, u64)], rows: &[(u32, u64, u16)]) -> Case<Spa5> {
    let mut program = Program {
        name: "test".to_owned(),
        prog_size: bundles * BUNDLE,
        words: [0, X, X, X].repeat(bundles as usize),
        ..Program::default()
    };
    for &(addr, word) in words {
        program.words[addr as usize / 8] = word;
    }
    let mut case = Case::new(program);
    let rows: Vec<_> = rows
        .iter()
        .map(|(lane, k, bits)| serde_json::json!({"lane": lane, "k": k, "bits": bits}))
        .collect();
    case.conditions = Conditions::Table(serde_json::from_value(rows.into()).expect("rows"));
    (case.lanes, case.launch_mask) = (4, 15);
    case.parameters = [("DEPTH".to_owned(), 64), ("BRX".to_owned(), 0)].into();
    case
}

fn records(list: &[(u32, u64)]) -> Vec<Record> {
    list.iter()
        .map(|&(pc, threads)| Record {
            pc,
            context: 0,
            executes: threads,
            counts: threads,
        })
        .collect()
}

/// The states before each step.
#[derive(Default)]
struct States(Vec<State>);

impl Watch<Spa5> for States {
    fn before(&mut self, _: u64, pins: &In, golden: &Golden) {
        let state = golden.state();
        if state.status == RUN && pins.inst_valid == 1 {
            self.0.push(*state);
        }
    }
    fn after(&mut self, _: u64, _: &In, _: &Golden) {}
}

/// Returns the example of spa5-7.3, with the same conditions at the places that use them, as the golden model runs it, which does what the
/// table of the example shows; the state before each step, and the one at the end.
fn example() -> (Case<Spa5>, Vec<Record>, Vec<State>, State) {
    let rows = [
        (0, 5, 2),
        (1, 2, 1),
        (1, 14, 2),
        (2, 14, 2),
        (3, 2, 1),
        (3, 5, 4),
        (3, 11, 2),
    ];
    let mut case = case(0, &[], &rows);
    let text = include_str!("../../../tb/spa5/programs/if_in_loop.s");
    case.program = assemble(text, "if_in_loop.s").expect("assembles");
    let mut watch = (Records::default(), States::default());
    golden_alone(&case, u64::MAX, &mut watch);
    let (records, States(states)) = watch;
    let end = State {
        status: DONE,
        exited: 15,
        pc: 0x98,
        ..State::default()
    };
    (case, records.records, states, end)
}

fn if_in_loop() -> (Case<Spa5>, Vec<Record>, State) {
    let (case, records, _, end) = example();
    assert_eq!(records.len(), 21);
    (case, records, end)
}

fn agrees(case: &Case<Spa5>, records: &[Record], end: &State) {
    let sum = records
        .iter()
        .map(|r| u64::from(r.executes.count_ones()))
        .sum();
    let verdict = Verdict::Agrees {
        lanes: case.launch_mask.count_ones(),
        instructions: sum,
    };
    assert_eq!(judge(case, records, end), verdict);
}

fn differs(case: &Case<Spa5>, records: &[Record], end: &State, lane: u32, words: &str) {
    match judge(case, records, end) {
        Verdict::Disagrees { lane: by, how } => {
            assert!(by == lane && how.contains(words), "thread {by}: {how}");
        }
        other => panic!("{other:?}, expected {words}"),
    }
}

#[test]
fn spec_7_3_agrees_as_far_as_it_is_run() {
    let (case, records, states, end) = example();
    agrees(&case, &records, &end);
    assert_eq!(states.len(), records.len());
    for (n, stopped) in states.iter().enumerate().skip(1) {
        agrees(&case, &records[..n], stopped);
    }
}

#[test]
fn threads_that_stray_are_seen() {
    let (case, records, end) = if_in_loop();
    // Each record with one thread more, or one thread less.
    for n in 0..records.len() {
        for lane in 0..4 {
            let mut changed = records.clone();
            changed[n].executes ^= 1 << lane;
            let verdict = judge(&case, &changed, &end);
            assert!(
                matches!(verdict, Verdict::Disagrees { .. }),
                "{n}, {lane}: {verdict:?}"
            );
        }
        let mut shorter = records.clone();
        shorter.remove(n);
        let verdict = judge(&case, &shorter, &end);
        assert!(
            matches!(verdict, Verdict::Disagrees { .. }),
            "{n}: {verdict:?}"
        );
    }
    let mut changed = records.clone();
    changed[8].executes = 13;
    let words = "instruction 7: 0x038 executed in the warp, 0x010 alone";
    differs(&case, &changed, &end, 3, words);
    changed[8].executes = 0;
    differs(&case, &changed, &end, 0, "0x038 executed by no thread");
    let mut more = records.clone();
    more.push(records[20]);
    differs(
        &case,
        &more,
        &end,
        0,
        "instruction 9: 0x098 executed in the warp, none alone",
    );
    let words = "17 instructions in the warp, alone it goes on at 0x098";
    let mut fewer = records.clone();
    fewer[20].executes = 13;
    differs(&case, &fewer, &end, 1, words);
}

#[test]
fn the_state_at_the_end_has_nothing_left() {
    let (case, records, end) = if_in_loop();
    type Change = fn(&mut State);
    let changes: [Change; 9] = [
        |s| s.active = 1,
        |s| s.exited = 31,
        |s| s.exited = 7,
        |s| s.d_brk = 1,
        |s| s.d_cont = 1,
        |s| s.d_ret = 1,
        |s| s.sp = 1,
        |s| s.vis = 1,
        |s| s.pc = 0x90,
    ];
    for change in changes {
        let mut end = end;
        change(&mut end);
        differs(
            &case,
            &records,
            &end,
            0,
            "at its end a thread, a token or a flag is left",
        );
    }
    let erring = State { err: 1, ..end };
    differs(&case, &records, &erring, 0, "do not go together");
}

#[test]
fn where_the_warp_stops_each_thread_runs_or_waits_as_it_must() {
    let (case, records, _) = if_in_loop();
    // After step 10: thread 2 runs, 0 has broken, 3 continued, 1 waits for its SSY token.
    let stopped = State {
        active: 4,
        pc: 0x50,
        d_brk: 1,
        d_cont: 8,
        sp: 3,
        ..State::default()
    };
    let at = |change: &dyn Fn(&mut State), lane, words: &str| {
        let mut end = stopped;
        change(&mut end);
        differs(&case, &records[..10], &end, lane, words);
    };
    agrees(&case, &records[..10], &stopped);
    at(&|s| s.active = 0, 0, "no thread is active");
    at(
        &|s| s.pc = 0x58,
        2,
        "instruction 7: 0x058 next in the warp, 0x050 alone",
    );
    at(
        &|s| s.active = 5,
        0,
        "instruction 7: 0x050 next in the warp, 0x090 alone",
    );
    at(&|s| s.active = 20, 4, "was never launched");
    at(
        &|s| s.d_brk = 0,
        0,
        "d_ret are [false, false, false, false] in the warp, which cannot be after Some(Leaves { kind: Pbk",
    );
    at(
        &|s| (s.d_cont, s.d_ret) = (0, 8),
        3,
        "[false, false, false, true] in the warp, which cannot be after Some(Leaves { kind: Pcnt",
    );
    at(&|s| s.d_brk = 3, 1, "[false, true, false, false]");
    at(&|s| s.exited = 2, 1, "[true, false, false, false]");
    at(&|s| s.sp = 2, 2, "3 tokens alone, 2 in the warp");
    at(
        &|s| s.sp = 5,
        2,
        "5 in the warp, where 1 threads may be deferred",
    );
    at(&|s| s.d_cont = 12, 2, "active is true and exited");
    // After step 5: 0 and 2 are deferred, and have no flag.
    let deferred = State {
        active: 10,
        pc: 0x58,
        d_brk: 4,
        sp: 4,
        ..State::default()
    };
    let words = "cannot be after Some(Passes)";
    differs(&case, &records[..5], &deferred, 2, words);
    let lost = State {
        active: 7,
        pc: 0x28,
        sp: 2,
        ..State::default()
    };
    differs(
        &case,
        &records[..3],
        &lost,
        3,
        "active is false and exited, d_brk, d_cont, d_ret are [false, false, false, false]",
    );
    // Nothing is checked in the middle of a step.
    let unwinding = State {
        status: UNWIND,
        ..State::default()
    };
    agrees(&case, &records[..10], &unwinding);
}

#[test]
fn threads_that_are_not_launched_execute_nothing() {
    let (mut case, records, end) = if_in_loop();
    case.launch_mask = 7;
    differs(
        &case,
        &records,
        &end,
        3,
        "0x008 executed in the warp, and was never launched",
    );
    let fewer: Vec<Record> = records
        .iter()
        .map(|r| Record {
            executes: r.executes & 7,
            ..*r
        })
        .collect();
    agrees(&case, &fewer, &end);
    case.launch_mask = 0;
    agrees(&case, &[], &State { pc: 8, ..end });
    // A launch of threads that do not exist, and of more threads than fit a mask.
    (case.lanes, case.launch_mask) = (2, u64::MAX);
    differs(&case, &records, &end, 2, "was never launched");
    (case.lanes, case.launch_mask) = (64, u64::MAX);
    differs(
        &case,
        &[],
        &State { pc: 8, ..end },
        0,
        "alone it goes on at 0x008",
    );
}

/// Returns the example of spa5-7.6, with P0 for thread 2.
fn cont_without_pcnt() -> (Case<Spa5>, Vec<Record>, State) {
    let words = [
        (0x10, 0xe2a0000001000000),
        (0x18, 0xe35000000000000f),
        (0x28, EXIT),
    ];
    let end = State {
        status: ERR,
        err: scalar::CONT_NO_PCNT,
        active: 15,
        pc: 0x18,
        sp: 1,
        ..State::default()
    };
    let records = records(&[(0x08, 15), (0x10, 15)]);
    (case(2, &words, &[(2, 0, 1)]), records, end)
}

#[test]
fn an_error_is_that_of_the_threads_that_take_the_instruction() {
    let (mut case, records, end) = cont_without_pcnt();
    agrees(&case, &records, &end);
    for err in (1..=15).filter(|err| *err != end.err) {
        let end = State { err, ..end };
        let lane = if err == scalar::STACK_OVERFLOW { 0 } else { 2 };
        differs(&case, &records, &end, lane, "");
    }
    let words =
        "instruction 2: error 2 BRK_NO_PBK at 0x018 in the warp, error 3 CONT_NO_PCNT alone";
    differs(&case, &records, &State { err: 2, ..end }, 2, words);
    // Executed although it fails.
    let mut more = records.clone();
    more.push(Record {
        pc: 0x18,
        ..records[0]
    });
    let words = "0x018 executed in the warp, error 3 CONT_NO_PCNT alone";
    differs(&case, &more, &end, 2, words);
    // No thread takes it.
    case.conditions = Conditions::Drawn { p16: 0 };
    differs(
        &case,
        &records,
        &end,
        0,
        "error 3 CONT_NO_PCNT at 0x018 in the warp, Stays alone",
    );
    // An error for all threads.
    case.program.words[3] = 0xe3f << 52;
    agrees(
        &case,
        &records,
        &State {
            err: scalar::ILLEGAL,
            ..end
        },
    );
    differs(&case, &records, &end, 0, "error 9 ILLEGAL alone");
    case.program.prog_size = 0;
    let end = State {
        err: scalar::PC_RANGE,
        pc: 8,
        sp: 0,
        ..end
    };
    agrees(&case, &[], &end);
}

/// Returns X, P0: BRA 0x28 or another `word`, on a unit with room for `depth` tokens.
fn full(word: u64, depth: u32, thread_0: u16) -> (Case<Spa5>, Vec<Record>, State) {
    let mut case = case(
        4,
        &[(0x08, 0xe290000000000000), (0x18, word)],
        &[(0, 1, thread_0)],
    );
    case.parameters.insert("DEPTH".to_owned(), depth);
    let end = State {
        status: ERR,
        err: scalar::STACK_OVERFLOW,
        active: 15,
        pc: 0x18,
        sp: 1,
        ..State::default()
    };
    (case, records(&[(0x08, 15), (0x10, 15)]), end)
}

#[test]
fn a_stack_overflows_where_something_is_pushed_onto_a_full_one() {
    const BRA: u64 = 0xe240_0000_0080_000f;
    const BRX: u64 = 0xe250_0000_0080_000f;
    let words = "error 5 STACK_OVERFLOW at 0x018 in the warp";
    let overflows = |word, thread_0, fits: bool| {
        let (mut case, records, end) = full(word, 1, thread_0);
        case.parameters.insert("BRX".to_owned(), 1);
        match fits {
            true => agrees(&case, &records, &end),
            false => {
                let verdict = judge(&case, &records, &end);
                assert!(
                    matches!(&verdict, Verdict::Disagrees { how, .. } if how.contains(words)),
                    "{word:016x}, {thread_0}: {verdict:?}"
                );
            }
        }
    };
    for set_up in [0xe29, 0xe2a, 0xe2b, 0xe27, 0xe26] {
        overflows(set_up << 52, 0, true);
        overflows(set_up << 52 | 4 << 20, 0, false);
    }
    // A branch that divides the threads, or not; .U never pushes; its target is checked first.
    overflows(BRA, 1, true);
    overflows(BRA, 0, false);
    overflows(BRA | 7 << 16, 1, false);
    overflows(BRA | 0x80, 1, false);
    overflows(BRA | 4 << 20, 1, false);
    // A BRX divides before it uses a target.
    overflows(BRX, 1, true);
    overflows(BRX | 4 << 20, 1, true);
    overflows(BRX, 0, false);
    overflows(BRX | 7 << 16, 1, false);
    // Leaving instructions and OTHER do not push.
    for word in [SYNC, SYNC & !0xf0000, EXIT & !0xf0000, X] {
        overflows(word, 1, false);
    }
    // The stack is not full.
    let (case, records, end) = full(BRA, 2, 1);
    differs(
        &case,
        &records,
        &end,
        0,
        "STACK_OVERFLOW with 1 tokens of 2",
    );
}

#[test]
fn of_a_brx_the_lowest_thread_has_the_error() {
    const BRX: u64 = 0xe250_0000_0007_000f;
    let (mut case, records, end) = full(BRX, 64, 0);
    case.conditions = Conditions::Drawn { p16: 8 };
    case.parameters.insert("BRX".to_owned(), 1);
    // Seed and targets for which thread 0 fails and another thread does not.
    let n = |seed, lane| draw_word(seed, lane, 1) >> 44 & 1;
    case.seed = (1..)
        .find(|seed| n(*seed, 0) == 1 && n(*seed, 1) == 0)
        .unwrap_or(1);
    case.program.targets.insert(0x18, vec![0x28, 0x400]);
    let err = scalar::TARGET_RANGE;
    agrees(&case, &records, &State { err, ..end });
    // Where its condition divides the threads, no target is used.
    let mut divides = case.clone();
    divides.program.words[3] ^= 7 << 16;
    divides.conditions =
        Conditions::Table(serde_json::from_str(r#"[{"lane":0,"k":1,"bits":1}]"#).expect("rows"));
    divides.program.targets.insert(0x18, vec![0x400]);
    differs(&divides, &records, &State { err, ..end }, 0, "error 7");
    // With a full stack it would also have been this error.
    case.parameters.insert("DEPTH".to_owned(), 1);
    differs(&case, &records, &end, 0, "error 7 TARGET_RANGE alone");
    case.program.targets.insert(0x18, vec![0x400, 0x28]);
    differs(&case, &records, &State { err, ..end }, 0, "Jumps");
    agrees(&case, &records, &end);
    // Thread 3 may be deferred before it, whatever it did last, but not before any other instruction.
    let waits = State {
        active: 7,
        status: 0,
        err: 0,
        sp: 2,
        ..end
    };
    agrees(&case, &records, &waits);
    let words = "which cannot be after Some(Computes)";
    case.program.words[3] = X;
    differs(&case, &records, &waits, 3, words);
    case.program.words[3] = BRX;
    // Without the option.
    let err = scalar::UNSUPPORTED;
    differs(
        &case,
        &records,
        &State { err, ..end },
        0,
        "error 10 UNSUPPORTED at 0x018",
    );
    case.parameters.insert("BRX".to_owned(), 0);
    agrees(&case, &records, &State { err, ..end });
}

#[test]
fn spec_o12_bra_u_on_which_threads_disagree_ends_the_comparison() {
    const BRA_U: u64 = 0xe240_0000_0080_008f;
    let (case, mut list, end) = full(BRA_U, 64, 1);
    let waits = State {
        status: 0,
        err: 0,
        ..end
    };
    // Not executed yet.
    agrees(&case, &list, &waits);
    list.push(Record {
        pc: 0x18,
        ..list[0]
    });
    let anything = State::default();
    let verdict = judge(&case, &list, &anything);
    assert!(
        matches!(&verdict, Verdict::NotStructured(why) if why.starts_with("0x018: a BRA.U")),
        "{verdict:?}"
    );
    // Whatever was wrong before is still wrong.
    let mut wrong = list.clone();
    wrong[1].executes = 14;
    differs(
        &case,
        &wrong,
        &anything,
        0,
        "0x018 executed in the warp, 0x010 alone",
    );
    // Where they agree, it is a BRA: no thread takes it, or all do.
    for (thread_0, condition, pc) in [(0, 0, 0x28), (1, 7 << 16, 0x28), (1, 15 << 16, 0x28)] {
        let (case, _, _) = full(BRA_U | condition, 64, thread_0);
        agrees(&case, &list, &State { pc, ..waits });
    }
    // An error of its target needs all of them.
    let (case, list, end) = full(BRA_U | 4 << 20, 64, 1);
    let err = scalar::TARGET_MISALIGNED;
    differs(&case, &list, &State { err, ..end }, 0, "error 8");
    let (case, list, end) = full(BRA_U | 7 << 16 | 4 << 20, 64, 1);
    agrees(&case, &list, &State { err, ..end });
}

#[test]
fn noise_enters_no_history() {
    let (mut case, records, end) = if_in_loop();
    case.noise_cycles = Some(1);
    assert!(matches!(
        judge(&case, &records, &end),
        Verdict::NotStructured(_)
    ));
    case.noise_cycles = None;
    case.conditions = Conditions::Noise;
    assert!(matches!(
        judge(&case, &records, &end),
        Verdict::NotStructured(_)
    ));
}
