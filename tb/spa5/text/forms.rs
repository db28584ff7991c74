//! Forms of instructions, bundles and labels, listings, and directives.

use super::*;

/// Instructions at 8, as nvdisasm prints them there, and their words.
#[rustfmt::skip]
const FORMS: &[(&str, u64)] = &[
    ("SSY 0x50", 0xe290_0000_0400_0000),
    ("PBK 0x90", 0xe2a0_0000_0800_0000),
    ("PCNT 0x8", 0xe2b0_0fff_ff80_0000),
    ("PRET 0x18", 0xe270_0000_0080_0040),
    ("PRET.NOINC 0x18", 0xe270_0000_0080_0000),
    ("CAL 0x38", 0xe260_0000_0280_0040),
    ("CAL.NOINC 0x38", 0xe260_0000_0280_0000),
    ("BRA 0x10", 0xe240_0000_0007_000f),
    ("@!P0 BRA 0x10", 0xe240_0000_0008_000f),
    ("@P6 BRA 0x10", 0xe240_0000_0006_000f),
    ("@!PT BRA 0x10", 0xe240_0000_000f_000f),
    ("BRA.U 0x10", 0xe240_0000_0007_008f),
    ("BRA.LMT 0x10", 0xe240_0000_0007_004f),
    ("BRA.U.LMT 0x10", 0xe240_0000_0007_00cf),
    ("BRA.U CC.GE, 0x10", 0xe240_0000_0007_0086),
    ("@P0 BRA CC.GE, 0x10", 0xe240_0000_0000_0006),
    ("BRA CC.CSM_TA, 0x10", 0xe240_0000_0007_0018),
    ("BRA -0x7ffff0", 0xe240_0800_0007_000f),
    ("BRA 0x80000f", 0xe240_07ff_fff7_000f),
    ("BRA 0x19", 0xe240_0000_0097_000f),
    ("BRX R0 -0x78", 0xe250_0fff_f887_000f),
    ("BRX.LMT CC.GE, R0 -0x78", 0xe250_0fff_f887_0046),
    ("BRX CC.GE, R4", 0xe250_0000_0007_0406),
    ("@P0 BRX R254 0x78", 0xe250_0000_0780_fe0f),
    ("BRX RZ -0x78", 0xe250_0fff_f887_ff0f),
    ("BRX c[0x0][R0]", 0xe250_0000_0007_002f),
    ("BRX c[0x11][R4+0x1]", 0xe250_0110_0017_042f),
    ("@P0 BRX c[0xf][R4+-0x1]", 0xe250_00ff_fff0_042f),
    ("@P0 BRX c[0x7][-0x9]", 0xe250_007f_ff70_ff2f),
    ("BRX c[0x7][RZ]", 0xe250_0070_0007_ff2f),
    ("SYNC", 0xf0f8_0000_0007_000f),
    ("SYNC CC.GE", 0xf0f8_0000_0007_0006),
    ("@P0 SYNC", 0xf0f8_0000_0000_000f),
    ("@!P0 BRK CC.F", 0xe340_0000_0008_0000),
    ("CONT CC.LTU", 0xe350_0000_0007_0009),
    ("RET CC.OFT", 0xe320_0000_0007_0017),
    ("EXIT", 0xe300_0000_0007_000f),
    ("EXIT.KEEPREFCOUNT", 0xe300_0000_0007_002f),
    ("@!PT EXIT.KEEPREFCOUNT CC.RGT", 0xe300_0000_000f_003f),
    ("SSY c[0x1][-0x800]", 0xe290_001f_8000_0020),
    ("SSY c[0x1f][0x7fff]", 0xe290_01f7_fff0_0020),
    ("PBK c[0x0][-0x8000]", 0xe2a0_0008_0000_0020),
    ("CAL.NOINC c[0x0][0xffc]", 0xe260_0000_ffc0_0020),
    ("@P0 BRA c[0x11][0x1]", 0xe240_0110_0010_002f),
    ("NOP", 0x50b0_0000_0007_0f00),
    ("JMX R0", 0xe200_0000_0007_000f),
    ("@P0 JMX.LMT CC.GE, R4 0xfffffff0", 0xe20f_ffff_ff00_0446),
    ("JMP 0xdeadbee8", 0xe21d_eadb_ee87_000f),
    ("@!P0 JMP.U.LMT CC.GE, 0x8", 0xe210_0000_0088_00c6),
    ("JCAL 0x80000000", 0xe228_0000_0000_0040),
    ("JCAL.NOINC 0x7", 0xe220_0000_0070_0000),
    ("KIL", 0xe330_0000_0007_000f),
    ("@!P6 KIL CC.CSM_MX", 0xe330_0000_000e_001a),
    ("SAM", 0xe370_0000_0007_000f),
    ("BPT", 0xe3a0_0000_0007_000f),
    (".word 0xe3f0000000000000", 0xe3f0_0000_0000_0000),
];

