//! Tests of the random programs. That structured ones are structured and end: `tb/programs.rs` and `tb/alone.rs`, for all units.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::super::isa::norm;
use super::super::scalar::{Draw, Scalar, Trace};
use super::structured::conditions::{TESTS, at_least, none_of};
use super::*;
use crate::spa5::isa::{Branch, Cond, Leave, Pred, SetUpOp, Target, Test, Word};
use reconverge_program::environment::{bits, draw_word};

const WITH_BRX: Options = Options {
    brx: true,
    ..Options::ALL
};

pub(super) fn rng(seed: u64) -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(seed)
}

/// Returns the draws of one thread.
pub(super) fn draws(seed: u64, p16: u32) -> impl Fn(u64) -> Draw {
    move |k| {
        let word = draw_word(seed, 1, k);
        Draw {
            bits: bits(word, 11, p16),
            word,
        }
    }
}

/// Runs one thread alone, with room for exactly the nesting of structured programs.
fn run(program: &Program, seed: u64, p16: u32) -> Trace {
    Scalar::new(program, NESTING as usize, true).run(200_000, draws(seed, p16))
}

/// Returns the instruction words, not the control words.
pub(super) fn instructions(program: &Program) -> impl Iterator<Item = u64> {
    (0..)
        .zip(&program.words)
        .filter(|(n, _)| n % 4 != 0)
        .map(|(_, word)| *word)
}

/// Compares the probabilities that loops rely on with draws.
#[test]
fn exits_are_taken_as_often_as_computed() {
    for seed in 1..=20 {
        let mut rng = rng(seed);
        let mut cond = || Cond {
            pred: Pred {
                number: rng.random_range(0..8),
                not: rng.random(),
            },
            test: Test::from_code(rng.random_range(0..24)),
        };
        let conds = [cond(), cond()];
        for p16 in [1, 8, 13] {
            let holds = |cond: &Cond, k| {
                let drawn = bits(draw_word(seed, 0, k), 11, p16);
                let pred = cond.pred.number == 7 || drawn >> cond.pred.number & 1 == 1;
                let test = TESTS[usize::from(cond.test.bits())] >> (drawn >> 7) & 1 == 1;
                pred != cond.pred.not && test
            };
            const DRAWS: u64 = 10_000;
            let share = |none: &dyn Fn(u64) -> bool| {
                (0..DRAWS).filter(|k| none(*k)).count() as f64 / DRAWS as f64
            };
            let same = share(&|k| !conds.iter().any(|c| holds(c, k)));
            let own = share(&|k| !holds(&conds[0], k) && !holds(&conds[1], k + DRAWS));
            let [wanted_same, wanted_own] = none_of(&conds).map(|by| by[p16 as usize]);
            assert!((same - wanted_same).abs() < 0.03, "{conds:?} {p16}");
            assert!((own - wanted_own).abs() < 0.03, "{conds:?} {p16}");
        }
    }
    let p0 = Cond::pred(Pred::p(0));
    assert_eq!(none_of(&[p0, Cond::pred(Pred::not_p(0))])[0][3], 0.0);
    // ~Z or S: fails for p (1 - p) at most.
    assert!(at_least(&[Cond::test(Test::Neu)]) >= 0.75);
    assert!(at_least(&[p0]) < 0.07);
}

/// A construct that a generator never makes is never tested.
#[test]
fn every_construct_occurs() {
    let mut seen = BTreeMap::new();
    let (mut names, mut tests) = (BTreeSet::new(), BTreeSet::new());
    let (mut controls, mut entries) = (0, 0);
    for seed in 1..=300 {
        let (p, constructs) = structured_of(&mut rng(seed), &WITH_BRX);
        for construct in constructs {
            *seen.entry(construct).or_insert(0) += 1;
        }
        entries += u32::from(p.entry > 8);
        // Without noise there is no unreachable code.
        let options = Options {
            noise: false,
            ..WITH_BRX
        };
        let p = structured(&mut rng(seed), &options);
        for (pc, word) in (0..)
            .step_by(8)
            .zip(&p.words)
            .filter(|(pc, _)| pc % 32 != 0)
        {
            let word = Word::decode(*word);
            names.insert(word.name().unwrap_or("OTHER"));
            if let Word::Branch(Branch { cond, .. }) | Word::Leave(Leave { cond, .. }) = word {
                tests.insert(cond.test.bits());
            }
            let to = word.target().and_then(|t| t.address(pc));
            controls += u32::from(to.is_some_and(|to| to % 32 == 0));
        }
    }
    let missing = CONSTRUCTS.iter().filter(|name| !seen.contains_key(*name));
    assert_eq!(missing.collect::<Vec<_>>(), [&""; 0]);
    assert!(seen.keys().eq(CONSTRUCTS), "{seen:?}");
    assert!(seen.values().all(|n| *n >= 3), "{seen:?}");
    let own = (SetUpOp::ALL.iter().map(|op| op.name()))
        .chain(LeaveOp::ALL.iter().map(|op| op.name()))
        .chain(["BRA", "BRX", "JMP", "JMX", "OTHER"]);
    assert_eq!(names, own.collect());
    assert_eq!(tests, (0..24).collect());
    assert!(controls > 300 && entries > 100, "{controls} {entries}");
}

