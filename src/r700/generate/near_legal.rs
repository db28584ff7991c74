//! Structured programs with one random change, and stacks filled to the limit.

use rand::Rng;

use super::raw::{Mix, raw_quad};
use super::{
    CALL_DEPTH, ENTRIES, Options, RESERVE, RESERVED, Target, corner_count, is_control, raise,
    structured,
};
use crate::r700::isa::{Alu, AluOp, Cf, CfOp, Cond, Word};
use crate::r700::program::{Program, Quad, Registers};
use reconverge_program::generate::near_legal::{Fault, break_one, find, with_other_value};
use reconverge_program::generate::{chance, choose, pick, within};

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
        break_one(rng, &mut program, &faults());
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

/// Changes a random general-format instruction for which `wanted` holds. `change` gets its address too.
fn edit<R: Rng + ?Sized>(
    rng: &mut R,
    program: &mut Program,
    wanted: fn(CfOp) -> bool,
    change: impl FnOnce(&mut R, u32, &mut Cf),
) -> Option<()> {
    let all = (0..).zip(&program.quads);
    let cfs = all.filter_map(|(n, quad)| match Word::decode(*quad) {
        Word::Cf(cf) => Some((n, cf)),
        _ => None,
    });
    let (n, mut cf) = find(rng, cfs, |(_, cf)| wanted(cf.op))?;
    change(rng, n, &mut cf);
    program.quads[n as usize] = cf.encode();
    Some(())
}

/// Returns the address of a random instruction for which `wanted` holds.
fn find_word<R: Rng + ?Sized>(
    rng: &mut R,
    program: &Program,
    wanted: impl Fn(Word) -> bool,
) -> Option<usize> {
    let quads = &program.quads;
    find(rng, 0..quads.len(), |n| wanted(Word::decode(quads[*n])))
}

/// Returns whether the program ends after this instruction; `None` if its format has no such bit.
fn ends(word: Word) -> Option<bool> {
    match word {
        Word::Cf(cf) => Some(cf.end),
        Word::Mem(mem) => Some(mem.end),
        _ => None,
    }
}

/// Returns whether `op` has a target.
fn may_jump(op: CfOp) -> bool {
    is_control(op) && !matches!(op, CfOp::Pop | CfOp::Return)
}

