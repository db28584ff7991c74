//! Structured programs with one random change, and stacks filled to the limit.

use rand::Rng;

use super::raw::{Mix, raw_quad};
use super::{
    CALL_DEPTH, ENTRIES, Options, RESERVE, RESERVED, Target, corner_count, is_control, raise,
    structured,
};
use crate::r700::isa::{Alu, AluOp, Cf, CfOp, Clause, Cond, Word};
use crate::r700::program::{Program, Quad, Registers};
use reconverge_program::generate::{chance, choose, pick};

/// Returns a structured program of any kind with one change, or a stack filled to the limit and, mostly,
/// one frame beyond. One in 16 lies at high addresses.
///
/// The result may still be structured (if the change has no effect, or the form becomes a neighbouring
/// one), may run for ever, or may end in any error.
pub fn near_legal<R: Rng + ?Sized>(rng: &mut R, target: Target) -> Program {
    let mut program = if chance(rng, 5) {
        brimful(rng, target)
    } else {
        let options = Options {
            length: 150,
            target,
            ..Options::random(rng)
        };
        let mut program = structured(rng, &options);
        break_one(rng, &mut program, target);
        for quad in &mut program.quads {
            // An ALU instruction may have become another instruction.
            quad.u &= quad.dw1 >> 29 & 1 == 1;
        }
        program
    };
    if rng.random_range(0..16) == 0 {
        raise(rng, &mut program);
    }
    program.name = "near_legal".to_owned();
    program
}

/// A broken rule.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// One entry less than the program needs: OVERFLOW at the first frame that does not fit.
    StackSize,
    /// Hardly any entries: OVERFLOW, or only the reserve is missing.
    SmallStack,
    /// One frame more or fewer popped: UNDERFLOW, or a frame left for LOOP_END (LOOP_OPEN), RETURN
    /// (NO_CALL) or END (END_STACK).
    PopCount,
    /// ALU instead of ALU_POP_AFTER, ALU_POP2_AFTER instead of both, ALU_ELSE_AFTER...: the same errors, and
    /// NO_LOOP from a break that should not be one.
    AluOp,
    /// A control instruction becomes a NOP: frames stay open, or the end of a construct finds no frame.
    Nop,
    /// An instruction becomes RETURN: NO_CALL in the main part, in a loop, under an IF.
    Return,
    /// An instruction becomes ELSE: UNDERFLOW where there is no frame; elsewhere it wakes lanes.
    Else,
    /// An instruction becomes LOOP_BREAK, ALU_BREAK...: NO_LOOP outside loops, and in a subroutine whose
    /// caller is in one.
    Break,
    /// An instruction becomes LOOP_END: NO_LOOP, LOOP_OPEN, or a shortened pass.
    LoopEnd,
    /// CALL with a `POP_COUNT`, or `WHOLE_QUAD_MODE` on a control instruction: FIELD.
    Field,
    /// `END_OF_PROGRAM` where it should not be: END_STACK inside any construct, otherwise an early end.
    End,
    /// `END_OF_PROGRAM` missing: the wave runs into the words behind, mostly PC_RANGE.
    NoEnd,
    /// A target just behind the program, at its end or far beyond it: PC_RANGE if taken.
    Beyond,
    /// A target off by one, or any target.
    Target,
    /// A reserved opcode: ILLEGAL.
    Reserved,
    /// A PUSH to the next instruction: its frame is missing when no lane passes (r700-O13).
    PushNext,
    /// VPM on JUMP or CALL: what a lane does depends on the others.
    Vpm,
    /// COND or the boolean of any instruction.
    Cond,
    /// CALL_COUNT: deeper than allowed, so that the call is skipped.
    CallCount,
    /// `END_OF_PROGRAM` on a CALL that is too deep from anywhere: the CALL is skipped, leaves the stack
    /// unchanged, and the program is done.
    SkippedEnd,
    /// u: a mask update or a push where there was none, or the other way round.
    U,
    /// Any bit of a word.
    Bit,
    /// Two words swapped.
    Swap,
    /// A word copied over another.
    Copy,
    /// A random word.
    Word,
    /// Another trip count, of a loop if there is one: 0, 1, or next to a power of two.
    LoopConst,
    /// Another boolean: jumps and pushes go the other way.
    Bool,
    /// The end of the program moved: PC_RANGE.
    ProgLen,
    /// Another entry: in the middle of a construct, or at `prog_len`, where the launch itself is the error.
    Entry,
}

