//! Text to words and back: instruction fields, statements, assembler, disassembler.
//!
//! Expected words are copied from `docs/spec/r700.md` or follow r700-2 bit by bit, never computed.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use reconverge::input::InputError;
use reconverge::r700::asm::{
    ElseForm, EndifForm, Line, LoopKind, Stmt, When, assemble, disassemble, expand, hex_text,
    parse_hex, program_text, statement,
};
use reconverge::r700::isa::{Alu, AluOp, Cf, CfOp, Clause, Kcache, Mem, MemOp, Word};
use reconverge::r700::program::{MOST_QUADS, Program, Quad, Registers};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tb/programs/r700");

fn example(name: &str) -> Program {
    let text = std::fs::read_to_string(format!("{FOLDER}/{name}")).unwrap();
    assemble(&text, name).unwrap()
}

fn quad(dw0: u32, dw1: u32) -> Quad {
    Quad { dw0, dw1, u: false }
}

fn with_u(dw0: u32, dw1: u32) -> Quad {
    Quad { dw0, dw1, u: true }
}

/// The instructions of `text`.
fn quads(text: &str) -> Vec<Quad> {
    let program = assemble(text, "t.s").unwrap_or_else(|e| panic!("{e}\n{text}"));
    program.quads
}

/// The only instruction of `text`.
fn only(text: &str) -> Quad {
    match quads(text)[..] {
        [one] => one,
        ref all => panic!("{} instructions\n{text}", all.len()),
    }
}

/// The error of a `.s` file.
fn refused(text: &str) -> InputError {
    match assemble(text, "t.s") {
        Err(e) => e,
        Ok(_) => panic!("accepted:\n{text}"),
    }
}

// ---- worked examples of r700-7.3 to r700-7.8 and r700-8.2 --------------------------------------------------

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

// ---- the table of r700-7.1 ------------------------------------------------------------------------

/// Each row in a small program that holds it: text, address of the row's instruction, its words, what the
/// disassembler calls it.
#[rustfmt::skip]
const TABLE: &[(&str, usize, u32, u32, &str)] = &[
    // IF c, with ELSE
    ("IF @9\nELSE\nENDIF\nEND", 0, 9, 0xA400_0000, "IF"),
    ("IF @9\nELSE\nENDIF\nEND", 1, 2, 0x8500_0000, "to the ELSE"),
    ("IF 127, @4194303\nENDIF\nEND", 0, 0x003F_FFFF, 0xA5FC_0000, "IF"),
    // IF c, no ELSE
    ("IF @9\nENDIF\nEND", 0, 9, 0xA400_0000, "IF"),
    ("IF @9\nENDIF\nEND", 1, 3, 0x8500_0001, "to the end"),
    // ELSE
    ("IF @9\nELSE\nENDIF\nEND", 2, 4, 0x8680_0001, "ELSE"),
    ("IF @9\nELSE VPM\nENDIF\nEND", 2, 4, 0x86C0_0001, "ELSE VPM"),
    ("IF @9\nELSE STAY\nALU\nENDIF\nEND", 2, 3, 0x8680_0000, "ELSE STAY"),
    ("IF @9\nELSE VPM STAY\nENDIF\nEND", 2, 3, 0x86C0_0000, "ELSE STAY VPM"),
    // ENDIF
    ("IF @9\nENDIF\nEND", 2, 3, 0x8700_0001, "ENDIF"),
    ("IF @9\nENDIF VPM\nEND", 2, 3, 0x8740_0001, "ENDIF VPM"),
    // ENDIF fused
    ("IF @9\nALU 127, @4194303\nENDIF FUSED\nEND", 2, 0x003F_FFFF, 0xA9FC_0000, "ENDIF FUSED"),
    ("IF @9\nALU\nENDIF FUSED\nEND", 1, 3, 0x8500_0001, "to the end"),
    ("IF @9\nELSE\nALU\nENDIF FUSED\nEND", 1, 2, 0x8500_0000, "to the ELSE"),
    ("IF @9\nELSE\nALU\nENDIF FUSED\nEND", 2, 4, 0x8680_0001, "ELSE"),
    // two ENDIFs fused
    ("IF @8\nIF @9\nALU @10\nENDIF2\nEND", 4, 10, 0xAC00_0000, "ENDIF2"),
    ("IF @8\nIF @9\nALU @10\nENDIF2\nEND", 1, 5, 0x8500_0001, "to the end"),
    ("IF @8\nIF @9\nALU @10\nENDIF2\nEND", 3, 5, 0x8500_0002, "to the end of two IFs"),
    ("IF @8\nIF @9\nELSE\nALU @10\nENDIF2\nEND", 3, 4, 0x8500_0000, "to the ELSE"),
    ("IF @8\nIF @9\nELSE\nALU @10\nENDIF2\nEND", 4, 6, 0x8680_0002, "ELSE, end of two IFs"),
    ("IF @8\nELSE\nIF @9\nALU @10\nENDIF2\nEND", 2, 6, 0x8680_0001, "ELSE"),
    ("IF b1 FRAME\nIF b2 FRAME\nALU @10\nENDIF2\nEND", 0, 3, 0x8580_0208, "IF b1 FRAME"),
    ("IF b1 FRAME\nIF b2 FRAME\nALU @10\nENDIF2\nEND", 1, 3, 0x8580_0211, "IF b2 FRAME, end of two IFs"),
    // ELSE fused
    ("IF @9\nALU 1, @10\nELSE FUSED\nALU\nENDIF\nEND", 2, 10, 0xBC04_0000, "ELSE FUSED"),
    ("IF @9\nALU 1, @10\nELSE FUSED\nALU\nENDIF\nEND", 1, 2, 0x8500_0000, "to the ELSE"),
    ("IF @9\nALU\nALU 1, @10\nELSE FUSED\nENDIF\nEND", 1, 3, 0x8500_0000, "to the ELSE"),
    // IF not c
    ("IF NOT 3, @9\nENDIF\nEND", 0, 9, 0xBC0C_0000, "IF NOT"),
    ("IF NOT 3, @9\nENDIF\nEND", 1, 3, 0x8500_0001, "to the end"),
    // IF boolean, no frame
    ("IF b5\nENDIF\nEND", 0, 1, 0x8500_0228, "IF b5"),
    ("IF b31\nALU\nENDIF\nEND", 0, 2, 0x8500_02F8, "IF b31"),
    ("IF !b5\nENDIF\nEND", 0, 1, 0x8500_0328, "IF !b5"),
    ("IF b0\nELSE\nENDIF\nEND", 0, 2, 0x8500_0200, "IF b0"),
    ("IF b0\nELSE\nENDIF\nEND", 1, 2, 0x8500_0100, "ELSE, no frame"),
    ("IF b0 VPM\nELSE\nALU\nENDIF\nEND", 0, 2, 0x8540_0200, "IF b0 VPM"),
    // IF boolean, with frame, no ELSE
    ("IF b5 FRAME\nENDIF\nEND", 0, 2, 0x8580_0228, "IF b5 FRAME"),
    ("IF b31 FRAME VPM\nENDIF\nEND", 0, 2, 0x85C0_02F8, "IF b31 FRAME VPM"),
    ("IF !b5 FRAME\nENDIF\nEND", 1, 2, 0x8700_0001, "ENDIF"),
    ("IF !b5 FRAME\nALU\nENDIF FUSED\nEND", 0, 2, 0x8580_0328, "IF !b5 FRAME"),
    // the same with ELSE
    ("IF b5 FRAME\nELSE\nENDIF\nEND", 0, 1, 0x8600_0228, "IF b5 FRAME, with ELSE"),
    ("IF b31 FRAME VPM\nELSE\nENDIF\nEND", 0, 1, 0x8640_02F8, "IF b31 FRAME, with ELSE VPM"),
    ("IF b5 FRAME\nELSE\nENDIF\nEND", 1, 3, 0x8680_0001, "ELSE"),
    ("IF b5 FRAME\nALU\nELSE FUSED\nENDIF\nEND", 0, 1, 0x8600_0228, "IF b5 FRAME, with ELSE"),
    // LOOP until break
    ("LOOP\nALU\nENDLOOP\nEND", 0, 3, 0x8300_0000, "LOOP"),
    ("LOOP\nALU\nENDLOOP\nEND", 2, 1, 0x8280_0000, "ENDLOOP"),
    ("LOOP\nALU\nENDLOOP VPM\nEND", 2, 1, 0x82C0_0000, "ENDLOOP VPM"),
    // LOOP i
    ("LOOP i3\nENDLOOP\nEND", 0, 2, 0x8200_0018, "LOOP i3"),
    ("LOOP i31\nENDLOOP\nEND", 0, 2, 0x8200_00F8, "LOOP i31"),
    ("LOOP i31\nENDLOOP\nEND", 1, 1, 0x8280_00F8, "ENDLOOP"),
    // REPEAT i
    ("REPEAT i0\nENDLOOP\nEND", 0, 2, 0x8380_0000, "REPEAT i0"),
    ("REPEAT i31\nENDLOOP\nEND", 0, 2, 0x8380_00F8, "REPEAT i31"),
    ("REPEAT i31\nENDLOOP\nEND", 1, 1, 0x8280_00F8, "ENDLOOP"),
    // BREAK, CONTINUE
    ("LOOP\nBREAK\nALU\nENDLOOP\nEND", 1, 3, 0x8480_0000, "BREAK"),
    ("LOOP\nCONTINUE\nALU\nENDLOOP\nEND", 1, 3, 0x8400_0000, "CONTINUE"),
    ("LOOP\nIF @9\nIF @9\nBREAK\nENDIF\nENDIF\nENDLOOP\nEND", 5, 8, 0x8480_0000, "BREAK"),
    ("LOOP\nBREAK b31\nENDLOOP\nEND", 1, 2, 0x8480_02F8, "BREAK b31"),
    ("LOOP\nCONTINUE !b31\nENDLOOP\nEND", 1, 2, 0x8400_03F8, "CONTINUE !b31"),
    // BREAK / CONTINUE unless c
    ("LOOP\nBREAK UNLESS 127, @4194303\nENDLOOP\nEND", 1, 0x003F_FFFF, 0xB9FC_0000, "BREAK UNLESS"),
    ("LOOP\nCONTINUE UNLESS @9\nENDLOOP\nEND", 1, 9, 0xB400_0000, "CONTINUE UNLESS"),
    // jump to LOOP_END if nothing is left to do
    ("LOOP\nBREAK FALSE\nENDLOOP\nEND", 1, 2, 0x8480_0100, "BREAK FALSE"),
    ("LOOP\nCONTINUE FALSE\nENDLOOP\nEND", 1, 2, 0x8400_0100, "CONTINUE FALSE"),
    // skip the rest of this block unless c
    ("ALU 2, @9 u", 0, 9, 0xA008_0000, "skips the rest of the block unless its predicate holds"),
    // CALL f ... RETURN
    ("CALL f\nEND\nf: RETURN", 0, 2, 0x8900_2000, "CALL"),
    ("CALL f b31\nEND\nf: RETURN", 0, 2, 0x8900_22F8, "CALL b31"),
    ("CALL f !b5\nEND\nf: RETURN", 0, 2, 0x8900_2328, "CALL !b5"),
    ("CALL f\nEND\nf: RETURN", 2, 0, 0x8A00_0000, "RETURN"),
    ("CALL f\nEND\nf: RETURN b5\nRETURN", 2, 0, 0x8A00_0228, "RETURN b5"),
    // KILL
    ("KILL\nEND", 0, 1, 0x8C00_0000, "KILL"),
    ("KILL VPM b1\nEND", 0, 1, 0x8C40_0208, "KILL b1 VPM"),
    // end
    ("END", 0, 0, 0x8020_0000, "END"),
];