#[test]
fn forms_of_instructions() {
    for &(text, word) in FORMS {
        assert_eq!(first(text), word, "{text}");
        assert_eq!(first(&text.to_lowercase()), word, "{text}");
        let line = disassemble(word, 8, &around(bundles(&[word])));
        assert_eq!(line.split(" // ").next(), Some(&*format!("{text};")));
    }
}

/// Other ways to write a word of [`FORMS`].
#[test]
fn spellings() {
    for (text, same) in [
        ("SSY 80", "SSY 0x50"),
        ("  SSY\t0X50  ;;", "SSY 0x50"),
        ("@PT BRA 0x10", "BRA 0x10"),
        ("BRA CC.T 0x10", "BRA 0x10"),
        ("BRA.LMT.U 0x10", "BRA.U.LMT 0x10"),
        ("@P0 BRA CC.GE 16", "@P0 BRA CC.GE, 0x10"),
        ("BRA `(L)\nL:", "BRA 0x10"),
        ("BRA L\nL :", "BRA 0x10"),
        ("BRX R0, -120", "BRX R0 -0x78"),
        ("BRX R4 0", "BRX R4"),
        ("BRX c[17][R4+1]", "BRX c[0x11][R4+0x1]"),
        ("BRX c[7][RZ+0]", "BRX c[0x7][RZ]"),
        ("SSY c[1][0xf800]", "SSY c[0x1][-0x800]"),
        ("{ SYNC }", "SYNC"),
        ("SYNC }", "SYNC"),
        ("SYNC (*\"unknown\"*)", "SYNC"),
        ("X", "NOP"),
        ("X WARPSYNC 0xff", "NOP"),
        ("@!P3 DADD R0, c[0x0][0x140], R2", "NOP"),
        ("LDG.E.CV R0, [R16+0x4]", "NOP"),
        (".word 0xe2b00fffff800000", "PCNT 0x8"),
        (".WORD e2b00fffff800000", "PCNT 0x8"),
        (".word 0x0", ".word 0x0000000000000000"),
        ("/*0008*/ SYNC /* a remark */ // SSY", "SYNC"),
        ("/**/SYNC/* 0xf0f800000007000f */", "SYNC"),
        ("X /* 0xf0f8 is not a word */", "NOP"),
        ("ISETP /*0x0000000000000000*/", ".word 0x0000000000000000"),
        (
            "BPT.TRAP /* 0xe3a00000000000c0 */",
            ".word 0xe3a00000000000c0",
        ),
    ] {
        assert_eq!(program(text), program(same), "{text}");
    }
    // What only schedules an instruction does not change it.
    for (text, same) in [
        ("SYNC CC.TRUE", "SYNC"),
        ("@P0 BRA cc.true, 0x10", "@P0 BRA 0x10"),
        ("BRK CC.FALSE", "BRK CC.F"),
        ("CONT {&req_6} ?sched", "CONT"),
        ("{ CONT {&req_6} {?sched} }", "CONT"),
        (
            "CONT CC.GE &req={0,1} &wr=0x1 ?WAIT5_END_GROUP;",
            "CONT CC.GE",
        ),
        ("@P0 EXIT &req={5} ?trans5", "@P0 EXIT"),
        ("@P0 EXIT &rd=0x0 &req=3 ?WAIT5", "@P0 EXIT"),
        ("PCNT 0x8 ?WAIT5 /* 0xe2b00fffff800000 */", "PCNT 0x8"),
        ("BRA ?WAIT5 0x10", "BRA 0x10"),
        ("L: BRX R0 -0x78 ?sched (*\"unknown\"*)", "BRX R0 -0x78"),
        ("SYNC ?sched; SYNC &req_6 // ?", "SYNC\nSYNC"),
        ("ISETP.NE P0, PT, R0, RZ, PT &req={1} ?WAIT13", "NOP"),
        // All operands of a black box are ignored.
        ("X &what ?", "NOP"),
    ] {
        assert_eq!(program(text), program(same), "{text}");
    }
    // The word in a listing may have bits that are ignored.
    for (text, word) in [
        ("SYNC /* 0xf0ff00000007000f */", 0xf0ff_0000_0007_000f),
        ("SSY 0x50 /* 0xe29000000400000f */", 0xe290_0000_0400_000f),
        ("SSY L /* 0xe29f00000000000f */\nL:", 0xe29f_0000_0000_000f),
    ] {
        assert_eq!(first(text), word);
    }
}

