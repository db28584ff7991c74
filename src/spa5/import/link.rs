//! Links a kernel with all that it calls into one program (spa5-2.5-e, spa5-2.5-h, spa5-2.5-k).
//!
//! The kernel's section comes first, then those of the functions that its relocations name, in the order in which
//! they are found, then a bundle for each function that is missing in the file.

use std::collections::BTreeMap;

use super::cubin::{Cubin, ENTRY, Info, check_info, info_name};
use super::{at, check_length, instructions, notes, words};
use crate::spa5::isa::{CONTROL, NOP, Target, Word, is_control, norm};
use crate::spa5::program::{BUNDLE, Program};
use crate::unit::Loaded;
use reconverge_program::elf::{Flaw, Function, Relocation};
use reconverge_program::import::MAX_SHOWN;

/// The relocation that puts an address into bits 51:20, of JMP and JCAL (spa5-2.5-e).
const ADDRESS: u32 = 0x2a;

/// The section with callers and callees, and the callee that ends the direct calls in it (spa5-2.5-h).
const CALLS: &str = ".nv.callgraph";
const DIRECT_END: u32 = u32::MAX - 1;

/// RET, and BPT.TRAP for the one function that does not return (spa5-2.5-k).
const RET: u64 = 0xe320_0000_0007_000f;
const TRAP: u64 = 0xe3a0_0000_0010_00c0;
const DOES_NOT_RETURN: &str = "__assertfail";

/// A section of the program.
struct Part {
    section: usize,
    /// Its address in the program, a multiple of 32.
    base: u32,
    words: Vec<u64>,
    /// Its relocations, with the section that they come from.
    relocations: Vec<(usize, Relocation)>,
    info: Info,
}

/// A symbol as the linker sees it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Callee {
    /// A function of the file, by its position in the list.
    Here(usize),
    /// A function missing in the file, in the same way.
    Elsewhere(usize),
}

/// A program during linking.
pub(super) struct Link<'c, 'a> {
    cubin: &'c Cubin<'a>,
    /// Functions by the number of their symbol; kernels are not included.
    callees: BTreeMap<usize, Callee>,
    parts: Vec<Part>,
    /// Functions missing in the file.
    elsewhere: Vec<usize>,
    /// Possible targets of a JMX without a list of targets.
    pointers: Vec<Callee>,
}

impl<'c, 'a> Link<'c, 'a> {
    /// Finds the parts of `kernel`'s program.
    ///
    /// # Errors
    ///
    /// Sections are not bundles or too many; attributes and relocations do not fit them.
    pub(super) fn of(cubin: &'c Cubin<'a>, kernel: &Function<'a>) -> Result<Self, Flaw> {
        let here = cubin.elf.functions.iter().enumerate();
        let here = here
            .filter(|(_, f)| f.other & ENTRY == 0)
            .map(|(i, f)| (f.symbol, Callee::Here(i)));
        let elsewhere = cubin.elf.undefined.iter().enumerate();
        let elsewhere = elsewhere.map(|(i, f)| (f.symbol, Callee::Elsewhere(i)));
        let mut link = Link {
            cubin,
            callees: here.chain(elsewhere).collect(),
            parts: Vec::new(),
            elsewhere: Vec::new(),
            pointers: Vec::new(),
        };
        let Some(section) = kernel.section else {
            return Err(Flaw::new("st_shndx", "names no section"));
        };
        link.add(section)?;
        link.follow(0)?;
        if link
            .parts
            .iter()
            .any(|part| !part.unlisted(true).is_empty())
        {
            let from = link.parts.len();
            link.take_pointers()?;
            link.follow(from)?;
        }
        Ok(link)
    }

    /// Returns the number of bytes of the sections.
    fn code(&self) -> usize {
        let words: usize = self.parts.iter().map(|part| part.words.len()).sum();
        8 * words
    }

