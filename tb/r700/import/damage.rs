//! Damaged files.

use super::listings::objects;
use super::objects::{LAST, NOP_END, Section, find, function, get, put, section, with_code};
use super::*;

/// One change of `k01_ifelse.o`, and the error.
#[test]
fn damaged_objects_are_refused() {
    let good = object("k01_ifelse");
    let (text, config) = (section(&good, ".text"), section(&good, ".AMDGPU.config"));
    let (strtab, symtab) = (section(&good, ".strtab"), section(&good, ".symtab"));
    let (note, symbol) = (section(&good, ".note.GNU-stack"), function(&good));
    // 16 bits at a place.
    let half = |at: usize, value: u16| {
        let mut bytes = good.clone();
        bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    let byte = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        bytes
    };
    let word = |at: usize, value: u32| {
        let mut bytes = good.clone();
        put(&mut bytes, at, value);
        bytes
    };
    // A section that has another name, that of the symbol table's strings.
    let renamed = |section: &Section| {
        let name = find(&good[strtab.range()], b".strtab\0") + 4;
        word(section.header, name as u32)
    };
    let cut = |length: usize| good[..length].to_vec();
    let what = "an object of LLVM's r600 back end";
    let headers = "7 headers of 40 bytes from byte 668 on do not lie within the file, which has";
    let symbols = "the symbol table and its strings do not lie within the file: is it cut off?";
    let pairs = "must be pairs of register and value of 8 bytes, not";
    for (bytes, expected) in [
        // Cut off in the file header and in the section headers, which stand last.
        (cut(4), "ELF header: has 52 bytes, the file 4: it is cut off".to_owned()),
        (cut(6), "ELF header: has 52 bytes, the file 6: it is cut off".to_owned()),
        (cut(7), "ELF header: has 52 bytes, the file 7: it is cut off".to_owned()),
        (cut(51), "ELF header: has 52 bytes, the file 51: it is cut off".to_owned()),
        (cut(52), format!("section headers: {headers} 52: is it cut off?")),
        (cut(667), format!("section headers: {headers} 667: is it cut off?")),
        (cut(good.len() - 1), format!("section headers: {headers} 947: is it cut off?")),
        // File header.
        (
            byte(4, 2),
            "file: is an object for AMD's GCN or a later architecture, whose instructions are others; r700 runs those that `llc -march=r600 -mcpu=rv770 -filetype=obj` makes".to_owned(),
        ),
        (byte(4, 0), format!("EI_CLASS: 0, where {what} has 1 (32 bits)")),
        (byte(5, 2), format!("EI_DATA: 2, where {what} has 1 (little-endian)")),
        (byte(6, 0), "EI_VERSION: 0, where there is no version of ELF but 1".to_owned()),
        (half(16, 2), format!("e_type: 2, where {what} has 1")),
        (half(18, 61), format!("e_machine: 61, where {what} has 224")),
        (
            half(18, 62),
            "file: is an object or a program of the host, with no GPU code that is read here".to_owned(),
        ),
        (half(18, 0xe000), format!("e_machine: 57344, where {what} has 224")),
        (word(32, 0), "section headers: there are none".to_owned()),
        (
            word(32, u32::MAX),
            "section headers: 7 headers of 40 bytes from byte 4294967295 on do not lie within the file, which has 948: is it cut off?".to_owned(),
        ),
        (
            half(46, 64),
            "section headers: 7 headers of 64 bytes from byte 668 on do not lie within the file, which has 948: is it cut off?".to_owned(),
        ),
        (
            half(48, 0xfeff),
            "section headers: 65279 headers of 40 bytes from byte 668 on do not lie within the file, which has 948: is it cut off?".to_owned(),
        ),
        (half(50, 7), "e_shstrndx: section 7 must be a string table within the file".to_owned()),
        (half(50, 0), "e_shstrndx: section 0 must be a string table within the file".to_owned()),
        // Names.
        (
            word(text.header, 0xffff_fff0),
            "sh_name: section 2 has no name in the string table".to_owned(),
        ),
        (
            word(strtab.header + 20, 8),
            "sh_name: section 1 has no name in the string table".to_owned(),
        ),
        (
            word(strtab.header + 16, 900),
            "e_shstrndx: section 1 must be a string table within the file".to_owned(),
        ),
        (
            word(symbol, u32::MAX),
            "st_name: symbol 2 has no name in the string table".to_owned(),
        ),
        // Sections.
        (renamed(&text), "st_shndx: the function does not lie in .text".to_owned()),
        (
            word(text.header + 4, 8),
            ".text: has no bytes in the file (SHT_NOBITS)".to_owned(),
        ),
        (
            word(text.header + 8, 0x806),
            ".text: is compressed (SHF_COMPRESSED)".to_owned(),
        ),
        (
            word(text.header + 16, 900),
            ".text: has 216 bytes from byte 900 of the file on, which ends before: is it cut off?".to_owned(),
        ),
        (
            word(text.header + 20, u32::MAX),
            ".text: has 4294967295 bytes from byte 256 of the file on, which ends before: is it cut off?".to_owned(),
        ),
        (
            word(text.header + 20, 208),
            "st_size: 216 bytes from byte 0 of .text on, which has 208".to_owned(),
        ),
        (renamed(&config), ".AMDGPU.config: there is no such section".to_owned()),
        (word(config.header + 20, 20), format!(".AMDGPU.config: {pairs} 20 bytes")),
        (word(config.header + 20, 7), format!(".AMDGPU.config: {pairs} 7 bytes")),
        (
            word(config.header + 20, 0),
            ".AMDGPU.config: registers 0x28868 and 0x28850 are given 0 times, for 1 functions".to_owned(),
        ),
        (
            word(config.offset + 8, 0x28868),
            ".AMDGPU.config: registers 0x28868 and 0x28850 are given 2 times, for 1 functions".to_owned(),
        ),
        (
            word(config.offset, 0x288d4),
            ".AMDGPU.config: register 0x288d4 at byte 0 stands before the first 0x28868 or 0x28850".to_owned(),
        ),
        (
            word(config.header + 16, 940),
            ".AMDGPU.config: has 24 bytes from byte 940 of the file on, which ends before: is it cut off?".to_owned(),
        ),
        // Symbols.
        (word(symtab.header + 4, 3), ".symtab: there is no symbol table".to_owned()),
        (word(symtab.header + 20, 0x1000), format!(".symtab: {symbols}")),
        (word(symtab.header + 24, 9), format!(".symtab: {symbols}")),
        (
            word(symtab.header + 20, 32),
            ".symtab: no function in it: no symbol of type FUNC".to_owned(),
        ),
        (
            byte(symbol + 12, 0x10),
            ".symtab: no function in it: no symbol of type FUNC".to_owned(),
        ),
        (
            half(symbol + 14, 0),
            ".symtab: no function in it: no symbol of type FUNC".to_owned(),
        ),
        (half(symbol + 14, 3), "st_shndx: the function does not lie in .text".to_owned()),
        (half(symbol + 14, 7), "st_shndx: names no section".to_owned()),
        (half(symbol + 14, 0xfff1), "st_shndx: names no section".to_owned()),
        (
            word(symbol + 4, 256),
            "st_size: 216 bytes from byte 256 of .text on, which has 216".to_owned(),
        ),
        (
            word(symbol + 4, u32::MAX),
            "st_size: 216 bytes from byte 4294967295 of .text on, which has 216".to_owned(),
        ),
        (
            word(symbol + 8, u32::MAX),
            "st_size: 4294967295 bytes from byte 0 of .text on, which has 216".to_owned(),
        ),
        (
            word(symbol + 8, 217),
            "st_size: 217 bytes from byte 0 of .text on, which has 216".to_owned(),
        ),
        (word(symbol + 8, 0), "st_size: must be a positive multiple of 8, not 0".to_owned()),
        (word(symbol + 8, 212), "st_size: must be a positive multiple of 8, not 212".to_owned()),
        (
            {
                let mut bytes = word(symbol + 4, 8);
                put(&mut bytes, symbol + 8, 208);
                bytes
            },
            "st_value: the function must begin at a multiple of 256, not at byte 8".to_owned(),
        ),
        // .note.GNU-stack made a relocation section of .text.
        (
            {
                let mut bytes = word(note.header + 4, 9);
                put(&mut bytes, note.header + 20, 8);
                put(&mut bytes, note.header + 28, 2);
                bytes
            },
            ".note.GNU-stack: relocates the code, which a finished program does not need".to_owned(),
        ),
        // The program.
        (
            word(text.offset, 0x8000_0000 | 27),
            "quad 0 ADDR: the clause begins at 27, and the function has 27 quads".to_owned(),
        ),
        (
            word(text.offset + 4, 0xa07c_0000),
            "quad 0 COUNT: the clause has 32 quads from 6 on, and the function 27".to_owned(),
        ),
        (
            word(text.offset + 16, 5 + 1),
            "quad 2 ADDR: 6, and the CF program has 6 quads".to_owned(),
        ),
        (
            word(text.offset + 44, 0x8000_0000),
            "CF program: no 00000000 80200000 (NOP, END) before quad 6, where the clause of quad 0 begins".to_owned(),
        ),
        // The last instruction of the second clause is not the last of its group.
        (
            word(text.offset + 8 * 21, get(&good, text.offset + 8 * 21) & !LAST),
            "quad 1 clause: the group at its slot 1 has no last instruction (W0[31])".to_owned(),
        ),
    ] {
        assert_eq!(refused(&bytes, None), format!("x.o: {expected}"));
    }
    // A relocation section with nothing in it, and one of another section.
    for (size, of) in [(0, 2), (8, 4)] {
        let mut bytes = word(note.header + 4, 9);
        put(&mut bytes, note.header + 20, size);
        put(&mut bytes, note.header + 28, of);
        assert_eq!(import(&bytes, None).program.quads.len(), 6);
    }
    // In a relocatable file sections have no address, whatever stands there.
    assert_eq!(
        import(&word(text.header + 12, 64), None)
            .program
            .quads
            .len(),
        6
    );
    // The same places, right.
    assert_eq!(import(&word(symbol + 4, 0), None).program.quads.len(), 6);
    assert_eq!(import(&byte(5, 1), None).program.quads.len(), 6);
}

