//! Structured programs with one random change, and stacks filled to the limit.

use rand::Rng;

use super::raw::{Mix, astray, error_word, raw_word};
use super::{DEPTH, Options, add_noise, other, program, set_up_of, structured};
use crate::spa5::isa::{BlockOp, Code, Cond, Label, Leave, LeaveOp, Pred, SetUpOp, Test, Word};
use crate::spa5::program::{BUNDLE, Program};
use reconverge_program::generate::near_legal::{Fault, break_one, find, with_other_value};
use reconverge_program::generate::{chance, choose, pick, when, within};

/// Returns a structured program of any kind with one change, or a stack filled to the limit and, mostly,
/// one token beyond.
///
/// The result may still be structured (if the change has no effect, or the form becomes a neighbouring
/// one), may run for ever, or may end in any error. Faults of a launch (few or no threads) are not part of the
/// program. `brx` is for a unit that has BRX and JMX.
pub fn near_legal<R: Rng + ?Sized>(rng: &mut R, brx: bool) -> Program {
    let mut program = if chance(rng, 4) {
        brimful(rng)
    } else {
        let options = Options {
            length: 400,
            brx,
            ..Options::random(rng)
        };
        let mut program = structured(rng, &options);
        break_one(rng, &mut program, &faults());
        program
    };
    program.name = "near_legal".to_owned();
    program
}

/// Returns the number of a random instruction word for which `wanted` holds.
fn find_word<R: Rng + ?Sized>(
    rng: &mut R,
    program: &Program,
    wanted: impl Fn(Word) -> bool,
) -> Option<usize> {
    let words = &program.words;
    let all = (0..words.len()).filter(|n: &usize| !n.is_multiple_of(4));
    find(rng, all, |n| wanted(Word::decode(words[*n])))
}

fn is_set_up(word: Word) -> bool {
    matches!(word, Word::SetUp(_))
}

fn is_leave(word: Word) -> bool {
    matches!(word, Word::Leave(_))
}

/// Returns a condition that is mostly not the same for all threads.
fn any_cond<R: Rng + ?Sized>(rng: &mut R) -> Cond {
    let number = rng.random_range(0..8);
    let not = rng.random();
    let pred = Pred { number, not };
    let test = match chance(rng, 5) {
        true => Test::from_code(rng.random_range(0..24)),
        false => Test::T,
    };
    Cond { pred, test }
}

