//! Text to words and back: instruction fields, assembler, disassembler, importers.
//!
//! Expected words are copied from `docs/spec/r500.md`, never computed.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use reconverge::input::InputError;
use reconverge::r500::asm::{
    Cond, Line, Stmt, Targets, assemble, disassemble, expand, hex_text, parse_hex, program_text,
    statement,
};
use reconverge::r500::import::{Format, Imported, Options, import, load, recognise};
use reconverge::r500::isa::{Cmn, Fc, FcAddr, FcInst, PredSel};
use reconverge::r500::program::{Program, Registers, Slot};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tb/programs/r500");

fn read(name: &str) -> String {
    std::fs::read_to_string(format!("{FOLDER}/{name}")).unwrap()
}

fn example(name: &str) -> Program {
    assemble(&read(name), name).unwrap()
}

/// The instruction words of `text`.
fn insts(text: &str) -> Vec<u32> {
    let program = assemble(text, "t.s").unwrap_or_else(|e| panic!("{e}\n{text}"));
    program.slots.iter().map(|s| s.inst).collect()
}

/// The error of a `.s` file.
fn refused(text: &str) -> InputError {
    match assemble(text, "t.s") {
        Err(e) => e,
        Ok(_) => panic!("accepted:\n{text}"),
    }
}

// ---- worked examples of r500-7.3 to r500-7.9 ----------------------------------------------

/// A row of a program table: `None` where the spec prints `-`.
type Row = Option<(u32, u32)>;

/// Checks `name` against a table: `US_FC_INST` and `US_FC_ADDR` of each address, OUT where `end` is.
fn check_example(name: &str, end: u16, rows: &[Row]) -> Program {
    let program = example(name);
    assert_eq!(program.slots.len(), rows.len(), "{name}");
    for (at, (slot, row)) in program.slots.iter().zip(rows).enumerate() {
        let expected = match row {
            Some((inst, addr)) => Slot::new(0x402, *inst, *addr),
            None => Slot::new(u32::from(at == usize::from(end)), 0, 0),
        };
        assert_eq!(*slot, expected, "{name}, address {at}");
    }
    assert_eq!(
        (program.regs.start(), program.regs.end()),
        (0, end),
        "{name}"
    );
    assert_eq!(program.regs.code_range, 0x01ff_0000, "{name}");
    program
}

const IF: u32 = 0x0200_0f00;
const IF_WITH_ELSE: u32 = 0x0a00_0f00;
const ELSE: u32 = 0x0401_0010;
const ENDIF: u32 = 0x0101_0020;

#[test]
fn spec_7_3_if_else() {
    let rows = [
        None,
        Some((IF_WITH_ELSE, 0x0004_0000)),
        None,
        Some((ELSE, 0x0006_0000)),
        None,
        Some((ENDIF, 0x0006_0000)),
        None,
    ];
    let p = check_example("if_else.s", 6, &rows);
    assert_eq!(
        p.regs,
        Registers {
            code_addr: 6 << 16,
            ..Registers::default()
        }
    );
}

#[test]
fn spec_7_4_nested_if() {
    let rows = [
        None,
        Some((IF, 0x0009_0000)),
        None,
        Some((IF_WITH_ELSE, 0x0006_0000)),
        None,
        Some((ELSE, 0x0008_0000)),
        None,
        Some((ENDIF, 0x0008_0000)),
        Some((ENDIF, 0x0009_0000)),
        None,
    ];
    check_example("nested_if.s", 9, &rows);
}

#[test]
fn spec_7_5_loop_with_continue_and_break() {
    let rows = [
        Some((0x0000_0021, 0x000c_0500)),
        None,
        Some((IF, 0x0005_0000)),
        Some((0x0401_ff07, 0x000b_0000)),
        Some((ENDIF, 0x0005_0000)),
        None,
        Some((IF, 0x000a_0000)),
        None,
        Some((0x0401_ff05, 0x000c_0000)),
        Some((ENDIF, 0x000a_0000)),
        None,
        Some((0x0000_ff22, 0x0001_0500)),
        None,
    ];
    let p = check_example("loop_continue_break.s", 12, &rows);
    assert_eq!(p.regs.int_const[5], 0x00fe_0a03);
}

#[test]
fn spec_7_6_rep_in_loop() {
    let rows = [
        Some((0x0000_0021, 0x0007_0000)),
        Some((0x0000_0023, 0x0006_0100)),
        None,
        Some((0x0400_f006, 0x0006_0000)),
        None,
        Some((0x0000_ff24, 0x0002_0100)),
        Some((0x0000_ff22, 0x0001_0000)),
        None,
    ];
    let p = check_example("rep_in_loop.s", 7, &rows);
    assert_eq!(p.regs.int_const[..2], [0x0001_0701, 0x0000_0002]);
}

#[test]
fn spec_7_7_call_and_return() {
    let rows = [
        None,
        Some((0x0800_f0a0, 0x0004_0000)),
        None,
        None,
        None,
        Some((0x0601_f040, 0x0000_0000)),
        None,
        Some((0x0402_ff40, 0x0000_0000)),
    ];
    let p = check_example("call_return.s", 3, &rows);
    assert_eq!(p.regs.offset(), 0x20);
}

#[test]
fn spec_7_8_static_branch() {
    let rows = [
        Some((0x0000_5500, 0x0003_0003)),
        None,
        Some((0x0000_ff00, 0x0004_0000)),
        None,
        None,
    ];
    let p = check_example("static_branch.s", 4, &rows);
    assert_eq!(p.regs.bool_const, 8);
    let p = check_example("static_branch_else.s", 4, &rows);
    assert_eq!(p.regs.bool_const, 0);
}

