//! The worked examples of spa5-7.

use super::*;

/// The rows of an example, `address word instruction`, targets as addresses, and the same with labels.
struct Example {
    rows: &'static str,
    labels: &'static str,
}

const EXAMPLES: [Example; 6] = [
    // 7.1
    Example {
        rows: "0008 5b6b00000007ff07 ISETP /* 0x5b6b00000007ff07 */
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
0010 1e04000000070404 FMUL32I /* 0x1e04000000070404 */
0018 081c4800000704ff FADD32I /* 0x081c4800000704ff */
0028 e350000000070006 CONT CC.GE
0030 080c000000070404 FADD32I /* 0x080c000000070404 */
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
0018 5b6b00000007ff07 ISETP /* 0x5b6b00000007ff07 */
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
        rows: "0008 5b6b00000007ff07 ISETP /* 0x5b6b00000007ff07 */
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
        rows: "0008 5b6b00000007ff07 ISETP /* 0x5b6b00000007ff07 */
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
        rows: "0008 5b6b00000007ff07 ISETP /* 0x5b6b00000007ff07 */
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
        // A line has one word.
        let words: Vec<String> = (text.iter())
            .map(|text| match text.split_once("/* ") {
                Some((_, word)) => format!(".word {}", word.trim_end_matches(" */")),
                None => (*text).to_owned(),
            })
            .collect();
        assert_eq!(program(&words.join(";")), expected);
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
            let expected = match text.split_once(" /*") {
                Some((name, word)) => format!("{name}; /*{word}"),
                None => format!("{text};"),
            };
            assert_eq!(said, expected, "{pc:#x}");
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
