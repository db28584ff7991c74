//! The statement layer without text.

use super::*;

/// The statement layer without text: what a program generator uses.
#[test]
fn expand_reports_lines_labels_and_ends() {
    let call = Stmt::Call {
        label: "s".into(),
        cond: Some(!Cond::pred(PredSel::G)),
        counters: true,
    };
    let ret = Stmt::Ret {
        cond: None,
        counters: true,
    };
    let stmts = [
        Line::new(1, (call, true)),
        Line::new(2, (Stmt::Out, false)),
        Line::new(4, (Stmt::Label("s".into()), false)),
        Line::new(5, (Stmt::Tex, false)),
        Line::new(6, (ret, false)),
    ];
    let code = expand(&stmts, 7, Targets::Global, "gen").unwrap();
    let expected = [
        Slot::new(0x41a, 0x1800_33a0, 0x8009_0000),
        Slot::new(1, 0, 0),
        Slot::new(3, 0, 0),
        Slot::new(0x402, 0x0401_ff40, 0),
    ];
    assert_eq!(code.slots, expected);
    assert_eq!(code.labels["s"], 2);
    assert_eq!((code.end(0), code.end(2), code.end(3)), (1, 3, 3));
}
