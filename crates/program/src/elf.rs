//! ELF files that contain GPU code: sections, functions, and the errors in them.
//!
//! Every value is checked against the file before it is used, so a damaged file causes only an error message. The run time
//! is linear in the length of the file.

use std::fmt;

use object::LittleEndian;
use object::elf::{
    FileHeader32, FileHeader64, SHF_COMPRESSED, SHT_NOBITS, SHT_REL, SHT_RELA, SHT_SYMTAB,
    STT_FUNC, SectionType,
};
use object::read::SymbolIndex;
use object::read::elf::{FileHeader, SectionHeader, SectionTable, Sym};

use reconverge_bench::input::InputError;

/// Type of a relocatable file (`ET_REL`).
pub const REL: u16 = 1;
/// Type of an executable file (`ET_EXEC`).
pub const EXEC: u16 = 2;

/// Maximum number of functions in a file; a file with more is taken to be damaged.
pub const MAX_FUNCTIONS: usize = 4096;
/// Maximum length of a symbol name in bytes.
pub const LONGEST_SYMBOL: usize = 4096;

const E: LittleEndian = LittleEndian;

/// The required kind of file, and its name in messages. All files are little-endian.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Name of this kind in messages, e.g. `an object of LLVM's r600 back end`.
    pub what: &'static str,
    /// True for 64-bit files, false for 32-bit files.
    pub bits64: bool,
    /// `e_machine`.
    pub machine: u16,
    /// The accepted values of `e_type`.
    pub types: &'static [u16],
}

/// An error in a part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// Section, symbol, header field or place in the code.
    pub field: String,
    /// What is wrong with that part.
    pub message: String,
}

impl Flaw {
    /// Returns a flaw of `field`. Replaces control characters by `?`, because names may come from the file.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        let plain = |text: String| text.replace(char::is_control, "?");
        Flaw {
            field: plain(field.into()),
            message: plain(message.into()),
        }
    }

    /// Returns the flaw as an error about `file`.
    pub fn in_file(self, file: &str) -> InputError {
        InputError::new(file, 0, self.field, self.message)
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

/// A section of an ELF file.
#[derive(Clone, Copy, Debug)]
pub struct Section<'a> {
    /// Name.
    pub name: &'a str,
    /// `sh_type`.
    pub kind: u32,
    /// `sh_link`.
    pub link: u32,
    /// `sh_info`.
    pub info: u32,
    /// `sh_addr`.
    address: u64,
    offset: u64,
    size: u64,
    compressed: bool,
    /// `None` if the section does not lie within the file.
    data: Option<&'a [u8]>,
}

impl<'a> Section<'a> {
    /// Returns the name of the section in messages.
    pub fn title(&self) -> &'a str {
        if self.name.is_empty() {
            "section without a name"
        } else {
            self.name
        }
    }

    /// Returns the bytes of the section.
    ///
    /// # Errors
    ///
    /// The section has no bytes in the file, does not lie within the file, or is compressed.
    pub fn data(&self) -> Result<&'a [u8], Flaw> {
        let fail = |message: String| Err(Flaw::new(self.title(), message));
        if self.kind == SHT_NOBITS.0 {
            return fail("has no bytes in the file (SHT_NOBITS)".to_owned());
        }
        if self.compressed {
            return fail("is compressed (SHF_COMPRESSED)".to_owned());
        }
        match self.data {
            Some(data) => Ok(data),
            None => fail(format!(
                "has {} bytes from byte {} of the file on, which ends before: is it cut off?",
                self.size, self.offset
            )),
        }
    }
}

impl Section<'_> {
    /// Returns true if the section contains relocations.
    pub fn has_relocations(&self) -> bool {
        matches!(SectionType(self.kind), SHT_REL | SHT_RELA) && self.size > 0
    }

    /// Returns the relocations in a section of a 64-bit file.
    ///
    /// # Errors
    ///
    /// The same as [`Section::data`], or the section does not consist of whole entries.
    pub fn relocations(&self) -> Result<Vec<Relocation>, Flaw> {
        let data = self.data()?;
        let with_addend = SectionType(self.kind) == SHT_RELA;
        let entry = if with_addend { 24 } else { 16 };
        if !data.len().is_multiple_of(entry) {
            let message = format!(
                "must be relocations of {entry} bytes, not {} bytes",
                data.len()
            );
            return Err(Flaw::new(self.title(), message));
        }
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b));
        let relocation = |bytes: &[u8]| {
            let info = word(&bytes[8..16]);
            Relocation {
                offset: word(&bytes[..8]),
                symbol: (info >> 32) as usize,
                kind: info as u32,
                addend: with_addend.then(|| word(&bytes[16..]) as i64),
            }
        };
        Ok(data.chunks_exact(entry).map(relocation).collect())
    }
}