fn faults<R: Rng + ?Sized>() -> [Fault<R, Program>; 20] {
    [
        // OVERFLOW at the first frame that does not fit.
        ("one entry less", 6, |_, program| {
            let size = &mut program.regs.stack_size;
            *size = (*size).min(32).checked_sub(1)?;
            Some(())
        }),
        // OVERFLOW, or only the reserve is missing.
        ("hardly any entries", 3, |rng, program| {
            program.regs.stack_size = rng.random_range(0..5);
            Some(())
        }),
        // UNDERFLOW, or a frame left for LOOP_END (LOOP_OPEN), RETURN (NO_CALL) or END (END_STACK).
        ("one frame more or fewer popped", 6, |rng, program| {
            let pops = |op| matches!(op, CfOp::Pop | CfOp::Jump | CfOp::Else | CfOp::Push);
            edit(rng, program, pops, |rng, _, cf| {
                cf.pop_count = pick(rng, &[cf.pop_count + 1, cf.pop_count.wrapping_sub(1)]);
            })
        }),
        // Another effect behind the clause: the same errors, and NO_LOOP from a break that should not be one.
        ("another ALU opcode", 3, |rng, program| {
            let n = find_word(rng, program, |w| matches!(w, Word::Alu(_)))?;
            let op = pick(rng, AluOp::ALL).bits();
            let dw1 = &mut program.quads[n].dw1;
            *dw1 = *dw1 & !(15 << 26) | op << 26;
            Some(())
        }),
        // A mask update or a push where there was none, or the other way round.
        ("u", 3, |rng, program| {
            let n = find_word(rng, program, |w| matches!(w, Word::Alu(_)))?;
            program.quads[n].u ^= true;
            Some(())
        }),
        // Frames stay open, or the end of a construct finds no frame.
        ("NOP for control", 4, |rng, program| {
            edit(rng, program, is_control, |_, _, cf| {
                (cf.op, cf.wqm) = (CfOp::Nop, false);
            })
        }),
        // NO_CALL, UNDERFLOW, NO_LOOP, LOOP_OPEN: in the main part, in a loop, under an IF, or in a subroutine whose caller is in a loop.
        // Elsewhere a shortened pass, or lanes that wake.
        ("another instruction", 8, |rng, program| {
            let [n, any] = [(); 2].map(|()| within(rng, 0..program.quads.len()));
            let leave = pick(rng, &[CfOp::LoopContinue, CfOp::LoopBreak]);
            let ops = [CfOp::Return, CfOp::Else, CfOp::LoopEnd, leave];
            program.quads[n] = match within(rng, 0..8) {
                0 => Quad {
                    u: rng.random(),
                    ..Alu::new(pick(rng, &[AluOp::AluBreak, AluOp::AluContinue])).encode()
                },
                _ => {
                    let addr = pick(rng, &[n + 1, any]);
                    to(pick(rng, &ops), addr).encode()
                }
            };
            Some(())
        }),
        // FIELD.
        ("a field where it is an error", 2, |rng, program| {
            edit(rng, program, is_control, |rng, _, cf| match cf.op {
                CfOp::Call => cf.pop_count = rng.random_range(1..8),
                _ => cf.wqm = true,
            })
        }),
        ("another field", 8, |rng, program| {
            let n = find_word(rng, program, |w| matches!(w, Word::Cf(_)))?;
            let quad = &mut program.quads[n];
            let words = [quad.dw0.into(), quad.dw1.into()];
            let field = pick(rng, Cf::FIELDS);
            let [dw0, dw1] = with_other_value(rng, field.bits, words);
            (quad.dw0, quad.dw1) = (dw0 as u32, dw1 as u32);
            Some(())
        }),
        // END_STACK inside any construct, otherwise an early end; or the wave runs into the words behind, mostly PC_RANGE.
        ("END", 4, |rng, program| {
            let end = chance(rng, 4);
            let n = find_word(rng, program, |w| ends(w) == Some(end))?;
            program.quads[n].dw1 ^= 1 << 21;
            Some(())
        }),
        // PC_RANGE if taken: just behind the program, at its end, or far beyond it. Or anywhere.
        ("target", 5, |rng, program| {
            let (len, end) = (program.quads.len() as u32, program.regs.prog_len);
            edit(rng, program, may_jump, |rng, n, cf| {
                let any = [rng.random(), u32::MAX, end, end, within(rng, 0..len), n];
                cf.addr = pick(rng, &any);
            })
        }),
        // ILLEGAL.
        ("reserved opcode", 2, |rng, program| {
            let n = rng.random_range(0..program.quads.len());
            let dw1 = &mut program.quads[n].dw1;
            *dw1 = match within(rng, 0..4) {
                0 => *dw1 & !(15 << 26) | 12 << 26,
                _ => *dw1 & !(127 << 23) | pick(rng, RESERVED) << 23,
            };
            Some(())
        }),
        // Its frame is missing when no lane passes (r700-O13).
        ("PUSH to the next instruction", 1, |rng, program| {
            let pushes = |op| op == CfOp::Push;
            edit(rng, program, pushes, |_, n, cf| cf.addr = n + 1)
        }),
        // Deeper than allowed, so that the call is skipped.
        ("CALL_COUNT", 2, |rng, program| {
            let calls = |op| op == CfOp::Call;
            edit(rng, program, calls, |rng, _, cf| {
                cf.call_count = pick(rng, &[0, 1, 2, 16, 31, 32, 33, 63]);
            })
        }),
        // The CALL is too deep from anywhere: it is skipped, leaves the stack unchanged, and the program is done.
        ("END on a CALL", 3, |rng, program| {
            let n = find_word(rng, program, |w| ends(w) == Some(true))?;
            let call = Cf::new(CfOp::Call).to(within(rng, 0..program.quads.len()) as u32);
            let call = call.counting(rng.random_range(33..64)).ending();
            program.quads[n] = call.encode();
            Some(())
        }),
        ("word", 1, |rng, program| {
            let len = program.quads.len();
            program.quads[within(rng, 0..len)] = raw_quad(rng, &Mix::TAME, len as u32);
            Some(())
        }),
        // Of a loop if there is one: 0, 1, or next to a power of two.
        ("trip count", 2, |rng, program| {
            let starts = |op| matches!(op, CfOp::LoopStart | CfOp::LoopStartNoAl);
            let mut constant = within(rng, 0..32);
            let _ = edit(rng, program, starts, |_, _, cf| constant = cf.cf_const);
            let any = corner_count(rng);
            let count = pick(rng, &[0, 1, any, any]);
            let constant = &mut program.regs.loop_const[usize::from(constant)];
            *constant = *constant & !0xfff | count;
            Some(())
        }),
        // Jumps and pushes go the other way.
        ("boolean", 1, |rng, program| {
            program.regs.bool_const ^= 1 << within(rng, 0..32);
            Some(())
        }),
        // PC_RANGE.
        ("length", 1, |rng, program| {
            let len = program.quads.len() as u32;
            let any = within(rng, 0..len);
            program.regs.prog_len = pick(rng, &[len - 1, any]);
            Some(())
        }),
        // In the middle of a construct, or at `prog_len`, where the launch itself is the error.
        ("entry", 2, |rng, program| {
            let (len, regs) = (program.quads.len() as u32, &mut program.regs);
            let any = [
                regs.prog_len,
                regs.entry + 1,
                rng.random(),
                within(rng, 0..len),
            ];
            regs.entry = pick(rng, &any);
            Some(())
        }),
    ]
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
                let start = Cf {
                    cf_const: frames.len().min(31) as u8,
                    ..Cf::new(op)
                };
                words.push(start.encode());
            }
            Pushed::Branch => {
                let push = push_quad(rng, at);
                words.push(push);
            }
            // The rest is its subroutine, which returns to a jump after its RETURN.
            Pushed::Call => {
                calls += 1;
                let call = to(CfOp::Call, at + 2).counting(rng.random_range(0..2));
                words.push(call.encode());
                words.push(Cf::new(CfOp::Jump).never().encode());
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
    words.push(Cf::new(CfOp::Nop).ending().encode());
    if recursive {
        let count = recurse(rng, &mut words);
        words[recursion] = count;
    }
    regs.prog_len = words.len() as u32;
    Program::of(regs, words)
}

