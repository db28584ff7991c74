//! Objects of LLVM's r600 back end: what is taken from good ones, and what is said of bad ones.
//!
//! Good objects are held against the assembly listing that the same compiler wrote
//! (`tb/programs/r700/llvm/*.s`) and against r700-8.2. Bad ones are good ones with bytes changed.

use std::fs;
use std::path::{Path, PathBuf};

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use reconverge::elf::{LONGEST_SYMBOL, MOST_FUNCTIONS};
use reconverge::r700::asm::{assemble, hex_text, parse_hex, program_text};
use reconverge::r700::import::{functions, list, load};
use reconverge::r700::program::{MOST_QUADS, Program, Quad};
use reconverge::unit::{LoadOptions, Loaded};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tb/programs/r700/llvm");

fn object(name: &str) -> Vec<u8> {
    fs::read(format!("{FOLDER}/{name}.o")).unwrap()
}

fn which(choice: &str) -> LoadOptions {
    LoadOptions {
        which: Some(choice.to_owned()),
        ..LoadOptions::default()
    }
}

fn import(bytes: &[u8], choice: Option<&str>) -> Loaded<Program> {
    let options = choice.map(which).unwrap_or_default();
    load(bytes, "dir/x.o", &options).unwrap_or_else(|e| panic!("{e}"))
}

/// What is said of a bad file.
fn refused(bytes: &[u8], choice: Option<&str>) -> String {
    let options = choice.map(which).unwrap_or_default();
    match load(bytes, "x.o", &options) {
        Err(e) => e.to_string(),
        Ok(p) => panic!("accepted: {p:?}"),
    }
}

// ---- listings -----------------------------------------------------------------------------------------

/// An instruction of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Listed {
    /// Both words.
    Words(u32, u32),
    /// Both words but for the constant caches, and where the clause begins.
    Clause(u32, u32),
    /// EXPORT or EXPORT_DONE: the listing has neither register numbers nor END.
    Export,
}

/// A function of a listing.
#[derive(Debug, Default)]
struct Listing {
    name: String,
    quads: Vec<Listed>,
    stack_size: Option<u8>,
    /// Clauses with an instruction that updates the execute mask, by address.
    updates: Vec<u32>,
}

fn number(text: &str) -> u32 {
    text.parse().unwrap_or_else(|_| panic!("{text:?}"))
}

/// An instruction as llc prints it, with the opcode numbers of r700-2.5.
fn instruction(line: &str) -> Option<Listed> {
    let words: Vec<&str> = line
        .split_whitespace()
        .map(|w| w.trim_end_matches(','))
        .collect();
    let at = |i: usize| number(words[i].strip_prefix('@').unwrap());
    let pops = |i: usize| number(words[i].strip_prefix("POP:").unwrap());
    let alu = |opcode: u32| {
        // KC0[CB0:0-32]: 32 constants of buffer 0 from 0 on, two lines of 16.
        let (mut banks, mut lines) = (0, 0);
        if let Some(window) = words[3]
            .strip_prefix("KC0[CB")
            .and_then(|w| w.strip_suffix(']'))
        {
            let (bank, range) = window.split_once(':').unwrap();
            let (low, high) = range.split_once('-').unwrap();
            let (low, high) = (number(low), number(high));
            banks = number(bank) << 22 | ((high - low) / 16) << 30;
            lines = (low / 16) << 2;
        } else {
            assert_eq!(words[3], "KC0[]", "{line}");
        }
        assert_eq!(words[4], "KC1[]", "{line}");
        let count = number(words[1]);
        Listed::Clause(at(2) | banks, 1 << 31 | opcode << 26 | count << 18 | lines)
    };
    let cf = |addr: u32, opcode: u32, pops: u32| Listed::Words(addr, 1 << 31 | opcode << 23 | pops);
    Some(match words[0] {
        "ALU" => alu(8),
        "ALU_PUSH_BEFORE" => alu(9),
        "ALU_POP_AFTER" => alu(10),
        "TEX" => Listed::Words(at(2), 1 << 31 | 1 << 23 | number(words[1]) << 10),
        "END_LOOP" => cf(at(1), 5, 0),
        "LOOP_START_DX10" => cf(at(1), 6, 0),
        "LOOP_BREAK" => cf(at(1), 9, 0),
        "JUMP" => cf(at(1), 10, pops(2)),
        "ELSE" => cf(at(1), 13, pops(2)),
        "POP" => cf(at(1), 14, pops(2)),
        "EXPORT" => Listed::Export,
        "CF_END" => Listed::Words(0, 0x8020_0000),
        // A zero quadword that makes the next address even; not of the CF program.
        "PAD" => return None,
        other => panic!("{other}"),
    })
}

