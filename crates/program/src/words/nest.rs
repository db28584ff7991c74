//! Random programs of a table: nests of constructs that the unit lists, the same with a fault, and random words.

use rand::Rng;

use super::{Code, Words, draw, faults, put};
use crate::case::Kind;
use crate::generate::near_legal::break_one;
use crate::generate::{chance, choose, when, within};
use crate::layout::{self, Bits};

/// A part of a construct. Its labels are numbers from 0 to 7.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// A word.
    Word(u32),
    /// A word, with this label of the construct as its target.
    To(u32, usize),
    /// A word, with these targets, in the order of the text.
    Leads(u32, &'static [Label]),
    /// The place of this label: the next word.
    At(usize),
    /// A word that no lane executes: a random one.
    Any,
    /// Statements, which find so many entries fewer on the stack.
    Block(usize),
    /// A name of this label for what is in the blocks behind it ([`Label::Around`]).
    Name(&'static str, usize),
    /// The construct is drawn only in a block of one with a label of this name.
    Inside(&'static str),
}

/// A target of a word of a construct.
#[derive(Clone, Copy, Debug)]
pub enum Label {
    /// This label of the construct.
    Own(usize),
    /// The label with this name of the innermost construct around it that has one; if none has, the end of the program.
    Around(&'static str),
    /// The end of the program, its last word.
    End,
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

impl Construct {
    /// Returns whether it can be drawn with `room` entries on the stack, where labels have these `names`.
    fn fits(&self, room: usize, names: &[(&str, usize)]) -> bool {
        let known = |part: &Part| match part {
            Part::Inside(name) => names.iter().any(|(known, _)| known == name),
            _ => true,
        };
        room >= self.needs && self.parts.iter().all(known)
    }
}

/// Labels of a construct.
const LABELS: usize = 8;

/// The highest address of a memory at whose end programs are laid out: they have all words in front of them, and are saved with these.
const HIGH: u32 = 0xfff;

/// Words of the program in which a random word between others has its target.
const NEAR: usize = 8;

/// A structured program in the making. Its labels have numbers: those of a construct follow each other, and 0 is the end.
struct Nest<'a> {
    constructs: &'a [Construct],
    words: Vec<u32>,
    /// Where each label is.
    labels: Vec<Option<usize>>,
    /// Words, each with the place of a target and its label.
    jumps: Vec<(usize, &'static [Bits], usize)>,
    /// Names of labels in the blocks that are open, the innermost ones last.
    names: Vec<(&'static str, usize)>,
}

impl Nest<'_> {
    /// Adds one to three statements, for which there are `room` entries on the stack.
    fn block<C: Code, R: Rng + ?Sized>(&mut self, rng: &mut R, room: usize) {
        let weight = |one: &Construct| when(one.fits(room, &self.names), one.weight);
        let weights = self.constructs.iter().map(|one| (one.parts, weight(one)));
        let weights: Vec<_> = weights.collect();
        for _ in 0..within(rng, 1..4) {
            let (parts, first, outer) =
                (choose(rng, &weights), self.labels.len(), self.names.len());
            self.labels.resize(first + LABELS, None);
            let own = |label| {
                assert!(label < LABELS, "label {label} is above 7");
                first + label
            };
            for part in parts {
                match *part {
                    Part::Word(word) => self.words.push(word),
                    Part::To(word, label) => self.lead::<C>(word, &[own(label)]),
                    Part::Leads(word, labels) => {
                        let number = |label: &Label| match *label {
                            Label::Own(label) => own(label),
                            Label::Around(name) => self.around(name, outer),
                            Label::End => 0,
                        };
                        let labels: Vec<_> = labels.iter().map(number).collect();
                        self.lead::<C>(word, &labels);
                    }
                    Part::At(label) => self.labels[own(label)] = Some(self.words.len()),
                    Part::Any => self.words.push(draw::<C, R>(rng, NEAR)),
                    Part::Block(takes) => self.block::<C, R>(rng, room - takes),
                    Part::Name(name, label) => self.names.push((name, own(label))),
                    Part::Inside(_) => {}
                }
            }
            self.names.truncate(outer);
        }
    }

    /// Adds `word`, which leads to these labels.
    fn lead<C: Code>(&mut self, word: u32, labels: &[usize]) {
        let targets: Vec<_> = Words::<C>::leads(word).collect();
        let (has, given) = (targets.len(), labels.len());
        assert!(has == given, "{word:#x} has {has} targets, not {given}");
        let jump = |(bits, label): (_, &usize)| (self.words.len(), bits, *label);
        self.jumps.extend(targets.into_iter().zip(labels).map(jump));
        self.words.push(word);
    }

    /// Returns the label `name` of a construct around the one that sees `outer` names.
    fn around(&self, name: &str, outer: usize) -> usize {
        let found = self.names[..outer]
            .iter()
            .rfind(|(known, _)| *known == name);
        found.map_or_else(
            || {
                let mut parts = self.constructs.iter().flat_map(|one| one.parts);
                let named = parts.any(|part| matches!(part, Part::Name(of, _) if *of == name));
                assert!(named, "no construct has a label named {name}");
                0
            },
            |(_, label)| *label,
        )
    }

    /// Returns the words, with `end` behind them.
    fn ended(mut self, end: u32) -> Vec<u32> {
        self.labels[0] = Some(self.words.len());
        self.words.push(end);
        for (from, bits, label) in self.jumps {
            let to = self.labels[label].unwrap_or_else(|| {
                let label = (label - 1) % LABELS;
                panic!("label {label} has no place")
            });
            let [word] = layout::put(bits, [self.words[from].into()], to as u64);
            self.words[from] = word as u32;
        }
        self.words
    }
}

/// Returns a random program: structured ones nest `constructs` with at most `room` entries on the stack, and then have the word `end`;
/// near-legal ones have a fault besides; others are random words. Some are at the end of the memory ([`Code::JUMP`]).
///
/// # Panics
/// No construct has room, or one takes more entries than it needs; a label has no place or is above 7; no construct has a label with a name
/// to which a word leads; a word has another number of targets.
pub fn generate<C: Code, R: Rng>(
    kind: Kind,
    rng: &mut R,
    constructs: &[Construct],
    room: usize,
    end: u32,
) -> Words<C> {
    let mut program = Words::new("random", Vec::new());
    if matches!(kind, Kind::Structured | Kind::NearLegal) {
        let mut nest = Nest {
            constructs,
            words: Vec::new(),
            labels: vec![None],
            jumps: Vec::new(),
            names: Vec::new(),
        };
        nest.block::<C, R>(rng, room);
        program.words = nest.ended(end);
    } else {
        let length = within(rng, 1..24);
        let words = (0..length).map(|_| draw::<C, R>(rng, length));
        program.words.extend(words);
    }
    if kind == Kind::NearLegal {
        break_one(rng, &mut program, &faults());
    }
    match C::JUMP.filter(|_| Words::<C>::last() <= HIGH) {
        Some(jump) if chance(rng, 1) => {
            // Few of several random words are executed: they begin anywhere, so that the last one is among them.
            let entry = match kind {
                Kind::Structured | Kind::NearLegal => 0,
                _ => within(rng, 0..program.words.len()),
            };
            high(&program, jump, entry)
        }
        _ => program,
    }
}

/// Returns `program` at the end of the memory, with `jump` to its word number `entry` at address 0, if there is room.
fn high<C: Code>(program: &Words<C>, jump: u32, entry: usize) -> Words<C> {
    let start = (Words::<C>::last() as usize + 1).saturating_sub(program.words.len());
    let mut words = vec![C::TABLE[0].word; start];
    let moved = |word: &u32| Words::<C>::with_targets(*word, |old| old + start);
    words.extend(program.words.iter().map(moved));
    if start > 0 {
        words[0] = put(C::TARGET, jump, (start + entry) as u32);
    }
    Words::new(&program.name, words)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    use super::super::tests::{Small, Two};
    use super::super::{Bits, Row};
    use super::Label::{Around, End, Own};
    use super::Part::{Any, At, Block, Inside, Leads, Name, To, Word};
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

    /// A loop, from GO back to its beginning; NOP; BREAK not, only in a loop, which leads to the loop's end and its own; BREAK, which leads to
    /// the end of the program and that of the innermost loop.
    const LOOPS: &[Construct] = &[
        Construct {
            weight: 2,
            needs: 1,
            parts: &[
                At(1),
                Name("loop", 0),
                Block(1),
                To(0x400, 1),
                At(0),
                Word(0x80),
            ],
        },
        Construct {
            weight: 1,
            needs: 0,
            parts: &[Word(0)],
        },
        Construct {
            weight: 2,
            needs: 0,
            parts: &[
                Inside("loop"),
                Leads(0x900, &[Around("loop"), Own(0)]),
                At(0),
            ],
        },
        Construct {
            weight: 1,
            needs: 0,
            parts: &[Leads(0x800, &[End, Around("loop")])],
        },
    ];

    fn looped(seed: u64, constructs: &[Construct]) -> Vec<u32> {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        generate::<Two, _>(Kind::Structured, &mut rng, constructs, 2, 0xfff).words
    }

    #[test]
    fn words_in_a_block_lead_to_labels_of_the_constructs_around_it() {
        let (mut outside, mut inside) = ([0; 3], [0; 3]);
        for seed in 1..=2000 {
            let words = looped(seed, LOOPS);
            let end = words.len() - 1;
            if end > 15 {
                // Its addresses have four bits.
                continue;
            }
            // Loops that are open, each with its end: behind the GO that leads to its beginning.
            let back = |at: usize| words[at] & 0xc00 == 0x400;
            let begins = |at: usize| words[at] as usize & 15;
            for (at, word) in words[..end].iter().enumerate() {
                let mut around = (at..end).filter(|to| back(*to) && begins(*to) <= at);
                let own = around.next().filter(|to| *to != at).map(|to| to + 1);
                let kind = match word {
                    0x800.. => 2 - (word >> 8 & 1) as usize,
                    _ => 0,
                };
                match own {
                    Some(_) => inside[kind] += 1,
                    None => outside[kind] += 1,
                }
                let led = [
                    (word >> 6 & 8 | word >> 4 & 7) as usize,
                    (word & 15) as usize,
                ];
                match kind {
                    1 => assert_eq!(led, [own.unwrap(), at + 1], "{words:x?}"),
                    2 => assert_eq!(led, [end, own.unwrap_or(end)], "{words:x?}"),
                    _ => {}
                }
            }
        }
        assert!(inside.iter().all(|n| *n > 100), "{inside:?}");
        assert!(outside[0] > 100 && outside[2] > 100, "{outside:?}");
        assert_eq!(outside[1], 0);
    }

    #[test]
    #[should_panic(expected = "no construct has a label named lop")]
    fn a_name_that_no_label_has_is_told() {
        let construct = Construct {
            weight: 1,
            needs: 0,
            parts: &[Leads(0x800, &[End, Around("lop")])],
        };
        looped(1, &[construct, LOOPS[0]]);
    }

    #[test]
    #[should_panic(expected = "0x800 has 2 targets, not 1")]
    fn a_word_with_too_few_labels_is_told() {
        let construct = Construct {
            weight: 1,
            needs: 0,
            parts: &[To(0x800, 0), At(0)],
        };
        looped(1, &[construct]);
    }

    /// Words of [`Two`], with a jump.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct Jumps;

    impl Code for Jumps {
        const BITS: u32 = Two::BITS;
        const OPCODE: Bits = Two::OPCODE;
        const TARGET: Bits = Two::TARGET;
        const TABLE: &'static [Row] = Two::TABLE;
        const OUTSIDE: u32 = Two::OUTSIDE;
        const JUMP: Option<u32> = Some(0x400);
    }

    #[test]
    fn some_programs_are_at_the_end_of_the_memory_behind_a_jump() {
        let low = Words::new("p", vec![0x400, 0x81f, 0xfff]);
        let mut words = vec![0; 16];
        words[0] = 0x40d;
        words[13..].copy_from_slice(&[0x40d, 0xa6f, 0xfff]);
        assert_eq!(high::<Jumps>(&low, 0x400, 0).words, words);
        let full = Words::new("p", words);
        assert_eq!(high::<Jumps>(&full, 0x400, 0), full);
        assert_eq!(high::<Jumps>(&low, 0x400, 2).words[0], 0x40f);

        for kind in [Kind::Structured, Kind::NearLegal, Kind::Raw, Kind::Seeded] {
            let top = (1..=800).filter(|seed| {
                let mut rng = Pcg64Mcg::seed_from_u64(*seed);
                let words = generate::<Jumps, _>(kind, &mut rng, &LOOPS[1..2], 0, 0xfff).words;
                let pads = words.iter().skip(1).take_while(|word| **word == 0);
                words.len() == 16 && words[0] & !15 == 0x400 && pads.count() > 1
            });
            let count = top.count();
            assert!((25..75).contains(&count), "{kind:?}: {count}");
        }
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