fn faults<R: Rng + ?Sized>() -> [Fault<R, Program>; 17] {
    [
        // SYNC_NO_SSY, BRK_NO_PBK, CONT_NO_PCNT, RET_NO_CALL, or a leaving instruction finds an outer token.
        ("black box for a set-up", 5, |rng, program| {
            let n = find_word(rng, program, is_set_up)?;
            program.words[n] = other(rng);
            Some(())
        }),
        // SYNC is missing, threads run on with their tokens, or past the end (PC_RANGE).
        ("black box for a leave", 4, |rng, program| {
            let n = find_word(rng, program, is_leave)?;
            program.words[n] = other(rng);
            Some(())
        }),
        // Its threads leave for a token of the wrong type (1 to 4), and SYNC meets PBK, PCNT or RET (spa5-O7).
        ("another set-up", 4, |rng, program| {
            let n = find_word(rng, program, is_set_up)?;
            let old = Word::decode(program.words[n]).target()?;
            let new = Word::set_up(pick(rng, SetUpOp::ALL)).with_noinc(rng.random());
            let to = old.address(8 * n as u32);
            // With an offset in a constant bank, it then leads elsewhere.
            let aimed = to.and_then(|to| new.aimed(8 * n as u32, to));
            program.words[n] = aimed.unwrap_or(new).encode();
            Some(())
        }),
        // Tokens in the wrong order, each with its own target.
        ("two set-ups swapped", 2, |rng, program| {
            let n = find_word(rng, program, is_set_up)?;
            let later =
                |m: &usize| !m.is_multiple_of(4) && is_set_up(Word::decode(program.words[*m]));
            let next = (n + 1..program.words.len()).find(later)?;
            let [(a, to_a), (b, to_b)] = [n, next].map(|m| {
                let word = Word::decode(program.words[m]);
                (word, word.target().and_then(|t| t.address(8 * m as u32)))
            });
            let [new_a, new_b] = [
                b.aimed(8 * n as u32, to_b?)?,
                a.aimed(8 * next as u32, to_a?)?,
            ];
            (program.words[n], program.words[next]) = (new_a.encode(), new_b.encode());
            Some(())
        }),
        // A token too many, SYNC across it (1), or one more in each pass (5).
        ("one more set-up", 2, |rng, program| {
            let n = find_word(rng, program, |w| matches!(w, Word::Other(_)))?;
            let to = 8 * within(rng, 0..program.words.len()) as i64;
            let word = Word::set_up(pick(rng, SetUpOp::ALL));
            program.words[n] = word.aimed(8 * n as u32, to)?.encode();
            Some(())
        }),
        // Without its token (1 to 4) if a thread leaves by it, otherwise too early.
        ("one more leave", 5, |rng, program| {
            let n = find_word(rng, program, |_| true)?;
            let any = any_cond(rng);
            let cond = pick(rng, &[Cond::ALWAYS, any]);
            program.words[n] = Word::leave(pick(rng, LeaveOp::ALL), cond).encode();
            Some(())
        }),
        // 1 to 4.
        ("another leave", 5, |rng, program| {
            let n = find_word(rng, program, is_leave)?;
            let Word::Leave(leave) = Word::decode(program.words[n]) else {
                return None;
            };
            let op = pick(rng, LeaveOp::ALL);
            program.words[n] = Word::Leave(Leave { op, ..leave }).encode();
            Some(())
        }),
        // PC_RANGE, TARGET_RANGE.
        ("program size", 3, |rng, program| {
            let size = program.words.len() as u32 * 8;
            program.prog_size = match within(rng, 0..8) {
                0..4 => size - BUNDLE,
                4 => 0,
                _ => within(rng, 0..size / BUNDLE) * BUNDLE,
            };
            Some(())
        }),
        // TARGET_RANGE, TARGET_MISALIGNED, for BRA only if a thread branches.
        ("target outside", 5, |rng, program| {
            let n = find_word(rng, program, |w| w.target().is_some())?;
            let word = Word::decode(program.words[n]);
            program.words[n] = astray(rng, word, 8 * n as u32, program.prog_size).encode();
            Some(())
        }),
        // Into another nesting.
        ("target off by a few words", 3, |rng, program| {
            let n = find_word(rng, program, |w| w.target().is_some())?;
            let (pc, word) = (8 * n as u32, Word::decode(program.words[n]));
            let to = word.target()?.address(pc)? + 8 * within(rng, -3..4);
            program.words[n] = word.aimed(pc, to)?.encode();
            Some(())
        }),
        // An opcode that is ILLEGAL or UNSUPPORTED, a constant bank where there is none, a CC test that is UNSUPPORTED.
        ("error", 4, |rng, program| {
            let n = find_word(rng, program, |_| true)?;
            program.words[n] = error_word(rng);
            Some(())
        }),
        // Each opcode of the block, with all other bits unchanged.
        ("another opcode", 3, |rng, program| {
            let n = find_word(rng, program, |_| true)?;
            let op = match within(rng, 0..4) {
                0 => within(rng, 0xE20..0xE40),
                1 => within(rng, 0xE3B..0xE40),
                _ => pick(rng, BlockOp::ALL).bits().into(),
            };
            program.words[n] = program.words[n] << 12 >> 12 | op << 52;
            Some(())
        }),
        // Other threads, always, never; a test without CSM; BRA.U where threads disagree (spa5-O12). Loops may not end.
        ("another field", 9, |rng, program| {
            let n = find_word(rng, program, |w| !w.fields().is_empty())?;
            let word = program.words[n];
            let field = pick(rng, &Word::decode(word).fields());
            [program.words[n]] = with_other_value(rng, &[field.bits], [word]);
            Some(())
        }),
        // In the middle of a construct, or at the end (PC_RANGE).
        ("entry", 2, |rng, program| {
            let any = 8 * find_word(rng, program, |_| true)? as u32;
            let far = rng.random::<u32>() & !7;
            let all = [program.prog_size, program.entry + 8, far, any, any, any];
            program.entry = pick(rng, &all);
            Some(())
        }),
        // The unit does not read it: still structured.
        ("control word", 1, |rng, program| {
            let n = find_word(rng, program, |_| true)?;
            let error = error_word(rng);
            program.words[n & !3] = pick(rng, &[program.words[n], error]);
            Some(())
        }),
        // Where it matters most.
        ("bit of an own word", 2, |rng, program| {
            let n = find_word(rng, program, |w| !matches!(w, Word::Other(_)))?;
            program.words[n] ^= 1 << within(rng, 0..64);
            Some(())
        }),
        ("word", 1, |rng, program| {
            let n = find_word(rng, program, |_| true)?;
            program.words[n] = raw_word(rng, &Mix::TAME, 8 * n as u32, program.prog_size);
            Some(())
        }),
    ]
}

