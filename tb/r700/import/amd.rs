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

/// A program of one line, with what must stand behind it.
fn one(line: &str) -> String {
    let clause = match line.split([':', ' ']).next().unwrap() {
        "TEX" | "VTX" => "   0  SAMPLE R0, R0.xyxx, t0, s0\n",
        name if name.starts_with("ALU") => "   0  x: MOV  R0.x, R1.x\n      y: MOV ____, R1.y\n",
        _ => "",
    };
    format!("00 {line}\n{clause}01 NOP\n{END}\n")
}

const END: &str = "END_OF_PROGRAM";

/// Every option, as the words of the same instruction in our own assembly.
#[test]
fn options_are_the_fields_of_the_words() {
    for (line, plain) in [
        ("NOP", "NOP"),
        ("CALL_FS NO_BARRIER", "CALL_FS NO_BARRIER"),
        ("ALU: ADDR(0) CNT(2)", "ALU 1 @0"),
        ("ALU: ADDR(4194303) CNT(128)", "ALU 127 @4194303"),
        (
            "ALU_ELSE_AFTER: ADDR(9) CNT(2) KCACHE0(CB15:4080-4095) KCACHE1(CB1:16-47) NO_BARRIER",
            "ALU_ELSE_AFTER 1 @9 KC0[CB15:4080-4096] KC1[CB1:16-48] NO_BARRIER",
        ),
        ("ALU: ADDR(3) CNT(9) USES_WATERFALL", "ALU 8 @3 ALT_CONST"),
        ("TEX: ADDR(20) CNT(1) VALID_PIX", "TEX 0 @20 VPM"),
        (
            "LOOP_START CF_CONST(31) FAIL_JUMP_ADDR(1)",
            "LOOP_START @1 i31",
        ),
        (
            "LOOP_START_NO_AL CF_CONST(0) FAIL_JUMP_ADDR(1)",
            "LOOP_START_NO_AL @1 i0",
        ),
        ("LOOP_END CF_CONST(3) PASS_JUMP_ADDR(0)", "LOOP_END @0 i3"),
        ("LOOP_BREAK ADDR(1)", "LOOP_BREAK @1"),
        ("LOOP_CONTINUE CND(FALSE) ADDR(1)", "LOOP_CONTINUE @1 FALSE"),
        (
            "JUMP CND(BOOL) CF_CONST(5) POP_CNT(7) ADDR(1)",
            "JUMP @1 POP:7 b5",
        ),
        ("ELSE POP_COUNT(1) ADDR(1) VALID_PIX", "ELSE @1 POP:1 VPM"),
        ("PUSH CND(NOT_BOOL) CF_CONST(31) ADDR(1)", "PUSH @1 !b31"),
        ("PUSH_ELSE COND(ACTIVE) ADDR(1)", "PUSH_ELSE @1"),
        ("POP (2) ADDR(9)", "POP @9 POP:2"),
        ("POP POP_CNT(1)", "POP @1 POP:1"),
        ("CALL CALL_COUNT(1) ADDR(1)", "CALL @1 CALL_COUNT:1"),
        ("RETURN", "RETURN @0"),
        ("KILL ADDR(1)", "KILL @1"),
        (
            "EXP: PIX0, R0.xyzw BURSTCNT(3) NO_BARRIER",
            "EXPORT NO_BARRIER",
        ),
        ("EXP_DONE: POS0, R1", "EXPORT_DONE"),
        (
            "MEM_SCRATCH_WRITE_IND: VEC_PTR[0+R1.x], R0, ARRAY_SIZE(4)",
            "MEM_SCRATCH",
        ),
        ("MEM_RING_WRITE: DWORD_PTR[0], R0 VALID_PIX", "MEM_RING VPM"),
    ] {
        let got = import(one(line).as_bytes(), None).program;
        assert_eq!(got.quads, quads(&format!("{plain}\nNOP END")), "{line}");
    }
    // Constants that the listing does not give are 0, and it says so.
    for line in [
        "LOOP_START CF_CONST(3) FAIL_JUMP_ADDR(1)",
        "JUMP CND(BOOL) CF_CONST(5) ADDR(1)",
    ] {
        let warned = import(one(line).as_bytes(), None).warnings;
        let constants = "loop constants and booleans are not in a listing of AMD's: all are 0";
        assert_eq!(warned, [REMARK, constants]);
    }
}

