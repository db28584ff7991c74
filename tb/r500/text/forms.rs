//! The table of r500-7.1, and directives.

use super::*;

/// Each row in the smallest program that holds it: text, address of the row's instruction, words
/// INST and ADDR, what the disassembler calls it.
pub(super) const TABLE: &[(&str, usize, u32, u32, &str)] = &[
    (
        "IF alu\nELSE\nENDIF\nOUT",
        0,
        0x0a00_0f00,
        0x0002_0000,
        "IF alu, with ELSE",
    ),
    (
        "IF !alu\nELSE\nENDIF\nOUT",
        0,
        0x0a00_f000,
        0x0002_0000,
        "IF !alu, with ELSE",
    ),
    (
        "IF alu\nENDIF\nOUT",
        0,
        0x0200_0f00,
        0x0002_0000,
        "IF alu, no ELSE",
    ),
    (
        "IF pr\nENDIF\nOUT",
        0,
        0x0200_3300,
        0x0002_0000,
        "IF pr, no ELSE",
    ),
    (
        "IF !pa\nENDIF\nOUT",
        0,
        0x0200_cc00,
        0x0002_0000,
        "IF !pa, no ELSE",
    ),
    (
        "IF b31\nENDIF\nOUT",
        0,
        0x0200_5500,
        0x0002_001f,
        "IF b31, no ELSE",
    ),
    (
        "IF alu\nELSE\nENDIF\nOUT",
        1,
        0x0401_0010,
        0x0003_0000,
        "ELSE",
    ),
    (
        "IF alu\nELSE\nENDIF\nOUT",
        2,
        0x0101_0020,
        0x0003_0000,
        "ENDIF",
    ),
    (
        "IF alu\nELSEIF alu\nELSE\nENDIF\nOUT",
        1,
        0x0a00_0f10,
        0x0003_0000,
        "ELSEIF alu",
    ),
    (
        "IF alu\nELSEIF alu\nELSE\nENDIF\nOUT",
        2,
        0x0402_0010,
        0x0004_0000,
        "ELSE, 2 levels",
    ),
    (
        "IF alu\nELSEIF alu\nELSE\nENDIF\nOUT",
        3,
        0x0102_0020,
        0x0004_0000,
        "ENDIF, 2 levels",
    ),
    ("SIF b3\nSENDIF\nOUT", 0, 0x0000_5500, 0x0001_0003, "SIF b3"),
    (
        "SIF !b3\nSENDIF\nOUT",
        0,
        0x0000_aa00,
        0x0001_0003,
        "SIF !b3",
    ),
    (
        "SIF b3\nSELSE\nALU\nSENDIF\nOUT",
        1,
        0x0000_ff00,
        0x0003_0000,
        "JUMP",
    ),
    (
        "ALU\nx: ALU\nJUMP x\nOUT",
        2,
        0x0000_ff00,
        0x0001_0000,
        "JUMP",
    ),
    (
        "LOOP i5\nALU\nENDLOOP\nOUT",
        0,
        0x0000_0021,
        0x0003_0500,
        "LOOP i5",
    ),
    (
        "REP i5\nALU\nENDREP\nOUT",
        0,
        0x0000_0023,
        0x0003_0500,
        "REP i5",
    ),
    (
        "LOOP i5\nALU\nENDLOOP\nOUT",
        2,
        0x0000_ff22,
        0x0001_0500,
        "ENDLOOP",
    ),
    (
        "REP i5\nALU\nENDREP\nOUT",
        2,
        0x0000_ff24,
        0x0001_0500,
        "ENDREP",
    ),
    (
        "LOOP i5\nBREAK\nENDLOOP\nOUT",
        1,
        0x0400_ff05,
        0x0003_0000,
        "BREAK, 0 deep",
    ),
    (
        "REP i5\nIF alu\nBREAK\nENDIF\nENDREP\nOUT",
        2,
        0x0401_ff06,
        0x0005_0000,
        "BREAK, 1 deep",
    ),
    (
        "REP i5\nIF alu\nCONTINUE\nENDIF\nENDREP\nOUT",
        2,
        0x0401_ff07,
        0x0004_0000,
        "CONTINUE, 1 deep",
    ),
    (
        "LOOP i5\nBREAKC alu\nENDLOOP\nOUT",
        1,
        0x0400_f005,
        0x0003_0000,
        "BREAKC alu, 0 deep",
    ),
    (
        "LOOP i5\nCONTINUEC !b2\nENDLOOP\nOUT",
        1,
        0x0400_5507,
        0x0002_0002,
        "CONTINUEC !b2, 0 deep",
    ),
    (
        "LOOPC i5 alu\nENDLOOP\nOUT",
        0,
        0x0200_0f01,
        0x0002_0500,
        "LOOPC i5, alu",
    ),
    (
        "REPC i5 alu\nENDREP\nOUT",
        0,
        0x0200_0f03,
        0x0002_0500,
        "REPC i5, alu",
    ),
    (
        "LOOPC i5 alu\nENDLOOP\nOUT",
        1,
        0x0101_ff22,
        0x0001_0500,
        "ENDLOOP of LOOPC",
    ),
    (
        "REPC i5 alu\nENDREP\nOUT",
        1,
        0x0101_ff24,
        0x0001_0500,
        "ENDREP of REPC",
    ),
    (
        "LOOPC i5 alu\nBREAK\nENDLOOP\nOUT",
        1,
        0x0401_ff05,
        0x0003_0000,
        "BREAK, 1 deep",
    ),
    (
        "LOOPC i5 alu\nCONTINUE\nENDLOOP\nOUT",
        1,
        0x0400_ff07,
        0x0002_0000,
        "CONTINUE, 0 deep",
    ),
    ("CALL s\nOUT\ns: RET", 0, 0x0800_ffa0, 0x0002_0000, "CALL"),
    (
        "CALLC s alu\nOUT\ns: RET",
        0,
        0x0800_f0a0,
        0x0002_0000,
        "CALLC alu",
    ),
    ("CALL s\nOUT\ns: RET", 2, 0x0401_ff40, 0, "RET, r = 1"),
    (
        "CALL s\nOUT\ns: RETC alu\nRET",
        2,
        0x0601_f040,
        0,
        "RETC alu, r = 1",
    ),
    (
        "CALL s\nOUT\ns: RETC pg\nRETC pg\nRET",
        3,
        0x0602_cc40,
        0,
        "RETC pg, r = 2",
    ),
    (
        "CALL s\nOUT\ns: RETC alu\nRETC alu\nRET",
        4,
        0x0403_ff40,
        0,
        "RET, r = 3",
    ),
    (
        "CALL s nc\nOUT\ns: RET nc",
        0,
        0x0000_ffa0,
        0x0002_0000,
        "CALL, nc",
    ),
    ("CALL s nc\nOUT\ns: RET nc", 2, 0x0000_ff40, 0, "RET, nc"),
    // Mesa's words, which differ in IGNORE_UNCOVERED and in LOOP's JUMP_ANY and target.
    (
        "IF alu ign\nELSE\nENDIF\nOUT",
        0,
        0x1a00_0f00,
        0x0002_0000,
        "IF alu, with ELSE",
    ),
    (
        "IF alu, ign\nENDIF\nOUT",
        0,
        0x1200_0f00,
        0x0002_0000,
        "IF alu, no ELSE",
    ),
    (
        "LOOP func=0 ign -> 1\nENDLOOP func=0xFF any ign -> 1",
        0,
        0x1000_0001,
        0x0001_0000,
        "LOOP i0 as Mesa writes it: JUMP_ANY = 0",
    ),
    (
        "LOOP i0\nENDLOOP ign\nOUT",
        1,
        0x1000_ff22,
        0x0001_0000,
        "ENDLOOP",
    ),
    (
        "LOOP i0\nBREAK ign\nENDLOOP\nOUT",
        1,
        0x1400_ff05,
        0x0003_0000,
        "BREAK, 0 deep",
    ),
    (
        "LOOP i0\nCONTINUE ign\nENDLOOP\nOUT",
        1,
        0x1400_ff07,
        0x0002_0000,
        "CONTINUE, 0 deep",
    ),
];