/// The instructions that the spec found in ptxas code.
#[test]
fn ptxas_programs_have_ptxas_s_words() {
    for seed in 1..=100 {
        let (p, _) = build(&mut rng(seed), &Options::PTXAS).expect("fits at the first try");
        assert!(p.targets.is_empty());
        for word in p.words {
            assert!(Word::is_canonical(word), "seed {seed}: {word:016x}");
            match Word::decode(word) {
                Word::SetUp(set_up) => {
                    assert_ne!(set_up.op, SetUpOp::Pcnt, "seed {seed}");
                    assert!(matches!(set_up.target, Target::Offset(_)), "seed {seed}");
                    assert!(!set_up.noinc, "seed {seed}");
                }
                Word::Branch(bra) => {
                    assert_eq!(bra.cond.test, Test::T, "seed {seed}");
                    assert!(!bra.unanimous && !bra.lmt, "seed {seed}");
                    assert!(matches!(bra.target, Target::Offset(_)), "seed {seed}");
                }
                Word::Leave(leave) => {
                    assert_eq!(leave.cond.test, Test::T, "seed {seed}");
                    assert_ne!(leave.op, LeaveOp::Cont, "seed {seed}");
                    assert_ne!(leave.op, LeaveOp::Kil, "seed {seed}");
                }
                Word::Other(_) => {}
                word => panic!("seed {seed}: {word:?}"),
            }
        }
    }
}

/// Noise is in nearly every word, and no thread notices.
#[test]
fn noise_changes_nothing() {
    let (mut words, mut changed) = (0, 0);
    for seed in 1..=200 {
        let mut rng = rng(seed);
        let options = Options {
            noise: false,
            ..WITH_BRX
        };
        let (plain, _) = build(&mut rng, &options).expect("fits at the first try");
        let mut noisy = plain.clone();
        add_noise(&mut rng, &mut noisy);
        words += plain.words.len();
        changed += (plain.words.iter().zip(&noisy.words))
            .filter(|(p, n)| p != n)
            .count();
        for p16 in [4, 12] {
            assert_eq!(
                run(&plain, seed, p16),
                run(&noisy, seed, p16),
                "seed {seed}"
            );
        }
    }
    assert!(changed > words * 9 / 10, "{changed} of {words}");
}

/// Checks what every program guarantees to its users.
#[test]
fn programs_are_fit_for_a_launch() {
    for seed in 1..=200 {
        let mut rng = rng(seed);
        let options = Options::random(&mut rng);
        for p in [
            structured(&mut rng, &options),
            near_legal(&mut rng, true),
            raw(&mut rng, true),
            unstructured(&mut rng),
        ] {
            assert!(!p.words.is_empty() && p.words.len() % 4 == 0, "seed {seed}");
            assert!(p.words.len() / 4 <= super::super::program::MAX_BUNDLES);
            assert_eq!((p.entry % 8, p.prog_size % 32), (0, 0), "seed {seed}");
            let placed = placed(&mut rng, p.clone());
            let end = u64::from(placed.prog_base) + u64::from(placed.prog_size);
            assert!(placed.prog_base % 32 == 0 && end <= 1 << 32, "seed {seed}");
            assert_eq!(placed.at(0), p, "seed {seed}");
        }
    }
}

/// A thread alone does not depend on the others (spa5-9-d).
#[test]
fn nothing_for_the_judge_depends_on_other_threads() {
    let mut unanimous = [0; 2];
    for seed in 1..=200 {
        let mut rng = rng(seed);
        // Without noise, because its unreachable words may be anything.
        let options = Options {
            noise: false,
            ..Options::ALL
        };
        let programs = [structured(&mut rng, &options), unstructured(&mut rng)];
        for (p, unanimous) in programs.iter().zip(&mut unanimous) {
            for word in instructions(p) {
                let Word::Branch(bra) = Word::decode(word) else {
                    continue;
                };
                *unanimous += u32::from(bra.unanimous);
                let uniform = bra.cond == Cond::ALWAYS
                    || bra.cond.pred == Pred::NEVER
                    || bra.cond.test == Test::F;
                assert!(!bra.unanimous || uniform, "seed {seed}: {bra:?}");
            }
        }
    }
    assert!(unanimous.iter().all(|n| *n > 20), "{unanimous:?}");
}

/// Checks the lists from which the registers of switches are drawn.
#[test]
fn switches_have_their_targets() {
    let mut switches = 0;
    for seed in 1..=100 {
        let p = structured(&mut rng(seed), &WITH_BRX);
        for (at, targets) in &p.targets {
            let word = Word::decode(p.word(*at));
            let base = word.target().and_then(|t| t.address(*at));
            let base = base.expect("a BRX");
            assert!(matches!(word, Word::Indirect(_)), "seed {seed}");
            assert!(!targets.is_empty());
            for to in targets {
                assert!(norm(*to) == *to && *to < p.prog_size, "seed {seed}");
                assert!(base >= 0 && base <= i64::from(*to), "seed {seed}");
            }
            switches += 1;
        }
        assert_eq!(structured(&mut rng(seed), &Options::ALL).targets.len(), 0);
    }
    assert!(switches > 100, "{switches}");
}

/// Mutants of comparisons with the program's size, in bits that no small program has, were missed, because no target was near
/// the ends of large programs.
#[test]
fn targets_of_large_programs_lie_around_their_ends() {
    let [mut last, mut behind] = [0; 2];
    for seed in 1..=4000 {
        let program = raw::raw(&mut rng(seed), false);
        let size = program.prog_size;
        if size < 1 << 24 {
            continue;
        }
        let targets = instructions(&program).map(|word| Word::decode(word).target());
        let at: Vec<u32> = targets
            .filter_map(|target| match target {
                Some(Target::Absolute(address)) => Some(address),
                _ => None,
            })
            .collect();
        last += u32::from(at.contains(&(size - 8)));
        behind += u32::from(at.contains(&size));
    }
    assert!(last >= 20 && behind >= 20, "{last} {behind}");
}
