//! The statement layer without text.

use super::*;

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
