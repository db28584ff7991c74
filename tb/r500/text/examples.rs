//! The worked examples of r500-7.3 to r500-7.9.

use super::*;

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

pub(super) const IF: u32 = 0x0200_0f00;
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
