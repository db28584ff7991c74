//! Tests of the steps of the scalar machine. That a lane executes what the golden model does, and so the specification: `tb/alone.rs`.

use super::Class::{Active, Branch, Brk, Cont};
use super::*;
use crate::r700::program::Registers;

pub(super) const ALU: u32 = 0xA000_0000;
pub(super) const PUSH_BEFORE: u32 = 0xA400_0000;
pub(super) const POP_AFTER: u32 = 0xA800_0000;
pub(super) const POP2_AFTER: u32 = 0xAC00_0000;
const ALU_CONTINUE: u32 = 0xB400_0000;
pub(super) const ALU_BREAK: u32 = 0xB800_0000;
pub(super) const ELSE_AFTER: u32 = 0xBC00_0000;
pub(super) const NOP: u32 = 0x8000_0000;
pub(super) const LOOP_START: u32 = 0x8200_0000;
pub(super) const LOOP_END: u32 = 0x8280_0000;
pub(super) const DX10: u32 = 0x8300_0000;
pub(super) const NO_AL: u32 = 0x8380_0000;
pub(super) const CONTINUE: u32 = 0x8400_0000;
pub(super) const BREAK: u32 = 0x8480_0000;
pub(super) const JUMP: u32 = 0x8500_0000;
pub(super) const PUSH: u32 = 0x8580_0000;
const PUSH_ELSE: u32 = 0x8600_0000;
pub(super) const ELSE: u32 = 0x8680_0000;
pub(super) const POP: u32 = 0x8700_0000;
pub(super) const CALL: u32 = 0x8900_0000;
pub(super) const RETURN: u32 = 0x8A00_0000;
pub(super) const KILL: u32 = 0x8C00_0000;
pub(super) const END: u32 = 1 << 21;
pub(super) const VPM: u32 = 1 << 22;
pub(super) const FALSE: u32 = 1 << 8;
/// BOOL b5, which is 1, and NOT_BOOL b5.
pub(super) const HOLDS: u32 = 2 << 8 | 5 << 3;
pub(super) const FAILS: u32 = 3 << 8 | 5 << 3;
const ONE_CALL: u32 = 1 << 13;

/// Returns a program with the constants of r700-A: b5 is 1, i1 to i4. ALU words have u where `us` says so.
pub(super) fn program(words: &[(u32, u32)], us: &[usize]) -> Program {
    let mut loop_const = [0; 32];
    loop_const[1..5].copy_from_slice(&[1, 0x0200_5003, 0xff00_0003, 0x0100_7002]);
    Program {
        name: "test".to_owned(),
        regs: Registers {
            prog_len: words.len() as u32,
            bool_const: 1 << 5,
            loop_const,
            ..Registers::default()
        },
        quads: words
            .iter()
            .enumerate()
            .map(|(i, &(dw0, dw1))| Quad {
                dw0,
                dw1,
                u: us.contains(&i),
            })
            .collect(),
    }
}

/// Runs one lane; `predicates` in the order of the instructions executed, 1 beyond.
pub(super) fn lane(program: &Program, predicates: &[u8]) -> Trace {
    let scalar = Scalar::new(program, true).expect("structured");
    scalar.run(1000, &mut |k| {
        predicates.get(k as usize).is_none_or(|p| *p == 1)
    })
}

pub(super) fn pcs(trace: &Trace) -> Vec<u32> {
    assert_eq!(trace.end, End::Done);
    trace.executed.iter().map(|(pc, _)| *pc).collect()
}

pub(super) fn with(mut program: Program, at: usize, dw0: u32, dw1: u32) -> Program {
    (program.quads[at].dw0, program.quads[at].dw1) = (dw0, dw1);
    program
}

pub(super) fn if_else() -> Program {
    let words = [
        (6, PUSH_BEFORE),
        (3, JUMP),
        (7, ALU),
        (5, ELSE + 1),
        (8, POP_AFTER),
        (0, NOP | END),
    ];
    program(&words, &[0])
}

pub(super) fn break_and_continue() -> Program {
    let words = [
        (12, DX10),
        (14, ALU),
        (15, PUSH_BEFORE),
        (6, JUMP + 1),
        (11, BREAK),
        (6, POP + 1),
        (16, PUSH_BEFORE),
        (10, JUMP + 1),
        (11, CONTINUE),
        (10, POP + 1),
        (17, ALU),
        (1, LOOP_END),
        (0, NOP | END),
    ];
    program(&words, &[2, 6])
}

