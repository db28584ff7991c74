//! Programs from files of any kind: cubins of ptxas, raw bundles, and the crate's own two forms.
//!
//! Source: spa5-2.1, spa5-2.5 and spa5-8 in `docs/spec/spa5.md`.
//!
//! | kind | recognised by | launch |
//! |---|---|---|
//! | cubin, `ptxas -arch=sm_50` | the first four bytes of an ELF file | entry: the kernel's `st_value`; `prog_size`: its section, device functions and all; targets: attribute 0x34 |
//! | raw bundles, as nouveau uploads them and `nvdisasm -b SM50` reads them | a NUL byte, which no text has, and bit 63 clear in each control word | entry 0; `prog_size`: the file, filled up to whole bundles |
//! | `.hex` | the first line with an instruction is a hexadecimal word, see [`super::asm::text`] | its directives |
//! | `.s`, a listing of `nvdisasm` among them | anything else | its directives |
//!
//! Raw bundles may end within a bundle, as `nouveau_compiler` leaves them: it is filled up with NOP, and the
//! control word's fields of the new slots become 0x7ef (spa5-8).

use std::collections::BTreeMap;
use std::fmt;

use super::asm::text::is_hex;
use super::asm::{assemble, parse_hex};
use super::isa::{Cond, LeaveOp, NOP, Target, Word, is_control, norm, with_plain_slot};
use super::program::{BUNDLE, MOST_BUNDLES, Program};
use crate::elf::{EXEC, Elf, Flaw, Function, REL, Wanted, is_elf};
use crate::import::{MOST_SHOWN, choose, sound_name, utf8};
use crate::input::InputError;
use crate::text::program_name;
use crate::unit::{LoadOptions, Loaded};

/// The cubins that are read (spa5-2.5).
const CUBIN: Wanted = Wanted {
    what: "a cubin",
    bits64: true,
    machine: 190,
    types: &[EXEC, REL],
};

/// Bit of `st_other` that a kernel has, and a device function has not (spa5-2.5).
const ENTRY: u8 = 0x10;

/// Attributes of `.nv.info.NAME` (spa5-2.5): offsets of the EXITs, CRS size, legal targets.
const EXITS: u8 = 0x1c;
const CRS_SIZE: u8 = 0x1e;
const TARGETS: u8 = 0x34;

/// Format of an attribute with data behind it; others have their value in the size (spa5-2.5).
const WITH_DATA: u8 = 4;

/// Bytes that ptxas reserves for a token (spa5-O16).
const TOKEN_BYTES: u32 = 16;

/// Tokens that a unit holds if it is built without another number (spa5-3).
const DEPTH: u32 = 64;

/// Reads a program from a file of any kind. `file` is its name, for messages and where nothing else names
/// the program. Of a cubin with several kernels `options` must choose one.
///
/// # Errors
///
/// Text that is not UTF-8 or that the assembler refuses; a cubin that is not as spa5-2.5 says, or for
/// another GPU; binary data that is no bundles; a choice that names nothing.
pub fn load(
    bytes: &[u8],
    file: &str,
    options: &LoadOptions,
) -> Result<Loaded<Program>, InputError> {
    let which = options.which.as_deref();
    let mut loaded = if is_elf(bytes) {
        let cubin = Cubin::open(bytes, file)?;
        let names: Vec<&str> = cubin.kernels().map(|f| f.name.as_str()).collect();
        let chosen = choose(&names, "kernel", which, file)?;
        cubin.program(chosen).map_err(|flaw| flaw.in_file(file))?
    } else {
        let loaded = if bytes.contains(&0) {
            bundles(bytes, file).map_err(|flaw| flaw.in_file(file))?
        } else {
            let text = utf8(bytes, file)?;
            let program = if is_hex(text, file) {
                parse_hex(text, file)?
            } else {
                assemble(text, file)?
            };
            Loaded {
                program,
                warnings: Vec::new(),
            }
        };
        choose(&[&loaded.program.name], "program", which, file)?;
        loaded
    };
    let name = &mut loaded.program.name;
    if name.is_empty() {
        *name = program_name(file);
    }
    *name = sound_name(name);
    Ok(loaded)
}

