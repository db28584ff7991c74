//! Conversion of words to text: one instruction, or a program with its launch operands.
//!
//! Source: spa5-2 and spa5-6 in `docs/spec/spa5.md`. The syntax is that of NVIDIA's disassembler.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::bare;
use crate::spa5::isa::{
    BlockOp, CONTROL, Cond, NOP, Pred, Target, Test, Word, black_box, is_control, norm,
};
use crate::spa5::program::Program;
use reconverge_program::instructions::Instructions as _;

/// Returns `word` as one line of assembly that assembles to the same word at `pc`.
///
/// Targets are the addresses that the offset gives, not normalized. Where the text does not say all of the word, the word follows in a
/// comment, as in listings of `nvdisasm -hex`: behind black boxes except NOP, instructions with bits that the unit ignores, and
/// unsupported ones. Words without a mnemonic become `.word`; at the address of a control word, `word` becomes `.control`. A last
/// comment describes peculiarities of the instruction in `program`.
pub fn disassemble(word: u64, pc: u32, program: &Program) -> String {
    let Said { text, all, .. } = say(word, pc, &BTreeMap::new());
    let listed = match all {
        true => String::new(),
        false => format!(" {}", listed(word)),
    };
    text + &listed + &remark(word, pc, program)
}

/// Returns the instruction alone, for a screen: neither the word nor remarks.
pub fn statement(word: u64, pc: u32) -> String {
    let text = say(word, pc, &BTreeMap::new()).text;
    text.strip_suffix(';').unwrap_or(&text).to_owned()
}

/// Returns the word as a comment that the assembler reads.
fn listed(word: u64) -> String {
    format!("/* {word:#018x} */")
}

/// Returns the last comment of a line; empty if there is nothing to say.
fn remark(word: u64, pc: u32, program: &Program) -> String {
    let notes = notes(word, pc, program);
    match notes.is_empty() {
        true => String::new(),
        false => format!(" // {}", notes.join("; ")),
    }
}

/// An instruction as text.
struct Said {
    /// The instruction with its predicate.
    text: String,
    /// Length of the predicate.
    pred: usize,
    /// The text says all of the word.
    all: bool,
}

/// Returns a word as text; targets with a name in `labels` are written as that name.
fn say(word: u64, pc: u32, labels: &BTreeMap<i64, String>) -> Said {
    let plain = |text: String, all: bool| Said { text, pred: 0, all };
    if is_control(pc) {
        return plain(format!(".control {word:#018x}"), true);
    }
    let decoded = Word::decode(word);
    match decoded {
        Word::Illegal(_) => plain(format!(".word {word:#018x};"), true),
        Word::Other(word) => {
            let name = black_box(word).unwrap_or("X");
            plain(format!("{name};"), word == NOP)
        }
        Word::Unsupported(op, word) => match op {
            BlockOp::Jmx | BlockOp::Jmp | BlockOp::Jcal => {
                let place = constant_bank(op, word);
                plain(format!("{} {place};", op.name()), false)
            }
            _ => plain(format!("{};", op.name()), word == bare(op)),
        },
        _ => {
            let (pred, text) = fields(decoded, pc, labels);
            let space = if pred.is_empty() { "" } else { " " };
            Said {
                text: format!("{pred}{space}{text};"),
                pred: pred.len(),
                all: Word::is_canonical(word),
            }
        }
    }
}

/// Returns the operand of JMX, JMP and JCAL in their constant-bank form, which has the fields of the other instructions' (spa5-2.3).
fn constant_bank(op: BlockOp, word: u64) -> String {
    let bank = (word >> 36 & 31) as u8;
    let address = (word >> 20 & 0xffff) as u16;
    let target = Target::Bank { bank, address };
    match op {
        BlockOp::Jmx => indirect((word >> 8 & 0xff) as u8, target),
        _ => place(target, 0, &BTreeMap::new()),
    }
}

/// Returns predicate and instruction as NVIDIA's disassembler prints them.
fn fields(word: Word, pc: u32, labels: &BTreeMap<i64, String>) -> (String, String) {
    let mut t = word.name().unwrap_or("NOP").to_owned();
    let pred = word
        .cond()
        .map_or(String::new(), |cond| predicate(cond.pred));
    let suffix = |t: &mut String, name: &str, on: bool| {
        if on {
            t.push('.');
            t.push_str(name);
        }
    };
    let test = |then: &str| match word.cond() {
        // The test of an instruction that shows none.
        None | Some(Cond { test: Test::T, .. }) => String::new(),
        Some(cond) => format!(" CC.{}{then}", cond.test.name()),
    };
    match word {
        Word::SetUp(it) => {
            suffix(&mut t, "NOINC", it.noinc);
            let _ = write!(t, " {}", place(it.target, pc, labels));
        }
        Word::Branch(it) => {
            suffix(&mut t, "U", it.unanimous);
            suffix(&mut t, "LMT", it.lmt);
            let _ = write!(t, "{} {}", test(","), place(it.target, pc, labels));
        }
        Word::Indirect(it) => {
            suffix(&mut t, "LMT", it.lmt);
            let _ = write!(t, "{} {}", test(","), indirect(it.register, it.target));
        }
        Word::Leave(it) => {
            suffix(&mut t, "KEEPREFCOUNT", it.keep_ref_count);
            t += &test("");
        }
        Word::Unsupported(..) | Word::Illegal(_) | Word::Other(_) => {}
    }
    (pred, t)
}