fn listings(text: &str) -> Vec<Listing> {
    let mut found: Vec<Listing> = Vec::new();
    let mut now = Listing::default();
    let mut clause: Option<u32> = None;
    let mut inside = false;
    for line in text.lines() {
        if let Some(rest) = line.split_once("; -- Begin function ") {
            now.name = rest.1.trim().to_owned();
        } else if line.starts_with("; %bb.0:") {
            (inside, clause) = (true, None);
        } else if line.starts_with(".Lfunc_end") {
            inside = false;
        } else if let Some(size) = line.trim().strip_prefix(";SQ_PGM_RESOURCES:STACK_SIZE = ") {
            now.stack_size = Some(size.parse().unwrap());
            found.push(std::mem::take(&mut now));
        } else if !inside {
        } else if let Some((_, at)) = line.split_once("clause starting at ") {
            clause = Some(number(at.trim_end_matches(':')));
        } else if let Some(at) = clause {
            if line.contains("ExecMask") {
                now.updates.push(at);
            }
        } else {
            now.quads.extend(instruction(line));
        }
    }
    found
}

/// Holds all functions of an object against its listing: how many instructions, and with u.
fn check_listing(path: &Path) -> [usize; 3] {
    let bytes = fs::read(path).unwrap();
    let listings = listings(&fs::read_to_string(path.with_extension("s")).unwrap());
    let here = path.display();
    let listed = functions(&bytes, "x.o").unwrap();
    assert!(!listings.is_empty(), "{here}");
    assert_eq!(listed.len(), listings.len(), "{here}");
    let (mut instructions, mut with_u) = (0, 0);
    for (n, (listing, function)) in (1..).zip(listings.iter().zip(&listed)) {
        let got = import(&bytes, Some(&n.to_string()));
        assert_eq!(got.warnings, [""; 0], "{here}");
        // It survives being written as text.
        let mut again = assemble(&program_text(&got.program), "x.s").unwrap();
        again.name.clone_from(&got.program.name);
        assert_eq!(again, got.program, "{here}");
        again = parse_hex(&hex_text(&got.program), "x.hex").unwrap();
        again.name.clone_from(&got.program.name);
        assert_eq!(again, got.program, "{here}");
        let Program { name, regs, quads } = got.program;
        assert_eq!(name, listing.name, "{here}");
        assert_eq!(regs.entry, 0, "{here}");
        assert_eq!(Some(regs.stack_size), listing.stack_size, "{here}");
        assert_eq!((regs.bool_const, regs.loop_const), (0, [0; 32]), "{here}");
        assert_eq!(regs.prog_len as usize, listing.quads.len(), "{here}");
        assert_eq!(quads.len(), listing.quads.len(), "{here}");
        for (i, (quad, expected)) in quads.iter().zip(&listing.quads).enumerate() {
            let Quad { dw0, dw1, u } = *quad;
            let place = format!("{here} {name} quad {i}: {dw0:08x} {dw1:08x}");
            match *expected {
                Listed::Words(w0, w1) => assert_eq!((dw0, dw1, u), (w0, w1, false), "{place}"),
                Listed::Clause(w0, w1) => {
                    let updates = listing.updates.contains(&(w0 & 0x3f_ffff));
                    assert_eq!((dw0, dw1, u), (w0, w1, updates), "{place}");
                    with_u += usize::from(u);
                }
                // Opcodes 39 and 40.
                Listed::Export => {
                    assert!(matches!(dw1 >> 23 & 0x7f, 39 | 40) && !u, "{place}");
                }
            }
            instructions += 1;
        }
        assert_eq!(function.number, n, "{here}");
        assert_eq!(function.name, name, "{here}");
        assert_eq!(function.instructions, Some(quads.len()), "{here}");
        assert_eq!(function.stack_size, listing.stack_size, "{here}");
        assert_eq!(function.problem, None, "{here}");
    }
    [listings.len(), instructions, with_u]
}

fn objects() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(FOLDER)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "o"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn objects_agree_with_the_compilers_listings() {
    let paths = objects();
    let mut sum = [0; 3];
    for path in &paths {
        for (sum, n) in sum.iter_mut().zip(check_listing(path)) {
            *sum += n;
        }
    }
    // Objects; functions, instructions, clauses with u.
    assert_eq!((paths.len(), sum), (OBJECTS, COUNTS));
}

const OBJECTS: usize = 46;
const COUNTS: [usize; 3] = [52, 925, 188];