/// A kernel of a cubin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Number in the cubin, from 1.
    pub number: usize,
    /// Name of its symbol.
    pub name: String,
    /// Bytes of its section, device functions and all, if it has one.
    pub bytes: Option<usize>,
    /// CRS size in bytes, if the cubin tells: 16 a token.
    pub crs_size: Option<u32>,
    /// Number of its BRX, if it can be imported.
    pub brx: Option<usize>,
    /// Why it cannot be imported, if it cannot.
    pub problem: Option<String>,
}

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}  {}", self.number, sound_name(&self.name))?;
        if let Some(bytes) = self.bytes {
            write!(f, ", {bytes} bytes")?;
        }
        if let Some(crs_size) = self.crs_size {
            write!(f, ", CRS size {crs_size}")?;
        }
        if let Some(brx) = self.brx {
            write!(f, ", {brx} BRX")?;
        }
        match &self.problem {
            Some(problem) => write!(f, ", {problem}"),
            None => Ok(()),
        }
    }
}

/// The kernels of a cubin, in the order of their sections.
///
/// # Errors
///
/// A file that is no cubin of sm_50, or of which not even the kernels can be told.
pub fn kernels(bytes: &[u8], file: &str) -> Result<Vec<Listed>, InputError> {
    if !is_elf(bytes) {
        let why = "is no cubin; only such a file holds several programs";
        return Err(InputError::new(file, 0, "file", why));
    }
    let cubin = Cubin::open(bytes, file)?;
    let listed = (0..cubin.kernels.len())
        .map(|i| {
            let kernel = cubin.kernel(i);
            let info = cubin.info(kernel).ok();
            let program = cubin.program(i);
            Listed {
                number: i + 1,
                name: kernel.name.clone(),
                bytes: cubin.code(kernel).ok().map(<[u8]>::len),
                crs_size: info.and_then(|info| info.crs_size),
                brx: program.as_ref().ok().map(|p| count_brx(&p.program.words)),
                problem: program.err().map(|flaw| flaw.to_string()),
            }
        })
        .collect();
    Ok(listed)
}

/// [`kernels`], one line each.
///
/// # Errors
///
/// As [`kernels`].
pub fn list(bytes: &[u8], file: &str) -> Result<Vec<String>, InputError> {
    let listed = kernels(bytes, file)?;
    Ok(listed.iter().map(ToString::to_string).collect())
}

fn count_brx(words: &[u64]) -> usize {
    instructions(words)
        .filter(|(_, word)| matches!(word, Word::Indirect(_)))
        .count()
}

/// Address and fields of each instruction.
fn instructions(words: &[u64]) -> impl Iterator<Item = (u32, Word)> + '_ {
    (0..)
        .step_by(8)
        .zip(words)
        .filter(|(pc, _)| !is_control(*pc))
        .map(|(pc, word)| (pc, Word::decode(*word)))
}

/// A cubin that was opened.
struct Cubin<'a> {
    elf: Elf<'a>,
    /// The kernels, as positions in the list of functions.
    kernels: Vec<usize>,
    /// Sections by name, the first of each.
    sections: BTreeMap<&'a str, usize>,
}

/// What `.nv.info.NAME` tells, checked against itself only.
#[derive(Default)]
struct Info {
    exits: Vec<u32>,
    crs_size: Option<u32>,
    targets: BTreeMap<u32, Vec<u32>>,
}

impl<'a> Cubin<'a> {
    fn open(bytes: &'a [u8], file: &str) -> Result<Self, InputError> {
        let elf = Elf::open(bytes, file, &CUBIN)?;
        check_flags(elf.flags).map_err(|flaw| flaw.in_file(file))?;
        let mut sections = BTreeMap::new();
        for (i, section) in elf.sections.iter().enumerate() {
            sections.entry(section.name).or_insert(i);
        }
        let is_kernel = |i: &usize| elf.functions[*i].other & ENTRY != 0;
        let kernels: Vec<usize> = (0..elf.functions.len()).filter(is_kernel).collect();
        if kernels.is_empty() {
            let message = "no kernel in it: no function whose st_other has bit 4";
            return Err(InputError::new(file, 0, ".symtab", message));
        }
        let cubin = Cubin {
            elf,
            kernels,
            sections,
        };
        // Sections may overlap in the file, kernels may not: reading them all is linear in its length.
        let total: usize = cubin.kernels().map(|f| cubin.read(f)).sum();
        if total > bytes.len() {
            let message = format!(
                "the kernels have {total} bytes together, more than the file, which has {}",
                bytes.len()
            );
            return Err(InputError::new(file, 0, "sh_size", message));
        }
        Ok(cubin)
    }

