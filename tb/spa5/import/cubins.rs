//! Cubins made here.

use super::*;

/// A kernel or device function for [`cubin`].
#[derive(Clone)]
pub(super) struct Part<'a> {
    pub(super) name: &'a str,
    pub(super) section: &'a str,
    pub(super) words: Vec<u64>,
    pub(super) value: u64,
    /// `st_other`.
    pub(super) other: u8,
    /// Its attributes; no section if there are none.
    pub(super) info: Vec<u8>,
}

/// A kernel of one bundle: `word`, EXIT, NOP.
pub(super) fn kernel<'a>(name: &'a str, section: &'a str, word: u64) -> Part<'a> {
    Part {
        name,
        section,
        words: vec![CONTROL, word, EXIT, NOP],
        value: 0,
        other: 0x10,
        info: Vec::new(),
    }
}

fn one(word: u64, info: Vec<u8>) -> Vec<u8> {
    let part = Part {
        info,
        ..kernel("k", ".text.k", word)
    };
    cubin(&[part], &[])
}

/// Format, attribute, size, data.
pub(super) fn attribute(number: u8, values: &[u32]) -> Vec<u8> {
    let mut bytes = vec![4, number];
    bytes.extend((4 * values.len() as u16).to_le_bytes());
    bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    bytes
}

/// A section.
struct Section {
    name: String,
    kind: u32,
    link: u32,
    info: u32,
    entry: u64,
    data: Vec<u8>,
}

/// A cubin with `parts`, each with a section of its own if it is the first to name that, and `more` sections:
/// name, type, the section they are of, contents.
pub(super) fn cubin(parts: &[Part], more: &[(&str, u32, u32, Vec<u8>)]) -> Vec<u8> {
    let mut sections: Vec<Section> = Vec::new();
    let plain = |name: &str, kind, data| Section {
        name: name.to_owned(),
        kind,
        link: 0,
        info: 0,
        entry: 0,
        data,
    };
    sections.push(plain("", 0, Vec::new()));
    let mut strings = vec![0];
    let mut symbols = vec![0; 24];
    for part in parts {
        let at = match sections.iter().position(|s| s.name == part.section) {
            Some(at) => at,
            None => {
                let code = part.words.iter().flat_map(|w| w.to_le_bytes()).collect();
                sections.push(plain(part.section, 1, code));
                if !part.info.is_empty() {
                    let name = format!(".nv.info.{}", part.name);
                    sections.push(plain(&name, 0x7000_0000, part.info.clone()));
                    sections.len() - 2
                } else {
                    sections.len() - 1
                }
            }
        };
        symbols.extend((strings.len() as u32).to_le_bytes());
        strings.extend(part.name.bytes());
        strings.push(0);
        symbols.extend([0x12, part.other]);
        symbols.extend((at as u16).to_le_bytes());
        symbols.extend(part.value.to_le_bytes());
        symbols.extend((8 * part.words.len() as u64).to_le_bytes());
    }
    for (name, kind, info, data) in more {
        let section = plain(name, *kind, data.clone());
        sections.push(Section {
            info: *info,
            ..section
        });
    }
    sections.push(Section {
        link: sections.len() as u32 + 1,
        entry: 24,
        ..plain(".symtab", 2, symbols)
    });
    sections.push(plain(".strtab", 3, strings));
    let mut names = vec![0];
    let mut starts = Vec::new();
    for name in sections.iter().map(|s| &s.name[..]).chain([".shstrtab"]) {
        starts.push(names.len() as u32);
        names.extend(name.bytes());
        names.push(0);
    }
    sections.push(plain(".shstrtab", 3, names));
    let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
    bytes.resize(16, 0);
    bytes.extend([2, 190].map(u16::to_le_bytes).concat());
    bytes.resize(64, 0);
    let mut headers = Vec::new();
    for (section, name) in sections.iter().zip(starts) {
        headers.extend([name, section.kind].map(u32::to_le_bytes).concat());
        let (offset, size) = (bytes.len() as u64, section.data.len() as u64);
        headers.extend([6, 0, offset, size].map(u64::to_le_bytes).concat());
        headers.extend([section.link, section.info].map(u32::to_le_bytes).concat());
        headers.extend([32, section.entry].map(u64::to_le_bytes).concat());
        bytes.extend(&section.data);
    }
    let at = bytes.len() as u64;
    bytes[40..48].copy_from_slice(&at.to_le_bytes());
    bytes[48..52].copy_from_slice(&0x0032_0532_u32.to_le_bytes());
    let count = sections.len() as u16;
    for (place, value) in [(52, 64), (58, 64), (60, count), (62, count - 1)] {
        bytes[place..place + 2].copy_from_slice(&value.to_le_bytes());
    }
    bytes.extend(headers);
    bytes
}

