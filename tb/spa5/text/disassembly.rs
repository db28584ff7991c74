//! Words to text and back.

use super::*;

#[test]
fn disassembly_says_what_is_peculiar() {
    let p = Program {
        entry: 0x20,
        prog_size: 0x60,
        targets: BTreeMap::from([(0x30, vec![0x58, 0x8]), (0x38, vec![])]),
        ..around(vec![NOP; 16])
    };
    for (pc, word, expected) in [
        (0x00, 1, ".control 0x0000000000000001"),
        (0x08, 0xe290_0000_0400_0000, "SSY 0x50;"),
        (0x08, 0xe290_0000_0300_0000, "SSY 0x40; // to 0x48"),
        (0x08, 0xe290_0000_0500_0000, "SSY 0x60; // TARGET_RANGE"),
        (0x08, 0xe290_0fff_fe80_0000, "SSY -0x8; // TARGET_RANGE"),
        (
            0x08,
            0xe290_0000_0040_0000,
            "SSY 0x14; // TARGET_MISALIGNED",
        ),
        (
            0x08,
            0xe290_0000_0400_000f,
            "SSY 0x50; /* 0xe29000000400000f */ // bits that the unit ignores",
        ),
        (
            0x08,
            0xe24f_0000_0000_000f,
            "@P0 BRA 0x10; /* 0xe24f00000000000f */ // bits that the unit ignores",
        ),
        (
            0x08,
            0xe250_0fff_f887_000f,
            "BRX R0 -0x78; // UNSUPPORTED unless the unit is built with BRX=1",
        ),
        (
            0x08,
            0xe290_001f_8000_0020,
            "SSY c[0x1][-0x800]; // the constant is 0x0: 0x10",
        ),
        (
            0x08,
            0xe350_0000_0007_001f,
            "CONT CC.RGT; // CC test: UNSUPPORTED unless the unit is built with CSM=1",
        ),
        (0x08, 0xe3a0_0000_0007_000f, "BPT; // UNSUPPORTED"),
        (
            0x08,
            0xe3a0_0000_0000_00c0,
            "BPT; /* 0xe3a00000000000c0 */ // UNSUPPORTED",
        ),
        (
            0x08,
            0xe3b0_0000_0007_000f,
            ".word 0xe3b000000007000f; // ILLEGAL",
        ),
        (0x08, 0x5c98_0780_0027_0003, "MOV; /* 0x5c98078000270003 */"),
        (0x08, 0, "X; /* 0x0000000000000000 */"),
        (
            0x08,
            0xe214_0110_0018_002f,
            "JMP c[0x11][0x1]; /* 0xe21401100018002f */ // UNSUPPORTED",
        ),
        (
            0x08,
            0xe200_0110_0017_042f,
            "JMX c[0x11][R4+0x1]; /* 0xe20001100017042f */ // UNSUPPORTED",
        ),
        // A RET with bits set that belong to no field is still a RET.
        (
            0x08,
            0xe322_d4f6_c57e_666f,
            "@!P6 RET; /* 0xe322d4f6c57e666f */ // bits that the unit ignores",
        ),
        (0x28, NOP, "NOP; // entry"),
        (
            0x30,
            0xf0f8_0000_0007_000f,
            "SYNC; // the compiler's targets: 0x58, 0x8",
        ),
        (
            0x38,
            0xf0f8_0000_0007_000f,
            "SYNC; // the compiler lists no target",
        ),
        (
            0x68,
            0xf0f8_0000_0008_000f,
            "@!P0 SYNC; // behind prog_size",
        ),
        (0xffff_fff8, NOP, "NOP; // behind prog_size"),
    ] {
        assert_eq!(disassemble(word, pc, &p), expected);
    }
}

#[test]
fn a_program_prints_as_a_listing() {
    let text = ".entry 0x8\n.targets S B\nB: SSY J\n@!P0 BRA J\nS: SYNC\nJ:\n.control 0x7\nX\nBRA 0x200\nEXIT";
    let p = assemble(text, "a/t.s").unwrap();
    assert_eq!(
        program_text(&p),
        "// t
.entry 0x8
.targets 0x18 0x8

        SSY .L_1;                        // 0008 to 0x28; entry
   @!P0 BRA .L_1;                        // 0010 to 0x28
        SYNC;                            // 0018 the compiler's targets: 0x8
.L_1:
        .control 0x0000000000000007      // 0020
        NOP;                             // 0028
        BRA 0x200;                       // 0030 TARGET_RANGE
        EXIT;                            // 0038
"
    );
    assert_eq!(
        hex_text(&p),
        "// t
.entry 0x8
.targets 0x18 0x8

0000 001fbc00fde007ef ; control
0008 e290000001000000 ; SSY 0x20; // to 0x28; entry
0010 e24000000088000f ; @!P0 BRA 0x20; // to 0x28
0018 f0f800000007000f ; SYNC; // the compiler's targets: 0x8
0020 0000000000000007 ; control
0028 50b0000000070f00 ; NOP;
0030 e24000001c87000f ; BRA 0x200; // TARGET_RANGE
0038 e30000000007000f ; EXIT;
"
    );
}

