//! Simple programs: each instruction is one word at one address, starting at address 0. A unit with such programs writes the table of its
//! words ([`Code`]) and gets assembler, disassembler, checks, the edits of shrinker and guided run, random programs ([`generate`]) and the
//! test that finds a wrong row ([`wrong_rows`]).

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::marker::PhantomData;

use serde::{Deserialize, Serialize};

use crate::assembly::Assembly;
use crate::instructions::{Instructions, Piece, moved, places};
pub use crate::layout::Bits;
use crate::layout::{self, Field, Text};
use reconverge_bench::input::InputError;
use reconverge_bench::text::{Errors, Item, Location, Operands, items, operands, program_name};

mod draw;
mod nest;
mod wrong;
pub use draw::{draw, faults};
pub use nest::{Construct, Label, Part, generate};
pub use wrong::wrong_rows;

/// An instruction: a row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its mnemonic, in upper case.
    pub name: &'static str,
    /// Its opcode, in its place; the other bits are 0.
    pub word: u32,
    /// Whether it has a target, the last operand in text.
    pub leads: bool,
    /// Its other operands, in the order of the text. Those of [`Text::Target`] are further targets.
    pub fields: &'static [Field],
    /// What it does, for `explain`.
    pub does: &'static str,
}

impl Row {
    /// Returns the row of an instruction without operands.
    pub const fn new(name: &'static str, word: u32, does: &'static str) -> Row {
        Row {
            name,
            word,
            leads: false,
            fields: &[],
            does,
        }
    }

    /// Returns the row of an instruction with a target.
    pub const fn leading(name: &'static str, word: u32, does: &'static str) -> Row {
        Row {
            leads: true,
            ..Row::new(name, word, does)
        }
    }

    /// Returns the same row with these operands.
    #[must_use]
    pub const fn with(self, fields: &'static [Field]) -> Row {
        Row { fields, ..self }
    }

    /// Returns how the instruction is written, without its mnemonic: ` [n=0..7] TARGET`.
    fn form(&self) -> String {
        let fields = self.fields.iter().map(Field::form);
        let target = self.leads.then(|| " TARGET".to_owned());
        fields.chain(target).collect()
    }
}

/// The table of a unit's words.
pub trait Code: Copy + Debug + Default + PartialEq + Send + Sync + 'static {
    /// Bits of a word, at most 32.
    const BITS: u32;
    /// Where the opcode is.
    const OPCODE: Bits;
    /// Where the target is that stands last, if an instruction has one. An address has as many bits, at most 24.
    const TARGET: Bits;
    /// All instructions; the first one is plain ([`Instructions`]).
    const TABLE: &'static [Row];
    /// The word at addresses after the end of a program, preferably an illegal one.
    const OUTSIDE: u32;
    /// A word with which all lanes go on at its target. If there is one and an address has at most twelve bits, [`generate`] lays out one
    /// program in sixteen at the end of the memory, behind this word at address 0: short programs have no instruction at a high address.
    const JUMP: Option<u32> = None;
}

/// Returns bits `high` to `low` of a word.
pub const fn bits(high: u32, low: u32) -> Bits {
    Bits { word: 0, high, low }
}

/// Returns `word` with `value` in `bits`.
fn put(bits: Bits, word: u32, value: u32) -> u32 {
    layout::put(&[bits], [word.into()], value.into())[0] as u32
}

/// Returns the highest address of a target in `bits`.
fn highest(bits: &[Bits]) -> u32 {
    layout::get(bits, &[u64::MAX]) as u32
}

/// Returns `word` with the target `to` in `bits`, limited to the highest address.
fn led_to(word: u32, bits: &[Bits], to: usize) -> u32 {
    let to = to.min(highest(bits) as usize);
    layout::put(bits, [word.into()], to as u64)[0] as u32
}

/// The word of a line, and its targets as the text says them.
type Line<'a> = Result<(u32, Vec<(&'static [Bits], &'a str)>), InputError>;

