//! Text to words and back: assembler, disassembler, `.hex`.
//!
//! Expected words are copied from `docs/spec/spa5.md` or follow spa5-2 bit by bit; expected texts are what NVIDIA's nvdisasm
//! 12.4 prints for them.

use std::collections::BTreeMap;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use reconverge::input::InputError;
use reconverge::spa5::asm::text::is_hex;
use reconverge::spa5::asm::{assemble, disassemble, hex_text, parse_hex, program_text};
use reconverge::spa5::isa::{self, CONTROL, NOP, Word, norm};
use reconverge::spa5::program::{MOST_BUNDLES, Program};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tb/programs/spa5");

fn example(name: &str) -> Program {
    let text = std::fs::read_to_string(format!("{FOLDER}/{name}")).unwrap();
    assemble(&text, name).unwrap()
}

fn program(text: &str) -> Program {
    assemble(text, "t.s").unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The instructions of `text`, without the control words.
fn words(text: &str) -> Vec<u64> {
    let words = program(text).words;
    words
        .chunks(4)
        .flat_map(|b| b[1..].iter().copied())
        .collect()
}

/// The first instruction of `text`, which lies at 8.
fn first(text: &str) -> u64 {
    words(text)[0]
}

/// The error of a `.s` file.
fn refused(text: &str) -> InputError {
    match assemble(text, "t.s") {
        Err(e) => e,
        Ok(_) => panic!("accepted:\n{text}"),
    }
}

/// Bundles with the control words of hand-made programs.
fn bundles(instructions: &[u64]) -> Vec<u64> {
    let mut words = Vec::new();
    for three in instructions.chunks(3) {
        words.push(CONTROL);
        words.extend(three);
        words.resize(words.len().next_multiple_of(4), NOP);
    }
    words
}

fn around(words: Vec<u64>) -> Program {
    Program {
        name: "t".to_owned(),
        prog_size: words.len() as u32 * 8,
        words,
        ..Program::default()
    }
}

// ---- worked examples of spa5-7 --------------------------

/// The rows of an example, `address word instruction`, targets as addresses, and the same with labels.
struct Example {
    rows: &'static str,
    labels: &'static str,
}

const EXAMPLES: [Example; 6] = [
    // 7.1
    Example {
        rows: "0008 5b6b00000007ff07 .word 0x5b6b00000007ff07
0010 e290000004000000 SSY 0x58
0018 e24000000180000f @P0 BRA 0x38
0028 50b0000000070f00 NOP
0030 f0f800000007000f SYNC
0038 50b0000000070f00 NOP
0048 50b0000000070f00 NOP
0050 f0f800000007000f SYNC
0058 50b0000000070f00 NOP
0068 e30000000007000f EXIT
0070 50b0000000070f00 NOP
0078 50b0000000070f00 NOP",
        labels: "ISETP P0 /* 0x5b6b00000007ff07 */\nSSY JOIN\n@P0 BRA ELSE\nX\nSYNC\nELSE: X; X\nSYNC\nJOIN: X\nEXIT",
    },
    // 7.2
    Example {
        rows: "0008 e2b00fffff800000 PCNT 0x8
0010 1e04000000070404 .word 0x1e04000000070404
0018 081c4800000704ff .word 0x081c4800000704ff
0028 e350000000070006 CONT CC.GE
0030 080c000000070404 .word 0x080c000000070404
0038 e35000000007000f CONT",
        labels: "LABEL: PCNT LABEL;
FMUL32I R4,R4,2; /* 0x1e04000000070404 */
FADD32I RZ.CC,R4,-1024; /* 0x081c4800000704ff */
CONT CC.GE;
FADD32I R4,R4,-2; /* 0x080c000000070404 */
CONT;",
    },
    // 7.3
    Example {
        rows: "0008 e2a0000008000000 PBK 0x90
0010 e2b00fffff800000 PCNT 0x10
0018 5b6b00000007ff07 .word 0x5b6b00000007ff07
0028 e290000004800000 SSY 0x78
0030 e24000000200000f @P0 BRA 0x58
0038 50b0000000070f00 NOP
0048 e34000000001000f @P1 BRK
0050 f0f800000007000f SYNC
0058 50b0000000070f00 NOP
0068 e35000000002000f @P2 CONT
0070 f0f800000007000f SYNC
0078 50b0000000070f00 NOP
0088 e35000000007000f CONT
0090 50b0000000070f00 NOP
0098 e30000000007000f EXIT",
        labels: "PBK EXITL\nLOOP: PCNT LOOP\n.word 0x5b6b00000007ff07\nSSY JOIN\n@P0 BRA ELSE\nX\n@P1 BRK\nSYNC
ELSE: X\n@P2 CONT\nSYNC\nJOIN: X\nCONT\nEXITL: X\nEXIT",
    },
    // 7.4
    Example {
        rows: "0008 5b6b00000007ff07 .word 0x5b6b00000007ff07
0010 e290000003000000 SSY 0x48
0018 f0f800000003000f @P3 SYNC
0028 e260000002800040 CAL 0x58
0030 50b0000000070f00 NOP
0038 f0f800000007000f SYNC
0048 50b0000000070f00 NOP
0050 e30000000007000f EXIT
0058 50b0000000070f00 NOP
0068 e32000000000000f @P0 RET
0070 50b0000000070f00 NOP
0078 e24000000181000f @P1 BRA 0x98
0088 50b0000000070f00 NOP
0090 e32000000007000f RET
0098 50b0000000070f00 NOP
00a8 e32000000007000f RET
00b0 50b0000000070f00 NOP
00b8 50b0000000070f00 NOP",
        labels: ".word 0x5b6b00000007ff07\nSSY JOIN\n@P3 SYNC\nCAL F\nX\nSYNC\nJOIN: X\nEXIT\nF: X\n@P0 RET\nX
@P1 BRA FE\nX\nRET\nFE: X\nRET",
    },
    // 7.5
    Example {
        rows: "0008 5b6b00000007ff07 .word 0x5b6b00000007ff07
0010 e30000000000000f @P0 EXIT
0018 e290000005000000 SSY 0x70
0028 e24000000281000f @P1 BRA 0x58
0030 50b0000000070f00 NOP
0038 e30000000002000f @P2 EXIT
0048 50b0000000070f00 NOP
0050 f0f800000007000f SYNC
0058 50b0000000070f00 NOP
0068 f0f800000007000f SYNC
0070 50b0000000070f00 NOP
0078 e30000000007000f EXIT",
        labels: ".word 0x5b6b00000007ff07\n@P0 EXIT\nSSY JOIN\n@P1 BRA ELSE\nX\n@P2 EXIT\nX\nSYNC\nELSE: X\nSYNC
JOIN: X\nEXIT",
    },
    // 7.6
    Example {
        rows: "0008 5b6b00000007ff07 .word 0x5b6b00000007ff07
0010 e2a0000001000000 PBK 0x28
0018 e35000000000000f @P0 CONT
0028 e30000000007000f EXIT
0030 50b0000000070f00 NOP
0038 50b0000000070f00 NOP",
        labels: ".word 0x5b6b00000007ff07\nPBK END\n@P0 CONT\nEND: EXIT",
    },
];

impl Example {
    /// Address, word and text of each row.
    fn rows(&self) -> impl Iterator<Item = (u32, &str, &str)> {
        self.rows.lines().map(|row| {
            let (address, rest) = row.split_once(' ').unwrap();
            let (word, text) = rest.split_once(' ').unwrap();
            (u32::from_str_radix(address, 16).unwrap(), word, text)
        })
    }
}

/// Words with and without control words and addresses, NVIDIA's syntax, and labels are texts of one program.
#[test]
fn listings_of_the_spec_assemble_to_their_words() {
    for example in &EXAMPLES {
        let listed: Vec<u64> = example
            .rows()
            .map(|(_, word, _)| u64::from_str_radix(word, 16).unwrap())
            .collect();
        let expected = around(bundles(&listed));
        assert_eq!(program(example.labels), expected);
        let text: Vec<&str> = example.rows().map(|(_, _, text)| text).collect();
        assert_eq!(program(&text.join("\n")), expected);
        assert_eq!(program(&text.join(";")), expected);
        let hex: Vec<String> = example
            .rows()
            .map(|(at, w, _)| format!("{at:04x} {w}"))
            .collect();
        assert_eq!(parse_hex(&hex.join("\n"), "t.hex").unwrap(), expected);
        let hex: Vec<String> = (expected.words.iter())
            .map(|w| format!("{w:016x}"))
            .collect();
        assert_eq!(parse_hex(&hex.join("\n"), "t.hex").unwrap(), expected);
        for (pc, _, text) in example.rows() {
            let line = disassemble(expected.word(pc), pc, &expected);
            let said = line.split(" // ").next().unwrap();
            assert_eq!(said, format!("{text};"), "{pc:#x}");
        }
    }
}

/// The words themselves, not by way of the `.hex` reader: spa5-7.2.
#[test]
fn words_of_spec_7_2() {
    assert_eq!(
        program(EXAMPLES[1].labels).words,
        [
            0x001f_bc00_fde0_07ef,
            0xe2b0_0fff_ff80_0000,
            0x1e04_0000_0007_0404,
            0x081c_4800_0007_04ff,
            0x001f_bc00_fde0_07ef,
            0xe350_0000_0007_0006,
            0x080c_0000_0007_0404,
            0xe350_0000_0007_000f,
        ]
    );
}

// ---- forms of instructions -----------------------------------------------------------------------------

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
    ("JMX", 0xe200_0000_0007_000f),
    ("KIL", 0xe330_0000_0007_000f),
    ("BPT", 0xe3a0_0000_0007_000f),
    (".word 0x5c98078000270003", 0x5c98_0780_0027_0003),
    (".word 0xe3f0000000000000", 0xe3f0_0000_0000_0000),
    (".word 0xe3a00000000000c0", 0xe3a0_0000_0000_00c0),
    (".word 0x0000000000000000", 0),
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

// ---- limits ---------------------------------------------------------------------------------------------------

#[test]
fn limits() {
    let reach = "not in -8388592..8388623";
    let field = |text: &str, field: &str, value: &str, range: &str| {
        assert_eq!(
            refused(text).to_string(),
            format!("t.s:1: {field}: {value} is {range}")
        );
    };
    assert_eq!(first("SSY 8388623"), 0xe290_07ff_fff0_0000);
    field("SSY 8388624", "target", "8388624", reach);
    assert_eq!(first("SSY -8388592"), 0xe290_0800_0000_0000);
    field("SSY -8388593", "target", "-8388593", reach);
    assert_eq!(first("BRX R0 8388607"), 0xe250_07ff_fff7_000f);
    field(
        "BRX R0 8388608",
        "offset",
        "8388608",
        "not in -8388608..8388607",
    );
    assert_eq!(first("BRX R0 -8388608"), 0xe250_0800_0007_000f);
    field(
        "BRX R0 -8388609",
        "offset",
        "-8388609",
        "not in -8388608..8388607",
    );
    assert_eq!(first("SSY c[31][65535]"), 0xe290_01ff_fff0_0020);
    field("SSY c[32][0]", "bank", "32", "not in 0..31");
    field(
        "SSY c[0][65536]",
        "address",
        "65536",
        "not in -32768..65535",
    );
    assert_eq!(first("SSY c[0][-32768]"), 0xe290_0008_0000_0020);
    field(
        "SSY c[0][-32769]",
        "address",
        "-32769",
        "not in -32768..65535",
    );
    field(
        ".entry 4294967296\nX",
        "address",
        "4294967296",
        "not in 0..4294967295",
    );
    field(
        ".prog_size 4294967296\nX",
        "prog_size",
        "4294967296",
        "not in 0..4294967295",
    );
    field(
        ".targets 8 4294967296\nX",
        "target",
        "4294967296",
        "not in 0..4294967295",
    );
    assert_eq!(program("X\n.align 4096\nX").words.len(), 516);
    field(
        "X\n.align 4097".lines().nth(1).unwrap(),
        ".align",
        "4097",
        "not in 0..4096",
    );
}

#[test]
fn a_program_has_at_most_16384_bundles() {
    let full = "X\n".repeat(3 * MOST_BUNDLES);
    let p = program(&full);
    assert_eq!(p.words.len(), 4 * MOST_BUNDLES);
    assert_eq!(assemble(&program_text(&p), "t.s").unwrap(), p);
    assert_eq!(parse_hex(&hex_text(&p), "t.hex").unwrap(), p);
    let message = "program: has more than 16384 bundles: this is the first word too many";
    for more in ["X", ".control 0x0", ".word 0x0", "/* 0x0000000000000000 */"] {
        let e = refused(&format!("{full}{more}")).to_string();
        assert_eq!(e, format!("t.s:49153: {message}"), "{more}");
    }
    // At the end there is nothing to fill up.
    assert_eq!(program(&format!("{full}.align 32")), p);
    let e = refused(&format!("{}X\n.align 4096\nX", full.replacen("X\n", "", 4))).to_string();
    assert_eq!(e, format!("t.s:49151: {message}"));
    let hex = "0x0\n".repeat(4 * MOST_BUNDLES);
    assert_eq!(
        parse_hex(&hex, "t.hex").unwrap().words,
        vec![0; 4 * MOST_BUNDLES]
    );
    let e = parse_hex(&format!("{hex}0x0"), "t.hex").unwrap_err();
    assert_eq!(e.to_string(), format!("t.hex:65537: {message}"));
}

// ---- misuse ---------------------------------------------------------------------------------------------------

#[rustfmt::skip]
const MISUSE: &[(&str, &str)] = &[
    ("", " program: has no instruction"),
    ("// nothing\nL:", " program: has no instruction"),
    (".entry 0", " program: has no instruction"),
    ("X\n/* open", "2: comment: does not end on its line"),
    ("X\n+", "2: mnemonic: `+` is no instruction of sm_50; `X` stands for any black box"),
    ("X\n8", "2: mnemonic: `8` is no instruction of sm_50; `X` stands for any black box"),
    ("FOO R0, R1", "1: mnemonic: `FOO` is no instruction of sm_50; did you mean `FLO`?"),
    ("ELSE\nSSY", "1: mnemonic: `ELSE` is no instruction of sm_50; `X` stands for any black box"),
    ("SSY J\nJ: SNYC", "2: mnemonic: `SNYC` is no instruction of sm_50; did you mean `SYNC`?"),
    ("X\n@P0 BRKK", "2: mnemonic: `BRKK` is no instruction of sm_50; did you mean `BRK`?"),
    ("@!P1 brkk", "1: mnemonic: `brkk` is no instruction of sm_50; did you mean `BRK`?"),
    ("EXT", "1: mnemonic: `EXT` is no instruction of sm_50; did you mean `EXIT`?"),
    ("RT", "1: mnemonic: `RT` is no instruction of sm_50; did you mean `RET` or `RTT`?"),
    // Five are as near: BRK, BRA, BRX, B2R, BAR.
    ("BR L", "1: mnemonic: `BR` is no instruction of sm_50; `X` stands for any black box"),
    ("ISETPP.NE P0, PT, R0, RZ, PT", "1: mnemonic: `ISETPP` is no instruction of sm_50; did you mean `ISETP`?"),
    ("SYNCX /* 0x5c98078000270003 */", "1: mnemonic: `SYNCX` is no instruction of sm_50; did you mean `SYNC`?"),
    // A later architecture's.
    ("WARPSYNC 0xff", "1: mnemonic: `WARPSYNC` is no instruction of sm_50; `X` stands for any black box"),
    ("@P0", "1: mnemonic: there is none behind the predicate"),
    ("@P7 SYNC", "1: predicate: `@P7` is not one of @P0 to @P6, @PT, @!P0 to @!P6, @!PT"),
    ("@!! SYNC", "1: predicate: `@!!` is not one of @P0 to @P6, @PT, @!P0 to @!P6, @!PT"),
    ("@ SYNC", "1: predicate: `@` is not one of @P0 to @P6, @PT, @!P0 to @!P6, @!PT"),
    ("@P0 SSY 0x8", "1: SSY: has no predicate: it always executes"),
    ("@PT CAL 0x8", "1: CAL: has no predicate: it always executes"),
    ("SSY", "1: SSY: needs a target"),
    ("BRA.U CC.GE", "1: BRA.U: needs a target"),
    ("BRX", "1: BRX: needs a register"),
    ("SSY CC.GE, 0x8", "1: SSY: does not take `0x8`"),
    ("SSY 0x8 0x10", "1: SSY: does not take `0x10`"),
    ("SSY.NOINC 0x8", "1: SSY.NOINC: does not take `.NOINC`"),
    ("CAL.U 0x8", "1: CAL.U: does not take `.U`"),
    ("BRA.NOINC 0x8", "1: BRA.NOINC: does not take `.NOINC`"),
    ("BRA.U.U 0x8", "1: BRA.U.U: does not take `.U`"),
    ("BRX.U R0", "1: BRX.U: does not take `.U`"),
    ("SYNC.S", "1: SYNC.S: does not take `.S`"),
    ("BRK.KEEPREFCOUNT", "1: BRK.KEEPREFCOUNT: does not take `.KEEPREFCOUNT`"),
    ("SYNC 0x8", "1: SYNC: does not take `0x8`"),
    ("SYNC CC.GE CC.LT", "1: SYNC: does not take `CC.LT`"),
    ("SYNC CC.GEE", "1: CC test: `CC.GEE` is not a CC test: CC.F, CC.LT ... CC.OFT"),
    ("BRA 0xg", "1: target: `0xg` is not a number"),
    ("BRA -", "1: target: `-` is not a number"),
    ("BRA `(L", "1: label: ``(L` is not a label: letters, digits, `_`, `.` and `$`, not beginning with a digit"),
    ("BRA \u{e9}", "1: label: `\u{e9}` is not a label: letters, digits, `_`, `.` and `$`, not beginning with a digit"),
    ("1a: X", "1: label: `1a` is not a label: letters, digits, `_`, `.` and `$`, not beginning with a digit"),
    ("BRA L", "1: label: label `L` is not defined"),
    ("BRA l\nL:", "1: label: label `l` is not defined; did you mean `L`?"),
    ("BRA B\nBRA A", "1: label: label `B` is not defined"),
    ("BRA B\nA: C: D:", "1: label: label `B` is not defined"),
    ("SSY DNE\nOUT: DONE: EXIT", "1: label: label `DNE` is not defined; did you mean `DONE`?"),
    ("X\nBRA `(.L_1)\n.L_11: .L_12: X", "2: label: label `.L_1` is not defined; did you mean `.L_11` or `.L_12`?"),
    ("L: X\nL: X", "2: label: `L` is defined twice"),
    ("BRX P0", "1: register: `P0` is not one of R0 to R254, RZ"),
    ("BRX R255", "1: register: `R255` is not one of R0 to R254, RZ"),
    ("BRX R+1", "1: register: `R+1` is not one of R0 to R254, RZ"),
    ("BRX c[0][P0]", "1: address: `P0` is not a number"),
    ("BRX R0 L", "1: offset: `L` is not a number"),
    ("SSY c[0x0]", "1: target: `c[0x0]` is not of the form c[BANK][ADDRESS]"),
    ("SSY c[x][0]", "1: bank: `x` is not a number"),
    (".word", "1: .word: is written `.word WORD`"),
    (".word 0x0 0x0", "1: .word: is written `.word WORD`"),
    (".word 5b6b", "1: .word: `5b6b` is not a 64-bit word: 16 hexadecimal digits, or 0x and fewer"),
    (".control", "1: .control: is written `.control WORD`"),
    (".control x", "1: .control: `x` is not a 64-bit word: 16 hexadecimal digits, or 0x and fewer"),
    ("X\n.control 0x0", "2: .control: a control word belongs before the first of three instructions, not at 0x0010"),
    (".control 0x0\n.control 0x0", "2: .control: a control word belongs before the first of three instructions, not at 0x0008"),
    ("X\n/* 0x0000000000000000 */", "2: comment: a control word belongs before the first of three instructions, not at 0x0010"),
    ("X /* 0x0000000000000000 */ /* 0x0000000000000000 */", "1: comment: a line has one word"),
    ("X /* 0xe30000000007000f */", "1: comment: 0xe30000000007000f is EXIT, and the instruction is a black box"),
    ("X /* 0xe3f0000000000000 */", "1: comment: 0xe3f0000000000000 is an opcode without a name, and the instruction is a black box"),
    ("BPT /* 0xe330000000000000 */", "1: comment: 0xe330000000000000 is KIL, and the instruction is BPT"),
    ("BPT /* 0x50b0000000070f00 */", "1: comment: 0x50b0000000070f00 is a black box, and the instruction is BPT"),
    ("X }\n/* 0xe30000000007000f */", "2: comment: 0xe30000000007000f is EXIT, and the instruction is a black box"),
    ("EXIT /* 0xe32000000007000f */", "1: comment: 0xe32000000007000f, and the text is 0xe30000000007000f"),
    ("BRA L /* 0xe24000000007000f */\nX\nL:", "1: comment: 0xe24000000007000f, and the text is 0xe24000000087000f"),
    (".word 0x1 /* 0x0000000000000002 */", "1: comment: 0x0000000000000002, and the text is 0x0000000000000001"),
    ("JMP 0x8", "1: JMP: its operands are not assembled: give its word in a comment, or as .word"),
    ("@P0 BPT.TRAP", "1: BPT.TRAP: its operands are not assembled: give its word in a comment, or as .word"),
    (".align", "1: .align: is written `.align N`"),
    (".align 0", "1: .align: 0 is neither a multiple of 32 nor does it divide it"),
    (".align 48", "1: .align: 48 is neither a multiple of 32 nor does it divide it"),
    (".align x", "1: .align: `x` is not a number"),
    (".entry\nX", "1: .entry: is written `.entry PLACE`"),
    (".entry 4\nX", "1: address: 4 is not a multiple of 8"),
    (".entry L\nX", "1: label: label `L` is not defined"),
    (".entry L\nX\nX\nX\nL:", "1: label: there is no instruction at this label"),
    (".entry 0\n.entry 0\nX", "2: .entry: the entry is set already"),
    (".prog_size\nX", "1: .prog_size: is written `.prog_size N`"),
    (".prog_size 16\nX", "1: prog_size: 16 is not a multiple of 32"),
    (".prog_size 32\n.prog_size 32\nX", "2: .prog_size: prog_size is set already"),
    (".targets\nX", "1: .targets: is written `.targets PLACE PLACE ...`"),
    (".targets 0x20 8\nX", "1: .targets: there is no instruction at 0x0028"),
    (".targets 0xc 8\nX", "1: .targets: there is no instruction at 0x000c"),
    (".targets 8 8\n.targets 0 8\nX", "2: .targets: what 0x0008 leads to is set already"),
    (".targets 8 8\nSYNC (*\"BRANCH_TARGETS 8\"*)", "2: .targets: what 0x0008 leads to is set already"),
    ("SYNC (*\"BRANCH_TARGETS L\"*)", "1: label: label `L` is not defined"),
    (".word8", "1: directive: there is no directive `.word8` here"),
    (".short 1", "1: directive: there is no directive `.short` here"),
    (".section .text.a\nX\n.section .text.b\nX", "3: .section: there is code before it, and a file is one program"),
    ("X\n.section .text.b\nX", "2: .section: there is code before it, and a file is one program"),
    (".section .text.a\nX\n.section .data\n.section .text.b", "4: .section: there is code before it, and a file is one program"),
];

#[test]
fn misuse_is_refused_with_line_field_and_message() {
    for (text, error) in MISUSE {
        let e = refused(text).to_string();
        assert_eq!(e, format!("t.s:{error}"), "{text}");
    }
}

/// A slip in a mnemonic was a NOP, and a program without its SYNC agreed with itself.
#[test]
fn a_slip_in_a_mnemonic_is_refused_in_every_program() {
    let mut slips = 0;
    for file in std::fs::read_dir(FOLDER).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|e| e != "s") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for (n, line) in lines.iter().enumerate() {
            let code = line.split("//").next().unwrap();
            // OUT is a label, here.
            let known = |word: &&str| *word != "OUT" && isa::mnemonics().any(|name| name == *word);
            for name in code
                .split(|c: char| !c.is_ascii_alphanumeric())
                .filter(known)
            {
                let slip = code.replacen(name, &format!("{name}Q"), 1);
                let mut lines = lines.clone();
                lines[n] = &slip;
                let e = refused(&lines.join("\n")).to_string();
                let start = format!(
                    "t.s:{}: mnemonic: `{name}Q` is no instruction of sm_50",
                    n + 1
                );
                assert!(e.starts_with(&start), "{e}\n{slip}");
                slips += 1;
            }
        }
    }
    assert!(slips > 100, "{slips}");
}