/// Each CC test by name, in each instruction that has one.
#[test]
fn cc_tests() {
    let names = "F LT EQ LE GT NE GE NUM NAN LTU EQU LEU GTU NEU GEU T OFF LO SFF LS HI SFT HS OFT \
                 CSM_TA CSM_TR CSM_MX FCSM_TA FCSM_TR FCSM_MX RLE RGT";
    for (code, name) in (0u64..).zip(names.split(' ')) {
        for (text, word) in [
            ("SYNC _", 0xf0f8_0000_0007_0000),
            ("BRK _", 0xe340_0000_0007_0000),
            ("CONT _", 0xe350_0000_0007_0000),
            ("RET _", 0xe320_0000_0007_0000),
            ("EXIT _", 0xe300_0000_0007_0000),
            ("BRA _, 0x10", 0xe240_0000_0007_0000),
            ("BRX _, R0", 0xe250_0000_0007_0000),
            ("KIL _", 0xe330_0000_0007_0000),
            ("JMP _, 0x0", 0xe210_0000_0007_0000),
            ("JMX _, R0", 0xe200_0000_0007_0000),
        ] {
            let text = text.replace('_', &format!("CC.{name}"));
            assert_eq!(first(&text), word | code, "{text}");
        }
    }
}

// ---- bundles and labels -------------------------------------------------------------------------------

#[test]
fn labels_are_addresses_of_the_next_word() {
    let text = "A: B: SSY A\nBRA C\nX
C: BRA C
X
D: X
E:
.control 0x0
F: BRA E
BRA F
BRA D
G:";
    let bra = |offset: i64| 0xe240_0000_0007_000f | (offset as u64 & 0xff_ffff) << 20;
    let expected = [
        CONTROL,
        0xe290_0fff_ff80_0000,
        bra(0x28 - 0x18),
        NOP,
        CONTROL,
        bra(-8),
        NOP,
        NOP,
        0,
        bra(0x40 - 0x50),
        bra(0x48 - 0x58),
        bra(0x38 - 0x60),
    ];
    assert_eq!(program(text).words, expected);
    // A label at the end is the address behind: out of range when it is executed, but not here.
    assert_eq!(first("BRA G\nX\nX\nG:"), bra(0x20 - 0x10));
    assert_eq!(first("BRA G\nX\nG:"), bra(0x18 - 0x10));
    assert_eq!(words("X\nBRA $.a_1\n$.a_1:")[1], bra(0));
}

