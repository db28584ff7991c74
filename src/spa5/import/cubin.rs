//! Cubins of ptxas: their kernels, and the data on each (spa5-2.5).

use std::collections::BTreeMap;

use super::link::Link;
use super::number;
use crate::spa5::isa::{LeaveOp, Word, is_control, norm};
use crate::spa5::program::Program;
use crate::unit::Loaded;
use reconverge_bench::input::InputError;
use reconverge_program::elf::{EXEC, Elf, Flaw, Function, REL, Wanted, is_elf};

/// The GPU of the specification.
const SM: u32 = 50;

/// The GPUs whose instruction words are those of sm_50: Maxwell and Pascal (spa5-2.5).
const OURS: [u32; 6] = [SM, 52, 53, 60, 61, 62];

/// These GPUs in messages.
pub(super) const SAME_WORDS: &str = "sm_50 to sm_62";

/// `EI_ABIVERSION` from which on `e_flags` has the GPU in bits 15:8 (spa5-2.5).
const ABI_WITH_SM_ABOVE: u8 = 8;

/// The cubins that are read (spa5-2.5).
const CUBIN: Wanted = Wanted {
    what: "a cubin",
    bits64: true,
    machine: 190,
    types: &[EXEC, REL],
};

/// Bit of `st_other` that is set for a kernel, and clear for a device function (spa5-2.5).
pub(super) const ENTRY: u8 = 0x10;

/// Attributes of `.nv.info.NAME` (spa5-2.5): offsets of the EXITs, CRS size, legal targets.
const EXITS: u8 = 0x1c;
const CRS_SIZE: u8 = 0x1e;
const TARGETS: u8 = 0x34;

/// Format of an attribute with data behind it; others have their value in the size (spa5-2.5).
const WITH_DATA: u8 = 4;

/// Bytes that ptxas reserves for a token (spa5-O16).
const TOKEN_BYTES: u32 = 16;

/// Number of tokens in the default build of the unit (spa5-3).
pub(super) const DEPTH: u32 = 64;

/// A cubin that was opened.
pub(super) struct Cubin<'a> {
    pub(super) elf: Elf<'a>,
    /// The kernels, as positions in the list of functions.
    kernels: Vec<usize>,
    /// Sections by name, the first of each.
    sections: BTreeMap<&'a str, usize>,
    /// Remark on the GPU that it is for.
    note: Option<String>,
}

/// The contents of `.nv.info.NAME`, only checked for consistency with itself.
#[derive(Default)]
pub(super) struct Info {
    pub(super) exits: Vec<u32>,
    pub(super) crs_size: Option<u32>,
    pub(super) targets: BTreeMap<u32, Vec<u32>>,
}

impl<'a> Cubin<'a> {
    pub(super) fn open(bytes: &'a [u8], file: &str) -> Result<Self, InputError> {
        let elf = Elf::open(bytes, file, &CUBIN)?;
        let note = check_flags(bytes, elf.flags).map_err(|flaw| flaw.in_file(file))?;
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
            note,
        };
        // Sections may overlap in the file, kernels may not: the time to read them is then linear in its length.
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