/// A function that a file refers to but does not contain: an undefined symbol of type `STT_FUNC`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undefined {
    /// Number in the symbol table.
    pub symbol: usize,
    /// Name; bytes that are not UTF-8 are replaced.
    pub name: String,
}

/// A relocation in a 64-bit file: a change that a loader makes to a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Offset in the section, in bytes.
    pub offset: u64,
    /// Number of the symbol whose value is written.
    pub symbol: usize,
    /// Relocation type, as defined by the machine.
    pub kind: u32,
    /// Addend of an `SHT_RELA` entry. `None` for `SHT_REL`: the addend is the present content of the place.
    pub addend: Option<i64>,
}

/// A function: a symbol of type `STT_FUNC` that a section defines.
#[derive(Clone, Debug)]
pub struct Function<'a> {
    /// Number in the symbol table.
    pub symbol: usize,
    /// Name; bytes that are not UTF-8 are replaced.
    pub name: String,
    /// Index of its section in [`Elf::sections`]; `None` if it lies in no section of the file.
    pub section: Option<usize>,
    /// Offset in the section, in bytes.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
    /// `st_other`.
    pub other: u8,
    /// Code of the function; an error if the section does not contain all of it.
    pub code: Result<&'a [u8], Flaw>,
}

/// An opened ELF file.
#[derive(Clone, Debug)]
pub struct Elf<'a> {
    /// `e_flags`.
    pub flags: u32,
    /// All sections, in the file's order. Section 0 is the null section.
    pub sections: Vec<Section<'a>>,
    /// The functions, ordered by section and offset, and by symbol table order where these are equal.
    pub functions: Vec<Function<'a>>,
    /// The functions that other files define, in symbol table order.
    pub undefined: Vec<Undefined>,
}

/// Returns true if a file begins with the ELF magic number.
pub fn is_elf(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x7fELF")
}

impl<'a> Elf<'a> {
    /// Opens an ELF file.
    ///
    /// # Errors
    ///
    /// The file is not as `wanted`, or its headers, names or symbols do not lie within it. Damage in the contents of a section
    /// is reported when the contents are requested.
    pub fn open(bytes: &'a [u8], file: &str, wanted: &Wanted) -> Result<Self, InputError> {
        let opened = match wanted.bits64 {
            false => check_ident(bytes, wanted)
                .and_then(|()| read::<FileHeader32<LittleEndian>>(bytes, wanted)),
            true => check_ident(bytes, wanted)
                .and_then(|()| read::<FileHeader64<LittleEndian>>(bytes, wanted)),
        };
        opened.map_err(|flaw| flaw.in_file(file))
    }

    /// Returns the first section called `name`.
    pub fn section(&self, name: &str) -> Option<&Section<'a>> {
        self.sections.iter().find(|s| s.name == name)
    }

    /// Returns the bytes of the first section called `name`.
    ///
    /// # Errors
    ///
    /// There is no such section, or the same as [`Section::data`].
    pub fn data(&self, name: &str) -> Result<&'a [u8], Flaw> {
        match self.section(name) {
            Some(section) => section.data(),
            None => Err(Flaw::new(name, "the file has no such section")),
        }
    }

    /// Returns the sections with relocations for the section with this index: none, one, or one of each type.
    pub fn relocations(&self, section: usize) -> impl Iterator<Item = &Section<'a>> {
        let of = move |s: &&Section| s.has_relocations() && usize::try_from(s.info) == Ok(section);
        self.sections.iter().filter(of)
    }
}

/// Checks `e_ident`, the first sixteen bytes, which define how to read the rest.
fn check_ident(bytes: &[u8], wanted: &Wanted) -> Result<(), Flaw> {
    let what = wanted.what;
    if !is_elf(bytes) {
        let message = "does not begin with 7F 45 4C 46: no ELF file";
        return Err(Flaw::new("EI_MAG", message));
    }
    let [_, _, _, _, class, data, version, ..] = *bytes else {
        return Err(cut_off(bytes, wanted));
    };
    let (right, bits) = if wanted.bits64 { (2, 64) } else { (1, 32) };
    if class != right {
        let message = format!("{class}, where {what} has {right} ({bits} bits)");
        return Err(Flaw::new("EI_CLASS", message));
    }
    if data != 1 {
        let message = format!("{data}, where {what} has 1 (little-endian)");
        return Err(Flaw::new("EI_DATA", message));
    }
    if version != 1 {
        let message = format!("{version}, where there is no version of ELF but 1");
        return Err(Flaw::new("EI_VERSION", message));
    }
    Ok(())
}