/// What nvdisasm 12.4 printed for 62 kernels of ptxas 12.9, beside this unit's instructions.
const LISTED: &str = "BAR DADD DFMA DMUL DSETP F2I I2F IADD IADD3 IADD32I IMNMX ISCADD ISETP LDC LDG LDL LOP32I \
                      MEMBAR MOV MOV32I MUFU NOP P2R R2P S2R SEL SHL SHR STG STL VOTE XMAD";

#[test]
fn every_mnemonic_of_the_listings_of_real_kernels_is_a_black_box() {
    for name in LISTED.split_whitespace() {
        assert_eq!(
            first(&format!("{name}.A P0, R0, c[0x0][0x4]")),
            NOP,
            "{name}"
        );
        assert_eq!(
            first(&format!("@!P0 {}", name.to_lowercase())),
            NOP,
            "{name}"
        );
    }
}

#[test]
fn mnemonics_are_listed_once() {
    let mut names: Vec<&str> = isa::mnemonics().collect();
    assert!(names.len() > 150, "{}", names.len());
    let plain = |name: &&str| {
        name.bytes()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == b'_')
    };
    assert!(names.iter().all(plain), "{names:?}");
    names.sort_unstable();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    for line in isa::BLACK_BOXES {
        assert!(line.split(' ').is_sorted(), "{line}");
    }
}

