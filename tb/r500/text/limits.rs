//! Limits, each at N and N + 1.

use super::*;

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
}

/// The statement layer's own checks, which text cannot reach.
#[test]
fn expand_checks_its_numbers() {
    let one = |stmt: Stmt| {
        let line = Line::new(3, (stmt, false));
        expand(&[line], 0, Targets::Relative, "gen").unwrap_err()
    };
    let begin = Stmt::Loop {
        rep: false,
        int: 32,
        cond: None,
    };
    assert_eq!(one(begin).field, "constant");
    assert_eq!(one(Stmt::If(Cond::boolean(32))).field, "condition");
    for pred in [PredSel::Rgba, PredSel::Reserved6, PredSel::Reserved7] {
        let e = one(Stmt::Ret {
            cond: Some(Cond { pred, ..Cond::ALU }),
            counters: true,
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