#[test]
fn control_words_and_padding() {
    let program = program(
        ".control 0xffffffffffffffff\nX\n.align 64\nX\nX\n.align 32\n.align 1\n.align 16\nX",
    );
    let expected = [
        u64::MAX,
        NOP,
        NOP,
        NOP,
        CONTROL,
        NOP,
        NOP,
        NOP,
        CONTROL,
        NOP,
        NOP,
        NOP,
        CONTROL,
        NOP,
        NOP,
        NOP,
    ];
    assert_eq!(program.words, expected);
    assert_eq!(program.prog_size, 128);
    // The label is of the padding.
    assert_eq!(first("BRA L\nL: .align 64\nX"), 0xe240_0000_0007_000f);
    assert_eq!(first("L: .align 64\nBRA L"), 0xe240_0fff_ff87_000f);
    assert_eq!(self::program(".control 0x1").words, [1, NOP, NOP, NOP]);
}

// ---- listings ---------------------------------------------------------------------------------------------

/// As nvdisasm prints a kernel: sections, dual issue with words a line late, annotations.
const LISTING: &str = r#"	.headerflags	@"EF_CUDA_SM50"
	.elftype	@"ET_EXEC"
//--------------------- .nv.info                  --------------------------
	.section	.nv.info,"",@"SHT_CUDA_INFO"
	.align	4
.L_0:
        /*0004*/ 	.word	index@(k)
        /*0006*/ 	.short	(.L_3 - .L_2)
	.zero		2
//--------------------- .text.k   --------------------------
	.section	.text.k,"ax",@progbits
	.sectioninfo	@"SHI_REGISTERS=18"
	.align	32
        .global         k
        .type           k,@function
        .size           k,(.L_x_3 - k)
        .other          k,@"STO_CUDA_ENTRY STV_DEFAULT"
k:
.text.k:
                                                         /* 0x001c7c00fe0007f6 */
        /*0008*/         {         MOV R1, c[0x0][0x20] ;       /* 0x4c98078000870001 */
        /*0010*/                   S2R R2, SR_TID.X         }
.L_0:
                                                         /* 0xf0c8000002170002 */
        /*0018*/               @P0 BRX R0 -0x78    (*"BRANCH_TARGETS .L_0,.L_1"*); /* 0xe2500ffff880000f */
.L_1:
                                                         /* 0x0000000000000001 */
        /*0028*/                   CAL `($k$f);          /* 0xe260000001000040 */
        /*0030*/              @!P1 BRK     (*"BRANCH_TARGETS .L_1"*); /* 0xe34000000009000f */
        /*0038*/                   EXIT }
$k$f:
                                                         /* 0xe30000000007000f */
                                                         /* 0x0000000000000002 */
        /*0048*/                   RET ;                 /* 0xe32000000007000f */
.L_2:
        /*0050*/                   BRA `(.L_2);          /* 0xe2400fffff87000f */
        /*0058*/                   NOP;                  /* 0x50b0000000070f00 */
.L_x_3:
//--------------------- .nv.shared   --------------------------
	.section	.nv.shared,"",@nobits
k:      .zero 4
"#;

