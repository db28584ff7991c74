//! Programs from files of any kind: objects of LLVM's r600 back end, dumps of Mesa's driver, listings of AMD's tools, and the
//! two formats of this crate.
//!
//! Source: r700-2.7 and r700-8.2 in `docs/spec/r700.md`.
//!
//! | kind | recognised by | launch |
//! |---|---|---|
//! | ELF object, `llc -march=r600 -mcpu=rv770 -filetype=obj` | its first four bytes | entry 0; `prog_len` from the END word; `STACK_SIZE` from `.AMDGPU.config`; constants 0, which the back end does not use |
//! | log of Mesa's r600 driver, `R600_DEBUG=ps` and others | a line with `===== SHADER #` or `bytecode N dw --` (`dump`) | entry 0; `prog_len`: the CF instructions; `STACK_SIZE` from the dump's header; constants 0 |
//! | listing of AMD's tools | a line of a number and a CF instruction's name, `01 ALU: ADDR(32) CNT(2)` (`listing`) | entry 0; `prog_len`: the CF instructions; the rest as by default |
//! | `.hex` | the first line with an instruction is a hexadecimal word | its directives |
//! | `.s` | anything else | its directives |
//!
//! The program is only the CF program. Its clauses stay in the object: `u` is what the sequencer learns about
//! an ALU clause (r700-2.7), and the importer reads it from the clause. `e_flags` 1 to 7 are accepted: the R600
//! family (r600, r630, rs880, rv670, with a warning) and the R700 family (rv710, rv730, rv770), whose CF words and
//! ALU encodings are the same in the parts that sequencer and importer read (r700-2.5). Evergreen and Cayman number
//! their CF instructions differently and are refused.

use std::collections::BTreeMap;
use std::fmt;

use super::asm::{assemble, parse_hex};
use super::isa::{AluOp, CfOp, Cond, Word};
use super::program::{MAX_QUADS, Program, Quad, Registers};
use crate::unit::{LoadOptions, Loaded};
use reconverge_bench::input::InputError;
use reconverge_bench::text::program_name;
use reconverge_program::elf::{Elf, Flaw, Function, REL, Wanted, is_elf};
use reconverge_program::import::{
    MAX_SHOWN, choose, is_hex, not_foreign, places, sound_name, utf8,
};

mod dump;
mod listing;

/// The objects that are read (r700-8.2).
const OBJECT: Wanted = Wanted {
    what: "an object of LLVM's r600 back end",
    bits64: false,
    machine: 224,
    types: &[REL],
};

/// The word that ends each CF program: NOP, END (r700-8.2).
const END: (u32, u32) = (0, 0x8020_0000);

/// Section with the register values of each function (r700-8.2).
const CONFIG: &str = ".AMDGPU.config";

/// Functions begin at multiples of this many bytes (r700-8.2).
const ALIGNMENT: u64 = 256;

/// `STACK_SIZE` of a unit in its default build, in entries.
const STACK: u8 = 32;

/// Reads a program from a file of any kind. `file` is its name, for messages and for a program without
/// a name of its own. For an object with several functions, `options` must choose one.
///
/// # Errors
///
/// The text is not UTF-8 or the assembler refuses it; an object differs from r700-8.2; a dump's text differs from its words;
/// a listing does not say all of an instruction; a choice names nothing.
pub fn load(
    bytes: &[u8],
    file: &str,
    options: &LoadOptions,
) -> Result<Loaded<Program>, InputError> {
    let which = options.which.as_deref();
    not_foreign(bytes, file)?;
    let mut loaded = if is_elf(bytes) {
        let object = Object::open(bytes, file)?;
        let names: Vec<&str> = object
            .elf
            .functions
            .iter()
            .map(|f| f.name.as_str())
            .collect();
        let chosen = choose(&names, "function", which, file)?;
        let loaded = object.program(chosen, options);
        loaded.map_err(|flaw| flaw.in_file(file))?
    } else {
        let text = utf8(bytes, file)?;
        match several(text, file, options) {
            Some((one, mut parts)) => {
                let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
                let chosen = choose(&names, one, which, file)?;
                let program = parts.swap_remove(chosen).program;
                program.map_err(|e| e.in_text(text))?
            }
            None => {
                let program = if is_hex(text, file) {
                    parse_hex(text, file)?
                } else {
                    assemble(text, file)?
                };
                choose(&[&program.name], "program", which, file)?;
                Loaded {
                    program,
                    warnings: Vec::new(),
                }
            }
        }
    };
    let name = &mut loaded.program.name;
    if name.is_empty() {
        *name = program_name(file);
    }
    *name = sound_name(name);
    Ok(loaded)
}

