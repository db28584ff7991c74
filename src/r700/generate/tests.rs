//! Tests of the random programs. That structured ones are structured and end: `tb/programs.rs` and `tb/alone.rs`, for all units.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::super::isa::AluOp;
use super::super::scalar::{End, Scalar, Trace};
use super::*;
use crate::r700::isa::MemOp;
use reconverge_program::environment::{bit, draw_word};

const OVERFLOW: u16 = 1 << 7;

fn rng(seed: u64) -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(seed)
}

fn run(scalar: &Scalar, seed: u64, p16: u32) -> Trace {
    scalar.run(200_000, &mut |k| bit(draw_word(seed, 1, k), 0, p16))
}

/// The scalar machine's survey of all nestings finds that one entry fewer is not enough.
#[test]
fn stack_size_is_mostly_exact() {
    let (mut exact, mut full) = (0, 0);
    for seed in 1..=300 {
        let options = Options {
            // The accounting does not know which way a boolean leads or which CALL is too deep.
            uniform: false,
            calls: false,
            ..Options::ALL
        };
        let (mut p, constructs) = structured_of(&mut rng(seed), &options);
        full += u32::from(constructs.contains("full stack"));
        let Some(less) = p.regs.stack_size.checked_sub(1) else {
            continue;
        };
        p.regs.stack_size = less;
        let scalar = Scalar::new(&p, true).expect("a size does not change what lanes do");
        assert_eq!(scalar.possible_errors() & !OVERFLOW, 0, "seed {seed}");
        exact += u32::from(scalar.possible_errors() == OVERFLOW);
    }
    assert!((150..300).contains(&exact), "{exact} of 300 are exact");
    assert!(full >= 5, "{full} of 300 fill the stack");
}

/// A construct that a generator never makes is never tested.
#[test]
fn every_construct_occurs() {
    let mut seen = BTreeMap::new();
    let mut opcodes = BTreeSet::new();
    for seed in 1..=500 {
        // Without noise there is no unreachable code.
        let options = Options {
            noise: false,
            long1000: 50,
            ..Options::ALL
        };
        let (p, constructs) = structured_of(&mut rng(seed), &options);
        for construct in constructs {
            *seen.entry(construct).or_insert(0) += 1;
        }
        opcodes.extend(p.quads.iter().map(|q| match Word::decode(*q) {
            Word::Cf(cf) => cf.op.name(),
            Word::Mem(mem) => mem.op.name(),
            Word::Alu(alu) => alu.op.name(),
            Word::Reserved(..) => "reserved",
        }));
    }
    let missing = CONSTRUCTS.iter().filter(|name| !seen.contains_key(*name));
    assert_eq!(missing.collect::<Vec<_>>(), [&""; 0]);
    assert!(seen.keys().eq(CONSTRUCTS), "{seen:?}");
    assert!(seen.values().all(|n| *n >= 5), "{seen:?}");
    let legal = CfOp::ALL.iter().filter(|op| !op.is_illegal());
    let named = (legal.map(|op| op.name()))
        .chain(MemOp::ALL.iter().map(|op| op.name()))
        .chain(AluOp::ALL.iter().map(|op| op.name()));
    assert_eq!(opcodes, named.collect::<BTreeSet<_>>());
}

/// The long loop has the promised length, takes `aL` beyond 18 bits, and mostly has a loop inside.
#[test]
fn long_loops_are_long_and_bounded() {
    let mut inner = 0;
    let options = Options {
        long1000: 1000,
        limits16: 0,
        ..Options::ALL
    };
    for seed in 1..=40 {
        let (p, constructs) = structured_of(&mut rng(seed), &options);
        assert!(constructs.contains("count of thousands"), "seed {seed}");
        let scalar = Scalar::new(&p, true).expect("structured");
        assert_eq!(scalar.possible_errors(), 0, "seed {seed}");
        let t = run(&scalar, seed, 8);
        assert_eq!(t.end, End::Done, "seed {seed}");
        let farthest = |al: u32| (al as i32).unsigned_abs();
        let far = t.executed.iter().map(|(_, al)| farthest(*al)).max();
        assert!(far > Some(1 << 17), "seed {seed}: {far:?}");
        // Control instructions, two or three in each pass, are not counted.
        let n = t.executed.len();
        assert!((1100..20_000).contains(&n), "seed {seed}: {n} instructions");
        inner += u32::from(constructs.contains("loop in a loop"));
    }
    assert!((20..=40).contains(&inner), "{inner} of 40");
}