/// A program: its words, starting at address 0.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Words<C> {
    /// Name of the program.
    pub name: String,
    /// Words of the program.
    pub words: Vec<u32>,
    #[serde(skip)]
    code: PhantomData<C>,
}

impl<C: Code> Words<C> {
    /// Returns a program of these words.
    pub fn new(name: &str, words: Vec<u32>) -> Self {
        Words {
            name: name.to_owned(),
            words,
            code: PhantomData,
        }
    }

    /// Returns the word at `pc`, [`Code::OUTSIDE`] after the end of the program.
    pub fn word(&self, pc: u32) -> u32 {
        let word = self.words.get(pc as usize);
        word.copied().unwrap_or(C::OUTSIDE)
    }

    /// Returns the index of the row of `word` in [`Code::TABLE`]; `None` if its opcode has none.
    pub fn number_of(word: u32) -> Option<usize> {
        let opcode = word & put(C::OPCODE, 0, u32::MAX);
        C::TABLE.iter().position(|row| row.word == opcode)
    }

    /// Returns the row of `word`; `None` if its opcode has none.
    pub fn row(word: u32) -> Option<&'static Row> {
        Some(&C::TABLE[Self::number_of(word)?])
    }

    /// Returns the target of `word` that stands last, if it has one.
    pub fn target(word: u32) -> Option<u32> {
        let row = Self::row(word)?;
        (row.leads).then(|| layout::get(&[C::TARGET], &[word.into()]) as u32)
    }

    /// Returns the targets of an instruction of `row`: in front of each in text, nothing for the last one, and where it is.
    fn targets(row: &'static Row) -> impl Iterator<Item = (&'static str, &'static [Bits])> {
        let named = row.fields.iter().filter_map(|field| match field.text {
            Text::Target(name) => Some((name, field.bits)),
            _ => None,
        });
        let last: &'static [Bits] = const { &[C::TARGET] };
        named.chain(row.leads.then_some(("", last)))
    }

    /// Returns where the targets of `word` are.
    fn leads(word: u32) -> impl Iterator<Item = &'static [Bits]> {
        let targets = Self::row(word).into_iter().flat_map(Self::targets);
        targets.map(|(_, bits)| bits)
    }

    /// Returns `word` with other targets; `to` returns each from the old one.
    fn with_targets(word: u32, to: impl Fn(usize) -> usize) -> u32 {
        Self::leads(word).fold(word, |word, bits| {
            let old = layout::get(bits, &[word.into()]);
            led_to(word, bits, to(old as usize))
        })
    }

    /// Returns `word` without the bits that an instruction of `row` ignores.
    fn read(row: &Row, word: u32) -> u32 {
        row.word | word & Self::operands(row)
    }

    /// Returns a 1 for each bit of the operands of `row`.
    fn operands(row: &Row) -> u32 {
        let target = row.leads.then_some(C::TARGET);
        let fields = row.fields.iter().flat_map(|field| field.bits);
        let all = fields.copied().chain(target);
        all.fold(0, |word, bits| put(bits, word, u32::MAX))
    }

    /// Returns `word` as the assembler reads any word.
    fn as_number(word: u32) -> String {
        let digits = C::BITS.div_ceil(4) as usize;
        format!(".word 0x{word:0digits$x}")
    }

    /// Returns the highest address.
    fn last() -> u32 {
        C::TARGET.mask() as u32
    }
}

impl<C: Code> Assembly for Words<C> {
    fn name(&self) -> &str {
        &self.name
    }

    fn rename(&mut self, name: String) {
        self.name = name;
    }

    /// Checks the values that a file can give.
    ///
    /// # Errors
    /// There are no words, there are more words than addresses, or a word has too many bits.
    fn check(&self, file: &str) -> Result<(), InputError> {
        let bad = |why: String| Err(InputError::new(file, 0, "words", why));
        let (count, most) = (self.words.len(), Self::last() as usize + 1);
        let wide = |word: &&u32| **word > u32::MAX >> (32 - C::BITS);
        match self.words.iter().find(wide) {
            _ if count == 0 => bad("there are none".to_owned()),
            _ if count > most => bad(format!("{count}, the memory has room for {most}")),
            Some(word) => bad(format!("{word:#x} has more than {} bits", C::BITS)),
            None => Ok(()),
        }
    }

