//! Programs from files of any kind: the output of Mesa, and the two formats of this crate.
//!
//! Source: r500-2.1, r500-7.1 and r500-O29 in `docs/spec/r500.md`.
//!
//! | kind | recognised by | registers |
//! |---|---|---|
//! | log of Mesa's r300 driver, `RADEON_DEBUG=fp`, also with what a journal, syslog, dmesg or logcat writes before each line | a line `R500 Fragment Program:`, or `0:CMN_INST` | worked out, see below |
//! | `# SLOTS` listing: `INDEX W0 W1 W2 W3 W4 W5`, 8 hexadecimal digits each, up to the next `#` line | a line `# SLOTS` | from its `# REGISTERS`: `US_FC_CTRL`, `US_FC_BOOL_CONST`, `US_FC_INT_CONST_n`, `US_CODE_OFFSET`, `US_CODE_RANGE` in hexadecimal, `US_CODE_ADDR start=N end=N`; worked out where missing. What the ALU works on, from `# INPUTS`, `# CONSTANTS`, `# GL UNIFORMS`, `# RENDER` and `# EXPECT` ([`super::shader`]) |
//! | `.hex` | the first line with an instruction is a hexadecimal word | its directives |
//! | `.s` | anything else | its directives |
//!
//! A log has no register values. They are derived as the driver does it: full flow control if there
//! is any OP but JUMP, any `A_OP`, or an IF at depth 4; integer constant 0 is 0xFF (255 passes) if
//! there is a loop; the program starts at slot 0 and ends at the last.

use super::asm::{assemble, parse_hex};
use super::isa::{AOp, BOp, Fc, Op, Type};
use super::program::{MEMORY_SLOTS, Program, Registers, Slot};
use super::shader::{Reader, Shader};
use reconverge_bench::input::InputError;
use reconverge_bench::text::{Location, program_name};
use reconverge_program::import::{is_hex, places, utf8, with_tabs};

/// Options of an import: the program to read and changes to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Set `JUMP_ANY` in the LOOP words of a compiled program (r500-O29).
    pub safe_loops: bool,
    /// The number of the program in the log, from 1; `None` means the last complete one.
    pub which: Option<usize>,
}

/// A program in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Line on which it begins.
    pub line: usize,
    /// Number of instructions that could be read.
    pub slots: usize,
    /// The problem with it, if any.
    pub problem: Option<String>,
}

/// A program that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The program, named after the file, with `.N` appended if it is number N of several.
    pub program: Program,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// The programs of a log, in its order; empty for other kinds of files.
    pub listed: Vec<Listed>,
}

/// Kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `.s`.
    Assembly,
    /// `.hex`.
    Hex,
    /// Log of Mesa's r300 driver.
    MesaLog,
    /// `# SLOTS` listing.
    Slots,
}

/// Returns the kind of a file with this text; the extension of `file` decides only if no line does.
pub fn recognise(text: &str, file: &str) -> Format {
    for line in text.lines() {
        let first = |line: &str| matches!(log_line(line), Some(LogLine { slot: Some(_), .. }));
        if program_begins(line).is_some() || first(&with_tabs(line)) {
            return Format::MesaLog;
        }
        if section(line) == Some("SLOTS") {
            return Format::Slots;
        }
    }
    if is_hex(text, file) {
        Format::Hex
    } else {
        Format::Assembly
    }
}

/// Reads a program from a file of any kind. `file` is its name, for messages and for the program.
///
/// `options` apply only to compiled programs.
///
/// # Errors
///
/// The text is not UTF-8, or the reader of its kind finds something wrong.
pub fn load(bytes: &[u8], file: &str, options: &Options) -> Result<Imported, InputError> {
    let text = utf8(bytes, file)?;
    let program = match recognise(text, file) {
        Format::Assembly => match other_dump(text) {
            Some(what) => return Err(InputError::new(file, 0, "file", what)),
            None => assemble(text, file)?,
        },
        Format::Hex => parse_hex(text, file)?,
        format => return import_text(text, format, file, options),
    };
    if let Some(n) = options.which.filter(|n| *n != 1) {
        return Err(which_error(file, n, 1));
    }
    Ok(Imported {
        program,
        warnings: Vec::new(),
        listed: Vec::new(),
    })
}

