//! The worked examples of r700-7.3 to r700-7.8 and r700-8.2.

use super::*;

/// Rows `words | instruction` as a program table has them, and statements that make the same words.
struct Example {
    rows: &'static [(&'static str, &'static str)],
    statements: &'static str,
}

const SPEC_7_3: Example = Example {
    rows: &[
        ("00000006 A4000000 u", "ALU_PUSH_BEFORE 0, @6 u"),
        ("00000003 85000000", "JUMP @3"),
        ("00000007 A0000000", "ALU 0, @7"),
        ("00000005 86800001", "ELSE @5 POP:1"),
        ("00000008 A8000000", "ALU_POP_AFTER 0, @8"),
        ("00000000 80200000", "NOP END"),
    ],
    statements: "IF @6\nALU @7\nELSE\nALU @8\nENDIF FUSED\nEND",
};

const SPEC_7_4: Example = Example {
    rows: &[
        ("0000000A A4000000 u", "ALU_PUSH_BEFORE 0, @10 u"),
        ("00000009 85000001", "JUMP @9 POP:1"),
        ("0000000B A4000000 u", "ALU_PUSH_BEFORE 0, @11 u"),
        ("00000005 85000000", "JUMP @5"),
        ("0000000C A0000000", "ALU 0, @12"),
        ("00000007 86800001", "ELSE @7 POP:1"),
        ("0000000D A8000000", "ALU_POP_AFTER 0, @13"),
        ("0000000E A0000000", "ALU 0, @14"),
        ("00000009 87000001", "POP @9 POP:1"),
        ("00000000 80200000", "NOP END"),
    ],
    statements: "IF @10\nIF @11\nALU @12\nELSE\nALU @13\nENDIF FUSED\nALU @14\nENDIF\nEND",
};

const SPEC_7_5: Example = Example {
    rows: &[
        ("0000000C 83000000", "LOOP_START_DX10 @12"),
        ("0000000E A0000000", "ALU 0, @14"),
        ("0000000F A4000000 u", "ALU_PUSH_BEFORE 0, @15 u"),
        ("00000006 85000001", "JUMP @6 POP:1"),
        ("0000000B 84800000", "LOOP_BREAK @11"),
        ("00000006 87000001", "POP @6 POP:1"),
        ("00000010 A4000000 u", "ALU_PUSH_BEFORE 0, @16 u"),
        ("0000000A 85000001", "JUMP @10 POP:1"),
        ("0000000B 84000000", "LOOP_CONTINUE @11"),
        ("0000000A 87000001", "POP @10 POP:1"),
        ("00000011 A0000000", "ALU 0, @17"),
        ("00000001 82800000", "LOOP_END @1"),
        ("00000000 80200000", "NOP END"),
    ],
    statements: "LOOP\nALU @14\nIF @15\nBREAK\nENDIF\nIF @16\nCONTINUE\nENDIF\nALU @17\nENDLOOP\nEND",
};

const SPEC_7_6: Example = Example {
    rows: &[
        ("00000006 82000018", "LOOP_START @6 i3"),
        ("00000008 A0000000", "ALU 0, @8"),
        ("00000009 A4000000 u", "ALU_PUSH_BEFORE 0, @9 u"),
        ("00000005 85000001", "JUMP @5 POP:1"),
        ("0000000A A8000000", "ALU_POP_AFTER 0, @10"),
        ("00000001 82800018", "LOOP_END @1 i3"),
        ("0000000B A0000000", "ALU 0, @11"),
        ("00000000 80200000", "NOP END"),
    ],
    statements: "LOOP i3\nALU @8\nIF @9\nALU @10\nENDIF FUSED\nENDLOOP\nALU @11\nEND",
};

const SPEC_7_7: Example = Example {
    rows: &[
        ("0000000C A4000000 u", "ALU_PUSH_BEFORE 0, @12 u"),
        ("00000004 85000001", "JUMP @4 POP:1"),
        ("00000006 89002228", "CALL @6 BOOL b5 CALL_COUNT:1"),
        ("00000004 87000001", "POP @4 POP:1"),
        ("0000000D A0000000", "ALU 0, @13"),
        ("00000000 80200000", "NOP END"),
        ("0000000E A0000000", "ALU 0, @14"),
        ("0000000F A4000000 u", "ALU_PUSH_BEFORE 0, @15 u"),
        ("0000000A 85000001", "JUMP @10 POP:1"),
        ("00000010 A8000000", "ALU_POP_AFTER 0, @16"),
        ("00000000 8A000000", "RETURN"),
    ],
    statements: "IF @12\nCALL f, b5\nENDIF\nALU @13\nEND\nf: ALU @14\nIF @15\nALU @16\nENDIF FUSED\nRETURN",
};

const SPEC_7_8: Example = Example {
    rows: &[
        ("0000000D 83000000", "LOOP_START_DX10 @13"),
        ("0000000E A4000000 u", "ALU_PUSH_BEFORE 0, @14 u"),
        ("0000000B 85000001", "JUMP @11 POP:1"),
        ("0000000F A4000000 u", "ALU_PUSH_BEFORE 0, @15 u"),
        ("00000007 85000001", "JUMP @7 POP:1"),
        ("0000000C 84800000", "LOOP_BREAK @12"),
        ("00000007 87000001", "POP @7 POP:1"),
        ("00000010 A4000000 u", "ALU_PUSH_BEFORE 0, @16 u"),
        ("0000000A 85000001", "JUMP @10 POP:1"),
        ("00000011 A8000000", "ALU_POP_AFTER 0, @17"),
        ("0000000B 87000001", "POP @11 POP:1"),
        ("00000012 B8000000 u", "ALU_BREAK 0, @18 u"),
        ("00000001 82800000", "LOOP_END @1"),
        ("00000000 80200000", "NOP END"),
    ],
    statements: "LOOP\nIF @14\nIF @15\nBREAK\nENDIF\nIF @16\nALU @17\nENDIF FUSED\nENDIF\nBREAK UNLESS @18\nENDLOOP\nEND",
};

