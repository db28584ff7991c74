//! The table of r700-7.1, instructions in the manual's terms, and directives.

use super::*;

/// Each row in a small program that holds it: text, address of the row's instruction, its words, what the
/// disassembler calls it.
#[rustfmt::skip]
pub(super) const TABLE: &[(&str, usize, u32, u32, &str)] = &[
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