/// Returns `@!P0`; empty for PT.
fn predicate(pred: Pred) -> String {
    let not = if pred.not { "!" } else { "" };
    match pred {
        Pred::ALWAYS => String::new(),
        Pred { number: 7, .. } => format!("@{not}PT"),
        Pred { number, .. } => format!("@{not}P{number}"),
    }
}

/// Returns `n` in hexadecimal, with its sign.
fn signed(n: i64) -> String {
    let sign = if n < 0 { "-" } else { "" };
    format!("{sign}{:#x}", n.unsigned_abs())
}

fn place(target: Target, pc: u32, labels: &BTreeMap<i64, String>) -> String {
    match target {
        Target::Bank { bank, address } => {
            format!("c[{bank:#x}][{}]", signed(i64::from(address as i16)))
        }
        Target::Offset(_) | Target::Absolute(_) => {
            let address = target.address(pc).unwrap_or_default();
            match labels.get(&address) {
                Some(label) => label.clone(),
                None => signed(address),
            }
        }
    }
}

/// Returns the operands of BRX and JMX.
fn indirect(register: u8, target: Target) -> String {
    let name = match register {
        255 => "RZ".to_owned(),
        n => format!("R{n}"),
    };
    match target {
        Target::Offset(0) | Target::Absolute(0) => name,
        Target::Offset(offset) => format!("{name} {}", signed(offset.into())),
        Target::Absolute(address) => format!("{name} {address:#x}"),
        Target::Bank { bank, address } => {
            let address = address as i16;
            match (register, address) {
                (_, 0) => format!("c[{bank:#x}][{name}]"),
                (255, _) => format!("c[{bank:#x}][{}]", signed(address.into())),
                _ => format!("c[{bank:#x}][{name}+{}]", signed(address.into())),
            }
        }
    }
}

/// Returns the remarks: ignored bits, the error, the target, and the place.
fn notes(word: u64, pc: u32, program: &Program) -> Vec<String> {
    let mut notes = Vec::new();
    if is_control(pc) {
        return notes;
    }
    let decoded = Word::decode(word);
    match decoded {
        Word::Other(_) => {}
        Word::Illegal(_) => notes.push("ILLEGAL".to_owned()),
        Word::Unsupported(..) => notes.push("UNSUPPORTED".to_owned()),
        _ if !Word::is_canonical(word) => notes.push("bits that the unit ignores".to_owned()),
        _ => {}
    }
    if decoded.cond().is_some_and(|cond| cond.test.is_clip()) {
        notes.push("CC test: UNSUPPORTED unless the unit is built with CSM=1".to_owned());
    }
    match decoded.target() {
        Some(Target::Bank { .. }) if matches!(decoded, Word::Indirect(_)) => {
            notes.push("constant bank: UNSUPPORTED".to_owned());
        }
        _ if matches!(decoded, Word::Indirect(_)) => {
            notes.push("UNSUPPORTED unless the unit is built with BRX=1".to_owned());
        }
        Some(Target::Bank { .. }) => {
            let constant = program.constant(word);
            // The low 24 bits, sign extended.
            let address = i64::from(pc) + 8 + i64::from((constant << 8) as i32 >> 8);
            let leads = match lands(address, program) {
                Some(lands) => format!(", {lands}"),
                None => String::new(),
            };
            notes.push(format!(
                "the constant is {constant:#x}: {}{leads}",
                signed(address)
            ));
        }
        Some(target) => notes.extend(lands(target.address(pc).unwrap_or_default(), program)),
        None => {}
    }
    if let Some(targets) = program.targets.get(&pc) {
        let shown: Vec<String> = targets.iter().map(|t| format!("{t:#x}")).collect();
        notes.push(match shown.is_empty() {
            true => "the compiler lists no target".to_owned(),
            false => format!("the compiler's targets: {}", shown.join(", ")),
        });
    }
    let base = program.prog_base;
    if pc == norm(base.wrapping_add(program.entry)) {
        notes.push("entry".to_owned());
    }
    if pc.wrapping_sub(base) >= program.prog_size {
        notes.push("behind prog_size".to_owned());
    }
    notes
}

