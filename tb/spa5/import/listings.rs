//! Cubins against what nvdisasm says.

use super::*;

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
            "BRA", "BRK", "BRX", "CAL", "CONT", "EXIT", "JCAL", "KIL", "PBK", "PCNT", "PRET",
            "RET", "SSY", "SYNC"
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
        let mut expected = once(&cubin);
        // Of an indirect call a listing says that it is one.
        for pc in text.lines().filter(|line| line.contains("INDIRECT_CALL")) {
            let pc = pc
                .split("/*")
                .nth(1)
                .and_then(|rest| rest.get(..4))
                .unwrap();
            let removed = expected.remove(&u32::from_str_radix(pc, 16).unwrap());
            assert!(removed.is_some(), "{name} {pc}");
        }
        assert_eq!(once(&listed.program), expected);
    }
}

/// The name of each black box of the listings, and that none of a compiled program is without one.
#[test]
fn black_boxes_have_the_names_that_nvdisasm_prints() {
    let mut named = BTreeSet::new();
    for path in files("cubin", "sass") {
        let text = fs::read_to_string(&path).unwrap();
        let mut instruction = String::new();
        for line in text.lines() {
            let words = line.split("/* 0x").nth(1).and_then(|w| w.get(..16));
            let code = line.split("*/").nth(1).unwrap_or_default();
            let mut parts = code
                .split_whitespace()
                .filter(|t| !t.starts_with(['{', '@', '/']));
            if let Some(name) = parts
                .next()
                .filter(|_| code.contains(';') || code.contains('}'))
            {
                instruction = name.split(['.', ';']).next().unwrap().to_owned();
            }
            let Some(word) = words.and_then(|w| u64::from_str_radix(w, 16).ok()) else {
                continue;
            };
            let name = std::mem::take(&mut instruction);
            if let Word::Other(word) = Word::decode(word)
                && !name.is_empty()
            {
                assert_eq!(isa::black_box(word), Some(&*name), "{line}");
                named.insert(name);
            }
        }
    }
    assert!(named.len() > 10, "{named:?}");
    let mut nameless = BTreeSet::new();
    for (folder, ending) in [("cubin", "cubin"), ("cuda", "cubin"), ("mesa", "bin")] {
        for path in files(folder, ending) {
            let name = path.file_name().unwrap().to_str().unwrap();
            let loaded = load(&fs::read(&path).unwrap(), name, &LoadOptions::default()).unwrap();
            let others = instructions(&loaded.program).filter_map(|(_, word)| match word {
                Word::Other(word) if isa::black_box(word).is_none() => Some(word),
                _ => None,
            });
            nameless.extend(others);
        }
    }
    assert_eq!(nameless, BTreeSet::new());
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
        // An indirect call: f_a and f_b, by their symbols.
        (0x90, vec![0xd0, 0x198]),
        (0x1e8, vec![0x248]),
        (0x218, vec![0x228]),
        (0x238, vec![0x248]),
    ];
    assert_eq!(program.targets, BTreeMap::from(targets));
    assert_eq!(warnings, [""; 0]);
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
        assert_eq!(warnings, [""; 0]);
        let said = Spa5::refused(&program, &Build::from(32));
        assert_eq!(said.is_empty(), brx == 0, "{said:?}");
        let kernel = &kernels(&bytes, "x").unwrap()[..];
        assert_eq!(kernel.len(), 1);
        assert_eq!(kernel[0].bytes, Some(8 * program.words.len()));
        assert_eq!(kernel[0].indirect, Some([brx, 0]));
        assert_eq!(kernel[0].problem, None);
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
            "x: file: must be a cubin: only such a file holds several programs"
        );
    }
}