    fn kernels(&self) -> impl Iterator<Item = &Function<'a>> {
        self.kernels.iter().map(|i| &self.elf.functions[*i])
    }

    fn kernel(&self, i: usize) -> &Function<'a> {
        &self.elf.functions[self.kernels[i]]
    }

    /// Bytes that have to be read for a kernel.
    fn read(&self, kernel: &Function) -> usize {
        let code = kernel.section.map(|i| self.elf.sections[i].data());
        let info = self
            .section(&info_name(kernel))
            .map(|i| self.elf.sections[i].data());
        let length =
            |data: Option<Result<&[u8], Flaw>>| data.and_then(Result::ok).map_or(0, <[u8]>::len);
        length(code) + length(info)
    }

    fn section(&self, name: &str) -> Option<usize> {
        self.sections.get(name).copied()
    }

    /// The section that is the kernel's program.
    fn code(&self, kernel: &Function) -> Result<&'a [u8], Flaw> {
        let Some(section) = kernel.section.map(|i| &self.elf.sections[i]) else {
            return Err(Flaw::new("st_shndx", "names no section"));
        };
        if section.name.strip_prefix(".text.") != Some(&kernel.name) {
            let message = format!(
                "the kernel lies in {}, not in .text.{}",
                section.title(),
                kernel.name
            );
            return Err(Flaw::new("st_shndx", message));
        }
        section.data()
    }

    /// Kernel `i` as a program.
    fn program(&self, i: usize) -> Result<Loaded<Program>, Flaw> {
        let kernel = self.kernel(i);
        let code = self.code(kernel)?;
        let bundle = BUNDLE as usize;
        if code.is_empty() || !code.len().is_multiple_of(bundle) {
            let message = format!("{} bytes are no bundles, {BUNDLE} each", code.len());
            return Err(Flaw::new("sh_size", message));
        }
        check_length(code.len())?;
        // No more than MOST_BUNDLES bundles.
        let prog_size = code.len() as u32;
        let entry = match u32::try_from(kernel.offset) {
            Ok(entry) if entry < prog_size && entry.is_multiple_of(8) => entry,
            _ => {
                let message = format!(
                    "{:#x} is no instruction's place in the {prog_size} bytes of the kernel",
                    kernel.offset
                );
                return Err(Flaw::new("st_value", message));
            }
        };
        let words = words(code);
        let info = self.info(kernel)?;
        check_info(&info, &words, &info_name(kernel))?;
        let mut warnings = warnings(&words);
        if let Some(table) = kernel.section.and_then(|s| self.elf.relocations(s)) {
            check_relocations(table.data()?, table.kind, &words, table.title())?;
            warnings.push(format!(
                "{} changes the code when it is loaded; its instructions are taken as they are in the file",
                table.title()
            ));
        }
        let without: Vec<u32> = instructions(&words)
            .filter(|(pc, word)| {
                let listed = info.targets.get(pc).is_some_and(|t| !t.is_empty());
                matches!(word, Word::Indirect(_)) && !listed
            })
            .map(|(pc, _)| pc)
            .collect();
        if !without.is_empty() {
            warnings.push(format!(
                "{}: BRX for which the cubin lists no target; its register will be 0",
                at(&without)
            ));
        }
        if let Some(size) = info.crs_size.filter(|size| *size > DEPTH * TOKEN_BYTES) {
            warnings.push(format!(
                "CRS size {size}, {} tokens; a unit built with DEPTH {DEPTH} holds no more than these",
                size / TOKEN_BYTES
            ));
        }
        Ok(Loaded {
            program: Program {
                name: kernel.name.clone(),
                entry,
                prog_size,
                words,
                targets: info.targets,
                ..Program::default()
            },
            warnings,
        })
    }

    /// The attributes of a kernel; none if it has no section of them.
    fn info(&self, kernel: &Function) -> Result<Info, Flaw> {
        let name = info_name(kernel);
        let Some(section) = self.section(&name) else {
            return Ok(Info::default());
        };
        let data = self.elf.sections[section].data()?;
        let mut info = Info::default();
        let mut rest = data;
        while !rest.is_empty() {
            let at = data.len() - rest.len();
            let fail = |why: &str| {
                Err(Flaw::new(
                    &name,
                    format!("the attribute at byte {at} {why}"),
                ))
            };
            let [format, attribute, low, high, behind @ ..] = rest else {
                return fail("is cut off");
            };
            rest = behind;
            if *format != WITH_DATA {
                continue;
            }
            let Some((value, behind)) =
                rest.split_at_checked(u16::from_le_bytes([*low, *high]).into())
            else {
                return fail("does not end in the section");
            };
            rest = behind;
            if !matches!(*attribute, EXITS | CRS_SIZE | TARGETS) {
                continue;
            }
            if !value.len().is_multiple_of(4) {
                return fail("is no sequence of 32-bit words");
            }
            let mut values = value.chunks_exact(4).map(|b| number(b) as u32);
            match *attribute {
                EXITS => info.exits.extend(values),
                CRS_SIZE => match (values.next(), values.next()) {
                    (Some(size), None) => info.crs_size = Some(size),
                    _ => return fail("is no size: it has not four bytes"),
                },
                _ => {
                    while let Some(pc) = values.next() {
                        // Two 16-bit numbers that say nothing here, then how many targets.
                        let (Some(_), Some(count)) = (values.next(), values.next()) else {
                            return fail("ends within a list");
                        };
                        if usize::try_from(count).map_or(true, |count| count > values.len()) {
                            return fail("ends within a list");
                        }
                        let targets = values.by_ref().take(count as usize).map(norm).collect();
                        if info.targets.insert(pc, targets).is_some() {
                            return fail(&format!("lists the targets of {pc:#06x} again"));
                        }
                    }
                }
            }
        }
        Ok(info)
    }
}