    /// Returns the instruction at `pc` as text: `.word` if no mnemonic assembles to it.
    fn disassemble(&self, pc: u32) -> String {
        let word = self.word(pc);
        match Self::row(word).filter(|row| Self::read(row, word) == word) {
            Some(row) => {
                let fields = layout::operands(row.fields, &[word.into()]);
                let target = Self::target(word).map(|target| format!(" {target}"));
                format!("{}{fields}{}", row.name, target.unwrap_or_default())
            }
            // Keeps the bits that the instruction ignores.
            None => Self::as_number(word),
        }
    }

    fn meaning(name: &str) -> Option<String> {
        let row = C::TABLE
            .iter()
            .find(|row| row.name.eq_ignore_ascii_case(name))?;
        Some(format!("{}{}: {}", row.name, row.form(), row.does))
    }

    /// Returns the program as words, which [`Assembly::assemble`] reads too.
    fn to_words(&self) -> String {
        let lines = (0..).zip(&self.words).map(|(pc, word)| {
            let text = self.disassemble(pc);
            format!("{}  // {pc}  {text}\n", Self::as_number(*word))
        });
        lines.collect()
    }

    /// Returns the program as text that assembles to the same words.
    fn to_text(&self) -> String {
        let lines = (0..)
            .zip(&self.words)
            .map(|(pc, _)| (pc, self.disassemble(pc)));
        lines
            .map(|(pc, line)| format!("{line:<16} // {pc}\n"))
            .collect()
    }

    /// Assembles a program: one instruction per line, labels `name:`, operands as in the table, targets as labels or addresses,
    /// `.word` for any word.
    ///
    /// # Errors
    /// A line is none of these, or the program fails [`Assembly::check`].
    fn assemble(text: &str, file: &str) -> Result<Self, InputError> {
        let (mut words, mut labels, mut targets) = (Vec::new(), BTreeMap::new(), Vec::new());
        items(text, file, |at, item| {
            let (name, rest) = match item {
                Item::Label(name) => {
                    return match labels.insert(name, words.len()) {
                        None => Ok(()),
                        Some(_) => {
                            let why = format!("`{name}` is defined twice");
                            Err(at.error("label", why).about(name))
                        }
                    };
                }
                Item::Line(name, rest) => (name.to_uppercase(), rest),
            };
            if name == ".WORD" {
                words.push(at.unsigned("word", rest, u32::MAX >> (32 - C::BITS))?);
                return Ok(());
            }
            let Some(row) = C::TABLE.iter().find(|row| row.name == name) else {
                return Err(at.unknown_mnemonic(&name, C::TABLE.iter().map(|row| row.name)));
            };
            let (word, led) = Self::line(at, row, operands(rest).collect())?;
            targets.extend(led.into_iter().map(|led| (at, words.len(), led)));
            words.push(word);
            Ok(())
        })?;
        let mut errors = Errors::default();
        for (at, number, (bits, target)) in targets {
            let most = highest(bits);
            let led: Result<u32, InputError> = match labels.get(target) {
                // Checks that the address fits into the target bits.
                Some(place) => at.unsigned("target", &place.to_string(), most),
                None if target.starts_with(|c: char| c.is_ascii_digit()) => {
                    at.unsigned("target", target, most)
                }
                None => Err(at.undefined_label("target", target, labels.keys())),
            };
            let led = errors.note(led).unwrap_or(0);
            words[number] = led_to(words[number], bits, led as usize);
            if errors.is_full() {
                break;
            }
        }
        errors.none()?;
        let program = Words::new(&program_name(file), words);
        program.check(file)?;
        Ok(program)
    }
}