/// Returns a program that pushes tokens of all kinds until the stack is full, mostly one more (STACK_OVERFLOW), and pops them:
/// nested, by a recursion, or by a loop that leaves them behind.
fn brimful<R: Rng + ?Sized>(rng: &mut R) -> Program {
    let mut code = Code::default();
    match rng.random_range(0..8) {
        0..4 => nest(rng, &mut code),
        4..6 => recurse(rng, &mut code),
        _ => leak(rng, &mut code),
    }
    // A few hundred instructions fit, and each label is bound where it is made.
    let mut program = program("near_legal", code.finish().unwrap_or_default());
    let size = program.prog_size;
    if rng.random() {
        add_noise(rng, &mut program);
        program.prog_size = size;
    }
    program
}

fn push_other<R: Rng + ?Sized>(rng: &mut R, code: &mut Code) {
    code.push_raw(other(rng));
}

/// Adds nested tokens; between them, threads branch off and wait in DIV tokens.
fn nest<R: Rng + ?Sized>(rng: &mut R, code: &mut Code) {
    let over = chance(rng, 9);
    let depth = match rng.random_range(0..4) {
        0 => rng.random_range(1..DEPTH),
        _ => DEPTH,
    };
    let ops = [LeaveOp::Sync, LeaveOp::Brk, LeaveOp::Cont, LeaveOp::Ret];
    let common = pick(rng, &ops);
    let how_common = pick(rng, &[0, 0, 12, 16]);
    // How many of 16 tokens have a branch: its DIV token fills the stack earlier.
    let branches = pick(rng, &[0, 0, 1, 4]);
    push_other(rng, code);
    let mut open: Vec<(LeaveOp, Label, Option<Label>)> = vec![];
    for _ in 0..depth + u32::from(over) {
        let op = match chance(rng, how_common) {
            true => common,
            false => pick(rng, &ops),
        };
        let end = code.label();
        let full = open.len() as u32 == DEPTH;
        if full && chance(rng, 5) {
            // The target of the last one is wrong too, and that error counts (spa5-6).
            let word = Word::set_up(set_up_of(op));
            let word = astray(rng, word, code.here(), 0x1000);
            code.push(word);
        } else {
            code.push_to(Word::set_up(set_up_of(op)), end);
        }
        let around = chance(rng, branches).then(|| {
            let around = code.label();
            push_other(rng, code);
            code.push_to(Word::bra(any_cond(rng)), around);
            around
        });
        open.push((op, end, around));
    }
    // The filling code may be reached more than once.
    if chance(rng, 4) && !over {
        push_other(rng, code);
    }
    for (op, end, around) in open.into_iter().rev() {
        if let Some(around) = around {
            code.bind(around);
        }
        if chance(rng, 2) {
            code.push(Word::leave(op, any_cond(rng)));
        }
        code.push(Word::leave(op, Cond::ALWAYS));
        code.bind(end);
    }
    code.push(Word::leave(LeaveOp::Exit, Cond::ALWAYS));
}

/// Adds a subroutine that calls itself, until the stack is full or a condition is true.
fn recurse<R: Rng + ?Sized>(rng: &mut R, code: &mut Code) {
    let (f, out) = (code.label(), code.label());
    let guarded = chance(rng, 10);
    let first = chance(rng, 8);
    let token = pick(
        rng,
        &[
            None,
            None,
            Some(LeaveOp::Sync),
            Some(LeaveOp::Brk),
            Some(LeaveOp::Cont),
        ],
    );
    let by_pret = chance(rng, 4);
    let call = |code: &mut Code, to: Label| {
        if by_pret {
            let back = code.label();
            code.push_to(Word::set_up(SetUpOp::Pret), back);
            code.push_to(Word::bra(Cond::ALWAYS), to);
            code.bind(back);
        } else {
            code.push_to(Word::set_up(SetUpOp::Cal), to);
        }
    };
    if first {
        code.push_to(Word::set_up(SetUpOp::Ssy), out);
    }
    call(code, f);
    let (leave, end) = match first {
        true => (LeaveOp::Sync, LeaveOp::Exit),
        false => (LeaveOp::Exit, LeaveOp::Exit),
    };
    code.push(Word::leave(leave, Cond::ALWAYS));
    code.bind(out);
    code.push(Word::leave(end, Cond::ALWAYS));
    code.bind(f);
    push_other(rng, code);
    if guarded {
        code.push(Word::leave(LeaveOp::Ret, any_cond(rng)));
    }
    let join = code.label();
    if let Some(op) = token {
        code.push_to(Word::set_up(set_up_of(op)), join);
    }
    call(code, f);
    if chance(rng, 4) {
        call(code, f);
    }
    if let Some(op) = token {
        code.push(Word::leave(op, Cond::ALWAYS));
    }
    code.bind(join);
    code.push(Word::leave(LeaveOp::Ret, Cond::ALWAYS));
}

