//! Kernels that call what lies elsewhere, and errors for their contents.

use super::cubins::{Part, cubin, kernel};
use super::*;

const JCAL: u64 = 0xe220_0000_0000_0040;
const JMX: u64 = 0xe200_0000_0007_000f;
const RET: u64 = 0xe320_0000_0007_000f;
const TRAP: u64 = 0xe3a0_0000_0010_00c0;
const SSY: u64 = 0xe290_0000_0000_0000;

/// SHT_RELA and SHT_REL.
const RELA: u32 = 4;
const REL: u32 = 9;

/// What puts the address of a function there.
const ADDRESS: u32 = 0x2a;

/// A device function of one bundle, in a section of its own or in none of the file: `word`, RET.
fn function<'a>(name: &'a str, section: &'a str, word: u64) -> Part<'a> {
    Part {
        words: vec![CONTROL, word, RET, NOP],
        other: 0,
        ..kernel(name, section, word)
    }
}

/// A relocation without an addend: place, symbol, type.
fn rel(offset: u64, symbol: u64, kind: u32) -> Vec<u8> {
    let info = symbol << 32 | u64::from(kind);
    [offset, info].map(u64::to_le_bytes).concat()
}

fn rela(offset: u64, symbol: u64, kind: u32, addend: i64) -> Vec<u8> {
    [rel(offset, symbol, kind), addend.to_le_bytes().to_vec()].concat()
}

fn to(word: u64, address: u64) -> u64 {
    word | address << 20
}

/// The kernel `k` calls `f`, which calls `g` and what the file does not have. Symbols 1 to 4, sections 1 to 3.
#[test]
fn what_a_kernel_calls_is_laid_behind_it() {
    let parts = [
        kernel("k", ".text.k", JCAL),
        function("g", ".text.g", NOP),
        Part {
            words: vec![CONTROL, NOP, JCAL, to(JCAL, 8), CONTROL, RET, NOP, NOP],
            value: 8,
            ..function("f", ".text.f", NOP)
        },
        function("exit", "", NOP),
    ];
    let more = [
        (".rel.text.k", REL, 1, rel(8, 3, ADDRESS)),
        (".rel.text.f", REL, 3, rel(0x10, 4, ADDRESS)),
        // Two sections of relocations for one of code; an addend counts instead of what the place holds.
        (".rela.text.f", RELA, 3, rela(0x18, 2, ADDRESS, 16)),
    ];
    let bytes = cubin(&parts, &more);
    let Loaded { program, warnings } = import(&bytes, None);
    let f = to(JCAL, 0x28);
    let (g, exit) = (to(JCAL, 0x70), to(JCAL, 0x80));
    assert_eq!(
        program.words,
        [
            [CONTROL, f, EXIT, NOP],
            [CONTROL, NOP, exit, g],
            [CONTROL, RET, NOP, NOP],
            [CONTROL, NOP, RET, NOP],
            [CONTROL, RET, NOP, NOP],
        ]
        .concat()
    );
    assert_eq!((program.entry, program.prog_size), (0, 160));
    assert_eq!(
        warnings,
        ["not in the file, a RET stands for it: exit at 0x0088"]
    );
    assert_eq!(list(&bytes, "x").unwrap(), ["1  k, 160 bytes, 0 BRX"]);
    // With SHT_REL what the place holds is added.
    let parts = [
        kernel("k", ".text.k", to(JCAL, 8)),
        function("f", ".text.f", NOP),
    ];
    let bytes = cubin(&parts, &[(".rel.text.k", REL, 1, rel(8, 2, ADDRESS))]);
    assert_eq!(import(&bytes, None).program.word(8), to(JCAL, 0x28));
}