/// Returns what a log of Mesa's r300 driver is that has no program of an R500; `None` for other texts.
fn other_dump(text: &str) -> Option<&'static str> {
    let any = |what: &str| text.lines().any(|line| line.contains(what));
    if any("Hardware program") && any("NODE 0:") {
        return Some(
            "is a log of a fragment program for R300 or R400, which have no flow control; of an R500 (RV515 and later) it has a line `R500 Fragment Program:`",
        );
    }
    any("# Radeon Compiler Program").then_some(
        "is a log of Mesa's compiler without its result; with RADEON_DEBUG=fp it has a line `R500 Fragment Program:`",
    )
}

/// Reads a compiled program: a log of Mesa's r300 driver or a `# SLOTS` listing.
///
/// # Errors
///
/// The text is neither of the two or not UTF-8; a log has no complete program; slots are out of
/// order or have words missing or damaged; there are more slots than fit the memory; an address exceeds 511.
pub fn import(bytes: &[u8], file: &str, options: &Options) -> Result<Imported, InputError> {
    let text = utf8(bytes, file)?;
    match recognise(text, file) {
        Format::Assembly | Format::Hex => Err(InputError::new(
            file,
            0,
            "file",
            format!(
                "has neither a line `{HEADER}`, as a log of RADEON_DEBUG=fp, nor a line `# SLOTS`"
            ),
        )),
        format => import_text(text, format, file, options),
    }
}

fn which_error(file: &str, n: usize, programs: usize) -> InputError {
    let message = match programs {
        1 => format!("there is one program, number 1, not {n}"),
        _ => format!("there are {programs} programs, 1 to {programs}, not {n}"),
    };
    InputError::new(file, 0, "which", message)
}

fn import_text(
    text: &str,
    format: Format,
    file: &str,
    options: &Options,
) -> Result<Imported, InputError> {
    let mut imported = if format == Format::Slots {
        if let Some(n) = options.which.filter(|n| *n != 1) {
            return Err(which_error(file, n, 1));
        }
        slots_listing(text, file).map_err(|e| e.in_text(text))?
    } else {
        mesa_log(text, file, options.which).map_err(|e| e.in_text(text))?
    };
    check_loops(&mut imported, options.safe_loops);
    Ok(imported)
}

/// Warns of LOOPs as Mesa writes them, `JUMP_ANY` = 0 with a table that never jumps (r500-O29); with `safe`, sets `JUMP_ANY`.
fn check_loops(imported: &mut Imported, safe: bool) {
    let mut found = Vec::new();
    for (i, slot) in imported.program.slots.iter_mut().enumerate() {
        let Some(fc) = Fc::decode(*slot) else {
            continue;
        };
        let begins = matches!(fc.op, Op::Loop | Op::Rep);
        if begins && fc.jump_func == 0 && !fc.jump_any {
            found.push(i);
            if safe {
                let jump_any = Fc {
                    jump_any: true,
                    ..Fc::NOP
                };
                slot.inst |= jump_any.encode().inst;
            }
        }
    }
    if found.is_empty() {
        return;
    }
    let slots = places("slot", &found, MEMORY_SLOTS);
    imported.warnings.push(if safe {
        format!("{slots}: JUMP_ANY set in the LOOP, which the compiler left 0")
    } else {
        format!(
            "{slots}: LOOP with JUMP_ANY = 0: reached with no lane active it jumps, pushes nothing, and its end pops another loop's frame (error 3 sooner or later); safe loops set JUMP_ANY"
        )
    });
}

/// Returns the registers for a program of which only the words are known, as the driver sets them.
fn driver_registers(slots: &[Slot]) -> Registers {
    let mut full = false;
    let mut loops = false;
    let mut depth = 0usize;
    for fc in slots.iter().filter_map(|s| Fc::decode(*s)) {
        let Fc {
            op,
            a_op,
            b_op0,
            b_else,
            ..
        } = fc;
        full |= op != Op::Jump || a_op != AOp::None;
        loops |= matches!(op, Op::Loop | Op::Rep);
        match b_op0 {
            BOp::Incr if !b_else => depth += 1,
            BOp::Decr => depth = depth.saturating_sub(1),
            _ => {}
        }
        // The hardware's limit is 4 levels; the driver changes over when it reaches it (r500-O25).
        full |= depth >= 4;
    }
    let mut regs = Registers {
        fc_ctrl: u32::from(full) << 31,
        code_addr: last_slot(slots) << 16,
        ..Registers::default()
    };
    if loops {
        regs.int_const[0] = 0xff;
    }
    regs
}

