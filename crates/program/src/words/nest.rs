//! Random programs of a table: nests of constructs that the unit lists, the same with a fault, and random words.

use rand::Rng;

use super::{Code, Words, draw, faults, put};
use crate::case::Kind;
use crate::generate::near_legal::break_one;
use crate::generate::{choose, when, within};

/// A part of a construct. Labels are numbers from 0 to 7, each for one construct.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// A word.
    Word(u32),
    /// A word, with this label as its target.
    To(u32, usize),
    /// The place of this label: the next word.
    At(usize),
    /// A word that no lane executes: a random one.
    Any,
    /// Statements, which find so many entries fewer on the stack.
    Block(usize),
}

/// A statement of structured programs.
#[derive(Clone, Copy, Debug)]
pub struct Construct {
    /// How often it is drawn, compared with others.
    pub weight: u32,
    /// Entries of the stack that there must be for it. At least as many as its blocks take, so that nests end.
    pub needs: usize,
    /// What it is made of.
    pub parts: &'static [Part],
}

/// Labels of a construct.
const LABELS: usize = 8;

/// Words of the program in which a random word between others has its target.
const NEAR: usize = 8;

/// Adds one to three statements of `constructs` to `words`, for which there are `room` entries on the stack.
fn nest<C: Code, R: Rng + ?Sized>(
    rng: &mut R,
    words: &mut Vec<u32>,
    constructs: &[Construct],
    room: usize,
) {
    let weight = |one: &Construct| when(room >= one.needs, one.weight);
    let weights: Vec<_> = constructs.iter().map(|one| (one, weight(one))).collect();
    for _ in 0..within(rng, 1..4) {
        let construct = choose(rng, &weights);
        let (mut labels, mut jumps) = ([None; LABELS], Vec::new());
        for part in construct.parts {
            match *part {
                Part::Word(word) => words.push(word),
                Part::To(word, label) => {
                    jumps.push((words.len(), label));
                    words.push(word);
                }
                Part::At(label) => labels[label] = Some(words.len()),
                Part::Any => words.push(draw::<C, R>(rng, NEAR)),
                Part::Block(takes) => nest::<C, R>(rng, words, constructs, room - takes),
            }
        }
        for (from, label) in jumps {
            let to = labels[label].unwrap_or_else(|| panic!("label {label} has no place"));
            words[from] = put(C::TARGET, words[from], to as u32);
        }
    }
}

/// Returns a random program: structured ones nest `constructs` with at most `room` entries on the stack, and then have the word `end`;
/// near-legal ones have a fault besides; others are random words.
///
/// # Panics
/// No construct has room, or one takes more entries than it needs, or a label has no place or is above 7.
pub fn generate<C: Code, R: Rng>(
    kind: Kind,
    rng: &mut R,
    constructs: &[Construct],
    room: usize,
    end: u32,
) -> Words<C> {
    let mut program = Words::new("random", Vec::new());
    if matches!(kind, Kind::Structured | Kind::NearLegal) {
        nest::<C, R>(rng, &mut program.words, constructs, room);
        program.words.push(end);
    } else {
        let length = within(rng, 1..24);
        let words = (0..length).map(|_| draw::<C, R>(rng, length));
        program.words.extend(words);
    }
    if kind == Kind::NearLegal {
        break_one(rng, &mut program, &faults());
    }
    program
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    use super::super::tests::Small;
    use super::Part::{Any, At, Block, To, Word};
    use super::*;

    const CONSTRUCTS: &[Construct] = &[
        Construct {
            weight: 4,
            needs: 2,
            parts: &[To(0x60, 0), At(1), Block(1), At(0), To(0xa0, 1)],
        },
        Construct {
            weight: 1,
            needs: 0,
            parts: &[Word(3)],
        },
        Construct {
            weight: 1,
            needs: 0,
            parts: &[To(0x10, 0), Any, At(0)],
        },
    ];

    fn drawn(kind: Kind, seed: u64) -> Vec<u32> {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        generate::<Small, _>(kind, &mut rng, CONSTRUCTS, 3, 0x1ff).words
    }

    /// Returns the address behind the statement at `at`, and how deep it nests.
    fn statement(words: &[u32], at: usize) -> (usize, usize) {
        let leads = |from: usize, to: usize| words[from] & 15 == to as u32 & 15;
        match words[at] & !15 {
            0 => (at + 1, 0),
            0x10 => {
                assert!(leads(at, at + 2), "{words:x?}");
                (at + 2, 0)
            }
            0x60 => {
                let (mut end, mut deepest) = (at + 1, 0);
                while words[end] & !15 != 0xa0 {
                    let (next, depth) = statement(words, end);
                    (end, deepest) = (next, deepest.max(depth));
                }
                assert!(leads(at, end) && leads(end, at + 1), "{words:x?}");
                (end + 1, deepest + 1)
            }
            _ => panic!("no statement at {at}: {words:x?}"),
        }
    }

    #[test]
    fn constructs_nest_as_far_as_there_is_room_and_lead_to_their_labels() {
        let mut depths = [0; 3];
        for seed in 1..=300 {
            let (words, mut at) = (drawn(Kind::Structured, seed), 0);
            while words[at] != 0x1ff {
                let (next, depth) = statement(&words, at);
                (at, depths[depth]) = (next, depths[depth] + 1);
            }
            assert_eq!(at + 1, words.len());
        }
        assert!(depths.iter().all(|n| *n > 20), "{depths:?}");
    }

    #[test]
    #[should_panic(expected = "label 1 has no place")]
    fn a_label_without_a_place_is_told() {
        let construct = Construct {
            weight: 1,
            needs: 0,
            parts: &[To(0x10, 1), At(0)],
        };
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        generate::<Small, _>(Kind::Structured, &mut rng, &[construct], 3, 0x1ff);
    }

    #[test]
    fn other_kinds_are_broken_or_any_words() {
        let (mut broken, mut lengths) = (0, std::collections::BTreeSet::new());
        for seed in 1..=300 {
            let structured = drawn(Kind::Structured, seed);
            broken += u32::from(drawn(Kind::NearLegal, seed) != structured);
            lengths.insert(drawn(Kind::Raw, seed).len());
        }
        assert!((200..300).contains(&broken), "{broken}");
        assert_eq!(lengths, (1..24).collect());
    }
}
