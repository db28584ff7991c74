//! Damaged files.

use super::listings::objects;
use super::objects::{NOP_END, function, get, put, section, with_code};
use super::*;

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