fn last_slot(slots: &[Slot]) -> u32 {
    u32::try_from(slots.len().saturating_sub(1)).unwrap_or(0) & 0x1ff
}

/// Parses eight hexadecimal digits.
fn eight_digits(text: &str) -> Option<u32> {
    let plain = text.len() == 8 && text.chars().all(|c| c.is_ascii_hexdigit());
    plain.then(|| u32::from_str_radix(text, 16).ok()).flatten()
}

// ---- log of RADEON_DEBUG=fp ---------------------------------------------------------------

/// The first line of each program.
const HEADER: &str = "R500 Fragment Program:";

/// A line with a word of an instruction.
struct LogLine<'a> {
    /// Number of the slot, on the line of its word 0.
    slot: Option<&'a str>,
    /// Which of the six words.
    index: usize,
    /// Its name.
    name: &'static str,
    /// The word, if it is whole.
    word: Option<u32>,
}

/// Index of each named word, and the instruction types that have it.
const NAMES: [(usize, &str, &[Type]); 12] = [
    (0, "CMN_INST", &[Type::Alu, Type::Out, Type::Fc, Type::Tex]),
    (1, "RGB_ADDR", &[Type::Alu, Type::Out]),
    (2, "ALPHA_ADDR", &[Type::Alu, Type::Out]),
    (3, "RGB_INST", &[Type::Alu, Type::Out]),
    (4, "ALPHA_INST", &[Type::Alu, Type::Out]),
    (5, "RGBA_INST", &[Type::Alu, Type::Out]),
    (1, "TEX_INST", &[Type::Tex]),
    (2, "TEX_ADDR", &[Type::Tex]),
    (3, "TEX_DXDY", &[Type::Tex]),
    (3, "TEX_ADDR_DXDY", &[Type::Tex]),
    (2, "FC_INST", &[Type::Fc]),
    (3, "FC_ADDR", &[Type::Fc]),
];

/// Returns what a logging service has written before the first line of a program, if this line is one.
fn program_begins(line: &str) -> Option<&str> {
    let before = &line[..line.find(HEADER)?];
    is_prefix(before).then_some(before)
}

/// Returns whether a logging service may have written `text` before a line; it is not what begins a comment.
fn is_prefix(text: &str) -> bool {
    !text.trim_start().starts_with([';', '#', '/'])
}

/// Splits `... INDEX:NAME ...`, where a blank may replace the colon, into what is before, the index, the name, and the rest.
fn named(line: &str) -> Option<(&str, usize, &'static str, &str)> {
    NAMES.iter().find_map(|&(index, name, _)| {
        line.match_indices(name).find_map(|(at, _)| {
            let (before, rest) = (&line[..at], &line[at + name.len()..]);
            let before = before.strip_suffix([':', ' '])?;
            let before = before.strip_suffix(char::from_digit(index as u32, 10)?)?;
            let alone = before.is_empty() || before.ends_with(char::is_whitespace);
            let whole = !rest.starts_with(|c: char| c.is_ascii_uppercase() || c == '_');
            (alone && whole && is_prefix(before)).then_some((before, index, name, rest))
        })
    })
}

/// Parses `[SLOT] INDEX:NAME[:] 0xWORD[:...]`, whatever a logging service has written before it.
fn log_line(line: &str) -> Option<LogLine<'_>> {
    let (before, index, name, rest) = named(line)?;
    let slot = before.split_whitespace().next_back();
    let slot = slot.filter(|n| index == 0 && n.chars().all(|c| c.is_ascii_digit()));
    let rest = rest.strip_prefix(':').unwrap_or(rest).trim_start();
    let word = rest.strip_prefix("0x").and_then(|t| {
        let end = t
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(t.len());
        eight_digits(&t[..end])
    });
    Some(LogLine {
        slot,
        index,
        name,
        word,
    })
}

