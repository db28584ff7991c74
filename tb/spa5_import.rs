//! Cubins and raw bundles: what is taken from good ones, and what is said of bad ones.
//!
//! Good files are held against what NVIDIA's nvdisasm printed for them (`tb/programs/spa5/*/nvdisasm.txt`,
//! `*.sass`) and against spa5-2.5 and spa5-8. Bad ones are made here, or are good ones with bytes changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use reconverge::spa5::asm::{assemble, disassemble, hex_text, parse_hex, program_text};
use reconverge::spa5::import::{kernels, list, load};
use reconverge::spa5::isa::{CONTROL, LeaveOp, NOP, Word, is_control};
use reconverge::spa5::program::{MOST_BUNDLES, Program};
use reconverge::unit::{LoadOptions, Loaded};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tb/programs/spa5");

const SYNC: u64 = 0xf0f8_0000_0007_000f;
const EXIT: u64 = 0xe300_0000_0007_000f;
const BRX: u64 = 0xe250_0000_0007_000f;

fn real(name: &str) -> Vec<u8> {
    fs::read(format!("{FOLDER}/cubin/{name}.cubin")).unwrap()
}

fn which(choice: &str) -> LoadOptions {
    LoadOptions {
        which: Some(choice.to_owned()),
        ..LoadOptions::default()
    }
}

fn import(bytes: &[u8], choice: Option<&str>) -> Loaded<Program> {
    let options = choice.map(which).unwrap_or_default();
    load(bytes, "dir/x.cubin", &options).unwrap_or_else(|e| panic!("{e}"))
}

/// What is said of a bad file.
fn refused(bytes: &[u8], choice: Option<&str>) -> String {
    let options = choice.map(which).unwrap_or_default();
    match load(bytes, "x", &options) {
        Err(e) => e.to_string(),
        Ok(p) => panic!("accepted: {p:?}"),
    }
}

/// The files of a kind.
fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(format!("{FOLDER}/{folder}"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == ending))
        .collect();
    found.sort();
    found
}

/// Address and fields of each instruction.
fn instructions(program: &Program) -> impl Iterator<Item = (u32, Word)> {
    (0..)
        .step_by(8)
        .zip(&program.words)
        .filter(|(pc, _)| !is_control(*pc))
        .map(|(pc, word)| (pc, Word::decode(*word)))
}

/// A list of targets is of a SYNC, a BRK or a BRX.
fn is_listed(word: Word) -> bool {
    match word {
        Word::Indirect(_) => true,
        Word::Leave(leave) => matches!(leave.op, LeaveOp::Sync | LeaveOp::Brk),
        _ => false,
    }
}

// ---- what nvdisasm says -----------------------------------------------------------------------------------

/// Programs of a folder, each with the lines that nvdisasm printed for it.
fn with_listings(folder: &str, ending: &str) -> Vec<(Loaded<Program>, BTreeMap<u32, String>)> {
    let text = fs::read_to_string(format!("{FOLDER}/{folder}/nvdisasm.txt")).unwrap();
    let mut listings: BTreeMap<String, BTreeMap<u32, String>> = BTreeMap::new();
    let mut name = String::new();
    for line in text.lines() {
        match line.split_once(' ') {
            None => {
                name = line.to_owned();
                listings.insert(name.clone(), BTreeMap::new());
            }
            Some((address, text)) => {
                let address = u32::from_str_radix(address, 16).unwrap();
                let lines = listings.get_mut(&name).unwrap();
                lines.insert(address, text.to_owned());
            }
        }
    }
    let paths = files(folder, ending);
    assert_eq!(paths.len(), listings.len());
    paths
        .iter()
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            let loaded = load(&fs::read(path).unwrap(), name, &LoadOptions::default()).unwrap();
            (loaded, listings.remove(name).unwrap())
        })
        .collect()
}