impl<C: Code> Words<C> {
    /// Returns the word of an instruction of `row` with these operands, and its targets, which are read when all labels are known.
    fn line<'a>(at: Location<'a>, row: &'static Row, mut given: Vec<&'a str>) -> Line<'a> {
        let written = format!("it is written `{}{}`", row.name, row.form());
        let mut targets = Vec::new();
        for (name, bits) in Self::targets(row) {
            let behind = |text: &'a str| {
                let (begin, behind) = text.split_at_checked(name.len())?;
                begin.eq_ignore_ascii_case(name).then_some(behind)
            };
            let found = given.iter().rposition(|text| behind(text).is_some());
            let target = found.and_then(|place| behind(given.remove(place)));
            let target = target.ok_or_else(|| {
                let what = match name {
                    "" => "a target".to_owned(),
                    _ => format!("`{name}`"),
                };
                let most = highest(bits);
                let why = format!("needs {what}, a label or 0..{most}: {written}");
                at.error(row.name, why)
            })?;
            targets.push((bits, target));
        }
        let mut words = layout::usual(row.fields, [row.word.into()]);
        let mut from = Operands {
            at,
            word: row.name,
            rest: given,
            fixed: 0,
        };
        layout::take(&mut from, row.fields, &mut words)?;
        match from.rest.first() {
            Some(other) => {
                let why = format!("does not take `{other}`: {written}");
                Err(at.error(row.name, why).about(other))
            }
            None => Ok((words[0] as u32, targets)),
        }
    }
}

impl<C: Code> Instructions for Words<C> {
    fn count(&self) -> usize {
        self.words.len()
    }

    fn is_plain(&self, number: usize) -> bool {
        Self::number_of(self.words[number]) == Some(0)
    }

    fn laid_out(&self, pieces: &[Piece]) -> Self {
        let places = places(pieces, self.words.len());
        let words = pieces.iter().map(|piece| {
            let Piece::Old(number) = *piece else {
                return C::TABLE[0].word;
            };
            Self::with_targets(self.words[number], |old| moved(&places, old))
        });
        Words::new(&self.name, words.collect())
    }

    fn simpler(&self) -> Vec<Self> {
        let simple = (0..self.words.len()).flat_map(|number| {
            let word = self.words[number];
            let of_row = move |row: &'static Row| {
                let read = Self::read(row, word);
                let fields = layout::simpler(row.fields, [read.into()]);
                let ignored = (read != word).then_some(read);
                ignored
                    .into_iter()
                    .chain(fields.into_iter().map(|[word]| word as u32))
            };
            let words = Self::row(word).into_iter().flat_map(of_row);
            words.map(move |word| self.with(number, word))
        });
        simple.collect()
    }

    fn copy(&mut self, to: usize, donor: &Self, from: usize) {
        self.words[to] = donor.words[from];
    }

    fn flip(&mut self, number: usize, bit: u32) {
        self.words[number] ^= 1 << (bit % C::BITS);
    }

    fn retargeted(&self, number: usize, to: usize) -> Vec<Self> {
        let word = self.words[number];
        let led = Self::leads(word).map(|bits| self.with(number, led_to(word, bits, to)));
        led.collect()
    }
}

impl<C: Code> Words<C> {
    fn with(&self, number: usize, word: u32) -> Self {
        let mut program = self.clone();
        program.words[number] = word;
        program
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    use super::*;
    use crate::generate::near_legal::break_one;

    /// Words of nine bits: an instruction without operands, one with a target, one with fields too.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub(crate) struct Small;

    impl Code for Small {
        const BITS: u32 = 9;
        const OPCODE: Bits = bits(5, 4);
        const TARGET: Bits = bits(3, 0);
        const TABLE: &'static [Row] = &[
            Row::new("NOP", 0, "nothing"),
            Row::leading("GO", 0x10, "goes on at the target"),
            Row::leading("IF", 0x20, "goes on at the target if a lane wants to").with(&[
                Field::new("flag", &[bits(7, 6)], Text::Number("n=")),
                Field::new("not", &[bits(8, 8)], Text::Without("all")),
            ]),
        ];
        const OUTSIDE: u32 = 0x1ff;
    }

