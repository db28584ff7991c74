//! The contract of docs/contract.md, cycle by cycle.

use super::*;

/// Host port, launch, stall, waiting and reset (r700-3.3, r700-3.5).
fn contract(machine: &mut dyn Unit) {
    let reset = State {
        active: ALL,
        ..State::default()
    };
    assert_eq!(machine.clock(&In::reset()), reset, "reset");

    // The host port: 0..31, 32, and addresses without a register; nothing while stalled.
    let mut expected = reset;
    for n in 0..64 {
        let value = 0x8000_1001 + (u32::from(n) << 8);
        let mut stalled = write(n, !value);
        stalled.stall = 1;
        assert_eq!(machine.clock(&stalled), expected, "stalled write {n}");
        match n {
            0..=31 => expected.loop_const[usize::from(n)] = value,
            32 => expected.bool_const = value,
            _ => {}
        }
        assert_eq!(machine.clock(&write(n, value)), expected, "write {n}");
    }
    // Without a running wavefront instructions and predicates have no effect.
    assert_eq!(machine.clock(&alu(ALU_PUSH_BEFORE, 0)), expected, "idle");
    assert_eq!(machine.clock(&cf(0, KILL | END)), expected, "idle");

    // A launch takes its operands and the write beside it, but not the instruction; bits of lanes that do not exist have no
    // effect.
    let mut pins = alu(ALU_PUSH_BEFORE, 0);
    pins.launch = 1;
    (pins.entry, pins.prog_len, pins.stack_size) = (40, 100, 4);
    pins.lane_mask = !0b0010;
    (pins.const_we, pins.const_addr, pins.const_wdata) = (1, 32, 0xFFFF_0001);
    let mut refused = pins;
    refused.stall = 1;
    assert_eq!(machine.clock(&refused), expected, "stalled launch");
    expected = State {
        st: [0b0010, 0],
        active: 0b1101,
        valid: 0b1101,
        pc: 40,
        running: 1,
        bool_const: 0xFFFF_0001,
        ..expected
    };
    assert_eq!(machine.clock(&pins), expected, "launch");

    // Running: launches and host writes are ignored, in clocks with an instruction and without.
    let mut ignored = launch(&program(7, 1), 0b0001);
    (ignored.const_we, ignored.const_addr, ignored.const_wdata) = (1, 3, 0);
    assert_eq!(machine.clock(&ignored), expected, "waiting");
    let mut both = ignored;
    (both.inst_valid, both.dw0, both.dw1) = (1, 0, ALU_PUSH_BEFORE);
    expected = State {
        exec: 0b1101,
        top_mask: 0b1101,
        sp: 1,
        nb: 1,
        pc: 41,
        ..expected
    };
    assert_eq!(machine.clock(&both), expected, "an instruction beside it");
    // A stalled clock leaves exec and jump, one without an instruction does not.
    both.stall = 1;
    assert_eq!(machine.clock(&both), expected, "stalled");
    expected.exec = 0;
    assert_eq!(machine.clock(&In::default()), expected, "waiting");
    expected.pc = 20;
    expected.jump = 1;
    (expected.sp, expected.nb, expected.top_mask) = (0, 0, 0);
    assert_eq!(machine.clock(&cf(20, JUMP | FALSE | 1)), expected, "jump");
    both.dw1 = NOP;
    assert_eq!(machine.clock(&both), expected, "stalled");
    expected.jump = 0;
    assert_eq!(machine.clock(&In::default()), expected, "waiting");

    // Halted: the code stays, instructions are over, the host may write; a launch clears everything.
    expected = halted(&expected, NO_CALL);
    assert_eq!(machine.clock(&cf(0, RETURN)), expected, "error");
    assert_eq!(machine.clock(&cf(0, POP)), expected, "halted");
    expected.loop_const[3] = 0xFFFF_FFFF;
    assert_eq!(machine.clock(&write(3, 0xFFFF_FFFF)), expected, "halted");
    let fresh = State {
        loop_const: expected.loop_const,
        bool_const: expected.bool_const,
        ..State::default()
    };
    let launched = State {
        st: [0b0110, 0],
        active: 0b1001,
        valid: 0b1001,
        pc: 5,
        running: 1,
        ..fresh
    };
    let mut again = program(10, 4);
    again.entry = 5;
    assert_eq!(machine.clock(&launch(&again, 0b1001)), launched, "again");

    // A wave with everything in it, ended by an error; the next launch finds none of it.
    for pins in [
        cf(6, CALL | call_count(33)),
        cf(6, CALL | call_count(2)),
        cf(9, LOOP_START | cf_const(1)),
        alu(ALU_PUSH_BEFORE, 0b0001),
        alu(ALU_BREAK, 0),
        cf(0, KILL),
    ] {
        let state = machine.clock(&pins);
        assert_eq!((state.err, state.pc < 10), (0, true));
        if state.pc == 9 {
            machine.load(&State { pc: 3, ..state });
        }
    }
    let state = machine.clock(&cf(0, LOOP_END));
    assert_eq!((state.err, state.skipped, state.depth), (LOOP_OPEN, 1, 2));
    assert!(state.al != 0 && state.inc != 0 && state.lc != 0 && state.lt != 0);
    assert_eq!(machine.clock(&launch(&again, 0b1001)), launched, "again");

    // Done: the state stays to be read until the next launch.
    let done = State {
        exec: 0b1001,
        running: 0,
        done: 1,
        pc: 6,
        ..launched
    };
    assert_eq!(machine.clock(&cf(0, NOP | END)), done, "END");
    let idle = State { exec: 0, ..done };
    assert_eq!(machine.clock(&cf(0, ALU)), idle, "done");
    assert_eq!(machine.clock(&launch(&again, 0b1001)), launched, "again");

    // Reset beats stall and launch, and takes the constants too.
    let mut pins = launch(&again, ALL);
    (pins.rst_n, pins.stall) = (0, 1);
    assert_eq!(machine.clock(&pins), reset, "reset");
    assert_eq!(machine.clock(&In::default()), reset, "and after it");
}

both! {
    contract: golden_keeps_the_clock_contract, rtl_keeps_the_clock_contract;
}