/// Every instruction of the unit, mnemonic, condition and target; and the other way: none is missing.
#[test]
fn instructions_are_those_that_nvdisasm_prints() {
    let mut counts = BTreeMap::new();
    for (folder, ending) in [("cubin", "cubin"), ("mesa", "bin")] {
        for (loaded, lines) in with_listings(folder, ending) {
            let program = loaded.program;
            let ours: BTreeMap<u32, String> = instructions(&program)
                .filter(|(_, word)| word.name().is_some())
                .map(|(pc, word)| {
                    *counts.entry(word.name().unwrap()).or_insert(0) += 1;
                    let line = disassemble(program.word(pc), pc, &program);
                    let said = line.split(';').next().unwrap();
                    (pc, said.to_owned())
                })
                .collect();
            assert_eq!(ours, lines, "{}", program.name);
        }
    }
    let all: Vec<_> = counts.keys().copied().collect();
    assert_eq!(
        all,
        [
            "BRA", "BRK", "BRX", "CAL", "CONT", "EXIT", "PBK", "PCNT", "PRET", "RET", "SSY", "SYNC"
        ]
    );
    assert!(counts.values().sum::<i32>() > 800, "{counts:?}");
}

/// A whole listing, read as assembly, is the cubin: words, control words, and the targets, of which a listing
/// gives each once.
#[test]
fn listings_are_the_cubins() {
    let listings = files("cubin", "sass");
    assert_eq!(listings.len(), 2);
    for path in listings {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let cubin = import(&real(name), None).program;
        let text = fs::read_to_string(&path).unwrap();
        let listed = load(text.as_bytes(), "x.sass", &LoadOptions::default()).unwrap();
        assert_eq!(listed.program, assemble(&text, "x").unwrap());
        assert_eq!(listed.program.words, cubin.words, "{name}");
        let once = |p: &Program| -> BTreeMap<u32, BTreeSet<u32>> {
            let some = p.targets.iter().filter(|(_, t)| !t.is_empty());
            some.map(|(pc, t)| (*pc, t.iter().copied().collect()))
                .collect()
        };
        assert_eq!(once(&listed.program), once(&cubin));
    }
}

/// `st_value`, section size, and the lists of attribute 0x34 as a listing prints them, normalized.
#[test]
fn the_kernel_with_an_indirect_call() {
    let Loaded { program, warnings } = import(&real("k16_indirect_call.12.9.O3"), None);
    assert_eq!(program.name, "k16_indirect_call");
    assert_eq!((program.entry, program.prog_size), (0, 640));
    assert_eq!(program.words.len(), 80);
    assert_eq!(program.word(0x88), 0xe270_0000_0080_0040);
    let targets = [
        (0x90, vec![]),
        (0x1e8, vec![0x248]),
        (0x218, vec![0x228]),
        (0x238, vec![0x248]),
    ];
    assert_eq!(program.targets, BTreeMap::from(targets));
    assert_eq!(
        warnings,
        [
            "0x0090: BRX, error 10 (UNSUPPORTED) unless the unit is built with BRX=1",
            "0x0090: BRX for which the cubin lists no target; its register will be 0",
        ]
    );
}

/// A switch: the list of a BRX has a target for each case, however often.
#[test]
fn the_kernel_with_a_switch() {
    let program = import(&real("k08_switch_cmp.12.9.O1"), None).program;
    let brx = &program.targets[&0x98];
    assert_eq!(brx.len(), 16);
    assert_eq!(brx.iter().filter(|t| **t == brx[1]).count(), 13);
}

/// What holds for all of the compiler's programs.
#[test]
fn cubins_of_the_compiler() {
    let mut listed = 0;
    for path in files("cubin", "cubin") {
        let bytes = fs::read(&path).unwrap();
        let Loaded { program, warnings } = import(&bytes, None);
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert_eq!(program.name, name.split('.').next().unwrap());
        // Each SYNC, BRK and BRX has a list (spa5-2.5), and nothing else.
        let expected: Vec<u32> = instructions(&program)
            .filter(|(_, word)| is_listed(*word))
            .map(|(pc, _)| pc)
            .collect();
        assert_eq!(
            program.targets.keys().copied().collect::<Vec<_>>(),
            expected
        );
        listed += expected.len();
        let brx = instructions(&program)
            .filter(|(_, w)| matches!(w, Word::Indirect(_)))
            .count();
        assert_eq!(warnings.is_empty(), brx == 0, "{warnings:?}");
        let kernel = &kernels(&bytes, "x").unwrap()[..];
        assert_eq!(kernel.len(), 1);
        assert_eq!(kernel[0].bytes, Some(8 * program.words.len()));
        assert_eq!((kernel[0].brx, &kernel[0].problem), (Some(brx), &None));
        let file = format!("{}.s", program.name);
        assert_eq!(assemble(&program_text(&program), &file).unwrap(), program);
        assert_eq!(parse_hex(&hex_text(&program), &file).unwrap(), program);
    }
    assert!(listed > 100, "{listed}");
}

