//! Programs from files of any kind: cubins of ptxas, raw bundles, listings of other tools, and the two formats of this crate.
//!
//! Source: spa5-2.1, spa5-2.5 and spa5-8 in `docs/spec/spa5.md`.
//!
//! | kind | recognised by | launch |
//! |---|---|---|
//! | cubin or object, `ptxas -arch=sm_50` to `sm_62`, with `-c` or without | the first four bytes of an ELF file | entry: the kernel's `st_value`; `prog_size`: its section, followed by the called code of other sections (`link`); targets: attribute 0x34, and the functions of the file |
//! | raw bundles, as nouveau uploads them and `nvdisasm -b SM50` reads them | a NUL byte, which no text has, and bit 63 clear in each control word | entry 0; `prog_size`: the file, filled up to whole bundles |
//! | graphics shader behind its header of 80 bytes | raw bundles whose first word is the header's (`header`) | as raw bundles, without the header |
//! | `.hex` | the first line with an instruction is a hexadecimal word, see [`super::asm::text`] | its directives |
//! | `.s`, including listings of `nvdisasm`, and of other tools (`listing`) | anything else | its directives |
//!
//! Raw bundles may end within a bundle, as in files of `nouveau_compiler`: the bundle is filled up with NOP, and the
//! control word's fields of the new slots become 0x7ef (spa5-8).

use std::fmt;

use super::asm::text::is_hex;
use super::asm::{assemble, parse_hex};
use super::isa::{NOP, Target, Word, is_control, with_plain_slot};
use super::program::{BUNDLE, MAX_BUNDLES, Program};
use crate::unit::{LoadOptions, Loaded};
use reconverge_bench::input::InputError;
use reconverge_bench::quantity::counted;
use reconverge_bench::text::program_name;
use reconverge_program::elf::{Flaw, is_elf};
use reconverge_program::import::{MAX_SHOWN, choose, not_foreign, sound_name, utf8};

mod cubin;
mod header;
mod link;
mod listing;

pub use cubin::sm;
use cubin::{Cubin, DEPTH};

/// Reads a program from a file of any kind. `file` is its name, for messages and for a program without
/// a name of its own. For a cubin with several kernels, `options` must choose one.
///
/// # Errors
///
/// The text is not UTF-8 or the assembler refuses it; a cubin differs from spa5-2.5, or is for
/// another GPU; binary data is not bundles; a choice names nothing.
pub fn load(
    bytes: &[u8],
    file: &str,
    options: &LoadOptions,
) -> Result<Loaded<Program>, InputError> {
    let which = options.which.as_deref();
    not_foreign(bytes, file)?;
    let mut loaded = if is_elf(bytes) {
        let cubin = Cubin::open(bytes, file)?;
        let names: Vec<&str> = cubin.kernels().map(|f| f.name.as_str()).collect();
        let chosen = choose(&names, "kernel", which, file)?;
        let loaded = cubin.program(chosen, options.value("DEPTH", DEPTH));
        loaded.map_err(|flaw| flaw.in_file(file))?
    } else if bytes.contains(&0) {
        let loaded = raw(bytes, file).map_err(|flaw| flaw.in_file(file))?;
        choose(&[&loaded.program.name], "program", which, file)?;
        loaded
    } else {
        Loaded {
            program: text(bytes, file, which)?,
            warnings: Vec::new(),
        }
    };
    let name = &mut loaded.program.name;
    if name.is_empty() {
        *name = program_name(file);
    }
    *name = sound_name(name);
    Ok(loaded)
}