    pub(super) fn kernels(&self) -> impl Iterator<Item = &Function<'a>> {
        self.kernels.iter().map(|i| &self.elf.functions[*i])
    }

    pub(super) fn kernel(&self, i: usize) -> &Function<'a> {
        &self.elf.functions[self.kernels[i]]
    }

    /// Returns the number of bytes to read for a kernel.
    fn read(&self, kernel: &Function) -> usize {
        let code = kernel.section.map(|i| self.elf.sections[i].data());
        let info = self
            .section(&info_name(&kernel.name))
            .map(|i| self.elf.sections[i].data());
        let length =
            |data: Option<Result<&[u8], Flaw>>| data.and_then(Result::ok).map_or(0, <[u8]>::len);
        length(code) + length(info)
    }

    fn section(&self, name: &str) -> Option<usize> {
        self.sections.get(name).copied()
    }

    /// Returns the section that is the kernel's program.
    pub(super) fn code(&self, kernel: &Function) -> Result<&'a [u8], Flaw> {
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

    /// Returns kernel `i` as a program: its section, followed by all that it calls. It warns of more tokens than `depth`.
    pub(super) fn program(&self, i: usize, depth: u32) -> Result<Loaded<Program>, Flaw> {
        let kernel = self.kernel(i);
        let size = self.code(kernel)?.len();
        let program = Link::of(self, kernel)?.program()?;
        let Loaded {
            mut program,
            mut warnings,
        } = program;
        program.entry = match u32::try_from(kernel.offset) {
            Ok(entry) if (entry as usize) < size && entry.is_multiple_of(8) => entry,
            _ => {
                let message = format!(
                    "must be the address of an instruction in the {size} bytes of the kernel, not {:#x}",
                    kernel.offset
                );
                return Err(Flaw::new("st_value", message));
            }
        };
        program.name.clone_from(&kernel.name);
        warnings.splice(..0, self.note.clone());
        let crs_size = self.info(&kernel.name)?.crs_size;
        if let Some(size) = crs_size.filter(|size| *size > depth * TOKEN_BYTES) {
            warnings.push(format!(
                "CRS size {size}, {} tokens; a unit built with DEPTH {depth} holds no more than these",
                size / TOKEN_BYTES
            ));
        }
        Ok(Loaded { program, warnings })
    }
    /// Returns the attributes of the function `name`, a kernel or not; empty if it has no section of them.
    pub(super) fn info(&self, name: &str) -> Result<Info, Flaw> {
        let name = info_name(name);
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
                return fail("must be a sequence of 32-bit words");
            }
            let mut values = value.chunks_exact(4).map(|b| number(b) as u32);
            match *attribute {
                EXITS => info.exits.extend(values),
                CRS_SIZE => match (values.next(), values.next()) {
                    (Some(size), None) => info.crs_size = Some(size),
                    _ => return fail("must be a size of four bytes"),
                },
                _ => {
                    while let Some(pc) = values.next() {
                        // A flag, set for an indirect call, which its empty list also shows, and 0; then the number of
                        // targets.
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

pub(super) fn info_name(function: &str) -> String {
    format!(".nv.info.{function}")
}

/// Checks which GPU a cubin is for, and returns a remark if it is another than sm_50 with the same words.
fn check_flags(bytes: &[u8], flags: u32) -> Result<Option<String>, Flaw> {
    let sm = sm_of(bytes, flags);
    let made = format!("made for sm_{sm}{}", family(sm));
    if is_ours(sm) {
        return Ok(
            (sm != SM).then(|| format!("{made}, whose instruction words are those of sm_{SM}"))
        );
    }
    let other = match sm {
        70.. => ", with instruction words of 128 bits",
        _ => "",
    };
    let message =
        format!("{flags:#x}: {made}{other}, where {SAME_WORDS} is wanted (ptxas -arch=sm_50)");
    Err(Flaw::new("e_flags", message))
}

/// Returns which GPU `e_flags` names, by the version of the ABI that the file is of.
fn sm_of(bytes: &[u8], flags: u32) -> u32 {
    match bytes.get(8) {
        Some(abi) if *abi >= ABI_WITH_SM_ABOVE => flags >> 8 & 0xff,
        _ => flags & 0xff,
    }
}

/// Returns whether this unit executes the words of `sm`.
pub(super) fn is_ours(sm: u32) -> bool {
    OURS.contains(&sm)
}

/// Returns the name of the family of `sm_NN`, in brackets.
pub(super) fn family(sm: u32) -> &'static str {
    match sm {
        20..=21 => " (Fermi)",
        30..=37 => " (Kepler)",
        50..=53 => " (Maxwell)",
        60..=62 => " (Pascal)",
        70..=72 => " (Volta)",
        75 => " (Turing)",
        80.. => " (Ampere or later)",
        _ => "",
    }
}

/// Returns which GPU a cubin is for, and whether it is this unit's: `sm_61 (Pascal)`, false; `None` if `bytes` are not a cubin.
pub fn sm(bytes: &[u8]) -> Option<(String, bool)> {
    let cubin = is_elf(bytes) && bytes.get(18..20)? == CUBIN.machine.to_le_bytes();
    // `e_flags` in a 64-bit file.
    let flags = bytes.get(48..52).filter(|_| cubin && bytes[4] == 2)?;
    let sm = sm_of(bytes, number(flags) as u32);
    Some((format!("sm_{sm}{}", family(sm)), is_ours(sm)))
}

/// Checks the data of a cubin on a kernel against its words.
pub(super) fn check_info(info: &Info, words: &[u64], section: &str) -> Result<(), Flaw> {
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
                "{target:#06x} is listed as a target of {pc:#06x}, and must be the address of an instruction"
            ));
        }
    }
    Ok(())
}