    /// Returns the number of bytes of the program, including the bundles for missing functions after its sections.
    fn length(&self) -> usize {
        self.code() + BUNDLE as usize * self.elsewhere.len()
    }

    /// Adds a section, unless it was added before.
    fn add(&mut self, section: usize) -> Result<(), Flaw> {
        if self.parts.iter().any(|part| part.section == section) {
            return Ok(());
        }
        let elf = &self.cubin.elf;
        let code = elf.sections[section].data()?;
        let title = elf.sections[section].title();
        if code.is_empty() || !code.len().is_multiple_of(BUNDLE as usize) {
            let message = format!(
                "must be bundles of {BUNDLE} bytes, not {} bytes",
                code.len()
            );
            let field = if self.parts.is_empty() {
                "sh_size"
            } else {
                title
            };
            return Err(Flaw::new(field, message));
        }
        check_length(self.length() + code.len())?;
        let base = self.code();
        let words = words(code);
        let name = title.strip_prefix(".text.").unwrap_or(title);
        let info = self.cubin.info(name)?;
        check_info(&info, &words, &info_name(name))?;
        let mut relocations = Vec::new();
        for table in elf.relocations(section) {
            let number = elf.sections.iter().position(|s| std::ptr::eq(s, table));
            for relocation in table.relocations()? {
                if relocation.offset / 8 >= words.len() as u64 {
                    let (offset, size) = (relocation.offset, code.len());
                    let message = format!("changes byte {offset}, and the code has {size}");
                    return Err(Flaw::new(table.title(), message));
                }
                relocations.push((number.unwrap_or_default(), relocation));
            }
        }
        self.parts.push(Part {
            section,
            // At most MAX_BUNDLES bundles.
            base: base as u32,
            words,
            relocations,
            info,
        });
        Ok(())
    }

    /// Adds a function that is called, or whose address is taken.
    fn call(&mut self, callee: Callee) -> Result<(), Flaw> {
        match callee {
            Callee::Here(i) => match self.cubin.elf.functions[i].section {
                Some(section) => self.add(section),
                None => Ok(()),
            },
            Callee::Elsewhere(i) if self.elsewhere.contains(&i) => Ok(()),
            Callee::Elsewhere(i) => {
                self.elsewhere.push(i);
                check_length(self.length())
            }
        }
    }

    /// Adds the functions that the relocations of the parts from `first` on name, and those of the parts added here.
    fn follow(&mut self, first: usize) -> Result<(), Flaw> {
        let mut next = first;
        while let Some(part) = self.parts.get(next) {
            let callees: Vec<(Callee, bool)> = (part.relocations.iter())
                .filter_map(|(_, r)| {
                    let callee = *self.callees.get(&r.symbol)?;
                    Some((callee, part.jumps(r.offset).is_some()))
                })
                .collect();
            for (callee, jumps) in callees {
                self.call(callee)?;
                if !jumps && !self.pointers.contains(&callee) {
                    self.pointers.push(callee);
                }
            }
            next += 1;
        }
        Ok(())
    }

    /// Finds the functions whose addresses are in the data of the file; if there are none, takes all functions.
    fn take_pointers(&mut self) -> Result<(), Flaw> {
        let elf = &self.cubin.elf;
        let called = self.called()?;
        let is_data = |section: u32| {
            let section = elf.sections.get(section as usize);
            section.is_some_and(|s| !s.name.starts_with(".text."))
        };
        let mut found = self.pointers.clone();
        for table in elf
            .sections
            .iter()
            .filter(|s| s.has_relocations() && is_data(s.info))
        {
            for relocation in table.relocations()? {
                match self.callees.get(&relocation.symbol) {
                    Some(Callee::Elsewhere(_)) if !called(relocation.symbol) => {}
                    Some(callee) if !found.contains(callee) => found.push(*callee),
                    _ => {}
                }
            }
        }
        if found.is_empty() {
            found.extend(self.callees.values());
        }
        found.iter().try_for_each(|callee| self.call(*callee))?;
        self.pointers = found;
        Ok(())
    }