/// Returns whether a line says no more than what a logging service has written before the first line of the program.
fn is_blank(line: &str, prefix: &str) -> bool {
    let shape = |text: &str| -> String {
        let signs = text
            .chars()
            .filter(|c| !c.is_ascii_digit() && !c.is_whitespace());
        signs.collect()
    };
    match prefix.trim() {
        "" => line.trim().is_empty(),
        prefix => line.trim().is_empty() || shape(line) == shape(prefix),
    }
}

/// A program of a log during parsing.
struct Section {
    line: usize,
    slots: Vec<Slot>,
    /// The incomplete instruction: line, words.
    open: Option<(usize, [Option<u32>; 6])>,
    /// The error; nothing more is read after it.
    broken: Option<InputError>,
    /// The error is that the file ends.
    cut: bool,
}

impl Section {
    fn new(line: usize) -> Self {
        Section {
            line,
            slots: Vec::new(),
            open: None,
            broken: None,
            cut: false,
        }
    }

    /// Closes the incomplete instruction.
    fn close(&mut self, file: &str) {
        let Some((line, words)) = self.open.take() else {
            return;
        };
        if self.broken.is_some() {
            return;
        }
        let n = self.slots.len();
        let [Some(cmn), ..] = words else {
            return;
        };
        let ty = Type::from_bits(cmn);
        // The sequencer reads words 2 and 3. Of the others, the log has all or none.
        let others = [1, 4, 5].iter().any(|i| words[*i].is_some());
        let missing = NAMES.iter().find(|(i, _, types)| {
            types.contains(&ty) && words[*i].is_none() && (others || [2, 3].contains(i))
        });
        let fail = |field: &str, message| Some(InputError::new(file, line, field, message));
        self.broken = match missing {
            _ if n >= MEMORY_SLOTS => fail(
                "program",
                format!("slot {n}: the memory has {MEMORY_SLOTS}"),
            ),
            Some((_, name, _)) => fail(name, format!("is missing in slot {n}")),
            None => {
                let slot = Slot::from_words(words.map(Option::unwrap_or_default));
                self.slots.push(slot);
                None
            }
        };
    }

    fn line(&mut self, file: &str, line: usize, found: &LogLine) {
        let LogLine {
            slot,
            index,
            name,
            word,
        } = *found;
        if index == 0 {
            self.close(file);
        }
        if self.broken.is_some() {
            return;
        }
        let fail = |message: String| Some(InputError::new(file, line, name, message));
        let Some(word) = word else {
            self.broken = fail("is not followed by 0x and 8 hexadecimal digits".to_owned());
            return;
        };
        if index == 0 {
            let n = self.slots.len();
            if slot.and_then(|s| s.parse().ok()) == Some(n) {
                self.open = Some((line, [Some(word), None, None, None, None, None]));
            } else {
                let message = match slot {
                    Some(slot) => format!("slot {slot} follows where slot {n} should"),
                    None => format!("has no slot number, {n} should stand before it"),
                };
                self.broken = Some(InputError::new(file, line, "slot", message));
            }
            return;
        }
        let Some((_, words)) = &mut self.open else {
            self.broken = fail("stands before the first 0:CMN_INST".to_owned());
            return;
        };
        let ty = Type::from_bits(words[0].unwrap_or(0));
        let fits = NAMES
            .iter()
            .any(|(i, n, types)| (*i, *n) == (index, name) && types.contains(&ty));
        if !fits {
            self.broken = fail(format!(
                "does not belong to an instruction of type {}",
                ty.name()
            ));
        } else if words[index].replace(word).is_some() {
            self.broken = fail(format!("is given twice in slot {}", self.slots.len()));
        }
    }
}