/// A program of a text that may hold several.
struct Part {
    name: String,
    /// Its size in quadwords, including clauses.
    quads: u64,
    stack_size: Option<u8>,
    gprs: Option<u8>,
    program: Result<Loaded<Program>, InputError>,
}

/// Returns the programs of a dump or of a listing, and what one is called in messages; `None` for any other text.
fn several(text: &str, file: &str, options: &LoadOptions) -> Option<(&'static str, Vec<Part>)> {
    if dump::is_dump(text) {
        Some(("shader", dump::shaders(text, file, options)))
    } else if listing::is_listing(text) {
        Some(("program", listing::programs(text, file)))
    } else {
        None
    }
}

/// Returns what there is to say of reserved opcodes and of clauses with several mask updates.
fn remarks(illegal: &[usize], several: &[usize]) -> Vec<String> {
    let at = |quads: &[usize]| places("quad", quads, MAX_SHOWN);
    let mut lines = Vec::new();
    if !illegal.is_empty() {
        lines.push(format!(
            "{}: reserved opcode, error 1 (ILLEGAL)",
            at(illegal)
        ));
    }
    if !several.is_empty() {
        lines.push(format!(
            "{}: clause with several mask updates, of which the last counts",
            at(several)
        ));
    }
    lines
}

/// Returns what there is to say of a stack that the unit of the run does not have.
fn too_deep(stack_size: u8, options: &LoadOptions) -> Option<String> {
    let built = options.value("MAX_STACK_SIZE", STACK.into());
    (u32::from(stack_size) > built).then(|| {
        format!(
            "STACK_SIZE is {stack_size}; a unit built with MAX_STACK_SIZE {built} has no more than these"
        )
    })
}

/// Names the format of an object of LLVM's r600 back end, and says whether this unit runs it; `None` for other files.
pub fn recognise(bytes: &[u8]) -> Option<(&'static str, bool)> {
    let machine = bytes.get(18..20)?;
    if !is_elf(bytes) || bytes[4] != 1 || machine != OBJECT.machine.to_le_bytes() {
        return None;
    }
    let flags = <[u8; 4]>::try_from(bytes.get(36..40)?).map(u32::from_le_bytes);
    Some(match check_flags(flags.ok()?) {
        Ok(_) => ("an R600-family object", true),
        Err(_) => (
            "an object for a GPU of AMD's that is not of the R600 family",
            false,
        ),
    })
}

/// A function of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Number in the object, from 1.
    pub number: usize,
    /// Name of its symbol.
    pub name: String,
    /// Its size in quadwords, including clauses.
    pub quads: u64,
    /// CF instructions, if it can be imported.
    pub instructions: Option<usize>,
    /// `STACK_SIZE` in entries, if the object gives it.
    pub stack_size: Option<u8>,
    /// Number of general-purpose registers, if the object gives it.
    pub gprs: Option<u8>,
    /// The reason why it cannot be imported, if it cannot.
    pub problem: Option<String>,
}

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}  {}", self.number, sound_name(&self.name))?;
        if let Some(n) = self.instructions {
            write!(f, ", {n} CF instructions")?;
        }
        write!(f, ", {} quadwords", self.quads)?;
        if let (Some(stack_size), Some(gprs)) = (self.stack_size, self.gprs) {
            write!(f, ", STACK_SIZE {stack_size}, {gprs} GPRs")?;
        }
        match &self.problem {
            Some(problem) => write!(f, ", {problem}"),
            None => Ok(()),
        }
    }
}