/// Returns `op` with the target `addr`.
fn to(op: CfOp, addr: usize) -> Cf {
    Cf::new(op).to(addr as u32)
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
                    let leave = pick(rng, &[CfOp::LoopBreak, CfOp::LoopContinue]);
                    words.push(to(leave, words.len() + 1).encode());
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
                words.push(to(CfOp::LoopEnd, at + 1).encode());
                (words.len(), 1)
            }
            Pushed::Call => {
                let mut back = Cf::new(CfOp::Return);
                if chance(rng, 2) {
                    // With VPM no lane fails once all are killed, whatever the condition.
                    words.push(to(CfOp::Kill, words.len() + 1).encode());
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
    let pop = Cf::new(CfOp::Pop).popping(n);
    let next = words.len() + 1;
    match rng.random_range(0..8) {
        0 if n == 1 => words.push(Alu::new(AluOp::AluPopAfter).encode()),
        0 if n == 2 => words.push(Alu::new(AluOp::AluPop2After).encode()),
        0..2 => {
            // It pops if no lane is ACTIVE at that time, and otherwise leaves the pop to the POP.
            let both = to(CfOp::Else, next + 1).popping(n);
            words.extend([both.encode(), pop.encode()]);
        }
        2..4 => {
            let [jump, push, start] = [CfOp::Jump, CfOp::Push, CfOp::LoopStart];
            let others = [CfOp::LoopStartNoAl, CfOp::LoopStartDx10];
            let op = pick(rng, &[jump, jump, push, start, others[0], others[1]]);
            words.push(to(op, next).popping(n).never().encode());
        }
        _ => words.push(pop.encode()),
    }
}

/// Appends a subroutine that calls itself, with or without a frame in between, and on its way back calls
/// another one from each depth. Returns the CALL that begins it.
fn recurse<R: Rng + ?Sized>(rng: &mut R, words: &mut Vec<Quad>) -> Quad {
    let f = words.len() as u32;
    let call = |addr, count| Cf::new(CfOp::Call).to(addr).counting(count).encode();
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
        let pop = to(CfOp::Pop, words.len() + 1).popping(1);
        words.push(pop.encode());
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
    match rng.random_range(0..8) {
        0..2 => to(CfOp::Push, at + 1).encode(),
        2 => to(CfOp::PushElse, at + 1).encode(),
        // ALU_ELSE_AFTER u, or only some lanes go on: then the other frames are pushed as zeros.
        3 => Quad {
            u: true,
            ..Alu::new(pick(rng, &[AluOp::AluElseAfter, AluOp::AluPushBefore])).encode()
        },
        _ => Alu::new(AluOp::AluPushBefore).encode(),
    }
}

#[cfg(test)]
mod tests;