/// A JMX leads to the functions whose address is in the code or the data; of functions that are not in the file, to those that
/// the relocations say the kernel calls.
#[test]
fn pointers_are_to_functions_whose_address_is_taken() {
    let parts = [
        kernel("k", ".text.k", JMX),
        kernel("other", ".text.other", NOP),
        function("f", ".text.f", NOP),
        function("vprintf", "", NOP),
        function("__assertfail", "", NOP),
        function("malloc", "", NOP),
        function("never", ".text.never", NOP),
    ];
    let taken = |symbols: &[u64]| -> Vec<u8> {
        symbols
            .iter()
            .flat_map(|symbol| rel(8 * symbol, *symbol, 2))
            .collect()
    };
    let calls = |pairs: &[(u32, i32)]| -> Vec<u8> {
        let words = pairs.iter().flat_map(|(from, to)| [*from, *to as u32]);
        words.flat_map(u32::to_le_bytes).collect()
    };
    let data = |symbols: &[u64]| (".rel.nv.constant4", REL, 5, taken(symbols));
    let constants = || (".nv.constant4", 1, 0, vec![0; 64]);
    let targets = |more: &[(&str, u32, u32, Vec<u8>)]| {
        let Loaded { program, warnings } = import(&cubin(&parts, more), Some("k"));
        (
            program.targets[&8].clone(),
            program.words[4..].to_vec(),
            warnings,
        )
    };
    // Section 1 is the kernel's, 2 that of another, 3 that of f, 4 that of never, 5 the constants.
    let (found, behind, warnings) = targets(&[constants(), data(&[1, 2, 4, 5, 6])]);
    assert_eq!(found, [0x28, 0x48, 0x68]);
    let [ret, trap] = [RET, TRAP].map(|word| [CONTROL, word, NOP, NOP]);
    assert_eq!(behind, [ret, trap, ret].concat());
    let both = [
        "not in the file, a RET stands for it: vprintf at 0x0028, malloc at 0x0068",
        "not in the file, a BPT.TRAP stands for it: __assertfail at 0x0048",
    ];
    assert_eq!(warnings, both);
    // Kernel 1 calls vprintf, kernel 2 the others; what follows -2 is not a call.
    let called = calls(&[(0, -1), (1, 4), (2, 5), (2, 6), (0, -2), (1, 5)]);
    let graph = (".nv.callgraph", 0x7000_0001, 0, called);
    let (found, behind, warnings) = targets(&[constants(), data(&[4, 5, 6]), graph.clone()]);
    assert_eq!((found, behind), (vec![0x28], ret.to_vec()));
    assert_eq!(
        warnings,
        ["not in the file, a RET stands for it: vprintf at 0x0028"]
    );
    // One of the file's own, whose section comes along.
    let (found, behind, _) = targets(&[constants(), data(&[3]), graph.clone()]);
    assert_eq!((found, behind), (vec![0x28], vec![CONTROL, NOP, RET, NOP]));
    // In the code: of a black box, a pointer; and with it that of the data.
    let code = (".rel.text.k", REL, 1, rel(0x18, 7, 0x2b));
    let (found, ..) = targets(&[constants(), data(&[3]), graph, code]);
    assert_eq!(found, [0x28, 0x48]);
    // Nothing is known: any function but kernels.
    let (found, ..) = targets(&[]);
    assert_eq!(found, [0x28, 0x68, 0x88, 0xa8, 0x48]);
}

/// A list of the compiler's stays, and moves with its function.
#[test]
fn lists_of_targets_move_with_their_function() {
    let info = |pc: u32, target: u32| {
        let words = [pc, 0, 1, target];
        let mut bytes = vec![4, 0x34, 16, 0];
        bytes.extend(words.iter().flat_map(|w| w.to_le_bytes()));
        bytes
    };
    let parts = [
        kernel("k", ".text.k", JCAL),
        Part {
            info: info(8, 0x10),
            ..function("f", ".text.f", JMX)
        },
    ];
    let bytes = cubin(&parts, &[(".rel.text.k", REL, 1, rel(8, 2, ADDRESS))]);
    let program = import(&bytes, None).program;
    assert_eq!(program.targets, BTreeMap::from([(0x28, vec![0x30])]));
}