fn cut_off(bytes: &[u8], wanted: &Wanted) -> Flaw {
    let size = if wanted.bits64 { 64 } else { 52 };
    let message = format!("has {size} bytes, the file {}: it is cut off", bytes.len());
    Flaw::new("ELF header", message)
}

fn read<'a, H: FileHeader<Endian = LittleEndian>>(
    bytes: &'a [u8],
    wanted: &Wanted,
) -> Result<Elf<'a>, Flaw> {
    let header = H::parse(bytes).map_err(|_| cut_off(bytes, wanted))?;
    let (machine, kind) = (header.e_machine(E).0, header.e_type(E).0);
    if machine != wanted.machine {
        let message = format!("{machine}, where {} has {}", wanted.what, wanted.machine);
        return Err(Flaw::new("e_machine", message));
    }
    if !wanted.types.contains(&kind) {
        let types: Vec<String> = wanted.types.iter().map(ToString::to_string).collect();
        let message = format!("{kind}, where {} has {}", wanted.what, types.join(" or "));
        return Err(Flaw::new("e_type", message));
    }
    let headers = header.section_headers(E, bytes).map_err(|_| {
        let message = format!(
            "{} headers of {} bytes from byte {} on do not lie within the file, which has {}: is it cut off?",
            header.e_shnum(E),
            header.e_shentsize(E),
            header.e_shoff(E).into(),
            bytes.len()
        );
        Flaw::new("section headers", message)
    })?;
    if headers.is_empty() {
        return Err(Flaw::new("section headers", "there are none"));
    }
    let names = header
        .shstrndx(E, bytes)
        .ok()
        .and_then(|i| string_table::<H>(headers, i, bytes))
        .ok_or_else(|| {
            let message = format!(
                "section {} must be a string table within the file",
                header.e_shstrndx(E).0
            );
            Flaw::new("e_shstrndx", message)
        })?;
    let mut sections = Vec::with_capacity(headers.len());
    for (i, h) in headers.iter().enumerate() {
        let name = name_at(names, h.sh_name(E))
            .and_then(|name| str::from_utf8(name).ok())
            .ok_or_else(|| {
                let message = format!("section {i} has no name in the string table");
                Flaw::new("sh_name", message)
            })?;
        sections.push(Section {
            name,
            kind: h.sh_type(E).0,
            link: h.sh_link(E),
            info: h.sh_info(E),
            address: h.sh_addr(E).into(),
            offset: h.sh_offset(E).into(),
            size: h.sh_size(E).into(),
            compressed: h.sh_flags(E).contains(SHF_COMPRESSED),
            data: h.data(E, bytes).ok(),
        });
    }
    let mut elf = Elf {
        flags: header.e_flags(E).0,
        sections,
        functions: Vec::new(),
        undefined: Vec::new(),
    };
    (elf.functions, elf.undefined) = functions::<H>(&elf, headers, bytes, kind == REL)?;
    Ok(elf)
}

/// Returns the bytes of section `index` of `headers`, if it can be a string table.
fn string_table<'a, H: FileHeader<Endian = LittleEndian>>(
    headers: &'a [H::SectionHeader],
    index: u32,
    bytes: &'a [u8],
) -> Option<&'a [u8]> {
    let header = headers.get(usize::try_from(index).ok()?)?;
    // Does not check sh_type, which may have any value in files of old tools.
    header.data(E, bytes).ok().filter(|data| !data.is_empty())
}

/// Returns the name at `offset`, without the NUL that terminates it.
fn name_at(strings: &[u8], offset: u32) -> Option<&[u8]> {
    let rest = strings.get(usize::try_from(offset).ok()?..)?;
    let window = &rest[..rest.len().min(LONGEST_SYMBOL + 1)];
    let end = window.iter().position(|b| *b == 0)?;
    Some(&window[..end])
}