/// Reads a program from a text.
fn text(bytes: &[u8], file: &str, which: Option<&str>) -> Result<Program, InputError> {
    let text = utf8(bytes, file)?;
    if is_hex(text, file) {
        let program = parse_hex(text, file)?;
        choose(&[&program.name], "program", which, file)?;
        return Ok(program);
    }
    let mut parts = listing::parts(text, file).map_err(|e| e.in_text(text))?;
    let named = parts.iter().map(|part| part.name);
    let Some(names) = named.collect::<Option<Vec<&str>>>() else {
        let program = assemble(&parts.swap_remove(0).text(), file)?;
        choose(&[&program.name], "program", which, file)?;
        return Ok(program);
    };
    let chosen = choose(&names, "function", which, file)?;
    let part = parts.swap_remove(chosen);
    let name = part.name.unwrap_or_default().to_owned();
    let program = assemble(&part.text(), file)?;
    Ok(Program { name, ..program })
}

/// A kernel of a cubin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Number in the cubin, from 1.
    pub number: usize,
    /// Name of its symbol.
    pub name: String,
    /// Bytes of its program, including all that it calls; of its section, if it cannot be imported; `None` if it has none.
    pub bytes: Option<usize>,
    /// CRS size in bytes, if the cubin gives it: 16 per token.
    pub crs_size: Option<u32>,
    /// Number of its BRX and JMX, if it can be imported.
    pub indirect: Option<[usize; 2]>,
    /// The reason why it cannot be imported, if it cannot.
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
        if let Some([brx, jmx]) = self.indirect {
            write!(f, ", {brx} BRX")?;
            if jmx > 0 {
                write!(f, ", {jmx} JMX")?;
            }
        }
        match &self.problem {
            Some(problem) => write!(f, ", {problem}"),
            None => Ok(()),
        }
    }
}

/// Returns the kernels of a cubin, in the order of their sections.
///
/// # Errors
///
/// The file is not a cubin of sm_50 to sm_62, or its kernels cannot be determined.
pub fn kernels(bytes: &[u8], file: &str) -> Result<Vec<Listed>, InputError> {
    not_foreign(bytes, file)?;
    if !is_elf(bytes) {
        let why = "must be a cubin: only such a file holds several programs";
        return Err(InputError::new(file, 0, "file", why));
    }
    let cubin = Cubin::open(bytes, file)?;
    // Functions that many kernels call are read for each of them.
    let mut room = MAX_TOGETHER.saturating_mul(bytes.len());
    let listed = (0..cubin.kernels().count())
        .map(|i| {
            let kernel = cubin.kernel(i);
            let info = cubin.info(kernel.name.as_str()).ok();
            let program = match room {
                0 => {
                    let why = "the kernels before it have too many bytes together";
                    Err(Flaw::new("program", why))
                }
                _ => cubin.program(i, DEPTH).map(|loaded| loaded.program),
            };
            let own = || cubin.code(kernel).ok().map(<[u8]>::len);
            let bytes = program.as_ref().map(|p| 8 * p.words.len());
            room = room.saturating_sub(*bytes.as_ref().unwrap_or(&0));
            Listed {
                number: i + 1,
                name: kernel.name.clone(),
                bytes: bytes.ok().or_else(own),
                crs_size: info.and_then(|info| info.crs_size),
                indirect: program.as_ref().ok().map(|p| indirect(&p.words)),
                problem: program.err().map(|flaw| flaw.to_string()),
            }
        })
        .collect();
    Ok(listed)
}

/// Limit of the total size of the listed programs of a cubin, as a multiple of its bytes.
const MAX_TOGETHER: usize = 64;

/// Returns [`kernels`] as text, one line each.
///
/// # Errors
///
/// As [`kernels`].
pub fn list(bytes: &[u8], file: &str) -> Result<Vec<String>, InputError> {
    let listed = kernels(bytes, file)?;
    Ok(listed.iter().map(ToString::to_string).collect())
}

/// Returns the number of BRX and of JMX.
fn indirect(words: &[u64]) -> [usize; 2] {
    let absolute = instructions(words).filter_map(|(_, word)| match word {
        Word::Indirect(indirect) => Some(indirect.target.is_absolute()),
        _ => None,
    });
    let absolute: Vec<bool> = absolute.collect();
    let jmx = absolute.iter().filter(|jmx| **jmx).count();
    [absolute.len() - jmx, jmx]
}