/// Functions that share code, and sections that share bytes: nothing is read more often than it is there.
#[test]
fn many_functions_cost_no_more_than_the_file() {
    let good = object("k01_ifelse");
    let (symtab, symbol) = (section(&good, ".symtab"), function(&good));
    let with_symbols = |n: usize, mut code: Vec<(u32, u32)>| {
        code.push(NOP_END);
        let mut bytes = with_code(&code);
        put(&mut bytes, symbol + 8, 8 * code.len() as u32);
        let (one, end) = (bytes[symbol..symbol + 16].to_vec(), bytes.len());
        bytes.extend_from_slice(&one.repeat(n));
        put(&mut bytes, symtab.header + 16, end as u32);
        put(&mut bytes, symtab.header + 20, 16 * n as u32);
        bytes
    };
    let bytes = with_symbols(MAX_FUNCTIONS, vec![(0, 1 << 31); MAX_QUADS - 1]);
    let listed = functions(&bytes, "x.o").unwrap();
    assert_eq!(listed.len(), MAX_FUNCTIONS);
    assert_eq!(listed[0].instructions, Some(MAX_QUADS));
    for function in &listed[1..] {
        assert_eq!(
            function.problem.as_deref(),
            Some("st_value: the function begins within \"k01_ifelse\"")
        );
    }
    assert_eq!(
        refused(&with_symbols(MAX_FUNCTIONS + 1, Vec::new()), None),
        "x.o: .symtab: more than 4096 functions"
    );
    // Two sections with the same bytes, a function in each.
    let mut bytes = object("several");
    let (text, note) = (section(&bytes, ".text"), section(&bytes, ".note.GNU-stack"));
    let header = bytes[text.header..text.header + 40].to_vec();
    bytes[note.header..note.header + 40].copy_from_slice(&header);
    // All of it in either.
    for (n, section) in [(0, 2), (1, 5)] {
        let symbol = function(&bytes) + 16 * n;
        put(&mut bytes, symbol + 4, 0);
        put(&mut bytes, symbol + 8, text.size as u32);
        bytes[symbol + 14] = section;
    }
    assert_eq!(
        refused(&bytes, Some("1")),
        format!(
            "x.o: st_size: the functions have {} bytes together, more than the file, which has {}",
            2 * text.size,
            bytes.len()
        )
    );
}

