//! The `.s` dialect and `.hex`.
//!
//! `.s` is the syntax of NVIDIA's disassembler, so that listings of `nvdisasm` and `nvdisasm -hex` can be
//! read unchanged. Each instruction ends with `;` or with its line; labels, `NAME:`, may stand before it.
//! Mnemonics and directives are case-insensitive, labels are case-sensitive. `//` begins a comment,
//! and `/* */` enclose one within a line. Numbers are decimal or `0x` hexadecimal.
//!
//! # Bundles and labels (`.s`)
//!
//! The assembler places a control word before each group of three instructions; `.control WORD` there
//! sets another one. The last bundle is filled up with NOP. A label is the address of the word that
//! follows: of the control word if that is written out, otherwise of the instruction.
//!
//! # Instructions (`.s`)
//!
//! ```text
//! [@P0] BRA [CC.GE,] PLACE;        SSY PLACE;          SYNC [CC.GE];         BRX R0 OFFSET;
//! [@P0] JMP [CC.GE,] PLACE;        JCAL PLACE;         KIL [CC.GE];          JMX R0 ADDRESS;
//! ```
//!
//! | like | the following are written | with the suffixes |
//! |---|---|---|
//! | `BRA` | JMP | `.U`, `.LMT` |
//! | `SSY`, without a condition | PBK, PCNT, PRET, CAL, JCAL | `.NOINC`: CAL, JCAL, PRET |
//! | `SYNC` | BRK, CONT, RET, EXIT, KIL | `.KEEPREFCOUNT`: EXIT |
//! | `BRX`, condition as BRA | JMX | `.LMT` |
//!
//! | operand | meaning |
//! |---|---|
//! | `@P0` to `@P6`, `@PT`, `@!P0` ... | the predicate (spa5-2.4); PT if there is none |
//! | `CC.GE` | the CC test by its name in spa5-2.4, also `CC.TRUE` and `CC.FALSE` for T and F; T if there is none |
//! | PLACE | an address, or a label as `NAME` or `` `(NAME) ``. Not normalized; any address that an offset can reach, for JMP and JCAL any of 32 bits |
//! | `c[BANK][ADDRESS]` | instead of a place: the constant-bank form, 0..31 and -32768..65535; of JMP, JCAL and JMX it is UNSUPPORTED, and needs its word in a comment |
//! | `R0 OFFSET` | register R0 to R254 or RZ, and the offset of BRX; `c[BANK][R0+ADDRESS]`, or with only one of the two, its constant-bank form |
//! | `R0 ADDRESS` | the same for the address of JMX, 32 bits |
//! | `&req={0,1}`, `&wr=0x1`, `&rd=0x0`, `&req_6`; `?sched`, `?WAIT5` ... | scheduling, in braces or not, anywhere behind the mnemonic: ignored, because it does not change what an instruction does (spa5-O20) |
//!
//! | line | instruction |
//! |---|---|
//! | `.word WORD` | any word, 64 bits in hexadecimal |
//! | `PEXIT`, `PLONGJMP`, ... `BPT` | an opcode of the block that is UNSUPPORTED (spa5-2.3), without operands |
//! | `NOP`, `ISETP ...`: another mnemonic of the instruction set, sm_50 to sm_62 | a black box: the word of NOP, whatever its suffixes and operands |
//! | `X`, `X ...` | also a black box, for any instruction: the rest is ignored |
//!
//! A mnemonic that is not in the instruction set is refused.
//!
//! # Listings of `nvdisasm`
//!
//! A comment of `0x` and 16 digits is a word. Behind an instruction it belongs to that instruction: a black
//! box takes it over, and any other instruction must agree with it, apart from bits that the unit ignores; after one that ends with `}`
//! it may stand on a later line. `dis` writes such a comment where the text does not say all of a word.
//! Alone on a line it is a control word. Other comments, including addresses, are ignored.
//!
//! Of several sections, only `.text...` is read, and there may be only one. `(*"BRANCH_TARGETS A,B"*)` behind
//! an instruction acts as its `.targets`.
//!
//! # Directives (`.s` and `.hex`)
//!
//! Each at most once (`.targets`: once for each instruction), anywhere in the file. Addresses count from 0, not from
//! the base.
//!
//! | directive | sets | default |
//! |---|---|---|
//! | `.entry PLACE` | where a launch begins, a label (only `.s`) or a multiple of 8 | 0 |
//! | `.prog_base N` | byte address of the program, a multiple of 32; stands before the first instruction | 0 |
//! | `.constant c[BANK][ADDRESS] N` | what a constant bank holds there, for constant-bank forms; once for each place | 0 |
//! | `.prog_size N` | bytes that belong to the program, a multiple of 32 | as many as there are |
//! | `.targets PLACE PLACE ...` | the compiler's list for an instruction: its address, and the legal targets | |
//!
//! Only in `.s`, any number of times:
//!
//! | directive | |
//! |---|---|
//! | `.control WORD` | the control word of the bundle that begins here |
//! | `.align N` | fills up with NOP to a multiple of N, a multiple of 32; a smaller N has no effect |
//!
//! Other directives of listings (`.headerflags`, `.type`, `.size` ...) are ignored.
//!
//! # `.hex`
//!
//! Besides directives and comments (`;` or `//`), each line is a word of 16 hexadecimal digits, with or without `0x`,
//! including control words. Its address may stand before it, in hexadecimal. Where the addresses skip a
//! control word, it is the one of hand-made programs (spa5-2.1); nothing else may be skipped. The last
//! bundle is filled up with NOP.