#[test]
fn a_cubin_with_several_kernels() {
    let device = Part {
        name: "$a$f",
        value: 0x10,
        other: 0,
        ..kernel("a", ".text.a", NOP)
    };
    let b = Part {
        words: vec![CONTROL, BRX, EXIT, NOP, CONTROL, NOP, NOP, NOP],
        value: 0x10,
        info: attribute(0x1e, &[1040]),
        ..kernel("b", ".text.b", NOP)
    };
    let other = kernel("2", ".text.2", SYNC);
    let bytes = cubin(&[b, kernel("a", ".text.a", SYNC), device, other], &[]);
    assert_eq!(
        list(&bytes, "x").unwrap(),
        [
            "1  b, 64 bytes, CRS size 1040, 1 BRX",
            "2  a, 32 bytes, 0 BRX",
            "3  2, 32 bytes, 0 BRX",
        ]
    );
    let got = |choice| import(&bytes, Some(choice)).program;
    assert_eq!(
        (got("1").name, got("b").entry, got("b").prog_size),
        ("b".to_owned(), 0x10, 64)
    );
    assert_eq!((got("a").name, got("a").word(8)), ("a".to_owned(), SYNC));
    // A name goes before a number.
    assert_eq!([got("2").name, got("3").name], ["2", "2"]);
    assert_eq!(
        import(&bytes, Some("b")).warnings,
        [
            "0x0008: BRX or JMX for which the cubin has no target; its register will be 0",
            "CRS size 1040, 65 tokens; a unit built with DEPTH 64 holds no more than these",
        ]
    );
    let there = "there are 3 kernels, 1 b, 2 a, 3 2";
    assert_eq!(
        refused(&bytes, None),
        format!("x: --select: {there}; choose one by number or name")
    );
    for choice in ["0", "4", "$a$f", "B"] {
        assert_eq!(
            refused(&bytes, Some(choice)),
            format!("x: --select: {there}, not {choice:?}")
        );
    }
}

#[test]
fn names_become_part_of_file_names() {
    let kernel = |name| kernel(name, ".text._Z3foo\u{e9}/../x", NOP);
    let bytes = cubin(&[kernel("_Z3foo\u{e9}/../x")], &[]);
    assert_eq!(import(&bytes, None).program.name, "_Z3foo__.._x-4f551601");
    assert_eq!(
        list(&bytes, "x").unwrap(),
        ["1  _Z3foo__.._x-4f551601, 32 bytes, 0 BRX"]
    );
    let mut nameless = kernel("");
    nameless.section = ".text.";
    assert_eq!(import(&cubin(&[nameless], &[]), None).program.name, "x");
}

#[test]
fn attributes_are_checked() {
    // EXIT at 0x10; SYNC at 8.
    let good = [
        attribute(0x1c, &[0x10]),
        vec![3, 0x19, 8, 0, 1, 0x30, 0, 0],
        attribute(0x34, &[8, 1, 3, 0x10, 0, 0x18]),
        attribute(0x1e, &[16]),
        vec![4, 0x17, 3, 0, 9, 9, 9],
    ]
    .concat();
    let program = import(&one(SYNC, good), None).program;
    let listed = BTreeMap::from([(8, vec![0x10, 8, 0x18])]);
    assert_eq!(program.targets, listed);
    let several = [attribute(0x34, &[8, 0, 0]), attribute(0x34, &[])].concat();
    assert!(import(&one(BRX, several), None).program.targets[&8].is_empty());
    let lists = |values: &[u32]| attribute(0x34, values);
    for (info, error) in [
        (vec![4], "the attribute at byte 0 is cut off"),
        (
            vec![3, 0x19, 8, 0, 4, 0x1c, 1],
            "the attribute at byte 4 is cut off",
        ),
        (
            vec![4, 0x17, 1, 0],
            "the attribute at byte 0 does not end in the section",
        ),
        (
            vec![4, 0x1c, 255, 255, 0, 0],
            "the attribute at byte 0 does not end in the section",
        ),
        (
            vec![4, 0x1c, 2, 0, 0, 0],
            "the attribute at byte 0 must be a sequence of 32-bit words",
        ),
        (
            attribute(0x1e, &[]),
            "the attribute at byte 0 must be a size of four bytes",
        ),
        (
            attribute(0x1e, &[1, 2]),
            "the attribute at byte 0 must be a size of four bytes",
        ),
        (lists(&[8]), "the attribute at byte 0 ends within a list"),
        (lists(&[8, 0]), "the attribute at byte 0 ends within a list"),
        (
            lists(&[8, 0, 1]),
            "the attribute at byte 0 ends within a list",
        ),
        (
            lists(&[8, 0, u32::MAX, 8]),
            "the attribute at byte 0 ends within a list",
        ),
        (
            lists(&[8, 0, 0, 8, 0, 0]),
            "the attribute at byte 0 lists the targets of 0x0008 again",
        ),
        (
            attribute(0x1c, &[8]),
            "there is no EXIT at 0x0008, where it lists one",
        ),
        (
            attribute(0x1c, &[0x11]),
            "there is no EXIT at 0x0011, where it lists one",
        ),
        (
            attribute(0x1c, &[0x30]),
            "there is no EXIT at 0x0030, where it lists one",
        ),
        (
            attribute(0x1c, &[u32::MAX - 7]),
            "there is no EXIT at 0xfffffff8, where it lists one",
        ),
        (
            lists(&[0x10, 0, 0]),
            "there is no SYNC, BRK or BRX at 0x0010, of which it lists targets",
        ),
        (
            lists(&[0x18, 0, 0]),
            "there is no SYNC, BRK or BRX at 0x0018, of which it lists targets",
        ),
        (
            lists(&[0, 0, 0]),
            "there is no SYNC, BRK or BRX at 0x0000, of which it lists targets",
        ),
        (
            lists(&[0x28, 0, 0]),
            "there is no SYNC, BRK or BRX at 0x0028, of which it lists targets",
        ),
        (
            lists(&[8, 0, 1, 0xc]),
            "0x000c is listed as a target of 0x0008, and must be the address of an instruction",
        ),
        (
            lists(&[8, 0, 1, 0x20]),
            "0x0028 is listed as a target of 0x0008, and must be the address of an instruction",
        ),
    ] {
        let bytes = one(SYNC, info);
        assert_eq!(refused(&bytes, None), format!("x: .nv.info.k: {error}"));
        // It is listed, with the reason.
        let listed = &kernels(&bytes, "x").unwrap()[0];
        assert_eq!(listed.problem, Some(format!(".nv.info.k: {error}")));
        assert_eq!((listed.bytes, listed.indirect), (Some(32), None));
    }
    // 0 is the control word of the first bundle: normalized it is the first instruction.
    let program = import(&one(SYNC, lists(&[8, 0, 1, 0])), None).program;
    assert_eq!(program.targets[&8], [8]);
}