/// Returns the functions of an object in the order of their code, or the shaders of a log or listing in its order.
///
/// # Errors
///
/// The file is none of these, or its functions cannot be determined.
pub fn functions(bytes: &[u8], file: &str) -> Result<Vec<Listed>, InputError> {
    not_foreign(bytes, file)?;
    if !is_elf(bytes) {
        if let Some((_, parts)) = several(utf8(bytes, file)?, file, &LoadOptions::default()) {
            let listed = |(number, part): (usize, Part)| Listed {
                number,
                name: part.name,
                quads: part.quads,
                instructions: (part.program.as_ref().ok()).map(|p| p.program.quads.len()),
                stack_size: part.stack_size,
                gprs: part.gprs,
                problem: part.program.err().map(|e| e.to_string()),
            };
            return Ok((1..).zip(parts).map(listed).collect());
        }
        let why = "must be an ELF object, dump or listing: only such a file holds several programs";
        return Err(InputError::new(file, 0, "file", why));
    }
    let object = Object::open(bytes, file)?;
    let listed = (1..)
        .zip(&object.elf.functions)
        .map(|(number, function)| {
            let config = object.config(number - 1).ok();
            let program = object.program(number - 1, &LoadOptions::default());
            Listed {
                number,
                name: function.name.clone(),
                quads: function.size / 8,
                instructions: program.as_ref().ok().map(|p| p.program.quads.len()),
                stack_size: config.map(|c| c.stack_size),
                gprs: config.map(|c| c.gprs),
                problem: program.err().map(|flaw| flaw.to_string()),
            }
        })
        .collect();
    Ok(listed)
}

/// Returns [`functions`] as text, one line each.
///
/// # Errors
///
/// As [`functions`].
pub fn list(bytes: &[u8], file: &str) -> Result<Vec<String>, InputError> {
    let listed = functions(bytes, file)?;
    Ok(listed.iter().map(ToString::to_string).collect())
}

/// The values that `SQ_PGM_RESOURCES_*` gives for a function (r700-8.2).
#[derive(Clone, Copy, Debug)]
struct Config {
    gprs: u8,
    stack_size: u8,
}

/// An object that was opened.
struct Object<'a> {
    elf: Elf<'a>,
    /// For each place in `.text` where functions begin, in order.
    configs: Result<Vec<Config>, Flaw>,
    /// For each function: its number among these places, if it lies in `.text`.
    places: Vec<Option<usize>>,
    /// For each function: another function in which it begins.
    within: Vec<Option<usize>>,
    /// Warnings that hold for every program.
    warnings: Vec<String>,
}

impl<'a> Object<'a> {
    fn open(bytes: &'a [u8], file: &str) -> Result<Self, InputError> {
        let elf = Elf::open(bytes, file, &OBJECT)?;
        let warnings = match check_flags(elf.flags).map_err(|flaw| flaw.in_file(file))? {
            Some(warning) => vec![warning],
            None => Vec::new(),
        };
        let mut places: Vec<Option<usize>> = Vec::new();
        let mut within = Vec::new();
        let mut count = 0;
        // The earlier function that reaches furthest, and its end.
        let mut reach: Option<(usize, u64)> = None;
        for (i, f) in elf.functions.iter().enumerate() {
            let last = i.checked_sub(1).map(|i| &elf.functions[i]);
            if last.is_none_or(|last| last.section != f.section) {
                reach = None;
            }
            let begins =
                last.is_none_or(|last| (last.section, last.offset) != (f.section, f.offset));
            let in_text = f.section.is_some_and(|s| is_text(elf.sections[s].name));
            count += usize::from(in_text && begins);
            places.push(in_text.then(|| count - 1));
            within.push(
                reach
                    .filter(|(_, end)| f.offset < *end)
                    .map(|(other, _)| other),
            );
            let end = f.offset.saturating_add(f.size);
            if reach.is_none_or(|(_, furthest)| furthest < end) {
                reach = Some((i, end));
            }
        }
        // Sections may overlap in the file, functions may not: the time to read them is then linear in its length.
        let alone = elf
            .functions
            .iter()
            .zip(&within)
            .filter(|(_, w)| w.is_none());
        let total: usize = alone
            .filter_map(|(f, _)| Some(f.code.as_ref().ok()?.len()))
            .sum();
        if total > bytes.len() {
            let message = format!(
                "the functions have {total} bytes together, more than the file, which has {}",
                bytes.len()
            );
            return Err(InputError::new(file, 0, "st_size", message));
        }
        let configs = elf.data(CONFIG).and_then(|data| configs(data, count));
        Ok(Object {
            elf,
            configs,
            places,
            within,
            warnings,
        })
    }

    fn config(&self, i: usize) -> Result<Config, Flaw> {
        let configs = self.configs.as_ref().map_err(Clone::clone)?;
        let config = self.places[i].and_then(|place| configs.get(place));
        config.copied().ok_or_else(|| {
            let message = "the function does not lie in .text, which alone has register values";
            Flaw::new("st_shndx", message)
        })
    }