/// Returns address and fields of each instruction.
fn instructions(words: &[u64]) -> impl Iterator<Item = (u32, Word)> + '_ {
    (0..)
        .step_by(8)
        .zip(words)
        .filter(|(pc, _)| !is_control(*pc))
        .map(|(pc, word)| (pc, Word::decode(*word)))
}

/// Returns a little-endian number of up to eight bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b))
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks(8).map(number).collect()
}

fn check_length(bytes: usize) -> Result<(), Flaw> {
    let bundles = bytes.div_ceil(BUNDLE as usize);
    if bundles <= MAX_BUNDLES {
        return Ok(());
    }
    let message = format!("{bundles} bundles, more than {MAX_BUNDLES}");
    Err(Flaw::new("program", message))
}

/// Returns a file of raw bundles as a program, without the header of a graphics shader.
fn raw(bytes: &[u8], file: &str) -> Result<Loaded<Program>, Flaw> {
    let Some(shader) = header::shader(bytes) else {
        return bundles(bytes, file);
    };
    let mut loaded = bundles(&bytes[header::BYTES..], file)?;
    let note = format!(
        "{shader}: its header of {} bytes is left out, so that addresses count from the code",
        header::BYTES
    );
    loaded.warnings.insert(0, note);
    Ok(loaded)
}

/// Returns raw bundles as a program.
fn bundles(bytes: &[u8], file: &str) -> Result<Loaded<Program>, Flaw> {
    if !bytes.len().is_multiple_of(8) {
        let message = format!(
            "neither text, as it has a NUL byte, nor bundles, as {} is not a multiple of 8",
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
            "neither text, as it has a NUL byte, nor bundles, as {word:#018x} at {pc:#06x} is not a control word: its bit 63 is 1"
        );
        return Err(Flaw::new("file", message));
    }
    let of_bundles = words.iter().enumerate().filter(|(n, _)| n % 4 != 0);
    let mut instructions = of_bundles.map(|(_, word)| Word::decode(*word));
    if !instructions.any(|word| word.name().is_some()) {
        let message = "neither text, as it has a NUL byte, nor bundles, as no word in it is a flow-control instruction";
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
        let filled = counted(filled, "NOP");
        found.push(format!(
            "ends within a bundle, which was filled up with {filled}"
        ));
    }
    found.extend(notes(&words));
    let program = Program {
        name: program_name(file),
        entry: 0,
        // At most MAX_BUNDLES bundles.
        prog_size: words.len() as u32 * 8,
        words,
        ..Program::default()
    };
    Ok(Loaded {
        program,
        warnings: found,
    })
}

/// Formats `0x0018` or `0x0018, 0x0030`; of many places, the rest is counted.
fn at(places: &[u32]) -> String {
    let shown: Vec<String> = (places.iter().take(MAX_SHOWN))
        .map(|pc| format!("{pc:#06x}"))
        .collect();
    let more = match places.len().saturating_sub(MAX_SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    shown.join(", ") + &more
}

/// Returns remarks on a program's words that hold for every build of the unit.
fn notes(words: &[u64]) -> Vec<String> {
    let control = |(pc, word): &(u32, &u64)| is_control(*pc) && **word >> 63 == 1;
    let controls = (0..).step_by(8).zip(words).filter(control);
    let bank = |(_, word): &(u32, Word)| {
        !matches!(word, Word::Indirect(_)) && matches!(word.target(), Some(Target::Bank { .. }))
    };
    let found = [
        (
            "bit 63 of a control word is 1",
            controls.map(|(pc, _)| pc).collect::<Vec<_>>(),
        ),
        (
            "offset in a constant bank, which is taken as 0",
            (instructions(words).filter(bank).map(|(pc, _)| pc)).collect(),
        ),
    ];
    (found.iter().filter(|(_, places)| !places.is_empty()))
        .map(|(what, places)| format!("{}: {what}", at(places)))
        .collect()
}