/// The example of r700-8.2, word for word.
#[test]
fn the_example_of_the_spec() {
    const U: bool = true;
    let rows = [
        (0x8000_0014, 0xa044_0000, false),
        (0x0000_000d, 0x8300_0000, false),
        (0x0000_0026, 0xa434_0000, U),
        (0x0000_0008, 0x8500_0001, false),
        (0x0000_0034, 0xa41c_0000, U),
        (0x0000_0007, 0x8500_0001, false),
        (0x0000_003c, 0xa814_0000, false),
        (0x0000_0008, 0x8700_0001, false),
        (0x0000_0042, 0xa408_0000, U),
        (0x0000_000c, 0x8500_0001, false),
        (0x0000_000c, 0x8480_0000, false),
        (0x0000_000c, 0x8700_0001, false),
        (0x0000_0002, 0x8280_0000, false),
        (0x0000_0045, 0xa404_0000, U),
        (0x0000_0010, 0x8500_0001, false),
        (0x0000_0047, 0xa804_0000, false),
        (0x0000_0049, 0xa000_0000, false),
        (0xc000_0000, 0x9420_0b08, false),
        (0x0000_0000, 0x8020_0000, false),
    ];
    let got = import(&object("k05_breakn"), None);
    let quads: Vec<_> = got
        .program
        .quads
        .iter()
        .map(|q| (q.dw0, q.dw1, q.u))
        .collect();
    assert_eq!(quads, rows);
    assert_eq!(got.program.regs.prog_len, 19);
    assert_eq!(got.program.regs.stack_size, 2);
    let listed = functions(&object("k05_breakn"), "x.o").unwrap();
    assert_eq!(listed[0].gprs, Some(7));
}

/// A pixel shader: its registers stand at 0x28850, and a fetch clause lies before the ALU clauses.
#[test]
fn a_pixel_shader_with_a_fetch_clause() {
    let got = import(&object("texture_loop"), None).program;
    assert_eq!(
        got.quads[3],
        Quad {
            dw0: 14,
            dw1: 0x8080_0000,
            u: false
        }
    );
    assert_eq!((got.regs.stack_size, got.regs.prog_len), (2, 13));
    assert_eq!(
        functions(&object("texture_loop"), "x").unwrap()[0].gprs,
        Some(3)
    );
}

// ---- several functions ----------------------------------------------------------------------------------

#[test]
fn an_object_with_several_functions() {
    let bytes = object("several");
    assert_eq!(
        list(&bytes, "several.o").unwrap(),
        [
            "1  helper, 1 CF instructions, 2 quadwords, STACK_SIZE 0, 1 GPRs",
            "2  search, 16 CF instructions, 38 quadwords, STACK_SIZE 3, 4 GPRs",
            "3  straight, 3 CF instructions, 7 quadwords, STACK_SIZE 0, 1 GPRs",
            "4  branch, 5 CF instructions, 17 quadwords, STACK_SIZE 1, 2 GPRs",
        ]
    );
    for (n, name) in (1..).zip(["helper", "search", "straight", "branch"]) {
        let by_name = import(&bytes, Some(name));
        assert_eq!(by_name.program.name, name);
        assert_eq!(
            by_name.program,
            import(&bytes, Some(&format!("{n}"))).program
        );
    }
    let there = "x.o: which: there are 4 functions, 1 helper, 2 search, 3 straight, 4 branch";
    assert_eq!(
        refused(&bytes, None),
        format!("{there}; choose one by number or name")
    );
    for choice in ["0", "5", "-1", "Branch", "", "99999999999999999999"] {
        assert_eq!(
            refused(&bytes, Some(choice)),
            format!("{there}, not {choice:?}")
        );
    }
    // `straight` called `branch` as well.
    let strtab = section(&bytes, ".strtab");
    let offset = strtab.offset + find(&bytes[strtab.range()], b"\0straight\0") + 1;
    let mut twice = bytes.clone();
    let symbols = section(&bytes, ".symtab");
    let at = (symbols.offset..)
        .step_by(16)
        .filter(|at| bytes[at + 12] & 15 == 2)
        .nth(2)
        .unwrap();
    let name = find(&bytes[strtab.range()], b"\0branch\0") + 1;
    put(&mut twice, at, name as u32);
    assert_eq!(
        refused(&twice, Some("branch")),
        "x.o: which: functions 3 and 4 are both called \"branch\"; choose by number"
    );
    assert_eq!(import(&twice, Some("3")).program.quads.len(), 3);
    // A function called like a number is found by its name.
    let mut named = bytes.clone();
    named[offset..offset + 2].copy_from_slice(b"2\0");
    assert_eq!(import(&named, Some("2")).program.name, "2");
    assert_eq!(import(&named, Some("3")).program.name, "2");
    // One function needs no choice, and takes one.
    let one = object("k01_ifelse");
    assert_eq!(import(&one, Some("1")).program, import(&one, None).program);
    assert_eq!(
        import(&one, Some("k01_ifelse")).program,
        import(&one, None).program
    );
    assert_eq!(
        refused(&one, Some("2")),
        "x.o: which: there is one function, 1 k01_ifelse, not \"2\""
    );
}

