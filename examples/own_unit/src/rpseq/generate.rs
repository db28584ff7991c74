//! The grammar: random programs of rpseq.

use rand::Rng;
use reconverge::case::Kind;
use reconverge::generate::chance;
use reconverge::words::Part::{Any, At, Block, To, Word};
use reconverge::words::{self, Construct};

use super::program::{ALU, BR, END, JMP, JOIN, Program, SSY, YIELD};

/// Entries of the stack that a structured program may use: those of the default build.
const ROOM: usize = 4;

/// The statements: each of them leaves the stack as it was. A loop ends when each of its lanes has drawn a 1.
#[rustfmt::skip]
const STATEMENTS: &[Construct] = &[
    Construct { weight: 3, needs: 0, parts: &[Word(ALU)] },
    Construct { weight: 1, needs: 0, parts: &[Word(YIELD)] },
    // A jump over words that are not executed; an IF, without and with an ELSE; a loop.
    Construct { weight: 1, needs: 0, parts: &[To(JMP, 0), Any, Any, At(0)] },
    Construct { weight: 1, needs: 2, parts: &[To(SSY, 1), To(BR, 0), Block(2), At(0), Word(JOIN), At(1)] },
    Construct { weight: 1, needs: 2, parts: &[To(SSY, 1), To(BR, 0), Block(2), Word(JOIN), At(0), Block(2), Word(JOIN), At(1)] },
    Construct { weight: 1, needs: 2, parts: &[To(SSY, 1), At(2), Block(1), To(BR, 0), To(JMP, 2), At(0), Word(JOIN), At(1)] },
];

/// A random program.
pub fn generate(kind: Kind, rng: &mut impl Rng) -> Program {
    let mut program = words::generate(kind, rng, STATEMENTS, ROOM, END);
    if matches!(kind, Kind::Raw | Kind::Seeded) && chance(rng, 4) {
        // Now and then a stack that is full from the start, with whatever lanes there are.
        let length = program.words.len();
        program.words[..length.min(ROOM)].fill(SSY | (length - 1) as u32);
    }
    program
}