// ---- round trips -------------------------------------------------------------------------------------------------

/// A word: a form of the unit with random fields, with or without bits that are ignored, or anything.
fn any_word(rng: &mut Pcg64Mcg) -> u64 {
    let junk: u64 = rng.random();
    let op = rng.random_range(0xE20..=0xE3F_u64);
    match rng.random_range(0..6) {
        0 => junk,
        1 => op << 52 | junk >> 12,
        2 => 0xF0F8 << 48 | junk >> 13,
        // Targets near by, aligned or nearly.
        3 => {
            op << 52
                | ((rng.random_range(-64..64_i64) * 8) as u64 % (1 << 24)) << 20
                | junk & 0xf_00df
        }
        4 => Word::decode(op << 52 | junk >> 12).encode(),
        _ => NOP,
    }
}

fn any_program(rng: &mut Pcg64Mcg) -> Program {
    let bundles = rng.random_range(1..=6);
    let words = (0..4 * bundles)
        .map(|i| match (i % 4, rng.random_range(0..3)) {
            (0, 0) => rng.random(),
            (0, _) => CONTROL,
            _ => any_word(rng),
        })
        .collect();
    let size = 32 * bundles;
    let mut targets = BTreeMap::new();
    for _ in 0..rng.random_range(0..3) {
        let list = (0..rng.random_range(0..4))
            .map(|_| norm(rng.random()))
            .collect();
        targets.insert(norm(rng.random_range(0..size / 8) * 8), list);
    }
    let mut p = Program {
        entry: match rng.random_range(0..3) {
            0 => rng.random_range(0..size / 8) * 8,
            1 => rng.random::<u32>() & !7,
            _ => 0,
        },
        prog_size: match rng.random_range(0..3) {
            0 => rng.random::<u32>() & !31,
            _ => size,
        },
        targets,
        ..around(words)
    };
    let constants =
        (0..rng.random_range(0..3)).map(|_| (rng.random_range(0..1 << 21), rng.random()));
    p.constants = constants.collect();
    match rng.random_range(0..3) {
        0 => p.at(p.last_base()),
        1 => p.at(rng.random_range(0..=p.last_base()) / 32 * 32),
        _ => p,
    }
}

#[test]
fn any_word_round_trips() {
    let mut rng = Pcg64Mcg::seed_from_u64(0x5b_a5);
    let p = Program::default();
    let mut said = 0;
    for _ in 0..20_000 {
        let word = any_word(&mut rng);
        let line = disassemble(word, 8, &p);
        assert_eq!(first(&line), word, "{line}");
        let listed = line.contains("; /* 0x");
        said += usize::from(!listed);
        // Only a word without a mnemonic is printed as `.word`.
        let is_word = line.starts_with(".word");
        assert_eq!(
            is_word,
            matches!(Word::decode(word), Word::Illegal(_)),
            "{line}"
        );
        // The word follows where the text does not say all of it.
        if let Word::SetUp(_) | Word::Branch(_) | Word::Indirect(_) | Word::Leave(_) =
            Word::decode(word)
        {
            assert_eq!(listed, !Word::is_canonical(word), "{line}");
        }
    }
    assert!(said > 4000, "{said}");
}

#[test]
fn any_program_round_trips() {
    let mut rng = Pcg64Mcg::seed_from_u64(0x5b_a6);
    for _ in 0..3_000 {
        let p = any_program(&mut rng);
        let text = program_text(&p);
        assert_eq!(assemble(&text, "t.s").unwrap(), p, "{text}");
        assert_eq!(
            assemble(&text, "t.s").map(|p| program_text(&p)).unwrap(),
            text
        );
        let text = hex_text(&p);
        assert_eq!(parse_hex(&text, "t.hex").unwrap(), p, "{text}");
        // Without remarks they are the same.
        let bare: String = (text.lines())
            .map(|l| l.split(" ;").next().unwrap().to_owned() + "\n")
            .collect();
        assert_eq!(parse_hex(&bare, "t.hex").unwrap(), p, "{bare}");
        assert!(is_hex(&bare, "t") && !is_hex(&program_text(&p), "t"));
    }
}

/// Every form is in the example that shows them.
#[test]
fn the_manual_has_every_instruction() {
    let p = example("manual_terms.s");
    let text = program_text(&p);
    for name in [
        "SSY",
        "PBK",
        "PCNT",
        "PRET.NOINC",
        "CAL.NOINC",
        "BRA",
        "BRA.U.LMT",
        "BRX",
        "BRX.LMT",
        "SYNC",
        "BRK",
        "RET",
        "EXIT",
        "EXIT.KEEPREFCOUNT",
        "NOP",
        "BPT",
        ".word",
        ".control",
    ] {
        let has = |l: &str| l.split([' ', ';']).any(|t| t == name);
        assert!(text.lines().any(has), "{name}\n{text}");
    }
    assert_eq!((p.entry, p.prog_size), (0x20, 0x120));
    assert_eq!(p.targets, BTreeMap::from([(0x58, vec![0x68, 0xa8])]));
}