#[test]
fn statements_become_the_words_of_the_table() {
    for (text, at, inst, addr, name) in TABLE {
        let program = assemble(text, "t.s").unwrap_or_else(|e| panic!("{e}\n{text}"));
        let slot = program.slots[*at];
        assert_eq!((slot.inst, slot.addr), (*inst, *addr), "{text}");
        assert_eq!(statement(slot).as_deref(), Some(*name), "{text}");
    }
}

/// `RGB_PRED_SEL` and `RGB_PRED_INV` in word 0, and what `!` and `~` make of a predicate.
#[test]
fn conditions_select_predicates() {
    let first = |cond: &str| {
        let p = assemble(&format!("IF {cond}\nENDIF\nOUT"), "t.s").unwrap();
        (
            p.slots[0].cmn,
            p.slots[0].inst >> 8 & 0xff,
            p.slots[0].addr & 31,
        )
    };
    assert_eq!(first("alu"), (0x402, 0x0f, 0));
    assert_eq!(first("pr"), (0x412, 0x33, 0));
    assert_eq!(first("pg"), (0x41a, 0x33, 0));
    assert_eq!(first("pb"), (0x422, 0x33, 0));
    assert_eq!(first("pa"), (0x42a, 0x33, 0));
    assert_eq!(first("!pa"), (0x42a, 0xcc, 0));
    assert_eq!(first("~pa"), (0x46a, 0x33, 0));
    assert_eq!(first("!~PA"), (0x46a, 0xcc, 0));
    assert_eq!(first("table(0x3C)"), (0x402, 0xc3, 0));
    assert_eq!(first("!table(0x3C, ~pb, b7)"), (0x462, 0x3c, 7));
    assert_eq!(first("TABLE( 60  b7 )"), (0x402, 0xc3, 7));
    assert_eq!(first("table(0xCC, ~none)"), (0x442, 0x33, 0));
}