    /// Returns a test of whether the parts call a missing function, given by its symbol. The call graph of the file decides; if it
    /// lists no callee, every function counts as called.
    fn called(&self) -> Result<impl Fn(usize) -> bool + use<>, Flaw> {
        let elf = &self.cubin.elf;
        let ours = |symbol: u32| {
            let function = elf.functions.iter().find(|f| f.symbol == symbol as usize);
            function.is_some_and(|f| self.parts.iter().any(|p| Some(p.section) == f.section))
        };
        let data = elf.section(CALLS).map_or(Ok(&[][..]), |s| s.data())?;
        let pairs = data.chunks_exact(8).map(|pair| {
            let number = |at: usize| super::number(&pair[at..at + 4]) as u32;
            (number(0), number(4))
        });
        let direct = pairs.take_while(|(_, callee)| *callee != DIRECT_END);
        let mut callers: BTreeMap<u32, bool> = BTreeMap::new();
        let callees: Vec<usize> = direct
            .filter(|(caller, _)| *callers.entry(*caller).or_insert_with(|| ours(*caller)))
            .map(|(_, callee)| callee as usize)
            .collect();
        Ok(move |symbol| callees.is_empty() || callees.contains(&symbol))
    }

    /// Returns the address of a function in the program; `None` if it is not included.
    fn address(&self, callee: Callee) -> Option<u32> {
        match callee {
            Callee::Here(i) => {
                let function = &self.cubin.elf.functions[i];
                let part = self
                    .parts
                    .iter()
                    .find(|p| Some(p.section) == function.section)?;
                let offset = u32::try_from(function.offset).ok()?;
                (offset < 8 * part.words.len() as u32).then_some(part.base + offset)
            }
            Callee::Elsewhere(i) => {
                let number = self.elsewhere.iter().position(|e| *e == i)? as u32;
                Some(self.code() as u32 + BUNDLE * number)
            }
        }
    }

    /// Links the program.
    ///
    /// # Errors
    ///
    /// A relocation of one of the unit's instructions is not the address of a function.
    pub(super) fn program(&self) -> Result<Loaded<Program>, Flaw> {
        let mut program = Program::default();
        let mut nowhere = Vec::new();
        for part in &self.parts {
            let mut words = part.words.clone();
            for (table, relocation) in &part.relocations {
                self.apply(part, relocation, &mut words)
                    .map_err(|why| Flaw::new(self.cubin.elf.sections[*table].title(), why))?;
            }
            program.words.extend(words);
            for (pc, targets) in &part.info.targets {
                let targets = targets.iter().map(|target| part.base + target).collect();
                program.targets.insert(part.base + pc, targets);
            }
            for jmx in [false, true] {
                let targets = match jmx {
                    true => self.pointers.clone(),
                    false => self.functions_in(part.section).collect(),
                };
                let targets = targets.iter().filter_map(|callee| self.address(*callee));
                let targets: Vec<u32> = targets.filter(|a| a.is_multiple_of(8)).map(norm).collect();
                for pc in part.unlisted(jmx) {
                    if targets.is_empty() {
                        nowhere.push(part.base + pc);
                    }
                    program.targets.insert(part.base + pc, targets.clone());
                }
            }
        }
        for i in &self.elsewhere {
            let returns = self.cubin.elf.undefined[*i].name != DOES_NOT_RETURN;
            let word = if returns { RET } else { TRAP };
            program.words.extend([CONTROL, word, NOP, NOP]);
        }
        // At most MAX_BUNDLES bundles.
        program.prog_size = 8 * program.words.len() as u32;
        let mut warnings = notes(&program.words);
        warnings.extend(self.stand_ins());
        if !nowhere.is_empty() {
            warnings.push(format!(
                "{}: BRX or JMX for which the cubin has no target; its register will be 0",
                at(&nowhere)
            ));
        }
        Ok(Loaded { program, warnings })
    }