use std::collections::BTreeMap;

use super::bare;
use crate::spa5::isa::{
    BlockOp, Branch, Code, CodeError, Indirect, Label, Leave, LeaveOp, NOP, OFFSETS, SetUp,
    SetUpOp, Target, Word, is_control, norm,
};
use crate::spa5::program::{MAX_BUNDLES, Program};
use reconverge_bench::input::{InputError, code};
use reconverge_bench::text::{
    self, Errors, Given, HexItem, Line, Location, no_instruction, program_name,
};

mod directives;
mod parts;
use parts::{
    Operands, WORD_DIGITS, annotation, bank_form, braces, check_label, constant, hex_digits,
    is_bank_form, is_black_box, label, predicate, split_comments, unknown_mnemonic, unscheduled,
    word,
};

/// Assembles a `.s` file. The program gets the name of `file`, without folder and extension.
///
/// # Errors
///
/// The text has errors: the first, which carries the others, each with its line.
pub fn assemble(text: &str, file: &str) -> Result<Program, InputError> {
    let mut assembler = Assembler::new(file);
    let mut errors = Errors::default();
    for (line, content) in (1..).zip(text.lines()) {
        errors.note(assembler.line(Location { file, line }, content));
        if errors.is_full() {
            break;
        }
    }
    errors
        .none()
        .and_then(|()| assembler.program())
        .map_err(|e: InputError| e.in_text(text))
}

/// Parses a `.hex` file; the program is named in the same way.
///
/// # Errors
///
/// The text has errors: the first, which carries the others, each with its line.
pub fn parse_hex(text: &str, file: &str) -> Result<Program, InputError> {
    let mut assembler = Assembler::new(file);
    text::hex_items(text, file, |at, item| match item {
        HexItem::Directive(word, operands) => {
            assembler.line = at.line;
            match assembler.setting(at, &word, operands, false)? {
                true => Ok(()),
                false => Err(at.unknown_directive(&word, &directives::DIRECTIVES)),
            }
        }
        HexItem::Words(words) => assembler.hex_words(at, &words),
    })
    .and_then(|()| assembler.program())
    .map_err(|e| e.in_text(text))
}