/// Any damage gives a program that is whole, or a message with file, field and reason.
#[test]
fn ten_thousand_damaged_objects() {
    let originals: Vec<Vec<u8>> = objects()
        .iter()
        .map(|path| fs::read(path).unwrap())
        .filter(|bytes| bytes.len() < 3000 && section(bytes, ".text").size > 0)
        .collect();
    assert!(originals.len() > 30);
    let mut rng = Pcg64Mcg::seed_from_u64(0x700_e1f);
    let (mut good, mut bad, mut problems) = (0, 0, 0);
    for n in 0..10_000 {
        let mut bytes = originals[rng.random_range(0..originals.len())].clone();
        let headers = get(&bytes, 32) as usize;
        let symbols = section(&bytes, ".symtab").range();
        let text = section(&bytes, ".text").range();
        let config = section(&bytes, ".AMDGPU.config").range();
        for _ in 0..rng.random_range(1..4) {
            let length = bytes.len();
            if length == 0 {
                break;
            }
            let at = match rng.random_range(0..8) {
                0 => rng.random_range(0..52),
                1 | 2 => rng.random_range(headers..length.max(headers + 1)),
                3 => rng.random_range(symbols.clone()),
                4 | 5 => rng.random_range(text.clone()),
                6 => rng.random_range(config.clone()),
                _ => rng.random_range(0..length),
            };
            if at >= length {
                continue;
            }
            match rng.random_range(0..8) {
                0 => bytes[at] ^= 1 << rng.random_range(0..8),
                1 => bytes[at] = rng.random(),
                2 | 3 if at / 4 * 4 + 4 <= length => {
                    let value = match rng.random_range(0..5) {
                        0 => 0,
                        1 => u32::MAX,
                        2 => length as u32,
                        3 => rng.random_range(0..=64),
                        _ => rng.random(),
                    };
                    put(&mut bytes, at / 4 * 4, value);
                }
                4 if rng.random_range(0..4) == 0 => bytes.truncate(at),
                5 => {
                    let from = rng.random_range(0..length);
                    let count = rng.random_range(0..64).min(length - at).min(length - from);
                    bytes.copy_within(from..from + count, at);
                }
                _ => {
                    let place = at / 2 * 2;
                    bytes[place] = bytes[place].wrapping_add(rng.random_range(0..4));
                }
            }
        }
        let choice = match n % 2 {
            0 => which("1"),
            _ => LoadOptions::default(),
        };
        match load(&bytes, "x.o", &choice) {
            Ok(Loaded { program, .. }) => {
                good += 1;
                let Program { name, regs, quads } = program;
                assert!(!name.is_empty() && name.len() <= 200, "{name}");
                assert_eq!(regs.prog_len as usize, quads.len());
                let last = quads.last().map(|q| (q.dw0, q.dw1));
                // A file without the first four bytes is text.
                assert!(last == Some(NOP_END) || !bytes.starts_with(b"\x7fELF"));
            }
            Err(e) => {
                bad += 1;
                assert_eq!(e.file, "x.o");
                assert!(!e.field.is_empty() && !e.message.is_empty(), "{e}");
                // Without the first four bytes it is text, of which the assembler quotes what it likes.
                let text = !bytes.starts_with(b"\x7fELF");
                assert!(text || !e.to_string().contains(char::is_control), "{e}");
            }
        }
        for function in functions(&bytes, "x.o").unwrap_or_default() {
            assert_eq!(function.problem.is_some(), function.instructions.is_none());
            problems += usize::from(function.problem.is_some());
        }
    }
    // Both outcomes occur often.
    assert!(
        good > 1000 && bad > 1000 && problems > 1000,
        "{good} {bad} {problems}"
    );
}