    /// Returns function `i` as a program.
    fn program(&self, i: usize, options: &LoadOptions) -> Result<Loaded<Program>, Flaw> {
        let function = &self.elf.functions[i];
        let code = self.code(i, function)?;
        let config = self.config(i)?;
        let (quads, found) = cf_program(code)?;
        let mut warnings = self.warnings.clone();
        if is_small(self.elf.flags) && options.value("SUBENTRIES", 4) == 8 {
            warnings.clear();
        }
        warnings.extend(found);
        warnings.extend(too_deep(config.stack_size, options));
        // At most MAX_QUADS.
        let prog_len = u32::try_from(quads.len()).unwrap_or(u32::MAX);
        Ok(Loaded {
            program: Program {
                name: function.name.clone(),
                regs: Registers {
                    prog_len,
                    stack_size: config.stack_size,
                    ..Registers::default()
                },
                quads,
            },
            warnings,
        })
    }

    /// Returns the quadwords of function `i`.
    fn code(&self, i: usize, function: &Function<'a>) -> Result<&'a [u8], Flaw> {
        let fail = |field: &str, message: String| Err(Flaw::new(field, message));
        let Some(section) = function.section else {
            return function.code.clone();
        };
        if !is_text(self.elf.sections[section].name) {
            return fail("st_shndx", "the function does not lie in .text".to_owned());
        }
        let code = function.code.clone()?;
        if let Some(table) = self.elf.relocations(section).next() {
            let message = "relocates the code, which a finished program does not need";
            return fail(table.title(), message.to_owned());
        }
        if let Some(other) = self.within[i] {
            let other = &self.elf.functions[other].name;
            return fail("st_value", format!("the function begins within {other:?}"));
        }
        if !function.offset.is_multiple_of(ALIGNMENT) {
            let message = format!(
                "the function must begin at a multiple of {ALIGNMENT}, not at byte {}",
                function.offset
            );
            return fail("st_value", message);
        }
        if code.is_empty() || !code.len().is_multiple_of(8) {
            let message = format!("must be a positive multiple of 8, not {}", code.len());
            return fail("st_size", message);
        }
        Ok(code)
    }
}

fn is_text(section: &str) -> bool {
    // With -function-sections, each function has its own section.
    section == ".text" || section.starts_with(".text.")
}

/// Returns whether an object is for a GPU whose stack entries have 8 sub-entries (r700-3.4-h).
fn is_small(flags: u32) -> bool {
    matches!(flags, 5 | 6)
}

/// Checks which GPU an object is for, and returns a warning if there is one.
fn check_flags(flags: u32) -> Result<Option<String>, Flaw> {
    const R600: [&str; 4] = ["r600", "r630", "rs880", "rv670"];
    const SMALL: [&str; 2] = ["rv710", "rv730"];
    const GPUS: &str = "R600 and R700 are 0x1 to 0x7, rv770 is 0x7";
    let fail = |why: &str| Err(Flaw::new("e_flags", format!("0x{flags:x} {why}; {GPUS}")));
    match flags {
        1..=4 => Ok(Some(format!(
            "made for {}, of the family before; its CF words mean the same",
            R600[flags as usize - 1]
        ))),
        // r700-3.4-h.
        5 | 6 => Ok(Some(format!(
            "made for {}, whose stack entries have 8 sub-entries: a unit built with SUBENTRIES=8",
            SMALL[flags as usize - 5]
        ))),
        7 => Ok(None),
        0x8..=0x10 => {
            fail("is a GPU of the families after, Evergreen and Cayman, which have other CF words")
        }
        0x20..=0xff => fail("is a GPU of another architecture, GCN or later"),
        _ => fail("is not a known GPU"),
    }
}

/// Returns the register values of `count` functions.
fn configs(data: &[u8], count: usize) -> Result<Vec<Config>, Flaw> {
    let fail = |message: String| Err(Flaw::new(CONFIG, message));
    if !data.len().is_multiple_of(8) {
        return fail(format!(
            "must be pairs of register and value of 8 bytes, not {} bytes",
            data.len()
        ));
    }
    let mut found = Vec::new();
    for (i, (register, value)) in words(data).enumerate() {
        match register {
            // SQ_PGM_RESOURCES_VS and _PS: 7:0 GPRs, 15:8 STACK_SIZE.
            0x28868 | 0x28850 => {
                let [gprs, stack_size, ..] = value.to_le_bytes();
                found.push(Config { gprs, stack_size });
            }
            _ if found.is_empty() => {
                return fail(format!(
                    "register 0x{register:x} at byte {} stands before the first 0x28868 or 0x28850",
                    8 * i
                ));
            }
            _ => {}
        }
    }
    if found.len() == count {
        Ok(found)
    } else {
        fail(format!(
            "registers 0x28868 and 0x28850 are given {} times, for {count} functions",
            found.len()
        ))
    }
}

/// Returns the pairs of 32-bit words.
fn words(bytes: &[u8]) -> impl Iterator<Item = (u32, u32)> + '_ {
    let word = |b: &[u8]| b.try_into().map(u32::from_le_bytes).unwrap_or_default();
    bytes
        .chunks_exact(8)
        .map(move |pair| (word(&pair[..4]), word(&pair[4..])))
}