/// Returns whether a text is words rather than assembly: the first line that is more than a directive or comments
/// decides; without such a line, the extension of `file` does.
///
/// Other units have shorter words; here such a word could be a mnemonic, DADD.
pub fn is_hex(text: &str, file: &str) -> bool {
    let first = text
        .lines()
        .map(code)
        .find(|line| !line.is_empty() && !line.starts_with('.'));
    match first {
        Some(line) => {
            let tokens: Vec<&str> = line.split_whitespace().collect();
            match tokens[..] {
                [word] => hex_digits(word).is_some_and(|d| d.len() == WORD_DIGITS),
                // No mnemonic of hexadecimal digits (DADD) has hexadecimal operands.
                [address, word, ..] => hex_digits(address).is_some() && hex_digits(word).is_some(),
                [] => false,
            }
        }
        None => std::path::Path::new(file)
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("hex")),
    }
}

/// Directives of listings that do not affect instructions.
const REMARKS: [&str; 13] = [
    ".headerflags",
    ".elftype",
    ".sectionflags",
    ".sectionentsize",
    ".sectioninfo",
    ".global",
    ".weak",
    ".local",
    ".type",
    ".size",
    ".other",
    ".file",
    ".loc",
];

/// The sections of a listing seen so far.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Section {
    /// No section: all of the text is code.
    #[default]
    None,
    /// A section that is not code, with whether code was before it.
    Skipped(bool),
    /// Code.
    Code,
}

/// A place as written in the text.
enum Spot {
    Number(i64),
    Label(Label),
}

/// A label that was named or defined.
struct Name {
    label: Label,
    /// Line of its first use.
    line: usize,
    defined: bool,
}

/// An instruction parsed from a line.
struct Parsed {
    word: u64,
    /// Its target, if that is a label.
    target: Option<Label>,
    /// The rule for its word in a listing.
    listed: Listed,
}

/// How an instruction must agree with the word that a listing gives for it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Listed {
    /// It is a black box and takes the word over.
    BlackBox,
    /// It has this opcode and takes the word over.
    Opcode(BlockOp),
    /// The text is complete, and the word may only add bits that are ignored.
    Text,
}

#[derive(Default)]
struct Assembler<'a> {
    file: &'a str,
    /// The current line.
    line: usize,
    code: Code,
    section: Section,
    names: BTreeMap<String, Name>,
    /// Labels before the next word.
    pending: Vec<Label>,
    /// Words that listings give for the instructions at these addresses.
    listed: Vec<Line<(u32, Listed, u64)>>,
    /// The text of instructions, by address, that need a word of the listing to be complete.
    owed: BTreeMap<u32, Line<String>>,
    /// The last instruction, if it ended with `}` and its word has not followed yet.
    awaiting: Option<(u32, Listed)>,
    given: Given,
    entry: Option<Line<Spot>>,
    /// Line of `.prog_base`.
    based: usize,
    constants: BTreeMap<u32, u32>,
    prog_size: Option<u32>,
    targets: Vec<Line<(Spot, Vec<Spot>)>>,
}

impl<'a> Assembler<'a> {
    fn new(file: &'a str) -> Self {
        Assembler {
            file,
            ..Assembler::default()
        }
    }

    /// Reads a line of a `.s` file.
    fn line(&mut self, at: Location<'a>, content: &str) -> Result<(), InputError> {
        self.line = at.line;
        let (code, listed) = split_comments(at, content)?;
        // The instruction on this line to which a word would belong.
        let mut last = None;
        for piece in code.split(';') {
            let mut rest = piece.trim();
            while let Some((name, after)) = label(rest) {
                if !matches!(self.section, Section::Skipped(_)) {
                    self.define(at, name)?;
                }
                rest = after.trim_start();
            }
            if rest.is_empty() {
                continue;
            }
            if rest.starts_with('.') {
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                let (directive, operands) = rest.split_at(end);
                let directive = directive.to_ascii_lowercase();
                if directive == ".word" && !matches!(self.section, Section::Skipped(_)) {
                    self.one_operand(at, ".word", " WORD", operands)?;
                    let parsed = Parsed {
                        word: word(at, ".word", operands.trim())?,
                        target: None,
                        listed: Listed::Text,
                    };
                    last = Some(self.instruction(at, &parsed, false)?);
                } else {
                    self.directive(at, &directive, operands.trim())?;
                }
            } else if !matches!(self.section, Section::Skipped(_)) {
                let rest = unscheduled(at, rest)?;
                let (text, closes) = braces(rest.trim());
                if text.is_empty() {
                    continue;
                }
                let (text, annotation) = annotation(text);
                let parsed = self.parse(at, text)?;
                let place = self.instruction(at, &parsed, closes)?;
                if let Some(names) = annotation {
                    self.annotated(at, place.0, names)?;
                }
                last = Some(place);
            }
        }
        match listed {
            Some(word) if !matches!(self.section, Section::Skipped(_)) => {
                self.listed_word(at, last, word)
            }
            _ => Ok(()),
        }
    }