/// Every fault with its weight.
const FAULTS: &[(Fault, u32)] = &[
    (Fault::StackSize, 6),
    (Fault::SmallStack, 3),
    (Fault::PopCount, 6),
    (Fault::AluOp, 3),
    (Fault::Nop, 4),
    (Fault::Return, 2),
    (Fault::Else, 2),
    (Fault::Break, 2),
    (Fault::LoopEnd, 2),
    (Fault::Field, 2),
    (Fault::End, 3),
    (Fault::NoEnd, 1),
    (Fault::Beyond, 2),
    (Fault::Target, 4),
    (Fault::Reserved, 2),
    (Fault::PushNext, 1),
    (Fault::Vpm, 2),
    (Fault::Cond, 3),
    (Fault::CallCount, 2),
    (Fault::SkippedEnd, 3),
    (Fault::U, 3),
    (Fault::Bit, 4),
    (Fault::Swap, 2),
    (Fault::Copy, 2),
    (Fault::Word, 1),
    (Fault::LoopConst, 2),
    (Fault::Bool, 1),
    (Fault::ProgLen, 1),
    (Fault::Entry, 2),
];

fn break_one<R: Rng + ?Sized>(rng: &mut R, program: &mut Program, target: Target) {
    // Not every program has what a fault needs.
    for _ in 0..8 {
        let fault = choose(rng, FAULTS);
        if apply(rng, program, fault, target).is_some() {
            return;
        }
    }
}

/// Returns the address of a random instruction for which `wanted` holds.
fn find<R: Rng + ?Sized>(
    rng: &mut R,
    program: &Program,
    wanted: impl Fn(Word) -> bool,
) -> Option<usize> {
    let all: Vec<usize> = (0..program.quads.len())
        .filter(|&n| wanted(Word::decode(program.quads[n])))
        .collect();
    (!all.is_empty()).then(|| pick(rng, &all))
}

/// Returns the address of a random general-format instruction for which `wanted` holds, and the instruction.
fn find_cf<R: Rng + ?Sized>(
    rng: &mut R,
    program: &Program,
    wanted: impl Fn(CfOp) -> bool,
) -> Option<(usize, Cf)> {
    let n = find(rng, program, |w| matches!(w, Word::Cf(cf) if wanted(cf.op)))?;
    match Word::decode(program.quads[n]) {
        Word::Cf(cf) => Some((n, cf)),
        _ => None,
    }
}

/// Returns whether `op` has a target.
fn may_jump(op: CfOp) -> bool {
    is_control(op) && !matches!(op, CfOp::Pop | CfOp::Return)
}

