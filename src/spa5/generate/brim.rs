//! Raw programs that begin with a full stack, or with every thread on its own path: random words
//! reach such states too rarely.

use rand::Rng;

use super::program;
use super::raw::{Mix, raw_word};
use crate::spa5::isa::{Cond, Pred, SetUpOp, Target, Test, Word, seq};
use crate::spa5::program::{BUNDLE, Program};
use reconverge_program::generate::pick;

/// Tokens of the stack as it is built by default.
const DEPTH: u32 = super::DEPTH;

/// Returns blocks that each fill the stack and then do anything. Launches go anywhere: the rest of a block
/// leads to the next.
pub(super) fn brim<R: Rng + ?Sized>(rng: &mut R) -> Program {
    let peel = rng.random_bool(0.3);
    let bundles = rng.random_range(30..120);
    let size = bundles * BUNDLE;
    let mut left = 0;
    let words = (0..size / 8)
        .map(|n| {
            let pc = 8 * n;
            if n % 4 == 0 {
                return rng.random();
            }
            if left == 0 {
                let tokens = if peel { 34..44 } else { DEPTH - 3..DEPTH + 1 };
                left = rng.random_range(tokens) + rng.random_range(1..6);
            }
            left -= 1;
            match left {
                0..5 => raw_word(rng, &Mix::ASTRAY, pc, size),
                _ if peel => to_the_next(rng, pc, size),
                _ => {
                    let word = i64::from(n) + rng.random_range(-3..20);
                    let target = word.clamp(0, i64::from(size / 8) - 1) * 8;
                    let target = Target::direct(pc, target).unwrap_or(Target::Offset(0));
                    let op = pick(
                        rng,
                        &[SetUpOp::Ssy, SetUpOp::Pbk, SetUpOp::Pcnt, SetUpOp::Pret],
                    );
                    Word::set_up(op).with_target(target).encode()
                }
            }
        })
        .collect();
    program("raw_brim", words)
}

/// Returns a branch to the next instruction; if some thread does not take it, it pushes a DIV token.
fn to_the_next<R: Rng + ?Sized>(rng: &mut R, pc: u32, size: u32) -> u64 {
    let cond = Cond {
        pred: Pred::p(rng.random_range(0..7)),
        test: Test::T,
    };
    let next = seq(pc).min(size - 8);
    let target = Target::direct(pc, next.into()).unwrap_or(Target::Offset(0));
    Word::bra(cond).with_target(target).encode()
}

/// Returns a BRX that leads around the beginning of a program, if its registers are small: also below it, and between words,
/// for which a register can compensate; any other word is returned unchanged.
pub(super) fn around<R: Rng + ?Sized>(rng: &mut R, word: Word, pc: u32) -> Word {
    let mut to = rng.random_range(-80..16) * 8;
    if rng.random() {
        to += rng.random_range(0..8);
    }
    match Target::direct(pc, to) {
        Some(target) if matches!(word.target(), Some(Target::Offset(_))) => {
            word.with_target(target)
        }
        _ => word,
    }
}