pub(super) fn call_under_if() -> Program {
    let words = [
        (12, PUSH_BEFORE),
        (4, JUMP + 1),
        (6, CALL | ONE_CALL | HOLDS),
        (4, POP + 1),
        (13, ALU),
        (0, NOP | END),
        (14, ALU),
        (15, PUSH_BEFORE),
        (10, JUMP + 1),
        (16, POP_AFTER),
        (0, RETURN),
    ];
    program(&words, &[0, 7])
}

const ON: Frame = Frame::Branch(true);
const OFF: Frame = Frame::Branch(false);
const LOOP: Frame = Frame::Loop {
    head: 1,
    class: Active,
    entered: true,
};
const WAITS: Frame = Frame::Loop {
    head: 1,
    class: Branch,
    entered: false,
};
const CALLED: Frame = Frame::Call { to: 20, depth: 3 };

/// A lane in the middle of a program; word 5 is the instruction under test, and word 1 starts a loop with i2.
struct Row {
    stacks: Stacks,
    lane: Lane,
    program: Program,
}

impl Row {
    pub(super) fn new(dw0: u32, dw1: u32, class: Class, frames: &[Frame]) -> Row {
        let mut words = [(0, NOP); 32];
        words[1] = (9, LOOP_START + (2 << 3));
        words[5] = (dw0, dw1);
        let mut stacks = Stacks::new(Built::default());
        let stack = frames
            .iter()
            .fold(Stack::EMPTY, |stack, f| stacks.push(stack, *f));
        let lane = Lane {
            pc: 5,
            stack,
            class,
            valid: true,
            status: Status::Running,
        };
        Row {
            stacks,
            lane,
            program: program(&words, &[]),
        }
    }

    fn u(mut self) -> Row {
        self.program.quads[5].u = true;
        self
    }

    fn killed(mut self) -> Row {
        self.lane.valid = false;
        self
    }

    /// Returns PC, class and frames of a lane.
    fn show(&self, lane: &Lane) -> (u32, Class, Vec<Frame>) {
        let (mut frames, mut stack) = (vec![], lane.stack);
        while let Some((frame, below)) = self.stacks.top(stack) {
            frames.push(frame);
            stack = below;
        }
        frames.reverse();
        (lane.pc, lane.class, frames)
    }

    fn step(&mut self) -> Step {
        let machine = Machine::new(&self.program, Built::default());
        machine.step(&mut self.stacks, self.lane)
    }

    /// Expects, alone: not executed, no event.
    fn moves(mut self, pc: u32, class: Class, frames: &[Frame]) {
        match self.step().alone {
            Turn::Moves(to) => {
                assert_eq!(to.status, Status::Running);
                assert_eq!(self.show(&to), (pc, class, frames.to_vec()));
            }
            other => panic!("{other:?}"),
        }
    }

    /// Expects: executed; then class and frames for predicate 0 and for predicate 1.
    fn executes(mut self, zero: (Class, &[Frame]), one: (Class, &[Frame])) {
        match self.step().alone {
            Turn::Executes([off, on]) => {
                assert_eq!(self.show(&off), (6, zero.0, zero.1.to_vec()));
                assert_eq!(self.show(&on), (6, one.0, one.1.to_vec()));
            }
            other => panic!("{other:?}"),
        }
    }

    fn fails(mut self, code: u8) {
        match self.step().alone {
            Turn::Moves(to) => {
                assert_eq!(
                    to,
                    Lane {
                        status: Status::Failed(code),
                        ..self.lane
                    }
                );
            }
            other => panic!("{other:?}"),
        }
    }

