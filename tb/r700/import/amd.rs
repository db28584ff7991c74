//! Listings of AMD's tools.

use super::*;

fn sample() -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tb/r700/programs/dumps");
    fs::read_to_string(format!("{folder}/loop.isa")).unwrap()
}

fn quads(text: &str) -> Vec<Quad> {
    assemble(text, "x.s")
        .unwrap_or_else(|e| panic!("{e}"))
        .quads
}

const REMARK: &str = "STACK_SIZE is not in a listing of AMD's: 32 entries are taken";
const EXPORTS: &str = "exports have their opcode only: the sequencer does not read the rest";

#[test]
fn a_listing_is_read() {
    let got = import(sample().as_bytes(), None);
    let plain = "ALU 1 @32\nLOOP_START_DX10 @7\nALU_BREAK 0 @34 KC0[CB0:0-16] u\nALU_PUSH_BEFORE 0 @35 u\n\
                 JUMP @6 POP:1\nALU_POP_AFTER 1 @36\nLOOP_END @2\nEXPORT_DONE END";
    assert_eq!(got.program.quads, quads(plain));
    assert_eq!((&got.program.name[..], got.program.regs.prog_len), ("x", 8));
    assert_eq!(got.warnings, [REMARK, EXPORTS]);
    assert_eq!(
        list(sample().as_bytes(), "x.isa").unwrap(),
        ["1  x, 8 CF instructions, 8 quadwords"]
    );
}

/// A program of one line.
fn one(line: &str) -> String {
    format!("00 {line}\n01 NOP\n{END}\n")
}

const END: &str = "END_OF_PROGRAM";

/// Constants that the listing does not give are 0, and it says so.
#[test]
fn constants_that_a_listing_does_not_give_are_0() {
    for line in [
        "LOOP_START CF_CONST(3) FAIL_JUMP_ADDR(1)",
        "JUMP CND(BOOL) CF_CONST(5) ADDR(1)",
    ] {
        let warned = import(one(line).as_bytes(), None).warnings;
        let constants = "loop constants and booleans are not in a listing of AMD's: all are 0";
        assert_eq!(warned, [REMARK, constants]);
    }
}

/// Several programs in a text, and mask updates.
#[test]
fn programs_are_chosen_by_number_and_masks_are_counted() {
    let two = one("NOP") + "\nanother one\n" + &sample();
    assert_eq!(
        refused(two.as_bytes(), None),
        "x.o: --select: there are 2 programs, 1 x.1, 2 x.2; choose one by number or name"
    );
    assert_eq!(import(two.as_bytes(), Some("2")).program.quads.len(), 8);
    assert_eq!(import(two.as_bytes(), Some("x.1")).program.name, "x.1");
    let mask = "x: PRED_SETE ____, R0.x, 0.0f UPDATE_EXEC_MASK UPDATE_PRED\n";
    for (count, u) in [(0, false), (1, true), (2, true)] {
        let groups: String = (0..2)
            .map(|i| match i < count {
                true => format!("  {i}  {mask}"),
                false => format!("  {i}  x: MOV R0.x, R1.x VEC_120\n"),
            })
            .collect();
        let text = format!("00 ALU: ADDR(3) CNT(2)\n{groups}01 NOP\n{END}\n");
        let got = import(text.as_bytes(), None);
        assert_eq!(got.program.quads[0].u, u);
        let several = "quad 0: clause with several mask updates, of which the last counts";
        assert_eq!(got.warnings.iter().any(|w| w == several), count == 2);
    }
}