#[test]
fn statements_become_the_words_of_the_table() {
    for (text, at, dw0, dw1, name) in TABLE {
        let q = quads(text)[*at];
        assert_eq!((q.dw0, q.dw1), (*dw0, *dw1), "{text}");
        assert_eq!(statement(q).as_deref(), Some(*name), "{text}");
    }
}

/// u is set by the statements that need it and by nothing else.
#[test]
fn statements_set_u() {
    let u = |text: &str| -> Vec<usize> {
        let all = quads(text);
        (0..all.len()).filter(|i| all[*i].u).collect()
    };
    assert_eq!(u("IF @9\nALU\nELSE\nALU\nENDIF\nEND"), [0]);
    assert_eq!(u("IF NOT @9\nALU\nELSE FUSED\nALU\nENDIF FUSED\nEND"), [0]);
    assert_eq!(u("IF @9\nIF @9\nALU\nENDIF2\nEND"), [0, 2]);
    assert_eq!(
        u("LOOP\nBREAK UNLESS\nCONTINUE UNLESS\nENDLOOP\nEND"),
        [1, 2]
    );
    assert_eq!(u("LOOP\nBREAK UNLESS EXPANDED\nENDLOOP\nEND"), [2]);
    assert_eq!(
        u("IF b1 FRAME\nALU\nELSE\nENDIF\nIF b1\nENDIF\nEND"),
        [0; 0]
    );
    // An ALU keeps its own when it is fused with an ENDIF.
    assert_eq!(u("IF\nALU u\nENDIF FUSED\nEND"), [0, 2]);
}

/// The JUMP behind a push may be left out.
#[test]
fn a_jump_left_out() {
    let both = |text: &str| quads(text);
    assert_eq!(
        both("IF @9 NO_JUMP\nALU @10\nELSE\nALU @11\nENDIF\nEND"),
        [
            with_u(9, 0xA400_0000),
            quad(10, 0xA000_0000),
            quad(5, 0x8680_0001),
            quad(11, 0xA000_0000),
            quad(5, 0x8700_0001),
            quad(0, 0x8020_0000),
        ]
    );
    assert_eq!(
        both("IF NOT @9 NO_JUMP\nALU @10\nENDIF FUSED\nEND"),
        [
            with_u(9, 0xBC00_0000),
            quad(10, 0xA800_0000),
            quad(0, 0x8020_0000),
        ]
    );
}

/// r700-7.1 and r700-O17: PUSH, ALU, ELSE, LOOP_BREAK, POP, the first with an address behind the last.
#[test]
fn break_and_continue_unless_expanded() {
    for (word, leave) in [("BREAK", 0x8480_0000), ("CONTINUE", 0x8400_0000)] {
        let text = format!("LOOP\n{word} UNLESS 1, @9 EXPANDED\nALU\nENDLOOP\nEND");
        let expected = [
            quad(8, 0x8300_0000),
            quad(6, 0x8580_0000),
            with_u(9, 0xA004_0000),
            quad(6, 0x8680_0001),
            quad(7, leave),
            quad(6, 0x8700_0001),
            quad(0, 0xA000_0000),
            quad(1, 0x8280_0000),
            quad(0, 0x8020_0000),
        ];
        assert_eq!(quads(&text), expected, "{text}");
    }
}

/// Frameless IFs nest in anything, and RETURN and END may stand in them.
#[test]
fn a_boolean_if_without_a_frame_may_return_and_end() {
    assert_eq!(
        quads("CALL f\nIF b1\nEND\nELSE\nALU @9\nENDIF\nEND\nf: IF b2\nRETURN\nENDIF\nRETURN"),
        [
            quad(6, 0x8900_2000),
            quad(4, 0x8500_0208),
            quad(0, 0x8020_0000),
            quad(5, 0x8500_0100),
            quad(9, 0xA000_0000),
            quad(0, 0x8020_0000),
            quad(8, 0x8500_0210),
            quad(0, 0x8A00_0000),
            quad(0, 0x8A00_0000),
        ]
    );
}

/// Leaving goes to the LOOP_END of the innermost loop, whatever stands between.
#[test]
fn leaving_finds_its_loop() {
    let text = "LOOP\nLOOP i1\nBREAK\nENDLOOP\nIF @9\nREPEAT i2\nCONTINUE\nBREAK UNLESS @9\nENDLOOP\nBREAK\nENDIF\nENDLOOP\nEND";
    let targets: Vec<(u32, u32)> = quads(text)
        .iter()
        .filter(|q| matches!(q.dw1 >> 23, 0x108 | 0x109))
        .map(|q| (q.dw0, q.dw1 >> 23 & 127))
        .collect();
    assert_eq!(targets, [(3, 9), (9, 8), (12, 9)]);
}