/// What cannot be known, and what is not an instruction of R700.
#[test]
fn what_a_listing_does_not_say_is_refused() {
    for (line, why) in [
        (
            "JUMP POP_CNT(1)",
            "1: JUMP: needs ADDR, which the listing does not give",
        ),
        (
            "CALL ADDR(1)",
            "1: CALL: needs CALL_COUNT, which the listing does not give",
        ),
        (
            "LOOP_START FAIL_JUMP_ADDR(1)",
            "1: LOOP_START: needs CF_CONST, which the listing does not give",
        ),
        (
            "JUMP CND(BOOL) ADDR(1)",
            "1: JUMP: needs CF_CONST, which the listing does not give",
        ),
        (
            "ALU: CNT(2)",
            "1: ALU: needs ADDR, which the listing does not give",
        ),
        ("ALU: ADDR() CNT(1)", "1: ADDR: `` is not a number"),
        (
            "ALU: ADDR(2)",
            "1: ALU: needs CNT, which the listing does not give",
        ),
        ("ALU: ADDR(2) CNT(0)", "1: CNT: 0 is not in 1..128"),
        ("ALU: ADDR(2) CNT(129)", "1: CNT: 129 is not in 1..128"),
        (
            "ALU: ADDR(4194304) CNT(2)",
            "1: ADDR: 4194304 is not in 0..4194303",
        ),
        ("TEX: ADDR(2) CNT(17)", "1: CNT: 17 is not in 1..16"),
        (
            "TEX: ADDR(2) CNT(2)",
            "1: clause: fewer fetches follow than CNT says",
        ),
        ("JUMP POP_CNT(8) ADDR(1)", "1: POP_CNT: 8 is not in 0..7"),
        (
            "JUMP ADDR(2)",
            "1: ADDR: 2, and the program has 2 instructions",
        ),
        ("JUMP ADDR(1", "1: JUMP: `ADDR(` has no closing bracket"),
        (
            "JUMP ADDR(1) MARK",
            "1: JUMP: `MARK` is not an option of this instruction of R700",
        ),
        (
            "JUMP CND(NEVER) ADDR(1)",
            "1: CND: `NEVER` is not one of ACTIVE, FALSE, BOOL, NOT_BOOL",
        ),
        (
            "ALU: ADDR(1) CNT(2) KCACHE0(CB0:0-63)",
            "1: KCACHE0: is not of the form CB0:0-15 or CB0:0-31, 16 or 32 constants from a multiple of 16 on",
        ),
        (
            "NOP\n01 GDS ADDR(3)",
            "2: instruction: `01 GDS ADDR(3)` is neither a CF instruction of R700 nor of the clause before",
        ),
        (
            "ALU: ADDR(1) CNT(1)",
            "3: instruction: `y: MOV ____, R1.y` is neither a CF instruction of R700 nor of the clause before",
        ),
    ] {
        assert_eq!(
            refused(one(line).as_bytes(), None),
            format!("x.o:{why}"),
            "{line}"
        );
    }
    let none = "00 ALU: ADDR(32) CNT(2)\n01 NOP\nEND_OF_PROGRAM\n";
    assert_eq!(
        refused(none.as_bytes(), None),
        "x.o:1: clause: the listing has none of its instructions, which say whether it updates the execute mask"
    );
    for (text, why) in [
        (
            "00 NOP\n",
            "1: program: no END_OF_PROGRAM follows the last instruction: is the listing cut off?",
        ),
        (
            "00 ALU: ADDR(3) CNT(1)\n 0 x: MOV R0.x, R1.x\nEND_OF_PROGRAM\n",
            "3: END_OF_PROGRAM: an ALU instruction has no END; R700 ends with an export or a NOP",
        ),
        (
            "01 NOP\nEND_OF_PROGRAM\n",
            "1: number: `01` follows where 00 should",
        ),
    ] {
        assert_eq!(refused(text.as_bytes(), None), format!("x.o:{why}"));
    }
}

/// Numbers before the instructions look like words in hexadecimal.
#[test]
fn a_numbered_listing_is_never_taken_for_words() {
    let cut = "00 CALL_FS NO_BARRIER\n01 ALU: ADDR(32) CNT(2)\n    0  t: FLT_TO_INT ____,   R6.x\n    \
               1  x: LSHL_INT   R6.x,   PS0,   0x2\n04 LOOP_START_DX10 FAIL_JUMP_ADDR(9)\n";
    assert_eq!(
        refused(cut.as_bytes(), None),
        "x.o:5: number: `04` follows where 02 should"
    );
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