#[test]
fn spec_7_9_errors() {
    let mut rows = Vec::new();
    for end in [0x10, 0x0f, 0x0e, 0x0d, 0x0c] {
        rows.extend([None, Some((IF, end << 16))]);
    }
    rows.push(None);
    rows.extend([0x0c, 0x0d, 0x0e, 0x0f, 0x10].map(|next| Some((ENDIF, next << 16))));
    rows.push(None);
    let p = check_example("partial_overflow.s", 16, &rows);
    assert!(!p.regs.full());
    check_example("return_empty.s", 1, &[Some((0x0401_ff40, 0)), None]);
}

// ---- the table of r500-7.1 ----------------------------------------------------------------

/// Each row in the smallest program that holds it: text, address of the row's instruction, words
/// INST and ADDR, what the disassembler calls it.
const TABLE: &[(&str, usize, u32, u32, &str)] = &[
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
        "x is no subroutine"
    );
    assert_eq!(
        end(".start main\ns: RET\nmain: CALL s\nOUT"),
        2,
        "all one part behind s"
    );
    assert_eq!(end("IF pr\nELSEIF pg\nENDIF\nOUT"), 3, "before the stub");
    assert_eq!(end(".end e\nALU\ne: OUT\nALU"), 1);
}

// ---- limits, each at N and N + 1 ----------------------------------------------------------------

fn repeat(line: &str, n: usize) -> String {
    format!("{line}\n").repeat(n)
}

/// Texts that differ in one number: the first is the last that is accepted, the second is refused
/// in the field named third.
#[test]
fn limits() {
    let ifs = |n: usize, inner: &str, end: &str| {
        format!(
            "LOOP i0\n{}{inner}\n{}ENDLOOP\nOUT",
            repeat("IF pr", n),
            repeat(end, n)
        )
    };
    let chain = |n: usize| format!("IF pr\n{}ENDIF\nOUT", repeat("ELSEIF pg", n));
    let rets = |n: usize| format!("CALL s\nOUT\ns:\n{}RET", repeat("RETC alu", n));
    let endif_at = |n: usize| format!("{}IF alu\nENDIF\n", repeat("ALU", n - 1));
    let pairs: Vec<(String, String, &str)> = vec![
        (repeat("ALU", 512), repeat("ALU", 513), "program"),
        (
            format!(".offset 500\n{}", repeat("ALU", 12)),
            format!(".offset 500\n{}", repeat("ALU", 13)),
            "program",
        ),
        (
            format!("{}IF pr\nELSEIF pg\nENDIF\nOUT", repeat("ALU", 506)),
            format!("{}IF pr\nELSEIF pg\nENDIF\nOUT", repeat("ALU", 507)),
            "program",
        ),
        (endif_at(510), endif_at(511), "IF"),
        (
            ifs(31, "BREAK", "ENDIF"),
            ifs(32, "BREAK", "ENDIF"),
            "BREAK",
        ),
        (
            ifs(31, "CONTINUE", "ENDIF"),
            ifs(32, "CONTINUE", "ENDIF"),
            "CONTINUE",
        ),
        (chain(30), chain(31), "ELSE IF"),
        (rets(30), rets(31), "RETURN"),
        (
            "LOOP i31\nENDLOOP\nOUT".into(),
            "LOOP i32\nENDLOOP\nOUT".into(),
            "constant",
        ),
        (
            "REP i31\nENDREP\nOUT".into(),
            "REP i32\nENDREP\nOUT".into(),
            "constant",
        ),
        (
            "IF b31\nENDIF\nOUT".into(),
            "IF b32\nENDIF\nOUT".into(),
            "condition",
        ),
        (
            "IF table(255)\nENDIF\nOUT".into(),
            "IF table(256)\nENDIF\nOUT".into(),
            "condition",
        ),
        (
            ".offset 511\nOUT".into(),
            ".offset 512\nOUT".into(),
            "address",
        ),
        (
            ".start 511\nOUT".into(),
            ".start 512\nOUT".into(),
            "address",
        ),
        (".end 511\nOUT".into(), ".end 512\nOUT".into(), "address"),
        (
            ".window 511 0\nOUT".into(),
            ".window 512 0\nOUT".into(),
            "address",
        ),
        (
            ".window 0 511\nOUT".into(),
            ".window 0 512\nOUT".into(),
            "size",
        ),
        (".int 31 1\nOUT".into(), ".int 32 1\nOUT".into(), "constant"),
        (".int 0 255\nOUT".into(), ".int 0 256\nOUT".into(), "count"),
        (".int 0 0\nOUT".into(), ".int 0 -1\nOUT".into(), "count"),
        (
            ".int 0 1 255\nOUT".into(),
            ".int 0 1 256\nOUT".into(),
            "init",
        ),
        (
            ".int 0 1 0 127\nOUT".into(),
            ".int 0 1 0 128\nOUT".into(),
            "step",
        ),
        (
            ".int 0 1 0 -128\nOUT".into(),
            ".int 0 1 0 -129\nOUT".into(),
            "step",
        ),
        (".bool b31\nOUT".into(), ".bool b32\nOUT".into(), "constant"),
        (
            ".bool 0xFFFFFFFF\nOUT".into(),
            ".bool 0x100000000\nOUT".into(),
            "value",
        ),
        (
            ".reg US_FC_INT_CONST_31 0\nOUT".into(),
            ".reg US_FC_INT_CONST_32 0\nOUT".into(),
            "register",
        ),
        ("JUMP func=0xFF".into(), "JUMP func=0x100".into(), "func"),
        (
            "JUMP func=0 pop=31".into(),
            "JUMP func=0 pop=32".into(),
            "pop",
        ),
        (
            "JUMP func=0 bool=31".into(),
            "JUMP func=0 bool=32".into(),
            "bool",
        ),
        (
            "JUMP func=0 int=31".into(),
            "JUMP func=0 int=32".into(),
            "int",
        ),
        (
            "JUMP func=0 -> 511".into(),
            "JUMP func=0 -> 512".into(),
            "target",
        ),
        (
            ".word 0xFFFFFFFF 0 0".into(),
            ".word 0x100000000 0 0".into(),
            "CMN",
        ),
        (
            ".word 0 0 0xFFFFFFFF".into(),
            ".word 0 0 0xFFFFFFFFFFFFFFFFFFFF".into(),
            "ADDR",
        ),
    ];
    for (accepted, over, field) in &pairs {
        if let Err(e) = assemble(accepted, "t.s") {
            panic!("{e}\n{accepted}");
        }
        assert_eq!(refused(over).field, *field, "{over}");
    }
}