/// Applies `fault`. Returns `None` if the program has nothing to which it applies.
fn apply<R: Rng + ?Sized>(
    rng: &mut R,
    program: &mut Program,
    fault: Fault,
    target: Target,
) -> Option<()> {
    let len = program.quads.len();
    let regs = &mut program.regs;
    let any = rng.random_range(0..len.max(1));
    let (n, cf) = match fault {
        Fault::StackSize => {
            regs.stack_size = regs.stack_size.min(32).checked_sub(1)?;
            return Some(());
        }
        Fault::SmallStack => {
            regs.stack_size = rng.random_range(0..5);
            return Some(());
        }
        Fault::LoopConst => {
            let count = match rng.random_range(0..4) {
                0 => 0,
                1 => 1,
                _ => corner_count(rng),
            };
            let counted = |op| match op {
                CfOp::LoopStart | CfOp::LoopStartNoAl => true,
                op => op == CfOp::LoopStartDx10 && target.dx10_count,
            };
            let n = match find_cf(rng, program, counted) {
                Some((_, cf)) => cf.cf_const,
                None => rng.random_range(0..32),
            };
            let constant = &mut program.regs.loop_const[usize::from(n)];
            *constant = *constant & !0xfff | count;
            return Some(());
        }
        Fault::Bool => {
            regs.bool_const ^= 1 << rng.random_range(0..32);
            return Some(());
        }
        Fault::ProgLen => {
            regs.prog_len = match rng.random() {
                true => len as u32 - 1,
                false => any as u32,
            };
            return Some(());
        }
        Fault::Entry => {
            regs.entry = match rng.random_range(0..4) {
                0 => regs.prog_len,
                1 => regs.entry + 1,
                2 => rng.random(),
                _ => any as u32,
            };
            return Some(());
        }
        Fault::PopCount => {
            let pops = |op| matches!(op, CfOp::Pop | CfOp::Jump | CfOp::Else | CfOp::Push);
            let (n, mut cf) = find_cf(rng, program, pops)?;
            cf.pop_count = match rng.random_range(0..8) {
                0 => rng.random_range(0..8),
                1..5 => cf.pop_count + 1,
                _ => cf.pop_count.wrapping_sub(1),
            };
            (n, Word::Cf(cf))
        }
        Fault::AluOp | Fault::U => {
            let n = find(rng, program, |w| matches!(w, Word::Alu(_)))?;
            if matches!(fault, Fault::U) {
                program.quads[n].u ^= true;
                return Some(());
            }
            let Word::Alu(mut alu) = Word::decode(program.quads[n]) else {
                return None;
            };
            alu.op = pick(rng, AluOp::ALL);
            (n, Word::Alu(alu))
        }
        Fault::Nop => {
            let (n, cf) = find_cf(rng, program, is_control)?;
            (
                n,
                Word::Cf(Cf {
                    op: CfOp::Nop,
                    wqm: false,
                    ..cf
                }),
            )
        }
        Fault::Return | Fault::Else | Fault::LoopEnd => {
            let op = match fault {
                Fault::Return => CfOp::Return,
                Fault::Else => CfOp::Else,
                _ => CfOp::LoopEnd,
            };
            let addr = rng.random_range(0..len as u32);
            (
                any,
                Word::Cf(Cf {
                    addr,
                    ..Cf::new(op)
                }),
            )
        }
        Fault::Break => {
            let addr = any as u32 + 1;
            let alu = |op| {
                Word::Alu(Alu {
                    op,
                    clause: Clause::default(),
                })
            };
            let word = match rng.random_range(0..4) {
                0 => alu(AluOp::AluBreak),
                1 => alu(AluOp::AluContinue),
                2 => Word::Cf(Cf {
                    addr,
                    ..Cf::new(CfOp::LoopContinue)
                }),
                _ => Word::Cf(Cf {
                    addr,
                    ..Cf::new(CfOp::LoopBreak)
                }),
            };
            (any, word)
        }
        Fault::Field => {
            let call = rng.random();
            let (n, mut cf) = find_cf(rng, program, |op| match call {
                true => op == CfOp::Call,
                false => is_control(op),
            })?;
            match call {
                true => cf.pop_count = rng.random_range(1..8),
                false => cf.wqm = true,
            }
            (n, Word::Cf(cf))
        }
        Fault::End | Fault::NoEnd => {
            let ends = matches!(fault, Fault::NoEnd);
            let n = find(rng, program, |w| match w {
                Word::Cf(cf) => cf.end == ends,
                Word::Mem(mem) => mem.end == ends,
                _ => false,
            })?;
            program.quads[n].dw1 ^= 1 << 21;
            return Some(());
        }
        Fault::Beyond | Fault::Target => {
            let (n, mut cf) = find_cf(rng, program, may_jump)?;
            let end = program.regs.prog_len;
            cf.addr = match (fault, rng.random_range(0..4)) {
                (Fault::Beyond, 0) => rng.random(),
                (Fault::Beyond, 1) => u32::MAX,
                (Fault::Beyond, _) => end,
                (_, 0) => any as u32,
                (_, 1) => n as u32,
                (_, 2) => cf.addr.wrapping_add(1),
                _ => cf.addr.wrapping_sub(1),
            };
            (n, Word::Cf(cf))
        }
        Fault::Reserved => {
            let dw1 = &mut program.quads[any].dw1;
            *dw1 = match rng.random_range(0..4) {
                0 => *dw1 & !(15 << 26) | 12 << 26,
                _ => *dw1 & !(127 << 23) | pick(rng, RESERVED) << 23,
            };
            return Some(());
        }
        Fault::PushNext => {
            let (n, cf) = find_cf(rng, program, |op| op == CfOp::Push)?;
            (
                n,
                Word::Cf(Cf {
                    addr: n as u32 + 1,
                    ..cf
                }),
            )
        }
        Fault::Vpm => {
            let (n, cf) = find_cf(rng, program, is_control)?;
            (n, Word::Cf(Cf { vpm: !cf.vpm, ..cf }))
        }
        Fault::Cond => {
            let (n, mut cf) = find_cf(rng, program, is_control)?;
            cf.cond = Cond::from_bits(rng.random());
            if rng.random() {
                cf.cf_const = rng.random_range(0..32);
            }
            (n, Word::Cf(cf))
        }
        Fault::CallCount => {
            let (n, mut cf) = find_cf(rng, program, |op| op == CfOp::Call)?;
            cf.call_count = pick(rng, &[0, 1, 2, 16, 31, 32, 33, 63]);
            (n, Word::Cf(cf))
        }
        Fault::SkippedEnd => {
            let n = find(rng, program, |w| match w {
                Word::Cf(cf) => cf.end,
                Word::Mem(mem) => mem.end,
                _ => false,
            })?;
            let call = Cf {
                addr: any as u32,
                call_count: rng.random_range(33..64),
                end: true,
                ..Cf::new(CfOp::Call)
            };
            (n, Word::Cf(call))
        }
        Fault::Bit => {
            let quad = &mut program.quads[any];
            match rng.random_range(0..4) {
                0 => quad.dw0 ^= 1 << rng.random_range(0..32),
                _ => quad.dw1 ^= 1 << rng.random_range(0..32),
            }
            return Some(());
        }
        Fault::Swap => {
            program.quads.swap(any, rng.random_range(0..len));
            return Some(());
        }
        Fault::Copy => {
            program.quads[any] = program.quads[rng.random_range(0..len)];
            return Some(());
        }
        Fault::Word => {
            program.quads[any] = raw_quad(rng, &Mix::TAME, len as u32);
            return Some(());
        }
    };
    let u = program.quads[n].u || matches!(fault, Fault::Break) && rng.random();
    let word = cf.encode();
    program.quads[n] = Quad {
        u: u && word.dw1 >> 29 & 1 == 1,
        ..word
    };
    Some(())
}