// ---- disassembly -------------------------------------------------------------------------------------------------

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
            ".word 0xe29000000400000f; // SSY 0x50, and bits that the unit ignores",
        ),
        (
            0x08,
            0xe24f_0000_0000_000f,
            ".word 0xe24f00000000000f; // @P0 BRA 0x10, and bits that the unit ignores",
        ),
        (
            0x08,
            0xe250_0fff_f887_000f,
            "BRX R0 -0x78; // UNSUPPORTED unless the unit is built with BRX=1",
        ),
        (
            0x08,
            0xe290_001f_8000_0020,
            "SSY c[0x1][-0x800]; // constant bank: UNSUPPORTED",
        ),
        (
            0x08,
            0xe350_0000_0007_001f,
            "CONT CC.RGT; // CC test: UNSUPPORTED",
        ),
        (0x08, 0xe3a0_0000_0007_000f, "BPT; // UNSUPPORTED"),
        (
            0x08,
            0xe3a0_0000_0000_00c0,
            ".word 0xe3a00000000000c0; // BPT; UNSUPPORTED",
        ),
        (
            0x08,
            0xe3b0_0000_0007_000f,
            ".word 0xe3b000000007000f; // ILLEGAL",
        ),
        (0x08, 0x5c98_0780_0027_0003, ".word 0x5c98078000270003;"),
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

