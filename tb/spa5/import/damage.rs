//! Damaged files.

use super::*;

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

/// Checks that an accepted program is whole, and that a refusal names file, field and reason. Returns whether it was accepted.
fn checked(bytes: &[u8], options: &LoadOptions) -> bool {
    match load(bytes, "x", options) {
        Ok(Loaded { program, .. }) => {
            assert!(!program.name.is_empty() && program.name.len() <= 200);
            assert!((4..=4 * MAX_BUNDLES).contains(&program.words.len()));
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
            // The assembler may quote any text.
            let text = !bytes.contains(&0);
            assert!(text || !e.to_string().contains(char::is_control), "{e}");
            false
        }
    }
}

#[test]
fn three_thousand_damaged_cubins() {
    let originals: Vec<Vec<u8>> = files("cubin", "cubin")
        .iter()
        .map(|path| fs::read(path).unwrap())
        .filter(|bytes| bytes.len() < 3000)
        .collect();
    assert!(originals.len() > 20, "{}", originals.len());
    let find = |bytes: &[u8], what: &[u8]| bytes.windows(what.len()).position(|w| w == what);
    let mut rng = Pcg64Mcg::seed_from_u64(0x50_e1f);
    let (mut good, mut bad, mut problems) = (0, 0, 0);
    for n in 0..3_000 {
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
            assert_eq!(kernel.problem.is_some(), kernel.indirect.is_none());
            problems += usize::from(kernel.problem.is_some());
        }
    }
    assert!(
        good > 300 && bad > 300 && problems > 150,
        "{good} {bad} {problems}"
    );
}

#[test]
#[ignore = "thousands of inputs; CI's step builds runs it"]
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