#[test]
fn a_listing_of_nvdisasm() {
    let mut expected = around(vec![
        0x001c_7c00_fe00_07f6,
        0x4c98_0780_0087_0001,
        0xf0c8_0000_0217_0002,
        0xe250_0fff_f880_000f,
        1,
        0xe260_0000_0100_0040,
        0xe340_0000_0009_000f,
        0xe300_0000_0007_000f,
        2,
        0xe320_0000_0007_000f,
        0xe240_0fff_ff87_000f,
        NOP,
    ]);
    expected.targets = BTreeMap::from([(0x18, vec![0x18, 0x28]), (0x30, vec![0x28])]);
    // `$k$f` stands before the word of the instruction above it, and is the address of what follows.
    assert_eq!(program(LISTING), expected);
    // Without words: black boxes are NOP, control words the usual ones, labels those of instructions.
    let plain: Vec<String> = LISTING
        .lines()
        .filter(|line| !line.trim().starts_with("/* 0x"))
        .map(|line| line.split("/* 0x").next().unwrap().to_owned())
        .collect();
    let mut words = expected.words.clone();
    (words[0], words[4], words[8]) = (CONTROL, CONTROL, CONTROL);
    (words[1], words[2]) = (NOP, NOP);
    words[5] = 0xe260_0000_0180_0040;
    assert_eq!(program(&plain.join("\n")), Program { words, ..expected });
}

// ---- directives ------------------------------------------------------------------------------------------

#[test]
fn directives() {
    let body = "\nA: X\nX\nB: X\nX";
    let with = |directives: &str| program(&format!("{directives}{body}"));
    let plain = around(bundles(&[NOP; 4]));
    assert_eq!(with(""), plain);
    for (text, entry) in [
        (".entry 0x10", 0x10),
        (".ENTRY B", 0x18),
        (".entry 0", 0),
        (".entry 0xfffffff8", 0xffff_fff8),
    ] {
        assert_eq!(
            with(text),
            Program {
                entry,
                ..plain.clone()
            }
        );
    }
    for (text, prog_size) in [
        (".prog_size 32", 32),
        (".prog_size 0", 0),
        (".prog_size 0xffffffe0", 0xffff_ffe0),
    ] {
        assert_eq!(
            with(text),
            Program {
                prog_size,
                ..plain.clone()
            }
        );
    }
    // Places are addresses, wherever the program lies; JMP and JCAL lead there.
    let text = ".prog_base 0xffffff80\n.entry B\n.targets A 0xffffff80\n.constant c[0x3][0x10] 0x78\n\
                A: X\nB: BRA A\nJMP B\nJCAL C\nC: JMP 0x10\nBRA c[3][16]";
    let placed = program(text);
    assert_eq!((placed.prog_base, placed.entry), (0xffff_ff80, 0x10));
    assert_eq!(placed.prog_size, 0x40);
    assert_eq!(
        placed.targets,
        BTreeMap::from([(0xffff_ff88, vec![0xffff_ff88])])
    );
    assert_eq!(placed.constants, BTreeMap::from([(0x3_0010, 0x78)]));
    assert_eq!(
        placed.words[2..],
        [
            0xe240_0fff_ff07_000f,
            0xe21f_ffff_f907_000f,
            CONTROL,
            0xe22f_ffff_fb00_0040,
            0xe210_0000_0107_000f,
            0xe240_0030_0107_002f,
        ]
    );
    assert_eq!(assemble(&program_text(&placed), "t.s").unwrap(), placed);
    assert_eq!(parse_hex(&hex_text(&placed), "t.hex").unwrap(), placed);
    let text = ".targets A 0x0 B 0x18 0x18 4294967264\n.targets 0x28\n.targets 0x10, B";
    let targets = BTreeMap::from([
        (8, vec![8, 0x18, 0x18, 0x18, 0xffff_ffe8]),
        (0x10, vec![0x18]),
        (0x28, vec![]),
    ]);
    assert_eq!(with(text), Program { targets, ..plain });
    assert_eq!(assemble("X", "dir/a.b.s").unwrap().name, "a.b");
}