/// r500-7.1, row ELSE IF: the test repeated out of line, all on one ENDIF that pops every level.
#[test]
fn else_if_has_its_stub_behind_the_last_instruction() {
    let words: Vec<(u32, u32)> = example("else_if.s")
        .slots
        .iter()
        .map(|s| (s.inst, s.addr))
        .collect();
    let expected = [
        (0, 0),
        (0x0a00_3300, 11 << 16), // IF: to the first stub
        (0, 0),
        (0x0a00_3310, 13 << 16), // ELSE IF: to the second stub
        (0, 0),
        (0x0a00_3310, 8 << 16), // ELSE IF: to ELSE + 1
        (0, 0),
        (0x0403_0010, 10 << 16),
        (0, 0),
        (0x0103_0020, 10 << 16),
        (0, 0),
        (0x0a00_3300, 13 << 16), // stub: plain IF, on to the second stub
        (0x0000_ff00, 4 << 16),  // stub: behind the first ELSE IF
        (0x0a00_3300, 8 << 16),
        (0x0000_ff00, 6 << 16),
    ];
    assert_eq!(words, expected);
    assert_eq!(example("else_if.s").regs.end(), 10);
    // Without an ELSE, the ENDIF takes its place.
    let last = "IF pr\nALU\nELSEIF pg\nALU\nENDIF\nOUT";
    assert_eq!(
        assemble(last, "t.s")
            .unwrap()
            .slots
            .iter()
            .map(|s| s.addr >> 16)
            .collect::<Vec<_>>(),
        [6, 0, 4, 0, 5, 0, 4, 3]
    );
    // In a subroutine the stub follows the RETURN, not the main part.
    let sub = "CALL s\nOUT\ns: IF pr\nELSEIF pg\nENDIF\nRET\nCALL t\nt: RET";
    let p = assemble(sub, "t.s").unwrap();
    assert_eq!(p.regs.end(), 1);
    assert_eq!(p.slots[2].addr >> 16, 7, "IF to the stub behind CALL t");
    assert_eq!(p.slots[8].inst, 0x0000_ff00);
    assert_eq!(p.slots[6].addr >> 16, 9, "t lies behind the stub");
}

/// k counts the IFs of the innermost loop only, an ELSE IF as one more, static IFs not at all.
#[test]
fn break_pops_the_levels_inside_its_loop() {
    let text = "LOOP i0\nIF pr\nLOOP i1\nSIF b0\nIF pr\nBREAK\nELSEIF pg\nIF pb\nBREAK\nCONTINUE\nENDIF\nELSE\nBREAK\nENDIF\nSENDIF\nENDLOOP\nBREAK\nENDIF\nENDLOOP\nOUT";
    let leaves: Vec<u32> = insts(text)
        .into_iter()
        .filter(|i| matches!(i & 0xff07, 0xff05 | 0xff07))
        .map(|i| i >> 16 & 31)
        .collect();
    assert_eq!(leaves, [1, 3, 3, 2, 1]);
}