/// The statement layer without text: what a program generator uses.
#[test]
fn expand_reports_lines_and_labels() {
    let stmts = [
        Line::new(
            1,
            Stmt::Call {
                label: "s".into(),
                when: !When::Bool(3),
                count: 2,
            },
        ),
        Line::new(2, Stmt::End),
        Line::new(4, Stmt::Label("s".into())),
        Line::new(
            5,
            Stmt::If {
                clause: Clause::at(9),
                not: false,
                jump: true,
            },
        ),
        Line::new(
            6,
            Stmt::Alu {
                clause: Clause::at(10),
                u: true,
            },
        ),
        Line::new(
            7,
            Stmt::Endif {
                form: EndifForm::Fused,
                vpm: false,
            },
        ),
        Line::new(
            8,
            Stmt::Raw {
                quad: quad(7, 0x8A00_0000),
                target: Some("s".into()),
            },
        ),
    ];
    let code = expand(&stmts, "gen").unwrap();
    let expected = [
        quad(2, 0x8900_4318),
        quad(0, 0x8020_0000),
        with_u(9, 0xA400_0000),
        quad(5, 0x8500_0001),
        with_u(10, 0xA800_0000),
        quad(2, 0x8A00_0000),
    ];
    assert_eq!(code.quads, expected);
    assert_eq!(code.lines, [1, 2, 5, 5, 6, 8]);
    assert_eq!(code.labels["s"], 2);
    assert!(expand(&[], "gen").unwrap().quads.is_empty());
}

#[test]
fn conditions_have_complements() {
    for when in [When::Always, When::Never, When::Bool(31), When::NotBool(0)] {
        assert_eq!(!!when, when);
        assert_ne!(!when, when);
        assert_eq!((!when).boolean(), when.boolean());
    }
}

// ---- instructions in the manual's terms -----------------------------------------------------------------

/// Every operand at both ends of its range (r700-2.2 to r700-2.4).
#[test]
#[rustfmt::skip]
fn operands_become_fields() {
    for (text, dw0, dw1) in [
        ("NOP", 0, 0x8000_0000),
        ("NOP @4294967295", 0xFFFF_FFFF, 0x8000_0000),
        ("jump @0 pop:7 i31 count:15 call_count:63 vpm wqm end no_barrier", 0, 0x456F_FCFF),
        ("JUMP NO_BARRIER @0x10", 16, 0x0500_0000),
        ("POP @1 POP:0x7", 1, 0x8700_0007),
        ("JUMP @1 BOOL b31", 1, 0x8500_02F8),
        ("JUMP @1 b31", 1, 0x8500_02F8),
        ("JUMP @1 NOT_BOOL b31", 1, 0x8500_03F8),
        ("JUMP @1 !B31", 1, 0x8500_03F8),
        ("JUMP @1 NOT_BOOL !b31", 1, 0x8500_03F8),
        ("JUMP @1 FALSE", 1, 0x8500_0100),
        ("JUMP @1, FALSE, i31", 1, 0x8500_01F8),
        ("LOOP_START @1 CF_CONST i31 BOOL b31", 1, 0x8200_02F8),
        ("LOOP_START_NO_AL @1 I0", 1, 0x8380_0000),
        ("PUSH @1 COUNT:7", 1, 0x8580_1C00),
        ("PUSH @1 COUNT:8", 1, 0x8588_0000),
        ("TEX 15 @4294967295 END", 0xFFFF_FFFF, 0x80A8_1C00),
        ("VTX_TC", 0, 0x8180_0000),
        ("VTX_ACK 7", 0, 0x8E00_1C00),
        ("CALL @1 CALL_COUNT:63", 1, 0x8907_E000),
        ("CALL @1", 1, 0x8900_0000),
        ("RETURN @1 POP:1", 1, 0x8A00_0001),
        ("RETURN @0 END", 0, 0x8A20_0000),
        ("RETURN !b31", 0, 0x8A00_03F8),
        ("KILL @0", 0, 0x8C00_0000),
        ("POP_PUSH_ELSE @0", 0, 0x8880_0000),
        ("MEM_STREAM3", 0, 0x9180_0000),
        ("MEM_EXPORT 0xFFFFFFFF 0x1FFFFF VPM WQM END NO_BARRIER", 0xFFFF_FFFF, 0x5D7F_FFFF),
        ("ALU", 0, 0xA000_0000),
        ("ALU 127", 0, 0xA1FC_0000),
        ("ALU @4194303 127 ALT_CONST WQM NO_BARRIER", 0x003F_FFFF, 0x63FC_0000),
        ("ALU KC0[CB15:4080-4096]", 15 << 22 | 1 << 30, 0xA000_03FC),
        ("ALU KC1[CB15:4080-4112]", 15 << 26, 0xA003_FC02),
        ("ALU kc0[cb1:16-48+al] kc1[]", 1 << 22 | 3 << 30, 0xA000_0004),
        ("ALU KC1[CB0:0-32+aL]", 0, 0xA000_0003),
        ("ALU KC0[CB15:4080-4080]", 15 << 22, 0xA000_03FC),
        (".quad 0xFFFFFFFF 1", 0xFFFF_FFFF, 1),
        (".QUAD 7, B0000000", 7, 0xB000_0000),
    ] {
        assert_eq!(only(text), quad(dw0, dw1), "{text}");
    }
    assert_eq!(only("ALU_BREAK u"), with_u(0, 0xB800_0000));
    assert_eq!(only("alu_continue U 1"), with_u(0, 0xB404_0000));
    assert_eq!(only(".quad 0 0 u"), with_u(0, 0));
}

/// A label fills the address field of either format, and nothing else.
#[test]
fn labels_become_addresses() {
    let words = quads("a: JUMP @c POP:2\nb: ALU @c KC0[CB15:16-32]\nc: d: .quad 0 0\nCALL @b");
    assert_eq!(
        words,
        [
            quad(2, 0x8500_0002),
            quad(2 | 15 << 22 | 1 << 30, 0xA000_0004),
            quad(0, 0),
            quad(1, 0x8900_0000),
        ]
    );
    // Labels are told apart by case; an operand's name is a label like any other.
    assert_eq!(quads("x: ALU\nX: JUMP @x\nEND: JUMP @END")[2].dw0, 2);
    assert_eq!(quads("CALL b5\nEND\nb5: RETURN")[0], quad(2, 0x8900_2000));
}

// ---- directives ------------------------------------------------------------------------------------------

#[test]
fn directives_set_registers() {
    let text = ".STACK 255\n.int i31 4095 4095 -128 ; last\n.int 0 0x10\n.bool b0, b31\n.entry go\n.prog_len 0xFFFFFFFF\nALU x1:\ngo: END // done\n";
    assert_eq!(refused(text).line, 7);
    let p = assemble(&text.replace(" x1:", ""), "some/where/name.of.s").unwrap();
    let mut loop_const = [0; 32];
    loop_const[31] = 0x80FF_FFFF;
    loop_const[0] = 0x10;
    assert_eq!(
        p.regs,
        Registers {
            entry: 1,
            prog_len: u32::MAX,
            stack_size: 255,
            bool_const: 0x8000_0001,
            loop_const,
        }
    );
    assert_eq!(p.name, "name.of");
    let raw = ".reg sq_bool_const 3\n.reg SQ_LOOP_CONST_31 0xFE00A003\n.entry 4294967295\n.prog_len 0\nEND";
    let p = assemble(raw, "t.s").unwrap();
    let mut loop_const = [0; 32];
    loop_const[31] = 0xFE00_A003;
    assert_eq!(
        p.regs,
        Registers {
            entry: u32::MAX,
            prog_len: 0,
            stack_size: 32,
            bool_const: 3,
            loop_const,
        }
    );
    // r700-7.6.
    let p = assemble(".int i3 3 10 -2\nEND", "t.s").unwrap();
    assert_eq!(p.regs.loop_const[3], 0xFE00_A003);
    assert_eq!(
        assemble("ALU\nEND", "t.s").unwrap().regs,
        Registers {
            prog_len: 2,
            ..Registers::default()
        }
    );
}

