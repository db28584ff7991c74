//! The grammar: random programs of rpseq.

use rand::Rng;
use reconverge::case::Kind;
use reconverge::generate::{chance, choose, when};

use super::program::{ALU, BR, END, JMP, JOIN, Program, SSY, YIELD};

/// Entries of the stack that a structured program may use: those of the default build.
const ROOM: usize = 4;

/// A random program.
pub fn generate(kind: Kind, rng: &mut impl Rng) -> Program {
    let mut words = Vec::new();
    if matches!(kind, Kind::Structured | Kind::NearLegal) {
        block(&mut words, ROOM, rng);
        words.push(END);
    } else {
        let length = rng.random_range(1..24);
        words.extend((0..length).map(|_| raw(length, rng)));
        // Now and then a stack that is full from the start, with whatever lanes there are.
        let full = if chance(rng, 4) { length.min(ROOM) } else { 0 };
        words[..full].fill(SSY | (length - 1) as u32);
    }
    if kind == Kind::NearLegal {
        let number = rng.random_range(0..words.len());
        words[number] = raw(words.len(), rng);
    }
    Program::new("random", words)
}

/// Any word; mostly a legal one that leads into a program of `length`.
fn raw(length: usize, rng: &mut impl Rng) -> u32 {
    let ops = choose(rng, &[(7, 7), (16, 1)]);
    let ends = choose(rng, &[(length as u32, 15), (0x1_0000, 1)]);
    rng.random_range(0..ops) << 16 | rng.random_range(0..ends)
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
                words.extend([JMP, raw(8, rng), raw(8, rng)]);
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