#[test]
fn kernels_lie_in_their_sections() {
    let good = kernel("k", ".text.k", NOP);
    let part = |change: &dyn Fn(&mut Part)| {
        let mut part = good.clone();
        change(&mut part);
        cubin(&[part], &[])
    };
    for (bytes, error) in [
        (
            part(&|p| p.section = ".text.j"),
            "st_shndx: the kernel lies in .text.j, not in .text.k",
        ),
        (
            part(&|p| p.section = ""),
            ".symtab: no function in it: no symbol of type FUNC",
        ),
        (
            part(&|p| p.words.truncate(3)),
            "sh_size: must be bundles of 32 bytes, not 24 bytes",
        ),
        (
            part(&|p| p.words.clear()),
            "sh_size: must be bundles of 32 bytes, not 0 bytes",
        ),
        (
            part(&|p| p.words = vec![NOP; 4 * MAX_BUNDLES + 4]),
            "program: 16385 bundles, more than 16384",
        ),
        (
            part(&|p| p.value = 0x20),
            "st_value: must be the address of an instruction in the 32 bytes of the kernel, not 0x20",
        ),
        (
            part(&|p| p.value = 4),
            "st_value: must be the address of an instruction in the 32 bytes of the kernel, not 0x4",
        ),
        (
            part(&|p| p.value = 1 << 40),
            "st_value: must be the address of an instruction in the 32 bytes of the kernel, not 0x10000000000",
        ),
        (
            part(&|p| p.other = 0xef),
            ".symtab: no kernel in it: no function whose st_other has bit 4",
        ),
    ] {
        assert_eq!(refused(&bytes, None), format!("x: {error}"));
    }
    let most = part(&|p| p.words = vec![NOP; 4 * MAX_BUNDLES]);
    assert_eq!(import(&most, None).program.words.len(), 4 * MAX_BUNDLES);
    assert_eq!(import(&part(&|p| p.value = 0x18), None).program.entry, 0x18);
    // Section 240 does not exist.
    let mut bytes = part(&|_| {});
    let symbol = [1, 0, 0, 0, 0x12, 0x10, 1, 0];
    let at = bytes.windows(8).position(|w| w == symbol).unwrap();
    bytes[at + 6..at + 8].copy_from_slice(&[240, 0]);
    assert_eq!(refused(&bytes, None), "x: st_shndx: names no section");
    let listed = &kernels(&bytes, "x").unwrap()[0];
    assert_eq!(listed.to_string(), "1  k, st_shndx: names no section");
}

/// Kernels that share a section cost no more than the length of the file.
#[test]
fn many_kernels_cost_no_more_than_the_file() {
    let mut part = kernel("k", ".text.k", NOP);
    part.words = vec![NOP; 4000];
    let bytes = cubin(&vec![part; 3], &[]);
    let expected = format!(
        "x: sh_size: the kernels have 96000 bytes together, more than the file, which has {}",
        bytes.len()
    );
    assert_eq!(refused(&bytes, Some("1")), expected);
    assert_eq!(list(&bytes, "x").unwrap_err().to_string(), expected);
}