fn mesa_log(text: &str, file: &str, which: Option<usize>) -> Result<Imported, InputError> {
    let mut sections: Vec<Section> = Vec::new();
    // Line of the last word, to tell a truncated log from a damaged one.
    let mut last = (0, false);
    let (mut lines, mut prefix) = (0, "");
    for (n, line) in (1..).zip(text.lines()) {
        if !is_blank(line, prefix) {
            lines = n;
        }
        if let Some(before) = program_begins(line) {
            prefix = before;
            if let Some(s) = sections.last_mut() {
                s.close(file);
            }
            sections.push(Section::new(n));
        } else if let Some(found) = log_line(&with_tabs(line)) {
            if sections.is_empty() {
                sections.push(Section::new(n));
            }
            if let Some(s) = sections.last_mut() {
                let whole = s.broken.is_none();
                s.line(file, n, &found);
                last = (n, whole && s.broken.is_some());
            }
        }
    }
    if let Some(s) = sections.last_mut() {
        let whole = s.broken.is_none();
        s.close(file);
        let at_end = last.0 == lines && last.1;
        s.cut = s.slots.is_empty() || at_end || whole && s.broken.is_some();
    }
    for s in &mut sections {
        if s.slots.is_empty() && s.broken.is_none() {
            let message = "no slots follow";
            s.broken = Some(InputError::new(file, s.line, "program", message));
        }
    }
    let listed: Vec<Listed> = sections
        .iter()
        .map(|s| Listed {
            line: s.line,
            slots: s.slots.len(),
            problem: s.broken.as_ref().map(ToString::to_string),
        })
        .collect();
    let count = sections.len();
    let mut warnings = Vec::new();
    let number = match which {
        Some(n) if (1..=count).contains(&n) => n,
        Some(n) => return Err(which_error(file, n, count)),
        // Only a program that the end of the file cuts off is skipped: after damage anywhere else, an
        // older program would not be what the user means.
        None if count > 1 && sections[count - 1].cut && sections[count - 1].broken.is_some() => {
            warnings.push(format!(
                "program {count} of the log is cut off at its end, program {} is taken",
                count - 1
            ));
            count - 1
        }
        None => count,
    };
    let chosen = sections.swap_remove(number - 1);
    if let Some(e) = chosen.broken {
        return Err(e);
    }
    let slots = chosen.slots;
    let ends_with_out = slots
        .last()
        .is_some_and(|s| Type::from_bits(s.cmn) == Type::Out);
    if !ends_with_out {
        warnings.push("the last instruction is not OUT: the log may have been cut off".to_owned());
    }
    let mut name = program_name(file);
    if count > 1 {
        name = format!("{name}.{number}");
    }
    Ok(Imported {
        program: Program {
            name,
            regs: driver_registers(&slots),
            slots,
            // A log has no constants and does not say where the inputs are.
            shader: Shader::default(),
        },
        warnings,
        listed,
    })
}

// ---- `# SLOTS` listing ----------------------------------------------------------------------

/// Returns the name of the section that a `# NAME ...` line begins.
fn section(line: &str) -> Option<&str> {
    let title = line.strip_prefix("# ")?;
    let end = title
        .find(|c: char| !c.is_ascii_uppercase())
        .unwrap_or(title.len());
    Some(&title[..end])
}

fn slots_listing(text: &str, file: &str) -> Result<Imported, InputError> {
    let mut slots: Vec<Slot> = Vec::new();
    let mut given: Vec<(String, u32)> = Vec::new();
    let mut shader = Reader::default();
    let mut now = "";
    for (n, line) in (1..).zip(text.lines()) {
        let fail = |field: &str, message: String| Err(InputError::new(file, n, field, message));
        if let Some(name) = section(line) {
            if name == "SLOTS" && !slots.is_empty() {
                return fail("# SLOTS", "there is one already".to_owned());
            }
            now = name;
        } else if line.starts_with('#') {
            // `#version` and similar lines: the text of a shader.
            now = "";
        } else if line.trim().is_empty() {
        } else if now == "SLOTS" {
            slots.push(slot_line(file, n, line, slots.len())?);
        } else if now == "REGISTERS" {
            let Some((name, value)) = register_line(file, n, line)? else {
                continue;
            };
            if given.iter().any(|(other, _)| *other == name) {
                return fail(&name, "is given twice".to_owned());
            }
            given.push((name, value));
        } else {
            shader.listing(Location { file, line: n }, now, line)?;
        }
    }
    if slots.is_empty() {
        return Err(InputError::new(file, 0, "# SLOTS", "no slots follow"));
    }
    let mut regs = driver_registers(&slots);
    let (mut mode, mut places) = (false, false);
    for (name, value) in given {
        match (name.as_str(), name.strip_prefix("US_FC_INT_CONST_")) {
            ("US_FC_CTRL", _) => (regs.fc_ctrl, mode) = (value, true),
            ("US_FC_BOOL_CONST", _) => regs.bool_const = value,
            ("US_CODE_OFFSET", _) => regs.code_offset = value,
            ("US_CODE_RANGE", _) => regs.code_range = value,
            ("US_CODE_ADDR", _) => (regs.code_addr, places) = (value, true),
            (_, Some(index)) => {
                if let Some(k) = index
                    .parse()
                    .ok()
                    .and_then(|i: usize| regs.int_const.get_mut(i))
                {
                    *k = value;
                }
            }
            _ => {}
        }
    }
    let room = MEMORY_SLOTS - usize::from(regs.offset());
    if slots.len() > room {
        let message = format!("{} slots, {room} fit", slots.len());
        return Err(InputError::new(file, 0, "program", message));
    }
    let mut warnings = Vec::new();
    for (name, known) in [("US_FC_CTRL", mode), ("US_CODE_ADDR", places)] {
        if !known {
            warnings.push(format!(
                "{name} is not given; it is worked out as for a log"
            ));
        }
    }
    Ok(Imported {
        program: Program {
            name: program_name(file),
            regs,
            slots,
            shader: shader.finish(file)?,
        },
        warnings,
        listed: Vec::new(),
    })
}