    fn read(text: &str) -> Result<Vec<u32>, String> {
        let program = Words::<Small>::assemble(text, "small.s").map_err(|e| e.to_string())?;
        Ok(program.words)
    }

    #[test]
    fn words_and_text_are_each_other_s_inverse() {
        for word in 0..512 {
            let program = Words::<Small>::new("small", vec![word]);
            assert_eq!(read(&program.to_text()), Ok(vec![word]));
            assert_eq!(read(&program.to_words()), Ok(vec![word]));
        }
        let words = read("on: nop\nGO on // back\n GO 15\n.word 0x1ff\nIF ALL on\n if n=0x2, 4\n");
        assert_eq!(words, Ok(vec![0, 0x10, 0x1f, 0x1ff, 0x20, 0x1a4]));
        assert_eq!(read(&"NOP\n".repeat(16)), Ok(vec![0; 16]));
        for (text, why) in [
            ("", "small.s: words: there are none"),
            (
                "\nNPO\n",
                "small.s:2: mnemonic: `NPO` is not an instruction, statement or directive; did you mean `NOP`?",
            ),
            ("GO 16\n", "small.s:1: target: 16 is not in 0..15"),
            (
                "GO\n",
                "small.s:1: GO: needs a target, a label or 0..15: it is written `GO TARGET`",
            ),
            (
                "NOP 1\n",
                "small.s:1: NOP: does not take `1`: it is written `NOP`",
            ),
            (
                "IF m=1 2\n",
                "small.s:1: IF: does not take `m=1`: it is written `IF [n=0..3] [all] TARGET`",
            ),
            ("IF n=4 2\n", "small.s:1: n: 4 is not in 0..3"),
            (
                "again: GO agian\n",
                "small.s:1: target: label `agian` is not defined; did you mean `again`?",
            ),
            ("a:\na: NOP\n", "small.s:2: label: `a` is defined twice"),
            (".word 512\n", "small.s:1: word: 512 is not in 0..511"),
        ] {
            assert_eq!(read(text), Err(why.to_owned()));
        }
        let why = "small.s: words: 17, the memory has room for 16";
        assert_eq!(read(&"NOP\n".repeat(17)), Err(why.to_owned()));
        let wide = Words::<Small>::new("wide", vec![512]).check("x.json");
        let why = "x.json: words: 0x200 has more than 9 bits";
        assert_eq!(wide.unwrap_err().to_string(), why);
        let form = "IF [n=0..3] [all] TARGET: goes on at the target if a lane wants to";
        assert_eq!(Words::<Small>::meaning("if").as_deref(), Some(form));
        assert_eq!(Words::<Small>::meaning("no"), None);
    }

    #[test]
    fn targets_follow_their_instructions() {
        let program = Words::<Small>::new("p", vec![0, 0x13, 0x01, 0x10, 0xe1]);
        assert_eq!([program.word(1), program.word(5)], [0x13, 0x1ff]);
        let pieces = [Piece::New, Piece::Old(1), Piece::Old(3)];
        assert_eq!(program.laid_out(&pieces).words, [0, 0x12, 0x10]);
        assert_eq!(program.led(&pieces, 3), 2);
        assert_eq!((program.number(4), program.number(5)), (Some(4), None));
        // Ignored bits, a number, a flag that is usually set.
        let simpler = [(2, 0), (4, 0x21), (4, 0xa1), (4, 0x61), (4, 0x1e1)];
        let simpler = simpler.map(|(number, word)| program.with(number, word));
        assert_eq!(program.simpler(), simpler);
        assert_eq!(program.retargeted(4, 99), [program.with(4, 0xef)]);
        assert_eq!(program.retargeted(0, 1), []);
        assert!(program.is_plain(0) && program.is_plain(2) && !program.is_plain(1));
    }

    /// Words of twelve bits: besides the target that stands last one in front of it, which is in two pieces.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub(crate) struct Two;