// ---- limits, each at N and N + 1 ---------------------------------------------------------------------------

fn repeat(line: &str, n: usize) -> String {
    format!("{line}\n").repeat(n)
}

/// Texts that differ in one number: the first is the last that is accepted, the second is refused in the field
/// named third.
#[test]
#[rustfmt::skip]
fn limits() {
    for (accepted, over, field) in [
        ("IF 127\nENDIF", "IF 128\nENDIF", "COUNT"),
        ("IF @4194303\nENDIF", "IF @4194304\nENDIF", "address"),
        ("ALU @4194303", "ALU @4194304", "address"),
        ("ALU @0", "ALU @-1", "address"),
        ("ALU 127", "ALU 128", "COUNT"),
        ("ALU KC0[CB15:0-16]", "ALU KC0[CB16:0-16]", "KC0"),
        ("ALU KC1[CB0:4080-4096]", "ALU KC1[CB0:4096-4112]", "KC1"),
        ("ALU KC1[CB0:4080-4112]", "ALU KC1[CB0:4080-4113]", "KC1"),
        ("TEX 15", "TEX 16", "COUNT"),
        ("JUMP @4294967295", "JUMP @4294967296", "address"),
        ("JUMP @1 POP:7", "JUMP @1 POP:8", "POP"),
        ("JUMP @1 i31", "JUMP @1 i32", "CF_CONST"),
        ("JUMP @1 b31", "JUMP @1 b32", "condition"),
        ("JUMP @1 !b31", "JUMP @1 !b32", "condition"),
        ("JUMP @1 COUNT:15", "JUMP @1 COUNT:16", "COUNT"),
        ("CALL @1 CALL_COUNT:63", "CALL @1 CALL_COUNT:64", "CALL_COUNT"),
        ("x: CALL x CALL_COUNT:63", "x: CALL x CALL_COUNT:64", "CALL_COUNT"),
        ("EXPORT 0xFFFFFFFF 0", "EXPORT 0x100000000 0", "DW0"),
        ("EXPORT 0 0x1FFFFF", "EXPORT 0 0x200000", "REST"),
        (".quad FFFFFFFF 0", ".quad 100000000 0", "DW0"),
        (".quad 0 FFFFFFFF", ".quad 0 100000000", "DW1"),
        ("LOOP i31\nENDLOOP", "LOOP i32\nENDLOOP", "constant"),
        ("REPEAT i31\nENDLOOP", "REPEAT i32\nENDLOOP", "constant"),
        ("IF b31\nENDIF", "IF b32\nENDIF", "condition"),
        (".stack 255\nEND", ".stack 256\nEND", "STACK_SIZE"),
        (".stack 0\nEND", ".stack -1\nEND", "STACK_SIZE"),
        (".int 31 1\nEND", ".int 32 1\nEND", "constant"),
        (".int i31 1\nEND", ".int i32 1\nEND", "constant"),
        (".int 0 4095\nEND", ".int 0 4096\nEND", "count"),
        (".int 0 0\nEND", ".int 0 -1\nEND", "count"),
        (".int 0 1 4095\nEND", ".int 0 1 4096\nEND", "first"),
        (".int 0 1 0 127\nEND", ".int 0 1 0 128\nEND", "step"),
        (".int 0 1 0 -128\nEND", ".int 0 1 0 -129\nEND", "step"),
        (".bool b31\nEND", ".bool b32\nEND", "constant"),
        (".bool 0xFFFFFFFF\nEND", ".bool 0x100000000\nEND", "value"),
        (".reg SQ_LOOP_CONST_31 0\nEND", ".reg SQ_LOOP_CONST_32 0\nEND", "register"),
        (".reg SQ_BOOL_CONST 0xFFFFFFFF\nEND", ".reg SQ_BOOL_CONST 0x100000000\nEND", "value"),
        (".entry 4294967295\nEND", ".entry 4294967296\nEND", "address"),
        (".prog_len 4294967295\nEND", ".prog_len 4294967296\nEND", "prog_len"),
    ] {
        if let Err(e) = assemble(accepted, "t.s") {
            panic!("{e}\n{accepted}");
        }
        assert_eq!(refused(over).field, field, "{over}");
    }
}

#[test]
fn a_program_has_at_most_65536_instructions() {
    assert_eq!(MOST_QUADS, 65_536);
    let e = refused(&repeat("ALU", 65_537));
    assert_eq!(
        e.to_string(),
        "t.s:65537: program: has more than 65536 instructions: this is the first too many"
    );
    let p = assemble(&format!("x:{}JUMP @y\ny:", repeat("ALU", 65_535)), "t.s").unwrap();
    assert_eq!(p.quads[65_535].dw0, 65_536);
    assert_eq!(p.regs.prog_len, 65_536);
    let e = parse_hex(&repeat("0 0", 65_537), "t.hex").unwrap_err();
    assert_eq!((e.line, e.field.as_str()), (65_537, "program"));
    let p = parse_hex(&repeat("0 0", 65_536), "t.hex").unwrap();
    assert_eq!(p.quads.len(), 65_536);
    // A statement of several instructions stops at the one that does not fit.
    assert_eq!(
        refused(&format!("{}IF\nENDIF", repeat("ALU", 65_535))).line,
        65_536
    );
}

#[test]
fn hex_is_two_words_and_u() {
    let p = parse_hex(
        "0xFFFFFFFF ffffffff u ; all\n.stack 1\n1 2\n0X0 0 U",
        "t.hex",
    )
    .unwrap();
    let expected = [with_u(u32::MAX, u32::MAX), quad(1, 2), with_u(0, 0)];
    assert_eq!(p.quads, expected);
    assert_eq!((p.regs.stack_size, p.regs.prog_len), (1, 3));
    for (text, error) in [
        (
            "100000000 0",
            "t.hex:1: DW0: `100000000` is not a 32-bit word in hexadecimal",
        ),
        (
            "0 0x",
            "t.hex:1: DW1: `0x` is not a 32-bit word in hexadecimal",
        ),
        (
            "0 -1",
            "t.hex:1: DW1: `-1` is not a 32-bit word in hexadecimal",
        ),
        (
            "\n0",
            "t.hex:2: instruction: is two words and perhaps u: DW0 DW1 [u]",
        ),
        (
            "0 0 x",
            "t.hex:1: instruction: is two words and perhaps u: DW0 DW1 [u]",
        ),
        (
            "0 0 u u",
            "t.hex:1: instruction: is two words and perhaps u: DW0 DW1 [u]",
        ),
        (
            "0 0\n.entry main",
            "t.hex:2: address: `main` is not a number",
        ),
        (
            "0 0\n.quad 0 0",
            "t.hex:2: directive: there is no directive `.quad` here",
        ),
        ("; nothing", "t.hex: program: has no instruction"),
    ] {
        assert_eq!(parse_hex(text, "t.hex").unwrap_err().to_string(), error);
    }
}

/// The statement layer's own checks, which text cannot reach.
#[test]
fn expand_checks_its_numbers() {
    let one = |stmt: Stmt| {
        expand(&[Line::new(3, stmt)], "gen")
            .unwrap_err()
            .to_string()
    };
    let clause = |clause| Stmt::Alu { clause, u: false };
    let window = |kcache| {
        clause(Clause {
            kcache: [Kcache::default(), kcache],
            ..Clause::at(0)
        })
    };
    for (stmt, error) in [
        (
            Stmt::Loop {
                kind: LoopKind::Al(32),
            },
            "gen:3: constant: 32 is not in 0..31",
        ),
        (
            Stmt::Loop {
                kind: LoopKind::NoAl(32),
            },
            "gen:3: constant: 32 is not in 0..31",
        ),
        (
            Stmt::IfBool {
                when: When::NotBool(32),
                frame: true,
                vpm: false,
            },
            "gen:3: boolean: 32 is not in 0..31",
        ),
        (
            Stmt::Kill {
                when: When::Bool(255),
                vpm: false,
            },
            "gen:3: boolean: 255 is not in 0..31",
        ),
        (
            Stmt::Return {
                when: When::Bool(32),
            },
            "gen:3: boolean: 32 is not in 0..31",
        ),
        (
            Stmt::Break {
                when: When::Bool(32),
            },
            "gen:3: boolean: 32 is not in 0..31",
        ),
        (
            Stmt::Call {
                label: "x".into(),
                when: When::Bool(32),
                count: 1,
            },
            "gen:3: boolean: 32 is not in 0..31",
        ),
        (
            Stmt::Call {
                label: "x".into(),
                when: When::Always,
                count: 64,
            },
            "gen:3: CALL_COUNT: 64 is not in 0..63",
        ),
        (
            clause(Clause::at(1 << 22)),
            "gen:3: address: 4194304 is not in 0..4194303",
        ),
        (
            clause(Clause {
                count: 128,
                ..Clause::at(0)
            }),
            "gen:3: COUNT: 128 is not in 0..127",
        ),
        (
            window(Kcache {
                bank: 16,
                mode: 0,
                addr: 0,
            }),
            "gen:3: KCACHE_BANK: 16 is not in 0..15",
        ),
        (
            window(Kcache {
                bank: 0,
                mode: 4,
                addr: 0,
            }),
            "gen:3: KCACHE_MODE: 4 is not in 0..3",
        ),
    ] {
        assert_eq!(one(stmt), error);
    }
}