#[test]
fn hex_limits() {
    let line = "0 0 0";
    assert_eq!(
        parse_hex(&repeat(line, 512), "t.hex").unwrap().slots.len(),
        512
    );
    let e = parse_hex(&repeat(line, 513), "t.hex").unwrap_err();
    assert_eq!((e.line, e.field.as_str()), (513, "program"));
    let e = parse_hex(&format!(".offset 511\n{line}\n{line}"), "t.hex").unwrap_err();
    assert_eq!((e.line, e.field.as_str()), (3, "program"));
    assert_eq!(
        parse_hex("0xFFFFFFFF ffffffff 1 ; all", "t.hex")
            .unwrap()
            .slots,
        [Slot::new(u32::MAX, u32::MAX, 1)]
    );
    for (text, line, field) in [
        ("100000000 0 0", 1, "CMN"),
        ("0 0x 0", 1, "INST"),
        ("0 0 -1", 1, "ADDR"),
        ("\n0 0", 2, "instruction"),
        ("0 0 0 0", 1, "instruction"),
        ("0 0 0\n.start main", 2, "address"),
        ("0 0 0\n.global", 2, "directive"),
        ("; nothing", 0, "program"),
    ] {
        let e = parse_hex(text, "t.hex").unwrap_err();
        assert_eq!(
            (e.file.as_str(), e.line, e.field.as_str()),
            ("t.hex", line, field),
            "{text}"
        );
    }
}

/// The statement layer's own checks, which text cannot reach.
#[test]
fn expand_checks_its_numbers() {
    let one = |stmt: Stmt| expand(&[Line::new(3, stmt)], 0, Targets::Relative, "gen").unwrap_err();
    let bad = |pred| Cond { pred, ..Cond::ALU };
    assert_eq!(
        one(Stmt::Loop {
            int: 32,
            cond: None,
            ign: false
        })
        .field,
        "constant"
    );
    assert_eq!(
        one(Stmt::If {
            cond: Cond::boolean(32),
            ign: false
        })
        .field,
        "condition"
    );
    for pred in [PredSel::Rgba, PredSel::Reserved6, PredSel::Reserved7] {
        let e = one(Stmt::Ret {
            cond: Some(bad(pred)),
            counters: true,
            ign: false,
        });
        assert_eq!((e.line, e.field.as_str()), (3, "condition"));
    }
    let e = expand(&[], 512, Targets::Relative, "gen").unwrap_err();
    assert_eq!((e.line, e.field.as_str()), (0, "offset"));
    assert!(
        expand(&[], 511, Targets::Relative, "gen")
            .unwrap()
            .slots
            .is_empty()
    );
}

// ---- misuse ---------------------------------------------------------------------------------------