/// Bits that the unit ignores may change in any way; the target of one of its instructions only by a whole address.
#[test]
fn relocations_that_are_refused() {
    let one = |word, kind, data: Vec<u8>| {
        let parts = [kernel("k", ".text.k", word), function("f", ".text.f", NOP)];
        cubin(&parts, &[(".rel.text.k", kind, 1, data)])
    };
    let changes = [rel(8, 99, 1), rel(0x14, 2, 0x2c), rel(0, 2, ADDRESS)].concat();
    let Loaded { program, warnings } = import(&one(NOP, REL, changes), None);
    assert_eq!(program.words[..4], [CONTROL, NOP, EXIT, NOP]);
    assert_eq!(warnings, [""; 0]);
    for (word, kind, data, error) in [
        (
            SSY,
            REL,
            rel(0xc, 2, ADDRESS),
            "changes the SSY at 0x0008, whose target is relative",
        ),
        (
            BRX,
            RELA,
            rela(8, 2, ADDRESS, 0),
            "changes the BRX at 0x0008, whose target is relative",
        ),
        (
            JCAL,
            REL,
            rel(8, 2, 0x2b),
            "changes the JCAL at 0x0008 by type 43, where type 42 has its address",
        ),
        (
            JCAL,
            REL,
            rel(0xc, 2, ADDRESS),
            "changes the JCAL at 0x0008 by type 42, where type 42 has its address",
        ),
        (
            JCAL,
            REL,
            rel(8, 1, ADDRESS),
            "changes the JCAL at 0x0008 to symbol 1, which is not a function",
        ),
        (
            JCAL,
            REL,
            rel(8, 3, ADDRESS),
            "changes the JCAL at 0x0008 to symbol 3, which is not a function",
        ),
        (
            NOP,
            REL,
            rel(0x20, 2, 1),
            "changes byte 32, and the code has 32",
        ),
        (
            NOP,
            RELA,
            rela(u64::MAX, 2, 1, 0),
            "changes byte 18446744073709551615, and the code has 32",
        ),
        (
            NOP,
            REL,
            vec![0; 15],
            "must be relocations of 16 bytes, not 15 bytes",
        ),
        (
            NOP,
            RELA,
            vec![0; 32],
            "must be relocations of 24 bytes, not 32 bytes",
        ),
    ] {
        let bytes = one(word, kind, data);
        assert_eq!(refused(&bytes, None), format!("x: .rel.text.k: {error}"));
    }
    // A function that is not made of bundles, and one that begins behind its section.
    let calls = [(".rel.text.k", REL, 1, rel(8, 2, ADDRESS))];
    let k = kernel("k", ".text.k", JCAL);
    let short = Part {
        words: vec![NOP; 3],
        ..function("f", ".text.f", NOP)
    };
    let e = refused(&cubin(&[k.clone(), short], &calls), None);
    assert_eq!(e, "x: .text.f: must be bundles of 32 bytes, not 24 bytes");
    let behind = Part {
        value: 32,
        ..function("f", ".text.f", NOP)
    };
    let e = refused(&cubin(&[k, behind], &calls), None);
    let why = "changes the JCAL at 0x0008 to symbol 2, which is not a function";
    assert_eq!(e, format!("x: .rel.text.k: {why}"));
}

#[test]
fn a_kernel_and_what_it_calls_have_room_together() {
    let with = |bundles: usize| {
        let parts = [
            kernel("k", ".text.k", JCAL),
            Part {
                words: vec![NOP; 4 * bundles],
                ..function("f", ".text.f", NOP)
            },
        ];
        cubin(&parts, &[(".rel.text.k", REL, 1, rel(8, 2, ADDRESS))])
    };
    let words = import(&with(MAX_BUNDLES - 1), None).program.words;
    assert_eq!(words.len(), 4 * MAX_BUNDLES);
    assert_eq!(
        refused(&with(MAX_BUNDLES), None),
        "x: program: 16385 bundles, more than 16384"
    );
}

