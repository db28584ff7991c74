//! Raw programs that begin with parted lanes: in every class, few of them valid, in loops and subroutines.
//! Random words mostly keep the lanes together.

use rand::Rng;

use super::raw::{Mix, raw_quad, raw_registers};
use crate::r700::isa::{Alu, AluOp, Cf, CfOp, Cond, Word};
use crate::r700::program::{Program, Quad};
use reconverge_program::generate::{chance, choose, pick};

/// An instruction that parts lanes.
#[derive(Clone, Copy)]
enum Part {
    /// A loop around the following instructions.
    Loop,
    /// A clause by which some lanes leave.
    Leave(AluOp),
    /// A KILL of some lanes; all lanes continue.
    Kill,
    /// A subroutine, and a RETURN that may stay.
    Call,
    /// An ELSE that may swap no lane.
    Else,
}

/// Returns blocks that each part the lanes and then do anything. Launches go anywhere: the rest of a block
/// leads to the next.
pub(super) fn parted<R: Rng + ?Sized>(rng: &mut R) -> Program {
    let len = rng.random_range(60..400);
    let mut regs = raw_registers(rng, len);
    for constant in &mut regs.loop_const {
        // A count of at least 2, so that loops are entered.
        *constant |= 2;
    }
    let mix = Mix::random(rng);
    let mut quads: Vec<Quad> = Vec::new();
    while (quads.len() as u32) < len {
        for _ in 0..rng.random_range(2..9) {
            let part = choose(
                rng,
                &[
                    (Part::Loop, 3),
                    (Part::Leave(AluOp::AluContinue), 3),
                    (Part::Leave(AluOp::AluBreak), 1),
                    (Part::Leave(AluOp::Alu), 1),
                    (Part::Leave(AluOp::AluPushBefore), 2),
                    (Part::Kill, 1),
                    (Part::Call, 2),
                    (Part::Else, 1),
                ],
            );
            let words = words(rng, &mix, part);
            for word in words {
                let next = quads.len() as u32 + 1;
                let mut quad = match word {
                    // Whatever it does, the next instruction follows.
                    Word::Cf(cf) => cf.to(next).encode(),
                    word => word.encode(),
                };
                quad.u = matches!(word, Word::Alu(_));
                quads.push(quad);
            }
        }
        let anything = rng.random_range(1..6);
        quads.extend((0..anything).map(|_| raw_quad(rng, &mix, len)));
    }
    quads.truncate(len as usize);
    Program::of(regs, quads)
}

fn words<R: Rng + ?Sized>(rng: &mut R, mix: &Mix, part: Part) -> Vec<Word> {
    let alu = |op| Word::Alu(Alu::new(op));
    let cf_const = rng.random_range(0..32);
    let start = pick(
        rng,
        &[CfOp::LoopStart, CfOp::LoopStartNoAl, CfOp::LoopStartDx10],
    );
    let cond = Cond::from_bits(rng.random_range(1..4));
    match part {
        Part::Else => vec![
            Word::Cf(Cf::new(CfOp::Push)),
            Word::Cf(Cf {
                cf_const,
                cond,
                ..Cf::new(CfOp::Else)
            }),
        ],
        Part::Loop => vec![Word::Cf(Cf {
            cf_const,
            vpm: chance(rng, mix.vpm()),
            ..Cf::new(start)
        })],
        Part::Leave(op) => vec![alu(op)],
        Part::Kill => vec![
            alu(AluOp::AluPushBefore),
            Word::Cf(Cf::new(CfOp::Kill)),
            Word::Cf(Cf::new(CfOp::Pop).popping(1)),
        ],
        Part::Call => vec![
            Word::Cf(Cf::new(CfOp::Call)),
            Word::Cf(Cf {
                cf_const,
                cond,
                vpm: chance(rng, mix.vpm()),
                ..Cf::new(CfOp::Return)
            }),
        ],
    }
}