/// The same in a section each.
#[test]
fn functions_in_sections_of_their_own() {
    let (together, apart) = (object("several"), object("several_sections"));
    assert_eq!(list(&together, "x").unwrap(), list(&apart, "x").unwrap());
    for n in ["1", "2", "3", "4"] {
        assert_eq!(
            import(&together, Some(n)).program,
            import(&apart, Some(n)).program
        );
    }
}

/// A function with a problem is listed with it, and the others can be had.
#[test]
fn a_bad_function_among_good_ones() {
    let mut bytes = object("several");
    let text = section(&bytes, ".text");
    // The JUMP of `search`.
    put(&mut bytes, text.offset + 0x100 + 8, 16);
    let problem = "quad 1 ADDR: 16, and the CF program has 16 quads";
    assert_eq!(
        list(&bytes, "several.o").unwrap()[1],
        format!("2  search, 38 quadwords, STACK_SIZE 3, 4 GPRs, {problem}")
    );
    assert_eq!(refused(&bytes, Some("search")), format!("x.o: {problem}"));
    assert_eq!(import(&bytes, Some("branch")).program.quads.len(), 5);
}

#[test]
fn names_become_part_of_file_names() {
    let mut bytes = object("k01_ifelse");
    let strtab = section(&bytes, ".strtab");
    let at = strtab.offset + find(&bytes[strtab.range()], b"\0k01_ifelse\0") + 1;
    bytes[at..at + 4].copy_from_slice(b"a/\x1b\xff");
    assert_eq!(import(&bytes, None).program.name, "a___ifelse");
    assert_eq!(
        refused(&bytes, Some("b")),
        "x.o: which: there is one function, 1 a___ifelse, not \"b\""
    );
    bytes[at] = 0;
    assert_eq!(import(&bytes, None).program.name, "x", "the file's stem");
    // As long as names may be, and longer.
    for (length, expected) in [(LONGEST_SYMBOL, Some(200)), (LONGEST_SYMBOL + 1, None)] {
        let mut long = object("k01_ifelse");
        let end = long.len();
        let mut names = long[strtab.range()].to_vec();
        let offset = names.len();
        names.resize(offset + length, b'n');
        names.push(0);
        long.extend_from_slice(&names);
        put(&mut long, strtab.header + 16, end as u32);
        put(&mut long, strtab.header + 20, names.len() as u32);
        put(&mut long, function(&object("k01_ifelse")), offset as u32);
        match expected {
            Some(taken) => assert_eq!(import(&long, None).program.name, "n".repeat(taken)),
            None => assert_eq!(
                refused(&long, None),
                "x.o: st_name: symbol 2 has no name in the string table"
            ),
        }
    }
}

/// Neither text form is taken for an object, and the other way round.
#[test]
fn files_are_recognised_by_content() {
    for text in ["NOP\n", "; only a comment\nNOP\n", "\u{feff}NOP\n"] {
        let got = load(text.as_bytes(), "x.hex", &LoadOptions::default()).unwrap();
        assert_eq!(
            got.program,
            assemble(text.trim_start_matches('\u{feff}'), "x.hex").unwrap()
        );
        assert!(got.warnings.is_empty());
        for choice in ["1", "x"] {
            assert_eq!(import(text.as_bytes(), Some(choice)).program.name, "x");
        }
        assert_eq!(
            refused(text.as_bytes(), Some("2")),
            "x.o: which: there is one program, 1 x, not \"2\""
        );
    }
    for text in ["00000000 80200000\n", "; comment\n0x00000000 0x80200000\n"] {
        let got = load(text.as_bytes(), "x.s", &LoadOptions::default()).unwrap();
        assert_eq!(got.program, parse_hex(text, "x.s").unwrap());
        assert_eq!(got.program.quads.len(), 1);
    }
    let object = object("k01_ifelse");
    for file in ["x.s", "x.hex", "x"] {
        let got = load(&object, file, &LoadOptions::default()).unwrap();
        assert_eq!(got.program.name, "k01_ifelse");
    }
    assert_eq!(
        refused(b"NOP\n\xff", None),
        "x.o:2: file: is not UTF-8 text from byte 4 on"
    );
    let e = list(b"NOP\n", "x.s").unwrap_err().to_string();
    assert_eq!(
        e,
        "x.s: file: is no ELF object; only such a file holds several programs"
    );
}

