//! Limits, each at N and N + 1.

use super::*;

fn repeat(line: &str, n: usize) -> String {
    format!("{line}\n").repeat(n)
}

#[test]
fn a_program_has_at_most_65536_instructions() {
    assert_eq!(MAX_QUADS, 65_536);
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
            kcache1: kcache,
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
            Stmt::Leave {
                breaks: true,
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