fn functions<'a, H: FileHeader<Endian = LittleEndian>>(
    elf: &Elf<'a>,
    headers: &'a [H::SectionHeader],
    bytes: &'a [u8],
    relocatable: bool,
) -> Result<(Vec<Function<'a>>, Vec<Undefined>), Flaw> {
    let outside = |i: usize| {
        let message = "the symbol table and its strings do not lie within the file: is it cut off?";
        Flaw::new(elf.sections[i].title(), message)
    };
    let Some(table) = headers.iter().position(|h| h.sh_type(E) == SHT_SYMTAB) else {
        return Err(Flaw::new(
            ".symtab",
            "the file has no symbol table, which names its functions: was it stripped?",
        ));
    };
    let strings = string_table::<H>(headers, headers[table].sh_link(E), bytes)
        .ok_or_else(|| outside(table))?;
    let symbols = SectionTable::<H>::new(headers, Default::default())
        .symbols(E, bytes, SHT_SYMTAB)
        .map_err(|_| outside(table))?;
    let mut found = Vec::new();
    let mut undefined = Vec::new();
    for (i, symbol) in symbols.iter().enumerate() {
        if symbol.st_type() != STT_FUNC {
            continue;
        }
        if found.len() + undefined.len() == MAX_FUNCTIONS {
            let message = format!("more than {MAX_FUNCTIONS} functions");
            return Err(Flaw::new(elf.sections[table].title(), message));
        }
        let name = name_at(strings, symbol.st_name(E)).ok_or_else(|| {
            let message = format!("symbol {i} has no name in the string table");
            Flaw::new("st_name", message)
        })?;
        let name = String::from_utf8_lossy(name).into_owned();
        if symbol.is_undefined(E) {
            undefined.push(Undefined { symbol: i, name });
            continue;
        }
        let section = symbols
            .symbol_section(E, symbol, SymbolIndex(i))
            .ok()
            .flatten()
            .map(|section| section.0)
            .filter(|section| *section < elf.sections.len());
        let (value, size) = (symbol.st_value(E).into(), symbol.st_size(E).into());
        let (offset, code) = match section {
            // In a relocatable file a symbol's value is an offset in the section, otherwise an address.
            Some(at) => {
                let section = &elf.sections[at];
                let start = if relocatable { 0 } else { section.address };
                let offset = value.wrapping_sub(start);
                (offset, code(section, offset, size))
            }
            None => (value, Err(Flaw::new("st_shndx", "names no section"))),
        };
        found.push(Function {
            symbol: i,
            name,
            section,
            offset,
            size,
            other: symbol.st_other().0,
            code,
        });
    }
    if found.is_empty() {
        let message = "no function in it: no symbol of type FUNC";
        return Err(Flaw::new(elf.sections[table].title(), message));
    }
    found.sort_by_key(|f| (f.section, f.offset));
    Ok((found, undefined))
}

