//! ELSE IF, and the statement layer without text.

use super::*;

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