/// Adds a loop that jumps back with one more token each time, or leaves threads behind in DIV tokens.
fn leak<R: Rng + ?Sized>(rng: &mut R, code: &mut Code) {
    let (head, end) = (code.label(), code.label());
    let set_ups = rng.random_range(0..4);
    code.bind(head);
    push_other(rng, code);
    let mut ops = vec![];
    for _ in 0..set_ups {
        let op = pick(
            rng,
            &[LeaveOp::Sync, LeaveOp::Brk, LeaveOp::Cont, LeaveOp::Ret],
        );
        code.push_to(Word::set_up(set_up_of(op)), end);
        ops.push(op);
    }
    let weights = [(Cond::ALWAYS, when(set_ups > 0, 4)), (any_cond(rng), 8)];
    let cond = choose(rng, &weights);
    code.push_to(Word::bra(cond), head);
    // More often than not, leave by the existing tokens.
    for op in ops.into_iter().rev() {
        code.push(Word::leave(op, Cond::ALWAYS));
    }
    code.bind(end);
    push_other(rng, code);
    let op = pick(
        rng,
        &[
            LeaveOp::Sync,
            LeaveOp::Brk,
            LeaveOp::Cont,
            LeaveOp::Ret,
            LeaveOp::Exit,
        ],
    );
    code.push(Word::leave(op, any_cond(rng)));
    code.push(Word::leave(LeaveOp::Exit, Cond::ALWAYS));
}

#[cfg(test)]
mod tests {
    use super::super::tests::{draws, rng};
    use super::*;
    use crate::spa5::scalar::{End, Scalar};

    /// Both outcomes must occur: a change that never mattered would test nothing, and one that
    /// always broke everything at once would be no better than `raw`.
    #[test]
    fn near_legal_programs_are_near_legal() {
        let mut errors = [0; 11];
        let (mut done, mut endless) = (0, 0);
        for seed in 1..=800 {
            let p = near_legal(&mut rng(seed), false);
            let scalar = Scalar::new(&p, DEPTH as usize, false);
            // Few threads, where a warp has many: some faults are at places that none of them reaches.
            let ends = [2, 8, 14].map(|p16| scalar.run(3000, draws(seed, p16)).end);
            match ends.iter().find(|end| **end != End::Done) {
                None => done += 1,
                Some(End::Error(code)) => errors[usize::from(*code)] += 1,
                Some(_) => endless += 1,
            }
        }
        // A loop is left without its end by few faults; how many depends on each statement that is drawn.
        assert!(
            (200..700).contains(&done) && endless > 0,
            "{done} done, {endless} endless"
        );
        assert!(errors[1..].iter().all(|n| *n > 2), "{errors:?}");
    }

    /// Each fault applies to most programs, and changes something there.
    #[test]
    fn every_fault_can_be_done() {
        for (fault, _, change) in faults() {
            let mut done = 0;
            for seed in 1..=60 {
                let mut rng = rng(seed);
                let before = structured(&mut rng, &Options::ALL);
                let mut after = before.clone();
                let changed = change(&mut rng, &mut after).is_some();
                done += u32::from(changed && after != before);
            }
            assert!(done >= 25, "{fault:?} in {done} of 60 programs");
        }
    }

    /// Stacks are filled to their last token and overfilled, with every type of token on top; an overflow
    /// and a wrong target occur together.
    #[test]
    fn the_brim_is_reached_and_passed() {
        let (mut fit, mut over, mut both) = (0, 0, 0);
        let mut tops = std::collections::BTreeSet::new();
        for seed in 1..=600 {
            let p = brimful(&mut rng(seed));
            let scalar = Scalar::new(&p, DEPTH as usize, false);
            let draw = draws(seed, 8);
            let mut thread = scalar.launch();
            let (mut full, mut error) = (false, 0);
            while !thread.exited && thread.executed < 2000 {
                match scalar.next(&thread, &draw) {
                    Ok(deed) => scalar.execute(&mut thread, deed),
                    Err(code) => {
                        error = code;
                        break;
                    }
                }
                if thread.tokens.len() == DEPTH as usize {
                    full = true;
                    tops.extend(thread.tokens.last().map(|t| format!("{:?}", t.kind)));
                }
            }
            fit += u32::from(full && error == 0);
            over += u32::from(error == 5);
            let still_full = thread.tokens.len() == DEPTH as usize;
            both += u32::from(still_full && matches!(error, 7 | 8));
        }
        assert!(fit > 20 && over > 50 && both > 5, "{fit} {over} {both}");
        assert_eq!(tops.len(), 4, "{tops:?}");
    }
}