// ---- misuse ----------------------------------------------------------------------------------------------------

/// Text, and what it is refused with behind `t.s:`.
#[rustfmt::skip]
const MISUSE: &[(&str, &str)] = &[
    ("", " program: has no instruction"),
    (".stack 1", " program: has no instruction"),
    // Nesting.
    ("ALU\nELSE", "2: ELSE: belongs to an IF, none is open"),
    ("ENDIF", "1: ENDIF: belongs to an IF, none is open"),
    ("ENDIF2", "1: ENDIF: belongs to an IF, none is open"),
    ("IF\nALU\nENDIF2", "3: ENDIF: belongs to an IF, none is open"),
    ("LOOP\nIF\nALU\nENDIF2", "4: ENDIF: belongs to an IF, but the LOOP of line 1 is open"),
    ("ENDLOOP", "1: ENDLOOP: belongs to a LOOP, none is open"),
    ("IF\nENDLOOP", "2: ENDLOOP: belongs to a LOOP, but the IF of line 1 is open"),
    ("LOOP\nENDIF", "2: ENDIF: belongs to an IF, but the LOOP of line 1 is open"),
    ("IF\nREPEAT i0\nELSE", "3: ELSE: belongs to an IF, but the LOOP of line 2 is open"),
    ("IF\nELSE\nELSE\nENDIF", "3: ELSE: the IF of line 1 has an ELSE already"),
    ("IF b0\nELSE\nELSE\nENDIF", "3: ELSE: the IF of line 1 has an ELSE already"),
    ("IF\nEXPORT", "1: IF: needs ENDIF"),
    ("ALU\nLOOP\nALU", "2: LOOP: needs ENDLOOP"),
    ("LOOP\nIF b0\nALU", "2: IF: needs ENDIF"),
    ("CALL s\nLOOP\ns: ENDLOOP\nRETURN", "2: LOOP: needs ENDLOOP before the first subroutine"),
    ("CALL @s\nLOOP\ns: ENDLOOP\nRETURN", "2: LOOP: needs ENDLOOP before the first subroutine"),
    ("CALL s\nCALL t\nEND\ns: IF\nt: RETURN", "4: IF: needs ENDIF before the end of subroutine `s`"),
    ("CALL s\nEND\ns: IF\nRETURN @0", "3: IF: needs ENDIF before the end of subroutine `s`"),
    // Loops.
    ("BREAK", "1: BREAK: no LOOP is open"),
    ("IF\nCONTINUE b1\nENDIF", "2: CONTINUE: no LOOP is open"),
    ("BREAK UNLESS @1", "1: BREAK: no LOOP is open"),
    ("CONTINUE UNLESS @1 EXPANDED", "1: CONTINUE: no LOOP is open"),
    ("LOOP\nCALL s\nENDLOOP\nEND\ns: BREAK\nRETURN", "5: BREAK: no LOOP is open in subroutine `s`, and none can be left across a CALL"),
    ("REPEAT i0\nCALL s\nENDLOOP\nEND\ns: CONTINUE UNLESS @1\nRETURN", "5: CONTINUE: no LOOP is open in subroutine `s`, and none can be left across a CALL"),
    // RETURN and END with frames.
    ("CALL s\nEND\ns: IF\nRETURN\nENDIF\nRETURN", "4: RETURN: inside the IF of line 3, whose frame is on the stack: NO_CALL"),
    ("CALL s\nEND\ns: IF b1 FRAME\nRETURN\nENDIF\nRETURN", "4: RETURN: inside the IF of line 3, whose frame is on the stack: NO_CALL"),
    ("CALL s\nEND\ns: LOOP\nIF b1\nRETURN\nENDIF\nENDLOOP\nRETURN", "5: RETURN: inside the LOOP of line 3, whose frame is on the stack: NO_CALL"),
    ("IF\nEND\nENDIF", "2: END: inside the IF of line 1, whose frame is on the stack: END_STACK"),
    ("LOOP\nCF_END\nENDLOOP", "2: END: inside the LOOP of line 1, whose frame is on the stack: END_STACK"),
    // Forms.
    ("IF\nENDIF FUSED", "2: ENDIF: cannot be fused: the part before it is empty"),
    ("IF\nALU\nELSE\nENDIF FUSED", "4: ENDIF: cannot be fused: the part before it is empty"),
    ("IF\nELSE FUSED\nENDIF", "2: ELSE: cannot be fused: the part before it is empty"),
    ("ALU\nIF NO_JUMP\nENDIF FUSED", "3: ENDIF: cannot be fused: the part before it is empty"),
    ("IF\nTEX\nENDIF FUSED", "3: ENDIF: cannot be fused: the instruction before it is not an ALU"),
    ("IF\nALU_POP_AFTER\nENDIF FUSED", "3: ENDIF: cannot be fused: the instruction before it is not an ALU"),
    ("IF\nALU u\nELSE FUSED\nENDIF", "3: ELSE: cannot be fused: with u, ALU_ELSE_AFTER would push another frame"),
    ("IF\nALU\nx: ENDIF FUSED\nJUMP @x", "3: ENDIF: cannot be fused: a label or a jump leads between it and the instruction before"),
    ("IF\nIF b1\nALU\nENDIF\nENDIF FUSED", "5: ENDIF: cannot be fused: a label or a jump leads between it and the instruction before"),
    ("IF\nIF\nALU\nENDIF FUSED\nENDIF FUSED", "5: ENDIF: cannot be fused: a label or a jump leads between it and the instruction before"),
    ("IF\nIF\nALU\nENDIF FUSED\nELSE FUSED\nENDIF", "5: ELSE: cannot be fused: a label or a jump leads between it and the instruction before"),
    ("IF\nKILL\nENDIF FUSED", "3: ENDIF: cannot be fused: a label or a jump leads between it and the instruction before"),
    ("IF\nALU\nIF\nENDIF2", "4: ENDIF: cannot be fused: the part before it is empty"),
    ("IF\nALU\nELSE FUSED VPM\nENDIF", "3: ELSE: ALU_ELSE_AFTER has no VPM"),
    ("IF\nALU\nENDIF FUSED VPM", "3: ENDIF: ALU_POP_AFTER and ALU_POP2_AFTER have no VPM"),
    ("IF b0\nALU\nELSE FUSED\nENDIF", "3: ELSE: the IF of line 1 has no frame, so its ELSE has one form only"),
    ("IF b0\nALU\nELSE STAY\nENDIF", "3: ELSE: the IF of line 1 has no frame, so its ELSE has one form only"),
    ("IF b0\nALU\nELSE VPM\nENDIF", "3: ELSE: the IF of line 1 has no frame, so its ELSE has one form only"),
    ("IF b0\nALU\nENDIF FUSED", "3: ENDIF: the IF of line 1 has no frame, so its ENDIF is no instruction"),
    ("IF b0\nENDIF VPM", "2: ENDIF: the IF of line 1 has no frame, so its ENDIF is no instruction"),
    ("IF b0\nIF\nALU\nENDIF2", "4: ENDIF: the IF of line 1 has no frame, so its ENDIF is no instruction"),
    ("IF\nIF b0\nALU\nENDIF2", "4: ENDIF: the IF of line 2 has no frame, so its ENDIF is no instruction"),
    ("IF\nELSE STAY FUSED\nENDIF", "2: else: is STAY or FUSED, not both"),
    ("IF NOT b0\nENDIF", "1: if: NOT goes with a clause; the boolean has `!b0`"),
    // Labels.
    ("JUMP @x", "1: label: label `x` is not defined"),
    ("CALL x", "1: label: label `x` is not defined"),
    ("ALU @x", "1: label: label `x` is not defined"),
    ("IF @x\nENDIF", "1: address: `@x`: the clause of a statement has a number as its address"),
    ("BREAK UNLESS @x", "1: address: `@x`: the clause of a statement has a number as its address"),
    ("x: ALU\nx: END", "2: label: `x` is defined twice"),
    ("CALL x\nx: ALU\nx: END", "3: label: `x` is defined twice"),
    ("1x: ALU", "1: label: `1x` is not a label: letters, digits, `_` and `.`, not beginning with a digit or `.`"),
    ("JUMP @", "1: label: `` is not a label: letters, digits, `_` and `.`, not beginning with a digit or `.`"),
    ("JUMP @é", "1: label: `é` is not a label: letters, digits, `_` and `.`, not beginning with a digit or `.`"),
    ("CALL 5", "1: label: `5` is not a label: letters, digits, `_` and `.`, not beginning with a digit or `.`"),
    ("CALL", "1: call: needs a label"),
    ("CALL x y", "1: call: does not take `y`"),
    (".entry x\nEND", "1: label: label `x` is not defined"),
    (".entry x\nEND\nx:", "1: label: there is no instruction at `x`"),
    // Mnemonics and operands.
    ("FOO", "1: mnemonic: `foo` is no instruction, statement or directive"),
    ("LOPO", "1: mnemonic: `lopo` is no instruction, statement or directive; did you mean `loop`?"),
    ("ALU\nLOOP_STRAT @2", "2: mnemonic: `loop_strat` is no instruction, statement or directive; did you mean `loop_start`?"),
    ("ENDIFF", "1: mnemonic: `endiff` is no instruction, statement or directive; did you mean `endif` or `endif2`?"),
    ("JUMP @dne\ndone: END", "1: label: label `dne` is not defined; did you mean `done`?"),
    ("PAD", "1: mnemonic: `pad` is no instruction, statement or directive"),
    ("JUMP", "1: jump: needs an address, `@X`"),
    ("JUMP x", "1: jump: needs an address, `@X`"),
    ("POP POP:1", "1: pop: needs an address, `@X`"),
    ("LOOP_START i3", "1: loop_start: needs an address, `@X`"),
    ("JUMP @1 @2", "1: jump: does not take `@2`"),
    ("JUMP @0x", "1: address: `0x` is not a number"),
    ("JUMP @1 u", "1: jump: does not take `u`"),
    ("JUMP @1 5", "1: jump: does not take `5`"),
    ("JUMP @1 POP:1 POP:2", "1: jump: does not take `POP:2`"),
    ("JUMP @1 POP:", "1: POP: `` is not a number"),
    ("JUMP @1 POP:8", "1: POP: 8 is not in 0..7"),
    ("JUMP @1 POP=1", "1: jump: does not take `POP=1`"),
    ("JUMP @1 i32", "1: CF_CONST: 32 is not in 0..31"),
    ("JUMP @1 CF_CONST", "1: CF_CONST: needs one of i0 to i31"),
    ("JUMP @1 i1 b2", "1: CF_CONST: i1 and b2: CF_CONST is both, so they must be the same"),
    ("JUMP @1 BOOL", "1: condition: BOOL and NOT_BOOL need one of b0 to b31"),
    ("JUMP @1 NOT_BOOL FALSE", "1: condition: BOOL and NOT_BOOL need one of b0 to b31"),
    ("JUMP @1 FALSE b1", "1: condition: there can be one only"),
    ("JUMP @1 BOOL NOT_BOOL b1", "1: condition: there can be one only"),
    ("JUMP @1 BOOL !b1", "1: condition: there can be one only"),
    ("JUMP @1 b1 b2", "1: jump: does not take `b2`"),
    ("NOP VPM VPM", "1: nop: does not take `VPM`"),
    ("NOP ALT_CONST", "1: nop: does not take `ALT_CONST`"),
    ("ALU END", "1: alu: does not take `END`"),
    ("ALU VPM", "1: alu: does not take `VPM`"),
    ("ALU b1", "1: alu: does not take `b1`"),
    ("ALU POP:1", "1: alu: does not take `POP:1`"),
    ("ALU 1 2", "1: alu: does not take `2`"),
    ("ALU KC0[", "1: KC0: `KC0[` is not of the form KC0[CB0:16-32], or -48, -48+aL, -16 for modes 2, 3, 0"),
    ("ALU KC1[CB0:0-17]", "1: KC1: `KC1[CB0:0-17]` is not of the form KC1[CB0:16-32], or -48, -48+aL, -16 for modes 2, 3, 0"),
    ("ALU KC1[CB0:0-16+aL]", "1: KC1: `KC1[CB0:0-16+aL]` is not of the form KC1[CB0:16-32], or -48, -48+aL, -16 for modes 2, 3, 0"),
    ("ALU KC1[CB0:8-24]", "1: KC1: 8 is not a multiple of 16"),
    ("ALU KC0[CB0:32-16]", "1: KC0: `KC0[CB0:32-16]` is not of the form KC0[CB0:16-32], or -48, -48+aL, -16 for modes 2, 3, 0"),
    ("ALU KC0[CB0:0-16] KC0[]", "1: alu: does not take `KC0[]`"),
    ("ALU KC2[]", "1: alu: does not take `KC2[]`"),
    ("EXPORT 1", "1: export: needs a REST, DW1 without bits 31:21"),
    ("EXPORT T1.XY", "1: export: needs a REST, DW1 without bits 31:21"),
    ("EXPORT 1 2 3", "1: export: does not take `3`"),
    ("EXPORT b1", "1: export: needs a REST, DW1 without bits 31:21"),
    (".quad 1", "1: .quad: is two words and perhaps u: DW0 DW1 [u]"),
    (".quad 1 2 x", "1: .quad: is two words and perhaps u: DW0 DW1 [u]"),
    (".quad 1 g", "1: DW1: `g` is not a 32-bit word in hexadecimal"),
    ("IF b0 NO_JUMP\nENDIF", "1: if: does not take `NO_JUMP`"),
    ("IF FRAME\nENDIF", "1: if: does not take `FRAME`"),
    ("IF u\nENDIF", "1: if: does not take `u`"),
    ("ENDIF2 VPM", "1: endif2: does not take `VPM`"),
    ("LOOP 5\nENDLOOP", "1: constant: `5` is not one of i0 to i31"),
    ("LOOP b1\nENDLOOP", "1: constant: `b1` is not one of i0 to i31"),
    ("LOOP i1 i2\nENDLOOP", "1: loop: does not take `i2`"),
    ("REPEAT\nENDLOOP", "1: repeat: needs a constant"),
    ("LOOP\nENDLOOP i0", "2: endloop: does not take `i0`"),
    ("LOOP\nBREAK EXPANDED\nENDLOOP", "2: break: does not take `EXPANDED`"),
    ("END END", "1: end: does not take `END`"),
    // Directives.
    (".foo", "1: directive: there is no directive `.foo` here"),
    (".stack\nEND", "1: .stack: is written `.stack N`"),
    (".stack 1 2\nEND", "1: .stack: is written `.stack N`"),
    (".stack 1\n.stack 1\nEND", "2: .stack: STACK_SIZE is set already"),
    (".stack x\nEND", "1: STACK_SIZE: `x` is not a number"),
    (".int 5\nEND", "1: .int: is written `.int N COUNT [FIRST [STEP]]`"),
    (".int 5 1 2 3 4\nEND", "1: .int: is written `.int N COUNT [FIRST [STEP]]`"),
    (".int 5 1\n.int i5 1\nEND", "2: .int: loop constant 5 is set already"),
    (".int 5 1\n.reg SQ_LOOP_CONST_5 1\nEND", "2: .reg: loop constant 5 is set already"),
    (".bool\nEND", "1: .bool: is written `.bool VALUE` or `.bool bN ...`"),
    (".bool 1 2\nEND", "1: .bool: is written `.bool VALUE` or `.bool bN ...`"),
    (".bool b1 2\nEND", "1: constant: `2` is not one of b0 to b31"),
    (".bool b1\n.reg SQ_BOOL_CONST 1\nEND", "2: .reg: SQ_BOOL_CONST is set already"),
    (".entry\nEND", "1: .entry: is written `.entry PLACE`"),
    (".entry 0\n.entry 0\nEND", "2: .entry: the entry is set already"),
    (".prog_len\nEND", "1: .prog_len: is written `.prog_len N`"),
    (".prog_len 1\n.prog_len 1\nEND", "2: .prog_len: prog_len is set already"),
    (".prog_len x\nEND", "1: prog_len: `x` is not a number"),
    (".reg SQ_BOOL_CONST\nEND", "1: .reg: is written `.reg NAME VALUE`"),
    (".reg SQ_PGM_START_PS 1\nEND", "1: register: no register `SQ_PGM_START_PS` belongs to a program"),
    (".reg SQ_LOOP_CONST_x 1\nEND", "1: register: `X` is not a number"),
];

