//! Forms of instructions, bundles and labels, listings, and directives.

use super::*;

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
fn a_placed_program_is_the_same_as_words() {
    let text = ".prog_base 0xffffff80\n.entry B\n.targets A 0xffffff80\n.constant c[0x3][0x10] 0x78\n\
                A: X\nB: BRA A\nJMP B\nJCAL C\nC: JMP 0x10\nBRA c[3][16]";
    let placed = program(text);
    assert_eq!(parse_hex(&hex_text(&placed), "t.hex").unwrap(), placed);
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