/// Text, line, field, and a part of the message.
const MISUSE: &[(&str, usize, &str, &str)] = &[
    ("", 0, "program", "no instruction"),
    ("ALU\nELSE", 2, "ELSE", "none is open"),
    ("ENDIF", 1, "ENDIF", "none is open"),
    ("ELSEIF alu", 1, "ELSE IF", "none is open"),
    ("SELSE", 1, "static ELSE", "none is open"),
    ("SENDIF", 1, "static ENDIF", "none is open"),
    ("ENDLOOP", 1, "ENDLOOP", "none is open"),
    ("ENDREP", 1, "ENDREP", "none is open"),
    (
        "IF alu\nELSE\nELSE\nENDIF",
        3,
        "ELSE",
        "the IF of line 1 has an ELSE already",
    ),
    (
        "IF alu\nELSE\nELSEIF pr\nENDIF",
        3,
        "ELSE IF",
        "the IF of line 1 has an ELSE already",
    ),
    (
        "SIF b0\nSELSE\nSELSE\nSENDIF",
        3,
        "static ELSE",
        "the static IF of line 1 has an ELSE already",
    ),
    (
        "SIF b0\nELSE\nSENDIF",
        2,
        "ELSE",
        "the static IF of line 1 is open",
    ),
    (
        "IF alu\nSENDIF",
        2,
        "static ENDIF",
        "the IF of line 1 is open",
    ),
    (
        "LOOP i0\nIF alu\nENDLOOP",
        3,
        "ENDLOOP",
        "the IF of line 2 is open",
    ),
    ("LOOP i0\nENDREP", 2, "ENDREP", "the LOOP of line 1 is open"),
    ("REP i0\nENDLOOP", 2, "ENDLOOP", "the REP of line 1 is open"),
    ("IF alu\nOUT", 1, "IF", "needs ENDIF"),
    ("ALU\nLOOP i0\nOUT", 2, "LOOP", "needs ENDLOOP"),
    ("REP i0\nOUT", 1, "REP", "needs ENDREP"),
    (
        "SIF b0\nOUT",
        1,
        "static IF",
        "needs the ENDIF of the static IF",
    ),
    (
        "CALL s\nLOOP i0\ns: ENDLOOP\nRET",
        2,
        "LOOP",
        "before the first subroutine",
    ),
    (
        "CALL s\nCALL t\nOUT\ns: IF alu\nt: RET",
        4,
        "IF",
        "before the end of subroutine `s`",
    ),
    ("BREAK", 1, "BREAK", "no LOOP or REP is open"),
    ("CONTINUE", 1, "CONTINUE", "no LOOP or REP is open"),
    (
        "LOOP i0\nCALL s\nENDLOOP\nOUT\ns: BREAK\nRET",
        5,
        "BREAK",
        "none can be left across a CALL",
    ),
    (
        "LOOP i0\nCALL s\nENDLOOP\nOUT\ns: CONTINUEC alu\nRET",
        5,
        "CONTINUE",
        "subroutine `s`",
    ),
    (
        "CALL s\nOUT\ns: IF alu\nRET\nENDIF\nRET",
        4,
        "RETURN",
        "inside the IF of line 3",
    ),
    (
        "CALL s\nOUT\ns: LOOP i0\nRETC alu\nENDLOOP\nRET",
        4,
        "RETURN",
        "inside the LOOP of line 3",
    ),
    (
        "CALL s\nOUT\ns: SIF b0\nRETC alu\nSENDIF\nRET",
        4,
        "RETURN",
        "depend on the path",
    ),
    (
        "CALL s\nCALL s nc\nOUT\ns: RET",
        2,
        "counters",
        "with them on line 1",
    ),
    (
        "CALL s\nOUT\ns: RET nc",
        3,
        "counters",
        "with them on line 1",
    ),
    (
        "SIF alu\nSENDIF\nOUT",
        1,
        "condition",
        "only a boolean constant",
    ),
    ("JUMP x", 1, "JUMP", "label `x` is not defined"),
    ("CALL x", 1, "CALL", "label `x` is not defined"),
    ("JUMP func=0 -> x", 1, "target", "label `x` is not defined"),
    ("x: ALU\nx: OUT", 2, "label", "`x` is defined twice"),
    ("CALL x\nx: ALU\nx: OUT", 3, "label", "`x` is defined twice"),
    ("1x: ALU", 1, "label", "is not a label"),
    ("JUMP 5", 1, "label", "is not a label"),
    (".start x\nOUT", 1, "label", "label `x` is not defined"),
    (".end x\nOUT\nx:", 1, "label", "no instruction at `x`"),
    (
        "FOO",
        1,
        "mnemonic",
        "`foo` is no instruction, statement or directive",
    ),
    (
        "BREKA",
        1,
        "mnemonic",
        "`breka` is no instruction, statement or directive; did you mean `break`?",
    ),
    (
        "ALU\n  elsif alu",
        2,
        "mnemonic",
        "`elsif` is no instruction, statement or directive; did you mean `elseif`?",
    ),
    (
        "BREKLOOP func=0",
        1,
        "mnemonic",
        "`brekloop` is no instruction, statement or directive; did you mean `breakloop`?",
    ),
    (
        "JUMP dne\nALU\ndone: OUT",
        1,
        "JUMP",
        "label `dne` is not defined; did you mean `done`?",
    ),
    (".foo", 1, "directive", "no directive `.foo`"),
    (
        ".full\n.partial\nOUT",
        2,
        ".partial",
        "US_FC_CTRL is set already",
    ),
    (".full 1\nOUT", 1, ".full", "is written `.full`"),
    (
        ".start 0\n.reg US_CODE_ADDR 0\nOUT",
        2,
        ".reg",
        "START_ADDR is set already",
    ),
    (
        ".int 5 1\n.reg US_FC_INT_CONST_5 1\nOUT",
        2,
        ".reg",
        "integer constant 5 is set already",
    ),
    (".int 5\nOUT", 1, ".int", "N COUNT"),
    (".bool 1 2\nOUT", 1, ".bool", "VALUE"),
    (".reg US_PIXSIZE 1\nOUT", 1, "register", "US_PIXSIZE"),
    (".offset x\nOUT", 1, "address", "`x` is not a number"),
    (".offset 0x\nOUT", 1, "address", "`0x` is not a number"),
    (".offset +1\nOUT", 1, "address", "`+1` is not a number"),
    ("IF", 1, "if", "needs a condition"),
    ("IF foo\nENDIF", 1, "condition", "`foo` is none"),
    ("IF none\nENDIF", 1, "condition", "`none` is none"),
    (
        "IF table(1, pr, b0, b1)\nENDIF",
        1,
        "condition",
        "`b1` does not belong",
    ),
    (
        "IF table(1, b0, pr)\nENDIF",
        1,
        "condition",
        "`pr` does not belong",
    ),
    ("IF table(1\nENDIF", 1, "operands", "`(` without `)`"),
    ("IF alu)\nENDIF", 1, "operands", "`)` without `(`"),
    ("IF alu nc\nENDIF", 1, "if", "does not take `nc`"),
    (
        "SIF b0\nSENDIF ign\nOUT",
        2,
        "sendif",
        "does not take `ign`",
    ),
    ("LOOP\nENDLOOP", 1, "loop", "needs a constant"),
    ("LOOP 5\nENDLOOP", 1, "constant", "i0 to i31"),
    ("BREAKLOOP", 1, "breakloop", "the statement is BREAK"),
    ("JUMP func=0 func=1", 1, "func", "given twice"),
    ("JUMP func=0 -> 1 -> 2", 1, "->", "given twice"),
    ("JUMP func=0 ->", 1, "target", "missing"),
    ("JUMP func=0 a=FOO", 1, "a", "`foo` is no value"),
    (
        "JUMP func=0 foo",
        1,
        "operands",
        "`foo` is no field of JUMP",
    ),
    (".word 1 2", 1, ".word", "CMN INST ADDR"),
    ("OUT [0 0 0]", 1, "CMN", "is of type ALU"),
    ("ALU [0 0 0", 1, "ALU", "`[` without `]`"),
];