/// Returns `size` bytes of a section from `offset` on.
fn code<'a>(section: &Section<'a>, offset: u64, size: u64) -> Result<&'a [u8], Flaw> {
    let data = section.data()?;
    let range = offset.checked_add(size).and_then(|end| {
        let range = usize::try_from(offset).ok()?..usize::try_from(end).ok()?;
        data.get(range)
    });
    range.ok_or_else(|| {
        let message = format!(
            "{size} bytes from byte {offset} of {} on, which has {}",
            section.title(),
            data.len()
        );
        Flaw::new("st_size", message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: Wanted = Wanted {
        what: "a cubin",
        bits64: true,
        machine: 190,
        types: &[REL, EXEC],
    };

    /// Returns a 64-bit executable: `.text.b` at address 0x1000 with functions `b` (8 bytes) and `c` (the rest), `.text.a` at 0
    /// with function `a`, and `.info` with bytes.
    fn executable(kind: u16) -> Vec<u8> {
        let names = b"\0.text.b\0.text.a\0.info\0.symtab\0.strtab\0a\0b\0c\0";
        let name = |text: &str| {
            let wanted = [text.as_bytes(), b"\0"].concat();
            let at = names.windows(wanted.len()).rposition(|w| w == wanted);
            at.unwrap() as u32
        };
        let symbol = |text: &str, info: u8, section: u16, value: u64, size: u64| {
            let mut bytes = name(text).to_le_bytes().to_vec();
            bytes.extend([info, info >> 4 << 4]);
            bytes.extend(section.to_le_bytes());
            bytes.extend(value.to_le_bytes());
            bytes.extend(size.to_le_bytes());
            bytes
        };
        let symbols = [
            symbol("c", 0x12, 1, 0x1008, 16),
            symbol("a", 0x12, 2, 0, 8),
            symbol("b", 0x12, 1, 0x1000, 8),
            // An object, and a function defined elsewhere.
            symbol("a", 0x11, 2, 0, 8),
            symbol("a", 0x12, 0, 0, 8),
        ]
        .concat();
        let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
        bytes.resize(16, 0);
        bytes.extend([kind, 190].map(u16::to_le_bytes).concat());
        bytes.resize(64, 0);
        let mut headers = vec![0; 64];
        let mut section = |text, kind: u32, address: u64, link: u32, entry: u64, data: &[u8]| {
            headers.extend([name(text), kind].map(u32::to_le_bytes).concat());
            let (offset, size) = (bytes.len() as u64, data.len() as u64);
            headers.extend([0, address, offset, size].map(u64::to_le_bytes).concat());
            headers.extend([link, 0].map(u32::to_le_bytes).concat());
            headers.extend([1, entry].map(u64::to_le_bytes).concat());
            bytes.extend(data);
        };
        section(".text.b", 1, 0x1000, 0, 0, b"bbbbbbbbcccccccccccccccc");
        section(".text.a", 1, 0, 0, 0, b"aaaaaaaa");
        section(".info", 0x7000_0000, 0, 0, 0, b"info");
        section(".symtab", 2, 0, 5, 24, &symbols);
        section(".strtab", 3, 0, 0, 0, names);
        let at = bytes.len() as u64;
        bytes[40..48].copy_from_slice(&at.to_le_bytes());
        bytes[48..52].copy_from_slice(&0x0032_0532_u32.to_le_bytes());
        for (place, value) in [(52, 64), (58, 64), (60, 6), (62, 5)] {
            bytes[place] = value;
        }
        bytes.extend(headers);
        bytes
    }

    #[test]
    fn an_executable_of_64_bits() {
        let bytes = executable(EXEC);
        let elf = Elf::open(&bytes, "x.cubin", &WANTED).unwrap();
        assert_eq!(elf.flags, 0x0032_0532);
        let names: Vec<_> = elf.sections.iter().map(|s| s.name).collect();
        assert_eq!(
            names,
            ["", ".text.b", ".text.a", ".info", ".symtab", ".strtab"]
        );
        assert_eq!(elf.data(".info"), Ok(&b"info"[..]));
        assert_eq!(
            elf.data(".nv.info"),
            Err(Flaw::new(".nv.info", "the file has no such section"))
        );
        assert!(elf.functions.iter().all(|f| f.other == 0x10));
        let (symbol, name) = (4, "a".to_owned());
        assert_eq!(elf.undefined, [Undefined { symbol, name }]);
        let functions: Vec<_> = elf
            .functions
            .iter()
            .map(|f| {
                (
                    (f.name.as_str(), f.symbol),
                    f.section,
                    f.offset,
                    f.code.clone().unwrap(),
                )
            })
            .collect();
        assert_eq!(
            functions,
            [
                (("b", 2), Some(1), 0, &b"bbbbbbbb"[..]),
                (("c", 0), Some(1), 8, &b"cccccccccccccccc"[..]),
                (("a", 1), Some(2), 0, &b"aaaaaaaa"[..]),
            ]
        );
    }

    /// Checks that a symbol's value is an offset in a relocatable file, and that a section has no bytes below its address.
    #[test]
    fn values_and_addresses() {
        let bytes = executable(REL);
        let elf = Elf::open(&bytes, "x.cubin", &WANTED).unwrap();
        assert_eq!(elf.functions[0].offset, 0x1000);
        let why = "8 bytes from byte 4096 of .text.b on, which has 24";
        assert_eq!(elf.functions[0].code, Err(Flaw::new("st_size", why)));
        let mut bytes = executable(EXEC);
        // Move `.text.b` up by one byte, so that `b` begins below it.
        let headers = bytes.len() - 6 * 64;
        bytes[headers + 64 + 16] = 1;
        let elf = Elf::open(&bytes, "x.cubin", &WANTED).unwrap();
        let b = elf.functions.iter().find(|f| f.name == "b").unwrap();
        assert_eq!(b.code.as_ref().unwrap_err().field, "st_size");
    }

    #[test]
    fn other_files_are_refused() {
        let good = executable(EXEC);
        for (at, value, expected) in [
            (0, 0, "EI_MAG: does not begin with 7F 45 4C 46: no ELF file"),
            (4, 1, "EI_CLASS: 1, where a cubin has 2 (64 bits)"),
            (5, 2, "EI_DATA: 2, where a cubin has 1 (little-endian)"),
            (16, 3, "e_type: 3, where a cubin has 1 or 2"),
            (18, 224, "e_machine: 224, where a cubin has 190"),
        ] {
            let mut bytes = good.clone();
            bytes[at] = value;
            let e = Elf::open(&bytes, "x", &WANTED).unwrap_err();
            assert_eq!(e.to_string(), format!("x: {expected}"));
        }
        let e = Elf::open(&good[..63], "x", &WANTED).unwrap_err();
        let why = "x: ELF header: has 64 bytes, the file 63: it is cut off";
        assert_eq!(e.to_string(), why);
    }
}