/// A name from outside must not break out of its comment.
#[test]
fn program_text_survives_any_name() {
    let mut p = example("manual_terms.s");
    p.name = "a\nFOO\r\n.full".to_owned();
    for again in [
        assemble(&program_text(&p), "t.s").unwrap(),
        parse_hex(&hex_text(&p), "t.hex").unwrap(),
    ] {
        let name = p.name.clone();
        assert_eq!(Program { name, ..again }, p);
    }
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
    Program {
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
        let is_word = line.starts_with(".word");
        said += usize::from(!is_word);
        // Only what has no mnemonic, and ignored bits, need it.
        if let Word::SetUp(_) | Word::Branch(_) | Word::Indirect(_) | Word::Leave(_) =
            Word::decode(word)
        {
            assert_eq!(is_word, !Word::is_canonical(word), "{line}");
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

#[test]
fn the_examples_round_trip() {
    let mut seen = 0;
    for entry in std::fs::read_dir(FOLDER).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "s") {
            let name = path.file_name().unwrap().to_str().unwrap();
            let program = example(name);
            let again = assemble(&program_text(&program), name).unwrap();
            assert_eq!(again, program, "{name}");
            assert_eq!(parse_hex(&hex_text(&program), name).unwrap(), program);
            seen += 1;
        }
    }
    assert!(seen >= 7, "{seen} examples");
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