#[test]
fn kernels_are_listed() {
    let lines = |name| list(&real(name), "x.cubin").unwrap();
    assert_eq!(
        lines("k16_indirect_call.12.9.O3"),
        ["1  k16_indirect_call, 640 bytes, CRS size 528, 1 BRX"]
    );
    assert_eq!(
        lines("k07_switch_brx.12.9.O3"),
        ["1  k07_switch_brx, 384 bytes, CRS size 32, 1 BRX"]
    );
    // No token, no CRS size.
    assert_eq!(
        lines("k01_ifelse.12.9.O3"),
        ["1  k01_ifelse, 192 bytes, 0 BRX"]
    );
    for bytes in [b"NOP".to_vec(), vec![0; 32]] {
        let e = list(&bytes, "x").unwrap_err().to_string();
        assert_eq!(
            e,
            "x: file: is no cubin; only such a file holds several programs"
        );
    }
}

// ---- cubins made here --------------------------------------------------------------------------------------

/// A kernel or device function for [`cubin`].
#[derive(Clone)]
struct Part {
    name: &'static str,
    section: &'static str,
    words: Vec<u64>,
    value: u64,
    /// `st_other`.
    other: u8,
    /// Its attributes; no section if there are none.
    info: Vec<u8>,
}

/// A kernel of one bundle: `word`, EXIT, NOP.
fn kernel(name: &'static str, section: &'static str, word: u64) -> Part {
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
fn attribute(number: u8, values: &[u32]) -> Vec<u8> {
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
fn cubin(parts: &[Part], more: &[(&str, u32, u32, Vec<u8>)]) -> Vec<u8> {
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
            "0x0008: BRX, error 10 (UNSUPPORTED) unless the unit is built with BRX=1",
            "0x0008: BRX for which the cubin lists no target; its register will be 0",
            "CRS size 1040, 65 tokens; a unit built with DEPTH 64 holds no more than these",
        ]
    );
    let there = "there are 3 kernels, 1 b, 2 a, 3 2";
    assert_eq!(
        refused(&bytes, None),
        format!("x: which: {there}; choose one by number or name")
    );
    for choice in ["0", "4", "$a$f", "B"] {
        assert_eq!(
            refused(&bytes, Some(choice)),
            format!("x: which: {there}, not {choice:?}")
        );
    }
}

#[test]
fn names_become_part_of_file_names() {
    let kernel = |name| kernel(name, ".text._Z3foo\u{e9}/../x", NOP);
    let bytes = cubin(&[kernel("_Z3foo\u{e9}/../x")], &[]);
    assert_eq!(import(&bytes, None).program.name, "_Z3foo__.._x");
    assert_eq!(
        list(&bytes, "x").unwrap(),
        ["1  _Z3foo__.._x, 32 bytes, 0 BRX"]
    );
    let mut nameless = kernel("");
    nameless.section = ".text.";
    assert_eq!(import(&cubin(&[nameless], &[]), None).program.name, "x");
}