const SPEC_8_2: Example = Example {
    rows: &[
        ("80000014 A0440000", "ALU 17, @20, KC0[CB0:0-32]"),
        ("0000000D 83000000", "LOOP_START_DX10 @13"),
        ("00000026 A4340000 u", "ALU_PUSH_BEFORE 13, @38 u"),
        ("00000008 85000001", "JUMP @8 POP:1"),
        ("00000034 A41C0000 u", "ALU_PUSH_BEFORE 7, @52 u"),
        ("00000007 85000001", "JUMP @7 POP:1"),
        ("0000003C A8140000", "ALU_POP_AFTER 5, @60"),
        ("00000008 87000001", "POP @8 POP:1"),
        ("00000042 A4080000 u", "ALU_PUSH_BEFORE 2, @66 u"),
        ("0000000C 85000001", "JUMP @12 POP:1"),
        ("0000000C 84800000", "LOOP_BREAK @12"),
        ("0000000C 87000001", "POP @12 POP:1"),
        ("00000002 82800000", "LOOP_END @2"),
        ("00000045 A4040000 u", "ALU_PUSH_BEFORE 1, @69 u"),
        ("00000010 85000001", "JUMP @16 POP:1"),
        ("00000047 A8040000", "ALU_POP_AFTER 1, @71"),
        ("00000049 A0000000", "ALU 0, @73"),
        ("C0000000 94200B08", "EXPORT_DONE 0xC0000000 0x000B08 END"),
        ("00000000 80200000", "NOP END"),
    ],
    statements: "ALU 17 @20 KC0[CB0:0-32]\nLOOP\nIF 13, @38\nIF 7, @52\nALU 5, @60\nENDIF FUSED\nENDIF\n\
                 IF 2, @66\nBREAK\nENDIF\nENDLOOP\nIF 1, @69\nALU 1, @71\nENDIF FUSED\nALU @73\n\
                 EXPORT_DONE 0xC0000000 0xB08 END\nEND",
};

const EXAMPLES: [&Example; 7] = [
    &SPEC_7_3, &SPEC_7_4, &SPEC_7_5, &SPEC_7_6, &SPEC_7_7, &SPEC_7_8, &SPEC_8_2,
];

impl Example {
    fn hex(&self) -> String {
        self.rows.iter().map(|(w, _)| format!("{w}\n")).collect()
    }

    fn listing(&self) -> String {
        self.rows.iter().map(|(_, t)| format!("{t}\n")).collect()
    }
}

/// Words, the manual's terms and statements are three texts of one program.
#[test]
fn listings_of_the_spec_assemble_to_their_words() {
    for example in EXAMPLES {
        let words = parse_hex(&example.hex(), "t.hex").unwrap();
        assert_eq!(words.quads.len(), example.rows.len());
        assert_eq!(words.regs.prog_len as usize, example.rows.len());
        assert_eq!(quads(&example.listing()), words.quads);
        assert_eq!(quads(example.statements), words.quads);
        for (pc, (q, (_, text))) in (0..).zip(words.quads.iter().zip(example.rows)) {
            let line = disassemble(*q, pc, &words.regs);
            assert_eq!(line.split(" ; ").next(), Some(*text));
        }
    }
}

/// The words themselves, not by way of the `.hex` reader.
#[test]
fn words_of_spec_7_3() {
    let expected = [
        with_u(6, 0xA400_0000),
        quad(3, 0x8500_0000),
        quad(7, 0xA000_0000),
        quad(5, 0x8680_0001),
        quad(8, 0xA800_0000),
        quad(0, 0x8020_0000),
    ];
    assert_eq!(quads(SPEC_7_3.statements), expected);
    assert_eq!(parse_hex(&SPEC_7_3.hex(), "t.hex").unwrap().quads, expected);
}

/// The listing of r700-8.2 as `llc` prints it, with u added.
#[test]
fn spellings_of_llvm() {
    let listing = "\tALU 17, @20, KC0[CB0:0-32], KC1[]
	LOOP_START_DX10 @13
	ALU_PUSH_BEFORE 13, @38, KC0[], KC1[] u
	JUMP @8 POP:1
	ALU_PUSH_BEFORE 7, @52, KC0[], KC1[] u
	JUMP @7 POP:1
	ALU_POP_AFTER 5, @60, KC0[], KC1[]
	POP @8 POP:1
	ALU_PUSH_BEFORE 2, @66, KC0[], KC1[] u
	JUMP @12 POP:1
	LOOP_BREAK @12
	POP @12 POP:1
	END_LOOP @2
	ALU_PUSH_BEFORE 1, @69, KC0[], KC1[] u
	JUMP @16 POP:1
	ALU_POP_AFTER 1, @71, KC0[], KC1[]
	ALU 0, @73, KC0[], KC1[]
	EXPORT T1.XY01
	CF_END
";
    let mut expected = quads(&SPEC_8_2.listing());
    // LLVM prints neither DONE, nor END, nor type and base of the export.
    expected[17] = quad(0, 0x9380_0000);
    assert_eq!(quads(listing), expected);
    assert_eq!(quads("EXPORT R12.xy__ END"), [quad(0, 0x93A0_0000)]);
    assert_eq!(quads("ELSE @18 POP:1"), [quad(18, 0x8680_0001)]);
    assert_eq!(quads("TEX 0 @14"), [quad(14, 0x8080_0000)]);
    assert_eq!(quads("VTX 1 @14"), [quad(14, 0x8100_0400)]);
}