#[test]
fn misuse_is_refused_with_line_field_and_message() {
    for (text, error) in MISUSE {
        let e = refused(text).to_string();
        assert_eq!(e, format!("t.s:{error}"), "{text}");
    }
}

// ---- disassembly -------------------------------------------------------------------------------------------------

#[test]
fn disassembly_names_statement_constants_and_place() {
    let text = ".int i3 3 10 -2\n.bool b5\n.entry 1\nLOOP i3\nBREAK b5\nCONTINUE !b4\nENDLOOP\nREPEAT i3\nENDLOOP\nEND";
    let p = assemble(text, "t.s").unwrap();
    let line = |pc: u32| disassemble(p.quad(pc), pc, &p.regs);
    assert_eq!(
        line(0),
        "LOOP_START @4 i3 ; LOOP i3; i3: count 3, first 10, step -2"
    );
    assert_eq!(line(1), "LOOP_BREAK @3 BOOL b5 ; BREAK b5; b5 = 1; entry");
    assert_eq!(
        line(2),
        "LOOP_CONTINUE @3 NOT_BOOL b4 ; CONTINUE !b4; b4 = 0"
    );
    assert_eq!(line(3), "LOOP_END @1 i3 ; ENDLOOP");
    assert_eq!(line(4), "LOOP_START_NO_AL @6 i3 ; REPEAT i3; i3: count 3");
    assert_eq!(line(6), "NOP END ; END");
    assert_eq!(line(7), "NOP NO_BARRIER ; behind prog_len");
    for (q, expected) in [
        (
            quad(7, 0x8790_0001),
            ".quad 00000007 87900001 ; without meaning: POP_JUMP @7 POP:1; reserved: ILLEGAL",
        ),
        (
            quad(7, 0x8780_0001),
            "POP_JUMP @7 POP:1 ; reserved: ILLEGAL",
        ),
        (
            quad(7, 0xB000_0000),
            ".quad 00000007 B0000000 ; reserved opcode: ILLEGAL",
        ),
        (
            with_u(7, 0x8C80_0000),
            ".quad 00000007 8C800000 u ; reserved opcode: ILLEGAL; u belongs to ALU instructions",
        ),
        (
            with_u(7, 0x8500_0000),
            ".quad 00000007 85000000 u ; without meaning: JUMP @7; u belongs to ALU instructions; to the ELSE",
        ),
        (
            with_u(7, 0x9380_0000),
            ".quad 00000007 93800000 u ; without meaning: EXPORT 0x00000007 0x000000; u belongs to ALU instructions",
        ),
        (
            quad(0, 0x8910_2000),
            ".quad 00000000 89102000 ; without meaning: CALL @0 CALL_COUNT:1; CALL",
        ),
        (quad(3, 0x8280_0100), "LOOP_END @3 FALSE"),
        (
            quad(3, 0x8200_0000),
            "LOOP_START @3 ; LOOP i0; i0: count 0, first 0, step 0",
        ),
        (quad(3, 0x8900_0000), "CALL @3"),
        (quad(3, 0x8500_0003), "JUMP @3 POP:3"),
        (quad(3, 0xC500_0000), "JUMP @3 WQM"),
        (quad(3, 0x84C0_0000), "LOOP_BREAK @3 VPM"),
        (quad(3, 0x8480_0008), "LOOP_BREAK @3 i1"),
        (quad(0, 0x8A00_0228), "RETURN BOOL b5 ; RETURN b5; b5 = 0"),
        (quad(0, 0x8A00_0008), "RETURN @0 i1"),
        (quad(0, 0x8A40_0000), "RETURN @0 VPM"),
        (
            quad(0xFFFF_FFFF, 0xFFFF_FFFF),
            "ALU_ELSE_AFTER 127, @4194303, KC0[CB15:4080-4112+aL], KC1[CB15:4080-4112+aL] ALT_CONST WQM ; ELSE FUSED",
        ),
    ] {
        let regs = Registers {
            entry: 9,
            prog_len: 2,
            ..Registers::default()
        };
        assert_eq!(disassemble(q, 0, &regs), expected);
    }
}