/// A function that many kernels call is read for each of them, up to a limit.
#[test]
fn a_list_of_many_kernels_that_call_the_same_has_an_end() {
    let names: Vec<String> = (0..200).map(|i| format!(".text.k{i}")).collect();
    let mut parts = vec![Part {
        words: vec![NOP; 4000],
        ..function("f", ".text.f", NOP)
    }];
    parts.extend(names.iter().map(|name| kernel(&name[6..], name, JCAL)));
    let more: Vec<(&str, u32, u32, Vec<u8>)> = (2..=201)
        .map(|section| (".rel", REL, section, rel(8, 1, ADDRESS)))
        .collect();
    let listed = kernels(&cubin(&parts, &more), "x").unwrap();
    let (first, last) = (&listed[0], &listed[199]);
    assert_eq!((first.bytes, &first.problem), (Some(32_032), &None));
    let why = "program: the kernels before it have too many bytes together";
    assert_eq!(last.problem.as_deref(), Some(why));
    assert_eq!(last.bytes, Some(32));
}

#[test]
fn what_a_build_refuses_is_said_once_for_each_kind() {
    let mut part = kernel("k", ".text.k", 0xe3a0_0000_0000_00c0);
    part.words.extend([
        1 << 63,
        0xe350_0000_0007_0018,
        0xe290_0000_0000_0020,
        0xe3f0_0000_0000_0000,
    ]);
    part.words
        .extend([CONTROL, 0xe3a0_0000_0000_0000, 0xe250_0000_0007_003e, JMX]);
    part.words
        .extend([CONTROL, JMX, NOP, 0xe200_0000_0007_001e]);
    let Loaded { program, warnings } = import(&cubin(&[part], &[]), None);
    assert_eq!(
        warnings,
        [
            "0x0020: bit 63 of a control word is 1",
            "0x0030: offset in a constant bank, which is taken as 0",
            "0x0058, 0x0068, 0x0078: BRX or JMX for which the cubin has no target; its register will be 0",
        ]
    );
    let said = |parameters: &[&str], program: &Program| {
        let parameters = parameters.iter().map(|name| ((*name).to_owned(), 1));
        let build = Build {
            parameters: parameters.collect(),
            ..Build::from(32)
        };
        Spa5::refused(program, &build)
    };
    let always = [
        "2 BPT, the first at 0x0008: error 10 (UNSUPPORTED)",
        "1 of an opcode without a name, at 0x0038: error 9 (ILLEGAL)",
        "1 BRX by a constant bank, at 0x0050: error 10 (UNSUPPORTED)",
    ];
    let [bpt, illegal, bank] = always;
    let cont =
        "1 CONT CC.CSM_TA, at 0x0028: error 10 (UNSUPPORTED) unless the unit is built with CSM=1";
    let jmx =
        "3 JMX, the first at 0x0058: error 10 (UNSUPPORTED) unless the unit is built with BRX=1";
    let rle = "1 JMX CC.RLE, at 0x0078: error 10 (UNSUPPORTED) unless the unit is built with CSM=1";
    assert_eq!(said(&[], &program), [bpt, cont, illegal, bank, jmx]);
    assert_eq!(said(&["CSM"], &program), [bpt, illegal, bank, jmx]);
    assert_eq!(said(&["BRX"], &program), [bpt, cont, illegal, bank, rle]);
    assert_eq!(said(&["BRX", "CSM"], &program), always);
    // Addresses as they are in the program's place.
    let moved = said(&["BRX", "CSM"], &program.at(0x1000));
    assert_eq!(
        moved[0],
        "2 BPT, the first at 0x1008: error 10 (UNSUPPORTED)"
    );
}

/// Recognised by its header, not by its name.
#[test]
fn a_cubin_is_told_from_other_files() {
    let told = |bytes: &[u8]| Spa5::recognises(bytes);
    let mut bytes = real("k01_ifelse.12.9.O3");
    assert_eq!(
        told(&bytes),
        Some(("a cubin for sm_50 (Maxwell)".to_owned(), true))
    );
    bytes[48] = 90;
    let other = "a cubin for sm_90 (Ampere or later)".to_owned();
    assert_eq!(told(&bytes), Some((other, false)));
    assert_eq!(told(&bytes[..48]), None);
    bytes[4] = 1;
    assert_eq!(told(&bytes), None);
    assert_eq!(told(b"EXIT"), None);
    assert_eq!(told(b""), None);
}