/// At its new place a program does the same as before, the words below it are zero unless they are the program in its old
/// place, and there are no more words than a program may have.
#[test]
fn raised_programs_do_the_same_higher_up() {
    let (mut moved, mut again, mut last) = (0, 0, 0);
    for seed in 1..=120 {
        let mut rng = rng(seed);
        let low = structured(&mut rng, &Options::ALL);
        let mut high = low.clone();
        raise(&mut rng, &mut high);
        assert!(high.quads.len() <= MAX_QUADS, "seed {seed}");
        last += u32::from(high.quads.len() == MAX_QUADS);
        let mut base = (high.quads.len() - low.quads.len()) as u32;
        let zeros = (base as usize).saturating_sub(2);
        let below = high.quads[..zeros].iter();
        assert!(below.cloned().all(|q| q == Quad::default()), "seed {seed}");
        if high.regs.entry as usize >= MAX_QUADS {
            assert_eq!(zeros, 0, "seed {seed}");
            again += 1;
            base = high.regs.entry / MAX_QUADS as u32 * MAX_QUADS as u32;
        }
        if base == 0 || high.regs.entry != low.regs.entry + base {
            continue;
        }
        moved += 1;
        let [low, high] = [&low, &high].map(|p| Scalar::new(p, true).expect("structured"));
        let [low, mut high] = [low, high].map(|s| run(&s, seed, 8));
        high.executed.iter_mut().for_each(|(pc, _)| *pc -= base);
        high.pc -= base;
        assert_eq!(low, high, "seed {seed}");
    }
    assert!(
        moved > 40 && again > 40 && last > 15,
        "{moved} moved, {again} seen again, {last} to the top"
    );
}

/// Checks the instructions of r700-8.2 with the fields given there.
#[test]
fn llvm_programs_have_llvm_s_words() {
    for seed in 1..=100 {
        let (p, _) = build(&mut rng(seed), &Options::LLVM).expect("fits at the first try");
        for quad in &p.quads {
            match Word::decode(*quad) {
                Word::Alu(alu) => {
                    let wanted = match alu.op {
                        AluOp::AluPushBefore => true,
                        AluOp::Alu | AluOp::AluPopAfter => false,
                        other => panic!("seed {seed}: {other:?}"),
                    };
                    assert_eq!(quad.u, wanted, "seed {seed}");
                }
                Word::Cf(cf) => {
                    let plain = (cf.cond, cf.vpm, cf.wqm, cf.cf_const, cf.call_count);
                    assert_eq!(plain, (Cond::Active, false, false, 0, 0), "seed {seed}");
                    let known = matches!(
                        cf.op,
                        CfOp::Jump
                            | CfOp::Pop
                            | CfOp::Else
                            | CfOp::LoopBreak
                            | CfOp::LoopStartDx10
                            | CfOp::LoopEnd
                    );
                    assert!(known || SLOTS.contains(&cf.op), "seed {seed}: {cf:?}");
                }
                Word::Mem(_) => {}
                Word::Reserved(..) => panic!("seed {seed}: {quad:?}"),
            }
        }
    }
}

/// Noise is in every word, and no lane notices. A CALL by a boolean has only a few bits for
/// it, which sometimes keep their values.
#[test]
fn noise_changes_nothing() {
    let (mut words, mut same) = (0, 0);
    for seed in 1..=200 {
        let mut rng = rng(seed);
        let options = Options {
            noise: false,
            ..Options::ALL
        };
        let (plain, _) = build(&mut rng, &options).expect("fits at the first try");
        let mut noisy = plain.clone();
        add_noise(&mut rng, &mut noisy);
        words += plain.quads.len();
        let pairs = plain.quads.iter().zip(&noisy.quads);
        same += pairs.filter(|(p, n)| p == n).count();
        let [plain, noisy] = [&plain, &noisy].map(|p| Scalar::new(p, true).expect("structured"));
        for p16 in [4, 12] {
            assert_eq!(
                run(&plain, seed, p16),
                run(&noisy, seed, p16),
                "seed {seed}"
            );
        }
    }
    assert!(same * 2000 < words, "{same} of {words} words are the same");
}

/// u belongs to ALU clauses, and is nowhere else.
#[test]
fn u_is_on_alu_instructions_only() {
    for seed in 1..=100 {
        let mut rng = rng(seed);
        let options = Options::random(&mut rng);
        for p in [
            structured(&mut rng, &options),
            near_legal(&mut rng, Target::DEFAULT),
            raw(&mut rng),
        ] {
            assert!(
                p.quads.iter().all(|q| !q.u || q.dw1 >> 29 & 1 == 1),
                "seed {seed}"
            );
        }
    }
}