/// The low byte of `e_flags` (spa5-2.5).
#[test]
fn cubins_for_other_gpus() {
    let mut bytes = real("k01_ifelse.12.9.O3");
    for (sm, name) in [
        (20, "sm_20 (Fermi)"),
        (35, "sm_35 (Kepler)"),
        (52, "sm_52 (Maxwell)"),
        (61, "sm_61 (Pascal)"),
        (70, "sm_70 (Volta)"),
        (75, "sm_75 (Turing)"),
        (90, "sm_90 (Ampere or later)"),
        (49, "sm_49"),
        (0, "sm_0"),
    ] {
        bytes[48] = sm;
        let flags = 0x32_0500 + u32::from(sm);
        let why = format!("made for {name}, where sm_50 is wanted (ptxas -arch=sm_50)");
        let expected = format!("x: e_flags: {flags:#x}: {why}");
        assert_eq!(refused(&bytes, None), expected);
        assert_eq!(list(&bytes, "x").unwrap_err().to_string(), expected);
    }
    bytes[48] = 50;
    bytes[18] = 224;
    assert_eq!(
        refused(&bytes, None),
        "x: e_machine: 224, where a cubin has 190"
    );
    bytes[4] = 1;
    assert_eq!(
        refused(&bytes, None),
        "x: EI_CLASS: 1, where a cubin has 2 (64 bits)"
    );
    assert_eq!(
        refused(&bytes[..20], None),
        "x: EI_CLASS: 1, where a cubin has 2 (64 bits)"
    );
    let cut = &real("k01_ifelse.12.9.O3")[..63];
    assert_eq!(
        refused(cut, None),
        "x: ELF header: has 64 bytes, the file 63: it is cut off"
    );
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
            "the attribute at byte 0 is no sequence of 32-bit words",
        ),
        (
            attribute(0x1e, &[]),
            "the attribute at byte 0 is no size: it has not four bytes",
        ),
        (
            attribute(0x1e, &[1, 2]),
            "the attribute at byte 0 is no size: it has not four bytes",
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
            "0x000c is listed as a target of 0x0008, and is no instruction's place",
        ),
        (
            lists(&[8, 0, 1, 0x20]),
            "0x0028 is listed as a target of 0x0008, and is no instruction's place",
        ),
    ] {
        let bytes = one(SYNC, info);
        assert_eq!(refused(&bytes, None), format!("x: .nv.info.k: {error}"));
        // It is listed, with the reason.
        let listed = &kernels(&bytes, "x").unwrap()[0];
        assert_eq!(listed.problem, Some(format!(".nv.info.k: {error}")));
        assert_eq!((listed.bytes, listed.brx), (Some(32), None));
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
            "sh_size: 24 bytes are no bundles, 32 each",
        ),
        (
            part(&|p| p.words.clear()),
            "sh_size: 0 bytes are no bundles, 32 each",
        ),
        (
            part(&|p| p.words = vec![NOP; 4 * MOST_BUNDLES + 4]),
            "program: 16385 bundles, more than 16384",
        ),
        (
            part(&|p| p.value = 0x20),
            "st_value: 0x20 is no instruction's place in the 32 bytes of the kernel",
        ),
        (
            part(&|p| p.value = 4),
            "st_value: 0x4 is no instruction's place in the 32 bytes of the kernel",
        ),
        (
            part(&|p| p.value = 1 << 40),
            "st_value: 0x10000000000 is no instruction's place in the 32 bytes of the kernel",
        ),
        (
            part(&|p| p.other = 0xef),
            ".symtab: no kernel in it: no function whose st_other has bit 4",
        ),
    ] {
        assert_eq!(refused(&bytes, None), format!("x: {error}"));
    }
    let most = part(&|p| p.words = vec![NOP; 4 * MOST_BUNDLES]);
    assert_eq!(import(&most, None).program.words.len(), 4 * MOST_BUNDLES);
    assert_eq!(import(&part(&|p| p.value = 0x18), None).program.entry, 0x18);
    // Section 240, which there is not.
    let mut bytes = part(&|_| {});
    let symbol = [1, 0, 0, 0, 0x12, 0x10, 1, 0];
    let at = bytes.windows(8).position(|w| w == symbol).unwrap();
    bytes[at + 6..at + 8].copy_from_slice(&[240, 0]);
    assert_eq!(refused(&bytes, None), "x: st_shndx: names no section");
    let listed = &kernels(&bytes, "x").unwrap()[0];
    assert_eq!(listed.to_string(), "1  k, st_shndx: names no section");
}