/// Parses `INDEX W0 W1 W2 W3 W4 W5`, where INDEX must be `expected`.
fn slot_line(file: &str, n: usize, line: &str, expected: usize) -> Result<Slot, InputError> {
    let fail = |field: &str, message: String| Err(InputError::new(file, n, field, message));
    let mut parts = line.split_whitespace();
    let index = parts.next().unwrap_or_default();
    if index.parse() != Ok(expected) {
        return fail(
            "slot",
            format!("`{index}` follows where slot {expected} should"),
        );
    }
    if expected >= MEMORY_SLOTS {
        return fail(
            "program",
            format!("slot {expected}: the memory has {MEMORY_SLOTS}"),
        );
    }
    let mut words = [0; 6];
    for (i, word) in words.iter_mut().enumerate() {
        let field = format!("word {i}");
        let Some(text) = parts.next() else {
            return fail(&field, format!("is missing in slot {expected}"));
        };
        match eight_digits(text) {
            Some(w) => *word = w,
            None => return fail(&field, format!("`{text}` is not 8 hexadecimal digits")),
        }
    }
    match parts.next() {
        None => Ok(Slot::from_words(words)),
        Some(more) => fail("slot", format!("`{more}` follows the six words")),
    }
}

/// Parses a register line into name and value; `None` for registers outside flow control.
fn register_line(file: &str, n: usize, line: &str) -> Result<Option<(String, u32)>, InputError> {
    let fail = |field: &str, message: String| Err(InputError::new(file, n, field, message));
    let mut parts = line.split_whitespace();
    let name = parts.next().unwrap_or_default();
    let operands: Vec<&str> = parts.collect();
    if name == "US_CODE_ADDR" {
        let mut value = 0;
        for (field, at) in [("start", 0), ("end", 16)] {
            let text = operands
                .iter()
                .find_map(|t| t.strip_prefix(field)?.strip_prefix('='));
            match text.map(str::parse::<u32>) {
                Some(Ok(address)) if address <= 511 => value |= address << at,
                Some(_) => {
                    return fail(
                        name,
                        format!(
                            "{field} must be an address, 0 to 511, not {}",
                            text.unwrap_or("")
                        ),
                    );
                }
                None => return fail(name, format!("{field}=N is missing")),
            }
        }
        return Ok(Some((name.to_owned(), value)));
    }
    if let Some(index) = name.strip_prefix("US_FC_INT_CONST_") {
        let known = index
            .parse()
            .is_ok_and(|i: usize| i < 32 && i.to_string() == index);
        if !known {
            return fail(name, "must be a constant from 0 to 31".to_owned());
        }
    } else if !matches!(
        name,
        "US_FC_CTRL" | "US_FC_BOOL_CONST" | "US_CODE_OFFSET" | "US_CODE_RANGE"
    ) {
        return Ok(None);
    }
    match operands[..] {
        [text] if eight_digits(text).is_some() => {
            Ok(eight_digits(text).map(|v| (name.to_owned(), v)))
        }
        _ => fail(name, "is followed by 8 hexadecimal digits".to_owned()),
    }
}
