//! Words to text and back.

use super::*;

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

/// The words are given if fields cannot say all of them, and only then; alone if they have no mnemonic.
#[test]
fn only_meaningless_bits_need_words() {
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    for n in 0..20_000 {
        let (dw0, dw1, u): (u32, u32, bool) = rng.random();
        let q = match n % 5 {
            0 => Quad { dw0, dw1, u },
            1 => Quad {
                dw0,
                dw1: dw1 | 1 << 29,
                u,
            },
            // The general format without the reserved bit, few fields at a time.
            2 => quad(
                dw0 & 0xff,
                dw1 & !(1 << 20) & !(3 << 28) & (dw0 | 0x9f80_0000),
            ),
            3 => quad(dw0, dw1 & !(1 << 20) & !(3 << 28)),
            _ => Quad {
                dw0: 0,
                dw1: dw1 & 0xff80_0000,
                u: false,
            },
        };
        let word = Word::decode(q);
        let reserved = if matches!(word, Word::Cf(_)) {
            Cf::RESERVED
        } else {
            0
        };
        assert_eq!(word.encode(), quad(q.dw0, q.dw1 & !reserved));
        let text = disassemble(q, 0, &Registers::default());
        let sayable = match word {
            Word::Alu(_) => true,
            Word::Cf(_) => !q.u && q.dw1 >> 20 & 1 == 0,
            Word::Mem(_) => !q.u,
            Word::Reserved(..) => false,
        };
        let nameless = matches!(word, Word::Reserved(..));
        assert_eq!(text.starts_with(".quad"), nameless, "{text}");
        assert_eq!(text.contains(" ["), !sayable && !nameless, "{text}");
    }
}

/// Random statements, without those that are refused where they stand, and with what is open closed:
/// nothing panics, and what comes out survives a round trip.
#[test]
fn random_statements_expand_or_are_refused() {
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    let mut expanded = 0;
    'next: for _ in 0..2000 {
        let mut stmts = Vec::new();
        for line in 1..rng.random_range(2..61) {
            stmts.push(Line::new(
                line,
                any_stmt((rng.random_range(0..22), rng.random())),
            ));
            if expand(&stmts, "gen")
                .is_err_and(|e| e.line == line && !e.message.starts_with("needs"))
            {
                stmts.pop();
            }
        }
        let labels: Vec<&Stmt> = stmts
            .iter()
            .map(|s| &s.item)
            .filter(|s| matches!(s, Stmt::Label(_)))
            .collect();
        let missing: Vec<Stmt> = (0..3)
            .map(|n| Stmt::Label(format!("l{n}")))
            .filter(|l| !labels.contains(&l))
            .collect();
        let code = loop {
            match expand(&stmts, "gen") {
                Ok(code) => break code,
                // Where a subroutine begins inside a block, there is nothing to close it with.
                Err(e) if e.message.contains(" before the ") => continue 'next,
                Err(e) if e.message.starts_with("needs ENDIF") => {
                    stmts.push(Line::new(
                        99,
                        Stmt::Endif {
                            form: EndifForm::Pop,
                            vpm: false,
                        },
                    ));
                }
                Err(e) if e.message.starts_with("needs ENDLOOP") => {
                    stmts.push(Line::new(99, Stmt::EndLoop { vpm: false }))
                }
                Err(e) if e.message.ends_with("is not defined") => {
                    assert!(stmts.len() < 200, "{e}");
                    stmts.extend(missing.iter().map(|l| Line::new(99, l.clone())));
                }
                Err(e) => panic!("{e}"),
            }
        };
        assert_eq!(code.quads.len(), code.lines.len());
        if !code.quads.is_empty() {
            let regs = Registers {
                prog_len: code.quads.len() as u32,
                ..Registers::default()
            };
            let program = Program {
                name: "gen".to_owned(),
                regs,
                quads: code.quads,
            };
            assert_eq!(assemble(&program_text(&program), "gen.s").unwrap(), program);
            expanded += 1;
        }
    }
    assert!(expanded > 500, "{expanded}");
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
        12..=13 => Stmt::Leave {
            breaks: kind == 12,
            when,
        },
        14..=15 => Stmt::LeaveUnless {
            breaks: kind == 14,
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

/// What the disassembler calls a statement depends neither on the barrier nor on the address.
#[test]
fn a_statement_name_survives_irrelevant_bits() {
    let mut named = 0;
    for text in texts::inputs("tb/r700/assembled.txt") {
        for quad in assemble(&text, "t.s").map_or(Vec::new(), |program| program.quads) {
            let Some(name) = statement(quad) else {
                continue;
            };
            for (barrier, target) in (0..2).flat_map(|b| [1, 2, 511].map(|target| (b, target))) {
                let mut changed = quad;
                changed.dw1 = quad.dw1 & !(1 << 31) | barrier << 31;
                // END has no address.
                if quad.dw1 << 1 != 0x8020_0000 << 1 {
                    changed.dw0 = target;
                }
                assert_eq!(statement(changed).as_ref(), Some(&name), "{text}");
                named += 1;
            }
        }
    }
    assert!(named > 500, "{named}");
}