/// Relocations of black boxes are said, those of the unit's targets refused.
#[test]
fn relocations() {
    let entry = |offset: u64, size: usize| {
        let mut bytes = offset.to_le_bytes().to_vec();
        bytes.resize(size, 1);
        bytes
    };
    let ssy = 0xe290_0000_0000_0000;
    // Section 1 is the code; 9 is SHT_REL, 4 SHT_RELA.
    let with = |word, kind, data: Vec<u8>| {
        cubin(
            &[kernel("k", ".text.k", word)],
            &[(".rel.text.k", kind, 1, data)],
        )
    };
    let bytes = with(NOP, 9, [entry(8, 16), entry(0x14, 16)].concat());
    let said = ".rel.text.k changes the code when it is loaded; its instructions are taken as they are in the file";
    assert_eq!(import(&bytes, None).warnings, [said]);
    let bytes = with(NOP, 4, [entry(8, 24), entry(0x14, 24)].concat());
    assert_eq!(import(&bytes, None).warnings, [said]);
    for (bytes, error) in [
        (
            with(ssy, 9, [entry(0x10, 16), entry(0xc, 16)].concat()),
            "changes the SSY at 0x0008; a finished program has its targets",
        ),
        (
            with(BRX, 4, [entry(0x10, 24), entry(8, 24)].concat()),
            "changes the BRX at 0x0008; a finished program has its targets",
        ),
        (
            with(NOP, 9, entry(0x20, 16)),
            "changes byte 32, and the code has 32",
        ),
        (
            with(NOP, 9, entry(u64::MAX, 16)),
            "changes byte 18446744073709551615, and the code has 32",
        ),
    ] {
        assert_eq!(refused(&bytes, None), format!("x: .rel.text.k: {error}"));
    }
}

#[test]
fn warnings() {
    let mut part = kernel("k", ".text.k", 0xe3a0_0000_0000_00c0);
    part.words.extend([
        1 << 63,
        0xe350_0000_0007_0018,
        0xe290_0000_0000_0020,
        0xe3f0_0000_0000_0000,
    ]);
    part.words
        .extend([CONTROL, 0xe3a0_0000_0000_0000, 0xe250_0000_0007_003e, NOP]);
    assert_eq!(
        import(&cubin(&[part], &[]), None).warnings,
        [
            "0x0008, 0x0048: BPT, error 10 (UNSUPPORTED)",
            "0x0028: CC.CSM_TA, error 10 (UNSUPPORTED)",
            "0x0050: CC.RLE, error 10 (UNSUPPORTED)",
            "0x0020: bit 63 of a control word is 1",
            "0x0038: opcode without a name, error 9 (ILLEGAL)",
            "0x0030, 0x0050: target in a constant bank, error 10 (UNSUPPORTED)",
            "0x0050: BRX for which the cubin lists no target; its register will be 0",
        ]
    );
    let mut part = kernel("k", ".text.k", NOP);
    part.words = [CONTROL, 0xe3b0 << 48, NOP, NOP].repeat(17);
    let warnings = import(&cubin(&[part], &[]), None).warnings;
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].ends_with("0x01e8 and 1 more: opcode without a name, error 9 (ILLEGAL)"),
        "{warnings:?}"
    );
}

/// Kernels that share a section cost no more than the file is long.
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

// ---- raw bundles ---------------------------------------------------------------------------------------------