/// Returns the CF program at the start of a function's code, with `u`, and the warnings.
fn cf_program(code: &[u8]) -> Result<(Vec<Quad>, Vec<String>), Flaw> {
    let length = code.len() / 8;
    let mut quads: Vec<Quad> = Vec::new();
    let mut notes = Notes::default();
    // The clause that begins first, and the instruction that starts it.
    let mut first: Option<(usize, usize)> = None;
    for (i, (dw0, dw1)) in words(code).enumerate() {
        if let Some((_, by)) = first.filter(|(at, _)| *at == i) {
            let message = format!(
                "no 00000000 80200000 (NOP, END) before quad {i}, where the clause of quad {by} begins"
            );
            return Err(Flaw::new("CF program", message));
        }
        if i == MAX_QUADS {
            let message = format!(
                "no 00000000 80200000 (NOP, END) in {MAX_QUADS} quads, the most there may be"
            );
            return Err(Flaw::new("CF program", message));
        }
        let mut quad = Quad { dw0, dw1, u: false };
        if let Some((start, slots)) = clause(quad) {
            let (start, end) = clause_range(i, start, slots, length)?;
            if first.is_none_or(|(at, _)| start < at) {
                first = Some((start, i));
            }
            if let Word::Alu(_) = Word::decode(quad) {
                let updates = mask_updates(&code[8 * start..8 * end])
                    .map_err(|why| Flaw::new(format!("quad {i} clause"), why))?;
                quad.u = updates > 0;
                if updates > 1 {
                    notes.several.push(i);
                }
            }
        }
        notes.see(i, quad);
        quads.push(quad);
        if (dw0, dw1) == END {
            break;
        }
    }
    if quads.last().map(|q| (q.dw0, q.dw1)) != Some(END) {
        let message =
            format!("no 00000000 80200000 (NOP, END) in the {length} quads of the function");
        return Err(Flaw::new("CF program", message));
    }
    for (i, quad) in quads.iter().enumerate() {
        if let Some(target) = target(*quad)
            && usize::try_from(target).map_or(true, |t| t >= quads.len())
        {
            let message = format!("{target}, and the CF program has {} quads", quads.len());
            return Err(Flaw::new(format!("quad {i} ADDR"), message));
        }
    }
    Ok((quads, notes.warnings()))
}

/// Returns the start of an instruction's clause and its length, in quadwords.
fn clause(quad: Quad) -> Option<(u32, usize)> {
    match Word::decode(quad) {
        Word::Alu(alu) => Some((alu.clause.addr, usize::from(alu.clause.count) + 1)),
        // Two quadwords per instruction.
        Word::Cf(cf) if cf.op.is_fetch() => Some((cf.addr, 2 * (usize::from(cf.count) + 1))),
        _ => None,
    }
}

/// Checks that the clause of instruction `i` lies behind it and in the function; returns its start and end.
fn clause_range(i: usize, start: u32, slots: usize, length: usize) -> Result<(usize, usize), Flaw> {
    let addr = |message: String| Err(Flaw::new(format!("quad {i} ADDR"), message));
    let at = match usize::try_from(start) {
        Ok(at) if at < length => at,
        _ => {
            return addr(format!(
                "the clause begins at {start}, and the function has {length} quads"
            ));
        }
    };
    if at <= i {
        return addr(format!("the clause begins at {start}, in the CF program"));
    }
    let end = at + slots;
    if end > length {
        let message =
            format!("the clause has {slots} quads from {start} on, and the function {length}");
        return Err(Flaw::new(format!("quad {i} COUNT"), message));
    }
    Ok((at, end))
}