    /// Expects a LOOP_END: another pass, leaving, and where others may lead the lane.
    fn ends_pass(
        mut self,
        again: Option<(u32, Class)>,
        leaves: Option<(u32, Class)>,
        led: Option<(u32, Class)>,
    ) {
        let step = self.step();
        let short = |lane: Option<Lane>| lane.map(|lane| (lane.pc, lane.class));
        match step.alone {
            Turn::EndsPass {
                head,
                again: alone_again,
                leaves: alone_leaves,
            } => {
                assert_eq!(head, 1);
                assert_eq!((short(alone_again), short(alone_leaves)), (again, leaves));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(short(step.led), led);
    }
}

fn row(dw0: u32, dw1: u32, class: Class, frames: &[Frame]) -> Row {
    Row::new(dw0, dw1, class, frames)
}

#[test]
fn spec_4_6_slots_are_executed_by_lanes_that_pass() {
    row(0, NOP, Active, &[]).executes((Active, &[]), (Active, &[]));
    row(0, NOP | HOLDS, Active, &[]).executes((Active, &[]), (Active, &[]));
    row(0, NOP | FAILS, Active, &[]).moves(6, Active, &[]);
    row(0, NOP | FALSE, Active, &[]).moves(6, Active, &[]);
    row(0, NOP, Branch, &[ON]).moves(6, Branch, &[ON]);
    row(0, NOP | VPM, Active, &[])
        .killed()
        .moves(6, Active, &[]);
    row(0, NOP, Active, &[])
        .killed()
        .executes((Active, &[]), (Active, &[]));
    // An export has other fields in the place of COND.
    row(0, 0x9380_0000 | FALSE, Active, &[]).executes((Active, &[]), (Active, &[]));
    // A slot ignores WQM.
    row(0, NOP | 1 << 30, Active, &[]).executes((Active, &[]), (Active, &[]));
    for op in [0, 1, 2, 3, 19, 21, 22, 23, 26, 27, 28, 29, 32, 40, 58] {
        row(0, NOP | op << 23, Active, &[]).executes((Active, &[]), (Active, &[]));
    }
    for op in [15, 16, 17, 25, 30, 31, 41, 57, 59, 63] {
        row(0, NOP | op << 23, Active, &[]).fails(ILLEGAL);
    }
    row(0, 0xB000_0000, Active, &[]).fails(ILLEGAL);
}

#[test]
fn spec_4_6_alu() {
    row(0, ALU, Active, &[]).executes((Active, &[]), (Active, &[]));
    row(0, ALU, Active, &[])
        .u()
        .executes((Branch, &[]), (Active, &[]));
    row(0, ALU, Cont, &[LOOP]).u().moves(6, Cont, &[LOOP]);
    // The frame is saved before u acts; lanes that are off also push.
    row(0, PUSH_BEFORE, Active, &[])
        .u()
        .executes((Branch, &[ON]), (Active, &[ON]));
    row(0, PUSH_BEFORE, Brk, &[LOOP])
        .u()
        .moves(6, Brk, &[LOOP, OFF]);
    // The pop overwrites the effect of u.
    row(0, POP_AFTER, Active, &[ON])
        .u()
        .executes((Active, &[]), (Active, &[]));
    row(0, POP2_AFTER, Branch, &[ON, OFF]).moves(6, Active, &[]);
    row(0, POP2_AFTER, Active, &[ON]).fails(UNDERFLOW);
    row(0, ALU_BREAK, Active, &[LOOP, ON])
        .u()
        .executes((Brk, &[LOOP, ON]), (Active, &[LOOP, ON]));
    row(0, ALU_CONTINUE, Active, &[LOOP])
        .u()
        .executes((Cont, &[LOOP]), (Active, &[LOOP]));
    row(0, ALU_BREAK, Active, &[LOOP]).executes((Active, &[LOOP]), (Active, &[LOOP]));
    row(0, ALU_BREAK, Active, &[LOOP, CALLED])
        .u()
        .fails(NO_LOOP);
    // With u, a frame of its own; without, the open one.
    row(0, ELSE_AFTER, Active, &[])
        .u()
        .executes((Active, &[ON]), (Branch, &[ON]));
    row(0, ELSE_AFTER, Active, &[ON]).executes((Branch, &[ON]), (Branch, &[ON]));
    row(0, ELSE_AFTER, Branch, &[ON]).moves(6, Active, &[ON]);
    row(0, ELSE_AFTER, Branch, &[OFF]).moves(6, Branch, &[OFF]);
    row(0, ELSE_AFTER, Branch, &[]).fails(UNDERFLOW);
}

#[test]
fn spec_4_6_jump_push_pop_else() {
    row(9, JUMP + 1, Active, &[ON]).moves(6, Active, &[ON]);
    row(9, JUMP + 1, Branch, &[ON]).moves(9, Active, &[]);
    row(9, JUMP + 2, Branch, &[OFF, ON]).moves(9, Branch, &[]);
    row(9, JUMP + 1, Cont, &[LOOP, ON]).moves(9, Cont, &[LOOP]);
    row(9, JUMP + 1, Brk, &[LOOP, ON]).moves(9, Brk, &[LOOP]);
    row(9, JUMP | FALSE, Active, &[]).moves(9, Active, &[]);
    row(9, JUMP | FAILS, Active, &[]).moves(9, Active, &[]);
    row(9, JUMP + 1, Branch, &[LOOP]).fails(UNDERFLOW);
    row(99, JUMP, Branch, &[]).fails(PC_RANGE);

    row(9, PUSH, Active, &[]).moves(6, Active, &[ON]);
    row(9, PUSH + 1, Branch, &[ON]).moves(9, Active, &[]);
    row(9, PUSH | FAILS, Active, &[]).moves(9, Active, &[]);
    row(9, PUSH_ELSE, Active, &[]).moves(6, Active, &[ON]);
    row(9, PUSH_ELSE | FAILS, Active, &[]).moves(9, Branch, &[ON]);
    row(9, PUSH_ELSE, Cont, &[LOOP]).moves(9, Cont, &[LOOP, OFF]);

    row(9, POP + 1, Branch, &[ON]).moves(6, Active, &[]);
    row(9, POP + 2, Active, &[OFF, ON]).moves(6, Branch, &[]);
    row(9, POP + 1, Brk, &[LOOP, ON]).moves(6, Brk, &[LOOP]);
    row(9, POP, Branch, &[]).moves(6, Branch, &[]);
    row(9, (POP + 1) | FALSE, Branch, &[ON]).moves(6, Branch, &[]);
    row(9, POP | FAILS, Active, &[]).moves(6, Branch, &[]);
    row(9, POP + 1, Active, &[]).fails(UNDERFLOW);

    row(9, ELSE + 1, Branch, &[ON]).moves(6, Active, &[ON]);
    row(9, ELSE + 1, Active, &[ON]).moves(9, Active, &[]);
    row(9, ELSE, Active, &[ON]).moves(9, Branch, &[ON]);
    row(9, ELSE, Branch, &[OFF]).moves(9, Branch, &[OFF]);
    row(9, (ELSE + 1) | FAILS, Active, &[ON]).moves(6, Active, &[ON]);
    row(9, ELSE + 1, Cont, &[LOOP, ON]).moves(9, Cont, &[LOOP]);
    row(9, ELSE, Branch, &[CALLED]).fails(UNDERFLOW);
    row(9, ELSE | 1 << 30, Branch, &[ON]).fails(FIELD);
}

#[test]
fn spec_4_6_loops() {
    let starts = |dw1, class, frames: &[Frame]| {
        let mut row = row(9, dw1, class, frames);
        match row.step().alone {
            Turn::Enters(to) => Some(row.show(&to)),
            _ => None,
        }
    };
    let entered = Frame::Loop {
        head: 5,
        class: Active,
        entered: true,
    };
    for dw1 in [LOOP_START | 2 << 3, NO_AL | 2 << 3, DX10] {
        assert_eq!(
            starts(dw1, Active, &[ON]),
            Some((6, Active, vec![ON, entered]))
        );
    }
    // Count 0, and a lane that is off: the loop is jumped over.
    row(9, LOOP_START + 1, Active, &[ON]).moves(9, Active, &[]);
    row(9, NO_AL, Active, &[]).moves(9, Active, &[]);
    row(9, DX10 + 1, Branch, &[ON]).moves(9, Active, &[]);
    row(9, DX10 | FAILS, Active, &[]).moves(9, Active, &[]);

    let (again, leaves) = (Some((2, Active)), Some((6, Active)));
    let waits = Some((2, Brk));
    for class in [Active, Branch, Cont] {
        row(2, LOOP_END, class, &[LOOP]).ends_pass(again, leaves, None);
    }
    row(2, LOOP_END, Brk, &[LOOP]).ends_pass(None, leaves, waits);
    row(2, LOOP_END | FALSE, Active, &[LOOP]).ends_pass(None, leaves, None);
    // A loop with a count of 1 has no second pass.
    let with_head = |dw1| {
        let mut row = row(2, LOOP_END, Active, &[LOOP]);
        row.program.quads[1].dw1 = dw1;
        row
    };
    with_head(LOOP_START | 1 << 3).ends_pass(None, leaves, None);
    with_head(DX10).ends_pass(again, None, None);
    // With VPM a killed lane leaves, and is off after the loop.
    row(2, LOOP_END | VPM, Active, &[LOOP])
        .killed()
        .ends_pass(None, Some((6, Branch)), waits);
    // A lane that only waited.
    row(2, LOOP_END, Brk, &[ON, WAITS]).moves(6, Branch, &[ON]);
    row(2, LOOP_END, Active, &[LOOP, ON]).fails(LOOP_OPEN);
    row(2, LOOP_END, Active, &[LOOP, CALLED]).fails(NO_LOOP);
    row(2, LOOP_END, Active, &[ON]).fails(NO_LOOP);

    row(9, BREAK, Active, &[LOOP, ON, ON]).moves(9, Brk, &[LOOP]);
    row(9, CONTINUE + 3, Active, &[LOOP, ON]).moves(9, Cont, &[LOOP]);
    row(9, BREAK, Branch, &[LOOP, ON]).moves(6, Branch, &[LOOP, ON]);
    row(9, BREAK, Cont, &[LOOP, ON]).moves(9, Cont, &[LOOP]);
    row(9, BREAK | FALSE, Active, &[LOOP]).moves(6, Active, &[LOOP]);
    row(9, BREAK | FALSE, Brk, &[LOOP, OFF]).moves(9, Brk, &[LOOP]);
    row(9, CONTINUE, Active, &[LOOP, CALLED]).fails(NO_LOOP);
}

#[test]
fn spec_4_6_calls_and_kill() {
    let call = |depth| Frame::Call { to: 6, depth };
    row(9, CALL | ONE_CALL, Active, &[CALLED]).moves(9, Active, &[CALLED, call(4)]);
    row(9, CALL | 29 << 13, Active, &[CALLED]).moves(9, Active, &[CALLED, call(32)]);
    row(9, CALL | 30 << 13, Active, &[CALLED]).moves(6, Active, &[CALLED]);
    row(9, CALL, Branch, &[]).moves(6, Branch, &[]);
    row(9, CALL | FAILS, Active, &[]).moves(6, Active, &[]);
    row(9, CALL + 1, Branch, &[]).fails(FIELD);

    row(9, RETURN, Active, &[ON, CALLED]).moves(20, Active, &[ON]);
    row(9, RETURN, Branch, &[CALLED]).moves(20, Branch, &[]);
    row(9, RETURN | FAILS, Active, &[CALLED]).moves(6, Active, &[CALLED]);
    row(9, RETURN | FAILS, Branch, &[CALLED]).moves(20, Branch, &[]);
    row(9, RETURN | FAILS | VPM, Active, &[CALLED])
        .killed()
        .moves(20, Active, &[]);
    row(9, RETURN, Active, &[CALLED, ON]).fails(NO_CALL);
    row(9, RETURN, Active, &[LOOP]).fails(NO_CALL);

    row(9, KILL, Active, &[]).moves(9, Active, &[]);
    row(9, KILL | FAILS, Active, &[]).moves(6, Active, &[]);
    row(9, KILL, Branch, &[]).moves(6, Branch, &[]);
    row(9, KILL, Branch, &[]).killed().moves(9, Branch, &[]);
}

/// Tests the part of r700-4.4 that r700-4.6 leaves out.
#[test]
fn valid_pixel_mode() {
    row(9, JUMP | VPM, Active, &[])
        .killed()
        .moves(9, Active, &[]);
    row(9, (JUMP + 1) | VPM, Branch, &[ON])
        .killed()
        .moves(9, Branch, &[]);
    row(9, PUSH | VPM, Active, &[])
        .killed()
        .moves(9, Active, &[]);
    row(9, PUSH_ELSE | VPM, Active, &[])
        .killed()
        .moves(9, Branch, &[ON]);
    row(9, (POP + 1) | VPM, Branch, &[ON])
        .killed()
        .moves(6, Branch, &[]);
    row(9, POP | VPM, Active, &[])
        .killed()
        .moves(6, Branch, &[]);
    row(9, ELSE | VPM, Active, &[ON])
        .killed()
        .moves(9, Branch, &[ON]);
    row(9, ELSE | VPM, Branch, &[ON])
        .killed()
        .moves(9, Branch, &[ON]);
    row(9, ELSE | VPM, Branch, &[ON]).moves(6, Active, &[ON]);
    row(9, CALL | VPM, Active, &[])
        .killed()
        .moves(6, Active, &[]);
    // An ALU instruction does not test valid.
    row(0, POP_AFTER, Active, &[ON])
        .killed()
        .executes((Active, &[]), (Active, &[]));
}

/// Before, room for the states of every instruction was taken at once, and sound RTL "crashed" with `--memory 64`.
#[test]
fn a_large_program_of_which_little_runs_takes_little_memory() {
    let mut words = vec![(0, ALU); 65_536];
    words[0] = (65_535, JUMP | FALSE);
    words[65_535] = (0, NOP | END);
    let p = program(&words, &[]);
    let scalar = Scalar::new(&p, true).unwrap();
    let known = scalar.known.borrow();
    assert!(known.states.len() < 10, "{}", known.states.len());
    assert!(known.states.capacity() <= MAX_ROOM && known.ids.capacity() <= 2 * MAX_ROOM);
}

/// The table of the words beside what the scalar machine reads, which does not use it.
#[test]
fn scalar_machine_reads_what_the_table_says() {
    use super::{Alu, Control, LoopType, Op};
    use crate::r700::isa::{AluOp, CfOp, Word, tests::every_dw1};
    for dw1 in every_dw1() {
        let quad = Quad {
            dw0: !dw1,
            dw1,
            u: false,
        };
        let read = super::Word::decode(quad);
        let op = match Word::decode(quad) {
            Word::Reserved(..) => Op::Reserved,
            Word::Mem(mem) => {
                let said = (mem.end, mem.vpm, mem.wqm);
                assert_eq!(said, (read.end, read.vpm, read.wqm), "{dw1:08x}");
                Op::Slot
            }
            Word::Alu(alu) => Op::Alu(match alu.op {
                AluOp::Alu => Alu::Plain,
                AluOp::AluPushBefore => Alu::PushBefore,
                AluOp::AluPopAfter => Alu::PopAfter,
                AluOp::AluPop2After => Alu::Pop2After,
                AluOp::AluContinue => Alu::Continue,
                AluOp::AluBreak => Alu::Break,
                AluOp::AluElseAfter => Alu::ElseAfter,
            }),
            Word::Cf(cf) => {
                assert_eq!(cf.addr, read.addr);
                let numbers = [cf.pop_count, cf.cf_const, cf.call_count].map(u32::from);
                let of = [read.pops, read.cf_const, read.calls];
                assert_eq!(numbers, of, "{dw1:08x}");
                assert_eq!(cf.cond.bits(), read.cond, "{dw1:08x}");
                let said = (cf.end, cf.vpm, cf.wqm);
                assert_eq!(said, (read.end, read.vpm, read.wqm), "{dw1:08x}");
                match cf.op {
                    CfOp::LoopStart => Op::Control(Control::LoopStart(LoopType::Al)),
                    CfOp::LoopStartNoAl => Op::Control(Control::LoopStart(LoopType::NoAl)),
                    CfOp::LoopStartDx10 => Op::Control(Control::LoopStart(LoopType::Dx10)),
                    CfOp::LoopEnd => Op::Control(Control::LoopEnd),
                    CfOp::LoopContinue => Op::Control(Control::Leave(Class::Cont)),
                    CfOp::LoopBreak => Op::Control(Control::Leave(Class::Brk)),
                    CfOp::Jump => Op::Control(Control::Jump),
                    CfOp::Push => Op::Control(Control::Push),
                    CfOp::PushElse => Op::Control(Control::PushElse),
                    CfOp::Else => Op::Control(Control::Else),
                    CfOp::Pop => Op::Control(Control::Pop),
                    CfOp::Call => Op::Control(Control::Call),
                    CfOp::Return => Op::Control(Control::Return),
                    CfOp::Kill => Op::Control(Control::Kill),
                    op if op.is_illegal() => Op::Reserved,
                    _ => Op::Slot,
                }
            }
        };
        assert_eq!(op, read.op, "{dw1:08x}");
    }
}