/// The frames with which [`brimful`] fills the stack.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pushed {
    Branch,
    Loop,
    Call,
}

/// Entries of the largest stack that a unit can be built with (r700-3.4).
const LARGEST: u32 = 255;

/// Returns a program that pushes frames of all kinds until the stack is full, mostly one more (OVERFLOW), and pops them
/// again; or fewer frames, with a few calls and loops on top, and pops all.
///
/// `STACK_SIZE` is 0 to 4, about the build's 32, or more than exists. Some programs are calls in a row, or a
/// recursion that ends at depth 32, or at the stack limit if its `CALL_COUNT` is 0.
fn brimful<R: Rng + ?Sized>(rng: &mut R, target: Target) -> Program {
    let (space, most_space) = (target.space(), LARGEST * target.subentries);
    let stack_size = choose(
        rng,
        &[
            (0, 1),
            (1, 3),
            (2, 3),
            (3, 2),
            (4, 2),
            (8, 2),
            (31, 2),
            (32, 7),
            (33, 1),
            (255, 3),
        ],
    );
    // The unit may have been built with all of it; only loops fill that within the time limit.
    let largest = stack_size == 255 && chance(rng, 6);
    let limit = match largest {
        true => most_space,
        false => target.subentries * u32::from(stack_size).min(ENTRIES),
    };
    let over = chance(rng, if largest { 2 } else { 7 });
    let mut regs = Registers {
        stack_size,
        bool_const: rng.random(),
        loop_const: [0; 32],
        ..Registers::default()
    };
    // Two passes of the outermost loops at most: each pass pushes all inner frames again.
    regs.loop_const = std::array::from_fn(|n| {
        let count = if n < 4 { rng.random_range(1..3) } else { 1 };
        rng.random::<u32>() & 0xffff_f000 | count
    });
    let mut words: Vec<Quad> = Vec::new();
    // The frames so far, and the addresses of the instructions that push them.
    let mut frames: Vec<(Pushed, usize)> = Vec::new();
    let (mut sp, mut branch, mut calls) = (0, false, 0);
    let mixed = match largest {
        true => pick(rng, &[[0, 1, 0], [1, 30, 1]]),
        false => choose(
            rng,
            &[
                ([1, 0, 0], 4),
                ([0, 1, 0], 2),
                ([1, 1, 0], 2),
                ([6, 1, 0], 2),
                ([12, 1, 1], 3),
                ([2, 1, 1], 2),
            ],
        ),
    };
    let recursive = !largest && chance(rng, 5);
    if recursive && rng.random() {
        // Not only calls: a frame below them, so that they do not start at the first sub-entry of an entry.
        regs.stack_size = regs.stack_size.max(1);
    }
    let most = match () {
        () if recursive => rng.random_range(0..4),
        () if largest => most_space,
        () if chance(rng, 5) => rng.random_range(1..=space),
        () => space,
    };
    // Calls and loops on top, whatever lies below.
    let crown = if most < space && !recursive {
        rng.random_range(0..4)
    } else {
        0
    };
    for n in 0..=most + crown {
        let weights = if n > most { [0, 1, 2] } else { mixed };
        // Calls nest at most 32 deep.
        let call = if calls < CALL_DEPTH { weights[2] } else { 0 };
        let kind = match weights[0] + weights[1] + call {
            0 => break,
            _ => choose(
                rng,
                &[
                    (Pushed::Branch, weights[0]),
                    (Pushed::Loop, weights[1]),
                    (Pushed::Call, call),
                ],
            ),
        };
        let is_loop = kind == Pushed::Loop;
        let size = if is_loop { target.subentries } else { 1 };
        let with = branch || kind == Pushed::Branch;
        let needed = sp + size + if with { RESERVE } else { 0 };
        let last = needed > limit;
        if last && (!over || recursive) {
            break;
        }
        let at = words.len();
        match kind {
            Pushed::Loop => {
                let op = match rng.random() {
                    true => CfOp::LoopStart,
                    false => CfOp::LoopStartNoAl,
                };
                words.push(
                    Cf {
                        cf_const: frames.len().min(31) as u8,
                        ..Cf::new(op)
                    }
                    .encode(),
                );
            }
            Pushed::Branch => {
                let push = push_quad(rng, at);
                words.push(push);
            }
            // The rest is its subroutine, which returns to a jump after its RETURN.
            Pushed::Call => {
                calls += 1;
                words.push(
                    Cf {
                        addr: at as u32 + 2,
                        call_count: rng.random_range(0..2),
                        ..Cf::new(CfOp::Call)
                    }
                    .encode(),
                );
                words.push(never(CfOp::Jump, 0).encode());
            }
        }
        frames.push((kind, at));
        (sp, branch) = (sp + size, with);
        if last {
            break;
        }
    }
    let recursion = words.len();
    if recursive {
        words.push(Quad::default());
    }
    unwind(rng, &mut words, &frames);
    words.push(
        Cf {
            end: true,
            ..Cf::new(CfOp::Nop)
        }
        .encode(),
    );
    if recursive {
        let count = recurse(rng, &mut words);
        words[recursion] = count;
    }
    regs.prog_len = words.len() as u32;
    Program {
        regs,
        quads: words,
        ..Program::default()
    }
}