/// GPUs of the R600 and R700 families, as `llc -mcpu` numbers them; others have other CF words.
#[test]
fn objects_for_other_gpus() {
    let mut bytes = object("k01_ifelse");
    let program = import(&bytes, None).program;
    for (flags, warning) in [
        (
            1,
            Some("made for r600, of the family before; its CF words mean the same"),
        ),
        (
            2,
            Some("made for r630, of the family before; its CF words mean the same"),
        ),
        (
            3,
            Some("made for rs880, of the family before; its CF words mean the same"),
        ),
        (
            4,
            Some("made for rv670, of the family before; its CF words mean the same"),
        ),
        (5, None),
        (6, None),
        (7, None),
    ] {
        put(&mut bytes, 36, flags);
        let got = import(&bytes, None);
        assert_eq!(got.program, program, "{flags}");
        assert_eq!(got.warnings, Vec::from_iter(warning), "{flags}");
    }
    let known = "R600 and R700 are 0x1 to 0x7, rv770 is 0x7";
    let after = "is a GPU of the families after, Evergreen and Cayman, which have other CF words";
    let gcn = "is a GPU of another architecture, GCN or later";
    for (flags, why) in [
        (0, "is no GPU"),
        (8, after),
        (0x10, after),
        (0x11, "is no GPU"),
        (0x20, gcn),
        (0xff, gcn),
        (0x107, "is no GPU"),
        (u32::MAX, "is no GPU"),
    ] {
        put(&mut bytes, 36, flags);
        let expected = format!("x.o: e_flags: 0x{flags:x} {why}; {known}");
        assert_eq!(refused(&bytes, None), expected);
        assert_eq!(list(&bytes, "x.o").unwrap_err().to_string(), expected);
    }
}

// ---- objects with other contents ------------------------------------------------------------------------

/// Where a section and its header lie in a file.
struct Section {
    header: usize,
    offset: usize,
    size: usize,
}

impl Section {
    fn range(&self) -> std::ops::Range<usize> {
        self.offset..self.offset + self.size
    }
}