fn info_name(kernel: &Function) -> String {
    format!(".nv.info.{}", kernel.name)
}

/// A little-endian number of up to eight bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b))
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks(8).map(number).collect()
}

fn check_length(bytes: usize) -> Result<(), Flaw> {
    let bundles = bytes.div_ceil(BUNDLE as usize);
    if bundles <= MOST_BUNDLES {
        return Ok(());
    }
    let message = format!("{bundles} bundles, more than {MOST_BUNDLES}");
    Err(Flaw::new("program", message))
}

/// Checks which GPU a cubin is for: the low byte of `e_flags` (spa5-2.5).
fn check_flags(flags: u32) -> Result<(), Flaw> {
    let family = match flags & 0xff {
        50 => return Ok(()),
        51..=53 => " (Maxwell)",
        20..=21 => " (Fermi)",
        30..=37 => " (Kepler)",
        60..=62 => " (Pascal)",
        70..=72 => " (Volta)",
        75 => " (Turing)",
        80.. => " (Ampere or later)",
        _ => "",
    };
    let sm = flags & 0xff;
    let message =
        format!("{flags:#x}: made for sm_{sm}{family}, where sm_50 is wanted (ptxas -arch=sm_50)");
    Err(Flaw::new("e_flags", message))
}

/// Checks what a cubin says of a kernel against its words.
fn check_info(info: &Info, words: &[u64], section: &str) -> Result<(), Flaw> {
    let fail = |message: String| Err(Flaw::new(section, message));
    let size = words.len() as u64 * 8;
    let instruction = |pc: u32| {
        let inside = u64::from(pc) < size && pc.is_multiple_of(8) && !is_control(pc);
        inside.then(|| Word::decode(words[pc as usize / 8]))
    };
    for &pc in &info.exits {
        match instruction(pc) {
            Some(Word::Leave(leave)) if leave.op == LeaveOp::Exit => {}
            _ => return fail(format!("there is no EXIT at {pc:#06x}, where it lists one")),
        }
    }
    for (&pc, targets) in &info.targets {
        match instruction(pc) {
            Some(Word::Indirect(_)) => {}
            Some(Word::Leave(leave)) if !matches!(leave.op, LeaveOp::Exit | LeaveOp::Kil) => {}
            _ => {
                let message =
                    format!("there is no SYNC, BRK or BRX at {pc:#06x}, of which it lists targets");
                return fail(message);
            }
        }
        if let Some(target) = targets.iter().find(|t| instruction(**t).is_none()) {
            return fail(format!(
                "{target:#06x} is listed as a target of {pc:#06x}, and is no instruction's place"
            ));
        }
    }
    Ok(())
}