/// Returns an instruction that no lane passes: JUMP, PUSH and the loop starts then jump and pop `pops` frames.
fn never(op: CfOp, pops: u8) -> Cf {
    Cf {
        cond: Cond::False,
        pop_count: pops,
        ..Cf::new(op)
    }
}

/// Appends instructions that remove `frames`, top first: one to seven branch frames at once, with every instruction
/// that pops, or all frames down to that of a loop, by leaving the loop.
fn unwind<R: Rng + ?Sized>(rng: &mut R, words: &mut Vec<Quad>, frames: &[(Pushed, usize)]) {
    let most = pick(rng, &[1, 7, 7, 7, 7]);
    let mut left = frames.len();
    while left > 0 {
        let (kind, at) = frames[left - 1];
        let (behind, taken) = match kind {
            Pushed::Branch => {
                let branches = |n: &usize| frames[left - 1 - n].0 == Pushed::Branch;
                let run = (0..left).take_while(branches).count();
                let in_loop = run < left && frames[left - 1 - run].0 == Pushed::Loop;
                if in_loop && chance(rng, 3) {
                    // Every lane leaves the loop, whose end is next: that drops all its branch frames at once.
                    let leave = Cf {
                        addr: words.len() as u32 + 1,
                        ..Cf::new(pick(rng, &[CfOp::LoopBreak, CfOp::LoopContinue]))
                    };
                    words.push(leave.encode());
                    (words.len(), run)
                } else {
                    let n = match rng.random() {
                        true => run.min(most),
                        false => rng.random_range(1..=run.min(most)),
                    };
                    pop_branches(rng, words, n as u8);
                    (words.len(), n)
                }
            }
            Pushed::Loop => {
                // A loop repeats from the instruction after its start.
                words.push(
                    Cf {
                        addr: at as u32 + 1,
                        ..Cf::new(CfOp::LoopEnd)
                    }
                    .encode(),
                );
                (words.len(), 1)
            }
            Pushed::Call => {
                let mut back = Cf::new(CfOp::Return);
                if chance(rng, 2) {
                    // With VPM no lane fails once all are killed, whatever the condition.
                    let kill = Cf {
                        addr: words.len() as u32 + 1,
                        ..Cf::new(CfOp::Kill)
                    };
                    words.push(kill.encode());
                    (back.vpm, back.cond) = (true, Cond::False);
                }
                words.push(back.encode());
                words[at + 1].dw0 = words.len() as u32;
                (at + 2, 1)
            }
        };
        for (_, at) in &frames[left - taken..left] {
            words[*at].dw0 = behind as u32;
        }
        left -= taken;
    }
}

