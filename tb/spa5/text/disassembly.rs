//! Words to text and back.

use super::*;

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

/// NOPs that fill up the last bundle are marked: those who counted the instructions did not count them.
#[test]
fn padding_is_marked() {
    let p = assemble("NOP\nEXIT\nNOP\nNOP", "t.s").unwrap();
    assert_eq!(
        program_text(&p),
        "// t

        NOP;                             // 0008 entry
        EXIT;                            // 0010
        NOP;                             // 0018 padding
        NOP;                             // 0028 padding
        NOP;                             // 0030 padding
        NOP;                             // 0038 padding
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