/// Checks that relocations leave the targets of this unit's instructions alone.
fn check_relocations(data: &[u8], kind: u32, words: &[u64], section: &str) -> Result<(), Flaw> {
    // Elf64_Rel is two words of 64 bits, Elf64_Rela (type 4) three.
    let entry = if kind == 4 { 24 } else { 16 };
    for relocation in data.chunks(entry) {
        let offset = number(&relocation[..relocation.len().min(8)]);
        let word = usize::try_from(offset / 8).ok().and_then(|i| words.get(i));
        let Some(word) = word else {
            let message = format!(
                "changes byte {offset}, and the code has {}",
                words.len() * 8
            );
            return Err(Flaw::new(section, message));
        };
        let decoded = Word::decode(*word);
        if let Some(name) = decoded.name().filter(|_| decoded.target().is_some()) {
            let message = format!(
                "changes the {name} at {:#06x}; a finished program has its targets",
                offset & !7
            );
            return Err(Flaw::new(section, message));
        }
    }
    Ok(())
}

/// A file of raw bundles as a program.
fn bundles(bytes: &[u8], file: &str) -> Result<Loaded<Program>, Flaw> {
    if !bytes.len().is_multiple_of(8) {
        let message = format!(
            "no text, for it has a NUL byte, and no bundles, for {} is no multiple of 8",
            bytes.len()
        );
        return Err(Flaw::new("file", message));
    }
    check_length(bytes.len())?;
    let mut words = words(bytes);
    let controls = || (0..).step_by(BUNDLE as usize);
    if let Some((pc, word)) = controls()
        .zip(words.iter().step_by(4))
        .find(|(_, word)| **word >> 63 == 1)
    {
        let message = format!(
            "no text, for it has a NUL byte, and no bundles, for {word:#018x} at {pc:#06x} is no control word: its bit 63 is 1"
        );
        return Err(Flaw::new("file", message));
    }
    let mut found = Vec::new();
    let filled = (4 - words.len() % 4) % 4;
    if filled > 0 {
        let control = words.len() / 4 * 4;
        for slot in 3 - filled..3 {
            // Slots 0 to 2.
            words[control] = with_plain_slot(words[control], slot as u32);
            words.push(NOP);
        }
        let plural = if filled == 1 { "" } else { "s" };
        found.push(format!(
            "ends within a bundle, which was filled up with {filled} NOP{plural}"
        ));
    }
    found.extend(warnings(&words));
    let program = Program {
        name: program_name(file),
        entry: 0,
        // No more than MOST_BUNDLES bundles.
        prog_size: words.len() as u32 * 8,
        words,
        ..Program::default()
    };
    Ok(Loaded {
        program,
        warnings: found,
    })
}

/// `0x0018` or `0x0018, 0x0030`; of many the rest is counted.
fn at(places: &[u32]) -> String {
    let shown: Vec<String> = (places.iter().take(MOST_SHOWN))
        .map(|pc| format!("{pc:#06x}"))
        .collect();
    let more = match places.len().saturating_sub(MOST_SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    shown.join(", ") + &more
}

/// What is worth saying of a program.
fn warnings(words: &[u64]) -> Vec<String> {
    let mut notes: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    let mut note = |what: &str, pc| notes.entry(what.to_owned()).or_default().push(pc);
    for (pc, word) in (0..).step_by(8).zip(words) {
        if is_control(pc) && *word >> 63 == 1 {
            note("bit 63 of a control word is 1", pc);
        }
    }
    for (pc, word) in instructions(words) {
        let cond = match word {
            Word::Branch(b) => b.cond,
            Word::Indirect(b) => b.cond,
            Word::Leave(l) => l.cond,
            _ => Cond::ALWAYS,
        };
        match word {
            Word::Unsupported(op, _) => {
                note(&format!("{}, error 10 (UNSUPPORTED)", op.name()), pc);
            }
            Word::Illegal(_) => note("opcode without a name, error 9 (ILLEGAL)", pc),
            Word::Indirect(indirect) if matches!(indirect.target, Target::Bank { .. }) => {
                note("target in a constant bank, error 10 (UNSUPPORTED)", pc);
            }
            Word::Indirect(_) => {
                let name = word.name().unwrap_or("BRX");
                let what =
                    format!("{name}, error 10 (UNSUPPORTED) unless the unit is built with BRX=1");
                note(&what, pc);
            }
            _ if matches!(word.target(), Some(Target::Bank { .. })) => {
                note("offset in a constant bank, which is taken as 0", pc);
            }
            _ => {}
        }
        if cond.test.is_clip() {
            let name = cond.test.name();
            let what =
                format!("CC.{name}, error 10 (UNSUPPORTED) unless the unit is built with CSM=1");
            note(&what, pc);
        }
    }
    notes
        .iter()
        .map(|(what, places)| format!("{}: {what}", at(places)))
        .collect()
}