#[test]
fn targets_are_relative_or_absolute() {
    let body = "JUMP x\nALU\nx: OUT\nJUMP func=0 -> x\nJUMP func=0 -> x global\nRET";
    let addrs = |head: &str| -> Vec<u32> {
        let p = assemble(&format!("{head}\n{body}"), "t.s").unwrap();
        p.slots.iter().map(|s| s.addr).collect()
    };
    let x = |n: u32| n << 16;
    assert_eq!(
        addrs(".offset 0x20"),
        [x(2), 0, 0, x(2), 1 << 31 | x(0x22), 0]
    );
    assert_eq!(
        addrs(".offset 0x20\n.global"),
        [1 << 31 | x(0x22), 0, 0, x(2), 1 << 31 | x(0x22), 0],
        "statements follow .global, raw words their own bit, RETURN has no target"
    );
}

/// The statement layer without text: what a program generator uses.
#[test]
fn expand_reports_lines_labels_and_ends() {
    let stmts = [
        Line::new(
            1,
            Stmt::Call {
                label: "s".into(),
                cond: Some(!Cond::pred(PredSel::G)),
                counters: true,
                ign: true,
            },
        ),
        Line::new(2, Stmt::Out),
        Line::new(4, Stmt::Label("s".into())),
        Line::new(5, Stmt::Tex),
        Line::new(
            6,
            Stmt::Ret {
                cond: None,
                counters: true,
                ign: false,
            },
        ),
    ];
    let code = expand(&stmts, 7, Targets::Global, "gen").unwrap();
    let expected = [
        Slot::new(0x41a, 0x1800_33a0, 0x8009_0000),
        Slot::new(1, 0, 0),
        Slot::new(3, 0, 0),
        Slot::new(0x402, 0x0401_ff40, 0),
    ];
    assert_eq!(code.slots, expected);
    assert_eq!(code.lines, [1, 2, 5, 6]);
    assert_eq!(code.labels["s"], 2);
    assert_eq!((code.end(0), code.end(2), code.end(3)), (1, 3, 3));
}

// ---- directives -------------------------------------------------------------------------------

#[test]
fn directives_set_registers() {
    let text = ".PARTIAL\n.int i31 255 255 -128 ; last\n.int 0 0x10\n.bool b0, b31\n.offset 5\n.window 5 100\n.start go\n.end 0x1FF\nALU x\ngo: OUT // done\n";
    let p = assemble(text, "some/where/name.of.s").unwrap();
    let mut int_const = [0; 32];
    int_const[31] = 0x0080_ffff;
    int_const[0] = 0x10;
    assert_eq!(
        p.regs,
        Registers {
            fc_ctrl: 0,
            code_addr: 511 << 16 | 1,
            code_range: 100 << 16 | 5,
            code_offset: 5,
            bool_const: 0x8000_0001,
            int_const,
        }
    );
    assert_eq!(p.name, "name.of");
    let raw = ".reg us_fc_ctrl 0xC0000001\n.reg US_CODE_ADDR 0xFFFFFFFF\n.reg US_CODE_RANGE 1\n.reg US_CODE_OFFSET 0x80000000\n.reg US_FC_BOOL_CONST 3\n.reg US_FC_INT_CONST_31 0xFF000000\nOUT";
    let p = assemble(raw, "t.s").unwrap();
    let mut int_const = [0; 32];
    int_const[31] = 0xff00_0000;
    assert_eq!(
        p.regs,
        Registers {
            fc_ctrl: 0xc000_0001,
            code_addr: u32::MAX,
            code_range: 1,
            code_offset: 1 << 31,
            bool_const: 3,
            int_const,
        }
    );
}

/// END_ADDR without `.end`: the last instruction of the part that starts.
#[test]
fn the_program_ends_where_its_part_ends() {
    let end = |text: &str| assemble(text, "t.s").unwrap().regs.end();
    assert_eq!(end("ALU\nOUT"), 1);
    assert_eq!(end("CALL s\nOUT\ns: RET"), 1);
    assert_eq!(
        end("CALL s\nx: OUT\ns: RET\nJUMP x"),
        1,
        "x is not a subroutine"
    );
    assert_eq!(
        end(".start main\ns: RET\nmain: CALL s\nOUT"),
        2,
        "all one part behind s"
    );
    assert_eq!(end("IF pr\nELSEIF pg\nENDIF\nOUT"), 3, "before the stub");
    assert_eq!(end(".end e\nALU\ne: OUT\nALU"), 1);
}