/// Returns the target of an instruction that may jump.
fn target(quad: Quad) -> Option<u32> {
    match Word::decode(quad) {
        Word::Cf(cf) => match cf.op {
            CfOp::LoopStart
            | CfOp::LoopEnd
            | CfOp::LoopStartDx10
            | CfOp::LoopStartNoAl
            | CfOp::LoopContinue
            | CfOp::LoopBreak
            | CfOp::Jump
            | CfOp::Push
            | CfOp::PushElse
            | CfOp::Else
            | CfOp::Call => Some(cf.addr),
            _ => None,
        },
        _ => None,
    }
}

/// Returns how many instructions of an ALU clause update the execute mask (r700-2.7).
fn mask_updates(clause: &[u8]) -> Result<usize, String> {
    const LITERAL: u32 = 253;
    let mut slots = words(clause);
    let mut updates = 0;
    // Number of slots of the clause read so far.
    let mut read = 0;
    while read < clause.len() / 8 {
        let group = read;
        let mut highest = None;
        loop {
            let Some((w0, w1)) = slots.next() else {
                return Err(format!(
                    "the group at its slot {group} has no last instruction (W0[31])"
                ));
            };
            read += 1;
            let two_operands = w1 >> 15 & 7 == 0;
            updates += usize::from(two_operands && w1 >> 2 & 1 == 1);
            for (selector, channel, present) in [
                (w0 & 0x1ff, w0 >> 10 & 3, true),
                (w0 >> 13 & 0x1ff, w0 >> 23 & 3, true),
                (w1 & 0x1ff, w1 >> 10 & 3, !two_operands),
            ] {
                if present && selector == LITERAL {
                    highest = highest.max(Some(channel));
                }
            }
            if w0 >> 31 == 1 {
                break;
            }
        }
        for _ in 0..highest.map_or(0, |m| m / 2 + 1) {
            if slots.next().is_none() {
                return Err(format!(
                    "the literals of the group at its slot {group} reach beyond its end"
                ));
            }
            read += 1;
        }
    }
    Ok(updates)
}

/// Remarks on a CF program.
#[derive(Default)]
struct Notes {
    /// Constructs that the back end never emits (r700-8.2), and their places.
    never: BTreeMap<&'static str, Vec<usize>>,
    /// Clauses with several mask updates.
    several: Vec<usize>,
    /// Opcodes that are errors.
    illegal: Vec<usize>,
}

impl Notes {
    fn see(&mut self, i: usize, quad: Quad) {
        let mut never = |what, is: bool| {
            if is {
                self.never.entry(what).or_default().push(i);
            }
        };
        match Word::decode(quad) {
            Word::Alu(alu) => {
                let op = alu.op;
                never("BARRIER 0", !alu.clause.barrier);
                never("WHOLE_QUAD_MODE", alu.clause.wqm);
                let foreign = !matches!(op, AluOp::Alu | AluOp::AluPushBefore | AluOp::AluPopAfter);
                never(op.name(), foreign);
                never(
                    "ALU_PUSH_BEFORE without a mask update",
                    op == AluOp::AluPushBefore && !quad.u,
                );
                never("ALU with a mask update", op == AluOp::Alu && quad.u);
            }
            Word::Cf(cf) => {
                never("BARRIER 0", !cf.barrier);
                never("WHOLE_QUAD_MODE", cf.wqm);
                never("VALID_PIXEL_MODE", cf.vpm);
                never("COND", cf.cond != Cond::Active);
                never("CF_CONST", cf.cf_const != 0);
                never("CALL_COUNT", cf.call_count != 0);
                let foreign = matches!(
                    cf.op,
                    CfOp::Push
                        | CfOp::PushElse
                        | CfOp::LoopStart
                        | CfOp::LoopStartNoAl
                        | CfOp::LoopContinue
                        | CfOp::Call
                        | CfOp::Return
                        | CfOp::Kill
                );
                never(cf.op.name(), foreign);
                if cf.op.is_illegal() {
                    self.illegal.push(i);
                }
            }
            Word::Mem(mem) => {
                never("BARRIER 0", !mem.barrier);
                never("WHOLE_QUAD_MODE", mem.wqm);
                never("VALID_PIXEL_MODE", mem.vpm);
            }
            Word::Reserved(..) => self.illegal.push(i),
        }
    }

    fn warnings(self) -> Vec<String> {
        let at = |quads: &[usize]| places("quad", quads, MAX_SHOWN);
        let mut lines = Vec::new();
        for (what, quads) in &self.never {
            lines.push(format!(
                "{}: {what}, which LLVM's r600 back end never emits",
                at(quads)
            ));
        }
        lines.extend(remarks(&self.illegal, &self.several));
        lines
    }
}