#[test]
fn a_program_prints_as_a_listing() {
    let text = "IF b5 FRAME\nALU 3, @8 KC1[CB2:16-32]\nENDIF FUSED\nEND";
    let p = assemble(
        &format!(".stack 1\n.bool 0x20\n.int 3 3 10 -2\n.prog_len 9\n{text}"),
        "a/t.s",
    )
    .unwrap();
    assert_eq!(
        program_text(&p),
        "; t
.stack 1
.prog_len 9
.bool 0x00000020
.int 3 3 10 -2

PUSH @2 BOOL b5                                          ; 0 IF b5 FRAME; b5 = 1; entry
ALU_POP_AFTER 3, @8, KC1[CB2:16-32]                      ; 1 ENDIF FUSED
NOP END                                                  ; 2 END
"
    );
    assert_eq!(
        hex_text(&p),
        "; t
.stack 1
.prog_len 9
.bool 0x00000020
.int 3 3 10 -2

00000002 85800228                                        ; 0 PUSH @2 BOOL b5 ; IF b5 FRAME; b5 = 1; entry
08000008 A80C0401                                        ; 1 ALU_POP_AFTER 3, @8, KC1[CB2:16-32] ; ENDIF FUSED
00000000 80200000                                        ; 2 NOP END ; END
"
    );
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(0x5237_3030),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

prop_compose! {
    fn any_quad()(dw0: u32, dw1: u32, u: bool, kind in 0..5) -> Quad {
        match kind {
            0 => Quad { dw0, dw1, u },
            1 => Quad { dw0, dw1: dw1 | 1 << 29, u },
            // The general format without the reserved bit, few fields at a time.
            2 => quad(dw0 & 0xff, dw1 & !(1 << 20) & !(3 << 28) & (dw0 | 0x9f80_0000)),
            3 => quad(dw0, dw1 & !(1 << 20) & !(3 << 28)),
            _ => Quad { dw0: 0, dw1: dw1 & 0xff80_0000, u: false },
        }
    }
}

prop_compose! {
    fn any_registers()(
        entry in prop_oneof![Just(0), 0u32..40, any::<u32>()],
        prog_len in prop_oneof![0u32..40, any::<u32>()],
        stack_size: u8,
        bool_const in prop_oneof![Just(0), any::<u32>()],
        constants in prop::collection::vec((0usize..32, any::<u32>()), 0..6),
    ) -> Registers {
        let mut loop_const = [0; 32];
        for (n, k) in constants {
            loop_const[n] = k;
        }
        Registers { entry, prog_len, stack_size, bool_const, loop_const }
    }
}

prop_compose! {
    fn any_program()(
        regs in any_registers(),
        quads in prop::collection::vec(any_quad(), 1..40),
    ) -> Program {
        Program { name: "p".to_owned(), regs, quads }
    }
}

proptest! {
    #![proptest_config(config(20_000))]

    #[test]
    fn words_round_trip(dw0: u32, dw1: u32) {
        let word = Word::decode(quad(dw0, dw1));
        let reserved = if matches!(word, Word::Cf(_)) { Cf::RESERVED } else { 0 };
        prop_assert_eq!(word.encode(), quad(dw0, dw1 & !reserved));
        prop_assert_eq!(Word::decode(word.encode()), word);
    }

    #[test]
    fn disassembly_assembles_to_the_same_words(q in any_quad(), pc: u32, regs in any_registers()) {
        let text = disassemble(q, pc, &regs);
        prop_assert!(!text.contains('\n'));
        let again = assemble(&text, "t.s");
        prop_assert!(again.is_ok(), "{}: {}", text, again.unwrap_err());
        prop_assert_eq!(again.unwrap().quads, vec![q], "{}", text);
    }

    /// `.quad` is for what fields cannot say, and for nothing else.
    #[test]
    fn only_meaningless_bits_need_quad(q in any_quad()) {
        let text = disassemble(q, 0, &Registers::default());
        let sayable = match Word::decode(q) {
            Word::Alu(_) => true,
            Word::Cf(_) => !q.u && q.dw1 >> 20 & 1 == 0,
            Word::Mem(_) => !q.u,
            Word::Reserved(..) => false,
        };
        prop_assert_eq!(text.starts_with(".quad"), !sayable, "{}", text);
    }

    /// What the disassembler calls a statement is one: the table's own words under that name.
    #[test]
    fn a_statement_name_survives_irrelevant_bits(row in 0..TABLE.len(), barrier: bool, target in 1u32..512) {
        let (text, at, _, _, name) = TABLE[row];
        let mut q = assemble(text, "t.s").unwrap().quads[at];
        q.dw1 = q.dw1 & !(1 << 31) | u32::from(barrier) << 31;
        if q.dw1 != 0x8020_0000 & !(1 << 31) | u32::from(barrier) << 31 {
            q.dw0 = target;
        }
        prop_assert_eq!(statement(q), Some(name.to_owned()));
    }
}

proptest! {
    #![proptest_config(config(2_000))]

    #[test]
    fn programs_round_trip(program in any_program()) {
        let text = program_text(&program);
        prop_assert_eq!(&assemble(&text, "p.s").unwrap(), &program, "{}", text);
        let hex = hex_text(&program);
        prop_assert_eq!(&parse_hex(&hex, "p.hex").unwrap(), &program, "{}", hex);
    }

    #[test]
    fn no_text_makes_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), text in "\\PC{0,200}") {
        let lossy = String::from_utf8_lossy(&bytes);
        for t in [lossy.as_ref(), text.as_str()] {
            let _ = assemble(t, "x.s");
            let _ = parse_hex(t, "x.hex");
        }
    }

    /// Random statements, without those that are refused where they stand, and with what is open closed:
    /// nothing panics, and what comes out survives a round trip.
    #[test]
    fn random_statements_expand_or_are_refused(choices in prop::collection::vec((0u8..22, any::<u8>()), 1..60)) {
        let mut stmts = Vec::new();
        for (choice, line) in choices.into_iter().zip(1..) {
            stmts.push(Line::new(line, any_stmt(choice)));
            if expand(&stmts, "gen").is_err_and(|e| e.line == line && !e.message.starts_with("needs")) {
                stmts.pop();
            }
        }
        let labels: Vec<&Stmt> = stmts.iter().map(|s| &s.item).filter(|s| matches!(s, Stmt::Label(_))).collect();
        let missing: Vec<Stmt> = (0..3).map(|n| Stmt::Label(format!("l{n}"))).filter(|l| !labels.contains(&l)).collect();
        let code = loop {
            match expand(&stmts, "gen") {
                Ok(code) => break code,
                // Where a subroutine begins inside a block, there is nothing to close it with.
                Err(e) if e.message.contains(" before the ") => return Ok(()),
                Err(e) if e.message.starts_with("needs ENDIF") => {
                    stmts.push(Line::new(99, Stmt::Endif { form: EndifForm::Pop, vpm: false }));
                }
                Err(e) if e.message.starts_with("needs ENDLOOP") => stmts.push(Line::new(99, Stmt::EndLoop { vpm: false })),
                Err(e) if e.message.ends_with("is not defined") => {
                    prop_assert!(stmts.len() < 200, "{}", e);
                    stmts.extend(missing.iter().map(|l| Line::new(99, l.clone())));
                }
                Err(e) => return Err(TestCaseError::fail(e.to_string())),
            }
        };
        prop_assert_eq!(code.quads.len(), code.lines.len());
        if !code.quads.is_empty() {
            let regs = Registers { prog_len: code.quads.len() as u32, ..Registers::default() };
            let program = Program { name: "gen".to_owned(), regs, quads: code.quads };
            prop_assert_eq!(&assemble(&program_text(&program), "gen.s").unwrap(), &program);
        }
    }
}