    /// Reads a word in a comment, after instruction `last` of its line.
    fn listed_word(
        &mut self,
        at: Location,
        last: Option<(u32, Listed)>,
        word: u64,
    ) -> Result<(), InputError> {
        let awaiting = self.awaiting.take();
        let Some((pc, listed)) = last.or(awaiting) else {
            return self.control(at, "comment", word);
        };
        let found = Word::decode(word);
        let (right, name) = match listed {
            Listed::Text => (true, ""),
            Listed::BlackBox => (matches!(found, Word::Other(_)), "a black box"),
            Listed::Opcode(op) => {
                let same = matches!(found, Word::Unsupported(other, _) if other == op);
                (same, op.name())
            }
        };
        if !right {
            let other = match found {
                Word::Other(_) => "a black box",
                found => found.name().unwrap_or("an opcode without a name"),
            };
            let message = format!("{word:#018x} is {other}, and the instruction is {name}");
            return Err(at.error("comment", message));
        }
        self.owed.remove(&pc);
        self.listed.push(Line::new(at.line, (pc, listed, word)));
        Ok(())
    }

    /// Sets `word` as the control word of the bundle that begins here.
    fn control(&mut self, at: Location, field: &str, word: u64) -> Result<(), InputError> {
        self.room(at)?;
        self.awaiting = None;
        match self.code.control(word) {
            Some(place) => {
                self.bind(place);
                Ok(())
            }
            None => {
                let message = format!(
                    "a control word belongs before the first of three instructions, not at {:#06x}",
                    self.code.end()
                );
                Err(at.error(field, message))
            }
        }
    }

    /// Binds the labels before the word at `address`.
    fn bind(&mut self, address: u32) {
        for label in self.pending.drain(..) {
            self.code.bind_at(label, address);
        }
    }

    /// Adds an instruction; returns its address, and the rule for its word.
    fn instruction(
        &mut self,
        at: Location,
        parsed: &Parsed,
        closes: bool,
    ) -> Result<(u32, Listed), InputError> {
        self.room(at)?;
        self.bind(self.code.here());
        let pc = match parsed.target {
            Some(label) => self.code.push_raw_to(parsed.word, label),
            None => self.code.push_raw(parsed.word),
        };
        self.awaiting = closes.then_some((pc, parsed.listed));
        Ok((pc, parsed.listed))
    }

    /// Checks that there is room for a word.
    fn room(&self, at: Location) -> Result<(), InputError> {
        if self.code.is_full() {
            return Err(at.error("program", too_long()));
        }
        Ok(())
    }

    /// Returns the label `name`, which may not be defined yet.
    fn label(&mut self, at: Location, name: &str) -> Result<Label, InputError> {
        check_label(at, name)?;
        if let Some(known) = self.names.get(name) {
            return Ok(known.label);
        }
        let label = self.code.label();
        let new = Name {
            label,
            line: at.line,
            defined: false,
        };
        self.names.insert(name.to_owned(), new);
        Ok(label)
    }

