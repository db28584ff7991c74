//! Programs that are refused, each with its message.

use super::*;

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
        "`foo` is not an instruction, statement or directive",
    ),
    (
        "BREKA",
        1,
        "mnemonic",
        "`breka` is not an instruction, statement or directive; did you mean `break`?",
    ),
    (
        "ALU\n  elsif alu",
        2,
        "mnemonic",
        "`elsif` is not an instruction, statement or directive; did you mean `elseif`?",
    ),
    (
        "BREKLOOP func=0",
        1,
        "mnemonic",
        "`brekloop` is not an instruction, statement or directive; did you mean `breakloop`?",
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
    ("JUMP func=0 a=FOO", 1, "a", "unknown value `foo`"),
    ("JUMP func=0 foo", 1, "operands", "JUMP has no field `foo`"),
    (".word 1 2", 1, ".word", "CMN INST ADDR"),
    (
        "JUMP func=0x0F -> 0 [0x402 0x20000F01 0]",
        1,
        "words",
        "are those of LOOP func=0x0F -> 0x000",
    ),
    (
        "JUMP func=0x0F -> 0 [0x402 0x20000F00 0",
        1,
        "words",
        "`[` without `]` at the end",
    ),
    (
        "L: JUMP func=0x0F -> L [0x402 0x20000F00 0]",
        1,
        "words",
        "beside them the target is a number",
    ),
    (
        "ENDIF [0x402 0 0]",
        1,
        "endif",
        "does not take words in brackets",
    ),
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
