//! Objects against the listings that llc prints with them.

use super::*;

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

pub(super) fn objects() -> Vec<PathBuf> {
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