    impl Code for Two {
        const BITS: u32 = 12;
        const OPCODE: Bits = bits(11, 10);
        const TARGET: Bits = bits(3, 0);
        const TABLE: &'static [Row] = &[
            Row::new("NOP", 0, "nothing"),
            Row::leading("GO", 0x400, "goes on at the target"),
            Row::leading(
                "BREAK",
                0x800,
                "goes on at the target, lanes wait at the other",
            )
            .with(&[
                Field::new("not", &[bits(8, 8)], Text::Flag("not")),
                Field::new("end", &[bits(9, 9), bits(6, 4)], Text::Target("end=")),
            ]),
            Row::new("WAIT", 0xc00, "lanes wait at the target").with(&[Field::new(
                "end",
                &[bits(6, 4)],
                Text::Target("end="),
            )]),
        ];
        const OUTSIDE: u32 = 0xfff;
    }

    #[test]
    fn each_target_of_a_word_is_read_printed_moved_and_drawn() {
        let read = |text: &str| {
            let program = Words::<Two>::assemble(text, "two.s").map_err(|e| e.to_string())?;
            Ok::<_, String>(program.words)
        };
        for word in 0..1 << Two::BITS {
            let program = Words::<Two>::new("two", vec![word]);
            assert_eq!(read(&program.to_text()), Ok(vec![word]));
            assert_eq!(read(&program.to_words()), Ok(vec![word]));
        }
        let text = "BREAK not END=end on\nNOP\non: BREAK end=9 3 // 2\nWAIT end=on\nend: GO on\n";
        let program = Words::<Two>::new("p", vec![0x942, 0, 0xa13, 0xc20, 0x402]);
        assert_eq!(read(text), Ok(program.words.clone()));
        assert_eq!(program.disassemble(2), "BREAK end=9 3");
        for (text, why) in [
            (
                "BREAK 3\n",
                "two.s:1: BREAK: needs `end=`, a label or 0..15: it is written `BREAK [not] end=TARGET TARGET`",
            ),
            (
                "BREAK end=3\n",
                "two.s:1: BREAK: needs a target, a label or 0..15: it is written `BREAK [not] end=TARGET TARGET`",
            ),
            (
                "BREAK end=2 end=3 4\n",
                "two.s:1: BREAK: does not take `end=2`: it is written `BREAK [not] end=TARGET TARGET`",
            ),
            ("WAIT end=8\n", "two.s:1: target: 8 is not in 0..7"),
            (
                "again: BREAK end=agian again\n",
                "two.s:1: target: label `agian` is not defined; did you mean `again`?",
            ),
        ] {
            assert_eq!(read(text), Err(why.to_owned()));
        }
        // Without the NOP at 1.
        let pieces = [0, 2, 3, 4].map(Piece::Old);
        let shorter = [0x931, 0xa02, 0xc10, 0x401];
        assert_eq!(program.laid_out(&pieces).words, shorter);
        let led = [program.with(0, 0x972), program.with(0, 0x947)];
        assert_eq!(program.retargeted(0, 7), led);
        assert_eq!(program.retargeted(3, 99), [program.with(3, 0xc70)]);
        assert_eq!(program.simpler(), [program.with(0, 0x842)]);

        // In programs of four words both targets are mostly in them, and each is changed.
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        let (mut drawn, mut inside, mut changed) = (0, [0; 2], [0; 2]);
        for _ in 0..4000 {
            let word = draw::<Two, _>(&mut rng, 4);
            if word & 0xc00 != 0x800 {
                continue;
            }
            let both = |word: u32| [word >> 6 & 8 | word >> 4 & 7, word & 15];
            let mut program = Words::<Two>::new("p", vec![0, word, 0]);
            break_one(&mut rng, &mut program, &[]);
            drawn += 1;
            for n in 0..2 {
                inside[n] += u32::from(both(word)[n] < 4);
                let other = both(program.words[1])[n] != both(word)[n];
                changed[n] += u32::from(other && program.words[1] & 0xd80 == word & 0xd80);
            }
        }
        assert!(
            inside.iter().all(|n| n * 10 > drawn * 8),
            "{inside:?} {drawn}"
        );
        assert!(changed.iter().all(|n| *n > 100), "{changed:?} {drawn}");
    }

    /// The same words as a machine reads them: where it goes on, if it does.
    fn does(word: u32) -> Option<u32> {
        let (target, wants) = (word & 15, word >> 6 & 3 > 1 || word >> 8 & 1 == 1);
        match word >> 4 & 3 {
            0 => Some(16),
            1 => Some(target),
            2 if wants => Some(target),
            2 => Some(word >> 6 & 1 | 32),
            _ => None,
        }
    }

    /// Declares the table of [`Small`] with a mistake.
    macro_rules! mistaken {
        ($name:ident: $target:expr, $($row:expr),+) => {
            #[derive(Clone, Copy, Debug, Default, PartialEq)]
            struct $name;
            impl Code for $name {
                const TARGET: Bits = $target;
                const TABLE: &'static [Row] = &[$($row),+];
                const BITS: u32 = Small::BITS;
                const OPCODE: Bits = Small::OPCODE;
                const OUTSIDE: u32 = Small::OUTSIDE;
            }
        };
    }

    #[test]
    fn a_wrong_row_is_named() {
        const ROWS: &[Row] = Small::TABLE;
        const WIDE: Row = Row::new("GO", 0x10, "").with(&[Field::new(
            "to",
            &[bits(6, 6), bits(3, 0)],
            Text::Number("to="),
        )]);
        mistaken!(Missing: Small::TARGET, ROWS[0], ROWS[2]);
        mistaken!(Added: Small::TARGET, ROWS[0], ROWS[1], ROWS[2], Row::new("END", 0x30, ""));
        mistaken!(Low: bits(2, 0), ROWS[0], ROWS[1], ROWS[2]);
        mistaken!(Wide: Small::TARGET, ROWS[0], WIDE, ROWS[2]);
        mistaken!(Plain: Small::TARGET, ROWS[0], ROWS[1], Row::leading("IF", 0x20, ""));
        assert_eq!(wrong_rows::<Small, _>(does), [""; 0]);
        assert_eq!(wrong_rows::<Missing, _>(does), ["opcode 0x10 has no row"]);
        assert_eq!(wrong_rows::<Added, _>(does), ["there is no END"]);
        assert_eq!(
            wrong_rows::<Low, _>(does),
            [
                "GO: bits 0x8 matter, and are no operand",
                "IF: bits 0x8 matter, and are no operand"
            ]
        );
        assert_eq!(
            wrong_rows::<Wide, _>(does),
            ["GO: bits 0x40 are an operand, and change nothing in these states"]
        );
        assert_eq!(
            wrong_rows::<Plain, _>(does),
            ["IF: bits 0x1c0 matter, and are no operand"]
        );
    }

    #[test]
    fn words_are_drawn_from_the_table_and_broken_in_each_way() {
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        let (mut rows, mut kinds) = ([0; 4], [0; 3]);
        for _ in 0..4000 {
            let word = draw::<Small, _>(&mut rng, 3);
            let number = Words::<Small>::number_of(word);
            rows[number.unwrap_or(3)] += 1;
            let Some(row) = Words::<Small>::row(word) else {
                continue;
            };
            kinds[0] += u32::from(Words::<Small>::read(row, word) != word);
            kinds[1] += u32::from(Words::<Small>::target(word).is_some_and(|to| to > 2));
            let mut program = Words::<Small>::new("p", vec![word]);
            for (_, _, fault) in faults::<Small, Pcg64Mcg>() {
                if fault(&mut rng, &mut program).is_some() {
                    kinds[2] += u32::from(program.words != [word]);
                    program.words[0] = word;
                }
            }
            assert!(word < 512 && program.check("p").is_ok());
        }
        assert!(
            rows[..3].iter().all(|n| *n > 1000) && rows[3] > 30,
            "{rows:?}"
        );
        assert!(kinds.iter().all(|n| *n > 100), "{kinds:?}");
    }
}