    fn define(&mut self, at: Location, name: &str) -> Result<(), InputError> {
        let label = self.label(at, name)?;
        if let Some(known) = self.names.get_mut(name) {
            if known.defined {
                return Err(at.error("label", format!("`{name}` is defined twice")));
            }
            known.defined = true;
        }
        self.pending.push(label);
        Ok(())
    }

    /// Parses a number, or a label if there are any.
    fn spot(
        &mut self,
        at: Location,
        field: &str,
        text: &str,
        range: (i64, i64),
        labels: bool,
    ) -> Result<Spot, InputError> {
        if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') || !labels {
            let (min, max) = range;
            return Ok(Spot::Number(at.number(field, text, min, max)?));
        }
        let name = text
            .strip_prefix("`(")
            .and_then(|t| t.strip_suffix(')'))
            .unwrap_or(text);
        Ok(Spot::Label(self.label(at, name)?))
    }

    fn one_operand(
        &self,
        at: Location,
        word: &str,
        form: &str,
        operands: &str,
    ) -> Result<(), InputError> {
        match operands.split_whitespace().count() {
            1 => Ok(()),
            _ => Err(at.usage(word, form)),
        }
    }

    /// Parses an instruction without braces and annotation.
    fn parse(&mut self, at: Location, text: &str) -> Result<Parsed, InputError> {
        let (pred, rest) = match text.strip_prefix('@') {
            None => (None, text),
            Some(rest) => {
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                let (name, rest) = rest.split_at(end);
                (Some(predicate(at, name)?), rest.trim_start())
            }
        };
        let end = rest
            .find(|c: char| c.is_whitespace() || c == ',')
            .unwrap_or(rest.len());
        let (mnemonic, operands) = rest.split_at(end);
        if mnemonic.is_empty() {
            return Err(at.error("mnemonic", "there is none behind the predicate"));
        }
        let mut suffixes = mnemonic.split('.');
        let stem = suffixes.next().unwrap_or_default();
        let mut o = Operands {
            at,
            word: mnemonic,
            suffixes: suffixes.collect(),
            rest: text::operands(operands).collect(),
        };
        let in_bank = o.rest.last().is_some_and(|text| is_bank_form(text));
        let block = BlockOp::from_name(stem)
            .filter(|op| in_bank || !matches!(op, BlockOp::Jmx | BlockOp::Jmp | BlockOp::Jcal));
        let parsed = if let Some(op) = block {
            if pred.is_some() || !o.suffixes.is_empty() || !o.rest.is_empty() {
                let owed = Line::new(at.line, mnemonic.to_owned());
                self.owed.insert(self.code.here(), owed);
            }
            return Ok(Parsed {
                word: bare(op),
                target: None,
                listed: Listed::Opcode(op),
            });
        } else if let Some(op) = SetUpOp::from_name(stem) {
            if pred.is_some() {
                return Err(at.error(op.name(), "has no predicate: it always executes"));
            }
            let noinc = op.has_noinc() && o.suffix("NOINC");
            let (target, label) = self.target(&mut o, op == SetUpOp::Jcal)?;
            let word = Word::SetUp(SetUp { op, target, noinc });
            parsed(word, label)
        } else if let Some(absolute) = one_of(stem, ["BRA", "JMP"]) {
            let (unanimous, lmt) = (o.suffix("U"), o.suffix("LMT"));
            let cond = o.cond(pred)?;
            let (target, label) = self.target(&mut o, absolute)?;
            let word = Word::Branch(Branch {
                cond,
                target,
                unanimous,
                lmt,
            });
            parsed(word, label)
        } else if let Some(absolute) = one_of(stem, ["BRX", "JMX"]) {
            let lmt = o.suffix("LMT");
            let cond = o.cond(pred)?;
            let (register, target) = o.indirect(absolute)?;
            let word = Word::Indirect(Indirect {
                cond,
                target,
                register,
                lmt,
            });
            parsed(word, None)
        } else if let Some(op) = LeaveOp::from_name(stem) {
            let keep_ref_count = op == LeaveOp::Exit && o.suffix("KEEPREFCOUNT");
            let cond = o.cond(pred)?;
            let word = Word::Leave(Leave {
                op,
                cond,
                keep_ref_count,
            });
            parsed(word, None)
        } else if is_black_box(stem) {
            return Ok(Parsed {
                word: NOP,
                target: None,
                listed: Listed::BlackBox,
            });
        } else {
            return Err(unknown_mnemonic(at, stem));
        };
        o.finish()?;
        Ok(parsed)
    }

    /// Parses the next operand as a target.
    fn target(
        &mut self,
        o: &mut Operands,
        absolute: bool,
    ) -> Result<(Target, Option<Label>), InputError> {
        let at = o.at;
        let text = o.next("target")?;
        if is_bank_form(text) {
            return Ok((self.bank(at, text)?, None));
        }
        let pc = self.code.here();
        let base = i64::from(self.code.base());
        let next = base + i64::from(pc) + 8;
        let reach = match absolute {
            true => ADDRESSES,
            false => (next + OFFSETS.start(), next + OFFSETS.end()),
        };
        match self.spot(at, "target", text, reach, true)? {
            Spot::Label(label) if absolute => Ok((Target::Absolute(0), Some(label))),
            Spot::Label(label) => Ok((Target::Offset(0), Some(label))),
            // Within ADDRESSES.
            Spot::Number(n) if absolute => Ok((Target::Absolute(n as u32), None)),
            Spot::Number(n) => match Target::direct(pc, n - base) {
                Some(target) => Ok((target, None)),
                None => Err(at.error("target", format!("{text} is out of reach"))),
            },
        }
    }

    /// Parses `c[BANK][ADDRESS]`.
    fn bank(&self, at: Location, text: &str) -> Result<Target, InputError> {
        if !is_bank_form(text) {
            let message = format!("`{text}` is not of the form c[BANK][ADDRESS]");
            return Err(at.error("constant", message).about(text));
        }
        let (bank, address) = bank_form(at, text)?;
        constant(at, bank, address)
    }

    /// Reads a line of words of a `.hex` file.
    fn hex_words(&mut self, at: Location, words: &[&str]) -> Result<(), InputError> {
        self.line = at.line;
        let (address, text) = match *words {
            [word] => (None, word),
            [address, word] => (Some(at.hex_word("address", address)?), word),
            _ => {
                let message = "is a word, perhaps its address before it: [ADDRESS] WORD";
                return Err(at.error("instruction", message));
            }
        };
        let word = word(at, "instruction", text)?;
        self.room(at)?;
        let end = self.code.end();
        let base = self.code.base();
        let address: Option<u32> = address.map(|address: u32| address.wrapping_sub(base));
        let left_out = is_control(end) && address == Some(end + 8);
        if let Some(address) = address
            && address != end
            && !left_out
        {
            let (address, end) = (base.wrapping_add(address), base.wrapping_add(end));
            let message = format!("{address:#06x}, where the next word lies at {end:#06x}");
            return Err(at.error("address", message));
        }
        if is_control(end) && !left_out {
            self.code.control(word);
        } else {
            self.code.push_raw(word);
        }
        Ok(())
    }

    /// Returns what was read as a program.
    fn program(mut self) -> Result<Program, InputError> {
        if self.code.is_empty() {
            return Err(no_instruction(self.file));
        }
        self.bind(self.code.end());
        let missing = self.names.iter().filter(|(_, name)| !name.defined);
        let mut missing: Vec<_> = missing.map(|(text, name)| (name.line, text)).collect();
        missing.sort_unstable();
        let mut errors = Errors::default();
        for (line, text) in missing {
            let defined = self.names.iter().filter(|(_, name)| name.defined);
            let defined = defined.map(|(text, _)| text);
            let error = self.at(line).undefined_label("label", text, defined);
            errors.note::<()>(Err(error));
            if errors.is_full() {
                break;
            }
        }
        errors.none()?;
        if let Some(Line { line, item }) = self.owed.values().next() {
            let message = "its operands are not assembled: give its word in a comment, or as .word";
            return Err(self.at(*line).error(item, message));
        }
        let (entry, targets) = self.places()?;
        let prog_base = self.code.base();
        let (file, line) = (self.file, self.line);
        let mut words = self.code.finish().map_err(|e| {
            let at = Location { file, line };
            // Every label is bound.
            let (CodeError::TooLong | CodeError::Unbound { .. }) = e;
            at.error("program", too_long())
        })?;
        for Line { line, item } in self.listed {
            let (pc, what, listed) = item;
            let word = &mut words[pc as usize / 8];
            if what == Listed::Text && Word::decode(*word) != Word::decode(listed) {
                let at = Location { file, line };
                let message = format!("{listed:#018x}, and the text is {:#018x}", *word);
                return Err(at.error("comment", message));
            }
            *word = listed;
        }
        // At most MAX_BUNDLES * BUNDLE.
        let size = words.len() as u32 * 8;
        let program = Program {
            name: program_name(file),
            entry,
            prog_base,
            prog_size: self.prog_size.unwrap_or(size),
            words,
            targets,
            constants: self.constants,
        };
        if prog_base > program.last_base() {
            let size = program.prog_size;
            let message =
                format!("{prog_base:#x}: with {size:#x} bytes the program does not end in 32 bits");
            let line = self.based;
            return Err(Location { file, line }.error("prog_base", message));
        }
        Ok(program)
    }

    fn at(&self, line: usize) -> Location<'a> {
        Location {
            file: self.file,
            line,
        }
    }

    /// Returns the entry, counted from the base, and the lists of targets.
    fn places(&mut self) -> Result<(u32, BTreeMap<u32, Vec<u32>>), InputError> {
        let size = self.code.end();
        let base = self.code.base();
        let number = |code: &Code, spot: &Spot| match *spot {
            // Within ADDRESSES.
            Spot::Number(n) => (n as u32).wrapping_sub(base),
            Spot::Label(label) => code.address(label).unwrap_or_default(),
        };
        let entry = match &self.entry {
            None => 0,
            Some(Line { line, item }) => {
                let entry = number(&self.code, item);
                if matches!(item, Spot::Label(_)) && entry >= size {
                    let message = "stands behind the last instruction";
                    return Err(self.at(*line).error("label", message));
                }
                entry
            }
        };
        let mut all = BTreeMap::new();
        for Line { line, item } in &self.targets {
            let at = Location {
                file: self.file,
                line: *line,
            };
            let pc = norm(number(&self.code, &item.0));
            if pc >= size || !pc.is_multiple_of(8) {
                let pc = base.wrapping_add(pc);
                let message = format!("{pc:#06x} is not the address of an instruction");
                return Err(at.error(".targets", message));
            }
            let pc = base.wrapping_add(pc);
            let field = format!("what {pc:#06x} leads to");
            self.given.once(at, ".targets", &field)?;
            let targets = item.1.iter();
            let targets = targets.map(|t| norm(base.wrapping_add(number(&self.code, t))));
            all.insert(pc, targets.collect());
        }
        Ok((entry, all))
    }
}

/// Returns whether the second of two mnemonics is `stem`; `None` if neither is.
fn one_of(stem: &str, [first, second]: [&str; 2]) -> Option<bool> {
    let second = stem.eq_ignore_ascii_case(second);
    (second || stem.eq_ignore_ascii_case(first)).then_some(second)
}

/// Range of the addresses that a directive may name.
const ADDRESSES: (i64, i64) = (0, u32::MAX as i64);

/// Largest `.align`.
const MAX_ALIGNED: u32 = 4096;

/// Returns the message for a word beyond the maximum number of words.
fn too_long() -> String {
    format!("has more than {MAX_BUNDLES} bundles: this is the first word too many")
}

/// Returns an instruction whose text is complete.
fn parsed(word: Word, target: Option<Label>) -> Parsed {
    Parsed {
        word: word.encode(),
        target,
        listed: Listed::Text,
    }
}