fn bytes_of(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

#[test]
fn raw_bundles() {
    let mut pcnt = 0;
    for path in files("mesa", "bin") {
        let bytes = fs::read(&path).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let Loaded { program, warnings } =
            load(&bytes, path.to_str().unwrap(), &LoadOptions::default()).unwrap();
        assert_eq!(bytes_of(&program.words), bytes);
        assert_eq!(program.name, name);
        assert_eq!(
            (program.entry, program.prog_size as usize),
            (0, bytes.len())
        );
        assert!(warnings.is_empty() && program.targets.is_empty());
        pcnt += program_text(&program).matches("PCNT ").count();
        let file = format!("{name}.s");
        assert_eq!(assemble(&program_text(&program), &file).unwrap(), program);
    }
    assert!(pcnt > 10, "{pcnt}");
}

/// `nouveau_compiler` may end within a bundle (spa5-8).
#[test]
fn raw_bundles_are_filled_up() {
    let control = 0x0123_4567_89ab_cdef;
    let first = [CONTROL, NOP, NOP, SYNC];
    // The fields of slots 0, 1 and 2 are bits 20:0, 41:21 and 62:42.
    let plain = |control: u64, slots: &[u32]| {
        slots.iter().fold(control, |c, slot| {
            c & !(0x1f_ffff << (21 * slot)) | 0x7ef << (21 * slot)
        })
    };
    for (rest, slots, said) in [
        (vec![control, EXIT, EXIT], &[2][..], "1 NOP"),
        (vec![control, EXIT], &[1, 2], "2 NOPs"),
        (vec![control], &[0, 1, 2], "3 NOPs"),
    ] {
        let bytes = bytes_of(&[&first[..], &rest].concat());
        let Loaded { program, warnings } = import(&bytes, None);
        let mut expected = [&first[..], &rest].concat();
        expected.resize(8, NOP);
        expected[4] = plain(control, slots);
        assert_eq!(program.words, expected);
        assert_eq!((program.prog_size, &program.name[..]), (64, "x"));
        assert_eq!(
            warnings,
            [format!(
                "ends within a bundle, which was filled up with {said}"
            )]
        );
    }
    assert_eq!(plain(u64::MAX, &[0, 1, 2]), CONTROL | 1 << 63);
    let full = bytes_of(&vec![0; 4 * MOST_BUNDLES]);
    assert_eq!(import(&full, None).program.words.len(), 4 * MOST_BUNDLES);
    for more in 1..=4 {
        let bytes = [full.clone(), vec![0; 8 * more]].concat();
        assert_eq!(
            refused(&bytes, None),
            "x: program: 16385 bundles, more than 16384"
        );
    }
}

#[test]
fn files_are_recognised_by_content() {
    for text in ["SYNC\n", "// only a comment\nSYNC;\n", "\u{feff}SYNC\n"] {
        let got = load(text.as_bytes(), "x.hex", &LoadOptions::default()).unwrap();
        assert_eq!(got.program.words, [CONTROL, SYNC, NOP, NOP]);
        assert!(got.warnings.is_empty());
        for choice in ["1", "x"] {
            assert_eq!(import(text.as_bytes(), Some(choice)).program.name, "x");
        }
        let e = refused(text.as_bytes(), Some("2"));
        assert_eq!(e, "x: which: there is one program, 1 x, not \"2\"");
    }
    for text in [
        "0008 f0f800000007000f\n",
        "// words\n001fbc00fde007ef\n0xf0f800000007000f\n",
    ] {
        let got = load(text.as_bytes(), "x.s", &LoadOptions::default()).unwrap();
        assert_eq!(got.program.words, [CONTROL, SYNC, NOP, NOP]);
    }
    let object = real("k01_ifelse.12.9.O3");
    for file in ["x.s", "x.hex", "x"] {
        let got = load(&object, file, &LoadOptions::default()).unwrap();
        assert_eq!(got.program.name, "k01_ifelse");
    }
    let e = refused(b"SYNC\n\xff", None);
    assert_eq!(e, "x:2: file: is not UTF-8 text from byte 5 on");
    let e = refused(b"SYNC\n\0", None);
    let no_text = "x: file: no text, for it has a NUL byte, and no bundles, for";
    assert_eq!(e, format!("{no_text} 6 is no multiple of 8"));
    let e = refused(&bytes_of(&[CONTROL, 0, 0, 0, EXIT, NOP, NOP, NOP]), None);
    assert_eq!(
        e,
        format!("{no_text} 0xe30000000007000f at 0x0020 is no control word: its bit 63 is 1")
    );
    assert_eq!(refused(b"", None), "x: program: has no instruction");
}

// ---- damage --------------------------------------------------------------------------------------------------

fn damage(rng: &mut Pcg64Mcg, bytes: &mut Vec<u8>, at: usize) {
    let length = bytes.len();
    if at >= length {
        return;
    }
    match rng.random_range(0..8) {
        0 => bytes[at] ^= 1 << rng.random_range(0..8),
        1 => bytes[at] = rng.random(),
        2 | 3 if at / 4 * 4 + 4 <= length => {
            let value = match rng.random_range(0..5) {
                0 => 0,
                1 => u32::MAX,
                2 => length as u32,
                3 => 8 * rng.random_range(0..=64),
                _ => rng.random(),
            };
            bytes[at / 4 * 4..at / 4 * 4 + 4].copy_from_slice(&value.to_le_bytes());
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

/// What is taken is whole; what is refused names file, field and reason. Whether it was taken.
fn checked(bytes: &[u8], options: &LoadOptions) -> bool {
    match load(bytes, "x", options) {
        Ok(Loaded { program, .. }) => {
            assert!(!program.name.is_empty() && program.name.len() <= 200);
            assert!((4..=4 * MOST_BUNDLES).contains(&program.words.len()));
            assert!(program.words.len().is_multiple_of(4));
            let Program { prog_size, .. } = program;
            // A file without the first four bytes may be text, which sets it.
            assert!(
                prog_size as usize == 8 * program.words.len() || !bytes.starts_with(b"\x7fELF")
            );
            let name = program.name.clone();
            let again = assemble(&program_text(&program), "x.s").unwrap();
            assert_eq!(Program { name, ..again }, program);
            true
        }
        Err(e) => {
            assert_eq!(e.file, "x");
            assert!(!e.field.is_empty() && !e.message.is_empty(), "{e}");
            // The assembler quotes what it likes.
            let text = !bytes.contains(&0);
            assert!(text || !e.to_string().contains(char::is_control), "{e}");
            false
        }
    }
}

#[test]
fn ten_thousand_damaged_cubins() {
    let originals: Vec<Vec<u8>> = files("cubin", "cubin")
        .iter()
        .map(|path| fs::read(path).unwrap())
        .filter(|bytes| bytes.len() < 3000)
        .collect();
    assert!(originals.len() > 20, "{}", originals.len());
    let find = |bytes: &[u8], what: &[u8]| bytes.windows(what.len()).position(|w| w == what);
    let mut rng = Pcg64Mcg::seed_from_u64(0x50_e1f);
    let (mut good, mut bad, mut problems) = (0, 0, 0);
    for n in 0..10_000 {
        let mut bytes = originals[rng.random_range(0..originals.len())].clone();
        let place = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
        let headers = place(40);
        let ends = headers + 64 * usize::from(bytes[60]);
        // Attribute 0x37 is the first of a kernel's.
        let info = find(&bytes, &[4, 0x37, 4, 0]).unwrap();
        let code = find(&bytes, &0x4c98_0780_0087_0001_u64.to_le_bytes()).unwrap_or(info);
        for _ in 0..rng.random_range(1..4) {
            let at = match rng.random_range(0..8) {
                0 => rng.random_range(0..64),
                1 | 2 => rng.random_range(headers..ends),
                3 | 4 => rng.random_range(info..info + 160),
                5 => rng.random_range(code..code + 256),
                _ => rng.random_range(0..bytes.len().max(1)),
            };
            damage(&mut rng, &mut bytes, at);
        }
        let options = match n % 2 {
            0 => which("1"),
            _ => LoadOptions::default(),
        };
        match checked(&bytes, &options) {
            true => good += 1,
            false => bad += 1,
        }
        for kernel in kernels(&bytes, "x").unwrap_or_default() {
            assert_eq!(kernel.problem.is_some(), kernel.brx.is_none());
            problems += usize::from(kernel.problem.is_some());
        }
    }
    assert!(
        good > 1000 && bad > 1000 && problems > 500,
        "{good} {bad} {problems}"
    );
}

#[test]
fn ten_thousand_damaged_bundles() {
    let originals: Vec<Vec<u8>> = files("mesa", "bin")
        .iter()
        .map(|path| fs::read(path).unwrap())
        .filter(|bytes| bytes.len() < 2000)
        .collect();
    assert!(originals.len() > 10, "{}", originals.len());
    let mut rng = Pcg64Mcg::seed_from_u64(0x50_b17);
    let (mut good, mut bad) = (0, 0);
    for _ in 0..10_000 {
        let mut bytes = originals[rng.random_range(0..originals.len())].clone();
        for _ in 0..rng.random_range(1..4) {
            // Often a byte of a control word.
            let any = rng.random_range(0..bytes.len().max(1));
            let at = match rng.random_range(0..3) {
                0 => any / 32 * 32 + 7,
                _ => any,
            };
            damage(&mut rng, &mut bytes, at);
        }
        if rng.random_range(0..4) == 0 {
            bytes.truncate(rng.random_range(0..=bytes.len() / 4) * 4);
        }
        match checked(&bytes, &LoadOptions::default()) {
            true => good += 1,
            false => bad += 1,
        }
    }
    assert!(good > 1000 && bad > 1000, "{good} {bad}");
}
