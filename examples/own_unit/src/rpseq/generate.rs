//! The grammar: random programs of rpseq.

use rand::Rng;
use reconverge::case::Kind;
use reconverge::generate::near_legal::break_one;
use reconverge::generate::{chance, choose, when};
use reconverge::words::{draw, faults};

use super::program::{ALU, BR, Code, END, JMP, JOIN, Program, SSY, YIELD};

/// Entries of the stack that a structured program may use: those of the default build.
const ROOM: usize = 4;

/// A random program.
pub fn generate(kind: Kind, rng: &mut impl Rng) -> Program {
    let mut program = Program::new("random", Vec::new());
    let words = &mut program.words;
    if matches!(kind, Kind::Structured | Kind::NearLegal) {
        block(words, ROOM, rng);
        words.push(END);
    } else {
        let length = rng.random_range(1..24);
        words.extend((0..length).map(|_| draw::<Code, _>(rng, length)));
        // Now and then a stack that is full from the start, with whatever lanes there are.
        let full = if chance(rng, 4) { length.min(ROOM) } else { 0 };
        words[..full].fill(SSY | (length - 1) as u32);
    }
    if kind == Kind::NearLegal {
        break_one(rng, &mut program, &faults());
    }
    program
}

/// Statements that need `room` entries of the stack at most. A loop ends when each of its lanes has drawn a 1.
fn block(words: &mut Vec<u32>, room: usize, rng: &mut impl Rng) {
    for _ in 0..rng.random_range(1..4) {
        // Of the statement and what is in it: the address of its first word, and of the one behind what was written.
        let first = words.len();
        let next = |words: &Vec<u32>| words.len() as u32;
        let nested = when(room >= 2, 1);
        match choose(
            rng,
            &[
                ("plain", 3),
                ("yield", 1),
                ("skip", 1),
                ("if", nested),
                ("else", nested),
                ("loop", nested),
            ],
        ) {
            "plain" => words.push(ALU),
            "yield" => words.push(YIELD),
            "skip" => {
                words.extend([JMP, draw::<Code, _>(rng, 8), draw::<Code, _>(rng, 8)]);
                words[first] |= next(words);
            }
            "loop" => {
                words.push(SSY);
                block(words, room - 1, rng);
                words.extend([BR | (next(words) + 2), JMP | (first as u32 + 1), JOIN]);
                words[first] |= next(words);
            }
            with_else => {
                words.extend([SSY, BR]);
                block(words, room - 2, rng);
                if with_else == "else" {
                    words.push(JOIN);
                    words[first + 1] |= next(words);
                    block(words, room - 2, rng);
                } else {
                    words[first + 1] |= next(words);
                }
                words.push(JOIN);
                words[first] |= next(words);
            }
        }
    }
}