#[test]
fn misuse_is_refused_with_line_and_field() {
    for (text, line, field, message) in MISUSE {
        let e = refused(text);
        assert_eq!(
            (e.file.as_str(), e.line, e.field.as_str()),
            ("t.s", *line, *field),
            "{text}\n{e}"
        );
        assert!(e.message.contains(message), "{text}\n{e}");
    }
}

#[test]
fn an_error_prints_its_place() {
    assert_eq!(
        refused("ALU\n  ELSE ; here").to_string(),
        "t.s:2: ELSE: belongs to an IF, none is open"
    );
}

// ---- disassembly ------------------------------------------------------------------------------------

#[test]
fn disassembly_names_statement_target_and_constants() {
    let p = example("loop_continue_break.s");
    let line = |pc: u16| disassemble(p.slot(pc), pc, &p.regs);
    assert_eq!(
        line(0),
        "LOOP func=0x00 any int=5 -> 0x00C ; LOOP i5 -> 0x00C, i5: count 3, init 10"
    );
    assert_eq!(line(1), "ALU");
    assert_eq!(
        line(8),
        "BREAKLOOP func=0xFF b1=DECR pop=1 -> 0x00C ; BREAK, 1 deep -> 0x00C"
    );
    assert_eq!(
        line(11),
        "ENDLOOP func=0xFF any int=5 -> 0x001 ; ENDLOOP -> 0x001, i5: step -2"
    );
    assert_eq!(line(12), "OUT ; END_ADDR");
    let p = example("call_return.s");
    assert_eq!(
        disassemble(p.slots[1], 0x21, &p.regs),
        "JUMP func=0xF0 any a=PUSH b1=INCR -> 0x004 ; CALLC alu -> 0x024"
    );
    let odd = Slot::new(0x402, 0x2000_0f08, 0);
    assert_eq!(
        disassemble(odd, 9, &p.regs),
        ".word 0x00000402 0x20000F08 0x00000000 ; bits without meaning set; JUMP func=0x0F -> 0x000; no statement -> 0x020"
    );
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(0x5235_3030),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

prop_compose! {
    fn any_slot()(cmn: u32, inst: u32, addr: u32, rest: [u32; 3], kind in 0..5) -> Slot {
        match kind {
            0 => Slot::new(cmn, inst, addr),
            // Flow control without reserved bits: everything a mnemonic can say.
            1 => Slot::new(cmn & 0x57c | 2, inst & !FcInst::RESERVED, addr & !FcAddr::RESERVED),
            2 => Slot::new(0x402, inst, addr),
            3 => Slot { rest, ..Slot::new(cmn, inst, addr) },
            _ => Slot { cmn: cmn & 3, ..Slot::default() },
        }
    }
}

prop_compose! {
    fn any_registers()(
        fc_ctrl in prop_oneof![Just(0), Just(1 << 31), any::<u32>()],
        code_addr in prop_oneof![any::<u32>().prop_map(|v| v & 0x01ff_01ff), any::<u32>()],
        code_range in prop_oneof![Just(511u32 << 16), any::<u32>().prop_map(|v| v & 0x01ff_01ff), any::<u32>()],
        code_offset in prop_oneof![Just(0), 0u32..512, any::<u32>()],
        bool_const in prop_oneof![Just(0), any::<u32>()],
        ints in prop::collection::vec((0usize..32, prop_oneof![any::<u32>(), 0u32..1 << 24]), 0..6),
    ) -> Registers {
        let mut int_const = [0; 32];
        for (n, k) in ints {
            int_const[n] = k;
        }
        Registers { fc_ctrl, code_addr, code_range, code_offset, bool_const, int_const }
    }
}

prop_compose! {
    fn any_program()(
        regs in any_registers(),
        slots in prop::collection::vec(any_slot(), 1..40),
    ) -> Program {
        let mut slots = slots;
        slots.truncate(512 - usize::from(regs.offset()));
        Program { name: "p".to_owned(), regs, slots, ..Program::default() }
    }
}

proptest! {
    #![proptest_config(config(20_000))]

    #[test]
    fn fields_round_trip(word: u32) {
        prop_assert_eq!(Cmn::decode(word).encode(), word & !Cmn::RESERVED);
        prop_assert_eq!(FcInst::decode(word).encode(), word & !FcInst::RESERVED);
        prop_assert_eq!(FcAddr::decode(word).encode(), word & !FcAddr::RESERVED);
    }

    #[test]
    fn disassembly_assembles_to_the_same_words(slot in any_slot(), pc in 0u16..512, regs in any_registers()) {
        let text = disassemble(slot, pc, &regs);
        prop_assert!(!text.contains('\n'));
        let again = assemble(&text, "t.s");
        prop_assert!(again.is_ok(), "{}: {}", text, again.unwrap_err());
        prop_assert_eq!(again.unwrap().slots, vec![slot], "{}", text);
    }

    /// `.word` is for what fields cannot say, and for nothing else.
    #[test]
    fn only_meaningless_bits_need_word(slot in any_slot()) {
        let text = disassemble(slot, 0, &Registers::default());
        let sayable = slot.cmn & !0x57f == 0
            && slot.inst & FcInst::RESERVED == 0
            && slot.addr & FcAddr::RESERVED == 0;
        prop_assert_eq!(text.starts_with(".word"), slot.cmn & 3 == 2 && !sayable, "{}", text);
    }

    /// What the disassembler calls a statement is one: the table's own words under that name.
    #[test]
    fn a_statement_name_survives_irrelevant_bits(row in 0..TABLE.len(), ign: bool, target in 0u32..512) {
        let (text, at, _, _, name) = TABLE[row];
        let mut slot = assemble(text, "t.s").unwrap().slots[at];
        slot.inst = slot.inst & !(1 << 28) | u32::from(ign) << 28;
        slot.addr = slot.addr & !(511 << 16) | target << 16;
        prop_assert_eq!(statement(slot), Some(name.to_owned()));
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
        // `load` tells the two by their content, whatever the extension.
        let options = Options::default();
        prop_assert_eq!(&load(text.as_bytes(), "p.hex", &options).unwrap().program, &program);
        prop_assert_eq!(&load(hex.as_bytes(), "p.s", &options).unwrap().program, &program);
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), text in "\\PC{0,200}") {
        let options = Options::default();
        let _ = load(&bytes, "x", &options);
        let _ = load(text.as_bytes(), "x", &options);
        let _ = assemble(&text, "x.s");
        let _ = parse_hex(&text, "x.hex");
        let _ = import(text.as_bytes(), "x", &options);
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
    assert!(seen >= 13, "{seen} examples");
}

/// A name from outside must not break out of its comment.
#[test]
fn program_text_survives_any_name() {
    let mut p = example("if_else.s");
    p.name = "a\nFOO\r\n.full".to_owned();
    let again = assemble(&program_text(&p), "t.s").unwrap();
    assert_eq!((again.slots, again.regs), (p.slots, p.regs));
}

// ---- import -------------------------------------------------------------------------------------------

fn mesa(name: &str) -> String {
    read(&format!("mesa/{name}"))
}

fn imported(text: &str) -> Imported {
    import(text.as_bytes(), "x.log", &Options::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn import_error(text: &str) -> InputError {
    match import(text.as_bytes(), "x.log", &Options::default()) {
        Err(e) => e,
        Ok(p) => panic!("accepted: {:?}\n{text}", p.warnings),
    }
}

const LOGS: [&str; 4] = [
    "02_ifelse",
    "09_for_varying",
    "17_nested_loops",
    "32_tex_branches",
];

/// The driver's log and the listing of the words it loaded are the same program.
#[test]
fn a_log_and_its_listing_agree() {
    for (name, slots, full) in [
        (LOGS[0], 25, false),
        (LOGS[1], 14, true),
        (LOGS[2], 23, true),
        (LOGS[3], 26, true),
    ] {
        let log = imported(&mesa(&format!("{name}.log")));
        let listing = import(
            mesa(&format!("{name}.txt")).as_bytes(),
            "x.txt",
            &Options::default(),
        )
        .unwrap();
        assert_eq!(log.program.slots, listing.program.slots, "{name}");
        assert_eq!(log.program.slots.len(), slots, "{name}");
        assert_eq!(log.program.regs.full(), full, "{name}");
        assert_eq!(
            log.program.regs.fc_ctrl, listing.program.regs.fc_ctrl,
            "{name}"
        );
        assert_eq!(
            log.program.regs.code_addr, listing.program.regs.code_addr,
            "{name}"
        );
        assert_eq!(listing.program.regs.int_const[0], 0xff, "{name}");
        assert_eq!(
            log.program.regs.int_const[0],
            if full { 0xff } else { 0 },
            "{name}"
        );
        assert_eq!((log.listed.len(), log.program.name.as_str()), (1, "x"));
    }
}

#[test]
fn words_come_from_the_right_lines() {
    let p = imported(&mesa("32_tex_branches.log")).program;
    let words = |at: usize| p.slots[at].words();
    assert_eq!(
        words(0),
        [
            0x0080_0000,
            0x0802_0001,
            0x0802_0080,
            0x80db_0484,
            0,
            0x00c8_0000
        ]
    );
    assert_eq!(words(1), [0x402, 0, 0x1a00_0f00, 0x0005_0000, 0, 0]);
    assert_eq!(words(2), [0x7807, 0x0240_0000, 0xe401_f400, 0, 0, 0]);
    assert_eq!(p.regs.end(), 25);
}

/// Every FC slot of the listings is a statement of r500-7.1, by the name the compiler gave it.
#[test]
fn compiled_flow_control_is_recognised() {
    let mut seen = 0;
    for name in [
        "02_ifelse.txt",
        "09_for_varying.txt",
        "17_nested_loops.txt",
        "32_tex_branches.txt",
        "15_continue_nested.cont.txt",
        "rnd_050.txt",
    ] {
        let text = mesa(name);
        let program = import(text.as_bytes(), name, &Options::default())
            .unwrap()
            .program;
        let mut said = 0;
        for line in text.lines().filter_map(|l| l.strip_prefix("FC ")) {
            let [at, what, inst, addr] = line.split(' ').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let slot = program.slots[at.parse::<usize>().unwrap()];
            assert_eq!(
                format!("{:08x} {:08x}", slot.inst, slot.addr),
                format!("{inst} {addr}"),
                "{name} {at}"
            );
            let what = match what {
                "BGNLOOP" => "LOOP i0 as Mesa writes it",
                "BRK" => "BREAK, ",
                "CONT" => "CONTINUE, ",
                what => what,
            };
            let named = statement(slot).unwrap_or_default();
            assert!(named.starts_with(what), "{name} {at}: {named}");
            said += 1;
        }
        let fc = program
            .slots
            .iter()
            .filter(|s| Fc::decode(**s).is_some())
            .count();
        assert_eq!(said, fc, "{name}");
        seen += said;
    }
    assert!(seen > 60, "{seen}");
}

/// r500-O29: Mesa's LOOP word is reported, and set right on request; nothing else changes.
#[test]
fn safe_loops_set_jump_any() {
    for name in ["17_nested_loops.log", "17_nested_loops.txt"] {
        let text = mesa(name);
        let plain = import(text.as_bytes(), name, &Options::default()).unwrap();
        let safe = import(
            text.as_bytes(),
            name,
            &Options {
                safe_loops: true,
                which: None,
            },
        )
        .unwrap();
        let changed: Vec<usize> = (0..plain.program.slots.len())
            .filter(|i| plain.program.slots[*i] != safe.program.slots[*i])
            .collect();
        assert_eq!(changed.len(), 2, "{name}");
        for i in &changed {
            assert_eq!(plain.program.slots[*i].inst, 0x1000_0001);
            assert_eq!(safe.program.slots[*i].inst, 0x1000_0021);
        }
        let slots = format!("slots {}, {}: ", changed[0], changed[1]);
        for (got, part) in [(&plain, "JUMP_ANY = 0"), (&safe, "JUMP_ANY set")] {
            assert_eq!(got.warnings.len(), 1, "{name}");
            assert!(
                got.warnings[0].starts_with(&slots) && got.warnings[0].contains(part),
                "{:?}",
                got.warnings
            );
        }
    }
    assert!(imported(&mesa("02_ifelse.log")).warnings.is_empty());
}

/// Partial flow control has four levels; the driver leaves it at the fourth (r500-O25).
#[test]
fn the_mode_follows_from_the_words() {
    let log = |ifs: usize| {
        let mut text = "R500 Fragment Program:\n--------\n".to_owned();
        for n in 0..2 * ifs {
            let inst = if n < ifs { "12000f00" } else { "01010020" };
            text += &format!(
                "{n}\t0:CMN_INST   0x00000402:FC\n\t2:FC_INST    0x{inst}:\n\t3:FC_ADDR    0x00000000:\n\n"
            );
        }
        imported(&(text + &format!("{}\t0:CMN_INST   0x00000001:OUT\n\t2:ALPHA_ADDR 0x00000000\n\t3 RGB_INST:  0x00000000\n", 2 * ifs)))
            .program
            .regs
            .full()
    };
    assert_eq!((log(3), log(4)), (false, true));
}

#[test]
fn a_log_may_hold_several_programs() {
    let (a, b) = (mesa("02_ifelse.log"), mesa("09_for_varying.log"));
    let both = format!("some noise\n{a}more: noise\n{b}=== noise\n");
    let got = imported(&both);
    assert_eq!(
        got.listed
            .iter()
            .map(|l| (l.slots, l.problem.is_some()))
            .collect::<Vec<_>>(),
        [(25, false), (14, false)]
    );
    assert_eq!(
        got.program.slots,
        imported(&b).program.slots,
        "the last by default"
    );
    assert_eq!(got.program.name, "x.2");
    let pick = |n| {
        import(
            both.as_bytes(),
            "x.log",
            &Options {
                which: Some(n),
                safe_loops: false,
            },
        )
    };
    assert_eq!(pick(1).unwrap().program.slots, imported(&a).program.slots);
    assert_eq!(pick(1).unwrap().program.name, "x.1");
    for n in [0, 3] {
        assert_eq!(pick(n).unwrap_err().field, "which");
    }
    assert_eq!(
        load(
            a.as_bytes(),
            "x.log",
            &Options {
                which: Some(2),
                safe_loops: false
            }
        )
        .unwrap_err()
        .field,
        "which"
    );
}

/// Cutting a log off anywhere gives the program before it, or an error, never half a program without
/// a word about it.
#[test]
fn a_log_that_is_cut_off_falls_back_to_the_last_complete_program() {
    let (a, b) = (mesa("02_ifelse.log"), mesa("09_for_varying.log"));
    let whole = imported(&b).program.slots;
    let first = imported(&a).program.slots;
    let mut fell_back = 0;
    for keep in 0..b.len() {
        let got = imported(&format!("{a}{}", &b[..keep]));
        if got.program.slots == first && keep > b.find("R500").unwrap() + 30 {
            assert!(
                got.listed.len() == 1 || got.warnings[0].contains("is cut off"),
                "{keep}: {:?}",
                got.warnings
            );
            fell_back += 1;
        } else if got.program.slots != whole && got.program.slots != first {
            assert!(
                got.warnings
                    .iter()
                    .any(|w| w.contains("may have been cut off")),
                "{keep}"
            );
        }
        if let Err(e) = import(&b.as_bytes()[..keep], "x.log", &Options::default()) {
            assert!(!e.message.is_empty());
        }
    }
    assert!(fell_back > 1000, "{fell_back}");
}

#[test]
fn damage_in_a_log_is_refused() {
    let log = mesa("09_for_varying.log");
    let line_of = |part: &str| 1 + log.lines().position(|l| l.contains(part)).unwrap();
    for (from, to, line, field) in [
        (
            "\n4\t0:CMN_INST",
            "\n5\t0:CMN_INST",
            line_of("4\t0:CMN"),
            "slot",
        ),
        (
            "\n4\t0:CMN_INST",
            "\n\t0:CMN_INST",
            line_of("4\t0:CMN"),
            "slot",
        ),
        (
            "0x00000402:FC",
            "0x0000402:FC",
            line_of("4\t0:CMN"),
            "CMN_INST",
        ),
        (
            "0x10000001:",
            "0x100000011:",
            line_of("0x10000001"),
            "FC_INST",
        ),
        ("0x10000001:", "10000001:", line_of("0x10000001"), "FC_INST"),
        (
            "\t2:FC_INST    0x10000001",
            "\tlost",
            line_of("4\t0:CMN"),
            "FC_INST",
        ),
        (
            "\t3:FC_ADDR    0x000c0000",
            "\tlost",
            line_of("4\t0:CMN"),
            "FC_ADDR",
        ),
        (
            "\t3:FC_ADDR    0x000c0000",
            "\t2:FC_INST    0x000c0000",
            line_of("0x000c0000"),
            "FC_INST",
        ),
        (
            "\t2:FC_INST    0x10000001",
            "\t2:ALPHA_ADDR 0x10000001",
            line_of("0x10000001"),
            "ALPHA_ADDR",
        ),
        ("0\t0:CMN_INST", "noise", line_of("0x08020001"), "RGB_ADDR"),
        (
            "\t4 ALPHA_INST:0x00600010",
            "\tlost",
            line_of("0\t0:CMN"),
            "ALPHA_INST",
        ),
    ] {
        assert!(log.contains(from), "{from}");
        let e = import_error(&log.replacen(from, to, 1));
        assert_eq!(
            (e.file.as_str(), e.line, e.field.as_str()),
            ("x.log", line, field),
            "{from} -> {to}: {e}"
        );
    }
    let e = import_error("R500 Fragment Program:\n--------\n");
    assert_eq!((e.line, e.field.as_str()), (1, "program"));
}

#[test]
fn a_program_must_fit_the_memory() {
    let log = |n: usize| {
        let mut text = "R500 Fragment Program:\n".to_owned();
        for i in 0..n {
            text += &format!(
                "{i}\t0:CMN_INST   0x00000001:OUT\n\t2:ALPHA_ADDR 0x00000000:\n\t3 RGB_INST:  0x00000000:\n"
            );
        }
        text
    };
    assert_eq!(imported(&log(512)).program.slots.len(), 512);
    assert_eq!(import_error(&log(513)).field, "program");
    let listing = |n: usize, offset: usize| {
        let mut text = "# SLOTS\n".to_owned();
        for i in 0..n {
            text += &format!("{i} 00000001 00000000 00000000 00000000 00000000 00000000\n");
        }
        text + &format!("# REGISTERS\nUS_CODE_OFFSET {offset:08x}\n")
    };
    assert_eq!(imported(&listing(512, 0)).program.slots.len(), 512);
    assert_eq!(import_error(&listing(513, 0)).field, "program");
    assert_eq!(imported(&listing(12, 500)).program.slots.len(), 12);
    assert_eq!(import_error(&listing(13, 500)).field, "program");
}

#[test]
fn damage_in_a_listing_is_refused() {
    let text = mesa("09_for_varying.txt");
    for (from, to, field) in [
        ("\n4 00000402", "\n5 00000402", "slot"),
        ("\n4 00000402", "\n4 0000402", "word 0"),
        (
            "10000001 000c0000 00000000 00000000\n",
            "10000001 000c0000 00000000\n",
            "word 5",
        ),
        (
            "10000001 000c0000 00000000 00000000\n",
            "10000001 000c0000 00000000 00000000 0\n",
            "slot",
        ),
        ("end=13", "end=512", "US_CODE_ADDR"),
        ("end=13", "", "US_CODE_ADDR"),
        ("end=13", "end=x", "US_CODE_ADDR"),
        ("US_FC_CTRL 80000000", "US_FC_CTRL 8000000", "US_FC_CTRL"),
        (
            "US_FC_CTRL 80000000",
            "US_FC_CTRL 80000000\nUS_FC_CTRL 80000000",
            "US_FC_CTRL",
        ),
        (
            "US_FC_INT_CONST_0",
            "US_FC_INT_CONST_32",
            "US_FC_INT_CONST_32",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        assert_eq!(
            import_error(&text.replacen(from, to, 1)).field,
            field,
            "{from} -> {to}"
        );
    }
    assert_eq!(
        imported(&text.replacen("end=13", "end=511", 1))
            .program
            .regs
            .end(),
        511
    );
    assert_eq!(import_error("# SLOTS\n# REGISTERS\n").field, "# SLOTS");
    // Registers that are missing are worked out, with a warning.
    let bare: String = text
        .lines()
        .take_while(|l| !l.starts_with("# FLOW"))
        .map(|l| format!("{l}\n"))
        .collect();
    let got = imported(&bare);
    assert_eq!(got.program, imported(&text).program);
    assert_eq!(got.warnings.len(), 3);
}

#[test]
fn files_are_recognised_by_content() {
    let hex = "; words\n.full\n00000402 00000000 00000000\n";
    for (text, file, format) in [
        (read("if_else.s").as_str(), "x.hex", Format::Assembly),
        (hex, "x.s", Format::Hex),
        ("0X0 0 0", "x", Format::Hex),
        ("add 0 0", "x.s", Format::Hex),
        (mesa("09_for_varying.log").as_str(), "x.s", Format::MesaLog),
        (mesa("09_for_varying.txt").as_str(), "x.s", Format::Slots),
        ("; nothing\n.full", "x.HEX", Format::Hex),
        ("; nothing\n.full", "x.s", Format::Assembly),
        (
            "; R500 Fragment Program:\n; # SLOTS\nOUT",
            "x",
            Format::Assembly,
        ),
    ] {
        assert_eq!(recognise(text, file), format, "{text}");
    }
    let e = import(b"OUT", "x.log", &Options::default()).unwrap_err();
    assert!(e.message.contains("RADEON_DEBUG=fp"), "{e}");
    let e = load(b"OUT\n\n \xff\n", "x.s", &Options::default()).unwrap_err();
    assert_eq!((e.line, e.field.as_str()), (3, "file"));
    let bom = load(b"\xef\xbb\xbfOUT\r\n", "x.s", &Options::default()).unwrap();
    assert_eq!(bom.program.slots.len(), 1);
}