#[test]
fn hex_is_words_with_or_without_addresses() {
    let words = "001fbc00fde007ef\n50b0000000070f00\n50b0000000070f00\n50b0000000070f00\n";
    let expected = around(bundles(&[NOP; 3]));
    for text in [
        words,
        "0000 001fbc00fde007ef\n0008 50b0000000070f00",
        "8 50b0000000070f00 ; comment\n0x10 0x50b0000000070f00 // comment\n\n18 0x50B0000000070F00",
        "50b0000000070f00",
        "0x1fbc00fde007ef",
    ] {
        let mut expected = expected.clone();
        // Without an address the first word is the control word.
        if text.starts_with("50b") {
            expected.words[0] = NOP;
        }
        assert_eq!(parse_hex(text, "t.hex").unwrap(), expected, "{text}");
    }
    let text = ".entry 8\n.prog_size 64\n.targets 8 0x18\n8 0x1\n10 0x2\n18 0x3\n0x4\n0x5\n30 0x6\n38 0x7\n48 0x8";
    let p = parse_hex(text, "t.hex").unwrap();
    assert_eq!(
        p.words,
        [CONTROL, 1, 2, 3, 4, 5, 6, 7, CONTROL, 8, NOP, NOP]
    );
    assert_eq!((p.entry, p.prog_size), (8, 64));
    assert_eq!(p.targets, BTreeMap::from([(8, vec![0x18])]));
    for (text, error) in [
        ("", "t.hex: program: has no instruction"),
        (".entry 8", "t.hex: program: has no instruction"),
        (
            "\n50b0",
            "t.hex:2: instruction: `50b0` is not a 64-bit word: 16 hexadecimal digits, or 0x and fewer",
        ),
        (
            "0x",
            "t.hex:1: instruction: `0x` is not a 64-bit word: 16 hexadecimal digits, or 0x and fewer",
        ),
        (
            "0x00000000000000000",
            "t.hex:1: instruction: `0x00000000000000000` is not a 64-bit word: 16 hexadecimal digits, or 0x and fewer",
        ),
        (
            "8 50b0000000070f00 NOP",
            "t.hex:1: instruction: is a word, perhaps its address before it: [ADDRESS] WORD",
        ),
        (
            "SYNC 50b0000000070f00",
            "t.hex:1: address: `SYNC` is not a 32-bit word in hexadecimal",
        ),
        (
            "10 50b0000000070f00",
            "t.hex:1: address: 0x0010, where the next word lies at 0x0000",
        ),
        (
            "8 0x1\n8 0x1",
            "t.hex:2: address: 0x0008, where the next word lies at 0x0010",
        ),
        (
            "8 0x1\n18 0x1",
            "t.hex:2: address: 0x0018, where the next word lies at 0x0010",
        ),
        (
            ".align 32",
            "t.hex:1: directive: there is no directive `.align` here",
        ),
        (
            ".control 0x0",
            "t.hex:1: directive: there is no directive `.control` here",
        ),
        (".entry A\n0x0", "t.hex:1: address: `A` is not a number"),
        (".targets 8 B\n0x0", "t.hex:1: target: `B` is not a number"),
        (
            ".targets 0x20\n0x0",
            "t.hex:1: .targets: there is no instruction at 0x0028",
        ),
    ] {
        assert_eq!(parse_hex(text, "t.hex").unwrap_err().to_string(), error);
    }
}

#[test]
fn words_are_told_from_assembly() {
    for (text, hex) in [
        ("50b0000000070f00", true),
        ("// comment\n.entry 8\n\n0x50b0000000070f00 ; NOP", true),
        ("0008 50b0000000070f00", true),
        ("8 0x0", true),
        ("/*0008*/ NOP; /* 0x50b0000000070f00 */", false),
        ("NOP", false),
        (".word 0x50b0000000070f00\nNOP", false),
        // Mnemonics, not words.
        ("DADD", false),
        ("DADD R0, R2, R4", false),
        ("BAD: NOP", false),
        ("@P0 SYNC", false),
    ] {
        assert_eq!(is_hex(text, "t"), hex, "{text}");
    }
    for text in ["", ".entry 8", "// 50b0000000070f00"] {
        assert_eq!([is_hex(text, "t.HEX"), is_hex(text, "t.s")], [true, false]);
    }
}
