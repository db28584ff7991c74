//! Tests of the near-legal programs.

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::*;
use crate::r700::scalar::Scalar;

fn rng(seed: u64) -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(seed)
}

/// Both outcomes must occur: a change that never mattered would test nothing, and one that
/// always broke everything at once would be no better than `raw`.
#[test]
fn near_legal_programs_are_near_legal() {
    let mut errors = [0; 10];
    let (mut sound, mut dependent) = (0, 0);
    for seed in 1..=600 {
        let p = near_legal(&mut rng(seed), Target::DEFAULT);
        match Scalar::new(&p, true) {
            Ok(scalar) if scalar.possible_errors() == 0 => sound += 1,
            Ok(scalar) => {
                (1..10).for_each(|n| errors[n] += u32::from(scalar.possible_errors() >> n & 1))
            }
            Err(_) => dependent += 1,
        }
    }
    assert!(
        sound > 100 && dependent > 20,
        "{sound} sound, {dependent} dependent"
    );
    assert!(errors[1..].iter().all(|n| *n > 3), "{errors:?}");
}

/// Each fault applies to most programs, and changes something there.
#[test]
fn every_fault_can_be_done() {
    for (fault, _, change) in faults() {
        let mut done = 0;
        for seed in 1..=60 {
            let mut rng = rng(seed);
            let before = structured(&mut rng, &Options::ALL);
            let mut after = before.clone();
            let changed = change(&mut rng, &mut after).is_some();
            done += u32::from(changed && after != before);
        }
        assert!(done >= 15, "{fault:?} in {done} of 60 programs");
    }
}

/// Stacks of every size are filled to their last sub-entry, and overfilled.
#[test]
fn the_brim_is_reached_and_passed() {
    let (mut fit, mut over) = ([0; 34], [0; 34]);
    for seed in 1..=1000 {
        let p = brimful(&mut rng(seed), Target::DEFAULT);
        assert_eq!(p.regs.prog_len as usize, p.quads.len());
        let size = usize::from(p.regs.stack_size.min(33));
        let Ok(scalar) = Scalar::new(&p, true) else {
            continue;
        };
        match scalar.possible_errors() >> 7 & 1 {
            0 => fit[size] += 1,
            _ => over[size] += 1,
        }
    }
    for size in [1, 2, 3, 4, 31, 32, 33] {
        assert!(
            fit[size] > 2 && over[size] > 2,
            "{size} entries: {} {}",
            fit[size],
            over[size]
        );
    }
}

/// Unwinding removes one to seven frames with every instruction that pops, and calls lie on deep stacks.
#[test]
fn stacks_are_unwound_in_every_way() {
    let mut ways = std::collections::BTreeMap::new();
    let (mut deep, mut dropped) = (0, 0);
    for seed in 1..=2000 {
        let p = brimful(&mut rng(seed), Target::DEFAULT);
        let mut pushes = 0;
        for quad in &p.quads {
            match Word::decode(*quad) {
                Word::Cf(cf) if cf.op == CfOp::Call => deep += u32::from(pushes >= 100),
                Word::Cf(cf) if matches!(cf.op, CfOp::LoopBreak | CfOp::LoopContinue) => {
                    dropped += u32::from(pushes >= 16);
                }
                Word::Cf(cf) if cf.pop_count > 0 => {
                    *ways.entry((cf.op.name(), cf.pop_count)).or_insert(0) += 1;
                }
                Word::Cf(cf) => {
                    pushes += u32::from(matches!(cf.op, CfOp::Push | CfOp::PushElse));
                }
                Word::Alu(alu) => {
                    pushes +=
                        u32::from(matches!(alu.op, AluOp::AluPushBefore | AluOp::AluElseAfter));
                }
                _ => {}
            }
        }
    }
    // POP, JUMP, ELSE, PUSH and the three loop starts.
    assert_eq!(ways.len(), 7 * 7, "{ways:?}");
    assert!(ways.values().all(|n| *n >= 10), "{ways:?}");
    assert!(deep >= 10, "{deep}");
    // Loops left with many frames open, which kill a mutant of nb.
    assert!(dropped >= 10, "{dropped}");
}