/// Statement number `kind`, with options from the bits of `n`.
fn any_stmt((kind, n): (u8, u8)) -> Stmt {
    let (a, b) = (n & 1 == 1, n & 2 == 2);
    let clause = Clause::at(n.into());
    let when = [
        When::Always,
        When::Never,
        When::Bool(n % 33),
        When::NotBool(n % 32),
    ][usize::from(n % 4)];
    let raw = |word: Word| Stmt::Raw {
        quad: word.encode(),
        target: a.then(|| "l0".to_owned()),
    };
    match kind {
        0..=2 => Stmt::Alu {
            clause,
            u: n % 8 == 0,
        },
        3 => Stmt::If {
            clause,
            not: a,
            jump: b,
        },
        4 => Stmt::IfBool {
            when,
            frame: n & 4 == 4,
            vpm: n & 8 == 8,
        },
        5 => Stmt::Else {
            form: [ElseForm::Jump, ElseForm::Stay, ElseForm::Fused][usize::from(n % 3)],
            vpm: n & 64 == 64,
        },
        6..=8 => Stmt::Endif {
            form: [EndifForm::Pop, EndifForm::Fused, EndifForm::FusedTwo][usize::from(n % 3)],
            vpm: n & 64 == 64,
        },
        9 => Stmt::Loop {
            kind: [LoopKind::Dx10, LoopKind::Al(n % 33), LoopKind::NoAl(n % 32)]
                [usize::from(n % 3)],
        },
        10..=11 => Stmt::EndLoop { vpm: a },
        12 => Stmt::Break { when },
        13 => Stmt::Continue { when },
        14 => Stmt::BreakUnless {
            clause,
            expanded: a,
        },
        15 => Stmt::ContinueUnless {
            clause,
            expanded: a,
        },
        16 => Stmt::Call {
            label: format!("l{}", n % 3),
            when,
            count: n % 65,
        },
        17 => Stmt::Return { when },
        18 => Stmt::Kill { when, vpm: a },
        19 => Stmt::Label(format!("l{}", n % 9)),
        20 => raw(match n % 3 {
            0 => Word::Cf(Cf::new(CfOp::Tex)),
            1 => Word::Mem(Mem::new(MemOp::ExportDone)),
            _ => Word::Alu(Alu {
                op: AluOp::AluPopAfter,
                clause,
            }),
        }),
        _ => Stmt::End,
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
            assert_eq!(
                assemble(&program_text(&program), name).unwrap(),
                program,
                "{name}"
            );
            assert_eq!(
                parse_hex(&hex_text(&program), name).unwrap(),
                program,
                "{name}"
            );
            seen += 1;
        }
    }
    assert!(seen >= 5, "{seen} examples");
}

/// A name from outside must not break out of its comment.
#[test]
fn program_text_survives_any_name() {
    let mut p = example("else_fused.s");
    p.name = "a\nFOO\r\n.full".to_owned();
    for again in [
        assemble(&program_text(&p), "t.s").unwrap(),
        parse_hex(&hex_text(&p), "t.hex").unwrap(),
    ] {
        assert_eq!((again.quads, again.regs), (p.quads.clone(), p.regs.clone()));
    }
}