/// Appends instructions that remove `n` branch frames.
fn pop_branches<R: Rng + ?Sized>(rng: &mut R, words: &mut Vec<Quad>, n: u8) {
    let alu = |op| {
        Alu {
            op,
            clause: Clause::default(),
        }
        .encode()
    };
    let pop = Cf {
        pop_count: n,
        ..Cf::new(CfOp::Pop)
    };
    let next = words.len() as u32 + 1;
    match rng.random_range(0..8) {
        0 if n == 1 => words.push(alu(AluOp::AluPopAfter)),
        0 if n == 2 => words.push(alu(AluOp::AluPop2After)),
        0..2 => {
            // It pops if no lane is ACTIVE at that time, and otherwise leaves the pop to the POP.
            let both = Cf {
                addr: next + 1,
                pop_count: n,
                ..Cf::new(CfOp::Else)
            };
            words.extend([both.encode(), pop.encode()]);
        }
        2..4 => {
            let op = pick(
                rng,
                &[
                    CfOp::Jump,
                    CfOp::Jump,
                    CfOp::Push,
                    CfOp::LoopStart,
                    CfOp::LoopStartNoAl,
                    CfOp::LoopStartDx10,
                ],
            );
            let jump = Cf {
                addr: next,
                ..never(op, n)
            };
            words.push(jump.encode());
        }
        _ => words.push(pop.encode()),
    }
}

/// Appends a subroutine that calls itself, with or without a frame in between, and on its way back calls
/// another one from each depth. Returns the CALL that begins it.
fn recurse<R: Rng + ?Sized>(rng: &mut R, words: &mut Vec<Quad>) -> Quad {
    let f = words.len() as u32;
    let call = |addr, count| {
        Cf {
            addr,
            call_count: count,
            ..Cf::new(CfOp::Call)
        }
        .encode()
    };
    let count = pick(rng, &[0, 0, 0, 1, 1, 1, 2, 5, 16, 31, 32, 32, 33, 63]);
    let again = match rng.random_range(0..4) {
        0 => pick(rng, &[0, 1, 2, 15, 31, 32]),
        _ => count,
    };
    let framed = chance(rng, 5);
    if framed {
        let push = push_quad(rng, words.len());
        words.push(push);
    }
    words.push(call(f, again));
    if framed {
        let here = words.len() as u32;
        words.push(
            Cf {
                addr: here + 1,
                pop_count: 1,
                ..Cf::new(CfOp::Pop)
            }
            .encode(),
        );
    }
    // Counts that give sums with every depth from 32 down.
    let others = words.len();
    for _ in 0..rng.random_range(0..4) {
        let any = rng.random_range(0..64);
        let other = pick(rng, &[0, 31, 32, 63, 63, any, any, any]);
        words.push(call(0, other));
    }
    words.push(Cf::new(CfOp::Return).encode());
    let back = words.len() as u32 - 1;
    words[others..back as usize]
        .iter_mut()
        .for_each(|quad| quad.dw0 = back);
    call(f, count)
}

/// Returns a random instruction that pushes a branch frame if lanes are ACTIVE, and leaves most of them ACTIVE.
fn push_quad<R: Rng + ?Sized>(rng: &mut R, at: usize) -> Quad {
    let addr = at as u32 + 1;
    let clause = Clause::default();
    match rng.random_range(0..8) {
        0..2 => Cf {
            addr,
            ..Cf::new(CfOp::Push)
        }
        .encode(),
        2 => Cf {
            addr,
            ..Cf::new(CfOp::PushElse)
        }
        .encode(),
        // ALU_ELSE_AFTER u, or only some lanes go on: then the other frames are pushed as zeros.
        3 => Quad {
            u: true,
            ..Alu {
                op: pick(rng, &[AluOp::AluElseAfter, AluOp::AluPushBefore]),
                clause,
            }
            .encode()
        },
        _ => Alu {
            op: AluOp::AluPushBefore,
            clause,
        }
        .encode(),
    }
}

#[cfg(test)]
mod tests;