    /// Returns the functions in a section, without kernels.
    fn functions_in(&self, section: usize) -> impl Iterator<Item = Callee> + '_ {
        let there = move |callee: &Callee| match *callee {
            Callee::Here(i) => self.cubin.elf.functions[i].section == Some(section),
            Callee::Elsewhere(_) => false,
        };
        self.callees.values().copied().filter(there)
    }

    /// Applies a relocation to `words`, those of `part`. Words that the unit does not use stay unchanged.
    fn apply(&self, part: &Part, relocation: &Relocation, words: &mut [u64]) -> Result<(), String> {
        let Some((pc, decoded)) = part.jumps(relocation.offset) else {
            return Ok(());
        };
        let word = &mut words[pc as usize / 8];
        let (name, at) = (decoded.name().unwrap_or_default(), part.base + pc);
        let Some(Target::Absolute(held)) = decoded.target() else {
            return Err(format!(
                "changes the {name} at {at:#06x}, whose target is relative"
            ));
        };
        if relocation.kind != ADDRESS || !relocation.offset.is_multiple_of(8) {
            let kind = relocation.kind;
            return Err(format!(
                "changes the {name} at {at:#06x} by type {kind}, where type {ADDRESS} has its address"
            ));
        }
        let callee = self.callees.get(&relocation.symbol);
        let Some(address) = callee.and_then(|callee| self.address(*callee)) else {
            let symbol = relocation.symbol;
            return Err(format!(
                "changes the {name} at {at:#06x} to symbol {symbol}, which is not a function"
            ));
        };
        let addend = relocation.addend.map_or(held, |addend| addend as u32);
        let cleared = *word & !Target::Absolute(u32::MAX).encode();
        *word = cleared | Target::Absolute(address.wrapping_add(addend)).encode();
        Ok(())
    }

    /// Returns the warnings about functions missing in the file.
    fn stand_ins(&self) -> Vec<String> {
        let [returns, traps] = [true, false].map(|returns| {
            let named: Vec<String> = (self.elsewhere.iter())
                .map(|i| (&self.cubin.elf.undefined[*i].name, Callee::Elsewhere(*i)))
                .filter(|(name, _)| (*name != DOES_NOT_RETURN) == returns)
                .map(|(name, callee)| {
                    let address = self.address(callee).map_or(0, norm);
                    let name = name.replace(char::is_control, "?");
                    format!("{name} at {address:#06x}")
                })
                .collect();
            let shown = named.len().min(MAX_SHOWN);
            let more = match named.len() - shown {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            (!named.is_empty()).then(|| named[..shown].join(", ") + &more)
        });
        let returns = returns.map(|n| format!("not in the file, a RET stands for it: {n}"));
        let traps = traps.map(|n| format!("not in the file, a BPT.TRAP stands for it: {n}"));
        returns.into_iter().chain(traps).collect()
    }
}

impl Part {
    /// Returns the instruction at byte `offset` and its address in the section, if it has a target.
    fn jumps(&self, offset: u64) -> Option<(u32, Word)> {
        let index = usize::try_from(offset / 8).ok()?;
        let word = Word::decode(*self.words.get(index)?);
        let pc = 8 * index as u32;
        (!is_control(pc) && word.target().is_some()).then_some((pc, word))
    }

    /// Returns the BRX, or the JMX, that take their target from a register and have no list of targets.
    fn unlisted(&self, jmx: bool) -> Vec<u32> {
        let listed = |pc: &u32| self.info.targets.get(pc).is_some_and(|t| !t.is_empty());
        instructions(&self.words)
            .filter(|(pc, word)| match word {
                Word::Indirect(indirect) => match indirect.target {
                    Target::Absolute(_) => jmx && !listed(pc),
                    Target::Offset(_) => !jmx && !listed(pc),
                    Target::Bank { .. } => false,
                },
                _ => false,
            })
            .map(|(pc, _)| pc)
            .collect()
    }
}