fn get(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn put(bytes: &mut [u8], at: usize, word: u32) {
    bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
}

fn find(bytes: &[u8], what: &[u8]) -> usize {
    bytes.windows(what.len()).position(|w| w == what).unwrap()
}

/// A section by name. All of LLVM's names are in `.strtab`, section 1.
fn section(bytes: &[u8], name: &str) -> Section {
    let headers = get(bytes, 32) as usize;
    let strings = get(bytes, headers + 40 + 16) as usize;
    (0..usize::from(bytes[48]))
        .map(|i| headers + 40 * i)
        .find(|h| {
            let at = strings + get(bytes, *h) as usize;
            bytes[at..].starts_with(format!("{name}\0").as_bytes())
        })
        .map(|header| Section {
            header,
            offset: get(bytes, header + 16) as usize,
            size: get(bytes, header + 20) as usize,
        })
        .unwrap()
}

/// The symbol of the first function.
fn function(bytes: &[u8]) -> usize {
    (section(bytes, ".symtab").offset..)
        .step_by(16)
        .find(|at| bytes[at + 12] & 15 == 2)
        .unwrap()
}

/// An object of one function with these quadwords.
fn with_code(quads: &[(u32, u32)]) -> Vec<u8> {
    let mut bytes = object("k01_ifelse");
    let (text, symbol, end) = (section(&bytes, ".text"), function(&bytes), bytes.len());
    for (w0, w1) in quads {
        bytes.extend_from_slice(&w0.to_le_bytes());
        bytes.extend_from_slice(&w1.to_le_bytes());
    }
    put(&mut bytes, text.header + 16, end as u32);
    put(&mut bytes, text.header + 20, 8 * quads.len() as u32);
    put(&mut bytes, symbol + 8, 8 * quads.len() as u32);
    bytes
}

const NOP_END: (u32, u32) = (0, 0x8020_0000);
/// `W0[31]`: the last instruction of a group.
const LAST: u32 = 1 << 31;
/// The execute-mask bit of the two-operand form.
const MASK: u32 = 1 << 2;
/// A three-operand form: any opcode with a bit in `W1[17:15]`.
const THREE: u32 = 1 << 15;
/// The selector of a literal.
const LITERAL: u32 = 253;

/// ALU, or what `opcode` is, with a clause of `slots` at `addr`.
fn alu(opcode: u32, addr: u32, slots: usize) -> (u32, u32) {
    (addr, 1 << 31 | opcode << 26 | (slots as u32 - 1) << 18)
}

/// `u` of a clause, alone in a program, or the message.
fn u_of(clause: &[(u32, u32)]) -> Result<bool, String> {
    let mut quads = vec![alu(9, 2, clause.len()), NOP_END];
    quads.extend_from_slice(clause);
    let bytes = with_code(&quads);
    match load(&bytes, "x.o", &LoadOptions::default()) {
        Ok(loaded) => Ok(loaded.program.quads[0].u),
        Err(e) => Err(e.to_string()),
    }
}

/// Clauses as r700-2.7 says: groups, literals, forms.
#[test]
fn the_mask_bit_is_found_by_groups_and_literals() {
    // What a literal would be if it were read as an instruction.
    let trap = (LAST, MASK);
    let x = LITERAL;
    let (y, z, w) = (LITERAL | 1 << 10, LITERAL | 2 << 10, LITERAL | 3 << 10);
    let second = |channel: u32| LITERAL << 13 | channel << 23;
    let third = |channel: u32| LITERAL | channel << 10;
    for (clause, u) in [
        // One instruction, without and with the bit; other bits of the word do not count.
        (&[(LAST, 0)][..], false),
        (&[(LAST, MASK)], true),
        (&[(LAST, !MASK & !(7 << 15))], false),
        (&[(LAST, MASK | 1 << 3 | 0x45 << 7)], true),
        // In the three-operand form it is another bit: of the third selector.
        (&[(LAST, THREE | MASK)], false),
        (&[(LAST, THREE << 1 | MASK)], false),
        (&[(LAST, THREE << 2 | MASK)], false),
        (&[(LAST, 1 << 18 | MASK)], true),
        // In any group, at any place.
        (&[(0, MASK), (0, 0), (LAST, 0)], true),
        (&[(0, 0), (LAST, MASK)], true),
        (&[(LAST, 0), (LAST, 0), (LAST, MASK)], true),
        // Literals of channels x and y take one quadword, of z and w two.
        (&[(LAST | x, 0), trap], false),
        (&[(LAST | y, 0), trap], false),
        (&[(LAST | z, 0), trap, trap], false),
        (&[(LAST | w, 0), trap, trap], false),
        (&[(LAST | x, 0), trap, trap], true),
        (&[(LAST | y, 0), trap, trap], true),
        (&[(LAST | w, 0), trap, trap, trap], true),
        // The second and the third selector; the third in its own form only.
        (&[(LAST | second(0), 0), trap], false),
        (&[(LAST | second(3), 0), trap, trap], false),
        (&[(LAST, THREE | third(1)), trap], false),
        (&[(LAST, THREE | third(2)), trap, trap], false),
        (&[(LAST, third(2) & !(7 << 15)), (LAST, 0)], true),
        // The highest channel of the whole group decides, and it alone.
        (&[(x, 0), (LAST | second(2), 0), trap, trap], false),
        (&[(w, 0), (LAST, 0), trap, trap], false),
        (&[(w, 0), (LAST | x, 0), trap, trap, trap], true),
        (&[(LAST | w, 0), trap, trap, (LAST, 0)], false),
        (&[(LAST | w, 0), trap, trap, (LAST | x, 0), trap], false),
        // Channels of selectors that are no literals.
        (&[(LAST | 3 << 10 | 3 << 23 | 252, 0), (LAST, MASK)], true),
        (&[(LAST | 254, 0), (LAST, MASK)], true),
        (&[(LAST | (LITERAL | 256), 0), (LAST, MASK)], true),
        // What a literal holds does not end a clause, nor begin a group.
        (&[(LAST | z, 0), (0, MASK), (0, MASK)], false),
    ] {
        assert_eq!(u_of(clause), Ok(u), "{clause:x?}");
    }
    // 128 slots, the most.
    let mut long = vec![(LAST, 0); 128];
    assert_eq!(u_of(&long), Ok(false));
    long[127].1 = MASK;
    assert_eq!(u_of(&long), Ok(true));
    for (clause, why) in [
        (
            &[(0, 0)][..],
            "the group at its slot 0 has no last instruction (W0[31])",
        ),
        (
            &[(0, MASK), (0, 0)],
            "the group at its slot 0 has no last instruction (W0[31])",
        ),
        (
            &[(LAST, 0), (0, 0)],
            "the group at its slot 1 has no last instruction (W0[31])",
        ),
        (
            &[(LAST | x, 0)],
            "the literals of the group at its slot 0 reach beyond its end",
        ),
        (
            &[(LAST | z, 0), trap],
            "the literals of the group at its slot 0 reach beyond its end",
        ),
        (
            &[(LAST | z, 0), trap, trap, (LAST | z, 0), trap],
            "the literals of the group at its slot 3 reach beyond its end",
        ),
    ] {
        assert_eq!(
            u_of(clause),
            Err(format!("x.o: quad 0 clause: {why}")),
            "{clause:x?}"
        );
    }
}

/// What is accepted and still worth a word.
#[test]
fn warnings() {
    let last = (LAST, 0);
    let mask = (LAST, MASK);
    let never =
        |what: &str, at: &str| format!("{at}: {what}, which LLVM's r600 back end never emits");
    let cf = |opcode: u32| (1, 1 << 31 | opcode << 23);
    for (quads, expected) in [
        (vec![alu(9, 2, 1), NOP_END, mask], vec![]),
        (
            vec![alu(9, 2, 1), NOP_END, last],
            vec![never("ALU_PUSH_BEFORE without a mask update", "quad 0")],
        ),
        (
            vec![alu(8, 2, 1), NOP_END, mask],
            vec![never("ALU with a mask update", "quad 0")],
        ),
        (
            vec![alu(9, 2, 2), NOP_END, mask, mask],
            vec!["quad 0: clause with several mask updates, of which the last counts".to_owned()],
        ),
        (
            vec![cf(11), alu(13, 4, 1), cf(11), NOP_END, mask],
            vec![never("ALU_CONTINUE", "quad 1"), never("PUSH", "quads 0, 2")],
        ),
        (
            vec![
                (0, 0x8c00_0000 | 3 << 3),
                (0, 0x8c80_0000),
                cf(15),
                cf(12),
                alu(12, 6, 1),
                NOP_END,
                mask,
            ],
            vec![
                never("CF_CONST", "quad 0"),
                never("KILL", "quad 0"),
                never("PUSH_ELSE", "quad 3"),
                "quads 1, 2, 4: reserved opcode, error 1 (ILLEGAL)".to_owned(),
            ],
        ),
        (
            vec![(0, 0x9440_0000), (1, 2 << 8 | 1 << 13), NOP_END],
            vec![
                never("BARRIER 0", "quad 1"),
                never("CALL_COUNT", "quad 1"),
                never("COND", "quad 1"),
                never("VALID_PIXEL_MODE", "quad 0"),
            ],
        ),
        // A long list is cut.
        (
            [vec![(0, 0); 18], vec![NOP_END]].concat(),
            vec![never(
                "BARRIER 0",
                "quads 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 and 2 more",
            )],
        ),
    ] {
        let got = import(&with_code(&quads), None);
        assert_eq!(got.warnings, expected, "{quads:x?}");
    }
    let mut bytes = object("k01_ifelse");
    let config = section(&bytes, ".AMDGPU.config");
    for (stack_size, warned) in [(0, 0), (32, 0), (33, 1), (255, 1)] {
        put(&mut bytes, config.offset + 4, stack_size << 8 | 0xffff_0004);
        let got = import(&bytes, None);
        assert_eq!(u32::from(got.program.regs.stack_size), stack_size);
        assert_eq!(got.warnings.len(), warned);
    }
    assert_eq!(
        import(&bytes, None).warnings,
        ["STACK_SIZE is 255; a unit built with MAX_STACK_SIZE 32 has no more than these"]
    );
}

/// The places that a CF program names, at their limits and one beyond.
#[test]
fn places_outside_are_refused() {
    let last = (LAST, 0);
    let cf = |opcode: u32, addr: u32| (addr, 1 << 31 | opcode << 23);
    // Fetch clauses of n instructions.
    let tex = |addr: u32, n: u32| {
        (
            addr,
            0x8080_0000 | ((n - 1) & 7) << 10 | ((n - 1) >> 3) << 19,
        )
    };
    let field = |field: &str, why: &str| Some(format!("x.o: {field}: {why}"));
    let no_end = "no 00000000 80200000 (NOP, END)";
    for (quads, expected) in [
        (vec![alu(8, 2, 1), NOP_END, last], None),
        (
            vec![alu(8, 3, 1), NOP_END, last],
            field(
                "quad 0 ADDR",
                "the clause begins at 3, and the function has 3 quads",
            ),
        ),
        (
            vec![alu(8, 0x3f_ffff, 1), NOP_END, last],
            field(
                "quad 0 ADDR",
                "the clause begins at 4194303, and the function has 3 quads",
            ),
        ),
        (
            vec![alu(8, 2, 2), NOP_END, last],
            field(
                "quad 0 COUNT",
                "the clause has 2 quads from 2 on, and the function 3",
            ),
        ),
        (
            vec![cf(0, 0), alu(8, 1, 1), NOP_END],
            field("quad 1 ADDR", "the clause begins at 1, in the CF program"),
        ),
        (
            vec![cf(0, 0), alu(8, 0, 1), NOP_END],
            field("quad 1 ADDR", "the clause begins at 0, in the CF program"),
        ),
        // The END that follows lies in the clause.
        (
            vec![alu(8, 1, 1), (LAST, 0x8020_0000), NOP_END],
            field(
                "CF program",
                &format!("{no_end} before quad 1, where the clause of quad 0 begins"),
            ),
        ),
        (
            vec![alu(8, 3, 1), alu(8, 2, 1), last, last, NOP_END],
            field(
                "CF program",
                &format!("{no_end} before quad 2, where the clause of quad 1 begins"),
            ),
        ),
        (vec![tex(2, 1), NOP_END, last, last], None),
        (
            vec![tex(2, 2), NOP_END, last, last, last],
            field(
                "quad 0 COUNT",
                "the clause has 4 quads from 2 on, and the function 5",
            ),
        ),
        ([&[tex(2, 16), NOP_END][..], &[last; 32]].concat(), None),
        (
            [&[tex(2, 16), NOP_END][..], &[last; 31]].concat(),
            field(
                "quad 0 COUNT",
                "the clause has 32 quads from 2 on, and the function 33",
            ),
        ),
        (
            vec![tex(u32::MAX, 16), NOP_END],
            field(
                "quad 0 ADDR",
                "the clause begins at 4294967295, and the function has 2 quads",
            ),
        ),
        // END alone, and a word that only resembles it.
        (vec![NOP_END], None),
        (
            vec![(1, 0x8020_0000)],
            field(
                "CF program",
                &format!("{no_end} in the 1 quads of the function"),
            ),
        ),
        (
            vec![cf(0, 0), (0, 0x0020_0000)],
            field(
                "CF program",
                &format!("{no_end} in the 2 quads of the function"),
            ),
        ),
        (vec![cf(10, 1), NOP_END], None),
        (
            vec![cf(10, 2), NOP_END],
            field("quad 0 ADDR", "2, and the CF program has 2 quads"),
        ),
        (
            vec![cf(5, u32::MAX), NOP_END, last],
            field("quad 0 ADDR", "4294967295, and the CF program has 2 quads"),
        ),
        (
            vec![cf(13, 2), NOP_END, last],
            field("quad 0 ADDR", "2, and the CF program has 2 quads"),
        ),
        // POP and TEX jump nowhere.
        (vec![cf(14, 77), NOP_END], None),
    ] {
        let bytes = with_code(&quads);
        let got = load(&bytes, "x.o", &LoadOptions::default()).map_err(|e| e.to_string());
        assert_eq!(got.err(), expected, "{quads:x?}");
    }
    // As long as a program may be, and longer.
    let mut quads = vec![(0, 1 << 31); MOST_QUADS - 1];
    quads.push(NOP_END);
    assert_eq!(
        import(&with_code(&quads), None).program.quads.len(),
        MOST_QUADS
    );
    quads.insert(0, (0, 1 << 31));
    assert_eq!(
        refused(&with_code(&quads), None),
        format!("x.o: CF program: {no_end} in {MOST_QUADS} quads, the most there may be")
    );
}

// ---- damaged files --------------------------------------------------------------------------------------

/// One thing wrong with `k01_ifelse.o`, and what is said.
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
    let pairs = "bytes are no pairs of register and value, 8 each";
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
        (byte(4, 2), format!("EI_CLASS: 2, where {what} has 1 (32 bits)")),
        (byte(4, 0), format!("EI_CLASS: 0, where {what} has 1 (32 bits)")),
        (byte(5, 2), format!("EI_DATA: 2, where {what} has 1 (little-endian)")),
        (byte(6, 0), "EI_VERSION: 0, where there is no version of ELF but 1".to_owned()),
        (half(16, 2), format!("e_type: 2, where {what} has 1")),
        (half(18, 62), format!("e_machine: 62, where {what} has 224")),
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
        (half(50, 7), "e_shstrndx: section 7 is no string table within the file".to_owned()),
        (half(50, 0), "e_shstrndx: section 0 is no string table within the file".to_owned()),
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
            "e_shstrndx: section 1 is no string table within the file".to_owned(),
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
        (word(config.header + 20, 20), format!(".AMDGPU.config: 20 {pairs}")),
        (word(config.header + 20, 7), format!(".AMDGPU.config: 7 {pairs}")),
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
        (word(symbol + 8, 0), "st_size: 0 bytes are no function: 8 a quadword".to_owned()),
        (word(symbol + 8, 212), "st_size: 212 bytes are no function: 8 a quadword".to_owned()),
        (
            {
                let mut bytes = word(symbol + 4, 8);
                put(&mut bytes, symbol + 8, 208);
                bytes
            },
            "st_value: the function begins at byte 8, no multiple of 256".to_owned(),
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
    let bytes = with_symbols(MOST_FUNCTIONS, vec![(0, 1 << 31); MOST_QUADS - 1]);
    let listed = functions(&bytes, "x.o").unwrap();
    assert_eq!(listed.len(), MOST_FUNCTIONS);
    assert_eq!(listed[0].instructions, Some(MOST_QUADS));
    for function in &listed[1..] {
        assert_eq!(
            function.problem.as_deref(),
            Some("st_value: the function begins within \"k01_ifelse\"")
        );
    }
    assert_eq!(
        refused(&with_symbols(MOST_FUNCTIONS + 1, Vec::new()), None),
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
    // Neither outcome is rare.
    assert!(
        good > 1000 && bad > 1000 && problems > 1000,
        "{good} {bad} {problems}"
    );
}