/// Returns what is peculiar about the target `address` (spa5-2.2, spa5-4.2).
fn lands(address: i64, program: &Program) -> Option<String> {
    if address % 8 != 0 {
        Some("TARGET_MISALIGNED".to_owned())
    } else if !(0..i64::from(program.prog_size)).contains(&(address - i64::from(program.prog_base)))
    {
        Some("TARGET_RANGE".to_owned())
    } else if address % 32 == 0 {
        // In range, so it fits.
        Some(format!("to {:#x}", address + 8))
    } else {
        None
    }
}

/// Returns a comment line with a program's name, and directives for values that are not the default.
fn head(program: &Program) -> String {
    let name = |c: char| if c.is_control() { '?' } else { c };
    let mut t = format!(
        "// {}\n",
        program.name.chars().map(name).collect::<String>()
    );
    if program.prog_base != 0 {
        let _ = writeln!(t, ".prog_base {:#x}", program.prog_base);
    }
    if program.entry != 0 {
        let entry = program.prog_base.wrapping_add(program.entry);
        let _ = writeln!(t, ".entry {entry:#x}");
    }
    for (place, constant) in &program.constants {
        let (bank, address) = (place >> 16, place & 0xffff);
        let _ = writeln!(t, ".constant c[{bank:#x}][{address:#x}] {constant:#x}");
    }
    if usize::try_from(program.prog_size / 8) != Ok(program.words.len()) {
        let _ = writeln!(t, ".prog_size {:#x}", program.prog_size);
    }
    for (pc, targets) in &program.targets {
        let _ = write!(t, ".targets {pc:#x}");
        for target in targets {
            let _ = write!(t, " {target:#x}");
        }
        t.push('\n');
    }
    t
}

/// Returns `program` as a `.s` file, with labels as targets.
///
/// [`super::assemble`] makes an equal program of it if its name is that of the file; its words are whole bundles,
/// at least one and no more than [`MAX_BUNDLES`](crate::spa5::program::MAX_BUNDLES); its entry and
/// `prog_size` can be launched (spa5-6); and its targets are normalized addresses of instructions
/// in the program.
pub fn program_text(program: &Program) -> String {
    let base = i64::from(program.prog_base);
    let end = base + i64::try_from(program.words.len() * 8).unwrap_or(0);
    let places = (0..)
        .step_by(8)
        .map(|n: u32| program.prog_base.wrapping_add(n));
    let lines = || places.clone().zip(&program.words);
    let mut labels: BTreeMap<i64, String> = BTreeMap::new();
    for (pc, word) in lines() {
        let target = match Word::decode(*word) {
            Word::Indirect(_) => None,
            _ if is_control(pc) => None,
            decoded => decoded.target(),
        };
        if let Some(address) = target.and_then(|t| t.address(pc))
            && address % 8 == 0
            && (base..end).contains(&address)
        {
            labels.insert(address, String::new());
        }
    }
    for (i, label) in (1..).zip(labels.values_mut()) {
        *label = format!(".L_{i}");
    }
    let last = program.count().checked_sub(1);
    let last = last.map(|number| program.address(number));
    // It is not counted among the instructions of the program.
    let pads = |pc: u32| !is_control(pc) && last.is_none_or(|last| pc > last);
    let mut t = head(program) + "\n";
    for (pc, word) in lines() {
        let label = labels.get(&i64::from(pc));
        if let Some(label) = label {
            let _ = writeln!(t, "{label}:");
        }
        // The assembler places the usual control word itself, unless a label is on it.
        if is_control(pc) && *word == CONTROL && label.is_none() {
            continue;
        }
        let Said { text, pred, all } = say(*word, pc, &labels);
        let mut notes = notes(*word, pc, program);
        if pads(pc) {
            notes.push("padding".to_owned());
        }
        let notes = notes.join("; ");
        let (pred, text) = text.split_at(pred);
        let mut line = format!("{pred:>7} {}", text.trim_start());
        if !all {
            line = format!("{line:<16} {}", listed(*word));
        }
        let _ = writeln!(
            t,
            "{}",
            format!("{line:<40} // {pc:04x} {notes}").trim_end()
        );
    }
    t
}

/// Returns `program` as a `.hex` file for [`super::parse_hex`]; the same conditions hold. It includes control words.
pub fn hex_text(program: &Program) -> String {
    let mut t = head(program) + "\n";
    for (offset, word) in (0..).step_by(8).zip(&program.words) {
        let pc = program.prog_base.wrapping_add(offset);
        let note = match is_control(pc) {
            true => "control".to_owned(),
            false => say(*word, pc, &BTreeMap::new()).text + &remark(*word, pc, program),
        };
        let _ = writeln!(t, "{pc:04x} {word:016x} ; {note}");
    }
    t
}
